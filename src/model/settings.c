/* The keys that a model has once: gravity, the form of rigid bodies, and the table of settings of a run, from
 * which come the keys of `simulation`, options of the program and attributes of results. */
#include "model/settings.h"
#include "model/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST_ACCURACY 1e-8 /* [-] smaller ones are in the range of rounding */

#define LARGE_NEWTON 1e-2 /* [-] of the tolerance */

#define NAMES_OF(list) .choices = (list), .n_choices = (int)(sizeof(list) / sizeof((list)[0]))
#define OF(...)                                                                                              \
  .setting = &(const ga__setting)                                                                            \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
  }
#define ONE(type, member) .name = #member, .offset = offsetof(type, member), .count = 1

static const char *const form_names[] = {
    [GA_FORM_SPACE] = "space", [GA_FORM_BODY] = "body", [GA_FORM_SE3] = "se3"};
static const char *const form_about[] = {[GA_FORM_SPACE] = "R³×SO(3), angular velocity in ground axes",
                                         [GA_FORM_BODY] = "R³×SO(3), angular velocity in body axes",
                                         [GA_FORM_SE3] = "SE(3), linear and angular velocity in body axes"};
#define NAME(id, name, title, about) [id] = #name,
#define ABOUT(id, name, title, about) [id] = about,
static const char *const method_names[] = {GA_METHOD_LIST(NAME)};
static const char *const method_about[] = {GA_METHOD_LIST(ABOUT)};
#undef NAME
#undef ABOUT
#define WORD(id, name, title, about) " " #name

static const char *const scheme_names[] = {
    [GA_SCHEME_RHO] = "rho", [GA_SCHEME_HHT] = "hht", [GA_SCHEME_NEWMARK] = "newmark"};
static const char *const scheme_about[] = {[GA_SCHEME_RHO] = "from `rho` (Chung and Hulbert)",
                                           [GA_SCHEME_HHT] = "from `hht_alpha` (Hilber, Hughes and Taylor)",
                                           [GA_SCHEME_NEWMARK] = "from `newmark_beta` and `newmark_gamma`"};
static const char *const projection_names[] = {
    [GA_NO_PROJECTION] = "none", [GA_PLAIN_PROJECTION] = "plain", [GA_OFFSET_PROJECTION] = "offset"};
static const char *const projection_about[] = {
    [GA_NO_PROJECTION] = "never",
    [GA_PLAIN_PROJECTION] = "onto the velocity constraints; forces of index3 and weighted lose order 2",
    [GA_OFFSET_PROJECTION] = "onto them with the offset of order h² of index3 and weighted"};

static const char *const adjust_names[] = {
    [GA_ADJUST_SHIFT] = "shift", [GA_ADJUST_GAMMA] = "gamma", [GA_ADJUST_NONE] = "none"};
static const char *const adjust_about[] = {
    [GA_ADJUST_SHIFT] = "the auxiliary accelerations are shifted to the time that the new step size requires",
    [GA_ADJUST_GAMMA] = "γ of each step is computed from the step sizes; methods of exact equilibrium only",
    [GA_ADJUST_NONE] = "no correction: first order when the step size changes; for comparison"};

static const char *const error_names[] = {[GA_PER_STEP] = "per_step",
                                          [GA_PER_UNIT_STEP] = "per_unit_step",
                                          [GA_PER_UNIT_STEP_FILTERED] = "per_unit_step_filtered"};
static const char *const error_about[] = {
    [GA_PER_STEP] = "the error of each step, in positions and states, with stiff motion filtered out",
    [GA_PER_UNIT_STEP] = "the sum of the errors of all steps, in positions, velocities and states; stiff "
                         "models need very small steps",
    [GA_PER_UNIT_STEP_FILTERED] =
        ("the sum of the errors of all steps, in positions and states, with stiff motion filtered out")};
static const char *const norm_names[] = {[GA_NORM_MAX] = "max", [GA_NORM_RMS] = "rms"};
static const char *const norm_about[] = {
    [GA_NORM_MAX] = "the largest error", [GA_NORM_RMS] = "the root mean square"};

static const char *const mass_names[] = {[GA_MASS_RECOMPUTE] = "recompute", [GA_MASS_PREVIOUS] = "previous"};
static const char *const mass_about[] = {[GA_MASS_RECOMPUTE] = "evaluated at that time",
                                         [GA_MASS_PREVIOUS] =
                                             "M a is kept from the previous step: one evaluation less"};
static const char *const factor_names[] = {
    [GA_REUSE] = "reuse", [GA_FRESH_STEP] = "each_step", [GA_FRESH_ITERATION] = "each_iteration"};
