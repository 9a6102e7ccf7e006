/* Internals of the expr layer: operations and their derivatives, compiled programs, reading of texts. */
#ifndef GALPHA_EXPR_IMPL_H
#define GALPHA_EXPR_IMPL_H

#include "expr/time_signal.h"
#include "galpha/expr.h"
#include "base/base_impl.h"

#define GA__PI 3.14159265358979323846
#define GA__E 2.71828182845904523536

/* ---- Operations (ops.c) ---- */

enum { GA__MAX_ARGS = 5, GA__MAX_PAIRS = GA__MAX_ARGS * (GA__MAX_ARGS + 1) / 2 };

/* Value and partial derivatives; the second ones packed, ∂²/∂x_i∂x_j at ga__pair(i,j), i >= j. */
typedef struct ga__partials {
  double f, d1[GA__MAX_ARGS], d2[GA__MAX_PAIRS];
} ga__partials;

static inline int ga__pair(int i, int j)
{
  return i * (i + 1) / 2 + j;
}

enum { /* binding strengths of operators; 0: a function, called by name */
       GA__BIND_OR = 1,
       GA__BIND_AND,
       GA__BIND_COMPARE,
       GA__BIND_SUM,
       GA__BIND_PRODUCT,
       GA__BIND_PREFIX,
       GA__BIND_POWER
};

/* Values from lo to hi; either may be infinite. */
typedef struct ga__range {
  double lo, hi;
} ga__range;

/* One operator or function. rule is NULL for those that the compiler turns into jumps (&&, ||, if). With
 * derivatives 0 it writes p->f alone; otherwise d1 and d2 too, which are 0 on entry. */
