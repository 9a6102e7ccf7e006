/* Every model of examples/models is read without a message, started and run for a while. Those that have a
 * twin among examples/machines must have all its signals, with the same values at the end; the others are
 * asked for what their controllers and gears are there for. */
#define _POSIX_C_SOURCE 200809L
#include "models.h"

#include "galpha/model.h"
#include "machines/run.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_RUN 0.05 /* [s] */
#define TOLERANCE 1e-9 /* between twins, relative to the largest value of the signal's unit, at least 1 */

enum { BRIEF_STEPS = 200 };

/* Model and machine. */
static const struct {
  const char *model, *machine;
} twins[] = {
    {"simple_pendulum", "simple_pendulum"},
    {"double_pendulum", "double_pendulum"},
    {"gyroscopic", "gyroscopic"},
    {"bricard", "bricard"},
    {"heavy_top", "heavy_top_parts"},
    {"rolling_disk", "rolling_disk_parts"},
    {"slider_crank", "slider_crank_parts"},
    {"slider_crank_3d", "slider_crank_3d"},
    {"andrews", "andrews_bars"},
    {"four_bar_3d", "four_bar_3d"},
    {"spring_mass", "spring_mass_parts"},
    {"quarter_car_step", "quarter_car_step"},
    {"quarter_car_skyhook", "quarter_car_skyhook"},
};

/* What a model without a twin must show: |a − factor·b| at most `bound`, b NULL standing for 1. */
static const struct {
  const char *model;
  double t; /* [s] when; 0: at the end */
  const char *a, *b;
  double factor, bound;
} shown[] = {
    {"cart_pole", 0, "track.displacement", "setpoint", 1, 1e-5},
    {"cart_pole", 0, "hinge.angle", NULL, 0, 1e-5},
    {"cart_pole", 0, "observer.y2", "track.displacement_rate", 1, 1e-9},
    {"cart_pole", 0, "observer.y4", "hinge.angle_rate", 1, 1e-9},
    {"four_bar_motor", 0, "rotor", "A.angle", 20, 1e-9},
    {"four_bar_motor", 0, "rotor.rate", "A.angle_rate", 20, 1e-9},
    {"four_bar_motor", 0, "motor.force", "current", 0.1, 1e-12},
    /* what the motor puts in is found in the bars and the rotor, which have about 15 J */
    {"four_bar_motor", 0, "energy.balance", NULL, 0, 1e-4},
    /* the motors hold the arm until its setpoints move, and where they end */
    {"robot_arm", 0.2, "shoulder.angle", NULL, -0.52359877559829887, 1e-9},
    {"robot_arm", 0.2, "elbow.angle", NULL, 1.5707963267948966, 1e-9},
    {"robot_arm", 0, "shoulder.angle", "shoulder_setpoint", 1, 1e-3},
    {"robot_arm", 0, "elbow.angle", "elbow_setpoint", 1, 1e-3},
    {"robot_arm", 0, "tool.z", NULL, 0, 1e-9},
};

/* ---- One run of a model ---- */

typedef struct model_run {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *st;
  ga_meter *meter;
  ga_simulator *sim;
  double *from, *signal;
  ga_status metered; /* of the callback */
} model_run;

static void run_close(model_run *r)
{
  free(r->from);
  free(r->signal);
  ga_simulator_destroy(&r->sim);
  ga_meter_destroy(&r->meter);
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
}

/* The first message of the reader, or the context's error; always 0. */
static int run_explain(const model_run *r, ga_status status, char *text, size_t size)
{
  const ga_model_message *m =
      r->model && ga_model_n_messages(r->model) > 0 ? ga_model_message_at(r->model, 0) : NULL;
  const ga_error *e = r->ctx ? ga_context_error(r->ctx) : NULL;
  if (m)
    snprintf(text, size, "line %d: %s", m->line, m->text);
  else
    snprintf(text, size, "%s", e && e->status ? e->text : ga_status_text(status));
  return 0;
}

/* Read, without a single message. */
static int run_read(model_run *r, const char *path, char *text, size_t size)
{
  *r = (model_run){0};
  ga_status status = ga_context_create(NULL, &r->ctx);
  if (!status) status = ga_model_read_file(r->ctx, path, NULL, &r->model);
  if (status || ga_model_n_messages(r->model) > 0) return run_explain(r, status, text, size);
  return 1;
}