static const char *const factor_about[] = {
    [GA_REUSE] = "factors are kept while the iteration converges well, also over several steps",
    [GA_FRESH_STEP] = "at the first iteration of each step",
    [GA_FRESH_ITERATION] = "at each iteration: Newton's method proper"};
static const char *const eta_names[] = {
    [GA_ETA_AUTO] = "auto", [GA_ETA_FULL] = "full", [GA_ETA_TRIANGULAR] = "triangular"};
static const char *const eta_about[] = {
    [GA_ETA_AUTO] =
        "all terms up to 64 unknowns; above, `triangular` as long as the iteration converges well",
    [GA_ETA_FULL] = "all terms: the exact derivative",
    [GA_ETA_TRIANGULAR] =
        "only the terms of Φ: half the cost; not for motion near singular positions or for fast wheels"};
static const char *const predictor_names[] = {[GA_PREDICT_CONSTANT] = "constant",
                                              [GA_PREDICT_LINEAR] = "linear",
                                              [GA_PREDICT_QUADRATIC] = "quadratic",
                                              [GA_PREDICT_AUTO] = "auto"};
static const char *const predictor_about[] = {
    [GA_PREDICT_CONSTANT] = "the values of the last step",
    [GA_PREDICT_LINEAR] = "linear extrapolation",
    [GA_PREDICT_QUADRATIC] = "quadratic extrapolation",
    [GA_PREDICT_AUTO] = "the one of these that would have been best for the last step"};
static const char *const linear_solver_names[] = {
    [GA_LU_AUTO] = "auto", [GA_LU_DENSE] = "dense", [GA_LU_SPARSE] = "sparse", [GA_LU_BLOCKS] = "blocks"};
static const char *const linear_solver_about[] = {
    [GA_LU_AUTO] = "chosen by size, fill and block structure",
    [GA_LU_DENSE] = "plain C for small matrices, LAPACK for larger ones",
    [GA_LU_SPARSE] = "KLU",
    [GA_LU_BLOCKS] = "dense blocks of bodies and joints; KLU where there are none"};
static const char *const redundant_names[] = {
    [GA_REDUNDANT_ACCEPT] = "accept", [GA_REDUNDANT_REFUSE] = "refuse"};
static const char *const redundant_about[] = {
    [GA_REDUNDANT_ACCEPT] =
        "the motion is that of the independent constraints, the multipliers are those of least norm",
    [GA_REDUNDANT_REFUSE] = "an error, since the matrix is singular"};

/* Which methods use a setting. */
static int has_offset(const ga_method_info *m)
{
  return !m->keeps_rates;
}
static int has_order(const ga_method_info *m)
{
  return m->has_order;
}
static int has_eta(const ga_method_info *m)
{
  return m->has_eta;
}
static int weighs_masses(const ga_method_info *m)
{
  return !m->vdot_at_end;
}
static int has_two_sets(const ga_method_info *m)
{
  return !m->vdot_at_end && m->keeps_rates;
}

static const ga__field global_fields[] = {
    {ONE(ga_machine_opts, form), .rule = GA__RULE_CHOICE, NAMES_OF(form_names), .choices_about = form_about,
     .about = "formulation of the motion of rigid bodies"},
    {.name = "gravity",
     .offset = offsetof(ga_machine_opts, gravity),
     .count = 3,
     .rule = GA__RULE_NUMBER,
     .unit = "m/s^2",
     .about = "acceleration of gravity, ground axes"},
};

