/* Terms of machines that depend on a parameter: over all example models and all of their parameters the
 * values of these terms change with the parameter as those of all terms do; and what is selected. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/system.h"
#include "galpha/model.h"
#include "mbs/selected.h"
#include "../seeds.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fine(const ga_context *ctx, ga_status status)
{
  if (status) fail_msg("%s: %s", ga_status_text(status), ga_context_error(ctx)->text);
}

/* ---- All models ---- */

enum { POINTS = 3, LEAST_MODELS = 60, LEAST_PARAMETERS = 1000 };

typedef struct tally {
  int models, parameters, restricted, refused;
  double worst; /* disagreement, over the size of the terms */
} tally;

/* An arbitrary state near the start: positions are moved by a little, all others are not in equilibrium. */
typedef struct place {
  double *block, *q, *v, *vdot, *lambda, *psi, *x, *y;
  double t;
} place;

static place place_make(const ga_model *model, rig_random *random)
{
  const ga_machine *m = ga_model_machine(model);
  const ga_system *sys = ga_machine_system(m);
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI],
            nx = sys->size[GA_BLOCK_X], ny = sys->size[GA_BLOCK_Y];
  place p = {.block = calloc((size_t)(2 * sys->nq + 4 * nv + nl + np + nx + ny) + 1, sizeof(double))};
  double *from = p.block, *move = from + sys->nq;
  p.q = move + nv, p.v = p.q + sys->nq, p.vdot = p.v + nv, p.lambda = p.vdot + nv, p.psi = p.lambda + nl;
  p.x = p.psi + np, p.y = p.x + nx;
  assert_int_equal(ga_machine_initial(m, from, p.v, p.x), GA_OK);
  for (int i = 0; i < nv; i++) {
    move[i] = rig_uniform(random, -0.02, 0.02);
    p.v[i] += rig_uniform(random, -0.5, 0.5);
    p.vdot[i] = rig_uniform(random, -5.0, 5.0);
  }
  ga_group_move(sys->group, p.q, from, move);
  for (int i = 0; i < nl; i++) p.lambda[i] = rig_uniform(random, -50.0, 50.0);
  for (int i = 0; i < np; i++) p.psi[i] = rig_uniform(random, -5.0, 5.0);
  for (int i = 0; i < nx; i++) p.x[i] += rig_uniform(random, -0.1, 0.1);
  for (int i = 0; i < ny; i++) p.y[i] = rig_uniform(random, -1.0, 1.0);
  p.t = rig_uniform(random, 0.0, 1.5);
  return p;
}

/* Values and rates [n + n_lambda] of a system; returns what its sweep does. */
static int values_of(const ga_system *sys, const place *at, double *out)
{
  const int *start = sys->start;
  const ga_point p = {at->t, at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y, 0, NULL};
  ga_sweep s = {.dynamics = out,
                .phi = out + start[GA_BLOCK_LAMBDA],
                .k = out + start[GA_BLOCK_PSI],
                .state = out + start[GA_BLOCK_X],
                .output = out + start[GA_BLOCK_Y],
                .phi_dot = out + sys->n};
  return sys->def.sweep(sys->def.user, &p, &s);
}

/* The largest |(all_k − all_0) − (part_k − part_0)| over the size of all values. */
static double compare(const ga_system *const all[2], const ga_system *const part[2], const place *at)
{
  const int n = all[0]->n + all[0]->size[GA_BLOCK_LAMBDA];
  double *value[4], worst = 0.0, size = 1e-3;
  int failed = 0;
  for (int i = 0; i < 4; i++) value[i] = calloc((size_t)n + 1, sizeof **value);
  for (int i = 0; i < 2 && !failed; i++) failed = values_of(all[i], at, value[i]);
  for (int i = 0; i < 2 && !failed; i++) {
    for (int k = 0; k < n; k++) value[2 + i][k] = 1e3; /* nothing is left from before */
    assert_int_equal(values_of(part[i], at, value[2 + i]), 0);
  }
  for (int k = 0; k < n && !failed; k++) {
    size = fmax(size, fmax(fabs(value[0][k]), fabs(value[1][k])));
    worst = fmax(worst, fabs((value[1][k] - value[0][k]) - (value[3][k] - value[2][k])));
  }
  for (int i = 0; i < 4; i++) free(value[i]);
  return failed ? 0.0 : worst / size;
}

/* The model with another value of the parameter; NULL: there is none, as for whole numbers. */
static ga_model *read_at(ga_context *ctx, const char *path, const char *name, double value)
{
  char set[256];
  const char *list = set;
  ga_model *model = NULL;
  ga_model_opts opts = ga_model_defaults();
  snprintf(set, sizeof set, "%s=%.17g", name, value);
  opts.set = &list;
  opts.n_set = 1;
  if (ga_model_read_file(ctx, path, &opts, &model)) ga_model_destroy(&model); /* its messages stay with it */
  return model;
}

