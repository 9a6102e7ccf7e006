/* One machine, many threads: steppers, simulators, meters and evaluations of one built machine run at the
 * same time, each with a context of its own, and give the bits that they give one after the other. Built with
 * -fsanitize=thread (preset tsan) it shows that nothing is shared but what is constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/model.h"
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, STEPS = 40, PATH = 4096, TEXT = 4096 };

/* ---- What is compared: a digest of all that comes out ---- */

typedef struct digest {
  uint64_t hash;
  long bytes;
} digest;

static void add_bytes(digest *d, const void *data, size_t size)
{
  const unsigned char *at = data;
  for (size_t i = 0; i < size; i++) d->hash = (d->hash ^ at[i]) * 1099511628211u;
  d->bytes += (long)size;
}

static void add_numbers(digest *d, const double *x, int n)
{
  add_bytes(d, x, (size_t)n * sizeof *x);
}

static void add_text(digest *d, const char *text)
{
  add_bytes(d, text, strlen(text));
}

/* ---- One run ---- */

typedef struct run {
  const ga_model *model;
  int number;            /* each starts with other velocities */
  pthread_mutex_t *gate; /* NULL: alone */
  /* of the run */
  digest d;
  ga_status status;
  int steps, undefined; /* undefined: 1: an expression had no value, and the message says so */
  ga_context *ctx;
  ga_stepper *st;
  ga_simulator *sim;
  ga_meter *meter;
  ga_evaluation *ev;
  double *block, *q, *v, *x, *signals;
} run;

static ga_status open_run(run *r)
{
  const ga_machine *m = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(m);
  const ga_run_settings *set = ga_model_settings(r->model);
  const int nq = ga_group_nq(ga_system_group(sys)), nv = ga_system_size(sys, GA_BLOCK_V);
  ga_stepper_opts o;
  ga_simulate_opts s = ga_simulate_defaults();
  ga_status status = ga_run_stepper_opts(r->ctx, set, &o);
  s.t_end = set->t_end;
  s.fixed_h = set->step;
  s.rtol = set->tolerance, s.atol = 0.01 * set->tolerance;
  if (!status) status = ga_stepper_create(r->ctx, sys, &o, &r->st);
  if (!status) status = ga_simulator_create(r->ctx, r->st, &s, &r->sim);
  if (!status) status = ga_meter_create(r->ctx, m, &r->meter);
  if (!status) status = ga_evaluation_create(r->ctx, sys, &r->ev);
  const size_t n = (size_t)(nq + nv + ga_system_n(sys)) + (size_t)ga_machine_n_signals(m);
  r->block = calloc(n + 1, sizeof *r->block);
  if (!r->block) return GA_ERR_MEMORY;
  r->q = r->block, r->v = r->q + nq, r->x = r->v + nv;
  r->signals = r->x + ga_system_n(sys);
  return status;
}

/* Velocities other than the model's, the same for runs of one number. */
static ga_status start_run(run *r)
{
  const ga_machine *m = ga_model_machine(r->model);
  const ga_run_settings *set = ga_model_settings(r->model);
  const ga_system *sys = ga_machine_system(m);
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  ga_start_opts o = ga_run_start_opts(set);
  ga_status status = ga_machine_initial(m, r->q, r->v, r->x);
  for (int i = 0; i < nv; i++) r->v[i] *= 1.0 + r->number / 64.0;
  o.max_change = HUGE_VAL;
  if (!status) status = ga_simulator_start(r->sim, &o, set->t_start, r->q, r->v, r->x, NULL, NULL, NULL);
  if (!status) status = ga_meter_start(r->meter, ga_stepper_state(r->st));
  return status;
}

static ga_status look(run *r)
{
  const ga_machine *m = ga_model_machine(r->model);
  const ga_state *s = ga_stepper_state(r->st);
  const int n = ga_machine_n_signals(m);
  const ga_status status = ga_machine_signals(m, r->meter, s, n, NULL, r->signals);
  if (status) return status;
  add_numbers(&r->d, r->signals, n);
  add_numbers(&r->d, s->q, (int)(s->v - s->q));
  return GA_OK;
}

