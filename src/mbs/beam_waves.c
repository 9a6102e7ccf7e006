/* Inertia of the stretch and of the twist of a beam element; see beam_element.h.
 *
 * Waves along the axis: stiffness is exact for forces at the nodes, and then the consistent mass of linear
 * displacements makes waves too fast by (kL)²/24 of their frequency, the lumped one too slow by as much.
 * Their mean, L/12 [5 1; 1 5], has an error of fourth order. With ℓ the length of the chord, which rigid
 * motion does not change, and τ the angle of twist between the nodes, it is the others plus the
 * kinetic energies
 *
 *   ½ (m L/12) ℓ'²  (beam_inertia.c has the consistent mass),   −½ (Jx L/12) τ'²  (body.c has the lumped one)
 *
 * Of a centre of mass off the axis by r, m r² is part of Jx and moves with the consistent mass of the line of
 * centres: for it + instead of −, Jx less 2 m r².
 *
 * A scalar g of both nodes with a constant mass μ has the inertia force μ g'' B, g' = B v. */
#include "mbs/beam_element.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* A scalar by places of a and b (first = 0), or by their rotations (first = 3); its slopes by q on request.
 */
typedef struct scalar {
  int first;
  double mass;
  double B[6];
  double by_v[6];        /* of g'' by velocities */
  double by_q[6];        /* of g'' by places or rotations */
  double slope[2][2][9]; /* D_q B: of node i by node j */
  double rate, own, acc; /* g', the part of g'' by velocities, all of g'' */
} scalar;

static double dot_six(const double a[6], const double *b0, const double *b1)
{
  return ga__vec3_dot(a, b0) + ga__vec3_dot(a + 3, b1);
}

/* With n the chord, t its direction, u = n', ⊥: across t:
 *
 *   ℓ'' = t·n'' + u⊥²/ℓ,   by u: 2u⊥/ℓ,   by n: n''⊥/ℓ − 2(t·u)u⊥/ℓ² − u⊥² t/ℓ²,   by n of t: (I − t tᵀ)/ℓ */
static void stretch_at(scalar *g, const ga__beam_axis *x, const ga__beam_element *e, int slopes)
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  double t[3], u[3], across[3], acc[3];
  for (int i = 0; i < 3; i++)
    t[i] = b->x[i] - a->x[i], u[i] = b->w[i] - a->w[i], acc[i] = b->acc[i] - a->acc[i];
  const double length = sqrt(ga__vec3_dot(t, t));
  for (int i = 0; i < 3; i++) t[i] /= length;
  const double along = ga__vec3_dot(t, u), pull = ga__vec3_dot(t, acc);
  for (int i = 0; i < 3; i++) across[i] = u[i] - along * t[i];
  const double square = ga__vec3_dot(across, across);
  g->first = 0;
  g->mass = e->section->mass * e->L / 12;
  g->rate = along;
  g->own = square / length;
  g->acc = pull + g->own;
  for (int i = 0; i < 3; i++) {
    g->B[3 + i] = t[i];
    g->by_v[3 + i] = 2 * across[i] / length;
    g->by_q[3 + i] = (acc[i] - pull * t[i] - (2 * along * across[i] + square * t[i]) / length) / length;
    g->B[i] = -g->B[3 + i], g->by_v[i] = -g->by_v[3 + i], g->by_q[i] = -g->by_q[3 + i];
  }
  for (int k = 0; slopes && k < 9; k++) {
    const double P = ((k % 4 ? 0.0 : 1.0) - t[k / 3] * t[k % 3]) / length;
    g->slope[0][0][k] = g->slope[1][1][k] = P;
    g->slope[0][1][k] = g->slope[1][0][k] = -P;
  }
}

/* Adds half of ±p·r, p fixed to a and r to b, to τ: B and N = p rᵀ − (p·r) I. */
static void add_product(double half, const double p[3], const double r[3], double X[3], double N[9])
{
  double c[3];
  ga__vec3_cross(c, p, r);
  const double pr = ga__vec3_dot(p, r);
  for (int i = 0; i < 3; i++) X[i] += half * c[i];
  for (int k = 0; k < 9; k++) N[k] += half * (p[k / 3] * r[k % 3] - (k % 4 ? 0.0 : pr));
}

/* by[6] += half · scale · derivative of x·(p rᵀ − (p·r) I) y by the rotations of p and of r. */
static void add_turn(double half, const double p[3], const double r[3], double scale, const double x[3],
                     const double y[3], double by[6])
{
  double px[3], pr[3], ry[3];
  ga__vec3_cross(px, p, x);
  ga__vec3_cross(pr, p, r);
  ga__vec3_cross(ry, r, y);
  const double xp = ga__vec3_dot(x, p), yr = ga__vec3_dot(y, r), xy = ga__vec3_dot(x, y);
  for (int i = 0; i < 3; i++) {
    by[i] += half * scale * (px[i] * yr - pr[i] * xy);
    by[3 + i] += half * scale * (xp * ry[i] + pr[i] * xy);
  }
}

