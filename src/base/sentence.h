/* The sentence of each reason of failures (sentence.c). */
#ifndef GALPHA_BASE_SENTENCE_H
#define GALPHA_BASE_SENTENCE_H

#include "base/base_impl.h"

/* {part}, {name}, ... are members of ga_error, {0} its first number with its unit, {0.3} the same with
 * three digits. A piece between {{ and }} is left out if one of its slots is empty. Time, part and field,
 * as far as known, are put before the sentence unless `what` contains {t}, {field} or {kind}. */
typedef struct ga__sentence {
  const char *what;   /* what is wrong */
  const char *advice; /* what to do, beginning with its separator ("; " or ". "); NULL: none */
} ga__sentence;

const ga__sentence *ga__sentence_of(ga_reason reason); /* never NULL */
/* 1: the sentence is preceded by the text that contains the error: "expression '2*', column 3: ". */
int ga__sentence_in_text(ga_reason reason);
/* Writes a pattern with its slots filled. Returns 0 if it has an unknown slot. */
int ga__sentence_write(ga__writer *w, const ga_error *error, const char *pattern);

#endif
