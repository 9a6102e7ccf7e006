/* Inertia of beam elements whose sections turn otherwise than the chord: of the shear of thick beams, and of
 * their rotary inertia; see beam_element.h.
 *
 * Bending about an axis e of the frame, with Ω the rotation of the chord, φ̄ the mean and Δ the difference of
 * the rotations of both ends, and γ = Ω − φ̄. Stiffness is exact for forces at nodes, with sections between
 * them at
 *
 *   φ(ξ) = φa + ξ Δ + 6 ξ (1 − ξ) s γ,   s = 1/(1 + Φ),   Φ = 12 EI/(GA L²),   r = 1 − s
 *
 * The kinetic energy of frequencies of order 4 is (docs/develop/thick-beams.md) that of the parabola of the
 * axis with its mass m per length, and of rotary inertia J
 *
 *   (L/2) { J [φ̄'² + (1 + r) Δ'²/12 + (s + s²) φ̄'γ' + 2 s² γ'²] + y (φ̄'γ' + γ'²) },   y = r m L²/12
 *
 * (Of the shapes it is 6/5 s² γ'², but s γ is small with the square of L, and so the sections of short
 * elements turn with no less inertia than lumped.) Lumped rotary inertia, J (φ̄'² + Δ'²/4), is there already
 * (body.c), Δ' is in beam_spin.c, and left is
 *
 *   T = c φ̄' γ' + D γ'²/2,   c = L/2 (J (s + s²) + y),   D = L (2 J s² + y)
 *
 * In space φ̄' = ½(e_a·ω_a + e_b·ω_b), which is no rate of a coordinate, and γ is the coordinate
 * ½ n·(c_a + c_b): n from node to node, c_i at node i across the chord and e, of length 1/|n| in the
 * reference. Forces of such an energy are, with γ' = B v,
 *
 *   on the rotation of i: ½ c d/dt(γ' e_i),   on the motion along γ: (c φ̄'' + D γ'') B
 *
 * Rigid motion has γ' = 0, and its energy is that of a rigid body. y is made smaller where the form would not
 * be positive: with few elements of sections that are soft in shear beyond what their rotary inertia is. */
#include "mbs/beam.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* ---- The element ---- */

/* y is at most this multiple of J: γ' of an element that is stretched by ε belongs to (1 + ε) times the
 * rotation, and so ε y must be small beside J. */
#define MOST_COUPLING 12.0

/* About the principal axes of rotary inertia of the section: EI and GA belong to bending about axis k. */
static void principal(const ga__beam_section *c, int k, double *J, double *by_bending, double *by_shear)
{
  const double co = cos(c->turn), si = sin(c->turn), *C = c->C;
  const double y = k ? -si : co, z = k ? co : si; /* the axis in the section's axes */
  *J = y * y * c->J[4] + 2 * y * z * c->J[5] + z * z * c->J[8];
  *by_bending = y * y * C[28] + 2 * y * z * C[29] + z * z * C[35];
  *by_shear = z * z * C[7] - 2 * y * z * C[8] + y * y * C[14]; /* across the axis */
}

/* The largest y for which the energy in Ω' and φ̄' is positive, with the square of what is off the diagonal at
 * most ¾ of the product of what is on it:
 *
 *   (x + y + 2 J s²) Ω'² + (J β − y) Ω'φ̄' + J (1 − s + s²) φ̄'²,   x = m L²/12,   β = s − 3 s² */
static double largest_coupling(double J, double s, double x)
{
  const double beta = J * (s - 3 * s * s), last = J * (1 - s + s * s);
  const double half = beta + 1.5 * last, rest = 3 * last * (x + 2 * J * s * s) - beta * beta;
  return half + sqrt(half * half + rest);
}

/* Off the axis, and with a rotary inertia whose axes are not those of the section, order 2 remains. */
static int is_simple(const ga__beam_section *c)
{
  return !c->plain && c->centre[0] == 0 && c->centre[1] == 0 && c->J[1] == 0 && c->J[2] == 0;
}

/* Sections of an element that is bent or twisted without load are turned against its frame by up to half of
 * the angle: where their moments of inertia differ much they could be left with less than none. */
static int is_tilted(const ga__beam_element *e)
{
  const double *t = e->d0 + 3, angle = sqrt(ga__vec3_dot(t, t)), *J = e->section->J;
  double Jk[2], a, b;
  for (int k = 0; k < 2; k++) principal(e->section, k, &Jk[k], &a, &b);
  const double most = fmax(J[0], fmax(Jk[0], Jk[1])), least = fmin(J[0], fmin(Jk[0], Jk[1]));
  return 0.5 * (1 - cos(angle)) * most > 0.5 * least;
}

