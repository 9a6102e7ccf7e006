/* The base layer: status texts, context, allocation, errors, log, stack of work arrays. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "base/base_impl.h"
#include "base/sentence.h"
#include "errors.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that counts, fills with rubbish, and fails at request number fail_at (from 1; 0: never). */
typedef struct heap {
  int requests, live, fail_at;
  size_t last_bytes;
} heap;

static void *heap_alloc(void *user, size_t bytes)
{
  heap *h = user;
  void *block;
  h->last_bytes = bytes;
  if (++h->requests == h->fail_at) return NULL;
  block = malloc(bytes);
  if (!block) return NULL;
  h->live++;
  return memset(block, 0xA5, bytes);
}

static void heap_release(void *user, void *block)
{
  heap *h = user;
  assert_non_null(block);
  h->live--;
  free(block);
}

static ga_context *context_on(heap *h)
{
  ga_context *ctx = NULL;
  ga_context_opts opts = ga_context_defaults();
  opts.alloc = heap_alloc;
  opts.release = heap_release;
  opts.alloc_user = h;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_OK);
  return ctx;
}

static ga_context *context_default(void)
{
  ga_context *ctx = NULL;
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  assert_non_null(ctx);
  return ctx;
}

static void test_status_texts(void **state)
{
  static const ga_status all[] = {
#define LISTED(name, value, text) name,
      GA_STATUS_LIST(LISTED)
#undef LISTED
  };
  size_t n = sizeof all / sizeof all[0];
  (void)state;
  assert_string_equal(ga_status_text(GA_OK), "done");
  assert_string_equal(ga_status_text((ga_status)12345), "unknown status");
  for (size_t i = 0; i < n; i++) {
    assert_string_not_equal(ga_status_text(all[i]), "unknown status");
    for (size_t j = 0; j < i; j++) assert_string_not_equal(ga_status_text(all[i]), ga_status_text(all[j]));
  }
}

static void test_version_has_three_numbers(void **state)
{
  int major, minor, patch;
  char rest;
  (void)state;
  assert_int_equal(sscanf(ga_version(), "%d.%d.%d%c", &major, &minor, &patch, &rest), 3);
}

static void test_context_arguments(void **state)
{
  int mark;
  ga_context *ctx = (ga_context *)(void *)&mark;
  ga_context_opts opts = ga_context_defaults();
  (void)state;
  assert_null(opts.alloc);
  assert_null(opts.log);
  assert_int_equal(opts.log_level, GA_LOG_WARNING);
  assert_int_equal(ga_context_create(NULL, NULL), GA_ERR_ARGUMENT);
  opts.alloc = heap_alloc;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_ERR_ARGUMENT);
  assert_null(ctx);
  opts = ga_context_defaults();
  opts.release = heap_release;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_ERR_ARGUMENT);
  assert_null(ctx);
}

static void test_context_memory(void **state)
{
  heap h = {.fail_at = 1};
  ga_context_opts opts = ga_context_defaults();
  int mark;
  ga_context *ctx = (ga_context *)(void *)&mark;
  (void)state;
  opts.alloc = heap_alloc;
  opts.release = heap_release;
  opts.alloc_user = &h;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_ERR_MEMORY);
  assert_null(ctx);
  assert_int_equal(h.live, 0);

  ctx = context_on(&h);
  assert_int_equal(h.live, 1);
  ga_context_destroy(&ctx);
  assert_null(ctx);
  assert_int_equal(h.live, 0);
  ga_context_destroy(&ctx);
  ga_context_destroy(NULL);
}

static void test_error_empty_at_first_and_after_clear(void **state)
{
  ga_context *ctx = context_default();
  (void)state;
  for (int round = 0; round < 2; round++) {
    const ga_error *e = ga_context_error(ctx);
    assert_int_equal(e->status, GA_OK);
    assert_true(isnan(e->t));
    assert_int_equal(e->block, -1);
    assert_int_equal(e->index, -1);
    assert_string_equal(e->text, "");
    ga__refuse(ctx, GA_ERR_NAN, GA_REASON_OTHER,
               &(ga__facts){.at = &(ga__fact_time){1.0, NAN, 2, 3}, .detail = "something"});
    ga_context_clear_error(ctx);
  }
  ga_context_destroy(&ctx);
}

