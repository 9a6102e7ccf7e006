/* Inputs and formulas. (input.c) */
#ifndef GALPHA_MBS_INPUT_H
#define GALPHA_MBS_INPUT_H

#include "mbs/eval.h"

struct ga__time_signal; /* of expr/time_signal.h */
struct ga__probe;

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

/* Names in the text of an expression. */
typedef struct ga__name_list {
  char *text;         /* a copy of the text, every name closed by a 0 */
  ga_symbol *symbols; /* t, local names, then signals: variables 0, 1, ...; then functions */
  int *offset;        /* of a variable's first occurrence in the text */
  int n, n_local;     /* variables, local names among them */
  int n_functions;
} ga__name_list;

/* Compiles a text with t, local names and every other name as a variable, which names lists; they are the
 * caller's to resolve. Names are {0} before; to be freed in any case. */
ga_status ga__names_compile(ga_machine *m, const ga__part *asking, const char *field, const char *text,
                            int n_local, const char *const *local, ga__name_list *names, ga_expr **out);
void ga__names_free(ga_context *ctx, ga__name_list *names);
/* Adds part and field to the last error. */
void ga__blame_field(ga_machine *m, const ga__part *asking, const char *field);
/* Adds to the last error where in the text the name of signal number `signal` stands; returns status. */
ga_status ga__names_blame(ga_machine *m, const char *text, const ga__name_list *names, int signal,
                          ga_status status);
/* An expression has no value, or no derivative, at the point of an evaluation: reports it, with the values of
 * its signals in words, and returns 1 (retry). The same before there is an evaluation, with a status. */
int ga__expression_fault(const ga__eval *e, int part, const ga_expr *expr, const char *values,
                         const ga_fault *fault);
void ga__refuse_at_start(ga_context *ctx, const ga__part *whose, ga_status status, const char *field,
                         double t, const ga_expr *expr, const char *values, const ga_fault *fault);

void ga__formula_free(ga_context *ctx, ga__formula *f); /* what it owns; {0} is fine */

ga_status ga__resolve_input(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const ga_input *in, ga__input *out);
ga_status ga__resolve_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *text, int n_local, const char *const *local, ga__formula *out);
/* The output y of a signal; created if there is none yet. */
ga_status ga__signal_y(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                       const char *name, int *y);
/* A signal that positions and velocities determine, for a constraint; others are refused. */
ga_status ga__signal_motion(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, struct ga__probe *probe, const char **unit);

/* Values at an evaluation: 0; > 0 retry; < 0 give up, as ga_eval_fn. */
int ga__input_value(const ga__eval *e, const ga__input *in, double *value);
/* local[n_local]; slope (may be NULL) by local variables, then by y. */
int ga__formula_value(const ga__eval *e, const ga__formula *f, const double *local, double *value,
                      double *slope);
/* Side of its jumps, as ga_expr_side(). */
int ga__formula_side(const ga__eval *e, const ga__formula *f, const double *local, unsigned *side);

#endif
