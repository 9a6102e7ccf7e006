/* LU factors by fronts (GA_LU_BLOCKS), their order of elimination, and the way to KLU and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "errors.h"
#include "lin_bodies.h"
#include "lin/fronts.h"
#include "lin_memory.h"
#include <stdio.h>

/* ---- a matrix with all that belongs to it ---- */

typedef struct problem {
  lin_bodies m;
  ga_sparse *A;
  ga__order order;
  ga_lu *lu;
  int ill_scaled;       /* 1: the dense factors are no measure */
  int fill;             /* of the factors by fronts */
  double *R, *C;        /* [n] scales in which entries are about 1 at the most */
  double *x, *b, *keep; /* [n], [n], [nnz] */
} problem;

static void find_order(fixture *f, problem *p)
{
  const size_t n = (size_t)p->A->cols;
  p->order = (ga__order){lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), 0.0};
  assert_int_equal(ga__order_bodies(f->ctx, p->A, p->m.partner, p->m.cluster, &p->order), GA_OK);
}

/* Takes the bodies over. */
static problem open_bodies(fixture *f, lin_bodies m)
{
  problem p = {.m = m};
  p.A = lin_bodies_matrix(f->ctx, &p.m, &f->r);
  assert_non_null(p.A);
  find_order(f, &p);
  assert_int_equal(ga__lu_create_ordered(f->ctx, p.A, GA_LU_AUTO, &p.order, &p.lu), GA_OK);
  assert_int_equal(ga_lu_get_info(p.lu)->kind, GA_LU_BLOCKS);
  p.fill = ga_lu_get_info(p.lu)->n_fill;
  const size_t n = (size_t)p.A->cols;
  p.R = lin_get(n, sizeof(double));
  p.C = lin_get(n, sizeof(double));
  p.x = lin_get(n, sizeof(double));
  p.b = lin_get(n, sizeof(double));
  p.keep = lin_get((size_t)p.A->nnz, sizeof(double));
  memcpy(p.keep, p.A->value, (size_t)p.A->nnz * sizeof(double));
  return p;
}

static void close_problem(fixture *f, problem *p)
{
  ga_lu_destroy(&p->lu);
  ga_sparse_destroy(f->ctx, &p->A);
  lin_bodies_free(&p->m);
  void *const block[] = {p->order.P, p->order.Q, p->order.block, p->R, p->C, p->x, p->b, p->keep};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) free(block[i]);
}

static void restore(problem *p)
{
  memcpy(p->A->value, p->keep, (size_t)p->A->nnz * sizeof(double));
}

static int by_fronts(const problem *p)
{
  return ga__lu_is_by_fronts(p->lu);
}

static double *at(const ga_sparse *A, int row, int col)
{
  const int p = ga_sparse_find(A, row, col);
  assert_true(p >= 0);
  return &A->value[p];
}

static double inverse(double x)
{
  return x > 0 ? 1 / x : 1;
}

/* Velocities by the diagonal, other rows by what they hold of velocities, other columns by what is left. */
static void find_scales(problem *p)
{
  const ga_sparse *A = p->A;
  for (int i = 0; i < A->cols; i++) p->R[i] = p->C[i] = 0;
  for (int c = 0; c < A->cols; c++) {
    const int diagonal = ga_sparse_find(A, c, c);
    if (p->m.cluster[c] >= 0 && diagonal >= 0 && A->value[diagonal] != 0)
      p->C[c] = 1 / sqrt(fabs(A->value[diagonal]));
  }
  for (int c = 0; c < A->cols; c++)
    for (int e = A->col_start[c]; p->C[c] > 0 && e < A->col_start[c + 1]; e++)
      p->R[A->row[e]] = fmax(p->R[A->row[e]], p->C[c] * fabs(A->value[e]));
  for (int i = 0; i < A->cols; i++) p->R[i] = p->C[i] > 0 ? p->C[i] : inverse(p->R[i]);
  for (int c = 0; c < A->cols; c++) {
    double most = 0;
    if (p->C[c] > 0) continue;
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++)
      most = fmax(most, p->R[A->row[e]] * fabs(A->value[e]));
    p->C[c] = inverse(most);
  }
}

/* |R(b - A x)| / (|R A C| |x/C| + |R b|) in the largest norm. */
static double backward_error(const problem *p, const double *x, const double *b)
{
  const ga_sparse *A = p->A;
  const int n = A->cols;
  double *r = lin_get((size_t)n, sizeof *r), *size = lin_get((size_t)n, sizeof *size);
  double error = 0, norm = 0, x_most = 0, b_most = 0;
  ga_sparse_mul(r, A, x);
  for (int c = 0; c < n; c++)
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++)
      size[A->row[e]] += p->R[A->row[e]] * fabs(A->value[e]) * p->C[c];
  for (int i = 0; i < n; i++) {
    const double one = p->R[i] * fabs(b[i] - r[i]);
    if (!(one <= error) && error == error) error = one;
    norm = fmax(norm, size[i]);
    x_most = fmax(x_most, fabs(x[i]) / p->C[i]);
    b_most = fmax(b_most, p->R[i] * fabs(b[i]));
  }
  free(r);
  free(size);
  return error / (norm * x_most + b_most);
}

/* Largest difference of the scaled solutions, relative. */
static double distance(const problem *p, const double *x, const double *y)
{
  double most = 0, size = 0;
  for (int i = 0; i < p->A->cols; i++) {
    const double one = fabs(x[i] - y[i]) / p->C[i];
    if (!(one <= most) && most == most) most = one;
    size = fmax(size, fabs(y[i]) / p->C[i]);
  }
  return most / size;
}

static void draw_right_side(fixture *f, problem *p)
{
  for (int i = 0; i < p->A->cols; i++) p->x[i] = p->C[i] * rig_uniform(&f->r, -1, 1);
  ga_sparse_mul(p->b, p->A, p->x);
}

/* Factors, solves, and returns the backward error. */
static double solve_error(fixture *f, problem *p)
{
  find_scales(p);
  draw_right_side(f, p);
  memcpy(p->x, p->b, (size_t)p->A->cols * sizeof *p->x);
  assert_int_equal(ga_lu_factor(p->lu), GA_OK);
  assert_int_equal(ga_lu_solve(p->lu, p->x), GA_OK);
  return backward_error(p, p->x, p->b);
}

/* The same factors solve with the transposed matrix: unknowns there have the scale of rows here. */
static void assert_solves_transposed(fixture *f, const problem *p, const char *what)
{
  const int n = p->A->cols;
  double *exact = lin_get((size_t)n, sizeof *exact), *x = lin_get((size_t)n, sizeof *x), most = 0, off = 0;
  for (int i = 0; i < n; i++) exact[i] = p->R[i] * rig_uniform(&f->r, -1, 1);
  ga_sparse_mul_t(x, p->A, exact);
  assert_int_equal(ga_lu_solve_t(p->lu, x), GA_OK);
  for (int i = 0; i < n; i++) {
    const double one = fabs(x[i] - exact[i]) / p->R[i];
    if (!(one <= off) && off == off) off = one;
    most = fmax(most, fabs(exact[i]) / p->R[i]);
  }
  if (!is_usual(f, off, 1e-9 * most))
    fail_msg("%s, n = %d: transposed %g from the exact solution", what, n, off);
  free(exact);
  free(x);
}

/* Factors, solves, and compares with the dense factors, which scale rows only. */
static void assert_solves(fixture *f, problem *p, const char *what)
{
  const size_t n = (size_t)p->A->cols;
  double *dense = lin_get(n, sizeof *dense), *exact = lin_get(n, sizeof *exact);
  find_scales(p);
  draw_right_side(f, p);
  memcpy(exact, p->x, n * sizeof *exact);
  memcpy(dense, p->b, n * sizeof *dense);
  memcpy(p->x, p->b, n * sizeof *dense);
  if (ga_lu_factor(p->lu)) fail_msg("%s: %s", what, ga_context_error(f->ctx)->text);
  assert_int_equal(ga_lu_solve(p->lu, p->x), GA_OK);
  const double error = backward_error(p, p->x, p->b);
  if (!is_usual(f, error, 1e-13)) fail_msg("%s, n = %d: backward error %g", what, (int)n, error);
  const double off = distance(p, p->x, exact);
  if (!is_usual(f, off, 1e-9)) fail_msg("%s, n = %d: %g from the exact solution", what, (int)n, off);
  assert_solves_transposed(f, p, what);
  if (n <= 600 && !p->ill_scaled) {
    ga_lu *lu = NULL;
    assert_int_equal(ga_lu_create(f->ctx, p->A, GA_LU_DENSE, &lu), GA_OK);
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_int_equal(ga_lu_solve(lu, dense), GA_OK);
    const double apart = distance(p, p->x, dense);
    if (!(apart <= 1e-9)) fail_msg("%s, n = %d: %g from the dense solution", what, (int)n, apart);
    ga_lu_destroy(&lu);
  }
  free(dense);
  free(exact);
}

/* ---- machines ---- */

