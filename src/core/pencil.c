/* Linear equations of small motions about a point, sparse and with constraints, multipliers and outputs:
 *
 *   E z' = A z,   z = (δq, δv, δx, δλ, δψ, δy)
 *
 *   δq'   = δv − [v, δq]
 *   M δv' = −(C δv + K δq + r_λ δλ + r_ψ δψ + r_x δx + r_y δy),   likewise states and outputs
 *   0     = B δq,   0 = k_v δv + D_q k δq
 *
 * Eigenvalues s: (A − s E) z = 0; constraints give infinite ones besides. Where nothing depends on
 * velocities, neither states nor nonholonomic constraints are there and the machine rests, δv = s δq gives
 * the same with τ = s² and half the unknowns,
 *
 *   τ M δq = −(K δq + r_λ δλ + r_y δy),   0 = B δq.
 *
 * Where the machine moves, B turns with it, and B δq = 0 alone would use the B of one instant: the
 * hidden constraints are then equations of their own, and multipliers η keep δq' among what B allows,
 *
 *   δq' = δv − [v, δq] + Bᵀ η,   0 = B δv + D_q(B v + Φ_t) δq.
 *
 * A machine that turns as one, δq → S δq, has E(t) z' = A(t) z with matrices that turn too; z = S ζ gives
 * constant ones, E ζ' = (A − E Ω̂) ζ with S' = Ω̂ S, both at the time of the point. λ, ψ, η, y and the
 * equations without a derivative may be combined in any way as time passes, since E is not concerned.
 *
 * Of constraints that follow from others the equation is replaced by the one that makes multipliers the
 * shortest: relations N (null_space.c) leave λ free by R⁻¹ N c, and Nᵀ R λ = 0 takes that away. */
#include "core/pencil.h"
#include "core/arrays.h"
#include "core/assembly.h"
#include "core/null_space.h"

#include <math.h>
#include <string.h>

enum { ORDER_LEAST = 2000 }; /* unknowns from which on their order is that of bodies */

static const ga__part_of_z PART[GA_N_BY] = {GA__Z_V,   GA__Z_V, GA__Z_Q, GA__Z_LAMBDA,
                                            GA__Z_PSI, GA__Z_X, GA__Z_Y};
static const ga_equation_block BLOCK[GA__N_Z] = {GA_BLOCK_V,   GA_BLOCK_V,      GA_BLOCK_X, GA_BLOCK_LAMBDA,
                                                 GA_BLOCK_PSI, GA_BLOCK_LAMBDA, GA_BLOCK_Y};
/* Rows of the pencil that hold the equations of a block: those of δq' are in the place of δq. */
static const ga__part_of_z ROWS[GA_N_BLOCKS] = {GA__Z_V, GA__Z_LAMBDA, GA__Z_PSI, GA__Z_X, GA__Z_Y};

/* ---- Which form ---- */

static int is_zero(const ga_sparse *A)
{
  for (int i = 0; i < A->nnz; i++)
    if (A->value[i] != 0.0) return 0;
  return 1;
}

static int moves(const ga_system *sys, const ga_point *p)
{
  for (int i = 0; i < sys->nv; i++)
    if (p->v[i] != 0.0) return 1;
  return 0;
}

static int depends_on_rates(const ga_system *sys, const ga_evaluation *ev, const ga_point *p)
{
  if (sys->size[GA_BLOCK_X] > 0 || sys->size[GA_BLOCK_PSI] > 0 || moves(sys, p)) return 1;
  return !is_zero(ga_evaluation_matrix(ev, GA_BLOCK_V, GA_BY_V)) ||
         !is_zero(ga_evaluation_matrix(ev, GA_BLOCK_Y, GA_BY_V));
}

static void lay_out(ga__pencil *c, int moving)
{
  c->n = 0;
  for (int i = 0; i < GA__N_Z; i++) {
    c->start[i] = c->n;
    c->size[i] = (c->squared && i == GA__Z_V) || (!moving && i == GA__Z_ETA) ? 0 : c->sys->size[BLOCK[i]];
    c->n += c->size[i];
    if (i == GA__Z_X) c->n_state = c->n;
  }
}

