/* Sparse matrices in compressed columns with a fixed pattern. */
#include "lin/lin_impl.h"
#include <string.h>

/* Stable counting sort: order[] lists 0..n-1, taken in the sequence `from` (NULL: 0, 1, ...), by ascending
 * key. start[n_keys + 1] receives the first index in order of each key. */
static void sort_by_key(int *order, int *start, const int *from, const int *key, int n, int n_keys)
{
  memset(start, 0, ((size_t)n_keys + 1) * sizeof *start);
  for (int e = 0; e < n; e++) start[key[e] + 1]++;
  for (int k = 0; k < n_keys; k++) start[k + 1] += start[k];
  for (int i = 0; i < n; i++) {
    const int e = from ? from[i] : i;
    order[start[key[e]]++] = e;
  }
  for (int k = n_keys; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

/* Numbers the pairs in the sequence `order` (by column, then row); duplicates get one number. */
static int merge(int *place, int *merged_row, int *col_start, const int *order, const int *entry_start,
                 const int *row, int cols)
{
  int nnz = 0;
  for (int c = 0; c < cols; c++) {
    col_start[c] = nnz;
    for (int i = entry_start[c]; i < entry_start[c + 1]; i++) {
      const int e = order[i];
      if (nnz == col_start[c] || merged_row[nnz - 1] != row[e]) merged_row[nnz++] = row[e];
      if (place) place[e] = nnz - 1;
    }
  }
  col_start[cols] = nnz;
  return nnz;
}

static ga_status check_pairs(ga_context *ctx, int rows, int cols, int n_entries, const int *row,
                             const int *col)
{
  const char *const kind = "sparse matrix";
  if (rows < 0) return ga__refuse_number(ctx, kind, "rows", rows, ">= 0");
  if (cols < 0) return ga__refuse_number(ctx, kind, "cols", cols, ">= 0");
  if (n_entries < 0) return ga__refuse_number(ctx, kind, "n_entries", n_entries, ">= 0");
  if (n_entries > 0 && !row) return ga__refuse_missing(ctx, kind, "n_entries", n_entries, "row");
  if (n_entries > 0 && !col) return ga__refuse_missing(ctx, kind, "n_entries", n_entries, "col");
  for (int e = 0; e < n_entries; e++) {
    if (row[e] < 0 || row[e] >= rows || col[e] < 0 || col[e] >= cols) {
      return ga__refuse(
          ctx, GA_ERR_PATTERN, GA_REASON_ENTRY_OUTSIDE,
          &(ga__facts){.kind = kind,
                       GA__NUMBERS({e, NULL}, {row[e], NULL}, {col[e], NULL}, {rows, NULL}, {cols, NULL})});
    }
  }
  return GA_OK;
}

ga_status ga_sparse_create(ga_context *ctx, int rows, int cols, int n_entries, const int *row, const int *col,
                           int *place, ga_sparse **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(ctx, __func__, "out");
  ga_status status = check_pairs(ctx, rows, cols, n_entries, row, col);
  if (status) return status;

  const size_t entries = (size_t)n_entries;
  const size_t most = (size_t)(rows > cols ? rows : cols) + 1;
  int *by_row = ga__alloc(ctx, entries, sizeof *by_row);
  int *order = ga__alloc(ctx, entries, sizeof *order);
  int *start = ga__alloc(ctx, most, sizeof *start);
  int *col_start = ga__alloc(ctx, (size_t)cols + 1, sizeof *col_start);
  ga_sparse *A = ga__alloc(ctx, 1, sizeof *A);
  int *merged_row = by_row, *exact_row = NULL; /* by_row is not used once `order` is known */
  double *value = NULL;
  int nnz = 0;
  if (by_row && order && start && col_start && A) {
    sort_by_key(by_row, start, NULL, row, n_entries, rows);
    sort_by_key(order, start, by_row, col, n_entries, cols);
    nnz = merge(place, merged_row, col_start, order, start, row, cols);
    exact_row = ga__alloc(ctx, (size_t)nnz, sizeof *exact_row);
    value = ga__alloc(ctx, (size_t)nnz, sizeof *value);
  }
  if (exact_row && value) {
    if (nnz > 0) memcpy(exact_row, merged_row, (size_t)nnz * sizeof *exact_row);
    *A = (ga_sparse){rows, cols, nnz, col_start, exact_row, value};
    *out = A;
  } else {
    ga__free(ctx, value);
    ga__free(ctx, exact_row);
    ga__free(ctx, A);
    ga__free(ctx, col_start);
    status = ga__no_memory(ctx, "a sparse matrix");
  }
  ga__free(ctx, start);
  ga__free(ctx, order);
  ga__free(ctx, by_row);
  return status;
}

void ga_sparse_destroy(ga_context *ctx, ga_sparse **A)
{
  if (!A || !*A) return;
  ga__free(ctx, (*A)->value);
  ga__free(ctx, (void *)(*A)->row);
  ga__free(ctx, (void *)(*A)->col_start);
  ga__free(ctx, *A);
  *A = NULL;
}

void ga_sparse_zero(ga_sparse *A)
{
  if (!A) return;
  memset(A->value, 0, (size_t)A->nnz * sizeof *A->value);
}

int ga_sparse_find(const ga_sparse *A, int row, int col)
{
  if (!A) return -1;
  if (row < 0 || row >= A->rows || col < 0 || col >= A->cols) return -1;
  int low = A->col_start[col], high = A->col_start[col + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (A->row[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < A->col_start[col + 1] && A->row[low] == row ? low : -1;
}

void ga_sparse_mul(double *restrict y, const ga_sparse *A, const double *restrict x)
{
  if (!y || !A || !x) return;
  for (int i = 0; i < A->rows; i++) y[i] = 0;
  for (int j = 0; j < A->cols; j++) {
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) y[A->row[p]] += A->value[p] * x[j];
  }
}

void ga_sparse_mul_t(double *restrict y, const ga_sparse *A, const double *restrict x)
{
  if (!y || !A || !x) return;
  for (int j = 0; j < A->cols; j++) {
    double sum = 0;
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) sum += A->value[p] * x[A->row[p]];
    y[j] = sum;
  }
}
