/* Consistent starts: from given values to a state for the first step, with redundant constraints too. */
#include "core/start.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DOUBTFUL 1e-5        /* reciprocal condition below which constraints may be redundant */
#define LONG_ELIMINATION 1e7 /* from this number of operations on relations are searched before factoring */

ga_start_opts ga_start_defaults(void)
{
  ga_start_opts o = {0.0, 1, 1, 1, 0.1, 1e-6, 0, NULL};
  return o;
}

static ga_status start_auxiliaries(ga_stepper *st, const ga_start_opts *o, ga_start_report *r,
                                   ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  ga__state *f = &st->now;
  int nx = sys->size[GA_BLOCK_X], perturb = o->perturb_v && ga__has_offset(st);
  double da = o->shift_a ? (s->alpha_m - s->alpha_f) * o->h : 0.0,
         dw = o->shift_a ? (s->delta_m - s->delta_f) * o->h : 0.0;
  ga_status status;
  for (int i = 0; i < sys->nv; i++) st->jerk_v[i] = 0.0;
  for (int i = 0; i < nx; i++) st->jerk_x[i] = 0.0;
  int with_jerk = o->shift_a || perturb;
  if (with_jerk && (status = ga__start_compute_jerk(st, o->h, o->forward != 0, scratch))) return status;
  if (with_jerk && !st->steps_adapt && (status = ga__start_jerk_change(st, o->h, &r->jerk_change, scratch)))
    return status;
  f->scalar[GA__HAS_JERK] = with_jerk; /* for the error estimate of the first step */
  memcpy(f->vdot_prev, st->jerk_v, (size_t)sys->nv * sizeof(double));
  memcpy(f->xdot_prev, st->jerk_x, (size_t)nx * sizeof(double));
  r->jerk = ga__max_abs(st->jerk_v, sys->nv, NULL);
  for (int i = 0; i < sys->nv; i++) f->a_prev[i] = f->a[i] = f->vdot[i] + da * st->jerk_v[i];
  for (int i = 0; i < nx; i++) f->w_prev[i] = f->w[i] = f->xdot[i] + dw * st->jerk_x[i];
  if (o->a)
    memcpy(f->a, o->a, (size_t)sys->nv * sizeof(double)),
        memcpy(f->a_prev, o->a, (size_t)sys->nv * sizeof(double));
  f->scalar[GA__EPS_A] = o->a ? 0.0 : da;
  f->scalar[GA__EPS_W] = dw;
  f->scalar[GA__KAPPA_H2] = ga__kappa(st, o->h) * o->h * o->h;
  r->a_shift = fabs(da) * r->jerk;
  r->w_shift = fabs(dw) * ga__max_abs(st->jerk_x, nx, NULL);
  if (!perturb) return GA_OK;
  ga_start_change c = ga__start_no_change(), ck = ga__start_no_change();
  ga_start_opts free_opts = {o->h, 1, 0, 0, HUGE_VAL, HUGE_VAL, 0, NULL};
  status = ga__start_normal_offset(st, f->scalar[GA__KAPPA_H2], o->h * o->h, st->offset, scratch);
  if (status) return status;
  status = ga__start_project_velocity(st, &free_opts, st->offset, &c, &ck, scratch);
  r->v_perturbation = c.change;
  return status;
}

static ga_status refuse_not_finite(ga_context *ctx, const char *field, int item, double value)
{
  return ga__refuse(
      ctx, GA_ERR_NAN, GA_REASON_NOT_FINITE,
      &(ga__facts){.kind = "start", .field = field, .item = item + 1, GA__NUMBERS({value, NULL})});
}

/* needed: how many of q0, v0, x0; guesses are optional. */
static ga_status refuse_no_opts(ga_context *ctx, const char *function)
{
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
      &(ga__facts){.function = function, .field = "opts", .expected = "ga_start_defaults() with h set"});
}

