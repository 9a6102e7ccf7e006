/* Events that change the motion or end the run. The step that ends on one has the size h(p) at which g = 0:
 * with δs the derivative of its end at a fixed size, and s_h that by the size,
 *
 *   δh = −(g_s δs + g_p)/(g_s s_h + g_t)      δs ← δs + s_h δh      δt ← δt + δh
 *
 * s_h belongs to a parameter of its own behind the others, the clock, whose size of the step is the
 * parameter. The restart is made from four such states, changed by what the event changes at the four values.
 */
#include "core/sensitivity.h"

#include <math.h>
#include <string.h>

static const double AT[GA__N_AT] = {-2.0, -1.0, 1.0, 2.0};
/* Part of the step, and of the size of a state, by which they are moved. */
#define MOVE 1e-3
/* A rate of g below this part of its mean one in the step is that of a path that only touches. */
#define GRAZES 1e-4

static ga_status refuse_event(ga_sensitivity *se, const char *what, const char *remedy)
{
  return ga__refuse_sensitivity(se, what, remedy);
}

/* ---- g ---- */

static ga_status evaluate(ga_sensitivity *se, int j, int k, const ga_point *p, double *g)
{
  const ga_status before = ga__begin_callback(se->ctx);
  const int code = se->rule.g(se->rule.user, j, k, se->met, p, g);
  const ga_status status = ga__end_callback(se->st->sys, "g", -1, p->t, code, before);
  return !status && !isfinite(*g) ? refuse_event(se, "g of an event is not finite", NULL) : status;
}

/* The event's state moved by `by` times d, dt, in the work space of the object. */
static ga_point moved_point(ga_sensitivity *se, const ga__tangent *d, double dt, double by)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  const int *size = sys->size, nv = sys->nv;
  ga__tangent *at = &se->mid;
  for (int i = 0; i < nv; i++) se->one[i] = by * d->q[i];
  ga_group_move(sys->group, se->at_q, now->q, se->one);
  const struct {
    double *out;
    const double *from, *d;
    int n;
  } list[] = {{at->v, now->v, d->v, nv},
              {at->vdot, now->vdot, d->vdot, nv},
              {at->lambda, now->lambda, d->lambda, size[GA_BLOCK_LAMBDA]},
              {at->psi, now->psi, d->psi, size[GA_BLOCK_PSI]},
              {at->x, now->x, d->x, size[GA_BLOCK_X]},
              {at->y, now->y, d->y, size[GA_BLOCK_Y]}};
  for (size_t l = 0; l < sizeof list / sizeof *list; l++)
    for (int i = 0; i < list[l].n; i++) list[l].out[i] = list[l].from[i] + by * list[l].d[i];
  return (ga_point){
      now->scalar[GA__T] + by * dt, se->at_q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
}

/* Derivative of g along d, dt and the parameter, by four values at distance `step`. */
static ga_status differentiate_g(ga_sensitivity *se, int j, const ga__tangent *d, double dt, double step,
                                 double *out)
{
  ga__parameter *par = &se->parameter[j];
  double g[GA__N_AT], middle;
  const double *const value[GA__N_AT] = {&g[0], &g[1], &g[2], &g[3]};
  const int own = j == se->n;
  ga_point p = ga__state_point(&se->st->now);
  ga_status status = evaluate(se, own ? 0 : j, -1, &p, &middle);
  for (int k = 0; k < GA__N_AT && !status; k++) {
    p = moved_point(se, d, dt, AT[k] * step);
    status = evaluate(se, own ? 0 : j, own ? -1 : k, &p, &g[k]);
  }
  if (status) return status;
  if (ga__four_point(out, value, &middle, 1, step, &par->doubt)) return GA_OK;
  return ga__refuse_parameter(se, j, "the condition of an event has a corner or a jump within twice its step",
                              "give a smaller step, or another value of the parameter");
}

