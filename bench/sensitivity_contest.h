/* Derivatives by galpha and by IDAS, at equal errors. */
#ifndef GALPHA_BENCH_SENSITIVITY_CONTEST_H
#define GALPHA_BENCH_SENSITIVITY_CONTEST_H

#include "report.h"

/* All problems that opts want; 0, or the number of those that failed or where the two codes disagree. */
int sensitivity_contest(report *r, const bench_options *opts);

#endif
