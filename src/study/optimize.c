/* Optimisation of measures over parameters. Searches are NLopt's; here are the runs that it asks for, what is
 * best among them, and what is said of it. */
#include "study/optimize.h"

#include "study/fit.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FEASIBLE 1e-6 /* [-] of their sizes: by how much constraints may be missed */
#define ACTIVE 1e-4   /* [-] reserve of constraints that are met without one */
#define FAR 1e6       /* [-] the longest way of a parameter without a bound, over its size */
#define FLAT 1e-3     /* [-] gradients of an optimum, over the size of the objective */

static const struct {
  const char *word;
  int slopes, constraints, global;
  const char *text;
} ALGORITHM[] = {
#define ALGORITHM_ROW(name, word, slopes, constraints, global, text)                                         \
  {word, slopes, constraints, global, text},
    GA_ALGORITHM_LIST(ALGORITHM_ROW)
#undef ALGORITHM_ROW
};
enum { N_ALGORITHMS = sizeof ALGORITHM / sizeof *ALGORITHM };

const char *ga_algorithm_at(int i, const char **text)
{
  if (i < 0 || i >= N_ALGORITHMS) return NULL;
  if (text) *text = ALGORITHM[i].text;
  return ALGORITHM[i].word;
}

ga_optimize_opts ga_optimize_defaults(void)
{
  return (ga_optimize_opts){
      .precision = 1e-6, .most_points = 1000, .seed = 1, .jobs = 1, .poll_seconds = 0.05};
}

typedef struct limit { /* a constraint */
  ga__relation relation;
  int left, right; /* numbers of measures; right −1: `value` */
  double value;
  double size; /* what it is scaled by */
} limit;

struct ga_optimum {
  ga_context *ctx;
  ga_optimize_opts o;
  ga__problem pr;
  ga__experiment experiment;
  ga_run_settings settings;
  const char **given;
  int n_measures;
  char *measure[1 + 2 * GA__MOST_CONSTRAINTS];
  char unit[1 + 2 * GA__MOST_CONSTRAINTS][GA_TEXT_PIECE];
  limit limits[GA__MOST_CONSTRAINTS];
  ga__relation relation[GA__MOST_CONSTRAINTS];
  char *text[GA__MOST_CONSTRAINTS];
  ga__search_point now, best;
  int has_now, has_best; /* points are known */
  double excess;         /* of the best one, scaled */
  double size;           /* of the objective */
  double worst, least;   /* the largest and the smallest objective so far, scaled */
  long points;
  int points_spent, gives_up; /* why a search was ended */
  int corner;                 /* 1: measures had a corner at the point that was best */
  ga_status status;           /* of a failure that ends everything */
  ga_algorithm algorithm;
  ga_optimize_parameter parameter[GA__MOST_VARIED];
  ga_optimize_constraint constraint[GA__MOST_CONSTRAINTS];
  char note[GA__OPTIMUM_NOTES][GA__OPTIMUM_NOTE];
  const char *notes[GA__OPTIMUM_NOTES];
  ga_optimize_report report;
  int has_result;
};

static void add_note(ga_optimum *w, const char *format, ...) GA_PRINTF(2, 3);

static void add_note(ga_optimum *w, const char *format, ...)
{
  va_list args;
  if (w->report.n_notes == GA__OPTIMUM_NOTES) return;
  char *to = w->note[w->report.n_notes];
  va_start(args, format);
  vsnprintf(to, GA__OPTIMUM_NOTE, format, args);
  va_end(args);
  w->notes[w->report.n_notes++] = to;
}

void ga_optimum_destroy(ga_optimum **optimum)
{
  if (!optimum || !*optimum) return;
  ga_optimum *w = *optimum;
  ga_context *ctx = w->ctx;
  ga__search_point_destroy(&w->pr, &w->now);
  ga__search_point_destroy(&w->pr, &w->best);
  ga__problem_close(&w->pr);
  for (int i = 0; i < w->n_measures; i++) ga__free(ctx, w->measure[i]);
  for (int i = 0; i < GA__MOST_CONSTRAINTS; i++) ga__free(ctx, w->text[i]);
  ga__free(ctx, w->given);
  ga__free(ctx, w);
  *optimum = NULL;
}

/* ---- Constraints ---- */