ga__part_of_z ga__pencil_part(const ga__pencil *c, int i)
{
  int part = GA__N_Z - 1;
  while (part > 0 && (i < c->start[part] || c->size[part] == 0)) part--;
  return (ga__part_of_z)part;
}

/* ---- Entries ---- */

typedef struct entries {
  int n;
  int *row, *col, *place;
  double *value;
} entries;

/* values 0: places alone. */
static int entries_create(ga_context *ctx, size_t room, int values, entries *e)
{
  *e = (entries){0, ga__alloc(ctx, room, sizeof(int)), ga__alloc(ctx, room, sizeof(int)),
                 ga__alloc(ctx, room, sizeof(int)), values ? ga__alloc(ctx, room, sizeof(double)) : NULL};
  return e->row && e->col && e->place && (e->value || !values);
}

static void entries_destroy(ga_context *ctx, entries *e)
{
  ga__free(ctx, e->row);
  ga__free(ctx, e->col);
  ga__free(ctx, e->place);
  ga__free(ctx, e->value);
}

static void put(entries *e, int row, int col, double value)
{
  e->row[e->n] = row;
  e->col[e->n] = col;
  e->value[e->n++] = value;
}

static void put_matrix(entries *e, int first_row, int first_col, double factor, const ga_sparse *A,
                       const unsigned char *left_out)
{
  for (int c = 0; c < A->cols; c++)
    for (int k = A->col_start[c]; k < A->col_start[c + 1]; k++)
      if (!left_out[first_row + A->row[k]])
        put(e, first_row + A->row[k], first_col + c, factor * A->value[k]);
}

/* What a number of E in column k of q or v takes from A: value times row k of Ω̂; first: column of the part.
 */
static void put_turning(const ga__pencil *c, entries *A, int row, int first, int k, double value)
{
  const ga_turning *o = c->turning;
  for (int i = c->turning_row[k]; i < c->turning_row[k + 1]; i++)
    put(A, row, first + o->col[i], -value * o->value[i]);
}

/* E Ω̂ of the numbers of P that belong to vdot. */
static void put_turning_of(const ga__pencil *c, entries *A, int first_row, const ga_sparse *P,
                           const unsigned char *left_out)
{
  if (!c->turning) return;
  for (int k = 0; k < P->cols; k++)
    for (int i = P->col_start[k]; i < P->col_start[k + 1]; i++)
      if (!left_out[first_row + P->row[i]])
        put_turning(c, A, first_row + P->row[i], c->start[GA__Z_V], k, c->rate * P->value[i]);
}

/* δq' = rate v̂ − [v, δq] */
static void put_kinematics(const ga__pencil *c, entries *A, entries *E, const double *ad)
{
  const ga_group *group = c->sys->group;
  for (int i = 0; i < c->sys->nv; i++) {
    put(E, i, i, 1.0);
    put(A, i, c->start[GA__Z_V] + i, c->rate);
    if (c->turning) put_turning(c, A, i, 0, i, 1.0);
  }
  for (int b = 0; b < ga_group_n_blocks(group); b++) {
    int first = 0;
    const int size = ga_group_block(group, b, &first);
    for (int i = 0; i < size * size; i++) put(A, first + i / size, first + i % size, -ad[i]);
    ad += size * size;
  }
}

