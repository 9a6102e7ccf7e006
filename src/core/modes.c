/* Modes: eigenvalues of smallest size of the pencil A z = τ E z (pencil.c).
 *
 * With a shift τ0 of about their size, T = (A − τ0 E)⁻¹ E has the eigenvalues θ = 1/(τ − τ0); the infinite
 * ones of constraints become 0. An orthonormal basis X of the invariant subspace of the largest θ comes from
 * ARPACK or LAPACK; then, with U = (A − τ0 E)⁻¹ E X, H = Xᵀ U and Y = U H⁻¹, which is X again with λ, ψ, y
 * that belong to it,
 *
 *   T X = X H,   A Y c = τ E Y c  for H c = θ c.
 *
 * All τ nearer to τ0 than 1/|largest θ left out| are among them, so that those of |τ| below that less |τ0|
 * are the smallest there are.
 *
 * Zeros. Eigenvalues 0 of free motions are double, and rounding ε of a double one moves it by √ε: it looks
 * like a slow oscillation. What is not sensitive is the space that they span. Within the subspace, c is a
 * motion without forces where A Y c is no more than the rounding of its terms, or than what it is measured to
 * be off by; and c' belongs to the zeros
 * too where A Y c' lies in the space of E Y c of those found before (a motion with constant speed), and so
 * on. What is left has no zeros, and its eigenvalues are computed without them. */
#include "core/sample.h"
#include "core/arrays.h"
#include "core/evaluate.h"
#include "core/kink.h"
#include "core/pencil.h"
#include "core/rounding.h"
#include "core/steady.h"
#include "core/turning.h"
#include "lin/lin_impl.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A Y c is zero up to this part of its terms, times the root of their number. */
#define ZERO 1e-14
/* Where it is less than the second part of them, it is also zero up to this multiple of what it is off by: of
 * its change when the point is moved by its rounding, since forces within a beam may be larger than those
 * that add up to its rows, or of the defect of the subspace. */
#define ZERO_MARGIN 4.0
#define ZERO_DOUBTFUL 1e-7
/* |θ| up to this part of the largest is the rounding of infinite eigenvalues; the second for τ = s. */
#define INFINITE_SQUARED 1e-12
#define INFINITE_PLAIN 1e-7
/* Matrices count as symmetric up to this part. */
#define SYMMETRIC 1e-10
/* Shifts farther than this factor from the best one are changed; for τ = s they are these parts of the
 * largest |s| wanted at least and at most. At a smaller one zeros, which are double, have θ so large that
 * their rounding hides all others. */
#define SHIFT_FAR 4.0
#define SHIFT_LEAST 1e-2
#define SHIFT_MOST 0.3
/* If all eigenvalues look like zeros, smaller shifts are tried, by this factor, down to the second [1/s]. */
#define SLOWER 1e-4
#define SLOWEST 1e-7
#define FIRST_SHIFT 1.0  /* [1/s] */
#define POOR 1e-11       /* relative residuals of ARPACK's modes above which LAPACK's are taken */
#define STILL 1e-6       /* smaller components, relative to the usual size, count as zero */
#define OTHER_SHIFT 1.37 /* factor of the shift if it is an eigenvalue */
/* θ of a search that has not converged yet say nothing of τ below this part of τ0. */
#define BLURRED 0.01
enum {
  COMPARED = 8, /* vectors by which equations at two angles are compared */
  USUAL_MODES = 10,
  FEW_UNKNOWNS = 400,
  MOST_DENSE = 4000,
  MOST_SHIFTS = 8,
  MOST_LOWERED = 2,
  ROUNDINGS = 3,
  MOST_SINGULAR = 5
};

static const double TWO_PI = 6.283185307179586476925286766559;

struct ga_modes {
  ga_context *ctx;
  ga_modes_info info;
  ga_mode *mode; /* [info.n] */
  double *block; /* of their shapes */
};

/* A mode found: τ, s, and coordinates c in Y. */
typedef struct candidate {
  double complex tau, s;
  int conjugate; /* 1: the shape is that of conj(τ) */
  int column;    /* of `coordinates` */
  int zero;
} candidate;

/* What is known of the shift. */
typedef enum progress {
  NOTHING_KNOWN = 0, /* it is to be estimated by rough eigenvalues */
  VECTORS_KNOWN,     /* it has been; `space` has the rough vectors */
  SHIFT_KNOWN        /* it is that of eigenvalues found before */
} progress;

typedef struct search {
  ga_context *ctx;
  const ga_point *p;
  ga_evaluation *ev; /* at the point */
  ga__pencil pencil;
  int wanted;                /* modes; 0: not given */
  const ga_turning *turning; /* NULL: none */
  int dense, k;
  int unconverged; /* 1: ARPACK has failed, LAPACK is used */
  progress progress;
  int lowered; /* times that the shift has been lowered without knowing a mode, from first_sigma on */
  double first_sigma;
  double sigma;
  double reach; /* all eigenvalues up to this size |τ| are among those found */
  double *z;    /* [n] of a product */
  ga__subspace space;
  double *Y;                   /* [k][n] */
  double usual[GA__N_Z];       /* largest numbers of each part of Y */
  double *H;                   /* [k][k] by columns */
  double *Q, *R;               /* [k][k] by columns, H = Q R */
  int n_zero, n_free;          /* zeros among them; those without forces */
  double *Z;                   /* [k][k] orthonormal coordinates: zeros, then the others */
  int *level;                  /* [k] steps of the search after which they were found */
  double complex *coordinates; /* [columns][k] */
  candidate *found;            /* [2 k] */
  int n_found;
} search;

/* ---- Small dense matters ---- */

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* R[k][k] := upper triangle of X = Q R, X[k][n] by columns, which becomes Q; column j of R at R + j k. */
static void triangulate(int n, int k, double *X, double *R)
{
  memset(R, 0, (size_t)k * (size_t)k * sizeof *R);
  for (int j = 0; j < k; j++) {
    double *x = X + (size_t)j * (size_t)n;
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i < j; i++) {
        const double *q = X + (size_t)i * (size_t)n, part = dot(n, q, x);
        R[(size_t)j * (size_t)k + (size_t)i] += part;
        for (int l = 0; l < n; l++) x[l] -= part * q[l];
      }
    const double length = sqrt(dot(n, x, x));
    R[(size_t)j * (size_t)k + (size_t)j] = length;
    for (int l = 0; l < n; l++) x[l] = length > 0.0 ? x[l] / length : 0.0;
  }
}

/* out[cols][rows] := in[k][rows] times C[cols][k] */
static void combine(int rows, int k, int cols, const double *in, const double *C, double *out)
{
  memset(out, 0, (size_t)cols * (size_t)rows * sizeof *out);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < k; i++) {
      const double factor = C[(size_t)j * (size_t)k + (size_t)i];
      for (int l = 0; l < rows; l++)
        out[(size_t)j * (size_t)rows + (size_t)l] += factor * in[(size_t)i * (size_t)rows + (size_t)l];
    }
}

/* ---- The subspace ---- */

static ga_status apply(void *user, double *out, const double *in)
{
  search *s = user;
  const ga_status status = ga__pencil_solve(&s->pencil, s->z, in);
  if (!status) memcpy(out, s->z, (size_t)s->pencil.n_state * sizeof *out);
  return status;
}

