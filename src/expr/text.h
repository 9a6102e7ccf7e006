/* Reading of texts, and messages about them (text.c). */
#ifndef GALPHA_EXPR_TEXT_H
#define GALPHA_EXPR_TEXT_H

#include "galpha/expr.h"
#include <stddef.h>

/* The text that is read, and its kind for messages: "expression 'sin(x', column 6: ..." */
typedef struct ga__source {
  ga_context *ctx;
  const char *what, *text;
  ga_text_error *error; /* NULL: stored in the context only */
} ga__source;

/* Reports an error in `bytes` bytes from `start`. nearest and expected may be NULL. Returns
 * GA_ERR_ARGUMENT. */
ga_status ga__text_fail(const ga__source *source, int start, int bytes, const char *expected,
                        const char *nearest, const char *format, ...) GA_PRINTF(6, 7);

/* Refuses a text of more than GA_EXPR_LENGTH bytes. */
ga_status ga__text_check_length(const ga__source *source);

/* The same for an unknown word: GA_REASON_UNKNOWN_NAME, ..._FUNCTION or ..._UNIT. */
ga_status ga__text_unknown(const ga__source *source, int start, int bytes, ga_reason reason,
                           const char *nearest);

/* For a function without arguments, which are expected at `after`. */
ga_status ga__text_function(const ga__source *source, int start, int bytes, int after);
/* For the text from `start` on, whose dimension is not the expected one. */
ga_status ga__text_dimension(const ga__source *source, int start, const char *quantity, const char *is,
                             const char *expected);

int ga__columns(const char *text, int bytes); /* characters in the first bytes of text */
int ga__is_letter(char c);                    /* A-Z, a-z, _ in every locale */
int ga__is_digit(char c);
int ga__skip_space(const char *text, int at); /* index of the next character that is not white space */
/* Copies at most size-1 bytes of a piece, in whole characters, control characters replaced; "..." marks a
 * truncation. */
void ga__copy_piece(char *to, size_t size, const char *piece, size_t bytes);

/* Length of the number that begins at text, 0: none. Digits, at most one point, an exponent. */
int ga__number_length(const char *text);
/* Its value; reports numbers that are too large, too small or too long. */
ga_status ga__read_number(double *value, const ga__source *source, int start, int bytes);

int ga__lower(char c); /* of a letter of ASCII */

/* The most similar of many names: start with {word, bytes}, try each name, then read nearest.name; "": none
 * is similar enough. */
typedef struct ga__nearest {
  const char *word;
  int bytes;
  int distance; /* of name */
  char name[GA_TEXT_PIECE];
} ga__nearest;

void ga__nearest_try(ga__nearest *nearest, const char *name);

#endif