/* Whether the path passes g = 0, by its slopes in the step: *steepest. */
static ga_status find_slopes(ga_sensitivity *se, double *steepest)
{
  ga_stepper *st = se->st;
  const double t0 = st->next.scalar[GA__T], h = st->now.scalar[GA__T] - t0;
  const ga__tangent *at = &se->mid;
  ga_point p = ga__state_point(&st->next);
  double before, here;
  ga_status status = evaluate(se, 0, -1, &p, &before);
  *steepest = 0.0;
  for (int i = 1; i <= 4 && !status; i++) {
    p = (ga_point){t0 + 0.25 * i * h, se->at_q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
    if (i == 4) p = ga__state_point(&st->now);
    if (i < 4)
      status = ga_stepper_interpolate(st, p.t, se->at_q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y);
    if (!status) status = evaluate(se, 0, -1, &p, &here);
    *steepest = fmax(*steepest, fabs(here - before) / (0.25 * h));
    before = here;
  }
  return status;
}

/* ---- The step that ends on an event ---- */

/* Derivatives by its size. */
static ga_status differentiate_size(ga_sensitivity *se)
{
  ga__parameter *clock = &se->parameter[se->n];
  memset(clock->now.block, 0, se->n_tangent * sizeof(double));
  clock->given.step = MOVE * se->st->now.scalar[GA__H_OLD];
  clock->dt = clock->dh = 1.0;
  for (int k = 0; k < GA__N_AT; k++) clock->to[k] = AT[k] * clock->given.step, clock->from[k] = 0.0;
  return se->st->family->slopes->forward(se, se->n);
}

static ga_status move_end(ga_sensitivity *se, int j, double rate)
{
  ga__parameter *par = &se->parameter[j];
  double g = 0.0;
  const ga_status status = differentiate_g(se, j, &par->now, par->dt, par->given.step, &g);
  const double dh = -g / rate;
  if (status) return status;
  for (size_t i = 0; i < se->n_tangent; i++) par->now.block[i] += dh * se->parameter[se->n].now.block[i];
  const ga__slopes *slopes = se->st->family->slopes;
  if (slopes->add) slopes->add(se, j, se->n, dh);
  par->dh = dh;
  par->dt += dh;
  return GA_OK;
}

static ga_status differentiate_event(ga_sensitivity *se)
{
  const ga__parameter *clock = &se->parameter[se->n];
  double rate = 0.0, steepest = 0.0;
  ga_status status = ga__sensitivity_one_step(se);
  if (!status) status = differentiate_size(se);
  if (!status) status = differentiate_g(se, se->n, &clock->now, 1.0, clock->given.step, &rate);
  if (!status) status = find_slopes(se, &steepest);
  if (!status && !(fabs(rate) > GRAZES * steepest && steepest > 0.0))
    status = refuse_event(
        se,
        "the motion only touches the condition of an event: a small change of a parameter decides "
        "whether it happens",
        NULL);
  for (int j = 0; j < se->n && !status; j++) status = move_end(se, j, rate);
  return status;
}

/* The run is at an event that changes the motion or ends the run, which is the end of the last step. */
static void meet(ga_sensitivity *se, int event)
{
  ga_stepper *st = se->st;
  ga_status status = GA_OK;
  const ga_error said = se->ctx->error;
  if (!se->started) return;
  if (se->met >= 0)
    status = refuse_event(se, "two events happen at the same time, and parameters decide which is the first",
                          "leave out events that change the motion");
  else if (!st->can_undo)
    status = refuse_event(se, "an event happens where another or a jump has just been passed", NULL);
  se->met = event;
  if (!status) status = differentiate_event(se);
  if (!status) status = ga__sensitivity_show(se);
  if (!status) return;
  se->failed = status;
  se->why = se->ctx->error;
  se->ctx->error = said;
}

void ga__sensitivities_meet(ga_stepper *st, int event)
{
  for (ga_sensitivity *se = st->watchers; se; se = se->next) meet(se, event);
}

/* ---- The restart ---- */

ga_status ga__event_jump(ga_sensitivity *se, int j, int k, ga_state *s)
{
  const ga_stepper *st = se->st;
  const ga__parameter *par = &se->parameter[j];
  const ga_system *sys = st->sys;
  const ga__tangent *d = &par->now;
  const double by = AT[k] * par->given.step, *block = st->now.block;
  const ga__state *now = &st->now;
  for (int i = 0; i < sys->nv; i++) se->one[i] = by * d->q[i];
  ga_group_move(sys->group, se->at_q, se->last + (now->q - block), se->one);
  for (int i = 0; i < sys->nv; i++) se->at_v[i] = se->last[now->v - block + i] + by * d->v[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) se->at_x[i] = se->last[now->x - block + i] + by * d->x[i];
  s->t = se->t + by * par->dt;
  ga__copy_numbers((double *)s->q, se->at_q, sys->nq);
  ga__copy_numbers((double *)s->v, se->at_v, sys->nv);
  ga__copy_numbers((double *)s->x, se->at_x, sys->size[GA_BLOCK_X]);
  if (!se->rule.jump) return GA_OK;
  const ga_status before = ga__begin_callback(se->ctx);
  const int code = se->rule.jump(se->rule.user, j, k, se->met, s, se->at_q, se->at_v, se->at_x);
  return ga__end_callback(sys, "jump", -1, s->t, code, before);
}

ga_status ga_sensitivity_use_events(ga_sensitivity *se, const ga_event_rule *rule)
{
  if (!se) return GA_ERR_ARGUMENT;
  if (!rule || !rule->g) return ga__refuse_null(se->ctx, __func__, rule ? "g" : "rule");
  if (!se->rule.g) {
    se->next = se->st->watchers;
    se->st->watchers = se;
  }
  se->rule = *rule;
  return GA_OK;
}

void ga__sensitivity_unwatch(ga_sensitivity *se)
{
  ga_sensitivity **at = &se->st->watchers;
  if (!se->rule.g) return;
  while (*at && *at != se) at = &(*at)->next;
  if (*at) *at = se->next;
}

double ga_sensitivity_time(const ga_sensitivity *se, int parameter)
{
  return se && parameter >= 0 && parameter < se->n ? se->parameter[parameter].dt : 0.0;
}
