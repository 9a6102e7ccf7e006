/* Assertions about the last error of a context, as data. Include cmocka.h first. */
#ifndef GALPHA_TESTS_ERRORS_H
#define GALPHA_TESTS_ERRORS_H

#include "galpha/base.h"
#include <math.h>
#include <string.h>

/* The last error is this, of this part, field and name; NULL: any. */
static inline void assert_error(const ga_context *ctx, ga_reason reason, const char *part, const char *field,
                                const char *name)
{
  const ga_error *e = ga_context_error(ctx);
  if (e->reason != reason || (part && strcmp(part, e->part) != 0) ||
      (field && strcmp(field, e->field) != 0) || (name && strcmp(name, e->name) != 0))
    fail_msg("%s, part '%s', field '%s', name '%s' instead of %s, '%s', '%s', '%s': %s",
             ga_reason_text(e->reason), e->part, e->field, e->name, ga_reason_text(reason),
             part ? part : "any", field ? field : "any", name ? name : "any", e->text);
}

/* A failure in words alone, as a callback may give it. */
#define REFUSE_IN_WORDS(ctx, status, words)                                                                  \
  ga__refuse(ctx, status, GA_REASON_OTHER, &(ga__facts){.detail = (words)})

/* Its number i is this, to six digits; NaN stands for NaN. */
static inline void assert_error_number(const ga_context *ctx, int i, double value)
{
  const ga_error *e = ga_context_error(ctx);
  const double is = i < e->n_numbers ? e->number[i].value : NAN;
  const int same = is == value || (isnan(is) && isnan(value)) || fabs(is - value) <= 1e-6 * fabs(value);
  if (i >= e->n_numbers || !same)
    fail_msg("number %d of %d is %g instead of %g: %s", i, e->n_numbers, is, value, e->text);
}

/* A wrong call: the function of the library, or the kind of object whose options are wrong, and the argument
 * or option; NULL: any. */
static inline void assert_call_error(const ga_context *ctx, ga_reason reason, const char *of,
                                     const char *field)
{
  const ga_error *e = ga_context_error(ctx);
  assert_error(ctx, reason, NULL, field, NULL);
  if (of && strcmp(of, e->function) != 0 && strcmp(of, e->kind) != 0)
    fail_msg("function '%s', kind '%s' instead of '%s': %s", e->function, e->kind, of, e->text);
}

#endif
