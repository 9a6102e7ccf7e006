/* Where all bodies are at each record, so that results can be drawn. */
#ifndef GALPHA_APP_POSES_H
#define GALPHA_APP_POSES_H

#include "galpha/galpha.h"

/* The places of a machine that are not among the signals recorded. */
typedef struct app_poses {
  int n;
  int *place;    /* [n] */
  char **name;   /* [n] "beam.x:3:pose" */
  double *all;   /* [n_places] buffer */
  char *letters; /* of all names */
} app_poses;

/* index[n]: the signals of the machine that are recorded. Returns an exit code. */
int app_poses_choose(app_poses *p, const ga_machine *m, int n, const int *index);
void app_poses_free(app_poses *p);
const char *app_poses_unit(const char *name);
ga_status app_poses_values(app_poses *p, const ga_machine *m, const ga_state *s, double *out /* [n] */);

#endif
