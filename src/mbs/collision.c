/* Collisions: two solids press on each other where corners of one are within reach of the other, and where
 * edges cross. For every such place with depth δ, normal n from b to a, point P between both surfaces:
 *
 *   N = w k δ^m max(0, 1 + c δ'),  δ' = −n·v,  v = v_a(P) − v_b(P)       (Hunt and Crossley 1975)
 *   F = N n − μ N v_t/√(v_t² + s²),  v_t = v − (n·v) n                    on a; the opposite on b
 *
 * With a length ℓ to stick, the friction of a corner has a memory ζ, a vector that turns with b, |ζ| <= 1:
 *
 *   F_t = −μ N (s² ζ + (s (1 − ζ²) + |v_t|) v_t)/(v_t² + s²),  ζ' = (v_t − |v_t| ζ)/ℓ     off contact −ζ s/ℓ
 *
 * At rest F_t = −μ N ζ holds without a speed, as a spring that yields at μ N; sliding, ζ is along v_t, and
 * F_t = −μ N v_t/|v_t|.
 *
 * w is 1 for corners, and fades for crossings (solid.h). δ is the sum of the radii minus the distance of a
 * corner from the other core: to a corner, an edge or a face, whichever is nearest, or, within the core,
 * minus the distance from the nearest face. It is a continuous function of the positions with continuous
 * slopes as long as a corner is outside of the core; k δ^(m+1)/(m+1) is stored.
 *
 * Everything is computed with derivatives by poses and twists (dual.h); which features are the nearest is
 * found with plain numbers before (near.c). */
#include "mbs/channel.h"
#include "mbs/collider.h"
#include "mbs/dual.h"
#include "mbs/hidden.h"
#include "mbs/law_impl.h"

#include "expr/side.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Variables: poses of the nodes of a and b, their twists, the memory of one corner. */
enum { POSE = 0, TWIST = 12, STATE = 24, ALL = 24, WITH_MEMORY = 27 };
#define DEEP 0.8 /* [-] of the way to the middle of the other: beyond, it would be pushed out behind it */

typedef struct collision {
  const ga_collision_def *def;
  const ga__collider *of[2];
  int node[2];
  int n; /* variables */
  int pair[2][2];
  int *port, *row,
      *own; /* [2 n_x] nodes by states, states by nodes; [3 n_x] states by those of their corner */
} collision;

/* ---- Where ---- */

typedef struct scene {
  const collision *u;
  const ga__solid *solid[2];
  int n; /* derivatives */
  ga__frame frame[2];
  ga__relative in[2]; /* a in the frame of b, b in that of a */
  double radii;       /* [m] sum of both */
} scene;

/* A place where solids press, or would if they were nearer. */
typedef struct place {
  int which, corner;   /* of a (0) or b (1); corner −1: a crossing */
  ga__feature feature; /* of the other */
  ga__crossing crossing;
  double distance; /* [m] of the cores */
} place;

static void set_relative(ga__relative *g, const ga__frame *from, const ga__frame *to)
{
  double At[9], d[3];
  ga__mat3_transpose(At, to->A);
  ga__mat3_mul(g->R, At, from->A);
  for (int i = 0; i < 3; i++) d[i] = from->p[i] - to->p[i];
  ga__mat3_mul_vec(g->p, At, d);
}

static void set_scene(scene *c, const ga__mbs_model *b, const ga__kin *kin, const collision *u, int n)
{
  c->u = u;
  c->n = n;
  c->radii = 0;
  for (int i = 0; i < 2; i++) {
    c->solid[i] = &u->of[i]->solid;
    c->radii += c->solid[i]->radius;
    ga__frame_at(&c->frame[i], GA__AT(b->marker, ga__marker, u->of[i]->marker), kin);
  }
}

/* What a search needs beyond that. */
static void relate(scene *c)
{
  for (int i = 0; i < 2; i++) set_relative(&c->in[i], &c->frame[i], &c->frame[1 - i]);
}

static int is_ball(const ga__solid *s)
{
  return s->n_corners == 1;
}

/* 1: corners of a (0) or b (1) are compared with the other. The centre of a ball is compared, not what is
 * around it. */
static int sends_corners(const scene *c, int which)
{
  const ga__solid *own = c->solid[which], *other = c->solid[1 - which];
  if (is_ball(own)) return !is_ball(other) || which == 0;
  return !own->is_plane && !is_ball(other);
}

static int has_crossings(const scene *c)
{
  return c->solid[0]->n_edges > 0 && c->solid[1]->n_edges > 0;
}

/* 1: balls around both are less than `far` apart. Most pairs end here. */
static int is_near(const scene *c, double far)
{
  double centre[2][3], d[3];
  for (int i = 0; i < 2; i++) {
    ga__mat3_mul_vec(centre[i], c->frame[i].A, c->solid[i]->centre);
    for (int j = 0; j < 3; j++) centre[i][j] += c->frame[i].p[j];
  }
  for (int j = 0; j < 3; j++) d[j] = centre[0][j] - centre[1][j];
  for (int i = 0; i < 2; i++) {
    const double *A = c->frame[i].A, above = (i ? 1 : -1) * (A[2] * d[0] + A[5] * d[1] + A[8] * d[2]);
    if (c->solid[i]->is_plane) return above < c->solid[1 - i]->reach + far;
  }
  const double reach = c->solid[0]->reach + c->solid[1]->reach + far;
  return ga__vec3_dot(d, d) < reach * reach;
}

/* Goes over the places whose cores are less than `most` apart. */
typedef struct search {
  double most, deepest;
  int which, corner; /* next */
  long crossing;
} search;

static search search_in(const scene *c, double most)
{
  search s = {.most = most};
  if (has_crossings(c)) s.deepest = ga__least_overlap(c->solid[0], c->solid[1], &c->in[0], &c->in[1]);
  return s;
}

