/* Sampled blocks: another block, evaluated at t_k = sample_offset + k sample_time, whose outputs are held in
 * between.
 *
 *   states     [x; h], constant between samples;   y = h
 *   at t_k     h := o(t_k, u, x),  x := s(t_k, u, x)            a difference equation, or
 *                                  x := x + period s(t_k, u, x) for pid and integrator (Euler) */
#include "control/control_impl.h"
#include "control/same.h"
#include "expr/same.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What the states of each kind do; kinds that are left out have no difference equation. */
typedef enum rule { NO_RULE = 0, MAP, EULER } rule;

static const rule RULE[GA_N_BLOCK_KINDS] = {
    [GA_KIND_GAIN] = MAP,         [GA_KIND_SUM] = MAP,       [GA_KIND_PRODUCT] = MAP,
    [GA_KIND_CONSTANT] = MAP,     [GA_KIND_TABLE] = MAP,     [GA_KIND_FUNCTION_OF_TIME] = MAP,
    [GA_KIND_STATE_SPACE] = MAP,  [GA_KIND_TABLE2D] = MAP,   [GA_KIND_TRANSFER_FUNCTION] = MAP,
    [GA_KIND_SATURATION] = MAP,   [GA_KIND_DEAD_ZONE] = MAP, [GA_KIND_TANH] = MAP,
    [GA_KIND_EXPRESSION] = MAP,   [GA_KIND_USER] = MAP,      [GA_KIND_PID] = EULER,
    [GA_KIND_INTEGRATOR] = EULER, [GA_KIND_ORIFICE] = MAP,   [GA_KIND_GEARBOX] = MAP,
};

static const ga__block_type SAMPLED;

ga_block_sampled_opts ga_block_sampled_defaults(void)
{
  return (ga_block_sampled_opts){.sample_time = 0};
}

/* Euler's rule is stable, and the filter of a derivative right, while sample_time <= filter_time. */
static void inspect_euler(ga__inspect *in, const ga_block_sampled_opts *o, const ga_control_block *b)
{
  const int cols = ga__block_cols(b);
  for (int i = 0; i < b->n_x; i++) {
    const double rate = -b->data.wiener.K[i * cols + b->n_in + i];
    ga__want_both(in, !(rate * o->sample_time > 1 + 1e-12), "sample_time", o->sample_time, "filter_time",
                  rate > 0 ? 1 / rate : 0, "sample_time must not be above filter_time");
  }
}

static void inspect(ga__inspect *in, const ga_block_sampled_opts *o, const ga_control_block *b)
{
  ga__want_positive(in, "sample_time", o->sample_time);
  ga__want_number(in, o->sample_offset >= 0 && isfinite(o->sample_offset), "sample_offset", 0,
                  o->sample_offset, "0 or positive");
  ga__want_array(in, "initial", o->initial, b->n_out, 1);
  ga__want(in, RULE[b->kind] != NO_RULE, GA_REASON_NOT_SAMPLED,
           (ga__facts){.field = "block", .name = ga_block_kind_name(b->kind)});
  ga__want_both(in, b->n_x + b->n_out <= GA_BLOCK_SIZE, "n_x", b->n_x, "n_out", b->n_out,
                "their sum must not be above 256");
  if (!in->status && RULE[b->kind] == EULER) inspect_euler(in, o, b);
  for (int i = 0; b->kind == GA_KIND_TRANSFER_FUNCTION && i < b->n_x; i++)
    ga__want_number(in, b->x0[i] == 0, "steady_output", 0, b->x0[i], "0 where a transfer function is in z");
}

static void fill(ga_control_block *b, const ga_block_sampled_opts *o, const ga_control_block *inner)
{
  const int cols = ga__block_cols(b);
  memcpy(b->x0, inner->x0, (size_t)inner->n_x * sizeof *b->x0);
  for (int i = 0; i < inner->n_out; i++) {
    b->x0[inner->n_x + i] = o->initial ? o->initial[i] : 0;
    b->depends[(b->n_x + i) * cols + b->n_in + inner->n_x + i] = 1;
    memcpy(b->units[i], inner->units[i], sizeof b->units[i]);
  }
}

static void name_all(const ga_control_block *b, const char **name)
{
  for (int i = 0; i < b->n_in + b->n_x + b->n_out; i++) name[i] = b->names[i];
}

