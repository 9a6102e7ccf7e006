/* Filter for the standard output and the standard error, so that control sequences in files or arguments do
 * not reach the terminal. */
#ifndef GALPHA_APP_TERMINAL_H
#define GALPHA_APP_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* From here on everything printed to stdout and stderr passes a filter: control characters but line
 * ends and tabs, characters that turn the direction of writing, and bytes that are no UTF-8 appear as
 * \x1b or \u202e. */
void app_terminal_begin(void);
/* This thread prints to these streams instead, which are not filtered; NULL: no longer. */
void app_terminal_replace(FILE *out, FILE *err);
/* From here on stdout is a file (a table, a model): not filtered, unless it is a terminal. */
void app_terminal_data(void);
/* Writes a control sequence to the standard error, unfiltered. */
void app_terminal_control(const char *sequence);

/* Length of the UTF-8 character that begins here, and its code; 0: invalid, −1: incomplete. */
int app_utf8(const char *text, size_t n, unsigned *code);
/* 1: a terminal or viewer would interpret the character instead of showing it. */
int app_is_control(unsigned code);

#endif
