/* Edges: places where forces or outputs jump or have a corner with the motion, in expressions of signals,
 * springs, contacts and blocks. Each has a side, an integer that changes when a step passes an edge. */
#include "mbs/edges.h"
#include "mbs/element.h"
#include "mbs/name.h"
#include "mbs/system.h"

#include <stdio.h>
#include <string.h>

/* ---- What may jump ---- */

static ga_status add(ga_context *ctx, ga__mbs_model *b, ga__edge found)
{
  ga__edge *edge = ga__list_add(ctx, &b->edge);
  if (!edge) return GA_ERR_MEMORY;
  *edge = found;
  return GA_OK;
}

ga_status ga__edges_list(ga_context *ctx, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->formula.n; i++) {
    const ga__formula *f = GA__AT(b->formula, ga__formula, i);
    if (ga_expr_has_edges(f->expr, 0)) status = add(ctx, b, (ga__edge){i, f->part, -1});
  }
  for (int i = 0; !status && i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (el->type->has_edges && !el->type->switch_mode && el->type->has_edges(b, el))
      status = add(ctx, b, (ga__edge){-1, el->part, -1});
  }
  for (int i = 0; !status && i < b->probe.n; i++) {
    const ga__probe *probe = GA__AT(b->probe, ga__probe, i);
    if (ga__probe_has_edges(probe)) status = add(ctx, b, (ga__edge){-1, probe->part, i});
  }
  const int before = b->edge.n;
  for (int i = 0; !status && i < b->element.n; i++) /* last of all */
    if (ga__element_at(b, i)->type->switch_mode)
      status = add(ctx, b, (ga__edge){-1, ga__element_at(b, i)->part, -1});
  b->n_switches = b->edge.n - before;
  return status;
}

int ga__machine_switches(void *user, const ga_point *p, ga_switch_when when, const unsigned char *shared,
                         double *x)
{
  enum { MOST_STATES = 2 };
  const ga__eval e = ga__eval_at(user, p, 1, 1);
  const ga__element *worst = NULL;
  double most = 0, keep[MOST_STATES] = {0};
  int changed = 0;
  for (int i = e.b->edge.n - e.b->n_switches; i < e.b->edge.n; i++) {
    const ga__element *el = ga__element_of(e.b, GA__AT(e.b->edge, ga__edge, i)->part);
    double other[MOST_STATES], excess = 0;
    memcpy(other, x + el->x, (size_t)el->n_x * sizeof *x);
    const int code = el->type->switch_mode(&e, el, when, shared, other, &excess);
    if (code < 0) return code;
    if (code == 0) continue;
    if (when != GA_SWITCH_STARTED) {
      memcpy(x + el->x, other, (size_t)el->n_x * sizeof *x);
      changed = code > changed ? code : changed;
    } else if (!worst || excess > most) {
      worst = el, most = excess, changed = code;
      memcpy(keep, other, sizeof keep);
    }
  }
  if (worst) memcpy(x + worst->x, keep, (size_t)worst->n_x * sizeof *x);
  return changed;
}

/* ---- Sides ---- */

int ga__machine_sides(void *user, const ga_point *p, int *side)
{
  const ga__eval e = ga__eval_at(user, p, 1, 1);
  int code = 0;
  for (int i = 0; !code && i < e.b->edge.n; i++) {
    unsigned mixed = 2166136261u;
    const ga__edge *edge = GA__AT(e.b->edge, ga__edge, i);
    const ga__element *el = edge->formula < 0 && edge->probe < 0 ? ga__element_of(e.b, edge->part) : NULL;
    if (edge->probe >= 0)
      ga__probe_side(&e, GA__AT(e.b->probe, ga__probe, edge->probe), &mixed);
    else if (!el || ga__gate_is_open(&e, el->gate))
      code = el ? el->type->side(&e, el, &mixed)
                : ga__formula_side(&e, GA__AT(e.b->formula, ga__formula, edge->formula), NULL, &mixed);
    side[i] = (int)(mixed >> 1);
  }
  return code;
}

/* The first expression of an element, NULL: none. */
static const ga_expr *expression_of(const ga__element *el)
{
  ga__input *in;
  ga__formula *f;
  for (int i = 0; el->type->get_input && el->type->get_input(el, i, &in, &f); i++)
    if (f && f->expr) return f->expr;
  return NULL;
}

void ga__machine_side_name(void *user, int index, char *text, size_t size)
{
  const ga__mbs_model *b = ((const ga__workspace *)user)->b;
  const ga__edge *edge = GA__AT(b->edge, ga__edge, index);
  const ga__part *part = &b->m->part[edge->part];
  if (edge->probe >= 0) {
    ga__signal_name_of(b, GA__AT(b->probe, ga__probe, edge->probe), text, size);
    return;
  }
  const ga_expr *expr = edge->formula >= 0 ? GA__AT(b->formula, ga__formula, edge->formula)->expr
                                           : expression_of(ga__element_of(b, edge->part));
  char quoted[GA_TEXT_PIECE] = "";
  if (expr) ga__name_quote(quoted, ga_expr_text(expr), (int)strlen(ga_expr_text(expr)));
  snprintf(text, size, "%s '%s'%s%s%s", ga__part_text(part->kind), part->name, expr ? ", '" : "", quoted,
           expr ? "'" : "");
}
