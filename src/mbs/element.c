/* The list of elements: creation, order, and passes over all of them. */
#include "mbs/element.h"
#include "mbs/parts.h"

#include <string.h>

/* ---- Types ---- */

const ga__element_type *ga__type_of(const ga__part *part)
{
  if (part->kind == GA__PART_ELEMENT) return ((const ga__element_def *)part->def)->type;
  return ga__part_type_of(part->kind)->element;
}

/* ---- Creation ---- */

ga_status ga__create(ga_machine *m, ga__mbs_model *b, ga__create_stage stage)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < m->n_parts; i++) {
    const ga__element_type *type = ga__type_of(&m->part[i]);
    if (type && type->create[stage]) status = type->create[stage](m, b, i);
  }
  return status;
}

static ga_status add_outputs(ga_machine *m, ga__mbs_model *b, int part, int n)
{
  for (int i = 0; i < n; i++) {
    ga__y *y = ga__list_add(m->ctx, &b->y);
    if (!y) return GA_ERR_MEMORY;
    *y = (ga__y){.kind = GA__Y_ELEMENT, .index = part, .output = i};
  }
  return GA_OK;
}

ga__element *ga__element_add(ga_machine *m, ga__mbs_model *b, int part, const ga__element_type *type, int n_x,
                             int n_y)
{
  ga__element *el = ga__list_add(m->ctx, &b->element);
  if (!el) return NULL;
  *el =
      (ga__element){.type = type, .part = part, .x = b->n_x, .n_x = n_x, .y = b->y.n, .n_y = n_y, .gate = -1};
  el->data = ga__alloc(m->ctx, 1, type->size);
  if (!el->data) {
    ga__no_memory(m->ctx, "an element of a machine");
    return NULL;
  }
  if (part > 0) b->part_element[part] = b->element.n - 1;
  b->n_x += n_x;
  return add_outputs(m, b, part, n_y) ? NULL : el;
}

int ga__columns_of_nodes(const ga__mbs_model *b, const ga__element *el, const int *node, int n_nodes,
                         int *column, int room)
{
  int n = 0;
  for (int j = 0; j < n_nodes; j++) {
    const ga__node *at = GA__AT(b->node, ga__node, node[j]);
    for (int k = 0; node[j] && k < at->n; k++, n++)
      if (n < room) column[n] = at->v + k;
  }
  for (int k = 0; k < el->n_x; k++, n++)
    if (n < room) column[n] = ga__column_x(b, el->x + k);
  return n;
}

ga__element *ga__element_of(const ga__mbs_model *b, int part)
{
  return b->part_element[part] < 0 ? NULL : ga__element_at(b, b->part_element[part]);
}

const ga__element *ga__element_with(const ga__mbs_model *b, ga_equation_block block, int i)
{
  for (int k = 0; k < b->element.n; k++) {
    const ga__element *el = ga__element_at(b, k);
    const int first = block == GA_BLOCK_Y ? el->y : el->x, n = block == GA_BLOCK_Y ? el->n_y : el->n_x;
    if (i >= first && i < first + n) return el;
  }
  return NULL;
}

/* 1: it has functions that are called for elements without a sweep. */
static int acts(const ga__element_type *t)
{
  return !t->sweep && (t->mass || t->force || t->phi || t->k || t->state || t->jacobian);
}

void ga__elements_ready(ga__mbs_model *b)
{
  const ga__element *at = b->element.at;
  const int n = b->element.n;
  b->n_swept = 0;
  while (b->n_swept < n && at[b->n_swept].type->sweep) b->n_swept++;
  b->first_unswept = b->n_swept;
  while (b->first_unswept < n && !acts(at[b->first_unswept].type)) b->first_unswept++;
  b->uses_kin = b->first_unswept < n;
  for (int i = b->first_unswept; i < n; i++) b->unswept_inertia |= at[i].type->mass != NULL;
  for (int i = 0; i < b->n_swept; i++)
    if (at[i].type->uses_kin && at[i].type->uses_kin(b, &at[i])) b->uses_kin = 1;
}

/* Counting sort by rank, stable. */
static ga_status sort(ga_context *ctx, ga__mbs_model *b)
{
  const int n = b->element.n;
  int first[GA__RANK_OTHER + 2] = {0};
  ga__element *at = b->element.at, *sorted = ga__alloc(ctx, (size_t)n, sizeof *sorted);
  if (!sorted) return ga__no_memory(ctx, "the elements of a machine");
  for (int i = 0; i < n; i++) first[at[i].type->rank + 1]++;
  for (int r = 0; r <= GA__RANK_OTHER; r++) first[r + 1] += first[r];
  for (int i = 0; i < n; i++) sorted[first[at[i].type->rank]++] = at[i];
  memcpy(at, sorted, (size_t)n * sizeof *at);
  ga__free(ctx, sorted);
  b->n_inner = 0;
  for (int i = 0; i < n; i++) {
    if (at[i].part > 0) b->part_element[at[i].part] = i;
    at[i].inner = b->n_inner;
    b->n_inner += at[i].n_inner;
  }
  return GA_OK;
}

ga_status ga__elements_close(ga_machine *m, ga__mbs_model *b)
{
  if (!ga__element_add(m, b, 0, &ga__bodies_type, 0, 0) || !ga__element_add(m, b, 0, &ga__rows_type, 0, 0))
    return GA_ERR_MEMORY;
  if (b->y.n > 0 && !ga__element_add(m, b, 0, &ga__outputs_type, 0, 0)) return GA_ERR_MEMORY;
  const ga_status status = sort(m->ctx, b);
  return status ? status : ga__gates_resolve(m, b);
}

