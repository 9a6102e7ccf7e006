/* Linear equations of small motions about a point, in first order and without constraints.
 *
 *   δq = N z1                     N: null space of B
 *   δv = Z z2 + P N z1            Z: null space of J = [B; k_v],  P = −J⁺ [D_q(B v + Φ_t); D_q k]
 *   (δλ, δψ) = Y μ                Y: the multipliers that forces depend on
 *   z1' = Nᵀ (δv − [v, δq])
 *   M (Z z2' + P N z1') + C δv + K δq + r_λ Y μ + r_x δx + r_y δy = 0
 *
 * and the same for the states, + δx', and for the outputs.
 * The last equations are solved for z2', μ, δx' and δy, for every unit vector of z = (z1, z2, δx, w) and of
 * the inputs δu, which stand on their right-hand sides. An offset w of a constraint, B δq = w e or J δv + ...
 * = w' e, adds
 *
 *   δq += Q w, Q = B⁺e;   δv += P Q w + V w', V = J⁺e;   δvdot += P Q w' + V w'',   NᵀQ = 0
 *
 * with states w and w' of Φ, w of k (V w then, and V w' in δvdot). Rows of B
 * and J are divided by their lengths, multipliers scaled likewise. */
#include "core/sample.h"
#include "core/arrays.h"
#include "core/derivative.h"
#include "core/evaluate.h"
#include "core/kink.h"
#include "core/linearise.h"
#include "core/steady.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* Singular values below this part of the largest are zero. */
#define RANK_TOLERANCE 1e-9
/* Redundant hidden constraints may differ by this part. */
#define CONTRADICTION 1e-6
enum { MOST = 5000 }; /* limit of the equations: matrices are dense here */

struct ga_linearisation {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  ga_evaluation *ev, *later; /* at the point, and a short time later */
  int m, n_rows;             /* constraints; dynamics, states and outputs together */
  ga__kink_test kink;
  ga__svd B, J, F;
  double *block;               /* of the arrays below */
  double *dense;               /* [m][nv] */
  double *length, *reach;      /* [m] of the rows of J; of the columns of r_λ */
  double *rate, *product, *z1; /* [m], [n], [nv] */
  double *residual;            /* [n] */
  double *q, *v, *x;           /* of the later point */
  ga_sparse *W;                /* the matrix of (z2', μ, δx', δy) */
  ga_lu *lu;
  double *u; /* [n_rows] these */
  double *form_A, *form_q, *form_v, *form_vdot, *form_multipliers, *form_y;
  double *form_B, *form_u_vdot, *form_u_multipliers, *form_u_y;
  int n_u, n_w;
  ga_linear_input *input; /* [n_u] */
  int *w;                 /* [n_u] first state of an input behind z1, z2 and δx; −1: none */
  int *form_w;            /* [n_u] the same within z */
  ga_linear_form form;
};

/* ---- Memory ---- */

static ga_status take_memory(ga_linearisation *l)
{
  const ga_system *sys = l->sys;
  const size_t nv = (size_t)sys->nv, m = (size_t)l->m,
               most = 2 * nv + (size_t)(sys->size[GA_BLOCK_X] + l->n_w), n_u = (size_t)l->n_u;
  const ga__array need[] = {{&l->dense, m * nv},
                            {&l->length, m},
                            {&l->reach, m},
                            {&l->rate, m},
                            {&l->product, (size_t)sys->n},
                            {&l->z1, nv},
                            {&l->residual, (size_t)(sys->n + sys->size[GA_BLOCK_LAMBDA])},
                            {&l->q, (size_t)sys->nq},
                            {&l->v, nv},
                            {&l->x, (size_t)sys->size[GA_BLOCK_X]},
                            {&l->u, (size_t)l->n_rows},
                            {&l->form_A, most * most},
                            {&l->form_q, most * nv},
                            {&l->form_v, most * nv},
                            {&l->form_vdot, most * nv},
                            {&l->form_multipliers, most * m},
                            {&l->form_y, most * (size_t)sys->size[GA_BLOCK_Y]},
                            {&l->form_B, n_u * most},
                            {&l->form_u_vdot, n_u * nv},
                            {&l->form_u_multipliers, n_u * m},
                            {&l->form_u_y, n_u * (size_t)sys->size[GA_BLOCK_Y]}};
  return ga__arrays_create(l->ctx, GA__ARRAYS(need), "a linearisation", &l->block, NULL);
}

