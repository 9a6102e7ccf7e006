/* Kinematics: positions, velocities, accelerations and forces of a motion that constraints prescribe wholly.
 *
 * At any time t the values follow from equations alone, without integration:
 *
 *   Φ(t, q) = 0,   B v + Φ_t = 0,   B vdot + Φ's acceleration = 0,   M vdot = f(t, q, v, λ, ψ, x, y),   y = o
 *
 * The previous solution selects the branch: q is predicted by move(q, h v + h²/2 vdot), and the move is
 * shortened if the prediction is poor or the constraints seem to have become dependent on the way. */
#include "core/sample.h"
#include "core/kinematics.h"
#include "core/arrays.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_OFF 0.05    /* corrections of a prediction, of the move itself, */
#define NEAR 1e-4        /* or relative to positions: then they are small anyhow */
#define MOST_TURN 0.3    /* h times the correction of velocities, of the move */
#define MOST_CHANGE 0.2  /* of one Newton iteration, relative: above, the prediction is useless */
#define LEAST_MOVE 1e-13 /* [-] shortest move, of the time since the start or of t */
#define HERE 1e-14 /* [-] of 1 s + |t|: roundings between a time and where a function is found to jump */
#define GROW 2.0
#define SHRINK 0.4
#define REACHED 1e-9 /* of a move: a shorter rest to the end is added to the move */

ga_kinematics_opts ga_kinematics_defaults(void)
{
  return (ga_kinematics_opts){.max_change = 0.1,
                              .max_gap = 1e-6,
                              .max_move = 0.3,
                              .lu = GA_LU_AUTO,
                              .redundant = GA_REDUNDANT_ACCEPT};
}

/* ---- Creation ---- */

static ga_status check_opts(ga_context *ctx, const ga_kinematics_opts *o)
{
  const char *const kind = "kinematics";
  if (!(o->max_change > 0.0)) return ga__refuse_number(ctx, kind, "max_change", o->max_change, "> 0");
  if (!(o->max_gap > 0.0)) return ga__refuse_number(ctx, kind, "max_gap", o->max_gap, "> 0");
  if (!(o->max_move > 0.0 && o->max_move <= 1.0))
    return ga__refuse_number(ctx, kind, "max_move", o->max_move, "> 0 and at most 1");
  return GA_OK;
}

static ga_status refuse_states(ga_kinematics *k, const ga_system *sys)
{
  enum { NAMED = 4 };
  char name[GA_ERROR_NAME], list[GA_ERROR_NAME] = "";
  ga__writer w = {list, sizeof list, 0};
  const int n = sys->size[GA_BLOCK_X];
  for (int i = 0; i < n && i < NAMED; i++) {
    ga_system_name(sys, GA_BLOCK_X, i, name, sizeof name);
    ga__write(&w, "%s%s", i ? ", " : "", name);
  }
  if (n > NAMED) ga__write(&w, " and %d more", n - NAMED);
  return ga__refuse(k->ctx, GA_ERR_ARGUMENT, GA_REASON_STATES_NEED_TIME,
                    &(ga__facts){.name = list, GA__NUMBERS({n, NULL})});
}

static ga_status refuse_rolling(ga_kinematics *k, const ga_system *sys)
{
  char name[192] = "";
  ga__describe(sys, GA_BLOCK_PSI, 0, name, sizeof name);
  return ga__refuse(k->ctx, GA_ERR_ARGUMENT, GA_REASON_ROLLING_NEEDS_TIME,
                    &(ga__facts){.equation = name, GA__NUMBERS({sys->size[GA_BLOCK_PSI], NULL})});
}

static ga_status build(ga_kinematics *k, const ga_system *sys)
{
  ga_stepper_opts o = ga_stepper_defaults();
  o.lu = k->opts.lu;
  o.redundant = k->opts.redundant;
  ga_status status = ga_stepper_create(k->ctx, sys, &o, &k->st);
  if (status) return status;
  const ga_system *own = k->st->sys;
  const size_t nv = (size_t)own->nv, nl = (size_t)own->size[GA_BLOCK_LAMBDA];
  const ga__array need[] = {{&k->now.u, nl},
                            {&k->now.w, nv},
                            {&k->next.u, nl},
                            {&k->next.w, nv},
                            {&k->q, (size_t)own->nq},
                            {&k->v, nv},
                            {&k->x, (size_t)own->size[GA_BLOCK_X]},
                            {&k->lambda, nl},
                            {&k->psi, (size_t)own->size[GA_BLOCK_PSI]},
                            {&k->y, (size_t)own->size[GA_BLOCK_Y]},
                            {&k->move, nv},
                            {&k->kept, k->st->state_length}};
  k->breaks = (ga__breaks){.sys = own};
  return ga__arrays_create(k->ctx, GA__ARRAYS(need), "kinematics", &k->block, NULL);
}

