/* The derivative checker, and the differences that stand in for a Jacobian. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- The checker on the examples ---- */

static void examples_pass(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name);
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    for (int k = 0, attempts = 0; k < 3; k++, attempts++) {
      rig_spot s;
      ga_check_report report;
      rig_spot_random(&s, &r, &random);
      ga_status status = ga_system_check(r.sys, &s.p, 1e-6, &report);
      if (attempts > 30) fail_msg("%s: too few points can be judged", r.problem->name);
      if (report.n_unsure > 0) { /* a singularity is near: another point */
        k--;
        continue;
      }
      if (status) fail_msg("%s: %s", r.problem->name, ga_context_error(r.ctx)->text);
      assert_int_equal(report.n_wrong, 0);
      assert_int_equal(report.n_findings, 0);
      assert_true(report.n_checked > 0);
      assert_true(report.worst > 0.0 || !r.def.jacobian); /* differences are never exact everywhere */
    }
    rig_close(&r);
  }
}

/* ---- Planted errors ---- */

/* What is made wrong, where, by how much of the right value plus one. */
typedef struct plant {
  const char *problem;
  ga_check_what what;
  int row, col; /* col -1: a time derivative */
  const char *says[2];
} plant;

static const plant PLANTS[] = {
    {"mechatronic",
     GA_CHECK_D_V,
     2,
     2,
     {"worst is D (by v) in row 2, 'bar, torque' (dynamics 2), column 2",
      "column 2, 'bar, torque' (coordinate 2)"}},
    {"mechatronic", GA_CHECK_D_V, 8, 0, {"D (by v) in row 8, 'amplifier voltage' (output 0)", "column 0"}},
    {"mechatronic", GA_CHECK_D_VDOT, 1, 0, {"D (by vdot) in row 1, 'bar, force along y'", "column 0"}},
    {"mechatronic",
     GA_CHECK_D_VDOT,
     7,
     2,
     {"D (by vdot) in row 7, 'filter of the accelerometer' (state 2)", "column 2"}},
    {"mechatronic", GA_CHECK_D_OTHER, 2, 9, {"D in row 2", "column 9, 'damper torque' (output 1)"}},
    {"mechatronic", GA_CHECK_D_OTHER, 6, 3, {"D in row 6", "column 3, 'pin, x' (lambda 0)"}},
    {"mechatronic", GA_CHECK_D_OTHER, 5, 5, {"D in row 5", "column 5, 'motor current'"}},
    {"mechatronic", GA_CHECK_Q, 2, 2, {"Q in row 2", "column 2"}},
    {"mechatronic", GA_CHECK_Q, 4, 1, {"Q in row 4, 'pin, y' (phi 1)", "column 1"}},
    {"mechatronic", GA_CHECK_G, 3, 2, {"G in row 3, 'pin, x' (phi 0)", "column 2"}},
    {"mechatronic", GA_CHECK_PHI_DOT, 4, -1, {"phi_dot in row 4, 'pin, y' (phi 1)", "given"}},
    {"mechatronic", GA_CHECK_PHI_ACC, 3, -1, {"phi_acc in row 3, 'pin, x' (phi 0)", "given"}},
    {"test15", GA_CHECK_K_ACC, 3, -1, {"k_acc in row 3, k 0", "given"}},
    {"test15", GA_CHECK_D_V, 3, 1, {"D (by v) in row 3, k 0", "column 1, coordinate 1"}},
    {"test15", GA_CHECK_D_OTHER, 1, 3, {"D in row 1, dynamics 1", "column 3, psi 0"}},
    {"heavy_top_left", GA_CHECK_Q, 4, 5, {"Q in row 4", "column 5"}},
    {"heavy_top_left", GA_CHECK_G, 8, 3, {"G in row 8", "column 3"}},
};

/* The planted amount is value, in entry (row n + col) of the array that part names. */
static int spoil(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  static const int motion[] = {
      [GA_CHECK_PHI_DOT] = GA__PHI_DOT, [GA_CHECK_PHI_ACC] = GA__PHI_ACC, [GA_CHECK_K_ACC] = GA__K_ACC};
  const double x = m->value;
  if (m->part >= GA_CHECK_PHI_DOT) {
    if (fn == motion[m->part]) out[m->entry] += x;
    return 0;
  }
  if (!J) return 0;
  if (m->part == GA_CHECK_D_V) J->D[m->entry] += x * J->shift_v;
  if (m->part == GA_CHECK_D_VDOT) J->D[m->entry] += x * J->shift_vdot;
  if (m->part == GA_CHECK_D_OTHER) J->D[m->entry] += x;
  if (m->part == GA_CHECK_Q) J->Q[m->entry] += x;
  if (m->part == GA_CHECK_G) J->G[m->entry] += x;
  return 0;
}

