/* Blocks whose inputs are functions of time alone. */
#ifndef GALPHA_CONTROL_OVER_TIME_H
#define GALPHA_CONTROL_OVER_TIME_H

#include "expr/time_signal.h"
#include "galpha/control.h"

/* Output number `output` as a function of time; u[0] is t and u[1 + i] input i over time. *owned: a
 * function created for it, to be destroyed before the block; NULL: none. Not known if the block has states,
 * or an input or the kind of the block is not known. */
ga_status ga__block_over_time(const ga_control_block *b, int output, const ga__time_signal *u,
                              ga__time_signal *out, ga_function **owned);
/* 1: y = σ(K u + offset), so that breaks of its outputs are those of the functions above. */
int ga__is_wiener(const ga_control_block *b);
/* 1: output i stays within a range that the block itself limits, [least, most], one of which may be infinite. */
int ga__block_range(const ga_control_block *b, int i, double range[2]);
int ga__block_opening(const ga_control_block *b); /* the input that opens a valve, from 0 to 1; -1: it is none */
/* As ga_block_side() and ga_block_has_edges(), for Wiener blocks. */
ga_status ga__wiener_side(const ga_control_block *b, const double *u, const double *x, unsigned *side);
int ga__wiener_has_edges(const ga_control_block *b);
/* Bounds of its output i for inputs in [lo, hi]; without states. */
int ga__wiener_bounds(const ga_control_block *b, int i, const double *lo, const double *hi, double *least,
                      double *most);
/* Bounds of its rate for input rates in [rate_lo, rate_hi]. */
int ga__wiener_rate(const ga_control_block *b, int i, const double *lo, const double *hi,
                    const double *rate_lo, const double *rate_hi, double *least, double *most);
/* As ga__expr_rate(), for any block that ga_block_bounds() has bounds for; [0] of lo, hi and rates is t, [1
 * + k] input k. */
int ga__block_rate(const ga_control_block *b, int i, const double *lo, const double *hi,
                   const double *rate_lo, const double *rate_hi, double range[2], double rate[2]);
void ga__break_join(ga_break *out, const ga_break *one); /* the earlier of both */
/* As ga_block_next_break() and ga_block_period(); inputs may be known in part. */
ga_status ga__block_next_break_along(const ga_control_block *b, const ga__time_signal *u, double t,
                                     double until, ga_break *out);
double ga__block_period_along(const ga_control_block *b, const ga__time_signal *u, double from, double to);

#endif
