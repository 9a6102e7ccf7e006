/* Discrete adjoint: the gradient of one number by many parameters, by one pass backwards over the steps.
 *
 * States are stored at every so many steps. The steps between two of them are repeated by a stepper of its
 * own, from the last of these intervals to the first, and the transposed equations of each step are solved.
 */
#include "core/sensitivity.h"

#include "core/arrays.h"
#include "core/sample.h"

#include <math.h>
#include <string.h>

/* What a step has beside its states. */
typedef struct step_data {
  double gamma, theta;
  ga__shift shift_a, shift_w;
} step_data;

struct ga_adjoint {
  ga_context *ctx;
  ga_stepper *st;     /* whose run it is */
  ga_stepper *replay; /* repeats steps */
  ga_sensitivity *se; /* of replay */
  ga_adjoint_opts opts;
  int interval;
  int begun;
  long n;          /* steps so far, */
  double *h;       /* [n] their sizes */
  double **stored; /* [n / interval + 1] states */
  size_t room, room_stored;
  double *segment;    /* [interval + 1] states of one interval */
  step_data *data;    /* [interval] */
  double *saved;      /* a state as ga_stepper_load() takes it */
  double *last;       /* [n_last] the beginning of the state noted last */
  ga__tangent *start; /* [parameters] derivatives of the start */
  ga__tangent bar;
  ga__inner_seed inner;
  long seeded; /* number of the state that a seed is called for; −1: none */
};

ga_adjoint_opts ga_adjoint_defaults(void)
{
  return (ga_adjoint_opts){.interval = 100};
}

/* ---- Memory ---- */

static void forget(ga_adjoint *a)
{
  const size_t n = a->begun ? (size_t)(a->n / a->interval) + 1 : 0;
  for (size_t i = 0; a->stored && i < n; i++) {
    ga__free(a->ctx, a->stored[i]);
    a->stored[i] = NULL;
  }
  a->begun = 0;
  a->n = 0;
}

/* Whether steps of all methods of the stepper can be gone back over. */
static ga_status check_reverse(ga_adjoint *a)
{
  const ga__slopes *list[2];
  for (int i = 0; i < ga__slopes_of(a->replay, list); i++)
    if (!list[i]->reverse)
      return ga__refuse_sensitivity(a->se, "the adjoint does not follow steps of collocation",
                                    "take forward derivatives, or GA_STABILIZED");
  return GA_OK;
}

static ga_status build(ga_adjoint *a, int n, const ga_parameter *parameter)
{
  ga_stepper *st = a->st;
  const size_t length = st->state_length, k = (size_t)a->interval;
  ga_status status =
      ga_stepper_create(a->ctx, st->sys->shared ? st->sys->shared : st->sys, &st->opts, &a->replay);
  if (!status) status = ga_sensitivity_create(a->ctx, a->replay, n, parameter, &a->se);
  if (!status) status = check_reverse(a);
  if (status) return status;
  a->se->replays = 1;
  a->segment = ga__alloc(a->ctx, (k + 1) * length, sizeof *a->segment);
  a->data = ga__alloc(a->ctx, k, sizeof *a->data);
  a->saved = ga__alloc(a->ctx, ga_stepper_saved_size(a->replay), sizeof *a->saved);
  a->last = ga__alloc(a->ctx, a->se->n_last, sizeof *a->last);
  a->start = ga__alloc(a->ctx, (size_t)n, sizeof *a->start);
  if (!a->segment || !a->data || !a->saved || !a->last || !a->start)
    return ga__no_memory(a->ctx, "an adjoint");
  a->seeded = -1;
  status = ga__tangent_create(a->se, &a->bar);
  if (!status) status = ga__inner_seed_create(a->se, &a->inner);
  for (int j = 0; j < n && !status; j++) status = ga__tangent_create(a->se, &a->start[j]);
  return status;
}

