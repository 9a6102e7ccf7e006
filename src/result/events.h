/* Events of a run in its result file. (events.c) */
#ifndef GALPHA_RESULT_EVENTS_H
#define GALPHA_RESULT_EVENTS_H

#include "result/result_impl.h"

struct ga_recorder;
/* Datasets of a new file, where the run has events; −1: HDF5 failed. */
int ga__events_create(struct ga_recorder *r, const ga_recorder_opts *opts);
/* Those of a file that is appended to: events after t are dropped. */
int ga__events_open(struct ga_recorder *r, double t);
/* times[n], then numbers[n]; *times is the caller's. GA_ERR_FILE without a message: not as it should be. */
ga_status ga__events_read(ga_context *ctx, hid_t file, long *n, double **times);

#endif