ga_status ga__constraint_split(ga_context *ctx, const char *text, ga__relation *relation, int *left,
                               int *right)
{
  int depth = 0, found = 0;
  for (int i = 0; text[i]; i++) {
    if (text[i] == '(' || text[i] == '[') depth++;
    if (text[i] == ')' || text[i] == ']') depth--;
    if (depth > 0 || (text[i] != '<' && text[i] != '>' && text[i] != '=')) continue;
    const int two = text[i + 1] == '=';
    if (found++) break;
    *relation = text[i] == '<' ? GA__AT_MOST : text[i] == '>' ? GA__AT_LEAST : GA__EQUAL;
    *left = i;
    *right = i + 1 + two;
    i += two;
  }
  if (found == 1) return GA_OK;
  return ga__study_refuse(ctx, "constraint", text, "MEASURE <= VALUE, MEASURE >= VALUE or MEASURE == VALUE",
                          NULL, found ? "there are several relations" : "a relation is missing");
}

static ga_status add_measure(ga_optimum *w, const char *text, size_t n, int *out)
{
  char *copy = w->measure[w->n_measures] = ga__study_copy(w->ctx, text, n);
  if (!copy) return ga__no_memory(w->ctx, "an optimisation");
  *out = w->n_measures++;
  return GA_OK;
}

static ga_status read_constraint(ga_optimum *w, int i)
{
  const char *text = w->o.constraints[i];
  limit *c = &w->limits[i];
  int left, right;
  ga_status status = ga__constraint_split(w->ctx, text, &c->relation, &left, &right);
  if (status) return status;
  w->relation[i] = c->relation;
  w->text[i] = ga__study_copy(w->ctx, text, strlen(text));
  if (!w->text[i]) return ga__no_memory(w->ctx, "an optimisation");
  status = add_measure(w, text, (size_t)left, &c->left);
  if (status) return status;
  char *value = ga__study_copy(w->ctx, text + right, strlen(text + right));
  if (!value) return ga__no_memory(w->ctx, "an optimisation");
  c->right = -1;
  if (!*value)
    status =
        ga__study_refuse(w->ctx, "constraint", text, "MEASURE <= VALUE", NULL, "its right side is missing");
  ga__mute_errors(w->ctx);
  const int number = !status && ga_quantity_parse(w->ctx, value, NULL, &c->value, NULL, NULL) == GA_OK;
  ga__unmute_errors(w->ctx);
  if (!status && number && !isfinite(c->value))
    status = ga__study_refuse(w->ctx, "constraint", text, "a finite number", NULL, "its limit is none");
  if (!status && !number) status = add_measure(w, value, strlen(value), &c->right);
  ga__free(w->ctx, value);
  return status;
}

/* Limits have the unit of what they limit. */
static ga_status check_unit(ga_optimum *w, int i)
{
  const limit *c = &w->limits[i];
  const char *text = w->o.constraints[i], *unit = w->unit[c->left];
  ga_dimension a = {{0}}, b = {{0}};
  double x;
  ga__relation relation;
  int left, right;
  ga_unit_parse(w->ctx, unit, NULL, &a, NULL);
  if (c->right >= 0) {
    ga_unit_parse(w->ctx, w->unit[c->right], NULL, &b, NULL);
  } else {
    ga__constraint_split(w->ctx, text, &relation, &left, &right);
    ga_quantity_parse(w->ctx, text + right, NULL, &x, &b, NULL);
    const char *at = text + right;
    at += strspn(at, " +-0123456789.eE");
    if (!*at) return GA_OK; /* without a unit: in SI units */
  }
  if (memcmp(&a, &b, sizeof a) == 0) return GA_OK;
  return ga__study_refuse(w->ctx, "constraint", text, unit, NULL, "its sides have different units");
}

static ga_status check_measures(ga_optimum *w)
{
  ga_study_parameter p[GA__MOST_VARIED];
  ga_measures *measures = NULL;
  for (int j = 0; j < w->pr.n; j++)
    p[j] = (ga_study_parameter){w->pr.varied[j].name, w->pr.varied[j].known, w->pr.varied[j].start};
  ga_status status = ga_measures_create(w->ctx, ga_model_machine(w->pr.model), w->n_measures,
                                        (const char *const *)w->measure, w->pr.n, p, NULL, &measures);
  for (int i = 0; i < w->n_measures && !status; i++)
    snprintf(w->unit[i], sizeof w->unit[i], "%s", ga_measures_unit(measures, i));
  ga_measures_destroy(&measures);
  for (int i = 0; i < w->o.n_constraints && !status; i++) status = check_unit(w, i);
  return status;
}

