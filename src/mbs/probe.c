/* Probes: quantities that sensors, signals and controllers read from a machine.
 *
 * Most are e · X: a vector X in space along an axis e that may rotate, δe = δφ × e. Derivatives are by the
 * twists of the nodes that a probe depends on: dq by small twists, dv by w, da by accelerations; and by
 * single unknowns λ, x, y. */
#include "mbs/element.h"

#include "expr/side.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

enum { MOST_NODES = 8, MOST_UNKNOWNS = 16 };

typedef struct slopes {
  int n_nodes;
  int node[MOST_NODES];
  double dq[MOST_NODES][6], dv[MOST_NODES][6], da[MOST_NODES][6];
  int n_unknowns;
  int unknown[MOST_UNKNOWNS]; /* columns of the matrix of all unknowns */
  double du[MOST_UNKNOWNS];
} slopes;

/* ---- Dependencies ---- */

static const ga__marker *marker_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->marker, ga__marker, i < 0 ? 0 : i);
}

/* The slot of a node among the dependencies, added if needed; −1: the ground. */
static int slot_of_node(slopes *s, int node)
{
  if (node <= 0) return -1;
  for (int i = 0; i < s->n_nodes; i++)
    if (s->node[i] == node) return i;
  s->node[s->n_nodes] = node;
  return s->n_nodes++;
}

static void depend_on_marker(slopes *s, const ga__mbs_model *b, int marker)
{
  slot_of_node(s, marker_at(b, marker)->node);
}

static void depend_on_unknown(slopes *s, int column)
{
  s->unknown[s->n_unknowns++] = column;
}

static void depend_on_gauge(slopes *s, const ga__mbs_model *b, int gauge)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  depend_on_marker(s, b, g->a);
  if (g->kind != GA__SCALAR) depend_on_marker(s, b, g->b);
}

/* Which end of a pair of markers is on body b of a joint: 1 the second, 0 the first, −1 neither. */
static int end_on_b(const ga__mbs_model *b, const ga__joint *joint, int first, int second)
{
  const int node = marker_at(b, joint->b)->node;
  if (marker_at(b, second)->node == node) return 1;
  return marker_at(b, first)->node == node ? 0 : -1;
}

/* The gauge through which a term acts on the bodies. For the scalar node that follows a coordinate (a screw's
 * angle) it is the gauge of that coordinate. */
static int term_gauge(const ga__joint *joint, const ga__term *term)
{
  for (int i = 0; i < joint->n_coordinates; i++)
    if (joint->coordinate[i].scalar_gauge == term->gauge) return joint->coordinate[i].gauge;
  return term->gauge;
}

static int term_end(const ga__mbs_model *b, const ga__joint *joint, const ga__term *term)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, term_gauge(joint, term));
  return end_on_b(b, joint, g->a, g->b);
}

static void depend_on_joint(slopes *s, const ga__mbs_model *b, const ga__joint *joint)
{
  depend_on_marker(s, b, joint->b);
  if (joint->point3 >= 0)
    for (int i = 0; i < 3; i++)
      depend_on_unknown(s, b->nv + GA__AT(b->point3, ga__point3, joint->point3)->lambda + i);
  for (int r = joint->first_row; r < joint->first_row + joint->n_rows; r++) {
    const ga__row *row = GA__AT(b->row, ga__row, r);
    int touches = 0;
    for (int k = row->first_term; k < row->first_term + row->n_terms; k++) {
      const ga__term *term = GA__AT(b->term, ga__term, k);
      if (term_end(b, joint, term) < 0) continue;
      depend_on_gauge(s, b, term_gauge(joint, term));
      touches = 1;
    }
    if (touches) depend_on_unknown(s, b->nv + row->lambda);
  }
}

