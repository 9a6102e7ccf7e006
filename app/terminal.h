/* What reaches the standard output and the standard error: texts of files and of the command line are shown,
 * never obeyed by a terminal. */
#ifndef GALPHA_APP_TERMINAL_H
#define GALPHA_APP_TERMINAL_H

#include <stddef.h>

/* From here on everything printed to stdout and stderr passes a filter: control characters but line ends and
 * tabs, characters that turn the direction of writing, and bytes that are no UTF-8 appear as \x1b or \u202e.
 */
void app_terminal_begin(void);
/* stdout carries a file (a table, a model) and not words: unchanged, unless it is a terminal. */
void app_terminal_data(void);
/* Sequences of our own to the standard error, as they are. */
void app_terminal_control(const char *sequence);

/* Bytes of the UTF-8 character that begins here, and its number; 0: there is none, −1: the text ends within
 * it. */
int app_utf8(const char *text, size_t n, unsigned *code);
/* 1: a terminal or a viewer would do something other than show it. */
int app_is_control(unsigned code);

#endif
