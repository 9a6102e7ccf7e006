/* Derivatives of runs by parameters against extrapolated differences of complete runs with the same steps: a
 * problem with parameters, its runs, and the comparison. */
#ifndef SENSITIVITY_RIG_H
#define SENSITIVITY_RIG_H

#include "core/collocation.h"
#include "core_rig.h"

/* ---- A problem with parameters: each callback of the problem, and what a parameter adds, 0 at p = 0 ---- */

enum { MASS = 0, DAMPING, ROWS, LOOPS, N_PARAMETERS, INITIAL = N_PARAMETERS, N_ALL };

typedef struct changed {
  ga_system_def inner;
  int nv;
  double p[N_PARAMETERS];
} changed;

static double weight_of(int i)
{
  return 1.0 + 0.3 * (i % 4);
}

static int mass(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.mass(c->inner.user, p, out);
  for (int i = 0; i < c->nv; i++) out[i] += c->p[MASS] * weight_of(i) * out[i];
  return code;
}

static int force(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.force(c->inner.user, p, out);
  for (int i = 0; i < c->nv; i++) out[i] -= c->p[DAMPING] * (weight_of(i) * p->v[i] + sin(3.0 * p->t));
  return code;
}

/* Rows are scaled, which changes B and η, and driven. */
#define OF_ROWS(name, drive)                                                                                 \
  static int name(void *user, const ga_point *p, double *out)                                                \
  {                                                                                                          \
    const changed *c = user;                                                                                 \
    const int code = c->inner.name(c->inner.user, p, out);                                                   \
    for (int i = 0; i < c->inner.n_lambda; i++)                                                              \
      out[i] = out[i] * (1.0 + c->p[ROWS] * weight_of(i)) + c->p[ROWS] * weight_of(i + 1) * (drive);         \
    return code;                                                                                             \
  }
OF_ROWS(phi, 0.3 * sin(3.0 * p->t))
OF_ROWS(phi_dot, 0.9 * cos(3.0 * p->t))
OF_ROWS(phi_acc, -2.7 * sin(3.0 * p->t))
#undef OF_ROWS

static int k(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.k(c->inner.user, p, out);
  for (int i = 0; i < c->inner.n_psi; i++) out[i] += 0.1 * c->p[LOOPS] * weight_of(i) * sin(3.0 * p->t);
  return code;
}

static int k_acc(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.k_acc(c->inner.user, p, out);
  for (int i = 0; i < c->inner.n_psi; i++) out[i] += 0.3 * c->p[LOOPS] * weight_of(i) * cos(3.0 * p->t);
  return code;
}

static int state(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.state(c->inner.user, p, out);
  for (int i = 0; i < c->inner.n_x; i++) out[i] += c->p[LOOPS] * (p->x[i] + 0.2 * out[i]);
  return code;
}

static int output(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  const int code = c->inner.output(c->inner.user, p, out);
  for (int i = 0; i < c->inner.n_y; i++) out[i] += 0.5 * c->p[LOOPS] * p->y[i];
  return code;
}

static int output_guess(void *user, const ga_point *p, double *out)
{
  const changed *c = user;
  return c->inner.output_guess(c->inner.user, p, out);
}

/* Exact for Φ, from which the library takes B, and for M; otherwise of the problem, which iterations make do with. */
enum { MOST_ENTRIES = 16384 };

static int entries_of(const changed *c)
{
  const ga_system_def *d = &c->inner;
  const int n = c->nv + d->n_lambda + d->n_psi + d->n_x + d->n_y;
  return d->n_pattern == 0 ? n * n : d->n_pattern;
}

static void entry_of(const changed *c, int e, int *row, int *col)
{
  const ga_system_def *d = &c->inner;
  const int n = c->nv + d->n_lambda + d->n_psi + d->n_x + d->n_y;
  *row = d->n_pattern == 0 ? e / n : d->pattern_row[e];
  *col = d->n_pattern == 0 ? e % n : d->pattern_col[e];
}

