/* Operators and functions of expressions, with their derivatives (ops.c). */
#ifndef GALPHA_EXPR_OPS_H
#define GALPHA_EXPR_OPS_H

#include "galpha/expr.h"

#define GA__PI 3.14159265358979323846
#define GA__E 2.71828182845904523536

enum { GA__MAX_ARGS = 5, GA__MAX_PAIRS = GA__MAX_ARGS * (GA__MAX_ARGS + 1) / 2 };

/* Value and partial derivatives; the second ones packed, ∂²/∂x_i∂x_j at ga__pair(i,j), i >= j. */
typedef struct ga__partials {
  double f, d1[GA__MAX_ARGS], d2[GA__MAX_PAIRS];
} ga__partials;

static inline int ga__pair(int i, int j)
{
  return i * (i + 1) / 2 + j;
}

enum { /* binding strengths of operators; 0: a function, called by name */
       GA__BIND_OR = 1,
       GA__BIND_AND,
       GA__BIND_COMPARE,
       GA__BIND_SUM,
       GA__BIND_PRODUCT,
       GA__BIND_PREFIX,
       GA__BIND_POWER
};

/* The interval [lo, hi]; either end may be infinite. */
typedef struct ga__range {
  double lo, hi;
} ga__range;

/* One operator or function. rule is NULL for those that the compiler turns into jumps (&&, ||, if). With
 * derivatives 0 it writes p->f alone; otherwise d1 and d2 too, which are 0 on entry. */
typedef struct ga__op ga__op;
struct ga__op {
  const char *name;
  int arity, binding;
  int folds; /* more arguments than arity: op(op(a, b), c) */
  void (*rule)(ga__partials *p, const double *x, int derivatives);
  int (*defined)(const double *x);                          /* NULL: everywhere */
  const char *needs;                                        /* in words, where defined is given */
  ga__range (*range)(const ga__op *op, const ga__range *x); /* range of its values; NULL if rule is NULL */
  int (*kink)(const ga__range *x); /* 1: it may have a kink or jump within x; NULL: never */
  double (*side)(
      const double *x); /* a number that changes where its value or slope jumps; NULL: it never jumps */
  /* d[arity]: ranges of its derivatives, its values being within f; NULL: piecewise constant */
  void (*slopes)(const ga__op *op, const ga__range *x, const ga__range *f, ga__range *d);
};

extern const ga__op ga__ops[];
extern const int ga__n_ops;
extern const ga__op ga__op_truth; /* 1 if x is not 0; ends && and || */

#endif
