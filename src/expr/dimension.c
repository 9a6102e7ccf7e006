/* The dimension of an expression, from those of its variables. */
#include "base/base_impl.h"
#include "expr/program.h"
#include "expr/text.h"
#include "expr/unit.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What an operation asks of the dimensions of its operands, and what its value has. */
typedef enum rule {
  LIKE,      /* all operands alike, and the value like them */
  COMPARES,  /* all operands alike, the value is a plain number */
  PRODUCT,   /* the sum of powers */
  QUOTIENT,  /* their difference */
  POWER,     /* the first to the power of the second, a number */
  ROOT2,     /* half of the powers */
  ROOT3,     /* a third of them */
  PLAIN,     /* a plain number or an angle, and the value is a plain number */
  TO_ANGLE,  /* of plain numbers, the value is an angle */
  DIRECTION, /* of two operands alike, the value is an angle */
  TRUTH,     /* of any operand, the value is a plain number */
  RAMP       /* step(x, x0, y0, x1, y1) */
} rule;

static const struct row {
  const char *name;
  int arity;
  rule rule;
} rows[] = {{"<", 2, COMPARES},    {"<=", 2, COMPARES},     {">", 2, COMPARES},    {">=", 2, COMPARES},
            {"==", 2, COMPARES},   {"!=", 2, COMPARES},     {"+", 2, LIKE},        {"-", 2, LIKE},
            {"*", 2, PRODUCT},     {"/", 2, QUOTIENT},      {"+", 1, LIKE},        {"-", 1, LIKE},
            {"!", 1, TRUTH},       {"^", 2, POWER},         {"pow", 2, POWER},     {"sin", 1, PLAIN},
            {"cos", 1, PLAIN},     {"tan", 1, PLAIN},       {"asin", 1, TO_ANGLE}, {"acos", 1, TO_ANGLE},
            {"atan", 1, TO_ANGLE}, {"atan2", 2, DIRECTION}, {"sinh", 1, PLAIN},    {"cosh", 1, PLAIN},
            {"tanh", 1, PLAIN},    {"exp", 1, PLAIN},       {"log", 1, PLAIN},     {"log10", 1, PLAIN},
            {"sqrt", 1, ROOT2},    {"cbrt", 1, ROOT3},      {"abs", 1, LIKE},      {"sign", 1, TRUTH},
            {"floor", 1, LIKE},    {"ceil", 1, LIKE},       {"min", 2, LIKE},      {"max", 2, LIKE},
            {"mod", 2, LIKE},      {"hypot", 2, LIKE},      {"step", 2, COMPARES}, {"step", 5, RAMP},
            {"step5", 5, RAMP}};

enum { ANGLE = GA_N_BASE_UNITS - 1, MOST_JOINS = GA_EXPR_DEPTH };

/* A value on the stack. A number that is written out has any dimension in a sum, and none in a product. */
typedef struct item {
  int any, is_number;
  double number; /* if is_number */
  ga_dimension dimension;
} item;

typedef struct check {
  const ga_expr *e;
  const ga__source *source;
  const ga__instr *instr;
  int branches; /* 1: those of an if are compared, of which instr ends the second */
} check;

static const item plain_item = {.any = 0};

/* 1: equal, apart from powers of the angle: a radian is a ratio of two lengths. */
static int are_alike(const item *a, const item *b)
{
  if (a->any || b->any) return 1;
  for (int i = 0; i < ANGLE; i++)
    if (a->dimension.power[i] != b->dimension.power[i]) return 0;
  return 1;
}

static int is_plain(const item *a)
{
  return are_alike(a, &plain_item);
}

static ga_status refuse(const check *c, const char *format, const item *a, const item *b)
{
  char one[2 * GA_TEXT_PIECE], other[2 * GA_TEXT_PIECE] = "", problem[5 * GA_TEXT_PIECE];
  ga_dimension_text(one, sizeof one, &a->dimension);
  if (b) ga_dimension_text(other, sizeof other, &b->dimension);
  const char *name = c->instr->code == GA__APPLY && !c->branches ? c->instr->use.op->name : "if";
  snprintf(problem, sizeof problem, format, name, one, other);
  return ga__text_fail(c->source, c->instr->start, c->instr->bytes, NULL, NULL, "%s", problem);
}

/* The value like both: that of a number which is written out is decided by the other. */
static ga_status join(const check *c, item *a, const item *b)
{
  if (!are_alike(a, b)) return refuse(c, "'%s' of %s and %s", a, b);
  if (a->any) *a = *b;
  a->is_number = 0;
  return GA_OK;
}

static ga_status add_powers(const check *c, item *a, const ga_dimension *b, double times)
{
  for (int i = 0; i < GA_N_BASE_UNITS; i++) {
    const double power = a->dimension.power[i] + times * b->power[i];
    if (power != floor(power) || fabs(power) > 100.0)
      return refuse(c, "'%s' of %s has no unit with whole powers", a, NULL);
  }
  for (int i = 0; i < GA_N_BASE_UNITS; i++)
    a->dimension.power[i] = (signed char)(a->dimension.power[i] + times * b->power[i]);
  a->is_number = 0;
  return GA_OK;
}

static ga_status scale_powers(const check *c, item *a, double factor)
{
  const ga_dimension of = a->dimension;
  if (a->any) return a->is_number = 0, GA_OK;
  return add_powers(c, a, &of, factor - 1.0);
}

