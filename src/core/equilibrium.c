/* Equilibria: options, memory, and the search. */
#include "core/sample.h"
#include "core/equilibrium.h"
#include "core/arrays.h"
#include "core/evaluate.h"

#include <math.h>
#include <stdio.h>

enum { SMALL = 2000, VECTORS_OF_SMALL = 300, VECTORS_OF_LARGE = 24, MOTIONS = 400 };

ga_equilibrium_opts ga_equilibrium_defaults(void)
{
  return (ga_equilibrium_opts){.load = 1.0,
                               .load_step = 0.1,
                               .max_steps = 1000,
                               .tol = 1e-10,
                               .max_iterations = 30,
                               .relax = 1,
                               .stability = 1,
                               .max_change = 0.1};
}

/* ---- Creation ---- */

static ga_status check_opts(ga_context *ctx, const ga_equilibrium_opts *o)
{
  static const char kind[] = "equilibrium";
  if ((int)o->control < 0 || o->control > GA_LOAD_PATH)
    return ga__refuse_choice(ctx, kind, "control", (int)o->control, "ga_load_control", GA_LOAD_PATH);
  if ((int)o->lu < 0 || o->lu > GA_LU_BLOCKS)
    return ga__refuse_choice(ctx, kind, "lu", (int)o->lu, "ga_lu_kind", GA_LU_BLOCKS);
  if (!(o->load > 0.0 && o->load <= 1e12))
    return ga__refuse_number(ctx, kind, "load", o->load, "> 0, and at most 1e12");
  if (o->control == GA_LOAD_AT_ONCE && o->load != 1.0)
    return ga__refuse_number(ctx, kind, "load", o->load, "1 without load steps or a path");
  if (!(o->load_step > 0.0 && o->load_step <= 1e12))
    return ga__refuse_number(ctx, kind, "load_step", o->load_step, "> 0, and at most 1e12");
  if (!(o->max_step >= 0.0)) return ga__refuse_number(ctx, kind, "max_step", o->max_step, ">= 0");
  if (!(o->tol >= 1e-15 && o->tol <= 1e-2))
    return ga__refuse_number(ctx, kind, "tol", o->tol, "1e-15 to 1e-2");
  if (!(o->max_change > 0.0)) return ga__refuse_number(ctx, kind, "max_change", o->max_change, "> 0");
  if (o->max_steps < 1) return ga__refuse_number(ctx, kind, "max_steps", o->max_steps, ">= 1");
  if (o->max_iterations < 1) return ga__refuse_number(ctx, kind, "max_iterations", o->max_iterations, ">= 1");
  return GA_OK;
}

/* Rows and columns of all parts in W, and of its diagonal; NULLs: only their number. */
static size_t list_entries(const ga_equilibrium *eq, int *row, int *col)
{
  static const ga_equation_block columns[GA_N_BY] = {GA_BLOCK_V,   GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA,
                                                     GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};
  const ga_system *sys = eq->sys;
  size_t n = 0;
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      const ga_sparse *A = ga__evaluation_part(eq->ev, r, b);
      for (int c = 0; c < A->cols; c++)
        for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++, n++)
          if (row) row[n] = sys->start[r] + A->row[p], col[n] = sys->start[columns[b]] + c;
    }
  for (int i = 0; i < sys->n; i++, n++)
    if (row) row[n] = col[n] = i;
  return n;
}

static ga_status plan_matrix(ga_equilibrium *eq)
{
  const size_t n = list_entries(eq, NULL, NULL);
  int *row = ga__alloc(eq->ctx, n, sizeof *row), *col = ga__alloc(eq->ctx, n, sizeof *col);
  int *place = eq->into[0][0] = ga__alloc(eq->ctx, n, sizeof *place);
  ga_status status = row && col && place ? GA_OK : ga__no_memory(eq->ctx, "an equilibrium");
  if (!status) {
    list_entries(eq, row, col);
    status = ga_sparse_create(eq->ctx, eq->sys->n, eq->sys->n, (int)n, row, col, place, &eq->W);
  }
  for (int r = 0; !status && r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      eq->into[r][b] = place;
      place += ga__evaluation_part(eq->ev, r, b)->nnz;
    }
  eq->diagonal = place;
  ga__free(eq->ctx, row);
  ga__free(eq->ctx, col);
  if (!status) status = ga_lu_create(eq->ctx, eq->W, eq->opts.lu, &eq->lu);
  return status;
}

