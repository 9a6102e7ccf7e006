/* Sides of operations with respect to their jumps and corners, and their hash (side.c). */
#ifndef GALPHA_EXPR_SIDE_H
#define GALPHA_EXPR_SIDE_H

/* Adds a number to the hash *side (FNV-1a by words), so that a difference changes high bits too. */
static inline void ga__mix_side(unsigned *side, int number)
{
  *side = (*side ^ (unsigned)number) * 16777619u;
}

double ga__side_less(const double *x);
double ga__side_less_equal(const double *x);
double ga__side_equal(const double *x);
double ga__side_zero(const double *x); /* is the operand 0? */
double ga__side_sign(const double *x);
double ga__side_floor(const double *x);
double ga__side_ceil(const double *x);
double ga__side_mod(const double *x);
double ga__side_cut(const double *x); /* of atan2 */

#endif
