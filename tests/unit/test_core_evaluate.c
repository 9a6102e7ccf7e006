/* Public evaluation: residuals, matrices against differences of the residuals, combined matrices, and
 * solutions with their transposes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

/* ---- A system with everything at once, by differences ---- */

enum { NQ = 12 + 9 + 2, NV = 6 + 3 + 2, NL = 2, NP = 2, NX = 3, NY = 2, MOST = NV + NL + NP + NX + NY };

/* Smooth numbers that depend on all of them; i distinguishes the functions. */
static double mix(int i, const double *a, int n)
{
  double sum = 0.0;
  for (int j = 0; j < n; j++) sum += sin(0.7 * a[j] + 0.3 * (i + 1) * (j + 1));
  return sum;
}

static int all_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++)
    out[i] = (2.0 + 0.1 * mix(i, p->q, NQ)) * p->vdot[i] + 0.2 * p->vdot[(i + 1) % NV];
  return 0;
}

static int all_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NV; i++)
    out[i] = mix(i, p->q, NQ) + mix(i + 1, p->v, NV) + mix(i + 2, p->lambda, NL) + mix(i + 3, p->psi, NP) +
             mix(i + 4, p->x, NX) + mix(i + 5, p->y, NY) * p->v[0];
  return 0;
}

static int all_phi(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NL; i++) out[i] = mix(i, p->q, NQ) + sin(p->t + i);
  return 0;
}

static int all_k(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NP; i++) out[i] = mix(i, p->q, NQ) * p->v[i] + mix(i + 1, p->v, NV);
  return 0;
}

static double signal(int i, const ga_point *p)
{
  return mix(i, p->q, NQ) + mix(i, p->v, NV) + mix(i, p->vdot, NV) + mix(i, p->lambda, NL) +
         mix(i, p->psi, NP) + mix(i, p->x, NX) * p->x[0] + 0.1 * mix(i, p->y, NY);
}

static int all_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NX; i++) out[i] = signal(i, p);
  return 0;
}

static int all_output(void *user, const ga_point *p, double *out)
{
  (void)user;
  for (int i = 0; i < NY; i++) out[i] = 0.3 * signal(i + NX, p);
  return 0;
}

static void define_all(ga_system_def *def)
{
  static const ga_factor factors[] = {{GA_SE3, 0, GA_LEFT}, {GA_SO3, 0, GA_RIGHT}, {GA_RN, 2, GA_LEFT}};
  def->n_factors = 3;
  def->factors = factors;
  def->n_lambda = NL, def->n_psi = NP, def->n_x = NX, def->n_y = NY;
  def->mass = all_mass, def->force = all_force, def->phi = all_phi, def->k = all_k;
  def->state = all_state, def->output = all_output;
  def->rheonomic = 1;
}

/* ---- Differences of the residuals ---- */

enum { WITH_RATE = 2 * RIG_MOST };

/* r, and B v + Φ_t behind it. */
static void residual(ga_evaluation *ev, const ga_system *sys, const ga_point *p, double *r)
{
  assert_status(sys->ctx, ga_evaluation_residual(ev, p, NULL, r, r + sys->n), GA_OK);
}

/* Column j of what belongs to `by`, all rows, of fourth order. */
static void difference(ga_evaluation *ev, const ga_system *sys, const rig_spot *at, ga_by by, int j, double h,
                       double *out)
{
  static const double step[] = {1, -1, 2, -2}, weight[] = {8, -8, -1, 1};
  double r[WITH_RATE], d[RIG_MOST] = {0};
  for (int i = 0; i < sys->n + sys->size[GA_BLOCK_LAMBDA]; i++) out[i] = 0.0;
  for (int s = 0; s < 4; s++) {
    rig_spot moved = *at;
    double *const array[GA_N_BY] = {moved.vdot, moved.v, NULL, moved.lambda, moved.psi, moved.x, moved.y};
    moved.p =
        (ga_point){at->p.t, moved.q, moved.v, moved.vdot, moved.lambda, moved.psi, moved.x, moved.y, 0, NULL};
    if (by == GA_BY_Q) {
      d[j] = step[s] * h;
      ga_group_move(sys->group, moved.q, at->q, d);
    } else {
      array[by][j] += step[s] * h;
    }
    residual(ev, sys, &moved.p, r);
    for (int i = 0; i < sys->n + sys->size[GA_BLOCK_LAMBDA]; i++) out[i] += weight[s] * r[i] / (12.0 * h);
  }
}

