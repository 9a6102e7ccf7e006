/* What tolerances give under collocation: errors at the ends of all steps and at three places within each, of
 * positions and states, which the error test covers, of velocities, and of accelerations, forces and outputs,
 * over the tolerance times the size of what they are errors of; and slopes of errors over the tolerance. What
 * is true is a solution of order 10 by small steps, which must agree with the extrapolated one of the problem
 * at its samples. The estimate has one constant for all orders (core/collocation_error.c), chosen on one half
 * of the problems and on machines from parts (tests/accuracy/robust), and shown on the other half.
 */
#include "collocation_models.h"

#include "galpha/galpha.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 16, MOST_TOL = 7, N_ORDERS = 10, N_HALVES = 2, TRUE_STEPS = 2000, PLACES = 3, DECADES = 8 };
static const double PLACE[PLACES] = {0.2, 0.5, 0.85}; /* off the nodes of all orders */
#define FIRST_TOL 1e-3
#define ATOL 1e-2         /* of rtol */
#define LEAST_ERROR 1e-12 /* of the size: rounding */
#define AGREE 1e-9        /* of the size: what is true, with the problem's reference */
#define LIMITED 0.99      /* of the largest step allowed: the tolerance has no effect */
#define LEAST_ESTIMATE                                                                                       \
  0.05                    /* [-] mean estimate over tolerance below which sweeps and turns limit the steps */
#define MOST_RATIO 10.0   /* of positions and states, */
#define MOST_RATIO_V 40.0 /* of velocities, which the error test does not cover, */
#define MOST_RATIO_END 30.0 /* of accelerations, forces and outputs at the ends of steps, */
#define MOST_RATIO_INSIDE                                                                                    \
  400.0 /* and within them, where those of fast rotors are differences of large terms */
#define LEAST_SLOPE 0.65
#define MOST_SLOPE 1.35
#define MEAN_SLOPE 0.12 /* mean slopes are 1 within this */
#define LEAST_MEAN 0.03
#define LEAST_MEAN_FORCED 0.005 /* with errors of forces tested too */
#define MOST_MEAN 1.0
#define MOST_MEAN_INSIDE 5.0 /* mean of forces within steps */

static const int ORDER[N_ORDERS] = {0, 3, 4, 5, 6, 7, 8, 10, 0, 6}; /* 0: chosen by the tolerance */
static const int FORCED[N_ORDERS] = {[8] = 1, [9] = 1};             /* 1: errors of forces are tested too */
static const char *const TITLE[] = {"", "f"};

/* Half 0: constants are chosen; half 1: they are shown. Alternately in the order of the alphabet, but for
 * forms of one machine, which stay together. */
static const struct {
  const char *problem;
  int half, unstable; /* unstable: errors grow along the motion itself, or it is prescribed: not judged */
  double t_end;       /* [s] 0: the problem's */
} SUBJECTS[] = {
    {"andrews", 0, 0, 0},
    {"andrews31", 0, 0, 0},
    {"car_axis", 1, 0, 0},
    {"cart_pole", 0, 1, 0},
    {"heavy_top", 1, 0, 0.5},
    {"heavy_top_left", 1, 0, 0.5},
    {"heavy_top_s3", 1, 0, 0.5},
    {"heavy_top_se3", 1, 0, 0.5},
    {"mechatronic", 0, 0, 0},
    {"pendulum", 1, 0, 0},
    {"rank_deficient_d1", 0, 0, 0},
    {"rank_deficient_d2", 0, 0, 0},
    {"rank_deficient_d3", 0, 0, 0},
    {"rolling_disk", 1, 1, 5},
    {"slider_crank", 0, 0, 0},
    {"slider_crank_hht", 0, 0, 0},
    {"spring_mass", 1, 0, 0},
    {"test15", 0, 1, 0},
    {"test71", 1, 0, 0},
    {"tumbling_top", 1, 0, 0},
    {"tumbling_top_left", 1, 0, 0},
};
enum { N_SUBJECTS = sizeof SUBJECTS / sizeof *SUBJECTS };

