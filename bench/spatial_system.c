#include "spatial_system.h"

#include "spatial_vec.h"

#include <stdlib.h>
#include <string.h>

/* Both ends of a rod enter Φ as σ x + k e, with σ = +1 at the near and −1 at the far end, and k = −l/2. D_q
 * is along space rotations δ: δe = δ × e. */

enum { /* entries of one end: B, then Bᵀ, each a multiple of I and a full block */
       B_X = 0,
       B_W = 3,
       BT_X = 12,
       BT_W = 15,
       END_SIZE = 24
};
enum { SPIN_X = 0, SPIN_W = 3, SPIN_SIZE = 12 }; /* of one rod's dynamics: x a diagonal, ω a block */
/* Entries of the two rows of a hinge: by ω of rod i, by ω of rod i−1, the same of Bᵀ, and their coupling. */
enum {
  HINGE_B = 0,
  HINGE_A = 6,
  HINGE_BT = 12,
  HINGE_AT = 18,
  HINGE_BA = 24,
  HINGE_AB = 33,
  HINGE_SIZE = 42
};

static const double sigma[2] = {1.0, -1.0};

/* ---- Creation ------------------------------------------------------------------------------------------ */

static void entry(spatial_system *s, int e, int row, int col)
{
  s->row[e] = row;
  s->col[e] = col;
}

static void pattern_end(spatial_system *s, int start, int rod, int joint)
{
  const int x = 6 * rod, w = x + 3, la = 6 * s->c.n + s->rows * joint;
  for (int i = 0; i < 3; i++) {
    entry(s, start + B_X + i, la + i, x + i);
    entry(s, start + BT_X + i, x + i, la + i);
    for (int j = 0; j < 3; j++) {
      entry(s, start + B_W + 3 * i + j, la + i, w + j);
      entry(s, start + BT_W + 3 * i + j, w + i, la + j);
    }
  }
}

/* Joint 0 has the ground instead of rod −1: the entries that would be the latter's point at rod 0's own and
 * are left out by their count. */
static void pattern_hinge(spatial_system *s, int start, int joint)
{
  const int wb = 6 * joint + 3, wa = wb - 6, la = 6 * s->c.n + s->rows * joint + 3;
  for (int r = 0; r < 2; r++)
    for (int j = 0; j < 3; j++) {
      entry(s, start + HINGE_B + 3 * r + j, la + r, wb + j);
      entry(s, start + (joint > 0 ? HINGE_BT : HINGE_A) + 3 * r + j, wb + j, la + r);
      if (joint == 0) continue;
      entry(s, start + HINGE_A + 3 * r + j, la + r, wa + j);
      entry(s, start + HINGE_AT + 3 * r + j, wa + j, la + r);
    }
  for (int i = 0; i < 3 && joint > 0; i++)
    for (int j = 0; j < 3; j++) {
      entry(s, start + HINGE_BA + 3 * i + j, wb + i, wa + j);
      entry(s, start + HINGE_AB + 3 * i + j, wa + i, wb + j);
    }
}

static void pattern_fill(spatial_system *s)
{
  int e = 0;
  for (int i = 0; i < s->c.n; i++) {
    s->spin[i] = e;
    for (int k = 0; k < 3; k++) {
      entry(s, e + SPIN_X + k, 6 * i + k, 6 * i + k);
      for (int j = 0; j < 3; j++) entry(s, e + SPIN_W + 3 * k + j, 6 * i + 3 + k, 6 * i + 3 + j);
    }
    s->near[i] = e += SPIN_SIZE;
    pattern_end(s, e, i, i);
    e += END_SIZE;
    s->far[i] = i + 1 < s->c.n ? e : -1;
    if (s->far[i] >= 0) {
      pattern_end(s, e, i, i + 1);
      e += END_SIZE;
    }
    s->hinge[i] = s->rows == 5 ? e : -1;
    if (s->rows == 5) {
      pattern_hinge(s, e, i);
      e += i > 0 ? HINGE_SIZE : HINGE_BT;
    }
  }
  s->n_pattern = e;
}

