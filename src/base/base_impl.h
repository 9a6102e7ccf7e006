/* Internals of the base layer, for the layers above. */
#ifndef GALPHA_BASE_IMPL_H
#define GALPHA_BASE_IMPL_H

#include "galpha/base.h"
#include <stdarg.h>

enum { GA__STARTING = 1, GA__UNDEFINED = 2 };

struct ga_context {
  ga_context_opts opts;
  ga_error error;
  int muted;                /* > 0: what is tried may fail, and failures are not stored */
  char text[GA_ERROR_TEXT]; /* its sentence, made when somebody asks */
  int starting; /* GA__STARTING: initial values are being made consistent, and messages say so. A callback
                   adds GA__UNDEFINED where something has no value there */
};

/* count*size zeroed bytes, NULL when out of memory or the product overflows; count or size 0 gives a block
 * too, so that NULL always means failure. Does not set the error: ga__no_memory() does. */
void *ga__alloc(ga_context *ctx, size_t count, size_t size);
void ga__free(ga_context *ctx, void *block); /* NULL is fine */

/* ---- Failures (error.c) ---- */

/* What is known of a failure, borrowed for the call; members as those of ga_error, NULL for "". */
typedef struct ga__fact_number {
  double value;
  const char *unit; /* NULL: none */
} ga__fact_number;

typedef struct ga__fact_time { /* when, and which equation */
  double t, h;                 /* NaN: unknown */
  int block, index;            /* -1: unknown */
} ga__fact_time;

typedef struct ga__facts {
  const ga__fact_time *at; /* NULL: time plays no part */
  const char *file, *kind, *part, *field, *name, *other, *nearest, *expected, *equation, *function, *callback,
      *detail, *item_name, *within;
  int item; /* from 1, other than in ga_error; 0: none */
  int code, column, n_numbers;
  ga__fact_number number[GA_ERROR_NUMBERS];
} ga__facts;

/* The numbers of a ga__facts, each {value, unit}. */
#define GA__NUMBERS(...)                                                                                     \
  .n_numbers = (int)(sizeof((ga__fact_number[]){__VA_ARGS__}) / sizeof(ga__fact_number)),                    \
  .number = {__VA_ARGS__}

/* Between both calls, which may be nested, failures leave the context's error as it is. Cheaper than a copy
 * of it where that is done at every evaluation. */
static inline void ga__mute_errors(ga_context *ctx)
{
  ctx->muted++;
}
static inline void ga__unmute_errors(ga_context *ctx)
{
  ctx->muted--;
}

/* Store the error and return its status, so that callers write `return ga__refuse(...)`. facts may be taken
 * from the context's error. */
ga_status ga__refuse(ga_context *ctx, ga_status status, ga_reason reason, const ga__facts *facts);
/* The same into an error of one's own. */
void ga__error_set(ga_error *error, ga_status status, ga_reason reason, const ga__facts *facts);
ga_error ga__error_none(void);
/* Adds to the context's error, if there is one, which item of its field is concerned; returns status. */
ga_status ga__name_item(ga_context *ctx, ga_status status, int item, const char *name);
/* Copies a text into one of size bytes; one that is too long ends in "...", between characters. */
void ga__cut_text(char *to, size_t size, const char *text);
ga_status ga__no_memory(ga_context *ctx, const char *what);
/* Frequent mistakes of calls. A field is an argument of the function, or an option of an object of that kind.
 */
ga_status ga__refuse_null(ga_context *ctx, const char *function, const char *field);
ga_status ga__refuse_number(ga_context *ctx, const char *kind, const char *field, double value,
                            const char *expected); /* what it must be: "> 0" */
ga_status ga__refuse_choice(ga_context *ctx, const char *kind, const char *field, int value,
                            const char *choices, int last); /* the enum, and its last value; its first is 0 */
ga_status ga__refuse_missing(ga_context *ctx, const char *kind, const char *count, int n,
                             const char *array); /* of n items that are counted */
ga_status ga__refuse_order(ga_context *ctx, const char *function, const char *when); /* it may be called */
#define ga__null_argument(ctx) ga__refuse_null(ctx, __func__, "an argument") /* of a public function */
/* Spaces for control characters, in place: texts may quote what a file holds, and nothing in a message moves
 * a terminal's cursor or begins a line of its own. Errors and log messages are made so. */
void ga__make_plain(char *text);
/* A message of the log: data as that of a failure; its sentence is made only if somebody listens. */
void ga__log(ga_context *ctx, ga_log_level level, ga_reason reason, const ga__facts *facts);

/* A text that grows piece by piece, cut to its room; used counts what it would need, as snprintf does. */
typedef struct ga__writer {
  char *text;
  size_t size, used;
} ga__writer;
void ga__write(ga__writer *w, const char *format, ...) GA_PRINTF(2, 3);

/* A stack of doubles in one block: take() never allocates, release() goes back to a mark. */
typedef struct ga__arena {
  double *base;
  size_t size, used;
} ga__arena;

ga_status ga__arena_create(ga_context *ctx, size_t doubles, ga__arena *arena);
void ga__arena_destroy(ga_context *ctx, ga__arena *arena);
double *ga__arena_take(ga__arena *arena, size_t doubles); /* NULL when it would not fit */
static inline size_t ga__arena_mark(const ga__arena *arena)
{
  return arena->used;
}
static inline void ga__arena_release(ga__arena *arena, size_t mark)
{
  arena->used = mark;
}

/* ---- Long arrays (numbers.c) ---- */

int ga__all_finite(const double *a, int n);
double ga__largest(const double *a, int n); /* largest size; NaN if one is not finite; 0 of none */

#endif
