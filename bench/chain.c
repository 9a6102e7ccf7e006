#include "chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Joint i holds rod i at its near end and, from i = 1 on, rod i−1 at its far end:
 *   Φ_i = (c_i − (l/2) e_i) − (c_{i−1} + (l/2) e_{i−1}),   e = (cos θ, sin θ), c = (x, y)
 * so that both ends of a rod enter Φ as σ c + k e with σ = +1 near, −1 far, and the same k = −l/2. */

enum { /* the pattern's entries of one rod: its dynamics, then its ends */
       DYN_X,
       DYN_Y,
       DYN_TH,
       END_START
};
enum { /* the entries of one end: B, then −f_λ = Bᵀ */
       B_X_X,
       B_X_TH,
       B_Y_Y,
       B_Y_TH,
       BT_X_X,
       BT_TH_X,
       BT_Y_Y,
       BT_TH_Y,
       END_SIZE
};
enum { ROD_SIZE = END_START + 2 * END_SIZE };

/* The last rod has no joint at its far end. */
static int ends_of(const chain *c, int i)
{
  return i + 1 < c->n ? 2 : 1;
}
static int end_start(int i, int end)
{
  return i * ROD_SIZE + END_START + end * END_SIZE;
}
static double sigma(int end)
{
  return end == 0 ? 1.0 : -1.0;
}

static void pattern_fill(chain *c)
{
  const int nv = 3 * c->n;
  for (int i = 0; i < c->n; i++) {
    const int x = 3 * i, y = x + 1, th = x + 2;
    for (int d = 0; d < 3; d++) {
      c->row[i * ROD_SIZE + d] = x + d;
      c->col[i * ROD_SIZE + d] = x + d;
    }
    for (int end = 0; end < ends_of(c, i); end++) {
      const int lx = nv + 2 * (i + end), ly = lx + 1, start = end_start(i, end);
      const int row[END_SIZE] = {lx, lx, ly, ly, x, th, y, th};
      const int col[END_SIZE] = {x, th, y, th, lx, lx, ly, ly};
      for (int e = 0; e < END_SIZE; e++) {
        c->row[start + e] = row[e];
        c->col[start + e] = col[e];
      }
    }
  }
}

chain *chain_create(int n)
{
  chain *c = n < 1 ? NULL : calloc(1, sizeof *c);
  if (!c) return NULL;
  c->n = n;
  c->l = 1.0 / n;
  c->m = 1.0 / n;
  c->J = c->m * c->l * c->l / 12.0;
  c->g = 9.81;
  c->n_pattern = n * ROD_SIZE - END_SIZE;
  c->row = calloc((size_t)c->n_pattern, sizeof *c->row);
  c->col = calloc((size_t)c->n_pattern, sizeof *c->col);
  c->cluster = calloc(3 * (size_t)n, sizeof *c->cluster);
  c->q0 = calloc(3 * (size_t)n, sizeof *c->q0);
  c->v0 = calloc(3 * (size_t)n, sizeof *c->v0);
  if (!c->row || !c->col || !c->cluster || !c->q0 || !c->v0) {
    chain_destroy(&c);
    return NULL;
  }
  pattern_fill(c);
  for (int i = 0; i < n; i++) c->q0[3 * i] = (i + 0.5) * c->l;
  for (int i = 0; i < 3 * n; i++) c->cluster[i] = i / 3;
  c->factor = (ga_factor){.kind = GA_RN, .n = 3 * n, .side = GA_LEFT};
  return c;
}

void chain_destroy(chain **c)
{
  if (!c || !*c) return;
  free((*c)->row);
  free((*c)->col);
  free((*c)->cluster);
  free((*c)->q0);
  free((*c)->v0);
  free(*c);
  *c = NULL;
}

/* M vdot, M = diag(m, m, J) */
static int chain_mass(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    out[3 * i] = c->m * p->vdot[3 * i];
    out[3 * i + 1] = c->m * p->vdot[3 * i + 1];
    out[3 * i + 2] = c->J * p->vdot[3 * i + 2];
  }
  return 0;
}

int chain_reaction(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  const double k = -0.5 * c->l;
  for (int i = 0; i < c->n; i++) {
    const double cs = cos(p->q[3 * i + 2]), sn = sin(p->q[3 * i + 2]);
    double r[3] = {0.0, 0.0, 0.0};
    for (int end = 0; end < ends_of(c, i); end++) {
      const double *la = p->lambda + 2 * (i + end);
      r[0] += sigma(end) * la[0];
      r[1] += sigma(end) * la[1];
      r[2] += k * (cs * la[1] - sn * la[0]);
    }
    for (int d = 0; d < 3; d++) out[3 * i + d] = r[d];
  }
  return 0;
}

/* f = (0, −m g, 0) − Bᵀλ */
static int chain_force(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  chain_reaction(user, p, out);
  for (int i = 0; i < 3 * c->n; i++) out[i] = -out[i];
  for (int i = 0; i < c->n; i++) out[3 * i + 1] -= c->m * c->g;
  return 0;
}

