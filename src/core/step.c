/* One step, from prediction to acceptance.
 *
 * The generalized-α method for constrained systems on Lie groups (Arnold & Brüls 2007; Brüls, Cardona &
 * Arnold 2012; Arnold, Cardona & Brüls 2015) goes from q, v, vdot, a at t to t₁ = t + h by
 *
 *   q₁ = q ∘ exp(hΔq)      Δq = v + (½−β) h a + β h a₁ − Bᵀη
 *   v₁ = v + (1−γ) h a + γ h a₁
 *   (1−αm) a₁ + αm a = (1−αf) vdot₁ + αf vdot
 *   M(q₁) vdot₁ = f(t₁, q₁, v₁, λ₁, ...)      Φ(t₁, q₁) = 0      B(q₁) v₁ + Φ_t = 0
 *
 * with w, δm, δf, θ for first-order states in the place of a, αm, αf, γ, and η = 0 in the index-3 form. Other
 * families solve other equations for other unknowns; the way through a step is the same for all. `now` is the
 * state at t and is not touched; `next` becomes the state at t₁, and both change places in the end. */
#include "core/stepper.h"

#include <math.h>

enum {
  MAX_TRIES = 4
}; /* attempts of a step whose end has other independent constraints than its beginning */

static ga_status check_step(ga_stepper *st, double h)
{
  if (!st->has_state) return ga__refuse_order(st->ctx, "ga_stepper_step", "after ga_stepper_start()");
  if (st->sys->def.sample && !st->meets_samples)
    return ga__refuse(st->ctx, GA_ERR_ORDER, GA_REASON_SAMPLES_NEED_SIMULATOR,
                      &(ga__facts){.function = "ga_stepper_step"});
  double t = st->now.scalar[GA__T];
  const int positive = h > 0.0 && isfinite(h);
  if (positive && t + h != t) return GA_OK;
  return ga__refuse(
      st->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
      &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                   .function = "ga_stepper_step",
                   .field = "h",
                   .expected = positive ? "large enough to change the time" : "positive and finite",
                   GA__NUMBERS({h, NULL})});
}

/* Exchanges the current state and the computed one. */
static void exchange_states(ga_stepper *st)
{
  ga__state other = st->next;
  st->next = st->now;
  st->now = other;
  ga__state_changed(st);
  ga__state_show(st);
}

/* `now` is unchanged: only the factors are restored. */
static ga_status reject_step(ga_stepper *st, ga_status status)
{
  st->stats.failed_steps++;
  ga__factors_restore(st, 1);
  ga__failure_keep(st, status);
  return status;
}

static ga_status fail_rank(ga_stepper *st, double h)
{
  return ga__refuse(st->ctx, GA_RETRY_SINGULAR, GA_REASON_RANK_CHANGES,
                    &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], h, -1, -1}});
}

ga_status ga_stepper_step(ga_stepper *st, double h)
{
  if (!st) return GA_ERR_ARGUMENT;
  const ga__family *family = st->family;
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  ga_status status = check_step(st, h);
  if (!status) status = ga__ready_relations(st); /* which constraints are independent at t */
  if (status) return status;
  const int relations = st->red.null.r, relations_eta = st->red.null_eta.r;
  ga__factors_keep(st);
  st->can_undo = 0;
  st->tried = GA__ACCEPTED;

  int again = 1;
  for (int i = 0; i < MAX_TRIES && again; i++) {
    const int used = st->red.null.r;
    if ((status = ga__use_relations(st))) return reject_step(st, status);
    /* Prediction: a and w adjusted to h, first values of a₁, λ₁, ψ₁, η, w₁, y₁. */
    status = family->predict(st, h, scratch);
    /* Correction: q₁, v₁, vdot₁ from a₁; residuals there; their increment of the unknowns; until it is small.
     */
    if (!status) status = family->iterate ? family->iterate(st, scratch) : ga__newton(st, scratch);
    /* η is free along the relations of B at the beginning of the step alone. */
    if (!status && st->red.null_eta.r == relations_eta)
      ga__null_reduce(&st->red.null_eta, st->sys, st->next.eta, NULL);
    /* Are other constraints independent at t₁ than assumed? */
    status = ga__check_rank(st, status, used, &again);
  }
  if (!status && again) status = fail_rank(st, h);
  if (!status) status = ga__settle_multipliers(st, scratch);
  if (!status && family->accept) status = family->accept(st);
  if (!status) status = ga__stack_check(st->ctx, &st->scratch);
  if (status) return reject_step(st, status);

  if (!family->iterate) ga__judge_predictor(st, scratch);
  exchange_states(st);
  st->can_undo = st->red.valid = 1;
  st->stats.steps++;
  st->stats.redundant = st->red.null.r;
  ga__log_relations(st, st->now.scalar[GA__T], relations);
  return GA_OK;
}

