#include <galpha/galpha.h>
#include <stdio.h>
#include <string.h>

/* Masses of 1 kg in the plane, joined by rods of 0.1 m: rod i leads from mass i−1, or from the origin, to
 * mass i. Entries of the pattern: the diagonal of V, then those of every rod; the first has no upper mass.
 *
 *   0, 1  B of the lower mass    2, 3  its Bᵀ
 *   4, 5  B of the upper mass    6, 7  its Bᵀ
 *   8..11 between the two masses
 */
enum { N = 20, NV = 2 * N, ENTRIES = NV + 4 + 12 * (N - 1) };
static const double L = 0.1, GRAVITY = 9.81;

static int rod_entries(int i) /* where those of rod i begin */
{
  return i == 0 ? NV : NV + 4 + 12 * (i - 1);
}

/* One pass over the rods. Whatever is NULL is not wanted. */
static void rods(const ga_point *p, double *f, double *phi, double *phi_dot, ga_jacobian *J)
{
  for (int i = 0; i < N; i++)
    for (int c = 0; c < 2; c++) { /* x, y */
      const int low = 2 * i + c, up = low - 2;
      const double d = p->q[low] - (i ? p->q[up] : 0.0), rate = p->v[low] - (i ? p->v[up] : 0.0);
      const double lambda = p->lambda[i];
      if (phi) phi[i] = (c ? phi[i] : -0.5 * L * L) + 0.5 * d * d;
      if (phi_dot) phi_dot[i] = (c ? phi_dot[i] : 0.0) + d * rate;
      if (f) f[low] -= lambda * d;
      if (f && i) f[up] += lambda * d;
      if (!J) continue;
      const int e = rod_entries(i) + c;
      J->D[low] = J->shift_vdot, J->D[e + 2] = d;
      J->Q[low] += lambda, J->Q[e] = d, J->G[e] = rate; /* two rods add to a diagonal of Q */
      if (!i) continue;
      J->D[e + 6] = -d;
      J->Q[up] += lambda, J->Q[e + 4] = -d, J->G[e + 4] = -rate;
      J->Q[e + 8] = J->Q[e + 10] = -lambda;
    }
}

static int mass(void *user, const ga_point *p, double *out)
{
  memcpy(out, p->vdot, NV * sizeof *out);
  return 0;
}
static int force(void *user, const ga_point *p, double *out)
{
  for (int i = 0; i < NV; i++) out[i] = i % 2 ? -GRAVITY : 0.0;
  rods(p, out, NULL, NULL, NULL);
  return 0;
}
static int phi(void *user, const ga_point *p, double *out)
{
  rods(p, NULL, out, NULL, NULL);
  return 0;
}
static int phi_dot(void *user, const ga_point *p, double *out)
{
  rods(p, NULL, NULL, out, NULL);
  return 0;
}
static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  rods(p, NULL, NULL, NULL, J);
  return 0;
}
static int sweep(void *user, const ga_point *p, ga_sweep *s)
{
  double f[NV];
  for (int i = 0; i < NV; i++) f[i] = i % 2 ? -GRAVITY : 0.0;
  if (s->jacobian) memset(s->jacobian->Q, 0, NV * sizeof(double)); /* what is added to; all else is written */
  rods(p, f, s->phi, s->phi_dot, s->jacobian);
  for (int i = 0; i < NV; i++) s->dynamics[i] = p->vdot[i] - f[i];
  return 0;
}

static void put(int e, int r, int c, int arrays, int *row, int *col, unsigned char *in)
{
  row[e] = r, col[e] = c, in[e] = (unsigned char)arrays;
}
static void pattern(int *row, int *col, unsigned char *in)
{
  for (int i = 0; i < NV; i++) put(i, i, i, GA_WANT_D | GA_WANT_Q, row, col, in);
  for (int i = 0; i < N; i++)
    for (int c = 0; c < 2; c++) {
      const int e = rod_entries(i) + c, low = 2 * i + c, up = low - 2, lambda = NV + i;
      put(e, lambda, low, GA_WANT_Q | GA_WANT_G, row, col, in);
      put(e + 2, low, lambda, GA_WANT_D, row, col, in);
      if (!i) continue;
      put(e + 4, lambda, up, GA_WANT_Q | GA_WANT_G, row, col, in);
      put(e + 6, up, lambda, GA_WANT_D, row, col, in);
      put(e + 8, low, up, GA_WANT_Q, row, col, in);
      put(e + 10, up, low, GA_WANT_Q, row, col, in);
    }
}

int main(void)
{
  const ga_factor plane = {GA_RN, NV, GA_LEFT};
  double q[NV], v[NV], any[NV];
  int row[ENTRIES], col[ENTRIES];
  unsigned char in[ENTRIES];
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  ga_system_def def = ga_system_defaults();
  ga_start_opts start = ga_start_defaults();
  def.n_factors = 1, def.factors = &plane, def.n_lambda = N;
  def.mass = mass, def.force = force, def.phi = phi, def.phi_dot = phi_dot;
  def.jacobian = jacobian, def.sweep = sweep;
  pattern(row, col, in);
  def.n_pattern = ENTRIES, def.pattern_row = row, def.pattern_col = col, def.pattern_in = in;
  for (int i = 0; i < NV; i++) q[i] = i % 2 ? 0.0 : L * (i / 2 + 1), v[i] = 0.0; /* level, at rest */
  for (int i = 0; i < NV; i++) any[i] = 1.0 + 0.1 * i;
  start.h = 1e-3;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_system_create(ctx, &def, &sys);
  const ga_point p = {.t = 0.0, .q = any, .v = any, .vdot = any, .lambda = any};
  if (!status) status = ga_system_check(sys, &p, 1e-6, NULL);
  if (!status) printf("the derivatives and the sweep are right\n");
  if (!status) status = ga_stepper_create(ctx, sys, NULL, &st);
  if (!status) status = ga_stepper_start(st, &start, 0.0, q, v, NULL, NULL, NULL, NULL);
  if (!status) status = ga_stepper_run(st, start.h, 500, NULL, NULL);
  if (!status) {
    const ga_state *s = ga_stepper_state(st);
    printf("t %.2f s: the last mass is at x %.4f m, y %.4f m\n", s->t, s->q[NV - 2], s->q[NV - 1]);
  }
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
