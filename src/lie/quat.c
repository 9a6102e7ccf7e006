/* Unit quaternions p = (w,x,y,z), with the algebra of SO(3): ω is the angular velocity itself, not its half.
 */
#include "lie/lie_impl.h"
#include "lie/mat3.h"
#include <math.h>

/* p and −p are the same rotation, of angle 2 atan2(|xyz|, |w|) in [0, π]. The factor of xyz tends to 2/w
 * for small angles; dividing by |xyz| is accurate even if it is tiny, as atan2 has the same argument. */
void ga__quat_log(double *psi, const double *p)
{
  const double n = sqrt(ga__vec3_dot(p + 1, p + 1));
  const double factor = n > 0 ? 2 * atan2(n, fabs(p[0])) / n : 2 / fabs(p[0]);
  for (int i = 0; i < 3; i++) psi[i] = (p[0] < 0 ? -factor : factor) * p[1 + i];
}

static void quat_identity(const ga__part *p, double *q)
{
  (void)p;
  q[0] = 1;
  q[1] = q[2] = q[3] = 0;
}

/* (w, x)∘(w', x') = (w w' − x·x', w x' + w' x + x × x') */
static void quat_compose(const ga__part *p, double *q, const double *a, const double *b)
{
  (void)p;
  ga__vec3_cross(q + 1, a + 1, b + 1);
  q[0] = a[0] * b[0] - ga__vec3_dot(a + 1, b + 1);
  for (int i = 1; i < 4; i++) q[i] += a[0] * b[i] + b[0] * a[i];
}

static void quat_inverse(const ga__part *p, double *q, const double *a)
{
  (void)p;
  q[0] = a[0];
  for (int i = 1; i < 4; i++) q[i] = -a[i];
}

/* (cos f/2, (sin(f/2)/f) ψ), with cos = 1 − x b at the half angle. */
static void quat_exp(const ga__part *p, double *q, const double *d)
{
  const double x = 0.25 * ga__vec3_dot(d, d);
  ga__trig half;
  (void)p;
  ga__trig_eval(&half, x);
  q[0] = 1 - x * half.b;
  for (int i = 0; i < 3; i++) q[1 + i] = 0.5 * half.a * d[i];
}

static void quat_log(const ga__part *p, double *d, const double *q)
{
  (void)p;
  ga__quat_log(d, q);
}

/* ½ p∘(0,ω) on the left, ½ (0,ω)∘p on the right. */
static void quat_rate(const ga__part *p, double *qdot, const double *q, const double *v)
{
  const double half[4] = {0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]};
  if (p->sign > 0)
    quat_compose(p, qdot, q, half);
  else
    quat_compose(p, qdot, half, q);
}

static double length(const double *q)
{
  return sqrt(q[0] * q[0] + ga__vec3_dot(q + 1, q + 1));
}

static void quat_tidy(const ga__part *p, double *q)
{
  const double scale = 1 / length(q);
  (void)p;
  for (int i = 0; i < 4; i++) q[i] *= scale;
}

static double quat_defect(const ga__part *p, const double *q)
{
  (void)p;
  return fabs(length(q) - 1);
}

static void quat_normalise(const ga__part *p, double *q)
{
  double largest = 0;
  for (int i = 0; i < 4; i++) largest = ga__larger(largest, fabs(q[i]));
  for (int i = 0; i < 4; i++) q[i] /= largest; /* avoids over- and underflow of the length; 0 becomes NaN */
  quat_tidy(p, q);
}

const ga__kind ga__kind_quat = {
    .nq = 4,
    .nv = 3,
    .block = 3,
    .identity = quat_identity,
    .compose = quat_compose,
    .inverse = quat_inverse,
    .exp = quat_exp,
    .log = quat_log,
    .move = ga__part_move,
    .difference = ga__part_difference,
    .rate = quat_rate,
    .bracket = ga__so3_part_bracket,
    .add_bracket = ga__so3_part_add_bracket,
    .tangent = ga__so3_part_tangent,
    .tangent_inverse = ga__so3_part_tangent_inverse,
    .ad = ga__so3_part_ad,
    .tangent_ads = ga__so3_parts_tangent_ad,
    .exponent_rates = ga__so3_parts_exponent_rate,
    .tidy = quat_tidy,
    .defect = quat_defect,
    .normalise = quat_normalise,
};
