/* galpha/base.h: status codes, and the context that carries allocator, log and last error.
 *
 * The library never prints, exits or aborts. What went wrong travels as a ga_status, and in words as the
 * ga_error of the context that every object was created with.
 *
 * NULL: a pointer that a function needs is refused where it is NULL, an object as well as an array. Functions
 * with a status return GA_ERR_ARGUMENT; all others do nothing, and return 0, NaN, NULL or "" (a search -1).
 * Pointers that may be NULL are said to be. Numbers of a list below 0 and values that an enum does not have
 * are refused likewise; of names out of range the result is NULL or "". How long an array is cannot be seen.
 *
 * Threads: a context, and what writes in objects created with it, belongs to one thread at a time. Use one
 * context per thread. What is only read may be shared by all of them: systems, built machines, models,
 * expressions, functions and blocks are constant once they are made. */
#ifndef GALPHA_BASE_H
#define GALPHA_BASE_H

#include <stddef.h>

#if defined(__GNUC__) && __GNUC__ >= 4
#define GA_API __attribute__((visibility("default")))
#define GA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GA_API
#define GA_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every status with its value and what it means. 0 is success; > 0 is recoverable: nothing has changed, the
 * step may be tried again with a smaller h; < 0 is fatal for this call: see ga_context_error(). */
#define GA_STATUS_LIST(X)                                                                                    \
  X(GA_OK, 0, "done")                                                                                        \
  X(GA_STOPPED, 1, "stopped by the caller")                                                                  \
  X(GA_RETRY_NEWTON, 2, "Newton's iteration did not converge")                                               \
  X(GA_RETRY_SINGULAR, 3, "the iteration matrix is singular")                                                \
  X(GA_RETRY_CALLBACK, 4, "a callback asked for a smaller step")                                             \
  X(GA_RETRY_NAN, 5, "a callback returned NaN or infinity")                                                  \
  X(GA_ERR_ARGUMENT, -1, "an argument is out of its range")                                                  \
  X(GA_ERR_MEMORY, -2, "out of memory")                                                                      \
  X(GA_ERR_CALLBACK, -3, "a callback failed")                                                                \
  X(GA_ERR_PATTERN, -4, "the sparsity pattern is wrong")                                                     \
  X(GA_ERR_SINGULAR, -5, "a matrix is singular")                                                             \
  X(GA_ERR_INCONSISTENT, -6, "the initial values or constraints are inconsistent")                           \
  X(GA_ERR_ORDER, -7, "a call came before the one it needs")                                                 \
  X(GA_ERR_DERIVATIVE, -8, "a derivative is wrong")                                                          \
  X(GA_ERR_NAN, -9, "a value is NaN or infinite")                                                            \
  X(GA_ERR_STEP, -10, "the step size would fall below its least value")                                      \
  X(GA_ERR_FILE, -11, "a file cannot be read or written")

typedef enum ga_status {
#define GA_STATUS_ENUM(name, value, text) name = value,
  GA_STATUS_LIST(GA_STATUS_ENUM)
#undef GA_STATUS_ENUM
} ga_status;

/* The text of a status, never NULL. */
GA_API const char *ga_status_text(ga_status status);

/* Version of the library as "major.minor.patch". */
GA_API const char *ga_version(void);

typedef enum ga_log_level { GA_LOG_WARNING = 0, GA_LOG_INFO = 1, GA_LOG_DEBUG = 2 } ga_log_level;

/* One message, without a line end. It must not call back into the context. */
typedef void (*ga_log_fn)(void *user, ga_log_level level, const char *message);

typedef struct ga_context_opts {            /* start from ga_context_defaults() */
  void *(*alloc)(void *user, size_t bytes); /* NULL: malloc; may return NULL when out of memory */
  void (*release)(void *user, void *block); /* NULL: free; given only what alloc returned, never NULL */
  void *alloc_user;                         /* handed to alloc and release */
  ga_log_fn log;                            /* NULL: no log */
  void *log_user;                           /* handed to log */
  ga_log_level log_level;                   /* messages above this level are dropped; default warning */
} ga_context_opts;

/* Why something failed: the reasons that a program may want to tell apart, each with what it means. Sentences
 * are made from them and the other members of ga_error by one table (src/base/sentence.c). */
