/* Which signals cannot change, whatever the motion: by the velocities that bodies have, not by values.
 *
 * A vector X and an axis e have masks of components in ground axes: those that may differ from 0, and those
 * that may change. e · X is constant if each product e_i X_i is: one factor is 0, or neither changes. */
#include "mbs/blocks.h"
#include "mbs/channel.h"
#include "control/over_time.h"

enum { DEPTH = 16, X = 1, Y = 2, Z = 4, XYZ = 7, IN_PLANE = X | Y };

typedef struct mask {
  unsigned nonzero, changes; /* bits of X, Y, Z */
} mask;

static const mask ANY = {XYZ, XYZ};

/* How a node moves: not at all, in a plane, without rotation, or in any way. */
typedef enum freedom { STILL, PLANAR, TRANSLATES, FREE } freedom;

static const ga__marker *marker_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->marker, ga__marker, i < 0 ? 0 : i);
}

static freedom freedom_of(const ga__mbs_model *b, const ga__marker *marker)
{
  const ga__node *node = GA__AT(b->node, ga__node, marker->node);
  if (marker->node == 0) return STILL;
  if (node->planar) return PLANAR;
  return node->rigid || node->scalar || node->vector || node->carried ? FREE : TRANSLATES;
}

static int is_constant(mask e, mask v)
{
  return !(e.nonzero & v.nonzero & (e.changes | v.changes));
}

/* Column `axis` of the marker's axes. */
static mask axis_mask(const ga__mbs_model *b, int marker, int axis)
{
  const ga__marker *at = marker_at(b, marker);
  unsigned has = 0;
  for (int i = 0; i < 3; i++) has |= at->A[3 * i + axis] != 0.0 ? 1u << i : 0u;
  switch (freedom_of(b, at)) {
  case STILL:
  case TRANSLATES:
    return (mask){has, 0};
  case PLANAR: /* rotates about z */
    return has & IN_PLANE ? (mask){has | IN_PLANE, IN_PLANE} : (mask){has, 0};
  case FREE:
    break;
  }
  return ANY;
}

/* X of ga__probe.kind as vector_at() of probe.c has it. */
static mask vector_mask(const ga__mbs_model *b, ga__probe_kind kind, int marker)
{
  const int turns = kind == GA__PROBE_ANGULAR_VELOCITY || kind == GA__PROBE_ANGULAR_ACCELERATION;
  unsigned rest = kind == GA__PROBE_POSITION ? XYZ : 0;
  for (int i = 0; i < 3 && kind == GA__PROBE_SPECIFIC_FORCE; i++)
    rest |= b->m->opts.gravity[i] != 0.0 ? 1u << i : 0u;
  switch (freedom_of(b, marker_at(b, marker))) {
  case STILL:
    return (mask){rest, 0};
  case PLANAR:
    return turns ? (mask){Z, Z} : (mask){rest | IN_PLANE, IN_PLANE};
  case TRANSLATES:
    return turns ? (mask){0, 0} : ANY;
  case FREE:
    break;
  }
  return ANY;
}

static int vector_is_constant(const ga__mbs_model *b, const ga__probe *probe)
{
  mask v = vector_mask(b, probe->kind, probe->of);
  if (probe->kind == GA__PROBE_POSITION) v.changes |= vector_mask(b, probe->kind, probe->from).changes;
  return is_constant(axis_mask(b, probe->axes, probe->component), v);
}

/* Roll and pitch of all frames that turn about z; q_x and q_y of those whose z axis is vertical. */
static int rotation_is_constant(const ga__mbs_model *b, const ga__probe *probe)
{
  const ga__marker *at = marker_at(b, probe->of);
  switch (freedom_of(b, at)) {
  case STILL:
  case TRANSLATES:
    return 1;
  case PLANAR:
    if (probe->kind == GA__PROBE_EULER) return probe->component != 2;
    return probe->kind == GA__PROBE_QUATERNION && (probe->component == 1 || probe->component == 2) &&
           at->A[2] == 0.0 && at->A[5] == 0.0 && at->A[8] > 0.0;
  case FREE:
    break;
  }
  return 0;
}

/* ---- Reactions ---- */