static void test_error_without_context(void **state)
{
  (void)state;
  assert_int_equal(ga_context_error(NULL)->status, GA_ERR_ARGUMENT);
  assert_string_equal(ga_context_error(NULL)->text, "there is no context");
  assert_int_equal(ga__refuse_null(NULL, "f", "x"), GA_ERR_ARGUMENT);
  ga_context_clear_error(NULL);
}

static void test_fail_stores_words_and_place(void **state)
{
  ga_context *ctx = context_default();
  (void)state;
  assert_int_equal(
      ga__refuse(ctx, GA_RETRY_NAN, GA_REASON_OTHER,
                 &(ga__facts){.at = &(ga__fact_time){0.25, NAN, 3, 7}, .detail = "row 7 is NaN"}),
      GA_RETRY_NAN);
  assert_int_equal(ga_context_error(ctx)->status, GA_RETRY_NAN);
  assert_true(ga_context_error(ctx)->t == 0.25);
  assert_int_equal(ga_context_error(ctx)->block, 3);
  assert_int_equal(ga_context_error(ctx)->index, 7);
  assert_string_equal(ga_context_error(ctx)->text, "row 7 is NaN");

  assert_int_equal(REFUSE_IN_WORDS(ctx, GA_ERR_ORDER, "too early"), GA_ERR_ORDER);
  assert_int_equal(ga_context_error(ctx)->status, GA_ERR_ORDER);
  assert_true(isnan(ga_context_error(ctx)->t));
  assert_int_equal(ga_context_error(ctx)->block, -1);
  assert_int_equal(ga_context_error(ctx)->index, -1);
  assert_string_equal(ga_context_error(ctx)->text, "too early");

  assert_int_equal(ga__no_memory(ctx, "the stepper"), GA_ERR_MEMORY);
  assert_string_equal(ga_context_error(ctx)->text, "out of memory for the stepper");
  ga_context_destroy(&ctx);
}

/* Every reason has a sentence whose slots there are, and a meaning of its own. */
static void test_every_reason_has_a_sentence(void **state)
{
  static const ga_reason all[] = {
#define LISTED(name, meaning) name,
      GA_REASON_LIST(LISTED)
#undef LISTED
  };
  const ga_error none = ga__error_none();
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char text[GA_ERROR_TEXT];
    ga__writer w = {text, sizeof text, 0};
    const ga__sentence *s = ga__sentence_of(all[i]);
    if (!s->what || !ga__sentence_write(&w, &none, s->what)) fail_msg("the sentence of reason %zu", i);
    if (s->advice && !ga__sentence_write(&w, &none, s->advice)) fail_msg("the advice of reason %zu", i);
    for (size_t j = 0; j < i; j++) assert_string_not_equal(ga_reason_text(all[i]), ga_reason_text(all[j]));
  }
  assert_string_equal(ga_reason_text((ga_reason)12345), "unknown reason");
}

static void test_slots_are_filled(void **state)
{
  static const struct {
    const char *pattern, *text;
  } cases[] = {{"{field} is '{name}'", "a is 'x'"},
               {"{{; did you mean '{nearest}'?}}", ""},
               {"{name}{{ or {other}}}{{, not {nearest}}}.", "x or y."},
               {"{0} {1.3} {2}", "0.5 N 0.333 7"},
               {"{1.12}", "0.333333333333"},
               {"a{{ {5}}}b", "ab"},
               {"a{{ {3}}}b{{ {2}}}", "ab 7"},
               {"column {column}{{, t = {t}}}", "column 4"}};
  ga_error e;
  (void)state;
  ga__error_set(&e, GA_ERR_ARGUMENT, GA_REASON_OTHER,
                &(ga__facts){.field = "a",
                             .name = "x",
                             .other = "y",
                             .column = 4,
                             GA__NUMBERS({0.5, "N"}, {1.0 / 3.0, NULL}, {7, ""}, {NAN, NULL})});
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    ga__writer w = {text, sizeof text, 0};
    assert_true(ga__sentence_write(&w, &e, cases[i].pattern));
    assert_string_equal(text, cases[i].text);
    assert_int_equal(w.used, strlen(text));
  }
  ga__writer w = {NULL, 0, 0};
  assert_false(ga__sentence_write(&w, &e, "{nothing}"));
  assert_false(ga__sentence_write(&w, &e, "{name"));
  assert_false(ga__sentence_write(&w, &e, "{{ {name}"));
}