ga_status ga_adjoint_create(ga_context *ctx, ga_stepper *st, int n, const ga_parameter *parameter,
                            const ga_adjoint_opts *opts, ga_adjoint **out)
{
  const ga_adjoint_opts o = opts ? *opts : ga_adjoint_defaults();
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !st || !parameter)
    return ga__refuse_null(ctx, __func__, !out ? "out" : !st ? "st" : "parameter");
  if (n < 1) return ga__refuse_number(ctx, "adjoint", "n", n, ">= 1");
  const ga_status sampled = ga__refuse_samples(ctx, st->sys, __func__);
  if (sampled) return sampled;
  if (o.interval < 1 || o.interval > 1000000)
    return ga__refuse_number(ctx, "adjoint", "interval", o.interval, "1 to 1000000");
  ga_adjoint *a = ga__alloc(ctx, 1, sizeof *a);
  if (!a) return ga__no_memory(ctx, "an adjoint");
  a->ctx = ctx;
  a->st = st;
  a->opts = o;
  a->interval = o.interval;
  const ga_status status = build(a, n, parameter);
  if (status)
    ga_adjoint_destroy(&a);
  else
    *out = a;
  return status;
}

void ga_adjoint_destroy(ga_adjoint **adjoint)
{
  if (!adjoint || !*adjoint) return;
  ga_adjoint *a = *adjoint;
  forget(a);
  for (int j = 0; a->start && j < a->se->n; j++) ga__free(a->ctx, a->start[j].block);
  ga__free(a->ctx, a->start);
  ga__free(a->ctx, a->bar.block);
  ga__inner_seed_destroy(a->ctx, &a->inner);
  ga_sensitivity_destroy(&a->se);
  ga_stepper_destroy(&a->replay);
  ga__free(a->ctx, a->h);
  ga__free(a->ctx, a->stored);
  ga__free(a->ctx, a->segment);
  ga__free(a->ctx, a->data);
  ga__free(a->ctx, a->saved);
  ga__free(a->ctx, a->last);
  ga__free(a->ctx, a);
  *adjoint = NULL;
}

/* Room for one more number of `bytes` in *array, of which there are n. */
static int reserve(ga_adjoint *a, void **array, size_t *room, size_t n, size_t bytes)
{
  if (n < *room) return 1;
  const size_t more = *room ? 2 * *room : 64;
  void *grown = ga__alloc(a->ctx, more, bytes);
  if (!grown) return 0;
  if (n) memcpy(grown, *array, n * bytes);
  ga__free(a->ctx, *array);
  *array = grown;
  *room = more;
  return 1;
}

/* ---- Forwards ---- */

/* Notes the stepper's state, stored if it begins an interval. */
static ga_status note(ga_adjoint *a)
{
  const size_t i = (size_t)(a->n / a->interval);
  memcpy(a->last, a->st->now.block, a->se->n_last * sizeof *a->last);
  if (a->n % a->interval) return GA_OK;
  if (!reserve(a, (void **)&a->stored, &a->room_stored, i, sizeof *a->stored))
    return ga__no_memory(a->ctx, "the states of an adjoint");
  a->stored[i] = ga__alloc(a->ctx, a->st->state_length, sizeof **a->stored);
  if (!a->stored[i]) return ga__no_memory(a->ctx, "the states of an adjoint");
  memcpy(a->stored[i], a->st->now.block, a->st->state_length * sizeof **a->stored);
  return GA_OK;
}

ga_status ga_adjoint_begin(ga_adjoint *a)
{
  if (!a) return GA_ERR_ARGUMENT;
  forget(a);
  const ga_stepper *st = a->st;
  if (!st->has_state || st->now.scalar[GA__H_OLD] > 0.0)
    return ga__refuse_order(a->ctx, __func__, "right after a start of its stepper");
  const ga_start_opts opts = st->begun;
  if (opts.a) return ga__refuse_sensitivity(a->se, "a₀ is given as numbers", "leave it to the start");
  ga_status status = ga_sensitivity_start(a->se, &opts, st->now.scalar[GA__T], st->begin_q, st->begin_v,
                                          st->begin_x, st->begin_lambda, st->begin_psi, NULL);
  if (status) return status;
  for (int j = 0; j < a->se->n; j++)
    memcpy(a->start[j].block, a->se->parameter[j].now.block, a->se->n_tangent * sizeof(double));
  status = note(a);
  a->begun = !status;
  return status;
}

ga_status ga_adjoint_step(ga_adjoint *a)
{
  if (!a) return GA_ERR_ARGUMENT;
  ga_stepper *st = a->st;
  if (!a->begun) return ga__refuse_order(a->ctx, __func__, "after ga_adjoint_begin()");
  if (!st->can_undo || memcmp(a->last, st->next.block, a->se->n_last * sizeof *a->last) != 0)
    return ga__refuse_order(a->ctx, __func__, "right after every single step, in a run without restarts");
  ga_status status = ga__sensitivity_check_step(a->se, st);
  if (status) return status;
  if (!reserve(a, (void **)&a->h, &a->room, (size_t)a->n, sizeof *a->h))
    return ga__no_memory(a->ctx, "the steps of an adjoint");
  a->h[a->n++] = st->h;
  status = note(a);
  if (status) a->n--;
  return status;
}

