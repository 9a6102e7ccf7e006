/* Reports of failures. */
#ifndef GALPHA_APP_FAILURE_H
#define GALPHA_APP_FAILURE_H

#include "watch.h"

/* Short text of the last failed step; NULL: none failed, or its message is short itself. */
const char *app_failure_headline(const app_task *s);
/* "t = 0.5 s: an equation has no value: actuator 'motor': ..." of a step that failed since something had no
 * value; 0: none did. */
int app_failure_cause(const app_task *s, char *text, size_t size);
/* Prints the cause of the last failed step and its equations on stderr, indented; nothing if
 * no step failed. */
void app_failure_equations(const app_task *s);
/* The same, followed by recent changes and what to try. */
void app_failure_report(const app_watch *w, const app_task *s);

#endif