static const struct {
  const char *name;
  int dof, rows;
} KINDS[] = {{"spatial balls", 6, 3}, {"spatial hinges", 6, 5}, {"planar pins", 3, 2},
             {"scalars", 2, 1},       {"single", 1, 0},         {"five", 5, 4},
             {"large bodies", 12, 7}, {"odd ones", 9, 2},       {"fixed", 6, 6}};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static lin_bodies draw_bodies(fixture *f, int shape, int kind, int n_bodies)
{
  lin_bodies m = lin_bodies_new((lin_shape)shape, n_bodies, KINDS[kind].dof, KINDS[kind].rows, &f->r);
  m.second = rig_below(&f->r, 2);
  m.springs = rig_below(&f->r, 2);
  m.n_states = rig_below(&f->r, 2) ? rig_below(&f->r, 8) : 0;
  return m;
}

/* Bodies and joints of any size, some bodies held by none. */
static lin_bodies draw_mixture(fixture *f, int n_bodies)
{
  lin_bodies m = draw_bodies(f, LIN_TREE, 0, n_bodies);
  for (int i = 0; i < n_bodies; i++) {
    m.dof[i] = 1 + rig_below(&f->r, 7);
    m.joint[i].rows = rig_below(&f->r, m.dof[i] + 1);
  }
  return m;
}

/* Every body coupled with every other one. */
static lin_bodies couple_all(int n_bodies, int dof, int springs, rig_random *r)
{
  lin_bodies m = lin_bodies_new(LIN_CHAIN, n_bodies, dof, 0, r);
  free(m.joint);
  m.joint = lin_get((size_t)(n_bodies * n_bodies), sizeof *m.joint);
  m.n_joints = 0;
  m.springs = springs;
  for (int i = 0; i < n_bodies; i++)
    for (int j = 0; j < i; j++) m.joint[m.n_joints++] = (lin_joint){i, j, 0};
  return m;
}

/* ---- the order of elimination ---- */

/* Pivots [0, n) of a block, and whose they are. */
static int place_of(const problem *p, int column)
{
  int k = 0;
  while (p->order.Q[k] != column) k++;
  return k;
}

static void assert_permutation(const int *perm, int n)
{
  char *seen = lin_get((size_t)n, 1);
  for (int k = 0; k < n; k++) {
    assert_in_range(perm[k], 0, n - 1);
    assert_false(seen[perm[k]]++);
  }
  free(seen);
}

/* Velocities of a body and nothing else make a block, constraints of a joint are in one. */
static void assert_blocks(const problem *p)
{
  const ga__order *o = &p->order;
  for (int k = 0; k < p->A->cols; k++) {
    assert_int_equal(o->P[k], p->m.partner[o->Q[k]]);
    if (k == 0) continue;
    assert_true(o->block[k] >= o->block[k - 1]);
    const int a = p->m.cluster[o->Q[k]], b = p->m.cluster[o->Q[k - 1]];
    if (o->block[k] == o->block[k - 1])
      assert_true(a >= 0 ? a == b : b < 0);
    else
      assert_true(a < 0 || a != b);
  }
}

/* The body whose velocities come just before the block of a joint, or -1; *last: none of its bodies is later.
 */
static int body_before(const problem *p, int joint, int set, int *last)
{
  const lin_bodies *m = &p->m;
  const int v = m->first[m->n_bodies], eta = v + m->row[m->n_joints] + m->n_states;
  const int column = (set ? eta : v) + m->row[joint], k = place_of(p, column);
  int at = k, body[2] = {m->joint[joint].a, m->joint[joint].b};
  for (int i = m->row[joint]; i < m->row[joint + 1]; i++)
    assert_int_equal(p->order.block[place_of(p, (set ? eta : v) + i)], p->order.block[k]);
  while (at > 0 && p->m.cluster[p->order.Q[at]] < 0) at--;
  const int before = p->m.cluster[p->order.Q[at]];
  assert_true(before == body[0] || (body[1] >= 0 && before == body[1]));
  *last = 1;
  for (int i = 0; i < 2; i++)
    if (body[i] >= 0 && place_of(p, m->first[body[i]]) > k) *last = 0;
  return before;
}

/* Joints have bodies of their own; where there are more joints than bodies, some come with the last one. */
static void assert_joints(const problem *p, int most_shared)
{
  const lin_bodies *m = &p->m;
  for (int set = 0; set <= m->second; set++) {
    int *owners = lin_get((size_t)m->n_bodies, sizeof *owners), shared = 0;
    for (int turn = 0; turn < 2; turn++) /* those that may be the rest come second */
      for (int j = 0; j < m->n_joints; j++) {
        int last = 0;
        if (m->joint[j].rows == 0) continue;
        const int body = body_before(p, j, set, &last);
        if (last != turn) continue;
        if (owners[body]++) {
          assert_true(last);
          shared++;
        }
      }
    assert_true(shared <= most_shared);
    free(owners);
  }
}

static void order_is_by_bodies(void **state)
{
  fixture *f = *state;
  for (int shape = 0; shape < LIN_N_SHAPES; shape++)
    for (int kind = 0; kind < N_KINDS; kind++)
      for (int n = 1; n <= 25; n += 6) {
        problem p = open_bodies(f, draw_bodies(f, shape, kind, n));
        assert_permutation(p.order.P, p.A->cols);
        assert_permutation(p.order.Q, p.A->cols);
        assert_blocks(&p);
        assert_joints(&p, shape == LIN_LOOP);
        close_problem(f, &p);
      }
  for (int turn = 0; turn < 100; turn++) {
    problem p = open_bodies(f, draw_mixture(f, 1 + rig_below(&f->r, 30)));
    assert_permutation(p.order.P, p.A->cols);
    assert_permutation(p.order.Q, p.A->cols);
    assert_blocks(&p);
    assert_joints(&p, 0);
    close_problem(f, &p);
  }
}

/* A body with more joints than there are bodies: all of them come after the bodies they need. */
static void order_takes_crowds(void **state)
{
  fixture *f = *state;
  enum { JOINTS = 7 };
  lin_bodies m = lin_bodies_new(LIN_CHAIN, 3, 12, 1, &f->r);
  free(m.joint);
  m.joint = lin_get(JOINTS, sizeof *m.joint);
  m.n_joints = JOINTS;
  for (int j = 0; j < JOINTS; j++) m.joint[j] = (lin_joint){j % 3, j % 2 ? (j + 1) % 3 : -1, 1};
  problem p = open_bodies(f, m);
  assert_permutation(p.order.Q, p.A->cols);
  assert_blocks(&p);
  assert_joints(&p, JOINTS - 3);
  assert_solves(f, &p, "a crowd of joints");
  assert_true(by_fronts(&p));
  close_problem(f, &p);
}

/* Bodies held together by constraints of one row each, between pairs at random. */
static lin_bodies draw_truss(fixture *f, int n_bodies, int rods, int second)
{
  lin_bodies m = lin_bodies_new(LIN_CHAIN, n_bodies, 3, 1, &f->r);
  free(m.joint);
  m.joint = lin_get((size_t)rods, sizeof *m.joint);
  m.n_joints = rods;
  m.wild = 1;
  m.second = second;
  for (int j = 0; j < rods; j++) {
    const int i = rig_below(&f->r, n_bodies);
    m.joint[j] = (lin_joint){i, (i + 1 + rig_below(&f->r, n_bodies - 1)) % n_bodies, 1};
  }
  return m;
}

/* All velocities first: each body in a block of its own, then constraints, those of the same bodies together.
 */
static void order_is_by_constraints(void **state)
{
  fixture *f = *state;
  for (int second = 0; second < 2; second++) {
    problem p = open_bodies(f, draw_truss(f, 60, 150, second));
    const int n = p.A->cols, nv = p.m.first[60];
    double by_bodies, by_constraints;
    int found;
    ga__order other = {lin_get((size_t)n, sizeof(int)), lin_get((size_t)n, sizeof(int)),
                       lin_get((size_t)n, sizeof(int)), 0.0};
    assert_int_equal(ga__order_cost(f->ctx, p.A, &p.order, &by_bodies), GA_OK);
    assert_int_equal(ga__order_constraints(f->ctx, p.A, p.m.partner, p.m.cluster, &p.order, &other, &found),
                     GA_OK);
    assert_true(found);
    assert_int_equal(ga__order_cost(f->ctx, p.A, &other, &by_constraints), GA_OK);
    assert_true(by_constraints < 0.5 * by_bodies);
    ga__order before = p.order;
    p.order = other;
    assert_permutation(other.P, n);
    assert_permutation(other.Q, n);
    assert_blocks(&p);
    for (int k = 0; k < n; k++) assert_int_equal(p.m.cluster[other.Q[k]] >= 0, k < nv);
    ga_lu_destroy(&p.lu);
    assert_int_equal(ga__lu_create_ordered(f->ctx, p.A, GA_LU_BLOCKS, &p.order, &p.lu), GA_OK);
    assert_solves(f, &p, "velocities first");
    assert_true(by_fronts(&p));
    free(before.P);
    free(before.Q);
    free(before.block);
    close_problem(f, &p);
  }
}

