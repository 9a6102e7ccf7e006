/* Whether two blocks are the same. (block.c) */
#ifndef GALPHA_CONTROL_SAME_H
#define GALPHA_CONTROL_SAME_H

#include "galpha/control.h"

/* 1: to the last bit, so that they have the same values everywhere; what cannot be compared counts as
 * different. */
int ga__block_same(const ga_control_block *a, const ga_control_block *b);

#endif