static int on_step(void *user, const ga_stepper *st)
{
  model_run *r = user;
  r->metered = ga_meter_update(r->meter, ga_stepper_state(st));
  return r->metered != GA_OK;
}

static ga_status prepare(model_run *r, double t_end)
{
  const ga_run_settings *set = ga_model_settings(r->model);
  ga_machine *m = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  ga_stepper_opts so = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  so.method = set->method;
  o.t_end = t_end;
  o.fixed_h = set->step;
  if (!(set->step > 0)) o.rtol = o.atol = o.rtol_x = o.atol_x = set->tolerance;
  o.observer = on_step;
  o.user = r;
  r->from = calloc(nq + nv + nx + 1, sizeof *r->from);
  r->signal = calloc((size_t)ga_machine_n_signals(m) + 1, sizeof *r->signal);
  ga_status status = r->from && r->signal ? GA_OK : GA_ERR_MEMORY;
  if (!status) status = ga_scheme_rho(r->ctx, set->rho, &so.scheme);
  if (!status) status = ga_stepper_create(r->ctx, sys, &so, &r->st);
  if (!status) status = ga_meter_create(m, &r->meter);
  if (!status) status = ga_machine_initial(m, r->from, r->from + nq, r->from + nq + nv);
  if (!status) status = ga_simulator_create(r->ctx, r->st, &o, &r->sim);
  if (!status)
    status = ga_simulator_start(r->sim, NULL, set->t_start, r->from, r->from + nq, r->from + nq + nv, NULL,
                                NULL, NULL);
  return status ? status : ga_meter_start(r->meter, ga_stepper_state(r->st));
}

/* To t_end, with the settings of the model; the signals there. */
static int run_finish(model_run *r, double t_end, char *text, size_t size)
{
  const ga_machine *m = ga_model_machine(r->model);
  ga_status status = prepare(r, t_end);
  if (!status) status = ga_simulator_run(r->sim);
  if (r->metered) status = r->metered;
  if (!status)
    status =
        ga_machine_signals(m, r->meter, ga_stepper_state(r->st), ga_machine_n_signals(m), NULL, r->signal);
  return status ? run_explain(r, status, text, size) : 1;
}

static const double *run_signal(const model_run *r, const char *name)
{
  const int i = ga_machine_find_signal(ga_model_machine(r->model), name);
  return i >= 0 ? &r->signal[i] : NULL;
}

static void model_path(char *path, size_t size, const char *name)
{
  snprintf(path, size, "%s/%s.yaml", VF_MODELS, name);
}

/* ---- Twins ---- */

/* The size of what a signal measures: the largest value among the machine's signals of the same unit. */
static double scale_of(const ga_machine *m, const double *value, int n, int at)
{
  double scale = 1;
  for (int i = 0; i < n; i++)
    if (strcmp(ga_machine_signal_unit(m, i), ga_machine_signal_unit(m, at)) == 0)
      scale = fmax(scale, fabs(value[i]));
  return scale;
}

/* Largest difference over all signals of the machine; INFINITY where the model lacks one. */
static double compare_signals(const model_run *r, const ga_machine *m, const double *value, int n, char *text,
                              size_t size)
{
  double worst = 0;
  for (int i = 0; i < n; i++) {
    const double *mine = run_signal(r, ga_machine_signal_name(m, i));
    const double off = mine ? fabs(*mine - value[i]) / scale_of(m, value, n, i) : INFINITY;
    if (off <= worst) continue;
    worst = isnan(off) ? INFINITY : off;
    snprintf(text, size, "%s %s, off by %.2e, at most %.0e", ga_machine_signal_name(m, i),
             mine ? "differs" : "is not there", off, TOLERANCE);
  }
  return worst;
}

static int twin_run(const model_run *r, const mx_machine *machine, const mx_options *o, double *worst,
                    char *text, size_t size)
{
  mx_run c;
  ga_status status = mx_run_open(&c, machine, o, NULL);
  if (!status) status = mx_run_finish(&c, NULL, NULL);
  const int n = status ? 0 : ga_machine_n_signals(c.b.m);
  double *value = calloc((size_t)n + 1, sizeof *value);
  if (!status && !value) status = GA_ERR_MEMORY;
  if (!status) status = ga_machine_signals(c.b.m, c.meter, ga_stepper_state(c.st), n, NULL, value);
  if (status)
    mx_run_explain(&c, status, text, (int)size);
  else
    *worst = compare_signals(r, c.b.m, value, n, text, size);
  free(value);
  mx_run_close(&c);
  return !status;
}