static ga_status take_memory(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  const size_t n = (size_t)sys->n, nq = (size_t)sys->nq, nv = (size_t)sys->nv,
               inner = (size_t)sys->def.n_inner, m = n - nv + inner, most = (size_t)eq->most;
  const size_t zeros = nv + (size_t)sys->size[GA_BLOCK_X] + (size_t)sys->size[GA_BLOCK_LAMBDA];
  const ga__array need[] = {{&eq->start.q, nq},
                            {&eq->start.rest, m},
                            {&eq->now.q, nq},
                            {&eq->now.rest, m},
                            {&eq->trial.q, nq},
                            {&eq->trial.rest, m},
                            {&eq->kept.q, nq},
                            {&eq->kept.rest, m},
                            {&eq->last.q, nq},
                            {&eq->last.rest, m},
                            {&eq->given, nq},
                            {&eq->out_of_balance, n},
                            {&eq->zero, zeros},
                            {&eq->scale, nv},
                            {&eq->r, n},
                            {&eq->d, n + inner},
                            {&eq->simplified, n},
                            {&eq->b, n},
                            {&eq->tangent, n + inner},
                            {&eq->tangent_old, n + inner},
                            {&eq->move, nv},
                            {&eq->basis, (most + 1) * nv},
                            {&eq->hessenberg, most * most},
                            {&eq->direction, nv}};
  ga_status status = ga__arrays_create(eq->ctx, GA__ARRAYS(need), "an equilibrium", &eq->block, NULL);
  ga__balance *const all[] = {&eq->start, &eq->now, &eq->trial, &eq->kept, &eq->last};
  for (int i = 0; !status && inner > 0 && i < 5; i++) all[i]->statics.inner = all[i]->rest + (n - nv);
  if (!status) status = ga__eigen_create(eq->ctx, eq->most, &eq->eigen);
  return status;
}

/* Sets the public state from eq->last, at rest. */
static void set_state(ga_equilibrium *eq)
{
  const ga_point p = ga__balance_point(eq, &eq->last);
  eq->state = (ga_state){.q = p.q,
                         .v = eq->zero,
                         .vdot = eq->zero,
                         .a = eq->zero,
                         .lambda = p.lambda,
                         .psi = p.psi,
                         .eta = eq->zero,
                         .x = p.x,
                         .xdot = eq->zero,
                         .w = eq->zero,
                         .y = p.y};
}

static ga_status build(ga_equilibrium *eq)
{
  const int nv = eq->sys->nv, motions = 2 * nv + eq->sys->size[GA_BLOCK_X];
  const int most = nv <= SMALL ? VECTORS_OF_SMALL : VECTORS_OF_LARGE;
  eq->most = nv < most ? nv : most;
  ga_status status = ga_evaluation_create(eq->ctx, eq->sys, &eq->ev);
  if (!status) status = plan_matrix(eq);
  if (!status) status = take_memory(eq);
  if (!status) status = ga__rows_create(eq->sys, &eq->rows);
  if (!status) status = ga__null_create(eq->sys, &eq->null);
  if (!status && motions <= MOTIONS && eq->opts.stability) {
    status = ga_linearisation_create(eq->ctx, eq->sys, &eq->linearisation);
    if (!status) status = ga__eigen_create(eq->ctx, motions, &eq->motions);
  }
  if (!status) set_state(eq);
  return status;
}

ga_status ga_equilibrium_create(ga_context *ctx, const ga_system *sys, const ga_equilibrium_opts *opts,
                                ga_equilibrium **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys) return ga__refuse_null(ctx, __func__, out ? "sys" : "out");
  const ga_equilibrium_opts o = opts ? *opts : ga_equilibrium_defaults();
  ga_status status = check_opts(ctx, &o);
  if (!status) status = ga__refuse_samples(ctx, sys, __func__);
  if (status) return status;
  ga_equilibrium *eq = ga__alloc(ctx, 1, sizeof *eq);
  if (!eq) return ga__no_memory(ctx, "an equilibrium");
  eq->ctx = ctx;
  eq->opts = o;
  status = ga__system_open(ctx, sys, &eq->sys);
  if (!status) status = build(eq);
  if (status)
    ga_equilibrium_destroy(&eq);
  else
    *out = eq;
  return status;
}

