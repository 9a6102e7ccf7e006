/* The program's standard streams. stdout and stderr are redefined as the filtered streams of terminal.h, with
 * the functions that print to stdout, since not every C library allows stdout to be replaced. */
#ifndef GALPHA_APP_STREAMS_H
#define GALPHA_APP_STREAMS_H

#include <stdio.h>

extern FILE *app_stdout, *app_stderr; /* from app_terminal_begin() on */

#undef stdout
#undef stderr
#undef putchar
#define stdout app_stdout
#define stderr app_stderr
#define printf(...) fprintf(app_stdout, __VA_ARGS__)
#define puts(text) fprintf(app_stdout, "%s\n", text)
#define putchar(c) fputc(c, app_stdout)

#endif
