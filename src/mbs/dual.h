/* Numbers with their derivatives by a few variables, for laws of many steps whose derivatives are exact by
 * the chain rule. A result has as many derivatives as its operands; with n = 0 they are plain numbers. */
#ifndef GALPHA_MBS_DUAL_H
#define GALPHA_MBS_DUAL_H

#include <math.h>

enum { GA__DUAL_ROOM = 27 };

typedef struct ga__dual {
  double v;
  int n; /* derivatives, the same in all numbers of one computation */
  double d[GA__DUAL_ROOM];
} ga__dual;

/* Functions with an output as their first argument write in place, which may be an operand: a ga__dual that
 * is returned and then assigned is copied as a whole, which costs more than the operation. */
static inline void ga__dual_set_const(ga__dual *c, int n, double v)
{
  c->v = v;
  c->n = n;
  for (int i = 0; i < n; i++) c->d[i] = 0;
}

static inline void ga__dual_set_chain2(ga__dual *c, const ga__dual *a, const ga__dual *b, double v,
                                       double by_a, double by_b)
{
  const int n = a->n;
  c->v = v;
  c->n = n;
  for (int i = 0; i < n; i++) c->d[i] = by_a * a->d[i] + by_b * b->d[i];
}

static inline ga__dual ga__dual_const(int n, double v)
{
  ga__dual c;
  ga__dual_set_const(&c, n, v);
  return c;
}

/* The variable number i. */
static inline ga__dual ga__dual_variable(int n, int i, double v)
{
  ga__dual c = ga__dual_const(n, v);
  if (i >= 0 && i < n) c.d[i] = 1;
  return c;
}

/* g(a), g(a, b) with their value and slopes. */
static inline ga__dual ga__dual_chain(const ga__dual *a, double v, double by_a)
{
  ga__dual c;
  c.v = v;
  c.n = a->n;
  for (int i = 0; i < a->n; i++) c.d[i] = by_a * a->d[i];
  return c;
}

static inline ga__dual ga__dual_chain2(const ga__dual *a, const ga__dual *b, double v, double by_a,
                                       double by_b)
{
  ga__dual c;
  ga__dual_set_chain2(&c, a, b, v, by_a, by_b);
  return c;
}

static inline ga__dual ga__dual_add(const ga__dual *a, const ga__dual *b)
{
  return ga__dual_chain2(a, b, a->v + b->v, 1, 1);
}

static inline ga__dual ga__dual_sub(const ga__dual *a, const ga__dual *b)
{
  return ga__dual_chain2(a, b, a->v - b->v, 1, -1);
}

static inline ga__dual ga__dual_mul(const ga__dual *a, const ga__dual *b)
{
  return ga__dual_chain2(a, b, a->v * b->v, b->v, a->v);
}

static inline ga__dual ga__dual_div(const ga__dual *a, const ga__dual *b)
{
  const double q = a->v / b->v;
  return ga__dual_chain2(a, b, q, 1 / b->v, -q / b->v);
}

static inline ga__dual ga__dual_linear(const ga__dual *a, double factor, double offset)
{
  return ga__dual_chain(a, factor * a->v + offset, factor);
}

/* √(a² + b²); at 0 without derivatives, where it is a factor of something that vanishes too. */
static inline ga__dual ga__dual_hypot(const ga__dual *a, const ga__dual *b)
{
  const double h = hypot(a->v, b->v);
  return ga__dual_chain2(a, b, h, h > 0 ? a->v / h : 0, h > 0 ? b->v / h : 0);
}

/* √a, a > 0 */
static inline ga__dual ga__dual_root(const ga__dual *a)
{
  const double r = sqrt(a->v);
  return ga__dual_chain(a, r, 0.5 / r);
}

/* ---- Vectors ---- */

/* A vector that turns with a node: its changes are φ × a, φ the three variables from `first` on (-1: none).
 */
static inline void ga__dual_turning(ga__dual out[3], int n, int first, const double a[3])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    ga__dual_set_const(&out[i], n, a[i]);
    if (first < 0 || first >= n) continue;
    out[i].d[first + j] = a[k];
    out[i].d[first + k] = -a[j];
  }
}

static inline ga__dual ga__dual_dot(const ga__dual a[3], const ga__dual b[3])
{
  ga__dual s = ga__dual_mul(&a[0], &b[0]);
  for (int i = 1; i < 3; i++) {
    s.v += a[i].v * b[i].v;
    for (int k = 0; k < s.n; k++) s.d[k] += b[i].v * a[i].d[k] + a[i].v * b[i].d[k];
  }
  return s;
}

static inline void ga__dual_cross(ga__dual out[3], const ga__dual a[3], const ga__dual b[3])
{
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    ga__dual_set_chain2(&out[i], &a[j], &b[k], a[j].v * b[k].v - a[k].v * b[j].v, b[k].v, a[j].v);
    for (int m = 0; m < out[i].n; m++) out[i].d[m] -= b[j].v * a[k].d[m] + a[k].v * b[j].d[m];
  }
}

/* out = a + s b; out may be a */
static inline void ga__dual_along(ga__dual out[3], const ga__dual a[3], const ga__dual *s,
                                  const ga__dual b[3])
{
  for (int i = 0; i < 3; i++) {
    ga__dual_set_chain2(&out[i], &a[i], &b[i], a[i].v + s->v * b[i].v, 1, s->v);
    for (int k = 0; k < out[i].n; k++) out[i].d[k] += b[i].v * s->d[k];
  }
}

static inline void ga__dual_minus(ga__dual out[3], const ga__dual a[3], const ga__dual b[3])
{
  for (int i = 0; i < 3; i++) ga__dual_set_chain2(&out[i], &a[i], &b[i], a[i].v - b[i].v, 1, -1);
}

#endif
