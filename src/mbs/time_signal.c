/* Outputs that depend on time alone, as those of a signal generator, as functions of time: so breaks and
 * bounds are known for expressions and blocks that use them. */
#include "mbs/time_signal.h"
#include "mbs/blocks.h"
#include "control/over_time.h"

#include <string.h>

static const ga__time_signal TIME = {.known = 1, .is_time = 1};

/* ---- Variables of formulas and blocks ---- */

static ga__time_signal input_over_time(const ga__mbs_model *b, const ga__input *in)
{
  ga__time_signal c = {
      .known = in->y < 0 || b->time_signal[in->y].known, .value = in->value, .f = {in->function}};
  if (in->y >= 0 && c.known) {
    c.value += b->time_signal[in->y].value;
    c.f[1] = b->time_signal[in->y].f[0]; /* an output has one function at most */
  }
  return c;
}

static void fill_formula(const ga__mbs_model *b, const ga__formula *f, ga__time_signal *x)
{
  memset(x, 0, (size_t)(1 + f->n_local + f->n_y) * sizeof *x);
  x[0] = TIME;
  for (int i = 0; i < f->n_y; i++) x[1 + f->n_local + i] = b->time_signal[f->y[i]];
}

static void fill_block(const ga__mbs_model *b, const ga__block_instance *k, ga__time_signal *u)
{
  u[0] = TIME;
  for (int i = 0; i < ga_block_n_in(k->block); i++) u[1 + i] = input_over_time(b, &k->input[i]);
}

static int all_known(const ga__time_signal *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!x[i].known) return 0;
  return 1;
}

/* ---- Outputs ---- */

static ga_status formula_over_time(ga_machine *m, ga__mbs_model *b, const ga__formula *f, int y)
{
  ga__time_signal x[GA__MOST_COMPOSED];
  const int n = 1 + f->n_local + f->n_y;
  if (n > GA__MOST_COMPOSED) return GA_OK;
  fill_formula(b, f, x);
  if (!all_known(x, n)) return GA_OK;
  const ga_status status = ga__function_compose(m->ctx, f->expr, n, x, &b->time_function[y]);
  if (!status) b->time_signal[y] = (ga__time_signal){.known = 1, .f = {b->time_function[y]}};
  return status;
}

ga_status ga__block_time_signal(ga_machine *m, ga__mbs_model *b, ga__element *el, int output)
{
  const ga__block_instance *k = el->data;
  const int y = el->y + output;
  ga__time_signal u[1 + GA_BLOCK_SIZE];
  (void)m;
  fill_block(b, k, u);
  return ga__block_over_time(k->block, output, u, &b->time_signal[y], &b->time_function[y]);
}

static ga_status find_time_signal(ga_machine *m, ga__mbs_model *b, int y)
{
  const ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->kind == GA__Y_FORMULA)
    return formula_over_time(m, b, GA__AT(b->formula, ga__formula, row->index), y);
  ga__element *el = row->kind == GA__Y_ELEMENT ? ga__element_of(b, row->index) : NULL;
  return el && el->type->output_over_time ? el->type->output_over_time(m, b, el, row->output) : GA_OK;
}

/* ---- Their users ---- */

/* Copies the time signals of n variables, if any but t is known. */
static ga_status copy_time_signals(ga_machine *m, const ga__time_signal *x, int n, int any,
                                   ga__time_signal **out)
{
  if (!any) return GA_OK;
  *out = ga__alloc(m->ctx, (size_t)n, sizeof *x);
  if (!*out) return ga__no_memory(m->ctx, "signals over time");
  memcpy(*out, x, (size_t)n * sizeof *x);
  return GA_OK;
}

static ga_status keep_formula_signals(ga_machine *m, const ga__mbs_model *b, ga__formula *f)
{
  ga__time_signal x[GA__MOST_COMPOSED];
  const int n = 1 + f->n_local + f->n_y;
  int any = 0;
  if (!f->expr || n > GA__MOST_COMPOSED) return GA_OK;
  for (int i = 0; i < f->n_y; i++) any |= b->time_signal[f->y[i]].known;
  fill_formula(b, f, x);
  return copy_time_signals(m, x, n, any, &f->time_signal);
}

ga_status ga__block_keep_time_signals(ga_machine *m, ga__mbs_model *b, ga__element *el)
{
  ga__block_instance *k = el->data;
  ga__time_signal u[1 + GA_BLOCK_SIZE];
  const int n = ga_block_n_in(k->block);
  int any = 0;
  fill_block(b, k, u);
  for (int i = 0; i < n; i++) any |= u[1 + i].known;
  return copy_time_signals(m, u, 1 + n, any && n < GA__MOST_COMPOSED, &k->time_signal);
}

static ga_status keep_element_signals(ga_machine *m, ga__mbs_model *b, ga__element *el)
{
  ga__input *in;
  ga__formula *f;
  ga_status status = GA_OK;
  for (int i = 0; !status && el->type->get_input && el->type->get_input(el, i, &in, &f); i++)
    if (f) status = keep_formula_signals(m, b, f);
  return status || !el->type->keep_time_signals ? status : el->type->keep_time_signals(m, b, el);
}

ga_status ga__time_signals_create(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  if (b->y.n == 0) return GA_OK;
  b->time_signal = ga__alloc(m->ctx, (size_t)b->y.n, sizeof *b->time_signal);
  b->time_function = ga__alloc(m->ctx, (size_t)b->y.n, sizeof(ga_function *));
  if (!b->time_signal || !b->time_function) return ga__no_memory(m->ctx, "signals over time");
  for (int found = 1; found && !status;) {
    found = 0;
    for (int y = 0; !status && y < b->y.n; y++) {
      if (b->time_signal[y].known) continue;
      status = find_time_signal(m, b, y);
      found |= b->time_signal[y].known;
    }
  }
  for (int i = 0; !status && i < b->formula.n; i++)
    status = keep_formula_signals(m, b, GA__AT(b->formula, ga__formula, i));
  for (int i = 0; !status && i < b->element.n; i++) status = keep_element_signals(m, b, ga__element_at(b, i));
  return status;
}

void ga__time_signals_free(ga_context *ctx, ga__mbs_model *b)
{
  for (int y = 0; b->time_function && y < b->y.n; y++) ga_function_destroy(&b->time_function[y]);
  ga__free(ctx, b->time_function);
  ga__free(ctx, b->time_signal);
  b->time_function = NULL;
  b->time_signal = NULL;
}
