/* Parts of vectors in the range of J: what is left of z without its part in the space of the relations N,
 * Jᵀ N = 0, found without N. Where relations are many and long,
 *
 *   x := x + S⁻¹ Jᵀ (z − J x),   S = Jᵀ J + δ I,
 *
 * until |z − J x| is least is far less work than anything with NᵀN: S is as sparse as bodies are joined. What
 * is left along a singular value σ of J shrinks by δ/(σ² + δ) each time. J may be short of rank in its
 * columns too, motions that no constraint holds; x is not determined then, and full of rounding there, but J
 * x is. */
#include "core/null_space.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

#define SHIFT 1e-9 /* δ, relative to the largest diagonal: pivots stand out from rounding */
/* Relative length of a correction that is rounding, and when they no longer halve. */
#define ROUNDING 1e-15
#define STAGNATED 1e-13
#define LONG_ELIMINATION 5e7 /* [-] fronts are used from this number of operations on */
enum { MOST_ITERATIONS = 40 };

struct ga__range {
  ga_context *ctx;
  int users;
  int rows, cols;
  int *start, *col; /* J by rows */
  double *value;
  ga_sparse *S;
  ga_lu *lu;
  double *s;     /* [cols] */
  double *q, *r; /* [rows] */
};

void ga__range_release(ga__range **range)
{
  ga__range *a = *range;
  *range = NULL;
  if (!a || --a->users > 0) return;
  ga_context *ctx = a->ctx;
  ga_lu_destroy(&a->lu);
  ga_sparse_destroy(ctx, &a->S);
  void *const block[] = {a->start, a->col, a->value, a->s, a->q, a->r};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga__free(ctx, a);
}

ga__range *ga__range_share(ga__range *range)
{
  if (range) range->users++;
  return range;
}

double ga__range_cost(const ga__rows *rows, int end)
{
  double sum = 0.0;
  for (int i = 0; i < end; i++) {
    const double n = rows->row_start[i + 1] - rows->row_start[i];
    sum += n * n;
  }
  return sum;
}

/* Places of S in the order of the pairs: all of a row of J with all of it, then the diagonal. */
static ga_status make_squares(ga__range *a, size_t pairs)
{
  ga_context *ctx = a->ctx;
  const size_t n = pairs + (size_t)a->cols;
  int *row = ga__alloc(ctx, n, sizeof *row), *col = ga__alloc(ctx, n, sizeof *col),
      *place = ga__alloc(ctx, n, sizeof *place);
  ga_status status = row && col && place ? GA_OK : ga__no_memory(ctx, "relations among constraints");
  size_t at = 0;
  for (int i = 0; !status && i < a->rows; i++)
    for (int j = a->start[i]; j < a->start[i + 1]; j++)
      for (int k = a->start[i]; k < a->start[i + 1]; k++, at++) row[at] = a->col[j], col[at] = a->col[k];
  for (int c = 0; !status && c < a->cols; c++, at++) row[at] = col[at] = c;
  if (!status) status = ga_sparse_create(ctx, a->cols, a->cols, (int)n, row, col, place, &a->S);
  at = 0;
  double most = 0.0;
  for (int i = 0; !status && i < a->rows; i++)
    for (int j = a->start[i]; j < a->start[i + 1]; j++)
      for (int k = a->start[i]; k < a->start[i + 1]; k++, at++)
        a->S->value[place[at]] += a->value[j] * a->value[k];
  for (int c = 0; !status && c < a->cols; c++) most = fmax(most, a->S->value[place[at + (size_t)c]]);
  for (int c = 0; !status && c < a->cols; c++)
    a->S->value[place[at + (size_t)c]] += most > 0.0 ? SHIFT * most : 1.0;
  ga__free(ctx, row);
  ga__free(ctx, col);
  ga__free(ctx, place);
  return status;
}

