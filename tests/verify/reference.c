#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"

/* The state is carried in long double, so that rounding does not add up over thousands of steps; the
 * callbacks, being double, limit the right-hand side only. */
typedef long double real;

enum { COLUMNS = 9 };                 /* of the extrapolation: substeps 2, 4, ..., 18, order 18 */
static const real TOLERANCE = 1e-14L; /* local, relative to the largest value so far of each block */

struct vf_reference {
  ga_system_def def;
  ga_context *ctx;
  ga_group *group;
  vf_sizes size;
  int n_state;  /* nq + nv + n_x */
  int n_solve;  /* unknowns z = (vdot, λ, ψ, y) of the index-1 form */
  int n_matrix; /* rows of the system's Jacobian */
  int n_entries;

  double *D, *Q, *G; /* the Jacobian as the callback fills it */
  double *full;      /* n_solve² matrix of the index-1 form */
  double *z, *dz, *scale;
  int *pivot;
  double *flat; /* the state rounded to double, and its rate */
  double *rate;
  double *mass, *force, *aux; /* results of callbacks */

  real *y, *y_next, *previous, *middle, *slope, *slope0, *table; /* extrapolation */
  real block_scale[3];                                           /* of q, v, x */

  double dt, drift;
  long n, evaluations;
  size_t stride;
  double *samples; /* (n+1) × stride: q, v, vdot, λ, ψ, x, y */
  char *text;      /* the caller's, while creating */
  size_t text_size;
};

/* Row or column of the system's Jacobian for unknown i of z: X is left out, Y follows PSI. */
static int jacobian_index(const vf_reference *r, int i)
{
  const int before_x = r->size.nv + r->size.n_lambda + r->size.n_psi;
  return i < before_x ? i : i + r->size.n_x;
}

static ga_point point_at(const vf_reference *r, double t, const double *flat, const double *z)
{
  const vf_sizes *s = &r->size;
  return (ga_point){.t = t,
                    .q = flat,
                    .v = flat + s->nq,
                    .x = flat + s->nq + s->nv,
                    .vdot = z,
                    .lambda = z + s->nv,
                    .psi = z + s->nv + s->n_lambda,
                    .y = z + s->nv + s->n_lambda + s->n_psi};
}

static int fail(vf_reference *r, double t, const char *what)
{
  snprintf(r->text, r->text_size, "%s at t = %.9g", what, t);
  return 1;
}

/* One derivative of the Jacobian, wherever the pattern puts it. */
static void scatter(const vf_reference *r, const double *entries, double *matrix)
{
  const int n = r->n_matrix;
  memset(matrix, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int e = 0; e < r->n_entries; e++) {
    const int row = r->def.n_pattern ? r->def.pattern_row[e] : e / n;
    const int col = r->def.n_pattern ? r->def.pattern_col[e] : e % n;
    matrix[row * n + col] += entries[e];
  }
}

static int call_jacobian(vf_reference *r, const ga_point *p, double shift_v, double shift_vdot)
{
  ga_jacobian J = {.want = GA_WANT_D | GA_WANT_Q | GA_WANT_B,
                   .shift_v = shift_v,
                   .shift_vdot = shift_vdot,
                   .D = r->D,
                   .Q = r->Q,
                   .G = r->G};
  const size_t bytes = sizeof(double) * (size_t)r->n_entries;
  memset(r->D, 0, bytes);
  memset(r->Q, 0, bytes);
  memset(r->G, 0, bytes);
  return r->def.jacobian(r->def.user, p, &J);
}

/* Copies rows [first, first+count) of the Jacobian's matrix into the index-1 matrix, the columns of x left
 * out. */
static void copy_rows(vf_reference *r, const double *matrix, int first, int count)
{
  for (int i = first; i < first + count; i++)
    for (int j = 0; j < r->n_solve; j++)
      r->full[i * r->n_solve + j] = matrix[jacobian_index(r, i) * r->n_matrix + jacobian_index(r, j)];
}

/*  [ M       −f_λ  −f_ψ  −f_y   ]
 *  [ B        0     0     0     ]
 *  [ A        0     0     0     ]
 *  [ −o_vdot −o_λ  −o_ψ  I−o_y  ]  */
