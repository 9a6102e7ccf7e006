/* Units and quantities. */
#include "expr_rig.h"

#define PI 3.14159265358979323846

static const struct {
  const char *text, *expected;
  double value;
} quantity_rows[] = {
    {"12 mm", "m", 0.012},
    {"12mm", "m", 0.012},
    {" -12  mm ", "m", -0.012},
    {"+3 m", "m", 3},
    {"- 3 m", "m", -3},
    {"1e3 m", "m", 1000},
    {"2.5e-3 km", "m", 2.5},
    {".5 cm", "m", 0.005},
    {"7 dm", "m", 0.7},
    {"3 um", "m", 3e-6},
    {"3 µm", "m", 3e-6},
    {"3 μm", "m", 3e-6},
    {"5 nm", "m", 5e-9},
    {"2 inch", "m", 0.0508},
    {"2 in", "m", 0.0508},
    {"1 ft", "m", 0.3048},
    {"1 yd", "m", 0.9144},
    {"1 mile", "m", 1609.344},
    {"30 deg", "rad", PI / 6},
    {"30°", "rad", PI / 6},
    {"60 arcmin", "rad", PI / 180},
    {"3600 arcsec", "rad", PI / 180},
    {"0.5 rev", "rad", PI},
    {"1 turn", "rad", 2 * PI},
    {"5 mrad", "rad", 0.005},
    {"3000 rpm", "rad/s", 100 * PI},
    {"1 rev/min", "rad/s", PI / 30},
    {"360 deg/s", "rad/s", 2 * PI},
    {"50 Hz", "1/s", 50},
    {"2 kHz", "Hz", 2000},
    {"5 min", "s", 300},
    {"2 h", "s", 7200},
    {"1 d", "s", 86400},
    {"10 ms", "s", 0.01},
    {"7 us", "s", 7e-6},
    {"36 km/h", "m/s", 10},
    {"100 mph", "m/s", 44.704},
    {"9.81 m/s^2", "m/s^2", 9.81},
    {"9.81 m/s²", "m/s^2", 9.81},
    {"9.81 m/(s*s)", "m/s^2", 9.81},
    {"9.81 m/s/s", "m/s^2", 9.81},
    {"9.81 m*s^-2", "m/s^2", 9.81},
    {"9.81 m·s^-2", "m/s^2", 9.81},
    {"2 g0", "m/s^2", 19.6133},
    {"250 g", "kg", 0.25},
    {"3 mg", "kg", 3e-6},
    {"1.5 t", "kg", 1500},
    {"2 kg", "kg", 2},
    {"1 lb", "kg", 0.45359237},
    {"16 oz", "kg", 0.45359237},
    {"5 kN", "N", 5000},
    {"5 kN*m", "N*m", 5000},
    {"5 kN m", "N*m", 5000},
    {"2 kg m^2", "kg*m^2", 2},
    {"2 kg  m² / s^2", "N*m", 2},
    {"4 N m s/rad", "N*m*s/rad", 4},
    {"1 kgf", "N", 9.80665},
    {"1 lbf", "N", 4.4482216152605},
    {"2 MPa", "Pa", 2e6},
    {"210 GPa", "N/m^2", 2.1e11},
    {"1 bar", "Pa", 1e5},
    {"3 mbar", "Pa", 300},
    {"1 atm", "Pa", 101325},
    {"1 psi", "Pa", 6894.757293168361},
    {"1 psi", "lbf/in^2", 6894.757293168361},
    {"3 kJ", "J", 3000},
    {"3 kWh", "J", 1.08e7},
    {"1 eV", "J", 1.602176634e-19},
    {"2 kcal", "J", 8368},
    {"75 kW", "W", 75000},
    {"1 hp", "W", 745.69987158227022},
    {"1 hp", "ft*lbf/s", 745.69987158227022},
    {"12 V", "V", 12},
    {"10 mA", "A", 0.01},
    {"4.7 kohm", "ohm", 4700},
    {"4.7 kΩ", "ohm", 4700},
    {"100 nF", "F", 1e-7},
    {"10 µF", "F", 1e-5},
    {"3 mH", "H", 0.003},
    {"2 C", "C", 2},
    {"1 Ah", "A*s", 3600},
    {"5 mT", "T", 0.005},
    {"1 Wb", "V*s", 1},
    {"1 S", "1/ohm", 1},
    {"20 degC", "K", 293.15},
    {"-40 °C", "K", 233.15},
    {"300 K", "K", 300},
    {"5 W/degC", "W/K", 5},
    {"5 %", "1", 0.05},
    {"0.3", "1", 0.3},
    {"0.3", "m", 0.3},
    {"0.3", NULL, 0.3},
    {"5 kN/mm", "N/m", 5e6},
    {"3 N*m/deg", "N*m/rad", 540 / PI},
    {"0.1 N*s/mm", "N*s/m", 100},
    {"7850 kg/m^3", "kg/m^3", 7850},
    {"7.85 g/cm^3", "kg/m^3", 7850},
    {"2 l", "m^3", 0.002},
    {"3 mL", "m^3", 3e-6},
    {"6 mm^2", "m^2", 6e-6},
    {"6 mm²", "m^2", 6e-6},
    {"2 cm^4", "m^4", 2e-8},
    {"2 m³", "m^3", 2},
    {"5 1/s", "1/s", 5},
    {"2 (m/s)^2", "m^2/s^2", 2},
    {"2 ((m))", "m", 2},
    {"1 dag", "kg", 0.01},
    {"1 hPa", "Pa", 100},
    {"1 mol", "mol", 1},
    {"3 cd", "cd", 3},
    {"0.05 N*m/A", "N*m/A", 0.05},
    {"0.05 V*s/rad", "V*s/rad", 0.05},
    {"8 m^0", "1", 8},
};

