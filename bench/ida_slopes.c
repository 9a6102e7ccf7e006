#include "ida_peer.h"

#ifndef HAVE_SUNDIALS

int ida_peer_forward(ida_peer *peer, const ida_opts *opts, const ida_slopes *what, double t_end,
                     double *slope, ida_counts *counts)
{
  (void)peer, (void)opts, (void)what, (void)t_end, (void)slope, (void)counts;
  return -1;
}

int ida_peer_adjoint(ida_peer *peer, const ida_opts *opts, const ida_slopes *what, double t_end,
                     int coordinate, double *gradient, ida_counts *counts)
{
  (void)peer, (void)opts, (void)what, (void)t_end, (void)coordinate, (void)gradient, (void)counts;
  return -1;
}

#else

#include "ida_impl.h"

#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>

/* F(t, y, y', p) = 0 along the run: F_y and F_y' over the places of the form's matrix, kept while t, y, y'
 * are the same, since both passes ask for them several times at one point. */
typedef struct linear {
  ida_peer *s;
  const ida_slopes *what;
  int n, nnz, valid;
  double t, *y, *yp;      /* [n] where they are from */
  double *mass;           /* [entries] of the model: ∂(M v' − f)/∂v' */
  double *by_y, *by_rate; /* [nnz] */
  double *rates;          /* [n] ∂r/∂p */
  double *typical;        /* [parameters] */
} linear;

static int linear_create(linear *a, ida_peer *s, const ida_slopes *what)
{
  const layout *lay = s->in_use;
  const size_t n = (size_t)lay->n, nnz = (size_t)lay->pattern->nnz;
  *a = (linear){.s = s, .what = what, .n = lay->n, .nnz = lay->pattern->nnz};
  double *all = calloc(3 * n + (size_t)(s->n_entries + what->n) + 2 * nnz, sizeof *all);
  if (!all) return -1;
  a->y = all;
  a->yp = a->y + n;
  a->rates = a->yp + n;
  a->mass = a->rates + n;
  a->by_y = a->mass + s->n_entries;
  a->by_rate = a->by_y + nnz;
  a->typical = a->by_rate + nnz;
  return 0;
}

static void linear_destroy(linear *a)
{
  free(a->y);
}

/* D = shift_v C + shift_vdot M in the columns of v, and free of shifts in the others: the model's Jacobian at
 * (0, 1) gives M, at (1, 0) everything else of F_y. */
static int linear_update(linear *a, double t, const double *y, const double *yp)
{
  const size_t bytes = (size_t)a->n * sizeof *y;
  if (a->valid && t == a->t && memcmp(y, a->y, bytes) == 0 && memcmp(yp, a->yp, bytes) == 0) return 0;
  ida_peer *s = a->s;
  const layout *lay = s->in_use;
  const ga_point p = ida_point(s, t, y, yp);
  a->valid = 0;
  int rc = ida_sources_fill(s, &p, 0.0, 1.0, 0);
  if (rc != 0) return rc;
  memcpy(a->mass, s->source, (size_t)s->n_entries * sizeof *a->mass);
  rc = ida_sources_fill(s, &p, 1.0, 0.0, s->form == IDA_INDEX1 && s->nl > 0);
  if (rc != 0) return rc;
  if (s->n_quats > 0) ida_quats_fill(s, y, p.v);
  memset(a->by_y, 0, (size_t)a->nnz * sizeof *a->by_y);
  memset(a->by_rate, 0, (size_t)a->nnz * sizeof *a->by_rate);
  for (int o = 0; o < lay->n_ops; o++) {
    const op *x = &lay->ops[o];
    if (x->scale == SCALE_CJ)
      a->by_rate[x->place] += s->source[x->index];
    else
      a->by_y[x->place] += s->scale[x->scale] * s->source[x->index];
    if (x->index < s->n_entries && s->entry_col[x->index] < s->nv)
      a->by_rate[x->place] += s->scale[x->scale] * a->mass[x->index];
  }
  memcpy(a->y, y, bytes);
  memcpy(a->yp, yp, bytes);
  a->t = t;
  a->valid = 1;
  return 0;
}

/* out := ∂F/∂p of parameter i: rows of M v' − f, Φ, −s, −o as the model has them. */
static int slope_by_parameter(linear *a, const ga_point *p, int i, double *out)
{
  ga_parameter_rates rates = {.residual = out + a->s->nq};
  memset(out, 0, (size_t)a->n * sizeof *out);
  return a->what->derivative(a->what->user, p, i, &rates);
}

