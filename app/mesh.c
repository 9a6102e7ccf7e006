/* Meshes of shapes as data of a page. Large ones are simplified by clusters of corners: a grid is laid over
 * the mesh, all corners in a cell become their mean, and triangles with two corners in one cell vanish. The
 * shape deviates by less than the diagonal of a cell. */
#include "mesh.h"

#include "page.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct corner {
  uint64_t cell;
  uint32_t number;
} corner;

typedef struct mesh {
  uint32_t n_points, n_triangles;
  float *point;       /* [3 n_points] */
  uint32_t *triangle; /* [3 n_triangles] */
  corner *corner;     /* [n_points of the shape] */
  uint32_t *cluster;  /* [n_points of the shape] its number */
} mesh;

static int by_cell(const void *a, const void *b)
{
  const uint64_t x = ((const corner *)a)->cell, y = ((const corner *)b)->cell;
  return x < y ? -1 : x > y;
}

static void bounds_of(const ga_shape *s, double low[3], double *side)
{
  *side = 0;
  for (int k = 0; k < 3; k++) {
    double most = -INFINITY;
    low[k] = INFINITY;
    for (int i = 0; i < s->n_points; i++) {
      low[k] = fmin(low[k], s->points[3 * i + k]);
      most = fmax(most, s->points[3 * i + k]);
    }
    *side = fmax(*side, most - low[k]);
  }
}

/* Clusters by a grid of `cells` along the longest side; 0: every corner is one. */
static void find_clusters(mesh *m, const ga_shape *s, int cells)
{
  double low[3], side;
  bounds_of(s, low, &side);
  for (int i = 0; i < s->n_points; i++) {
    m->corner[i] = (corner){(uint64_t)i, (uint32_t)i};
    if (cells == 0) continue;
    m->corner[i].cell = 0;
    for (int k = 0; k < 3; k++) {
      const double at = side > 0 ? (s->points[3 * i + k] - low[k]) / side * cells : 0;
      m->corner[i].cell = m->corner[i].cell << 20 | (uint64_t)fmin(at, cells - 1);
    }
  }
  if (cells > 0) qsort(m->corner, (size_t)s->n_points, sizeof *m->corner, by_cell);
  m->n_points = 0;
  for (int i = 0; i < s->n_points; m->n_points++) {
    double mean[3] = {0, 0, 0};
    int n = 0;
    for (; i + n < s->n_points && m->corner[i + n].cell == m->corner[i].cell; n++) {
      m->cluster[m->corner[i + n].number] = m->n_points;
      for (int k = 0; k < 3; k++) mean[k] += s->points[3 * (size_t)m->corner[i + n].number + (size_t)k];
    }
    for (int k = 0; k < 3; k++) m->point[3 * m->n_points + (uint32_t)k] = (float)(s->scale * mean[k] / n);
    i += n;
  }
}

static void take_triangles(mesh *m, const ga_shape *s)
{
  m->n_triangles = 0;
  for (int i = 0; i < s->n_triangles; i++) {
    uint32_t *t = m->triangle + 3 * m->n_triangles;
    for (int k = 0; k < 3; k++) t[k] = m->cluster[(size_t)s->triangles[3 * i + k]];
    m->n_triangles += t[0] != t[1] && t[1] != t[2] && t[0] != t[2];
  }
}

ga_status app_mesh_write(FILE *to, const ga_shape *shape, long most, long *kept)
{
  const size_t points = (size_t)shape->n_points, triangles = (size_t)shape->n_triangles;
  mesh m = {.point = malloc((3 * points + 1) * sizeof *m.point),
            .triangle = malloc((3 * triangles + 1) * sizeof *m.triangle),
            .corner = malloc((points + 1) * sizeof *m.corner),
            .cluster = malloc((points + 1) * sizeof *m.cluster)};
  const ga_status status = m.point && m.triangle && m.corner && m.cluster ? GA_OK : GA_ERR_MEMORY;
  for (int cells = 0; !status; cells = cells ? cells * 3 / 4 : 1024) {
    find_clusters(&m, shape, cells);
    take_triangles(&m, shape);
    if ((long)m.n_triangles <= most || (cells > 0 && cells < 4)) break;
  }
  if (!status) {
    fputs(",\"points\":", to);
    app_page_bytes(to, m.point, 3 * m.n_points * sizeof *m.point);
    fputs(",\"triangles\":", to);
    app_page_bytes(to, m.triangle, 3 * m.n_triangles * sizeof *m.triangle);
  }
  *kept = m.n_triangles;
  free(m.point);
  free(m.triangle);
  free(m.corner);
  free(m.cluster);
  return status;
}
