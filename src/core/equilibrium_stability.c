/* Stiffness in the directions in which constraints allow motion.
 *
 * With outputs, states and multipliers eliminated W⁻¹ has the block S of forces f to moves: S f solves K̃
 * δq + Bᵀ δλ = f, B δq = 0, so that S is the inverse of the stiffness in those directions and zero in all
 * others. An Arnoldi process with S finds the softest ones; all of them if there are few. A direction of
 * negative stiffness is unstable. Moves are measured in the scales of q. */
#include "core/equilibrium.h"
#include "core/kink.h"
#include "core/linearise.h"

#include <float.h>
#include <math.h>

#define NEGLIGIBLE                                                                                           \
  1e-9 /* relative to the largest compliance: stiffer directions are not distinguished from blocked ones */
#define GROWTH 1e-6 /* relative to |eigenvalue|: slower growth is rounding */

/* ---- The process ---- */

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* out := S in, scaled. */
static ga_status apply_compliance(ga_equilibrium *eq, const double *in, double *out)
{
  const int nv = eq->sys->nv;
  for (int i = 0; i < eq->sys->n; i++) eq->b[i] = i < nv ? in[i] / eq->scale[i] : 0.0;
  const ga_status status = ga_lu_solve(eq->lu, eq->b);
  for (int i = 0; i < nv; i++) out[i] = eq->b[i] / eq->scale[i];
  return status;
}

/* w without its parts along the first n vectors, twice for rounding; their sizes are added to h, unless it is
 * NULL. Returns the length left. */
static double orthogonalise(const ga_equilibrium *eq, int n, double *w, double *h)
{
  const int nv = eq->sys->nv;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < n; j++) {
      const double *v = eq->basis + (size_t)j * (size_t)nv;
      const double part = dot(v, w, nv);
      for (int i = 0; i < nv; i++) w[i] -= part * v[i];
      if (h) h[j] += part;
    }
  return sqrt(dot(w, w, nv));
}

/* Vector number n: S times a random vector, orthogonalised. *length: its remaining length. */
static ga_status add_vector(ga_equilibrium *eq, int n, unsigned *random, double *length)
{
  const int nv = eq->sys->nv;
  double *w = eq->basis + (size_t)n * (size_t)nv;
  for (int i = 0; i < nv; i++) {
    *random = *random * 1664525u + 1013904223u;
    eq->direction[i] = 0.5 + (double)(*random >> 8) / 16777216.0;
    if (*random & 0x80u) eq->direction[i] = -eq->direction[i];
  }
  const ga_status status = apply_compliance(eq, eq->direction, w);
  const double before = sqrt(dot(w, w, nv));
  *length = before > 0.0 ? orthogonalise(eq, n, w, NULL) / before : 0.0;
  for (int i = 0; *length > 0.0 && i < nv; i++) w[i] /= *length * before;
  return status;
}

/* The matrix of S in a basis of the directions found; *n: how many. */
static ga_status run_process(ga_equilibrium *eq, int *n)
{
  const int nv = eq->sys->nv, stride = eq->most;
  const int most = stride < eq->free_directions ? stride : eq->free_directions;
  unsigned random = 20260u;
  double length = 0.0, largest = 0.0;
  ga_status status = GA_OK;
  *n = 0;
  for (int i = 0; i < stride * stride; i++) eq->hessenberg[i] = 0.0;
  int fresh = 1;
  while (*n < most) {
    double *w = eq->basis + (size_t)(*n + 1) * (size_t)nv, *h = eq->hessenberg + (size_t)*n * (size_t)stride;
    if (fresh) {
      status = add_vector(eq, *n, &random, &length);
      if (status) return status;
      if (length <= NEGLIGIBLE) break;
    }
    status = apply_compliance(eq, w - nv, w);
    if (status) return status;
    const double size = sqrt(dot(w, w, nv));
    if (!isfinite(size)) return GA_RETRY_SINGULAR;
    largest = fmax(largest, size);
    length = orthogonalise(eq, *n + 1, w, h);
    ++*n;
    fresh = length <= NEGLIGIBLE * largest;
    if (!fresh && *n < most) h[*n] = length;
    for (int i = 0; !fresh && i < nv; i++) w[i] /= length;
  }
  return GA_OK;
}

/* ---- What it says ---- */