typedef struct ga__op ga__op;
struct ga__op {
  const char *name;
  int arity, binding;
  int folds; /* more arguments than arity: op(op(a, b), c) */
  void (*rule)(ga__partials *p, const double *x, int derivatives);
  int (*defined)(const double *x);                          /* NULL: everywhere */
  const char *needs;                                        /* in words, where defined is given */
  ga__range (*range)(const ga__op *op, const ga__range *x); /* of its values; NULL where rule is NULL */
  int (*kink)(const ga__range *x); /* 1: a kink or jump may lie within; NULL: there is none */
  double (*side)(const double *x); /* a number that changes where its value or slope jumps; NULL: never */
  /* d[arity]: of its derivatives, with its values within f; NULL: it is constant but for jumps */
  void (*slopes)(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
};

extern const ga__op ga__ops[];
extern const int ga__n_ops;
extern const ga__op ga__op_truth; /* 1 where x is not 0; closes && and || */

/* ---- Ranges of operations, and where they have kinks or jumps (range.c) ---- */

ga__range ga__range_join(ga__range a, ga__range b); /* the least range that contains both */
ga__range ga__range_monotone(const ga__op *op, const ga__range *x);
ga__range ga__range_exact(const ga__op *op, const ga__range *x);
ga__range ga__range_corners(const ga__op *op, const ga__range *x);
ga__range ga__range_sum(const ga__op *op, const ga__range *x);
ga__range ga__range_difference(const ga__op *op, const ga__range *x);
ga__range ga__range_product(const ga__op *op, const ga__range *x);
ga__range ga__range_quotient(const ga__op *op, const ga__range *x);
ga__range ga__range_compare(const ga__op *op, const ga__range *x);
ga__range ga__range_equal(const ga__op *op, const ga__range *x);
ga__range ga__range_truth(const ga__op *op, const ga__range *x);
ga__range ga__range_unit(const ga__op *op, const ga__range *x);
ga__range ga__range_sqrt(const ga__op *op, const ga__range *x);
ga__range ga__range_log(const ga__op *op, const ga__range *x);
ga__range ga__range_sin(const ga__op *op, const ga__range *x);
ga__range ga__range_cos(const ga__op *op, const ga__range *x);
/* Of a sine while its phase goes through x, with those at the ends of it; `top`: a phase at which it is 1. */
ga__range ga__range_wave(ga__range ends, const ga__range *x, double top);
ga__range ga__range_tan(const ga__op *op, const ga__range *x);
ga__range ga__range_even(const ga__op *op, const ga__range *x);
ga__range ga__range_power(const ga__op *op, const ga__range *x);
ga__range ga__range_mod(const ga__op *op, const ga__range *x);
ga__range ga__range_hypot(const ga__op *op, const ga__range *x);
ga__range ga__range_atan2(const ga__op *op, const ga__range *x);
ga__range ga__range_step(const ga__op *op, const ga__range *x);
int ga__kink_zero(const ga__range *x);    /* the operand is 0 */
int ga__kink_unit(const ga__range *x);    /* the operand is 1 or -1 */
int ga__kink_equal(const ga__range *x);   /* both are equal */
int ga__kink_floor(const ga__range *x);   /* the operand passes an integer */
int ga__kink_ceil(const ga__range *x);    /* likewise */
int ga__kink_mod(const ga__range *x);     /* the quotient does */
int ga__kink_pole(const ga__range *x);    /* tan is infinite */
int ga__kink_divisor(const ga__range *x); /* the divisor is 0 */
int ga__kink_power(const ga__range *x);   /* the base is 0 */
int ga__kink_origin(const ga__range *x);  /* both are 0 */
int ga__kink_cut(const ga__range *x);     /* atan2 jumps by 2π */
int ga__kink_ends(const ga__range *x);    /* ends of step(x, x0, y0, x1, y1) */

/* ---- On which side of their jumps operations are (side.c) ---- */

double ga__side_less(const double *x);
double ga__side_less_equal(const double *x);
double ga__side_equal(const double *x);
double ga__side_zero(const double *x); /* is the operand 0? */
double ga__side_sign(const double *x);
double ga__side_floor(const double *x);
double ga__side_ceil(const double *x);
double ga__side_mod(const double *x);
double ga__side_cut(const double *x); /* of atan2 */

/* ---- Slopes of operations (slope.c) ---- */

void ga__slopes_corners(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_even(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sum(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_difference(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_product(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_quotient(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sin(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_cos(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_tan(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_tanh(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_sqrt(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_exp(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_power(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_mod(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_hypot(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_atan2(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
void ga__slopes_step(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);

/* ---- Programs (compile.c, eval.c) ---- */

typedef enum ga__code {
  GA__NUMBER,    /* push number */
  GA__VARIABLE,  /* push x[index] */
  GA__PARAMETER, /* push number, the present value of slot index */
  GA__APPLY,     /* replace the topmost op->arity values by op of them */
  GA__FUNCTION,  /* replace the topmost value by function of it */
  GA__TABLE2D,   /* replace the topmost two by table2d of them */
  GA__JUMP,      /* go on at index */
  GA__UNLESS,    /* pop; go on at index if it was 0 */
  GA__AND,       /* go on at index with 0 if the topmost is 0; else pop */
  GA__OR         /* go on at index with 1 if the topmost is not 0; else pop */
} ga__code;

typedef struct ga__instr {
  ga__code code;
  int index;
  double number;
  union {
    const ga__op *op;
    const ga_function *function;
    const ga_table2d *table2d;
  } use;
  int start, bytes; /* the piece of text it stands for */
} ga__instr;

/* Operands of an operation, a function or a table. */
static inline int ga__arity(const ga__instr *instr)
{
  return instr->code == GA__APPLY ? instr->use.op->arity : instr->code == GA__TABLE2D ? 2 : 1;
}

/* One instruction (eval.c): the value that it pushes; the topmost operands replaced by its value; where a
 * jump at `at` leads, by the topmost value, with what it pops or leaves done to the stack. */
ga_status ga__load(double *value, const ga__instr *instr, const double *x, ga_fault *fault);
ga_status ga__apply_value(double *f, const ga__instr *instr, ga_fault *fault);
int ga__jump(const ga__instr *instr, int at, double *stack, int *top);

struct ga_expr {
  ga_context *ctx;
  char *text;
  ga__instr *program;
  int n_instr;
  int *variable; /* indices, ascending */
  int n_variables;
  int depth; /* of functions that use functions: 1 + that of the deepest one used */
};

/* ---- Reading texts (text.c) ---- */

/* Which kind of text is read, for messages: "expression 'sin(x', column 6: ..." */
typedef struct ga__source {
  ga_context *ctx;
  const char *what, *text;
  ga_text_error *error; /* NULL: reported in the context alone */
} ga__source;

/* Says what is wrong with `bytes` bytes from `start`. nearest and expected may be NULL. Returns
 * GA_ERR_ARGUMENT. */
ga_status ga__text_fail(const ga__source *source, int start, int bytes, const char *expected,
                        const char *nearest, const char *format, ...) GA_PRINTF(6, 7);

/* Refuses a text of more than GA_EXPR_LENGTH bytes. */
ga_status ga__text_check_length(const ga__source *source);

/* The same of a word that is unknown: GA_REASON_UNKNOWN_NAME, ..._FUNCTION or ..._UNIT. */
ga_status ga__text_unknown(const ga__source *source, int start, int bytes, ga_reason reason,
                           const char *nearest);

/* Of a function's name without arguments, which are missed at `after`. */
ga_status ga__text_function(const ga__source *source, int start, int bytes, int after);
/* Of all that follows `start`, which is of another dimension than expected. */
ga_status ga__text_dimension(const ga__source *source, int start, const char *quantity, const char *is,
                             const char *expected);

/* A fault as ga_fault_text() has it, without its column. */
void ga__fault_say(char *text, size_t size, const ga_fault *fault);

int ga__columns(const char *text, int bytes); /* characters in the first bytes of text */
int ga__is_letter(char c);                    /* A-Z, a-z, _ in every locale */
int ga__is_digit(char c);
int ga__skip_space(const char *text, int at); /* index of the next character that is no white space */
/* Copies at most size-1 bytes of a piece, whole characters, control characters replaced; marks a cut. */
void ga__copy_piece(char *to, size_t size, const char *piece, size_t bytes);

/* Length of the number that begins at text, 0 where none does: digits, at most one point, an exponent. */
int ga__number_length(const char *text);
/* Its value; reports numbers that are too large, too small or too long. */
ga_status ga__read_number(double *value, const ga__source *source, int start, int bytes);

int ga__lower(char c); /* of a letter of ASCII */

/* The most similar of many names: start from {word, bytes}, try each, then nearest.name, "" where none is
 * similar enough. */
typedef struct ga__nearest {
  const char *word;
  int bytes;
  int distance; /* of name */
  char name[GA_TEXT_PIECE];
} ga__nearest;

void ga__nearest_try(ga__nearest *nearest, const char *name);

/* ---- Units (unit.c) ---- */

typedef struct ga__unit {
  double num, den; /* value in SI units is num/den; kept apart so that 12 mm is 12/1000 to the last bit */
  double offset;   /* [K] of degC standing alone */
  ga_dimension dimension;
} ga__unit;

/* Reads a unit from *at on, up to what cannot belong to it, and moves *at there. */
ga_status ga__unit_read(ga__unit *unit, const ga__source *source, int *at);
static inline double ga__unit_apply(const ga__unit *unit, double number)
{
  return number * unit->num / unit->den + unit->offset;
}

/* ---- Tables and functions (table.c, motion.c, function.c) ---- */

ga_status ga__fault_range(ga_fault *fault, const char *operation, double x, double least, double largest);
ga_status ga__fault_input(ga_fault *fault, const char *operation, double x);
/* A value (derivative 0) or derivative that is not finite though x is. */
ga_status ga__fault_overflow(ga_fault *fault, const char *operation, double x, int derivative);

/* Points on an axis with what happens outside. */
typedef struct ga__axis {
  int n;
  double *x;
  ga_extrapolation before, after;
  int cubic; /* Hermite cubics; 0: linear */
} ga__axis;

/* Weights of the value and slope at both ends of the cell that holds x, for the interpolant and its first two
 * derivatives: y^(d) = w[d][0] y_i + w[d][1] y'_i + w[d][2] y_{i+1} + w[d][3] y'_{i+1}. Returns i, or -1
 * outside of an axis that does not extrapolate. */
int ga__axis_weights(double w[3][4], const ga__axis *axis, double x);
/* Slopes for cubic interpolation at x[0..n-1] of y[0], y[stride], ...; work has n places. */
void ga__slopes_monotone(double *slope, const double *x, const double *y, int n);
void ga__slopes_spline(double *slope, const double *x, const double *y, int n, int stride, double *work);
ga_status ga__check_points(ga_context *ctx, const char *what, const char *name, int n, const double *x,
                           int ascending);
/* Refuses a choice that is not in 0..last, of the enum `choices`. */
ga_status ga__check_choice(ga_context *ctx, const char *what, const char *option, int choice,
                           const char *choices, int last);

typedef struct ga__table {
  ga__axis axis;
  double *y, *slope;
  double *area;  /* under it from its first point on, at all of them */
  ga__range all; /* of its values, between its first and last point */
} ga__table;

/* 1: one of the axis's points lies in (from, to]. */
int ga__axis_meets(const ga__axis *axis, double from, double to);
int ga__axis_cell(const ga__axis *axis,
                  double x); /* i with x[i] <= x < x[i+1]; the first and last go on outside */
int ga__axis_side(const ga__axis *axis,
                  double x); /* the cell, where there are corners between them; or outside */
double ga__table_value(const ga__table *table, int i, const double w[4]); /* of cell i, by its weights */
ga__range ga__table_range(const ga__table *table, double from, double to);
ga__range ga__table_slope(const ga__table *table, double from, double to); /* of its derivative */
double ga__table_area(const ga__table *table, double x); /* from its first point to x; NaN: it ends before */
void ga__table2d_side(const ga_table2d *table, double x, double y, int side[2]);
int ga__table2d_meets(const ga_table2d *table, const ga__range *x, const ga__range *y);
ga__range ga__table2d_range(const ga_table2d *table, const ga__range *x, const ga__range *y);

/* An expression while the variable `time` goes through t and all others are unknown (breaks.c). */
ga__range ga__expr_range(const ga_expr *e, int time, ga__range t);
int ga__expr_kinked(const ga_expr *e, int time, ga__range t);
/* Of its derivative by that variable, where it depends on no other. */
ga__range ga__expr_slope(const ga_expr *e, int time, ga__range t);

/* The rate of an instruction's value within f, from those of its operands, which are within x (slope.c). */
ga__range ga__rate_of(const ga__instr *instr, const ga__range *x, const ga__range *rate, const ga__range *f);

/* The same of one whose variables go along x (breaks.c). */
ga__range ga__expr_range_along(const ga_expr *e, const ga__time_signal *x, ga__range t);
int ga__expr_kinked_along(const ga_expr *e, const ga__time_signal *x, ga__range t);

ga_status ga__table_create(ga_context *ctx, const ga_table_opts *opts, ga__table *table);
void ga__table_destroy(ga_context *ctx, ga__table *table);

/* The part of a function that differs between kinds. */
typedef struct ga__function_kind {
  const char *name; /* for faults */
  ga_status (*eval)(const ga_function *f, double t, int order, double out[3], ga_fault *fault);
  ga__range (*range)(const ga_function *f, double from, double to); /* of its values */
  int (*kinked)(const ga_function *f, double from, double to);      /* 1: a break may lie in (from, to] */
  double (*period)(const ga_function *f, double from, double to);   /* [s] shortest; infinity: it has none */
  double (*area)(const ga_function *f, double t); /* an integral, NaN: none; NULL: there is no closed form */
  ga__range (*slope)(const ga_function *f, double from, double to); /* of its derivative; NULL: not known */
  int made; /* 1: it has data.made, which is freed with it */
} ga__function_kind;

struct ga_function {
  ga_context *ctx;
  const ga__function_kind *kind;
  union {
    double constant;
    ga_expr *expr;
    ga__table table;
    ga_motion_opts motion;
    ga_wave_opts wave;
    void *made;
  } data;
  int depth;
};

extern const ga__function_kind ga__kind_motion, ga__kind_wave;

/* A function of a kind of its own; `size` bytes are copied from `made`, which the kind understands. */
ga_status ga__function_make(ga_context *ctx, const ga__function_kind *kind, const void *made, size_t size,
                            ga_function **out);
const ga__table *ga__function_table(const ga_function *f); /* that it is; NULL: none */
const ga_expr *ga__function_expr(const ga_function *f);    /* that it is made of, in variable 0; NULL: none */
ga_status ga__motion_check(ga_context *ctx, const ga_motion_opts *opts);
ga_status ga__wave_check(ga_context *ctx, const ga_wave_opts *opts);
/* GA_ERR_ARGUMENT naming the option if one of the n values is not finite. */
ga_status ga__check_finite(ga_context *ctx, const char *what, int n, const char *const *name,
                           const double *value);

#endif
