/* Redundant constraints: which they are, whether a step changes that, multipliers of least length, and the
 * report.
 *
 * Each relation among the rows of the constraints (null_space.c) has a row that follows from the others. The
 * iteration matrices, and those of starts, are without it: where
 *
 *   [ M̂  Jᵀ ]   has the row and the column of such a constraint cleared but for a number where they meet,
 *   [ J  0  ]
 *
 * the other constraints are met, this one with them, and its multiplier stays as predicted. The matrix is as
 * well conditioned as that of independent constraints, its pattern always the same, whatever follows from
 * what. Residuals stay what they are. After a step the multipliers are made the shortest of those that hold
 * the motion, with the relations at the new state. */
#include "core/stepper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Below this reciprocal condition the rank is checked after a failed iteration. */
#define DOUBTFUL 1e-7
/* Redundant constraints may contradict each other by this, relative to q or v, and by newton.tol. */
#define FIT 1e-8
#define INVOLVED 1e-5 /* least weight of constraints that are listed in a relation */
#define NOT_UNIQUE 1e-6
#define SAME 1e-3 /* residuals that differ by less have one cause */

ga_status ga__saddle_at(ga_stepper *st, const ga_point *p, int with_forces)
{
  const int leaves_out = st->red.null.r > 0;
  if (st->saddle.leaves_out != leaves_out && !(st->red.plain_refused && !leaves_out)) {
    if (!st->other_saddle.ctx) {
      ga_status status = ga__saddle_create(st->sys, st->opts.lu, leaves_out, &st->other_saddle);
      if (status) return ga__name_column(st, status);
    }
    ga__saddle mine = st->saddle;
    st->saddle = st->other_saddle;
    st->other_saddle = mine;
  }
  return ga__saddle_factor(&st->saddle, &st->deriv, p, with_forces, &st->red.null);
}

/* ---- Creation ---- */

ga_status ga__redundant_create(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  size_t m = (size_t)(st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI]);
  ga_status status = ga__null_create(st->sys, &red->null);
  if (!status) status = ga__null_create(st->sys, &red->null_b);
  if (!status) status = ga__null_create(st->sys, &red->null_eta);
  if (!status && !(red->shared = ga__alloc(st->ctx, m, 1)))
    status = ga__no_memory(st->ctx, "relations among constraints");
  return status;
}

void ga__redundant_destroy(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  ga_context *ctx = st->ctx;
  ga__saddle_destroy(&st->other_saddle);
  ga__gram_destroy(&red->gram);
  ga__rows_destroy(&red->rows);
  ga__null_destroy(ctx, &red->null);
  ga__null_destroy(ctx, &red->null_b);
  ga__null_destroy(ctx, &red->null_eta);
  void *const block[] = {red->relation, red->constraint, red->shared};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
}

/* ---- Relations ---- */

/* The equation of k with the largest weight in a relation. */
static int largest_psi(const ga_stepper *st)
{
  const ga__null *null = &st->red.null;
  const int nl = st->sys->size[GA_BLOCK_LAMBDA];
  double largest = 0.0;
  int worst = 0;
  for (int i = 0; i < null->start[null->r]; i++)
    if (null->index[i] >= nl && fabs(null->value[i]) > largest) {
      largest = fabs(null->value[i]);
      worst = null->index[i] - nl;
    }
  return worst;
}

/* A relation between Φ and k is one of velocities: a method that satisfies Φ and k at one level with the
 * same multipliers cannot satisfy both exactly. */
static ga_status refuse_mixed(ga_stepper *st, const ga_point *p)
{
  if (st->method->has_eta || ga__null_splits(&st->red.rows, &st->red.null)) return GA_OK;
  int worst = largest_psi(st);
  char name[192];
  ga__describe(st->sys, GA_BLOCK_PSI, worst, name, sizeof name);
  ga_method_info method = {0};
  ga_method_at((int)st->opts.method, &method);
  return ga__refuse(
      st->ctx, GA_ERR_INCONSISTENT, GA_REASON_METHOD,
      &(ga__facts){.at = &(ga__fact_time){p->t, NAN, GA_BLOCK_PSI, worst},
                   .name = method.title,
                   .detail = "keep a nonholonomic constraint that repeats what holonomic ones say already",
                   .expected = "GA_STABILIZED, or remove it",
                   .equation = name});
}

