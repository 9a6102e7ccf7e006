/* Tyres: a wheel with centre C and axis n touches a road whose tangent plane has the point S and the normal
 * e.
 *
 *   e_x, e_y, ρ, P                                                         contact, in tyre_contact.c
 *   δ = R − a − ρ + F₀/k                                                    penetration, with the preload F₀
 *   F_z = k δ − c s(δ) e·(v_C − v_road),   never negative                   s: 0 at δ = 0, 1 from δ_c on
 *   v_s = v_C + ω × (P − C) − v_road,  V = √((e_x·(v_C − v_road))² + V₀²)
 *   κ = −e_x·v_s/V,  λ = −e_y·v_s/V                                         slips; V₀: no singularity at rest
 *
 * With relaxation lengths L the slips are states:  x' = W/L (κ − x),  W = √(V² + v_s²); at rest, where slips
 * are small, x is a displacement by L, so that the tyre holds like a spring. Off the road they vanish.
 *
 * Everything is computed with derivatives by poses, twists, states and time (dual.h). */
#include "mbs/tyre_law.h"
#include "mbs/channel.h"
#include "mbs/doubt.h"
#include "mbs/law_impl.h"
#include "mbs/hidden.h"
#include "mbs/tyre_contact.h"

#include "expr/side.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Variables: pose and twist of the wheel's node, states, time, pose and twist of the road's node. */
enum {
  POSE = 0,
  TWIST = 6,
  STATE = 12,
  TIME = 14,
  ROAD_POSE = 15,
  ROAD_TWIST = 21,
  ALL = 27,
  ON_GROUND = 15
};
enum { OFF_ROAD = 0, ON_ROAD, WOULD_PULL };

typedef struct tyre {
  const ga_tyre_def *def;
  const ga__road *road;
  int marker, node[2]; /* nodes of wheel and road; node 0 is the ground */
  int n;               /* variables */
  int lag[2];          /* numbers of the states of slips along and across among its states, −1: none */
  int pair[2][2], port[2][2], row[2][2],
      own[2][2]; /* nodes by nodes; nodes by states; states by nodes, by states */
} tyre;

/* ---- Contact ---- */

typedef struct contact {
  ga__dual t, vC[3], omega[3];
  ga__wheel wheel;
  ga__road_frame frame;
  ga__touch at;
  ga__dual delta;
  ga__dual vz, vx, vs[2], V;   /* relative to the road; vs: along e_x, e_y */
  ga__dual spin, turn;         /* [rad/s] against the road, about e_y and e */
  ga__dual slip[2], lagged[2]; /* κ, λ, and what the law is given */
  ga__dual Fz, F[3], M[3];     /* M at P */
  ga__tyre_forces along;
  double at_node[2][3]; /* origins of the nodes */
  int phase;
} contact;

/* The velocity of a point of a node: v + ω × (p − x). */
static void velocity_at(ga__dual out[3], ga__dual omega[3], const ga__kin *kin, int n, int pose, int twist,
                        const ga__dual p[3])
{
  ga__dual arm[3], turn[3];
  for (int i = 0; i < 3; i++) {
    const ga__dual x = ga__dual_variable(n, pose < 0 ? -1 : pose + i, kin->x[i]);
    arm[i] = ga__dual_sub(&p[i], &x);
    omega[i] = ga__dual_variable(n, twist < 0 ? -1 : twist + 3 + i, kin->w[3 + i]);
    out[i] = ga__dual_variable(n, twist < 0 ? -1 : twist + i, kin->w[i]);
  }
  ga__dual_cross(turn, omega, arm);
  for (int i = 0; i < 3; i++) out[i] = ga__dual_add(&out[i], &turn[i]);
}

static void wheel_at(contact *c, const ga__eval *e, const tyre *u, int n)
{
  ga__frame frame;
  const int column = u->def->axis == GA_TYRE_AXIS_Z ? 2 : 1;
  ga__frame_at(&frame, GA__AT(e->b->marker, ga__marker, u->marker), e->kin);
  const double axis[3] = {frame.A[column], frame.A[3 + column], frame.A[6 + column]};
  c->wheel.radius = u->def->radius, c->wheel.carcass = u->def->carcass, c->wheel.sphere = 0;
  ga__dual_turning(c->wheel.axis, n, POSE + 3, axis);
  ga__dual_turning(c->wheel.C, n, POSE + 3, frame.r);
  for (int i = 0; i < 3; i++) {
    c->wheel.C[i].v = frame.p[i];
    if (n > 0) c->wheel.C[i].d[POSE + i] = 1;
  }
  velocity_at(c->vC, c->omega, &e->kin[u->node[0]], n, POSE, TWIST, c->wheel.C);
}

