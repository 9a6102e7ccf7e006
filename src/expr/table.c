/* Tables: interpolation on one axis, and from it tables of one and of two variables. */
#include "base/base_impl.h"
#include "expr/fault.h"
#include "expr/range.h"
#include "expr/table.h"
#include "expr/same.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- One axis ---- */

int ga__axis_cell(const ga__axis *axis, double x)
{
  int low = 0, high = axis->n - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (axis->x[middle] <= x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

int ga__axis_side(const ga__axis *axis, double x)
{
  if (x < axis->x[0]) return -1;
  if (x > axis->x[axis->n - 1]) return axis->n;
  return axis->cubic ? 0 : ga__axis_cell(axis, x);
}

/* Cubic Hermite with s = (x-x_i)/h: (1+2s)(1-s)² y_i + h s(1-s)² y'_i + s²(3-2s) y_i+1 - h s²(1-s) y'_i+1. */
static void cubic_weights(double w[3][4], double s, double h)
{
  const double r = 1 - s;
  const double value[4] = {(1 + 2 * s) * r * r, h * s * r * r, s * s * (3 - 2 * s), -h * s * s * r};
  const double first[4] = {-6 * s * r / h, r * (1 - 3 * s), 6 * s * r / h, s * (3 * s - 2)};
  const double second[4] = {(12 * s - 6) / (h * h), (6 * s - 4) / h, (6 - 12 * s) / (h * h), (6 * s - 2) / h};
  memcpy(w[0], value, sizeof value);
  memcpy(w[1], first, sizeof first);
  memcpy(w[2], second, sizeof second);
}

static void linear_weights(double w[3][4], double s, double h)
{
  memset(w, 0, 3 * sizeof w[0]);
  w[0][0] = 1 - s;
  w[0][2] = s;
  w[1][0] = -1 / h;
  w[1][2] = 1 / h;
}

int ga__axis_weights(double w[3][4], const ga__axis *axis, double x)
{
  const double first = axis->x[0], last = axis->x[axis->n - 1];
  const int cell = ga__axis_cell(axis, x);
  const double h = axis->x[cell + 1] - axis->x[cell];
  const double inside = fmin(fmax(x, first), last), s = (inside - axis->x[cell]) / h;
  if (axis->cubic) {
    cubic_weights(w, s, h);
  } else {
    linear_weights(w, s, h);
  }
  if (x >= first && x <= last) return cell;

  const ga_extrapolation how = x < first ? axis->before : axis->after;
  if (how == GA_EXTRAPOLATE_ERROR) return -1;
  for (int c = 0; c < 4; c++) {
    if (how == GA_EXTRAPOLATE_HOLD) w[1][c] = 0;
    w[0][c] += (x - inside) * w[1][c];
    w[2][c] = 0;
  }
  return cell;
}

int ga__axis_meets(const ga__axis *axis, double from, double to)
{
  if (!(from < axis->x[axis->n - 1])) return 0;
  const int next = from < axis->x[0] ? 0 : ga__axis_cell(axis, from) + 1;
  return axis->x[next] <= to;
}

/* Derivative at a of the parabola through three points with slopes d between them over h and h_next, a being
 * the end of the first interval that is away from the second. */
static double end_slope(double h, double h_next, double d, double d_next)
{
  return d + h * (d - d_next) / (h + h_next);
}

/* Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980): slopes of parabolas through neighbours, 0 at
 * extrema; then (α, β), slopes over the chord's slope, are limited to the circle of radius 3. */
void ga__slopes_monotone(double *slope, const double *x, const double *y, int n)
{
  double h = x[1] - x[0], d = (y[1] - y[0]) / h;
  slope[0] = slope[n - 1] = d;
  for (int i = 1; i < n - 1; i++) {
    const double h1 = x[i + 1] - x[i], d1 = (y[i + 1] - y[i]) / h1;
    slope[i] = d * d1 > 0 ? (h1 * d + h * d1) / (h + h1) : 0;
    if (i == 1) slope[0] = end_slope(h, h1, d, d1);
    if (i == n - 2) slope[n - 1] = end_slope(h1, h, d1, d);
    h = h1;
    d = d1;
  }
  for (int i = 0; i < n - 1; i++) {
    d = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    for (int k = i; k <= i + 1; k++) {
      if (slope[k] * d <= 0) slope[k] = 0;
    }
    const double size = hypot(slope[i], slope[i + 1]), most = 3 * fabs(d);
    if (size > most) {
      slope[i] *= most / size;
      slope[i + 1] *= most / size;
    }
  }
}

/* Slopes m of the C² cubic spline, from continuity of the second derivative at the inner points,
 *   h_i m_i-1 + 2 (h_i-1 + h_i) m_i + h_i-1 m_i+1 = 3 (h_i d_i-1 + h_i-1 d_i),
 * and of the third at the second and last but one (de Boor, "not a knot"). h are intervals, d chords' slopes;
 * slope is the right side while eliminating, work the upper diagonal. */
void ga__slopes_spline(double *slope, const double *x, const double *y, int n, int stride, double *work)
{
#define H(i) (x[(i) + 1] - x[i])
#define CHORD(i) ((y[((i) + 1) * stride] - y[(i)*stride]) / H(i))
  if (n == 2) {
    slope[0] = slope[1] = CHORD(0);
    return;
  }
  if (n == 3) {
    slope[0] = end_slope(H(0), H(1), CHORD(0), CHORD(1));
    slope[1] = (H(1) * CHORD(0) + H(0) * CHORD(1)) / (H(0) + H(1));
    slope[2] = end_slope(H(1), H(0), CHORD(1), CHORD(0));
    return;
  }
  const double w = H(0) + H(1);
  work[0] = w / H(1);
  slope[0] = ((H(0) + 2 * w) * H(1) * CHORD(0) + H(0) * H(0) * CHORD(1)) / w / H(1);
  for (int i = 1; i < n - 1; i++) {
    const double left = H(i - 1), right = H(i), pivot = 2 * (left + right) - right * work[i - 1];
    work[i] = left / pivot;
    slope[i] = (3 * (right * CHORD(i - 1) + left * CHORD(i)) - right * slope[i - 1]) / pivot;
  }
  const double a = H(n - 2), b = H(n - 3), v = a + b;
  const double right_side = ((a + 2 * v) * b * CHORD(n - 2) + a * a * CHORD(n - 3)) / v;
  slope[n - 1] = (right_side - v * slope[n - 2]) / (b - v * work[n - 2]);
  for (int i = n - 2; i >= 0; i--) slope[i] -= work[i] * slope[i + 1];
#undef H
#undef CHORD
}

/* ---- Checks ---- */

ga_status ga__check_points(ga_context *ctx, const char *what, const char *name, int n, const double *x,
                           int ascending)
{
  if (!x)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
                      &(ga__facts){.kind = what, .field = name, GA__NUMBERS({n, NULL})});
  for (int i = 0; i < n; i++) {
    const int finite = isfinite(x[i]);
    if (finite && !(ascending && i > 0 && !(x[i] > x[i - 1]))) continue;
    return ga__refuse(ctx, GA_ERR_ARGUMENT, finite ? GA_REASON_NOT_ASCENDING : GA_REASON_NOT_FINITE,
                      &(ga__facts){.kind = what,
                                   .field = name,
                                   .item = i + 1,
                                   GA__NUMBERS({x[i], NULL}, {i > 0 ? x[i - 1] : 0, NULL})});
  }
  return GA_OK;
}

ga_status ga__check_choice(ga_context *ctx, const char *what, const char *option, int choice,
                           const char *choices, int last)
{
  return choice >= 0 && choice <= last ? GA_OK : ga__refuse_choice(ctx, what, option, choice, choices, last);
}

static ga_status check_count(ga_context *ctx, const char *what, const char *name, int n)
{
  return n >= 2 ? GA_OK : ga__refuse_number(ctx, what, name, n, "at least 2");
}

static ga_status check_interpolation(ga_context *ctx, const char *what, ga_interpolation choice)
{
  return ga__check_choice(ctx, what, "interpolation", (int)choice, "ga_interpolation", GA_INTERPOLATE_SPLINE);
}

static ga_status check_extrapolation(ga_context *ctx, const char *what, const char *side,
                                     ga_extrapolation choice)
{
  return ga__check_choice(ctx, what, side, (int)choice, "ga_extrapolation", GA_EXTRAPOLATE_ERROR);
}

/* ---- Tables of one variable ---- */

ga_table_opts ga_table_defaults(void)
{
  return (ga_table_opts){.interpolation = GA_INTERPOLATE_LINEAR, .before = GA_EXTRAPOLATE_HOLD};
}

static ga_status check_table(ga_context *ctx, const ga_table_opts *opts)
{
  static const char name[] = "table";
  ga_status status = check_count(ctx, name, "n", opts->n);
  if (!status) status = ga__check_points(ctx, name, "x", opts->n, opts->x, 1);
  if (!status) status = ga__check_points(ctx, name, "y", opts->n, opts->y, 0);
  if (!status) status = check_interpolation(ctx, name, opts->interpolation);
  if (!status) status = check_extrapolation(ctx, name, "before", opts->before);
  if (!status) status = check_extrapolation(ctx, name, "after", opts->after);
  return status;
}

/* 1: cell i is constant, and its value is returned exactly: with weights 1 − s and s, a value of 1 could
 * come out below 1, on the other side of a jump. */
static int is_flat(const ga__table *table, int i)
{
  return table->y[i] == table->y[i + 1] && table->slope[i] == 0 && table->slope[i + 1] == 0;
}

double ga__table_value(const ga__table *table, int i, const double w[4])
{
  if (is_flat(table, i)) return table->y[i];
  return w[0] * table->y[i] + w[1] * table->slope[i] + w[2] * table->y[i + 1] + w[3] * table->slope[i + 1];
}

/* Bound of the rounding error of a value in cell i, from its largest terms. */
static double cell_rounding(const ga__table *table, int i)
{
  const double h = table->axis.x[i + 1] - table->axis.x[i];
  const double terms =
      fabs(table->y[i]) + fabs(table->y[i + 1]) + h * (fabs(table->slope[i]) + fabs(table->slope[i + 1]));
  return is_flat(table, i) ? 0 : 16 * DBL_EPSILON * terms;
}

/* Value and slope of cell i at x within it. */
static void cell_value(double out[2], const ga__table *table, int i, double x)
{
  const double *knot = table->axis.x, h = knot[i + 1] - knot[i];
  const double end[4] = {table->y[i], table->slope[i], table->y[i + 1], table->slope[i + 1]};
  double w[3][4];
  (table->axis.cubic ? cubic_weights : linear_weights)(w, (x - knot[i]) / h, h);
  out[0] = ga__table_value(table, i, w[0]);
  out[1] = w[1][0] * end[0] + w[1][1] * end[1] + w[1][2] * end[2] + w[1][3] * end[3];
}

/* Values of the cells first..last from begin to end. A cubic stays within the four points of its Bézier
 * polygon, which are its values at both ends and these plus and minus a third of the slopes. */
static ga__range cells_range(const ga__table *table, int first, int last, double begin, double end)
{
  const double *x = table->axis.x;
  ga__range out = {INFINITY, -INFINITY};
  for (int i = first; i <= last; i++) {
    const double a = fmin(fmax(begin, x[i]), x[i + 1]), b = fmax(fmin(end, x[i + 1]), a);
    double left[2], right[2];
    cell_value(left, table, i, a);
    cell_value(right, table, i, b);
    const double third = table->axis.cubic ? (b - a) / 3 : 0;
    const double point[4] = {left[0], left[0] + third * left[1], right[0] - third * right[1], right[0]};
    const double rounding = cell_rounding(table, i);
    for (int k = 0; k < 4; k++)
      out = ga__range_join(out, (ga__range){point[k] - rounding, point[k] + rounding});
  }
  return out;
}

/* ∫ over the first part s of cell i: of Hermite's cubics, or of the straight line
 * h (s − s²/2) y_i + h s²/2 y_i+1. */
static double cell_area(const ga__table *table, int i, double s)
{
  const double h = table->axis.x[i + 1] - table->axis.x[i], s2 = s * s, s3 = s2 * s, s4 = s2 * s2;
  const double *y = table->y + i, *slope = table->slope + i;
  if (!table->axis.cubic) return h * ((s - 0.5 * s2) * y[0] + 0.5 * s2 * y[1]);
  return h * ((s - s3 + 0.5 * s4) * y[0] + (s3 - 0.5 * s4) * y[1]) +
         h * h * ((0.5 * s2 - 2 * s3 / 3 + 0.25 * s4) * slope[0] + (0.25 * s4 - s3 / 3) * slope[1]);
}

ga_status ga__table_create(ga_context *ctx, const ga_table_opts *opts, ga__table *table)
{
  *table = (ga__table){0};
  ga_status status = check_table(ctx, opts);
  if (status) return status;
  const size_t n = (size_t)opts->n;
  double *block = ga__alloc(ctx, 4 * n, sizeof *block);
  double *work = ga__alloc(ctx, n, sizeof *work);
  if (!block || !work) {
    ga__free(ctx, block);
    ga__free(ctx, work);
    return ga__no_memory(ctx, "a table");
  }
  *table =
      (ga__table){{opts->n, block, opts->before, opts->after, opts->interpolation != GA_INTERPOLATE_LINEAR},
                  block + n,
                  block + 2 * n,
                  block + 3 * n,
                  {0, 0}};
  memcpy(table->axis.x, opts->x, n * sizeof *block);
  memcpy(table->y, opts->y, n * sizeof *block);
  if (opts->interpolation == GA_INTERPOLATE_MONOTONE) {
    ga__slopes_monotone(table->slope, opts->x, opts->y, opts->n);
  } else if (opts->interpolation == GA_INTERPOLATE_SPLINE) {
    ga__slopes_spline(table->slope, opts->x, opts->y, opts->n, 1, work);
  }
  table->all = cells_range(table, 0, opts->n - 2, opts->x[0], opts->x[opts->n - 1]);
  table->area[0] = 0;
  for (int i = 0; i + 1 < opts->n; i++) table->area[i + 1] = table->area[i] + cell_area(table, i, 1);
  ga__free(ctx, work);
  return GA_OK;
}

enum { MOST_CELLS = 32 }; /* for more cells the range of the whole table is used, and slopes are not known */

/* Range of values from `from` to `to`, both before or behind all points, where a table is constant, linear
 * or undefined. */
static ga__range outside_range(const ga__table *table, double from, double to)
{
  ga__range out = {INFINITY, -INFINITY};
  for (int k = 0; k < 2; k++) {
    double w[3][4];
    const int i = ga__axis_weights(w, &table->axis, k ? to : from);
    if (i < 0) return (ga__range){-INFINITY, INFINITY};
    const double y = ga__table_value(table, i, w[0]), h = table->axis.x[i + 1] - table->axis.x[i];
    const double far = fabs(k ? to - table->axis.x[i] : from - table->axis.x[i]) / h; /* distance in cells */
    const int straight = w[1][0] != 0 || w[1][1] != 0 || w[1][2] != 0 || w[1][3] != 0;
    const double rounding = straight ? (1 + far) * cell_rounding(table, i) : 0;
    out = ga__range_join(out, (ga__range){y - rounding, y + rounding});
  }
  return out;
}

ga__range ga__table_range(const ga__table *table, double from, double to)
{
  const ga__axis *axis = &table->axis;
  const double first = axis->x[0], last = axis->x[axis->n - 1];
  if (to <= first || from >= last) return outside_range(table, from, to);
  const double begin = fmax(from, first), end = fmin(to, last);
  const int one = ga__axis_cell(axis, begin), other = ga__axis_cell(axis, end);
  ga__range out = other - one > MOST_CELLS ? table->all : cells_range(table, one, other, begin, end);
  if (from < first && axis->before == GA_EXTRAPOLATE_LINEAR)
    out = ga__range_join(out, outside_range(table, from, from));
  if (to > last && axis->after == GA_EXTRAPOLATE_LINEAR)
    out = ga__range_join(out, outside_range(table, to, to));
  return out;
}

/* The derivative of a cubic is a parabola, which stays within the three points of its own polygon: the slopes
 * at both ends, and three times the chord's less these. */
static ga__range cell_slope(const ga__table *table, int i, double a, double b)
{
  double left[2], right[2];
  cell_value(left, table, i, a);
  cell_value(right, table, i, b);
  const double of_cell = cell_rounding(table, i) / (table->axis.x[i + 1] - table->axis.x[i]);
  const ga__range ends = ga__range_join((ga__range){left[1], left[1]}, (ga__range){right[1], right[1]});
  const ga__range out = {ends.lo - of_cell, ends.hi + of_cell};
  if (!table->axis.cubic || !(b > a)) return out;
  const double chord = 3 * (right[0] - left[0]) / (b - a), middle = chord - left[1] - right[1];
  const double rounding = 3 * cell_rounding(table, i) / (b - a);
  return ga__range_join(out, (ga__range){middle - rounding, middle + rounding});
}

ga__range ga__table_slope(const ga__table *table, double from, double to)
{
  const ga__range whole = {-INFINITY, INFINITY}, zero = {0, 0};
  const ga__axis *axis = &table->axis;
  const double *x = axis->x, first = x[0], last = x[axis->n - 1];
  ga__range out = {INFINITY, -INFINITY};
  if (from < first && axis->before == GA_EXTRAPOLATE_ERROR) return whole;
  if (to > last && axis->after == GA_EXTRAPOLATE_ERROR) return whole;
  if ((from < first && axis->before == GA_EXTRAPOLATE_HOLD) ||
      (to > last && axis->after == GA_EXTRAPOLATE_HOLD))
    out = zero;
  const double begin = fmin(fmax(from, first), last), end = fmax(fmin(to, last), first);
  const int one = ga__axis_cell(axis, begin), other = ga__axis_cell(axis, end);
  if (other - one > MOST_CELLS) return whole;
  for (int i = one; i <= other; i++) {
    const double a = fmin(fmax(begin, x[i]), x[i + 1]), b = fmax(fmin(end, x[i + 1]), a);
    out = ga__range_join(out, cell_slope(table, i, a, b));
  }
  return out;
}

/* Beyond its ends a table is constant or linear, with the value or also the slope of the end. */
double ga__table_area(const ga__table *table, double x)
{
  const ga__axis *axis = &table->axis;
  const double first = axis->x[0], last = axis->x[axis->n - 1], inside = fmin(fmax(x, first), last);
  const int cell = ga__axis_cell(axis, inside);
  double area = table->area[cell] +
                cell_area(table, cell, (inside - axis->x[cell]) / (axis->x[cell + 1] - axis->x[cell]));
  if (x == inside) return area;
  const ga_extrapolation how = x < first ? axis->before : axis->after;
  double y[2];
  cell_value(y, table, cell, inside);
  if (how == GA_EXTRAPOLATE_ERROR) return NAN;
  if (how == GA_EXTRAPOLATE_LINEAR) area += 0.5 * (x - inside) * (x - inside) * y[1];
  return area + (x - inside) * y[0];
}

void ga__table_destroy(ga_context *ctx, ga__table *table)
{
  ga__free(ctx, table->axis.x);
  *table = (ga__table){0};
}

static int axis_same(const ga__axis *a, const ga__axis *b)
{
  return a->n == b->n && a->before == b->before && a->after == b->after && a->cubic == b->cubic &&
         ga__numbers_same(a->x, b->x, (size_t)a->n);
}

int ga__table_same(const ga__table *a, const ga__table *b)
{
  const size_t n = (size_t)a->axis.n;
  return axis_same(&a->axis, &b->axis) && ga__numbers_same(a->y, b->y, n) &&
         ga__numbers_same(a->slope, b->slope, n);
}

/* ---- Tables of two variables ---- */

static const char what[] = "2-D table"; /* in messages */
enum { NODE = 4 };                      /* numbers at a point: z, z_y, z_x, z_xy */

struct ga_table2d {
  ga_context *ctx;
  ga__axis x, y;
  double *node; /* [nx][ny][NODE] */
};

ga_table2d_opts ga_table2d_defaults(void)
{
  return (ga_table2d_opts){.interpolation = GA_INTERPOLATE_LINEAR, .outside = GA_EXTRAPOLATE_HOLD};
}

static ga_status check_table2d(ga_context *ctx, const ga_table2d_opts *opts)
{
  enum { MOST = 2147483647 }; /* limit of the numbers of all nodes: indices are int */
  ga_status status = check_count(ctx, what, "nx", opts->nx);
  if (!status) status = check_count(ctx, what, "ny", opts->ny);
  if (!status && opts->nx > MOST / NODE / opts->ny) {
    status = ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                        &(ga__facts){.kind = what,
                                     .field = "points",
                                     GA__NUMBERS({(double)opts->nx * opts->ny, NULL}, {MOST / NODE, NULL})});
  }
  if (!status) status = ga__check_points(ctx, what, "x", opts->nx, opts->x, 1);
  if (!status) status = ga__check_points(ctx, what, "y", opts->ny, opts->y, 1);
  if (!status) status = ga__check_points(ctx, what, "z", opts->nx * opts->ny, opts->z, 0);
  if (!status) status = check_interpolation(ctx, what, opts->interpolation);
  if (!status) status = check_extrapolation(ctx, what, "outside", opts->outside);
  if (!status && opts->interpolation == GA_INTERPOLATE_MONOTONE) {
    status = ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_SUPPORTED,
                        &(ga__facts){.kind = what,
                                     .field = "interpolation",
                                     .name = "monotone",
                                     .other = "tables of two variables",
                                     .expected = "spline"});
  }
  return status;
}

