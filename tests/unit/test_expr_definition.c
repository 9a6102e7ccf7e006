/* Functions of several arguments: the same values, derivatives, sides and breaks as texts written out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "core_rig.h"

enum { N = 3 };
static const char *const VARIABLE[N] = {"t", "x", "y"};

typedef struct deck {
  ga_context *ctx;
  ga_definition *flow, *both;
  ga_symbol symbol[N + 2];
} deck;

/* flow(K, p): s = p^2 + 1, r = sqrt(s), K*p/sqrt(r) + if(p > 0, K, -K);  both(a, b) = flow(a, b) - flow(b,
 * a*b) */
static ga_status make(deck *r)
{
  static const char *const args[] = {"K", "p"}, *const locals[] = {"s", "r"},
                           *const texts[] = {"p^2 + 1", "sqrt(s)"}, *const two[] = {"a", "b"};
  ga_definition_opts o = ga_definition_defaults();
  o.n_args = 2, o.args = args, o.n_locals = 2, o.locals = locals, o.texts = texts;
  o.value = "K*p/sqrt(r) + if(p > 0 && K > -9, K, -K)";
  ga_status status = ga_definition_create(r->ctx, &o, NULL, NULL, &r->flow);
  if (status) return status;
  const ga_symbol inner = {.name = "flow", .kind = GA_SYMBOL_DEFINITION, .definition = r->flow};
  o = ga_definition_defaults();
  o.n_args = 2, o.args = two, o.value = "flow(a, b) - flow(b, a*b)", o.symbols = &inner, o.n_symbols = 1;
  status = ga_definition_create(r->ctx, &o, NULL, NULL, &r->both);
  for (int i = 0; i < N; i++)
    r->symbol[i] = (ga_symbol){.name = VARIABLE[i], .kind = GA_SYMBOL_VARIABLE, .index = i};
  r->symbol[N] = inner;
  r->symbol[N + 1] = (ga_symbol){.name = "both", .kind = GA_SYMBOL_DEFINITION, .definition = r->both};
  return status;
}

static void free_rig(deck *r)
{
  ga_definition_destroy(&r->flow);
  ga_definition_destroy(&r->both);
}

#define FLOW(K, p)                                                                                           \
  "((" K ")*(" p ")/sqrt(sqrt((" p ")^2+1)) + if((" p ")>0 && (" K ")>-9, (" K "), -(" K ")))"

static const struct {
  const char *called, *written;
} CASE[] = {
    {"flow(x, y)", FLOW("x", "y")},
    {"2*x + flow(t*x, sin(y))*3", "2*x + " FLOW("t*x", "sin(y)") "*3"},
    {"both(x, y)", "(" FLOW("x", "y") "-" FLOW("y", "(x)*(y)") ")"},
    {"t + if(x > 0, both(x, flow(y, t)), flow(1, x)) - y",
     "t + if(x > 0, (" FLOW("x", FLOW("y", "t")) "-" FLOW(
         FLOW("y", "t"), "(x)*(" FLOW("y", "t") ")") "), " FLOW("1", "x") ") - y"},
    {"flow(x, flow(x, flow(x, t - 0.5)))", FLOW("x", FLOW("x", FLOW("x", "t-0.5")))},
};

