/* Orders of collocation in every component, largest errors over the run: Lobatto IIIA 4, 6, 8, 10 and Radau IIA
 * 3, 5, 7. Steps are chosen so that errors lie between the beginning of their order and rounding. */
#include "cases.h"

#define ROW(label_, quantity_, order_) VF_ROW(label_, quantity_, .order = order_, .band = 0.12 * (order_))
#define MOTION(o) ROW("q", VF_Q, o), ROW("v", VF_V, o), ROW("vdot", VF_VDOT, o)
#define HOLONOMIC(o) MOTION(o), ROW("lambda", VF_LAMBDA, o), VF_ROW("Phi", VF_PHI, .at_most = 1e-13), \
      VF_ROW("B v", VF_PHI_DOT, .at_most = 1e-10)
#define ROLLING(o) MOTION(o), ROW("psi", VF_PSI, o), VF_ROW("k", VF_K, .at_most = 1e-12)
#define CONTROL(o) ROW("x", VF_X, o), ROW("y", VF_Y, o)
#define BOTH(o) HOLONOMIC(o), ROW("psi", VF_PSI, o)

#define CASE(problem_, order_, h_, t_end_, levels_, short_, ...)                                             \
  {                                                                                                          \
    problem_, "collocation, order " #order_, "", .method = GA_COLLOCATION, .start = VF_CONSISTENT, .rho = 1, \
        .commutator = 1, .collocation = order_, .h = h_, .t_end = t_end_, .levels = levels_,                 \
        .in_short = short_, .expect = {__VA_ARGS__}                                                          \
  }

