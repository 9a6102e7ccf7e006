/* Evaluation of programs: values, and derivatives by forward differentiation with the table of operations. */
#include "expr/fault.h"
#include "expr/function.h"
#include "expr/program.h"
#include "expr/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIRECTIONS = 4 }; /* first derivatives computed in one run */

/* ---- Faults ---- */

static ga_status report(ga_fault *fault, ga_fault_kind kind, const char *operation, const char *needs, int n,
                        const double *arg)
{
  if (!fault) return GA_RETRY_NAN;
  *fault = (ga_fault){.kind = kind, .operation = operation, .needs = needs, .n_args = n};
  for (int i = 0; i < n; i++) fault->arg[i] = arg[i];
  return GA_RETRY_NAN;
}

ga_status ga__fault_range(ga_fault *fault, const char *operation, double x, double least, double largest)
{
  const double arg[3] = {x, least, largest};
  return report(fault, GA_FAULT_RANGE, operation, NULL, 3, arg);
}

ga_status ga__fault_input(ga_fault *fault, const char *operation, double x)
{
  return report(fault, GA_FAULT_INPUT, operation, NULL, 1, &x);
}

ga_status ga__fault_overflow(ga_fault *fault, const char *operation, double x, int derivative)
{
  return report(fault, derivative > 0 ? GA_FAULT_DERIVATIVE : GA_FAULT_OVERFLOW, operation, NULL, 1, &x);
}

/* Adds the place in e to the fault, unless an inner expression has set it. */
static ga_status place(ga_fault *fault, const ga_expr *e, const ga__instr *instr)
{
  if (!fault || fault->text) return GA_RETRY_NAN;
  fault->text = e->text;
  fault->offset = instr->start;
  fault->bytes = instr->bytes;
  fault->column = ga__columns(e->text, instr->start) + 1;
  fault->length = ga__columns(e->text + instr->start, instr->bytes);
  return GA_RETRY_NAN;
}

/* "log(-2)" or "1 / 0": the operation with its operands. */
static void describe_call(char *text, size_t size, const ga_fault *fault)
{
  const int infix = fault->n_args == 2 && fault->operation && !ga__is_letter(fault->operation[0]);
  size_t used = 0;
  if (infix) {
    snprintf(text, size, "%.6g %s %.6g", fault->arg[0], fault->operation, fault->arg[1]);
    return;
  }
  int n = snprintf(text, size, "%s(", fault->operation ? fault->operation : "");
  for (int i = 0; i < fault->n_args && n >= 0; i++) {
    used += (size_t)n;
    if (used >= size) return;
    n = snprintf(text + used, size - used, "%s%.6g%s", i ? ", " : "", fault->arg[i],
                 i == fault->n_args - 1 ? ")" : "");
  }
}

void ga_fault_text(char *text, size_t size, const ga_fault *fault)
{
  if (!text || size == 0) return;
  text[0] = '\0';
  if (!fault) return;
  const int n = fault->text ? snprintf(text, size, "column %d, ", fault->column) : 0;
  if (n >= 0 && (size_t)n < size) ga__fault_say(text + n, size - (size_t)n, fault);
}

void ga__fault_say(char *text, size_t size, const ga_fault *fault)
{
  char where[2 * GA_TEXT_PIECE] = "", call[2 * GA_TEXT_PIECE];
  if (fault->text) {
    char piece[GA_TEXT_PIECE];
    ga__copy_piece(piece, sizeof piece, fault->text + fault->offset, (size_t)fault->bytes);
    snprintf(where, sizeof where, "'%s': ", piece);
  }
  describe_call(call, sizeof call, fault);
  switch (fault->kind) {
  case GA_FAULT_NONE:
    snprintf(text, size, "no fault");
    return;
  case GA_FAULT_INPUT:
    snprintf(text, size, "%sthe %s is %.6g", where, fault->operation, fault->arg[0]);
    return;
  case GA_FAULT_DOMAIN:
    snprintf(text, size, "%s%s does not exist, %s", where, call, fault->needs ? fault->needs : "");
    return;
  case GA_FAULT_OVERFLOW:
    snprintf(text, size, "%s%s is too large", where, call);
    return;
  case GA_FAULT_DERIVATIVE:
    snprintf(text, size, "%s%s has no finite derivative", where, call);
    return;
  case GA_FAULT_RANGE:
    snprintf(text, size, "%s%.6g is outside of the %s, which goes from %.6g to %.6g", where, fault->arg[0],
             fault->operation, fault->arg[1], fault->arg[2]);
    return;
  }
  snprintf(text, size, "unknown fault");
}