/* ---- Forwards -------------------------------------------------------------------------------------------
 */

/* F_y s_i + F_y' s_i' + F_p of all parameters at once */
static int forward_residual(int n, realtype t, N_Vector yy, N_Vector yp, N_Vector r, N_Vector *yS,
                            N_Vector *ypS, N_Vector *rS, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
  (void)r, (void)w1, (void)w2, (void)w3;
  linear *a = ((ida_peer *)user)->linear;
  const ga_sparse *pattern = a->s->in_use->pattern;
  const double *y = N_VGetArrayPointer(yy), *dy = N_VGetArrayPointer(yp);
  int rc = linear_update(a, t, y, dy);
  const ga_point p = ida_point(a->s, t, y, dy);
  for (int i = 0; i < n && rc == 0; i++) {
    const double *s = N_VGetArrayPointer(yS[i]), *ds = N_VGetArrayPointer(ypS[i]);
    double *out = N_VGetArrayPointer(rS[i]);
    rc = slope_by_parameter(a, &p, i, out);
    for (int c = 0; c < a->n; c++)
      for (int e = pattern->col_start[c]; e < pattern->col_start[c + 1]; e++)
        out[pattern->row[e]] += a->by_y[e] * s[c] + a->by_rate[e] * ds[c];
  }
  return rc;
}

/* The same as of the run: q and v do not depend on p, and [M Bᵀ; B 0] (v', λ)_p = −F_p beside x', y. */
static int forward_start(ida_workspace *w, linear *a, N_Vector *yS, N_Vector *ypS)
{
  ida_peer *s = a->s;
  const int nq = s->nq, nv = s->nv, at_x = s->at_x, n = s->at_mu - nq;
  double *b = N_VGetArrayPointer(w->b);
  const ga_point p = ida_point(s, 0.0, N_VGetArrayPointer(w->y), N_VGetArrayPointer(w->yp));
  int rc = 0;
  for (int i = 0; i < a->what->n && rc == 0; i++) {
    double *y = N_VGetArrayPointer(yS[i]), *yp = N_VGetArrayPointer(ypS[i]);
    N_VConst(0.0, yS[i]);
    N_VConst(0.0, ypS[i]);
    rc = slope_by_parameter(a, &p, i, a->rates);
    for (int k = 0; k < n; k++) b[k] = -a->rates[nq + k];
    if (rc == 0) rc = SUNLinSolSolve(w->ls0, w->A0, w->b, w->b, 0.0);
    memcpy(yp + nq, b, (size_t)nv * sizeof *b);
    memcpy(y + nq + nv, b + nv, (size_t)s->nl * sizeof *b);
    memcpy(yp + at_x, b + at_x - nq, (size_t)s->nx * sizeof *b);
    memcpy(y + s->at_y, b + s->at_y - nq, (size_t)s->ny * sizeof *b);
  }
  return rc;
}

/* δ = P δq, in the algebra */
static void slope_get(ida_peer *s, const double *q, const double *v, const double *by_p, double *out)
{
  if (s->n_quats > 0) ida_quats_fill(s, q, v);
  for (int c = 0; c < s->nv; c++) {
    out[c] = 0.0;
    for (int l = s->first_tie[c]; l < s->first_tie[c + 1]; l++)
      out[c] += s->scale[s->ties[l].p] * by_p[s->ties[l].q];
  }
}

static int forward_set(ida_workspace *w, linear *a, N_Vector *yS, N_Vector *ypS)
{
  const ida_slopes *what = a->what;
  int rc = forward_start(w, a, yS, ypS);
  for (int i = 0; i < what->n; i++) a->typical[i] = what->typical;
  if (rc == 0)
    rc = IDASensInit(w->ida, what->n, what->staggered ? IDA_STAGGERED : IDA_SIMULTANEOUS, forward_residual,
                     yS, ypS);
  if (rc == 0) rc = IDASetSensParams(w->ida, NULL, a->typical, NULL);
  if (rc == 0) rc = IDASensEEtolerances(w->ida);
  return rc == 0 ? IDASetSensErrCon(w->ida, what->in_error_test) : rc;
}

