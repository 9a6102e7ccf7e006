/* Structures of hundreds of points held together by distances, many of them redundant: accelerations and
 * forces against a solution of their own, of least length, by conjugate gradients on the equations written
 * out here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mbs_rig.h"
#include "lin/lin_impl.h"
#include <math.h>
#include <stdio.h>

static const double G[3] = {0.0, 1.5, -9.81}; /* as mbs_open() has it */

typedef struct structure {
  int n, m; /* points, distances */
  double (*x)[3];
  int (*end)[2];
  mbs_rig r;
  ga_stepper *st;
} structure;

static structure structure_new(int n, int most)
{
  structure s = {.n = n};
  s.x = calloc((size_t)n, sizeof *s.x);
  s.end = calloc((size_t)most, sizeof *s.end);
  return s;
}

static void structure_close(structure *s)
{
  ga_stepper_destroy(&s->st);
  mbs_close(&s->r);
  free(s->x);
  free(s->end);
}

/* Points of a grid, each joined with all its neighbours, over faces and through cubes as well. */
static structure cubes(int nx, int ny, int nz)
{
  structure s = structure_new(nx * ny * nz, 13 * nx * ny * nz);
  for (int i = 0; i < s.n; i++) {
    const int at[3] = {i / (ny * nz), i / nz % ny, i % nz};
    for (int k = 0; k < 3; k++) s.x[i][k] = at[k];
    for (int j = 0; j < i; j++) {
      const int other[3] = {j / (ny * nz), j / nz % ny, j % nz};
      int near = 1;
      for (int k = 0; k < 3; k++) near = near && abs(at[k] - other[k]) <= 1;
      if (near) s.end[s.m][0] = j, s.end[s.m++][1] = i;
    }
  }
  return s;
}

/* A net that sags, with both diagonals in each of its cells, of which one is redundant since
 * cells are plane. */
static structure net(int nx, int ny)
{
  structure s = cubes(nx, ny, 1);
  for (int i = 0; i < s.n; i++) {
    const double x = s.x[i][0], y = s.x[i][1];
    s.x[i][2] = -0.02 * x * (nx - 1 - x) - 0.03 * y * (ny - 1 - y);
  }
  return s;
}

static structure truss(int n, int m)
{
  structure s = structure_new(n, m);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) s.x[i][k] = mbs_random();
  while (s.m < m) {
    const int a = (int)((mbs_random() + 1.0) / 2.0 * n) % n, b = (int)((mbs_random() + 1.0) / 2.0 * n) % n;
    int known = a >= b;
    for (int k = 0; k < s.m; k++) known |= s.end[k][0] == a && s.end[k][1] == b;
    if (!known) s.end[s.m][0] = a, s.end[s.m++][1] = b;
  }
  return s;
}

/* Starts it, falling and turning as a rigid body. */
static void structure_start(structure *s, ga_method method)
{
  char a[16], b[16], name[16];
  ga_start_opts o = ga_start_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  opts.method = method;
  s->r = mbs_open(GA_FORM_SPACE);
  for (int i = 0; i < s->n; i++) {
    ga_point_def d = ga_point_defaults();
    snprintf(a, sizeof a, "p%d", i);
    d.name = a;
    d.mass = 1.0;
    memcpy(d.position, s->x[i], sizeof s->x[i]);
    d.velocity[0] = -0.3 * s->x[i][1], d.velocity[1] = 0.3 * s->x[i][0]; /* about z */
    mbs_ok(&s->r, ga_machine_add_point(s->r.m, &d));
  }
  for (int k = 0; k < s->m; k++) {
    ga_joint_def d = ga_joint_defaults();
    snprintf(name, sizeof name, "d%d", k);
    snprintf(a, sizeof a, "p%d", s->end[k][0]);
    snprintf(b, sizeof b, "p%d", s->end[k][1]);
    d.name = name, d.kind = GA_JOINT_DISTANCE, d.a = a, d.b = b;
    mbs_ok(&s->r, ga_machine_add_joint(s->r.m, &d));
  }
  double *q = calloc(6 * (size_t)s->n, sizeof *q);
  mbs_ok(&s->r, ga_machine_build(s->r.m));
  const ga_system *sys = ga_machine_system(s->r.m);
  mbs_ok(&s->r, ga_machine_initial(s->r.m, q, q + 3 * s->n, NULL));
  mbs_ok(&s->r, ga_stepper_create(s->r.ctx, sys, &opts, &s->st));
  o.h = 1e-3;
  mbs_ok(&s->r, ga_stepper_start(s->st, &o, 0.0, q, q + 3 * s->n, NULL, NULL, NULL, NULL));
  free(q);
}

/* ---- A solution of its own ---- */

static void direction(const structure *s, const double *q, int k, double u[3], double *length)
{
  *length = 0.0;
  for (int c = 0; c < 3; c++) u[c] = q[3 * s->end[k][1] + c] - q[3 * s->end[k][0] + c];
  for (int c = 0; c < 3; c++) *length += u[c] * u[c];
  *length = sqrt(*length);
  for (int c = 0; c < 3; c++) u[c] /= *length;
}