static int next_place(const scene *c, search *s, place *out)
{
  for (; s->which < 2; s->which++, s->corner = 0) {
    const ga__solid *own = c->solid[s->which];
    while (sends_corners(c, s->which) && s->corner < own->n_corners) {
      double x[3];
      const int k = s->corner++;
      ga__relative_apply(x, &c->in[s->which], own->point + 3 * k);
      if (!ga__solid_nearest(c->solid[1 - s->which], x, s->most, &out->feature)) continue;
      out->which = s->which, out->corner = k;
      out->distance = out->feature.distance;
      return 1;
    }
  }
  if (!has_crossings(c) || !ga__solid_crossing(c->solid[0], c->solid[1], &c->in[1], s->most, s->deepest,
                                               &s->crossing, &out->crossing))
    return 0;
  out->which = 0, out->corner = -1;
  out->distance = out->crossing.apart;
  return 1;
}

/* 1: at a place one is nearly through the other. */
static int is_deep(const scene *c, const place *at)
{
  const ga__solid *other = c->solid[1 - at->which];
  if (at->corner < 0) return !c->solid[0]->n_faces && !other->n_faces && at->distance < (1 - DEEP) * c->radii;
  return other->n_faces ? -at->distance > DEEP * other->half : at->distance < (1 - DEEP) * c->radii;
}

/* ---- Geometry with derivatives ---- */

typedef struct press {
  ga__dual normal[3]; /* from b to a */
  ga__dual point[3];
  ga__dual depth, weight;
} press;

static int pose_of(const scene *c, int which)
{
  return c->u->node[which] ? POSE + 6 * which : -1;
}

/* A point, and a vector, of a solid. */
static void point_of(ga__dual out[3], const scene *c, int which, const double x[3])
{
  const ga__frame *f = &c->frame[which];
  const int pose = pose_of(c, which);
  double r[3], arm[3];
  ga__mat3_mul_vec(r, f->A, x);
  for (int i = 0; i < 3; i++) arm[i] = f->r[i] + r[i];
  ga__dual_turning(out, c->n, pose < 0 ? -1 : pose + 3, arm);
  for (int i = 0; i < 3; i++) {
    out[i].v = f->p[i] + r[i];
    if (pose >= 0 && c->n > 0) out[i].d[pose + i] = 1;
  }
}

static void vector_of(ga__dual out[3], const scene *c, int which, const double x[3])
{
  const int pose = pose_of(c, which);
  double r[3];
  ga__mat3_mul_vec(r, c->frame[which].A, x);
  ga__dual_turning(out, c->n, pose < 0 ? -1 : pose + 3, r);
}

static void corner_of(ga__dual out[3], const scene *c, int which, int k)
{
  point_of(out, c, which, c->solid[which]->point + 3 * k);
}

static void edge_of(ga__dual from[3], ga__dual u[3], const scene *c, int which, int k)
{
  const ga__solid *s = c->solid[which];
  const double *a = s->point + 3 * s->edge[k].v[0], *b = s->point + 3 * s->edge[k].v[1];
  const double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  point_of(from, c, which, a);
  vector_of(u, c, which, along);
}

static ga__dual root(const ga__dual *a)
{
  const double r = sqrt(a->v);
  return ga__dual_chain(a, r, 0.5 / r);
}

/* Distance, direction and nearest point of a feature, from it to the point P of the other solid. */
static ga__dual measure_feature(const scene *c, int which, const ga__feature *f, const ga__dual P[3],
                                ga__dual e[3], ga__dual Q[3])
{
  ga__dual r[3], d;
  if (f->kind == GA__FACE) {
    const ga__solid_face *face = &c->solid[which]->face[f->index];
    ga__dual on[3];
    vector_of(e, c, which, face->n);
    corner_of(on, c, which, face->v[0]);
    ga__dual_minus(r, P, on);
    d = ga__dual_dot(e, r);
    const ga__dual back = ga__dual_linear(&d, -1, 0);
    ga__dual_along(Q, P, &back, e);
    return d;
  }
  if (f->kind == GA__CORNER) {
    corner_of(Q, c, which, f->index);
  } else {
    ga__dual from[3], u[3];
    edge_of(from, u, c, which, f->index);
    ga__dual_minus(r, P, from);
    const ga__dual ru = ga__dual_dot(r, u), uu = ga__dual_dot(u, u), s = ga__dual_div(&ru, &uu);
    ga__dual_along(Q, from, &s, u);
  }
  ga__dual_minus(r, P, Q);
  const ga__dual rr = ga__dual_dot(r, r);
  d = root(&rr);
  for (int i = 0; i < 3; i++) e[i] = ga__dual_div(&r[i], &d);
  return d;
}

/* The point in the middle between surfaces: Q with radius of one, P with that of the other, e from Q to P. */
static void set_point(press *out, const ga__dual P[3], double radius_P, const ga__dual Q[3], double radius_Q,
                      const ga__dual e[3])
{
  for (int i = 0; i < 3; i++) {
    const ga__dual sum = ga__dual_chain2(&P[i], &Q[i], 0.5 * (P[i].v + Q[i].v), 0.5, 0.5);
    out->point[i] = ga__dual_chain2(&sum, &e[i], sum.v + 0.5 * (radius_Q - radius_P) * e[i].v, 1,
                                    0.5 * (radius_Q - radius_P));
  }
}

static void press_corner(press *out, const scene *c, const place *at)
{
  const int other = 1 - at->which;
  ga__dual P[3], e[3], Q[3];
  corner_of(P, c, at->which, at->corner);
  const ga__dual d = measure_feature(c, other, &at->feature, P, e, Q);
  out->depth = ga__dual_linear(&d, -1, c->radii);
  out->weight = ga__dual_const(c->n, 1);
  set_point(out, P, c->solid[at->which]->radius, Q, c->solid[other]->radius, e);
  for (int i = 0; i < 3; i++) out->normal[i] = ga__dual_linear(&e[i], at->which == 0 ? 1 : -1, 0);
}

