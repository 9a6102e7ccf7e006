/* Eigenvalues: the invariant subspace of the largest eigenvalues of a linear operator, by ARPACK or, if n
 * is small, by LAPACK from the full matrix; and the eigenvalues of small matrices. */
#include "lin/lin_impl.h"

#include <arpack.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define TOLERANCE 1e-14 /* relative error of an eigenvalue */
#define ROUGH 0.05      /* likewise, of a first search */
/* Rough values of eigenvalues outside a subspace are taken to be larger by this factor. */
#define ROUGH_MARGIN 1.1
enum { MOST_RESTARTS = 300, MORE_VECTORS = 20 };
/* Eigenvalues that a rough search looks for, outside a subspace, and the vectors that it takes. */
enum { FEW = 4, OTHERS = 2, FEW_VECTORS = 12 };

/* ARPACK keeps its state between calls in static variables. */
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

static ga_status no_convergence(ga_context *ctx, int n, int found, int wanted)
{
  return ga__refuse(ctx, GA_ERR_SINGULAR, GA_REASON_FEW_CONVERGED,
                    &(ga__facts){GA__NUMBERS({found, NULL}, {wanted, NULL}, {n, NULL})});
}

void ga__subspace_destroy(ga__subspace *s)
{
  if (!s->ctx) return;
  ga__free(s->ctx, s->basis);
  ga__free(s->ctx, s->re);
  ga__free(s->ctx, s->im);
  *s = (ga__subspace){0};
}

static ga_status keep(ga_context *ctx, int n, int k, const double *basis, const double *re, const double *im,
                      ga__subspace *s)
{
  s->k = k;
  s->basis = ga__alloc(ctx, (size_t)k, (size_t)n * sizeof(double));
  s->re = ga__alloc(ctx, (size_t)k, sizeof(double));
  s->im = ga__alloc(ctx, (size_t)k, sizeof(double));
  if (!s->basis || !s->re || !s->im) return ga__no_memory(ctx, "eigenvectors");
  memcpy(s->basis, basis, (size_t)k * (size_t)n * sizeof(double));
  memcpy(s->re, re, (size_t)k * sizeof(double));
  memcpy(s->im, im, (size_t)k * sizeof(double));
  return GA_OK;
}

/* ---- From the whole matrix ---- */

typedef struct dense {
  double *T; /* [n][n] by columns; then its Schur form */
  double *Q; /* [n][n] Schur vectors */
  double *re, *im, *size, *work;
  int *select, *integers;
  int n_work;
} dense;

static void dense_destroy(ga_context *ctx, dense *d)
{
  void *const block[] = {d->T, d->Q, d->re, d->im, d->size, d->work, d->select, d->integers};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
}

static int dense_create(ga_context *ctx, int n, dense *d)
{
  const size_t square = (size_t)n * (size_t)n;
  double length = 0.0, none = 0.0;
  int dimension = 0, unused = 0;
  LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, &none, n, &dimension, &none, &none, &none, n,
                     &length, -1, &unused);
  d->n_work = (int)fmax(length, 3.0 * n + 1.0);
  d->T = ga__alloc(ctx, square, sizeof(double));
  d->Q = ga__alloc(ctx, square, sizeof(double));
  d->re = ga__alloc(ctx, (size_t)n, sizeof(double));
  d->im = ga__alloc(ctx, (size_t)n, sizeof(double));
  d->size = ga__alloc(ctx, (size_t)n, sizeof(double));
  d->work = ga__alloc(ctx, (size_t)d->n_work, sizeof(double));
  d->select = ga__alloc(ctx, (size_t)n, sizeof(int));
  d->integers = ga__alloc(ctx, (size_t)n + 1, sizeof(int));
  return d->T && d->Q && d->re && d->im && d->size && d->work && d->select && d->integers;
}

/* Selects the k largest, both of a pair; returns their number. *rest: the largest of the others. */
static int select_largest(dense *d, int n, int k, double *rest)
{
  int found = 0;
  for (int i = 0; i < n; i++) d->size[i] = hypot(d->re[i], d->im[i]), d->select[i] = 0;
  while (found < k && found < n) {
    int at = -1;
    for (int i = 0; i < n; i++)
      if (!d->select[i] && (at < 0 || d->size[i] > d->size[at])) at = i;
    d->select[at] = 1, found++;
    const int partner = d->im[at] > 0.0 ? at + 1 : d->im[at] < 0.0 ? at - 1 : at;
    if (!d->select[partner]) d->select[partner] = 1, found++;
  }
  *rest = 0.0;
  for (int i = 0; i < n; i++)
    if (!d->select[i]) *rest = fmax(*rest, d->size[i]);
  return found;
}