/* In a hub everything meets: no such order there, and none where few operations can be saved. */
static void order_is_chosen(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_HUB, 4000, 2, 1, &f->r));
  const size_t n = (size_t)p.A->cols;
  int found;
  ga__order other = {lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), 0.0};
  assert_int_equal(ga__order_constraints(f->ctx, p.A, p.m.partner, p.m.cluster, &p.order, &other, &found),
                   GA_OK);
  assert_false(found);
  assert_int_equal(ga__order_find(f->ctx, p.A, p.m.partner, p.m.cluster, &other), GA_OK);
  assert_memory_equal(other.Q, p.order.Q, n * sizeof(int));
  close_problem(f, &p);
  p = open_bodies(f, draw_truss(f, 300, 800, 0)); /* long enough for the second order */
  other.P = realloc(other.P, (size_t)p.A->cols * sizeof(int));
  other.Q = realloc(other.Q, (size_t)p.A->cols * sizeof(int));
  other.block = realloc(other.block, (size_t)p.A->cols * sizeof(int));
  double by_bodies, chosen;
  assert_int_equal(ga__order_find(f->ctx, p.A, p.m.partner, p.m.cluster, &other), GA_OK);
  assert_int_equal(ga__order_cost(f->ctx, p.A, &p.order, &by_bodies), GA_OK);
  assert_int_equal(ga__order_cost(f->ctx, p.A, &other, &chosen), GA_OK);
  assert_true(chosen < 0.5 * by_bodies);
  free(other.P);
  free(other.Q);
  free(other.block);
  close_problem(f, &p);
}

/* ---- lines that are left out ---- */

/* Every `each`-th multiplier, from `from` on: its lines become zero but where they meet. Returns how many. */
static int leave_out(problem *p, int from, int each, int *column)
{
  const ga_sparse *A = p->A;
  const int first = p->m.first[p->m.n_bodies];
  char *out = lin_get((size_t)A->cols, 1), *row_out = lin_get((size_t)A->cols, 1);
  int n = 0;
  restore(p);
  for (int c = first + from; c < A->cols; c += each) column[n++] = c, out[c] = row_out[p->m.partner[c]] = 1;
  for (int c = 0; c < A->cols; c++)
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++)
      if (out[c] || row_out[A->row[e]]) A->value[e] = out[c] && A->row[e] == p->m.partner[c] ? 1.5 : 0;
  free(out);
  free(row_out);
  return n;
}

static void lines_left_out_cost_nothing(void **state)
{
  fixture *f = *state;
  for (int second = 0; second < 2; second++) {
    problem p = open_bodies(f, draw_truss(f, 100, 320, second));
    const size_t n = (size_t)p.A->cols;
    int *column = lin_get(n, sizeof *column), whole = p.fill;
    double *x = lin_get(n, sizeof *x);
    ga_lu_destroy(&p.lu);
    assert_int_equal(
        ga__lu_create_reduced(f->ctx, p.A, GA_LU_AUTO, p.m.partner, p.m.cluster, &p.order, &p.lu), GA_OK);
    assert_int_equal(ga_lu_solve(p.lu, p.x), GA_ERR_ORDER);
    for (int from = 0; from < 4; from++) {
      ga__lu_decouple(p.lu, leave_out(&p, from % 3, 3, column), column);
      assert_solves(f, &p, "lines left out");
      assert_true(ga_lu_get_info(p.lu)->n_fill < whole / 2);
      assert_int_equal(ga_lu_get_info(p.lu)->n_factor, 3 * from + 1);
      memcpy(x, p.b, n * sizeof *x);
      assert_int_equal(ga_lu_solve(p.lu, x), GA_OK);
      ga__lu_decouple(p.lu, leave_out(&p, (from + 1) % 3, 3, column), column); /* leaves no trace */
      assert_int_equal(ga_lu_factor(p.lu), GA_OK);
      ga__lu_decouple(p.lu, leave_out(&p, from % 3, 3, column), column);
      ga__lu_forget(p.lu);
      assert_int_equal(ga_lu_solve(p.lu, p.x), GA_ERR_ORDER);
      assert_int_equal(ga_lu_factor(p.lu), GA_OK);
      memcpy(p.x, p.b, n * sizeof *x);
      assert_int_equal(ga_lu_solve(p.lu, p.x), GA_OK);
      assert_memory_equal(p.x, x, n * sizeof *x);
    }
    ga__lu_decouple(p.lu, 0, column);
    restore(&p);
    assert_int_equal(ga_lu_factor(p.lu), GA_RETRY_SINGULAR); /* more constraints than velocities */
    free(column);
    free(x);
    close_problem(f, &p);
  }
}

static void lack_of_memory_leaves_lines_in(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, draw_truss(f, 12, 40, 0));
  int column[80], done = 0;
  const int n = leave_out(&p, 0, 3, column);
  ga_lu_destroy(&p.lu);
  const long live = f->memory.live;
  for (long fail = 1; !done; fail++) {
    ga_lu *lu = NULL;
    f->memory.fail_at = f->memory.count + fail;
    ga_status status =
        ga__lu_create_reduced(f->ctx, p.A, GA_LU_BLOCKS, p.m.partner, p.m.cluster, &p.order, &lu);
    if (status) assert_null(lu);
    if (!status) {
      ga__lu_decouple(lu, n, column);
      status = ga_lu_factor(lu);
    }
    done = f->memory.count < f->memory.fail_at;
    f->memory.fail_at = 0;
    assert_int_equal(status, done ? GA_OK : GA_ERR_MEMORY);
    if (lu) assert_int_equal(ga_lu_factor(lu), GA_OK);
    ga_lu_destroy(&lu);
    assert_int_equal(f->memory.live, live);
  }
  close_problem(f, &p);
}

/* ---- factors that exist ---- */

static void factors_solve(void **state)
{
  fixture *f = *state;
  const int sizes[] = {1, 2, 3, 7, 20};
  char name[80];
  for (int shape = 0; shape < LIN_N_SHAPES; shape++)
    for (int kind = 0; kind < N_KINDS; kind++)
      for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int turn = 0; turn < 3; turn++) {
          problem p = open_bodies(f, draw_bodies(f, shape, kind, sizes[s]));
          snprintf(name, sizeof name, "shape %d of %d %s, set %d", shape, sizes[s], KINDS[kind].name,
                   p.m.second);
          assert_solves(f, &p, name);
          if (!by_fronts(&p)) fail_msg("%s went to KLU", name);
          close_problem(f, &p);
        }
  for (int turn = 0; turn < 200; turn++) {
    problem p = open_bodies(f, draw_mixture(f, 1 + rig_below(&f->r, 30)));
    assert_solves(f, &p, "a mixture");
    if (!by_fronts(&p)) fail_msg("mixture %d went to KLU", turn);
    close_problem(f, &p);
  }
}

/* Sizes and widths with code of their own, and all others; patterns that are not symmetric. */
static void factors_of_any_width(void **state)
{
  fixture *f = *state;
  for (int dof = 1; dof <= LIN_DOF_MOST; dof++)
    for (int n = 1; n <= 6; n++)
      for (int springs = 1; springs <= 2; springs++) {
        problem p = open_bodies(f, couple_all(n, dof, springs, &f->r));
        assert_solves(f, &p, springs == 1 ? "all coupled" : "coupled one way");
        assert_true(by_fronts(&p));
        assert_in_range(p.fill, 1, p.A->cols * p.A->cols);
        if (n == 1) assert_int_equal(p.fill, dof * dof);
        close_problem(f, &p);
      }
}

static void factors_of_many_components(void **state)
{
  fixture *f = *state;
  for (int second = 0; second < 2; second++) {
    lin_bodies m = lin_bodies_new(LIN_PARTS, 3000, 3, 2, &f->r);
    m.second = second;
    m.n_states = 1000;
    problem p = open_bodies(f, m);
    assert_solves(f, &p, "a thousand parts");
    assert_true(by_fronts(&p));
    close_problem(f, &p);
  }
  problem p = open_bodies(f, (lin_bodies){.n_states = 2000}); /* a triangle of single unknowns */
  assert_solves(f, &p, "states alone");
  assert_int_equal(p.fill, p.A->nnz);
  assert_true(by_fronts(&p));
  close_problem(f, &p);
  p = open_bodies(f, lin_bodies_new(LIN_HUB, 1500, 6, 5, &f->r));
  assert_solves(f, &p, "a large hub");
  assert_true(by_fronts(&p));
  close_problem(f, &p);
}

/* Bodies coupled in pairs at random: fronts of hundreds of rows, with several children. */
static lin_bodies couple_some(int n_bodies, int dof, int pairs, rig_random *r)
{
  lin_bodies m = couple_all(n_bodies, dof, 1, r);
  m.n_joints = 0;
  for (int k = 0; k < pairs; k++) {
    const int i = 1 + rig_below(r, n_bodies - 1);
    m.joint[m.n_joints++] = (lin_joint){i, rig_below(r, i), 0};
  }
  return m;
}

