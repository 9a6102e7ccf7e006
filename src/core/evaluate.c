/* Evaluation without a method: residuals of all equations, and their derivatives by each kind of unknown.
 *
 *   δr = M δvdot + C δv + K δq + r_λ δλ + r_ψ δψ + r_x δx + r_y δy  (+ δxdot in the rows of X)
 *
 * Two calls of the Jacobian give all of it, one with the shift of v alone and one with that of vdot; the
 * place of each number is planned at creation. */
#include "core/arrays.h"
#include "core/derivative.h"
#include "core/evaluate.h"

#include <math.h>
#include <string.h>

/* Source of the numbers of a matrix. */
typedef enum source { NONE = 0, BY_VDOT, FROM_D, FROM_Q, FROM_G } source;

enum { N_ROWS = GA_N_BLOCKS + 1 }; /* of blocks of equations: those of a system, and B v + Φ_t */

static const unsigned char SOURCE[N_ROWS][GA_N_BY] = {
    /*                  vdot     v       q       λ       ψ       x       y */
    [GA_BLOCK_V] = {BY_VDOT, FROM_D, FROM_Q, FROM_D, FROM_D, FROM_D, FROM_D},
    [GA_BLOCK_LAMBDA] = {NONE, NONE, FROM_Q, NONE, NONE, NONE, NONE},
    [GA_BLOCK_PSI] = {NONE, FROM_D, FROM_Q, NONE, NONE, NONE, NONE},
    [GA_BLOCK_X] = {BY_VDOT, FROM_D, FROM_Q, FROM_D, FROM_D, FROM_D, FROM_D},
    [GA_BLOCK_Y] = {BY_VDOT, FROM_D, FROM_Q, FROM_D, FROM_D, FROM_D, FROM_D},
    [GA_BLOCK_ETA] = {NONE, FROM_Q, FROM_G, NONE, NONE, NONE, NONE}}; /* by v: B */

static const ga_equation_block COLUMNS[GA_N_BY] = {GA_BLOCK_V,   GA_BLOCK_V, GA_BLOCK_V, GA_BLOCK_LAMBDA,
                                                   GA_BLOCK_PSI, GA_BLOCK_X, GA_BLOCK_Y};

typedef struct part {
  ga_sparse *A;
  int n;
  int *entry; /* [n] of the pattern, −1: the number 1, on the diagonal of y − o */
  int *place; /* [n] in A */
  int *into;  /* [A->nnz] place of each in the combined matrix; NULL in the rows of ETA, and without it */
} part;

struct ga_evaluation {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  ga__deriv *deriv; /* work space: `own`, or that of the evaluation that it borrows from */
  ga__deriv own;
  part part[N_ROWS][GA_N_BY];
  double *block;     /* holds D, Q, G and force; NULL: they are borrowed */
  double *D, *Q, *G; /* [n_entries] */
  double *force;     /* [nv] */
  ga_sparse *J;      /* combined; NULL: not wanted */
  int *diagonal;     /* [n_x] places of the diagonal of X in J */
  int known;         /* 1: the parts have been evaluated */
  int borrows;       /* 1: all but the values of the parts belongs to another evaluation */
};

/* ---- The plan ---- */

static ga_equation_block rows_of(int equations)
{
  return equations == GA_BLOCK_ETA ? GA_BLOCK_LAMBDA : (ga_equation_block)equations;
}

/* Whether entry e of the pattern can be non-zero in this array. */
static int holds(const ga_system *sys, int e, source from)
{
  if (from == BY_VDOT) return sys->row[e] < sys->nv ? ga__has_mass(sys, e) : (sys->in[e] & GA_WANT_D) != 0;
  return (sys->in[e] & (from == FROM_D ? GA_WANT_D : from == FROM_Q ? GA_WANT_Q : GA_WANT_G)) != 0;
}

static int within(const ga_system *sys, int i, ga_equation_block block)
{
  return i >= sys->start[block] && i < sys->start[block] + sys->size[block];
}

