/* Redundant constraints: the matrices with borders that live with them, steps through changes of the rank,
 * and what is told about it.
 *
 * With N the relations among the rows (null_space.c), every set of constraints and its multipliers get a
 * border in the iteration matrix, and so do those of the start:
 *
 *   [ M̂   Jᵀ   0  ]      J u + R N μ = ... : the equations are met but for what relations forbid, μ
 *   [ J   0    R N ]      NᵀR dλ = 0       : multipliers do not move where they are free
 *   [ 0   NᵀR  0  ]
 *
 * It is regular and as well conditioned as that of the independent constraints alone, also where N is a
 * little off, be it that the factors are old. Residuals stay what they are. After a step the multipliers are
 * made the shortest of those that hold the motion, with the relations at the new state. */
#include "core/core_impl.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Below this reciprocal condition an iteration that fails is asked whether the rank has changed. */
#define DOUBTFUL 1e-7
/* Redundant constraints that fitted together may move apart by this, relative to q or v, and by newton.tol.
 */
#define FIT 1e-8
#define PIVOT 1e-4    /* least coefficient of the row that a relation is blamed on */
#define INVOLVED 1e-5 /* and of the others that are named with it */
#define NOT_UNIQUE 1e-6
#define SAME 1e-3 /* residuals that differ by less have one cause */
enum { MAX_TRIES = 4 };

/* ---- Matrices ---- */

static int bordered(int relations, int relations_b)
{
  return relations > 0 || relations_b > 0;
}

static void drop_matrices(ga_stepper *st, ga__matrices *m)
{
  ga_lu_destroy(&m->lu);
  ga_lu_destroy(&m->cheap_lu);
  ga__assembly_destroy(&m->assembly);
  ga__assembly_destroy(&m->cheap_assembly);
  if (bordered(m->relations, m->relations_b))
    ga__free(st->ctx, m->K_kept); /* that of the plain ones belongs to the arena */
  memset(m, 0, sizeof *m);
  m->relations = m->relations_b = -1;
}

/* The matrices in use and the others change places. */
static void exchange(ga_stepper *st)
{
  ga__matrices *o = &st->other, mine = {st->assembly, st->cheap_assembly, st->lu,         st->cheap_lu,
                                        st->K_kept,   st->relations,      st->relations_b};
  st->assembly = o->assembly;
  st->cheap_assembly = o->cheap_assembly;
  st->lu = o->lu;
  st->cheap_lu = o->cheap_lu;
  st->K_kept = o->K_kept;
  st->relations = o->relations;
  st->relations_b = o->relations_b;
  *o = mine;
}

static ga_status build_one(ga_stepper *st, ga__layout layout, const ga__matrices *m, ga__assembly *as,
                           ga_lu **lu)
{
  for (int b = 0; b < layout.n_borders; b++)
    layout.relations[b] = layout.border[b].holonomic ? m->relations_b : m->relations;
  ga_status status = ga__assembly_create(st->sys, &layout, st->opts.lu, as);
  return status ? status : ga__assembly_lu(as, st->opts.lu, lu);
}

/* m has the numbers of relations, and nothing else yet. */
static ga_status build_matrices(ga_stepper *st, ga__matrices *m)
{
  const int all = st->terms.all;
  st->terms.all = 1; /* with borders there is no choice */
  ga__layout layout = st->family->layout(st);
  st->terms.all = all;
  ga_status status = build_one(st, layout, m, &m->assembly, &m->lu);
  if (!status && st->may_be_cheap)
    status = build_one(st, ga__cheap_layout(st), m, &m->cheap_assembly, &m->cheap_lu);
  if (!status) {
    int full = m->assembly.K->nnz, cheap = st->may_be_cheap ? m->cheap_assembly.K->nnz : 0;
    m->K_kept = ga__alloc(st->ctx, (size_t)(full > cheap ? full : cheap), sizeof(double));
    if (!m->K_kept) status = ga__no_memory(st->ctx, "an iteration matrix");
  }
  if (status) drop_matrices(st, m);
  return status;
}