static ga_status factor_squares(ga__range *a, const int *cluster)
{
  ga_context *ctx = a->ctx;
  const size_t n = (size_t)a->cols;
  int *partner = ga__alloc(ctx, n, sizeof *partner), *body = ga__alloc(ctx, n, sizeof *body);
  ga__order order = {ga__alloc(ctx, n, sizeof(int)), ga__alloc(ctx, n, sizeof(int)),
                     ga__alloc(ctx, n, sizeof(int)), LONG_ELIMINATION};
  ga_status status = partner && body && order.P && order.Q && order.block
                         ? GA_OK
                         : ga__no_memory(ctx, "relations among constraints");
  for (int c = 0; !status && c < a->cols; c++) partner[c] = c, body[c] = cluster ? cluster[c] : c;
  if (!status) status = ga__order_bodies(ctx, a->S, partner, body, &order);
  if (!status) status = ga__lu_create_ordered(ctx, a->S, GA_LU_AUTO, &order, &a->lu);
  if (!status) status = ga_lu_factor(a->lu);
  int *const block[] = {partner, body, order.P, order.Q, order.block};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  return status;
}

static int copy_rows(ga__range *a, const ga__rows *rows)
{
  const size_t numbers = (size_t)rows->row_start[a->rows], m = (size_t)a->rows, n = (size_t)a->cols;
  a->start = ga__alloc(a->ctx, m + 1, sizeof *a->start);
  a->col = ga__alloc(a->ctx, numbers, sizeof *a->col);
  double **const array[] = {&a->value, &a->s, &a->q, &a->r};
  const size_t length[] = {numbers, n, m, m};
  int ok = a->start && a->col;
  for (int i = 0; i < 4; i++) ok = (*array[i] = ga__alloc(a->ctx, length[i], sizeof(double))) && ok;
  if (!ok) return 0;
  memcpy(a->start, rows->row_start, (m + 1) * sizeof *a->start);
  memcpy(a->col, rows->col, numbers * sizeof *a->col);
  for (size_t p = 0; p < numbers; p++) a->value[p] = rows->J->value[rows->by_row[p]];
  return 1;
}

ga_status ga__range_create(const ga__rows *rows, int end, ga__range **out)
{
  ga_context *ctx = rows->ctx;
  ga__range *a = *out = ga__alloc(ctx, 1, sizeof *a);
  ga_status status = a ? GA_OK : ga__no_memory(ctx, "relations among constraints");
  if (!status) {
    *a = (ga__range){.ctx = ctx, .users = 1, .rows = end, .cols = rows->sys->nv};
    if (!copy_rows(a, rows)) status = ga__no_memory(ctx, "relations among constraints");
    if (!status) status = make_squares(a, (size_t)ga__range_cost(rows, end));
    if (!status) status = factor_squares(a, rows->sys->cluster);
  }
  if (status) ga__range_release(out);
  return status;
}

static double length(const double *a, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

/* q = J p */
static void times(const ga__range *a, const double *p, double *q)
{
  for (int i = 0; i < a->rows; i++) {
    q[i] = 0.0;
    for (int k = a->start[i]; k < a->start[i + 1]; k++) q[i] += a->value[k] * p[a->col[k]];
  }
}

/* s = S⁻¹ Jᵀ r */
static ga_status correction(ga__range *a)
{
  for (int c = 0; c < a->cols; c++) a->s[c] = 0.0;
  for (int i = 0; i < a->rows; i++)
    for (int k = a->start[i]; k < a->start[i + 1]; k++) a->s[a->col[k]] += a->value[k] * a->r[i];
  return ga_lu_solve(a->lu, a->s);
}

int ga__range_project(ga__range *a, double *z)
{
  const size_t bytes = (size_t)a->rows * sizeof *z;
  const double whole = length(z, a->rows);
  double before = HUGE_VAL;
  memcpy(a->r, z, bytes);
  memset(z, 0, bytes);
  for (int it = 0; it < MOST_ITERATIONS; it++) {
    if (correction(a)) break;
    times(a, a->s, a->q);
    const double size = length(a->q, a->rows);
    if (!isfinite(size)) break;
    for (int i = 0; i < a->rows; i++) z[i] += a->q[i], a->r[i] -= a->q[i];
    if (size <= ROUNDING * whole || (size <= STAGNATED * whole && size > 0.5 * before)) return 1;
    before = size;
  }
  for (int i = 0; i < a->rows; i++) z[i] += a->r[i];
  return 0;
}
