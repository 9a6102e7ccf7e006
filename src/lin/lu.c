/* LU factors: checks of arguments, choice of the backend, and the check of pivots, common to all backends. */
#include "lin/lin_impl.h"
#include <float.h>
#include <math.h>
#include <btf.h>

/* A pivot this small relative to the largest entry of its column (both scaled) counts as zero. Measured:
 * full random matrices of condition 1e14 (n = 3 to 192) all keep their pivots above 32 eps; of chains and
 * random matrices (n = 4 to 1536) with one column a combination of two others, 98.8 % show a pivot below 16
 * eps. */
static const double MISSING = 16 * DBL_EPSILON;
static const double SMALL = 1e-10; /* likewise, see ga__pivots */

/* When AUTO takes the dense factors. Measured by bench/lin_switch.c (factor + solve, -O3, one thread): up to
 * n = 20 they need at most 3 µs and 0.5 to 1.4 times the sparse time on chains of pendulums; beyond, the time
 * depends on the fill of the sparse factors: below 0.4 n² entries sparse is faster (2 times at n=36, 10 at
 * n=170), from 0.6 n² dense (1.3 times at n=50, 6 at n=160). */
static const int DENSE_MOST = 20;
static const double SPARSE_FILL = 0.5;

ga__pivots ga__lu_check_pivots(ga_lu *lu, const double *u, size_t stride, const int *column)
{
  double least = INFINITY, most = 0;
  ga__pivots pivots = GA__PIVOTS_GOOD;
  for (int k = 0; k < lu->A->cols; k++) {
    const double size = fabs(u[(size_t)k * stride]);
    const int col = column ? column[k] : k;
    /* Scaled entries are at most about 1, so the column matters only if its pivot is small. NaN or infinity
     * from overflow counts as no pivot. */
    if (!(size > SMALL && size < INFINITY)) {
      const double relative = size / lu->backend->column_max(lu, col);
      if (!(relative > MISSING && size < INFINITY)) {
        lu->info.rcond = 0;
        lu->info.weak_column = col;
        return GA__PIVOTS_MISSING;
      }
      if (relative < SMALL) pivots = GA__PIVOTS_SMALL;
    }
    if (size < least) {
      least = size;
      lu->info.weak_column = col;
    }
    if (size > most) most = size;
  }
  lu->info.rcond = least / most;
  return pivots;
}

ga_status ga__lu_singular(ga_lu *lu)
{
  const int col = lu->info.weak_column;
  return ga__refuse(
      lu->ctx, GA_RETRY_SINGULAR, GA_REASON_SINGULAR_MATRIX,
      &(ga__facts){.at = &(ga__fact_time){NAN, NAN, -1, col}, GA__NUMBERS({lu->A->cols, NULL}, {col, NULL})});
}

/* The first column that a maximum matching of columns and rows leaves unmatched; -1: none; -2: no memory. */
static int unmatched_column(ga_context *ctx, const ga_sparse *A)
{
  const size_t n = (size_t)A->cols;
  int *match = ga__alloc(ctx, n, sizeof *match);
  int *work = ga__alloc(ctx, n, 5 * sizeof *work);
  int column = -2;
  if (match && work) {
    double effort;
    column = -1;
    if (btf_maxtrans(A->rows, A->cols, (int *)A->col_start, (int *)A->row, 0, &effort, match, work) <
        A->cols) {
      for (int j = 0; j < A->cols; j++) work[j] = 0;
      for (int i = 0; i < A->rows; i++) {
        if (match[i] >= 0) work[match[i]] = 1;
      }
      for (column = 0; work[column]; column++) {
      }
    }
  }
  ga__free(ctx, work);
  ga__free(ctx, match);
  return column;
}

static const ga__lu_backend *const backends[] = {
    [GA_LU_DENSE] = &ga__lu_dense,
    [GA_LU_SPARSE] = &ga__lu_klu,
    [GA_LU_BLOCKS] = &ga__lu_block,
};

static void drop_backend(ga_lu *lu)
{
  if (lu->data) lu->backend->destroy(lu);
}

static ga_status use_backend(ga_lu *lu, ga_lu_kind kind)
{
  lu->info.kind = kind;
  lu->backend = backends[kind];
  return lu->A->cols > 0 ? lu->backend->create(lu) : GA_OK;
}

/* KLU detects near-singular matrices best; fronts do ten times as many operations per second. */
static ga_status choose_ordered(ga_lu *lu)
{
  if (!lu->order->block) return use_backend(lu, GA_LU_SPARSE);
  ga_status status =
      lu->order->fronts_from > 0.0 ? ga__order_cost(lu->ctx, lu->A, lu->order, &lu->flops) : GA_OK;
  return status ? status : use_backend(lu, lu->flops >= lu->order->fronts_from ? GA_LU_BLOCKS : GA_LU_SPARSE);
}

static ga_status choose_backend(ga_lu *lu)
{
  const double n = lu->A->cols;
  if (lu->order) return choose_ordered(lu);
  if (n <= DENSE_MOST) return use_backend(lu, GA_LU_DENSE);
  const ga_status status = use_backend(lu, GA_LU_SPARSE);
  if (status || lu->info.n_fill <= SPARSE_FILL * n * n) return status;
  drop_backend(lu);
  return use_backend(lu, GA_LU_DENSE);
}

