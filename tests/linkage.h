/* Planar linkages in absolute coordinates (x, y, θ of every link), with as many rows as wanted made of the
 * equations of their pins: Φ = W φ, so that rows can be repeated, mixed and contradicted. Include after
 * core_rig.h. */
#ifndef GALPHA_TESTS_LINKAGE_H
#define GALPHA_TESTS_LINKAGE_H

#include "core_rig.h"

enum { LINKAGE_LINKS = 7, LINKAGE_PINS = 12, LINKAGE_ROWS = 28 };

/* Point s along link a coincides with point t along link b, or with (x, y) of the ground where b is −1. Links
 * are uniform rods, s from −½ to ½ of their length. */
typedef struct linkage_pin {
  int a, b;
  double s, t, x, y;
} linkage_pin;

typedef struct linkage {
  int n_links, n_pins, n_rows; /* n_rows 0: φ itself */
  double length[LINKAGE_LINKS], mass[LINKAGE_LINKS];
  linkage_pin pin[LINKAGE_PINS];
  double W[LINKAGE_ROWS][2 * LINKAGE_PINS];
  double offset[LINKAGE_ROWS]; /* Φ = W φ + offset + rate t */
  double rate[LINKAGE_ROWS];
  double gravity;
  ga_factor factor;
  double q0[3 * LINKAGE_LINKS], v0[3 * LINKAGE_LINKS];
} linkage;

static inline int linkage_rows(const linkage *l)
{
  return l->n_rows ? l->n_rows : 2 * l->n_pins;
}

static inline double linkage_weight(const linkage *l, int row, int basic)
{
  return l->n_rows ? l->W[row][basic] : row == basic;
}

/* φ of a pin, its derivative by θ of a and b, and the second one. */
typedef struct linkage_rod {
  int link;
  double sign, p[2], d[2]; /* point relative to the middle, its derivative by θ; the second is −p */
} linkage_rod;

static inline int linkage_ends(const linkage *l, int k, const double *q, linkage_rod end[2])
{
  const linkage_pin *pin = &l->pin[k];
  int n = 0;
  for (int side = 0; side < 2; side++) {
    int link = side ? pin->b : pin->a;
    if (link < 0) continue;
    double s = (side ? pin->t : pin->s) * l->length[link], c = cos(q[3 * link + 2]), z = sin(q[3 * link + 2]);
    end[n++] = (linkage_rod){link, side ? -1.0 : 1.0, {s * c, s * z}, {-s * z, s * c}};
  }
  return n;
}

static inline void linkage_basic(const linkage *l, const double *q, double *phi)
{
  linkage_rod e[2];
  for (int k = 0; k < l->n_pins; k++)
    for (int c = 0; c < 2; c++) {
      phi[2 * k + c] = l->pin[k].b < 0 ? -(c ? l->pin[k].y : l->pin[k].x) : 0.0;
      for (int i = 0, n = linkage_ends(l, k, q, e); i < n; i++)
        phi[2 * k + c] += e[i].sign * (q[3 * e[i].link + c] + e[i].p[c]);
    }
}

/* Rows of D_q φ. */
static inline void linkage_b(const linkage *l, const double *q, double B[][3 * LINKAGE_LINKS])
{
  linkage_rod e[2];
  memset(B, 0, sizeof(double) * (size_t)(2 * l->n_pins * 3 * LINKAGE_LINKS));
  for (int k = 0; k < l->n_pins; k++)
    for (int i = 0, n = linkage_ends(l, k, q, e); i < n; i++)
      for (int c = 0; c < 2; c++) {
        B[2 * k + c][3 * e[i].link + c] = e[i].sign;
        B[2 * k + c][3 * e[i].link + 2] = e[i].sign * e[i].d[c];
      }
}

static inline int linkage_mass(void *user, const ga_point *p, double *out)
{
  const linkage *l = user;
  for (int i = 0; i < l->n_links; i++) {
    out[3 * i] = l->mass[i] * p->vdot[3 * i];
    out[3 * i + 1] = l->mass[i] * p->vdot[3 * i + 1];
    out[3 * i + 2] = l->mass[i] * l->length[i] * l->length[i] / 12.0 * p->vdot[3 * i + 2];
  }
  return 0;
}

static inline double linkage_share(const linkage *l, const double *lambda, int basic)
{
  double sum = 0.0;
  for (int i = 0; i < linkage_rows(l); i++) sum += linkage_weight(l, i, basic) * lambda[i];
  return sum;
}

static inline int linkage_force(void *user, const ga_point *p, double *out)
{
  const linkage *l = user;
  double B[2 * LINKAGE_PINS][3 * LINKAGE_LINKS];
  linkage_b(l, p->q, B);
  for (int i = 0; i < 3 * l->n_links; i++) out[i] = i % 3 == 1 ? -l->gravity * l->mass[i / 3] : 0.0;
  for (int k = 0; k < 2 * l->n_pins; k++) {
    double share = linkage_share(l, p->lambda, k);
    for (int i = 0; i < 3 * l->n_links; i++) out[i] -= B[k][i] * share;
  }
  return 0;
}

static inline int linkage_phi(void *user, const ga_point *p, double *out)
{
  const linkage *l = user;
  double phi[2 * LINKAGE_PINS];
  linkage_basic(l, p->q, phi);
  for (int i = 0; i < linkage_rows(l); i++) {
    out[i] = l->offset[i] + l->rate[i] * p->t;
    for (int k = 0; k < 2 * l->n_pins; k++) out[i] += linkage_weight(l, i, k) * phi[k];
  }
  return 0;
}

