/* Derivatives with redundant constraints: q, v, vdot, and the multipliers of least norm, against extrapolated
 * differences of complete runs with the same steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linkage.h"

/* Rows of a four-bar, and of one whose constraints are repeated, multiplied and mixed. */
static linkage repeated(void)
{
  linkage l = linkage_four_bar(0.7, 3.0);
  linkage_add_row(&l, 2, 1.0, 0, 0.0);
  linkage_add_row(&l, 5, -3.0, 0, 0.0);
  linkage_add_row(&l, 1, 2.0, 6, 0.5);
  return l;
}

/* Parameters: the size of the linkage; a mass; gravity; the initial velocity; weights of a repeated row,
 * which change its length alone; and an offset of a repeated row, which contradicts the others. */
enum { SIZE = 0, MASS, GRAVITY, SPEED, WEIGHT, N_FINE, OFFSET = N_FINE, N_ALL };

static linkage linkage_at(int which, double by)
{
  linkage l = repeated();
  l.gravity = 9.81;
  if (which == SIZE)
    for (int i = 0; i < l.n_links; i++) l.length[i] *= 1.0 + by;
  for (int i = 0; which == SIZE && i < l.n_pins; i++) l.pin[i].x *= 1.0 + by, l.pin[i].y *= 1.0 + by;
  for (int i = 0; which == SIZE && i < 3 * l.n_links; i++)
    if (i % 3 < 2) l.q0[i] *= 1.0 + by, l.v0[i] *= 1.0 + by;
  if (which == MASS) l.mass[1] *= 1.0 + by;
  if (which == GRAVITY) l.gravity *= 1.0 + by;
  if (which == SPEED)
    for (int i = 0; i < 3 * l.n_links; i++) l.v0[i] *= 1.0 + by;
  if (which == WEIGHT)
    for (int k = 0; k < 2 * l.n_pins; k++) l.W[9][k] *= 1.0 + by;
  if (which == OFFSET) l.offset[9] += by;
  return l;
}

typedef struct run {
  linkage l;
  rig r;
} run;

static void open_run(run *a, ga_method method, ga_lu_kind lu, int which, double by)
{
  a->l = linkage_at(which, by);
  a->r = rig_open(NULL);
  linkage_define(&a->l, &a->r.def);
  a->r.opts.newton.tol = 1e-14;
  a->r.opts.method = method;
  a->r.opts.lu = lu;
  rig_build(&a->r);
}

static void close_run(run *a)
{
  ga_stepper_destroy(&a->r.st);
  ga_system_destroy(&a->r.sys);
  ga_context_destroy(&a->r.ctx);
}

static ga_start_opts start_opts(double h)
{
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  o.max_change = 1.0;
  return o;
}

enum { NUMBERS = 3 * 9 + LINKAGE_ROWS };

static int list_numbers(const ga_state *s, int rows, double *out)
{
  for (int i = 0; i < 9; i++) out[i] = s->q[i], out[9 + i] = s->v[i], out[18 + i] = s->vdot[i];
  for (int i = 0; i < rows; i++) out[27 + i] = s->lambda[i];
  return 27 + rows;
}