/* ---- Records: states at ends of steps and within them ---- */

enum { Q, V, VDOT, LAMBDA, PSI, X, Y, N_PARTS };
enum { AT_END, INSIDE, N_WHERE };
enum { COVERED, VELOCITIES, FORCES, N_KINDS }; /* q and x; v; vdot, λ, ψ, y */
static const int KIND[N_PARTS] = {COVERED, VELOCITIES, FORCES, FORCES, FORCES, COVERED, FORCES};

typedef struct record {
  double t;
  int run, where;
  size_t at; /* of its numbers */
} record;

typedef struct outcome {
  ga_simulate_stats stats;
  double h_max, tol;
  double error[N_WHERE][N_KINDS]; /* over the tolerance times the size */
} outcome;

typedef struct bench {
  const ex_problem *problem;
  int n[N_PARTS], length; /* numbers of a state */
  record *record;
  double *value; /* those of all records */
  size_t n_records, n_values, room_records, room_values;
  double *size; /* [length] what errors are relative to */
  double last;  /* [s] end of the step before */
  int run, failed;
  size_t next; /* record to be compared */
  outcome *out;
} bench;

static double *add_record(bench *b, double t, int where)
{
  if (b->n_records == b->room_records) {
    b->room_records = 2 * b->room_records + 1000;
    b->record = realloc(b->record, b->room_records * sizeof *b->record);
  }
  if (b->n_values + (size_t)b->length > b->room_values) {
    b->room_values = 2 * b->room_values + 1000 * (size_t)b->length;
    b->value = realloc(b->value, b->room_values * sizeof *b->value);
  }
  if (!b->record || !b->value) abort();
  b->record[b->n_records++] = (record){t, b->run, where, b->n_values};
  b->n_values += (size_t)b->length;
  return b->value + b->n_values - (size_t)b->length;
}

static void parts_of(const bench *b, double *value, double *part[N_PARTS])
{
  for (int k = 0; k < N_PARTS; k++) part[k] = value, value += b->n[k];
}

static int on_step(void *user, const ga_stepper *stepper)
{
  bench *b = user;
  ga_stepper *st = (ga_stepper *)stepper; /* dense output uses its work space */
  const ga_state *s = ga_stepper_state(st);
  const double begin = b->last, h = s->t - begin;
  const double *const from[N_PARTS] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y};
  double *part[N_PARTS];
  b->last = s->t;
  if (!(h > 0.0)) return 0;
  parts_of(b, add_record(b, s->t, AT_END), part);
  for (int k = 0; k < N_PARTS; k++)
    if (b->n[k]) memcpy(part[k], from[k], (size_t)b->n[k] * sizeof(double));
  for (int i = 0; i < PLACES; i++) {
    const double t = begin + PLACE[i] * h;
    parts_of(b, add_record(b, t, INSIDE), part);
    b->failed |= ga_stepper_interpolate(st, t, part[Q], part[V], part[VDOT], part[LAMBDA], part[PSI], part[X],
                                        part[Y]) != GA_OK;
  }
  return 0;
}

/* ---- What is true ---- */

static int on_truth(void *user, const ga_state *s)
{
  bench *b = user;
  const double *const true_part[N_PARTS] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y};
  double *size[N_PARTS];
  parts_of(b, b->size, size);
  for (int k = 0; k < N_PARTS; k++)
    for (int i = 0; i < b->n[k]; i++) size[k][i] = fmax(size[k][i], fabs(true_part[k][i]));
  for (; b->next < b->n_records && b->record[b->next].t <= s->t * (1.0 + 1e-14); b->next++) {
    double *part[N_PARTS];
    parts_of(b, b->value + b->record[b->next].at, part);
    for (int k = 0; k < N_PARTS; k++)
      for (int i = 0; i < b->n[k]; i++) part[k][i] -= true_part[k][i];
  }
  return 0;
}

