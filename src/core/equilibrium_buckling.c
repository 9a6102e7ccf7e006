/* Linear buckling: load factors at which the tangent becomes singular, by its rate along the path of the
 * load.
 *
 *   (W + Δμ W') φ = 0,   W' = dW/dμ along (ż, 1),   W ż + R_μ = 0,   critical load factor μ + Δμ
 *
 * W' is a difference of tangents at z ± s ż, with inner unknowns moved along: section forces of beams change
 * in proportion to the load, without the stretch that a move along the tangent would cause. The eigenvalues
 * of −W⁻¹W' are 1/Δμ: the largest ones belong to the nearest critical loads.
 *
 * The tangent depends on the load in a nonlinear way as soon as the system deforms. Therefore the first
 * factor is computed again from the state at half of its load. */
#include "core/equilibrium.h"

#include <float.h>
#include <math.h>

#define SMALL_MOVE 1e-3  /* distance of a difference, relative to the scales */
#define REAL 1e-5        /* |im|/|re| of an eigenvalue that counts as real */
#define LARGEST_LOAD 1e9 /* change of the load factor in a difference where nothing moves */
enum { FEW_UNKNOWNS = 400, MOST_DENSE = 3000 };

typedef struct buckling {
  ga_equilibrium *eq;
  ga_sparse *rate;       /* W', with the pattern of W */
  double *scale, *image; /* [n] of unknowns; a vector times the matrix, or a shape that is not kept */
  double reach;          /* change of the load factor in the differences */
  double noise;          /* eigenvalues up to this are rounding */
} buckling;

/* ---- The rate of the tangent ---- */

/* rate += weight · W(z + s ż), ż in eq->tangent. */
static ga_status add_tangent_at(buckling *b, double s, double weight)
{
  ga_equilibrium *eq = b->eq;
  ga__balance_move(eq, &eq->trial, &eq->now, s, eq->tangent);
  eq->trial.statics.load = eq->now.statics.load + s;
  const ga_status status = ga__balance_matrix(eq, &eq->trial, &ga__tangent_terms);
  for (int i = 0; !status && i < b->rate->nnz; i++) b->rate->value[i] += weight * eq->W->value[i];
  return status;
}

/* W' by a central difference of fourth order. Regularisation of multipliers has no part in it. */
static ga_status find_rate(buckling *b)
{
  ga_equilibrium *eq = b->eq;
  double size;
  ga_status status = ga__load_tangent(eq, eq->tangent, &size);
  if (status) return status;
  const double s = size > SMALL_MOVE / LARGEST_LOAD ? SMALL_MOVE / size : LARGEST_LOAD;
  b->reach = s;
  ga_sparse_zero(b->rate);
  if (!status) status = add_tangent_at(b, s, 8.0 / (12.0 * s));
  if (!status) status = add_tangent_at(b, -s, -8.0 / (12.0 * s));
  if (!status) status = add_tangent_at(b, 2.0 * s, -1.0 / (12.0 * s));
  if (!status) status = add_tangent_at(b, -2.0 * s, 1.0 / (12.0 * s));
  for (int i = eq->sys->start[GA_BLOCK_LAMBDA]; i < eq->sys->start[GA_BLOCK_X]; i++)
    b->rate->value[eq->diagonal[i]] = 0.0;
  return status;
}

/* Scales of unknowns: given ones of displacements, of others the forces that these displacements cause. */
static void set_scales(buckling *b)
{
  const ga_equilibrium *eq = b->eq;
  const ga_sparse *W = eq->W;
  double stiffness = 0.0;
  for (int c = 0; c < W->cols; c++) {
    double most = 0.0;
    for (int p = W->col_start[c]; p < W->col_start[c + 1]; p++) most = fmax(most, fabs(W->value[p]));
    b->scale[c] = c < eq->sys->nv ? eq->scale[c] : most;
    if (c < eq->sys->nv) stiffness = fmax(stiffness, most * eq->scale[c]);
  }
  for (int c = eq->sys->nv; c < W->cols; c++)
    b->scale[c] = b->scale[c] > 0.0 && stiffness > 0.0 ? stiffness / b->scale[c] : 1.0;
}

/* out := −W⁻¹W' in, in these scales. */
static ga_status apply(void *user, double *out, const double *in)
{
  buckling *b = user;
  const ga_sparse *A = b->rate;
  for (int i = 0; i < A->rows; i++) out[i] = 0.0;
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++)
      out[A->row[p]] -= A->value[p] * b->scale[c] * in[c];
  const ga_status status = ga_lu_solve(b->eq->lu, out);
  for (int i = 0; i < A->rows; i++) out[i] /= b->scale[i];
  return status;
}

/* ---- Critical loads ---- */

