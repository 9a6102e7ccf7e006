/* Gauges: scalar functions ρ of two markers, with exact gradient and curvature.
 *
 * Markers a and b at p = x + r, r = R s, with axes A. A small twist (δx, δφ) of a node moves what is fixed to
 * it, with d = p_b − p_a:
 *
 *   δp = δx + δφ × r,   δr = δφ × r,   δe = δφ × e for an axis e
 *   δd = δx_b + δφ_b × r_b − δx_a − δφ_a × r_a
 *
 * Everything else follows from two identities, with p~ q = p × q:
 *
 *   p~ q~ = q pᵀ − (p·q) I,   (δφ × p) × q = (p qᵀ − (p·q) I) δφ */
#include "mbs/mbs_impl.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

enum { XA = 0, RA = 1, XB = 2, RB = 3 }; /* tiles of K and, times 3, where g has them */

/* r = R s, p = x + r, axes R A; the ground's node is the identity */
void ga__frame_at(ga__frame *f, const ga__marker *marker, const ga__kin *kin)
{
  const ga__kin *k = kin + marker->node;
  f->node = marker->node;
  if (marker->node == 0) {
    memcpy(f->r, marker->s, sizeof f->r);
    memcpy(f->p, marker->s, sizeof f->p);
    memcpy(f->A, marker->A, sizeof f->A);
    return;
  }
  ga__mat3_mul_vec(f->r, k->R, marker->s);
  for (int i = 0; i < 3; i++) f->p[i] = k->x[i] + f->r[i];
  ga__mat3_mul(f->A, k->R, marker->A);
}

/* A scalar node has a coordinate and no pose: its frame is that of the ground, moved along x. */
static void scalar_frame(ga__frame *f, const ga__marker *marker, const ga__kin *kin)
{
  memset(f, 0, sizeof *f);
  f->node = marker->node;
  f->p[0] = kin[marker->node].x[0];
  f->A[0] = f->A[4] = f->A[8] = 1;
}

void ga__gauge_eval_at(ga__gauge_eval *s, const ga__gauge *g, const ga__marker *marker, const ga__kin *kin)
{
  s->gauge = g;
  s->angle_a = s->angle_b = 0;
  if (g->kind == GA__SCALAR) {
    scalar_frame(&s->a, marker + g->a, kin);
    s->b = s->a;
    return;
  }
  ga__frame_at(&s->a, marker + g->a, kin);
  ga__frame_at(&s->b, marker + g->b, kin);
  if (g->kind == GA__PLANE_ANGLE) {
    s->angle_a = s->a.node == 0 ? 0 : kin[s->a.node].angle;
    s->angle_b = s->b.node == 0 ? 0 : kin[s->b.node].angle;
  }
}

/* d = p_b − p_a */
static void displacement(double d[3], const ga__gauge_eval *s)
{
  for (int i = 0; i < 3; i++) d[i] = s->b.p[i] - s->a.p[i];
}

/* Column i of a frame's axes. */
static void axis(double e[3], const ga__frame *f, int i)
{
  e[0] = f->A[i];
  e[1] = f->A[3 + i];
  e[2] = f->A[6 + i];
}

/* Of a twist about axis i of a, atan2(S, C) with S = b_j · a_k − b_k · a_j = 4 q_0 q_i and C = b_j · a_j +
 * b_k · a_k = 2 (q_0² − q_i²): sums of w a·b, of which three axes each of a and b are needed. */
typedef struct twist_term {
  double a[3], b[3];   /* axes */
  double sine, cosine; /* their weights in S and C */
} twist_term;

static void twist_terms(twist_term term[4], double sum[2], const ga__gauge_eval *s)
{
  static const int after[4][2] = {{1, 0}, {0, 1}, {0, 0}, {1, 1}}; /* of a and b: 0 for j, 1 for k */
  static const double sine[4] = {1, -1, 0, 0}, cosine[4] = {0, 0, 1, 1};
  sum[0] = sum[1] = 0;
  for (int i = 0; i < 4; i++) {
    axis(term[i].a, &s->a, (s->gauge->axis + 1 + after[i][0]) % 3);
    axis(term[i].b, &s->b, (s->gauge->axis + 1 + after[i][1]) % 3);
    term[i].sine = sine[i];
    term[i].cosine = cosine[i];
    sum[0] += sine[i] * ga__vec3_dot(term[i].a, term[i].b);
    sum[1] += cosine[i] * ga__vec3_dot(term[i].a, term[i].b);
  }
}

