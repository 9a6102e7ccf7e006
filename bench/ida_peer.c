#include "ida_peer.h"

#include <stddef.h>

#define IDA_OPTIONS(X)                                                                                       \
  X("order 5, KLU", 5, IDA_KLU_COLAMD, 0)                                                                    \
  X("order 5, dense", 5, IDA_DENSE, 0)                                                                       \
  X("order 5, KLU (AMD)", 5, IDA_KLU_AMD, 0)                                                                 \
  X("order 5, KLU, equal", 5, IDA_KLU_COLAMD, 1)                                                             \
  X("order 5, dense, equal", 5, IDA_DENSE, 1)                                                                \
  X("order 4, KLU", 4, IDA_KLU_COLAMD, 0)                                                                    \
  X("order 4, dense", 4, IDA_DENSE, 0)                                                                       \
  X("order 3, KLU", 3, IDA_KLU_COLAMD, 0)                                                                    \
  X("order 3, dense", 3, IDA_DENSE, 0)                                                                       \
  X("order 2, KLU", 2, IDA_KLU_COLAMD, 0)

const char *const ida_peer_options[] = {
#define NAME(name, order, solver, equal) name,
    IDA_OPTIONS(NAME)
#undef NAME
        NULL};

#ifndef HAVE_SUNDIALS

int ida_peer_present(void)
{
  return 0;
}
const char *ida_peer_version(void)
{
  return "none";
}

ida_opts ida_peer_defaults(ida_form form)
{
  return (ida_opts){.form = form};
}

ida_peer *ida_peer_create(ga_context *ctx, const ida_model *model)
{
  (void)ctx, (void)model;
  return NULL;
}

void ida_peer_destroy(ida_peer **peer)
{
  (void)peer;
}

const ga_group *ida_peer_group(const ida_peer *peer)
{
  (void)peer;
  return NULL;
}

int ida_peer_set(const ida_peer *peer, int i, ida_opts *opts)
{
  (void)peer, (void)i, (void)opts;
  return 0;
}

int ida_peer_run(ida_peer *peer, const ida_opts *opts, double t_end, double *q, double *x, ida_counts *counts)
{
  (void)peer, (void)opts, (void)t_end, (void)q, (void)x, (void)counts;
  return -1;
}

#else

#include "ida_impl.h"

#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_version.h>

int ida_peer_present(void)
{
  return 1;
}
const char *ida_peer_version(void)
{
  return SUNDIALS_VERSION;
}

ida_opts ida_peer_defaults(ida_form form)
{
  return (ida_opts){.form = form,
                    .tol = 1e-6,
                    .v_atol = 1.0,
                    .lambda_atol = 1e3,
                    .max_order = 5,
                    .suppress = 1,
                    .solver = IDA_KLU_COLAMD};
}

/* Dense factors of more unknowns than these are slower than sparse ones on all problems of the bench. */
enum { MOST_DENSE = 150 };

int ida_peer_set(const ida_peer *s, int i, ida_opts *opts)
{
  static const struct {
    int max_order;
    ida_solver solver;
    int equal;
  } options[] = {
#define ROW(name, order, solver, equal) {order, solver, equal},
      IDA_OPTIONS(ROW)
#undef ROW
  };
  const ida_opts plain = ida_peer_defaults(opts->form);
  opts->max_order = options[i].max_order;
  opts->solver = options[i].solver;
  if (options[i].solver == IDA_DENSE && s->layouts[opts->form].n > MOST_DENSE) return 0;
  if (!options[i].equal) return 1;
  const int differs = opts->v_atol != plain.v_atol || opts->lambda_atol != plain.lambda_atol;
  opts->v_atol = plain.v_atol, opts->lambda_atol = plain.lambda_atol;
  return differs;
}

/* ---- Points ------------------------------------------------------------------------------------------- */

ga_point ida_point(const ida_peer *s, double t, const double *y, const double *yp)
{
  const double *q = y;
  if (s->n_quats > 0) {
    memcpy(s->q, y, (size_t)s->nq * sizeof *q);
    ga_group_normalise(s->group, s->q);
    q = s->q;
  }
  return (ga_point){.t = t,
                    .q = q,
                    .v = y + s->nq,
                    .vdot = yp + s->nq,
                    .lambda = y + s->nq + s->nv,
                    .psi = y,
                    .x = y + s->at_x,
                    .y = y + s->at_y};
}

