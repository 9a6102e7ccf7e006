/* What a model says once: title, gravity, the form of rigid bodies, and how it is to be simulated. */
#include "model/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGE_GRAVITY 100 /* [m/s²] more is suspicious */

#define LEAST_ACCURACY 1e-8 /* [-] below, rounding would be taken for errors */

#define NAMES_OF(list) .choices = (list), .n_choices = (int)(sizeof(list) / sizeof((list)[0]))
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
    {ONE(ga_run_settings, t_start), .rule = GA__RULE_NUMBER, .unit = "s", .about = "when it begins"},
    {ONE(ga_run_settings, t_end), .rule = GA__RULE_NUMBER, .unit = "s", .about = "when it ends"},
    {ONE(ga_run_settings, step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .about = "step size; 0: error control chooses it"},
    {ONE(ga_run_settings, tolerance), .rule = GA__RULE_POSITIVE, .unit = "1",
     .about = "relative tolerance of error control; the absolute one is a hundredth of it"},
    {ONE(ga_run_settings, max_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .help = "largest step of error control [s]; 0: chosen from the model",
     .about =
         "largest step of error control; 0: ten times the distance of records, a quarter of the shortest "
         "period of a wave or sine of time, or a tenth of the run, whichever is least"},
    {ONE(ga_run_settings, min_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .help = "smallest step of error control [s]",
     .about = "smallest step of error control; 0: 1e-12 of the run, less between breaks that are close"},
    {ONE(ga_run_settings, first_step), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
     .help = "first step of error control [s]",
     .about = "first step of error control; 0: chosen from the initial accelerations"},
    {ONE(ga_run_settings, accuracy), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about =
         "error bars, which are to be at most this part of each signal's range: the tolerance follows; 0: no "
         "error bars, as where step or tolerance is given and this is not"},
    {ONE(ga_run_settings, error), .rule = GA__RULE_CHOICE, NAMES_OF(error_names),
     .choices_about = error_about, .help = "error control: per_step, per_unit_step or per_unit_step_filtered",
     .about = "what the tolerance is compared with"},
    {ONE(ga_run_settings, norm), .rule = GA__RULE_CHOICE, NAMES_OF(norm_names), .choices_about = norm_about,
     .help = "of its errors: max or rms",
     .about = "of the errors of all coordinates and states over their tolerances"},
    {ONE(ga_run_settings, atol), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "absolute tolerance of positions, m or rad; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, rtol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "relative tolerance of velocities, where they count; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_v), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "absolute one, m/s or rad/s; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, rtol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "relative tolerance of the states of blocks; 0: `tolerance`"},
    {ONE(ga_run_settings, atol_x), .rule = GA__RULE_NOT_NEGATIVE, .unit = "1",
     .about = "absolute one, in the units of the states; 0: a hundredth of `tolerance`"},
    {ONE(ga_run_settings, method), .rule = GA__RULE_CHOICE, NAMES_OF(method_names),
     .choices_about = method_about, .help = "one of" GA_METHOD_LIST(WORD), .about = "of integration"},
    {ONE(ga_run_settings, scheme), .rule = GA__RULE_CHOICE, NAMES_OF(scheme_names),
     .choices_about = scheme_about, .about = "which parameters the method has",
     .help = "parameters of the method: rho, hht or newmark"},
    {ONE(ga_run_settings, rho), .rule = GA__RULE_NUMBER, .unit = "1", .from = 0, .to = 1,
     .only = 1ul << GA_SCHEME_RHO, .about = "spectral radius at infinity, 0 to 1: 1 damps nothing",
     .help = "spectral radius at infinity, from 0 (damps most) to 1 (damps nothing)"},
    {ONE(ga_run_settings, hht_alpha), .rule = GA__RULE_NUMBER, .unit = "1", .from = -1.0 / 3.0, .to = 0,
     .only = 1ul << GA_SCHEME_HHT, .about = "of HHT, from -1/3, which damps most, to 0, which damps nothing"},
    {ONE(ga_run_settings, newmark_beta), .rule = GA__RULE_NUMBER, .unit = "1", .from = 0.25, .to = 1,
     .only = 1ul << GA_SCHEME_NEWMARK, .about = "of Newmark, from 1/4 to 1"},
    {ONE(ga_run_settings, newmark_gamma), .rule = GA__RULE_NUMBER, .unit = "1", .from = 0.5, .to = 0.5,
     .only = 1ul << GA_SCHEME_NEWMARK, .about = "of Newmark; 1/2, since all else is of first order"},
    {ONE(ga_run_settings, commutator), .rule = GA__RULE_FLAG,
     .about = "the term of order h² in the update of rotations; false: as in the papers"},
    {ONE(ga_run_settings, adjust), .rule = GA__RULE_CHOICE, NAMES_OF(adjust_names),
     .choices_about = adjust_about, .about = "what keeps order 2 when the step size changes",
     .help = "what keeps order 2 when steps change: shift, gamma or none"},
    {ONE(ga_run_settings, project), .rule = GA__RULE_FLAG,
     .about = "the start moves positions and velocities onto the constraints"},
    {ONE(ga_run_settings, shift_a), .rule = GA__RULE_FLAG,
     .about = "the start shifts the auxiliary accelerations, without which they are of first order"},
    {ONE(ga_run_settings, perturb_v), .rule = GA__RULE_FLAG,
     .about = "`index3`: the start perturbs velocities, which keeps forces of constraints at order 2"},
    {ONE(ga_run_settings, max_change), .rule = GA__RULE_POSITIVE, .unit = "1",
     .help = "what the start may move by to meet the constraints (max_change)",
     .about = "what the start may move positions and velocities by to meet the constraints, relative to 1 + "
              "the largest"},
    {ONE(ga_run_settings, output), .rule = GA__RULE_NOT_NEGATIVE, .unit = "s",
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
  return (ga_run_settings){.t_end = 1,
                           .tolerance = 1e-4,
                           .accuracy = 1e-3,
                           .accuracy_by_default = 1,
                           .method = stepper.method,
                           .rho = 0.8,
                           .hht_alpha = -1.0 / 9.0,
                           .newmark_beta = 0.25,
                           .newmark_gamma = 0.5,
                           .commutator = stepper.commutator,
                           .adjust = stepper.adjust,
                           .project = start.project,
                           .shift_a = start.shift_a,
                           .perturb_v = start.perturb_v,
                           .max_change = start.max_change};
}

ga_status ga_run_stepper_opts(ga_context *ctx, const ga_run_settings *settings, ga_stepper_opts *out)
{
  const ga_run_settings usual = ga_run_defaults(), *s = settings ? settings : &usual;
  if (!out) return ga__fail(ctx, GA_ERR_ARGUMENT, "settings: out is NULL");
  *out = ga_stepper_defaults();
  out->method = s->method;
  out->commutator = s->commutator;
  out->adjust = s->adjust;
  switch (s->scheme) {
  case GA_SCHEME_RHO:
    return ga_scheme_rho(ctx, s->rho, &out->scheme);
  case GA_SCHEME_HHT:
    return ga_scheme_hht(ctx, s->hht_alpha, &out->scheme);
  case GA_SCHEME_NEWMARK:
    return ga_scheme_newmark(ctx, s->newmark_beta, s->newmark_gamma, &out->scheme);
  }
  return ga__fail(ctx, GA_ERR_ARGUMENT, "settings: there is no scheme %d", (int)s->scheme);
}

ga_start_opts ga_run_start_opts(const ga_run_settings *settings)
{
  ga_start_opts start = ga_start_defaults();
  if (!settings) return start;
  start.project = settings->project;
  start.shift_a = settings->shift_a;
  start.perturb_v = settings->perturb_v;
  start.max_change = settings->max_change;
  return start;
}

/* Of numbers that have no limit of their own. */
#define LARGEST 1e12
#define SMALLEST 1e-15

int ga_setting_at(int i, ga_setting *out)
{
  if (i < 0 || i >= N_SETTING) return 0;
  const ga__field *f = &setting_fields[i];
  const int limited = f->from != 0 || f->to != 0;
  if (!out) return 1;
  *out = (ga_setting){.name = f->name,
                      .offset = f->offset,
                      .type = f->rule == GA__RULE_CHOICE ? GA_SETTING_CHOICE
                              : f->rule == GA__RULE_FLAG ? GA_SETTING_FLAG
                                                         : GA_SETTING_NUMBER,
                      .unit = f->unit ? f->unit : "1",
                      .least = limited                            ? f->from
                               : f->rule == GA__RULE_NOT_NEGATIVE ? 0
                               : f->rule == GA__RULE_POSITIVE     ? SMALLEST
                                                                  : -LARGEST,
                      .most = limited ? f->to : LARGEST,
                      .n_choices = f->n_choices,
                      .choices = f->choices,
                      .schemes = f->only ? f->only : ~0ul,
                      .about = f->help ? f->help : f->about};
  return 1;
}

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

/* ---- Reading ---- */

void ga__read_globals(ga__reader *reader, ga__tree *root, ga__globals *out)
{
  ga__owner owner = {.what = "the model", .kind = -1};
  ga__tree *version = ga__map_get(root, "galpha"), *title = ga__map_get(root, "title");
  long number = 0;
  out->title = "";
  default_globals(&out->machine);
  if (!version)
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, root->at,
            "the version of the format is missing; expected the line 'galpha: 1'");
  else
    ga__value_int(reader->r, version, 1, 1, GA__VERSION_KEY, &number);
  if (title) ga__value_text(reader->r, title, "title", &out->title);
  ga__read_fields(reader, root, N_GLOBAL, global_fields, &owner, &out->machine);
  out->gives_gravity = ga__map_get(root, "gravity") != NULL;
  const double *g = out->machine.gravity, length = hypot(hypot(g[0], g[1]), g[2]);
  if (length > LARGE_GRAVITY)
    ga__say(reader->r->messages, GA_MESSAGE_WARNING, ga__map_get(root, "gravity")->at,
            "gravity of the model is %g m/s²; is it in mm/s^2?", length);
}

static void suspect_settings(ga__reader *reader, ga__tree *map, const ga_run_settings *s)
{
  const ga__tree *step = ga__map_get(map, "step"), *tolerance = ga__map_get(map, "tolerance"),
                 *accuracy = ga__map_get(map, "accuracy");
  if (s->step > 0 && accuracy && s->accuracy > 0)
    ga__say(reader->r->messages, GA_MESSAGE_WARNING, accuracy->key_at,
            "simulation: accuracy is not used, for step gives the size of all steps");
  if (s->step > 0 && tolerance)
    ga__say(reader->r->messages, GA_MESSAGE_WARNING, tolerance->key_at,
            "simulation: tolerance is not used, for step gives the size of all steps");
  if (s->step > s->t_end - s->t_start && s->t_end > s->t_start)
    ga__say(reader->r->messages, GA_MESSAGE_WARNING, step->at,
            "simulation: step is %g s, more than the %g s from t_start to t_end", s->step,
            s->t_end - s->t_start);
}

/* Numbers with limits of their own; parameters that another scheme than the one chosen looks at. */
static void check_ranges(ga__reader *reader, ga__tree *map, const ga_run_settings *s)
{
  for (int i = 0; i < N_SETTING; i++) {
    const ga__field *f = &setting_fields[i];
    const ga__tree *at = ga__map_get(map, f->name);
    if (!at || !f->only) continue;
    const double value = *(const double *)(const void *)((const char *)s + f->offset);
    if (!(f->only >> s->scheme & 1))
      ga__say(reader->r->messages, GA_MESSAGE_ERROR, at->key_at,
              "simulation: %s is given, but the scheme is %s; expected one that looks at it", f->name,
              scheme_names[s->scheme]);
    else if (!(value >= f->from && value <= f->to))
      ga__say(reader->r->messages, GA_MESSAGE_ERROR, at->at, "simulation: %s is %g; it must be from %g to %g",
              f->name, value, f->from, f->to);
  }
}

static void check_settings(ga__reader *reader, ga__tree *map, const ga_run_settings *s)
{
  const ga__tree *end = ga__map_get(map, "t_end");
  if (!(s->t_end > s->t_start))
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, end ? end->at : map->key_at,
            "simulation: t_end is %g s; it must be above t_start, which is %g s", s->t_end, s->t_start);
  const ga__tree *most = ga__map_get(map, "max_step");
  if (s->max_step > 0 && s->min_step > s->max_step)
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, most ? most->at : map->key_at,
            "simulation: max_step is %g s, below min_step, which is %g s", s->max_step, s->min_step);
  if (!(s->accuracy == 0 || (s->accuracy >= LEAST_ACCURACY && s->accuracy <= 0.5)))
    ga__say(reader->r->messages, GA_MESSAGE_ERROR, ga__map_get(map, "accuracy")->at,
            "simulation: accuracy is %g; it must be from %g to 0.5, or 0 for no error bars", s->accuracy,
            LEAST_ACCURACY);
  check_ranges(reader, map, s);
}

