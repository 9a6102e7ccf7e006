/* What a run has to report about states that it passed through, although all equations hold: places where the
 * model itself is doubtful. For each element the first time and the worst. */
#include "mbs/doubt.h"

int ga__doubts_list(const ga__mbs_model *b, ga__doubt_record *list)
{
  int n = 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (!el->type->doubt || (el->type->may_doubt && !el->type->may_doubt(el))) continue;
    if (list) list[n] = (ga__doubt_record){.el = el};
    n++;
  }
  return n;
}

void ga__doubts_check(ga__doubt_record *list, int n, const ga__eval *e)
{
  for (int i = 0; i < n; i++) {
    ga__doubt_record *o = &list[i];
    double at[2] = {0, 0};
    const double size = o->el->type->doubt(e, o->el, at);
    if (!(size > o->worst)) continue;
    if (o->worst == 0) o->since = e->p->t;
    o->worst = size;
    o->worst_t = e->p->t;
    o->at[0] = at[0], o->at[1] = at[1];
  }
}

void ga__doubts_write(ga__writer *w, const ga_machine *m, const ga__doubt_record *list, int n)
{
  for (int i = 0; i < n; i++)
    if (list[i].worst > 0) list[i].el->type->write_doubt(w, m, &list[i]);
}

void ga__doubts_save(const ga__doubt_record *list, int n, double *saved)
{
  for (int i = 0; i < n; i++, saved += GA__DOUBT_SAVED) {
    const ga__doubt_record *o = &list[i];
    saved[0] = o->since, saved[1] = o->worst, saved[2] = o->worst_t;
    saved[3] = o->at[0], saved[4] = o->at[1];
  }
}

void ga__doubts_load(ga__doubt_record *list, int n, const double *saved)
{
  for (int i = 0; i < n; i++, saved += GA__DOUBT_SAVED) {
    ga__doubt_record *o = &list[i];
    o->since = saved[0], o->worst = saved[1], o->worst_t = saved[2];
    o->at[0] = saved[3], o->at[1] = saved[4];
  }
}
