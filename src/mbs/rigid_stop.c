/* Rigid stops with restitution: limits of a coordinate or distance that are never passed. The mode m is a
 * state:
 *
 *   m = 0    free
 *   m = ±1   rests at the upper or lower limit: k = ρ' + β (ρ − limit) = 0, force −ψ g, while m ψ >= 0
 *   m = ±4   in an impact, within a start only: k = ρ' + e r = 0, r the rate before it, the second state
 *   m = 2    not decided yet, before the first start
 *
 * The start of an impact moves velocities onto k by impulses, M (v⁺ − v⁻) = −Aᵀ μ, and likewise in all other
 * constraints (Newton's law of impact). After it the stop is free, or rests if it would be left by no more
 * than rest_speed: the infinitely many bounces of a ball that comes to rest end there. */
#include "expr/side.h"
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/doubt.h"
#include "mbs/held.h"
#include "mbs/law_impl.h"

#include <float.h>
#include <math.h>

enum { FREE = 0, UNDECIDED = 2, IMPACT = 4, RETURNING = 5 };
#define BACK 10.0    /* [1/s] β */
#define TOUCHES 1e-9 /* [m] or [rad], and relative to the limit */
#define PASSED 1e-5  /* likewise: a limit that has been missed */

typedef struct rigid_stop {
  ga__held held;
  int x_x[2]; /* entries of the states' equations by themselves */
} rigid_stop;

typedef struct stop_eval {
  ga__held_eval at;
  int mode;
  ga__held_aim aim;
} stop_eval;

static const ga_rigid_stop_def *def_of(const ga__mbs_model *b, const ga__element *el)
{
  return b->m->part[el->part].def;
}

/* ---- Building ---- */

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  return ga__element_add(m, b, part, &ga__rigid_stop_type, 2, 0) ? GA_OK : GA_ERR_MEMORY;
}

static ga_status resolve(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_rigid_stop_def *def = m->part[part].def;
  rigid_stop *u = ga__element_of(b, part)->data;
  const ga_status status =
      ga__resolve_line(m, b, &m->part[part], def->a, def->b, def->coordinate, &u->held.gauge);
  if (status) return status;
  const double at = ga__gauge_initial(b, u->held.gauge), beyond = fmax(at - def->upper, def->lower - at);
  if (b->stage == GA__STAGE_MACHINE && beyond > TOUCHES * (1 + fabs(at)))
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_INCONSISTENT, GA_REASON_STARTS_BEYOND_STOP,
                           (ga__facts){GA__NUMBERS({at, NULL}, {def->lower, NULL}, {def->upper, NULL})});
  return ga__held_create(m, b, part, "stop", &u->held);
}

static void initial(const ga__mbs_model *b, const ga__element *el, double *x)
{
  (void)b;
  x[el->x] = UNDECIDED;
  x[el->x + 1] = 0;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  return ga__held_want(b, &((const rigid_stop *)el->data)->held);
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  rigid_stop *u = el->data;
  const ga_status status = ga__held_bind(b, &u->held);
  for (int i = 0; i < 2; i++) {
    const int x = ga__column_x(b, el->x + i);
    u->x_x[i] = ga__own_entry(&b->pattern, x, x);
  }
  return status || u->x_x[0] < 0 || u->x_x[1] < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Evaluation ---- */

static int mode_of(double x)
{
  const double size = fabs(x);
  const int sign = x < 0 ? -1 : 1;
  return size <= 0.5 ? FREE : size <= 1.5 ? sign : size >= 3 ? sign * IMPACT : UNDECIDED;
}

static void eval_stop(stop_eval *v, const ga__eval *e, const ga__element *el, int curvature)
{
  v->mode = mode_of(e->p->x[el->x]);
  const ga_rigid_stop_def *def = def_of(e->b, el);
  v->aim = (ga__held_aim){0};
  if (v->mode == IMPACT || v->mode == -IMPACT) v->aim.rate = e->p->x[el->x + 1];
  if (v->mode == 1 || v->mode == -1) {
    const double place = v->mode > 0 ? def->upper : def->lower;
    if (isfinite(place)) v->aim.back = BACK, v->aim.place = place;
  }
  ga__held_eval_at(&v->at, e, &((const rigid_stop *)el->data)->held, curvature);
}

static int holds(const stop_eval *v)
{
  return v->mode != FREE && v->mode != UNDECIDED;
}

static double force_of(const stop_eval *v, const ga__eval *e, const rigid_stop *u)
{
  return holds(v) ? e->p->psi[u->held.psi] : 0;
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const rigid_stop *u = el->data;
  stop_eval v;
  eval_stop(&v, e, el, 0);
  ga__held_force(&v.at, e, &u->held, holds(&v), force_of(&v, e, u), f);
  return 0;
}

static int k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const rigid_stop *u = el->data;
  stop_eval v;
  eval_stop(&v, e, el, order == 1);
  ga__held_row(&v.at, e, &u->held, holds(&v), &v.aim, out, order);
  return 0;
}

