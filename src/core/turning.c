/* Steady turning: relative equilibria, and whether a system is invariant under rotation about the axis.
 *
 * A relative equilibrium has v = v(q), the velocities of the turning, vdot = Ω̂ v, xdot = 0. Newton's
 * iteration for q, λ, ψ, x, y is that of the linear equations in turning axes (pencil.c) without a rate,
 *
 *   (A − E Ω̂ − σ E) δz = r,
 *
 * whose rows δq' = 0 say that δv is that of the turning at the new q. The shift σ, small against all modes,
 * makes the matrix regular if the system can turn freely, and then keeps the angle. If the iteration fails,
 * the speed is increased in steps. */
#include "core/turning.h"
#include "core/arrays.h"
#include "core/equilibrium.h"

#include <math.h>
#include <string.h>

#define SHIFT 1e-4       /* σ over the speed */
#define TOLERANCE 1e-11  /* of the last correction, relative to lengths of the system or 1 rad */
#define LONGEST_MOVE 0.2 /* of a correction, likewise: a longer one is scaled down to this */
#define LEAST_STEP 1e-3  /* of the speed */
#define SMALL_ANGLE 0.05 /* [rad] between the two times that are compared */
#define SLIP 1e-6        /* [-] of rates of constraints, relative to the velocities */
enum { MOST_ITERATIONS = 60, HALVINGS = 12 };

/* ---- The operator ---- */

ga_status ga__turning_check(ga_context *ctx, const ga_system *sys, const ga_turning *o)
{
  if (!o->velocity) return ga__refuse_null(ctx, "ga_turning", "velocity");
  if (!(o->speed > 0.0 && isfinite(o->speed)))
    return ga__refuse_number(ctx, "turning", "speed", o->speed, "> 0");
  if (o->n < 0) return ga__refuse_number(ctx, "turning", "n", o->n, ">= 0");
  if (o->n > 0 && (!o->row || !o->col || !o->value))
    return ga__refuse_missing(ctx, "turning", "n", o->n, !o->row ? "row" : !o->col ? "col" : "value");
  for (int i = 0; i < o->n; i++) {
    const int before = i > 0 ? o->row[i - 1] : 0;
    if (o->row[i] < before || o->row[i] >= sys->nv)
      return ga__refuse_number(ctx, "turning", "row", o->row[i], "a velocity of the system, ascending");
    if (o->col[i] < 0 || o->col[i] >= sys->nv)
      return ga__refuse_number(ctx, "turning", "col", o->col[i], "a velocity of the system");
    if (!isfinite(o->value[i])) return ga__refuse_number(ctx, "turning", "value", o->value[i], "finite");
  }
  return GA_OK;
}

void ga__turning_mul(const ga_turning *o, int nv, double *out, const double *in)
{
  memset(out, 0, (size_t)nv * sizeof *out);
  for (int i = 0; i < o->n; i++) out[o->row[i]] += o->value[i] * in[o->col[i]];
}

/* d := Σ (t Ω̂)ᵏ/(k + first)! d, for a small angle: first 0: exp(t Ω̂) d; 1: the mean of that from 0 to t.
 * work[2][nv] */
static void turn(const ga_turning *o, int nv, double t, int first, double *d, double *work)
{
  enum { TERMS = 10 };
  double *term = work, *next = work + nv;
  memcpy(term, d, (size_t)nv * sizeof *term);
  for (int k = 1; k <= TERMS; k++) {
    ga__turning_mul(o, nv, next, term);
    for (int i = 0; i < nv; i++) term[i] = t / (k + first) * next[i], d[i] += term[i];
  }
}

/* ---- Relative equilibria ---- */

typedef struct solver {
  ga_context *ctx;
  const ga_system *sys;
  const ga_turning *turning;
  ga_turning scaled; /* at this fraction of the speed */
  double *value;     /* [n] of it */
  ga_evaluation *ev;
  double t;
  ga_turning_state now, kept;
  double *trial; /* [nq] */
  double *r;     /* [n] */
  double *slip;  /* [n_lambda] */
  double *move;  /* [nv] */
  double *block;
  int iterations;
} solver;

