/* 003: O. Brüls, M. Arnold, The generalized-α scheme as a linear multistep integrator: toward a general
 * mechatronic simulator (2008). Its scheme: index 3 with states x and outputs y, a₀ = v̇₀, w₀ = ẋ₀, γ and θ by
 * (29). */
#include "tables.h"

#define SPRING(label_, ...)                                                                                  \
  {                                                                                                          \
    .label = label_, .problem = "spring_mass", .model = "spring_mass.yaml", __VA_ARGS__                      \
  }
#define SCHEME "method=index3 rho=0.8" PP_PLAIN_START
#define Q                                                                                                    \
  {                                                                                                          \
    "q", "m", PP_Q, 0, 1, "mass"                                                                             \
  }
#define X                                                                                                    \
  {                                                                                                          \
    "x", "N", PP_X, 0, 1, "integrator"                                                                       \
  }
#define CAR(label_, model_)                                                                                  \
  {                                                                                                          \
    .label = label_, .model = model_, .settings = "method=index3 rho=0.9" PP_PLAIN_START, .simulated = 1     \
  }
#define SEMI_ACTIVE CAR("semi-active", "car_semi_active.yaml")
#define PASSIVE CAR("passive", "car.yaml")
#define FULL_PASSIVE CAR("passive, full car", "full_car.yaml")
#define FULL_SEMI_ACTIVE CAR("semi-active, full car", "full_car_semi_active.yaml")
#define CAR_STEP .t_end = 6, .h = 2e-3
#define CAR_REMARK                                                                                           \
  "Cannot be reproduced exactly: the car's data, the C functions of its dampers and the controller's gains " \
  "were "                                                                                                    \
  "never published. These are two cars of our own with the same structure, one of 20 bodies, and one of 60 " \
  "bodies and beams (full car), which changes lanes to the other side; in 2 ms instead of 10 ms: with 10 "   \
  "ms "                                                                                                      \
  "the run "                                                                                                 \
  "warns that the edges of the steering fall within steps. The paper uses the parameters of the mechanical " \
  "part for "                                                                                                \
  "the states too; here states have those of Jansen et al."
#define DEGREES 57.29577951308232