/* Nodes and unknowns that a probe depends on, in the order of ga__probe_columns() and ga__probe_slopes(). */
static void list_dependencies(slopes *s, const ga__mbs_model *b, const ga__probe *probe)
{
  s->n_nodes = s->n_unknowns = 0;
  switch (probe->kind) {
  case GA__PROBE_POSITION:
    depend_on_marker(s, b, probe->of);
    depend_on_marker(s, b, probe->from);
    depend_on_marker(s, b, probe->axes);
    return;
  case GA__PROBE_VELOCITY:
  case GA__PROBE_ACCELERATION:
  case GA__PROBE_SPECIFIC_FORCE:
  case GA__PROBE_ANGULAR_VELOCITY:
  case GA__PROBE_ANGULAR_ACCELERATION:
    depend_on_marker(s, b, probe->of);
    depend_on_marker(s, b, probe->axes);
    return;
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
    depend_on_joint(s, b, GA__AT(b->joint, ga__joint, probe->joint));
    depend_on_marker(s, b, probe->axes);
    return;
  case GA__PROBE_GAUGE:
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_GAUGE_ACC:
    depend_on_gauge(s, b, probe->gauge);
    return;
  case GA__PROBE_ANGLE:
  case GA__PROBE_EULER:
    depend_on_marker(s, b, probe->of);
    return;
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_TENSION:
    depend_on_unknown(s, b->nv + probe->index);
    return;
  case GA__PROBE_MULTIPLIER_OF_K:
    depend_on_unknown(s, b->nv + b->n_lambda + probe->index);
    return;
  case GA__PROBE_STATE:
    depend_on_unknown(s, b->nv + b->n_lambda + b->n_psi + probe->index);
    return;
  case GA__PROBE_OUTPUT:
    depend_on_unknown(s, b->nv + b->n_lambda + b->n_psi + b->n_x + probe->index);
    return;
  case GA__PROBE_QUATERNION:
  case GA__PROBE_ELEMENT:
  case GA__PROBE_ERROR:
  case GA__PROBE_ENERGY:
    return;
  }
}

/* ---- Vectors: e · X ---- */

typedef struct vector_eval {
  ga__frame of, from;
  const ga__kin *kin; /* of the node of `of` */
  int axes;           /* node that e is fixed to */
  double e[3], X[3];
} vector_eval;

/* X = p_of − p_from; u + ω × r; u' + ω' × r + ω × (ω × r), minus g; ω; ω'. from: for positions. */
static void vector_at(double X[3], const ga__eval *e, ga__probe_kind kind, const ga__frame *of,
                      const ga__frame *from)
{
  const double *twist = e->kin[of->node].w, *acc = e->kin[of->node].acc;
  double c[3], cc[3];
  switch (kind) {
  case GA__PROBE_POSITION:
    for (int i = 0; i < 3; i++) X[i] = of->p[i] - from->p[i];
    return;
  case GA__PROBE_VELOCITY:
    ga__vec3_cross(c, twist + 3, of->r);
    for (int i = 0; i < 3; i++) X[i] = twist[i] + c[i];
    return;
  case GA__PROBE_ANGULAR_VELOCITY:
    memcpy(X, twist + 3, 3 * sizeof *X);
    return;
  case GA__PROBE_ANGULAR_ACCELERATION:
    memcpy(X, acc + 3, 3 * sizeof *X);
    return;
  default: /* accelerations */
    ga__vec3_cross(c, twist + 3, of->r);
    ga__vec3_cross(cc, twist + 3, c);
    ga__vec3_cross(c, acc + 3, of->r);
    for (int i = 0; i < 3; i++) X[i] = acc[i] + c[i] + cc[i];
    if (kind == GA__PROBE_SPECIFIC_FORCE)
      for (int i = 0; i < 3; i++) X[i] -= e->m->opts.gravity[i];
    return;
  }
}

/* Axis number `component` of the marker `axes`, in space. */
static int view_axis(double axis[3], const ga__eval *e, const ga__probe *probe)
{
  ga__frame f;
  ga__frame_at(&f, marker_at(e->b, probe->axes), e->kin);
  for (int i = 0; i < 3; i++) axis[i] = f.A[3 * i + probe->component];
  return f.node;
}

static void view_at(vector_eval *w, const ga__eval *e, const ga__probe *probe)
{
  ga__frame_at(&w->of, marker_at(e->b, probe->of), e->kin);
  if (probe->kind == GA__PROBE_POSITION) ga__frame_at(&w->from, marker_at(e->b, probe->from), e->kin);
  w->kin = &e->kin[w->of.node];
  w->axes = view_axis(w->e, e, probe);
  vector_at(w->X, e, probe->kind, &w->of, &w->from);
}

/* to += scale (e, r × e) */
static void add_lever(double to[6], double scale, const double e[3], const double r[3])
{
  double t[3];
  ga__vec3_cross(t, r, e);
  for (int i = 0; i < 3; i++) {
    to[i] += scale * e[i];
    to[3 + i] += scale * t[i];
  }
}

/* to += a × b */
static void add_cross(double to[3], const double a[3], const double b[3])
{
  double c[3];
  ga__vec3_cross(c, a, b);
  for (int i = 0; i < 3; i++) to[i] += c[i];
}