int ida_peer_forward(ida_peer *s, const ida_opts *o, const ida_slopes *what, double t_end, double *slope,
                     ida_counts *n)
{
  ida_workspace w = {0};
  linear a = {0};
  N_Vector *yS = NULL, *ypS = NULL;
  double t = 0.0;
  int rc = ida_begin(&w, s, o, t_end);
  if (rc == 0) rc = linear_create(&a, s, what);
  if (rc == 0) {
    s->linear = &a;
    yS = N_VCloneVectorArray(what->n, w.y);
    ypS = N_VCloneVectorArray(what->n, w.y);
    rc = yS && ypS ? forward_set(&w, &a, yS, ypS) : -1;
  }
  if (rc == 0) rc = IDASolve(w.ida, t_end, &t, w.y, w.yp, IDA_NORMAL);
  if (rc >= 0) rc = t == t_end ? IDAGetSens(w.ida, &t, yS) : -1;
  if (rc == 0) {
    const double *y = N_VGetArrayPointer(w.y);
    for (int i = 0; i < what->n; i++)
      slope_get(s, y, y + s->nq, N_VGetArrayPointer(yS[i]), slope + i * s->nv);
    ida_counts_get(&w, n);
  }
  if (yS) N_VDestroyVectorArray(yS, what->n);
  if (ypS) N_VDestroyVectorArray(ypS, what->n);
  linear_destroy(&a);
  s->linear = NULL;
  ida_workspace_free(&w);
  return rc;
}

/* ---- Backwards ------------------------------------------------------------------------------------------
 */

/* Of the number g(q(T)), with the multipliers λ of all rows of F and w = F_v'ᵀ λ:
 *
 *   λ_q' = F_qᵀ λ,   w' = F_vᵀ λ,   λ_x' = F_xᵀ λ,   0 = F_aᵀ λ (a: λ and y of the run),   0 = w − F_v'ᵀ λ
 *   λ_q(T) = g_q,   all others 0;      dg/dp = −∫ λᵀ F_p dt
 *
 * since F_q' = 1 and F_x' = 1 in their own rows. In the index-1 form of the run this has index 1, and F_v'
 * holds M and B. The unknowns are (λ, w); the row of a column of F is its number, those of w's definition
 * come last. */
enum { BACK_ONE, BACK_MINUS, BACK_CJ, BACK_N };

typedef struct backward {
  linear a;
  layout lay;
  double *source; /* [nnz] F_y, [nnz] F_y', 1 */
  double scale[BACK_N];
  int which;
  SUNMatrix A;
  SUNLinearSolver ls;
  N_Vector y, yp, id, atol, gradient;
} backward;

static int is_rate(const ida_peer *s, int c) /* whether column c is one of v */
{
  return c >= s->nq && c < s->nq + s->nv;
}

static int is_algebraic(const ida_peer *s, int c)
{
  return c >= s->nq + s->nv && !(c >= s->at_x && c < s->at_y);
}

static int backward_layout(backward *b)
{
  ida_peer *s = b->a.s;
  const ga_sparse *pattern = s->in_use->pattern;
  const int n = b->a.n, nnz = b->a.nnz, one = 2 * nnz;
  if (ida_layout_create(&b->lay, n + s->nv, 2 * nnz + n + s->nv) != 0) return -1;
  for (int c = 0; c < n; c++) {
    for (int e = pattern->col_start[c]; e < pattern->col_start[c + 1]; e++) {
      ida_put(&b->lay, c, pattern->row[e], e, is_algebraic(s, c) ? BACK_ONE : BACK_MINUS);
      if (is_rate(s, c)) ida_put(&b->lay, n + c - s->nq, pattern->row[e], nnz + e, BACK_MINUS);
    }
    if (!is_algebraic(s, c)) ida_put(&b->lay, c, is_rate(s, c) ? n + c - s->nq : c, one, BACK_CJ);
  }
  for (int i = 0; i < s->nv; i++) ida_put(&b->lay, n + i, n + i, one, BACK_ONE);
  return ida_layout_finish(s, &b->lay) == GA_OK ? 0 : -1;
}

/* F_yᵀ λ at column c, and F_y'ᵀ λ */
static double column_by(const backward *b, const double *value, int c, const double *lambda)
{
  const ga_sparse *pattern = b->a.s->in_use->pattern;
  double sum = 0.0;
  for (int e = pattern->col_start[c]; e < pattern->col_start[c + 1]; e++)
    sum += value[e] * lambda[pattern->row[e]];
  return sum;
}

