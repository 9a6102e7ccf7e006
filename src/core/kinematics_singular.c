/* Kinematics: where constraints lose their independence, which motions they leave free, and how this is
 * reported.
 *
 * With B w = σ u for the least singular value σ of B (velocities measured by M), σ goes through 0 where two
 * branches of the motion meet, and to 0 where the motion ends (a dead centre). u and w change continuously
 * along a branch; beyond a point where branches meet one of them has changed its sign. The same happens if a
 * long move ends on the wrong one of two close branches. */
#include "core/kinematics.h"

#include <math.h>
#include <string.h>

enum { MOST_SOLVES = 30 };
#define KNOWN 1e-3 /* relative change of a converged eigenvalue */
#define LIKE 0.5   /* least cosine between vectors of the same pair */
#define SHORT 1e-3 /* if the vectors differ after a shorter move, another pair has become the least one */
#define SMALL 1e-3 /* σ over its largest value, near a singular position */
#define FAR 0.1    /* and away from one */
#define FAST 10.0  /* times the usual speed, where the motion ends */

static double length_of(const double *a, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Inverse iteration: [M Bᵀ; B 0](δ, μ) = (0, u) gives μ = −(B M⁻¹ Bᵀ)⁻¹ u, and δ = B⁻¹ u. */
ga_status ga__least_held_find(ga_kinematics *k, const double *from, ga__least_held *out)
{
  ga_stepper *st = k->st;
  const ga_system *sys = st->sys;
  const int n = sys->size[GA_BLOCK_LAMBDA], first = sys->start[GA_BLOCK_LAMBDA], nv = sys->nv;
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *d = ga__take(&scratch, sys->n), before = 0.0;
  out->sigma = INFINITY;
  if (n == 0 || nv == 0) return GA_OK;
  const ga_point p = ga__state_point(&st->now);
  const ga_status status = ga__saddle_at(st, &p, 0);
  if (status) return status;
  for (int i = 0; i < n; i++)
    out->u[i] = from ? from[i] : 1.0 + 0.5 * sin(1.0 + 2.4 * i); /* a generic vector */
  for (int solves = 0; solves < MOST_SOLVES; solves++) {
    const double old = length_of(out->u, n);
    for (int i = 0; i < sys->n; i++) d[i] = 0.0;
    for (int i = 0; i < n; i++) d[first + i] = out->u[i] / old;
    const ga_status solved = ga__saddle_solve(&st->saddle, &st->red.null, d);
    if (solved) return solved;
    const double length = length_of(d + first, n), move = length_of(d, nv);
    if (!(length > 0.0) || !isfinite(length) || !(move > 0.0)) return GA_RETRY_SINGULAR;
    for (int i = 0; i < n; i++) out->u[i] = -d[first + i] / length;
    for (int i = 0; i < nv; i++) out->w[i] = d[i] / move;
    out->sigma = 1.0 / sqrt(length);
    if (fabs(length - before) <= KNOWN * length) break;
    before = length;
  }
  return GA_OK;
}

int ga__least_held_turned(const ga_kinematics *k, double size)
{
  const ga_system *sys = k->st->sys;
  if (!isfinite(k->now.sigma) || !isfinite(k->next.sigma)) return 0;
  const double along_u = dot(k->now.u, k->next.u, sys->size[GA_BLOCK_LAMBDA]),
               along_w = dot(k->now.w, k->next.w, sys->nv);
  if (fabs(along_u) >= LIKE && fabs(along_w) >= LIKE) return along_u * along_w < 0.0;
  return size > SHORT;
}

static int largest_at(const double *a, int n)
{
  int at = 0;
  for (int i = 1; i < n; i++)
    if (fabs(a[i]) > fabs(a[at])) at = i;
  return at;
}

void ga__least_held_note(ga_kinematics *k)
{
  const ga__state *now = &k->st->now;
  k->most_sigma = fmax(k->most_sigma, k->now.sigma);
  if (k->now.sigma >= FAR * k->most_sigma)
    k->most_speed = fmax(k->most_speed, ga__max_abs(now->v, k->st->sys->nv, NULL));
  if (k->now.sigma < k->stats.least_independence) {
    k->stats.least_independence = k->now.sigma;
    k->stats.least_t = now->scalar[GA__T];
  }
}

ga_status ga__kinematics_fail(ga_kinematics *k, ga_status status, const ga_error *why)
{
  const ga_system *sys = k->st->sys;
  const double t = k->st->now.scalar[GA__T];
  char equation[192] = "", coordinate[192] = "";
  const int singular = status == GA_RETRY_SINGULAR || k->now.sigma <= SMALL * k->most_sigma;
  if (!singular) {
    char text[GA_ERROR_TEXT];
    ga_error_say(why, GA_SAY_ALL, text, sizeof text);
    return ga__refuse(k->ctx, GA_ERR_INCONSISTENT, GA_REASON_MOTION_ENDS,
                      &(ga__facts){.at = &(ga__fact_time){t, NAN, why->block, why->index},
                                   .equation = why->equation,
                                   .detail = text});
  }
  const int row = largest_at(k->now.u, sys->size[GA_BLOCK_LAMBDA]), column = largest_at(k->now.w, sys->nv);
  ga__describe(sys, GA_BLOCK_LAMBDA, row, equation, sizeof equation);
  ga__describe_unknown(sys, GA_BLOCK_V, column, coordinate, sizeof coordinate);
  const double relative = k->most_sigma > 0.0 ? k->now.sigma / k->most_sigma : 0.0;
  return ga__refuse(
      k->ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_MOTION,
      &(ga__facts){.at = &(ga__fact_time){t, NAN, GA_BLOCK_LAMBDA, row},
                   .equation = equation,
                   .other = coordinate,
                   .detail = fabs(k->st->now.v[column]) > FAST * k->most_speed
                                 ? "a dead centre: the prescribed motion cannot continue beyond it"
                                 : "two motions branch off there, and neither is prescribed",
                   GA__NUMBERS({relative, NULL}, {k->st->now.v[column], NULL})});
}

/* ---- Free motions ---- */

/* z with B z = 0 and A z = 0: [M Bᵀ Aᵀ; B; A](z, μ) = (r, 0) for a generic vector r. */
static ga_status free_motion(ga_kinematics *k, int i, double *z)
{
  ga_stepper *st = k->st;
  const ga_system *sys = st->sys;
  const ga_point p = ga__state_point(&st->now);
  ga_status status = ga__saddle_at(st, &p, 0);
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *d = ga__take(&scratch, sys->n);
  for (int c = 0; c < sys->n; c++) d[c] = c < sys->nv ? sin(1.0 + 2.4 * c + 1.7 * i * (1.0 + 0.31 * c)) : 0.0;
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, d);
  if (status) return status;
  const double length = ga__max_abs(d, sys->nv, NULL);
  for (int c = 0; c < sys->nv; c++) z[c] = length > 0.0 ? d[c] / length : 0.0;
  return GA_OK;
}

