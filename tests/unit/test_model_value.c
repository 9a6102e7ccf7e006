/* Values: numbers, quantities, expressions, parameters, and what is said where they are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_text_rig.h"

static const char parameters[] = "parameters: {L: 12 mm, m: 3, n: 4, k: -2, w: 30 deg, width: 5}\n";

/* The value of key x below the parameters, which stand on line 1. */
static ga__tree *open_x(desk *k, const char *x)
{
  char text[8192];
  desk_open(k);
  snprintf(text, sizeof text, "%sx: %s", parameters, x);
  ga__tree *root = desk_read(k, text);
  assert_non_null(root);
  return ga__map_get(root, "x");
}

static void numbers(void **state)
{
  static const struct {
    const char *text, *unit;
    double value;
  } rows[] = {
      {"0.5", "m", 0.5},
      {"1e-3", "m", 1e-3},
      {"-2", "m", -2},
      {"+.5", "m", 0.5},
      {"12 mm", "m", 0.012},
      {"'12 mm'", "m", 0.012},
      {"12mm", NULL, 0.012},
      {"-12 mm", "m", -0.012},
      {"5 (m)", "m", 5},
      {"45°", "rad", 3.14159265358979323846 / 4},
      {"9.81 m/s^2", "m/s^2", 9.81},
      {"2*m", "kg", 6},
      {"L", "m", 0.012},
      {"-L", "m", -0.012},
      {"L/2 + 3[mm]", "m", 0.009},
      {"3[mm]", "m", 0.003},
      {"-3[mm] + L", "m", 0.009},
      {"9.81*L", "kg", 9.81 * 0.012}, /* a plain number may have any dimension */
      {"L*20", "kg", 0.24},
      {"2*m*L", "kg", 0.072}, /* m has no unit */
      {"2/L", "kg", 2 / 0.012},
      {"2*pi*L", "kg", 2 * 3.14159265358979323846 * 0.012},
      {"(L)", "kg", 0.012},
      {"L^2", "kg", 0.012 * 0.012},
      {"m + 3[kg]", "kg", 6},
      {"m*L^2/12", "kg*m^2", 3 * 0.012 * 0.012 / 12},
      {"2 * pi", "1", 2 * 3.14159265358979323846},
      {"e", "1", 2.71828182845904523536},
      {"sqrt(m + 1)", "1", 2},
      {"if(n > 3, 1, 2)", "1", 1},
      {"m", "kg", 3},
      {"|\n  2 *\n  m\n", "kg", 6},
      {"!!str 5", "m", 5},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    double value = NAN;
    const ga__tree *x = open_x(&k, rows[i].text);
    const int ok = ga__value_number(&k.r, x, rows[i].unit, &value);
    assert_messages(&k, "", rows[i].text);
    assert_int_equal(ok, 1);
    if (!(fabs(value - rows[i].value) <= 1e-15 * fabs(rows[i].value)))
      fail_msg("%s: %.17g instead of %.17g", rows[i].text, value, rows[i].value);
    desk_close(&k);
  }
}

