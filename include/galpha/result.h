/* galpha/result.h: result files. HDF5, readable while they grow and after a crash; docs/results.md says how
 * to open them in other languages, and what they cost.
 *
 *   /values [m × n]          one row for each of the m signals recorded, one column for each of the n records
 *   /time [n]                s
 *   /names [m], /units [m]   of the signals, UTF-8
 *   /model                   text of the model, where there is one
 *   /events [2 × n]          time and number of every event of the run, if its model has events;
 *   /event_names [k]         their names, by number from 0
 *   /checkpoint/...          state from which the run can be resumed
 *   /sums, /tail             checksums: CRC-32 of every block of records, compared whenever one is read
 *   attributes of the root   format, galpha (version), status, failure, and the caller's own
 *
 * Values are buffered in blocks. Every flush leaves a complete file on disk, in which all signals have the
 * same length. If the process ends between two flushes, for whatever reason, the file is that of the last
 * flush. This does not hold for a loss of power, since the operating system writes its pages later.
 *
 * A full disk, a limit (a process with RLIMIT_FSIZE must ignore SIGXFSZ) or a broken device ends a recording:
 * the call and all later ones return GA_ERR_FILE with the system's reason, and the file remains as of the
 * last flush. The same holds if another program truncates, deletes, moves or replaces the file; flush,
 * checkpoint and finish detect this.
 *
 * Memory is allocated by the context, except that of HDF5. HDF5's own error messages are switched off during
 * these calls, and its settings are restored afterwards. */
#ifndef GALPHA_RESULT_H
#define GALPHA_RESULT_H

#include "galpha/mbs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a run ended. The word is the attribute `status` of the file. */
#define GA_RUN_STATUS_LIST(X)                                                                                \
  X(GA_RUN_RUNNING, "running")                                                                               \
  X(GA_RUN_FINISHED, "finished")                                                                             \
  X(GA_RUN_STOPPED, "stopped")                                                                               \
  X(GA_RUN_FAILED, "failed")

typedef enum ga_run_status {
  GA_RUN_UNKNOWN = -1, /* the file has none of these words */
#define GA_RUN_STATUS_ENUM(name, word) name,
  GA_RUN_STATUS_LIST(GA_RUN_STATUS_ENUM)
#undef GA_RUN_STATUS_ENUM
} ga_run_status;

typedef struct ga_recorder_opts { /* start from ga_recorder_defaults() */
  int n_signals;                  /* >= 1 */
  const char *const *names;       /* [n_signals] copied; not empty, each once */
  const char *const *units;       /* [n_signals] copied; NULL: all "" */
  const char *model;              /* text of the model, copied; NULL: none */
  int n_attributes;               /* further facts about the run, as texts */
  const char *const *attributes;  /* [2 n_attributes] name, value, name, value, ...; copied */
  int compression;                /* 1: without loss (default); 0: none */
  double flush_seconds; /* [s] of the clock between flushes; 0: every record; default 1; infinity: only on
                           request */
  int n_events;         /* events that may happen; default 0 */
  const char *const *event_names; /* [n_events] copied */
  int append; /* 1: continue an existing file after its checkpoint: later records are dropped. Names must be
                 the same; model and attributes of the file are kept, and may be NULL and 0 here */
} ga_recorder_opts;

typedef struct ga_recorder ga_recorder;

GA_API ga_recorder_opts ga_recorder_defaults(void);
/* A file that exists is replaced (not with append) if it is HDF5 or empty; others are refused, and so is one
 * that another recorder is writing. Errors name the file and the system's reason. The file is complete,
 * without records, on return. */
GA_API ga_status ga_recorder_create(ga_context *ctx, const char *path, const ga_recorder_opts *opts,
                                    ga_recorder **out);
/* values[n_signals], NaN and infinity allowed; t must not be less than that of the record before. */
GA_API ga_status ga_recorder_add(ga_recorder *r, double t, const double *values);
/* Event number `event` has happened at t; times in the order in which they are found. */
GA_API ga_status ga_recorder_event(ga_recorder *r, double t, int event);
GA_API ga_status ga_recorder_flush(ga_recorder *r);
GA_API long ga_recorder_n_records(const ga_recorder *r); /* including those of a file that is continued */
GA_API double ga_recorder_time(const ga_recorder *r); /* [s] of the last of them; −infinity: there is none */
/* Stores n numbers from which the run can be resumed. The file holds two checkpoints, and the older one is
 * replaced, so that a crash leaves one intact. The checkpoint and the records up to it appear in the file
 * together. Flushes. */
GA_API ga_status ga_recorder_checkpoint(ga_recorder *r, double t, const double *saved, size_t n);
/* Stores how the run ended (until then GA_RUN_RUNNING), and why, in words of up to 255 bytes; NULL: none.
 * Flushes. */
GA_API ga_status ga_recorder_finish(ga_recorder *r, ga_run_status status, const char *words);
/* Flushes and closes; NULL is fine. It cannot report failures: call flush or finish before. */
GA_API void ga_recorder_destroy(ga_recorder **r);

/* The library that files are written and read by, as it runs: "HDF5 1.14.6". Returns the length, as snprintf
 * does; size 0: nothing is written. */