/* ---- Jacobian ------------------------------------------------------------------------------------------ */

int ida_sources_fill(ida_peer *s, const ga_point *p, double shift_v, double shift_vdot, int want_acc)
{
  const size_t ne = (size_t)s->n_entries;
  const ga_system_def *def = &s->model.def;
  double *src = s->source;
  memset(src, 0, SRC_N * ne * sizeof *src);
  int rc = 0;
  if (want_acc) {
    ga_point along = *p;
    along.v = p->vdot;
    ga_jacobian J = {.want = GA_WANT_G, .D = src, .Q = src + SRC_Q * ne, .G = src + SRC_G_ACC * ne};
    rc = def->jacobian(def->user, &along, &J);
    memset(src, 0, 2 * ne * sizeof *src);
    if (rc == 0) rc = s->model.phi_acc_q(def->user, p, src + SRC_ACC_Q * ne);
    if (rc == 0 && s->model.phi_acc_v) rc = s->model.phi_acc_v(def->user, p, src + SRC_ACC_V * ne);
  }
  ga_jacobian J = {.want = GA_WANT_D | GA_WANT_Q | GA_WANT_G | GA_WANT_B,
                   .shift_v = shift_v,
                   .shift_vdot = shift_vdot,
                   .D = src,
                   .Q = src + SRC_Q * ne,
                   .G = src + SRC_G * ne};
  return rc != 0 ? rc : def->jacobian(def->user, p, &J);
}

/* Rate of one quaternion: ½ p∘(0,ω) on the left, ½ (0,ω)∘p on the right. */
static void quat_rate(double rate[4], ga_side side, const double p[4], const double w[3])
{
  const double sign = side == GA_LEFT ? 0.5 : -0.5;
  rate[0] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    rate[1 + i] = 0.5 * p[0] * w[i] + sign * (p[1 + j] * w[k] - p[1 + k] * w[j]);
  }
}

/* The rate is linear in p and in v, so unit vectors give the columns. */
void ida_quats_fill(ida_peer *s, const double *q, const double *v)
{
  double *source = s->source + SRC_N * s->n_entries + 2, *scale = s->scale + SCALE_N;
  for (int f = 0; f < s->model.def.n_factors; f++) {
    int qs, vs;
    const ga_factor factor = ga_group_factor(s->group, f, &qs, &vs);
    const ga_side side = factor.side;
    if (factor.kind != GA_QUAT) continue;
    double unit[4] = {0}, rate[4];
    const double *p = q + qs;
    const double length2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
    for (int j = 0; j < 4; j++) {
      unit[j] = 1.0;
      quat_rate(rate, side, unit, v + vs);
      for (int i = 0; i < 4; i++) source[4 * i + j] = -rate[i];
      if (j < 3) {
        quat_rate(rate, side, p, unit);
        for (int i = 0; i < 4; i++)
          scale[3 * i + j] = rate[i], scale[12 + 4 * j + i] = 4.0 * rate[i] / length2;
      }
      unit[j] = 0.0;
    }
    source += QUAT_SOURCES, scale += QUAT_SCALES;
  }
}

void ida_matrix_fill(SUNMatrix A, const layout *lay, const double *source, const double *scale)
{
  const ga_sparse *pat = lay->pattern;
  if (SUNMatGetID(A) == SUNMATRIX_DENSE) {
    double *value = SUNDenseMatrix_Data(A);
    memset(value, 0, (size_t)lay->n * (size_t)lay->n * sizeof *value);
    for (int o = 0; o < lay->n_ops; o++)
      value[lay->dense[o]] += scale[lay->ops[o].scale] * source[lay->ops[o].index];
    return;
  }
  sunindextype *start = SUNSparseMatrix_IndexPointers(A), *index = SUNSparseMatrix_IndexValues(A);
  double *value = SUNSparseMatrix_Data(A);
  for (int j = 0; j <= pat->cols; j++) start[j] = pat->col_start[j];
  for (int e = 0; e < pat->nnz; e++) index[e] = pat->row[e];
  memset(value, 0, (size_t)pat->nnz * sizeof *value);
  for (int o = 0; o < lay->n_ops; o++)
    value[lay->ops[o].place] += scale[lay->ops[o].scale] * source[lay->ops[o].index];
}

