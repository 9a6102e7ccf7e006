/* galpha/expr.h: expressions with exact derivatives, quantities with units, functions of time, tables.
 *
 * What is compiled or created here is constant afterwards: evaluation allocates nothing, writes nothing but
 * its outputs, and may run in several threads at once. Creation reports failures through the context;
 * evaluation, which has none, through a ga_fault.
 *
 * Texts are UTF-8. Columns count characters and start at 1. */
#ifndef GALPHA_EXPR_H
#define GALPHA_EXPR_H

#include "galpha/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors in texts ---------------------------------------------------------------------------------- */

enum { GA_TEXT_PIECE = 64 }; /* size of a quoted piece of text, with the final NUL */

/* Filled when a text cannot be read (GA_ERR_ARGUMENT); ga_context_error() has the whole sentence. */
typedef struct ga_text_error {
  int offset;                /* bytes before the wrong piece */
  int column;                /* of its first character, from 1; 0: the fault is not in the text */
  int length;                /* characters; 0: something is missing here */
  ga_reason reason;          /* GA_REASON_UNKNOWN_NAME, ..._FUNCTION, ..._UNIT, GA_REASON_WRONG_DIMENSION;
                                GA_REASON_SYNTAX: all else */
  char found[GA_TEXT_PIECE]; /* the piece, truncated if it is long; empty: the end of the text */
  char expected[2 * GA_TEXT_PIECE]; /* what was expected there, or empty */
  char nearest[GA_TEXT_PIECE];      /* the most similar name known, or empty */
} ga_text_error;

/* ---- Faults of an evaluation -------------------------------------------------------------------------- */

typedef enum ga_fault_kind {
  GA_FAULT_NONE = 0,
  GA_FAULT_INPUT,      /* a variable, parameter or argument is NaN or infinite */
  GA_FAULT_DOMAIN,     /* an operation is not defined there: log(-1), 1/0 */
  GA_FAULT_OVERFLOW,   /* an operation's result is too large */
  GA_FAULT_DERIVATIVE, /* the value exists, the derivative asked for does not: sqrt at 0 */
  GA_FAULT_RANGE       /* outside of a table that does not extrapolate */
} ga_fault_kind;

enum { GA_FAULT_ARGS = 5 };

/* Plain numbers, and pointers into the evaluated object, valid as long as it lives. */
typedef struct ga_fault {
  ga_fault_kind kind;
  const char *operation; /* "log", "/", "table", ...; never NULL after a fault */
  const char *needs;     /* what the operation needs of its arguments, or NULL */
  const char *text;      /* the expression's text, or NULL where there is none */
  int offset, bytes;     /* the operation with its operands, within text */
  int column, length;    /* the same in characters, from 1 */
  int n_args;
  double arg[GA_FAULT_ARGS]; /* values of the operands; for GA_FAULT_RANGE: argument, least, largest */
} ga_fault;

/* The fault in words, without a line end, truncated to size bytes with the final NUL. */
GA_API void ga_fault_text(char *text, size_t size, const ga_fault *fault);

/* ---- Expressions -------------------------------------------------------------------------------------- */

typedef struct ga_function ga_function;     /* y(t), see below */
typedef struct ga_table2d ga_table2d;       /* z(x,y), see below */
typedef struct ga_definition ga_definition; /* of several arguments, see below */

typedef enum ga_symbol_kind {
  GA_SYMBOL_VARIABLE = 0, /* value given at every evaluation; derivatives are with respect to these */
  GA_SYMBOL_PARAMETER,    /* value kept in the expression, changed by ga_expr_set_parameter() */
  GA_SYMBOL_CONSTANT,     /* value fixed when compiled */
  GA_SYMBOL_FUNCTION,     /* name(x): a ga_function */
  GA_SYMBOL_TABLE2D,      /* name(x, y): a ga_table2d */
  GA_SYMBOL_DEFINITION    /* name(x, y, ...): a ga_definition */
} ga_symbol_kind;

/* A name that expressions may use: a letter or _, then letters, digits, _, and . before a letter or _. pi and
 * e are known unless a symbol takes their name. A value and a function may have the same name. */
typedef struct ga_symbol {
  const char *name;
  ga_symbol_kind kind;
  int index;                       /* variable: its place in the values at evaluation; parameter: its slot */
  double value;                    /* constant; parameter: first value */
  const ga_function *function;     /* borrowed as long as expressions live that use it */
  const ga_table2d *table2d;       /* likewise */
  const ga_definition *definition; /* needed while expressions are compiled only */
} ga_symbol;