static void put_equations(const ga__pencil *c, const ga_evaluation *ev, entries *A, entries *E,
                          const unsigned char *left_out)
{
  for (int r = 0; r < GA_N_BLOCKS; r++) {
    const int row = c->squared && r == GA_BLOCK_V ? 0 : c->start[ROWS[r]];
    for (int b = 0; b < GA_N_BY; b++) {
      const ga_sparse *P = ga_evaluation_matrix(ev, (ga_equation_block)r, (ga_by)b);
      if (b == GA_BY_VDOT) {
        put_matrix(E, row, c->start[c->squared ? GA__Z_Q : GA__Z_V], c->rate, P, left_out);
        put_turning_of(c, A, row, P, left_out);
      } else if (c->size[PART[b]] > 0)
        put_matrix(A, row, c->start[PART[b]], b == GA_BY_V ? -c->rate : -1.0, P, left_out);
    }
  }
  for (int i = 0; i < c->size[GA__Z_X]; i++) put(E, c->start[GA__Z_X] + i, c->start[GA__Z_X] + i, 1.0);
}

/* Rows of hidden constraints, and what η does to δq'. */
static void put_hidden(const ga__pencil *c, const ga_evaluation *ev, entries *A,
                       const unsigned char *left_out)
{
  const ga_sparse *B = ga_evaluation_matrix(ev, GA_BLOCK_ETA, GA_BY_V);
  const int row = c->start[GA__Z_ETA];
  if (c->size[GA__Z_ETA] == 0) return;
  put_matrix(A, row, c->start[GA__Z_V], c->rate, B, left_out);
  put_matrix(A, row, 0, 1.0, ga_evaluation_matrix(ev, GA_BLOCK_ETA, GA_BY_Q), left_out);
  for (int j = 0; j < B->cols; j++)
    for (int k = B->col_start[j]; k < B->col_start[j + 1]; k++) put(A, j, row + B->row[k], B->value[k]);
}

/* Relations among constraints: `positions` among Φ, `all` among Φ and k. */
typedef struct relations {
  ga__null positions, all;
} relations;

/* Row and column in the pencil of constraint i, counted through Φ and k. */
static int constraint_at(const ga__pencil *c, int i)
{
  const int n = c->size[GA__Z_LAMBDA];
  return i < n ? c->start[GA__Z_LAMBDA] + i : c->start[GA__Z_PSI] + i - n;
}

/* The equation for multipliers of least norm, in the row of relation j; shift: from λ to η. */
static void put_relation(const ga__pencil *c, const ga__null *null, int j, int shift, entries *A)
{
  const int row = constraint_at(c, null->row[j]) + shift;
  for (int i = null->start[j]; i < null->start[j + 1]; i++)
    put(A, row, constraint_at(c, null->index[i]) + shift, null->value[i] * null->length[null->index[i]]);
}

static void put_relations(const ga__pencil *c, const relations *r, entries *A)
{
  const int shift = c->start[GA__Z_ETA] - c->start[GA__Z_LAMBDA];
  for (int j = 0; j < r->positions.r; j++) {
    put_relation(c, &r->positions, j, 0, A);
    if (c->size[GA__Z_ETA] > 0) put_relation(c, &r->positions, j, shift, A);
  }
  for (int j = 0; j < r->all.r; j++)
    if (r->all.row[j] >= c->size[GA__Z_LAMBDA]) put_relation(c, &r->all, j, 0, A);
}

static void mark_relations(const ga__pencil *c, const relations *r, unsigned char *left_out)
{
  const int shift = c->start[GA__Z_ETA] - c->start[GA__Z_LAMBDA];
  for (int j = 0; j < r->positions.r; j++) {
    const int row = constraint_at(c, r->positions.row[j]);
    left_out[row] = 1;
    if (c->size[GA__Z_ETA] > 0) left_out[row + shift] = 1;
  }
  for (int j = 0; j < r->all.r; j++)
    if (r->all.row[j] >= c->size[GA__Z_LAMBDA]) left_out[constraint_at(c, r->all.row[j])] = 1;
}

static size_t count_relations(const ga__null *null)
{
  return null->r > 0 ? (size_t)null->start[null->r] : 0;
}