#define GA_REASON_LIST(X)                                                                                    \
  X(GA_REASON_NONE, "nothing has failed")                                                                    \
  X(GA_REASON_OTHER, "given in words only")                                                                  \
  X(GA_REASON_MEMORY, "out of memory")                                                                       \
  X(GA_REASON_NULL_ARGUMENT, "a pointer that is needed is NULL")                                             \
  /* steps and starts */                                                                                     \
  X(GA_REASON_CALLBACK, "a callback gave up without a reason")                                               \
  X(GA_REASON_CALLBACK_RETRY, "a callback asked for a smaller step without a reason")                        \
  X(GA_REASON_CALLBACK_AT_START, "the same, while the start is computed")                                    \
  X(GA_REASON_NOT_FINITE_AT_START, "a callback returned NaN or infinity while the start is computed")        \
  X(GA_REASON_NOT_FINITE_IN_STEP, "a callback returned NaN or infinity within a step")                       \
  X(GA_REASON_JACOBIAN_NOT_FINITE, "a derivative is NaN or infinite")                                        \
  X(GA_REASON_NEWTON, "Newton's iteration did not converge")                                                 \
  X(GA_REASON_NEWTON_ROUNDING, "rounding keeps Newton's iteration from its tolerance")                       \
  X(GA_REASON_SINGULAR_STEP, "the iteration matrix of a step is singular")                                   \
  X(GA_REASON_SINGULAR_START, "masses and constraints do not determine the accelerations")                   \
  X(GA_REASON_CONSTRAINTS_CONTRADICT, "redundant constraints contradict each other")                         \
  X(GA_REASON_RANK_CHANGES, "the number of independent constraints changes within a step")                   \
  X(GA_REASON_TOLERANCE_NOT_MET, "the error stays above the tolerance down to the least step")               \
  X(GA_REASON_STEP_FAILS, "a step fails down to the least size")                                             \
  X(GA_REASON_PARTS_FAIL, "a step that was made fails in parts")                                             \
  X(GA_REASON_NO_STATE_AFTER_JUMP, "there is no consistent state behind a jump of the equations")

typedef enum ga_reason {
#define GA_REASON_ENUM(name, meaning) name,
  GA_REASON_LIST(GA_REASON_ENUM)
#undef GA_REASON_ENUM
} ga_reason;

/* What a reason means in general, never NULL. */
GA_API const char *ga_reason_text(ga_reason reason);

enum {
  GA_ERROR_TEXT = 768, /* sizes of texts, their ends included: of a sentence, */
  GA_ERROR_NAME = 128, /* of a name, */
  GA_ERROR_WORD = 64,  /* of a word, */
  GA_ERROR_UNIT = 24,  /* and of a unit */
  GA_ERROR_NUMBERS = 6
};

typedef struct ga_error_number {
  double value;
  char unit[GA_ERROR_UNIT]; /* "" where it has none */
} ga_error_number;

/* A failure as data. Texts that do not apply are "", numbers NaN or -1; names that are too long are cut. */
typedef struct ga_error {
  ga_status status;             /* GA_OK when nothing has failed yet */
  ga_reason reason;             /* GA_REASON_OTHER: `detail` has all there is */
  double t, h;                  /* [s] time of the failure and step size; NaN where they play no part */
  int block;                    /* ga_equation_block of the equation concerned, or -1 */
  int index;                    /* index within the block, or -1 */
  char equation[GA_ERROR_NAME]; /* that equation or unknown, as the system names it */
  char callback[GA_ERROR_WORD]; /* the system's function that failed */
  int code;                     /* what it returned */
  char kind[GA_ERROR_WORD];     /* of the part or object concerned: "spring", "stepper" */
  char part[GA_ERROR_NAME];     /* its name */
  char field[GA_ERROR_WORD];    /* the field, key or argument concerned: "stiffness", "force[1]" */
  char name[GA_ERROR_NAME];     /* the name or text that is wrong; of two that do not fit the first */
  char other[GA_ERROR_NAME];    /* the second of two, or what the name stands for instead */
  char nearest[GA_ERROR_WORD];  /* the name that was perhaps meant */
  char expected[GA_ERROR_NAME]; /* what would be right: "a body or marker", "> 0" */
  char detail[GA_ERROR_TEXT];   /* what else there is to know, in words */
  int n_numbers;
  ga_error_number number[GA_ERROR_NUMBERS]; /* in the order of the sentence */
  int column; /* within the text `name`, as of an expression, from 1; 0: plays no part */
  const char
      *text; /* the sentence: what failed, where, by how much, and what to do. Made by ga_context_error();
                in a copy of this struct it ends with the next failure: see ga_error_say() */
} ga_error;

/* Pieces of a sentence, to be combined by |. */
enum {
  GA_SAY_TIME = 1,     /* "t = 0.25, h = 0.001: " */
  GA_SAY_CALLBACK = 2, /* "the callback 'force' could not be evaluated (it returned 1): " */
  GA_SAY_PART = 4,     /* "spring 's': " */
  GA_SAY_ADVICE = 8,   /* what to do */
  GA_SAY_ALL = 15
};

/* The sentence of an error into text, cut to size bytes, end included; what is wrong is always part of it.
 * Returns the bytes it would need, without the end. text NULL: only that. */
GA_API int ga_error_say(const ga_error *error, int pieces, char *text, size_t size);

typedef struct ga_context ga_context; /* must outlive every object created with it */

GA_API ga_context_opts ga_context_defaults(void);

/* opts NULL: the defaults. On failure *out is NULL; the only failures are GA_ERR_MEMORY and GA_ERR_ARGUMENT
 * (alloc given without release, or the reverse; out NULL). */
GA_API ga_status ga_context_create(const ga_context_opts *opts, ga_context **out);
GA_API void ga_context_destroy(ga_context **ctx); /* NULL and *ctx == NULL are fine; *ctx becomes NULL */

/* The last failure, its sentence made by this call; valid until the next failure or the context's end.
 * Success does not clear it. */
GA_API const ga_error *ga_context_error(const ga_context *ctx);
GA_API void ga_context_clear_error(ga_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
