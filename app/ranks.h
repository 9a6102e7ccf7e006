/* Processes on one or many machines that work together, started by mpirun (ranks.c). Rank 0 hands out runs
 * and keeps their rows; the others make runs. */
#ifndef GALPHA_APP_RANKS_H
#define GALPHA_APP_RANKS_H

#include <stddef.h>

typedef struct app_rank_functions {                   /* of the library that knows MPI (mpi/mpi.c) */
  int (*begin)(int *rank, int *size);                 /* 0: it failed */
  int (*send)(int rank, const void *bytes, size_t n); /* 0: it failed */
  int (*receive)(int rank, void *bytes, size_t n); /* from rank, −1: any; returns which; −1: it failed */
  int (*is_waiting)(void);                         /* 1: a message has come */
  void (*end)(void);
  void (*give_up)(int code); /* ends all ranks */
} app_rank_functions;

typedef struct app_ranks {
  const app_rank_functions *f; /* NULL: this process is alone */
  int rank, size;
} app_ranks;

/* Finds out whether this process is one of several. Reports on stderr where it is, and cannot know its place.
 * Returns an exit code. */
int app_ranks_open(app_ranks *r);
void app_ranks_close(app_ranks *r);

#endif