/* Slopes along one axis of component `from` of the nodes, into component `to`, line by line. */
static void fill_slopes(ga_table2d *t, int along_x, int from, int to, double *work)
{
  const ga__axis *axis = along_x ? &t->x : &t->y;
  const int lines = along_x ? t->y.n : t->x.n;
  const int step = NODE * (along_x ? t->y.n : 1), between = NODE * (along_x ? 1 : t->y.n);
  double *slope = work + axis->n;
  for (int k = 0; k < lines; k++) {
    double *line = t->node + k * between;
    ga__slopes_spline(slope, axis->x, line + from, axis->n, step, work);
    for (int i = 0; i < axis->n; i++) line[i * step + to] = slope[i];
  }
}

static void fill_table2d(ga_table2d *t, const ga_table2d_opts *opts, double *work)
{
  memcpy(t->x.x, opts->x, (size_t)opts->nx * sizeof *t->x.x);
  memcpy(t->y.x, opts->y, (size_t)opts->ny * sizeof *t->y.x);
  for (int i = 0; i < opts->nx * opts->ny; i++) t->node[i * NODE] = opts->z[i];
  if (!t->x.cubic) return;
  fill_slopes(t, 0, 0, 1, work);
  fill_slopes(t, 1, 0, 2, work);
  fill_slopes(t, 1, 1, 3,
              work); /* z_xy from z_y: spline slopes are linear in the data, so the order is free */
}

