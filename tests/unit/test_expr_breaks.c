/* Breaks of functions of time: every corner and jump is found, in its place, with what jumps there. */
#include "expr_rig.h"
#include <float.h>

#define PI 3.14159265358979323846

enum { MOST = 64 };

typedef struct expected {
  double t;
  int order;
} expected;

/* All breaks of f in (from, to], in their order. */
static int list_breaks(const ga_function *f, double from, double to, expected *out)
{
  int n = 0;
  ga_break b;
  for (double t = from; t < to && n < MOST; t = b.after) {
    assert_int_equal(ga_function_next_break(f, t, to, &b), GA_OK);
    if (!isfinite(b.before)) {
      assert_true(b.clear > t);
      b.after = b.clear;
      continue;
    }
    assert_true(b.before < b.after && b.after > t && b.after - b.before < 1e-9);
    out[n].t = 0.5 * (b.before + b.after);
    out[n++].order = b.order;
  }
  return n;
}

static void check(const char *what, const ga_function *f, double from, double to, int n, const expected *want)
{
  expected found[MOST];
  const int n_found = list_breaks(f, from, to, found);
  if (n_found != n) fail_msg("%s: %d breaks, expected %d (the first is %.9g)", what, n_found, n, found[0].t);
  for (int i = 0; i < n; i++) {
    assert_near(found[i].t, want[i].t, 1e-9, what);
    if (found[i].order != want[i].order)
      fail_msg("%s: at t = %.9g derivative %d jumps, expected %d", what, want[i].t, found[i].order,
               want[i].order);
  }
}

static ga_function *expression(fixture *f, const char *text)
{
  ga_function_expr_opts opts = ga_function_expr_defaults();
  ga_function *out = NULL;
  opts.text = text;
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &out), GA_OK);
  return out;
}

static const struct {
  const char *text;
  int n;
  expected want[6];
} EXPRESSIONS[] = {
    {"sin(3*t) + t^2*exp(-t)", 0, {{0, 0}}},
    {"if(t > 1.5 && t < 1.7, 4, 0)", 2, {{1.5, 0}, {1.7, 0}}},
    {"if(t <= 1.5 || t >= 1.7, 4, t)", 2, {{1.5, 0}, {1.7, 0}}},
    {"4*(t >= 1) - 4*(t >= 1.000001)", 2, {{1, 0}, {1.000001, 0}}},
    {"if(t < 1, 0.5*t^2, t - 0.5)", 1, {{1, 2}}}, /* no jump, and no corner, although there is an if */
    {"if(t < 1, t, 1)", 1, {{1, 1}}},
    {"abs(t - 0.25)", 1, {{0.25, 1}}},
    {"abs(cos(t))", 3, {{PI / 2, 1}, {1.5 * PI, 1}, {2.5 * PI, 1}}},
    {"min(t, 1, 3 - t)", 2, {{1, 1}, {2, 1}}},
    {"max(0, sin(t))", 3, {{PI, 1}, {2 * PI, 1}, {3 * PI, 1}}},
    {"sign(t - 2) + 3", 1, {{2, 0}}},
    {"floor(t/3)", 3, {{3, 0}, {6, 0}, {9, 0}}},
    {"ceil(0.5*t - 3.25)", 5, {{0.5, 0}, {2.5, 0}, {4.5, 0}, {6.5, 0}, {8.5, 0}}},
    {"mod(t, 4)", 2, {{4, 0}, {8, 0}}},
    {"mod(-t, 4)", 2, {{4, 0}, {8, 0}}},
    {"step(t, 5)", 1, {{5, 0}}},
    {"step(t, 5, 1, 6, 3)", 2, {{5, 2}, {6, 2}}},
    {"step5(t, 5, 1, 6, 3)", 2, {{5, 3}, {6, 3}}},
    {"hypot(t - 2, t - 2)", 1, {{2, 1}}},
    {"atan2(sin(t), cos(t))", 2, {{PI, 0}, {3 * PI, 0}}},
    {"mod(3, 1 + 0.5*t)", 2, {{1, 0}, {4, 0}}},
    {"step(t, 4, t, 5, 1)", 2, {{4, 2}, {5, 2}}},
    {"atan2(0, cos(t))", 3, {{PI / 2, 0}, {1.5 * PI, 0}, {2.5 * PI, 0}}},
    {"if(sin(t) > 0.999, 1, 0)",
     4,
     {{PI / 2 - 0.04472508716, 0},
      {PI / 2 + 0.04472508716, 0},
      {2.5 * PI - 0.04472508716, 0},
      {2.5 * PI + 0.04472508716, 0}}},
    {"max(0, 4*(t > 8))", 1, {{8, 0}}},                       /* equal operands before are no kinks */
    {"max(sin(t), cos(t - pi/2)) + step(t, 3)", 1, {{3, 0}}}, /* nor are those equal but for rounding */
    {"if(2 > 1, t, abs(t - 4))", 0, {{0, 0}}},                /* what is never reached has none */
    {"abs(3) * min(2, 1)", 0, {{0, 0}}},
    {"if(t - 3, 1, 1)", 1, {{3, 3}}}, /* a single time that is never evaluated */
    {"!(t - 3)", 1, {{3, 3}}},
    {"t && t - 3", 1, {{3, 3}}},
    {"exp(-((t - 5)/0.001)^2)", 0, {{0, 0}}},
    {"if(t > 9.99999999, 1, 0)", 1, {{9.99999999, 0}}},
};

