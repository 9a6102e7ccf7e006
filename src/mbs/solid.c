/* Bodies of contacts from their definitions. Boxes are meshes of twelve triangles.
 *
 * A mesh is closed and oriented if every edge belongs to two triangles that pass it in opposite directions.
 * It is convex if it is one piece without holes (corners − edges + triangles = 2) and no edge is concave; if
 * not, it has a tree of its triangles besides (dented.c). Edges between triangles in one plane are no edges
 * of the solid, corners with fewer than three edges no corners. */
#include "mbs/dented.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLAT 1e-4    /* [-] sine of the angle at an edge below which its faces are one */
#define CONCAVE 1e-6 /* [-] height of a neighbour above a face, over the size, that counts as rounding */
#define SLIVER 1e-9  /* [-] area of a triangle over that of the whole, below which it has no normal */
#define HOLLOW 1e-9  /* [-] volume over the cube of the size, below which there is none */

/* ---- Memory ---- */

static ga_status reserve(ga_context *ctx, ga__solid *s, int points, int edges, int faces)
{
  s->point = ga__alloc(ctx, 3 * (size_t)points, sizeof *s->point);
  s->edge = edges ? ga__alloc(ctx, (size_t)edges, sizeof *s->edge) : NULL;
  s->face = faces ? ga__alloc(ctx, (size_t)faces, sizeof *s->face) : NULL;
  if (s->point && (s->edge || !edges) && (s->face || !faces)) return GA_OK;
  return GA_ERR_MEMORY;
}

void ga__solid_free(ga_context *ctx, ga__solid *s)
{
  ga__free(ctx, s->point);
  ga__free(ctx, s->edge);
  ga__free(ctx, s->face);
  ga__dents_free(ctx, s->dents);
  *s = (ga__solid){0};
}

/* ---- Meshes ---- */

typedef struct mesh {
  ga_context *ctx;
  const ga__part *part;
  int n_points, n_triangles;
  const double *point, *triangle;
  double scale;
} mesh;

static ga_status refuse(const mesh *m, ga_reason reason, ga__facts facts)
{
  return ga__refuse_part(m->ctx, m->part, GA_ERR_ARGUMENT, reason, facts);
}

/* A side of a triangle, with its end of the smaller number first. */
typedef struct side {
  int low, high, forward, triangle;
} side;

/* What is needed while a mesh is made. */
typedef struct work {
  side *sides;  /* [3 n_triangles] */
  int *used;    /* [n_points] marks points of triangles, and counts edges at them */
  int *edge_of; /* [3 n_triangles] the edge at a side; −1: none */
  int *list;    /* [3 n_triangles] */
  int dented;   /* 1: it is not convex */
} work;

static int compare_sides(const void *a, const void *b)
{
  const side *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static const double *at(const ga__solid *s, int i)
{
  return s->point + 3 * i;
}

static void difference(double out[3], const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static double size_of(const mesh *m)
{
  double size = 0;
  for (int i = 0; i < 3; i++) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < m->n_points; k++) {
      low = fmin(low, m->scale * m->point[3 * k + i]);
      high = fmax(high, m->scale * m->point[3 * k + i]);
    }
    size = fmax(size, high - low);
  }
  return size;
}

/* Faces with their normals; *volume is that within. */
static ga_status make_faces(const mesh *m, ga__solid *s, double size, double *volume)
{
  *volume = 0;
  for (int k = 0; k < m->n_triangles; k++) {
    ga__solid_face *f = &s->face[k];
    double a[3], b[3], normal[3];
    for (int i = 0; i < 3; i++) {
      const double index = m->triangle[3 * k + i];
      if (!(index >= 0 && index < m->n_points) || index != floor(index))
        return refuse(m, GA_REASON_SURFACE_INDEX,
                      (ga__facts){GA__NUMBERS({k + 1, NULL}, {index, NULL}, {m->n_points - 1, NULL})});
      f->v[i] = (int)index;
    }
    difference(a, at(s, f->v[1]), at(s, f->v[0]));
    difference(b, at(s, f->v[2]), at(s, f->v[0]));
    ga__vec3_cross(normal, a, b);
    const double twice = sqrt(ga__vec3_dot(normal, normal));
    if (!(twice > SLIVER * size * size))
      return refuse(m, GA_REASON_SURFACE_SLIVER,
                    (ga__facts){GA__NUMBERS({k + 1, NULL}, {0.5 * twice, "m²"})});
    for (int i = 0; i < 3; i++) f->n[i] = normal[i] / twice;
    *volume += ga__vec3_dot(at(s, f->v[0]), normal) / 6;
  }
  return GA_OK;
}