ga_status ga_table2d_create(ga_context *ctx, const ga_table2d_opts *opts, ga_table2d **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !opts) return ga__refuse_null(ctx, __func__, opts ? "out" : "opts");
  ga_status status = check_table2d(ctx, opts);
  if (status) return status;
  const size_t nx = (size_t)opts->nx, ny = (size_t)opts->ny, longest = nx > ny ? nx : ny;
  ga_table2d *t = ga__alloc(ctx, 1, sizeof *t);
  double *block = ga__alloc(ctx, nx + ny + NODE * nx * ny, sizeof *block);
  double *work = ga__alloc(ctx, 2 * longest, sizeof *work);
  if (!t || !block || !work) {
    ga__free(ctx, t);
    ga__free(ctx, block);
    status = ga__no_memory(ctx, "a 2-D table");
  } else {
    const int cubic = opts->interpolation == GA_INTERPOLATE_SPLINE;
    *t = (ga_table2d){ctx,
                      {opts->nx, block, opts->outside, opts->outside, cubic},
                      {opts->ny, block + nx, opts->outside, opts->outside, cubic},
                      block + nx + ny};
    fill_table2d(t, opts, work);
    *out = t;
  }
  ga__free(ctx, work);
  return status;
}

void ga_table2d_destroy(ga_table2d **table)
{
  if (!table || !*table) return;
  ga_context *ctx = (*table)->ctx;
  ga__free(ctx, (*table)->x.x);
  ga__free(ctx, *table);
  *table = NULL;
}