static ga_status solve_dense(ga_context *ctx, int n, int k, dense *d, ga__subspace *s)
{
  int dimension = 0;
  lapack_int info = LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, d->T, n, &dimension, d->re, d->im,
                                       d->Q, n, d->work, d->n_work, d->select);
  if (info) return no_convergence(ctx, n, 0, k);
  const int found = select_largest(d, n, k, &s->rest);
  double unused[2];
  info = LAPACKE_dtrsen_work(LAPACK_COL_MAJOR, 'N', 'V', d->select, n, d->T, n, d->Q, n, d->re, d->im,
                             &dimension, &unused[0], &unused[1], d->work, d->n_work, d->integers, n + 1);
  if (info < 0 || dimension < found) return no_convergence(ctx, n, dimension, k);
  return keep(ctx, n, found, d->Q, d->re, d->im, s);
}

static ga_status find_dense(ga_context *ctx, int n, int k, const ga__operator *T, ga__subspace *s)
{
  dense d = {0};
  ga_status status = dense_create(ctx, n, &d) ? GA_OK : ga__no_memory(ctx, "eigenvalues");
  for (int i = 0; !status && i < n; i++) {
    d.Q[i] = 1.0;
    status = T->apply(T->user, d.T + (size_t)i * (size_t)n, d.Q);
    d.Q[i] = 0.0;
  }
  if (!status && !ga__all_finite(d.T, n * n)) status = no_convergence(ctx, n, 0, k);
  if (!status) status = solve_dense(ctx, n, k, &d, s);
  dense_destroy(ctx, &d);
  return status;
}

/* ---- By products alone ---- */

typedef struct arnoldi {
  ga__subspace *known; /* deflated: T becomes (1 − X Xᵀ) T */
  const ga__operator *T;
  int n, n_vectors, n_work;
  double tolerance;
  double *residual, *vectors, *workd, *workl, *workev, *re, *im;
  int *select;
  a_int iparam[11], ipntr[14];
} arnoldi;

static int is_rough(const arnoldi *a)
{
  return a->tolerance > TOLERANCE;
}

static void arnoldi_destroy(ga_context *ctx, arnoldi *a)
{
  void *const block[] = {a->residual, a->vectors, a->workd, a->workl, a->workev, a->re, a->im, a->select};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
}

static int arnoldi_create(ga_context *ctx, int n, int k, arnoldi *a)
{
  const int vectors = 2 * k + (is_rough(a) ? FEW_VECTORS : MORE_VECTORS);
  a->n = n;
  a->n_vectors = vectors < n ? vectors : n;
  a->n_work = 3 * a->n_vectors * (a->n_vectors + 2);
  const size_t size = (size_t)n, m = (size_t)a->n_vectors;
  a->residual = ga__alloc(ctx, size, sizeof(double));
  a->vectors = ga__alloc(ctx, m, size * sizeof(double));
  a->workd = ga__alloc(ctx, 3 * size, sizeof(double));
  a->workl = ga__alloc(ctx, (size_t)a->n_work, sizeof(double));
  a->workev = ga__alloc(ctx, 3 * m, sizeof(double));
  a->re = ga__alloc(ctx, m + 1, sizeof(double));
  a->im = ga__alloc(ctx, m + 1, sizeof(double));
  a->select = ga__alloc(ctx, m, sizeof(int));
  return a->residual && a->vectors && a->workd && a->workl && a->workev && a->re && a->im && a->select;
}

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* x := (1 − X Xᵀ) x */
static void deflate(const arnoldi *a, double *x)
{
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < a->known->k; j++) {
      const double *u = a->known->basis + (size_t)j * (size_t)a->n, part = dot(a->n, u, x);
      for (int i = 0; i < a->n; i++) x[i] -= part * u[i];
    }
}

static ga_status multiply(const arnoldi *a, double *out, const double *in)
{
  const ga__operator *T = a->T;
  const ga_status status = (is_rough(a) && T->apply_roughly ? T->apply_roughly : T->apply)(T->user, out, in);
  if (!status) deflate(a, out);
  return status;
}

/* Start vector: the operator applied twice to generic numbers, so that it has no component in the null
 * space; or to the sum of the vectors of a rough subspace. */
