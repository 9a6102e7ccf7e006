/* Inputs and formulas. (input.c) */
#ifndef GALPHA_MBS_INPUT_H
#define GALPHA_MBS_INPUT_H

#include "mbs/eval.h"

struct ga__time_signal; /* of expr/time_signal.h */

typedef struct ga__input { /* value + function(t) + y */
  double value;
  const ga_function *function;
  int y;    /* −1: none */
  int part; /* owner, for messages */
} ga__input;

typedef struct ga__formula { /* variables: t, then n_local local ones, then outputs y */
  ga_expr *expr;
  int n_local, n_y;
  int *y;   /* [n_y] which outputs */
  int *wrt; /* [n_local + n_y] variables for derivatives: 1, 2, ... */
  struct ga__time_signal
      *time_signal; /* [1 + n_local + n_y] variables as functions of time; NULL: only t is known */
  int part;         /* owner, for messages */
} ga__formula;

void ga__formula_free(ga_context *ctx, ga__formula *f); /* what it owns; {0} is fine */

ga_status ga__resolve_input(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const ga_input *in, ga__input *out);
ga_status ga__resolve_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *text, int n_local, const char *const *local, ga__formula *out);
/* The output y of a signal; created if there is none yet. */
ga_status ga__signal_y(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                       const char *name, int *y);

/* Values at an evaluation: 0; > 0 retry; < 0 give up, as ga_eval_fn. */
int ga__input_value(const ga__eval *e, const ga__input *in, double *value);
/* local[n_local]; slope (may be NULL) by local variables, then by y. */
int ga__formula_value(const ga__eval *e, const ga__formula *f, const double *local, double *value,
                      double *slope);
/* Side of its jumps, as ga_expr_side(). */
int ga__formula_side(const ga__eval *e, const ga__formula *f, const double *local, unsigned *side);

#endif
