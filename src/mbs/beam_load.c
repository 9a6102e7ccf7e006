/* Loads along a beam element; see beam_element.h.
 *
 * A load f(ξ) that changes evenly between the nodes acts on the parabola of the axis, Σ ∫ N f dξ
 * (beam_inertia.c). What follows from sections between the nodes, which stand otherwise than both ends (φ(ξ)
 * in beam_thick.c), is of second order in the length:
 *
 * - A load that turns with the sections, f = R f₀, has not the mean of both ends but more, by
 *
 *     δ f₀ = −θ × (fb − fa)/12 + (S γ) × (fa + fb)/2,   θ the rotation from a to b
 *
 * - A moment m does work on the mean rotation of the sections, φ̄ + S γ = (1 − S) φ̄ + S Ω, S = diag(s) across
 * the chord: of it, c = L (S m)⊥ acts on the chord n as the couple of forces ±(c × n)/n², and not on the
 * nodes.
 *
 * θ is ½ Σ a_j × b_j with the axes of both ends, and S γ = ½ Σ s_k e_k (n·c_k)/L with those of the frame.
 * Everything is computed together with its derivative along one motion of the nodes (dual numbers). */
#include "mbs/beam_element.h"

#include "lie/mat3.h"
#include <string.h>

/* of a load that changes from a to b: ∫ N (1 − ξ, ξ) dξ */
static const double SHARE[3][2] = {{1.0 / 3, 1.0 / 6}, {1.0 / 6, 1.0 / 3}, {1.0 / 12, 1.0 / 12}};

/* ---- Dual numbers: a value and its derivative ---- */

typedef struct number {
  double x, d;
} number;
typedef struct vector {
  double x[3], d[3];
} vector;

static vector cross(const vector *a, const vector *b)
{
  vector c;
  double second[3];
  ga__vec3_cross(c.x, a->x, b->x);
  ga__vec3_cross(c.d, a->d, b->x);
  ga__vec3_cross(second, a->x, b->d);
  for (int i = 0; i < 3; i++) c.d[i] += second[i];
  return c;
}

static number dot(const vector *a, const vector *b)
{
  return (number){ga__vec3_dot(a->x, b->x), ga__vec3_dot(a->d, b->x) + ga__vec3_dot(a->x, b->d)};
}

/* a += scale b */
static void add(vector *a, double scale, const vector *b)
{
  for (int i = 0; i < 3; i++) a->x[i] += scale * b->x[i], a->d[i] += scale * b->d[i];
}

/* a += scale s b */
static void add_times(vector *a, double scale, number s, const vector *b)
{
  for (int i = 0; i < 3; i++) {
    a->x[i] += scale * s.x * b->x[i];
    a->d[i] += scale * (s.d * b->x[i] + s.x * b->d[i]);
  }
}

/* ---- The element and a motion of its nodes ---- */

typedef struct moving {
  const ga__beam_axis *x;
  const ga__beam_element *e;
  vector n;          /* from a to b */
  double turn[2][3]; /* small rotations of the nodes */
} moving;

/* by: the one of the twelve numbers by which the derivative is; −1: none. */
static moving move(const ga__beam_axis *x, const ga__beam_element *e, int by)
{
  moving m = {.x = x, .e = e};
  for (int i = 0; i < 3; i++) m.n.x[i] = x->node[1]->x[i] - x->node[0]->x[i];
  if (by < 0) return m;
  const int node = by / 6, axis = by % 6;
  if (axis < 3)
    m.n.d[axis] = node ? 1 : -1;
  else
    m.turn[node][axis - 3] = 1;
  return m;
}

/* What turns with node i. */
static vector carried(const moving *m, int i, const double x[3])
{
  vector v;
  memcpy(v.x, x, sizeof v.x);
  ga__vec3_cross(v.d, m->turn[i], x);
  return v;
}

static vector turned(const moving *m, int i, const double own[3])
{
  double x[3];
  ga__mat3_mul_vec(x, m->x->node[i]->R, own);
  return carried(m, i, x);
}

/* θ, from a to b */
static vector rotation(const moving *m)
{
  vector theta = {{0, 0, 0}, {0, 0, 0}};
  for (int j = 0; j < 3; j++) {
    const double unit[3] = {j == 0, j == 1, j == 2};
    const vector a = turned(m, 0, unit), b = turned(m, 1, unit), c = cross(&a, &b);
    add(&theta, 0.5, &c);
  }
  return theta;
}

/* S v, across the chord */
static vector slender(const moving *m, const vector *v)
{
  vector sum = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      const vector axis = carried(m, i, m->x->axis[i][k]);
      add_times(&sum, 0.5 * m->e->slender[k], dot(v, &axis), &axis);
    }
  return sum;
}

