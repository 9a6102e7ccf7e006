/* Tables over one or two axes (table.c). */
#ifndef GALPHA_EXPR_TABLE_H
#define GALPHA_EXPR_TABLE_H

#include "expr/ops.h"

/* Points on an axis, and the extrapolation beyond them. */
typedef struct ga__axis {
  int n;
  double *x;
  ga_extrapolation before, after;
  int cubic; /* Hermite cubics; 0: linear */
} ga__axis;

/* Weights of the value and slope at both ends of the cell that holds x, for the interpolant and its first two
 * derivatives: y^(d) = w[d][0] y_i + w[d][1] y'_i + w[d][2] y_{i+1} + w[d][3] y'_{i+1}. Returns i, or -1
 * outside of an axis that does not extrapolate. */
int ga__axis_weights(double w[3][4], const ga__axis *axis, double x);
/* Slopes for cubic interpolation at x[0..n-1] of y[0], y[stride], ...; work has n places. */
void ga__slopes_monotone(double *slope, const double *x, const double *y, int n);
void ga__slopes_spline(double *slope, const double *x, const double *y, int n, int stride, double *work);
ga_status ga__check_points(ga_context *ctx, const char *what, const char *name, int n, const double *x,
                           int ascending);
/* Refuses a choice that is not in 0..last, of the enum `choices`. */
ga_status ga__check_choice(ga_context *ctx, const char *what, const char *option, int choice,
                           const char *choices, int last);

typedef struct ga__table {
  ga__axis axis;
  double *y, *slope;
  double *area;  /* [n] integral from the first point to each point */
  ga__range all; /* range of its values between its first and last point */
} ga__table;

/* 1: one of the axis's points lies in (from, to]. */
int ga__axis_meets(const ga__axis *axis, double from, double to);
/* The cell i with x[i] <= x < x[i+1]; the first and the last cell extend to infinity. */
int ga__axis_cell(const ga__axis *axis, double x);
/* A number that changes where x passes a corner of the interpolant: the cell, or the side outside. */
int ga__axis_side(const ga__axis *axis, double x);
double ga__table_value(const ga__table *table, int i,
                       const double w[4]); /* value in cell i, by its weights */
ga__range ga__table_range(const ga__table *table, double from, double to);
ga__range ga__table_slope(const ga__table *table, double from, double to); /* range of its derivative */
double ga__table_area(const ga__table *table,
                      double x); /* integral from its first point to x; NaN: x is outside */
void ga__table2d_side(const ga_table2d *table, double x, double y, int side[2]);
int ga__table2d_meets(const ga_table2d *table, const ga__range *x, const ga__range *y);
ga__range ga__table2d_range(const ga_table2d *table, const ga__range *x, const ga__range *y);

ga_status ga__table_create(ga_context *ctx, const ga_table_opts *opts, ga__table *table);
void ga__table_destroy(ga_context *ctx, ga__table *table);
int ga__table_same(const ga__table *a, const ga__table *b); /* same.h */

#endif