/* Blocks become one front where they are large; every pivot is in one, and every entry has its place. */
static void assert_amalgamated(fixture *f, const problem *p)
{
  ga__fronts plan;
  size_t entries = 0;
  int next = 0, large = 0;
  assert_int_equal(ga__fronts_create(f->ctx, p->A, &p->order, &plan), GA_OK);
  for (int i = 0; i < plan.n_fronts; i++) {
    const ga__front *front = &plan.front[i];
    assert_int_equal(front->first, next);
    next += front->size;
    if (front->size + front->below >= GA__FRONT_LARGE && front->size > LIN_DOF_MOST) large++;
    for (int k = 0; k < front->below; k++)
      assert_in_range(plan.index[front->index + k], next, p->A->cols - 1);
    for (int k = 0; k < front->n_all; k++) {
      const ga__run *run = &plan.entry[front->entry + k];
      const int rows = ga__front_is_large(front) ? front->size + front->below
                       : k < front->n_own        ? front->size
                                                 : front->below;
      assert_in_range(run->to, 0, rows * front->width - run->n);
      entries += (size_t)run->n;
    }
  }
  assert_int_equal(next, p->A->cols);
  assert_int_equal(entries + (size_t)plan.off_start[plan.n], (size_t)p->A->nnz);
  assert_true(large > 0);
  ga__fronts_destroy(f->ctx, &plan);
}

/* Every number of rows and columns that the tiles of a product can leave over. */
static void large_fronts_solve(void **state)
{
  fixture *f = *state;
  for (int n = 64; n <= 64 + 40; n++) {
    problem p = open_bodies(f, couple_all(n, 1, 1, &f->r));
    assert_solves(f, &p, "one large front");
    assert_true(by_fronts(&p));
    assert_int_equal(p.fill, n * n);
    close_problem(f, &p);
  }
  for (int turn = 0; turn < 12; turn++) {
    const int n = 60 + rig_below(&f->r, 60), dof = 3 + rig_below(&f->r, 4);
    problem p = open_bodies(f, couple_some(n, dof, 4 * n + rig_below(&f->r, n), &f->r));
    assert_solves(f, &p, "large fronts");
    assert_true(by_fronts(&p));
    assert_amalgamated(f, &p);
    close_problem(f, &p);
  }
}

/* Without a diagonal large fronts find pivots in other rows; without a column they say so. */
static void large_fronts_seek_pivots(void **state)
{
  fixture *f = *state;
  for (int n = 64; n <= 200; n += 17) {
    problem p = open_bodies(f, couple_all(n, 1, 1, &f->r));
    for (int c = 0; c < n; c++)
      for (int e = p.A->col_start[c]; e < p.A->col_start[c + 1]; e++)
        p.A->value[e] = p.A->row[e] == (c + n / 2) % n ? 3
                        : p.A->row[e] == c             ? 0
                                                       : 0.1 * rig_uniform(&f->r, -1, 1);
    assert_solves(f, &p, "a large front without a diagonal");
    assert_true(by_fronts(&p));
    for (int e = p.A->col_start[n / 3]; e < p.A->col_start[n / 3 + 1]; e++) p.A->value[e] = 0;
    assert_int_equal(ga_lu_factor(p.lu), GA_RETRY_SINGULAR);
    assert_int_equal(ga_lu_get_info(p.lu)->weak_column, n / 3);
    close_problem(f, &p);
  }
}

/* Blocks that have no pivots on their diagonals. */
static void pivots_are_sought_within_blocks(void **state)
{
  fixture *f = *state;
  for (int dof = 2; dof <= LIN_DOF_MOST; dof++)
    for (int n = 1; n <= 3; n++)
      for (int turn = 0; turn < 4; turn++) {
        problem p = open_bodies(f, couple_all(n, dof, 1, &f->r));
        for (int c = 0; c < p.A->cols; c++) {
          const int first = p.m.first[p.m.cluster[c]];
          for (int i = 0; i < dof; i++)
            *at(p.A, first + i, c) = i == (c - first + 1 + turn) % dof ? 2 : 0.2 * rig_uniform(&f->r, -1, 1);
          if (turn % dof != dof - 1) *at(p.A, c, c) = 0;
        }
        assert_solves(f, &p, "pivots beside the diagonal");
        assert_true(by_fronts(&p));
        close_problem(f, &p);
      }
}

/* States that move the body that moves them, with a large factor either way. */
static void strong_couplings_stay(void **state)
{
  fixture *f = *state;
  const double factor[] = {1e3, 1e6, 1e9};
  int n = 0, n_by_fronts = 0;
  for (int kind = 0; kind < N_KINDS - 1; kind++) /* fixed bodies cannot be moved */
    for (int i = 0; i < 6; i++) {
      lin_bodies m = lin_bodies_new(LIN_TREE, 8, KINDS[kind].dof, KINDS[kind].rows, &f->r);
      m.n_states = 9;
      problem p = open_bodies(f, m);
      const int first = p.m.first[8] + p.m.row[8], end = first + 9;
      for (int c = 0; c < p.A->cols; c++)
        for (int e = p.A->col_start[c]; e < p.A->col_start[c + 1]; e++) {
          const int r = p.A->row[e], v = p.m.first[8];
          const int from_body = r >= first && r < end && (r - first) % 2 == 0 && c < v;
          const int to_body = c >= first && c < end && (c - first) % 2 == 0 && r < v;
          if (i % 2 ? from_body : to_body) p.A->value[e] *= factor[i / 2];
        }
      const double error = solve_error(f, &p);
      if (!is_usual(f, error, factor[i / 2] > 1e6 ? 1e-10 : 1e-12)) /* what MOST_GROWTH lets pass */
        fail_msg("%s, factor %g: backward error %g", KINDS[kind].name, factor[i / 2], error);
      n++, n_by_fronts += by_fronts(&p);
      close_problem(f, &p);
    }
  assert_true(n_by_fronts >= n - n / 10);
}

/* Units of any size: masses of about 1e-9 to 1e9 kg and lengths of 1e-6 to 1e3 m, the same for all bodies. */
static void factors_take_units(void **state)
{
  fixture *f = *state;
  for (int shape = 0; shape < LIN_N_SHAPES; shape++)
    for (int kind = 0; kind < N_KINDS; kind++)
      for (int turn = 0; turn < 10; turn++) {
        lin_bodies m = draw_bodies(f, shape, kind, 1 + rig_below(&f->r, 12));
        m.n_states = 0;
        m.mass_unit = pow(10, 9 * rig_uniform(&f->r, -1, 1));
        m.length_unit = pow(10, 4.5 * rig_uniform(&f->r, -1, 1) - 1.5);
        problem p = open_bodies(f, m);
        p.ill_scaled = 1;
        assert_solves(f, &p, KINDS[kind].name);
        assert_true(by_fronts(&p));
        close_problem(f, &p);
      }
}

/* A state in other units: its column divided by u, its equation multiplied by it. */
static void change_unit(problem *p, int state, double u)
{
  const ga_sparse *A = p->A;
  for (int c = 0; c < A->cols; c++)
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++)
      A->value[e] *= (A->row[e] == p->m.partner[state] ? u : 1) / (c == state ? u : 1);
}

/* States and outputs each in a unit of its own, as pressures of 1e7 Pa beside flows of 1e-6 m³/s: pivots are
 * judged as in units that fit. */
static void states_take_units(void **state)
{
  fixture *f = *state;
  int fronts[2] = {0, 0}, n = 0;
  for (int shape = 0; shape < LIN_N_SHAPES; shape++)
    for (int turn = 0; turn < 20; turn++, n++) {
      lin_bodies m = draw_bodies(f, shape, 0, 2 + rig_below(&f->r, 12));
      m.n_states = 9;
      problem p = open_bodies(f, m);
      const int first = p.A->cols - m.n_states;
      assert_solves(f, &p, "states");
      fronts[0] += by_fronts(&p);
      for (int i = first; i < p.A->cols; i++) change_unit(&p, i, ldexp(1, rig_below(&f->r, 80) - 40));
      ga__lu_forget(p.lu);
      draw_right_side(f, &p);
      memcpy(p.x, p.b, (size_t)p.A->cols * sizeof *p.x);
      assert_int_equal(ga_lu_factor(p.lu), GA_OK);
      assert_int_equal(ga_lu_solve(p.lu, p.x), GA_OK);
      fronts[1] += by_fronts(&p);
      close_problem(f, &p);
    }
  assert_true(fronts[0] > n - n / 10);
  assert_true(fronts[1] >= fronts[0] - 2);
}

/* max_i |b - A x|_i / (sum_j |a_ij| max|x| + |b_i|), as KLU's scaling keeps it small. */
static double error_by_rows(const problem *p, const double *x, const double *b)
{
  const ga_sparse *A = p->A;
  double *r = lin_get((size_t)A->cols, sizeof *r), *size = lin_get((size_t)A->cols, sizeof *size);
  double most = 0, error = 0;
  ga_sparse_mul(r, A, x);
  for (int c = 0; c < A->cols; c++) {
    most = fmax(most, fabs(x[c]));
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) size[A->row[e]] += fabs(A->value[e]);
  }
  for (int i = 0; i < A->cols; i++) {
    const double one = fabs(b[i] - r[i]) / (size[i] * most + fabs(b[i]));
    if (!(one <= error) && error == error) error = one;
  }
  free(r);
  free(size);
  return error;
}

