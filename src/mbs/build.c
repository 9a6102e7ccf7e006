/* Building: from parts to nodes, elements and a system. Everything belongs to a ga__mbs_model, which is freed
 * as a whole on failure. */
#include "mbs/blocks.h"
#include "mbs/carried.h"
#include "mbs/time_signal.h"
#include "mbs/edges.h"
#include "mbs/element.h"
#include "mbs/form.h"
#include "mbs/hidden.h"
#include "mbs/mbs_impl.h"
#include "mbs/system.h"

#include <stdio.h>
#include <string.h>

ga_status ga__resolve_frame(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, int *marker)
{
  int part = ga__find_part(m, name);
  if (part < 0 || !ga__has_frame(b, part))
    return ga__refuse_unknown(m, asking, field, name, "a body or marker");
  if (ga__type_of(&m->part[part])->floats && asking->kind != GA__PART_SENSOR)
    return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_FLOATING_FRAME,
                           (ga__facts){.field = field, .name = name});
  *marker = b->part_marker[part];
  return GA_OK;
}

int ga__add_gauge(ga_machine *m, ga__mbs_model *b, const ga__gauge *g)
{
  ga__gauge *to = ga__list_add(m->ctx, &b->gauge);
  if (!to) return -1;
  *to = *g;
  return b->gauge.n - 1;
}

ga_status ga__resolve_line(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *a,
                           const char *b_frame, const char *coordinate, int *gauge)
{
  if (coordinate) return ga__resolve_coordinate(m, b, asking, "coordinate", coordinate, GA__TURNS, gauge);
  ga__gauge line = {.kind = GA__DISTANCE};
  ga_status status = ga__resolve_frame(m, b, asking, "a", a, &line.a);
  if (!status) status = ga__resolve_frame(m, b, asking, "b", b_frame, &line.b);
  if (status) return status;
  if (GA__AT(b->marker, ga__marker, line.a)->node == GA__AT(b->marker, ga__marker, line.b)->node)
    return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                           (ga__facts){.name = a, .other = b_frame});
  *gauge = ga__add_gauge(m, b, &line);
  if (*gauge < 0) return GA_ERR_MEMORY;
  if (!(ga__gauge_initial(b, *gauge) > GA__COINCIDENT))
    return ga__refuse_part(m->ctx, asking, GA_ERR_INCONSISTENT, GA_REASON_ENDS_COINCIDE,
                           (ga__facts){.name = a, .other = b_frame, .expected = "a bushing"});
  return GA_OK;
}

static ga_status label(ga_machine *m, ga__list *list, int part, const char *text)
{
  ga__label *l = ga__list_add(m->ctx, list);
  if (!l) return GA_ERR_MEMORY;
  l->part = part;
  snprintf(l->text, sizeof l->text, "%s", text);
  return GA_OK;
}

ga_status ga__label_lambda(ga_machine *m, ga__mbs_model *b, int part, const char *text, int *lambda)
{
  *lambda = b->n_lambda++;
  return label(m, &b->lambda_label, part, text);
}

ga_status ga__label_psi(ga_machine *m, ga__mbs_model *b, int part, const char *text, int *psi)
{
  *psi = b->n_psi++;
  return label(m, &b->psi_label, part, text);
}

/* ---- The stages ---- */

ga_status ga__build_begin(ga_machine *m, ga__mbs_model *b)
{
  const struct {
    ga__list *list;
    size_t size;
  } lists[] = {{&b->node, sizeof(ga__node)},          {&b->marker, sizeof(ga__marker)},
               {&b->gauge, sizeof(ga__gauge)},        {&b->row, sizeof(ga__row)},
               {&b->slot, sizeof(ga__slot)},          {&b->term, sizeof(ga__term)},
               {&b->point3, sizeof(ga__point3)},      {&b->axes, sizeof(ga__axes)},
               {&b->joint, sizeof(ga__joint)},        {&b->y, sizeof(ga__y)},
               {&b->formula, sizeof(ga__formula)},    {&b->element, sizeof(ga__element)},
               {&b->probe, sizeof(ga__probe)},        {&b->edge, sizeof(ga__edge)},
               {&b->lambda_label, sizeof(ga__label)}, {&b->psi_label, sizeof(ga__label)}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) lists[i].list->size = lists[i].size;
  b->m = m;
  b->pattern.ctx = m->ctx;
  int **const arrays[] = {&b->part_node, &b->part_marker, &b->part_joint, &b->part_element};
  for (int k = 0; k < 4; k++) {
    *arrays[k] = ga__alloc(m->ctx, (size_t)m->n_parts, sizeof(int));
    if (!*arrays[k]) return ga__no_memory(m->ctx, "a machine");
    for (int i = 0; i < m->n_parts; i++) (*arrays[k])[i] = -1;
  }
  return GA_OK;
}