/* Number of states of an input: its offset, and the rate of the offset. */
static int states_of(const ga_linear_input *input)
{
  return input->block == GA_BLOCK_LAMBDA ? 2 : input->block == GA_BLOCK_PSI ? 1 : 0;
}

static ga_status copy_inputs(ga_linearisation *l, int n, const ga_linear_input *inputs)
{
  l->n_u = n;
  l->input = ga__alloc(l->ctx, (size_t)n, sizeof *l->input);
  l->w = ga__alloc(l->ctx, 2 * (size_t)n, sizeof *l->w);
  if (!l->input || !l->w) return ga__no_memory(l->ctx, "inputs of a linearisation");
  l->form_w = l->w + n;
  for (int i = 0; i < n; i++) {
    const int block = (int)inputs[i].block, known = block >= GA_BLOCK_V && block < GA_N_BLOCKS;
    const int size = known ? l->sys->size[block] : 0;
    if (inputs[i].index < 0 || inputs[i].index >= size)
      return ga__refuse(l->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_EQUATION,
                        &(ga__facts){.function = "ga_linearisation_create_with_inputs",
                                     .field = "inputs",
                                     .item = i + 1,
                                     GA__NUMBERS({inputs[i].index, NULL}, {block, NULL}, {size, NULL})});
    l->input[i] = inputs[i];
    l->w[i] = states_of(&inputs[i]) ? l->n_w : -1;
    l->n_w += states_of(&inputs[i]);
  }
  return GA_OK;
}

/* A matrix with all entries, by columns. */
static ga_status create_full(ga_context *ctx, int n, ga_sparse **out)
{
  const size_t entries = (size_t)n * (size_t)n;
  int *row = ga__alloc(ctx, entries, sizeof *row), *col = ga__alloc(ctx, entries, sizeof *col);
  ga_status status = row && col ? GA_OK : ga__no_memory(ctx, "a linearisation");
  for (int e = 0; !status && e < n * n; e++) row[e] = e % n, col[e] = e / n;
  if (!status) status = ga_sparse_create(ctx, n, n, n * n, row, col, NULL, out);
  ga__free(ctx, row);
  ga__free(ctx, col);
  return status;
}

static ga_status build(ga_linearisation *l)
{
  const ga_system *sys = l->sys;
  ga_status status = ga_evaluation_create(l->ctx, sys, &l->ev);
  if (!status) status = ga__evaluation_create_like(l->ev, &l->later);
  if (!status) status = ga__kink_create(l->ctx, sys, l->ev, 4, 1, &l->kink);
  if (!status) status = ga__svd_create(l->ctx, sys->size[GA_BLOCK_LAMBDA], sys->nv, &l->B);
  if (!status) status = ga__svd_create(l->ctx, l->m, sys->nv, &l->J);
  if (!status) status = ga__svd_create(l->ctx, sys->nv, l->m, &l->F);
  if (!status) status = create_full(l->ctx, l->n_rows, &l->W);
  if (!status) status = ga_lu_create(l->ctx, l->W, GA_LU_DENSE, &l->lu);
  return status ? status : take_memory(l);
}

ga_status ga_linearisation_create(ga_context *ctx, const ga_system *sys, ga_linearisation **out)
{
  return ga_linearisation_create_with_inputs(ctx, sys, 0, NULL, out);
}

ga_status ga_linearisation_create_with_inputs(ga_context *ctx, const ga_system *sys, int n_inputs,
                                              const ga_linear_input *inputs, ga_linearisation **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys) return ga__refuse_null(ctx, __func__, out ? "sys" : "out");
  if (n_inputs > 0 && !inputs) return ga__refuse_null(ctx, __func__, "inputs");
  if (ga__refuse_samples(ctx, sys, __func__)) return GA_ERR_ARGUMENT;
  if (sys->n > MOST)
    return ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
        &(ga__facts){.function = __func__,
                     .field = "equations",
                     .detail = "linearisations are dense; the matrices of ga_evaluation are sparse",
                     GA__NUMBERS({sys->n, NULL}, {MOST, NULL})});
  ga_linearisation *l = ga__alloc(ctx, 1, sizeof *l);
  if (!l) return ga__no_memory(ctx, "a linearisation");
  l->ctx = ctx;
  l->sys = sys;
  l->m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  l->n_rows = sys->n - l->m;
  ga_status status = copy_inputs(l, n_inputs > 0 ? n_inputs : 0, inputs);
  if (!status) status = build(l);
  if (status)
    ga_linearisation_destroy(&l);
  else
    *out = l;
  return status;
}