/* Light and heavy, small and large bodies in one machine, masses from 1e-9 to 1e9 kg. Factors by fronts are
 * kept while rounding grows by less than 1e5; the others are KLU's. */
static void factors_take_extremes(void **state)
{
  fixture *f = *state;
  int fronts = 0, klu = 0, failures = 0;
  for (int shape = 0; shape < LIN_N_SHAPES; shape++)
    for (int kind = 0; kind < N_KINDS; kind++)
      for (int turn = 0; turn < 20; turn++) {
        lin_bodies m = draw_bodies(f, shape, kind, 1 + rig_below(&f->r, 12));
        m.orders = turn % 2 ? 3 : 9;
        m.n_states = 0;
        problem p = open_bodies(f, m);
        find_scales(&p);
        draw_right_side(f, &p);
        memcpy(p.x, p.b, (size_t)p.A->cols * sizeof *p.x);
        const ga_status status = ga_lu_factor(p.lu);
        if (status) { /* beyond what KLU can tell from a singular matrix */
          assert_int_equal(status, GA_RETRY_SINGULAR);
          failures++;
        } else {
          assert_int_equal(ga_lu_solve(p.lu, p.x), GA_OK);
          const double error = by_fronts(&p) ? backward_error(&p, p.x, p.b) : error_by_rows(&p, p.x, p.b);
          if (!(error <= (by_fronts(&p) ? 2e-11 : 1e-13)))
            fail_msg("shape %d, %s: backward error %g", shape, KINDS[kind].name, error);
        }
        *(by_fronts(&p) ? &fronts : &klu) += 1;
        close_problem(f, &p);
      }
  assert_true(fronts > 200 && klu > 200 && failures < 100);
}

/* ---- to KLU and back ---- */

enum { REST = 50 }; /* as lu_block.c has it */

static void scale_body(problem *p, int body, double factor)
{
  for (int c = p->m.first[body]; c < p->m.first[body + 1]; c++)
    for (int i = p->m.first[body]; i < p->m.first[body + 1]; i++) *at(p->A, i, c) *= factor;
}

static void scale_column(problem *p, int column, double factor)
{
  for (int e = p->A->col_start[column]; e < p->A->col_start[column + 1]; e++) p->A->value[e] *= factor;
}

static void stir(fixture *f, problem *p, double amount)
{
  for (int e = 0; e < p->A->nnz; e++) p->A->value[e] = p->keep[e] * (1 + amount * rig_uniform(&f->r, -1, 1));
}

/* A body without mass has no pivots of its own, but two joints hold it. */
static void massless_bodies_go_to_klu(void **state)
{
  fixture *f = *state;
  for (int second = 0; second < 2; second++) {
    lin_bodies m = lin_bodies_new(LIN_CHAIN, 12, 6, 3, &f->r);
    m.second = second;
    problem p = open_bodies(f, m);
    for (int turn = 0; turn < 2; turn++) {
      stir(f, &p, 0.01);
      assert_solves(f, &p, "before");
      assert_true(by_fronts(&p));
      scale_body(&p, 4, 0);
      assert_solves(f, &p, "without mass");
      assert_false(by_fronts(&p));
      for (int k = 0; k < REST; k++) {
        stir(f, &p, 0.01);
        assert_solves(f, &p, "resting");
        assert_false(by_fronts(&p));
      }
      assert_int_equal(ga_lu_get_info(p.lu)->kind, GA_LU_BLOCKS);
    }
    stir(f, &p, 0.01);
    assert_solves(f, &p, "back");
    assert_true(by_fronts(&p));
    const ga_lu_info *info = ga_lu_get_info(p.lu);
    assert_int_equal(info->n_factor + info->n_refactor, 2 * (REST + 2) + 1);
    assert_int_equal(info->n_solve, 2 * (2 * (REST + 2) + 1)); /* plain and transposed */
    close_problem(f, &p);
  }
}

/* From the first call on and later. */
static void massless_from_the_start(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_CHAIN, 5, 6, 3, &f->r));
  scale_body(&p, 2, 0);
  memcpy(p.keep, p.A->value, (size_t)p.A->nnz * sizeof(double));
  for (int k = 0; k < 2 * REST + 10; k++) {
    assert_solves(f, &p, "without mass");
    assert_false(by_fronts(&p));
    stir(f, &p, 0.01);
  }
  close_problem(f, &p);
}

/* Masses that change by many orders: the scale follows, and nothing goes to KLU. */
static void scale_follows(void **state)
{
  fixture *f = *state;
  const double factor[] = {1, 1e12, 1e-12, 1e200, 1e-200, 1};
  problem p = open_bodies(f, lin_bodies_new(LIN_TREE, 12, 6, 5, &f->r));
  for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
    for (int e = 0; e < p.A->nnz; e++) p.A->value[e] = factor[i] * p.keep[e];
    assert_solves(f, &p, "all");
    assert_true(by_fronts(&p));
    assert_true(ga_lu_get_info(p.lu)->rcond > 1e-6);
  }
  for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
    restore(&p);
    for (int body = 0; body < p.m.n_bodies; body++) scale_body(&p, body, factor[i]);
    assert_true(solve_error(f, &p) <= 1e-13);
    assert_true(by_fronts(&p));
  }
  close_problem(f, &p);
}

/* ---- factors that do not exist ---- */

static void assert_singular(fixture *f, problem *p, int column, int or_column)
{
  assert_int_equal(ga_lu_factor(p->lu), GA_RETRY_SINGULAR);
  const int weak = ga_lu_get_info(p->lu)->weak_column;
  if (weak != column && weak != or_column) fail_msg("column %d named, not %d or %d", weak, column, or_column);
  assert_true(ga_lu_get_info(p->lu)->rcond == 0);
  assert_call_error(f->ctx, GA_REASON_SINGULAR_MATRIX, NULL, NULL);
  assert_error_number(f->ctx, 1, weak);
  assert_int_equal(ga_context_error(f->ctx)->index, weak);
  assert_int_equal(ga_lu_solve(p->lu, p->x), GA_ERR_ORDER);
}

static void zero_columns_are_found(void **state)
{
  fixture *f = *state;
  for (int kind = 0; kind < N_KINDS; kind++)
    for (int turn = 0; turn < 12; turn++) {
      problem p = open_bodies(f, draw_bodies(f, turn % LIN_N_SHAPES, kind, 5));
      const int column = rig_below(&f->r, p.A->cols);
      if (turn % 2) assert_solves(f, &p, "before");
      scale_column(&p, column, 0);
      assert_singular(f, &p, column, column);
      restore(&p);
      assert_solves(f, &p, "afterwards");
      close_problem(f, &p);
    }
}

/* Two joints between the same bodies, the second a multiple of the first. */
static problem open_redundant(fixture *f)
{
  lin_bodies m = lin_bodies_new(LIN_CHAIN, 6, 6, 1, &f->r);
  m.joint[3] = (lin_joint){2, 1, 1};
  problem p = open_bodies(f, m);
  const int first = p.m.first[6] + p.m.row[2], second = p.m.first[6] + p.m.row[3];
  for (int c = 0; c < p.m.first[6]; c++) {
    if (ga_sparse_find(p.A, first, c) < 0) continue;
    *at(p.A, second, c) = 0.3 * *at(p.A, first, c);
    *at(p.A, c, second) = 0.3 * *at(p.A, c, first);
  }
  return p;
}

static void redundant_constraints_are_found(void **state)
{
  fixture *f = *state;
  for (int turn = 0; turn < 20; turn++) {
    problem p = open_redundant(f);
    const int first = p.m.first[6] + p.m.row[2], second = p.m.first[6] + p.m.row[3];
    assert_singular(f, &p, first, second);
    restore(&p);
    assert_solves(f, &p, "afterwards");
    close_problem(f, &p);
  }
}

/* The same in other units, with the scale of a matrix before. */
static void units_do_not_hide_singularity(void **state)
{
  fixture *f = *state;
  const double factor[] = {1e12, 1e-12, 1e30};
  for (int turn = 0; turn < 20; turn++)
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
      problem p = open_redundant(f);
      const int first = p.m.first[6] + p.m.row[2], second = p.m.first[6] + p.m.row[3];
      double *value = lin_get((size_t)p.A->nnz, sizeof *value);
      for (int e = 0; e < p.A->nnz; e++) value[e] = factor[i] * p.A->value[e];
      restore(&p);
      assert_solves(f, &p, "before");
      assert_true(by_fronts(&p));
      memcpy(p.A->value, value, (size_t)p.A->nnz * sizeof *value);
      assert_singular(f, &p, first, second);
      free(value);
      close_problem(f, &p);
    }
}

/* Entries far above their diagonals, and a row that is the sum of two others: in one block, and in blocks of
 * one. */
