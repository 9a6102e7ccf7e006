/* Which terms of a machine differ from those of machines built from the same model at other values of a
 * parameter.
 *
 * What is built is compared number by number, to the last bit: nodes, markers, gauges and rows here, elements
 * by ga__element_type.same, functions, expressions and blocks by their own layers. A term differs unless all
 * that it is made of is known to be the same: what has no comparison, or refers to what has none, differs.
 * Nothing is selected where the structure itself is another one, where a body that carries frames differs,
 * and in forms other than that of space. */
#include "mbs/selected.h"
#include "mbs/blocks.h"
#include "mbs/parts.h"
#include "core/work.h"
#include "expr/same.h"

#include <string.h>

struct ga__differing {
  ga_context *ctx;
  ga__selected terms;
  int n, *lists;          /* [n]; of all terms */
  ga__selection *machine; /* [n] */
  const ga_system **sys;  /* [n] */
};

/* Marks of what differs in any of the machines. */
typedef struct marks {
  unsigned char *node, *marker, *gauge, *point, *axes, *row, *element, *output;
  unsigned char *block;
} marks;

#define NUMBERS(a, b) ga__numbers_same(a, b, sizeof(a) / sizeof(double))

/* ---- Definitions ---- */

static int text_same(const char *a, const char *b)
{
  return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static int inputs_same(const ga_input *a, const ga_input *b, int n)
{
  for (int i = 0; i < n; i++)
    if (!ga__numbers_same(&a[i].value, &b[i].value, 1) || !ga__function_same(a[i].function, b[i].function) ||
        !text_same(a[i].expression, b[i].expression))
      return 0;
  return 1;
}

static int int_at(const void *def, size_t at)
{
  return at ? *(const int *)((const char *)def + at - 1) : 1;
}

/* Arrays of numbers or flags, whose lengths are members too. */
static int array_same(const ga__field *f, const void *a, const void *b)
{
  const void *x = *(const void *const *)((const char *)a + f->offset),
             *y = *(const void *const *)((const char *)b + f->offset);
  const int rows = int_at(a, f->rows), columns = int_at(a, f->columns);
  if (rows != int_at(b, f->rows) || columns != int_at(b, f->columns) || !x != !y) return 0;
  const size_t n = (size_t)rows * (size_t)columns;
  return !x || memcmp(x, y, n * (f->rule == GA__RULE_FLAGS ? sizeof(int) : sizeof(double))) == 0;
}

static int field_same(const ga__field *f, const void *a, const void *b)
{
  const char *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
  const int count = f->count > 0 ? f->count : 1;
  switch (f->rule) {
  case GA__RULE_TEXT:
  case GA__RULE_TEXT_NEEDED:
    return text_same(*(const char *const *)x, *(const char *const *)y);
  case GA__RULE_NUMBER:
  case GA__RULE_NUMBER_OR_NAN:
  case GA__RULE_POSITIVE:
  case GA__RULE_NOT_NEGATIVE:
  case GA__RULE_LIMIT:
    return memcmp(x, y, (size_t)count * sizeof(double)) == 0;
  case GA__RULE_SIX:
    return memcmp(x, y, 6 * sizeof(double)) == 0;
  case GA__RULE_SIX_BY_SIX:
    return memcmp(x, y, 36 * sizeof(double)) == 0;
  case GA__RULE_FLAG:
  case GA__RULE_INTEGER:
  case GA__RULE_CHOICE:
    return memcmp(x, y, sizeof(int)) == 0;
  case GA__RULE_POSE:
    return memcmp(x, y, sizeof(ga_pose)) == 0;
  case GA__RULE_INPUT:
    return inputs_same((const ga_input *)x, (const ga_input *)y, count);
  case GA__RULE_FUNCTION:
  case GA__RULE_FUNCTION_NEEDED:
    return ga__function_same(*(const ga_function *const *)x, *(const ga_function *const *)y);
  case GA__RULE_LIST:
  case GA__RULE_FLAGS:
  case GA__RULE_MATRIX:
    return array_same(f, a, b);
  }
  return 0;
}

int ga__same_def(const ga__comparison *c, int part)
{
  const ga__part *a = &c->a->m->part[part], *b = &c->b->m->part[part];
  if (a->kind != b->kind || a->kind == GA__PART_ELEMENT) return 0;
  const ga__part_type *type = ga__part_type_of(a->kind);
  for (int i = 0; i < type->n_fields; i++)
    if (!field_same(&type->fields[i], a->def, b->def)) return 0;
  return 1;
}

int ga__same_input(const ga__input *a, const ga__input *b)
{
  return a->y == b->y && ga__numbers_same(&a->value, &b->value, 1) &&
         ga__function_same(a->function, b->function);
}

int ga__same_formula(const ga__formula *a, const ga__formula *b)
{
  if (a->n_local != b->n_local || a->n_y != b->n_y || !ga__expr_same(a->expr, b->expr)) return 0;
  return a->n_y == 0 || memcmp(a->y, b->y, (size_t)a->n_y * sizeof *a->y) == 0;
}

/* ---- Structure: where it is the same, equal numbers mean equal things ---- */

static int node_alike(const ga__node *a, const ga__node *b)
{
  return a->q == b->q && a->v == b->v && a->n == b->n && a->planar == b->planar && a->scalar == b->scalar &&
         a->rigid == b->rigid && a->vector == b->vector && a->carried == b->carried && a->has == b->has &&
         memcmp(a->column, b->column, sizeof a->column) == 0 && ga__numbers_same(&a->z, &b->z, 1);
}

static int element_alike(const ga__element *a, const ga__element *b)
{
  return a->type == b->type && a->part == b->part && a->x == b->x && a->n_x == b->n_x && a->y == b->y &&
         a->n_y == b->n_y && a->inner == b->inner && a->n_inner == b->n_inner && a->gate == b->gate &&
         a->gate_y == b->gate_y;
}

static int row_alike(const ga__row *a, const ga__row *b)
{
  return a->part == b->part && a->first_term == b->first_term && a->n_terms == b->n_terms &&
         a->wrap == b->wrap && a->lambda == b->lambda && a->by_axes == b->by_axes && a->own == b->own &&
         a->gate == b->gate;
}

static int output_alike(const ga__y *a, const ga__y *b)
{
  return a->kind == b->kind && a->index == b->index && a->output == b->output;
}

static int counts_alike(const ga__mbs_model *a, const ga__mbs_model *b)
{
  const ga__list *x[] = {&a->node, &a->marker, &a->gauge,   &a->row,   &a->term,    &a->point3,
                         &a->axes, &a->y,      &a->formula, &a->probe, &a->element, &a->carried},
                 *y[] = {&b->node, &b->marker, &b->gauge,   &b->row,   &b->term,    &b->point3,
                         &b->axes, &b->y,      &b->formula, &b->probe, &b->element, &b->carried};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++)
    if (x[i]->n != y[i]->n) return 0;
  return a->m->n_parts == b->m->n_parts && a->nq == b->nq && a->nv == b->nv && a->n_lambda == b->n_lambda &&
         a->n_psi == b->n_psi && a->n_x == b->n_x && a->n_y == b->n_y;
}