/* J += p w_i (J − what it is without M) in the rows of dynamics. */
static int add_mass(const changed *c, const ga_point *p, ga_jacobian *J)
{
  static double D[MOST_ENTRIES], Q[MOST_ENTRIES], G[MOST_ENTRIES], still[RIG_MOST];
  const int entries = entries_of(c);
  ga_point at = *p;
  ga_jacobian without = {J->want, J->shift_v, 0.0, D, Q, G};
  assert_true(entries <= MOST_ENTRIES);
  for (int e = 0; e < entries; e++) D[e] = Q[e] = G[e] = 0.0;
  at.vdot = still;
  const int code = c->inner.jacobian(c->inner.user, &at, &without);
  for (int e = 0; e < entries; e++) {
    int row, col;
    entry_of(c, e, &row, &col);
    if (row >= c->nv || col >= c->nv) continue;
    if (J->want & GA_WANT_D) J->D[e] += c->p[MASS] * weight_of(row) * (J->D[e] - D[e]);
    if (J->want & GA_WANT_Q) J->Q[e] += c->p[MASS] * weight_of(row) * (J->Q[e] - Q[e]);
  }
  return code;
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const changed *c = user;
  const int nl = c->inner.n_lambda, entries = entries_of(c);
  int code = c->inner.jacobian(c->inner.user, p, J);
  if (!code && c->p[MASS] != 0.0) code = add_mass(c, p, J);
  for (int e = 0; e < entries; e++) {
    int row, col;
    entry_of(c, e, &row, &col);
    if (row < c->nv || row >= c->nv + nl || col >= c->nv) continue;
    J->Q[e] *= 1.0 + c->p[ROWS] * weight_of(row - c->nv);
    J->G[e] *= 1.0 + c->p[ROWS] * weight_of(row - c->nv);
  }
  return code;
}

/* def becomes the changed system of c. */
static void change(ga_system_def *def, changed *c, int which, double by)
{
  c->inner = *def;
  assert_null(def->work_create);
  c->nv = 0;
  for (int i = 0; i < def->n_factors; i++) {
    const ga_factor f = def->factors[i];
    c->nv += f.kind == GA_RN ? f.n : f.kind == GA_SO3 || f.kind == GA_QUAT ? 3 : 6;
  }
  for (int i = 0; i < N_PARAMETERS; i++) c->p[i] = i == which ? by : 0.0;
  def->user = c;
  def->sweep = NULL;
  if (def->mass) def->mass = mass;
  if (def->force) def->force = force;
  if (def->phi) def->phi = phi;
  if (def->phi_dot) def->phi_dot = phi_dot;
  if (def->phi_acc) def->phi_acc = phi_acc;
  if (def->k) def->k = k;
  if (def->k_acc) def->k_acc = k_acc;
  if (def->state) def->state = state;
  if (def->output) def->output = output;
  if (def->output_guess) def->output_guess = output_guess;
  if (def->jacobian) def->jacobian = jacobian;
}

/* ---- Initial values moved by p ---- */

typedef struct initial {
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
} initial;

static void initial_set(initial *at, const rig *r, const ga_group *g, int which, double by)
{
  const ex_problem *x = r->problem;
  double d[RIG_MOST] = {0};
  const double move = which == INITIAL ? by : 0.0;
  for (int i = 0; i < ga_group_nv(g); i++) d[i] = 0.2 * move * sin(1.0 + i);
  ga_group_move(g, at->q, x->q0, d);
  for (int i = 0; i < ga_group_nv(g); i++) at->v[i] = x->v0[i] + move * cos(2.0 + i);
  for (int i = 0; i < r->def.n_x; i++) at->x[i] = x->x0[i] + move;
}

/* ---- Runs ---- */

typedef struct course { /* a run with given steps */
  const char *problem;
  ga_method method;
  ga_adjust adjust;
  double h;
  int n, varies, commutator;
  double width;  /* of the differences */
  int order;     /* of collocation; MIXED: another one in each step */
  double within; /* part of the last step at which derivatives are compared; 0: at its end */
  int shares;    /* 1: steps share factors */
  int in_order;  /* 1: sweeps of collocation go from node to node */
  int changes_at; /* > 0: the number of the step behind which the automatic method goes over to order 2 */
} course;

enum { MIXED = -1 };
#define AT_ENDS 0, 0.0, 0, 0, 0 /* of a course of order 2 */

static double step_of(const course *c, int i)
{
  static const double PART[] = {1.0, 1.0, 0.6, 1.4, 1.1, 0.35, 0.7};
  return c->varies ? c->h * PART[i % 7] : c->h;
}

static void take_step(const course *c, ga_stepper *st, int i)
{
  static const int ORDERS[] = {4, 6, 3, 8, 5, 10, 7};
  if (c->order == MIXED) st->order = ORDERS[i % 7];
  if (c->in_order) st->now.own[GA__COLLOC_STIFF] = 2.0;
  assert_status(st->ctx, ga_stepper_step(st, step_of(c, i)), GA_OK);
}

