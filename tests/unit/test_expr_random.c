/* Random expressions: bounds enclose every value and every rate, and no corner or jump is missed.
 * GALPHA_ROUNDS: how many (thousands take minutes). */
#include "expr_rig.h"

enum { TEXT = 2048, MOST_BREAKS = 500 };

/* ---- Expressions ---- */

typedef struct writer {
  rig_random *random;
  char text[TEXT];
  int length;
  int n_variables; /* of NAMES */
} writer;

static const char *const NAMES[] = {"t", "x", "y"};

static void put(writer *w, const char *text)
{
  const int room = TEXT - w->length, n = snprintf(w->text + w->length, (size_t)room, "%s", text);
  assert_true(n < room);
  w->length += n;
}

static void put_number(writer *w)
{
  static const char *const numbers[] = {"0", "1", "2", "0.1", "0.3", "3", "-1", "10", "0.5", "pi"};
  char text[40];
  const int kind = rig_below(w->random, 2);
  snprintf(text, sizeof text, "(%.6g)", rig_uniform(w->random, -5, 5));
  put(w, kind ? text : numbers[rig_below(w->random, COUNT(numbers))]);
}

/* a stands for an operand, n for a number; the others as they are. */
static const char *const SHAPES[] = {"a+a",
                                     "a-a",
                                     "a*a",
                                     "a/a",
                                     "a*n",
                                     "n-a",
                                     "a^2",
                                     "a^3",
                                     "a^n",
                                     "abs(a)^a",
                                     "sin(a)",
                                     "cos(n*a)",
                                     "tan(a)",
                                     "asin(a)",
                                     "acos(a)",
                                     "atan(a)",
                                     "atan2(a,a)",
                                     "sinh(a)",
                                     "cosh(a)",
                                     "tanh(a)",
                                     "exp(a)",
                                     "log(a)",
                                     "log10(a)",
                                     "sqrt(a)",
                                     "cbrt(a)",
                                     "abs(a)",
                                     "sign(a)",
                                     "floor(a)",
                                     "ceil(a)",
                                     "min(a,a)",
                                     "max(a,a,n)",
                                     "mod(a,n)",
                                     "mod(a,n+a)",
                                     "hypot(a,a)",
                                     "step(a,n)",
                                     "step(a,n,a,n,a)",
                                     "step5(a,n,n,n,n)",
                                     "step(a,a,a,a,a)",
                                     "if(a>n-a,a,a)",
                                     "if(a<n&&a>n,a,a)",
                                     "if(a||a>=n,a,a)",
                                     "(a<=n-a)",
                                     "(a==n)",
                                     "(a!=n)",
                                     "!a",
                                     "-a",
                                     "(a&&a)",
                                     "lin(a)",
                                     "mono(a)",
                                     "spline(a)",
                                     "beyond(a)",
                                     "wave(a)",
                                     "chirp(a)",
                                     "law(a)",
                                     "map(a,a)",
                                     "own(a)"};

static int is_letter(char c)
{
  return c >= 'a' && c <= 'z';
}

static void put_expression(writer *w, int depth)
{
  if (depth == 0 || rig_below(w->random, 6) == 0) {
    if (rig_below(w->random, 4) == 0)
      put_number(w);
    else
      put(w, NAMES[rig_below(w->random, w->n_variables)]);
    return;
  }
  put(w, "(");
  const char *shape = SHAPES[rig_below(w->random, COUNT(SHAPES))];
  for (int i = 0; shape[i]; i++) {
    const int alone = !is_letter(shape[i + 1]) && !(i > 0 && is_letter(shape[i - 1]));
    if (alone && shape[i] == 'a')
      put_expression(w, depth - 1);
    else if (alone && shape[i] == 'n')
      put_number(w);
    else
      put(w, (char[2]){shape[i], 0});
  }
  put(w, ")");
}

/* ---- What they call ---- */

enum { N_CALLED = 7 };

typedef struct library {
  ga_function *function[N_CALLED + 1];
  ga_table2d *map;
  ga_symbol symbol[3 + N_CALLED + 2];
} library;

static ga_function *make_table(fixture *f, ga_interpolation how, ga_extrapolation outside)
{
  static const double x[] = {-2, 0, 0.5, 1, 4, 5, 7}, y[] = {1, 0, 0, 3, -1, 0, 2};
  ga_table_opts opts = ga_table_defaults();
  ga_function *out = NULL;
  opts.n = COUNT(x), opts.x = x, opts.y = y, opts.interpolation = how, opts.before = opts.after = outside;
  assert_int_equal(ga_function_create_table(f->ctx, &opts, &out), GA_OK);
  return out;
}