/* The largest component of a direction, by the scales. */
static int largest_component(const ga_equilibrium *eq, const double *direction)
{
  int at = -1;
  for (int i = 0; i < eq->sys->nv; i++)
    if (direction[i] != 0.0 && (at < 0 || fabs(direction[i]) > fabs(direction[at]))) at = i;
  return at;
}

/* eq->direction := that of eigenvector k. */
static void set_direction(ga_equilibrium *eq, int k)
{
  const int nv = eq->sys->nv, n = eq->eigen.n;
  for (int i = 0; i < nv; i++) eq->direction[i] = 0.0;
  for (int j = 0; j < n; j++) {
    const double part = eq->eigen.vectors[(size_t)k * (size_t)n + (size_t)j];
    for (int i = 0; i < nv; i++) eq->direction[i] += part * eq->basis[(size_t)j * (size_t)nv + (size_t)i];
  }
}

/* Rounding of the stiffness in eq->direction: the sum of |d K d|. */
static double stiffness_rounding(const ga_equilibrium *eq)
{
  const ga_sparse *W = eq->W;
  const int nv = eq->sys->nv;
  double sum = 0.0;
  for (int c = 0; c < nv; c++) {
    const double move = eq->scale[c] * eq->direction[c];
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < nv; p++)
      sum += fabs(eq->scale[W->row[p]] * eq->direction[W->row[p]] * W->value[p] * move);
  }
  return 8.0 * DBL_EPSILON * sum;
}

/* Negative compliances are unstable directions; the largest, of either sign, is closest to singular. */
static void judge_compliances(ga_equilibrium *eq, ga__stiffness *s)
{
  const ga__eigen *e = &eq->eigen;
  double largest = 0.0;
  int softest = -1, worst = -1;
  for (int k = 0; k < e->n; k++) {
    const double size = hypot(e->re[k], e->im[k]);
    if (size > largest) largest = size, softest = k;
  }
  for (int k = 0; k < e->n; k++)
    if (e->re[k] < -NEGLIGIBLE * largest) {
      s->n_unstable++;
      if (worst < 0 || e->re[k] < e->re[worst]) worst = k;
    }
  if (s->n_unstable > 0) s->stability = GA_UNSTABLE;
  if (softest < 0) return;
  s->least = 1.0 / (e->re[softest] < 0.0 ? -largest : largest);
  if (worst >= 0) {
    set_direction(eq, worst);
    s->unstable_coordinate = largest_component(eq, eq->direction);
  }
  set_direction(eq, softest);
  s->coordinate = largest_component(eq, eq->direction);
  if (fabs(s->least) <= stiffness_rounding(eq)) s->stability = GA_NEUTRAL;
}

/* The stiffnesses in the directions found, with the factors of now. */
static ga_status measure_stiffness(ga_equilibrium *eq, ga__stiffness *s)
{
  int n = 0;
  ga_status status = run_process(eq, &n);
  if (!status) status = ga__eigen_compute(&eq->eigen, n, eq->hessenberg, eq->most);
  if (status) return status;
  s->judged = n;
  judge_compliances(eq, s);
  return GA_OK;
}

/* The tangent is singular. With a little of M added to it the softest direction is the one without stiffness,
 * and those of negative stiffness stay what they are. */
static ga_status judge_neutral(ga_equilibrium *eq, ga__stiffness *s)
{
  const int weak = ga_lu_get_info(eq->lu)->weak_column;
  ga_status status = GA_RETRY_SINGULAR;
  for (double mass = 1e-6; status > 0 && mass < 1e7; mass *= 1e3)
    status = ga__balance_factor(
        eq, &eq->now, &(ga__balance_terms){.stiffness = 1.0, .mass = mass, .rate = mass, .coupled = 1});
  s->n_unstable = 0;
  if (!status) status = measure_stiffness(eq, s);
  if (status < 0) return status;
  s->stability = GA_NEUTRAL;
  s->least = 0.0;
  if (status || weak >= eq->sys->start[GA_BLOCK_X]) s->coordinate = weak; /* a state, an output */
  return GA_OK;
}

ga_status ga__find_stiffness(ga_equilibrium *eq, ga__stiffness *s)
{
  *s = (ga__stiffness){.stability = GA_STABLE,
                       .coordinate = -1,
                       .unstable_coordinate = -1,
                       .least = INFINITY,
                       .free_directions = eq->free_directions};
  ga_status status = ga__balance_factor(eq, &eq->now, &ga__tangent_terms);
  if (!status) status = measure_stiffness(eq, s);
  return status == GA_RETRY_SINGULAR || (!status && s->stability == GA_NEUTRAL) ? judge_neutral(eq, s)
                                                                                : status;
}

