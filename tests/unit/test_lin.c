/* Sparse matrices and LU factors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "errors.h"
#include "lin/lin_impl.h"
#include "lin_bounds.h"
#include "lin_memory.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- helpers ---- */

static const ga_lu_kind kinds[] = {GA_LU_DENSE, GA_LU_SPARSE};
enum { N_KINDS = 2 };

/* max_i |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|) */
static double backward_error(const ga_sparse *A, const double *x, const double *b)
{
  const int n = A->rows;
  double *r = calloc(2 * (size_t)n + 1, sizeof *r), *size = r + n, x_max = 0, worst = 0;
  assert_non_null(r);
  ga_sparse_mul(r, A, x);
  for (int j = 0; j < n; j++) {
    x_max = fmax(x_max, fabs(x[j]));
    for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) size[A->row[p]] += fabs(A->value[p]);
  }
  for (int i = 0; i < n; i++) {
    const double error = fabs(b[i] - r[i]) / (size[i] * x_max + fabs(b[i]));
    if (!(error <= worst)) worst = error; /* keeps a NaN */
  }
  free(r);
  return worst;
}

/* Factors, solves for A*1 and returns the backward error, which must be due to rounding alone; *forward, if
 * given, is max|x-1|. */
static double solve_ones(ga_lu *lu, const ga_sparse *A, double *forward)
{
  const int n = A->rows;
  double *x = calloc(2 * (size_t)n + 1, sizeof *x), *b = x + n;
  assert_non_null(x);
  for (int i = 0; i < n; i++) x[i] = 1;
  ga_sparse_mul(b, A, x);
  memcpy(x, b, (size_t)n * sizeof *x);
  assert_int_equal(ga_lu_factor(lu), GA_OK);
  assert_int_equal(ga_lu_solve(lu, x), GA_OK);
  const double error = backward_error(A, x, b), part = rounding_part(lu, x, b);
  if (!(part <= 1)) fail_msg("n=%d: a residual %g times what rounding can make it", n, part);
  if (forward) {
    *forward = 0;
    for (int i = 0; i < n; i++) *forward = fmax(*forward, fabs(x[i] - 1));
  }
  free(x);
  return error;
}

static ga_lu *make_lu(fixture *f, const ga_sparse *A, ga_lu_kind kind)
{
  ga_lu *lu = NULL;
  assert_non_null(A);
  assert_int_equal(ga_lu_create(f->ctx, A, kind, &lu), GA_OK);
  assert_non_null(lu);
  return lu;
}

static double *at(const ga_sparse *A, int row, int col)
{
  const int p = ga_sparse_find(A, row, col);
  assert_true(p >= 0);
  return &A->value[p];
}

/* The column becomes factor times the other one. */
static void copy_column(ga_sparse *A, int to, int from, double factor)
{
  for (int p = A->col_start[to]; p < A->col_start[to + 1]; p++) {
    const int q = ga_sparse_find(A, A->row[p], from);
    A->value[p] = q >= 0 ? factor * A->value[q] : 0;
  }
}

static void scale_column(ga_sparse *A, int col, double factor)
{
  for (int p = A->col_start[col]; p < A->col_start[col + 1]; p++) A->value[p] *= factor;
}

/* ---- sparse matrices ---- */

static void sparse_merges_and_sorts(void **state)
{
  fixture *f = *state;
  const int row[] = {2, 0, 1, 2, 0, 2}, col[] = {3, 1, 0, 0, 1, 3};
  int place[6];
  ga_sparse *A = NULL;
  assert_int_equal(ga_sparse_create(f->ctx, 3, 4, 6, row, col, place, &A), GA_OK);
  const int start[] = {0, 2, 3, 3, 4}, rows[] = {1, 2, 0, 2}, places[] = {3, 2, 0, 1, 2, 3};
  assert_int_equal(A->nnz, 4);
  assert_memory_equal(A->col_start, start, sizeof start);
  assert_memory_equal(A->row, rows, sizeof rows);
  assert_memory_equal(place, places, sizeof places);
  for (int p = 0; p < 4; p++) assert_true(A->value[p] == 0);
  assert_int_equal(ga_sparse_find(A, 2, 0), 1);
  assert_int_equal(ga_sparse_find(A, 2, 3), 3);
  assert_int_equal(ga_sparse_find(A, 0, 0), -1);
  assert_int_equal(ga_sparse_find(A, 1, 2), -1);
  assert_int_equal(ga_sparse_find(A, 3, 0), -1);
  assert_int_equal(ga_sparse_find(A, 0, -1), -1);
  assert_int_equal(ga_sparse_find(A, 0, 4), -1);
  A->value[2] = 5;
  ga_sparse_zero(A);
  assert_true(A->value[2] == 0);
  ga_sparse_destroy(f->ctx, &A);
  assert_null(A);
  ga_sparse_destroy(f->ctx, &A);
}

