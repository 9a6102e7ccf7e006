/* Iteration matrices of large systems against the table of rules, read a second time here, entry by entry.
 * What the numbers mean plays no part: they are random, over patterns that are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

enum { BODIES = 64, JOINTS = BODIES, N_X = 2, N_Y = 3, MOST_ENTRIES = 40000 };

typedef struct sketch {
  int n, row[MOST_ENTRIES], col[MOST_ENTRIES];
  unsigned char in[MOST_ENTRIES];
  int whole; /* 1: all entries in all arrays */
} sketch;

static int nothing(void *user, const ga_point *p, double *out)
{
  (void)user;
  (void)p;
  (void)out;
  return 0;
}

static int no_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  (void)user;
  (void)p;
  (void)J;
  return 0;
}

/* Three by three, by columns or by rows; now and then not all of it in all arrays. */
static void add_tile(sketch *s, rig_random *random, int row, int col)
{
  const unsigned char all = GA_WANT_D | GA_WANT_Q | GA_WANT_G;
  const int by_rows = rig_uniform(random, 0, 1) < 0.1, some = rig_uniform(random, 0, 1) < 0.3 && !s->whole;
  for (int i = 0; i < 9; i++) {
    assert_true(s->n < MOST_ENTRIES);
    s->row[s->n] = row + (by_rows ? i / 3 : i % 3);
    s->col[s->n] = col + (by_rows ? i % 3 : i / 3);
    s->in[s->n++] = some ? (unsigned char)(all & (unsigned)rig_uniform(random, 0, 8)) : all;
  }
}

static void add_one(sketch *s, int row, int col)
{
  s->row[s->n] = row, s->col[s->n] = col;
  s->in[s->n++] = GA_WANT_D | GA_WANT_Q | GA_WANT_G;
}

/* A chain: each body feels itself and its neighbours, each joint holds two of them; some of them are seen by
 * outputs, which push others. */
static ga_system *chain(ga_context *ctx, sketch *s, rig_random *random)
{
  ga_factor factor[BODIES];
  int cluster[6 * BODIES];
  ga_system_def def = ga_system_defaults();
  const int lambda = 6 * BODIES, x = lambda + 3 * JOINTS, y = x + N_X;
  ga_system *sys = NULL;
  s->n = 0;
  for (int i = 0; i < BODIES; i++) {
    factor[i] = (ga_factor){i % 8 == 3   ? GA_SE3
                            : i % 8 == 6 ? GA_RN
                                         : GA_R3SO3,
                            i % 8 == 6 ? 6 : 0, i % 2 || i % 8 == 6 ? GA_LEFT : GA_RIGHT};
    for (int j = i > 0 ? i - 1 : 0; j < BODIES && j <= i + 1; j++)
      for (int k = 0; k < 4; k++) add_tile(s, random, 6 * i + 3 * (k / 2), 6 * j + 3 * (k % 2));
    for (int j = i; j < JOINTS && j <= i + 1; j++)
      for (int k = 0; k < 2; k++) {
        add_tile(s, random, 6 * i + 3 * k, lambda + 3 * j);
        add_tile(s, random, lambda + 3 * j, 6 * i + 3 * k);
      }
    if (i % 4 == 0) add_tile(s, random, y, 6 * i + 3);
    if (i % 4 == 1) add_tile(s, random, 6 * i, y);
    if (i % 4 == 2) add_one(s, x, 6 * i + 4), add_one(s, 6 * i + 2, x + 1);
  }
  add_one(s, x, x), add_one(s, x, x + 1), add_one(s, y, y + 1), add_one(s, y + 2, x);
  def.n_factors = BODIES;
  def.factors = factor;
  def.n_lambda = 3 * JOINTS;
  def.n_x = N_X;
  def.n_y = N_Y;
  def.mass = def.force = def.phi = def.state = def.output = nothing;
  for (int i = 0; i < 6 * BODIES; i++) cluster[i] = i / 6;
  def.cluster = cluster;
  def.n_pattern = s->n;
  def.pattern_row = s->row;
  def.pattern_col = s->col;
  def.pattern_in = s->in;
  assert_status(ctx, ga_system_create(ctx, &def, &sys), GA_OK);
  return sys;
}