/* ---- Points ---- */

static double objective_of(const ga_optimum *w, const ga__search_point *e)
{
  return (w->o.maximize ? -1.0 : 1.0) * e->values[0];
}

/* Left side minus right side. */
static double gap_of(const ga_optimum *w, const ga__search_point *e, int i)
{
  const limit *c = &w->limits[i];
  return e->values[c->left] - (c->right >= 0 ? e->values[c->right] : c->value);
}

static double slope_of(const ga_optimum *w, const ga__search_point *e, int i, int j)
{
  const double *row = e->slopes + (size_t)j * w->pr.n_values;
  if (i < 0) return (w->o.maximize ? -1.0 : 1.0) * row[0];
  return row[w->limits[i].left] - (w->limits[i].right >= 0 ? row[w->limits[i].right] : 0.0);
}

/* By how much a constraint is not met; <= 0: it is. */
static double excess_of(const ga_optimum *w, const ga__search_point *e, int i)
{
  const double gap = gap_of(w, e, i);
  return w->relation[i] == GA__AT_MOST ? gap : w->relation[i] == GA__AT_LEAST ? -gap : fabs(gap);
}

static double worst_excess(const ga_optimum *w, const ga__search_point *e)
{
  double worst = 0.0;
  for (int i = 0; i < w->o.n_constraints; i++) worst = fmax(worst, excess_of(w, e, i) / w->limits[i].size);
  return worst;
}

static void keep_best(ga_optimum *w)
{
  const double excess = worst_excess(w, &w->now);
  const int meets = excess <= FEASIBLE, met = w->has_best && w->excess <= FEASIBLE;
  const int better = !w->has_best || (meets && !met) ||
                     (meets && met && objective_of(w, &w->now) < objective_of(w, &w->best)) ||
                     (!meets && !met && excess < w->excess);
  const int same = w->has_best && w->best.derived == GA__NO_SLOPES && w->now.derived != GA__NO_SLOPES &&
                   memcmp(w->now.p, w->best.p, (size_t)w->pr.n * sizeof *w->now.p) == 0;
  if (!better && !same) return;
  const size_t n = (size_t)w->pr.n;
  memcpy(w->best.p, w->now.p, (n + (n + 2) * w->pr.n_values) * sizeof *w->best.p);
  w->best.derived = w->now.derived;
  snprintf(w->best.text, sizeof w->best.text, "%s", w->now.text);
  w->excess = excess;
  w->has_best = 1;
  w->corner = *w->now.text != '\0';
}

static int poll(void *user)
{
  ga_optimum *w = user;
  return w->o.poll && w->o.poll(w->o.user, w->pr.runs, w->has_best ? w->best.values[0] : NAN);
}

/* Measures without a value, as a settling time of what does not settle, are runs that fail. */
static void check_values(ga_optimum *w)
{
  for (int i = 0; i < w->n_measures && !w->now.failed; i++)
    if (!isfinite(w->now.values[i])) {
      w->now.failed = 1;
      w->pr.failed++;
      if (!*w->now.text) snprintf(w->now.text, sizeof w->now.text, "%.200s has no value", w->measure[i]);
    }
}

static int evaluate(void *user, const double *x, int slopes)
{
  ga_optimum *w = user;
  int same = w->has_now;
  for (int j = 0; j < w->pr.n; j++) {
    const ga__varied *v = &w->pr.varied[j];
    const double p = fmin(fmax(x[j] * v->scale, v->lower), v->upper);
    same &= p == w->now.p[j];
    w->now.p[j] = p;
  }
  if (same && (!slopes || w->now.derived != GA__NO_SLOPES || w->now.failed)) return 0;
  if (!same && w->points >= w->o.most_points) return w->points_spent = 1;
  w->points += !same;
  w->has_now = 0;
  w->status = ga__problem_evaluate(&w->pr, slopes, &w->now);
  if (w->status) return 1;
  w->has_now = 1;
  check_values(w);
  if (w->now.failed) return 0;
  if (slopes && w->now.derived == GA__NO_SLOPES) return w->gives_up = 1;
  w->worst = fmax(w->worst, objective_of(w, &w->now) / w->size);
  w->least = fmin(w->least, objective_of(w, &w->now) / w->size);
  keep_best(w);
  return 0;
}

