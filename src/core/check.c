/* The derivative checker: compares the user's derivatives with fourth-order differences, column by column. */
#include "core/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Entries below this part of a row's terms count as small; the rounding error of differences is up to
 * ROUNDING of these terms (a few ε over the step of 7e-4). */
#define SMALL 1e-6
#define ROUNDING 1e-11

/* Keeps a finding if it is among the worst. */
static void keep(ga__checker *c, const ga__finding_text *said, int row, int col, double given,
                 double expected, double error)
{
  ga_check_report *r = &c->report;
  r->n_wrong++;
  int at = r->n_findings < GA__MAX_FINDINGS ? r->n_findings++ : GA__MAX_FINDINGS;
  while (at > 0 && c->error[at - 1] < error) {
    if (at < GA__MAX_FINDINGS) {
      r->finding[at] = r->finding[at - 1];
      c->error[at] = c->error[at - 1];
      c->said[at] = c->said[at - 1];
    }
    at--;
  }
  if (at == GA__MAX_FINDINGS) return;
  r->finding[at] = (ga_check_finding){said->what, row, col, given, expected};
  c->error[at] = error;
  c->said[at] = said;
}

/* Counts a comparison; returns its error. */
static double weigh(ga__checker *c, int row, double given, double expected, double scale)
{
  const double terms = 1.0 + c->terms[row];
  double error = fabs(given - expected) / (scale + fabs(expected) + fmax(SMALL, ROUNDING / c->tol) * terms);
  c->report.n_checked++;
  if (!(error <= c->report.worst)) c->report.worst = error;
  return error;
}

void ga__check_compare(ga__checker *c, const ga__finding_text *said, int row, int col, double given,
                       double expected, double scale, double doubt)
{
  const double error = weigh(c, row, given, expected, scale);
  if (error <= c->tol) return;
  if (fabs(given - expected) <= doubt)
    c->report.n_unsure++;
  else
    keep(c, said, row, col, given, expected, error);
}

void ga__check_same(ga__checker *c, const ga__finding_text *said, int row, int col, double given,
                    double expected)
{
  const double error = weigh(c, row, given, expected, 0.0);
  if (!(given == expected)) keep(c, said, row, col, given, expected, error);
}

int ga__check_is_phi(const ga_system *sys, int row)
{
  return row >= sys->start[GA_BLOCK_LAMBDA] && row < sys->start[GA_BLOCK_PSI];
}

/* ---- Columns ---- */

#define BY_DIFFERENCES "given", "differences give", 9
static const ga__finding_text OUTSIDE = {GA_CHECK_PATTERN, "the pattern",
                                         "the pattern has no entry there, so", "differences give", 9};

static const ga__finding_text NO_MASS = {GA_CHECK_PATTERN, "the pattern",
                                         "pattern_in has GA_NO_MASS there, so", "D by vdot is", 9};

/* One kind of derivative: requested with these shifts, then compared by columns. */
typedef struct kind {
  ga__finding_text said;
  ga__finding_text left_out; /* for entries that pattern_in excludes */
  ga__pass pass;
  unsigned want, array;
  double shift_v, shift_vdot;
  int columns_v; /* 1: columns V; 0: the others */
} kind;

#define LEFT_OUT(array)                                                                                      \
  {                                                                                                          \
    GA_CHECK_PATTERN, "the pattern", "pattern_in leaves out " array " there, so", array " is", 9             \
  }
static const kind KINDS[] = {
    {{GA_CHECK_D_V, "D (by v)", BY_DIFFERENCES},
     LEFT_OUT("D"),
     GA__PASS_D,
     GA_WANT_D,
     GA_WANT_D,
     1.0,
     0.0,
     1},
    {{GA_CHECK_D_VDOT, "D (by vdot)", BY_DIFFERENCES},
     LEFT_OUT("D"),
     GA__PASS_D,
     GA_WANT_D,
     GA_WANT_D,
     0.0,
     1.0,
     1},
    {{GA_CHECK_D_OTHER, "D", BY_DIFFERENCES}, LEFT_OUT("D"), GA__PASS_D, GA_WANT_D, GA_WANT_D, 1.0, 1.0, 0},
    {{GA_CHECK_Q, "Q", BY_DIFFERENCES},
     LEFT_OUT("Q"),
     GA__PASS_Q,
     GA_WANT_Q | GA_WANT_B,
     GA_WANT_Q,
     1.0,
     1.0,
     1},
    {{GA_CHECK_G, "G", BY_DIFFERENCES}, LEFT_OUT("G"), GA__PASS_G, GA_WANT_G, GA_WANT_G, 1.0, 1.0, 1}};