typedef struct numbers {
  double *source[GA__N_SOURCES], *T, *TA, *B_n;
  int *first_b, *next_b; /* [nv], [n_b] entries of B by column; −1: no more */
  ga__assembly_input in;
} numbers;

static double *random_array(rig_random *random, int n)
{
  double *a = malloc((size_t)n * sizeof *a + sizeof *a);
  assert_non_null(a);
  for (int i = 0; i < n; i++) a[i] = rig_uniform(random, -1, 1);
  a[n] = 0; /* four are read where three are meant */
  return a;
}

static numbers numbers_open(const ga_system *sys, rig_random *random)
{
  static const unsigned array[GA__FROM_UNIT] = {GA_WANT_D, GA_WANT_Q, GA_WANT_G, GA_WANT_D};
  const int blocks = ga_group_blocks_length(sys->group);
  numbers x = {.T = random_array(random, blocks),
               .TA = random_array(random, blocks),
               .B_n = random_array(random, sys->n_b)};
  x.in.source[GA__FROM_UNIT] = x.source[GA__FROM_UNIT] = random_array(random, 1);
  x.source[GA__FROM_UNIT][0] = 1;
  for (int k = 0; k < GA__FROM_UNIT; k++) {
    x.in.source[k] = x.source[k] = random_array(random, sys->n_entries);
    for (int e = 0; e < sys->n_entries; e++)
      if (!(sys->in[e] & array[k])) x.source[k][e] = 0;
  }
  x.first_b = malloc((size_t)sys->nv * sizeof *x.first_b);
  x.next_b = malloc((size_t)sys->n_b * sizeof *x.next_b);
  assert_true(x.first_b && x.next_b);
  for (int c = 0; c < sys->nv; c++) x.first_b[c] = -1;
  for (int b = 0; b < sys->n_b; b++) {
    x.next_b[b] = x.first_b[sys->b_col[b]];
    x.first_b[sys->b_col[b]] = b;
  }
  for (int k = 0; k < GA__MAX_SCALES; k++) x.in.scale[k] = rig_uniform(random, 0.5, 2);
  x.in.diag_x = 3;
  x.in.T = x.T, x.in.TA = x.TA, x.in.B_n = x.B_n;
  return x;
}

static void numbers_close(numbers *x)
{
  for (int k = 0; k < GA__N_SOURCES; k++) free(x->source[k]);
  free(x->T);
  free(x->TA);
  free(x->B_n);
  free(x->first_b);
  free(x->next_b);
}

static void add_to(double *K, const ga__assembly *as, int row, int col, double x)
{
  const int place = ga_sparse_find(as->K, row, col);
  if (x == 0) return;
  assert_true(place >= 0);
  K[place] += x;
}

/* K(row, η) −= x B_nᵀ, x in one column */
static void add_etas(double *K, const ga__assembly *as, const numbers *x, int row, int col, double value)
{
  const ga_system *sys = as->sys;
  const int eta = sys->n + sys->start[GA_BLOCK_LAMBDA] - as->layout.extra_from;
  for (int b = x->first_b[col]; b >= 0; b = x->next_b[b])
    add_to(K, as, row, eta + sys->b_row[b], -value * x->B_n[b]);
}

/* The tangent block that a column belongs to; size 0: none. */
typedef struct block {
  int start, size, packed;
} block;

static void by_rule(double *K, const ga__assembly *as, const numbers *x, const ga__rule *rule,
                    const block *block_of)
{
  const ga_system *sys = as->sys;
  const int etas = rule->eta && rule->eta <= as->layout.eta_level;
  const int unit = rule->source == GA__FROM_UNIT;
  for (int e = 0; e < (unit ? sys->nv : sys->n_entries); e++) {
    const double value = x->in.scale[rule->scale] * (unit ? 1 : x->source[rule->source][e]);
    const int from = unit ? e : sys->row[e], col = unit ? e : sys->col[e];
    const int shift = sys->n - as->layout.extra_from;
    const int row = from + (rule->to_row ? shift : 0), to_col = rule->to_col ? shift : 0;
    const block b = rule->turned ? block_of[col] : (block){col, 0, 0};
    int index;
    if (ga__block_of(sys, from, &index) != rule->row) continue;
    if (!(rule->cols >> ga__block_of(sys, col, &index) & 1u)) continue;
    if (b.size == 0) {
      add_to(K, as, row, col + to_col, value);
      if (etas) add_etas(K, as, x, row, col, value);
    }
    for (int j = 0; j < b.size; j++) {
      const int at = b.packed + (col - b.start) * b.size + j;
      add_to(K, as, row, b.start + j + to_col, value * x->TA[at]);
      if (etas) add_etas(K, as, x, row, b.start + j, value * x->T[at]);
    }
  }
}

