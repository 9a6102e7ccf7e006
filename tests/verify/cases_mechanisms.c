/* Planar mechanisms, nonholonomic and mechatronic problems: errors at the papers' own steps, orders in every
 * component, the floor of rounding in λ, and ρ∞ = 1. AB07: Arnold, Brüls, 2007; BA08: Brüls, Arnold, 2008;
 * JN08 and JN-NH: Jay, Negrut, 2008 and on nonholonomic constraints. */
#include "cases.h"

/* One component at the end, with its errors at h, h/2, h/4. */
#define COMPONENT(label_, quantity_, i, ...)                                                                 \
  VF_ROW(label_, quantity_, .first = i, .count = 1, .measure = VF_END, .value = {__VA_ARGS__})
#define AT_END(label_, quantity_, ...) VF_ROW(label_, quantity_, .measure = VF_END, __VA_ARGS__)
#define PHI VF_ROW("Phi", VF_PHI, .at_most = 5e-15)
#define HIDDEN VF_ROW("B v", VF_PHI_DOT, .at_most = 1e-13)
#define ROLLING VF_ROW("k", VF_K, .at_most = 5e-14)
#define PSI_ORDER_2 VF_ORDER("psi", VF_PSI, 2)
#define CONTROL_ORDER_2 VF_ORDER("x", VF_X, 2), VF_ORDER("y", VF_Y, 2)

#define NAIVE_INDEX3 .method = GA_INDEX3, .start = VF_NAIVE
#define INDEX3(start_) .method = GA_INDEX3, .start = start_
#define STABILIZED .method = GA_STABILIZED, .start = VF_CONSISTENT

#define SLIDER_FLOOR .rho = 0.7, .t_end = 0.0512, .ratio = 4
#define ANDREWS_FLOOR .rho = 0.7, .t_end = 2.56e-3, .ratio = 4

