/* The derivative checker: what the user gave against fourth-order differences, column by column. */
#include "core/core_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Entries below this part of a row's own terms are rounding of the differences. */
#define NOISE 1e-6

enum { MAX_FINDINGS = sizeof((ga_check_report *)0)->finding / sizeof(ga_check_finding) };

typedef struct checker {
  const ga_system *sys;
  const ga_point *p;
  ga__deriv deriv;
  double tol;
  ga_check_report report;
  double error[MAX_FINDINGS]; /* of the findings kept */
  double *values;             /* [3 n_entries] given D, Q, G */
  double *expected, *terms;   /* [n] */
  double *row_size;           /* [n] largest given entry of each row */
  double *given;              /* [n] one column */
  int *in_pattern;            /* [n] stamps */
} checker;

/* Keep a finding among the worst. */
static void keep(checker *c, ga_check_what what, int row, int col, double given, double expected,
                 double error)
{
  ga_check_report *r = &c->report;
  r->n_wrong++;
  int at = r->n_findings < MAX_FINDINGS ? r->n_findings++ : MAX_FINDINGS;
  while (at > 0 && c->error[at - 1] < error) {
    if (at < MAX_FINDINGS) {
      r->finding[at] = r->finding[at - 1];
      c->error[at] = c->error[at - 1];
    }
    at--;
  }
  if (at == MAX_FINDINGS) return;
  r->finding[at] = (ga_check_finding){what, row, col, given, expected};
  c->error[at] = error;
}

static void compare(checker *c, ga_check_what what, int row, int col, double given, double expected,
                    double scale)
{
  double error = fabs(given - expected) / (scale + fabs(expected) + NOISE * (1.0 + c->terms[row]));
  c->report.n_checked++;
  if (!(error <= c->report.worst)) c->report.worst = error;
  if (!(error <= c->tol)) keep(c, what, row, col, given, expected, error);
}

static int is_phi(const ga_system *sys, int row)
{
  return row >= sys->start[GA_BLOCK_LAMBDA] && row < sys->start[GA_BLOCK_PSI];
}

/* Rows of one column that a kind of derivative has anything to say about. */
static int concerns(const ga_system *sys, ga_check_what what, int row)
{
  return what == GA_CHECK_G ? is_phi(sys, row) : 1;
}

static ga_status check_column(checker *c, ga_check_what what, const ga_jacobian *J, ga__pass pass,
                              const double *values, int col)
{
  const ga_system *sys = c->sys;
  ga_status status = ga__difference_column(&c->deriv, c->p, J, pass, col, c->expected);
  if (status) return status;
  for (int r = 0; r < sys->n; r++) c->in_pattern[r] = 0;
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->col[e] == col) {
      c->in_pattern[sys->row[e]] = 1;
      c->given[sys->row[e]] = values[e];
    }
  for (int r = 0; r < sys->n; r++) {
    if (!concerns(sys, what, r)) continue;
    if (c->in_pattern[r])
      compare(c, sys->def.jacobian ? what : GA_CHECK_PATTERN, r, col,
              sys->def.jacobian ? c->given[r] : c->expected[r], c->expected[r], c->row_size[r]);
    else
      compare(c, GA_CHECK_PATTERN, r, col, 0.0, c->expected[r], c->row_size[r]);
  }
  return GA_OK;
}

/* One kind of derivative: ask for it with these shifts, then go through its columns. */
typedef struct kind {
  ga_check_what what;
  ga__pass pass;
  unsigned want;
  double shift_v, shift_vdot;
  int columns_v; /* 1: columns V; 0: the others */
} kind;

static const kind KINDS[] = {{GA_CHECK_D_V, GA__PASS_D, GA_WANT_D, 1.0, 0.0, 1},
                             {GA_CHECK_D_VDOT, GA__PASS_D, GA_WANT_D, 0.0, 1.0, 1},
                             {GA_CHECK_D_OTHER, GA__PASS_D, GA_WANT_D, 1.0, 1.0, 0},
                             {GA_CHECK_Q, GA__PASS_Q, GA_WANT_Q | GA_WANT_B, 1.0, 1.0, 1},
                             {GA_CHECK_G, GA__PASS_G, GA_WANT_G, 1.0, 1.0, 1}};

