/* Parts of galpha sensitivity. */
#ifndef GALPHA_APP_SENSITIVITY_H
#define GALPHA_APP_SENSITIVITY_H

#include "runner.h"

typedef struct app_by { /* a parameter that derivatives are by */
  const char *name;     /* within the model */
  double value, step;   /* step 0: not given */
  char unit[GA_PARAMETER_UNIT];
  ga_model_variation *variation;
} app_by;

typedef struct app_by_list {
  int n, all;     /* all 1: every parameter that can be changed by a little */
  app_by *at;     /* [n] */
  int n_left;     /* of them that cannot */
  char left[160]; /* the first of these, by name */
  ga_event_variants *events; /* of the model at their values; NULL: it has none */
} app_by_list;

/* ---- sensitivity_by.c ---- */

/* Reads --by; NULL: all parameters. Returns an exit code. */
int app_by_take(app_runner *r, app_by_list *list);
/* The model at other values of each of them. */
int app_by_vary(app_runner *r, app_by_list *list);
/* A start at an equilibrium, which moves with the parameters: app_task.settle, with the list as its user. */
ga_status app_by_settle(void *list, ga_equilibrium *eq);
/* Whether the times of the run are given numbers. */
ga_status app_by_check_span(const app_runner *r, const app_by_list *list);
/* Events of the model are differentiated as well. */
ga_status app_by_use_events(const app_runner *r, app_by_list *list, ga_sensitivity *se);
/* Warns where derivatives by a parameter have the estimated error `doubt`. */
void app_by_warn(const app_by *by, double doubt);
void app_by_free(app_by_list *list);
enum { APP_DERIVATIVE_UNIT = 64 };
/* The unit of derivatives of `signal` by `by`. */
void app_derivative_unit(ga_context *ctx, const char *signal, const char *by, char out[APP_DERIVATIVE_UNIT]);

/* ---- sensitivity_measures.c ---- */

/* Derivatives of measures: the numbers behind the model and of --measure. */
int app_sensitivity_of_measures(const app_arguments *a);

#endif
