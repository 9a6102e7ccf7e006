/* Shapes of parts at a state, for drawing; place.c has what they are fixed to. */
#include "mbs/element.h"

static int shapes_of(const ga__mbs_model *b, int part)
{
  const ga__element_type *type = ga__type_of(&b->m->part[part]);
  return type->n_shapes ? type->n_shapes(b, part) : 0;
}

int ga_machine_n_shapes(const ga_machine *m)
{
  int n = 0;
  for (int i = 0; m && m->model && i < m->n_parts; i++) n += shapes_of(m->model, i);
  return n;
}

/* "revolute" for a joint; for others their kind. */
static const char *type_of(const ga__part *part)
{
  const char *joint =
      part->kind == GA__PART_JOINT ? ga_joint_name(((const ga_joint_def *)part->def)->kind) : NULL;
  return joint ? joint : ga__part_text(part->kind);
}

ga_status ga_machine_shape(const ga_machine *m, const ga_state *s, int i, ga_shape *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || !out) return ga__refuse_null(m->ctx, __func__, s ? "out" : "the state");
  const ga__mbs_model *b = m->model;
  int part = 0, number = i;
  while (number >= 0 && part < m->n_parts && number >= shapes_of(b, part)) number -= shapes_of(b, part++);
  if (number < 0 || part == m->n_parts)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                      &(ga__facts){.function = __func__,
                                   .field = "i",
                                   GA__NUMBERS({i, NULL}, {ga_machine_n_shapes(m), NULL})});
  ga__shape_def def = {.b = -1};
  ga__type_of(&m->part[part])->shape(b, part, number, &def);
  *out = (ga_shape){.kind = def.kind,
                    .part = m->part[part].name,
                    .size = def.size,
                    .n_ends = def.b < 0 ? 1 : 2,
                    .type = type_of(&m->part[part])};
  const int end[2] = {def.a, def.b < 0 ? def.a : def.b};
  for (int k = 0; k < 2; k++)
    if (def.kind == GA_SHAPE_BEAM || def.kind == GA_SHAPE_CABLE) {
      out->on[k] = end[k];
      ga__node_pose(b, end[k], s->q, &out->end[k]);
    } else {
      out->on[k] = GA__AT(b->marker, ga__marker, end[k])->node;
      ga__marker_pose(b, end[k], s->q, &out->end[k]);
    }
  return GA_OK;
}