/* e · (u' + ω' × r + ω × (ω × r)):
 *   by (u', ω')   (e, r × e)
 *   by ω          (ω × r) × e + r × (e × ω)
 *   by φ          r × h,   h = e × ω' + (e × ω) × ω */
static void acceleration_slopes(slopes *s, int at, const vector_eval *w)
{
  const double *omega = w->kin->w + 3;
  double wr[3], ew[3], h[3];
  ga__vec3_cross(wr, omega, w->of.r);
  ga__vec3_cross(ew, w->e, omega);
  add_lever(s->da[at], 1.0, w->e, w->of.r);
  add_cross(s->dv[at] + 3, wr, w->e);
  add_cross(s->dv[at] + 3, w->of.r, ew);
  ga__vec3_cross(h, w->e, w->kin->acc + 3);
  add_cross(h, ew, omega);
  add_cross(s->dq[at] + 3, w->of.r, h);
}

static void vector_slopes(slopes *s, const ga__eval *e, const ga__probe *probe)
{
  vector_eval w;
  double ew[3];
  view_at(&w, e, probe);
  const int of = slot_of_node(s, w.of.node), axes = slot_of_node(s, w.axes);
  if (axes >= 0) add_cross(s->dq[axes] + 3, w.e, w.X); /* X · (δφ × e) */
  if (probe->kind == GA__PROBE_POSITION) {
    const int from = slot_of_node(s, w.from.node);
    if (from >= 0) add_lever(s->dq[from], -1.0, w.e, w.from.r);
  }
  if (of < 0) return;
  switch (probe->kind) {
  case GA__PROBE_POSITION:
    add_lever(s->dq[of], 1.0, w.e, w.of.r);
    return;
  case GA__PROBE_VELOCITY: /* e · (ω × (δφ × r)) = δφ · (r × (e × ω)) */
    add_lever(s->dv[of], 1.0, w.e, w.of.r);
    ga__vec3_cross(ew, w.e, w.kin->w + 3);
    add_cross(s->dq[of] + 3, w.of.r, ew);
    return;
  case GA__PROBE_ANGULAR_VELOCITY:
    for (int i = 0; i < 3; i++) s->dv[of][3 + i] += w.e[i];
    return;
  case GA__PROBE_ANGULAR_ACCELERATION:
    for (int i = 0; i < 3; i++) s->da[of][3 + i] += w.e[i];
    return;
  default:
    acceleration_slopes(s, of, &w);
    return;
  }
}

/* ---- Reactions ---- */

/* Constraint force of a joint on body b, (F, T) at the node's origin: −λ c g of its terms, −λ at the marker
 * of its point3. About b's own marker at r the moment is T − r × F. */
static void reaction(double F[3], double T[3], const ga__eval *e, const ga__joint *joint)
{
  const ga__mbs_model *b = e->b;
  const ga__marker *marker = b->marker.at;
  double g[12], c[3], f[3];
  ga__frame own, at;
  ga__frame_at(&own, marker + joint->b, e->kin);
  memset(F, 0, 3 * sizeof *F);
  memset(T, 0, 3 * sizeof *T);
  if (joint->point3 >= 0) {
    const ga__point3 *p = GA__AT(b->point3, ga__point3, joint->point3);
    const int end = end_on_b(b, joint, p->a, p->b);
    ga__frame_at(&at, marker + (end ? p->b : p->a), e->kin);
    for (int i = 0; i < 3; i++) f[i] = (end ? -1.0 : 1.0) * e->p->lambda[p->lambda + i];
    for (int i = 0; i < 3; i++) F[i] += f[i];
    add_cross(T, at.r, f);
  }
  for (int r = joint->first_row; r < joint->first_row + joint->n_rows; r++) {
    const ga__row *row = GA__AT(b->row, ga__row, r);
    for (int k = row->first_term; k < row->first_term + row->n_terms; k++) {
      const ga__term *term = GA__AT(b->term, ga__term, k);
      const int end = term_end(b, joint, term);
      if (end < 0) continue;
      ga__gauge_eval at_gauge;
      ga__gauge_eval_at(&at_gauge, GA__AT(b->gauge, ga__gauge, term_gauge(joint, term)), marker, e->kin);
      ga__gauge_gradient(g, &at_gauge);
      const double scale = -term->c * e->p->lambda[row->lambda];
      for (int i = 0; i < 3; i++) {
        F[i] += scale * g[6 * end + i];
        T[i] += scale * g[6 * end + 3 + i];
      }
    }
  }
  ga__vec3_cross(c, own.r, F);
  for (int i = 0; i < 3; i++) T[i] -= c[i];
}

