/* 000: M. Arnold, O. Brüls, Convergence of the generalized-α scheme for constrained mechanical systems
 * (2007). Its scheme: index 3, exact equilibrium, a₀ = v̇₀. Both machines start from rest, so that v₀ needs no
 * perturbation. */
#include "tables.h"

#define SCHEME "method=index3 rho=0.7" PP_PLAIN_START
#define CRANK(label_, ...)                                                                                   \
  {                                                                                                          \
    .label = label_, .problem = "slider_crank", .model = "slider_crank.yaml", __VA_ARGS__                    \
  }
#define SQUEEZER(label_, ...)                                                                                \
  {                                                                                                          \
    .label = label_, .problem = "andrews31", .model = "andrews_pins.yaml", __VA_ARGS__                       \
  }
#define THETA1                                                                                               \
  {                                                                                                          \
    "θ_1", "rad", PP_Q, 4, 1, "crank.angle"                                                                  \
  }
#define X4                                                                                                   \
  {                                                                                                          \
    "x_4", "m", PP_Q, 7, 1, "second.x"                                                                       \
  }
#define LAMBDA1                                                                                              \
  {                                                                                                          \
    "λ_1", "N", PP_LAMBDA, 0, 1, "-axle.fx"                                                                  \
  }
/* Unknowns of andrews31: seven angles, seven centres of mass, F, P, G, H, D; λ of the arms, those of bar 1
 * first. */
#define BETA                                                                                                 \
  {                                                                                                          \
    "β", "rad", PP_Q, 0, 1, "bar1.angle"                                                                     \
  }
#define FORCES                                                                                               \
  {"force on F, x", "N", PP_LAMBDA, 2, 1, "-F_1.fx"},                                                        \
  {                                                                                                          \
    "force on F, y", "N", PP_LAMBDA, 3, 1, "-F_1.fy"                                                         \
  }
#define ACCELERATIONS                                                                                        \
  {"P, x", "m/s²", PP_VDOT, 23, 1, "P.ax"},                                                                  \
  {                                                                                                          \
    "P, y", "m/s²", PP_VDOT, 24, 1, "P.ay"                                                                   \
  }
#define POINT(name)                                                                                          \
  {name ".x", "m", PP_ALONE, 0, 1, name ".x"},                                                               \
  {                                                                                                          \
    name ".y", "m", PP_ALONE, 0, 1, name ".y"                                                                \
  }
#define SQUEEZER_STEP .t_end = 0.03, .h = 3e-4

static const pp_fixed ground[] = {
    {"O", 0, 0}, {"A", -0.06934, -0.00227}, {"B", -0.03635, 0.03273}, {"C", 0.014, 0.072}, {NULL, 0, 0}};