/* ---- Layouts ------------------------------------------------------------------------------------------- */

int ida_layout_create(layout *lay, int n, int max_ops)
{
  lay->n = n;
  lay->max_ops = max_ops;
  lay->ops = calloc((size_t)max_ops, sizeof *lay->ops);
  lay->row = calloc((size_t)max_ops, sizeof *lay->row);
  lay->col = calloc((size_t)max_ops, sizeof *lay->col);
  lay->dense = calloc((size_t)max_ops, sizeof *lay->dense);
  return lay->ops && lay->row && lay->col && lay->dense ? 0 : -1;
}

void ida_layout_free(ida_peer *s, layout *lay)
{
  free(lay->ops);
  free(lay->row);
  free(lay->col);
  free(lay->dense);
  ga_sparse_destroy(s->ctx, &lay->pattern);
}

void ida_put(layout *lay, int row, int col, int index, int scale)
{
  lay->row[lay->n_ops] = row;
  lay->col[lay->n_ops] = col;
  lay->ops[lay->n_ops++] = (op){.index = index, .scale = scale};
}

/* A derivative along v's coordinate c of the algebra, in the columns of q. */
static void put_by_q(const ida_peer *s, layout *lay, int row, int c, int index)
{
  for (int l = s->first_tie[c]; l < s->first_tie[c + 1]; l++)
    ida_put(lay, row, s->ties[l].q, index, s->ties[l].p);
}

/* The places of entry e in the matrices of all forms; `present` says in which sources it can be non-zero.
 * With P = 1, K = 1 in R^n, and without x and y, whose rows are like those of the dynamics:
 *   GGL:     [cj I − ∂(K v)/∂q, −K, 0, K Bᵀ; Q P, D, −f_λ, 0; B P, 0, 0, 0; G P, B, 0, 0],  D = C + cj M
 *   index 1: [cj I − ∂(K v)/∂q, −K, 0; Q P, D, −f_λ; (G(v') + D_q phi_acc) P, cj B + ∂phi_acc/∂v, 0] */
static void entry_place(ida_peer *s, int e, const int present[SRC_N])
{
  const int nq = s->nq, nv = s->nv, r = s->entry_row[e], c = s->entry_col[e], ne = s->n_entries;
  layout *ggl = &s->layouts[IDA_GGL], *one = &s->layouts[IDA_INDEX1], *start = &s->layouts[LAYOUT_START];
  const int D = SRC_D * ne + e, Q = SRC_Q * ne + e, G = SRC_G * ne + e, row = nq + r;
  if (r < nv || r >= nv + s->nl) {
    if (present[SRC_D]) {
      ida_put(ggl, row, nq + c, D, SCALE_ONE);
      ida_put(one, row, nq + c, D, SCALE_ONE);
      if (nq + c < s->at_x || nq + c >= s->at_y) ida_put(start, r, c, D, SCALE_ONE); /* x is known there */
    }
    if (c < nv && present[SRC_Q]) {
      put_by_q(s, ggl, row, c, Q);
      put_by_q(s, one, row, c, Q);
    }
    return;
  }
  if (c >= nv) return; /* Φ depends on q alone */
  const int row_mu = s->at_mu + r - nv;
  if (present[SRC_Q]) {
    put_by_q(s, ggl, row, c, Q);
    ida_put(ggl, row_mu, nq + c, Q, SCALE_ONE);
    for (int l = s->first_tie[c]; l < s->first_tie[c + 1]; l++)
      ida_put(ggl, s->ties[l].q, row_mu, Q, s->ties[l].k);
    ida_put(one, row, nq + c, Q, SCALE_CJ);
    ida_put(start, r, c, Q, SCALE_ONE);
  }
  if (present[SRC_G]) {
    put_by_q(s, ggl, row_mu, c, G);
    put_by_q(s, one, row, c, SRC_G_ACC * ne + e);
    if (!s->model.phi_acc_v) ida_put(one, row, nq + c, G, SCALE_TWO);
  }
  if (present[SRC_ACC_Q]) put_by_q(s, one, row, c, SRC_ACC_Q * ne + e);
  if (present[SRC_ACC_V]) ida_put(one, row, nq + c, SRC_ACC_V * ne + e, SCALE_ONE);
}