void ga_linearisation_destroy(ga_linearisation **out)
{
  if (!out || !*out) return;
  ga_linearisation *l = *out;
  ga_evaluation_destroy(&l->ev);
  ga_evaluation_destroy(&l->later);
  ga__kink_destroy(&l->kink);
  ga__svd_destroy(&l->B);
  ga__svd_destroy(&l->J);
  ga__svd_destroy(&l->F);
  ga_lu_destroy(&l->lu);
  ga_sparse_destroy(l->ctx, &l->W);
  ga__free(l->ctx, l->input);
  ga__free(l->ctx, l->w);
  ga__free(l->ctx, l->block);
  ga__free(l->ctx, l);
  *out = NULL;
}

/* ---- Constraints ---- */

static const ga_sparse *matrix(const ga_linearisation *l, ga_equation_block equations, ga_by by)
{
  return ga_evaluation_matrix(l->ev, equations, by);
}

/* Rows of A into `dense`, from row `first` on. */
static void copy_rows(ga_linearisation *l, int first, const ga_sparse *A)
{
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++)
      l->dense[(size_t)(first + A->row[p]) * (size_t)A->cols + (size_t)c] = A->value[p];
}

/* Columns of A into those of `dense`, [nv][m], from column `first` on. */
static void copy_columns(ga_linearisation *l, int first, const ga_sparse *A)
{
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++)
      l->dense[(size_t)A->row[p] * (size_t)l->m + (size_t)(first + c)] = A->value[p];
}

/* size[m] := lengths of the rows of `dense`, or of its columns, which are divided by them. */
static void normalise(ga_linearisation *l, int by_columns, double *size)
{
  const size_t nv = (size_t)l->sys->nv, m = (size_t)l->m;
  for (size_t i = 0; i < m; i++) {
    double *a = l->dense + (by_columns ? i : i * nv), sum = 0.0;
    const size_t stride = by_columns ? m : 1;
    for (size_t k = 0; k < nv; k++) sum = hypot(sum, a[k * stride]);
    size[i] = sum > 0.0 ? sum : 1.0;
    for (size_t k = 0; k < nv; k++) a[k * stride] /= size[i];
  }
}

static void clear(double *a, size_t n)
{
  memset(a, 0, n * sizeof *a);
}

static ga_status find_spaces(ga_linearisation *l, const ga_point *p)
{
  const ga_system *sys = l->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA];
  const size_t numbers = (size_t)l->m * (size_t)sys->nv;
  clear(l->dense, numbers);
  copy_columns(l, 0, matrix(l, GA_BLOCK_V, GA_BY_LAMBDA));
  copy_columns(l, nl, matrix(l, GA_BLOCK_V, GA_BY_PSI));
  normalise(l, 1, l->reach);
  ga_status status = ga__svd_compute(&l->F, l->dense, RANK_TOLERANCE);
  clear(l->dense, numbers);
  copy_rows(l, 0, matrix(l, GA_BLOCK_LAMBDA, GA_BY_Q));
  copy_rows(l, nl, matrix(l, GA_BLOCK_PSI, GA_BY_V));
  normalise(l, 0, l->length);
  if (!status) status = ga__svd_compute(&l->B, l->dense, RANK_TOLERANCE);
  if (!status) status = ga__svd_compute(&l->J, l->dense, RANK_TOLERANCE);
  if (status || l->F.rank == l->J.rank) return status;
  return ga__refuse(l->ctx, GA_ERR_SINGULAR, GA_REASON_FORCES_MISS_MULTIPLIERS,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_LAMBDA, -1},
                                 GA__NUMBERS({l->F.rank, NULL}, {l->J.rank, NULL})});
}

