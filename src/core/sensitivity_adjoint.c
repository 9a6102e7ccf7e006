/* Discrete adjoint: the gradient of one number by many parameters, by one pass backwards over the steps.
 *
 * States are stored at every so many steps, and what the steps between two of them are made of as well as
 * long as there is room for it. Else these steps are repeated by a stepper of its own, with the factors that
 * the run had, from the last of these intervals to the first. The transposed equations of each step are
 * solved. */
#include "core/sensitivity.h"

#include "core/arrays.h"
#include "core/sample.h"

#include <math.h>
#include <string.h>

/* A step of the run; h 0: a restart. */
typedef struct passed {
  double h;
  int course; /* how it was taken, as its family says */
} passed;

/* What a restart began with. */
typedef struct restart {
  ga_start_opts begun;
  ga__again begun_as;
  double *values; /* q, v, x, λ, ψ and y, in the block of the stored state; NULL: it is none */
} restart;

/* Factors that steps had at their ends, for dense output. */
typedef struct used {
  ga__factor_state state;
  size_t at, n; /* their values, in tape.values; n 0: none */
} used;

/* What the steps of an interval are made of. */
typedef struct tape {
  int full;           /* 1: all of them are on it */
  size_t state, kept; /* numbers of a state, and what else a step has; */
  double *block;      /* one behind the other for each step, the state at its end first */
  size_t room;        /* numbers there is room for */
  used *used;         /* [n_used] */
  long *used_by;      /* [steps] whose number a step has used */
  double *values;     /* of all of these */
  size_t n_used, room_used, room_used_by, n_values, room_values;
} tape;

/* A state from which steps are repeated, and what the next step has of those before. */
typedef struct stored {
  double *block, *own, *values; /* the state, numbers of its family, and of its factors; NULL: none */
  long number;                  /* of the state */
  ga__factor_state factors;
  restart restart; /* by which the state was reached */
  tape tape;       /* the steps from it on, if they were kept */
} stored;

struct ga_adjoint {
  ga_context *ctx;
  ga_stepper *st;     /* whose run it is */
  ga_stepper *replay; /* repeats steps */
  ga_sensitivity *se; /* of replay */
  ga_adjoint_opts opts;
  int interval;
  int begun;
  long n;       /* steps so far, */
  passed *step; /* [n] and what they were */
  size_t room;
  stored *stored; /* [n_stored] */
  size_t n_stored, room_stored;
  size_t memory;      /* [bytes] of tapes that are kept, */
  int has_room;       /* 1: there is room for more */
  tape repeated;      /* of steps that were repeated, */
  const tape *tape;   /* and that which is gone back over, */
  const stored *from; /* from this state on */
  long loaded;        /* number of factors on it that the stepper has; −1: others */
  double *saved;      /* a state as ga_stepper_load() takes it */
  double *last;       /* [n_last] the beginning of the state noted last */
  ga__tangent *start; /* [parameters] derivatives of the start */
  ga__tangent bar;
  ga__inner_seed inner;
  double *gradient; /* of the number that is being differentiated */
  long at;          /* the repeated step that is gone back over, */
  long seeded;      /* number of the state that a seed is called for; −1: none */
};

#define DEFAULT_MEMORY 64e6 /* [bytes] */

ga_adjoint_opts ga_adjoint_defaults(void)
{
  return (ga_adjoint_opts){.interval = 100, .memory = DEFAULT_MEMORY};
}

/* ---- Memory ---- */

static void tape_free(ga_adjoint *a, tape *t)
{
  void *const part[] = {t->block, t->used, t->used_by, t->values};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) ga__free(a->ctx, part[i]);
  *t = (tape){.full = 0};
}

static void forget(ga_adjoint *a)
{
  for (size_t i = 0; i < a->n_stored; i++) {
    tape_free(a, &a->stored[i].tape);
    ga__free(a->ctx, a->stored[i].block);
  }
  a->n_stored = 0;
  a->memory = 0;
  a->has_room = a->opts.memory > 0.0;
  a->begun = 0;
  a->n = 0;
}

/* What the families of the stepper need to go back over their steps. */
static ga_status create_turned(ga_adjoint *a)
{
  const ga__slopes *list[2];
  ga_status status = GA_OK;
  for (int i = 0; i < ga__slopes_of(a->replay, list) && !status; i++)
    if (list[i]->turned->create) status = list[i]->turned->create(a->se);
  return status;
}

