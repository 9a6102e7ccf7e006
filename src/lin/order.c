/* An order of elimination for saddle-point matrices of bodies and constraints: every multiplier goes to the
 * body of one of the velocities that its constraint acts on, a body with its multipliers is one block, and
 * the blocks are ordered by approximate minimum degree. Within a block velocities come first: when they are
 * gone their constraints have pivots on the diagonal, where there were none before. */
#include "lin/lin_impl.h"
#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/btf.h>

typedef struct ordering {
  ga_context *ctx;
  const ga_sparse *A;
  const int *partner;      /* [n] row that belongs to a column */
  int *cluster;            /* [n] of a column */
  int *column;             /* [n] column that a row belongs to */
  int *row_start, *by_row; /* A by rows: columns */
  int n_clusters;
} ordering;

static void *take(ga_context *ctx, int n)
{
  return ga__alloc(ctx, (size_t)n, sizeof(int));
}

static int list_rows(ordering *o)
{
  const ga_sparse *A = o->A;
  const int n = A->cols;
  o->column = take(o->ctx, n);
  o->row_start = take(o->ctx, n + 2);
  o->by_row = take(o->ctx, A->nnz);
  if (!o->column || !o->row_start || !o->by_row) return 0;
  for (int c = 0; c < n; c++) o->column[o->partner[c]] = c;
  for (int p = 0; p < A->nnz; p++) o->row_start[A->row[p] + 2]++;
  for (int r = 0; r < n; r++) o->row_start[r + 2] += o->row_start[r + 1];
  for (int c = 0; c < n; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++) o->by_row[o->row_start[A->row[p] + 1]++] = c;
  return 1;
}

/* Each column without a cluster takes that of a column met by its row; different ones take different columns
 * as far as that can be (a maximum matching), so that no body gets more constraints than it has velocities.
 */
static int match(ordering *o, int n_free, const int *free_column, const int *given)
{
  const int n = o->A->cols;
  int entries = 0, ok = 0;
  for (int k = 0; k < n_free; k++) {
    const int r = o->partner[free_column[k]];
    entries += o->row_start[r + 1] - o->row_start[r];
  }
  int *start = take(o->ctx, n_free + 1), *met = take(o->ctx, entries), *matched = take(o->ctx, n),
      *work = take(o->ctx, 5 * (n_free + 1));
  if (start && met && matched && work) {
    double effort;
    ok = 1;
    for (int k = 0, at = 0; k < n_free; k++) {
      const int r = o->partner[free_column[k]];
      for (int i = o->row_start[r]; i < o->row_start[r + 1]; i++)
        if (given[o->by_row[i]] >= 0) met[at++] = o->by_row[i];
      start[k + 1] = at;
      if (at > start[k]) o->cluster[free_column[k]] = given[met[start[k]]];
    }
    btf_maxtrans(n, n_free, start, met, 0, &effort, matched, work);
    for (int c = 0; c < n; c++)
      if (matched[c] >= 0) o->cluster[free_column[matched[c]]] = given[c];
  }
  ga__free(o->ctx, start);
  ga__free(o->ctx, met);
  ga__free(o->ctx, matched);
  ga__free(o->ctx, work);
  return ok;
}

/* Kind by kind of columns without a cluster: two multipliers of one constraint do not compete. */
static int assign_clusters(ordering *o, const int *given)
{
  const int n = o->A->cols;
  int ok = 1, least = 0, *free_column = take(o->ctx, n);
  if (!free_column) return 0;
  for (int c = 0; c < n; c++) {
    o->cluster[c] = given[c];
    if (given[c] < least) least = given[c];
    if (given[c] >= o->n_clusters) o->n_clusters = given[c] + 1;
  }
  for (int kind = -1; ok && kind >= least; kind--) {
    int n_free = 0;
    for (int c = 0; c < n; c++)
      if (given[c] == kind) free_column[n_free++] = c;
    ok = match(o, n_free, free_column, given);
  }
  ga__free(o->ctx, free_column);
  for (int c = 0; c < n; c++)
    if (o->cluster[c] < 0) o->cluster[c] = o->n_clusters++;
  return ok;
}

/* The order of the clusters: place[cluster]. Pairs that occur more than once are no harm to AMD. */
static int order_clusters(ordering *o, int *order)
{
  const ga_sparse *A = o->A;
  const int k = o->n_clusters;
  int *start = take(o->ctx, k + 2), *met = take(o->ctx, A->nnz), ok = 0;
  if (start && met) {
    for (int c = 0; c < A->cols; c++) start[o->cluster[c] + 2] += A->col_start[c + 1] - A->col_start[c];
    for (int i = 0; i < k; i++) start[i + 2] += start[i + 1];
    for (int c = 0; c < A->cols; c++)
      for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++)
        met[start[o->cluster[c] + 1]++] = o->cluster[o->column[A->row[p]]];
    ok = amd_order(k, start, met, order, NULL, NULL) >= AMD_OK;
  }
  ga__free(o->ctx, start);
  ga__free(o->ctx, met);
  return ok;
}

/* P, Q from the order of the clusters: in each the given columns first. */
static int expand(const ordering *o, const int *given, const int *order, int *P, int *Q)
{
  const int n = o->A->cols, k = o->n_clusters;
  int *rank = take(o->ctx, k), *start = take(o->ctx, 2 * k + 1);
  const int ok = rank && start;
  for (int i = 0; ok && i < k; i++) rank[order[i]] = i;
  for (int c = 0; ok && c < n; c++) start[2 * rank[o->cluster[c]] + (given[c] < 0) + 1]++;
  for (int i = 0; ok && i < 2 * k; i++) start[i + 1] += start[i];
  for (int c = 0; ok && c < n; c++) {
    const int at = start[2 * rank[o->cluster[c]] + (given[c] < 0)]++;
    Q[at] = c;
    P[at] = o->partner[c];
  }
  ga__free(o->ctx, rank);
  ga__free(o->ctx, start);
  return ok;
}

ga_status ga__order_bodies(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                           int *P, int *Q)
{
  ordering o = {ctx, A, partner, NULL, NULL, NULL, NULL, 0};
  int *order = NULL;
  o.cluster = take(ctx, A->cols);
  int ok = o.cluster && list_rows(&o) && assign_clusters(&o, cluster);
  if (ok)
    ok = (order = take(ctx, o.n_clusters)) != NULL && order_clusters(&o, order) &&
         expand(&o, cluster, order, P, Q);
  void *const block[] = {order, o.cluster, o.column, o.row_start, o.by_row};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  return ok ? GA_OK : ga__no_memory(ctx, "the order of elimination of a sparse matrix");
}