static ga_status apply_roughly(void *user, double *out, const double *in)
{
  search *s = user;
  const ga_status status = ga__pencil_solve_roughly(&s->pencil, s->z, in);
  if (!status) memcpy(out, s->z, (size_t)s->pencil.n_state * sizeof *out);
  return status;
}

static ga__operator make_operator(search *s)
{
  return (ga__operator){apply, s, apply_roughly};
}

static void release_vectors(search *s)
{
  void *const block[] = {s->Y, s->H, s->Q, s->R, s->Z, s->level, s->coordinates, s->found};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(s->ctx, block[i]);
  s->Y = s->H = s->Q = s->R = s->Z = NULL;
  s->level = NULL;
  s->coordinates = NULL;
  s->found = NULL;
}

static void release_subspace(search *s)
{
  ga__subspace_destroy(&s->space);
  release_vectors(s);
}

/* All that the search has found and found it with. */
static void release_pencil(search *s)
{
  release_subspace(s);
  ga__free(s->ctx, s->z);
  s->z = NULL;
  ga__pencil_destroy(&s->pencil);
}

static ga_status take_memory(search *s)
{
  const size_t n = (size_t)s->pencil.n, k = (size_t)s->space.k;
  release_vectors(s);
  s->Y = ga__alloc(s->ctx, k, n * sizeof(double));
  s->H = ga__alloc(s->ctx, k, k * sizeof(double));
  s->Q = ga__alloc(s->ctx, k, k * sizeof(double));
  s->R = ga__alloc(s->ctx, k, k * sizeof(double));
  s->Z = ga__alloc(s->ctx, k, k * sizeof(double));
  s->level = ga__alloc(s->ctx, k, sizeof(int));
  s->coordinates = ga__alloc(s->ctx, k, k * sizeof(double complex));
  s->found = ga__alloc(s->ctx, 2 * k, sizeof *s->found);
  const int complete = s->Y && s->H && s->Q && s->R && s->Z && s->level && s->coordinates && s->found;
  return complete ? GA_OK : ga__no_memory(s->ctx, "modes");
}

/* Y := Y H⁻¹ with H = Q R, row by row: w R = y, y := w Qᵀ. Columns of Y are then of one size, whatever their
 * θ. w: [k] */
static void divide_by_h(search *s, double *w)
{
  const size_t k = (size_t)s->space.k, n = (size_t)s->pencil.n;
  for (size_t row = 0; row < n; row++) {
    for (size_t j = 0; j < k; j++) {
      w[j] = s->Y[j * n + row];
      for (size_t i = 0; i < j; i++) w[j] -= w[i] * s->R[j * k + i];
      w[j] = s->R[j * k + j] > 0.0 ? w[j] / s->R[j * k + j] : 0.0;
    }
    for (size_t j = 0; j < k; j++) {
      double sum = 0.0;
      for (size_t i = 0; i < k; i++) sum += w[i] * s->Q[i * k + j];
      s->Y[j * n + row] = sum;
    }
  }
}

/* x[k] := H⁻¹ c */
static void solve_h(const search *s, double *x, const double *c)
{
  const size_t k = (size_t)s->space.k;
  for (size_t i = 0; i < k; i++) x[i] = dot((int)k, s->Q + i * k, c);
  for (size_t i = k; i-- > 0;) {
    for (size_t j = i + 1; j < k; j++) x[i] -= s->R[j * k + i] * x[j];
    x[i] = s->R[i * k + i] > 0.0 ? x[i] / s->R[i * k + i] : 0.0;
  }
}

/* Y and H. */
static ga_status expand(search *s)
{
  const int k = s->space.k, n = s->pencil.n, m = s->pencil.n_state;
  for (int j = 0; j < k; j++) {
    double *y = s->Y + (size_t)j * (size_t)n;
    const ga_status status = ga__pencil_solve(&s->pencil, y, s->space.basis + (size_t)j * (size_t)m);
    if (status) return status;
    for (int i = 0; i < k; i++)
      s->H[(size_t)j * (size_t)k + (size_t)i] = dot(m, s->space.basis + (size_t)i * (size_t)m, y);
  }
  memcpy(s->Q, s->H, (size_t)k * (size_t)k * sizeof *s->Q);
  triangulate(k, k, s->Q, s->R);
  divide_by_h(s, s->Z); /* not used before the search of zeros */
  return GA_OK;
}

/* The largest numbers of each part of Y. */
static void measure_usual(search *s)
{
  for (int part = 0; part < GA__N_Z; part++) {
    s->usual[part] = 0.0;
    for (int j = 0; j < s->space.k; j++)
      for (int i = 0; i < s->pencil.size[part]; i++)
        s->usual[part] =
            fmax(s->usual[part],
                 fabs(s->Y[(size_t)j * (size_t)s->pencil.n + (size_t)(s->pencil.start[part] + i)]));
  }
}

/* Number of eigenvalues that are not the rounding of infinite ones, which appear if all are wanted and some
 * are far away. */
static int count_finite(const search *s, const ga__subspace *space)
{
  const double least = s->pencil.squared ? INFINITE_SQUARED : INFINITE_PLAIN;
  double largest = 0.0;
  int n = 0;
  for (int i = 0; i < space->k; i++) largest = fmax(largest, hypot(space->re[i], space->im[i]));
  for (int i = 0; i < space->k; i++) n += hypot(space->re[i], space->im[i]) > least * largest;
  return n;
}

/* Computes Y and H of the subspace. */
static ga_status use_subspace(search *s)
{
  ga_status status = take_memory(s);
  if (!status) status = expand(s);
  if (!status) measure_usual(s);
  return status;
}

