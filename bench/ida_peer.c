#include "ida_peer.h"

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

int ida_peer_run(ida_peer *peer, const ida_opts *opts, double t_end, double *q, ida_counts *counts)
{
  (void)peer, (void)opts, (void)t_end, (void)q, (void)counts;
  return -1;
}

#else

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* Where a number of the iteration matrix comes from: value[place] += scale · source[index]. */
enum {
  SRC_D,
  SRC_Q,
  SRC_G,
  SRC_G_ACC,
  SRC_A,
  SRC_N
}; /* arrays over the model's entries; G_ACC is G at v := v' */
enum { SCALE_ONE, SCALE_CJ, SCALE_MINUS, SCALE_TWO, SCALE_N };

typedef struct op {
  int place, index, scale;
} op;

typedef struct layout { /* one iteration matrix: its pattern in compressed columns, and how to fill it */
  int n, n_ops, max_ops;
  op *ops;
  int *row, *col; /* [max_ops] while it is built */
  ga_sparse *pattern;
} layout;

enum { LAYOUT_START = IDA_N_FORMS, N_LAYOUTS };

struct ida_peer {
  ga_context *ctx;
  ida_model model;
  int nv, nl, n_entries;
  int *entry_row, *entry_col; /* of the model's Jacobian */
  double *source;             /* [SRC_N·n_entries + 1], the last number is 1 */
  layout layouts[N_LAYOUTS];  /* by form, and the one of the start: [M Bᵀ; B 0] */
  const layout *in_use;
  ida_form form;
};

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
                    .ordering = 1};
}

/* ---- Jacobian ------------------------------------------------------------------------------------------ */

/* D, Q, G at p with shift_v = 1 and shift_vdot; G at v := vdot, and A, where the index-1 form wants them. */
static int sources_fill(ida_peer *s, const ga_point *p, double shift_v, double shift_vdot, int want_acc)
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
    if (rc == 0) rc = s->model.phi_acc_q(def->user, p, src + SRC_A * ne);
  }
  ga_jacobian J = {.want = GA_WANT_D | GA_WANT_Q | GA_WANT_G | GA_WANT_B,
                   .shift_v = shift_v,
                   .shift_vdot = shift_vdot,
                   .D = src,
                   .Q = src + SRC_Q * ne,
                   .G = src + SRC_G * ne};
  return rc != 0 ? rc : def->jacobian(def->user, p, &J);
}

static void matrix_fill(SUNMatrix A, const ida_peer *s, const layout *lay, double cj)
{
  const double scale[SCALE_N] = {[SCALE_ONE] = 1.0, [SCALE_CJ] = cj, [SCALE_MINUS] = -1.0, [SCALE_TWO] = 2.0};
  const ga_sparse *pat = lay->pattern;
  sunindextype *start = SUNSparseMatrix_IndexPointers(A), *index = SUNSparseMatrix_IndexValues(A);
  double *value = SUNSparseMatrix_Data(A);
  for (int j = 0; j <= pat->cols; j++) start[j] = pat->col_start[j];
  for (int e = 0; e < pat->nnz; e++) index[e] = pat->row[e];
  memset(value, 0, (size_t)pat->nnz * sizeof *value);
  for (int o = 0; o < lay->n_ops; o++)
    value[lay->ops[o].place] += scale[lay->ops[o].scale] * s->source[lay->ops[o].index];
}

/* ---- Layouts ------------------------------------------------------------------------------------------- */

static void put(layout *lay, int row, int col, int index, int scale)
{
  lay->row[lay->n_ops] = row;
  lay->col[lay->n_ops] = col;
  lay->ops[lay->n_ops++] = (op){.index = index, .scale = scale};
}

/* The places of entry e in the matrices of all forms; `present` says in which sources it can be non-zero.
 *   GGL: [cj I, −I, 0, Bᵀ; Q, D, −f_λ, 0; B, 0, 0, 0; G, B, 0, 0],  D = C + cj M
 *   index 1: [cj I, −I, 0; Q, D, −f_λ; G(v') + A, cj B + 2 G(v), 0]  (D_v phi_acc = 2 D_q(B v) in R^n) */