static ga_status product(const check *c, item *x, double sign)
{
  const int any = x[0].any && x[1].any;
  const ga_status status = add_powers(c, &x[0], &x[1].dimension, sign);
  x[0].any = any;
  return status;
}

static ga_status power(const check *c, item *x)
{
  if (!is_plain(&x[1]))
    return refuse(c, "the exponent of '%s' is %s; it must be a plain number", &x[1], NULL);
  if (x[1].is_number) return scale_powers(c, &x[0], x[1].number);
  if (!is_plain(&x[0]))
    return refuse(c, "'%s' of %s needs an exponent that is written as a number", &x[0], NULL);
  x[0] = plain_item;
  return GA_OK;
}

static ga_status need_plain(const check *c, item *x, int angle)
{
  if (!is_plain(x)) return refuse(c, "'%s' of %s; it needs a plain number or an angle", x, NULL);
  if (!x->any || angle) *x = plain_item;
  x->dimension.power[ANGLE] = (signed char)angle;
  x->is_number = 0;
  return GA_OK;
}

static ga_status ramp(const check *c, item *x)
{
  ga_status status = join(c, &x[0], &x[1]);
  if (!status) status = join(c, &x[0], &x[3]);
  x[0] = x[2];
  return status ? status : join(c, &x[0], &x[4]);
}

static ga_status apply(const check *c, const struct row *row, item *x)
{
  ga_status status = GA_OK;
  switch (row->rule) {
  case LIKE:
    if (row->arity == 2) return join(c, &x[0], &x[1]);
    if (strcmp(row->name, "-") == 0)
      x[0].number = -x[0].number;
    else if (strcmp(row->name, "+") != 0)
      x[0].is_number = 0;
    return GA_OK;
  case COMPARES:
  case DIRECTION:
    status = join(c, &x[0], &x[1]);
    x[0] = plain_item;
    x[0].dimension.power[ANGLE] = row->rule == DIRECTION;
    return status;
  case PRODUCT:
    return product(c, x, 1.0);
  case QUOTIENT:
    return product(c, x, -1.0);
  case POWER:
    return power(c, x);
  case ROOT2:
    return scale_powers(c, x, 1.0 / 2.0);
  case ROOT3:
    return scale_powers(c, x, 1.0 / 3.0);
  case PLAIN:
    return need_plain(c, x, 0);
  case TO_ANGLE:
    return need_plain(c, x, 1);
  case RAMP:
    return ramp(c, x);
  case TRUTH:
    break;
  }
  x[0] = plain_item;
  return status;
}

static ga_status apply_instruction(const check *c, item *x)
{
  const ga__op *op = c->instr->code == GA__APPLY ? c->instr->use.op : NULL;
  for (size_t i = 0; op && i < sizeof rows / sizeof *rows; i++)
    if (rows[i].arity == op->arity && strcmp(rows[i].name, op->name) == 0) return apply(c, &rows[i], x);
  x[0] = op == &ga__op_truth ? plain_item : (item){.any = 1}; /* functions and tables: unknown */
  return GA_OK;
}

/* Values of branches that continue at a later instruction. */
typedef struct joins {
  int n;
  struct {
    int at;
    item value;
  } row[MOST_JOINS];
} joins;

static ga_status walk(check *c, const ga_dimension *variable, item *out)
{
  item x[GA_EXPR_DEPTH + 2] = {{0}};
  joins open = {0};
  int top = -1;
  for (int i = 0; i <= c->e->n_instr; i++) {
    ga_status status = GA_OK;
    c->branches = 1;
    for (; open.n > 0 && open.row[open.n - 1].at == i && !status; open.n--)
      status = join(c, &x[top], &open.row[open.n - 1].value);
    c->branches = 0;
    if (status || i == c->e->n_instr) return *out = x[0], status;
    const ga__instr *instr = c->instr = &c->e->program[i];
    if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      x[top] = x[from];
    } else if (instr->code <= GA__PARAMETER) {
      x[++top] = (item){.any = instr->code != GA__VARIABLE,
                        .is_number = instr->code == GA__NUMBER || instr->code == GA__MOVING,
                        .number = instr->number};
      if (instr->code == GA__VARIABLE) x[top].dimension = variable[instr->index];
    } else if (instr->code >= GA__JUMP) {
      if (instr->code == GA__JUMP && open.n < MOST_JOINS) {
        open.row[open.n].at = instr->index;
        open.row[open.n++].value = x[top];
      }
      top--; /* the value of the branch, or the condition */
    } else {
      top -= ga__arity(instr) - 1;
      status = apply_instruction(c, x + top);
      if (status) return status;
    }
  }
  return GA_OK;
}

ga_status ga_expr_dimension(ga_context *ctx, const ga_expr *e, const ga_dimension *variable,
                            ga_dimension *out, ga_text_error *error)
{
  if (!ctx || !e || !variable || !out)
    return ga__refuse_null(ctx, __func__, !e ? "e" : !variable ? "variable" : "out");
  if (error) *error = (ga_text_error){0};
  const ga__source source = {ctx, "expression", e->text, error};
  check c = {.e = e, .source = &source};
  item value = {0};
  const ga_status status = walk(&c, variable, &value);
  *out = value.dimension;
  return status;
}
