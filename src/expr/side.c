/* Sides of expressions: the results of comparisons and of other operations that jump, hashed into one
 * number, which is constant while the value is smooth. */
#include "expr/function.h"
#include "expr/program.h"
#include "expr/side.h"

#include <math.h>

/* ---- Operations ---- */

double ga__side_less(const double *x)
{
  return x[0] < x[1];
}
double ga__side_less_equal(const double *x)
{
  return x[0] <= x[1];
}
double ga__side_equal(const double *x)
{
  return x[0] == x[1];
}
double ga__side_zero(const double *x)
{
  return x[0] == 0;
}
double ga__side_sign(const double *x)
{
  return (x[0] > 0) - (x[0] < 0);
}
double ga__side_floor(const double *x)
{
  return floor(x[0]);
}
double ga__side_ceil(const double *x)
{
  return ceil(x[0]);
}
double ga__side_mod(const double *x)
{
  return x[1] != 0 ? floor(x[0] / x[1]) : 0;
}

/* atan2(y, x) jumps by 2π where y changes its sign while x < 0. */
double ga__side_cut(const double *x)
{
  return x[1] < 0 ? x[0] < 0 : 2;
}

/* ---- Expressions and functions ---- */

static void mix(unsigned *side, double number)
{
  ga__mix_side(side, (int)fmod(number, 1e9));
}

static ga_status function_side(const ga_function *f, double x, unsigned *side)
{
  const ga_expr *e = ga__function_expr(f);
  const ga__table *table = ga__function_table(f);
  if (table) mix(side, ga__axis_side(&table->axis, x));
  return e ? ga_expr_side(e, &x, side) : GA_OK;
}

ga_status ga_expr_side(const ga_expr *e, const double *x, unsigned *side)
{
  double f[GA_EXPR_DEPTH + 1];
  int top = -1;
  if (!e || !side || (e->n_variables > 0 && !x)) return GA_ERR_ARGUMENT;
  for (int at = 0; at < e->n_instr;) {
    const ga__instr *instr = &e->program[at];
    ga_status status = GA_OK;
    if (instr->code >= GA__JUMP) {
      if (instr->code > GA__JUMP) mix(side, f[top] != 0);
      at = ga__jump(instr, at, f, &top);
      continue;
    }
    if (ga__is_move(instr)) {
      const int from = ga__move_top(instr, &top);
      f[top] = f[from];
    } else if (instr->code <= GA__PARAMETER) {
      status = ga__load(&f[++top], instr, x, NULL);
    } else {
      top -= ga__arity(instr) - 1;
      if (instr->code == GA__APPLY && instr->use.op->side) mix(side, instr->use.op->side(f + top));
      if (instr->code == GA__FUNCTION) status = function_side(instr->use.function, f[top], side);
      if (instr->code == GA__TABLE2D) status = ga_table2d_side(instr->use.table2d, f[top], f[top + 1], side);
      if (!status) status = ga__apply_value(f + top, instr, NULL);
    }
    if (status) return status;
    at++;
  }
  return GA_OK;
}

ga_status ga_function_side(const ga_function *f, double t, unsigned *side)
{
  if (!f || !side) return GA_ERR_ARGUMENT;
  return function_side(f, t, side);
}

ga_status ga_table2d_side(const ga_table2d *table, double x, double y, unsigned *side)
{
  int at[2];
  if (!table || !side) return GA_ERR_ARGUMENT;
  ga__table2d_side(table, x, y, at);
  mix(side, at[0]);
  mix(side, at[1]);
  return GA_OK;
}

int ga_expr_has_edges(const ga_expr *e, int time)
{
  int jumps = 0, others = 0;
  for (int i = 0; e && i < e->n_variables; i++) others |= e->variable[i] != time;
  for (int i = 0; others && !jumps && i < e->n_instr; i++) {
    const ga__instr *instr = &e->program[i];
    jumps = instr->code > GA__JUMP || instr->code == GA__TABLE2D ||
            (instr->code == GA__APPLY && instr->use.op->side) ||
            (instr->code == GA__FUNCTION && ga_function_has_edges(instr->use.function));
  }
  return jumps;
}

int ga_function_has_edges(const ga_function *f)
{
  const ga_expr *e = f ? ga__function_expr(f) : NULL;
  return f && (ga__function_table(f) || (e && ga_expr_has_edges(e, -1)));
}