static int assemble(vf_reference *r, const ga_point *p)
{
  const vf_sizes *s = &r->size;
  double *matrix = r->aux + r->n_matrix;
  if (call_jacobian(r, p, 0, 1)) return 1;
  scatter(r, r->D, matrix);
  copy_rows(r, matrix, 0, r->n_solve);
  scatter(r, r->Q, matrix);
  copy_rows(r, matrix, s->nv, s->n_lambda);
  for (int i = s->nv; i < s->nv + s->n_lambda; i++)
    memset(r->full + i * r->n_solve + s->nv, 0, sizeof(double) * (size_t)(r->n_solve - s->nv));
  if (s->n_psi) {
    if (call_jacobian(r, p, 1, 0)) return 1;
    scatter(r, r->D, matrix);
    copy_rows(r, matrix, s->nv + s->n_lambda, s->n_psi);
  }
  for (int i = r->n_solve - s->n_y; i < r->n_solve; i++) r->full[i * r->n_solve + i] += 1;
  return 0;
}

/* dz := −(M vdot − f, Φ_acc + B vdot, k_acc + A vdot, y − o), with B and A from `rows`, an unfactored matrix.
 */
static int residual(vf_reference *r, const ga_point *p, const double *rows)
{
  const vf_sizes *s = &r->size;
  const ga_system_def *d = &r->def;
  double *out = r->dz + s->nv;
  int bad = d->mass(d->user, p, r->mass) || d->force(d->user, p, r->force);
  if (bad) return 1;
  for (int i = 0; i < s->nv; i++) r->dz[i] = r->force[i] - r->mass[i];
  if (s->n_lambda) bad = bad || d->phi_acc(d->user, p, out);
  if (s->n_psi) bad = bad || d->k_acc(d->user, p, out + s->n_lambda);
  for (int i = 0; i < s->n_lambda + s->n_psi; i++) {
    for (int j = 0; j < s->nv; j++) out[i] += rows[i * r->n_solve + j] * p->vdot[j];
    out[i] = -out[i];
  }
  out += s->n_lambda + s->n_psi;
  if (s->n_y) bad = bad || d->output(d->user, p, out);
  for (int i = 0; i < s->n_y; i++) out[i] -= p->y[i];
  return bad;
}

static double largest(const double *a, int n)
{
  double m = 0;
  for (int i = 0; i < n; i++) m = isfinite(a[i]) ? fmax(m, fabs(a[i])) : INFINITY;
  return m;
}

/* Largest increment of Newton's iteration, relative to its block: vdot, λ and ψ, y. */
static double relative_increment(const vf_reference *r)
{
  const int length[3] = {r->size.nv, r->size.n_lambda + r->size.n_psi, r->size.n_y};
  double worst = 0;
  for (int b = 0, at = 0; b < 3; at += length[b++]) {
    const double z = largest(r->z + at, length[b]);
    worst = fmax(worst, largest(r->dz + at, length[b]) / (z > 0 ? z : 1));
  }
  return worst;
}

/* Newton's method for z = (vdot, λ, ψ, y), from the last z; ends when the increments are down to rounding. */
static int solve_accelerations(vf_reference *r, double t, const double *flat)
{
  const int nv = r->size.nv, n = r->n_solve;
  double *rows = r->aux + r->n_matrix + r->n_matrix * r->n_matrix;
  double before = INFINITY;
  for (int iteration = 0; iteration < 30; iteration++) {
    const ga_point p = point_at(r, t, flat, r->z);
    if (iteration == 0 || (iteration > 1 && before > 1e-6)) {
      if (assemble(r, &p)) return fail(r, t, "the Jacobian callback failed");
      memcpy(rows, r->full + nv * n, sizeof(double) * (size_t)((r->size.n_lambda + r->size.n_psi) * n));
      if (vf_lu_factor(r->full, r->pivot, r->scale, n)) return fail(r, t, "singular index-1 matrix");
    }
    if (residual(r, &p, rows)) return fail(r, t, "a callback failed");
    vf_lu_solve(r->dz, r->full, r->pivot, r->scale, n);
    for (int i = 0; i < n; i++) r->z[i] += r->dz[i];
    const double now = relative_increment(r);
    if (!isfinite(now)) return fail(r, t, "not a number in the index-1 solve");
    if (now < 1e-15 || (now < 1e-8 && now > 0.1 * before)) return 0;
    before = now;
  }
  return fail(r, t, "no convergence in the index-1 solve");
}