/* 1/|n|² */
static number inverse_square(const moving *m)
{
  const number square = dot(&m->n, &m->n);
  return (number){1 / square.x, -square.d / (square.x * square.x)};
}

/* v less what is along the chord */
static vector across_chord(const moving *m, vector v)
{
  const number along = dot(&v, &m->n), inverse = inverse_square(m);
  add_times(&v, -1, (number){along.x * inverse.x, along.d * inverse.x + along.x * inverse.d}, &m->n);
  return v;
}

/* S γ */
static vector sway(const moving *m)
{
  vector sum = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      const vector axis = carried(m, i, m->x->axis[i][k]), across = carried(m, i, m->x->axis[i][1 - k]);
      add_times(&sum, (k ? 0.5 : -0.5) * m->e->slender[k] / m->e->chord, dot(&m->n, &across), &axis);
    }
  return sum;
}

/* By how much the mean of what turns with the sections differs from that of both ends. */
static vector beyond_mean(const moving *m, const vector end[2])
{
  const vector theta = rotation(m), g = sway(m);
  vector difference = end[1], mean = end[0];
  add(&difference, -1, &end[0]);
  add(&mean, 1, &end[1]);
  const vector bent = cross(&theta, &difference), shifted = cross(&g, &mean);
  vector out = {{0, 0, 0}, {0, 0, 0}};
  add(&out, -1.0 / 12, &bent);
  add(&out, 0.5, &shifted);
  return out;
}

static int is_there(const double x[3])
{
  return x[0] != 0 || x[1] != 0 || x[2] != 0;
}

/* ---- What loads do: w is force and moment at a, then at b ---- */

static void add_force(const moving *m, const double load[12], vector w[4])
{
  const double L = m->e->L;
  vector end[2], p[3];
  memset(p, 0, sizeof p);
  for (int i = 0; i < 2; i++) end[i] = turned(m, i, load + 6);
  if (is_there(load + 6) && !m->e->section->plain) {
    const vector more = beyond_mean(m, end);
    for (int i = 0; i < 2; i++) add(&w[2 * i], 0.5 * L, &more);
  }
  for (int i = 0; i < 2; i++)
    for (int c = 0; c < 3; c++) end[i].x[c] += load[c];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) add(&p[i], L * SHARE[i][k], &end[k]);
  for (int i = 0; i < 2; i++) {
    const vector s = carried(m, i, m->x->s[i]), moment = cross(&s, &p[2]);
    add(&w[2 * i], 1, &p[i]);
    if (!m->e->section->plain) add(&w[2 * i + 1], 1, &moment);
  }
}

/* The part c of the moment M of the whole element that acts on the chord, taken from the nodes. */
static void move_to_chord(const moving *m, const vector *M, vector w[4])
{
  const vector SM = slender(m, M), c = across_chord(m, SM), pair = cross(&c, &m->n);
  const number inverse = inverse_square(m);
  for (int i = 0; i < 2; i++) {
    add_times(&w[2 * i], i ? 1 : -1, inverse, &pair);
    add(&w[2 * i + 1], -0.5, &c);
  }
}

static void add_moment(const moving *m, const double load[12], vector w[4])
{
  const double L = m->e->L;
  vector end[2], all = {{0, 0, 0}, {0, 0, 0}};
  for (int i = 0; i < 2; i++) end[i] = turned(m, i, load + 9);
  if (is_there(load + 9) && !m->e->section->plain) {
    const vector more = beyond_mean(m, end);
    add(&all, L, &more);
    for (int i = 0; i < 2; i++) add(&w[2 * i + 1], 0.5 * L, &more);
  }
  for (int i = 0; i < 2; i++) {
    for (int c = 0; c < 3; c++) end[i].x[c] += load[3 + c];
    add(&all, 0.5 * L, &end[i]);
  }
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      add(&w[2 * i + 1], L * (m->e->section->plain ? 0.5 * (i == k) : SHARE[i][k]), &end[k]);
  if (!m->e->section->plain) move_to_chord(m, &all, w);
}

/* out[4]: what the loads do, with its derivative. */
static void act(const moving *m, const double load[12], vector out[4])
{
  memset(out, 0, 4 * sizeof *out);
  if (is_there(load) || is_there(load + 6)) add_force(m, load, out);
  if (is_there(load + 3) || is_there(load + 9)) add_moment(m, load, out);
}

void ga__beam_load(const ga__beam_axis *x, const ga__beam_element *e, const double load[12], double w[12],
                   double *T)
{
  vector out[4];
  const moving still = move(x, e, -1);
  act(&still, load, out);
  for (int i = 0; i < 12; i++) w[i] += out[i / 3].x[i % 3];
  for (int c = 0; T && c < 12; c++) {
    const moving m = move(x, e, c);
    act(&m, load, out);
    for (int i = 0; i < 12; i++) T[12 * i + c] += out[i / 3].d[i % 3];
  }
}