spatial_system *spatial_system_create(spatial_chain c)
{
  const size_t n = (size_t)c.n, most = n * (SPIN_SIZE + 2 * END_SIZE + HINGE_SIZE);
  spatial_system *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->c = c;
  s->rows = c.kind == SPATIAL_REVOLUTE ? 5 : 3;
  s->factors = calloc(2 * n, sizeof *s->factors);
  s->q0 = calloc(22 * n, sizeof *s->q0);
  s->row = calloc(2 * most + 4 * n, sizeof *s->row);
  if (!s->factors || !s->q0 || !s->row) {
    spatial_system_destroy(&s);
    return NULL;
  }
  s->v0 = s->q0 + 7 * n, s->R = s->v0 + 6 * n;
  s->col = s->row + most;
  s->near = s->col + most, s->far = s->near + n, s->spin = s->far + n, s->hinge = s->spin + n;
  pattern_fill(s);
  for (int i = 0; i < c.n; i++) {
    spatial_rod rod;
    spatial_chain_start(&rod, &c, i);
    s->factors[2 * i] = (ga_factor){.kind = GA_RN, .n = 3, .side = GA_LEFT};
    s->factors[2 * i + 1] = (ga_factor){.kind = GA_QUAT, .side = GA_RIGHT};
    memcpy(s->q0 + 7 * i, rod.x, sizeof rod.x);
    memcpy(s->q0 + 7 * i + 3, rod.p, sizeof rod.p);
    memcpy(s->v0 + 6 * i, rod.u, sizeof rod.u);
    memcpy(s->v0 + 6 * i + 3, rod.w, sizeof rod.w);
  }
  return s;
}

void spatial_system_destroy(spatial_system **s)
{
  if (!s || !*s) return;
  free((*s)->factors);
  free((*s)->q0);
  free((*s)->row);
  free(*s);
  *s = NULL;
}

/* ---- Geometry ------------------------------------------------------------------------------------------ */

static void frames_set(const spatial_system *s, const ga_point *p)
{
  for (int i = 0; i < s->c.n; i++) mat_of_quaternion(s->R + 9 * i, p->q + 7 * i + 3);
}

static void column(double out[3], const double R[9], int j)
{
  out[0] = R[j], out[1] = R[3 + j], out[2] = R[6 + j];
}

static const double ground_R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, ground_w[3] = {0, 0, 0};

typedef struct hinge { /* joint i: its axis A in rod i−1, the directions B of rod i, and C = A × B */
  double A[3], B[2][3], C[2][3];
  const double *wa, *wb; /* angular velocities */
  double dw[3];          /* wa − wb */
} hinge;

static void hinge_set(hinge *h, const spatial_system *s, const ga_point *p, int i)
{
  const double *Ra = i > 0 ? s->R + 9 * (i - 1) : ground_R;
  const int along = i % 2 == 0 ? 1 : 2;
  column(h->A, Ra, along);
  column(h->B[0], s->R + 9 * i, 0);
  column(h->B[1], s->R + 9 * i, 3 - along);
  h->wa = i > 0 ? p->v + 6 * (i - 1) + 3 : ground_w;
  h->wb = p->v + 6 * i + 3;
  for (int k = 0; k < 3; k++) h->dw[k] = h->wa[k] - h->wb[k];
  for (int r = 0; r < 2; r++) vec_cross(h->C[r], h->A, h->B[r]);
}

/* A × (B × Δω) and B × (Δω × A): the gradients of Δω·C by rotations of rod i−1 and rod i */
static void hinge_turns(double by_a[3], double by_b[3], const hinge *h, int r)
{
  double t[3];
  vec_cross(t, h->B[r], h->dw);
  vec_cross(by_a, h->A, t);
  vec_cross(t, h->dw, h->A);
  vec_cross(by_b, h->B[r], t);
}

