#include "peer_models.h"

/* The slider-crank of examples/slider_crank.c. Its constraints are linear in all coordinates but the two
 * angles, and in these sums of r cos θ and r sin θ, so that the second derivative by an angle is minus the
 * term itself:
 *
 *   phi_acc = −Σ term θ'²,   D_q phi_acc = −θ'² ∂term/∂θ = −θ'² B   in the columns of the angles
 *
 * and forces are linear in λ: Bᵀλ = f(λ = 0) − f(λ). */
enum { ANGLE_1 = 4, ANGLE_2 = 5, NV = 10, NL = 8, MOST_ENTRIES = 64 };

static ga_system_def def;

static int reaction(void *user, const ga_point *p, double *out)
{
  static const double none[NL];
  double with[NV];
  ga_point at = *p;
  (void)user;
  int rc = def.force(def.user, &at, with);
  at.lambda = none;
  if (rc == 0) rc = def.force(def.user, &at, out);
  for (int i = 0; i < NV; i++) out[i] -= with[i];
  return rc;
}

static int phi_acc_q(void *user, const ga_point *p, double *out)
{
  double D[MOST_ENTRIES] = {0}, Q[MOST_ENTRIES] = {0}, G[MOST_ENTRIES] = {0};
  ga_jacobian J = {.want = GA_WANT_Q, .D = D, .Q = Q, .G = G};
  (void)user;
  const int rc = def.jacobian(def.user, p, &J);
  for (int e = 0; e < def.n_pattern; e++) {
    const int angle = def.pattern_col[e];
    if (def.pattern_row[e] >= NV && (angle == ANGLE_1 || angle == ANGLE_2))
      out[e] -= Q[e] * p->v[angle] * p->v[angle];
  }
  return rc;
}

ida_model slider_crank_ida_model(void)
{
  ida_model model = example_ida_model(ex_problem_find("slider_crank"));
  def = model.def;
  if (def.n_pattern > MOST_ENTRIES) return (ida_model){0};
  model.reaction = reaction;
  model.phi_acc_q = phi_acc_q;
  return model;
}