static ga_status solver_create(solver *s)
{
  const ga_system *sys = s->sys;
  const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, n = (size_t)sys->n;
  ga_turning_state *const both[2] = {&s->now, &s->kept};
  const size_t size[] = {(size_t)sys->size[GA_BLOCK_LAMBDA], (size_t)sys->size[GA_BLOCK_PSI],
                         (size_t)sys->size[GA_BLOCK_X], (size_t)sys->size[GA_BLOCK_Y]};
  const ga__array need[] = {{&both[0]->q, nq},
                            {&both[0]->v, nv},
                            {&both[0]->vdot, nv},
                            {&both[0]->lambda, size[0]},
                            {&both[0]->psi, size[1]},
                            {&both[0]->x, size[2]},
                            {&both[0]->y, size[3]},
                            {&both[1]->q, nq},
                            {&both[1]->v, nv},
                            {&both[1]->vdot, nv},
                            {&both[1]->lambda, size[0]},
                            {&both[1]->psi, size[1]},
                            {&both[1]->x, size[2]},
                            {&both[1]->y, size[3]},
                            {&s->trial, nq},
                            {&s->r, n},
                            {&s->slip, size[0]},
                            {&s->move, nv},
                            {&s->value, (size_t)s->turning->n}};
  const ga_status status =
      ga__arrays_create(s->ctx, GA__ARRAYS(need), "a relative equilibrium", &s->block, NULL);
  return status ? status : ga_evaluation_create(s->ctx, sys, &s->ev);
}

static void copy_state(const ga_system *sys, const ga_turning_state *to, const ga_turning_state *from)
{
  ga__copy_numbers(to->q, from->q, sys->nq);
  ga__copy_numbers(to->v, from->v, sys->nv);
  ga__copy_numbers(to->vdot, from->vdot, sys->nv);
  ga__copy_numbers(to->lambda, from->lambda, sys->size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(to->psi, from->psi, sys->size[GA_BLOCK_PSI]);
  ga__copy_numbers(to->x, from->x, sys->size[GA_BLOCK_X]);
  ga__copy_numbers(to->y, from->y, sys->size[GA_BLOCK_Y]);
}

static ga_point point_of(const solver *s)
{
  const ga_turning_state *z = &s->now;
  return (ga_point){s->t, z->q, z->v, z->vdot, z->lambda, z->psi, z->x, z->y, 0, NULL};
}

/* v, vdot of the turning at q, and the residual of all equations. */
static ga_status residual(solver *s, double part)
{
  const ga_turning_state *z = &s->now;
  s->turning->velocity(s->turning->user, z->q, z->v);
  for (int i = 0; i < s->sys->nv; i++) z->v[i] *= part;
  ga__turning_mul(&s->scaled, s->sys->nv, z->vdot, z->v);
  const ga_point p = point_of(s);
  return ga_evaluation_residual(s->ev, &p, NULL, s->r, s->slip);
}

/* Right-hand side of the pencil: residuals in the rows of their equations, 0 in all others. */
static void place_residual(const solver *s, const ga__pencil *c, double *b)
{
  static const struct {
    ga__part_of_z part;
    ga_equation_block block;
  } rows[] = {{GA__Z_V, GA_BLOCK_V},
              {GA__Z_X, GA_BLOCK_X},
              {GA__Z_LAMBDA, GA_BLOCK_LAMBDA},
              {GA__Z_PSI, GA_BLOCK_PSI},
              {GA__Z_Y, GA_BLOCK_Y}};
  memset(b, 0, (size_t)c->n * sizeof *b);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int i = 0; i < c->size[rows[k].part]; i++) {
      const int at = c->start[rows[k].part] + i;
      if (!c->left_out[at]) b[at] = s->r[s->sys->start[rows[k].block] + i];
    }
}

/* The correction d[n of the pencil], with the pencil of this state. */
static ga_status find_correction(solver *s, ga__pencil *c, double **d)
{
  const ga_point p = point_of(s);
  ga_status status = ga_evaluation_jacobian(s->ev, &p);
  if (!status) status = ga__pencil_create(s->ctx, s->sys, s->ev, &p, &s->scaled, c);
  double *b = status ? NULL : ga__alloc(s->ctx, 2 * (size_t)c->n, sizeof *b);
  if (!status && !b) status = ga__no_memory(s->ctx, "a relative equilibrium");
  if (!status) status = ga__pencil_shift(c, SHIFT * s->scaled.speed);
  if (!status) {
    place_residual(s, c, b + c->n);
    status = ga__pencil_solve_for(c, b, b + c->n);
  }
  *d = b;
  return status == GA_RETRY_SINGULAR ? GA_RETRY_NEWTON : status;
}

