/* Derivatives of the start: fourth-order differences of complete starts at four values of each parameter. */
#include "core/sensitivity.h"

#include <math.h>
#include <string.h>

/* Complete states of the starts of one parameter, each a stepper of its own, which serve all parameters. */
typedef struct starts {
  ga_stepper *st[GA__N_AT];
  ga__loan loan[GA__N_AT]; /* of the equations at other values */
} starts;

static void destroy(starts *all)
{
  for (int k = 0; k < GA__N_AT; k++) {
    if (all->st[k]) ga__stepper_lend(all->st[k], &all->loan[k], NULL, NULL);
    ga_stepper_destroy(&all->st[k]);
  }
}

static ga_status fail_start(ga_sensitivity *se, int j, ga_status status)
{
  char text[GA_ERROR_TEXT];
  if (status == GA_ERR_MEMORY) return ga__no_memory(se->ctx, "a start at another value of a parameter");
  ga__cut_text(text, sizeof text, ga_context_error(se->quiet)->text);
  return ga__refuse(se->ctx, status, GA_REASON_SENSITIVITY_START,
                    &(ga__facts){.kind = "sensitivities", .name = se->parameter[j].name, .detail = text});
}

/* Initial values of the last start moved by `by` times their derivatives: those of a restart. */
static void move_begin(ga_sensitivity *se, int j, double by)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__tangent *d = &se->parameter[j].now;
  for (int i = 0; i < sys->nv; i++) se->one[i] = by * d->q[i];
  ga_group_move(sys->group, se->at_q, st->begin_q, se->one);
  for (int i = 0; i < sys->nv; i++) se->at_v[i] = st->begin_v[i] + by * d->v[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) se->at_x[i] = st->begin_x[i] + by * d->x[i];
}

static const double AT[GA__N_AT] = {-2.0, -1.0, 1.0, 2.0};

/* ---- Samples: states jump by a function of the state before ---- */

static int has_samples(const ga_stepper *st)
{
  return st->sys->def.sample && st->begun_as == GA__BEHIND_JUMP;
}

static void move_array(double *out, const double *from, const double *d, double by, int n)
{
  for (int i = 0; i < n; i++) out[i] = from[i] + by * d[i];
}

/* The state before the jump, moved by `by` times its derivatives, into the work space of another stepper. */
static void move_before(const ga_sensitivity *se, int j, double by, ga__state *out)
{
  const ga_stepper *st = se->st;
  const int *size = st->sys->size;
  const ga__tangent *d = &se->parameter[j].now;
  const ga__state *s = &st->now;
  const double *last = se->last, *block = s->block;
  move_array(out->vdot, last + (s->vdot - block), d->vdot, by, st->sys->nv);
  move_array(out->lambda, last + (s->lambda - block), d->lambda, by, size[GA_BLOCK_LAMBDA]);
  move_array(out->psi, last + (s->psi - block), d->psi, by, size[GA_BLOCK_PSI]);
  move_array(out->y, last + (s->y - block), d->y, by, size[GA_BLOCK_Y]);
  move_array(se->at_x, st->sample_x, d->x, by, size[GA_BLOCK_X]);
}

/* se->at_x := the states behind samples at value k, at q, v and what else p has. */
static ga_status sample(ga_sensitivity *se, ga_stepper *other, ga_point p, double later)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = other->sys;
  p.t = st->sample_to + later;
  p.x = se->at_x;
  p.motion = 0;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.sample(sys->def.user, &p, st->sample_from + later, p.t, se->at_x);
  return ga__end_callback(sys, "sample", -1, p.t, code ? -1 : 0, before);
}

static ga_status sample_before(ga_sensitivity *se, int j, int k, ga_stepper *other)
{
  const ga__parameter *par = &se->parameter[j];
  move_before(se, j, AT[k] * par->given.step, &other->next);
  ga_point p = ga__state_point(&other->next);
  p.q = se->at_q, p.v = se->at_v;
  return sample(se, other, p, par->to[k]);
}

/* Behind samples at the very start: the start before them has been made. */
static ga_status start_behind_samples(ga_sensitivity *se, const ga_start_opts *opts, ga_stepper *other)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__copy_numbers(se->at_q, other->now.q, sys->nq);
  ga__copy_numbers(se->at_v, other->now.v, sys->nv);
  ga__copy_numbers(se->at_x, other->now.x, sys->size[GA_BLOCK_X]);
  ga_point p = ga__state_point(&other->now);
  p.q = se->at_q, p.v = se->at_v;
  ga_status status = sample(se, other, p, 0.0);
  ga__start_again(other, GA__BEHIND_JUMP);
  if (!status)
    status = ga_stepper_start(other, opts, st->now.scalar[GA__T], se->at_q, se->at_v, se->at_x,
                              st->begin_lambda, st->begin_psi, NULL);
  ga__start_first(other);
  return status;
}

