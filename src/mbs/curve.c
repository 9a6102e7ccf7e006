/* Smooth curves through points, of circular arcs.
 *
 * Between points p₀, p₁ with tangents t₀, t₁ two arcs meet at m, which is as far from both ends along the
 * tangents: with v = p₁ − p₀, t = t₀ + t₁
 *
 *   2 (1 − t₀·t₁) d² + 2 d v·t − v² = 0,   m = (p₀ + p₁ + d (t₀ − t₁))/2
 *
 * An arc from p with tangent t to m, chord c: its tangent turns by φ, where the angle between t and c is φ/2,
 * about t × c; its length is |c| (φ/2)/sin(φ/2). */
#include "mbs/curve.h"
#include "mbs/beam.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

static const double *point(const ga__curve *c, int i)
{
  return c->point + 3 * i;
}

static double between(const double a[3], const double b[3], double out[3])
{
  for (int k = 0; k < 3; k++) out[k] = b[k] - a[k];
  return sqrt(ga__vec3_dot(out, out));
}

/* Of the circle through points i − 1, i, i + 1, at the middle one: a/a² + b/b², from an inversion there. */
static void middle_tangent(const ga__curve *c, int i, double t[3])
{
  double a[3], b[3];
  const double la = between(point(c, i - 1), point(c, i), a), lb = between(point(c, i), point(c, i + 1), b);
  for (int k = 0; k < 3; k++) t[k] = lb / la * a[k] + la / lb * b[k];
  const double size = sqrt(ga__vec3_dot(t, t));
  for (int k = 0; k < 3; k++) t[k] = size > 0 ? t[k] / size : 0;
}

/* The other end's tangent of an arc with chord c. */
static void mirror(double t[3], const double c[3])
{
  const double along = 2 * ga__vec3_dot(t, c) / ga__vec3_dot(c, c);
  for (int k = 0; k < 3; k++) t[k] = along * c[k] - t[k];
}

void ga__curve_tangent(const ga__curve *c, int i, double t[3])
{
  const int last = c->n - 1, inner = i == 0 ? 1 : i == last ? last - 1 : i;
  double chord[3];
  if (c->n == 2) {
    const double size = between(point(c, 0), point(c, 1), t);
    for (int k = 0; k < 3; k++) t[k] /= size;
    return;
  }
  middle_tangent(c, inner, t);
  if (i == inner) return;
  between(point(c, i == 0 ? 0 : last - 1), point(c, i == 0 ? 1 : last), chord);
  mirror(t, chord);
}

int ga__curve_fault(const ga__curve *c, int *same)
{
  double scale = 0, v[3];
  for (int i = 0; i + 1 < c->n; i++) scale = fmax(scale, between(point(c, i), point(c, i + 1), v));
  *same = 1;
  for (int i = 1; i < c->n; i++)
    if (!(between(point(c, i - 1), point(c, i), v) > 1e-9 * scale)) return 1 + i;
  *same = 0;
  for (int i = 1; i + 1 < c->n; i++) /* tangents at both ends have the same angles with their chords */
    for (int k = 0; k < 2; k++) {
      double t[3];
      const double size = between(point(c, i - k), point(c, i + 1 - k), v);
      middle_tangent(c, i, t);
      if (!(ga__vec3_dot(t, v) > 1e-3 * size)) return 1 + i;
    }
  return 0;
}

typedef struct arc {
  double length, kappa[3]; /* tangent turns about kappa, in space, by its size per metre */
} arc;

/* From p with tangent t to m. */
static arc arc_to(const double p[3], const double t[3], const double m[3])
{
  arc a;
  double c[3], axis[3];
  const double chord = between(p, m, c);
  ga__vec3_cross(axis, t, c);
  const double sine = chord > 0 ? sqrt(ga__vec3_dot(axis, axis)) / chord : 0;
  const double half = atan2(sine, chord > 0 ? ga__vec3_dot(t, c) / chord : 1);
  a.length = sine > 1e-12 ? chord * half / sine : chord;
  for (int k = 0; k < 3; k++) a.kappa[k] = sine > 1e-12 ? axis[k] / (chord * sine) * 2 * half / a.length : 0;
  return a;
}

/* Both arcs between points i and i + 1. */
static void arcs_of(const ga__curve *c, int i, arc out[2])
{
  const double *p0 = point(c, i), *p1 = point(c, i + 1);
  double v[3], t[2][3], m[3], chord[3];
  const double size = between(p0, p1, v);
  for (int k = 0; k < 2; k++) ga__curve_tangent(c, i + k, t[k]);
  const double vt = ga__vec3_dot(v, t[0]) + ga__vec3_dot(v, t[1]);
  const double d = size * size / (vt + sqrt(vt * vt + 2 * (1 - ga__vec3_dot(t[0], t[1])) * size * size));
  for (int k = 0; k < 3; k++) m[k] = 0.5 * (p0[k] + p1[k] + d * (t[0][k] - t[1][k]));
  out[0] = arc_to(p0, t[0], m);
  between(p0, m, chord);
  mirror(t[0], chord);
  out[1] = arc_to(m, t[0], p1);
}

double ga__curve_length(const ga__curve *c)
{
  double sum = 0;
  for (int i = 0; i + 1 < c->n; i++) {
    arc a[2];
    arcs_of(c, i, a);
    sum += a[0].length + a[1].length;
  }
  return sum;
}

void ga__curve_at(const ga__curve *c, const double start[9], double s, double x[3], double R[9], double *turn)
{
  double left = s;
  memcpy(x, c->point, 3 * sizeof *x);
  memcpy(R, start, 9 * sizeof *R);
  *turn = 0;
  for (int i = 0; i + 1 < c->n && left > 0; i++) {
    arc a[2];
    arcs_of(c, i, a);
    for (int k = 0; k < 2 && left > 0; k++) {
      const double go = left < a[k].length || (i + 2 == c->n && k == 1) ? left : a[k].length;
      double kappa[3], step[3], dx[3], dR[9], next[9];
      ga__mat3_tmul_vec(kappa, R, a[k].kappa);
      ga__beam_reference(kappa, go, step, dR);
      ga__mat3_mul_vec(dx, R, step);
      ga__mat3_mul(next, R, dR);
      memcpy(R, next, sizeof next);
      for (int j = 0; j < 3; j++) x[j] += dx[j];
      *turn += go * sqrt(ga__vec3_dot(kappa, kappa));
      left -= go;
    }
  }
}
