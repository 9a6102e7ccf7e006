/* The stepper: options, memory, saving and loading. The step itself is in step.c. */
#include "core/arrays.h"
#include "core/collocation.h"
#include "core/work.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* At tolerances up to TIGHT_TOL, the default, positions and velocities are iterated TIGHTER times more
 * accurately than accelerations, which keeps the constraints at the level of rounding; above it, less and
 * less. */
#define TIGHTER 1e4
#define TIGHT_TOL 1e-10
ga_stepper_opts ga_stepper_defaults(void)
{
  ga_stepper_opts o;
  memset(&o, 0, sizeof o);
  o.method = GA_STABILIZED;
  ga_scheme_rho(NULL, 0.8, &o.scheme); /* cannot fail */
  o.commutator = 1;
  o.move_offset = 1;
  o.newton.tol = 1e-10;
  o.newton.max_iterations = 12;
  o.newton.reuse = GA_REUSE;
  o.newton.patience = 4;
  o.newton.predictor = GA_PREDICT_AUTO;
  o.lu = GA_LU_AUTO;
  o.threads = 1;
  return o;
}

/* ---- Creation ---- */

static ga_status check_opts(ga_context *ctx, const ga_stepper_opts *o)
{
  const ga_newton_opts *n = &o->newton;
  if (o->adjust < GA_ADJUST_SHIFT || o->adjust > GA_ADJUST_NONE)
    return ga__refuse_choice(ctx, "stepper", "adjust", (int)o->adjust, "ga_adjust", GA_ADJUST_NONE);
  const ga_status status = ga__method_check_opts(ctx, o);
  if (status) return status;
  if (!(n->tol > 0.0 && n->tol < 1.0))
    return ga__refuse_number(ctx, "stepper", "newton.tol", n->tol, "between 0 and 1, 1e-10 is usual");
  if (n->max_iterations < 1)
    return ga__refuse_number(ctx, "stepper", "newton.max_iterations", n->max_iterations, ">= 1");
  if (n->predictor < GA_PREDICT_CONSTANT || n->predictor > GA_PREDICT_AUTO)
    return ga__refuse_choice(ctx, "stepper", "newton.predictor", (int)n->predictor, "ga_predictor",
                             GA_PREDICT_AUTO);
  if (o->redundant != GA_REDUNDANT_ACCEPT && o->redundant != GA_REDUNDANT_REFUSE)
    return ga__refuse_choice(ctx, "stepper", "redundant", (int)o->redundant, "ga_redundant",
                             GA_REDUNDANT_REFUSE);
  if (o->threads < 0) return ga__refuse_number(ctx, "stepper", "threads", o->threads, ">= 1");
  if (n->patience < 0) return ga__refuse_number(ctx, "stepper", "newton.patience", n->patience, ">= 0");
  if (!ga_method_has_order(o->method, o->order))
    return ga__refuse_number(
        ctx, "stepper", "order", o->order,
        "0, 3 to 8 or 10 with GA_COLLOCATION, these or 2 with GA_AUTOMATIC, 0 or 2 with other methods");
  return o->allow_any_scheme ? GA_OK : ga_scheme_check(ctx, &o->scheme);
}

/* Arrays of a state, in the order of the block: pointer and length. */
static ga_status state_create(ga_stepper *st, ga__state *f)
{
  const ga_system *sys = st->sys;
  const size_t own = ga__members_state_length(st);
  const int *size = sys->size;
  const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nl = (size_t)size[GA_BLOCK_LAMBDA],
               np = (size_t)size[GA_BLOCK_PSI], nx = (size_t)size[GA_BLOCK_X], ny = (size_t)size[GA_BLOCK_Y];
  const ga__array part[] = {{&f->q, nq},
                            {&f->v, nv},
                            {&f->vdot, nv},
                            {&f->a, nv},
                            {&f->lambda, nl},
                            {&f->psi, np},
                            {&f->eta, nl},
                            {&f->x, nx},
                            {&f->xdot, nx},
                            {&f->w, nx},
                            {&f->y, ny},
                            {&f->a_prev, nv},
                            {&f->lambda_prev, nl},
                            {&f->psi_prev, np},
                            {&f->w_prev, nx},
                            {&f->eta_prev, nl},
                            {&f->y_prev, ny},
                            {&f->a_prev2, nv},
                            {&f->lambda_prev2, nl},
                            {&f->psi_prev2, np},
                            {&f->eta_prev2, nl},
                            {&f->w_prev2, nx},
                            {&f->y_prev2, ny},
                            {&f->vdot_prev, nv},
                            {&f->xdot_prev, nx},
                            {&f->vdot_prev2, nv},
                            {&f->xdot_prev2, nx},
                            {&f->own, own},
                            {&f->plan, GA__N_PLAN},
                            {&f->scalar, GA__N_SCALARS}};
  return ga__arrays_create(st->ctx, GA__ARRAYS(part), "a stepper's state", &f->block, &st->state_length);
}

