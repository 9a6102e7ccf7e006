/* Steps that jump, alternately .3 and .7 (or a third and two) of 2h: what each adjustment is worth. The
 * expected errors come from runs of an implementation of its own, written to check the papers; those say in
 * figures only that the order is 2 with an adjustment and less without. ACB15: Arnold, Cardona, Brüls, 2015;
 * BA08: Brüls, Arnold, 2008; JN08 and JN-NH: Jay, Negrut, 2008 and on nonholonomic constraints. */
#include "cases.h"

#define ORDER(order_, label_, quantity_) VF_ROW(label_, quantity_, .order = order_, .band = 0.2)
#define MECHANICAL(order_) ORDER(order_, "q", VF_Q), ORDER(order_, "v", VF_V), ORDER(order_, "vdot", VF_VDOT)
#define LAMBDA(order_) ORDER(order_, "lambda", VF_LAMBDA)
#define PSI(order_) ORDER(order_, "psi", VF_PSI)
#define CONTROL(order_) ORDER(order_, "x", VF_X), ORDER(order_, "y", VF_Y)
#define VALUES(label_, quantity_, order_, ...)                                                               \
  VF_ROW(label_, quantity_, .order = order_, .band = 0.2, .value = {__VA_ARGS__})

#define SHIFT .adjust = GA_ADJUST_SHIFT
#define GAMMA .adjust = GA_ADJUST_GAMMA
#define NONE .adjust = GA_ADJUST_NONE
#define JUMPS(method_) .method = method_, .start = VF_CONSISTENT, .rho = 0.8, .split = 0.3
#define INDEX3_JUMPS .method = GA_INDEX3, .start = VF_PERTURBED, .rho = 0.8, .split = 0.3

/* (15) of JN08, steps h/3 and 2h/3 */
#define THIRDS .method = GA_SOI2, .start = VF_NAIVE, .rho = 0.2, .split = 1.0 / 3, .levels = 4
/* The heavy top on [0,.2] */
#define TOP_STEPS .t_end = 0.2, .h = 1e-3, .levels = 3
#define TOP_LONGER .t_end = 0.2, .h = 1e-3, .levels = 4
/* (29) belongs to a0 = vdot0 */
#define SPRING_STEPS .method = GA_INDEX3, .start = VF_NAIVE, .rho = 0.8, .split = 0.3, .h = 0.05, .levels = 3
#define SPRING_JUMPS JUMPS(GA_STABILIZED), .h = 0.05, .levels = 4
#define CONTROLLED_JUMPS .h = 0.01, .levels = 4
#define DISK_STEPS .h = 5e-3, .levels = 4
#define TEST71_STEPS .h = 0.0125, .levels = 5
#define TEST71_FINE .h = 3.125e-3, .levels = 4 /* errors of both orders cancel at larger steps */
#define PENDULUM_STEPS .h = 1.25e-3, .levels = 4
#define NONHOLONOMIC(order_) .expect = {MECHANICAL(order_), PSI(order_)}
#define HOLONOMIC(order_) .expect = {MECHANICAL(order_), LAMBDA(order_)}
#define CONTROLLED(order_) .expect = {MECHANICAL(order_), LAMBDA(order_), CONTROL(order_)}

