/* A model read and made ready to be simulated, as run, check and converge need it. */
#ifndef GALPHA_APP_TASK_H
#define GALPHA_APP_TASK_H

#include "app.h"
#include "progress.h"

#include "galpha/galpha.h"
#include "galpha/model.h"

/* Warnings of the library that have been said or are held back: each is said once. */
enum { APP_WARNINGS = 32 };
typedef struct app_warnings {
  int n, n_said; /* from number n_said on they are held back */
  int hold;      /* 1: new ones are */
  char *text[APP_WARNINGS];
  ga_reason reason[APP_WARNINGS];
} app_warnings;

typedef struct app_task {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;      /* the model's */
  ga_run_settings settings; /* the model's, and what options say instead */
  double tolerance;         /* of the settings as they were given */
  ga_stepper *stepper;
  ga_simulator *simulator;
  ga_start_report start;
  app_progress progress; /* warnings of the library must not stand within its bar */
  app_warnings warnings;
  int n_notes; /* of the library, which are no warnings */
} app_task;

/* Reads the first operand as a model, prints its messages on stderr, and applies options. Returns an exit
 * code; to be closed after failures too. */
int app_task_open(app_task *s, const app_arguments *a);
void app_task_close(app_task *s);

/* Stepper and simulator for these settings, made anew where there are some; opts: its callbacks and user. */
ga_status app_task_prepare(app_task *s, const ga_run_settings *settings, const ga_simulate_opts *opts);
/* Options of a simulator with these settings; what they do not say stays as it is in *o. */
ga_status app_task_simulate_opts(const app_task *s, const ga_run_settings *settings, ga_simulate_opts *o);
/* report: app_task_report() follows a start that succeeds, and says itself what the start would warn of. */
ga_status app_task_start(app_task *s, int report);
/* The state about which to linearise: that of the start, or of the run at this time [s] where that is later.
 */
ga_status app_task_reach(app_task *s, double at);

/* What a status means, on stderr: "galpha run: WHAT: text", the text that of the context's last error where
 * it is of this status. */
void app_task_explain(const app_task *s, const app_arguments *a, const char *what, ga_status status);
/* What may have been meant where positions are refused, on stderr, indented. */
void app_task_advise(const app_task *s);
/* Warnings of contacts and ropes that acted as they cannot. */
void app_warn_of_pulls(const ga_meter *meter);
/* Mobility, redundant constraints and what was made consistent. */
void app_task_report(const app_task *s, FILE *out,
                     int details); /* details: coordinates of joints, what the method starts with */
/* By the table of settings: the name of a choice; "rho 0.8"; the name of the option. */
enum { APP_OPTION_NAME = 32 };
const char *app_choice(const ga_run_settings *o, const char *name);
void app_scheme_text(const ga_run_settings *o, char *text, size_t size);
void app_option_name(const ga_setting *at, char name[APP_OPTION_NAME]);

#endif