static ga_status build(ga_adjoint *a, int n, const ga_parameter *parameter)
{
  ga_stepper *st = a->st;
  ga_status status =
      ga_stepper_create(a->ctx, st->sys->shared ? st->sys->shared : st->sys, &st->opts, &a->replay);
  if (!status) status = ga_sensitivity_create(a->ctx, a->replay, n, parameter, &a->se);
  if (!status) status = create_turned(a);
  if (status) return status;
  a->se->replays = 1;
  a->saved = ga__alloc(a->ctx, ga_stepper_saved_size(a->replay), sizeof *a->saved);
  a->last = ga__alloc(a->ctx, a->se->n_last, sizeof *a->last);
  a->start = ga__alloc(a->ctx, (size_t)n, sizeof *a->start);
  if (!a->saved || !a->last || !a->start) return ga__no_memory(a->ctx, "an adjoint");
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
  if (!(o.memory >= 0.0)) return ga__refuse_number(ctx, "adjoint", "memory", o.memory, ">= 0");
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
  ga__free(a->ctx, a->step);
  ga__free(a->ctx, a->stored);
  tape_free(a, &a->repeated);
  ga__free(a->ctx, a->saved);
  ga__free(a->ctx, a->last);
  ga__free(a->ctx, a);
  *adjoint = NULL;
}

/* Room for `needed` numbers of `bytes` in *array, of which n are there. */
static int reserve(ga_adjoint *a, void **array, size_t *room, size_t n, size_t needed, size_t bytes)
{
  if (needed <= *room) return 1;
  const size_t more = needed > 2 * *room ? needed + 63 : 2 * *room;
  void *grown = ga__alloc(a->ctx, more, bytes);
  if (!grown) return 0;
  if (n) memcpy(grown, *array, n * bytes);
  ga__free(a->ctx, *array);
  *array = grown;
  *room = more;
  return 1;
}

/* ---- Forwards ---- */

/* Values given to the last start, each behind the other; to NULL: their number alone. */
static size_t list_start(ga_stepper *st, double *to, int back)
{
  const int *size = st->sys->size;
  const struct {
    double *of;
    int n;
  } part[] = {{st->begin_q, st->sys->nq},          {st->begin_v, st->sys->nv},
              {st->begin_x, size[GA_BLOCK_X]},     {st->begin_lambda, size[GA_BLOCK_LAMBDA]},
              {st->begin_psi, size[GA_BLOCK_PSI]}, {st->begin_y, size[GA_BLOCK_Y]}};
  size_t sum = 0;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
    if (to && back) ga__copy_numbers(part[i].of, to + sum, part[i].n);
    if (to && !back) ga__copy_numbers(to + sum, part[i].of, part[i].n);
    sum += (size_t)part[i].n;
  }
  return sum;
}

/* -- Tapes -- */

/* For steps of the stepper's method. */
static void tape_begin(const ga_stepper *st, tape *t)
{
  t->state = st->state_length;
  t->kept = st->family->slopes->turned->kept(st);
  t->n_used = t->n_values = 0;
}

/* The factors of its last step, number i. */
static ga_status tape_factors(ga_adjoint *a, const ga_stepper *st, tape *t, long i)
{
  const ga__turned *turned = st->family->slopes->turned;
  if (!turned->has_new_factors) return GA_OK;
  if (!reserve(a, (void **)&t->used_by, &t->room_used_by, (size_t)i, (size_t)i + 1, sizeof *t->used_by))
    return ga__no_memory(a->ctx, "the steps of an adjoint");
  if (i > 0 && !turned->has_new_factors(st)) {
    t->used_by[i] = t->used_by[i - 1];
    return GA_OK;
  }
  const used of = {st->factors.now, t->n_values, ga__factors_count_values(st)};
  if (!reserve(a, (void **)&t->used, &t->room_used, t->n_used, t->n_used + 1, sizeof *t->used) ||
      !reserve(a, (void **)&t->values, &t->room_values, t->n_values, t->n_values + of.n, sizeof *t->values))
    return ga__no_memory(a->ctx, "the steps of an adjoint");
  if (of.n) ga__factors_save(st, t->values + of.at);
  t->n_values += of.n;
  t->used_by[i] = (long)t->n_used;
  t->used[t->n_used++] = of;
  return GA_OK;
}

/* The last step of a stepper, number i. */
static ga_status tape_step(ga_adjoint *a, const ga_stepper *st, tape *t, long i)
{
  const size_t step = t->state + t->kept;
  if (!reserve(a, (void **)&t->block, &t->room, (size_t)i * step, (size_t)(i + 1) * step, sizeof *t->block))
    return ga__no_memory(a->ctx, "the steps of an adjoint");
  double *to = t->block + (size_t)i * step;
  memcpy(to, st->now.block, t->state * sizeof *to);
  st->family->slopes->turned->keep(st, to + t->state);
  return tape_factors(a, st, t, i);
}