/* rate := d/dt (q, v, x) */
static int evaluate(vf_reference *r, real t, const real *state, real *rate)
{
  const vf_sizes *s = &r->size;
  for (int i = 0; i < r->n_state; i++) r->flat[i] = (double)state[i];
  if (solve_accelerations(r, (double)t, r->flat)) return 1;
  const ga_point p = point_at(r, (double)t, r->flat, r->z);
  ga_group_rate(r->group, r->rate, p.q, p.v);
  memcpy(r->rate + s->nq, r->z, sizeof(double) * (size_t)s->nv);
  if (s->n_x && r->def.state(r->def.user, &p, r->rate + s->nq + s->nv)) return fail(r, p.t, "state failed");
  for (int i = 0; i < r->n_state; i++) rate[i] = (real)r->rate[i];
  r->evaluations++;
  return 0;
}

/* Gragg's modified midpoint rule: out = y(t+H) by m (even) substeps, an expansion in (H/m)². */
static int midpoint(vf_reference *r, real *out, real t, real H, int m)
{
  const real h = H / m;
  const int n = r->n_state;
  memcpy(r->previous, r->y, sizeof(real) * (size_t)n);
  for (int i = 0; i < n; i++) r->middle[i] = r->y[i] + h * r->slope0[i];
  for (int k = 1; k < m; k++) {
    if (evaluate(r, t + k * h, r->middle, r->slope)) return 1;
    for (int i = 0; i < n; i++) {
      const real next = r->previous[i] + 2 * h * r->slope[i];
      r->previous[i] = r->middle[i];
      r->middle[i] = next;
    }
  }
  memcpy(out, r->middle, sizeof(real) * (size_t)n);
  return 0;
}

/* Largest difference of two states relative to the size of their block. */
static real difference(const vf_reference *r, const real *a, const real *b)
{
  const int length[3] = {r->size.nq, r->size.nv, r->size.n_x};
  real worst = 0;
  for (int block = 0, at = 0; block < 3; at += length[block++])
    for (int i = at; i < at + length[block]; i++)
      worst = fmaxl(worst, fabsl(a[i] - b[i]) / r->block_scale[block]);
  return worst;
}

/* One step by extrapolation. Returns the column that met the tolerance, 0 where none did, −1 on failure. Row
 * j of the table is kept in place: T_jk = T_j,k−1 + (T_j,k−1 − T_j−1,k−1)/((n_j/n_j−k)² − 1). */
static int extrapolate(vf_reference *r, real t, real H)
{
  const int n = r->n_state;
  if (evaluate(r, t, r->y, r->slope0)) return -1;
  for (int j = 0; j < COLUMNS; j++) {
    real *row = r->table + (size_t)(j % 2) * COLUMNS * (size_t)n;
    const real *above = r->table + (size_t)((j + 1) % 2) * COLUMNS * (size_t)n;
    if (midpoint(r, row, t, H, 2 * (j + 1))) return -1;
    for (int k = 1; k <= j; k++) {
      const real ratio = (real)(j + 1) / (real)(j + 1 - k);
      const real factor = 1 / (ratio * ratio - 1);
      for (int i = 0; i < n; i++) {
        const real left = row[(k - 1) * n + i];
        row[k * n + i] = left + factor * (left - above[(k - 1) * n + i]);
      }
    }
    if (j >= 2 && difference(r, row + j * n, row + (j - 1) * n) < TOLERANCE) {
      memcpy(r->y_next, row + j * n, sizeof(real) * (size_t)n);
      return j;
    }
  }
  return 0;
}