/* ---- Backwards ---- */

static double *state_of(const ga_adjoint *a, long i)
{
  return a->segment + (size_t)i * a->replay->state_length;
}

/* The steps from number `first` on, `count` of them, with their states. */
static ga_status repeat(ga_adjoint *a, long first, long count)
{
  ga_stepper *st = a->replay;
  const size_t bytes = st->state_length * sizeof(double);
  a->saved[0] = (double)st->state_length;
  a->saved[1] = st->opts.method;
  memcpy(a->saved + 2, a->stored[first / a->interval], bytes);
  ga_status status = ga_stepper_load(st, a->saved);
  memcpy(state_of(a, 0), st->now.block, bytes);
  for (long i = 0; i < count && !status; i++) {
    if ((status = ga_stepper_step(st, a->h[first + i]))) return status;
    a->data[i] = (step_data){st->gamma, st->theta, st->shift_a, st->shift_w};
    memcpy(state_of(a, i + 1), st->now.block, bytes);
  }
  return status;
}

/* The stepper as it was after step i of those repeated. */
static void recall(ga_adjoint *a, long i)
{
  ga_stepper *st = a->replay;
  const size_t bytes = st->state_length * sizeof(double);
  memcpy(st->next.block, state_of(a, i), bytes);
  memcpy(st->now.block, state_of(a, i + 1), bytes);
  st->gamma = a->data[i].gamma;
  st->theta = a->data[i].theta;
  st->shift_a = a->data[i].shift_a;
  st->shift_w = a->data[i].shift_w;
}

/* bar += derivatives of the number by state `step`. */
static ga_status add_seed(ga_adjoint *a, long step, const double *block, ga_seed_fn seed, void *user)
{
  ga_stepper *st = a->replay;
  ga__tangent *b = &a->bar;
  ga_seed to = {b->q, b->v, b->vdot, b->lambda, b->psi, b->x, b->y};
  if (st->now.block != block) memcpy(st->now.block, block, st->state_length * sizeof(double));
  ga__state_show(st);
  const ga_status before = ga__begin_callback(a->ctx);
  a->seeded = step;
  const int code = seed(user, step, &st->view, &to);
  a->seeded = -1;
  return ga__end_callback(st->sys, "seed", -1, st->now.scalar[GA__T], code, before);
}

/* bar += what seeds within the step behind this state have added to it. */
static void add_inner(ga_adjoint *a)
{
  if (!a->inner.used) return;
  for (size_t i = 0; i < a->se->n_tangent; i++) a->bar.block[i] += a->inner.before.block[i];
  memset(a->inner.before.block, 0, a->se->n_tangent * sizeof(double));
  a->inner.used = 0;
}

ga_status ga_adjoint_inside(ga_adjoint *a, double t, ga_seed_fn seed, void *user)
{
  if (!a) return GA_ERR_ARGUMENT;
  if (!seed) return ga__refuse_null(a->ctx, __func__, "seed");
  if (a->seeded < 1) return ga__refuse_order(a->ctx, __func__, "by a seed, for a state behind the first one");
  ga_state s;
  ga__tangent *b = &a->inner.bar;
  ga_status status = ga__inner_seed_at(a->se, &a->inner, t, &s);
  if (status) return status;
  ga_seed to = {b->q, b->v, b->vdot, b->lambda, b->psi, b->x, b->y};
  if (seed(user, a->seeded, &s, &to)) return GA_ERR_CALLBACK;
  return ga__inner_seed_turn(a->se, &a->inner, t, &a->bar);
}

static double product(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static ga_status check_gradient(const ga_adjoint *a, const double *gradient, double t)
{
  const int bad = ga__first_bad(gradient, a->se->n);
  if (bad < 0) return GA_OK;
  return ga__refuse(a->ctx, GA_ERR_NAN, GA_REASON_CALLBACK_NOT_FINITE,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .callback = a->opts.pullback ? "pullback" : "seed",
                                 GA__NUMBERS({gradient[bad], NULL})});
}

