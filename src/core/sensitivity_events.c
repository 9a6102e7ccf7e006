/* Events that change the motion or end the run. The step that ends on one has the size h(p) at which g = 0:
 * with δs the derivative of its end at a fixed size, and s_h that by the size,
 *
 *   δh = −(g_s δs + g_p)/(g_s s_h + g_t)      δs ← δs + s_h δh      δt ← δt + δh
 *
 * s_h belongs to a parameter of its own behind the others, the clock, whose size of the step is the
 * parameter. The restart is made from four such states, changed by what the event changes at the four values.
 */
#include "core/sensitivity.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double AT[GA__N_AT] = {-2.0, -1.0, 1.0, 2.0};
/* Part of the step, and of the size of a state, by which they are moved. */
#define MOVE 1e-3
/* A rate of g below this part of its mean one in the step is that of a path that only touches. */
#define GRAZES 1e-4
#define SAME 1e-7   /* [-] of δt, or of a step: smaller differences of times are rounding */
#define SIZE 1e3    /* times its step: about the size of a parameter */
#define RECENT 1e-6 /* [-] of t, for steps that are very short */
#define LEFT_OUT "a step before it has been left out, or several were made to reach it"

/* Of the event that is evaluated, and of a parameter; j −1: of none. */
static ga_status refuse_event(ga_sensitivity *se, int j, const char *what, const char *remedy)
{
  char text[GA_ERROR_TEXT / 2];
  if (se->rule.names)
    snprintf(text, sizeof text, "event '%s': %s", se->rule.names[se->event], what);
  else
    snprintf(text, sizeof text, "event %d: %s", se->event, what);
  return j < 0 ? ga__refuse_sensitivity(se, text, remedy) : ga__refuse_parameter(se, j, text, remedy);
}

/* ---- g ---- */

static ga_status evaluate(ga_sensitivity *se, int j, int k, const ga_point *p, double *g)
{
  const ga_status before = ga__begin_callback(se->ctx);
  const int code = se->rule.g(se->rule.user, j, k, se->event, p, g);
  const ga_status status = ga__end_callback(se->st->sys, "g", -1, p->t, code, before);
  return !status && !isfinite(*g) ? refuse_event(se, -1, "its condition is not finite", NULL) : status;
}