ga_status ga_stepper_undo(ga_stepper *st)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo) return ga__refuse_order(st->ctx, __func__, "right after a step, once");
  exchange_states(st);
  ga__factors_restore(st, 0);
  st->can_undo = 0;
  st->tried = GA__TAKEN_BACK;
  st->stats.steps--;
  st->stats.redundant = (int)st->now.scalar[GA__REDUNDANT];
  return GA_OK;
}

ga_status ga_stepper_run(ga_stepper *st, double h, long n, ga_observer_fn observer, void *user)
{
  if (!st) return GA_ERR_ARGUMENT;
  ga_status status = check_step(st, h);
  if (status) return status;
  if (n < 0)
    return ga__refuse(
        st->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
        &(ga__facts){.function = __func__, .field = "n", .expected = ">= 0", GA__NUMBERS({(double)n, NULL})});
  if (observer && observer(user, st)) return GA_STOPPED;
  for (long i = 0; i < n; i++) {
    if ((status = ga_stepper_step(st, h))) return status;
    if (observer && observer(user, st)) return GA_STOPPED;
  }
  return GA_OK;
}

/* ---- A short way without a step ---- */

/* Linear extrapolation from the values of the last two steps. */
static void extrapolate(double *to, const double *from, const double *before, int n, double part)
{
  for (int i = 0; i < n; i++) to[i] = from[i] + (part != 0.0 ? part * (from[i] - before[i]) : 0.0);
}

void ga__extrapolate(const ga_stepper *st, double gap, ga__state *to)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const double h = now->scalar[GA__H_OLD], part = h > 0.0 && gap <= h ? gap / h : 0.0;
  extrapolate(to->vdot, now->vdot, now->vdot_prev, sys->nv, part);
  extrapolate(to->xdot, now->xdot, now->xdot_prev, sys->size[GA_BLOCK_X], part);
  extrapolate(to->lambda, now->lambda, now->lambda_prev, sys->size[GA_BLOCK_LAMBDA], part);
  extrapolate(to->psi, now->psi, now->psi_prev, sys->size[GA_BLOCK_PSI], part);
  extrapolate(to->y, now->y, now->y_prev, sys->size[GA_BLOCK_Y], part);
  for (int i = 0; i < sys->nv; i++) { /* ∫ and ∫∫ of vdot, extrapolated linearly */
    const double change = to->vdot[i] - now->vdot[i];
    st->exponent[i] = gap * (now->v[i] + gap * (0.5 * now->vdot[i] + change / 6.0));
    to->v[i] = now->v[i] + gap * (now->vdot[i] + 0.5 * change);
  }
  ga_group_move(sys->group, to->q, now->q, st->exponent);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    to->x[i] = now->x[i] + 0.5 * gap * (now->xdot[i] + to->xdot[i]);
  to->scalar[GA__T] = now->scalar[GA__T] + gap;
}

void ga__step_over_gap(ga_stepper *st, double gap)
{
  ga__factors_keep(st);
  ga__state_copy(st, &st->next, &st->now);
  ga__extrapolate(st, gap, &st->next);
  st->next.scalar[GA__H_OLD2] = st->now.scalar[GA__H_OLD];
  st->next.scalar[GA__HAD_JERK] = st->now.scalar[GA__HAS_JERK];
  st->next.scalar[GA__H_OLD] = gap;
  exchange_states(st);
  st->can_undo = 1;
  st->stats.steps++;
}
