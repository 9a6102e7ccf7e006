/* Gates: variables that switch parts on and off. A part acts while its variable is above 1/2. Forces are left
 * out of evaluations while it does not; rows of constraints hold a mass of their own instead (constraint.c).
 */
#include "mbs/element.h"

#include <math.h>
#include <string.h>

/* The block of a variable: an integrator whose input is 0. */
static const ga__block_def *variable_of(const ga_machine *m, int part)
{
  const ga__block_def *d = part < 0 || m->part[part].kind != GA__PART_BLOCK ? NULL : m->part[part].def;
  if (!d || ga_block_get_kind(d->block) != GA_KIND_INTEGRATOR || ga_block_n_in(d->block) != 1) return NULL;
  const ga_input *in = d->inputs;
  return ga_block_has_edges(d->block) || !in || in->value != 0 || in->function || in->expression ? NULL : d;
}

int ga__is_variable(const ga_machine *m, int part)
{
  return variable_of(m, part) != NULL;
}

int ga__is_off_at_start(const ga_machine *m, int part)
{
  const char *name = ga__active_of(&m->part[part]);
  const ga__block_def *d = name ? variable_of(m, ga__find_part(m, name)) : NULL;
  double x = 1;
  if (d) ga_block_initial(d->block, &x);
  return !(x > 0.5);
}

static ga_status find_gate(const ga_machine *m, const ga__mbs_model *b, int part, int *x, int *y)
{
  const char *name = ga__active_of(&m->part[part]);
  if (!name) return GA_OK;
  const int at = ga__find_part(m, name);
  const ga__element *el = variable_of(m, at) ? ga__element_of(b, at) : NULL;
  if (!el)
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_ACTIVE_NO_VARIABLE,
                           (ga__facts){.field = "active", .name = name});
  *x = el->x;
  if (y) *y = el->y;
  return GA_OK;
}

ga_status ga__gates_resolve(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  if (b->stage != GA__STAGE_MACHINE) return GA_OK;
  for (int i = 0; !status && i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    if (el->part > 0) status = find_gate(m, b, el->part, &el->gate, &el->gate_y);
  }
  for (int i = 0; !status && i < b->row.n; i++) {
    ga__row *row = GA__AT(b->row, ga__row, i);
    if (row->own) status = find_gate(m, b, row->part, &row->gate, NULL);
  }
  return status;
}
