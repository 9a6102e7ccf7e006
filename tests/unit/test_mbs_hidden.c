/* What hides between the ends of a step: expressions that act in narrow places, asked for in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"
#include "mbs/hidden.h"
#include "mbs/workspace.h"

enum { FIELDS = 4, MOST_Y = 16 };
static const double PLACE[FIELDS] = {0.15, 0.4, 0.65, 0.9}; /* each 1 mm wide */

static void add_field(shop *s, const char *name, double place)
{
  char text[100];
  ga_actuator_def d = ga_actuator_defaults();
  snprintf(text, sizeof text, "if(u > %g && u < %g, 5, 0) + 1e-3*u", place, place + 1e-3);
  d.name = name, d.coordinate = "u", d.force.expression = text;
  SHOP_ADD(s, actuator, &d);
}

/* A step in which u goes from `from` to `to`, straight, as it is at the parts a and b of it. */
typedef struct step_piece {
  double y[3][MOST_Y];
  ga_piece piece;
} step_piece;

static void set_step_piece(step_piece *c, const shop *s, double from, double to, double a, double b)
{
  const ga__mbs_model *built = s->m->model;
  const double part[3] = {a, b, 0.5 * (a + b)};
  assert_true(built->y.n <= MOST_Y);
  for (int k = 0; k < 3; k++) {
    const double u = from + part[k] * (to - from);
    for (int i = 0; i < built->y.n; i++)
      c->y[k][i] = GA__AT(built->y, ga__y, i)->kind == GA__Y_PROBE ? u : 1e-3 * u;
  }
  c->piece = (ga_piece){{a, b}, {{c->y[0], NULL, NULL}, {c->y[1], NULL, NULL}}, {c->y[2], NULL, NULL}};
}

static int meets(double from, double to)
{
  int n = 0;
  for (int i = 0; i < FIELDS; i++) n += to > PLACE[i] && from < PLACE[i] + 1e-3;
  return n;
}

static int within_field(double u)
{
  return meets(u, u);
}

/* Whatever hid something before, a step is reported to hide something if and only if it meets a field; so are
 * its halves, and its middle if it lies in one. */
static void fields_in_any_order(void **state)
{
  rig_random random = rig_seed(0);
  shop s = shop_open(GA_FORM_SPACE, 0);
  int n_found = 0, n_clear = 0;
  (void)state;
  shop_scalar(&s, "u", 0, 1);
  for (int i = 0; i < FIELDS; i++) add_field(&s, (const char *[]){"f1", "f2", "f3", "f4"}[i], PLACE[i]);
  shop_build(&s);
  for (int round = 0; round < 4000; round++) {
    const double from = rig_uniform(&random, 0, 1);
    const double to = from + rig_uniform(&random, 0, round % 3 ? 0.01 : 0.3);
    step_piece whole, half, point;
    if (within_field(from) || within_field(to)) continue; /* the ends see it */
    set_step_piece(&whole, &s, from, to, 0, 1);
    const int hides = ga__machine_hidden(ga__workspace_own(s.m), &whole.piece, &whole.piece);
    assert_int_equal(hides, meets(from, to) > 0);
    n_found += hides, n_clear += !hides;
    for (int k = 0; k < 2; k++) {
      const double a = 0.5 * k, b = a + 0.5;
      set_step_piece(&half, &s, from, to, a, b);
      assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &whole.piece, &half.piece),
                       meets(from + a * (to - from), from + b * (to - from)) > 0);
    }
    set_step_piece(&point, &s, from, to, 0.5, 0.5);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &whole.piece, &point.piece),
                     within_field(0.5 * (from + to)));
  }
  assert_true(n_found > 500 && n_clear > 500);
  shop_close(&s);
}

/* What was found of a step does not outlive it: pieces of another step, asked for at once, and the same step
 * with a function that has changed. */
static void nothing_is_kept_too_long(void **state)
{
  const ga_symbol place = {.name = "p", .kind = GA_SYMBOL_PARAMETER, .index = 0, .value = 0.5};
  ga_function_expr_opts o = ga_function_expr_defaults();
  ga_actuator_def d = ga_actuator_defaults();
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *f = NULL;
  step_piece one, other, half;
  (void)state;
  o.text = "if(t > p && t < p + 1e-3, 5, 0) + 1e-3*t", o.symbols = &place, o.n_symbols = 1;
  assert_status(s.ctx, ga_function_create_expr(s.ctx, &o, NULL, &f), GA_OK);
  shop_scalar(&s, "u", 0, 1);
  assert_status(s.ctx, ga_machine_add_function(s.m, "g", f), GA_OK);
  d.name = "f", d.coordinate = "u", d.force.expression = "g(u)";
  SHOP_ADD(&s, actuator, &d);
  shop_build(&s);
  set_step_piece(&one, &s, 0.4, 0.6, 0, 1);
  set_step_piece(&other, &s, 0.7, 0.9, 0, 1);
  for (int round = 0; round < 3; round++) {
    assert_int_equal(ga_function_set_parameter(f, 0, 0.5), GA_OK);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &one.piece, &one.piece), 1);
    set_step_piece(&half, &s, 0.7, 0.9, 0.5, 1);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &other.piece, &half.piece), 0);
    set_step_piece(&half, &s, 0.4, 0.6, 0.5, 1);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &one.piece, &half.piece), 1);
    assert_int_equal(ga_function_set_parameter(f, 0, 0.8), GA_OK);
    assert_true(ga__machine_hidden(ga__workspace_own(s.m), &one.piece, &one.piece) <= 0);
    assert_int_equal(ga__machine_hidden(ga__workspace_own(s.m), &other.piece, &other.piece), 1);
  }
  ga_machine_destroy(&s.m); /* which uses the function */
  ga_function_destroy(&f);
  shop_close(&s);
}