static void quantities(void **state)
{
  fixture *f = *state;
  for (int i = 0; i < COUNT(quantity_rows); i++) {
    double value = NAN;
    if (ga_quantity_parse(f->ctx, quantity_rows[i].text, quantity_rows[i].expected, &value, NULL, NULL)) {
      fail_msg("%s", ga_context_error(f->ctx)->text);
    }
    if (!(fabs(value - quantity_rows[i].value) <= 4e-16 * fabs(quantity_rows[i].value))) {
      fail_msg("%s: %.17g instead of %.17g", quantity_rows[i].text, value, quantity_rows[i].value);
    }
  }
}

/* What stands for a whole number of a smaller unit is that number divided, to the last bit. */
static void prefixes_are_exact(void **state)
{
  fixture *f = *state;
  for (int i = 1; i < 3000; i++) {
    char text[40];
    double value;
    snprintf(text, sizeof text, "%d mm", i);
    assert_int_equal(ga_quantity_parse(f->ctx, text, "m", &value, NULL, NULL), GA_OK);
    assert_true(value == i / 1000.0);
  }
}

static void messages(void **state)
{
  static const struct {
    const char *text, *expected_unit;
    int column, length;
    const char *found, *expected, *nearest, *problem;
  } rows[] = {
      {"12 mm", "kg", 4, 2, "mm", "a mass (kg)", "", "'12 mm' is a length (m)"},
      {"  12 mm ", "kg", 6, 3, "mm ", "a mass (kg)", "", "'12 mm ' is a length (m)"},
      {"50 Hz", "rad/s", 4, 2, "Hz", "an angular velocity (rad/s)", "", "'50 Hz' is a frequency (Hz)"},
      {"5 N*m", "N*m/rad", 3, 3, "N*m", "a torsional stiffness (N*m/rad)", "",
       "'5 N*m' is a torque or energy (N*m)"},
      {"5 m", "1", 3, 1, "m", "a plain number", "", "'5 m' is a length (m)"},
      {"5 %", "m", 3, 1, "%", "a length (m)", "", "'5 %' is a plain number"},
      {"3 kg*m^2/s^4", "kg*A", 3, 10, "kg*m^2/s^4", "a quantity in kg*A", "",
       "'3 kg*m^2/s^4' is a quantity in m^2*kg/s^4"},
      {"3 1/kg", "m", 3, 4, "1/kg", "a length (m)", "", "'3 1/kg' is a quantity in 1/kg"},
      {"", NULL, 1, 0, "", "a number, then a unit", "", "there is nothing to read"},
      {" -", NULL, 3, 0, "", "a number, then a unit", "", "there is nothing to read"},
      {"mm", NULL, 1, 2, "mm", "a number, then a unit", "", "this is not a number"},
      {"inf", NULL, 1, 3, "inf", "a number, then a unit", "", "this is not a number"},
      {"nan m", NULL, 1, 5, "nan m", "a number, then a unit", "", "this is not a number"},
      {"1e999 m", NULL, 1, 5, "1e999", "", "", "the number is too large"},
      {"1e308 km", NULL, 1, 5, "1e308", "", "", "the number is too large in SI units"},
      {"1e-400 m", NULL, 1, 6, "1e-400", "", "", "the number is too small, it would become 0"},
      {"5 KN", NULL, 3, 2, "KN", "a known unit", "kN", "'KN' is unknown"},
      {"5 RPM", NULL, 3, 3, "RPM", "a known unit", "rpm", "'RPM' is unknown"},
      {"5 dgeC", NULL, 3, 4, "dgeC", "a known unit", "degC", "'dgeC' is unknown"},
      {"5 kdeg", NULL, 3, 4, "kdeg", "a known unit", "deg", "'kdeg' is unknown"},
      {"5 m2", NULL, 3, 2, "m2", "a known unit", "m^2", "'m2' is unknown"},
      {"5 furlongs", NULL, 3, 8, "furlongs", "a known unit", "", "'furlongs' is unknown"},
      {"5 J/kg K", NULL, 8, 1, "K", "'*', '/' or parentheses", "", "is it above or below the fraction bar?"},
      {"5 kN m)", NULL, 7, 1, ")", "'*', '/', '^' or the end", "", "something follows the unit"},
      {"5 kN*", NULL, 6, 0, "", "a unit", "", "the text ends too early"},
      {"5 kN**m", NULL, 5, 2, "**", "a power such as ^2", "", "'**' is no sign between units"},
      {"5/s", NULL, 2, 1, "/", "a unit", "", "this is not a unit"},
      {"5 m^", NULL, 5, 0, "", "a whole number from -9 to 9", "", "this is not a power"},
      {"5 m^x", NULL, 5, 1, "x", "a whole number from -9 to 9", "", "this is not a power"},
      {"5 m^0.5", NULL, 5, 3, "0.5", "a whole number from -9 to 9", "", "this is not a power"},
      {"5 m^10", NULL, 5, 2, "10", "a whole number from -9 to 9", "", "this is not a power"},
      {"5 (m", NULL, 5, 0, "", "'*', '/' or ')'", "",
       "the parenthesis opened in column 3 is not closed here"},
      {"5 m)", NULL, 4, 1, ")", "'*', '/', '^' or the end", "", "something follows the unit"},
      {"5 µmm", NULL, 3, 3, "µmm", "a known unit", "µm", "'µmm' is unknown"},
      {"5 Ym^9*Ym^9", NULL, 8, 4, "Ym^9", "", "", "the unit is too large or too small"},
      {"5 (m^9)^9*(m^9)^9", NULL, 11, 7, "(m^9)^9", "", "", "the unit is too large or too small"},
      {"5 ((((((((((((((((((m))))))))))))))))))", NULL, 19, 1, "(", "", "", "nested deeper than 16 levels"},
  };
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_text_error error;
    ga_dimension dimension;
    char whole[GA_ERROR_TEXT];
    double value = 17;
    const ga_status status =
        ga_quantity_parse(f->ctx, rows[i].text, rows[i].expected_unit, &value, &dimension, &error);
    if (status != GA_ERR_ARGUMENT) fail_msg("'%s' was taken", rows[i].text);
    assert_true(value == 17);
    if (error.column != rows[i].column || error.length != rows[i].length) {
      fail_msg("%s: column %d, length %d", rows[i].text, error.column, error.length);
    }
    assert_string_equal(error.found, rows[i].found);
    assert_string_equal(error.expected, rows[i].expected);
    assert_string_equal(error.nearest, rows[i].nearest);
    const char *nearest = rows[i].nearest, *expected = rows[i].expected;
    snprintf(whole, sizeof whole, "quantity '%s', column %d: %s%s%s%s%s%s", rows[i].text, rows[i].column,
             rows[i].problem, *expected ? ", expected " : "", expected, *nearest ? "; did you mean '" : "",
             nearest, *nearest ? "'?" : "");
    assert_string_equal(ga_context_error(f->ctx)->text, whole);
  }
}

