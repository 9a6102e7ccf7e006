#include "index1.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"

struct vf_index1 {
  ga_system_def def;
  ga_context *ctx;
  ga_group *group;
  vf_sizes size;
  int n_rows;    /* n_lambda + n_psi */
  int n_solve;   /* unknowns z = (vdot, λ, ψ, y) */
  int n_matrix;  /* rows of the system's Jacobian: those of z, and x */
  int n_entries; /* of the Jacobian's pattern */

  double *z, *dz;
  double *matrix; /* n_solve², factored in place */
  double *rows;   /* [B; A], n_rows × nv, kept for the residual */
  double *scale;  /* of the factors */
  int *pivot;
  double *D, *Q, *G;    /* the Jacobian as the callback fills it */
  double *square;       /* n_matrix², the same as a matrix */
  double *moved, *move; /* a displaced q, and the displacement */
  double *work[2];      /* results of callbacks, of the length of z at least */
  char *text;
  size_t text_size;
};

static int fail(vf_index1 *m, double t, const char *what)
{
  snprintf(m->text, m->text_size, "%s at t = %.9g", what, t);
  return 1;
}

static double largest(const double *a, int n)
{
  double l = 0;
  for (int i = 0; i < n; i++) l = isfinite(a[i]) ? fmax(l, fabs(a[i])) : INFINITY;
  return l;
}

ga_point vf_index1_point(const vf_index1 *m, double t, const double *state)
{
  const vf_sizes *s = &m->size;
  return (ga_point){.t = t,
                    .q = state,
                    .v = state + s->nq,
                    .x = state + s->nq + s->nv,
                    .vdot = m->z,
                    .lambda = m->z + s->nv,
                    .psi = m->z + s->nv + s->n_lambda,
                    .y = m->z + s->nv + m->n_rows};
}

/* ---- Differences, where a problem gives no derivative ------------------------------------------------ */

/* Eighth-order central differences at a distance of about 0.02: for functions that vary over lengths of order
 * 1 truncation and rounding are then both near 1e-13. */

