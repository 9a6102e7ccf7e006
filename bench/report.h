/* Figures with names, work-precision curves, and the files and tables they end in. */
#ifndef GALPHA_BENCH_REPORT_H
#define GALPHA_BENCH_REPORT_H

#include <stddef.h>

/* ---- Named figures ---- */

enum { REPORT_MAX = 256, REPORT_NAME = 96 };

typedef struct report {
  int n;
  char name[REPORT_MAX][REPORT_NAME];
  double value[REPORT_MAX];
} report;

/* Adds a figure under the printf-formatted name; one that is not finite is left out: absent means not
 * measured. */
void report_add(report *r, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* One flat JSON object. 0, or -1 if the file cannot be written. */
int report_write(const report *r, const char *path);

/* ---- Work against precision ---- */

enum { CURVE_MAX = 24 };

typedef struct point { /* one run; error NaN if it failed */
  double setting;      /* number of steps, or tolerance */
  double error, cpu;   /* cpu [s] */
  double steps, iterations, factorisations;
  char why[160]; /* of a failure */
} point;

typedef struct curve {
  char name[40];
  int n;
  point at[CURVE_MAX];
} curve;

void curve_add(curve *c, double setting); /* a point yet to be measured */
void curve_print(const curve *c, const char *setting_name);
/* [s] CPU time at the given error: the straight line log cpu over log error that fits best to the points
 * within a factor 40 of it. NaN where there are fewer than two or all lie on one side. */
double curve_time_at(const curve *c, double error);
/* The point nearest to the given error in logarithm; NULL where none succeeded. */
const point *curve_nearest(const curve *c, double error);

/* [s] CPU time of this process so far. */
double cpu_now(void);

#endif