static size_t tape_bytes(const tape *t)
{
  return (t->room + t->room_values) * sizeof(double) + t->room_used * sizeof(used) +
         t->room_used_by * sizeof(long);
}

/* The last step of the run, on the tape of the state stored last, unless that is given up: for want of room.
 */
static ga_status record(ga_adjoint *a)
{
  stored *from = &a->stored[a->n_stored - 1];
  if (!from->tape.full) return GA_OK;
  const ga_status status = tape_step(a, a->st, &from->tape, a->n - 1 - from->number);
  if (status) return status;
  if ((double)(a->memory + tape_bytes(&from->tape)) <= a->opts.memory) return GA_OK;
  tape_free(a, &from->tape);
  a->has_room = 0;
  return GA_OK;
}

/* Stores the stepper's state; restarted 1: a restart has led to it. */
static ga_status store(ga_adjoint *a, int restarted)
{
  ga_stepper *st = a->st;
  const ga__turned *turned = st->family->slopes->turned;
  const size_t length = st->state_length, own = turned->kept_before ? turned->kept_before(st) : 0,
               values = st->factors.worn ? 0 : ga__factors_count_values(st),
               begun = restarted ? list_start(st, NULL, 0) : 0;
  stored to = {.number = a->n, .factors = st->factors.now};
  if (!reserve(a, (void **)&a->stored, &a->room_stored, a->n_stored, a->n_stored + 1, sizeof *a->stored) ||
      !(to.block = ga__alloc(a->ctx, length + own + values + begun, sizeof *to.block)))
    return ga__no_memory(a->ctx, "the states of an adjoint");
  memcpy(to.block, st->now.block, length * sizeof *to.block);
  to.own = to.block + length;
  if (own) turned->keep_before(st, to.own);
  to.values = values ? to.own + own : NULL;
  if (values) ga__factors_save(st, to.values);
  if (restarted) {
    to.restart = (restart){st->begun, st->begun_as, to.own + own + values};
    list_start(st, to.restart.values, 0);
  }
  if (a->n_stored > 0) a->memory += tape_bytes(&a->stored[a->n_stored - 1].tape);
  to.tape.full = a->has_room;
  tape_begin(st, &to.tape);
  a->stored[a->n_stored++] = to;
  return GA_OK;
}

/* Notes the stepper's state, stored if it begins an interval. */
static ga_status note(ga_adjoint *a, int restarted)
{
  memcpy(a->last, a->st->now.block, a->se->n_last * sizeof *a->last);
  const int full = a->n_stored == 0 || a->n - a->stored[a->n_stored - 1].number >= a->interval;
  return full || restarted ? store(a, restarted) : GA_OK;
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
  ga__member_use(a->replay, ga__member_is_second(st));
  ga_status status = ga_sensitivity_start(a->se, &opts, st->now.scalar[GA__T], st->begin_q, st->begin_v,
                                          st->begin_x, st->begin_lambda, st->begin_psi, NULL);
  if (status) return status;
  for (int j = 0; j < a->se->n; j++)
    memcpy(a->start[j].block, a->se->parameter[j].now.block, a->se->n_tangent * sizeof(double));
  status = note(a, 0);
  a->begun = !status;
  return status;
}

/* The last step of the stepper, or its restart at a time that does not move. */
static ga_status check_step(ga_adjoint *a, int restarted)
{
  const ga_stepper *st = a->st;
  const size_t bytes = a->se->n_last * sizeof *a->last;
  ga_status status = GA_OK;
  a->replay->now.scalar[GA__T] = st->now.scalar[GA__T]; /* for messages; a state is loaded before it steps */
  restarted = restarted && st->begun_as != GA__FIRST;
  if (restarted && st->begun_as != GA__CHANGING && st->begun_as != GA__BEHIND_JUMP)
    return ga__refuse_sensitivity(a->se,
                                  "the run was restarted by an event, or has passed an edge of the motion",
                                  "the adjoint has restarts behind jumps of functions of time alone");
  if (!restarted && (!st->can_undo || memcmp(a->last, st->next.block, bytes) != 0))
    return ga__refuse_order(a->ctx, "ga_adjoint_step", "right after every single step and every restart");
  if (!restarted) status = ga__sensitivity_check_step(a->se, st);
  return status ? status : ga__times_stay(a->se, st, restarted);
}

