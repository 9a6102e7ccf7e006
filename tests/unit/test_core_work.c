/* Work space of callbacks: one for everybody who evaluates a system, errors in its own context, and what the
 * number of a motion promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A problem whose callbacks get work space ---- */

enum { MOST = 256 };

typedef struct model { /* what steppers share */
  ga_system_def inner;
  int nq, nv;
  long made, gone; /* work spaces */
  ga_status refuse;
} model;

typedef struct work {
  model *m;
  ga_context *ctx;
  long calls, repeated; /* evaluations; those of a motion that the last one had */
  int broken;           /* a promise was */
  int complain;         /* the next call fails, in words */
  ga_point last;
  double q[MOST], v[MOST], vdot[MOST];
} work;

static ga_status make_work(void *user, ga_context *ctx, void **out)
{
  model *m = user;
  if (m->refuse) return m->refuse;
  work *w = calloc(1, sizeof *w);
  if (!w) return GA_ERR_MEMORY;
  *w = (work){.m = m, .ctx = ctx};
  m->made++;
  *out = w;
  return GA_OK;
}

static void free_work(void *user)
{
  work *w = user;
  w->m->gone++;
  free(w);
}

/* Same number, same arrays: same bits. */
static int enter(work *w, const ga_point *p)
{
  const size_t nq = (size_t)w->m->nq * sizeof(double), nv = (size_t)w->m->nv * sizeof(double);
  w->calls++;
  if (p->motion && p->motion == w->last.motion && p->q == w->last.q && p->v == w->last.v &&
      p->vdot == w->last.vdot) {
    w->repeated++;
    if (memcmp(w->q, p->q, nq) || memcmp(w->v, p->v, nv) || memcmp(w->vdot, p->vdot, nv)) w->broken = 1;
  }
  w->last = *p;
  memcpy(w->q, p->q, nq);
  memcpy(w->v, p->v, nv);
  memcpy(w->vdot, p->vdot, nv);
  if (!w->complain) return 0;
  REFUSE_IN_WORDS(w->ctx, GA_RETRY_CALLBACK, "a cog is missing");
  return w->complain = 0, 1;
}

#define DEFINE(name, fn)                                                                                     \
  static int work_##name(void *user, const ga_point *p, double *out)                                         \
  {                                                                                                          \
    work *w = user;                                                                                          \
    const int code = enter(w, p);                                                                            \
    return code ? code : w->m->inner.name(w->m->inner.user, p, out);                                         \
  }
RIG_FN_LIST(DEFINE)
#undef DEFINE

static int work_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  work *w = user;
  const int code = enter(w, p);
  return code ? code : w->m->inner.jacobian(w->m->inner.user, p, J);
}

static void work_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  work *w = user;
  w->m->inner.name(w->m->inner.user, block, index, text, size);
}

/* The definition of a problem with m in between; differences: 1: without its Jacobian. */
static rig open_problem(const char *name, model *m, int differences)
{
  rig r = rig_open(name);
  *m = (model){.inner = r.def};
  r.def.user = m;
#define INSTALL(name, fn)                                                                                    \
  if (r.def.name) r.def.name = work_##name;
  RIG_FN_LIST(INSTALL)
#undef INSTALL
  r.def.sweep = NULL;
  if (r.def.jacobian) r.def.jacobian = differences ? NULL : work_jacobian;
  if (r.def.name) r.def.name = work_name;
  r.def.work_create = make_work, r.def.work_destroy = free_work;
  return r;
}

static work *work_of(const ga_stepper *st)
{
  return st->sys->def.user;
}

static ga_status start(const rig *r, ga_stepper *st)
{
  const ex_problem *p = r->problem;
  ga_start_opts o = ga_start_defaults();
  o.h = p->h;
  return ga_stepper_start(st, &o, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, NULL);
}

/* ---- Tests ---- */