/* What a machine tells without a state. */
static void ask(run *r)
{
  const ga_machine *m = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(m);
  char text[TEXT];
  for (int i = 0; i < ga_machine_n_signals(m); i++) {
    const char *name = ga_machine_signal_name(m, i);
    add_text(&r->d, name ? name : "none");
    add_text(&r->d, ga_machine_signal_unit(m, i));
    if (name && ga_machine_find_signal(m, name) != i) add_text(&r->d, "not found");
  }
  for (int b = 0; b < GA_N_BLOCKS; b++)
    for (int i = 0; i < ga_system_size(sys, (ga_equation_block)b); i++) {
      ga_system_name(sys, (ga_equation_block)b, i, text, sizeof text);
      add_text(&r->d, text);
    }
  const ga_error off = {.status = GA_ERR_INCONSISTENT, .block = GA_BLOCK_LAMBDA, .index = 0};
  if (ga_machine_start_advice(m, &off, text, sizeof text)) add_text(&r->d, text);
}

/* Residuals and matrices, where something is known of the motion and where not. */
static ga_status evaluate(run *r, unsigned long motion, digest *d)
{
  const ga_state *s = ga_stepper_state(r->st);
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, motion, NULL};
  *d = (digest){14695981039346656037u, 0};
  ga_status status = ga_evaluation_residual(r->ev, &p, s->xdot, r->x, NULL);
  if (!status) status = ga_evaluation_jacobian(r->ev, &p);
  if (status) return status;
  add_numbers(d, r->x, ga_system_n(ga_stepper_system(r->st)));
  const ga_sparse *K = ga_evaluation_combine(r->ev, 1.0, 0.5, 0.25, 1.0);
  if (K) add_numbers(d, K->value, K->nnz);
  return GA_OK;
}

/* Matrices and texts at the end. */
static ga_status finish(run *r)
{
  const ga_machine *m = ga_model_machine(r->model);
  char text[TEXT];
  digest known, unknown;
  const ga_status status = evaluate(r, 0, &unknown);
  if (status) return status;
  if (evaluate(r, 7, &known) || known.hash != unknown.hash) return GA_ERR_DERIVATIVE;
  add_bytes(&r->d, &known, sizeof known);
  if (ga_machine_report(m, r->st, text, sizeof text)) add_text(&r->d, text);
  if (ga_machine_moves(m, r->st, text, sizeof text)) add_text(&r->d, text);
  if (ga_machine_coordinates(m, r->st, text, sizeof text)) add_text(&r->d, text);
  if (ga_machine_failure(m, r->st, text, sizeof text)) add_text(&r->d, text);
  if (ga_meter_pull_text(r->meter, text, sizeof text)) add_text(&r->d, text);
  return GA_OK;
}

/* A step of a machine of several hundred velocities takes as long as hundreds of a small one's. */
static int steps_of(const run *r)
{
  return ga_system_size(ga_machine_system(ga_model_machine(r->model)), GA_BLOCK_V) > 300 ? STEPS / 10 : STEPS;
}

static void *do_run(void *user)
{
  run *r = user;
  if (r->gate) pthread_mutex_lock(r->gate), pthread_mutex_unlock(r->gate);
  r->d.hash = 14695981039346656037u;
  if (ga_context_create(NULL, &r->ctx)) return NULL;
  r->status = open_run(r);
  if (!r->status) {
    ask(r);
    r->status = start_run(r);
    if (!r->status) r->status = look(r);
    for (r->steps = 0; !r->status && r->steps < steps_of(r); r->steps++) {
      r->status = ga_simulator_step(r->sim);
      if (!r->status) r->status = ga_meter_update(r->meter, ga_stepper_state(r->st));
      if (!r->status) r->status = look(r);
    }
    if (ga_stepper_state(r->st) && finish(r) == GA_ERR_DERIVATIVE) r->status = GA_ERR_DERIVATIVE;
  }
  const char *said = ga_context_error(r->ctx)->text;
  add_text(&r->d, said);
  r->undefined = strstr(said, "no value") != NULL || strstr(said, "undefined") != NULL;
  return NULL;
}

static void close_run(run *r)
{
  ga_evaluation_destroy(&r->ev);
  ga_meter_destroy(&r->meter);
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_context_destroy(&r->ctx);
  free(r->block);
}

/* ---- One after the other, and all at once ---- */