static int models_alike(const ga__mbs_model *a, const ga__mbs_model *b)
{

  if (a->m->opts.form != b->m->opts.form || !counts_alike(a, b)) return 0;
  int alike = 1;
  for (int i = 0; i < a->node.n; i++)
    alike &= node_alike(GA__AT(a->node, ga__node, i), GA__AT(b->node, ga__node, i));
  for (int i = 0; i < a->element.n; i++) alike &= element_alike(ga__element_at(a, i), ga__element_at(b, i));
  for (int i = 0; i < a->row.n; i++)
    alike &= row_alike(GA__AT(a->row, ga__row, i), GA__AT(b->row, ga__row, i));
  for (int i = 0; i < a->y.n; i++) alike &= output_alike(GA__AT(a->y, ga__y, i), GA__AT(b->y, ga__y, i));
  return alike;
}

/* ---- Nodes, markers, gauges, rows ---- */

static int gravity_same(const ga__comparison *c)
{
  return NUMBERS(c->a->m->opts.gravity, c->b->m->opts.gravity);
}

static void mark_nodes(const ga__comparison *c, const marks *at)
{
  const int gravity = !gravity_same(c);
  for (int i = 1; i < c->a->node.n; i++) {
    const ga__node *a = GA__AT(c->a->node, ga__node, i), *b = GA__AT(c->b->node, ga__node, i);
    at->node[i] |= gravity || !ga__numbers_same(&a->mass, &b->mass, 1) || !NUMBERS(a->J, b->J);
  }
}