/* Room for the entries of A and E. */
static void count_entries(const ga__pencil *c, const ga_evaluation *ev, const relations *r, size_t *of_A,
                          size_t *of_E)
{
  *of_E = (size_t)c->n;
  *of_A = 2 * (size_t)c->n + (size_t)ga_group_blocks_length(c->sys->group) +
          2 * count_relations(&r->positions) + count_relations(&r->all);
  if (c->turning) *of_A += (size_t)c->turning->n;
  for (int e = 0; e < GA_N_BLOCKS; e++) {
    const ga_sparse *P = ga_evaluation_matrix(ev, (ga_equation_block)e, GA_BY_VDOT);
    *of_E += (size_t)P->nnz;
    for (int k = 0; c->turning && k < P->cols; k++)
      *of_A += (size_t)(P->col_start[k + 1] - P->col_start[k]) *
               (size_t)(c->turning_row[k + 1] - c->turning_row[k]);
    for (int b = GA_BY_VDOT + 1; b < GA_N_BY; b++)
      if (c->size[PART[b]] > 0)
        *of_A += (size_t)ga_evaluation_matrix(ev, (ga_equation_block)e, (ga_by)b)->nnz;
  }
  for (int b = 0; b < GA_N_BY && c->size[GA__Z_ETA] > 0; b++)
    *of_A += 2 * (size_t)ga_evaluation_matrix(ev, GA_BLOCK_ETA, (ga_by)b)->nnz;
}

/* ---- Matrices ---- */

static ga_status create_matrix(ga_context *ctx, int n, entries *e, ga_sparse **out)
{
  const ga_status status = ga_sparse_create(ctx, n, n, e->n, e->row, e->col, e->place, out);
  for (int i = 0; !status && i < e->n; i++) (*out)->value[e->place[i]] += e->value[i];
  return status;
}

/* Pairs of the entries of A into row and col. */
static int list_pairs(const ga_sparse *A, int *row, int *col)
{
  for (int c = 0; c < A->cols; c++)
    for (int k = A->col_start[c]; k < A->col_start[c + 1]; k++) row[k] = A->row[k], col[k] = c;
  return A->nnz;
}

/* Removes zeros, of which matrices of machines at rest have many: products read less. place: of the entries.
 */
static void drop_zeros(ga_sparse *A, int *place)
{
  int *start = (int *)A->col_start, *row = (int *)A->row, n = 0;
  for (int c = 0, from = 0; c < A->cols; c++) {
    const int end = start[c + 1];
    for (; from < end; from++)
      if (A->value[from] != 0.0) {
        A->value[n] = A->value[from];
        row[n] = row[from];
        place[n++] = place[from];
      }
    start[c + 1] = n;
  }
  A->nnz = n;
}

/* The pattern of A − τ0 E. */
static ga_status create_sum(ga__pencil *c)
{
  const size_t room = (size_t)c->A->nnz + (size_t)c->E->nnz;
  entries all;
  ga_status status = entries_create(c->ctx, room, 0, &all) ? GA_OK : ga__no_memory(c->ctx, "modes");
  if (!status) {
    all.n = list_pairs(c->A, all.row, all.col);
    all.n += list_pairs(c->E, all.row + all.n, all.col + all.n);
    status = ga_sparse_create(c->ctx, c->n, c->n, all.n, all.row, all.col, all.place, &c->W);
  }
  c->a_place = ga__alloc(c->ctx, (size_t)c->A->nnz, sizeof(int));
  c->e_place = ga__alloc(c->ctx, (size_t)c->E->nnz, sizeof(int));
  if (!status && (!c->a_place || !c->e_place)) status = ga__no_memory(c->ctx, "modes");
  if (!status) {
    memcpy(c->a_place, all.place, (size_t)c->A->nnz * sizeof(int));
    memcpy(c->e_place, all.place + c->A->nnz, (size_t)c->E->nnz * sizeof(int));
    drop_zeros(c->A, c->a_place);
    drop_zeros(c->E, c->e_place);
  }
  entries_destroy(c->ctx, &all);
  return status;
}