static void planted_errors_are_found(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof PLANTS / sizeof *PLANTS; i++) {
    const plant *x = &PLANTS[i];
    rig r = rig_open(x->problem);
    rig_meddle m = {.after = spoil, .part = x->what, .value = 1e-3};
    rig_spot s;
    ga_check_report report;
    rig_meddle_install(&m, &r.def, 0);
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    m.entry = x->col >= 0 ? x->row * r.sys->n + x->col
                          : x->row - r.sys->start[x->what == GA_CHECK_K_ACC ? GA_BLOCK_PSI : GA_BLOCK_LAMBDA];
    rig_spot_random(&s, &r, &random);
    assert_status(r.ctx, ga_system_check(r.sys, &s.p, 1e-6, &report), GA_ERR_DERIVATIVE);
    assert_int_equal(report.n_wrong, 1);
    assert_int_equal(report.n_findings, 1);
    assert_int_equal(report.finding[0].what, x->what);
    assert_int_equal(report.finding[0].row, x->row);
    assert_int_equal(report.finding[0].col, x->col);
    assert_near(report.finding[0].given - report.finding[0].expected, 1e-3, 1e-6, "planted");
    for (int k = 0; k < 2; k++) assert_says(r.ctx, x->says[k]);
    int index;
    assert_error(r.ctx, GA_REASON_WRONG_DERIVATIVE, NULL, NULL, NULL);
    const double number[] = {1, report.n_checked, x->row, x->col, report.finding[0].given};
    for (int k = 0; k < 5; k++) assert_error_number(r.ctx, k, number[k]);
    assert_int_equal(ga_context_error(r.ctx)->block, ga__block_of(r.sys, x->row, &index));
    assert_int_equal(ga_context_error(r.ctx)->index, index);
    rig_close(&r);
  }
}

/* Many errors: all counted, the worst 16 kept, worst first. */
static int spoil_all(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)fn;
  (void)out;
  if (J && J->want & GA_WANT_D && J->shift_vdot == 0.0) /* D by v, rows V */
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) J->D[i * 9 + j] += (1 + i * 6 + j) * m->value;
  return 0;
}

static void worst_come_first(void **state)
{
  rig_random random = rig_seed(0);
  rig_meddle m = {.after = spoil_all, .value = 0.1};
  rig r = rig_open("heavy_top");
  rig_spot s;
  ga_check_report report;
  (void)state;
  rig_meddle_install(&m, &r.def, 6);
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  rig_spot_random(&s, &r, &random);
  assert_int_equal(ga_system_check(r.sys, &s.p, 1e-6, &report), GA_ERR_DERIVATIVE);
  assert_int_equal(report.n_wrong, 36);
  assert_int_equal(report.n_findings, 16);
  assert_true(report.worst > 0.5);
  assert_int_equal(ga_system_check(r.sys, &s.p, 1e-6, NULL), GA_ERR_DERIVATIVE); /* without a report */
  rig_close(&r);
}

static void checker_arguments(void **state)
{
  rig_random random = rig_seed(0);
  rig r = rig_open("pendulum");
  rig_spot s;
  (void)state;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  rig_spot_random(&s, &r, &random);
  assert_int_equal(ga_system_check(NULL, &s.p, 1e-6, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_system_check(r.sys, NULL, 1e-6, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "ga_system_check", "p");
  const double tol[] = {0.0, -1.0, NAN};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(ga_system_check(r.sys, &s.p, tol[i], NULL), GA_ERR_ARGUMENT);
    assert_call_error(r.ctx, GA_REASON_OUT_OF_RANGE, "ga_system_check", "tol");
    assert_error_number(r.ctx, 0, tol[i]);
  }
  s.v[1] = NAN;
  assert_true(ga_system_check(r.sys, &s.p, 1e-6, NULL) != GA_OK);
  rig_close(&r);
}

/* ---- A chain of masses and springs between walls, sparse ---- */

enum { LINKS = 40, MOST_ENTRIES = 3 * LINKS };

typedef struct chain {
  int row[MOST_ENTRIES], col[MOST_ENTRIES], n;
} chain;

static int chain_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < LINKS; i++) out[i] = (1.0 + 0.01 * i) * p->vdot[i];
  return 0;
}

