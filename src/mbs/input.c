/* Inputs and formulas: numbers that may depend on time and signals. */
#include "mbs/element.h"

#include "mbs/name.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Names in a text ---- */

void ga__names_free(ga_context *ctx, ga__name_list *names)
{
  ga__free(ctx, names->text);
  ga__free(ctx, names->symbols);
  ga__free(ctx, names->offset);
}

/* pi and e are constants, unless a part whose name may be a signal has that name. */
static int is_constant(const ga_machine *m, const char *name)
{
  if (strcmp(name, "pi") != 0 && strcmp(name, "e") != 0) return 0;
  const int part = ga__find_part(m, name);
  return part < 0 || !ga__type_of(&m->part[part])->is_signal;
}

static int is_known(const ga__name_list *names, const char *name)
{
  for (int i = 0; i < names->n; i++)
    if (strcmp(names->symbols[i].name, name) == 0) return 1;
  return 0;
}

static void add_name(ga__name_list *names, const char *name, int offset)
{
  names->symbols[names->n] = (ga_symbol){.name = name, .kind = GA_SYMBOL_VARIABLE, .index = names->n};
  names->offset[names->n++] = offset;
}

/* Adds the machine's functions, if the text has a call. */
static void add_functions(const ga_machine *m, const char *text, ga__name_list *names)
{
  if (m->n_functions == 0 || !strchr(text, '(')) return;
  memcpy(names->symbols + names->n, m->function, (size_t)m->n_functions * sizeof *m->function);
  names->n_functions = m->n_functions;
}

/* Lists every name that refers to a value once, and functions. On failure names owns what was allocated. */
static ga_status list_names(const ga_machine *m, const char *text, int n_local, const char *const *local,
                            ga__name_list *names)
{
  const size_t length = strlen(text), most = 2 + (size_t)n_local + length / 2;
  names->text = ga__alloc(m->ctx, length + 1, 1);
  names->symbols = ga__alloc(m->ctx, most + (size_t)m->n_functions, sizeof *names->symbols);
  names->offset = ga__alloc(m->ctx, most, sizeof *names->offset);
  if (!names->text || !names->symbols || !names->offset)
    return ga__no_memory(m->ctx, "the names of an expression");
  memcpy(names->text, text, length);
  add_name(names, "t", 0);
  for (int i = 0; i < n_local; i++) add_name(names, local[i], 0);
  names->n_local = n_local;
  for (int at = 0, bytes; (bytes = ga__name_next(text, &at)) > 0; at += bytes) {
    names->text[at + bytes] = '\0';
    const char *name = names->text + at;
    if (!is_known(names, name) && !is_constant(m, name)) add_name(names, name, at);
  }
  add_functions(m, text, names);
  return GA_OK;
}

/* ---- Formulas ---- */

void ga__formula_free(ga_context *ctx, ga__formula *f)
{
  ga_expr_destroy(&f->expr);
  ga__free(ctx, f->y);
  ga__free(ctx, f->wrt);
  ga__free(ctx, f->time_signal);
  *f = (ga__formula){.expr = NULL};
}

void ga__blame_field(ga_machine *m, const ga__part *asking, const char *field)
{
  ga_error *e = &m->ctx->error;
  ga__cut_text(e->kind, sizeof e->kind, ga__part_text(asking->kind));
  ga__cut_text(e->part, sizeof e->part, asking->name);
  ga__cut_text(e->field, sizeof e->field, field);
}

ga_status ga__names_compile(ga_machine *m, const ga__part *asking, const char *field, const char *text,
                            int n_local, const char *const *local, ga__name_list *names, ga_expr **out)
{
  ga_status status = list_names(m, text, n_local, local, names);
  if (status) return status;
  status = ga_expr_compile(m->ctx, text, names->symbols, names->n + names->n_functions, NULL, out);
  if (status == GA_ERR_ARGUMENT) ga__blame_field(m, asking, field);
  return status;
}

ga_status ga__names_blame(ga_machine *m, const char *text, const ga__name_list *names, int signal,
                          ga_status status)
{
  if (status != GA_ERR_ARGUMENT) return status;
  m->ctx->error.column = ga__text_column(text, names->offset[1 + names->n_local + signal]);
  ga__cut_text(m->ctx->error.within, sizeof m->ctx->error.within, text);
  return status;
}