static void entry_place(ida_peer *s, int e, const int present[SRC_N])
{
  const int nv = s->nv, nl = s->nl, r = s->entry_row[e], c = s->entry_col[e], ne = s->n_entries;
  layout *ggl = &s->layouts[IDA_GGL], *one = &s->layouts[IDA_INDEX1], *start = &s->layouts[LAYOUT_START];
  const int D = SRC_D * ne + e, Q = SRC_Q * ne + e, G = SRC_G * ne + e, G_acc = SRC_G_ACC * ne + e,
            A = SRC_A * ne + e;
  if (r < nv) {
    if (present[SRC_D]) {
      put(ggl, nv + r, nv + c, D, SCALE_ONE);
      put(one, nv + r, nv + c, D, SCALE_ONE);
      put(start, r, c, D, SCALE_ONE);
    }
    if (c < nv && present[SRC_Q]) {
      put(ggl, nv + r, c, Q, SCALE_ONE);
      put(one, nv + r, c, Q, SCALE_ONE);
    }
    return;
  }
  if (c >= nv) return; /* Φ depends on q alone */
  if (present[SRC_Q]) {
    put(ggl, nv + r, c, Q, SCALE_ONE);
    put(ggl, nv + nl + r, nv + c, Q, SCALE_ONE);
    put(ggl, c, nv + nl + r, Q, SCALE_ONE);
    put(one, nv + r, nv + c, Q, SCALE_CJ);
    put(start, r, c, Q, SCALE_ONE);
  }
  if (present[SRC_G]) {
    put(ggl, nv + nl + r, c, G, SCALE_ONE);
    put(one, nv + r, nv + c, G, SCALE_TWO);
    put(one, nv + r, c, G_acc, SCALE_ONE);
  }
  if (present[SRC_A]) put(one, nv + r, c, A, SCALE_ONE);
}

static ga_status layout_finish(ida_peer *s, layout *lay)
{
  int *place = calloc((size_t)lay->n_ops + 1, sizeof *place);
  if (!place) return GA_ERR_MEMORY;
  const ga_status st =
      ga_sparse_create(s->ctx, lay->n, lay->n, lay->n_ops, lay->row, lay->col, place, &lay->pattern);
  for (int o = 0; o < lay->n_ops; o++) lay->ops[o].place = place[o];
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
  const int nv = s->nv, n = 3 * nv + s->nl;
  double *z = calloc((size_t)n, sizeof *z);
  if (!z) return -1;
  unsigned long long seed = 2026;
  int rc = 0;
  for (int trial = 0; trial < 3 && rc == 0; trial++) {
    for (int i = 0; i < n; i++) z[i] = next_random(&seed);
    const ga_point p = {
        .q = z, .v = z + nv, .vdot = z + 2 * nv, .lambda = z + 3 * nv, .psi = z, .x = z, .y = z};
    rc = sources_fill(s, &p, 0.7, 1.3, 1);
    for (int e = 0; e < s->n_entries; e++)
      for (int k = 0; k < SRC_N; k++) present[e * SRC_N + k] |= s->source[k * s->n_entries + e] != 0.0;
  }
  free(z);
  return rc;
}

static int layouts_build(ida_peer *s)
{
  const int nv = s->nv, nl = s->nl, ne = s->n_entries;
  const int size[N_LAYOUTS] = {2 * nv + 2 * nl, 2 * nv + nl, nv + nl};
  int *present = calloc((size_t)ne * SRC_N, sizeof *present);
  int rc = present ? entries_sample(s, present) : -1;
  for (int k = 0; k < N_LAYOUTS && rc == 0; k++) {
    layout *lay = &s->layouts[k];
    lay->n = size[k];
    lay->max_ops = 4 * ne + 2 * nv;
    lay->ops = calloc((size_t)lay->max_ops, sizeof *lay->ops);
    lay->row = calloc((size_t)lay->max_ops, sizeof *lay->row);
    lay->col = calloc((size_t)lay->max_ops, sizeof *lay->col);
    if (!lay->ops || !lay->row || !lay->col) rc = -1;
  }
  for (int k = 0; k < IDA_N_FORMS && rc == 0; k++)
    for (int i = 0; i < nv; i++) {
      put(&s->layouts[k], i, i, SRC_N * ne, SCALE_CJ);
      put(&s->layouts[k], i, nv + i, SRC_N * ne, SCALE_MINUS);
    }
  for (int e = 0; e < ne && rc == 0; e++) entry_place(s, e, present + e * SRC_N);
  for (int k = 0; k < N_LAYOUTS && rc == 0; k++) rc = layout_finish(s, &s->layouts[k]) == GA_OK ? 0 : -1;
  free(present);
  return rc;
}

/* ---- Creation ------------------------------------------------------------------------------------------ */

static int entries_copy(ida_peer *s)
{
  const ga_system_def *def = &s->model.def;
  const int n = s->nv + s->nl;
  s->n_entries = def->n_pattern > 0 ? def->n_pattern : n * n;
  s->entry_row = calloc((size_t)s->n_entries, sizeof *s->entry_row);
  s->entry_col = calloc((size_t)s->n_entries, sizeof *s->entry_col);
  s->source = calloc((size_t)s->n_entries * SRC_N + 1, sizeof *s->source);
  if (!s->entry_row || !s->entry_col || !s->source) return -1;
  for (int e = 0; e < s->n_entries; e++) {
    s->entry_row[e] = def->n_pattern > 0 ? def->pattern_row[e] : e / n;
    s->entry_col[e] = def->n_pattern > 0 ? def->pattern_col[e] : e % n;
  }
  s->source[(size_t)s->n_entries * SRC_N] = 1.0;
  return 0;
}