static void wrong_numbers(void **state)
{
  static const struct {
    const char *text, *unit, *messages;
  } rows[] = {
      {"12 mmm", "m", "m.yaml:2:7 UNKNOWN_UNIT 'mmm' ~mm"},
      {"'12 mmm'", "m", "m.yaml:2:8 UNKNOWN_UNIT 'mmm' ~mm"},
      {"12 mm", "kg", "m.yaml:2:7 WRONG_DIMENSION 'mm'"},
      {"12 mm", "1", "m.yaml:2:7 WRONG_DIMENSION 'mm'"},
      {"L", "kg", "m.yaml:2:4 WRONG_DIMENSION 'L'"},
      {"-w", "m", "m.yaml:2:4 WRONG_DIMENSION '-w'"},
      {"'3[mm]'", "kg", "m.yaml:2:4 WRONG_DIMENSION '3[mm]'"},
      {"-0.5 [kg]", "m", "m.yaml:2:4 WRONG_DIMENSION '-0.5 [kg]'"},
      {"L + 0.1", "kg", "m.yaml:2:4 WRONG_DIMENSION 'L + 0.1'"},
      {"2*m - L", "kg", "m.yaml:2:4 WRONG_DIMENSION '2*m - L'"},
      {"L - 2[kg]", "m", "m.yaml:2:4 SUM_OF_DIMENSIONS 'L - 2[kg]'"},
      {"L + w", NULL, "m.yaml:2:4 SUM_OF_DIMENSIONS 'L + w'"},
      {"1e999", "kg", "m.yaml:2:4 SYNTAX '1e999'"},
      {"1e-999", "kg", "m.yaml:2:4 SYNTAX '1e-999'"},
      {".nan", "kg", "m.yaml:2:4 VALUE_NOT_FINITE '.nan'"},
      {"-.INF", "kg", "m.yaml:2:4 VALUE_NOT_FINITE '-.INF'"},
      {"Infinity", NULL, "m.yaml:2:4 VALUE_NOT_FINITE 'Infinity'"},
      {"", "kg", "m.yaml:2:3 WRONG_FORM 'nothing'"},
      {"''", "kg", "m.yaml:2:4 WRONG_FORM 'nothing'"},
      {"[1]", "kg", "m.yaml:2:4 WRONG_FORM 'a list'"},
      {"{a: 1}", NULL, "m.yaml:2:4 WRONG_FORM 'a map'"},
      {"2*wdith", "m", "m.yaml:2:6 UNKNOWN_NAME 'wdith' ~width"},
      {"nothing_like_it", "m", "m.yaml:2:4 UNKNOWN_NAME 'nothing_like_it'"},
      {"2*sqr(4)", "m", "m.yaml:2:6 UNKNOWN_FUNCTION 'sqr' ~sqrt"},
      {"2 L", "m", "m.yaml:2:6 WRONG_DIMENSION 'L'"},
      {"2 width", "m", "m.yaml:2:6 PARAMETER_AS_UNIT 'width'"},
      {"3 m + 20 mm", "m", "m.yaml:2:8 UNIT_OUTSIDE_BRACKETS '+ 20 mm'"},
      {"'1,5'", "kg", "m.yaml:2:6 DECIMAL_COMMA ','"},
      {"2*(3", "kg", "m.yaml:2:8 SYNTAX"},
      {"1/(m - 3)", "kg", "m.yaml:2:4 UNDEFINED"},
      {"log(k)", "kg", "m.yaml:2:4 UNDEFINED"},
      {"2*exp(1000)", "kg", "m.yaml:2:6 UNDEFINED '2*exp(1000)'"},
      {"|\n  2*wdith\n", "m", "m.yaml:2:4 UNKNOWN_NAME 'wdith' ~width"},
      {"sin", "m", "m.yaml:2:7 FUNCTION_AS_VALUE"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    double value = 17;
    const ga__tree *x = open_x(&k, rows[i].text);
    assert_int_equal(ga__value_number(&k.r, x, rows[i].unit, &value), 0);
    assert_true(value == 17);
    assert_messages(&k, rows[i].messages, rows[i].text);
    desk_close(&k);
  }
}

/* Products with small whole numbers are warned of. */
static void likely_dimensions(void **state)
{
  static const struct {
    const char *text, *unit, *messages;
  } rows[] = {
      {"2*L", "kg", "m.yaml:2:4 warning DOUBTFUL_DIMENSION '2*L'"},
      {"-L/2", "1", "m.yaml:2:4 warning DOUBTFUL_DIMENSION '-L/2'"},
      {"0.5*L*3/12", "s", "m.yaml:2:4 warning DOUBTFUL_DIMENSION '0.5*L*3/12'"},
      {"2 * 3[kg]", "m", "m.yaml:2:4 warning DOUBTFUL_DIMENSION '2 * 3[kg]'"},
      {"2*L", "m", ""},
      {"2*L", NULL, ""},
      {"2*w", "1", ""}, /* turns and radians */
      {"2*L + m", "kg", ""},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    double value;
    const ga__tree *x = open_x(&k, rows[i].text);
    assert_int_equal(ga__value_number(&k.r, x, rows[i].unit, &value), 1);
    assert_messages(&k, rows[i].messages, rows[i].text);
    desk_close(&k);
  }
}

static void lists(void **state)
{
  static const struct {
    const char *text, *messages;
  } wrong[] = {
      {"[1, 2]", "m.yaml:2:4 WRONG_COUNT =2"},
      {"[1, 2, 3, 4]", "m.yaml:2:4 WRONG_COUNT =4"},
      {"1", "m.yaml:2:4 WRONG_FORM 'a number'"},
      {"", "m.yaml:2:3 WRONG_FORM 'nothing'"},
      {"{a: 1}", "m.yaml:2:4 WRONG_FORM 'a map'"},
      {"[1 kg, 2, 3*x]", "m.yaml:2:7 WRONG_DIMENSION 'kg'\n"
                         "m.yaml:2:16 UNKNOWN_NAME 'x'"},
  };
  desk k;
  double v[3];
  (void)state;
  const ga__tree *x = open_x(&k, "[L, 2 cm, -1]");
  assert_int_equal(ga__value_numbers(&k.r, x, 3, "m", v), 1);
  assert_true(v[0] == 0.012 && v[1] == 0.02 && v[2] == -1);
  assert_messages(&k, "", "a list");
  desk_close(&k);
  for (int i = 0; i < COUNT(wrong); i++) {
    x = open_x(&k, wrong[i].text);
    assert_int_equal(ga__value_numbers(&k.r, x, 3, "m", v), 0);
    assert_messages(&k, wrong[i].messages, wrong[i].text);
    desk_close(&k);
  }
}

static void whole_numbers(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {"7", ""},
      {"2*n - 1", ""},
      {"2.5", "m.yaml:2:4 NOT_WHOLE '2.5' =2.5"},
      {"n/3", "m.yaml:2:4 NOT_WHOLE 'n/3' =1.33333333"},
      {"11", "m.yaml:2:4 OUT_OF_RANGE =11"},
      {"-1", "m.yaml:2:4 OUT_OF_RANGE =-1"},
      {"1e300", "m.yaml:2:4 NOT_WHOLE '1e300' =1e+300"},
      {"7 m", "m.yaml:2:6 WRONG_DIMENSION 'm'"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    long value = -5;
    const ga__tree *x = open_x(&k, rows[i].text);
    const int ok = ga__value_int(&k.r, x, 0, 10, &value);
    assert_messages(&k, rows[i].messages, rows[i].text);
    assert_int_equal(ok, !rows[i].messages[0]);
    assert_int_equal(value, ok ? 7 : -5);
    desk_close(&k);
  }
}

static void texts_and_choices(void **state)
{
  static const char *const names[] = {"linear", "monotone", "spline"};
  static const struct {
    const char *text;
    int value;
    const char *messages;
  } choices[] = {
      {"spline", 2, ""},
      {"'linear'", 0, ""},
      {"splin", -1, "m.yaml:2:4 UNKNOWN_CHOICE 'splin' ~spline"},
      {"xyz", -1, "m.yaml:2:4 UNKNOWN_CHOICE 'xyz'"},
      {"", -1, "m.yaml:2:3 WRONG_FORM 'nothing'"},
      {"[a]", -1, "m.yaml:2:4 WRONG_FORM 'a list'"},
  };
  static const struct {
    const char *text;
    int value;
    const char *messages;
  } bools[] = {
      {"true", 1, ""},
      {"false", 0, ""},
      {"yes", 1, ""},
      {"no", 0, ""},
      {"True", -1, "m.yaml:2:4 UNKNOWN_CHOICE 'True' ~true"},
      {"1", -1, "m.yaml:2:4 UNKNOWN_CHOICE '1'"},
  };
  desk k;
  (void)state;
  for (int i = 0; i < COUNT(choices); i++) {
    int value = -1;
    const ga__tree *x = open_x(&k, choices[i].text);
    assert_int_equal(ga__value_choice(&k.r, x, 3, names, &value), choices[i].value >= 0);
    assert_int_equal(value, choices[i].value);
    assert_messages(&k, choices[i].messages, choices[i].text);
    desk_close(&k);
  }
  for (int i = 0; i < COUNT(bools); i++) {
    int value = -1;
    const ga__tree *x = open_x(&k, bools[i].text);
    assert_int_equal(ga__value_bool(&k.r, x, &value), bools[i].value >= 0);
    assert_int_equal(value, bools[i].value);
    assert_messages(&k, bools[i].messages, bools[i].text);
    desk_close(&k);
  }
  const char *text = NULL;
  const ga__tree *x = open_x(&k, "\"a b\\tc\"");
  assert_int_equal(ga__value_text(&k.r, x, &text), 1);
  assert_string_equal(text, "a b\tc");
  desk_close(&k);
  x = open_x(&k, "");
  assert_int_equal(ga__value_text(&k.r, x, &text), 0);
  assert_messages(&k, "m.yaml:2:3 WRONG_FORM 'nothing'", "no text");
  desk_close(&k);
  x = open_x(&k, "[]");
  assert_int_equal(ga__value_text(&k.r, x, &text), 0);
  assert_messages(&k, "m.yaml:2:4 WRONG_FORM 'a list'", "a list");
  desk_close(&k);
}

static void keys(void **state)
{
  static const char *const known[] = {"mass", "inertia", "position"};
  desk k;
  (void)state;
  ga__tree *x = open_x(&k, "{mass: 1, mas: 2, \"a\\eb\": 3, inertia: 4}");
  assert_string_equal(ga__map_get(x, "mass")->text, "1");
  assert_string_equal(ga__map_get(x, "inertia")->text, "4");
  assert_null(ga__map_get(x, "position"));
  assert_null(ga__map_get(NULL, "position"));
  assert_null(ga__map_get(x->child[0], "position"));
  assert_int_equal(ga__expect_map(&k.r, x), 1);
  ga__unknown_keys(&k.r, x, 3, known);
  assert_int_equal(ga__expect_list(&k.r, x), 0);
  assert_int_equal(ga__expect_map(&k.r, x->child[0]), 0);
  assert_messages(&k,
                  "m.yaml:2:4 WRONG_FORM 'a map'\n"
                  "m.yaml:2:11 WRONG_FORM 'a number'\n"
                  "m.yaml:2:14 UNKNOWN_KEY 'mas' ~mass\n"
                  "m.yaml:2:22 UNKNOWN_KEY 'a b'",
                  "keys");
  desk_close(&k);
}

static void formulas(void **state)
{
  static const struct {
    const char *text, *formula;
  } rows[] = {
      {"m*crank.angle + k", "3*crank.angle + (-2)"},
      {"sin(t)*L", "sin(t)*0.012"},
      {"m(m)", "m(3)"},
      {"3[m] + mm", "3[m] + mm"},
      {"m", "3"},
      {"2", "2"},
  };
  desk k;
  const char *text;
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    const ga__tree *x = open_x(&k, rows[i].text);
    assert_int_equal(ga__value_formula(&k.r, x, &text), 1);
    assert_string_equal(text, rows[i].formula);
    assert_messages(&k, "", rows[i].text);
    desk_close(&k);
  }
  const ga__tree *x = open_x(&k, "");
  assert_int_equal(ga__value_formula(&k.r, x, &text), 0);
  assert_messages(&k, "m.yaml:2:3 WRONG_FORM 'nothing'", "nothing");
  desk_close(&k);
}

