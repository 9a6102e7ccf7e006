/* Damped least squares for positions that close an assembly: the matrix [M Jᵀ; J −E], J = R⁻¹ [B; A] with R
 * the lengths of the rows, is regular whatever the rank of J, and as sparse as the constraints. */
#include "core/assembly.h"
#include "core/gram.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

enum { GRAM_SPARSE = 60 }; /* sparse factors are used from this number of rows on */

static ga_status build(ga__gram *g, ga_lu_kind kind, int *row, int *col, int *place)
{
  const ga_system *sys = g->sys;
  int count = 0, n = sys->nv + g->m;
  for (int e = 0; e < sys->n_entries; e++) {
    int constraint = ga__is_constraint(sys, e), mass = ga__has_mass(sys, e);
    g->entry_place[e] = g->turned_place[e] = -1;
    if (!constraint && !mass) continue;
    row[count] = sys->row[e], col[count] = sys->col[e];
    g->entry_place[e] = count++;
    if (!constraint) continue;
    row[count] = sys->col[e], col[count] = sys->row[e];
    g->turned_place[e] = count++;
  }
  for (int i = 0; i < n; i++, count++) row[count] = col[count] = i, g->diag_place[i] = count;
  ga_status status = ga_sparse_create(sys->ctx, n, n, count, row, col, place, &g->K);
  if (status) return status;
  for (int e = 0; e < sys->n_entries; e++) {
    if (g->entry_place[e] >= 0) g->entry_place[e] = place[g->entry_place[e]];
    if (g->turned_place[e] >= 0) g->turned_place[e] = place[g->turned_place[e]];
  }
  for (int i = 0; i < n; i++) g->diag_place[i] = place[g->diag_place[i]];
  /* velocities first: with 1 and −δ on the diagonal other orders would need pivoting, which causes fill */
  return kind == GA_LU_DENSE || n < GRAM_SPARSE
             ? ga_lu_create(sys->ctx, g->K, kind, &g->lu)
             : ga__lu_create_ordered_by_bodies(sys, NULL, g->K, kind, 0, 0, &g->lu);
}

ga_status ga__gram_create(const ga_system *sys, ga_lu_kind kind, ga__gram *g)
{
  ga_context *ctx = sys->ctx;
  memset(g, 0, sizeof *g);
  g->ctx = ctx;
  g->sys = sys;
  g->m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  size_t entries = (size_t)sys->n_entries, n = (size_t)(sys->nv + g->m), most = 2 * entries + n;
  g->entry_place = ga__alloc(ctx, entries, sizeof(int));
  g->turned_place = ga__alloc(ctx, entries, sizeof(int));
  g->diag_place = ga__alloc(ctx, n, sizeof(int));
  g->x = ga__alloc(ctx, n, sizeof(double));
  int *row = ga__alloc(ctx, most, sizeof *row), *col = ga__alloc(ctx, most, sizeof *col);
  int *place = ga__alloc(ctx, most, sizeof *place);
  int complete = g->entry_place && g->turned_place && g->diag_place && g->x && row && col && place;
  ga_status status =
      complete ? build(g, kind, row, col, place) : ga__no_memory(ctx, "the matrix that closes an assembly");
  ga__free(ctx, row);
  ga__free(ctx, col);
  ga__free(ctx, place);
  if (status) ga__gram_destroy(g);
  return status;
}

void ga__gram_destroy(ga__gram *g)
{
  if (!g->ctx) return;
  ga_context *ctx = g->ctx;
  ga_lu_destroy(&g->lu);
  ga_sparse_destroy(ctx, &g->K);
  void *const block[] = {g->entry_place, g->turned_place, g->diag_place, g->x};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  memset(g, 0, sizeof *g);
}

/* J and Jᵀ. */
static void fill_rows(ga__gram *g, const double *B, const double *A, const double *length)
{
  const ga_system *sys = g->sys;
  ga_sparse_zero(g->K);
  for (int e = 0; e < sys->n_entries; e++) {
    if (!ga__is_constraint(sys, e)) continue;
    double a = ga__constraint_value(sys, B, A, e) / length[sys->row[e] - sys->nv];
    g->K->value[g->entry_place[e]] += a;
    g->K->value[g->turned_place[e]] += a;
  }
}

static ga_status factor(ga__gram *g)
{
  ga__lu_forget(g->lu); /* so that the result depends on the point alone */
  return ga_lu_factor(g->lu);
}

ga_status ga__gram_damped(ga__gram *g, const double *M, const double *B, const double *A, double *length,
                          double eps)
{
  const ga_system *sys = g->sys;
  double most = 0.0;
  ga__measure_rows(sys, B, A, length);
  fill_rows(g, B, A, length);
  for (int e = 0; e < sys->n_entries; e++)
    if (ga__has_mass(sys, e)) g->K->value[g->entry_place[e]] += M[e];
  for (int i = 0; i < sys->nv; i++) most = fmax(most, fabs(g->K->value[g->diag_place[i]]));
  for (int i = 0; i < g->m; i++) g->K->value[g->diag_place[sys->nv + i]] -= most > 0.0 ? eps / most : eps;
  return factor(g);
}
