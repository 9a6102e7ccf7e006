/* Dry friction on a coordinate or along a line, which sticks and slides. Its mode m is a state x, constant
 * while no switch is passed:
 *
 *   m = 0    sticks: k = ρ' = 0, force −ψ g, as long as |ψ| <= stiction · level
 *   m = ±1   slides: force −m level g, until ρ' changes its sign
 *   m = 2    not decided yet (before the first start): no force
 *   m = 3    at rest, and held by other constraints or frictions that stick: no force, as none is determined
 *
 * A friction that has reached its limit while others still hold the coordinate has m = ±1 without a speed. */
#include "expr/side.h"
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/held.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STICKS = 0, UNDECIDED = 2, HELD = 3 };
typedef struct dry_friction {
  ga__held held;
  ga__input level;
  int x_x; /* entry of the state's equation by itself */
  int port[2];
} dry_friction;

#define PASSES_BY 0.05 /* [m/s] or [rad/s]: located speeds of 0 are never off by this much */

/* At the point of an evaluation. */
typedef struct friction_eval {
  ga__held_eval at;
  int mode;
  double level;
} friction_eval;

static const ga_dry_friction_def *def_of(const ga__mbs_model *b, const ga__element *el)
{
  return b->m->part[el->part].def;
}

/* ---- Building ---- */

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  return ga__element_add(m, b, part, &ga__dry_friction_type, 1, 0) ? GA_OK : GA_ERR_MEMORY;
}

static ga_status resolve(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_dry_friction_def *def = m->part[part].def;
  dry_friction *u = ga__element_of(b, part)->data;
  u->level.y = -1;
  ga_status status = ga__resolve_line(m, b, &m->part[part], def->a, def->b, def->coordinate, &u->held.gauge);
  if (!status) status = ga__held_create(m, b, part, "sticking", &u->held);
  return status ? status : ga__resolve_input(m, b, &m->part[part], "level", &def->level, &u->level);
}

static void initial(const ga__mbs_model *b, const ga__element *el, double *x)
{
  (void)b;
  x[el->x] = UNDECIDED;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const dry_friction *u = el->data;
  ga_status status = ga__held_want(b, &u->held);
  for (int i = 0; i < 2 && !status && u->level.y >= 0; i++)
    if (u->held.node[i]) status = ga__want_port(&b->pattern, u->held.node[i], ga__column_y(b, u->level.y));
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  dry_friction *u = el->data;
  const int x = ga__column_x(b, el->x);
  const ga_status status = ga__held_bind(b, &u->held);
  for (int i = 0; i < 2; i++)
    u->port[i] = u->level.y >= 0 && u->held.node[i]
                     ? ga__find_port(&b->pattern, u->held.node[i], ga__column_y(b, u->level.y))
                     : -1;
  u->x_x = ga__own_entry(&b->pattern, x, x);
  return status || u->x_x < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Evaluation ---- */

static int mode_of(double x)
{
  return x > 2.5 ? HELD : x > 1.5 || !(x >= -1.5) ? UNDECIDED : x > 0.5 ? 1 : x < -0.5 ? -1 : STICKS;
}

static void eval_gauge(friction_eval *v, const ga__eval *e, const ga__element *el, int curvature)
{
  v->mode = mode_of(e->p->x[el->x]);
  ga__held_eval_at(&v->at, e, &((const dry_friction *)el->data)->held, curvature);
}

/* A level below 0 would drive: it counts as 0. */
static int eval_friction(friction_eval *v, const ga__eval *e, const ga__element *el, int curvature)
{
  const dry_friction *u = el->data;
  eval_gauge(v, e, el, curvature);
  const int status = ga__input_value(e, &u->level, &v->level);
  v->level = fmax(v->level, 0);
  return status;
}

static int slides(const friction_eval *v)
{
  return v->mode == 1 || v->mode == -1;
}

/* Against growing ρ. */
static double force_of(const friction_eval *v, const ga__eval *e, const dry_friction *u)
{
  return v->mode == STICKS ? e->p->psi[u->held.psi] : slides(v) ? v->mode * v->level : 0;
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const dry_friction *u = el->data;
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  if (!status) ga__held_force(&v.at, e, &u->held, v.mode == STICKS, force_of(&v, e, u), f);
  return status;
}

static int k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const dry_friction *u = el->data;
  friction_eval v;
  eval_gauge(&v, e, el, order == 1);
  ga__held_row(&v.at, e, &u->held, v.mode == STICKS, &(ga__held_aim){0}, out, order);
  return 0;
}