static const vf_case cases[] = {
    CASE("spring_mass", 4, 0.1, 5, 3, 1, MOTION(4), CONTROL(4)),
    CASE("spring_mass", 6, 0.2, 4, 3, 1, MOTION(6), CONTROL(6)),
    CASE("spring_mass", 8, 0.1, 2, 3, 1, MOTION(8), CONTROL(8)),
    CASE("spring_mass", 3, 0.1, 4, 3, 1, MOTION(3), CONTROL(3)),
    CASE("spring_mass", 5, 0.1, 4, 3, 1, MOTION(5), CONTROL(5)),
    CASE("spring_mass", 7, 0.1, 2, 3, 1, MOTION(7), CONTROL(7)),
    CASE("pendulum", 4, 0.02, 2, 3, 1, HOLONOMIC(4)),
    CASE("pendulum", 6, 0.02, 2, 3, 1, HOLONOMIC(6)),
    CASE("pendulum", 8, 0.04, 2, 3, 1, HOLONOMIC(8)),
    CASE("pendulum", 5, 0.02, 2, 3, 1, HOLONOMIC(5)),
    CASE("andrews", 4, 2e-4, 0.01, 3, 1, HOLONOMIC(4)),
    CASE("andrews", 6, 2e-4, 0.01, 3, 1, HOLONOMIC(6)),
    CASE("andrews", 8, 5e-4, 0.01, 2, 1, HOLONOMIC(8)),
    CASE("andrews", 3, 1e-4, 0.01, 3, 0, HOLONOMIC(3)),
    CASE("andrews", 5, 2e-4, 0.01, 3, 0, HOLONOMIC(5)),
    CASE("andrews", 7, 4e-4, 0.01, 2, 0, HOLONOMIC(7)),
    CASE("andrews31", 4, 2e-4, 0.01, 3, 0, HOLONOMIC(4)),
    CASE("andrews31", 6, 2e-4, 0.01, 3, 0, HOLONOMIC(6)),
    CASE("andrews31", 8, 5e-4, 0.01, 2, 0, HOLONOMIC(8)),
    CASE("slider_crank", 4, 5e-3, 0.5, 3, 1, HOLONOMIC(4)),
    CASE("slider_crank", 6, 5e-3, 0.5, 3, 1, HOLONOMIC(6)),
    CASE("slider_crank", 8, 1e-2, 0.5, 2, 1, HOLONOMIC(8)),
    CASE("slider_crank", 3, 5e-3, 0.5, 3, 0, HOLONOMIC(3)),
    CASE("slider_crank", 5, 5e-3, 0.5, 3, 0, HOLONOMIC(5)),
    CASE("slider_crank", 7, 1e-2, 0.5, 2, 0, HOLONOMIC(7)),
    CASE("heavy_top", 3, 1e-3, 0.2, 3, 0, HOLONOMIC(3)),
    CASE("heavy_top", 7, 4e-3, 0.2, 2, 0, HOLONOMIC(7)),
    CASE("heavy_top", 4, 2e-3, 0.2, 3, 1, HOLONOMIC(4)),
    CASE("heavy_top", 6, 4e-3, 0.2, 3, 1, HOLONOMIC(6)),
    CASE("heavy_top", 8, 8e-3, 0.2, 2, 1, HOLONOMIC(8)),
    CASE("heavy_top_left", 5, 2e-3, 0.2, 3, 1, HOLONOMIC(5)),
    CASE("heavy_top_left", 4, 2e-3, 0.2, 3, 0, HOLONOMIC(4)),
    CASE("heavy_top_left", 6, 2e-3, 0.2, 3, 0, HOLONOMIC(6)),
    CASE("heavy_top_left", 8, 4e-3, 0.2, 2, 0, HOLONOMIC(8)),
    CASE("heavy_top_s3", 4, 2e-3, 0.2, 3, 0, HOLONOMIC(4)),
    CASE("heavy_top_s3", 8, 4e-3, 0.2, 2, 0, HOLONOMIC(8)),
    CASE("heavy_top_s3_right", 4, 2e-3, 0.2, 3, 0, HOLONOMIC(4)),
    CASE("heavy_top_s3_right", 8, 8e-3, 0.2, 2, 0, HOLONOMIC(8)),
    CASE("heavy_top_s3", 6, 2e-3, 0.2, 3, 0, HOLONOMIC(6)),
    CASE("heavy_top_s3_right", 6, 4e-3, 0.2, 3, 0, HOLONOMIC(6)),
    CASE("heavy_top_se3", 5, 2e-3, 0.2, 3, 0, HOLONOMIC(5)),
    CASE("heavy_top_se3", 4, 2e-3, 0.2, 3, 0, HOLONOMIC(4)),
    CASE("heavy_top_se3", 6, 2e-3, 0.2, 3, 1, HOLONOMIC(6)),
    CASE("heavy_top_se3", 8, 4e-3, 0.2, 3, 0, HOLONOMIC(8)),
    CASE("tumbling_top", 6, 2e-2, 0.4, 2, 0, HOLONOMIC(6)),
    CASE("tumbling_top_left", 8, 4e-2, 0.4, 2, 0, HOLONOMIC(8)),
    CASE("rank_deficient_d1", 4, 5e-3, 0.5, 3, 1, HOLONOMIC(4)),
    CASE("rank_deficient_d1", 6, 1e-2, 0.5, 3, 0, HOLONOMIC(6)),
    CASE("rank_deficient_d1", 8, 5e-2, 0.5, 2, 0, HOLONOMIC(8)),
    CASE("rank_deficient_d1", 5, 1e-2, 0.5, 3, 0, HOLONOMIC(5)),
    CASE("rank_deficient_d2", 5, 4e-2, 1, 3, 0, HOLONOMIC(5)),
    CASE("rank_deficient_d3", 5, 1e-2, 0.5, 3, 0, HOLONOMIC(5)),
    CASE("rank_deficient_d2", 4, 2e-2, 1, 3, 1, HOLONOMIC(4)),
    CASE("rank_deficient_d2", 6, 4e-2, 1, 3, 0, HOLONOMIC(6)),
    CASE("rank_deficient_d2", 8, 0.05, 1, 2, 0, HOLONOMIC(8)),
    CASE("rank_deficient_d3", 4, 5e-3, 0.5, 3, 0, HOLONOMIC(4)),
    CASE("rank_deficient_d3", 6, 1e-2, 0.5, 2, 0, HOLONOMIC(6)),
    CASE("rank_deficient_d3", 8, 5e-2, 0.5, 2, 0, HOLONOMIC(8)),
    CASE("rolling_disk", 4, 0.1, 4, 3, 1, ROLLING(4)),
    CASE("rolling_disk", 6, 0.1, 4, 3, 0, ROLLING(6)),
    CASE("rolling_disk", 8, 0.1, 4, 3, 1, ROLLING(8)),
    CASE("rolling_disk", 3, 0.05, 4, 3, 0, ROLLING(3)),
    CASE("rolling_disk", 5, 0.1, 4, 3, 0, ROLLING(5)),
    CASE("rolling_disk", 7, 0.1, 4, 2, 0, ROLLING(7)),
    CASE("test71", 6, 0.1, 1, 2, 1, ROLLING(6)),
    CASE("test15", 4, 0.05, 1, 3, 0, BOTH(4)),
    CASE("test15", 6, 0.1, 1, 3, 1, BOTH(6)),
    CASE("test15", 8, 0.2, 1, 2, 0, BOTH(8)),
    CASE("mechatronic", 4, 0.02, 1, 3, 1, HOLONOMIC(4), CONTROL(4)),
    CASE("mechatronic", 6, 0.04, 1, 3, 1, HOLONOMIC(6), CONTROL(6)),
    CASE("mechatronic", 8, 0.05, 1, 3, 1, HOLONOMIC(8), CONTROL(8)),
    CASE("mechatronic", 3, 0.01, 1, 3, 0, HOLONOMIC(3), CONTROL(3)),
    CASE("mechatronic", 7, 0.05, 1, 2, 0, HOLONOMIC(7), CONTROL(7)),
    CASE("mechatronic", 5, 0.02, 1, 3, 1, HOLONOMIC(5), CONTROL(5)),
    CASE("car_axis", 4, 0.01, 1, 3, 0, HOLONOMIC(4)),
    CASE("car_axis", 6, 0.01, 1, 3, 0, HOLONOMIC(6)),
    CASE("cart_pole", 4, 0.02, 0.4, 2, 0, MOTION(4)),
};

const vf_table vf_collocation_table = {cases, VF_COUNT(cases)};
