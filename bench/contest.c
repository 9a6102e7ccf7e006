#include "contest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const contest_problem problems[] = {
    {.name = "andrews", .steps = 100},
    {.name = "heavy_top", .steps = 60},
    {.name = "heavy_top_papers", .steps = 60},
    {.name = "spring_mass", .steps = 12},
    {.name = "chain10", .steps = 125},
    {.name = "chain100", .steps = 1000},
    {.name = "spherical10", .rods = 10, .kind = SPATIAL_SPHERICAL},
    {.name = "spherical20", .rods = 20, .kind = SPATIAL_SPHERICAL},
    {.name = "spherical95", .rods = 95, .kind = SPATIAL_SPHERICAL, .full = 2},
    {.name = "spherical100", .rods = 100, .kind = SPATIAL_SPHERICAL},
    {.name = "spherical400", .rods = 400, .kind = SPATIAL_SPHERICAL, .full = 1},
    {.name = "revolute10", .rods = 10, .kind = SPATIAL_REVOLUTE},
    {.name = "revolute20", .rods = 20, .kind = SPATIAL_REVOLUTE},
    {.name = "revolute95", .rods = 95, .kind = SPATIAL_REVOLUTE, .full = 2},
    {.name = "revolute100", .rods = 100, .kind = SPATIAL_REVOLUTE},
};

const contest_problem *contest_problem_at(int i)
{
  return i < (int)(sizeof problems / sizeof *problems) ? &problems[i] : NULL;
}

/* ---- Codes --------------------------------------------------------------------------------------------- */

#define HALF_DECADE 0.31622776601683794
static const double finest = 1e-8;      /* the last error of the comparison of orders */
static const double fine_of_two = 9e-6; /* and of methods of order 2 with equal steps */
static const char *const no_options[] = {"", NULL};

static contest_code *code_add(contest *c, const char *key, const char *title, contest_mode mode)
{
  contest_code *code = &c->codes[c->n_codes++];
  *code = (contest_code){.mode = mode,
                         .setting = "tolerance",
                         .options = no_options,
                         .first = 1.0,
                         .factor = HALF_DECADE,
                         .fine = finest,
                         .enough = 2};
  snprintf(code->key, sizeof code->key, "%s", key);
  snprintf(code->title, sizeof code->title, "%s", title);
  return code;
}

/* The defaults, and the orders that they choose among, one by one. */
static void add_automatic(contest *c)
{
  code_add(c, "automatic", "galpha, automatic", CONTEST_AUTOMATIC)->method = GA_AUTOMATIC;
  for (int order = 4; order <= 10; order += 2) {
    char key[16], title[32];
    snprintf(key, sizeof key, "order_%d", order);
    snprintf(title, sizeof title, "galpha, order %d", order);
    contest_code *code = code_add(c, key, title, CONTEST_AUTOMATIC);
    code->method = GA_COLLOCATION;
    code->order = order;
  }
  contest_code *two = code_add(c, "order_2", "galpha, order 2", CONTEST_AUTOMATIC);
  two->method = GA_STABILIZED;
  two->fine = fine_of_two;
}

/* Methods that keep positions alone are, without constraints, those that keep rates too; but HHT is not. With
 * equal steps the automatic method is the stabilized one. */
static int applies(ga_method method, const ga_method_info *info, const contest *c)
{
  if (method == GA_AUTOMATIC) return 0;
  return info->keeps_rates || info->hht || c->task.def.n_lambda > 0;
}

/* All methods with equal steps, and error control of two kinds. */
static void add_methods(contest *c)
{
  ga_method_info info;
  for (int i = 0; ga_method_at(i, &info); i++) {
    if (!applies((ga_method)i, &info, c)) continue;
    contest_code *code = code_add(c, info.name, info.title, CONTEST_EQUAL);
    code->method = (ga_method)i;
    code->setting = "steps";
    code->first = c->what->steps, code->factor = 2.0;
    code->fine = fine_of_two, code->enough = 1;
  }
  static const struct {
    const char *key, *title;
    ga_method method;
    contest_mode mode;
  } rows[] = {
      {"stabilized_per_step", "stabilized, per step", GA_STABILIZED, CONTEST_PER_STEP},
      {"stabilized_per_unit_step", "stabilized, per unit step", GA_STABILIZED, CONTEST_PER_UNIT_STEP},
      {"soi2_per_step", "SOI2, per step", GA_SOI2, CONTEST_PER_STEP},
      {"soi2_per_unit_step", "SOI2, per unit step", GA_SOI2, CONTEST_PER_UNIT_STEP},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    contest_code *code = code_add(c, rows[i].key, rows[i].title, rows[i].mode);
    code->method = rows[i].method;
    code->first = rows[i].mode == CONTEST_PER_STEP ? 1e-2 : 10.0;
    code->fine = fine_of_two, code->enough = rows[i].mode == CONTEST_PER_STEP ? 2 : 1;
  }
}

static void add_peers(contest *c, int full)
{
  static const char *const ida_key[] = {"ida_ggl", "ida_index1"}, *const ida_title[] = {"IDA, GGL",
                                                                                        "IDA, index 1"};
  if (c->what->rods == 0) {
    for (int form = 0; form < IDA_N_FORMS && c->task.ida; form++) {
      contest_code *code = code_add(c, ida_key[form], ida_title[form], CONTEST_IDA);
      code->form = (ida_form)form;
      code->options = ida_peer_options;
      code->first = 1e-2; /* of looser ones some get stuck, and none has a useful error */
    }
    return;
  }
  for (const spatial_peer *const *peer = spatial_peers(); *peer; peer++) {
    if (c->what->full == 2 && !full && strncmp((*peer)->name, "ida", 3) == 0) continue;
    void *model = (*peer)->open(&c->chain);
    if (!model) {
      printf("  %s cannot take a chain of %d rods\n", (*peer)->title, c->what->rods);
      continue;
    }
    c->model[c->n_codes] = model;
    contest_code *code = code_add(c, (*peer)->name, (*peer)->title, CONTEST_SPATIAL_PEER);
    code->peer = *peer;
    code->setting = (*peer)->setting;
    code->options = (*peer)->options;
    code->first = (*peer)->first, code->factor = (*peer)->factor;
  }
}