static int compare_sizes(const void *a, const void *b)
{
  const double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

/* All modes wanted seem to be slower than the shift by far: smaller ones are tried, until they must be zeros.
 */
static void lower_shift(search *s)
{
  const double first = s->lowered > 0 ? s->first_sigma : s->sigma;
  const int are_zeros = s->lowered++ == MOST_LOWERED;
  s->first_sigma = first;
  s->sigma = are_zeros ? first : (s->pencil.squared ? sqrt(BLURRED) : BLURRED) * s->sigma;
  s->progress = are_zeros ? SHIFT_KNOWN : NOTHING_KNOWN;
}

/* The best shift is the geometric mean of the slowest and the fastest mode wanted. Where all are much slower
 * than the shift, |τ| << τ0, their θ are almost equal, and a search takes the longer the more of them there
 * are. s->sigma becomes the best one by rough values, if it is far from it. 1: it was changed. */
static int estimate_shift(search *s, int wanted)
{
  const double tau0 = s->pencil.tau0;
  const int k = s->space.k, last = (wanted < k ? wanted : k) - 1;
  double *size = s->space.im;
  int first = 0; /* those before may be zeros */
  for (int i = 0; i < k; i++) size[i] = cabs(tau0 + 1.0 / (s->space.re[i] + I * s->space.im[i]));
  qsort(size, (size_t)k, sizeof *size, compare_sizes);
  while (first <= last && size[first] < BLURRED * tau0) first++;
  if (first > last) {
    lower_shift(s);
    return 1;
  }
  const double best = sqrt(size[first] * size[last]), sigma = s->pencil.squared ? sqrt(best) : best;
  const int lower = SHIFT_FAR * sigma < s->sigma, higher = s->pencil.squared && sigma > SHIFT_FAR * s->sigma;
  if (!lower && !higher) return 0;
  s->progress = VECTORS_KNOWN;
  s->sigma = sigma;
  return 1;
}

/* *again, which is 1 where that is allowed: the shift should be, and was, changed first. */
static ga_status find_subspace(search *s, int wanted, int *again)
{
  const ga__operator T = make_operator(s);
  const ga__eigensolver solver = s->dense ? GA__EIGEN_DENSE : GA__EIGEN_SPARSE;
  const progress known = s->dense ? SHIFT_KNOWN : s->progress;
  const int n = s->pencil.n_state;
  ga_status status = GA_OK;
  s->progress = NOTHING_KNOWN;
  if (known != VECTORS_KNOWN) release_subspace(s);
  if (known == SHIFT_KNOWN)
    status = ga__subspace_find(s->ctx, solver, n, s->k, &T, &s->space);
  else if (known == NOTHING_KNOWN)
    status = ga__subspace_begin(s->ctx, solver, n, s->k, &T, &s->space);
  *again = *again && !status && known == NOTHING_KNOWN && estimate_shift(s, wanted);
  if (*again) return GA_OK;
  if (!status) status = ga__subspace_complete(&s->space, s->k, &T);
  if (status) return status;
  const int finite = count_finite(s, &s->space);
  if (finite < s->space.k) {
    s->k = finite;
    ga__subspace_destroy(&s->space);
    status = ga__subspace_find(s->ctx, solver, n, finite, &T, &s->space);
  }
  return status ? status : use_subspace(s);
}

/* ---- Zeros ---- */

/* Columns [cols][n]: their rows over `scale`; rows without terms are 0. */
static void divide_rows(const search *s, int cols, const double *scale, double *columns)
{
  const int n = s->pencil.n;
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < n; i++) {
      double *at = &columns[(size_t)j * (size_t)n + (size_t)i];
      *at = scale[i] > 0.0 ? *at / scale[i] : 0.0;
    }
}

typedef struct zero_work {
  double *scale;   /* [n] */
  double *AY, *EY; /* [k][n] rows divided by scale */
  double *T, *U;   /* [k][n] */
  double *R;       /* [k][k] */
  double *C;       /* [k][k] */
  int *is_zero;    /* [k] */
  double *block;
} zero_work;

static ga_status zero_work_create(const search *s, zero_work *w)
{
  const size_t n = (size_t)s->pencil.n, k = (size_t)s->space.k;
  const ga__array need[] = {{&w->scale, n}, {&w->AY, k * n}, {&w->EY, k * n}, {&w->T, k * n},
                            {&w->U, k * n}, {&w->R, k * k},  {&w->C, k * k}};
  const ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(need), "modes", &w->block, NULL);
  w->is_zero = status ? NULL : ga__alloc(s->ctx, k, sizeof *w->is_zero);
  return status || w->is_zero ? status : ga__no_memory(s->ctx, "modes");
}

static void prepare_zeros(const search *s, zero_work *w)
{
  const int n = s->pencil.n, k = s->space.k;
  ga__pencil_row_scale(&s->pencil, s->pencil.tau0, s->usual, w->scale);
  for (int j = 0; j < k; j++) {
    ga__pencil_mul_a(&s->pencil, w->AY + (size_t)j * (size_t)n, s->Y + (size_t)j * (size_t)n);
    ga__pencil_mul_e(&s->pencil, w->EY + (size_t)j * (size_t)n, s->Y + (size_t)j * (size_t)n);
  }
  divide_rows(s, k, w->scale, w->AY);
  divide_rows(s, k, w->scale, w->EY);
}

/* T[left][n] := A Y C, orthogonal to E Y Z of the n_zero vectors of Z found so far. */
static void project(const search *s, const zero_work *w)
{
  const int n = s->pencil.n, k = s->space.k, left = k - s->n_zero;
  combine(n, k, left, w->AY, s->Z + (size_t)s->n_zero * (size_t)k, w->T);
  combine(n, k, s->n_zero, w->EY, s->Z, w->U);
  triangulate(n, s->n_zero, w->U, w->R);
  for (int j = 0; j < left; j++)
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i < s->n_zero; i++) {
        const double *u = w->U + (size_t)i * (size_t)n;
        double *t = w->T + (size_t)j * (size_t)n;
        const double part = dot(n, u, t);
        for (int l = 0; l < n; l++) t[l] -= part * u[l];
      }
}

/* Column i of C: the singular vector of the i-th largest singular value, in the basis Z. */
static void list_directions(const search *s, const ga__svd *svd, int left, double *C)
{
  const int k = s->space.k;
  const double *rest = s->Z + (size_t)s->n_zero * (size_t)k;
  for (int i = 0; i < left; i++) combine(k, left, 1, rest, ga__svd_range(svd, i), C + (size_t)i * (size_t)k);
}

/* What A Y c is off by, since X is invariant and U is a solution to their accuracy only: with c of zeros,
 * A Y c = E X (H⁻¹ + τ0) c, which is 0, but for this. */
static double measure_defect(const search *s, const zero_work *w, const double *c)
{
  const int k = s->space.k, n = s->pencil.n, m = s->pencil.n_state;
  double *x = w->R;
  solve_h(s, x, c);
  for (int i = 0; i < k; i++) x[i] += s->pencil.tau0 * c[i];
  memset(w->U, 0, (size_t)n * sizeof *w->U);
  combine(m, k, 1, s->space.basis, x, w->U);
  ga__pencil_mul_e(&s->pencil, w->T, w->U);
  divide_rows(s, 1, w->scale, w->T);
  combine(n, k, 1, w->AY, c, w->U);
  for (int i = 0; i < n; i++) w->U[i] -= w->T[i];
  return sqrt(dot(n, w->U, w->U));
}

/* rounding[i - first] := largest change of A Y c_i, rows over their scale, by moving the point by its
 * rounding. */
static void add_rounding(const search *s, const zero_work *w, const ga_evaluation *moved, int first, int left,
                         double *rounding)
{
  const int k = s->space.k, n = s->pencil.n;
  for (int i = first; i < left; i++) {
    combine(n, k, 1, s->Y, w->C + (size_t)i * (size_t)k, w->U);
    ga__pencil_mul_change(&s->pencil, s->ev, moved, w->T, w->U);
    divide_rows(s, 1, w->scale, w->T);
    rounding[i - first] = fmax(rounding[i - first], sqrt(dot(n, w->T, w->T)));
  }
}

/* Points where the equations cannot be evaluated are left out. */
static ga_status measure_rounding(const search *s, const zero_work *w, int first, int left, double *rounding)
{
  ga_evaluation *ev = NULL;
  ga__moved_point moved;
  ga_status status = ga__moved_point_create(s->ctx, s->pencil.sys, &moved);
  if (!status) status = ga__evaluation_create_like(s->ev, &ev);
  for (unsigned i = 0; !status && i < ROUNDINGS; i++) {
    ga__moved_point_set(s->pencil.sys, s->p, i, &moved);
    ga__mute_errors(s->ctx);
    const int known = ga_evaluation_jacobian(ev, &moved.p) == GA_OK;
    ga__unmute_errors(s->ctx);
    if (known) add_rounding(s, w, ev, first, left, rounding);
  }
  ga_evaluation_destroy(&ev);
  ga__moved_point_destroy(s->ctx, &moved);
  return status;
}