/* v := P δq, which satisfies the hidden and the nonholonomic constraints. */
static ga_status complete_velocity(ga_linearisation *l, const ga_point *p, const double *q, double *v)
{
  const ga_system *sys = l->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], nv = sys->nv;
  double off = 0.0, size = 0.0;
  ga_sparse_mul(l->rate, matrix(l, GA_BLOCK_ETA, GA_BY_Q), q);
  ga_sparse_mul(l->rate + nl, matrix(l, GA_BLOCK_PSI, GA_BY_Q), q);
  for (int i = 0; i < l->m; i++) l->rate[i] /= -l->length[i], size = fmax(size, fabs(l->rate[i]));
  ga__svd_solve(&l->J, l->rate, v);
  for (int i = 0; i < l->m; i++) {
    const double *row = l->dense + (size_t)i * (size_t)nv;
    double sum = -l->rate[i];
    for (int k = 0; k < nv; k++) sum += row[k] * v[k];
    off = fmax(off, fabs(sum));
  }
  if (off <= CONTRADICTION * (size + ga__max_abs(p->v, nv, NULL))) return GA_OK;
  return ga__refuse(l->ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_POSITION,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_LAMBDA, -1}});
}

/* ---- Offsets of constraints, as inputs ---- */

/* out := solution of least norm of (rows of `of`) out = e, e_i = 1 for constraint i. */
static ga_status solve_offset(ga_linearisation *l, const ga_point *p, ga__svd *of, int n_rows, int i,
                              double *out)
{
  const int nl = l->sys->size[GA_BLOCK_LAMBDA], nv = l->sys->nv;
  double off = 0.0;
  clear(l->rate, (size_t)l->m);
  l->rate[i] = 1.0 / l->length[i];
  ga__svd_solve(of, l->rate, out);
  for (int k = 0; k < n_rows; k++) {
    const double *row = l->dense + (size_t)k * (size_t)nv;
    double sum = -l->rate[k];
    for (int c = 0; c < nv; c++) sum += row[c] * out[c];
    off = fmax(off, fabs(sum));
  }
  if (off <= CONTRADICTION * l->rate[i]) return GA_OK;
  const int is_phi = i < nl, index = is_phi ? i : i - nl;
  char name[GA_ERROR_NAME];
  ga__describe(l->sys, is_phi ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI, index, name, sizeof name);
  return ga__refuse(
      l->ctx, GA_ERR_SINGULAR, GA_REASON_INPUT_REDUNDANT,
      &(ga__facts){.at = &(ga__fact_time){p->t, NAN, is_phi ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI, index},
                   .equation = name});
}

/* δq, δv of the states of inputs. */
static ga_status set_offsets(ga_linearisation *l, const ga_point *p)
{
  const ga_system *sys = l->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], before = l->form.n - l->n_w;
  const size_t nv = (size_t)sys->nv;
  ga_status status = GA_OK;
  for (int i = 0; i < l->n_u && !status; i++) {
    l->form_w[i] = l->w[i] < 0 ? -1 : before + l->w[i];
    if (l->w[i] < 0) continue;
    double *q = l->form_q + (size_t)l->form_w[i] * nv, *v = l->form_v + (size_t)l->form_w[i] * nv;
    const int is_phi = l->input[i].block == GA_BLOCK_LAMBDA, index = l->input[i].index;
    if (!is_phi) {
      status = solve_offset(l, p, &l->J, l->m, nl + index, v);
      continue;
    }
    status = solve_offset(l, p, &l->B, nl, index, q);
    if (!status) status = complete_velocity(l, p, q, v);
    if (!status) status = solve_offset(l, p, &l->J, l->m, index, v + nv);
  }
  return status;
}

/* ---- The equations ---- */

/* out[n_rows] += factor × (rows of the dynamics, states and outputs, by these unknowns) d */
static void add(ga_linearisation *l, double *out, double factor, ga_by by, const double *d)
{
  static const ga_equation_block ROWS[] = {GA_BLOCK_V, GA_BLOCK_X, GA_BLOCK_Y};
  for (int b = 0; b < 3; b++) {
    const int n = l->sys->size[ROWS[b]];
    ga_sparse_mul(l->product, matrix(l, ROWS[b], by), d);
    for (int i = 0; i < n; i++) out[i] += factor * l->product[i];
    out += n;
  }
}

static void add_multipliers(ga_linearisation *l, double *out, const double *d)
{
  add(l, out, 1.0, GA_BY_LAMBDA, d);
  add(l, out, 1.0, GA_BY_PSI, d + l->sys->size[GA_BLOCK_LAMBDA]);
}

/* d[m] := multipliers of the unit vector i of μ */
static void multipliers_of(const ga_linearisation *l, int i, double *d)
{
  const double *y = ga__svd_range(&l->F, i);
  for (int k = 0; k < l->m; k++) d[k] = y[k] / l->reach[k];
}

