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
static const char *const form_about[] = {[GA_FORM_SPACE] = "R³×SO(3), angular velocity in space",
                                         [GA_FORM_BODY] = "R³×SO(3), angular velocity in the body",
                                         [GA_FORM_SE3] = "SE(3), both velocities in the body"};
#define NAME(id, name, title, about) [id] = #name,
#define ABOUT(id, name, title, about) [id] = about,
static const char *const method_names[] = {GA_METHOD_LIST(NAME)};
static const char *const method_about[] = {GA_METHOD_LIST(ABOUT)};
#undef NAME
#undef ABOUT
#define WORD(id, name, title, about) " " #name

static const char *const scheme_names[] = {
    [GA_SCHEME_RHO] = "rho", [GA_SCHEME_HHT] = "hht", [GA_SCHEME_NEWMARK] = "newmark"};
static const char *const scheme_about[] = {[GA_SCHEME_RHO] = "by `rho` (Chung and Hulbert)",
                                           [GA_SCHEME_HHT] = "by `hht_alpha` (Hilber, Hughes and Taylor)",
                                           [GA_SCHEME_NEWMARK] = "by `newmark_beta` and `newmark_gamma`"};
static const char *const adjust_names[] = {
    [GA_ADJUST_SHIFT] = "shift", [GA_ADJUST_GAMMA] = "gamma", [GA_ADJUST_NONE] = "none"};
static const char *const adjust_about[] = {
    [GA_ADJUST_SHIFT] = "the auxiliary accelerations are moved to where the new step wants them",
    [GA_ADJUST_GAMMA] = "γ of every step follows the step size; for methods of exact equilibrium",
    [GA_ADJUST_NONE] = "neither: first order as soon as steps change, for comparison"};

static const char *const error_names[] = {[GA_PER_STEP] = "per_step",
                                          [GA_PER_UNIT_STEP] = "per_unit_step",
                                          [GA_PER_UNIT_STEP_FILTERED] = "per_unit_step_filtered"};
static const char *const error_about[] = {
    [GA_PER_STEP] = "the error of every step, in positions and states, stiff motion filtered out",
    [GA_PER_UNIT_STEP] =
        "the errors of all steps together, in velocities too; stiff machines need tiny steps",
    [GA_PER_UNIT_STEP_FILTERED] = ("the errors of all steps together, in positions and states, stiff motion "
                                   "filtered out")};
static const char *const norm_names[] = {[GA_NORM_MAX] = "max", [GA_NORM_RMS] = "rms"};
static const char *const norm_about[] = {
    [GA_NORM_MAX] = "the largest", [GA_NORM_RMS] = "the root of the mean of the squares"};

static const char *const mass_names[] = {[GA_MASS_RECOMPUTE] = "recompute", [GA_MASS_PREVIOUS] = "previous"};
static const char *const mass_about[] = {[GA_MASS_RECOMPUTE] = "evaluated there",
                                         [GA_MASS_PREVIOUS] =
                                             "M a kept from the step before: one evaluation less"};
static const char *const factor_names[] = {
    [GA_REUSE] = "reuse", [GA_FRESH_STEP] = "each_step", [GA_FRESH_ITERATION] = "each_iteration"};
static const char *const factor_about[] = {
    [GA_REUSE] = "kept while the iteration converges well, over steps too",
    [GA_FRESH_STEP] = "new at the first iteration of every step",
    [GA_FRESH_ITERATION] = "new at every iteration: Newton's method itself"};
static const char *const eta_names[] = {
    [GA_ETA_AUTO] = "auto", [GA_ETA_FULL] = "full", [GA_ETA_TRIANGULAR] = "triangular"};
static const char *const eta_about[] = {
    [GA_ETA_AUTO] = "all up to 64 unknowns; beyond, `triangular` while the iteration converges well so",
    [GA_ETA_FULL] = "all: the exact derivative",
    [GA_ETA_TRIANGULAR] =
        "those of Φ only: half the cost; not near singular positions, nor with fast wheels"};
static const char *const predictor_names[] = {[GA_PREDICT_CONSTANT] = "constant",
                                              [GA_PREDICT_LINEAR] = "linear",
                                              [GA_PREDICT_QUADRATIC] = "quadratic",
                                              [GA_PREDICT_AUTO] = "auto"};
static const char *const predictor_about[] = {[GA_PREDICT_CONSTANT] = "as at the last step",
                                              [GA_PREDICT_LINEAR] = "continued linearly",
                                              [GA_PREDICT_QUADRATIC] = "by a parabola",
                                              [GA_PREDICT_AUTO] =
                                                  "the one that would have been best at the last step"};