static void expressions(void **state)
{
  for (int i = 0; i < COUNT(EXPRESSIONS); i++) {
    ga_function *f = expression(*state, EXPRESSIONS[i].text);
    check(EXPRESSIONS[i].text, f, 0.01, 10, EXPRESSIONS[i].n, EXPRESSIONS[i].want);
    ga_function_destroy(&f);
  }
}

static unsigned side_at(const ga_function *f, double t)
{
  unsigned side = 1;
  assert_int_equal(ga_function_side(f, t, &side), GA_OK);
  return side;
}

/* Sides are others beyond every jump and corner; where they are the same on both sides of a short time,
 * nothing jumps. */
static void sides(void **state)
{
  for (int i = 0; i < COUNT(EXPRESSIONS); i++) {
    const char *text = EXPRESSIONS[i].text;
    ga_function *f = expression(*state, text);
    const int sharp = strncmp(text, "hypot", 5) != 0; /* which has a corner where both arguments are 0 only */
    int jumps = 0;
    for (int k = 0; k < EXPRESSIONS[i].n; k++) {
      const expected *at = &EXPRESSIONS[i].want[k];
      if (at->order <= sharp && side_at(f, at->t - 1e-8) == side_at(f, at->t + 1e-8))
        fail_msg("%s: sides do not change at %.9g", text, at->t);
      jumps |= at->order <= sharp;
    }
    if (jumps) assert_true(ga_function_has_edges(f));
    for (double t = 0.01; t < 10; t += 0.00137) {
      double before[2], behind;
      assert_int_equal(ga_function_eval(f, t, 0, before, NULL), GA_OK);
      assert_int_equal(ga_function_eval(f, t + 1e-7, 0, &behind, NULL), GA_OK);
      if (side_at(f, t) == side_at(f, t + 1e-7)) assert_near(behind, before[0], 1e-3, text);
    }
    ga_function_destroy(&f);
  }
}

/* A pulse of any width, anywhere in a long time. */
static void narrow_pulses(void **state)
{
  static const double at[] = {0.1, 499.5, 987.654321}, width[] = {1e-6, 1e-3, 1};
  for (int i = 0; i < COUNT(at); i++)
    for (int k = 0; k < COUNT(width); k++) {
      char text[96];
      snprintf(text, sizeof text, "if(t > %.17g && t < %.17g, 1, 0)", at[i], at[i] + width[k]);
      const expected want[] = {{at[i], 0}, {at[i] + width[k], 0}};
      ga_function *f = expression(*state, text);
      check(text, f, 0, 1000, 2, want);
      ga_function_destroy(&f);
    }
}