/* What is known besides the reason stands in front, unless the sentence has it, or it is not asked for. */
static void test_sentences_by_pieces(void **state)
{
  ga_context *ctx = context_default();
  char text[GA_ERROR_TEXT];
  (void)state;
  ga__refuse(ctx, GA_RETRY_SINGULAR, GA_REASON_SINGULAR_STEP,
             &(ga__facts){.at = &(ga__fact_time){0.25, 1e-3, 0, 2},
                          .equation = "dynamics 2",
                          .kind = "spring",
                          .part = "s",
                          .field = "force",
                          .callback = "force",
                          .code = -1});
  const ga_error *e = ga_context_error(ctx);
  const char *what =
      "the iteration matrix is singular; the first column without a pivot is that of dynamics 2";
  static const char *const before[] = {
      "", "t = 0.25, h = 0.001: ", "the callback 'force' failed (it returned -1): ",
      "t = 0.25, h = 0.001: the callback 'force' failed (it returned -1): ", "force of spring 's': "};
  for (int pieces = 0; pieces <= GA_SAY_PART; pieces++) {
    const int bytes = ga_error_say(e, pieces, text, sizeof text);
    assert_int_equal(bytes, ga_error_say(e, pieces, NULL, 0));
    assert_int_equal(bytes, strlen(text));
    assert_string_equal(text + strlen(before[pieces]), what);
    assert_memory_equal(text, before[pieces], strlen(before[pieces]));
  }
  ga_error_say(e, GA_SAY_ALL, text, sizeof text);
  assert_string_equal(text, e->text);
  assert_true(strlen(text) > ga_error_say(e, GA_SAY_ALL & ~GA_SAY_ADVICE, NULL, 0) + 20u);
  assert_int_equal(ga_error_say(e, GA_SAY_ALL, text, 12), strlen(e->text));
  assert_string_equal(text, "t = 0.25...");
  assert_int_equal(ga_error_say(NULL, GA_SAY_ALL, text, sizeof text), 0);
  assert_string_equal(text, "");
  ga_context_destroy(&ctx);
}

static void test_fail_may_quote_the_error_before(void **state)
{
  ga_context *ctx = context_default();
  (void)state;
  REFUSE_IN_WORDS(ctx, GA_ERR_SINGULAR, "column 3 has no pivot");
  const ga_error *e = ga_context_error(ctx);
  ga__refuse(ctx, GA_ERR_STEP, GA_REASON_STEP_FAILS,
             &(ga__facts){.name = "h_min", .detail = e->text, GA__NUMBERS({0.5, "s"})});
  assert_string_equal(ga_context_error(ctx)->text, "h_min = 0.5 s. column 3 has no pivot");
  ga_context_destroy(&ctx);
}

/* What is only tried leaves the error as it is, also where it is tried within another try. */
static void test_muted_failures_leave_the_error(void **state)
{
  ga_context *ctx = context_default();
  (void)state;
  REFUSE_IN_WORDS(ctx, GA_ERR_SINGULAR, "column 3 has no pivot");
  const ga_error before = *ga_context_error(ctx);
  ga__mute_errors(ctx);
  ga__mute_errors(ctx);
  assert_int_equal(ga__refuse_null(ctx, "f", "x"), GA_ERR_ARGUMENT);
  ga__unmute_errors(ctx);
  assert_int_equal(ga__no_memory(ctx, "y"), GA_ERR_MEMORY);
  assert_int_equal(ga__name_item(ctx, GA_ERR_NAN, 3, "z"), GA_ERR_NAN);
  ga__unmute_errors(ctx);
  assert_memory_equal(&before, ga_context_error(ctx), sizeof before);
  ga__refuse_null(ctx, "f", "x");
  assert_string_equal(ga_context_error(ctx)->text, "f: x is NULL");
  ga_context_destroy(&ctx);
}