/* f = Jᵀ z, J of unit rows: (−u, u)/√2 */
static void forces(const structure *s, const double *q, const double *z, double *f)
{
  double u[3], length;
  memset(f, 0, 3 * (size_t)s->n * sizeof *f);
  for (int k = 0; k < s->m; k++) {
    direction(s, q, k, u, &length);
    for (int c = 0; c < 3; c++) {
      f[3 * s->end[k][0] + c] -= z[k] * u[c] / sqrt(2.0);
      f[3 * s->end[k][1] + c] += z[k] * u[c] / sqrt(2.0);
    }
  }
}

static void rates(const structure *s, const double *q, const double *f, double *out)
{
  double u[3], length;
  for (int k = 0; k < s->m; k++) {
    direction(s, q, k, u, &length);
    out[k] = 0.0;
    for (int c = 0; c < 3; c++)
      out[k] += u[c] * (f[3 * s->end[k][1] + c] - f[3 * s->end[k][0] + c]) / sqrt(2.0);
  }
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* J Jᵀ z = (|w|² − (u w)²)/(√2 |d|), w the relative velocity: gravity drops out. From 0 on, conjugate
 * gradients find the shortest z. */
static void least_forces(const structure *s, const ga_state *at, double *z)
{
  const size_t m = (size_t)s->m;
  double *r = calloc(3 * m + 3 * (size_t)s->n, sizeof *r), *p = r + m, *w = p + m, *f = w + m, u[3], length;
  for (int k = 0; k < s->m; k++) {
    double square = 0.0, along = 0.0;
    direction(s, at->q, k, u, &length);
    for (int c = 0; c < 3; c++) {
      const double rate = at->v[3 * s->end[k][1] + c] - at->v[3 * s->end[k][0] + c];
      square += rate * rate, along += rate * u[c];
    }
    z[k] = 0.0;
    r[k] = p[k] = (square - along * along) / length / sqrt(2.0);
  }
  double size = dot(r, r, s->m);
  const double first = size;
  for (int i = 0; i < 20 * s->m && size > 1e-30 * first; i++) {
    forces(s, at->q, p, f);
    rates(s, at->q, f, w);
    const double step = size / dot(p, w, s->m), before = size;
    for (int k = 0; k < s->m; k++) z[k] += step * p[k], r[k] -= step * w[k];
    size = dot(r, r, s->m);
    for (int k = 0; k < s->m; k++) p[k] = r[k] + size / before * p[k];
  }
  free(r);
}

/* Accelerations g − Jᵀ z, and multipliers z/√2 up to the sign of the constraints. */
static void assert_least(const structure *s, double tolerance)
{
  const ga_state *at = ga_stepper_state(s->st);
  double *z = calloc((size_t)s->m + 3 * (size_t)s->n, sizeof *z), *f = z + s->m, most = 0.0, off = 0.0;
  least_forces(s, at, z);
  forces(s, at->q, z, f);
  for (int k = 0; k < s->m; k++) most = fmax(most, fabs(z[k]));
  const double sign = dot(z, at->lambda, s->m) < 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < s->m; k++) off = fmax(off, fabs(at->lambda[k] - sign * z[k] / sqrt(2.0)));
  if (!(off <= tolerance * most)) fail_msg("multipliers of up to %g are off by %g", most, off);
  off = 0.0;
  for (int i = 0; i < 3 * s->n; i++) off = fmax(off, fabs(at->vdot[i] - (G[i % 3] - f[i])));
  if (!(off <= tolerance * (10.0 + most))) fail_msg("accelerations are off by %g", off);
  free(z);
}

/* ---- Tests ---- */

/* Cubes with all diagonals: most distances are redundant, relations run through all of them. */
static void test_cubes(void **state)
{
  (void)state;
  static const ga_method method[] = {GA_STABILIZED, GA_INDEX3, GA_SOI2};
  for (int i = 0; i < 3; i++) {
    structure s = cubes(5, 4, 4);
    structure_start(&s, method[i]);
    assert_int_equal(s.st->red.null.r, s.m - (3 * s.n - 6));
    assert_true(ga__matrix_in_use(s.st)->lu->backend == &ga__lu_reduced);
    assert_non_null(s.st->red.null.range);
    assert_least(&s, 1e-9);
    for (int k = 0; k < 5; k++) mbs_ok(&s.r, ga_stepper_step(s.st, 1e-3));
    if (method[i] == GA_STABILIZED) assert_least(&s, 1e-7);
    structure_close(&s);
  }
}

/* Nets so large that numbers grow within the search for relations: all of these are found, and no more. */
static void test_nets(void **state)
{
  (void)state;
  static const int size[][2] = {{12, 12}, {21, 22}, {24, 24}};
  for (int i = 0; i < (rig_brief() ? 1 : 3); i++) {
    structure s = net(size[i][0], size[i][1]);
    structure_start(&s, GA_STABILIZED);
    assert_int_equal(s.st->red.null.r, (size[i][0] - 1) * (size[i][1] - 1));
    structure_close(&s);
  }
}