static ga_status set_start(arnoldi *a, const ga__subspace *first)
{
  double *in = a->workd;
  for (int i = 0; i < a->n; i++) in[i] = 1.0 + 0.5 * sin(1.0 + (2.4 + 0.1 * a->known->k) * i);
  for (int j = 0; first && j < first->k; j++)
    for (int i = 0; i < a->n; i++)
      in[i] = (j ? in[i] : 0.0) + first->basis[(size_t)j * (size_t)a->n + (size_t)i];
  deflate(a, in);
  ga_status status = multiply(a, a->residual, in);
  memcpy(in, a->residual, (size_t)a->n * sizeof *in);
  return status ? status : multiply(a, a->residual, in);
}

/* ARPACK's iteration; *info: its result. */
static ga_status iterate(arnoldi *a, int k, a_int *info)
{
  a_int ido = 0;
  *info = 1; /* the start is given */
  a->iparam[0] = 1, a->iparam[2] = MOST_RESTARTS, a->iparam[3] = 1, a->iparam[6] = 1;
  for (;;) {
    dnaupd_c(&ido, "I", a->n, "LM", k, a->tolerance, a->residual, a->n_vectors, a->vectors, a->n, a->iparam,
             a->ipntr, a->workd, a->workl, a->n_work, info);
    if (ido != 1 && ido != -1) return GA_OK;
    const ga_status status = multiply(a, a->workd + a->ipntr[1] - 1, a->workd + a->ipntr[0] - 1);
    if (status) return status;
  }
}

/* Whether all k have the tolerance of accurate ones, by ARPACK's own bounds of their errors. */
static int is_accurate(const arnoldi *a, int k)
{
  const double *re = a->workl + a->ipntr[5] - 1, *im = a->workl + a->ipntr[6] - 1,
               *bound = a->workl + a->ipntr[7] - 1;
  const double least = pow(DBL_EPSILON / 2, 2.0 / 3.0);
  for (int i = 0; i < k; i++)
    if (!(bound[i] <= TOLERANCE * fmax(least, hypot(re[i], im[i])))) return 0;
  return 1;
}

/* Schur vectors of the eigenvalues that have converged. */
static ga_status extract(ga_context *ctx, arnoldi *a, int k, ga__subspace *s)
{
  a_int info = 0;
  dneupd_c(1, "P", a->select, a->re, a->im, a->vectors, a->n, 0.0, 0.0, a->workev, "I", a->n, "LM", k,
           a->tolerance, a->residual, a->n_vectors, a->vectors, a->n, a->iparam, a->ipntr, a->workd, a->workl,
           a->n_work, &info);
  const int found = a->iparam[4] < k + 1 ? a->iparam[4] : k + 1;
  if (info || found <= 0) return no_convergence(ctx, a->n, 0, k);
  return keep(ctx, a->n, found, a->vectors, a->re, a->im, s);
}

/* The k largest eigenvalues of the deflated operator to a tolerance, into s; first: a rough subspace to begin
 * with, or NULL. */
static ga_status find_sparse(ga_context *ctx, int n, int k, const ga__operator *T, double tolerance,
                             ga__subspace *known, const ga__subspace *first, ga__subspace *s)
{
  arnoldi a = {.known = known, .T = T, .tolerance = tolerance};
  a_int info = 0;
  ga_status status = arnoldi_create(ctx, n, k, &a) ? GA_OK : ga__no_memory(ctx, "eigenvalues");
  if (!status) status = set_start(&a, first);
  const double size = status ? 0.0 : dot(n, a.residual, a.residual);
  if (!status && !(size > 0.0)) { /* the deflated operator is zero */
    s->accurate = 1;
    arnoldi_destroy(ctx, &a);
    return GA_OK;
  }
  pthread_mutex_lock(&arpack_lock);
  if (!status) status = iterate(&a, k, &info);
  if (!status && info < 0) status = no_convergence(ctx, n, 0, k);
  if (!status) s->accurate = !is_rough(&a) || (!T->apply_roughly && is_accurate(&a, k));
  if (!status) status = extract(ctx, &a, k, s);
  pthread_mutex_unlock(&arpack_lock);
  arnoldi_destroy(ctx, &a);
  return status;
}