static void sparse_multiplies(void **state)
{
  fixture *f = *state;
  enum { ROWS = 7, COLS = 11, ENTRIES = 60 };
  rig_random r = rig_seed(3);
  int row[ENTRIES], col[ENTRIES], place[ENTRIES];
  double full[ROWS][COLS] = {{0}}, x[COLS], y[ROWS], xt[ROWS], yt[COLS];
  ga_sparse *A = NULL;
  for (int e = 0; e < ENTRIES; e++) {
    row[e] = rig_below(&r, ROWS);
    col[e] = rig_below(&r, COLS);
  }
  assert_int_equal(ga_sparse_create(f->ctx, ROWS, COLS, ENTRIES, row, col, place, &A), GA_OK);
  for (int e = 0; e < ENTRIES; e++) {
    const double value = rig_below(&r, 100);
    A->value[place[e]] += value;
    full[row[e]][col[e]] += value;
  }
  for (int j = 0; j < COLS; j++) x[j] = rig_below(&r, 100);
  for (int i = 0; i < ROWS; i++) xt[i] = rig_below(&r, 100);
  ga_sparse_mul(y, A, x);
  ga_sparse_mul_t(yt, A, xt);
  for (int i = 0; i < ROWS; i++) { /* whole numbers: exact */
    double sum = 0;
    for (int j = 0; j < COLS; j++) sum += full[i][j] * x[j];
    assert_true(sum == y[i]);
  }
  for (int j = 0; j < COLS; j++) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) sum += full[i][j] * xt[i];
    assert_true(sum == yt[j]);
  }
  ga_sparse_destroy(f->ctx, &A);
}

static void sparse_refuses(void **state)
{
  fixture *f = *state;
  const int good[] = {0, 1, 2}, high[] = {0, 3, 1}, low[] = {0, 1, -1};
  ga_sparse *A = (ga_sparse *)f;
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, 3, high, good, NULL, &A), GA_ERR_PATTERN);
  assert_null(A);
  assert_call_error(f->ctx, GA_REASON_ENTRY_OUTSIDE, "sparse matrix", NULL);
  const double number[] = {1, 3, 1, 3, 3};
  for (int i = 0; i < 5; i++) assert_error_number(f->ctx, i, number[i]);
  assert_string_equal(ga_context_error(f->ctx)->text,
                      "sparse matrix: entry 1 of the pattern is (3, 1), outside of the 3 x 3 matrix (indices "
                      "start at 0)");
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, 3, good, low, NULL, &A), GA_ERR_PATTERN);
  assert_error_number(f->ctx, 0, 2);
  assert_error_number(f->ctx, 2, -1);
  assert_int_equal(ga_sparse_create(f->ctx, -1, 3, 0, good, good, NULL, &A), GA_ERR_ARGUMENT);
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, -3, good, good, NULL, &A), GA_ERR_ARGUMENT);
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, 3, NULL, good, NULL, &A), GA_ERR_ARGUMENT);
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, 3, good, good, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_sparse_create(NULL, 3, 3, 3, good, good, NULL, &A), GA_ERR_ARGUMENT);
}

/* ---- LU factors that exist ---- */

/* The explicit transpose. */
static ga_sparse *turned(fixture *f, const ga_sparse *A)
{
  lin_list list = {.n = A->rows};
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++) lin_add(&list, c, A->row[p], A->value[p]);
  return lin_finish(f->ctx, &list);
}

/* The transposed solve of factors at hand against the factors of the explicit transpose. */
static void check_transposed(fixture *f, ga_lu *lu, const ga_sparse *A, const char *name)
{
  const int n = A->rows;
  ga_sparse *At = turned(f, A);
  ga_lu *other = make_lu(f, At, ga_lu_get_info(lu)->kind);
  double *x = calloc(4 * (size_t)n, sizeof *x), *b = x + n, *y = b + n, *exact = y + n, most = 0, apart = 0;
  assert_non_null(x);
  for (int i = 0; i < n; i++) exact[i] = rig_uniform(&f->r, -1, 1), most = fmax(most, fabs(exact[i]));
  ga_sparse_mul_t(b, A, exact);
  for (int i = 0; i < n; i++) x[i] = y[i] = b[i];
  assert_int_equal(ga_lu_solve_t(lu, x), GA_OK);
  assert_int_equal(ga_lu_factor(other), GA_OK);
  assert_int_equal(ga_lu_solve(other, y), GA_OK);
  for (int i = 0; i < n; i++) apart = fmax(apart, fmax(fabs(x[i] - exact[i]), fabs(x[i] - y[i])));
  if (!(apart <= 1e-9 * most)) fail_msg("%s transposed, n=%d: %g apart of %g", name, n, apart, most);
  free(x);
  ga_lu_destroy(&other);
  ga_sparse_destroy(f->ctx, &At);
}