/* weight *= fade of x from a to b */
static void fade(press *out, const ga__dual *x, double a, double b)
{
  double slope;
  const double value = ga__fade(x->v, a, b, &slope);
  const ga__dual f = ga__dual_chain(x, value, slope);
  out->weight = ga__dual_mul(&out->weight, &f);
}

static void fade_ends(press *out, const ga__dual *s)
{
  const ga__dual rest = ga__dual_linear(s, -1, 1);
  fade(out, s, 0, GA__FADE_END);
  fade(out, &rest, 0, GA__FADE_END);
}

/* Beyond the faces at an edge: n in the direction that the edge faces, times sign. */
static void fade_normal(press *out, const scene *c, int which, int k, double sign)
{
  static const double range[2] = {GA__FADE_NORMAL};
  const ga__solid_edge *e = &c->solid[which]->edge[k];
  for (int i = 0; i < 2 && e->between_faces; i++) {
    ga__dual inward[3];
    vector_of(inward, c, which, e->inward[i]);
    const ga__dual beyond = ga__dual_dot(out->normal, inward), signed_ = ga__dual_linear(&beyond, sign, 0);
    fade(out, &signed_, range[1], range[0]);
  }
}

/* Points where the lines through two edges are nearest: A + s u, B + t w, with n = u × w. */
static void press_crossing(press *out, const scene *c, const place *at)
{
  static const double parallel[2] = {GA__FADE_PARALLEL};
  const ga__crossing *x = &at->crossing;
  ga__dual A[3], u[3], B[3], w[3], r[3], n[3], P[3], Q[3];
  edge_of(A, u, c, 0, x->edge[0]);
  edge_of(B, w, c, 1, x->edge[1]);
  ga__dual_minus(r, B, A);
  ga__dual_cross(n, u, w);
  const ga__dual uu = ga__dual_dot(u, u), ww = ga__dual_dot(w, w), uw = ga__dual_dot(u, w),
                 nn = ga__dual_dot(n, n), ru = ga__dual_dot(r, u), rw = ga__dual_dot(r, w);
  const ga__dual p = ga__dual_mul(&ru, &ww), q = ga__dual_mul(&rw, &uw), p2 = ga__dual_mul(&ru, &uw),
                 q2 = ga__dual_mul(&rw, &uu), top = ga__dual_sub(&p, &q), top2 = ga__dual_sub(&p2, &q2);
  const ga__dual s = ga__dual_div(&top, &nn), t = ga__dual_div(&top2, &nn), length = root(&nn);
  ga__dual_along(P, A, &s, u);
  ga__dual_along(Q, B, &t, w);
  for (int i = 0; i < 3; i++) {
    const ga__dual e = ga__dual_div(&n[i], &length);
    out->normal[i] = ga__dual_linear(&e, x->sign, 0);
  }
  const ga__dual apart = ga__dual_dot(out->normal, r);
  out->depth = ga__dual_linear(&apart, 1, c->radii);
  out->weight = ga__dual_const(c->n, 1);
  set_point(out, P, c->solid[0]->radius, Q, c->solid[1]->radius, out->normal);
  fade_ends(out, &s);
  fade_ends(out, &t);
  const ga__dual sizes = ga__dual_mul(&uu, &ww), size = root(&sizes), sine = ga__dual_div(&length, &size);
  fade(out, &sine, parallel[0], parallel[1]);
  fade_normal(out, c, 0, x->edge[0], -1);
  fade_normal(out, c, 1, x->edge[1], 1);
}

static void press_at(press *out, const scene *c, const place *at)
{
  if (at->corner < 0)
    press_crossing(out, c, at);
  else
    press_corner(out, c, at);
}

/* ---- Forces ---- */

typedef struct result {
  ga__dual six[2][6];     /* wrenches about the origins of the nodes */
  ga__dual normal, F[3];  /* sum of N; force on a */
  ga__dual tangential[3]; /* friction on a */
  ga__dual moment[3];     /* Σ N P */
  ga__dual stored;        /* [J] */
  double power;           /* [W] of all forces */
  double at_node[2][3];
  int near; /* 0: they are far apart, and nothing else is set */
} result;

/* What one place does. */
typedef struct push {
  ga__dual six[2][6], N, F[3], tangential[3], stored;
  ga__dual rate[3]; /* of its memory, in the axes of b */
  double power;
} push;

/* Who wants to know of single corners with a memory: rates of states, derivatives. */
typedef struct listener {
  const ga__eval *e;
  const ga__element *el;
  double *s;        /* rates; NULL: none */
  ga_jacobian *J;   /* NULL: none */
  double *by_state; /* [3 n_x] of the force on a; NULL: none */
  int only_looks;   /* 1: states between steps may be too deep */
} listener;

/* Velocity of a point that moves with a node. */
static void velocity_at(ga__dual out[3], const scene *c, int which, const ga__kin *kin, const ga__dual P[3])
{
  const int node = c->u->node[which], pose = pose_of(c, which), twist = node ? TWIST + 6 * which : -1;
  ga__dual arm[3], omega[3], turn[3];
  for (int i = 0; i < 3; i++) {
    const ga__dual x = ga__dual_variable(c->n, pose < 0 ? -1 : pose + i, kin[node].x[i]);
    arm[i] = ga__dual_sub(&P[i], &x);
    omega[i] = ga__dual_variable(c->n, twist < 0 ? -1 : twist + 3 + i, node ? kin[node].w[3 + i] : 0);
    out[i] = ga__dual_variable(c->n, twist < 0 ? -1 : twist + i, node ? kin[node].w[i] : 0);
  }
  ga__dual_cross(turn, omega, arm);
  for (int i = 0; i < 3; i++) out[i] = ga__dual_add(&out[i], &turn[i]);
}

