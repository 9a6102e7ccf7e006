/* Derivatives where times depend on parameters: a force that jumps at a time that is a parameter, with the
 * sizes of the steps held, against extrapolated differences of complete runs. All are taken at a fixed time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A problem with a force from some time on ---- */

enum { WHEN = 0, DAMPING, N_PARAMETERS };

typedef struct jump {
  ga_system_def inner;
  int nv;
  double at, damping, size;
  int kink; /* 1: the force grows from there on, without a jump */
} jump;

static int force(void *user, const ga_point *p, double *out)
{
  const jump *c = user;
  const int code = c->inner.force(c->inner.user, p, out);
  const double since = p->t - c->at, part = since > 0.0 ? (c->kink ? 100.0 * since : 1.0) : 0.0;
  for (int i = 0; i < c->nv; i++)
    out[i] += c->size * part * cos(3.0 * p->t) * (1.0 + 0.3 * (i % 4)) - c->damping * p->v[i];
  return code;
}

#define FORWARD(name)                                                                                        \
  static int name(void *user, const ga_point *p, double *out)                                                \
  {                                                                                                          \
    const jump *c = user;                                                                                    \
    return c->inner.name(c->inner.user, p, out);                                                             \
  }
FORWARD(mass)
FORWARD(phi)
FORWARD(phi_dot)
FORWARD(phi_acc)
FORWARD(k)
FORWARD(k_acc)
FORWARD(state)
FORWARD(output)
FORWARD(output_guess)
#undef FORWARD

/* That of the problem: exact without damping. */
static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const jump *c = user;
  return c->inner.jacobian(c->inner.user, p, J);
}

static int next_break(void *user, double t, double until, ga_breakpoint *out)
{
  const jump *c = user;
  const double margin = 8.0 * 2.220446049250313e-16 * fabs(c->at);
  if (t >= c->at + margin || until <= c->at - margin) return 0;
  out->before = c->at - margin;
  out->after = c->at + margin;
  out->restart = !c->kink;
  return 0;
}

/* ---- Runs ---- */

typedef struct course {
  const char *problem;
  ga_method method;
  double h, at, size;
  int n, kink;
} course;

static double at_of(const course *c, int which, double by)
{
  return c->at + (which == WHEN ? by : 0.0);
}

static void open_run(rig *r, const course *c, jump *p, int which, double by)
{
  *r = (rig){
      .problem = ex_problem_find(c->problem), .def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  assert_non_null(r->problem);
  assert_int_equal(rig_context(&r->ctx), GA_OK);
  r->problem->define(&r->def);
  *p = (jump){.inner = r->def, .at = at_of(c, which, by), .size = c->size, .kink = c->kink};
  p->damping = which == DAMPING ? by : 0.0;
  for (int i = 0; i < r->def.n_factors; i++) {
    const ga_factor f = r->def.factors[i];
    p->nv += f.kind == GA_RN ? f.n : f.kind == GA_SO3 || f.kind == GA_QUAT ? 3 : 6;
  }
  r->def.user = p;
  r->def.sweep = NULL;
  if (r->def.mass) r->def.mass = mass;
  if (r->def.force) r->def.force = force;
  if (r->def.phi) r->def.phi = phi;
  if (r->def.phi_dot) r->def.phi_dot = phi_dot;
  if (r->def.phi_acc) r->def.phi_acc = phi_acc;
  if (r->def.k) r->def.k = k;
  if (r->def.k_acc) r->def.k_acc = k_acc;
  if (r->def.state) r->def.state = state;
  if (r->def.output) r->def.output = output;
  if (r->def.output_guess) r->def.output_guess = output_guess;
  if (r->def.jacobian) r->def.jacobian = jacobian;
  r->def.next_break = next_break;
  r->opts.method = c->method;
  r->opts.newton.tol = 1e-14;
  r->opts.newton.max_iterations = 60;
  rig_build(r);
}

static void close_run(rig *r)
{
  ga_stepper_destroy(&r->st);
  ga_system_destroy(&r->sys);
  ga_context_destroy(&r->ctx);
}

static ga_start_opts start_of(const course *c)
{
  ga_start_opts o = ga_start_defaults();
  o.h = c->h;
  o.max_change = 1.0;
  return o;
}

/* The steps before the break, with the one that ends there; then those behind it. */
static double size_of(const course *c, const ga_stepper *st, double at, int i)
{
  static const double PART[] = {1.0, 0.7, 1.2};
  const double margin = 8.0 * 2.220446049250313e-16 * fabs(at);
  const int before = (int)(c->at / c->h);
  return i == before ? at - margin - st->now.scalar[GA__T] : i < before ? c->h : c->h * PART[i % 3];
}

static int restarts_after(const course *c, int i)
{
  return !c->kink && i == (int)(c->at / c->h);
}

/* As a simulator does behind a jump. */
static void restart(rig *r, const course *c, double at)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  const double margin = 8.0 * 2.220446049250313e-16 * fabs(at);
  ga_start_opts o = start_of(c);
  const ga_system *sys = r->st->sys;
  memcpy(q, r->st->now.q, (size_t)sys->nq * sizeof *q);
  memcpy(v, r->st->now.v, (size_t)sys->nv * sizeof *v);
  memcpy(x, r->st->now.x, (size_t)sys->size[GA_BLOCK_X] * sizeof *x);
  o.forward = 1;
  ga__start_again(r->st, GA__BEHIND_JUMP);
  assert_status(r->ctx, ga_stepper_start(r->st, &o, at + margin, q, v, x, NULL, NULL, NULL), GA_OK);
  ga__start_first(r->st);
}

