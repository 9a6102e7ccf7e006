/* galpha check: size and settings of a model, and whether it can be started. */
#include "task.h"

static void print_sizes(const app_task *s, const char *file)
{
  const ga_system *sys = ga_machine_system(s->machine);
  const char *title = ga_model_title(s->model);
  printf("%s%s%s\n", file, *title ? ": " : "", title);
  const int states = ga_system_size(sys, GA_BLOCK_X), outputs = ga_system_size(sys, GA_BLOCK_Y);
  const int bodies = ga_machine_n_bodies(s->machine), joints = ga_machine_n_joints(s->machine);
  const int velocities = ga_system_size(sys, GA_BLOCK_V);
  printf("%d bod%s, %d joint%s, %d velocit%s, %d holonomic and %d nonholonomic constraints, %d state%s, %d "
         "output%s, %d signals\n",
         bodies, bodies == 1 ? "y" : "ies", joints, joints == 1 ? "" : "s", velocities,
         velocities == 1 ? "y" : "ies", ga_system_size(sys, GA_BLOCK_LAMBDA),
         ga_system_size(sys, GA_BLOCK_PSI), states, states == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s",
         ga_machine_n_signals(s->machine));
}

static int may_have_order(const ga_run_settings *o)
{
  ga_method_info method = {0};
  ga_method_at((int)o->method, &method);
  return method.has_order;
}

static void print_settings(const ga_run_settings *o)
{
  char scheme[64];
  app_scheme_text(o, scheme, sizeof scheme);
  printf("simulation from t = %g s to %g s, %s, %s, ", o->t_start, o->t_end, app_choice(o, "method"), scheme);
  if (o->step > 0.0)
    printf("steps of %g s, ", o->step);
  else if (o->accuracy > 0.0)
    printf("accuracy %g, ", o->accuracy);
  else
    printf("tolerance %g, ", o->tolerance);
  if (o->output > 0.0)
    printf("a record every %g s\n", o->output);
  else
    puts(may_have_order(o) ? "every step recorded, long ones also within" : "every step recorded");
}

/* Warns of contacts that pull and ropes that push at the start. */
static void warn_of_start(const app_task *s)
{
  ga_meter *meter = NULL;
  if (ga_meter_create(ga_machine_context(s->machine), s->machine, &meter) == GA_OK &&
      ga_meter_start(meter, ga_stepper_state(s->stepper)) == GA_OK) {
    fflush(stdout);
    app_warn_of_pulls(meter);
  }
  ga_meter_destroy(&meter);
}

/* Where the machine can be seen: a page with --view; else the command, where a start moves it or fails. */
static int name_picture(const app_task *s, const app_arguments *a, int failed)
{
  fflush(stdout);
  if (app_has(a, "view")) return app_view(a);
  if (failed)
    fprintf(stderr, "  'galpha view %s' draws the machine as it is given\n", a->operands[0]);
  else if (ga_machine_moves(s->machine, s->stepper, NULL, 0) > 0)
    printf("  'galpha view %s' draws given and assembled positions\n", a->operands[0]);
  return APP_DONE;
}

int app_check(const app_arguments *a)
{
  app_task s;
  const ga_simulate_opts opts = ga_simulate_defaults();
  int code = app_task_open(&s, a);
  if (!code) {
    print_sizes(&s, a->operands[0]);
    print_settings(&s.settings);
    ga_status status = app_task_prepare(&s, &s.settings, &opts);
    if (!status) status = app_task_start(&s, 1);
    if (status) {
      app_task_explain(&s, a, "the machine cannot be started", status);
      name_picture(&s, a, 1);
      code = APP_FAILED;
    } else {
      app_task_report(&s, stdout, 1, app_has(a, "verbose"));
      warn_of_start(&s);
      code = name_picture(&s, a, 0);
    }
  }
  app_task_close(&s);
  return code;
}