static const char *const linear_solver_names[] = {
    [GA_LU_AUTO] = "auto", [GA_LU_DENSE] = "dense", [GA_LU_SPARSE] = "sparse", [GA_LU_BLOCKS] = "blocks"};
static const char *const linear_solver_about[] = {
    [GA_LU_AUTO] = "one of these, by size, fill and blocks",
    [GA_LU_DENSE] = "plain C for small matrices, LAPACK above",
    [GA_LU_SPARSE] = "KLU",
    [GA_LU_BLOCKS] = "dense blocks of bodies and joints; KLU where there are none"};
static const char *const redundant_names[] = {
    [GA_REDUNDANT_ACCEPT] = "accept", [GA_REDUNDANT_REFUSE] = "refuse"};
static const char *const redundant_about[] = {
    [GA_REDUNDANT_ACCEPT] = "the motion is that of the independent ones, the multipliers are the smallest",
    [GA_REDUNDANT_REFUSE] = "the matrix is singular, which is an error"};

/* Which methods use a setting. */
static int has_offset(const ga_method_info *m)
{
  return !m->keeps_rates;
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
     .about = "how rigid bodies are described"},
    {.name = "gravity",
     .offset = offsetof(ga_machine_opts, gravity),
     .count = 3,
     .rule = GA__RULE_NUMBER,
     .unit = "m/s^2",
     .about = "ground axes"},
};

