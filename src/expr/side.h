/* Sides of jumps and corners as one number. */
#ifndef GALPHA_EXPR_SIDE_H
#define GALPHA_EXPR_SIDE_H

/* Mixes a number into *side (FNV-1a, word by word), so that one that differs changes high bits too. */
static inline void ga__mix_side(unsigned *side, int number)
{
  *side = (*side ^ (unsigned)number) * 16777619u;
}

#endif