/* Triangles that are all inside out are turned. */
static void orient_faces(ga__solid *s, double volume)
{
  for (int k = 0; k < s->n_faces; k++) {
    ga__solid_face *f = &s->face[k];
    if (volume < 0) {
      const int keep = f->v[1];
      f->v[1] = f->v[2], f->v[2] = keep;
      for (int i = 0; i < 3; i++) f->n[i] = -f->n[i];
    }
    f->d = ga__vec3_dot(f->n, at(s, f->v[0]));
    f->plane = k;
  }
}

static void list_sides(const ga__solid *s, side *out)
{
  for (int k = 0; k < s->n_faces; k++)
    for (int i = 0; i < 3; i++) {
      const int a = s->face[k].v[i], b = s->face[k].v[(i + 1) % 3];
      out[3 * k + i] = (side){a < b ? a : b, a < b ? b : a, a < b, k};
    }
  qsort(out, 3 * (size_t)s->n_faces, sizeof *out, compare_sides);
}

/* The corner of a triangle that is not on one of its sides. */
static const double *opposite(const ga__solid *s, const side *from)
{
  const int *v = s->face[from->triangle].v;
  for (int i = 0; i < 3; i++)
    if (v[i] != from->low && v[i] != from->high) return at(s, v[i]);
  return at(s, v[0]);
}

/* Along the face, away from its side. */
static void inward_of(const ga__solid *s, const side *from, double out[3])
{
  double u[3], r[3];
  difference(u, at(s, from->high), at(s, from->low));
  difference(r, opposite(s, from), at(s, from->low));
  const double along = ga__vec3_dot(u, r) / ga__vec3_dot(u, u);
  for (int i = 0; i < 3; i++) out[i] = r[i] - along * u[i];
  const double length = sqrt(ga__vec3_dot(out, out));
  for (int i = 0; i < 3; i++) out[i] /= length;
}

static int plane_of(ga__solid_face *face, int k)
{
  while (face[k].plane != k) k = face[k].plane = face[face[k].plane].plane;
  return k;
}

/* Two neighbours are in one plane. */
static void unite(ga__solid_face *face, int a, int b)
{
  const int p = plane_of(face, a), q = plane_of(face, b);
  face[p > q ? p : q].plane = p > q ? q : p;
}

/* Sides come in pairs, passed in opposite directions. */
static ga_status check_closed(const mesh *m, const ga__solid *s, const side *sides)
{
  const int n = 3 * s->n_faces;
  for (int k = 0; k < n; k += 2) {
    const side *a = &sides[k], *b = k + 1 < n ? &sides[k + 1] : NULL;
    if (!b || a->low != b->low || a->high != b->high || a->forward == b->forward ||
        (k + 2 < n && b[1].low == a->low && b[1].high == a->high))
      return refuse(m, GA_REASON_SURFACE_OPEN, (ga__facts){GA__NUMBERS({a->low, NULL}, {a->high, NULL})});
  }
  return GA_OK;
}

/* Which side of its triangle. */
static int number_of(const ga__solid *s, const side *from)
{
  const int *v = s->face[from->triangle].v;
  int i = 0;
  while (i < 2 &&
         !((v[i] == from->low && v[i + 1] == from->high) || (v[i] == from->high && v[i + 1] == from->low)))
    i++;
  return 3 * from->triangle + i;
}

/* An edge from two sides, if it is one of the solid. */
static ga_status make_edge(const mesh *m, ga__solid *s, const side *a, const side *b, double size, work *w)
{
  const ga__solid_face *f = &s->face[a->triangle], *g = &s->face[b->triangle];
  double turn[3];
  ga__vec3_cross(turn, f->n, g->n);
  const double above = ga__vec3_dot(f->n, opposite(s, b)) - f->d, square = ga__vec3_dot(turn, turn);
  const int folded = ga__vec3_dot(f->n, g->n) < 0;
  if (folded && square < FLAT * FLAT)
    return refuse(m, GA_REASON_SURFACE_FOLDED, (ga__facts){GA__NUMBERS({a->low, NULL}, {a->high, NULL})});
  if (square < FLAT * FLAT) {
    unite(s->face, a->triangle, b->triangle);
    return GA_OK;
  }
  if (above > CONCAVE * size) {
    w->dented = 1;
    return GA_OK;
  }
  w->edge_of[number_of(s, a)] = w->edge_of[number_of(s, b)] = s->n_edges;
  ga__solid_edge *e = &s->edge[s->n_edges++];
  *e = (ga__solid_edge){.v = {a->low, a->high}, .between_faces = 1};
  inward_of(s, a, e->inward[0]);
  inward_of(s, b, e->inward[1]);
  for (int i = 0; i < 3; i++) e->normal[i] = f->n[i] + g->n[i];
  w->used[a->low]++, w->used[a->high]++;
  return GA_OK;
}

