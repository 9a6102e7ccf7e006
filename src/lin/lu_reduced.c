/* LU factors of matrices in which some unknowns are decoupled from all others: the row and the column of
 * their pivots are zero but for the entry where they meet. Which ones may change. What is factored is the
 * matrix with a reduced pattern,
 *
 *   T = A without the zeros in rows and columns of decoupled unknowns,
 *
 * in an order of its own, found again when other unknowns are decoupled: it has less to fill, and there may
 * be less to do by orders of magnitude. Factors depend on the matrix alone, not on those made before. */
#include "lin/lin_impl.h"
#include <string.h>

typedef struct reduced {
  int *partner, *cluster; /* [n] as ga__order_find() takes them */
  int has_blocks;
  double fronts_from;
  ga_lu_kind kind;
  int planned;               /* 1: T and its factors belong to is_out */
  unsigned char *is_out;     /* [n] columns of decoupled unknowns, */
  unsigned char *asked;      /* and those to be decoupled in the next factors */
  unsigned char *row_is_out; /* [n] */
  ga_sparse *T;
  int *from; /* [T's entries] places in A */
  ga_lu *lu;
} reduced;

static void drop_plan(ga_lu *lu)
{
  reduced *t = lu->data;
  ga_lu_destroy(&t->lu);
  ga_sparse_destroy(lu->ctx, &t->T);
  ga__free(lu->ctx, t->from);
  t->from = NULL;
  t->planned = 0;
}

static void reduced_destroy(ga_lu *lu)
{
  reduced *t = lu->data;
  drop_plan(lu);
  void *const block[] = {t->partner, t->cluster, t->is_out, t->asked, t->row_is_out};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(lu->ctx, block[i]);
  ga__free(lu->ctx, t);
  lu->data = NULL;
}

static ga_status no_memory(ga_lu *lu)
{
  return ga__no_memory(lu->ctx, "sparse LU factors");
}

ga_status ga__lu_create_reduced(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const int *partner,
                                const int *cluster, const ga__order *order, ga_lu **out)
{
  const size_t n = (size_t)A->cols;
  ga_lu *lu = *out = ga__alloc(ctx, 1, sizeof *lu);
  reduced *t = lu ? lu->data = ga__alloc(ctx, 1, sizeof *t) : NULL;
  if (t) {
    *lu = (ga_lu){.ctx = ctx, .A = A, .backend = &ga__lu_reduced, .data = t};
    lu->info.kind = GA_LU_SPARSE;
    lu->info.rcond = 1;
    lu->info.weak_column = -1;
    t->kind = kind;
    t->has_blocks = order->block != NULL;
    t->fronts_from = order->fronts_from;
    t->partner = ga__alloc(ctx, n, sizeof *t->partner);
    t->cluster = ga__alloc(ctx, n, sizeof *t->cluster);
    t->is_out = ga__alloc(ctx, n, 1);
    t->asked = ga__alloc(ctx, n, 1);
    t->row_is_out = ga__alloc(ctx, n, 1);
  }
  if (!t || !t->partner || !t->cluster || !t->is_out || !t->asked || !t->row_is_out) {
    if (lu && !t) ga__free(ctx, lu), *out = NULL;
    ga_lu_destroy(out);
    return ga__no_memory(ctx, "sparse LU factors");
  }
  memcpy(t->partner, partner, n * sizeof *partner);
  memcpy(t->cluster, cluster, n * sizeof *cluster);
  return GA_OK;
}

void ga__lu_decouple(ga_lu *lu, int n, const int *column)
{
  if (lu->backend != &ga__lu_reduced) return;
  reduced *t = lu->data;
  memset(t->asked, 0, (size_t)lu->A->cols);
  for (int i = 0; i < n; i++) t->asked[column[i]] = 1;
}

/* The entries of T: row and col, and their places in A; returns their number. */
static int list_entries(const ga_lu *lu, int *row, int *col, int *place)
{
  const reduced *t = lu->data;
  const ga_sparse *A = lu->A;
  int n = 0;
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++) {
      const int r = A->row[p];
      if ((t->is_out[c] || t->row_is_out[r]) && !(t->is_out[c] && r == t->partner[c])) continue;
      row[n] = r;
      col[n] = c;
      place[n++] = p;
    }
  return n;
}

/* A's entries are sorted as T's are, so T keeps them in the order listed. */
static ga_status make_matrix(ga_lu *lu)
{
  reduced *t = lu->data;
  const size_t most = (size_t)lu->A->nnz;
  int *row = ga__alloc(lu->ctx, most, sizeof *row), *col = ga__alloc(lu->ctx, most, sizeof *col);
  t->from = ga__alloc(lu->ctx, most, sizeof *t->from);
  ga_status status = row && col && t->from ? GA_OK : no_memory(lu);
  if (!status) {
    const int n = list_entries(lu, row, col, t->from);
    status = ga_sparse_create(lu->ctx, lu->A->rows, lu->A->cols, n, row, col, NULL, &t->T);
  }
  ga__free(lu->ctx, row);
  ga__free(lu->ctx, col);
  return status;
}

static ga_status plan(ga_lu *lu)
{
  reduced *t = lu->data;
  const size_t n = (size_t)lu->A->cols;
  drop_plan(lu);
  memcpy(t->is_out, t->asked, n);
  memset(t->row_is_out, 0, n);
  for (size_t c = 0; c < n; c++)
    if (t->is_out[c]) t->row_is_out[t->partner[c]] = 1;
  ga__order order = {ga__alloc(lu->ctx, n, sizeof(int)), ga__alloc(lu->ctx, n, sizeof(int)),
                     t->has_blocks ? ga__alloc(lu->ctx, n, sizeof(int)) : NULL, t->fronts_from};
  ga_status status = order.P && order.Q && (order.block || !t->has_blocks) ? make_matrix(lu) : no_memory(lu);
  if (!status) status = ga__order_find(lu->ctx, t->T, t->partner, t->cluster, &order);
  if (!status) status = ga__lu_create_ordered(lu->ctx, t->T, t->kind, &order, &t->lu);
  ga__free(lu->ctx, order.P);
  ga__free(lu->ctx, order.Q);
  ga__free(lu->ctx, order.block);
  t->planned = !status;
  return status;
}

static ga_status reduced_factor(ga_lu *lu)
{
  reduced *t = lu->data;
  if (!t->planned || memcmp(t->is_out, t->asked, (size_t)lu->A->cols)) {
    const ga_status status = plan(lu);
    if (status) return status;
  }
  for (int p = 0; p < t->T->nnz; p++) t->T->value[p] = lu->A->value[t->from[p]];
  ga__lu_forget(t->lu);
  const ga_status status = ga_lu_factor(t->lu);
  const long n_solve = lu->info.n_solve, n_factor = lu->info.n_factor;
  lu->info = *ga_lu_get_info(t->lu);
  lu->info.n_solve = n_solve;
  lu->info.n_factor = n_factor + !status;
  lu->info.n_refactor = 0;
  return status;
}

static void reduced_solve(ga_lu *lu, double *b)
{
  ga_lu_solve(((reduced *)lu->data)->lu, b);
}

static void reduced_solve_t(ga_lu *lu, double *b)
{
  ga_lu_solve_t(((reduced *)lu->data)->lu, b);
}

static void reduced_forget(ga_lu *lu)
{
  ga__lu_forget(((reduced *)lu->data)->lu);
}

const ga__lu_backend ga__lu_reduced = {.destroy = reduced_destroy,
                                       .factor = reduced_factor,
                                       .solve = reduced_solve,
                                       .solve_t = reduced_solve_t,
                                       .forget = reduced_forget};
