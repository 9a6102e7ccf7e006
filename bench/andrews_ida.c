#include "peer_models.h"

#include "andrews.h"

/* The loops of examples/andrews.c as sums of R(q_i + q_j) X, j −1 where there is one angle only, in the loops
 * first to last; each loop has two rows. */
enum { BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON, NV };
enum { N = NV + 6 };

typedef struct arm {
  int i, j;
  double X[2];
  int first, last;
} arm;

static const arm arms[] = {
    {BETA, -1, {AN_RR, 0}, 0, 2},   {BETA, THETA, {-AN_D, 0}, 0, 2}, {GAMMA, -1, {0, AN_SS}, 0, 0},
    {PHI, DELTA, {0, AN_E}, 1, 1},  {DELTA, -1, {-AN_ZT, 0}, 1, 1},  {OMEGA, EPSILON, {-AN_ZF, 0}, 2, 2},
    {EPSILON, -1, {0, AN_U}, 2, 2},
};

/* u' = the derivative of R(α) X by α; returns αdot. */
static double arm_slope(double u[2], const arm *a, const ga_point *p)
{
  double y[2];
  an_rotate(y, p->q[a->i] + (a->j < 0 ? 0.0 : p->q[a->j]), a->X);
  u[0] = -y[1];
  u[1] = y[0];
  return p->v[a->i] + (a->j < 0 ? 0.0 : p->v[a->j]);
}

static int reaction(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++) out[i] = 0.0;
  for (size_t k = 0; k < sizeof arms / sizeof *arms; k++) {
    const arm *a = &arms[k];
    double u[2], torque = 0.0;
    arm_slope(u, a, p);
    for (int r = a->first; r <= a->last; r++) torque += u[0] * p->lambda[2 * r] + u[1] * p->lambda[2 * r + 1];
    out[a->i] += torque;
    if (a->j >= 0) out[a->j] += torque;
  }
  return 0;
}

/* phi_acc = −Σ u αdot², hence −u' αdot² in the columns of both angles; row-major, as the dense Jacobian. */
static int phi_acc_q(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (size_t k = 0; k < sizeof arms / sizeof *arms; k++) {
    const arm *a = &arms[k];
    double u[2];
    const double rate = arm_slope(u, a, p);
    for (int r = 2 * a->first; r <= 2 * a->last + 1; r++) {
      out[(NV + r) * N + a->i] -= u[r % 2] * rate * rate;
      if (a->j >= 0) out[(NV + r) * N + a->j] -= u[r % 2] * rate * rate;
    }
  }
  return 0;
}

ida_model andrews_ida_model(void)
{
  ida_model model = example_ida_model(ex_problem_find("andrews"));
  model.reaction = reaction;
  model.phi_acc_q = phi_acc_q;
  return model;
}