static const ga__field setting_fields[] = {
    {ONE(ga_run_settings, t_start), .rule = GA__RULE_NUMBER, .unit = "s", .about = "when it begins",
     OF(.help = "begin of the simulation [s]")},
    {ONE(ga_run_settings, t_end), .rule = GA__RULE_NUMBER, .unit = "s", .about = "when it ends",
     OF(.help = "end of the simulation [s]")},
    {ONE(ga_run_settings, step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "steps of this size [s], no error control; 0: error control", .from = 1e-15, .to = 1e9,
        .or_zero = 1),
     .about = "step size; 0: error control chooses it"},
    {ONE(ga_run_settings, tolerance), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.option = "tol", .from = 1e-14, .to = 1, .error_control = 1,
        .help = "error control with this relative tolerance; absolute a hundredth of it"),
     .about = "relative tolerance of error control; the absolute one is a hundredth of it"},
    {ONE(ga_run_settings, max_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "largest step of error control [s]; 0: chosen from the model", .error_control = 1),
     .about =
         "largest step of error control; 0: ten times the distance of records, a quarter of the shortest "
         "period of a wave or sine of time, or a tenth of the run, whichever is least"},
    {ONE(ga_run_settings, min_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "smallest step of error control [s]", .error_control = 1),
     .about = "smallest step of error control; 0: 1e-12 of the run, less between breaks that are close"},
    {ONE(ga_run_settings, first_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.help = "first step of error control [s]", .error_control = 1),
     .about = "first step of error control; 0: chosen from the initial accelerations"},
    {ONE(ga_run_settings, accuracy), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     OF(.from = LEAST_ACCURACY, .to = 0.5, .or_zero = 1, .error_control = 1, .of_results = 1,
        .help = "error bars, at most this part of each signal's range (default 1e-3, or none with --tol or "
                "--step)"),
     .about =
         "error bars, which are to be at most this part of each signal's range: the tolerance follows; 0: no "
         "error bars, as where step or tolerance is given and this is not"},
    {ONE(ga_run_settings, error), .rule = GA__RULE_CHOICE, NAMES_OF(error_names),
     .choices_about = error_about,
     OF(.help = "error control: per_step, per_unit_step or per_unit_step_filtered", .error_control = 1),
     .about = "what the tolerance is compared with"},
    {ONE(ga_run_settings, norm), .rule = GA__RULE_CHOICE, NAMES_OF(norm_names), .choices_about = norm_about,
     OF(.help = "of its errors: max or rms", .error_control = 1),
     .about = "of the errors of all coordinates and states over their tolerances"},
    {ONE(ga_run_settings, atol), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute tolerance of positions, m or rad; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, rtol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "relative tolerance of velocities, where they count; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute one, m/s or rad/s; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, rtol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "relative tolerance of the states of blocks; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1", OF(.error_control = 1),
     .about = "absolute one, in the units of the states; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, defect_points), .rule = GA__RULE_INTEGER, .low = 0, .high = 1000000000,
     OF(.help = "times in a run at which the equations are checked within steps; 0: never"),
     .about = "times in a run at which the equations are checked within steps, more where records are "
              "closer; 0: never, and what acts between the ends of a step alone is not seen"},
    {ONE(ga_run_settings, method), .rule = GA__RULE_CHOICE, NAMES_OF(method_names),
     .choices_about = method_about, OF(.help = "one of" GA_METHOD_LIST(WORD)), .about = "of integration"},
    {ONE(ga_run_settings, scheme), .rule = GA__RULE_CHOICE, NAMES_OF(scheme_names),
     .choices_about = scheme_about, .about = "which parameters the method has",
     OF(.help = "parameters of the method: rho, hht or newmark")},
    {ONE(ga_run_settings, rho), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0, .to = 1, .depends = "scheme", .with = 1ul << GA_SCHEME_RHO,
        .help = "spectral radius at infinity, from 0 (damps most) to 1 (damps nothing)"),
     .about = "spectral radius at infinity, 0 to 1: 1 damps nothing"},
    {ONE(ga_run_settings, hht_alpha), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = -1.0 / 3.0, .to = 0, .depends = "scheme", .with = 1ul << GA_SCHEME_HHT),
     .about = "of HHT, from -1/3, which damps most, to 0, which damps nothing"},
    {ONE(ga_run_settings, newmark_beta), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0.25, .to = 1, .depends = "scheme", .with = 1ul << GA_SCHEME_NEWMARK),
     .about = "of Newmark, from 1/4 to 1"},
    {ONE(ga_run_settings, newmark_gamma), .rule = GA__RULE_NUMBER, .unit = "1",
     OF(.from = 0.5, .to = 0.5, .depends = "scheme", .with = 1ul << GA_SCHEME_NEWMARK),
     .about = "of Newmark; 1/2, since all else is of first order"},
    {ONE(ga_run_settings, commutator), .rule = GA__RULE_FLAG,
     .about = "the term of order h² in the update of rotations; false: as in the papers"},
    {ONE(ga_run_settings, adjust), .rule = GA__RULE_CHOICE, NAMES_OF(adjust_names),
     .choices_about = adjust_about, .about = "what keeps order 2 when the step size changes",
     OF(.help = "what keeps order 2 when steps change: shift, gamma or none")},
    {ONE(ga_run_settings, move_offset), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_offset,
        .help = "velocities across the constraints follow the step size (index3, weighted)"),
     .about = "methods that constrain positions only: velocities across the constraints follow the step "
              "size, without which forces of constraints lose order 2"},
    {ONE(ga_run_settings, mass_alpha), .rule = GA__RULE_CHOICE, NAMES_OF(mass_names),
     .choices_about = mass_about,
     OF(.depends = "method", .method = weighs_masses,
        .help = "weighted methods: the mass matrix between steps, recompute or previous"),
     .about = "weighted methods: the mass matrix at the time between steps that they need it at"},
    {ONE(ga_run_settings, full_solve), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_two_sets,
        .help = "never the small matrix for forces that are not stiff (soi2, hht_soi2)"),
     .about = "weighted methods with two sets of unknowns: true: never the small matrix that does for forces "
              "that are not stiff"},
    {ONE(ga_run_settings, newton_tolerance), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.from = 1e-15, .to = 1e-3, .help = "relative tolerance of Newton's iteration"),
     .about = "of Newton's iteration, relative: what it may leave of accelerations, forces of constraints, "
              "states and outputs"},
    {ONE(ga_run_settings, newton_iterations), .rule = GA__RULE_INTEGER, .low = 1, .high = 1000,
     .about = "the most iterations of a step"},
    {ONE(ga_run_settings, newton_factors), .rule = GA__RULE_CHOICE, NAMES_OF(factor_names),
     .choices_about = factor_about, .about = "when the iteration matrix is evaluated and factored",
     OF(.help = "of the iteration matrix: reuse, each_step or each_iteration")},
    {ONE(ga_run_settings, newton_patience), .rule = GA__RULE_INTEGER, .low = 0, .high = 1000,
     OF(.depends = "newton_factors", .with = 1ul << GA_REUSE),
     .about = "iterations still expected above which reused factors are renewed"},
    {ONE(ga_run_settings, eta_terms), .rule = GA__RULE_CHOICE, NAMES_OF(eta_names),
     .choices_about = eta_about,
     OF(.depends = "method", .method = has_eta,
        .help = "in the iteration matrix of the stabilized form: auto, full or triangular"),
     .about = "terms in the columns of η of the iteration matrix"},
    {ONE(ga_run_settings, predictor), .rule = GA__RULE_CHOICE, NAMES_OF(predictor_names),
     .choices_about = predictor_about, .about = "first values of accelerations and forces of a step",
     OF(.help = "first values of a step: constant, linear, quadratic or auto")},
    {ONE(ga_run_settings, linear_solver), .rule = GA__RULE_CHOICE, NAMES_OF(linear_solver_names),
     .choices_about = linear_solver_about, .about = "of linear equations",
     OF(.help = "of linear equations: auto, dense, sparse or blocks")},
    {ONE(ga_run_settings, redundant), .rule = GA__RULE_CHOICE, NAMES_OF(redundant_names),
     .choices_about = redundant_about, .about = "constraints that follow from others",
     OF(.help = "constraints that follow from others: accept or refuse")},
    {ONE(ga_run_settings, from_equilibrium), .rule = GA__RULE_FLAG,
     OF(.help = "begin at a static equilibrium, near the initial positions"),
     .about = "the start is at a static equilibrium, found from the initial positions and states; velocities "
              "stay as they are given"},
    {ONE(ga_run_settings, project), .rule = GA__RULE_FLAG,
     .about = "the start moves positions and velocities onto the constraints"},
    {ONE(ga_run_settings, shift_a), .rule = GA__RULE_FLAG,
     .about = "the start shifts the auxiliary accelerations, without which they are of first order"},
    {ONE(ga_run_settings, perturb_v), .rule = GA__RULE_FLAG,
     OF(.depends = "method", .method = has_offset,
        .help = "the start perturbs velocities for forces of order 2 (index3, weighted)"),
     .about = "methods that constrain positions only: the start perturbs velocities, which keeps forces of "
              "constraints at order 2"},
    {ONE(ga_run_settings, max_change), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.help = "what the start may move by to meet the constraints (max_change)"),
     .about = "what the start may move positions and velocities by to meet the constraints, relative to 1 + "
              "the largest"},
    {ONE(ga_run_settings, max_gap), .rule = GA__RULE_POSITIVE, .unit = "1",
     OF(.help = "what constraints that follow from others may be apart at the start"),
     .about = "what constraints that follow from others may be apart at the start, relative to 1 + the "
              "largest position or velocity"},
    {ONE(ga_run_settings, output), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     OF(.from = 0, .to = 1e9, .of_results = 1, .help = "distance of records [s]; 0: every step"),
     .about = "distance of records; 0: every step"},
};
enum {
  N_GLOBAL = sizeof global_fields / sizeof global_fields[0],
  N_SETTING = sizeof setting_fields / sizeof setting_fields[0]
};

