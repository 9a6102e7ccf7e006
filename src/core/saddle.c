/* The saddle-point matrix of starts and projections, never inverting M alone:
 *
 *   with forces                       without
 *   [ M   −f_λ  −f_ψ  0  −f_y  ]      [ M   Bᵀ  Aᵀ  0  0 ]
 *   [ B    0     0    0   0    ]      [ B   0   0   0  0 ]
 *   [ A    0     0    0   0    ]      [ A   0   0   0  0 ]
 *   [ 0    0     0    I   0    ]      [ 0   0   0   I  0 ]
 *   [ −o_vdot −o_λ −o_ψ 0 I−o_y ]     [ 0   0   0   0  I ]
 *
 * Constraints that are redundant are left out, as of the iteration matrices (ga__set). */
#include "core/assembly.h"
#include "core/saddle.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* If forces depend on a multiplier this much more elsewhere, they do not depend on it here. */
#define VANISHES 1e6

/* Whether an entry is used; rows and columns of X are not. */
static int is_used(ga_equation_block row, ga_equation_block col)
{
  if (row == GA_BLOCK_X || col == GA_BLOCK_X) return 0;
  if (row == GA_BLOCK_LAMBDA || row == GA_BLOCK_PSI) return col == GA_BLOCK_V;
  return 1;
}

/* Whether it is used and can be non-zero. */
static int has_place(const ga_system *sys, int e, ga_equation_block row, ga_equation_block col)
{
  return is_used(row, col) && (row != GA_BLOCK_V || col != GA_BLOCK_V || ga__has_mass(sys, e));
}

static ga_status build(ga__saddle *sd, ga_lu_kind kind, int *row, int *col, int *place)
{
  const ga_system *sys = sd->sys;
  int count = 0, n_turned = 0, index, n_xy = sys->n - sys->start[GA_BLOCK_X],
      m = sys->start[GA_BLOCK_X] - sys->nv;
  for (int e = 0; e < sys->n_entries; e++) {
    ga_equation_block r = ga__block_of(sys, sys->row[e], &index), c = ga__block_of(sys, sys->col[e], &index);
    sd->entry_place[e] = -1;
    if (!has_place(sys, e, r, c)) continue;
    row[count] = sys->row[e], col[count] = sys->col[e];
    sd->entry_place[e] = count++;
    if (!ga__is_constraint(sys, e)) continue;
    row[count] = sys->col[e], col[count] = sys->row[e];
    sd->turned_place[n_turned++] = count++;
  }
  for (int i = 0; i < n_xy; i++) {
    row[count] = col[count] = sys->start[GA_BLOCK_X] + i;
    sd->diag_place[i] = count++;
  }
  int n = sys->n, ordered = n >= GA__ORDER_LARGE && ga__order_wants(sys, n, kind, sd->leaves_out);
  for (int i = 0; (ordered || sd->leaves_out) && i < m; i++) {
    row[count] = col[count] = sys->nv + i;
    sd->pair_place[i] = count++;
  }
  ga_status status = ga_sparse_create(sys->ctx, n, n, count, row, col, place, &sd->K);
  if (status) return status;
  sd->factored = ga__alloc(sys->ctx, (size_t)sd->K->nnz, sizeof(double));
  if (!sd->factored) return ga__no_memory(sys->ctx, "the matrix of the start");
  for (int i = 0; (ordered || sd->leaves_out) && i < m; i++) sd->pair_place[i] = place[sd->pair_place[i]];
  for (int e = 0; e < sys->n_entries; e++)
    if (sd->entry_place[e] >= 0) sd->entry_place[e] = place[sd->entry_place[e]];
  for (int i = 0; i < n_turned; i++) sd->turned_place[i] = place[sd->turned_place[i]];
  for (int i = 0; i < n_xy; i++) sd->diag_place[i] = place[sd->diag_place[i]];
  return ordered ? ga__lu_create_ordered_by_bodies(sys, NULL, sd->K, kind, 0, sd->leaves_out, &sd->lu)
                 : ga_lu_create(sys->ctx, sd->K, kind, &sd->lu);
}