static int frame_same(const ga__comparison *c, int marker)
{
  return marker < 0 || !c->marker[marker];
}

static int gauge_same(const ga__comparison *c, const ga__gauge *a, const ga__gauge *b)
{
  return a->kind == b->kind && a->a == b->a && a->b == b->b && a->axis == b->axis && a->turns == b->turns &&
         NUMBERS(a->u, b->u) && NUMBERS(a->w, b->w) && ga__numbers_same(&a->offset, &b->offset, 1) &&
         frame_same(c, a->a) && frame_same(c, a->b);
}

static void mark_frames(const ga__comparison *c)
{
  for (int i = 0; i < c->a->marker.n; i++) {
    const ga__marker *a = GA__AT(c->a->marker, ga__marker, i), *b = GA__AT(c->b->marker, ga__marker, i);
    c->marker[i] |= a->node != b->node || !NUMBERS(a->s, b->s) || !NUMBERS(a->A, b->A);
  }
  for (int i = 0; i < c->a->gauge.n; i++)
    c->gauge[i] |= !gauge_same(c, GA__AT(c->a->gauge, ga__gauge, i), GA__AT(c->b->gauge, ga__gauge, i));
}

static int row_same(const ga__comparison *c, const ga__row *a, const ga__row *b)
{
  if (!ga__function_same(a->target, b->target) || !ga__numbers_same(&a->constant, &b->constant, 1) ||
      !ga__numbers_same(&a->rate, &b->rate, 1))
    return 0;
  for (int t = a->first_term; t < a->first_term + a->n_terms; t++) {
    const ga__term *x = GA__AT(c->a->term, ga__term, t), *y = GA__AT(c->b->term, ga__term, t);
    if (x->gauge != y->gauge || c->gauge[x->gauge] || !ga__numbers_same(&x->c, &y->c, 1)) return 0;
  }
  return 1;
}

static int end_same(const ga__end *a, const ga__end *b)
{
  return a->node == b->node && a->v == b->v && NUMBERS(a->s, b->s);
}

static void mark_rows(const ga__comparison *c, const marks *at)
{
  for (int i = 0; i < c->a->point3.n; i++) {
    const ga__point3 *a = GA__AT(c->a->point3, ga__point3, i), *b = GA__AT(c->b->point3, ga__point3, i);
    at->point[i] |=
        a->lambda != b->lambda || !end_same(&a->end[0], &b->end[0]) || !end_same(&a->end[1], &b->end[1]);
  }
  for (int i = 0; i < c->a->axes.n; i++) {
    const ga__axes *a = GA__AT(c->a->axes, ga__axes, i), *b = GA__AT(c->b->axes, ga__axes, i);
    at->axes[i] |= a->lambda != b->lambda || memcmp(a->node, b->node, sizeof a->node) != 0 ||
                   memcmp(a->v, b->v, sizeof a->v) != 0 || !NUMBERS(a->u[0], b->u[0]) ||
                   !NUMBERS(a->u[1], b->u[1]) || !ga__numbers_same(&a->constant, &b->constant, 1);
  }
  for (int i = 0; i < c->a->row.n; i++)
    at->row[i] |= !row_same(c, GA__AT(c->a->row, ga__row, i), GA__AT(c->b->row, ga__row, i));
}

/* ---- Elements, and rows of y ---- */

static void mark_elements(const ga__comparison *c, const marks *at)
{
  for (int i = 0; i < c->a->element.n; i++) {
    const ga__element *a = ga__element_at(c->a, i), *b = ga__element_at(c->b, i);
    at->element[i] |= !a->type->same || !a->type->same(c, a, b);
  }
}

