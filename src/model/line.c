#include "model/line.h"

#include <float.h>
#include <math.h>

#define ROUNDINGS 4.0 /* of a number: errors of its differences that count as none */

void ga__line_parameter(const ga__line *line, double value, ga__course *out)
{
  *out = (ga__course){.moves = 1, .slope = 1.0};
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) out->at[k] = value + line->by[k];
}

double ga__line_value(const ga__line *line, ga__line_values which, double value, const ga__course *course)
{
  if (!line || !course->moves || which == GA__AT_BASE) return value;
  if (which == GA__ON_LINE && course->bends) return value + line->by[line->k] * course->slope;
  return course->at[line->k];
}

/* 1: differences of the values do not give the derivative to their rounding. */
static int bends(const ga__line *line, double value, const ga__course *c)
{
  const double *f = c->at, change = (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / 12.0;
  double size = fabs(value);
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) size = fmax(size, fabs(f[k]));
  return fabs(change - line->by[2] * c->slope) > ROUNDINGS * DBL_EPSILON * size;
}

/* 1: the line leaves the sign of a number that keeps it, as a mass does. */
static int changes_sign(const ga__line *line, double value, const ga__course *c)
{
  int changes = 0;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++)
    changes |= c->at[k] * value > 0.0 && (value + line->by[k] * c->slope) * value <= 0.0;
  return changes;
}

static void values_at(double *x, int k, int n, const ga__course *course)
{
  for (int i = 0; i < n; i++) x[i] = course[i].at[k];
}

/* The derivative; NaN where the expression has none at x, or changes sides between the values of the line. */
static double slope_of(const ga_expr *e, int n, const double *x, const ga__course *course, double *room)
{
  double *rate = room, *there = room + n, out[2];
  unsigned side = 0;
  for (int i = 0; i < n; i++)
    if (isnan(rate[i] = course[i].slope)) return NAN;
  if (ga_expr_curve(e, x, rate, NULL, 1, out, NULL)) return NAN;
  if (!isfinite(out[1])) return NAN;
  if (!ga_expr_has_edges(e, -1)) return out[1];
  if (ga_expr_side(e, x, &side)) return NAN;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) {
    unsigned other = 0;
    values_at(there, k, n, course);
    if (ga_expr_side(e, there, &other) || other != side) return NAN;
  }
  return out[1];
}

ga_status ga__line_expression(const ga__line *line, const ga_expr *e, int n, const double *x,
                              const ga__course *course, double *room, double *value, ga__course *out,
                              ga_fault *fault)
{
  ga_status status = ga_expr_eval(e, x, value, fault);
  if (status) return status;
  int all = 1;
  *out = (ga__course){.moves = 1};
  for (int k = 0; k < GA_PARAMETER_VALUES && !status; k++) {
    const int own = k == line->k;
    values_at(room, k, n, course);
    const ga_status found = ga_expr_eval(e, room, &out->at[k], own ? fault : NULL);
    if (own) status = found;
    all &= !found;
  }
  if (status) return status;
  out->slope = all ? slope_of(e, n, x, course, room) : NAN;
  out->bends = bends(line, *value, out) && !changes_sign(line, *value, out);
  return GA_OK;
}