static void assert_filled(const ga__assembly *as, const numbers *x, const char *what)
{
  const ga_system *sys = as->sys;
  double *K = calloc((size_t)as->K->nnz, sizeof *K);
  block *block_of = calloc((size_t)sys->n, sizeof *block_of);
  assert_true(K && block_of);
  for (int k = 0, packed = 0; k < ga_group_n_blocks(sys->group); k++) {
    int start, size = ga_group_block(sys->group, k, &start);
    for (int c = start; c < start + size; c++) block_of[c] = (block){start, size, packed};
    packed += size * size;
  }
  for (int i = 0; i < as->layout.n_rules; i++)
    if (as->layout.n_extra || !(as->layout.rule[i].to_row || as->layout.rule[i].to_col))
      by_rule(K, as, x, &as->layout.rule[i], block_of);
  for (int i = sys->start[GA_BLOCK_X]; i < sys->n; i++)
    add_to(K, as, i, i, i < sys->start[GA_BLOCK_Y] ? x->in.diag_x : 1.0);
  for (int i = 0; i < as->K->nnz; i++) assert_near(as->K->value[i], K[i], 1e-12, what);
  free(K);
  free(block_of);
}

static const struct {
  ga_method method;
  ga__matrix_form form;
  ga_lu_kind lu;
  int expanded;
} MATRICES[] = {{GA_INDEX3, GA__COMPLETE, GA_LU_AUTO, 0},      {GA_STABILIZED, GA__REDUCED, GA_LU_AUTO, 0},
                {GA_STABILIZED, GA__COMPLETE, GA_LU_DENSE, 0}, {GA_STABILIZED, GA__COMPLETE, GA_LU_AUTO, 1},
                {GA_WEIGHTED, GA__COMPLETE, GA_LU_AUTO, 0},    {GA_SOI2, GA__COMPLETE, GA_LU_AUTO, 0}};

/* Several times over the same matrix: whatever was there must not be seen. */
static void matrices_follow_the_rules(void **state)
{
  static sketch s;
  rig_random random = rig_seed(0);
  (void)state;
  for (int round = 0; round < (rig_brief() ? 3 : 12); round++) {
    ga_context *ctx = NULL;
    assert_int_equal(rig_context(&ctx), GA_OK);
    ga_system *sys = chain(ctx, &s, &random);
    for (int matrix = 0; matrix < (int)(sizeof MATRICES / sizeof *MATRICES); matrix++) {
      const ga__method *method = ga__method_of(MATRICES[matrix].method);
      ga_stepper st = {.sys = sys, .method = method, .family = method->family};
      if (method->has_eta) st.n_eta = sys->size[GA_BLOCK_LAMBDA];
      st.opts.newton.eta_terms = MATRICES[matrix].form == GA__COMPLETE ? GA_ETA_FULL : GA_ETA_TRIANGULAR;
      ga__layout layout;
      st.opts.lu = MATRICES[matrix].lu;
      assert_status(ctx, st.family->layout(&st, MATRICES[matrix].form, 0, &layout), GA_OK);
      assert_true(layout.n_rules > 0);
      assert_int_equal(layout.expanded, MATRICES[matrix].expanded);
      ga__assembly as;
      char what[64];
      assert_status(ctx, ga__assembly_create(sys, &layout, round % 2 ? GA_LU_BLOCKS : GA_LU_SPARSE, &as),
                    GA_OK);
      snprintf(what, sizeof what, "pattern %d, matrix %d", round, matrix);
      for (int time = 0; time < 2; time++) {
        numbers x = numbers_open(sys, &random);
        ga__assembly_fill(&as, &x.in);
        assert_filled(&as, &x, what);
        numbers_close(&x);
      }
      ga__assembly_destroy(&as);
    }
    ga_system_destroy(&sys);
    ga_context_destroy(&ctx);
  }
}

