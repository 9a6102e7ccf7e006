/* Relations among the rows of the constraints: the left null space of J = R⁻¹ [B; A], R the lengths of the
 * rows, by inverse iteration. The matrix [I Jᵀ; J −δI] is regular whatever the rank, as sparse as the
 * constraints, and solving it with (0, b) gives −(J Jᵀ + δI)⁻¹ b: what is in the null space grows by 1/δ, all
 * else by less than 1/σ². Masses play no part, and neither does how an equation is scaled. */
#include "core/core_impl.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define DELTA 1e-13 /* below RANK_TOL², so that what is nearly a relation does not slow the search */
/* A unit vector n with |Jᵀ n| below this is a relation: well above rounding, and above what data of six
 * digits make of axes that are meant to be parallel. */
#define RANK_TOL 1e-6
/* Long structures have small singular values of their own, a clamped chain of P rows about 1/P², which are no
 * relations: over more than this many rows, counted by 1/Σn⁴, the bound falls with their square. */
#define LOOP_ROWS 60.0
#define SHORTEST 1e-12 /* rows below this part of the longest count as zero */
#define AT_ROUNDING 1e-15
#define CLEARLY_NONE 1e-3 /* after two iterations a relation would be far below this */
enum { MAX_ITERATIONS = 20 };
enum { GRAM_SPARSE = 60 }; /* rows from which on sparse factors are taken */

/* ---- The matrix ---- */

static int is_constraint(const ga__gram *g, int e)
{
  const ga_system *sys = g->sys;
  return sys->row[e] >= sys->nv && sys->row[e] < sys->nv + g->m && sys->col[e] < sys->nv;
}

static ga_status build(ga__gram *g, ga_lu_kind kind, int *row, int *col, int *place)
{
  const ga_system *sys = g->sys;
  int count = 0, n = sys->nv + g->m;
  for (int e = 0; e < sys->n_entries; e++) {
    int constraint = is_constraint(g, e), mass = sys->row[e] < sys->nv && sys->col[e] < sys->nv;
    g->entry_place[e] = g->turned_place[e] = -1;
    if (!constraint && !mass) continue;
    row[count] = sys->row[e], col[count] = sys->col[e];
    g->entry_place[e] = count++;
    if (!constraint) continue;
    row[count] = sys->col[e], col[count] = sys->row[e];
    g->turned_place[e] = count++;
  }
  for (int i = 0; i < n; i++, count++) row[count] = col[count] = i, g->diag_place[i] = count;
  ga_status status = ga_sparse_create(sys->ctx, n, n, count, row, col, place, &g->K);
  if (status) return status;
  for (int e = 0; e < sys->n_entries; e++) {
    if (g->entry_place[e] >= 0) g->entry_place[e] = place[g->entry_place[e]];
    if (g->turned_place[e] >= 0) g->turned_place[e] = place[g->turned_place[e]];
  }
  for (int i = 0; i < n; i++) g->diag_place[i] = place[g->diag_place[i]];
  /* velocities first: with 1 and −δ on the diagonal any other order would lead to exchanges, and those to
   * fill */
  return kind == GA_LU_DENSE || n < GRAM_SPARSE
             ? ga_lu_create(sys->ctx, g->K, kind, &g->lu)
             : ga__lu_create_ordered_by_bodies(sys, NULL, g->K, kind, 0, &g->lu);
}

ga_status ga__gram_create(const ga_system *sys, ga_lu_kind kind, ga__gram *g)
{
  ga_context *ctx = sys->ctx;
  memset(g, 0, sizeof *g);
  g->ctx = ctx;
  g->sys = sys;
  g->m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  size_t entries = (size_t)sys->n_entries, n = (size_t)(sys->nv + g->m), most = 2 * entries + n;
  g->entry_place = ga__alloc(ctx, entries, sizeof(int));
  g->turned_place = ga__alloc(ctx, entries, sizeof(int));
  g->diag_place = ga__alloc(ctx, n, sizeof(int));
  g->x = ga__alloc(ctx, n, sizeof(double));
  int *row = ga__alloc(ctx, most, sizeof *row), *col = ga__alloc(ctx, most, sizeof *col);
  int *place = ga__alloc(ctx, most, sizeof *place);
  int complete = g->entry_place && g->turned_place && g->diag_place && g->x && row && col && place;
  ga_status status =
      complete ? build(g, kind, row, col, place) : ga__no_memory(ctx, "the search for redundant constraints");
  ga__free(ctx, row);
  ga__free(ctx, col);
  ga__free(ctx, place);
  if (status) ga__gram_destroy(g);
  return status;
}

void ga__gram_destroy(ga__gram *g)
{
  if (!g->ctx) return;
  ga_context *ctx = g->ctx;
  ga_lu_destroy(&g->lu);
  ga_sparse_destroy(ctx, &g->K);
  void *const block[] = {g->entry_place, g->turned_place, g->diag_place, g->x};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  memset(g, 0, sizeof *g);
}

