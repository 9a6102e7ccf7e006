/* What the tests of the core share: counted memory, a problem with its stepper, random points, and systems
 * whose callbacks can be meddled with. Include after cmocka.h. */
#ifndef GALPHA_TESTS_CORE_RIG_H
#define GALPHA_TESTS_CORE_RIG_H

#include "core/stepper.h"
#include "errors.h"
#include "problem.h"
#include "seeds.h"
#include "sparse_memory.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory that counts and fails ---- */

typedef struct rig_heap {
  long count, live; /* allocations asked for, and those not yet freed */
  long fail_at;     /* the request of this number fails; 0: none */
  int kept;         /* the request that failed was one for another size: the old block stays, and may do */
} rig_heap;

/* One heap for contexts and for KLU, whose hooks have no user data. */
static rig_heap rig_memory;

static inline void *rig_get(void *old, size_t bytes)
{
  if (++rig_memory.count == rig_memory.fail_at) {
    rig_memory.kept = old != NULL;
    return NULL;
  }
  void *block = realloc(old, bytes);
  if (block && !old) rig_memory.live++;
  return block;
}

static inline void rig_release(void *block)
{
  if (block) rig_memory.live--;
  free(block);
}

static inline void *rig_context_get(void *user, size_t bytes)
{
  (void)user;
  return rig_get(NULL, bytes);
}

static inline void rig_context_release(void *user, void *block)
{
  (void)user;
  rig_release(block);
}

static inline void *rig_klu_get(size_t bytes)
{
  return rig_get(NULL, bytes);
}

static inline void *rig_klu_zeroed(size_t n, size_t size)
{
  void *block = rig_get(NULL, n * size);
  return block ? memset(block, 0, n * size) : NULL;
}

/* For cmocka's group set-up: KLU allocates here from now on. */
static inline int rig_hook_klu(void **state)
{
  (void)state;
  sparse_memory_use(rig_klu_get, rig_klu_zeroed, rig_get, rig_release);
  return 0;
}

/* ---- A problem, its system and its stepper ---- */

typedef struct rig {
  const ex_problem *problem; /* NULL: a system of the test's own */
  ga_context *ctx;
  ga_system_def def; /* may be changed before rig_build() */
  ga_system *sys;
  ga_stepper_opts opts;
  ga_stepper *st;
} rig;

static inline void assert_says(const ga_context *ctx, const char *part)
{
  if (!strstr(ga_context_error(ctx)->text, part))
    fail_msg("'%s' is not in '%s'", part, ga_context_error(ctx)->text);
}

static inline void assert_status(const ga_context *ctx, ga_status status, ga_status expected)
{
  if (status != expected)
    fail_msg("status %d (%s) instead of %d; last error: %s", (int)status, ga_status_text(status),
             (int)expected, ga_context_error(ctx)->text);
}

static inline ga_status rig_context(ga_context **out)
{
  ga_context_opts o = ga_context_defaults();
  o.alloc = rig_context_get;
  o.release = rig_context_release;
  return ga_context_create(&o, out);
}

/* A context with nothing counted yet; all it gave is to be back when it is closed. */
static inline ga_context *rig_open_context(void)
{
  ga_context *ctx = NULL;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  return ctx;
}

static inline void rig_close_context(ga_context **ctx)
{
  ga_context_destroy(ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* The context, and the definition of a problem; name NULL: an empty definition. */
static inline rig rig_open(const char *name)
{
  rig r = {.def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&r.ctx), GA_OK);
  if (name) {
    r.problem = ex_problem_find(name);
    if (!r.problem) fail_msg("there is no problem '%s'", name);
    r.problem->define(&r.def);
    assert_int_equal(ga_scheme_rho(r.ctx, r.problem->rho, &r.opts.scheme), GA_OK);
  }
  return r;
}

static inline void rig_build(rig *r)
{
  assert_status(r->ctx, ga_system_create(r->ctx, &r->def, &r->sys), GA_OK);
  assert_status(r->ctx, ga_stepper_create(r->ctx, r->sys, &r->opts, &r->st), GA_OK);
}

static inline ga_status rig_try_start(rig *r, const ga_start_opts *o, ga_start_report *report)
{
  const ex_problem *p = r->problem;
  return ga_stepper_start(r->st, o, 0.0, p->q0, p->v0, p->x0, p->lambda_guess, p->psi_guess, report);
}

static inline void rig_start(rig *r, double h)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  assert_status(r->ctx, rig_try_start(r, &o, NULL), GA_OK);
}

