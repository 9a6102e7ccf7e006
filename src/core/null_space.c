/* Relations among the rows of the constraints: vectors n with Jᵀ n = 0, J = R⁻¹ [B; A], R the lengths of
 * the rows, one for each dependent row (lin/dependent_rows.c). They depend neither on masses nor on the
 * scaling of equations. A relation has as many numbers as rows it involves, so that the cost is
 * proportional to the number of loops. */
#include "core/null_space.h"
#include "lin/lin_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* A unit vector n with |Jᵀ n| below this is a relation: well above rounding, and above the errors of axes
 * given with six digits that should be parallel. */
#define RANK_TOL 1e-6
/* Long structures have small singular values that are no relations, about 1/P² for a clamped chain of P
 * rows: for relations over more than this many rows, counted by 1/Σn⁴, the bound decreases with their
 * square. */
#define LOOP_ROWS 60.0
#define SHORTEST 1e-12 /* rows below this part of the longest count as zero */
/* Largest entries that are no pivots in the first search, and in the last one, if a row without a pivot
 * turns out not to be a relation. */
#define MOST_SKIPPED 1e-5
#define LEAST_SKIPPED 1e-13
#define FEWER_SKIPPED 1e-2
/* Least pivots relative to the largest entry of their column: the first reports later rows as redundant
 * rather than earlier ones. If |Jᵀ n| indicates growth, which could hide relations, the second is tried. */
#define FIRST_SHARE 0.3
#define SECOND_SHARE 1.0
#define GROWN 1e-10
/* Number of entries of relations from which the range of J may be used instead, |Jᵀ n| up to which they are
 * exact, and the part that must be saved. */
enum { MANY_NUMBERS = 20000 };
#define EXACT 1e-11
#define MANY_PAIRS 4.0
#define ORTHOGONAL 1e-15 /* relative component in the null space that is rounding */
enum { FEW_ITERATIONS = 40, PASSES = 2 };

/* ---- The rows ---- */

double ga__constraint_value(const ga_system *sys, const double *B, const double *A, int e)
{
  return sys->row[e] < sys->start[GA_BLOCK_PSI] || sys->size[GA_BLOCK_PSI] == 0 ? B[e] : A[e];
}

void ga__measure_rows(const ga_system *sys, const double *B, const double *A, double *length)
{
  const int m = sys->start[GA_BLOCK_X] - sys->nv;
  double longest = 0.0;
  for (int i = 0; i < m; i++) length[i] = 0.0;
  for (int e = 0; e < sys->n_entries; e++)
    if (ga__is_constraint(sys, e)) {
      double a = ga__constraint_value(sys, B, A, e);
      length[sys->row[e] - sys->nv] += a * a;
    }
  for (int i = 0; i < m; i++) {
    length[i] = sqrt(length[i]);
    longest = fmax(longest, length[i]);
  }
  for (int i = 0; i < m; i++)
    if (length[i] <= SHORTEST * longest) length[i] = longest > 0.0 ? longest : 1.0;
}

/* Places of J by rows. */
static void list_rows(ga__rows *rows)
{
  const ga_sparse *J = rows->J;
  int *start = rows->row_start;
  for (int p = 0; p < J->nnz; p++) start[J->row[p] + 2]++;
  for (int i = 0; i < J->rows; i++) start[i + 2] += start[i + 1];
  for (int c = 0; c < J->cols; c++)
    for (int p = J->col_start[c]; p < J->col_start[c + 1]; p++) {
      const int at = start[J->row[p] + 1]++;
      rows->by_row[at] = p;
      rows->col[at] = c;
    }
}

static ga_status create_matrix(ga__rows *rows, int *row, int *col)
{
  const ga_system *sys = rows->sys;
  for (int e = 0, at = 0; e < sys->n_entries; e++)
    if (ga__is_constraint(sys, e)) {
      row[at] = sys->row[e] - sys->nv, col[at] = sys->col[e];
      rows->entry[at++] = e;
    }
  ga_status status = ga_sparse_create(sys->ctx, rows->m, sys->nv, rows->n, row, col, rows->place, &rows->J);
  if (!status) list_rows(rows);
  return status ? status : ga__row_search_create(sys->ctx, rows->J, &rows->search);
}