/* The value of an entry of [B; A]. */
static double value_of(const ga_system *sys, const double *B, const double *A, int e)
{
  return sys->row[e] < sys->start[GA_BLOCK_PSI] || sys->size[GA_BLOCK_PSI] == 0 ? B[e] : A[e];
}

/* Lengths of the rows; those that vanish against the longest get a length that leaves them short. */
static void measure_rows(const ga__gram *g, const double *B, const double *A, double *length)
{
  double longest = 0.0;
  for (int i = 0; i < g->m; i++) length[i] = 0.0;
  for (int e = 0; e < g->sys->n_entries; e++)
    if (is_constraint(g, e)) {
      double a = value_of(g->sys, B, A, e);
      length[g->sys->row[e] - g->sys->nv] += a * a;
    }
  for (int i = 0; i < g->m; i++) {
    length[i] = sqrt(length[i]);
    longest = fmax(longest, length[i]);
  }
  for (int i = 0; i < g->m; i++)
    if (length[i] <= SHORTEST * longest) length[i] = longest > 0.0 ? longest : 1.0;
}

/* J and Jᵀ; holonomic 1: without the rows of A. */
static void fill_rows(ga__gram *g, const double *B, const double *A, const double *length, int holonomic)
{
  const ga_system *sys = g->sys;
  int end = holonomic ? sys->start[GA_BLOCK_PSI] : sys->nv + g->m;
  ga_sparse_zero(g->K);
  for (int e = 0; e < sys->n_entries; e++) {
    if (!is_constraint(g, e) || sys->row[e] >= end) continue;
    double a = value_of(sys, B, A, e) / length[sys->row[e] - sys->nv];
    g->K->value[g->entry_place[e]] += a;
    g->K->value[g->turned_place[e]] += a;
  }
}

static ga_status factor(ga__gram *g)
{
  ga__lu_forget(g->lu); /* so that the outcome depends on the point alone */
  return ga_lu_factor(g->lu);
}

/* ---- The null space ---- */

ga_status ga__null_create(const ga_system *sys, ga__null *null)
{
  size_t m = (size_t)(sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI]);
  *null = (ga__null){0, 0, NULL, ga__alloc(sys->ctx, m, sizeof(double))};
  return null->length ? GA_OK : ga__no_memory(sys->ctx, "relations among constraints");
}

void ga__null_destroy(ga_context *ctx, ga__null *null)
{
  ga__free(ctx, null->N);
  ga__free(ctx, null->length);
  *null = (ga__null){0, 0, NULL, NULL};
}

/* Room for one relation more, and for the trial that ends the search. */
static ga_status grow(ga__gram *g, ga__null *null)
{
  size_t m = (size_t)g->m;
  if (null->r < null->room) return GA_OK;
  int room = null->room ? 2 * null->room : 4;
  double *bigger = ga__alloc(g->ctx, (size_t)room * m, sizeof(double));
  if (!bigger) return ga__no_memory(g->ctx, "relations among constraints");
  if (null->r) memcpy(bigger, null->N, (size_t)null->r * m * sizeof(double));
  ga__free(g->ctx, null->N);
  null->N = bigger;
  null->room = room;
  return GA_OK;
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* x := x without what is in the relations found, of unit length; twice, for the sake of rounding. */
static void orthonormalise(const ga__null *null, double *x, int m)
{
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < null->r; k++) {
      const double *n = null->N + (size_t)k * (size_t)m;
      double c = dot(n, x, m);
      for (int i = 0; i < m; i++) x[i] -= c * n[i];
    }
    double size = sqrt(dot(x, x, m));
    for (int i = 0; size > 0.0 && i < m; i++) x[i] /= size;
  }
}

/* |Jᵀ x|, with the J in the matrix. */
static double defect(ga__gram *g, const double *x)
{
  const ga_system *sys = g->sys;
  double *y = g->x;
  for (int i = 0; i < sys->nv; i++) y[i] = 0.0;
  for (int e = 0; e < sys->n_entries; e++)
    if (is_constraint(g, e)) y[sys->col[e]] += g->K->value[g->entry_place[e]] * x[sys->row[e] - sys->nv];
  return sqrt(dot(y, y, sys->nv));
}

/* Directions without order, always the same. */
static void begin_with(double *x, int n, int m, int k)
{
  uint64_t s = 0x9E3779B97F4A7C15u * (uint64_t)(k + 1);
  for (int i = 0; i < m; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    x[i] = i < n ? (double)(s >> 11) * 0x1p-53 - 0.5 : 0.0;
  }
}

