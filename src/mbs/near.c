/* What of two solids is near: the nearest feature to a point, edges that cross. Features are found by going
 * over all of them, so that the answer depends on the positions alone and is exact to rounding; iterations of
 * libccd only say which solids are far apart. */
#include "mbs/solid.h"

#include "lie/mat3.h"
#include <ccd/ccd.h>
#include <math.h>

static const double *at(const ga__solid *s, int i)
{
  return s->point + 3 * i;
}

static double distance_of(const double a[3], const double b[3])
{
  const double r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return sqrt(ga__vec3_dot(r, r));
}

/* ---- A point and a solid ---- */

#define ON_SIDE 1e-12 /* [-] of the triangle's size: beyond its side by rounding */

/* 1: x, moved along the normal, is on the triangle. */
static int is_over(const ga__solid *s, const ga__solid_face *f, const double x[3])
{
  if (s->is_plane) return 1;
  for (int i = 0; i < 3; i++) {
    const double *a = at(s, f->v[i]), *b = at(s, f->v[(i + 1) % 3]);
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, r[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
    double c[3];
    ga__vec3_cross(c, u, r);
    if (ga__vec3_dot(c, f->n) < -ON_SIDE * ga__vec3_dot(u, u)) return 0;
  }
  return 1;
}

/* Returns 1 if x is within; *best: the nearest face, or the one that x is above. */
static int nearest_face(const ga__solid *s, const double x[3], ga__feature *best)
{
  double highest = -INFINITY;
  int face = -1;
  for (int k = 0; k < s->n_faces; k++) {
    const double above = ga__vec3_dot(s->face[k].n, x) - s->face[k].d;
    if (above > highest) highest = above, face = k;
    if (above > 0 && above < best->distance && is_over(s, &s->face[k], x))
      *best = (ga__feature){GA__FACE, k, above};
  }
  if (face < 0 || highest > 0) return 0;
  *best = (ga__feature){GA__FACE, face, highest};
  return 1;
}

static void nearest_edge(const ga__solid *s, const double x[3], ga__feature *best)
{
  for (int k = 0; k < s->n_edges; k++) {
    const double *a = at(s, s->edge[k].v[0]), *b = at(s, s->edge[k].v[1]);
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, r[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
    const double along = ga__vec3_dot(u, r) / ga__vec3_dot(u, u);
    if (!(along > 0 && along < 1)) continue;
    const double off[3] = {r[0] - along * u[0], r[1] - along * u[1], r[2] - along * u[2]};
    const double distance = sqrt(ga__vec3_dot(off, off));
    if (distance < best->distance) *best = (ga__feature){GA__EDGE_LINE, k, distance};
  }
}

int ga__solid_nearest(const ga__solid *s, const double x[3], double most, ga__feature *out)
{
  *out = (ga__feature){GA__CORNER, 0, INFINITY};
  if (distance_of(x, s->centre) > s->reach - s->radius + most) return 0;
  if (!nearest_face(s, x, out)) {
    nearest_edge(s, x, out);
    for (int k = 0; k < s->n_corners; k++) {
      const double distance = distance_of(x, at(s, k));
      if (distance < out->distance) *out = (ga__feature){GA__CORNER, k, distance};
    }
  }
  return out->distance < most;
}

/* ---- Two edges ---- */

/* Solids overlap where the normal of no face separates them. */
static double overlap_along_faces(const ga__solid *a, const ga__solid *b, const ga__relative *b_in_a)
{
  double least = INFINITY;
  for (int k = 0; k < a->n_faces; k++) {
    double lowest = INFINITY;
    for (int i = 0; i < b->n_corners; i++) {
      double x[3];
      ga__relative_apply(x, b_in_a, at(b, i));
      lowest = fmin(lowest, ga__vec3_dot(a->face[k].n, x));
    }
    least = fmin(least, a->face[k].d - lowest);
  }
  return least;
}

double ga__least_overlap(const ga__solid *a, const ga__solid *b, const ga__relative *a_in_b,
                         const ga__relative *b_in_a)
{
  const double least = fmin(overlap_along_faces(a, b, b_in_a), overlap_along_faces(b, a, a_in_b));
  return least > 0 ? least : -INFINITY;
}

typedef struct line {
  double from[3], u[3], normal[3], inward[2][3];
  int between_faces;
} line;

static line line_of(const ga__solid *s, int k, const ga__relative *g)
{
  const ga__solid_edge *e = &s->edge[k];
  line out = {.between_faces = e->between_faces};
  double to[3];
  ga__relative_apply(out.from, g, at(s, e->v[0]));
  ga__relative_apply(to, g, at(s, e->v[1]));
  for (int i = 0; i < 3; i++) out.u[i] = to[i] - out.from[i];
  ga__mat3_mul_vec(out.normal, g->R, e->normal);
  for (int i = 0; i < 2; i++) ga__mat3_mul_vec(out.inward[i], g->R, e->inward[i]);
  return out;
}

/* How far a common normal is beyond the faces at an edge, as a sine. */
static double beyond_faces(const line *e, const double n[3], double sign)
{
  if (!e->between_faces) return 0;
  return fmax(sign * ga__vec3_dot(n, e->inward[0]), sign * ga__vec3_dot(n, e->inward[1]));
}

/* The sign of u × w that points from b to a; 0: the edges do not face each other. */
static double sign_of(const line *a, const line *b, const double n[3], double gap)
{
  const double by_a = a->between_faces ? -ga__vec3_dot(n, a->normal) : 0,
               by_b = b->between_faces ? ga__vec3_dot(n, b->normal) : 0;
  if (by_a * by_b < 0) return 0;
  const double by = by_a != 0 ? by_a : by_b != 0 ? by_b : gap;
  return by < 0 ? -1 : 1;
}

/* Whether the crossing of two lines counts; see the fades of solid.h. */
static int cross(const line *a, const line *b, ga__crossing *out)
{
  static const double parallel[2] = {GA__FADE_PARALLEL}, beyond[2] = {GA__FADE_NORMAL};
  const double uu = ga__vec3_dot(a->u, a->u), ww = ga__vec3_dot(b->u, b->u), uw = ga__vec3_dot(a->u, b->u);
  const double r[3] = {b->from[0] - a->from[0], b->from[1] - a->from[1], b->from[2] - a->from[2]};
  double n[3];
  ga__vec3_cross(n, a->u, b->u);
  const double nn = ga__vec3_dot(n, n);
  if (!(nn > parallel[0] * parallel[0] * uu * ww)) return 0;
  const double ru = ga__vec3_dot(r, a->u), rw = ga__vec3_dot(r, b->u);
  const double s = (ru * ww - rw * uw) / nn, t = (ru * uw - rw * uu) / nn;
  if (!(s > 0 && s < 1 && t > 0 && t < 1)) return 0;
  for (int i = 0; i < 3; i++) n[i] /= sqrt(nn);
  const double gap = -ga__vec3_dot(n, r);
  out->sign = sign_of(a, b, n, gap);
  if (out->sign == 0) return 0;
  out->apart = out->sign * gap;
  return beyond_faces(a, n, -out->sign) < beyond[1] && beyond_faces(b, n, out->sign) < beyond[1];
}

#define MORE 2.0 /* [-] an overlap larger than this many times the least one is of edges elsewhere */

int ga__solid_crossing(const ga__solid *a, const ga__solid *b, const ga__relative *other, double most,
                       double deepest, long *next, ga__crossing *out)
{
  static const ga__relative same = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
  double centre[3];
  ga__relative_apply(centre, other, b->centre);
  while (*next < (long)a->n_edges * b->n_edges) {
    const long k = (*next)++;
    const int j = (int)(k / a->n_edges), i = (int)(k % a->n_edges);
    const line second = line_of(b, j, other);
    const double middle[3] = {second.from[0] + 0.5 * second.u[0], second.from[1] + 0.5 * second.u[1],
                              second.from[2] + 0.5 * second.u[2]};
    if (distance_of(middle, a->centre) >
        a->reach - a->radius + 0.5 * sqrt(ga__vec3_dot(second.u, second.u)) + most) {
      *next += a->n_edges - 1 - i; /* far from all edges of a */
      continue;
    }
    const line first = line_of(a, i, &same);
    if (!cross(&first, &second, out) || !(out->apart < most)) continue;
    if (-out->apart > MORE * fmax(deepest, 0)) continue;
    out->edge[0] = i, out->edge[1] = j;
    return 1;
  }
  return 0;
}

/* ---- Far apart ---- */

#define MARGIN 0.05 /* [-] of the unit: far more than the tolerance of the query */

typedef struct seen {
  const ga__solid *s;
  const ga__relative *g; /* NULL: in its own frame */
  double unit; /* [m] lengths are given in this unit, since tolerances are absolute */
} seen;

/* The farthest point of a core with its radius and margin in a direction. */
static void support(const void *object, const ccd_vec3_t *dir, ccd_vec3_t *out)
{
  const seen *o = object;
  const double d[3] = {dir->v[0], dir->v[1], dir->v[2]};
  double own[3] = {d[0], d[1], d[2]}, most = -INFINITY, p[3];
  if (o->g) ga__mat3_tmul_vec(own, o->g->R, d);
  int best = 0;
  for (int k = 0; k < o->s->n_corners; k++) {
    const double along = ga__vec3_dot(own, at(o->s, k));
    if (along > most) most = along, best = k;
  }
  const double length = sqrt(ga__vec3_dot(own, own)), out_by = o->s->radius + MARGIN * o->unit;
  for (int i = 0; i < 3; i++) p[i] = at(o->s, best)[i] + (length > 0 ? out_by * own[i] / length : 0);
  double moved[3] = {p[0], p[1], p[2]};
  if (o->g) ga__relative_apply(moved, o->g, p);
  for (int i = 0; i < 3; i++) out->v[i] = moved[i] / o->unit;
}

static void middle(const void *object, ccd_vec3_t *out)
{
  const seen *o = object;
  double c[3] = {o->s->centre[0], o->s->centre[1], o->s->centre[2]};
  if (o->g) ga__relative_apply(c, o->g, o->s->centre);
  for (int i = 0; i < 3; i++) out->v[i] = c[i] / o->unit;
}

int ga__solids_meet(const ga__solid *a, const ga__solid *b, const ga__relative *b_in_a)
{
  const double unit = fmin(a->reach, b->reach);
  const seen first = {a, NULL, unit}, second = {b, b_in_a, unit};
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.center1 = ccd.center2 = middle;
  ccd.max_iterations = 200;
  return ccdMPRIntersect(&first, &second, &ccd);
}