ga_status ga__use_matrices(ga_stepper *st, int relations, int relations_b)
{
  if (st->relations == relations && st->relations_b == relations_b) return GA_OK;
  st->have_factors = st->restore = 0;
  if (st->other.relations == relations && st->other.relations_b == relations_b) {
    exchange(st);
    return GA_OK;
  }
  if (!bordered(relations, relations_b)) /* the plain ones are always there, if they can be at all */
    return ga__fail_at(
        st->ctx, GA_ERR_SINGULAR, st->now.scalar[GA__T], -1, -1,
        "t = %.9g: the constraints' derivatives are independent, against what the pattern allows",
        st->now.scalar[GA__T]);
  ga__matrices fresh;
  memset(&fresh, 0, sizeof fresh);
  fresh.relations = relations;
  fresh.relations_b = relations_b;
  ga_status status = build_matrices(st, &fresh);
  if (status) return ga__name_column(st, status);
  if (!bordered(st->relations, st->relations_b)) exchange(st); /* keep these, give up the others */
  ga__matrices old = {st->assembly, st->cheap_assembly, st->lu,         st->cheap_lu,
                      st->K_kept,   st->relations,      st->relations_b};
  drop_matrices(st, &old);
  ga__matrices plain = st->other;
  st->other = fresh;
  exchange(st);
  st->other = plain;
  return GA_OK;
}

int ga__recall_matrices(ga_stepper *st, int relations, int relations_b)
{
  if (st->other.relations == relations && st->other.relations_b == relations_b) exchange(st);
  return st->relations == relations && st->relations_b == relations_b;
}

ga_status ga__without_plain(ga_stepper *st, ga_status status)
{
  const ga_system *sys = st->sys;
  int m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  ga_error error = *ga_context_error(st->ctx);
  if (st->opts.redundant == GA_REDUNDANT_REFUSE || sys->nv == 0 || m == 0) return status;
  ga_lu_destroy(&st->lu);
  ga_lu_destroy(&st->cheap_lu);
  ga__terms_destroy(st);
  ga__saddle_destroy(&st->saddle);
  for (int r = 1; r < 2 * m && status == GA_ERR_SINGULAR; r *= 2) { /* as many as the pattern needs */
    int relations = r < m ? r : m, nl = sys->size[GA_BLOCK_LAMBDA];
    ga__matrices trial;
    memset(&trial, 0, sizeof trial);
    trial.relations = relations;
    trial.relations_b = !st->stabilized ? 0 : relations < nl ? relations : nl;
    status = build_matrices(st, &trial);
    if (!status) drop_matrices(st, &trial);
    if (!status) status = ga__saddle_create(sys, st->opts.lu, relations, &st->saddle);
  }
  if (status == GA_ERR_SINGULAR) st->ctx->error = error;
  st->red.plain_refused = 1;
  return status;
}

