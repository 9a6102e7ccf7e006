/* galpha/result.h: result files. HDF5, readable while they grow and after a crash; docs/results.md says what is in them.
 *
 *   /time [n]            s
 *   /signals/<name> [n]  one dataset for each signal recorded, attribute "unit"
 *   /model               text of the model; attributes of the root: versions, options, status of the run
 *   /checkpoint/...      what a run needs to go on
 *
 * Values are buffered by blocks; every flush leaves a complete file behind. */
#ifndef GALPHA_RESULT_H
#define GALPHA_RESULT_H

#include "galpha/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_recorder_opts { /* start from ga_recorder_defaults() */
  int n_signals;
  const char *const *names, *const *units; /* [n_signals] copied */
  const char *model;                       /* text of the model, copied; NULL: none */
  int n_attributes;                        /* further facts about the run, as texts */
  const char *const *attributes;           /* [2 n_attributes] name, value, name, value, ... */
  int compression;                         /* 0 to 9; default 4 */
  double flush_seconds;                    /* [s] of the clock between flushes; default 1 */
  int append;                              /* 1: go on in a file that exists, after its checkpoint's time */
} ga_recorder_opts;

typedef struct ga_recorder ga_recorder;

GA_API ga_recorder_opts ga_recorder_defaults(void);
/* A file that exists is replaced (not with append). Errors name the file and the system's reason. */
GA_API ga_status ga_recorder_create(ga_context *ctx, const char *path, const ga_recorder_opts *opts, ga_recorder **out);
GA_API ga_status ga_recorder_add(ga_recorder *r, double t, const double *values); /* values[n_signals] */
GA_API ga_status ga_recorder_flush(ga_recorder *r);
/* Bytes that let the run go on from here; replaces the last one in a way that a crash leaves one of them whole. Flushes. */
GA_API ga_status ga_recorder_checkpoint(ga_recorder *r, double t, const double *saved, size_t n);
/* How the run ended: "running" until it is set. */
GA_API ga_status ga_recorder_finish(ga_recorder *r, const char *status);
GA_API void ga_recorder_destroy(ga_recorder **r); /* flushes and closes; NULL is fine */

typedef struct ga_result ga_result;
GA_API ga_status ga_result_open(ga_context *ctx, const char *path, ga_result **out); /* read only */
GA_API void ga_result_close(ga_result **r);
GA_API long ga_result_n_records(const ga_result *r);
GA_API int ga_result_n_signals(const ga_result *r);
GA_API const char *ga_result_signal_name(const ga_result *r, int i);
GA_API const char *ga_result_signal_unit(const ga_result *r, int i);
GA_API int ga_result_find(const ga_result *r, const char *name); /* −1: none; "time" is not among them */
/* Records first ... first+n−1 of a signal (i = −1: the time). */
GA_API ga_status ga_result_read(ga_result *r, int i, long first, long n, double *out);
GA_API const char *ga_result_attribute(const ga_result *r, const char *name); /* NULL: none */
GA_API const char *ga_result_model(const ga_result *r);                       /* "" where there is none */
GA_API ga_status ga_result_checkpoint(ga_result *r, double *t, size_t *n, double *saved); /* saved NULL: only t and n; n 0:
                                                                                              there is none */
/* All of a result as CSV: a line of names ("time [s]", "hinge.angle [rad]"), then numbers with 17 digits. names NULL: all
 * signals. */
GA_API ga_status ga_result_export_csv(ga_result *r, const char *path, int n, const char *const *names);

#ifdef __cplusplus
}
#endif
#endif
