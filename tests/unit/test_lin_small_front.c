/* Small fronts: kernels of every size against the same operations one by one, to the bit; and solutions of
 * several matrices at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lin/fronts.h"
#include "seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 13, BELOW_MOST = 14, ROWS_MOST = SIZE_MOST + BELOW_MOST, ROOM = 40 * 40 };

typedef struct dense_front {
  int s, m;
  double F[ROWS_MOST][ROWS_MOST]; /* by rows */
  double R[ROWS_MOST], C[SIZE_MOST];
} dense_front;

static dense_front draw(rig_random *r, int s, int m, int zeros)
{
  dense_front d = {.s = s, .m = m};
  for (int i = 0; i < s + m; i++) {
    d.R[i] = ldexp(1.0, rig_below(r, 5) - 2);
    for (int k = 0; k < s + m; k++)
      d.F[i][k] = rig_below(r, 4) < zeros && i != k ? 0.0 : rig_uniform(r, -1.0, 1.0);
  }
  for (int k = 0; k < s; k++) d.C[k] = ldexp(1.0, rig_below(r, 5) - 2);
  return d;
}

static ga__front front_of(const dense_front *d)
{
  const int own = (d->s + 3) / 4 * 4;
  return (ga__front){.size = d->s, .below = d->m, .own = own, .width = own + (d->m + 3) / 4 * 4};
}

static double *at(const ga__front *f, double *P, double *B, int row, int column)
{
  double *c = column < f->size ? P + column * f->width : B + (column - f->size) * f->width;
  return c + ga__front_row(f, row);
}

/* As large as it says, one operation after the other; returns the growth. */
static double eliminate(dense_front *d, int *taken, double *inverse)
{
  const int s = d->s, n = s + d->m;
  double growth = 0.0, R[ROWS_MOST];
  memcpy(R, d->R, sizeof R);
  for (int k = 0; k < s; k++) taken[k] = k;
  for (int j = 0; j < s; j++) {
    int best = j;
    for (int i = j + 1; i < s; i++)
      if (fabs(d->F[i][j]) * R[i] > fabs(d->F[best][j]) * R[best]) best = i;
    for (int k = 0; best != j && k < n; k++) {
      const double t = d->F[j][k];
      d->F[j][k] = d->F[best][k];
      d->F[best][k] = t;
    }
    const double w = R[j];
    const int t = taken[j];
    R[j] = R[best], R[best] = w;
    taken[j] = taken[best], taken[best] = t;
    inverse[j] = 1.0 / d->F[j][j];
    growth = fmax(growth, fabs(d->F[j][j] * R[j] * d->C[j]));
    for (int i = j + 1; i < n; i++) d->F[i][j] *= inverse[j];
    for (int i = s; i < n; i++) growth = fmax(growth, fabs(d->F[i][j]) * (R[i] / R[j]));
    for (int i = j + 1; i < n; i++)
      for (int k = j + 1; k < n; k++) d->F[i][k] -= d->F[i][j] * d->F[j][k];
  }
  for (int j = 0; j < s; j++)
    for (int i = 0; i < j; i++) d->F[i][j] *= inverse[j];
  return growth;
}

static void assert_bits(double a, double b, const char *what, const dense_front *d)
{
  if (a != b) fail_msg("%s, %d pivots, %d rows below: %.17g and %.17g", what, d->s, d->m, a, b);
}

/* Solves with the factors in both ways; x[n]. */
static void solve_by_hand(const dense_front *d, const int *taken, const double *inverse, double *x)
{
  const int s = d->s, n = s + d->m;
  double y[ROWS_MOST];
  for (int i = 0; i < n; i++) y[i] = i < s ? x[taken[i]] : x[i];
  for (int k = 0; k < s; k++)
    for (int i = k + 1; i < n; i++) y[i] -= d->F[i][k] * y[k];
  memcpy(x, y, (size_t)n * sizeof *x);
  for (int k = s; k < n; k++)
    for (int i = 0; i < s; i++) x[i] -= d->F[i][k] * x[k];
  for (int k = s - 1; k > 0; k--)
    for (int i = 0; i < k; i++) x[i] -= d->F[i][k] * x[k];
  for (int k = 0; k < s; k++) x[k] *= inverse[k];
}