void ga_equilibrium_destroy(ga_equilibrium **out)
{
  if (!out || !*out) return;
  ga_equilibrium *eq = *out;
  ga_context *ctx = eq->ctx;
  ga__null_destroy(ctx, &eq->null);
  ga__rows_destroy(&eq->rows);
  ga_linearisation_destroy(&eq->linearisation);
  ga__eigen_destroy(&eq->motions);
  ga__eigen_destroy(&eq->eigen);
  ga_lu_destroy(&eq->lu);
  ga_sparse_destroy(ctx, &eq->W);
  ga_evaluation_destroy(&eq->ev);
  ga__free(ctx, eq->into[0][0]);
  ga__free(ctx, eq->block);
  ga__free(ctx, eq->shapes);
  ga__system_close(&eq->sys);
  ga__free(ctx, eq);
  *out = NULL;
}

const ga_state *ga_equilibrium_state(const ga_equilibrium *eq)
{
  return eq && eq->has_state ? &eq->state : NULL;
}

/* ---- Where it begins ---- */

/* The largest |number| of q that is a length, or a coordinate of R^n. */
static double extent(const ga_group *group, const double *q)
{
  double most = 0.0;
  for (int f = 0; f < ga_group_n_factors(group); f++) {
    int at;
    const ga_factor factor = ga_group_factor(group, f, &at, NULL);
    const int n = factor.kind == GA_RN ? factor.n : factor.kind == GA_R3SO3 || factor.kind == GA_SE3 ? 3 : 0;
    most = fmax(most, ga__largest(q + at, n));
  }
  return most > 0.0 ? most : 1.0;
}

static void set_scales(ga_equilibrium *eq)
{
  const ga_group *group = eq->sys->group;
  const double size = extent(group, eq->now.q);
  for (int f = 0; f < ga_group_n_factors(group); f++) {
    int at;
    const ga_factor factor = ga_group_factor(group, f, NULL, &at);
    const int n = factor.kind == GA_RN ? factor.n : factor.kind == GA_R3SO3 || factor.kind == GA_SE3 ? 3 : 0;
    const int all = factor.kind == GA_RN ? factor.n : n + 3;
    for (int i = 0; i < all; i++) eq->scale[at + i] = i < n ? size : 1.0;
  }
}

/* Relations among the constraints at eq->now. */
static ga_status find_relations(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  const ga_point p = ga__balance_point(eq, &eq->now);
  const int constraints = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  const double *B, *A;
  eq->free_directions = sys->nv;
  if (constraints == 0) return GA_OK;
  ga_status status = ga__evaluation_constraints(eq->ev, &p, &B, &A);
  if (!status) status = ga__null_find(&eq->rows, B, A, 0, &eq->null);
  if (status) return status;
  eq->report.redundant = eq->null.r;
  eq->free_directions = sys->nv - constraints + eq->null.r;
  return GA_OK;
}

#define CLOSED 1e-6 /* tolerance of redundant constraints, as max_gap of a start */

/* Checks that all constraints are satisfied at eq->now: Φ relative to the lengths of the rows of B in
 * eq->null. */
static ga_status check_closed(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  const double most = CLOSED * (1.0 + ga__largest(eq->now.q, sys->nq));
  ga_status status = ga__balance_residual(eq, &eq->now, eq->r);
  if (status) return status;
  const double *phi = eq->r + sys->start[GA_BLOCK_LAMBDA];
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) {
    if (fabs(phi[i]) <= most * fmax(eq->null.length[i], 1e-3)) continue;
    char name[GA_ERROR_NAME];
    ga__describe(sys, GA_BLOCK_LAMBDA, i, name, sizeof name);
    return ga__refuse(eq->ctx, GA_ERR_INCONSISTENT, GA_REASON_NOT_CLOSED,
                      &(ga__facts){.at = &(ga__fact_time){eq->t, NAN, GA_BLOCK_LAMBDA, i},
                                   .equation = name,
                                   GA__NUMBERS({fabs(phi[i]), NULL})});
  }
  return GA_OK;
}

