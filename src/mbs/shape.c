/* Shapes of parts at a state, for drawing; place.c has what they are fixed to. */
#include "mbs/colour.h"
#include "mbs/element.h"

#include <math.h>
#include <string.h>

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

/* The part that shape i belongs to, and its number there; −1: there is none. */
static int find_shape(const ga__mbs_model *b, int i, int *number)
{
  int part = 0;
  while (i >= 0 && part < b->m->n_parts && i >= shapes_of(b, part)) i -= shapes_of(b, part++);
  *number = i;
  return i < 0 || part == b->m->n_parts ? -1 : part;
}

static ga_status refuse_index(const ga_machine *m, const char *function, int i)
{
  return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                    &(ga__facts){.function = function,
                                 .field = "i",
                                 GA__NUMBERS({i, NULL}, {ga_machine_n_shapes(m), NULL})});
}

/* "revolute" for a joint, "pid" for a block; for others their kind. */
static const char *type_of(const ga__part *part)
{
  const char *own = NULL;
  if (part->kind == GA__PART_JOINT) own = ga_joint_name(((const ga_joint_def *)part->def)->kind);
  if (part->kind == GA__PART_BLOCK)
    own = ga_block_kind_name(ga_block_get_kind(((const ga__block_def *)part->def)->block));
  return own ? own : ga__part_text(part->kind);
}

const char *ga_machine_part(const ga_machine *m, int i, const char **type)
{
  if (!m || i < 0 || i >= m->n_parts) return NULL;
  if (type) *type = type_of(&m->part[i]);
  return m->part[i].name;
}

/* What a shape of the model, or a collider's mesh, has besides. */
static void add_solid(const ga__drawing *def, ga_shape *out)
{
  const ga_shape_def *d = def->given;
  memcpy(out->dimension, def->dimension, sizeof out->dimension);
  out->colour = d ? ga__colour_of(d->colour) : -1;
  out->opacity = d ? d->opacity : 1;
  out->given = d != NULL;
  if (d && d->kind == GA_SOLID_MESH) {
    out->n_points = d->n_points, out->n_triangles = d->n_triangles;
    out->points = d->points, out->triangles = d->triangles, out->scale = d->scale;
  } else if (def->collider) {
    out->n_points = def->collider->n_points, out->n_triangles = def->collider->n_triangles;
    out->points = def->collider->points, out->triangles = def->collider->triangles;
    out->scale = def->collider->scale;
  }
}

/* The frame (x, R) and then the pose (p, P) in it: x + R p, R P. */
static void compose(ga_pose *frame, const ga_pose *pose)
{
  const ga_pose f = *frame;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      frame->position[i] += f.rotation[3 * i + j] * pose->position[j];
      frame->rotation[3 * i + j] = 0;
      for (int k = 0; k < 3; k++)
        frame->rotation[3 * i + j] += f.rotation[3 * i + k] * pose->rotation[3 * k + j];
    }
}

ga_status ga_machine_shape(const ga_machine *m, const ga_state *s, int i, ga_shape *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || !out) return ga__refuse_null(m->ctx, __func__, s ? "out" : "the state");
  const ga__mbs_model *b = m->model;
  int number, part = find_shape(b, i, &number);
  if (part < 0) return refuse_index(m, __func__, i);
  ga__drawing def = {.b = -1};
  ga__type_of(&m->part[part])->shape(b, part, number, &def);
  *out = (ga_shape){.kind = def.kind,
                    .part = m->part[part].name,
                    .size = def.size,
                    .n_ends = def.b < 0 ? 1 : 2,
                    .type = type_of(&m->part[part])};
  memcpy(out->section, def.section, sizeof out->section);
  add_solid(&def, out);
  const int end[2] = {def.a, def.b < 0 ? def.a : def.b};
  for (int k = 0; k < 2; k++)
    if (def.kind == GA_SHAPE_BEAM || def.kind == GA_SHAPE_CABLE) {
      out->on[k] = end[k];
      ga__node_pose(b, end[k], s->q, &out->end[k]);
    } else {
      out->on[k] = GA__AT(b->marker, ga__marker, end[k])->node;
      ga__marker_pose(b, end[k], s->q, &out->end[k]);
      if (def.pose) compose(&out->end[k], def.pose);
    }
  return GA_OK;
}

int ga_machine_piece_loads(const ga_machine *m, const ga_state *s, int n, ga_piece_load *out)
{
  const ga__mbs_model *b = m ? m->model : NULL;
  int count = 0;
  for (int part = 0; b && part < m->n_parts; part++)
    if (ga__type_of(&m->part[part])->piece_load) count += shapes_of(b, part);
  if (!s || !out || n <= 0 || count == 0) return count;
  const size_t nv = (size_t)ga_system_size(b->system, GA_BLOCK_V);
  double *zero = ga__alloc(m->ctx, nv + 1, sizeof *zero);
  ga__kin *kin = ga__alloc(m->ctx, (size_t)b->node.n + 1, sizeof *kin);
  if (zero && kin) ga__kin_at(b, s->q, zero, zero, kin);
  for (int part = 0, at = 0; part < m->n_parts; part++) {
    const ga__element_type *type = ga__type_of(&m->part[part]);
    const ga__element *el = type->piece_load ? ga__element_of(b, part) : NULL;
    for (int i = 0; el && i < shapes_of(b, part) && at < n; i++, at++)
      if (!zero || !kin || type->piece_load(el, i, kin, &out[at]))
        for (int k = 0; k < 6; k++) out[at].strain[k] = out[at].force[k] = NAN;
  }
  ga__free(m->ctx, zero);
  ga__free(m->ctx, kin);
  return count;
}

ga_status ga_machine_road_height(const ga_machine *m, int i, double t, double x, double y, double *z,
                                 int *varies)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!z) return ga__refuse_null(m->ctx, __func__, "z");
  int number, changes = 0, part = find_shape(m->model, i, &number);
  if (part < 0) return refuse_index(m, __func__, i);
  const ga__element_type *type = ga__type_of(&m->part[part]);
  const ga__element *el = ga__element_of(m->model, part);
  *z = 0;
  const int good = !type->height || !el || type->height(el, t, x, y, z, &changes);
  if (varies) *varies = changes;
  return good ? GA_OK : GA_ERR_ARGUMENT;
}