static double *unknown_slope(slopes *s, int column)
{
  for (int i = 0; i < s->n_unknowns; i++)
    if (s->unknown[i] == column) return &s->du[i];
  return NULL;
}

/* weight · (−λ c g): by λ directly, by q through the curvature of the gauge. */
static void term_slopes(slopes *s, const ga__eval *e, const ga__joint *joint, const ga__term *term,
                        const ga__row *row, int end, const double weight[6])
{
  ga__gauge_eval at_gauge;
  double g[12], K[144];
  ga__gauge_eval_at(&at_gauge, GA__AT(e->b->gauge, ga__gauge, term_gauge(joint, term)), e->b->marker.at,
                    e->kin);
  ga__gauge_gradient(g, &at_gauge);
  ga__gauge_curvature(K, &at_gauge);
  double *du = unknown_slope(s, e->b->nv + row->lambda);
  for (int i = 0; i < 6; i++) *du -= term->c * weight[i] * g[6 * end + i];
  const double scale = -term->c * e->p->lambda[row->lambda];
  for (int side = 0; side < 2; side++) {
    const int at = slot_of_node(s, side ? at_gauge.b.node : at_gauge.a.node);
    if (at < 0) continue;
    for (int j = 0; j < 6; j++) {
      double sum = 0;
      for (int i = 0; i < 6; i++) sum += weight[i] * K[12 * (6 * end + i) + 6 * side + j];
      s->dq[at][j] += scale * sum;
    }
  }
}

/* Force of the point3: ∓λ at its marker. It has a moment about b's marker only if the two markers differ, (r
 * − r_b) × F with both fixed to the same body. */
static void point_slopes(slopes *s, const ga__eval *e, const ga__joint *joint, const ga__frame *own,
                         const double n[3], int torque)
{
  const ga__point3 *p = GA__AT(e->b->point3, ga__point3, joint->point3);
  const int end = end_on_b(e->b, joint, p->a, p->b), on = slot_of_node(s, own->node);
  const double sign = end ? -1.0 : 1.0, *lambda = e->p->lambda + p->lambda;
  ga__frame at;
  double lever[3], by_force[3], h[3], F[3];
  ga__frame_at(&at, GA__AT(e->b->marker, ga__marker, end ? p->b : p->a), e->kin);
  for (int i = 0; i < 3; i++) {
    lever[i] = at.r[i] - own->r[i];
    F[i] = sign * lambda[i];
  }
  if (torque)
    ga__vec3_cross(by_force, n, lever); /* n · (l × F) = (n × l) · F */
  else
    memcpy(by_force, n, sizeof by_force);
  for (int i = 0; i < 3; i++) *unknown_slope(s, e->b->nv + p->lambda + i) += sign * by_force[i];
  if (!torque || on < 0) return;
  ga__vec3_cross(h, F, n); /* n · ((δφ × l) × F) = δφ · (l × (F × n)) */
  add_cross(s->dq[on] + 3, lever, h);
}

static void reaction_slopes(slopes *s, const ga__eval *e, const ga__probe *probe)
{
  const ga__mbs_model *b = e->b;
  const ga__joint *joint = GA__AT(b->joint, ga__joint, probe->joint);
  const int torque = probe->kind == GA__PROBE_REACTION_TORQUE;
  double n[3], F[3], T[3], weight[6], h[3];
  ga__frame own;
  ga__frame_at(&own, GA__AT(b->marker, ga__marker, joint->b), e->kin);
  const int axes = slot_of_node(s, view_axis(n, e, probe)), on = slot_of_node(s, own.node);
  reaction(F, T, e, joint);
  if (axes >= 0) add_cross(s->dq[axes] + 3, n, torque ? T : F);
  if (joint->point3 >= 0) point_slopes(s, e, joint, &own, n, torque);
  /* n · F = (n, 0) · (F, T);   n · (T − r × F) = (r × n, n) · (F, T) */
  memset(weight, 0, sizeof weight);
  memcpy(weight + (torque ? 3 : 0), n, sizeof n);
  if (torque) ga__vec3_cross(weight, own.r, n);
  for (int r = joint->first_row; r < joint->first_row + joint->n_rows; r++) {
    const ga__row *row = GA__AT(b->row, ga__row, r);
    for (int k = row->first_term; k < row->first_term + row->n_terms; k++) {
      const ga__term *term = GA__AT(b->term, ga__term, k);
      const int end = term_end(b, joint, term);
      if (end >= 0) term_slopes(s, e, joint, term, row, end, weight);
    }
  }
  if (!torque || on < 0) return;
  /* r in the moment of the rows rotates too: −n · ((δφ × r) × F_rows) = −δφ · (r × (F_rows × n)) */
  if (joint->point3 >= 0) {
    const ga__point3 *p = GA__AT(b->point3, ga__point3, joint->point3);
    const double sign = end_on_b(b, joint, p->a, p->b) ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) F[i] -= sign * e->p->lambda[p->lambda + i];
  }
  ga__vec3_cross(h, n, F);
  add_cross(s->dq[on] + 3, own.r, h);
}

