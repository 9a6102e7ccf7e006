/* Expressions as compiled programs (compile.c), and the evaluation of one instruction (eval.c). */
#ifndef GALPHA_EXPR_PROGRAM_H
#define GALPHA_EXPR_PROGRAM_H

#include "expr/ops.h"

typedef enum ga__code {
  GA__NUMBER,    /* push number */
  GA__VARIABLE,  /* push x[index] */
  GA__PARAMETER, /* push number, the present value of slot index */
  GA__APPLY,     /* replace the topmost op->arity values by op of them */
  GA__FUNCTION,  /* replace the topmost value by function of it */
  GA__TABLE2D,   /* replace the topmost two by table2d of them */
  GA__JUMP,      /* go on at index */
  GA__UNLESS,    /* pop; go on at index if it was 0 */
  GA__AND,       /* go on at index with 0 if the topmost is 0; else pop */
  GA__OR         /* go on at index with 1 if the topmost is not 0; else pop */
} ga__code;

typedef struct ga__instr {
  ga__code code;
  int index;
  double number;
  union {
    const ga__op *op;
    const ga_function *function;
    const ga_table2d *table2d;
  } use;
  int start, bytes; /* the piece of text it stands for */
} ga__instr;

/* Operands of an operation, a function or a table. */
static inline int ga__arity(const ga__instr *instr)
{
  return instr->code == GA__APPLY ? instr->use.op->arity : instr->code == GA__TABLE2D ? 2 : 1;
}

/* One instruction (eval.c): the value that it pushes; the topmost operands replaced by its value; where a
 * jump at `at` leads, by the topmost value, with what it pops or leaves done to the stack. */
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
  int depth; /* of functions that use functions: 1 + that of the deepest one used */
};

#endif
