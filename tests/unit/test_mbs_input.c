/* Inputs and formulas: how their names are found, what they are worth, their derivatives and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/law_impl.h"
#include "mbs_parts_rig.h"
#include "mbs/name.h"
#include "mbs/workspace.h"

/* ---- Names in texts ---- */

static void names_are_found(void **state)
{
  static const struct {
    const char *text, *names; /* each name, then a blank */
  } cases[] = {
      {"", ""},
      {"2*pid", "pid "},
      {"a+b_2*c.d.e", "a b_2 c.d.e "},
      {"sin(x) + cos (y)", "x y "},
      {"1e3*x + 2.e + .5e-1*z", "x e z "}, /* the compiler refuses 2. and e side by side */
      {"30[deg]*x + 9.81 [m/s^2]*y", "x y "},
      {"max(a, min(b,c))>=d && !f", "a b c d f "},
      {"x.1", "x "},
      {"größe+a", "gr e a "},
      {"5[m", ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char found[100] = "";
    for (int at = 0, bytes; (bytes = ga__name_next(cases[i].text, &at)) > 0; at += bytes) {
      strncat(found, cases[i].text + at, (size_t)bytes);
      strcat(found, " ");
    }
    assert_string_equal(found, cases[i].names);
  }
}

static void names_alone(void **state)
{
  static const struct {
    const char *text;
    int at, bytes;
  } cases[] = {{"pid", 0, 3}, {"  a.b\t", 2, 3}, {"", 0, 0},    {"  ", 2, 0},     {"2", 0, 0},
               {"a b", 0, 0}, {"-a", 0, 0},      {"(a)", 0, 0}, {"sin(t)", 0, 0}, {"a.", 0, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int at;
    assert_int_equal(ga__name_alone(cases[i].text, &at), cases[i].bytes);
    assert_int_equal(at, cases[i].at);
  }
}

/* ---- A machine: two scalars, a block of their sum, and what the test adds ---- */

static void add_scalar(parts_rig *r, const char *name)
{
  ga_scalar_def def = ga_scalar_defaults();
  def.name = name;
  def.mass = 1;
  assert_status(r->ctx, ga_machine_add_scalar(r->m, &def), GA_OK);
}

static void add_sum(parts_rig *r, const char *name, const char *first, const char *second)
{
  ga_control_block *block = NULL;
  const ga_input inputs[2] = {{.expression = first}, {.expression = second}};
  assert_status(r->ctx, parts_block(r->ctx, &block), GA_OK);
  assert_status(r->ctx, ga_machine_add_block(r->m, name, block, inputs), GA_OK);
}

static void add_actuator(parts_rig *r, const char *name, const ga_input *force)
{
  ga_actuator_def def = ga_actuator_defaults();
  def.name = name;
  def.coordinate = "rotor";
  def.force = *force;
  assert_status(r->ctx, ga_machine_add_actuator(r->m, &def), GA_OK);
}

static void fill(parts_rig *r)
{
  add_scalar(r, "rotor");
  add_scalar(r, "cart");
  add_sum(r, "sum", "rotor", "cart");
}

/* The built law of a part. */
static const ga__law *law_of(const parts_rig *r, const char *name)
{
  const ga__element *el = ga__element_of(r->m->model, ga__find_part(r->m, name));
  assert_non_null(el);
  return el->data;
}

static const ga__y *row(const parts_rig *r, int y)
{
  assert_in_range(y, 0, r->m->model->y.n - 1);
  return GA__AT(r->m->model->y, ga__y, y);
}

static const ga__formula *formula_of(const parts_rig *r, const ga__input *in)
{
  assert_int_equal(row(r, in->y)->kind, GA__Y_FORMULA);
  return GA__AT(r->m->model->formula, ga__formula, row(r, in->y)->index);
}

enum { MOST_Y = 16 };

typedef struct spot {
  double y[MOST_Y];
  ga_point p;
  ga__eval e;
} spot;

static void spot_at(spot *s, const parts_rig *r, double t, rig_random *random)
{
  assert_true(r->m->model->y.n <= MOST_Y);
  for (int i = 0; i < MOST_Y; i++) s->y[i] = rig_uniform(random, 0.5, 2);
  s->p = (ga_point){.t = t, .y = s->y};
  s->e = (ga__eval){.m = r->m, .b = r->m->model, .p = &s->p, .work = ga__workspace_own(r->m)};
}

static void sums_of_what_is_given(void **state)
{
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  ga_wave_opts wave = ga_wave_defaults();
  ga_function *f = NULL;
  spot s;
  double value, expected;
  assert_status(r->ctx, ga_function_create_wave(r->ctx, &wave, &f), GA_OK);
  fill(r);
  add_actuator(r, "nothing", &(ga_input){0});
  add_actuator(r, "constant", &(ga_input){.value = 3});
  add_actuator(r, "timed", &(ga_input){.value = 3, .function = f});
  add_actuator(r, "fed", &(ga_input){.value = 3, .function = f, .expression = " sum "});
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  spot_at(&s, r, 0.3, &random);
  assert_status(r->ctx, ga_function_eval(f, 0.3, 0, &expected, NULL), GA_OK);
  assert_int_equal(ga__input_value(&s.e, &law_of(r, "nothing")->input, &value), 0);
  assert_true(value == 0);
  assert_int_equal(ga__input_value(&s.e, &law_of(r, "constant")->input, &value), 0);
  assert_true(value == 3);
  assert_int_equal(ga__input_value(&s.e, &law_of(r, "timed")->input, &value), 0);
  assert_true(value == 3 + expected);
  const ga__input *fed = &law_of(r, "fed")->input;
  assert_int_equal(row(r, fed->y)->kind, GA__Y_ELEMENT);
  assert_int_equal(ga__input_value(&s.e, fed, &value), 0);
  assert_true(value == 3 + expected + s.y[fed->y]);
  assert_int_equal(r->m->model->formula.n, 0); /* single names need none */
  ga_machine_destroy(&r->m);
  ga_function_destroy(&f);
}

static void same_text_same_row(void **state)
{
  parts_rig *r = *state;
  fill(r);
  add_actuator(r, "one", &(ga_input){.expression = "2*sum"});
  add_actuator(r, "two", &(ga_input){.expression = "2*sum"});
  add_actuator(r, "three", &(ga_input){.expression = "2*sum+t"});
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  const int y = law_of(r, "one")->input.y;
  assert_true(y >= 0);
  assert_int_equal(law_of(r, "two")->input.y, y);
  assert_int_not_equal(law_of(r, "three")->input.y, y);
  assert_int_equal(r->m->model->formula.n, 2);
}

/* pi and e are numbers; t is the time; a block called e is the block. */
static void constants_and_time(void **state)
{
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  spot s;
  double value;
  fill(r);
  add_actuator(r, "one", &(ga_input){.expression = "e"});
  add_actuator(r, "two", &(ga_input){.expression = "pi + t"});
  add_actuator(r, "three", &(ga_input){.expression = "t"});
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  spot_at(&s, r, 0.25, &random);
  assert_int_equal(ga__formula_value(&s.e, formula_of(r, &law_of(r, "one")->input), NULL, &value, NULL), 0);
  assert_near(value, 2.718281828459045, 1e-15, "e");
  double none[1];
  assert_int_equal(ga__formula_value(&s.e, formula_of(r, &law_of(r, "two")->input), NULL, &value, none), 0);
  assert_near(value, 3.141592653589793 + 0.25, 1e-15, "pi + t");
  assert_int_equal(ga__formula_value(&s.e, formula_of(r, &law_of(r, "three")->input), NULL, &value, NULL), 0);
  assert_true(value == 0.25);
  ga_machine_destroy(&r->m);
  assert_status(r->ctx, ga_machine_create(r->ctx, NULL, &r->m), GA_OK);
  fill(r);
  add_sum(r, "e", "rotor", "-cart");
  add_actuator(r, "one", &(ga_input){.expression = "e"});
  add_actuator(r, "two", &(ga_input){.expression = "3*e"});
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  const ga__input *one = &law_of(r, "one")->input;
  assert_int_equal(row(r, one->y)->kind, GA__Y_ELEMENT);
  spot_at(&s, r, 0.25, &random);
  assert_int_equal(ga__formula_value(&s.e, formula_of(r, &law_of(r, "two")->input), NULL, &value, NULL), 0);
  assert_true(value == 3 * s.y[one->y]);
}

/* Slopes by local variables, then by y, against fourth-order differences. */
static void slopes(void **state)
{
  static const char text[] =
      "sin(l*rotor) + v^2*sqrt(cart+l) + exp(-t)*rotor*sum + 30[deg]*v + max(rotor, -1)";
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  fill(r);
  ga_spring_def spring = ga_spring_defaults();
  spring.name = "spring";
  spring.coordinate = "rotor";
  spring.expression = text;
  assert_status(r->ctx, ga_machine_add_spring(r->m, &spring), GA_OK);
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  const ga__formula *f = &law_of(r, "spring")->formula;
  assert_int_equal(f->n_local, 2);
  assert_int_equal(f->n_y, 3);
  for (int n = 0; n < 200; n++) {
    const double h = 1e-3;
    double local[2] = {rig_uniform(&random, 0.5, 2), rig_uniform(&random, -2, 2)}, value, again, slope[5];
    spot s;
    spot_at(&s, r, rig_uniform(&random, 0, 2), &random);
    assert_int_equal(ga__formula_value(&s.e, f, local, &value, slope), 0);
    assert_int_equal(ga__formula_value(&s.e, f, local, &again, NULL), 0);
    assert_true(value == again);
    const double rotor = s.y[f->y[0]], cart = s.y[f->y[1]], sum = s.y[f->y[2]], l = local[0], v = local[1];
    assert_near(value,
                sin(l * rotor) + v * v * sqrt(cart + l) + exp(-s.p.t) * rotor * sum +
                    v * 3.14159265358979 / 6 + rotor,
                1e-12, "value");
    for (int i = 0; i < 5; i++) {
      double *x = i < 2 ? &local[i] : &s.y[f->y[i - 2]], at[4];
      const double middle = *x;
      for (int k = 0; k < 4; k++) {
        *x = middle + h * (k < 2 ? k - 2 : k - 1);
        assert_int_equal(ga__formula_value(&s.e, f, local, &at[k], NULL), 0);
      }
      *x = middle;
      assert_near(slope[i], (8 * (at[2] - at[1]) - (at[3] - at[0])) / (12 * h), 1e-9 * (1 + fabs(slope[i])),
                  "slope");
    }
  }
}

/* ---- What is refused when built ---- */

static void texts_that_are_wrong(void **state)
{
  static const struct {
    const char *text;
    ga_reason reason;
    int column;
    const char *name, *nearest;
  } cases[] = {
      {"2*", GA_REASON_SYNTAX, 3, "", ""},
      {"2*(rotor", GA_REASON_SYNTAX, 9, "", ""},
      {"sni(t)", GA_REASON_UNKNOWN_FUNCTION, 1, "sni", "sin"},
      {"rotor cart", GA_REASON_SYNTAX, 7, "cart", ""},
      {"2 + smu", GA_REASON_UNKNOWN_SIGNAL, 5, "smu", "sum"},
      {"smu", GA_REASON_UNKNOWN_SIGNAL, 0, "smu", "sum"},
      {"2*energy.kinetic", GA_REASON_ENERGY_NOT_FED_BACK, 3, "energy.kinetic", ""},
      {"  ", GA_REASON_SYNTAX, 1, "", ""},
  };
  parts_rig *r = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fill(r);
    add_actuator(r, "drive", &(ga_input){.expression = cases[i].text});
    const long live = rig_memory.live;
    assert_status(r->ctx, ga_machine_build(r->m), GA_ERR_ARGUMENT);
    assert_error(r->ctx, cases[i].reason, "drive", "force", cases[i].name);
    assert_int_equal(ga_context_error(r->ctx)->column, cases[i].column);
    assert_string_equal(ga_context_error(r->ctx)->nearest, cases[i].nearest);
    assert_int_equal(rig_memory.live, live);
    assert_null(ga_machine_system(r->m));
    ga_machine_destroy(&r->m);
    assert_status(r->ctx, ga_machine_create(r->ctx, NULL, &r->m), GA_OK);
  }
}

/* ---- Faults at an evaluation ---- */

static void faults_are_told(void **state)
{
  static const double x[2] = {0, 1}, y[2] = {1, 2};
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  ga_table_opts table = ga_table_defaults();
  ga_function *f = NULL;
  spot s;
  double value = 7, slope[1];
  table.n = 2;
  table.x = x;
  table.y = y;
  table.after = GA_EXTRAPOLATE_ERROR;
  assert_status(r->ctx, ga_function_create_table(r->ctx, &table, &f), GA_OK);
  fill(r);
  add_actuator(r, "root", &(ga_input){.expression = "sqrt(sum)"});
  add_actuator(r, "short", &(ga_input){.function = f});
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  spot_at(&s, r, 1.5, &random);
  const ga__formula *root = formula_of(r, &law_of(r, "root")->input);
  s.y[root->y[0]] = -4;
  assert_int_equal(ga__formula_value(&s.e, root, NULL, &value, NULL), 1);
  assert_error(r->ctx, GA_REASON_UNDEFINED, "root", "expression", "sqrt(sum)");
  assert_says(r->ctx, "sqrt(-4) does not exist");
  assert_int_equal(ga_context_error(r->ctx)->status, GA_RETRY_NAN);
  assert_true(ga_context_error(r->ctx)->t == 1.5);
  s.y[root->y[0]] = 0; /* there is a value, but no slope */
  assert_int_equal(ga__formula_value(&s.e, root, NULL, &value, NULL), 0);
  assert_int_equal(ga__formula_value(&s.e, root, NULL, &value, slope), 1);
  assert_says(r->ctx, "has no finite derivative");
  assert_int_equal(ga__input_value(&s.e, &law_of(r, "short")->input, &value), 1);
  assert_error(r->ctx, GA_REASON_OUTSIDE_TABLE, "short", "function of time", "");
  ga_machine_destroy(&r->m);
  ga_function_destroy(&f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, parts_set_up, parts_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(names_are_found),    TEST(names_alone), TEST(sums_of_what_is_given), TEST(same_text_same_row),
      TEST(constants_and_time), TEST(slopes),      TEST(texts_that_are_wrong),  TEST(faults_are_told),
  };
#undef TEST
  return cmocka_run_group_tests_name("mbs: inputs and formulas", tests, NULL, NULL);
}