/* ---- Gauges ---- */

/* The twists or accelerations of both nodes of a gauge. */
static void gauge_motion(double w[12], const ga__eval *e, const ga__gauge_eval *s, int acceleration)
{
  for (int side = 0; side < 2; side++) {
    const ga__kin *k = &e->kin[side ? s->b.node : s->a.node];
    memcpy(w + 6 * side, acceleration ? k->acc : k->w, 6 * sizeof *w);
  }
}

/* ρ'' = g · w' + wᵀ K w */
static double gauge_acceleration(const ga__probe_cache *cache, const ga__eval *e)
{
  const double *g = cache->g, *w = cache->w;
  double K[144], acc[12], value = 0;
  gauge_motion(acc, e, &cache->at_gauge, 1);
  if (!ga__gauge_tiles(cache->at_gauge.gauge)) return ga__dot12(g, acc);
  ga__gauge_curvature(K, &cache->at_gauge);
  for (int i = 0; i < 12; i++) {
    double turn = 0;
    for (int j = 0; j < 12; j++) turn += K[12 * i + j] * w[j];
    value += g[i] * acc[i] + w[i] * turn;
  }
  return value;
}

/* ρ;   ρ' = g · w;   ρ'' */
static double gauge_value(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe)
{
  if (cache->gauge != probe->gauge) {
    ga__gauge_eval_at(&cache->at_gauge, GA__AT(e->b->gauge, ga__gauge, probe->gauge), e->b->marker.at,
                      e->kin);
    cache->gauge = probe->gauge;
    cache->has_gradient = 0;
  }
  if (probe->kind == GA__PROBE_GAUGE) return ga__gauge_value(&cache->at_gauge);
  if (!cache->has_gradient) {
    ga__gauge_gradient(cache->g, &cache->at_gauge);
    gauge_motion(cache->w, e, &cache->at_gauge, 0);
    cache->has_gradient = 1;
  }
  return probe->kind == GA__PROBE_GAUGE_RATE ? ga__dot12(cache->g, cache->w) : gauge_acceleration(cache, e);
}

/* A rate by q: wᵀ K. An acceleration is that of a scalar node, whose g is constant. */
static void gauge_slopes(slopes *s, const ga__eval *e, const ga__probe *probe)
{
  ga__gauge_eval at_gauge;
  double g[12], K[144], w[12];
  ga__gauge_eval_at(&at_gauge, GA__AT(e->b->gauge, ga__gauge, probe->gauge), e->b->marker.at, e->kin);
  ga__gauge_gradient(g, &at_gauge);
  gauge_motion(w, e, &at_gauge, 0);
  if (probe->kind == GA__PROBE_GAUGE_RATE) ga__gauge_curvature(K, &at_gauge);
  for (int side = 0; side < 2; side++) {
    const int at = slot_of_node(s, side ? at_gauge.b.node : at_gauge.a.node);
    if (at < 0) continue;
    for (int j = 0; j < 6; j++) {
      const int k = 6 * side + j;
      if (probe->kind == GA__PROBE_GAUGE) s->dq[at][j] += g[k];
      if (probe->kind == GA__PROBE_GAUGE_ACC) s->da[at][j] += g[k];
      if (probe->kind != GA__PROBE_GAUGE_RATE) continue;
      s->dv[at][j] += g[k];
      for (int i = 0; i < 12; i++) s->dq[at][j] += w[i] * K[12 * i + k];
    }
  }
}

/* ---- Roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll) ----
 *
 *   x axis = (cos pitch cos yaw, cos pitch sin yaw, −sin pitch);  z of the axes = (−sin pitch, cos pitch sin
 *   roll, cos pitch cos roll)
 *
 * Where the x axis is vertical, only roll ∓ yaw is defined. Values are then those with roll 0, which describe
 * the rotation as well; derivatives do not exist. */

