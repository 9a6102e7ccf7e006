/* Models and their equilibria, for tests. Include after cmocka.h. */
#ifndef GALPHA_TESTS_MODEL_STATICS_H
#define GALPHA_TESTS_MODEL_STATICS_H

#include "galpha/galpha.h"
#include "galpha/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  const ga_system *sys;
  double *q, *v, *x; /* initial values */
  ga_equilibrium *eq;
  ga_equilibrium_report report;
} bench;

static inline bench open_model(const char *text)
{
  bench b = {0};
  assert_int_equal(ga_context_create(NULL, &b.ctx), GA_OK);
  const ga_status status = ga_model_read_text(b.ctx, "test", text, strlen(text), NULL, &b.model);
  if (status) fail_msg("%s", ga_model_message_at(b.model, 0)->text);
  b.machine = ga_model_machine(b.model);
  b.sys = ga_machine_system(b.machine);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(b.sys)),
               nv = (size_t)ga_system_size(b.sys, GA_BLOCK_V);
  b.q = calloc(nq + nv + (size_t)ga_system_size(b.sys, GA_BLOCK_X) + 1, sizeof *b.q);
  assert_non_null(b.q);
  b.v = b.q + nq;
  b.x = b.v + nv;
  assert_int_equal(ga_machine_initial(b.machine, b.q, b.v, b.x), GA_OK);
  return b;
}

static inline void close_model(bench *b)
{
  ga_equilibrium_destroy(&b->eq);
  free(b->q);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

static inline void find(bench *b, const ga_equilibrium_opts *o)
{
  assert_int_equal(ga_equilibrium_create(b->ctx, b->sys, o, &b->eq), GA_OK);
  const ga_status status = ga_equilibrium_solve(b->eq, 0.0, b->q, b->x, &b->report);
  if (status) fail_msg("%s", ga_context_error(b->ctx)->text);
}

static inline double signal_at(const bench *b, const ga_state *s, const char *name)
{
  const int index = ga_machine_find_signal(b->machine, name);
  double value = NAN;
  assert_true(index >= 0);
  assert_int_equal(ga_machine_signals(b->machine, NULL, s, 1, &index, &value), GA_OK);
  return value;
}

static inline double found(const bench *b, const char *name)
{
  return signal_at(b, ga_equilibrium_state(b->eq), name);
}

#endif
