/* galpha/base.h: status codes, and the context that carries allocator, log and last error.
 *
 * The library never prints, exits or aborts. What went wrong travels as a ga_status, and in words as the
 * ga_error of the context that every object was created with.
 *
 * NULL: a pointer that a function needs is refused where it is NULL, an object as well as an array. Functions with a
 * status return GA_ERR_ARGUMENT; all others do nothing, and return 0, NaN, NULL or "" (a search -1). Pointers that may be
 * NULL are said to be. Numbers of a list below 0 and values that an enum does not have are refused likewise; of names out
 * of range the result is NULL or "". How long an array is cannot be seen.
 *
 * Threads: objects created with one context belong to one thread at a time. Use one context per thread. */
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

enum { GA_ERROR_TEXT = 768 }; /* size of an error text, its end included */

typedef struct ga_error {
  ga_status status;         /* GA_OK when nothing has failed yet */
  double t;                 /* [s] time of the failure; NaN where time plays no part */
  int block;                /* ga_block of the equation concerned, or -1 */
  int index;                /* index within the block, or -1 */
  char text[GA_ERROR_TEXT]; /* what failed, where, by how much, and what to do */
} ga_error;

typedef struct ga_context ga_context; /* must outlive every object created with it */

GA_API ga_context_opts ga_context_defaults(void);

/* opts NULL: the defaults. On failure *out is NULL; the only failures are GA_ERR_MEMORY and GA_ERR_ARGUMENT
 * (alloc given without release, or the reverse; out NULL). */
GA_API ga_status ga_context_create(const ga_context_opts *opts, ga_context **out);
GA_API void ga_context_destroy(ga_context **ctx); /* NULL and *ctx == NULL are fine; *ctx becomes NULL */

/* The last failure; valid until the next failure or the context's end. Success does not clear it. */
GA_API const ga_error *ga_context_error(const ga_context *ctx);
GA_API void ga_context_clear_error(ga_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