/* Scaled values at the point evaluated last. */
static double value(void *user, int i, double *gradient)
{
  ga_optimum *w = user;
  const double size = i < 0 ? w->size : w->limits[i].size;
  const int has = !w->now.failed && w->now.derived != GA__NO_SLOPES;
  for (int j = 0; gradient && j < w->pr.n; j++)
    gradient[j] = has ? slope_of(w, &w->now, i, j) * w->pr.varied[j].scale / size : 0.0;
  if (!w->now.failed) return (i < 0 ? objective_of(w, &w->now) : gap_of(w, &w->now, i)) / size;
  if (i >= 0) return w->relation[i] == GA__AT_LEAST ? -1.0 : 1.0;
  return ALGORITHM[w->algorithm].slopes ? HUGE_VAL : w->worst + fabs(w->worst) + 1.0;
}

/* ---- Searches ---- */

static ga__search_end search(ga_optimum *w, ga_algorithm algorithm, double step, char *text, size_t size)
{
  const int n = w->pr.n;
  double x[GA__MOST_VARIED], lower[GA__MOST_VARIED], upper[GA__MOST_VARIED], steps[GA__MOST_VARIED];
  for (int j = 0; j < n; j++) {
    const ga__varied *v = &w->pr.varied[j];
    const double span = (v->upper - v->lower) / v->scale;
    lower[j] = (isfinite(v->lower) ? v->lower : v->start - FAR * v->scale) / v->scale;
    upper[j] = (isfinite(v->upper) ? v->upper : v->start + FAR * v->scale) / v->scale;
    x[j] = fmin(fmax(w->best.p[j] / v->scale, lower[j]), upper[j]);
    steps[j] = fmin(step * fmax(fabs(x[j]), 1.0), isfinite(span) ? 0.25 * span : HUGE_VAL);
  }
  const ga__search s = {.algorithm = w->algorithm = algorithm,
                        .n = n,
                        .n_constraints = w->o.n_constraints,
                        .lower = lower,
                        .upper = upper,
                        .step = steps,
                        .relation = w->relation,
                        .tolerance = 0.1 * FEASIBLE,
                        .precision = w->o.precision,
                        .seed = w->o.seed,
                        .evaluate = evaluate,
                        .value = value,
                        .user = w};
  return ga__search_run(&s, x, text, size);
}

static ga_algorithm local_algorithm(const ga_optimum *w)
{
  if (!w->pr.differences) return GA_ALGORITHM_SLSQP;
  return w->o.n_constraints > 0 || w->pr.n < 2 ? GA_ALGORITHM_COBYLA : GA_ALGORITHM_BOBYQA;
}

static ga_status run_searches(ga_optimum *w)
{
  char text[200] = "";
  const ga_algorithm asked = w->o.algorithm;
  ga_algorithm first = asked == GA_ALGORITHM_AUTO ? local_algorithm(w) : asked;
  ga__search_end end = search(w, first, 0.1, text, sizeof text);
  const int goes_on = !w->status && !w->points_spent;
  if (goes_on && ALGORITHM[asked].global && (end == GA__SEARCH_FOUND || end == GA__SEARCH_FAILED))
    end = search(w, first = local_algorithm(w), 0.01, text, sizeof text);
  if (goes_on && asked == GA_ALGORITHM_AUTO && first == GA_ALGORITHM_SLSQP && !w->points_spent &&
      !w->status && (w->corner || end == GA__SEARCH_FAILED || w->gives_up || w->pr.differences)) {
    w->gives_up = 0; /* at a corner derivatives do not lead on */
    end = search(w, w->o.n_constraints > 0 || w->pr.n < 2 ? GA_ALGORITHM_COBYLA : GA_ALGORITHM_BOBYQA, 0.02,
                 text, sizeof text);
  }
  if (end == GA__SEARCH_NO_MEMORY || w->status == GA_ERR_MEMORY)
    return ga__no_memory(w->ctx, "an optimisation");
  if (w->status && w->status != GA_STOPPED) return w->status;
  w->report.end = w->status == GA_STOPPED   ? GA_OPTIMIZE_STOPPED
                  : w->points_spent         ? GA_OPTIMIZE_POINTS
                  : end != GA__SEARCH_FOUND ? GA_OPTIMIZE_FAILED
                  : w->excess > FEASIBLE    ? GA_OPTIMIZE_INFEASIBLE
                                            : GA_OPTIMIZE_CONVERGED;
  if (w->report.end == GA_OPTIMIZE_FAILED)
    add_note(w, "%s: %s", ALGORITHM[w->algorithm].word, w->gives_up ? w->now.text : text);
  return GA_OK;
}