static int by_time(const void *a, const void *b)
{
  const double s = ((const record *)a)->t, t = ((const record *)b)->t;
  return (s > t) - (s < t);
}

/* Errors are relative to the largest value of a component, plus that of atol, where q is a vector; otherwise
 * to the largest of all components of q, v and so on. */
static void set_sizes(bench *b, int by_component)
{
  double *size[N_PARTS];
  parts_of(b, b->size, size);
  for (int k = 0; k < N_PARTS; k++) {
    double most = 0.0;
    for (int i = 0; i < b->n[k]; i++) most = fmax(most, size[k][i]);
    for (int i = 0; i < b->n[k]; i++)
      size[k][i] = by_component && KIND[k] == COVERED ? size[k][i] + ATOL : most > 0.0 ? most : 1.0;
  }
}

static void collect_errors(bench *b)
{
  for (size_t r = 0; r < b->n_records; r++) {
    double *part[N_PARTS], *size[N_PARTS];
    outcome *o = &b->out[b->record[r].run];
    parts_of(b, b->value + b->record[r].at, part);
    parts_of(b, b->size, size);
    for (int k = 0; k < N_PARTS; k++)
      for (int i = 0; i < b->n[k]; i++) {
        double *error = &o->error[b->record[r].where][KIND[k]],
               one = fabs(part[k][i]) / (size[k][i] * o->tol);
        *error = one == one ? fmax(*error, one) : HUGE_VAL;
      }
  }
}

/* ---- Runs ---- */