/* Eigenvectors within the subspace: those of BᵀTB, B its basis. */
static ga_status project(buckling *b, const ga__subspace *space, ga__eigen *e)
{
  const size_t n = (size_t)space->n, k = (size_t)space->k;
  double *H = ga__alloc(b->eq->ctx, k * k + 1, sizeof *H);
  ga_status status = H ? ga__eigen_create(b->eq->ctx, space->k, e) : ga__no_memory(b->eq->ctx, "buckling");
  for (size_t j = 0; !status && j < k; j++) {
    status = apply(b, b->image, space->basis + j * n);
    for (size_t i = 0; i < k; i++) {
      double sum = 0.0;
      for (size_t r = 0; r < n; r++) sum += space->basis[i * n + r] * b->image[r];
      H[j * k + i] = sum;
    }
  }
  if (!status) status = ga__eigen_compute(e, space->k, H, space->k);
  ga__free(b->eq->ctx, H);
  return status;
}

/* The shape of eigenvector j, its largest component in the scales 1. */
static int write_shape(const buckling *b, const ga__subspace *space, const ga__eigen *e, int j, double *shape)
{
  const ga_equilibrium *eq = b->eq;
  const int nv = eq->sys->nv, k = e->n;
  int at = -1;
  for (int i = 0; i < nv; i++) {
    shape[i] = 0.0;
    for (int c = 0; c < k; c++)
      shape[i] += e->vectors[(size_t)j * (size_t)k + (size_t)c] *
                  space->basis[(size_t)c * (size_t)space->n + (size_t)i];
    if (at < 0 || fabs(shape[i]) > fabs(shape[at])) at = i;
  }
  const double most = at < 0 || shape[at] == 0.0 ? 1.0 : shape[at];
  for (int i = 0; i < nv; i++) shape[i] *= eq->scale[i] / most;
  return at;
}

/* The largest real eigenvalue that is not taken yet; −1: the others are rounding. */
static int next_real(const ga__eigen *e, double noise, const char *taken)
{
  int best = -1;
  for (int j = 0; j < e->n; j++) {
    const double size = fabs(e->re[j]);
    if (taken[j] || fabs(e->im[j]) > REAL * size || !(size > noise)) continue;
    if (best < 0 || size > fabs(e->re[best])) best = j;
  }
  return best;
}

static ga_status list_modes(buckling *b, const ga__subspace *space, int wanted, ga_buckling_report *r,
                            double *shapes)
{
  ga_equilibrium *eq = b->eq;
  ga__eigen e = {0};
  char *taken = ga__alloc(eq->ctx, (size_t)space->k + 1, 1);
  ga_status status = taken ? project(b, space, &e) : ga__no_memory(eq->ctx, "buckling");
  double largest = 0.0;
  for (int j = 0; !status && j < e.n; j++) {
    largest = fmax(largest, fabs(e.re[j]));
    r->n_complex +=
        e.im[j] > REAL * fabs(e.re[j]) && hypot(e.re[j], e.im[j]) > fmax(1e-3 * largest, b->noise);
  }
  while (!status && r->n < wanted) {
    const int j = next_real(&e, b->noise, taken);
    if (j < 0) break;
    taken[j] = 1;
    double *shape = shapes ? shapes + (size_t)r->n * (size_t)eq->sys->nv : b->image;
    const int coordinate = write_shape(b, space, &e, j, shape);
    r->mode[r->n++] = (ga_buckling_mode){eq->now.statics.load + 1.0 / e.re[j], coordinate};
  }
  ga__eigen_destroy(&e);
  ga__free(eq->ctx, taken);
  return status;
}

/* Critical loads by the tangent at eq->now, nearest first. */
static ga_status linearise(buckling *b, int wanted, ga_buckling_report *r, double *shapes)
{
  ga_equilibrium *eq = b->eq;
  const int n = eq->sys->n;
  const ga__operator T = {.apply = apply, .user = b};
  ga__subspace space = {0};
  r->n = r->n_complex = 0;
  ga_status status = find_rate(b);
  if (!status) status = ga__balance_factor(eq, &eq->now, &ga__tangent_terms);
  if (status) return status;
  b->noise = 64.0 * DBL_EPSILON / (b->reach * fmax(ga_lu_get_info(eq->lu)->rcond, DBL_EPSILON));
  set_scales(b);
  int k = 2 * wanted + 8, dense = n <= FEW_UNKNOWNS || k + 2 > n;
  if (k > n) k = n;
  status = ga__subspace_find(eq->ctx, dense ? GA__EIGEN_DENSE : GA__EIGEN_SPARSE, n, k, &T, &space);
  if (status == GA_ERR_SINGULAR && !dense && n <= MOST_DENSE) {
    ga__subspace_destroy(&space);
    status = ga__subspace_find(eq->ctx, GA__EIGEN_DENSE, n, k, &T, &space);
  }
  if (!status) status = list_modes(b, &space, wanted, r, shapes);
  ga__subspace_destroy(&space);
  return status;
}

/* ---- Validity of the linear result ---- */

static double least_positive(const ga_buckling_report *r, double above)
{
  double least = INFINITY;
  for (int i = 0; i < r->n; i++)
    if (r->mode[i].load > above) least = fmin(least, r->mode[i].load);
  return least;
}