static void test_long_texts_are_cut_between_characters(void **state)
{
  ga_context *ctx = context_default();
  char lambdas[2 * GA_ERROR_TEXT + 1];
  (void)state;
  for (int i = 0; i < GA_ERROR_TEXT; i++) memcpy(lambdas + 2 * i, "\xCE\xBB", 3); /* the letter λ */
  for (int shift = 0; shift < 2; shift++) {
    size_t length;
    char words[sizeof lambdas + 1];
    snprintf(words, sizeof words, "%s%s", shift ? "x" : "", lambdas);
    REFUSE_IN_WORDS(ctx, GA_ERR_ARGUMENT, words);
    const char *text = ga_context_error(ctx)->text;
    length = strlen(text);
    assert_in_range(length, GA_ERROR_TEXT - 5, GA_ERROR_TEXT - 1);
    assert_string_equal(text + length - 3, "...");
    assert_int_equal((length - 3 - (size_t)shift) % 2, 0);
    assert_memory_equal(text + shift, lambdas, length - 3 - (size_t)shift);
  }
  ga_context_destroy(&ctx);
}

static void test_texts_are_cut_only_where_they_must(void **state)
{
  ga_context *ctx = context_default();
  (void)state;
  char words[GA_ERROR_TEXT + 1];
  snprintf(words, sizeof words, "%0*d", GA_ERROR_TEXT - 1, 7);
  REFUSE_IN_WORDS(ctx, GA_ERR_ARGUMENT, words);
  assert_int_equal(strlen(ga_context_error(ctx)->text), GA_ERROR_TEXT - 1);
  assert_string_equal(ga_context_error(ctx)->text + GA_ERROR_TEXT - 3, "07");
  snprintf(words, sizeof words, "%0*d", GA_ERROR_TEXT, 7);
  REFUSE_IN_WORDS(ctx, GA_ERR_ARGUMENT, words);
  assert_int_equal(strlen(ga_context_error(ctx)->text), GA_ERROR_TEXT - 1);
  assert_string_equal(ga_context_error(ctx)->text + GA_ERROR_TEXT - 5, "0...");
  ga_context_destroy(&ctx);
}

typedef struct journal {
  int n;
  ga_log_level level;
  ga_reason reason;
  char text[GA_ERROR_TEXT];
} journal;

static void journal_add(void *user, ga_log_level level, const ga_error *message)
{
  journal *j = user;
  j->n++;
  j->level = level;
  j->reason = message->reason;
  snprintf(j->text, sizeof j->text, "%s", message->text);
}

static void test_log_levels(void **state)
{
  journal j = {0};
  ga_context_opts opts = ga_context_defaults();
  ga_context *ctx = NULL;
  (void)state;
  opts.log = journal_add;
  opts.log_user = &j;
  opts.log_level = GA_LOG_INFO;
  assert_int_equal(ga_context_create(&opts, &ctx), GA_OK);
  const ga__facts facts = {
      .name = "positions", .equation = "rod.x", .kind = "start", GA__NUMBERS({0.25, NULL}, {0.5, NULL})};
  ga__log(ctx, GA_LOG_DEBUG, GA_REASON_START_MOVED, &facts);
  assert_int_equal(j.n, 0);
  ga__log(ctx, GA_LOG_INFO, GA_REASON_START_MOVED, &facts);
  assert_int_equal(j.n, 1);
  assert_int_equal(j.level, GA_LOG_INFO);
  assert_int_equal(j.reason, GA_REASON_START_MOVED);
  assert_string_equal(
      j.text, "start: the given positions violated the constraints by up to 0.25; rod.x was moved by 0.5");
  ga__log(ctx, GA_LOG_WARNING, GA_REASON_START_MOVED, &facts);
  assert_int_equal(j.n, 2);
  assert_int_equal(j.level, GA_LOG_WARNING);
  ga_context_destroy(&ctx);

  ctx = context_default();
  ga__log(ctx, GA_LOG_WARNING, GA_REASON_START_MOVED, &facts);
  ga__log(NULL, GA_LOG_WARNING, GA_REASON_START_MOVED, &facts);
  assert_int_equal(j.n, 2);
  ga_context_destroy(&ctx);
}

