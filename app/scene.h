/* A machine in motion as data of a page: what moves, what is drawn, where everything is at chosen records. */
#ifndef GALPHA_APP_SCENE_H
#define GALPHA_APP_SCENE_H

#include "galpha/galpha.h"
#include "galpha/result.h"

#include <stdio.h>

typedef struct app_scene {
  const ga_machine *machine; /* NULL: nothing can be drawn */
  ga_result *result;         /* NULL: one frame, at q */
  double *q;                 /* [nq] initial coordinates, then those of a frame */
  long n;                    /* records */
  double *time;              /* [n] */
  long *frame;               /* [n_frames] records that are kept */
  long n_frames;
  float *pose; /* [n_movers][n_frames][7] position, then quaternion x, y, z, w */
  char *lost;  /* [n_movers] 1: the file does not say where it is */
  float *load; /* [n_loads][n_pieces][6] of pieces of beams and cables, every load_stride frames */
  int n_pieces;
  long load_stride, n_loads;
  float *given; /* [n_movers][7] poses as the model gives them, where a start moves them; NULL: none */
  long n_triangles, n_kept; /* of all meshes; after simplification */
  int n_lost;
  int damaged; /* 1: some records could not be read */
} app_scene;

/* Reads times, chooses frames and computes all poses; q is given, to be freed by app_scene_free().
 * GA_ERR_MEMORY, or a failure of the file other than damaged records. */
ga_status app_scene_read(app_scene *s);
void app_scene_free(app_scene *s);
/* Takes the poses at q as those that were given, before a start. */
ga_status app_scene_give(app_scene *s, const double *q);
/* Members of a JSON object: "time", "movers", "poses", "shapes". */
ga_status app_scene_write(app_scene *s, FILE *to);

#endif
