/* Expressions as compiled programs (compile.c), and the evaluation of one instruction (eval.c). */
#ifndef GALPHA_EXPR_PROGRAM_H
#define GALPHA_EXPR_PROGRAM_H

#include "expr/ops.h"

typedef enum ga__code {
  GA__NUMBER,    /* push number */
  GA__VARIABLE,  /* push x[index] */
  GA__MOVING,    /* push number: base + rate, but for the curve between them (along.h) */
  GA__PARAMETER, /* push number, the current value of slot index */
  GA__APPLY,     /* replace the topmost op->arity values by op of them */
  GA__FUNCTION,  /* replace the topmost value by function of it */
  GA__TABLE2D,   /* replace the topmost two by table2d of them */
  GA__PICK,      /* push a copy of value number `index` of the stack, from its bottom */
  GA__SLIDE,     /* remove the `index` values below the topmost */
  GA__JUMP,      /* jump to index */
  GA__UNLESS,    /* pop; jump to index if it was 0 */
  GA__AND,       /* if the top is 0 jump to index, leaving 0; else pop */
  GA__OR         /* if the top is not 0 jump to index, leaving 1; else pop */
} ga__code;

typedef struct ga__instr {
  ga__code code;
  int index;
  double number;
  union {
    const ga__op *op;
    const ga_function *function;
    const ga_table2d *table2d;
    double rate; /* of GA__MOVING */
  } use;
  double base;      /* of GA__MOVING */
  int start, bytes; /* its piece of text */
} ga__instr;

/* 1: only moves values on the stack: GA__PICK and GA__SLIDE. After ga__move_top(), *top is the place of the
 * value that is copied from the place returned. */
static inline int ga__is_move(const ga__instr *instr)
{
  return instr->code == GA__PICK || instr->code == GA__SLIDE;
}

static inline int ga__move_top(const ga__instr *instr, int *top)
{
  const int from = instr->code == GA__PICK ? instr->index : *top;
  *top += instr->code == GA__PICK ? 1 : -instr->index;
  return from;
}

/* Operands of an operation, a function or a table. */
static inline int ga__arity(const ga__instr *instr)
{
  return instr->code == GA__APPLY ? instr->use.op->arity : instr->code == GA__TABLE2D ? 2 : 1;
}

/* One instruction (eval.c). ga__load: the value it pushes. ga__apply_value: replaces the topmost operands
 * by its value. ga__jump: index of the next instruction after a jump at `at`; pops what it pops. */
ga_status ga__load(double *value, const ga__instr *instr, const double *x, ga_fault *fault);
ga_status ga__apply_value(double *f, const ga__instr *instr, ga_fault *fault);
int ga__jump(const ga__instr *instr, int at, double *stack, int *top);

struct ga_expr {
  ga_context *ctx;
  char *text;
  ga__instr *program;
  int n_instr;
  int *variable; /* indices, ascending */
  int n_variables;
  int depth; /* of nested functions: 1 + the depth of the deepest one used */
  int along; /* 1: values are those at the bases plus the derivative along the rates (along.h) */
};

#endif