static void add(double *to, const double *d, double factor, int n)
{
  for (int i = 0; i < n; i++) to[i] += factor * d[i];
}

/* now := now + length d, shortened until the equations can be evaluated. */
static ga_status apply(solver *s, const ga__pencil *c, const double *d, double length, double part)
{
  const ga_turning_state *z = &s->now;
  ga_status status = GA_OK;
  double last = 0.0;
  ga__copy_numbers(s->trial, z->q, s->sys->nq);
  for (int i = 0; i < HALVINGS; i++, length *= 0.5) {
    for (int k = 0; k < s->sys->nv; k++) s->move[k] = length * d[c->start[GA__Z_Q] + k];
    ga_group_move(s->sys->group, z->q, s->trial, s->move);
    const double more = length - last;
    add(z->lambda, d + c->start[GA__Z_LAMBDA], more, c->size[GA__Z_LAMBDA]);
    add(z->psi, d + c->start[GA__Z_PSI], more, c->size[GA__Z_PSI]);
    add(z->x, d + c->start[GA__Z_X], more, c->size[GA__Z_X]);
    add(z->y, d + c->start[GA__Z_Y], more, c->size[GA__Z_Y]);
    last = length;
    status = residual(s, part);
    if (status <= 0) return status;
  }
  return status;
}

/* The equilibrium at this fraction of the speed, from s->now. */
static ga_status iterate(solver *s, double part)
{
  ga__convergence judge = {0};
  const double extent = 1.0 + ga__largest(s->now.q, s->sys->nq);
  s->scaled.speed = part * s->turning->speed;
  for (int i = 0; i < s->turning->n; i++) s->value[i] = part * s->turning->value[i];
  ga_status status = residual(s, part);
  for (int i = 0; !status && i < MOST_ITERATIONS; i++) {
    ga__pencil c = {0};
    double *d = NULL;
    ga__progress progress = GA__GOES_ON;
    status = find_correction(s, &c, &d);
    if (!status) {
      const double size = ga__largest(d, s->sys->nv) / extent, length = fmin(1.0, LONGEST_MOVE / size);
      progress = ga__judge_correction(&judge, size, TOLERANCE);
      status = progress == GA__DIVERGES ? GA_RETRY_NEWTON : apply(s, &c, d, size > 0.0 ? length : 1.0, part);
    }
    ga__pencil_destroy(&c);
    ga__free(s->ctx, d);
    s->iterations++;
    if (status || progress == GA__CONVERGED) return status;
  }
  return status ? status : GA_RETRY_NEWTON;
}

/* At the full speed at once, or in steps of the speed. */
static ga_status search(solver *s, ga_turning_report *report)
{
  copy_state(s->sys, &s->kept, &s->now);
  report->speed_steps = 1;
  ga_status status = iterate(s, 1.0);
  if (status <= 0) return status;
  report->speed_steps = 0;
  copy_state(s->sys, &s->now, &s->kept);
  for (double reached = 0.0, step = 0.25; reached < 1.0;) {
    const double part = fmin(1.0, reached + step);
    status = iterate(s, part);
    if (status < 0) return status;
    if (!status) {
      reached = part, step *= 1.5;
      report->speed_steps++;
      copy_state(s->sys, &s->kept, &s->now);
      continue;
    }
    step *= 0.5;
    copy_state(s->sys, &s->now, &s->kept);
    if (step < LEAST_STEP)
      return ga__refuse(
          s->ctx, GA_RETRY_NEWTON, GA_REASON_NO_STEADY_TURNING,
          &(ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1},
                       GA__NUMBERS({s->turning->speed, "rad/s"}, {reached * s->turning->speed, "rad/s"})});
  }
  return GA_OK;
}

/* Checks that drives and rolling are compatible with the rotation. */
static ga_status check_rates(solver *s, ga_turning_report *report)
{
  const ga_system *sys = s->sys;
  int at = -1, at_k = -1;
  const double most = SLIP * fmax(ga__largest(s->now.v, sys->nv), s->turning->speed);
  report->slip = ga__max_abs(s->slip, sys->size[GA_BLOCK_LAMBDA], &at);
  const double k = ga__max_abs(s->r + sys->start[GA_BLOCK_PSI], sys->size[GA_BLOCK_PSI], &at_k);
  report->residual = ga__largest(s->r, sys->n);
  if (report->slip <= most && k <= most) return GA_OK;
  const int holonomic = !(report->slip <= most);
  char name[GA_ERROR_NAME];
  ga__describe(sys, holonomic ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI, holonomic ? at : at_k, name, sizeof name);
  return ga__refuse(
      s->ctx, GA_ERR_INCONSISTENT, GA_REASON_TURNING_AGAINST,
      &(ga__facts){.at = &(ga__fact_time){s->t, NAN, holonomic ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI,
                                          holonomic ? at : at_k},
                   .equation = name,
                   GA__NUMBERS({holonomic ? report->slip : k, NULL}, {s->turning->speed, "rad/s"})});
}