#undef LEFT_OUT

/* Whether a row belongs to this kind of derivative. */
static int concerns(const ga_system *sys, const kind *k, int row)
{
  return k->array == GA_WANT_G ? ga__check_is_phi(sys, row) : 1;
}

static void check_entry(ga__checker *c, const kind *k, const double *values, int row, int col)
{
  const int e = c->entry[row], written = c->sys->def.jacobian != NULL;
  const double expected = c->expected[row], size = c->row_size[row], doubt = c->doubt[row],
               given = e >= 0 && written ? values[e] : 0.0;
  if (e < 0) {
    ga__check_compare(c, &OUTSIDE, row, col, 0.0, expected, size, doubt);
    return;
  }
  if (!(c->sys->in[e] & k->array))
    ga__check_compare(c, &k->left_out, row, col, 0.0, written ? given : expected, size,
                      written ? 0.0 : doubt);
  else if (k->said.what == GA_CHECK_D_VDOT && row < c->sys->nv && !ga__has_mass(c->sys, e))
    ga__check_compare(c, &NO_MASS, row, col, 0.0, written ? given : expected, size, written ? 0.0 : doubt);
  ga__check_compare(c, &k->said, row, col, written ? given : expected, expected, size, doubt);
}

static ga_status check_column(ga__checker *c, const kind *k, const ga_jacobian *J, const double *values,
                              int col)
{
  const ga_system *sys = c->sys;
  ga_status status = ga__difference_column(&c->deriv, c->p, J, k->pass, col, c->expected, c->doubt);
  if (status) return status;
  for (int r = 0; r < sys->n; r++) c->entry[r] = -1;
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->col[e] == col) c->entry[sys->row[e]] = e;
  for (int r = 0; r < sys->n; r++)
    if (concerns(sys, k, r)) check_entry(c, k, values, r, col);
  return GA_OK;
}

void ga__check_rows(ga__checker *c, const double *values, int columns_v)
{
  const ga_system *sys = c->sys;
  for (int r = 0; r < sys->n; r++) c->row_size[r] = 0.0;
  for (int e = 0; values && e < sys->n_entries; e++)
    if ((sys->col[e] < sys->nv) == columns_v)
      c->row_size[sys->row[e]] = fmax(c->row_size[sys->row[e]], fabs(values[e]));
}

static ga_status check_kind(ga__checker *c, const kind *k)
{
  const ga_system *sys = c->sys;
  size_t n = (size_t)sys->n_entries;
  double *D = c->values, *Q = D + n, *G = Q + n;
  ga_jacobian J = {k->want, k->shift_v, k->shift_vdot, D, Q, G};
  const double *values = k->pass == GA__PASS_D ? D : k->pass == GA__PASS_Q ? Q : G;
  ga_status status = sys->def.jacobian ? ga__jacobian(&c->deriv, c->p, &J) : GA_OK;
  if (status) return status;
  ga__check_rows(c, sys->def.jacobian ? values : NULL, k->columns_v);
  for (int col = k->columns_v ? 0 : sys->nv; col < (k->columns_v ? sys->nv : sys->n); col++)
    if ((status = check_column(c, k, &J, values, col))) return status;
  return GA_OK;
}

/* ---- All else ---- */