enum {
  GA_EXPR_LENGTH = 4096, /* bytes that a text may have */
  GA_EXPR_DEPTH = 64     /* nested operations, calls and parentheses; operands on the stack at a time */
};

typedef struct ga_expr ga_expr;

/* Compiles text with the given symbols, which are not used after the call, except functions and tables. error
 * may be NULL. GA_ERR_ARGUMENT: the text is wrong, *error says where and why; error->column is 0 if the fault
 * is not in the text, for example a name given twice. Grammar, lowest binding first:
 *
 *   a || b,  a && b           1 or 0; the second operand is evaluated only if it decides
 *   a < b, <= > >= == !=      1 or 0; do not chain
 *   a + b, a - b
 *   a * b, a / b
 *   -a, +a, !a
 *   a ^ b                     from the right: 2^3^2 = 2^9; -x^2 = -(x^2)
 *   2.5e-3, 30[deg], name, name(a, ...), (a)
 *
 * Functions: sin cos tan asin acos atan atan2(y,x) sinh cosh tanh exp log log10 sqrt cbrt abs sign floor ceil
 * min(a,b,...) max(a,b,...) pow mod(a,b) (has the sign of b) hypot, if(condition, then, else), step(x,x0) (1
 * for x >= x0), step(x,x0,y0,x1,y1) (cubic from y0 to y1), step5(x,x0,y0,x1,y1) (quintic). */
GA_API ga_status ga_expr_compile(ga_context *ctx, const char *text, const ga_symbol *symbols, int n_symbols,
                                 ga_text_error *error, ga_expr **out);
GA_API void ga_expr_destroy(ga_expr **e); /* NULL and *e == NULL are fine */

GA_API const char *ga_expr_text(const ga_expr *e); /* as given; lives as long as e */
/* Indices of the variables that occur, ascending, each once; *list (if list is not NULL) belongs to e. */
GA_API int ga_expr_variables(const ga_expr *e, const int **list);
/* 1 if the variable or parameter of this index occurs, else 0. */
GA_API int ga_expr_uses(const ga_expr *e, ga_symbol_kind kind, int index);
/* GA_ERR_ARGUMENT if value is NaN or infinite. An expression without that parameter ignores it. Must not be
 * called while another thread evaluates the expression. */
GA_API ga_status ga_expr_set_parameter(ga_expr *e, int slot, double value);

/* Evaluation at x, of which only the variables that occur are read. GA_RETRY_NAN: there is no finite result,
 * *fault (may be NULL) says where and why, the outputs are not usable. An order other than 0, 1, 2 is
 * GA_ERR_ARGUMENT. Derivatives are exact. Where a function has a kink or jump (abs, min, max, step, floor,
 * comparisons) they are those of the side that gives the value; sign and abs have derivative 0 at 0. */
GA_API ga_status ga_expr_eval(const ga_expr *e, const double *x, double *value, ga_fault *fault);
/* gradient[i] = ∂/∂x[wrt[i]], i < n. value may be NULL. */
GA_API ga_status ga_expr_gradient(const ga_expr *e, const double *x, int n, const int *wrt, double *value,
                                  double *gradient, ga_fault *fault);
/* hessian[i*n+j] = ∂²/∂x[wrt[i]]∂x[wrt[j]], symmetric to the bit. value and gradient may be NULL. */
GA_API ga_status ga_expr_hessian(const ga_expr *e, const double *x, int n, const int *wrt, double *value,
                                 double *gradient, double *hessian, ga_fault *fault);
/* Along a curve x(s) with x' = rate and x'' = rate2 (NULL: 0), both indexed like x:
 * out[0] = value, out[1] = ∇·x', out[2] = x'ᵀ H x' + ∇·x''; the derivatives only up to order (0, 1, 2). */
GA_API ga_status ga_expr_curve(const ga_expr *e, const double *x, const double *rate, const double *rate2,
                               int order, double *out, ga_fault *fault);

/* ---- Functions of several arguments --------------------------------------------------------------------
 *
 * A definition has arguments, local names and a value: orifice(K, p) with s = abs(p) + 1 and the value
 * K*p/sqrt(s). Expressions that call it contain a copy of it, with exact derivatives of first and second
 * order; arguments and local values are computed once. */
enum {
  GA_DEFINITION_NAMES = 16,     /* arguments, and local names */
  GA_EXPR_INSTRUCTIONS = 100000 /* of an expression, with those of the definitions that it calls */
};