static void grow_scales(vf_reference *r)
{
  const int length[3] = {r->size.nq, r->size.nv, r->size.n_x};
  for (int block = 0, at = 0; block < 3; at += length[block++])
    for (int i = at; i < at + length[block]; i++)
      r->block_scale[block] = fmaxl(r->block_scale[block], fabsl(r->y[i]));
}

/* From one sample to the next; *step is the step that accuracy allows, kept from one sample to the next. */
static int advance(vf_reference *r, real t0, real t1, real *step)
{
  real t = t0;
  while (t < t1) {
    const int last = *step >= (t1 - t) * (1 - 1e-12L);
    const real H = last ? t1 - t : *step;
    const int column = extrapolate(r, t, H);
    if (column < 0) return 1;
    if (column == 0) {
      *step = H / 2;
      if (*step < 1e-12L * (1 + fabsl(t1))) return fail(r, (double)t, "the step became too small");
      continue;
    }
    memcpy(r->y, r->y_next, sizeof(real) * (size_t)r->n_state);
    grow_scales(r);
    t = last ? t1 : t + H;
    if (column < COLUMNS - 2 && H > 0.9L * *step) *step *= column < COLUMNS / 2 ? 2 : 1.25L;
    if (column == COLUMNS - 1) *step = 0.8L * H;
  }
  return 0;
}

/* Stores (q, v, vdot, λ, ψ, x, y) at sample i, and how far it has drifted off the constraints. */
static int sample(vf_reference *r, long i)
{
  const vf_sizes *s = &r->size;
  const double t = (double)i * r->dt;
  double *to = r->samples + (size_t)i * r->stride;
  if (evaluate(r, (real)t, r->y, r->slope)) return 1;
  const ga_point p = point_at(r, t, r->flat, r->z);
  const double *from[7] = {p.q, p.v, p.vdot, p.lambda, p.psi, p.x, p.y};
  const int length[7] = {s->nq, s->nv, s->nv, s->n_lambda, s->n_psi, s->n_x, s->n_y};
  for (int b = 0; b < 7; to += length[b++]) memcpy(to, from[b], sizeof(double) * (size_t)length[b]);
  if (s->n_lambda) {
    if (r->def.phi(r->def.user, &p, r->aux)) return fail(r, t, "phi failed");
    r->drift = fmax(r->drift, largest(r->aux, s->n_lambda));
  }
  if (s->n_psi) {
    if (r->def.k(r->def.user, &p, r->aux)) return fail(r, t, "k failed");
    r->drift = fmax(r->drift, largest(r->aux, s->n_psi));
  }
  return 0;
}

static int integrate(vf_reference *r)
{
  real step = (real)r->dt;
  grow_scales(r);
  for (int b = 0; b < 3; b++)
    if (r->block_scale[b] == 0) r->block_scale[b] = 1;
  if (sample(r, 0)) return 1;
  for (long i = 0; i < r->n; i++)
    if (advance(r, (real)((double)i * r->dt), (real)((double)(i + 1) * r->dt), &step) || sample(r, i + 1))
      return 1;
  return 0;
}

static int allocate(vf_reference *r)
{
  const size_t n = (size_t)r->n_matrix + 1, m = (size_t)r->n_state + 1, nz = (size_t)r->n_solve + 1;
  const size_t entries = (size_t)r->n_entries + 1;
  double **doubles[] = {&r->D,    &r->Q,    &r->G,    &r->full,  &r->z,   &r->dz,     &r->scale,
                        &r->flat, &r->rate, &r->mass, &r->force, &r->aux, &r->samples};
  const size_t length[] = {entries,
                           entries,
                           entries,
                           nz * nz,
                           nz,
                           nz,
                           nz,
                           m,
                           m,
                           n,
                           n,
                           n + 2 * n * n,
                           (size_t)(r->n + 1) * r->stride};
  real **reals[] = {&r->y, &r->y_next, &r->previous, &r->middle, &r->slope, &r->slope0, &r->table};
  int bad = 0;
  for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
    bad |= !(*doubles[i] = calloc(length[i], sizeof(double)));
  for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
    bad |= !(*reals[i] = calloc(reals[i] == &r->table ? 2 * COLUMNS * m : m, sizeof(real)));
  bad |= !(r->pivot = calloc(nz, sizeof(int)));
  return bad;
}