static void small_diagonals_do_not_hide_singularity(void **state)
{
  fixture *f = *state;
  const double small[] = {1e-6, 1e-9, 1e-12};
  int found = 0;
  for (int n = 3; n <= 9; n++)
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
      for (int turn = 0; turn < 20; turn++) {
        problem p = open_bodies(f, turn % 2 ? couple_all(n, 1, 1, &f->r) : couple_all(1, n, 1, &f->r));
        for (int e = 0; e < p.A->nnz; e++) p.A->value[e] = rig_uniform(&f->r, -1, 1);
        for (int k = 0; k < n; k++) *at(p.A, k, k) = small[i];
        for (int c = 0; c < n; c++) *at(p.A, 2, c) = *at(p.A, 0, c) + *at(p.A, 1, c);
        if (ga_lu_factor(p.lu) == GA_RETRY_SINGULAR)
          found++;
        else /* KLU may take rounding for a pivot here and there, the fronts leave such a matrix to it */
          assert_true(!by_fronts(&p) && is_usual(f, ga_lu_get_info(p.lu)->rcond, 1e-12));
        close_problem(f, &p);
      }
  assert_true(found > 400);
}

static void structure_is_checked(void **state)
{
  fixture *f = *state;
  const int row[] = {0, 1, 2, 0, 1}, col[] = {0, 1, 1, 2, 0}, partner[] = {0, 1, 2}, cluster[] = {0, 0, 0};
  int P[3], Q[3], block[3];
  ga__order order = {P, Q, block, 0.0};
  ga_sparse *A = NULL;
  ga_lu *lu = (ga_lu *)f;
  assert_int_equal(ga_sparse_create(f->ctx, 3, 3, 3, row, col, NULL, &A), GA_OK);
  assert_int_equal(ga__order_bodies(f->ctx, A, partner, cluster, &order), GA_OK);
  assert_int_equal(ga__lu_create_ordered(f->ctx, A, GA_LU_BLOCKS, &order, &lu), GA_ERR_SINGULAR);
  assert_null(lu);
  assert_call_error(f->ctx, GA_REASON_SINGULAR_PATTERN, NULL, NULL);
  assert_error_number(f->ctx, 1, 2);
  ga_sparse_destroy(f->ctx, &A);
}

static void nan_is_found(void **state)
{
  fixture *f = *state;
  const double bad[] = {NAN, INFINITY, -INFINITY};
  problem p = open_bodies(f, lin_bodies_new(LIN_TREE, 8, 6, 3, &f->r));
  for (int i = 0; i < 3; i++) {
    restore(&p);
    assert_solves(f, &p, "before");
    *at(p.A, 14, 13) = bad[i];
    assert_int_equal(ga_lu_factor(p.lu), GA_RETRY_NAN);
    assert_call_error(f->ctx, GA_REASON_MATRIX_NOT_FINITE, NULL, NULL);
    assert_error_number(f->ctx, 1, 14);
    assert_error_number(f->ctx, 2, 13);
    assert_int_equal(ga_lu_solve(p.lu, p.x), GA_ERR_ORDER);
  }
  restore(&p);
  assert_solves(f, &p, "afterwards");
  assert_true(by_fronts(&p));
  for (int e = 0; e < p.A->nnz; e++) p.A->value[e] *= 1e306; /* overflows on the way */
  assert_int_equal(ga_lu_factor(p.lu), GA_OK);
  for (int e = 0; e < p.A->nnz; e++) p.A->value[e] = 1e-320 * p.keep[e];
  const ga_status status = ga_lu_factor(p.lu); /* rounded beyond recognition */
  assert_true(status == GA_OK || status == GA_RETRY_SINGULAR);
  close_problem(f, &p);
}

/* ---- what a detour leaves behind: nothing ---- */

enum { STORIES = 6, STEPS = 130 };

/* The matrix of a step: bodies light, heavy or without mass, or a singular matrix. */
static void draw_values(fixture *f, problem *p, double *value, int quiet)
{
  const int what = rig_below(&f->r, quiet ? 40 : 8);
  stir(f, p, quiet ? 0.05 : 0.9); /* others want other pivots */
  if (what == 0) scale_body(p, 1 + rig_below(&f->r, p->m.n_bodies - 2), 0);
  if (what == 1)
    for (int body = 0; body < p->m.n_bodies; body++) scale_body(p, body, 1e9);
  if (what == 2)
    for (int body = 0; body < p->m.n_bodies; body++) scale_body(p, body, 1e-9);
  if (what == 3) scale_column(p, rig_below(&f->r, p->A->cols), 0);
  memcpy(value, p->A->value, (size_t)p->A->nnz * sizeof *value);
}

/* Factors and solves; status in the last place of x. */
static void factor_values(problem *p, const double *value, double *x)
{
  memcpy(p->A->value, value, (size_t)p->A->nnz * sizeof *value);
  memcpy(x, p->b, (size_t)p->A->cols * sizeof *x);
  const ga_status status = ga_lu_factor(p->lu);
  x[p->A->cols] = status;
  if (!status) assert_int_equal(ga_lu_solve(p->lu, x), GA_OK);
}

typedef struct story {
  size_t nnz, n;
  double *value, *x; /* [STEPS][nnz], [STEPS][n + 1] */
  double *other, *y; /* [nnz], [n + 1] */
} story;

static story open_story(fixture *f, problem *p)
{
  story s = {.nnz = (size_t)p->A->nnz, .n = (size_t)p->A->cols + 1};
  s.value = lin_get(STEPS * s.nnz, sizeof(double));
  s.x = lin_get(STEPS * s.n, sizeof(double));
  s.other = lin_get(s.nnz, sizeof(double));
  s.y = lin_get(s.n, sizeof(double));
  find_scales(p);
  draw_right_side(f, p);
  for (size_t k = 0; k < STEPS; k++) draw_values(f, p, s.value + k * s.nnz, 1);
  for (size_t k = 0; k < STEPS; k++) {
    ga__lu_mark(p->lu);
    factor_values(p, s.value + k * s.nnz, s.x + k * s.n);
  }
  return s;
}

static void close_story(story *s)
{
  free(s->value);
  free(s->x);
  free(s->other);
  free(s->y);
}

static void assert_same(const story *s, size_t step, const char *what)
{
  if (memcmp(s->y, s->x + step * s->n, s->n * sizeof(double))) fail_msg("step %d: %s", (int)step, what);
}

static void rollback_leaves_no_trace(void **state)
{
  fixture *f = *state;
  int again = 0;
  for (int turn = 0; turn < STORIES; turn++) {
    lin_bodies m = lin_bodies_new(LIN_CHAIN, 6, 6, 3, &f->r);
    m.second = turn % 2;
    problem p = open_bodies(f, m);
    story s = open_story(f, &p);
    ga_lu_destroy(&p.lu);
    assert_int_equal(ga__lu_create_ordered(f->ctx, p.A, GA_LU_BLOCKS, &p.order, &p.lu), GA_OK);
    for (size_t k = 0; k < STEPS; k++) {
      ga__lu_mark(p.lu);
      for (int detours = rig_below(&f->r, 3); detours > 0; detours--) {
        for (int i = rig_below(&f->r, 4); i > 0; i--) {
          draw_values(f, &p, s.other, 0);
          factor_values(&p, s.other, s.y);
        }
        ga__lu_rollback(p.lu);
        if (rig_below(&f->r, 2)) ga__lu_mark(p.lu);
        if (k == 0 || rig_below(&f->r, 2)) continue;
        factor_values(&p, s.value + (k - 1) * s.nnz, s.y); /* the factors that the detour has cost */
        assert_same(&s, k - 1, "the factors before the detour are others");
        again++;
        if (rig_below(&f->r, 2)) ga__lu_mark(p.lu);
      }
      factor_values(&p, s.value + k * s.nnz, s.y);
      assert_same(&s, k, "the factors after the detour are others");
    }
    close_story(&s);
    close_problem(f, &p);
  }
  assert_true(again > STORIES * STEPS / 4);
}

/* KLU alone: marked before it had pivots, it seeks them anew after a rollback. */
static void klu_forgets_pivots_found_since(void **state)
{
  fixture *f = *state;
  ga_sparse *A = lin_chain(f->ctx, &lin_chains[2], 20, rig_seed(1));
  ga_lu *lu = NULL;
  assert_int_equal(ga_lu_create(f->ctx, A, GA_LU_SPARSE, &lu), GA_OK);
  double *b = calloc((size_t)A->cols, sizeof *b);
  for (int searches = 1; searches <= 2; searches++) { /* the second gives up the pivots of the first */
    const long before = ga_lu_get_info(lu)->n_factor;
    ga__lu_forget(lu);
    ga__lu_mark(lu);
    for (int i = 0; i < searches; i++) {
      for (int p = 0; i > 0 && p < A->nnz; p++) A->value[p] *= p % 2 ? 1e4 : 1e-4;
      assert_int_equal(ga_lu_factor(lu), GA_OK);
    }
    assert_int_equal(ga_lu_get_info(lu)->n_factor, before + searches);
    ga__lu_rollback(lu);
    assert_int_equal(ga_lu_solve(lu, b), GA_ERR_ORDER);
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_int_equal(ga_lu_get_info(lu)->n_factor, before + searches + 1);
    assert_int_equal(ga_lu_get_info(lu)->n_refactor, 0);
  }
  free(b);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(f->ctx, &A);
}