/* Whether unknowns are eliminated in the order of bodies, which is faster where there are many: unknowns must
 * be those of the system. KLU, for all others, detects near-singular matrices best. */
static int is_ordered(const ga__pencil *c)
{
  return c->squared && c->redundant == 0 && c->n >= ORDER_LEAST && c->n == c->sys->n && c->sys->cluster;
}

static ga_status fill(ga__pencil *c, const ga_evaluation *ev, const relations *found, const ga_point *p)
{
  const size_t n_ad = (size_t)ga_group_blocks_length(c->sys->group);
  size_t of_A, of_E;
  entries A, E = {0};
  unsigned char *left_out = c->left_out = ga__alloc(c->ctx, (size_t)c->n, 1);
  double *ad = ga__alloc(c->ctx, n_ad, sizeof *ad);
  count_entries(c, ev, found, &of_A, &of_E);
  const int complete =
      entries_create(c->ctx, of_A, 1, &A) & entries_create(c->ctx, of_E, 1, &E) && left_out && ad;
  ga_status status = complete ? GA_OK : ga__no_memory(c->ctx, "modes");
  if (!status) {
    mark_relations(c, found, left_out);
    ga_group_ad(c->sys->group, ad, p->v);
    if (!c->squared) put_kinematics(c, &A, &E, ad);
    put_equations(c, ev, &A, &E, left_out);
    put_hidden(c, ev, &A, left_out);
    put_relations(c, found, &A);
    for (int i = c->n_state; is_ordered(c) && i < c->n; i++) put(&A, i, i, 0.0); /* as the order needs it */
    status = create_matrix(c->ctx, c->n, &A, &c->A);
  }
  entries_destroy(c->ctx, &A);
  if (!status) status = create_matrix(c->ctx, c->n, &E, &c->E);
  entries_destroy(c->ctx, &E);
  if (!status) status = create_sum(c);
  ga__free(c->ctx, ad);
  return status;
}

/* ---- Relations ---- */

/* B and A over the pattern, from the matrices of the evaluation. */
static void spread(const ga_system *sys, const ga_evaluation *ev, double *B, double *A)
{
  const ga_sparse *phi = ga_evaluation_matrix(ev, GA_BLOCK_LAMBDA, GA_BY_Q),
                  *k = ga_evaluation_matrix(ev, GA_BLOCK_PSI, GA_BY_V);
  for (int e = 0; e < sys->n_entries; e++) {
    if (!ga__is_constraint(sys, e)) continue;
    const int holonomic = sys->row[e] < sys->start[GA_BLOCK_PSI] || sys->size[GA_BLOCK_PSI] == 0;
    const ga_sparse *from = holonomic ? phi : k;
    const int row = sys->row[e] - sys->start[holonomic ? GA_BLOCK_LAMBDA : GA_BLOCK_PSI];
    const int at = ga_sparse_find(from, row, sys->col[e]);
    (holonomic ? B : A)[e] = at >= 0 ? from->value[at] : 0.0;
  }
}

static ga_status find_relations(ga_context *ctx, const ga_system *sys, const ga_evaluation *ev,
                                relations *found)
{
  ga__rows rows = {0};
  double *B = ga__alloc(ctx, 2 * (size_t)sys->n_entries, sizeof *B);
  ga_status status = B ? ga__rows_create(sys, &rows) : ga__no_memory(ctx, "modes");
  if (!status) status = ga__null_create(sys, &found->positions);
  if (!status) status = ga__null_create(sys, &found->all);
  if (!status) {
    spread(sys, ev, B, B + sys->n_entries);
    status = ga__null_find(&rows, B, B + sys->n_entries, 1, &found->positions);
  }
  if (!status) status = ga__null_find(&rows, B, B + sys->n_entries, 0, &found->all);
  ga__rows_destroy(&rows);
  ga__free(ctx, B);
  return status;
}