/* Behind an event: se->at_q, at_v, at_x. */
static ga_status jump_at_event(ga_sensitivity *se, int j, int k, ga_stepper *other)
{
  ga__state *to = &other->next;
  ga_state s = {0.0,     to->q,   to->v, to->vdot, to->a, to->lambda,
                to->psi, to->eta, to->x, to->xdot, to->w, to->y};
  move_before(se, j, AT[k] * se->parameter[j].given.step, to);
  return ga__event_jump(se, j, k, &s);
}

/* A stepper with the equations at value k of parameter j, in the state before any start. */
static ga_status take_stepper(ga_sensitivity *se, int j, int k, starts *all)
{
  const ga_stepper *st = se->st;
  const ga__variant *at = &se->parameter[j].at[k];
  ga_stepper **other = &all->st[k];
  ga_status status = GA_OK;
  if (!*other)
    status = ga_stepper_create(se->quiet, st->sys->shared ? st->sys->shared : st->sys, &st->opts, other);
  if (status) return fail_start(se, j, status);
  ga__stepper_lend(*other, &all->loan[k], at->sys, &at->deriv);
  ga__start_first(*other);
  return GA_OK;
}

/* The start of the stepper at value k of parameter j. */
static ga_status start_one(ga_sensitivity *se, int j, int k, int again, starts *all)
{
  const ga_stepper *st = se->st;
  const ga_parameter *given = &se->parameter[j].given;
  const ga_parameter_value *at = &given->at[k];
  const double *q = at->q0, *v = at->v0, *x = at->x0;
  ga_start_opts opts = st->begun;
  ga_status status = take_stepper(se, j, k, all);
  if (status) return status;
  ga_stepper *other = all->st[k];
  ga__member_use(other, ga__member_is_second(st));
  if (again) {
    move_begin(se, j, AT[k] * given->step);
    q = se->at_q, v = se->at_v, x = se->at_x;
    other->again = st->begun_as; /* outputs before are the first guess */
    ga__copy_numbers(other->begin_y, st->begin_y, st->sys->size[GA_BLOCK_Y]);
    if (se->n_met > 0) {
      if ((status = jump_at_event(se, j, k, other))) return status;
    } else if (has_samples(st)) {
      status = sample_before(se, j, k, other);
    }
  } else if (has_samples(st) && !x) {
    x = st->sample_x;
  }
  if (status) return fail_start(se, j, status);
  opts.max_change = HUGE_VAL; /* the start itself has passed this test */
  if (again) opts.h += se->parameter[j].longer[k];
  const double t = st->now.scalar[GA__T] + (again ? se->parameter[j].to[k] : 0.0);
  status = ga_stepper_start(other, &opts, t, q ? q : st->begin_q, v ? v : st->begin_v, x ? x : st->begin_x,
                            st->begin_lambda, st->begin_psi, NULL);
  if (!status && !again && has_samples(st)) status = start_behind_samples(se, &opts, other);
  if (status) return fail_start(se, j, status);
  if (other->now.scalar[GA__REDUNDANT] == st->now.scalar[GA__REDUNDANT]) return GA_OK;
  return ga__refuse_parameter(se, j, "other constraints are redundant at other values of it",
                              "leave out redundant constraints");
}

/* Derivative of one array of the states. */
typedef struct part {
  double *out;
  const double *of; /* in the stepper's state */
  int n;
} part;

static int differentiate(ga_sensitivity *se, const starts *all, int j, const part *p, double *doubt)
{
  const double *value[GA__N_AT];
  const size_t from = (size_t)(p->of - se->st->now.block);
  for (int k = 0; k < GA__N_AT; k++) value[k] = all->st[k]->now.block + from;
  return p->n == 0 || ga__four_point(p->out, value, p->of, p->n, se->parameter[j].given.step, doubt);
}

static int differentiate_q(ga_sensitivity *se, const starts *all, int j, double *doubt)
{
  const ga_stepper *st = se->st;
  const int nv = st->sys->nv;
  const double *value[GA__N_AT];
  for (int k = 0; k < GA__N_AT; k++) {
    value[k] = se->moves + (size_t)k * (size_t)nv;
    ga_group_difference(st->sys->group, se->moves + (size_t)k * (size_t)nv, st->now.q, all->st[k]->now.q);
  }
  return nv == 0 ||
         ga__four_point(se->parameter[j].now.q, value, NULL, nv, se->parameter[j].given.step, doubt);
}