/* N, and what is stored. */
static ga__dual normal_force(const ga_collision_def *d, const press *p, const ga__dual *rate,
                             ga__dual *stored)
{
  const double root_k = d->stiffness * pow(p->depth.v, d->exponent - 1), elastic = root_k * p->depth.v;
  const ga__dual damp = ga__dual_linear(rate, d->dissipation, 1);
  *stored = ga__dual_chain(&p->depth, elastic * p->depth.v / (d->exponent + 1), elastic);
  *stored = ga__dual_mul(stored, &p->weight);
  if (damp.v <= 0) return ga__dual_const(damp.n, 0);
  ga__dual N = ga__dual_chain(&p->depth, elastic, d->exponent * root_k);
  N = ga__dual_mul(&N, &damp);
  return ga__dual_mul(&N, &p->weight);
}

/* |v|; at 0 without derivatives, where what it is a factor of changes sides. */
static ga__dual size_of(const ga__dual v[3])
{
  const ga__dual plane = ga__dual_hypot(&v[0], &v[1]);
  return ga__dual_hypot(&plane, &v[2]);
}

/* t: friction −μ N v/√(v² + s²). */
static void add_friction(ga__dual t[3], const ga_collision_def *d, const ga__dual *N, const ga__dual vt[3])
{
  ga__dual vv = ga__dual_dot(vt, vt);
  vv = ga__dual_linear(&vv, 1, d->speed * d->speed);
  const ga__dual speed = root(&vv), level = ga__dual_linear(N, -d->mu, 0), by = ga__dual_div(&level, &speed);
  ga__dual_along(t, t, &by, vt);
}

/* The memory of a corner: z in the axes of b, with its derivatives. */
static void memory_of(ga__dual out[3], const scene *c, const double z[3])
{
  vector_of(out, c, 1, z);
  for (int k = 0; k < 9 && c->n == WITH_MEMORY; k++) out[k / 3].d[STATE + k % 3] = c->frame[1].A[k];
}

static void add_friction_with_memory(push *out, const scene *c, const ga__dual *N, const ga__dual n[3],
                                     const ga__dual vt[3], const double z[3])
{
  const ga_collision_def *d = c->u->def;
  const double s = d->speed;
  ga__dual zeta[3], along[3], change[3];
  memory_of(zeta, c, z);
  const ga__dual zn = ga__dual_dot(zeta, n), back = ga__dual_linear(&zn, -1, 0);
  ga__dual_along(along, zeta, &back, n);
  const ga__dual zz = ga__dual_dot(along, along), vv = ga__dual_dot(vt, vt), v = size_of(vt);
  const ga__dual level = ga__dual_linear(N, -d->mu, 0), sum = ga__dual_linear(&vv, 1, s * s),
                 share = ga__dual_div(&level, &sum), hold = ga__dual_linear(&share, s * s, 0);
  ga__dual slide = ga__dual_chain2(&zz, &v, s * (1 - zz.v) + v.v, -s, 1);
  slide = ga__dual_mul(&share, &slide);
  ga__dual_along(out->tangential, out->tangential, &hold, along);
  ga__dual_along(out->tangential, out->tangential, &slide, vt);
  const ga__dual less = ga__dual_linear(&v, -1, 0);
  ga__dual_along(change, vt, &less, zeta);
  for (int i = 0; i < 3; i++) {
    double axis[3] = {0, 0, 0};
    ga__dual turned[3];
    axis[i] = 1 / d->stick;
    vector_of(turned, c, 1, axis);
    out->rate[i] = ga__dual_dot(turned, change);
  }
}

static void set_wrench(push *out, const scene *c, const result *r, const ga__dual P[3])
{
  for (int which = 0; which < 2; which++) {
    const int pose = pose_of(c, which);
    ga__dual arm[3];
    for (int i = 0; i < 3; i++) {
      const ga__dual x = ga__dual_variable(c->n, pose < 0 ? -1 : pose + i, r->at_node[which][i]);
      arm[i] = ga__dual_sub(&P[i], &x);
      out->six[which][i] = ga__dual_linear(&out->F[i], which ? -1 : 1, 0);
    }
    ga__dual_cross(out->six[which] + 3, arm, out->six[which]);
  }
}

/* z: memory of a corner, NULL: none. */
static void push_at(push *out, const scene *c, const ga__kin *kin, const press *p, const double *z)
{
  const ga_collision_def *d = c->u->def;
  ga__dual va[3], vb[3], v[3], vt[3];
  velocity_at(va, c, 0, kin, p->point);
  velocity_at(vb, c, 1, kin, p->point);
  ga__dual_minus(v, va, vb);
  const ga__dual away = ga__dual_dot(p->normal, v), rate = ga__dual_linear(&away, -1, 0);
  out->N = normal_force(d, p, &rate, &out->stored);
  ga__dual_along(vt, v, &rate, p->normal);
  for (int i = 0; i < 3; i++) out->tangential[i] = ga__dual_const(c->n, 0);
  if (d->mu > 0 && z)
    add_friction_with_memory(out, c, &out->N, p->normal, vt, z);
  else if (d->mu > 0)
    add_friction(out->tangential, d, &out->N, vt);
  ga__dual_along(out->F, out->tangential, &out->N, p->normal);
  out->power = 0;
  for (int i = 0; i < 3; i++) out->power += out->F[i].v * v[i].v;
}