static ga_status check_values(ga_stepper *st, const ga_start_opts *o, double t0, int needed, const double *q0,
                              const double *v0, const double *x0, const double *lambda, const double *psi)
{
  enum { COUNT = 5 };
  const ga_system *sys = st->sys;
  const double *value[COUNT] = {q0, v0, x0, lambda, psi};
  const int n[COUNT] = {sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_LAMBDA],
                        sys->size[GA_BLOCK_PSI]};
  static const char *const name[COUNT] = {"q0", "v0", "x0", "lambda_guess", "psi_guess"};
  if (!(o->h > 0.0 && isfinite(o->h)))
    return ga__refuse_number(st->ctx, "start", "h", o->h, "> 0, the size of the first step");
  if (!(o->max_gap > 0.0)) return ga__refuse_number(st->ctx, "start", "max_gap", o->max_gap, "> 0");
  if (!(o->max_change > 0.0)) return ga__refuse_number(st->ctx, "start", "max_change", o->max_change, "> 0");
  if (!isfinite(t0)) return refuse_not_finite(st->ctx, "t0", -1, t0);
  const int bad_a = o->a ? ga__first_bad(o->a, sys->nv) : -1;
  if (bad_a >= 0) return refuse_not_finite(st->ctx, "a", bad_a, o->a[bad_a]);
  for (int i = 0; i < COUNT; i++) {
    if (i < needed && n[i] > 0 && !value[i])
      return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
                        &(ga__facts){.kind = "start", .field = name[i], GA__NUMBERS({n[i], NULL})});
    int bad = n[i] > 0 && value[i] ? ga__first_bad(value[i], n[i]) : -1;
    if (bad >= 0) return refuse_not_finite(st->ctx, name[i], bad, value[i][bad]);
  }
  double defect = ga_group_defect(sys->group, q0);
  if (!(defect < 1e-6))
    return ga__refuse(st->ctx, GA_ERR_INCONSISTENT, GA_REASON_OFF_GROUP,
                      &(ga__facts){.kind = "start", .field = "q0", GA__NUMBERS({defect, NULL})});
  return GA_OK;
}

/* Via next, since the given values may be those of the current state. */
static void set_values(ga_stepper *st, double t0, const double *q0, const double *v0, const double *x0,
                       const double *lambda, const double *psi, double h)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->next;
  const double *from[] = {q0, v0, x0, lambda, psi};
  double *to[] = {f->q, f->v, f->x, f->lambda, f->psi};
  const int n[] = {sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_LAMBDA],
                   sys->size[GA_BLOCK_PSI]};
  memset(f->block, 0, st->state_length * sizeof(double));
  for (int i = 0; i < 5; i++)
    if (from[i] && n[i] > 0) memcpy(to[i], from[i], (size_t)n[i] * sizeof(double));
  if (ga_group_defect(sys->group, f->q) > 4.0 * DBL_EPSILON) ga_group_normalise(sys->group, f->q);
  f->scalar[GA__T] = f->scalar[GA__T_BASE] = t0;
  f->scalar[GA__H_START] = h;
  f->scalar[GA__SECOND] = ga__member_is_second(st);
  ga__state_copy(st, &st->now, f);
  ga__state_changed(st);
  double *const keep[] = {st->begin_q, st->begin_v, st->begin_x, st->begin_lambda, st->begin_psi};
  for (int i = 0; i < 5; i++)
    if (n[i] > 0) memcpy(keep[i], to[i], (size_t)n[i] * sizeof(double));
}

/* The same values once more, for another attempt. */
static void reset_values(ga_stepper *st, double h)
{
  set_values(st, st->now.scalar[GA__T], st->begin_q, st->begin_v, st->begin_x, st->begin_lambda,
             st->begin_psi, h);
}

/* Factors the first iteration matrix here, so that steps do not allocate. */
static ga_status first_factors(ga_stepper *st, double h, ga__scratch scratch)
{
  ga_status status = st->family->predict(st, h, scratch);
  if (status) return status;
  st->family->trial(st);
  return st->family->prepare(st);
}

/* Without phi_dot and `rheonomic`, Φ must not depend on t: the same q must give the same Φ, to the last
 * bit. */
static ga_status refuse_hidden_time(ga_stepper *st, double h, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA];
  if (nl == 0 || ga__has(sys, GA__PHI_DOT) || sys->def.rheonomic) return GA_OK;
  double *phi = ga__take(&scratch, nl), *phi_later = ga__take(&scratch, nl);
  ga_point p = ga__state_point(&st->now), later = p;
  later.t += 0.618 * h;
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  if (!status) status = ga__call(sys, GA__PHI, &later, phi_later);
  for (int i = 0; !status && i < nl; i++)
    if (phi[i] != phi_later[i]) {
      char name[192];
      ga__describe(sys, GA_BLOCK_LAMBDA, i, name, sizeof name);
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_PHI_DEPENDS_ON_TIME,
                        &(ga__facts){.at = &(ga__fact_time){p.t, NAN, GA_BLOCK_LAMBDA, i},
                                     .equation = name,
                                     .callback = "phi_dot"});
    }
  return status;
}

