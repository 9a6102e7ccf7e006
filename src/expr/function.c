/* Functions of time: common to all kinds. */
#include "base/base_impl.h"
#include "expr/breaks.h"
#include "expr/fault.h"
#include "expr/function.h"
#include "expr/same.h"
#include "expr/program.h"
#include <math.h>
#include <string.h>

/* ---- Kinds ---- */

static ga_status eval_constant(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  (void)t;
  (void)order;
  (void)fault;
  out[0] = f->data.constant;
  out[1] = out[2] = 0;
  return GA_OK;
}

static ga_status eval_expr(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const double rate = 1;
  return ga_expr_curve(f->data.expr, &t, &rate, NULL, order, out, fault);
}

static ga_status eval_table(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const ga__table *table = &f->data.table;
  const ga__axis *axis = &table->axis;
  double w[3][4];
  const int i = ga__axis_weights(w, axis, t);
  if (i < 0) return ga__fault_range(fault, f->kind->name, t, axis->x[0], axis->x[axis->n - 1]);
  const double end[4] = {table->y[i], table->slope[i], table->y[i + 1], table->slope[i + 1]};
  out[0] = ga__table_value(table, i, w[0]);
  for (int d = 1; d <= order; d++) {
    out[d] = w[d][0] * end[0] + w[d][1] * end[1] + w[d][2] * end[2] + w[d][3] * end[3];
  }
  return GA_OK;
}

static ga__range range_constant(const ga_function *f, double from, double to)
{
  (void)from;
  (void)to;
  return (ga__range){f->data.constant, f->data.constant};
}

static ga__range range_expr(const ga_function *f, double from, double to)
{
  return ga__expr_range(f->data.expr, 0, (ga__range){from, to});
}

static ga__range range_table(const ga_function *f, double from, double to)
{
  return ga__table_range(&f->data.table, from, to);
}

static int never_kinked(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return 0;
}

static int kinked_expr(const ga_function *f, double from, double to)
{
  return ga__expr_kinked(f->data.expr, 0, (ga__range){from, to});
}

static int kinked_table(const ga_function *f, double from, double to)
{
  return ga__axis_meets(&f->data.table.axis, from, to);
}

static double no_period(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return INFINITY;
}

/* Between two points a cubic may rise and fall; at the points there are breaks. */
static double period_table(const ga_function *f, double from, double to)
{
  const ga__axis *axis = &f->data.table.axis;
  double least = INFINITY;
  if (!axis->cubic) return least;
  for (int i = ga__axis_cell(axis, from); i + 1 < axis->n && axis->x[i] < to; i++)
    if (axis->x[i + 1] > from) least = fmin(least, 4 * (axis->x[i + 1] - axis->x[i]));
  return least;
}

static double period_expr(const ga_function *f, double from, double to)
{
  return ga_expr_period(f->data.expr, 0, from, to);
}

static double area_constant(const ga_function *f, double t)
{
  return f->data.constant * t;
}

static double area_table(const ga_function *f, double t)
{
  return ga__table_area(&f->data.table, t);
}

static ga__range slope_constant(const ga_function *f, double from, double to)
{
  (void)f;
  (void)from;
  (void)to;
  return (ga__range){0, 0};
}

static ga__range slope_expr(const ga_function *f, double from, double to)
{
  return ga__expr_slope(f->data.expr, 0, (ga__range){from, to});
}

static ga__range slope_table(const ga_function *f, double from, double to)
{
  return ga__table_slope(&f->data.table, from, to);
}

static int same_constant(const ga_function *f, const ga_function *g)
{
  return ga__numbers_same(&f->data.constant, &g->data.constant, 1);
}

static int same_expr(const ga_function *f, const ga_function *g)
{
  return ga__expr_same(f->data.expr, g->data.expr);
}

static int same_table(const ga_function *f, const ga_function *g)
{
  return ga__table_same(&f->data.table, &g->data.table);
}

static const ga__function_kind kind_constant = {"constant",   eval_constant, range_constant, never_kinked,
                                                no_period,    area_constant, slope_constant, 0,
                                                same_constant};
static const ga__function_kind kind_expr = {"expression", eval_expr,  range_expr, kinked_expr, period_expr,
                                            NULL,         slope_expr, 0,          same_expr};