static int columns_of(const ga_system *sys, ga_by by)
{
  return by <= GA_BY_Q ? sys->nv : sys->size[by - GA_BY_Q];
}

static double number(const ga_sparse *A, int row, int col)
{
  const int p = ga_sparse_find(A, row, col);
  return p < 0 ? 0.0 : A->value[p];
}

/* Every matrix against differences of steps h; returns the largest error, relative to the column. */
static double matrices_off(ga_evaluation *ev, const ga_system *sys, const rig_spot *at, double h)
{
  double expected[WITH_RATE], worst = 0.0;
  assert_status(sys->ctx, ga_evaluation_jacobian(ev, &at->p), GA_OK);
  for (int by = 0; by < GA_N_BY; by++)
    for (int j = 0; j < columns_of(sys, (ga_by)by); j++) {
      difference(ev, sys, at, (ga_by)by, j, h, expected);
      const double scale = 1.0 + ga__max_abs(expected, sys->n + sys->size[GA_BLOCK_LAMBDA], NULL);
      for (int b = GA_BLOCK_V; b <= GA_BLOCK_ETA; b++) {
        const ga_sparse *A = ga_evaluation_matrix(ev, (ga_equation_block)b, (ga_by)by);
        assert_non_null(A);
        assert_int_equal(A->rows, ga_system_size(sys, (ga_equation_block)b));
        assert_int_equal(A->cols, columns_of(sys, (ga_by)by));
        for (int i = 0; i < A->rows; i++) {
          const double off =
              fabs(number(A, i, j) - expected[ga_system_start(sys, (ga_equation_block)b) + i]) / scale;
          if (!(off <= worst)) worst = off;
        }
      }
    }
  return worst;
}

/* ---- The combined matrix, and its transpose ---- */

/* J x is the change of the residuals along (by_q x, by_v x, by_vdot x, x, ...). */
static void assert_combined(ga_evaluation *ev, const ga_system *sys, rig_random *random)
{
  static const double by[4] = {0.7, 1.3, 2.1, 0.4};
  static const double factor[GA_N_BY] = {2.1, 1.3, 0.7, 1, 1, 1, 1};
  double x[RIG_MOST], y[RIG_MOST], part[RIG_MOST], expected[RIG_MOST] = {0};
  for (int i = 0; i < sys->n; i++) x[i] = rig_uniform(random, -1, 1);
  for (int b = 0; b < GA_N_BLOCKS; b++)
    for (int k = 0; k < GA_N_BY; k++) {
      const ga_equation_block cols = k <= GA_BY_Q ? GA_BLOCK_V : (ga_equation_block)(k - GA_BY_Q);
      ga_sparse_mul(part, ga_evaluation_matrix(ev, (ga_equation_block)b, (ga_by)k), x + sys->start[cols]);
      for (int i = 0; i < sys->size[b]; i++) expected[sys->start[b] + i] += factor[k] * part[i];
    }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    expected[sys->start[GA_BLOCK_X] + i] += by[3] * x[sys->start[GA_BLOCK_X] + i];
  const ga_sparse *J = ga_evaluation_combine(ev, by[0], by[1], by[2], by[3]);
  assert_non_null(J);
  ga_sparse_mul(y, J, x);
  for (int i = 0; i < sys->n; i++)
    assert_near(y[i], expected[i], 1e-12 * (1 + fabs(expected[i])), "combined matrix");
}

/* Jᵀ z = b by factors of J, of every kind, where J is regular. Returns 1 where it was. */
static int assert_transposed(ga_evaluation *ev, const ga_system *sys, rig_random *random)
{
  static const ga_lu_kind kind[] = {GA_LU_AUTO, GA_LU_DENSE, GA_LU_SPARSE};
  const ga_sparse *J = ga_evaluation_combine(ev, 1.0, 10.0, 100.0, 10.0);
  double z[RIG_MOST], b[RIG_MOST];
  for (int k = 0; k < 3; k++) {
    ga_lu *lu = NULL;
    ga_status status = ga_lu_create(sys->ctx, J, kind[k], &lu);
    if (!status) status = ga_lu_factor(lu);
    if (!status && ga_lu_get_info(lu)->rcond < 1e-8) status = GA_RETRY_SINGULAR;
    for (int i = 0; i < sys->n; i++) z[i] = rig_uniform(random, -1, 1);
    ga_sparse_mul_t(b, J, z);
    if (!status) assert_int_equal(ga_lu_solve_t(lu, b), GA_OK);
    ga_lu_destroy(&lu);
    if (status) return 0;
    for (int i = 0; i < sys->n; i++) assert_near(b[i], z[i], 1e-6, "transposed solution");
  }
  return 1;
}