static void test_alloc_is_zeroed(void **state)
{
  heap h = {0};
  ga_context *ctx = context_on(&h);
  unsigned char *block = ga__alloc(ctx, 7, 3);
  (void)state;
  assert_non_null(block);
  assert_int_equal(h.last_bytes, 21);
  for (int i = 0; i < 21; i++) assert_int_equal(block[i], 0);
  ga__free(ctx, block);
  ga__free(ctx, NULL);
  assert_int_equal(h.live, 1);
  ga_context_destroy(&ctx);
  assert_int_equal(h.live, 0);
}

/* Large blocks of contexts without an allocator are kept and given out again, zeroed, as long as asked for;
 * never more than a part of what is in use. */
static void test_large_blocks_are_kept(void **state)
{
  const size_t MB = (size_t)1 << 20, large = 40 * MB;
  ga_context *ctx = context_default();
  (void)state;
  unsigned char *rest = ga__alloc(ctx, 4, large), *block = ga__alloc(ctx, large, 1);
  assert_int_equal(ctx->heap.used, 5 * large);
  memset(block, 0xa5, large);
  ga__free(ctx, block);
  assert_int_equal(ctx->heap.kept, large);
  assert_int_equal(ctx->heap.used, 4 * large);
  const size_t wanted[] = {large, large + MB, large - MB};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    block = ga__alloc(ctx, wanted[i], 1);
    assert_int_equal(ctx->heap.kept, 0);
    assert_int_equal((uintptr_t)block % 16, 0);
    for (size_t k = 0; k < wanted[i]; k += 509) assert_int_equal(block[k], 0);
    assert_int_equal(block[wanted[i] - 1], 0);
    memset(block, 0xa5, wanted[i]);
    ga__free(ctx, block);
    assert_int_equal(ctx->heap.kept, wanted[i]);
  }
  ga__free(ctx, rest); /* nothing is in use */
  assert_int_equal(ctx->heap.kept, 0);
  assert_int_equal(ctx->heap.used, 0);
  ga_context_destroy(&ctx);
}

/* More blocks than there is room for: the longest are kept, until others need the memory. */
static void test_kept_blocks_are_few(void **state)
{
  enum { MANY = GA__HEAP_KEPT + 2 };
  const size_t large = (size_t)33 << 20;
  ga_context *ctx = context_default();
  void *block[MANY], *rest = ga__alloc(ctx, 2 * MANY, large);
  (void)state;
  for (int i = 0; i < MANY; i++) assert_non_null(block[i] = ga__alloc(ctx, large + (size_t)i, 1));
  const size_t peak = ctx->heap.used;
  for (int i = 0; i < MANY; i++) ga__free(ctx, block[i]);
  assert_int_equal(ctx->heap.n_kept, GA__HEAP_KEPT);
  assert_true(ctx->heap.kept > GA__HEAP_KEPT * (large + 1));
  for (int i = 0; i < MANY; i++) { /* too short for blocks that are kept */
    assert_non_null(block[i] = ga__alloc(ctx, (size_t)30 << 20, 1));
    assert_true(ctx->heap.used + ctx->heap.kept <= peak && ctx->heap.peak == peak);
  }
  assert_true(ctx->heap.n_kept < 3);
  for (int i = 0; i < MANY; i++) ga__free(ctx, block[i]);
  ga__free(ctx, rest);
  assert_int_equal(ctx->heap.n_kept, 0);
  ga_context_destroy(&ctx);
}

static void test_alloc_of_nothing_is_a_block(void **state)
{
  static const size_t cases[][2] = {{0, 8}, {8, 0}, {0, 0}, {0, SIZE_MAX}, {SIZE_MAX, 0}};
  heap h = {0};
  ga_context *ctx = context_on(&h);
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    void *block = ga__alloc(ctx, cases[i][0], cases[i][1]);
    assert_non_null(block);
    assert_true(h.last_bytes >= 1);
    ga__free(ctx, block);
  }
  ga_context_destroy(&ctx);
}

