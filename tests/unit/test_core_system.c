/* Systems: what creation refuses and how it says so, sizes, names, and checked calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include <limits.h>

/* A system with every part: 2 coordinates, 1 equation of each other kind; functions that are never called. */
static int zeros(void *user, const ga_point *p, double *out)
{
  (void)user;
  (void)p;
  out[0] = 0.0;
  return 0;
}

static const ga_factor plane[] = {{GA_RN, 2, GA_LEFT}};

static ga_system_def everything(void)
{
  ga_system_def d = ga_system_defaults();
  d.n_factors = 1;
  d.factors = plane;
  d.n_lambda = d.n_psi = d.n_x = d.n_y = 1;
  d.mass = d.force = d.phi = d.phi_dot = d.phi_acc = d.k = d.k_acc = d.state = d.output = zeros;
  return d;
}

static void refuse(rig *r, const ga_system_def *d, ga_status expected, ga_reason reason, const char *field)
{
  ga_system *sys = (ga_system *)r;
  long live = rig_memory.live;
  ga_context_clear_error(r->ctx);
  assert_int_equal(ga_system_create(r->ctx, d, &sys), expected);
  assert_null(sys);
  assert_call_error(r->ctx, reason, NULL, field);
  assert_int_equal(rig_memory.live, live);
}

static void missing_arguments(void **state)
{
  rig *r = *state;
  ga_system_def d = everything();
  ga_system *sys = NULL;
  assert_int_equal(ga_system_create(NULL, &d, &sys), GA_ERR_ARGUMENT);
  assert_int_equal(ga_system_create(r->ctx, &d, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, GA_REASON_NULL_ARGUMENT, "ga_system_create", "out");
  refuse(r, NULL, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT, "def");
  d.factors = NULL;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH, "n_factors");
}

static void missing_callbacks(void **state)
{
  rig *r = *state;
  ga_system_def d;
  struct {
    ga_eval_fn *field;
    const char *name, *block;
    int size;
  } needed[] = {{&d.mass, "mass", "v", 2}, {&d.force, "force", "v", 2}, {&d.phi, "phi", "lambda", 1},
                {&d.k, "k", "psi", 1},     {&d.state, "state", "x", 1}, {&d.output, "output", "y", 1}};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    d = everything();
    *needed[i].field = NULL;
    refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING, NULL);
    assert_string_equal(ga_context_error(r->ctx)->callback, needed[i].name);
    assert_string_equal(ga_context_error(r->ctx)->other, needed[i].block);
    assert_error_number(r->ctx, 0, needed[i].size);
  }
  d = everything();
  d.n_inner = 3;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING, NULL);
  assert_string_equal(ga_context_error(r->ctx)->callback, "inner");
  d.inner = d.force;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING, NULL);
  assert_string_equal(ga_context_error(r->ctx)->callback, "inner_step");
  d = everything();
  d.phi_dot = d.phi_acc = d.k_acc = NULL; /* differences stand in for these */
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
}

static void wrong_sizes(void **state)
{
  rig *r = *state;
  ga_system_def d;
  struct {
    int *field;
    const char *name;
  } size[] = {{&d.n_lambda, "n_lambda"},
              {&d.n_psi, "n_psi"},
              {&d.n_x, "n_x"},
              {&d.n_y, "n_y"},
              {&d.n_inner, "n_inner"}};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    d = everything();
    *size[i].field = -1;
    refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE, size[i].name);
    assert_error_number(r->ctx, 0, -1);
    *size[i].field = INT_MAX;
    refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE, size[i].name);
    assert_error_number(r->ctx, 0, INT_MAX);
  }
  d = everything();
  d.n_factors = -1;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE, "n_factors");
  d = everything();
  d.n_x = 20000;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY, "equations without a pattern");
  assert_error_number(r->ctx, 0, 20005);
}

