/* Names of parts and signals: their syntax, names within texts, and the most similar one. Kept apart because
 * it uses the inside of the expr layer, some of whose names mbs_impl.h has too. */
#ifndef GALPHA_MBS_NAME_H
#define GALPHA_MBS_NAME_H

#include "galpha/expr.h"

/* Bytes of the name that text begins with, 0: it begins with none. */
int ga__name_length(const char *text);

/* The next name of an expression from *at on that stands for a value: numbers, units and calls of functions
 * are passed over. Returns its bytes and moves *at to its first one; 0: there is none. */
int ga__name_next(const char *text, int *at);

/* The whole text is one such name, blanks around it aside: its bytes, *at where it begins; 0: it is not. */
int ga__name_alone(const char *text, int *at);

/* The most similar of name_at(names, i), i < n, to the first bytes of word; empty where none is similar. ""
 * among the names is passed over. */
void ga__name_nearest(char nearest[GA_TEXT_PIECE], const char *word, int bytes,
                      const char *(*name_at)(const void *names, int i), const void *names, int n);

/* A piece of a text, fit for a message: cut where it is long, control characters replaced. */
void ga__name_quote(char piece[GA_TEXT_PIECE], const char *text, int bytes);

/* Column, from 1, of the character that begins `offset` bytes into the text. */
int ga__text_column(const char *text, int offset);

#endif
