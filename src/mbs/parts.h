/* Kinds of parts: what a definition holds, and what it must satisfy. (part_kinds.c) */
#ifndef GALPHA_MBS_PARTS_H
#define GALPHA_MBS_PARTS_H

#include "mbs/mbs_impl.h"

size_t ga__def_size(ga__part_kind kind);

/* Numbers, choices, texts that are needed; what names mean is seen when the machine is built. Rotations that
 * are right to 1e-6 are made so to rounding. The message names kind, part, field and value. */
ga_status ga__def_check(ga_context *ctx, ga__part_kind kind, void *def);

/* Where text number i = 0, 1, ... of a definition stands, the name first; NULL after the last. */
const char **ga__def_text(ga__part_kind kind, void *def, int i);

#endif