/* Values reported as undefined at the given state (ctx->starting) are undefined for every step size: fatal.
 */
static ga_status make_undefined_fatal(ga_stepper *st, ga_status status)
{
  const int undefined = st->ctx->starting & GA__UNDEFINED;
  st->ctx->starting &= ~GA__UNDEFINED;
  if (!undefined || (status != GA_RETRY_CALLBACK && status != GA_RETRY_NAN)) return status;
  return st->ctx->error.status = GA_ERR_INCONSISTENT;
}

/* What belongs to steps of opts->h: auxiliaries, rates, and the first matrix. */
static ga_status prepare_steps(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r,
                               ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  ga_status status = start_auxiliaries(st, opts, r, scratch);
  if (status) return status;
  const int has = f->scalar[GA__HAS_JERK] != 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) f->lambda_prev[i] = has ? st->jerk_lambda[i] : 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_PSI]; i++) f->psi_prev[i] = has ? st->jerk_psi[i] : 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) f->y_prev[i] = has ? st->jerk_y[i] : 0.0;
  st->red.valid = 1;
  if ((status = ga__ready_relations(st)) || st->provisional) return status;
  return first_factors(st, opts->h, scratch);
}

/* From positions on the constraints to a complete state. */
static ga_status complete_start(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r,
                                ga__scratch scratch)
{
  ga_status status = ga__start_project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic, scratch);
  if (!status) status = ga__start_guess_outputs(st);
  if (!status)
    status = ga__start_explain_by_guess(st, ga__start_solve_accelerations(st, &r->acceleration, scratch));
  status = make_undefined_fatal(st, status);
  if (!status) status = ga__method_check_vdot(st);
  if (status) return status;
  r->rcond = ga_lu_get_info(st->saddle.lu)->rcond;
  return prepare_steps(st, opts, r, scratch);
}

/* Whether plain matrices will be singular. Checked if factors are expensive, since the search for missing
 * pivots then takes longest. st->red.null has the relations. */
static ga_status predict_singular(ga_stepper *st, int *yes)
{
  const ga_point p = ga__state_point(&st->now);
  const int ask =
      st->opts.redundant == GA_REDUNDANT_ACCEPT && ga__lu_flops(st->saddle.lu) >= LONG_ELIMINATION;
  ga_status status = ask ? ga__find_relations(st, &p) : GA_OK;
  *yes = st->red.plain_refused || (ask && !status && st->red.null.r > 0);
  st->red.null.r = st->red.null_b.r = 0;
  return status;
}

/* Of the matrices of a plain start. */
static double least_condition(const ga_stepper *st)
{
  const int has_factors = !st->factors.now.leaves_out && st->factors.now.valid;
  return fmin(st->saddle.least_rcond, has_factors ? st->stats.rcond : 1.0);
}

/* Start without regard to redundancy. *doubtful: this may be wrong. */
static ga_status start_plainly(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r, int *doubtful,
                               ga__scratch scratch)
{
  ga__start_clear_report(r);
  st->red.null.r = st->red.null_b.r = 0;
  st->saddle.least_rcond = st->other_saddle.least_rcond = 1.0;
  ga_status status = make_undefined_fatal(st, ga__start_project_position(st, opts, &r->position, scratch));
  if (!status) status = complete_start(st, opts, r, scratch);
  *doubtful = status == GA_RETRY_SINGULAR || status == GA_ERR_INCONSISTENT ||
              (!status && least_condition(st) < DOUBTFUL);
  return status;
}

static ga_status fail_open_assembly(ga_stepper *st, const ga_start_change *c)
{
  const ga_system *sys = st->sys;
  char name[192] = "";
  if (c->worst_after >= 0) ga__describe(sys, GA_BLOCK_LAMBDA, c->worst_after, name, sizeof name);
  return ga__refuse(
      sys->ctx, GA_ERR_INCONSISTENT, GA_REASON_ASSEMBLY_OPEN,
      &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, GA_BLOCK_LAMBDA, c->worst_after},
                   .equation = name,
                   GA__NUMBERS({c->residual_after, NULL}, {c->residual_before, NULL})});
}