double ga__gauge_value(const ga__gauge_eval *s)
{
  const ga__gauge *g = s->gauge;
  double d[3], e[3], b[3], ej[3], ek[3], sum[2];
  twist_term term[4];
  switch (g->kind) {
  case GA__WORLD: /* u · d */
    displacement(d, s);
    return ga__vec3_dot(g->u, d);
  case GA__ALONG: /* A_a u · d */
    displacement(d, s);
    ga__mat3_mul_vec(e, s->a.A, g->u);
    return ga__vec3_dot(e, d);
  case GA__DOT: /* A_a u · A_b w */
    ga__mat3_mul_vec(e, s->a.A, g->u);
    ga__mat3_mul_vec(b, s->b.A, g->w);
    return ga__vec3_dot(e, b);
  case GA__DISTANCE: /* |d| */
    displacement(d, s);
    return sqrt(ga__vec3_dot(d, d));
  case GA__ANGLE: /* atan2(b_j · a_k, b_j · a_j) */
    axis(ej, &s->a, (g->axis + 1) % 3);
    axis(ek, &s->a, (g->axis + 2) % 3);
    axis(b, &s->b, (g->axis + 1) % 3);
    return atan2(ga__vec3_dot(b, ek), ga__vec3_dot(b, ej)) + g->offset;
  case GA__TWIST:
    twist_terms(term, sum, s);
    return atan2(sum[0], sum[1]) + g->offset;
  case GA__PLANE_ANGLE: /* θ_b − θ_a + offset */
    return s->angle_b - s->angle_a + g->offset;
  case GA__SCALAR:
    return s->a.p[0];
  }
  return NAN;
}

/* ---- Gradients ----------------------------------------------------------------------------------------- */

/* Of e · d at fixed e: (−e, −r_a × e, e, r_b × e) */
static void line_gradient(double g[12], const ga__gauge_eval *s, const double e[3])
{
  double ta[3];
  ga__vec3_cross(ta, s->a.r, e);
  for (int i = 0; i < 3; i++) {
    g[i] = -e[i];
    g[3 + i] = -ta[i];
    g[6 + i] = e[i];
  }
  ga__vec3_cross(g + 9, s->b.r, e);
}

/* Unit vector n along d; returns |d|. NaN where d = 0, so that it is not used by mistake. */
static double direction(double n[3], const ga__gauge_eval *s)
{
  double d[3];
  displacement(d, s);
  const double length = sqrt(ga__vec3_dot(d, d));
  const double inverse = length > 0 ? 1 / length : NAN;
  for (int i = 0; i < 3; i++) n[i] = inverse * d[i];
  return length;
}

/* Of an angle. With a = a_i, b = b_j, z = a·b: the angle that the projection of b across a makes in the plane
 * of a changes by n · δφ_b − n · δφ_a,  n = (a − z b)/D,  D = 1 − z² = |b − z a|². The last form of D has no
 * cancellation where b is nearly parallel to a; D = 0 gives NaN, as it should. */
static double angle_normal(double n[3], double a[3], double b[3], double *z, const ga__gauge_eval *s)
{
  double across_a[3];
  axis(a, &s->a, s->gauge->axis);
  axis(b, &s->b, (s->gauge->axis + 1) % 3);
  *z = ga__vec3_dot(a, b);
  for (int i = 0; i < 3; i++) across_a[i] = b[i] - *z * a[i];
  const double D = ga__vec3_dot(across_a, across_a);
  const double inverse = D > 0 ? 1 / D : NAN;
  for (int i = 0; i < 3; i++) n[i] = inverse * (a[i] - *z * b[i]);
  return inverse;
}

/* Of a twist: n · (δφ_b − δφ_a) with n = (C G_S − S G_C)/D, D = S² + C²; G_S and G_C are the same sums of b ×
 * a. D is 0, and n NaN, at half a turn about a perpendicular axis. Returns 1/D. */