ga_status ga__count_redundant(ga_context *ctx, const ga_system *sys, const ga_evaluation *ev, int *n)
{
  relations found = {0};
  const ga_status status = find_relations(ctx, sys, ev, &found);
  *n = found.positions.r;
  ga__null_destroy(ctx, &found.positions);
  ga__null_destroy(ctx, &found.all);
  return status;
}

/* ---- Creation ---- */

static ga_status create_factors(ga__pencil *c)
{
  return is_ordered(c) ? ga__lu_create_ordered_by_bodies(c->sys, NULL, c->W, GA_LU_AUTO, 1, 0, &c->lu)
                       : ga_lu_create(c->ctx, c->W, GA_LU_AUTO, &c->lu);
}

static ga_status build(ga__pencil *c, const ga_evaluation *ev, const ga_point *p)
{
  relations found = {0};
  ga_status status = find_relations(c->ctx, c->sys, ev, &found);
  if (!status) {
    const int n_lambda = c->sys->size[GA_BLOCK_LAMBDA], n_psi = c->sys->size[GA_BLOCK_PSI];
    c->redundant = found.positions.r;
    c->n_q = c->sys->nv - (n_lambda - found.positions.r);
    c->n_v = c->sys->nv - (n_lambda + n_psi - found.all.r);
    c->n_x = c->sys->size[GA_BLOCK_X];
    status = fill(c, ev, &found, p);
  }
  ga__null_destroy(c->ctx, &found.positions);
  ga__null_destroy(c->ctx, &found.all);
  if (!status) status = create_factors(c);
  const size_t n = (size_t)c->n;
  const ga__array need[] = {
      {&c->b, n}, {&c->r, n}, {&c->product, n}, {&c->row_factor, n}, {&c->col_factor, n}};
  return status ? status : ga__arrays_create(c->ctx, GA__ARRAYS(need), "modes", &c->block, NULL);
}

/* Where rows of Ω̂ begin. */
static ga_status find_turning_rows(ga__pencil *c)
{
  const ga_turning *o = c->turning;
  const int nv = c->sys->nv;
  if (!o) return GA_OK;
  c->turning_row = ga__alloc(c->ctx, (size_t)nv + 1, sizeof *c->turning_row);
  if (!c->turning_row) return ga__no_memory(c->ctx, "modes");
  for (int i = 0; i < o->n; i++) c->turning_row[o->row[i] + 1]++;
  for (int i = 0; i < nv; i++) c->turning_row[i + 1] += c->turning_row[i];
  return GA_OK;
}

ga_status ga__pencil_create(ga_context *ctx, const ga_system *sys, const ga_evaluation *ev, const ga_point *p,
                            const ga_turning *turning, ga__pencil *c)
{
  *c = (ga__pencil){.ctx = ctx, .rate = 1.0, .turning = turning};
  ga_status status = ga__system_open(ctx, sys, &c->sys);
  if (!status) status = find_turning_rows(c);
  if (!status) {
    c->squared = !turning && !depends_on_rates(c->sys, ev, p);
    lay_out(c, turning || moves(c->sys, p));
    status = build(c, ev, p);
  }
  if (status) ga__pencil_destroy(c);
  return status;
}

void ga__pencil_destroy(ga__pencil *c)
{
  if (!c->ctx) return;
  ga_lu_destroy(&c->lu);
  ga_sparse_destroy(c->ctx, &c->A);
  ga_sparse_destroy(c->ctx, &c->E);
  ga_sparse_destroy(c->ctx, &c->W);
  ga__free(c->ctx, c->a_place);
  ga__free(c->ctx, c->e_place);
  ga__free(c->ctx, c->turning_row);
  ga__free(c->ctx, c->left_out);
  ga__free(c->ctx, c->block);
  ga__system_close(&c->sys);
  *c = (ga__pencil){0};
}

int ga__pencil_count(const ga__pencil *c)
{
  return c->squared ? c->n_q : c->n_q + c->n_v + c->n_x;
}

/* ---- Shifts and products ---- */