/* Work arrays, all in one block, and the stack. */
static ga_status work_create(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  size_t nl = (size_t)sys->size[GA_BLOCK_LAMBDA], np = (size_t)sys->size[GA_BLOCK_PSI];
  size_t entries = (size_t)sys->n_entries, nv = (size_t)sys->nv;
  size_t n = (size_t)st->factors.n;
  size_t nx = (size_t)sys->size[GA_BLOCK_X], blocks = (size_t)ga_group_blocks_length(sys->group);
  size_t inner = (size_t)sys->def.n_inner;
  const ga__array part[] = {{&st->jacobian_D, entries},
                            {&st->jacobian_Q, entries},
                            {&st->jacobian_G, entries},
                            {&st->a_n, nv},
                            {&st->w_n, nx},
                            {&st->p, nv},
                            {&st->px, nx},
                            {&st->exponent, nv},
                            {&st->T, blocks},
                            {&st->TA, blocks},
                            {&st->r, n},
                            {&st->inner.n, inner},
                            {&st->inner.dn, inner},
                            {&st->inner.q, inner ? (size_t)sys->nq : 0},
                            {&st->inner.dq, inner ? nv : 0},
                            {&st->jerk_v, nv},
                            {&st->jerk_x, nx},
                            {&st->jerk_lambda, nl},
                            {&st->jerk_psi, np},
                            {&st->jerk_y, (size_t)sys->size[GA_BLOCK_Y]},
                            {&st->offset, nl},
                            {&st->v_moved, nv},
                            {&st->est_q, nv},
                            {&st->est_v, nv},
                            {&st->est_x, nx},
                            {&st->est_z, (size_t)st->sys->n},
                            {&st->est_all, nv},
                            {&st->probe_d, nv},
                            {&st->probe_q, (size_t)sys->nq},
                            {&st->probe_u, nv},
                            {&st->probe_y, 2 * (size_t)sys->size[GA_BLOCK_Y]},
                            {&st->probe_f, 2 * nv},
                            {&st->probe_k, 7 * nv},
                            {&st->probe_w, nv},
                            {&st->begin_q, (size_t)sys->nq},
                            {&st->begin_v, nv},
                            {&st->begin_x, nx},
                            {&st->begin_lambda, nl},
                            {&st->begin_psi, np},
                            {&st->switch_x, nx},
                            {&st->switch_v, nv},
                            {&st->begin_y, (size_t)sys->size[GA_BLOCK_Y]},
                            {&st->sample_x, (size_t)sys->size[GA_BLOCK_X]}};
  ga_status status = ga__arrays_create(st->ctx, GA__ARRAYS(part), "a stepper", &st->work, NULL);
  const size_t longest = n > (size_t)sys->nq ? n : (size_t)sys->nq;
  return status ? status : ga__stack_create(st->ctx, GA__SCRATCH_DEPTH, longest, &st->scratch);
}

static ga_status build(ga_stepper *st)
{
  const ga_scheme *s = &st->opts.scheme;
  ga_status status;
  st->tighter = fmax(1.0, TIGHTER * fmin(1.0, TIGHT_TOL / st->opts.newton.tol));
  st->alpha = s->alpha_m - s->alpha_f;
  st->order = st->opts.order ? st->opts.order : ga__method_of(GA_COLLOCATION)->order;
  st->commutes = st->opts.commutator && ga_group_n_blocks(st->sys->group) > 0;
  if ((status = ga__deriv_create(st->sys, &st->deriv))) return status;
  if ((status = ga__redundant_create(st))) return status;
  if ((status = ga__members_create(st))) return status;
  if ((status = state_create(st, &st->now))) return status;
  if ((status = state_create(st, &st->next))) return status;
  st->stats.difference_groups = st->deriv.n_colours;
  return work_create(st);
}