/* ---- What is said of the best point ---- */

/* Multipliers by least squares: what is left of ∇f + Σ μ ∇g in the parameters that are free. */
static ga_status find_multipliers(ga_optimum *w)
{
  const int n = w->pr.n;
  int free[GA__MOST_VARIED], active[GA__MOST_CONSTRAINTS], rows = 0, cols = 0;
  double b[GA__MOST_VARIED], mu[GA__MOST_CONSTRAINTS], left[GA__MOST_VARIED], sum = 0.0;
  double *A = ga__alloc(w->ctx, (size_t)n * GA__MOST_CONSTRAINTS, sizeof *A);
  if (!A) return ga__no_memory(w->ctx, "multipliers");
  for (int j = 0; j < n; j++)
    if (!w->parameter[j].at_bound) free[rows++] = j;
  for (int i = 0; i < w->o.n_constraints; i++)
    if (w->constraint[i].active) active[cols++] = i;
  for (int k = 0; k < rows; k++)
    left[k] = b[k] = slope_of(w, &w->best, -1, free[k]) * w->pr.varied[free[k]].scale / w->size;
  for (int i = 0; i < cols; i++)
    for (int k = 0; k < rows; k++)
      A[i * rows + k] =
          slope_of(w, &w->best, active[i], free[k]) * w->pr.varied[free[k]].scale / w->limits[active[i]].size;
  if (cols > 0 && rows > 0) ga__fit_solve(rows, cols, A, b, mu);
  for (int i = 0; i < cols; i++) {
    const limit *c = &w->limits[active[i]];
    for (int k = 0; k < rows; k++)
      left[k] += mu[i] * slope_of(w, &w->best, active[i], free[k]) * w->pr.varied[free[k]].scale / c->size;
    if (rows > 0)
      w->constraint[active[i]].multiplier = (w->o.maximize ? 1.0 : -1.0) * mu[i] * w->size / c->size;
  }
  for (int k = 0; k < rows; k++) sum = fmax(sum, fabs(left[k]));
  w->report.gradient = sum;
  ga__free(w->ctx, A);
  return GA_OK;
}

static void describe_point(ga_optimum *w)
{
  const ga__search_point *e = &w->best;
  const int known = e->derived != GA__NO_SLOPES;
  for (int j = 0; j < w->pr.n; j++) {
    const ga__varied *v = &w->pr.varied[j];
    const double near = 1e-9 * v->scale;
    w->parameter[j] = (ga_optimize_parameter){.name = v->name,
                                              .unit = *v->known ? v->known : v->unit,
                                              .start = v->start,
                                              .lower = v->lower,
                                              .upper = v->upper,
                                              .value = e->p[j],
                                              .slope = known ? e->slopes[(size_t)j * w->pr.n_values] : NAN,
                                              .at_bound = e->p[j] <= v->lower + near   ? -1
                                                          : e->p[j] >= v->upper - near ? 1
                                                                                       : 0};
  }
  for (int i = 0; i < w->o.n_constraints; i++) {
    const limit *c = &w->limits[i];
    const double excess = excess_of(w, e, i);
    w->constraint[i] =
        (ga_optimize_constraint){.text = w->text[i],
                                 .unit = w->unit[c->left],
                                 .value = e->values[c->left],
                                 .limit = c->right >= 0 ? e->values[c->right] : c->value,
                                 .excess = excess,
                                 .active = c->relation == GA__EQUAL || excess > -ACTIVE * c->size,
                                 .multiplier = NAN};
    if (excess > FEASIBLE * c->size)
      add_note(w, "%s is not met, by %.4g%s%s", w->text[i], excess, strcmp(w->unit[c->left], "1") ? " " : "",
               strcmp(w->unit[c->left], "1") ? w->unit[c->left] : "");
  }
}

