/* Cars of examples/models, read, stepped and read off, for the tests of them. Header only; the caller's
 * includes come first. */
#ifndef CAR_RIG_H
#define CAR_RIG_H

#include "core_rig.h"
#include "galpha/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct car {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
  ga_meter *meter;
  double *q, *v, *x; /* initial values in one block, if the test keeps them here */
} car;

/* Reads a model with values set; fails the test if it has errors. */
static inline void car_read_file(car *c, const char *file, int n_set, const char *const *set)
{
  char path[512];
  ga_model_opts o = ga_model_defaults();
  o.n_set = n_set, o.set = set;
  snprintf(path, sizeof path, MODELS "/%s.yaml", file);
  assert_int_equal(ga_context_create(NULL, &c->ctx), GA_OK);
  if (ga_model_read_file(c->ctx, path, &o, &c->model)) fail_msg("%s", ga_context_error(c->ctx)->text);
  c->m = ga_model_machine(c->model);
}

static inline void car_meter(car *c)
{
  assert_status(c->ctx, ga_meter_create(c->ctx, c->m, &c->meter), GA_OK);
  assert_status(c->ctx, ga_meter_start(c->meter, ga_stepper_state(c->st)), GA_OK);
}

static inline void car_run(car *c, double h, int n)
{
  for (int i = 0; i < n; i++) {
    assert_status(c->ctx, ga_stepper_step(c->st, h), GA_OK);
    assert_status(c->ctx, ga_meter_update(c->meter, ga_stepper_state(c->st)), GA_OK);
  }
}

static inline double car_signal(const car *c, const char *name)
{
  double value = NAN;
  const int index = ga_machine_find_signal(c->m, name);
  if (index < 0) fail_msg("there is no signal '%s'", name);
  assert_status(c->ctx, ga_machine_signals(c->m, c->meter, ga_stepper_state(c->st), 1, &index, &value),
                GA_OK);
  return value;
}

static inline void car_close(car *c)
{
  ga_meter_destroy(&c->meter);
  ga_stepper_destroy(&c->st);
  ga_model_destroy(&c->model);
  ga_context_destroy(&c->ctx);
  free(c->q);
}

#endif