static void begin(rig *r, const course *c)
{
  const ga_start_opts o = start_of(c);
  const ex_problem *x = r->problem;
  assert_status(r->ctx,
                ga_stepper_start(r->st, &o, 0.0, x->q0, x->v0, x->x0, x->lambda_guess, x->psi_guess, NULL),
                GA_OK);
}

enum { PARTS = 7, LONGEST = PARTS * RIG_MOST };

/* Numbers within the last step at t, positions as moves from `from`. */
static int numbers_at(rig *r, double t, const double *from, double *out)
{
  const ga_system *sys = r->st->sys;
  const int *size = sys->size, nv = sys->nv;
  double q[RIG_MOST], *v = out + nv, *vdot = v + nv, *lambda = vdot + nv, *psi = lambda + size[1],
                      *x = psi + size[2], *y = x + size[3];
  assert_status(r->ctx, ga_stepper_interpolate(r->st, t, q, v, vdot, lambda, psi, x, y), GA_OK);
  ga_group_difference(sys->group, out, from, q);
  return (int)(y - out) + size[4];
}

static int run_to(const course *c, int which, double by, double t, const double *from, double *out)
{
  rig r;
  jump p;
  open_run(&r, c, &p, which, by);
  begin(&r, c);
  for (int i = 0; i < c->n; i++) {
    assert_status(r.ctx, ga_stepper_step(r.st, size_of(c, r.st, p.at, i)), GA_OK);
    if (restarts_after(c, i)) restart(&r, c, p.at);
  }
  const int n = numbers_at(&r, t, from, out);
  close_run(&r);
  return n;
}