/* 1: the objective was the same wherever it was tried, and nothing shows that it changes. */
static int is_flat(const ga_optimum *w)
{
  for (int j = 0; j < w->pr.n; j++)
    if (w->parameter[j].slope != 0.0 && !isnan(w->parameter[j].slope)) return 0;
  return w->worst - w->least <= 4.0 * DBL_EPSILON * fabs(w->worst);
}

/* Ends that an algorithm takes for optima. */
static void judge_end(ga_optimum *w)
{
  ga_optimize_report *r = &w->report;
  if (r->end != GA_OPTIMIZE_CONVERGED) return;
  if (is_flat(w))
    add_note(w,
             "%s has the same value at %s: it does not change with these parameters there, and nothing was "
             "optimised",
             w->o.objective, w->points == 1 ? "the start and beside it" : "all points that were tried");
  for (int j = 0; j < w->pr.n; j++) {
    const ga_optimize_parameter *p = &w->parameter[j];
    const double way = p->value - p->start, bound = way > 0.0 ? p->upper : p->lower;
    if (isfinite(bound) || fabs(way) < 0.9 * FAR * w->pr.varied[j].scale) continue;
    r->end = GA_OPTIMIZE_FAILED;
    add_note(w, "%s has no bound and has run away to %.3g: the optimum, if there is one, is farther off",
             p->name, p->value);
  }
}

/* The best point once more with more accuracy. */
static ga_status verify(ga_optimum *w)
{
  const double much = 1e-3;
  ga_run_settings *s = &w->settings;
  s->step *= 0.5;
  s->tolerance *= 0.1;
  memcpy(w->now.p, w->best.p, (size_t)w->pr.n * sizeof *w->now.p);
  const ga_status status = ga__problem_evaluate(&w->pr, 0, &w->now);
  w->report.verified = NAN;
  if (status) return status;
  check_values(w);
  if (w->now.failed) {
    add_note(w, "the run of the optimum with more accuracy fails: %.250s", w->now.text);
    return GA_OK;
  }
  w->report.verified = w->now.values[0];
  if (fabs(w->now.values[0] - w->best.values[0]) > much * w->size)
    add_note(w, "a run with more accuracy gives %.6g in place of %.6g: the steps are too large",
             w->now.values[0], w->best.values[0]);
  for (int i = 0; i < w->o.n_constraints; i++)
    if (excess_of(w, &w->now, i) > much * w->limits[i].size &&
        excess_of(w, &w->best, i) <= FEASIBLE * w->limits[i].size)
      add_note(w, "%s is not met in a run with more accuracy, by %.4g", w->text[i], excess_of(w, &w->now, i));
  return GA_OK;
}

static ga_status conclude(ga_optimum *w)
{
  ga_optimize_report *r = &w->report;
  ga_status status = GA_OK;
  r->gradient = r->verified = NAN;
  if (w->best.derived == GA__NO_SLOPES && !w->pr.differences && r->end != GA_OPTIMIZE_STOPPED) {
    memcpy(w->now.p, w->best.p, (size_t)w->pr.n * sizeof *w->now.p);
    status = ga__problem_evaluate(&w->pr, 1, &w->now);
    if (!status && !w->now.failed && w->now.derived == GA__EXACT_SLOPES) {
      const size_t all = (size_t)w->pr.n + (size_t)(w->pr.n + 2) * w->pr.n_values;
      memcpy(w->best.p, w->now.p, all * sizeof *w->best.p);
      w->best.derived = w->now.derived;
      w->corner = *w->now.text != '\0';
      snprintf(w->best.text, sizeof w->best.text, "%s", w->now.text);
    }
  }
  describe_point(w);
  if (!status && w->best.derived != GA__NO_SLOPES) status = find_multipliers(w);
  judge_end(w);
  if (w->corner) add_note(w, "%.300s", w->best.text);
  if (r->gradient > FLAT && !w->corner && r->end == GA_OPTIMIZE_CONVERGED)
    add_note(w,
             "the gradient there is %.2g of the objective for a change by 100 %%, not 0: it may not be the "
             "optimum",
             r->gradient);
  if (!status && r->end != GA_OPTIMIZE_STOPPED) status = verify(w);
  if (status && status != GA_STOPPED) return status;
  r->algorithm = ALGORITHM[w->algorithm].word;
  r->points = w->points;
  r->runs = w->pr.runs;
  r->failed = w->pr.failed;
  r->by_differences = w->pr.differences;
  r->why = w->pr.why;
  r->value = w->best.values[0];
  r->unit = w->unit[0];
  r->n = w->pr.n;
  r->parameter = w->parameter;
  r->n_constraints = w->o.n_constraints;
  r->constraint = w->constraint;
  r->notes = w->notes;
  w->has_result = 1;
  return GA_OK;
}