ga_status ga_turning_solve(ga_context *ctx, const ga_system *sys, const ga_turning *turning, double t,
                           const ga_turning_state *at, ga_turning_report *report)
{
  ga_turning_report own;
  if (!report) report = &own;
  *report = (ga_turning_report){0};
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!sys || !turning || !at)
    return ga__refuse_null(ctx, __func__, !sys ? "sys" : turning ? "at" : "turning");
  solver s = {.ctx = ctx, .turning = turning, .t = t};
  ga_status status = ga__system_open(ctx, sys, &s.sys);
  if (!status) status = ga__turning_check(ctx, s.sys, turning);
  if (!status) status = solver_create(&s);
  if (!status) {
    s.scaled = *turning;
    s.scaled.value = s.value;
    copy_state(s.sys, &s.now, at);
    const ga_point p = point_of(&s);
    status = ga__check_point(s.sys, &p, __func__);
  }
  if (!status) status = search(&s, report);
  report->iterations = s.iterations;
  if (!status) status = check_rates(&s, report);
  if (!status) copy_state(s.sys, at, &s.now);
  ga_evaluation_destroy(&s.ev);
  ga__free(ctx, s.block);
  ga__system_close(&s.sys);
  return status;
}

/* ---- Invariance under rotation ---- */

/* The equations after a small angle, at the rotated point; r[n]: their residuals. */
typedef struct later {
  double h;
  double *q, *move, *v, *vdot, *x, *lambda, *psi, *y, *r, *work, *a, *b, *block;
  ga_evaluation *ev;
  ga__pencil pencil;
} later;

static ga_status later_create(ga_context *ctx, const ga_system *sys, const ga__pencil *now, later *l)
{
  const size_t nv = (size_t)sys->nv, n = (size_t)now->n;
  const ga__array need[] = {{&l->q, (size_t)sys->nq},
                            {&l->move, nv},
                            {&l->v, nv},
                            {&l->vdot, nv},
                            {&l->x, (size_t)sys->size[GA_BLOCK_X]},
                            {&l->lambda, (size_t)sys->size[GA_BLOCK_LAMBDA]},
                            {&l->psi, (size_t)sys->size[GA_BLOCK_PSI]},
                            {&l->y, (size_t)sys->size[GA_BLOCK_Y]},
                            {&l->r, (size_t)sys->n},
                            {&l->work, 2 * nv},
                            {&l->a, n},
                            {&l->b, n}};
  const ga_status status = ga__arrays_create(ctx, GA__ARRAYS(need), "modes", &l->block, NULL);
  return status ? status : ga_evaluation_create(ctx, sys, &l->ev);
}

