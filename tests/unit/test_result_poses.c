/* Rows that only serve to draw a machine are no signals, with error bars and without. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "result_rig.h"

static void poses_are_no_signals(void **state)
{
  static const char *const names[][6] = {
      {"a", "b", "c", "d", "e", "f:pose"},
      {"a", "b", "a:error", "b:error", "b:pose", "c:pose"},
      {"a", "b", "c", "b:error", "b:pose", "c:pose"},          /* no error bars: not in order */
      {"a:pose", "b:pose", "c:pose", "d:pose", "e:pose", "f"}, /* not at the end */
      {"a:pose", "b:pose", "c:pose", "d:pose", "e:pose", "f:pose"},
  };
  static const int signals[] = {5, 2, 4, 6, 1}, errors[] = {0, 1, 0, 0, 0};
  (void)state;
  for (int k = 0; k < COUNT(signals); k++) {
    rig *r = rig_open(6);
    ga_recorder *rec = NULL;
    ga_result *result = NULL;
    double value[2];
    r->opts.names = names[k];
    assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_OK);
    for (long i = 0; i < 2; i++) assert_status(r->ctx, rig_add(rec, 6, i), GA_OK);
    assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FINISHED, NULL), GA_OK);
    ga_recorder_destroy(&rec);
    assert_status(r->ctx, ga_result_open(r->ctx, r->path, &result), GA_OK);
    assert_int_equal(ga_result_n_signals(result), signals[k]);
    assert_int_equal(ga_result_error(result, 0), errors[k] ? signals[k] : -1);
    assert_int_equal(ga_result_error(result, 1), errors[k] ? signals[k] + 1 : -1);
    assert_int_equal(ga_result_find(result, names[k][5]), 5);
    assert_status(r->ctx, ga_result_read(result, 5, 0, 2, value), GA_OK);
    assert_true(value[1] == rig_value(5, 1));
    ga_result_close(&result);
    rig_close(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(poses_are_no_signals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