static void add_push(result *out, const push *p, const ga__dual point[3])
{
  for (int i = 0; i < 12; i++)
    out->six[i / 6][i % 6] = ga__dual_add(&out->six[i / 6][i % 6], &p->six[i / 6][i % 6]);
  out->normal = ga__dual_add(&out->normal, &p->N);
  out->stored = ga__dual_add(&out->stored, &p->stored);
  ga__dual_along(out->moment, out->moment, &p->N, point);
  for (int i = 0; i < 3; i++) {
    out->F[i] = ga__dual_add(&out->F[i], &p->F[i]);
    out->tangential[i] = ga__dual_add(&out->tangential[i], &p->tangential[i]);
  }
  out->power += p->power;
}

static void clear_result(result *out, const scene *c, const ga__kin *kin)
{
  const ga__dual zero = ga__dual_const(c->n, 0);
  out->normal = out->stored = zero;
  out->power = 0;
  for (int i = 0; i < 3; i++) out->F[i] = out->moment[i] = out->tangential[i] = zero;
  for (int which = 0; which < 2; which++) {
    memcpy(out->at_node[which], kin[c->u->node[which]].x, sizeof out->at_node[which]);
    for (int i = 0; i < 6; i++) out->six[which][i] = zero;
  }
}

/* Says that one is nearly through the other, and asks for a smaller step. */
static int fail_deep(const ga__eval *e, const ga__element *el, const scene *c, const place *at)
{
  const collision *u = el->data;
  if (!e->work) return 1;
  ga__refuse_part(e->work->ctx, &e->m->part[el->part], GA_RETRY_NAN, GA_REASON_COLLIDERS_TOO_DEEP,
                  (ga__facts){.name = u->def->a,
                              .other = u->def->b,
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({c->radii - at->distance, "m"})});
  return 1;
}

/* 1: they may touch; then the scene is complete. */
static int may_touch(scene *c)
{
  if (!is_near(c, 0)) return 0;
  relate(c);
  return !has_crossings(c) || ga__solids_meet(c->solid[0], c->solid[1], &c->in[1]);
}

/* Number of the first state of a corner among those of the element; −1: it has none. */
static int memory_at(const scene *c, const place *at)
{
  if (!c->u->own || at->corner < 0) return -1;
  return 3 * (at->corner + (at->which && sends_corners(c, 0) ? c->solid[0]->n_corners : 0));
}

static void tell(const listener *l, const collision *u, const push *p, int first);

static int eval_collision(result *out, const ga__eval *e, const ga__element *el, int n, const listener *l)
{
  scene c;
  place at;
  press p;
  push f;
  set_scene(&c, e->b, e->kin, el->data, n);
  out->near = may_touch(&c);
  if (!out->near) return 0;
  clear_result(out, &c, e->kin);
  search s = search_in(&c, c.radii);
  while (next_place(&c, &s, &at)) {
    if (!(l && l->only_looks) && is_deep(&c, &at)) return fail_deep(e, el, &c, &at);
    const int first = memory_at(&c, &at);
    press_at(&p, &c, &at);
    push_at(&f, &c, e->kin, &p, first >= 0 && e->p->x ? e->p->x + el->x + first : NULL);
    set_wrench(&f, &c, out, p.point);
    add_push(out, &f, p.point);
    if (l && first >= 0) tell(l, c.u, &f, first);
  }
  return 0;
}

/* The place where cores are nearest to each other; returns 0: there is none. */
static int find_nearest(const scene *c, place *out)
{
  search s = search_in(c, INFINITY);
  place at;
  int found = 0;
  out->distance = INFINITY;
  while (next_place(c, &s, &at))
    if (at.distance < out->distance) *out = at, found = 1;
  return found;
}

/* ---- Building ---- */

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static ga_status check_pair(ga_machine *m, int part, const collision *u)
{
  const ga_collision_def *d = u->def;
  if (u->node[0] == u->node[1])
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                           (ga__facts){.name = d->a, .other = d->b});
  if (u->of[0]->solid.is_plane && u->of[1]->solid.is_plane)
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_TWO_PLANES,
                           (ga__facts){.name = d->a, .other = d->b});
  return GA_OK;
}

static ga_status reserve(ga_machine *m, collision *u, int n_x)
{
  u->n = WITH_MEMORY;
  u->port = ga__alloc(m->ctx, 2 * (size_t)n_x, sizeof *u->port);
  u->row = ga__alloc(m->ctx, 2 * (size_t)n_x, sizeof *u->row);
  u->own = ga__alloc(m->ctx, 3 * (size_t)n_x, sizeof *u->own);
  return u->port && u->row && u->own ? GA_OK : ga__no_memory(m->ctx, "the memory of a friction");
}