/* Points joined at random, with and without redundancy. */
static void test_trusses(void **state)
{
  (void)state;
  static const int m[] = {250, 400};
  for (int i = 0; i < 2; i++) {
    structure s = truss(100, m[i]);
    structure_start(&s, GA_STABILIZED);
    const int rank = 3 * s.n - 6;
    assert_true(s.st->red.null.r >= m[i] - rank);
    assert_least(&s, 1e-7);
    for (int k = 0; k < 3; k++) mbs_ok(&s.r, ga_stepper_step(s.st, 1e-3));
    assert_least(&s, 1e-5);
    structure_close(&s);
  }
}

/* What the range of J leaves of z is without a part in any relation, and what it takes away
 * makes no force. */
static void test_range_and_relations(void **state)
{
  (void)state;
  structure s = cubes(5, 4, 4);
  structure_start(&s, GA_STABILIZED);
  ga__null *null = &s.st->red.null;
  double *z = calloc(2 * (size_t)s.m + 3 * (size_t)s.n, sizeof *z), *y = z + s.m, *f = y + s.m, off = 0.0;
  assert_non_null(null->range);
  for (int k = 0; k < s.m; k++) z[k] = y[k] = mbs_random();
  ga__null_remove(null, z, s.m);
  for (int k = 0; k < null->r; k++) {
    double along = 0.0, square = 0.0;
    for (int i = null->start[k]; i < null->start[k + 1]; i++) {
      along += null->value[i] * z[null->index[i]];
      square += null->value[i] * null->value[i];
    }
    off = fmax(off, fabs(along) / sqrt(square));
  }
  assert_true(off < 1e-13);
  for (int k = 0; k < s.m; k++) y[k] -= z[k];
  forces(&s, ga_stepper_state(s.st)->q, y, f);
  for (int i = 0; i < 3 * s.n; i++) off = fmax(off, fabs(f[i]));
  assert_true(off < 1e-12);
  free(z);
  structure_close(&s);
}

/* A step taken back, and one of another size in between, leave no trace in the next. */
static void test_taken_back(void **state)
{
  (void)state;
  structure s = cubes(4, 4, 4);
  structure_start(&s, GA_STABILIZED);
  const size_t n = 3 * (size_t)s.n, m = (size_t)s.m;
  double *keep = calloc(n + m, sizeof *keep);
  mbs_ok(&s.r, ga_stepper_step(s.st, 1e-3));
  mbs_ok(&s.r, ga_stepper_step(s.st, 1e-3));
  memcpy(keep, ga_stepper_state(s.st)->vdot, n * sizeof *keep);
  memcpy(keep + n, ga_stepper_state(s.st)->lambda, m * sizeof *keep);
  mbs_ok(&s.r, ga_stepper_undo(s.st));
  mbs_ok(&s.r, ga_stepper_step(s.st, 3e-2));
  mbs_ok(&s.r, ga_stepper_undo(s.st));
  mbs_ok(&s.r, ga_stepper_step(s.st, 1e-3));
  assert_memory_equal(keep, ga_stepper_state(s.st)->vdot, n * sizeof *keep);
  assert_memory_equal(keep + n, ga_stepper_state(s.st)->lambda, m * sizeof *keep);
  free(keep);
  structure_close(&s);
}

/* Allocations of a start fail in turn, every 23rd one: that is what is said, and nothing is lost. */
static void test_memory(void **state)
{
  (void)state;
  enum { STRIDE = 23 };
  structure s = cubes(5, 4, 4);
  structure_start(&s, GA_STABILIZED);
  const ga_system *sys = ga_machine_system(s.r.m);
  double *q = calloc(6 * (size_t)s.n, sizeof *q);
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  mbs_ok(&s.r, ga_machine_initial(s.r.m, q, q + 3 * s.n, NULL));
  ga_stepper_destroy(&s.st);
  const long live = rig_memory.live;
  int done = 0;
  for (long fail = 1; !done; fail += STRIDE) {
    rig_memory.fail_at = rig_memory.count + fail;
    ga_status status = ga_stepper_create(s.r.ctx, sys, NULL, &s.st);
    if (!status) status = ga_stepper_start(s.st, &o, 0.0, q, q + 3 * s.n, NULL, NULL, NULL, NULL);
    done = rig_memory.count < rig_memory.fail_at;
    rig_memory.fail_at = 0;
    if (status != GA_ERR_MEMORY && !(done && status == GA_OK))
      fail_msg("allocation %ld: status %d, %s", fail, (int)status, ga_context_error(s.r.ctx)->text);
    ga_stepper_destroy(&s.st);
    assert_int_equal(rig_memory.live, live);
  }
  free(q);
  structure_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cubes),      cmocka_unit_test(test_nets),
      cmocka_unit_test(test_trusses),    cmocka_unit_test(test_range_and_relations),
      cmocka_unit_test(test_taken_back), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
