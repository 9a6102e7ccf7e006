/* Meshes of shapes as data of a page, with fewer triangles where there are many. */
#ifndef GALPHA_APP_MESH_H
#define GALPHA_APP_MESH_H

#include "galpha/galpha.h"

#include <stdio.h>

enum { APP_MOST_TRIANGLES = 60000 /* of all meshes of a page: 1.4 MB in base64 */ };

/* Members "points" (float, times the scale) and "triangles" (uint32) of a JSON object, each with a comma
 * before it. Meshes of more than `most` triangles are simplified: corners within a cell of a grid become one.
 * *kept: triangles that are left. GA_ERR_MEMORY. */
ga_status app_mesh_write(FILE *to, const ga_shape *shape, long most, long *kept);

#endif
