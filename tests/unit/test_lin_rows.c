/* Rows of a rectangular matrix that follow from others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lin/lin_impl.h"
#include "lin_memory.h"
#include <math.h>

/* A matrix by rows, full, and the same as a sparse one; every row of length 1. */
typedef struct table {
  int rows, cols;
  double *a;
  ga_sparse *J;
} table;

static double *at(const table *t, int i, int j)
{
  return &t->a[(size_t)i * (size_t)t->cols + (size_t)j];
}

static void finish(fixture *f, table *t)
{
  size_t most = (size_t)t->rows * (size_t)t->cols;
  int *row = malloc(most * sizeof *row), *col = malloc(most * sizeof *col),
      *place = malloc(most * sizeof *place), n = 0;
  assert_true(row && col && place);
  for (int i = 0; i < t->rows; i++) {
    double square = 0.0;
    for (int j = 0; j < t->cols; j++) square += *at(t, i, j) * *at(t, i, j);
    for (int j = 0; j < t->cols; j++) {
      if (square > 0.0) *at(t, i, j) /= sqrt(square);
      if (*at(t, i, j) != 0.0) row[n] = i, col[n++] = j;
    }
  }
  assert_int_equal(ga_sparse_create(f->ctx, t->rows, t->cols, n, row, col, place, &t->J), GA_OK);
  for (int e = 0; e < n; e++) t->J->value[place[e]] = *at(t, row[e], col[e]);
  free(row);
  free(col);
  free(place);
}

/* `free_rows` random rows of a few entries, and combinations of two or three of the rows before at random
 * places. */
static table random_table(fixture *f, int rows, int cols, int dependent)
{
  table t = {rows, cols, calloc((size_t)rows * (size_t)cols, sizeof(double)), NULL};
  assert_non_null(t.a);
  for (int i = 0; i < rows; i++) {
    if (i >= rows - dependent) {
      for (int k = 0; k < 3; k++) {
        const int from = rig_below(&f->r, i);
        const double c = 0.2 + fabs(rig_uniform(&f->r, -1, 1));
        for (int j = 0; j < cols; j++) *at(&t, i, j) += c * *at(&t, from, j);
      }
    } else {
      *at(&t, i, i % cols) =
          1.0 + fabs(rig_uniform(&f->r, -1, 1)); /* so that these are independent, if no more than columns */
      for (int k = 0; k < 3; k++) *at(&t, i, rig_below(&f->r, cols)) += 0.2 * rig_uniform(&f->r, -1, 1);
    }
  }
  finish(f, &t);
  return t;
}

static void close_table(fixture *f, table *t)
{
  ga_sparse_destroy(f->ctx, &t->J);
  free(t->a);
}

/* The rank by elimination with complete pivoting; a is destroyed. */
static int full_rank(table *t)
{
  int rank = 0;
  for (; rank < t->rows && rank < t->cols; rank++) {
    int p = rank, q = rank;
    for (int i = rank; i < t->rows; i++)
      for (int j = rank; j < t->cols; j++)
        if (fabs(*at(t, i, j)) > fabs(*at(t, p, q))) p = i, q = j;
    if (fabs(*at(t, p, q)) < 1e-9) break;
    for (int j = 0; j < t->cols; j++) {
      double keep = *at(t, p, j);
      *at(t, p, j) = *at(t, rank, j), *at(t, rank, j) = keep;
    }
    for (int i = 0; i < t->rows; i++) {
      double keep = *at(t, i, q);
      *at(t, i, q) = *at(t, i, rank), *at(t, i, rank) = keep;
    }
    for (int i = rank + 1; i < t->rows; i++) {
      const double factor = *at(t, i, rank) / *at(t, rank, rank);
      for (int j = rank; j < t->cols; j++) *at(t, i, j) -= factor * *at(t, rank, j);
    }
  }
  return rank;
}

/* Every row found has a relation that holds, of rows that are not found; as many as the rank is short. */
static void check_search(fixture *f, table *t)
{
  ga__row_search *s = NULL;
  int *index = malloc((size_t)t->rows * sizeof *index), found = 0;
  double *value = malloc((size_t)t->rows * sizeof *value);
  assert_true(index && value);
  assert_int_equal(ga__row_search_create(f->ctx, t->J, &s), GA_OK);
  for (int again = 0; again < 2; again++) {
    assert_int_equal(ga__row_search_run(s, 0, t->rows, 1e-7, 0.3), GA_OK);
    found = 0;
    for (int i = 0; i < t->rows; i++) {
      if (!ga__row_search_found(s, i)) continue;
      found++;
      const int n = ga__row_search_relation(s, i, index, value);
      assert_int_equal(index[0], i);
      assert_true(value[0] == 1.0);
      double size = 0.0;
      for (int k = 0; k < n; k++) {
        size = fmax(size, fabs(value[k]));
        if (k > 0) assert_false(ga__row_search_found(s, index[k]));
      }
      for (int j = 0; j < t->cols; j++) {
        double sum = 0.0;
        for (int k = 0; k < n; k++) sum += value[k] * *at(t, index[k], j);
        assert_true(fabs(sum) <= 1e-11 * size);
      }
    }
  }
  assert_int_equal(found, t->rows - full_rank(t));
  ga__row_search_destroy(&s);
  assert_null(s);
  free(index);
  free(value);
}

