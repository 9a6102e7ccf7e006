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
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 r[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
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
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 r[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
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

void ga__feature_direction(double out[3], const ga__solid *s, const ga__feature *f, const double x[3])
{
  const double *from = at(s, f->kind == GA__EDGE_LINE ? s->edge[f->index].v[0]
                             : f->kind == GA__CORNER  ? f->index
                                                      : 0);
  double r[3], u[3], t = 0;
  for (int i = 0; i < 3; i++) r[i] = x[i] - from[i], u[i] = 0;
  if (f->kind == GA__EDGE_LINE) {
    const double *to = at(s, s->edge[f->index].v[1]);
    for (int i = 0; i < 3; i++) u[i] = to[i] - from[i];
    t = ga__vec3_dot(u, r) / ga__vec3_dot(u, u);
  }
  for (int i = 0; i < 3; i++) out[i] = f->kind == GA__FACE ? s->face[f->index].n[i] : r[i] - t * u[i];
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
  double from[3], u[3];
} line;

static line line_of(const ga__solid *s, int k, const ga__relative *g)
{
  const double *a = at(s, s->edge[k].v[0]), *b = at(s, s->edge[k].v[1]);
  line out = {{a[0], a[1], a[2]}, {b[0] - a[0], b[1] - a[1], b[2] - a[2]}};
  if (!g) return out;
  const line own = out;
  ga__relative_apply(out.from, g, own.from);
  ga__mat3_mul_vec(out.u, g->R, own.u);
  return out;
}

/* The component along n of a vector of a solid. */
static double along(const double n[3], const double x[3], const ga__relative *g)
{
  double turned[3];
  if (!g) return ga__vec3_dot(n, x);
  ga__mat3_mul_vec(turned, g->R, x);
  return ga__vec3_dot(n, turned);
}

/* How far a common normal is beyond the faces at an edge, as a sine. */
static double beyond_faces(const ga__solid_edge *e, const double n[3], double sign, const ga__relative *g)
{
  if (!e->between_faces) return 0;
  return fmax(sign * along(n, e->inward[0], g), sign * along(n, e->inward[1], g));
}

/* The sign of u × w that points from b to a; 0: the edges do not face each other. */
static double sign_of(const ga__solid_edge *a, const ga__solid_edge *b, const ga__relative *g,
                      const double n[3], double gap)
{
  const double by_a = a->between_faces ? -along(n, a->normal, NULL) : 0,
               by_b = b->between_faces ? along(n, b->normal, g) : 0;
  if (by_a * by_b < 0) return 0;
  const double by = by_a != 0 ? by_a : by_b != 0 ? by_b : gap;
  return by < 0 ? -1 : 1;
}

/* Whether lines cross within both edges; their common normal n = u × w, and r · n of the vector between. */
static int lines_cross(const line *a, const line *b, double n[3], double *gap)
{
  static const double parallel[2] = {GA__FADE_PARALLEL};
  const double uu = ga__vec3_dot(a->u, a->u), ww = ga__vec3_dot(b->u, b->u), uw = ga__vec3_dot(a->u, b->u);
  const double r[3] = {b->from[0] - a->from[0], b->from[1] - a->from[1], b->from[2] - a->from[2]};
  const double nn = uu * ww - uw * uw;
  if (!(nn > parallel[0] * parallel[0] * uu * ww)) return 0;
  const double ru = ga__vec3_dot(r, a->u), rw = ga__vec3_dot(r, b->u);
  const double s = ru * ww - rw * uw, t = ru * uw - rw * uu;
  if (!(s > 0 && s < nn && t > 0 && t < nn)) return 0;
  ga__vec3_cross(n, a->u, b->u);
  const double length = sqrt(ga__vec3_dot(n, n));
  for (int i = 0; i < 3; i++) n[i] /= length;
  *gap = -ga__vec3_dot(n, r);
  return 1;
}

/* Whether the crossing of two lines counts; see the fades of solid.h. */
static int edges_cross(const ga__solid_edge *a, const ga__solid_edge *b, const ga__relative *g,
                       const double n[3], double gap, ga__crossing *out)
{
  static const double beyond[2] = {GA__FADE_NORMAL};
  out->sign = sign_of(a, b, g, n, gap);
  out->apart = out->sign * gap;
  return out->sign != 0 && beyond_faces(a, n, -out->sign, NULL) < beyond[1] &&
         beyond_faces(b, n, out->sign, g) < beyond[1];
}

/* 1: an edge is farther from the ball around another core than `most`. */
static int is_far(const line *edge, const ga__solid *s, const double centre[3], double most)
{
  const double r[3] = {centre[0] - edge->from[0], centre[1] - edge->from[1], centre[2] - edge->from[2]};
  const double t = fmin(fmax(ga__vec3_dot(r, edge->u) / ga__vec3_dot(edge->u, edge->u), 0), 1);
  const double off[3] = {r[0] - t * edge->u[0], r[1] - t * edge->u[1], r[2] - t * edge->u[2]};
  const double reach = s->reach - s->radius + most;
  return ga__vec3_dot(off, off) > reach * reach;
}

#define MORE 2.0 /* [-] an overlap larger than this many times the least one is of edges elsewhere */

int ga__solid_crossing(const ga__solid *a, const ga__solid *b, const ga__relative *other, double most,
                       double deepest, long *next, ga__crossing *out)
{
  const double least = -MORE * fmax(deepest, 0);
  double centre[3];
  ga__relative_apply(centre, other, b->centre);
  for (long k = *next; k < (long)a->n_edges * b->n_edges;) {
    const int i = (int)(k / b->n_edges);
    const line first = line_of(a, i, NULL);
    int j = (int)(k % b->n_edges);
    if (is_far(&first, b, centre, most)) j = b->n_edges;
    for (; j < b->n_edges; j++) {
      const line second = line_of(b, j, other);
      double n[3], gap;
      if (!lines_cross(&first, &second, n, &gap) || fabs(gap) > fmax(most, -least)) continue;
      if (!edges_cross(&a->edge[i], &b->edge[j], other, n, gap, out)) continue;
      if (!(out->apart < most && out->apart >= least)) continue;
      out->edge[0] = i, out->edge[1] = j;
      *next = (long)i * b->n_edges + j + 1;
      return 1;
    }
    k = (long)(i + 1) * b->n_edges;
  }
  *next = (long)a->n_edges * b->n_edges;
  return 0;
}

/* ---- Far apart ---- */

#define MARGIN 0.05 /* [-] of the unit: far more than the tolerance of the query */

typedef struct seen {
  const ga__solid *s;
  const ga__relative *g; /* NULL: in its own frame */
  double unit;           /* [m] lengths are given in this unit, since tolerances are absolute */
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
