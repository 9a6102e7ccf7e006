/* Reports of failures. */
#ifndef GALPHA_APP_FAILURE_H
#define GALPHA_APP_FAILURE_H

#include "watch.h"

/* What a failure is, in short: of the last step, or the text given where none failed. */
const char *app_failure_headline(const app_task *s, const char *text);
/* Bytes of a text of the library without its advice for programmers. */
int app_failure_length(const char *text);
/* Why the last step failed, and which equations are off. On stderr, indented; nothing where no step failed.
 */
void app_failure_equations(const app_task *s);
/* The same, then what changed last, and what to try. */
void app_failure_report(const app_watch *w, const app_task *s);

#endif