ga_status ga__rows_create(const ga_system *sys, ga__rows *rows)
{
  ga_context *ctx = sys->ctx;
  size_t m = (size_t)(sys->start[GA_BLOCK_X] - sys->nv);
  *rows = (ga__rows){.ctx = ctx, .sys = sys, .m = (int)m};
  for (int e = 0; e < sys->n_entries; e++) rows->n += ga__is_constraint(sys, e);
  const size_t entries = (size_t)rows->n;
  rows->entry = ga__alloc(ctx, entries, sizeof(int));
  rows->place = ga__alloc(ctx, entries, sizeof(int));
  rows->row_start = ga__alloc(ctx, m + 2, sizeof(int));
  rows->by_row = ga__alloc(ctx, entries, sizeof(int));
  rows->col = ga__alloc(ctx, entries, sizeof(int));
  rows->y = ga__alloc(ctx, (size_t)sys->nv, sizeof(double));
  int *row = ga__alloc(ctx, entries, sizeof *row), *col = ga__alloc(ctx, entries, sizeof *col);
  int complete =
      rows->entry && rows->place && rows->row_start && rows->by_row && rows->col && rows->y && row && col;
  ga_status status =
      complete ? create_matrix(rows, row, col) : ga__no_memory(ctx, "the search for redundant constraints");
  ga__free(ctx, row);
  ga__free(ctx, col);
  if (status) ga__rows_destroy(rows);
  return status;
}

void ga__rows_destroy(ga__rows *rows)
{
  if (!rows->ctx) return;
  ga_context *ctx = rows->ctx;
  ga__row_search_destroy(&rows->search);
  ga_sparse_destroy(ctx, &rows->J);
  void *const block[] = {rows->entry, rows->place, rows->row_start, rows->by_row, rows->col, rows->y};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  memset(rows, 0, sizeof *rows);
}

/* |Jᵀ n|², n over the rows before `end`; y is zero again afterwards. */
static double rest_of(const ga__rows *rows, const int *index, const double *value, int n, int end)
{
  double sum = 0.0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < n; k++)
      for (int i = rows->row_start[index[k]]; index[k] < end && i < rows->row_start[index[k] + 1]; i++) {
        double *y = &rows->y[rows->col[i]];
        if (pass == 0) {
          *y += value[k] * rows->J->value[rows->by_row[i]];
        } else {
          sum += *y * *y;
          *y = 0.0;
        }
      }
  return sum;
}

/* ---- Relations ---- */

ga_status ga__null_create(const ga_system *sys, ga__null *null)
{
  size_t m = (size_t)(sys->start[GA_BLOCK_X] - sys->nv);
  *null = (ga__null){.ctx = sys->ctx,
                     .length = ga__alloc(sys->ctx, m, sizeof(double)),
                     .z = ga__alloc(sys->ctx, 2 * m, sizeof(double))};
  return null->length && null->z ? GA_OK : ga__no_memory(sys->ctx, "relations among constraints");
}

static void drop_squares(ga__null *null);
static void factor_squares(ga__null *null, int m);
static int is_slow(ga__null *null, int m);

void ga__null_destroy(ga_context *ctx, ga__null *null)
{
  if (null->ctx) drop_squares(null);
  void *const block[] = {null->row, null->start, null->index, null->value, null->work, null->length, null->z};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  *null = (ga__null){0};
}

/* Larger array with the first `used` numbers of the old one, which is freed. */
static void *enlarge(ga_context *ctx, void *old, size_t used, size_t room, size_t bytes)
{
  char *bigger = ga__alloc(ctx, room, bytes);
  if (bigger && used) memcpy(bigger, old, used * bytes);
  if (bigger) ga__free(ctx, old);
  return bigger;
}

#define ENLARGE(array, used, room)                                                                           \
  do {                                                                                                       \
    void *bigger = enlarge(ctx, array, used, room, sizeof *(array));                                         \
    if (!bigger) return ga__no_memory(ctx, "relations among constraints");                                   \
    (array) = bigger;                                                                                        \
  } while (0)