static const ga__field setting_fields[] = {
    {ONE(ga_run_settings, t_start), .rule = GA__RULE_NUMBER, .unit = "s", .about = "start time",
     OF(.help = "start time [s]")},
    {ONE(ga_run_settings, t_end), .rule = GA__RULE_NUMBER, .unit = "s", .about = "end time",
     OF(.help = "end time [s]")},
    {ONE(ga_run_settings, step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "fixed step size [s]; 0: chosen by error control", .from = 1e-15, .to = 1e9, .or_zero = 1),
     .about = "fixed step size; 0: chosen by error control"},
    {ONE(ga_run_settings, tolerance), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.option = "tol", .from = 1e-14, .to = 1, .error_control = 1,
        .help = "relative tolerance of error control; the absolute one is a hundredth of it"),
     .about = "relative tolerance of error control; the absolute one is a hundredth of it"},
    {ONE(ga_run_settings, max_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "largest step of error control [s]; 0: chosen from the model", .error_control = 1),
     .about = "largest step of error control; 0: ten times `output`, a quarter of the shortest period of a "
              "wave or sine of time, or a tenth of the run, whichever is least"},
    {ONE(ga_run_settings, min_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "smallest step of error control [s]", .error_control = 1),
     .about = "smallest step of error control; 0: 1e-12 of the run, or less between breaks that are closer "
              "together"},
    {ONE(ga_run_settings, first_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "first step of error control [s]", .error_control = 1),
     .about = "first step of error control; 0: chosen from the initial accelerations"},
    {ONE(ga_run_settings, accuracy), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     OF(.from = LEAST_ACCURACY, .to = 0.5, .or_zero = 1, .error_control = 1, .of_results = 1,
        .help = "estimate error bars and keep them below this fraction of each signal's range (default 1e-3, "
                "or 0 with --tol or --step); 0: no error bars"),
     .about = "estimate error bars and choose the tolerance so that they are at most this fraction of each "
              "signal's range; 0: no error bars, the default if step or tolerance is given"},
    {ONE(ga_run_settings, error), .rule = GA__RULE_CHOICE, NAMES_OF(error_names),
     .choices_about = error_about,
     OF(.help = "error that the tolerance limits: per_step, per_unit_step or per_unit_step_filtered",
        .error_control = 1),
     .about = "error that the tolerance limits"},
    {ONE(ga_run_settings, norm), .rule = GA__RULE_CHOICE, NAMES_OF(norm_names), .choices_about = norm_about,
     OF(.help = "norm of the errors: max or rms", .error_control = 1),
     .about = "norm of the errors of all coordinates and states, each divided by its tolerance"},
    {ONE(ga_run_settings, error_forces), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_order, .error_control = 1,
        .help = "limit errors of accelerations, forces and outputs too (collocation and automatic)"),
     .about = "`collocation` and `automatic`: limit errors of accelerations, constraint forces and outputs "
              "too, to "
              "`tolerance` times the largest of each kind so far; `automatic` does not use order 2 then"},
    {ONE(ga_run_settings, atol), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute tolerance of positions, m or rad; 0: a hundredth of `tolerance`, for machines of "
              "less than 1 cm `tolerance` times their size"},
    {ONE(ga_run_settings, rtol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "relative tolerance of velocities, for `per_unit_step`; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute tolerance of velocities, m/s or rad/s; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, rtol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "relative tolerance of the states of blocks; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute tolerance of the states of blocks, in their units; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, defect_points), .rule = GA__RULE_INTEGER, .low = 0, .high = 1000000000,
     OF(.help = "number of times in a run at which the equations are checked within steps; 0: never"),
     .about = "number of times in a run at which the equations are checked within steps, more where records "
              "are closer; 0: never, and a load that acts only between the ends of a step is missed"},
    {ONE(ga_run_settings, method), .rule = GA__RULE_CHOICE, NAMES_OF(method_names),
     .choices_about = method_about, OF(.help = "integration method, one of" GA_METHOD_LIST(WORD)),
     .about = "integration method"},
    {ONE(ga_run_settings, order), .rule = GA__RULE_INTEGER, .low = 0, .high = 10, .zero_word = "auto",
     OF(.depends = "method", .method = has_order,
        .help =
            "order of collocation and automatic: 2 to 8 or 10; auto (0): chosen step by step by least work"),
     .about =
         "order of `collocation`: 4, 6, 8 or 10 (Lobatto IIIA), 3, 5 or 7 (Radau IIA), and of `automatic`: "
         "these or 2; `auto` (0): chosen step by step by least work, with a given step 4 and 2"},
    {ONE(ga_run_settings, scheme), .rule = GA__RULE_CHOICE, NAMES_OF(scheme_names),
     .choices_about = scheme_about, .about = "how the parameters of the method are given",
     OF(.help = "how the parameters of the method are given: rho, hht or newmark")},
    {ONE(ga_run_settings, rho), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0, .to = 1, .depends = "scheme", .with = 1ul << GA_SCHEME_RHO,
        .help = "spectral radius at infinity, from 0 (most damping) to 1 (no damping)"),
     .about = "spectral radius at infinity, from 0 (most damping) to 1 (no damping)"},
    {ONE(ga_run_settings, hht_alpha), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = -1.0 / 3.0, .to = 0, .depends = "scheme", .with = 1ul << GA_SCHEME_HHT),
     .about = "α of HHT, from -1/3 (most damping) to 0 (no damping)"},
    {ONE(ga_run_settings, newmark_beta), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0.25, .to = 1, .depends = "scheme", .with = 1ul << GA_SCHEME_NEWMARK),
     .about = "β of Newmark, from 1/4 to 1"},
    {ONE(ga_run_settings, newmark_gamma), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0.5, .to = 0.5, .depends = "scheme", .with = 1ul << GA_SCHEME_NEWMARK),
     .about = "γ of Newmark: 1/2, since any other value gives first order only"},
    {ONE(ga_run_settings, commutator), .rule = GA__RULE_FLAG,
     .about = "use the term of order h² in the update of rotations; false: leave it out, as the papers do"},
    {ONE(ga_run_settings, adjust), .rule = GA__RULE_CHOICE, NAMES_OF(adjust_names),
     .choices_about = adjust_about, .about = "how order 2 is kept when the step size changes",
     OF(.help = "how order 2 is kept when the step size changes: shift, gamma or none")},
    {ONE(ga_run_settings, move_offset), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_offset,
        .help = "adapt velocities normal to the constraints to the step size (index3, weighted)"),
     .about = "methods that constrain positions only: adapt the velocities normal to the constraints to the "
              "step size; without it constraint forces lose order 2"},
    {ONE(ga_run_settings, mass_alpha), .rule = GA__RULE_CHOICE, NAMES_OF(mass_names),
     .choices_about = mass_about,
     OF(.depends = "method", .method = weighs_masses,
        .help = "mass matrix at the intermediate time of weighted methods: recompute or previous"),
     .about = "weighted methods: the mass matrix at the intermediate time of a step"},
    {ONE(ga_run_settings, full_solve), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_two_sets,
        .help = "always solve with the full matrix (soi2, hht_soi2)"),
     .about = "weighted methods with two sets of unknowns: always solve with the full matrix; false: with a "
              "smaller one where forces are not stiff"},
    {ONE(ga_run_settings, newton_tolerance), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.from = 1e-15, .to = 1e-3, .help = "relative tolerance of Newton's iteration"),
     .about =
         "relative tolerance of Newton's iteration, in accelerations, constraint forces, states and outputs"},
    {ONE(ga_run_settings, newton_iterations), .rule = GA__RULE_INTEGER, .low = 1, .high = 1000,
     .about = "largest number of Newton iterations in a step"},
    {ONE(ga_run_settings, newton_factors), .rule = GA__RULE_CHOICE, NAMES_OF(factor_names),
     .choices_about = factor_about, .about = "when the iteration matrix is evaluated and factored",
     OF(.help = "when the iteration matrix is factored: reuse, each_step or each_iteration")},
    {ONE(ga_run_settings, newton_patience), .rule = GA__RULE_INTEGER, .low = 0, .high = 1000,
     OF(.depends = "newton_factors", .with = 1ul << GA_REUSE),
     .about = "with `reuse`, the matrix is factored again if more further iterations than this are expected"},
    {ONE(ga_run_settings, eta_terms), .rule = GA__RULE_CHOICE, NAMES_OF(eta_names),
     .choices_about = eta_about,
     OF(.depends = "method", .method = has_eta,
        .help = "terms in the columns of η of the iteration matrix: auto, full or triangular"),
     .about = "terms in the columns of η of the iteration matrix"},
    {ONE(ga_run_settings, predictor), .rule = GA__RULE_CHOICE, NAMES_OF(predictor_names),
     .choices_about = predictor_about, .about = "initial guess of accelerations and forces in a step",
     OF(.help = "initial guess in a step: constant, linear, quadratic or auto")},
    {ONE(ga_run_settings, linear_solver), .rule = GA__RULE_CHOICE, NAMES_OF(linear_solver_names),
     .choices_about = linear_solver_about, .about = "solver of linear equations",
     OF(.help = "solver of linear equations: auto, dense, sparse or blocks")},
    {ONE(ga_run_settings, redundant), .rule = GA__RULE_CHOICE, NAMES_OF(redundant_names),
     .choices_about = redundant_about, .about = "what is done with redundant constraints",
     OF(.help = "what is done with redundant constraints: accept or refuse")},
    {ONE(ga_run_settings, from_equilibrium), .rule = GA__RULE_FLAG,
     OF(.help = "start at a static equilibrium near the initial positions"),
     .about = "start at a static equilibrium, found from the initial positions and states; velocities stay "
              "as given"},
    {ONE(ga_run_settings, project), .rule = GA__RULE_FLAG,
     .about = "project the initial positions and velocities onto the constraints"},
    {ONE(ga_run_settings, shift_a), .rule = GA__RULE_FLAG,
     .about = "shift the auxiliary accelerations at the start; without it they are of first order"},
    {ONE(ga_run_settings, perturb_v), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_offset,
        .help = "perturb the initial velocities for constraint forces of order 2 (index3, weighted)"),
     .about = "methods that constrain positions only: perturb the initial velocities, which keeps constraint "
              "forces at order 2"},
    {ONE(ga_run_settings, project_velocity), .rule = GA__RULE_CHOICE, NAMES_OF(projection_names),
     .choices_about = projection_about,
     .about = "project the velocities once during the run, for experiments"},
    {ONE(ga_run_settings, project_velocity_at), .rule = GA__RULE_NUMBER, .unit = "s",
     OF(.depends = "project_velocity", .with = 1ul << GA_PLAIN_PROJECTION | 1ul << GA_OFFSET_PROJECTION),
     .about = "time at which velocities are projected: after the first step that ends there or later"},
    {ONE(ga_run_settings, max_change), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.help = "largest change of the initial positions and velocities to meet the constraints"),
     .about = "largest change of the initial positions and velocities to meet the constraints, relative to 1 "
              "+ the largest of them"},
    {ONE(ga_run_settings, max_gap), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.help = "largest contradiction between redundant constraints that is accepted at the start"),
     .about = "largest contradiction between redundant constraints that is accepted at the start, relative "
              "to 1 + the largest position or velocity"},
    {ONE(ga_run_settings, output), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.from = 0, .to = 1e9, .of_results = 1, .help = "time between records [s]; 0: every step"),
     .about = "time between records; 0: every step, and steps of order above 2 as many times as their order"},
    {ONE(ga_run_settings, poses), .rule = GA__RULE_FLAG,
     OF(.of_results = 1, .help = "record where all bodies are, for galpha view (default true)"),
     .about = "record where all bodies are, also those whose signals are not recorded, for `galpha view`"},
};
enum {
  N_GLOBAL = sizeof global_fields / sizeof global_fields[0],
  N_SETTING = sizeof setting_fields / sizeof setting_fields[0]
};

