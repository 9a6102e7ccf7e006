/* The size of a machine: tolerances of its positions are relative to no more than this.
 *
 *   L = max(max|p − p̄|, max √(tr J / 2m))     p: origins and markers of bodies at the start, p̄ their mean
 *
 * L does not change when the whole machine is moved or turned, nor while it moves: a car that has driven 10 km is
 * computed as accurately as at the start. A single point has no size: there markers on the ground count too. If
 * nothing has a size, 0, and tolerances are relative to positions as they are. */
#include "mbs/extent.h"

#include "lie/mat3.h"
#include <math.h>

enum { OF_BODIES, OF_ALL }; /* points that count */

typedef struct cloud {
  double sum[3], mean[3], radius;
  int n;
} cloud;

static int has_position(const ga__node *node)
{
  return !node->scalar && !node->vector;
}

/* The first pass sums points, the second measures distances from their mean. */
static void add_point(cloud *c, const double p[3], int pass)
{
  double square = 0.0;
  if (!(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))) return;
  for (int k = 0; k < 3; k++) {
    if (pass == 0) c->sum[k] += p[k];
    square += (p[k] - c->mean[k]) * (p[k] - c->mean[k]);
  }
  if (pass == 0)
    c->n++;
  else
    c->radius = fmax(c->radius, sqrt(square));
}

static void add_points(cloud *c, const ga__mbs_model *b, int which, int pass)
{
  for (int i = 1; i < b->node.n; i++)
    if (has_position(GA__AT(b->node, ga__node, i))) add_point(c, b->kin[i].x, pass);
  for (int i = 0; i < b->marker.n; i++) {
    ga__frame frame;
    const ga__marker *marker = GA__AT(b->marker, ga__marker, i);
    if (marker->node == 0 ? which == OF_BODIES : !has_position(GA__AT(b->node, ga__node, marker->node))) continue;
    ga__frame_at(&frame, marker, b->kin);
    add_point(c, frame.p, pass);
  }
}

static double radius_of(const ga__mbs_model *b, int which)
{
  cloud c = {.n = 0};
  add_points(&c, b, which, 0);
  for (int k = 0; k < 3 && c.n > 0; k++) c.mean[k] = c.sum[k] / c.n;
  add_points(&c, b, which, 1);
  return c.radius;
}

static double gyration_of(const ga__node *node)
{
  const double trace = node->J[0] + node->J[4] + node->J[8];
  return node->mass > 0.0 && trace > 0.0 ? sqrt(0.5 * trace / node->mass) : 0.0;
}

/* Sizes below this part of the coordinates themselves are rounding. */
#define ROUNDING 1e-9

double ga__extent_of(const ga__mbs_model *b)
{
  double gyration = 0.0, farthest = 0.0;
  for (int i = 0; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    ga__kin_initial(b, i, b->kin);
    if (i == 0 || !has_position(node)) continue;
    gyration = fmax(gyration, gyration_of(node));
    farthest = fmax(farthest, sqrt(ga__vec3_dot(b->kin[i].x, b->kin[i].x)));
  }
  double size = fmax(radius_of(b, OF_BODIES), gyration);
  if (!(size > ROUNDING * farthest)) size = radius_of(b, OF_ALL);
  return size > ROUNDING * farthest ? size : 0.0;
}

void ga__extent_scale(ga__mbs_model *b, double *scale)
{
  const double size = b->size = ga__extent_of(b);
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->carried || !has_position(node)) continue;
    for (int c = 0; c < 6; c++)
      if (node->column[c] >= 0) scale[node->v + node->column[c]] = c < 3 ? size : 1.0;
  }
}

double ga_machine_size(const ga_machine *m)
{
  return m && m->model ? m->model->size : 0.0;
}
