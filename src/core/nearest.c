/* The positions on the constraints nearest to given ones, and how independent the constraints are there. */
#include "core/stepper.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 500, PATIENCE = 10, MAX_SOLVES = 30 };
#define DOUBTFUL 1e-5   /* reciprocal condition below which constraints may be redundant */
#define CONVERGED 1e-13 /* relative moves below this are rounding */
#define STAGNATED 1e-10 /* and below this if they have not decreased for PATIENCE moves */
#define LEAST_PART 0.05 /* least factor of the direction given by M alone, */
#define MOST_PART 20.0  /* and largest */
#define LONGEST 0.3     /* largest relative move */
#define SETTLED 1e-3    /* relative change of a converged eigenvalue */

/* [M Bᵀ; B 0] at the current positions, with relations among constraints if there are any; *redundant is
 * never reset. */
static ga_status matrix_at(ga_stepper *st, int *redundant)
{
  const ga_point p = ga__state_point(&st->now);
  if (!*redundant) {
    st->red.null.r = st->red.null_b.r = 0;
    const ga_status status = ga__saddle_at(st, &p, 0);
    if (status && status != GA_RETRY_SINGULAR) return status;
    if (!status && ga_lu_get_info(st->saddle.lu)->rcond >= DOUBTFUL) return GA_OK;
    if (st->opts.redundant != GA_REDUNDANT_ACCEPT) return status;
    *redundant = 1;
  }
  const ga_status status = ga__find_relations(st, &p);
  return status ? status : ga__saddle_at(st, &p, 0);
}

/* The derivative of ½ dᵀ M d by moves of q, g = T(d)⁻ᵀ M d, q = move(given, d), M that of the given
 * positions. */
static ga_status gradient(ga_stepper *st, const double *given, double *g, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *d = ga__take(&scratch, sys->nv), *md = ga__take(&scratch, sys->nv), *T = st->T;
  ga_point p = ga__state_point(&st->now);
  ga_group_difference(sys->group, d, given, st->now.q);
  p.q = given;
  p.vdot = d;
  const ga_status status = ga__call(sys, GA__MASS, &p, md);
  if (status) return status;
  ga_group_tangent_inverse(sys->group, T, d);
  memcpy(g, md, (size_t)sys->nv * sizeof *g); /* T is the identity outside its blocks */
  for (int b = 0; b < ga_group_n_blocks(sys->group); b++) {
    int first;
    const int n = ga_group_block(sys->group, b, &first);
    for (int i = 0; i < n; i++) {
      g[first + i] = 0.0;
      for (int k = 0; k < n; k++) g[first + i] += T[k * n + i] * md[first + k];
    }
    T += n * n;
  }
  return GA_OK;
}

/* out := M x at the current positions. */
static ga_status times_mass(ga_stepper *st, const double *x, double *out)
{
  ga_point p = ga__state_point(&st->now);
  p.vdot = x;
  return ga__call(st->sys, GA__MASS, &p, out);
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Directions of a move: z along the constraints against the gradient, [M Bᵀ; B 0](z, μ) = (−g, 0), and c
 * onto them, [M Bᵀ; B 0](c, μ) = (0, −Φ). */
static ga_status directions(ga_stepper *st, const double *given, int *redundant, double *z, double *c,
                            ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const size_t bytes = (size_t)sys->nv * sizeof(double);
  double *d = ga__take(&scratch, sys->n);
  ga_status status = matrix_at(st, redundant);
  if (!status) status = gradient(st, given, z, scratch);
  if (status) return status;
  for (int i = 0; i < sys->n; i++) d[i] = i < sys->nv ? -z[i] : 0.0;
  if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
  memcpy(z, d, bytes);
  const ga_point p = ga__state_point(&st->now);
  double *phi = ga__take(&scratch, sys->size[GA_BLOCK_LAMBDA]);
  if ((status = ga__call(sys, GA__PHI, &p, phi))) return status;
  for (int i = 0; i < sys->n; i++) d[i] = 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) d[sys->start[GA_BLOCK_LAMBDA] + i] = -phi[i];
  if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
  memcpy(c, d, bytes);
  return GA_OK;
}

/* Step length along z from its change in the move before (Barzilai and Borwein, 1988): part times ⟨z₀,
 * z₀⟩/⟨z₀, z₀ − z⟩, with M as the metric. */
static ga_status choose_part(ga_stepper *st, const double *z0, const double *z, double *part,
                             ga__scratch scratch)
{
  const int n = st->sys->nv;
  double *mz0 = ga__take(&scratch, n);
  const ga_status status = times_mass(st, z0, mz0);
  if (status) return status;
  const double whole = dot(z0, mz0, n), left = dot(z, mz0, n);
  *part = left < whole ? *part * whole / (whole - left) : 2.0 * *part;
  *part = fmin(fmax(*part, LEAST_PART), MOST_PART);
  return GA_OK;
}

static ga_status no_nearest(ga_stepper *st)
{
  return ga__refuse(st->ctx, GA_RETRY_NEWTON, GA_REASON_NEAREST_NOT_FOUND, &(ga__facts){.at = NULL});
}

