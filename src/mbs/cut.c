/* Elements cut into pieces. A piece has the section, the even curvature and the strain of the whole element;
 * nodes between pieces are eliminated at the frequency, so that what remains tends to the exact dynamic
 * stiffness of the element as pieces become shorter. */
#include "mbs/cut.h"
#include "mbs/beam.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

enum { MOST = 6 };

/* D[3n × 3n] without its unknown k. */
static int eliminate(double *D, int size, int k)
{
  const double pivot = D[k * size + k];
  if (!(fabs(pivot) > 0)) return 1;
  for (int i = 0; i < size; i++) {
    const double factor = D[i * size + k] / pivot;
    if (i == k || factor == 0) continue;
    for (int j = 0; j < size; j++) D[i * size + j] -= factor * D[k * size + j];
  }
  for (int i = 0; i < size; i++) D[i * size + k] = D[k * size + i] = 0;
  return 0;
}

int ga__cut_join(int n, const double *a, const double *b, double *out)
{
  const int size = 3 * n;
  double D[9 * MOST * MOST] = {0};
  int done[MOST] = {0};
  for (int i = 0; i < 2 * n; i++)
    for (int j = 0; j < 2 * n; j++) {
      D[i * size + j] += a[2 * n * i + j];
      D[(n + i) * size + n + j] += b[2 * n * i + j];
    }
  for (int round = 0; round < n; round++) {
    int best = -1;
    for (int k = 0; k < n; k++)
      if (!done[k] && (best < 0 || fabs(D[(n + k) * (size + 1)]) > fabs(D[(n + best) * (size + 1)])))
        best = k;
    done[best] = 1;
    if (eliminate(D, size, n + best)) return 1;
  }
  for (int i = 0; i < 2 * n; i++)
    for (int j = 0; j < 2 * n; j++) out[2 * n * i + j] = D[(i < n ? i : i + n) * size + (j < n ? j : j + n)];
  return 0;
}

/* ---- Beams ---- */

/* D −= w2 · mass of the node, half of the element's, as body.c has it. */
static void subtract_node(const ga__beam_element *e, const ga__kin *k, double w2, int node, double D[144])
{
  const double half = 0.5 * e->L;
  double RJ[9], J[9];
  ga__mat3_mul(RJ, k->R, e->section->J);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) J[3 * i + j] = ga__vec3_dot(RJ + 3 * i, k->R + 3 * j);
  for (int i = 0; i < 3; i++) {
    D[13 * (6 * node + i)] -= w2 * half * e->section->mass;
    for (int j = 0; j < 3; j++) D[12 * (6 * node + 3 + i) + 6 * node + 3 + j] -= w2 * half * J[3 * i + j];
  }
}

static void make_symmetric(double D[144])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < i; j++) D[12 * i + j] = D[12 * j + i] = 0.5 * (D[12 * i + j] + D[12 * j + i]);
}

/* Of the element as it is. */
static int whole(const ga__beam_element *e, const ga__kin *a, const ga__kin *b, double w2, double D[144])
{
  ga__beam_strain s;
  ga__beam_axis x;
  double n[6], g[6];
  if (ga__beam_strain_at(&s, e, a, b)) return 1;
  ga__beam_set_moves(&s);
  ga__beam_force_within(&s, e, n);
  ga__beam_gradient(&s, e, n, g);
  ga__beam_tangent(&s, e, n, g, D);
  ga__beam_axis_at(&x, e, a, b);
  ga__beam_add_inertia_d(&x, e, -w2, 0, D);
  subtract_node(e, a, w2, 0, D);
  subtract_node(e, b, w2, 1, D);
  make_symmetric(D);
  return 0;
}

/* The pose half way from identity to exp(d). */
static void half_way(const double d[6], double x[3], double R[9])
{
  double half[6];
  for (int i = 0; i < 6; i++) half[i] = 0.5 * d[i];
  ga__beam_exp(half, x, R);
}

static ga__beam_element half_of(const ga__beam_element *e)
{
  ga__beam_element half;
  double d0[6];
  for (int i = 0; i < 6; i++) d0[i] = 0.5 * e->d0[i];
  ga__beam_element_make(&half, e->section, 0.5 * e->L, d0);
  return half;
}

int ga__beam_cut(const ga__beam_element *e, const ga__kin *a, const ga__kin *b, double w2, int level,
                 double D[144])
{
  if (level == 0) return whole(e, a, b, w2, D);
  const ga__beam_element half = half_of(e);
  ga__kin middle = {.angle = 0};
  double d[6], x[3], R[9], part[2][144];
  if (ga__beam_relative(d, a->x, a->R, b->x, b->R)) return 1;
  half_way(d, x, R);
  ga__mat3_mul_vec(middle.x, a->R, x);
  for (int i = 0; i < 3; i++) middle.x[i] += a->x[i];
  ga__mat3_mul(middle.R, a->R, R);
  return ga__beam_cut(&half, a, &middle, w2, level - 1, part[0]) ||
         ga__beam_cut(&half, &middle, b, w2, level - 1, part[1]) || ga__cut_join(6, part[0], part[1], D);
}
