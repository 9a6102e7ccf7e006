#include "dense.h"

#include <math.h>

static void swap(double *a, double *b)
{
  const double c = *a;
  *a = *b;
  *b = c;
}

/* Divides every row by its largest entry, so that pivots of equations in different units compare. */
static int scale_rows(double *A, double *scale, int n)
{
  for (int i = 0; i < n; i++) {
    double largest = 0;
    for (int j = 0; j < n; j++) largest = fmax(largest, fabs(A[i * n + j]));
    if (!(largest > 0) || !isfinite(largest)) return 1 + i;
    scale[i] = 1 / largest;
    for (int j = 0; j < n; j++) A[i * n + j] *= scale[i];
  }
  return 0;
}

int vf_lu_factor(double *A, int *pivot, double *scale, int n)
{
  const int bad = scale_rows(A, scale, n);
  if (bad) return bad;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    if (!(fabs(A[p * n + k]) > 0)) return 1 + k;
    pivot[k] = p;
    if (p != k)
      for (int j = 0; j < n; j++) swap(&A[k * n + j], &A[p * n + j]);
    for (int i = k + 1; i < n; i++) {
      const double l = A[i * n + k] /= A[k * n + k];
      if (l == 0) continue;
      for (int j = k + 1; j < n; j++) A[i * n + j] -= l * A[k * n + j];
    }
  }
  return 0;
}

void vf_lu_solve(double *b, const double *LU, const int *pivot, const double *scale, int n)
{
  for (int i = 0; i < n; i++) b[i] *= scale[i];
  for (int k = 0; k < n; k++)
    if (pivot[k] != k) swap(&b[k], &b[pivot[k]]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) b[i] -= LU[i * n + j] * b[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) b[i] -= LU[i * n + j] * b[j];
    b[i] /= LU[i * n + i];
  }
}