/* [m] radius − ρ, without the preload. */
static double depth_of(const contact *c, const tyre *u)
{
  return c->delta.v - u->def->preload / u->def->stiffness;
}

/* Where there is no contact that makes sense: the wheel lies flat, or its centre is below the road. */
static ga_reason fault_of(const contact *c, const tyre *u)
{
  if (!(c->at.m.v > GA__FLAT)) return GA_REASON_WHEEL_LIES_FLAT;
  return depth_of(c, u) < u->def->radius ? GA_REASON_NONE : GA_REASON_WHEEL_BELOW_ROAD;
}

/* Says so, and asks for a smaller step. */
static int fail_contact(const ga__eval *e, const ga__element *el, const contact *c)
{
  const tyre *u = el->data;
  if (!e->work) return 1;
  ga__refuse_part(e->work->ctx, &e->m->part[el->part], GA_RETRY_NAN, fault_of(c, u),
                  (ga__facts){.name = u->def->road,
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({depth_of(c, u) - u->def->radius, "m"})});
  return 1;
}

static int find_contact(contact *c, const ga__eval *e, const ga__element *el, int n)
{
  const tyre *u = el->data;
  const int moves = u->node[1] != 0;
  c->t = ga__dual_variable(n, TIME, e->p ? e->p->t : 0);
  for (int i = 0; i < 2; i++) memcpy(c->at_node[i], e->kin[u->node[i]].x, sizeof c->at_node[i]);
  wheel_at(c, e, u, n);
  ga__road_frame_at(&c->frame, e, u->road, n, moves ? ROAD_POSE : -1);
  const int status = ga__touch_find(&c->at, &c->wheel, e, u->road, &c->frame, &c->t);
  if (status) return status;
  if (!(c->at.m.v > GA__FLAT)) return fail_contact(e, el, c);
  c->delta =
      ga__dual_linear(&c->at.rho, -1, u->def->radius - u->def->carcass + u->def->preload / u->def->stiffness);
  return fault_of(c, u) == GA_REASON_NONE ? 0 : fail_contact(e, el, c);
}

/* ---- Slip and forces ---- */

static void find_slip(contact *c, const ga__eval *e, const tyre *u)
{
  const int moves = u->node[1] != 0, n = c->t.n;
  ga__dual vr[3], vc[3], vp[3], arm[3], turn[3], omega[3];
  velocity_at(vr, omega, &e->kin[u->node[1]], n, moves ? ROAD_POSE : -1, moves ? ROAD_TWIST : -1, c->at.P);
  ga__dual_along(vr, vr, &c->at.plane.rise, c->frame.axis[2]);
  ga__dual_minus(vc, c->vC, vr);
  ga__dual_minus(arm, c->at.P, c->wheel.C);
  ga__dual_cross(turn, c->omega, arm);
  for (int i = 0; i < 3; i++) vp[i] = ga__dual_add(&vc[i], &turn[i]);
  const ga__dual floor = ga__dual_const(n, u->def->speed);
  c->vz = ga__dual_dot(c->at.plane.normal, vc);
  c->vx = ga__dual_dot(c->at.ex, vc);
  c->vs[0] = ga__dual_dot(c->at.ex, vp);
  c->vs[1] = ga__dual_dot(c->at.ey, vp);
  c->V = ga__dual_hypot(&c->vx, &floor);
  ga__dual_minus(omega, c->omega, omega);
  c->spin = ga__dual_dot(c->at.ey, omega);
  c->turn = ga__dual_dot(c->at.plane.normal, omega);
  for (int i = 0; i < 2; i++) {
    const ga__dual q = ga__dual_div(&c->vs[i], &c->V);
    c->slip[i] = ga__dual_linear(&q, -1, 0);
  }
}