static int backward_residual(realtype t, N_Vector yy, N_Vector yp, N_Vector yB, N_Vector ypB, N_Vector rB,
                             void *user)
{
  backward *b = user;
  ida_peer *s = b->a.s;
  const int n = b->a.n;
  const double *l = N_VGetArrayPointer(yB), *dl = N_VGetArrayPointer(ypB), *w = l + n, *dw = dl + n;
  double *r = N_VGetArrayPointer(rB);
  const int rc = linear_update(&b->a, t, N_VGetArrayPointer(yy), N_VGetArrayPointer(yp));
  if (rc != 0) return rc;
  for (int c = 0; c < n; c++) {
    const double by = column_by(b, b->a.by_y, c, l);
    r[c] = is_algebraic(s, c) ? by : (is_rate(s, c) ? dw[c - s->nq] : dl[c]) - by;
  }
  for (int i = 0; i < s->nv; i++) r[n + i] = w[i] - column_by(b, b->a.by_rate, s->nq + i, l);
  return 0;
}

static int backward_jacobian(realtype t, realtype cj, N_Vector yy, N_Vector yp, N_Vector yB, N_Vector ypB,
                             N_Vector rB, SUNMatrix J, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
  (void)yB, (void)ypB, (void)rB, (void)w1, (void)w2, (void)w3;
  backward *b = user;
  const int rc = linear_update(&b->a, t, N_VGetArrayPointer(yy), N_VGetArrayPointer(yp));
  if (rc != 0) return rc;
  memcpy(b->source, b->a.by_y, (size_t)b->a.nnz * sizeof *b->source);
  memcpy(b->source + b->a.nnz, b->a.by_rate, (size_t)b->a.nnz * sizeof *b->source);
  b->scale[BACK_CJ] = cj;
  ida_matrix_fill(J, &b->lay, b->source, b->scale);
  return 0;
}

/* λᵀ F_p: going backwards the integral from T to 0 is −∫ */
static int backward_integrand(realtype t, N_Vector yy, N_Vector yp, N_Vector yB, N_Vector ypB, N_Vector out,
                              void *user)
{
  (void)ypB;
  backward *b = user;
  const ga_point p = ida_point(b->a.s, t, N_VGetArrayPointer(yy), N_VGetArrayPointer(yp));
  const ga_pullback by = {.begin = &p, .end = &p, .residual = N_VGetArrayPointer(yB) + b->a.s->nq};
  N_VConst(0.0, out);
  return b->a.what->pullback(b->a.what->user, &by, N_VGetArrayPointer(out));
}

static int backward_create(backward *b, ida_workspace *w, ida_peer *s, const ida_opts *o,
                           const ida_slopes *what)
{
  if (linear_create(&b->a, s, what) != 0 || backward_layout(b) != 0) return -1;
  b->source = calloc(2 * (size_t)b->a.nnz + 1, sizeof *b->source);
  N_Vector *v[] = {&b->y, &b->yp, &b->id, &b->atol};
  for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
    *v[i] = N_VNew_Serial(b->lay.n, w->sun);
    if (!*v[i]) return -1;
    N_VConst(0.0, *v[i]);
  }
  b->gradient = N_VNew_Serial(what->n, w->sun);
  b->A = ida_matrix_create(&b->lay, o->solver, w->sun);
  if (!b->source || !b->gradient || !b->A) return -1;
  N_VConst(0.0, b->gradient);
  b->ls = ida_solver_create(b->y, b->A, o->solver, w->sun);
  b->source[2 * b->a.nnz] = 1.0;
  b->scale[BACK_ONE] = 1.0, b->scale[BACK_MINUS] = -1.0;
  return b->ls ? 0 : -1;
}

static void backward_free(backward *b)
{
  if (b->ls) SUNLinSolFree(b->ls);
  if (b->A) SUNMatDestroy(b->A);
  N_Vector v[] = {b->y, b->yp, b->id, b->atol, b->gradient};
  for (size_t i = 0; i < sizeof v / sizeof *v; i++)
    if (v[i]) N_VDestroy(v[i]);
  if (b->a.s) ida_layout_free(b->a.s, &b->lay);
  free(b->source);
  linear_destroy(&b->a);
}