static int numbers_at(ga_method method, int which, double by, double h, int n, double *out)
{
  run a;
  const ga_start_opts o = start_opts(h);
  open_run(&a, method, GA_LU_AUTO, which, by);
  assert_status(a.r.ctx, ga_stepper_start(a.r.st, &o, 0.0, a.l.q0, a.l.v0, NULL, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(a.r.ctx, ga_stepper_step(a.r.st, h), GA_OK);
  const int all = list_numbers(ga_stepper_state(a.r.st), linkage_rows(&a.l), out);
  close_run(&a);
  return all;
}

static void reference(ga_method method, int which, double w, double h, int n, double *out)
{
  enum { LEVELS = 4 };
  static double table[LEVELS][NUMBERS], there[NUMBERS], back[NUMBERS];
  int all = 0;
  for (int l = 0; l < LEVELS; l++) {
    const double by = 2.0 * w / (1 << l);
    all = numbers_at(method, which, by, h, n, there);
    numbers_at(method, which, -by, h, n, back);
    for (int i = 0; i < all; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  for (int k = 1; k < LEVELS; k++)
    for (int l = LEVELS - 1; l >= k; l--)
      for (int i = 0; i < all; i++)
        table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
  memcpy(out, table[LEVELS - 1], (size_t)all * sizeof *out);
}

/* The run and the systems of its parameters. */
typedef struct study {
  run a, other[N_ALL][GA_PARAMETER_VALUES];
  ga_parameter parameter[N_ALL];
} study;

static void open_study(study *s, ga_method method, ga_lu_kind lu)
{
  const double delta = 1e-3;
  memset(s, 0, sizeof *s);
  open_run(&s->a, method, lu, SPEED, 0.0);
  for (int j = 0; j < N_ALL; j++) {
    s->parameter[j].step = delta;
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
      run *o = &s->other[j][m];
      open_run(o, method, lu, j, (m < 2 ? m - 2 : m - 1) * delta);
      if (j != SPEED) s->parameter[j].at[m].sys = o->r.sys;
      s->parameter[j].at[m].q0 = o->l.q0;
      s->parameter[j].at[m].v0 = o->l.v0;
    }
  }
}

static void close_study(study *s)
{
  for (int j = 0; j < N_ALL; j++)
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) close_run(&s->other[j][m]);
  close_run(&s->a);
}

static void fine(study *s, ga_status status)
{
  assert_status(s->a.r.ctx, status, GA_OK);
}

static void advance(study *s, ga_sensitivity *se, double h, int n)
{
  const ga_start_opts o = start_opts(h);
  fine(s, ga_sensitivity_start(se, &o, 0.0, s->a.l.q0, s->a.l.v0, NULL, NULL, NULL, NULL));
  for (int i = 0; i < n; i++) {
    fine(s, ga_stepper_step(s->a.r.st, h));
    fine(s, ga_sensitivity_step(se));
  }
}

static int show; /* 1: figures are printed, none is judged */

/* Each kind of numbers relative to its largest derivative or, where this is small, value. */
static void compare(const study *s, int j, const double *is, const double *should, double limit)
{
  const int n[] = {9, 9, 9, linkage_rows(&s->a.l)};
  double worst = 0.0, value[NUMBERS];
  list_numbers(ga_stepper_state(s->a.r.st), n[3], value);
  for (int b = 0, at = 0; b < 4; at += n[b++]) {
    double most = 0.0;
    for (int i = at; i < at + n[b]; i++) most = fmax(most, fmax(fabs(should[i]), 0.1 * fabs(value[i])));
    for (int i = at; i < at + n[b]; i++)
      if (!(fabs(is[i] - should[i]) <= worst * most)) worst = fabs(is[i] - should[i]) / most;
  }
  if (show)
    printf("# method %d by %d: %.1e\n", (int)s->a.r.opts.method, j, worst);
  else
    assert_below(worst, limit, "derivatives");
}

static void derivatives_are_those_of_the_run(void **state)
{
  static const struct {
    ga_method method;
    ga_lu_kind lu;
    double h, width;
    int n;
    double most; /* multipliers of index 3 have the rounding of starts over h */
  } CASE[] = {{GA_STABILIZED, GA_LU_AUTO, 5e-3, 2e-2, 20, 1e-8},
              {GA_STABILIZED, GA_LU_SPARSE, 5e-3, 2e-2, 20, 1e-8},
              {GA_INDEX3, GA_LU_AUTO, 2e-2, 4e-2, 5, 5e-8},
              {GA_COLLOCATION, GA_LU_AUTO, 1e-2, 2e-2, 20, 1e-8},
              {GA_COLLOCATION, GA_LU_SPARSE, 1e-2, 2e-2, 20, 1e-8}};
  static study s;
  static double is[NUMBERS], should[NUMBERS];
  (void)state;
  for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
    ga_sensitivity *se = NULL;
    open_study(&s, CASE[c].method, CASE[c].lu);
    fine(&s, ga_sensitivity_create(s.a.r.ctx, s.a.r.st, N_FINE, s.parameter, &se));
    advance(&s, se, CASE[c].h, CASE[c].n);
    assert_int_equal(ga_stepper_redundancy(s.a.r.st)->redundant, 3);
    for (int j = 0; j < N_FINE; j++) {
      const ga_state *d = ga_sensitivity_at(se, j);
      assert_non_null(d);
      assert_null(d->eta); /* those of least norm are not differentiated */
      list_numbers(d, linkage_rows(&s.a.l), is);
      reference(CASE[c].method, j, CASE[c].width, CASE[c].h, CASE[c].n, should);
      compare(&s, j, is, should, CASE[c].most);
    }
    ga_sensitivity_destroy(&se);
    close_study(&s);
  }
}

/* A repeated row that moves alone: there is no motion at other values. */
static void contradictions_are_refused_by_name(void **state)
{
  static study s;
  ga_sensitivity *se = NULL;
  (void)state;
  open_study(&s, GA_STABILIZED, GA_LU_AUTO);
  s.parameter[OFFSET].name = "gap";
  fine(&s, ga_sensitivity_create(s.a.r.ctx, s.a.r.st, 1, &s.parameter[OFFSET], &se));
  const ga_start_opts o = start_opts(5e-3);
  ga_status status = ga_sensitivity_start(se, &o, 0.0, s.a.l.q0, s.a.l.v0, NULL, NULL, NULL, NULL);
  if (!status) {
    fine(&s, ga_stepper_step(s.a.r.st, 5e-3));
    status = ga_sensitivity_step(se);
  }
  assert_true(status < 0);
  assert_says(s.a.r.ctx, "gap");
  ga_sensitivity_destroy(&se);
  close_study(&s);
}

/* The same where starts cannot see it: the offset grows with time. */
static void contradictions_are_found_in_steps(void **state)
{
  static study s;
  ga_sensitivity *se = NULL;
  (void)state;
  open_study(&s, GA_STABILIZED, GA_LU_AUTO);
  for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
    linkage *l = &s.other[OFFSET][m].l;
    l->rate[9] = l->offset[9];
    l->offset[9] = 0.0;
  }
  s.parameter[OFFSET].name = "creep";
  fine(&s, ga_sensitivity_create(s.a.r.ctx, s.a.r.st, 1, &s.parameter[OFFSET], &se));
  const ga_start_opts o = start_opts(5e-3);
  ga_status status = ga_sensitivity_start(se, &o, 0.0, s.a.l.q0, s.a.l.v0, NULL, NULL, NULL, NULL);
  for (int i = 0; i < 3 && !status; i++) {
    fine(&s, ga_stepper_step(s.a.r.st, 5e-3));
    status = ga_sensitivity_step(se);
  }
  assert_true(status < 0);
  assert_says(s.a.r.ctx, "creep");
  ga_sensitivity_destroy(&se);
  close_study(&s);
}

