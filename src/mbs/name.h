/* Names of parts and signals: their syntax, names within texts, and the most similar one. In a file of its
 * own because it uses internals of the expr layer that clash with names of mbs_impl.h. */
#ifndef GALPHA_MBS_NAME_H
#define GALPHA_MBS_NAME_H

#include "galpha/expr.h"

/* Length in bytes of the name at the beginning of text; 0: none. */
int ga__name_length(const char *text);

/* The next name of an expression, from *at on, that refers to a value: numbers, units and calls of functions
 * are skipped. Returns its length and sets *at to its beginning; 0: there is none. */
int ga__name_next(const char *text, int *at);

/* If the whole text, apart from blanks, is one such name: its length, *at its beginning; else 0. */
int ga__name_alone(const char *text, int *at);

/* The most similar of name_at(names, i), i < n, to the first bytes of word; empty if none is similar. Empty
 * names are skipped. */
void ga__name_nearest(char nearest[GA_TEXT_PIECE], const char *word, int bytes,
                      const char *(*name_at)(const void *names, int i), const void *names, int n);

/* A piece of a text for a message: shortened if too long, control characters replaced. */
void ga__name_quote(char piece[GA_TEXT_PIECE], const char *text, int bytes);

/* Column, from 1, of the character at byte `offset` of the text. */
int ga__text_column(const char *text, int offset);

#endif
