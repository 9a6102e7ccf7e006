/* 001: L. O. Jay, D. Negrut, on systems with nonholonomic constraints. Its scheme (2.3): weighted residuals,
 * k = 0 at the end of each step, a_α = a₀ at the start. The problems are those of examples/: an abstract one,
 * and a disk in the paper's coordinates, which a rigid body of a model file does not have. */
#include "tables.h"

#define SCHEME "method=weighted rho=0.2" PP_PLAIN_START
#define NORMS(nv, npsi)                                                                                      \
  {"y", "", PP_Q, 0, nv}, {"z", "", PP_V, 0, nv}, {"a", "", PP_A, 0, nv},                                    \
  {                                                                                                          \
    "ψ", "", PP_PSI, 0, npsi                                                                                 \
  }
#define DISK_STEPS .t_end = 10, .h = 1e-2, .levels = 7, .band = 0.2

static const pp_figure figures[] = {
    {.name = "001-fig7.1",
     .title = "Test problem (7.1): global errors at t = 1, ρ_∞ = 0.2",
     .caption =
         "2-norms of the errors of y, z, a (compared at t + αh) and ψ of the mathematical test problem whose "
         "solution is known. All four have order 2, although a starts as a₀ = ż₀.",
     .kind = PP_ORDERS,
     .series = {{.label = "(2.3)", .problem = "test71", .settings = SCHEME, .slope = {2, 2, 2, 2}}},
     .quantities = {NORMS(2, 1)},
     .t_end = 1,
     .h = 0.1,
     .levels = 8,
     .brief = 1},
    {.name = "001-fig7.2",
     .title = "Rolling disk (7.2), corrected: global errors at t = 10, ρ_∞ = 0.2",
     .caption =
         "The same for the rolling disk, with the term −I_2 c_3 z_3 z_5 that f_4 needs to conserve energy.",
     .remark =
         "As printed, f_4 lacks −I_2 c_3 z_3 z_5, so that the paper's equations are not those of its own "
         "Lagrangian. Which of the two its figure shows cannot be told: the order is 2 for both.",
     .kind = PP_ORDERS,
     .series = {{.label = "(2.3)", .problem = "rolling_disk", .settings = SCHEME, .slope = {2, 2, 2, 2}}},
     .quantities = {NORMS(5, 2)},
     DISK_STEPS},
    {.name = "001-fig7.2-printed",
     .title = "Rolling disk (7.2), as printed: global errors at t = 10, ρ_∞ = 0.2",
     .caption = "The same with f_4 as it is printed, against the solution of the printed equations: other "
                "numbers, the "
                "same order.",
     .kind = PP_ORDERS,
     .series =
         {{.label = "(2.3)", .problem = "rolling_disk_printed", .settings = SCHEME, .slope = {2, 2, 2, 2}}},
     .quantities = {NORMS(5, 2)},
     DISK_STEPS},
    {.name = "001-energy",
     .title = "Rolling disk: change of energy with the corrected and with the printed f_4",
     .caption = "Why the printed f_4 is wrong: with it the energy T + U of the paper's own Lagrangian "
                "changes, with the "
                "missing term it does not (but for the error of the steps).",
     .remark = "An erratum of the paper.",
     .kind = PP_MOTION,
     .series = {{.label = "corrected", .problem = "rolling_disk", .settings = SCHEME},
                {.label = "as printed", .problem = "rolling_disk_printed", .settings = SCHEME}},
     .quantities = {{"E − E_0", "J", PP_ENERGY}},
     .t_end = 10,
     .h = 5e-4,
     .panels = {{"change of energy [J]", 1}},
     .facts = {{"largest change of energy, corrected [J]", PP_LARGEST, 0, 0, 0, .low = 0, .high = 5e-5},
               {"largest change of energy, as printed [J]", PP_LARGEST, 1, 0, 0, .low = 3e-3, .high = 6e-3}},
     .brief = 1},
};

const pp_paper pp_jn_nh = {
    "001", "L. O. Jay, D. Negrut: the generalized-α method for systems with nonholonomic constraints",
    figures, PP_COUNT(figures)};
