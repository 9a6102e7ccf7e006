/* Every model of examples/models is read without a message, started and run for a while. Those that have a
 * twin among examples/machines must have its signals, with the same bits at the end; the others are asked for
 * what their controllers and gears are there for. */
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

enum { BRIEF_STEPS = 200, MOST_SET = 4, FEWEST_MODELS = 44 };

#define PLACE_01 "x=0 m", "y=0 m", "z=0 m", "tilt=0 deg"
#define PLACE_02 "x=1 m", "y=2 m", "z=3 m", "tilt=-45 deg"

/* Model, machine, and the parameters with which the model is that machine. */
static const struct {
  const char *model, *machine, *set[MOST_SET];
} twins[] = {
    {"simple_pendulum", "simple_pendulum", {0}},
    {"double_pendulum", "double_pendulum", {0}},
    {"four_bar", "four_bar", {0}},
    {"four_bar_3d", "four_bar_3d", {0}},
    {"gyroscopic", "gyroscopic", {0}},
    {"bricard", "bricard", {0}},
    {"bennett", "bennett", {0}},
    {"door", "door_three_hinges", {0}},
    {"door", "door_one_hinge", {"hinges=1"}},
    {"n_four_bar", "n_four_bar_1", {"n=1"}},
    {"n_four_bar", "n_four_bar_2", {"n=2"}},
    {"n_four_bar", "n_four_bar_3", {0}},
    {"n_four_bar", "n_four_bar_5", {"n=5"}},
    {"n_four_bar", "n_four_bar_10", {"n=10"}},
    {"n_four_bar", "n_four_bar_40", {"n=40"}},
    {"light_cart_pole", "light_cart_pole", {0}},
    {"rhombus", "rhombus", {0}},
    {"car_axis", "car_axis_parts", {0}},
    {"joint_revolute", "revolute_01", {0}},
    {"joint_revolute", "revolute_02", {PLACE_02}},
    {"joint_spherical", "spherical_01", {0}},
    {"joint_spherical", "spherical_02", {PLACE_02}},
    {"joint_prismatic", "prismatic_01", {PLACE_01}},
    {"joint_prismatic", "prismatic_02", {0}},
    {"joint_prismatic", "prismatic_03", {"tilt=-90 deg"}},
    {"joint_torsion_spring", "torsion_spring_01", {0}},
    {"line_spring", "line_spring_02", {0}},
    {"heavy_top", "heavy_top_parts", {0}},
    {"tumbling_top", "tumbling_top_parts", {0}},
    {"rolling_disk", "rolling_disk_parts", {0}},
    {"rolling_disk_rotor", "rolling_disk_rotor", {0}},
    {"bicycle", "bicycle", {0}},
    {"bicycle", "bicycle_slow", {"v=4 m/s"}},
    {"bicycle", "bicycle_fast", {"v=7 m/s"}},
    {"torsion_pendulum", "pendulum_parts", {0}},
    {"torsion_pendulum_space", "pendulum_space", {0}},
    {"slider_crank", "slider_crank_parts", {0}},
    {"slider_crank_space", "slider_crank_space", {0}},
    {"slider_crank_hht", "slider_crank_hht_parts", {0}},
    {"slider_crank_hht_space", "slider_crank_hht_space", {0}},
    {"slider_crank_3d", "slider_crank_3d", {0}},
    {"andrews", "andrews_bars", {0}},
    {"andrews_pins", "andrews_parts", {0}},
    {"spring_mass", "spring_mass_parts", {0}},
    {"quarter_car_step", "quarter_car_step", {0}},
    {"quarter_car_skyhook", "quarter_car_skyhook", {0}},
    {"quarter_car_hydraulic", "quarter_car_blocks", {0}},
};