ga_status ga__saddle_at(ga_stepper *st, const ga_point *p, int with_forces)
{
  int r = st->red.null.r;
  if (st->saddle.relations != r) {
    if (st->other_saddle.relations != r || !st->other_saddle.ctx) {
      ga__saddle fresh;
      ga_status status = ga__saddle_create(st->sys, st->opts.lu, r, &fresh);
      if (status) return ga__name_column(st, status);
      ga__saddle_destroy(st->saddle.relations ? &st->saddle : &st->other_saddle);
      if (!st->saddle.ctx) st->saddle = st->other_saddle; /* the plain one is kept */
      st->other_saddle = fresh;
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
  st->other.relations = st->other.relations_b = -1;
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
  if (st->other.relations >= 0) drop_matrices(st, &st->other);
  if (bordered(st->relations, st->relations_b)) ga__free(ctx, st->K_kept);
  ga__saddle_destroy(&st->other_saddle);
  ga__gram_destroy(&red->gram);
  ga__null_destroy(ctx, &red->null);
  ga__null_destroy(ctx, &red->null_b);
  ga__null_destroy(ctx, &red->null_eta);
  void *const block[] = {red->relation, red->constraint, red->echelon, red->column, red->shared};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
}

/* ---- Relations ---- */

/* A relation between Φ and k is one between velocities: a method that keeps Φ and k at one level with the
 * same multipliers cannot keep both to the bit. */
static ga_status refuse_mixed(ga_stepper *st, const ga_point *p)
{
  if (st->opts.method == GA_STABILIZED || ga__null_splits(&st->red.gram, &st->red.null)) return GA_OK;
  const double *N = st->red.null.N;
  int nl = st->sys->size[GA_BLOCK_LAMBDA], worst;
  char name[192];
  ga__max_abs(N + nl, st->sys->size[GA_BLOCK_PSI], &worst);
  ga__describe(st->sys, GA_BLOCK_PSI, worst, name, sizeof name);
  return ga__fail_at(
      st->ctx, GA_ERR_INCONSISTENT, p->t, GA_BLOCK_PSI, worst,
      "t = %.9g: %s repeats what holonomic constraints say already, which this method cannot keep at once; "
      "take GA_STABILIZED, or remove it",
      p->t, name);
}

/* Room for the report of the relations found; taken here, where memory may be taken. */
static ga_status report_room(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  int r = red->null.r;
  size_t m = (size_t)(st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI]),
         room = (size_t)red->null.room;
  if (r <= red->room) return GA_OK;
  void *const block[] = {red->relation, red->constraint, red->echelon, red->column};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(st->ctx, block[i]);
  red->relation = ga__alloc(st->ctx, room, sizeof *red->relation);
  red->constraint = ga__alloc(st->ctx, room * m, sizeof *red->constraint);
  red->echelon = ga__alloc(st->ctx, room * m, sizeof *red->echelon);
  red->column = ga__alloc(st->ctx, room, sizeof *red->column);
  red->room = red->relation && red->constraint && red->echelon && red->column ? (int)room : 0;
  return red->room ? GA_OK : ga__no_memory(st->ctx, "relations among constraints");
}

/* Derivatives into the saddle matrix' arrays, which are free between its uses. */
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
  size_t m = (size_t)(st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI]);
  to->r = 0;
  if (from->r == 0) return GA_OK;
  if (to->room < from->r) {
    ga__free(st->ctx, to->N);
    to->room = 0;
    to->N = ga__alloc(st->ctx, (size_t)from->room * m, sizeof(double));
    if (!to->N) return ga__no_memory(st->ctx, "relations among constraints");
    to->room = from->room;
  }
  to->r = from->r;
  memcpy(to->N, from->N, (size_t)from->r * m * sizeof(double));
  memcpy(to->length, from->length, m * sizeof(double));
  return GA_OK;
}

ga_status ga__find_relations(ga_stepper *st, const ga_point *p)
{
  ga__redundant *red = &st->red;
  ga_status status = GA_OK;
  red->valid = red->reported = 0;
  if (!red->gram.ctx) status = ga__gram_create(st->sys, st->opts.lu, &red->gram);
  if (!status) status = evaluate(st, p);
  if (!status) status = ga__null_find(&red->gram, st->saddle.Q, st->saddle.A, 0, &red->null);
  if (!status && st->sys->size[GA_BLOCK_PSI] > 0) status = refuse_mixed(st, p);
  if (!status) status = report_room(st);
  red->null_b.r = 0;
  if (status || !st->stabilized) return status;
  if (st->sys->size[GA_BLOCK_PSI] == 0) return copy_null(st, &red->null_b, &red->null);
  return ga__null_find(&red->gram, st->saddle.Q, st->saddle.A, 1, &red->null_b);
}

/* Those of the present state, found again where they are not at hand. */
static ga_status relations_now(ga_stepper *st)
{
  if (st->red.valid) return GA_OK;
  ga_point p = ga__full_point(&st->now);
  st->red.null.r = st->red.null_b.r = 0;
  if (st->now.scalar[GA__REDUNDANT] > 0.0) {
    ga_status status = ga__find_relations(st, &p);
    if (status) return status;
  }
  st->red.valid = 1;
  st->red.reported = 0;
  return GA_OK;
}

ga_status ga__ready_matrices(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  ga_status status = relations_now(st);
  if (!status) status = copy_null(st, &red->null_eta, &red->null_b);
  return status ? status : ga__use_matrices(st, red->null.r, red->null_eta.r);
}

/* ---- Steps ---- */