static const ga__function_kind kind_table = {"table",    eval_table,  range_table, kinked_table, period_table,
                                             area_table, slope_table, 0,           same_table};

/* ---- Creation ---- */

static ga_status begin(ga_context *ctx, const char *function, const void *opts, ga_function **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !opts) return ga__refuse_null(ctx, function, opts ? "out" : "opts");
  return GA_OK;
}

/* Creates a function as a copy of f, whose data have been checked. */
static ga_status create(ga_context *ctx, const ga_function *f, ga_function **out)
{
  *out = ga__alloc(ctx, 1, sizeof **out);
  if (!*out) return ga__no_memory(ctx, "a function");
  **out = *f;
  (*out)->ctx = ctx;
  return GA_OK;
}

ga_status ga_function_create_constant(ga_context *ctx, double value, ga_function **out)
{
  static const char *const name[] = {"value"};
  const ga_function f = {.kind = &kind_constant, .data.constant = value};
  ga_status status = begin(ctx, __func__, name, out);
  if (!status) status = ga__check_finite(ctx, "constant function", 1, name, &value);
  return status ? status : create(ctx, &f, out);
}

ga_function_expr_opts ga_function_expr_defaults(void)
{
  return (ga_function_expr_opts){.text = NULL};
}

/* The caller's symbols, preceded by t. */
static ga_status with_time(ga_context *ctx, const ga_function_expr_opts *opts, ga_symbol **out)
{
  const ga_symbol time = {.name = "t", .kind = GA_SYMBOL_VARIABLE};
  const int n = opts->n_symbols;
  if (n < 0) return ga__refuse_number(ctx, "function", "n_symbols", n, "at least 0");
  if (n > 0 && !opts->symbols) return ga__refuse_missing(ctx, "function", "n_symbols", n, "symbols");
  for (int i = 0; i < n; i++) {
    if (opts->symbols[i].kind != GA_SYMBOL_VARIABLE) continue;
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_WRONG_KIND,
                      &(ga__facts){.kind = "function",
                                   .field = "symbols",
                                   .item = i + 1,
                                   .name = opts->symbols[i].name,
                                   .other = "a variable, but t is the only one of a function",
                                   .expected = "a constant, parameter, function or table"});
  }
  *out = ga__alloc(ctx, (size_t)n + 1, sizeof **out);
  if (!*out) return ga__no_memory(ctx, "the symbols of a function");
  (*out)[0] = time;
  if (n > 0) memcpy(*out + 1, opts->symbols, (size_t)n * sizeof **out);
  return GA_OK;
}

ga_status ga_function_create_expr(ga_context *ctx, const ga_function_expr_opts *opts, ga_text_error *error,
                                  ga_function **out)
{
  ga_function f = {.kind = &kind_expr};
  ga_symbol *symbols = NULL;
  if (error) *error = (ga_text_error){0};
  ga_status status = begin(ctx, __func__, opts, out);
  if (!status) status = with_time(ctx, opts, &symbols);
  if (status) return status;
  status = ga_expr_compile(ctx, opts->text, symbols, opts->n_symbols + 1, error, &f.data.expr);
  ga__free(ctx, symbols);
  if (status) return status;
  f.depth = f.data.expr->depth;
  status = create(ctx, &f, out);
  if (status) ga_expr_destroy(&f.data.expr);
  return status;
}

ga_status ga_function_create_table(ga_context *ctx, const ga_table_opts *opts, ga_function **out)
{
  ga_function f = {.kind = &kind_table};
  ga_status status = begin(ctx, __func__, opts, out);
  if (!status) status = ga__table_create(ctx, opts, &f.data.table);
  if (status) return status;
  status = create(ctx, &f, out);
  if (status) ga__table_destroy(ctx, &f.data.table);
  return status;
}

ga_status ga_function_create_motion(ga_context *ctx, const ga_motion_opts *opts, ga_function **out)
{
  ga_function f = {.kind = &ga__kind_motion};
  ga_status status = begin(ctx, __func__, opts, out);
  if (!status) status = ga__motion_check(ctx, opts);
  if (status) return status;
  f.data.motion = *opts;
  return create(ctx, &f, out);
}