/* What a model without a twin must show: |a − factor·b| at most `bound`, b NULL standing for 1. */
static const struct {
  const char *model;
  double t; /* [s] when; 0: at the end */
  const char *a, *b;
  double factor, bound;
} shown[] = {
    /* half a period later, by the elliptic integral, it is as far on the other side */
    {"pendulum", 0.8332306332502136, "hinge.angle", NULL, 2.0943951023931953, 1e-5},
    {"arm", 0, "hinge.angle", NULL, 1.0471975511965976, 2e-3},
    {"chain", 1, "energy.balance", NULL, 0, 1e-2}, /* of 340 J that its weight has done by then */
    {"cart_pole", 0, "track.displacement", "setpoint", 1, 1e-5},
    {"cart_pole", 0, "hinge.angle", NULL, 0, 1e-5},
    {"cart_pole", 0, "observer.y2", "track.displacement_rate", 1, 1e-9},
    {"cart_pole", 0, "observer.y4", "hinge.angle_rate", 1, 1e-9},
    /* the example of that name, integrated in another formulation with 34 digits */
    {"mechatronic", 0, "bar.angle", NULL, 0.1369564976857599, 1e-6},
    {"mechatronic", 0, "pin.fx", NULL, 2.463248391623624, 1e-5},
    {"mechatronic", 0, "amplifier", NULL, 5.1737883537525, 2e-5},
    {"mechatronic", 0, "damper", NULL, -0.45695055384802985, 1e-6},
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
    /* other programs, elements much finer: 16 to 2 thousandths are those of 32 elements */
    {"flying_spaghetti", 0, "beam.x", NULL, 19.56276, 2e-3},
    {"flying_spaghetti", 0, "beam.z", NULL, -1.50770, 3e-3},
    {"flying_spaghetti", 0, "beam.end.x", NULL, 11.87883, 2e-3},
    {"flying_spaghetti", 0, "beam.end.y", NULL, 6.88135, 3e-3},
    {"spin_up_beam", 0, "tip.x", NULL, 10.00051453, 1e-6},
    {"spin_up_beam", 6.8, "tip.y", NULL, -0.57376, 1e-3},
    /* by the method of Runge and Kutta in steps of 0.2 ms */
    {"bungee", 2, "jumper.z", NULL, -19.407431148, 1e-3},
    {"bungee", 3, "jumper.x", NULL, 0.526427379, 1e-3},
    {"bungee", 4, "jumper.z", NULL, -11.925952110, 2e-3},
    /* nine modes of a simply supported beam with shear, by the method of Runge and Kutta; more modes change
       the middle by 1e-3 of it */
    {"trolley", 3, "middle.z", NULL, -0.025720, 4e-5},
    {"trolley", 5, "middle.z", NULL, -0.036706, 6e-5},
    {"trolley", 5, "load.x", NULL, 5.948753, 5e-4},
    {"trolley", 16, "middle.z", NULL, -0.020483, 2e-5},
    {"trolley", 16, "load.x", NULL, 10.097938, 5e-4},
    /* with a beam of 16 elements in place of its modes; stresses change frequencies by a few hundredths */
    {"elastic_slider_crank", 0.25, "slider.x", NULL, 0.1799681, 2e-6},
    {"elastic_slider_crank", 0.25, "rod.middle.y", NULL, -0.0570670, 1e-5},
};

/* ---- One run of a machine, with the settings of a model ---- */

typedef struct drive {
  ga_context *ctx;
  ga_machine *m;
  ga_stepper *st;
  ga_meter *meter;
  ga_simulator *sim;
  double *from, *signal;
  ga_status metered; /* of the callback */
} drive;

static void drive_close(drive *d)
{
  free(d->from);
  free(d->signal);
  ga_simulator_destroy(&d->sim);
  ga_meter_destroy(&d->meter);
  ga_stepper_destroy(&d->st);
}

static int on_step(void *user, const ga_stepper *st)
{
  drive *d = user;
  d->metered = ga_meter_update(d->meter, ga_stepper_state(st));
  return d->metered != GA_OK;
}

/* Positions q and states x at rest; see the key from_equilibrium. */
static ga_status settle(drive *d, double t, double *q, size_t nq, double *x, size_t nx)
{
  ga_equilibrium *eq = NULL;
  ga_equilibrium_opts opts = ga_equilibrium_defaults();
  opts.hold_free = 1; /* as a run does: wheels, and the place of a car on its road, stay where they are */
  ga_status status = ga_equilibrium_create(d->ctx, ga_machine_system(d->m), &opts, &eq);
  if (!status) status = ga_equilibrium_solve(eq, t, q, x, NULL);
  const ga_state *rest = status ? NULL : ga_equilibrium_state(eq);
  if (rest) memcpy(q, rest->q, nq * sizeof *q);
  if (rest && nx > 0) memcpy(x, rest->x, nx * sizeof *x);
  ga_equilibrium_destroy(&eq);
  return status;
}