/* Without a mark there is nothing to go back to; factors that were not touched stay. */
static void rollback_without_need(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_CHAIN, 6, 6, 3, &f->r));
  ga__lu_rollback(p.lu);
  assert_solves(f, &p, "rolled back without a mark");
  ga__lu_mark(p.lu);
  ga__lu_rollback(p.lu);
  memcpy(p.x, p.b, (size_t)p.A->cols * sizeof *p.x);
  assert_int_equal(ga_lu_solve(p.lu, p.x), GA_OK);
  assert_true(backward_error(&p, p.x, p.b) <= 1e-13);
  scale_body(&p, 2, 0);
  assert_solves(f, &p, "KLU");
  ga__lu_rollback(p.lu); /* KLU's pivots go, and its factors with them */
  assert_int_equal(ga_lu_solve(p.lu, p.x), GA_ERR_ORDER);
  restore(&p);
  assert_solves(f, &p, "afterwards");
  assert_true(by_fronts(&p));
  close_problem(f, &p);
}

static void forgetting_starts_anew(void **state)
{
  fixture *f = *state;
  for (int turn = 0; turn < STORIES; turn++) {
    problem p = open_bodies(f, lin_bodies_new(LIN_CHAIN, 6, 6, 3, &f->r));
    story s = open_story(f, &p);
    for (int i = 0; i < 30; i++) {
      if (rig_below(&f->r, 2)) ga__lu_mark(p.lu);
      draw_values(f, &p, s.other, 0);
      factor_values(&p, s.other, s.y);
    }
    ga__lu_forget(p.lu);
    assert_int_equal(ga_lu_solve(p.lu, p.x), GA_ERR_ORDER);
    ga__lu_rollback(p.lu);
    for (size_t k = 0; k < STEPS; k++) {
      factor_values(&p, s.value + k * s.nnz, s.y);
      assert_same(&s, k, "something was not forgotten");
    }
    close_story(&s);
    close_problem(f, &p);
  }
}

/* ---- several at a time ---- */

/* Solutions of several matrices of one pattern at a time are to the bit those one by one, also where some of
 * them are factored by KLU, or have a pattern of their own. */
static void matrices_are_solved_together(void **state)
{
  fixture *f = *state;
  enum { COUNT = 5 };
  for (int turn = 0; turn < 30; turn++) {
    problem p = open_bodies(f, draw_mixture(f, 1 + rig_below(&f->r, 30)));
    problem other = open_bodies(f, draw_mixture(f, 1 + rig_below(&f->r, 30)));
    const size_t n = (size_t)p.A->cols, most = n > (size_t)other.A->cols ? n : (size_t)other.A->cols;
    ga_lu *lu[COUNT] = {NULL};
    double *x[COUNT], *y[COUNT];
    for (int i = 0; i < COUNT; i++) {
      if (turn % 3 == 2 && i == 2) {
        lu[i] = other.lu;
      } else {
        const int unlike = turn % 3 == 1 && i == 1;
        const ga_lu_kind kind = turn % 2 ? GA_LU_SPARSE : GA_LU_BLOCKS;
        assert_int_equal(unlike ? ga__lu_create_ordered(f->ctx, p.A, kind, &p.order, &lu[i])
                                : ga__lu_create_like(p.lu, &lu[i]),
                         GA_OK);
        assert_non_null(lu[i]);
        for (int k = 0; k < p.A->nnz; k++) p.A->value[k] = p.keep[k] * (1 + 0.01 * rig_uniform(&f->r, -1, 1));
      }
      x[i] = lin_get(most, sizeof(double));
      y[i] = lin_get(most, sizeof(double));
      for (size_t k = 0; k < most; k++) x[i][k] = y[i][k] = rig_uniform(&f->r, -1, 1);
      assert_int_equal(ga_lu_factor(lu[i]), GA_OK);
      assert_int_equal(ga_lu_solve(lu[i], y[i]), GA_OK);
    }
    const long solved = ga_lu_get_info(lu[0])->n_solve;
    assert_int_equal(ga__lu_solve_together(lu, x, COUNT), GA_OK);
    assert_int_equal(ga_lu_get_info(lu[0])->n_solve, solved + 1);
    for (int i = 0; i < COUNT; i++)
      assert_memory_equal(x[i], y[i], (size_t)(lu[i] == other.lu ? other.A : p.A)->cols * sizeof(double));
    ga__lu_forget(lu[COUNT - 1]);
    assert_int_equal(ga__lu_solve_together(lu, x, COUNT), GA_ERR_ORDER);
    for (int i = 0; i < COUNT; i++) {
      if (lu[i] != other.lu) ga_lu_destroy(&lu[i]);
      free(x[i]);
      free(y[i]);
    }
    close_problem(f, &p);
    close_problem(f, &other);
  }
}

/* ---- kinds and sizes ---- */

static void kinds_are_chosen(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_HUB, 6, 6, 5, &f->r));
  const ga__order bare = {p.order.P, p.order.Q, NULL, 0.0};
  const struct {
    ga_lu_kind kind;
    const ga__order *order;
    ga_lu_kind expected;
  } cases[] = {{GA_LU_BLOCKS, NULL, GA_LU_SPARSE},     {GA_LU_BLOCKS, &bare, GA_LU_SPARSE},
               {GA_LU_BLOCKS, &p.order, GA_LU_BLOCKS}, {GA_LU_AUTO, &bare, GA_LU_SPARSE},
               {GA_LU_AUTO, &p.order, GA_LU_BLOCKS},   {GA_LU_SPARSE, &p.order, GA_LU_SPARSE},
               {GA_LU_DENSE, &p.order, GA_LU_DENSE}};
  ga_lu_destroy(&p.lu);
  assert_int_equal(ga_lu_create(f->ctx, p.A, GA_LU_BLOCKS, &p.lu), GA_OK);
  assert_int_equal(ga_lu_get_info(p.lu)->kind, GA_LU_SPARSE);
  assert_solves(f, &p, "without an order");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ga_lu_destroy(&p.lu);
    assert_int_equal(ga__lu_create_ordered(f->ctx, p.A, cases[i].kind, cases[i].order, &p.lu), GA_OK);
    assert_int_equal(ga_lu_get_info(p.lu)->kind, cases[i].expected);
    assert_solves(f, &p, "a kind");
    assert_int_equal(ga_lu_get_info(p.lu)->kind, cases[i].expected);
  }
  ga_lu *lu = NULL;
  assert_int_equal(ga_lu_create(f->ctx, p.A, (ga_lu_kind)(GA_LU_BLOCKS + 1), &lu), GA_ERR_ARGUMENT);
  assert_null(lu);
  close_problem(f, &p);
}

static void empty_matrices_do_no_harm(void **state)
{
  fixture *f = *state;
  int none[1] = {0};
  ga__order order = {none, none, none, 0.0};
  ga_sparse *A = NULL;
  ga_lu *lu = NULL;
  assert_int_equal(ga_sparse_create(f->ctx, 0, 0, 0, NULL, NULL, NULL, &A), GA_OK);
  assert_int_equal(ga__order_bodies(f->ctx, A, none, none, &order), GA_OK);
  assert_int_equal(ga__lu_create_ordered(f->ctx, A, GA_LU_BLOCKS, &order, &lu), GA_OK);
  ga__lu_mark(lu);
  assert_int_equal(ga_lu_factor(lu), GA_OK);
  assert_int_equal(ga_lu_solve(lu, NULL), GA_OK);
  ga__lu_rollback(lu);
  ga__lu_forget(lu);
  assert_true(ga_lu_get_info(lu)->rcond == 1);
  ga_lu_destroy(&lu);
  ga_sparse_destroy(f->ctx, &A);
}

/* One front of 46342 rows has more than 2^31 entries. */
static void fronts_too_large_are_refused(void **state)
{
  fixture *f = *state;
  enum { N = 46342 };
  lin_list list = {.n = N};
  for (int i = 0; i < N; i++) {
    lin_add(&list, i, i, 2);
    lin_add(&list, i, (i + 1) % N, 1);
  }
  problem p = {.m = {.partner = lin_get(N, sizeof(int)), .cluster = lin_get(N, sizeof(int))}};
  for (int i = 0; i < N; i++) p.m.partner[i] = i;
  p.A = lin_finish(f->ctx, &list);
  find_order(f, &p);
  f->memory.most = (size_t)1 << 28;
  assert_int_equal(ga__lu_create_ordered(f->ctx, p.A, GA_LU_AUTO, &p.order, &p.lu), GA_ERR_MEMORY);
  assert_null(p.lu);
  assert_call_error(f->ctx, GA_REASON_TOO_MANY, "LU factors by blocks", "entries of a front");
  /* follows: "an int cannot count them; take GA_LU_SPARSE" */
  assert_int_equal(ga_lu_create(f->ctx, p.A, GA_LU_SPARSE, &p.lu), GA_OK);
  assert_int_equal(ga_lu_factor(p.lu), GA_OK);
  close_problem(f, &p);
}

/* ---- memory ---- */