static void release(ga_context *ctx, ga__element *el)
{
  const collision *u = el->data;
  ga__free(ctx, u->port);
  ga__free(ctx, u->row);
  ga__free(ctx, u->own);
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_collision_def *d = m->part[part].def;
  const char *const field[2] = {"a", "b"}, *const name[2] = {d->a, d->b};
  collision own = {.def = d, .n = ALL};
  scene c = {.u = &own};
  int corners = 0;
  for (int i = 0; i < 2; i++) {
    const ga_status status = ga__resolve_collider(m, b, &m->part[part], field[i], name[i], &own.of[i]);
    if (status) return status;
    own.node[i] = own.of[i]->node;
    c.solid[i] = &own.of[i]->solid;
  }
  const ga_status status = check_pair(m, part, &own);
  if (status) return status;
  for (int i = 0; i < 2 && d->stick > 0 && d->mu > 0; i++)
    if (sends_corners(&c, i)) corners += c.solid[i]->n_corners;
  const ga__element *el = ga__element_add(m, b, part, &ga__collision_type, 3 * corners, 0);
  if (!el) return GA_ERR_MEMORY;
  collision *u = el->data;
  *u = own;
  return corners ? reserve(m, u, el->n_x) : GA_OK;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const collision *u = el->data;
  ga_status status = GA_OK;
  for (int k = 0; k < 4 && !status; k++)
    if (u->node[k / 2] && u->node[k % 2]) status = ga__want_block(b, u->node[k / 2], u->node[k % 2], 0);
  for (int k = 0; k < 2 * el->n_x && !status; k++)
    if (u->node[k % 2]) status = ga__want_port(&b->pattern, u->node[k % 2], ga__column_x(b, el->x + k / 2));
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  collision *u = el->data;
  for (int k = 0; k < 4; k++)
    u->pair[k / 2][k % 2] =
        u->node[k / 2] && u->node[k % 2] ? ga__find_pair(&b->pattern, u->node[k / 2], u->node[k % 2]) : -1;
  for (int k = 0; k < 2 * el->n_x; k++) {
    const int node = u->node[k % 2], x = ga__column_x(b, el->x + k / 2);
    u->port[k] = node ? ga__find_port(&b->pattern, node, x) : -1;
    u->row[k] = node ? ga__own_rows(&b->pattern, node_at(b, node), x, 1, 0) : 0;
    if (u->row[k] < 0) return GA_ERR_MEMORY;
  }
  for (int k = 0; k < 3 * el->n_x; k++) {
    const int i = k / 3, j = i - i % 3 + k % 3;
    u->own[k] = ga__own_entry(&b->pattern, ga__column_x(b, el->x + i), ga__column_x(b, el->x + j));
    if (u->own[k] < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

/* ---- Evaluation ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const collision *u = el->data;
  result r;
  const int status = eval_collision(&r, e, el, 0, NULL);
  if (status || !r.near) return status;
  for (int which = 0; which < 2; which++) {
    const ga__node *node = node_at(e->b, u->node[which]);
    double w[6];
    if (!u->node[which]) continue;
    for (int i = 0; i < 6; i++) w[i] = r.six[which][i].v;
    ga__add_six(f + node->v, node, 1, w);
  }
  return 0;
}

/* Off contact the memory fades. */
static double fading(const ga_collision_def *d)
{
  return d->speed / d->stick;
}

static int state(const ga__eval *e, const ga__element *el, double *s)
{
  const collision *u = el->data;
  result r;
  for (int i = 0; i < el->n_x; i++) s[el->x + i] = -fading(u->def) * e->p->x[el->x + i];
  return el->n_x ? eval_collision(&r, e, el, 0, &(listener){e, el, s, NULL, NULL, 0}) : 0;
}

/* Derivatives by and of the states of a corner; that they fade was added for all of them. */
static void add_memory(const listener *l, const collision *u, const push *p, int first)
{
  const ga_jacobian *J = l->J;
  const int D = J->want & GA_WANT_D, Q = J->want & GA_WANT_Q;
  for (int i = first; i < first + 3; i++) {
    const ga__dual *rate = &p->rate[i - first];
    for (int j = 0; j < 2; j++) {
      const ga__node *node = node_at(l->e->b, u->node[j]);
      double by[6];
      if (!u->node[j]) continue;
      for (int k = 0; k < 6; k++) by[k] = p->six[j][k].d[STATE + i - first];
      if (D) ga__add_port(J->D, l->e->b, u->port[2 * i + j], -1, by);
      if (D) ga__add_six(J->D + u->row[2 * i + j], node, -J->shift_v, rate->d + TWIST + 6 * j);
      if (Q) ga__add_six(J->Q + u->row[2 * i + j], node, -1, rate->d + POSE + 6 * j);
    }
    for (int k = 0; k < 3 && D; k++)
      J->D[u->own[3 * i + k]] -= rate->d[STATE + k] + (k == i - first ? fading(u->def) : 0);
  }
}

static void tell(const listener *l, const collision *u, const push *p, int first)
{
  for (int i = 0; i < 3 && l->s; i++) l->s[l->el->x + first + i] = p->rate[i].v;
  if (l->J) add_memory(l, u, p, first);
  for (int k = 0; k < 9 && l->by_state; k++)
    l->by_state[3 * (first + k / 3) + k % 3] = p->F[k % 3].d[STATE + k / 3];
}

/* Residuals have −f. */
static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const collision *u = el->data;
  result r;
  if (!ga__wants_forces(J)) return 0;
  for (int i = 0; i < el->n_x && J->want & GA_WANT_D; i++) J->D[u->own[3 * i + i % 3]] += fading(u->def);
  const int status = eval_collision(&r, e, el, u->n, &(listener){e, el, NULL, J, NULL, 0});
  if (status || !r.near) return status;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double Q[36], D[36];
      if (u->pair[i][j] < 0) continue;
      for (int k = 0; k < 36; k++) {
        Q[k] = r.six[i][k / 6].d[POSE + 6 * j + k % 6];
        D[k] = r.six[i][k / 6].d[TWIST + 6 * j + k % 6];
      }
      if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->pair[i][j], -1, Q);
      if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, u->pair[i][j], -J->shift_v, D);
    }
  return 0;
}

/* What is not stored of the forces' work is lost. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const collision *u = el->data;
  result r;
  const int status = eval_collision(&r, e, el, ALL, &(listener){.e = e, .el = el, .only_looks = 1});
  double rate = 0;
  if (status || !r.near) return status;
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < 6 && u->node[which]; i++)
      rate += r.stored.d[POSE + 6 * which + i] * e->kin[u->node[which]].w[i];
  out->potential += r.stored.v;
  out->lost -= r.power + rate;
  return 0;
}

/* ---- Signals ---- */