static void definitions_are_what_is_written_out(void **state)
{
  static const int wrt[N] = {0, 1, 2};
  deck r = {.ctx = rig_open_context()};
  rig_random random = rig_seed(1);
  (void)state;
  assert_status(r.ctx, make(&r), GA_OK);
  assert_int_equal(ga_definition_n_args(r.flow), 2);
  for (size_t c = 0; c < sizeof CASE / sizeof *CASE; c++) {
    ga_expr *e[2] = {NULL, NULL};
    assert_status(r.ctx, ga_expr_compile(r.ctx, CASE[c].called, r.symbol, N + 2, NULL, &e[0]), GA_OK);
    assert_status(r.ctx, ga_expr_compile(r.ctx, CASE[c].written, r.symbol, N, NULL, &e[1]), GA_OK);
    for (int n = 0; n < 30; n++) {
      double x[N], value[2], g[2][N], H[2][N * N];
      unsigned side[2][2] = {{1, 1}, {1, 1}};
      for (int i = 0; i < N; i++) x[i] = rig_uniform(&random, -2, 2);
      for (int k = 0; k < 2; k++)
        assert_int_equal(ga_expr_hessian(e[k], x, N, wrt, &value[k], g[k], H[k], NULL), GA_OK);
      assert_near(value[0], value[1], 1e-14 * (1 + fabs(value[1])), "value");
      for (int i = 0; i < N; i++) assert_near(g[0][i], g[1][i], 1e-13 * (1 + fabs(g[1][i])), "gradient");
      for (int i = 0; i < N * N; i++) assert_near(H[0][i], H[1][i], 1e-12 * (1 + fabs(H[1][i])), "hessian");
      for (int k = 0; k < 2; k++) { /* a side changes where that of the written one does */
        assert_int_equal(ga_expr_side(e[k], x, &side[k][0]), GA_OK);
        x[0] += 0.7;
        assert_int_equal(ga_expr_side(e[k], x, &side[k][1]), GA_OK);
        x[0] -= 0.7;
      }
      assert_int_equal(side[0][0] == side[0][1], side[1][0] == side[1][1]);
      double lo[N], hi[N], least, most;
      for (int i = 0; i < N; i++) lo[i] = x[i] - 0.1, hi[i] = x[i] + 0.1;
      if (ga_expr_bounds(e[0], lo, hi, &least, &most))
        assert_true(least <= value[0] && value[0] <= most);
      else
        fail_msg("'%s' has no bounds", CASE[c].called);
    }
    assert_int_equal(ga_expr_has_edges(e[0], 0), ga_expr_has_edges(e[1], 0));
    for (double t = -1; t < 1;) {
      ga_break b[2];
      for (int k = 0; k < 2; k++) assert_int_equal(ga_expr_next_break(e[k], 0, t, 1, &b[k]), GA_OK);
      assert_int_equal(isfinite(b[0].after), isfinite(b[1].after));
      if (!isfinite(b[0].after)) break;
      assert_near(b[0].after, b[1].after, 1e-9, "break");
      t = b[0].after;
    }
    ga_expr_destroy(&e[0]);
    ga_expr_destroy(&e[1]);
  }
  free_rig(&r);
  ga_context_destroy(&r.ctx);
}

/* Faults name the call. */
static void faults_have_their_place(void **state)
{
  static const char *const args[] = {"p"};
  deck r = {.ctx = rig_open_context()};
  ga_definition_opts o = ga_definition_defaults();
  ga_fault fault;
  ga_expr *e = NULL;
  double value;
  const double x = -2;
  (void)state;
  o.n_args = 1, o.args = args, o.value = "log(p)";
  assert_status(r.ctx, ga_definition_create(r.ctx, &o, NULL, NULL, &r.flow), GA_OK);
  const ga_symbol symbol[] = {{.name = "x", .kind = GA_SYMBOL_VARIABLE},
                              {.name = "f", .kind = GA_SYMBOL_DEFINITION, .definition = r.flow}};
  assert_status(r.ctx, ga_expr_compile(r.ctx, "1 + f(x)", symbol, 2, NULL, &e), GA_OK);
  ga_definition_destroy(&r.flow); /* the expression has its own copy */
  assert_int_equal(ga_expr_eval(e, &x, &value, &fault), GA_RETRY_NAN);
  assert_string_equal(fault.operation, "log");
  assert_int_equal(fault.column, 5);
  assert_int_equal(fault.length, 4);
  ga_expr_destroy(&e);
  ga_context_destroy(&r.ctx);
}