/* is_zero[i]: direction i of C is one of the zeros; they are those of the least singular values. */
static ga_status judge_directions(const search *s, const zero_work *w, const double *sigma, int left,
                                  int *is_zero)
{
  const double least = ZERO * sqrt((double)s->pencil.n);
  int first = left, doubtful = 0;
  for (int i = 0; i < left; i++) {
    is_zero[i] = sigma[i] <= least;
    doubtful += !is_zero[i] && sigma[i] <= ZERO_DOUBTFUL;
  }
  while (first > 0 && sigma[first - 1] <= ZERO_DOUBTFUL) first--;
  if (doubtful == 0) return GA_OK;
  double *rounding = ga__alloc(s->ctx, (size_t)(left - first), sizeof *rounding);
  const ga_status status =
      rounding ? measure_rounding(s, w, first, left, rounding) : ga__no_memory(s->ctx, "modes");
  for (int i = first; !status && i < left; i++) {
    const double defect = measure_defect(s, w, w->C + (size_t)i * (size_t)s->space.k);
    if (sigma[i] <= ZERO_MARGIN * fmax(rounding[i - first], defect)) is_zero[i] = 1;
  }
  ga__free(s->ctx, rounding);
  return status;
}

/* One step of the search; *more: number of zeros found. They are moved to the front of the remaining
 * vectors. */
static ga_status split_zeros(search *s, zero_work *w, int level, int *more)
{
  const int n = s->pencil.n, k = s->space.k, left = k - s->n_zero;
  ga__svd svd = {0};
  *more = 0;
  project(s, w);
  triangulate(n, left, w->T, w->R);
  ga_status status = ga__svd_create(s->ctx, left, left, &svd);
  if (status) return status;
  for (int i = 0; i < left; i++) /* by rows */
    for (int j = 0; j < left; j++)
      w->C[(size_t)i * (size_t)left + (size_t)j] = w->R[(size_t)j * (size_t)left + (size_t)i];
  status = ga__svd_compute(&svd, w->C, 0.0);
  if (!status) {
    list_directions(s, &svd, left, w->C);
    status = judge_directions(s, w, svd.sigma, left, w->is_zero);
  }
  for (int i = 0; !status && i < left; i++) *more += w->is_zero[i];
  if (!status && *more > 0) {
    double *to = s->Z + (size_t)s->n_zero * (size_t)k;
    for (int zero = 1; zero >= 0; zero--)
      for (int i = left - 1; i >= 0; i--) { /* the least first */
        if (w->is_zero[i] != zero) continue;
        memcpy(to, w->C + (size_t)i * (size_t)k, (size_t)k * sizeof *to);
        to += k;
      }
    for (int i = 0; i < *more; i++) s->level[s->n_zero + i] = level;
  }
  ga__svd_destroy(&svd);
  return status;
}

static ga_status find_zeros(search *s)
{
  const int k = s->space.k;
  zero_work w = {0};
  int more = 1;
  ga_status status = zero_work_create(s, &w);
  for (int i = 0; !status && i < k * k; i++) s->Z[i] = i % (k + 1) == 0;
  if (!status) prepare_zeros(s, &w);
  s->n_zero = s->n_free = 0;
  for (int level = 1; !status && more > 0 && s->n_zero < k; level++) {
    status = split_zeros(s, &w, level, &more);
    s->n_zero += more;
    if (level == 1) s->n_free = more;
  }
  ga__free(s->ctx, w.is_zero);
  ga__free(s->ctx, w.block);
  return status;
}

/* ---- Eigenvalues ---- */

static void add_zero(search *s, int i)
{
  const int k = s->space.k;
  double complex *c = s->coordinates + (size_t)i * (size_t)k;
  for (int l = 0; l < k; l++) c[l] = s->Z[(size_t)i * (size_t)k + (size_t)l];
  s->found[s->n_found++] = (candidate){.column = i, .zero = 1};
}

/* τ with Im τ >= 0, its coordinates in `column`. */
static void add_candidates(search *s, double complex tau, int column)
{
  if (!s->pencil.squared) {
    s->found[s->n_found++] = (candidate){.tau = tau, .s = tau, .column = column};
  } else if (cimag(tau) == 0.0 && creal(tau) < 0.0) {
    s->found[s->n_found++] = (candidate){.tau = tau, .s = I * sqrt(-creal(tau)), .column = column};
  } else {
    const double complex root = csqrt(tau);
    s->found[s->n_found++] = (candidate){.tau = tau, .s = root, .column = column};
    s->found[s->n_found++] = (candidate){.tau = tau, .s = -conj(root), .column = column, .conjugate = 1};
  }
}

/* Component of a vector along the zeros: (H11 − θ) y = −H12 c, H11 upper triangular by levels with −1/τ0 on
 * its diagonal. H in the basis Z: [k][k] by columns. */
static void add_zero_part(const search *s, const double *HZ, double complex theta, double complex *v)
{
  const int k = s->space.k;
  const double diagonal = -1.0 / s->pencil.tau0;
  for (int i = s->n_zero - 1; i >= 0; i--) {
    double complex sum = 0.0;
    for (int j = i + 1; j < k; j++)
      if (j >= s->n_zero || s->level[j] > s->level[i]) sum += HZ[(size_t)j * (size_t)k + (size_t)i] * v[j];
    v[i] = sum / (theta - diagonal);
  }
}

/* HZ[k][k] := Zᵀ H Z by columns */
static void transform(const search *s, double *HZ, double *work)
{
  const int k = s->space.k;
  combine(k, k, k, s->H, s->Z, work);
  for (int j = 0; j < k; j++)
    for (int i = 0; i < k; i++)
      HZ[(size_t)j * (size_t)k + (size_t)i] =
          dot(k, s->Z + (size_t)i * (size_t)k, work + (size_t)j * (size_t)k);
}

/* Candidates that are not zero, from the eigenvalues of H22. */
static void add_eigenvalues(search *s, const double *HZ, const ga__eigen *eigen, double complex *v)
{
  const double *re = eigen->re, *im = eigen->im, *vectors = eigen->vectors;
  const int k = s->space.k, zeros = s->n_zero, m = k - zeros;
  for (int i = 0; i < m; i++) {
    if (im[i] < 0.0) continue;
    const double complex theta = re[i] + I * im[i];
    double complex tau = s->pencil.tau0 + 1.0 / theta;
    for (int l = 0; l < m; l++)
      v[zeros + l] = vectors[(size_t)i * (size_t)m + (size_t)l] +
                     (im[i] > 0.0 ? I * vectors[(size_t)(i + 1) * (size_t)m + (size_t)l] : 0.0);
    add_zero_part(s, HZ, theta, v);
    double complex *c = s->coordinates + (size_t)(zeros + i) * (size_t)k;
    for (int l = 0; l < k; l++) c[l] = 0.0;
    for (int j = 0; j < k; j++)
      for (int l = 0; l < k; l++) c[l] += s->Z[(size_t)j * (size_t)k + (size_t)l] * v[j];
    if (cimag(tau) < 0.0) {
      tau = conj(tau);
      for (int l = 0; l < k; l++) c[l] = conj(c[l]);
    }
    add_candidates(s, im[i] == 0.0 ? creal(tau) : tau, zeros + i);
  }
}