/* Moves along the constraints to the minimum. */
static ga_status descend(ga_stepper *st, const double *given, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  double *z = ga__take(&scratch, sys->nv), *z0 = ga__take(&scratch, sys->nv),
         *c = ga__take(&scratch, sys->nv);
  double part = 1.0, least = HUGE_VAL;
  int redundant = st->red.plain_refused, waited = 0;
  for (int i = 0; i < MAX_ITERATIONS; i++) {
    ga_status status = directions(st, given, &redundant, z, c, scratch);
    if (!status && i > 0) status = choose_part(st, z0, z, &part, scratch);
    if (status) return status;
    const double scale = 1.0 + ga__max_abs(f->q, sys->nq, NULL),
                 along = ga__max_abs(z, sys->nv, NULL) / scale;
    const double size = fmax(along, ga__max_abs(c, sys->nv, NULL) / scale);
    if (!isfinite(size)) return no_nearest(st);
    waited = size < least ? 0 : waited + 1;
    least = fmin(least, size);
    if (size <= CONVERGED || (size <= STAGNATED && waited > PATIENCE)) return GA_OK;
    part = fmin(part, LONGEST / along);
    for (int k = 0; k < sys->nv; k++) c[k] += part * z[k];
    ga_group_move(sys->group, f->q, f->q, c);
    memcpy(z0, z, (size_t)sys->nv * sizeof *z);
  }
  return no_nearest(st);
}

static ga_status refuse_not_finite(ga_context *ctx, const char *function, const char *field, int item,
                                   double value)
{
  return ga__refuse(
      ctx, GA_ERR_NAN, GA_REASON_NOT_FINITE,
      &(ga__facts){.function = function, .field = field, .item = item + 1, GA__NUMBERS({value, NULL})});
}

ga_status ga_stepper_nearest(ga_stepper *st, const ga_start_opts *opts, double t0, const double *given,
                             double *q)
{
  if (!st) return GA_ERR_ARGUMENT;
  const int nq = st->sys->nq;
  if (nq > 0 && (!given || !q)) return ga__null_argument(st->ctx);
  const int bad = nq > 0 ? ga__first_bad(given, nq) : -1;
  if (bad >= 0) return refuse_not_finite(st->ctx, __func__, "given", bad, given[bad]);
  ga_status status = ga_stepper_assemble(st, opts, t0, q, NULL, NULL);
  if (status || nq == 0) return status;
  st->ctx->starting = GA__STARTING;
  status = descend(st, given, ga__stack_begin(&st->scratch));
  st->ctx->starting = 0;
  if (status) return status;
  memcpy(q, st->now.q, (size_t)nq * sizeof *q);
  return ga_stepper_assemble(st, opts, t0, q, NULL, NULL); /* to rounding */
}

/* The least eigenvalue of G = B M⁻¹ Bᵀ by inverse iteration: of [M Bᵀ; B 0](δ, μ) = (0, u), μ = −G⁻¹u. */
static ga_status least_eigenvalue(ga_stepper *st, double *out, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int n = sys->size[GA_BLOCK_LAMBDA], first = sys->start[GA_BLOCK_LAMBDA];
  double *d = ga__take(&scratch, sys->n), *u = ga__take(&scratch, n), before = 0.0, length = 0.0;
  for (int i = 0; i < n; i++) u[i] = 1.0 + 0.5 * sin(1.0 + 2.4 * i); /* generic numbers */
  for (int k = 0; k < MAX_SOLVES; k++) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += u[i] * u[i];
    for (int i = 0; i < sys->n; i++) d[i] = 0.0;
    for (int i = 0; i < n; i++) d[first + i] = u[i] / sqrt(sum);
    const ga_status status = ga__saddle_solve(&st->saddle, &st->red.null, d);
    if (status) return status;
    for (int i = 0; i < n; i++) u[i] = -d[first + i];
    length = 0.0;
    for (int i = 0; i < n; i++) length += u[i] * u[i];
    length = sqrt(length);
    if (!(length > 0.0) || !isfinite(length) || fabs(length - before) <= SETTLED * length) break;
    before = length;
  }
  *out = length > 0.0 && isfinite(length) ? 1.0 / length : 0.0;
  return GA_OK;
}

ga_status ga_stepper_independence(ga_stepper *st, double t, const double *q, double *out)
{
  if (!st) return GA_ERR_ARGUMENT;
  const ga_system *sys = st->sys;
  if (!out || (sys->nq > 0 && !q)) return ga__null_argument(st->ctx);
  *out = INFINITY;
  const int bad = sys->nq > 0 ? ga__first_bad(q, sys->nq) : -1;
  if (!isfinite(t)) return refuse_not_finite(st->ctx, __func__, "t", -1, t);
  if (bad >= 0) return refuse_not_finite(st->ctx, __func__, "q", bad, q[bad]);
  if (sys->size[GA_BLOCK_LAMBDA] == 0) return GA_OK;
  st->has_state = 0;
  ga__state_changed(st);
  ga__forget_steps(st);
  memset(st->now.block, 0, st->state_length * sizeof(double));
  memcpy(st->now.q, q, (size_t)sys->nq * sizeof *q);
  st->now.scalar[GA__T] = st->now.scalar[GA__T_BASE] = t;
  int redundant = st->red.plain_refused;
  ga_status status = matrix_at(st, &redundant);
  if (!status) status = least_eigenvalue(st, out, ga__stack_begin(&st->scratch));
  if (status == GA_RETRY_SINGULAR) *out = 0.0;
  if (status == GA_RETRY_SINGULAR) return GA_OK;
  *out = sqrt(*out);
  return status;
}