/* The mode is constant; by this equation it is so in statics too. */
static int state(const ga__eval *e, const ga__element *el, double *s)
{
  s[el->x] = mode_of(e->p->x[el->x]) - e->p->x[el->x];
  return 0;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const dry_friction *u = el->data;
  friction_eval v;
  eval_gauge(&v, e, el, (J->want & GA_WANT_Q) != 0);
  ga__held_row_jacobian(&v.at, e, &u->held, v.mode == STICKS, 0, J);
  if (!ga__wants_forces(J)) return 0;
  const int status = ga__input_value(e, &u->level, &v.level);
  const int drives = v.level < 0;
  v.level = fmax(v.level, 0);
  if (status) return status;
  ga__held_force_jacobian(&v.at, e, &u->held, force_of(&v, e, u), J);
  if (!(J->want & GA_WANT_D)) return 0;
  J->D[u->x_x] += 1;
  for (int i = 0; i < 2 && slides(&v) && !drives; i++)
    ga__add_port(J->D, e->b, u->port[i], v.mode, v.at.g + 6 * i);
  return 0;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  if (!status && v.mode != STICKS) out->lost += force_of(&v, e, el->data) * v.at.rate;
  return status;
}

/* ---- Modes ---- */

static int sign_of(double x)
{
  return x > 0 ? 1 : -1;
}

static double largest_hold(const ga__eval *e, const ga__element *el, const friction_eval *v)
{
  return def_of(e->b, el)->stiction * v->level;
}

/* The mode that it should have. One that begins to slide has no speed yet: it has come to rest only if it is
 * decelerated too. */
static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const dry_friction *u = el->data;
  friction_eval v;
  const int status = eval_friction(&v, e, el, 1);
  int wanted = v.mode;
  if (status) return status;
  if (v.mode == STICKS && fabs(e->p->psi[u->held.psi]) > largest_hold(e, el, &v))
    wanted = sign_of(e->p->psi[u->held.psi]);
  else if (v.mode == HELD && fabs(v.at.rate) > GA__STILL * (1 + v.at.size))
    wanted = sign_of(v.at.rate);
  else if (slides(&v) && v.mode * v.at.rate < -GA__STILL &&
           v.mode * ga__held_acceleration(&v.at, e, &u->held) < 0)
    wanted = STICKS;
  ga__mix_side(out, (unsigned)(wanted + 1));
  ga__mix_side(out, v.level > 0); /* a corner where it is cut off */
  return 0;
}

/* Before a start: by the speed, if there is any. Behind an edge it has passed 0 if it has the wrong sign. */
static int mode_before(const friction_eval *v, ga_switch_when when)
{
  if (slides(v) && v->mode * v->at.rate > (when == GA_SWITCH_PASSED ? -0.5 * GA__STILL : 0)) return v->mode;
  if (when == GA_SWITCH_PASSED && (slides(v) || v->mode == STICKS)) return STICKS;
  return fabs(v->at.rate) <= GA__STILL * (1 + v->at.size) ? STICKS : sign_of(v->at.rate);
}

/* After a start. Where others hold the coordinate too, forces are shared arbitrarily: it leaves them to the
 * others, and slides if these move it, as drives do. It sticks again if they let go. */