/* Texts at and beyond what expressions may have. */
static void long_texts(void **state)
{
  static char text[GA_EXPR_LENGTH + 100];
  desk k;
  double value;
  const char *formula;
  (void)state;
  memset(text, ' ', sizeof text - 1);
  memcpy(text, "'1 +", 4);
  memcpy(text + GA_EXPR_LENGTH - 1, "1'", 3);
  const ga__tree *x = open_x(&k, text);
  assert_int_equal(ga__value_number(&k.r, x, "1", &value), 1);
  assert_true(value == 2);
  desk_close(&k);
  memcpy(text + GA_EXPR_LENGTH - 1, "    2'", 7);
  x = open_x(&k, text);
  assert_int_equal(ga__value_number(&k.r, x, "1", &value), 0);
  assert_int_equal(ga__value_formula(&k.r, x, &formula), 0);
  assert_int_equal(ga__errors(k.r.messages), 2);
  desk_close(&k);
}

/* ---- Parameters ---- */

static double parameter(desk *k, const char *name)
{
  ga__number number = {.value = NAN};
  const ga__lookup found = ga__parameter_find(&k->r, NULL, name, strlen(name), &number, NULL);
  return found == GA__KNOWN_NAME ? number.value : NAN;
}

static void any_order(void **state)
{
  desk k;
  (void)state;
  desk_open(&k);
  desk_read(&k, "parameters:\n  area: a*b\n  a: 2 cm\n  b: 3*a\n  half: -b/2\n  pi2: 2*pi\n");
  assert_messages(&k, "", "parameters");
  assert_true(fabs(parameter(&k, "area") - 0.0012) < 1e-17);
  assert_true(fabs(parameter(&k, "half") + 0.03) < 1e-16);
  assert_true(parameter(&k, "pi2") == 2 * 3.14159265358979323846);
  assert_true(isnan(parameter(&k, "c")));
  desk_close(&k);
}