/* What does not come from the model's Jacobian: the kinematic rows, and x' and y of their own rows. */
static void own_place(ida_peer *s)
{
  const int one = SRC_N * s->n_entries, minus = one + 1, nq = s->nq, n = s->at_mu - nq;
  for (int k = 0; k < IDA_N_FORMS; k++) {
    layout *lay = &s->layouts[k];
    for (int i = 0; i < nq; i++) ida_put(lay, i, i, one, SCALE_CJ);
    for (int c = 0; c < s->nv; c++)
      for (int l = s->first_tie[c]; l < s->first_tie[c + 1]; l++)
        ida_put(lay, s->ties[l].q, nq + c, minus, s->ties[l].k);
    for (int f = 0, quat = 0; f < s->model.def.n_factors; f++) {
      int qs;
      if (ga_group_factor(s->group, f, &qs, NULL).kind != GA_QUAT) continue;
      for (int i = 0; i < QUAT_SOURCES; i++)
        ida_put(lay, qs + i / 4, qs + i % 4, minus + 1 + QUAT_SOURCES * quat + i, SCALE_ONE);
      quat++;
    }
    for (int i = s->at_x; i < s->at_mu; i++) ida_put(lay, i, i, one, i < s->at_y ? SCALE_CJ : SCALE_ONE);
  }
  for (int i = s->at_x - nq; i < n; i++) ida_put(&s->layouts[LAYOUT_START], i, i, one, SCALE_ONE);
}

ga_status ida_layout_finish(ida_peer *s, layout *lay)
{
  int *place = calloc((size_t)lay->n_ops + 1, sizeof *place);
  if (!place) return GA_ERR_MEMORY;
  const ga_status st =
      ga_sparse_create(s->ctx, lay->n, lay->n, lay->n_ops, lay->row, lay->col, place, &lay->pattern);
  for (int o = 0; o < lay->n_ops; o++) {
    lay->ops[o].place = place[o];
    lay->dense[o] = lay->col[o] * lay->n + lay->row[o];
  }
  free(place);
  return st;
}