static int reference(const course *c, int which, double w, double t, const double *from, double *out)
{
  enum { LEVELS = 4 };
  static double table[LEVELS][LONGEST], there[LONGEST], back[LONGEST];
  int n = 0;
  for (int l = 0; l < LEVELS; l++) {
    const double by = 2.0 * w / (1 << l);
    n = run_to(c, which, by, t, from, there);
    run_to(c, which, -by, t, from, back);
    for (int i = 0; i < n; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  for (int k = 1; k < LEVELS; k++)
    for (int l = LEVELS - 1; l >= k; l--)
      for (int i = 0; i < n; i++) table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
  memcpy(out, table[LEVELS - 1], (size_t)n * sizeof *out);
  return n;
}

static int show; /* 1: figures are printed, none is judged */

static void compare(const course *c, const ga_system *sys, int j, const double *is, const double *should,
                    const double *value)
{
  const int *size = sys->size, nv = sys->nv, n[] = {nv, nv, nv, size[1], size[2], size[3], size[4]};
  double worst = 0.0;
  int kind = -1;
  for (int b = 0, at = 0; b < PARTS; at += n[b++]) {
    double most = 0.0;
    for (int i = at; i < at + n[b]; i++)
      most = fmax(most, fmax(fabs(should[i]), b ? 1e-2 * fabs(value[i]) : 1e-3));
    for (int i = at; i < at + n[b]; i++)
      if (!(fabs(is[i] - should[i]) <= worst * most)) worst = fabs(is[i] - should[i]) / most, kind = b;
  }
  if (show)
    printf("# %-18s %d kink %d by %d: %.1e in %d\n", c->problem, (int)c->method, c->kink, j, worst, kind);
  else if (!(worst <= 1e-8))
    fail_msg("%s by %d: off by %.2e in part %d", c->problem, j, worst, kind);
}

typedef struct study {
  rig r, other[N_PARAMETERS][GA_PARAMETER_VALUES];
  jump p, jumps[N_PARAMETERS][GA_PARAMETER_VALUES];
  ga_parameter parameter[N_PARAMETERS];
} study;

static void open_study(study *s, const course *c, double delta)
{
  memset(s, 0, sizeof *s);
  open_run(&s->r, c, &s->p, DAMPING, 0.0);
  for (int j = 0; j < N_PARAMETERS; j++) {
    s->parameter[j].step = j == WHEN ? delta : 1e-3;
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
      open_run(&s->other[j][m], c, &s->jumps[j][m], j, (m < 2 ? m - 2 : m - 1) * s->parameter[j].step);
      s->parameter[j].at[m].sys = s->other[j][m].sys;
    }
  }
}

static void close_study(study *s)
{
  for (int j = 0; j < N_PARAMETERS; j++)
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) close_run(&s->other[j][m]);
  close_run(&s->r);
}