static ga_status check_kind(checker *c, const kind *k)
{
  const ga_system *sys = c->sys;
  size_t n = (size_t)sys->n_entries;
  double *D = c->values, *Q = D + n, *G = Q + n;
  ga_jacobian J = {k->want, k->shift_v, k->shift_vdot, D, Q, G};
  const double *values = k->pass == GA__PASS_D ? D : k->pass == GA__PASS_Q ? Q : G;
  ga_status status = sys->def.jacobian ? ga__jacobian(&c->deriv, c->p, &J) : GA_OK;
  if (status) return status;
  for (int r = 0; r < sys->n; r++) c->row_size[r] = 0.0;
  for (int e = 0; sys->def.jacobian && e < sys->n_entries; e++)
    if ((sys->col[e] < sys->nv) == k->columns_v)
      c->row_size[sys->row[e]] = fmax(c->row_size[sys->row[e]], fabs(values[e]));
  for (int col = k->columns_v ? 0 : sys->nv; col < (k->columns_v ? sys->nv : sys->n); col++)
    if ((status = check_column(c, k->what, &J, k->pass, values, col))) return status;
  return GA_OK;
}

/* A user's time derivative against differences of what it is the derivative of. */
static ga_status check_motion(checker *c, ga_check_what what, ga__fn given, ga__fn of, ga_block block)
{
  const ga_system *sys = c->sys;
  if (!ga__has(sys, given) || sys->size[block] == 0) return GA_OK;
  ga_status status = ga__call(sys, given, c->p, c->given);
  if (!status) status = ga__along_motion(&c->deriv, of, c->p, c->expected);
  if (status) return status;
  /* rates are sums of terms of the size of v, of which nothing is left where constraints are met */
  double size = ga__max_abs(c->given, sys->size[block], NULL) + 0.01 * ga__max_abs(c->p->v, sys->nv, NULL);
  for (int i = 0; i < sys->size[block]; i++)
    compare(c, what, sys->start[block] + i, -1, c->given[i], c->expected[i], size);
  return GA_OK;
}

/* Size of the terms of each residual, to know what rounding can do. */
static ga_status measure_terms(checker *c)
{
  const ga_system *sys = c->sys;
  ga_status status = ga__residual(sys, c->p, c->terms, c->expected);
  if (!status) status = ga__call(sys, GA__FORCE, c->p, c->expected);
  if (status) return status;
  for (int i = 0; i < sys->n; i++) c->terms[i] = fabs(c->terms[i]);
  for (int i = 0; i < sys->nv; i++) c->terms[i] += fabs(c->expected[i]);
  return GA_OK;
}

/* B asked for alone must be the B that comes with the rest of Q. */
static ga_status check_b_alone(checker *c)
{
  const ga_system *sys = c->sys;
  size_t n = (size_t)sys->n_entries;
  double *D = c->values, *Q = D + n, *G = Q + n;
  if (!sys->def.jacobian || sys->n_b == 0) return GA_OK;
  ga_jacobian all = {GA_WANT_Q | GA_WANT_B, 1.0, 1.0, D, Q, G}, alone = {GA_WANT_B, 1.0, 1.0, D, G, D};
  ga_status status = ga__jacobian(&c->deriv, c->p, &all);
  if (!status) status = ga__jacobian(&c->deriv, c->p, &alone);
  for (int i = 0; !status && i < sys->n_b; i++) {
    int e = sys->b_entry[i];
    compare(c, GA_CHECK_B, sys->row[e], sys->col[e], G[e], Q[e], 0.0);
  }
  return status;
}

/* phi_dot comes first: G is compared with differences of it, and cannot be judged where it is wrong. */
static ga_status run(checker *c)
{
  ga_status status = measure_terms(c);
  if (!status) status = check_motion(c, GA_CHECK_PHI_DOT, GA__PHI_DOT, GA__PHI, GA_BLOCK_LAMBDA);
  int phi_dot_wrong = c->report.n_wrong > 0;
  for (size_t i = 0; !status && i < sizeof KINDS / sizeof *KINDS; i++)
    if (KINDS[i].what != GA_CHECK_G || !phi_dot_wrong) status = check_kind(c, &KINDS[i]);
  if (!status) status = check_b_alone(c);
  if (!status && !phi_dot_wrong)
    status = check_motion(c, GA_CHECK_PHI_ACC, GA__PHI_ACC, GA__PHI_DOT, GA_BLOCK_LAMBDA);
  if (!status) status = check_motion(c, GA_CHECK_K_ACC, GA__K_ACC, GA__K, GA_BLOCK_PSI);
  return status;
}