ga_status ga_block_create_sampled(ga_context *ctx, const ga_block_sampled_opts *opts,
                                  ga_control_block **inner, ga_control_block **out)
{
  const char *name[3 * GA_BLOCK_SIZE], *state[2 * GA_BLOCK_SIZE];
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_SAMPLED, opts, out);
  if (in.status) return in.status;
  if (!inner || !*inner) return ga__refuse_null(ctx, __func__, "inner");
  const ga_control_block *b = *inner;
  inspect(&in, opts, b);
  if (in.status) return in.status;
  name_all(b, name);
  for (int i = 0; i < b->n_x + b->n_out; i++) state[i] = name[b->n_in + i];
  const ga_block_names names = {name, state, name + b->n_in + b->n_x};
  in.status = ga__block_new(ctx, GA_KIND_SAMPLED, &SAMPLED,
                            (ga__block_sizes){b->n_in, b->n_x + b->n_out, b->n_out}, &names, out);
  if (in.status) return in.status;
  fill(*out, opts, b);
  (*out)->data.sampled = (ga__sampled){*inner, opts->sample_time, opts->sample_offset};
  *inner = NULL;
  return GA_OK;
}

/* ---- Times ---- */

int ga_block_sample_time(const ga_control_block *block, double *period, double *offset)
{
  if (!block || block->type != &SAMPLED) return 0;
  if (period) *period = block->data.sampled.period;
  if (offset) *offset = block->data.sampled.offset;
  return 1;
}

double ga_block_next_sample(const ga_control_block *block, double t)
{
  double period, offset;
  if (!ga_block_sample_time(block, &period, &offset) || !isfinite(t)) return INFINITY;
  double k = fmax(ceil((t - offset) / period), 0);
  while (offset + k * period < t) k++;
  while (k > 0 && offset + (k - 1) * period >= t) k--;
  return offset + k * period;
}

double ga__sample_width(const ga_control_block *block, double t)
{
  return 4 * DBL_EPSILON * fmax(fabs(t), block->data.sampled.period);
}

void ga__sampled_next_break(const ga_control_block *block, double t, double until, ga_break *out)
{
  const double at = ga_block_next_sample(block, t - ga__sample_width(block, t)),
               after = at + ga__sample_width(block, at);
  const double next = after > t ? at : ga_block_next_sample(block, t);
  *out = (ga_break){INFINITY, INFINITY, 3, until, 0};
  if (next < until) *out = (ga_break){next, next + ga__sample_width(block, next), 0, next, 0};
}

/* ---- Evaluation ---- */

ga_status ga_block_sample(const ga_control_block *block, double t, const double *u, const double *x,
                          double *x_next, ga_fault *fault)
{
  if (!block || block->type != &SAMPLED || !x || !x_next || (block->n_in > 0 && !u)) return GA_ERR_ARGUMENT;
  const ga__sampled *s = &block->data.sampled;
  const ga_control_block *b = s->inner;
  double y[GA_BLOCK_SIZE], next[GA_BLOCK_SIZE];
  const ga_status status = ga_block_eval(b, t, u, x, next, y, fault);
  if (status) return status;
  for (int i = 0; i < b->n_x; i++) x_next[i] = RULE[b->kind] == EULER ? x[i] + s->period * next[i] : next[i];
  memcpy(x_next + b->n_x, y, (size_t)b->n_out * sizeof *y);
  return GA_OK;
}

static ga_status sampled_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  (void)t, (void)u, (void)fault;
  for (int i = 0; xdot && i < b->n_x; i++) xdot[i] = 0;
  for (int i = 0; y && i < b->n_out; i++) y[i] = x[b->n_x - b->n_out + i];
  return GA_OK;
}

static ga_status sampled_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  const int cols = ga__block_cols(b);
  (void)t, (void)u, (void)x, (void)fault;
  for (int i = 0; i < b->n_out; i++) J[(b->n_x + i) * cols + cols - b->n_out + i] = 1;
  return GA_OK;
}

static void sampled_release(ga_control_block *b)
{
  ga_block_destroy(&b->data.sampled.inner);
}

static int sampled_same(const ga_control_block *a, const ga_control_block *b)
{
  const ga__sampled *v = &a->data.sampled, *w = &b->data.sampled;
  return ga__numbers_same(&v->period, &w->period, 1) && ga__numbers_same(&v->offset, &w->offset, 1) &&
         ga__block_same(v->inner, w->inner);
}

static const ga__block_type SAMPLED = {sampled_eval, sampled_jacobian, sampled_release, sampled_same};
