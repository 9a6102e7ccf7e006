/* galpha/control.h: blocks of control systems: gains, filters, controllers, limits, tables, delays,
 * functions.
 *
 * A block has inputs u[n_in], states x[n_x] and outputs y[n_out],
 *
 *   xdot = s(t,u,x)        y = o(t,u,x)
 *
 * with exact derivatives by u and x. Blocks do not refer to each other: the caller connects their inputs when
 * it puts them into a system (galpha/core.h), where states are part of x and outputs part of y. A loop of
 * blocks without states is then solved by Newton's iteration with all other equations.
 *
 * A block is constant after creation: evaluation allocates nothing, writes nothing but its outputs, and may
 * run in several threads at once. Creation copies options with their arrays and texts, and borrows functions,
 * tables and user pointers; it reports failures through the context, naming kind and option. Evaluation has
 * no context and reports through a ga_fault (galpha/expr.h).
 *
 * Not to be confused with the blocks of equations of a system, ga_equation_block of core.h. */
#ifndef GALPHA_CONTROL_H
#define GALPHA_CONTROL_H

#include "galpha/base.h"
#include "galpha/expr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_control_block ga_control_block;

/* ---- Kinds -------------------------------------------------------------------------------------------- */

/* Every kind with its name and what it does. ga_block_create_<name>() makes one, from ga_block_<name>_opts.
 */
#define GA_BLOCK_KIND_LIST(X)                                                                                \
  X(GA_KIND_GAIN, "gain", "y = K u, K a number or a matrix")                                                 \
  X(GA_KIND_SUM, "sum", "y = weighted sum of the inputs")                                                    \
  X(GA_KIND_PRODUCT, "product", "y = gain times inputs, divided by other inputs")                            \
  X(GA_KIND_CONSTANT, "constant", "y = given numbers")                                                       \
  X(GA_KIND_FUNCTION_OF_TIME, "function_of_time", "y = f(t)")                                                \
  X(GA_KIND_INTEGRATOR, "integrator", "y = integral of gain u, with optional limits")                        \
  X(GA_KIND_STATE_SPACE, "state_space", "xdot = A x + B u, y = C x + D u")                                   \
  X(GA_KIND_TRANSFER_FUNCTION, "transfer_function", "y = num(s)/den(s) u")                                   \
  X(GA_KIND_FIRST_ORDER, "first_order", "filter with one time constant: low-pass or high-pass")              \
  X(GA_KIND_SECOND_ORDER, "second_order",                                                                    \
    "filter with frequency and damping: low-pass, high-pass or band-pass")                                   \
  X(GA_KIND_DELAY, "delay", "y(t) = u(t - time), by a rational approximation")                               \
  X(GA_KIND_PID, "pid", "controller with filtered derivative, limits and anti-windup")                       \
  X(GA_KIND_SATURATION, "saturation", "y = u within limits, hard or smooth")                                 \
  X(GA_KIND_DEAD_ZONE, "dead_zone", "y = 0 within limits, the excess outside, hard or smooth")               \
  X(GA_KIND_TANH, "tanh", "y = scale tanh(gain u/scale), a smooth saturation")                               \
  X(GA_KIND_TABLE, "table", "y = f(u), f a table or another function of one variable")                       \
  X(GA_KIND_TABLE2D, "table2d", "y = f(u0, u1), f a table")                                                  \
  X(GA_KIND_ORIFICE, "orifice",                                                                              \
    "flow through an orifice, valve or check valve by a difference of pressures")                            \
  X(GA_KIND_CHAMBER, "chamber", "pressure in a chamber, by flow, displacement and its rate")                 \
  X(GA_KIND_DC_MOTOR, "dc_motor", "torque and current of a direct-current motor, by voltage and speed")      \
  X(GA_KIND_GEARBOX, "gearbox", "torque behind a gearbox with losses, and speed before it")                  \
  X(GA_KIND_EXPRESSION, "expression", "y = expressions in the inputs and t")                                 \
  X(GA_KIND_USER, "user", "a C function, with or without Jacobian")                                          \
  X(GA_KIND_SAMPLED, "sampled", "another block, evaluated at sample times; its outputs are held")

