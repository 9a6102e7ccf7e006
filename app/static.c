/* galpha static: an equilibrium of a model, or a path of equilibria. */
#include "call.h"
#include "runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Signals of the analysis itself, recorded after the machine's signals. */
enum { LOAD_FACTOR, ITERATIONS, UNSTABLE, N_OWN };
static const char *const own_names[N_OWN] = {"static.load_factor", "static.iterations", "static.unstable"};
static const char *const own_units[N_OWN] = {"1", "1", "1"};

/* ---- Options ---- */

static int take_options(app_runner *r, ga_equilibrium_opts *o)
{
  const app_arguments *a = r->a;
  long steps = 10, most = o->max_steps, iterations = o->max_iterations;
  const int by_steps = app_has(a, "load-steps"), by_path = app_has(a, "path");
  if (app_has(a, "buckling") && (by_steps || by_path))
    return app_misused(a, "--buckling and --%s exclude each other", by_steps ? "load-steps" : "path");
  if (by_steps && by_path) return app_misused(a, "--load-steps and --path exclude each other");
  static const char *const of_steps[] = {"load", "max-steps"}, *const of_path[] = {"load-step",
                                                                                   "max-load-step"};
  for (int i = 0; i < 2; i++) {
    if (!by_steps && !by_path && app_has(a, of_steps[i]))
      return app_misused(a, "--%s has no effect without --load-steps or --path", of_steps[i]);
    if (!by_path && app_has(a, of_path[i]))
      return app_misused(a, "--%s has no effect without --path", of_path[i]);
  }
  int code = app_number(a, "load", "1", 1e-12, 1e12, &o->load);
  if (!code) code = app_integer(a, "load-steps", 1, 1000000, &steps);
  if (!code) code = app_integer(a, "max-steps", 1, 1000000000, &most);
  if (!code) code = app_integer(a, "iterations", 1, 100000, &iterations);
  o->load_step = o->load / (double)steps;
  if (!code) code = app_number(a, "load-step", "1", 1e-12, 1e12, &o->load_step);
  if (!code) code = app_number(a, "max-load-step", "1", 1e-12, 1e12, &o->max_step);
  o->control = by_path ? GA_LOAD_PATH : by_steps ? GA_LOAD_STEPS : GA_LOAD_AT_ONCE;
  o->max_steps = (int)most;
  o->max_iterations = (int)iterations;
  o->hold_free = app_has(a, "hold-free");
  o->lu = r->s.settings.linear_solver;
  o->max_change = r->s.settings.max_change;
  return code;
}

/* ---- Records ---- */

/* A record for each load step; its time is the number of the step. */
static int on_load(void *user, const ga_load_point *p)
{
  app_runner *r = user;
  ga_state at = *p->state;
  r->written = r->metered ? ga_meter_update(r->meter, &at) : ga_meter_start(r->meter, &at);
  r->metered = 1;
  if (!r->written) r->written = app_record_values(r, &at);
  r->values[r->n + LOAD_FACTOR] = p->load;
  r->values[r->n + ITERATIONS] = p->iterations;
  r->values[r->n + UNSTABLE] = p->stability == GA_STABILITY_UNKNOWN ? NAN : (double)p->n_unstable;
  if (!r->written && !app_record_is_finite(r, at.t)) r->written = GA_ERR_NAN;
  if (!r->written && !r->recorder) r->written = app_record_open(r, 0);
  if (!r->written)
    r->written = ga_recorder_add(r->recorder, (double)ga_recorder_n_records(r->recorder), r->values);
  return r->written != GA_OK || app_call_is_stopped();
}

/* ---- Report ---- */

static void print_coordinate(const app_runner *r, int i)
{
  char name[128] = "";
  const ga_system *sys = ga_machine_system(r->s.machine);
  if (i < 0 || i >= ga_system_size(sys, GA_BLOCK_V)) return;
  ga_system_name(sys, GA_BLOCK_V, i, name, sizeof name);
  printf(", most in %s", name);
}