static ga_function *make_wave(fixture *f, double frequency_end, double sweep)
{
  ga_wave_opts opts = ga_wave_defaults();
  ga_function *out = NULL;
  opts.offset = 0.2, opts.amplitude = -2, opts.frequency = 0.3, opts.frequency_end = frequency_end;
  opts.phase = 0.4, opts.t_start = 1, opts.sweep = sweep;
  assert_int_equal(ga_function_create_wave(f->ctx, &opts, &out), GA_OK);
  return out;
}

static void set_up_library(fixture *f, library *l)
{
  static const char *const names[N_CALLED + 1] = {"lin",  "mono",  "spline", "beyond",
                                                  "wave", "chirp", "law",    "own"};
  static const double x[] = {-1, 0, 2, 3}, y[] = {0, 1, 5}, z[] = {0, 1, 2, -1, 3, 0, 1, 1, -2, 4, 0, 1};
  ga_motion_opts motion = ga_motion_defaults();
  ga_table2d_opts map = ga_table2d_defaults();
  ga_function_expr_opts own = ga_function_expr_defaults();
  *l = (library){0};
  l->function[0] = make_table(f, GA_INTERPOLATE_LINEAR, GA_EXTRAPOLATE_HOLD);
  l->function[1] = make_table(f, GA_INTERPOLATE_MONOTONE, GA_EXTRAPOLATE_HOLD);
  l->function[2] = make_table(f, GA_INTERPOLATE_SPLINE, GA_EXTRAPOLATE_HOLD);
  l->function[3] = make_table(f, GA_INTERPOLATE_SPLINE, GA_EXTRAPOLATE_LINEAR);
  l->function[4] = make_wave(f, 0, 0);
  l->function[5] = make_wave(f, -0.7, 3);
  motion.law = GA_MOTION_TRAPEZOID, motion.t_start = 1, motion.duration = 3, motion.from = 2, motion.to = -1;
  assert_int_equal(ga_function_create_motion(f->ctx, &motion, &l->function[6]), GA_OK);
  own.text = "max(t, 2 - t)*sin(t)";
  assert_int_equal(ga_function_create_expr(f->ctx, &own, NULL, &l->function[7]), GA_OK);
  map.nx = COUNT(x), map.ny = COUNT(y), map.x = x, map.y = y, map.z = z;
  assert_int_equal(ga_table2d_create(f->ctx, &map, &l->map), GA_OK);
  for (int i = 0; i < 3; i++)
    l->symbol[i] = (ga_symbol){.name = NAMES[i], .kind = GA_SYMBOL_VARIABLE, .index = i};
  for (int i = 0; i <= N_CALLED; i++)
    l->symbol[3 + i] = (ga_symbol){.name = names[i], .kind = GA_SYMBOL_FUNCTION, .function = l->function[i]};
  l->symbol[3 + N_CALLED + 1] = (ga_symbol){.name = "map", .kind = GA_SYMBOL_TABLE2D, .table2d = l->map};
}

static void tear_down_library(library *l)
{
  for (int i = 0; i <= N_CALLED; i++) ga_function_destroy(&l->function[i]);
  ga_table2d_destroy(&l->map);
}

static ga_expr *random_expression(fixture *f, const library *l, rig_random *random, int n_variables)
{
  writer w = {.random = random, .n_variables = n_variables};
  ga_expr *e = NULL;
  put_expression(&w, 1 + rig_below(random, 4));
  ga_context_clear_error(f->ctx);
  if (ga_expr_compile(f->ctx, w.text, l->symbol, COUNT(l->symbol), NULL, &e))
    fail_msg("%s: %s", w.text, ga_context_error(f->ctx)->text);
  return e;
}

static int rounds(int usual)
{
  const char *given = getenv("GALPHA_ROUNDS");
  return given ? atoi(given) : getenv("GALPHA_BRIEF") ? usual / 20 : usual;
}

/* ---- Bounds ---- */

static void random_box(rig_random *random, double lo[3], double hi[3])
{
  for (int i = 0; i < 3; i++) {
    const int kind = rig_below(random, 5);
    const double size = kind == 0 ? 0 : kind == 1 ? 1e-3 : kind == 2 ? 0.3 : 6;
    lo[i] = rig_below(random, 4) == 0 ? rig_below(random, 5) - 2 : rig_uniform(random, -6, 6);
    hi[i] = lo[i] + size;
  }
}