void ga__elements_free(ga_context *ctx, ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    if (el->data && el->type->release) el->type->release(ctx, el);
    ga__free(ctx, el->data);
  }
  ga__free(ctx, b->element.at);
  b->element = (ga__list){.at = NULL};
}

/* ---- Evaluation ---- */

int ga__elements_rows(const ga__mbs_model *b)
{
  return b->carried.n ? b->n_wide : b->nv;
}

void ga__unswept_mass(const ga__eval *e, double *out)
{
  for (int i = e->b->first_unswept; i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->mass) el->type->mass(e, el, out);
  }
}

void ga__elements_mass(const ga__eval *e, double *out)
{
  memset(out, 0, (size_t)ga__elements_rows(e->b) * sizeof *out);
  for (int i = 0; i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->mass) el->type->mass(e, el, out);
  }
}

int ga__elements_force(const ga__eval *e, double *f)
{
  int status = 0;
  memset(f, 0, (size_t)ga__elements_rows(e->b) * sizeof *f);
  for (int i = 0; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->force && ga__gate_is_open(e, el->gate)) status = el->type->force(e, el, f);
  }
  return status;
}

int ga__elements_phi(const ga__eval *e, double *out, int order)
{
  int status = 0;
  for (int i = 0; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->phi) status = el->type->phi(e, el, out, order);
  }
  return status;
}

int ga__elements_k(const ga__eval *e, double *out, int order)
{
  int status = 0;
  for (int i = e->b->first_unswept; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->k) status = el->type->k(e, el, out, order);
  }
  return status;
}

int ga__elements_k_along(const ga__eval *e, const ga__eval *at, double *out)
{
  int status = 0;
  for (int i = e->b->first_unswept; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->k_along)
      status = el->type->k_along(e, el, at->kin, out);
    else if (el->type->k)
      status = el->type->k(at, el, out, 0);
  }
  return status;
}

int ga__elements_state(const ga__eval *e, double *s)
{
  int status = 0;
  for (int i = e->b->first_unswept; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (!el->type->state || el->n_x == 0) continue;
    if (ga__gate_is_open(e, el->gate))
      status = el->type->state(e, el, s);
    else
      memset(s + el->x, 0, (size_t)el->n_x * sizeof *s);
  }
  return status;
}

/* Elements without a sweep: f += forces, J += derivatives; either may be NULL. Those that do all in one pass
 * are left out where there is f. */
static int add_unswept(const ga__eval *e, double *f, ga_jacobian *J)
{
  int status = 0;
  for (int i = e->b->first_unswept; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if ((f && el->type->dynamics) || !ga__gate_is_open(e, el->gate)) continue;
    if (f && el->type->force) status = el->type->force(e, el, f);
    if (!status && J && el->type->jacobian) status = el->type->jacobian(e, el, J);
  }
  return status;
}

static int sweep_first(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  int status = 0;
  for (int i = 0; !status && i < e->b->n_swept; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    status = el->type->sweep(e, el, s, J);
  }
  return status;
}

int ga__elements_jacobian(const ga__eval *e, ga_jacobian *J)
{
  const int status = sweep_first(e, NULL, J);
  return status ? status : add_unswept(e, NULL, J);
}

/* M vdot, rows of Φ and of k; all of those elements that do it in one pass. */
static int add_values(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  int status = 0;
  for (int i = e->b->first_unswept; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    const ga__element_type *t = el->type;
    if (t->dynamics)
      status = t->dynamics(e, el, s->dynamics, J);
    else if (t->mass)
      status = t->mass(e, el, s->dynamics);
    if (!status && t->phi) status = t->phi(e, el, s->phi, 0);
    if (!status && t->phi && s->phi_dot) status = t->phi(e, el, s->phi_dot, 1);
    if (!status && t->k) status = t->k(e, el, s->k, 0);
  }
  return status;
}

int ga__elements_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  int status = sweep_first(e, s, J);
  if (status || b->first_unswept == b->element.n) return status;
  if (!s) return add_unswept(e, NULL, J);
  double *f = e->work->f;
  const int rows = ga__elements_rows(b);
  memset(f, 0, (size_t)rows * sizeof *f);
  status = add_unswept(e, f, J);
  for (int i = 0; i < b->nv; i++) s->dynamics[i] -= f[i];
  for (int i = rows - 6 * b->carried.n; i < rows && b->carried.n; i++) s->dynamics[i] -= f[i];
  return status ? status : add_values(e, s, J);
}

int ga__elements_inner(const ga__eval *e, double *n)
{
  int status = 0;
  for (int i = 0; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->n_inner) status = el->type->inner(e, el, n);
  }
  return status;
}

int ga__elements_inner_step(const ga__eval *e, double *dn)
{
  int status = 0;
  for (int i = 0; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->n_inner) status = el->type->inner_step(e, el, dn);
  }
  return status;
}

int ga__elements_powers(const ga__eval *e, ga__powers *out)
{
  int status = 0;
  *out = (ga__powers){0, 0, 0, 0, 0};
  for (int i = 0; !status && i < e->b->element.n; i++) {
    const ga__element *el = ga__element_at(e->b, i);
    if (el->type->powers && ga__gate_is_open(e, el->gate)) status = el->type->powers(e, el, out);
  }
  return status;
}
