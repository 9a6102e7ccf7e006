/* What tolerances give under collocation: the largest error of positions over the run, over the tolerance
 * times the largest coordinate, of every problem, order and tolerance; and the slope of the error over the
 * tolerance. The constants of the estimates (core/collocation_inside.c) are chosen on one half of the
 * problems and shown on the other, which this prints: the mean of the first half is the factor by which a
 * constant may be multiplied to bring its errors to the tolerance. */
#include "collocation_models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 16, MOST_TOL = 7, N_ORDERS = 8, N_HALVES = 2 };
#define LEAST_ERROR 1e-12 /* of the largest coordinate: rounding */
#define FIRST_TOL 1e-3
#define LEAST_SLOPE 0.65 /* errors far below loose tolerances fall more slowly than these */
#define MOST_SLOPE 1.35
#define LIMITED 0.99 /* of the largest step allowed: the tolerance has no effect */

static const int ORDER[N_ORDERS] = {0, 3, 4, 5, 6, 7, 8, 10}; /* 0: chosen by the tolerance */

/* Half 0: constants are chosen; half 1: they are shown. Alternately in the order of the alphabet, but for
 * forms of one machine, which stay together. */
static const struct {
  const char *problem;
  int half, unstable; /* unstable: errors grow along the motion itself, and are not judged */
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
    {"test15", 0, 0, 0},
    {"test71", 1, 0, 0},
    {"tumbling_top", 1, 0, 0},
    {"tumbling_top_left", 1, 0, 0},
};
enum { N_SUBJECTS = sizeof SUBJECTS / sizeof *SUBJECTS };

typedef struct outcome {
  double ratio; /* NaN: failed, or rounding */
  long steps;
} outcome;

typedef struct watch {
  const vf_reference *ref;
  vf_sizes z;
  double spacing, size, error;
  int next;
} watch;

static int on_output(void *user, const ga_state *s)
{
  watch *w = user;
  if (w->next > SAMPLES || fabs(s->t - w->next * w->spacing) > 1e-9 * w->spacing) return 0;
  const ga_point p = vf_reference_at(w->ref, w->next++);
  for (int i = 0; i < w->z.nq; i++) {
    const double off = fabs(s->q[i] - p.q[i]);
    w->error = off == off ? fmax(w->error, off) : HUGE_VAL;
  }
  return 0;
}

static ga_status run(const ex_problem *problem, double t_end, int order, double tol, watch *w, outcome *out)
{
  const vf_case c = {
      .problem = problem->name, .method = GA_COLLOCATION, .rho = 1, .commutator = 1, .collocation = order};
  vf_setup s;
  ga_simulator *sim = NULL;
  ga_simulate_opts o = ga_simulate_defaults();
  double times[SAMPLES];
  for (int k = 0; k < SAMPLES; k++) times[k] = w->spacing * (k + 1);
  o.t_end = t_end;
  o.rtol = o.rtol_x = tol;
  o.atol = o.atol_x = 1e-2 * tol;
  o.n_output_times = SAMPLES;
  o.output_times = times;
  o.output = on_output;
  o.user = w;
  o.h_max = 0.1 * t_end;
  ga_status status = vf_setup_create(&s, &c, problem);
  if (!status) status = ga_simulator_create(s.ctx, s.st, &o, &sim);
  if (!status)
    status = ga_simulator_start(sim, NULL, 0, problem->q0, problem->v0, problem->x0, problem->lambda_guess,
                                problem->psi_guess, NULL);
  if (!status) status = ga_simulator_run(sim);
  *out = (outcome){NAN, sim ? ga_simulator_stats(sim)->steps : 0};
  const int limited = sim && ga_simulator_stats(sim)->h_largest > LIMITED * o.h_max;
  if (!status && !limited && w->error > LEAST_ERROR * w->size) out->ratio = w->error / (tol * w->size);
  if (status) printf("    order %d, tolerance %.0e: %s\n", order, tol, ga_context_error(s.ctx)->text);
  ga_simulator_destroy(&sim);
  vf_setup_destroy(&s);
  return status;
}