static void check_parameter(ga_context *ctx, const ga_model *model, const char *path,
                            const ga_model_parameter *p, tally *all)
{
  rig_random random = {(uint64_t)all->parameters};
  ga_model *moved = read_at(ctx, path, p->name, p->value != 0.0 ? 1.002 * p->value : 1e-3);
  const ga_system *const sys[2] = {ga_machine_system(ga_model_machine(model)),
                                   moved ? ga_machine_system(ga_model_machine(moved)) : NULL};
  ga__differing *d = NULL;
  if (!moved || sys[0]->n != sys[1]->n || sys[0]->nv != sys[1]->nv) {
    all->refused++;
    ga_model_destroy(&moved);
    return;
  }
  const ga_machine *const machine[2] = {ga_model_machine(model), ga_model_machine(moved)};
  fine(ctx, ga__differing_create(ctx, 2, machine, &d));
  all->parameters++;
  all->restricted += d != NULL;
  for (int i = 0; i < POINTS && d; i++) {
    place at = place_make(model, &random);
    const ga_system *const part[2] = {ga__differing_system(d, 0), ga__differing_system(d, 1)};
    const double off = compare(sys, part, &at);
    all->worst = fmax(all->worst, off);
    if (off > 1e-13) fail_msg("%s: terms that depend on %s are missing, by %.1e", path, p->name, off);
    free(at.block);
  }
  ga__differing_destroy(&d);
  ga_model_destroy(&moved);
}

static void check_model(const char *path, tally *all)
{
  ga_context *ctx;
  ga_model *model;
  ga_model_parameter p;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  fine(ctx, ga_model_read_file(ctx, path, NULL, &model));
  all->models++;
  for (int i = 0; ga_model_parameter_at(model, i, &p); i++)
    if (!rig_brief() || i % 7 == 0) check_parameter(ctx, model, path, &p, all);
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

static void no_term_is_missed(void **state)
{
  tally all = {0};
  (void)state;
  DIR *list = opendir(MODELS);
  assert_non_null(list);
  for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
    char path[1024];
    const char *ending = strrchr(entry->d_name, '.');
    if (!ending || strcmp(ending, ".yaml") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", MODELS, entry->d_name);
    check_model(path, &all);
  }
  closedir(list);
  printf("# %d parameters of %d models, %d by their terms alone; %.1e at the most\n", all.parameters,
         all.models, all.restricted, all.worst);
  assert_true(all.models >= LEAST_MODELS && (rig_brief() || all.parameters >= LEAST_PARAMETERS));
  assert_true(10 * all.restricted > 9 * all.parameters);
}

/* ---- What is selected ---- */

static ga_model *read_model(ga_context *ctx, const char *text, const char *set)
{
  ga_model *model = NULL;
  ga_model_opts opts = ga_model_defaults();
  opts.set = &set;
  opts.n_set = set != NULL;
  fine(ctx, ga_model_read_text(ctx, "text", text, strlen(text), &opts, &model));
  return model;
}

/* Two masses on springs between them and the ground, one of them turned by a motor through a block. */
static const char pair[] =
    "galpha: 1\n"
    "parameters: {m: 2, k: 100 N/m, rest: 0.4 m, gain: 3, w: 5 1/s, g: 9.81 m/s^2, arm: 0.1 m}\n"
    "gravity: [0, -g, 0]\n"
    "bodies:\n"
    "  near: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0.5, 0, 0]}\n"
    "  far: {type: rigid, mass: m, inertia: [1, 1, 1], position: [1, 0, 0]}\n"
    "markers:\n"
    "  tip: {body: far, position: [0, arm, 0]}\n"
    "joints:\n"
    "  hinge: {type: spherical, a: ground, b: near}\n"
    "forces:\n"
    "  inner: {type: spring, a: ground, b: near, stiffness: k, rest: rest}\n"
    "  outer: {type: spring, a: near, b: tip, stiffness: 50, rest: 0.5}\n"
    "  push: {type: force, frame: far, force: [sin(w*t), 0, \"gain*near.x\"]}\n";

typedef struct chosen {
  const char *set;
  int nodes, points, axes, rows, elements, outputs;
} chosen;

static void only_what_differs_is_selected(void **state)
{
  static const chosen rows[] = {{"m=3", 1, 0, 0, 0, 0, 0},      {"k=90", 0, 0, 0, 0, 1, 0},
                                {"rest=0.3", 0, 0, 0, 0, 1, 0}, {"gain=4", 0, 0, 0, 0, 0, 1},
                                {"w=6", 0, 0, 0, 0, 0, 1},      {"g=9.8", 2, 0, 0, 0, 0, 0},
                                {"arm=0.2", 0, 0, 0, 0, 1, 0},  {"m=2", 0, 0, 0, 0, 0, 0}};
  ga_context *ctx;
  (void)state;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ga_model *a = read_model(ctx, pair, NULL), *b = read_model(ctx, pair, rows[i].set);
    const ga_machine *const machine[2] = {ga_model_machine(a), ga_model_machine(b)};
    ga__differing *d = NULL;
    fine(ctx, ga__differing_create(ctx, 2, machine, &d));
    assert_non_null(d);
    const ga__selected *x = ga__differing_terms(d);
    const chosen found = {rows[i].set, x->n_nodes,    x->n_points, x->n_axes,
                          x->n_rows,   x->n_elements, x->n_outputs};
    if (memcmp(&found, &rows[i], sizeof found) != 0)
      fail_msg("%s selects %d nodes, %d points, %d axes, %d rows, %d elements, %d outputs", found.set,
               found.nodes, found.points, found.axes, found.rows, found.elements, found.outputs);
    ga__differing_destroy(&d);
    ga_model_destroy(&a);
    ga_model_destroy(&b);
  }
  ga_context_destroy(&ctx);
}