static void test_alloc_refuses_an_overflow(void **state)
{
  static const size_t cases[][2] = {
      {SIZE_MAX, 2}, {2, SIZE_MAX}, {SIZE_MAX / 8 + 1, 8}, {SIZE_MAX, SIZE_MAX}};
  heap h = {0};
  ga_context *ctx = context_on(&h);
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_null(ga__alloc(ctx, cases[i][0], cases[i][1]));
  assert_int_equal(h.requests, 1); /* the context alone: the allocator was not asked */
  assert_int_equal(ga_context_error(ctx)->status, GA_OK);
  ga_context_destroy(&ctx);
}

static void test_alloc_failure_comes_back_as_null(void **state)
{
  heap h = {.fail_at = 2};
  ga_context *ctx = context_on(&h);
  void *block;
  (void)state;
  assert_null(ga__alloc(ctx, 1, 1));
  assert_int_equal(ga_context_error(ctx)->status, GA_OK);
  block = ga__alloc(ctx, 1, 1);
  assert_non_null(block);
  ga__free(ctx, block);
  ga_context_destroy(&ctx);
  assert_int_equal(h.live, 0);
}

static int is_forbidden(const double *a)
{
#if defined(__SANITIZE_ADDRESS__)
  return __asan_address_is_poisoned(a);
#else
  (void)a;
  return 1;
#endif
}

/* An array that is free again when this returns. */
static double *take_one(ga__scratch scratch)
{
  double *a = ga__take(&scratch, 4);
  for (int i = 0; i < 4; i++) a[i] = -1.0;
  return a;
}

static void arrays_of_a_call_are_free_after_it(void **state)
{
  heap h = {0};
  ga_context *ctx = context_on(&h);
  ga__stack stack;
  (void)state;
  assert_int_equal(ga__stack_create(ctx, 3, 4, &stack), GA_OK);
  ga__scratch scratch = ga__stack_begin(&stack);
  double *a = ga__take(&scratch, 4);
  assert_true(a == stack.base);
  assert_true(is_forbidden(a + 5)); /* and a[4] may be read, but not written */
  for (int i = 0; i < 4; i++) a[i] = i;
  double *within = take_one(scratch), *again = take_one(scratch);
  assert_ptr_equal(within, again);
  double *b = ga__take(&scratch, 2);
  assert_ptr_equal(b, within); /* what the calls had taken is free */
  assert_true(is_forbidden(b + 3));
  double *c = ga__take(&scratch, 0);
  assert_true(c - b >= 4 && b - a >= 4);
  for (int i = 0; i < 4; i++) assert_true(a[i] == i);
  scratch = ga__stack_begin(&stack);
  assert_true(is_forbidden(a) && is_forbidden(b));
  assert_int_equal(stack.peak, 3);
  assert_int_equal(ga__stack_check(ctx, &stack), GA_OK);
  assert_int_equal(h.requests, 2); /* context and stack: take never allocates */
  ga__stack_destroy(ctx, &stack);
  assert_null(stack.base);
  ga__stack_destroy(ctx, &stack);
  assert_int_equal(h.live, 1);
  ga_context_destroy(&ctx);
}

/* Beyond the depth nothing outside of the stack is written, and the check fails from then on. */
static void a_stack_too_small_is_an_error(void **state)
{
  heap h = {0};
  ga_context *ctx = context_on(&h);
  ga__stack stack;
  (void)state;
  assert_int_equal(ga__stack_create(ctx, 2, 4, &stack), GA_OK);
  ga__scratch scratch = ga__stack_begin(&stack);
  assert_null(ga__take(&scratch, 5));
  assert_null(ga__take(&scratch, -1));
  assert_int_equal(stack.peak, 0);
  double *a = ga__take(&scratch, 4), *b = ga__take(&scratch, 4);
  assert_int_equal(ga__stack_check(ctx, &stack), GA_OK);
  for (int i = 0; i < 3; i++) assert_ptr_equal(ga__take(&scratch, 4), b);
  assert_ptr_not_equal(a, b);
  assert_int_equal(ga__stack_check(ctx, &stack), GA_ERR_MEMORY);
  assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_MEMORY);
  scratch = ga__stack_begin(&stack);
  assert_int_equal(ga__stack_check(ctx, &stack), GA_ERR_MEMORY);
  ga__stack_destroy(ctx, &stack);
  ga_context_destroy(&ctx);
  assert_int_equal(h.live, 0);
}