static ga_status factor(ga_linearisation *l, const ga_point *p)
{
  const ga_system *sys = l->sys;
  const int n_v = sys->nv - l->J.rank, n_x = sys->size[GA_BLOCK_X], n_y = sys->size[GA_BLOCK_Y];
  const size_t stride = (size_t)l->n_rows;
  double *w = l->W->value;
  ga_sparse_zero(l->W);
  for (int i = 0; i < n_v; i++, w += stride) add(l, w, 1.0, GA_BY_VDOT, ga__svd_null(&l->J, i));
  for (int i = 0; i < l->F.rank; i++, w += stride) {
    multipliers_of(l, i, l->rate);
    add_multipliers(l, w, l->rate);
  }
  for (int i = 0; i < n_x; i++, w += stride) w[sys->nv + i] = 1.0;
  for (int i = 0; i < n_y; i++, w += stride) {
    clear(l->u, (size_t)l->n_rows);
    l->u[i] = 1.0;
    add(l, w, 1.0, GA_BY_Y, l->u);
  }
  const ga_status status = ga_lu_factor(l->lu);
  if (status != GA_RETRY_SINGULAR) return status;
  return ga__refuse(l->ctx, GA_ERR_SINGULAR, GA_REASON_NO_ACCELERATIONS,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_V, -1}});
}

/* δq, δv of the unit vectors of z. */
static ga_status set_motions(ga_linearisation *l, const ga_point *p)
{
  const ga_linear_form *f = &l->form;
  const size_t nv = (size_t)l->sys->nv;
  clear(l->form_q, (size_t)f->n * nv);
  clear(l->form_v, (size_t)f->n * nv);
  for (int j = 0; j < f->n_q; j++) {
    double *q = l->form_q + (size_t)j * nv;
    if (nv) memcpy(q, ga__svd_null(&l->B, j), nv * sizeof *q);
    const ga_status status = complete_velocity(l, p, q, l->form_v + (size_t)j * nv);
    if (status) return status;
  }
  for (int j = 0; j < f->n_v; j++)
    memcpy(l->form_v + (size_t)(f->n_q + j) * nv, ga__svd_null(&l->J, j), nv * sizeof(double));
  return GA_OK;
}

/* z1' of column j, into the column of A; vdot := P N z1'. */
static void set_position_rates(ga_linearisation *l, const ga_point *p, int j, double *rates, double *vdot)
{
  const int nv = l->sys->nv;
  const double *q = l->form_q + (size_t)j * (size_t)nv, *v = l->form_v + (size_t)j * (size_t)nv;
  for (int i = 0; i < nv; i++) l->z1[i] = v[i], vdot[i] = 0.0;
  ga_group_add_bracket(l->sys->group, l->z1, -1.0, p->v, q);
  for (int i = 0; i < l->form.n_q; i++) {
    const double *N = ga__svd_null(&l->B, i), *PN = l->form_v + (size_t)i * (size_t)nv;
    double sum = 0.0;
    for (int k = 0; k < nv; k++) sum += N[k] * l->z1[k];
    rates[i] = sum;
    for (int k = 0; k < nv; k++) vdot[k] += sum * PN[k];
  }
}

/* Solves for z2', μ, δx' and δy with the right-hand side in l->u: rates[n], vdot[nv] besides what it has,
 * multipliers[m], y[n_y]. */
static ga_status solve_equations(ga_linearisation *l, double *rates, double *vdot, double *multipliers,
                                 double *y)
{
  const ga_linear_form *f = &l->form;
  const size_t nv = (size_t)l->sys->nv, m = (size_t)l->m;
  const int n_mu = l->F.rank, n_y = l->sys->size[GA_BLOCK_Y];
  double *u = l->u;
  const ga_status status = ga_lu_solve(l->lu, u);
  if (status) return status;
  const double *mu = u + f->n_v, *xdot = mu + n_mu, *outputs = xdot + f->n_x;
  for (int i = 0; i < f->n_v; i++) {
    const double *Z = ga__svd_null(&l->J, i);
    rates[f->n_q + i] = u[i];
    for (size_t k = 0; k < nv; k++) vdot[k] += u[i] * Z[k];
  }
  clear(multipliers, m);
  for (int i = 0; i < n_mu; i++) {
    multipliers_of(l, i, l->rate);
    for (size_t k = 0; k < m; k++) multipliers[k] += mu[i] * l->rate[k];
  }
  for (int i = 0; i < f->n_x; i++) rates[f->n_q + f->n_v + i] = xdot[i];
  for (int i = 0; i < n_y; i++) y[i] = outputs[i];
  return GA_OK;
}