/* ---- Values -------------------------------------------------------------------------------------------- */

/* M = diag(m I, J I + (J_along − J) e eᵀ) */
static int value_mass(void *user, const ga_point *p, double *out)
{
  const spatial_system *s = user;
  const spatial_chain *c = &s->c;
  frames_set(s, p);
  for (int i = 0; i < c->n; i++) {
    const double *a = p->vdot + 6 * i, *alpha = a + 3;
    double e[3];
    column(e, s->R + 9 * i, 0);
    const double along = (c->J_along - c->J_across) * vec_dot(e, alpha);
    for (int k = 0; k < 3; k++) {
      out[6 * i + k] = c->m * a[k];
      out[6 * i + 3 + k] = c->J_across * alpha[k] + along * e[k];
    }
  }
  return 0;
}

/* Bᵀλ: σ λ on x and k e × λ on ω at an end; λ_r C_r on ω of rod i−1 and its opposite on rod i at a hinge */
static int value_reaction(void *user, const ga_point *p, double *out)
{
  const spatial_system *s = user;
  const double k = -0.5 * s->c.l;
  memset(out, 0, 6 * (size_t)s->c.n * sizeof *out);
  frames_set(s, p);
  for (int i = 0; i < s->c.n; i++) {
    double e[3], t[3];
    column(e, s->R + 9 * i, 0);
    for (int end = 0; end < 2 && i + end < s->c.n; end++) {
      const double *la = p->lambda + s->rows * (i + end);
      vec_add(out + 6 * i, sigma[end], la);
      vec_cross(t, e, la);
      vec_add(out + 6 * i + 3, k, t);
    }
    if (s->rows < 5) continue;
    hinge h;
    hinge_set(&h, s, p, i);
    for (int r = 0; r < 2; r++) {
      const double la = p->lambda[5 * i + 3 + r];
      vec_add(out + 6 * i + 3, -la, h.C[r]);
      if (i > 0) vec_add(out + 6 * i - 3, la, h.C[r]);
    }
  }
  return 0;
}

/* f = (m g, −ω × J ω) − Bᵀλ, with ω × J ω = (J_along − J)(e·ω) ω × e */
static int value_force(void *user, const ga_point *p, double *out)
{
  const spatial_system *s = user;
  const double Jd = s->c.J_along - s->c.J_across;
  value_reaction(user, p, out);
  for (int i = 0; i < 6 * s->c.n; i++) out[i] = -out[i];
  for (int i = 0; i < s->c.n; i++) {
    const double *w = p->v + 6 * i + 3;
    double e[3], t[3];
    column(e, s->R + 9 * i, 0);
    vec_cross(t, w, e);
    out[6 * i + 2] -= s->c.m * s->c.g;
    vec_add(out + 6 * i + 3, -Jd * vec_dot(e, w), t);
  }
  return 0;
}

/* Of Φ (0) and its time derivatives: shift of x and of e of one rod. */
static void end_terms(double shift[3], double arm[3], const double *x, const double *u, const double e[3],
                      int order)
{
  const double *w = u + 3;
  double t[3];
  for (int k = 0; k < 3; k++) shift[k] = order == 0 ? x[k] : order == 1 ? u[k] : 0.0;
  if (order == 0)
    memcpy(arm, e, 3 * sizeof *e);
  else
    vec_cross(arm, w, e);
  if (order == 2) {
    memcpy(t, arm, sizeof t);
    vec_cross(arm, w, t);
  }
}

/* A·B, C·Δω, and C'·Δω with C' = (ω_a × A) × B + A × (ω_b × B) */
static double hinge_term(const hinge *h, int r, int order)
{
  double by_a[3], by_b[3];
  if (order == 0) return vec_dot(h->A, h->B[r]);
  if (order == 1) return vec_dot(h->C[r], h->dw);
  hinge_turns(by_a, by_b, h, r);
  return vec_dot(by_a, h->wa) + vec_dot(by_b, h->wb);
}