typedef enum ga_block_kind {
#define GA_BLOCK_KIND_ENUM(name, text, about) name,
  GA_BLOCK_KIND_LIST(GA_BLOCK_KIND_ENUM)
#undef GA_BLOCK_KIND_ENUM
      GA_N_BLOCK_KINDS
} ga_block_kind;

GA_API const char *ga_block_kind_name(ga_block_kind kind);  /* "pid"; NULL where there is no such kind */
GA_API const char *ga_block_kind_about(ga_block_kind kind); /* its line in the list; NULL likewise */
/* The kind of this name, GA_N_BLOCK_KINDS where there is none. */
GA_API ga_block_kind ga_block_kind_find(const char *name);

/* ---- Use ---------------------------------------------------------------------------------------------- */

enum {
  GA_BLOCK_SIZE = 256, /* inputs, states, outputs that a block may have, each */
  GA_BLOCK_NAME = 64   /* size of a name, its end included */
};

GA_API void ga_block_destroy(ga_control_block **block); /* NULL and *block == NULL are fine */

GA_API ga_block_kind ga_block_get_kind(const ga_control_block *block);
GA_API int ga_block_n_in(const ga_control_block *block);
GA_API int ga_block_n_x(const ga_control_block *block);
GA_API int ga_block_n_out(const ga_control_block *block);

/* The first break of the functions of time and expressions in t that a block contains, as
 * ga_expr_next_break(); and the shortest period of these, as ga_expr_period(). */
GA_API ga_status ga_block_next_break(const ga_control_block *block, double t, double until, ga_break *out);
GA_API double ga_block_period(const ga_control_block *block, double from, double to);
/* Bounds of output i of a block without states for all times in [t[0], t[1]] and inputs in [lo[k], hi[k]], as
 * ga_expr_bounds(); 0 for tables of two variables and C functions. */
GA_API int ga_block_bounds(const ga_control_block *block, int i, const double t[2], const double *lo,
                           const double *hi, double *least, double *most);
/* On which side of its jumps and corners a block is at t, inputs u and states x (NULL where it has none),
 * hashed into *side as by ga_expr_side(). ga_block_has_edges: 1 if it may have jumps or corners when inputs
 * or states change: expressions, tables, limits and dead zones that are not smooth; for C functions this is
 * not known, and 0 is returned. */
GA_API ga_status ga_block_side(const ga_control_block *block, double t, const double *u, const double *x,
                               unsigned *side);
GA_API int ga_block_has_edges(const ga_control_block *block);

/* Names of inputs, states, outputs: those given, "setpoint" and the like where the kind has them, else "u",
 * "x", "y" with a number (from 0) where there are several. NULL where there is no such i. They belong to the
 * block. */
GA_API const char *ga_block_input_name(const ga_control_block *block, int i);
GA_API const char *ga_block_state_name(const ga_control_block *block, int i);
GA_API const char *ga_block_output_name(const ga_control_block *block, int i);

/* Unit of output i, for display and files: "Pa". It describes the numbers and converts nothing. Any unit that
 * ga_unit_parse() accepts, shorter than GA_BLOCK_NAME; "1" and "" mean none, which is the default. Set it
 * before the block is given to a machine. */
GA_API ga_status ga_block_set_unit(ga_control_block *block, int i, const char *unit);
/* "" where it has none, NULL where there is no such i. */
GA_API const char *ga_block_output_unit(const ga_control_block *block, int i);

/* 1 where s or o can depend: row counts xdot, then y; col counts u, then x. 0 elsewhere, for every t, u, x,
 * and where there is no such row or column. An integrator's y does not depend on u, and so closes no
 * algebraic loop. */