/* Refuses redundant constraints that contradict each other: positions were checked before, velocities here.
 */
static ga_status check_gap(ga_stepper *st, const ga_start_opts *o, ga_start_report *r, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  int index;
  ga__gap positions, rates;
  ga_status status = ga__gaps_at(st, f, &positions, &rates, scratch);
  if (status) return status;
  r->gap = f->scalar[GA__GAP] = positions.size;
  f->scalar[GA__GAP_V] = rates.size;
  if (!o->project || rates.size <= o->max_gap * (1.0 + ga__max_abs(f->v, sys->nv, NULL))) return GA_OK;
  char name[192];
  ga_equation_block block = ga__block_of(sys, sys->nv + rates.worst, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__refuse(sys->ctx, GA_ERR_INCONSISTENT, GA_REASON_RATES_CONTRADICT,
                    &(ga__facts){.at = &(ga__fact_time){f->scalar[GA__T], NAN, (int)block, index},
                                 .equation = name,
                                 GA__NUMBERS({rates.off, NULL})});
}

/* A plain start failed or is doubtful (status `plain`): checks whether constraints are redundant where the
 * assembly closes. *yes 0: they are independent there. */
static ga_status start_redundant(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r,
                                 ga_status plain, int *yes, ga__scratch scratch)
{
  ga__state *f = &st->now;
  int closed;
  ga__start_clear_report(r);
  ga_status status = ga__close_positions(st, opts, &r->position, &closed, scratch);
  *yes = status != GA_OK;
  if (status) return status;
  ga_point p = ga__state_point(f);
  double moved = r->position.change, most = opts->max_change * (1.0 + ga__max_abs(f->q, st->sys->nq, NULL));
  if (moved > most || !closed) {
    *yes = plain != GA_OK; /* otherwise the plain start was better */
    return moved > most ? ga__start_fail_too_far(st, opts, GA_BLOCK_LAMBDA, &r->position, "positions")
                        : fail_open_assembly(st, &r->position);
  }
  status = ga__find_relations(st, &p);
  *yes = status || st->red.null.r > 0;
  if (status || !*yes) return status;
  f->scalar[GA__REDUNDANT] = st->red.null.r;
  ga__null_reduce(&st->red.null, st->sys, f->lambda, f->psi);
  if (!(status = complete_start(st, opts, r, scratch))) status = check_gap(st, opts, r, scratch);
  return status;
}

static int has_constraints(const ga_stepper *st)
{
  return st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI] > 0;
}

/* After a plain start that failed in a way that redundant constraints may explain, or whose matrices are
 * ill-conditioned. */
static ga_status try_redundant(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r, ga_status plain,
                               int foreseen, ga__scratch scratch)
{
  int redundant;
  if (!plain) {
    ga_point p = ga__state_point(&st->now);
    ga_status status = ga__find_relations(st, &p);
    if (status || st->red.null.r == 0) return status;
  }
  const ga_error said = st->ctx->error;
  reset_values(st, opts->h);
  ga_status status = start_redundant(st, opts, r, plain, &redundant, scratch);
  if (plain && !foreseen &&
      status == GA_RETRY_SINGULAR) { /* redundancy is not the cause: the first error is reported */
    st->ctx->error = said;
    return plain;
  }
  if (redundant) return status;
  reset_values(st, opts->h); /* the first result was right */
  return start_plainly(st, opts, r, &redundant, scratch);
}