static void check_front(rig_random *r, int s, int m, int zeros, int scattered)
{
  dense_front d = draw(r, s, m, zeros);
  const ga__front f0 = front_of(&d);
  ga__front f = f0;
  double P[ROOM] = {0}, B[ROOM] = {0}, row[SIZE_MOST + 4], over[SIZE_MOST], below[BELOW_MOST + 4] = {0};
  double inverse[SIZE_MOST + 4] = {0}, pivot[SIZE_MOST], hand_inverse[SIZE_MOST];
  int taken[SIZE_MOST], hand_taken[SIZE_MOST];
  for (int i = 0; i < s + m; i++)
    for (int k = 0; k < s + m; k++) *at(&f, P, B, i, k) = d.F[i][k];
  for (int k = 0; k < s; k++) row[k] = d.R[k], over[k] = 1.0 / d.R[k], taken[k] = k;
  for (int i = 0; i < m; i++) below[i] = d.R[s + i];
  const ga__front_scale scale = {row, below, over, d.C};
  const double growth = ga__small_front_eliminate(&f, P, B, &scale, taken, inverse, pivot);
  assert_bits(growth, eliminate(&d, hand_taken, hand_inverse), "growth", &d);
  for (int k = 0; k < s; k++) {
    assert_int_equal(taken[k], hand_taken[k]);
    assert_bits(inverse[k], hand_inverse[k], "inverse", &d);
  }
  for (int i = 0; i < s + m; i++)
    for (int k = 0; k < s + m; k++) {
      const double got = i < s && k >= s ? P[s * f.width + (k - s) * s + i] : *at(&f, P, B, i, k);
      if (i != k || i >= s) assert_bits(got, d.F[i][k], "factors", &d);
    }

  /* rows below: behind the pivots, or in every second place */
  const int n = scattered ? s + 2 * m : s + m;
  int index[BELOW_MOST + 4];
  double x[3][ROWS_MOST + BELOW_MOST + 4], hand[3][ROWS_MOST], local[ROWS_MOST + 8];
  for (int i = 0; i < f.width - f.own; i++) index[i] = i < m ? s + (scattered ? 2 * i + 1 : i) : n;
  f.index_run = !scattered && m > 0;
  ga__fronts plan = {.n = n, .n_fronts = 1, .front = &f, .index = index};
  const ga__front_factors factors = {P, inverse, taken}, *const all[3] = {&factors, &factors, &factors};
  double *const xs[3] = {x[0], x[1], x[2]};
  for (int q = 0; q < 3; q++) {
    for (int i = 0; i < n + 4; i++) x[q][i] = i < n ? rig_uniform(r, -1.0, 1.0) : 0.0;
    for (int i = 0; i < s + m; i++) hand[q][i] = x[q][i < s ? i : index[i - s]];
    solve_by_hand(&d, hand_taken, hand_inverse, hand[q]);
  }
  double between[BELOW_MOST];
  for (int i = 0; scattered && i < m; i++) between[i] = x[1][s + 2 * i];
  ga__fronts_solve(&plan, 0, 1, 3, all, xs, local);
  for (int q = 0; q < 3; q++)
    for (int i = 0; i < s + m; i++) assert_bits(x[q][i < s ? i : index[i - s]], hand[q][i], "solution", &d);
  for (int i = 0; scattered && i < m; i++) assert_bits(x[1][s + 2 * i], between[i], "between", &d);
}

static void kernels_do_what_they_say(void **state)
{
  rig_random r = rig_seed(1);
  (void)state;
  for (int s = 1; s <= SIZE_MOST; s++)
    for (int m = 0; m <= BELOW_MOST; m++)
      for (int turn = 0; turn < 4; turn++) check_front(&r, s, m, turn % 3, turn > 1);
}

/* Zero and infinite pivots show in the growth, whatever the size. */
static void bad_pivots_show(void **state)
{
  rig_random r = rig_seed(1);
  (void)state;
  for (int s = 1; s <= SIZE_MOST; s++)
    for (int bad = 0; bad < s; bad++) {
      const dense_front d = draw(&r, s, 3, 0);
      const ga__front f = front_of(&d);
      double P[ROOM] = {0}, B[ROOM] = {0}, row[SIZE_MOST + 4], below[4] = {1, 1, 1, 0};
      double inverse[SIZE_MOST + 4], pivot[SIZE_MOST], over[SIZE_MOST];
      int taken[SIZE_MOST];
      for (int i = 0; i < s + 3; i++)
        for (int k = 0; k < s; k++) *at(&f, P, B, i, k) = k == bad ? 0.0 : d.F[i][k];
      for (int k = 0; k < s; k++) row[k] = over[k] = 1.0, taken[k] = k;
      const ga__front_scale scale = {row, below, over, d.C};
      const double growth = ga__small_front_eliminate(&f, P, B, &scale, taken, inverse, pivot);
      assert_false(growth <= 1e5);
      assert_true(pivot[bad] == 0.0);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_do_what_they_say),
                                     cmocka_unit_test(bad_pivots_show)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