/* ---- Tests ---- */

static void check_system(const rig *r, const rig_spot *at, double tolerance, const char *what, int *n_regular)
{
  rig_random random = rig_seed(0);
  ga_evaluation *ev = NULL;
  assert_status(r->ctx, ga_evaluation_create(r->ctx, r->sys, &ev), GA_OK);
  assert_null(ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_V));
  assert_null(ga_evaluation_combine(ev, 1, 1, 1, 1));
  /* by shorter steps where the equations bend much */
  if (matrices_off(ev, r->sys, at, 1e-3) > tolerance)
    assert_below(matrices_off(ev, r->sys, at, 2e-4), tolerance, what);
  assert_combined(ev, r->sys, &random);
  *n_regular += assert_transposed(ev, r->sys, &random);
  ga_evaluation_destroy(&ev);
  assert_null(ev);
}

static void matrices_of_problems(void **state)
{
  int n_checked = 0, n_regular = 0;
  (void)state;
  for (int i = 0; ex_problem_at(i); i++)
    for (int by_differences = 0; by_differences < 2; by_differences++) {
      rig r = rig_open(ex_problem_at(i)->name);
      rig_random random = rig_seed(100 + i);
      rig_spot at;
      if (by_differences) r.def.jacobian = NULL, r.def.sweep = NULL;
      assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
      if (r.sys->n <= RIG_MOST && r.sys->nq <= RIG_MOST) {
        rig_spot_random(&at, &r, &random);
        check_system(&r, &at, by_differences ? 3e-6 : 1e-7, ex_problem_at(i)->name, &n_regular);
        n_checked++;
      }
      rig_close(&r);
    }
  assert_true(n_checked >= 20 && n_regular >= 10);
}

static void random_spot(rig_spot *s, const ga_system *sys, rig_random *random)
{
  double d[NV], unit[NQ];
  rig_fill(d, NV, random);
  ga_group_identity(sys->group, unit);
  ga_group_move(sys->group, s->q, unit, d);
  rig_fill(s->v, NV, random), rig_fill(s->vdot, NV, random);
  rig_fill(s->lambda, NL, random), rig_fill(s->psi, NP, random);
  rig_fill(s->x, NX, random), rig_fill(s->y, NY, random);
  s->p = (ga_point){0.3, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

static void matrices_of_all_blocks(void **state)
{
  rig_random random = rig_seed(0);
  int n_regular = 0;
  (void)state;
  for (int turn = 0; turn < 5; turn++) {
    rig r = rig_open(NULL);
    rig_spot at;
    define_all(&r.def);
    assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
    random_spot(&at, r.sys, &random);
    check_system(&r, &at, 1e-6, "all blocks", &n_regular);
    rig_close(&r);
  }
  assert_int_equal(n_regular, 5);
}

static void residuals_are_those_of_the_callbacks(void **state)
{
  rig r = rig_open(NULL);
  rig_random random = rig_seed(0);
  rig_spot at;
  double r0[MOST], r1[MOST], f[NV], xdot[NX] = {0.5, -1.0, 2.0};
  ga_evaluation *ev = NULL;
  (void)state;
  define_all(&r.def);
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_evaluation_create(r.ctx, r.sys, &ev), GA_OK);
  random_spot(&at, r.sys, &random);
  assert_status(r.ctx, ga_evaluation_residual(ev, &at.p, NULL, r0, NULL), GA_OK);
  assert_status(r.ctx, ga_evaluation_residual(ev, &at.p, xdot, r1, NULL), GA_OK);
  double expected[MOST];
  all_mass(NULL, &at.p, expected), all_force(NULL, &at.p, f);
  for (int i = 0; i < NV; i++) expected[i] -= f[i];
  all_phi(NULL, &at.p, expected + NV), all_k(NULL, &at.p, expected + NV + NL);
  for (int i = 0; i < NX; i++) expected[NV + NL + NP + i] = -signal(i, &at.p);
  for (int i = 0; i < NY; i++) expected[NV + NL + NP + NX + i] = at.y[i] - 0.3 * signal(i + NX, &at.p);
  for (int i = 0; i < MOST; i++) {
    const int in_x = i >= NV + NL + NP && i < NV + NL + NP + NX;
    assert_near(r0[i], expected[i], 0.0, "residual");
    assert_near(r1[i], expected[i] + (in_x ? xdot[i - NV - NL - NP] : 0.0), 0.0, "residual with xdot");
  }
  ga_evaluation_destroy(&ev);
  rig_close(&r);
}

static void nothing_is_allocated_at_points(void **state)
{
  rig r = rig_open("mechatronic");
  rig_random random = rig_seed(0);
  rig_spot at;
  double residuals[WITH_RATE];
  ga_evaluation *ev = NULL;
  (void)state;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_evaluation_create(r.ctx, r.sys, &ev), GA_OK);
  rig_spot_random(&at, &r, &random);
  const long before = rig_memory.count;
  residual(ev, r.sys, &at.p, residuals);
  assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_OK);
  const ga_sparse *K = ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_Q),
                  *J = ga_evaluation_combine(ev, 1, 0, 0, 0);
  assert_int_equal(rig_memory.count, before);
  assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_OK);
  assert_ptr_equal(K, ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_Q));
  assert_ptr_equal(J, ga_evaluation_combine(ev, 0, 1, 0, 0));
  ga_evaluation_destroy(&ev);
  rig_close(&r);
}

