/* LU factors of large matrices, ordered by bodies if the system declares them. The order needs a diagonal
 * entry for every multiplier: the creator of the pattern adds it, as a zero (ga__order_wants). */
#include "core/assembly.h"
#include "lin/lin_impl.h"

/* Fewer rows are dense. A chain of 3 to 7 hinges needs a third to a half fewer instructions with fronts than
 * with KLU and its own order. */
enum { ORDER_LEAST = 21 };
/* [-] from this number of operations on fronts are always used: seconds for KLU */
#define LONG_ELIMINATION 5e7
/* [-] and from this number on decoupled unknowns are removed from the pattern */
#define LONG_TO_REDUCE 1e7

int ga__order_wants(const ga_system *sys, int n, ga_lu_kind kind, int leaves_out)
{
  return (sys->cluster || leaves_out) && n >= ORDER_LEAST && kind != GA_LU_DENSE;
}

int ga__order_partner(const ga_system *sys, const ga__layout *layout, int column)
{
  const int has_eta = layout && layout->n_extra && layout->eta_level > 0;
  const int lambda = sys->start[GA_BLOCK_LAMBDA], m = sys->size[GA_BLOCK_LAMBDA];
  if (!has_eta || column < lambda) return column;
  const int eta = sys->n + lambda - layout->extra_from;
  if (column < lambda + m) return eta + column - lambda;
  return column >= eta && column < eta + m ? lambda + column - eta : column;
}

/* The body of a column: V's own, and that of V's twins among the extra ones; −1 for multipliers, −2 for a
 * second set. */
static int cluster_of(const ga_system *sys, const ga__layout *layout, int column)
{
  int twin = column < sys->n ? column : layout ? layout->extra_from + column - sys->n : sys->n;
  if (twin < sys->nv && sys->cluster)
    return sys->light[twin] ? GA__ORDER_LIGHT - sys->cluster[twin] : sys->cluster[twin];
  if (twin < sys->nv) return twin;
  return column < sys->n ? -1 : -2;
}

ga_status ga__lu_create_ordered_by_bodies(const ga_system *sys, const ga__layout *layout, const ga_sparse *K,
                                          ga_lu_kind kind, int by_fronts, int leaves_out, ga_lu **out)
{
  ga_context *ctx = sys->ctx;
  size_t n = (size_t)K->cols;
  int *partner = ga__alloc(ctx, n, sizeof *partner), *cluster = ga__alloc(ctx, n, sizeof *cluster);
  ga__order order = {ga__alloc(ctx, n, sizeof(int)), ga__alloc(ctx, n, sizeof(int)),
                     sys->cluster ? ga__alloc(ctx, n, sizeof(int)) : NULL,
                     by_fronts ? 0.0 : LONG_ELIMINATION};
  ga_status status = GA_OK;
  if (!partner || !cluster || !order.P || !order.Q || (sys->cluster && !order.block))
    status = ga__no_memory(ctx, "the order of elimination of a sparse matrix");
  for (int c = 0; !status && c < K->cols; c++) {
    partner[c] = ga__order_partner(sys, layout, c);
    cluster[c] = cluster_of(sys, layout, c);
  }
  if (!status) status = ga__order_find(ctx, K, partner, cluster, &order);
  double flops = 0.0;
  if (!status && leaves_out) status = ga__order_cost(ctx, K, &order, &flops);
  if (!status)
    status = flops >= LONG_TO_REDUCE ? ga__lu_create_reduced(ctx, K, kind, partner, cluster, &order, out)
                                     : ga__lu_create_ordered(ctx, K, kind, &order, out);
  int *const block[] = {partner, cluster, order.P, order.Q, order.block};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  return status;
}
