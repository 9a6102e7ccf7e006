#include "expr/same.h"
#include "expr/function.h"
#include "expr/program.h"

#include <string.h>

int ga__numbers_same(const double *a, const double *b, size_t n)
{
  if (!a || !b) return !a && !b;
  return memcmp(a, b, n * sizeof *a) == 0;
}

static int instr_same(const ga__instr *a, const ga__instr *b)
{
  if (a->code != b->code || a->index != b->index || !ga__numbers_same(&a->number, &b->number, 1)) return 0;
  switch (a->code) {
  case GA__MOVING:
    return ga__numbers_same(&a->base, &b->base, 1) && ga__numbers_same(&a->use.rate, &b->use.rate, 1);
  case GA__APPLY:
    return a->use.op == b->use.op;
  case GA__FUNCTION:
    return ga__function_same(a->use.function, b->use.function);
  case GA__TABLE2D:
    return ga__table2d_same(a->use.table2d, b->use.table2d);
  default:
    return 1;
  }
}

int ga__expr_same(const ga_expr *a, const ga_expr *b)
{
  if (a == b) return 1;
  if (!a || !b || a->n_instr != b->n_instr) return 0;
  for (int i = 0; i < a->n_instr; i++)
    if (!instr_same(&a->program[i], &b->program[i])) return 0;
  return 1;
}

int ga__function_same(const ga_function *a, const ga_function *b)
{
  if (a == b) return 1;
  return a && b && a->kind == b->kind && a->kind->same && a->kind->same(a, b);
}