static int joints_sum(const spatial_system *s, const ga_point *p, double *out, int order)
{
  const double k = -0.5 * s->c.l;
  double far[3] = {0, 0, 0}; /* what the rod before leaves at this joint */
  frames_set(s, p);
  for (int i = 0; i < s->c.n; i++) {
    double *o = out + s->rows * i, e[3], shift[3], arm[3];
    column(e, s->R + 9 * i, 0);
    end_terms(shift, arm, p->q + 7 * i, p->v + 6 * i, e, order);
    for (int d = 0; d < 3; d++) {
      o[d] = far[d] + shift[d] + k * arm[d];
      far[d] = -shift[d] + k * arm[d];
    }
    if (s->rows < 5) continue;
    hinge h;
    hinge_set(&h, s, p, i);
    for (int r = 0; r < 2; r++) o[3 + r] = hinge_term(&h, r, order);
  }
  return 0;
}

static int value_phi(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, 0);
}
static int value_phi_dot(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, 1);
}
static int value_phi_acc(void *user, const ga_point *p, double *out)
{
  return joints_sum(user, p, out, 2);
}

/* ---- Derivatives --------------------------------------------------------------------------------------- */

static void block_add(double *out, double f, const double A[9])
{
  for (int k = 0; k < 9; k++) out[k] += f * A[k];
}

/* of J ω' + (J_along − J)(e·ω) ω × e: in D by ω' and ω, in Q along δ:
 *   (J_along − J) (−(e·ω') e~ + e (e × ω')ᵀ + (ω × e)(e × ω)ᵀ − (e·ω) ω~e~) */
static void spin_jacobian(const spatial_system *s, const ga_point *p, ga_jacobian *K, int i)
{
  const spatial_chain *c = &s->c;
  const double *w = p->v + 6 * i + 3, *alpha = p->vdot + 6 * i + 3, Jd = c->J_along - c->J_across;
  double *D = K->D + s->spin[i], *Q = K->Q + s->spin[i], e[3], S[9], W[9], WS[9], we[3], ea[3], ew[3];
  column(e, s->R + 9 * i, 0);
  mat_skew(S, e);
  mat_skew(W, w);
  mat_mul(WS, W, S);
  vec_cross(we, w, e);
  vec_cross(ew, e, w);
  vec_cross(ea, e, alpha);
  for (int k = 0; k < 3; k++) {
    D[SPIN_X + k] = K->shift_vdot * c->m;
    D[SPIN_W + 4 * k] += K->shift_vdot * c->J_across;
  }
  mat_add_outer(D + SPIN_W, K->shift_vdot * Jd, e, e);
  mat_add_outer(D + SPIN_W, K->shift_v * Jd, we, e);
  block_add(D + SPIN_W, -K->shift_v * Jd * vec_dot(e, w), S);
  block_add(Q + SPIN_W, -Jd * vec_dot(e, alpha), S);
  mat_add_outer(Q + SPIN_W, Jd, e, ea);
  mat_add_outer(Q + SPIN_W, Jd, we, ew);
  block_add(Q + SPIN_W, -Jd * vec_dot(e, w), WS);
}

/* B = (σ I, −k e~), G = −k ω~e~, and the stiffness k λ~e~ */
static void end_jacobian(const spatial_system *s, const ga_point *p, ga_jacobian *K, int i, int end)
{
  const int start = end == 0 ? s->near[i] : s->far[i];
  const double k = -0.5 * s->c.l;
  double e[3], S[9], T[9], TS[9];
  column(e, s->R + 9 * i, 0);
  mat_skew(S, e);
  for (int d = 0; d < 3; d++) K->Q[start + B_X + d] = K->D[start + BT_X + d] = sigma[end];
  block_add(K->Q + start + B_W, -k, S);
  block_add(K->D + start + BT_W, k, S);
  mat_skew(T, p->v + 6 * i + 3);
  mat_mul(TS, T, S);
  block_add(K->G + start + B_W, -k, TS);
  mat_skew(T, p->lambda + s->rows * (i + end));
  mat_mul(TS, T, S);
  block_add(K->Q + s->spin[i] + SPIN_W, k, TS);
}