static void set_masses(ga__beam_element *e, int k)
{
  const ga__beam_section *c = e->section;
  const double x = c->mass * e->L * e->L / 12;
  double J, by_bending, by_shear;
  principal(c, k, &J, &by_bending, &by_shear);
  const double s = 1 / (1 + 12 * by_shear / (by_bending * e->L * e->L)), r = 1 - s;
  if (!c->plain) e->slender[k] = s;
  if (!is_simple(c) || is_tilted(e)) return;
  const double y = fmin(r * x, fmin(largest_coupling(J, s, x), MOST_COUPLING * J));
  e->bend[k] = e->L * J * ((1 + r) / 12 - 0.25);
  const double spin = e->L / 12 * J * (1 - 0.5 * r); /* of what both axes have in common */
  e->spin = k ? fmin(e->spin, spin) : spin;
  e->couple[k] = 0.5 * e->L * (J * (s + s * s) + y);
  e->sway[k] = e->L * (2 * J * s * s + y);
}

void ga__beam_element_make(ga__beam_element *e, const ga__beam_section *section, double L, const double d0[6])
{
  double half[6], x[3], R[9], middle[9], size = 0, along = 0;
  *e = (ga__beam_element){.section = section, .L = L};
  memcpy(e->d0, d0, sizeof e->d0);
  for (int i = 0; i < 6; i++) half[i] = 0.5 * d0[i];
  ga__beam_exp(half, x, middle);
  ga__beam_exp(d0, x, R);
  const double turn[6] = {0, 0, 0, section->turn, 0, 0};
  double none[3], rolled[9], T[9], y[3], *F = e->frame[0];
  ga__beam_exp(turn, none, T);
  ga__mat3_mul(rolled, middle, T);
  for (int i = 0; i < 3; i++) size += x[i] * x[i];
  e->chord = sqrt(size);
  for (int i = 0; i < 3; i++) x[i] /= e->chord, y[i] = rolled[3 * i + 1];
  along = ga__vec3_dot(x, y);
  for (int i = 0; i < 3; i++) y[i] -= along * x[i];
  size = sqrt(ga__vec3_dot(y, y));
  for (int i = 0; i < 3; i++) F[3 * i] = x[i], F[3 * i + 1] = y[i] / size;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    F[3 * i + 2] = F[3 * j] * F[3 * k + 1] - F[3 * k] * F[3 * j + 1];
  }
  ga__mat3_transpose(T, R);
  ga__mat3_mul(e->frame[1], T, F);
  for (int k = 0; k < 2; k++) set_masses(e, k);
}

/* ---- The rates ---- */

/* γ of one axis e of the frame is the mean of n·c_i. With u = n',
 *
 *   (n·c)' = c·ρ, ρ = u + n × ω,   (n·c)'' = c·Z,   Z = n'' + n × ω' + 2u × ω + (ω·n) ω − ω² n */
typedef struct motion {
  double n[3], u[3], acc[3]; /* from a to b, its rate, its acceleration */
  double rho[2][3], Z[2][3]; /* Z: or the part of it that is asked for */
} motion;

typedef struct sway {
  double couple, mass;   /* c, D */
  double across[2][3];   /* c_i/2 */
  const double *axis[2]; /* e_i */
  double rate, acc;      /* γ', and γ'' or its part */
  double p_acc;          /* φ̄'' */
} sway;

static void motion_at(motion *m, const ga__beam_axis *x, int with_vdot, int with_v)
{
  const ga__kin *a = x->node[0], *b = x->node[1];
  for (int i = 0; i < 3; i++)
    m->n[i] = b->x[i] - a->x[i], m->u[i] = b->w[i] - a->w[i], m->acc[i] = b->acc[i] - a->acc[i];
  for (int k = 0; k < 2; k++) {
    const double *w = x->node[k]->w + 3, *n = m->n;
    const double wn = ga__vec3_dot(w, n), ww = ga__vec3_dot(w, w);
    double nw[3], nwd[3], uw[3];
    ga__vec3_cross(nw, n, w);
    ga__vec3_cross(nwd, n, x->node[k]->acc + 3);
    ga__vec3_cross(uw, m->u, w);
    for (int i = 0; i < 3; i++) {
      m->rho[k][i] = m->u[i] + nw[i];
      m->Z[k][i] =
          (with_vdot ? m->acc[i] + nwd[i] : 0.0) + (with_v ? 2 * uw[i] + wn * w[i] - ww * n[i] : 0.0);
    }
  }
}