static double next_random(unsigned long long *seed) /* in [−1, 1) */
{
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

/* present[e·SRC_N + source]: found non-zero at one of a few arbitrary points. */
static int entries_sample(ida_peer *s, int *present)
{
  const int nv = s->nv, n = s->at_mu + nv;
  double *z = calloc((size_t)n, sizeof *z);
  if (!z) return -1;
  unsigned long long seed = 2026;
  int rc = 0;
  for (int trial = 0; trial < 3 && rc == 0; trial++) {
    for (int i = 0; i < n; i++) z[i] = next_random(&seed);
    ga_group_normalise(s->group, z);
    const ga_point p = ida_point(s, 0.0, z, z + s->at_mu - s->nq);
    rc = ida_sources_fill(s, &p, 0.7, 1.3, s->nl > 0);
    for (int e = 0; e < s->n_entries; e++)
      for (int k = 0; k < SRC_N; k++) present[e * SRC_N + k] |= s->source[k * s->n_entries + e] != 0.0;
  }
  free(z);
  return rc;
}

static int layouts_build(ida_peer *s)
{
  const int ne = s->n_entries, w = s->n_quats > 0 ? 4 : 1; /* w: ties of one coordinate, at the most */
  const int size[N_LAYOUTS] = {s->at_mu + s->nl, s->at_mu, s->at_mu - s->nq};
  int *present = calloc((size_t)ne * SRC_N, sizeof *present);
  int rc = present ? entries_sample(s, present) : -1;
  for (int k = 0; k < N_LAYOUTS && rc == 0; k++) {
    const int max_ops = (3 * w + 1) * ne + w * s->nv + QUAT_SOURCES * s->n_quats + s->at_mu;
    rc = ida_layout_create(&s->layouts[k], size[k], max_ops);
  }
  if (rc == 0) own_place(s);
  for (int e = 0; e < ne && rc == 0; e++) entry_place(s, e, present + e * SRC_N);
  for (int k = 0; k < N_LAYOUTS && rc == 0; k++) rc = ida_layout_finish(s, &s->layouts[k]) == GA_OK ? 0 : -1;
  free(present);
  return rc;
}

/* ---- Creation ------------------------------------------------------------------------------------------ */

static int entries_copy(ida_peer *s)
{
  const ga_system_def *def = &s->model.def;
  const int n = s->at_mu - s->nq;
  s->n_entries = def->n_pattern > 0 ? def->n_pattern : n * n;
  const size_t n_sources = (size_t)s->n_entries * SRC_N + 2 + (size_t)(QUAT_SOURCES * s->n_quats);
  s->entry_row = calloc((size_t)s->n_entries, sizeof *s->entry_row);
  s->entry_col = calloc((size_t)s->n_entries, sizeof *s->entry_col);
  s->source = calloc(n_sources, sizeof *s->source);
  s->scale = calloc((size_t)(SCALE_N + QUAT_SCALES * s->n_quats), sizeof *s->scale);
  if (!s->entry_row || !s->entry_col || !s->source || !s->scale) return -1;
  for (int e = 0; e < s->n_entries; e++) {
    s->entry_row[e] = def->n_pattern > 0 ? def->pattern_row[e] : e / n;
    s->entry_col[e] = def->n_pattern > 0 ? def->pattern_col[e] : e % n;
  }
  s->source[s->n_entries * SRC_N] = 1.0;
  s->source[s->n_entries * SRC_N + 1] = -1.0;
  s->scale[SCALE_ONE] = 1.0;
  s->scale[SCALE_TWO] = 2.0;
  return 0;
}

/* The sizes, and which coordinates of q belong to which of v. */
static int coordinates_set(ida_peer *s)
{
  const ga_system_def *def = &s->model.def;
  if (ga_group_create(s->ctx, def->n_factors, def->factors, &s->group) != GA_OK) return -1;
  s->nq = ga_group_nq(s->group), s->nv = ga_group_nv(s->group);
  s->nl = def->n_lambda, s->nx = def->n_x, s->ny = def->n_y;
  s->at_x = s->nq + s->nv + s->nl, s->at_y = s->at_x + s->nx, s->at_mu = s->at_y + s->ny;
  s->first_tie = calloc((size_t)s->nv + 1, sizeof *s->first_tie);
  s->ties = calloc(4 * (size_t)s->nv + 1, sizeof *s->ties);
  s->q = calloc((size_t)s->nq + 1, sizeof *s->q);
  s->w = calloc((size_t)(s->nv + s->nl + 1), sizeof *s->w);
  if (!s->first_tie || !s->ties || !s->q || !s->w) return -1;
  int n = 0;
  for (int f = 0; f < def->n_factors; f++) {
    int qs, vs;
    const ga_factor factor = ga_group_factor(s->group, f, &qs, &vs);
    const int quat = factor.kind == GA_QUAT, width = quat ? 4 : 1;
    const int k = SCALE_N + QUAT_SCALES * s->n_quats; /* where its scales begin */
    if (!quat && factor.kind != GA_RN) return -1;
    for (int j = 0; j < (quat ? 3 : factor.n); j++) {
      for (int i = 0; i < width; i++)
        s->ties[n++] =
            quat ? (tie){qs + i, k + 3 * i + j, k + 12 + 4 * j + i} : (tie){qs + j, SCALE_ONE, SCALE_ONE};
      s->first_tie[vs + j + 1] = n;
    }
    s->n_quats += quat;
  }
  return 0;
}

ida_peer *ida_peer_create(ga_context *ctx, const ida_model *model)
{
  ida_peer *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->ctx = ctx;
  s->model = *model;
  if (coordinates_set(s) != 0 || entries_copy(s) != 0 || layouts_build(s) != 0) ida_peer_destroy(&s);
  return s;
}

const ga_group *ida_peer_group(const ida_peer *s)
{
  return s->group;
}

void ida_peer_destroy(ida_peer **peer)
{
  if (!peer || !*peer) return;
  ida_peer *s = *peer;
  for (int k = 0; k < N_LAYOUTS; k++) ida_layout_free(s, &s->layouts[k]);
  free(s->entry_row);
  free(s->entry_col);
  free(s->source);
  free(s->scale);
  free(s->first_tie);
  free(s->ties);
  free(s->q);
  free(s->w);
  ga_group_destroy(&s->group);
  free(s);
  *peer = NULL;
}

/* ---- IDA's callbacks ----------------------------------------------------------------------------------- */

/* Rows of Φ and of B v, or of B v' + phi_acc. */
static int constraints_residual(ida_peer *s, const ga_point *p, double *r_con, double *r_mu)
{
  const ga_system_def *def = &s->model.def;
  if (s->nl == 0) return 0;
  if (s->form == IDA_GGL) {
    const int rc = def->phi(def->user, p, r_con);
    return rc != 0 ? rc : def->phi_dot(def->user, p, r_mu);
  }
  ga_point along = *p;
  along.v = p->vdot;
  int rc = def->phi_acc(def->user, p, r_con);
  if (rc == 0) rc = def->phi_dot(def->user, &along, s->w);
  for (int i = 0; i < s->nl; i++) r_con[i] += s->w[i];
  return rc;
}

/* r = (q' − K (v [− Bᵀμ]), M v' − f, constraints, x' − s, y − o) */
static int ida_residual(double t, N_Vector yy, N_Vector yp, N_Vector rr, void *user)
{
  ida_peer *s = user;
  const ga_system_def *def = &s->model.def;
  const int nq = s->nq, nv = s->nv;
  const double *y = N_VGetArrayPointer(yy), *dy = N_VGetArrayPointer(yp);
  double *r = N_VGetArrayPointer(rr), *r_dyn = r + nq, *r_x = r + s->at_x, *r_y = r + s->at_y;
  const ga_point p = ida_point(s, t, y, dy);
  int rc = def->force(def->user, &p, s->w);
  if (rc == 0) rc = def->mass(def->user, &p, r_dyn);
  for (int i = 0; i < nv; i++) r_dyn[i] -= s->w[i];
  if (rc == 0) rc = constraints_residual(s, &p, r_dyn + nv, r + s->at_mu);
  if (rc == 0 && s->nx > 0) rc = def->state(def->user, &p, r_x);
  if (rc == 0 && s->ny > 0) rc = def->output(def->user, &p, r_y);
  for (int i = 0; i < s->nx; i++) r_x[i] = dy[s->at_x + i] - r_x[i];
  for (int i = 0; i < s->ny; i++) r_y[i] = y[s->at_y + i] - r_y[i];
  const double *rate = p.v;
  if (rc == 0 && s->nl > 0 && s->form == IDA_GGL) {
    ga_point with_mu = p;
    with_mu.lambda = y + s->at_mu;
    rc = s->model.reaction(def->user, &with_mu, s->w);
    for (int i = 0; i < nv; i++) s->w[i] = p.v[i] - s->w[i];
    rate = s->w;
  }
  ga_group_rate(s->group, r, y, rate);
  for (int i = 0; i < nq; i++) r[i] = dy[i] - r[i];
  return rc;
}

static int ida_jacobian(double t, double cj, N_Vector yy, N_Vector yp, N_Vector rr, SUNMatrix J, void *user,
                        N_Vector w1, N_Vector w2, N_Vector w3)
{
  (void)rr, (void)w1, (void)w2, (void)w3;
  ida_peer *s = user;
  const ga_point p = ida_point(s, t, N_VGetArrayPointer(yy), N_VGetArrayPointer(yp));
  const int rc = ida_sources_fill(s, &p, 1.0, cj, s->form == IDA_INDEX1 && s->nl > 0);
  if (s->n_quats > 0) ida_quats_fill(s, N_VGetArrayPointer(yy), p.v);
  s->scale[SCALE_CJ] = cj;
  if (rc == 0) ida_matrix_fill(J, s->in_use, s->source, s->scale);
  return rc;
}

/* ---- Run ----------------------------------------------------------------------------------------------- */

void ida_workspace_free(ida_workspace *w)
{
  if (w->ida) IDAFree(&w->ida);
  if (w->ls) SUNLinSolFree(w->ls);
  if (w->ls0) SUNLinSolFree(w->ls0);
  if (w->A) SUNMatDestroy(w->A);
  if (w->A0) SUNMatDestroy(w->A0);
  N_Vector v[] = {w->y, w->yp, w->id, w->atol, w->b};
  for (size_t i = 0; i < sizeof v / sizeof *v; i++)
    if (v[i]) N_VDestroy(v[i]);
  if (w->sun) SUNContext_Free(&w->sun);
}

SUNMatrix ida_matrix_create(const layout *lay, ida_solver solver, SUNContext sun)
{
  return solver == IDA_DENSE ? SUNDenseMatrix(lay->n, lay->n, sun)
                             : SUNSparseMatrix(lay->n, lay->n, lay->pattern->nnz, CSC_MAT, sun);
}

SUNLinearSolver ida_solver_create(N_Vector y, SUNMatrix A, ida_solver solver, SUNContext sun)
{
  SUNLinearSolver ls = solver == IDA_DENSE ? SUNLinSol_Dense(y, A, sun) : SUNLinSol_KLU(y, A, sun);
  if (ls && solver != IDA_DENSE) SUNLinSol_KLUSetOrdering(ls, solver == IDA_KLU_AMD ? 0 : 1);
  return ls;
}

static int workspace_create(ida_workspace *w, const ida_peer *s, const layout *lay, ida_solver solver)
{
  const layout *start = &s->layouts[LAYOUT_START];
  if (SUNContext_Create(NULL, &w->sun) != 0) return -1;
  N_Vector *v[] = {&w->y, &w->yp, &w->id, &w->atol};
  for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
    *v[i] = N_VNew_Serial(lay->n, w->sun);
    if (!*v[i]) return -1;
    N_VConst(0.0, *v[i]);
  }
  w->b = N_VNew_Serial(start->n, w->sun);
  w->A = ida_matrix_create(lay, solver, w->sun);
  w->A0 = SUNSparseMatrix(start->n, start->n, start->pattern->nnz, CSC_MAT, w->sun);
  if (!w->b || !w->A || !w->A0) return -1;
  w->ls = ida_solver_create(w->y, w->A, solver, w->sun);
  w->ls0 = SUNLinSol_KLU(w->b, w->A0, w->sun);
  w->ida = IDACreate(w->sun);
  return w->ls && w->ls0 && w->ida ? 0 : -1;
}

