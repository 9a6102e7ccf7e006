/* Signals that are expressions of others: a row of y each, y = F(t, y). */
#include "mbs/channel.h"
#include "mbs/element.h"
#include "mbs/expression_unit.h"

#include <string.h>

/* Data of the element. */
typedef struct named_signal {
  int y, formula; /* row, and its formula */
  char unit[GA_ERROR_UNIT];
} named_signal;

/* Reserves the row, so that expressions can use it before its own expression is resolved. */
static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_add(m, b, part, &ga__named_signal_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  named_signal *s = el->data;
  ga__formula *f = ga__list_add(m->ctx, &b->formula);
  if (!f) return GA_ERR_MEMORY;
  *f = (ga__formula){.part = part};
  ga__y *y = ga__list_add(m->ctx, &b->y);
  if (!y) return GA_ERR_MEMORY;
  s->formula = b->formula.n - 1;
  s->y = b->y.n - 1;
  *y = (ga__y){.kind = GA__Y_FORMULA, .index = s->formula};
  return GA_OK;
}

/* The unit of an output; "": not known. */
static const char *unit_of(const ga__mbs_model *b, int y)
{
  const ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->kind == GA__Y_PROBE) {
    const ga__probe *probe = GA__AT(b->probe, ga__probe, row->index);
    ga__channel at;
    ga__channel_get(b, probe->part, probe->channel, &at);
    return at.unit;
  }
  const ga__element *el = row->kind == GA__Y_ELEMENT ? ga__element_of(b, row->index) : NULL;
  return el && el->type->unit_of_output ? el->type->unit_of_output(el, row->output) : "";
}

static ga__dimension_known dimension_of(ga_context *ctx, const char *unit)
{
  ga__dimension_known known = {.known = 0};
  known.known = unit[0] && ga_unit_parse(ctx, unit, NULL, &known.dimension, NULL) == GA_OK;
  return known;
}

/* Sets the unit: the given one, or that of the terms. */
static ga_status take_unit(ga_machine *m, const ga__mbs_model *b, const ga__part *part, const ga__formula *f,
                           named_signal *s)
{
  const ga_signal_def *def = part->def;
  ga__dimension_known known, *variable = ga__alloc(m->ctx, 1 + (size_t)f->n_y, sizeof *variable);
  if (!variable) return ga__no_memory(m->ctx, "the units of a signal");
  variable[0] = dimension_of(m->ctx, "s");
  for (int i = 0; i < f->n_y; i++) variable[1 + i] = dimension_of(m->ctx, unit_of(b, f->y[i]));
  const ga_status status =
      ga__expression_dimension(m, part, "expression", f->expr, variable, def->unit, &known);
  ga__free(m->ctx, variable);
  if (status) return status;
  if (def->unit)
    ga__cut_text(s->unit, sizeof s->unit, strcmp(def->unit, "1") == 0 ? "" : def->unit);
  else if (known.known)
    ga__write_unit(s->unit, sizeof s->unit, &known.dimension);
  return GA_OK;
}

static ga_status resolve(ga_machine *m, ga__mbs_model *b, int index)
{
  const ga__part *part = &m->part[index];
  const ga_signal_def *def = part->def;
  named_signal *s = ga__element_of(b, index)->data;
  ga__formula f;
  ga_status status = ga__resolve_formula(m, b, part, "expression", def->expression, 0, NULL, &f);
  if (status) return status;
  *GA__AT(b->formula, ga__formula, s->formula) = f;
  return take_unit(m, b, part, &f, s);
}

static int n_signals(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) ? 1 : 0;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const named_signal *s = ga__element_of(b, part)->data;
  (void)i;
  ga__signal_set(out, "", s->unit, GA__PROBE_OUTPUT, 0);
  out->probe.index = s->y;
}

const ga__element_type ga__named_signal_type = {
    .rank = GA__RANK_OTHER,
    .no_twists = 1,
    .no_accelerations = 1,
    .is_signal = 1,
    .size = sizeof(named_signal),
    .create = {[GA__CREATE_OUTPUTS] = create, [GA__CREATE_INPUTS] = resolve},
    .n_signals = n_signals,
    .signal = signal,
};