/* Springs that stiffen, dampers: f_i depends on the neighbours only. */
static int chain_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < LINKS; i++) {
    double left = p->q[i] - (i ? p->q[i - 1] : 0.0), right = (i + 1 < LINKS ? p->q[i + 1] : 0.0) - p->q[i];
    out[i] = 100.0 * (right + right * right * right - left - left * left * left) - 0.3 * p->v[i];
  }
  return 0;
}

static int chain_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const chain *c = user;
  for (int e = 0; e < c->n; e++) {
    int i = c->row[e], j = c->col[e];
    double left = p->q[i] - (i ? p->q[i - 1] : 0.0), right = (i + 1 < LINKS ? p->q[i + 1] : 0.0) - p->q[i];
    double kl = 100.0 * (1.0 + 3.0 * left * left), kr = 100.0 * (1.0 + 3.0 * right * right);
    if (i == j) J->D[e] = J->shift_vdot * (1.0 + 0.01 * i) + J->shift_v * 0.3;
    J->Q[e] = i == j ? kl + kr : j < i ? -kl : -kr;
  }
  return 0;
}

static void chain_open(rig *r, chain *c)
{
  static const ga_factor line[] = {{GA_RN, LINKS, GA_LEFT}};
  *r = rig_open(NULL);
  c->n = 0;
  for (int i = 0; i < LINKS; i++)
    for (int j = i ? i - 1 : 0; j <= i + 1 && j < LINKS; j++) c->row[c->n] = i, c->col[c->n++] = j;
  r->def.n_factors = 1;
  r->def.factors = line;
  r->def.user = c;
  r->def.mass = chain_mass;
  r->def.force = chain_force;
  r->def.jacobian = chain_jacobian;
  r->def.n_pattern = c->n;
  r->def.pattern_row = c->row;
  r->def.pattern_col = c->col;
}

static void chain_spot(rig_spot *s)
{
  rig_random random = rig_seed(0);
  rig_fill(s->q, LINKS, &random);
  rig_fill(s->v, LINKS, &random);
  rig_fill(s->vdot, LINKS, &random);
  s->p = (ga_point){0.0, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

/* With a Jacobian and without: the derivative outside the pattern is found either way. */
static void missing_entry_is_found(void **state)
{
  (void)state;
  for (int with_jacobian = 0; with_jacobian < 2; with_jacobian++) {
    rig r;
    chain c;
    rig_spot s;
    ga_check_report report;
    chain_open(&r, &c);
    chain_spot(&s);
    if (!with_jacobian) r.def.jacobian = NULL;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    assert_status(r.ctx, ga_system_check(r.sys, &s.p, 1e-6, &report), GA_OK);
    assert_true(report.n_checked >= 3 * LINKS * LINKS);
    ga_system_destroy(&r.sys);

    int lost = 50; /* the last entry takes its place */
    int row = c.row[lost], col = c.col[lost];
    c.n--;
    c.row[lost] = c.row[c.n], c.col[lost] = c.col[c.n];
    r.def.n_pattern = c.n;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    assert_status(r.ctx, ga_system_check(r.sys, &s.p, 1e-6, &report), GA_ERR_DERIVATIVE);
    assert_int_equal(report.finding[0].what, GA_CHECK_PATTERN);
    assert_int_equal(report.finding[0].row, row);
    assert_int_equal(report.finding[0].col, col);
    assert_error(r.ctx, GA_REASON_WRONG_DERIVATIVE, NULL, NULL, "the pattern");
    assert_error_number(r.ctx, 2, row);
    assert_error_number(r.ctx, 3, col);
    assert_says(r.ctx, "the pattern has no entry there");
    rig_close(&r);
  }
}

/* ---- Coloured differences ---- */

/* Largest difference between two arrays of entries, relative to 1 + the largest of its row. */
static double entry_distance(const ga_system *sys, const double *a, const double *b, int b_only)
{
  double *size = calloc((size_t)sys->n, sizeof *size), worst = 0.0;
  assert_non_null(size);
  for (int e = 0; e < sys->n_entries; e++) size[sys->row[e]] = fmax(size[sys->row[e]], fabs(a[e]));
  for (int e = 0; e < sys->n_entries; e++) {
    int phi = sys->row[e] >= sys->start[GA_BLOCK_LAMBDA] && sys->row[e] < sys->start[GA_BLOCK_PSI];
    if (b_only == 1 && !(phi && sys->col[e] < sys->nv)) continue;
    if (b_only == 2 && sys->col[e] >= sys->nv) continue;
    double d = fabs(a[e] - b[e]) / (1.0 + size[sys->row[e]]);
    if (!(d <= worst)) worst = d;
  }
  free(size);
  return worst;
}

static void jacobians_agree(const rig *given, const rig *differences, const rig_spot *s)
{
  ga__deriv w[2];
  const rig *of[2] = {given, differences};
  double *value = calloc(6 * (size_t)given->sys->n_entries, sizeof *value);
  double *array[2][3];
  const unsigned all = GA_WANT_D | GA_WANT_Q | GA_WANT_G | GA_WANT_B;
  assert_non_null(value);
  for (int k = 0; k < 2; k++) {
    for (int a = 0; a < 3; a++) array[k][a] = value + (3 * k + a) * given->sys->n_entries;
    ga_jacobian J = {all, 0.02, 3.5, array[k][0], array[k][1], array[k][2]};
    assert_status(of[k]->ctx, ga__deriv_create(of[k]->sys, &w[k]), GA_OK);
    assert_status(of[k]->ctx, ga__jacobian(&w[k], &s->p, &J), GA_OK);
  }
  const char *name = given->problem ? given->problem->name : "chain";
  assert_below(entry_distance(given->sys, array[0][0], array[1][0], 0), 1e-6, name);
  assert_below(entry_distance(given->sys, array[0][1], array[1][1], 2), 1e-6, name);
  assert_below(entry_distance(given->sys, array[0][2], array[1][2], 1), 1e-6, name);
  /* B alone */
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, array[1][0], array[1][1], array[1][2]};
  assert_status(differences->ctx, ga__jacobian(&w[1], &s->p, &J), GA_OK);
  assert_below(entry_distance(given->sys, array[0][1], array[1][1], 1), 1e-6, name);
  for (int k = 0; k < 2; k++) ga__deriv_destroy(&w[k]);
  free(value);
}

static void differences_agree(void **state)
{
  rig_random random = rig_seed(0);
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name), d = r;
    if (!r.def.jacobian) {
      rig_close(&r);
      continue;
    }
    d.def.jacobian = NULL;
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    assert_status(d.ctx, ga_system_create(d.ctx, &d.def, &d.sys), GA_OK);
    for (int k = 0; k < 3; k++) {
      rig_spot s;
      rig_spot_random(&s, &r, &random);
      jacobians_agree(&r, &d, &s);
    }
    ga_system_destroy(&d.sys);
    rig_close(&r);
  }
}