GA_API int ga_block_depends(const ga_control_block *block, int row, int col);

/* Initial states into x0[n_x]. */
GA_API void ga_block_initial(const ga_control_block *block, double *x0);

/* xdot[n_x] and y[n_out] at t [s], u[n_in], x[n_x]. Arrays of length 0 may be NULL, and xdot or y if it is
 * not needed. The same bits for the same point.
 *
 *   GA_RETRY_NAN       there is no finite result, or an input is not finite; *fault says why
 *   GA_RETRY_CALLBACK  a user's function returned > 0
 *   GA_ERR_CALLBACK    it returned < 0
 *
 * fault may be NULL; on success its kind is GA_FAULT_NONE. After a failure the outputs are not usable. */
GA_API ga_status ga_block_eval(const ga_control_block *block, double t, const double *u, const double *x,
                               double *xdot, double *y, ga_fault *fault);

/* J[(n_x+n_out)*(n_in+n_x)], row-major: rows xdot, then y; columns u, then x. Entries without dependence are
 * 0. At a kink the derivative is that of the side that gives the value; at a limit, that of the inside.
 * Returns as ga_block_eval(); GA_ERR_PATTERN: a user's Jacobian is not 0 where ga_block_depends() is. */
GA_API ga_status ga_block_jacobian(const ga_control_block *block, double t, const double *u, const double *x,
                                   double *J, ga_fault *fault);

/* ---- Creation -------------------------------------------------------------------------------------------
 * opts must not be NULL; start from the defaults. On failure *out is NULL: GA_ERR_ARGUMENT, with a message
 * that names kind and option, or GA_ERR_MEMORY. Units are those of the signals; [u], [y] stand for those of
 * input and output. Numbers are finite unless said otherwise. */

/* Names of what a block has; each list may be NULL. Within a list each is given, short enough and unique. */
typedef struct ga_block_names {
  const char *const *in;  /* [n_in] */
  const char *const *x;   /* [n_x] */
  const char *const *out; /* [n_out] */
} ga_block_names;

/* -- Without states -- */

typedef struct ga_block_gain_opts { /* start from ga_block_gain_defaults() */
  int n_in, n_out;                  /* >= 1; default 1, 1 */
  double gain; /* [y]/[u] where matrix is NULL: of every input; n_in and n_out must agree; default 1 */
  const double *matrix; /* [n_out*n_in] row-major; NULL: gain times identity (default) */
} ga_block_gain_opts;

GA_API ga_block_gain_opts ga_block_gain_defaults(void);
GA_API ga_status ga_block_create_gain(ga_context *ctx, const ga_block_gain_opts *opts,
                                      ga_control_block **out);

typedef struct ga_block_sum_opts { /* start from ga_block_sum_defaults(); one output */
  int n_in;                        /* >= 1; default 2 */
  const double *weights;           /* [n_in] +1, −1 or any number; NULL: all 1 (default) */
} ga_block_sum_opts;

GA_API ga_block_sum_opts ga_block_sum_defaults(void);
GA_API ga_status ga_block_create_sum(ga_context *ctx, const ga_block_sum_opts *opts, ga_control_block **out);

typedef struct ga_block_product_opts { /* start from ga_block_product_defaults(); one output */
  int n_in;                            /* >= 1; default 2 */
  double gain;                         /* default 1 */
  const int *divide; /* [n_in] 1: divide by this input, which is a fault where it is 0; 0: multiply;
                        NULL: multiply all (default) */
} ga_block_product_opts;

GA_API ga_block_product_opts ga_block_product_defaults(void);
GA_API ga_status ga_block_create_product(ga_context *ctx, const ga_block_product_opts *opts,
                                         ga_control_block **out);

typedef struct ga_block_constant_opts { /* start from ga_block_constant_defaults(); no input */
  int n_out;                            /* >= 1; default 1 */
  const double *value;                  /* [n_out]; needed */
} ga_block_constant_opts;