#define VERTICAL 1e-7 /* cos pitch, below which rounding decides about roll and yaw */

static double euler_value(const double A[9], int i)
{
  const double level = hypot(A[0], A[3]);
  if (i == 1) return atan2(-A[6], level);
  if (level >= VERTICAL) return i == 0 ? atan2(A[7], A[8]) : atan2(A[3], A[0]);
  return i == 0 ? 0.0 : atan2(-A[1], A[4]);
}

/* By small rotations φ about ground axes, with c = (cos yaw, sin yaw, 0) and p = (−sin yaw, cos yaw, 0):
 *   roll   c / cos pitch       pitch   p       yaw   z + c tan pitch */
static void euler_slopes(slopes *s, const ga__eval *e, const ga__probe *probe)
{
  ga__frame f;
  ga__frame_at(&f, marker_at(e->b, probe->of), e->kin);
  const int at = slot_of_node(s, f.node);
  const double level = hypot(f.A[0], f.A[3]);
  if (at < 0) return;
  const double c = f.A[0] / level, p = f.A[3] / level, tangent = -f.A[6] / level;
  const double by[3][3] = {{c / level, p / level, 0.0}, {-p, c, 0.0}, {c * tangent, p * tangent, 1.0}};
  memcpy(s->dq[at] + 3, by[probe->component], sizeof by[0]);
}

/* 0; 1: an angle that is fed back has no derivative here. */
static int refuse_vertical(const ga__eval *e, const ga__probe *probe)
{
  ga__frame f;
  char name[GA_ERROR_NAME];
  if (probe->kind != GA__PROBE_EULER) return 0;
  ga__frame_at(&f, marker_at(e->b, probe->of), e->kin);
  if (hypot(f.A[0], f.A[3]) >= VERTICAL) return 0;
  ga__signal_name_of(e->b, probe, name, sizeof name);
  if (e->work->ctx->starting) e->work->ctx->starting |= GA__UNDEFINED;
  ga__refuse(e->work->ctx, GA_RETRY_NAN, GA_REASON_PITCH_VERTICAL,
             &(ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1}, .name = name});
  return 1;
}

int ga__probe_has_edges(const ga__probe *probe)
{
  return probe->kind == GA__PROBE_EULER && probe->component != 1;
}

void ga__probe_side(const ga__eval *e, const ga__probe *probe, unsigned *side)
{
  ga__frame f;
  ga__frame_at(&f, marker_at(e->b, probe->of), e->kin);
  const double sine = probe->component == 0 ? f.A[7] : f.A[3], cosine = f.A[probe->component == 0 ? 8 : 0];
  ga__mix_side(side, cosine < 0 ? sine < 0 : 2);
}

/* ---- Values ---- */

/* Component i of the unit quaternion of a rotation, with a non-negative real part, by Shepperd's method:
 * division by the largest of the four components. */
static double quaternion(const double R[9], int i)
{
  const double square[4] = {R[0] + R[4] + R[8], R[0] - R[4] - R[8], R[4] - R[0] - R[8], R[8] - R[0] - R[4]};
  const double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
  const double xy = R[3] + R[1], xz = R[2] + R[6], yz = R[7] + R[5];
  int k = 0;
  for (int j = 1; j < 4; j++)
    if (square[j] > square[k]) k = j;
  const double length = sqrt(1 + square[k]), inverse = 0.5 / length;
  const double rest[4][4] = {{0, x, y, z}, {x, 0, xy, xz}, {y, xy, 0, yz}, {z, xz, yz, 0}};
  const double q = i == k ? 0.5 * length : inverse * rest[k][i];
  return k > 0 && rest[k][0] < 0 ? -q : q;
}

void ga__probe_cache_reset(ga__probe_cache *cache)
{
  cache->of = cache->axes = cache->vector_of = cache->joint = cache->gauge = cache->owner = GA__NOT_CACHED;
}

static const ga__frame *cached_frame(ga__probe_cache *cache, const ga__eval *e, int marker)
{
  if (cache->of != marker) ga__frame_at(&cache->of_frame, marker_at(e->b, marker), e->kin);
  cache->of = marker;
  return &cache->of_frame;
}

