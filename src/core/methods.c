/* The table of methods: a row of GA_METHOD_LIST each, with the ga__method of its file. */
#include "core/stepper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DECLARE(id, name, title, about) extern const ga__method ga__method_##name;
GA_METHOD_LIST(DECLARE)
#undef DECLARE

static const struct {
  const ga__method *method;
  const char *name, *title, *about;
} METHODS[] = {
#define ROW(id, name, title, about) [id] = {&ga__method_##name, #name, title, about},
    GA_METHOD_LIST(ROW)
#undef ROW
};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };

const ga__method *ga__method_of(ga_method method)
{
  const int i = (int)method;
  return i >= 0 && i < N_METHODS ? METHODS[i].method : NULL;
}

int ga_method_at(int i, ga_method_info *out)
{
  if (i < 0 || i >= N_METHODS) return 0;
  const ga__method *m = METHODS[i].method;
  if (!out) return 1;
  *out = (ga_method_info){.method = (ga_method)i,
                          .name = METHODS[i].name,
                          .title = METHODS[i].title,
                          .about = METHODS[i].about,
                          .keeps_positions = m->keeps_positions,
                          .keeps_rates = m->keeps_rates,
                          .has_eta = m->has_eta,
                          .vdot_at_end = m->vdot_at_end,
                          .adjusts_gamma = m->adjusts_gamma,
                          .holonomic_only = m->holonomic_only,
                          .hht = m->hht,
                          .has_order = m->has_order,
                          .order = m->order ? m->order : 2};
  return 1;
}

int ga_method_find(const char *name, ga_method *out)
{
  for (int i = 0; name && i < N_METHODS; i++)
    if (strcmp(METHODS[i].name, name) == 0) {
      if (out) *out = (ga_method)i;
      return 1;
    }
  return 0;
}

/* "GA_INDEX3 or GA_STABILIZED": the names of the methods that satisfy a condition. */
typedef int (*condition)(const ga__method *m);

static const char *list_methods(condition meets, char *text, size_t size)
{
  static const char *const id[] = {
#define ROW(id_, name, title, about) #id_,
      GA_METHOD_LIST(ROW)
#undef ROW
  };
  int left = 0, first = 1;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  for (int i = 0; i < N_METHODS; i++) left += meets(METHODS[i].method);
  for (int i = 0; i < N_METHODS; i++) {
    if (!meets(METHODS[i].method)) continue;
    ga__write(&w, "%s%s", first ? "" : left > 1 ? ", " : " or ", id[i]);
    first = 0;
    left--;
  }
  return text;
}

static int adjusts_gamma(const ga__method *m)
{
  return m->adjusts_gamma;
}
static int takes_nonholonomic(const ga__method *m)
{
  return !m->holonomic_only;
}
static int feeds_vdot(const ga__method *m)
{
  return m->vdot_at_end;
}

int ga_method_has_order(ga_method method, int order)
{
  const ga__method *m = ga__method_of(method);
  if (order == 0) return m != NULL;
  if (order == 2) return m && (!m->has_order || method == GA_AUTOMATIC);
  return m && m->has_order && ((order >= 3 && order <= 8) || order == 10);
}

ga_status ga__method_check_opts(ga_context *ctx, const ga_stepper_opts *o)
{
  char names[256], choices[288];
  const ga__method *m = ga__method_of(o->method);
  if (!m) return ga__refuse_choice(ctx, "stepper", "method", (int)o->method, "ga_method", N_METHODS - 1);
  if (o->adjust == GA_ADJUST_GAMMA && !m->adjusts_gamma) {
    list_methods(adjusts_gamma, names, sizeof names);
    snprintf(choices, sizeof choices, "GA_ADJUST_SHIFT, or %s", names);
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_METHOD,
                      &(ga__facts){.kind = "stepper",
                                   .name = METHODS[o->method].title,
                                   .detail = "keep order 2 by GA_ADJUST_GAMMA",
                                   .expected = choices});
  }
  return GA_OK;
}

ga_status ga__method_check_system(const ga_stepper *st)
{
  char names[256];
  const int n_psi = st->sys->size[GA_BLOCK_PSI];
  if (!st->method->holonomic_only || n_psi == 0) return GA_OK;
  return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_METHOD,
                    &(ga__facts){.kind = "stepper",
                                 .name = METHODS[st->opts.method].title,
                                 .detail = "keep nonholonomic constraints",
                                 .expected = list_methods(takes_nonholonomic, names, sizeof names),
                                 GA__NUMBERS({n_psi, NULL})});
}

ga_status ga__method_check_vdot(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  char name[192], names[256];
  int index;
  for (int e = 0; !st->method->vdot_at_end && e < sys->n_entries; e++) {
    if (sys->row[e] < sys->start[GA_BLOCK_X] || sys->col[e] >= sys->nv || st->saddle.M[e] == 0.0) continue;
    const ga_equation_block block = ga__block_of(sys, sys->row[e], &index);
    ga__describe(sys, block, index, name, sizeof name);
    return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_METHOD,
                      &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, (int)block, index},
                                   .kind = "start",
                                   .name = METHODS[st->opts.method].title,
                                   .detail = "feed back accelerations",
                                   .expected = list_methods(feeds_vdot, names, sizeof names),
                                   .equation = name});
  }
  return GA_OK;
}