static const pp_figure figures[] = {
    {.name = "000-fig2",
     .title = "Slider-crank: crank angle and position of the second mass, h = 5 ms, ρ_∞ = 0.7",
     .caption =
         "A constant torque turns the crank from rest; the second mass follows the slider on its spring. "
         "Points: the steps of the scheme; thin line: a reference by extrapolation of the index-1 equations.",
     .kind = PP_MOTION,
     .series = {CRANK("h = 5 ms", .settings = SCHEME)},
     .quantities = {THETA1, X4},
     .t_end = 1,
     .h = 5e-3,
     .with_reference = 1,
     .panels = {{"θ_1 [rad]", 1}, {"x_4 [m]", 2}},
     .facts = {{"error of θ_1 at t = 1 s [rad]", PP_END_ERROR, 0, 0, 0, .low = 3.41e-2, .high = 3.55e-2},
               {"error of x_4 at t = 1 s [m]", PP_END_ERROR, 0, 0, 1, .low = 6.33e-3, .high = 6.59e-3}},
     .brief = 1},
    {.name = "000-fig3",
     .title = "Slider-crank: relative errors at t = 1 s",
     .caption =
         "Relative errors at the end of an angle and of a multiplier, the horizontal force of the bearing of "
         "the crank. Both fall with the square of the step.",
     .kind = PP_ORDERS,
     .series = {CRANK("index 3", .settings = SCHEME, .slope = {2, 2})},
     .quantities = {THETA1, LAMBDA1},
     .t_end = 1,
     .h = 5e-3,
     .levels = 7,
     .relative = 1,
     .brief = 1},
    {.name = "000-fig5",
     .title = "Andrews' squeezing mechanism: snapshots",
     .caption =
         "The seven bars at several times, drawn through their hinges; the spring is the dashed line C–D.",
     .remark = "The paper does not give the times of its snapshots; these divide the first 15 ms evenly.",
     .kind = PP_SNAPSHOTS,
     .series = {SQUEEZER("h = 0.3 ms", .settings = SCHEME)},
     .quantities = {POINT("F"), POINT("P"), POINT("D"), POINT("G"), POINT("H")},
     .t_end = 0.015,
     .h = 3e-4,
     .lines = "O F P; B P D B; P G A; P H A",
     .dashed = "C D",
     .fixed = ground,
     .times = {0, 3e-3, 6e-3, 9e-3, 12e-3, 15e-3}},
    {.name = "000-fig6",
     .title = "Andrews' mechanism: point P and angle β, h = 0.3 ms, ρ_∞ = 0.7",
     .caption =
         "Position of the point P, where three bars meet, and the angle β of the driven bar, which makes two "
         "and a half turns. Points: steps; thin lines: reference.",
     .kind = PP_MOTION,
     .series = {SQUEEZER("h = 0.3 ms", .settings = SCHEME)},
     .quantities = {{"x", "m", PP_Q, 23, 1, "P.x"}, {"y", "m", PP_Q, 24, 1, "P.y"}, BETA},
     SQUEEZER_STEP,
     .with_reference = 1,
     .panels = {{"P [m]", 3}, {"β [rad]", 4}},
     .facts = {{"error of β at t = 0.03 s [rad]", PP_END_ERROR, 0, 0, 2, .low = 0.1058, .high = 0.1102}}},
    {.name = "000-fig7",
     .title = "Andrews' mechanism: accelerations of P and forces in bar 1, h = 0.3 ms, ρ_∞ = 0.7",
     .caption =
         "Accelerations and multipliers with damping at high frequencies: smooth, and close to the reference "
         "(thin lines).",
     .remark = "The paper does not say which multipliers it shows; these are the forces of bar 1 on the pin "
               "F, as in "
               "its Fig. 8.",
     .kind = PP_MOTION,
     .series = {SQUEEZER("ρ_∞ = 0.7", .settings = SCHEME)},
     .quantities = {ACCELERATIONS, FORCES},
     SQUEEZER_STEP,
     .with_reference = 1,
     .panels = {{"acceleration of P [m/s²]", 3}, {"force on F [N]", 12}},
     .facts = {{"changes of sign of the force's error in the last 20 steps", PP_FLIPS, 0, 0, 2, .low = 0,
                .high = 6}}},
    {.name = "000-fig8",
     .title = "Andrews' mechanism without numerical damping, ρ_∞ = 1",
     .caption =
         "The same without damping: accelerations and forces alternate from step to step about the reference "
         "(thin lines) although the motion is still right.",
     .kind = PP_MOTION,
     .series = {SQUEEZER("ρ_∞ = 1", .settings = "method=index3 rho=1" PP_PLAIN_START)},
     .quantities = {ACCELERATIONS, FORCES, BETA},
     SQUEEZER_STEP,
     .with_reference = 1,
     .panels = {{"acceleration of P [m/s²]", 3}, {"force on F [N]", 12}},
     .facts = {{"changes of sign of the force's error in the last 20 steps", PP_FLIPS, 0, 0, 2, .low = 18,
                .high = 20},
               {"error of β at t = 0.03 s [rad]", PP_END_ERROR, 0, 0, 4, .low = 0, .high = 0.15}},
     .brief = 1},
    {.name = "000-fig9",
     .title = "Andrews' mechanism: relative errors at t = 0.03 s",
     .caption =
         "Relative errors of the angle β and of a multiplier. At the smallest steps the multiplier stops: "
         "rounding in the constraints is divided by β h². The angle goes on.",
     .remark = "The paper's reference for β is the published one of the benchmark, good to 2.7e-10; ours is "
               "computed by extrapolation. λ_1 is here the horizontal force of bar 1 on F.",
     .kind = PP_ORDERS,
     .series = {SQUEEZER("index 3", .settings = SCHEME, .slope = {2, 2})},
     .quantities = {BETA, {"λ_1", "N", PP_LAMBDA, 2, 1, "-F_1.fx"}},
     SQUEEZER_STEP,
     .levels = 11,
     .fit = 6,
     .relative = 1},
};

const pp_paper pp_ab07 = {
    "000",
    "M. Arnold, O. Brüls: Convergence of the generalized-α scheme for constrained mechanical systems (2007)",
    figures, PP_COUNT(figures)};
