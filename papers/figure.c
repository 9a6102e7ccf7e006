/* Runs a figure: all its series, at one step or at several; measures slopes and facts. */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REFERENCES = 64, FLIP_STEPS = 20 };

typedef struct kept {
  const char *problem;
  vf_reference *ref;
} kept;

struct pp_library {
  const char *models;
  int n;
  kept kept[MOST_REFERENCES];
};

pp_library *pp_library_create(const char *models)
{
  pp_library *l = calloc(1, sizeof *l);
  if (l) l->models = models;
  return l;
}

void pp_library_destroy(pp_library **library)
{
  if (!*library) return;
  for (int i = 0; i < (*library)->n; i++) vf_reference_destroy(&(*library)->kept[i].ref);
  free(*library);
  *library = NULL;
}

/* ---- Counting ---- */

int pp_count_series(const pp_figure *f)
{
  int n = 0;
  while (n < PP_SERIES && f->series[n].label) n++;
  return n;
}

int pp_count_quantities(const pp_figure *f)
{
  int n = 0;
  while (n < PP_QUANTITIES && f->quantities[n].label) n++;
  return n;
}

double pp_series_step(const pp_figure *f, const pp_series *s)
{
  return s->h > 0.0 ? s->h : f->h;
}

/* ---- References ---- */

/* Distance of the times at which a series is compared: its finest step; its coarsest where
 * the end alone counts. */
static double spacing_of(const pp_figure *f, const pp_series *s)
{
  const double finest = pp_series_step(f, s) / pow(2.0, f->kind == PP_ORDERS ? f->levels - 1 : 0);
  if (f->kind == PP_ORDERS && !f->maximum)
    return f->t_end / fmax(nearbyint(f->t_end / pp_series_step(f, s)), 1.0);
  if (!(s->split > 0.0)) return finest;
  int parts = 2; /* both steps are multiples of 2h over the denominator of split */
  while (parts < 10 && fabs(s->split * parts - nearbyint(s->split * parts)) > 1e-9) parts++;
  return 2.0 * finest / parts;
}

static int covers(const vf_reference *ref, double spacing, double end)
{
  const double ratio = spacing / vf_reference_spacing(ref);
  return fabs(ratio - nearbyint(ratio)) < 1e-9 * ratio && ratio > 0.5 &&
         vf_reference_spacing(ref) * (double)vf_reference_length(ref) > end * (1.0 - 1e-9);
}

/* NULL, with a reason in text: there is none. */
static vf_reference *reference_for(pp_library *l, const pp_figure *f, const pp_series *s, char *text,
                                   size_t size)
{
  const double spacing = spacing_of(f, s);
  for (int i = 0; i < l->n; i++)
    if (strcmp(l->kept[i].problem, s->problem) == 0 && covers(l->kept[i].ref, spacing, f->t_end))
      return l->kept[i].ref;
  const ex_problem *p = ex_problem_find(s->problem);
  snprintf(text, size, "no room for another reference");
  if (!p || l->n == MOST_REFERENCES) return NULL;
  vf_reference *ref = vf_reference_create(p, spacing, lround(f->t_end / spacing), text, size);
  if (ref) l->kept[l->n++] = (kept){s->problem, ref};
  return ref;
}

static int needs_reference(const pp_figure *f, const pp_series *s)
{
  int facts = 0;
  for (int i = 0; i < PP_FACTS && f->facts[i].text; i++)
    facts |= f->facts[i].measure == PP_END_ERROR || f->facts[i].measure == PP_LARGEST_ERROR ||
             f->facts[i].measure == PP_FLIPS;
  return s->problem && (f->kind == PP_ORDERS || f->with_reference || facts);
}

/* The reference at the present time, or where a stands. q NULL: not at this time. */
static ga_point exact_point(const pp_run *r, vf_reference *ref, pp_block block)
{
  const double t = ga_stepper_state(r->st)->t, dt = vf_reference_spacing(ref);
  const long i = lround(t / dt);
  if (block == PP_A)
    return vf_reference_between(ref, t + (r->scheme.alpha_m - r->scheme.alpha_f) * r->last_h);
  if (fabs(t - (double)i * dt) > 1e-6 * dt || i > vf_reference_length(ref)) return (ga_point){.q = NULL};
  return vf_reference_at(ref, i);
}

static double norm(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (a[i] - (b ? b[i] : 0.0)) * (a[i] - (b ? b[i] : 0.0));
  return isnan(sum) ? INFINITY : sqrt(sum);
}

/* ---- Errors over steps ---- */

