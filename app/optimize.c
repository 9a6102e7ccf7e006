/* galpha optimize: parameters for which a measure is best. */
#include "interrupt.h"
#include "search.h"

#include "progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct optimise {
  app_search s;
  const char **constraints;
  ga_optimum *optimum;
  double began;
} optimise;

static int no_memory(void)
{
  return fputs("galpha: out of memory\n", stderr), APP_FAILED;
}

static const char *of_unit(const char *unit)
{
  return strcmp(unit, "1") == 0 ? "" : unit;
}

static const char *spaced(const char *unit, char text[80])
{
  snprintf(text, 80, "%s%s", *of_unit(unit) ? " " : "", of_unit(unit));
  return text;
}

/* ---- Options ---- */

static const char *algorithm_at(const void *user, int i)
{
  (void)user;
  return ga_algorithm_at(i, NULL);
}

static int take_algorithm(const app_arguments *a, ga_algorithm *out)
{
  const char *text = app_text(a, "algorithm");
  int n = 0;
  if (!text) return APP_DONE;
  for (; ga_algorithm_at(n, NULL); n++)
    if (strcmp(ga_algorithm_at(n, NULL), text) == 0) return *out = (ga_algorithm)n, APP_DONE;
  const char *nearest = app_nearest(text, n, algorithm_at, NULL);
  return app_misused(
      a, "--algorithm: \"%s\" is none of auto, slsqp, mma, cobyla, bobyqa, sbplx, direct, crs, isres%s%s",
      text, nearest ? "; the nearest is " : "", nearest ? nearest : "");
}

static int take_options(optimise *w, ga_optimize_opts *o)
{
  const app_arguments *a = w->s.a;
  const char *least = app_text(a, "minimize"), *most = app_text(a, "maximize");
  long points = o->most_points, seed = (long)o->seed;
  if (!least == !most)
    return app_misused(
        a,
        least ? "--minimize and --maximize exclude each other"
              : "--minimize MEASURE or --maximize MEASURE is missing, as --minimize 'rms(NAME)' of a signal");
  while (app_values(a, "subject-to", o->n_constraints)) o->n_constraints++;
  w->constraints = calloc((size_t)o->n_constraints + 1, sizeof *w->constraints);
  if (!w->constraints) return no_memory();
  for (int i = 0; i < o->n_constraints; i++) w->constraints[i] = app_values(a, "subject-to", i)[0];
  int code = take_algorithm(a, &o->algorithm);
  if (!code) code = app_integer(a, "max-points", 1, 1000000000, &points);
  if (!code) code = app_integer(a, "seed", 0, 1000000000, &seed);
  if (!code) code = app_number(a, "precision", "1", 1e-12, 0.5, &o->precision);
  o->most_points = points;
  o->seed = (unsigned long)seed;
  o->objective = least ? least : most;
  o->maximize = most != NULL;
  o->constraints = w->constraints;
  o->differences = app_has(a, "differences");
  o->model = a->operands[0];
  o->allow_library = app_has(a, "allow-library");
  o->n_set = w->s.n_set, o->set = w->s.set;
  o->n_vary = w->s.n_vary, o->vary = w->s.vary;
  o->settings = &w->s.settings, o->n_given = w->s.n_given, o->given = w->s.given;
  o->jobs = (int)w->s.jobs;
  return code;
}

/* ---- The report ---- */

static void print_constraint(const ga_optimize_constraint *c)
{
  char unit[80];
  spaced(c->unit, unit);
  printf("  %s: %.6g%s", c->text, c->value, unit);
  if (c->active && isfinite(c->multiplier))
    printf(", active; the optimum changes by %.4g for 1%s of the limit", c->multiplier, unit);
  else
    printf("%s", c->active ? ", active" : ", with reserve");
  putchar('\n');
}