static ga_status solve_general(search *s)
{
  const size_t k = (size_t)s->space.k, zeros = (size_t)s->n_zero;
  double *HZ, *work, *v, *block = NULL;
  const ga__array need[] = {{&HZ, k * k}, {&work, k * k}, {&v, 2 * k}};
  ga__eigen eigen = {0};
  ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(need), "modes", &block, NULL);
  if (!status) status = ga__eigen_create(s->ctx, (int)(k - zeros), &eigen);
  if (!status) {
    transform(s, HZ, work);
    status = ga__eigen_compute(&eigen, (int)(k - zeros), HZ + zeros * k + zeros, (int)k);
  }
  if (!status) add_eigenvalues(s, HZ, &eigen, (double complex *)(void *)v);
  ga__eigen_destroy(&eigen);
  ga__free(s->ctx, block);
  return status;
}

/* M = Xᵀ E X and G = Xᵀ E T X = M H, by columns; returns 1 if both are symmetric, and symmetrises them. */
static int make_symmetric(search *s, double *G, double *M, double *z, double *product)
{
  const int k = s->space.k, n = s->pencil.n, m = s->pencil.n_state;
  double off[2] = {0.0, 0.0}, most[2] = {0.0, 0.0};
  for (int j = 0; j < k; j++) {
    memset(z, 0, (size_t)n * sizeof *z);
    memcpy(z, s->space.basis + (size_t)j * (size_t)m, (size_t)m * sizeof *z);
    ga__pencil_mul_e(&s->pencil, product, z);
    for (int i = 0; i < k; i++)
      M[(size_t)j * (size_t)k + (size_t)i] = dot(m, s->space.basis + (size_t)i * (size_t)m, product);
  }
  combine(k, k, k, M, s->H, G);
  for (int which = 0; which < 2; which++)
    for (int j = 0; j < k; j++)
      for (int i = 0; i <= j; i++) {
        double *a = &(which ? G : M)[(size_t)j * (size_t)k + (size_t)i],
               *b = &(which ? G : M)[(size_t)i * (size_t)k + (size_t)j];
        off[which] = fmax(off[which], fabs(*a - *b));
        most[which] = fmax(most[which], fabs(*a));
        *a = *b = 0.5 * (*a + *b);
      }
  return off[0] <= SYMMETRIC * most[0] && off[1] <= SYMMETRIC * most[1];
}

/* G c = θ M c with symmetric matrices: θ and τ are real. The smallest τ, as many as there are zeros, are
 * zeros. */
static ga_status solve_symmetric(search *s, int *done)
{
  const size_t k = (size_t)s->space.k, n = (size_t)s->pencil.n;
  double *G, *M, *z, *product, *theta, *block = NULL;
  const ga__array need[] = {{&G, k * k}, {&M, k * k}, {&z, n}, {&product, n}, {&theta, k}};
  *done = 0;
  if (!s->pencil.squared || s->n_zero != s->n_free) return GA_OK;
  ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(need), "modes", &block, NULL);
  if (status) return status;
  if (make_symmetric(s, G, M, z, product)) status = ga__eigen_symmetric(s->ctx, (int)k, G, M, theta, done);
  for (int left = s->n_zero; *done && left > 0; left--) { /* the τ of least size */
    size_t at = k;
    for (size_t i = 0; i < k; i++)
      if (theta[i] != 0.0 &&
          (at == k || fabs(s->pencil.tau0 + 1.0 / theta[i]) < fabs(s->pencil.tau0 + 1.0 / theta[at])))
        at = i;
    if (at < k) theta[at] = 0.0;
  }
  int column = s->n_zero;
  for (size_t i = 0; *done && i < k; i++) {
    if (theta[i] == 0.0) continue;
    for (size_t l = 0; l < k; l++) s->coordinates[(size_t)column * k + l] = G[i * k + l];
    add_candidates(s, s->pencil.tau0 + 1.0 / theta[i], column++);
  }
  ga__free(s->ctx, block);
  return status;
}

static int compare_candidates(const void *a, const void *b)
{
  const candidate *first = a, *second = b;
  const double p = cabs(first->s), q = cabs(second->s);
  if (first->zero != second->zero) return second->zero - first->zero;
  if (p != q) return p < q ? -1 : 1;
  if (creal(first->s) != creal(second->s)) return creal(first->s) < creal(second->s) ? -1 : 1;
  return first->column < second->column ? -1 : first->column > second->column;
}

static ga_status find_candidates(search *s)
{
  int done = 0;
  ga_status status = find_zeros(s);
  if (status) return status;
  s->n_found = 0;
  for (int i = 0; i < s->n_free; i++) add_zero(s, i);
  status = solve_symmetric(s, &done);
  if (!status && !done) {
    s->n_found = s->n_free;
    status = solve_general(s);
  }
  if (!status) qsort(s->found, (size_t)s->n_found, sizeof *s->found, compare_candidates);
  return status;
}

/* ---- The search ---- */

static ga_status refuse_singular(search *s, const ga_point *p)
{
  const int column = ga_lu_get_info(s->pencil.lu)->weak_column;
  const ga__part_of_z part = ga__pencil_part(&s->pencil, column);
  static const ga_equation_block block[GA__N_Z] = {GA_BLOCK_V,   GA_BLOCK_V,   GA_BLOCK_X, GA_BLOCK_LAMBDA,
                                                   GA_BLOCK_PSI, GA_BLOCK_ETA, GA_BLOCK_Y};
  const int index = column - s->pencil.start[part];
  char name[GA_ERROR_NAME];
  ga__describe_unknown(s->pencil.sys, block[part], index, name, sizeof name);
  return ga__refuse(s->ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_PENCIL,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, block[part], index}, .equation = name});
}

/* Finds a shift that is not an eigenvalue. */
static ga_status set_shift(search *s, const ga_point *p)
{
  for (int i = 0; i < MOST_SINGULAR; i++, s->sigma *= OTHER_SHIFT) {
    const ga_status status = ga__pencil_shift(&s->pencil, s->sigma);
    if (status != GA_RETRY_SINGULAR) return status;
  }
  return refuse_singular(s, p);
}

static ga_status choose_solver(search *s, int asked)
{
  const int n = s->pencil.n_state;
  s->dense = asked > 0 || n <= FEW_UNKNOWNS || 4 * s->k > n || s->unconverged;
  if (asked < 0 && s->k + 2 <= n && !s->unconverged) s->dense = 0;
  if (!s->dense || n <= MOST_DENSE) return GA_OK;
  return ga__refuse(s->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                    &(ga__facts){.function = "ga_modes_create",
                                 .field = "modes",
                                 .detail = "a part of all eigenvalues of a large system can be had",
                                 GA__NUMBERS({s->k, NULL}, {n / 4, NULL})});
}

/* 1: changed s->sigma to a better shift: the geometric mean of the slowest and the fastest mode wanted,
 * where rounding of T affects both equally. */