/* Allocates the report of the relations found, here, where allocation is allowed. */
static ga_status report_room(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  const size_t room = red->null.room, numbers = red->null.numbers;
  if (room <= red->room && numbers <= red->numbers) return GA_OK;
  red->room = red->numbers = 0;
  ga__free(st->ctx, red->relation);
  ga__free(st->ctx, red->constraint);
  red->relation = ga__alloc(st->ctx, room, sizeof *red->relation);
  red->constraint = ga__alloc(st->ctx, numbers, sizeof *red->constraint);
  if (!red->relation || !red->constraint) return ga__no_memory(st->ctx, "relations among constraints");
  red->room = room;
  red->numbers = numbers;
  return GA_OK;
}

/* Derivatives into the arrays of the saddle matrix, which are free between its uses. */
static ga_status evaluate(ga_stepper *st, const ga_point *p)
{
  ga__saddle *sd = &st->saddle;
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, sd->M, sd->Q, sd->G},
              JA = {GA_WANT_D | GA_WANT_M, 1.0, 0.0, sd->A, sd->G, sd->G};
  st->stats.constraint_jacobians++;
  if (!st->sys->def.jacobian) st->stats.difference_jacobians++;
  ga_status status = ga__jacobian(&st->deriv, p, &J);
  if (status || st->sys->size[GA_BLOCK_PSI] == 0) return status;
  return ga__jacobian(&st->deriv, p, &JA);
}

static ga_status copy_null(ga_stepper *st, ga__null *to, const ga__null *from)
{
  return ga__null_copy(st->ctx, to, from, st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI]);
}

ga_status ga__find_relations(ga_stepper *st, const ga_point *p)
{
  ga__redundant *red = &st->red;
  ga_status status = GA_OK;
  red->valid = red->reported = 0;
  red->null_b.r = 0;
  if (!red->rows.ctx) status = ga__rows_create(st->sys, &red->rows);
  if (!status) status = evaluate(st, p);
  if (!status) status = ga__null_find(&red->rows, st->saddle.Q, st->saddle.A, 0, &red->null);
  if (!status && st->sys->size[GA_BLOCK_PSI] > 0) status = refuse_mixed(st, p);
  if (!status) status = report_room(st);
  if (status || !st->n_eta) return status;
  if (st->sys->size[GA_BLOCK_PSI] == 0) return copy_null(st, &red->null_b, &red->null);
  return ga__null_find(&red->rows, st->saddle.Q, st->saddle.A, 1, &red->null_b);
}

/* Finds the relations of the current state, unless they are up to date. */
static ga_status find_relations_now(ga_stepper *st)
{
  if (st->red.valid) return GA_OK;
  ga_point p = ga__state_point(&st->now);
  st->red.null.r = st->red.null_b.r = 0;
  if (st->now.scalar[GA__REDUNDANT] > 0.0) {
    ga_status status = ga__find_relations(st, &p);
    if (status) return status;
  }
  st->red.valid = 1;
  st->red.reported = 0;
  return GA_OK;
}

ga_status ga__ready_relations(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  ga_status status = find_relations_now(st);
  if (!status) status = copy_null(st, &red->null_eta, &red->null_b);
  return status ? status : ga__factors_for_relations(st);
}

/* ---- Steps ---- */

double ga__last_max_abs(const double *a, int n, int *where)
{
  double most = ga__max_abs(a, n, where);
  for (int i = 0; i < n; i++)
    if (fabs(a[i]) >= (1.0 - SAME) * most) *where = i;
  return most;
}