static void finds_what_follows(void **state)
{
  fixture *f = *state;
  static const int shape[][3] = {{1, 1, 0},    {5, 9, 0},     {9, 5, 0},      {20, 30, 4},
                                 {60, 40, 25}, {200, 260, 1}, {200, 260, 70}, {120, 100, 60}};
  for (size_t k = 0; k < sizeof shape / sizeof *shape; k++)
    for (int repeat = 0; repeat < 5; repeat++) {
      table t = random_table(f, shape[k][0], shape[k][1], shape[k][2]);
      check_search(f, &t);
      close_table(f, &t);
    }
}

/* A row of zeros, the same row three times, and a search among some rows only. */
static void takes_odd_rows(void **state)
{
  fixture *f = *state;
  table t = {5, 3, calloc(15, sizeof(double)), NULL};
  ga__row_search *s = NULL;
  int index[5];
  double value[5];
  assert_non_null(t.a);
  *at(&t, 0, 1) = *at(&t, 2, 1) = *at(&t, 4, 1) = 1.0;
  *at(&t, 3, 0) = 1.0;
  *at(&t, 3, 2) = 1.0;
  finish(f, &t);
  assert_int_equal(ga__row_search_create(f->ctx, t.J, &s), GA_OK);
  assert_int_equal(ga__row_search_run(s, 0, 5, 1e-6, 0.3), GA_OK);
  static const int expected[] = {0, 1, 1, 0, 1};
  for (int i = 0; i < 5; i++) assert_int_equal(ga__row_search_found(s, i), expected[i]);
  assert_int_equal(ga__row_search_relation(s, 1, index, value), 1);
  assert_int_equal(ga__row_search_relation(s, 4, index, value), 2);
  assert_int_equal(index[1], 0);
  assert_true(value[1] == -1.0);
  assert_int_equal(ga__row_search_run(s, 2, 4, 1e-6, 0.3), GA_OK); /* rows 2 and 3 alone */
  for (int i = 0; i < 5; i++) assert_false(ga__row_search_found(s, i));
  ga__row_search_destroy(&s);
  close_table(f, &t);
}

static void survives_lack_of_memory(void **state)
{
  fixture *f = *state;
  table t = random_table(f, 60, 50, 25);
  int done = 0;
  for (long fail = 1; !done; fail++) {
    ga__row_search *s = NULL;
    const long live = f->memory.live;
    f->memory.fail_at = f->memory.count + fail;
    ga_status status = ga__row_search_create(f->ctx, t.J, &s);
    if (!status) status = ga__row_search_run(s, 0, 60, 1e-6, 0.3);
    done = f->memory.count < f->memory.fail_at;
    f->memory.fail_at = 0;
    assert_int_equal(status, done ? GA_OK : GA_ERR_MEMORY);
    if (s) assert_int_equal(ga__row_search_run(s, 0, 60, 1e-6, 0.3), GA_OK);
    ga__row_search_destroy(&s);
    assert_int_equal(f->memory.live, live);
  }
  close_table(f, &t);
}

enum { N = 40 };

/* Entries between unknowns that do not both depend on each other play no part in the elimination. */
static void keep_components(char full[N][N], char entry[N][N])
{
  static char reach[N][N];
  memcpy(reach, entry, sizeof reach);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) reach[i][j] |= reach[i][k] && reach[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) full[i][j] = (entry[i][j] || entry[j][i]) && reach[i][j] && reach[j][i];
}

/* The operations of an elimination, counted on a matrix filled in by hand. */
static void counts_operations(void **state)
{
  fixture *f = *state;
  for (int density = 1; density < 5; density++) {
    static char full[N][N], entry[N][N];
    lin_list list = {.n = N};
    int P[N], Q[N];
    ga__order order = {P, Q, NULL, 0.0};
    memset(entry, 0, sizeof entry);
    for (int k = 0; k < N; k++) P[k] = Q[k] = (7 * k + 3) % N;
    for (int k = 0; k < N; k++) {
      lin_add(&list, P[k], Q[k], 1.0);
      entry[k][k] = 1;
      for (int e = 0; e < density; e++) {
        const int j = rig_below(&f->r, N);
        lin_add(&list, P[k], Q[j], 1.0);
        entry[k][j] = 1;
      }
    }
    keep_components(full, entry);
    double expected = 0.0, flops;
    for (int k = 0; k < N; k++) {
      int below = 0;
      for (int i = k + 1; i < N; i++) {
        below += full[i][k];
        for (int j = k + 1; full[i][k] && j < N; j++) full[i][j] |= full[k][j];
      }
      expected += 2.0 * below * below;
    }
    ga_sparse *A = lin_finish(f->ctx, &list);
    assert_non_null(A);
    assert_int_equal(ga__order_cost(f->ctx, A, &order, &flops), GA_OK);
    assert_true(flops == expected);
    ga_sparse_destroy(f->ctx, &A);
  }
}

#define ROWS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {ROWS_TEST(finds_what_follows), ROWS_TEST(takes_odd_rows),
                                     ROWS_TEST(survives_lack_of_memory), ROWS_TEST(counts_operations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