GA_API int ga_result_library(char *text, size_t size);

/* Error bars are recorded as signals: those of n signals follow these in the same order, with this suffix
 * appended to the names. */
#define GA_RESULT_ERROR ":error"

/* Rows that only serve to draw the machine: names of places (ga_machine_place_name()) with this suffix, after
 * all signals and error bars. They are not counted as signals; ga_result_find() finds them. */
#define GA_RESULT_POSE ":pose"
/* The attribute with the number of signals that the machine has beside those recorded, which cannot change. */
#define GA_RESULT_LEFT_OUT "left_out"

typedef struct ga_result ga_result;

/* Read only; may be open while the file is being written, and then shows the records that it had when it was
 * opened. */
GA_API ga_status ga_result_open(ga_context *ctx, const char *path, ga_result **out);
GA_API void ga_result_close(ga_result **r); /* NULL is fine */
GA_API long ga_result_n_records(const ga_result *r);
GA_API int ga_result_n_signals(const ga_result *r); /* without their error bars, and without poses */
/* Index by which ga_result_read() reads the error bars of signal i, which estimate the global error; −1: it
 * has none. */
GA_API int ga_result_error(const ga_result *r, int i);
GA_API const char *ga_result_signal_name(const ga_result *r,
                                         int i); /* "" if i is out of range, here and below */
GA_API const char *ga_result_signal_unit(const ga_result *r, int i);
GA_API int ga_result_find(const ga_result *r, const char *name); /* −1: none; "time" is not among them */
/* Records first ... first+n−1 of a signal (i = −1: the time). GA_ERR_FILE where some of them are damaged: the
 * error says which, out has NaN for them and the numbers of all others. */
GA_API ga_status ga_result_read(ga_result *r, int i, long first, long n, double *out);
/* Compares everything in the file with its checksums. GA_ERR_FILE: the error names the records that are
 * damaged, of which signals, and whether the model's text or a checkpoint is. Reads all of the file. */
GA_API ga_status ga_result_verify(ga_result *r);
GA_API int ga_result_n_attributes(const ga_result *r);
GA_API const char *ga_result_attribute_name(const ga_result *r, int i);
GA_API const char *ga_result_attribute(const ga_result *r, const char *name); /* NULL: none */
/* How the run of the file ended; GA_RUN_RUNNING: it is running, or was killed. Reads files of older versions
 * too. */
GA_API ga_run_status ga_result_run_status(const ga_result *r);
/* Events of the run, in the order of their times: the time [s] of number i (NaN: there is none), and its
 * name. */
GA_API long ga_result_n_events(const ga_result *r);
GA_API double ga_result_event_time(const ga_result *r, long i);
GA_API const char *ga_result_event_name(const ga_result *r, long i); /* "" if i is out of range */
GA_API const char *ga_result_model(const ga_result *r); /* "" where there is none, or a damaged one */
/* The last checkpoint. saved[*n] NULL: only t and n are given; *n 0: there is none. */
GA_API ga_status ga_result_checkpoint(ga_result *r, double *t, size_t *n, double *saved);
/* A line of names ("time [s]", "hinge.angle [rad]"; quoted where they have commas or quotes), then numbers
 * with 17 digits. names NULL: all signals. The file appears when it is complete. After a failure there is no
 * file, except if records are damaged: these are "nan" in it, and GA_ERR_FILE is returned. If path is not a
 * regular file (/dev/stdout), the text is written to it directly. */
GA_API ga_status ga_result_export_csv(ga_result *r, const char *path, int n, const char *const *names);

/* ---- Linear models as files -----------------------------------------------------------------------------
 */

typedef enum ga_linear_file {
  GA_LINEAR_HDF5 = 0, /* datasets A, B, C, D, by rows; states, inputs, outputs with state_units, ...: texts */
  GA_LINEAR_CSV       /* one table [A B; C D] with names of rows and columns */
} ga_linear_file;

/* The file appears when it is complete. GA_ERR_FILE: it cannot be written. */
GA_API ga_status ga_state_space_write(ga_context *ctx, const ga_state_space *f, ga_linear_file format,
                                      const char *path);

/* A mesh as a file of HDF5 from which models read modal bodies (`file`, docs/flexible.md). It appears when it
 * is complete. GA_ERR_FILE: it cannot be written. */
GA_API ga_status ga_mesh_write(ga_context *ctx, const ga_mesh *mesh, const char *path);

/* ---- Error bars -------------------------------------------------------------------------------------------
 * Two runs of one model, of which the second has taken each step of the first in two halves, see ga_follower
 * in core.h: with order 2, e = |first − second|/3 estimates the error of the second. An error bar is FACTOR
 * times the largest e within a window of time, since the difference of two curves vanishes where they cross.
 *
 * Errors are compared with a scale of each signal: the range of its values, if that is more than three error
 * bars; signals that begin with "energy." share one scale, their largest range or the largest kinetic energy.
 * A signal that changes less than three error bars, and less in the second run than in the first, is taken to
 * be constant: its scale is its value, at most the largest range of its unit; or, where the value may be 0,
 * the largest range of the same unit in the same object (its name up to the last point), a tenth of the
 * unit's largest range, gravity for accelerations, or 1e-6 in SI units. For quaternions (.qw, .qx, .qy, .qz
 * of one name, one after the other) both signs are equivalent; so are roll and yaw of a body (.roll, .yaw, in rad) that
 * differ by half turns, since they flip where its pitch passes a right angle, as that of a wheel does. */