static void scale_columns(ga_sparse *A, int first, int n, double factor)
{
  for (int k = A->col_start[first]; k < A->col_start[first + n]; k++) A->value[k] *= factor;
}

/* W := R W C, such that the largest entries of rows and columns are about 1: the roots of the largest are
 * taken out in turn. Without it B, as long as 1, hides small masses. */
static void equilibrate(ga__pencil *c)
{
  enum { PASSES = 8 };
  double *row = c->b, *col = c->r;
  for (int i = 0; i < c->n; i++) c->row_factor[i] = c->col_factor[i] = 1.0;
  for (int pass = 0; pass < PASSES; pass++) {
    memset(row, 0, (size_t)c->n * sizeof *row);
    memset(col, 0, (size_t)c->n * sizeof *col);
    for (int j = 0; j < c->n; j++)
      for (int k = c->W->col_start[j]; k < c->W->col_start[j + 1]; k++) {
        const double size = fabs(c->W->value[k]);
        row[c->W->row[k]] = fmax(row[c->W->row[k]], size);
        col[j] = fmax(col[j], size);
      }
    for (int i = 0; i < c->n; i++) {
      row[i] = row[i] > 0.0 ? 1.0 / sqrt(row[i]) : 1.0;
      col[i] = col[i] > 0.0 ? 1.0 / sqrt(col[i]) : 1.0;
      c->row_factor[i] *= row[i];
      c->col_factor[i] *= col[i];
    }
    for (int j = 0; j < c->n; j++)
      for (int k = c->W->col_start[j]; k < c->W->col_start[j + 1]; k++)
        c->W->value[k] *= row[c->W->row[k]] * col[j];
  }
}

ga_status ga__pencil_shift(ga__pencil *c, double sigma)
{
  if (!c->squared) {
    scale_columns(c->A, c->start[GA__Z_V], c->size[GA__Z_V], sigma / c->rate);
    scale_columns(c->E, c->start[GA__Z_V], c->size[GA__Z_V], sigma / c->rate);
    c->rate = sigma;
  }
  c->tau0 = c->squared ? sigma * sigma : sigma;
  ga_sparse_zero(c->W);
  for (int k = 0; k < c->A->nnz; k++) c->W->value[c->a_place[k]] += c->A->value[k];
  for (int k = 0; k < c->E->nnz; k++) c->W->value[c->e_place[k]] -= c->tau0 * c->E->value[k];
  equilibrate(c);
  return ga_lu_factor(c->lu);
}

void ga__pencil_mul_a(const ga__pencil *c, double *y, const double *z)
{
  ga_sparse_mul(y, c->A, z);
}

void ga__pencil_mul_e(const ga__pencil *c, double *y, const double *z)
{
  ga_sparse_mul(y, c->E, z);
}

/* y += factor (P' − P) z */
static void add_change(double *y, double factor, const ga_sparse *P, const ga_sparse *moved, const double *z)
{
  for (int c = 0; c < P->cols; c++)
    for (int k = P->col_start[c]; k < P->col_start[c + 1]; k++)
      y[P->row[k]] += factor * (moved->value[k] - P->value[k]) * z[c];
}

/* What hidden constraints change by, as put_hidden() has them. */
static void add_hidden_change(const ga__pencil *c, const ga_evaluation *ev, const ga_evaluation *moved,
                              double *y, const double *z)
{
  const int row = c->start[GA__Z_ETA];
  if (c->size[GA__Z_ETA] == 0) return;
  const ga_sparse *B = ga_evaluation_matrix(ev, GA_BLOCK_ETA, GA_BY_V),
                  *B1 = ga_evaluation_matrix(moved, GA_BLOCK_ETA, GA_BY_V);
  add_change(y + row, c->rate, B, B1, z + c->start[GA__Z_V]);
  add_change(y + row, 1.0, ga_evaluation_matrix(ev, GA_BLOCK_ETA, GA_BY_Q),
             ga_evaluation_matrix(moved, GA_BLOCK_ETA, GA_BY_Q), z);
  for (int j = 0; j < B->cols; j++)
    for (int k = B->col_start[j]; k < B->col_start[j + 1]; k++)
      y[j] += (B1->value[k] - B->value[k]) * z[row + B->row[k]];
}

