/* Motions that the caller prescribes beside a model (prescribe.c). */
#ifndef GALPHA_MODEL_PRESCRIBE_H
#define GALPHA_MODEL_PRESCRIBE_H

#include "model/document.h"
#include "model/reader.h"

/* A drive for each, or another function for the drive that the coordinate has; before repeats are expanded.
 */
void ga__prescribe_drives(ga__reading *r, ga__document *d);
/* Actuators on these coordinates have no force; after repeats. */
void ga__prescribe_rest(ga__reading *r, ga__document *d);
/* Initial values of a joint or scalar body that is prescribed are those of its motion. */
void ga__prescribe_joint(ga__reader *reader, const char *part, ga_joint_def *def);
void ga__prescribe_scalar(ga__reader *reader, const char *part, ga_scalar_def *def);

#endif