static const ga__extra global_extra[] = {
    {"galpha", "1", "version of the format; required"},
    {"title", "text", "title of plots and reports"},
};
static const ga__extra setting_extra[] = {
    {"record", "texts",
     "signals to record; `*` matches any text: `arm.*`, `*.angle`, `*` (default: all that can change, not z "
     "of a planar body)"},
    {"a0", "numbers",
     "auxiliary accelerations at the start, in SI units, one for each velocity, instead of those that "
     "`shift_a` determines; for experiments"}};

static void default_globals(void *base)
{
  *(ga_machine_opts *)base = ga_machine_defaults();
}

ga_run_settings ga_run_defaults(void)
{
  const ga_stepper_opts stepper = ga_stepper_defaults();
  const ga_start_opts start = ga_start_defaults();
  const ga_simulate_opts simulate = ga_simulate_defaults();
  return (ga_run_settings){.t_end = 1,
                           .tolerance = simulate.rtol,
                           .accuracy = 1e-3,
                           .accuracy_by_default = 1,
                           .error = simulate.error,
                           .norm = simulate.norm,
                           .error_forces = simulate.error_forces,
                           .defect_points = simulate.defect_points,
                           .method = stepper.method,
                           .rho = 0.8,
                           .hht_alpha = -1.0 / 9.0,
                           .newmark_beta = 0.25,
                           .newmark_gamma = 0.5,
                           .commutator = stepper.commutator,
                           .poses = 1,
                           .adjust = stepper.adjust,
                           .move_offset = stepper.move_offset,
                           .order = stepper.order,
                           .mass_alpha = stepper.mass_alpha,
                           .full_solve = stepper.full_solve,
                           .newton_tolerance = stepper.newton.tol,
                           .newton_iterations = stepper.newton.max_iterations,
                           .newton_factors = stepper.newton.reuse,
                           .newton_patience = stepper.newton.patience,
                           .eta_terms = stepper.newton.eta_terms,
                           .predictor = stepper.newton.predictor,
                           .linear_solver = stepper.lu,
                           .redundant = stepper.redundant,
                           .project = start.project,
                           .shift_a = start.shift_a,
                           .perturb_v = start.perturb_v,
                           .max_change = start.max_change,
                           .max_gap = start.max_gap};
}