/* The entries of one matrix into row and col, counted from the first of its block; returns their number. */
static int list_entries(const ga_system *sys, int equations, ga_by by, int *entry, int *row, int *col)
{
  const ga_equation_block rows = rows_of(equations), cols = COLUMNS[by];
  const source from = sys->size[rows] && sys->size[cols] ? (source)SOURCE[equations][by] : NONE;
  int n = 0;
  for (int e = 0; from != NONE && e < sys->n_entries; e++) {
    if (!within(sys, sys->row[e], rows) || !within(sys, sys->col[e], cols) || !holds(sys, e, from)) continue;
    entry[n] = e;
    row[n] = sys->row[e] - sys->start[rows];
    col[n++] = sys->col[e] - sys->start[cols];
  }
  for (int i = 0; equations == GA_BLOCK_Y && by == GA_BY_Y && i < sys->size[GA_BLOCK_Y]; i++) {
    entry[n] = -1;
    row[n] = col[n] = i;
    n++;
  }
  return n;
}

/* list[3][n_entries + n_y] is work space. */
static ga_status plan_part(ga_evaluation *ev, int equations, ga_by by, int *list)
{
  const ga_system *sys = ev->sys;
  const size_t room = (size_t)sys->n_entries + (size_t)sys->size[GA_BLOCK_Y];
  part *m = &ev->part[equations][by];
  m->n = list_entries(sys, equations, by, list, list + room, list + 2 * room);
  m->entry = ga__alloc(ev->ctx, (size_t)m->n, sizeof *m->entry);
  m->place = ga__alloc(ev->ctx, (size_t)m->n, sizeof *m->place);
  if (!m->entry || !m->place) return ga__no_memory(ev->ctx, "an evaluation");
  if (m->n > 0) memcpy(m->entry, list, (size_t)m->n * sizeof *list);
  ga_status status = ga_sparse_create(ev->ctx, sys->size[rows_of(equations)], sys->size[COLUMNS[by]], m->n,
                                      list + room, list + 2 * room, m->place, &m->A);
  return status;
}

/* Number of entries in all parts except those of ETA. */
static size_t count_numbers(const ga_evaluation *ev)
{
  size_t n = 0;
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) n += (size_t)ev->part[r][b].A->nnz;
  return n;
}

/* Rows and columns of all of them in the combined matrix, and of the diagonal of X behind them. */
static int list_combined(const ga_evaluation *ev, int *row, int *col)
{
  const ga_system *sys = ev->sys;
  int n = 0;
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      const ga_sparse *A = ev->part[r][b].A;
      for (int c = 0; c < A->cols; c++)
        for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++) {
          row[n] = sys->start[r] + A->row[p];
          col[n++] = sys->start[COLUMNS[b]] + c;
        }
    }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++, n++) row[n] = col[n] = sys->start[GA_BLOCK_X] + i;
  return n;
}

static ga_status distribute(ga_evaluation *ev, const int *place)
{
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      part *m = &ev->part[r][b];
      m->into = ga__alloc(ev->ctx, (size_t)m->A->nnz, sizeof *m->into);
      if (!m->into) return ga__no_memory(ev->ctx, "an evaluation");
      for (int p = 0; p < m->A->nnz; p++) m->into[p] = *place++;
    }
  for (int i = 0; i < ev->sys->size[GA_BLOCK_X]; i++) ev->diagonal[i] = *place++;
  return GA_OK;
}

static ga_status plan_combined(ga_evaluation *ev)
{
  const size_t n_x = (size_t)ev->sys->size[GA_BLOCK_X], most = count_numbers(ev) + n_x;
  int *row = ga__alloc(ev->ctx, most, sizeof *row), *col = ga__alloc(ev->ctx, most, sizeof *col),
      *place = ga__alloc(ev->ctx, most, sizeof *place);
  ev->diagonal = ga__alloc(ev->ctx, n_x, sizeof *ev->diagonal);
  ga_status status = row && col && place && ev->diagonal ? GA_OK : ga__no_memory(ev->ctx, "an evaluation");
  if (!status)
    status = ga_sparse_create(ev->ctx, ev->sys->n, ev->sys->n, list_combined(ev, row, col), row, col, place,
                              &ev->J);
  if (!status) status = distribute(ev, place);
  ga__free(ev->ctx, row);
  ga__free(ev->ctx, col);
  ga__free(ev->ctx, place);
  return status;
}

static ga_status plan_parts(ga_evaluation *ev)
{
  const size_t room = (size_t)ev->sys->n_entries + (size_t)ev->sys->size[GA_BLOCK_Y];
  int *list = ga__alloc(ev->ctx, 3 * room, sizeof *list);
  ga_status status = list ? GA_OK : ga__no_memory(ev->ctx, "an evaluation");
  for (int r = 0; r < N_ROWS; r++)
    for (int b = 0; !status && b < GA_N_BY; b++) status = plan_part(ev, r, (ga_by)b, list);
  ga__free(ev->ctx, list);
  return status;
}

