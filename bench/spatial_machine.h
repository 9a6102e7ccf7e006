/* The spatial chain as a machine of parts: what a user of galpha/mbs.h gets, nothing tailored to chains. */
#ifndef GALPHA_BENCH_SPATIAL_MACHINE_H
#define GALPHA_BENCH_SPATIAL_MACHINE_H

#include "galpha/galpha.h"
#include "memory.h"
#include "spatial_chain.h"

typedef struct spatial_machine {
  spatial_chain chain;
  memory_count memory; /* of everything from here on; one machine at a time */
  ga_context *ctx;
  ga_machine *machine;
  const ga_system *sys; /* the machine's */
  double *q0, *v0;      /* initial values */
  char tip[32];         /* name of the last rod */
} spatial_machine;

/* 0, or -1 after a message on stderr; close it in either case. */
int spatial_machine_open(spatial_machine *m, spatial_kind kind, int n);
void spatial_machine_close(spatial_machine *m);

/* [m] largest component of the tip's distance from the reference; NaN without one. */
double spatial_machine_error(const spatial_machine *m, const ga_state *s);

#endif