ga_status ga_stepper_create(ga_context *ctx, const ga_system *sys, const ga_stepper_opts *opts,
                            ga_stepper **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys) return ga__refuse_null(ctx, __func__, out ? "sys" : "out");
  ga_stepper_opts o = opts ? *opts : ga_stepper_defaults();
  ga_status status = check_opts(ctx, &o);
  if (status) return status;
  ga_stepper *st = ga__alloc(ctx, 1, sizeof *st);
  if (!st) return ga__no_memory(ctx, "a stepper");
  st->ctx = ctx;
  st->opts = o;
  status = ga__system_open(ctx, sys, &st->sys);
  if (!status) status = build(st);
  if (status)
    ga_stepper_destroy(&st);
  else
    *out = st;
  return status;
}

void ga_stepper_destroy(ga_stepper **st)
{
  if (!st || !*st) return;
  ga_stepper *s = *st;
  ga_context *ctx = s->ctx;
  ga__members_destroy(s);
  ga__redundant_destroy(s);
  ga__saddle_destroy(&s->saddle);
  ga__deriv_destroy(&s->deriv);
  ga__free(ctx, s->work);
  ga__stack_destroy(ctx, &s->scratch);
  ga__free(ctx, s->now.block);
  ga__free(ctx, s->next.block);
  ga__system_close(&s->sys);
  ga__free(ctx, s);
  *st = NULL;
}

static void take_equations(ga_stepper *st, const ga_system *sys, const ga__deriv *deriv)
{
  st->sys = sys;
  st->deriv = *deriv;
  st->deriv.sys = sys;
  if (st->saddle.sys) st->saddle.sys = sys;
  if (st->other_saddle.sys) st->other_saddle.sys = sys;
  st->saddle.known = st->other_saddle.known = 0;
}

void ga__stepper_lend(ga_stepper *st, ga__loan *loan, const ga_system *sys, const ga__deriv *deriv)
{
  if (loan->lent) take_equations(st, loan->own, &loan->own_deriv);
  loan->lent = sys != NULL;
  if (!sys) return;
  loan->own = st->sys;
  loan->own_deriv = st->deriv;
  loan->sys = *sys;
  loan->sys.ctx = st->ctx;
  take_equations(st, &loan->sys, deriv);
}

/* ---- The state ---- */