void ga__pencil_mul_change(const ga__pencil *c, const ga_evaluation *ev, const ga_evaluation *moved,
                           double *y, const double *z)
{
  memset(y, 0, (size_t)c->n * sizeof *y);
  for (int r = 0; r < GA_N_BLOCKS; r++) {
    const int row = c->squared && r == GA_BLOCK_V ? 0 : c->start[ROWS[r]];
    for (int b = GA_BY_VDOT + 1; b < GA_N_BY; b++)
      if (c->size[PART[b]] > 0)
        add_change(y + row, b == GA_BY_V ? -c->rate : -1.0,
                   ga_evaluation_matrix(ev, (ga_equation_block)r, (ga_by)b),
                   ga_evaluation_matrix(moved, (ga_equation_block)r, (ga_by)b), z + c->start[PART[b]]);
  }
  add_hidden_change(c, ev, moved, y, z);
  for (int i = 0; i < c->n; i++)
    if (c->left_out[i]) y[i] = 0.0;
}

/* x := (A − τ0 E)⁻¹ x */
static ga_status solve_scaled(ga__pencil *c, double *x)
{
  for (int i = 0; i < c->n; i++) x[i] *= c->row_factor[i];
  const ga_status status = ga_lu_solve(c->lu, x);
  for (int i = 0; i < c->n; i++) x[i] *= c->col_factor[i];
  return status;
}

/* With one step of iterative refinement. Its residual is that of A and E, not of the difference W of both:
 * where τ0 E is small against A, rounding of W is an error of τ0 that is the same for all equal elements. */
ga_status ga__pencil_solve_for(ga__pencil *c, double *z, const double *b)
{
  memcpy(z, b, (size_t)c->n * sizeof *z);
  ga_status status = solve_scaled(c, z);
  if (status) return status;
  ga_sparse_mul(c->r, c->A, z);
  ga_sparse_mul(c->product, c->E, z);
  for (int i = 0; i < c->n; i++) c->r[i] = b[i] - (c->r[i] - c->tau0 * c->product[i]);
  status = solve_scaled(c, c->r);
  for (int i = 0; i < c->n; i++) z[i] += c->r[i];
  return status;
}

/* b := E state; z is work space. */
static void multiply_state(ga__pencil *c, double *b, double *z, const double *state)
{
  memset(z, 0, (size_t)c->n * sizeof *z);
  if (c->n_state > 0) memcpy(z, state, (size_t)c->n_state * sizeof *z);
  ga_sparse_mul(b, c->E, z);
}

ga_status ga__pencil_solve(ga__pencil *c, double *z, const double *state)
{
  multiply_state(c, c->b, z, state);
  return ga__pencil_solve_for(c, z, c->b);
}

ga_status ga__pencil_solve_roughly(ga__pencil *c, double *z, const double *state)
{
  multiply_state(c, c->b, z, state);
  memcpy(z, c->b, (size_t)c->n * sizeof *z);
  return solve_scaled(c, z);
}

static void add_rows(const ga__pencil *c, const ga_sparse *A, double factor, const double *most,
                     double *scale)
{
  for (int part = 0; part < GA__N_Z; part++)
    for (int j = c->start[part]; j < c->start[part] + c->size[part]; j++)
      for (int k = A->col_start[j]; k < A->col_start[j + 1]; k++)
        scale[A->row[k]] += factor * fabs(A->value[k]) * most[part];
}

void ga__pencil_row_scale(const ga__pencil *c, double size, const double *most, double *scale)
{
  memset(scale, 0, (size_t)c->n * sizeof *scale);
  add_rows(c, c->A, 1.0, most, scale);
  if (size > 0.0) add_rows(c, c->E, size, most, scale);
}