/* Reactions, energies and values of parts have no comparison. */
static int probe_same(const ga__comparison *c, const ga__probe *a, const ga__probe *b)
{
  if (a->kind != b->kind || a->of != b->of || a->from != b->from || a->axes != b->axes ||
      a->gauge != b->gauge || a->component != b->component || a->index != b->index || a->owner != b->owner ||
      a->joint != b->joint)
    return 0;
  switch (a->kind) {
  case GA__PROBE_SPECIFIC_FORCE:
    if (!gravity_same(c)) return 0;
  /* fall through */
  case GA__PROBE_POSITION:
  case GA__PROBE_VELOCITY:
  case GA__PROBE_ACCELERATION:
  case GA__PROBE_ANGULAR_VELOCITY:
  case GA__PROBE_ANGULAR_ACCELERATION:
  case GA__PROBE_ANGLE:
  case GA__PROBE_QUATERNION:
  case GA__PROBE_EULER:
    return frame_same(c, a->of) && frame_same(c, a->from) && frame_same(c, a->axes);
  case GA__PROBE_GAUGE:
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_GAUGE_ACC:
    return !c->gauge[a->gauge];
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_TENSION:
  case GA__PROBE_MULTIPLIER_OF_K:
  case GA__PROBE_STATE:
  case GA__PROBE_OUTPUT:
    return 1;
  default:
    return 0;
  }
}

static void mark_outputs(const ga__comparison *c, const marks *at)
{
  for (int i = 0; i < c->a->y.n; i++) {
    const ga__y *y = GA__AT(c->a->y, ga__y, i);
    if (y->kind == GA__Y_PROBE)
      at->output[i] |=
          !probe_same(c, GA__AT(c->a->probe, ga__probe, y->index), GA__AT(c->b->probe, ga__probe, y->index));
    else if (y->kind == GA__Y_FORMULA)
      at->output[i] |= !ga__same_formula(GA__AT(c->a->formula, ga__formula, y->index),
                                         GA__AT(c->b->formula, ga__formula, y->index));
    else
      at->output[i] |= at->element[c->a->part_element[y->index]];
  }
}

static void mark_all(const ga__comparison *c, const marks *at)
{
  mark_nodes(c, at);
  mark_frames(c);
  mark_rows(c, at);
  mark_elements(c, at);
  mark_outputs(c, at);
}

/* The motion of frames is that of what carries them. */
static int carriers_same(const ga__mbs_model *b, const marks *at)
{
  for (int i = 0; i < b->carried.n; i++)
    if (at->element[b->part_element[ga__carried_at(b, i)->part]]) return 0;
  return 1;
}

/* ---- Lists ---- */

static int *take_numbers(int **room, const unsigned char *marked, int n, int *count)
{
  int *list = *room;
  *count = 0;
  for (int i = 0; i < n; i++)
    if (marked[i]) list[(*count)++] = i;
  *room += *count;
  return list;
}

/* Elements of the whole machine are evaluated by nodes, rows and outputs; others without values not at all.
 */
static int has_values(const ga__element_type *t)
{
  if (t == &ga__bodies_type || t == &ga__rows_type || t == &ga__outputs_type) return 0;
  return t->mass || t->force || t->dynamics || t->phi || t->k || t->state;
}

static void list_terms(ga__differing *d, const ga__mbs_model *b, const marks *at)
{
  ga__selected *x = &d->terms;
  int *room = d->lists;
  for (int i = 0; i < b->element.n; i++)
    if (!has_values(ga__element_at(b, i)->type)) at->element[i] = 0;
  for (int i = 0; i < b->row.n; i++)
    if (GA__AT(b->row, ga__row, i)->by_axes) at->row[i] = 0;
  for (int i = 0; i < b->y.n; i++) {
    const ga__y *y = GA__AT(b->y, ga__y, i);
    if (y->kind == GA__Y_ELEMENT && y->output > 0) at->output[i] = 0; /* the first one computes it */
  }
  x->node = take_numbers(&room, at->node, b->node.n, &x->n_nodes);
  x->point = take_numbers(&room, at->point, b->point3.n, &x->n_points);
  x->axes = take_numbers(&room, at->axes, b->axes.n, &x->n_axes);
  x->row = take_numbers(&room, at->row, b->row.n, &x->n_rows);
  x->element = take_numbers(&room, at->element, b->element.n, &x->n_elements);
  x->output = take_numbers(&room, at->output, b->y.n, &x->n_outputs);
}