/* Room for so many relations, and numbers of all of them. */
static ga_status make_room(ga_context *ctx, ga__null *null, size_t relations, size_t numbers)
{
  const size_t r = (size_t)null->r;
  if (numbers > INT_MAX / 2) return ga__no_memory(ctx, "relations among constraints");
  if (relations > null->room || !null->start) {
    const size_t room = 2 * relations + 4;
    null->room = 0;
    ENLARGE(null->row, r, room);
    ENLARGE(null->start, r ? r + 1 : 0, room + 1);
    ENLARGE(null->work, 0, 3 * room);
    null->room = room;
  }
  if (numbers > null->numbers) {
    const size_t used = r ? (size_t)null->start[r] : 0;
    ENLARGE(null->index, used, 2 * numbers);
    ENLARGE(null->value, used, 2 * numbers);
    null->numbers = 2 * numbers;
  }
  return GA_OK;
}

ga_status ga__null_copy(ga_context *ctx, ga__null *to, const ga__null *from, int m)
{
  const size_t r = (size_t)from->r, used = r ? (size_t)from->start[r] : 0;
  to->r = 0;
  drop_squares(to);
  if (r == 0) return GA_OK;
  ga_status status = make_room(ctx, to, r, used);
  if (status) return status;
  memcpy(to->row, from->row, r * sizeof *to->row);
  memcpy(to->start, from->start, (r + 1) * sizeof *to->start);
  memcpy(to->index, from->index, used * sizeof *to->index);
  memcpy(to->value, from->value, used * sizeof *to->value);
  memcpy(to->length, from->length, (size_t)m * sizeof *to->length);
  to->r = from->r;
  to->range = ga__range_share(from->range);
  if (from->lu) factor_squares(to, m);
  return GA_OK;
}

/* Whether n, of any length, is a relation; rest: |Jᵀ n|². */
static int is_relation(const double *n, int count, double rest)
{
  double square = 0.0, fourth = 0.0;
  for (int i = 0; i < count; i++) {
    const double s = n[i] * n[i];
    square += s;
    fourth += s * s;
  }
  const double few = LOOP_ROWS * fourth / (square * square);
  return sqrt(rest / square) <= (few < 1.0 ? RANK_TOL * few * few : RANK_TOL);
}

/* Lists the relations of rows without a pivot; *all 0: one of them is no relation. *rest: largest |Jᵀ n|². */
static ga_status list_relations(ga__rows *rows, int end, ga__null *null, int *all, double *rest)
{
  int used = 0;
  null->r = 0;
  *rest = 0.0;
  for (int i = end - 1; i >= 0; i--) {
    if (!ga__row_search_found(rows->search, i)) continue;
    ga_status status = make_room(rows->ctx, null, (size_t)null->r + 1, (size_t)used + (size_t)end);
    if (status) return status;
    int *index = null->index + used;
    double *value = null->value + used;
    const int n = ga__row_search_relation(rows->search, i, index, value);
    const double left = rest_of(rows, index, value, n, rows->m);
    if (!is_relation(value, n, left)) {
      *all = 0;
      continue;
    }
    *rest = fmax(*rest, left);
    null->start[null->r] = used;
    null->row[null->r++] = i;
    null->start[null->r] = used += n;
  }
  return GA_OK;
}

/* Generic numbers to choose the faster method: the choice must depend on the relations alone. */
static void fill_test_vector(double *z, int m)
{
  for (int i = 0; i < m; i++) z[i] = sin(1.0 + 2.4 * i);
}

/* Uses the range of J if NᵀN, by the pairs of relations that share a row, is more expensive than its
 * matrix, and if relations are exact. */