/* Consistent y and y': [M Bᵀ; B 0] (v', λ) = (f, −phi_acc), x' = s, y = o, right-hand sides at v' = λ = y = 0
 * and the derivatives beside them; q' = K v, μ = 0. */
static int values_start(ida_workspace *w, ida_peer *s)
{
  const ga_system_def *def = &s->model.def;
  const int nq = s->nq, nv = s->nv, nl = s->nl;
  double *y = N_VGetArrayPointer(w->y), *yp = N_VGetArrayPointer(w->yp), *b = N_VGetArrayPointer(w->b);
  double *b_x = b + s->at_x - nq, *b_y = b + s->at_y - nq;
  memcpy(y, s->model.q0, (size_t)nq * sizeof *y);
  memcpy(y + nq, s->model.v0, (size_t)nv * sizeof *y);
  if (s->nx > 0) memcpy(y + s->at_x, s->model.x0, (size_t)s->nx * sizeof *y);
  ga_group_rate(s->group, yp, y, y + nq);
  const ga_point p = ida_point(s, 0.0, y, yp);
  int rc = ida_sources_fill(s, &p, 0.0, 1.0, 0);
  if (rc != 0) return rc;
  ida_matrix_fill(w->A0, &s->layouts[LAYOUT_START], s->source, s->scale);
  rc = def->force(def->user, &p, b);
  if (rc == 0 && nl > 0) rc = def->phi_acc(def->user, &p, b + nv);
  for (int i = 0; i < nl; i++) b[nv + i] = -b[nv + i];
  if (rc == 0 && s->nx > 0) rc = def->state(def->user, &p, b_x);
  if (rc == 0 && s->ny > 0) rc = def->output(def->user, &p, b_y);
  if (rc == 0) rc = SUNLinSolInitialize(w->ls0);
  if (rc == 0) rc = SUNLinSolSetup(w->ls0, w->A0);
  if (rc == 0) rc = SUNLinSolSolve(w->ls0, w->A0, w->b, w->b, 0.0);
  memcpy(yp + nq, b, (size_t)nv * sizeof *b);
  memcpy(y + nq + nv, b + nv, (size_t)nl * sizeof *b);
  memcpy(yp + s->at_x, b_x, (size_t)s->nx * sizeof *b);
  memcpy(y + s->at_y, b_y, (size_t)s->ny * sizeof *b);
  return rc;
}