static int improve_shift(search *s, int wanted)
{
  int first = 0, last = s->n_found - 1;
  while (first < s->n_found && s->found[first].zero) first++;
  if (first > last) { /* only zeros: true zeros, or much slower than the shift? */
    const int last_word = s->sigma < SLOWEST;
    s->sigma *= SLOWER;
    return !last_word;
  }
  if (last >= wanted && wanted > first) last = wanted - 1;
  const double most = cabs(s->found[last].s);
  double best = sqrt(cabs(s->found[first].s) * most);
  if (!s->pencil.squared)
    best = fmin(fmax(best, SHIFT_LEAST * most), fmax(SHIFT_MOST * most, cabs(s->found[first].s)));
  if (s->sigma < SHIFT_FAR * best && best < SHIFT_FAR * s->sigma) return 0;
  s->sigma = best;
  s->progress = SHIFT_KNOWN;
  return 1;
}

static ga_status refuse_few(search *s, int all)
{
  return ga__refuse(s->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_FEW_MODES,
                    &(ga__facts){GA__NUMBERS({s->wanted > 0 ? s->wanted : USUAL_MODES, NULL}, {all, NULL})});
}

/* 1: ARPACK has not converged, as with many free motions of constant speed, and the problem is small enough
 * for LAPACK. */
static int may_fall_back(search *s, ga_status status)
{
  if (status != GA_ERR_SINGULAR || s->dense || s->unconverged || s->pencil.n_state > MOST_DENSE) return 0;
  return s->unconverged = 1;
}

/* Finds a subspace with a good shift; if an improved shift cannot be used, with the last one. */
static ga_status begin_search(search *s, const ga_point *p, int asked, int wanted)
{
  double used = 0.0;
  for (int shifts = 0, last = 0;; shifts++) {
    ga_status status = choose_solver(s, asked);
    if (!status) status = set_shift(s, p);
    if (status == GA_ERR_SINGULAR && used > 0.0 && !last) {
      s->sigma = used;
      s->progress = SHIFT_KNOWN;
      last = 1;
      continue;
    }
    int again = shifts < MOST_SHIFTS && !last;
    used = s->sigma;
    if (!status) status = find_subspace(s, wanted, &again);
    if ((!status && again) || may_fall_back(s, status)) continue;
    if (!status) status = find_candidates(s);
    if (status || last || shifts == MOST_SHIFTS || !improve_shift(s, wanted)) return status;
  }
}

/* Bound of the |θ| outside the subspace that ensures that the first `wanted` are the smallest: |τ| + τ0 <=
 * 1/|θ| of all others. */
static double allowed_rest(const search *s, int wanted)
{
  if (s->n_found < wanted) return 0.0;
  if (s->found[wanted - 1].zero) return INFINITY;
  return 1.0 / (cabs(s->found[wanted - 1].tau) + s->pencil.tau0);
}

static ga_status refuse_unconverged(search *s, int wanted)
{
  return ga__refuse(s->ctx, GA_ERR_SINGULAR, GA_REASON_FEW_CONVERGED,
                    &(ga__facts){GA__NUMBERS({s->n_found, NULL}, {wanted, NULL}, {s->pencil.n_state, NULL})});
}

/* Extends the subspace until none of the first `wanted` can be missing, or all have been found. */
static ga_status complete_search(search *s, const ga_point *p, int asked, int wanted, int all)
{
  const ga__operator T = make_operator(s);
  for (int more = s->k / 8 + 6; s->space.k < all; more *= 2) {
    const double enough = allowed_rest(s, wanted);
    const int before = s->space.k;
    ga_status status = enough == INFINITY ? GA_OK : ga__subspace_extend(&s->space, more, &T, enough);
    if (may_fall_back(s, status)) {
      status = begin_search(s, p, asked, wanted);
      if (!status) continue;
    }
    if (status || s->space.rest <= enough) return status;
    if (s->dense) {
      if (s->space.k < s->k || s->k >= all) return GA_OK; /* the others are rounding */
      s->k = 2 * s->k < all ? 2 * s->k : all;
      status = begin_search(s, p, asked, wanted);
      if (!status && s->space.k <= before) return GA_OK; /* no more than before: the others are rounding */
    } else {
      if (s->space.k == before) return refuse_unconverged(s, wanted);
      status = use_subspace(s);
      if (!status) status = find_candidates(s);
    }
    if (status) return status;
  }
  return GA_OK;
}

/* *n: number of modes to return, the smallest of those found. */
static ga_status search_modes(search *s, const ga_point *p, int asked, int *n)
{
  const int all = ga__pencil_count(&s->pencil), wanted = s->wanted > 0 ? s->wanted : USUAL_MODES;
  if (all == 0 || (s->pencil.n_state > MOST_DENSE && s->wanted > 2 * all)) return refuse_few(s, all);
  s->progress = NOTHING_KNOWN;
  s->k = s->pencil.squared ? wanted + 4 : 2 * wanted + 6;
  if (s->k > all) s->k = all;
  if (!s->z) s->z = ga__alloc(s->ctx, (size_t)s->pencil.n, sizeof *s->z);
  ga_status status = s->z ? begin_search(s, p, asked, wanted) : ga__no_memory(s->ctx, "modes");
  if (!status) status = complete_search(s, p, asked, wanted, all);
  if (status) return status;
  if (s->n_found == 0)
    return ga__refuse(s->ctx, GA_ERR_SINGULAR, GA_REASON_NO_ACCELERATIONS,
                      &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_V, -1}});
  if (s->wanted > s->n_found && s->space.k >= all) return refuse_few(s, s->n_found);
  if (s->wanted > s->n_found)
    return ga__refuse(s->ctx, GA_ERR_SINGULAR, GA_REASON_MODES_ARE_ROUNDING,
                      &(ga__facts){GA__NUMBERS({s->n_found, NULL}, {s->wanted, NULL})});
  *n = s->n_found < wanted ? s->n_found : wanted;
  return GA_OK;
}

/* ---- Shapes ---- */

/* z[n] of a candidate. */
static void find_shape(const search *s, const candidate *f, double complex *z)
{
  const int k = s->space.k, n = s->pencil.n;
  const double complex *c = s->coordinates + (size_t)f->column * (size_t)k;
  for (int i = 0; i < n; i++) z[i] = 0.0;
  for (int j = 0; j < k; j++) {
    const double complex factor = f->conjugate ? conj(c[j]) : c[j];
    for (int i = 0; i < n; i++) z[i] += factor * s->Y[(size_t)j * (size_t)n + (size_t)i];
  }
}

static double largest(const double complex *z, int n, double complex *at)
{
  double most = 0.0;
  for (int i = 0; i < n; i++)
    if (cabs(z[i]) > most) most = cabs(z[i]), *at = z[i];
  return most;
}

/* Largest numbers of each part of z. */
static void measure_parts(const search *s, const double complex *z, double most[GA__N_Z])
{
  for (int i = 0; i < GA__N_Z; i++) {
    double complex at = 0.0;
    most[i] = largest(z + s->pencil.start[i], s->pencil.size[i], &at);
  }
}

/* Size of z relative to the usual sizes of its parts. */
static double measure_shape(const search *s, const double most[GA__N_Z])
{
  double size = 0.0;
  for (int i = GA__Z_Q; i <= GA__Z_X; i++)
    if (s->usual[i] > 0.0) size = fmax(size, most[i] / s->usual[i]);
  return size;
}

