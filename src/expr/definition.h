/* Functions of several arguments (definition.c). */
#ifndef GALPHA_EXPR_DEFINITION_H
#define GALPHA_EXPR_DEFINITION_H

#include "expr/program.h"

struct ga_definition {
  ga_context *ctx; /* NULL: not complete */
  int n_args, n_locals;
  ga_expr
      *step[GA_DEFINITION_NAMES + 1]; /* local values, then the value; variables: arguments, then locals */
};

#endif