/* Modes are constant, and the rate of an impact is forgotten behind it. */
static int state(const ga__eval *e, const ga__element *el, double *s)
{
  s[el->x] = mode_of(e->p->x[el->x]) - e->p->x[el->x];
  s[el->x + 1] = 0 - e->p->x[el->x + 1];
  return 0;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const rigid_stop *u = el->data;
  stop_eval v;
  eval_stop(&v, e, el, (J->want & GA_WANT_Q) != 0);
  ga__held_row_jacobian(&v.at, e, &u->held, holds(&v), v.aim.back, J);
  if (!ga__wants_forces(J)) return 0;
  ga__held_force_jacobian(&v.at, e, &u->held, force_of(&v, e, u), J);
  for (int i = 0; i < 2 && J->want & GA_WANT_D; i++) J->D[u->x_x[i]] += 1;
  return 0;
}

/* What impacts lose is found by the meter. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  (void)e, (void)el, (void)out;
  return 0;
}

/* ---- Modes ---- */

/* 1, −1: at or beyond the upper or lower limit, by more than −slack, of the two the one that a rate or
 * acceleration leads to, as both may be as close; 0: at none. */
static int limit_towards(const ga_rigid_stop_def *def, double value, double slack, double direction)
{
  if (direction > 0) return value > def->upper - slack;
  return direction < 0 && value < def->lower + slack ? -1 : 0;
}

/* The limit that is hit, at a rate of more than that of iterations. */
static int hit_limit(const stop_eval *v, const ga_rigid_stop_def *def, double slack)
{
  return fabs(v->at.rate) > GA__STILL * (1 + v->at.size) ? limit_towards(def, v->at.value, slack, v->at.rate)
                                                         : 0;
}

/* The limit that is touched without a rate, and that the acceleration presses against. */
static int pressed_limit(const stop_eval *v, const ga_rigid_stop_def *def, double acc)
{
  const double slack = TOUCHES * (1 + fabs(v->at.value));
  return fabs(v->at.rate) <= GA__STILL * (1 + v->at.size) ? limit_towards(def, v->at.value, slack, acc) : 0;
}

/* A limit that is passed by more than rounding, although the motion leads back: it was hit before, or what
 * rested there has left it, with the error that the steps of rest had. */
static int passed_limit(const ga_rigid_stop_def *def, double value)
{
  const double slack = TOUCHES * (1 + fabs(value));
  return value > def->upper + slack ? 1 : value < def->lower - slack ? -1 : 0;
}

/* The mode that it should have, or RETURNING where it is beyond a limit, on its way back: where that turns,
 * it hits. Nothing is wanted here that switch_mode() would refuse, apart from what was missed: it would be
 * wanted at both ends of all steps that follow, which then show no change. */
