/* Where an expression is not smooth, and what it measures. Both follow its program with a stack of their own,
 * on which every value of an evaluation has its place. */
#include "expr/smooth.h"
#include "expr/function.h"
#include "expr/program.h"

#include <string.h>

/* ---- Kinks ---- */

/* 1: the slope of a table jumps, at its points or where it ends. */
static int table_bends(const ga__table *table)
{
  const ga__axis *axis = &table->axis;
  if (!axis->cubic) return 1;
  return (axis->before == GA_EXTRAPOLATE_HOLD && table->slope[0] != 0) ||
         (axis->after == GA_EXTRAPOLATE_HOLD && table->slope[axis->n - 1] != 0);
}

/* What of a function may jump or bend; NULL: nothing. */
static const char *function_kink(const ga_function *f)
{
  const ga__table *table = ga__function_table(f);
  const ga_expr *e = ga__function_expr(f);
  ga__expr_piece inner;
  if (table) return !table_bends(table) ? NULL : table->axis.cubic ? "the end of a table" : "a linear table";
  if (e) return ga__expr_find_kink(e, &inner) ? inner.operation : NULL;
  if (f->kind == &ga__kind_motion && f->data.motion.law == GA_MOTION_LINEAR) return "a linear motion";
  return NULL;
}

/* What of an instruction, with operands that vary, may jump or bend; NULL: nothing. */
static const char *instruction_kink(const ga__instr *instr)
{
  switch (instr->code) {
  case GA__APPLY:
    return instr->use.op->side ? instr->use.op->name : NULL;
  case GA__FUNCTION:
    return function_kink(instr->use.function);
  case GA__TABLE2D:
    return "a table";
  default:
    return NULL;
  }
}

int ga__expr_find_kink(const ga_expr *e, ga__expr_piece *out)
{
  unsigned char varies[GA_EXPR_DEPTH + 1];
  int top = -1;
  for (int i = 0; i < e->n_instr; i++) {
    const ga__instr *instr = &e->program[i];
    *out = (ga__expr_piece){NULL, instr->start, instr->bytes};
    if (instr->code >= GA__JUMP) {
      out->operation = instr->code == GA__AND ? "&&" : instr->code == GA__OR ? "||" : "if";
      return 1;
    }
    if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      varies[top] = varies[from];
      continue;
    }
    if (instr->code <= GA__PARAMETER) {
      varies[++top] = instr->code == GA__VARIABLE;
      continue;
    }
    const int n = ga__arity(instr);
    top -= n - 1;
    for (int k = 1; k < n; k++) varies[top] |= varies[top + k];
    out->operation = varies[top] ? instruction_kink(instr) : NULL;
    if (out->operation) return 1;
  }
  return 0;
}

/* ---- Dimensions ---- */

/* Of an operation: a sum has that of its terms, all else may have any. Returns 1 where two terms differ. */
static int dimension_of(const ga__instr *instr, ga__dimension_known *x)
{
  const ga__op *op = instr->code == GA__APPLY ? instr->use.op : NULL;
  if (op && op->binding == GA__BIND_PREFIX && op->name[0] != '!') return 0;
  if (!op || op->binding != GA__BIND_SUM) {
    x[0].known = 0;
    return 0;
  }
  if (x[0].known && x[1].known && memcmp(&x[0].dimension, &x[1].dimension, sizeof x[0].dimension) != 0)
    return 1;
  if (!x[0].known) x[0] = x[1];
  return 0;
}

int ga__expr_dimension(const ga_expr *e, const ga__dimension_known *variable, ga__dimension_known *out,
                       ga_dimension sum[2], ga__expr_piece *where)
{
  ga__dimension_known x[GA_EXPR_DEPTH + 1];
  int top = -1;
  *out = (ga__dimension_known){.known = 0};
  for (int i = 0; i < e->n_instr; i++) {
    const ga__instr *instr = &e->program[i];
    if (instr->code >= GA__JUMP) return 0;
    if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      x[top] = x[from];
      continue;
    }
    if (instr->code <= GA__PARAMETER) {
      x[++top] = instr->code == GA__VARIABLE ? variable[instr->index] : (ga__dimension_known){.known = 0};
      continue;
    }
    top -= ga__arity(instr) - 1;
    if (!dimension_of(instr, x + top)) continue;
    sum[0] = x[top].dimension;
    sum[1] = x[top + 1].dimension;
    *where = (ga__expr_piece){instr->use.op->name, instr->start, instr->bytes};
    return 1;
  }
  if (top == 0) *out = x[0];
  return 0;
}