static double twist_normal(double n[3], double G[2][3], twist_term term[4], double sum[2],
                           const ga__gauge_eval *s)
{
  twist_terms(term, sum, s);
  memset(G, 0, 6 * sizeof(double));
  for (int i = 0; i < 4; i++) {
    double c[3];
    ga__vec3_cross(c, term[i].b, term[i].a);
    for (int k = 0; k < 3; k++) {
      G[0][k] += term[i].sine * c[k];
      G[1][k] += term[i].cosine * c[k];
    }
  }
  const double D = sum[0] * sum[0] + sum[1] * sum[1];
  const double inverse = D > 0 ? 1 / D : NAN;
  for (int k = 0; k < 3; k++) n[k] = inverse * (sum[1] * G[0][k] - sum[0] * G[1][k]);
  return inverse;
}

void ga__gauge_gradient(double g[12], const ga__gauge_eval *s)
{
  double e[3], b[3], n[3], c[3], z, G[2][3], sum[2];
  twist_term term[4];
  memset(g, 0, 12 * sizeof *g);
  switch (s->gauge->kind) {
  case GA__WORLD:
    line_gradient(g, s, s->gauge->u);
    return;
  case GA__ALONG: /* e turns with a: T_a = −r_a × e + e × d = e × (p_b − x_a) */
    ga__mat3_mul_vec(e, s->a.A, s->gauge->u);
    line_gradient(g, s, e);
    for (int i = 0; i < 3; i++) c[i] = s->b.p[i] - s->a.p[i] + s->a.r[i];
    ga__vec3_cross(g + 3, e, c);
    return;
  case GA__DOT: /* T_a = e × b = −T_b */
    ga__mat3_mul_vec(e, s->a.A, s->gauge->u);
    ga__mat3_mul_vec(b, s->b.A, s->gauge->w);
    ga__vec3_cross(g + 3, e, b);
    for (int i = 0; i < 3; i++) g[9 + i] = -g[3 + i];
    return;
  case GA__DISTANCE: /* n · δd */
    direction(n, s);
    line_gradient(g, s, n);
    return;
  case GA__ANGLE:
  case GA__TWIST:
    if (s->gauge->kind == GA__TWIST)
      twist_normal(n, G, term, sum, s);
    else
      angle_normal(n, e, b, &z, s);
    for (int i = 0; i < 3; i++) {
      g[3 + i] = -n[i];
      g[9 + i] = n[i];
    }
    return;
  case GA__PLANE_ANGLE:
    g[5] = -1;
    g[11] = 1;
    return;
  case GA__SCALAR:
    g[0] = 1;
    return;
  }
}

/* ---- Curvatures ---------------------------------------------------------------------------------------- */

/* tile (i, j) = scale (p qᵀ − (p·q) I) */
static void tile_turn(double K[144], int i, int j, double scale, const double p[3], const double q[3])
{
  double *T = K + 36 * i + 3 * j;
  const double x = scale * p[0], y = scale * p[1], z = scale * p[2];
  const double xx = x * q[0], yy = y * q[1], zz = z * q[2];
  T[0] = -(yy + zz);
  T[1] = x * q[1];
  T[2] = x * q[2];
  T[12] = y * q[0];
  T[13] = -(xx + zz);
  T[14] = y * q[2];
  T[24] = z * q[0];
  T[25] = z * q[1];
  T[26] = -(xx + yy);
}

/* tile (i, j) = scale p~ */
static void tile_skew(double K[144], int i, int j, double scale, const double p[3])
{
  double *T = K + 36 * i + 3 * j;
  const double x = scale * p[0], y = scale * p[1], z = scale * p[2];
  T[1] = -z;
  T[2] = y;
  T[12] = z;
  T[14] = -x;
  T[24] = -y;
  T[25] = x;
}

/* tile (i, j) += scale p qᵀ */
static void tile_add_outer(double K[144], int i, int j, double scale, const double p[3], const double q[3])
{
  double *T = K + 36 * i + 3 * j;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) T[12 * r + c] += scale * p[r] * q[c];
}

/* g = (−e, e × c, e, r_b × e) with c = p_b − x_a, δc = δx_b + δφ_b × r_b − δx_a, δe = δφ_a × e */
static void along_curvature(double K[144], const ga__gauge_eval *s)
{
  double e[3], c[3];
  ga__mat3_mul_vec(e, s->a.A, s->gauge->u);
  for (int i = 0; i < 3; i++) c[i] = s->b.p[i] - s->a.p[i] + s->a.r[i];
  tile_skew(K, XA, RA, 1, e);
  tile_skew(K, XB, RA, -1, e);
  tile_skew(K, RA, XA, -1, e);
  tile_skew(K, RA, XB, 1, e);
  tile_turn(K, RA, RA, 1, e, c);
  tile_turn(K, RA, RB, -1, s->b.r, e);
  tile_turn(K, RB, RA, -1, e, s->b.r);
  tile_turn(K, RB, RB, 1, s->b.r, e);
}