static ga_status choose_range(ga__rows *rows, int end, double rest, ga__null *null)
{
  if (null->r == 0 || null->start[null->r] < MANY_NUMBERS || rest > EXACT * EXACT) return GA_OK;
  const double r = null->r, numbers = null->start[null->r], pairs = numbers * numbers / end;
  if (fmin(pairs, r * numbers) <= MANY_PAIRS * ga__range_cost(rows, end)) return GA_OK;
  ga_status status = ga__range_create(rows, end, &null->range);
  if (status) return status;
  fill_test_vector(null->z, rows->m);
  if (!ga__range_project(null->range, null->z)) ga__range_release(&null->range);
  return GA_OK;
}

/* *rest: the largest |Jᵀ n|². */
static ga_status search_relations(ga__rows *rows, int end, double share, ga__null *null, double *rest)
{
  int all = 0;
  *rest = 0.0;
  for (double skipped = MOST_SKIPPED; !all && skipped >= LEAST_SKIPPED; skipped *= FEWER_SKIPPED) {
    all = 1;
    ga_status status = ga__row_search_run(rows->search, 0, end, skipped, share);
    if (!status) status = list_relations(rows, end, null, &all, rest);
    if (status) return status;
  }
  return GA_OK;
}

ga_status ga__null_find(ga__rows *rows, const double *B, const double *A, int holonomic, ga__null *null)
{
  const ga_system *sys = rows->sys;
  const int end = holonomic ? sys->size[GA_BLOCK_LAMBDA] : rows->m;
  null->r = 0;
  drop_squares(null);
  if (end == 0) return GA_OK;
  ga__measure_rows(sys, B, A, null->length);
  ga_sparse_zero(rows->J);
  for (int i = 0; i < rows->n; i++) {
    const int e = rows->entry[i];
    rows->J->value[rows->place[i]] +=
        ga__constraint_value(sys, B, A, e) / null->length[sys->row[e] - sys->nv];
  }
  double rest, first;
  ga_status status = search_relations(rows, end, FIRST_SHARE, null, &rest);
  if (!status && rest > GROWN * GROWN) {
    const int found = null->r;
    first = rest;
    status = search_relations(rows, end, SECOND_SHARE, null, &rest);
    const int better = null->r > found || (null->r == found && rest < 1e-2 * first);
    if (!status && !better) status = search_relations(rows, end, FIRST_SHARE, null, &rest);
  }
  if (status) return status;
  status = choose_range(rows, end, rest, null);
  if (!status && !null->range && is_slow(null, rows->m)) factor_squares(null, rows->m);
  return status;
}

/* With relations of rows without pivots, a relation among all rows splits if its part in the rows of B is a
 * relation. */
int ga__null_splits(ga__rows *rows, const ga__null *null)
{
  const int nl = rows->sys->size[GA_BLOCK_LAMBDA];
  for (int k = 0; k < null->r; k++) {
    const int *index = null->index + null->start[k], n = null->start[k + 1] - null->start[k];
    const double *value = null->value + null->start[k];
    double square = 0.0;
    for (int i = 0; i < n; i++) square += value[i] * value[i];
    if (!(sqrt(rest_of(rows, index, value, n, nl) / square) <= 10.0 * RANK_TOL)) return 0;
  }
  return 1;
}

/* ---- Multipliers of least length ---- */

/* One component of Nᵀ z. */
static double component_along(const ga__null *null, int k, const double *z)
{
  double sum = 0.0;
  for (int i = null->start[k]; i < null->start[k + 1]; i++) sum += null->value[i] * z[null->index[i]];
  return sum;
}

/* |n|² of one relation. */
static double square_of(const ga__null *null, int k)
{
  double sum = 0.0;
  for (int i = null->start[k]; i < null->start[k + 1]; i++) sum += null->value[i] * null->value[i];
  return sum;
}

/* s = Nᵀ z; the largest component along a relation. */
static double along_relations(const ga__null *null, const double *z, const double *square, double *s)
{
  double largest = 0.0;
  for (int k = 0; k < null->r; k++) {
    s[k] = component_along(null, k, z);
    largest = fmax(largest, fabs(s[k]) / sqrt(square[k]));
  }
  return largest;
}