static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const rigid_stop *u = el->data;
  const ga_rigid_stop_def *def = def_of(e->b, el);
  stop_eval v;
  eval_stop(&v, e, el, 1);
  int wanted = v.mode;
  if (v.mode == FREE) {
    const int hit = hit_limit(&v, def, 0), passed = passed_limit(def, v.at.value);
    wanted = hit      ? hit * IMPACT
             : passed ? passed * RETURNING
                      : pressed_limit(&v, def, ga__held_acceleration(&v.at, e, &u->held));
  }
  if (holds(&v) && v.mode * e->p->psi[u->held.psi] < 0) wanted = FREE;
  ga__mix_side(out, (unsigned)(wanted + RETURNING));
  return 0;
}

/* Towards a limit that it touches: an impact, or rest where it is only pressed. x: mode and rate. */
static int meet_limit(const stop_eval *v, const ga_rigid_stop_def *def, double acc, double *x)
{
  const int hit = hit_limit(v, def, TOUCHES * (1 + fabs(v->at.value)));
  if (hit) {
    x[0] = hit * IMPACT;
    x[1] = -def->restitution * v->at.rate;
    return 2;
  }
  const int pressed = pressed_limit(v, def, acc);
  if (pressed) x[0] = pressed;
  return pressed != 0;
}

/* 1: it rests, and goes on: velocities are those that its row holds, with which it drifts back to its limit.
 */
static int goes_on_resting(const stop_eval *v)
{
  if (v->mode != 1 && v->mode != -1) return 0;
  return fabs(v->at.rate + v->aim.back * (v->at.value - v->aim.place)) <= GA__STILL * (1 + v->at.size);
}

static int switch_mode(const ga__eval *e, const ga__element *el, ga_switch_when when,
                       const unsigned char *shared, double *x, double *excess)
{
  const rigid_stop *u = el->data;
  const ga_rigid_stop_def *def = def_of(e->b, el);
  stop_eval v;
  eval_stop(&v, e, el, 1);
  (void)shared;
  *excess = DBL_MAX;
  if (when != GA_SWITCH_STARTED) {
    if (goes_on_resting(&v) || (holds(&v) && when == GA_SWITCH_PASSED)) return 0;
    x[0] = FREE;
    const int code = meet_limit(&v, def, 0, x);
    return code ? code : v.mode != FREE;
  }
  if (v.mode == FREE) return meet_limit(&v, def, ga__held_acceleration(&v.at, e, &u->held), x);
  if (v.mode == 1 || v.mode == -1) {
    x[0] = FREE;
    return v.mode * e->p->psi[u->held.psi] < 0;
  }
  *excess = INFINITY; /* before all others: accelerations within an impact mean nothing */
  x[0] = fabs(v.aim.rate) <= def->rest_speed ? v.mode / IMPACT : FREE; /* the impact is over */
  x[1] = 0;
  return 2;
}

/* ---- Limits that are passed and left again within a step ---- */

#define BEYOND 1e-6 /* [m] or [rad], and relative to the limit */

static int may_hide(const ga__element *el)
{
  (void)el;
  return 1;
}

/* Range of a gauge in a piece: cubics through the ends stay within their Bézier points. */
static void range_of(ga__workspace *w, const ga__gauge *g, const ga_piece *p, double out[2])
{
  const double third = (p->t[1] - p->t[0]) / 3;
  double value[2], rate[2];
  for (int k = 0; k < 2; k++) {
    w->motion = 0; /* kin belongs to no evaluation any more */
    ga__kin_at(w->b, p->end[k].q, p->end[k].v, NULL, w->kin);
    ga__gauge_rate(w->b, g, w->kin, &value[k], &rate[k]);
  }
  const double left = value[0] + third * rate[0], right = value[1] - third * rate[1];
  out[0] = fmin(fmin(value[0], value[1]), fmin(left, right));
  out[1] = fmax(fmax(value[0], value[1]), fmax(left, right));
}