/* A spring and a mass on an elastic rod, whose interface nodes are frames that its modes move. */
static const char rod[] =
    "galpha: 1\n"
    "parameters: {k: 100 N/m, m: 0.5, rho: 7800, g: 9.81 m/s^2, at: 0.1 m}\n"
    "gravity: [0, -g, 0]\n"
    "bodies:\n"
    "  rod:\n"
    "    type: modal\n"
    "    beam: {length: 0.3 m, elements: 8, section: rectangle, width: 5 mm, height: 20 mm,\n"
    "      young: 210 GPa, poisson: 0.3, density: rho}\n"
    "    interface: {near: 0, middle: 0.15 m, far: 0.3 m}\n"
    "    modes: 4\n"
    "  weight: {type: point, mass: m, position: [0.3, 0, 0]}\n"
    "markers:\n"
    "  hook: {body: ground, position: [at, 1, 0]}\n"
    "joints:\n"
    "  hinge: {type: spherical, a: ground, b: rod.near}\n"
    "  grip: {type: spherical, a: rod.far, b: weight}\n"
    "forces:\n"
    "  rope: {type: spring, a: hook, b: rod.middle, stiffness: k, damping: 0.1*k, rest: 0.8}\n";

/* By how much the terms of two models change differently from all terms; −1: none are selected. */
static double part_off(const char *text, const char *form, const char *set)
{
  char all[4096];
  ga_context *ctx;
  ga__differing *d = NULL;
  rig_random random = rig_seed(0);
  double worst = -1.0;
  snprintf(all, sizeof all, "%sform: %s\n", text, form);
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  ga_model *a = read_model(ctx, all, NULL), *b = read_model(ctx, all, set);
  const ga_machine *const machine[2] = {ga_model_machine(a), ga_model_machine(b)};
  fine(ctx, ga__differing_create(ctx, 2, machine, &d));
  for (int i = 0; i < 10 && d; i++) {
    const ga_system *const sys[2] = {ga_machine_system(machine[0]), ga_machine_system(machine[1])};
    const ga_system *const part[2] = {ga__differing_system(d, 0), ga__differing_system(d, 1)};
    place at = place_make(a, &random);
    worst = fmax(worst, compare(sys, part, &at));
    free(at.block);
  }
  ga__differing_destroy(&d);
  ga_model_destroy(&a);
  ga_model_destroy(&b);
  ga_context_destroy(&ctx);
  return worst;
}

static void forms_and_frames_on_elastic_bodies_agree(void **state)
{
  static const char *const forms[] = {"space", "body", "se3"},
                           *const of_pair[] = {"m=3", "k=90", "arm=0.2", "g=9.8"},
                           *const of_rod[] = {"k=90", "m=0.6", "g=9.8", "at=0.2"};
  (void)state;
  for (int f = 0; f < 3; f++)
    for (int i = 0; i < 4; i++) {
      const double by_pair = part_off(pair, forms[f], of_pair[i]),
                   by_rod = part_off(rod, forms[f], of_rod[i]);
      if (!(by_pair >= 0.0 && by_pair < 1e-13 && by_rod >= 0.0 && by_rod < 1e-13))
        fail_msg("form %s: %s is off by %.1e, %s by %.1e", forms[f], of_pair[i], by_pair, of_rod[i], by_rod);
    }
  assert_true(part_off(rod, "space", "rho=7000") == -1.0); /* it moves the frames themselves */
}