static void check_both(fixture *f, ga_sparse *A, const char *name)
{
  for (int k = 0; k < N_KINDS; k++) {
    ga_lu *lu = make_lu(f, A, kinds[k]);
    double forward;
    const double backward = solve_ones(lu, A, &forward);
    if (!(backward <= 1e-11) || !(forward <= 1e-9)) {
      fail_msg("%s, n=%d, kind %d: backward error %g, forward %g", name, A->rows, (int)kinds[k], backward,
               forward);
    }
    check_transposed(f, lu, A, name);
    const ga_lu_info *info = ga_lu_get_info(lu);
    assert_int_equal(info->kind, kinds[k]);
    assert_true(info->rcond > 1e-6 && info->rcond <= 1);
    assert_in_range(info->weak_column, 0, A->cols - 1);
    assert_in_range(info->n_fill, A->cols, A->cols * A->cols);
    ga_lu_destroy(&lu);
    assert_null(lu);
  }
  ga_sparse_destroy(f->ctx, &A);
}

static void lu_solves(void **state)
{
  fixture *f = *state;
  const int sizes[] = {1, 2, 3, 5, 9, 20, 28, 29, 60, 100};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int n = sizes[s];
    for (int draw = 1; draw <= (rig_brief() ? 1 : 5); draw++) {
      for (int c = 0; c < LIN_N_CHAINS; c++)
        check_both(f, lin_chain(f->ctx, &lin_chains[c], 1 + n / 8, rig_seed(draw)), "chain");
      check_both(f, lin_full(f->ctx, n, rig_seed(draw)), "full");
      check_both(f, lin_scattered(f->ctx, n, 1 + n / 8, rig_seed(draw)), "scattered");
    }
  }
}

static void lu_chooses(void **state)
{
  fixture *f = *state;
  struct {
    ga_sparse *A;
    ga_lu_kind expected;
  } cases[] = {
      {lin_chain(f->ctx, &lin_chains[2], 1, rig_seed(1)), GA_LU_DENSE},
      {lin_chain(f->ctx, &lin_chains[3], 2500, rig_seed(1)), GA_LU_SPARSE},
      {lin_full(f->ctx, 120, rig_seed(1)), GA_LU_DENSE},
      {lin_scattered(f->ctx, 150, 30, rig_seed(1)), GA_LU_DENSE}, /* fills in */
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    ga_lu *lu = make_lu(f, cases[c].A, GA_LU_AUTO);
    assert_int_equal(ga_lu_get_info(lu)->kind, cases[c].expected);
    assert_true(solve_ones(lu, cases[c].A, NULL) <= 1e-13);
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &cases[c].A);
  }
}

/* Rows of any size are scaled away, columns of any size are not taken for zero. */
static void lu_takes_bad_units(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    ga_sparse *A = lin_full(f->ctx, 9, rig_seed(4));
    ga_lu *lu = make_lu(f, A, kinds[k]);
    for (int j = 0; j < 9; j++) {
      *at(A, 2, j) *= 1e200;
      *at(A, 5, j) *= 1e-200;
    }
    assert_true(solve_ones(lu, A, NULL) <= 1e-14);
    assert_true(ga_lu_get_info(lu)->rcond > 1e-3);
    scale_column(A, 7, 1e-30);
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_true(ga_lu_get_info(lu)->rcond < 1e-28);
    assert_int_equal(ga_lu_get_info(lu)->weak_column, 7);
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &A);
  }
}

/* v := (I - 2 w wᵀ/wᵀw) v for the columns (stride 1) or rows (stride n) of a full matrix. */
static void reflect(ga_sparse *A, rig_random *r, int by_columns)
{
  enum { MOST = 64 };
  const int n = A->rows, step = by_columns ? 1 : n, next = by_columns ? n : 1;
  double w[MOST], size = 0;
  assert_true(n <= MOST);
  for (int i = 0; i < n; i++) {
    w[i] = rig_uniform(r, -1, 1);
    size += w[i] * w[i];
  }
  for (int j = 0; j < n; j++) {
    double dot = 0;
    for (int i = 0; i < n; i++) dot += w[i] * A->value[j * next + i * step];
    for (int i = 0; i < n; i++) A->value[j * next + i * step] -= 2 * dot / size * w[i];
  }
}

/* A := Z − (1 − σ) u vᵀ, Z random and orthogonal with Z v = u, and all components of u and v ±1/√n: one
 * singular value is σ, all others are 1. Every entry of A⁻¹ = Zᵀ + (1/σ − 1) v uᵀ is of size 1/(n σ), so that
 * the last pivot, the reciprocal of one of them, is small whichever it is: at most √n n (σ + rounding), the
 * scale of its row being √n at the most. */