GA_API ga_block_constant_opts ga_block_constant_defaults(void);
GA_API ga_status ga_block_create_constant(ga_context *ctx, const ga_block_constant_opts *opts,
                                          ga_control_block **out);

typedef struct ga_block_function_of_time_opts { /* start from ga_block_function_of_time_defaults(); no input
                                                 */
  const ga_function *function;                  /* y = f(t); needed; borrowed as long as the block lives */
} ga_block_function_of_time_opts;

GA_API ga_block_function_of_time_opts ga_block_function_of_time_defaults(void);
GA_API ga_status ga_block_create_function_of_time(ga_context *ctx, const ga_block_function_of_time_opts *opts,
                                                  ga_control_block **out);

/* Limits of saturation, dead_zone and others. With smoothing w > 0 the corner at a limit is rounded within ±w
 * by a quartic that leaves two derivatives continuous: at the limit itself the value is off by 3w/16, and
 * beyond w from it exact. The corners must not overlap: upper − lower >= 2w. With w = 0 the slope jumps,
 * which costs the integration its order in that step. */
typedef struct ga_block_saturation_opts { /* start from ga_block_saturation_defaults(); one input, one output
                                           */
  double lower, upper;                    /* [u] lower < upper; default −1, 1; infinite: no such limit */
  double smoothing;                       /* [u] w >= 0; default 0 */
} ga_block_saturation_opts;

GA_API ga_block_saturation_opts ga_block_saturation_defaults(void);
GA_API ga_status ga_block_create_saturation(ga_context *ctx, const ga_block_saturation_opts *opts,
                                            ga_control_block **out);

/* y = 0 within the limits, u − upper above, u − lower below: what a saturation cuts off. */
typedef struct ga_block_dead_zone_opts { /* start from ga_block_dead_zone_defaults() */
  double lower, upper;                   /* [u] as above */
  double smoothing;                      /* [u] as above */
} ga_block_dead_zone_opts;

GA_API ga_block_dead_zone_opts ga_block_dead_zone_defaults(void);
GA_API ga_status ga_block_create_dead_zone(ga_context *ctx, const ga_block_dead_zone_opts *opts,
                                           ga_control_block **out);

typedef struct ga_block_tanh_opts { /* start from ga_block_tanh_defaults(); y = scale tanh(gain u/scale) */
  double gain;                      /* [y]/[u] slope at 0; default 1 */
  double scale;                     /* [y] > 0, the limit; default 1 */
} ga_block_tanh_opts;

GA_API ga_block_tanh_opts ga_block_tanh_defaults(void);
GA_API ga_status ga_block_create_tanh(ga_context *ctx, const ga_block_tanh_opts *opts,
                                      ga_control_block **out);

typedef struct ga_block_table_opts { /* start from ga_block_table_defaults(); y = f(u) */
  const ga_function *function;       /* needed; borrowed as long as the block lives */
} ga_block_table_opts;

GA_API ga_block_table_opts ga_block_table_defaults(void);
GA_API ga_status ga_block_create_table(ga_context *ctx, const ga_block_table_opts *opts,
                                       ga_control_block **out);

typedef struct ga_block_table2d_opts { /* start from ga_block_table2d_defaults(); y = f(u0, u1) */
  const ga_table2d *table;             /* needed; borrowed as long as the block lives */
} ga_block_table2d_opts;

GA_API ga_block_table2d_opts ga_block_table2d_defaults(void);
GA_API ga_status ga_block_create_table2d(ga_context *ctx, const ga_block_table2d_opts *opts,
                                         ga_control_block **out);

