/* Dry friction on a coordinate or along a line, which sticks and slides. Its mode m is a state x, constant
 * while no switch is passed:
 *
 *   m = 0    sticks: k = ρ' = 0, force −ψ g, as long as |ψ| <= stiction · level
 *   m = ±1   slides: force −m level g, until ρ' changes its sign
 *   m = 2    not decided yet (before the first start): no force
 *   m = 3    at rest, and held by other constraints or frictions that stick: no force, as none is determined
 *
 * A friction that has reached its limit while others still hold the coordinate has m = ±1 without a speed.
 *
 * Unless it sticks, the row of k holds the velocity of a unit mass of its own, s, on which nothing else acts,
 * so that ψ = 0 and the pattern stays the same: k = s'. A weak spring and damper determine s in statics.
 *
 * With gradient g, curvature K and twists w of both nodes: ρ' = g · w, D_q ρ' = wᵀK, ρ'' = g · w' + wᵀK w. */
#include "expr/side.h"
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/law_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STICKS = 0, UNDECIDED = 2, HELD = 3 };
#define OWN_STIFFNESS 1.0 /* [N/m] of s */
#define OWN_DAMPING 2.0   /* [N s/m] */
/* [m/s] or [rad/s], and [m/s²] or [rad/s²]: smaller rates and accelerations are those of iterations; and
 * relative to the sum of their terms. */
#define STILL 1e-9

typedef struct dry_friction {
  int gauge, node[2], own; /* own: node of s */
  int psi;
  ga__input level;
  int pair[4], own_pair;
  int A[2], At[2], own_A, own_At; /* entries of k and its transpose, of both nodes and of s; −1: ground */
  int x_x;                        /* entry of the state's equation by itself */
  int port[2];
} dry_friction;

/* At the point of an evaluation. */
typedef struct friction_eval {
  int mode;
  double g[12], w[12], K[144];
  double rate, size; /* ρ', and the sum of the magnitudes of its terms */
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
  int marker;
  u->level.y = -1;
  ga_status status = ga__resolve_line(m, b, &m->part[part], def->a, def->b, def->coordinate, &u->gauge);
  if (!status) status = ga__node_add_scalar(m, b, part, &marker);
  if (!status) status = ga__label_psi(m, b, part, "sticking", &u->psi);
  if (!status) status = ga__resolve_input(m, b, &m->part[part], "level", &def->level, &u->level);
  if (status) return status;
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, u->gauge);
  u->own = GA__AT(b->marker, ga__marker, marker)->node;
  GA__AT(b->node, ga__node, u->own)->mass = 1;
  u->node[0] = GA__AT(b->marker, ga__marker, g->a)->node;
  u->node[1] = GA__AT(b->marker, ga__marker, g->b)->node;
  return GA_OK;
}

static void initial(const ga__mbs_model *b, const ga__element *el, double *x)
{
  (void)b;
  x[el->x] = UNDECIDED;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const dry_friction *u = el->data;
  ga_status status = ga__want_gauge(b, GA__AT(b->gauge, ga__gauge, u->gauge), 0);
  if (!status) status = ga__want_block(b, u->own, u->own, 0);
  for (int i = 0; i < 2 && !status && u->level.y >= 0; i++)
    if (u->node[i]) status = ga__want_port(&b->pattern, u->node[i], ga__column_y(b, u->level.y));
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  dry_friction *u = el->data;
  const int row = b->nv + b->n_lambda + u->psi, x = ga__column_x(b, el->x);
  for (int i = 0; i < 4; i++) u->pair[i] = ga__find_pair(&b->pattern, u->node[i / 2], u->node[i % 2]);
  u->own_pair = ga__find_pair(&b->pattern, u->own, u->own);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, u->node[i]);
    u->A[i] = u->At[i] = u->port[i] = -1;
    if (u->node[i] == 0) continue;
    u->A[i] = ga__own_rows(&b->pattern, node, row, 1, 0);
    u->At[i] = ga__own_rows(&b->pattern, node, row, 1, 1);
    if (u->A[i] < 0 || u->At[i] < 0) return GA_ERR_MEMORY;
    if (u->level.y >= 0) u->port[i] = ga__find_port(&b->pattern, u->node[i], ga__column_y(b, u->level.y));
  }
  u->own_A = ga__own_rows(&b->pattern, GA__AT(b->node, ga__node, u->own), row, 1, 0);
  u->own_At = ga__own_rows(&b->pattern, GA__AT(b->node, ga__node, u->own), row, 1, 1);
  u->x_x = ga__own_entry(&b->pattern, x, x);
  return u->own_A < 0 || u->own_At < 0 || u->x_x < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Evaluation ---- */