/* However late, a jump lies between two neighbours among the numbers, the second of which is the end of the
 * break; the beginning is some roundings before. Written with the time S at which it all begins. */
static const struct {
  const char *text;
  int n, order;
} LATE[] = {
    {"if(t > %1$.17g + 1.3 && t < %1$.17g + 1.31, 10, 0)", 2, 0},
    {"4*(t >= %1$.17g + 1.3) + 7*(%1$.17g + 1.3 <= t)", 1, 0}, /* at the same number */
    {"floor((t - %1$.17g)/0.7)", 2, 0},
    {"mod(floor(t/0.75), 2)*(t - t + 1)", 2, 0},
    {"abs(t - %1$.17g - 0.3)", 1, 1},
    {"min(t - %1$.17g, 1) + %1$.17g", 1, 1},
    {"if(t < %1$.17g + 1, 0, (t - %1$.17g - 1)^2)", 1, 2},
};

static int find_all(const ga_function *f, double from, double to, ga_break *out)
{
  int n = 0;
  for (double t = from; n < MOST && t < to; t = out[n++].after) {
    assert_int_equal(ga_function_next_break(f, t, to, &out[n]), GA_OK);
    if (!isfinite(out[n].before)) break;
  }
  return n;
}

static void late_breaks_are_sharp(void **state)
{
  static const double starts[] = {0, 3e3, 12345.678, 3e6, 1.2e7};
  for (int k = 0; k < COUNT(starts); k++)
    for (int i = 0; i < COUNT(LATE); i++) {
      char text[192];
      ga_break b[MOST];
      const double S = starts[k];
      snprintf(text, sizeof text, LATE[i].text, S);
      ga_function *f = expression(*state, text);
      const int n = find_all(f, S + 0.01, S + 2, b);
      if (n < LATE[i].n || n > LATE[i].n + (LATE[i].text[0] == 'm'))
        fail_msg("%s from %g: %d breaks", text, S, n);
      for (int j = 0; j < n; j++) {
        double left[3], right[3];
        assert_int_equal(b[j].order, LATE[i].order);
        if (!(b[j].before < b[j].after && b[j].after - b[j].before < 12 * DBL_EPSILON * (S + 2)))
          fail_msg("%s: a break from %.17g to %.17g", text, b[j].before, b[j].after);
        ga_function_eval(f, nextafter(b[j].after, -DBL_MAX), 2, left, NULL);
        ga_function_eval(f, b[j].after, 2, right, NULL);
        if (!(fabs(right[LATE[i].order] - left[LATE[i].order]) > 0.5))
          fail_msg("%s: nothing jumps at %.17g", text, b[j].after);
      }
      ga_function_destroy(&f);
    }
}

/* Two jumps some roundings apart are one break, with one on each side of it. */
static void neighbouring_jumps(void **state)
{
  ga_function *f = expression(*state, "(t > 1e6) + 3*(t > 1e6*(1 + 20*2.220446049250313e-16))");
  ga_break b[MOST];
  double left, right;
  assert_int_equal(find_all(f, 999999, 1000001, b), 1);
  ga_function_eval(f, b[0].before, 0, &left, NULL);
  ga_function_eval(f, b[0].after, 0, &right, NULL);
  assert_true(left == 0 && right == 4 && b[0].order == 0);
  ga_function_destroy(&f);
}