/* Compares a user's time derivative with differences. */
static ga_status check_motion(ga__checker *c, const ga__finding_text *said, ga__fn given, ga__fn of,
                              ga_equation_block block)
{
  const ga_system *sys = c->sys;
  if (!ga__has(sys, given) || sys->size[block] == 0) return GA_OK;
  ga_status status = ga__call(sys, given, c->p, c->given);
  if (!status) status = ga__along_motion(&c->deriv, of, c->p, c->expected, c->doubt);
  if (status) return status;
  /* rates are sums of terms of the size of v, which cancel where constraints are satisfied */
  double size = ga__max_abs(c->given, sys->size[block], NULL) + 0.01 * ga__max_abs(c->p->v, sys->nv, NULL);
  for (int i = 0; i < sys->size[block]; i++)
    ga__check_compare(c, said, sys->start[block] + i, -1, c->given[i], c->expected[i], size, c->doubt[i]);
  return GA_OK;
}

/* Size of the terms of each residual, to bound rounding errors. */
static ga_status measure_terms(ga__checker *c)
{
  const ga_system *sys = c->sys;
  ga_status status = ga__residual(sys, c->p, c->terms, c->expected);
  if (!status) status = ga__call(sys, GA__FORCE, c->p, c->expected);
  if (status) return status;
  for (int i = 0; i < sys->n; i++) c->terms[i] = fabs(c->terms[i]);
  for (int i = 0; i < sys->nv; i++) c->terms[i] += fabs(c->expected[i]);
  return GA_OK;
}

/* B requested alone must equal the B within Q. */
static ga_status check_b_alone(ga__checker *c)
{
  const ga_system *sys = c->sys;
  static const ga__finding_text ALONE = {GA_CHECK_B, "B (asked for alone, with GA_WANT_B)", "given",
                                         "with the rest of Q it is", 9};
  size_t n = (size_t)sys->n_entries;
  double *D = c->values, *Q = D + n, *G = Q + n;
  if (!sys->def.jacobian || sys->n_b == 0) return GA_OK;
  ga_jacobian all = {GA_WANT_Q | GA_WANT_B, 1.0, 1.0, D, Q, G}, alone = {GA_WANT_B, 1.0, 1.0, D, G, D};
  ga_status status = ga__jacobian(&c->deriv, c->p, &all);
  if (!status) status = ga__jacobian(&c->deriv, c->p, &alone);
  for (int i = 0; !status && i < sys->n_b; i++) {
    int e = sys->b_entry[i];
    ga__check_compare(c, &ALONE, sys->row[e], sys->col[e], G[e], Q[e], 0.0, 0.0);
  }
  return status;
}

/* phi_dot comes first: G is compared with its differences, which are useless if it is wrong. */
static ga_status run(ga__checker *c)
{
  static const ga__finding_text DOT = {GA_CHECK_PHI_DOT, "phi_dot", BY_DIFFERENCES},
                                ACC = {GA_CHECK_PHI_ACC, "phi_acc", BY_DIFFERENCES},
                                K_ACC = {GA_CHECK_K_ACC, "k_acc", BY_DIFFERENCES};
  ga_status status = measure_terms(c);
  if (!status) status = check_motion(c, &DOT, GA__PHI_DOT, GA__PHI, GA_BLOCK_LAMBDA);
  int phi_dot_wrong = c->report.n_wrong > 0;
  for (size_t i = 0; !status && i < sizeof KINDS / sizeof *KINDS; i++)
    if (KINDS[i].array != GA_WANT_G || !phi_dot_wrong) status = check_kind(c, &KINDS[i]);
  if (!status) status = check_b_alone(c);
  if (!status && !phi_dot_wrong) status = check_motion(c, &ACC, GA__PHI_ACC, GA__PHI_DOT, GA_BLOCK_LAMBDA);
  if (!status) status = check_motion(c, &K_ACC, GA__K_ACC, GA__K, GA_BLOCK_PSI);
  return status ? status : ga__check_sweep(c);
}