double ga__last_max_abs(const double *a, int n, int *where)
{
  double most = ga__max_abs(a, n, where);
  for (int i = 0; i < n; i++)
    if (fabs(a[i]) >= (1.0 - SAME) * most) *where = i;
  return most;
}

ga_status ga__gaps_at(ga_stepper *st, const ga__full *f, ga__gap *positions, ga__gap *rates)
{
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI], at;
  int with_phi = st->stabilized || st->two_sets || !st->has_state;
  double *phi = st->tmp, *k = st->tmp + nl;
  ga_point p = ga__full_point(f);
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  if (status) return status;
  positions->size = ga__null_part(st->stabilized ? &st->red.null_b : &st->red.null, sys, phi, NULL);
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

/* Do redundant constraints at next still fit together? */
static ga_status check_fit(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const double *now = st->now.scalar;
  double fit = FIT + st->opts.newton.tol;
  int index;
  ga__gap positions, rates;
  ga_status status = ga__gaps_at(st, &st->next, &positions, &rates);
  if (status) return status;
  double limit = 2.0 * now[GA__GAP] + fit * (1.0 + ga__max_abs(st->next.q, sys->nq, NULL));
  double limit_v = 2.0 * now[GA__GAP_V] + fit * (1.0 + ga__max_abs(st->next.v, sys->nv, NULL));
  const ga__gap *bad = positions.size > limit ? &positions : rates.size > limit_v ? &rates : NULL;
  if (!bad) return GA_OK;
  char name[192];
  ga_block block = ga__block_of(sys, sys->nv + bad->worst, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__fail_at(
      sys->ctx, GA_RETRY_NEWTON, st->next.scalar[GA__T], (int)block, index,
      "t = %.9g, h = %.3g: constraints that repeat others no longer fit together: %s%s is off by "
      "%.3g. Do two prescribed motions contradict each other?",
      st->next.scalar[GA__T], st->h, bad == &rates ? "the rate of " : "", name, bad->off);
}

/* η is free along the relations of B_n alone. */
static ga_status try_step(ga_stepper *st, double h, int of_b_n)
{
  ga_status status = st->family->predict(st, h);
  if (!status) status = ga__newton(st);
  if (!status && of_b_n) ga__null_reduce(&st->red.null_eta, st->sys, st->next.eta, NULL);
  return status;
}

/* After a try that used `used` relations: are there more, or fewer, at its end? Those are left in st->red. */
static ga_status ask_rank(ga_stepper *st, ga_status status, int used, int *again)
{
  ga_point p = ga__full_point(&st->next);
  int failed = status == GA_RETRY_SINGULAR || (status == GA_RETRY_NEWTON && st->stats.rcond < DOUBTFUL);
  *again = 0;
  if (st->opts.redundant == GA_REDUNDANT_REFUSE || (status && !failed) || (!status && used == 0))
    return status;
  ga_error error = *ga_context_error(st->ctx);
  ga_status found = ga__find_relations(st, &p);
  if (found) return found;
  *again = status ? st->red.null.r > used : st->red.null.r < used;
  if (status && !*again) st->ctx->error = error;
  return status;
}

ga_status ga__solve_step(ga_stepper *st, double h)
{
  ga__full *m = &st->next;
  ga_status status = GA_OK;
  ga__redundant *red = &st->red;
  int again = 1, of_b_n = red->null_eta.r;
  for (int i = 0; i < MAX_TRIES && again; i++) {
    int used = red->null.r;
    if (red->null_b.r > red->null_eta.r && (status = copy_null(st, &red->null_eta, &red->null_b)))
      return status;
    if ((status = ga__use_matrices(st, used, red->null_eta.r))) return status;
    status = ask_rank(st, try_step(st, h, red->null_eta.r == of_b_n), used, &again);
  }
  if (!status && again)
    status = ga__fail_at(st->ctx, GA_RETRY_SINGULAR, m->scalar[GA__T], -1, -1,
                         "t = %.9g, h = %.3g: the number of independent constraints changes within the step",
                         m->scalar[GA__T], h);
  if (!status && st->red.null.r > 0) {
    ga__null_reduce(&st->red.null, st->sys, m->lambda, m->psi);
    status = check_fit(st);
  }
  if (!status && st->family->accept) status = st->family->accept(st);
  m->scalar[GA__REDUNDANT] = st->red.null.r;
  m->scalar[GA__GAP] = st->now.scalar[GA__GAP];
  m->scalar[GA__GAP_V] = st->now.scalar[GA__GAP_V];
  return status;
}

/* ---- What is told ---- */

/* The relations in reduced echelon form, pivots from the last row on: every relation gets a row of its own to
 * be blamed on. */
static void reduce(ga__redundant *red, int m)
{
  int r = red->null.r, done = 0;
  double *E = red->echelon;
  size_t length = (size_t)m;
  memcpy(E, red->null.N, (size_t)r * length * sizeof(double));
  for (int c = m - 1; c >= 0 && done < r; c--) {
    int best = done;
    for (int k = done + 1; k < r; k++)
      if (fabs(E[(size_t)k * length + (size_t)c]) > fabs(E[(size_t)best * length + (size_t)c])) best = k;
    double pivot = E[(size_t)best * length + (size_t)c];
    if (fabs(pivot) < PIVOT) continue;
    for (int i = 0; i < m; i++) {
      double a = E[(size_t)best * length + (size_t)i];
      E[(size_t)best * length + (size_t)i] = E[(size_t)done * length + (size_t)i];
      E[(size_t)done * length + (size_t)i] = a / pivot;
    }
    for (int k = 0; k < r; k++) {
      double factor = E[(size_t)k * length + (size_t)c];
      for (int i = 0; k != done && i < m; i++)
        E[(size_t)k * length + (size_t)i] -= factor * E[(size_t)done * length + (size_t)i];
    }
    red->column[done++] = c;
  }
}

static void list_relation(const ga_system *sys, const double *row, int m, int blamed, ga_constraint *list,
                          ga_relation *out)
{
  out->row = list;
  out->n = 0;
  for (int i = -1; i < m; i++) {
    int c = i < 0 ? blamed : i;
    if (i == blamed || !(fabs(row[c]) > INVOLVED)) continue;
    ga_constraint *to = &list[out->n++];
    to->block = ga__block_of(sys, sys->nv + c, &to->index);
    to->weight = row[c];
  }
}

static void make_report(ga_stepper *st)
{
  ga__redundant *red = &st->red;
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA], m = nl + sys->size[GA_BLOCK_PSI], r = red->null.r;
  red->report = (ga_redundancy){m, m - r, r, sys->nv - m + r, r ? red->relation : NULL, NULL, NULL};
  red->reported = 1;
  if (r == 0) return;
  red->report.lambda_shared = red->shared;
  red->report.psi_shared = red->shared + nl;
  for (int i = 0; i < m; i++) {
    double sum = 0.0;
    for (int k = 0; k < r; k++) {
      double n = red->null.N[(size_t)k * (size_t)m + (size_t)i];
      sum += n * n;
    }
    red->shared[i] = sqrt(sum) > NOT_UNIQUE;
  }
  reduce(red, m);
  for (int k = 0; k < r; k++)
    list_relation(sys, red->echelon + (size_t)k * (size_t)m, m, red->column[k],
                  red->constraint + (size_t)k * (size_t)m, &red->relation[k]);
}

const ga_redundancy *ga_stepper_redundancy(ga_stepper *st)
{
  if (!st || !st->has_state || relations_now(st)) return NULL;
  if (!st->red.reported) make_report(st);
  return &st->red.report;
}

/* " 'a' (phi 3) follows from 'b' (phi 0), ..." appended to text, behind others with a semicolon. */
static void say_relation(const ga_stepper *st, const ga_relation *rel, char *text, size_t size)
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
    say_relation(st, &red->relation[k], text, sizeof text);
  char earlier[32] = "";
  if (before > 0) snprintf(earlier, sizeof earlier, " (%d before)", before);
  ga__log(st->ctx, GA_LOG_WARNING, "t = %.9g: %d of %d constraints are redundant%s, mobility %d:%s%s", t,
          red->redundant, red->constraints, earlier, red->mobility, red->redundant ? text : " none",
          red->redundant > NAMED ? "; ..." : "");
}
