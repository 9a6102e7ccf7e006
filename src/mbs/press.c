/* Places where two solids press on each other, found with plain numbers (near.c), and their depths, normals
 * and points with derivatives by the poses of both nodes. */
#include "mbs/press.h"

#include "mbs/dented.h"

#include "lie/mat3.h"
#include <math.h>

enum { POSE = 0 }; /* first of the variables */
#define DEEP 0.8   /* [-] of the way to the middle of the other: beyond, it would be pushed out behind it */

/* ---- Where ---- */

static void set_relative(ga__relative *g, const ga__frame *from, const ga__frame *to)
{
  double At[9], d[3];
  ga__mat3_transpose(At, to->A);
  ga__mat3_mul(g->R, At, from->A);
  for (int i = 0; i < 3; i++) d[i] = from->p[i] - to->p[i];
  ga__mat3_mul_vec(g->p, At, d);
}

void ga__scene_set(ga__scene *c, const ga__mbs_model *b, const ga__kin *kin, const ga__collider *const of[2],
                   int n)
{
  c->n = n;
  c->radii = 0;
  for (int i = 0; i < 2; i++) {
    c->solid[i] = &of[i]->solid;
    c->node[i] = of[i]->node;
    c->radii += c->solid[i]->radius;
    ga__frame_at(&c->frame[i], GA__AT(b->marker, ga__marker, of[i]->marker), kin);
  }
}

/* What a search needs beyond that. */
void ga__scene_relate(ga__scene *c)
{
  for (int i = 0; i < 2; i++) set_relative(&c->in[i], &c->frame[i], &c->frame[1 - i]);
}

static int is_ball(const ga__solid *s)
{
  return s->n_corners == 1;
}

/* 1: corners of a (0) or b (1) are compared with the other. The centre of a ball is compared, not what is
 * around it. */
int ga__sends_corners(const ga__scene *c, int which)
{
  const ga__solid *own = c->solid[which], *other = c->solid[1 - which];
  if (is_ball(own)) return !is_ball(other) || which == 0;
  return !own->is_plane && !is_ball(other);
}

static int has_crossings(const ga__scene *c)
{
  return c->solid[0]->n_edges > 0 && c->solid[1]->n_edges > 0;
}

/* 1: balls around both are less than `far` apart. Most pairs end here. */
int ga__scene_is_near(const ga__scene *c, double far)
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

ga__search ga__search_in(const ga__scene *c, double most)
{
  ga__search s = {.most = most};
  const int convex = !c->solid[0]->dents && !c->solid[1]->dents; /* else cores must not overlap at all */
  if (has_crossings(c) && convex)
    s.deepest = ga__least_overlap(c->solid[0], c->solid[1], &c->in[0], &c->in[1]);
  return s;
}

/* From a corner of a solid that is not convex to what it is near, in its own axes: only what it faces
 * presses. */
static int is_faced(const ga__scene *c, int which, int corner, const ga__feature *f)
{
  const ga__solid *own = c->solid[which], *other = c->solid[1 - which];
  const double *at = own->point + 3 * corner;
  double x[3], e[3], turned[3], length;
  if (!own->dents || other->is_plane) return 1;
  ga__relative_apply(x, &c->in[which], at);
  ga__feature_direction(e, other, f, x);
  ga__mat3_mul_vec(turned, c->in[1 - which].R, e);
  length = sqrt(ga__vec3_dot(turned, turned));
  for (int i = 0; i < 3; i++) turned[i] /= -length;
  return ga__dents_face(own, corner, turned);
}

/* What a corner is near: out->near, n_near. */
static void look_about(const ga__scene *c, ga__search *s)
{
  const ga__solid *own = c->solid[s->which], *other = c->solid[1 - s->which];
  double x[3];
  ga__relative_apply(x, &c->in[s->which], own->point + 3 * s->corner);
  if (other->dents) {
    s->n_near = ga__dents_near(other, x, s->most, s->near);
  } else {
    ga__feature one;
    s->n_near = ga__solid_nearest(other, x, s->most, &one);
    s->near[0] = (ga__features){.of = {one}, .n = 1};
  }
  if (s->n_near == 1 && !is_faced(c, s->which, s->corner, &s->near[0].of[0])) s->n_near = 0;
}