typedef struct ga_block_expression_opts { /* start from ga_block_expression_defaults() */
  int n_in;                               /* >= 0; default 0 */
  const char *const *inputs;  /* [n_in] names as in ga_symbol; t is the time [s] and none of them */
  int n_out;                  /* >= 1; default 1 */
  const char *const *texts;   /* [n_out] expressions in the inputs and t; needed */
  const char *const *outputs; /* [n_out] names; NULL: "y", ... (default) */
  const ga_symbol *symbols;   /* further names: parameters, constants, functions, tables, no variables; what
                                 they refer to is borrowed as long as the block lives */
  int n_symbols;              /* default 0 */
} ga_block_expression_opts;

GA_API ga_block_expression_opts ga_block_expression_defaults(void);
/* error and failed_text may be NULL: what is wrong with which text (−1: with none), as ga_expr_compile(). */
GA_API ga_status ga_block_create_expression(ga_context *ctx, const ga_block_expression_opts *opts,
                                            ga_text_error *error, int *failed_text, ga_control_block **out);

/* -- Linear, with states -- */

/* With limits, y = saturation(x) and xdot = gain u + (y − x)/tracking_time: the state goes beyond a limit by
 * tracking_time·|gain u| at most, so that y comes back soon after u changes its sign. */
typedef struct ga_block_integrator_opts { /* start from ga_block_integrator_defaults() */
  int n;                                  /* inputs, states and outputs, >= 1; default 1 */
  double gain;                            /* [y]/([u] s) default 1 */
  const double *initial;                  /* [n] values at the start, within the limits; NULL: 0 (default) */
  double lower, upper;                    /* [y] lower < upper; default −INFINITY, INFINITY: no limits */
  double smoothing;                       /* [y] >= 0, as for the saturation; default 0 */
  double tracking_time;                   /* [s] > 0 where there is a limit; default 0 */
} ga_block_integrator_opts;

GA_API ga_block_integrator_opts ga_block_integrator_defaults(void);
GA_API ga_status ga_block_create_integrator(ga_context *ctx, const ga_block_integrator_opts *opts,
                                            ga_control_block **out);

typedef struct ga_block_state_space_opts { /* start from ga_block_state_space_defaults() */
  int n_in, n_x, n_out;                    /* n_in, n_x >= 0, n_out >= 1; default 0, 0, 0 */
  const double *A;                         /* [n_x*n_x] row-major, as all; needed where n_x > 0 */
  const double *B;                         /* [n_x*n_in] needed where n_x and n_in > 0 */
  const double *C;                         /* [n_out*n_x] needed where n_x > 0 */
  const double *D;                         /* [n_out*n_in] NULL: 0 (default) */
  const double *x0;                        /* [n_x] initial states; NULL: 0 (default) */
  ga_block_names names;                    /* default none */
} ga_block_state_space_opts;

GA_API ga_block_state_space_opts ga_block_state_space_defaults(void);
GA_API ga_status ga_block_create_state_space(ga_context *ctx, const ga_block_state_space_opts *opts,
                                             ga_control_block **out);

/* y/u = num(s)/den(s), realised in controllable canonical form, with time and states scaled: every entry of
 * the scaled companion matrix is at most 1, and the state that y depends on most has the size of y. */
typedef struct ga_block_transfer_function_opts { /* start from ga_block_transfer_function_defaults() */
  int n_num, n_den;                              /* numbers of coefficients, >= 1 */
  const double *num,
      *den; /* coefficients, highest power of s first; den[0] not 0; the degree of num at most that of den */
  double steady_output; /* [y] output of the equilibrium that the states start from; default 0. Other values
                           need num(0) not 0 */
} ga_block_transfer_function_opts;

GA_API ga_block_transfer_function_opts ga_block_transfer_function_defaults(void);
GA_API ga_status ga_block_create_transfer_function(ga_context *ctx,
                                                   const ga_block_transfer_function_opts *opts,
                                                   ga_control_block **out);

typedef enum ga_filter_pass {
  GA_PASS_LOW = 0,
  GA_PASS_HIGH,
  GA_PASS_BAND /* second_order only */
} ga_filter_pass;