static void check_twin(const vf_sink *s, const char *name, const mx_machine *machine)
{
  char path[1000], text[GA_ERROR_TEXT + 128] = "";
  mx_options o = mx_options_of(machine);
  model_run r;
  double worst = INFINITY;
  if (s->brief) o.t_end = fmin(o.t_end, BRIEF_STEPS * o.h);
  model_path(path, sizeof path, name);
  int good = run_read(&r, path, text, sizeof text);
  if (good) {
    const ga_run_settings *set = ga_model_settings(r.model);
    good = set->t_end == machine->t_end && set->step == machine->h && set->rho == machine->rho;
    if (!good) snprintf(text, sizeof text, "t_end, step or rho are not those of the machine");
  }
  good = good && run_finish(&r, o.t_end, text, sizeof text) &&
         twin_run(&r, machine, &o, &worst, text, sizeof text) && worst <= TOLERANCE;
  s->check(s->user, good, machine->name, "model", text);
  printf("  %-20s %-20s to t = %-6g %9.2e (%.0e)  %s\n", name, machine->name, o.t_end, worst, TOLERANCE,
         good ? "ok" : "FAIL");
  run_close(&r);
}

/* ---- What others show ---- */

static void check_shown(const vf_sink *s, int i)
{
  char path[1000], text[GA_ERROR_TEXT + 128] = "";
  const char *name = shown[i].model;
  model_run r;
  double off = NAN, t = shown[i].t;
  model_path(path, sizeof path, name);
  int good = run_read(&r, path, text, sizeof text);
  if (good && !(t > 0)) t = ga_model_settings(r.model)->t_end;
  good = good && run_finish(&r, t, text, sizeof text);
  if (good) {
    const double *a = run_signal(&r, shown[i].a), *b = shown[i].b ? run_signal(&r, shown[i].b) : NULL;
    if (a && (b || !shown[i].b)) off = fabs(*a - shown[i].factor * (b ? *b : 1));
    snprintf(text, sizeof text, "%s is %.2e from %g %s, at most %.0e", shown[i].a, off, shown[i].factor,
             shown[i].b ? shown[i].b : "", shown[i].bound);
    good = off <= shown[i].bound;
  }
  s->check(s->user, good, "models", name, text);
  printf("  %-20s %-20s at t = %-6g %9.2e (%.0e)  %s\n", name, shown[i].a, t, off, shown[i].bound,
         good ? "ok" : "FAIL");
  run_close(&r);
}

/* ---- The folder ---- */

static void check_model(const vf_sink *s, const char *name)
{
  char path[1000], text[GA_ERROR_TEXT + 128] = "";
  model_run r;
  model_path(path, sizeof path, name);
  int good = run_read(&r, path, text, sizeof text);
  good = good && run_finish(&r, ga_model_settings(r.model)->t_start + SHORT_RUN, text, sizeof text);
  s->check(s->user, good, "models", name, text);
  if (!good) printf("  %-20s FAIL\n", name);
  run_close(&r);
}

static void check_folder(const vf_sink *s)
{
  DIR *folder = opendir(VF_MODELS);
  char text[64];
  int n = 0;
  for (const struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
    char name[256];
    const size_t length = strlen(e->d_name);
    if (length <= 5 || length >= sizeof name || strcmp(e->d_name + length - 5, ".yaml") != 0) continue;
    memcpy(name, e->d_name, length - 5);
    name[length - 5] = '\0';
    check_model(s, name);
    n++;
  }
  if (folder) closedir(folder);
  snprintf(text, sizeof text, "%d models found, fewer than have twins", n);
  s->check(s->user, n >= (int)(sizeof twins / sizeof *twins), "models", "folder", text);
  printf("  %d models read without a message, started and run\n", n);
}

void vf_models_run(const vf_sink *s)
{
  printf("\nModels: largest difference from the same machine in C, and what controllers reach\n");
  for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
    const mx_machine *machine = mx_machine_find(twins[i].machine);
    if (!s->wanted(s->user, twins[i].machine) && !s->wanted(s->user, "models")) continue;
    if (s->check(s->user, machine != NULL, twins[i].model, "model", "its machine is not there"))
      check_twin(s, twins[i].model, machine);
  }
  if (!s->wanted(s->user, "models")) return;
  for (int i = 0; i < (int)(sizeof shown / sizeof *shown); i++) check_shown(s, i);
  check_folder(s);
}