static void each_one_has_its_own(void **state)
{
  model m;
  ga_context *other = NULL;
  ga_stepper *second = NULL;
  ga_evaluation *ev = NULL;
  (void)state;
  rig r = open_problem("heavy_top", &m, 0);
  rig_build(&r);
  m.nq = r.sys->nq, m.nv = r.sys->nv;
  assert_int_equal(m.made, 2); /* the system's and the stepper's */
  assert_int_equal(rig_context(&other), GA_OK);
  assert_status(other, ga_stepper_create(other, r.sys, &r.opts, &second), GA_OK);
  assert_status(other, ga_evaluation_create(other, r.sys, &ev), GA_OK);
  assert_int_equal(m.made, 4);
  assert_ptr_equal(ga_stepper_system(second), r.sys);
  assert_ptr_equal(work_of(r.st)->ctx, r.ctx);
  assert_ptr_equal(work_of(second)->ctx, other);
  assert_status(r.ctx, start(&r, r.st), GA_OK);
  assert_true(work_of(r.st)->calls > 0);
  assert_int_equal(work_of(second)->calls, 0);
  assert_status(other, start(&r, second), GA_OK);
  const long calls = work_of(r.st)->calls;
  assert_int_equal(work_of(second)->calls, calls);
  for (int i = 0; i < 5; i++) assert_status(other, ga_stepper_step(second, r.problem->h), GA_OK);
  assert_int_equal(work_of(r.st)->calls, calls);
  assert_int_equal(((work *)r.sys->def.user)->calls, 0);
  rig_steps(&r, r.problem->h, 5);
  assert_memory_equal(r.st->now.block, second->now.block, r.st->state_length * sizeof(double));
  ga_evaluation_destroy(&ev);
  ga_system_destroy(&r.sys); /* before those that were made of it */
  ga_stepper_destroy(&second);
  ga_stepper_destroy(&r.st);
  assert_int_equal(m.gone, m.made);
  ga_context_destroy(&other);
  rig_close(&r);
}

static void errors_go_to_the_evaluating_context(void **state)
{
  model m;
  ga_context *other = NULL;
  ga_stepper *second = NULL;
  (void)state;
  rig r = open_problem("heavy_top", &m, 0);
  rig_build(&r);
  m.nq = r.sys->nq, m.nv = r.sys->nv;
  assert_int_equal(rig_context(&other), GA_OK);
  assert_status(other, ga_stepper_create(other, r.sys, &r.opts, &second), GA_OK);
  assert_status(other, start(&r, second), GA_OK);
  assert_status(r.ctx, start(&r, r.st), GA_OK);
  work_of(second)->complain = 1;
  assert_status(other, ga_stepper_step(second, r.problem->h), GA_RETRY_CALLBACK);
  assert_says(other, "a cog is missing");
  assert_int_equal(ga_context_error(r.ctx)->status, GA_OK);
  assert_string_equal(ga_context_error(r.ctx)->text, "");
  assert_status(other, ga_stepper_step(second, -1.0), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(r.ctx)->status, GA_OK);
  rig_steps(&r, r.problem->h, 2);
  ga_stepper_destroy(&second);
  ga_context_destroy(&other);
  rig_close(&r);
}

static void refusals(void **state)
{
  model m;
  (void)state;
  rig r = open_problem("heavy_top", &m, 0);
  r.def.work_destroy = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_ERR_ARGUMENT);
  assert_error(r.ctx, GA_REASON_CALLBACK_MISSING, NULL, NULL, "work_create");
  assert_string_equal(ga_context_error(r.ctx)->callback, "work_destroy");
  r.def.work_destroy = free_work;
  m.refuse = GA_ERR_MEMORY;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_ERR_MEMORY);
  assert_call_error(r.ctx, GA_REASON_CALLBACK, "system", NULL);
  assert_string_equal(ga_context_error(r.ctx)->callback, "work_create");
  assert_null(r.sys);
  m.refuse = GA_OK;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  m.refuse = GA_ERR_CALLBACK;
  assert_status(r.ctx, ga_stepper_create(r.ctx, r.sys, &r.opts, &r.st), GA_ERR_CALLBACK);
  assert_null(r.st);
  assert_int_equal(m.made - m.gone, 1);
  rig_close(&r);
  assert_int_equal(m.made, m.gone);
}

/* Of every problem, with its Jacobian and by differences: where the number is the same, so is the motion. */
static void numbers_of_motions(void **state)
{
  static const ga_method METHODS[] = {GA_INDEX3, GA_STABILIZED};
  const ex_problem *p;
  long repeated = 0;
  (void)state;
  for (int i = 0; (p = ex_problem_at(i)) != NULL; i++)
    for (int k = 0; k < 4; k++) {
      model m;
      rig r = open_problem(p->name, &m, k / 2);
      r.opts.method = METHODS[k % 2];
      if (ga_system_create(r.ctx, &r.def, &r.sys) || r.sys->nq > MOST ||
          ga_stepper_create(r.ctx, r.sys, &r.opts,
                            &r.st)) { /* a sparse problem without a Jacobian, or large */
        rig_close(&r);
        continue;
      }
      m.nq = r.sys->nq, m.nv = r.sys->nv;
      if (!start(&r, r.st))
        for (int n = 0; n < 10; n++) ga_stepper_step(r.st, p->h);
      repeated += work_of(r.st)->repeated;
      if (work_of(r.st)->broken) fail_msg("%s, method %d: another motion, same number", p->name, k % 2);
      rig_close(&r);
    }
  assert_true(repeated > 1000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_one_has_its_own),
      cmocka_unit_test(errors_go_to_the_evaluating_context),
      cmocka_unit_test(refusals),
      cmocka_unit_test(numbers_of_motions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
