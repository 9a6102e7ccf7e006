/* Reports of failures. */
#ifndef GALPHA_APP_FAILURE_H
#define GALPHA_APP_FAILURE_H

#include "watch.h"

/* What the failure of the last step is, in short; NULL: none failed, or its sentence is short. */
const char *app_failure_headline(const app_task *s);
/* Why the last step failed, and which equations are off. On stderr, indented; nothing where no step failed.
 */
void app_failure_equations(const app_task *s);
/* The same, then what changed last, and what to try. */
void app_failure_report(const app_watch *w, const app_task *s);

#endif
