/* Work space of evaluations, one block for each evaluator. */
#include "mbs/workspace.h"
#include "core/work.h"
#include "mbs/element.h"
#include "mbs/form.h"
#include "mbs/hidden.h"

static void raise(size_t *most, const ga__formula *f)
{
  const size_t n = (size_t)(1 + f->n_local + f->n_y);
  if (n > *most) *most = n;
}

/* Largest number of variables of a formula. */
static size_t most_variables(const ga__mbs_model *b)
{
  size_t most = 0;
  for (int i = 0; i < b->formula.n; i++) raise(&most, GA__AT(b->formula, ga__formula, i));
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    ga__input *in;
    ga__formula *f;
    for (int k = 0; el->type->get_input && el->type->get_input(el, k, &in, &f); k++)
      if (f) raise(&most, f);
  }
  return most;
}

/* Largest scratch of an element. */
static size_t most_scratch(const ga__mbs_model *b)
{
  size_t most = 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    const size_t n = el->type->scratch ? el->type->scratch(el) : 0;
    if (n > most) most = n;
  }
  return most;
}

/* Consecutive pieces of one block; block NULL: only adds up their sizes. */
typedef struct pieces {
  char *block;
  size_t used;
} pieces;

static void *take(pieces *p, size_t count, size_t size)
{
  void *at = p->block ? p->block + p->used : NULL;
  p->used += (count * size + 15) / 16 * 16;
  return at;
}

static void lay_out(ga__workspace *w, int derivatives, pieces *p)
{
  const ga__mbs_model *b = w->b;
  const size_t n_y = (size_t)b->n_y, variables = most_variables(b), one = sizeof(double);
  w->kin = take(p, (size_t)b->node.n, sizeof *w->kin);
  w->f = take(p, (size_t)ga__elements_rows(b), one);
  w->y_between = take(p, n_y, one);
  w->x_sample = take(p, (size_t)b->n_x, one);
  w->x_next = take(p, (size_t)b->n_x, one);
  w->y_previous = take(p, n_y, one);
  w->y_slope = take(p, 2 * (size_t)b->y_room, one);
  w->value = take(p, variables, one);
  w->slope = take(p, variables, one);
  w->scratch = take(p, most_scratch(b), one);
  const size_t form = derivatives && b->form ? ga__form_space_size(b) : 0;
  const size_t carried = ga__carried_space_size(b);
  const size_t enclosure = derivatives ? ga__enclosure_size(b) : 0;
  void *const in_form = take(p, form, 1), *const in_enclosure = take(p, enclosure, 1),
              *const in_carried = take(p, carried, 1);
  if (!p->block) return;
  if (carried) w->carried = ga__carried_space_in(b, in_carried);
  if (form) w->form = ga__form_space_in(b, in_form);
  if (enclosure) w->enclosure = ga__enclosure_in(b, in_enclosure);
}

ga_status ga__workspace_create(ga_context *ctx, const ga__mbs_model *b, int derivatives, ga__workspace **out)
{
  *out = NULL;
  ga__workspace *w = ga__alloc(ctx, 1, sizeof *w);
  if (!w) return ga__no_memory(ctx, "work space of a machine");
  *w = (ga__workspace){.ctx = ctx, .m = b->m, .b = b};
  pieces p = {NULL, 0};
  lay_out(w, derivatives, &p);
  w->block = ga__alloc(ctx, p.used, 1);
  if (!w->block) {
    ga__free(ctx, w);
    return ga__no_memory(ctx, "work space of a machine");
  }
  p = (pieces){w->block, 0};
  lay_out(w, derivatives, &p);
  for (int i = 0; i < b->node.n; i++) ga__kin_initial(b, i, w->kin);
  *out = w;
  return GA_OK;
}

ga_status ga__workspace_of(void *user, ga_context *ctx, void **work)
{
  ga__workspace *w;
  const ga_status status = ga__workspace_create(ctx, user, 1, &w);
  *work = w;
  return status;
}

void ga__workspace_destroy(void *work)
{
  ga__workspace *w = work;
  if (!w) return;
  ga__free(w->ctx, w->block);
  ga__free(w->ctx, w);
}

ga__workspace *ga__workspace_own(const ga_machine *m)
{
  return ga__system_work(m->model->system);
}