/* Edges from pairs of sides; whether the whole is convex. */
static ga_status make_edges(const mesh *m, ga__solid *s, double size, work *w)
{
  const int n_sides = 3 * s->n_faces / 2;
  int n_points = 0;
  for (int k = 0; k < 3 * s->n_faces; k++) w->edge_of[k] = -1;
  for (int k = 0; k < n_sides; k++) {
    const ga_status status = make_edge(m, s, &w->sides[2 * k], &w->sides[2 * k + 1], size, w);
    if (status) return status;
  }
  for (int i = 0; i < m->n_points; i++) n_points += w->used[i] > 0;
  w->dented |= n_points - n_sides + s->n_faces != 2;
  return GA_OK;
}

enum { MARK = 1, EDGES = 3 }; /* points of triangles, and those of them with as many edges, are corners */

static int compare_starts(const void *a, const void *b)
{
  const side *p = a, *q = b;
  const int from = p->forward ? p->low : p->high, other = q->forward ? q->low : q->high;
  return from != other ? (from < other ? -1 : 1) : compare_sides(a, b);
}

/* Of a solid that is not convex, corners are the points that another solid can touch. Every edge at a point
 * begins there as a side of one triangle. */
static void find_corners(ga__solid *s, work *w)
{
  const int n = 3 * s->n_faces;
  qsort(w->sides, (size_t)n, sizeof *w->sides, compare_starts);
  for (int i = 0; i < n;) {
    const int point = w->sides[i].forward ? w->sides[i].low : w->sides[i].high;
    int count = 0;
    for (; i < n && (w->sides[i].forward ? w->sides[i].low : w->sides[i].high) == point; i++)
      w->list[count++] = w->sides[i].forward ? w->sides[i].high : w->sides[i].low;
    w->used[point] = MARK + (ga__dents_is_corner(s->point, point, w->list, count) ? EDGES : 0);
  }
}

/* Corners first, in their order; used[i] becomes the new number of point i. */
static void sort_corners(ga__solid *s, const mesh *m, int *used)
{
  const int n = m->n_points;
  int other = 0;
  for (int i = 0; i < n; i++) other += used[i] >= MARK + EDGES;
  s->n_corners = other;
  s->n_points = n;
  for (int i = 0, corner = 0; i < n; i++) {
    used[i] = used[i] >= MARK + EDGES ? corner++ : other++;
    for (int j = 0; j < 3; j++) s->point[3 * used[i] + j] = m->scale * m->point[3 * i + j];
  }
  for (int k = 0; k < s->n_edges; k++)
    for (int i = 0; i < 2; i++) s->edge[k].v[i] = used[s->edge[k].v[i]];
  for (int k = 0; k < s->n_faces; k++) {
    s->face[k].plane = plane_of(s->face, k);
    for (int i = 0; i < 3; i++) s->face[k].v[i] = used[s->face[k].v[i]];
  }
}

static void find_size(ga__solid *s)
{
  double reach = 0;
  for (int k = 0; k < s->n_corners; k++)
    for (int i = 0; i < 3; i++) s->centre[i] += at(s, k)[i] / s->n_corners;
  for (int k = 0; k < s->n_corners; k++) {
    double r[3];
    difference(r, at(s, k), s->centre);
    reach = fmax(reach, sqrt(ga__vec3_dot(r, r)));
  }
  s->reach = reach + s->radius;
  s->half = s->n_faces ? INFINITY : 0;
  for (int k = 0; k < s->n_faces; k++)
    s->half = fmin(s->half, s->face[k].d - ga__vec3_dot(s->face[k].n, s->centre));
}