/* Computes the first load factor again, from the state at half of it. */
static ga_status check_first(buckling *b, ga_buckling_report *r)
{
  ga_equilibrium *eq = b->eq;
  const ga_equilibrium_opts kept = eq->opts;
  const double first = least_positive(r, 0.0);
  ga_buckling_report half = {0};
  r->first = isfinite(first) ? first : NAN;
  r->first_at_half = NAN;
  if (!isfinite(first)) return GA_OK;
  eq->opts.load = 0.5 * first;
  eq->opts.observer = NULL;
  eq->opts.stability = 0;
  eq->opts.max_steps =
      eq->report.load_steps + 100 < kept.max_steps ? (int)eq->report.load_steps + 100 : kept.max_steps;
  ga_status status = ga__load_steps(eq, 0.125 * first, 0.125 * first);
  eq->opts = kept;
  if (!status) status = linearise(b, r->n < 4 ? 4 : r->n, &half, NULL);
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  if (!status && isfinite(least_positive(&half, eq->now.statics.load)))
    r->first_at_half = least_positive(&half, eq->now.statics.load);
  return GA_OK; /* a state that is not reached gives no result */
}

/* ---- Driver ---- */

static void destroy(buckling *b)
{
  ga_context *ctx = b->eq->ctx;
  ga_sparse_destroy(ctx, &b->rate);
  ga__free(ctx, b->scale);
  ga__free(ctx, b->image);
}

/* W' has the pattern of W. */
static ga_status create(ga_equilibrium *eq, buckling *b)
{
  const ga_sparse *W = eq->W;
  const size_t n = (size_t)eq->sys->n;
  int *col = ga__alloc(eq->ctx, (size_t)W->nnz + 1, sizeof *col);
  *b = (buckling){.eq = eq};
  b->scale = ga__alloc(eq->ctx, n + 1, sizeof *b->scale);
  b->image = ga__alloc(eq->ctx, n + 1, sizeof *b->image);
  ga_status status = col && b->scale && b->image ? GA_OK : ga__no_memory(eq->ctx, "buckling");
  for (int c = 0; !status && c < W->cols; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1]; p++) col[p] = c;
  if (!status) status = ga_sparse_create(eq->ctx, W->rows, W->cols, W->nnz, W->row, col, NULL, &b->rate);
  ga__free(eq->ctx, col);
  return status;
}

/* Passes the initial state to the observer, and each shape as a displacement by a tenth of the scales. */
static ga_status show_shapes(ga_equilibrium *eq, const ga_buckling_report *r)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < r->n; i++) {
    const double *shape = eq->shapes + (size_t)i * (size_t)eq->sys->nv;
    for (int k = 0; k < eq->sys->n + eq->sys->def.n_inner; k++)
      eq->d[k] = k < eq->sys->nv ? 0.1 * shape[k] : 0.0;
    ga__balance_move(eq, &eq->now, &eq->start, 1.0, eq->d);
    eq->now.statics.load = r->mode[i].load;
    status = ga__show_load(eq, 0, NULL);
  }
  return status;
}

static ga_status refuse_no_load(ga_equilibrium *eq)
{
  return ga__refuse(eq->ctx, GA_ERR_SINGULAR, GA_REASON_NOTHING_BUCKLES, &(ga__facts){.kind = "buckling"});
}

ga_status ga_equilibrium_buckling(ga_equilibrium *eq, double t, const double *q0, const double *x0, int n,
                                  ga_buckling_report *report)
{
  if (report) *report = (ga_buckling_report){.first = NAN, .first_at_half = NAN};
  if (!eq) return GA_ERR_ARGUMENT;
  if (!report) return ga__refuse_null(eq->ctx, __func__, "report");
  if (n < 1 || n > GA_MOST_CRITICAL)
    return ga__refuse_number(eq->ctx, "buckling", "n", n, "1 to GA_MOST_CRITICAL, 16");
  buckling b;
  ga__free(eq->ctx, eq->shapes);
  eq->shapes = ga__alloc(eq->ctx, (size_t)n * (size_t)eq->sys->nv + 1, sizeof *eq->shapes);
  eq->n_shapes = 0;
  if (!eq->shapes) return ga__no_memory(eq->ctx, "buckling");
  ga_status status = ga__equilibrium_begin(eq, t, q0, x0);
  if (status) return status;
  status = create(eq, &b);
  if (!status) status = linearise(&b, n, report, eq->shapes);
  if (status == GA_RETRY_SINGULAR) status = ga__refuse_no_tangent(eq);
  if (!status && report->n == 0 && report->n_complex == 0) status = refuse_no_load(eq);
  if (!status) status = check_first(&b, report);
  if (!status) {
    eq->n_shapes = report->n;
    ga__balance_copy(eq, &eq->now, &eq->start);
    status = ga__show_load(eq, 0, NULL);
  }
  if (!status) status = show_shapes(eq, report);
  destroy(&b);
  return status;
}

const double *ga_equilibrium_shape(const ga_equilibrium *eq, int i)
{
  return eq && i >= 0 && i < eq->n_shapes ? eq->shapes + (size_t)i * (size_t)eq->sys->nv : NULL;
}