/* Column j of A, and δvdot, multipliers and outputs that belong to it. */
static ga_status solve_column(ga_linearisation *l, const ga_point *p, int j)
{
  const ga_linear_form *f = &l->form;
  const size_t nv = (size_t)l->sys->nv, column = (size_t)j;
  const int state = j - f->n_q - f->n_v;
  double *rates = l->form_A + column * (size_t)f->n, *vdot = l->form_vdot + column * nv;
  clear(rates, (size_t)f->n);
  set_position_rates(l, p, j, rates, vdot);
  for (int i = 0; i < l->n_u; i++) /* w' of a constraint Φ = w */
    if (l->input[i].block == GA_BLOCK_LAMBDA && j == l->form_w[i] + 1) {
      const double *PQ = l->form_v + (size_t)l->form_w[i] * nv;
      rates[j - 1] = 1.0;
      for (size_t k = 0; k < nv; k++) vdot[k] += PQ[k];
    }
  clear(l->u, (size_t)l->n_rows);
  clear(l->x, (size_t)f->n_x);
  if (state >= 0 && state < f->n_x) l->x[state] = 1.0;
  add(l, l->u, -1.0, GA_BY_VDOT, vdot);
  add(l, l->u, -1.0, GA_BY_V, l->form_v + column * nv);
  add(l, l->u, -1.0, GA_BY_Q, l->form_q + column * nv);
  add(l, l->u, -1.0, GA_BY_X, l->x);
  return solve_equations(l, rates, vdot, l->form_multipliers + column * (size_t)l->m,
                         l->form_y + column * (size_t)l->sys->size[GA_BLOCK_Y]);
}

/* Column i of B, and δvdot, multipliers and outputs that belong to it. */
static ga_status solve_input(ga_linearisation *l, int i)
{
  static const int before[] = {[GA_BLOCK_V] = 0, [GA_BLOCK_X] = 1, [GA_BLOCK_Y] = 2};
  const ga_system *sys = l->sys;
  const size_t nv = (size_t)sys->nv, column = (size_t)i;
  const int rows[] = {0, sys->nv, sys->nv + sys->size[GA_BLOCK_X]}, states = states_of(&l->input[i]);
  double *rates = l->form_B + column * (size_t)l->form.n, *vdot = l->form_u_vdot + column * nv;
  clear(rates, (size_t)l->form.n);
  clear(vdot, nv);
  clear(l->u, (size_t)l->n_rows);
  if (states == 0) {
    l->u[rows[before[l->input[i].block]] + l->input[i].index] = 1.0;
  } else { /* the highest rate of an offset: V of its last state */
    const int last = l->form_w[i] + states - 1;
    rates[last] = 1.0;
    memcpy(vdot, l->form_v + (size_t)last * nv, nv * sizeof *vdot);
    add(l, l->u, -1.0, GA_BY_VDOT, vdot);
  }
  return solve_equations(l, rates, vdot, l->form_u_multipliers + column * (size_t)l->m,
                         l->form_u_y + column * (size_t)sys->size[GA_BLOCK_Y]);
}

/* ---- Checks of the point ---- */

/* Largest residual, except those of X. */
static ga_status measure_residual(ga_linearisation *l, const ga_point *p)
{
  const ga_system *sys = l->sys;
  double *r = l->residual;
  ga_status status = ga_evaluation_residual(l->ev, p, NULL, r, r + sys->n);
  if (status) return status;
  l->form.residual =
      fmax(ga__max_abs(r, sys->start[GA_BLOCK_X], NULL),
           ga__max_abs(r + sys->start[GA_BLOCK_Y], sys->size[GA_BLOCK_Y] + sys->size[GA_BLOCK_LAMBDA], NULL));
  return GA_OK;
}