/* The expanded matrix has the solutions of the complete one. */
static void expanded_matrices_solve_the_same(void **state)
{
  static sketch s;
  rig_random random = rig_seed(0);
  ga_context *ctx = NULL;
  (void)state;
  assert_int_equal(rig_context(&ctx), GA_OK);
  s.whole = 1;
  ga_system *sys = chain(ctx, &s, &random);
  const ga__method *method = ga__method_of(GA_STABILIZED);
  const int n = sys->n + sys->size[GA_BLOCK_LAMBDA];
  double *r[2] = {random_array(&random, n), random_array(&random, n)}, most = 0, apart = 0;
  numbers x = numbers_open(sys, &random);
  for (int e = 0; e < sys->n_entries; e++) /* far from singular */
    if (sys->row[e] == sys->col[e] && sys->row[e] < sys->nv && x.source[GA__FROM_D][e] != 0)
      x.source[GA__FROM_D][e] += 20;
  x.in.scale[GA__EXACT_ONE] = 1, x.in.scale[GA__EXACT_MINUS] = -1;
  memcpy(r[1], r[0], (size_t)n * sizeof *r[0]);
  for (int i = 0; i < 2; i++) {
    ga_stepper st = {.sys = sys, .method = method, .family = method->family};
    ga__layout layout;
    ga__assembly as;
    ga_lu *lu = NULL;
    st.n_eta = sys->size[GA_BLOCK_LAMBDA];
    st.opts.newton.eta_terms = GA_ETA_FULL;
    st.opts.lu = i ? GA_LU_AUTO : GA_LU_DENSE;
    assert_status(ctx, st.family->layout(&st, GA__COMPLETE, 0, &layout), GA_OK);
    assert_status(ctx, ga__assembly_create(sys, &layout, st.opts.lu, &as), GA_OK);
    assert_int_equal(ga__assembly_unknowns(&as), n);
    assert_status(ctx, ga__assembly_lu(&as, st.opts.lu, &lu), GA_OK);
    ga__assembly_fill(&as, &x.in);
    assert_status(ctx, ga_lu_factor(lu), GA_OK);
    assert_status(ctx, ga__assembly_solve(&as, lu, r[i]), GA_OK);
    ga_lu_destroy(&lu);
    ga__assembly_destroy(&as);
  }
  for (int i = 0; i < n; i++) most = fmax(most, fabs(r[0][i])), apart = fmax(apart, fabs(r[1][i] - r[0][i]));
  assert_true(apart <= 1e-8 * most);
  for (int i = 0; i < 2; i++) free(r[i]);
  numbers_close(&x);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
}

/* So many constraints on one coordinate that their multipliers η would all meet each other. */
static void too_many_etas_are_refused(void **state)
{
  enum { N = 40000 };
  static int row[4 * N], col[4 * N];
  const ga_factor factor = {GA_RN, N + 1, GA_LEFT};
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_system_def def = ga_system_defaults();
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_stepper *st = NULL;
  (void)state;
  assert_int_equal(rig_context(&ctx), GA_OK);
  for (int i = 0; i < 4 * N; i++) {
    const int phi = N + 1 + i / 4, q = i % 2 ? 1 + i / 4 : 0;
    row[i] = i % 4 < 2 ? phi : q;
    col[i] = i % 4 < 2 ? q : phi;
  }
  def.n_factors = 1;
  def.factors = &factor;
  def.n_lambda = N;
  def.mass = def.force = def.phi = nothing;
  def.jacobian = no_jacobian; /* differences would colour the columns first */
  def.n_pattern = 4 * N;
  def.pattern_row = row;
  def.pattern_col = col;
  assert_status(ctx, ga_system_create(ctx, &def, &sys), GA_OK);
  assert_status(ctx, ga_stepper_create(ctx, sys, &opts, &st), GA_ERR_ARGUMENT);
  assert_call_error(ctx, GA_REASON_TOO_MANY, "stepper", NULL);
  assert_error_number(ctx, 0, 1600440000.0);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_follow_the_rules),
                                     cmocka_unit_test(expanded_matrices_solve_the_same),
                                     cmocka_unit_test(too_many_etas_are_refused)};
  return cmocka_run_group_tests_name("core: filling of iteration matrices", tests, rig_hook_klu, NULL);
}