/* s(δ) = u² (3 − 2u), u = δ/δ_c: damping sets in with contact, without a jump. */
static void find_load(contact *c, const tyre *u)
{
  const double k = u->def->stiffness, depth = u->def->damping_depth, w = c->delta.v / depth;
  c->phase = c->delta.v > 0 ? ON_ROAD : OFF_ROAD;
  c->Fz = ga__dual_const(c->t.n, 0);
  if (c->phase == OFF_ROAD) return;
  const ga__dual s = w < 1 ? ga__dual_chain(&c->delta, w * w * (3 - 2 * w), 6 * w * (1 - w) / depth)
                           : ga__dual_const(c->t.n, 1);
  const ga__dual damped = ga__dual_mul(&s, &c->vz), elastic = ga__dual_linear(&c->delta, k, 0),
                 lost = ga__dual_linear(&damped, u->def->damping, 0);
  const ga__dual load = ga__dual_sub(&elastic, &lost);
  if (load.v > 0)
    c->Fz = load;
  else
    c->phase = WOULD_PULL;
}

static int find_forces(contact *c, const ga__eval *e, const ga__element *el)
{
  const tyre *u = el->data;
  find_slip(c, e, u);
  find_load(c, u);
  for (int i = 0; i < 2; i++)
    c->lagged[i] = u->lag[i] < 0
                       ? c->slip[i]
                       : ga__dual_variable(c->t.n, STATE + i, e->p->x ? e->p->x[el->x + u->lag[i]] : 0);
  const ga__dual none = ga__dual_const(c->t.n, 0);
  c->along = (ga__tyre_forces){none, none, none, none, none};
  for (int i = 0; i < 3; i++) c->F[i] = c->M[i] = none;
  if (c->phase != ON_ROAD) return 0;
  ga__tyre_slip in = {.slip = {c->lagged[0], c->lagged[1]},
                      .camber = c->at.camber,
                      .load = c->Fz,
                      .vx = c->vx,
                      .V = c->V,
                      .spin = c->spin,
                      .turn = c->turn,
                      .distance = ga__dual_linear(&c->at.rho, 1, u->def->carcass)};
  const int status = ga__road_friction(&in.mu, e, u->road, &c->frame, &c->t, c->at.P);
  if (status) return status;
  ga__tyre_law(u->def, &in, &c->along);
  ga__dual_along(c->F, c->F, &c->along.Fx, c->at.ex);
  ga__dual_along(c->F, c->F, &c->along.Fy, c->at.ey);
  ga__dual_along(c->F, c->F, &c->Fz, c->at.plane.normal);
  ga__dual_along(c->M, c->M, &c->along.Mx, c->at.ex);
  ga__dual_along(c->M, c->M, &c->along.My, c->at.ey);
  ga__dual_along(c->M, c->M, &c->along.Mz, c->at.plane.normal);
  return 0;
}

static int eval_tyre(contact *c, const ga__eval *e, const ga__element *el, int n)
{
  const int status = find_contact(c, e, el, n);
  return status ? status : find_forces(c, e, el);
}

/* Force and moment about the origin of a node: of the wheel, and the opposite on the road. */
static void wrench_on(ga__dual six[6], const contact *c, int which)
{
  const int pose = which ? ROAD_POSE : POSE;
  const double sign = which ? -1 : 1;
  ga__dual arm[3];
  for (int i = 0; i < 3; i++) {
    const ga__dual x = ga__dual_variable(c->t.n, pose + i, c->at_node[which][i]);
    arm[i] = ga__dual_sub(&c->at.P[i], &x);
    six[i] = ga__dual_linear(&c->F[i], sign, 0);
  }
  ga__dual_cross(six + 3, arm, six);
  for (int i = 0; i < 3; i++)
    ga__dual_set_chain2(&six[3 + i], &six[3 + i], &c->M[i], six[3 + i].v + sign * c->M[i].v, 1, sign);
}