static ga_status take_memory(ga_machine *m, const ga__name_list *names, ga__formula *f)
{
  f->n_local = names->n_local;
  f->n_y = names->n - 1 - names->n_local;
  const size_t n_y = (size_t)f->n_y, n_wrt = (size_t)f->n_local + n_y;
  f->y = ga__alloc(m->ctx, n_y, sizeof *f->y);
  f->wrt = ga__alloc(m->ctx, n_wrt, sizeof *f->wrt);
  if (!f->y || !f->wrt) return ga__no_memory(m->ctx, "a formula");
  for (int i = 0; i < names->n - 1; i++) f->wrt[i] = i + 1;
  return GA_OK;
}

/* Compiles the text first, so that syntax errors are reported before unknown names. */
static ga_status resolve_names(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                               const char *text, const ga__name_list *names, ga__formula *f)
{
  for (int i = 0; i < f->n_y; i++) {
    const char *name = names->symbols[1 + f->n_local + i].name;
    const ga_status status = ga__signal_y(m, b, asking, field, name, &f->y[i]);
    if (status) return ga__names_blame(m, text, names, i, status);
  }
  return GA_OK;
}

ga_status ga__resolve_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *text, int n_local, const char *const *local, ga__formula *out)
{
  ga__name_list names = {.text = NULL};
  ga__formula f = {.part = (int)(asking - m->part)};
  *out = (ga__formula){.expr = NULL};
  ga_status status = ga__names_compile(m, asking, field, text, n_local, local, &names, &f.expr);
  if (!status) status = take_memory(m, &names, &f);
  if (!status) status = resolve_names(m, b, asking, field, text, &names, &f);
  ga__names_free(m->ctx, &names);
  if (status)
    ga__formula_free(m->ctx, &f);
  else
    *out = f;
  return status;
}

/* ---- Inputs ---- */

/* 1: the text is just the name of a signal, which is copied to name. */
static int is_signal(const ga_machine *m, const char *text, char *name, size_t size)
{
  int at;
  const int bytes = ga__name_alone(text, &at);
  if (bytes == 0 || (size_t)bytes >= size) return 0;
  memcpy(name, text + at, (size_t)bytes);
  name[bytes] = '\0';
  return strcmp(name, "t") != 0 && !is_constant(m, name);
}

/* The existing row of y of a formula with this text; −1: none. */
static int find_formula(const ga__mbs_model *b, const char *text)
{
  for (int i = 0; i < b->y.n; i++) {
    const ga__y *y = GA__AT(b->y, ga__y, i);
    if (y->kind == GA__Y_FORMULA &&
        strcmp(ga_expr_text(GA__AT(b->formula, ga__formula, y->index)->expr), text) == 0)
      return i;
  }
  return -1;
}

static ga_status add_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                             const char *text, int *row)
{
  ga__formula f;
  const ga_status status = ga__resolve_formula(m, b, asking, field, text, 0, NULL, &f);
  if (status) return status;
  ga__formula *kept = ga__list_add(m->ctx, &b->formula);
  if (!kept) {
    ga__formula_free(m->ctx, &f);
    return GA_ERR_MEMORY;
  }
  *kept = f;
  ga__y *y = ga__list_add(m->ctx, &b->y);
  if (!y) return GA_ERR_MEMORY;
  *y = (ga__y){.kind = GA__Y_FORMULA, .index = b->formula.n - 1};
  *row = b->y.n - 1;
  return GA_OK;
}

ga_status ga__resolve_input(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const ga_input *in, ga__input *out)
{
  char name[2 * GA_TEXT_PIECE];
  *out = (ga__input){.value = in->value, .function = in->function, .y = -1, .part = (int)(asking - m->part)};
  if (!in->expression) return GA_OK;
  if (is_signal(m, in->expression, name, sizeof name))
    return ga__signal_y(m, b, asking, field, name, &out->y);
  out->y = find_formula(b, in->expression);
  return out->y >= 0 ? GA_OK : add_formula(m, b, asking, field, in->expression, &out->y);
}