static ga_status turn_point(const ga_system *sys, const ga__pencil *now, const ga_point *p, later *l)
{
  const ga_status status = ga_evaluation_residual(l->ev, p, NULL, l->r, NULL);
  l->h = SMALL_ANGLE / now->turning->speed;
  for (int i = 0; i < sys->nv; i++) l->move[i] = l->h * p->v[i], l->v[i] = p->v[i], l->vdot[i] = p->vdot[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) l->x[i] = p->x[i] - l->h * l->r[sys->start[GA_BLOCK_X] + i];
  ga__copy_numbers(l->lambda, p->lambda, sys->size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(l->psi, p->psi, sys->size[GA_BLOCK_PSI]);
  ga__copy_numbers(l->y, p->y, sys->size[GA_BLOCK_Y]);
  turn(now->turning, sys->nv, l->h, 1, l->move, l->work);
  ga_group_move(sys->group, l->q, p->q, l->move);
  turn(now->turning, sys->nv, l->h, 0, l->v, l->work);
  turn(now->turning, sys->nv, l->h, 0, l->vdot, l->work);
  return status;
}

/* Residuals and pencil at the rotated point. */
static ga_status linearise(ga_context *ctx, const ga_system *sys, const ga__pencil *now, double t, later *l)
{
  const ga_point p = {t + l->h, l->q, l->v, l->vdot, l->lambda, l->psi, l->x, l->y, 0, NULL};
  ga_status status = ga_evaluation_residual(l->ev, &p, NULL, l->r, NULL);
  if (!status) status = ga_evaluation_jacobian(l->ev, &p);
  ga__pencil_destroy(&l->pencil);
  if (!status) status = ga__pencil_create(ctx, sys, l->ev, &p, now->turning, &l->pencil);
  if (!status) status = ga__pencil_shift(&l->pencil, now->tau0);
  return status;
}

static void later_destroy(ga_context *ctx, later *l)
{
  ga__pencil_destroy(&l->pencil);
  ga_evaluation_destroy(&l->ev);
  ga__free(ctx, l->block);
}

/* Largest change in a section of `a`, relative to its largest number. */
static double compare_parts(const ga__pencil *c, const double *a, const double *b)
{
  double worst = 0.0;
  for (int part = GA__Z_Q; part <= GA__Z_X; part++) {
    double change = 0.0;
    for (int i = c->start[part]; i < c->start[part] + c->size[part]; i++)
      change = fmax(change, fabs(b[i] - a[i]));
    const double size = ga__largest(a + c->start[part], c->size[part]);
    if (size > 0.0) worst = fmax(worst, change / size);
  }
  return worst;
}

/* T = (A − τ0 E)⁻¹ E of both times on a vector: T₂ S x against S T₁ x. Multipliers drop out. */
static ga_status compare_operators(ga__pencil *now, later *l, const double *vector, double *change)
{
  const int nv = now->sys->nv, v = now->start[GA__Z_V];
  double *turned = l->b;
  memcpy(turned, vector, (size_t)now->n_state * sizeof *turned);
  turn(now->turning, nv, l->h, 0, turned, l->work);
  turn(now->turning, nv, l->h, 0, turned + v, l->work);
  ga_status status = ga__pencil_solve(&l->pencil, l->a, turned);
  if (!status) status = ga__pencil_solve(now, l->b, vector);
  if (status) return status;
  turn(now->turning, nv, l->h, 0, l->b, l->work);
  turn(now->turning, nv, l->h, 0, l->b + v, l->work);
  *change = compare_parts(now, l->b, l->a);
  return GA_OK;
}

/* Multipliers and outputs at the rotated point, whose values in rotated axes are unknown; *change: the
 * correction that its equations require, relative to the move of the rotation. */
static ga_status balance(const ga_system *sys, later *l, double *change)
{
  const solver rows = {.sys = sys, .r = l->r};
  const ga__pencil *c = &l->pencil;
  place_residual(&rows, c, l->b);
  const ga_status status = ga__pencil_solve_for(&l->pencil, l->a, l->b);
  if (status) return status;
  *change = SMALL_ANGLE * ga__largest(l->a, sys->nv) / (l->h * ga__largest(l->v, sys->nv));
  add(l->lambda, l->a + c->start[GA__Z_LAMBDA], 1.0, c->size[GA__Z_LAMBDA]);
  add(l->psi, l->a + c->start[GA__Z_PSI], 1.0, c->size[GA__Z_PSI]);
  add(l->y, l->a + c->start[GA__Z_Y], 1.0, c->size[GA__Z_Y]);
  return GA_OK;
}

ga_status ga__turning_unsteadiness(ga_context *ctx, ga__pencil *now, const ga_point *p, int n,
                                   const double *vectors, double *unsteady)
{
  const ga_error said = ctx->error;
  const ga_system *sys = now->sys;
  later l = {0};
  double worst = 0.0, change = 0.0;
  ga_status status = later_create(ctx, sys, now, &l);
  if (!status) status = turn_point(sys, now, p, &l);
  for (int pass = 0; !status && pass < 2; pass++) {
    status = linearise(ctx, sys, now, p->t, &l);
    if (!status) status = balance(sys, &l, &worst);
  }
  for (int i = 0; !status && i < n; i++) {
    status = compare_operators(now, &l, vectors + (size_t)i * (size_t)now->n_state, &change);
    worst = fmax(worst, change);
  }
  *unsteady = status ? NAN : worst / l.h;
  later_destroy(ctx, &l);
  if (status > 0) ctx->error = said;
  return status > 0 ? GA_OK : status;
}