static void print_report(const optimise *w, const ga_optimize_report *r, const ga_optimize_opts *o)
{
  char time[32], set[256], unit[80];
  app_duration(time, sizeof time, app_clock() - w->began);
  puts(r->end == GA_OPTIMIZE_CONVERGED ? "optimum" : "best so far");
  for (int j = 0; j < r->n; j++) {
    const ga_optimize_parameter *p = &r->parameter[j];
    printf("  %-16s %.7g%s%s (from %.6g)\n", p->name, p->value, spaced(p->unit, unit),
           p->at_bound < 0   ? ", at its lower bound"
           : p->at_bound > 0 ? ", at its upper bound"
                             : "",
           p->start);
  }
  printf("objective    %s %.9g%s, at the start %.6g", o->objective, r->value, spaced(r->unit, unit),
         r->start);
  if (isfinite(r->verified)) printf("; %.9g in a run with more accuracy", r->verified);
  putchar('\n');
  if (r->n_constraints) puts("constraints");
  for (int i = 0; i < r->n_constraints; i++) print_constraint(&r->constraint[i]);
  printf("search       %s, %ld point%s, %ld run%s", r->algorithm, r->points, r->points == 1 ? "" : "s",
         r->runs, r->runs == 1 ? "" : "s");
  if (r->failed) printf(", of which %ld failed", r->failed);
  printf(", in %s\n", time);
  if (r->by_differences) printf("derivatives  not exact%s%s\n", *r->why ? ": " : "", r->why);
  printf("use it       ");
  for (int j = 0; j < r->n; j++) {
    app_search_set(set, sizeof set, r->parameter[j].name, r->parameter[j].value,
                   of_unit(r->parameter[j].unit));
    printf("%s--set \"%s\"", j ? " " : "", set);
  }
  putchar('\n');
}

static void json_pair(FILE *to, const char *before, const char *key, double x)
{
  fprintf(to, "%s\"%s\": ", before, key);
  app_json_number(to, x);
}

static void json_word(FILE *to, const char *before, const char *key, const char *text)
{
  fprintf(to, "%s\"%s\": ", before, key);
  app_json_text(to, text);
}

static int write_json(const optimise *w, const ga_optimize_report *r, const ga_optimize_opts *o,
                      const char *path)
{
  static const char *const ends[] = {[GA_OPTIMIZE_CONVERGED] = "converged",
                                     [GA_OPTIMIZE_POINTS] = "points",
                                     [GA_OPTIMIZE_INFEASIBLE] = "infeasible",
                                     [GA_OPTIMIZE_FAILED] = "failed",
                                     [GA_OPTIMIZE_STOPPED] = "stopped"};
  app_text_file t;
  if (app_text_open(&t)) return APP_FAILED;
  json_word(t.to, "{\n  ", "format", "galpha optimize 1");
  json_word(t.to, ",\n  ", "end", ends[r->end]);
  json_word(t.to, ",\n  ", "objective", o->objective);
  json_word(t.to, ",\n  ", "unit", of_unit(r->unit));
  json_pair(t.to, ",\n  ", "value", r->value);
  json_pair(t.to, ",\n  ", "start", r->start);
  json_pair(t.to, ",\n  ", "verified", r->verified);
  json_pair(t.to, ",\n  ", "gradient", r->gradient);
  fputs(",\n  \"parameters\": [", t.to);
  for (int j = 0; j < r->n; j++) {
    const ga_optimize_parameter *p = &r->parameter[j];
    json_word(t.to, j ? ",\n    {" : "\n    {", "name", p->name);
    json_word(t.to, ", ", "unit", of_unit(p->unit));
    json_pair(t.to, ", ", "value", p->value);
    json_pair(t.to, ", ", "start", p->start);
    json_pair(t.to, ", ", "lower", p->lower);
    json_pair(t.to, ", ", "upper", p->upper);
    json_pair(t.to, ", ", "slope", p->slope);
    fprintf(t.to, ", \"at_bound\": %d}", p->at_bound);
  }
  fputs("\n  ],\n  \"constraints\": [", t.to);
  for (int i = 0; i < r->n_constraints; i++) {
    const ga_optimize_constraint *c = &r->constraint[i];
    json_word(t.to, i ? ",\n    {" : "\n    {", "text", c->text);
    json_word(t.to, ", ", "unit", of_unit(c->unit));
    json_pair(t.to, ", ", "value", c->value);
    json_pair(t.to, ", ", "limit", c->limit);
    json_pair(t.to, ", ", "excess", c->excess);
    json_pair(t.to, ", ", "multiplier", c->multiplier);
    fprintf(t.to, ", \"active\": %s}", c->active ? "true" : "false");
  }
  json_word(t.to, r->n_constraints ? "\n  ],\n  " : "],\n  ", "algorithm", r->algorithm);
  fprintf(t.to, ",\n  \"points\": %ld,\n  \"runs\": %ld,\n  \"failed\": %ld", r->points, r->runs, r->failed);
  json_word(t.to, ",\n  ", "derivatives", r->by_differences ? "differences" : "exact");
  json_word(t.to, ",\n  ", "why", r->why);
  fputs(",\n  \"notes\": [", t.to);
  for (int i = 0; i < r->n_notes; i++) {
    fputs(i ? ",\n    " : "\n    ", t.to);
    app_json_text(t.to, r->notes[i]);
  }
  fputs(r->n_notes ? "\n  ]\n}\n" : "]\n}\n", t.to);
  return app_text_write(&t, w->s.a, path);
}

