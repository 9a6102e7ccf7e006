/* Triangles of surfaces from files, .stl and .obj. (surface_file.c) */
#ifndef GALPHA_MODEL_SURFACE_FILE_H
#define GALPHA_MODEL_SURFACE_FILE_H

#include "model/reader.h"

/* Reads the file that the key `file` of a collider names, if there is one, into points and triangles of def.
 * 0: something was reported. */
int ga__read_surface_file(ga__reader *reader, ga__tree *collider, ga_collider_def *def);
/* Keys that it reads: name, value and about of each (format.h), and how many. */
const struct ga__extra *ga__surface_extra(int *n);

#endif