/* ---- Values ---- */

/* "tip.x = 0, hinge.fy = 2": the signals that a formula reads, those of a part's own l and v first. */
static void list_values(const ga__eval *e, const ga__formula *f, char *text, size_t size)
{
  static const char *const local[] = {"l", "v"};
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  for (int i = 0; i < f->n_local + f->n_y; i++) {
    const int row = i < f->n_local ? -1 : f->y[i - f->n_local];
    char name[GA_TEXT_PIECE];
    if (row < 0)
      snprintf(name, sizeof name, "%s", i < 2 ? local[i] : "");
    else
      ga_system_name(e->b->system, GA_BLOCK_Y, row, name, sizeof name);
    ga__write(&w, "%s%s = %.6g", i ? ", " : "", name, e->work->value[1 + i]);
  }
}

void ga__refuse_at_start(ga_context *ctx, const ga__part *whose, ga_status status, const char *field,
                         double t, const ga_expr *expr, const char *values, const ga_fault *fault)
{
  char why[GA_ERROR_TEXT / 4];
  ga_fault_text(why, sizeof why, fault);
  ga__refuse_part(ctx, whose, status, GA_REASON_UNDEFINED_AT_START,
                  (ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                              .field = field,
                              .name = ga_expr_text(expr),
                              .other = values,
                              .detail = why});
}

/* Sets the error in the context; returns 1: retry with a smaller step. */
static int fail_value(const ga__eval *e, int part, const char *what, const char *text, const ga_fault *fault)
{
  const ga__part *whose = &e->m->part[part];
  char why[GA_ERROR_TEXT / 2];
  ga_fault_text(why, sizeof why, fault);
  ga__refuse_part(
      e->work->ctx, whose, GA_RETRY_NAN,
      fault->kind == GA_FAULT_RANGE ? GA_REASON_OUTSIDE_TABLE : GA_REASON_UNDEFINED,
      (ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1}, .field = what, .name = text, .detail = why});
  return 1;
}

int ga__expression_fault(const ga__eval *e, int part, const ga_expr *expr, const char *values,
                         const ga_fault *fault)
{
  ga_context *ctx = e->work->ctx;
  if (!ctx->starting) return fail_value(e, part, "expression", ga_expr_text(expr), fault);
  ctx->starting |= GA__UNDEFINED;
  ga__refuse_at_start(ctx, &e->m->part[part], GA_RETRY_NAN, NULL, e->p->t, expr, values, fault);
  return 1;
}

int ga__input_value(const ga__eval *e, const ga__input *in, double *value)
{
  double f = 0;
  ga_fault fault;
  if (in->function && ga_function_eval(in->function, e->p->t, 0, &f, &fault))
    return fail_value(e, in->part, "function of time", NULL, &fault);
  *value = in->value + f + (in->y >= 0 ? e->p->y[in->y] : 0);
  return 0;
}

/* Values of the variables. */
static double *gather(const ga__eval *e, const ga__formula *f, const double *local)
{
  double *x = e->work->value;
  x[0] = e->p->t;
  for (int i = 0; i < f->n_local; i++) x[1 + i] = local[i];
  for (int i = 0; i < f->n_y; i++) x[1 + f->n_local + i] = e->p->y[f->y[i]];
  return x;
}

int ga__formula_side(const ga__eval *e, const ga__formula *f, const double *local, unsigned *side)
{
  return ga_expr_side(f->expr, gather(e, f, local), side) != GA_OK;
}

int ga__formula_value(const ga__eval *e, const ga__formula *f, const double *local, double *value,
                      double *slope)
{
  const double *x = gather(e, f, local);
  ga_fault fault;
  const ga_status status =
      slope ? ga_expr_gradient(f->expr, x, f->n_local + f->n_y, f->wrt, value, slope, &fault)
            : ga_expr_eval(f->expr, x, value, &fault);
  if (!status) return 0;
  char values[GA_ERROR_NAME] = "";
  if (e->work->ctx->starting) list_values(e, f, values, sizeof values);
  return ga__expression_fault(e, f->part, f->expr, values, &fault);
}