void ga_run_choose_steps(ga_run_settings *settings, int step, int tolerance, int accuracy)
{
  ga_run_settings *s = settings;
  if (!s) return;
  const int equal = step && s->step != 0.0;
  if (!equal && (tolerance || (accuracy && s->accuracy != 0.0))) s->step = 0.0;
  if (equal || ((step || tolerance) && !accuracy)) s->accuracy = 0.0;
  if (step || tolerance || accuracy) s->accuracy_by_default = 0;
}

ga_status ga_run_stepper_opts(ga_context *ctx, const ga_run_settings *settings, ga_stepper_opts *out)
{
  const ga_run_settings usual = ga_run_defaults(), *s = settings ? settings : &usual;
  if (!out) return ga__null_argument(ctx);
  const ga_status status = ga_run_check(ctx, s);
  if (status) return status;
  *out = ga_stepper_defaults();
  out->method = s->method;
  out->commutator = s->commutator;
  out->adjust = s->adjust;
  out->move_offset = s->move_offset;
  out->order = s->order;
  out->mass_alpha = s->mass_alpha;
  out->full_solve = s->full_solve;
  out->newton = (ga_newton_opts){.tol = s->newton_tolerance,
                                 .max_iterations = s->newton_iterations,
                                 .reuse = s->newton_factors,
                                 .patience = s->newton_patience,
                                 .eta_terms = s->eta_terms,
                                 .predictor = s->predictor};
  out->lu = s->linear_solver;
  out->redundant = s->redundant;
  if (s->scheme == GA_SCHEME_HHT) return ga_scheme_hht(ctx, s->hht_alpha, &out->scheme);
  if (s->scheme == GA_SCHEME_NEWMARK)
    return ga_scheme_newmark(ctx, s->newmark_beta, s->newmark_gamma, &out->scheme);
  return ga_scheme_rho(ctx, s->rho, &out->scheme);
}