enum { GAP, NORMAL, TANGENTIAL, FX, FY, FZ, X, Y, Z, N_SIGNALS };

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return N_SIGNALS;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const struct {
    const char *name, *unit;
  } SIGNAL[N_SIGNALS] = {[GAP] = {"gap", "m"}, [NORMAL] = {"normal", "N"}, [TANGENTIAL] = {"tangential", "N"},
                         [FX] = {"fx", "N"},   [FY] = {"fy", "N"},         [FZ] = {"fz", "N"},
                         [X] = {"x", "m"},     [Y] = {"y", "m"},           [Z] = {"z", "m"}};
  (void)b;
  ga__signal_set(out, SIGNAL[i].name, SIGNAL[i].unit, GA__PROBE_ELEMENT, i);
  out->probe.owner = part;
}

#define ABOUT                                                                                                \
  0.01 /* [-] of the reach: places so much farther apart than the nearest one count half or less */

/* Apart, the mean point of the nearest places, so that it does not jump between equal ones: weights (1 +
 * u²)^−2, u = (d − d_nearest)/ε. */
static ga__dual point_between(const scene *c, const press *nearest, int i)
{
  const double about = ABOUT * fmin(c->solid[0]->reach, c->solid[1]->reach);
  ga__dual sum = ga__dual_const(c->n, 0), weights = sum;
  search s = search_in(c, c->radii - nearest->depth.v + 4 * about);
  place at;
  press p;
  while (next_place(c, &s, &at)) {
    press_at(&p, c, &at);
    const ga__dual off = ga__dual_sub(&nearest->depth, &p.depth);
    const double u = off.v / about, v = 1 / (1 + u * u);
    const ga__dual by = ga__dual_chain(&off, v * v, -4 * u * v * v * v / about),
                   w = ga__dual_mul(&by, &p.weight), share = ga__dual_mul(&w, &p.point[i]);
    sum = ga__dual_add(&sum, &share);
    weights = ga__dual_add(&weights, &w);
  }
  return weights.v > 0 ? ga__dual_div(&sum, &weights) : nearest->point[i];
}

/* The gap, and the point of contact of solids that are apart. */
static void place_dual(ga__dual *out, const ga__eval *e, const ga__element *el, int i, int n)
{
  scene c;
  place at;
  press p;
  set_scene(&c, e->b, e->kin, el->data, n);
  relate(&c);
  *out = ga__dual_const(n, 0);
  if (!find_nearest(&c, &at)) return;
  press_at(&p, &c, &at);
  *out = i == GAP ? ga__dual_linear(&p.depth, -1, 0) : point_between(&c, &p, i - X);
}

static int signal_dual(ga__dual *out, result *r, const ga__eval *e, const ga__element *el, int i, int n,
                       double *by_state)
{
  const int status = eval_collision(r, e, el, n, &(listener){e, el, NULL, NULL, by_state, 1});
  if (status) return status;
  if (i == GAP || (i >= X && !(r->near && r->normal.v > 0)))
    place_dual(out, e, el, i, n);
  else if (!r->near)
    *out = ga__dual_const(n, 0);
  else if (i == NORMAL)
    *out = r->normal;
  else if (i == TANGENTIAL)
    *out = size_of(r->tangential);
  else
    *out = i < X ? r->F[i - FX] : ga__dual_div(&r->moment[i - X], &r->normal);
  return 0;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  result r;
  ga__dual s;
  const int status = signal_dual(&s, &r, e, el, i, 0, NULL);
  *out = status ? NAN : s.v;
  return status;
}

static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const collision *u = el->data;
  int n = 0;
  (void)i;
  for (int j = 0; j < 2; j++)
    for (int k = 0; u->node[j] && k < node_at(b, u->node[j])->n; k++, n++)
      if (n < room) column[n] = node_at(b, u->node[j])->v + k;
  for (int k = 0; k < el->n_x; k++, n++)
    if (n < room) column[n] = ga__column_x(b, el->x + k);
  return n;
}

/* Forces by the memory of corners. */
static double by_memory(const result *r, int i, const double by[3])
{
  double along = 0, size = 0;
  if (!r->near) return 0;
  if (i >= FX && i <= FZ) return by[i - FX];
  for (int k = 0; k < 3; k++)
    along += r->tangential[k].v * by[k], size += r->tangential[k].v * r->tangential[k].v;
  return i == TANGENTIAL && size > 0 ? along / sqrt(size) : 0;
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const collision *u = el->data;
  double *by_state = el->n_x ? e->work->scratch : NULL;
  result r;
  ga__dual s;
  int n = 0;
  (void)shift_vdot;
  for (int k = 0; k < 3 * el->n_x; k++) by_state[k] = 0;
  const int status = signal_dual(&s, &r, e, el, i, u->n, by_state);
  if (status) return status;
  for (int j = 0; j < 2; j++) {
    const ga__node *node = node_at(e->b, u->node[j]);
    for (int k = 0; k < 6 && u->node[j]; k++) {
      if (node->column[k] < 0) continue;
      d[n] = shift_v * s.d[TWIST + 6 * j + k];
      dq[n++] = s.d[POSE + 6 * j + k];
    }
  }
  for (int k = 0; k < el->n_x; k++) d[n] = by_memory(&r, i, by_state + 3 * k), dq[n++] = 0;
  return 0;
}

static size_t scratch(const ga__element *el)
{
  return 3 * (size_t)el->n_x;
}

/* ---- Edges: where contact begins and ends, and where a place passes from one feature to another ---- */

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

static unsigned feature_number(const scene *c, const place *at)
{
  const ga__feature *f = &at->feature;
  if (at->corner < 0) return 0;
  const int index = f->kind == GA__FACE ? c->solid[1 - at->which]->face[f->index].plane : f->index;
  return 1u + 3u * (unsigned)index + (unsigned)f->kind;
}