/* The same for a distance, by its components: it has a corner where two points pass each other. */
static void distance_range(ga__workspace *w, const ga__gauge *g, const ga_piece *p, double out[2])
{
  out[0] = out[1] = 0;
  for (int i = 0; i < 3; i++) {
    ga__gauge along = {.kind = GA__ALONG, .a = g->a, .b = g->b};
    double range[2];
    along.u[i] = 1;
    range_of(w, &along, p, range);
    const double near = fmax(fmax(range[0], -range[1]), 0), far = fmax(range[1], -range[0]);
    out[0] += near * near;
    out[1] += far * far;
  }
  out[0] = sqrt(out[0]), out[1] = sqrt(out[1]);
}

/* 1: it may be beyond a limit within the piece. */
static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const ga_rigid_stop_def *def = def_of(w->b, el);
  const ga__gauge *g = GA__AT(w->b->gauge, ga__gauge, ((const rigid_stop *)el->data)->held.gauge);
  double range[2];
  (void)step;
  if (g->kind == GA__DISTANCE)
    distance_range(w, g, piece, range);
  else
    range_of(w, g, piece, range);
  return range[0] < def->lower - BEYOND * (1 + fabs(def->lower)) ||
         range[1] > def->upper + BEYOND * (1 + fabs(def->upper));
}

/* ---- Reports ---- */

/* Switches are located, so that it is never passed by more than rounding, except where they were missed. */
static double doubt(const ga__eval *e, const ga__element *el, double at[2])
{
  const ga_rigid_stop_def *def = def_of(e->b, el);
  stop_eval v;
  eval_stop(&v, e, el, 0);
  const double beyond = fmax(v.at.value - def->upper, def->lower - v.at.value);
  (void)at;
  return beyond > PASSED * (1 + fabs(v.at.value)) ? beyond : 0;
}

static void write_doubt(ga__writer *w, const ga_machine *m, const ga__doubt_record *r)
{
  const ga__part *part = &m->part[r->el->part];
  ga__write(w,
            "%s '%s' was passed, most at t = %.6g s by %.4g: its switch was missed; try error control, "
            "--tol 1e-6\n",
            ga__part_text(part->kind), part->name, r->worst_t, r->worst);
}

/* ---- Signals ---- */

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  ga__held_signal(b, part, i, "rests", out);
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  stop_eval v;
  eval_stop(&v, e, el, 0);
  *out = i == 0 ? 0 - force_of(&v, e, el->data) : holds(&v);
  return 0;
}

static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  stop_eval v;
  *out = (ga__limit){.words = i == 0 ? "rests at a limit" : "hits a limit", .sudden = i == 1, .needs_kin = 1};
  if (i > 1 || !e) return i <= 1;
  eval_stop(&v, e, el, 0);
  out->reached = i == 0 ? holds(&v) : hit_limit(&v, def_of(b, el), PASSED * (1 + fabs(v.at.value))) != 0;
  return 1;
}

const ga__element_type ga__rigid_stop_type = {
    .rank = GA__RANK_LAW,
    .no_accelerations = 1,
    .size = sizeof(rigid_stop),
    .create = {[GA__CREATE_OUTPUTS] = create, [GA__CREATE_FORCES] = resolve},
    .want = want,
    .bind = bind,
    .force = force,
    .k = k,
    .state = state,
    .jacobian = jacobian,
    .initial = initial,
    .powers = powers,
    .impacts = 1,
    .has_edges = ga__held_has_edges,
    .side = side,
    .switch_mode = switch_mode,
    .switch_row = ga__held_switch_row,
    .may_hide = may_hide,
    .hides = hides,
    .doubt = doubt,
    .limit = limit,
    .write_doubt = write_doubt,
    .n_signals = ga__held_n_signals,
    .signal = signal,
    .value = value,
};
