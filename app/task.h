/* A model that is read and prepared for simulation, for run, check, converge and others. */
#ifndef GALPHA_APP_TASK_H
#define GALPHA_APP_TASK_H

#include "app.h"
#include "progress.h"

#include "prescribe.h"

#include "galpha/galpha.h"
#include "galpha/model.h"

/* Warnings of the library, printed or held back: each is printed once. */
enum { APP_WARNINGS = 32 };
typedef struct app_warnings {
  int n, n_said; /* those from number n_said on are held back */
  int hold;      /* 1: new ones are held back */
  char *text[APP_WARNINGS];
  ga_reason reason[APP_WARNINGS];
} app_warnings;

typedef struct app_task {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;      /* the model's */
  ga_run_settings settings; /* the model's, with those of the command line */
  double tolerance;         /* the tolerance as given */
  ga_stepper *stepper;
  ga_simulator *simulator;
  ga_event_watch *events; /* of simulators whose events are not watched otherwise; NULL: the model has none */
  ga_start_report start;
  app_prescribed prescribed; /* by options */
  ga_status (*settle)(void *user, ga_equilibrium *eq); /* NULL: none; called where a start finds an equilibrium */
  void *settle_user;
  app_progress progress;     /* its bar is cleared before warnings are printed */
  app_warnings warnings;
  int n_notes; /* information from the library that is no warning */
  double *a0;  /* of --a0 */
  int quiet;   /* 1: messages about the model, warnings and notes are not printed */
} app_task;

/* Reads the first operand as a model, prints its messages on stderr, and applies options. Returns an exit
 * code. The task has to be closed after failures too. */
int app_task_open(app_task *s, const app_arguments *a);
/* The same model again, whose messages, warnings and notes have been printed. */
int app_task_open_again(app_task *s, const app_arguments *a);
/* The same with another method or form than the model and the options give; each may be NULL. With a method,
 * options that it does not use are accepted. */
int app_task_open_as(app_task *s, const app_arguments *a, const ga_method *method, const ga_form *form);
void app_task_close(app_task *s);

/* Creates stepper and simulator for these settings, in place of existing ones; opts: callbacks and user. */
ga_status app_task_prepare(app_task *s, const ga_run_settings *settings, const ga_simulate_opts *opts);
/* Options of a simulator with these settings; other members of *o are kept. */
ga_status app_task_simulate_opts(const app_task *s, const ga_run_settings *settings, ga_simulate_opts *o);
/* report 1: app_task_report() will follow, so warnings that it contains are not printed. */
ga_status app_task_start(app_task *s, int report);
/* Goes to the state about which to linearise: the start, or the state at a later time [s]. */
ga_status app_task_reach(app_task *s, double at);

/* Warnings of a start are held back until they are released; reported: app_task_report() follows, which has
 * some of them. */
void app_task_hold_warnings(app_task *s);
void app_task_release_warnings(app_task *s, int reported);

/* Prints a status on stderr: "galpha run: WHAT: text"; text is that of the context's last error if it has
 * this status. */
void app_task_explain(const app_task *s, const app_arguments *a, const char *what, ga_status status);
/* Prints the probable cause on stderr, indented, if initial positions are refused. */
void app_task_advise(const app_task *s);
/* Warns of contacts that pulled and ropes that pushed. */
void app_warn_of_pulls(const ga_meter *meter);
/* Prints mobility, redundant constraints and what the start changed. coordinates 1: also coordinates of
 * joints; verbose 1: also residuals and the numerical start of the method. */
void app_task_report(const app_task *s, FILE *out, int coordinates, int verbose);
/* Settings of the command line, into *o. Both return exit codes. */
int app_settings_take(const app_arguments *a, ga_run_settings *o);
/* Refuses options that have no effect because of other options or the model. */
int app_settings_unused(const app_arguments *a, const ga_run_settings *o);
/* Errors and warnings of a model, on stderr. */
void app_print_messages(const ga_model *model);
/* From the table of settings: the name of a choice; "rho 0.8"; the name of the option. */
enum { APP_OPTION_NAME = 32 };
const char *app_choice(const ga_run_settings *o, const char *name);
void app_scheme_text(const ga_run_settings *o, char *text, size_t size);
void app_option_name(const ga_setting *at, char name[APP_OPTION_NAME]);

#endif