/* e · X, e the axis of the probe. */
static double along_axis(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe, const double X[3])
{
  if (cache->axes != probe->axes) ga__frame_at(&cache->axes_frame, marker_at(e->b, probe->axes), e->kin);
  cache->axes = probe->axes;
  const double *A = cache->axes_frame.A + probe->component;
  const double axis[3] = {A[0], A[3], A[6]};
  return ga__vec3_dot(axis, X);
}

static double reaction_value(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe)
{
  if (cache->joint != probe->joint)
    reaction(cache->F, cache->T, e, GA__AT(e->b->joint, ga__joint, probe->joint));
  cache->joint = probe->joint;
  return along_axis(cache, e, probe, probe->kind == GA__PROBE_REACTION_FORCE ? cache->F : cache->T);
}

static double vector_value(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe)
{
  if (cache->vector_of != probe->of || cache->vector != probe->kind || cache->vector_from != probe->from) {
    ga__frame from;
    if (probe->kind == GA__PROBE_POSITION) ga__frame_at(&from, marker_at(e->b, probe->from), e->kin);
    vector_at(cache->X, e, probe->kind, cached_frame(cache, e, probe->of), &from);
    cache->vector = probe->kind;
    cache->vector_of = probe->of;
    cache->vector_from = probe->from;
  }
  return along_axis(cache, e, probe, cache->X);
}

/* Elements with several values at once are evaluated for the first of them that is read. */
static int element_value(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe, double *value)
{
  const ga__element *el = ga__element_of(e->b, probe->owner);
  if (!el->type->measures_when_off && !ga__gate_is_open(e, el->gate)) return *value = 0, 0;
  if (!el->type->values || probe->kind == GA__PROBE_ERROR)
    return el->type->value(e, el, probe->component, value);
  const int i = probe->component, from = cache->first_value;
  if (cache->owner != probe->owner || i < from || i >= from + cache->n_values) {
    cache->owner = GA__NOT_CACHED;
    cache->n_values = el->type->values(e, el, i, &cache->first_value, cache->value);
    if (cache->n_values <= 0) return el->type->value(e, el, i, value); /* it reports why */
    cache->owner = probe->owner;
  }
  *value = cache->value[i - cache->first_value];
  return 0;
}

int ga__probe_value(const ga__eval *e, const ga__probe *probe, double *value)
{
  ga__probe_cache cache;
  if (refuse_vertical(e, probe)) return 1;
  ga__probe_cache_reset(&cache);
  return ga__probe_read(&cache, e, probe, value);
}

int ga__probe_read(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe, double *value)
{
  const ga__mbs_model *b = e->b;
  switch (probe->kind) {
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
    *value = reaction_value(cache, e, probe);
    return 0;
  case GA__PROBE_GAUGE:
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_GAUGE_ACC:
    *value = gauge_value(cache, e, probe);
    return 0;
  case GA__PROBE_QUATERNION:
    *value = quaternion(cached_frame(cache, e, probe->of)->A, probe->component);
    return 0;
  case GA__PROBE_EULER:
    *value = euler_value(cached_frame(cache, e, probe->of)->A, probe->component);
    return 0;
  case GA__PROBE_ANGLE:
    *value = e->kin[marker_at(b, probe->of)->node].angle;
    return 0;
  case GA__PROBE_ERROR:
  case GA__PROBE_ELEMENT:
    return element_value(cache, e, probe, value);
  case GA__PROBE_MULTIPLIER:
    *value = -e->p->lambda[probe->index];
    return 0;
  case GA__PROBE_TENSION:
    *value = e->p->lambda[probe->index];
    return 0;
  case GA__PROBE_MULTIPLIER_OF_K:
    *value = -e->p->psi[probe->index];
    return 0;
  case GA__PROBE_STATE:
    *value = e->p->x[probe->index];
    return 0;
  case GA__PROBE_OUTPUT:
    *value = e->p->y[probe->index];
    return 0;
  case GA__PROBE_ENERGY: /* computed in ga_machine_signals() */
    *value = NAN;
    return -1;
  default:
    *value = vector_value(cache, e, probe);
    return 0;
  }
}

/* ---- Derivatives ---- */

int ga__probe_has_slopes(const ga__mbs_model *b, const ga__probe *probe)
{
  switch (probe->kind) {
  case GA__PROBE_ELEMENT:
    return ga__type_of(&b->m->part[probe->owner])->value_columns != NULL;
  case GA__PROBE_QUATERNION:
  case GA__PROBE_ERROR:
  case GA__PROBE_ENERGY:
    return 0;
  case GA__PROBE_GAUGE_ACC:
    return GA__AT(b->gauge, ga__gauge, probe->gauge)->kind == GA__SCALAR;
  default:
    return 1;
  }
}

