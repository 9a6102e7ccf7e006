#include "spatial_chain.h"

#include "spatial_vec.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

spatial_chain spatial_chain_make(spatial_kind kind, int n)
{
  const double l = 1.0 / n, m = 1.0 / n;
  return (spatial_chain){.kind = kind,
                         .n = n,
                         .l = l,
                         .m = m,
                         .J_across = m * l * l / 12.0,
                         .J_along = m * l * l / 120.0,
                         .g = 9.81,
                         .t_end = 1.0};
}

const char *spatial_kind_name(spatial_kind kind)
{
  return kind == SPATIAL_SPHERICAL ? "spherical" : "revolute";
}

void spatial_joint_axis(double axis[3], int joint)
{
  axis[0] = 0.0;
  axis[1] = joint % 2 == 0 ? 1.0 : 0.0;
  axis[2] = joint % 2 == 0 ? 0.0 : 1.0;
}

double spatial_joint_rate(const spatial_chain *c, int joint)
{
  return c->kind == SPATIAL_SPHERICAL || joint % 2 == 0 ? 0.0 : 10.0 / c->n;
}

/* The straight chain turns about z with w_i = Σ rates: the near end of rod i has the velocity l Σ_{j<i} w_j
 * along y. */
void spatial_chain_start(spatial_rod *rod, const spatial_chain *c, int i)
{
  double near = 0.0, w = spatial_joint_rate(c, 0);
  for (int j = 0; j < i; j++) {
    near += c->l * w;
    w += spatial_joint_rate(c, j + 1);
  }
  *rod = (spatial_rod){.x = {(i + 0.5) * c->l, 0.0, 0.0},
                       .p = {1.0, 0.0, 0.0, 0.0},
                       .u = {0.0, near + 0.5 * c->l * w, 0.0},
                       .w = {0.0, 0.0, w}};
}

void spatial_chain_tip(double tip[3], const spatial_chain *c, const double x[3], const double p[4])
{
  double R[9];
  mat_of_quaternion(R, p);
  for (int i = 0; i < 3; i++) tip[i] = x[i] + 0.5 * c->l * R[3 * i];
}

/* ---- References ---------------------------------------------------------------------------------------
 * spatial_tip_by_extrapolation() with 6 columns and the steps given beside; from 400 rods on its planar
 * counterpart chain_tip_by_extrapolation(), which gives the same and is faster. `within` is an upper bound of
 * the difference to half or twice the steps, and of rounding. */

static const struct {
  spatial_kind kind;
  int n;
  double tip[3], within;
} references[] = {
    {SPATIAL_SPHERICAL, 10, {-0.89431685236130, 0.0, -0.14656506474690}, 1e-12},              /* 800 */
    {SPATIAL_SPHERICAL, 20, {-0.89684465286873, 0.0, -0.16633446708076}, 1e-12},              /* 1600 */
    {SPATIAL_SPHERICAL, 95, {-0.90371819529645, 0.0, -0.18054853055030}, 1e-11},              /* 8000 */
    {SPATIAL_SPHERICAL, 100, {-0.90387531785526, 0.0, -0.18078695422800}, 1e-11},             /* 8000 */
    {SPATIAL_SPHERICAL, 400, {-0.90693613729245, 0.0, -0.18426734371588}, 1e-11},             /* 32000 */
    {SPATIAL_SPHERICAL, 1000, {-0.90785158557147, 0.0, -0.18521177834028}, 1e-10},            /* 40000 */
    {SPATIAL_REVOLUTE, 10, {-0.25582857484040, -0.66235043372908, 0.18681869387023}, 1e-12},  /* 800 */
    {SPATIAL_REVOLUTE, 20, {-0.32710597739166, -0.80183733029764, 0.07028231913207}, 1e-12},  /* 1600 */
    {SPATIAL_REVOLUTE, 95, {-0.40021863847223, -0.84461063793700, 0.00928347023217}, 1e-11},  /* 8000 */
    {SPATIAL_REVOLUTE, 100, {-0.40095586257750, -0.84485175069470, 0.00826143016780}, 1e-11}, /* 8000 */
};

int spatial_chain_reference(double tip[3], double *within, const spatial_chain *c)
{
  for (size_t i = 0; i < sizeof references / sizeof *references; i++)
    if (references[i].kind == c->kind && references[i].n == c->n) {
      memcpy(tip, references[i].tip, sizeof references[i].tip);
      *within = references[i].within;
      return 0;
    }
  return -1;
}

double spatial_chain_error(const spatial_chain *c, const double tip[3])
{
  double reference[3], within, error = 0.0;
  if (spatial_chain_reference(reference, &within, c) != 0) return NAN;
  for (int k = 0; k < 3; k++) error = fmax(error, fabs(tip[k] - reference[k]));
  return isfinite(tip[0] + tip[1] + tip[2]) ? error : NAN;
}