static void spread_singular_value(ga_sparse *A, double sigma, rig_random *r)
{
  enum { MOST = 64 };
  const int n = A->rows;
  double u[MOST], v[MOST], w[MOST], size = 0;
  ga_sparse_zero(A);
  for (int i = 0; i < n; i++) {
    *at(A, i, i) = 1;
    u[i] = (rig_below(r, 2) ? 1 : -1) / sqrt(n);
    v[i] = (rig_below(r, 2) ? 1 : -1) / sqrt(n);
  }
  for (int turn = 0; turn < 6; turn++) reflect(A, r, turn % 2);
  ga_sparse_mul(w, A, v);
  for (int i = 0; i < n; i++) w[i] -= u[i], size += w[i] * w[i]; /* the reflection that takes Z v to u */
  for (int j = 0; j < n; j++) {
    double dot = 0;
    for (int i = 0; i < n; i++) dot += w[i] * *at(A, i, j);
    for (int i = 0; i < n && size > 0; i++) *at(A, i, j) -= 2 * dot / size * w[i];
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) *at(A, i, j) -= (1 - sigma) * u[i] * v[j];
}

/* Condition 1e14: bad, but to be factored, and solved with a small backward error. */
static void lu_takes_bad_condition(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    for (int n = 3; n <= 48; n *= 2) {
      for (int draw = 1; draw <= 20; draw++) {
        ga_sparse *A = lin_full(f->ctx, n, rig_seed(draw));
        rig_random r = rig_seed(1000 + draw);
        spread_singular_value(A, 1e-14, &r);
        ga_lu *lu = make_lu(f, A, kinds[k]);
        assert_true(solve_ones(lu, A, NULL) <= 1e-11);
        assert_true(ga_lu_get_info(lu)->rcond <= 1e-8);
        ga_lu_destroy(&lu);
        ga_sparse_destroy(f->ctx, &A);
      }
    }
  }
}

/* A chain of two bodies whose pivots are all of about one size. */
static ga_sparse *well_conditioned_chain(fixture *f)
{
  for (int draw = 0;; draw++) {
    ga_sparse *A = lin_chain(f->ctx, &lin_chains[1], 2, rig_seed(draw));
    ga_lu *lu = make_lu(f, A, GA_LU_DENSE);
    const int good = ga_lu_factor(lu) == GA_OK && ga_lu_get_info(lu)->rcond > 0.02;
    ga_lu_destroy(&lu);
    if (good) return A;
    ga_sparse_destroy(f->ctx, &A);
  }
}

static void lu_names_weak_column(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    for (int weak = 0; weak < 14; weak++) {
      ga_sparse *A = well_conditioned_chain(f);
      scale_column(A, weak, 1e-9);
      ga_lu *lu = make_lu(f, A, kinds[k]);
      assert_int_equal(ga_lu_factor(lu), GA_OK);
      assert_int_equal(ga_lu_get_info(lu)->weak_column, weak);
      const double rcond = ga_lu_get_info(lu)->rcond;
      if (!(rcond <= 1e-5 && rcond > 1e-12)) /* 1e-9 of pivots that are at least 0.02 of the largest */
        fail_msg("column %d, kind %d: rcond %g", weak, (int)kinds[k], rcond);
      ga_lu_destroy(&lu);
      ga_sparse_destroy(f->ctx, &A);
    }
  }
}

/* ---- LU factors that do not exist ---- */

static void lu_finds_structural_singularity(void **state)
{
  fixture *f = *state;
  /* Column 3 is empty; then columns 1, 2, 4 have entries in rows 0 and 5 only. */
  const int row1[] = {0, 1, 2, 3, 4, 5, 5}, col1[] = {0, 1, 2, 4, 5, 0, 5};
  const int row2[] = {0, 5, 0, 5, 0, 5, 1, 2, 3, 4}, col2[] = {1, 1, 2, 2, 4, 4, 0, 3, 5, 0};
  for (int k = 0; k < N_KINDS; k++) {
    ga_sparse *A = NULL;
    ga_lu *lu = NULL;
    assert_int_equal(ga_sparse_create(f->ctx, 6, 6, 7, row1, col1, NULL, &A), GA_OK);
    assert_int_equal(ga_lu_create(f->ctx, A, kinds[k], &lu), GA_ERR_SINGULAR);
    assert_null(lu);
    assert_call_error(f->ctx, GA_REASON_SINGULAR_PATTERN, NULL, NULL);
    assert_error_number(f->ctx, 1, 3);
    assert_int_equal(ga_context_error(f->ctx)->index, 3);
    ga_sparse_destroy(f->ctx, &A);
    assert_int_equal(ga_sparse_create(f->ctx, 6, 6, 10, row2, col2, NULL, &A), GA_OK);
    assert_int_equal(ga_lu_create(f->ctx, A, kinds[k], &lu), GA_ERR_SINGULAR);
    const int named = ga_context_error(f->ctx)->index;
    assert_true(named == 1 || named == 2 || named == 4);
    ga_sparse_destroy(f->ctx, &A);
  }
}