/* What people write instead of units, and what is suggested. */
static void other_spellings(void **state)
{
  static const struct {
    const char *word, *unit;
  } rows[] = {{"sec", "s"},    {"Secs", "s"},    {"seconds", "s"},  {"msec", "ms"},     {"hr", "h"},
              {"metres", "m"}, {"Newton", "N"},  {"Nm", "N*m"},     {"kNm", "kN*m"},    {"Nmm", "N*mm"},
              {"Ns", "N*s"},   {"Nms", "N*m*s"}, {"mPas", "mPa*s"}, {"kgm2", "kg*m^2"}, {"Kg", "kg"},
              {"KHz", "kHz"},  {"HZ", "Hz"},     {"Mpa", "MPa"},    {"degrees", "deg"}, {"kph", "km/h"},
              {"kmh", "km/h"}, {"lbs", "lb"},    {"inches", "in"},  {"feet", "ft"},     {"tonne", "t"},
              {"volts", "V"},  {"percent", "%"}, {"grad", "deg"},   {"xyzzy", ""}};
  fixture *f = *state;
  for (int i = 0; i < COUNT(rows); i++) {
    ga_text_error error;
    char text[32];
    double factor;
    snprintf(text, sizeof text, "5 %s", rows[i].word);
    assert_int_equal(ga_quantity_parse(f->ctx, text, NULL, &factor, NULL, &error), GA_ERR_ARGUMENT);
    if (strcmp(error.nearest, rows[i].unit) != 0) fail_msg("%s: '%s' is suggested", text, error.nearest);
    if (rows[i].unit[0]) assert_int_equal(ga_unit_parse(f->ctx, rows[i].unit, &factor, NULL, NULL), GA_OK);
  }
}