static ga_status find(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                      double tolerance, ga__subspace *s)
{
  ga__subspace none = {0};
  *s = (ga__subspace){.ctx = ctx, .n = n, .dense = solver == GA__EIGEN_DENSE};
  s->accurate = s->dense;
  const ga_status status =
      s->dense ? find_dense(ctx, n, k, T, s) : find_sparse(ctx, n, k, T, tolerance, &none, NULL, s);
  if (status) ga__subspace_destroy(s);
  return status;
}

ga_status ga__subspace_find(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                            ga__subspace *s)
{
  return find(ctx, solver, n, k, T, TOLERANCE, s);
}

ga_status ga__subspace_begin(ga_context *ctx, ga__eigensolver solver, int n, int k, const ga__operator *T,
                             ga__subspace *s)
{
  return find(ctx, solver, n, solver == GA__EIGEN_SPARSE && k > FEW ? FEW : k, T, ROUGH, s);
}

ga_status ga__subspace_complete(ga__subspace *s, int k, const ga__operator *T)
{
  ga__subspace none = {0}, all = {.ctx = s->ctx, .n = s->n};
  if (s->accurate) return GA_OK;
  const ga_status status = find_sparse(s->ctx, s->n, k, T, TOLERANCE, &none, s, &all);
  ga__subspace_destroy(s);
  if (status)
    ga__subspace_destroy(&all);
  else
    *s = all;
  return status;
}

static double largest_size(const ga__subspace *s)
{
  double most = 0.0;
  for (int i = 0; i < s->k; i++) most = fmax(most, hypot(s->re[i], s->im[i]));
  return most;
}

/* s := [s, more], which is orthogonal to it. */
static ga_status append(ga__subspace *s, const ga__subspace *more)
{
  const size_t n = (size_t)s->n, old = (size_t)s->k, k = old + (size_t)more->k;
  double *basis = ga__alloc(s->ctx, k, n * sizeof *basis), *re = ga__alloc(s->ctx, k, sizeof *re),
         *im = ga__alloc(s->ctx, k, sizeof *im);
  const int complete = basis && re && im;
  for (int part = 0; complete && part < 2; part++) {
    const ga__subspace *from = part ? more : s;
    const size_t at = part ? old : 0, count = (size_t)from->k;
    if (count == 0) continue;
    memcpy(basis + at * n, from->basis, count * n * sizeof *basis);
    memcpy(re + at, from->re, count * sizeof *re);
    memcpy(im + at, from->im, count * sizeof *im);
  }
  double *const unused[] = {complete ? s->basis : basis, complete ? s->re : re, complete ? s->im : im};
  for (size_t i = 0; i < 3; i++) ga__free(s->ctx, unused[i]);
  if (!complete) return ga__no_memory(s->ctx, "eigenvectors");
  s->basis = basis, s->re = re, s->im = im, s->k = (int)k;
  return GA_OK;
}

ga_status ga__subspace_extend(ga__subspace *s, int k, const ga__operator *T, double enough)
{
  ga__subspace more = {.ctx = s->ctx, .n = s->n};
  if (s->dense) return GA_OK;
  if (k > s->n - s->k - 2) k = s->n - s->k - 2;
  ga_status status =
      k > 0 ? find_sparse(s->ctx, s->n, k < OTHERS ? k : OTHERS, T, ROUGH, s, NULL, &more) : GA_OK;
  if (!status) s->rest = ROUGH_MARGIN * largest_size(&more);
  if (!status && s->rest > enough && k > 0) { /* they will be used */
    ga__subspace_destroy(&more);
    more = (ga__subspace){.ctx = s->ctx, .n = s->n};
    status = find_sparse(s->ctx, s->n, k, T, TOLERANCE, s, NULL, &more);
    if (!status) s->rest = largest_size(&more);
  }
  if (!status && s->rest > enough) status = append(s, &more);
  ga__subspace_destroy(&more);
  return status;
}

/* ---- Small matrices ---- */

ga_status ga__eigen_symmetric(ga_context *ctx, int n, double *H, double *M, double *values, int *found)
{
  *found = 1;
  if (n == 0) return GA_OK;
  const int n_work = 8 * n + 64;
  double *work = ga__alloc(ctx, (size_t)n_work, sizeof *work);
  if (!work) return ga__no_memory(ctx, "eigenvalues");
  *found = LAPACKE_dsygv_work(LAPACK_COL_MAJOR, 1, 'V', 'U', n, H, n, M, n, values, work, n_work) == 0;
  ga__free(ctx, work);
  return GA_OK;
}