/* T_a = e × b = −T_b */
static void dot_curvature(double K[144], const ga__gauge_eval *s)
{
  double e[3], b[3];
  ga__mat3_mul_vec(e, s->a.A, s->gauge->u);
  ga__mat3_mul_vec(b, s->b.A, s->gauge->w);
  tile_turn(K, RA, RA, 1, e, b);
  tile_turn(K, RA, RB, -1, b, e);
  tile_turn(K, RB, RA, -1, e, b);
  tile_turn(K, RB, RB, 1, b, e);
}

/* With δd = S δ, S = (−I, r_a~, I, −r_b~), g = Sᵀ n and δn = (I − n nᵀ) δd / ρ:
 *   K = (SᵀS − g gᵀ)/ρ, and in the moments' own rotations the terms of fixed n. */
static void distance_curvature(double K[144], const ga__gauge_eval *s)
{
  static const double sign[2] = {-1, 1};
  double n[3], g[12];
  const double scale = 1 / direction(n, s);
  const double *r[2] = {s->a.r, s->b.r};
  line_gradient(g, s, n);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const double c = sign[i] * sign[j] * scale;
      double *T = K + 72 * i + 6 * j;
      T[0] = T[13] = T[26] = c;
      tile_skew(K, 2 * i, 2 * j + 1, -c, r[j]);
      tile_skew(K, 2 * i + 1, 2 * j, c, r[i]);
      tile_turn(K, 2 * i + 1, 2 * j + 1, -c, r[j], r[i]);
    }
  for (int i = 0; i < 12; i++) {
    const double f = scale * g[i];
    for (int j = 0; j < 12; j++) K[12 * i + j] -= f * g[j];
  }
  for (int i = 0; i < 2; i++) {
    const double dot = ga__vec3_dot(r[i], n);
    double *T = K + 12 * (6 * i + 3) + 6 * i + 3;
    tile_add_outer(K, 2 * i + 1, 2 * i + 1, sign[i], r[i], n);
    for (int k = 0; k < 3; k++) T[13 * k] -= sign[i] * dot;
  }
}

/* T_a = −T_b: its rows are those of T_b with the other sign. */
static void oppose_torques(double K[144])
{
  for (int i = 0; i < 3; i++) {
    double *Ka = K + 12 * (3 + i);
    const double *Kb = K + 12 * (9 + i);
    for (int j = 0; j < 3; j++) {
      Ka[3 + j] = -Kb[3 + j];
      Ka[9 + j] = -Kb[9 + j];
    }
  }
}

/* T_b = N/D = −T_a with N = a − z b, D = 1 − z², δz = m · (δφ_a − δφ_b), m = a × b:
 *   δT_b = (δφ_a × a − z δφ_b × b + h δz)/D,  h = (2 z/D) N − b */
static void angle_curvature(double K[144], const ga__gauge_eval *s)
{
  double n[3], a[3], b[3], m[3], h[3], z;
  const double inverse = angle_normal(n, a, b, &z, s);
  ga__vec3_cross(m, a, b);
  for (int i = 0; i < 3; i++) h[i] = 2 * z * n[i] - b[i];
  tile_skew(K, RB, RA, -inverse, a);
  tile_skew(K, RB, RB, inverse * z, b);
  tile_add_outer(K, RB, RA, inverse, h, m);
  tile_add_outer(K, RB, RB, -inverse, h, m);
  oppose_torques(K);
}

/* tile (i, j) += scale (p qᵀ − (p·q) I) */
static void tile_add_turn(double K[144], int i, int j, double scale, const double p[3], const double q[3])
{
  const double dot = scale * ga__vec3_dot(p, q);
  double *T = K + 36 * i + 3 * j;
  tile_add_outer(K, i, j, scale, p, q);
  for (int k = 0; k < 3; k++) T[13 * k] -= dot;
}

