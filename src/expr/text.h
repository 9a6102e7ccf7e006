/* Reading of texts, and messages about them (text.c). */
#ifndef GALPHA_EXPR_TEXT_H
#define GALPHA_EXPR_TEXT_H

#include "galpha/expr.h"
#include <stddef.h>

/* Which kind of text is read, for messages: "expression 'sin(x', column 6: ..." */
typedef struct ga__source {
  ga_context *ctx;
  const char *what, *text;
  ga_text_error *error; /* NULL: reported in the context alone */
} ga__source;

/* Says what is wrong with `bytes` bytes from `start`. nearest and expected may be NULL. Returns
 * GA_ERR_ARGUMENT. */
ga_status ga__text_fail(const ga__source *source, int start, int bytes, const char *expected,
                        const char *nearest, const char *format, ...) GA_PRINTF(6, 7);

/* Refuses a text of more than GA_EXPR_LENGTH bytes. */
ga_status ga__text_check_length(const ga__source *source);

/* The same of a word that is unknown: GA_REASON_UNKNOWN_NAME, ..._FUNCTION or ..._UNIT. */
ga_status ga__text_unknown(const ga__source *source, int start, int bytes, ga_reason reason,
                           const char *nearest);

/* Of a function's name without arguments, which are missed at `after`. */
ga_status ga__text_function(const ga__source *source, int start, int bytes, int after);
/* Of all that follows `start`, which is of another dimension than expected. */
ga_status ga__text_dimension(const ga__source *source, int start, const char *quantity, const char *is,
                             const char *expected);

int ga__columns(const char *text, int bytes); /* characters in the first bytes of text */
int ga__is_letter(char c);                    /* A-Z, a-z, _ in every locale */
int ga__is_digit(char c);
int ga__skip_space(const char *text, int at); /* index of the next character that is no white space */
/* Copies at most size-1 bytes of a piece, whole characters, control characters replaced; marks a cut. */
void ga__copy_piece(char *to, size_t size, const char *piece, size_t bytes);

/* Length of the number that begins at text, 0 where none does: digits, at most one point, an exponent. */
int ga__number_length(const char *text);
/* Its value; reports numbers that are too large, too small or too long. */
ga_status ga__read_number(double *value, const ga__source *source, int start, int bytes);

int ga__lower(char c); /* of a letter of ASCII */

/* The most similar of many names: start from {word, bytes}, try each, then nearest.name, "" where none is
 * similar enough. */
typedef struct ga__nearest {
  const char *word;
  int bytes;
  int distance; /* of name */
  char name[GA_TEXT_PIECE];
} ga__nearest;

void ga__nearest_try(ga__nearest *nearest, const char *name);

#endif
