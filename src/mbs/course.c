/* Outputs that depend on time alone, as a signal generator and what is made of it: their functions of time,
 * so that breaks and bounds are known of what uses them as of time itself. */
#include "mbs/course.h"
#include "mbs/blocks.h"
#include "control/over_time.h"

#include <string.h>

static const ga__course TIME = {.known = 1, .is_time = 1};

/* ---- Variables of formulas and blocks ---- */

static ga__course course_of_input(const ga__mbs_model *b, const ga__input *in)
{
  ga__course c = {.known = in->y < 0 || b->course[in->y].known, .value = in->value, .f = {in->function}};
  if (in->y >= 0 && c.known) {
    c.value += b->course[in->y].value;
    c.f[1] = b->course[in->y].f[0]; /* an output has one function at most */
  }
  return c;
}

static void fill_formula(const ga__mbs_model *b, const ga__formula *f, ga__course *x)
{
  memset(x, 0, (size_t)(1 + f->n_local + f->n_y) * sizeof *x);
  x[0] = TIME;
  for (int i = 0; i < f->n_y; i++) x[1 + f->n_local + i] = b->course[f->y[i]];
}

static void fill_block(const ga__mbs_model *b, const ga__block_instance *k, ga__course *u)
{
  u[0] = TIME;
  for (int i = 0; i < ga_block_n_in(k->block); i++) u[1 + i] = course_of_input(b, &k->input[i]);
}

static int all_known(const ga__course *x, int n)
{
  for (int i = 0; i < n; i++)
    if (!x[i].known) return 0;
  return 1;
}

/* ---- Outputs ---- */

static ga_status course_of_formula(ga_machine *m, ga__mbs_model *b, const ga__formula *f, int y)
{
  ga__course x[GA__MOST_COMPOSED];
  const int n = 1 + f->n_local + f->n_y;
  if (n > GA__MOST_COMPOSED) return GA_OK;
  fill_formula(b, f, x);
  if (!all_known(x, n)) return GA_OK;
  const ga_status status = ga__function_compose(m->ctx, f->expr, n, x, &b->course_of[y]);
  if (!status) b->course[y] = (ga__course){.known = 1, .f = {b->course_of[y]}};
  return status;
}

ga_status ga__block_course(ga_machine *m, ga__mbs_model *b, ga__element *el, int output)
{
  const ga__block_instance *k = el->data;
  const int y = el->y + output;
  ga__course u[1 + GA_BLOCK_SIZE];
  (void)m;
  fill_block(b, k, u);
  return ga__block_over_time(k->block, output, u, &b->course[y], &b->course_of[y]);
}

static ga_status find_course(ga_machine *m, ga__mbs_model *b, int y)
{
  const ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->kind == GA__Y_FORMULA)
    return course_of_formula(m, b, GA__AT(b->formula, ga__formula, row->index), y);
  ga__element *el = row->kind == GA__Y_ELEMENT ? ga__element_of(b, row->index) : NULL;
  return el && el->type->output_over_time ? el->type->output_over_time(m, b, el, row->output) : GA_OK;
}

/* ---- Who uses them ---- */

/* Courses for n variables, if more than time is known of them. */
static ga_status copy_courses(ga_machine *m, const ga__course *x, int n, int any, ga__course **out)
{
  if (!any) return GA_OK;
  *out = ga__alloc(m->ctx, (size_t)n, sizeof *x);
  if (!*out) return ga__no_memory(m->ctx, "what goes with time");
  memcpy(*out, x, (size_t)n * sizeof *x);
  return GA_OK;
}

static ga_status keep_formula_courses(ga_machine *m, const ga__mbs_model *b, ga__formula *f)
{
  ga__course x[GA__MOST_COMPOSED];
  const int n = 1 + f->n_local + f->n_y;
  int any = 0;
  if (!f->expr || n > GA__MOST_COMPOSED) return GA_OK;
  for (int i = 0; i < f->n_y; i++) any |= b->course[f->y[i]].known;
  fill_formula(b, f, x);
  return copy_courses(m, x, n, any, &f->course);
}

ga_status ga__block_keep_courses(ga_machine *m, ga__mbs_model *b, ga__element *el)
{
  ga__block_instance *k = el->data;
  ga__course u[1 + GA_BLOCK_SIZE];
  const int n = ga_block_n_in(k->block);
  int any = 0;
  fill_block(b, k, u);
  for (int i = 0; i < n; i++) any |= u[1 + i].known;
  return copy_courses(m, u, 1 + n, any && n < GA__MOST_COMPOSED, &k->course);
}

static ga_status keep_element_courses(ga_machine *m, ga__mbs_model *b, ga__element *el)
{
  ga__input *in;
  ga__formula *f;
  ga_status status = GA_OK;
  for (int i = 0; !status && el->type->uses && el->type->uses(el, i, &in, &f); i++)
    if (f) status = keep_formula_courses(m, b, f);
  return status || !el->type->keep_courses ? status : el->type->keep_courses(m, b, el);
}

ga_status ga__courses_create(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  if (b->y.n == 0) return GA_OK;
  b->course = ga__alloc(m->ctx, (size_t)b->y.n, sizeof *b->course);
  b->course_of = ga__alloc(m->ctx, (size_t)b->y.n, sizeof(ga_function *));
  if (!b->course || !b->course_of) return ga__no_memory(m->ctx, "what goes with time");
  for (int found = 1; found && !status;) {
    found = 0;
    for (int y = 0; !status && y < b->y.n; y++) {
      if (b->course[y].known) continue;
      status = find_course(m, b, y);
      found |= b->course[y].known;
    }
  }
  for (int i = 0; !status && i < b->formula.n; i++)
    status = keep_formula_courses(m, b, GA__AT(b->formula, ga__formula, i));
  for (int i = 0; !status && i < b->element.n; i++) status = keep_element_courses(m, b, ga__element_at(b, i));
  return status;
}

void ga__courses_free(ga_context *ctx, ga__mbs_model *b)
{
  for (int y = 0; b->course_of && y < b->y.n; y++) ga_function_destroy(&b->course_of[y]);
  ga__free(ctx, b->course_of);
  ga__free(ctx, b->course);
  b->course_of = NULL;
  b->course = NULL;
}
