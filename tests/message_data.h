/* Messages of models as data, one line each, so that tests compare reasons, parts and numbers and no
 * sentences:
 *
 *   m.yaml:2:7 UNKNOWN_UNIT mass point/a/mass 'mmm' ~mm =12
 *
 * place, "warning" where it is one, reason, kind/part/field, <file>, the name that is wrong, the nearest one,
 * numbers. What does not apply is left out. */
#ifndef GALPHA_TESTS_MESSAGE_DATA_H
#define GALPHA_TESTS_MESSAGE_DATA_H

#include "base/base_impl.h"
#include "galpha/model.h"

/* "UNKNOWN_UNIT" for GA_REASON_UNKNOWN_UNIT. */
static inline const char *reason_name(ga_reason reason)
{
  switch (reason) {
#define REASON_NAME(name, meaning)                                                                           \
  case name:                                                                                                 \
    return &#name[sizeof "GA_REASON_" - 1];
    GA_REASON_LIST(REASON_NAME)
#undef REASON_NAME
  }
  return "?";
}

static inline void write_error_data(ga__writer *w, const ga_error *e)
{
  ga__write(w, "%s", reason_name(e->reason));
  if (e->kind[0] || e->part[0] || e->field[0])
    ga__write(w, " %s%s%s%s%s", e->kind, e->part[0] ? "/" : "", e->part, e->field[0] ? "/" : "", e->field);
  if (e->item_name[0]) ga__write(w, ".%s", e->item_name);
  if (e->file[0]) ga__write(w, " <%s>", e->file);
  if (e->name[0]) ga__write(w, " '%s'", e->name);
  if (e->nearest[0]) ga__write(w, " ~%s", e->nearest);
  for (int i = 0; i < e->n_numbers; i++)
    ga__write(w, " =%.9g%s%s", e->number[i].value, e->number[i].unit[0] ? " " : "", e->number[i].unit);
}

static inline void write_message_data(ga__writer *w, const ga_model_message *m)
{
  ga__write(w, "%s:%d:%d %s", m->file, m->line, m->column, m->level == GA_MESSAGE_WARNING ? "warning " : "");
  write_error_data(w, m->error);
  if (m->n_more > 0) ga__write(w, " and %d more", m->n_more);
}

#endif
