#include "peer_models.h"

#include "top.h"

/* The heavy top of examples/heavy_top.c in x, a unit quaternion and the angular velocity in the frame of
 * `side`. */
enum { W = 3, NV = 6, N = NV + 3 }; /* v = (u, ω); ω begins at W, λ at NV */
static const ga_side side = GA_RIGHT;

/* R X = X + 2 w (e × X) + 2 e × (e × X) of the unit quaternion p = (w, e) */
static void turn(double out[3], const double p[4], const double X[3])
{
  double once[3], twice[3];
  top_cross(once, p + 1, X);
  top_cross(twice, p + 1, once);
  for (int i = 0; i < 3; i++) out[i] = X[i] + 2 * (p[0] * once[i] + twice[i]);
}

static void configure(top_body *b, double arm[3], const ga_point *p)
{
  double R[9], column[3];
  for (int j = 0; j < 3; j++) {
    turn(column, p->q + 3, top_identity + 3 * j);
    for (int i = 0; i < 3; i++) R[3 * i + j] = column[i];
  }
  top_body_set(b, side, R, heavy_moments);
  top_arm(arm, b, top_centre);
}

/* Bᵀλ = (−λ, arm × Eᵀλ) */
static int reaction(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3], l[3];
  (void)user;
  configure(&b, arm, p);
  for (int i = 0; i < 3; i++) out[i] = -p->lambda[i];
  top_mul_t(l, b.E, p->lambda);
  top_cross(out + W, arm, l);
  return 0;
}

/* phi_acc = E c, c = ω × (ω × arm):  D_q = −E c~ on the left, −ω~ ω~ arm~ on the right */
static int phi_acc_q(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3], c[3], S[9], T[9];
  (void)user;
  configure(&b, arm, p);
  if (b.side == GA_LEFT) {
    top_cross(S, p->v + W, arm);
    top_cross(c, p->v + W, S);
    top_skew(T, c);
    top_add_product(out, N, NV, W, -1, b.E, T);
  } else {
    top_skew(S, p->v + W);
    top_product(T, S, S);
    top_skew(S, arm);
    top_add_product(out, N, NV, W, -1, T, S);
  }
  return 0;
}

/* ∂/∂ω = −E ((ω × arm)~ + ω~ arm~) */
static int phi_acc_v(void *user, const ga_point *p, double *out)
{
  top_body b;
  double arm[3], r[3], S[9], A[9], T[9];
  (void)user;
  configure(&b, arm, p);
  top_cross(r, p->v + W, arm);
  top_skew(T, r);
  top_add_product(out, N, NV, W, -1, b.E, T);
  top_skew(S, p->v + W);
  top_skew(A, arm);
  top_product(T, S, A);
  top_add_product(out, N, NV, W, -1, b.E, T);
  return 0;
}

ida_model top_ida_model(void)
{
  ida_model model =
      example_ida_model(ex_problem_find(side == GA_LEFT ? "heavy_top_s3" : "heavy_top_s3_right"));
  model.reaction = reaction;
  model.phi_acc_q = phi_acc_q;
  model.phi_acc_v = phi_acc_v;
  return model;
}