typedef struct tally {
  int models, failed, undefined; /* failed: runs that ended early, as they do alone */
  long steps;
} tally;

static void compare(const run *alone, const run *together, const char *name)
{
  if (alone->status == GA_ERR_DERIVATIVE) fail_msg("%s: another result where the motion is known", name);
  if (alone->status != together->status || alone->steps != together->steps ||
      alone->d.bytes != together->d.bytes || alone->d.hash != together->d.hash)
    fail_msg(
        "%s, run %d: status %d after %d steps with %ld bytes, digest %016llx; alone %d, %d, %ld, %016llx. %s",
        name, alone->number, (int)together->status, together->steps, together->d.bytes,
        (unsigned long long)together->d.hash, (int)alone->status, alone->steps, alone->d.bytes,
        (unsigned long long)alone->d.hash, ga_context_error(together->ctx)->text);
}

static void run_model(const ga_model *model, const char *name, tally *t)
{
  run alone[THREADS], together[THREADS];
  pthread_t thread[THREADS];
  pthread_mutex_t gate;
  assert_int_equal(pthread_mutex_init(&gate, NULL), 0);
  for (int k = 0; k < THREADS; k++) {
    alone[k] = (run){.model = model, .number = k};
    together[k] = (run){.model = model, .number = k, .gate = &gate};
  }
  pthread_mutex_lock(&gate); /* until all are there */
  for (int k = 0; k < THREADS; k++)
    assert_int_equal(pthread_create(&thread[k], NULL, do_run, &together[k]), 0);
  pthread_mutex_unlock(&gate);
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
  pthread_mutex_destroy(&gate);
  for (int k = 0; k < THREADS; k++)
    do_run(&alone[k]); /* behind: what is made when asked for is made by threads */
  for (int k = 0; k < THREADS; k++) {
    compare(&alone[k], &together[k], name);
    t->steps += alone[k].steps;
    t->failed += alone[k].status < 0;
    t->undefined += alone[k].undefined;
    close_run(&alone[k]);
    close_run(&together[k]);
  }
  t->models++;
}

/* Every so many models are enough where another tool looks on: memory does not depend on threads. */
static int is_slow(void)
{
#ifdef __SANITIZE_ADDRESS__
  return 12;
#else
  return getenv("GALPHA_BRIEF") ? 12 : 1;
#endif
}

/* Of a folder of the project: "examples/models". Models with errors, or that load libraries, are left out. */
static tally run_folder(const char *folder)
{
  const size_t root = strlen(__FILE__) - strlen("tests/unit/test_threads.c");
  const int every = is_slow();
  char path[PATH];
  tally t = {0, 0, 0, 0};
  int n = 0;
  snprintf(path, sizeof path, "%.*s%s", (int)root, __FILE__, folder);
  DIR *list = opendir(path);
  assert_non_null(list);
  for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
    const char *ending = strrchr(entry->d_name, '.');
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    if (!ending || strcmp(ending, ".yaml") != 0 || n++ % every != 0) continue;
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    snprintf(path, sizeof path, "%.*s%s/%s", (int)root, __FILE__, folder, entry->d_name);
    const ga_status status = ga_model_read_file(ctx, path, NULL, &model);
    ga_context_clear_error(ctx);
    if (!status) run_model(model, entry->d_name, &t);
    if (ga_context_error(ctx)->status)
      fail_msg("%s: a run spoke in the machine's context: %s", entry->d_name, ga_context_error(ctx)->text);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
  closedir(list);
  return t;
}

static void all_at_once(const char *folder, int models)
{
  const tally t = run_folder(folder);
  print_message(
      "# %s: %d models, %ld steps, %d runs failed as they do alone, %d expressions without a value\n", folder,
      t.models, t.steps, t.failed, t.undefined);
  if (is_slow() == 1) assert_true(t.models >= models && t.steps >= 100L * models);
}

static void examples(void **state)
{
  (void)state;
  all_at_once("examples/models", 40);
}

/* Narrow fields, edges, contacts, breaks, drives, blocks: what a machine can have. */
static void cases_of_trust(void **state)
{
  (void)state;
  all_at_once("tests/trust/models", 150);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples), cmocka_unit_test(cases_of_trust)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