static int integrator_set(ida_workspace *w, ida_peer *s, const ida_opts *o, double t_end)
{
  double *id = N_VGetArrayPointer(w->id), *atol = N_VGetArrayPointer(w->atol);
  for (int i = 0; i < s->in_use->n; i++) {
    const int is_x = i >= s->at_x && i < s->at_y;
    id[i] = i < s->nq + s->nv || is_x ? 1.0 : 0.0;
    atol[i] = o->tol * (i < s->nq || is_x ? 1.0 : i < s->nq + s->nv ? o->v_atol : o->lambda_atol);
  }
  int rc = IDAInit(w->ida, ida_residual, 0.0, w->y, w->yp);
  if (rc == 0) rc = IDASVtolerances(w->ida, o->tol, w->atol);
  if (rc == 0) rc = IDASetErrFile(w->ida, NULL); /* failures show in the table */
  if (rc == 0 && o->first_step > 0.0) rc = IDASetInitStep(w->ida, o->first_step);
  if (rc == 0) rc = IDASetUserData(w->ida, s);
  if (rc == 0) rc = IDASetId(w->ida, w->id);
  if (rc == 0) rc = IDASetSuppressAlg(w->ida, o->suppress);
  if (rc == 0) rc = IDASetMaxOrd(w->ida, o->max_order);
  if (rc == 0) rc = IDASetMaxNumSteps(w->ida, IDA_MOST_STEPS);
  if (rc == 0) rc = IDASetStopTime(w->ida, t_end);
  if (rc == 0) rc = IDASetLinearSolver(w->ida, w->ls, w->A);
  if (rc == 0) rc = IDASetJacFn(w->ida, ida_jacobian);
  return rc;
}

