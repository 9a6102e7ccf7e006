/* A small dense LU of the harness's own, so that the reference shares no linear algebra with the library. */
#ifndef GALPHA_EXAMPLES_DENSE_H
#define GALPHA_EXAMPLES_DENSE_H

/* Factors the n × n row-major A in place: rows are scaled by their largest entry (kept in scale[n]), pivots
 * are searched in the column (kept in pivot[n]). Returns 0, or 1 + the column without a pivot. */
int vf_lu_factor(double *A, int *pivot, double *scale, int n);
/* b := A⁻¹ b */
void vf_lu_solve(double *b, const double *LU, const int *pivot, const double *scale, int n);

#endif