/* A start with the modes of switches that are in x0. */
static ga_status start_as_given(ga_stepper *st, const ga_start_opts *opts, double t0, const double *q0,
                                const double *v0, const double *x0, const double *lambda_guess,
                                const double *psi_guess, ga_start_report *report)
{
  ga_start_report unused, *r = report ? report : &unused;
  int doubtful = 1, foreseen = 0;
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  ga__start_clear_report(r);
  st->has_state = 0;
  ga__forget_steps(st);
  ga_status status = check_values(st, opts, t0, 3, q0, v0, x0, lambda_guess, psi_guess);
  if (!status && !st->provisional) status = ga__factors_create(st);
  if (status) return status;
  set_values(st, t0, q0, v0, x0, lambda_guess, psi_guess, opts->h);
  st->deriv.dt = 0.25 * opts->h;
  st->ctx->starting = GA__STARTING;
  status = refuse_hidden_time(st, opts->h, scratch);
  if (!status) status = predict_singular(st, &foreseen);
  if (!status && foreseen)
    status = GA_RETRY_SINGULAR;
  else if (!status)
    status = start_plainly(st, opts, r, &doubtful, scratch);
  else
    doubtful = 0;
  if (doubtful && st->opts.redundant == GA_REDUNDANT_ACCEPT && has_constraints(st))
    status = try_redundant(st, opts, r, status, foreseen, scratch);
  st->ctx->starting = 0;
  if (!status) status = ga__stack_check(st->ctx, &st->scratch);
  if (status) return ga__start_make_singular_fatal(st, status);
  st->has_state = st->red.valid = 1;
  st->red.reported = 0;
  st->begun = *opts;
  st->begun_as = st->again;
  ga__state_show(st);
  if (st->again == GA__FIRST || st->again == GA__AFTER_EVENT) {
    ga__start_warn_moved(st, &r->position, "positions");
    ga__start_warn_moved(st, &r->velocity, "velocities");
  }
  if (st->again == GA__BEHIND_JUMP) ga__start_report_impact(st, &r->velocity);
  const int known =
      st->again == GA__FIRST ? 0 : st->stats.redundant; /* what was reported before is not reported again */
  st->stats.redundant = st->red.null.r;
  ga__start_report_relations(st, r);
  if (!st->tries_modes) ga__log_relations(st, t0, known);
  return GA_OK;
}

/* As the callback `switches`; < 0: it has given up, and the error of the context says why. */
static int ask_switches(ga_stepper *st, const ga_point *p, ga_switch_when when, const unsigned char *shared)
{
  const ga_system_def *def = &st->sys->def;
  const ga_status before = ga__begin_callback(st->ctx);
  const int code = def->switches(def->user, p, when, shared, st->switch_x);
  const int said = code < 0 && st->ctx->error.status != GA_OK;
  if (!said) st->ctx->error.status = before;
  if (code < 0 && !said)
    ga__refuse(st->ctx, GA_ERR_CALLBACK, GA_REASON_CALLBACK,
               &(ga__facts){.at = &(ga__fact_time){p->t, NAN, -1, -1}, .callback = "switches", .code = code});
  return code;
}

/* Starts, and starts again with other modes of switches until they agree with its accelerations and
 * multipliers: one switch may change at a time, each of them several times. */
static ga_status start_switched(ga_stepper *st, const ga_start_opts *opts, double t0, const double *q0,
                                const double *v0, const double *x0, const double *lambda_guess,
                                const double *psi_guess, ga_start_report *report)
{
  const ga_system_def *def = &st->sys->def;
  const int first = st->again == GA__FIRST || st->again == GA__AFTER_EVENT, most = 8 + 4 * def->n_switches;
  const ga_point given = {t0,           q0,        v0, st->now.vdot, st->now.lambda, st->now.psi,
                          st->switch_x, st->now.y, 0,  NULL};
  const int known = st->again == GA__FIRST ? 0 : st->stats.redundant;
  ga_start_opts o = *opts;
  memcpy(st->switch_x, x0, (size_t)st->sys->size[GA_BLOCK_X] * sizeof(double));
  int code = ask_switches(st, &given, first ? GA_SWITCH_GIVEN : GA_SWITCH_PASSED, NULL);
  st->switched = code > 0;
  for (int i = 0; code >= 0 && i < most; i++) {
    if (code == 2) o.max_change = HUGE_VAL;
    st->tries_modes = 1; /* relations of modes that are given up again are not logged */
    const ga_status status =
        start_as_given(st, &o, t0, q0, v0, st->switch_x, lambda_guess, psi_guess, report);
    st->tries_modes = 0;
    if (status) return status;
    const ga_point here = ga__state_point(&st->now);
    const ga_redundancy *red = ga_stepper_redundancy(st);
    code = ask_switches(st, &here, GA_SWITCH_STARTED, red ? red->psi_shared : NULL);
    st->switched |= code > 0;
    if (code == 2) {
      memcpy(st->switch_v, st->now.v, (size_t)st->sys->nv * sizeof(double));
      v0 = st->switch_v;
    }
    if (code != 0) continue;
    ga__log_relations(st, t0, known);
    return GA_OK;
  }
  st->has_state = 0;
  if (code < 0) return st->ctx->error.status;
  return ga__refuse(st->ctx, GA_ERR_INCONSISTENT, GA_REASON_SWITCHES_CYCLE,
                    &(ga__facts){.at = &(ga__fact_time){t0, NAN, -1, -1}, GA__NUMBERS({most, NULL})});
}