static const pp_figure figures[] = {
    {.name = "003-fig3",
     .title = "Controlled spring-mass system: position, h = 0.1 s, ρ_∞ = 0.8",
     .caption = "Acceleration feedback through a leaky integrator and a saturated actuator damps the mass.",
     .kind = PP_MOTION,
     .series = {SPRING("h = 0.1 s", .settings = SCHEME)},
     .quantities = {Q},
     .t_end = 20,
     .h = 0.1,
     .with_reference = 1,
     .panels = {{"q [m]", 1}},
     .facts = {{"largest error of q [m]", PP_LARGEST_ERROR, 0, 0, 0, .low = 0, .high = 2e-2}},
     .brief = 1},
    {.name = "003-fig4",
     .title = "Controlled spring-mass system: force of the actuator, h = 0.1 s",
     .caption = "The actuator is saturated at 1 N during the first ten seconds; the force that the "
                "controller asks for is "
                "not.",
     .kind = PP_MOTION,
     .series = {SPRING("h = 0.1 s", .settings = SCHEME)},
     .quantities = {{"actuator g^a", "N", PP_Y, 1, 1, "limit"},
                    {"desired g^d", "N", PP_X, 0, 1, "integrator"}},
     .t_end = 20,
     .h = 0.1,
     .with_reference = 1,
     .panels = {{"g^a [N]", 1}, {"g^d [N]", 2}},
     .facts = {{"largest force [N]", PP_LARGEST, 0, 0, 0, .low = 0.99, .high = 1}}},
    {.name = "003-fig5",
     .title = "Controlled spring-mass system: relative errors at t = 5 s, constant steps",
     .caption = "Position and state of the controller: order 2.",
     .remark = "As σ → 0 the desired force tends to −b q̇, not to −b q̈ as is printed.",
     .kind = PP_ORDERS,
     .series = {SPRING("constant steps", .settings = SCHEME, .slope = {2, 2})},
     .quantities = {Q, X},
     .t_end = 5,
     .h = 0.1,
     .levels = 7,
     .relative = 1,
     .brief = 1},
    {.name = "003-fig6",
     .title = "Controlled spring-mass system: relative errors at t = 5 s, steps 0.3 H and 0.7 H",
     .caption = "Steps that jump: with fixed γ and θ the order falls to 1; updated by (29) it is 2.",
     .kind = PP_ORDERS,
     .series = {SPRING("fixed γ, θ", .settings = SCHEME " adjust=none", .split = 0.3, .slope = {1, 1}),
                SPRING("updated by (29)", .settings = SCHEME " adjust=gamma", .split = 0.3, .slope = {2, 2})},
     .quantities = {Q, X},
     .t_end = 5,
     .h = 0.05,
     .levels = 9,
     .relative = 1,
     .brief = 1},
    {.name = "003-fig12",
     .title = "Lane change: path of the car",
     .caption = "The driver steers by a given function of time and corrects nothing, so that the car drifts "
                "to a side.",
     .remark = CAR_REMARK,
     .kind = PP_PHASE,
     .series = {PASSIVE, SEMI_ACTIVE, FULL_PASSIVE, FULL_SEMI_ACTIVE},
     .quantities = {{"x", "m", PP_ALONE, 0, 1, "chassis.x"}, {"y", "m", PP_ALONE, 0, 1, "chassis.y"}},
     CAR_STEP,
     .facts = {{"way along x [m]", PP_END, 1, 0, 0, .low = 50, .high = 60},
               {"way along x, full car [m]", PP_END, 3, 0, 0, .low = 50, .high = 60}}},
    {.name = "003-fig13",
     .title = "Lane change: roll and pitch of the chassis",
     .caption = "Roll follows the steering; pitch stays small, since neither engine nor brakes act.",
     .remark = CAR_REMARK,
     .kind = PP_MOTION,
     .series = {PASSIVE, SEMI_ACTIVE, FULL_PASSIVE, FULL_SEMI_ACTIVE},
     .quantities = {{"roll", "deg", PP_ALONE, 0, 1, "chassis.roll", DEGREES},
                    {"pitch", "deg", PP_ALONE, 0, 1, "chassis.pitch", DEGREES}},
     CAR_STEP,
     .panels = {{"roll [deg]", 1}, {"pitch [deg]", 2}},
     .facts = {{"largest roll, semi-active [rad]", PP_LARGEST, 1, 0, 0, .low = 0.005, .high = 0.06},
               {"the same, full car [rad]", PP_LARGEST, 3, 0, 0, .low = 0.005, .high = 0.06}}},
    {.name = "003-fig14",
     .title = "Lane change: currents of the four valves",
     .caption = "The currents go from one limit to the other: saturation dominates.",
     .remark = CAR_REMARK,
     .kind = PP_MOTION,
     .series = {SEMI_ACTIVE, FULL_SEMI_ACTIVE},
     .quantities = {{"front left", "A", PP_ALONE, 0, 1, "front_current0"},
                    {"front right", "A", PP_ALONE, 0, 1, "front_current1"},
                    {"rear left", "A", PP_ALONE, 0, 1, "rear_current0"},
                    {"rear right", "A", PP_ALONE, 0, 1, "rear_current1"}},
     CAR_STEP,
     .panels = {{"front left [A]", 1}, {"front right [A]", 2}, {"rear left [A]", 4}, {"rear right [A]", 8}},
     .facts = {{"largest current at the front left [A]", PP_LARGEST, 0, 0, 0, .low = 1.3, .high = 1.61},
               {"the same, full car [A]", PP_LARGEST, 1, 0, 0, .low = 1.3, .high = 1.61}}},
    {.name = "003-fig15",
     .title = "Lane change: pressures in the damper at the rear right",
     .caption = "The pressure of the compression chamber is near that of the reservoir while the damper "
                "extends, and close "
                "to that of the rebound chamber while it is compressed.",
     .remark = CAR_REMARK,
     .kind = PP_MOTION,
     .series = {SEMI_ACTIVE, FULL_SEMI_ACTIVE},
     .quantities = {{"rate", "mm/s", PP_ALONE, 0, 1, "rear_damper1.rate", 1e3},
                    {"rebound", "bar", PP_ALONE, 0, 1, "rear_rebound1", 1e-5},
                    {"compression", "bar", PP_ALONE, 0, 1, "rear_compression1", 1e-5}},
     CAR_STEP,
     .panels = {{"rate [mm/s]", 1}, {"pressure [bar]", 6, 1}, {"pressure [bar], full car", 6, 2}},
     .facts = {{"largest rebound pressure [Pa]", PP_LARGEST, 0, 0, 1, .low = 2e5, .high = 2e6},
               {"the same, full car [Pa]", PP_LARGEST, 1, 0, 1, .low = 2e5, .high = 2e6}}},
};

const pp_paper pp_ba08 = {
    "003", "O. Brüls, M. Arnold: The generalized-α scheme as a linear multistep integrator (2008)", figures,
    PP_COUNT(figures)};