ga_status ga__saddle_create(const ga_system *sys, ga_lu_kind kind, int leaves_out, ga__saddle *sd)
{
  ga_context *ctx = sys->ctx;
  size_t entries = (size_t)sys->n_entries, constraints = 0;
  for (int e = 0; e < sys->n_entries; e++) constraints += (size_t)ga__is_constraint(sys, e);
  const size_t most = entries + constraints + (size_t)sys->n;
  const size_t m = (size_t)(sys->start[GA_BLOCK_X] - sys->nv);
  memset(sd, 0, sizeof *sd);
  sd->ctx = ctx;
  sd->sys = sys;
  sd->leaves_out = leaves_out;
  sd->least_rcond = 1.0;
  sd->pair_place = ga__alloc(ctx, m, sizeof(int));
  sd->left_out = ga__alloc(ctx, m, sizeof(int));
  sd->left_out_column = ga__alloc(ctx, m, sizeof(int));
  sd->is_out = ga__alloc(ctx, m, 1);
  sd->entry_place = ga__alloc(ctx, entries, sizeof(int));
  sd->turned_place = ga__alloc(ctx, constraints, sizeof(int));
  sd->diag_place = ga__alloc(ctx, (size_t)sys->n, sizeof(int));
  double **array[] = {&sd->M, &sd->Q, &sd->G, &sd->A};
  const int n_arrays = sys->size[GA_BLOCK_PSI] > 0 ? 4 : 3;
  int complete = sd->pair_place && sd->left_out && sd->left_out_column && sd->is_out && sd->entry_place &&
                 sd->turned_place && sd->diag_place;
  for (int i = 0; i < n_arrays; i++)
    complete = (*array[i] = ga__alloc(ctx, entries, sizeof(double))) && complete;
  if (n_arrays < 4) sd->A = sd->G;
  int *row = ga__alloc(ctx, most, sizeof *row), *col = ga__alloc(ctx, most, sizeof *col);
  int *place = ga__alloc(ctx, most, sizeof *place);
  ga_status status = complete && row && col && place ? build(sd, kind, row, col, place)
                                                     : ga__no_memory(ctx, "the matrix of the start");
  ga__free(ctx, row);
  ga__free(ctx, col);
  ga__free(ctx, place);
  if (status) ga__saddle_destroy(sd);
  return status;
}

void ga__saddle_destroy(ga__saddle *sd)
{
  if (!sd->ctx) return;
  ga_context *ctx = sd->ctx;
  ga_lu_destroy(&sd->lu);
  ga_sparse_destroy(ctx, &sd->K);
  if (sd->A != sd->G) ga__free(ctx, sd->A);
  void *const block[] = {
      sd->entry_place, sd->turned_place, sd->diag_place,      sd->M,        sd->Q,     sd->G,
      sd->pair_place,  sd->left_out,     sd->left_out_column, sd->factored, sd->is_out};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  memset(sd, 0, sizeof *sd);
}

ga_status ga__saddle_evaluate(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces)
{
  const unsigned part = with_forces ? 0u : (unsigned)GA_WANT_M;
  ga_jacobian J = {GA_WANT_D | GA_WANT_B | part, 0.0, 1.0, sd->M, sd->Q, sd->G};
  ga_status status = ga__jacobian(w, p, &J);
  if (status || sd->sys->size[GA_BLOCK_PSI] == 0) return status;
  ga_jacobian JA = {GA_WANT_D | GA_WANT_M, 1.0, 0.0, sd->A, sd->G, sd->G};
  return ga__jacobian(w, p, &JA);
}