typedef struct ga_band ga_band;

typedef struct ga_band_opts { /* start from ga_band_defaults() */
  int n_signals;              /* >= 1 */
  const char *const *names;   /* [n_signals] borrowed */
  const char *const *units;   /* [n_signals] borrowed */
  double t_start, t_end;      /* [s] of the run */
  double gravity;             /* [m/s²] counts as a range of accelerations, unit "m/s^2"; default 0 */
  double factor;              /* [-] default 2 */
  double window;              /* [-] part of the run; default 0.1 */
  const ga_band
      *before;    /* of the same signals with larger steps, borrowed as long as this one lives; NULL: none */
  double smaller; /* [-] ratio of the tolerance to that of `before`: error bars do not decrease by more than
                     this factor; default 0 */
  double least;   /* [-] least error bar as a fraction of the signal's range so far; default 0 */
} ga_band_opts;

typedef struct ga_band_signal {
  double error;     /* largest error bar so far */
  double t;         /* [s] where its estimate was largest */
  double low, high; /* values of the second run */
  double scale;     /* scale of its errors; 0: it has none */
  double ratio;     /* error/scale; 0 where the scale is 0 */
  int constant;     /* 1: its changes are no larger than errors or rounding */
} ga_band_signal;

GA_API ga_band_opts ga_band_defaults(void);
GA_API ga_status ga_band_create(ga_context *ctx, const ga_band_opts *opts, ga_band **out);
GA_API void ga_band_destroy(ga_band **b);
/* Adds the values of both runs at t, which must not decrease; error[n_signals]: the error bars there, from
 * the values so far. */
GA_API void ga_band_add(ga_band *b, double t, const double *first, const double *second, double *error);
/* Another factor from now on, > 0, for example where forces jump with the motion: the errors of both runs are
 * less correlated there. */
GA_API void ga_band_set_factor(ga_band *b, double factor);
GA_API ga_band_signal ga_band_of(const ga_band *b, int i);
/* The signal with the largest ratio, −1: there are no records. *ratio (may be NULL): that ratio. */
GA_API int ga_band_worst(const ga_band *b, double *ratio);
/* [s] The time until which all ratios, with the scales of the whole run, stayed below `ratio`; t_end: always.
 * Signals that change less than three error bars are compared with at least a tenth of the largest range of
 * their unit. */
GA_API double ga_band_until(const ga_band *b, double ratio);
/* 1: the estimates of signal i have one peak at *t [s] and are small elsewhere, for example where it jumps at
 * slightly different times in the two runs. */
GA_API int ga_band_jumps(const ga_band *b, int i, double *t);
/* 1: the ratios grow exponentially, tenfold in every *decade [s], as in chaotic and unstable motions, and
 * those of the worst signal did not rise suddenly, as they do where it jumps. */
GA_API int ga_band_grows(const ga_band *b, double *decade);
/* As for the stepper. */
GA_API size_t ga_band_saved_size(const ga_band *b);
GA_API void ga_band_save(const ga_band *b, double *saved);
GA_API ga_status ga_band_load(ga_band *b, const double *saved);

/* ---- Matrices in a file -----------------------------------------------------------------------------------
 * Modes, linear equations and the like, as HDF5 that h5py, Julia and MATLAB open; not a result that
 * ga_result_open() reads. The file appears when it is complete, and not at all after a failure. */

typedef struct ga_table {
  const char *name;         /* of the dataset, with / between groups: "modes/frequency" */
  const char *unit;         /* attribute; NULL: none */
  int rows, cols;           /* cols 0: a vector */
  const double *numbers;    /* [rows][cols] */
  const char *const *texts; /* [rows] instead of numbers; NULL: numbers */
} ga_table;

typedef struct ga_tables {
  const char *format; /* attribute of the root: "galpha modes 1" */
  int n;
  const ga_table *table;
  const char *model; /* text of the model; NULL: none */
  int n_attributes;
  const char *const *attributes; /* [2 n_attributes] name, value, ... */
} ga_tables;

GA_API ga_status ga_tables_write(ga_context *ctx, const char *path, const ga_tables *tables);
/* Numbers of a dataset of such a file, by rows; *cols is 1 for a vector. *out: to be freed by
 * ga_tables_free(). GA_ERR_FILE: there is no such file or dataset, or it is damaged. */
GA_API ga_status ga_tables_numbers(ga_context *ctx, const char *path, const char *name, int *rows, int *cols,
                                   double **out);
/* The model's text for the name "model", else an attribute of the file; to be freed likewise. */
GA_API ga_status ga_tables_text(ga_context *ctx, const char *path, const char *name, char **out);
GA_API void ga_tables_free(ga_context *ctx, void *numbers_or_text);

#ifdef __cplusplus
}
#endif
#endif
