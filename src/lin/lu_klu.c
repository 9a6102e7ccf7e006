/* Sparse LU factors by KLU: P (R A) Q = L U in blocks, R diagonal, close to the reciprocal row maxima. The
 * pattern is analysed once; the first factorisation searches for pivots, later ones reuse them while they
 * are good. R is set together with the pivots; its entries are powers of two, exact, and applied here,
 * which is faster than in KLU. */
#include "lin/lu_data.h"
#include <limits.h>
#include <math.h>
#include <string.h>

/* A diagonal entry becomes the pivot if it is at least this part of the largest in its column: the first
 * value for little fill; the second, for little growth, if small pivots leave doubt, so that a zero differs
 * clearly from rounding. */
static const double PIVOT_TOLERANCE[] = {0.1, 1};
enum { N_TOLERANCES = sizeof PIVOT_TOLERANCE / sizeof *PIVOT_TOLERANCE };

/* Reused pivots are good while each is within a factor STEADY of what it was when found. Up to the factor
 * MOVED the growth decides, which takes a fourth of the time of a refactorisation. Of 40000
 * chains and random matrices with entries changed by up to six orders, 8400 kept their pivots, with a
 * backward error below 4e-13. */
static const double STEADY = 10, MOVED = 100;
static const double LEAST_GROWTH = 1e-2; /* [-] reciprocal growth */

static void sparse_destroy(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  klu_free_numeric(&s->numeric, &s->common);
  klu_free_numeric(&s->marked, &s->common);
  klu_free_symbolic(&s->symbolic, &s->common);
  double *const block[] = {s->found, s->inverse, s->x, s->R, s->value, s->marked_found, s->marked_R};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(lu->ctx, block[i]);
  ga__free(lu->ctx, s);
  lu->data = NULL;
}

/* Failures of KLU other than a singular matrix. The input is valid: out of memory is the only one left. */
static ga_status fail_in_klu(ga_lu *lu, const char *what)
{
  const ga__lu_klu_data *s = lu->data;
  if (s->common.status == KLU_TOO_LARGE) {
    return ga__refuse(lu->ctx, GA_ERR_MEMORY, GA_REASON_TOO_MANY,
                      &(ga__facts){.kind = what, .field = "entries", .detail = "an int cannot count them"});
  }
  return ga__no_memory(lu->ctx, what);
}