/* x' = W/L (κ − x), W = √(V² + v_s²); off the road W/L (0 − x). */
static ga__dual lag_rate(const contact *c, const tyre *u, int i)
{
  ga__dual W = ga__dual_hypot(&c->vs[0], &c->vs[1]);
  W = ga__dual_hypot(&W, &c->V);
  ga__dual gap = ga__dual_linear(&c->lagged[i], -1, 0);
  if (c->phase == ON_ROAD) gap = ga__dual_add(&gap, &c->slip[i]);
  gap = ga__dual_mul(&W, &gap);
  return ga__dual_linear(&gap, 1 / u->def->relaxation[i], 0);
}

/* ---- Building ---- */

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static ga_status refuse(const ga_machine *m, int part, ga_reason reason, ga__facts facts)
{
  return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, reason, facts);
}

static ga_status check_frames(ga_machine *m, ga__mbs_model *b, int part, const tyre *u)
{
  const ga__node *wheel = node_at(b, u->node[0]);
  if (!wheel->rigid || wheel->carried)
    return refuse(m, part, GA_REASON_CANNOT_ROLL,
                  (ga__facts){.field = "wheel",
                              .name = u->def->wheel,
                              .other = ga__part_text(m->part[wheel->part].kind),
                              .expected = "a wheel is a rigid body"});
  if (u->node[0] == u->node[1])
    return refuse(m, part, GA_REASON_SAME_BODY, (ga__facts){.name = u->def->wheel, .other = u->def->road});
  return GA_OK;
}

static ga_status check_start(ga_machine *m, ga__mbs_model *b, const ga__element *el)
{
  const tyre *u = el->data;
  const ga__eval e = {m, b, NULL, b->kin, NULL};
  contact c;
  for (int i = 0; i < 2; i++) ga__kin_initial(b, u->node[i], b->kin);
  if (u->road->height.expr) return GA_OK; /* needs work space: found when the start is computed */
  if (!find_contact(&c, &e, el, 0)) return GA_OK;
  return refuse(m, el->part, fault_of(&c, u),
                (ga__facts){.name = u->def->road, GA__NUMBERS({depth_of(&c, u) - u->def->radius, "m"})});
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_tyre_def *d = m->part[part].def;
  const int n_x = (d->relaxation[0] > 0) + (d->relaxation[1] > 0);
  const ga__element *el = ga__element_add(m, b, part, &ga__tyre_type, n_x, 0);
  if (!el) return GA_ERR_MEMORY;
  tyre *u = el->data;
  u->def = d;
  u->lag[0] = d->relaxation[0] > 0 ? 0 : -1;
  u->lag[1] = d->relaxation[1] > 0 ? n_x - 1 : -1;
  ga_status status = ga__resolve_frame(m, b, &m->part[part], "wheel", d->wheel, &u->marker);
  if (!status) status = ga__resolve_road(m, b, &m->part[part], d->road, &u->road);
  if (status) return status;
  u->node[0] = GA__AT(b->marker, ga__marker, u->marker)->node;
  u->node[1] = u->road->node;
  u->n = u->node[1] ? ALL : ON_GROUND;
  status = check_frames(m, b, part, u);
  return status ? status : check_start(m, b, el);
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const tyre *u = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < 2 && !status; i++) {
    if (!u->node[i]) continue;
    for (int j = 0; j < 2 && !status; j++)
      if (u->node[j]) status = ga__want_block(b, u->node[i], u->node[j], 0);
    for (int j = 0; j < el->n_x && !status; j++)
      status = ga__want_port(&b->pattern, u->node[i], ga__column_x(b, el->x + j));
  }
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  tyre *u = el->data;
  ga__pattern *pt = &b->pattern;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      u->pair[i][j] = u->node[i] && u->node[j] ? ga__find_pair(pt, u->node[i], u->node[j]) : -1;
      if (j >= el->n_x) continue;
      const int x = ga__column_x(b, el->x + j);
      u->port[i][j] = u->node[i] ? ga__find_port(pt, u->node[i], x) : -1;
      u->row[j][i] = u->node[i] ? ga__own_rows(pt, node_at(b, u->node[i]), x, 1, 0) : 0;
      if (u->row[j][i] < 0) return GA_ERR_MEMORY;
      if (i >= el->n_x) continue;
      u->own[j][i] = ga__own_entry(pt, x, ga__column_x(b, el->x + i));
      if (u->own[j][i] < 0) return GA_ERR_MEMORY;
    }
  return GA_OK;
}