static int mode_after(const ga__eval *e, const ga__element *el, const friction_eval *v, int shared,
                      double *excess)
{
  const dry_friction *u = el->data;
  const double psi = e->p->psi[u->held.psi], most = largest_hold(e, el, v),
               acc = ga__held_acceleration(&v->at, e, &u->held);
  *excess = DBL_MAX;
  if (v->mode == STICKS && shared) return acc != 0 ? sign_of(acc) : HELD;
  if (v->mode == STICKS && fabs(psi) > most) {
    if (most > 0) *excess = fabs(psi) / most - 1;
    return sign_of(psi);
  }
  if (v->mode == HELD && acc != 0) return STICKS;
  if (slides(v) && v->mode * v->at.rate < -GA__STILL * (1 + v->at.size)) return -v->mode; /* by an impact */
  if (slides(v) && v->mode * v->at.rate <= GA__STILL * (1 + v->at.size) && v->mode * acc < 0) return STICKS;
  return v->mode;
}

/* The speed has passed 0 by far just behind an edge: friction stops the motion within the rounding of times.
 */
static int fail_too_strong(const ga__eval *e, const ga__element *el, const friction_eval *v)
{
  const char *unit =
      ga__motion_unit(ga__gauge_is_angle(e->b, ((const dry_friction *)el->data)->held.gauge), GA_UNIT_RATE);
  ga__refuse_part(e->work->ctx, &e->m->part[el->part], GA_ERR_INCONSISTENT, GA_REASON_FRICTION_TOO_STRONG,
                  (ga__facts){.field = "level",
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({v->at.rate, unit})});
  return -1;
}

static int switch_mode(const ga__eval *e, const ga__element *el, ga_switch_when when,
                       const unsigned char *shared, double *x, double *excess)
{
  const dry_friction *u = el->data;
  friction_eval v;
  int mode;
  if (when == GA_SWITCH_STARTED) {
    if (eval_friction(&v, e, el, 1)) return -1;
    mode = mode_after(e, el, &v, shared && shared[u->held.psi], excess);
  } else {
    eval_gauge(&v, e, el, 0);
    mode = mode_before(&v, when);
    if (when == GA_SWITCH_PASSED && slides(&v) && mode == STICKS && fabs(v.at.rate) > PASSES_BY)
      return fail_too_strong(e, el, &v);
  }
  *x = mode;
  return mode != v.mode;
}

/* ---- Signals: force, positive where it makes the coordinate grow; 1 while it sticks ---- */

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  ga__held_signal(b, part, i, "sticks", out);
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  *out = i == 0 ? 0 - force_of(&v, e, el->data) : v.mode == STICKS || v.mode == HELD;
  return status;
}

static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  double sticks = 0;
  (void)b;
  *out = (ga__limit){.words = "sticks", .needs_kin = 1};
  if (i > 0 || !e) return i == 0;
  out->reached = value(e, el, 1, &sticks) == 0 && sticks > 0;
  return 1;
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  const dry_friction *u = el->data;
  return u->level.y != y ? "" : ga__motion_unit(ga__gauge_is_angle(b, u->held.gauge), GA_UNIT_FORCE);
}

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  *in = &((dry_friction *)el->data)->level;
  *f = NULL;
  return i == 0;
}

const ga__element_type ga__dry_friction_type = {
    .rank = GA__RANK_LAW,
    .no_accelerations = 1,
    .size = sizeof(dry_friction),
    .create = {[GA__CREATE_OUTPUTS] = create, [GA__CREATE_FORCES] = resolve},
    .want = want,
    .bind = bind,
    .force = force,
    .k = k,
    .state = state,
    .jacobian = jacobian,
    .initial = initial,
    .powers = powers,
    .has_edges = ga__held_has_edges,
    .side = side,
    .switch_mode = switch_mode,
    .switch_row = ga__held_switch_row,
    .get_input = get_input,
    .n_signals = ga__held_n_signals,
    .signal = signal,
    .value = value,
    .limit = limit,
    .unit_of_input = unit_of_input,
};