static void motions(void **state)
{
  static const struct {
    ga_motion_law law;
    int n;
    expected want[4];
  } laws[] = {{GA_MOTION_LINEAR, 2, {{1, 1}, {3, 1}}},
              {GA_MOTION_TRAPEZOID, 4, {{1, 2}, {1.4, 2}, {2.6, 2}, {3, 2}}},
              {GA_MOTION_CYCLOIDAL, 2, {{1, 3}, {3, 3}}},
              {GA_MOTION_POLY345, 2, {{1, 3}, {3, 3}}},
              {GA_MOTION_POLY4567, 2, {{1, 3}, {3, 3}}}};
  for (int i = 0; i < COUNT(laws); i++) {
    ga_motion_opts opts = ga_motion_defaults();
    ga_function *f = NULL;
    opts.law = laws[i].law, opts.t_start = 1, opts.duration = 2, opts.to = 5, opts.ramp = 0.2;
    assert_int_equal(ga_function_create_motion(((fixture *)*state)->ctx, &opts, &f), GA_OK);
    check(ga_motion_name(laws[i].law), f, 0, 100, laws[i].n, laws[i].want);
    ga_function_destroy(&f);
  }
}

static ga_function *table(fixture *f, ga_interpolation how)
{
  static const double x[] = {0, 1, 2, 4, 5}, y[] = {0, 0, 3, 1, 0};
  ga_table_opts opts = ga_table_defaults();
  ga_function *out = NULL;
  opts.n = 5, opts.x = x, opts.y = y, opts.interpolation = how;
  assert_int_equal(ga_function_create_table(f->ctx, &opts, &out), GA_OK);
  return out;
}

/* After the start of the search at its first point. The spline is smooth where it is not a knot of its own.
 */
static void tables(void **state)
{
  static const expected linear[] = {{1, 1}, {2, 1}, {4, 3}, {5, 1}},
                        monotone[] = {{1, 2}, {2, 2}, {4, 2}, {5, 1}},
                        spline[] = {{1, 3}, {2, 3}, {4, 3}, {5, 1}};
  static const expected *const want[] = {linear, monotone, spline};
  for (int how = GA_INTERPOLATE_LINEAR; how <= GA_INTERPOLATE_SPLINE; how++) {
    ga_function *f = table(*state, (ga_interpolation)how);
    check("table", f, 0.5, 10, 4, want[how]);
    ga_function_destroy(&f);
  }
}

/* Functions called with other arguments than t, and by functions. */
static void calls(void **state)
{
  fixture *f = *state;
  ga_function *t = table(f, GA_INTERPOLATE_LINEAR), *inner = NULL, *outer = NULL;
  ga_symbol symbol = {.name = "p", .kind = GA_SYMBOL_FUNCTION, .function = t};
  ga_function_expr_opts opts = ga_function_expr_defaults();
  opts.text = "p(6 - 2*t)", opts.symbols = &symbol, opts.n_symbols = 1;
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &inner), GA_OK);
  const expected once[] = {{0.5, 1}, {1, 3}, {2, 1}, {2.5, 1}, {3, 3}};
  check("p(6 - 2 t)", inner, 0.1, 10, 5, once);
  symbol.name = "q", symbol.function = inner, opts.text = "2*q(t - 1) + 1";
  assert_int_equal(ga_function_create_expr(f->ctx, &opts, NULL, &outer), GA_OK);
  const expected later[] = {{1.5, 1}, {2, 3}, {3, 1}, {3.5, 1}, {4, 3}};
  check("q(t - 1)", outer, 1.1, 10, 5, later);
  ga_function_destroy(&outer);
  ga_function_destroy(&inner);
  ga_function_destroy(&t);
}

/* Where a root is touched, rounding leaves several breaks within its root. A triangle has corners there, and
 * what is only cut off where it is 0 anyway has none. */