static ga_status make_mesh(const mesh *m, ga__solid *s, work *w)
{
  const double size = size_of(m);
  double volume;
  for (int k = 0; k < 3 * m->n_points; k++) s->point[k] = m->scale * m->point[k];
  s->n_faces = m->n_triangles;
  ga_status status = make_faces(m, s, size, &volume);
  if (status) return status;
  orient_faces(s, volume);
  list_sides(s, w->sides);
  for (int k = 0; k < s->n_faces; k++)
    for (int i = 0; i < 3; i++) w->used[s->face[k].v[i]] = MARK;
  status = check_closed(m, s, w->sides);
  if (!status) status = make_edges(m, s, size, w);
  if (status) return status;
  if (!(fabs(volume) > HOLLOW * size * size * size))
    return refuse(m, GA_REASON_SURFACE_HOLLOW, (ga__facts){GA__NUMBERS({volume, "m³"}, {size, "m"})});
  if (w->dented) find_corners(s, w);
  sort_corners(s, m, w->used);
  find_size(s);
  return w->dented ? ga__dents_create(m->ctx, s, w->edge_of) : GA_OK;
}

static ga_status create_mesh(const mesh *m, ga__solid *s)
{
  const size_t n_sides = 3 * (size_t)m->n_triangles;
  if (m->n_triangles < 4 || m->n_points < 4)
    return refuse(m, GA_REASON_SURFACE_EMPTY,
                  (ga__facts){GA__NUMBERS({m->n_triangles, NULL}, {m->n_points, NULL})});
  ga_status status = reserve(m->ctx, s, m->n_points, (int)(n_sides / 2 + 1), m->n_triangles);
  work w = {.sides = ga__alloc(m->ctx, n_sides, sizeof *w.sides),
            .used = ga__alloc(m->ctx, (size_t)m->n_points, sizeof *w.used),
            .edge_of = ga__alloc(m->ctx, n_sides, sizeof *w.edge_of),
            .list = ga__alloc(m->ctx, n_sides, sizeof *w.list)};
  if (!w.sides || !w.used || !w.edge_of || !w.list) status = GA_ERR_MEMORY;
  if (!status) status = make_mesh(m, s, &w);
  ga__free(m->ctx, w.sides);
  ga__free(m->ctx, w.used);
  ga__free(m->ctx, w.edge_of);
  ga__free(m->ctx, w.list);
  return status;
}

/* ---- The kinds ---- */

static ga_status create_box(ga_context *ctx, const ga__part *part, const ga_collider_def *d, ga__solid *s)
{
  static const double TRIANGLE[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  double point[24];
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < 3; i++) point[3 * k + i] = (k >> i & 1 ? 1 : -1) * (0.5 * d->size[i] - d->radius);
  return create_mesh(&(mesh){ctx, part, 8, 12, point, TRIANGLE, 1}, s);
}

/* A point, or a segment along z. */
static ga_status create_line(ga_context *ctx, int n, double length, ga__solid *s)
{
  const ga_status status = reserve(ctx, s, n, n - 1, 0);
  if (status) return status;
  s->n_corners = s->n_points = n;
  s->n_edges = n - 1;
  if (n == 2) {
    s->point[2] = -0.5 * length, s->point[5] = 0.5 * length;
    s->edge[0] = (ga__solid_edge){.v = {0, 1}};
  }
  find_size(s);
  return GA_OK;
}

static ga_status create_plane(ga_context *ctx, ga__solid *s)
{
  const ga_status status = reserve(ctx, s, 1, 0, 1);
  if (status) return status;
  s->is_plane = 1;
  s->n_points = s->n_faces = 1;
  s->face[0].n[2] = 1;
  s->reach = s->half = INFINITY;
  return GA_OK;
}

ga_status ga__solid_create(ga_context *ctx, const ga__part *part, ga__solid *out)
{
  const ga_collider_def *d = part->def;
  *out = (ga__solid){.radius = d->kind == GA_COLLIDER_PLANE ? 0 : d->radius};
  switch (d->kind) {
  case GA_COLLIDER_SPHERE:
    return create_line(ctx, 1, 0, out);
  case GA_COLLIDER_CAPSULE:
    return create_line(ctx, 2, d->length, out);
  case GA_COLLIDER_BOX:
    return create_box(ctx, part, d, out);
  case GA_COLLIDER_MESH:
    return create_mesh(&(mesh){ctx, part, d->n_points, d->n_triangles, d->points, d->triangles, d->scale},
                       out);
  default:
    return create_plane(ctx, out);
  }
}