/* Bending about axis k of the frame, y or z. */
static void sway_at(sway *g, const motion *m, const ga__beam_axis *x, const ga__beam_element *e, int k,
                    int with_vdot)
{
  const double factor = (k ? 0.5 : -0.5) / e->chord;
  *g = (sway){.couple = e->couple[k], .mass = e->sway[k]};
  for (int i = 0; i < 2; i++) {
    g->axis[i] = x->axis[i][k];
    for (int c = 0; c < 3; c++) g->across[i][c] = factor * x->axis[i][1 - k][c];
    g->rate += ga__vec3_dot(g->across[i], m->rho[i]);
    g->acc += ga__vec3_dot(g->across[i], m->Z[i]);
    if (with_vdot) g->p_acc += 0.5 * ga__vec3_dot(g->axis[i], x->node[i]->acc + 3);
  }
}

void ga__beam_thick_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                            double w[12])
{
  motion m;
  if (e->sway[0] == 0 && e->sway[1] == 0) return;
  motion_at(&m, x, with_vdot, with_v);
  for (int k = 0; k < 2; k++) {
    sway g;
    sway_at(&g, &m, x, e, k, with_vdot);
    const double along = g.mass * g.acc + g.couple * g.p_acc, half = 0.5 * g.couple;
    for (int i = 0; i < 2; i++) {
      double arm[3], swing[3];
      ga__vec3_cross(arm, g.across[i], m.n);
      ga__vec3_cross(swing, x->node[i]->w + 3, g.axis[i]);
      for (int c = 0; c < 3; c++) {
        w[c] -= along * g.across[i][c], w[6 + c] += along * g.across[i][c];
        w[6 * i + 3 + c] += along * arm[c] + half * g.acc * g.axis[i][c];
        if (with_v) w[6 * i + 3 + c] += half * g.rate * swing[c];
      }
    }
  }
}

double ga__beam_thick_kinetic(const ga__beam_axis *x, const ga__beam_element *e)
{
  double energy = 0;
  motion m;
  if (e->sway[0] == 0 && e->sway[1] == 0) return 0;
  motion_at(&m, x, 0, 0);
  for (int k = 0; k < 2; k++) {
    sway g;
    double p = 0;
    sway_at(&g, &m, x, e, k, 0);
    for (int i = 0; i < 2; i++) p += 0.5 * ga__vec3_dot(g.axis[i], x->node[i]->w + 3);
    energy += (g.couple * p + 0.5 * g.mass * g.rate) * g.rate;
  }
  return energy;
}

/* ---- Derivatives ---- */

/* By the twelve: of γ' by v (B) and by q, of γ'' by v and by q. */
typedef struct slopes {
  double B[12], rate_q[12], by_v[12], by_q[12];
} slopes;

static void add_node(slopes *s, const motion *m, const sway *g, const ga__kin *k, int i)
{
  const double *c = g->across[i], *n = m->n, *w = k->w + 3;
  const double wn = ga__vec3_dot(w, n), wc = ga__vec3_dot(w, c), nc = ga__vec3_dot(n, c),
               ww = ga__vec3_dot(w, w);
  double cn[3], wxc[3], cu[3], wdc[3], cZ[3], crho[3];
  ga__vec3_cross(cn, c, n);
  ga__vec3_cross(wxc, w, c);
  ga__vec3_cross(cu, c, m->u);
  ga__vec3_cross(wdc, k->acc + 3, c);
  ga__vec3_cross(cZ, c, m->Z[i]);
  ga__vec3_cross(crho, c, m->rho[i]);
  for (int a = 0; a < 3; a++) {
    const int at = 6 * i + 3 + a;
    const double swing = wdc[a] + wc * w[a] - ww * c[a]; /* ω' × c + ω × (ω × c) */
    s->B[6 + a] += c[a], s->B[a] -= c[a];
    s->rate_q[6 + a] += wxc[a], s->rate_q[a] -= wxc[a];
    s->by_v[6 + a] += 2 * wxc[a], s->by_v[a] -= 2 * wxc[a];
    s->by_q[6 + a] += swing, s->by_q[a] -= swing;
    s->B[at] = cn[a];
    s->rate_q[at] = crho[a]; /* by the rotation of c */
    s->by_v[at] = 2 * cu[a] + wc * n[a] + wn * c[a] - 2 * nc * w[a];
    s->by_q[at] = cZ[a];
  }
}

static void slopes_at(slopes *s, const motion *m, const sway *g, const ga__beam_axis *x)
{
  memset(s, 0, sizeof *s);
  for (int i = 0; i < 2; i++) add_node(s, m, g, x->node[i], i);
}

static void add_tile(double T[144], int row, int column, double scale, const double M[9])
{
  for (int i = 0; i < 9; i++) T[12 * (row + i / 3) + column + i % 3] += scale * M[i];
}