static void wrong_definitions_are_refused(void **state)
{
  static const char *const ab[] = {"a", "b"}, *const aa[] = {"a", "a"}, *const text[] = {"b"};
  deck r = {.ctx = rig_open_context()};
  const struct {
    ga_definition_opts o;
    int which;
  } wrong[] = {{{.n_args = 0, .args = ab, .value = "1"}, -1},
               {{.n_args = 17, .args = ab, .value = "1"}, -1},
               {{.n_args = 2, .args = NULL, .value = "1"}, -1},
               {{.n_args = 2, .args = aa, .value = "1"}, -1},
               {{.n_args = 1, .args = ab, .n_locals = -1, .value = "1"}, -1},
               {{.n_args = 1, .args = ab, .n_locals = 1, .value = "1"}, -1},
               {{.n_args = 1, .args = ab, .n_symbols = 1, .value = "1"}, -1},
               {{.n_args = 1, .args = ab, .value = "b"}, 0},
               {{.n_args = 1, .args = ab, .value = "a +"}, 0},
               {{.n_args = 1, .args = ab, .n_locals = 1, .locals = ab + 1, .texts = text, .value = "a"}, 0}};
  ga_expr *e = NULL;
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    int which = 7;
    assert_int_equal(ga_definition_create(r.ctx, &wrong[i].o, &which, NULL, &r.flow), GA_ERR_ARGUMENT);
    assert_null(r.flow);
    assert_int_equal(which, wrong[i].which);
  }
  assert_status(r.ctx, make(&r), GA_OK);
  ga_text_error error;
  assert_int_equal(ga_expr_compile(r.ctx, "1 + flow(x)", r.symbol, N + 2, &error, &e), GA_ERR_ARGUMENT);
  assert_int_equal(error.column, 5);
  assert_non_null(strstr(ga_context_error(r.ctx)->text, "2 arguments"));
  assert_int_equal(ga_expr_compile(r.ctx, "flow + 1", r.symbol, N + 2, NULL, &e), GA_ERR_ARGUMENT);
  free_rig(&r);
  ga_context_destroy(&r.ctx);
}

/* Each calls the one before four times: there is a limit to what an expression may contain. */
static void copies_have_a_limit(void **state)
{
  static const char *const a[] = {"a"};
  ga_context *ctx = rig_open_context();
  ga_definition *d[12] = {NULL};
  ga_status status = GA_OK;
  int n = 0;
  (void)state;
  for (; n < 12 && !status; n++) {
    const ga_symbol last = {.name = "f", .kind = GA_SYMBOL_DEFINITION, .definition = n ? d[n - 1] : NULL};
    ga_definition_opts o = ga_definition_defaults();
    o.n_args = 1, o.args = a, o.value = n ? "f(a) + f(2*a) + f(a/3) - f(a^2)" : "sin(a)";
    o.symbols = &last, o.n_symbols = n > 0;
    status = ga_definition_create(ctx, &o, NULL, NULL, &d[n]);
  }
  assert_int_equal(status, GA_ERR_ARGUMENT);
  assert_true(n > 5);
  for (int i = 0; i < 12; i++) ga_definition_destroy(&d[i]);
  ga_context_destroy(&ctx);
}

static void memory_may_fail(void **state)
{
  (void)state;
  for (long n = 1, failed = 1; failed; n++) {
    deck r = {NULL};
    ga_expr *e = NULL;
    rig_memory = (rig_heap){0, 0, 0, 0};
    assert_int_equal(rig_context(&r.ctx), GA_OK);
    rig_memory.fail_at = rig_memory.count + n;
    ga_status status = make(&r);
    if (!status) status = ga_expr_compile(r.ctx, CASE[3].called, r.symbol, N + 2, NULL, &e);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    ga_expr_destroy(&e);
    free_rig(&r);
    ga_context_destroy(&r.ctx);
    assert_int_equal(rig_memory.live, 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(definitions_are_what_is_written_out),
      cmocka_unit_test(faults_have_their_place),
      cmocka_unit_test(wrong_definitions_are_refused),
      cmocka_unit_test(copies_have_a_limit),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