ga_status ga__build_frames(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = ga__create(m, b, GA__CREATE_BODIES);
  if (!status) ga__nodes_keep_given(b);
  if (!status) status = ga__create(m, b, GA__CREATE_MARKERS);
  b->n_frame_nodes = b->node.n;
  return status;
}

static ga_status create_all(ga_machine *m, ga__mbs_model *b)
{
  ga__placement placed = {.ctx = NULL};
  ga_status status = ga__build_frames(m, b);
  if (!status) status = ga__create(m, b, GA__CREATE_JOINTS);
  if (!status) status = ga__assemble(m, b, &placed);
  if (!status) ga__placement_apply(&placed, b);
  ga__placement_free(&placed);
  if (!status) status = ga__joints_set_constants(m, b);
  for (int stage = GA__CREATE_COUPLINGS; !status && stage < GA__N_CREATE; stage++)
    status = ga__create(m, b, (ga__create_stage)stage);
  return status;
}

static void number_nodes(ga__mbs_model *b)
{
  for (int i = 0; i < b->node.n; i++) {
    ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->carried) continue;
    node->q = b->nq;
    node->v = b->nv;
    b->nq += (int)ga__node_n_q(node);
    b->nv += node->n;
  }
  b->n_y = b->y.n;
  ga__carried_number(b);
}

static ga_status want_all(ga__mbs_model *b)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    if (el->type->want) status = el->type->want(b, el);
  }
  return status;
}

static ga_status bind_all(ga__mbs_model *b)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    b->pattern.on_frames = 0;
    if (el->type->bind) status = el->type->bind(b, el);
    el->on_frames = b->pattern.on_frames;
  }
  return status;
}

static ga_status lay_out(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = want_all(b);
  if (!status) status = ga__time_signals_create(m, b);
  if (!status) status = ga__pattern_merge(b);
  if (!status) status = bind_all(b);
  if (!status) status = ga__list_clears(b);
  if (!status) status = ga__condensation_create(m, b);
  if (!status) status = ga__form_create(m, b);
  if (!status) status = ga__edges_list(m->ctx, b);
  if (!status) ga__elements_ready(b);
  return status == GA_ERR_MEMORY ? ga__no_memory(m->ctx, "the pattern of a machine") : status;
}

ga_status ga__build_finish(ga_machine *m, ga__mbs_model *b)
{
  number_nodes(b);
  ga_status status = ga__elements_close(m, b);
  if (!status && b->stage == GA__STAGE_MACHINE) status = ga__signals_create(m, b);
  if (!status) status = lay_out(m, b);
  for (int i = 0; !status && i < b->node.n; i++) ga__kin_initial(b, i, b->kin);
  return status ? status : ga__system_make(m, b);
}

ga_status ga_machine_build(ga_machine *m)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (m->model) return ga__refuse_order(m->ctx, __func__, "once");
  ga__mbs_model *b = ga__alloc(m->ctx, 1, sizeof *b);
  if (!b) return ga__no_memory(m->ctx, "a machine");
  ga_status status = ga__build_begin(m, b);
  if (!status) status = create_all(m, b);
  if (!status) status = ga__build_finish(m, b);
  m->model = b;
  if (!status) status = ga__set_spring_rests(m, b);
  ga__free(m->ctx, b->kin);
  b->kin = NULL;
  if (!status) return GA_OK;
  m->model = NULL;
  ga__mbs_model_destroy(m->ctx, &b);
  return status;
}

void ga__mbs_model_destroy(ga_context *ctx, ga__mbs_model **model)
{
  ga__mbs_model *b = *model;
  if (!b) return;
  ga_system_destroy(&b->system);
  ga__time_signals_free(ctx, b);
  ga__elements_free(ctx, b);
  ga__carried_free(ctx, b);
  ga__outputs_free(ctx, b);
  for (int i = 0; i < b->node.n; i++) ga__free(ctx, GA__AT(b->node, ga__node, i)->own);
  ga__signals_free(ctx, b);
  for (int i = 0; i < b->formula.n; i++) ga__formula_free(ctx, GA__AT(b->formula, ga__formula, i));
  ga__form_destroy(ctx, &b->form);
  ga__pattern_free(&b->pattern);
  ga__list *const lists[] = {&b->node,    &b->marker, &b->gauge, &b->row,          &b->slot,
                             &b->term,    &b->point3, &b->axes,  &b->joint,        &b->y,
                             &b->formula, &b->probe,  &b->edge,  &b->lambda_label, &b->psi_label};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) ga__free(ctx, lists[i]->at);
  void *const blocks[] = {b->part_node, b->part_marker, b->part_joint, b->part_element,
                          b->kin,       b->end,         b->end_start};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(ctx, blocks[i]);
  ga__free(ctx, b);
  *model = NULL;
}
