/* Conditions of parts and repeats: what is in the model, and what messages say about what is not. Those of files
 * are in test_model_document.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/model.h"

#include <stdio.h>
#include <string.h>

#define HEAD "galpha: 1\nparameters: {on: 0, n: 3}\nbodies:\n  a: {type: point, mass: 1, position: [1, 0, 0]}\n"
#define COUNT(rows) (int)(sizeof(rows) / sizeof *(rows))

/* The signals of the model, or its messages, one after the other. */
static void read_model(const char *text, const char *set, char *said, size_t size, int *n_signals)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  ga_model_opts o = ga_model_defaults();
  if (set) o.n_set = 1, o.set = &set;
  said[0] = '\0';
  assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
  const ga_status status = ga_model_read_text(ctx, "m.yaml", text, strlen(text), &o, &model);
  for (int i = 0; i < ga_model_n_messages(model); i++) {
    const ga_model_message *m = ga_model_message_at(model, i);
    const size_t used = strlen(said);
    snprintf(said + used, size - used, "%d:%d: %s\n", m->line, m->column, m->text);
  }
  *n_signals = status ? -1 : ga_machine_n_signals(ga_model_machine(model));
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
}

static void parts_are_chosen(void **state)
{
  static const struct {
    const char *more, *set, *same; /* the model has as many signals as HEAD with `same` */
  } rows[] = {
      {"  b: {type: point, mass: 1, if: on}\n", NULL, ""},
      {"  b: {type: point, mass: 1, if: on}\n", "on=1", "  b: {type: point, mass: 1}\n"},
      {"  b: {type: point, mass: 1, if: n > 2 && on == 0}\n", NULL, "  b: {type: point, mass: 1}\n"},
      {"  b: {type: point, mass: 1, if: n > 2 && on == 0}\n", "n=2", ""},
      {"  b: {type: point, mass: 1, if: true}\n", NULL, "  b: {type: point, mass: 1}\n"},
      {"  b: {type: point, mass: 1, if: no}\n", NULL, ""},
      {"repeat: {count: n, if: on, parts: {bodies: {\"b{i}\": {type: point, mass: 1}}}}\n", NULL, ""},
      {"repeat: {count: n, if: on, parts: {bodies: {\"b{i}\": {type: point, mass: 1}}}}\n", "on=1",
       "repeat: {count: 3, parts: {bodies: {\"b{i}\": {type: point, mass: 1}}}}\n"},
      {"repeat: {count: n, parts: {bodies: {\"b{i}\": {type: point, mass: 1, if: i < 2}}}}\n", NULL,
       "repeat: {count: 2, parts: {bodies: {\"b{i}\": {type: point, mass: 1}}}}\n"},
      {"functions: {f: {type: expression, expression: t, if: on}}\n", NULL, ""},
  };
  char text[1024], said[4096];
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    int n, expected;
    snprintf(text, sizeof text, HEAD "%s", rows[i].same);
    read_model(text, NULL, said, sizeof said, &expected);
    assert_true(expected > 0);
    snprintf(text, sizeof text, HEAD "%s", rows[i].more);
    read_model(text, rows[i].set, said, sizeof said, &n);
    if (n != expected) fail_msg("%s has %d signals, not %d\n%s", rows[i].more, n, expected, said);
  }
}

static void messages(void **state)
{
  static const struct {
    const char *more, *said;
  } rows[] = {
      {"  b: {type: point, mass: 1, if: on}\nforces:\n  s: {type: spring, a: a, b: b, stiffness: 1}\n",
       "7:30: b of spring 's': 'b' is off, by its condition at m.yaml:5:33"},
      {"  b: {type: point, mass: 1, if: on}\nforces:\n  s: {type: spring, a: ground, b: a, expression: b.x}\n",
       "'b.x' is off, by its condition at m.yaml:5:33"},
      {"functions: {f: {type: expression, expression: t, if: on}}\nforces:\n"
       "  s: {type: spring, a: ground, b: a, expression: f(t)}\n",
       "'f' is off, by its condition at m.yaml:5:54"},
      {"repeat: {count: 2, if: on, parts: {bodies: {\"b{i}\": {type: point, mass: 1}}}}\nforces:\n"
       "  s: {type: spring, a: a, b: b1, stiffness: 1}\n",
       "'b1' is off, by its condition at m.yaml:5:24"},
      {"  b: {type: point, mass: 1, if: n}\n", "must be 0 or 1, for off and on"},
      {"  b: {type: point, mass: 1, if: maybe}\n", "'maybe' is unknown"},
      {"  b: {type: point, mass: 1, if: [1]}\n", "5:33: "},
      {"  b: {type: point, mass: 1, if: 1 kg}\n", "kg"},
      {"  b: {type: point, mass: 1, if: sqrt(-on - 1)}\n", "5:33: "},
      {"simulation: {t_end: 1, if: on}\n", "the key 'if' is unknown"},
      {"repeat: {count: 2, if: 2, parts: {}}\n", "must be 0 or 1, for off and on"},
  };
  char text[1024], said[4096];
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    int n;
    snprintf(text, sizeof text, HEAD "%s", rows[i].more);
    read_model(text, NULL, said, sizeof said, &n);
    if (!strstr(said, rows[i].said)) fail_msg("%s\nsays\n%s\nwithout\n%s", rows[i].more, said, rows[i].said);
    if (n >= 0) fail_msg("%s\nis accepted", rows[i].more);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_chosen), cmocka_unit_test(messages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