/* What Φ and its time derivatives have in common: the sum of σ shift + k arm over the ends at each joint. */
typedef void (*term_fn)(double shift[2], double arm[2], const double q[3], const double v[3]);

static void term_phi(double shift[2], double arm[2], const double q[3], const double v[3])
{
  (void)v;
  shift[0] = q[0], shift[1] = q[1];
  arm[0] = cos(q[2]), arm[1] = sin(q[2]);
}

static void term_phi_dot(double shift[2], double arm[2], const double q[3], const double v[3])
{
  shift[0] = v[0], shift[1] = v[1];
  arm[0] = -sin(q[2]) * v[2], arm[1] = cos(q[2]) * v[2];
}

static void term_phi_acc(double shift[2], double arm[2], const double q[3], const double v[3])
{
  shift[0] = shift[1] = 0.0;
  arm[0] = -cos(q[2]) * v[2] * v[2], arm[1] = -sin(q[2]) * v[2] * v[2];
}

static int joints_sum(const chain *c, const ga_point *p, double *out, term_fn term)
{
  const double k = -0.5 * c->l;
  double far[2] = {0.0, 0.0}; /* what the rod before leaves at this joint */
  for (int i = 0; i < c->n; i++) {
    double shift[2], arm[2];
    term(shift, arm, p->q + 3 * i, p->v + 3 * i);
    for (int d = 0; d < 2; d++) {
      out[2 * i + d] = far[d] + shift[d] + k * arm[d];
      far[d] = -shift[d] + k * arm[d];
    }
  }
  return 0;
}

static int chain_phi(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, term_phi);
}
static int chain_phi_dot(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, term_phi_dot);
}
static int chain_phi_acc(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, term_phi_acc);
}

/* Q: B = σ (columns x, y) and k e' (column θ); dynamics by θ: −k e·λ over both ends. G: −k e ω
 * in column θ. */
static int chain_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const chain *c = user;
  const double k = -0.5 * c->l;
  for (int i = 0; i < c->n; i++) {
    const double kc = k * cos(p->q[3 * i + 2]), ks = k * sin(p->q[3 * i + 2]), om = p->v[3 * i + 2];
    double *dyn = J->D + i * ROD_SIZE;
    dyn[DYN_X] = J->shift_vdot * c->m;
    dyn[DYN_Y] = J->shift_vdot * c->m;
    dyn[DYN_TH] = J->shift_vdot * c->J;
    double stiffness = 0.0;
    for (int end = 0; end < ends_of(c, i); end++) {
      const double *la = p->lambda + 2 * (i + end);
      double *D = J->D + end_start(i, end), *Q = J->Q + end_start(i, end), *G = J->G + end_start(i, end);
      D[BT_X_X] = Q[B_X_X] = sigma(end);
      D[BT_Y_Y] = Q[B_Y_Y] = sigma(end);
      D[BT_TH_X] = Q[B_X_TH] = -ks;
      D[BT_TH_Y] = Q[B_Y_TH] = kc;
      G[B_X_TH] = -kc * om;
      G[B_Y_TH] = -ks * om;
      stiffness -= kc * la[0] + ks * la[1];
    }
    J->Q[i * ROD_SIZE + DYN_TH] = stiffness;
  }
  return 0;
}

int chain_phi_acc_q(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  const double k = -0.5 * c->l;
  for (int i = 0; i < c->n; i++) {
    const double om2 = p->v[3 * i + 2] * p->v[3 * i + 2];
    for (int end = 0; end < ends_of(c, i); end++) {
      double *e = out + end_start(i, end);
      e[B_X_TH] = k * sin(p->q[3 * i + 2]) * om2;
      e[B_Y_TH] = -k * cos(p->q[3 * i + 2]) * om2;
    }
  }
  return 0;
}

static void chain_name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  static const char *const coordinate[3] = {"x", "y", "angle"};
  (void)user;
  if (block == GA_BLOCK_V)
    snprintf(text, size, "rod %d, %s", index / 3, coordinate[index % 3]);
  else
    snprintf(text, size, "joint %d, %s", index / 2, coordinate[index % 2]);
}

void chain_define(const chain *c, ga_system_def *def)
{
  def->n_factors = 1;
  def->factors = &c->factor;
  def->n_lambda = 2 * c->n;
  def->smooth = 1; /* nothing acts for a short time only */
  def->user = (void *)c;
  def->mass = chain_mass;
  def->force = chain_force;
  def->phi = chain_phi;
  def->phi_dot = chain_phi_dot;
  def->phi_acc = chain_phi_acc;
  def->jacobian = chain_jacobian;
  def->name = chain_name;
  def->n_pattern = c->n_pattern;
  def->pattern_row = c->row;
  def->pattern_col = c->col;
  def->cluster = c->cluster;
}

void chain_tip(const chain *c, const double *q, double tip[2])
{
  const double *rod = q + 3 * (c->n - 1);
  tip[0] = rod[0] + 0.5 * c->l * cos(rod[2]);
  tip[1] = rod[1] + 0.5 * c->l * sin(rod[2]);
}
