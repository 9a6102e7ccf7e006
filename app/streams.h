/* The standard streams of the present thread: the filtered streams of terminal.h, or those of a call (call.h). stdout
 * and stderr are redefined, with the functions that print to stdout, since not every C library allows stdout to be
 * replaced. */
#ifndef GALPHA_APP_STREAMS_H
#define GALPHA_APP_STREAMS_H

#include <stdio.h>

FILE *app_out(void);
FILE *app_err(void);

#undef stdout
#undef stderr
#undef putchar
#define stdout app_out()
#define stderr app_err()
#define printf(...) fprintf(app_out(), __VA_ARGS__)
#define puts(text) fprintf(app_out(), "%s\n", text)
#define putchar(c) fputc(c, app_out())

#endif