/* ---- Open and close ------------------------------------------------------------------------------------ */

int contest_open(contest *c, const contest_problem *what, int full)
{
  int rc;
  *c = (contest){.what = what, .limit = full ? 600.0 : 10.0};
  if (what->rods > 0) {
    c->chain = spatial_chain_make(what->kind, what->rods);
    snprintf(c->title, sizeof c->title, "spatial chain of %d rods, %s joints", what->rods,
             spatial_kind_name(what->kind));
    c->error = "position of the tip [m]";
    rc = spatial_machine_open(&c->machine, what->kind, what->rods);
  } else {
    const bench_case *found = bench_case_find(what->name);
    snprintf(c->title, sizeof c->title, "%s", found->title);
    c->error = found->error;
    rc = bench_open(&c->task, found);
  }
  if (rc != 0) return rc;
  add_automatic(c);
  if (what->rods == 0) add_methods(c);
  add_peers(c, full);
  return 0;
}

void contest_close(contest *c)
{
  for (int i = 0; i < c->n_codes; i++)
    if (c->model[i]) c->codes[i].peer->close(c->model[i]);
  c->n_codes = 0;
  if (c->what->rods > 0)
    spatial_machine_close(&c->machine);
  else
    bench_close(&c->task);
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

static int finish_machine(const contest *c, const ga_stepper *st, ga_status status, point *out)
{
  if (status) {
    snprintf(out->why, sizeof out->why, "%.150s", ga_context_error(c->machine.ctx)->text);
    return status;
  }
  const ga_stats *s = ga_stepper_stats(st);
  out->error = spatial_machine_error(&c->machine, ga_stepper_state(st));
  out->steps = (double)s->steps;
  out->iterations = (double)s->iterations;
  out->factorisations = (double)s->factorisations;
  return 0;
}

/* The machine, as bench_controlled() runs a case. */
static int run_machine(const contest *c, const ga_stepper_opts *ours, point *out)
{
  const spatial_machine *m = &c->machine;
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  const ga_simulate_opts run = bench_tolerances(ga_simulate_defaults(), m->chain.t_end, out->setting);
  ga_status status = ga_stepper_create(m->ctx, m->sys, ours, &st);
  if (!status) status = ga_simulator_create(m->ctx, st, &run, &sim);
  if (!status) status = ga_simulator_start(sim, NULL, 0.0, m->q0, m->v0, NULL, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(sim);
  const int result = finish_machine(c, st, status, out);
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  return result;
}

static int run_ours(contest *c, const contest_code *code, point *out)
{
  bench_task *t = &c->task;
  ga_stepper_opts ours = ga_stepper_defaults();
  ga_method_info info;
  ours.method = code->method;
  ours.order = code->order;
  if (c->what->rods > 0) return run_machine(c, &ours, out);
  ours.commutator = !t->what->no_commutator;
  t->control = ga_simulate_defaults();
  if (code->mode != CONTEST_AUTOMATIC) {
    ours.newton.tol = t->what->newton_tol;
    if (code->mode == CONTEST_PER_UNIT_STEP) t->control.error = GA_PER_UNIT_STEP;
    if (ga_method_at((int)code->method, &info) && info.hht)
      ga_scheme_hht(NULL, -1.0 / 9.0, &ours.scheme); /* ρ∞ = (1+α)/(1−α) = 0.8 */
  }
  t->ours = ours;
  return code->mode == CONTEST_EQUAL ? bench_steps(t, out) : bench_controlled(t, out);
}

static int run_spatial(contest *c, const contest_code *code, int option, point *out)
{
  spatial_outcome o = {.limit = c->limit};
  const int rc = code->peer->run(c->model[code - c->codes], option, out->setting, &o);
  if (rc != 0) {
    memcpy(out->why, o.why, sizeof out->why);
    return rc;
  }
  out->error = spatial_chain_error(&c->chain, o.tip);
  out->steps = o.steps;
  out->iterations = o.iterations;
  out->factorisations = o.factorisations;
  if (isfinite(out->error)) return 0;
  snprintf(out->why, sizeof out->why, "the tip is lost");
  return -1;
}

int contest_run(contest *c, const contest_code *code, int option, point *out)
{
  if (code->mode == CONTEST_SPATIAL_PEER) return run_spatial(c, code, option, out);
  if (code->mode != CONTEST_IDA) return run_ours(c, code, out);
  bench_theirs(&c->task, code->form);
  return ida_peer_set(c->task.ida, option, &c->task.theirs) ? bench_ida(&c->task, out) : SPATIAL_SKIPPED;
}

double contest_reference_off(contest *c)
{
  const contest_code ten = {.mode = CONTEST_AUTOMATIC, .method = GA_COLLOCATION, .order = 10};
  point p = {.setting = 1e-12, .error = NAN};
  if (contest_run(c, &ten, 0, &p) != 0) fprintf(stderr, "%s: %s\n", c->what->name, p.why);
  return p.error;
}