/* Refuses if q0 was moved by more than max_change onto the constraints, as a start does. */
static ga_status check_move(ga_equilibrium *eq, const double *q0, double off, int worst)
{
  const ga_system *sys = eq->sys;
  char name[GA_ERROR_NAME], coordinate[GA_ERROR_NAME];
  int far = -1;
  ga_group_difference(sys->group, eq->move, q0, eq->now.q);
  const double change = ga__max_abs(eq->move, sys->nv, &far);
  if (!(change > 1e-6) || far < 0 || worst < 0) return GA_OK;
  ga__describe(sys, GA_BLOCK_LAMBDA, worst, name, sizeof name);
  ga__describe_unknown(sys, GA_BLOCK_V, far, coordinate, sizeof coordinate);
  if (change > eq->opts.max_change * (1.0 + ga__largest(q0, sys->nq)))
    return ga__refuse(eq->ctx, GA_ERR_INCONSISTENT, GA_REASON_START_OFF,
                      &(ga__facts){.at = &(ga__fact_time){eq->t, NAN, GA_BLOCK_LAMBDA, worst},
                                   .field = "max_change",
                                   .name = "positions",
                                   .other = coordinate,
                                   .equation = name,
                                   GA__NUMBERS({off, NULL}, {change, NULL}, {eq->opts.max_change, NULL})});
  ga__log(eq->ctx, GA_LOG_WARNING, GA_REASON_START_MOVED,
          &(ga__facts){.kind = "equilibrium",
                       .name = "positions",
                       .equation = coordinate,
                       GA__NUMBERS({off, NULL}, {change, NULL})});
  return GA_OK;
}

/* z0 with Φ = 0 and y = o, and the unbalanced forces there. */
static ga_status begin(ga_equilibrium *eq, const double *q0, const double *x0)
{
  const ga_system *sys = eq->sys;
  double *rest = eq->now.rest - sys->nv;
  for (int i = 0; i < sys->n - sys->nv + sys->def.n_inner; i++) eq->now.rest[i] = 0.0;
  for (int i = 0; i < sys->n; i++) eq->out_of_balance[i] = 0.0;
  ga__copy_numbers(eq->given, q0, sys->nq);
  ga__copy_numbers(eq->now.q, q0, sys->nq);
  ga__copy_numbers(rest + sys->start[GA_BLOCK_X], x0, sys->size[GA_BLOCK_X]);
  eq->now.statics.load = 0.0;
  set_scales(eq);
  const ga_point p = ga__balance_point(eq, &eq->now);
  ga_status status = ga__check_point(sys, &p, "ga_equilibrium_solve");
  if (!status && sys->size[GA_BLOCK_Y] > 0 && ga__has(sys, GA__OUTPUT_GUESS)) {
    status = ga__call(sys, GA__OUTPUT_GUESS, &p, eq->b);
    if (!status) ga__copy_numbers(rest + sys->start[GA_BLOCK_Y], eq->b, sys->size[GA_BLOCK_Y]);
  }
  int worst = -1;
  if (!status) status = ga__balance_set_inner(eq, &eq->now);
  if (!status) status = ga__balance_residual(eq, &eq->now, eq->r);
  const double off =
      status ? 0.0 : ga__max_abs(eq->r + sys->start[GA_BLOCK_LAMBDA], sys->size[GA_BLOCK_LAMBDA], &worst);
  if (!status) status = ga__balance_project(eq);
  if (!status) status = ga__balance_set_inner(eq, &eq->now);
  if (!status) status = find_relations(eq);
  if (!status) status = check_closed(eq);
  if (!status) status = check_move(eq, q0, off, worst);
  if (status) return status;
  const int states = sys->start[GA_BLOCK_X];
  ga__copy_numbers(eq->out_of_balance, eq->r, sys->nv);
  ga__copy_numbers(eq->out_of_balance + states, eq->r + states, sys->size[GA_BLOCK_X]);
  ga__balance_copy(eq, &eq->start, &eq->now);
  return GA_OK;
}

/* ---- The search ---- */

static int is_good(const ga__stiffness *s)
{
  return s->stability == GA_STABLE;
}

static ga_status judge(ga_equilibrium *eq, ga__stiffness *s)
{
  *s = (ga__stiffness){.stability = GA_STABILITY_UNKNOWN, .coordinate = -1};
  return eq->opts.stability ? ga__find_stability(eq, s) : GA_OK;
}