/* Weights of an axis at x, with its fault. */
static ga_status weigh(double w[3][4], int *cell, const ga__axis *axis, double x, ga_fault *fault)
{
  if (!isfinite(x)) return ga__fault_input(fault, "argument of the 2-D table", x);
  *cell = ga__axis_weights(w, axis, x);
  return *cell >= 0 ? GA_OK : ga__fault_range(fault, what, x, axis->x[0], axis->x[axis->n - 1]);
}

/* 1: the cell is constant, and its value is returned exactly, as in tables of one variable. */
static int is_flat2d(const ga_table2d *t, int i, int j)
{
  const double *first = t->node + (i * t->y.n + j) * NODE;
  for (int corner = 0; corner < 4; corner++) {
    const double *node = t->node + ((i + corner / 2) * t->y.n + j + corner % 2) * NODE;
    if (node[0] != first[0] || node[1] != 0 || node[2] != 0 || node[3] != 0) return 0;
  }
  return 1;
}

/* Sum of the absolute values of the terms of a value in the cell at x and y. */
static double size_of_terms(const ga_table2d *t, double x, double y)
{
  const int i = ga__axis_cell(&t->x, x), j = ga__axis_cell(&t->y, y);
  const double *kx = t->x.x + i, *ky = t->y.x + j, hx = kx[1] - kx[0], hy = ky[1] - ky[0];
  const double far_x = 1 + fabs(x - kx[0]) / hx, far_y = 1 + fabs(y - ky[0]) / hy;
  double sum = 0;
  if (is_flat2d(t, i, j)) return 0;
  for (int corner = 0; corner < 4; corner++) {
    const double *node = t->node + ((i + corner / 2) * t->y.n + j + corner % 2) * NODE;
    sum += fabs(node[0]) + hy * fabs(node[1]) + hx * fabs(node[2]) + hx * hy * fabs(node[3]);
  }
  return far_x * far_y * sum;
}