ga_status ga_kinematics_create(ga_context *ctx, const ga_system *sys, const ga_kinematics_opts *opts,
                               ga_kinematics **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys) return ga__refuse_null(ctx, __func__, out ? "sys" : "out");
  const ga_kinematics_opts o = opts ? *opts : ga_kinematics_defaults();
  ga_status status = check_opts(ctx, &o);
  if (!status) status = ga__refuse_samples(ctx, sys, __func__);
  if (status) return status;
  ga_kinematics *k = ga__alloc(ctx, 1, sizeof *k);
  if (!k) return ga__no_memory(ctx, "kinematics");
  k->ctx = ctx;
  k->opts = o;
  if (sys->size[GA_BLOCK_PSI] > 0) status = refuse_rolling(k, sys);
  if (!status && sys->size[GA_BLOCK_X] > 0 && !o.hold_states) status = refuse_states(k, sys);
  if (!status) status = build(k, sys);
  if (status)
    ga_kinematics_destroy(&k);
  else
    *out = k;
  return status;
}

void ga_kinematics_destroy(ga_kinematics **out)
{
  if (!out || !*out) return;
  ga_kinematics *k = *out;
  ga_context *ctx = k->ctx;
  ga_stepper_destroy(&k->st);
  ga__free(ctx, k->block);
  ga__free(ctx, k);
  *out = NULL;
}

const ga_state *ga_kinematics_state(const ga_kinematics *k)
{
  return k && k->has_state ? &k->st->view : NULL;
}

ga_stepper *ga_kinematics_stepper(ga_kinematics *k)
{
  return k ? k->st : NULL;
}

const ga_kinematics_stats *ga_kinematics_get_stats(const ga_kinematics *k)
{
  return k ? &k->stats : NULL;
}

ga_jump_side ga_kinematics_jump(const ga_kinematics *k)
{
  return k && k->has_state ? k->at : GA_JUMP_NONE;
}

/* ---- One time ---- */

/* All values at t from a prediction of q and v, by the functions of starts. There is no next step, so the
 * method's own variables are not needed. */
static ga_status solve_at(ga_kinematics *k, double t, double max_change, ga_start_report *report)
{
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3; /* of differences, where a system gives no derivatives */
  o.shift_a = o.perturb_v = 0;
  o.max_change = max_change;
  o.max_gap = k->opts.max_gap;
  o.forward = 1;
  k->st->provisional = 1;
  const ga_status status = ga_stepper_start(k->st, &o, t, k->q, k->v, k->x, k->lambda, k->psi, report);
  k->st->provisional = 0;
  return status;
}