/* All arrays that the system needs must be given, and q must be on its group. */
ga_status ga__check_point(const ga_system *sys, const ga_point *p, const char *caller)
{
  const struct {
    const char *name;
    const double *value;
    int size;
  } part[] = {{"p->q", p->q, sys->nq},
              {"p->v", p->v, sys->nv},
              {"p->vdot", p->vdot, sys->nv},
              {"p->lambda", p->lambda, sys->size[GA_BLOCK_LAMBDA]},
              {"p->psi", p->psi, sys->size[GA_BLOCK_PSI]},
              {"p->x", p->x, sys->size[GA_BLOCK_X]},
              {"p->y", p->y, sys->size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i].size > 0 && !part[i].value)
      return ga__refuse(
          sys->ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
          &(ga__facts){.function = caller, .field = part[i].name, GA__NUMBERS({part[i].size, NULL})});
  double defect = ga_group_defect(sys->group, p->q);
  if (!(defect < 1e-6))
    return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_OFF_GROUP,
                      &(ga__facts){.function = caller, .field = "p->q", GA__NUMBERS({defect, NULL})});
  return GA_OK;
}

static ga_status verdict(ga__checker *c)
{
  const ga_system *sys = c->sys;
  const ga_check_finding *f = &c->report.finding[0];
  char row[192], column[192] = "", detail[256];
  int i, j;
  if (c->report.n_unsure > 0)
    ga__log(sys->ctx, GA_LOG_WARNING, GA_REASON_DERIVATIVES_UNSURE,
            &(ga__facts){GA__NUMBERS({c->report.n_unsure, NULL}, {c->report.n_checked, NULL})});
  if (c->report.n_wrong == 0) return GA_OK;
  ga_equation_block block = ga__block_of(sys, f->row, &i);
  ga__describe(sys, block, i, row, sizeof row);
  if (f->col >= 0) {
    const ga_equation_block of = ga__block_of(sys, f->col, &j);
    ga__describe_unknown(sys, of, j, column, sizeof column);
  }
  const ga__finding_text *said = c->said[0];
  snprintf(detail, sizeof detail, "%s %.*g, %s %.*g", said->given, said->digits, f->given, said->expected,
           said->digits, f->expected);
  return ga__refuse(
      sys->ctx, GA_ERR_DERIVATIVE, GA_REASON_WRONG_DERIVATIVE,
      &(ga__facts){.at = &(ga__fact_time){c->p->t, NAN, (int)block, i},
                   .name = said->name,
                   .equation = row,
                   .other = column,
                   .detail = detail,
                   GA__NUMBERS({c->report.n_wrong, NULL}, {c->report.n_checked, NULL}, {f->row, NULL},
                               {f->col, NULL}, {f->given, NULL}, {f->expected, NULL})});
}

ga_status ga_system_check(const ga_system *sys, const ga_point *p, double tol, ga_check_report *report)
{
  if (!sys) return GA_ERR_ARGUMENT;
  ga_context *ctx = sys->ctx;
  if (!p) return ga__refuse_null(ctx, __func__, "p");
  if (!(tol > 0.0))
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                      &(ga__facts){.function = __func__,
                                   .field = "tol",
                                   .expected = "> 0, 1e-6 is usual",
                                   GA__NUMBERS({tol, NULL})});
  ga_status status = ga__check_point(sys, p, "ga_system_check");
  if (status) return status;
  ga__checker c;
  memset(&c, 0, sizeof c);
  c.sys = sys;
  c.p = p;
  c.tol = tol;
  status = ga__deriv_create(sys, &c.deriv);
  if (status) return status;
  size_t n = (size_t)sys->n;
  c.values =
      ga__alloc(ctx, 3 * (size_t)sys->n_entries + 5 * n + (size_t)sys->size[GA_BLOCK_LAMBDA], sizeof(double));
  c.entry = ga__alloc(ctx, n, sizeof(int));
  if (c.values && c.entry) {
    c.expected = c.values + 3 * (size_t)sys->n_entries;
    c.doubt = c.expected + n;
    c.row_size = c.doubt + n;
    c.given = c.row_size + n;
    c.terms = c.given + n;
    status = run(&c);
  } else {
    status = ga__no_memory(ctx, "checking derivatives");
  }
  ga__free(ctx, c.values);
  ga__free(ctx, c.entry);
  ga__deriv_destroy(&c.deriv);
  if (status) return status;
  if (report) *report = c.report;
  return verdict(&c);
}