static void wrong_parameters(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {" a: b\n b: c\n c: 2*a + 1", "m.yaml:2:2 CIRCULAR parameter/a"},
      {" x: a\n a: b\n b: a", "m.yaml:3:2 CIRCULAR parameter/a"},
      {" a: a", "m.yaml:2:2 CIRCULAR parameter/a"},
      {" a: 1/0\n b: a\n c: a + d\n d: 1", "m.yaml:2:5 UNDEFINED parameter/a"},
      {" length: 1\n a: 2*lenght", "m.yaml:3:7 UNKNOWN_NAME parameter/a 'lenght' ~length"},
      {" 2a: 1\n t: 1\n a.b: 1\n mü: 2", "m.yaml:2:2 NAME_NOT_ALLOWED '2a'\n"
                                         "m.yaml:3:2 NAME_NOT_ALLOWED 't'\n"
                                         "m.yaml:4:2 NAME_NOT_ALLOWED 'a.b'\n"
                                         "m.yaml:5:2 NAME_NOT_ALLOWED 'mü'"},
      {" a1234567890123456789012345678901234567890123456789012345678901234: 1",
       "m.yaml:2:2 NAME_TOO_LONG parameter/a12345678901234567890123456789012345678901234567890123456789... "
       "=65 =63"},
      {" a: [1, 2]", "m.yaml:2:5 WRONG_FORM parameter/a 'a list'"},
      {" a: 1\n a: 2", "m.yaml:3:2 GIVEN_TWICE 'a'"},
      {" [1]", "m.yaml:2:2 WRONG_FORM parameters 'a list'"},
      {"", ""},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    char text[1024];
    desk k;
    desk_open(&k);
    snprintf(text, sizeof text, "parameters:\n%s", rows[i].text);
    desk_read(&k, text);
    assert_messages(&k, rows[i].messages, text);
    desk_close(&k);
  }
}