/* ---- Evaluation ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const tyre *u = el->data;
  contact c;
  const int status = eval_tyre(&c, e, el, 0);
  if (status) return status;
  for (int i = 0; i < 2; i++) {
    ga__dual six[6];
    double w[6];
    if (!u->node[i]) continue;
    wrench_on(six, &c, i);
    for (int k = 0; k < 6; k++) w[k] = six[k].v;
    ga__add_six(f + node_at(e->b, u->node[i])->v, node_at(e->b, u->node[i]), 1, w);
  }
  return 0;
}

static int state(const ga__eval *e, const ga__element *el, double *s)
{
  const tyre *u = el->data;
  contact c;
  if (el->n_x == 0) return 0;
  const int status = eval_tyre(&c, e, el, 0);
  if (status) return status;
  for (int i = 0; i < 2; i++)
    if (u->lag[i] >= 0) s[el->x + u->lag[i]] = lag_rate(&c, u, i).v;
  return 0;
}

static const int FIRST_POSE[2] = {POSE, ROAD_POSE}, FIRST_TWIST[2] = {TWIST, ROAD_TWIST};

/* Residuals have −f: rows of node i. */
static void add_wrench(const ga__eval *e, const ga__element *el, const contact *c, int i, ga_jacobian *J)
{
  const tyre *u = el->data;
  ga__dual six[6];
  wrench_on(six, c, i);
  for (int j = 0; j < 2; j++) {
    double Q[36], D[36];
    if (!u->node[j]) continue;
    for (int k = 0; k < 36; k++) {
      Q[k] = six[k / 6].d[FIRST_POSE[j] + k % 6];
      D[k] = six[k / 6].d[FIRST_TWIST[j] + k % 6];
    }
    if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->pair[i][j], -1, Q);
    if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, u->pair[i][j], -J->shift_v, D);
  }
  for (int k = 0; k < 2 && J->want & GA_WANT_D; k++) {
    double by[6];
    if (u->lag[k] < 0) continue;
    for (int r = 0; r < 6; r++) by[r] = six[r].d[STATE + k];
    ga__add_port(J->D, e->b, u->port[i][u->lag[k]], -1, by);
  }
}

/* Rows −s of its states. */
static void add_states(const ga__eval *e, const ga__element *el, const contact *c, ga_jacobian *J)
{
  const tyre *u = el->data;
  for (int k = 0; k < 2; k++) {
    if (u->lag[k] < 0) continue;
    const ga__dual rate = lag_rate(c, u, k);
    for (int j = 0; j < 2; j++) {
      const ga__node *node = node_at(e->b, u->node[j]);
      if (u->lag[j] >= 0 && J->want & GA_WANT_D) J->D[u->own[u->lag[k]][u->lag[j]]] -= rate.d[STATE + j];
      if (!u->node[j]) continue;
      if (J->want & GA_WANT_Q) ga__add_six(J->Q + u->row[u->lag[k]][j], node, -1, rate.d + FIRST_POSE[j]);
      if (J->want & GA_WANT_D)
        ga__add_six(J->D + u->row[u->lag[k]][j], node, -J->shift_v, rate.d + FIRST_TWIST[j]);
    }
  }
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const tyre *u = el->data;
  contact c;
  if (!ga__wants_forces(J)) return 0;
  const int status = eval_tyre(&c, e, el, u->n);
  if (status) return status;
  for (int i = 0; i < 2; i++)
    if (u->node[i]) add_wrench(e, el, &c, i, J);
  add_states(e, el, &c, J);
  return 0;
}

/* ½ m k δ²: at a constant camber δ' = −e·(v_C − v_road)/m, so that the load alone gives back all of it. What
 * changes of camber add, ½ k δ² m', is work of the load at P that no energy of position has: it is counted as
 * lost, or as given back. */
static ga__dual stored_by(const contact *c, const tyre *u)
{
  const ga__dual square = ga__dual_mul(&c->delta, &c->delta), leaning = ga__dual_mul(&square, &c->at.m);
  return ga__dual_linear(&leaning, 0.5 * u->def->stiffness, 0);
}

