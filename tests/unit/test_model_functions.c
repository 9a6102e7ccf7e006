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
#include "seeds.h"

static const char MODEL[] = "galpha: 1\nparameters: {c: 2}\nfunctions:\n%s\n"
                            "bodies: {m: {type: scalar, mass: 1, position: 0.5, velocity: 0.3}}\n"
                            "signals: {s: {expression: '%s'}}\n";

typedef struct table_rig {
  desk_folder folder;
  ga_context *ctx;
  ga_model *model;
  char path[256], csv[256];
} table_rig;

static void open_text(table_rig *r, const char *text, const char *csv)
{
  memset(r, 0, sizeof *r);
  strcpy(r->folder.path, "/tmp/galpha-functions-XXXXXX");
  assert_non_null(mkdtemp(r->folder.path));
  desk_write(&r->folder, "m.yaml", text);
  if (csv) desk_write(&r->folder, "d.csv", csv);
  desk_path(&r->folder, "m.yaml", r->path);
  desk_path(&r->folder, "d.csv", r->csv);
  assert_int_equal(ga_context_create(NULL, &r->ctx), GA_OK);
}

static void open_rig(table_rig *r, const char *functions, const char *expression, const char *csv)
{
  char text[4096];
  snprintf(text, sizeof text, MODEL, functions, expression);
  open_text(r, text, csv);
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
      "\xef\xbb\xbftime (s)\tforce (N)\r\n0\t1\r\n1\t3\r\n\r\n", "\"time, s\",\"force [N]\"\n0,+1\n1,3e0\n",
      "t;F\n0,0;1,00\n1,0;3,\n", "t\tF\n-0,5\t0\n1\t3\n", "t,F\n0,1,\n1,3,,\n"};
  (void)state;
  for (int i = 0; i < COUNT(FILES); i++)
    near(value_of("  f: {type: table, file: d.csv}", "f(m)", FILES[i]), 2);
  near(value_of("  f: {type: table, file: d.csv, columns: [t, b]}", "f(m)",
                "a,t,b [mm]\n9,0,1000\n8,1,3000\n"),
       2);
  near(value_of("  f: {type: table, file: d.csv, columns: [2, 1]}", "f(m)", "1,0,x\n3,1,y\n"), 2);
}

