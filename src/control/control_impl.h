/* Internals of the control layer: data of a block, checks of options, the kernel of Wiener blocks. */
#ifndef GALPHA_CONTROL_IMPL_H
#define GALPHA_CONTROL_IMPL_H

#include "galpha/control.h"
#include "base/base_impl.h"

/* ---- Static nonlinearities (shape.c) ---- */

typedef struct ga__shape ga__shape;

/* y = σ(v) and, unless NULL, its slope, which may be undefined where y is not. */
typedef ga_status (*ga__shape_fn)(double *y, double *slope, const ga__shape *shape, double v,
                                  ga_fault *fault);

struct ga__shape {
  ga__shape_fn fn;             /* NULL: y = v */
  double lower, upper, width;  /* saturation, dead zone */
  double scale;                /* tanh */
  const ga_function *function; /* table */
};

ga_status ga__shape_saturation(double *y, double *slope, const ga__shape *shape, double v, ga_fault *fault);

/* ---- Blocks (block.c) ---- */

/* Functions of one type of block. xdot or y may be NULL; J is zero on entry. Results are checked for NaN by
 * the caller. */
typedef struct ga__block_type {
  ga_status (*eval)(const ga_control_block *b, double t, const double *u, const double *x, double *xdot,
                    double *y, ga_fault *fault);
  ga_status (*jacobian)(const ga_control_block *b, double t, const double *u, const double *x, double *J,
                        ga_fault *fault);
  void (*release)(ga_control_block *b); /* frees what data owns; NULL: nothing to free */
  /* 1: the data of two blocks of this type and of the same sizes are the same to the last bit; NULL: not
   * known */
  int (*same)(const ga_control_block *a, const ga_control_block *b);
} ga__block_type;

/* [z; v] = K [u; x] + [0; offset],  y = σ(v),  xdot_i = z_i + rate (y_i − v_i), the last term for
 * i < n_tracked. K is laid out as the Jacobian. */
typedef struct ga__wiener {
  double *K;
  double *offset; /* [n_out] NULL: 0 */
  ga__shape shape;
  int n_tracked;
  double rate; /* [1/s] */
} ga__wiener;

typedef struct ga__user {
  ga_block_fn function;
  ga_block_jacobian_fn jacobian;
  void *user;
  double step;
} ga__user;

typedef struct ga__orifice {
  double coefficient, transition;
  double width; /* 0: not a check valve */
} ga__orifice;

typedef struct ga__chamber {
  double bulk, volume, area;
} ga__chamber;

typedef struct ga__gearbox {
  double ratio, efficiency, power;
} ga__gearbox;

typedef struct ga__sampled {
  ga_control_block *inner; /* owned */
  double period, offset;
} ga__sampled;

typedef union ga__block_data {
  ga__sampled sampled;
  ga__orifice orifice;
  ga__chamber chamber;
  ga__gearbox gearbox;
  ga__wiener wiener;
  struct {
    double gain;
    int *divide;
  } product;
  const ga_function *function;
  const ga_table2d *table2d;
  ga_expr **expr; /* [n_out] */
  ga__user user;
} ga__block_data;

struct ga_control_block {
  ga_context *ctx;
  ga_block_kind kind;
  const ga__block_type *type;
  int n_in, n_x, n_out;
  double *x0;
  unsigned char *depends;       /* [rows*cols] */
  char (*names)[GA_BLOCK_NAME]; /* of inputs, states, outputs, then of the block itself */
  char (*units)[GA_BLOCK_NAME]; /* of outputs */
  ga__block_data data;
};

static inline int ga__block_rows(const ga_control_block *b)
{
  return b->n_x + b->n_out;
}

static inline int ga__block_cols(const ga_control_block *b)
{
  return b->n_in + b->n_x;
}

/* A block with room for x0 (zero) and depends (all 0), and with its names. On failure *out stays NULL. */
typedef struct ga__block_sizes {
  int n_in, n_x, n_out;
} ga__block_sizes;
ga_status ga__block_new(ga_context *ctx, ga_block_kind kind, const ga__block_type *type, ga__block_sizes n,
                        const ga_block_names *names, ga_control_block **out);

/* Stores the failed evaluation, with the first inputs as arguments, and returns status. */
ga_status ga__block_fault(ga_fault *fault, const ga_control_block *b, ga_status status, ga_fault_kind kind,
                          const char *needs, const double *u);

/* Next break of a sampled block (sampled.c), as ga_block_next_break(). */
void ga__sampled_next_break(const ga_control_block *block, double t, double until, ga_break *out);
double ga__sample_width(const ga_control_block *block, double t); /* [s] from before a sample to behind it */

/* ---- Checks of options (inspect.c) ---- */

/* A series of checks: the first failure is stored, later checks do nothing; status is the result. */
typedef struct ga__inspect {
  ga_context *ctx;
  const char *kind; /* name of the kind, for messages */
  ga_status status;
} ga__inspect;

/* Clears *out and checks the arguments common to all creation functions. */
ga__inspect ga__inspect_begin(ga_context *ctx, ga_block_kind kind, const void *opts, ga_control_block **out);
/* Fails with this reason unless fine; facts without kind and part. */
void ga__want(ga__inspect *in, int fine, ga_reason reason, ga__facts facts);
/* A number in its range: number `item` of the option, from 1; 0: it has only one. */
void ga__want_number(ga__inspect *in, int fine, const char *option, int item, double value, const char *must);
/* Two numbers that must agree by a rule: "lower must be below upper". */
void ga__want_both(ga__inspect *in, int fine, const char *option, double value, const char *other,
                   double other_value, const char *rule);
void ga__want_size(ga__inspect *in, const char *option, int n, int least);
void ga__want_given(ga__inspect *in, const char *option, const void *p);
void ga__want_finite(ga__inspect *in, const char *option, double value);
void ga__want_positive(ga__inspect *in, const char *option, double value);
/* The same for an option needed under a condition: "with limits". */
void ga__want_positive_with(ga__inspect *in, const char *option, double value, const char *with);
/* p[n] of finite numbers; NULL is wrong unless optional or n is 0. */
void ga__want_array(ga__inspect *in, const char *option, const double *p, int n, int optional);
void ga__want_names(ga__inspect *in, const char *option, const char *const *names, int n);
/* lower < upper, either may be infinite; corners of half-width `smoothing` must not overlap. */
void ga__want_limits(ga__inspect *in, double lower, double upper, double smoothing);
void ga__want_choice(ga__inspect *in, const char *option, int choice, int n_choices);

/* ---- Wiener blocks: linear, with a static nonlinearity at the outputs (wiener.c) ---- */

/* A Wiener block with K = 0 and y = v; the caller fills it and calls ga__wiener_finish(). */
ga_status ga__wiener_new(ga_context *ctx, ga_block_kind kind, ga__block_sizes n, const ga_block_names *names,
                         ga_control_block **out);
/* Sets depends from K. A number that is not finite: GA_ERR_ARGUMENT, and the block is destroyed. */
ga_status ga__wiener_finish(ga_control_block **block);
/* Row of xdot_i, or of v_i for i - n_x. */
static inline double *ga__wiener_row(ga_control_block *b, int row)
{
  return b->data.wiener.K + row * ga__block_cols(b);
}

#endif