/* order 10 with equal steps, h > 0, or error control. */
static ga_status run(bench *b, double t_end, int order, int forces, double h, int n_times,
                     const double *times, outcome *out)
{
  const ex_problem *p = b->problem;
  const vf_case c = {
      .problem = p->name, .method = GA_COLLOCATION, .rho = 1, .commutator = 1, .collocation = order};
  vf_setup s;
  ga_simulator *sim = NULL;
  ga_simulate_opts o = ga_simulate_defaults();
  o.t_end = t_end;
  o.fixed_h = h;
  o.error_forces = forces;
  o.n_output_times = n_times;
  o.output_times = times;
  o.user = b;
  o.h_max = 0.1 * t_end;
  if (h > 0.0) {
    o.output = on_truth;
    o.defect_points = 0;
  } else {
    o.observer = on_step;
    o.rtol = o.rtol_x = out->tol;
    o.atol = o.atol_x = ATOL * out->tol;
  }
  b->last = 0.0;
  ga_status status = vf_setup_create(&s, &c, p);
  const ga_system *sys = s.sys;
  for (int k = Q; !status && k < N_PARTS; k++) {
    static const ga_equation_block block[N_PARTS] = {GA_BLOCK_V,   GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA,
                                                     GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};
    if (k == Q) b->length = 0;
    b->n[k] = k == Q ? ga_group_nq(ga_system_group(sys)) : ga_system_size(sys, block[k]);
    b->length += b->n[k];
  }
  if (!status) status = ga_simulator_create(s.ctx, s.st, &o, &sim);
  if (!status)
    status = ga_simulator_start(sim, NULL, 0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
  if (!status) status = ga_simulator_run(sim);
  if (status) printf("    order %d: %s\n", order, ga_context_error(s.ctx)->text);
  if (out && sim) out->stats = *ga_simulator_stats(sim), out->h_max = o.h_max;
  ga_simulator_destroy(&sim);
  vf_setup_destroy(&s);
  return status;
}

/* The records against the true solution, which is checked at the problem's samples. 1: it is known. */
static int compare(const vf_sink *sink, bench *b, double t_end, const vf_reference *ref, int unstable)
{
  const size_t n = b->n_records;
  double *times = calloc(n + 1, sizeof *times), off = 0.0, most = 0.0;
  int n_times = 0;
  b->size = calloc((size_t)b->length + 1, sizeof *b->size);
  if (!times || !b->size) abort();
  for (int k = 1; k <= SAMPLES; k++) {
    double *part[N_PARTS];
    b->run = -1;
    parts_of(b, add_record(b, t_end * k / SAMPLES, INSIDE), part);
    memcpy(part[Q], vf_reference_at(ref, k).q, (size_t)b->n[Q] * sizeof(double));
  }
  times = realloc(times, (b->n_records + 1) * sizeof *times);
  if (!times) abort();
  qsort(b->record, b->n_records, sizeof *b->record, by_time);
  for (size_t r = 0; r < b->n_records; r++)
    if (n_times == 0 || b->record[r].t > times[n_times - 1] * (1.0 + 1e-14))
      times[n_times++] = b->record[r].t;
  b->next = 0;
  const ga_status status = run(b, t_end, 10, 0, t_end / TRUE_STEPS, n_times, times, NULL);
  free(times);
  for (int i = 0; i < b->n[Q]; i++) most = fmax(most, b->size[i]);
  size_t kept = 0;
  for (size_t r = 0; r < b->n_records; r++) {
    if (b->record[r].run >= 0) {
      b->record[kept++] = b->record[r];
      continue;
    }
    for (int i = 0; i < b->n[Q]; i++) off = fmax(off, fabs(b->value[b->record[r].at + (size_t)i]));
  }
  b->n_records = kept;
  char text[160];
  snprintf(text, sizeof text, "order 10 with %d steps differs by %.1e of %.1e from the reference", TRUE_STEPS,
           off, most);
  const int found = !status && b->next >= n && off <= AGREE * most;
  return found || unstable ? found : sink->check(sink->user, 0, b->problem->name, "truth", text);
}

/* ---- Judgement ---- */

static double covered(const outcome *o)
{
  return fmax(o->error[AT_END][COVERED], o->error[INSIDE][COVERED]);
}

/* 1: the tolerance decides the steps, and errors are not rounding. */
static int is_judged(const outcome *o)
{
  return o->stats.steps > 0 && o->stats.h_largest < LIMITED * o->h_max &&
         o->stats.mean_error >= LEAST_ESTIMATE && covered(o) * o->tol > LEAST_ERROR;
}

/* d log error / d log tolerance, by least squares; NaN with fewer than four. */
static double slope_of(const outcome *o)
{
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int k = 0; k < MOST_TOL; k++) {
    if (!is_judged(&o[k])) continue;
    const double lt = log10(o[k].tol), le = log10(covered(&o[k]) * o[k].tol);
    n++, x += lt, y += le, xx += lt * lt, xy += lt * le;
  }
  return n > 3 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

typedef struct summary {
  double n, sum, least, most, n_slopes, slope, slope_least, slope_most;
  int decade[DECADES]; /* numbers of ratios from 1e-6, 1e-5 ... on */
  double most_of[N_WHERE][N_KINDS], sum_of[N_WHERE][N_KINDS];
} summary;

static void take_outcome(summary *m, const outcome *o)
{
  const double ratio = covered(o);
  const int decade = (int)floor(log10(ratio)) + 6;
  m->least = m->n ? fmin(m->least, ratio) : ratio;
  m->most = fmax(m->most, ratio);
  m->n++, m->sum += log(ratio);
  m->decade[decade < 0 ? 0 : decade >= DECADES ? DECADES - 1 : decade]++;
  for (int w = 0; w < N_WHERE; w++)
    for (int k = 0; k < N_KINDS; k++) {
      m->most_of[w][k] = fmax(m->most_of[w][k], o->error[w][k]);
      m->sum_of[w][k] += log(fmax(o->error[w][k], 1e-9));
    }
}

static void take_slope(summary *m, double slope)
{
  if (!(slope == slope)) return;
  m->slope_least = m->n_slopes ? fmin(m->slope_least, slope) : slope;
  m->slope_most = m->n_slopes ? fmax(m->slope_most, slope) : slope;
  m->n_slopes++, m->slope += slope;
}

/* Where errors of forces are tested too, all errors are within MOST_RATIO. */
static void check_outcome(const vf_sink *sink, const char *name, int variant, const outcome *o)
{
  char text[200];
  const int forced = FORCED[variant];
  const struct {
    const char *of;
    double ratio, most;
  } check[] = {{"positions and states", covered(o), MOST_RATIO},
               {"velocities", fmax(o->error[AT_END][VELOCITIES], o->error[INSIDE][VELOCITIES]),
                forced ? MOST_RATIO : MOST_RATIO_V},
               {"forces at ends of steps", o->error[AT_END][FORCES], forced ? MOST_RATIO : MOST_RATIO_END},
               {"forces within steps", o->error[INSIDE][FORCES], forced ? MOST_RATIO : MOST_RATIO_INSIDE}};
  for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
    snprintf(text, sizeof text, "order %d%s, tolerance %.0e: error of %s over tolerance %.3g, at most %g",
             ORDER[variant], TITLE[forced], o->tol, check[i].of, check[i].ratio, check[i].most);
    sink->check(sink->user, check[i].ratio <= check[i].most, name, "tolerance", text);
  }
}

