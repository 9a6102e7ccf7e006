/* The weighted family at constant steps: Jay & Negrut's index-2 method for nonholonomic systems, HHT-I3,
 * generalized-α-SOI2 and HHT-SOI2, on vector spaces as in the papers and on groups. Expected errors come from
 * runs of an implementation of its own, written to check the papers. JN08 and JN-NH: Jay, Negrut, 2008 and on
 * nonholonomic constraints. */
#include "cases.h"

#define PHI VF_ROW("Phi", VF_PHI, .at_most = 5e-15)
#define HIDDEN VF_ROW("B v", VF_PHI_DOT, .at_most = 1e-13)
#define ROLLING VF_ROW("k", VF_K, .at_most = 5e-14)
#define A(...) VF_AT_END("a", VF_A, 2, __VA_ARGS__)
#define SLOWLY(label_, quantity_, ...)                                                                       \
  VF_ROW(label_, quantity_, .measure = VF_END, .order = 2, .band = 0.25, .value = {__VA_ARGS__})
#define ENERGY VF_ROW("energy", VF_ENERGY, .order = 2)
#define ORDER_2(label_, quantity_) VF_ORDER(label_, quantity_, 2)

#define NAIVE(method_) .method = method_, .start = VF_NAIVE, .rho = 0.2
#define SHIFTED(method_) .method = method_, .start = VF_CONSISTENT

/* The heavy top at ρ∞ = 0.9, largest errors over [0,1] */
#define POSITION(...) VF_ROW("x", VF_Q, .count = 3, .order = 2, .value = {__VA_ARGS__})
#define OMEGA(...) VF_ROW("omega", VF_V, .first = 3, .count = 3, .order = 2, .value = {__VA_ARGS__})
#define LAMBDA(...) VF_ROW("lambda", VF_LAMBDA, .order = 2, .value = {__VA_ARGS__})
#define TOP_STEPS SHIFTED(GA_SOI2), .rho = 0.9, .h = 1e-3, .levels = 4
#define TOP_LEFT_ROWS                                                                                        \
  LAMBDA(1.521, .379, .0946, .02365), POSITION(0, 0, 0, 1.93e-5), OMEGA(0, 0, 0, 2.67e-4),                   \
      ORDER_2("vdot", VF_VDOT)
/* |Ω| is about 150: B v is a few units of its rounding */
#define TOP_HIDDEN VF_ROW("B v", VF_PHI_DOT, .at_most = 2e-13)
#define TOP_ROWS LAMBDA(0), POSITION(0), OMEGA(0), ORDER_2("vdot", VF_VDOT), PHI, TOP_HIDDEN
/* Errors 300 times smaller than on the left, of two terms that nearly cancel at larger steps */
#define TOP_RIGHT_STEPS SHIFTED(GA_SOI2), .rho = 0.9, .h = 2.5e-4, .levels = 4

/* The pin between the slider-crank's crank and the ground: the first two constraints */
#define PIN(i, ...) VF_ROW("pin " #i, VF_PHI_DOT, .first = i, .count = 1, __VA_ARGS__)
#define CRANK_STEPS .start = VF_NAIVE, .hht = -0.3, .h = 0x1p-10, .levels = 3

