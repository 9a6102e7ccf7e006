#include "expr/along.h"
#include "expr/function.h"

#include <math.h>
#include <string.h>

enum { MOST_DEGREE = 4, NO_POLYNOMIAL = 1000 }; /* of what fourth-order differences are exact for */

/* The degree of a value in the numbers that move, and whether it depends on variables. */
typedef struct degree {
  int of, varies;
  int is_number; /* 1: it is this number */
  double number;
} degree;

static int is_op(const ga__instr *instr, const char *name)
{
  return instr->code == GA__APPLY && strcmp(instr->use.op->name, name) == 0;
}

/* 1: it has no corners but where it has no value. */
static int has_poles(const ga__instr *instr)
{
  return is_op(instr, "/") || is_op(instr, "tan");
}

/* 1: an operation on what moves has corners or jumps, which move too. Those at certain values of numbers
 * alone have no derivative there. */
static int has_edges(const ga__instr *instr, int varies)
{
  const double far = 1e300;
  if (instr->code == GA__TABLE2D) return 1;
  if (instr->code == GA__APPLY)
    return instr->use.op->side || (varies && instr->use.op->kink && !has_poles(instr));
  return instr->use.function->kind->kinked(instr->use.function, -far, far);
}

static int power_degree(const degree *x)
{
  const double n = x[1].number;
  if (!x[1].is_number || n < 0.0 || n > MOST_DEGREE || n != floor(n)) return NO_POLYNOMIAL;
  return (int)n * x[0].of;
}

/* x[0] := an operation on the values x. 0: it has edges that move. */
static int apply(const ga__instr *instr, degree *x)
{
  const int n = ga__arity(instr);
  int most = 0, sum = 0, varies = 0;
  for (int i = 0; i < n; i++) {
    most = x[i].of > most ? x[i].of : most;
    sum += x[i].of;
    varies |= x[i].varies;
  }
  if (most > 0 && has_edges(instr, varies)) return 0;
  degree y = {.of = most > 0 ? NO_POLYNOMIAL : 0, .varies = varies};
  if (is_op(instr, "+") || is_op(instr, "-")) y.of = most;
  if (is_op(instr, "*") && sum < NO_POLYNOMIAL) y.of = sum;
  if (is_op(instr, "/") && x[1].of == 0) y.of = x[0].of;
  if ((is_op(instr, "^") || is_op(instr, "pow")) && most > 0 && x[1].of == 0) y.of = power_degree(x);
  *x = y;
  return 1;
}

/* The value of a branch waits for that of the other one, which ends at `at`. */
typedef struct branch {
  int at;
  degree value;
} branch;

/* Of both values of if(), which ever is taken. */
static degree join(degree a, degree b)
{
  return (degree){.of = a.of > b.of ? a.of : b.of, .varies = a.varies || b.varies};
}

/* Conditions may not move. A jump over the second branch leaves the value of the first one. */
static int pass_jump(const ga__instr *instr, degree *x, int *top, branch *waiting, int *n)
{
  if (instr->code == GA__JUMP) {
    if (*n == GA_EXPR_DEPTH) return 0;
    waiting[(*n)++] = (branch){instr->index, x[*top]};
  } else if (x[*top].of > 0) {
    return 0;
  }
  --*top;
  return 1;
}

int ga__expr_bends(const ga_expr *e)
{
  degree x[GA_EXPR_DEPTH + 1];
  branch waiting[GA_EXPR_DEPTH];
  int top = -1, moving = 0, n = 0;
  for (int i = 0; i < e->n_instr; i++) moving |= e->program[i].code == GA__MOVING;
  for (int i = 0; moving && i <= e->n_instr; i++) {
    for (; n > 0 && waiting[n - 1].at == i; n--) x[top] = join(x[top], waiting[n - 1].value);
    if (i == e->n_instr) break;
    const ga__instr *instr = &e->program[i];
    if (instr->code >= GA__JUMP) {
      if (!pass_jump(instr, x, &top, waiting, &n)) return 0;
    } else if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      x[top] = x[from];
    } else if (instr->code <= GA__PARAMETER) {
      x[++top] = (degree){instr->code == GA__MOVING, instr->code == GA__VARIABLE, instr->code == GA__NUMBER,
                          instr->number};
    } else {
      top -= ga__arity(instr) - 1;
      if (!apply(instr, x + top)) return 0;
    }
  }
  return moving && x[0].of > MOST_DEGREE;
}
