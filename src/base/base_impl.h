/* Internals of the base layer, for the layers above. */
#ifndef GALPHA_BASE_IMPL_H
#define GALPHA_BASE_IMPL_H

#include "galpha/base.h"
#include <stdarg.h>

enum { GA__STARTING = 1, GA__UNDEFINED = 2 };

/* ---- The heap of contexts without an allocator of the caller (heap.c) ---- */

enum { GA__HEAP_KEPT = 8 };

typedef struct ga__heap {
  size_t used, peak, kept; /* [bytes] given out, the most of it so far, and of the blocks below */
  int n_kept;
  void *block[GA__HEAP_KEPT]; /* released, for later requests */
} ga__heap;

/* bytes > 0, zeroed; NULL when out of memory. */
void *ga__heap_alloc(ga__heap *heap, size_t bytes);
void ga__heap_free(ga__heap *heap, void *block);
void ga__heap_close(ga__heap *heap); /* releases what is kept */

/* ---- The context (context.c) ---- */

struct ga_context {
  ga_context_opts opts;
  ga__heap heap;
  ga_error error;
  int muted;                /* > 0: failures are expected and not stored */
  char text[GA_ERROR_TEXT]; /* the sentence of the error, made by ga_context_error() */
  int starting;             /* GA__STARTING: the start is being computed, and messages say so. A callback adds
                               GA__UNDEFINED where an expression is undefined */
};

/* count*size zeroed bytes, NULL when out of memory or the product overflows; count or size 0 gives a block
 * too, so that NULL always means failure. Does not set the error: ga__no_memory() does. */
void *ga__alloc(ga_context *ctx, size_t count, size_t size);
void ga__free(ga_context *ctx, void *block); /* NULL is fine */

/* ---- Failures (error.c) ---- */

/* The data of a failure, borrowed for the call: members as in ga_error, NULL for "". */
typedef struct ga__fact_number {
  double value;
  const char *unit; /* NULL: none */
} ga__fact_number;

typedef struct ga__fact_time { /* time and equation */
  double t, h;                 /* NaN: unknown */
  int block, index;            /* -1: unknown */
} ga__fact_time;

typedef struct ga__facts {
  const ga__fact_time *at; /* NULL: no time or equation */
  const char *file, *kind, *part, *field, *name, *other, *nearest, *expected, *equation, *function, *callback,
      *detail, *item_name, *within;
  int item; /* from 1 (in ga_error from 0); 0: none */
  int code, column, n_numbers;
  ga__fact_number number[GA_ERROR_NUMBERS];
} ga__facts;

/* The numbers of a ga__facts, each {value, unit}. */
#define GA__NUMBERS(...)                                                                                     \
  .n_numbers = (int)(sizeof((ga__fact_number[]){__VA_ARGS__}) / sizeof(ga__fact_number)),                    \
  .number = {__VA_ARGS__}

/* Between these calls, which may be nested, failures leave the context's error unchanged. Cheaper than
 * saving and restoring it at every evaluation. */
static inline void ga__mute_errors(ga_context *ctx)
{
  ctx->muted++;
}
static inline void ga__unmute_errors(ga_context *ctx)
{
  ctx->muted--;
}

/* Stores the error and returns its status: `return ga__refuse(...)`. facts may point into the context's
 * error. */
ga_status ga__refuse(ga_context *ctx, ga_status status, ga_reason reason, const ga__facts *facts);
/* The same into a given error. */
void ga__error_set(ga_error *error, ga_status status, ga_reason reason, const ga__facts *facts);
ga_error ga__error_none(void);
/* Adds the item of the field to the context's error, if there is one; returns status. */
ga_status ga__name_item(ga_context *ctx, ga_status status, int item, const char *name);
/* Copies text to `to` (size bytes); a text that is too long is truncated between characters and ends in
 * "...". */
void ga__cut_text(char *to, size_t size, const char *text);
ga_status ga__no_memory(ga_context *ctx, const char *what);
/* Common errors of calls. field: an argument of the function, or an option of an object of this kind. */
ga_status ga__refuse_null(ga_context *ctx, const char *function, const char *field);
ga_status ga__refuse_number(ga_context *ctx, const char *kind, const char *field, double value,
                            const char *expected); /* the range, as "> 0" */
ga_status ga__refuse_choice(ga_context *ctx, const char *kind, const char *field, int value,
                            const char *choices, int last); /* name of the enum, whose values are 0 to last */
ga_status ga__refuse_missing(ga_context *ctx, const char *kind, const char *count, int n,
                             const char *array); /* count is n, but array is NULL */
ga_status ga__refuse_order(ga_context *ctx, const char *function,
                           const char *when); /* when: "after ga_stepper_start()" */
#define ga__null_argument(ctx) ga__refuse_null(ctx, __func__, "an argument") /* of a public function */
/* Replaces control characters by spaces, in place: messages may quote files, and must not move the cursor
 * of a terminal or begin a new line. Applied to all errors and log messages. */
void ga__make_plain(char *text);
/* Logs a message, with data like those of a failure. Its sentence is made only if there is a log function. */
void ga__log(ga_context *ctx, ga_log_level level, ga_reason reason, const ga__facts *facts);

/* A text buffer that is appended to; truncated to size. used: bytes needed without truncation, as snprintf
 * counts. */
typedef struct ga__writer {
  char *text;
  size_t size, used;
} ga__writer;
void ga__write(ga__writer *w, const char *format, ...) GA_PRINTF(2, 3);

/* Work arrays that are needed during one call, from a stack that is reserved in advance.
 *
 * A function gets its ga__scratch by value, takes arrays from this copy, and passes the copy on to the
 * functions that it calls. So these take what lies above, and whatever a function has taken is free again
 * when it returns, on every path: there is nothing to release.
 *
 *   static ga_status f(ga_stepper *st, ga__scratch scratch)
 *   {
 *     double *force = ga__take(&scratch, nv);
 *     return g(st, force, scratch);
 *   }
 *
 * Arrays have the numbers of earlier calls in them. With AddressSanitizer they are NaN, and numbers beyond
 * their ends, or taken by a call that has ended, must not be used (base/stack.c). */
typedef struct ga__stack {
  double *base;
  size_t depth;  /* arrays in use at the same time, at most, */
  size_t length; /* and numbers in each of them, at most */
  size_t peak;   /* arrays that were in use at the same time; above depth: too many were taken */
} ga__stack;

typedef struct ga__scratch {
  ga__stack *stack;
  size_t used; /* arrays that belong to callers and to the function itself */
} ga__scratch;

ga_status ga__stack_create(ga_context *ctx, size_t depth, size_t length, ga__stack *stack);
void ga__stack_destroy(ga_context *ctx, ga__stack *stack);
/* The empty stack, for a function that no user of the stack calls. */
ga__scratch ga__stack_begin(ga__stack *stack);
/* An array of n numbers, n <= length; NULL if n is larger. Beyond the depth the uppermost one is given again,
 * so that nothing else is overwritten: numbers are wrong then, and ga__stack_check() fails. */
double *ga__take(ga__scratch *scratch, int n);
ga_status ga__stack_check(ga_context *ctx, const ga__stack *stack);

/* ---- Long arrays (numbers.c) ---- */

int ga__all_finite(const double *a, int n);
double ga__largest(const double *a,
                   int n); /* largest absolute value; NaN if one is not finite; 0 if n is 0 */

#endif