/* d log error / d log tolerance, by least squares; NaN with fewer than three. */
static double slope_of(const outcome *o)
{
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (int k = 0; k < MOST_TOL; k++) {
    if (!(o[k].ratio > 0)) continue;
    const double lt = -k, le = log10(o[k].ratio) - k;
    n++, x += lt, y += le, xx += lt * lt, xy += lt * le;
  }
  return n > 2 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

typedef struct summary {
  double n, sum, least, most, n_slopes, slope, slope_least, slope_most;
} summary;

static void take_ratio(summary *m, double ratio)
{
  if (!(ratio > 0)) return;
  m->least = m->n ? fmin(m->least, ratio) : ratio;
  m->most = fmax(m->most, ratio);
  m->n++, m->sum += log(ratio);
}

static void take_slope(summary *m, double slope)
{
  if (!(slope == slope)) return;
  m->slope_least = m->n_slopes ? fmin(m->slope_least, slope) : slope;
  m->slope_most = m->n_slopes ? fmax(m->slope_most, slope) : slope;
  m->n_slopes++, m->slope += slope;
}

/* Radau IIA is for stiff equations, where less is asked. */
static double most_ratio(int order)
{
  return order % 2 ? 100.0 : 10.0;
}

static void measure(const vf_sink *sink, int subject, summary sums[N_HALVES][N_ORDERS])
{
  const ex_problem *problem = ex_problem_find(SUBJECTS[subject].problem);
  char text[256] = "there is no such problem";
  const double t_end = SUBJECTS[subject].t_end > 0 || !problem ? SUBJECTS[subject].t_end : problem->t_end;
  vf_reference *ref =
      problem ? vf_reference_create(problem, t_end / SAMPLES, SAMPLES, text, sizeof text) : NULL;
  if (!sink->check(sink->user, ref != NULL, SUBJECTS[subject].problem, "reference", text)) return;
  double size = 0;
  const vf_sizes z = vf_reference_sizes(ref);
  for (int k = 0; k <= SAMPLES; k++)
    for (int i = 0; i < z.nq; i++) size = fmax(size, fabs(vf_reference_at(ref, k).q[i]));
  for (int k = 0; k < N_ORDERS; k++) {
    outcome o[MOST_TOL];
    double tol = FIRST_TOL;
    printf("  %-18s %d  %2d", problem->name, SUBJECTS[subject].half, ORDER[k]);
    for (int i = 0; i < MOST_TOL; i++, tol *= 0.1) {
      watch w = {.ref = ref, .z = z, .spacing = t_end / SAMPLES, .size = size, .next = 1};
      if (ORDER[k] > 0 && ORDER[k] < 5 && tol < 1e-8) { /* very many steps */
        o[i] = (outcome){NAN, 0};
        continue;
      }
      sink->check(sink->user, !run(problem, t_end, ORDER[k], tol, &w, &o[i]), problem->name, "tolerance",
                  "it fails");
      printf("  %8.3g %5ld", o[i].ratio, o[i].steps);
      if (SUBJECTS[subject].unstable) continue;
      take_ratio(&sums[SUBJECTS[subject].half][k], o[i].ratio);
      snprintf(text, sizeof text, "order %d, tolerance %.0e: error over tolerance %.3g, at most %g", ORDER[k],
               tol, o[i].ratio, most_ratio(ORDER[k]));
      sink->check(sink->user, !(o[i].ratio > most_ratio(ORDER[k])), problem->name, "tolerance", text);
    }
    const double slope = slope_of(o);
    if (!SUBJECTS[subject].unstable) take_slope(&sums[SUBJECTS[subject].half][k], slope);
    snprintf(text, sizeof text, "order %d: slope of the error over the tolerance %.2f, expected %g to %g",
             ORDER[k], slope, LEAST_SLOPE, MOST_SLOPE);
    if (ORDER[k] % 2 == 0 && !SUBJECTS[subject].unstable && slope == slope)
      sink->check(sink->user, slope >= LEAST_SLOPE && slope <= MOST_SLOPE, problem->name, "tolerance", text);
    printf("  slope %4.2f\n", slope);
  }
  vf_reference_destroy(&ref);
}

void vf_collocation_control(const vf_sink *sink)
{
  summary sums[N_HALVES][N_ORDERS] = {{{0}}};
  if (sink->brief) return;
  printf("\nCollocation: error over tolerance, and steps, at 1e-3, 1e-4, ...\n  %-18s %s  %s\n", "problem",
         "half", "order (0: chosen)");
  for (int i = 0; i < N_SUBJECTS; i++)
    if (sink->wanted(sink->user, SUBJECTS[i].problem)) measure(sink, i, sums);
  printf("\nError over tolerance: mean (geometric), least, largest; slope: mean, least, largest\n");
  for (int half = 0; half < N_HALVES; half++)
    for (int k = 0; k < N_ORDERS; k++) {
      const summary *m = &sums[half][k];
      if (m->n > 0)
        printf("  half %d  order %2d  %8.3g %8.2g %8.3g   %5.2f %5.2f %5.2f\n", half, ORDER[k],
               exp(m->sum / m->n), m->least, m->most, m->slope / m->n_slopes, m->slope_least, m->slope_most);
    }
}
