/* Sentences of failures: one for each reason. */
#ifndef GALPHA_BASE_SENTENCE_H
#define GALPHA_BASE_SENTENCE_H

#include "base/base_impl.h"

/* In both {part}, {name}, ... stand for members of ga_error, {0} for its first number with its unit and {0.3}
 * for the same with three digits; what stands between {{ and }} is left out where one of its slots is empty.
 * Where `what` has no {t}, {field} or {kind}, the sentence begins with time, part and field, as far as they
 * are known. */
typedef struct ga__sentence {
  const char *what;   /* is wrong */
  const char *advice; /* what to do, with what separates it from the sentence; NULL: none */
} ga__sentence;

const ga__sentence *ga__sentence_of(ga_reason reason); /* never NULL */
/* 1: before the sentence comes the text in which the fault stands: "expression '2*', column 3: ". */
int ga__sentence_in_text(ga_reason reason);
/* A pattern with its slots filled; 0: it has a slot that there is not. */
int ga__sentence_write(ga__writer *w, const ga_error *error, const char *pattern);

#endif