ga_status ga_stepper_start(ga_stepper *st, const ga_start_opts *opts, double t0, const double *q0,
                           const double *v0, const double *x0, const double *lambda_guess,
                           const double *psi_guess, ga_start_report *report)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!opts) return refuse_no_opts(st->ctx, __func__);
  if (st->sys->def.n_switches == 0 || !q0 || !v0 || !x0)
    return start_as_given(st, opts, t0, q0, v0, x0, lambda_guess, psi_guess, report);
  return start_switched(st, opts, t0, q0, v0, x0, lambda_guess, psi_guess, report);
}

/* Whether a plain start, which has succeeded, is right: constraints are not redundant. */
static ga_status is_right(ga_stepper *st, int *yes)
{
  const ga_point p = ga__state_point(&st->now);
  const int ask =
      least_condition(st) < DOUBTFUL && st->opts.redundant == GA_REDUNDANT_ACCEPT && has_constraints(st);
  const ga_status status = ask ? ga__find_relations(st, &p) : GA_OK;
  *yes = !status && st->red.null.r == 0;
  return status;
}

ga_status ga__start_resize(ga_stepper *st, const ga_start_opts *opts, ga_start_report *report, int *done)
{
  const ga_error said = st->ctx->error;
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  *done = 0;
  if (!st->has_state || st->red.null.r > 0 || st->sys->def.n_switches > 0 || opts->a || ga__has_offset(st))
    return GA_OK;
  ga_status status = ga__factors_create(st);
  if (status) return status;
  st->has_state = 0;
  st->now.scalar[GA__H_START] = opts->h;
  st->now.scalar[GA__SECOND] = ga__member_is_second(st);
  ga__state_changed(st);
  st->deriv.dt = 0.25 * opts->h;
  st->ctx->starting = GA__STARTING;
  status = prepare_steps(st, opts, report, scratch);
  if (!status) status = is_right(st, done);
  st->ctx->starting = 0;
  if (!status) status = ga__stack_check(st->ctx, &st->scratch);
  if (status && status != GA_RETRY_SINGULAR && status != GA_ERR_INCONSISTENT) return status;
  if (status) *done = 0;
  if (!*done) {
    st->ctx->error = said;
    return GA_OK;
  }
  st->has_state = st->red.valid = 1;
  st->begun = *opts;
  ga__state_show(st);
  return GA_OK;
}

void ga__start_again(ga_stepper *st, ga__again again)
{
  st->again = again;
  st->fell_back = GA_OK;
  if (st->sys->size[GA_BLOCK_Y] > 0)
    memcpy(st->begin_y, st->now.y, (size_t)st->sys->size[GA_BLOCK_Y] * sizeof(double));
}

void ga__start_first(ga_stepper *st)
{
  st->again = GA__FIRST;
}

/* Quantities that may jump: callbacks, and time derivatives of Φ. */
enum { RATES = -1, ACCELERATIONS = -2 };

static ga_status value_at(ga_stepper *st, int which, const ga_point *p, double *out)
{
  if (which == RATES) return ga__phi_dot(&st->deriv, p, out);
  if (which == ACCELERATIONS) return ga__phi_acc(&st->deriv, p, out);
  return ga__call(st->sys, (ga__fn)which, p, out);
}