/* ---- Beginning ---- */

static ga_status check_opts(ga_context *ctx, const ga_optimize_opts *o)
{
  static const char kind[] = "optimisation";
  if (!ga_optimize_available())
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OTHER,
                      &(ga__facts){.kind = kind,
                                   .detail =
                                       "this galpha was built without NLopt (Debian package libnlopt-dev), "
                                       "which optimisation needs"});
  if (!o->model) return ga__refuse_null(ctx, "ga_optimize", "model");
  if (!o->objective) return ga__refuse_null(ctx, "ga_optimize", "objective");
  if (o->n_vary > 0 && !o->vary) return ga__refuse_missing(ctx, kind, "n_vary", o->n_vary, "vary");
  if (o->n_set > 0 && !o->set) return ga__refuse_missing(ctx, kind, "n_set", o->n_set, "set");
  if (o->n_constraints < 0 || o->n_constraints > GA__MOST_CONSTRAINTS)
    return ga__refuse_number(ctx, kind, "n_constraints", o->n_constraints, "0 to 32");
  if (o->n_constraints && !o->constraints)
    return ga__refuse_missing(ctx, kind, "n_constraints", o->n_constraints, "constraints");
  if (o->n_given && !(o->given && o->settings))
    return ga__refuse_missing(ctx, kind, "n_given", o->n_given, "given or settings");
  if ((int)o->algorithm < 0 || (int)o->algorithm >= N_ALGORITHMS)
    return ga__refuse_choice(ctx, kind, "algorithm", (int)o->algorithm, "ga_algorithm", N_ALGORITHMS - 1);
  if (!(o->precision > 0.0 && o->precision < 1.0))
    return ga__refuse_number(ctx, kind, "precision", o->precision, "between 0 and 1");
  if (o->most_points < 1) return ga__refuse_number(ctx, kind, "most_points", (double)o->most_points, ">= 1");
  if (o->jobs < 1 || o->jobs > 1024) return ga__refuse_number(ctx, kind, "jobs", o->jobs, "1 to 1024");
  if (!(o->poll_seconds > 0.0)) return ga__refuse_number(ctx, kind, "poll_seconds", o->poll_seconds, "> 0");
  for (int i = 0; i < o->n_constraints; i++)
    if (!o->constraints[i]) return ga__refuse_null(ctx, "ga_optimize", "constraints");
  return GA_OK;
}

/* What the algorithm needs. */
static ga_status check_algorithm(const ga_optimum *w)
{
  const ga_optimize_opts *o = &w->o;
  const char *word = ALGORITHM[o->algorithm].word;
  if (o->n_constraints > 0 && !ALGORITHM[o->algorithm].constraints)
    return ga__study_refuse(w->ctx, "algorithm", word, "auto, slsqp, cobyla or isres", NULL,
                            "it takes no constraints");
  for (int i = 0; i < o->n_constraints && o->algorithm == GA_ALGORITHM_MMA; i++)
    if (w->relation[i] == GA__EQUAL)
      return ga__study_refuse(w->ctx, "algorithm", word, "slsqp or cobyla", NULL,
                              "it takes no equations as constraints");
  if (o->algorithm == GA_ALGORITHM_BOBYQA && w->pr.n < 2)
    return ga__study_refuse(w->ctx, "algorithm", word, "cobyla", NULL, "it needs two parameters or more");
  for (int j = 0; j < w->pr.n && ALGORITHM[o->algorithm].global; j++)
    if (!isfinite(w->pr.varied[j].upper - w->pr.varied[j].lower))
      return ga__study_refuse(w->ctx, "algorithm", word, "NAME=START:LOWER:UPPER", NULL,
                              "it needs bounds, and %s has none", w->pr.varied[j].name);
  return GA_OK;
}