typedef struct ga_definition_opts { /* start from ga_definition_defaults() */
  int n_args;                       /* from 1 to GA_DEFINITION_NAMES */
  const char *const *args;          /* [n_args] their names */
  int n_locals;                     /* default 0 */
  const char *const *locals;        /* [n_locals] names */
  const char *const *texts; /* [n_locals] expressions of the arguments and of the local names before */
  const char *value;        /* an expression of arguments and local names */
  const ga_symbol *symbols; /* further names: parameters, constants, functions, other definitions */
  int n_symbols;
} ga_definition_opts;

GA_API ga_definition_opts ga_definition_defaults(void);
/* *which (may be NULL): the text that error is about, a local name, or n_locals for the value; −1: none. */
GA_API ga_status ga_definition_create(ga_context *ctx, const ga_definition_opts *opts, int *which,
                                      ga_text_error *error, ga_definition **out);
GA_API void ga_definition_destroy(ga_definition **definition);    /* NULL and *definition == NULL are fine */
GA_API int ga_definition_n_args(const ga_definition *definition); /* 0 for NULL */

/* ---- Units -------------------------------------------------------------------------------------------- */

enum { GA_N_BASE_UNITS = 8 };

/* Powers of m, kg, s, A, K, mol, cd, rad. The angle has a dimension, so that 50 Hz is not taken for 50 rad/s.
 */
typedef struct ga_dimension {
  signed char power[GA_N_BASE_UNITS];
} ga_dimension;

/* A unit such as "kN*m/rad", "m/s^2", "1/s": names from the table (ga_unit_list) joined by * (or a space) /
 * ^integer and parentheses, from left to right. *factor is its value in SI units. factor, dimension and error
 * may be NULL. GA_ERR_ARGUMENT when it cannot be read. degC counts as a difference of temperatures here. */
GA_API ga_status ga_unit_parse(ga_context *ctx, const char *text, double *factor, ga_dimension *dimension,
                               ga_text_error *error);

/* A number with or without a unit: "30 deg", "-12mm", "9.81 m/s^2", "0.5". *value is in SI units; a number
 * without a unit is in SI units. expected is a unit of the expected dimension ("m", "N*m/rad"; "1": a plain
 * number; NULL: any); another dimension is GA_ERR_ARGUMENT: "'12 mm' is a length (m), expected a mass (kg)".
 * *dimension receives what was read (all 0 for a number without a unit). dimension and error may be NULL. */
GA_API ga_status ga_quantity_parse(ga_context *ctx, const char *text, const char *expected, double *value,
                                   ga_dimension *dimension, ga_text_error *error);

/* "a length (m)", or "a quantity in m^2*kg/s" where it has no name; cut to size bytes. */
GA_API void ga_dimension_text(char *text, size_t size, const ga_dimension *dimension);

/* A unit of this dimension: "m/s^2", "W", "1" for plain numbers, "m^2*kg/s" where none has a name. Radians
 * are left out where that gives a unit with a name: torque times angular velocity is in W. Cut to size bytes.
 */
GA_API void ga_dimension_unit(char *text, size_t size, const ga_dimension *dimension);

/* The dimension of an expression's value, from those of its variables, variable[index]. Terms of a sum,
 * operands of comparisons, of min, max and the like must be alike; powers need exponents that are written as
 * numbers; sin, exp and the like take plain numbers and angles. A number that is written out has the
 * dimension of the term beside it, and none in a product; values of tables and functions have any. Angles and
 * plain numbers are alike. GA_ERR_ARGUMENT: the units do not fit, *error (may be NULL) says where. */
GA_API ga_status ga_expr_dimension(ga_context *ctx, const ga_expr *e, const ga_dimension *variable,
                                   ga_dimension *out, ga_text_error *error);

/* Name of unit i = 0, 1, ... of the table, NULL after the last; *prefixes (may be NULL): 1 if prefixes such
 * as k, M, m are allowed. */
GA_API const char *ga_unit_list(int i, int *prefixes);

/* ---- Tables ------------------------------------------------------------------------------------------- */

typedef enum ga_interpolation {
  GA_INTERPOLATE_LINEAR = 0,
  GA_INTERPOLATE_MONOTONE, /* cubic, C¹, monotone where the data are (Fritsch and Carlson 1980); not in 2-D */
  GA_INTERPOLATE_SPLINE    /* cubic, C², third derivative continuous at the second and last but one point */
} ga_interpolation;

typedef enum ga_extrapolation {
  GA_EXTRAPOLATE_HOLD = 0, /* the last value */
  GA_EXTRAPOLATE_LINEAR,   /* the last value and slope */
  GA_EXTRAPOLATE_ERROR     /* GA_FAULT_RANGE */
} ga_extrapolation;