static void assert_singular(fixture *f, ga_lu *lu, int column, int or_column)
{
  double b[256] = {0};
  assert_int_equal(ga_lu_factor(lu), GA_RETRY_SINGULAR);
  const int weak = ga_lu_get_info(lu)->weak_column;
  if (weak != column && weak != or_column) fail_msg("column %d named, not %d or %d", weak, column, or_column);
  assert_true(ga_lu_get_info(lu)->rcond == 0);
  assert_call_error(f->ctx, GA_REASON_SINGULAR_MATRIX, NULL, NULL);
  assert_error_number(f->ctx, 1, weak);
  assert_int_equal(ga_context_error(f->ctx)->index, weak);
  assert_int_equal(ga_lu_solve(lu, b), GA_ERR_ORDER);
}

/* From the first call and after a success, a zero column or one that is 0.3 times another is found;
 * afterwards the same object still solves a regular matrix. */
static void lu_finds_numerical_singularity(void **state)
{
  fixture *f = *state;
  int n_tries = 0, n_found = 0;
  for (int k = 0; k < N_KINDS; k++) {
    for (int shape = 0; shape < 3; shape++) {
      for (int draw = 1; draw <= 20; draw++) {
        const int n = shape == 2 ? 27 : 12 + draw;
        ga_sparse *A = shape == 0   ? lin_full(f->ctx, n, rig_seed(draw))
                       : shape == 1 ? lin_scattered(f->ctx, n, 4, rig_seed(draw))
                                    : lin_chain(f->ctx, &lin_chains[2], 3, rig_seed(draw));
        double *keep = malloc((size_t)A->nnz * sizeof *keep);
        const size_t bytes = (size_t)A->nnz * sizeof *keep;
        assert_non_null(keep);
        memcpy(keep, A->value, bytes);
        ga_lu *lu = make_lu(f, A, kinds[k]);
        const int column = 3 * draw % n, other = (column + 5) % n;
        for (int turn = 0; turn < 2; turn++) {
          scale_column(A, column, 0);
          assert_singular(f, lu, column, column);
          memcpy(A->value, keep, bytes);
          if (shape == 0) {
            copy_column(A, column, other, 0.3);
            n_tries++;
            if (ga_lu_factor(lu) == GA_OK) { /* rounding left over a pivot, which rcond shows */
              assert_true(ga_lu_get_info(lu)->rcond < 1e-13);
            } else {
              assert_singular(f, lu, column, other);
              n_found++;
            }
            memcpy(A->value, keep, bytes);
          }
          assert_true(solve_ones(lu, A, NULL) <= 1e-11);
        }
        free(keep);
        ga_lu_destroy(&lu);
        ga_sparse_destroy(f->ctx, &A);
      }
    }
  }
  assert_true(2 * n_found > n_tries);
}

/* A joint given twice: the multiplier columns are equal, and so are the rows. */
static void lu_names_redundant_constraint(void **state)
{
  fixture *f = *state;
  enum { BODIES = 4, K = 6 * BODIES };
  for (int k = 0; k < N_KINDS; k++) {
    for (int first = 0; first < 3 * BODIES; first++) {
      ga_sparse *A = lin_chain(f->ctx, &lin_chains[2], BODIES, rig_seed(9));
      lin_list list = {.n = A->cols + 1};
      for (int j = 0; j < A->cols; j++) {
        for (int p = A->col_start[j]; p < A->col_start[j + 1]; p++) {
          const int i = A->row[p];
          lin_add(&list, i, j, A->value[p]);
          if (j == K + first) lin_add(&list, i, A->cols, A->value[p] / 3);
          if (i == K + first) lin_add(&list, A->cols, j, A->value[p] / 3);
        }
      }
      const int last = A->cols;
      ga_sparse *twice = lin_finish(f->ctx, &list);
      ga_lu *lu = make_lu(f, twice, kinds[k]);
      assert_singular(f, lu, K + first, last);
      ga_lu_destroy(&lu);
      ga_sparse_destroy(f->ctx, &twice);
      ga_sparse_destroy(f->ctx, &A);
    }
  }
}

static void lu_finds_nan(void **state)
{
  fixture *f = *state;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < N_KINDS; k++) {
    ga_sparse *A = lin_chain(f->ctx, &lin_chains[0], 4, rig_seed(1));
    ga_lu *lu = make_lu(f, A, kinds[k]);
    double b[20] = {0};
    for (int i = 0; i < 3; i++) {
      assert_true(solve_ones(lu, A, NULL) <= 1e-13);
      double *entry = at(A, 14, 3), keep = *entry;
      *entry = bad[i];
      assert_int_equal(ga_lu_factor(lu), GA_RETRY_NAN);
      assert_call_error(f->ctx, GA_REASON_MATRIX_NOT_FINITE, NULL, NULL);
      assert_error_number(f->ctx, 0, bad[i]);
      assert_error_number(f->ctx, 1, 14);
      assert_error_number(f->ctx, 2, 3);
      assert_int_equal(ga_lu_solve(lu, b), GA_ERR_ORDER);
      *entry = keep;
    }
    for (int p = 0; p < A->nnz; p++) A->value[p] *= 1e308; /* their sum is infinite, none of them is */
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &A);
  }
}

/* ---- pivots used again ---- */