ga_status ga_adjoint_step(ga_adjoint *a)
{
  if (!a) return GA_ERR_ARGUMENT;
  ga_stepper *st = a->st;
  if (!a->begun) return ga__refuse_order(a->ctx, __func__, "after ga_adjoint_begin()");
  const int restarted = st->has_state && st->now.scalar[GA__H_OLD] == 0.0 && !st->can_undo;
  ga_status status = check_step(a, restarted);
  if (status) return status;
  if (!reserve(a, (void **)&a->step, &a->room, (size_t)a->n, (size_t)a->n + 1, sizeof *a->step))
    return ga__no_memory(a->ctx, "the steps of an adjoint");
  const ga__turned *turned = st->family->slopes->turned;
  a->step[a->n++] = restarted ? (passed){0.0, -1} : (passed){st->h, turned->course ? turned->course(st) : -1};
  if (!restarted) status = record(a);
  if (!status) status = note(a, restarted);
  if (status) a->n--;
  return status;
}

/* ---- Backwards ---- */

/* State i from the stored one on. */
static const double *state_of(const ga_adjoint *a, long i)
{
  const tape *t = a->tape;
  return i == 0 ? a->from->block : t->block + (size_t)(i - 1) * (t->state + t->kept);
}

/* The stepper of the repeated steps becomes that of the run as it was at a stored state. */
static ga_status load(ga_adjoint *a, const stored *from)
{
  ga_stepper *st = a->replay;
  a->saved[0] = (double)st->state_length;
  a->saved[1] = st->opts.method;
  memcpy(a->saved + 2, from->block, st->state_length * sizeof(double));
  const ga_status status = ga_stepper_load(st, a->saved);
  if (status) return status;
  st->tolerance = a->st->tolerance;
  st->follows = a->st->follows;
  const ga__turned *turned = st->family->slopes->turned;
  if (turned->recall_before) turned->recall_before(st, from->own);
  ga__factors_load(st, &from->factors, from->values);
  return GA_OK;
}

/* They become those of the stepper. */
static ga_status recall_factors(ga_adjoint *a, long i)
{
  ga_stepper *st = a->replay;
  const tape *t = a->tape;
  if (!st->family->slopes->turned->has_new_factors || a->loaded == t->used_by[i]) return GA_OK;
  const used *of = &t->used[t->used_by[i]];
  ga__factors_load(st, &of->state, of->n ? t->values + of->at : NULL);
  a->loaded = t->used_by[i];
  return ga__factors_refactor(st);
}

/* The tape of `count` steps from a stored state on: that of the run, or they are repeated. */
static ga_status take_tape(ga_adjoint *a, const stored *from, long count)
{
  ga_stepper *st = a->replay;
  const ga__turned *turned;
  ga_status status = load(a, from);
  a->from = from;
  a->tape = from->tape.full ? &from->tape : &a->repeated;
  a->loaded = -1;
  if (status || from->tape.full) return status;
  tape_begin(st, &a->repeated);
  turned = st->family->slopes->turned;
  for (long i = 0; i < count && !status; i++) {
    const passed *step = &a->step[from->number + i];
    if (turned->follow) turned->follow(st, step->course);
    status = ga_stepper_step(st, step->h);
    if (!status) status = tape_step(a, st, &a->repeated, i);
  }
  return status;
}