/* Power P of both wrenches; what is stored, and its rate by the derivatives; what a surface that rises by
 * itself puts in; the rest is lost. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const tyre *u = el->data;
  contact c;
  double power = 0, in = 0;
  const int status = eval_tyre(&c, e, el, u->n);
  if (status || c.phase == OFF_ROAD) return status;
  const ga__dual stored = stored_by(&c, u);
  double rate = stored.d[TIME];
  for (int i = 0; i < 2; i++) {
    ga__dual six[6];
    const double *w = e->kin[u->node[i]].w;
    if (!u->node[i]) continue;
    wrench_on(six, &c, i);
    for (int k = 0; k < 6; k++) power += six[k].v * w[k], rate += stored.d[FIRST_POSE[i] + k] * w[k];
  }
  for (int k = 0; k < 3; k++) in += c.F[k].v * c.at.plane.rise.v * c.frame.axis[2][k].v;
  out->potential += stored.v;
  out->in += in;
  out->fading += c.phase == WOULD_PULL ? stored.v : 0;
  out->lost += in - power - rate;
  return 0;
}

/* ---- Signals ---- */

enum {
  FX,
  FY,
  FZ,
  SLIP,
  SLIP_ANGLE,
  CAMBER,
  X,
  Y,
  Z,
  PENETRATION,
  LAGGED_X,
  LAGGED_Y,
  MX,
  MY,
  MZ,
  TURN_SLIP,
  N_SIGNALS
};

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return N_SIGNALS;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const struct {
    const char *name, *unit;
  } SIGNAL[N_SIGNALS] = {[FX] = {"fx", "N"},
                         [FY] = {"fy", "N"},
                         [FZ] = {"fz", "N"},
                         [SLIP] = {"slip", ""},
                         [SLIP_ANGLE] = {"slip_angle", "rad"},
                         [CAMBER] = {"camber", "rad"},
                         [X] = {"x", "m"},
                         [Y] = {"y", "m"},
                         [Z] = {"z", "m"},
                         [PENETRATION] = {"penetration", "m"},
                         [LAGGED_X] = {"lagged_slip_x", ""},
                         [LAGGED_Y] = {"lagged_slip_y", ""},
                         [MX] = {"mx", "N*m"},
                         [MY] = {"my", "N*m"},
                         [MZ] = {"mz", "N*m"},
                         [TURN_SLIP] = {"turn_slip", "rad/m"}};
  (void)b;
  ga__signal_set(out, SIGNAL[i].name, SIGNAL[i].unit, GA__PROBE_ELEMENT, i);
  out->probe.owner = part;
}

static ga__dual signal_dual(const contact *c, const tyre *u, int i)
{
  switch (i) {
  case FX:
    return c->along.Fx;
  case FY:
    return c->along.Fy;
  case FZ:
    return c->Fz;
  case SLIP:
    return c->slip[0];
  case SLIP_ANGLE:
    return ga__dual_chain(&c->slip[1], -atan(c->slip[1].v), -1 / (1 + c->slip[1].v * c->slip[1].v));
  case CAMBER:
    return c->at.camber;
  case PENETRATION:
    return ga__dual_linear(&c->delta, 1, -u->def->preload / u->def->stiffness);
  case LAGGED_X:
  case LAGGED_Y:
    return c->lagged[i - LAGGED_X];
  case MX:
    return c->along.Mx;
  case MY:
    return c->along.My;
  case MZ:
    return c->along.Mz;
  case TURN_SLIP: {
    const ga__dual by_speed = ga__dual_div(&c->turn, &c->V);
    return ga__dual_linear(&by_speed, -1, 0);
  }
  default:
    return c->at.P[i - X];
  }
}

static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  contact c;
  (void)b;
  *out = (ga__limit){.words = "lifts off", .needs_kin = 1};
  if (i > 0 || !e) return i == 0;
  if (find_contact(&c, e, el, 0)) return 1;
  find_slip(&c, e, el->data);
  find_load(&c, el->data);
  out->reached = c.phase != ON_ROAD;
  return 1;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  contact c;
  const int status = eval_tyre(&c, e, el, 0);
  *out = status ? NAN : signal_dual(&c, el->data, i).v;
  return status;
}

_Static_assert((int)N_SIGNALS <= (int)GA__ELEMENT_VALUES, "room for all signals");