/* T += scale · column row, the column in the rows from `at` on. */
static void add_rows(double T[144], int at, double scale, const double column[3], const double row[12])
{
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 12; b++) T[12 * (at + a) + b] += scale * column[a] * row[b];
}

/* T += Bᵀ row */
static void add_along(double T[144], const double B[12], const double row[12])
{
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) T[12 * i + j] += B[i] * row[j];
}

/* T += scale · D_q B: of (c × n) of the node's rotation, ±c of places. */
static void add_slope(double T[144], int i, double scale, const double c[3], const double n[3])
{
  const int at = 6 * i + 3;
  double Z[9], M[9];
  ga__mat3_skew(Z, scale, c);
  add_tile(T, 6, at, -1, Z);
  add_tile(T, 0, at, 1, Z);
  add_tile(T, at, 6, 1, Z);
  add_tile(T, at, 0, -1, Z);
  for (int k = 0; k < 9; k++) M[k] = c[k / 3] * n[k % 3] - (k % 4 ? 0.0 : ga__vec3_dot(n, c));
  add_tile(T, at, at, scale, M);
}

static void add_by_d(const motion *m, const sway *g, const ga__beam_axis *x, double shift_vdot,
                     double shift_v, double T[144])
{
  double second[12], along[12];
  slopes s;
  slopes_at(&s, m, g, x);
  for (int c = 0; c < 12; c++) {
    second[c] = shift_vdot * s.B[c] + shift_v * s.by_v[c];
    along[c] = g->mass * second[c];
    if (c / 3 % 2) along[c] += 0.5 * g->couple * shift_vdot * g->axis[c / 6][c % 3];
  }
  add_along(T, s.B, along);
  for (int i = 0; i < 2; i++) {
    const double half = 0.5 * g->couple;
    const int at = 6 * i + 3;
    double swing[3], Z[9];
    add_rows(T, at, half, g->axis[i], second);
    if (shift_v == 0) continue;
    ga__vec3_cross(swing, x->node[i]->w + 3, g->axis[i]);
    add_rows(T, at, half * shift_v, swing, s.B);
    ga__mat3_skew(Z, 1, g->axis[i]); /* ω × e: −e~ δω */
    add_tile(T, at, at, -half * shift_v * g->rate, Z);
  }
}

static void add_by_q(const motion *m, const sway *g, const ga__beam_axis *x, double T[144])
{
  double along[12];
  slopes s;
  slopes_at(&s, m, g, x);
  for (int c = 0; c < 12; c++) along[c] = g->mass * s.by_q[c];
  for (int i = 0; i < 2; i++) {
    double turned[3]; /* φ̄'' by the rotation of e */
    ga__vec3_cross(turned, g->axis[i], x->node[i]->acc + 3);
    for (int c = 0; c < 3; c++) along[6 * i + 3 + c] += 0.5 * g->couple * turned[c];
  }
  add_along(T, s.B, along);
  for (int i = 0; i < 2; i++) {
    const double *w = x->node[i]->w + 3, *e = g->axis[i], half = 0.5 * g->couple;
    const int at = 6 * i + 3;
    double swing[3], Z[9];
    add_slope(T, i, g->mass * g->acc + g->couple * g->p_acc, g->across[i], m->n);
    ga__vec3_cross(swing, w, e);
    add_rows(T, at, half, e, s.by_q);
    add_rows(T, at, half, swing, s.rate_q);
    ga__mat3_skew(Z, 1, e); /* δe = −e~ δφ, δ(ω × e) = −ω~ e~ δφ */
    add_tile(T, at, at, -half * g->acc, Z);
    for (int k = 0; k < 9; k++) Z[k] = e[k / 3] * w[k % 3] - (k % 4 ? 0.0 : ga__vec3_dot(w, e));
    add_tile(T, at, at, -half * g->rate, Z);
  }
}

void ga__beam_add_thick_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                  double shift_v, double T[144])
{
  motion m;
  if (e->sway[0] == 0 && e->sway[1] == 0) return;
  motion_at(&m, x, 1, 1);
  for (int k = 0; k < 2; k++) {
    sway g;
    sway_at(&g, &m, x, e, k, 1);
    add_by_d(&m, &g, x, shift_vdot, shift_v, T);
  }
}

void ga__beam_add_thick_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144])
{
  motion m;
  if (e->sway[0] == 0 && e->sway[1] == 0) return;
  motion_at(&m, x, 1, 1);
  for (int k = 0; k < 2; k++) {
    sway g;
    sway_at(&g, &m, x, e, k, 1);
    add_by_q(&m, &g, x, T);
  }
}
