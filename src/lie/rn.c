/* R^n with addition. */
#include "lie/lie_impl.h"
#include <math.h>
#include <string.h>

double ga__not_finite(const double *x, int n)
{
  double worst = 0;
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) worst = ga__larger(worst, fabs(x[i]));
  return worst;
}

static void rn_identity(const ga__part *p, double *q)
{
  for (int i = 0; i < p->nq; i++) q[i] = 0;
}

static void rn_add(const ga__part *p, double *q, const double *a, const double *b)
{
  for (int i = 0; i < p->nq; i++) q[i] = a[i] + b[i];
}

static void rn_inverse(const ga__part *p, double *q, const double *a)
{
  for (int i = 0; i < p->nq; i++) q[i] = -a[i];
}

static void rn_copy(const ga__part *p, double *q, const double *d)
{
  memcpy(q, d, (size_t)p->nq * sizeof *q);
}

static void rn_difference(const ga__part *p, double *d, const double *q, const double *q1)
{
  for (int i = 0; i < p->nq; i++) d[i] = q1[i] - q[i];
}

static void rn_rate(const ga__part *p, double *qdot, const double *q, const double *v)
{
  (void)q;
  rn_copy(p, qdot, v);
}

static void rn_bracket(const ga__part *p, double *c, const double *a, const double *b)
{
  (void)a;
  (void)b;
  rn_identity(p, c);
}

static double rn_defect(const ga__part *p, const double *q)
{
  return ga__not_finite(q, p->nq);
}

static void rn_keep(const ga__part *p, double *q)
{
  (void)p;
  (void)q;
}

const ga__kind ga__kind_rn = {
    .identity = rn_identity,
    .compose = rn_add,
    .inverse = rn_inverse,
    .exp = rn_copy,
    .log = rn_copy,
    .move = rn_add,
    .difference = rn_difference,
    .rate = rn_rate,
    .bracket = rn_bracket,
    .tidy = rn_keep,
    .defect = rn_defect,
    .normalise = rn_keep,
};