ga_start_opts ga_run_start_opts(const ga_run_settings *settings)
{
  ga_start_opts start = ga_start_defaults();
  if (!settings) return start;
  start.project = settings->project;
  start.shift_a = settings->shift_a;
  start.perturb_v = settings->perturb_v;
  start.a = settings->n_a0 > 0 ? settings->a0 : NULL;
  start.max_change = settings->max_change;
  start.max_gap = settings->max_gap;
  return start;
}

/* Warns of a large tolerance of Newton's iteration, whose error is not seen by error control. */
static void suspect_newton(ga_context *ctx, const ga_run_settings *s)
{
  if (s->newton_tolerance > fmax(LARGE_NEWTON * s->tolerance, ga_stepper_defaults().newton.tol))
    ga__log(ctx, GA_LOG_WARNING, GA_REASON_NEWTON_TOO_LOOSE,
            &(ga__facts){GA__NUMBERS({s->newton_tolerance, NULL}, {s->tolerance, NULL})});
}

#define AFTER_START(t) ((t) + 1e-9 * (1.0 + fabs(t))) /* [s] in the first step */

/* Tolerances that are not given follow from `tolerance`; the library's defaults have the same ratio of
 * relative to absolute. */
ga_status ga_run_simulate_opts(ga_context *ctx, const ga_run_settings *settings, ga_simulate_opts *out)
{
  const ga_run_settings usual = ga_run_defaults(), *s = settings ? settings : &usual;
  if (!out) return ga__null_argument(ctx);
  const ga_status status = ga_run_check(ctx, s);
  if (status) return status;
  const struct {
    double *to, given, follows;
  } weight[] = {{&out->rtol, 0.0, s->tolerance},
                {&out->rtol_v, s->rtol_v, s->tolerance},
                {&out->rtol_x, s->rtol_x, s->tolerance},
                {&out->atol, s->atol, 1e-2 * s->tolerance},
                {&out->atol_v, s->atol_v, 1e-2 * s->tolerance},
                {&out->atol_x, s->atol_x, 1e-2 * s->tolerance}};
  for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
    *weight[i].to = weight[i].given > 0.0 ? weight[i].given : weight[i].follows;
  suspect_newton(ctx, s);
  out->t_end = s->t_end;
  out->fixed_h = s->step;
  out->h_max = s->max_step;
  out->h_min = s->min_step;
  out->h_first = s->first_step;
  out->error = s->error;
  out->norm = s->norm;
  out->error_forces = s->error_forces;
  out->output_every = s->output;
  out->defect_points = s->defect_points;
  out->project_at = s->project_velocity ? fmax(s->project_velocity_at, AFTER_START(s->t_start)) : 0.0;
  out->projection = s->project_velocity == GA_OFFSET_PROJECTION ? GA_PROJECT_OFFSET : GA_PROJECT_PLAIN;
  return GA_OK;
}

/* ---- The table ---- */

/* Limit of numbers without a limit of their own. */
#define LARGEST 1e12
#define SMALLEST 1e-15

static unsigned long methods_with(int (*looks)(const ga_method_info *m))
{
  unsigned long with = 0;
  ga_method_info info;
  for (int i = 0; ga_method_at(i, &info); i++)
    if (looks(&info)) with |= 1ul << i;
  return with;
}

static ga_setting_type type_of(const ga__field *f)
{
  switch (f->rule) {
  case GA__RULE_CHOICE:
    return GA_SETTING_CHOICE;
  case GA__RULE_FLAG:
    return GA_SETTING_FLAG;
  case GA__RULE_INTEGER:
    return GA_SETTING_INTEGER;
  default:
    return GA_SETTING_NUMBER;
  }
}

/* Where a number may lie. */
static void set_range(const ga__field *f, const ga__setting *more, ga_setting *out)
{
  const int limited = more->from != 0 || more->to != 0;
  out->least = limited                            ? more->from
               : f->rule == GA__RULE_NOT_NEGATIVE ? 0
               : f->rule == GA__RULE_POSITIVE     ? SMALLEST
                                                  : -LARGEST;
  out->most = limited ? more->to : LARGEST;
  if (f->rule != GA__RULE_INTEGER) return;
  out->least = (double)f->low;
  out->most = (double)f->high;
}