/* An edge, or anywhere in between. */
static double random_in(rig_random *random, double lo, double hi)
{
  const int kind = rig_below(random, 8);
  const double x = kind == 0   ? lo
                   : kind == 1 ? hi
                   : kind == 2 ? rint(rig_uniform(random, lo, hi))
                               : rig_uniform(random, lo, hi);
  return fmin(fmax(x, lo), hi);
}

static void bounds_enclose(void **state)
{
  fixture *f = *state;
  library l;
  rig_random random = rig_seed(0);
  long known = 0;
  set_up_library(f, &l);
  for (int round = 0; round < rounds(3000); round++) {
    ga_expr *e = random_expression(f, &l, &random, 3);
    for (int box = 0; box < 8; box++) {
      double lo[3], hi[3], least, most, x[3], value;
      random_box(&random, lo, hi);
      if (!ga_expr_bounds(e, lo, hi, &least, &most)) continue;
      known++;
      for (int sample = 0; sample < 60; sample++) {
        for (int i = 0; i < 3; i++) x[i] = random_in(&random, lo[i], hi[i]);
        if (ga_expr_eval(e, x, &value, NULL)) continue;
        if (value >= least && value <= most) continue; /* rounding included */
        fail_msg("%s over [%.17g, %.17g] [%.17g, %.17g] [%.17g, %.17g]: %.17g at (%.17g, %.17g, %.17g) is "
                 "not within "
                 "%.17g and %.17g",
                 ga_expr_text(e), lo[0], hi[0], lo[1], hi[1], lo[2], hi[2], value, x[0], x[1], x[2], least,
                 most);
      }
    }
    ga_expr_destroy(&e);
  }
  assert_true(known > rounds(3000)); /* most boxes have bounds */
  tear_down_library(&l);
}

/* ---- Rates ---- */

/* A straight way through the box: places at s = 0 and 1; rates of all variables by s, some of them wider. */
typedef struct way {
  double from[3], to[3], rate_lo[3], rate_hi[3];
} way;

static way random_way(rig_random *random, const double lo[3], const double hi[3])
{
  way w;
  for (int i = 0; i < 3; i++) {
    w.from[i] = random_in(random, lo[i], hi[i]);
    w.to[i] = random_in(random, lo[i], hi[i]);
    w.rate_lo[i] = w.rate_hi[i] = w.to[i] - w.from[i];
    if (rig_below(random, 3) == 0) w.rate_lo[i] -= rig_uniform(random, 0, 1);
    if (rig_below(random, 3) == 0) w.rate_hi[i] += rig_uniform(random, 0, 1);
  }
  return w;
}

/* What rounding may do to values within a range: near 1 and -1 asin and acos turn a rounding into its root.
 */
static double rounding_of(const ga_expr *e, const double range[2])
{
  const char *text = ga_expr_text(e);
  const double size = fmax(fabs(range[0]), fabs(range[1]));
  return strstr(text, "asin") || strstr(text, "acos") ? 1e-7 * (1 + size) : 1e-11 * size + 1e-15;
}

static ga_status value_on(const ga_expr *e, const way *w, double s, double *value)
{
  double x[3];
  for (int i = 0; i < 3; i++) x[i] = w->from[i] + s * (w->to[i] - w->from[i]);
  return ga_expr_eval(e, x, value, NULL);
}

/* Wherever on the way, the expression changes by its rate times what is passed, and stays within its range.
 */
static void rates_enclose(void **state)
{
  fixture *f = *state;
  library l;
  rig_random random = rig_seed(0);
  long known = 0, narrow = 0;
  set_up_library(f, &l);
  for (int round = 0; round < rounds(3000); round++) {
    ga_expr *e = random_expression(f, &l, &random, 3);
    for (int box = 0; box < 8; box++) {
      double lo[3], hi[3], range[2], rate[2], value[2];
      random_box(&random, lo, hi);
      const way w = random_way(&random, lo, hi);
      if (ga__expr_rate(e, lo, hi, w.rate_lo, w.rate_hi, range, rate) != 2) continue;
      known++;
      narrow += rate[1] - rate[0] < range[1] - range[0];
      for (int sample = 0; sample < 40; sample++) {
        const double a = random_in(&random, 0, 1), b = random_in(&random, 0, 1),
                     s[2] = {fmin(a, b), fmax(a, b)};
        const double slack = rounding_of(e, range), part = s[1] - s[0];
        if (value_on(e, &w, s[0], &value[0]) || value_on(e, &w, s[1], &value[1])) continue;
        if (!(value[0] >= range[0] - slack && value[0] <= range[1] + slack))
          fail_msg("%s: %.17g is not within %.17g and %.17g", ga_expr_text(e), value[0], range[0], range[1]);
        const double change = value[1] - value[0];
        if (change >= part * rate[0] - slack && change <= part * rate[1] + slack) continue;
        fail_msg("%s from (%.17g, %.17g, %.17g) to (%.17g, %.17g, %.17g): between %.17g and %.17g of the way "
                 "it changes by %.17g, its rate is said to be within %.17g and %.17g",
                 ga_expr_text(e), w.from[0], w.from[1], w.from[2], w.to[0], w.to[1], w.to[2], s[0], s[1],
                 change, rate[0], rate[1]);
      }
    }
    ga_expr_destroy(&e);
  }
  assert_true(known > rounds(3000) && narrow > rounds(3000) / 4);
  tear_down_library(&l);
}