static void print_stability(const app_runner *r, const ga_equilibrium_report *e)
{
  fputs("stability    ", stdout);
  if (e->stability == GA_STABLE)
    printf(e->judged < e->free_directions ? "stable (the %d softest of %d free directions were checked)\n"
                                          : "stable\n",
           e->judged, e->free_directions);
  else if (e->stability == GA_UNSTABLE) {
    printf("UNSTABLE in %d direction%s", e->n_unstable, e->n_unstable == 1 ? "" : "s");
    print_coordinate(r, e->coordinate);
    putchar('\n');
  } else if (e->stability == GA_NEUTRAL) {
    fputs("neutral: a motion without resistance is possible", stdout);
    print_coordinate(r, e->coordinate);
    printf(e->n_unstable > 0 ? "; also UNSTABLE in %d direction%s\n" : "\n", e->n_unstable,
           e->n_unstable == 1 ? "" : "s");
  } else
    puts(e->at_kink ? "not judged: the equations have a kink or jump exactly here" : "unknown");
}

static void print_critical(const app_runner *r, const ga_equilibrium_report *e)
{
  for (int i = 0; i < e->n_critical; i++) {
    const ga_critical_point *c = &e->critical[i];
    printf("%-12s at the load factor %.9g", c->kind == GA_LIMIT_POINT ? "limit point" : "bifurcation",
           c->load);
    print_coordinate(r, c->coordinate);
    putchar('\n');
  }
}

static void print_report(const app_runner *r, const ga_equilibrium_report *e)
{
  printf("equilibrium  at t = %.9g s, load factor %.9g\n", r->s.settings.t_start, e->load);
  if (e->load_steps > 1) printf("load steps   %ld\n", e->load_steps);
  if (e->redundant > 0) printf("redundant    %d constraint%s\n", e->redundant, e->redundant == 1 ? "" : "s");
  if (app_has(r->a, "verbose")) {
    printf("Newton       %ld iteration%s, %ld in the last load step; %ld factorisations\n", e->iterations,
           e->iterations == 1 ? "" : "s", e->last_iterations, e->factorisations);
    if (e->relaxation_steps > 0) printf("relaxation   %ld steps\n", e->relaxation_steps);
    printf("residuals    forces %.2g, constraints and outputs %.2g\n", e->residual, e->gap);
  }
  print_critical(r, e);
  print_stability(r, e);
}

/* ---- Buckling ---- */

#define MEANINGFUL 0.05 /* change of the first load factor at half of its load */

static void print_check(const ga_buckling_report *b)
{
  const double change = b->first_at_half / b->first - 1.0;
  if (isnan(b->first))
    puts("check        none of the load factors is positive");
  else if (isnan(change))
    puts("check        the state at half of the first load factor cannot be computed: follow the path, "
         "--path");
  else if (fabs(change) <= MEANINGFUL)
    printf("check        %.6g, linearised at half of the first load factor: a change of %.2g %%\n",
           b->first_at_half, 100.0 * change);
  else
    printf(
        "check        NOT MEANINGFUL: linearised at half of the first load factor, this is %.4g instead of\n"
        "             %.4g. The model deforms too much before it buckles: follow the path, --path --load "
        "%.2g\n",
        b->first_at_half, b->first, 1.5 * fmax(b->first, b->first_at_half));
}

static void print_buckling(const app_runner *r, const ga_buckling_report *b)
{
  printf("buckling     at t = %.9g s, linearised at the initial positions\n", r->s.settings.t_start);
  for (int i = 0; i < b->n; i++) {
    printf("%-12d load factor %.9g%s", i + 1, b->mode[i].load,
           b->mode[i].load < 0.0 ? " (with the load reversed)" : "");
    print_coordinate(r, b->mode[i].coordinate);
    putchar('\n');
  }
  if (b->n > 0) print_check(b);
  if (b->n_complex > 0)
    printf("flutter      %d pair%s of load factors not real: oscillations may grow, which this analysis does "
           "not "
           "show\n",
           b->n_complex, b->n_complex == 1 ? " is" : "s are");
}