static void touched_roots(void **state)
{
  static const struct {
    const char *text;
    int corner;
  } cases[] = {
      {"asin(sin(t))", 1}, {"acos(cos(t - pi/2))", 1}, {"max(0, 1 - sin(t))", 0}, {"abs(sin(t) - 1)", 0}};
  for (int i = 0; i < COUNT(cases); i++) {
    expected found[MOST];
    ga_function *f = expression(*state, cases[i].text);
    const int n = list_breaks(f, 0.01, 2, found);
    int corners = 0;
    for (int k = 0; k < n; k++) {
      assert_near(found[k].t, PI / 2, 1e-7, cases[i].text);
      corners += found[k].order <= 1;
    }
    if ((corners > 0) != cases[i].corner) fail_msg("%s: %d corners", cases[i].text, corners);
    ga_function_destroy(&f);
  }
}

/* What depends on other variables is left out; what depends on time alone is found beside them. */
static void other_variables(void **state)
{
  fixture *f = *state;
  const ga_symbol symbols[] = {{.name = "t", .kind = GA_SYMBOL_VARIABLE, .index = 0},
                               {.name = "x", .kind = GA_SYMBOL_VARIABLE, .index = 1}};
  static const struct {
    const char *text;
    double t; /* of the only break; 0: none */
    int order;
  } cases[] = {{"x*if(t > 2, 1, 0)", 2, 0},
               {"abs(x) + max(x, t)", 0, 0},
               {"if(x > 1, abs(t - 3), t)", 3, 1},
               {"if(x < 1, abs(t - 3), t)", 3, 1},
               {"x + min(t, 5)", 5, 1},
               {"x > t || t > 7", 7, 0},
               {"max(0, x - 3)*(t > 2)", 2, 0},
               {"min(0, x + 30)*abs(t - 2)", 2, 1}};
  for (int i = 0; i < COUNT(cases); i++) {
    ga_expr *e = NULL;
    ga_break b;
    assert_int_equal(ga_expr_compile(f->ctx, cases[i].text, symbols, 2, NULL, &e), GA_OK);
    assert_int_equal(ga_expr_next_break(e, 0, 0, 10, &b), GA_OK);
    if (cases[i].t > 0) {
      assert_near(b.before, cases[i].t, 1e-9, cases[i].text);
      assert_int_equal(b.order, cases[i].order);
    } else {
      assert_true(isinf(b.before) && b.clear == 10);
    }
    ga_expr_destroy(&e);
  }
}

/* Work is bounded, and what is found clear grows. */
static void gives_up(void **state)
{
  ga_function *f = expression(*state, "if(sin(1000*t) + cos(1000*t) > 1.4143, 1, 0)");
  ga_break b;
  double t = 0;
  for (int i = 0; i < 5; i++) {
    assert_true(t < 1e4);
    assert_int_equal(ga_function_next_break(f, t, 1e4, &b), GA_OK);
    const double now = isfinite(b.before) ? b.after : b.clear;
    assert_true(now > t);
    t = now;
  }
  ga_function_destroy(&f);
}

/* Infinitely many breaks are never said to be none. */
static void says_what_it_cannot_find(void **state)
{
  static const struct {
    const char *text;
    double clear; /* nothing is wrong up to here */
  } cases[] = {{"mod(3, t)", 0},
               {"mod(1e15*t, 1)", 0},
               {"sin(1e17*t) > 0", 0},
               {"sin(1/t) > 0", 0},
               {"if(t < 2, 1, mod(t, t - 2))", 2}};
  for (int i = 0; i < COUNT(cases); i++) {
    ga_function *f = expression(*state, cases[i].text);
    ga_break b;
    int said = 0, n = 0;
    for (double t = 0; !said && n < 50 && t < 10; n++, t = isfinite(b.before) ? b.after : b.clear) {
      assert_int_equal(ga_function_next_break(f, t, 10, &b), GA_OK);
      said = b.unresolved > 0;
      if (said) assert_true(b.clear >= cases[i].clear - 1e-9 && b.clear + b.unresolved <= 10);
      if (!isfinite(b.before) && !(b.clear > t)) said = 1; /* given up at once */
      if (!said && isinf(b.before)) fail_msg("%s: clear from %.9g to %.9g", cases[i].text, t, b.clear);
    }
    assert_true(said);
    ga_function_destroy(&f);
  }
  /* equal operands but for rounding have no breaks, and there is nothing to be said */
  ga_function *f = expression(*state, "max(sin(t), cos(t - pi/2))");
  ga_break b = {0, 0, 0, 0, 0};
  for (double t = 0; t < 10; t = b.clear) {
    assert_int_equal(ga_function_next_break(f, t, 10, &b), GA_OK);
    assert_true(isinf(b.before) && b.unresolved == 0 && b.clear > t);
  }
  ga_function_destroy(&f);
}