/* ---- Terms that cancel ---- */

enum { N_ROUNDS = 400 };
enum { PLAIN, BELL, FIELD, N_PLACES }; /* what hides */

/* A feedback whose large terms cancel: 1e6 (u − w) + what hides at u = 0.5, through two blocks or in one. */
static void add_feedback(shop *s, int kind, int blocks)
{
  static const char *const hidden[N_PLACES] = {"", " + 5*exp(-((u - 0.5)/1e-3)^2)",
                                               " + if(u > 0.5 && u < 0.501, 5, 0)"};
  static const char *const hidden_in[N_PLACES] = {"a", "a + 5*exp(-((b - 0.5)/1e-3)^2)",
                                                  "a + if(b > 0.5 && b < 0.501, 5, 0)"};
  static const char *const names[] = {"a", "b"};
  char text[100];
  ga_actuator_def d = ga_actuator_defaults();
  shop_scalar(s, "u", 0, 1);
  shop_scalar(s, "w", 0, 1);
  d.name = "f", d.coordinate = "u", d.force.expression = text;
  snprintf(text, sizeof text, "1e6*u - 1e6*w%s", hidden[kind]);
  if (blocks) {
    const double k[] = {1e6, -1e6};
    const ga_input of_both[] = {{.expression = "u"}, {.expression = "w"}};
    const ga_input of_sum[] = {{.expression = "sum"}, {.expression = "u"}};
    ga_block_gain_opts gain = ga_block_gain_defaults();
    ga_block_expression_opts o = ga_block_expression_defaults();
    ga_control_block *block = NULL;
    gain.n_in = 2, gain.n_out = 1, gain.matrix = k;
    assert_status(s->ctx, ga_block_create_gain(s->ctx, &gain, &block), GA_OK);
    SHOP_ADD(s, block, "sum", block, of_both);
    o.n_in = 2, o.inputs = names, o.texts = &hidden_in[kind];
    assert_status(s->ctx, ga_block_create_expression(s->ctx, &o, NULL, NULL, &block), GA_OK);
    SHOP_ADD(s, block, "force", block, of_sum);
    snprintf(text, sizeof text, "force");
  }
  SHOP_ADD(s, actuator, &d);
  shop_build(s);
}

/* u and w go from `from` to `to`, w behind by 1e-6 and a little more in the end: the sum of both terms goes
 * from 1 to 1.5, each by 1e6 (to − from). */
static void set_chase(step_piece *c, const shop *s, double from, double to, double a, double b)
{
  const ga__mbs_model *built = s->m->model;
  const double part[3] = {a, b, 0.5 * (a + b)};
  assert_true(built->y.n <= MOST_Y);
  for (int k = 0; k < 3; k++) {
    const double u = from + part[k] * (to - from), sum = 1 + 0.5 * part[k];
    int probes = 0;
    for (int i = 0; i < built->y.n; i++) {
      const int is_probe = GA__AT(built->y, ga__y, i)->kind == GA__Y_PROBE;
      c->y[k][i] = !is_probe ? sum : probes == 0 ? u : u - 1e-6 * sum;
      if (is_probe) probes++;
    }
    assert_int_equal(probes, 2);
  }
  c->piece = (ga_piece){{a, b}, {{c->y[0], NULL, NULL}, {c->y[1], NULL, NULL}}, {c->y[2], NULL, NULL}};
}

/* Sums whose terms cancel hide nothing by themselves, and everything that is added to them; nor do halves. */
static void terms_that_cancel(void **state)
{
  (void)state;
  for (int kind = 0; kind < N_PLACES; kind++)
    for (int blocks = 0; blocks < 2; blocks++) {
      rig_random random = rig_seed(0);
      shop s = shop_open(GA_FORM_SPACE, 0);
      int found = 0;
      add_feedback(&s, kind, blocks);
      for (int round = 0; round < N_ROUNDS; round++) {
        const double from = rig_uniform(&random, 0.3, 0.48), to = rig_uniform(&random, 0.48, 0.7);
        const int passes = to > 0.502, aside = to < 0.49; /* not at the bell's foot */
        step_piece whole, half;
        if (!passes && !aside) continue;
        set_chase(&whole, &s, from, to, 0, 1);
        const int hides = ga__machine_hidden(ga__workspace_own(s.m), &whole.piece, &whole.piece) > 0;
        if (hides != (kind != PLAIN && passes))
          fail_msg("kind %d, %d blocks, from %.6g to %.6g: %d", kind, blocks, from, to, hides);
        found += hides;
        int in_half = 0;
        for (int k = 0; k < 2; k++) {
          set_chase(&half, &s, from, to, 0.5 * k, 0.5 * k + 0.5);
          in_half += ga__machine_hidden(ga__workspace_own(s.m), &whole.piece, &half.piece) > 0;
        }
        assert_true(hides ? in_half >= 1 : in_half == 0);
      }
      assert_true(kind == PLAIN ? found == 0 : found > N_ROUNDS / 4);
      shop_close(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_in_any_order),
      cmocka_unit_test(nothing_is_kept_too_long),
      cmocka_unit_test(terms_that_cancel),
  };
  return cmocka_run_group_tests_name("mbs: what hides within steps", tests, NULL, NULL);
}