static void judge(const vf_sink *sink, int subject, int k, const outcome *o, summary sums[N_HALVES][N_ORDERS])
{
  char text[200];
  const char *name = SUBJECTS[subject].problem;
  summary *m = &sums[SUBJECTS[subject].half][k];
  printf("  %-18s %d  %2d%s", name, SUBJECTS[subject].half, ORDER[k], TITLE[FORCED[k]]);
  for (int i = 0; i < MOST_TOL && o[i].stats.steps > 0; i++) {
    printf("  %7.2g%c %5ld", covered(&o[i]), is_judged(&o[i]) ? ' ' : '*', o[i].stats.steps);
    if (SUBJECTS[subject].unstable) continue;
    check_outcome(sink, name, k, &o[i]);
    if (is_judged(&o[i])) take_outcome(m, &o[i]);
  }
  const double slope = slope_of(o);
  printf("  slope %4.2f\n", slope);
  if (SUBJECTS[subject].unstable) return;
  take_slope(m, slope);
  snprintf(text, sizeof text, "order %d%s: slope of the error over the tolerance %.2f, expected %g to %g",
           ORDER[k], TITLE[FORCED[k]], slope, LEAST_SLOPE, MOST_SLOPE);
  if (slope == slope)
    sink->check(sink->user, slope >= LEAST_SLOPE && slope <= MOST_SLOPE, name, "tolerance", text);
}

static void measure(const vf_sink *sink, int subject, summary sums[N_HALVES][N_ORDERS])
{
  const ex_problem *problem = ex_problem_find(SUBJECTS[subject].problem);
  char text[256] = "there is no such problem";
  const double t_end = SUBJECTS[subject].t_end > 0 || !problem ? SUBJECTS[subject].t_end : problem->t_end;
  vf_reference *ref =
      problem ? vf_reference_create(problem, t_end / SAMPLES, SAMPLES, text, sizeof text) : NULL;
  outcome out[N_ORDERS][MOST_TOL];
  bench b = {.problem = problem, .out = out[0]};
  if (!sink->check(sink->user, ref != NULL, SUBJECTS[subject].problem, "reference", text)) return;
  memset(out, 0, sizeof out);
  for (int k = 0; k < N_ORDERS; k++) {
    double tol = FIRST_TOL;
    for (int i = 0; i < MOST_TOL; i++, tol *= 0.1) {
      b.run = k * MOST_TOL + i;
      out[k][i].tol = tol;
      if (ORDER[k] > 0 && ORDER[k] < 5 && tol < 1e-7) continue; /* very many steps */
      const ga_status status = run(&b, t_end, ORDER[k], FORCED[k], 0.0, 0, NULL, &out[k][i]);
      sink->check(sink->user, !status && !b.failed, problem->name, "tolerance", "it fails");
    }
  }
  if (compare(sink, &b, t_end, ref, SUBJECTS[subject].unstable)) {
    set_sizes(&b, b.n[Q] == b.n[V]);
    collect_errors(&b);
    for (int k = 0; k < N_ORDERS; k++) judge(sink, subject, k, out[k], sums);
  }
  free(b.record);
  free(b.value);
  free(b.size);
  vf_reference_destroy(&ref);
}