/* What the next solution is predicted from. */
static void copy_guesses(ga_kinematics *k)
{
  const ga_system *sys = k->st->sys;
  const ga__state *now = &k->st->now;
  ga__copy_numbers(k->q, now->q, sys->nq);
  ga__copy_numbers(k->v, now->v, sys->nv);
  ga__copy_numbers(k->x, now->x, sys->size[GA_BLOCK_X]);
  ga__copy_numbers(k->lambda, now->lambda, sys->size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(k->psi, now->psi, sys->size[GA_BLOCK_PSI]);
}

static void restore(ga_kinematics *k)
{
  ga_stepper *st = k->st;
  memcpy(st->now.block, k->kept, st->state_length * sizeof(double));
  ga__forget_steps(st);
  st->has_state = 1;
  ga__state_changed(st);
  ga__state_show(st);
}

ga_status ga_kinematics_start(ga_kinematics *k, double t0, const double *q0, const double *v0,
                              const double *x0, const double *lambda_guess, const double *psi_guess,
                              ga_start_report *report)
{
  if (!k) return GA_ERR_ARGUMENT;
  ga_stepper *st = k->st;
  const ga_system *sys = st->sys;
  ga_start_report own, assembled, *r = report ? report : &own;
  k->has_state = k->n_free = 0;
  k->stats = (ga_kinematics_stats){.least_independence = INFINITY, .least_t = NAN};
  if (sys->nq > 0 && !q0) return ga__refuse_null(k->ctx, __func__, "q0");
  if (!isfinite(t0)) return ga__refuse_number(k->ctx, "kinematics", "t0", t0, "finite");
  k->t0 = t0;
  k->h_next = k->most_sigma = k->most_speed = 0.0;
  k->at = GA_JUMP_NONE;
  ga__breaks_begin(&k->breaks, t0 + 1e-3 * (1.0 + fabs(t0)));
  double t = t0;
  ga_status status;
  while (!(status = ga__breaks_find(&k->breaks, t, t)) &&
         k->breaks.next.before <= t0 + HERE * (1.0 + fabs(t0))) { /* starts after jumps at this time */
    t = fmax(t, k->breaks.next.after);
    ga__breaks_pass(&k->breaks);
  }
  if (status) return status;
  const double *const given[] = {q0, v0, x0, lambda_guess, psi_guess};
  double *const to[] = {k->q, k->v, k->x, k->lambda, k->psi};
  const int n[] = {sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_LAMBDA],
                   sys->size[GA_BLOCK_PSI]};
  for (int i = 0; i < 5; i++)
    for (int c = 0; c < n[i]; c++) to[i][c] = given[i] ? given[i][c] : 0.0;
  ga__start_first(st);
  ga_start_opts positions = ga_start_defaults();
  positions.max_change = k->opts.max_change;
  positions.max_gap = k->opts.max_gap;
  positions.h = 1e-3;
  /* velocities follow from positions: the given ones are only a first guess for loops that depend on them */
  status = ga_stepper_assemble(st, &positions, t, k->q, NULL, &assembled);
  if (!status) status = solve_at(k, t, HUGE_VAL, r);
  if (status) return status;
  r->position = assembled.position;
  k->n_free = k->stats.mobility = r->mobility;
  k->stats.redundant = r->redundant;
  if (k->n_free > 0) return ga__kinematics_refuse_free(k);
  if ((status = ga__least_held_find(k, NULL, &k->now))) return status;
  ga__least_held_note(k);
  k->has_state = 1;
  return GA_OK;
}

/* ---- Moves ---- */

/* q and v at t + h into k->q, k->v; the size of the move, relative. */
static double predict(ga_kinematics *k, double h)
{
  const ga_system *sys = k->st->sys;
  const ga__state *now = &k->st->now;
  copy_guesses(k);
  for (int i = 0; i < sys->nv; i++) {
    k->move[i] = h * (now->v[i] + 0.5 * h * now->vdot[i]);
    k->v[i] = now->v[i] + h * now->vdot[i];
  }
  ga_group_move(sys->group, k->q, now->q, k->move);
  return ga__max_abs(k->move, sys->nv, NULL) / (1.0 + ga__max_abs(now->q, sys->nq, NULL));
}

/* Longest move for which the prediction is within max_move. */
static double longest_move(const ga_kinematics *k)
{
  const ga_system *sys = k->st->sys;
  const ga__state *now = &k->st->now;
  const double most = k->opts.max_move * (1.0 + ga__max_abs(now->q, sys->nq, NULL)),
               v = ga__max_abs(now->v, sys->nv, NULL), a = ga__max_abs(now->vdot, sys->nv, NULL);
  const double h_v = v > 0.0 ? 0.5 * most / v : HUGE_VAL, h_a = a > 0.0 ? sqrt(most / a) : HUGE_VAL;
  return fmin(h_v, h_a);
}

/* 1: the prediction was good enough for the solution to be on the same branch. */
static int is_near(const ga_kinematics *k, double h, double size, const ga_start_report *r)
{
  const ga_system *sys = k->st->sys;
  const double scale = 1.0 + ga__max_abs(k->st->now.q, sys->nq, NULL);
  double turn = 0.0;
  for (int i = 0; i < sys->nv; i++) turn = fmax(turn, fabs(k->st->now.v[i] - k->v[i]));
  return r->position.change / scale <= MOST_OFF * size + NEAR && h * turn / scale <= MOST_TURN * size + NEAR;
}

/* 1: a shorter move may succeed. */
static int may_be_shorter(ga_status status)
{
  return status > 0 || status == GA_ERR_INCONSISTENT || status == GA_ERR_SINGULAR;
}

/* Solves at t from the prediction that k->q, k->v hold. jump: velocities may change by any
 * amount. Positive status: no solution on this branch was found, and the current state is unchanged. */