/* Sizes, and the initial values in r->y. */
static int prepare(vf_reference *r, const ex_problem *problem)
{
  r->def = ga_system_defaults();
  problem->define(&r->def);
  if (ga_context_create(NULL, &r->ctx) != GA_OK) return fail(r, 0, "no context");
  if (ga_group_create(r->ctx, r->def.n_factors, r->def.factors, &r->group) != GA_OK)
    return fail(r, 0, "no group");
  vf_sizes *s = &r->size;
  *s = (vf_sizes){
      ga_group_nq(r->group), ga_group_nv(r->group), r->def.n_lambda, r->def.n_psi, r->def.n_x, r->def.n_y};
  r->n_state = s->nq + s->nv + s->n_x;
  r->n_solve = s->nv + s->n_lambda + s->n_psi + s->n_y;
  r->n_matrix = r->n_solve + s->n_x;
  r->n_entries = r->def.n_pattern ? r->def.n_pattern : r->n_matrix * r->n_matrix;
  r->stride = (size_t)(s->nq + 2 * s->nv + s->n_lambda + s->n_psi + s->n_x + s->n_y);
  if (!r->def.jacobian || (s->n_lambda && !r->def.phi_acc) || (s->n_psi && !r->def.k_acc))
    return fail(r, 0, "the problem lacks jacobian, phi_acc or k_acc, which the reference needs");
  if (allocate(r)) return fail(r, 0, "out of memory");
  const double *from[3] = {problem->q0, problem->v0, problem->x0};
  const int length[3] = {s->nq, s->nv, s->n_x};
  for (int b = 0, at = 0; b < 3; at += length[b++])
    for (int i = 0; i < length[b]; i++) r->y[at + i] = (real)from[b][i];
  for (int i = 0; problem->lambda_guess && i < s->n_lambda; i++) r->z[s->nv + i] = problem->lambda_guess[i];
  for (int i = 0; problem->psi_guess && i < s->n_psi; i++)
    r->z[s->nv + s->n_lambda + i] = problem->psi_guess[i];
  return 0;
}

vf_reference *vf_reference_create(const ex_problem *problem, double dt, long n, char *text, size_t size)
{
  vf_reference *r = calloc(1, sizeof *r);
  if (!r) {
    snprintf(text, size, "out of memory");
    return NULL;
  }
  r->dt = dt;
  r->n = n;
  r->text = text;
  r->text_size = size;
  if (prepare(r, problem) || integrate(r)) vf_reference_destroy(&r);
  return r;
}

void vf_reference_destroy(vf_reference **ref)
{
  vf_reference *r = *ref;
  if (!r) return;
  void *blocks[] = {r->D,     r->Q,      r->G,        r->full,   r->z,     r->dz,     r->scale,
                    r->pivot, r->flat,   r->rate,     r->mass,   r->force, r->aux,    r->samples,
                    r->y,     r->y_next, r->previous, r->middle, r->slope, r->slope0, r->table};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) free(blocks[i]);
  ga_group_destroy(&r->group);
  ga_context_destroy(&r->ctx);
  free(r);
  *ref = NULL;
}

vf_sizes vf_reference_sizes(const vf_reference *ref)
{
  return ref->size;
}

ga_point vf_reference_at(const vf_reference *ref, long i)
{
  const vf_sizes *s = &ref->size;
  const double *at = ref->samples + (size_t)i * ref->stride;
  ga_point p = {.t = (double)i * ref->dt};
  const double **to[7] = {&p.q, &p.v, &p.vdot, &p.lambda, &p.psi, &p.x, &p.y};
  const int length[7] = {s->nq, s->nv, s->nv, s->n_lambda, s->n_psi, s->n_x, s->n_y};
  for (int b = 0; b < 7; at += length[b++]) *to[b] = at;
  return p;
}

double vf_reference_drift(const vf_reference *ref)
{
  return ref->drift;
}

long vf_reference_evaluations(const vf_reference *ref)
{
  return ref->evaluations;
}