/* Clears rows and columns of redundant constraints except the diagonal. */
static void exclude_redundant(ga__saddle *sd, const ga__null *null)
{
  const ga_system *sys = sd->sys;
  const ga_sparse *K = sd->K;
  const int first = sys->nv, end = sys->start[GA_BLOCK_X];
  sd->n_left_out = sd->leaves_out ? null->r : 0;
  if (sd->n_left_out == 0) return;
  memset(sd->is_out, 0, (size_t)(end - first));
  for (int k = 0; k < null->r; k++) {
    sd->is_out[sd->left_out[k] = null->row[k]] = 1;
    sd->left_out_column[k] = first + null->row[k];
  }
  for (int c = 0; c < K->cols; c++) {
    const int whole = c >= first && c < end && sd->is_out[c - first];
    for (int p = K->col_start[c]; p < K->col_start[c + 1]; p++) {
      const int r = K->row[p];
      if (whole || (r >= first && r < end && sd->is_out[r - first])) K->value[p] = 0.0;
    }
  }
  for (int k = 0; k < null->r; k++) K->value[sd->pair_place[null->row[k]]] = null->length[null->row[k]];
}

static void fill(ga__saddle *sd, int with_forces, const ga__null *null)
{
  const ga_system *sys = sd->sys;
  const int nv = sys->nv, *turned = sd->turned_place;
  double *K = sd->K->value;
  ga_sparse_zero(sd->K);
  for (int e = 0; e < sys->n_entries; e++) {
    const int place = sd->entry_place[e];
    if (place < 0) continue;
    if (ga__is_constraint(sys, e)) {
      const double value = ga__constraint_value(sys, sd->Q, sd->A, e);
      K[place] += value;
      if (!with_forces) K[*turned] += value;
      turned++;
    } else if (with_forces || (sys->row[e] < nv && sys->col[e] < nv)) {
      K[place] += sd->M[e];
    }
  }
  for (int i = 0; i < sys->n - sys->start[GA_BLOCK_X]; i++) K[sd->diag_place[i]] += 1.0;
  exclude_redundant(sd, null);
}

int ga__vanishing_multiplier(ga__saddle *sd, ga__deriv *w, const ga_point *p)
{
  const ga_system *sys = sd->sys;
  const ga_error said = sys->ctx->error;
  const int nl = sys->size[GA_BLOCK_LAMBDA], np = sys->size[GA_BLOCK_PSI];
  double *one = sd->factored;
  if (sd->K->nnz < nl + np) return -1;
  sd->known = 0;
  ga_point other = *p;
  for (int i = 0; i < nl + np; i++) one[i] = 1.0;
  other.lambda = one, other.psi = one + nl;
  ga_jacobian J = {GA_WANT_D, 0.0, 1.0, sd->M, sd->A, sd->A}, J1 = {GA_WANT_D, 0.0, 1.0, sd->Q, sd->A, sd->A};
  ga_status status = ga__jacobian(w, p, &J);
  if (!status) status = ga__jacobian(w, &other, &J1);
  sys->ctx->error = said;
  for (int column = sys->nv; !status && column < sys->nv + nl + np; column++) {
    double here = 0.0, there = 0.0;
    for (int e = 0; e < sys->n_entries; e++)
      if (sys->col[e] == column && sys->row[e] < sys->nv) here += fabs(sd->M[e]), there += fabs(sd->Q[e]);
    if (there > VANISHES * here) return column;
  }
  return -1;
}

/* Likely cause of a missing pivot in a column: frequent mistakes first. */
static const char *likely_cause(const ga__saddle *sd, ga_equation_block block, int column)
{
  const ga_sparse *K = sd->K;
  double in_column = 0.0, in_row = 0.0;
  for (int c = 0; c < K->cols; c++)
    for (int i = K->col_start[c]; i < K->col_start[c + 1]; i++) {
      if (c == column) in_column += fabs(K->value[i]);
      if (K->row[i] == column) in_row += fabs(K->value[i]);
    }
  if (block == GA_BLOCK_V)
    return "A massless coordinate must be held by constraints: M has to be positive definite on the motions "
           "that the "
           "constraints allow. ('mass' must give the product M vdot, and 'jacobian' its derivative)";
  if (block == GA_BLOCK_Y)
    return "An algebraic loop through this output has no solution, or more than one: let the loop pass "
           "through a "
           "state (a filter, an integrator), or change its gain. Where it has a solution, give a guess near "
           "it: "
           "the section 'guesses' of a model, ga_machine_add_guess(), or output_guess of a system";
  if (in_column == 0.0)
    return "No force depends on it: 'force' must contain -B^T lambda (and -A^T psi), 'jacobian' its "
           "derivative";
  if (in_row == 0.0)
    return "Its constraint depends on no coordinate here, or 'jacobian' leaves its derivative out";
  return "A constraint that repeats another one must be removed; a position where constraints lose their "
         "independence must be "
         "left; 'jacobian' may be wrong";
}