/* ---- The adjoint ---- */

typedef struct number {
  int with_lambda;
} number;

static int seed(void *user, long step, const ga_state *at, ga_seed *out)
{
  const number *n = user;
  (void)at;
  for (int i = 0; i < 9; i++) {
    out->q[i] += sin(1.0 + 0.3 * (double)step + i);
    out->vdot[i] += 0.01 * cos(1.0 + 0.3 * (double)step + i);
  }
  if (n->with_lambda) out->lambda[9] += 1.0;
  return 0;
}

static void the_adjoint_gives_the_forward_gradient(void **state)
{
  static study s;
  (void)state;
  for (int c = 0; c < 2; c++) {
    ga_sensitivity *se = NULL;
    ga_adjoint *adjoint = NULL;
    ga_adjoint_opts opts = ga_adjoint_defaults();
    number by = {0};
    double forward[N_FINE] = {0}, size[N_FINE] = {0}, gradient[N_FINE];
    const double h = 5e-3;
    opts.interval = 4;
    open_study(&s, c ? GA_INDEX3 : GA_STABILIZED, GA_LU_AUTO);
    fine(&s, ga_sensitivity_create(s.a.r.ctx, s.a.r.st, N_FINE, s.parameter, &se));
    fine(&s, ga_adjoint_create(s.a.r.ctx, s.a.r.st, N_FINE, s.parameter, &opts, &adjoint));
    advance(&s, se, h, 0);
    fine(&s, ga_adjoint_begin(adjoint));
    for (int i = 0; i <= 15; i++) {
      if (i > 0) {
        fine(&s, ga_stepper_step(s.a.r.st, h));
        fine(&s, ga_sensitivity_step(se));
        fine(&s, ga_adjoint_step(adjoint));
      }
      for (int j = 0; j < N_FINE; j++) {
        const ga_state *d = ga_sensitivity_at(se, j);
        for (int k = 0; k < 9; k++) {
          const double a = sin(1.0 + 0.3 * i + k) * d->q[k], b = 0.01 * cos(1.0 + 0.3 * i + k) * d->vdot[k];
          forward[j] += a + b;
          size[j] += fabs(a) + fabs(b);
        }
      }
    }
    fine(&s, ga_adjoint_gradient(adjoint, seed, &by, gradient));
    for (int j = 0; j < N_FINE; j++)
      assert_near(gradient[j], forward[j], 1e-9 * (size[j] + 1e-3), "gradient");
    by.with_lambda = 1;
    assert_status(s.a.r.ctx, ga_adjoint_gradient(adjoint, seed, &by, gradient), GA_ERR_ARGUMENT);
    assert_says(s.a.r.ctx, "redundant");
    ga_adjoint_destroy(&adjoint);
    ga_sensitivity_destroy(&se);
    close_study(&s);
  }
}