/* ---- One instruction ---- */

int ga__jump(const ga__instr *instr, int at, double *stack, int *top)
{
  const double decides = stack[*top];
  switch (instr->code) {
  case GA__JUMP:
    return instr->index;
  case GA__UNLESS:
    --*top;
    return decides == 0 ? instr->index : at + 1;
  default:
    if ((decides == 0) == (instr->code == GA__AND)) {
      stack[*top] = instr->code == GA__OR;
      return instr->index;
    }
    --*top;
    return at + 1;
  }
}

/* Evaluates a function or table as an operation. */
static ga_status call(ga__partials *p, const ga__instr *instr, const double *x, int order, ga_fault *fault)
{
  double out[6] = {0};
  ga_status status;
  if (instr->code == GA__FUNCTION) {
    status = ga_function_eval(instr->use.function, x[0], order, out, fault);
    p->d1[0] = out[1];
    p->d2[0] = out[2];
  } else {
    status = ga_table2d_eval(instr->use.table2d, x[0], x[1], order, out, fault);
    for (int i = 0; i < 2; i++) p->d1[i] = out[1 + i];
    for (int i = 0; i < 3; i++) p->d2[i] = out[3 + i]; /* xx, xy, yy: packed as by ga__pair() */
  }
  p->f = out[0];
  return status;
}

/* Value and, up to order, partial derivatives of an instruction at the operands x. */
static ga_status apply(ga__partials *p, const ga__instr *instr, const double *x, int order, ga_fault *fault)
{
  if (instr->code != GA__APPLY) return call(p, instr, x, order, fault);
  const ga__op *op = instr->use.op;
  const int n = op->arity;
  if (op->defined && !op->defined(x)) return report(fault, GA_FAULT_DOMAIN, op->name, op->needs, n, x);
  if (order > 0) {
    memset(p->d1, 0, (size_t)n * sizeof *p->d1);
    memset(p->d2, 0, (size_t)ga__pair(n, 0) * sizeof *p->d2);
  }
  op->rule(p, x, order > 0);
  return isfinite(p->f) ? GA_OK : report(fault, GA_FAULT_OVERFLOW, op->name, NULL, n, x);
}

ga_status ga__load(double *value, const ga__instr *instr, const double *x, ga_fault *fault)
{
  *value = instr->code == GA__VARIABLE ? x[instr->index] : instr->number;
  return isfinite(*value) ? GA_OK : ga__fault_input(fault, "variable", *value);
}

/* ---- Derivatives ---- */

/* Derivatives of a value along n directions a_k, one direction b, and the mixed ones. */
typedef struct jet {
  double a[DIRECTIONS], b, ab[DIRECTIONS];
} jet;

/* Derivatives of the variables. Either rate is given and a_0 = b = rate, ab_0 = rate2 (a curve), or
 * direction a_k is that of variable wrt[k] and b that of variable wrt_b. Along a line numbers that move have
 * their bases, and a_0 or b is the direction of their rates alone. */
typedef enum direction { NOWHERE, ALONG_A, ALONG_B } direction;

typedef struct seeds {
  int order, n;
  const int *wrt;
  int wrt_b;
  const double *rate, *rate2;
  direction line;
} seeds;

static void seed(jet *u, const seeds *s, int variable)
{
  for (int k = 0; k < s->n; k++) {
    u->a[k] = s->rate ? s->rate[variable] : s->wrt[k] == variable;
    u->ab[k] = s->rate2 ? s->rate2[variable] : 0;
  }
  u->b = s->line ? 0 : s->rate ? s->rate[variable] : s->wrt_b == variable;
}

/* A number that moves. */
static void seed_line(double *f, jet *u, const seeds *s, const ga__instr *instr)
{
  *f = instr->base;
  *(s->line == ALONG_A ? &u->a[0] : &u->b) = instr->use.rate;
}

static int varies(const jet *u, const seeds *s)
{
  double sum = fabs(u->b);
  for (int k = 0; k < s->n; k++) sum += fabs(u->a[k]) + fabs(u->ab[k]);
  return sum != 0;
}