static void few_colours(void **state)
{
  rig r, d;
  chain c;
  rig_spot s;
  (void)state;
  chain_open(&r, &c);
  d = r;
  d.def.jacobian = NULL;
  rig_build(&r);
  rig_build(&d);
  chain_spot(&s);
  jacobians_agree(&r, &d, &s);
  assert_int_equal(ga_stepper_stats(d.st)->difference_groups, 3); /* tridiagonal */
  assert_int_equal(ga_stepper_stats(r.st)->difference_groups, 0);
  ga_stepper_destroy(&d.st);
  ga_system_destroy(&d.sys);
  rig_close(&r);
}

/* No two columns of a colour share a row, and every column has one colour. */
static void colours_are_valid(void **state)
{
  rig r = rig_open("andrews31");
  ga__deriv w;
  (void)state;
  r.def.jacobian = NULL;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga__deriv_create(r.sys, &w), GA_OK);
  assert_in_range(w.n_colours, 1, r.sys->n - 1);
  int seen_column[RIG_MOST] = {0};
  for (int k = 0; k < w.n_colours; k++) {
    int seen_row[RIG_MOST] = {0};
    for (int i = w.colour_start[k]; i < w.colour_start[k + 1]; i++) {
      int col = w.colour_col[i];
      seen_column[col]++;
      for (int m = w.entry_start[col]; m < w.entry_start[col + 1]; m++) {
        assert_int_equal(r.sys->col[w.entry[m]], col);
        assert_int_equal(seen_row[r.sys->row[w.entry[m]]]++, 0);
      }
    }
  }
  for (int i = 0; i < r.sys->n; i++) assert_int_equal(seen_column[i], 1);
  ga__deriv_destroy(&w);
  rig_close(&r);
}

/* ---- Runs by differences ---- */