/* z = Σ w_a(x) w_b(y) Z_ab over value and slope at both ends of the cell in x (a) and in y (b); derivatives
 * by those of the weights. */
ga_status ga_table2d_eval(const ga_table2d *t, double x, double y, int order, double *out, ga_fault *fault)
{
  if (!t || !out) return GA_ERR_ARGUMENT;
  static const struct {
    int dx, dy;
  } wanted[6] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
  static const int n_wanted[3] = {1, 3, 6};
  double wx[3][4], wy[3][4];
  int i = 0, j = 0;
  if (fault) *fault = (ga_fault){0};
  if (order < 0 || order > 2) return GA_ERR_ARGUMENT;
  ga_status status = weigh(wx, &i, &t->x, x, fault);
  if (!status) status = weigh(wy, &j, &t->y, y, fault);
  if (status) return status;
  for (int d = 0; d < n_wanted[order]; d++) {
    double sum = 0;
    if (d == 0 && is_flat2d(t, i, j)) {
      out[0] = t->node[(i * t->y.n + j) * NODE];
      continue;
    }
    for (int a = 0; a < 4; a++) {
      const double *row = t->node + ((i + a / 2) * t->y.n + j) * NODE + 2 * (a % 2);
      for (int b = 0; b < 4; b++)
        sum += wx[wanted[d].dx][a] * wy[wanted[d].dy][b] * row[b / 2 * NODE + b % 2];
    }
    if (!isfinite(sum)) return ga__fault_overflow(fault, what, x, d);
    out[d] = sum;
  }
  return GA_OK;
}

