/* The step of a fit: min ‖q + R s‖² + λ‖D s‖² with lower ≤ p + s ≤ upper, a linear least-squares problem with
 * bounds, by the method of Stark and Parker (1995): from minimum to minimum over the parameters that are not
 * held at a bound. What reaches a bound on the way is held there; where none does, one whose bound keeps it
 * from a smaller sum is set free. Every step reduces the sum, so that it ends at the minimum, which is one:
 * the problem is convex. */
#include "study/fit.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-12 /* [-] of a gradient */
enum { MOST_CHANGES = 8 * GA__MOST_VARIED };

/* One column of Householder's method below row k: A[k..rows) becomes (alpha, 0, ...), the reflection is
 * applied to `others` further columns and to b. */
void ga__fit_reflect(long rows, int k, double *a, int others, long stride, double *b)
{
  double norm = 0.0;
  for (long i = k; i < rows; i++) norm += a[i] * a[i];
  norm = sqrt(norm);
  if (norm == 0.0) return;
  if (a[k] > 0.0) norm = -norm;
  const double head = a[k] - norm, scale = 1.0 / (norm * head); /* −2/‖v‖² */
  a[k] = head;
  for (int c = 0; c <= others; c++) {
    double *x = c < others ? a + (c + 1) * stride : b, sum = 0.0;
    for (long i = k; i < rows; i++) sum += a[i] * x[i];
    sum *= scale;
    for (long i = k; i < rows; i++) x[i] += sum * a[i];
  }
  a[k] = norm;
  for (long i = k + 1; i < rows; i++) a[i] = 0.0;
}

void ga__fit_solve(int rows, int cols, double *A, double *b, double *x)
{
  double most = 0.0;
  for (int k = 0; k < cols && k < rows; k++) {
    ga__fit_reflect(rows, k, A + (long)k * rows, cols - k - 1, rows, b);
    most = fmax(most, fabs(A[(long)k * rows + k]));
  }
  for (int k = cols - 1; k >= 0; k--) {
    double sum = k < rows ? -b[k] : 0.0;
    const double pivot = k < rows ? A[(long)k * rows + k] : 0.0;
    for (int c = k + 1; c < cols && k < rows; c++) sum -= A[(long)c * rows + k] * x[c];
    x[k] = fabs(pivot) > 1e-14 * most ? sum / pivot : 0.0;
  }
}

/* ---- The problem with bounds ---- */

typedef struct bounded {
  const ga_fit *f;
  const double *p;
  double lambda, *s;
  int held[GA__MOST_VARIED]; /* −1: at its lower bound, 1: at its upper one, 0: free */
} bounded;

static double damping(const bounded *b, int j)
{
  return sqrt(b->lambda) * (b->f->D[j] > 0.0 ? b->f->D[j] : 1.0);
}

static double bound_of(const bounded *b, int j, int side)
{
  const ga__varied *v = &b->f->pr.varied[j];
  return (side < 0 ? v->lower : v->upper) - b->p[j];
}

/* The minimum over what is free, without bounds: x[free], of the parameters at[free]. */
static int find_minimum(const bounded *b, int *at, double **x)
{
  const ga_fit *f = b->f;
  const int n = f->pr.n;
  double *A = f->small, *y = A + 2 * n * n;
  int free = 0;
  for (int j = 0; j < n; j++)
    if (!b->held[j]) at[free++] = j;
  const int rows = n + free;
  for (int i = 0; i < rows; i++) y[i] = i < n ? f->q[i] : 0.0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j && b->held[j]; i++) y[i] += f->R[j * n + i] * b->s[j];
  for (int k = 0; k < free; k++) {
    memset(A + k * rows, 0, (size_t)rows * sizeof *A);
    memcpy(A + k * rows, f->R + at[k] * n, (size_t)n * sizeof *A);
    A[k * rows + n + k] = damping(b, at[k]);
  }
  *x = y + 2 * n;
  ga__fit_solve(rows, free, A, y, *x);
  return free;
}

/* Goes towards the minimum over what is free, up to the first bound, whose parameter is held then. 1: the
 * minimum is reached. */
static int approach(bounded *b)
{
  int at[GA__MOST_VARIED], first = -1, side = 0;
  double *x, part = 1.0;
  const int free = find_minimum(b, at, &x);
  for (int k = 0; k < free; k++) {
    const double s = b->s[at[k]];
    const int towards = x[k] < s ? -1 : 1;
    const double bound = bound_of(b, at[k], towards);
    if (towards < 0 ? x[k] >= bound : x[k] <= bound) continue;
    const double until = fmax((bound - s) / (x[k] - s), 0.0);
    if (first < 0 || until < part) part = until, first = at[k], side = towards;
  }
  for (int k = 0; k < free; k++) b->s[at[k]] += part * (x[k] - b->s[at[k]]);
  if (first < 0) return 1;
  b->s[first] = bound_of(b, first, side);
  b->held[first] = side;
  return 0;
}

/* Sets that parameter free whose bound costs most; 0: there is none. */
static int set_free(bounded *b)
{
  const ga_fit *f = b->f;
  const int n = f->pr.n;
  double y[GA__MOST_VARIED], size = 0.0, most = ROUNDING;
  int which = -1;
  for (int i = 0; i < n; i++) {
    y[i] = f->q[i];
    for (int j = i; j < n; j++) y[i] += f->R[j * n + i] * b->s[j];
    size += f->q[i] * f->q[i];
  }
  for (int j = 0; j < n; j++) {
    const double d = damping(b, j);
    double g = d * d * b->s[j], column = d * d;
    for (int i = 0; i <= j; i++) {
      g += f->R[j * n + i] * y[i];
      column += f->R[j * n + i] * f->R[j * n + i];
    }
    const double by = b->held[j] * g / sqrt(fmax(column * size, 1e-300));
    if (b->held[j] && by > most && f->pr.varied[j].lower < f->pr.varied[j].upper) most = by, which = j;
  }
  if (which >= 0) b->held[which] = 0;
  return which >= 0;
}

double ga__fit_step(const ga_fit *f, const double *p, double lambda, double *s)
{
  const int n = f->pr.n;
  bounded b = {.f = f, .p = p, .lambda = lambda, .s = s};
  for (int j = 0; j < n; j++) {
    s[j] = 0.0;
    b.held[j] = p[j] <= f->pr.varied[j].lower ? -1 : p[j] >= f->pr.varied[j].upper ? 1 : 0;
  }
  int changes = 0;
  do
    while (!approach(&b) && ++changes < MOST_CHANGES) continue;
  while (++changes < MOST_CHANGES && set_free(&b));
  double before = 0.0, after = 0.0;
  for (int i = 0; i < n; i++) {
    double y = f->q[i];
    for (int j = i; j < n; j++) y += f->R[j * n + i] * s[j];
    before += f->q[i] * f->q[i];
    after += y * y;
  }
  return before - after;
}
