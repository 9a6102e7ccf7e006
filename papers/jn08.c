/* 004: L. O. Jay, D. Negrut, A second order extension of the generalized-α method for constrained systems in
 * mechanics (2008). Its scheme: generalized-α-SOI2 (13), a_α = a₀, (14a) and (14b) where steps change. */
#include "tables.h"

#define THIRDS .split = 1.0 / 3.0
#define SCHEME "method=soi2 rho=0.2 mass_alpha=previous" PP_PLAIN_A
#define NORMS                                                                                                \
  {"y", "", PP_Q, 0, 2}, {"z", "", PP_V, 0, 2}, {"a", "", PP_A, 0, 2}, {"λ", "", PP_LAMBDA, 0, 1},           \
  {                                                                                                          \
    "ψ", "", PP_PSI, 0, 1                                                                                    \
  }
#define TEST_STEPS .t_end = 1, .h = 0.05, .levels = 8
#define HHT "scheme=hht hht_alpha=-0.3"
#define PIN                                                                                                  \
  {"v_x", "m/s", PP_ALONE, 0, 1, "crank_start.vx"},                                                          \
  {                                                                                                          \
    "v_y", "m/s", PP_ALONE, 0, 1, "crank_start.vy"                                                           \
  }
#define CRANK_REMARK                                                                                          \
  "The data of the paper's mechanism and its α are elsewhere; these are a slider-crank of our own and α = " \
  "−0.3, so "                                                                                               \
  "that the size of the cycle differs."

static const pp_figure figures[] = {
    {.name = "004-fig1",
     .title = "Test problem (15): global errors at t = 1, steps h/3 and 2h/3, with (14)",
     .caption = "2-norms of the errors of y, z, a, λ, ψ; all have order 2.",
     .kind = PP_ORDERS,
     .series = {{.label = "SOI2, (14)",
                 .problem = "test15",
                 .settings = SCHEME " adjust=shift",
                 THIRDS,
                 .slope = {2, 2, 2, 2, 2}}},
     .quantities = {NORMS},
     TEST_STEPS,
     .brief = 1},
    {.name = "004-fig2",
     .title = "Test problem (15): global errors at t = 1, steps h/3 and 2h/3, without (14)",
     .caption = "Without the adjustment a, λ and ψ fall to order 1; y and z keep order 2.",
     .remark =
         "That y and z keep their order is no general property, as the paper says: this problem has as many "
         "constraints as coordinates and no free motion. See beyond-unadjusted.",
     .kind = PP_ORDERS,
     .series = {{.label = "SOI2",
                 .problem = "test15",
                 .settings = SCHEME " adjust=none",
                 THIRDS,
                 .slope = {2, 2, 1, 1, 1}}},
     .quantities = {NORMS},
     TEST_STEPS,
     .brief = 1},
    {.name = "004-fig4",
     .title = "Pendulum (16): global errors at t = 2, steps h/3 and 2h/3, with (14a)",
     .caption = "2-norms of the errors of y, z and λ of a bar with a stiff torsion spring: order 2.",
     .kind = PP_ORDERS,
     .series = {{.label = "SOI2, (14a)",
                 .problem = "pendulum",
                 .model = "torsion_pendulum.yaml",
                 .settings = "method=soi2 rho=0.2 adjust=shift" PP_PLAIN_A,
                 THIRDS,
                 .slope = {2, 2, 2}}},
     .quantities = {{"y", "", PP_Q, 0, 3, "bar.x bar.y bar.angle"},
                    {"z", "", PP_V, 0, 3, "bar.vx bar.vy bar.wz"},
                    {"λ", "N", PP_LAMBDA, 0, 2, "-pivot.fx -pivot.fy"}},
     .t_end = 2,
     .h = 0.01,
     .levels = 7},
    {.name = "004-fig6",
     .title = "Slider-crank, HHT-I3: velocity of the pin at the ground, h = 2^{-10} s",
     .caption = "With position constraints only the velocity of the pin, which should be 0, runs through a "
                "closed cycle, after a few steps in which the start dies out.",
     .remark = CRANK_REMARK,
     .kind = PP_PHASE,
     .series = {{.label = "HHT-I3",
                 .model = "slider_crank_hht.yaml",
                 .settings = "method=weighted " HHT PP_PLAIN_START}},
     .quantities = {PIN},
     .t_end = 2,
     .h = 0x1p-10,
     .facts = {{"largest v_x [m/s]", PP_LARGEST, 0, 0, 0, .low = 3.0e-5, .high = 3.14e-5},
               {"largest v_y [m/s]", PP_LARGEST, 0, 0, 1, .low = 2.18e-5, .high = 2.28e-5}},
     .brief = 1},
    {.name = "004-fig7",
     .title = "Slider-crank, HHT-SOI2: velocity of the pin at the ground, h = 2^{-10} s",
     .caption = "The stabilized scheme keeps that velocity at the level of rounding.",
     .remark = CRANK_REMARK,
     .kind = PP_PHASE,
     .series = {{.label = "HHT-SOI2",
                 .model = "slider_crank_hht.yaml",
                 .settings = "method=hht_soi2 " HHT PP_PLAIN_A}},
     .quantities = {PIN},
     .t_end = 2,
     .h = 0x1p-10,
     .facts = {{"largest v_x [m/s]", PP_LARGEST, 0, 0, 0, .low = 0, .high = 1e-14},
               {"largest v_y [m/s]", PP_LARGEST, 0, 0, 1, .low = 0, .high = 1e-14}}},
};

const pp_paper pp_jn08 = {
    "004",
    "L. O. Jay, D. Negrut: A second order extension of the generalized-α method for constrained "
    "systems in mechanics (2008)",
    figures, PP_COUNT(figures)};