void ga__table2d_side(const ga_table2d *table, double x, double y, int side[2])
{
  side[0] = ga__axis_side(&table->x, x);
  side[1] = ga__axis_side(&table->y, y);
}

int ga__table2d_meets(const ga_table2d *table, const ga__range *x, const ga__range *y)
{
  return (x->lo < x->hi && ga__axis_meets(&table->x, x->lo, x->hi)) ||
         (y->lo < y->hi && ga__axis_meets(&table->y, y->lo, y->hi));
}

/* ---- Ranges of tables of two variables ---- */

enum { MOST_LINES = 32 }; /* pieces that a range is divided into along one axis */

/* The ends of the range, limited to the table, and the axis's points between them. Returns their number; 0:
 * too many, or outside the table. */
static int lines_within(const ga__axis *axis, const ga__range *r, double *at)
{
  const double first = axis->x[0], last = axis->x[axis->n - 1];
  const int straight = axis->before == GA_EXTRAPOLATE_LINEAR;
  const double from = straight ? r->lo : fmin(fmax(r->lo, first), last);
  const double to = straight ? r->hi : fmin(fmax(r->hi, first), last);
  int n = 0, next = from < first ? 0 : ga__axis_cell(axis, from) + 1;
  if (!isfinite(from) || !isfinite(to)) return 0;
  at[n++] = from;
  for (; next < axis->n && axis->x[next] < to; next++) {
    if (axis->x[next] == from) continue;
    if (n == MOST_LINES) return 0;
    at[n++] = axis->x[next];
  }
  at[n++] = to;
  return n;
}