static void lu_reuses_pivots(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    ga_sparse *A = lin_chain(f->ctx, &lin_chains[3], 10, rig_seed(2));
    ga_lu *lu = make_lu(f, A, kinds[k]);
    rig_random r = rig_seed(17);
    for (int turn = 0; turn < 10; turn++) {
      assert_true(solve_ones(lu, A, NULL) <= 1e-13);
      for (int p = 0; p < A->nnz; p++) A->value[p] *= 1 + 0.01 * rig_uniform(&r, -1, 1);
    }
    const ga_lu_info *info = ga_lu_get_info(lu);
    assert_int_equal(info->n_factor, kinds[k] == GA_LU_SPARSE ? 1 : 10);
    assert_int_equal(info->n_refactor, kinds[k] == GA_LU_SPARSE ? 9 : 0);
    assert_int_equal(info->n_solve, 10);
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &A);
  }
}

/* The entries that were pivots become tiny or zero. */
static void lu_replaces_bad_pivots(void **state)
{
  fixture *f = *state;
  const double tiny[] = {1e-6, 1e-10, 1e-14, 1e-300, 0};
  for (int draw = 1; draw <= 20; draw++) {
    for (size_t t = 0; t < sizeof tiny / sizeof *tiny; t++) {
      for (int part = 1; part <= 2; part++) { /* all pivots, or every second */
        ga_sparse *A = lin_full(f->ctx, 24, rig_seed(draw));
        ga_lu *lu = make_lu(f, A, GA_LU_SPARSE);
        for (int i = 0; i < 24; i++) *at(A, i, i) += 20;
        assert_true(solve_ones(lu, A, NULL) <= 1e-13);
        for (int i = 0; i < 24; i += part) *at(A, i, i) = tiny[t];
        const double error = solve_ones(lu, A, NULL);
        if (!(error <= 1e-12)) fail_msg("matrix %d, pivots %g: backward error %g", draw, tiny[t], error);
        assert_int_equal(ga_lu_get_info(lu)->n_factor, 2);
        assert_int_equal(ga_lu_get_info(lu)->n_refactor, 0);
        ga_lu_destroy(&lu);
        ga_sparse_destroy(f->ctx, &A);
      }
    }
  }
}

/* Entries change by up to six orders: whichever pivots are used, the error stays small. */
static void lu_stays_accurate(void **state)
{
  fixture *f = *state;
  rig_random r = rig_seed(5);
  long searched = 0, reused = 0;
  for (int trial = 0; trial < (rig_brief() ? 60 : 3000); trial++) {
    const int shape = rig_below(&r, LIN_N_CHAINS + 1), size = 3 + rig_below(&r, 20);
    ga_sparse *A = shape < LIN_N_CHAINS ? lin_chain(f->ctx, &lin_chains[shape], size, rig_seed(trial))
                                        : lin_scattered(f->ctx, 4 * size, 3, rig_seed(trial));
    ga_lu *lu = make_lu(f, A, GA_LU_SPARSE);
    if (ga_lu_factor(lu) == GA_OK) {
      const double orders = 3 * (rig_uniform(&r, -1, 1) + 1);
      const int part = 1 + rig_below(&r, 8);
      for (int p = 0; p < A->nnz; p++) {
        if (rig_below(&r, part) == 0) A->value[p] *= pow(10, orders * rig_uniform(&r, -1, 1));
      }
      if (ga_lu_factor(lu) == GA_OK) {
        const double error = solve_ones(lu, A, NULL);
        if (!(error <= 1e-10)) fail_msg("trial %d: backward error %g", (int)trial, error);
      }
      *(ga_lu_get_info(lu)->n_refactor > 1 ? &reused : &searched) += 1;
    }
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &A);
  }
  assert_true(searched > 0 && reused > 0 && (rig_brief() || (searched > 300 && reused > 300)));
}

/* The mass of a chain fades away smoothly: pivots are used as long as they are good, and the error never
 * grows. */
static void lu_watches_pivots_fade(void **state)
{
  fixture *f = *state;
  ga_sparse *A = lin_chain(f->ctx, &lin_chains[2], 20, rig_seed(3));
  ga_lu *lu = make_lu(f, A, GA_LU_SPARSE);
  for (int turn = 0; turn < 60; turn++) {
    assert_true(solve_ones(lu, A, NULL) <= 1e-12);
    for (int b = 0; b < 20; b += 2) {
      for (int i = 0; i < 3; i++) *at(A, 6 * b + i, 6 * b + i) *= 0.5;
    }
  }
  const ga_lu_info *info = ga_lu_get_info(lu);
  assert_int_equal(info->n_factor + info->n_refactor, 60);
  assert_in_range(info->n_factor, 1, 20);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(f->ctx, &A);
}

/* ---- range and null space ---- */