/* What waits to be handed on in a chain is little, however long it is. */
static void chains_need_little(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_CHAIN, 1000, 6, 5, &f->r));
  ga__fronts plan;
  assert_int_equal(ga__fronts_create(f->ctx, p.A, &p.order, &plan), GA_OK);
  assert_int_equal(plan.n_components, 1);
  assert_int_equal(plan.n_fronts, 2000);
  assert_true(plan.stack_size < 2000 && plan.front_size[0] < 1000 && plan.front_size[1] < 1000);
  assert_in_range(plan.n_fill, p.A->nnz, 2 * p.A->nnz);
  ga__fronts_destroy(f->ctx, &plan);
  close_problem(f, &p);
}

/* Large factors, and KLU for them, are created when they are first used: without memory then it fails, later
 * it does not, and a detour by KLU that is taken back leaves the factors as they were. */
static void large_matrices_create_klu_late(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, lin_bodies_new(LIN_CHAIN, 6000, 6, 5, &f->r));
  const size_t n = (size_t)p.A->cols;
  double *rhs = lin_get(n, sizeof(double)), *before = lin_get(n, sizeof(double));
  for (size_t i = 0; i < n; i++) rhs[i] = before[i] = rig_uniform(&f->r, -1, 1);
  assert_int_equal(ga_lu_factor(p.lu), GA_OK);
  assert_int_equal(ga_lu_solve(p.lu, before), GA_OK);
  ga__lu_mark(p.lu);
  scale_body(&p, 3000, 0);
  for (long k = 1; k <= 8; k++) {
    f->memory.count = 0;
    f->memory.fail_at = k;
    assert_int_equal(ga_lu_factor(p.lu), GA_ERR_MEMORY);
  }
  f->memory.count = f->memory.fail_at = 0;
  assert_solves(f, &p, "by a KLU that is created late");
  assert_false(by_fronts(&p));
  assert_true(f->memory.count > 5);
  ga__lu_rollback(p.lu);
  restore(&p);
  assert_int_equal(ga_lu_factor(p.lu), GA_OK);
  assert_true(by_fronts(&p));
  assert_int_equal(ga_lu_solve(p.lu, rhs), GA_OK);
  assert_memory_equal(rhs, before, n * sizeof(double));
  free(rhs);
  free(before);
  close_problem(f, &p);
}

static void lack_of_memory_leaves_no_plan(void **state)
{
  fixture *f = *state;
  problem p = open_bodies(f, couple_all(30, 1, 1, &f->r)); /* lists that have to grow */
  const long live = f->memory.live;
  ga__fronts plan;
  f->memory.count = 0;
  assert_int_equal(ga__fronts_create(f->ctx, p.A, &p.order, &plan), GA_OK);
  ga__fronts_destroy(f->ctx, &plan);
  const long count = f->memory.count;
  assert_true(count > 30);
  for (long k = 1; k <= count; k++) {
    f->memory.count = 0;
    f->memory.fail_at = k;
    assert_int_equal(ga__fronts_create(f->ctx, p.A, &p.order, &plan), GA_ERR_MEMORY);
    assert_int_equal(f->memory.live, live);
  }
  f->memory.fail_at = 0;
  close_problem(f, &p);
}

/* An order, factors by fronts and by KLU, a detour, solutions. The first failure, or GA_OK. */
static ga_status whole_life(fixture *f, const problem *p)
{
  const size_t n = (size_t)p->A->cols;
  const int body = p->m.first[2];
  ga__order order = {lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), lin_get(n, sizeof(int)), 0.0};
  ga_lu *lu = NULL;
  memcpy(p->A->value, p->keep, (size_t)p->A->nnz * sizeof(double));
  ga_status status = ga__order_bodies(f->ctx, p->A, p->m.partner, p->m.cluster, &order);
  if (!status) status = ga__lu_create_ordered(f->ctx, p->A, GA_LU_BLOCKS, &order, &lu);
  if (status) assert_null(lu);
  if (!status) status = ga_lu_factor(lu);
  if (!status) status = ga_lu_solve(lu, p->x);
  if (!status) {
    ga__lu_mark(lu);
    for (int e = p->A->col_start[body]; e < p->A->col_start[body + 6]; e++)
      if (p->A->row[e] >= body && p->A->row[e] < body + 6) p->A->value[e] = 0;
    status = ga_lu_factor(lu);
    if (status == GA_ERR_MEMORY) assert_int_equal(ga_lu_solve(lu, p->x), GA_ERR_ORDER);
    ga__lu_rollback(lu);
    memcpy(p->A->value, p->keep, (size_t)p->A->nnz * sizeof(double));
    assert_int_equal(ga_lu_factor(lu), GA_OK);
    assert_int_equal(ga_lu_solve(lu, p->x), GA_OK);
  }
  ga_lu_destroy(&lu);
  free(order.P);
  free(order.Q);
  free(order.block);
  return status;
}

static void lack_of_memory_leaves_nothing(void **state)
{
  fixture *f = *state;
  memory *const pools[] = {&f->memory, &klu_memory};
  lin_bodies m = lin_bodies_new(LIN_LOOP, 5, 6, 3, &f->r);
  m.second = 1;
  m.n_states = 3;
  problem p = open_bodies(f, m);
  for (int i = 0; i < 2; i++) {
    const long ours = f->memory.live, theirs = klu_memory.live;
    pools[i]->count = 0;
    assert_int_equal(whole_life(f, &p), GA_OK);
    const long count = pools[i]->count;
    assert_true(count >= (i == 0 ? 60 : 10));
    for (long k = 1; k <= count; k++) {
      pools[i]->count = pools[i]->kept = 0;
      pools[i]->fail_at = k;
      ga_context_clear_error(f->ctx);
      const ga_status status = whole_life(f, &p);
      if (!(pools[i]->kept && status == GA_OK)) assert_int_equal(status, GA_ERR_MEMORY);
      pools[i]->fail_at = 0;
      assert_int_equal(f->memory.live, ours);
      assert_int_equal(klu_memory.live, theirs);
    }
  }
  close_problem(f, &p);
}

static void steps_do_not_allocate(void **state)
{
  fixture *f = *state;
  for (int second = 0; second < 2; second++) {
    lin_bodies m = lin_bodies_new(LIN_TREE, 12, 6, 5, &f->r);
    m.second = second;
    problem p = open_bodies(f, m);
    const long ours = f->memory.count, theirs = klu_memory.count;
    for (int turn = 0; turn < 20; turn++) {
      stir(f, &p, 0.01);
      for (int body = 0; turn == 10 && body < 12; body++) scale_body(&p, body, 1e12); /* a new scale */
      ga__lu_mark(p.lu);
      assert_int_equal(ga_lu_factor(p.lu), GA_OK);
      assert_int_equal(ga_lu_solve(p.lu, p.x), GA_OK);
      if (turn % 3 == 0) ga__lu_rollback(p.lu);
    }
    assert_int_equal(f->memory.count, ours);
    assert_int_equal(klu_memory.count, theirs);
    const ga_lu_info *info = ga_lu_get_info(p.lu);
    assert_int_equal(info->n_factor, 2); /* the first is rolled back */
    assert_int_equal(info->n_refactor, 18);
    assert_int_equal(info->n_solve, 20);
    close_problem(f, &p);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
#define FRONTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      FRONTS_TEST(order_is_by_bodies),
      FRONTS_TEST(order_takes_crowds),
      FRONTS_TEST(order_is_by_constraints),
      FRONTS_TEST(order_is_chosen),
      FRONTS_TEST(lines_left_out_cost_nothing),
      FRONTS_TEST(lack_of_memory_leaves_lines_in),
      FRONTS_TEST(factors_solve),
      FRONTS_TEST(factors_of_any_width),
      FRONTS_TEST(factors_of_many_components),
      FRONTS_TEST(large_fronts_solve),
      FRONTS_TEST(matrices_are_solved_together),
      FRONTS_TEST(large_fronts_seek_pivots),
      FRONTS_TEST(pivots_are_sought_within_blocks),
      FRONTS_TEST(strong_couplings_stay),
      FRONTS_TEST(factors_take_units),
      FRONTS_TEST(states_take_units),
      FRONTS_TEST(factors_take_extremes),
      FRONTS_TEST(massless_bodies_go_to_klu),
      FRONTS_TEST(massless_from_the_start),
      FRONTS_TEST(scale_follows),
      FRONTS_TEST(zero_columns_are_found),
      FRONTS_TEST(redundant_constraints_are_found),
      FRONTS_TEST(units_do_not_hide_singularity),
      FRONTS_TEST(small_diagonals_do_not_hide_singularity),
      FRONTS_TEST(structure_is_checked),
      FRONTS_TEST(nan_is_found),
      FRONTS_TEST(klu_forgets_pivots_found_since),
      FRONTS_TEST(rollback_leaves_no_trace),
      FRONTS_TEST(rollback_without_need),
      FRONTS_TEST(forgetting_starts_anew),
      FRONTS_TEST(kinds_are_chosen),
      FRONTS_TEST(empty_matrices_do_no_harm),
      FRONTS_TEST(fronts_too_large_are_refused),
      FRONTS_TEST(chains_need_little),
      FRONTS_TEST(large_matrices_create_klu_late),
      FRONTS_TEST(lack_of_memory_leaves_no_plan),
      FRONTS_TEST(lack_of_memory_leaves_nothing),
      FRONTS_TEST(steps_do_not_allocate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