static int side(const ga__eval *e, const ga__element *el, unsigned *number)
{
  const collision *u = el->data;
  scene c;
  place at;
  set_scene(&c, e->b, e->kin, u, 0);
  if (!may_touch(&c)) return 0;
  search s = search_in(&c, c.radii);
  while (next_place(&c, &s, &at)) {
    ga__dual va[3], vb[3];
    press p;
    double away = 0;
    press_at(&p, &c, &at);
    velocity_at(va, &c, 0, e->kin, p.point);
    velocity_at(vb, &c, 1, e->kin, p.point);
    for (int i = 0; i < 3; i++) away += p.normal[i].v * (va[i].v - vb[i].v);
    ga__mix_side(number, 1 + at.which);
    ga__mix_side(number, at.corner < 0 ? at.crossing.edge[0] : at.corner);
    ga__mix_side(number, at.corner < 0 ? at.crossing.edge[1] : (int)feature_number(&c, &at));
    ga__mix_side(number, u->def->dissipation * away < 1);
  }
  return 0;
}

/* ---- Contact between the ends of a step ---- */

static int may_hide(const ga__element *el)
{
  (void)el;
  return 1;
}

typedef struct moment {
  double gap, rate; /* of the nearest place */
  double speed;     /* [m/s] no place comes nearer faster */
  double normal[3]; /* 0: they are far apart */
} moment;

/* Poses and twists of both nodes. */
static void move_to(ga__workspace *w, const collision *u, const ga_instant *at)
{
  w->motion = 0; /* kin belongs to no evaluation any more */
  if (w->b->form || w->b->carried.n) {
    ga__kin_at(w->b, at->q, at->v, NULL, w->kin);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const ga__node *node = node_at(w->b, u->node[i]);
    if (node->rigid)
      ga__kin_rigid(node, at->q, at->v, NULL, &w->kin[u->node[i]]);
    else
      ga__kin_other(node, at->q, at->v, NULL, &w->kin[u->node[i]]);
  }
}

/* Relative velocity at the centre c of the smaller solid, and what rotations add within its reach and the
 * gap. */
static void set_speed(moment *m, const ga__workspace *w, const scene *c)
{
  const int small = c->solid[0]->reach <= c->solid[1]->reach ? 0 : 1;
  const ga__solid *s = c->solid[small];
  double centre[3], v[3] = {0, 0, 0}, spin = 0;
  ga__mat3_mul_vec(centre, c->frame[small].A, s->centre);
  for (int i = 0; i < 2; i++) {
    const ga__kin *k = &w->kin[c->u->node[i]];
    double arm[3], turn[3];
    if (!c->u->node[i]) continue;
    for (int j = 0; j < 3; j++) arm[j] = centre[j] + c->frame[small].p[j] - k->x[j];
    ga__vec3_cross(turn, k->w + 3, arm);
    for (int j = 0; j < 3; j++) v[j] += (i ? -1 : 1) * (k->w[j] + turn[j]);
    spin += sqrt(ga__vec3_dot(k->w + 3, k->w + 3));
  }
  m->speed = sqrt(ga__vec3_dot(v, v)) + spin * (s->reach + fmax(m->gap, 0));
}

/* far: [m] gaps beyond it need not be known. */
static moment moment_at(ga__workspace *w, const collision *u, const ga_instant *at, double far)
{
  scene c;
  place near;
  press p;
  ga__dual va[3], vb[3];
  moment out = {.gap = far};
  move_to(w, u, at);
  set_scene(&c, w->b, w->kin, u, 0);
  const int within = is_near(&c, far);
  if (within) relate(&c);
  if (within && find_nearest(&c, &near)) {
    press_at(&p, &c, &near);
    velocity_at(va, &c, 0, w->kin, p.point);
    velocity_at(vb, &c, 1, w->kin, p.point);
    out.gap = near.distance - c.radii;
    for (int i = 0; i < 3; i++) {
      out.normal[i] = p.normal[i].v;
      out.rate += p.normal[i].v * (va[i].v - vb[i].v);
    }
  }
  set_speed(&out, w, &c);
  return out;
}

#define FASTER 1.5 /* [-] than at the ends of a piece, within it */
#define ALIKE 0.9  /* [-] cosine of the angle between normals up to which they are those of one place */
#define DEEPER 1.25

/* The least gap within a piece of length h: of a cubic, which stays within its Bézier points, where the same
 * place presses at an end; else at least (g₀ + g₁ − V h)/2. */
static double least_gap(const moment end[2], double speed, double h)
{
  const double lower = 0.5 * (end[0].gap + end[1].gap - speed * h), ends = fmin(end[0].gap, end[1].gap);
  if (ends > 0 || !(ga__vec3_dot(end[0].normal, end[1].normal) > ALIKE)) return fmin(lower, ends);
  return fmin(ends, fmin(end[0].gap + h / 3 * end[0].rate, end[1].gap - h / 3 * end[1].rate));
}

/* 1: within the piece they may press more than at the ends of the step. */
static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const collision *u = el->data;
  const double h = piece->t[1] - piece->t[0];
  moment end[2];
  double speed = 0, depth = 0;
  for (int i = 0; i < 2; i++) end[i] = moment_at(w, u, &piece->end[i], 0);
  for (int i = 0; i < 2; i++) speed = fmax(speed, FASTER * end[i].speed);
  for (int i = 0; i < 2 && h > 0; i++) end[i] = moment_at(w, u, &piece->end[i], speed * h);
  const double least = least_gap(end, speed, h);
  if (least >= 0) return 0;
  for (int i = 0; i < 2; i++) depth = fmax(depth, -moment_at(w, u, &step->end[i], 0).gap);
  return least < -DEEPER * depth;
}

const ga__element_type ga__collision_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(collision),
    .no_accelerations = 1,
    .create = {[GA__CREATE_OUTPUTS] = create},
    .want = want,
    .bind = bind,
    .release = release,
    .force = force,
    .state = state,
    .jacobian = jacobian,
    .scratch = scratch,
    .powers = powers,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .has_edges = has_edges,
    .side = side,
    .may_hide = may_hide,
    .hides = hides,
};
