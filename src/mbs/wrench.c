/* Forces and torques at a marker, of inputs. With r from the node's origin to the marker's, in ground axes,
 * the node has
 *
 *   (F, r × F + T)
 *
 * and r turns with the node; F and T do so too where their axes are the marker's own. */
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"
#include <string.h>

enum { ROTATIONS = GA__RX | GA__RY | GA__RZ };

static const ga__node *node_of(const ga__built *b, const ga__wrench *w, int *index)
{
  *index = GA__AT(b->marker, ga__marker, w->marker)->node;
  return GA__AT(b->node, ga__node, *index);
}

static const ga__input *input_of(const ga__wrench *w, int i)
{
  return i < 3 ? &w->force[i] : &w->torque[i - 3];
}

static int is_nothing(const ga__input *in)
{
  return in->value == 0 && !in->function && in->y < 0;
}

/* ---- Building ---- */

static ga_status check_torque(ga_machine *m, const ga__built *b, const ga__wrench *w, const char *frame)
{
  int index, any = 0;
  const ga__node *node = node_of(b, w, &index);
  for (int i = 0; i < 3; i++)
    if (!is_nothing(&w->torque[i])) any = 1;
  if (!any || index == 0 || node->has & ROTATIONS) return GA_OK;
  return ga__fail(
      m->ctx, GA_ERR_ARGUMENT,
      "force '%s': it has a torque, but '%s' belongs to a point, which cannot turn; leave the torque out, or "
      "make it a rigid body",
      m->part[w->part].name, frame);
}

ga_status ga__wrench_resolve(ga_machine *m, ga__built *b, int part)
{
  static const char *const field[6] = {"force[0]",  "force[1]",  "force[2]",
                                       "torque[0]", "torque[1]", "torque[2]"};
  const ga__part *asking = &m->part[part];
  const ga_force_def *def = asking->def;
  ga__wrench *w = ga__list_add(m->ctx, &b->wrench);
  if (!w) return GA_ERR_MEMORY;
  w->part = part;
  w->in_body = def->axes == GA_AXES_BODY;
  ga_status status = ga__resolve_frame(m, b, asking, "frame", def->frame, &w->marker);
  for (int i = 0; i < 3 && !status; i++) {
    status = ga__resolve_input(m, b, asking, field[i], &def->force[i], &w->force[i]);
    if (!status) status = ga__resolve_input(m, b, asking, field[3 + i], &def->torque[i], &w->torque[i]);
  }
  return status ? status : check_torque(m, b, w, def->frame);
}

ga_status ga__wrench_want(ga__built *b, ga__wrench *w)
{
  int index;
  const ga__node *node = node_of(b, w, &index);
  unsigned tiles = 0;
  if (node->has & ROTATIONS) tiles = 1u << GA__RR | (w->in_body ? 1u << GA__XR : 0u);
  ga_status status = ga__want_pair(&b->pattern, index, index, tiles, tiles);
  for (int i = 0; i < 6 && !status; i++)
    if (input_of(w, i)->y >= 0) status = ga__want_port(&b->pattern, index, input_of(w, i)->y);
  return status;
}

ga_status ga__wrench_bind(ga__built *b, ga__wrench *w)
{
  int index;
  node_of(b, w, &index);
  w->self = ga__find_pair(&b->pattern, index, index);
  for (int i = 0; i < 6; i++)
    w->port[i] = input_of(w, i)->y >= 0 ? ga__find_port(&b->pattern, index, input_of(w, i)->y) : -1;
  return GA_OK;
}

/* ---- Evaluation ---- */

/* Force and torque at the marker, ground axes. */
static int at_marker(double F[3], double T[3], ga__frame *frame, const ga__eval *e, const ga__wrench *w)
{
  double value[6];
  for (int i = 0; i < 6; i++) {
    const int status = ga__input_value(e, input_of(w, i), &value[i]);
    if (status) return status;
  }
  ga__frame_at(frame, GA__AT(e->b->marker, ga__marker, w->marker), e->kin);
  if (w->in_body) {
    ga__mat3_mul_vec(F, frame->A, value);
    ga__mat3_mul_vec(T, frame->A, value + 3);
  } else {
    memcpy(F, value, 3 * sizeof *F);
    memcpy(T, value + 3, 3 * sizeof *T);
  }
  return 0;
}

/* (F, r × F + T) */
static void at_node(double wrench[6], const ga__frame *frame, const double F[3], const double T[3])
{
  memcpy(wrench, F, 3 * sizeof *F);
  ga__vec3_cross(wrench + 3, frame->r, F);
  for (int i = 0; i < 3; i++) wrench[3 + i] += T[i];
}

int ga__wrench_force(const ga__eval *e, const ga__wrench *w, double *f)
{
  int index;
  const ga__node *node = node_of(e->b, w, &index);
  ga__frame frame;
  double F[3], T[3], wrench[6];
  const int status = at_marker(F, T, &frame, e, w);
  if (status) return status;
  at_node(wrench, &frame, F, T);
  for (int c = 0; c < 6; c++)
    if (node->column[c] >= 0) f[node->v + node->column[c]] += wrench[c];
  return 0;
}

/* Columns of y: a unit force or torque along the axis of each input. */
static void add_ports(const ga__eval *e, const ga__wrench *w, const ga__frame *frame, double *D)
{
  static const double zero[3] = {0, 0, 0};
  double axis[3], wrench[6];
  for (int i = 0; i < 6; i++) {
    if (w->port[i] < 0) continue;
    for (int k = 0; k < 3; k++) axis[k] = w->in_body ? frame->A[3 * k + i % 3] : (k == i % 3);
    at_node(wrench, frame, i < 3 ? axis : zero, i < 3 ? zero : axis);
    ga__add_port(D, e->b, w->port[i], -1, wrench);
  }
}

/* Axes of the ground: δ(r × F) = F~ r~ δφ. Own axes: δF = −F~ δφ, and the torque likewise. */
int ga__wrench_jacobian(const ga__eval *e, const ga__wrench *w, ga_jacobian *J)
{
  ga__frame frame;
  double F[3], T[3], wrench[6], tile[9], skew_F[9], skew_r[9];
  const int status = at_marker(F, T, &frame, e, w);
  if (status) return status;
  if (J->want & GA_WANT_D) add_ports(e, w, &frame, J->D);
  if (!(J->want & GA_WANT_Q) || w->self < 0) return 0;
  if (w->in_body) {
    at_node(wrench, &frame, F, T);
    ga__mat3_skew(tile, 1, wrench);
    ga__add_tile(J->Q, e->b, w->self, GA__XR, 1, tile);
    ga__mat3_skew(tile, 1, wrench + 3);
    ga__add_tile(J->Q, e->b, w->self, GA__RR, 1, tile);
  } else {
    ga__mat3_skew(skew_F, 1, F);
    ga__mat3_skew(skew_r, 1, frame.r);
    ga__mat3_mul(tile, skew_F, skew_r);
    ga__add_tile(J->Q, e->b, w->self, GA__RR, -1, tile);
  }
  return 0;
}

int ga__wrench_power(const ga__eval *e, const ga__wrench *w, double *power)
{
  int index;
  ga__frame frame;
  double F[3], T[3], wrench[6];
  const int status = at_marker(F, T, &frame, e, w);
  *power = 0;
  if (status) return status;
  node_of(e->b, w, &index);
  at_node(wrench, &frame, F, T);
  for (int c = 0; c < 6; c++) *power += wrench[c] * e->kin[index].w[c];
  return 0;
}