/* gradient[j] += derivative by parameter j through the equations of the step. */
static ga_status add_equations(ga_adjoint *a, double *gradient)
{
  ga_sensitivity *se = a->se;
  const ga_stepper *st = a->replay;
  const ga_system *sys = st->sys;
  const ga_point begin = ga__state_point(&st->next), end = ga__state_point(&st->now);
  const int n = sys->n + st->n_eta;
  ga_status status = GA_OK;
  if (a->opts.pullback) {
    const ga_pullback by = {&begin, &end, se->g, se->g + sys->n, se->force, st->now.eta};
    const ga_status before = ga__begin_callback(a->ctx);
    const int code = a->opts.pullback(a->opts.user, &by, gradient);
    status = ga__end_callback(sys, "pullback", -1, end.t, code, before);
    return status ? status : check_gradient(a, gradient, end.t);
  }
  for (int j = 0; j < se->n && !status; j++) {
    for (int i = 0; i < n; i++) se->rhs[i] = 0.0;
    for (int i = 0; i < sys->nv; i++) se->dv[i] = 0.0;
    status = ga__parameter_residual(se, j, &end, NULL, se->rhs);
    if (!status && st->n_eta) status = ga__parameter_reaction(se, j, &begin, NULL, st->now.eta, se->dv);
    gradient[j] += product(se->g, se->rhs, n) + product(se->force, se->dv, sys->nv);
  }
  return status;
}

static void add_start(const ga_adjoint *a, double *gradient)
{
  const ga_system *sys = a->replay->sys;
  const int *size = sys->size, nv = sys->nv, nl = size[GA_BLOCK_LAMBDA], np = size[GA_BLOCK_PSI],
            nx = size[GA_BLOCK_X], ny = size[GA_BLOCK_Y];
  const ga__tangent *b = &a->bar;
  for (int j = 0; j < a->se->n; j++) {
    const ga__tangent *d = &a->start[j];
    gradient[j] += product(b->q, d->q, nv) + product(b->v, d->v, nv) + product(b->vdot, d->vdot, nv) +
                   product(b->a, d->a, nv) + product(b->a_prev, d->a_prev, nv) +
                   product(b->lambda, d->lambda, nl) + product(b->psi, d->psi, np) + product(b->x, d->x, nx) +
                   product(b->xdot, d->xdot, nx) + product(b->w, d->w, nx) +
                   product(b->w_prev, d->w_prev, nx) + product(b->y, d->y, ny) +
                   product(b->vdot_prev, d->vdot_prev, nv) + product(b->lambda_prev, d->lambda_prev, nl) +
                   product(b->psi_prev, d->psi_prev, np) + product(b->y_prev, d->y_prev, ny);
  }
}

static ga_status backwards(ga_adjoint *a, ga_seed_fn seed, void *user, double *gradient)
{
  for (long end = a->n, begin; end > 0; end = begin) {
    begin = (end - 1) / a->interval * a->interval;
    ga_status status = repeat(a, begin, end - begin);
    for (long i = end - begin; i-- > 0 && !status;) {
      recall(a, i);
      status = add_seed(a, begin + i + 1, state_of(a, i + 1), seed, user);
      if (!status) status = a->replay->family->slopes->make(a->se);
      if (!status) status = a->replay->family->slopes->reverse(a->se, &a->bar);
      if (!status) add_inner(a);
      if (!status) status = add_equations(a, gradient);
    }
    if (status) return status;
  }
  const ga_status status = add_seed(a, 0, a->stored[0], seed, user);
  if (status) return status;
  add_start(a, gradient);
  return check_gradient(a, gradient, a->replay->now.scalar[GA__T]);
}

ga_status ga_adjoint_gradient(ga_adjoint *a, ga_seed_fn seed, void *user, double *gradient)
{
  if (!a) return GA_ERR_ARGUMENT;
  if (!seed || !gradient) return ga__refuse_null(a->ctx, __func__, seed ? "gradient" : "seed");
  if (!a->begun) return ga__refuse_order(a->ctx, __func__, "after ga_adjoint_begin()");
  for (int j = 0; j < a->se->n; j++) gradient[j] = 0.0;
  ga__parameters_forget(a->se);
  memset(a->bar.block, 0, a->se->n_tangent * sizeof(double));
  memset(a->inner.before.block, 0, a->se->n_tangent * sizeof(double));
  a->inner.used = 0;
  const ga_status status = backwards(a, seed, user, gradient);
  ga__forget_steps(a->replay);
  ga__state_changed(a->replay);
  return status;
}