static int strike_jacobian(rig_meddle *m, int fn, double *out, ga_jacobian *J)
{
  (void)out, (void)J;
  return fn == RIG_JACOBIAN && m->calls >= m->fault_at ? m->code : 0;
}

/* After a failure there are no matrices, rather than old ones. */
static void failures_leave_no_matrices(void **state)
{
  rig r = rig_open("heavy_top");
  rig_random random = rig_seed(0);
  rig_spot at;
  rig_meddle m = {.after = strike_jacobian, .fault_at = 1000, .code = 1};
  ga_evaluation *ev = NULL;
  (void)state;
  rig_meddle_install(&m, &r.def, 6);
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  assert_status(r.ctx, ga_evaluation_create(r.ctx, r.sys, &ev), GA_OK);
  rig_spot_random(&at, &r, &random);
  assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_OK);
  assert_non_null(ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_VDOT));
  assert_null(ga_evaluation_matrix(ev, (ga_equation_block)6, GA_BY_VDOT));
  assert_null(ga_evaluation_matrix(ev, GA_BLOCK_V, (ga_by)7));
  for (int call = 1; call <= 2; call++) { /* the one with the shift of v, and that of vdot */
    m.calls = 0, m.fault_at = call;
    assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_RETRY_CALLBACK);
    assert_string_equal(ga_context_error(r.ctx)->callback, "jacobian");
    assert_null(ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_VDOT));
    assert_null(ga_evaluation_combine(ev, 1, 0, 0, 0));
    m.fault_at = 1000;
    assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_OK);
  }
  at.p.v = NULL;
  assert_status(r.ctx, ga_evaluation_jacobian(ev, &at.p), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_NULL_ARGUMENT, "ga_evaluation_jacobian", "p->v");
  at.p.v = at.v, at.q[0] += 0.1, at.q[3] += 0.1, at.q[7] += 0.1;
  assert_status(r.ctx, ga_evaluation_residual(ev, &at.p, NULL, at.lambda, NULL), GA_ERR_ARGUMENT);
  assert_call_error(r.ctx, GA_REASON_OFF_GROUP, "ga_evaluation_residual", "p->q");
  ga_evaluation_destroy(&ev);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_of_problems), cmocka_unit_test(matrices_of_all_blocks),
      cmocka_unit_test(residuals_are_those_of_the_callbacks),
      cmocka_unit_test(nothing_is_allocated_at_points), cmocka_unit_test(failures_leave_no_matrices)};
  return cmocka_run_group_tests_name("core: evaluation", tests, rig_hook_klu, NULL);
}