/* ---- Derivatives of runs ---- */

enum { MOST_BY = 16, MOST_STATE = 4096, STEPS = 60 };

/* Derivatives of q, v, λ, x, y at the end by n parameters, with all terms or with those that depend on them.
 */
static int derivatives_of(ga_context *ctx, const ga_model *model, int n, ga_parameter *by, double h,
                          double *out)
{
  static double q[MOST_STATE], v[MOST_STATE], x[MOST_STATE];
  const ga_machine *m = ga_model_machine(model);
  const ga_system *sys = ga_machine_system(m);
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_stepper *st = NULL;
  ga_sensitivity *se = NULL;
  int count = 0;
  start.h = h;
  fine(ctx, ga_machine_initial(m, q, v, x));
  fine(ctx, ga_stepper_create(ctx, sys, &opts, &st));
  fine(ctx, ga_sensitivity_create(ctx, st, n, by, &se));
  fine(ctx, ga_sensitivity_start(se, &start, 0.0, q, v, x, NULL, NULL, NULL));
  for (int i = 0; i < STEPS; i++) {
    fine(ctx, ga_stepper_step(st, h));
    fine(ctx, ga_sensitivity_step(se));
  }
  for (int j = 0; j < n; j++) {
    const ga_state *d = ga_sensitivity_at(se, j);
    const double *const part[] = {d->q, d->v, d->lambda, d->x, d->y};
    const int size[] = {sys->nv, sys->nv, sys->size[GA_BLOCK_LAMBDA], sys->size[GA_BLOCK_X],
                        sys->size[GA_BLOCK_Y]};
    for (int k = 0; k < 5; k++)
      for (int i = 0; i < size[k]; i++) out[count++] = part[k][i];
  }
  ga_sensitivity_destroy(&se);
  ga_stepper_destroy(&st);
  return count;
}

static void derivatives_are_those_of_all_terms(void **state)
{
  static const struct {
    const char *model;
    const char *by[6];
    double h;
  } rows[] = {{"slider_crank", {"k", "crank_length", "rod_length", "torque"}, 1e-3},
              {"robot_arm", {"m1", "L1", "load", "g", "shoulder_to"}, 2e-3},
              {"heavy_top", {NULL}, 1e-3},
              {"spring_mass", {NULL}, 1e-2},
              {"quarter_car_step", {NULL}, 1e-3},
              {"car", {NULL}, 1e-3}};
  static double with[MOST_BY * MOST_STATE * 3], without[MOST_BY * MOST_STATE * 3];
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char path[1024];
    ga_context *ctx;
    ga_model *model = NULL;
    ga_model_variation *v[MOST_BY];
    ga_parameter by[MOST_BY];
    ga_model_parameter p;
    int n = 0;
    snprintf(path, sizeof path, "%s/%s.yaml", MODELS, rows[r].model);
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    fine(ctx, ga_model_read_file(ctx, path, NULL, &model));
    for (int i = 0; i < 6 && ga_model_parameter_at(model, i, &p); i++) {
      const char *name = rows[r].by[0] ? rows[r].by[i] : p.name;
      if (!name || (!rows[r].by[0] && p.value == 0.0)) continue;
      if (ga_model_variation_create(ctx, model, path, NULL, name, 0.0, &v[n]))
        continue; /* a value it cannot have */
      by[n] = *ga_model_variation_parameter(v[n]);
      assert_non_null(by[n++].part[0]);
    }
    assert_true(n > 1);
    const int count = derivatives_of(ctx, model, n, by, rows[r].h, with);
    for (int j = 0; j < n; j++) memset(by[j].part, 0, sizeof by[j].part);
    assert_int_equal(derivatives_of(ctx, model, n, by, rows[r].h, without), count);
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < count; i++) size = fmax(size, fabs(without[i]));
    for (int i = 0; i < count; i++)
      worst = fmax(worst, fabs(with[i] - without[i]) / fmax(1.0, fabs(without[i])));
    printf("# %s: %d derivatives up to %.1e, %.1e apart at the most\n", rows[r].model, count, size, worst);
    if (worst > 1e-10) fail_msg("%s: derivatives differ by %.1e", rows[r].model, worst);
    for (int j = 0; j < n; j++) ga_model_variation_destroy(&v[j]);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_differs_is_selected),
                                     cmocka_unit_test(forms_and_frames_on_elastic_bodies_agree),
                                     cmocka_unit_test(derivatives_are_those_of_all_terms),
                                     cmocka_unit_test(no_term_is_missed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