/* gain/(T s + 1), or gain T s/(T s + 1) */
typedef struct ga_block_first_order_opts { /* start from ga_block_first_order_defaults() */
  double gain;                             /* [y]/[u] in the pass band; default 1 */
  double time_constant;                    /* [s] T > 0; default 1 */
  ga_filter_pass pass;                     /* low (default) or high */
  double initial_input; /* [u] input of the equilibrium that the state starts from; default 0 */
} ga_block_first_order_opts;

GA_API ga_block_first_order_opts ga_block_first_order_defaults(void);
GA_API ga_status ga_block_create_first_order(ga_context *ctx, const ga_block_first_order_opts *opts,
                                             ga_control_block **out);

/* gain (ω², 2ζω s, or s²)/(s² + 2ζω s + ω²), ω = 2π frequency */
typedef struct ga_block_second_order_opts { /* start from ga_block_second_order_defaults() */
  double gain;                              /* [y]/[u] in the pass band; default 1 */
  double frequency;                         /* [Hz] > 0, of the undamped filter; default 1 */
  double damping;       /* [-] ζ >= 0, 1: critical; above 0 for band-pass; default 1/√2 */
  ga_filter_pass pass;  /* default low */
  double initial_input; /* [u] as above; default 0 */
} ga_block_second_order_opts;

GA_API ga_block_second_order_opts ga_block_second_order_defaults(void);
GA_API ga_status ga_block_create_second_order(ga_context *ctx, const ga_block_second_order_opts *opts,
                                              ga_control_block **out);

/* y(t) ≈ u(t − time): the Padé approximant of exp(−time s) with a numerator of degree order−1 and a
 * denominator of degree order, which has no direct feedthrough. The states are the coefficients of the
 * input's recent past in shifted Legendre polynomials (Voelker, Kajić & Eliasmith 2019), a well-conditioned
 * realisation. A sine of angular frequency order/time is off by 34, 15, 6.3, 2.6, 1.1, 0.44 % for orders 1 to
 * 6, slower ones by much less. */
typedef struct ga_block_delay_opts { /* start from ga_block_delay_defaults() */
  double time;                       /* [s] > 0; needed */
  int order;                         /* 1 to GA_DELAY_ORDER; default 3 */
  double initial_input;              /* [u] before the start; default 0 */
} ga_block_delay_opts;
enum { GA_DELAY_ORDER = 6 };

GA_API ga_block_delay_opts ga_block_delay_defaults(void);
GA_API ga_status ga_block_create_delay(ga_context *ctx, const ga_block_delay_opts *opts,
                                       ga_control_block **out);

/* -- Hydraulics and drives -- */

/* Flow [m³/s] from inlet to outlet, pressures [Pa]: Q = K s/(s² + transition²)^¼ with s = inlet − outlet, a
 * root for large differences of pressure and linear for small ones. A check valve opens for s > 0 only: s is
 * then ½(s + √(s² + check_width²)) − ½ check_width. */
typedef struct ga_block_orifice_opts { /* start from ga_block_orifice_defaults() */
  double coefficient;                  /* [m³/(s √Pa)] K > 0; needed */
  double transition;                   /* [Pa] > 0; default 1e5 */
  int check;                           /* 1: a check valve; default 0 */
  double check_width;                  /* [Pa] > 0; default 200 */
  int controlled;                      /* 1: a third input, opening [-], is a factor of the flow; default 0 */
} ga_block_orifice_opts;

GA_API ga_block_orifice_opts ga_block_orifice_defaults(void);
GA_API ga_status ga_block_create_orifice(ga_context *ctx, const ga_block_orifice_opts *opts,
                                         ga_control_block **out);

/* Pressure p' = bulk_modulus/V (flow − area rate), V = volume + area displacement. Inputs: flow into the
 * chamber [m³/s], displacement [m] of a piston and its rate. A volume that is not positive is a fault. */
