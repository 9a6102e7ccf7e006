/* Steps of fits within bounds, compared with the best of all choices of which parameters are held at a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "random.h"
#include "seeds.h"
#include "study/fit.h"
#include <math.h>
#include <string.h>

enum { MOST = 5, CASES = 3000 };

typedef struct problem {
  ga_fit f;
  double R[MOST * MOST], q[MOST], D[MOST], small[2 * MOST * MOST + 3 * MOST], p[MOST], lambda;
} problem;

static double sum_of_squares(const problem *b, const double *s)
{
  const int n = b->f.pr.n;
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    double y = b->q[i];
    for (int j = i; j < n; j++) y += b->R[j * n + i] * s[j];
    sum += y * y + b->lambda * b->D[i] * b->D[i] * s[i] * s[i];
  }
  return sum;
}

/* Parameters at bounds now and then, columns of very different sizes, some nearly the same. */
static void make(problem *b, rig_random *random)
{
  memset(b, 0, sizeof *b);
  const int n = 1 + rig_below(random, MOST), alike = rig_below(random, 3);
  b->f.pr.n = n;
  b->f.R = b->R, b->f.q = b->q, b->f.D = b->D, b->f.small = b->small;
  b->lambda = rig_below(random, 2) ? 0.0 : pow(10.0, rig_uniform(random, -8.0, 1.0));
  for (int j = 0; j < n; j++) {
    const double size = pow(10.0, rig_uniform(random, -2.0, 2.0));
    for (int i = 0; i <= j; i++)
      b->R[j * n + i] = size * (alike == 1 && i < j ? 1.0 : rig_uniform(random, -1.0, 1.0));
    b->R[j * n + j] *= alike == 2 ? 1e-3 : 1.0;
    b->D[j] = size;
    b->q[j] = rig_uniform(random, -5.0, 5.0);
    b->p[j] = rig_uniform(random, -1.0, 1.0);
    b->f.pr.varied[j].lower = b->p[j] - rig_below(random, 4) * rig_uniform(random, 0.0, 0.5);
    b->f.pr.varied[j].upper = b->p[j] + rig_below(random, 4) * rig_uniform(random, 0.0, 0.5);
    if (rig_below(random, 6) == 0) b->f.pr.varied[j].upper = INFINITY;
  }
}

/* The minimum with these parameters held, by elimination with the largest pivot of the normal equations. */
static int minimum_with(const problem *b, const int *held, double *s)
{
  const int n = b->f.pr.n;
  double A[MOST][MOST + 1] = {{0}};
  int at[MOST], free = 0;
  for (int j = 0; j < n; j++) {
    s[j] = held[j] ? (held[j] < 0 ? b->f.pr.varied[j].lower : b->f.pr.varied[j].upper) - b->p[j] : 0.0;
    if (!held[j]) at[free++] = j;
    if (!isfinite(s[j])) return 0;
  }
  for (int k = 0; k < free; k++) {
    for (int l = 0; l < free; l++)
      for (int i = 0; i < n; i++)
        A[k][l] += (i <= at[k] && i <= at[l] ? b->R[at[k] * n + i] * b->R[at[l] * n + i] : 0.0);
    A[k][k] += b->lambda * b->D[at[k]] * b->D[at[k]];
    for (int i = 0; i <= at[k]; i++) {
      double y = b->q[i];
      for (int j = i; j < n; j++) y += held[j] ? b->R[j * n + i] * s[j] : 0.0;
      A[k][free] -= b->R[at[k] * n + i] * y;
    }
  }
  for (int k = 0; k < free; k++) {
    int best = k;
    for (int i = k; i < free; i++) best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
    if (A[best][k] == 0.0) return 0;
    for (int l = 0; l <= free; l++) {
      const double keep = A[k][l];
      A[k][l] = A[best][l], A[best][l] = keep;
    }
    for (int i = 0; i < free; i++)
      for (int l = free; l >= k && i != k; l--) A[i][l] -= A[i][k] / A[k][k] * A[k][l];
  }
  for (int k = 0; k < free; k++) s[at[k]] = A[k][free] / A[k][k];
  for (int k = 0; k < free; k++)
    if (b->p[at[k]] + s[at[k]] < b->f.pr.varied[at[k]].lower || b->p[at[k]] + s[at[k]] > b->f.pr.varied[at[k]].upper)
      return 0;
  return 1;
}

static double best_of_all(const problem *b)
{
  const int n = b->f.pr.n;
  int choices = 1, held[MOST];
  double best = INFINITY, s[MOST];
  for (int j = 0; j < n; j++) choices *= 3;
  for (int c = 0; c < choices; c++) {
    for (int j = 0, rest = c; j < n; j++, rest /= 3) held[j] = rest % 3 - 1;
    if (minimum_with(b, held, s)) best = fmin(best, sum_of_squares(b, s));
  }
  return best;
}

static void steps_are_the_best_within_bounds(void **state)
{
  rig_random random = rig_seed(0);
  static const double none[MOST];
  int bounded = 0;
  (void)state;
  for (int c = 0; c < CASES; c++) {
    problem b;
    double s[MOST];
    make(&b, &random);
    const double promised = ga__fit_step(&b.f, b.p, b.lambda, s), before = sum_of_squares(&b, none);
    const double reached = sum_of_squares(&b, s), best = best_of_all(&b);
    for (int j = 0; j < b.f.pr.n; j++) {
      const double to = b.p[j] + s[j], slack = 1e-12 * (1.0 + fabs(to));
      assert_true(to >= b.f.pr.varied[j].lower - slack && to <= b.f.pr.varied[j].upper + slack);
      bounded += to <= b.f.pr.varied[j].lower + slack || to >= b.f.pr.varied[j].upper - slack;
    }
    if (!(promised >= 0.0)) fail_msg("case %d: the step makes the sum larger, by %g", c, -promised);
    if (!(reached <= best + 1e-9 * before))
      fail_msg("case %d, %d parameters: %.12g, the best is %.12g of %g", c, b.f.pr.n, reached, best, before);
  }
  assert_true(bounded > CASES); /* bounds act */
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_the_best_within_bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