int ga_setting_at(int i, ga_setting *out)
{
  static const ga__setting plain = {.option = NULL};
  if (i < 0 || i >= N_SETTING) return 0;
  const ga__field *f = &setting_fields[i];
  const ga__setting *more = f->setting ? f->setting : &plain;
  if (!out) return 1;
  *out = (ga_setting){.name = f->name,
                      .option = more->option,
                      .offset = f->offset,
                      .type = type_of(f),
                      .unit = f->unit ? f->unit : "1",
                      .or_zero = more->or_zero,
                      .n_choices = f->n_choices,
                      .choices = f->choices,
                      .depends = more->depends,
                      .with = more->method    ? methods_with(more->method)
                              : more->depends ? more->with
                                              : ~0ul,
                      .error_control = more->error_control,
                      .of_results = more->of_results,
                      .zero_word = f->zero_word,
                      .about = more->help ? more->help : f->about};
  set_range(f, more, out);
  return 1;
}

int ga_setting_find(const char *name, ga_setting *out)
{
  for (int i = 0; name && i < N_SETTING; i++)
    if (strcmp(setting_fields[i].name, name) == 0) return ga_setting_at(i, out);
  return 0;
}

const ga__field *ga__setting_fields(int *n)
{
  *n = N_SETTING;
  return setting_fields;
}

/* ---- Checks ---- */

static double number_of(const ga_run_settings *s, const ga_setting *at)
{
  const void *member = (const char *)s + at->offset;
  return at->type == GA_SETTING_NUMBER ? *(const double *)member : *(const int *)member;
}

int ga_setting_is_used(const ga_setting *setting, const ga_run_settings *settings)
{
  ga_setting on;
  if (!setting || !settings) return 0;
  if (!setting->depends || !ga_setting_find(setting->depends, &on)) return 1;
  const int chosen = (int)number_of(settings, &on);
  return chosen >= 0 && chosen < on.n_choices && (setting->with >> chosen & 1);
}

/* "index3 or weighted": the choices of a setting that `with` has. */
static void list_choices(const ga_setting *of, unsigned long with, const char *last, char *text, size_t size)
{
  ga__writer w = {text, size, 0};
  int left = 0, first = 1;
  text[0] = '\0';
  for (int i = 0; i < of->n_choices; i++) left += (int)(with >> i & 1);
  for (int i = 0; i < of->n_choices; i++) {
    if (!(with >> i & 1)) continue;
    ga__write(&w, "%s%s", first ? "" : left > 1 ? ", " : last, of->choices[i]);
    first = 0;
    left--;
  }
}

int ga__setting_unused(const ga_setting *setting, const ga_run_settings *settings, ga_error *why)
{
  char other[GA_ERROR_NAME], value[GA_ERROR_WORD];
  ga_setting on;
  ga__facts facts = {.kind = "simulation", .field = setting->name, .name = value};
  if (!ga_setting_is_used(setting, settings) && ga_setting_find(setting->depends, &on)) {
    list_choices(&on, setting->with, " or ", other, sizeof other);
    snprintf(value, sizeof value, "%s", on.choices[(int)number_of(settings, &on)]);
    facts.other = on.name;
    facts.expected = other;
  } else if (setting->error_control && settings->step > 0.0 &&
             !(strcmp(setting->name, "accuracy") == 0 && settings->accuracy == 0.0)) {
    snprintf(value, sizeof value, "%g s: equal steps have no error control", settings->step);
    facts.other = "step";
  } else {
    return 0;
  }
  ga__error_set(why, GA_ERR_ARGUMENT, GA_REASON_SETTING_UNUSED, &facts);
  return 1;
}

ga_status ga__setting_check(ga_context *ctx, int i, const ga_run_settings *settings)
{
  ga_setting at;
  if (!ga_setting_at(i, &at)) return GA_OK;
  const int is_number = at.type == GA_SETTING_NUMBER || at.type == GA_SETTING_INTEGER;
  const double value = number_of(settings, &at), least = is_number ? at.least : 0.0,
               most = is_number                      ? at.most
                      : at.type == GA_SETTING_CHOICE ? at.n_choices - 1
                                                     : 1.0;
  if ((value >= least && value <= most) || (at.or_zero && value == 0.0)) return GA_OK;
  const char *unit = strcmp(at.unit, "1") == 0 ? NULL : at.unit;
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_SETTING_RANGE,
                    &(ga__facts){.kind = "simulation",
                                 .field = at.name,
                                 .expected = at.or_zero ? "0, or" : NULL,
                                 GA__NUMBERS({value, unit}, {least, NULL}, {most, unit})});
}