void ga__read_settings(ga__reader *reader, ga__tree *root, ga_run_settings *settings)
{
  static const char *const more[] = {"record"};
  ga__owner owner = {.what = "simulation", .kind = -1};
  ga__tree *map = ga__map_get(root, "simulation");
  if (!map || !ga__expect_map(reader->r, map, "simulation")) return;
  const int good = ga__read_fields(reader, map, N_SETTING, setting_fields, &owner, settings);
  ga__tree *record = ga__map_get(map, "record");
  const char **names;
  if (record && ga__read_texts(reader, record, "record of simulation", &settings->n_record, &names))
    settings->record = names;
  else
    settings->n_record = 0;
  for (int i = 0; i < settings->n_record; i++) {
    ga__named *part = ga__directory_head(&reader->parts, settings->record[i], strlen(settings->record[i]));
    if (part) part->used = 1;
  }
  ga__finish_keys(reader, map, N_SETTING, setting_fields, &owner, 1, more);
  const int given = ga__map_get(map, "accuracy") != NULL,
            chosen = ga__map_get(map, "step") || ga__map_get(map, "tolerance");
  settings->accuracy_by_default = !given && !chosen;
  if (settings->step > 0 || (chosen && !given)) settings->accuracy = 0;
  if (good) check_settings(reader, map, settings);
  if (good) suspect_settings(reader, map, settings);
}