/* A table that is flat gives its value exactly, and jumps do not depend on rounding; else bounds contain it.
 */
static void table_values_at_jumps(void **state)
{
  static const double x[] = {0, 1, 2, 4, 5}, y[] = {0, 1, 1, 3, 3};
  ga_table_opts opts = ga_table_defaults();
  ga_function *f = NULL;
  double v, least, most;
  opts.n = 5, opts.x = x, opts.y = y;
  for (int how = GA_INTERPOLATE_LINEAR; how <= GA_INTERPOLATE_MONOTONE; how++) {
    opts.interpolation = (ga_interpolation)how;
    assert_int_equal(ga_function_create_table(((fixture *)*state)->ctx, &opts, &f), GA_OK);
    for (double t = 1; t <= 2; t += 0.00371) {
      assert_int_equal(ga_function_eval(f, t, 0, &v, NULL), GA_OK);
      assert_true(v == 1);
    }
    assert_true(ga_function_bounds(f, 1.1, 1.9, &least, &most) && least == 1 && most == 1);
    for (double t = 2; t < 5; t += 0.00371) {
      assert_int_equal(ga_function_eval(f, t, 0, &v, NULL), GA_OK);
      assert_true(ga_function_bounds(f, t - 1e-3, t + 1e-3, &least, &most) && least <= v && v <= most);
    }
    ga_function_destroy(&f);
  }
}

static void periods(void **state)
{
  fixture *f = *state;
  ga_wave_opts opts = ga_wave_defaults();
  ga_function *w = NULL, *e = expression(f, "2*sin(2*pi*50*t) + t"), *s = expression(f, "t^2");
  opts.frequency = 3;
  assert_int_equal(ga_function_create_wave(f->ctx, &opts, &w), GA_OK);
  assert_near(ga_function_period(w, 0, 10), 1.0 / 3, 1e-12, "wave");
  assert_near(ga_function_period(e, 0, 10), 0.02, 1e-6, "sine");
  assert_true(isinf(ga_function_period(s, 0, 10)));
  ga_function_destroy(&w);
  ga_function_destroy(&e);
  ga_function_destroy(&s);
}

static void wrong_arguments(void **state)
{
  ga_function *f = expression(*state, "t");
  ga_break b;
  assert_int_equal(ga_function_next_break(NULL, 0, 1, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_function_next_break(f, 0, 1, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_function_next_break(f, 1, 1, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_function_next_break(f, 0, INFINITY, &b), GA_ERR_ARGUMENT);
  assert_int_equal(ga_expr_next_break(NULL, 0, 0, 1, &b), GA_ERR_ARGUMENT);
  assert_true(isinf(ga_function_period(NULL, 0, 1)) && isinf(ga_expr_period(NULL, 0, 0, 1)));
  ga_function_destroy(&f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(expressions),
      CASE(sides),
      CASE(narrow_pulses),
      CASE(late_breaks_are_sharp),
      CASE(neighbouring_jumps),
      CASE(motions),
      CASE(tables),
      CASE(calls),
      CASE(touched_roots),
      CASE(other_variables),
      CASE(gives_up),
      CASE(periods),
      CASE(wrong_arguments),
      CASE(says_what_it_cannot_find),
      CASE(table_values_at_jumps),
  };
  return cmocka_run_group_tests_name("expr breaks", tests, NULL, NULL);
}