/* ---- Growing motions ---- */

/* Eigenvalues of dz/dt = A z with a positive real part, beyond the rounding of zeros and pure oscillations.
 */
static int count_growing(const ga__eigen *e, const double *A, int n)
{
  double size = 0.0;
  int count = 0;
  for (int i = 0; i < n * n; i++) size = fmax(size, fabs(A[i]));
  for (int k = 0; k < e->n; k++)
    count += e->re[k] > GROWTH * hypot(e->re[k], e->im[k]) + 1e-7 * sqrt(size) + 1e-12 * size;
  return count;
}

ga_status ga__find_stability(ga_equilibrium *eq, ga__stiffness *s)
{
  const ga_linear_form *form = NULL;
  ga_status status = ga__find_stiffness(eq, s);
  if (status || !eq->linearisation || s->stability == GA_NEUTRAL) return status;
  const ga_point p = ga__balance_point(eq, &eq->now);
  status = ga__linearise_one_sided(eq->linearisation, &p, &form);
  if (!status) status = ga__eigen_compute(&eq->motions, form->n, form->A, form->n);
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  if (status) return GA_OK; /* accelerations are not determined: only the stiffness is known */
  const int growing = count_growing(&eq->motions, form->A, form->n);
  if (s->unstable_coordinate < 0) s->unstable_coordinate = s->coordinate;
  if (growing > s->n_unstable) s->n_unstable = growing;
  if (growing > 0) s->stability = GA_UNSTABLE;
  return GA_OK;
}

/* ---- Kinks ---- */

/* The moves of all unknowns under forces along d join the directions of the check. */
static ga_status add_moves(ga_equilibrium *eq, const double *d, int i, ga__kink_test *k)
{
  const int *start = eq->sys->start;
  const double *b = eq->b;
  const ga_status status = apply_compliance(eq, d, eq->direction);
  if (status) return status;
  ga__kink_add(k, GA_BY_Q, b, i);
  ga__kink_add(k, GA_BY_V, b, i);
  ga__kink_add(k, GA_BY_LAMBDA, b + start[GA_BLOCK_LAMBDA], i);
  ga__kink_add(k, GA_BY_PSI, b + start[GA_BLOCK_PSI], i);
  ga__kink_add(k, GA_BY_X, b + start[GA_BLOCK_X], i);
  ga__kink_add(k, GA_BY_Y, b + start[GA_BLOCK_Y], i);
  return GA_OK;
}

/* Along all directions found; where one has no stiffness, along that one alone: it may have some on the other
 * side, but a kink elsewhere does not hold it. */
static ga_status search_kink(ga_equilibrium *eq, const ga__stiffness *s, ga__kink_test *k, int *found)
{
  const int neutral = s->stability == GA_NEUTRAL, n = neutral ? 1 : s->judged;
  const ga_point p = ga__balance_point(eq, &eq->now);
  ga_status status = GA_OK;
  ga__kink_clear(k);
  for (int i = 0; !status && i < n; i++)
    status = add_moves(eq, neutral ? eq->direction : eq->basis + (size_t)i * (size_t)eq->sys->nv, i, k);
  if (!status) status = ga__kink_warn(k, eq->ev, &p, found);
  if (status || *found || neutral || !eq->linearisation) return status;
  return ga__linearise_kink_warn(eq->linearisation, &p, found); /* velocities, and what depends on them */
}

ga_status ga__find_kink(ga_equilibrium *eq, int *found)
{
  ga__kink_test k;
  ga__stiffness s;
  *found = 0;
  if (eq->sys->nv == 0) return GA_OK;
  const ga_error said = eq->ctx->error;
  ga_status status = ga__find_stiffness(eq, &s); /* matrices, factors and directions at eq->now */
  if (!status) status = ga__kink_create(eq->ctx, eq->sys, eq->ev, 2, 0, &k);
  if (status) return status;
  status = search_kink(eq, &s, &k, found);
  ga__kink_destroy(&k);
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  eq->ctx->error = said; /* nothing can be evaluated nearby: not known */
  return GA_OK;
}