static ga_status take_arrays(ga_evaluation *ev)
{
  const size_t entries = (size_t)ev->sys->n_entries;
  const ga_status status = ga__deriv_create(ev->sys, &ev->own);
  ev->deriv = &ev->own;
  if (status) return status;
  const ga__array need[] = {
      {&ev->D, entries}, {&ev->Q, entries}, {&ev->G, entries}, {&ev->force, (size_t)ev->sys->nv}};
  return ga__arrays_create(ev->ctx, GA__ARRAYS(need), "an evaluation", &ev->block, NULL);
}

static ga_status build(ga_evaluation *ev, int combined)
{
  ga_status status = take_arrays(ev);
  if (!status) status = plan_parts(ev);
  return status || !combined ? status : plan_combined(ev);
}

/* The part with the pattern and the plan of another, and values of its own. */
static ga_status borrow_part(ga_context *ctx, const part *from, part *to)
{
  ga_sparse *A = ga__alloc(ctx, 1, sizeof *A);
  double *value = ga__alloc(ctx, (size_t)from->A->nnz, sizeof *value);
  if (!A || !value) {
    ga__free(ctx, A);
    ga__free(ctx, value);
    return ga__no_memory(ctx, "an evaluation");
  }
  *A = *from->A;
  A->value = value;
  *to = (part){.A = A, .n = from->n, .entry = from->entry, .place = from->place};
  return GA_OK;
}

ga_status ga_evaluation_create(ga_context *ctx, const ga_system *sys, ga_evaluation **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys) return ga__refuse_null(ctx, __func__, out ? "sys" : "out");
  return ga__evaluation_create(ctx, sys, 1, out);
}

ga_status ga__evaluation_create(ga_context *ctx, const ga_system *sys, int combined, ga_evaluation **out)
{
  *out = NULL;
  ga_evaluation *ev = ga__alloc(ctx, 1, sizeof *ev);
  if (!ev) return ga__no_memory(ctx, "an evaluation");
  ev->ctx = ctx;
  ga_status status = ga__system_open(ctx, sys, &ev->sys);
  if (!status) status = build(ev, combined);
  if (status)
    ga_evaluation_destroy(&ev);
  else
    *out = ev;
  return status;
}

ga_status ga__evaluation_create_like(const ga_evaluation *like, ga_evaluation **out)
{
  *out = NULL;
  ga_evaluation *ev = ga__alloc(like->ctx, 1, sizeof *ev);
  if (!ev) return ga__no_memory(like->ctx, "an evaluation");
  *ev = (ga_evaluation){.ctx = like->ctx,
                        .borrows = 1,
                        .sys = like->sys,
                        .deriv = like->deriv,
                        .D = like->D,
                        .Q = like->Q,
                        .G = like->G,
                        .force = like->force};
  ga_status status = GA_OK;
  for (int r = 0; r < N_ROWS; r++)
    for (int b = 0; !status && b < GA_N_BY; b++)
      status = borrow_part(ev->ctx, &like->part[r][b], &ev->part[r][b]);
  if (status)
    ga_evaluation_destroy(&ev);
  else
    *out = ev;
  return status;
}

static void release_part(const ga_evaluation *ev, part *m)
{
  if (ev->borrows) {
    if (m->A) ga__free(ev->ctx, m->A->value);
    ga__free(ev->ctx, m->A);
    return;
  }
  ga__free(ev->ctx, m->entry);
  ga__free(ev->ctx, m->place);
  ga__free(ev->ctx, m->into);
  ga_sparse_destroy(ev->ctx, &m->A);
}

void ga_evaluation_destroy(ga_evaluation **ev)
{
  if (!ev || !*ev) return;
  ga_evaluation *e = *ev;
  ga_context *ctx = e->ctx;
  for (int r = 0; r < N_ROWS; r++)
    for (int b = 0; b < GA_N_BY; b++) release_part(e, &e->part[r][b]);
  ga__deriv_destroy(&e->own);
  ga_sparse_destroy(ctx, &e->J);
  ga__free(ctx, e->diagonal);
  ga__free(ctx, e->block);
  if (!e->borrows) ga__system_close(&e->sys);
  ga__free(ctx, e);
  *ev = NULL;
}