/* The vector that J shrinks most among those without a part in the relations found, into x; *size: |Jᵀ x|. */
static ga_status weakest(ga__gram *g, const ga__null *null, int n, double *x, double *size)
{
  double before = HUGE_VAL;
  int nv = g->sys->nv, m = g->m;
  begin_with(x, n, m, null->r);
  orthonormalise(null, x, m);
  for (int it = 0; it < MAX_ITERATIONS; it++) {
    for (int i = 0; i < nv; i++) g->x[i] = 0.0;
    memcpy(g->x + nv, x, (size_t)m * sizeof(double));
    ga_status status = ga_lu_solve(g->lu, g->x);
    if (status) return status;
    memcpy(x, g->x + nv, (size_t)m * sizeof(double));
    orthonormalise(null, x, m);
    *size = defect(g, x);
    if (*size <= AT_ROUNDING || (it >= 1 && *size > CLEARLY_NONE) || (it >= 2 && *size > 0.9 * before)) break;
    before = *size;
  }
  return GA_OK;
}

/* What counts as a relation, for a vector of length 1. */
static double rank_tol(const double *vector, int n)
{
  double fourth = 0.0;
  for (int i = 0; i < n; i++) fourth += vector[i] * vector[i] * vector[i] * vector[i];
  double few = LOOP_ROWS * fourth;
  return few < 1.0 ? RANK_TOL * few * few : RANK_TOL;
}

ga_status ga__null_find(ga__gram *g, const double *B, const double *A, int holonomic, ga__null *null)
{
  const ga_system *sys = g->sys;
  int n = holonomic ? sys->size[GA_BLOCK_LAMBDA] : g->m;
  null->r = 0;
  if (n == 0) return GA_OK;
  measure_rows(g, B, A, null->length);
  fill_rows(g, B, A, null->length, holonomic);
  for (int i = 0; i < sys->nv; i++) g->K->value[g->diag_place[i]] += 1.0;
  for (int i = 0; i < g->m; i++) g->K->value[g->diag_place[sys->nv + i]] -= i < n ? DELTA : 1.0;
  ga_status status = factor(g);
  while (!status && null->r < n) {
    double size;
    if ((status = grow(g, null))) return status;
    status = weakest(g, null, n, null->N + (size_t)null->r * (size_t)g->m, &size);
    if (status || !(size <= rank_tol(null->N + (size_t)null->r * (size_t)g->m, n))) break;
    null->r++;
  }
  return status;
}

int ga__null_splits(ga__gram *g, const ga__null *null)
{
  int nl = g->sys->size[GA_BLOCK_LAMBDA], m = g->m;
  double *x = g->x + g->sys->nv;
  for (int k = 0; k < null->r; k++) {
    for (int i = 0; i < m; i++) x[i] = i < nl ? null->N[(size_t)k * (size_t)m + (size_t)i] : 0.0;
    if (!(defect(g, x) <= 10.0 * RANK_TOL)) return 0;
  }
  return 1;
}

/* One component of z = (λ, ψ), or 0 where it is not given. */
static double *component(const ga_system *sys, double *lambda, double *psi, int i)
{
  int nl = sys->size[GA_BLOCK_LAMBDA];
  if (i < nl) return lambda ? lambda + i : NULL;
  return psi ? psi + i - nl : NULL;
}

void ga__null_reduce(const ga__null *null, const ga_system *sys, double *lambda, double *psi)
{
  int m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  for (int k = 0; k < null->r; k++) {
    const double *n = null->N + (size_t)k * (size_t)m;
    double c = 0.0;
    for (int i = 0; i < m; i++) {
      const double *z = component(sys, lambda, psi, i);
      if (z) c += n[i] * null->length[i] * *z;
    }
    for (int i = 0; i < m; i++) {
      double *z = component(sys, lambda, psi, i);
      if (z) *z -= c * n[i] / null->length[i];
    }
  }
}

double ga__null_part(const ga__null *null, const ga_system *sys, const double *phi, const double *k)
{
  int nl = sys->size[GA_BLOCK_LAMBDA], m = nl + sys->size[GA_BLOCK_PSI];
  double largest = 0.0;
  for (int r = 0; r < null->r; r++) {
    const double *n = null->N + (size_t)r * (size_t)m;
    double c = 0.0;
    for (int i = 0; phi && i < nl; i++) c += n[i] * phi[i] / null->length[i];
    for (int i = nl; k && i < m; i++) c += n[i] * k[i - nl] / null->length[i];
    largest = fmax(largest, fabs(c));
  }
  return largest;
}

/* ---- Damped least squares ---- */

ga_status ga__gram_damped(ga__gram *g, const double *M, const double *B, const double *A, double *length,
                          double eps)
{
  const ga_system *sys = g->sys;
  double most = 0.0;
  measure_rows(g, B, A, length);
  fill_rows(g, B, A, length, 0);
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->row[e] < sys->nv && sys->col[e] < sys->nv) g->K->value[g->entry_place[e]] += M[e];
  for (int i = 0; i < sys->nv; i++) most = fmax(most, fabs(g->K->value[g->diag_place[i]]));
  for (int i = 0; i < g->m; i++) g->K->value[g->diag_place[sys->nv + i]] -= most > 0.0 ? eps / most : eps;
  return factor(g);
}