static inline int linkage_phi_dot(void *user, const ga_point *p, double *out)
{
  const linkage *l = user;
  double B[2 * LINKAGE_PINS][3 * LINKAGE_LINKS];
  linkage_b(l, p->q, B);
  for (int i = 0; i < linkage_rows(l); i++) out[i] = l->rate[i];
  for (int k = 0; k < 2 * l->n_pins; k++) {
    double rate = 0.0;
    for (int c = 0; c < 3 * l->n_links; c++) rate += B[k][c] * p->v[c];
    for (int i = 0; i < linkage_rows(l); i++) out[i] += linkage_weight(l, i, k) * rate;
  }
  return 0;
}

static inline int linkage_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const linkage *l = user;
  int nv = 3 * l->n_links, rows = linkage_rows(l), n = nv + rows;
  double B[2 * LINKAGE_PINS][3 * LINKAGE_LINKS];
  linkage_rod e[2];
  linkage_b(l, p->q, B);
  for (int i = 0; i < nv; i++)
    J->D[i * n + i] =
        J->shift_vdot * l->mass[i / 3] * (i % 3 == 2 ? l->length[i / 3] * l->length[i / 3] / 12.0 : 1.0);
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < nv; i++) {
      double b = 0.0;
      for (int k = 0; k < 2 * l->n_pins; k++) b += linkage_weight(l, r, k) * B[k][i];
      J->D[i * n + nv + r] = J->Q[(nv + r) * n + i] = b;
    }
  for (int k = 0; k < l->n_pins; k++)
    for (int i = 0, ends = linkage_ends(l, k, p->q, e); i < ends; i++)
      for (int c = 0; c < 2; c++) {
        int at = 3 * e[i].link + 2;
        J->Q[at * n + at] -= linkage_share(l, p->lambda, 2 * k + c) * e[i].sign * e[i].p[c];
        for (int r = 0; r < rows; r++)
          J->G[(nv + r) * n + at] -= linkage_weight(l, r, 2 * k + c) * e[i].sign * e[i].p[c] * p->v[at];
      }
  return 0;
}

static inline void linkage_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  (void)user;
  if (block == GA_BLOCK_LAMBDA) snprintf(text, size, "row %d", index);
}

static inline void linkage_define(linkage *l, ga_system_def *def)
{
  l->factor = (ga_factor){GA_RN, 3 * l->n_links, GA_LEFT};
  def->n_factors = 1;
  def->factors = &l->factor;
  def->n_lambda = linkage_rows(l);
  def->user = l;
  def->mass = linkage_mass;
  def->force = linkage_force;
  def->phi = linkage_phi;
  def->phi_dot = linkage_phi_dot;
  def->jacobian = linkage_jacobian;
  def->name = linkage_name;
}

/* A four-bar with crank 0.5, coupler 1.1, rocker 0.9 on a base of 1; crank at angle θ turning at rate. */
static inline linkage linkage_four_bar(double angle, double rate)
{
  const double a = 0.5, b = 1.1, c = 0.9, base = 1.0, x = a * cos(angle), y = a * sin(angle);
  double dx = base - x, dy = -y, d = sqrt(dx * dx + dy * dy), along = (b * b - c * c + d * d) / (2.0 * d),
         up = sqrt(b * b - along * along), ux = dx / d, uy = dy / d;
  double px = x + along * ux - up * uy, py = y + along * uy + up * ux; /* coupler and rocker */
  double tb = atan2(py - y, px - x), tc = atan2(py, px - base);
  /* a ω e(θ) + b ω_b e(tb) = c ω_c e(tc), e normal to the links */
  double det = b * c * sin(tc - tb), wb = a * rate * c * sin(angle - tc) / det,
         wc = a * rate * b * sin(angle - tb) / det;
  linkage l = {.n_links = 3,
               .n_pins = 4,
               .length = {a, b, c},
               .mass = {1.0, 2.0, 1.5},
               .gravity = 9.81,
               .pin = {{0, -1, -0.5, 0, 0, 0},
                       {0, 1, 0.5, -0.5, 0, 0},
                       {1, 2, 0.5, 0.5, 0, 0},
                       {2, -1, -0.5, 0, base, 0}}};
  const double q[] = {x / 2, y / 2, angle, (x + px) / 2, (y + py) / 2, tb, (base + px) / 2, py / 2, tc};
  const double v[] = {-y / 2 * rate,
                      x / 2 * rate,
                      rate,
                      -y * rate - b / 2 * sin(tb) * wb,
                      x * rate + b / 2 * cos(tb) * wb,
                      wb,
                      -py / 2 * wc,
                      (px - base) / 2 * wc,
                      wc};
  memcpy(l.q0, q, sizeof q);
  memcpy(l.v0, v, sizeof v);
  return l;
}

/* As φ, with rows behind it: each a sum of two of the others with factors, 0 for none. */
static inline void linkage_add_row(linkage *l, int first, double f, int second, double g)
{
  if (!l->n_rows) {
    l->n_rows = 2 * l->n_pins;
    for (int i = 0; i < l->n_rows; i++) l->W[i][i] = 1.0;
  }
  for (int k = 0; k < 2 * l->n_pins; k++) l->W[l->n_rows][k] = f * l->W[first][k] + g * l->W[second][k];
  l->offset[l->n_rows] = f * l->offset[first] + g * l->offset[second];
  l->n_rows++;
}

#endif