static ga_status try_at(ga_kinematics *k, double t, double h, double size, int jump)
{
  ga_stepper *st = k->st;
  ga_start_report r;
  const ga_log_fn log = k->ctx->opts.log;
  const int redundant = st->stats.redundant;
  memcpy(k->kept, st->now.block, st->state_length * sizeof(double));
  ga__start_again(st, GA__FOLLOWING);
  k->ctx->opts.log = NULL; /* of discarded states */
  ga_status status = solve_at(k, t, jump ? HUGE_VAL : MOST_CHANGE, &r);
  k->ctx->opts.log = log;
  ga__start_first(st);
  int usable = !status && r.mobility == 0 && (jump || is_near(k, h, size, &r));
  if (usable) status = ga__least_held_find(k, k->now.u, &k->next);
  if (usable && !status) usable = !ga__least_held_turned(k, size);
  if (!status && usable) {
    k->stats.redundant = st->stats.redundant;
    st->stats.redundant = r.redundant;
    if (r.redundant != redundant) ga__log_relations(st, t, redundant);
    return GA_OK;
  }
  restore(k);
  st->stats.redundant = redundant;
  if (status && !may_be_shorter(status)) return status;
  return status ? GA_RETRY_NEWTON : GA_RETRY_SINGULAR;
}

/* Makes the trial state the current one. */
static void accept(ga_kinematics *k)
{
  const ga__least_held before = k->now;
  k->now = k->next;
  k->next = before;
  k->stats.moves++;
  ga__least_held_note(k);
}

/* Passes the jump of functions of time directly after the current state. */
static ga_status pass_jump(ga_kinematics *k, double t)
{
  const ga_error none = ga__error_none();
  predict(k, t - k->st->now.scalar[GA__T]);
  const ga_status status = try_at(k, t, 0.0, 0.0, 1);
  if (status) {
    const ga_error why = status > 0 ? k->ctx->error : none;
    return status > 0 ? ga__kinematics_fail(k, status, &why) : status;
  }
  accept(k);
  k->at = GA_JUMP_AFTER;
  return GA_OK;
}

/* Time of the next jump; those of derivatives of accelerations only are passed over. */
static ga_status find_jump(ga_kinematics *k, double t, double until)
{
  ga__breaks *b = &k->breaks;
  if (until > b->until) b->until = until;
  for (;;) {
    const ga_status status = ga__breaks_find(b, t, until);
    if (status || isinf(b->next.before) || b->next.restart || b->next.before > t) return status;
    ga__breaks_pass(b);
  }
}

/* A move to `end`, or shorter if the prediction requires it. */
static ga_status move_towards(ga_kinematics *k, double end)
{
  const double t = k->st->now.scalar[GA__T];
  const double least = LEAST_MOVE * fmax(fabs(t), end - k->t0) + 4.0 * DBL_EPSILON * fabs(t);
  double h = fmin(k->h_next > 0.0 ? k->h_next : end - t, fmin(longest_move(k), k->breaks.next.h_max));
  for (;;) {
    const int last = t + h * (1.0 + REACHED) >= end;
    if (last) h = end - t;
    const double at = last ? end : t + h, size = predict(k, h);
    const ga_status status = try_at(k, at, h, size, 0);
    if (!status) {
      accept(k);
      k->at = GA_JUMP_NONE;
      k->h_next = fmax(GROW * h, last ? k->h_next : 0.0);
      return GA_OK;
    }
    if (status < 0) return status;
    k->stats.shortened++;
    if (h <= least) {
      const ga_error why = k->ctx->error;
      return ga__kinematics_fail(k, status, &why);
    }
    h = fmax(SHRINK * h, 0.5 * least);
  }
}

ga_status ga_kinematics_step(ga_kinematics *k, double until)
{
  if (!k) return GA_ERR_ARGUMENT;
  if (!k->has_state) return ga__refuse_order(k->ctx, __func__, "after ga_kinematics_start()");
  const double t = k->st->now.scalar[GA__T];
  if (!(isfinite(until) && until >= t))
    return ga__refuse_number(k->ctx, "kinematics", "until", until, "finite, and not before the present time");
  if (until == t) return GA_STOPPED;
  ga_status status = find_jump(k, t, until);
  if (status) return status;
  ga__breaks *b = &k->breaks;
  if (b->next.before <= t) { /* the state is directly before the jump */
    const double after = fmax(b->next.after, t);
    if (until < after) return GA_STOPPED; /* selects this side of the jump */
    ga__breaks_pass(b);
    return pass_jump(k, after);
  }
  const double end = fmin(until, b->next.before);
  status = move_towards(k, end);
  if (!status && k->st->now.scalar[GA__T] == b->next.before && b->next.restart) k->at = GA_JUMP_BEFORE;
  return status;
}
