/* Expressions of signals, and inputs of forces and blocks. */
#ifndef GALPHA_MODEL_INPUTS_H
#define GALPHA_MODEL_INPUTS_H

#include "model/reader.h"

/* Text, number, or map of value, function, expression. */
int ga__read_input(ga__reader *reader, ga__tree *tree, const char *unit, ga_input *input);
/* Checks the syntax of an expression with the model's functions; errors are reported. Returns 0:
 * it is wrong. */
int ga__check_syntax(ga__reader *reader, const ga__tree *tree);
/* An expression of t, signals and `local` names, parameters replaced by their values. */
int ga__read_expression(ga__reader *reader, const ga__tree *tree, int n_local, const char *const *local,
                        const char **text);
/* Reports a function without its argument. */
void ga__report_no_argument(ga__reader *reader, ga__place at, const char *function);
/* 1: the scalar is a number or an expression of parameters; 0: it contains signals. */
int ga__is_number(ga__reader *reader, const ga__tree *tree);
/* 1: a quantity in tonnes where t is the time, "2 N*t", which was reported. */
int ga__refuse_tonnes(ga__reader *reader, const ga__tree *tree);

#endif