/* B = (C, −C) by (δ_a, δ_b); δC = (A Bᵀ − (A·B) I) δ_a + ((A·B) I − B Aᵀ) δ_b */
static void hinge_jacobian(const spatial_system *s, const ga_point *p, ga_jacobian *K, int i)
{
  const int start = s->hinge[i], bt = start + (i > 0 ? HINGE_BT : HINGE_A);
  hinge h;
  hinge_set(&h, s, p, i);
  for (int r = 0; r < 2; r++) {
    const double la = p->lambda[5 * i + 3 + r], AB = vec_dot(h.A, h.B[r]);
    double by_a[3], by_b[3], Ca[9] = {-AB, 0, 0, 0, -AB, 0, 0, 0, -AB},
                             Cb[9] = {AB, 0, 0, 0, AB, 0, 0, 0, AB};
    mat_add_outer(Ca, 1.0, h.A, h.B[r]);
    mat_add_outer(Cb, -1.0, h.B[r], h.A);
    hinge_turns(by_a, by_b, &h, r);
    vec_add(K->Q + start + HINGE_B + 3 * r, -1.0, h.C[r]);
    vec_add(K->D + bt + 3 * r, -1.0, h.C[r]);
    vec_add(K->G + start + HINGE_B + 3 * r, 1.0, by_b);
    block_add(K->Q + s->spin[i] + SPIN_W, -la, Cb);
    if (i == 0) continue;
    vec_add(K->Q + start + HINGE_A + 3 * r, 1.0, h.C[r]);
    vec_add(K->D + start + HINGE_AT + 3 * r, 1.0, h.C[r]);
    vec_add(K->G + start + HINGE_A + 3 * r, 1.0, by_a);
    block_add(K->Q + start + HINGE_BA, -la, Ca);
    block_add(K->Q + start + HINGE_AB, la, Cb);
    block_add(K->Q + s->spin[i - 1] + SPIN_W, la, Ca);
  }
}

static int value_jacobian(void *user, const ga_point *p, ga_jacobian *K)
{
  const spatial_system *s = user;
  const size_t bytes = (size_t)s->n_pattern * sizeof(double);
  frames_set(s, p);
  memset(K->D, 0, bytes); /* the blocks are sums, and what is not wanted need not be zero on entry */
  memset(K->Q, 0, bytes);
  memset(K->G, 0, bytes);
  for (int i = 0; i < s->c.n; i++) {
    spin_jacobian(s, p, K, i);
    for (int end = 0; end < 2 && i + end < s->c.n; end++) end_jacobian(s, p, K, i, end);
    if (s->rows == 5) hinge_jacobian(s, p, K, i);
  }
  return 0;
}

/* D_q phi_acc: −k ω~ω~e~ at an end; at a hinge, with X = B × Δω, Y = Δω × A,
 *   by δ_a: A × (X × ω_a) + A × ((ω_b × B) × Δω),   by δ_b: B × (Δω × (ω_a × A)) + B × (Y × ω_b) */