/* ---- Memory and bits ---- */

/* Nor by derivatives within the last step, for which relations are found there. */
static void the_run_is_not_changed(void **state)
{
  static const ga_method METHODS[] = {GA_STABILIZED, GA_COLLOCATION};
  static double alone[NUMBERS], with[NUMBERS];
  static study s;
  (void)state;
  for (int i = 0; i < 2; i++) {
    ga_sensitivity *se = NULL;
    const ga_state *d;
    open_study(&s, METHODS[i], GA_LU_AUTO);
    ga_stepper *st = s.a.r.st;
    fine(&s, ga_sensitivity_create(s.a.r.ctx, st, N_FINE, s.parameter, &se));
    advance(&s, se, 5e-3, 20);
    fine(&s, ga_sensitivity_inside(se, 0, ga_stepper_state(st)->t - 2e-3, &d));
    fine(&s, ga_stepper_step(st, 5e-3));
    fine(&s, ga_sensitivity_step(se));
    const int n = numbers_at(METHODS[i], SPEED, 0.0, 5e-3, 21, alone);
    list_numbers(ga_stepper_state(st), linkage_rows(&s.a.l), with);
    assert_memory_equal(alone, with, (size_t)n * sizeof *alone);
    ga_sensitivity_destroy(&se);
    close_study(&s);
  }
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_are_those_of_the_run),
                                     cmocka_unit_test(contradictions_are_refused_by_name),
                                     cmocka_unit_test(contradictions_are_found_in_steps),
                                     cmocka_unit_test(the_adjoint_gives_the_forward_gradient),
                                     cmocka_unit_test(the_run_is_not_changed)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