/* At a kink or jump the derivatives of one side, or of none, say nothing about stability. */
static ga_status judge_kink(ga_equilibrium *eq, ga__stiffness *s)
{
  if (s->stability == GA_STABILITY_UNKNOWN) return GA_OK;
  const ga_status status = ga__find_kink(eq, &s->at_kink);
  if (!status && s->at_kink) {
    s->stability = GA_STABILITY_UNKNOWN;
    s->n_unstable = 0;
    s->coordinate = s->unstable_coordinate = -1;
  }
  return status;
}

static ga_status show_result(ga_equilibrium *eq, int iterations, ga__stiffness *s)
{
  const ga_status status = judge_kink(eq, s);
  return status ? status : ga__show_load(eq, iterations, s);
}

/* Newton's iteration for all of the load: by full, short and damped moves, then in load steps. */
static ga_status search_by_newton(ga_equilibrium *eq, int *iterations)
{
  ga_status status = GA_RETRY_NEWTON;
  for (int kind = GA__FULL_MOVES; status > 0 && kind <= GA__DAMPED_MOVES; kind++) {
    if (kind == GA__SHORT_MOVES && eq->sys->def.n_inner == 0) continue;
    ga__balance_copy(eq, &eq->now, &eq->start);
    eq->now.statics.load = 1.0;
    status = ga__balance_guess(eq);
    if (!status) status = ga__balance_newton(eq, (ga__move_kind)kind, iterations);
    if (!status) eq->report.load_steps = 1;
  }
  if (status <= 0) return status;
  const ga_load_fn observer = eq->opts.observer;
  ga__balance_copy(eq, &eq->now, &eq->start);
  eq->opts.observer = NULL;
  status = ga__load_steps(eq, 0.25, 1.0);
  eq->opts.observer = observer;
  *iterations = (int)eq->report.last_iterations;
  return status;
}

/* An unstable equilibrium is kept in eq->last while relaxation searches for a stable one. */
static ga_status search_at_once(ga_equilibrium *eq, ga__stiffness *s)
{
  int iterations = 0;
  ga_status status = search_by_newton(eq, &iterations);
  if (!status) status = judge(eq, s);
  if (status < 0 || (!status && (is_good(s) || s->stability == GA_STABILITY_UNKNOWN)) || !eq->opts.relax)
    return status ? status : show_result(eq, iterations, s);
  const int found = !status;
  ga__stiffness other;
  if (found) ga__balance_copy(eq, &eq->last, &eq->now);
  ga__balance_copy(eq, &eq->now, &eq->start);
  status = ga__balance_relax(eq);
  if (!status) status = judge(eq, &other);
  if (status < 0) return status;
  if (found && (status || !is_good(&other))) {
    ga__balance_copy(eq, &eq->now, &eq->last);
    eq->now.statics.load = 1.0;
    status = GA_OK;
  } else if (!status) {
    *s = other;
    if (eq->report.load_steps == 0) eq->report.load_steps = 1;
    iterations = (int)eq->report.last_iterations;
  }
  return status ? status : show_result(eq, iterations, s);
}

static ga_status search(ga_equilibrium *eq, ga__stiffness *s)
{
  *s = (ga__stiffness){.stability = GA_STABILITY_UNKNOWN, .coordinate = -1};
  ga_status status = ga__show_load(eq, 0, NULL);
  if (status) return status;
  if (eq->opts.control == GA_LOAD_AT_ONCE) return search_at_once(eq, s);
  const double largest = eq->opts.max_step > 0.0 ? eq->opts.max_step : eq->opts.load_step;
  status =
      eq->opts.control == GA_LOAD_PATH ? ga__load_path(eq) : ga__load_steps(eq, eq->opts.load_step, largest);
  if (!status) status = judge(eq, s);
  return status ? status : judge_kink(eq, s);
}

/* ---- What was found ---- */

static void name_unknown(const ga_equilibrium *eq, int i, ga__fact_time *at, char *name, size_t size)
{
  *at = (ga__fact_time){eq->t, NAN, -1, -1};
  snprintf(name, size, "the system");
  if (i < 0) return;
  at->block = (int)ga__block_of(eq->sys, i, &at->index);
  ga__describe_unknown(eq->sys, (ga_equation_block)at->block, at->index, name, size);
}