static int write_model(const optimise *w, const ga_optimize_report *r, const char *path)
{
  char(*text)[256] = calloc((size_t)r->n, sizeof *text);
  const char **set = calloc((size_t)r->n, sizeof *set);
  int code = text && set ? APP_DONE : no_memory();
  for (int j = 0; j < r->n && !code; j++) {
    app_search_set(text[j], sizeof text[j], r->parameter[j].name, r->parameter[j].value,
                   of_unit(r->parameter[j].unit));
    set[j] = text[j];
  }
  if (!code) code = app_search_write(&w->s, path, r->n, set);
  free(text);
  free(set);
  return code;
}

/* ---- The command ---- */

static int poll(void *user, long runs, double best)
{
  (void)user, (void)runs, (void)best;
  return app_stop_asked() != 0;
}

static int finish(const optimise *w, const ga_optimize_opts *o, const char *model, const char *json)
{
  static const char *const why[] = {
      [GA_OPTIMIZE_POINTS] =
          "not finished: all points are used up; --max-points allows more, from the values above",
      [GA_OPTIMIZE_INFEASIBLE] = "no point that was tried meets all constraints",
      [GA_OPTIMIZE_FAILED] = "the search gave up",
      [GA_OPTIMIZE_STOPPED] = "stopped; the values are the best so far"};
  const ga_optimize_report *r = ga_optimum_result(w->optimum);
  int code = APP_DONE;
  if (!app_has(w->s.a, "quiet")) print_report(w, r, o);
  fflush(stdout);
  for (int i = 0; i < r->n_notes; i++) fprintf(stderr, "warning: %s\n", r->notes[i]);
  if (model) code = write_model(w, r, model);
  if (!code && json) code = write_json(w, r, o, json);
  if (r->end == GA_OPTIMIZE_CONVERGED) return code;
  fprintf(stderr, "galpha optimize: %s\n", why[r->end]);
  return APP_FAILED;
}

static int run(optimise *w)
{
  static const char *const models[] = {".yaml", ".yml", ".json", NULL}, *const data[] = {".json", NULL};
  const char *model = NULL, *json = NULL;
  ga_optimize_opts o = ga_optimize_defaults();
  int code = take_options(w, &o);
  if (!code && app_search_file(&w->s, "out", models, &code)) model = app_text(w->s.a, "out");
  if (!code && app_search_file(&w->s, "json", data, &code)) json = app_text(w->s.a, "json");
  if (code) return code;
  o.poll = poll;
  app_catch_signals();
  w->began = app_clock();
  const ga_status status = ga_optimize(w->s.ctx, &o, &w->optimum);
  if (status == GA_STOPPED)
    return fputs("galpha optimize: stopped before there was a result\n", stderr), APP_FAILED;
  if (status) return app_search_explain(&w->s, status, ga_optimum_model(w->optimum));
  return finish(w, &o, model, json);
}

int app_optimize(const app_arguments *a)
{
  optimise w = {.began = 0.0};
  int code = app_search_open(&w.s, a);
  if (!code) code = run(&w);
  ga_optimum_destroy(&w.optimum);
  free(w.constraints);
  app_search_close(&w.s);
  return code;
}
