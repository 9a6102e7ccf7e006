#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state is carried in long double, so that rounding does not add up over thousands of steps; the
 * callbacks, being double, limit the right-hand side only. */
typedef long double real;

enum { COLUMNS = 9 };                 /* of the extrapolation: substeps 2, 4, ..., 18, order 18 */
static const real TOLERANCE = 1e-15L; /* local, relative to the largest value so far of each block */

struct vf_reference {
  vf_index1 *model;
  vf_sizes size;
  int n_state; /* nq + nv + n_x */
  double dt, drift;
  long n;
  size_t stride;
  double *samples;     /* (n+1) × stride: q, v, vdot, λ, ψ, x, y; one more for a time in between */
  char text[128];      /* the model's messages */
  double *flat, *rate; /* the state rounded to double, and its rate */
  real *y, *y_next, *previous, *middle, *slope, *slope0, *table; /* extrapolation */
  real block_scale[3];                                           /* of q, v, x */
};

/* rate := d/dt (q, v, x) */
static int evaluate(vf_reference *r, real t, const real *state, real *rate)
{
  for (int i = 0; i < r->n_state; i++) r->flat[i] = (double)state[i];
  if (vf_index1_rate(r->model, (double)t, r->flat, r->rate)) return 1;
  for (int i = 0; i < r->n_state; i++) rate[i] = (real)r->rate[i];
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

/* One step by extrapolation. Returns the column that met the tolerance, 0 where none did, −1 on failure. Two
 * rows of the table are kept: T_jk = T_j,k−1 + (T_j,k−1 − T_j−1,k−1)/((n_j/n_j−k)² − 1). */
static int extrapolate(vf_reference *r, real t, real H)
{
  const int n = r->n_state;
  if (evaluate(r, t, r->y, r->slope0)) return -1;
  for (int j = 0; j < COLUMNS; j++) {
    real *row = r->table + (j % 2) * COLUMNS * n;
    const real *above = r->table + ((j + 1) % 2) * COLUMNS * n;
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
      if (*step < 1e-10L * (t1 - t0)) return 1;
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

/* The seven blocks of a sample, in the order of storage. */
static void block_lengths(const vf_sizes *s, int length[7])
{
  const int all[7] = {s->nq, s->nv, s->nv, s->n_lambda, s->n_psi, s->n_x, s->n_y};
  memcpy(length, all, sizeof all);
}

/* Stores (q, v, vdot, λ, ψ, x, y) at time t as sample i, and how far it has drifted off the constraints. */
static int sample(vf_reference *r, long i, double t)
{
  double *to = r->samples + (size_t)i * r->stride;
  int length[7];
  if (evaluate(r, (real)t, r->y, r->slope)) return 1;
  const ga_point p = vf_index1_point(r->model, t, r->flat);
  const double *from[7] = {p.q, p.v, p.vdot, p.lambda, p.psi, p.x, p.y};
  block_lengths(&r->size, length);
  for (int b = 0; b < 7; to += length[b++]) memcpy(to, from[b], sizeof(double) * (size_t)length[b]);
  r->drift = fmax(r->drift, vf_index1_drift(r->model, &p));
  return 0;
}

static void set_state(vf_reference *r, const double *q, const double *v, const double *x)
{
  const double *from[3] = {q, v, x};
  const int length[3] = {r->size.nq, r->size.nv, r->size.n_x};
  for (int b = 0, at = 0; b < 3; at += length[b++])
    for (int i = 0; i < length[b]; i++) r->y[at + i] = (real)from[b][i];
}

static int integrate(vf_reference *r, const ex_problem *problem)
{
  real step = (real)r->dt;
  set_state(r, problem->q0, problem->v0, problem->x0);
  grow_scales(r);
  for (int b = 0; b < 3; b++)
    if (r->block_scale[b] == 0) r->block_scale[b] = 1;
  if (sample(r, 0, 0)) return 1;
  for (long i = 0; i < r->n; i++) {
    const double t = (double)i * r->dt, t_next = (double)(i + 1) * r->dt;
    if (advance(r, (real)t, (real)t_next, &step) || sample(r, i + 1, t_next)) return 1;
  }
  return 0;
}

static int allocate(vf_reference *r)
{
  const size_t m = (size_t)r->n_state + 1;
  real **reals[] = {&r->y, &r->y_next, &r->previous, &r->middle, &r->slope, &r->slope0, &r->table};
  int bad = 0;
  for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
    bad |= !(*reals[i] = calloc(reals[i] == &r->table ? 2 * COLUMNS * m : m, sizeof(real)));
  bad |= !(r->flat = calloc(m, sizeof(double)));
  bad |= !(r->rate = calloc(m, sizeof(double)));
  bad |= !(r->samples = calloc((size_t)(r->n + 2) * r->stride + 1, sizeof(double)));
  return bad;
}

vf_reference *vf_reference_create(const ex_problem *problem, double dt, long n, char *text, size_t size)
{
  vf_reference *r = calloc(1, sizeof *r);
  int length[7];
  snprintf(text, size, "out of memory");
  if (!r) return NULL;
  snprintf(r->text, sizeof r->text, "%s", text);
  r->model = vf_index1_create(problem, r->text, sizeof r->text);
  if (r->model) {
    r->dt = dt;
    r->n = n;
    r->size = vf_index1_sizes(r->model);
    r->n_state = r->size.nq + r->size.nv + r->size.n_x;
    block_lengths(&r->size, length);
    for (int b = 0; b < 7; b++) r->stride += (size_t)length[b];
  }
  int bad = !r->model || allocate(r);
  if (!bad) {
    snprintf(r->text, sizeof r->text, "the step of the reference integration became too small");
    bad = integrate(r, problem);
  }
  snprintf(text, size, "%s", r->text);
  if (bad) vf_reference_destroy(&r);
  return r;
}

void vf_reference_destroy(vf_reference **ref)
{
  vf_reference *r = *ref;
  if (!r) return;
  void *blocks[] = {r->flat,     r->rate,   r->samples, r->y,      r->y_next,
                    r->previous, r->middle, r->slope,   r->slope0, r->table};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) free(blocks[i]);
  vf_index1_destroy(&r->model);
  free(r);
  *ref = NULL;
}

vf_sizes vf_reference_sizes(const vf_reference *ref)
{
  return ref->size;
}

double vf_reference_spacing(const vf_reference *ref)
{
  return ref->dt;
}

long vf_reference_length(const vf_reference *ref)
{
  return ref->n;
}

ga_point vf_reference_at(const vf_reference *ref, long i)
{
  const double *at = ref->samples + (size_t)i * ref->stride;
  ga_point p = {.t = (double)i * ref->dt};
  const double **to[7] = {&p.q, &p.v, &p.vdot, &p.lambda, &p.psi, &p.x, &p.y};
  int length[7];
  block_lengths(&ref->size, length);
  for (int b = 0; b < 7; at += length[b++]) *to[b] = at;
  return p;
}

ga_point vf_reference_between(vf_reference *ref, double t)
{
  const long i = (long)fmin(floor(t / ref->dt), (double)ref->n), spare = ref->n + 1;
  const ga_point none = {.t = t};
  if (!(t >= 0)) return none;
  ga_point p = vf_reference_at(ref, i);
  real step = (real)ref->dt;
  set_state(ref, p.q, p.v, p.x);
  if (advance(ref, (real)p.t, (real)t, &step) || sample(ref, spare, t)) return none;
  p = vf_reference_at(ref, spare);
  p.t = t;
  return p;
}

double vf_reference_drift(const vf_reference *ref)
{
  return ref->drift;
}