/* y = N p; |y|² */
static double combine(const ga__null *null, const double *p, double *y, int m)
{
  double sum = 0.0;
  for (int i = 0; i < m; i++) y[i] = 0.0;
  for (int k = 0; k < null->r; k++)
    for (int i = null->start[k]; i < null->start[k + 1]; i++) y[null->index[i]] += p[k] * null->value[i];
  for (int i = 0; i < m; i++) sum += y[i] * y[i];
  return sum;
}

/* Relations of each row: start[m + 1], item. */
static void relations_by_row(const ga__null *null, int m, int *start, int *item, int *place)
{
  const int numbers = null->start[null->r];
  for (int i = 0; i < numbers; i++) start[null->index[i] + 2]++;
  for (int i = 0; i < m; i++) start[i + 2] += start[i + 1];
  for (int k = 0; k < null->r; k++)
    for (int i = null->start[k]; i < null->start[k + 1]; i++) {
      const int at = start[null->index[i] + 1]++;
      item[at] = k;
      place[at] = i;
    }
}

/* Lists pairs of relations that share a row in row and col, unless NULL; returns their number. */
static size_t list_pairs_sharing_rows(const int *start, const int *item, int m, int *row, int *col)
{
  size_t n = 0;
  for (int i = 0; i < m; i++)
    for (int a = start[i]; a < start[i + 1]; a++)
      for (int b = start[i]; b < start[i + 1]; b++, n++)
        if (row) row[n] = item[a], col[n] = item[b];
  return n;
}

/* NᵀN with the pattern of relations that share a row, or full if that has fewer entries; and its factors. */
static ga_status factor_pairs(ga__null *null, int m, const int *start, const int *item, const int *place)
{
  const size_t r = (size_t)null->r, met = list_pairs_sharing_rows(start, item, m, NULL, NULL);
  const int full = met >= r * r;
  const size_t n = full ? r * r : met;
  if (n > INT_MAX / 4) return GA_ERR_MEMORY;
  int *row = ga__alloc(null->ctx, n, sizeof *row), *col = ga__alloc(null->ctx, n, sizeof *col);
  int *at = ga__alloc(null->ctx, n, sizeof *at);
  ga_status status = row && col && at ? GA_OK : GA_ERR_MEMORY;
  for (size_t i = 0; !status && full && i < n; i++) row[i] = (int)(i % r), col[i] = (int)(i / r);
  if (!status && !full) list_pairs_sharing_rows(start, item, m, row, col);
  if (!status) status = ga_sparse_create(null->ctx, null->r, null->r, (int)n, row, col, at, &null->S);
  size_t p = 0;
  for (int i = 0; !status && i < m; i++)
    for (int a = start[i]; a < start[i + 1]; a++)
      for (int b = start[i]; b < start[i + 1]; b++, p++)
        null->S->value[at[full ? (size_t)item[b] * r + (size_t)item[a] : p]] +=
            null->value[place[a]] * null->value[place[b]];
  if (!status) status = ga_lu_create(null->ctx, null->S, GA_LU_AUTO, &null->lu);
  if (!status) status = ga_lu_factor(null->lu);
  ga__free(null->ctx, row);
  ga__free(null->ctx, col);
  ga__free(null->ctx, at);
  return status;
}

static void drop_squares(ga__null *null)
{
  ga_lu_destroy(&null->lu);
  ga_sparse_destroy(null->ctx, &null->S);
  ga__range_release(&null->range);
}

/* Factors of NᵀN; without memory for them conjugate gradients are used. */
static void factor_squares(ga__null *null, int m)
{
  const size_t numbers = (size_t)null->start[null->r];
  const ga_error said = null->ctx->error;
  int *start = ga__alloc(null->ctx, (size_t)m + 2, sizeof *start),
      *item = ga__alloc(null->ctx, numbers, sizeof *item);
  int *place = ga__alloc(null->ctx, numbers, sizeof *place);
  ga_status status = start && item && place ? GA_OK : GA_ERR_MEMORY;
  if (!status) {
    relations_by_row(null, m, start, item, place);
    status = factor_pairs(null, m, start, item, place);
  }
  if (status) drop_squares(null), null->ctx->error = said;
  ga__free(null->ctx, start);
  ga__free(null->ctx, item);
  ga__free(null->ctx, place);
}

