/* Every row of the table of settings, given in three ways: in a model file, by an option of the program, and
 * in C. All three must make the same run, to the last bit; and another one than without the setting.
 *
 *   settings PROGRAM FOLDER
 *
 * A row of the table that has no case here is a failure, so that no setting is added without one. */
#define _POSIX_C_SOURCE 200809L
#include "galpha/galpha.h"
#include "galpha/model.h"
#include "galpha/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_RECORDS = 4000, MOST_SIGNALS = 6, TEXT = 4096 };

/* ---- Models ---- */

/* A top in space on a ball joint, with a motor behind a filter: rotations, constraints,
 * states and outputs. */
static const char top[] =
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  top: {type: rigid, mass: 2, inertia: [0.02, 0.03, 0.04], position: [0, 0.3, 0.4],\n"
    "        velocity: [-1.9, -0.4, 0.3], omega: [1, 2, 9]}\n"
    "joints: {tip: {type: spherical, a: ground, b: top, at: [0, 0, 0]}}\n"
    "blocks:\n"
    "  lag: {type: first_order, time_constant: 0.2 s, inputs: sin(5*t) + top.x}\n"
    "forces: {push: {type: force, frame: top, force: [3*lag, 0, 0]}}\n";
static const char *const of_top[] = {"top.x", "top.vy", "top.wz", "tip.fz", "lag", NULL};
static const char *const of_drawing[] = {"top.x", "top.y:pose", NULL};

/* The same without states, and a rod on two hinges: loops. */
static const char plain_top[] =
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  top: {type: rigid, mass: 2, inertia: [0.02, 0.03, 0.04], position: [0, 0.3, 0.4],\n"
    "        velocity: [-1.9, -0.4, 0.3], omega: [1, 2, 9]}\n"
    "joints: {tip: {type: spherical, a: ground, b: top, at: [0, 0, 0]}}\n";
static const char *const of_plain_top[] = {"top.x", "top.vy", "top.wz", "tip.fz", NULL};

/* A door on two hinges, one of which repeats the other, but for a gap of 1e-8 m; it hangs 1 mm too low. */
static const char door[] = "gravity: [0, 1, -9.81]\n"
                           "bodies:\n"
                           "  door: {type: rigid, mass: 20, inertia: [2, 3, 2], position: [0.5, 0, -1 mm]}\n"
                           "markers:\n"
                           "  high: {body: door, position: [-0.5, 0, 0.8]}\n"
                           "  low: {body: door, position: [-0.5, 1e-8, -0.8]}\n"
                           "  post_high: {body: ground, position: [0, 0, 0.8]}\n"
                           "  post_low: {body: ground, position: [0, 0, -0.8]}\n"
                           "joints:\n"
                           "  upper: {type: revolute, a: post_high, b: high}\n"
                           "  lower: {type: revolute, a: post_low, b: low}\n";
static const char *const of_door[] = {"door.x", "door.vy", "upper.angle", NULL};

/* A mass flies through a narrow place where something pushes. */
static const char bump[] =
    "bodies: {p: {type: point, mass: 1, velocity: [1, 0, 0]}}\n"
    "forces: {push: {type: force, frame: p, force: [0, 20*exp(-((p.x - 0.5)/0.002)^2), 0]}}\n";
static const char *const of_bump[] = {"p.x", "p.y", NULL};

/* A mass that swings about where its spring carries it. */
static const char swing[] =
    "gravity: [0, 0, -9.81]\n"
    "bodies: {p: {type: point, mass: 1, position: [0, 0, -1]}}\n"
    "forces: {hold: {type: bushing, a: ground, b: p, stiffness: [100, 100, 100, 0, 0, 0]}}\n";
static const char *const of_swing[] = {"p.z", "p.vz", NULL};

/* ---- Cases ---- */

typedef struct one_case {
  const char *name;  /* of the setting */
  const char *value; /* as in a file, and on the command line */
  const char *with;  /* other settings, in both runs; NULL: those of `usual` */
  const char *model; /* NULL: top */
  const char *const *signals;
  int same;          /* 1: the value is the only possible one, so that nothing changes */
  int program_alone; /* 1: what it does is done by the program, not by the library */
} one_case;

static const char usual[] = "t_end: 0.5, tolerance: 1e-5, output: 10 ms";

#define EQUAL "t_end: 0.5, step: 5 ms, output: 10 ms"
#define OF_PLAIN .model = plain_top, .signals = of_plain_top
#define OF_DOOR .model = door, .signals = of_door

static const one_case cases[] = {
    {.name = "t_start", .value = "0.1 s"},
    {.name = "t_end", .value = "400 ms"},
    {.name = "step", .value = "2 ms", .with = EQUAL},
    {.name = "step", .value = "2 ms", .with = "t_end: 0.5, output: 10 ms"},
    {.name = "tolerance", .value = "1e-6", .with = "t_end: 0.5, output: 10 ms, accuracy: 0"},
    {.name = "max_step", .value = "1 ms"},
    {.name = "min_step", .value = "0.2 s"},
    {.name = "first_step", .value = "0.3 ms"},
    {.name = "accuracy", .value = "1e-2", .program_alone = 1},
    {.name = "accuracy", .value = "0", .with = "t_end: 0.5, output: 10 ms", .program_alone = 1},
    {.name = "error", .value = "per_unit_step"},
    {.name = "norm", .value = "rms"},
    {.name = "error_forces",
     .value = "true",
     .with = "t_end: 0.5, tolerance: 1e-5, output: 10 ms, method: collocation"},
    {.name = "atol", .value = "1e-9"},
    {.name = "rtol_v",
     .value = "1e-8",
     .with = "t_end: 0.5, tolerance: 1e-5, output: 10 ms, error: per_unit_step"},
    {.name = "atol_v",
     .value = "1e-8",
     .with = "t_end: 0.5, tolerance: 1e-5, output: 10 ms, error: per_unit_step"},
    {.name = "rtol_x", .value = "1e-9"},
    {.name = "atol_x", .value = "1e-11"},
    {.name = "defect_points",
     .value = "0",
     .with = "t_end: 1, tolerance: 1e-4, output: 0.1",
     .model = bump,
     .signals = of_bump},
    {.name = "method", .value = "soi2"},
    {.name = "order", .value = "4", .with = "t_end: 0.5, tolerance: 1e-7, output: 10 ms, method: collocation"},
    {.name = "scheme", .value = "newmark"},
    {.name = "rho", .value = "0.3"},
    {.name = "hht_alpha", .value = "-0.3", .with = EQUAL ", scheme: hht"},
    {.name = "newmark_beta", .value = "0.4", .with = EQUAL ", scheme: newmark"},
    {.name = "newmark_gamma", .value = "0.5", .with = EQUAL ", scheme: newmark", .same = 1},
    {.name = "commutator", .value = "false"},
    {.name = "adjust", .value = "gamma"},
    {.name = "move_offset",
     .value = "false",
     .with = "t_end: 0.5, tolerance: 1e-5, output: 10 ms, method: index3"},
    {.name = "mass_alpha", .value = "previous", .with = EQUAL ", method: weighted"},
    {.name = "full_solve", .value = "true", .with = EQUAL ", method: soi2", OF_PLAIN},
    {.name = "newton_tolerance", .value = "1e-5"},
    {.name = "newton_iterations", .value = "1", .with = EQUAL},
    {.name = "newton_factors", .value = "each_iteration", .with = EQUAL},
    {.name = "newton_patience", .value = "0", .with = EQUAL},
    {.name = "eta_terms", .value = "triangular", .with = EQUAL},
    {.name = "predictor", .value = "constant", .with = EQUAL},
    {.name = "linear_solver", .value = "sparse", .with = EQUAL},
    {.name = "redundant", .value = "refuse", OF_DOOR},
    {.name = "project", .value = "false", OF_DOOR},
    {.name = "shift_a", .value = "false", .with = EQUAL},
    {.name = "perturb_v", .value = "false", .with = EQUAL ", method: index3"},
    {.name = "project_velocity", .value = "plain", .with = EQUAL ", method: index3"},
    {.name = "project_velocity_at", .value = "0.2", .with = EQUAL ", method: index3, project_velocity: plain"},
    {.name = "max_change", .value = "1e-5", OF_DOOR},
    {.name = "max_gap", .value = "1e-10", OF_DOOR},
    {.name = "from_equilibrium", .value = "true", .model = swing, .signals = of_swing, .program_alone = 1},
    {.name = "output", .value = "50 ms"},
    {.name = "poses",
     .value = "false",
     .with = "t_end: 0.5, tolerance: 1e-5, output: 10 ms, record: [top.x]",
     .signals = of_drawing,
     .program_alone = 1},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* ---- Runs ---- */

typedef struct records {
  int failed; /* 1: the run did not come to its end */
  long n;
  int m;
  double t[MOST_RECORDS], value[MOST_SIGNALS][MOST_RECORDS];
} records;

static int n_failures;
static const char *program, *folder;

static void fail(const one_case *c, const char *what)
{
  fprintf(stderr, "settings: %s = %s: %s\n", c->name, c->value, what);
  n_failures++;
}

static const char *const *signals_of(const one_case *c)
{
  return c->signals ? c->signals : of_top;
}

static void write_model(char text[TEXT], const one_case *c, int with_value)
{
  snprintf(text, TEXT, "galpha: 1\n%ssimulation: {%s%s%s%s%s}\n", c->model ? c->model : top,
           c->with ? c->with : usual, with_value ? ", " : "", with_value ? c->name : "",
           with_value ? ": " : "", with_value ? c->value : "");
}

/* Where a file gives a key already, the case's value takes its place. */
static void write_case(char text[TEXT], const one_case *c)
{
  char key[64], before[TEXT];
  snprintf(key, sizeof key, " %s: ", c->name);
  write_model(text, c, 0);
  char *section = strstr(text, "simulation: {"), *at = strstr(section, key);
  if (!at && strncmp(section + strlen("simulation: {"), key + 1, strlen(key + 1)) == 0)
    at = section + strlen("simulation: {") - 1;
  if (!at) {
    write_model(text, c, 1);
    return;
  }
  strcpy(before, text);
  const size_t head = (size_t)(at - text) + strlen(key);
  const char *rest = before + head + strcspn(before + head, ",}");
  snprintf(text + head, TEXT - head, "%s%s", c->value, rest);
}

/* In C: a model from text, its settings, and what they say of stepper, start and simulator. */
typedef struct run {
  ga_machine *machine;
  const one_case *c;
  records *out;
} run;

static int keep(void *user, const ga_state *s)
{
  run *r = user;
  records *out = r->out;
  const char *const *name = signals_of(r->c);
  if (out->n >= MOST_RECORDS) return 1;
  out->t[out->n] = s->t;
  for (out->m = 0; name[out->m]; out->m++) {
    const int index = ga_machine_find_signal(r->machine, name[out->m]);
    if (index < 0 || ga_machine_signals(r->machine, NULL, s, 1, &index, &out->value[out->m][out->n]))
      return 1;
  }
  out->n++;
  return 0;
}

static ga_status simulate(ga_context *ctx, ga_machine *m, const ga_run_settings *settings, run *r)
{
  ga_stepper_opts opts;
  ga_simulate_opts sim = ga_simulate_defaults();
  const ga_start_opts start = ga_run_start_opts(settings);
  const ga_system *sys = ga_machine_system(m);
  ga_stepper *stepper = NULL;
  ga_simulator *simulator = NULL;
  double q[64], v[64], x[64];
  sim.output = keep;
  sim.user = r;
  ga_status status = ga_run_stepper_opts(ctx, settings, &opts);
  if (!status) status = ga_stepper_create(ctx, sys, &opts, &stepper);
  if (!status) status = ga_run_simulate_opts(ctx, settings, &sim);
  if (!status) status = ga_simulator_create(ctx, stepper, &sim, &simulator);
  if (!status) status = ga_machine_initial(m, q, v, x);
  if (!status) status = ga_simulator_start(simulator, &start, settings->t_start, q, v, x, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(simulator);
  ga_simulator_destroy(&simulator);
  ga_stepper_destroy(&stepper);
  return status;
}

/* Sets the member that the table says, from the same text. */
static int set_member(ga_context *ctx, const one_case *c, const ga_setting *at, ga_run_settings *settings)
{
  void *member = (char *)settings + at->offset;
  double number = 0;
  if (at->type == GA_SETTING_CHOICE) {
    for (int i = 0; i < at->n_choices; i++)
      if (strcmp(at->choices[i], c->value) == 0) return *(int *)member = i, 1;
    return 0;
  }
  if (at->type == GA_SETTING_FLAG) return *(int *)member = strcmp(c->value, "true") == 0, 1;
  if (ga_quantity_parse(ctx, c->value, at->unit, &number, NULL, NULL)) return 0;
  if (at->type == GA_SETTING_INTEGER)
    *(int *)member = (int)number;
  else
    *(double *)member = number;
  return 1;
}

/* The number that the table says, of either type. */
static double member_of(const ga_setting *at, const ga_run_settings *settings)
{
  const void *member = (const char *)settings + at->offset;
  return at->type == GA_SETTING_NUMBER ? *(const double *)member : *(const int *)member;
}

/* set 0: the model as it is, without the case's value; 1: with it, set in C; 2: with it, from its file. */
static void run_in_c(const one_case *c, const ga_setting *at, int set, double *value, records *out)
{
  char text[TEXT];
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  memset(out, 0, sizeof *out);
  if (set == 2)
    write_case(text, c);
  else
    write_model(text, c, 0);
  if (ga_context_create(NULL, &ctx)) exit(2);
  if (ga_model_read_text(ctx, "model", text, strlen(text), NULL, &model)) {
    fail(c, "the model cannot be read");
    for (int i = 0; i < ga_model_n_messages(model); i++)
      fprintf(stderr, "  %s\n", ga_model_message_at(model, i)->text);
  } else {
    ga_run_settings settings = *ga_model_settings(model);
    run r = {ga_model_machine(model), c, out};
    if (set == 1 && !set_member(ctx, c, at, &settings)) fail(c, "the value is not understood");
    if (set == 1)
      ga_run_choose_steps(&settings, strcmp(c->name, "step") == 0, strcmp(c->name, "tolerance") == 0,
                          strcmp(c->name, "accuracy") == 0);
    *value = member_of(at, &settings);
    out->failed = simulate(ctx, r.machine, &settings, &r) != GA_OK;
  }
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

/* The program, with the case's value in the file, by its option, or without it. */
typedef enum { BY_KEY, BY_OPTION, WITHOUT } way;

static void run_program(const one_case *c, const ga_setting *at, way how, records *out, char *attribute,
                        size_t size)
{
  char text[TEXT], path[512], command[2048], option[64];
  ga_context *ctx = NULL;
  ga_result *result = NULL;
  const int by_option = how == BY_OPTION;
  memset(out, 0, sizeof *out);
  if (how == BY_KEY)
    write_case(text, c);
  else
    write_model(text, c, 0);
  snprintf(path, sizeof path, "%s/model.yaml", folder);
  FILE *f = fopen(path, "w");
  if (!f || fputs(text, f) < 0 || fclose(f)) exit(2);
  snprintf(option, sizeof option, "--%s", at->option ? at->option : at->name);
  for (char *p = option; *p; p++)
    if (*p == '_') *p = '-';
  snprintf(command, sizeof command,
           "rm -f '%s/out.h5'; '%s' run -q '%s' -o '%s/out.h5' --checkpoint-every 0 %s%s%s%s 2>'%s/said'",
           folder, program, path, folder, by_option ? option : "", by_option ? "='" : "",
           by_option ? c->value : "", by_option ? "'" : "", folder);
  const int code = system(command);
  if (!WIFEXITED(code) || WEXITSTATUS(code) > 1)
    fail(c, by_option ? "the option is refused" : "the key is refused");
  out->failed = code != 0;
  attribute[0] = '\0';
  if (ga_context_create(NULL, &ctx)) exit(2);
  snprintf(path, sizeof path, "%s/out.h5", folder);
  if (ga_result_open(ctx, path, &result) == GA_OK) {
    const char *was = ga_result_attribute(result, at->name);
    snprintf(attribute, size, "%s", was ? was : "");
    out->n = ga_result_n_records(result);
    if (out->n > MOST_RECORDS) out->n = MOST_RECORDS;
    ga_result_read(result, -1, 0, out->n, out->t);
    const char *const *name = signals_of(c);
    for (out->m = 0; name[out->m]; out->m++)
      ga_result_read(result, ga_result_find(result, name[out->m]), 0, out->n, out->value[out->m]);
  }
  ga_result_close(&result);
  ga_context_destroy(&ctx);
}

/* ---- Comparisons ---- */

static int same_runs(const records *a, const records *b)
{
  if (a->failed != b->failed) return 0;
  if (a->failed) return 1;
  if (a->n != b->n || a->m != b->m || a->n == 0 || memcmp(a->t, b->t, sizeof(double) * (size_t)a->n) != 0)
    return 0;
  for (int k = 0; k < a->m; k++)
    if (memcmp(a->value[k], b->value[k], sizeof(double) * (size_t)a->n) != 0) return 0;
  return 1;
}

static int says_value(const ga_setting *at, const char *attribute, double value)
{
  if (at->type == GA_SETTING_CHOICE) return strcmp(attribute, at->choices[(int)value]) == 0;
  if (at->type == GA_SETTING_FLAG) return strcmp(attribute, value != 0 ? "true" : "false") == 0;
  return attribute[0] && strtod(attribute, NULL) == value;
}

static void try_case(const one_case *c)
{
  static records base, set, read, by_file, by_option;
  char file_says[128], option_says[128];
  double was = 0, value = 0, from_file = 0;
  ga_setting at;
  if (!ga_setting_find(c->name, &at)) {
    fail(c, "there is no such setting");
    return;
  }
  run_in_c(c, &at, 0, &was, &base);
  run_in_c(c, &at, 1, &value, &set);
  run_in_c(c, &at, 2, &from_file, &read);
  run_program(c, &at, BY_KEY, &by_file, file_says, sizeof file_says);
  if (c->program_alone) run_program(c, &at, WITHOUT, &base, option_says, sizeof option_says);
  run_program(c, &at, BY_OPTION, &by_option, option_says, sizeof option_says);
  if (value != from_file) fail(c, "another value is read from the file than is set in C");
  if ((was == value) != c->same) fail(c, c->same ? "it is another value" : "it is the default");
  if (!same_runs(&by_file, &by_option)) fail(c, "the key and the option make different runs");
  if (!c->program_alone && !same_runs(&set, &read)) fail(c, "C and the key make different runs");
  if (!c->program_alone && !same_runs(&set, &by_file)) fail(c, "C and the program make different runs");
  if (!c->same && same_runs(&base, c->program_alone ? &by_file : &set)) fail(c, "it changes nothing");
  if (base.failed) fail(c, "the run without it fails");
  if (file_says[0] && !says_value(&at, file_says, value))
    fail(c, "the result of the key has another attribute");
  if (!by_option.failed && !says_value(&at, option_says, value))
    fail(c, "the result of the option has another attribute");
}

int main(int argc, char **argv)
{
  ga_setting at;
  if (argc != 3) return fputs("usage: settings PROGRAM FOLDER\n", stderr), 2;
  program = argv[1];
  folder = argv[2];
  char command[1024];
  snprintf(command, sizeof command, "mkdir -p '%s'", folder);
  if (system(command) != 0) return 2;
  for (int i = 0; i < N_CASES; i++) try_case(&cases[i]);
  int n = 0;
  for (; ga_setting_at(n, &at); n++) {
    int found = 0;
    for (int i = 0; i < N_CASES && !found; i++) found = strcmp(cases[i].name, at.name) == 0;
    if (!found) fprintf(stderr, "settings: %s has no case\n", at.name), n_failures++;
  }
  printf("%d settings in %d cases, %d failures\n", n, (int)N_CASES, n_failures);
  return n_failures > 0;
}
