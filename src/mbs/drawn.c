/* Shapes of the model: solids on frames, for drawing alone. They have no equations. */
#include "mbs/colour.h"
#include "mbs/element.h"

#include <string.h>

int ga__colour_of(const char *text)
{
  static const struct {
    const char *name;
    int colour;
  } list[] = {{"black", 0x1c1f24},  {"white", 0xf4f4f2}, {"grey", 0x8b929c},   {"gray", 0x8b929c},
              {"silver", 0xc4c9d0}, {"red", 0xc8372d},   {"orange", 0xe08a3c}, {"yellow", 0xe5c02b},
              {"green", 0x4f9d5d},  {"blue", 0x3f77bf},  {"purple", 0x8b74b8}, {"brown", 0x8a5a3b},
              {"pink", 0xd17fb5},   {"cyan", 0x3fa7a3},  {"steel", 0x77808c},  {"rubber", 0x2c2f35},
              {"wood", 0xb98a58}};
  static const char digits[] = "0123456789abcdef";
  int sum = 0;
  if (!text) return -1;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (strcmp(text, list[i].name) == 0) return list[i].colour;
  if (text[0] != '#' || strlen(text) != 7) return -2;
  for (int i = 1; i < 7; i++) {
    const char low = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] - 'A' + 'a' : text[i]);
    const char *at = strchr(digits, low);
    if (!at) return -2;
    sum = 16 * sum + (int)(at - digits);
  }
  return sum;
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_shape_def *d = m->part[part].def;
  const ga__element *el = ga__element_add(m, b, part, &ga__shape_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  return ga__resolve_frame(m, b, &m->part[part], "frame", d->frame, el->data);
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) != NULL;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  static const ga_shape_kind kind[] = {
      [GA_SOLID_BOX] = GA_SHAPE_BOX,       [GA_SOLID_CYLINDER] = GA_SHAPE_CYLINDER,
      [GA_SOLID_SPHERE] = GA_SHAPE_SPHERE, [GA_SOLID_CAPSULE] = GA_SHAPE_CAPSULE,
      [GA_SOLID_TUBE] = GA_SHAPE_TUBE,     [GA_SOLID_CONE] = GA_SHAPE_CONE,
      [GA_SOLID_WHEEL] = GA_SHAPE_DISK,    [GA_SOLID_MESH] = GA_SHAPE_MESH};
  const ga_shape_def *d = b->m->part[part].def;
  const int *marker = ga__element_of(b, part)->data;
  (void)i;
  *out = (ga__drawing){.kind = kind[d->kind], .a = *marker, .b = -1, .size = d->radius, .pose = &d->pose};
  out->given = d;
  if (d->kind == GA_SOLID_BOX)
    memcpy(out->dimension, d->size, sizeof out->dimension);
  else
    out->dimension[0] = d->length, out->dimension[1] = d->inner;
}

const ga__element_type ga__shape_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(int), /* the marker of its frame */
    .no_twists = 1,
    .no_accelerations = 1,
    .create = {[GA__CREATE_JOINTS] = create},
    .n_shapes = n_shapes,
    .shape = shape,
};
