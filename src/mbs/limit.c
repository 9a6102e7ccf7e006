/* Limits that parts reach in a run: stops, blocks that saturate, cables that go slack. Seen at all states
 * that a meter is given. */
#include "mbs/meter.h"

#include <stdio.h>

/* The words of limit i of an element, NULL: it has no more. "": a limit at infinity. */
static const char *words_of(const ga__mbs_model *b, const ga__element *el, int i)
{
  ga__limit at = {0};
  return el->type->limit && el->type->limit(b, el, i, NULL, &at) ? at.words : NULL;
}

int ga__limits_list(const ga__mbs_model *b, ga__limit_record *list, int *needs_kin)
{
  int n = 0;
  for (int k = 0; k < b->element.n; k++) {
    const ga__element *el = ga__element_at(b, k);
    ga__limit at = {0};
    for (int i = 0; el->type->limit && el->type->limit(b, el, i, NULL, &at); i++) {
      if (!*at.words) continue;
      if (list) list[n] = (ga__limit_record){.el = el, .i = i, .sudden = at.sudden};
      n++;
      *needs_kin |= at.needs_kin;
    }
  }
  return n;
}

void ga__limits_check(ga__limit_record *list, int n, const ga__eval *e, int sudden)
{
  for (int i = 0; i < n; i++) {
    ga__limit_record *o = &list[i];
    ga__limit at = {0};
    if (o->sudden != sudden) continue;
    if (ga__gate_is_open(e, o->el->gate)) o->el->type->limit(e->b, o->el, o->i, e, &at);
    if (at.reached) {
      if (o->times == 0) o->first = e->p->t;
      if (o->was == 0) o->times++;
      o->last = e->p->t;
    }
    o->was = at.reached && !sudden;
    if (!at.reached) o->left = 1;
  }
}

void ga__limits_save(const ga__limit_record *list, int n, double *saved)
{
  for (int i = 0; i < n; i++, saved += GA__LIMIT_SAVED) {
    const ga__limit_record *o = &list[i];
    saved[0] = o->was, saved[1] = o->left, saved[2] = o->times, saved[3] = o->first, saved[4] = o->last;
  }
}

void ga__limits_load(ga__limit_record *list, int n, const double *saved)
{
  for (int i = 0; i < n; i++, saved += GA__LIMIT_SAVED) {
    ga__limit_record *o = &list[i];
    o->was = saved[0], o->left = saved[1], o->times = saved[2], o->first = saved[3], o->last = saved[4];
  }
}

/* ---- For callers ---- */

int ga_meter_n_limits(const ga_meter *meter)
{
  int n = 0;
  for (int i = 0; meter && i < meter->n_limits; i++) n += meter->limit[i].times > 0;
  return n;
}

/* "valve", or "valve.y2" of a part with several outputs. */
static void name_limit(const ga_machine *m, const ga__limit_record *o, char *name, size_t size)
{
  const char *part = m->part[o->el->part].name;
  if (o->el->type->is_signal && o->el->n_y > 1)
    snprintf(name, size, "%s.y%d", part, o->i / 2 + 1);
  else
    snprintf(name, size, "%s", part);
}

ga_status ga_meter_limit(const ga_meter *meter, int i, ga_limit *out)
{
  if (!meter) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(meter->ctx, __func__, "out");
  int k = 0;
  for (int left = i; k < meter->n_limits && (meter->limit[k].times == 0 || left-- > 0);) k++;
  if (i < 0 || k >= meter->n_limits)
    return ga__refuse(meter->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                      &(ga__facts){.function = __func__,
                                   .field = "i",
                                   GA__NUMBERS({i, NULL}, {ga_meter_n_limits(meter), NULL})});
  const ga__limit_record *o = &meter->limit[k];
  *out = (ga_limit){.words = words_of(meter->m->model, o->el, o->i),
                    .throughout = o->left == 0 && !o->sudden,
                    .times = o->times,
                    .first = o->first,
                    .last = o->last};
  name_limit(meter->m, o, out->name, sizeof out->name);
  return GA_OK;
}