static ga_status prepare(drive *d, const ga_run_settings *set, double t_end)
{
  const ga_system *sys = ga_machine_system(d->m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  ga_stepper_opts so = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  so.method = set->method;
  o.t_end = t_end;
  o.fixed_h = set->step;
  if (!(set->step > 0)) o.rtol = o.atol = o.rtol_x = o.atol_x = set->tolerance;
  o.observer = on_step;
  o.user = d;
  d->from = calloc(nq + nv + nx + 1, sizeof *d->from);
  d->signal = calloc((size_t)ga_machine_n_signals(d->m) + 1, sizeof *d->signal);
  ga_status status = d->from && d->signal ? GA_OK : GA_ERR_MEMORY;
  if (!status) status = ga_scheme_rho(d->ctx, set->rho, &so.scheme);
  if (!status) status = ga_stepper_create(d->ctx, sys, &so, &d->st);
  if (!status) status = ga_meter_create(ga_machine_context(d->m), d->m, &d->meter);
  if (!status) status = ga_machine_initial(d->m, d->from, d->from + nq, d->from + nq + nv);
  if (!status && set->from_equilibrium) status = settle(d, set->t_start, d->from, nq, d->from + nq + nv, nx);
  if (!status) status = ga_simulator_create(d->ctx, d->st, &o, &d->sim);
  if (!status)
    status = ga_simulator_start(d->sim, NULL, set->t_start, d->from, d->from + nq, d->from + nq + nv, NULL,
                                NULL, NULL);
  return status ? status : ga_meter_start(d->meter, ga_stepper_state(d->st));
}

/* To t_end; all signals there. */
static ga_status drive_run(drive *d, const ga_run_settings *set, double t_end)
{
  ga_status status = prepare(d, set, t_end);
  if (!status) status = ga_simulator_run(d->sim);
  if (d->metered) status = d->metered;
  if (!status)
    status = ga_machine_signals(d->m, d->meter, ga_stepper_state(d->st), ga_machine_n_signals(d->m), NULL,
                                d->signal);
  return status;
}

/* ---- One run of a model ---- */

typedef struct model_run {
  ga_context *ctx;
  ga_model *model;
  drive drive;
} model_run;

static void run_close(model_run *r)
{
  drive_close(&r->drive);
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

/* Read, without a single message. `set`: "name=value" for parameters, up to the first NULL. */
static int run_read(model_run *r, const char *name, const char *const set[MOST_SET], char *text, size_t size)
{
  char path[1000];
  ga_model_opts o = ga_model_defaults();
  snprintf(path, sizeof path, "%s/%s.yaml", VF_MODELS, name);
  o.set = set;
  while (set && o.n_set < MOST_SET && set[o.n_set]) o.n_set++;
  *r = (model_run){0};
  ga_status status = ga_context_create(NULL, &r->ctx);
  if (!status) status = ga_model_read_file(r->ctx, path, &o, &r->model);
  if (status || ga_model_n_messages(r->model) > 0) return run_explain(r, status, text, size);
  r->drive = (drive){.ctx = r->ctx, .m = ga_model_machine(r->model)};
  return 1;
}

static int run_finish(model_run *r, double t_end, char *text, size_t size)
{
  const ga_status status = drive_run(&r->drive, ga_model_settings(r->model), t_end);
  return status ? run_explain(r, status, text, size) : 1;
}

static const double *run_signal(const model_run *r, const char *name)
{
  const int i = ga_machine_find_signal(r->drive.m, name);
  return i >= 0 ? &r->drive.signal[i] : NULL;
}

/* ---- Twins ---- */

/* Do all signals have the same bits? *worst: the largest difference, to find out why where they do not. */
static int compare_signals(const model_run *r, const drive *c, double *worst, char *text, size_t size)
{
  const int n = ga_machine_n_signals(c->m), n_mine = ga_machine_n_signals(r->drive.m);
  int same = n == n_mine;
  *worst = 0;
  if (!same) snprintf(text, size, "%d signals, the machine has %d", n_mine, n);
  for (int i = 0; i < n; i++) {
    const double *mine = run_signal(r, ga_machine_signal_name(c->m, i));
    if (mine && memcmp(mine, &c->signal[i], sizeof *mine) == 0) continue;
    const double off = mine ? fabs(*mine - c->signal[i]) : INFINITY;
    if (same || off > *worst)
      snprintf(text, size, "%s %s, off by %.2e", ga_machine_signal_name(c->m, i),
               mine ? "differs" : "is not there", off);
    *worst = fmax(*worst, off);
    same = 0;
  }
  return same;
}

/* The machine in C, by the same run. */
static int twin_run(const model_run *r, const mx_machine *machine, double t_end, double *worst, char *text,
                    size_t size)
{
  const mx_options o = mx_options_of(machine);
  mx_run c;
  ga_status status = mx_run_open(&c, machine, &o, NULL);
  drive d = {.ctx = c.b.ctx, .m = c.b.m};
  if (!status) status = drive_run(&d, ga_model_settings(r->model), t_end);
  if (status) mx_run_explain(&c, status, text, (int)size);
  const int same = !status && compare_signals(r, &d, worst, text, size);
  drive_close(&d);
  mx_run_close(&c);
  return same;
}

static int same_settings(const ga_run_settings *set, const mx_machine *machine)
{
  const double h = machine->rtol > 0 ? 0 : machine->h;
  return set->t_end == machine->t_end && set->step == h && set->rho == machine->rho &&
         (h > 0 || set->tolerance == machine->rtol);
}

static void check_twin(const vf_sink *s, int i, const mx_machine *machine)
{
  char text[GA_ERROR_TEXT + 128] = "", label[64];
  const char *first = twins[i].set[0];
  const double t_end = s->brief ? fmin(machine->t_end, BRIEF_STEPS * machine->h) : machine->t_end;
  model_run r;
  double worst = INFINITY;
  snprintf(label, sizeof label, "%s%s%s", twins[i].model, first ? " " : "", first ? first : "");
  int good = run_read(&r, twins[i].model, twins[i].set, text, sizeof text);
  if (good && !(good = same_settings(ga_model_settings(r.model), machine)))
    snprintf(text, sizeof text, "t_end, step, rho or tolerance are not those of the machine");
  good = good && run_finish(&r, t_end, text, sizeof text) &&
         twin_run(&r, machine, t_end, &worst, text, sizeof text);
  s->check(s->user, good, machine->name, "model", text);
  printf("  %-32s %-24s to t = %-6g ", label, machine->name, t_end);
  if (good)
    printf("the same bits\n");
  else
    printf("%9.2e FAIL\n", worst);
  run_close(&r);
}

/* ---- What others show ---- */

static void check_shown(const vf_sink *s, int i)
{
  char text[GA_ERROR_TEXT + 128] = "";
  const char *name = shown[i].model;
  model_run r;
  double off = NAN, t = shown[i].t;
  int good = run_read(&r, name, NULL, text, sizeof text);
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
  printf("  %-32s %-24s at t = %-6g %9.2e (%.0e)  %s\n", name, shown[i].a, t, off, shown[i].bound,
         good ? "ok" : "FAIL");
  run_close(&r);
}

/* ---- The folder ---- */

static void check_model(const vf_sink *s, const char *name)
{
  char text[GA_ERROR_TEXT + 128] = "";
  model_run r;
  int good = run_read(&r, name, NULL, text, sizeof text);
  good = good && run_finish(&r, ga_model_settings(r.model)->t_start + SHORT_RUN, text, sizeof text);
  s->check(s->user, good, "models", name, text);
  if (!good) printf("  %-32s FAIL  %s\n", name, text);
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
  snprintf(text, sizeof text, "%d models found, at least %d are expected", n, FEWEST_MODELS);
  s->check(s->user, n >= FEWEST_MODELS, "models", "folder", text);
  printf("  %d models read without a message, started and run\n", n);
}

void vf_models_run(const vf_sink *s)
{
  printf("\nModels: the same machine in C, and what controllers reach\n");
  for (int i = 0; i < (int)(sizeof twins / sizeof *twins); i++) {
    const mx_machine *machine = mx_machine_find(twins[i].machine);
    if (!s->wanted(s->user, twins[i].machine) && !s->wanted(s->user, "models")) continue;
    if (s->check(s->user, machine != NULL, twins[i].model, "model", "its machine is not there"))
      check_twin(s, i, machine);
  }
  if (!s->wanted(s->user, "models")) return;
  for (int i = 0; i < (int)(sizeof shown / sizeof *shown); i++) check_shown(s, i);
  check_folder(s);
}