static inline void rig_steps(rig *r, double h, int n)
{
  for (int i = 0; i < n; i++) assert_status(r->ctx, ga_stepper_step(r->st, h), GA_OK);
}

/* Destroys everything, and nothing may be left. */
static inline void rig_close(rig *r)
{
  ga_stepper_destroy(&r->st);
  assert_null(r->st);
  ga_system_destroy(&r->sys);
  assert_null(r->sys);
  ga_context_destroy(&r->ctx);
  assert_null(r->ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* A whole state, with all that later steps depend on. */
static inline double *rig_copy(const rig *r)
{
  double *copy = malloc(r->st->state_length * sizeof *copy);
  assert_non_null(copy);
  return memcpy(copy, r->st->now.block, r->st->state_length * sizeof *copy);
}

static inline int rig_same_bits(const rig *r, const double *copy)
{
  return memcmp(copy, r->st->now.block, r->st->state_length * sizeof *copy) == 0;
}

/* Largest difference in q, v, vdot, λ, ψ, x, y between the present state and a copy of one, each block
 * relative to 1 + its largest component. */
static inline double rig_distance_to(const rig *r, const double *copy)
{
  const ga__state *f = &r->st->now;
  const int *size = r->sys->size;
  const double *x[] = {f->q, f->v, f->vdot, f->lambda, f->psi, f->x, f->y};
  const int n[] = {r->sys->nq, r->sys->nv, r->sys->nv, size[1], size[2], size[3], size[4]};
  double worst = 0.0;
  for (int k = 0; k < 7; k++) {
    const double *y = copy + (x[k] - f->block);
    double scale = 1.0 + ga__max_abs(x[k], n[k], NULL);
    for (int i = 0; i < n[k]; i++) {
      double d = fabs(x[k][i] - y[i]) / scale;
      if (!(d <= worst)) worst = d; /* keeps a NaN */
    }
  }
  return worst;
}

static inline double rig_distance(const rig *a, const rig *b)
{
  return rig_distance_to(a, b->st->now.block);
}

static inline void assert_below(double value, double limit, const char *what)
{
  if (!(value <= limit)) fail_msg("%s: %.3e is above %.3e", what, value, limit);
}

static inline void assert_near(double value, double expected, double tolerance, const char *what)
{
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s: %.15g instead of %.15g, off by %.2e", what, value, expected, value - expected);
}

/* ---- Random points ---- */

enum { RIG_MOST = 96 }; /* largest block of a problem */

typedef struct rig_spot {
  double q[RIG_MOST], v[RIG_MOST], vdot[RIG_MOST], lambda[RIG_MOST], psi[RIG_MOST], x[RIG_MOST], y[RIG_MOST];
  ga_point p;
} rig_spot;

static inline void rig_fill(double *a, int n, rig_random *r)
{
  for (int i = 0; i < n; i++) a[i] = rig_uniform(r, -2.0, 2.0);
}

/* A point near the problem's initial position, all else at random. */
static inline void rig_spot_random(rig_spot *s, const rig *r, rig_random *random)
{
  const ga_system *sys = r->sys;
  double d[RIG_MOST];
  assert_true(sys->n <= RIG_MOST);
  for (int i = 0; i < sys->nv; i++) d[i] = rig_uniform(random, -0.2, 0.2);
  ga_group_move(sys->group, s->q, r->problem->q0, d);
  rig_fill(s->v, sys->nv, random);
  rig_fill(s->vdot, sys->nv, random);
  rig_fill(s->lambda, sys->size[GA_BLOCK_LAMBDA], random);
  rig_fill(s->psi, sys->size[GA_BLOCK_PSI], random);
  rig_fill(s->x, sys->size[GA_BLOCK_X], random);
  rig_fill(s->y, sys->size[GA_BLOCK_Y], random);
  s->p =
      (ga_point){rig_uniform(random, 0.0, 1.0), s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

/* ---- Meddling: every callback goes through one function ---- */

enum { RIG_JACOBIAN = GA__N_FN };
static const char *const RIG_FN_NAME[] = {"mass",  "force", "phi",    "phi_dot",      "phi_acc", "k",
                                          "k_acc", "state", "output", "output_guess", "jacobian"};

typedef struct rig_meddle {
  ga_system_def inner;
  int size[GA__N_FN]; /* of each result */
  long calls;
  /* Called after each callback of the problem, fn of ga__fn with out or RIG_JACOBIAN with J; its answer,
   * where not 0, is what the core gets. */
  int (*after)(struct rig_meddle *m, int fn, double *out, ga_jacobian *J);
  long fault_at; /* for the use of `after`: number of the call, its answer or value, and who it was */
  int code;
  double value;
  int entry, part, struck;
} rig_meddle;

static inline int rig_meddle_with(rig_meddle *m, int fn, int code, double *out, ga_jacobian *J)
{
  m->calls++;
  return code ? code : m->after(m, fn, out, J);
}

/* An `after` that gives the answer `code` at call number fault_at, or puts `value` into its result. */
static inline int rig_meddle_strike(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  if (m->calls != m->fault_at) return 0;
  m->struck = 1 + fn;
  if (m->code) return m->code;
  double *where = !J                                  ? &out[m->size[fn] - 1]
                  : J->want & GA_WANT_D               ? &J->D[m->entry]
                  : J->want & (GA_WANT_Q | GA_WANT_B) ? &J->Q[m->entry]
                                                      : &J->G[m->entry];
  *where = m->value;
  return 0;
}

#define RIG_FN_LIST(X)                                                                                       \
  X(mass, GA__MASS)                                                                                          \
  X(force, GA__FORCE)                                                                                        \
  X(phi, GA__PHI)                                                                                            \
  X(phi_dot, GA__PHI_DOT)                                                                                    \
  X(phi_acc, GA__PHI_ACC)                                                                                    \
  X(k, GA__K)                                                                                                \
  X(k_acc, GA__K_ACC)                                                                                        \
  X(state, GA__STATE)                                                                                        \
  X(output, GA__OUTPUT)                                                                                      \
  X(output_guess, GA__OUTPUT_GUESS)

#define RIG_FN_DEFINE(name, fn)                                                                              \
  static inline int rig_meddled_##name(void *user, const ga_point *p, double *out)                           \
  {                                                                                                          \
    rig_meddle *m = user;                                                                                    \
    return rig_meddle_with(m, fn, m->inner.name(m->inner.user, p, out), out, NULL);                          \
  }
RIG_FN_LIST(RIG_FN_DEFINE)
#undef RIG_FN_DEFINE

static inline int rig_meddled_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  rig_meddle *m = user;
  return rig_meddle_with(m, RIG_JACOBIAN, m->inner.jacobian(m->inner.user, p, J), NULL, J);
}

static inline void rig_meddled_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  rig_meddle *m = user;
  m->inner.name(m->inner.user, block, index, text, size);
}

/* Puts m between def and the core. */
static inline void rig_meddle_install(rig_meddle *m, ga_system_def *def, int nv)
{
  m->inner = *def;
  def->user = m;
#define RIG_FN_INSTALL(name, fn)                                                                             \
  if (def->name) def->name = rig_meddled_##name;
  RIG_FN_LIST(RIG_FN_INSTALL)
#undef RIG_FN_INSTALL
  if (def->jacobian) def->jacobian = rig_meddled_jacobian;
  if (def->name) def->name = rig_meddled_name;
  const int size[GA__N_FN] = {nv,         nv,         def->n_lambda, def->n_lambda, def->n_lambda,
                              def->n_psi, def->n_psi, def->n_x,      def->n_y,      def->n_y};
  memcpy(m->size, size, sizeof size);
}

#endif
