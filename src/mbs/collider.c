/* Colliders: the solid that a frame carries, for collisions. They have no equations of their own. */
#include "mbs/collider.h"

#include <string.h>

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_collider_def *d = m->part[part].def;
  const ga__element *el = ga__element_add(m, b, part, &ga__collider_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  ga__collider *c = el->data;
  c->part = part;
  const ga_status status = ga__resolve_frame(m, b, &m->part[part], "frame", d->frame, &c->marker);
  if (status) return status;
  c->node = GA__AT(b->marker, ga__marker, c->marker)->node;
  return ga__solid_create(m->ctx, &m->part[part], &c->solid);
}

static void release(ga_context *ctx, ga__element *el)
{
  ga__solid_free(ctx, &((ga__collider *)el->data)->solid);
}

ga_status ga__resolve_collider(ga_machine *m, const ga__mbs_model *b, const ga__part *asking,
                               const char *field, const char *name, const ga__collider **out)
{
  const int part = ga__find_part(m, name);
  if (part < 0 || m->part[part].kind != GA__PART_COLLIDER)
    return ga__refuse_unknown(m, asking, field, name, "a collider");
  *out = ga__element_of(b, part)->data;
  return GA_OK;
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) != NULL;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const ga_collider_def *d = b->m->part[part].def;
  const ga__collider *c = ga__element_of(b, part)->data;
  (void)i;
  static const ga_shape_kind kind[] = {[GA_COLLIDER_SPHERE] = GA_SHAPE_SPHERE,
                                       [GA_COLLIDER_CAPSULE] = GA_SHAPE_CAPSULE,
                                       [GA_COLLIDER_BOX] = GA_SHAPE_BOX,
                                       [GA_COLLIDER_MESH] = GA_SHAPE_MESH,
                                       [GA_COLLIDER_PLANE] = GA_SHAPE_PLANE};
  *out = (ga__drawing){.kind = kind[d->kind], .a = c->marker, .b = -1, .size = d->radius};
  if (d->kind == GA_COLLIDER_BOX) memcpy(out->dimension, d->size, sizeof out->dimension);
  if (d->kind == GA_COLLIDER_CAPSULE) out->dimension[0] = d->length;
  if (d->kind == GA_COLLIDER_MESH) out->collider = d;
}

const ga__element_type ga__collider_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(ga__collider),
    .no_twists = 1,
    .no_accelerations = 1,
    .create = {[GA__CREATE_JOINTS] = create},
    .release = release,
    .n_shapes = n_shapes,
    .shape = shape,
};