int ga__next_place(const ga__scene *c, ga__search *s, ga__place *out)
{
  for (; s->which < 2; s->which++, s->corner = 0) {
    const ga__solid *own = c->solid[s->which];
    while (ga__sends_corners(c, s->which) && (s->n_near > 0 || s->corner < own->n_corners)) {
      if (s->n_near == 0) {
        look_about(c, s);
        s->corner++;
        continue;
      }
      out->alike = s->near[--s->n_near];
      out->feature = out->alike.of[0];
      out->which = s->which, out->corner = s->corner - 1;
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
int ga__place_is_deep(const ga__scene *c, const ga__place *at)
{
  const ga__solid *own = c->solid[at->which], *other = c->solid[1 - at->which];
  if ((own->dents || other->dents) && !own->is_plane && !other->is_plane)
    return at->distance < (1 - DEEP) * c->radii;
  if (at->corner < 0) return !c->solid[0]->n_faces && !other->n_faces && at->distance < (1 - DEEP) * c->radii;
  return other->n_faces ? -at->distance > DEEP * other->half : at->distance < (1 - DEEP) * c->radii;
}

/* ---- Geometry with derivatives ---- */

int ga__scene_pose(const ga__scene *c, int which)
{
  return c->node[which] ? POSE + 6 * which : -1;
}

/* A point, and a vector, of a solid. */
static void point_of(ga__dual out[3], const ga__scene *c, int which, const double x[3])
{
  const ga__frame *f = &c->frame[which];
  const int pose = ga__scene_pose(c, which);
  double r[3], arm[3];
  ga__mat3_mul_vec(r, f->A, x);
  for (int i = 0; i < 3; i++) arm[i] = f->r[i] + r[i];
  ga__dual_turning(out, c->n, pose < 0 ? -1 : pose + 3, arm);
  for (int i = 0; i < 3; i++) {
    out[i].v = f->p[i] + r[i];
    if (pose >= 0 && c->n > 0) out[i].d[pose + i] = 1;
  }
}

void ga__scene_vector(ga__dual out[3], const ga__scene *c, int which, const double x[3])
{
  const int pose = ga__scene_pose(c, which);
  double r[3];
  ga__mat3_mul_vec(r, c->frame[which].A, x);
  ga__dual_turning(out, c->n, pose < 0 ? -1 : pose + 3, r);
}

static void corner_of(ga__dual out[3], const ga__scene *c, int which, int k)
{
  point_of(out, c, which, c->solid[which]->point + 3 * k);
}

static void edge_of(ga__dual from[3], ga__dual u[3], const ga__scene *c, int which, int k)
{
  const ga__solid *s = c->solid[which];
  const double *a = s->point + 3 * s->edge[k].v[0], *b = s->point + 3 * s->edge[k].v[1];
  const double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  point_of(from, c, which, a);
  ga__scene_vector(u, c, which, along);
}

/* Distance, direction and nearest point of a feature, from it to the point P of the other solid. */
static ga__dual measure_feature(const ga__scene *c, int which, const ga__feature *f, const ga__dual P[3],
                                ga__dual e[3], ga__dual Q[3])
{
  ga__dual r[3], d;
  if (f->kind == GA__FACE) {
    const ga__solid_face *face = &c->solid[which]->face[f->index];
    ga__dual on[3];
    ga__scene_vector(e, c, which, face->n);
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
  d = ga__dual_root(&rr);
  for (int i = 0; i < 3; i++) e[i] = ga__dual_div(&r[i], &d);
  return d;
}

/* The point in the middle between surfaces: Q with radius of one, P with that of the other, e from Q to P. */
static void set_point(ga__press *out, const ga__dual P[3], double radius_P, const ga__dual Q[3],
                      double radius_Q, const ga__dual e[3])
{
  for (int i = 0; i < 3; i++) {
    const ga__dual sum = ga__dual_chain2(&P[i], &Q[i], 0.5 * (P[i].v + Q[i].v), 0.5, 0.5);
    out->point[i] = ga__dual_chain2(&sum, &e[i], sum.v + 0.5 * (radius_Q - radius_P) * e[i].v, 1,
                                    0.5 * (radius_Q - radius_P));
  }
}

/* weight *= fade of x from a to b */
static void fade(ga__press *out, const ga__dual *x, double a, double b)
{
  double slope;
  const double value = ga__fade(x->v, a, b, &slope);
  const ga__dual f = ga__dual_chain(x, value, slope);
  out->weight = ga__dual_mul(&out->weight, &f);
}

static void fade_ends(ga__press *out, const ga__dual *s)
{
  const ga__dual rest = ga__dual_linear(s, -1, 1);
  fade(out, s, 0, GA__FADE_END);
  fade(out, &rest, 0, GA__FADE_END);
}

/* Beyond the faces at an edge: n in the direction that the edge faces, times sign. */
static void fade_normal(ga__press *out, const ga__scene *c, int which, int k, double sign)
{
  static const double range[2] = {GA__FADE_NORMAL};
  const ga__solid_edge *e = &c->solid[which]->edge[k];
  for (int i = 0; i < 2 && e->between_faces; i++) {
    ga__dual inward[3];
    ga__scene_vector(inward, c, which, e->inward[i]);
    const ga__dual beyond = ga__dual_dot(out->normal, inward), signed_ = ga__dual_linear(&beyond, sign, 0);
    fade(out, &signed_, range[1], range[0]);
  }
}

/* Points where the lines through two edges are nearest: A + s u, B + t w, with n = u × w. */
static void press_crossing(ga__press *out, const ga__scene *c, const ga__place *at)
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
  const ga__dual s = ga__dual_div(&top, &nn), t = ga__dual_div(&top2, &nn), length = ga__dual_root(&nn);
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
  const ga__dual sizes = ga__dual_mul(&uu, &ww), size = ga__dual_root(&sizes),
                 sine = ga__dual_div(&length, &size);
  fade(out, &sine, parallel[0], parallel[1]);
  fade_normal(out, c, 0, x->edge[0], -1);
  fade_normal(out, c, 1, x->edge[1], 1);
}

/* One of the features that press as one. */
static void press_feature(ga__press *out, const ga__scene *c, const ga__place *at, const ga__feature *f,
                          ga__dual e[3], ga__dual *distance)
{
  const int other = 1 - at->which;
  ga__dual P[3], Q[3];
  corner_of(P, c, at->which, at->corner);
  *distance = measure_feature(c, other, f, P, e, Q);
  out->depth = ga__dual_linear(distance, -1, c->radii);
  out->weight = ga__dual_const(c->n, 1);
  set_point(out, P, c->solid[at->which]->radius, Q, c->solid[other]->radius, e);
  for (int i = 0; i < 3; i++) out->normal[i] = ga__dual_linear(&e[i], at->which == 0 ? 1 : -1, 0);
}

/* GA__SHARE_OF, and its fade from 1 at 0 to 0 at 1. */
static ga__dual share_of(const ga__dual *d, const ga__dual *nearest, const ga__dual e[3],
                         const ga__dual lead[3])
{
  const ga__dual c = ga__dual_dot(e, lead), rest = ga__dual_linear(&c, -1, 1), off = ga__dual_sub(d, nearest);
  const ga__dual top = ga__dual_mul(&off, &c), below = ga__dual_mul(nearest, &rest),
                 x = ga__dual_div(&top, &below);
  double slope;
  const double value = ga__fade(x.v, 1, 0, &slope);
  return ga__dual_chain(&x, value, slope);
}

int ga__presses_at(ga__press out[GA__MOST_ALIKE], const ga__scene *c, const ga__place *at)
{
  ga__dual e[GA__MOST_ALIKE][3], d[GA__MOST_ALIKE], sum = ga__dual_const(c->n, 1);
  if (at->corner < 0) {
    press_crossing(out, c, at);
    return 1;
  }
  for (int k = 0; k < at->alike.n; k++) press_feature(&out[k], c, at, &at->alike.of[k], e[k], &d[k]);
  for (int k = 1; k < at->alike.n; k++) {
    out[k].weight = share_of(&d[k], &d[0], e[k], e[0]);
    sum = ga__dual_add(&sum, &out[k].weight);
  }
  for (int k = 0; k < at->alike.n && at->alike.n > 1; k++) out[k].weight = ga__dual_div(&out[k].weight, &sum);
  return at->alike.n;
}

void ga__press_at(ga__press *out, const ga__scene *c, const ga__place *at)
{
  ga__dual e[3], d;
  if (at->corner < 0)
    press_crossing(out, c, at);
  else
    press_feature(out, c, at, &at->feature, e, &d);
}

/* 1: they may touch; then the scene is complete. */
int ga__scene_may_touch(ga__scene *c)
{
  if (!ga__scene_is_near(c, 0)) return 0;
  ga__scene_relate(c);
  return !has_crossings(c) || ga__solids_meet(c->solid[0], c->solid[1], &c->in[1]);
}

/* The place where cores are nearest to each other; returns 0: there is none. */
int ga__nearest_place(const ga__scene *c, ga__place *out)
{
  ga__search s = ga__search_in(c, INFINITY);
  ga__place at;
  int found = 0;
  out->distance = INFINITY;
  while (ga__next_place(c, &s, &at))
    if (at.distance < out->distance) *out = at, found = 1;
  return found;
}