static int mode_of(double x)
{
  return x > 2.5 ? HELD : x > 1.5 || !(x >= -1.5) ? UNDECIDED : x > 0.5 ? 1 : x < -0.5 ? -1 : STICKS;
}

static void eval_gauge(friction_eval *v, const ga__eval *e, const ga__element *el, int curvature)
{
  const dry_friction *u = el->data;
  ga__gauge_eval at;
  v->mode = mode_of(e->p->x[el->x]);
  ga__gauge_eval_at(&at, GA__AT(e->b->gauge, ga__gauge, u->gauge), e->b->marker.at, e->kin);
  ga__gauge_gradient(v->g, &at);
  if (curvature) ga__gauge_curvature(v->K, &at);
  for (int i = 0; i < 2; i++) memcpy(v->w + 6 * i, e->kin[u->node[i]].w, 6 * sizeof(double));
  v->rate = v->size = 0;
  for (int i = 0; i < 12; i++) v->rate += v->g[i] * v->w[i], v->size += fabs(v->g[i] * v->w[i]);
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
  return v->mode == STICKS ? e->p->psi[u->psi] : slides(v) ? v->mode * v->level : 0;
}

static const ga__node *own_node(const ga__mbs_model *b, const dry_friction *u)
{
  return GA__AT(b->node, ga__node, u->own);
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const dry_friction *u = el->data;
  const ga__node *own = own_node(e->b, u);
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  if (status) return status;
  const double F = force_of(&v, e, u);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, u->node[i]);
    if (u->node[i]) ga__add_six(f + node->v, node, -F, v.g + 6 * i);
  }
  f[own->v] -= OWN_STIFFNESS * e->p->q[own->q] + OWN_DAMPING * e->p->v[own->v];
  if (v.mode != STICKS) f[own->v] -= e->p->psi[u->psi];
  return 0;
}

/* wᵀ K w */
static double curved_rate(const friction_eval *v)
{
  double sum = 0;
  for (int i = 0; i < 12; i++) sum += v->w[i] * ga__dot12(v->K + 12 * i, v->w);
  return sum;
}

static int k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const dry_friction *u = el->data;
  friction_eval v;
  eval_gauge(&v, e, el, order == 1);
  if (v.mode == STICKS)
    out[u->psi] = order == 0 ? v.rate : curved_rate(&v);
  else
    out[u->psi] = order == 0 ? e->p->v[own_node(e->b, u)->v] : 0;
  return 0;
}

/* The mode is constant; by this equation it is so in statics too. */
static int state(const ga__eval *e, const ga__element *el, double *s)
{
  s[el->x] = mode_of(e->p->x[el->x]) - e->p->x[el->x];
  return 0;
}

static void row_jacobian(const friction_eval *v, const ga__eval *e, const dry_friction *u,
                         const ga_jacobian *J)
{
  const int sticks = v->mode == STICKS;
  double slope[12] = {0};
  if (J->want & GA_WANT_D && !sticks) {
    J->D[u->own_A] += J->shift_v;
    J->D[u->own_At] += 1;
  }
  for (int i = 0; sticks && J->want & GA_WANT_Q && i < 12; i++)
    for (int j = 0; j < 12; j++) slope[j] += v->w[i] * v->K[12 * i + j];
  for (int i = 0; sticks && i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, u->node[i]);
    if (u->node[i] == 0) continue;
    if (J->want & GA_WANT_D) {
      ga__add_six(J->D + u->A[i], node, J->shift_v, v->g + 6 * i);
      ga__add_six(J->D + u->At[i], node, 1, v->g + 6 * i);
    }
    if (J->want & GA_WANT_Q) ga__add_six(J->Q + u->A[i], node, 1, slope + 6 * i);
  }
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  static const double unit[36] = {1};
  const dry_friction *u = el->data;
  const int forces = ga__wants_forces(J);
  friction_eval v;
  eval_gauge(&v, e, el, (J->want & GA_WANT_Q) != 0);
  row_jacobian(&v, e, u, J);
  if (!forces) return 0;
  const int status = ga__input_value(e, &u->level, &v.level);
  const int drives = v.level < 0;
  v.level = fmax(v.level, 0);
  if (status) return status;
  if (J->want & GA_WANT_Q) {
    ga__add_curvature(J->Q, e->b, u->pair, ga__gauge_tiles(GA__AT(e->b->gauge, ga__gauge, u->gauge)),
                      force_of(&v, e, u), v.K);
    ga__add_block(J->Q, e->b, u->own_pair, OWN_STIFFNESS, unit);
  }
  if (!(J->want & GA_WANT_D)) return 0;
  ga__add_block(J->D, e->b, u->own_pair, J->shift_v * OWN_DAMPING, unit);
  J->D[u->x_x] += 1;
  for (int i = 0; i < 2 && slides(&v) && !drives; i++)
    ga__add_port(J->D, e->b, u->port[i], v.mode, v.g + 6 * i);
  return 0;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  if (!status && v.mode != STICKS) out->lost += force_of(&v, e, el->data) * v.rate;
  return status;
}

