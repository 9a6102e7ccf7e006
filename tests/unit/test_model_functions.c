/* Functions of several arguments and tables from CSV files in models. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "model_text_rig.h"

static const char MODEL[] = "galpha: 1\nparameters: {c: 2}\nfunctions:\n%s\n"
                            "bodies: {m: {type: scalar, mass: 1, position: 0.5, velocity: 0.3}}\n"
                            "signals: {s: {expression: '%s'}}\n";

typedef struct table_rig {
  desk_folder folder;
  ga_context *ctx;
  ga_model *model;
  char path[256], csv[256];
} table_rig;

static void open_rig(table_rig *r, const char *functions, const char *expression, const char *csv)
{
  char text[4096];
  memset(r, 0, sizeof *r);
  strcpy(r->folder.path, "/tmp/galpha-functions-XXXXXX");
  assert_non_null(mkdtemp(r->folder.path));
  snprintf(text, sizeof text, MODEL, functions, expression);
  desk_write(&r->folder, "m.yaml", text);
  if (csv) desk_write(&r->folder, "d.csv", csv);
  desk_path(&r->folder, "m.yaml", r->path);
  desk_path(&r->folder, "d.csv", r->csv);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
}

static void close_rig(table_rig *r)
{
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
  unlink(r->path);
  unlink(r->csv);
  assert_int_equal(rmdir(r->folder.path), 0);
}

static const char *messages_of(table_rig *r, ga_status *status)
{
  static char text[4096];
  const ga_model_opts opts = ga_model_defaults();
  text[0] = '\0';
  *status = ga_model_read_file(r->ctx, r->path, &opts, &r->model);
  for (int i = 0; r->model && i < ga_model_n_messages(r->model); i++) {
    const ga_model_message *m = ga_model_message_at(r->model, i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s:%d: %s\n", m->file, m->line, m->text);
  }
  return text;
}

/* The signal s at the start. */
static double value_of(const char *functions, const char *expression, const char *csv)
{
  table_rig r;
  ga_status status;
  open_rig(&r, functions, expression, csv);
  const char *said = messages_of(&r, &status);
  if (status) fail_msg("%s", said);
  const ga_machine *m = ga_model_machine(r.model);
  double q[8], v[8], x[8], value = NAN;
  ga_stepper *st = NULL;
  ga_start_opts start = ga_start_defaults();
  start.h = 1e-3;
  assert_int_equal(ga_machine_initial(m, q, v, x), GA_OK);
  assert_int_equal(ga_stepper_create(r.ctx, ga_machine_system(m), NULL, &st), GA_OK);
  assert_int_equal(ga_stepper_start(st, &start, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  const int index = ga_machine_find_signal(m, "s");
  assert_int_equal(ga_machine_signals(m, NULL, ga_stepper_state(st), 1, &index, &value), GA_OK);
  ga_stepper_destroy(&st);
  close_rig(&r);
  return value;
}

static void near(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected))))
    fail_msg("%.15g instead of %.15g", found, expected);
}

static void formulas_are_called(void **state)
{
  (void)state;
  near(value_of("  q: {type: formula, arguments: [K, p], let: {s: p^2 + c, r: sqrt(s)}, value: K*p/r}",
                "3*q(m, m.rate) + 1", NULL),
       3 * 0.5 * 0.3 / sqrt(0.09 + 2) + 1);
  near(value_of("  q: {type: formula, arguments: [a, b], value: w(a)*half(b)}\n"
                "  half: {type: formula, arguments: [a], value: a/2 + w(0)}\n  w: 3*t + 1",
                "q(m, 4)", NULL),
       2.5 * (2 + 1));
}

static void columns_are_read(void **state)
{
  static const char *const FILES[] = {
      "time,force\n0,1\n1,3\n", "0 1\n1 3\n", "# made by hand\ntime [ms];force [kN]\n0;1e-3\n1000;3e-3\n",
      "\xef\xbb\xbftime (s)\tforce (N)\r\n0\t1\r\n1\t3\r\n\r\n", "\"time, s\",\"force [N]\"\n0,+1\n1,3e0\n"};
  (void)state;
  for (int i = 0; i < COUNT(FILES); i++)
    near(value_of("  f: {type: table, file: d.csv}", "f(m)", FILES[i]), 2);
  near(value_of("  f: {type: table, file: d.csv, columns: [t, b]}", "f(m)",
                "a,t,b [mm]\n9,0,1000\n8,1,3000\n"),
       2);
  near(value_of("  f: {type: table, file: d.csv, columns: [2, 1]}", "f(m)", "1,0,x\n3,1,y\n"), 2);
}

