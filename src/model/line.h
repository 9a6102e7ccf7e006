/* Models along a straight line through one of them, for derivatives by a parameter.
 *
 * A model at other values of a parameter p has numbers f(p + s), by which the equations are differenced.
 * Where f bends so much within s that this costs accuracy, as 10^p does, it is read as f(p) + s f'(p)
 * instead, with the exact derivative f' of its expression. The equations have the same derivative, and depend
 * on s as they do on f.
 *
 * All other numbers stay on the curve, and so do those that say where parts are: what fits exactly at every
 * p, as loops with redundant constraints or forces in balance, would fit to first order only. */
#ifndef GALPHA_MODEL_LINE_H
#define GALPHA_MODEL_LINE_H

#include "galpha/model.h"

typedef struct ga__line {
  const char *parameter;
  double by[GA_PARAMETER_VALUES]; /* s; changes of the parameter */
  int k;                          /* the model that is read has s = by[k] */
} ga__line;

/* How a number depends on the parameter. */
typedef struct ga__course {
  int moves;                      /* 0: not at all */
  int bends;                      /* 1: the line counts, not the values */
  double slope;                   /* NaN: it has none, or a corner or jump nearby */
  double at[GA_PARAMETER_VALUES]; /* values where the parameter itself has those of the line */
} ga__course;

/* Of the parameter itself. */
void ga__line_parameter(const ga__line *line, double value, ga__course *out);
/* Of an expression whose n variables have the values and the courses given. *value is its value. room[2 n].
 * Fails where the expression has no value, at those given or at those of model k. */
ga_status ga__line_expression(const ga__line *line, const ga_expr *e, int n, const double *x,
                              const ga__course *course, double *room, double *value, ga__course *out,
                              ga_fault *fault);
/* Which value of a number the model that is read gets. */
typedef enum ga__line_values {
  GA__ON_LINE = 0,     /* that on the line, where the number bends; else that on the curve */
  GA__PLACES_ON_CURVE, /* as that, but lengths, angles and velocities on the curve */
  GA__ON_CURVE,        /* that where the parameter has its value of the model */
  GA__AT_BASE          /* that of the model itself */
} ga__line_values;

/* line NULL: that of the model itself. */
double ga__line_value(const ga__line *line, ga__line_values which, double value, const ga__course *course);

/* As ga_model_read_file(), or with path NULL as ga_model_read_text(), along the line; without the text that
 * is kept beside results. */
ga_status ga__model_read_along(ga_context *ctx, const char *path, const char *text, const ga_model_opts *opts,
                               const ga__line *line, ga_model **out);

#endif