/* ---- The command ---- */

static ga_status find_equilibrium(app_runner *r, ga_equilibrium_opts *o, int n_buckling,
                                  ga_equilibrium_report *report, ga_buckling_report *buckling)
{
  const ga_system *sys = ga_machine_system(r->s.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  ga_equilibrium *eq = NULL;
  if (!q) return GA_ERR_MEMORY;
  o->observer = on_load;
  o->user = r;
  ga_status status = ga_machine_initial(r->s.machine, q, q + nq, q + nq + nv);
  if (!status) status = ga_meter_create(r->s.ctx, r->s.machine, &r->meter);
  if (!status) status = ga_equilibrium_create(r->s.ctx, sys, o, &eq);
  if (!status && n_buckling > 0)
    status = ga_equilibrium_buckling(eq, r->s.settings.t_start, q, q + nq + nv, n_buckling, buckling);
  else if (!status)
    status = ga_equilibrium_solve(eq, r->s.settings.t_start, q, q + nq + nv, report);
  ga_equilibrium_destroy(&eq);
  free(q);
  return status;
}

static int report_end(app_runner *r, ga_status status, const ga_equilibrium_report *report,
                      const ga_buckling_report *buckling)
{
  const int quiet = app_has(r->a, "quiet");
  const ga_error why = *ga_context_error(r->s.ctx);
  const long records = r->recorder ? ga_recorder_n_records(r->recorder) : 0;
  const ga_status closed = r->recorder
                               ? ga_recorder_finish(r->recorder, status ? GA_RUN_FAILED : GA_RUN_FINISHED,
                                                    status ? ga_status_text(status) : NULL)
                               : GA_OK;
  if (!quiet && !status && buckling)
    print_buckling(r, buckling);
  else if (!quiet && !buckling && (!status || report->load_steps > 0))
    print_report(r, report);
  if (!quiet && records > 0 && !closed)
    printf("results      %s: %ld record%s of %d signals\n", r->file, records, records == 1 ? "" : "s",
           r->n + r->n_own);
  fflush(stdout);
  if (r->metered && !status && !buckling) app_warn_of_pulls(r->meter);
  if (r->written || closed)
    app_task_explain(&r->s, r->a, *r->overflow ? r->overflow : "the results cannot be written",
                     closed ? closed : r->written);
  else if (status) {
    char text[GA_ERROR_TEXT];
    if (why.status == status) app_call_keep_error(r->s.ctx);
    ga_error_say(&why, GA_SAY_ALL, text, sizeof text);
    fprintf(stderr, "galpha static: %s\n", why.status == status ? text : ga_status_text(status));
  }
  return status || closed ? APP_FAILED : APP_DONE;
}

int app_static(const app_arguments *a)
{
  app_runner r = {
      .a = a, .n_own = N_OWN, .own_names = own_names, .own_units = own_units, .analysis = "static"};
  ga_equilibrium_opts opts = ga_equilibrium_defaults();
  ga_equilibrium_report report = {0};
  ga_buckling_report buckling = {0};
  long n_buckling = 0;
  int code = app_task_open(&r.s, a);
  r.s.settings.accuracy = 0.0; /* no error bars */
  if (!code) code = app_integer(a, "buckling", 1, GA_MOST_CRITICAL, &n_buckling);
  if (!code) code = take_options(&r, &opts);
  if (!code) code = app_record_file(&r);
  if (!code) code = app_record_choose(&r);
  if (!code) {
    app_record_drop_work(&r); /* there is no motion */
    const ga_status status = find_equilibrium(&r, &opts, (int)n_buckling, &report, &buckling);
    code = report_end(&r, status, &report, n_buckling > 0 ? &buckling : NULL);
  }
  ga_recorder_destroy(&r.recorder);
  ga_meter_destroy(&r.meter);
  app_task_close(&r.s);
  app_record_free(&r);
  return code;
}