/* Chain rule for f(u_0, ..., u_m-1), with f_i and f_ij its partial derivatives:
 *   f_a = Σ f_i u_i,a      f_ab = Σ f_i u_i,ab + Σ f_ij u_i,a u_j,b
 * Operands that do not vary are left out, so that their partial derivatives need not exist. */
static void chain(jet *y, const ga__partials *p, const jet *u, const int *varying, int m, const seeds *s)
{
  *y = (jet){0};
  for (int i = 0; i < m; i++) {
    if (!varying[i]) continue;
    for (int k = 0; k < s->n; k++) y->a[k] += p->d1[i] * u[i].a[k];
    if (s->order < 2) continue;
    y->b += p->d1[i] * u[i].b;
    for (int k = 0; k < s->n; k++) y->ab[k] += p->d1[i] * u[i].ab[k];
    for (int j = 0; j <= i; j++) {
      const double f_ij = p->d2[ga__pair(i, j)];
      if (!varying[j] || f_ij == 0) continue;
      for (int k = 0; k < s->n; k++) {
        const double both = i == j ? u[i].a[k] * u[i].b : u[i].a[k] * u[j].b + u[j].a[k] * u[i].b;
        y->ab[k] += f_ij * both;
      }
    }
  }
}

static int jet_finite(const jet *u, const seeds *s)
{
  int finite = isfinite(u->b);
  for (int k = 0; k < s->n; k++) finite = finite && isfinite(u->a[k]) && isfinite(u->ab[k]);
  return finite;
}

/* Replaces the operands f, with derivatives u, by the result of an instruction. */
static ga_status apply_jet(double *f, jet *u, const ga__instr *instr, const seeds *s, ga_fault *fault)
{
  const int m = ga__arity(instr);
  int varying[GA__MAX_ARGS], any = 0;
  ga__partials p;
  jet y;
  for (int i = 0; i < m; i++) any |= varying[i] = varies(&u[i], s);
  ga_status status = apply(&p, instr, f, any ? s->order : 0, fault);
  if (status) return status;
  chain(&y, &p, u, varying, any ? m : 0, s);
  if (!jet_finite(&y, s)) {
    const char *name = instr->code == GA__APPLY ? instr->use.op->name : "function";
    return report(fault, GA_FAULT_DERIVATIVE, name, NULL, m, f);
  }
  *f = p.f;
  *u = y;
  return GA_OK;
}

ga_status ga__apply_value(double *f, const ga__instr *instr, ga_fault *fault)
{
  ga__partials p;
  ga_status status = apply(&p, instr, f, 0, fault);
  if (!status) *f = p.f;
  return status;
}

/* Runs the program; without seeds for the value only. Derivatives d[i] belong to the values f[i]. */
static ga_status run(double *value, jet *derivatives, const ga_expr *e, const double *x, const seeds *s,
                     ga_fault *fault)
{
  double f[GA_EXPR_DEPTH + 1];
  jet d[GA_EXPR_DEPTH + 1];
  int top = -1;
  if (fault) *fault = (ga_fault){0};
  for (int at = 0; at < e->n_instr;) {
    const ga__instr *instr = &e->program[at];
    ga_status status;
    if (instr->code >= GA__JUMP) {
      if (s && instr->code >= GA__AND) d[top] = (jet){0};
      at = ga__jump(instr, at, f, &top);
      continue;
    }
    if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      f[top] = f[from];
      if (s) d[top] = d[from];
      at++;
      continue;
    }
    if (instr->code <= GA__PARAMETER) {
      status = ga__load(&f[++top], instr, x, fault);
      if (s) d[top] = (jet){0};
      if (s && instr->code == GA__VARIABLE) seed(&d[top], s, instr->index);
      if (s && s->line && instr->code == GA__MOVING) seed_line(&f[top], &d[top], s, instr);
    } else {
      top -= ga__arity(instr) - 1;
      status = s ? apply_jet(f + top, d + top, instr, s, fault) : ga__apply_value(f + top, instr, fault);
    }
    if (status) return place(fault, e, instr);
    at++;
  }
  *value = f[0];
  if (s) *derivatives = d[0];
  return GA_OK;
}

/* ---- Along a line (along.h) ----
 * Values and first derivatives. Where one does not exist, as that of sqrt at 0, they are those of the numbers
 * moved. */