static ga_status differentiate_all(ga_sensitivity *se, const starts *all, int j)
{
  enum { N_VALUES = 10 }; /* behind them are rates, which only serve dense output */
  const ga_stepper *st = se->st;
  const int *size = st->sys->size, nv = st->sys->nv, nl = size[GA_BLOCK_LAMBDA], nx = size[GA_BLOCK_X];
  ga__parameter *par = &se->parameter[j];
  ga__tangent *d = &par->now;
  const ga__state *s = &st->now;
  const part list[] = {{d->v, s->v, nv},
                       {d->vdot, s->vdot, nv},
                       {d->a, s->a, nv},
                       {d->a_prev, s->a_prev, nv},
                       {d->lambda, s->lambda, nl},
                       {d->psi, s->psi, size[GA_BLOCK_PSI]},
                       {d->x, s->x, nx},
                       {d->xdot, s->xdot, nx},
                       {d->w, s->w, nx},
                       {d->w_prev, s->w_prev, nx},
                       {d->y, s->y, size[GA_BLOCK_Y]},
                       {d->vdot_prev, s->vdot_prev, nv},
                       {d->lambda_prev, s->lambda_prev, nl},
                       {d->psi_prev, s->psi_prev, size[GA_BLOCK_PSI]},
                       {d->y_prev, s->y_prev, size[GA_BLOCK_Y]}};
  memset(d->block, 0, se->n_tangent * sizeof *d->block);
  double rough = 0.0;
  int smooth = differentiate_q(se, all, j, &par->doubt);
  for (size_t l = 0; l < sizeof list / sizeof *list && smooth; l++) {
    const int value = l <= N_VALUES;
    const int fine = differentiate(se, all, j, &list[l], value ? &par->doubt : &rough);
    smooth = fine || !value;
  }
  if (smooth) return GA_OK;
  return ga__refuse_parameter(se, j, "the start has a corner or a jump within twice its step",
                              "give a smaller step, or another value of the parameter");
}

ga_status ga__sensitivity_start(ga_sensitivity *se, int again)
{
  const ga_point p = ga__state_point(&se->st->now);
  ga_status status = GA_OK;
  starts all;
  memset(&all, 0, sizeof all);
  for (int j = 0; j < se->n && !status; j++) {
    for (int k = 0; k < GA__N_AT && !status; k++) status = start_one(se, j, k, again, &all);
    if (!status) status = differentiate_all(se, &all, j);
    if (!status && ga__n_rates(se->st) > 0 && !again)
      status = ga__parameter_moves_b(se, j, &p, &se->parameter[j].moves_b);
  }
  destroy(&all);
  return status;
}

/* ---- The adjoint of a restart ---- */

/* The starts of parameter j with the derivatives that are in its `now`, which become those behind the
 * restart. */
static ga_status start_again(ga_sensitivity *se, int j, starts *all)
{
  ga_status status = GA_OK;
  for (int k = 0; k < GA__N_AT && !status; k++) status = start_one(se, j, k, 1, all);
  return status ? status : differentiate_all(se, all, j);
}

static double along(const ga_sensitivity *se, const ga__tangent *bar, int j)
{
  const double *d = se->parameter[j].now.block;
  double sum = 0.0;
  for (size_t i = 0; i < se->n_tangent; i++) sum += bar->block[i] * d[i];
  return sum;
}

/* Through the equations alone: the state before does not move. */
static ga_status gather_restart(ga_sensitivity *se, const ga__tangent *bar, starts *all, double *gradient)
{
  ga_status status = GA_OK;
  for (int j = 0; j < se->n && !status; j++) {
    if (!se->parameter[j].at[0].sys) continue;
    memset(se->parameter[j].now.block, 0, se->n_tangent * sizeof(double));
    status = start_again(se, j, all);
    if (!status) gradient[j] += along(se, bar, j);
  }
  return status;
}

/* Along one coordinate of the state before: by the parameter behind all others, with equations of the run. */
static ga_status turn_direction(ga_sensitivity *se, const ga__tangent *bar, starts *all, size_t at,
                                double size, double *out)
{
  ga__parameter *par = &se->parameter[se->n];
  memset(par->now.block, 0, se->n_tangent * sizeof(double));
  par->now.block[at] = size;
  const ga_status status = start_again(se, se->n, all);
  *out = status ? 0.0 : along(se, bar, se->n) / size;
  return status;
}

ga_status ga__sensitivity_restart_turned(ga_sensitivity *se, ga__tangent *bar, double *gradient)
{
  const double step = 1e-3; /* of 1 + the size of velocities or states */
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__parameter *par = &se->parameter[se->n];
  const ga__tangent *d = &par->now;
  const double v = 1.0 + ga__max_abs(st->begin_v, sys->nv, NULL),
               x = 1.0 + ga__max_abs(st->begin_x, sys->size[GA_BLOCK_X], NULL), given = par->given.step;
  const struct {
    double *by, *out, size;
    int n;
  } list[] = {{d->q, par->before.q, 1.0, sys->nv},
              {d->v, par->before.v, v, sys->nv},
              {d->x, par->before.x, x, sys->size[GA_BLOCK_X]}};
  starts all;
  memset(&all, 0, sizeof all);
  ga_status status = gather_restart(se, bar, &all, gradient);
  memset(par->before.block, 0, se->n_tangent * sizeof(double));
  par->given.step = step;
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    for (int i = 0; i < list[k].n && !status; i++)
      status = turn_direction(se, bar, &all, (size_t)(list[k].by - d->block) + (size_t)i, list[k].size,
                              &list[k].out[i]);
  destroy(&all);
  par->given.step = given;
  if (!status) memcpy(bar->block, par->before.block, se->n_tangent * sizeof(double));
  return status;
}
