/* Result files as operands of commands. */
#ifndef GALPHA_APP_RESULTS_H
#define GALPHA_APP_RESULTS_H

#include "app.h"

#include "galpha/galpha.h"
#include "galpha/result.h"

/* Opens a result; reports failures on stderr. Returns an exit code. */
int app_result_open(const app_arguments *a, ga_context *ctx, const char *file, ga_result **out);
/* Warns on stderr if the run did not finish, with the time it reached. */
void app_result_warn(ga_result *r, const char *file);
/* "there is no signal ... in ...; the nearest is ..."; returns APP_USAGE. */
int app_result_no_signal(const app_arguments *a, const ga_result *r, const char *file, const char *name);
/* "; 14 that cannot change were not recorded, ...": what there is beside the signals of the file; empty: nothing. */
enum { APP_LEFT_OUT = 128 };
void app_result_left_out(const ga_result *r, char text[APP_LEFT_OUT]);
/* 1: a signal of r matches this name or pattern. */
int app_result_has(const ga_result *r, const char *pattern);

#endif