static void wrong_patterns(void **state)
{
  rig *r = *state;
  ga_system_def d = everything();
  int row[] = {0, 1, 2, 3}, col[] = {0, 1, 0, 1};
  d.n_pattern = -4;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE, "n_pattern");
  d.n_pattern = 4;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH, "n_pattern");
  assert_string_equal(ga_context_error(r->ctx)->other, "pattern_row");
  d.pattern_row = row;
  refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH, "n_pattern");
  assert_string_equal(ga_context_error(r->ctx)->other, "pattern_col");
  d.pattern_col = col;
  const int outside[] = {-1, 6};
  for (int i = 0; i < 2; i++) {
    row[2] = outside[i];
    refuse(r, &d, GA_ERR_PATTERN, GA_REASON_ENTRY_OUTSIDE, NULL);
    const double first[] = {2, outside[i], 0, 6, 6}, second[] = {3, 3, outside[i], 6, 6};
    for (int k = 0; k < 5; k++) assert_error_number(r->ctx, k, first[k]);
    row[2] = 2;
    col[3] = outside[i];
    refuse(r, &d, GA_ERR_PATTERN, GA_REASON_ENTRY_OUTSIDE, NULL);
    for (int k = 0; k < 5; k++) assert_error_number(r->ctx, k, second[k]);
    col[3] = 1;
  }
  const double bad[] = {-1, NAN, INFINITY};
  for (int i = 0; i < 3; i++) {
    const double scale[6] = {bad[i]};
    d.scale = scale;
    refuse(r, &d, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE, "scale");
  }
  d.scale = NULL;
  row[3] = 1;
  refuse(r, &d, GA_ERR_PATTERN, GA_REASON_ENTRY_TWICE, NULL);
  assert_string_equal(ga_context_error(r->ctx)->text,
                      "system: entry (1, 1) is twice in the pattern, the second time as entry 3");
}

static void sizes_and_places(void **state)
{
  rig *r = *state;
  ga_system_def d = everything();
  d.n_lambda = 3;
  d.n_y = 2;
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  const int size[] = {2, 3, 1, 1, 2, 3}, start[] = {0, 2, 5, 6, 7, 9};
  for (int b = GA_BLOCK_V; b <= GA_BLOCK_ETA; b++) {
    assert_int_equal(ga_system_size(r->sys, (ga_equation_block)b), size[b]);
    assert_int_equal(ga_system_start(r->sys, (ga_equation_block)b), start[b]);
  }
  assert_int_equal(ga_system_n(r->sys), 9);
  assert_int_equal(ga_group_nv(ga_system_group(r->sys)), 2);
  for (int i = 0; i < 12; i++) {
    int index;
    ga_equation_block block = ga__block_of(r->sys, i, &index);
    assert_int_equal(start[block] + index, i);
    assert_in_range(index, 0, size[block] - 1);
  }
}

/* Blocks without equations are passed over. */
static void empty_blocks(void **state)
{
  rig *r = *state;
  ga_system_def d = everything();
  int index;
  d.n_lambda = d.n_x = d.n_y = 0;
  assert_int_equal(ga_system_create(r->ctx, &d, &r->sys), GA_ERR_ARGUMENT); /* a size forgotten */
  assert_call_error(r->ctx, GA_REASON_CALLBACK_UNUSED, "system", "n_lambda");
  assert_string_equal(ga_context_error(r->ctx)->callback, "phi");
  d.phi = d.phi_dot = d.phi_acc = d.state = d.output = NULL;
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  assert_int_equal(ga__block_of(r->sys, 1, &index), GA_BLOCK_V);
  assert_int_equal(ga__block_of(r->sys, 2, &index), GA_BLOCK_PSI);
  assert_int_equal(index, 0);
  ga_system_destroy(&r->sys);
  d = ga_system_defaults(); /* no mechanical part at all */
  d.n_x = 1;
  d.state = zeros;
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  assert_int_equal(ga__block_of(r->sys, 0, &index), GA_BLOCK_X);
}

/* The definition is copied: what it pointed to may change or vanish. */
static void definition_is_copied(void **state)
{
  rig *r = *state;
  ga_system_def d = everything();
  int row[] = {0, 1}, col[] = {1, 0};
  ga_factor factor = plane[0];
  d.factors = &factor;
  d.n_pattern = 2;
  d.pattern_row = row;
  d.pattern_col = col;
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  row[0] = col[0] = 99;
  factor.n = 77;
  memset(&d, 0xFF, sizeof d);
  assert_int_equal(r->sys->row[0], 0);
  assert_int_equal(r->sys->col[0], 1);
  assert_int_equal(ga_group_factor(ga_system_group(r->sys), 0, NULL, NULL).n, 2);
  assert_true(r->sys->def.mass == zeros);
}