static const vf_case cases[] = {
    /* Errors of the papers' own experiments */
    {"test71", "weighted, a0 = vdot0", "JN-NH", NAIVE(GA_WEIGHTED), .h = 0.025, .levels = 5, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 1.45e-3, 3.49e-4), VF_AT_END("z", VF_V, 2, 1.24e-2, 3.03e-3),
                A(9.46e-2, 2.58e-2), VF_AT_END("psi", VF_PSI, 2, 1.53e-2, 3.92e-3), ROLLING}},
    /* at these steps a part of third order is as large as the one of second */
    {"rolling_disk", "weighted, a0 = vdot0", "JN-NH", NAIVE(GA_WEIGHTED), .h = 5e-3, .levels = 5,
     .in_short = 1,
     .expect = {SLOWLY("y", VF_Q, 4.55e-4), SLOWLY("z", VF_V, 5.44e-4), A(1.29e-3),
                SLOWLY("psi", VF_PSI, 8.85e-3), ROLLING, ENERGY}},
    {"test15", "SOI2, a0 = vdot0", "JN08", NAIVE(GA_SOI2), .h = 0.0125, .levels = 4, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 2.09e-4), VF_AT_END("z", VF_V, 2, 2.12e-4), A(4.70e-4),
                VF_AT_END("lambda", VF_LAMBDA, 2, 2.72e-5), VF_AT_END("psi", VF_PSI, 2, 2.19e-5), PHI, HIDDEN,
                ROLLING}},
    {"pendulum", "SOI2, a0 = vdot0", "JN08", NAIVE(GA_SOI2), .h = 2.5e-3, .levels = 3, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 2.08e-4), VF_AT_END("z", VF_V, 2, 2.00e-4), A(2.48e-2),
                VF_AT_END("lambda", VF_LAMBDA, 2, 1.11e-1), PHI, HIDDEN}},
    {"pendulum", "HHT-SOI2, a0 = vdot0", "JN08", .method = GA_HHT_SOI2, .start = VF_NAIVE, .hht = -0.3,
     .h = 2.5e-3, .levels = 3, .in_short = 1,
     .expect = {VF_AT_END("y", VF_Q, 2, 1.05e-4), VF_AT_END("z", VF_V, 2, 7.41e-5), A(1.24e-2),
                VF_AT_END("lambda", VF_LAMBDA, 2, 5.57e-2), PHI, HIDDEN}},

    /* HHT-I3 leaves the velocity constraint, on a closed cycle of the size of h²; HHT-SOI2 does not */
    {"slider_crank_hht", "HHT-I3", "JN08", .method = GA_WEIGHTED, CRANK_STEPS, .in_short = 1,
     .expect = {PIN(0, .order = 2, .value = {3.07e-5}), PIN(1, .order = 2, .value = {2.23e-5}), PHI,
                ORDER_2("q", VF_Q), ORDER_2("v", VF_V)}},
    {"slider_crank_hht", "HHT-SOI2", "JN08", .method = GA_HHT_SOI2, CRANK_STEPS, .in_short = 1,
     .expect = {PIN(0, .at_most = 1e-14), PIN(1, .at_most = 1e-14), PHI, ORDER_2("q", VF_Q),
                ORDER_2("v", VF_V), ENERGY}},

    /* Largest errors over the run, a0 shifted */
    {"test71", "weighted, a0 shifted", "", SHIFTED(GA_WEIGHTED), .rho = 0.8, .h = 0.0125, .levels = 4,
     .expect = {ORDER_2("q", VF_Q), ORDER_2("v", VF_V), ORDER_2("vdot", VF_VDOT), ORDER_2("psi", VF_PSI),
                ROLLING}},
    {"rolling_disk", "weighted, a0 shifted", "", SHIFTED(GA_WEIGHTED), .rho = 0.8, .h = 5e-3, .levels = 3,
     .expect = {ORDER_2("q", VF_Q), ORDER_2("v", VF_V), ORDER_2("vdot", VF_VDOT), ORDER_2("psi", VF_PSI),
                ROLLING, ENERGY}},
    {"rolling_disk", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.8, .h = 5e-3, .levels = 3,
     .expect = {ORDER_2("q", VF_Q), ORDER_2("v", VF_V), ORDER_2("vdot", VF_VDOT), ORDER_2("psi", VF_PSI),
                ROLLING}},
    {"test15", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.8, .h = 0.0125, .levels = 4,
     .expect = {VF_MECHANICAL_ORDER_2, ORDER_2("psi", VF_PSI), PHI, HIDDEN, ROLLING}},
    {"pendulum", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.8, .h = 1.25e-3, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"slider_crank", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.7, .h = 5e-4, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"slider_crank_moving", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.7, .h = 2.5e-4, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"andrews", "SOI2, a0 shifted", "", SHIFTED(GA_SOI2), .rho = 0.7, .h = 1.5e-5, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},

    /* On groups: the papers have none */
    {"heavy_top_left", "SOI2, a0 shifted", "beyond the papers", TOP_STEPS, .in_short = 1,
     .expect = {TOP_LEFT_ROWS, PHI, TOP_HIDDEN, ENERGY}},
    {"heavy_top_s3", "SOI2, a0 shifted", "beyond the papers", TOP_STEPS, .expect = {TOP_LEFT_ROWS}},
    {"heavy_top_left", "SOI2, a0 shifted, left + commutator", "", TOP_STEPS, .commutator = 1,
     .expect = {TOP_ROWS}},
    {"heavy_top", "SOI2, a0 shifted, right", "", TOP_STEPS, .expect = {TOP_ROWS}},
    {"heavy_top", "SOI2, a0 shifted, right + commutator", "", TOP_RIGHT_STEPS, .commutator = 1,
     .expect = {TOP_ROWS}},
    {"heavy_top_s3_right", "SOI2, a0 shifted, right + commutator", "", TOP_RIGHT_STEPS, .commutator = 1,
     .expect = {TOP_ROWS}},
    {"heavy_top_se3", "SOI2, a0 shifted", "", TOP_STEPS, .expect = {TOP_ROWS}},
    {"heavy_top_se3", "SOI2, a0 shifted, left + commutator", "", TOP_STEPS, .commutator = 1,
     .expect = {TOP_ROWS}},
};

const vf_table vf_weighted_table = {cases, VF_COUNT(cases)};