/* Values at T, and tolerances: λ_q is of the size of g_q = 1, w of that of T, and λ as the gradient over T.
 */
static int backward_start(backward *b, const ida_workspace *w, const ida_opts *o, double t_end,
                          int coordinate)
{
  ida_peer *s = b->a.s;
  const int n = b->a.n;
  double *y = N_VGetArrayPointer(b->y), *yp = N_VGetArrayPointer(b->yp), *id = N_VGetArrayPointer(b->id);
  double *atol = N_VGetArrayPointer(b->atol);
  const int rc = linear_update(&b->a, t_end, N_VGetArrayPointer(w->y), N_VGetArrayPointer(w->yp));
  if (rc != 0) return rc;
  y[coordinate] = 1.0;
  for (int c = 0; c < n + s->nv; c++) {
    const int is_lambda = c < n && (is_rate(s, c) || is_algebraic(s, c));
    id[c] = is_lambda ? 0.0 : 1.0;
    atol[c] = o->tol * (is_lambda ? b->a.what->typical_gradient / t_end : c < n ? 1.0 : t_end);
  }
  for (int c = 0; c < n; c++)
    if (!is_algebraic(s, c)) yp[is_rate(s, c) ? n + c - s->nq : c] = column_by(b, b->a.by_y, c, y);
  return 0;
}

static int backward_set(backward *b, const ida_workspace *w, const ida_opts *o, double t_end, int coordinate)
{
  void *ida = w->ida;
  const ida_slopes *what = b->a.what;
  int rc = backward_start(b, w, o, t_end, coordinate);
  if (rc == 0) rc = IDACreateB(ida, &b->which);
  if (rc == 0) rc = IDAInitB(ida, b->which, backward_residual, t_end, b->y, b->yp);
  if (rc == 0) rc = IDASVtolerancesB(ida, b->which, o->tol, b->atol);
  if (rc == 0) rc = IDASetUserDataB(ida, b->which, b);
  if (rc == 0) rc = IDASetIdB(ida, b->which, b->id);
  if (rc == 0) rc = IDASetSuppressAlgB(ida, b->which, o->suppress);
  if (rc == 0) rc = IDASetMaxOrdB(ida, b->which, o->max_order);
  if (rc == 0) rc = IDASetMaxNumStepsB(ida, b->which, IDA_MOST_STEPS);
  if (rc == 0) rc = IDASetLinearSolverB(ida, b->which, b->ls, b->A);
  if (rc == 0) rc = IDASetJacFnB(ida, b->which, backward_jacobian);
  if (rc == 0) rc = IDAQuadInitB(ida, b->which, backward_integrand, b->gradient);
  if (rc == 0) rc = IDAQuadSStolerancesB(ida, b->which, o->tol, o->tol * what->typical_gradient);
  return rc == 0 ? IDASetQuadErrConB(ida, b->which, what->in_error_test) : rc;
}

int ida_peer_adjoint(ida_peer *s, const ida_opts *opts, const ida_slopes *what, double t_end, int coordinate,
                     double *gradient, ida_counts *n)
{
  ida_workspace w = {0};
  backward b = {0};
  ida_opts o = *opts;
  double t = 0.0;
  int checkpoints = 0;
  o.form = IDA_INDEX1;
  int rc = ida_begin(&w, s, &o, t_end);
  if (rc == 0) rc = IDAAdjInit(w.ida, what->interval, what->polynomial ? IDA_POLYNOMIAL : IDA_HERMITE);
  if (rc == 0) rc = IDASolveF(w.ida, t_end, &t, w.y, w.yp, IDA_NORMAL, &checkpoints);
  if (rc >= 0) rc = t == t_end ? backward_create(&b, &w, s, &o, what) : -1;
  if (rc == 0) rc = backward_set(&b, &w, &o, t_end, coordinate);
  if (rc == 0) rc = IDASolveB(w.ida, 0.0, IDA_NORMAL);
  if (rc >= 0) rc = IDAGetQuadB(w.ida, b.which, &t, b.gradient);
  if (rc == 0) {
    memcpy(gradient, N_VGetArrayPointer(b.gradient), (size_t)what->n * sizeof *gradient);
    ida_counts_get(&w, n);
  }
  ida_workspace_free(&w); /* first: IDA refers to what the way back owns */
  backward_free(&b);
  return rc;
}

#endif