static int measure_errors(pp_run *r, vf_reference *ref, int at_end, double error[PP_QUANTITIES])
{
  const pp_figure *f = r->f;
  const double t = ga_stepper_state(r->st)->t, until = r->s->until > 0.0 ? r->s->until : f->t_end;
  const int counts = f->maximum ? t >= r->s->from - 1e-9 * until && t <= until * (1.0 + 1e-9) : at_end;
  for (int i = 0; counts && i < pp_count_quantities(f); i++) {
    double now[PP_COMPONENTS], exact[PP_COMPONENTS];
    const pp_block block = f->quantities[i].block;
    if (block == PP_A && !at_end) continue; /* a reference between samples is costly */
    const ga_point p = exact_point(r, ref, block);
    if (!p.q) return pp_run_fail(r, "no reference at this time", GA_ERR_ARGUMENT);
    const int n = pp_run_values(r, i, now);
    if (n < 0) return 1;
    pp_point_values(r, i, &p, exact);
    double e = norm(now, exact, n);
    if (f->relative) e /= norm(exact, NULL, n);
    error[i] = f->maximum && block != PP_A ? fmax(error[i], e) : e;
  }
  return 0;
}

/* One series at one step; errors of all quantities. */
static int run_level(pp_run *r, pp_library *l, vf_reference *ref, double h, double error[PP_QUANTITIES])
{
  const double until = r->s->until > 0.0 && r->f->maximum ? r->s->until : r->f->t_end;
  const long n = lround(until / h);
  int bad = pp_run_open(r, l->models, h);
  for (long k = 0; k < n && !bad; k++)
    bad = pp_run_step(r, h, k) || measure_errors(r, ref, k == n - 1, error);
  return bad;
}

static int make_curves(pp_result *out, int series, int n)
{
  for (int q = 0; q < out->n_quantities; q++) {
    pp_curve *c = &out->curve[series][q];
    c->n = n;
    c->slope = NAN;
    c->x = calloc((size_t)n + 1, sizeof *c->x);
    c->y = calloc((size_t)n + 1, sizeof *c->y);
    c->exact = calloc((size_t)n + 1, sizeof *c->exact);
    if (!c->x || !c->y || !c->exact) return snprintf(out->failure, sizeof out->failure, "out of memory"), 1;
  }
  return 0;
}

static void measure_slopes(pp_result *out, int series)
{
  const pp_figure *f = out->figure;
  const int fit = f->fit > 0 ? f->fit : f->levels - 1;
  for (int q = 0; q < out->n_quantities; q++) {
    pp_curve *c = &out->curve[series][q];
    c->slopes[0] = NAN;
    for (int i = 1; i < c->n; i++) c->slopes[i] = log2(c->y[i - 1] / c->y[i]);
    c->slope = c->slopes[fit];
    if (f->series[series].slope[q] == 0.0) continue;
    out->n_checks++;
    out->n_failed += !pp_slope_good(f, series, q, c->slope);
  }
}

static int run_orders(const pp_figure *f, pp_library *l, int series, pp_result *out)
{
  const pp_series *s = &f->series[series];
  vf_reference *ref = reference_for(l, f, s, out->failure, sizeof out->failure);
  if (!ref || make_curves(out, series, f->levels)) return 1;
  out->failure[0] = '\0';
  double h = pp_series_step(f, s);
  for (int i = 0; i < f->levels; i++, h *= 0.5) {
    double error[PP_QUANTITIES] = {0};
    pp_run r = {.f = f, .s = s, .failure = out->failure, .failure_size = sizeof out->failure};
    const int bad = run_level(&r, l, ref, h, error);
    if (r.st) out->steps += ga_stepper_stats(r.st)->steps;
    pp_run_close(&r);
    if (bad) return 1;
    for (int q = 0; q < out->n_quantities; q++) {
      out->curve[series][q].x[i] = h;
      out->curve[series][q].y[i] = error[q];
    }
  }
  measure_slopes(out, series);
  return 0;
}

/* ---- Values over time ---- */

static int store(pp_run *r, vf_reference *ref, pp_result *out, int series, int at)
{
  for (int q = 0; q < out->n_quantities; q++) {
    pp_curve *c = &out->curve[series][q];
    double now[PP_COMPONENTS], exact[PP_COMPONENTS] = {0};
    if (pp_run_values(r, q, now) < 0) return 1;
    c->x[at] = ga_stepper_state(r->st)->t;
    c->y[at] = now[0];
    if (!ref) continue;
    const ga_point p = exact_point(r, ref, PP_Q);
    if (!p.q) return pp_run_fail(r, "no reference at this time", GA_ERR_ARGUMENT);
    pp_point_values(r, q, &p, exact);
    c->exact[at] = exact[0];
  }
  return 0;
}