/* ---- Creation ---- */

static size_t n_marks(const ga__mbs_model *b)
{
  return (size_t)(b->node.n + b->marker.n + b->gauge.n + b->point3.n + b->axes.n + b->row.n + b->element.n +
                  b->y.n) +
         1;
}

static void lay_out(marks *at, const ga__mbs_model *b)
{
  unsigned char *next = at->block;
  unsigned char **const part[] = {&at->node, &at->marker, &at->gauge,   &at->point,
                                  &at->axes, &at->row,    &at->element, &at->output};
  const int n[] = {b->node.n, b->marker.n, b->gauge.n,   b->point3.n,
                   b->axes.n, b->row.n,    b->element.n, b->y.n};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
    *part[i] = next;
    next += n[i];
  }
}

static ga_status find(ga__differing *d, const ga_machine *const *machine, int *alike)
{
  const ga__mbs_model *first = machine[0]->model;
  *alike = 1;
  for (int k = 1; k < d->n && *alike; k++) *alike = models_alike(first, machine[k]->model);
  if (!*alike) return GA_OK;
  marks at = {.block = ga__alloc(d->ctx, n_marks(first), 1)};
  d->lists = ga__alloc(d->ctx, n_marks(first), sizeof *d->lists);
  if (!at.block || !d->lists) {
    ga__free(d->ctx, at.block);
    return ga__no_memory(d->ctx, "the terms that depend on a parameter");
  }
  lay_out(&at, first);
  for (int k = 1; k < d->n; k++) {
    const ga__comparison c = {first, machine[k]->model, at.marker, at.gauge};
    mark_all(&c, &at);
  }
  *alike = carriers_same(first, &at);
  if (*alike) list_terms(d, first, &at);
  ga__free(d->ctx, at.block);
  return GA_OK;
}

static ga_status make_systems(ga__differing *d, const ga_machine *const *machine)
{
  d->machine = ga__alloc(d->ctx, (size_t)d->n, sizeof *d->machine);
  d->sys = ga__alloc(d->ctx, (size_t)d->n, sizeof *d->sys);
  if (!d->machine || !d->sys) return ga__no_memory(d->ctx, "the terms that depend on a parameter");
  ga_status status = GA_OK;
  for (int k = 0; k < d->n && !status; k++) {
    d->machine[k] = (ga__selection){machine[k]->model, &d->terms};
    status = ga__selection_system(d->ctx, &d->machine[k], &d->sys[k]);
  }
  return status;
}

ga_status ga__differing_create(ga_context *ctx, int n, const ga_machine *const *machine, ga__differing **out)
{
  int alike;
  *out = NULL;
  ga__differing *d = ga__alloc(ctx, 1, sizeof *d);
  if (!d) return ga__no_memory(ctx, "the terms that depend on a parameter");
  d->ctx = ctx;
  d->n = n;
  ga_status status = find(d, machine, &alike);
  if (!status && alike) status = make_systems(d, machine);
  if (status || !alike)
    ga__differing_destroy(&d);
  else
    *out = d;
  return status;
}

void ga__differing_destroy(ga__differing **differing)
{
  ga__differing *d = *differing;
  if (!d) return;
  for (int k = 0; k < d->n && d->sys; k++) ga__system_close(&d->sys[k]);
  ga__free(d->ctx, d->sys);
  ga__free(d->ctx, d->machine);
  ga__free(d->ctx, d->lists);
  ga__free(d->ctx, d);
  *differing = NULL;
}

const ga_system *ga__differing_system(const ga__differing *d, int k)
{
  return d->sys[k];
}

const ga__selected *ga__differing_terms(const ga__differing *d)
{
  return &d->terms;
}
