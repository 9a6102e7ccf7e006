/* Wiener blocks: linear, with a static nonlinearity at their outputs. Gains, sums, integrators, filters,
 * transfer functions, PID controllers and limits are evaluated here. */
#include "control/control_impl.h"
#include "expr/same.h"
#include "control/over_time.h"
#include "expr/side.h"
#include <math.h>

/* a·[u; x] */
static double times(const double *a, const ga_control_block *b, const double *u, const double *x)
{
  double sum = 0;
  for (int i = 0; i < b->n_in; i++) sum += a[i] * u[i];
  for (int i = 0; i < b->n_x; i++) sum += a[b->n_in + i] * x[i];
  return sum;
}

/* v_i, y_i and, where slope is not NULL, dy_i/dv_i of output i. */
static ga_status output(double *v, double *y, double *slope, const ga_control_block *b, int i,
                        const double *u, const double *x, ga_fault *fault)
{
  const ga__wiener *s = &b->data.wiener;
  *v = times(s->K + (b->n_x + i) * ga__block_cols(b), b, u, x);
  if (s->offset) *v += s->offset[i];
  *y = *v;
  if (slope) *slope = 1;
  return s->shape.fn ? s->shape.fn(y, slope, &s->shape, *v, fault) : GA_OK;
}

/* xdot_i = z_i + rate (y_i − v_i),  y = σ(v),  [z; v] = K [u; x] + [0; offset] */
static ga_status wiener_eval(const ga_control_block *b, double t, const double *u, const double *x,
                             double *xdot, double *y, ga_fault *fault)
{
  const ga__wiener *s = &b->data.wiener;
  (void)t;
  for (int i = 0; xdot && i < b->n_x; i++) xdot[i] = times(s->K + i * ga__block_cols(b), b, u, x);
  for (int i = 0; i < b->n_out; i++) {
    double v, y_i;
    ga_status status = output(&v, &y_i, NULL, b, i, u, x, fault);
    if (status) return status;
    if (y) y[i] = y_i;
    if (xdot && i < s->n_tracked) xdot[i] += s->rate * (y_i - v);
  }
  return GA_OK;
}

/* J of y_i is σ' K_v; J of xdot_i is K_z + rate (σ' − 1) K_v. */
static ga_status wiener_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                 double *J, ga_fault *fault)
{
  const ga__wiener *s = &b->data.wiener;
  const int cols = ga__block_cols(b);
  (void)t;
  for (int i = 0; i < b->n_x * cols; i++) J[i] = s->K[i];
  for (int i = 0; i < b->n_out; i++) {
    const double *Kv = s->K + (b->n_x + i) * cols;
    double *Jy = J + (b->n_x + i) * cols, *Jx = J + i * cols;
    double v, y, slope;
    ga_status status = output(&v, &y, &slope, b, i, u, x, fault);
    if (status) return status;
    for (int j = 0; j < cols; j++) Jy[j] = slope * Kv[j];
    if (i >= s->n_tracked) continue;
    for (int j = 0; j < cols; j++) Jx[j] += s->rate * (slope - 1) * Kv[j];
  }
  return GA_OK;
}

static void wiener_release(ga_control_block *b)
{
  ga__free(b->ctx, b->data.wiener.K);
  ga__free(b->ctx, b->data.wiener.offset);
}

static int shape_same(const ga__shape *a, const ga__shape *b)
{
  const double x[] = {a->lower, a->upper, a->width, a->scale}, y[] = {b->lower, b->upper, b->width, b->scale};
  return a->fn == b->fn && ga__numbers_same(x, y, sizeof x / sizeof *x) &&
         ga__function_same(a->function, b->function);
}

static int wiener_same(const ga_control_block *a, const ga_control_block *b)
{
  const ga__wiener *v = &a->data.wiener, *w = &b->data.wiener;
  return ga__numbers_same(v->K, w->K, (size_t)ga__block_rows(a) * (size_t)ga__block_cols(a)) &&
         ga__numbers_same(v->offset, w->offset, (size_t)a->n_out) && shape_same(&v->shape, &w->shape) &&
         v->n_tracked == w->n_tracked && ga__numbers_same(&v->rate, &w->rate, 1);
}

static const ga__block_type WIENER = {wiener_eval, wiener_jacobian, wiener_release, wiener_same};

int ga__is_wiener(const ga_control_block *b)
{
  return b->type == &WIENER;
}

/* 1: σ has corners at its limits. */
static int is_limited(const ga__shape *shape)
{
  return shape->lower < shape->upper && shape->width == 0;
}

int ga__wiener_has_edges(const ga_control_block *b)
{
  const ga__shape *shape = &b->data.wiener.shape;
  return is_limited(shape) || (shape->function && ga_function_has_edges(shape->function));
}

ga_status ga__wiener_side(const ga_control_block *b, const double *u, const double *x, unsigned *side)
{
  const ga__shape *shape = &b->data.wiener.shape;
  ga_status status = GA_OK;
  for (int i = 0; !status && ga__wiener_has_edges(b) && i < b->n_out; i++) {
    double v, y;
    ga_fault fault;
    if ((status = output(&v, &y, NULL, b, i, u, x, &fault))) break;
    if (is_limited(shape))
      ga__mix_side(side, (v > shape->lower) + (v > shape->upper));
    else
      status = ga_function_side(shape->function, v, side);
  }
  return status;
}

ga_status ga__wiener_new(ga_context *ctx, ga_block_kind kind, ga__block_sizes n, const ga_block_names *names,
                         ga_control_block **out)
{
  ga_status status = ga__block_new(ctx, kind, &WIENER, n, names, out);
  if (status) return status;
  const size_t entries = (size_t)ga__block_rows(*out) * (size_t)ga__block_cols(*out);
  (*out)->data.wiener.K = ga__alloc(ctx, entries, sizeof(double));
  if ((*out)->data.wiener.K) return GA_OK;
  ga_block_destroy(out);
  return ga__no_memory(ctx, "the matrix of a control block");
}

/* 1: all coefficients are finite; quotients of finite options may overflow. */
static int representable(const ga_control_block *b)
{
  const int entries = ga__block_rows(b) * ga__block_cols(b);
  int fine = isfinite(b->data.wiener.rate);
  for (int i = 0; i < entries; i++) fine = fine && isfinite(b->data.wiener.K[i]);
  for (int i = 0; i < b->n_x; i++) fine = fine && isfinite(b->x0[i]);
  return fine;
}

ga_status ga__wiener_finish(ga_control_block **block)
{
  ga_control_block *b = *block;
  const ga__wiener *s = &b->data.wiener;
  const int cols = ga__block_cols(b), entries = ga__block_rows(b) * cols;
  if (!representable(b)) {
    ga__refuse(b->ctx, GA_ERR_ARGUMENT, GA_REASON_QUOTIENTS_OVERFLOW,
               &(ga__facts){.kind = "block", .part = ga_block_kind_name(b->kind)});
    ga_block_destroy(block);
    return GA_ERR_ARGUMENT;
  }
  for (int i = 0; i < entries; i++) b->depends[i] = s->K[i] != 0;
  for (int i = 0; i < s->n_tracked; i++)
    for (int j = 0; j < cols; j++) b->depends[i * cols + j] |= b->depends[(b->n_x + i) * cols + j];
  return GA_OK;
}