static int value_along(const ga_expr *e, const double *x, double *value)
{
  static const int none = -1;
  const seeds s = {.order = 1, .n = 1, .wrt = &none, .wrt_b = -1, .line = ALONG_A};
  jet d;
  if (!e->along || run(value, &d, e, x, &s, NULL)) return 0;
  *value += d.a[0];
  return isfinite(*value);
}

/* As s, which has n directions a. */
static int slopes_along(const ga_expr *e, const double *x, const seeds *s, double *value, double *slope)
{
  seeds both = *s;
  jet d;
  both.order = 2;
  both.line = ALONG_B;
  both.rate2 = NULL;
  if (!e->along || run(value, &d, e, x, &both, NULL)) return 0;
  *value += d.b;
  for (int k = 0; k < s->n; k++) slope[k] = d.a[k] + d.ab[k];
  return 1;
}

/* ---- What callers ask for ---- */

ga_status ga_expr_eval(const ga_expr *e, const double *x, double *value, ga_fault *fault)
{
  if (!e || !value || (e->n_variables > 0 && !x)) return GA_ERR_ARGUMENT;
  if (value_along(e, x, value)) return GA_OK;
  return run(value, NULL, e, x, NULL, fault);
}

static int chunk(int n, int first)
{
  return n - first < DIRECTIONS ? n - first : DIRECTIONS;
}

ga_status ga_expr_gradient(const ga_expr *e, const double *x, int n, const int *wrt, double *value,
                           double *gradient, ga_fault *fault)
{
  if (!e || n < 0 || (n > 0 && (!wrt || !gradient)) || (e->n_variables > 0 && !x)) return GA_ERR_ARGUMENT;
  double f = 0;
  jet d;
  ga_status status = n > 0 ? GA_OK : ga_expr_eval(e, x, &f, fault);
  for (int first = 0; first < n && !status; first += DIRECTIONS) {
    const seeds s = {.order = 1, .n = chunk(n, first), .wrt = wrt + first, .wrt_b = -1};
    if (slopes_along(e, x, &s, &f, gradient + first)) continue;
    status = run(&f, &d, e, x, &s, fault);
    for (int k = 0; k < s.n && !status; k++) gradient[first + k] = d.a[k];
  }
  if (value && !status) *value = f;
  return status;
}

/* Row i by the direction b = wrt[i]; the part below the diagonal is mirrored. */
ga_status ga_expr_hessian(const ga_expr *e, const double *x, int n, const int *wrt, double *value,
                          double *gradient, double *hessian, ga_fault *fault)
{
  if (!e || n < 0 || (n > 0 && (!wrt || !hessian)) || (e->n_variables > 0 && !x)) return GA_ERR_ARGUMENT;
  double f = 0;
  jet d;
  ga_status status = n > 0 ? GA_OK : run(&f, NULL, e, x, NULL, fault);
  for (int i = 0; i < n; i++) {
    for (int first = 0; first <= i; first += DIRECTIONS) {
      const seeds s = {.order = 2, .n = chunk(i + 1, first), .wrt = wrt + first, .wrt_b = wrt[i]};
      status = run(&f, &d, e, x, &s, fault);
      if (status) return status;
      for (int k = 0; k < s.n; k++) {
        hessian[i * n + first + k] = hessian[(first + k) * n + i] = d.ab[k];
      }
    }
    if (gradient) gradient[i] = d.b;
  }
  if (value && !status) *value = f;
  return status;
}

ga_status ga_expr_curve(const ga_expr *e, const double *x, const double *rate, const double *rate2, int order,
                        double *out, ga_fault *fault)
{
  if (!e || !out || (e->n_variables > 0 && (!x || (order > 0 && !rate)))) return GA_ERR_ARGUMENT;
  const seeds s = {.order = order, .n = 1, .rate = rate, .rate2 = order > 1 ? rate2 : NULL};
  jet d = {0};
  if (order < 0 || order > 2) return GA_ERR_ARGUMENT;
  if (order == 0) return ga_expr_eval(e, x, out, fault);
  if (order == 1 && slopes_along(e, x, &s, &out[0], &out[1])) return GA_OK;
  ga_status status = run(&out[0], &d, e, x, &s, fault);
  if (status) return status;
  out[1] = d.a[0];
  if (order > 1) out[2] = d.ab[0];
  if (order > 1) slopes_along(e, x, &s, &out[0], &out[1]);
  return GA_OK;
}