int ida_begin(ida_workspace *w, ida_peer *s, const ida_opts *o, double t_end)
{
  s->form = o->form;
  s->in_use = &s->layouts[o->form];
  int rc = workspace_create(w, s, s->in_use, o->solver);
  if (rc == 0) rc = values_start(w, s);
  return rc == 0 ? integrator_set(w, s, o, t_end) : rc;
}

void ida_counts_get(const ida_workspace *w, ida_counts *n)
{
  IDAGetNumSteps(w->ida, &n->steps);
  IDAGetNumResEvals(w->ida, &n->residuals);
  IDAGetNumJacEvals(w->ida, &n->jacobians);
  IDAGetNumNonlinSolvIters(w->ida, &n->iterations);
  IDAGetNumErrTestFails(w->ida, &n->error_failures);
  IDAGetNumNonlinSolvConvFails(w->ida, &n->convergence_failures);
}

int ida_peer_run(ida_peer *s, const ida_opts *o, double t_end, double *q, double *x, ida_counts *n)
{
  ida_workspace w = {0};
  double t = 0.0;
  int rc = ida_begin(&w, s, o, t_end);
  if (rc == 0) rc = IDASolve(w.ida, t_end, &t, w.y, w.yp, IDA_NORMAL);
  if (rc >= 0) {
    rc = t == t_end ? 0 : -1;
    memcpy(q, N_VGetArrayPointer(w.y), (size_t)s->nq * sizeof *q);
    if (s->n_quats > 0) ga_group_normalise(s->group, q);
    if (x) memcpy(x, N_VGetArrayPointer(w.y) + s->at_x, (size_t)s->nx * sizeof *x);
    ida_counts_get(&w, n);
  }
  ida_workspace_free(&w);
  return rc;
}

#endif