ida_peer *ida_peer_create(ga_context *ctx, const ida_model *model)
{
  ida_peer *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->ctx = ctx;
  s->model = *model;
  s->nl = model->def.n_lambda;
  for (int i = 0; i < model->def.n_factors; i++) s->nv += model->def.factors[i].n;
  if (entries_copy(s) != 0 || layouts_build(s) != 0) ida_peer_destroy(&s);
  return s;
}

void ida_peer_destroy(ida_peer **peer)
{
  if (!peer || !*peer) return;
  ida_peer *s = *peer;
  for (int k = 0; k < N_LAYOUTS; k++) {
    free(s->layouts[k].ops);
    free(s->layouts[k].row);
    free(s->layouts[k].col);
    ga_sparse_destroy(s->ctx, &s->layouts[k].pattern);
  }
  free(s->entry_row);
  free(s->entry_col);
  free(s->source);
  free(s);
  *peer = NULL;
}

/* ---- IDA's callbacks ----------------------------------------------------------------------------------- */

static ga_point point_of(const ida_peer *s, double t, const double *y, const double *yp)
{
  const int nv = s->nv;
  return (ga_point){
      .t = t, .q = y, .v = y + nv, .vdot = yp + nv, .lambda = y + 2 * nv, .psi = y, .x = y, .y = y};
}

/* r = (q' − v [+ Bᵀμ], M v' − f, Φ, B v) or (…, B v' + phi_acc) */
static int ida_residual(double t, N_Vector yy, N_Vector yp, N_Vector rr, void *user)
{
  ida_peer *s = user;
  const ga_system_def *def = &s->model.def;
  const int nv = s->nv, nl = s->nl;
  const double *y = N_VGetArrayPointer(yy), *dy = N_VGetArrayPointer(yp);
  double *r = N_VGetArrayPointer(rr), *r_dyn = r + nv, *r_con = r + 2 * nv;
  const ga_point p = point_of(s, t, y, dy);
  int rc = def->force(def->user, &p, r);
  if (rc == 0) rc = def->mass(def->user, &p, r_dyn);
  for (int i = 0; i < nv; i++) r_dyn[i] -= r[i];
  if (s->form == IDA_GGL) {
    ga_point with_mu = p;
    with_mu.lambda = y + 2 * nv + nl;
    if (rc == 0) rc = s->model.reaction(def->user, &with_mu, r);
    for (int i = 0; i < nv; i++) r[i] += dy[i] - y[nv + i];
    if (rc == 0) rc = def->phi(def->user, &p, r_con);
    if (rc == 0) rc = def->phi_dot(def->user, &p, r_con + nl);
  } else {
    ga_point along = p;
    along.v = p.vdot;
    for (int i = 0; i < nv; i++) r[i] = dy[i] - y[nv + i];
    if (rc == 0) rc = def->phi_acc(def->user, &p, r_con);
    double *bv = s->source; /* not in use between Jacobians */
    if (rc == 0) rc = def->phi_dot(def->user, &along, bv);
    for (int i = 0; i < nl; i++) r_con[i] += bv[i];
  }
  return rc;
}

static int ida_jacobian(double t, double cj, N_Vector yy, N_Vector yp, N_Vector rr, SUNMatrix J, void *user,
                        N_Vector w1, N_Vector w2, N_Vector w3)
{
  (void)rr, (void)w1, (void)w2, (void)w3;
  ida_peer *s = user;
  const ga_point p = point_of(s, t, N_VGetArrayPointer(yy), N_VGetArrayPointer(yp));
  const int rc = sources_fill(s, &p, 1.0, cj, s->form == IDA_INDEX1);
  if (rc == 0) matrix_fill(J, s, s->in_use, cj);
  return rc;
}

/* ---- Run ----------------------------------------------------------------------------------------------- */

typedef struct workspace { /* what one run owns */
  SUNContext sun;
  N_Vector y, yp, id, atol, b;
  SUNMatrix A, A0;
  SUNLinearSolver ls, ls0;
  void *ida;
} workspace;

static void workspace_free(workspace *w)
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

static int workspace_create(workspace *w, const ida_peer *s, const layout *lay, int ordering)
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
  w->A = SUNSparseMatrix(lay->n, lay->n, lay->pattern->nnz, CSC_MAT, w->sun);
  w->A0 = SUNSparseMatrix(start->n, start->n, start->pattern->nnz, CSC_MAT, w->sun);
  if (!w->b || !w->A || !w->A0) return -1;
  w->ls = SUNLinSol_KLU(w->y, w->A, w->sun);
  w->ls0 = SUNLinSol_KLU(w->b, w->A0, w->sun);
  w->ida = IDACreate(w->sun);
  if (!w->ls || !w->ls0 || !w->ida) return -1;
  return SUNLinSol_KLUSetOrdering(w->ls, ordering);
}