static ga_status prepare(ga_optimum *w)
{
  static const char *const own[] = {"step", "tolerance", "accuracy"};
  const ga_optimize_opts *o = &w->o;
  ga__trial *t = &w->experiment.trial;
  int first;
  w->pr = (ga__problem){.ctx = w->ctx,
                        .command = "optimize",
                        .n_set = o->n_set,
                        .set = o->set,
                        .n_experiments = 1,
                        .experiment = &w->experiment,
                        .jobs = o->jobs,
                        .differences = o->differences,
                        .seconds = o->poll_seconds,
                        .poll = poll,
                        .user = w};
  *t = (ga__trial){.model = o->model,
                   .allow_library = o->allow_library,
                   .settings = o->settings,
                   .n_given = o->n_given,
                   .given = o->given};
  ga_status status = add_measure(w, o->objective, strlen(o->objective), &first);
  for (int i = 0; i < o->n_constraints && !status; i++) status = read_constraint(w, i);
  if (!status) status = ga__problem_open(&w->pr, o->n_vary, o->vary);
  if (!status) status = check_measures(w);
  if (!status) status = check_algorithm(w);
  if (status) return status;
  w->given = ga__alloc(w->ctx, (size_t)o->n_given + 3, sizeof *w->given);
  if (!w->given) return ga__no_memory(w->ctx, "an optimisation");
  for (int i = 0; i < o->n_given; i++) w->given[i] = o->given[i];
  for (int i = 0; i < 3; i++) w->given[o->n_given + i] = own[i];
  if (ga__problem_settings(ga_model_settings(w->pr.model), o->settings, o->n_given, o->given, &w->settings))
    w->experiment.chosen = &w->settings;
  if (o->differences) ga__problem_refine(&w->pr);
  t->settings = &w->settings;
  t->n_given = o->n_given + 3;
  t->given = w->given;
  t->n_measures = w->n_measures;
  t->measures = (const char *const *)w->measure;
  ga__problem_lay_out(&w->pr);
  status = ga__search_point_create(&w->pr, &w->now);
  return status ? status : ga__search_point_create(&w->pr, &w->best);
}

static ga_status begin(ga_optimum *w)
{
  for (int j = 0; j < w->pr.n; j++) w->now.p[j] = w->pr.varied[j].start;
  const int slopes = w->o.algorithm == GA_ALGORITHM_AUTO || ALGORITHM[w->o.algorithm].slopes;
  ga_status status = ga__problem_evaluate(&w->pr, slopes && !w->pr.differences, &w->now);
  if (status) return status;
  check_values(w);
  if (w->now.failed)
    return ga__refuse(w->ctx, GA_ERR_NAN, GA_REASON_SEARCH_START,
                      &(ga__facts){.kind = "optimisation", .part = w->o.model, .detail = w->now.text});
  w->points = w->has_now = 1;
  w->size = fmax(fabs(w->now.values[0]), 1e-3 * w->now.scales[0]);
  if (!(w->size > 0.0)) w->size = 1.0;
  for (int i = 0; i < w->o.n_constraints; i++) {
    limit *c = &w->limits[i];
    c->size =
        fmax(fabs(c->right >= 0 ? w->now.values[c->right] : c->value), 1e-3 * fabs(w->now.values[c->left]));
    if (!(c->size > 0.0)) c->size = w->now.scales[c->left] > 0.0 ? w->now.scales[c->left] : 1.0;
  }
  w->report.start = w->now.values[0];
  w->worst = w->least = objective_of(w, &w->now) / w->size;
  keep_best(w);
  return GA_OK;
}

ga_status ga_optimize(ga_context *ctx, const ga_optimize_opts *opts, ga_optimum **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!opts || !out) return ga__null_argument(ctx);
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_optimum *w = *out = ga__alloc(ctx, 1, sizeof *w);
  if (!w) return ga__no_memory(ctx, "an optimisation");
  w->ctx = ctx;
  w->o = *opts;
  status = prepare(w);
  if (!status) status = begin(w);
  if (!status) status = run_searches(w);
  return status ? status : conclude(w);
}

const ga_optimize_report *ga_optimum_result(const ga_optimum *optimum)
{
  return optimum && optimum->has_result ? &optimum->report : NULL;
}

const ga_model *ga_optimum_model(const ga_optimum *optimum)
{
  return optimum ? optimum->pr.model : NULL;
}