static const vf_case cases[] = {
    /* No free motion: y and z keep order 2 without an adjustment */
    {"test15", "SOI2, steps h/3 and 2h/3, (14a) and (14b)", "JN08", THIRDS, .h = 0.0125, SHIFT,
     .mass_alpha = GA_MASS_PREVIOUS, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 2.80e-4), VF_AT_END("z", VF_V, 2, 2.84e-4),
                VF_AT_END("a", VF_A, 2, 7.19e-4), VF_AT_END("lambda", VF_LAMBDA, 2, 7.43e-5),
                VF_AT_END("psi", VF_PSI, 2, 1.66e-5)}},
    {"test15", "SOI2, steps h/3 and 2h/3, without (14)", "JN08", THIRDS, .h = 0.0125, NONE,
     .mass_alpha = GA_MASS_PREVIOUS, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 2.53e-4), VF_AT_END("z", VF_V, 2, 2.57e-4),
                VF_AT_END("a", VF_A, 1, 2.59e-3), VF_AT_END("lambda", VF_LAMBDA, 1, 2.27e-3),
                VF_AT_END("psi", VF_PSI, 1, 9.58e-5)}},
    {"test15", "SOI2, steps h/3 and 2h/3, (14a), M evaluated", "JN08", THIRDS, .h = 0.0125, SHIFT,
     .expect = {VF_AT_END("y", VF_Q, 2, 2.80e-4), VF_AT_END("z", VF_V, 2, 2.84e-4),
                VF_AT_END("a", VF_A, 2, 7.19e-4), VF_AT_END("lambda", VF_LAMBDA, 2, 0),
                VF_AT_END("psi", VF_PSI, 2, 0)}},
    {"pendulum", "SOI2, steps h/3 and 2h/3, (14a)", "JN08", THIRDS, .h = 1.25e-3, SHIFT,
     .expect = {VF_AT_END("y", VF_Q, 2, 0), VF_AT_END("z", VF_V, 2, 0), VF_AT_END("a", VF_A, 2, 0),
                VF_AT_END("lambda", VF_LAMBDA, 2, 0)}},

    /* Heavy top, stabilized */
    {"heavy_top_left", "stabilized, steps .3/.7, no adjustment", "ACB15", JUMPS(GA_STABILIZED), TOP_STEPS,
     NONE,
     .expect = {VF_ROW("lambda", VF_LAMBDA, .value = {10.6, 3.59, 1.52}),
                VALUES("vdot", VF_VDOT, 1, 20, 11.1, 5.7)}},
    {"heavy_top_left", "stabilized, steps .3/.7, a shifted", "ACB15", JUMPS(GA_STABILIZED), TOP_STEPS, SHIFT,
     .in_short = 1,
     .expect = {VALUES("lambda", VF_LAMBDA, 2, 9.16, 2.34, .590),
                VALUES("vdot", VF_VDOT, 2, 14.7, 4.2, 1.09)}},
    {"heavy_top_left", "stabilized, steps .3/.7, gamma from (29)", "ACB15", JUMPS(GA_STABILIZED), TOP_STEPS,
     GAMMA,
     .expect = {VALUES("lambda", VF_LAMBDA, 2, 9.92, 2.52, .633),
                VALUES("vdot", VF_VDOT, 2, 10.6, 2.96, .765)}},
    {"heavy_top_left", "stabilized, a0 = vdot0, gamma from (29)", "ACB15", .method = GA_STABILIZED,
     .start = VF_NAIVE, .rho = 0.8, TOP_STEPS, GAMMA, .in_short = 1,
     .expect = {VALUES("lambda", VF_LAMBDA, 2, 1.277, .3194, .0798)}},

    /* Heavy top, index-3: the offset of v has to follow h */
    {"heavy_top_left", "index-3, steps .3/.7, a shifted, offset moved", "ACB15", INDEX3_JUMPS, TOP_LONGER,
     SHIFT, HOLONOMIC(2), .in_short = 1},
    {"heavy_top_left", "index-3, steps .3/.7, gamma from (29), offset moved", "ACB15", INDEX3_JUMPS,
     TOP_LONGER, GAMMA, HOLONOMIC(2)},
    {"heavy_top_left", "index-3, steps .3/.7, a shifted, offset kept", "ACB15", INDEX3_JUMPS, TOP_LONGER,
     SHIFT, .fixed_offset = 1,
     .expect = {ORDER(2, "q", VF_Q), ORDER(2, "v", VF_V), ORDER(1, "vdot", VF_VDOT), LAMBDA(1)}},
    {"heavy_top_left", "index-3, steps .3/.7, gamma from (29), offset kept", "ACB15", INDEX3_JUMPS,
     TOP_LONGER, GAMMA, .fixed_offset = 1,
     .expect = {ORDER(2, "q", VF_Q), ORDER(2, "v", VF_V), ORDER(1, "vdot", VF_VDOT), LAMBDA(1)}},

    /* Heavy top, SOI2 */
    {"heavy_top_left", "SOI2, steps .3/.7, (14)", "", JUMPS(GA_SOI2), TOP_LONGER, SHIFT, HOLONOMIC(2),
     .in_short = 1},
    {"heavy_top_left", "SOI2, steps .3/.7, (14a) and (14b)", "", JUMPS(GA_SOI2), TOP_LONGER, SHIFT,
     .mass_alpha = GA_MASS_PREVIOUS, HOLONOMIC(2)},
    {"heavy_top_left", "SOI2, steps .3/.7, without (14)", "", JUMPS(GA_SOI2), TOP_LONGER, NONE,
     .mass_alpha = GA_MASS_PREVIOUS, HOLONOMIC(1)},

    /* Acceleration feedback */
    {"spring_mass", "steps .3/.7, no update, a0 = vdot0, w0 = xdot0", "BA08", SPRING_STEPS, NONE,
     .in_short = 1, .expect = {VF_AT_END("q", VF_Q, 0, 2.47e-3, 9.15e-4, 3.76e-4)}},
    {"spring_mass", "steps .3/.7, (29), a0 = vdot0, w0 = xdot0", "BA08", SPRING_STEPS, GAMMA, .in_short = 1,
     .expect = {VF_AT_END("q", VF_Q, 2, 1.40e-3, 3.56e-4, 8.97e-5)}},
    {"spring_mass", "steps .3/.7, a and w shifted", "BA08", SPRING_JUMPS, SHIFT, .in_short = 1,
     .expect = {MECHANICAL(2), CONTROL(2)}},
    {"spring_mass", "steps .3/.7, gamma and theta from (29)", "BA08", SPRING_JUMPS, GAMMA,
     .expect = {MECHANICAL(2), CONTROL(2)}},
    {"spring_mass", "steps .3/.7, no adjustment", "BA08", SPRING_JUMPS, NONE,
     .expect = {MECHANICAL(1), CONTROL(1)}},
    {"mechatronic", "stabilized, steps .3/.7, a and w shifted", "BA08", JUMPS(GA_STABILIZED),
     CONTROLLED_JUMPS, SHIFT, CONTROLLED(2), .in_short = 1},
    {"mechatronic", "stabilized, steps .3/.7, gamma and theta from (29)", "BA08", JUMPS(GA_STABILIZED),
     CONTROLLED_JUMPS, GAMMA, CONTROLLED(2)},
    {"mechatronic", "index-3, steps .3/.7, a and w shifted, offset moved", "BA08", INDEX3_JUMPS,
     CONTROLLED_JUMPS, SHIFT, CONTROLLED(2)},
    {"mechatronic", "index-3, steps .3/.7, gamma and theta from (29), offset moved", "BA08", INDEX3_JUMPS,
     CONTROLLED_JUMPS, GAMMA, CONTROLLED(2)},

    /* Free motion: without an adjustment all components fall to order 1 */
    {"rolling_disk", "exact equilibrium, steps .3/.7, a shifted", "", JUMPS(GA_STABILIZED), DISK_STEPS, SHIFT,
     NONHOLONOMIC(2)},
    {"rolling_disk", "exact equilibrium, steps .3/.7, gamma from (29)", "", JUMPS(GA_STABILIZED), DISK_STEPS,
     GAMMA, NONHOLONOMIC(2)},
    {"rolling_disk", "exact equilibrium, steps .3/.7, no adjustment", "", JUMPS(GA_STABILIZED), DISK_STEPS,
     NONE, NONHOLONOMIC(1)},
    {"rolling_disk", "weighted, steps .3/.7, (14)", "", JUMPS(GA_WEIGHTED), DISK_STEPS, SHIFT,
     .mass_alpha = GA_MASS_PREVIOUS, NONHOLONOMIC(2)},
    {"rolling_disk", "weighted, steps .3/.7, without (14)", "", JUMPS(GA_WEIGHTED), DISK_STEPS, NONE,
     .mass_alpha = GA_MASS_PREVIOUS, NONHOLONOMIC(1)},
    {"test71", "exact equilibrium, steps .3/.7, a shifted", "", JUMPS(GA_STABILIZED), TEST71_STEPS, SHIFT,
     NONHOLONOMIC(2)},
    {"test71", "exact equilibrium, steps .3/.7, gamma from (29)", "", JUMPS(GA_STABILIZED), TEST71_STEPS,
     GAMMA, NONHOLONOMIC(2)},
    {"test71", "exact equilibrium, steps .3/.7, no adjustment", "", JUMPS(GA_STABILIZED), TEST71_STEPS, NONE,
     NONHOLONOMIC(1)},
    {"test71", "weighted, steps .3/.7, (14)", "", JUMPS(GA_WEIGHTED), TEST71_STEPS, SHIFT,
     .mass_alpha = GA_MASS_PREVIOUS, NONHOLONOMIC(2), .in_short = 1},
    {"test71", "weighted, steps .3/.7, without (14)", "", JUMPS(GA_WEIGHTED), TEST71_FINE, NONE,
     NONHOLONOMIC(1), .in_short = 1},
    {"pendulum", "stabilized, steps .3/.7, a shifted", "", JUMPS(GA_STABILIZED), PENDULUM_STEPS, SHIFT,
     HOLONOMIC(2)},
    {"pendulum", "stabilized, steps .3/.7, gamma from (29)", "", JUMPS(GA_STABILIZED), PENDULUM_STEPS, GAMMA,
     HOLONOMIC(2)},
    {"pendulum", "stabilized, steps .3/.7, no adjustment", "", JUMPS(GA_STABILIZED), PENDULUM_STEPS, NONE,
     HOLONOMIC(1)},
    {"pendulum", "index-3, steps .3/.7, a shifted, offset moved", "", INDEX3_JUMPS, PENDULUM_STEPS, SHIFT,
     HOLONOMIC(2)},
    {"pendulum", "SOI2, steps .3/.7, (14)", "", JUMPS(GA_SOI2), PENDULUM_STEPS, SHIFT, HOLONOMIC(2)},
    {"pendulum", "SOI2, steps .3/.7, without (14)", "", JUMPS(GA_SOI2), PENDULUM_STEPS, NONE, HOLONOMIC(1)},
};

const vf_table vf_variable_table = {cases, VF_COUNT(cases)};