/* Removes the component along relations from equations (divided by the row lengths) or multipliers (times
 * them). */
static void remove_relations(const ga__saddle *sd, ga__null *null, int multipliers, double *d)
{
  const int m = sd->sys->start[GA_BLOCK_X] - sd->sys->nv;
  double *z = d + sd->sys->nv;
  for (int i = 0; i < m; i++) z[i] *= multipliers ? null->length[i] : 1.0 / null->length[i];
  ga__null_remove(null, z, m);
  for (int i = 0; i < m; i++) z[i] *= multipliers ? 1.0 / null->length[i] : null->length[i];
}

ga_status ga__saddle_solve(ga__saddle *sd, ga__null *null, double *d)
{
  if (sd->n_left_out == 0) return ga_lu_solve(sd->lu, d);
  remove_relations(sd, null, 0, d);
  for (int k = 0; k < sd->n_left_out; k++) d[sd->sys->nv + sd->left_out[k]] = 0.0;
  ga_status status = ga_lu_solve(sd->lu, d);
  if (!status) remove_relations(sd, null, 1, d);
  return status;
}

/* Whether the factors belong to K: positions, velocities and accelerations of one state share a matrix. */
static int is_factored(ga__saddle *sd)
{
  if (!sd->known || !sd->lu->factored ||
      memcmp(sd->factored, sd->K->value, (size_t)sd->K->nnz * sizeof(double)))
    return 0;
  sd->least_rcond = fmin(sd->least_rcond, ga_lu_get_info(sd->lu)->rcond);
  return 1;
}

ga_status ga__saddle_factor(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces,
                            const ga__null *null)
{
  const ga_system *sys = sd->sys;
  ga_status status = ga__saddle_evaluate(sd, w, p, with_forces);
  if (status) return status;
  fill(sd, with_forces, null);
  if (is_factored(sd)) return GA_OK;
  if (sd->leaves_out) ga__lu_forget(sd->lu); /* so that the result depends on the point alone */
  ga__lu_decouple(sd->lu, sd->n_left_out, sd->left_out_column);
  status = ga_lu_factor(sd->lu);
  sd->known = !status;
  if (!status) memcpy(sd->factored, sd->K->value, (size_t)sd->K->nnz * sizeof(double));
  sd->least_rcond = fmin(sd->least_rcond, ga_lu_get_info(sd->lu)->rcond);
  if (status != GA_RETRY_SINGULAR) return status;
  char what[192];
  int index, column = ga_lu_get_info(sd->lu)->weak_column;
  ga_equation_block block = ga__block_of(sys, column < sys->n ? column : sys->nv, &index);
  ga__describe_unknown(sys, block, index, what, sizeof what);
  return ga__refuse(sys->ctx, GA_RETRY_SINGULAR, GA_REASON_SINGULAR_START,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, (int)block, index},
                                 .equation = what,
                                 .detail = likely_cause(sd, block, column)});
}

void ga__saddle_a_mul(const ga__saddle *sd, double *out, const double *v)
{
  const ga_system *sys = sd->sys;
  int first = sys->start[GA_BLOCK_PSI], end = first + sys->size[GA_BLOCK_PSI];
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->row[e] >= first && sys->row[e] < end && sys->col[e] < sys->nv)
      out[sys->row[e] - first] += sd->A[e] * v[sys->col[e]];
}