static ga_status check_create(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind)
{
  if (!A) return ga__refuse_null(ctx, "ga_lu_create", "A");
  if (A->rows != A->cols)
    return ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_SQUARE,
        &(ga__facts){.function = "ga_lu_create", GA__NUMBERS({A->rows, NULL}, {A->cols, NULL})});
  if ((int)kind < GA_LU_AUTO || kind > GA_LU_BLOCKS)
    return ga__refuse_choice(ctx, "LU factors", "kind", (int)kind, "ga_lu_kind", GA_LU_BLOCKS);
  if ((size_t)A->nnz == (size_t)A->rows * (size_t)A->cols) return GA_OK;
  const int column = unmatched_column(ctx, A);
  if (column == -2) return ga__no_memory(ctx, "the analysis of a sparsity pattern");
  if (column >= 0) {
    return ga__refuse(ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_PATTERN,
                      &(ga__facts){.at = &(ga__fact_time){NAN, NAN, -1, column},
                                   GA__NUMBERS({A->cols, NULL}, {column, NULL})});
  }
  return GA_OK;
}

ga_status ga_lu_create(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, ga_lu **out)
{
  return ga__lu_create_ordered(ctx, A, kind, NULL, out);
}

ga_status ga__lu_create_ordered(ga_context *ctx, const ga_sparse *A, ga_lu_kind kind, const ga__order *order,
                                ga_lu **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(ctx, "ga_lu_create", "out");
  ga_status status = check_create(ctx, A, kind);
  if (status) return status;

  ga_lu *lu = ga__alloc(ctx, 1, sizeof *lu);
  if (!lu) return ga__no_memory(ctx, "LU factors");
  lu->ctx = ctx;
  lu->A = A;
  lu->order = order;
  lu->info.rcond = 1; /* also the value for a matrix without rows */
  lu->info.weak_column = -1;
  const int blocks = order && order->block;
  if (kind == GA_LU_BLOCKS && !blocks) kind = GA_LU_SPARSE;
  status = kind == GA_LU_AUTO ? choose_backend(lu) : use_backend(lu, kind);
  lu->order = NULL;
  if (status) {
    ga_lu_destroy(&lu);
  } else {
    *out = lu;
  }
  return status;
}

ga_status ga__lu_create_like(const ga_lu *like, ga_lu **out)
{
  *out = NULL;
  if (!like->data || !like->backend->create_like) return GA_OK;
  ga_lu *lu = ga__alloc(like->ctx, 1, sizeof *lu);
  if (!lu) return ga__no_memory(like->ctx, "LU factors");
  *lu = (ga_lu){.ctx = like->ctx, .A = like->A, .backend = like->backend, .flops = like->flops};
  lu->info.kind = like->info.kind;
  lu->info.rcond = 1;
  lu->info.weak_column = -1;
  const ga_status status = lu->backend->create_like(lu, like);
  if (status)
    ga_lu_destroy(&lu);
  else
    *out = lu;
  return status;
}

void ga_lu_destroy(ga_lu **lu)
{
  if (!lu || !*lu) return;
  drop_backend(*lu);
  ga__free((*lu)->ctx, *lu);
  *lu = NULL;
}

static ga_status check_finite(ga_lu *lu)
{
  const ga_sparse *A = lu->A;
  int p = 0, col = 0;
  if (ga__all_finite(A->value, A->nnz)) return GA_OK;
  while (isfinite(A->value[p])) p++;
  while (A->col_start[col + 1] <= p) col++;
  return ga__refuse(lu->ctx, GA_RETRY_NAN, GA_REASON_MATRIX_NOT_FINITE,
                    &(ga__facts){.at = &(ga__fact_time){NAN, NAN, -1, A->row[p]},
                                 GA__NUMBERS({A->value[p], NULL}, {A->row[p], NULL}, {col, NULL})});
}

ga_status ga_lu_factor(ga_lu *lu)
{
  if (!lu) return GA_ERR_ARGUMENT;
  lu->factored = 0;
  ga_status status = check_finite(lu);
  if (!status && lu->A->cols > 0) status = lu->backend->factor(lu);
  lu->factored = !status;
  return status;
}

void ga__lu_mark(ga_lu *lu)
{
  if (lu && lu->data && lu->backend->mark) lu->backend->mark(lu);
}

void ga__lu_rollback(ga_lu *lu)
{
  if (lu && lu->data && lu->backend->rollback) lu->backend->rollback(lu);
}

void ga__lu_forget(ga_lu *lu)
{
  if (!lu) return;
  lu->factored = 0;
  if (lu->data && lu->backend->forget) lu->backend->forget(lu);
}

static ga_status check_solve(const ga_lu *lu, const double *b, const char *name)
{
  if (!lu->factored) return ga__refuse_order(lu->ctx, name, "after a successful ga_lu_factor()");
  if (!b && lu->A->cols > 0) return ga__refuse_null(lu->ctx, name, "b");
  return GA_OK;
}

ga_status ga_lu_solve(ga_lu *lu, double *b)
{
  if (!lu) return GA_ERR_ARGUMENT;
  const ga_status status = check_solve(lu, b, "ga_lu_solve");
  if (status) return status;
  if (lu->A->cols > 0) lu->backend->solve(lu, b);
  lu->info.n_solve++;
  return GA_OK;
}

ga_status ga_lu_solve_t(ga_lu *lu, double *b)
{
  if (!lu) return GA_ERR_ARGUMENT;
  const ga_status status = check_solve(lu, b, "ga_lu_solve_t");
  if (status) return status;
  if (lu->A->cols > 0) lu->backend->solve_t(lu, b);
  lu->info.n_solve++;
  return GA_OK;
}

double ga__lu_flops(const ga_lu *lu)
{
  return lu ? lu->flops : 0.0;
}

const ga_lu_info *ga_lu_get_info(const ga_lu *lu)
{
  return lu ? &lu->info : NULL;
}
