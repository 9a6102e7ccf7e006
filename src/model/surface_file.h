/* Triangles of surfaces from files: .stl, .obj, and for drawing .glb and .gltf. (surface_file.c) */
#ifndef GALPHA_MODEL_SURFACE_FILE_H
#define GALPHA_MODEL_SURFACE_FILE_H

#include "model/mesh.h"

/* A file as it is read, and what is found in it. */
typedef struct ga__surface {
  ga__reader *reader;
  ga__mesh_source source;
  int file, line;   /* for messages */
  const char *text; /* with a zero behind it */
  size_t length;
  double *point, *triangle; /* [3 n_points], [3 n_triangles] in the document's memory */
  size_t n_points, n_triangles, most_points, most_triangles;
  size_t *bucket, n_buckets; /* STL: 1 + number of a point, by its coordinates */
} ga__surface;

/* Reads the file that the key `file` of a part names, if there is one: n_triangles is 0 without. takes_file
 * 0: the part is no mesh, or has points and triangles of its own. drawn 1: a shape. 0: something was
 * reported. */
int ga__read_surface_file(ga__reader *reader, ga__tree *part, int takes_file, int drawn, ga__surface *out);
/* Keys that it reads: name, value and about of each (format.h), and how many. */
const struct ga__extra *ga__surface_extra(int drawn, int *n);

/* "expected ..., found '...'" with file and line; found: its first line is shown, "": nothing. Returns 0. */
int ga__surface_report(const ga__surface *c, const char *expected, const char *found);
int ga__surface_reserve(ga__surface *c, size_t points, size_t triangles); /* 0: out of memory */

#endif