static ga_status check_end(ga_context *ctx, const ga_run_settings *s)
{
  if (s->t_end > s->t_start) return GA_OK;
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_SETTINGS_ORDER,
                    &(ga__facts){.kind = "simulation",
                                 .field = "t_end",
                                 .other = "t_start",
                                 .expected = "be above",
                                 GA__NUMBERS({s->t_end, "s"}, {s->t_start, "s"})});
}

static ga_status check_steps(ga_context *ctx, const ga_run_settings *s)
{
  if (s->max_step == 0.0 || s->min_step <= s->max_step) return GA_OK;
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_SETTINGS_ORDER,
                    &(ga__facts){.kind = "simulation",
                                 .field = "max_step",
                                 .other = "min_step",
                                 .expected = "not be below",
                                 GA__NUMBERS({s->max_step, "s"}, {s->min_step, "s"})});
}

static ga_status check_order(ga_context *ctx, const ga_run_settings *s)
{
  ga_method_info info;
  if (s->order == 0 || !ga_method_at((int)s->method, &info) || !info.has_order) return GA_OK;
  if (ga_method_has_order(s->method, s->order)) return GA_OK;
  return ga__refuse_number(ctx, "simulation", "order", s->order,
                           ga_method_has_order(s->method, 2) ? "auto (0), 2 to 8 or 10"
                                                             : "auto (0), 3 to 8 or 10");
}

static int adjusts_gamma(const ga_method_info *m)
{
  return m->adjusts_gamma;
}

/* Refuses a choice that only some methods know. */
static ga_status check_method(ga_context *ctx, const ga_run_settings *s,
                              int (*looks)(const ga_method_info *m), const char *field, const char *choice)
{
  char names[GA_ERROR_NAME];
  ga_setting method;
  const unsigned long with = methods_with(looks);
  if (with >> s->method & 1 || !ga_setting_find("method", &method)) return GA_OK;
  list_choices(&method, with, " and ", names, sizeof names);
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_SETTING_NOT_OF_METHOD,
                    &(ga__facts){.kind = "simulation",
                                 .field = field,
                                 .name = choice,
                                 .other = method_names[s->method],
                                 .expected = names});
}

static ga_status check_adjust(ga_context *ctx, const ga_run_settings *s)
{
  return s->adjust == GA_ADJUST_GAMMA ? check_method(ctx, s, adjusts_gamma, "adjust", adjust_names[s->adjust])
                                      : GA_OK;
}

static ga_status check_projection(ga_context *ctx, const ga_run_settings *s)
{
  return s->project_velocity == GA_OFFSET_PROJECTION
             ? check_method(ctx, s, has_offset, "project_velocity", "offset")
             : GA_OK;
}

static int has_auxiliary(const ga_method_info *m)
{
  return !m->has_order;
}

static ga_status check_a0(ga_context *ctx, const ga_run_settings *s)
{
  return s->n_a0 > 0 ? check_method(ctx, s, has_auxiliary, "a0", "a list") : GA_OK;
}

int ga__settings_contradiction(ga_context *ctx, int i, const ga_run_settings *settings, ga_status *status)
{
  static ga_status (*const check[])(ga_context * ctx, const ga_run_settings *s) = {
      check_end, check_steps, check_order, check_adjust, check_projection, check_a0};
  if (i < 0 || i >= (int)(sizeof check / sizeof *check)) return 0;
  *status = check[i](ctx, settings);
  return 1;
}

ga_status ga_run_check(ga_context *ctx, const ga_run_settings *settings)
{
  ga_status status = GA_OK;
  for (int i = 0; settings && i < N_SETTING && !status; i++) status = ga__setting_check(ctx, i, settings);
  for (int i = 0; settings && !status && ga__settings_contradiction(ctx, i, settings, &status); i++) {
  }
  return status;
}

/* ---- Groups of keys ---- */

static void default_settings(void *base)
{
  *(ga_run_settings *)base = ga_run_defaults();
}

int ga__setting_group(int i, ga__group *group)
{
  if (i < 0 || i > 1) return 0;
  if (i == 0)
    *group = (ga__group){.section = "",
                         .about = "keys of the model itself",
                         .n = N_GLOBAL,
                         .fields = global_fields,
                         .n_extra = 2,
                         .extra = global_extra,
                         .defaults = default_globals,
                         .size = sizeof(ga_machine_opts)};
  else
    *group = (ga__group){.section = "simulation",
                         .about = "what `galpha run` does, unless its options say otherwise",
                         .n = N_SETTING,
                         .fields = setting_fields,
                         .n_extra = 2,
                         .extra = setting_extra,
                         .defaults = default_settings,
                         .size = sizeof(ga_run_settings)};
  return 1;
}