static void open_run(rig *r, const course *c, changed *p, int which, double by)
{
  *r = (rig){
      .problem = ex_problem_find(c->problem), .def = ga_system_defaults(), .opts = ga_stepper_defaults()};
  assert_non_null(r->problem);
  assert_int_equal(rig_context(&r->ctx), GA_OK);
  r->problem->define(&r->def);
  change(&r->def, p, which, by);
  r->opts.method = c->method;
  r->opts.adjust = c->adjust;
  r->opts.order = c->order == MIXED ? 0 : c->order;
  r->opts.commutator = c->commutator;
  r->opts.newton.tol = 1e-14;
  if (c->order && !c->shares) r->opts.newton.reuse = GA_FRESH_STEP;
  r->opts.newton.max_iterations = 60; /* the Jacobian is that at p = 0 */
  assert_int_equal(ga_scheme_rho(r->ctx, 0.8, &r->opts.scheme), GA_OK);
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

enum { PARTS = 8, LONGEST = PARTS * RIG_MOST };

static double time_within(const ga_stepper *st, const course *c)
{
  return st->next.scalar[GA__T] + c->within * (st->now.scalar[GA__T] - st->next.scalar[GA__T]);
}

/* The state, or the one within the last step. */
static ga_state state_of(ga_stepper *st, const course *c)
{
  static double q[RIG_MOST], v[RIG_MOST], vdot[RIG_MOST], lambda[RIG_MOST], psi[RIG_MOST], x[RIG_MOST],
      y[RIG_MOST];
  ga_state s = *ga_stepper_state(st);
  if (!(c->within > 0.0)) return s;
  assert_status(st->ctx, ga_stepper_interpolate(st, time_within(st, c), q, v, vdot, lambda, psi, x, y), GA_OK);
  s.q = q, s.v = v, s.vdot = vdot, s.lambda = lambda, s.psi = psi, s.x = x, s.y = y;
  return s;
}

/* The state as numbers, positions as moves from `from`. */
static int list_numbers(ga_stepper *st, const course *c, const double *from, double *out)
{
  const ga_state f = state_of(st, c);
  const int *size = st->sys->size, nv = st->sys->nv;
  const double *x[] = {f.v, f.vdot, f.a, f.lambda, f.psi, f.x, f.y};
  const int n[] = {nv, nv, nv, size[1], size[2], size[3], size[4]};
  int at = nv;
  ga_group_difference(st->sys->group, out, from, f.q);
  for (int i = 0; i < 7; i++) {
    if (n[i]) memcpy(out + at, x[i], (size_t)n[i] * sizeof *out);
    at += n[i];
  }
  return at;
}

static int numbers_at(const course *c, int which, double by, const double *from, double *out)
{
  changed p;
  rig r;
  initial at;
  const ga_start_opts o = start_of(c);
  open_run(&r, c, &p, which, by);
  initial_set(&at, &r, ga_system_group(r.sys), which, by);
  assert_status(
      r.ctx,
      ga_stepper_start(r.st, &o, 0.0, at.q, at.v, at.x, r.problem->lambda_guess, r.problem->psi_guess, NULL),
      GA_OK);
  for (int i = 0; i < c->n; i++) take_step(c, r.st, i);
  const int n = list_numbers(r.st, c, from, out);
  close_run(&r);
  return n;
}

/* Differences over 2w, w, w/2, ..., extrapolated; off[i]: by how much those before the last extrapolation differ,
 * of which rounding is the most. */
static void extrapolate_differences(int levels, double (*table)[LONGEST], int n, double *out, double *off)
{
  for (int k = 1; k < levels; k++)
    for (int l = levels - 1; l >= k; l--)
      for (int i = 0; i < n; i++) {
        off[i] = fabs(table[l][i] - table[l - 1][i]);
        table[l][i] += (table[l][i] - table[l - 1][i]) / (double)((1 << 2 * k) - 1);
      }
  memcpy(out, table[levels - 1], (size_t)n * sizeof *out);
}

/* w is larger where multipliers have more rounding. */
static int reference(const course *c, int which, double w, const double *from, double *out, double *off)
{
  enum { LEVELS = 4 };
  static double table[LEVELS][LONGEST], there[LONGEST], back[LONGEST];
  int n = 0;
  for (int l = 0; l < LEVELS; l++) {
    const double by = 2.0 * w / (1 << l);
    n = numbers_at(c, which, by, from, there);
    numbers_at(c, which, -by, from, back);
    for (int i = 0; i < n; i++) table[l][i] = (there[i] - back[i]) / (2.0 * by);
  }
  extrapolate_differences(LEVELS, table, n, out, off);
  return n;
}

/* The base run with its derivatives, and the systems at other values. */
typedef struct study {
  rig r, other[N_ALL][GA_PARAMETER_VALUES];
  changed p, changes[N_ALL][GA_PARAMETER_VALUES];
  initial at, ats[N_ALL][GA_PARAMETER_VALUES];
  ga_parameter parameter[N_ALL];
  ga_sensitivity *se;
} study;

static int applies(const ga_system_def *def, int which)
{
  if (which == ROWS) return def->n_lambda > 0;
  if (which == LOOPS) return def->n_psi + def->n_x + def->n_y > 0;
  return 1;
}

static void study_open(study *s, const course *c)
{
  const double delta = 1e-3;
  memset(s, 0, sizeof *s);
  open_run(&s->r, c, &s->p, INITIAL, 0.0);
  const ga_group *g = ga_system_group(s->r.sys);
  initial_set(&s->at, &s->r, g, -1, 0.0);
  for (int j = 0; j < N_ALL; j++) {
    s->parameter[j].step = delta;
    for (int m = 0; m < GA_PARAMETER_VALUES; m++) {
      const double by = (m < 2 ? m - 2 : m - 1) * delta;
      ga_parameter_value *to = &s->parameter[j].at[m];
      if (j != INITIAL && applies(&s->r.def, j)) {
        open_run(&s->other[j][m], c, &s->changes[j][m], j, by);
        to->sys = s->other[j][m].sys;
      } else if (j == INITIAL) {
        initial_set(&s->ats[j][m], &s->r, g, j, by);
        to->q0 = s->ats[j][m].q, to->v0 = s->ats[j][m].v, to->x0 = s->ats[j][m].x;
      }
    }
  }
  assert_status(s->r.ctx, ga_sensitivity_create(s->r.ctx, s->r.st, N_ALL, s->parameter, &s->se), GA_OK);
}

static void study_close(study *s)
{
  ga_sensitivity_destroy(&s->se);
  for (int j = 0; j < N_ALL; j++)
    for (int m = 0; m < GA_PARAMETER_VALUES; m++)
      if (s->other[j][m].ctx) close_run(&s->other[j][m]);
  close_run(&s->r);
}

static void study_run(study *s, const course *c)
{
  const ga_start_opts o = start_of(c);
  const ex_problem *x = s->r.problem;
  assert_status(
      s->r.ctx,
      ga_sensitivity_start(s->se, &o, 0.0, s->at.q, s->at.v, s->at.x, x->lambda_guess, x->psi_guess, NULL),
      GA_OK);
  for (int i = 0; i < c->n; i++) {
    take_step(c, s->r.st, i);
    assert_status(s->r.ctx, ga_sensitivity_step(s->se), GA_OK);
  }
}

static int list_derivatives(const study *s, const course *c, int j, double *out)
{
  const ga_state *d = ga_sensitivity_at(s->se, j), *end = d;
  if (c->within > 0.0)
    assert_status(s->r.ctx, ga_sensitivity_inside(s->se, j, time_within(s->r.st, c), &d), GA_OK);
  const ga_system *sys = s->r.st->sys;
  const int *size = sys->size, nv = sys->nv;
  assert_non_null(d);
  const double *x[] = {d->q, d->v, d->vdot, end->a, d->lambda, d->psi, d->x, d->y};
  const int n[] = {nv, nv, nv, nv, size[1], size[2], size[3], size[4]};
  int at = 0;
  for (int i = 0; i < 8; i++) {
    if (n[i]) memcpy(out + at, x[i], (size_t)n[i] * sizeof *out);
    at += n[i];
  }
  return at;
}

static int show; /* 1: figures are printed, none is judged */

/* Largest difference, each kind of numbers relative to its largest derivative or, where this is small, value.
 */
static double compare(const study *s, const double *is, const double *should, double *unsure,
                      const double *off)
{
  const ga_system *sys = s->r.st->sys;
  const int *size = sys->size, nv = sys->nv, n[] = {nv, nv, nv, nv, size[1], size[2], size[3], size[4]};
  double worst = 0.0;
  int at = 0;
  for (int b = 0; b < 8; at += n[b++]) {
    double most = 1e-3;
    for (int i = at; i < at + n[b]; i++) most = fmax(most, fabs(should[i]));
    for (int i = at; i < at + n[b]; i++) {
      const double e = fabs(is[i] - should[i]) / most;
      if (!(e <= worst)) worst = e;
      *unsure = fmax(*unsure, off[i] / most);
    }
  }
  return worst;
}


static inline void examine(const course *c, double most)
{
  static double is[LONGEST], should[LONGEST], off[LONGEST], from[RIG_MOST];
  static study s;
  study_open(&s, c);
  study_run(&s, c);
  for (int j = 0; j < N_ALL; j++) {
    double unsure = 0.0;
    if (j != INITIAL && !applies(&s.r.def, j)) continue;
    ga__copy_numbers(from, state_of(s.r.st, c).q, s.r.st->sys->nq);
    const int n = reference(c, j, c->width, from, should, off);
    assert_int_equal(list_derivatives(&s, c, j, is), n);
    const double e = compare(&s, is, should, &unsure, off);
    if (show)
      printf("# %-22s %d %d %d %g by %d: %.1e (reference %.1e)\n", c->problem, (int)c->method, c->order,
             c->varies, c->within, j, e, unsure);
    else if (!(e <= most))
      fail_msg("%s, method %d, order %d, parameter %d: off by %.2e, reference sure to %.2e", c->problem,
               (int)c->method, c->order, j, e, unsure);
  }
  study_close(&s);
}

#endif