static void examine(const course *c)
{
  static study s;
  static double is[LONGEST], should[LONGEST], value[LONGEST];
  ga_sensitivity *se = NULL;
  open_study(&s, c, 0.02 * c->h);
  rig *r = &s.r;
  assert_status(r->ctx, ga_sensitivity_create(r->ctx, r->st, N_PARAMETERS, s.parameter, &se), GA_OK);
  begin(r, c);
  assert_status(r->ctx, ga_sensitivity_begin(se), GA_OK);
  for (int i = 0; i < c->n; i++) {
    assert_status(r->ctx, ga_stepper_step(r->st, size_of(c, r->st, s.p.at, i)), GA_OK);
    assert_status(r->ctx, ga_sensitivity_step(se), GA_OK);
    if (!restarts_after(c, i)) continue;
    restart(r, c, s.p.at);
    assert_status(r->ctx, ga_sensitivity_step(se), GA_OK);
  }
  const double t = 0.4 * r->st->next.scalar[GA__T] + 0.6 * r->st->now.scalar[GA__T];
  const ga_system *sys = r->st->sys;
  const int *size = sys->size, nv = sys->nv, n[] = {nv, nv, nv, size[1], size[2], size[3], size[4]};
  double q[RIG_MOST];
  numbers_at(r, t, r->st->now.q, value);
  assert_status(r->ctx, ga_stepper_interpolate(r->st, t, q, NULL, NULL, NULL, NULL, NULL, NULL), GA_OK);
  for (int j = 0; j < N_PARAMETERS; j++) {
    const ga_state *d;
    assert_status(r->ctx, ga_sensitivity_inside(se, j, t, &d), GA_OK);
    const double *from[] = {d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
    for (int b = 0, at = 0; b < PARTS; at += n[b++])
      if (n[b]) memcpy(is + at, from[b], (size_t)n[b] * sizeof *is);
    reference(c, j, j == WHEN ? 0.05 * c->h : 1e-2, t, q, should);
    compare(c, sys, j, is, should, value);
  }
  ga_sensitivity_destroy(&se);
  close_study(&s);
}

static void jumps_at_a_parameter(void **state)
{
  static const course COURSES[] = {
      {"spring_mass", GA_STABILIZED, 0.02, 0.2137, 2.0, 18, 0},
      {"slider_crank", GA_STABILIZED, 5e-3, 0.0523, 2.0, 20, 0},
      {"heavy_top", GA_STABILIZED, 1e-3, 0.01031, 40.0, 18, 0},
      {"heavy_top_left", GA_STABILIZED, 1e-3, 0.01031, 40.0, 18, 0},
      {"heavy_top_se3", GA_STABILIZED, 1e-3, 0.01031, 40.0, 18, 0},
      {"heavy_top_s3", GA_STABILIZED, 1e-3, 0.01031, 40.0, 18, 0},
      {"rolling_disk", GA_STABILIZED, 1e-2, 0.1041, 1.0, 18, 0},
      {"mechatronic", GA_STABILIZED, 1e-2, 0.1041, 1.0, 18, 0},
      {"heavy_top", GA_STABILIZED, 1e-3, 0.01031, 40.0, 18, 1},
      {"mechatronic", GA_STABILIZED, 1e-2, 0.1041, 1.0, 18, 1},
      {"spring_mass", GA_COLLOCATION, 0.02, 0.2137, 2.0, 18, 0},
      {"slider_crank", GA_COLLOCATION, 5e-3, 0.0523, 2.0, 20, 0},
      {"heavy_top", GA_COLLOCATION, 1e-3, 0.01031, 40.0, 18, 0},
      {"heavy_top_left", GA_COLLOCATION, 1e-3, 0.01031, 40.0, 18, 0},
      {"heavy_top_se3", GA_COLLOCATION, 1e-3, 0.01031, 40.0, 18, 0},
      {"rolling_disk", GA_COLLOCATION, 1e-2, 0.1041, 1.0, 18, 0},
      {"mechatronic", GA_COLLOCATION, 1e-2, 0.1041, 1.0, 18, 0},
      {"heavy_top", GA_COLLOCATION, 1e-3, 0.01031, 40.0, 18, 1},
      {"mechatronic", GA_COLLOCATION, 1e-2, 0.1041, 1.0, 18, 1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof COURSES / sizeof *COURSES; i++) examine(&COURSES[i]);
}

/* A break that is there at some of the values only. */
static void breaks_that_vanish_are_refused(void **state)
{
  static const course c = {"spring_mass", GA_STABILIZED, 0.02, 0.2137, 2.0, 20, 0};
  static study s;
  ga_sensitivity *se = NULL;
  (void)state;
  open_study(&s, &c, 0.02 * c.h);
  s.parameter[WHEN].name = "when";
  s.jumps[WHEN][3].at = 1e9;
  rig *r = &s.r;
  assert_status(r->ctx, ga_sensitivity_create(r->ctx, r->st, 1, s.parameter, &se), GA_OK);
  begin(r, &c);
  ga_status status = ga_sensitivity_begin(se);
  for (int i = 0; i < c.n && !status; i++) {
    assert_status(r->ctx, ga_stepper_step(r->st, size_of(&c, r->st, s.p.at, i)), GA_OK);
    status = ga_sensitivity_step(se);
  }
  assert_status(r->ctx, status, GA_ERR_DERIVATIVE);
  assert_says(r->ctx, "when");
  assert_says(r->ctx, "break");
  ga_sensitivity_destroy(&se);
  close_study(&s);
}

int main(int argc, char **argv)
{
  show = argc > 1 && strcmp(argv[1], "show") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(jumps_at_a_parameter),
                                     cmocka_unit_test(breaks_that_vanish_are_refused)};
  return cmocka_run_group_tests(tests, rig_hook_klu, NULL);
}
