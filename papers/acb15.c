/* 002: M. Arnold, A. Cardona, O. Brüls, Order reduction in time integration caused by velocity projection
 * (2015). Its scheme: index 3 on R³×SO(3) with body angular velocity, without a commutator term; a₀ and v₀
 * perturbed. */
#include "tables.h"

#define TOP(label_, ...)                                                                                     \
  {                                                                                                          \
    .label = label_, .problem = "heavy_top_left", .model = "heavy_top.yaml", .form = GA_FORM_BODY,           \
    __VA_ARGS__                                                                                              \
  }
#define SCHEME "method=index3 rho=0.9 commutator=false"
#define PROJECTED .project_at = 0.7, .projection = GA_PROJECT_PLAIN
#define LAMBDA                                                                                               \
  {                                                                                                          \
    "λ", "N", PP_LAMBDA, 0, 3, "tip.fx tip.fy tip.fz"                                                        \
  }
#define LAMBDAS                                                                                              \
  {"λ_1", "N", PP_LAMBDA, 0, 1, "tip.fx"}, {"λ_2", "N", PP_LAMBDA, 1, 1, "tip.fy"},                          \
  {                                                                                                          \
    "λ_3", "N", PP_LAMBDA, 2, 1, "tip.fz"                                                                    \
  }
#define TOP_STEPS .t_end = 1, .h = 1e-3, .levels = 5

static const pp_figure figures[] = {
    {.name = "002-fig1",
     .title = "Heavy top: first component of the residual B v, velocity projected at t = 0.7 s",
     .caption = "The index-3 scheme leaves a residual in the hidden constraints that oscillates smoothly; "
                "its amplitude "
                "falls to a quarter when the step is halved. The projection at 0.7 s sets it to zero and "
                "starts fast "
                "oscillations about the value that the scheme needs.",
     .kind = PP_MOTION,
     .series = {TOP("h = 1 ms", .settings = SCHEME, PROJECTED),
                TOP("h = 0.5 ms", .settings = SCHEME, PROJECTED, .h = 5e-4)},
     .quantities = {{"(B v)_1", "m/s", PP_ALONE, 0, 1, "-top.vx"}},
     .t_end = 1,
     .h = 1e-3,
     .panels = {{"(B v)_1 [m/s], h = 1 ms", 1, 1}, {"(B v)_1 [m/s], h = 0.5 ms", 1, 2}},
     .facts = {{"largest residual before 0.7 s, h = 1 ms [m/s]", PP_LARGEST, 0, 0, 0, .until = 0.699,
                .low = 2.15e-2, .high = 2.25e-2},
               {"ratio of the amplitudes for h and h/2 before 0.7 s", PP_RATIO, 0, 1, 0, .until = 0.699,
                .low = 3.9, .high = 4.1}},
     .brief = 1},
    {.name = "002-fig2-left",
     .title = "Heavy top: λ around a projection of the velocity at t = 0.7 s, h = 1 ms",
     .caption = "The multipliers oscillate for about 100 steps after the projection. The second curve is the "
                "same run without it.",
     .kind = PP_MOTION,
     .series = {TOP("projected", .settings = SCHEME, PROJECTED), TOP("not projected", .settings = SCHEME)},
     .quantities = {LAMBDAS},
     .t_end = 0.8,
     .h = 1e-3,
     .from = 0.65,
     .panels = {{"λ_1 [N]", 1}, {"λ_2 [N]", 2}, {"λ_3 [N]", 4}},
     .facts = {{"error of λ_1 after the projection [N]", PP_LARGEST_ERROR, 0, 0, 0, .from = 0.7005,
                .until = 0.75, .low = 30, .high = 200},
               {"error of λ_1 after 100 steps [N]", PP_LARGEST_ERROR, 0, 0, 0, .from = 0.799, .until = 0.8,
                .low = 0, .high = 10}}},
    {.name = "002-fig2-right",
     .title = "Heavy top: largest relative error of λ, velocity projected at t = 0.7 s",
     .caption =
         "Largest error over an interval with the projection (order 1) and over the one before it (order 2).",
     .kind = PP_ORDERS,
     .series = {TOP("[0, 1], projected at 0.7", .settings = SCHEME, PROJECTED, .slope = {1}),
                TOP("[0, 0.7)", .settings = SCHEME, .until = 0.699, .slope = {2})},
     .quantities = {LAMBDA},
     TOP_STEPS,
     .maximum = 1,
     .relative = 1},
    {.name = "002-fig4",
     .title = "Heavy top: reference solution by the stabilized index-2 form",
     .caption = "Height of the centre and the three multipliers, stabilized index 2, h = 2.5·10^{-5} s as in "
                "the paper.",
     .kind = PP_MOTION,
     .series = {TOP("stabilized", .settings = "method=stabilized rho=0.9 commutator=false", .h = 2.5e-5)},
     .quantities = {{"x_3", "m", PP_Q, 2, 1, "centre.z"}, LAMBDAS},
     .t_end = 1,
     .h = 2.5e-5,
     .panels = {{"x_3 [m]", 1}, {"λ [N]", 14}},
     .facts = {{"largest error of x_3 [m]", PP_LARGEST_ERROR, 0, 0, 0, .low = 0, .high = 5e-6},
               {"largest error of λ_1 [N]", PP_LARGEST_ERROR, 0, 0, 1, .low = 0, .high = 4e-3}}},
    {.name = "002-cures",
     .title = "Heavy top: what reduces the order of λ, and what cures it",
     .caption = "Largest relative errors of λ over [0, 1]. Index 3 from consistent velocities, or with a "
                "projection onto "
                "B v = 0, has order 1; from perturbed velocities, with a projection onto B v = h²B r, in the "
                "stabilized "
                "form, and on SE(3) from any start it has order 2.",
     .remark = "The paper names the first two cures; SE(3), where B r = 0 for this top, is a finding of [2, "
               "3] there.",
     .kind = PP_ORDERS,
     .series = {TOP("consistent start", .settings = SCHEME " perturb_v=false", .slope = {1}),
                TOP("projected at 0.7", .settings = SCHEME, PROJECTED, .slope = {1}),
                TOP("perturbed start", .settings = SCHEME, .slope = {2}),
                TOP("projected onto B v = h²B r", .settings = SCHEME, .project_at = 0.7,
                    .projection = GA_PROJECT_OFFSET, .slope = {2}),
                TOP("stabilized index 2", .settings = "method=stabilized rho=0.9 commutator=false",
                    .slope = {2}),
                {.label = "SE(3), consistent start",
                 .problem = "heavy_top_left",
                 .model = "heavy_top.yaml",
                 .form = GA_FORM_SE3,
                 .settings = SCHEME " perturb_v=false",
                 .slope = {2}}},
     .quantities = {LAMBDA},
     TOP_STEPS,
     .maximum = 1,
     .relative = 1,
     .brief = 1},
};

const pp_paper pp_acb15 = {"002",
                           "M. Arnold, A. Cardona, O. Brüls: Order reduction in time integration caused by "
                           "velocity projection (2015)",
                           figures, PP_COUNT(figures)};