static const ga__extra global_extra[] = {
    {"galpha", "1", "version of the format; needed"},
    {"title", "text", "for plots and reports"},
};
static const ga__extra setting_extra[] = {
    {"record", "texts",
     "signals to record, all where not given; `*` stands for any letters: `arm.*`, `*.angle`"}};

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
                           .defect_points = simulate.defect_points,
                           .method = stepper.method,
                           .rho = 0.8,
                           .hht_alpha = -1.0 / 9.0,
                           .newmark_beta = 0.25,
                           .newmark_gamma = 0.5,
                           .commutator = stepper.commutator,
                           .adjust = stepper.adjust,
                           .move_offset = stepper.move_offset,
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
  out->output_every = s->output;
  out->defect_points = s->defect_points;
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

static int adjusts_gamma(const ga_method_info *m)
{
  return m->adjusts_gamma;
}

static ga_status check_adjust(ga_context *ctx, const ga_run_settings *s)
{
  char names[GA_ERROR_NAME];
  ga_setting method;
  const unsigned long with = methods_with(adjusts_gamma);
  if (s->adjust != GA_ADJUST_GAMMA || with >> s->method & 1 || !ga_setting_find("method", &method))
    return GA_OK;
  list_choices(&method, with, " and ", names, sizeof names);
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_SETTING_NOT_OF_METHOD,
                    &(ga__facts){.kind = "simulation",
                                 .field = "adjust",
                                 .name = adjust_names[s->adjust],
                                 .other = method_names[s->method],
                                 .expected = names});
}

int ga__settings_contradiction(ga_context *ctx, int i, const ga_run_settings *settings, ga_status *status)
{
  static ga_status (*const check[])(ga_context * ctx, const ga_run_settings *s) = {check_end, check_steps,
                                                                                   check_adjust};
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
                         .n_extra = 1,
                         .extra = setting_extra,
                         .defaults = default_settings,
                         .size = sizeof(ga_run_settings)};
  return 1;
}