static void overrides(void **state)
{
  static const char text[] = "parameters:\n  L: 12 mm\n  n: 3\n  m: 2*n\n  c1: c2\n  c2: c1";
  static const struct {
    const char *set[3];
    double L, m;
    const char *messages;
  } rows[] = {
      {{"L=2 cm", "c1=1"}, 0.02, 6, ""},
      {{"n=5", "c1=1", "n= 7 "}, 0.012, 14, ""},
      {{"m=n + 100[mm]", "c2=1"}, 0.012, 3.1, ""},
      {{" L =L2", "c2=1"}, NAN, 6, ":0:0 UNKNOWN_NAME parameter/L 'L2' ~c2"},
      {{"l=1", "c2=1"}, 0.012, 6, ":0:0 UNKNOWN_REFERENCE 'l' ~L"},
      {{"quite_other=1", "c2=1"}, 0.012, 6, ":0:0 UNKNOWN_REFERENCE 'quite_other'"},
      {{"n", "c2=1"}, 0.012, 6, ":0:0 WRONG_FORM parameters ''n''"},
      {{"n=", "c2=1"}, 0.012, NAN, ":0:0 WRONG_FORM parameter/n 'nothing'"},
      {{"L=3 kg", "c2=1"}, 3, 6, ":0:0 WRONG_DIMENSION parameter/L '3 kg'"},
      {{"L=15", "c2=1"}, 15, 6, ":0:0 warning UNIT_NOT_GIVEN parameter/L '15'"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    desk_open(&k);
    k.opts.set = rows[i].set;
    while (k.opts.n_set < 3 && rows[i].set[k.opts.n_set]) k.opts.n_set++;
    desk_read(&k, text);
    const double L = parameter(&k, "L"), m = parameter(&k, "m");
    assert_messages(&k, rows[i].messages, rows[i].set[0]);
    if (!(L == rows[i].L || (isnan(L) && isnan(rows[i].L)))) fail_msg("%s: L = %g", rows[i].set[0], L);
    if (!(m == rows[i].m || (isnan(m) && isnan(rows[i].m)))) fail_msg("%s: m = %g", rows[i].set[0], m);
    desk_close(&k);
  }
}

static void unused_parameters(void **state)
{
  desk k;
  double value;
  const char *text;
  (void)state;
  desk_open(&k);
  ga__tree *root = desk_read(&k, "parameters: {a: 1, b: 2*a, c: 3, d: 4}\nx: c\ny: sin(d*t)");
  assert_int_equal(root->n, 2); /* parameters are taken out */
  assert_true(ga__value_number(&k.r, ga__map_get(root, "x"), "1", &value));
  assert_true(ga__value_formula(&k.r, ga__map_get(root, "y"), &text));
  ga__parameters_unused(&k.r);
  assert_messages(&k, "m.yaml:1:20 warning NOT_USED parameter/b", "a to d");
  desk_close(&k);
}

/* Each needs the next: the first asked for waits for all of them. */
static void long_chains(void **state)
{
  (void)state;
  for (int n = 200; n <= 201; n++) {
    static char text[8192];
    ga__writer w = {text, sizeof text, 0};
    desk k;
    desk_open(&k);
    ga__write(&w, "parameters:\n");
    for (int i = 1; i < n; i++) ga__write(&w, "  p%d: p%d + 1\n", i, i + 1);
    ga__write(&w, "  p%d: 1\n", n);
    desk_read(&k, text);
    assert_messages(
        &k,
        n == 200 ? ""
                 : "m.yaml:202:3 LIMIT_EXCEEDED parameter/p201 'parameters that wait for each other' =200",
        "a chain");
    if (n == 200) assert_true(parameter(&k, "p1") == 200);
    desk_close(&k);
  }
}

/* Sentences are made of the data: one of each form. All others are looked at as data, and by tests/cli. */
static void sentences(void **state)
{
  static const struct {
    const char *text, *unit, *says;
  } rows[] = {
      {"12 mmm", "m",
       "mass of point 'a': '12 mmm': 'mmm' is unknown, expected a known unit; did you mean 'mm'?"},
      {"12 mm", "kg", "mass of point 'a': '12 mm' is a length (m), expected a mass (kg)"},
      {"-w", "m", "mass of point 'a': '-w' is an angle (rad), expected a length (m)"},
      {"L - 2[kg]", "m", "mass of point 'a': 'L - 2[kg]' is a sum of a length (m) and a mass (kg)"},
      {"[1]", "kg", "mass of point 'a': expected a mass (kg), found a list"},
      {"", NULL, "mass of point 'a': expected a number, found nothing"},
      {".nan", "kg", "mass of point 'a': '.nan' is not finite, expected a mass (kg)"},
      {"1/(m - 3)", "kg",
       "point 'a': mass has no value: '1/(m - 3)': 1 / 0 does not exist, the divisor must not be 0"},
      {"2 width", "m",
       "mass of point 'a': '2 width': 'width' is a parameter, not a unit; for a product write number*width"},
  };
  desk k;
  double value;
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    const ga__tree *x = open_x(&k, rows[i].text);
    ga__messages_begin(k.r.messages, "point", "a");
    ga__messages_enter(k.r.messages, "mass");
    assert_int_equal(ga__value_number(&k.r, x, rows[i].unit, &value), 0);
    assert_first_sentence(&k, rows[i].says);
    desk_close(&k);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers),
      cmocka_unit_test(wrong_numbers),
      cmocka_unit_test(sentences),
      cmocka_unit_test(likely_dimensions),
      cmocka_unit_test(lists),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(texts_and_choices),
      cmocka_unit_test(keys),
      cmocka_unit_test(formulas),
      cmocka_unit_test(long_texts),
      cmocka_unit_test(any_order),
      cmocka_unit_test(wrong_parameters),
      cmocka_unit_test(overrides),
      cmocka_unit_test(unused_parameters),
      cmocka_unit_test(long_chains),
  };
  return cmocka_run_group_tests_name("model value", tests, NULL, NULL);
}