static void a_stack_without_memory(void **state)
{
  static const size_t lengths[] = {10, SIZE_MAX / 2, SIZE_MAX};
  (void)state;
  for (int i = 0; i < 3; i++) {
    heap h = {.fail_at = 2};
    ga_context *ctx = context_on(&h);
    ga__stack stack = {.base = NULL, .depth = 99, .length = 99};
    assert_int_equal(ga__stack_create(ctx, 5, lengths[i], &stack), GA_ERR_MEMORY);
    assert_int_equal(ga_context_error(ctx)->status, GA_ERR_MEMORY);
    assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_MEMORY);
    assert_string_equal(ga_context_error(ctx)->name, "work space");
    assert_true(ga_context_error(ctx)->number[0].value == 5.0 * (double)lengths[i]);
    assert_null(stack.base);
    ga__stack_destroy(ctx, &stack);
    ga_context_destroy(&ctx);
    assert_int_equal(h.live, 0);
  }
}

/* ---- Long arrays ---- */

enum { LONGEST = 70 };

/* Every length and place: whatever is taken four or sixteen at a time, nothing is left out or read beyond. */
static void long_arrays_are_seen_whole(void **state)
{
  const double strange[] = {NAN, -NAN, INFINITY, -INFINITY};
  (void)state;
  for (int n = 0; n <= LONGEST; n++) {
    double *a = malloc((size_t)(n ? n : 1) * sizeof *a); /* of its own, so that sanitizers see its end */
    assert_non_null(a);
    for (int i = 0; i < n; i++) a[i] = i % 2 ? 0.5 : -0.25;
    assert_true(ga__all_finite(a, n));
    assert_true(ga__largest(a, n) == (n > 1 ? 0.5 : n ? 0.25 : 0.0));
    for (int i = 0; i < n; i++) {
      const double before = a[i];
      a[i] = i % 2 ? 3.0 : -3.0;
      assert_true(ga__largest(a, n) == 3.0);
      a[i] = DBL_MAX;
      assert_true(ga__all_finite(a, n) && ga__largest(a, n) == DBL_MAX);
      for (int k = 0; k < 4; k++) {
        a[i] = strange[k];
        assert_false(ga__all_finite(a, n));
        assert_true(isnan(ga__largest(a, n)));
      }
      a[i] = before;
    }
    free(a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status_texts),
      cmocka_unit_test(test_version_has_three_numbers),
      cmocka_unit_test(test_context_arguments),
      cmocka_unit_test(test_context_memory),
      cmocka_unit_test(test_error_empty_at_first_and_after_clear),
      cmocka_unit_test(test_error_without_context),
      cmocka_unit_test(test_fail_stores_words_and_place),
      cmocka_unit_test(test_every_reason_has_a_sentence),
      cmocka_unit_test(test_slots_are_filled),
      cmocka_unit_test(test_sentences_by_pieces),
      cmocka_unit_test(test_fail_may_quote_the_error_before),
      cmocka_unit_test(test_muted_failures_leave_the_error),
      cmocka_unit_test(test_long_texts_are_cut_between_characters),
      cmocka_unit_test(test_texts_are_cut_only_where_they_must),
      cmocka_unit_test(test_log_levels),
      cmocka_unit_test(test_alloc_is_zeroed),
      cmocka_unit_test(test_large_blocks_are_kept),
      cmocka_unit_test(test_kept_blocks_are_few),
      cmocka_unit_test(test_alloc_of_nothing_is_a_block),
      cmocka_unit_test(test_alloc_refuses_an_overflow),
      cmocka_unit_test(test_alloc_failure_comes_back_as_null),
      cmocka_unit_test(arrays_of_a_call_are_free_after_it),
      cmocka_unit_test(a_stack_too_small_is_an_error),
      cmocka_unit_test(a_stack_without_memory),
      cmocka_unit_test(long_arrays_are_seen_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