/* One piece, x[0] to x[1] and y[0] to y[1]: the surface is within its Bézier net; for linear interpolation
 * within its corners. */
static int join_piece(ga__range *out, const ga_table2d *t, const double *x, const double *y)
{
  const double third_x = t->x.cubic ? (x[1] - x[0]) / 3 : 0, third_y = t->y.cubic ? (y[1] - y[0]) / 3 : 0;
  for (int corner = 0; corner < 4; corner++) {
    const double dx = corner & 1 ? -third_x : third_x, dy = corner & 2 ? -third_y : third_y;
    double z[6];
    if (ga_table2d_eval(t, x[corner & 1], y[corner >> 1], 2, z, NULL)) return 0;
    const double point[4] = {z[0], z[0] + dx * z[1], z[0] + dy * z[2],
                             z[0] + dx * z[1] + dy * z[2] + dx * dy * z[4]};
    const double rounding = 16 * DBL_EPSILON * size_of_terms(t, x[corner & 1], y[corner >> 1]);
    for (int k = 0; k < 4; k++)
      *out = ga__range_join(*out, (ga__range){point[k] - rounding, point[k] + rounding});
  }
  return 1;
}

ga__range ga__table2d_range(const ga_table2d *table, const ga__range *x, const ga__range *y)
{
  const ga__range whole = {-INFINITY, INFINITY};
  ga__range out = {INFINITY, -INFINITY};
  double at_x[MOST_LINES + 1], at_y[MOST_LINES + 1];
  const int nx = lines_within(&table->x, x, at_x), ny = lines_within(&table->y, y, at_y);
  if (nx == 0 || ny == 0) return whole;
  for (int i = 0; i + 1 < nx; i++)
    for (int j = 0; j + 1 < ny; j++)
      if (!join_piece(&out, table, at_x + i, at_y + j)) return whole;
  return out;
}

int ga__table2d_same(const ga_table2d *a, const ga_table2d *b)
{
  return axis_same(&a->x, &b->x) && axis_same(&a->y, &b->y) &&
         ga__numbers_same(a->node, b->node, (size_t)a->x.n * (size_t)a->y.n * NODE);
}