typedef struct ga_table_opts { /* start from ga_table_defaults(); copied at creation, the arrays too */
  int n;                       /* points, >= 2 */
  const double *x, *y;         /* [n] x ascending; all finite */
  ga_interpolation interpolation;
  ga_extrapolation before, after; /* below x[0], above x[n-1] */
} ga_table_opts;                  /* default: linear, hold */

typedef struct ga_table2d_opts {  /* start from ga_table2d_defaults(); copied at creation, the arrays too */
  int nx, ny;                     /* points, >= 2 each */
  const double *x, *y;            /* [nx], [ny] ascending */
  const double *z;                /* [nx*ny] z[i*ny+j] at x[i], y[j] */
  ga_interpolation interpolation; /* linear (bilinear) or spline (bicubic) */
  ga_extrapolation outside;       /* on all sides */
} ga_table2d_opts;                /* default: linear, hold */

GA_API ga_table_opts ga_table_defaults(void);
GA_API ga_table2d_opts ga_table2d_defaults(void);
GA_API ga_status ga_table2d_create(ga_context *ctx, const ga_table2d_opts *opts, ga_table2d **out);
GA_API void ga_table2d_destroy(ga_table2d **table);
/* out = z, z_x, z_y, z_xx, z_xy, z_yy: the first 1, 3 or 6 for order 0, 1, 2. On a grid line the derivatives
 * are those of the cell above it. Returns as ga_expr_eval(). */
GA_API ga_status ga_table2d_eval(const ga_table2d *table, double x, double y, int order, double *out,
                                 ga_fault *fault);

/* ---- Functions of time -------------------------------------------------------------------------------- */

/* Every motion law with its name: from 0 to 1 in unit time, at rest before and after; the last column is the
 * highest derivative that is continuous everywhere. */
#define GA_MOTION_LIST(X)                                                                                    \
  X(GA_MOTION_LINEAR, "linear", "position")                                                                  \
  X(GA_MOTION_TRAPEZOID, "trapezoid", "velocity")                                                            \
  X(GA_MOTION_CYCLOIDAL, "cycloidal", "acceleration")                                                        \
  X(GA_MOTION_POLY345, "poly345", "acceleration")                                                            \
  X(GA_MOTION_POLY4567, "poly4567", "jerk")

typedef enum ga_motion_law {
#define GA_MOTION_ENUM(name, text, continuous) name,
  GA_MOTION_LIST(GA_MOTION_ENUM)
#undef GA_MOTION_ENUM
      GA_N_MOTIONS
} ga_motion_law;

GA_API const char *ga_motion_name(ga_motion_law law); /* "cycloidal"; NULL where there is no such law */

typedef struct ga_motion_opts { /* start from ga_motion_defaults(); y in the unit of what it drives */
  ga_motion_law law;            /* default poly345 */
  double t_start;               /* [s] default 0 */
  double duration;              /* [s] > 0; default 1 */
  double from, to;              /* y before and after; default 0, 1 */
  double ramp;                  /* [-] trapezoid: part of the duration spent on speeding up, and again on
                                   slowing down, in (0, 0.5]; default 0.25 */
} ga_motion_opts;

/* y = offset + amplitude sin(phase + 2π ∫ f dt), f = frequency up to t_start, then linearly to frequency_end
 * within sweep seconds, then frequency_end. sweep 0: a sine of one frequency. */
typedef struct ga_wave_opts {      /* start from ga_wave_defaults() */
  double offset, amplitude;        /* default 0, 1 */
  double frequency, frequency_end; /* [Hz] default 1, 1; frequency_end is used only if sweep > 0 */
  double phase;                    /* [rad] at t_start; default 0 */
  double t_start, sweep;           /* [s] default 0, 0; sweep >= 0 */
} ga_wave_opts;

typedef struct ga_function_expr_opts { /* start from ga_function_expr_defaults() */
  const char *text;                    /* an expression in t */
  const ga_symbol *symbols;            /* further names: parameters, constants, functions, no variables */
  int n_symbols;
} ga_function_expr_opts;

GA_API ga_motion_opts ga_motion_defaults(void);
GA_API ga_wave_opts ga_wave_defaults(void);
GA_API ga_function_expr_opts ga_function_expr_defaults(void);

enum { GA_FUNCTION_DEPTH = 8 }; /* nesting of functions whose expressions use other functions */

/* An option out of its range is GA_ERR_ARGUMENT, and the message names it. */
GA_API ga_status ga_function_create_constant(ga_context *ctx, double value, ga_function **out);
GA_API ga_status ga_function_create_expr(ga_context *ctx, const ga_function_expr_opts *opts,
                                         ga_text_error *error, ga_function **out);