static const vf_case cases[] = {
    /* Errors at the papers' own steps */
    {"slider_crank", "index-3, a0 = vdot0", "AB07", NAIVE_INDEX3, .rho = 0.7, .h = 5e-3, .levels = 3,
     .in_short = 1,
     .expect = {COMPONENT("theta1", VF_Q, 4, 3.48e-2, 1.04e-2, 2.71e-3),
                COMPONENT("x4", VF_Q, 7, 6.46e-3, 8.09e-4, 1.49e-4),
                COMPONENT("lambda1", VF_LAMBDA, 0, 2.12, .446, .105), PHI}},
    {"andrews", "index-3, a0 = vdot0", "AB07", NAIVE_INDEX3, .rho = 0.7, .h = 3e-4, .levels = 3,
     .in_short = 1,
     .expect = {COMPONENT("beta", VF_Q, 0, 8.54e-2, 1.89e-2, 4.46e-3),
                COMPONENT("lambda1", VF_LAMBDA, 0, 8.77, 2.49, .595), PHI}},
    {"andrews31", "index-3, a0 = vdot0", "AB07", NAIVE_INDEX3, .rho = 0.7, .h = 3e-4, .levels = 3,
     .expect = {COMPONENT("beta", VF_Q, 0, .108, 2.42e-2, 5.76e-3), PHI}},
    {"spring_mass", "a0 = vdot0, w0 = xdot0", "BA08", NAIVE_INDEX3, .rho = 0.8, .h = 0.1, .levels = 3,
     .in_short = 1,
     .expect = {COMPONENT("q", VF_Q, 0, 3.85e-3, 9.69e-4, 2.43e-4),
                COMPONENT("vdot", VF_VDOT, 0, 3.80e-3, 9.58e-4, 2.40e-4),
                COMPONENT("x", VF_X, 0, 8.33e-3, 2.09e-3, 5.23e-4)}},

    /* Orders in every component, largest errors over the run */
    {"spring_mass", "a0, w0 shifted", "", STABILIZED, .rho = 0.8, .h = 0.05, .levels = 4, .in_short = 1,
     .expect = {VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), VF_ORDER("vdot", VF_VDOT, 2),
                CONTROL_ORDER_2}},
    {"slider_crank", "index-3, perturbed v0", "", INDEX3(VF_PERTURBED), .rho = 0.7, .h = 5e-4, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI}},
    {"slider_crank", "stabilized", "", STABILIZED, .rho = 0.7, .h = 5e-4, .levels = 3, .in_short = 1,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"slider_crank_moving", "index-3, a0 = vdot0", "AB07", NAIVE_INDEX3, .rho = 0.7, .h = 2.5e-4, .levels = 4,
     .expect = {VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), VF_ORDER("lambda", VF_LAMBDA, 1)}},
    {"slider_crank_moving", "index-3, consistent v0", "AB07", INDEX3(VF_CONSISTENT), .rho = 0.7, .h = 2.5e-4,
     .levels = 4, .in_short = 1,
     .expect = {VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), VF_ORDER("lambda", VF_LAMBDA, 1)}},
    {"slider_crank_moving", "index-3, perturbed v0", "AB07", INDEX3(VF_PERTURBED), .rho = 0.7, .h = 2.5e-4,
     .levels = 4, .in_short = 1, .expect = {VF_MECHANICAL_ORDER_2, PHI}},
    {"slider_crank_moving", "stabilized", "AB07", STABILIZED, .rho = 0.7, .h = 2.5e-4, .levels = 4,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"andrews", "index-3, perturbed v0", "", INDEX3(VF_PERTURBED), .rho = 0.7, .h = 1.5e-5, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI}},
    {"andrews", "stabilized", "", STABILIZED, .rho = 0.7, .h = 1.5e-5, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},
    {"andrews31", "stabilized", "", STABILIZED, .rho = 0.7, .h = 3e-5, .levels = 3,
     .expect = {VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), PHI, HIDDEN}},
    {"pendulum", "index-3, perturbed v0", "", INDEX3(VF_PERTURBED), .rho = 0.8, .h = 1.25e-3, .levels = 3,
     .expect = {VF_MECHANICAL_ORDER_2, PHI}},
    {"pendulum", "stabilized", "", STABILIZED, .rho = 0.8, .h = 1.25e-3, .levels = 3, .in_short = 1,
     .expect = {VF_MECHANICAL_ORDER_2, PHI, HIDDEN}},

    /* Nonholonomic constraints */
    {"rolling_disk", "exact equilibrium", "JN-NH", STABILIZED, .rho = 0.8, .h = 5e-3, .levels = 3,
     .in_short = 1,
     .expect = {AT_END("q", VF_Q, .order = 2, .value = {5.94e-5}),
                AT_END("v", VF_V, .order = 2, .value = {5.08e-5}),
                AT_END("vdot", VF_VDOT, .order = 2, .value = {7.24e-5}),
                AT_END("psi", VF_PSI, .order = 2, .value = {9.79e-4}), ROLLING,
                VF_ROW("energy", VF_ENERGY, .order = 2)}},
    {"test71", "exact equilibrium", "", STABILIZED, .rho = 0.8, .h = 0.0125, .levels = 4, .in_short = 1,
     .expect = {VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), VF_ORDER("vdot", VF_VDOT, 2), PSI_ORDER_2,
                ROLLING}},
    {"test15", "stabilized", "JN08", STABILIZED, .rho = 0.8, .h = 0.0125, .levels = 4, .in_short = 1,
     .expect = {VF_MECHANICAL_ORDER_2, PSI_ORDER_2, PHI, HIDDEN, ROLLING}},
    {"test15", "index-3, perturbed v0", "JN08", INDEX3(VF_PERTURBED), .rho = 0.8, .h = 0.0125, .levels = 4,
     .expect = {VF_MECHANICAL_ORDER_2, PSI_ORDER_2, PHI, ROLLING}},

    /* States and outputs with feedback of vdot and λ */
    {"mechatronic", "stabilized", "BA08", STABILIZED, .rho = 0.8, .h = 0.01, .levels = 4, .in_short = 1,
     .expect = {VF_MECHANICAL_ORDER_2, CONTROL_ORDER_2, PHI, HIDDEN}},
    {"mechatronic", "index-3, perturbed v0", "BA08", INDEX3(VF_PERTURBED), .rho = 0.8, .h = 0.01, .levels = 4,
     .expect = {VF_MECHANICAL_ORDER_2, CONTROL_ORDER_2, PHI}},

    /* The floor of rounding in λ, errors at the end of a short run: rounding of Φ over βh² in the index-3
     * form, about 2e-5 at 5e-6 on the slider-crank and 1e-4 at 6e-7 on Andrews; q and v go on. */
    /* at h = 4e-6 λ is one sample of rounding noise, whose standard deviation over 5000 steps is 4.4e-5; five
       of them */
    {"slider_crank", "floor of lambda, index-3", "AB07", NAIVE_INDEX3, SLIDER_FLOOR, .h = 2.56e-4,
     .levels = 4,
     .expect = {AT_END("q", VF_Q, .order = 2), AT_END("v", VF_V, .order = 2),
                AT_END("lambda", VF_LAMBDA, .at_most = 2.2e-4)}},
    {"slider_crank", "below the floor, index-3", "AB07", NAIVE_INDEX3, SLIDER_FLOOR, .h = 1e-6, .levels = 1,
     .expect = {AT_END("q", VF_Q, .at_most = 2e-12), AT_END("v", VF_V, .at_most = 5e-9),
                AT_END("lambda", VF_LAMBDA, .at_most = 5e-3)}},
    {"slider_crank", "floor of lambda, stabilized", "", STABILIZED, SLIDER_FLOOR, .h = 2.56e-4, .levels = 5,
     .expect = {AT_END("q", VF_Q, .order = 2), AT_END("v", VF_V, .order = 2),
                AT_END("lambda", VF_LAMBDA, .at_most = 5e-5)}},
    {"andrews", "floor of lambda, index-3", "AB07", NAIVE_INDEX3, ANDREWS_FLOOR, .h = 1.28e-5, .levels = 3,
     .expect = {AT_END("q", VF_Q, .order = 2), AT_END("v", VF_V, .order = 2),
                AT_END("lambda", VF_LAMBDA, .at_most = 2e-4)}},
    {"andrews", "below the floor, index-3", "AB07", NAIVE_INDEX3, ANDREWS_FLOOR, .h = 2e-7, .levels = 1,
     .expect = {AT_END("q", VF_Q, .at_most = 2e-10), AT_END("v", VF_V, .at_most = 5e-7),
                AT_END("lambda", VF_LAMBDA, .at_most = 5e-3)}},
    {"andrews", "floor of lambda, stabilized", "", STABILIZED, ANDREWS_FLOOR, .h = 1.28e-5, .levels = 4,
     .expect = {AT_END("q", VF_Q, .order = 2), AT_END("v", VF_V, .order = 2),
                AT_END("lambda", VF_LAMBDA, .at_most = 2e-4)}},

    /* No damping at infinity: λ alternates, the motion is fine */
    {"andrews", "index-3, no damping", "AB07", NAIVE_INDEX3, .rho = 1, .h = 3e-4, .levels = 1, .in_short = 1,
     .expect = {COMPONENT("lambda1", VF_LAMBDA, 0, 82),
                VF_ROW("flips of 20", VF_LAMBDA, .count = 1, .measure = VF_FLIPS, .value = {20},
                       .tolerance = 0.1),
                VF_ROW("beta", VF_Q, .count = 1, .measure = VF_END, .at_most = 0.1)}},
};

const vf_table vf_mechanism_table = {cases, VF_COUNT(cases)};
