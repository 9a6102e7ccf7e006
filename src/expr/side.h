/* On which side of their jumps and corners operations are, and sides mixed into one number (side.c). */
#ifndef GALPHA_EXPR_SIDE_H
#define GALPHA_EXPR_SIDE_H

/* Mixes a number into *side (FNV-1a, word by word), so that one that differs changes high bits too. */
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