static int value_phi_acc_q(void *user, const ga_point *p, double *out)
{
  const spatial_system *s = user;
  const double k = -0.5 * s->c.l;
  frames_set(s, p);
  for (int i = 0; i < s->c.n; i++) {
    double e[3], S[9], W[9], WS[9], WWS[9];
    column(e, s->R + 9 * i, 0);
    mat_skew(S, e);
    mat_skew(W, p->v + 6 * i + 3);
    mat_mul(WS, W, S);
    mat_mul(WWS, W, WS);
    for (int end = 0; end < 2 && i + end < s->c.n; end++)
      block_add(out + (end == 0 ? s->near[i] : s->far[i]) + B_W, -k, WWS);
    if (s->rows < 5) continue;
    hinge h;
    hinge_set(&h, s, p, i);
    for (int r = 0; r < 2; r++) {
      double t[3], u[3], v[3];
      vec_cross(t, h.dw, h.A);
      vec_cross(u, t, h.wb);
      vec_cross(t, h.wa, h.A);
      vec_cross(v, h.dw, t);
      vec_add(u, 1.0, v);
      vec_cross(t, h.B[r], u);
      vec_add(out + s->hinge[i] + HINGE_B + 3 * r, 1.0, t);
      if (i == 0) continue;
      vec_cross(t, h.B[r], h.dw);
      vec_cross(u, t, h.wa);
      vec_cross(t, h.wb, h.B[r]);
      vec_cross(v, t, h.dw);
      vec_add(u, 1.0, v);
      vec_cross(t, h.A, u);
      vec_add(out + s->hinge[i] + HINGE_A + 3 * r, 1.0, t);
    }
  }
  return 0;
}

/* ∂phi_acc/∂v: −k ((ω × e)~ + ω~e~) at an end; at a hinge A × (B × Δω) + C' by ω_a, B × (Δω × A) −
 * C' by ω_b */
static int value_phi_acc_v(void *user, const ga_point *p, double *out)
{
  const spatial_system *s = user;
  const double k = -0.5 * s->c.l;
  frames_set(s, p);
  for (int i = 0; i < s->c.n; i++) {
    double e[3], t[3], S[9], W[9], WS[9];
    column(e, s->R + 9 * i, 0);
    mat_skew(S, e);
    mat_skew(W, p->v + 6 * i + 3);
    mat_mul(WS, W, S);
    vec_cross(t, p->v + 6 * i + 3, e);
    mat_skew(W, t);
    for (int end = 0; end < 2 && i + end < s->c.n; end++) {
      double *B = out + (end == 0 ? s->near[i] : s->far[i]) + B_W;
      block_add(B, -k, W);
      block_add(B, -k, WS);
    }
    if (s->rows < 5) continue;
    hinge h;
    hinge_set(&h, s, p, i);
    for (int r = 0; r < 2; r++) {
      double by_a[3], by_b[3], rate[3], u[3];
      hinge_turns(by_a, by_b, &h, r);
      vec_cross(t, h.wa, h.A);
      vec_cross(rate, t, h.B[r]);
      vec_cross(t, h.wb, h.B[r]);
      vec_cross(u, h.A, t);
      vec_add(rate, 1.0, u);
      vec_add(out + s->hinge[i] + HINGE_B + 3 * r, 1.0, by_b);
      vec_add(out + s->hinge[i] + HINGE_B + 3 * r, -1.0, rate);
      if (i == 0) continue;
      vec_add(out + s->hinge[i] + HINGE_A + 3 * r, 1.0, by_a);
      vec_add(out + s->hinge[i] + HINGE_A + 3 * r, 1.0, rate);
    }
  }
  return 0;
}

ida_model spatial_ida_model(const spatial_system *s)
{
  ida_model model = {.def = ga_system_defaults(),
                     .q0 = s->q0,
                     .v0 = s->v0,
                     .reaction = value_reaction,
                     .phi_acc_q = value_phi_acc_q,
                     .phi_acc_v = value_phi_acc_v};
  ga_system_def *def = &model.def;
  def->n_factors = 2 * s->c.n;
  def->factors = s->factors;
  def->n_lambda = s->rows * s->c.n;
  def->user = (void *)s;
  def->mass = value_mass;
  def->force = value_force;
  def->phi = value_phi;
  def->phi_dot = value_phi_dot;
  def->phi_acc = value_phi_acc;
  def->jacobian = value_jacobian;
  def->n_pattern = s->n_pattern;
  def->pattern_row = s->row;
  def->pattern_col = s->col;
  return model;
}
