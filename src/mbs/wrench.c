/* Forces and torques at a marker, given by inputs. With r from the node's origin to the marker's, in ground
 * axes, the wrench on the node is
 *
 *   (F, r × F + T)
 *
 * r rotates with the node; F and T do so too if they are given in the marker's axes. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/selected.h"
#include "mbs/smooth.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Data of the element. */
typedef struct wrench {
  int part, marker;
  int in_body;
  ga__input force[3], torque[3];
  int self;    /* pair of the node with itself */
  int port[6]; /* −1: none */
} wrench;

enum { ROTATIONS = GA__RX | GA__RY | GA__RZ };

static const ga__node *node_of(const ga__mbs_model *b, const wrench *w, int *index)
{
  *index = GA__AT(b->marker, ga__marker, w->marker)->node;
  return GA__AT(b->node, ga__node, *index);
}

static const ga__input *input_of(const wrench *w, int i)
{
  return i < 3 ? &w->force[i] : &w->torque[i - 3];
}

/* ---- Building ---- */

static ga_status check_torque(ga_machine *m, const ga__mbs_model *b, const wrench *w, const char *frame)
{
  int index, any = 0;
  const ga__node *node = node_of(b, w, &index);
  for (int i = 0; i < 3; i++)
    if (w->torque[i].value != 0 || w->torque[i].function || w->torque[i].y >= 0) any = 1;
  if (!any || index == 0 || node->has & ROTATIONS) return GA_OK;
  return ga__refuse_part(m->ctx, &m->part[w->part], GA_ERR_ARGUMENT, GA_REASON_TORQUE_ON_POINT,
                         (ga__facts){.name = frame});
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__part *asking = &m->part[part];
  const ga_force_def *def = asking->def;
  const ga__element *el = ga__element_add(m, b, part, &ga__wrench_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  wrench *w = el->data;
  w->part = part;
  w->in_body = def->axes == GA_AXES_BODY;
  ga_status status = ga__resolve_frame(m, b, asking, "frame", def->frame, &w->marker);
  for (int i = 0; i < 3 && !status; i++) {
    status = ga__resolve_input(m, b, asking, "force", &def->force[i], &w->force[i]);
    if (!status) status = ga__resolve_input(m, b, asking, "torque", &def->torque[i], &w->torque[i]);
    status = ga__name_item(m->ctx, status, i, NULL);
  }
  return status ? status : check_torque(m, b, w, def->frame);
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const wrench *w = el->data;
  int index;
  const ga__node *node = node_of(b, w, &index);
  unsigned tiles = 0;
  if (node->has & ROTATIONS) tiles = 1u << GA__RR | (w->in_body ? 1u << GA__XR : 0u);
  ga_status status = ga__want_pair(&b->pattern, index, index, tiles, tiles);
  for (int i = 0; i < 6 && !status; i++)
    if (input_of(w, i)->y >= 0)
      status = ga__want_port(&b->pattern, index, ga__column_y(b, input_of(w, i)->y));
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  wrench *w = el->data;
  int index;
  node_of(b, w, &index);
  w->self = ga__find_pair(&b->pattern, index, index);
  for (int i = 0; i < 6; i++)
    w->port[i] =
        input_of(w, i)->y >= 0 ? ga__find_port(&b->pattern, index, ga__column_y(b, input_of(w, i)->y)) : -1;
  return GA_OK;
}

/* ---- Evaluation ---- */

/* Force and torque at the marker, ground axes. */
static int at_marker(double F[3], double T[3], ga__frame *frame, const ga__eval *e, const wrench *w)
{
  const double load = ga__load_factor(e);
  double value[6];
  for (int i = 0; i < 6; i++) {
    const int status = ga__input_value(e, input_of(w, i), &value[i]);
    if (status) return status;
    if (input_of(w, i)->y < 0) value[i] *= load;
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
static void at_node(double six[6], const ga__frame *frame, const double F[3], const double T[3])
{
  memcpy(six, F, 3 * sizeof *F);
  ga__vec3_cross(six + 3, frame->r, F);
  for (int i = 0; i < 3; i++) six[3 + i] += T[i];
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const wrench *w = el->data;
  int index;
  const ga__node *node = node_of(e->b, w, &index);
  ga__frame frame;
  double F[3], T[3], six[6];
  const int status = at_marker(F, T, &frame, e, w);
  if (status) return status;
  at_node(six, &frame, F, T);
  ga__add_six(f + node->v, node, 1, six);
  return 0;
}

/* Derivatives by y: a unit force or torque along the axis of each input. */
static void add_ports(const ga__eval *e, const wrench *w, const ga__frame *frame, double *D)
{
  static const double zero[3] = {0, 0, 0};
  double axis[3], six[6];
  for (int i = 0; i < 6; i++) {
    if (w->port[i] < 0) continue;
    for (int k = 0; k < 3; k++) axis[k] = w->in_body ? frame->A[3 * k + i % 3] : (k == i % 3);
    at_node(six, frame, i < 3 ? axis : zero, i < 3 ? zero : axis);
    ga__add_port(D, e->b, w->port[i], -1, six);
  }
}

/* Axes of the ground: δ(r × F) = F~ r~ δφ. Own axes: δF = −F~ δφ, and the torque likewise. */
static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const wrench *w = el->data;
  ga__frame frame;
  double F[3], T[3], six[6], tile[9], skew_F[9], skew_r[9];
  if (!ga__wants_forces(J)) return 0;
  const int status = at_marker(F, T, &frame, e, w);
  if (status) return status;
  if (J->want & GA_WANT_D) add_ports(e, w, &frame, J->D);
  if (!(J->want & GA_WANT_Q) || w->self < 0) return 0;
  if (w->in_body) {
    at_node(six, &frame, F, T);
    ga__mat3_skew(tile, 1, six);
    ga__add_tile(J->Q, e->b, w->self, GA__XR, 1, tile);
    ga__mat3_skew(tile, 1, six + 3);
    ga__add_tile(J->Q, e->b, w->self, GA__RR, 1, tile);
  } else {
    ga__mat3_skew(skew_F, 1, F);
    ga__mat3_skew(skew_r, 1, frame.r);
    ga__mat3_mul(tile, skew_F, skew_r);
    ga__add_tile(J->Q, e->b, w->self, GA__RR, -1, tile);
  }
  return 0;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const wrench *w = el->data;
  int index;
  ga__frame frame;
  double F[3], T[3], six[6], power = 0;
  const int status = at_marker(F, T, &frame, e, w);
  if (status) return status;
  node_of(e->b, w, &index);
  at_node(six, &frame, F, T);
  for (int c = 0; c < 6; c++) power += six[c] * e->kin[index].w[c];
  out->in += power;
  return 0;
}

/* ---- Signals: force and torque at the marker, ground axes ---- */

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 6;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  (void)b;
  ga__signal_set_reaction(out, i, GA__PROBE_ELEMENT);
  out->probe.owner = part;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  ga__frame frame;
  double F[3] = {0, 0, 0}, T[3] = {0, 0, 0};
  const int status = at_marker(F, T, &frame, e, el->data);
  *out = status ? NAN : i < 3 ? F[i] : T[i - 3];
  return status;
}

static int is_zero(const wrench *w, int i)
{
  const ga__input *in = input_of(w, i);
  return in->value == 0.0 && !in->function && in->y < 0;
}

/* 0 in all motions; others change with the load of a static equilibrium. */
static int never_changes(const ga__element *el, int i)
{
  const wrench *w = el->data;
  const int first = i < 3 ? 0 : 3;
  return w->in_body ? is_zero(w, first) && is_zero(w, first + 1) && is_zero(w, first + 2) : is_zero(w, i);
}

/* ---- The kind ---- */

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  wrench *w = el->data;
  *f = NULL;
  *in = i < 3 ? &w->force[i] : &w->torque[i - 3];
  return i < 6;
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  const wrench *w = el->data;
  (void)b;
  for (int i = 0; i < 6; i++)
    if (input_of(w, i)->y == y) return ga__motion_unit(i >= 3, GA_UNIT_FORCE);
  return "";
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) != NULL;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_ARROW,
                       .a = ((const wrench *)ga__element_of(b, part)->data)->marker,
                       .b = -1,
                       .size = 0};
}

static int same(const ga__comparison *c, const ga__element *a, const ga__element *b)
{
  const wrench *x = a->data, *y = b->data;
  if (x->marker != y->marker || c->marker[x->marker] || x->in_body != y->in_body) return 0;
  for (int i = 0; i < 6; i++)
    if (!ga__same_input(input_of(x, i), input_of(y, i))) return 0;
  return 1;
}

const ga__element_type ga__wrench_type = {
    .rank = GA__RANK_WRENCH,
    .no_twists = 1,
    .no_accelerations = 1,
    .size = sizeof(wrench),
    .same = same,
    .create = {[GA__CREATE_FORCES] = create},
    .want = want,
    .bind = bind,
    .force = force,
    .jacobian = jacobian,
    .powers = powers,
    .get_input = get_input,
    .is_smooth = ga__always_smooth,
    .unit_of_input = unit_of_input,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .never_changes = never_changes,
    .n_shapes = n_shapes,
    .shape = shape,
};