int ga__nothing_jumps(ga_stepper *st, double t_behind)
{
  static const struct {
    int which;
    ga_equation_block block;
  } list[] = {{GA__FORCE, GA_BLOCK_V},    {GA__OUTPUT, GA_BLOCK_Y}, {GA__STATE, GA_BLOCK_X},
              {GA__PHI, GA_BLOCK_LAMBDA}, {RATES, GA_BLOCK_LAMBDA}, {ACCELERATIONS, GA_BLOCK_LAMBDA},
              {GA__K, GA_BLOCK_PSI}};
  const double equal = 1e-9;
  const ga_error said = st->ctx->error;
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *here = ga__take(&scratch, st->sys->n), *there = ga__take(&scratch, st->sys->n);
  ga_point before = ga__state_point(&st->now), behind = before;
  int same = 1;
  behind.t = t_behind;
  for (size_t k = 0; same && k < sizeof list / sizeof *list; k++) {
    const int n = st->sys->size[list[k].block];
    if (n == 0) continue;
    same = !value_at(st, list[k].which, &before, here) && !value_at(st, list[k].which, &behind, there);
    const double most = same ? fmax(ga__max_abs(here, n, NULL), ga__max_abs(there, n, NULL)) : 0.0;
    for (int i = 0; same && i < n; i++) same = fabs(here[i] - there[i]) <= equal * most;
  }
  st->ctx->error = said;
  return same;
}

/* Positions and velocities alone, without regard to redundancy. */
static ga_status assemble_plainly(ga_stepper *st, const ga_start_opts *opts, int velocities,
                                  ga_start_report *r, ga__scratch scratch)
{
  ga__start_clear_report(r);
  st->red.null.r = st->red.null_b.r = 0;
  st->saddle.least_rcond = st->other_saddle.least_rcond = 1.0;
  int foreseen;
  ga_status status = predict_singular(st, &foreseen);
  if (!status && foreseen) return GA_RETRY_SINGULAR;
  if (!status) status = ga__start_project_position(st, opts, &r->position, scratch);
  if (!status && velocities)
    status = ga__start_project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic, scratch);
  return status;
}

/* The same with redundant constraints. */
static ga_status assemble_redundant(ga_stepper *st, const ga_start_opts *opts, int velocities,
                                    ga_start_report *r, ga__scratch scratch)
{
  ga__state *f = &st->now;
  int closed;
  ga__start_clear_report(r);
  ga_status status = ga__close_positions(st, opts, &r->position, &closed, scratch);
  if (status) return status;
  if (r->position.change > opts->max_change * (1.0 + ga__max_abs(f->q, st->sys->nq, NULL)))
    return ga__start_fail_too_far(st, opts, GA_BLOCK_LAMBDA, &r->position, "positions");
  if (!closed) return fail_open_assembly(st, &r->position);
  if (!velocities) return GA_OK;
  ga_point p = ga__state_point(f);
  status = ga__find_relations(st, &p);
  f->scalar[GA__REDUNDANT] = st->red.null.r;
  if (!status) status = ga__start_project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic, scratch);
  return status || st->red.null.r == 0 ? status : check_gap(st, opts, r, scratch);
}

ga_status ga_stepper_assemble(ga_stepper *st, const ga_start_opts *opts, double t0, double *q, double *v,
                              ga_start_report *report)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!opts) return refuse_no_opts(st->ctx, __func__);
  ga_start_report unused, *r = report ? report : &unused;
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  ga__start_clear_report(r);
  st->has_state = 0;
  ga__forget_steps(st);
  ga_status status = check_values(st, opts, t0, 1, q, v, NULL, NULL, NULL);
  if (status) return status;
  set_values(st, t0, q, v, NULL, NULL, NULL, opts->h);
  st->deriv.dt = 0.25 * opts->h;
  st->ctx->starting = GA__STARTING;
  status = assemble_plainly(st, opts, v != NULL, r, scratch);
  const int doubtful = status == GA_RETRY_SINGULAR || status == GA_ERR_INCONSISTENT ||
                       (!status && st->saddle.least_rcond < DOUBTFUL);
  if (doubtful && st->opts.redundant == GA_REDUNDANT_ACCEPT && has_constraints(st)) {
    reset_values(st, opts->h);
    status = assemble_redundant(st, opts, v != NULL, r, scratch);
  }
  st->ctx->starting = 0;
  if (!status) status = ga__stack_check(st->ctx, &st->scratch);
  if (st->sys->nq > 0) memcpy(q, st->now.q, (size_t)st->sys->nq * sizeof(double));
  if (v && st->sys->nv > 0) memcpy(v, st->now.v, (size_t)st->sys->nv * sizeof(double));
  return ga__start_make_singular_fatal(st, status);
}