/* The stepper as it was after step i of those repeated. */
static void recall(ga_adjoint *a, long i)
{
  ga_stepper *st = a->replay;
  const ga__turned *turned = st->family->slopes->turned;
  const size_t bytes = st->state_length * sizeof(double);
  a->at = i;
  memcpy(st->next.block, state_of(a, i), bytes);
  memcpy(st->now.block, state_of(a, i + 1), bytes);
  turned->recall(st, state_of(a, i + 1) + a->tape->state);
  st->can_undo = 1;
  ga__state_changed(st);
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

static ga_status add_inside(ga_adjoint *a);

ga_status ga_adjoint_inside(ga_adjoint *a, double t, ga_seed_fn seed, void *user)
{
  if (!a) return GA_ERR_ARGUMENT;
  if (!seed) return ga__refuse_null(a->ctx, __func__, "seed");
  if (a->seeded < 1) return ga__refuse_order(a->ctx, __func__, "by a seed, for a state behind the first one");
  const ga__turned *turned = a->replay->family->slopes->turned;
  ga_state s;
  ga__tangent *b = &a->inner.bar;
  ga_status status = recall_factors(a, a->at);
  if (!status) status = ga__inner_seed_at(a->se, &a->inner, t, &s);
  if (status) return status;
  ga_seed to = {b->q, b->v, b->vdot, b->lambda, b->psi, b->x, b->y};
  if (seed(user, a->seeded, &s, &to)) return GA_ERR_CALLBACK;
  status = turned->inside(a->se, &a->inner, t, &a->bar);
  return status ? status : add_inside(a);
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

/* What a function of a family gives for one parameter after the other. */
typedef ga_status (*gather_fn)(ga_sensitivity *se, int j, double *sum);
typedef int (*point_fn)(ga_sensitivity *se, int i, ga_pullback *by);

static ga_status add_each(ga_adjoint *a, gather_fn gather)
{
  ga_status status = GA_OK;
  for (int j = 0; j < a->se->n && !status; j++) status = gather(a->se, j, &a->gradient[j]);
  return status;
}

/* All parameters at once, at each of the points of the equations. */
static ga_status pull_back(ga_adjoint *a, point_fn point)
{
  ga_pullback by;
  ga_status status = GA_OK;
  for (int i = 0; !status && point(a->se, i, &by); i++) {
    const ga_status before = ga__begin_callback(a->ctx);
    const int code = a->opts.pullback(a->opts.user, &by, a->gradient);
    status = ga__end_callback(a->replay->sys, "pullback", -1, by.end->t, code, before);
    if (!status) status = check_gradient(a, a->gradient, by.end->t);
  }
  return status;
}

/* gradient += derivatives through the equations of the step. */
static ga_status add_equations(ga_adjoint *a)
{
  const ga__turned *turned = a->replay->family->slopes->turned;
  return a->opts.pullback ? pull_back(a, turned->point) : add_each(a, turned->gather);
}

/* The same through those of a place within it. */
static ga_status add_inside(ga_adjoint *a)
{
  const ga__turned *turned = a->replay->family->slopes->turned;
  if (!turned->gather_inside) return GA_OK;
  return a->opts.pullback ? pull_back(a, turned->point_inside) : add_each(a, turned->gather_inside);
}

static void add_start(const ga_adjoint *a, double *gradient)
{
  for (int j = 0; j < a->se->n; j++)
    gradient[j] += product(a->bar.block, a->start[j].block, (int)a->se->n_tangent);
}

/* Steps from a stored state on, the last one first. */
static ga_status reverse_steps(ga_adjoint *a, const stored *from, long count, ga_seed_fn seed, void *user)
{
  const ga__slopes *slopes = a->replay->family->slopes;
  const long last = from->number + count;
  ga_status status = GA_OK;
  if ((last == a->n || !(a->step[last].h > 0.0)) && slopes->turned->begin) slopes->turned->begin(a->se);
  for (long i = count; i-- > 0 && !status;) {
    recall(a, i);
    status = add_seed(a, from->number + i + 1, state_of(a, i + 1), seed, user);
    if (!status) status = slopes->make(a->se);
    if (!status) status = slopes->turned->reverse(a->se, &a->bar);
    if (!status) add_inner(a);
    if (!status) status = add_equations(a);
  }
  return status;
}

/* Over the restart that has led to a stored state. */
static ga_status reverse_restart(ga_adjoint *a, const stored *to, ga_seed_fn seed, void *user)
{
  ga_stepper *st = a->replay;
  ga_status status = load(a, to);
  if (!status) status = add_seed(a, to->number, to->block, seed, user);
  if (status) return status;
  st->begun = to->restart.begun;
  st->begun_as = to->restart.begun_as;
  list_start(st, to->restart.values, 1);
  return ga__sensitivity_restart_turned(a->se, &a->bar, a->gradient);
}

static ga_status backwards(ga_adjoint *a, ga_seed_fn seed, void *user)
{
  long end = a->n;
  for (size_t k = a->n_stored; k-- > 0;) {
    const stored *from = &a->stored[k];
    ga_status status = GA_OK;
    if (end > from->number) status = take_tape(a, from, end - from->number);
    if (!status && end > from->number) status = reverse_steps(a, from, end - from->number, seed, user);
    end = from->number;
    if (!status && from->restart.values) {
      status = reverse_restart(a, from, seed, user);
      end--;
    }
    if (status) return status;
  }
  const ga_status status = add_seed(a, 0, a->stored[0].block, seed, user);
  if (status) return status;
  add_start(a, a->gradient);
  return check_gradient(a, a->gradient, a->replay->now.scalar[GA__T]);
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
  a->gradient = gradient;
  const ga_status status = backwards(a, seed, user);
  a->gradient = NULL;
  ga__forget_steps(a->replay);
  ga__state_changed(a->replay);
  return status;
}

double ga_adjoint_doubt(const ga_adjoint *adjoint, int parameter)
{
  return adjoint ? ga_sensitivity_doubt(adjoint->se, parameter) : 0.0;
}
