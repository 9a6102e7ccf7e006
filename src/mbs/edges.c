/* Where forces jump or bend with the motion: expressions of signals, springs, contacts and blocks. The side
 * that each is on, one number for each of them, tells that a step has passed such an edge. */
#include "mbs/edges.h"
#include "mbs/law_impl.h"
#include "mbs/name.h"
#include "mbs/system.h"

#include <stdio.h>
#include <string.h>

/* ---- What may jump ---- */

static ga_status add(ga_context *ctx, ga__built *b, ga__edge_kind kind, int index, int part)
{
  ga__edge *edge = ga__list_add(ctx, &b->edge);
  if (!edge) return GA_ERR_MEMORY;
  *edge = (ga__edge){kind, index, part};
  return GA_OK;
}

ga_status ga__edges_list(ga_context *ctx, ga__built *b)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->formula.n; i++) {
    const ga__formula *f = GA__AT(b->formula, ga__formula, i);
    if (ga_expr_has_edges(f->expr, 0)) status = add(ctx, b, GA__EDGE_FORMULA, i, f->part);
  }
  for (int i = 0; !status && i < b->blocked.n; i++) {
    const ga__blocked *k = GA__AT(b->blocked, ga__blocked, i);
    if (ga_block_has_edges(k->block)) status = add(ctx, b, GA__EDGE_BLOCK, i, k->part);
  }
  for (int i = 0; !status && i < b->law.n; i++) {
    const ga__law *law = GA__AT(b->law, ga__law, i);
    const ga__law_type *type = ga__law_type_of(law->kind);
    if (type->has_edges && type->has_edges(b, law)) status = add(ctx, b, GA__EDGE_LAW, i, law->part);
  }
  return status;
}

/* ---- Sides ---- */

static int side_of(const ga__eval *e, const ga__edge *edge, unsigned *side)
{
  const ga__built *b = e->b;
  if (edge->kind == GA__EDGE_FORMULA)
    return ga__formula_side(e, GA__AT(b->formula, ga__formula, edge->index), NULL, side);
  if (edge->kind == GA__EDGE_BLOCK) return ga__blocked_side(e, edge->index, side);
  const ga__law *law = GA__AT(b->law, ga__law, edge->index);
  double rho, rate, turns;
  ga__law_first(b, law, e->kin, &rho, &rate, &turns);
  return ga__law_type_of(law->kind)->side(e, law, rho, rate, side);
}

int ga__machine_sides(void *user, const ga_point *p, int *side)
{
  const ga__eval e = ga__eval_at(user, p, 1, 1);
  int code = 0;
  for (int i = 0; !code && i < e.b->edge.n; i++) {
    unsigned mixed = 2166136261u;
    code = side_of(&e, GA__AT(e.b->edge, ga__edge, i), &mixed);
    side[i] = (int)(mixed >> 1);
  }
  return code;
}

void ga__machine_side_name(void *user, int index, char *text, size_t size)
{
  const ga__built *b = ((const ga__workspace *)user)->b;
  const ga__edge *edge = GA__AT(b->edge, ga__edge, index);
  const ga__part *part = &b->m->part[edge->part];
  const ga_expr *expr = edge->kind == GA__EDGE_FORMULA ? GA__AT(b->formula, ga__formula, edge->index)->expr
                        : edge->kind == GA__EDGE_LAW   ? GA__AT(b->law, ga__law, edge->index)->formula.expr
                                                       : NULL;
  char quoted[GA_TEXT_PIECE] = "";
  if (expr) ga__name_quote(quoted, ga_expr_text(expr), (int)strlen(ga_expr_text(expr)));
  snprintf(text, size, "%s '%s'%s%s%s", ga__part_text(part->kind), part->name, expr ? ", '" : "", quoted,
           expr ? "'" : "");
}
