/* Expressions along a line: with numbers that move.
 *
 * For derivatives by a parameter an expression is needed where the numbers that depend on the parameter have
 * moved from their bases c by rates r. Its value there is f(c + r); differences of such values are inexact
 * where f bends within r, as sin(w t) does at large t. f(c) + f_c(c) r has the same derivative, and no
 * others.
 *
 * In a text such a number is "number GA__MARK base GA__MARK rate": what is differenced where the expression
 * bends little or has edges, and what it is at the line. No text of a user has the mark. */
#ifndef GALPHA_EXPR_ALONG_H
#define GALPHA_EXPR_ALONG_H

#include "expr/program.h"

#define GA__MARK '\001'

/* 1: the expression is no polynomial of its numbers that move, for which differences would be exact, and has
 * no jumps or corners whose places move too. */
int ga__expr_bends(const ga_expr *e);

#endif