static void mistakes_have_their_place(void **state)
{
  static const struct {
    const char *functions, *expression, *csv, *place, *word;
  } CASE[] = {
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,1\n1,x\n", "d.csv:3:", "a number in column 2"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,1\n0,2\n", "d.csv:3:", "larger"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,1\n", "d.csv:", "two lines"},
      {"  f: {type: table, file: d.csv}", "f(m)", "", "d.csv:", "lines of numbers"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,nan\n1,2\n", "d.csv:2:", "a number"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a;b\n0;1,5\n1;2\n", "d.csv:2:", "a number"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b,c\n0,1,2\n1,2,3\n", "d.csv:1:", "columns"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b [furlong]\n0,1\n1,2\n", "d.csv:1:", "unit"},
      {"  f: {type: table, file: d.csv, columns: [a, z]}", "f(m)", "a,b\n0,1\n1,2\n", "m.yaml:4:", "'z'"},
      {"  f: {type: table, file: d.csv, columns: [1, 3]}", "f(m)", "0,1\n1,2\n", "m.yaml:4:", "'3'"},
      {"  f: {type: table, file: e.csv}", "f(m)", NULL, "m.yaml:4:", "e.csv"},
      {"  f: {type: table, file: ../d.csv}", "f(m)", NULL, "m.yaml:4:", "folder"},
      {"  f: {type: table, file: d.csv, rows: [[0, 1], [1, 2]]}", "f(m)", NULL, "m.yaml:4:", "file"},
      {"  f: {type: formula, arguments: [a], value: a + b}", "f(m)", NULL, "m.yaml:4:", "'b'"},
      {"  f: {type: formula, arguments: [c], value: c}", "f(m)", NULL, "m.yaml:4:", "parameter"},
      {"  f: {type: formula, arguments: [a, a], value: a}", "f(m)", NULL, "m.yaml:4:", "already"},
      {"  f: {type: formula, arguments: [a], value: 'a +'}", "f(m)", NULL, "m.yaml:4:", "ends too early"},
      {"  f: {type: formula, arguments: [a], let: {b: c2}, value: a}", "f(m)", NULL, "m.yaml:4:", "c2"},
      {"  f: {type: formula, arguments: [], value: 1}", "f(m)", NULL, "m.yaml:4:", "names"},
      {"  f: {type: formula, value: 1}", "f(m)", NULL, "m.yaml:4:", "arguments"},
      {"  f: {type: formula, arguments: [a], value: g(a)}\n  g: {type: formula, arguments: [a], value: f(a)}",
       "f(m)", NULL, "m.yaml:", "itself"},
      {"  f: {type: formula, arguments: [a, b], value: a*b}", "f(m)", NULL, "m.yaml:6:", "2 arguments"}};
  (void)state;
  for (int i = 0; i < COUNT(CASE); i++) {
    table_rig r;
    ga_status status;
    open_rig(&r, CASE[i].functions, CASE[i].expression, CASE[i].csv);
    const char *said = messages_of(&r, &status);
    if (!status || !strstr(said, CASE[i].place) || !strstr(said, CASE[i].word))
      fail_msg("case %d, status %d: %s", i, (int)status, said);
    close_rig(&r);
  }
}

/* The content of the file belongs to the model: a resumed run notices a change. */
static void content_is_noticed(void **state)
{
  char data[2][64];
  (void)state;
  for (int i = 0; i < 2; i++) {
    table_rig r;
    ga_status status;
    open_rig(&r, "  f: {type: table, file: d.csv}", "f(m)", i ? "0,1\n1,3\n" : "0,1\n1,4\n");
    messages_of(&r, &status);
    assert_int_equal(status, GA_OK);
    snprintf(data[i], sizeof data[i], "%s", ga_model_data(r.model));
    close_rig(&r);
  }
  assert_true(data[0][0] && strcmp(data[0], data[1]) != 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_are_called),
      cmocka_unit_test(columns_are_read),
      cmocka_unit_test(mistakes_have_their_place),
      cmocka_unit_test(content_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