static void runs_without_jacobian(void **state)
{
  (void)state;
  for (int i = 0; ex_problem_at(i); i++) {
    rig r = rig_open(ex_problem_at(i)->name), d = r;
    if (!r.def.jacobian) {
      rig_close(&r);
      continue;
    }
    d.def.jacobian = NULL;
    rig_build(&r);
    rig_build(&d);
    rig *both[] = {&r, &d};
    for (int k = 0; k < 2; k++) {
      rig_start(both[k], r.problem->h);
      rig_steps(both[k], r.problem->h, 10);
    }
    assert_below(rig_distance(&r, &d), 1e-7, r.problem->name);
    const ga_stats *with = ga_stepper_stats(r.st), *without = ga_stepper_stats(d.st);
    assert_int_equal(with->difference_jacobians, 0);
    assert_int_equal(without->difference_jacobians, without->jacobians + without->constraint_jacobians);
    assert_true(without->jacobians > 0);
    assert_true(without->difference_groups > 0);
    ga_stepper_destroy(&d.st);
    ga_system_destroy(&d.sys);
    rig_close(&r);
  }
}

/* Nothing but the functions that are needed: phi_dot, phi_acc, k_acc by differences too. */
static void runs_with_the_least(void **state)
{
  static const char *const name[] = {"pendulum", "mechatronic", "test15", "rolling_disk", "heavy_top"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int keep_jacobian = 0; keep_jacobian < 2; keep_jacobian++) {
      rig r = rig_open(name[i]), d = r;
      d.def.phi_dot = d.def.phi_acc = d.def.k_acc = NULL;
      if (!keep_jacobian) d.def.jacobian = NULL;
      rig_build(&r);
      rig_build(&d);
      rig *both[] = {&r, &d};
      for (int k = 0; k < 2; k++) {
        rig_start(both[k], r.problem->h);
        rig_steps(both[k], r.problem->h, 10);
      }
      assert_below(rig_distance(&r, &d), 1e-6, r.problem->name);
      ga_stepper_destroy(&d.st);
      ga_system_destroy(&d.sys);
      rig_close(&r);
    }
}

/* ---- Where differences cannot tell ---- */

/* f = factor |q − 1|, whose derivative is given as factor·sign, or twice that. */
typedef struct corner {
  double factor, given;
} corner;

static int corner_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->vdot[0];
  return 0;
}

static int corner_force(void *user, const ga_point *p, double *out)
{
  const corner *c = user;
  out[0] = c->factor * fabs(p->q[0] - 1.0);
  return 0;
}

static int corner_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const corner *c = user;
  if (J->want & GA_WANT_D) J->D[0] = J->shift_vdot;
  if (J->want & GA_WANT_Q) J->Q[0] = -(p->q[0] < 1.0 ? -c->given : c->given);
  return 0;
}

/* A right derivative next to a corner is not called wrong, a wrong one a little way off is. */
static void corners_are_not_judged(void **state)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  const double zero[1] = {0.0};
  corner c = {3.0, 3.0};
  (void)state;
  for (int wrong = 0; wrong < 2; wrong++)
    for (int k = -12; k <= 12; k++) {
      rig r = rig_open(NULL);
      ga_check_report report;
      const double q[1] = {1.0 + (k < 0 ? -1.0 : 1.0) * 1.3e-6 * pow(2.0, abs(k))};
      const ga_point p = {.q = q, .v = zero, .vdot = zero};
      const int near = fabs(q[0] - 1.0) < 1.4e-3; /* within two steps of the differences */
      c.given = c.factor * (wrong ? 2.0 : 1.0);
      r.def.n_factors = 1, r.def.factors = &line;
      r.def.mass = corner_mass, r.def.force = corner_force, r.def.jacobian = corner_jacobian, r.def.user = &c;
      assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
      const ga_status status = ga_system_check(r.sys, &p, 1e-6, &report);
      if (!wrong) assert_status(r.ctx, status, GA_OK);
      if (!near) assert_int_equal(status, wrong ? GA_ERR_DERIVATIVE : GA_OK);
      assert_int_equal(report.n_wrong + report.n_unsure > 0, wrong || near);
      rig_close(&r);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(examples_pass),
                                     cmocka_unit_test(planted_errors_are_found),
                                     cmocka_unit_test(worst_come_first),
                                     cmocka_unit_test(checker_arguments),
                                     cmocka_unit_test(missing_entry_is_found),
                                     cmocka_unit_test(differences_agree),
                                     cmocka_unit_test(few_colours),
                                     cmocka_unit_test(colours_are_valid),
                                     cmocka_unit_test(runs_without_jacobian),
                                     cmocka_unit_test(runs_with_the_least),
                                     cmocka_unit_test(corners_are_not_judged)};
  return cmocka_run_group_tests_name("core: derivatives", tests, rig_hook_klu, NULL);
}