static int run_motion(const pp_figure *f, pp_library *l, int series, pp_result *out)
{
  const pp_series *s = &f->series[series];
  const double h = pp_series_step(f, s);
  const long n = lround(f->t_end / h);
  vf_reference *ref = NULL;
  if (needs_reference(f, s) && !(ref = reference_for(l, f, s, out->failure, sizeof out->failure))) return 1;
  out->failure[0] = '\0';
  if (make_curves(out, series, (int)n + 1)) return 1;
  pp_run r = {.f = f, .s = s, .failure = out->failure, .failure_size = sizeof out->failure};
  int bad = pp_run_open(&r, l->models, h), at = 0;
  if (!bad) bad = store(&r, ref, out, series, at++);
  /* a simulator may divide steps: only the ends of whole ones are kept */
  for (long k = 0; at <= n && !bad; k++) {
    bad = pp_run_step(&r, h, k);
    if (!bad && r.sim && ga_stepper_state(r.st)->t < (double)at * h * (1.0 - 1e-9)) continue;
    if (!bad) bad = store(&r, ref, out, series, at++);
  }
  if (r.st) out->steps += ga_stepper_stats(r.st)->steps;
  pp_run_close(&r);
  for (int q = 0; q < out->n_quantities && !ref; q++) {
    free(out->curve[series][q].exact);
    out->curve[series][q].exact = NULL;
  }
  return bad;
}

/* ---- Facts ---- */

static double largest(const pp_curve *c, const pp_fact *fact, int of_error)
{
  double most = 0.0;
  for (int i = 0; i < c->n; i++)
    if (c->x[i] >= fact->from - 1e-12 && (fact->until == 0.0 || c->x[i] <= fact->until + 1e-12))
      most = fmax(most, fabs(c->y[i] - (of_error ? c->exact[i] : 0.0)));
  return most;
}

static double count_flips(const pp_curve *c)
{
  int flips = 0;
  for (int i = c->n > FLIP_STEPS ? c->n - FLIP_STEPS : 1; i < c->n; i++)
    flips += (c->y[i] - c->exact[i]) * (c->y[i - 1] - c->exact[i - 1]) < 0.0;
  return flips;
}

static double measure_fact(const pp_result *r, const pp_fact *fact)
{
  const pp_curve *c = &r->curve[fact->series][fact->quantity];
  const int last = c->n - 1;
  if (!c->x || (!c->exact && (fact->measure == PP_END_ERROR || fact->measure == PP_LARGEST_ERROR ||
                              fact->measure == PP_FLIPS)))
    return NAN;
  switch (fact->measure) {
  case PP_END:
    return c->y[last];
  case PP_END_ERROR:
    return fabs(c->y[last] - c->exact[last]);
  case PP_LARGEST:
    return largest(c, fact, 0);
  case PP_LARGEST_ERROR:
    return largest(c, fact, 1);
  case PP_FLIPS:
    return count_flips(c);
  default:
    return largest(c, fact, 0) / largest(&r->curve[fact->other][fact->quantity], fact, 0);
  }
}

int pp_fact_good(const pp_fact *fact, double observed)
{
  return observed >= fact->low && observed <= fact->high;
}

int pp_slope_good(const pp_figure *f, int series, int quantity, double observed)
{
  const double expected = f->series[series].slope[quantity];
  return expected == 0.0 || fabs(observed - expected) <= (f->band > 0.0 ? f->band : 0.15);
}

/* ---- The figure ---- */

void pp_figure_run(const pp_figure *f, pp_library *library, pp_progress_fn progress, void *user, pp_result *r)
{
  *r = (pp_result){.figure = f, .n_series = pp_count_series(f), .n_quantities = pp_count_quantities(f)};
  for (int s = 0; s < r->n_series; s++) {
    if (progress) progress(user, (double)s / r->n_series);
    if (f->kind == PP_ORDERS ? run_orders(f, library, s, r) : run_motion(f, library, s, r)) {
      r->n_failed++;
      return;
    }
  }
  for (int i = 0; i < PP_FACTS && f->facts[i].text; i++) {
    r->fact[i] = measure_fact(r, &f->facts[i]);
    r->n_checks++;
    r->n_failed += !pp_fact_good(&f->facts[i], r->fact[i]);
  }
}

void pp_result_free(pp_result *r)
{
  for (int s = 0; s < PP_SERIES; s++)
    for (int q = 0; q < PP_QUANTITIES; q++) {
      free(r->curve[s][q].x);
      free(r->curve[s][q].y);
      free(r->curve[s][q].exact);
    }
  *r = (pp_result){0};
}