static void normalise(const search *s, double complex *z)
{
  const ga__pencil *p = &s->pencil;
  double complex of_q = 0.0, of_x = 0.0;
  double most[GA__N_Z];
  measure_parts(s, z, most);
  largest(z + p->start[GA__Z_Q], p->size[GA__Z_Q], &of_q);
  largest(z + p->start[GA__Z_X], p->size[GA__Z_X], &of_x);
  const int moves = most[GA__Z_Q] > STILL * measure_shape(s, most) * s->usual[GA__Z_Q];
  const double complex by = moves || of_x == 0.0 ? of_q : of_x;
  for (int i = 0; by != 0.0 && i < p->n; i++) z[i] /= by;
}

/* |A z − τ E z| over the size of its terms, both the largest among equations of one kind; work[4][n]. */
static double measure_residual(const search *s, double complex tau, const double complex *z, double *work)
{
  const ga__pencil *p = &s->pencil;
  const size_t n = (size_t)p->n;
  double most[GA__N_Z], *part = work, *product = work + n, *re = work + 2 * n, *im = work + 3 * n,
                        worst = 0.0;
  measure_parts(s, z, most);
  const double size = measure_shape(s, most);
  for (int i = 0; i < GA__N_Z; i++) most[i] = fmax(most[i], size * s->usual[i]);
  for (size_t i = 0; i < n; i++) re[i] = im[i] = 0.0;
  for (int imaginary = 0; imaginary < 2; imaginary++) {
    const double complex unit = imaginary ? I : 1.0;
    for (size_t i = 0; i < n; i++) part[i] = imaginary ? cimag(z[i]) : creal(z[i]);
    ga__pencil_mul_a(p, product, part);
    for (size_t i = 0; i < n; i++) re[i] += creal(unit) * product[i], im[i] += cimag(unit) * product[i];
    ga__pencil_mul_e(p, product, part);
    for (size_t i = 0; i < n; i++)
      re[i] -= creal(unit * tau) * product[i], im[i] -= cimag(unit * tau) * product[i];
  }
  ga__pencil_row_scale(p, cabs(tau), most, part);
  for (int b = 0; b < GA__N_Z; b++) {
    double left = 0.0, terms = 0.0;
    for (int i = p->start[b]; i < p->start[b] + p->size[b]; i++)
      left = fmax(left, hypot(re[i], im[i])), terms = fmax(terms, part[i]);
    if (terms > 0.0) worst = fmax(worst, left / terms);
  }
  return worst;
}

/* Numbers of one direction. */
static size_t direction_length(const ga_system *sys)
{
  return 2 * (size_t)sys->nv + (size_t)sys->n;
}

/* Copies the real or imaginary part of factor times a part of z to *to, and advances *to. */
static const double *copy_part(const search *s, ga__part_of_z part, double complex factor,
                               const double complex *z, int imaginary, double **to)
{
  double *at = *to;
  const int n = s->pencil.size[part];
  for (int i = 0; i < n; i++) {
    const double complex value = factor * z[s->pencil.start[part] + i];
    at[i] = imaginary ? cimag(value) : creal(value);
  }
  *to += n;
  return at;
}

static ga_direction copy_direction(const search *s, double complex eigenvalue, const double complex *z,
                                   int imaginary, double **to)
{
  const int squared = s->pencil.squared;
  const ga__part_of_z v = squared ? GA__Z_Q : GA__Z_V;
  double *vdot = *to + s->pencil.size[GA__Z_Q] + s->pencil.size[v];
  const double complex speed = squared ? eigenvalue : s->pencil.rate;
  const ga_direction d = {.q = copy_part(s, GA__Z_Q, 1.0, z, imaginary, to),
                          .v = copy_part(s, v, speed, z, imaginary, to),
                          .vdot = copy_part(s, v, eigenvalue * speed, z, imaginary, to),
                          .lambda = copy_part(s, GA__Z_LAMBDA, 1.0, z, imaginary, to),
                          .psi = copy_part(s, GA__Z_PSI, 1.0, z, imaginary, to),
                          .x = copy_part(s, GA__Z_X, 1.0, z, imaginary, to),
                          .y = copy_part(s, GA__Z_Y, 1.0, z, imaginary, to)};
  for (int i = 0; s->turning && i < s->turning->n; i++) /* δv = S ζ: δv' = S (ζ' + Ω̂ ζ) */
    vdot[s->turning->row[i]] += s->turning->value[i] * d.v[s->turning->col[i]];
  return d;
}

static ga_status copy_modes(const search *s, int n, ga_modes *m)
{
  const size_t length = direction_length(s->pencil.sys), size = (size_t)s->pencil.n;
  double complex *z = ga__alloc(s->ctx, size, sizeof *z);
  double *work = ga__alloc(s->ctx, 4 * size, sizeof *work), *to = m->block;
  m->mode = ga__alloc(s->ctx, (size_t)n, sizeof *m->mode);
  to = m->block = ga__alloc(s->ctx, 2 * length * (size_t)n, sizeof *m->block);
  const int complete = z && work && m->mode && m->block;
  for (int i = 0; complete && i < n; i++) {
    const candidate *f = &s->found[i];
    const double size_s = cabs(f->s);
    find_shape(s, f, z);
    normalise(s, z);
    m->mode[i] = (ga_mode){.re = creal(f->s),
                           .im = cimag(f->s),
                           .frequency = cimag(f->s) / TWO_PI,
                           .damping = size_s > 0.0 ? 0.0 - creal(f->s) / size_s : 0.0,
                           .zero = f->zero,
                           .residual = measure_residual(s, f->conjugate ? conj(f->tau) : f->tau, z, work),
                           .real = copy_direction(s, f->s, z, 0, &to),
                           .imaginary = copy_direction(s, f->s, z, 1, &to)};
  }
  ga__free(s->ctx, z);
  ga__free(s->ctx, work);
  return complete ? GA_OK : ga__no_memory(s->ctx, "modes");
}

/* ---- The point ---- */

/* The residual of the point, and how steady its motion is; r: [n + n_lambda]. */
static ga_status examine_point(search *s, const ga_system *sys, ga_evaluation *ev, const ga_point *p,
                               double *r, const ga__later *at, ga_modes_info *info)
{
  const int x = sys->start[GA_BLOCK_X], y = sys->start[GA_BLOCK_Y];
  ga_evaluation *later = NULL;
  ga_status status = ga_evaluation_residual(ev, p, NULL, r, r + sys->n);
  if (!status) status = ga__evaluation_create_like(ev, &later);
  if (!status) {
    info->residual = fmax(ga__max_abs(r, x, NULL),
                          ga__max_abs(r + y, sys->size[GA_BLOCK_Y] + sys->size[GA_BLOCK_LAMBDA], NULL));
    if (!s->turning) info->unsteady = ga__unsteadiness(s->ctx, sys, ev, later, p, r + x, at);
  }
  ga_evaluation_destroy(&later);
  return status;
}

static ga_status linearise(search *s, const ga_system *sys, const ga_point *p, ga_modes_info *info)
{
  ga__later at = {0};
  double *r, *block = NULL;
  const ga__array need[] = {{&r, (size_t)(sys->n + sys->size[GA_BLOCK_LAMBDA])},
                            {&at.q, (size_t)sys->nq},
                            {&at.move, (size_t)sys->nv},
                            {&at.v, (size_t)sys->nv},
                            {&at.x, (size_t)sys->size[GA_BLOCK_X]}};
  ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(need), "modes", &block, NULL);
  if (!status) status = ga__evaluation_create(s->ctx, sys, 0, &s->ev);
  if (!status) status = ga_evaluation_jacobian(s->ev, p);
  if (!status) status = examine_point(s, sys, s->ev, p, r, &at, info);
  if (!status) status = ga__pencil_create(s->ctx, sys, s->ev, p, s->turning, &s->pencil);
  ga__free(s->ctx, block);
  return status;
}