int ga_kinematics_n_free(const ga_kinematics *k)
{
  return k ? k->n_free : 0;
}

ga_status ga_kinematics_free_motion(ga_kinematics *k, int i, double *v)
{
  if (!k) return GA_ERR_ARGUMENT;
  if (k->n_free == 0) return ga__refuse_order(k->ctx, __func__, "after a start that left motions free");
  if (i < 0 || i >= k->n_free)
    return ga__refuse_number(k->ctx, "kinematics", "i", i, "from 0 to ga_kinematics_n_free() - 1");
  if (!v) return ga__refuse_null(k->ctx, __func__, "v");
  return free_motion(k, i, v);
}

const ga_state *ga_kinematics_free_state(const ga_kinematics *k)
{
  return k && k->n_free > 0 ? &k->st->view : NULL;
}

/* The coordinate that moves most in z; those before are fixed: z without the motions that move them. */
static int next_free(double *const *z, const int *pivot, int n, int nv)
{
  for (int i = 0; i < n; i++) {
    const double part = z[n][pivot[i]] / z[i][pivot[i]];
    for (int c = 0; c < nv; c++) z[n][c] -= part * z[i][c];
  }
  return largest_at(z[n], nv);
}

ga_status ga__kinematics_refuse_free(ga_kinematics *k)
{
  enum { NAMED = 4 };
  const ga_system *sys = k->st->sys;
  double *const z[NAMED] = {k->move, k->v, k->now.w, k->next.w};
  int pivot[NAMED];
  char list[GA_ERROR_NAME] = "", name[192];
  ga__writer w = {list, sizeof list, 0};
  for (int i = 0; i < k->n_free && i < NAMED; i++) {
    const ga_status status = free_motion(k, i, z[i]);
    if (status) return status;
    pivot[i] = next_free(z, pivot, i, sys->nv);
    ga_system_name(sys, GA_BLOCK_V, pivot[i], name, sizeof name);
    ga__write(&w, "%s%s", i ? ", " : "", name);
  }
  if (k->n_free > NAMED) ga__write(&w, " and %d more", k->n_free - NAMED);
  return ga__refuse(k->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_PRESCRIBED,
                    &(ga__facts){.name = list, GA__NUMBERS({k->n_free, NULL})});
}
