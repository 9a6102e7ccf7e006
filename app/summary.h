/* What a run did, for its summary: what moved, and the largest speeds and forces with their times. */
#ifndef GALPHA_APP_SUMMARY_H
#define GALPHA_APP_SUMMARY_H

#include "streams.h"

#include "galpha/mbs.h"
#include "galpha/result.h"

/* Reads a result that is complete; prints nothing where it cannot be read. meter: of the run, for limits that were reached; or NULL. */
void app_summary_print(ga_context *ctx, const char *file, const ga_meter *meter, FILE *out);

#endif