/* Every part that the system has must be there, and q on its group. */
static ga_status check_point(const ga_system *sys, const ga_point *p)
{
  const struct {
    const char *name;
    const double *value;
    int size;
  } part[] = {{"q", p->q, sys->nq},
              {"v", p->v, sys->nv},
              {"vdot", p->vdot, sys->nv},
              {"lambda", p->lambda, sys->size[GA_BLOCK_LAMBDA]},
              {"psi", p->psi, sys->size[GA_BLOCK_PSI]},
              {"x", p->x, sys->size[GA_BLOCK_X]},
              {"y", p->y, sys->size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i].size > 0 && !part[i].value)
      return ga__fail(sys->ctx, GA_ERR_ARGUMENT,
                      "ga_system_check: %s of the point is NULL; it needs %d values", part[i].name,
                      part[i].size);
  double defect = ga_group_defect(sys->group, p->q);
  if (!(defect < 1e-6))
    return ga__fail(sys->ctx, GA_ERR_ARGUMENT,
                    "ga_system_check: q of the point is not on its group, off by %.3g", defect);
  return GA_OK;
}

static ga_status verdict(checker *c)
{
  static const char *const NAME[] = {[GA_CHECK_D_V] = "D (by v)",
                                     [GA_CHECK_D_VDOT] = "D (by vdot)",
                                     [GA_CHECK_D_OTHER] = "D",
                                     [GA_CHECK_Q] = "Q",
                                     [GA_CHECK_G] = "G",
                                     [GA_CHECK_PHI_DOT] = "phi_dot",
                                     [GA_CHECK_PHI_ACC] = "phi_acc",
                                     [GA_CHECK_K_ACC] = "k_acc",
                                     [GA_CHECK_B] = "B (asked for alone, with GA_WANT_B)",
                                     [GA_CHECK_PATTERN] = "the pattern"};
  const ga_system *sys = c->sys;
  const ga_check_finding *f = &c->report.finding[0];
  char row[192], col[192] = "";
  int i, j;
  if (c->report.n_wrong == 0) return GA_OK;
  ga_block block = ga__block_of(sys, f->row, &i);
  ga__describe(sys, block, i, row, sizeof row);
  if (f->col >= 0) {
    char name[160];
    ga_block column = ga__block_of(sys, f->col, &j);
    ga__describe_unknown(sys, column, j, name, sizeof name);
    snprintf(col, sizeof col, ", column %d, %s", f->col, name);
  }
  return ga__fail_at(
      sys->ctx, GA_ERR_DERIVATIVE, c->p->t, (int)block, i,
      "derivatives: %d of %d are wrong; worst is %s in row %d, %s%s: %s %.9g, differences give %.9g",
      c->report.n_wrong, c->report.n_checked, NAME[f->what], f->row, row, col,
      f->what == GA_CHECK_PATTERN ? "the pattern has no entry there, so" : "given", f->given, f->expected);
}

ga_status ga_system_check(const ga_system *sys, const ga_point *p, double tol, ga_check_report *report)
{
  if (!sys) return GA_ERR_ARGUMENT;
  ga_context *ctx = sys->ctx;
  if (!p) return ga__fail(ctx, GA_ERR_ARGUMENT, "ga_system_check: p is NULL");
  if (!(tol > 0.0))
    return ga__fail(ctx, GA_ERR_ARGUMENT, "ga_system_check: tol is %g; it must be positive, 1e-6 is usual",
                    tol);
  ga_status status = check_point(sys, p);
  if (status) return status;
  checker c;
  memset(&c, 0, sizeof c);
  c.sys = sys;
  c.p = p;
  c.tol = tol;
  status = ga__deriv_create(sys, &c.deriv);
  if (status) return status;
  size_t n = (size_t)sys->n;
  c.values = ga__alloc(ctx, 3 * (size_t)sys->n_entries + 4 * n, sizeof(double));
  c.in_pattern = ga__alloc(ctx, n, sizeof(int));
  if (c.values && c.in_pattern) {
    c.expected = c.values + 3 * (size_t)sys->n_entries;
    c.terms = c.expected + n;
    c.row_size = c.terms + n;
    c.given = c.row_size + n;
    status = run(&c);
  } else {
    status = ga__no_memory(ctx, "checking derivatives");
  }
  ga__free(ctx, c.values);
  ga__free(ctx, c.in_pattern);
  ga__deriv_destroy(&c.deriv);
  if (status) return status;
  if (report) *report = c.report;
  return verdict(&c);
}
