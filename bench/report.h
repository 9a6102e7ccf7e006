/* Figures with names, work-precision curves, and the files and tables they end in. */
#ifndef GALPHA_BENCH_REPORT_H
#define GALPHA_BENCH_REPORT_H

#include <stddef.h>

/* ---- Named figures ---- */

enum { REPORT_MAX = 4096, REPORT_NAME = 96 };

typedef struct report {
  int n;
  char name[REPORT_MAX][REPORT_NAME];
  double value[REPORT_MAX];
  char why[REPORT_MAX][REPORT_NAME]; /* of a figure that was not reached; "" */
} report;

/* Adds a figure under the printf-formatted name; one that is not finite is left out: absent means not
 * measured. */
void report_add(report *r, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds a figure that was looked for and not reached: null, and the reason as text under its name with _why.
 */
void report_add_missing(report *r, const char *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One flat JSON object. 0, or -1 if the file cannot be written. */
int report_write(const report *r, const char *path);

/* ---- Work against precision ---- */

enum { CURVE_MAX = 28 };

typedef struct point { /* one run; error NaN if it failed */
  double setting;      /* number of steps, or tolerance */
  double error, cpu;   /* cpu [s] */
  double steps, iterations, factorisations;
  char why[160]; /* of a failure */
} point;

typedef struct curve {
  char name[64];
  int n;
  point at[CURVE_MAX];
} curve;

void curve_add(curve *c, double setting); /* a point yet to be measured */

/* Runs what out->setting says and fills in the rest; not 0: failed, out->why says why. */
typedef int (*curve_run_fn)(void *user, point *out);

typedef struct curve_plan {
  double first, factor; /* the first setting, and from one to the next */
  double fine;          /* ends when `enough` points have an error below this */
  int enough;           /* 1; more where one may be luck */
  double begun; /* two failures in a row end it once an error was below this; 0: once a run succeeded */
} curve_plan;
/* Adds points as planned, up to CURVE_MAX, and runs each of them once. */
void curve_walk(curve *c, const curve_plan *plan, curve_run_fn run, void *user);
/* Whether curve_walk() goes on behind the points that the curve has. */
int curve_goes_on(const curve *c, const curve_plan *plan);
/* Adds the point of that setting and runs it once. 0, or what run() returned. */
int curve_extend(curve *c, double setting, curve_run_fn run, void *user);
/* The best CPU time of several passes over all points, so that a disturbance of the machine does not fall on
 * every repetition of one of them, and of what was there before: at least two, unless the first takes more
 * than 5 · seconds; up to fifteen while they take less than `seconds` in all. */
void curve_measure(curve *c, double seconds, curve_run_fn run, void *user);
/* Runs point i once more and keeps the lesser CPU time. */
void curve_repeat(curve *c, int i, curve_run_fn run, void *user);
void curve_print(const curve *c, const char *setting_name);
/* [s] CPU time at the given error: the straight line log cpu over log error that fits best to the points
 * within a factor 40 of it. NaN where there are fewer than two or all lie on one side. */
double curve_time_at(const curve *c, double error);
/* The point nearest to the given error in logarithm; NULL where none succeeded. */
const point *curve_nearest(const curve *c, double error);

/* The points that no other one of these curves beats in both error and time, from coarse to fine, at most
 * `most` of them; their number. */
int front_make(const curve *const *c, int n, const point **front, int most);
/* [s] CPU time for an error of at most `error` by a front: between two of its points by the straight line of
 * their logarithms, in front of the first one its time, behind the last one NaN. */
double front_time_at(const point *const *front, int n, double error);

/* [s] CPU time of this process so far. */
double cpu_now(void);

/* ---- Programs ---- */

typedef struct bench_options {
  const char *json; /* where the figures go */
  const char *only; /* what alone is to be measured; NULL: everything */
  int full;         /* 1: the cases that take long too */
  double seconds;   /* bench_precision: limit of a run, a fourth of that of a code; 0: its own */
} bench_options;

/* Reads the options every bench program has; names, space-separated, are what `only` can be. -1: go on;
 * otherwise the exit code of the program. */
int bench_options_read(bench_options *o, int argc, char **argv, const char *names);
int bench_wanted(const bench_options *o, const char *name);
/* Writes the figures and says so; 0, or 1 if the file cannot be written. */
int bench_finish(const report *r, const bench_options *o);

#endif
