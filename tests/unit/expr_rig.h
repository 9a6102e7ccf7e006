/* What the tests of the expr layer share: memory that counts and fails, random numbers, differences. */
#ifndef GALPHA_TEST_EXPR_RIG_H
#define GALPHA_TEST_EXPR_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base_impl.h"
#include "expr/breaks.h"
#include "expr/fault.h"
#include "expr/function.h"
#include "expr/range.h"
#include "expr/side.h"
#include "expr/slope.h"
#include "expr/unit.h"
#include "errors.h"
#include "seeds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct fixture {
  ga_context *ctx;
  long count, live; /* allocations made, and not yet freed */
  long fail_at;     /* the allocation of this number fails; 0: none */
} fixture;

static inline void *rig_get(void *user, size_t bytes)
{
  fixture *f = user;
  if (++f->count == f->fail_at) return NULL;
  void *block = malloc(bytes);
  if (block) f->live++;
  return block;
}

static inline void rig_release(void *user, void *block)
{
  ((fixture *)user)->live--;
  free(block);
}

static inline int set_up(void **state)
{
  fixture *f = calloc(1, sizeof *f);
  if (!f) return -1;
  ga_context_opts opts = ga_context_defaults();
  opts.alloc = rig_get;
  opts.release = rig_release;
  opts.alloc_user = f;
  *state = f;
  return ga_context_create(&opts, &f->ctx);
}

/* Every test frees all it made. */
static inline int tear_down(void **state)
{
  fixture *f = *state;
  ga_context_destroy(&f->ctx);
  const long live = f->live;
  free(f);
  return live == 0 ? 0 : -1;
}

/* Fourth-order central difference from values at -2h, -h, h, 2h. */
static inline double difference4(const double f[4], double h)
{
  return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}
static const double difference4_at[4] = {-2, -1, 1, 2};

static inline void assert_near(double a, double b, double tolerance, const char *what)
{
  if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) {
    fail_msg("%s: %.17g instead of %.17g, off by %.3g", what, a, b, fabs(a - b));
  }
}

/* Makes every allocation of `make` fail in turn; each failure must be reported as such and leave nothing. */
static inline void fail_each_allocation(fixture *f, ga_status (*make)(ga_context *))
{
  const long before = f->count, live = f->live;
  assert_int_equal(make(f->ctx), GA_OK);
  const long needed = f->count - before;
  assert_true(needed > 0);
  for (long k = 1; k <= needed; k++) {
    f->fail_at = f->count + k;
    ga_context_clear_error(f->ctx);
    assert_int_equal(make(f->ctx), GA_ERR_MEMORY);
    assert_int_equal(ga_context_error(f->ctx)->status, GA_ERR_MEMORY);
    assert_int_equal(f->live, live);
  }
  f->fail_at = 0;
}

#endif