ga_point ga__state_point(const ga__state *s)
{
  return (ga_point){s->scalar[GA__T], s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

void ga__state_copy(ga_stepper *st, ga__state *to, const ga__state *from)
{
  memcpy(to->block, from->block, st->state_length * sizeof(double));
}

void ga__state_changed(ga_stepper *st)
{
  st->state_number++;
}

void ga__state_show(ga_stepper *st)
{
  const ga__state *f = &st->now;
  st->view = (ga_state){f->scalar[GA__T], f->q,   f->v, f->vdot, f->a, f->lambda,
                        f->psi,           f->eta, f->x, f->xdot, f->w, f->y};
}

void ga__forget_steps(ga_stepper *st)
{
  st->can_undo = st->red.valid = 0;
  st->tried = GA__ACCEPTED;
  ga__factors_forget(st);
}

/* ---- Saving ---- */

const ga_state *ga_stepper_state(const ga_stepper *st)
{
  return st && st->has_state ? &st->view : NULL;
}
int ga_stepper_order(const ga_stepper *st)
{
  if (!st || !st->has_state) return 0;
  if (!st->method->has_order) return 2;
  const double last = st->now.own[GA__COLLOC_ORDER];
  return last > 0.0 ? (int)last : st->order;
}
const ga_stats *ga_stepper_stats(const ga_stepper *st)
{
  return st ? &st->stats : NULL;
}
void *ga__stepper_work(const ga_stepper *st)
{
  return st->sys->work;
}

ga_context *ga__stepper_context(const ga_stepper *st)
{
  return st->ctx;
}

const ga_system *ga_stepper_system(const ga_stepper *st)
{
  return st ? st->sys->shared : NULL;
}

/* A saved state begins with its length and method, so that one of another system is refused; the length is
 * negative if a simulator has saved more behind it. */
enum { SAVED_HEAD = 2 };

size_t ga_stepper_saved_size(const ga_stepper *st)
{
  return st ? st->state_length + SAVED_HEAD : 0;
}

/* While a simulator reports output and events of a step, its stepper must not be changed. */
static ga_status refuse_busy(ga_stepper *st, const char *what)
{
  if (!st->busy) return GA_OK;
  return ga__refuse_order(st->ctx, what, "between steps or by the observer, not by an output or an event");
}

ga_status ga_stepper_save(ga_stepper *st, double *saved)
{
  if (!st || !saved) return GA_ERR_ARGUMENT;
  ga_status status = refuse_busy(st, "ga_stepper_save");
  if (status) return status;
  if (!st->has_state) return ga__refuse_order(st->ctx, __func__, "after ga_stepper_start()");
  saved[0] = (double)st->state_length;
  saved[1] = st->opts.method;
  memcpy(saved + SAVED_HEAD, st->now.block, st->state_length * sizeof(double));
  ga__forget_steps(st);
  return GA_OK;
}

double ga__saved_time(const ga_stepper *st, const double *saved)
{
  return saved[SAVED_HEAD + (st->now.scalar - st->now.block) + GA__T];
}

static ga_status refuse_saved(ga_stepper *st, const char *field, double is, const char *expected,
                              double number)
{
  return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_SAVED_STATE,
                    &(ga__facts){.function = "ga_stepper_load",
                                 .field = field,
                                 .expected = expected,
                                 GA__NUMBERS({is, NULL}, {number, NULL})});
}

ga_status ga__refuse_saved(ga_context *ctx, const char *function, size_t item, double value)
{
  return ga__refuse(
      ctx, GA_ERR_NAN, GA_REASON_NOT_FINITE,
      &(ga__facts){
          .function = function, .field = "saved", .item = (int)item + 1, GA__NUMBERS({value, NULL})});
}

ga_status ga__check_saved(ga_stepper *st, const double *saved)
{
  const double length = (double)st->state_length, method = st->opts.method;
  if (fabs(saved[0]) != length) return refuse_saved(st, "the length", fabs(saved[0]), NULL, length);
  if (saved[1] != method) return refuse_saved(st, "the method", saved[1], NULL, method);
  const double *block = saved + SAVED_HEAD, *scalar = block + (st->now.scalar - st->now.block);
  for (size_t i = 0; i < st->state_length; i++)
    if (!isfinite(block[i])) return ga__refuse_saved(st->ctx, "ga_stepper_load", i + SAVED_HEAD, block[i]);
  const double order = scalar[GA__ORDER], r = scalar[GA__REDUNDANT],
               most = st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI];
  if (order != 0.0 && order != 1.0 && order != 2.0)
    return refuse_saved(st, "the order", order, "0, 1 or", 2.0);
  if (!(r >= 0.0 && r <= most && r == floor(r)))
    return refuse_saved(st, "the number of redundant constraints", r, "a whole number from 0 to", most);
  if (scalar[GA__H_OLD] < 0.0) return refuse_saved(st, "the last step", scalar[GA__H_OLD], ">=", 0.0);
  if (scalar[GA__H_OLD2] < 0.0)
    return refuse_saved(st, "the step before the last", scalar[GA__H_OLD2], ">=", 0.0);
  if (!(scalar[GA__H_START] > 0.0))
    return refuse_saved(st, "the step of the start", scalar[GA__H_START], ">", 0.0);
  return GA_OK;
}

ga_status ga_stepper_load(ga_stepper *st, const double *saved)
{
  if (!st || !saved) return GA_ERR_ARGUMENT;
  ga_status status = refuse_busy(st, "ga_stepper_load");
  if (!status) status = ga__check_saved(st, saved);
  if (status) return status;
  const double *scalar = saved + SAVED_HEAD + (st->now.scalar - st->now.block);
  const int second = ga__member_is_second(st);
  ga__member_use(st, scalar[GA__SECOND] != 0.0);
  if ((status = ga__factors_create(st))) {
    ga__member_use(st, second);
    return status;
  }
  memcpy(st->now.block, saved + SAVED_HEAD, st->state_length * sizeof(double));
  ga__forget_steps(st);
  st->has_state = 1;
  ga__state_changed(st);
  ga__state_show(st);
  return GA_OK;
}

ga_status ga_stepper_constraint_residuals(ga_stepper *st, double *phi, double *phi_dot, double *k)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->has_state) return ga__refuse_order(st->ctx, __func__, "after ga_stepper_start()");
  const ga_system *sys = st->sys;
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *residual = ga__take(&scratch, sys->n);
  ga_point p = ga__state_point(&st->now);
  ga_status status;
  if (phi) {
    if ((status = ga__call(sys, GA__PHI, &p, residual))) return status;
    *phi = ga__max_abs(residual, sys->size[GA_BLOCK_LAMBDA], NULL);
  }
  if (phi_dot) {
    if ((status = ga__phi_dot(&st->deriv, &p, residual))) return status;
    *phi_dot = ga__max_abs(residual, sys->size[GA_BLOCK_LAMBDA], NULL);
  }
  if (k) {
    if ((status = ga__call(sys, GA__K, &p, residual))) return status;
    *k = ga__max_abs(residual, sys->size[GA_BLOCK_PSI], NULL);
  }
  return GA_OK;
}