/* Consistent y and y': [M Bᵀ; B 0] (v', λ) = (f at λ = 0, −phi_acc), q' = v, μ = 0. */
static int values_start(workspace *w, ida_peer *s)
{
  const ga_system_def *def = &s->model.def;
  const int nv = s->nv, nl = s->nl;
  double *y = N_VGetArrayPointer(w->y), *yp = N_VGetArrayPointer(w->yp), *b = N_VGetArrayPointer(w->b);
  memcpy(y, s->model.q0, (size_t)nv * sizeof *y);
  memcpy(y + nv, s->model.v0, (size_t)nv * sizeof *y);
  memcpy(yp, s->model.v0, (size_t)nv * sizeof *y);
  const ga_point p = point_of(s, 0.0, y, yp);
  int rc = sources_fill(s, &p, 0.0, 1.0, 0);
  if (rc != 0) return rc;
  matrix_fill(w->A0, s, &s->layouts[LAYOUT_START], 0.0);
  rc = def->force(def->user, &p, b);
  if (rc == 0) rc = def->phi_acc(def->user, &p, b + nv);
  for (int i = 0; i < nl; i++) b[nv + i] = -b[nv + i];
  if (rc == 0) rc = SUNLinSolInitialize(w->ls0);
  if (rc == 0) rc = SUNLinSolSetup(w->ls0, w->A0);
  if (rc == 0) rc = SUNLinSolSolve(w->ls0, w->A0, w->b, w->b, 0.0);
  memcpy(yp + nv, b, (size_t)nv * sizeof *b);
  memcpy(y + 2 * nv, b + nv, (size_t)nl * sizeof *b);
  return rc;
}

static int integrator_set(workspace *w, ida_peer *s, const ida_opts *o, double t_end)
{
  double *id = N_VGetArrayPointer(w->id), *atol = N_VGetArrayPointer(w->atol);
  for (int i = 0; i < s->in_use->n; i++) {
    id[i] = i < 2 * s->nv ? 1.0 : 0.0;
    atol[i] = o->tol * (i < s->nv ? 1.0 : i < 2 * s->nv ? o->v_atol : o->lambda_atol);
  }
  int rc = IDAInit(w->ida, ida_residual, 0.0, w->y, w->yp);
  if (rc == 0) rc = IDASVtolerances(w->ida, o->tol, w->atol);
  if (rc == 0) rc = IDASetErrFile(w->ida, NULL); /* failures show in the table */
  if (rc == 0 && o->first_step > 0.0) rc = IDASetInitStep(w->ida, o->first_step);
  if (rc == 0) rc = IDASetUserData(w->ida, s);
  if (rc == 0) rc = IDASetId(w->ida, w->id);
  if (rc == 0) rc = IDASetSuppressAlg(w->ida, o->suppress);
  if (rc == 0) rc = IDASetMaxOrd(w->ida, o->max_order);
  if (rc == 0) rc = IDASetMaxNumSteps(w->ida, 10000000L);
  if (rc == 0) rc = IDASetStopTime(w->ida, t_end);
  if (rc == 0) rc = IDASetLinearSolver(w->ida, w->ls, w->A);
  if (rc == 0) rc = IDASetJacFn(w->ida, ida_jacobian);
  return rc;
}

int ida_peer_run(ida_peer *s, const ida_opts *o, double t_end, double *q, ida_counts *n)
{
  workspace w = {0};
  s->form = o->form;
  s->in_use = &s->layouts[o->form];
  int rc = workspace_create(&w, s, s->in_use, o->ordering);
  if (rc == 0) rc = values_start(&w, s);
  if (rc == 0) rc = integrator_set(&w, s, o, t_end);
  double t = 0.0;
  if (rc == 0) rc = IDASolve(w.ida, t_end, &t, w.y, w.yp, IDA_NORMAL);
  if (rc >= 0) {
    rc = t == t_end ? 0 : -1;
    memcpy(q, N_VGetArrayPointer(w.y), (size_t)s->nv * sizeof *q);
    IDAGetNumSteps(w.ida, &n->steps);
    IDAGetNumResEvals(w.ida, &n->residuals);
    IDAGetNumJacEvals(w.ida, &n->jacobians);
    IDAGetNumNonlinSolvIters(w.ida, &n->iterations);
    IDAGetNumErrTestFails(w.ida, &n->error_failures);
    IDAGetNumNonlinSolvConvFails(w.ida, &n->convergence_failures);
  }
  workspace_free(&w);
  return rc;
}

#endif