/* z −= N S⁻¹ Nᵀ z */
static void remove_directly(const ga__null *null, double *z, int m)
{
  double *s = null->work, *y = null->z + m;
  for (int pass = 0; pass < PASSES; pass++) {
    for (int k = 0; k < null->r; k++) s[k] = component_along(null, k, z);
    if (ga_lu_solve(null->lu, s)) return;
    combine(null, s, y, m);
    for (int i = 0; i < m; i++) z[i] -= y[i];
  }
}

/* By conjugate gradients for the least squares |z − N c|: NᵀN has no eigenvalue below 1, since every
 * relation has a row of its own, and few large ones if loops are short. 0: not converged after `most`
 * iterations. */
static int remove_gradually(ga__null *null, double *z, int m, int most)
{
  double *s = null->work, *p = s + null->room, *square = p + null->room, *y = null->z + m, gamma = 0.0;
  for (int k = 0; k < null->r; k++) {
    square[k] = square_of(null, k);
    p[k] = 0.0;
  }
  const double enough = ORTHOGONAL * ga__max_abs(z, m, NULL);
  for (int it = 0; it < most; it++) {
    const double before = gamma;
    if (along_relations(null, z, square, s) <= enough) return 1;
    gamma = 0.0;
    for (int k = 0; k < null->r; k++) gamma += s[k] * s[k] / square[k];
    for (int k = 0; k < null->r; k++) p[k] = s[k] / square[k] + (it > 0 ? gamma / before * p[k] : 0.0);
    const double step = gamma / combine(null, p, y, m);
    for (int i = 0; i < m; i++) z[i] -= step * y[i];
  }
  return 0;
}

/* Whether gradients take long with this N. */
static int is_slow(ga__null *null, int m)
{
  fill_test_vector(null->z, m);
  return null->r > 0 && !remove_gradually(null, null->z, m, FEW_ITERATIONS);
}

/* Squares of what is smaller or larger are 0 or infinite. */
#define SQUARED_FROM 1e-140
#define SQUARED_TO 1e140

void ga__null_remove(ga__null *null, double *z, int m)
{
  if (null->r == 0 || (null->range && ga__range_project(null->range, z))) return;
  if (null->lu) {
    remove_directly(null, z, m);
    return;
  }
  const double size = ga__max_abs(z, m, NULL);
  const int scaled = size > 0.0 && isfinite(size) && !(size > SQUARED_FROM && size < SQUARED_TO);
  for (int i = 0; scaled && i < m; i++) z[i] /= size;
  remove_gradually(null, z, m, 2 * null->r + FEW_ITERATIONS);
  for (int i = 0; scaled && i < m; i++) z[i] *= size;
}

void ga__null_reduce(ga__null *null, const ga_system *sys, double *lambda, double *psi)
{
  const int nl = sys->size[GA_BLOCK_LAMBDA], m = sys->start[GA_BLOCK_X] - sys->nv;
  double *z = null->z;
  if (null->r == 0) return;
  for (int i = 0; i < m; i++) {
    const double *from = i < nl ? lambda + i : psi ? psi + i - nl : NULL;
    z[i] = from ? null->length[i] * *from : 0.0;
  }
  ga__null_remove(null, z, m);
  for (int i = 0; i < nl; i++) lambda[i] = z[i] / null->length[i];
  for (int i = nl; psi && i < m; i++) psi[i - nl] = z[i] / null->length[i];
}

double ga__null_part(const ga__null *null, const ga_system *sys, const double *phi, const double *k)
{
  const int nl = sys->size[GA_BLOCK_LAMBDA], m = sys->start[GA_BLOCK_X] - sys->nv;
  double largest = 0.0;
  for (int i = 0; i < m; i++) {
    const double *from = i < nl ? (phi ? phi + i : NULL) : k ? k + i - nl : NULL;
    null->z[i] = from ? *from / null->length[i] : 0.0;
  }
  for (int r = 0; r < null->r; r++)
    largest = fmax(largest, fabs(component_along(null, r, null->z)) / sqrt(square_of(null, r)));
  return largest;
}