/* τ = ½(z_a·y_b − y_a·z_b) with the axes of the frame: sin τ of a twist alone. Its rate is (ω_a − ω_b)·X, X'
 * = N ω_a − Nᵀ ω_b, and
 *
 *   τ'' = (ω_a' − ω_b')·X + ω_a·Nω_a − 2 ω_b·Nω_a + ω_b·Nω_b */
static void twist_at(scalar *g, const ga__beam_axis *x, const ga__beam_element *e, int slopes)
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  const double *wa = a->w + 3, *wb = b->w + 3;
  const double *const p[2] = {x->axis[0][1], x->axis[0][0]}, *const r[2] = {x->axis[1][0], x->axis[1][1]};
  double X[3] = {0, 0, 0}, N[9] = {0}, Na[3], Nb[3], Ta[3], Tb[3], turn[3];
  const double half[2] = {0.5, -0.5};
  for (int i = 0; i < 2; i++) add_product(half[i], p[i], r[i], X, N);
  ga__mat3_mul_vec(Na, N, wa);
  ga__mat3_mul_vec(Nb, N, wb);
  ga__mat3_tmul_vec(Ta, N, wa);
  ga__mat3_tmul_vec(Tb, N, wb);
  g->first = 3;
  const ga__beam_section *c = e->section;
  const double off = c->centre[0] * c->centre[0] + c->centre[1] * c->centre[1];
  g->mass = -(c->J[0] - 2 * c->mass * off) * e->L / 12;
  for (int i = 0; i < 3; i++) {
    g->B[i] = X[i], g->B[3 + i] = -X[i];
    g->by_v[i] = Na[i] + Ta[i] - 2 * Tb[i];
    g->by_v[3 + i] = -2 * Na[i] + Nb[i] + Tb[i];
    turn[i] = a->acc[3 + i] - b->acc[3 + i];
  }
  g->rate = dot_six(g->B, wa, wb);
  g->own = 0.5 * dot_six(g->by_v, wa, wb);
  g->acc = dot_six(g->B, a->acc + 3, b->acc + 3) + g->own;
  if (!slopes) return;
  ga__mat3_tmul_vec(g->by_q, N, turn); /* (ω_a' − ω_b')·δX */
  ga__mat3_mul_vec(g->by_q + 3, N, turn);
  for (int i = 3; i < 6; i++) g->by_q[i] = -g->by_q[i];
  for (int i = 0; i < 2; i++) {
    add_turn(half[i], p[i], r[i], 1, wa, wa, g->by_q);
    add_turn(half[i], p[i], r[i], -2, wb, wa, g->by_q);
    add_turn(half[i], p[i], r[i], 1, wb, wb, g->by_q);
  }
  for (int k = 0; k < 9; k++) {
    const int transposed = 3 * (k % 3) + k / 3;
    g->slope[0][0][k] = N[k], g->slope[1][0][k] = -N[k];
    g->slope[0][1][k] = -N[transposed], g->slope[1][1][k] = N[transposed];
  }
}

static void (*const SCALAR[])(scalar *, const ga__beam_axis *, const ga__beam_element *,
                              int slopes) = {stretch_at, twist_at};
enum { N_SCALARS = sizeof SCALAR / sizeof *SCALAR };

/* Places of the six numbers among the twelve of both nodes. */
static int place(const scalar *g, int i)
{
  return 6 * (i / 3) + g->first + i % 3;
}

static void add_force(const scalar *g, int with_vdot, int with_v, double w[12])
{
  const double acc = (with_vdot ? g->acc - g->own : 0.0) + (with_v ? g->own : 0.0);
  for (int i = 0; i < 6; i++) w[place(g, i)] += g->mass * acc * g->B[i];
}

static void add_by_d(const scalar *g, double shift_vdot, double shift_v, double T[144])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      T[12 * place(g, i) + place(g, j)] += g->mass * g->B[i] * (shift_vdot * g->B[j] + shift_v * g->by_v[j]);
}

static void add_by_q(const scalar *g, double T[144])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      T[12 * place(g, i) + place(g, j)] +=
          g->mass * (g->B[i] * g->by_q[j] + g->acc * g->slope[i / 3][j / 3][3 * (i % 3) + j % 3]);
}

void ga__beam_wave_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                           double w[12])
{
  for (int k = 0; k < N_SCALARS; k++) {
    scalar g;
    SCALAR[k](&g, x, e, 0);
    add_force(&g, with_vdot, with_v, w);
  }
}

void ga__beam_add_wave_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                 double shift_v, double T[144])
{
  for (int k = 0; k < N_SCALARS; k++) {
    scalar g;
    SCALAR[k](&g, x, e, 0);
    add_by_d(&g, shift_vdot, shift_v, T);
  }
}

void ga__beam_add_wave_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144])
{
  for (int k = 0; k < N_SCALARS; k++) {
    scalar g;
    SCALAR[k](&g, x, e, 1);
    add_by_q(&g, T);
  }
}

double ga__beam_wave_kinetic(const ga__beam_axis *x, const ga__beam_element *e)
{
  double energy = 0;
  for (int k = 0; k < N_SCALARS; k++) {
    scalar g;
    SCALAR[k](&g, x, e, 0);
    energy += 0.5 * g.mass * g.rate * g.rate;
  }
  return energy;
}