/* Force of one gauge on its end, and its moment about the marker `own`, which is at that end or not. */
static void add_gauge_force(const ga__mbs_model *b, const ga__gauge *g, int own, unsigned *force,
                            unsigned *moment)
{
  unsigned has = 0;
  const ga__node *na = GA__AT(b->node, ga__node, marker_at(b, g->a)->node);
  const ga__node *nb = GA__AT(b->node, ga__node, marker_at(b, g->b)->node);
  switch (g->kind) {
  case GA__WORLD:
    for (int i = 0; i < 3; i++) has |= g->u[i] != 0.0 ? 1u << i : 0u;
    break;
  case GA__ALONG:
    for (int i = 0; i < 3; i++)
      if (g->u[i] != 0.0) has |= axis_mask(b, g->a, i).nonzero;
    break;
  case GA__PLANE_ANGLE:
    *moment |= Z;
    return;
  case GA__DOT:
  case GA__ANGLE:
  case GA__TWIST:
    *moment |= XYZ;
    return;
  case GA__DISTANCE:
    has = XYZ;
    if (na->planar && nb->planar && na->z + marker_at(b, g->a)->s[2] == nb->z + marker_at(b, g->b)->s[2])
      has = IN_PLANE;
    break;
  case GA__SCALAR:
    has = XYZ;
    break;
  }
  *force |= has;
  if (own != g->b) *moment |= XYZ; /* it acts at the marker b of the gauge */
}

static int reaction_is_constant(const ga__mbs_model *b, const ga__probe *probe)
{
  const ga__joint *joint = GA__AT(b->joint, ga__joint, probe->joint);
  unsigned force = 0, moment = 0;
  if (joint->point3 >= 0) { /* a force at one of its markers */
    const ga__point3 *p = GA__AT(b->point3, ga__point3, joint->point3);
    force = XYZ;
    moment = p->b == joint->b ? 0 : XYZ;
  }
  for (int r = joint->first_row; r < joint->first_row + joint->n_rows; r++) {
    const ga__row *row = GA__AT(b->row, ga__row, r);
    for (int k = row->first_term; k < row->first_term + row->n_terms; k++) {
      const ga__gauge *g = GA__AT(b->gauge, ga__gauge, GA__AT(b->term, ga__term, k)->gauge);
      add_gauge_force(b, g, joint->b, &force, &moment);
    }
  }
  const unsigned has = probe->kind == GA__PROBE_REACTION_TORQUE ? moment : force;
  return is_constant(axis_mask(b, probe->axes, probe->component), (mask){has, has});
}

/* ---- All kinds ---- */

static int gauge_is_constant(const ga__mbs_model *b, int gauge)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  return g->kind != GA__SCALAR && freedom_of(b, marker_at(b, g->a)) == STILL &&
         freedom_of(b, marker_at(b, g->b)) == STILL;
}

/* Outputs of constants, and of blocks without states whose inputs are constant; depth: of loops. */
static int output_is_constant(const ga__mbs_model *b, int y, int depth)
{
  const ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->kind == GA__Y_PROBE) return ga__probe_is_constant(b, GA__AT(b->probe, ga__probe, row->index));
  const ga__block_instance *k = ga__output_block(b, row);
  if (!k || depth == 0 || !ga__is_wiener(k->block) || ga_block_n_x(k->block) > 0) return 0;
  for (int i = 0; i < ga_block_n_in(k->block); i++) {
    if (k->input[i].function) return 0;
    if (k->input[i].y >= 0 && !output_is_constant(b, k->input[i].y, depth - 1)) return 0;
  }
  return 1;
}

static int element_is_constant(const ga__mbs_model *b, const ga__probe *probe)
{
  const ga__element *el = ga__element_of(b, probe->owner);
  return el && el->type->never_changes && el->type->never_changes(el, probe->component);
}

int ga__probe_is_constant(const ga__mbs_model *b, const ga__probe *probe)
{
  switch (probe->kind) {
  case GA__PROBE_POSITION:
  case GA__PROBE_VELOCITY:
  case GA__PROBE_ACCELERATION:
  case GA__PROBE_SPECIFIC_FORCE:
  case GA__PROBE_ANGULAR_VELOCITY:
  case GA__PROBE_ANGULAR_ACCELERATION:
    return vector_is_constant(b, probe);
  case GA__PROBE_QUATERNION:
  case GA__PROBE_EULER:
  case GA__PROBE_ANGLE:
    return rotation_is_constant(b, probe);
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
    return reaction_is_constant(b, probe);
  case GA__PROBE_GAUGE:
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_GAUGE_ACC:
    return gauge_is_constant(b, probe->gauge);
  case GA__PROBE_OUTPUT:
    return output_is_constant(b, probe->index, DEPTH);
  case GA__PROBE_ELEMENT:
    return element_is_constant(b, probe);
  case GA__PROBE_ERROR:
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_TENSION:
  case GA__PROBE_MULTIPLIER_OF_K:
  case GA__PROBE_STATE:
  case GA__PROBE_ENERGY:
    return 0;
  }
  return 0;
}
