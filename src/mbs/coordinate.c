/* Coordinates of joints: one table, from which model files, signals, reports and messages take names and
 * units. */
#include "mbs/coordinate.h"
#include "mbs/parts.h"
#include "mbs/channel.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define UNITS(unit, force)                                                                                   \
  {                                                                                                          \
    unit, unit "/s", unit "/s^2", force                                                                      \
  }
#define INFO_ANGLE 1, UNITS(GA__UNIT_ANGLE, "N*m")
#define INFO_LENGTH 0, UNITS(GA__UNIT_LENGTH, "N")

static const ga_coordinate_info INFO[GA__N_COORDINATES] = {
#define ROW(member, motion, value, rate) {#member, INFO_##motion},
    GA__COORDINATE_LIST(ROW)
#undef ROW
};

static const ga_coordinate_info SCALAR[2] = {{"", INFO_LENGTH}, {"", INFO_ANGLE}};

/* Offsets of initial values in ga_joint_def. */
static const struct {
  size_t value, rate;
} GIVEN[GA__N_COORDINATES] = {
#define ROW(member, motion, value, rate)                                                                     \
  {offsetof(ga_joint_def, member), offsetof(ga_joint_def, member##_rate)},
    GA__COORDINATE_LIST(ROW)
#undef ROW
};

const ga_coordinate_info *ga__coordinate_info(int number)
{
  return &INFO[number];
}

const ga_coordinate_info *ga__scalar_info(int is_angle)
{
  return &SCALAR[is_angle != 0];
}

const ga_coordinate_info *ga_coordinate_find(const char *name)
{
  for (int i = 0; name && i < GA__N_COORDINATES; i++)
    if (strcmp(INFO[i].name, name) == 0) return &INFO[i];
  return NULL;
}

const char *ga__motion_unit(int is_angle, ga_motion_unit what)
{
  return SCALAR[is_angle != 0].unit[what];
}

const char *ga__coordinate_suffix(int derivative)
{
  static const char *const suffix[3] = {"", "_rate", "_acc"};
  return suffix[derivative];
}

double ga__coordinate_given(const ga_joint_def *def, int number, int rate)
{
  const size_t at = rate ? GIVEN[number].rate : GIVEN[number].value;
  return *(const double *)(const void *)((const char *)def + at);
}

double ga__joint_given(const ga_joint_def *def, const char *coordinate, int rate)
{
  const ga_coordinate_info *info = ga_coordinate_find(coordinate);
  return info ? ga__coordinate_given(def, (int)(info - INFO), rate) : NAN;
}

double ga__given_coordinate(const ga__part *part, const ga_coordinate_info *info, int rate)
{
  char name[40];
  if (!info->name[0]) return NAN;
  snprintf(name, sizeof name, "%s%s", info->name, ga__coordinate_suffix(rate));
  const double *given = ga__part_member(part, name, NULL);
  return given ? *given : NAN;
}

int ga__has_coordinates(const ga__joint *joint)
{
  return joint->n_coordinates > 0 && joint->coordinate[0].info->name[0];
}

int ga__node_is_angle(const ga__mbs_model *b, const ga__node *node)
{
  const ga__part *part = &b->m->part[node->part];
  const int *rotational = ga__part_member(part, "rotational", NULL);
  if (rotational) return *rotational != 0;
  if (node->angle) return 1;
  const ga__joint *joint = ga__joint_of(b, node->part);
  for (int i = 0; joint && i < joint->n_coordinates; i++) {
    const int gauge = joint->coordinate[i].scalar_gauge;
    if (gauge < 0) continue;
    const ga__marker *marker = GA__AT(b->marker, ga__marker, GA__AT(b->gauge, ga__gauge, gauge)->a);
    if (GA__AT(b->node, ga__node, marker->node) == node) return joint->coordinate[i].info->is_angle;
  }
  return 0;
}

int ga__gauge_is_angle(const ga__mbs_model *b, int gauge)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  if (g->kind == GA__SCALAR)
    return ga__node_is_angle(b, GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, g->a)->node));
  return g->kind == GA__ANGLE || g->kind == GA__TWIST || g->kind == GA__PLANE_ANGLE;
}