/* ---- At a point ---- */

ga_status ga_evaluation_residual(ga_evaluation *ev, const ga_point *p, const double *xdot, double *r,
                                 double *phi_dot)
{
  if (!ev) return GA_ERR_ARGUMENT;
  const ga_system *sys = ev->sys;
  if (!p || (!r && sys->n > 0)) return ga__refuse_null(ev->ctx, __func__, p ? "r" : "p");
  ga_status status = ga__check_point(sys, p, "ga_evaluation_residual");
  if (!status) status = ga__residual(sys, p, r, ev->force);
  if (!status && phi_dot) status = ga__phi_dot(ev->deriv, p, phi_dot);
  if (status) return status;
  for (int i = 0; xdot && i < sys->size[GA_BLOCK_X]; i++) r[sys->start[GA_BLOCK_X] + i] += xdot[i];
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) r[sys->start[GA_BLOCK_Y] + i] += p->y[i];
  return GA_OK;
}

/* Fills the parts whose numbers are now in the arrays. */
static void fill(ga_evaluation *ev, int by_vdot)
{
  const double *const values[] = {[BY_VDOT] = ev->D, [FROM_D] = ev->D, [FROM_Q] = ev->Q, [FROM_G] = ev->G};
  for (int r = 0; r < N_ROWS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      const part *m = &ev->part[r][b];
      const source from = (source)SOURCE[r][b];
      if (from == NONE || (from == BY_VDOT) != by_vdot) continue;
      ga_sparse_zero(m->A);
      for (int i = 0; i < m->n; i++)
        m->A->value[m->place[i]] += m->entry[i] < 0 ? 1.0 : values[from][m->entry[i]];
    }
}

ga_status ga_evaluation_jacobian(ga_evaluation *ev, const ga_point *p)
{
  if (!ev) return GA_ERR_ARGUMENT;
  ev->known = 0;
  if (!p) return ga__refuse_null(ev->ctx, __func__, "p");
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q | GA_WANT_G, 1.0, 0.0, ev->D, ev->Q, ev->G};
  ga_status status = ga__check_point(ev->sys, p, "ga_evaluation_jacobian");
  if (!status) status = ga__jacobian(ev->deriv, p, &J);
  if (status) return status;
  fill(ev, 0);
  J = (ga_jacobian){GA_WANT_D, 0.0, 1.0, ev->D, ev->Q, ev->G};
  status = ga__jacobian(ev->deriv, p, &J);
  if (status) return status;
  fill(ev, 1);
  ev->known = 1;
  return GA_OK;
}

const ga_sparse *ga__evaluation_part(const ga_evaluation *ev, int equations, int by)
{
  return ev->part[equations][by].A;
}

ga_status ga__evaluation_constraints(ga_evaluation *ev, const ga_point *p, const double **B, const double **A)
{
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q, 1.0, 0.0, ev->D, ev->Q, ev->G};
  *B = ev->Q;
  *A = ev->D;
  return ga__jacobian(ev->deriv, p, &J);
}

const ga_sparse *ga_evaluation_matrix(const ga_evaluation *ev, ga_equation_block equations, ga_by by)
{
  if (!ev || !ev->known || (int)equations < 0 || equations > GA_BLOCK_ETA || (int)by < 0 || by > GA_BY_Y)
    return NULL;
  return ev->part[equations][by].A;
}

const ga_sparse *ga_evaluation_combine(ga_evaluation *ev, double by_q, double by_v, double by_vdot,
                                       double by_xdot)
{
  if (!ev || !ev->known || !ev->J) return NULL;
  const double factor[GA_N_BY] = {by_vdot, by_v, by_q, 1.0, 1.0, 1.0, 1.0};
  double *J = ev->J->value;
  ga_sparse_zero(ev->J);
  for (int r = 0; r < GA_N_BLOCKS; r++)
    for (int b = 0; b < GA_N_BY; b++) {
      const part *m = &ev->part[r][b];
      for (int i = 0; i < m->A->nnz; i++) J[m->into[i]] += factor[b] * m->A->value[i];
    }
  for (int i = 0; i < ev->sys->size[GA_BLOCK_X]; i++) J[ev->diagonal[i]] += by_xdot;
  return ev->J;
}