GA_API ga_status ga_function_create_table(ga_context *ctx, const ga_table_opts *opts, ga_function **out);
GA_API ga_status ga_function_create_motion(ga_context *ctx, const ga_motion_opts *opts, ga_function **out);
GA_API ga_status ga_function_create_wave(ga_context *ctx, const ga_wave_opts *opts, ga_function **out);
GA_API void ga_function_destroy(ga_function **f); /* NULL and *f == NULL are fine */

/* out = y, y', y'': the first order+1 of them. At a jump the derivatives are those after the jump. Returns as
 * ga_expr_eval(). */
GA_API ga_status ga_function_eval(const ga_function *f, double t, int order, double *out, ga_fault *fault);
/* ---- Where functions of time have corners or jumps ----
 * A break is a time at which a function or one of its derivatives may jump: points of tables, ends and ramps
 * of motion laws, and, in expressions, where the operands of if, comparisons, min, max, abs, sign, floor,
 * ceil, mod, step, sqrt, hypot, atan2 pass certain values. Breaks are found by enclosing the operands' values
 * over intervals of time, so that none is missed, however short the time between two of them. */
typedef struct ga_break {
  double before, after; /* [s] times on its two sides, a few roundings apart; both infinite: none was found */
  int order;    /* what jumps: 0 the value, 1 the slope, 2 the curvature, 3 a higher derivative or nothing */
  double clear; /* [s] if none was found: there is none up to this time, which is `until`, or earlier if the
                   search was ended because it took too long */
  double unresolved; /* [s] > 0: in an interval of this length after `clear` breaks cannot be separated: there
                        are too many, for example those of mod(3, t) near 0, or rounding decides where they
                        are. The break returned, and the next search, come after this interval */
} ga_break;

/* The first break that ends after t (break.after > t) and lies before `until`. GA_ERR_ARGUMENT where a
 * pointer is NULL or t < until does not hold. */
GA_API ga_status ga_function_next_break(const ga_function *f, double t, double until, ga_break *out);
/* The same for an expression in which the variable of index `time` is time and all others may have any value;
 * breaks that depend on these are left out. The order is determined at arbitrary values of them. */
GA_API ga_status ga_expr_next_break(const ga_expr *e, int time, double t, double until, ga_break *out);
/* Bounds of an expression's value for all values of its variables in [lo[i], hi[i]], indexed like values at
 * evaluation; lo NaN: not known. Returns 1: *least and *most enclose it, perhaps not tightly; 0: not known.
 */
GA_API int ga_expr_bounds(const ga_expr *e, const double *lo, const double *hi, double *least, double *most);
GA_API int ga_function_bounds(const ga_function *f, double from, double to, double *least,
                              double *most); /* likewise */
/* *out = ∫ f dt from `from` to `to`, exact up to rounding. Returns 1; 0: there is no closed form (only tables
 * and constants have one), or the table ends within the interval. */
GA_API int ga_function_integral(const ga_function *f, double from, double to, double *out);

/* ---- On which side of its jumps and corners a value is ----
 * Comparisons, if, &&, ||, !, sign, floor, ceil, mod, step(x, x0) and atan2 jump; abs, min, max and linear
 * tables have corners. The sides that an evaluation takes are hashed into *side, which the caller
 * initialises: if two points give equal numbers, both are on the same side of every jump and corner. Returns
 * as ga_expr_eval(). */
GA_API ga_status ga_expr_side(const ga_expr *e, const double *x, unsigned *side);
GA_API ga_status ga_function_side(const ga_function *f, double t, unsigned *side);
GA_API ga_status ga_table2d_side(const ga_table2d *table, double x, double y, unsigned *side);
/* 1: it may jump or have a corner when a variable other than `time` changes (-1: any variable); a function:
 * when its argument changes. */
GA_API int ga_expr_has_edges(const ga_expr *e, int time);
GA_API int ga_function_has_edges(const ga_function *f);
/* [s] Shortest period of sines, cosines and waves within [from, to]; a motion law counts as a period of twice
 * its duration, a cubic table as one of four times the distance of its points. Infinite if there is none. For
 * expressions it is found by sampling, as a guide for step sizes. */
GA_API double ga_function_period(const ga_function *f, double from, double to);
GA_API double ga_expr_period(const ga_expr *e, int time, double from, double to);

/* As ga_expr_set_parameter(), for functions made of an expression; others ignore it. */
GA_API ga_status ga_function_set_parameter(ga_function *f, int slot, double value);

#ifdef __cplusplus
}
#endif
#endif