ga_status ga__gaps_at(ga_stepper *st, const ga__state *f, ga__gap *positions, ga__gap *rates,
                      ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI], at;
  int with_phi = st->method->keeps_rates || !st->has_state;
  double *phi = ga__take(&scratch, nl), *k = ga__take(&scratch, np);
  ga_point p = ga__state_point(f);
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  if (status) return status;
  positions->size = ga__null_part(st->n_eta ? &st->red.null_b : &st->red.null, sys, phi, NULL);
  positions->off = ga__last_max_abs(phi, nl, &positions->worst);
  *rates = (ga__gap){0.0, 0.0, -1};
  if (with_phi) status = ga__phi_dot(&st->deriv, &p, phi);
  if (!status) status = ga__call(sys, GA__K, &p, k);
  if (status) return status;
  rates->size = ga__null_part(&st->red.null, sys, with_phi ? phi : NULL, k);
  if (with_phi) rates->off = ga__last_max_abs(phi, nl, &rates->worst);
  double off = ga__last_max_abs(k, np, &at);
  if (off > rates->off) rates->off = off, rates->worst = nl + at;
  return GA_OK;
}

/* Checks that redundant constraints at next do not contradict each other. */
static ga_status check_fit(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const double *now = st->now.scalar;
  double fit = FIT + st->opts.newton.tol;
  int index;
  ga__gap positions, rates;
  ga_status status = ga__gaps_at(st, &st->next, &positions, &rates, scratch);
  if (status) return status;
  double limit = 2.0 * now[GA__GAP] + fit * (1.0 + ga__max_abs(st->next.q, sys->nq, NULL));
  double limit_v = 2.0 * now[GA__GAP_V] + fit * (1.0 + ga__max_abs(st->next.v, sys->nv, NULL));
  const int apart =
      st->method->keeps_positions && positions.size > limit; /* in other methods positions drift */
  const ga__gap *bad = apart ? &positions : rates.size > limit_v ? &rates : NULL;
  if (!bad) return GA_OK;
  char name[192];
  ga_equation_block block = ga__block_of(sys, sys->nv + bad->worst, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__refuse(sys->ctx, GA_RETRY_NEWTON, GA_REASON_CONSTRAINTS_CONTRADICT,
                    &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], st->h, (int)block, index},
                                 .equation = name,
                                 .detail = bad == &rates ? "the rate of " : NULL,
                                 GA__NUMBERS({bad->off, NULL})});
}

ga_status ga__use_relations(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  ga_status status = red->null_b.r > red->null_eta.r ? copy_null(st, &red->null_eta, &red->null_b) : GA_OK;
  return status ? status : ga__factors_for_relations(st);
}

ga_status ga__check_rank(ga_stepper *st, ga_status status, int used, int *again)
{
  ga_point p = ga__state_point(&st->next);
  int failed = status == GA_RETRY_SINGULAR || (status == GA_RETRY_NEWTON && st->stats.rcond < DOUBTFUL);
  *again = 0;
  if (st->opts.redundant == GA_REDUNDANT_REFUSE || (status && !failed) || (!status && used == 0))
    return status;
  const ga_error error = st->ctx->error;
  ga_status found = ga__find_relations(st, &p);
  if (found) return found;
  *again = status ? st->red.null.r > used : st->red.null.r < used;
  if (status && !*again) st->ctx->error = error;
  return status;
}

ga_status ga__settle_multipliers(ga_stepper *st, ga__scratch scratch)
{
  const double *now = st->now.scalar;
  double *next = st->next.scalar;
  next[GA__REDUNDANT] = st->red.null.r;
  next[GA__GAP] = now[GA__GAP];
  next[GA__GAP_V] = now[GA__GAP_V];
  if (st->red.null.r == 0) return GA_OK;
  ga__null_reduce(&st->red.null, st->sys, st->next.lambda, st->next.psi);
  return check_fit(st, scratch);
}

/* ---- The report ---- */

/* The dependent row, then those it depends on, in the order of the constraints; weights relative to its
 * own. */