/* A state moved by `by` times d, dt, in the work space of the object. */
static ga_point moved_point(ga_sensitivity *se, const ga__state *now, const ga__tangent *d, double dt,
                            double by)
{
  const ga_system *sys = se->st->sys;
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

/* Derivative of g at a state along d, dt and the parameter, by four values at distance `step`. */
static ga_status differentiate_g(ga_sensitivity *se, int j, const ga__state *at, const ga__tangent *d,
                                 double dt, double step, double *out)
{
  ga__parameter *par = &se->parameter[j];
  double g[GA__N_AT], middle;
  const double *const value[GA__N_AT] = {&g[0], &g[1], &g[2], &g[3]};
  const int own = j == se->n;
  ga_point p = ga__state_point(at);
  ga_status status = evaluate(se, own ? 0 : j, -1, &p, &middle);
  for (int k = 0; k < GA__N_AT && !status; k++) {
    p = moved_point(se, at, d, dt, AT[k] * step);
    status = evaluate(se, own ? 0 : j, own ? -1 : k, &p, &g[k]);
  }
  if (status) return status;
  if (ga__four_point(out, value, &middle, 1, step, &par->doubt)) return GA_OK;
  return refuse_event(se, own ? -1 : j,
                      own ? "its condition has a corner or a jump over time, where it happens"
                          : "its condition has a corner or a jump within twice the step of this parameter",
                      "write a condition that is smooth where it passes 0");
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

/* Whether parameter j moves g at a state, whose time moves with it: *slope 0: it does not, up to rounding of
 * what cancels. */
static ga_status find_slope(ga_sensitivity *se, int j, const ga__state *at, double *slope)
{
  const ga__parameter *par = &se->parameter[j];
  double along = 0.0;
  ga_status status = differentiate_g(se, j, at, &par->now, par->dt, par->given.step, slope);
  if (!status) status = differentiate_g(se, se->n, at, &par->now, par->dt, par->given.step, &along);
  if (fabs(*slope) <= SAME * (fabs(along) + fabs(*slope - along))) *slope = 0.0;
  return status;
}

/* Whether times that are `apart` for a parameter by its derivatives are different ones. */
static int differ(const ga_sensitivity *se, int j, double apart)
{
  const ga_stepper *st = se->st;
  const ga__parameter *par = &se->parameter[j];
  const double t = st->now.scalar[GA__T], size = SIZE * par->given.step;
  const double span = fmax(st->now.scalar[GA__H_OLD], RECENT * fabs(t));
  return !(fabs(apart) * size <= SAME * fmax(span, fabs(par->dt) * size));
}

static ga_status move_end(ga_sensitivity *se, int j, double rate)
{
  ga__parameter *par = &se->parameter[j];
  double g = 0.0;
  const ga_status status = differentiate_g(se, j, &se->st->now, &par->now, par->dt, par->given.step, &g);
  const double dh = -g / rate;
  if (status) return status;
  if (se->on_break && differ(se, j, dh))
    return refuse_event(se, j,
                        "it happens exactly where a function of time has a break, and this parameter decides "
                        "which is the first",
                        "give another value of the parameter");
  for (size_t i = 0; i < se->n_tangent; i++) par->now.block[i] += dh * se->parameter[se->n].now.block[i];
  const ga__slopes *slopes = se->st->family->slopes;
  if (slopes->add) slopes->add(se, j, se->n, dh);
  par->dh += dh;
  par->dt += dh;
  return GA_OK;
}

/* The rate of g by the clock; refused: the motion only touches g = 0. */
static ga_status find_rate(ga_sensitivity *se, double *rate)
{
  const ga__parameter *clock = &se->parameter[se->n];
  double steepest = 0.0;
  ga_status status = differentiate_g(se, se->n, &se->st->now, &clock->now, 1.0, clock->given.step, rate);
  if (!status) status = find_slopes(se, &steepest);
  if (!status && !(fabs(*rate) > GRAZES * steepest && steepest > 0.0))
    status = refuse_event(
        se, -1,
        "the motion only touches its condition: a small change of a parameter decides whether it happens",
        NULL);
  return status;
}

/* The first event at the end of a step. */
static ga_status end_step(ga_sensitivity *se)
{
  double rate = 0.0;
  ga_status status = ga__sensitivity_one_step(se);
  if (!status) status = differentiate_size(se);
  if (!status) status = find_rate(se, &rate);
  for (int j = 0; j < se->n && !status; j++) status = move_end(se, j, rate);
  se->place = GA_PLACE_EVENT;
  return status ? status : ga__sensitivity_show(se);
}

/* A further event at the end of that step: it has to happen at the same time at all values, as events with
 * the same condition do. */
static ga_status join_event(ga_sensitivity *se)
{
  double rate = 0.0;
  ga_status status = find_rate(se, &rate);
  for (int j = 0; j < se->n && !status; j++) {
    double g = 0.0;
    status = find_slope(se, j, &se->st->now, &g);
    if (!status && g != 0.0 && differ(se, j, g / rate))
      status = refuse_event(
          se, j, "another event happens at the same time, and this parameter decides which is the first",
          "give another value of the parameter, or leave out one of the events");
  }
  return status;
}

/* An event that the jump to the present state has made: its time is that of the jump, as long as g has been
 * carried over 0 at all values. */
static ga_status cross_in_jump(ga_sensitivity *se)
{
  const ga_point p = ga__state_point(&se->st->now);
  double g = 0.0, slope = 0.0;
  ga_status status = evaluate(se, 0, -1, &p, &g);
  for (int j = 0; j < se->n && !status; j++) {
    status = find_slope(se, j, &se->st->now, &slope);
    if (!status && slope != 0.0 && !(fabs(g) > 2.0 * se->parameter[j].given.step * fabs(slope)))
      status = refuse_event(
          se, j,
          "it happens just where another event or a jump has been passed, and this parameter decides whether",
          "give another value of the parameter");
  }
  se->place = GA_PLACE_EVENT;
  return status;
}

/* Runs end at a given time: what happens exactly there happens on one side only. */
static ga_status check_end(ga_sensitivity *se)
{
  for (int j = 0; j < se->n; j++)
    if (differ(se, j, se->parameter[j].dt))
      return refuse_event(
          se, j, "it happens exactly at the end of the run, and this parameter decides whether it still does",
          "let the run end at another time");
  return GA_OK;
}

static ga_status add_event(ga_sensitivity *se, int event, int at_end)
{
  ga_stepper *st = se->st;
  const int again = se->n_met > 0;
  const int same = se->number == st->state_number || (!again && ga__sensitivity_is_at(se, &st->now));
  ga_status status = GA_OK;
  se->event = event;
  if (again && !same) /* behind the restart that those before have made */
    status = st->now.scalar[GA__H_OLD] == 0.0 && !st->can_undo ? ga__sensitivity_restart(se)
                                                               : refuse_event(se, -1, LEFT_OUT, NULL);
  if (!status && se->n_met == GA__MOST_MET)
    status = refuse_event(se, -1, "too many others happen at the same time", NULL);
  if (status) return status;
  se->met[se->n_met++] = event;
  if (same) se->number = st->state_number; /* a step from here may have been taken back */
  se->behind_break |= same && se->place == GA_PLACE_BREAK;
  if (same)
    status = again && st->can_undo ? join_event(se) : cross_in_jump(se);
  else if (again)
    status = cross_in_jump(se);
  else
    status = st->can_undo ? end_step(se) : refuse_event(se, -1, LEFT_OUT, NULL);
  return !status && at_end ? check_end(se) : status;
}

/* What has failed is reported by the next step: the run itself goes on. */
static void keep_failure(ga_sensitivity *se, ga_status status, const ga_error *before)
{
  if (!status) return;
  se->failed = status;
  se->why = se->ctx->error;
  se->ctx->error = *before;
}

void ga__sensitivities_meet(ga_stepper *st, int event, int at_end)
{
  for (ga_sensitivity *se = st->watchers; se; se = se->next) {
    const ga_error before = se->ctx->error;
    if (se->started && !se->failed) keep_failure(se, add_event(se, event, at_end), &before);
  }
}

/* ---- Conditions that are 0 at a start ---- */

/* Refused: it is moved by a parameter, and happens at the beginning or not. */
static ga_status check_touch(ga_sensitivity *se, int event)
{
  const ga__state *begin = &se->st->next;
  const ga_point p = ga__state_point(begin);
  double steepest = 0.0, g = 0.0;
  se->event = event;
  ga_status status = find_slopes(se, &steepest);
  if (!status) status = evaluate(se, 0, -1, &p, &g); /* not 0 where a jump has carried it over 0 */
  for (int j = 0; j < se->n && !status; j++) {
    const ga__parameter *par = &se->parameter[j];
    double slope = 0.0;
    status = find_slope(se, j, begin, &slope);
    if (!status && slope != 0.0 && !(fabs(g) > 2.0 * par->given.step * fabs(slope)) &&
        differ(se, j, slope / fmax(steepest, DBL_MIN)))
      status = refuse_event(
          se, j, "its condition is 0 where the motion begins, and this parameter decides whether it happens",
          "give another value of the parameter");
  }
  return status;
}

void ga__sensitivities_touch(ga_stepper *st, int event)
{
  for (ga_sensitivity *se = st->watchers; se; se = se->next) {
    const ga_error before = se->ctx->error;
    if (se->started && !se->failed && ga__sensitivity_is_at(se, &st->next))
      keep_failure(se, check_touch(se, event), &before);
  }
}

/* ---- Conditions that are 0 at the end ---- */

void ga__sensitivities_end(ga_stepper *st, int n, const ga_event *events)
{
  for (ga_sensitivity *se = st->watchers; se; se = se->next) se->n_last_events = n, se->last_events = events;
}

/* Refused: a parameter would let the event happen just before the end. */
static ga_status check_missed(ga_sensitivity *se, int event)
{
  const ga_point p = ga__state_point(&se->st->now);
  double g = 0.0, steepest = 0.0, slope = 0.0;
  se->event = event;
  ga_status status = evaluate(se, 0, -1, &p, &g);
  if (!status) status = find_slopes(se, &steepest);
  if (status || fabs(g) > SAME * steepest * se->st->now.scalar[GA__H_OLD]) return status;
  for (int j = 0; j < se->n && !status; j++) {
    const ga__parameter *par = &se->parameter[j];
    const ga__tangent *d = par->dt != 0.0 ? &par->fixed : &par->now;
    status = differentiate_g(se, j, &se->st->now, d, 0.0, par->given.step, &slope);
    if (!status && fabs(g) < SAME * SIZE * par->given.step * fabs(slope))
      status = refuse_event(
          se, j,
          "its condition is 0 exactly at the end of the run, and this parameter decides whether it happens",
          "let the run end at another time");
  }
  return status;
}

ga_status ga__events_at_end(ga_sensitivity *se)
{
  const int n = se->n_last_events;
  ga_status status = GA_OK;
  se->n_last_events = 0;
  for (int i = 0; i < n && !status; i++)
    if (se->last_events[i].action != GA_EVENT_RECORD) status = check_missed(se, i);
  return status;
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
  ga_status status = GA_OK;
  for (int i = 0; i < se->n_met && !status; i++) {
    const ga_status before = ga__begin_callback(se->ctx);
    const int code = se->rule.jump(se->rule.user, j, k, se->met[i], s, se->at_q, se->at_v, se->at_x);
    status = ga__end_callback(sys, "jump", -1, s->t, code, before);
  }
  return status;
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