/* z = 1 + 2 x + 3 y + 4 x y at (0.5, 1.5) */
static void grids_are_read(void **state)
{
  static const char *const FILES[] = {
      ",1,2\n0,4,7\n1,10,17\n",
      "height,1,2\n0,4,7\n1,10,17\n",
      "height [mm];1;2\r\n0;4e3;7000\r\n1;10000;17e3\r\n",
      "z\t1\t2\n0\t4\t7\n\n1\t10\t17\n",
      "z 1 2\n0 4 7\n1 10 17\n",
      "x,y,z\n0,1,4\n0,2,7\n1,1,10\n1,2,17\n",
      "x [mm],y [cm],z [km]\n1000,200,17e-3\n0,200,7e-3\n0,100,4e-3\n1000,100,10e-3\n",
      "0 1 4\n1 1 10\n0 2 7\n1 2 17\n",
  };
  (void)state;
  for (int i = 0; i < COUNT(FILES); i++) {
    near(value_of("  f: {type: grid, file: d.csv}", "f(m, 1.5)", FILES[i]), 1 + 1 + 4.5 + 3);
    near(value_of("  f: {type: grid, file: d.csv, interpolation: linear}", "f(m, 1.5)", FILES[i]), 1 + 1 + 4.5 + 3);
  }
  near(value_of("  f: {type: grid, file: d.csv, columns: [b, a, h]}", "f(m, 1.5)",
                "n,a,b,h [mm]\n1,1,0,4e3\n2,2,0,7e3\n3,1,1,1e4\n4,2,1,17e3\n"),
       9.5);
  near(value_of("  f: {type: grid, file: d.csv, outside: linear}", "f(m + 1, 1.5)", ",1,2\n0,4,7\n1,10,17\n"), 17.5);
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
      {"  f: {type: table, file: d.csv}", "f(m)", "a;b\n0;1,5,0\n1;2\n", "d.csv:2:", "a number"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a;b\n0;1.000,5\n1;2\n", "d.csv:2:", "a number"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,5,1\n1,5,3\n", "d.csv:2:", "2 columns, as in the first line"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b\n0,1\n1,3,5\n", "d.csv:3:", "2 columns, as in the first line"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b,c\n0,1,2\n1,2,3\n", "d.csv:1:", "columns"},
      {"  f: {type: table, file: d.csv}", "f(m)", "a,b [furlong]\n0,1\n1,2\n", "d.csv:1:", "unit"},
      {"  f: {type: table, file: d.csv, columns: [a, z]}", "f(m)", "a,b\n0,1\n1,2\n", "m.yaml:4:", "'z'"},
      {"  f: {type: table, file: d.csv, columns: [1, 3]}", "f(m)", "0,1\n1,2\n", "m.yaml:4:", "'3'"},
      {"  f: {type: table, file: e.csv}", "f(m)", NULL, "m.yaml:4:", "e.csv"},
      {"  f: {type: table, file: ../d.csv}", "f(m)", NULL, "m.yaml:4:", "folder"},
      {"  f: {type: table, file: d.csv, rows: [[0, 1], [1, 2]]}", "f(m)", NULL, "m.yaml:4:", "file"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n0,4,7\n1,10,x\n", "d.csv:3:", "a number in column 3"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n0,4,7\n1,10\n", "d.csv:3:", "a number in column 3"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n0,4,7\n1,10,17,9\n", "d.csv:3:", "3 columns"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n0,4,nan\n1,10,17\n", "d.csv:2:", "a number"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",2,1\n0,4,7\n1,10,17\n", "d.csv:1:", "ascend"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n1,4,7\n1,10,17\n", "d.csv:3:", "larger"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n1,4,7\n", "d.csv:", "along both"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1\n1,4\n2,5\n", "d.csv:", "along both"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", ",1,2\n,4,7\n1,10,17\n", "d.csv:2:", "column 1"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "0,1,2,3\n0,4,7,8\n1,10,17,19\n", "d.csv:1:", "empty or a title"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "0,1,2\n0,4,7\n1,10,17\n", "d.csv:", "there are 3 points"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "x [mm] / y [mm],1,2\n0,4,7\n1,10,17\n", "d.csv:1:", "unit of the values alone"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "z [furlong],1,2\n0,4,7\n1,10,17\n", "d.csv:1:", "unit"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "x,y,z\n0,1,4\n0,2,7\n1,1,10\n", "d.csv:", "there are 3 points"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "x,y,z\n0,1,4\n0,2,7\n1,1,10\n1,1,10\n", "d.csv:", "twice"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "x,y,z\n0,1,4\n0,2,7\n0,3,10\n", "d.csv:", "along both"},
      {"  f: {type: grid, file: d.csv}", "f(m, 1.5)", "", "d.csv:", "lines of numbers"},
      {"  f: {type: grid, file: d.csv, columns: [x, y]}", "f(m, 1.5)", "x,y,z\n0,1,4\n0,2,7\n", "m.yaml:4:", "three names"},
      {"  f: {type: grid, file: d.csv, columns: [x, y, w]}", "f(m, 1.5)", "x,y,z\n0,1,4\n0,2,7\n", "m.yaml:4:", "'w'"},
      {"  f: {type: grid, file: d.csv, x: [0, 1]}", "f(m, 1.5)", ",1,2\n0,4,7\n1,10,17\n", "m.yaml:4:", "x, y and z, or file"},
      {"  f: {type: grid, columns: [1, 2, 3]}", "f(m, 1.5)", NULL, "m.yaml:4:", "x, y and z, or file"},
      {"  f: {type: grid, x: [0, 1], z: [[1, 2], [2, 3]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "y"},
      {"  f: {type: grid, x: [1, 0], y: [0, 1], z: [[1, 2], [2, 3]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "x"},
      {"  f: {type: grid, x: [0, 1], y: [0, 1], z: [[1, 2], [2]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "z"},
      {"  f: {type: grid, x: [0, 1], y: [0, 1], z: [[1, 2]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "z"},
      {"  f: {type: grid, x: [0], y: [0, 1], z: [[1, 2]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "two or more"},
      {"  f: {type: grid, x: [0, 1], y: [0, .nan], z: [[1, 2], [2, 3]]}", "f(m, 1.5)", NULL, "m.yaml:4:", "y"},
      {"  f: {type: grid, x: [0, 1], y: [0, 1], z: [[1, 2], [2, 3]], interpolation: monotone}", "f(m, 1.5)", NULL, "m.yaml:4:", "spline"},
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

/* ---- A random road ---- */

/* A measured profile of a poor road: waves of random phase from 20 m to 0.7 m, a point each 0.1 m, three tracks; and at
 * 9 m a bump as wide as the time of a few steps. */
static void write_profile(char *text, size_t size, int as_points)
{
  rig_random random = rig_seed(5);
  double phase[28];
  size_t used = (size_t)snprintf(text, size, as_points ? "x,y,z [mm]\n" : "height [mm],-1,0,1\n");
  for (int n = 0; n < 28; n++) phase[n] = rig_uniform(&random, 0, 6.28);
  for (int i = 0; i < 181; i++) {
    if (!as_points) used += (size_t)snprintf(text + used, size - used, "%.1f", 0.1 * i - 1);
    for (int k = -1; k <= 1; k++) {
      const double x = 0.1 * i - 1;
      double z = 20 * exp(-pow((x - 9) / 0.2, 2));
      for (int n = 0; n < 28; n++) z += 2.5 / (n + 1) * sin(0.314 * (n + 1) * x + phase[n] + 0.1 * k * n);
      used += (size_t)(as_points ? snprintf(text + used, size - used, "%.1f,%d,%.6f\n", x, k, z)
                                 : snprintf(text + used, size - used, ",%.6f%s", z, k == 1 ? "\n" : ""));
    }
  }
  assert_true(used < size);
}

static const char DRIVE[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nfunctions: {hills: {type: grid, file: d.csv}}\nbodies:\n"
    "  wheel: {type: rigid, mass: 400, inertia: [8, 1, 8], position: [0, 0.3, 0.33], velocity: [10, 0, 0], omega: [0, 30, 0]}\n"
    "joints:\n"
    "  upright: {type: planar, a: ground, b: wheel, at: {position: [0, 0.3, 0.33], rotation: {z_axis: [0, 1, 0]}}}\n"
    "roads: {road: {height: 'hills(x, y)'}}\ntyres:\n"
    "  tyre: {type: brush, wheel: wheel, road: road, radius: 0.34, stiffness: 2.2e5, damping: 600, mu: 0.9,\n"
    "         slip_stiffness: 18, cornering_stiffness: 14}\n";

/* h 0: error control of the tolerance tol. Returns the steps. */
static long drive(const char *csv, double h, double tol, double out[3])
{
  static const char *const SIGNAL[] = {"wheel.z", "wheel.vz", "tyre.fz"};
  table_rig r;
  ga_status status;
  double q[16], v[16], x[16];
  ga_stepper *st = NULL;
  ga_simulator *sim = NULL;
  ga_simulate_opts opts = ga_simulate_defaults();
  open_text(&r, DRIVE, csv);
  const char *said = messages_of(&r, &status);
  if (status) fail_msg("%s", said);
  const ga_machine *m = ga_model_machine(r.model);
  opts.t_end = 1.5, opts.fixed_h = h;
  if (tol > 0) opts.rtol = opts.rtol_v = opts.atol = opts.atol_v = tol;
  assert_int_equal(ga_machine_initial(m, q, v, x), GA_OK);
  assert_int_equal(ga_stepper_create(r.ctx, ga_machine_system(m), NULL, &st), GA_OK);
  assert_int_equal(ga_simulator_create(r.ctx, st, &opts, &sim), GA_OK);
  assert_int_equal(ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_int_equal(ga_simulator_run(sim), GA_OK);
  for (int i = 0; i < 3; i++) {
    const int index = ga_machine_find_signal(m, SIGNAL[i]);
    assert_int_equal(ga_machine_signals(m, NULL, ga_stepper_state(st), 1, &index, &out[i]), GA_OK);
  }
  const long steps = ga_simulator_stats(sim)->steps;
  ga_simulator_destroy(&sim);
  ga_stepper_destroy(&st);
  close_rig(&r);
  return steps;
}

/* Error control against small steps; both forms of the file are the same road. */
static void random_road(void **state)
{
  static const double SIZE[] = {0.01, 0.2, 4000}, TOL[] = {1e-3, 1e-5, 1e-7};
  static char csv[2][32768];
  double exact[3], out[3], points[3], worst[3] = {0, 0, 0};
  (void)state;
  if (rig_brief()) return;
  for (int i = 0; i < 2; i++) write_profile(csv[i], sizeof csv[i], i);
  drive(csv[0], 5e-5, 0, exact);
  for (int k = 0; k < 3; k++) {
    const long steps = drive(csv[0], 0, TOL[k], out);
    drive(csv[1], 0, TOL[k], points);
    for (int i = 0; i < 3; i++) {
      assert_true(out[i] == points[i]);
      worst[k] = fmax(worst[k], fabs(out[i] - exact[i]) / SIZE[i]);
    }
    assert_true(steps > 40);
  }
  assert_true(worst[0] < 0.5 && worst[1] < 0.05 && worst[2] < 2e-3);
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
      cmocka_unit_test(columns_are_read), cmocka_unit_test(grids_are_read),
      cmocka_unit_test(mistakes_have_their_place),
      cmocka_unit_test(random_road),
      cmocka_unit_test(content_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
