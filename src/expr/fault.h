/* Faults of evaluations: operands outside the domain, results that are not finite (eval.c). */
#ifndef GALPHA_EXPR_FAULT_H
#define GALPHA_EXPR_FAULT_H

#include "galpha/expr.h"
#include <stddef.h>

ga_status ga__fault_range(ga_fault *fault, const char *operation, double x, double least, double largest);
ga_status ga__fault_input(ga_fault *fault, const char *operation, double x);
/* A value (derivative 0) or derivative that is not finite though x is. */
ga_status ga__fault_overflow(ga_fault *fault, const char *operation, double x, int derivative);

/* The text of ga_fault_text() without the column. */
void ga__fault_say(char *text, size_t size, const ga_fault *fault);

#endif