/* ---- Breaks ---- */

static const double END = 6;

/* All breaks up to END, ascending; −1: too many to list, or the search was given up, or says that there are
 * some that it cannot tell apart. */
static int list_breaks(const ga_expr *e, double *at)
{
  int n = 0, given_up = 0;
  ga_break b;
  for (double t = 0; t < END; t = isfinite(b.before) ? b.after : b.clear) {
    assert_int_equal(ga_expr_next_break(e, 0, t, END, &b), GA_OK);
    if (b.unresolved > 0) return -1;
    if (!isfinite(b.before) && (!(b.clear > t) || ++given_up == 20)) return -1;
    if (n == MOST_BREAKS) return -1;
    if (isfinite(b.before)) at[n++] = 0.5 * (b.before + b.after);
  }
  return n;
}

static int is_listed(const double *at, int n, double t)
{
  for (int i = 0; i < n; i++)
    if (fabs(at[i] - t) < 1e-7) return 1; /* rounding moves a root that is touched by its root */
  return t < 1e-9 || t > END - 1e-9;      /* at the ends, which are not searched */
}

static int curve(const ga_expr *e, double t, double out[3])
{
  const double rate = 1;
  return ga_expr_curve(e, &t, &rate, NULL, 2, out, NULL) == GA_OK;
}

/* Where derivative d (0, 1) jumps between a and b, by halving the interval towards the larger difference;
 * NaN: it does not, or is not defined all along. */
static double find_jump(const ga_expr *e, int d, double a, double b)
{
  double left[3], right[3], middle[3];
  if (!curve(e, a, left) || !curve(e, b, right)) return NAN;
  while (b - a > 1e-11) {
    const double t = 0.5 * (a + b);
    if (!curve(e, t, middle)) return NAN;
    if (fabs(middle[d] - left[d]) > fabs(right[d] - middle[d])) {
      b = t;
      memcpy(right, middle, sizeof right);
    } else {
      a = t;
      memcpy(left, middle, sizeof left);
    }
  }
  const double scale = 1 + fmax(fabs(left[d]), fabs(right[d])),
               steepest = fmax(fabs(left[d + 1]), fabs(right[d + 1]));
  return fabs(right[d] - left[d]) > 1e-5 * scale + 1e3 * steepest * (b - a) ? a : NAN;
}

static void breaks_are_listed(void **state)
{
  enum { PARTS = 97 };
  static double at[MOST_BREAKS];
  fixture *f = *state;
  library l;
  rig_random random = rig_seed(0);
  long found = 0, listed = 0;
  set_up_library(f, &l);
  for (int round = 0; round < rounds(600); round++) {
    ga_expr *e = random_expression(f, &l, &random, 1);
    const int n = list_breaks(e, at);
    listed += n >= 0;
    for (int i = 0; n >= 0 && i < PARTS; i++)
      for (int d = 0; d < 2; d++) {
        const double t = find_jump(e, d, END * i / PARTS, END * (i + 1) / PARTS);
        if (isnan(t)) continue;
        found++;
        if (!is_listed(at, n, t))
          fail_msg("%s: derivative %d jumps at t = %.17g, and no break is there", ga_expr_text(e), d, t);
      }
    ga_expr_destroy(&e);
  }
  tear_down_library(&l);
  assert_true(10 * listed > 9 * rounds(600)); /* of few it is said that they cannot be searched */
  if (!rig_brief()) assert_true(found > 120);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(bounds_enclose, set_up, tear_down),
      cmocka_unit_test_setup_teardown(rates_enclose, set_up, tear_down),
      cmocka_unit_test_setup_teardown(breaks_are_listed, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("expr random", tests, NULL, NULL);
}
