/* Searches by NLopt (S. G. Johnson, github.com/stevengj/nlopt). */
#include "study/optimize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef GALPHA_HAVE_NLOPT
#include <nlopt.h>

typedef struct bridge {
  const ga__search *s;
  nlopt_opt opt;
} bridge;

typedef struct side { /* a constraint */
  bridge *b;
  int i;
} side;

static double evaluate(bridge *b, int i, const double *x, double *gradient)
{
  const ga__search *s = b->s;
  if (s->evaluate(s->user, x, gradient != NULL)) {
    nlopt_force_stop(b->opt);
    for (int j = 0; gradient && j < s->n; j++) gradient[j] = 0.0;
    return HUGE_VAL;
  }
  const double y = s->value(s->user, i, gradient);
  if (i < 0 || s->relation[i] != GA__AT_LEAST) return y;
  for (int j = 0; gradient && j < s->n; j++) gradient[j] = -gradient[j];
  return -y;
}

static double objective(unsigned n, const double *x, double *gradient, void *user)
{
  (void)n;
  return evaluate(user, -1, x, gradient);
}

static double constraint(unsigned n, const double *x, double *gradient, void *user)
{
  const side *c = user;
  (void)n;
  return evaluate(c->b, c->i, x, gradient);
}

int ga_optimize_available(void)
{
  return 1;
}

static const nlopt_algorithm ALGORITHMS[] = {
    [GA_ALGORITHM_SLSQP] = NLOPT_LD_SLSQP,   [GA_ALGORITHM_MMA] = NLOPT_LD_MMA,
    [GA_ALGORITHM_COBYLA] = NLOPT_LN_COBYLA, [GA_ALGORITHM_BOBYQA] = NLOPT_LN_BOBYQA,
    [GA_ALGORITHM_SBPLX] = NLOPT_LN_SBPLX,   [GA_ALGORITHM_DIRECT] = NLOPT_GN_DIRECT_L,
    [GA_ALGORITHM_CRS] = NLOPT_GN_CRS2_LM,   [GA_ALGORITHM_ISRES] = NLOPT_GN_ISRES};

static nlopt_result set_up(bridge *b, side *sides)
{
  const ga__search *s = b->s;
  double least[GA__MOST_VARIED];
  nlopt_result code = nlopt_set_min_objective(b->opt, objective, b);
  for (int j = 0; j < s->n; j++) least[j] = 1e-3 * s->precision;
  if (code > 0) code = nlopt_set_lower_bounds(b->opt, s->lower);
  if (code > 0) code = nlopt_set_upper_bounds(b->opt, s->upper);
  if (code > 0) code = nlopt_set_xtol_rel(b->opt, s->precision);
  if (code > 0) code = nlopt_set_xtol_abs(b->opt, least);
  if (code > 0) code = nlopt_set_ftol_rel(b->opt, 1e-3 * s->precision);
  if (code > 0) code = nlopt_set_initial_step(b->opt, s->step);
  for (int i = 0; i < s->n_constraints && code > 0; i++) {
    sides[i] = (side){b, i};
    code = s->relation[i] == GA__EQUAL
               ? nlopt_add_equality_constraint(b->opt, constraint, &sides[i], s->tolerance)
               : nlopt_add_inequality_constraint(b->opt, constraint, &sides[i], s->tolerance);
  }
  return code;
}

ga__search_end ga__search_run(const ga__search *s, double *x, char *text, size_t size)
{
  side sides[GA__MOST_CONSTRAINTS];
  bridge b = {s, nlopt_create(ALGORITHMS[s->algorithm], (unsigned)s->n)};
  double best;
  if (!b.opt) return GA__SEARCH_NO_MEMORY;
  nlopt_srand(s->seed); /* of this thread */
  nlopt_result code = set_up(&b, sides);
  if (code > 0) code = nlopt_optimize(b.opt, x, &best);
  const char *why = nlopt_get_errmsg(b.opt);
  snprintf(text, size, "%s",
           why                          ? why
           : code == NLOPT_INVALID_ARGS ? "the algorithm does not take this problem"
                                        : "the algorithm gave up");
  nlopt_destroy(b.opt);
  if (code > 0 || code == NLOPT_ROUNDOFF_LIMITED) return GA__SEARCH_FOUND;
  return code == NLOPT_FORCED_STOP     ? GA__SEARCH_STOPPED
         : code == NLOPT_OUT_OF_MEMORY ? GA__SEARCH_NO_MEMORY
                                       : GA__SEARCH_FAILED;
}

#else

int ga_optimize_available(void)
{
  return 0;
}

ga__search_end ga__search_run(const ga__search *s, double *x, char *text, size_t size)
{
  (void)s, (void)x;
  snprintf(text, size, "this galpha was built without NLopt");
  return GA__SEARCH_FAILED;
}

#endif