/* The check for kinks goes along all motions and inputs. */
static void set_kink_directions(ga_linearisation *l)
{
  const ga_linear_form *f = &l->form;
  const size_t nv = (size_t)l->sys->nv, m = (size_t)l->m, nl = (size_t)l->sys->size[GA_BLOCK_LAMBDA],
               ny = (size_t)l->sys->size[GA_BLOCK_Y];
  ga__kink_clear(&l->kink);
  for (int j = 0; j < f->n + f->n_u; j++) {
    const int input = j - f->n;
    const size_t c = (size_t)(input < 0 ? j : input);
    const double *multipliers = (input < 0 ? f->multipliers : f->u_multipliers) + c * m;
    if (input < 0) ga__kink_add(&l->kink, GA_BY_Q, f->q + c * nv, j);
    if (input < 0) ga__kink_add(&l->kink, GA_BY_V, f->v + c * nv, j);
    ga__kink_add(&l->kink, GA_BY_VDOT, (input < 0 ? f->vdot : f->u_vdot) + c * nv, j);
    ga__kink_add(&l->kink, GA_BY_LAMBDA, multipliers, j);
    ga__kink_add(&l->kink, GA_BY_PSI, multipliers + nl, j);
    ga__kink_add(&l->kink, GA_BY_Y, (input < 0 ? f->y : f->u_y) + c * ny, j);
  }
  for (int i = 0; i < f->n_x; i++) {
    clear(l->x, (size_t)f->n_x);
    l->x[i] = 1.0;
    ga__kink_add(&l->kink, GA_BY_X, l->x, i);
  }
}

static ga_status compute(ga_linearisation *l, const ga_point *p)
{
  ga_linear_form *f = &l->form;
  ga_status status = measure_residual(l, p);
  if (!status) status = ga_evaluation_jacobian(l->ev, p);
  if (!status) status = find_spaces(l, p);
  if (status) return status;
  f->n_q = l->sys->nv - l->B.rank;
  f->n_v = l->sys->nv - l->J.rank;
  f->n_x = l->sys->size[GA_BLOCK_X];
  f->n_w = l->n_w;
  f->n = f->n_q + f->n_v + f->n_x + f->n_w;
  f->independence = l->J.rank > 0 ? l->J.sigma[l->J.rank - 1] / l->J.sigma[0] : 1.0;
  status = set_motions(l, p);
  if (!status) status = set_offsets(l, p);
  if (!status) status = factor(l, p);
  for (int j = 0; !status && j < f->n; j++) status = solve_column(l, p, j);
  for (int i = 0; !status && i < l->n_u; i++) status = solve_input(l, i);
  const ga__later later = {l->q, l->z1, l->v, l->x};
  if (!status)
    f->unsteady =
        ga__unsteadiness(l->ctx, l->sys, l->ev, l->later, p, l->residual + l->sys->start[GA_BLOCK_X], &later);
  return status;
}

ga_status ga__linearise_one_sided(ga_linearisation *l, const ga_point *p, const ga_linear_form **form)
{
  *form = NULL;
  l->form = (ga_linear_form){.A = l->form_A,
                             .q = l->form_q,
                             .v = l->form_v,
                             .vdot = l->form_vdot,
                             .multipliers = l->form_multipliers,
                             .y = l->form_y,
                             .n_u = l->n_u,
                             .B = l->form_B,
                             .u_vdot = l->form_u_vdot,
                             .u_multipliers = l->form_u_multipliers,
                             .u_y = l->form_u_y,
                             .w = l->form_w};
  const ga_status status = compute(l, p);
  if (!status) *form = &l->form;
  return status;
}

ga_status ga__linearise_kink_warn(ga_linearisation *l, const ga_point *p, int *found)
{
  const ga_linear_form *form;
  *found = 0;
  ga_status status = ga__linearise_one_sided(l, p, &form);
  if (status) return status;
  set_kink_directions(l);
  l->kink.all_outputs = 0;
  status = ga__kink_warn(&l->kink, l->ev, p, found);
  l->kink.all_outputs = 1;
  return status;
}

ga_status ga_linearisation_compute(ga_linearisation *l, const ga_point *p, const ga_linear_form **form)
{
  if (form) *form = NULL;
  if (!l) return GA_ERR_ARGUMENT;
  if (!p || !form) return ga__refuse_null(l->ctx, __func__, p ? "form" : "p");
  ga_status status = ga__linearise_one_sided(l, p, form);
  if (!status) {
    set_kink_directions(l);
    status = ga__kink_check(&l->kink, l->ev, p);
  }
  if (status) *form = NULL;
  return status;
}
