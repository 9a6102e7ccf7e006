/* Whether a machine's equations are smooth (ga_system_def.smooth). */
#include "mbs/breaks.h"
#include "mbs/law_impl.h"
#include "mbs/blocks.h"
#include "mbs/smooth.h"

int ga__always_smooth(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

int ga__law_is_smooth(const ga__mbs_model *b, const ga__element *el)
{
  const ga__law *law = el->data;
  for (int i = 0; law->type->jumps && i < law->n; i++)
    if (law->type->jumps(b, law, i)) return 0;
  return law->type->smooth && !law->may_hide;
}

/* Linear blocks: their outputs vary as their inputs, or more slowly. */
int ga__block_is_smooth(const ga__mbs_model *b, const ga__element *el)
{
  (void)b;
  switch (ga_block_get_kind(ga__element_block(el)->block)) {
  case GA_KIND_GAIN:
  case GA_KIND_SUM:
  case GA_KIND_CONSTANT:
  case GA_KIND_STATE_SPACE:
  case GA_KIND_TRANSFER_FUNCTION:
  case GA_KIND_FIRST_ORDER:
  case GA_KIND_SECOND_ORDER:
    return 1;
  default:
    return 0;
  }
}

/* 1: it takes part in no equation, as a marker or a shape. */
static int is_idle(const ga__element_type *t)
{
  return !(t->mass || t->force || t->phi || t->k || t->state || t->output || t->jacobian || t->sweep);
}

/* Of its functions and formulas the sites of blocks alone are judged by the block itself. */
static int is_other_site(void *user, const ga__break_site *s)
{
  (void)user;
  return !s->block;
}

int ga__machine_is_smooth(const ga__mbs_model *b)
{
  if (b->edge.n > 0 || b->formula.n > 0 || ga__visit_sites(b, is_other_site, NULL)) return 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    const ga__element_type *type = el->type;
    if (el->gate >= 0 || (type->has_edges && type->has_edges(b, el))) return 0;
    if (!is_idle(type) && !(type->is_smooth && type->is_smooth(b, el))) return 0;
  }
  return 1;
}