static int values(const ga__eval *e, const ga__element *el, int i, int *first, double *out)
{
  contact c;
  (void)i;
  *first = 0;
  if (eval_tyre(&c, e, el, 0)) return 0;
  for (int k = 0; k < N_SIGNALS; k++) out[k] = signal_dual(&c, el->data, k).v;
  return N_SIGNALS;
}

static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  (void)i;
  return ga__columns_of_nodes(b, el, ((const tyre *)el->data)->node, 2, column, room);
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const tyre *u = el->data;
  contact c;
  int n = 0;
  (void)shift_vdot;
  const int status = eval_tyre(&c, e, el, u->n);
  if (status) return status;
  const ga__dual s = signal_dual(&c, u, i);
  for (int j = 0; j < 2; j++) {
    const ga__node *node = node_at(e->b, u->node[j]);
    if (!u->node[j]) continue;
    for (int k = 0; k < 6; k++) {
      if (node->column[k] < 0) continue;
      d[n] = shift_v * s.d[FIRST_TWIST[j] + k];
      dq[n++] = s.d[FIRST_POSE[j] + k];
    }
  }
  for (int k = 0; k < 2; k++)
    if (u->lag[k] >= 0) d[n] = s.d[STATE + k], dq[n++] = 0;
  return 0;
}

/* ---- Edges: contact, and the road's own ---- */

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

static int side(const ga__eval *e, const ga__element *el, unsigned *number)
{
  const tyre *u = el->data;
  contact c;
  const int status = eval_tyre(&c, e, el, 0);
  if (status) return status;
  ga__mix_side(number, c.phase);
  return ga__road_has_edges(u->road) ? ga__road_side(e, u->road, c.at.P, number) : 0;
}

/* ---- Narrow bumps and patches of the road, passed within a step ---- */

static int may_hide(const ga__element *el)
{
  return ga__road_may_hide(((const tyre *)el->data)->road);
}

static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const tyre *u = el->data;
  return ga__road_hides(w, u->road, u->marker, u->def->radius, step, piece);
}

/* ---- Places where one point of contact is not meaningful ---- */

static int may_doubt(const ga__element *el)
{
  return ((const tyre *)el->data)->road->height.expr != NULL;
}

static double doubt(const ga__eval *e, const ga__element *el, double at[2])
{
  contact c;
  if (find_contact(&c, e, el, 0)) return 0;
  return ga__touch_doubt(&c.at, &c.wheel, e, ((const tyre *)el->data)->road, &c.frame, &c.t, at);
}

static void write_doubt(ga__writer *w, const ga_machine *m, const ga__doubt_record *r)
{
  const tyre *u = r->el->data;
  ga__write(w,
            "tyre '%s' has no single point of contact with road '%s', at t = %.6g s for the first time, most "
            "at t = %.6g s at x = %.6g m, y = %.6g m by %.4g m: a bump or hollow there is narrower than the "
            "wheel, or has a corner, and the force of one point is not meaningful; make heights smooth over "
            "the wheel's radius, %.4g m\n",
            m->part[r->el->part].name, u->def->road, r->since, r->worst_t, r->at[0], r->at[1], r->worst,
            u->def->radius);
}

/* ---- The kind ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) != NULL;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const tyre *u = ga__element_of(b, part)->data;
  (void)i;
  *out = (ga__drawing){.kind = u->def->axis == GA_TYRE_AXIS_Z ? GA_SHAPE_DISK : GA_SHAPE_WHEEL,
                       .a = u->marker,
                       .b = -1,
                       .size = u->def->radius};
}

const ga__element_type ga__tyre_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(tyre),
    .no_accelerations = 1,
    .create = {[GA__CREATE_OUTPUTS] = create},
    .want = want,
    .bind = bind,
    .force = force,
    .state = state,
    .jacobian = jacobian,
    .powers = powers,
    .may_doubt = may_doubt,
    .doubt = doubt,
    .write_doubt = write_doubt,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .limit = limit,
    .values = values,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .has_edges = has_edges,
    .side = side,
    .may_hide = may_hide,
    .hides = hides,
    .n_shapes = n_shapes,
    .shape = shape,
};