/* Refuses singular positions: nearby there are fewer relations among constraints than at the point, and not
 * every δq with B δq = 0 is a motion. Φ nearby is of second order and not visible. */
static ga_status check_position(search *s, const ga_point *p, const ga_modes *m)
{
  const double far = 1e-4;
  const size_t nv = (size_t)s->pencil.sys->nv, nq = (size_t)s->pencil.sys->nq;
  if (s->pencil.redundant == 0) return GA_OK;
  double *move, *q, *block = NULL;
  const ga__array need[] = {{&move, nv}, {&q, nq}};
  ga_evaluation *ev = NULL;
  ga_point there = *p;
  int redundant = 0;
  ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(need), "modes", &block, NULL);
  if (!status) status = ga__evaluation_create_like(s->ev, &ev);
  if (!status) {
    for (int i = 0; i < m->info.n; i++) /* a generic motion that they allow */
      for (size_t k = 0; k < nv; k++) move[k] += far * sin(1.0 + 2.4 * i) * m->mode[i].real.q[k];
    ga_group_move(s->pencil.sys->group, q, p->q, move);
    there.q = q, there.motion = 0;
    status = ga_evaluation_jacobian(ev, &there);
  }
  if (!status) status = ga__count_redundant(s->ctx, s->pencil.sys, ev, &redundant);
  if (!status && redundant < s->pencil.redundant)
    status = ga__refuse(s->ctx, GA_ERR_SINGULAR, GA_REASON_SINGULAR_POSITION,
                        &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_LAMBDA, -1}});
  ga_evaluation_destroy(&ev);
  ga__free(s->ctx, block);
  return status;
}

/* Refuses points with a kink along the modes. Shapes without speed, as those of free motions, are motions of
 * constant speed too, unless k forbids these. */
static ga_status check_kinks(const search *s, const ga_system *sys, const ga_point *p, const ga_modes *m)
{
  ga__kink_test kink;
  ga_status status = ga__kink_create(s->ctx, sys, s->ev, 2, 0, &kink);
  for (int i = 0; !status && i < 2 * m->info.n; i++) {
    const ga_direction *d = i % 2 ? &m->mode[i / 2].imaginary : &m->mode[i / 2].real;
    const double *const by[] = {
        [GA_BY_VDOT] = d->vdot, [GA_BY_V] = d->v, [GA_BY_Q] = d->q, [GA_BY_LAMBDA] = d->lambda,
        [GA_BY_PSI] = d->psi,   [GA_BY_X] = d->x, [GA_BY_Y] = d->y};
    for (int b = 0; b < GA_N_BY; b++) ga__kink_add(&kink, (ga_by)b, by[b], i);
    if (sys->size[GA_BLOCK_PSI] == 0) ga__kink_add(&kink, GA_BY_V, d->q, i);
  }
  if (!status) status = ga__kink_check(&kink, s->ev, p);
  ga__kink_destroy(&kink);
  return status;
}

/* ---- The object ---- */

ga_modes_opts ga_modes_defaults(void)
{
  return (ga_modes_opts){0};
}

/* 1: ARPACK's vectors are poor, as they are near motions of constant speed of several bodies, and the problem
 * is small enough for LAPACK. */
static int is_poor(const search *s, const ga_modes *m)
{
  double worst = 0.0;
  for (int i = 0; i < m->info.n; i++) worst = fmax(worst, m->mode[i].residual);
  return !s->dense && s->pencil.n_state <= MOST_DENSE && !(worst <= POOR);
}

static void release_modes(ga_modes *m)
{
  ga__free(m->ctx, m->mode);
  ga__free(m->ctx, m->block);
  m->mode = NULL;
  m->block = NULL;
}

static ga_status find_modes(search *s, const ga_point *p, int asked, ga_modes *m)
{
  int n = 0;
  const ga_status status = search_modes(s, p, asked, &n);
  if (status) return status;
  m->info.n = n;
  m->info.squared = s->pencil.squared;
  m->info.n_all = (1 + s->pencil.squared) * ga__pencil_count(&s->pencil);
  m->info.n_zero = (1 + s->pencil.squared) * s->n_zero;
  m->info.dense = s->dense;
  m->info.shift = s->sigma;
  return copy_modes(s, n, m);
}

static ga_status compute(search *s, const ga_system *sys, const ga_modes_opts *o, const ga_point *p,
                         ga_modes *m)
{
  ga_status status = linearise(s, sys, p, &m->info);
  if (!status) status = find_modes(s, p, o->dense, m);
  if (!status && is_poor(s, m)) {
    release_modes(m);
    s->unconverged = 1;
    s->sigma = FIRST_SHIFT;
    status = find_modes(s, p, o->dense, m);
  }
  if (!status && s->turning)
    status = ga__turning_unsteadiness(s->ctx, &s->pencil, p, s->space.k < COMPARED ? s->space.k : COMPARED,
                                      s->space.basis, &m->info.unsteady);
  if (!status) status = check_position(s, p, m);
  release_pencil(s); /* before the memory of the next check is taken */
  return status ? status : check_kinks(s, sys, p, m);
}

ga_status ga_modes_create(ga_context *ctx, const ga_system *sys, const ga_modes_opts *opts, const ga_point *p,
                          ga_modes **out)
{
  const ga_modes_opts o = opts ? *opts : ga_modes_defaults();
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!sys || !p || !out) return ga__refuse_null(ctx, __func__, !out ? "out" : sys ? "p" : "sys");
  if (o.n < 0) return ga__refuse_number(ctx, "modes", "n", o.n, ">= 0");
  if (ga__refuse_samples(ctx, sys, __func__)) return GA_ERR_ARGUMENT;
  if (o.turning) {
    const ga_status wrong = ga__turning_check(ctx, sys, o.turning);
    if (wrong) return wrong;
  }
  ga_modes *m = ga__alloc(ctx, 1, sizeof *m);
  if (!m) return ga__no_memory(ctx, "modes");
  search s = {.ctx = ctx, .wanted = o.n, .p = p, .turning = o.turning, .sigma = FIRST_SHIFT};
  m->ctx = ctx;
  const ga_status status = compute(&s, sys, &o, p, m);
  release_pencil(&s);
  ga_evaluation_destroy(&s.ev);
  if (status)
    ga_modes_destroy(&m);
  else
    *out = m;
  return status;
}

void ga_modes_destroy(ga_modes **modes)
{
  if (!modes || !*modes) return;
  ga_modes *m = *modes;
  release_modes(m);
  ga__free(m->ctx, m);
  *modes = NULL;
}

const ga_modes_info *ga_modes_get_info(const ga_modes *m)
{
  return m ? &m->info : NULL;
}

const ga_mode *ga_modes_at(const ga_modes *m, int i)
{
  return m && i >= 0 && i < m->info.n ? &m->mode[i] : NULL;
}