static void check_means(const vf_sink *sink, int half, int k, const summary *m)
{
  char text[160], what[40];
  const double mean = exp(m->sum / m->n), slope = m->slope / m->n_slopes;
  const double least = FORCED[k] ? LEAST_MEAN_FORCED : LEAST_MEAN;
  snprintf(what, sizeof what, "half %d, order %d%s", half, ORDER[k], TITLE[FORCED[k]]);
  snprintf(text, sizeof text, "%s: mean error over tolerance %.3g, expected %g to %g", what, mean, least,
           MOST_MEAN);
  sink->check(sink->user, mean >= least && mean <= MOST_MEAN, "control", "mean", text);
  snprintf(text, sizeof text, "%s: mean slope %.2f, expected 1 within %g", what, slope, MEAN_SLOPE);
  sink->check(sink->user, fabs(slope - 1.0) <= MEAN_SLOPE, "control", "mean", text);
  const double inside = exp(m->sum_of[INSIDE][FORCES] / m->n);
  snprintf(text, sizeof text, "%s: mean error of forces within steps over tolerance %.3g, at most %g", what,
           inside, MOST_MEAN_INSIDE);
  sink->check(sink->user, inside <= MOST_MEAN_INSIDE, "control", "mean", text);
}

static void print_summary(int half, int k, const summary *m)
{
  printf("  half %d  order %2d%-2s  %7.2g %7.2g %7.2g  ", half, ORDER[k], TITLE[FORCED[k]],
         exp(m->sum / m->n), m->least, m->most);
  for (int i = 0; i < DECADES; i++) printf(" %3d", m->decade[i]);
  printf("   %5.2f %5.2f %5.2f  ", m->slope / m->n_slopes, m->slope_least, m->slope_most);
  for (int kind = VELOCITIES; kind < N_KINDS; kind++)
    for (int w = 0; w < N_WHERE; w++)
      printf("  %6.2g %7.2g", exp(m->sum_of[w][kind] / m->n), m->most_of[w][kind]);
  printf("\n");
}

void vf_collocation_control(const vf_sink *sink)
{
  static summary sums[N_HALVES][N_ORDERS];
  int all = 1;
  if (sink->brief) return;
  memset(sums, 0, sizeof sums);
  printf("\nCollocation: error of positions and states over tolerance, and steps, at 1e-3, 1e-4, ...; *: not "
         "the "
         "tolerance decides the steps\n  %-18s %s  %s\n",
         "problem", "half", "order (0: chosen; f: errors of forces are tested too)");
  for (int i = 0; i < N_SUBJECTS; i++) {
    const int wanted = sink->wanted(sink->user, SUBJECTS[i].problem);
    all &= wanted;
    if (wanted) measure(sink, i, sums);
  }
  printf(
      "\nError over tolerance: of positions and states: mean (geometric), least, largest, numbers in decades "
      "from 1e-6 on; slope: mean, least, largest; velocities: mean and largest at ends and within steps; "
      "accelerations, forces and outputs likewise\n");
  for (int half = 0; half < N_HALVES; half++)
    for (int k = 0; k < N_ORDERS; k++) {
      if (!(sums[half][k].n > 0 && sums[half][k].n_slopes > 0)) continue;
      print_summary(half, k, &sums[half][k]);
      if (all) check_means(sink, half, k, &sums[half][k]);
    }
}