/* Fills the text to the brim without an end for block X, and leaves it empty for block Y. */
static void name_badly(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  (void)user;
  if (block == GA_BLOCK_X) memset(text, 'x', size);
  if (block == GA_BLOCK_LAMBDA) snprintf(text, size, "hinge %d", index);
}

static void names(void **state)
{
  rig *r = *state;
  static const char *const own[] = {"dynamics 1", "phi 1", "k 1", "state 1", "output 1", "phi_dot 1"};
  ga_system_def d = everything();
  char text[16], described[64];
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  for (int b = GA_BLOCK_V; b <= GA_BLOCK_ETA; b++) {
    ga_system_name(r->sys, (ga_equation_block)b, 1, text, sizeof text);
    assert_string_equal(text, own[b]);
    ga__describe(r->sys, (ga_equation_block)b, 1, described, sizeof described);
    assert_string_equal(described, own[b]);
  }
  ga_system_name(r->sys, GA_BLOCK_V, 0, text, 5); /* cut */
  assert_string_equal(text, "dyna");
  ga_system_name(r->sys, GA_BLOCK_V, 0, NULL, 0);
  ga_system_destroy(&r->sys);

  d.name = name_badly;
  assert_status(r->ctx, ga_system_create(r->ctx, &d, &r->sys), GA_OK);
  ga_system_name(r->sys, GA_BLOCK_LAMBDA, 0, text, sizeof text);
  assert_string_equal(text, "hinge 0");
  ga_system_name(r->sys, GA_BLOCK_ETA, 0, text, sizeof text); /* that of the constraint */
  assert_string_equal(text, "hinge 0");
  ga_system_name(r->sys, GA_BLOCK_X, 0, text, sizeof text);
  assert_string_equal(text, "xxxxxxxxxxxxxxx");
  ga_system_name(r->sys, GA_BLOCK_Y, 0, text, sizeof text);
  assert_string_equal(text, "output 0");
  ga__describe(r->sys, GA_BLOCK_ETA, 0, described, sizeof described);
  assert_string_equal(described, "'hinge 0' (phi_dot 0)");
}

static void destroy_nothing(void **state)
{
  ga_system *none = NULL;
  ga_stepper *no_stepper = NULL;
  (void)state;
  ga_system_destroy(NULL);
  ga_system_destroy(&none);
  ga_stepper_destroy(NULL);
  ga_stepper_destroy(&no_stepper);
}

static void finding_bad_numbers(void **state)
{
  double a[5] = {1.0, -3.0, 2.0, 0.0, 3.0};
  int at;
  (void)state;
  assert_int_equal(ga__first_bad(a, 5), -1);
  assert_int_equal(ga__first_bad(a, 0), -1);
  assert_true(ga__max_abs(a, 5, &at) == 3.0);
  assert_int_equal(at, 1);
  assert_true(ga__max_abs(a, 0, &at) == 0.0);
  assert_int_equal(at, -1);
  a[0] = 1.7e308; /* large, but a number: sums of them are not */
  a[4] = 1.7e308;
  assert_int_equal(ga__first_bad(a, 5), -1);
  a[3] = -INFINITY;
  assert_int_equal(ga__first_bad(a, 5), 3);
  a[2] = NAN;
  assert_int_equal(ga__first_bad(a, 5), 2);
}

static int set_up(void **state)
{
  rig *r = malloc(sizeof *r);
  if (!r) return -1;
  *r = rig_open(NULL);
  *state = r;
  return 0;
}

static int tear_down(void **state)
{
  rig_close(*state);
  free(*state);
  return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(missing_arguments), TEST(missing_callbacks),  TEST(wrong_sizes),          TEST(wrong_patterns),
      TEST(sizes_and_places),  TEST(empty_blocks),       TEST(definition_is_copied), TEST(names),
      TEST(destroy_nothing),   TEST(finding_bad_numbers)};
  return cmocka_run_group_tests_name("core: system", tests, NULL, NULL);
}