/* ---- Modes ---- */

/* ρ''; 0 if it is only rounding. */
static double acceleration_of(const friction_eval *v, const ga__eval *e, const dry_friction *u)
{
  double sum = curved_rate(v), size = fabs(sum);
  for (int i = 0; i < 12; i++) {
    const double term = v->g[i] * e->kin[u->node[i / 6]].acc[i % 6];
    sum += term;
    size += fabs(term);
  }
  return fabs(sum) <= STILL * (1 + size) ? 0 : sum;
}

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
  if (v.mode == STICKS && fabs(e->p->psi[u->psi]) > largest_hold(e, el, &v))
    wanted = sign_of(e->p->psi[u->psi]);
  else if (v.mode == HELD && fabs(v.rate) > STILL * (1 + v.size))
    wanted = sign_of(v.rate);
  else if (slides(&v) && v.mode * v.rate < -STILL && v.mode * acceleration_of(&v, e, u) < 0)
    wanted = STICKS;
  ga__mix_side(out, (unsigned)(wanted + 1));
  ga__mix_side(out, v.level > 0); /* a corner where it is cut off */
  return 0;
}

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

/* Before a start: by the speed, if there is any. Behind an edge it has passed 0 if it has the wrong sign. */
static int mode_before(const friction_eval *v, ga_switch_when when)
{
  if (slides(v) && v->mode * v->rate > (when == GA_SWITCH_PASSED ? -0.5 * STILL : 0)) return v->mode;
  if (when == GA_SWITCH_PASSED && (slides(v) || v->mode == STICKS)) return STICKS;
  return fabs(v->rate) <= STILL * (1 + v->size) ? STICKS : sign_of(v->rate);
}

/* After a start. Where others hold the coordinate too, forces are shared arbitrarily: it leaves them to the
 * others, and slides if these move it, as drives do. It sticks again if they let go. */
static int mode_after(const ga__eval *e, const ga__element *el, const friction_eval *v, int shared,
                      double *excess)
{
  const dry_friction *u = el->data;
  const double psi = e->p->psi[u->psi], most = largest_hold(e, el, v), acc = acceleration_of(v, e, u);
  *excess = DBL_MAX;
  if (v->mode == STICKS && shared) return acc != 0 ? sign_of(acc) : HELD;
  if (v->mode == STICKS && fabs(psi) > most) {
    if (most > 0) *excess = fabs(psi) / most - 1;
    return sign_of(psi);
  }
  if (v->mode == HELD && acc != 0) return STICKS;
  if (slides(v) && v->mode * v->rate <= STILL * (1 + v->size) && v->mode * acc < 0) return STICKS;
  return v->mode;
}

static int switch_mode(const ga__eval *e, const ga__element *el, ga_switch_when when,
                       const unsigned char *shared, double *x, double *excess)
{
  const dry_friction *u = el->data;
  friction_eval v;
  int mode;
  if (when == GA_SWITCH_STARTED) {
    if (eval_friction(&v, e, el, 1)) return -1;
    mode = mode_after(e, el, &v, shared && shared[u->psi], excess);
  } else {
    eval_gauge(&v, e, el, 0);
    mode = mode_before(&v, when);
  }
  *x = mode;
  return mode != v.mode;
}

/* ---- Signals: force, positive where it makes the coordinate grow; 1 while it sticks ---- */

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 2;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  const int angle = el && b->gauge.n > 0 && ga__gauge_is_angle(b, ((const dry_friction *)el->data)->gauge);
  if (i == 0)
    ga__signal_set(out, "force", ga__motion_unit(angle, GA_UNIT_FORCE), GA__PROBE_ELEMENT, 0);
  else
    ga__signal_set(out, "sticks", "1", GA__PROBE_ELEMENT, 1);
  out->probe.owner = part;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  friction_eval v;
  const int status = eval_friction(&v, e, el, 0);
  *out = i == 0 ? 0 - force_of(&v, e, el->data) : v.mode == STICKS || v.mode == HELD;
  return status;
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  const dry_friction *u = el->data;
  return u->level.y != y ? "" : ga__motion_unit(ga__gauge_is_angle(b, u->gauge), GA_UNIT_FORCE);
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
    .has_edges = has_edges,
    .side = side,
    .switch_mode = switch_mode,
    .get_input = get_input,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .unit_of_input = unit_of_input,
};