typedef struct ga_block_chamber_opts { /* start from ga_block_chamber_defaults() */
  double bulk_modulus;                 /* [Pa] > 0; needed */
  double volume;                       /* [m³] > 0, at displacement 0; needed */
  double area;     /* [m²] positive: the volume grows with the displacement; default 0: it is constant */
  double pressure; /* [Pa] at the start; default 0 */
} ga_block_chamber_opts;

GA_API ga_block_chamber_opts ga_block_chamber_defaults(void);
GA_API ga_status ga_block_create_chamber(ga_context *ctx, const ga_block_chamber_opts *opts,
                                         ga_control_block **out);

/* inductance i' = voltage − resistance i − constant speed. Outputs: torque = constant i, and current i. */
typedef struct ga_block_dc_motor_opts { /* start from ga_block_dc_motor_defaults() */
  double resistance;                    /* [Ω] >= 0; default 0 */
  double inductance;                    /* [H] > 0; needed */
  double constant;                      /* [N m/A = V s/rad] > 0; needed */
  double current;                       /* [A] at the start; default 0 */
} ga_block_dc_motor_opts;

GA_API ga_block_dc_motor_opts ga_block_dc_motor_defaults(void);
GA_API ga_status ga_block_create_dc_motor(ga_context *ctx, const ga_block_dc_motor_opts *opts,
                                          ga_control_block **out);

/* Inputs: torque T of the motor, speed ω behind the gearbox. Outputs: torque behind it, ratio T times
 * efficiency where the motor drives (T ratio ω > 0), divided by it where the motor is driven; and speed ratio
 * ω of the motor. Between both the factor goes over by tanh(T ratio ω/power). For backlash, a dead_zone
 * between two angles that a stiff spring joins. */
typedef struct ga_block_gearbox_opts { /* start from ga_block_gearbox_defaults() */
  double ratio;      /* [-] turns of the motor for one behind it, of either sign; default 1 */
  double efficiency; /* [-] in (0, 1]; default 1 */
  double power;      /* [W] > 0, needed where efficiency < 1 */
} ga_block_gearbox_opts;

GA_API ga_block_gearbox_opts ga_block_gearbox_defaults(void);
GA_API ga_status ga_block_create_gearbox(ga_context *ctx, const ga_block_gearbox_opts *opts,
                                         ga_control_block **out);

/* -- Controller -- */

/* Inputs setpoint r and measurement m; states integral i and filtered d, each only where its gain is not 0:
 *
 *   v = kp (b r − m) + i + (kd/Tf) (c r − m − d)        y = saturation(v)
 *   i' = ki (r − m) + (y − v)/Tt                        d' = (c r − m − d)/Tf
 *
 * The last term of i' (back-calculation) keeps the integral from winding up while the output is at a limit.
 */
typedef struct ga_block_pid_opts {   /* start from ga_block_pid_defaults() */
  double kp;                         /* [y]/[u] default 1 */
  double ki;                         /* [y]/([u] s) default 0 */
  double kd;                         /* [y] s/[u] default 0; one of the three is not 0 */
  double filter_time;                /* [s] Tf > 0, of the derivative's filter; 0: |kd/kp|/10 (default) */
  double setpoint_weight;            /* [-] b; default 1 */
  double setpoint_weight_derivative; /* [-] c; default 0: steps of the setpoint are not differentiated */
  double lower, upper;               /* [y] lower < upper; default −INFINITY, INFINITY: no limits */
  double smoothing;                  /* [y] >= 0, as for the saturation; 0: hard (default) */
  double tracking_time;              /* [s] Tt > 0; 0: √|kd/ki|, or |kp/ki| without kd (default) */
  double integral;                   /* [y] i at the start; default 0 */
  double filtered;                   /* [u] d at the start; default 0; −m at rest, if c = 0 */
} ga_block_pid_opts;

GA_API ga_block_pid_opts ga_block_pid_defaults(void);
GA_API ga_status ga_block_create_pid(ga_context *ctx, const ga_block_pid_opts *opts, ga_control_block **out);

