/* Solids that are not convex. A point x outside touches the surface where its distance is least within the
 * surroundings: above a triangle, beside an edge between the normals of its faces, at a corner that all edges
 * lead away from. In a groove there are two such places, and both press. A round hollow is made of many
 * triangles, several of which may be such places at once although the surface that they stand for is touched
 * once: so places whose directions differ by less than 30° press as one, and the direction passes from one to
 * the next without a jump.
 *
 * Triangles are in a tree of boxes. What is found does not depend on the order in which it is found. */
#include "mbs/dented.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, DEPTH = 64 };   /* triangles of a leaf; of a tree */
enum { MOST_CANDIDATES = 64 };   /* places about a point */
#define ALIKE 0.8660254037844387 /* cosine of 30° */
#define SAME (1 - 1e-9)          /* cosine of triangles in one plane */
#define AT_SIDE 1e-9             /* [-] beyond a side, an edge or a corner by rounding */
#define AWAY 0.5 /* [-] sine of an angle by which a direction may be beyond the edges at a corner */

static const double *at(const ga__solid *s, int i)
{
  return s->point + 3 * i;
}

static void difference(double out[3], const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static double length_of(const double a[3])
{
  return sqrt(ga__vec3_dot(a, a));
}

/* ---- Corners ---- */

/* Looks for n with n·u < 0 for all edges u from the point: starts with minus their mean, and adds what is
 * missing. */
int ga__dents_is_corner(const double *point, int i, const int *neighbour, int n)
{
  double out[3] = {0, 0, 0}, u[3];
  for (int k = 0; k < n; k++) {
    difference(u, point + 3 * neighbour[k], point + 3 * i);
    for (int j = 0; j < 3; j++) out[j] -= u[j] / length_of(u);
  }
  for (int tries = 0; tries < 200; tries++) {
    double worst = -INFINITY, by[3] = {0, 0, 0};
    const double size = length_of(out);
    if (!(size > 0)) return 0;
    for (int k = 0; k < n; k++) {
      difference(u, point + 3 * neighbour[k], point + 3 * i);
      const double length = length_of(u), along = ga__vec3_dot(out, u) / (length * size);
      if (along <= worst) continue;
      worst = along;
      for (int j = 0; j < 3; j++) by[j] = u[j] / length;
    }
    if (worst < -1e-6) return 1;
    for (int j = 0; j < 3; j++) out[j] = out[j] / size - by[j] * (worst + 2e-6);
  }
  return 0;
}

int ga__dents_face(const ga__solid *s, int point, const double e[3])
{
  const ga__dents *d = s->dents;
  for (int k = d->first[point]; k < d->first[point + 1]; k++) {
    double u[3];
    difference(u, at(s, d->neighbour[k]), at(s, point));
    if (ga__vec3_dot(e, u) > AWAY * length_of(u)) return 0;
  }
  return 1;
}

/* ---- The tree ---- */

typedef struct builder {
  const ga__solid *s;
  ga__dents *d;
} builder;

static void enclose(ga__box *box, const builder *b)
{
  for (int j = 0; j < 3; j++) box->low[j] = INFINITY, box->high[j] = -INFINITY;
  for (int k = box->first; k < box->first + box->n; k++)
    for (int i = 0; i < 3; i++) {
      const double *p = at(b->s, b->s->face[b->d->order[k]].v[i]);
      for (int j = 0; j < 3; j++)
        box->low[j] = fmin(box->low[j], p[j]), box->high[j] = fmax(box->high[j], p[j]);
    }
}

static double middle_of(const builder *b, int triangle, int axis)
{
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += at(b->s, b->s->face[triangle].v[i])[axis];
  return sum;
}

/* Triangles below the middle of the box first; returns their number. */
static int part(const builder *b, const ga__box *box, int axis)
{
  int *order = b->d->order + box->first, n = 0;
  const double middle = 1.5 * (box->low[axis] + box->high[axis]);
  for (int k = 0; k < box->n; k++)
    if (middle_of(b, order[k], axis) < middle) {
      const int keep = order[k];
      order[k] = order[n], order[n++] = keep;
    }
  return n;
}

static void build(const builder *b, int first, int n, int depth)
{
  const int own = b->d->n_boxes++;
  ga__box *box = &b->d->box[own];
  int axis = 0;
  *box = (ga__box){.first = first, .n = n};
  enclose(box, b);
  for (int j = 1; j < 3; j++)
    if (box->high[j] - box->low[j] > box->high[axis] - box->low[axis]) axis = j;
  if (n <= LEAF || depth == DEPTH) return;
  int half = part(b, box, axis);
  if (half == 0 || half == n) half = n / 2;
  build(b, first, half, depth + 1);
  box->other = b->d->n_boxes;
  build(b, first + half, n - half, depth + 1);
}

static double distance_to_box(const ga__box *box, const double x[3])
{
  double square = 0;
  for (int j = 0; j < 3; j++) {
    const double off = fmax(fmax(box->low[j] - x[j], x[j] - box->high[j]), 0);
    square += off * off;
  }
  return sqrt(square);
}

/* ---- Building ---- */

static void list_neighbours(const ga__solid *s, ga__dents *d)
{
  int *fill = d->first + 1; /* of point i − 1 while the lists are filled */
  for (int k = 0; k < 3 * s->n_faces; k++) d->first[s->face[k / 3].v[k % 3] + 1]++;
  for (int i = 0; i < s->n_points; i++) d->first[i + 1] += d->first[i];
  for (int i = s->n_points; i > 0; i--) d->first[i] = d->first[i - 1];
  for (int k = 0; k < 3 * s->n_faces; k++) {
    const int *v = s->face[k / 3].v;
    d->neighbour[fill[v[k % 3]]++] =
        v[(k % 3 + 1) % 3]; /* the surface is closed: each side once in each direction */
  }
  d->first[0] = 0;
}

static void choose_owners(const ga__solid *s, ga__dents *d, unsigned char *seen)
{
  for (int k = 0; k < 3 * s->n_faces; k++) {
    const int point = s->face[k / 3].v[k % 3], edge = d->edge[k];
    if (edge >= 0 && !(seen[edge] & 1)) d->own[k] |= 1, seen[edge] |= 1;
    if (!(seen[point] & 2)) d->own[k] |= 2, seen[point] |= 2;
  }
}

void ga__dents_free(ga_context *ctx, ga__dents *d)
{
  if (!d) return;
  ga__free(ctx, d->neighbour);
  ga__free(ctx, d->first);
  ga__free(ctx, d->edge);
  ga__free(ctx, d->own);
  ga__free(ctx, d->order);
  ga__free(ctx, d->box);
  ga__free(ctx, d);
}

ga_status ga__dents_create(ga_context *ctx, ga__solid *s, const int *edge_of)
{
  const size_t sides = 3 * (size_t)s->n_faces, points = (size_t)s->n_points;
  ga__dents *d = s->dents = ga__alloc(ctx, 1, sizeof *d);
  if (!d) return GA_ERR_MEMORY;
  d->neighbour = ga__alloc(ctx, sides, sizeof *d->neighbour);
  d->first = ga__alloc(ctx, points + 2, sizeof *d->first);
  d->edge = ga__alloc(ctx, sides, sizeof *d->edge);
  d->own = ga__alloc(ctx, sides, sizeof *d->own);
  d->order = ga__alloc(ctx, (size_t)s->n_faces, sizeof *d->order);
  d->box = ga__alloc(ctx, 2 * (size_t)s->n_faces, sizeof *d->box);
  unsigned char *seen = ga__alloc(ctx, sides + points, sizeof *seen);
  const int complete = d->neighbour && d->first && d->edge && d->own && d->order && d->box && seen;
  if (complete) {
    memcpy(d->edge, edge_of, sides * sizeof *edge_of);
    list_neighbours(s, d);
    choose_owners(s, d, seen);
    for (int k = 0; k < s->n_faces; k++) d->order[k] = k;
    build(&(builder){s, d}, 0, s->n_faces, 0);
  }
  ga__free(ctx, seen);
  return complete ? GA_OK : GA_ERR_MEMORY;
}

/* ---- The nearest triangle ---- */

/* The point of a triangle that is nearest to x, and what it lies on: bit i: not beyond corner i; three bits:
 * within. */
static int nearest_of_triangle(const ga__solid *s, int k, const double x[3], double q[3])
{
  const ga__solid_face *f = &s->face[k];
  double best = INFINITY;
  int on = 0;
  for (int i = 0; i < 3; i++) {
    const double *a = at(s, f->v[i]), *b = at(s, f->v[(i + 1) % 3]);
    double u[3], r[3], c[3], p[3], off[3];
    difference(u, b, a);
    difference(r, x, a);
    ga__vec3_cross(c, u, r);
    if (ga__vec3_dot(c, f->n) >= 0) continue;
    const double t = fmin(fmax(ga__vec3_dot(u, r) / ga__vec3_dot(u, u), 0), 1);
    for (int j = 0; j < 3; j++) p[j] = a[j] + t * u[j], off[j] = x[j] - p[j];
    const double square = ga__vec3_dot(off, off);
    if (square >= best) continue;
    best = square;
    on = t <= 0 ? 1 << i : t >= 1 ? 1 << (i + 1) % 3 : 1 << i | 1 << (i + 1) % 3;
    memcpy(q, p, sizeof p);
  }
  if (on) return on;
  const double above = ga__vec3_dot(f->n, x) - f->d;
  for (int j = 0; j < 3; j++) q[j] = x[j] - above * f->n[j];
  return 7;
}

typedef struct nearest {
  double distance,
      above; /* above: the plane of the triangle, by distance; its sign says whether x is outside */
  int triangle, on;
} nearest;

#define TIE                                                                                                  \
  1e-9 /* [-] triangles of one edge or corner are equally near; the one that x is most above decides */

static void consider(const ga__solid *s, int k, const double x[3], nearest *best)
{
  double q[3], off[3];
  nearest here = {.triangle = k, .on = nearest_of_triangle(s, k, x, q)};
  difference(off, x, q);
  here.distance = length_of(off);
  here.above = ga__vec3_dot(s->face[k].n, x) - s->face[k].d;
  const double tie = TIE * (here.distance + s->reach);
  if (here.distance > best->distance + tie) return;
  if (here.distance >= best->distance - tie) {
    const double more = fabs(here.above) - fabs(best->above);
    if (more < 0 || (!(more > 0) && k > best->triangle)) return;
    here.distance = fmin(here.distance, best->distance);
  }
  *best = here;
}

static nearest find_nearest(const ga__solid *s, const double x[3], double most)
{
  const ga__dents *d = s->dents;
  nearest best = {.distance = most, .triangle = -1};
  int stack[2 * DEPTH + 2], n = 0;
  stack[n++] = 0;
  while (n > 0) {
    const ga__box *box = &d->box[stack[--n]];
    if (distance_to_box(box, x) > best.distance + TIE * (best.distance + s->reach)) continue;
    for (int k = box->first; !box->other && k < box->first + box->n; k++) consider(s, d->order[k], x, &best);
    if (!box->other) continue;
    const int near = (int)(box - d->box) + 1, far = box->other;
    const int swapped = distance_to_box(&d->box[near], x) > distance_to_box(&d->box[far], x);
    stack[n++] = swapped ? near : far;
    stack[n++] = swapped ? far : near;
  }
  return best;
}

/* What x is nearest to, as a feature. */
static ga__feature feature_of(const ga__solid *s, const nearest *at_)
{
  const int k = at_->triangle, inside = at_->above < 0;
  if (inside || at_->on == 7) return (ga__feature){GA__FACE, k, inside ? -at_->distance : at_->distance};
  for (int i = 0; i < 3; i++) {
    if (at_->on == 1 << i) return (ga__feature){GA__CORNER, s->face[k].v[i], at_->distance};
    const int edge = s->dents->edge[3 * k + i];
    if (at_->on == (1 << i | 1 << (i + 1) % 3) && edge >= 0)
      return (ga__feature){GA__EDGE_LINE, edge, at_->distance};
  }
  return (ga__feature){GA__FACE, k, at_->distance}; /* a flat side */
}

/* ---- All places about a point ---- */

typedef struct candidate {
  ga__feature feature;
  double e[3]; /* from it to x */
} candidate;

typedef struct gathering {
  const ga__solid *s;
  const double *x;
  double most;
  candidate list[MOST_CANDIDATES]; /* by distance */
  int n;
} gathering;

static int comes_before(const ga__feature *a, const ga__feature *b)
{
  if (a->distance != b->distance) return a->distance < b->distance;
  if (a->kind != b->kind) return a->kind > b->kind;
  return a->index < b->index;
}

static void gather(gathering *g, const ga__feature *f, const double e[3])
{
  int k = g->n;
  if (!(f->distance > 0 && f->distance < g->most)) return;
  while (k > 0 && comes_before(f, &g->list[k - 1].feature)) k--;
  if (k == MOST_CANDIDATES) return;
  if (g->n < MOST_CANDIDATES) g->n++;
  memmove(&g->list[k + 1], &g->list[k], (size_t)(g->n - 1 - k) * sizeof *g->list);
  g->list[k].feature = *f;
  memcpy(g->list[k].e, e, sizeof g->list[k].e);
}

static void gather_face(gathering *g, int k)
{
  const ga__solid_face *f = &g->s->face[k];
  const double above = ga__vec3_dot(f->n, g->x) - f->d;
  if (!(above > 0 && above < g->most)) return;
  for (int i = 0; i < 3; i++) {
    const double *a = at(g->s, f->v[i]), *b = at(g->s, f->v[(i + 1) % 3]);
    double u[3], r[3], c[3];
    difference(u, b, a);
    difference(r, g->x, a);
    ga__vec3_cross(c, u, r);
    if (ga__vec3_dot(c, f->n) < -AT_SIDE * ga__vec3_dot(u, u)) return;
  }
  gather(g, &(ga__feature){GA__FACE, k, above}, f->n);
}

static void gather_edge(gathering *g, int edge)
{
  const ga__solid_edge *e = &g->s->edge[edge];
  const double *a = at(g->s, e->v[0]);
  double u[3], r[3], off[3];
  difference(u, at(g->s, e->v[1]), a);
  difference(r, g->x, a);
  const double along = ga__vec3_dot(u, r) / ga__vec3_dot(u, u);
  if (!(along >= -AT_SIDE && along <= 1 + AT_SIDE)) return;
  for (int j = 0; j < 3; j++) off[j] = r[j] - along * u[j];
  const double distance = length_of(off);
  for (int i = 0; i < 2; i++)
    if (ga__vec3_dot(off, e->inward[i]) > AT_SIDE * distance) return;
  for (int j = 0; j < 3; j++) off[j] /= distance;
  gather(g, &(ga__feature){GA__EDGE_LINE, edge, distance}, off);
}

static void gather_corner(gathering *g, int point)
{
  const ga__dents *d = g->s->dents;
  double off[3], u[3];
  difference(off, g->x, at(g->s, point));
  const double distance = length_of(off);
  for (int k = d->first[point]; k < d->first[point + 1]; k++) {
    difference(u, at(g->s, d->neighbour[k]), at(g->s, point));
    if (ga__vec3_dot(off, u) > AT_SIDE * distance * length_of(u)) return;
  }
  for (int j = 0; j < 3; j++) off[j] /= distance;
  gather(g, &(ga__feature){GA__CORNER, point, distance}, off);
}

static void gather_all(gathering *g)
{
  const ga__dents *d = g->s->dents;
  int stack[2 * DEPTH + 2], n = 0;
  stack[n++] = 0;
  while (n > 0) {
    const ga__box *box = &d->box[stack[--n]];
    if (!(distance_to_box(box, g->x) < g->most)) continue;
    if (box->other) {
      stack[n++] = box->other;
      stack[n++] = (int)(box - d->box) + 1;
      continue;
    }
    for (int k = box->first; k < box->first + box->n; k++) {
      const int triangle = d->order[k];
      gather_face(g, triangle);
      for (int i = 0; i < 3; i++) {
        const int own = d->own[3 * triangle + i];
        if (own & 1) gather_edge(g, d->edge[3 * triangle + i]);
        if (own & 2) gather_corner(g, g->s->face[triangle].v[i]);
      }
    }
  }
}

/* In the order of their features, so that the order of sums does not depend on which is nearer. */
static int compare_places(const void *a, const void *b)
{
  const ga__feature *p = &((const ga__features *)a)->of[0], *q = &((const ga__features *)b)->of[0];
  if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

/* Adds a place to what it presses with. lead: the direction of the nearest. */
static void join(ga__features *to, const candidate *c, const double lead[3], const double *const *e)
{
  const double cosine = ga__vec3_dot(c->e, lead);
  if (to->n == GA__MOST_ALIKE || GA__SHARE_OF(c->feature.distance, to->of[0].distance, cosine) >= 1) return;
  for (int i = 0; i < to->n; i++)
    if (ga__vec3_dot(c->e, e[i]) > SAME) return;
  to->of[to->n++] = c->feature;
}

static int choose(const gathering *g, ga__features out[GA__MOST_TOUCHES])
{
  const double *e[GA__MOST_TOUCHES][GA__MOST_ALIKE];
  int n = 0;
  for (int k = 0; k < g->n; k++) {
    const candidate *c = &g->list[k];
    int i = 0;
    while (i < n && !(ga__vec3_dot(c->e, e[i][0]) > ALIKE)) i++;
    if (i == GA__MOST_TOUCHES) continue;
    if (i == n) {
      out[n].of[0] = c->feature, out[n].n = 1;
      e[n++][0] = c->e;
      continue;
    }
    const int before = out[i].n;
    join(&out[i], c, e[i][0], e[i]);
    if (out[i].n > before) e[i][before] = c->e;
  }
  qsort(out, (size_t)n, sizeof *out, compare_places);
  return n;
}

int ga__dents_near(const ga__solid *s, const double x[3], double most, ga__features out[GA__MOST_TOUCHES])
{
  double r[3];
  difference(r, x, s->centre);
  if (length_of(r) > s->reach - s->radius + most) return 0;
  const nearest first = find_nearest(s, x, isfinite(most) ? s->reach + length_of(r) + most : INFINITY);
  if (first.triangle < 0) return 0;
  out[0].of[0] = feature_of(s, &first), out[0].n = 1;
  const double distance = out[0].of[0].distance;
  if (distance <= 0 || !isfinite(most)) return 1;
  if (distance >= most) return 0;
  gathering g = {.s = s, .x = x, .most = most};
  gather_all(&g);
  return g.n ? choose(&g, out) : 1;
}
