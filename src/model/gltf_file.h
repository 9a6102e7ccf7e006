/* Triangles of glTF 2.0. (gltf_file.c) */
#ifndef GALPHA_MODEL_GLTF_FILE_H
#define GALPHA_MODEL_GLTF_FILE_H

#include "model/surface_file.h"

/* Reads c->text, of .glb or .gltf, into points and triangles. 0: that was reported. */
int ga__read_gltf(ga__surface *c);

#endif