/* No equilibrium: reports the equation with the largest residual and the coordinate that has moved most. */
static ga_status not_found(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  char equation[GA_ERROR_NAME] = "the system", moved[GA_ERROR_NAME] = "";
  ga__fact_time at = {eq->t, NAN, -1, -1};
  int worst = -1, far = -1;
  double off = NAN, distance = 0.0;
  eq->now.statics.load = 1.0;
  if (ga__balance_residual(eq, &eq->now, eq->r) == GA_OK) off = ga__max_abs(eq->r, sys->n, &worst);
  if (worst >= 0) {
    at.block = (int)ga__block_of(sys, worst, &at.index);
    ga__describe(sys, (ga_equation_block)at.block, at.index, equation, sizeof equation);
  }
  ga_group_difference(sys->group, eq->move, eq->start.q, eq->now.q);
  for (int i = 0; i < sys->nv; i++)
    if (fabs(eq->move[i]) / eq->scale[i] > distance) distance = fabs(eq->move[i]) / eq->scale[i], far = i;
  if (far >= 0 && distance > 1.0) ga__describe_unknown(sys, GA_BLOCK_V, far, moved, sizeof moved);
  ga__facts facts = {.at = &at,
                     .equation = equation,
                     .other = moved,
                     GA__NUMBERS({off, NULL}, {far >= 0 ? fabs(eq->move[far]) : 0.0, NULL})};
  if (!*moved) facts.n_numbers = 1;
  return ga__refuse(eq->ctx, GA_RETRY_NEWTON, GA_REASON_NO_EQUILIBRIUM, &facts);
}

static ga_status refuse_neutral(ga_equilibrium *eq, const ga__stiffness *s)
{
  char name[GA_ERROR_NAME];
  ga__fact_time at;
  name_unknown(eq, s->coordinate, &at, name, sizeof name);
  return ga__refuse(eq->ctx, GA_ERR_SINGULAR, GA_REASON_MOVES_FREELY,
                    &(ga__facts){.at = &at, .equation = name});
}

static void warn_of_stability(ga_equilibrium *eq, const ga__stiffness *s)
{
  char name[GA_ERROR_NAME];
  ga__fact_time at;
  if (s->stability == GA_STABILITY_UNKNOWN) return;
  if (s->stability == GA_NEUTRAL) {
    name_unknown(eq, s->coordinate, &at, name, sizeof name);
    ga__log(eq->ctx, GA_LOG_WARNING, GA_REASON_STAYS_FREE, &(ga__facts){.equation = name});
  }
  if (s->n_unstable == 0) return;
  name_unknown(eq, s->unstable_coordinate, &at, name, sizeof name);
  ga__log(eq->ctx, GA_LOG_WARNING, GA_REASON_UNSTABLE,
          &(ga__facts){.equation = name, GA__NUMBERS({s->n_unstable, NULL})});
}

/* Constraints that depend on time, and k(q, 0), may prescribe a motion. */
static ga_status check_rest(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  const ga_point p = ga__balance_point(eq, &eq->now);
  const int n = sys->size[GA_BLOCK_LAMBDA], m = sys->size[GA_BLOCK_PSI];
  int at = -1, at_k = -1;
  if (n + m == 0) return GA_OK;
  ga_status status = ga_evaluation_residual(eq->ev, &p, NULL, eq->r, eq->b);
  if (status) return status;
  const double rate = ga__max_abs(eq->b, n, &at),
               slip = ga__max_abs(eq->r + sys->start[GA_BLOCK_PSI], m, &at_k);
  if (!(rate > 1e-9 || slip > 1e-9)) return GA_OK;
  char name[GA_ERROR_NAME];
  const int first = rate > 1e-9;
  ga__describe(sys, first ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI, first ? at : at_k, name, sizeof name);
  ga__log(eq->ctx, GA_LOG_WARNING, GA_REASON_FROZEN_MOTION,
          &(ga__facts){
              .at = &(ga__fact_time){eq->t, NAN, first ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI, first ? at : at_k},
              .equation = name,
              GA__NUMBERS({first ? rate : slip, NULL})});
  return GA_OK;
}

/* Makes multipliers those of least norm, as in a stepper, and counts redundant constraints. */
static ga_status settle_multipliers(ga_equilibrium *eq)
{
  const ga_system *sys = eq->sys;
  double *rest = eq->now.rest - sys->nv;
  const ga_status status = find_relations(eq);
  if (!status && eq->report.redundant > 0)
    ga__null_reduce(&eq->null, sys, rest + sys->start[GA_BLOCK_LAMBDA], rest + sys->start[GA_BLOCK_PSI]);
  return status;
}