static ga_status sparse_create(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data = ga__alloc(lu->ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(lu->ctx, "sparse LU factors");
  klu_defaults(&s->common);
  s->common.scale = -1; /* the matrix is scaled here */
  /* An exact zero may follow a pivot that is zero up to rounding: all are computed, then checked in order. */
  s->common.halt_if_singular = 0;
  const ga__order *order = lu->order;
  s->col_start = (int *)lu->A->col_start;
  s->row = (int *)lu->A->row;
  double **const per_row[] = {&s->found, &s->inverse, &s->x, &s->R, &s->marked_found, &s->marked_R};
  for (size_t i = 0; i < sizeof per_row / sizeof *per_row; i++)
    if (!(*per_row[i] = ga__alloc(lu->ctx, (size_t)lu->A->cols, sizeof(double))))
      return ga__no_memory(lu->ctx, "sparse LU factors");
  if (!(s->value = ga__alloc(lu->ctx, (size_t)lu->A->nnz, sizeof(double))))
    return ga__no_memory(lu->ctx, "sparse LU factors");
  s->symbolic = order ? klu_analyze_given(lu->A->cols, s->col_start, s->row, order->P, order->Q, &s->common)
                      : klu_analyze(lu->A->cols, s->col_start, s->row, &s->common);
  if (!s->symbolic) return fail_in_klu(lu, "the analysis of a sparse matrix");
  const double fill = s->symbolic->lnz + s->symbolic->unz - s->symbolic->n + s->symbolic->nzoff;
  if (order) return GA_OK;                                /* the fill is known after factor */
  lu->info.n_fill = fill < INT_MAX ? (int)fill : INT_MAX; /* without exchanges of rows; exact after factor */
  return GA_OK;
}

/* ---- Scaling ---- */

static void find_scale(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  const ga_sparse *A = lu->A;
  for (int i = 0; i < A->rows; i++) s->R[i] = 0;
  for (int p = 0; p < A->nnz; p++) s->R[A->row[p]] = fmax(s->R[A->row[p]], fabs(A->value[p]));
  for (int i = 0; i < A->rows; i++) {
    int exponent = 0;
    frexp(s->R[i], &exponent);
    s->R[i] = ldexp(1, exponent > -1000 ? -exponent : 1000);
  }
}

static void scale_values(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  const double *restrict from = lu->A->value, *restrict R = s->R;
  const int *restrict row = lu->A->row;
  double *restrict to = s->value;
  for (int p = 0; p < lu->A->nnz; p++) to[p] = R[row[p]] * from[p];
}

/* The largest entry of a column of R A. */
static double sparse_column_max(const ga_lu *lu, int column)
{
  const ga__lu_klu_data *s = lu->data;
  double most = 0;
  for (int p = lu->A->col_start[column]; p < lu->A->col_start[column + 1]; p++)
    if (fabs(s->value[p]) > most) most = fabs(s->value[p]);
  return most;
}

static ga__pivots judge_pivots(ga_lu *lu)
{
  const ga__lu_klu_data *s = lu->data;
  return ga__lu_check_pivots(lu, s->numeric->Udiag, 1, s->symbolic->Q);
}

/* Whether every pivot is within the factor of its value when found; a NaN is not. */
static int pivots_within(const ga__lu_klu_data *s, double factor)
{
  const double *u = s->numeric->Udiag;
  int within = 1;
  for (int k = 0; k < s->numeric->n; k++) {
    const double now = fabs(u[k]), then = fabs(s->found[k]);
    within &= now <= factor * then && now * factor >= then;
  }
  return within;
}

static void mark_found(ga__lu_klu_data *s)
{
  if (!s->marking || s->marked || s->found_marked) return;
  memcpy(s->marked_found, s->found, (size_t)s->numeric->n * sizeof *s->found);
  s->found_marked = 1;
}

/* Factors with the previous pivots; 0: these are no longer good. */
static int refactor(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  double *value = s->value;
  if (!s->numeric) return 0;
  scale_values(lu);
  if (!klu_refactor(s->col_start, s->row, value, s->symbolic, s->numeric, &s->common)) return 0;
  if (judge_pivots(lu) == GA__PIVOTS_MISSING || !pivots_within(s, MOVED)) return 0;
  if (pivots_within(s, STEADY)) return 1;
  klu_rgrowth(s->col_start, s->row, value, s->symbolic, s->numeric, &s->common);
  if (!(s->common.rgrowth >= LEAST_GROWTH)) return 0;
  mark_found(s); /* accepted: later pivots are compared with these */
  memcpy(s->found, s->numeric->Udiag, (size_t)s->numeric->n * sizeof *s->found);
  return 1;
}

/* Discards the pivots, or moves them to the mark if there is one. */
static void discard_pivots(ga__lu_klu_data *s)
{
  if (s->marking && !s->none_marked && !s->marked && s->numeric) {
    mark_found(s);
    memcpy(s->marked_R, s->R, (size_t)s->numeric->n * sizeof(double));
    s->marked = s->numeric;
    s->numeric = NULL;
  }
  klu_free_numeric(&s->numeric, &s->common);
}

/* Factors with a search for pivots. */
static ga_status factor(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  ga__pivots pivots = GA__PIVOTS_MISSING;
  discard_pivots(s);
  find_scale(lu);
  scale_values(lu);
  for (int t = 0; t < N_TOLERANCES && pivots != GA__PIVOTS_GOOD; t++) {
    klu_free_numeric(&s->numeric, &s->common);
    s->common.tol = PIVOT_TOLERANCE[t];
    s->numeric = klu_factor(s->col_start, s->row, s->value, s->symbolic, &s->common);
    if (!s->numeric) return fail_in_klu(lu, "sparse LU factors");
    lu->info.n_factor++;
    pivots = judge_pivots(lu);
  }
  if (pivots == GA__PIVOTS_MISSING) {
    klu_free_numeric(&s->numeric, &s->common); /* pivots of a singular matrix are not reused */
    return ga__lu_singular(lu);
  }
  memcpy(s->found, s->numeric->Udiag, (size_t)s->numeric->n * sizeof *s->found);
  lu->info.n_fill = s->numeric->lnz + s->numeric->unz - s->numeric->n + s->numeric->nzoff;
  return GA_OK;
}

static void set_inverse(ga__lu_klu_data *s)
{
  const double *pivot = s->numeric->Udiag;
  for (int k = 0; k < s->numeric->n; k++) s->inverse[k] = 1.0 / pivot[k];
}

static ga_status sparse_factor(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  const int again = refactor(lu);
  const ga_status status = again ? GA_OK : factor(lu);
  if (status) return status;
  set_inverse(s);
  lu->info.n_refactor += again;
  return GA_OK;
}

/* ---- Solving ----
 * As klu_solve() for one right-hand side, but with the row scaling and both permutations in one pass, and
 * with multiplications instead of KLU's divisions, whose latencies add up. */

/* A column of L or U as KLU keeps it: row numbers first, then values, at the next multiple of a double. */
typedef struct column {
  const int *row;
  const double *value;
} column;

static column column_at(const double *block, int at, int length)
{
  const double *p = block + at;
  const size_t units = ((size_t)length * sizeof(int) + sizeof(double) - 1) / sizeof(double);
  return (column){(const int *)(const void *)p, p + units};
}

static void lower_solve(double *x, const ga__lu_klu_data *s, int block, int first, int n)
{
  const int *at = s->numeric->Lip + first, *length = s->numeric->Llen + first;
  const double *data = s->numeric->LUbx[block];
  for (int k = 0; k < n; k++) {
    const column c = column_at(data, at[k], length[k]);
    const double xk = x[k];
    for (int p = 0; p < length[k]; p++) x[c.row[p]] -= c.value[p] * xk;
  }
}

static void upper_solve(double *x, const ga__lu_klu_data *s, int block, int first, int n)
{
  const int *at = s->numeric->Uip + first, *length = s->numeric->Ulen + first;
  const double *data = s->numeric->LUbx[block], *inverse = s->inverse + first;
  for (int k = n - 1; k >= 0; k--) {
    const column c = column_at(data, at[k], length[k]);
    const double xk = x[k] *= inverse[k];
    for (int p = 0; p < length[k]; p++) x[c.row[p]] -= c.value[p] * xk;
  }
}

/* Entries above the diagonal blocks. */
static void eliminate_block(double *x, const ga__lu_klu_data *s, int first, int end)
{
  const int *start = s->numeric->Offp, *row = s->numeric->Offi;
  const double *value = s->numeric->Offx;
  for (int k = first; k < end; k++)
    for (int p = start[k]; p < start[k + 1]; p++) x[row[p]] -= value[p] * x[k];
}

static void sparse_solve(ga_lu *lu, double *b)
{
  const ga__lu_klu_data *s = lu->data;
  const int n = lu->A->cols, *row = s->numeric->Pnum, *col = s->symbolic->Q, *start = s->symbolic->R;
  double *x = s->x;
  for (int k = 0; k < n; k++) x[k] = s->R[row[k]] * b[row[k]];
  for (int block = s->symbolic->nblocks - 1; block >= 0; block--) {
    const int first = start[block], end = start[block + 1];
    if (end - first == 1) {
      x[first] *= s->inverse[first];
    } else {
      lower_solve(x + first, s, block, first, end - first);
      upper_solve(x + first, s, block, first, end - first);
    }
    if (block > 0) eliminate_block(x, s, first, end);
  }
  for (int k = 0; k < n; k++) b[col[k]] = x[k];
}

/* ---- Solving with the transposed matrix: Qᵀ Aᵀ R Pᵀ = Uᵀ Lᵀ in blocks, the first of them first ---- */

static double column_dot(column c, int length, const double *x)
{
  double sum = 0;
  for (int p = 0; p < length; p++) sum += c.value[p] * x[c.row[p]];
  return sum;
}

static void upper_solve_t(double *x, const ga__lu_klu_data *s, int block, int first, int n)
{
  const int *at = s->numeric->Uip + first, *length = s->numeric->Ulen + first;
  const double *data = s->numeric->LUbx[block], *inverse = s->inverse + first;
  for (int k = 0; k < n; k++)
    x[k] = (x[k] - column_dot(column_at(data, at[k], length[k]), length[k], x)) * inverse[k];
}

static void lower_solve_t(double *x, const ga__lu_klu_data *s, int block, int first, int n)
{
  const int *at = s->numeric->Lip + first, *length = s->numeric->Llen + first;
  const double *data = s->numeric->LUbx[block];
  for (int k = n - 1; k >= 0; k--) x[k] -= column_dot(column_at(data, at[k], length[k]), length[k], x);
}

/* Moves the unknowns of earlier blocks to the right-hand side of one. */
static void move_known_blocks_t(double *x, const ga__lu_klu_data *s, int first, int end)
{
  const int *start = s->numeric->Offp, *row = s->numeric->Offi;
  const double *value = s->numeric->Offx;
  for (int k = first; k < end; k++)
    for (int p = start[k]; p < start[k + 1]; p++) x[k] -= value[p] * x[row[p]];
}

static void sparse_solve_t(ga_lu *lu, double *b)
{
  const ga__lu_klu_data *s = lu->data;
  const int n = lu->A->cols, *row = s->numeric->Pnum, *col = s->symbolic->Q, *start = s->symbolic->R;
  double *x = s->x;
  for (int k = 0; k < n; k++) x[k] = b[col[k]];
  for (int block = 0; block < s->symbolic->nblocks; block++) {
    const int first = start[block], end = start[block + 1];
    if (block > 0) move_known_blocks_t(x, s, first, end);
    if (end - first == 1) {
      x[first] *= s->inverse[first];
    } else {
      upper_solve_t(x + first, s, block, first, end - first);
      lower_solve_t(x + first, s, block, first, end - first);
    }
  }
  for (int k = 0; k < n; k++) b[row[k]] = s->R[row[k]] * x[k];
}

static void sparse_mark(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  klu_free_numeric(&s->marked, &s->common);
  s->marking = 1;
  s->none_marked = !s->numeric;
  s->found_marked = 0;
}

static void sparse_rollback(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  const size_t bytes = (size_t)lu->A->cols * sizeof(double);
  if (s->marking && s->none_marked && s->numeric) { /* pivots found since the mark are discarded */
    klu_free_numeric(&s->numeric, &s->common);
    lu->factored = 0;
  }
  if (s->found_marked) memcpy(s->found, s->marked_found, bytes);
  s->found_marked = 0;
  if (!s->marked) return;
  klu_free_numeric(&s->numeric, &s->common);
  s->numeric = s->marked;
  s->marked = NULL;
  memcpy(s->R, s->marked_R, bytes);
  set_inverse(s);
}

static void sparse_forget(ga_lu *lu)
{
  ga__lu_klu_data *s = lu->data;
  klu_free_numeric(&s->numeric, &s->common);
  klu_free_numeric(&s->marked, &s->common);
  s->marking = s->none_marked = s->found_marked = 0;
}

const ga__lu_backend ga__lu_klu = {.create = sparse_create,
                                   .destroy = sparse_destroy,
                                   .factor = sparse_factor,
                                   .solve = sparse_solve,
                                   .solve_t = sparse_solve_t,
                                   .column_max = sparse_column_max,
                                   .mark = sparse_mark,
                                   .rollback = sparse_rollback,
                                   .forget = sparse_forget};