ga_status ga_function_create_wave(ga_context *ctx, const ga_wave_opts *opts, ga_function **out)
{
  ga_function f = {.kind = &ga__kind_wave};
  ga_status status = begin(ctx, __func__, opts, out);
  if (!status) status = ga__wave_check(ctx, opts);
  if (status) return status;
  f.data.wave.opts = *opts;
  return create(ctx, &f, out);
}

/* A sweep that begins or ends elsewhere has its corners elsewhere. */
ga_status ga__function_create_wave_along(ga_context *ctx, const ga_wave_opts *base, const ga_wave_opts *moved,
                                         ga_function **out)
{
  const ga_status status = ga_function_create_wave(ctx, moved, out);
  if (status) return status;
  ga__wave *w = &(*out)->data.wave;
  w->base = *base;
  w->along = ga__numbers_same(&base->t_start, &moved->t_start, 1) &&
             ga__numbers_same(&base->sweep, &moved->sweep, 1);
  return GA_OK;
}

ga_status ga__function_make(ga_context *ctx, const ga__function_kind *kind, const void *made, size_t size,
                            ga_function **out)
{
  ga_function f = {.kind = kind};
  *out = NULL;
  f.data.made = ga__alloc(ctx, 1, size);
  if (!f.data.made) return ga__no_memory(ctx, "a function");
  memcpy(f.data.made, made, size);
  const ga_status status = create(ctx, &f, out);
  if (status) ga__free(ctx, f.data.made);
  return status;
}

void ga_function_destroy(ga_function **f)
{
  if (!f || !*f) return;
  ga_context *ctx = (*f)->ctx;
  if ((*f)->kind == &kind_expr) ga_expr_destroy(&(*f)->data.expr);
  if ((*f)->kind == &kind_table) ga__table_destroy(ctx, &(*f)->data.table);
  if ((*f)->kind->made) ga__free(ctx, (*f)->data.made);
  ga__free(ctx, *f);
  *f = NULL;
}

/* ---- Use ---- */

ga_status ga_function_eval(const ga_function *f, double t, int order, double *out, ga_fault *fault)
{
  if (!f || !out) return GA_ERR_ARGUMENT;
  double y[3];
  if (fault) *fault = (ga_fault){0};
  if (order < 0 || order > 2) return GA_ERR_ARGUMENT;
  if (!isfinite(t)) return ga__fault_input(fault, "argument of the function", t);
  ga_status status = f->kind->eval(f, t, order, y, fault);
  if (status) return status;
  for (int d = 0; d <= order; d++) {
    if (!isfinite(y[d])) return ga__fault_overflow(fault, f->kind->name, t, d);
    out[d] = y[d];
  }
  return GA_OK;
}

const ga__table *ga__function_table(const ga_function *f)
{
  return f->kind == &kind_table ? &f->data.table : NULL;
}

const ga_expr *ga__function_expr(const ga_function *f)
{
  return f->kind == &kind_expr ? f->data.expr : NULL;
}

int ga_function_bounds(const ga_function *f, double from, double to, double *least, double *most)
{
  if (!f || !least || !most || !(from <= to) || !isfinite(from) || !isfinite(to)) return 0;
  if (from == to && !ga_function_eval(f, from, 0, least, NULL)) return *most = *least, 1;
  const ga__range r = f->kind->range(f, from, to);
  *least = r.lo;
  *most = r.hi;
  return isfinite(r.lo) && isfinite(r.hi);
}

int ga_function_integral(const ga_function *f, double from, double to, double *out)
{
  if (!f || !out || !isfinite(from) || !isfinite(to)) return 0;
  *out = f->kind->area ? f->kind->area(f, to) - f->kind->area(f, from) : NAN;
  return isfinite(*out);
}

double ga_function_period(const ga_function *f, double from, double to)
{
  return f && from < to ? f->kind->period(f, from, to) : INFINITY;
}

ga_status ga_function_set_parameter(ga_function *f, int slot, double value)
{
  if (!f) return GA_ERR_ARGUMENT;
  return f->kind == &kind_expr ? ga_expr_set_parameter(f->data.expr, slot, value) : GA_OK;
}