static double product(const double *a, const double *b, int n)
{
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* A of known rank: `rank` random rows, and combinations of them. */
static void spaces_are_found(void **state)
{
  fixture *f = *state;
  static const int shape[][3] = {{0, 4, 0}, {3, 0, 0}, {4, 7, 4}, {6, 6, 4}, {9, 5, 3}, {5, 5, 0}, {1, 1, 1}};
  for (size_t c = 0; c < sizeof shape / sizeof *shape; c++) {
    const int m = shape[c][0], n = shape[c][1], rank = shape[c][2];
    double A[100] = {0}, x[10], b[10], y[10];
    ga__svd s;
    for (int i = 0; i < rank * n; i++) A[i] = rig_uniform(&f->r, -1, 1);
    for (int i = rank; i < m && rank > 0; i++)
      for (int k = 0; k < n; k++) A[i * n + k] = 2 * A[(i % rank) * n + k] - A[((i + 1) % rank) * n + k];
    assert_int_equal(ga__svd_create(f->ctx, m, n, &s), GA_OK);
    assert_int_equal(ga__svd_compute(&s, A, 1e-9), GA_OK);
    assert_int_equal(s.rank, rank);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        assert_true(fabs(product(s.basis + i * n, s.basis + j * n, n) - (i == j)) < 1e-14);
    for (int i = 0; i < n - rank; i++)
      for (int k = 0; k < m; k++) assert_true(fabs(product(ga__svd_null(&s, i), A + k * n, n)) < 1e-13);
    for (int i = 0; i < m; i++) b[i] = rig_uniform(&f->r, -1, 1);
    ga__svd_solve(&s, b, x);
    for (int i = 0; i < n - rank; i++) assert_true(fabs(product(ga__svd_null(&s, i), x, n)) < 1e-12);
    for (int i = 0; i < m; i++) y[i] = product(A + i * n, x, n) - b[i];
    for (int k = 0; k < n; k++) { /* what is left is orthogonal to all columns */
      double sum = 0;
      for (int i = 0; i < m; i++) sum += A[i * n + k] * y[i];
      assert_true(fabs(sum) < 1e-12);
    }
    ga__svd_destroy(&s);
  }
}

/* ---- arguments and order of calls ---- */

static void lu_refuses(void **state)
{
  fixture *f = *state;
  ga_sparse *A = NULL;
  ga_lu *lu = (ga_lu *)f;
  const int one[] = {0};
  assert_int_equal(ga_sparse_create(f->ctx, 1, 2, 1, one, one, NULL, &A), GA_OK);
  assert_int_equal(ga_lu_create(f->ctx, A, GA_LU_AUTO, &lu), GA_ERR_ARGUMENT);
  assert_null(lu);
  assert_call_error(f->ctx, GA_REASON_NOT_SQUARE, "ga_lu_create", NULL);
  assert_error_number(f->ctx, 1, 2);
  assert_int_equal(ga_lu_create(f->ctx, NULL, GA_LU_AUTO, &lu), GA_ERR_ARGUMENT);
  assert_int_equal(ga_lu_create(NULL, A, GA_LU_AUTO, &lu), GA_ERR_ARGUMENT);
  ga_sparse_destroy(f->ctx, &A);
  A = lin_full(f->ctx, 3, rig_seed(1));
  assert_int_equal(ga_lu_create(f->ctx, A, GA_LU_AUTO, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_lu_create(f->ctx, A, (ga_lu_kind)7, &lu), GA_ERR_ARGUMENT);
  assert_call_error(f->ctx, GA_REASON_NOT_A_CHOICE, "LU factors", "kind");
  assert_error_number(f->ctx, 0, 7);
  for (int k = 0; k < N_KINDS; k++) {
    double b[3] = {1, 2, 3};
    lu = make_lu(f, A, kinds[k]);
    assert_int_equal(ga_lu_solve(lu, b), GA_ERR_ORDER);
    assert_int_equal(ga_lu_solve_t(lu, b), GA_ERR_ORDER);
    assert_true(b[0] == 1 && b[1] == 2 && b[2] == 3);
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_int_equal(ga_lu_solve(lu, NULL), GA_ERR_ARGUMENT);
    assert_int_equal(ga_lu_solve_t(lu, NULL), GA_ERR_ARGUMENT);
    ga_lu_destroy(&lu);
  }
  ga_lu_destroy(&lu);
  ga_lu_destroy(NULL);
  assert_int_equal(ga_lu_factor(NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_lu_solve(NULL, NULL), GA_ERR_ARGUMENT);
  ga_sparse_destroy(f->ctx, &A);
}

static void lu_takes_empty(void **state)
{
  fixture *f = *state;
  const ga_lu_kind all[] = {GA_LU_AUTO, GA_LU_DENSE, GA_LU_SPARSE};
  for (int k = 0; k < 3; k++) {
    ga_sparse *A = NULL;
    assert_int_equal(ga_sparse_create(f->ctx, 0, 0, 0, NULL, NULL, NULL, &A), GA_OK);
    ga_lu *lu = make_lu(f, A, all[k]);
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_int_equal(ga_lu_solve(lu, NULL), GA_OK);
    assert_int_equal(ga_lu_solve_t(lu, NULL), GA_OK);
    assert_true(ga_lu_get_info(lu)->rcond == 1);
    ga_lu_destroy(&lu);
    ga_sparse_destroy(f->ctx, &A);
  }
}

/* ---- memory ---- */

/* Creates, factors and solves; frees all. The first failure, or GA_OK. */
static ga_status whole_life(ga_context *ctx, ga_lu_kind kind)
{
  const int row[] = {0, 1, 2, 0, 1, 3, 2, 3, 4, 4, 0}, col[] = {0, 1, 2, 1, 0, 3, 3, 2, 4, 0, 4};
  const double value[] = {0, 3, 1, 4, 5, 0, 2, 6, 5, 3, 7};
  double b[5] = {1, 2, 3, 4, 5};
  int place[11];
  ga_sparse *A = NULL;
  ga_lu *lu = NULL;
  ga_status status = ga_sparse_create(ctx, 5, 5, 11, row, col, place, &A);
  if (!status) {
    for (int e = 0; e < 11; e++) A->value[place[e]] = value[e];
    status = ga_lu_create(ctx, A, kind, &lu);
  }
  if (!status) status = ga_lu_factor(lu);
  if (status == GA_ERR_MEMORY && lu) {
    /* Memory is there again: the same object goes on. */
    if (ga_lu_solve(lu, b) != GA_ERR_ORDER || ga_lu_factor(lu) != GA_OK) status = GA_ERR_ORDER;
  }
  if (!status) status = ga_lu_solve(lu, b);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(ctx, &A);
  return status;
}

static void lu_survives_lack_of_memory(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    memory *const pools[] = {&f->memory, &klu_memory};
    for (int p = 0; p < 2; p++) {
      const long live = pools[p]->live;
      pools[p]->count = pools[p]->fail_at = 0;
      assert_int_equal(whole_life(f->ctx, kinds[k]), GA_OK);
      const long count = pools[p]->count;
      if (p == 0 || kinds[k] == GA_LU_SPARSE) assert_true(count >= 8);
      for (long n = 1; n <= count; n++) {
        pools[p]->count = 0;
        pools[p]->fail_at = n;
        ga_context_clear_error(f->ctx);
        pools[p]->kept = 0;
        const ga_status status = whole_life(f->ctx, kinds[k]);
        if (!(pools[p]->kept && status == GA_OK)) assert_int_equal(status, GA_ERR_MEMORY);
        pools[p]->fail_at = 0;
        assert_int_equal(pools[p]->live, live);
      }
    }
  }
}

static void lu_does_not_allocate(void **state)
{
  fixture *f = *state;
  for (int k = 0; k < N_KINDS; k++) {
    for (int c = 0; c < LIN_N_CHAINS; c++) {
      ga_sparse *A = lin_chain(f->ctx, &lin_chains[c], 12, rig_seed(6));
      ga_lu *lu = make_lu(f, A, kinds[k]);
      double b[200];
      assert_in_range(A->cols, 1, 200);
      assert_int_equal(ga_lu_factor(lu), GA_OK);
      const long ours = f->memory.count, klu = klu_memory.count;
      for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < A->cols; i++) b[i] = i;
        for (int p = 0; p < A->nnz; p++) A->value[p] *= 1.01;
        assert_int_equal(ga_lu_factor(lu), GA_OK);
        assert_int_equal(ga_lu_solve(lu, b), GA_OK);
        assert_int_equal(ga_lu_solve_t(lu, b), GA_OK);
      }
      assert_int_equal(f->memory.count, ours);
      assert_int_equal(klu_memory.count, klu);
      if (kinds[k] == GA_LU_SPARSE) assert_true(klu > 0);
      ga_lu_destroy(&lu);
      ga_sparse_destroy(f->ctx, &A);
    }
  }
}

#define LIN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      LIN_TEST(sparse_merges_and_sorts),
      LIN_TEST(sparse_multiplies),
      LIN_TEST(sparse_refuses),
      LIN_TEST(lu_solves),
      LIN_TEST(lu_chooses),
      LIN_TEST(lu_takes_bad_units),
      LIN_TEST(lu_takes_bad_condition),
      LIN_TEST(lu_names_weak_column),
      LIN_TEST(lu_finds_structural_singularity),
      LIN_TEST(lu_finds_numerical_singularity),
      LIN_TEST(lu_names_redundant_constraint),
      LIN_TEST(lu_finds_nan),
      LIN_TEST(lu_reuses_pivots),
      LIN_TEST(lu_replaces_bad_pivots),
      LIN_TEST(lu_stays_accurate),
      LIN_TEST(lu_watches_pivots_fade),
      LIN_TEST(spaces_are_found),
      LIN_TEST(lu_refuses),
      LIN_TEST(lu_takes_empty),
      LIN_TEST(lu_survives_lack_of_memory),
      LIN_TEST(lu_does_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