/* -- User's functions -- */

/* Writes all of xdot[n_x] and y[n_out], neither of which is NULL. Returns 0; > 0: cannot be evaluated here,
 * try a smaller step; < 0: give up. Must give the same bits for the same arguments. */
typedef int (*ga_block_fn)(void *user, double t, const double *u, const double *x, double *xdot, double *y);
/* J as for ga_block_jacobian(), zero when the function is entered. Returns as ga_block_fn. */
typedef int (*ga_block_jacobian_fn)(void *user, double t, const double *u, const double *x, double *J);

typedef struct ga_block_user_opts { /* start from ga_block_user_defaults() */
  int n_in, n_x, n_out;             /* n_in >= 0, n_x + n_out >= 1; default 0, 0, 0 */
  ga_block_fn function;             /* needed */
  ga_block_jacobian_fn jacobian; /* NULL: fourth-order differences (default), four calls for every column */
  void *user;                    /* handed to both; borrowed */
  const char *name;              /* for faults; NULL: "user" (default) */
  const double *x0;              /* [n_x] initial states; NULL: 0 (default) */
  const unsigned char *depends;  /* [(n_x+n_out)*(n_in+n_x)] laid out as J, 1 where J can differ from 0; NULL:
                                    everywhere (default) */
  double difference_step;        /* [-] differences reach 2 to 4 times this, times max(1, |u|), to both sides;
                                    default 2^-13; (0, 0.1] */
  ga_block_names names;          /* default none */
} ga_block_user_opts;

GA_API ga_block_user_opts ga_block_user_defaults(void);
GA_API ga_status ga_block_create_user(ga_context *ctx, const ga_block_user_opts *opts,
                                      ga_control_block **out);

/* -- Sampled -- */

/* Another block as a program that runs at t_k = offset + k period, k = 0, 1, ...: its inputs are read there,
 * and its outputs are held until the next sample. Its states are those of a difference equation: of
 * state_space, transfer_function (in z instead of s) and user, what they call xdot is the next state,
 *
 *   x_k+1 = A x_k + B u_k,   y_k = C x_k + D u_k
 *
 * and those of pid and integrator are x_k+1 = x_k + period xdot_k; a pid needs period <= filter_time, and is
 * the plain difference where they are equal. Blocks without states are sampled and held. Filters and delays
 * are refused: give their difference equation.
 *
 * The simulator meets every sample exactly, and starts again behind it. Of several blocks that are sampled at
 * the same time, one that reads another sees its new output. Motions, accelerations and reactions are those
 * just before the sample. States: those of the block, then its held outputs. */
typedef struct ga_block_sampled_opts { /* start from ga_block_sampled_defaults() */
  double sample_time;                  /* [s] > 0; needed */
  double sample_offset;                /* [s] >= 0, time of the first sample; default 0 */
  const double *initial;               /* [n_out] outputs before the first sample; NULL: 0 (default) */
} ga_block_sampled_opts;

GA_API ga_block_sampled_opts ga_block_sampled_defaults(void);
/* *inner belongs to the new block afterwards, and is NULL; it is kept on failure. */
GA_API ga_status ga_block_create_sampled(ga_context *ctx, const ga_block_sampled_opts *opts,
                                         ga_control_block **inner, ga_control_block **out);
/* 1: the block is sampled; period and offset may be NULL. */
GA_API int ga_block_sample_time(const ga_control_block *block, double *period, double *offset);
/* [s] The first sample at or after t; infinite if the block is not sampled. */
GA_API double ga_block_next_sample(const ga_control_block *block, double t);
/* States behind a sample at t: x_next[n_x], which must not be x. Returns as ga_block_eval(). */
GA_API ga_status ga_block_sample(const ga_control_block *block, double t, const double *u, const double *x,
                                 double *x_next, ga_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