static void units(void **state)
{
  fixture *f = *state;
  ga_dimension dimension, other;
  ga_text_error error;
  double factor;
  char text[80];
  assert_int_equal(ga_unit_parse(f->ctx, "kN*m/deg", &factor, &dimension, &error), GA_OK);
  assert_near(factor, 1000 * 180 / PI, 1e-15, "kN*m/deg");
  assert_int_equal(ga_unit_parse(f->ctx, "kg*m^2/s^2/rad", NULL, &other, NULL), GA_OK);
  assert_memory_equal(&dimension, &other, sizeof other);
  ga_dimension_text(text, sizeof text, &dimension);
  assert_string_equal(text, "a torsional stiffness (N*m/rad)");
  ga_dimension_text(text, 9, &dimension);
  assert_string_equal(text, "a torsio");
  ga_dimension_text(text, 0, &dimension);
  assert_int_equal(ga_unit_parse(f->ctx, "degC", &factor, &dimension, NULL), GA_OK);
  assert_true(factor == 1 && dimension.power[4] == 1);
  assert_int_equal(ga_unit_parse(f->ctx, "", NULL, NULL, &error), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 1);
  assert_int_equal(ga_unit_parse(f->ctx, "N x", NULL, NULL, &error), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 3);
  assert_int_equal(ga_unit_parse(f->ctx, NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_unit_parse(NULL, "m", NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_quantity_parse(f->ctx, "1 m", "mm", NULL, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_quantity_parse(f->ctx, NULL, "mm", &factor, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_quantity_parse(f->ctx, "1 m", "mmm", &factor, NULL, &error), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 0); /* the caller's unit is wrong, not the text */
  assert_int_equal(ga_quantity_parse(f->ctx, "1 m", "mm", &factor, &dimension, NULL), GA_OK);
  assert_true(factor == 1 && dimension.power[0] == 1);
}

/* Every row of the table can be read, no name occurs twice, and no name with a prefix is another's. */
static void table(void **state)
{
  fixture *f = *state;
  const char *name;
  int n = 0, prefixes;
  while ((name = ga_unit_list(n, &prefixes)) != NULL) {
    double factor = 0;
    if (ga_unit_parse(f->ctx, name, &factor, NULL, NULL)) fail_msg("%s", ga_context_error(f->ctx)->text);
    assert_true(factor > 0);
    for (int i = 0; i < n; i++) assert_string_not_equal(name, ga_unit_list(i, NULL));
    if (prefixes) {
      char with[40];
      double kilo;
      snprintf(with, sizeof with, "M%s", name);
      assert_int_equal(ga_unit_parse(f->ctx, with, &kilo, NULL, NULL), GA_OK);
      assert_near(kilo / factor, 1e6, 1e-15, with);
    }
    n++;
  }
  assert_true(n > 50);
  assert_null(ga_unit_list(-1, NULL));
}

static void reading_takes_no_memory(void **state)
{
  fixture *f = *state;
  const long before = f->count;
  double value;
  assert_int_equal(ga_quantity_parse(f->ctx, "3 kN*m", "J", &value, NULL, NULL), GA_OK);
  assert_int_equal(ga_quantity_parse(f->ctx, "3 kN*n", "J", &value, NULL, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(f->count, before);
}

/* ---- Dimensions of expressions ---- */

static const struct {
  const char *text, *unit; /* unit NULL: refused */
  int column;
} dimension_cases[] = {
    {"T*w", "W", 0},
    {"T*phi", "J", 0},
    {"F*v", "W", 0},
    {"x", "m", 0},
    {"-2*x + 0.1", "m", 0},
    {"x/t", "m/s", 0},
    {"v^2/x", "m/s^2", 0},
    {"x^-1", "1/m", 0},
    {"sqrt(v*v + 1)", "m/s", 0},
    {"cbrt(x^3)", "m", 0},
    {"x/hypot(x, 3)", "1", 0},
    {"x*sin(phi)", "m", 0},
    {"x*phi + x", "m", 0}, /* a radian is a ratio of lengths */
    {"atan2(x, x)", "rad", 0},
    {"atan(v/v)", "rad", 0},
    {"if(x > 0.5, F, -F)", "N", 0},
    {"if(x > 0, 0, if(t > 1 && x < 2, F, 2*F))*v", "W", 0},
    {"step5(t, 0, 0, 1, F)", "N", 0},
    {"min(x, 2, x)", "m", 0},
    {"2^phi", "1", 0},
    {"sign(F)*v", "m/s", 0},
    {"exp(-t/t)", "1", 0},
    {"1 + x + F", NULL, 1},
    {"2*(F - T)", NULL, 4},
    {"x*(x < F)", NULL, 4},
    {"sin(x)", NULL, 1},
    {"3 + exp(t)", NULL, 5},
    {"x^t", NULL, 1},
    {"x^phi", NULL, 1},
    {"sqrt(x)", NULL, 1},
    {"x^0.5", NULL, 1},
    {"max(x, F)", NULL, 1},
    {"if(t > 1, x, F)", NULL, 14},
    {"if(t > 1, x, 2*F)", NULL, 14},
    {"step5(t, 0, x, 1, F)", NULL, 1},
    {"x^101", NULL, 1},
};

static void dimensions_of_expressions(void **state)
{
  fixture *f = *state;
  static const char *const names[] = {"x", "v", "t", "F", "T", "w", "phi"}, *const units[] = {
                                                                                "m",   "m/s",   "s",  "N",
                                                                                "N*m", "rad/s", "rad"};
  enum { N = sizeof names / sizeof *names };
  ga_symbol symbol[N] = {{0}};
  ga_dimension dimension[N], is;
  for (int i = 0; i < N; i++) {
    symbol[i] = (ga_symbol){.name = names[i], .kind = GA_SYMBOL_VARIABLE, .index = i};
    assert_int_equal(ga_unit_parse(f->ctx, units[i], NULL, &dimension[i], NULL), GA_OK);
  }
  for (size_t i = 0; i < sizeof dimension_cases / sizeof *dimension_cases; i++) {
    ga_expr *e = NULL;
    ga_text_error error;
    char unit[64];
    const char *text = dimension_cases[i].text, *expected = dimension_cases[i].unit;
    assert_int_equal(ga_expr_compile(f->ctx, text, symbol, N, NULL, &e), GA_OK);
    const ga_status status = ga_expr_dimension(f->ctx, e, dimension, &is, &error);
    ga_dimension_unit(unit, sizeof unit, &is);
    if ((status == GA_OK) != (expected != NULL)) fail_msg("%s: status %d, %s", text, status, unit);
    if (expected) assert_string_equal(unit, expected);
    if (!expected) assert_int_equal(error.column, dimension_cases[i].column);
    ga_expr_destroy(&e);
  }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(quantities),
      CASE(prefixes_are_exact),
      CASE(messages),
      CASE(other_spellings),
      CASE(units),
      CASE(table),
      CASE(reading_takes_no_memory),
      CASE(dimensions_of_expressions),
  };
  return cmocka_run_group_tests_name("expr units", tests, NULL, NULL);
}