static const double first_weight[] = {0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
static const double second_weight[] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
static const double distance = 0.02;

/* Φ or k along the motion with frozen v: out = d^order/ds^order of fn(t+s, move(q, s v), v) at s = 0, order 1
 * or 2 */
static int along_motion(vf_index1 *m, ga_eval_fn fn, int n, const ga_point *p, int order, double *out)
{
  const double s = distance / (1 + largest(p->v, m->size.nv));
  const double *weight = order == 1 ? first_weight : second_weight;
  ga_point shifted = *p;
  shifted.q = m->moved;
  memset(out, 0, sizeof(double) * (size_t)n);
  for (int k = -4; k <= 4; k++) {
    const double w = weight[abs(k)] * (order == 1 && k < 0 ? -1 : 1) / (order == 1 ? s : s * s);
    for (int i = 0; i < m->size.nv; i++) m->move[i] = k * s * p->v[i];
    ga_group_move(m->group, m->moved, p->q, m->move);
    shifted.t = p->t + k * s;
    if (fn(m->def.user, &shifted, m->work[0])) return 1;
    for (int i = 0; i < n; i++) out[i] += w * m->work[0][i];
  }
  return 0;
}

/* Rows of B (by moving q) or A (by moving v): fn's derivative with respect to each direction. */
static int rows_by_differences(vf_index1 *m, ga_eval_fn fn, int n, const ga_point *p, int by_v, double *rows)
{
  const int nv = m->size.nv;
  ga_point shifted = *p;
  shifted.q = m->moved;
  shifted.v = m->work[1];
  memset(rows, 0, sizeof(double) * (size_t)(n * nv));
  for (int j = 0; j < nv; j++) {
    const double s = distance * (by_v ? 1 + fabs(p->v[j]) : 1);
    for (int k = -4; k <= 4; k++) {
      memset(m->move, 0, sizeof(double) * (size_t)nv);
      memcpy(m->work[1], p->v, sizeof(double) * (size_t)nv);
      *(by_v ? &m->work[1][j] : &m->move[j]) += k * s;
      ga_group_move(m->group, m->moved, p->q, m->move);
      if (fn(m->def.user, &shifted, m->work[0])) return 1;
      const double w = first_weight[abs(k)] * (k < 0 ? -1 : 1) / s;
      for (int i = 0; i < n; i++) rows[i * nv + j] += w * m->work[0][i];
    }
  }
  return 0;
}

/* ---- Residual ---------------------------------------------------------------------------------------- */

/* dz := −(M vdot − f, Φ_acc + B vdot, k_acc + A vdot, y − o) */
static int residual(vf_index1 *m, const ga_point *p)
{
  const vf_sizes *s = &m->size;
  const ga_system_def *d = &m->def;
  double *holonomic = m->dz + s->nv, *nonholonomic = holonomic + s->n_lambda,
         *output = nonholonomic + s->n_psi;
  int bad = 0;
  if (s->n_lambda)
    bad |= d->phi_acc ? d->phi_acc(d->user, p, holonomic)
                      : along_motion(m, d->phi, s->n_lambda, p, 2, holonomic);
  if (s->n_psi)
    bad |=
        d->k_acc ? d->k_acc(d->user, p, nonholonomic) : along_motion(m, d->k, s->n_psi, p, 1, nonholonomic);
  for (int i = 0; i < m->n_rows; i++) {
    for (int j = 0; j < s->nv; j++) holonomic[i] += m->rows[i * s->nv + j] * p->vdot[j];
    holonomic[i] = -holonomic[i];
  }
  if (s->nv) bad |= d->mass(d->user, p, m->work[0]) | d->force(d->user, p, m->work[1]);
  for (int i = 0; i < s->nv; i++) m->dz[i] = m->work[1][i] - m->work[0][i];
  if (s->n_y) bad |= d->output(d->user, p, output);
  for (int i = 0; i < s->n_y; i++) output[i] -= p->y[i];
  return bad;
}

/* ---- Matrix ------------------------------------------------------------------------------------------ */

static int call_jacobian(vf_index1 *m, const ga_point *p, double shift_v, double shift_vdot)
{
  const size_t bytes = sizeof(double) * (size_t)m->n_entries;
  ga_jacobian J = {.want = GA_WANT_D | GA_WANT_Q | GA_WANT_B,
                   .shift_v = shift_v,
                   .shift_vdot = shift_vdot,
                   .D = memset(m->D, 0, bytes),
                   .Q = memset(m->Q, 0, bytes),
                   .G = memset(m->G, 0, bytes)};
  return m->def.jacobian(m->def.user, p, &J);
}

/* The callback's numbers as a matrix, wherever the pattern puts them. */
static void scatter(vf_index1 *m, const double *entries)
{
  const int n = m->n_matrix;
  memset(m->square, 0, sizeof(double) * (size_t)(n * n));
  for (int e = 0; e < m->n_entries; e++) {
    const int row = m->def.n_pattern ? m->def.pattern_row[e] : e / n;
    const int col = m->def.n_pattern ? m->def.pattern_col[e] : e % n;
    m->square[row * n + col] += entries[e];
  }
}

/* Place of unknown i of z in the system's Jacobian: X stands between PSI and Y. */
static int place(const vf_index1 *m, int i)
{
  return i < m->size.nv + m->n_rows ? i : i + m->size.n_x;
}

static int matrix_from_jacobian(vf_index1 *m, const ga_point *p)
{
  const vf_sizes *s = &m->size;
  const int nv = s->nv, n = m->n_matrix;
  if (s->n_psi) {
    if (call_jacobian(m, p, 1, 0)) return 1;
    scatter(m, m->D);
    for (int i = s->n_lambda; i < m->n_rows; i++)
      memcpy(m->rows + i * nv, m->square + (nv + i) * n, sizeof(double) * (size_t)nv);
  }
  if (call_jacobian(m, p, 0, 1)) return 1;
  scatter(m, m->Q);
  for (int i = 0; i < s->n_lambda; i++)
    memcpy(m->rows + i * nv, m->square + (nv + i) * n, sizeof(double) * (size_t)nv);
  scatter(m, m->D);
  for (int i = 0; i < m->n_solve; i++)
    for (int j = 0; j < m->n_solve; j++)
      m->matrix[i * m->n_solve + j] = m->square[place(m, i) * n + place(m, j)];
  for (int i = nv + m->n_rows; i < m->n_solve; i++) m->matrix[i * m->n_solve + i] += 1;
  return 0;
}

/* The same from differences of the residual; Newton's iteration forgives their errors, B and A are the exact
 * ones. */
static int matrix_by_differences(vf_index1 *m, const ga_point *p)
{
  const vf_sizes *s = &m->size;
  const int n = m->n_solve;
  int bad = 0;
  if (s->n_lambda) bad |= rows_by_differences(m, m->def.phi, s->n_lambda, p, 0, m->rows);
  if (s->n_psi) bad |= rows_by_differences(m, m->def.k, s->n_psi, p, 1, m->rows + s->n_lambda * s->nv);
  for (int j = 0; j < n && !bad; j++) {
    const double z = m->z[j], step = 1e-5 * (1 + fabs(z));
    for (int side = -1; side <= 1; side += 2) {
      m->z[j] = z + side * step;
      bad |= residual(m, p);
      for (int i = 0; i < n; i++) {
        double *entry = &m->matrix[i * n + j];
        *entry = (side < 0 ? 0 : *entry) - side * m->dz[i] / (2 * step);
      }
    }
    m->z[j] = z;
  }
  return bad;
}

/*  [ M       −f_λ  −f_ψ  −f_y   ]
 *  [ B        0     0     0     ]
 *  [ A        0     0     0     ]
 *  [ −o_vdot −o_λ  −o_ψ  I−o_y  ]  */
static int factor(vf_index1 *m, const ga_point *p)
{
  const int nv = m->size.nv, n = m->n_solve;
  if (m->def.jacobian ? matrix_from_jacobian(m, p) : matrix_by_differences(m, p))
    return fail(m, p->t, "a callback failed");
  for (int i = 0; i < m->n_rows; i++) {
    memset(m->matrix + (nv + i) * n, 0, sizeof(double) * (size_t)n);
    memcpy(m->matrix + (nv + i) * n, m->rows + i * nv, sizeof(double) * (size_t)nv);
  }
  return vf_lu_factor(m->matrix, m->pivot, m->scale, n) ? fail(m, p->t, "singular index-1 matrix") : 0;
}

/* ---- Solve ------------------------------------------------------------------------------------------- */

/* Largest increment of Newton's iteration, relative to its block: vdot, λ and ψ, y. */
static double relative_increment(const vf_index1 *m)
{
  const int length[3] = {m->size.nv, m->n_rows, m->size.n_y};
  double worst = 0;
  for (int b = 0, at = 0; b < 3; at += length[b++]) {
    const double z = largest(m->z + at, length[b]);
    worst = fmax(worst, largest(m->dz + at, length[b]) / (z > 0 ? z : 1));
  }
  return worst;
}

/* Newton's method for z, from the last z; ends when the increments are down to rounding. */
static int solve(vf_index1 *m, double t, const double *state)
{
  const ga_point p = vf_index1_point(m, t, state);
  double before = INFINITY;
  for (int iteration = 0; iteration < 30; iteration++) {
    if ((iteration == 0 || (iteration > 1 && before > 1e-6)) && factor(m, &p)) return 1;
    if (residual(m, &p)) return fail(m, t, "a callback failed");
    vf_lu_solve(m->dz, m->matrix, m->pivot, m->scale, m->n_solve);
    for (int i = 0; i < m->n_solve; i++) m->z[i] += m->dz[i];
    const double now = relative_increment(m);
    if (!isfinite(now)) return fail(m, t, "not a number in the index-1 solve");
    if (now < 1e-15 || (now < 1e-8 && now > 0.1 * before)) return 0;
    before = now;
  }
  return fail(m, t, "no convergence in the index-1 solve");
}

int vf_index1_rate(vf_index1 *m, double t, const double *state, double *rate)
{
  const vf_sizes *s = &m->size;
  if (solve(m, t, state)) return 1;
  const ga_point p = vf_index1_point(m, t, state);
  ga_group_rate(m->group, rate, p.q, p.v);
  memcpy(rate + s->nq, m->z, sizeof(double) * (size_t)s->nv);
  if (s->n_x && m->def.state(m->def.user, &p, rate + s->nq + s->nv))
    return fail(m, t, "the state callback failed");
  return 0;
}

double vf_index1_drift(vf_index1 *m, const ga_point *p)
{
  const vf_sizes *s = &m->size;
  double drift = 0;
  if (s->n_lambda)
    drift = m->def.phi(m->def.user, p, m->work[0]) ? INFINITY : largest(m->work[0], s->n_lambda);
  if (s->n_psi)
    drift = m->def.k(m->def.user, p, m->work[0]) ? INFINITY : fmax(drift, largest(m->work[0], s->n_psi));
  return drift;
}

/* ---- Creation ---------------------------------------------------------------------------------------- */

vf_sizes vf_index1_sizes(const vf_index1 *m)
{
  return m->size;
}

static int allocate(vf_index1 *m)
{
  const size_t n = (size_t)m->n_matrix + 1, nq = (size_t)m->size.nq + 1, entries = (size_t)m->n_entries + 1;
  const struct {
    double **block;
    size_t length;
  } blocks[] = {{&m->z, n},       {&m->dz, n},      {&m->matrix, n * n}, {&m->rows, n * n},   {&m->scale, n},
                {&m->D, entries}, {&m->Q, entries}, {&m->G, entries},    {&m->square, n * n}, {&m->moved, nq},
                {&m->move, n},    {&m->work[0], n}, {&m->work[1], n}};
  int bad = !(m->pivot = calloc(n, sizeof(int)));
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
    bad |= !(*blocks[i].block = calloc(blocks[i].length, sizeof(double)));
  return bad;
}

static int prepare(vf_index1 *m, const ex_problem *problem)
{
  vf_sizes *s = &m->size;
  m->def = ga_system_defaults();
  problem->define(&m->def);
  if (ga_context_create(NULL, &m->ctx) != GA_OK) return fail(m, 0, "no context");
  if (ga_group_create(m->ctx, m->def.n_factors, m->def.factors, &m->group) != GA_OK)
    return fail(m, 0, "no group");
  *s = (vf_sizes){
      ga_group_nq(m->group), ga_group_nv(m->group), m->def.n_lambda, m->def.n_psi, m->def.n_x, m->def.n_y};
  m->n_rows = s->n_lambda + s->n_psi;
  m->n_solve = s->nv + m->n_rows + s->n_y;
  m->n_matrix = m->n_solve + s->n_x;
  m->n_entries = m->def.n_pattern ? m->def.n_pattern : m->n_matrix * m->n_matrix;
  if (allocate(m)) return fail(m, 0, "out of memory");
  for (int i = 0; problem->lambda_guess && i < s->n_lambda; i++) m->z[s->nv + i] = problem->lambda_guess[i];
  for (int i = 0; problem->psi_guess && i < s->n_psi; i++)
    m->z[s->nv + s->n_lambda + i] = problem->psi_guess[i];
  return 0;
}

vf_index1 *vf_index1_create(const ex_problem *problem, char *text, size_t size)
{
  vf_index1 *m = calloc(1, sizeof *m);
  if (!m) {
    snprintf(text, size, "out of memory");
    return NULL;
  }
  m->text = text;
  m->text_size = size;
  if (prepare(m, problem)) vf_index1_destroy(&m);
  return m;
}

void vf_index1_destroy(vf_index1 **index1)
{
  vf_index1 *m = *index1;
  if (!m) return;
  void *blocks[] = {m->z, m->dz,     m->matrix, m->rows, m->scale,   m->D,       m->Q,
                    m->G, m->square, m->moved,  m->move, m->work[0], m->work[1], m->pivot};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) free(blocks[i]);
  ga_group_destroy(&m->group);
  ga_context_destroy(&m->ctx);
  free(m);
  *index1 = NULL;
}