static void list_relation(const ga_system *sys, const ga__null *null, int k, ga_constraint *list,
                          ga_relation *out)
{
  double largest = 0.0;
  out->row = list;
  out->n = 0;
  for (int i = null->start[k]; i < null->start[k + 1]; i++) largest = fmax(largest, fabs(null->value[i]));
  for (int i = null->start[k]; i < null->start[k + 1]; i++) {
    if (null->index[i] != null->row[k] && !(fabs(null->value[i]) > INVOLVED * largest)) continue;
    ga_constraint one = {.weight = null->value[i]};
    one.block = ga__block_of(sys, sys->nv + null->index[i], &one.index);
    int at = out->n++;
    for (; at > 1 && (list[at - 1].block > one.block ||
                      (list[at - 1].block == one.block && list[at - 1].index > one.index));
         at--)
      list[at] = list[at - 1];
    list[at] = one;
  }
}

static void make_report(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  const ga__null *null = &red->null;
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA], m = nl + sys->size[GA_BLOCK_PSI], r = null->r;
  red->report = (ga_redundancy){m, m - r, r, sys->nv - m + r, r ? red->relation : NULL, NULL, NULL};
  red->reported = 1;
  if (r == 0) return;
  red->report.lambda_shared = red->shared;
  red->report.psi_shared = red->shared + nl;
  memset(red->shared, 0, (size_t)m);
  for (int k = 0; k < r; k++) {
    double square = 0.0;
    for (int i = null->start[k]; i < null->start[k + 1]; i++) square += null->value[i] * null->value[i];
    for (int i = null->start[k]; i < null->start[k + 1]; i++)
      if (fabs(null->value[i]) > NOT_UNIQUE * sqrt(square)) red->shared[null->index[i]] = 1;
    list_relation(sys, null, k, red->constraint + null->start[k], &red->relation[k]);
  }
}

const ga_redundancy *ga_stepper_redundancy(ga_stepper *st)
{
  if (!st || !st->has_state || find_relations_now(st)) return NULL;
  if (!st->red.reported) make_report(st);
  return &st->red.report;
}

/* " 'a' (phi 3) follows from 'b' (phi 0), ..." appended to text, behind others with a semicolon. */
static void write_relation(const ga_stepper *st, const ga_relation *rel, char *text, size_t size)
{
  enum { NAMED = 3 };
  char name[192];
  if (*text) snprintf(text + strlen(text), size - strlen(text), ";");
  for (int i = 0; i < rel->n && i <= NAMED; i++) {
    size_t used = strlen(text);
    ga__describe(st->sys, rel->row[i].block, rel->row[i].index, name, sizeof name);
    if (i < NAMED)
      snprintf(text + used, size - used, "%s%s", i == 0 ? " " : i == 1 ? " follows from " : ", ", name);
    else
      snprintf(text + used, size - used, " and %d more", rel->n - NAMED);
  }
  size_t used = strlen(text);
  snprintf(text + used, size - used, "%s", rel->n == 1 ? " acts on no velocity here" : "");
}

void ga__log_relations(ga_stepper *st, double t, int before)
{
  enum { NAMED = 4 };
  char text[GA_ERROR_TEXT] = "";
  const ga_redundancy *red = ga_stepper_redundancy(st);
  if (!red || red->redundant == before) return;
  st->stats.redundant = red->redundant;
  for (int k = 0; k < red->redundant && k < NAMED; k++)
    write_relation(st, &red->relation[k], text, sizeof text);
  if (red->redundant > NAMED) snprintf(text + strlen(text), sizeof text - strlen(text), "; ...");
  ga__facts facts = {
      .at = &(ga__fact_time){t, NAN, -1, -1},
      .detail = red->redundant ? text : " none",
      GA__NUMBERS({red->redundant, NULL}, {red->constraints, NULL}, {red->mobility, NULL}, {before, NULL})};
  if (before == 0) facts.n_numbers--;
  ga__log(st->ctx, GA_LOG_WARNING, GA_REASON_REDUNDANT, &facts);
}