const char *ga__probe_beyond_motion(const ga__probe *probe)
{
  switch (probe->kind) {
  case GA__PROBE_ACCELERATION:
  case GA__PROBE_SPECIFIC_FORCE:
  case GA__PROBE_ANGULAR_ACCELERATION:
  case GA__PROBE_GAUGE_ACC:
    return "an acceleration";
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_TENSION:
  case GA__PROBE_MULTIPLIER_OF_K:
    return "a force";
  case GA__PROBE_EULER:
    return "an angle that jumps by a full turn";
  case GA__PROBE_ELEMENT:
    return "a force or strain";
  case GA__PROBE_ERROR:
    return "the error of a constraint";
  case GA__PROBE_STATE:
    return "a state of a block";
  case GA__PROBE_OUTPUT:
    return "an output of a block";
  case GA__PROBE_QUATERNION:
    return "a component of a quaternion, whose sign may change";
  case GA__PROBE_ENERGY:
    return "an energy";
  default:
    return NULL;
  }
}

int ga__probe_columns(const ga__mbs_model *b, const ga__probe *probe, int *column, int room)
{
  slopes s;
  int n = 0;
  if (probe->kind == GA__PROBE_ELEMENT) {
    const ga__element *el = ga__element_of(b, probe->owner);
    return el->type->value_columns(b, el, probe->component, column, room);
  }
  list_dependencies(&s, b, probe);
  for (int i = 0; i < s.n_nodes; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, s.node[i]);
    for (int c = 0; c < node->n; c++, n++)
      if (n < room) column[n] = node->v + c;
  }
  for (int i = 0; i < s.n_unknowns; i++, n++)
    if (n < room) column[n] = s.unknown[i];
  return n;
}

int ga__probe_slopes(const ga__eval *e, const ga__probe *probe, double shift_v, double shift_vdot, double *d,
                     double *dq)
{
  const ga__mbs_model *b = e->b;
  slopes s;
  int n = 0;
  if (probe->kind == GA__PROBE_ELEMENT) {
    const ga__element *el = ga__element_of(b, probe->owner);
    if (el->type->measures_when_off || ga__gate_is_open(e, el->gate))
      return el->type->value_slopes(e, el, probe->component, shift_v, shift_vdot, d, dq);
    n = ga__probe_columns(b, probe, NULL, 0);
    for (int i = 0; i < n; i++) d[i] = dq[i] = 0;
    return 0;
  }
  if (refuse_vertical(e, probe)) return 1;
  list_dependencies(&s, b, probe);
  memset(s.dq, 0, (size_t)s.n_nodes * sizeof s.dq[0]);
  memset(s.dv, 0, (size_t)s.n_nodes * sizeof s.dv[0]);
  memset(s.da, 0, (size_t)s.n_nodes * sizeof s.da[0]);
  memset(s.du, 0, (size_t)s.n_unknowns * sizeof s.du[0]);
  switch (probe->kind) {
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
    reaction_slopes(&s, e, probe);
    break;
  case GA__PROBE_GAUGE:
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_GAUGE_ACC:
    gauge_slopes(&s, e, probe);
    break;
  case GA__PROBE_ANGLE:
    for (int i = 0; i < s.n_nodes; i++) s.dq[i][5] = 1;
    break;
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_MULTIPLIER_OF_K:
    s.du[0] = -1;
    break;
  case GA__PROBE_EULER:
    euler_slopes(&s, e, probe);
    break;
  case GA__PROBE_TENSION:
  case GA__PROBE_STATE:
  case GA__PROBE_OUTPUT:
    s.du[0] = 1;
    break;
  case GA__PROBE_QUATERNION:
  case GA__PROBE_ELEMENT:
  case GA__PROBE_ERROR:
  case GA__PROBE_ENERGY:
    return -1;
  default:
    vector_slopes(&s, e, probe);
    break;
  }
  for (int i = 0; i < s.n_nodes; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, s.node[i]);
    for (int c = 0; c < 6; c++) {
      if (node->column[c] < 0) continue;
      d[n] = shift_v * s.dv[i][c] + shift_vdot * s.da[i][c];
      dq[n++] = s.dq[i][c];
    }
  }
  for (int i = 0; i < s.n_unknowns; i++) {
    d[n] = s.du[i];
    dq[n++] = 0;
  }
  return 0;
}