/* Rounding of the forces in balance: of multipliers, outputs and the load, and of the stiffness times a
 * tiny move. */
static double force_rounding(const ga_equilibrium *eq)
{
  const ga_sparse *W = eq->W;
  const int nv = eq->sys->nv;
  double *sum = eq->b, *tiny = eq->simplified;
  for (int i = 0; i < nv; i++) sum[i] = fabs(eq->d[i]), tiny[i] = 0.0;
  for (int c = 0; c < W->cols; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < nv; p++) {
      if (c < nv)
        tiny[W->row[p]] += fabs(W->value[p]) * eq->scale[c];
      else
        sum[W->row[p]] += fabs(W->value[p] * eq->now.rest[c - nv]);
    }
  return 1e-7 * ga__largest(sum, nv) + 1e-10 * ga__largest(tiny, nv);
}

static ga_status finish(ga_equilibrium *eq, const ga__stiffness *s)
{
  const ga_system *sys = eq->sys;
  ga_equilibrium_report *r = &eq->report;
  ga_status status = settle_multipliers(eq);
  if (!status) status = check_closed(eq);
  if (status) return status;
  status = ga__balance_load_rate(eq, &eq->now, eq->d);
  if (status) return status;
  if (!(ga__largest(eq->r, sys->nv) <= force_rounding(eq))) return not_found(eq);
  const double *at = eq->r;
  r->residual =
      fmax(ga__largest(at, sys->nv), ga__largest(at + sys->start[GA_BLOCK_X], sys->size[GA_BLOCK_X]));
  r->gap = fmax(ga__largest(at + sys->start[GA_BLOCK_LAMBDA], sys->size[GA_BLOCK_LAMBDA]),
                ga__largest(at + sys->start[GA_BLOCK_Y], sys->size[GA_BLOCK_Y]));
  r->load = eq->now.statics.load;
  r->stability = s->stability;
  r->at_kink = s->at_kink;
  r->n_unstable = s->n_unstable;
  r->judged = s->judged;
  r->free_directions = s->free_directions;
  r->coordinate = s->stability == GA_UNSTABLE ? s->unstable_coordinate : s->coordinate;
  ga__balance_copy(eq, &eq->last, &eq->now);
  eq->has_state = 1;
  status = check_rest(eq);
  if (status) return status;
  if (s->stability == GA_NEUTRAL && !eq->opts.hold_free) return refuse_neutral(eq, s);
  warn_of_stability(eq, s);
  return GA_OK;
}

/* A path that ends before its load keeps its last point; after other failures nothing is kept. */
static void keep_last_load(ga_equilibrium *eq)
{
  eq->has_state = eq->ctx->error.reason == GA_REASON_LOAD_NOT_REACHED;
  if (eq->has_state) ga__balance_copy(eq, &eq->last, &eq->now);
}

ga_status ga__equilibrium_begin(ga_equilibrium *eq, double t, const double *q0, const double *x0)
{
  const ga_system *sys = eq->sys;
  eq->has_state = 0;
  eq->report = (ga_equilibrium_report){.stability = GA_STABILITY_UNKNOWN, .coordinate = -1};
  if ((!q0 && sys->nq > 0) || (!x0 && sys->size[GA_BLOCK_X] > 0))
    return ga__refuse_null(eq->ctx, "ga_equilibrium_solve", !q0 && sys->nq > 0 ? "q0" : "x0");
  eq->t = eq->state.t = t;
  return begin(eq, q0, x0);
}

ga_status ga_equilibrium_solve(ga_equilibrium *eq, double t, const double *q0, const double *x0,
                               ga_equilibrium_report *report)
{
  ga__stiffness s;
  if (report) *report = (ga_equilibrium_report){.coordinate = -1};
  if (!eq) return GA_ERR_ARGUMENT;
  ga_status status = ga__equilibrium_begin(eq, t, q0, x0);
  if (!status) {
    status = search(eq, &s);
    if (status > 0 && status != GA_STOPPED && eq->opts.control == GA_LOAD_AT_ONCE) status = not_found(eq);
    if (!status) status = finish(eq, &s);
  }
  if (status && status != GA_STOPPED) keep_last_load(eq);
  if (report) *report = eq->report;
  return status;
}