/* T_b = n = (C G_S − S G_C)/D, δS = G_S · δφ and δC = G_C · δφ with δφ = δφ_b − δφ_a:
 *   δn = (C δG_S − S δG_C)/D + (G_S δC − G_C δS)/D − n (2 S δS + 2 C δC)/D,
 *   δ(b × a) = (δφ_b × b) × a − (δφ_a × a) × b */
static void twist_curvature(double K[144], const ga__gauge_eval *s)
{
  double n[3], G[2][3], sum[2], along[3];
  twist_term term[4];
  const double inverse = twist_normal(n, G, term, sum, s);
  for (int i = 0; i < 4; i++) {
    const double weight = inverse * (sum[1] * term[i].sine - sum[0] * term[i].cosine);
    tile_add_turn(K, RB, RB, weight, term[i].b, term[i].a);
    tile_add_turn(K, RB, RA, -weight, term[i].a, term[i].b);
  }
  for (int k = 0; k < 3; k++) along[k] = 2 * (sum[0] * G[0][k] + sum[1] * G[1][k]);
  for (int side = 0; side < 2; side++) {
    const int column = side ? RA : RB;
    const double scale = side ? -inverse : inverse;
    tile_add_outer(K, RB, column, scale, G[0], G[1]);
    tile_add_outer(K, RB, column, -scale, G[1], G[0]);
    tile_add_outer(K, RB, column, -scale, n, along);
  }
  oppose_torques(K);
}

void ga__gauge_curvature(double K[144], const ga__gauge_eval *s)
{
  memset(K, 0, 144 * sizeof *K);
  switch (s->gauge->kind) {
  case GA__WORLD:
    tile_turn(K, RA, RA, -1, s->a.r, s->gauge->u); /* of the moments r × e, by (δφ × r) × e */
    tile_turn(K, RB, RB, 1, s->b.r, s->gauge->u);
    return;
  case GA__ALONG:
    along_curvature(K, s);
    return;
  case GA__DOT:
    dot_curvature(K, s);
    return;
  case GA__DISTANCE:
    distance_curvature(K, s);
    return;
  case GA__ANGLE:
    angle_curvature(K, s);
    return;
  case GA__TWIST:
    twist_curvature(K, s);
    return;
  case GA__PLANE_ANGLE: /* linear */
  case GA__SCALAR:
    return;
  }
}

/* ---- What can be non-zero ------------------------------------------------------------------------------ */

enum { A_ROTATIONS = 7 << 3, B_ROTATIONS = 7 << 9 };

/* F = u; a component of r × u can be non-zero if one of the other two of u is. */
static unsigned world_mask(const double u[3])
{
  unsigned F = 0, T = 0;
  for (int i = 0; i < 3; i++) {
    if (u[i] != 0) F |= 1u << i;
    if (u[(i + 1) % 3] != 0 || u[(i + 2) % 3] != 0) T |= 1u << i;
  }
  return F | T << 3 | F << 6 | T << 9;
}

unsigned ga__gauge_mask(const ga__gauge *g)
{
  switch (g->kind) {
  case GA__WORLD:
    return world_mask(g->u);
  case GA__ALONG:
  case GA__DISTANCE:
    return 0xfff;
  case GA__DOT:
  case GA__ANGLE:
  case GA__TWIST:
    return A_ROTATIONS | B_ROTATIONS;
  case GA__PLANE_ANGLE:
    return 1u << 5 | 1u << 11;
  case GA__SCALAR:
    return 1;
  }
  return 0;
}

unsigned ga__gauge_tiles(const ga__gauge *g)
{
#define TILE(i, j) (1u << (4 * (i) + (j)))
  const unsigned rotations = TILE(RA, RA) | TILE(RA, RB) | TILE(RB, RA) | TILE(RB, RB);
  switch (g->kind) {
  case GA__WORLD:
    return TILE(RA, RA) | TILE(RB, RB);
  case GA__ALONG:
    return rotations | TILE(XA, RA) | TILE(XB, RA) | TILE(RA, XA) | TILE(RA, XB);
  case GA__DOT:
  case GA__ANGLE:
  case GA__TWIST:
    return rotations;
  case GA__DISTANCE:
    return 0xffff;
  case GA__PLANE_ANGLE:
  case GA__SCALAR:
    return 0;
  }
  return 0;
#undef TILE
}
