/* Nodes: coordinates and motion of bodies; body.c has their inertia. */
#include "mbs/carried.h"
#include "mbs/channel.h"
#include "mbs/element.h"
#include "mbs/form.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

static const double IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- From parts ---- */

static void set_columns(ga__node *node, unsigned has)
{
  node->has = has;
  node->n = 0;
  for (int c = 0; c < 6; c++) node->column[c] = has >> c & 1u ? node->n++ : -1;
}

/* Grows b->kin with the list of nodes. */
static ga_status grow_kin(ga_machine *m, ga__mbs_model *b)
{
  if (b->kin && b->node.n <= b->kin_room) return GA_OK;
  ga__kin *kin = ga__alloc(m->ctx, (size_t)b->node.capacity, sizeof *kin);
  if (!kin) return ga__no_memory(m->ctx, "a machine");
  ga__free(m->ctx, b->kin);
  b->kin = kin;
  b->kin_room = b->node.capacity;
  return GA_OK;
}

static ga__node *add_node(ga_machine *m, ga__mbs_model *b, int part, unsigned has)
{
  ga__node *node = ga__list_add(m->ctx, &b->node);
  if (!node || grow_kin(m, b)) return NULL;
  node->part = part;
  node->self = -1;
  set_columns(node, has);
  return node;
}

/* The marker of the body's own frame; com: centre of mass in this frame. */
static ga_status add_own_marker(ga_machine *m, ga__mbs_model *b, int part, int node, const double com[3])
{
  ga__marker *marker = ga__list_add(m->ctx, &b->marker);
  if (!marker) return GA_ERR_MEMORY;
  marker->node = node;
  for (int i = 0; i < 3; i++) marker->s[i] = -com[i];
  memcpy(marker->A, IDENTITY, sizeof IDENTITY);
  b->part_node[part] = node;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

static ga_status add_rigid(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_rigid_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__ALL6);
  if (!node) return GA_ERR_MEMORY;
  const double *I = d->inertia, J[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  double offset[3], *R = node->q0 + 3, *w = node->v0;
  node->rigid = 1;
  node->mass = d->mass;
  memcpy(node->J, J, sizeof J);
  memcpy(node->com, d->com, sizeof d->com);
  memcpy(R, d->pose.rotation, sizeof d->pose.rotation);
  ga__mat3_mul_vec(offset, R, d->com);
  if (d->omega_in_body)
    ga__mat3_mul_vec(w + 3, R, d->omega);
  else
    memcpy(w + 3, d->omega, sizeof d->omega);
  ga__vec3_cross(w, w + 3, offset);
  for (int i = 0; i < 3; i++) {
    node->q0[i] = d->pose.position[i] + offset[i];
    w[i] += d->velocity[i];
  }
  return add_own_marker(m, b, part, b->node.n - 1, d->com);
}

static ga_status add_planar(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_planar_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX | GA__PY | GA__RZ);
  if (!node) return GA_ERR_MEMORY;
  double c = cos(d->angle), s = sin(d->angle);
  double ox = c * d->com[0] - s * d->com[1], oy = s * d->com[0] + c * d->com[1];
  node->planar = 1;
  node->mass = d->mass;
  node->J[8] = d->inertia;
  node->z = d->z;
  node->com[0] = d->com[0], node->com[1] = d->com[1];
  node->q0[0] = d->position[0] + ox, node->q0[1] = d->position[1] + oy, node->q0[2] = d->angle;
  node->v0[0] = d->velocity[0] - d->rate * oy;
  node->v0[1] = d->velocity[1] + d->rate * ox;
  node->v0[5] = d->rate;
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

static ga_status add_point(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_point_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX | GA__PY | GA__PZ);
  if (!node) return GA_ERR_MEMORY;
  node->mass = d->mass;
  memcpy(node->q0, d->position, sizeof d->position);
  memcpy(node->v0, d->velocity, sizeof d->velocity);
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

static ga_status add_scalar(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_scalar_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX);
  if (!node) return GA_ERR_MEMORY;
  node->scalar = 1;
  node->mass = d->mass;
  node->q0[0] = d->position;
  node->v0[0] = d->velocity;
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

ga_status ga__node_add_scalar(ga_machine *m, ga__mbs_model *b, int part, int *marker)
{
  ga__node *node = add_node(m, b, part, GA__PX);
  ga__marker *own = node ? ga__list_add(m->ctx, &b->marker) : NULL;
  if (!own) return GA_ERR_MEMORY;
  node->scalar = 1;
  own->node = b->node.n - 1;
  memcpy(own->A, IDENTITY, sizeof IDENTITY);
  *marker = b->marker.n - 1;
  return GA_OK;
}

ga_status ga__node_add_rigid(ga_machine *m, ga__mbs_model *b, int part, double mass, const double J[9],
                             const double x[3], const double R[9], int *index)
{
  ga__node *node = add_node(m, b, part, GA__ALL6);
  if (!node) return GA_ERR_MEMORY;
  *index = b->node.n - 1;
  node->rigid = 1;
  node->mass = mass;
  memcpy(node->J, J, sizeof node->J);
  memcpy(node->q0, x, 3 * sizeof *x);
  memcpy(node->q0 + 3, R, 9 * sizeof *R);
  return GA_OK;
}

ga_status ga__node_add_point(ga_machine *m, ga__mbs_model *b, int part, double mass, const double x[3],
                             int *index)
{
  ga__node *node = add_node(m, b, part, GA__PX | GA__PY | GA__PZ);
  if (!node) return GA_ERR_MEMORY;
  *index = b->node.n - 1;
  node->mass = mass;
  memcpy(node->q0, x, 3 * sizeof *x);
  return GA_OK;
}

ga_status ga__node_add_vector(ga_machine *m, ga__mbs_model *b, int part, int n, const double *q,
                              const double *v, int *index)
{
  ga__node *node = add_node(m, b, part, 0);
  if (!node) return GA_ERR_MEMORY;
  *index = b->node.n - 1;
  node->vector = 1;
  node->n = n;
  node->own = ga__alloc(m->ctx, 4 * (size_t)n, sizeof *node->own);
  if (!node->own) return ga__no_memory(m->ctx, "coordinates of an element");
  for (int i = 0; i < n; i++) {
    node->own[i] = node->own[2 * n + i] = q ? q[i] : 0.0;
    node->own[n + i] = node->own[3 * n + i] = v ? v[i] : 0.0;
  }
  return GA_OK;
}

ga_status ga__node_add_carried(ga_machine *m, ga__mbs_model *b, int part, int frame, int *index)
{
  ga__node *node = add_node(m, b, part, GA__ALL6);
  if (!node) return GA_ERR_MEMORY;
  *index = b->node.n - 1;
  node->carried = frame + 1;
  return GA_OK;
}

/* A marker on a deformable part, which creates its frame. */
static ga_status add_placed(ga_machine *m, ga__mbs_model *b, int part, int on)
{
  const ga_marker_def *d = m->part[part].def;
  ga__marker made = {.node = 0};
  ga_status status = ga__type_of(&m->part[on])->place(m, b, on, &d->pose, &made);
  if (status == GA_ERR_ARGUMENT) ga__error_set_part(m->ctx, &m->part[part]);
  ga__marker *marker = status ? NULL : ga__list_add(m->ctx, &b->marker);
  if (!marker) return status ? status : GA_ERR_MEMORY;
  *marker = made;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

/* A marker on a body or on another marker; depth detects circles. */
static ga_status add_marker(ga_machine *m, ga__mbs_model *b, int part, int depth)
{
  const ga__part *asking = &m->part[part];
  const ga_marker_def *d = asking->def;
  if (b->part_marker[part] >= 0) return GA_OK;
  int on = ga__find_part(m, d->body);
  if (depth > m->n_parts)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_MARKER_LOOP,
                      &(ga__facts){.kind = "marker", .part = d->name, .field = "body", .name = d->body});
  if (on >= 0 && ga__type_of(&m->part[on]) == &ga__marker_type) {
    ga_status status = add_marker(m, b, on, depth + 1);
    if (status) return status;
  }
  const ga__element_type *type = on < 0 ? NULL : ga__type_of(&m->part[on]);
  if (type && type->place) return add_placed(m, b, part, on);
  if (on < 0 || !ga__has_frame(b, on))
    return ga__refuse_unknown(m, asking, "body", d->body, "a body or marker");
  ga__marker base = *GA__AT(b->marker, ga__marker, b->part_marker[on]);
  ga__marker *marker = ga__list_add(m->ctx, &b->marker);
  if (!marker) return GA_ERR_MEMORY;
  marker->node = base.node;
  ga__mat3_mul_vec(marker->s, base.A, d->pose.position);
  for (int i = 0; i < 3; i++) marker->s[i] += base.s[i];
  ga__mat3_mul(marker->A, base.A, d->pose.rotation);
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

static ga_status create_marker(ga_machine *m, ga__mbs_model *b, int part)
{
  return add_marker(m, b, part, 0);
}

static ga_status add_ground(ga_machine *m, ga__mbs_model *b, int part)
{
  static const double origin[3] = {0, 0, 0};
  return add_node(m, b, part, 0) ? add_own_marker(m, b, part, 0, origin) : GA_ERR_MEMORY;
}

void ga__nodes_keep_given(ga__mbs_model *b)
{
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = GA__AT(b->node, ga__node, i);
    memcpy(node->q_given, node->q0, sizeof node->q0);
    memcpy(node->v_given, node->v0, sizeof node->v0);
  }
}

void ga__node_get_initial(const ga__node *node, double *q, double *v)
{
  if (node->carried) return;
  memcpy(q + node->q, node->vector ? node->own : node->q0, ga__node_n_q(node) * sizeof *q);
  for (int i = 0; node->vector && i < node->n; i++) v[node->v + i] = node->own[node->n + i];
  for (int c = 0; c < 6; c++)
    if (node->column[c] >= 0) v[node->v + node->column[c]] = node->v0[c];
}

void ga__node_set_initial(ga__node *node, const double *q, const double *v)
{
  if (node->carried) return;
  memcpy(node->vector ? node->own : node->q0, q + node->q, ga__node_n_q(node) * sizeof *q);
  for (int i = 0; v && node->vector && i < node->n; i++) node->own[node->n + i] = v[node->v + i];
  for (int c = 0; v && c < 6; c++)
    if (node->column[c] >= 0) node->v0[c] = v[node->v + node->column[c]];
}

const ga__node *ga__node_with(const ga__mbs_model *b, int v)
{
  int low = 0, high = b->node.n - 1;
  while (b->carried.n == 0 && low < high) { /* the last node that begins at or before v */
    const int middle = (low + high + 1) / 2;
    if (GA__AT(b->node, ga__node, middle)->v <= v)
      low = middle;
    else
      high = middle - 1;
  }
  for (int i = 1; b->carried.n > 0 && i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (v >= node->v && v < node->v + node->n) low = i;
  }
  return GA__AT(b->node, ga__node, low);
}

/* ---- Motion ---- */

static void planar_kin(ga__kin *k, const ga__node *node, const double *q)
{
  double c = cos(q[2]), s = sin(q[2]);
  const double R[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  k->x[0] = q[0], k->x[1] = q[1], k->x[2] = node->z;
  memcpy(k->R, R, sizeof R);
  k->angle = q[2];
}

static void spread(double six[6], const ga__node *node, const double *v)
{
  for (int c = 0; c < 6; c++) six[c] = node->column[c] >= 0 ? v[node->v + node->column[c]] : 0.0;
}

void ga__kin_other(const ga__node *node, const double *q, const double *v, const double *vdot, ga__kin *k)
{
  const double *at = q + node->q;
  if (node->vector || node->carried) return;
  if (node->planar)
    planar_kin(k, node, at);
  else
    for (int c = 0; c < node->n; c++) k->x[c] = at[c];
  if (v) spread(k->w, node, v);
  if (vdot) spread(k->acc, node, vdot);
}

void ga__kin_nodes(const ga__mbs_model *b, const double *q, const double *v, const double *vdot, ga__kin *kin)
{
  const double *velocity = b->form ? NULL : v, *acceleration = b->form ? NULL : vdot;
  for (int i = 0; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->rigid)
      ga__kin_rigid(node, q, velocity, acceleration, &kin[i]);
    else
      ga__kin_other(node, q, v, vdot, &kin[i]);
  }
  if (b->form && v) ga__form_kin(b, v, vdot, kin);
}

void ga__kin_at(const ga__mbs_model *b, const double *q, const double *v, const double *vdot, ga__kin *kin)
{
  ga__kin_nodes(b, q, v, vdot, kin);
  if (b->carried.n) ga__carried_kin(b, q, v, vdot, kin);
}

void ga__kin_pose(const ga__node *node, const double q[12], ga__kin *k)
{
  memset(k, 0, sizeof *k);
  memcpy(k->R, IDENTITY, sizeof IDENTITY);
  if (node->rigid) memcpy(k->R, q + 3, sizeof k->R);
  if (node->planar)
    planar_kin(k, node, q);
  else
    memcpy(k->x, q, sizeof k->x);
}

void ga__node_pose(const ga__mbs_model *b, int index, const double *q, ga_pose *pose)
{
  const ga__node *node = GA__AT(b->node, ga__node, index);
  ga__kin kin;
  ga__kin_pose(node, q + node->q, &kin);
  memcpy(pose->position, kin.x, sizeof kin.x);
  memcpy(pose->rotation, kin.R, sizeof kin.R);
}

void ga__marker_pose(const ga__mbs_model *b, int marker, const double *q, ga_pose *pose)
{
  ga__marker at = *GA__AT(b->marker, ga__marker, marker);
  const ga__node *node = GA__AT(b->node, ga__node, at.node);
  ga__kin kin[2]; /* only its own node, as node 1; that of the ground is not read */
  ga__frame f;
  if (node->carried)
    ga__carried_pose(b, at.node, q, &kin[1]);
  else if (at.node > 0)
    ga__kin_pose(node, q + node->q, &kin[1]);
  if (at.node > 0) at.node = 1;
  ga__frame_at(&f, &at, kin);
  memcpy(pose->position, f.p, sizeof pose->position);
  memcpy(pose->rotation, f.A, sizeof pose->rotation);
}

void ga__kin_initial(const ga__mbs_model *b, int i, ga__kin *kin)
{
  const ga__node *node = GA__AT(b->node, ga__node, i);
  if (node->carried) {
    ga__carried_initial(b, i, kin);
    return;
  }
  ga__kin_pose(node, node->q0, &kin[i]);
  memcpy(kin[i].w, node->v0, sizeof kin[i].w);
}

/* Evaluates a gauge at the initial values; overwrites the motion of its nodes in b->kin. */
static void eval_initial(const ga__mbs_model *b, int gauge, ga__gauge_eval *s)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  const ga__marker *marker = b->marker.at;
  ga__kin_initial(b, marker[g->a].node, b->kin);
  ga__kin_initial(b, marker[g->b].node, b->kin);
  ga__gauge_eval_at(s, g, marker, b->kin);
}

double ga__gauge_initial(const ga__mbs_model *b, int gauge)
{
  ga__gauge_eval s;
  eval_initial(b, gauge, &s);
  return ga__gauge_value(&s);
}

double ga__gauge_initial_rate(const ga__mbs_model *b, int gauge)
{
  ga__gauge_eval s;
  double g[12], rate = 0.0;
  eval_initial(b, gauge, &s);
  ga__gauge_gradient(g, &s);
  for (int i = 0; i < 6; i++) rate += g[i] * b->kin[s.a.node].w[i] + g[6 + i] * b->kin[s.b.node].w[i];
  return rate;
}

/* ---- Signals of frames, as many as their kind has ---- */

static const struct {
  const char *name, *unit;
  ga__probe_kind kind;
  int component;
} SIGNAL[] = {
    {"x", "m", GA__PROBE_POSITION, 0},
    {"y", "m", GA__PROBE_POSITION, 1},
    {"z", "m", GA__PROBE_POSITION, 2},
    {"vx", "m/s", GA__PROBE_VELOCITY, 0},
    {"vy", "m/s", GA__PROBE_VELOCITY, 1},
    {"vz", "m/s", GA__PROBE_VELOCITY, 2},
    {"ax", "m/s^2", GA__PROBE_ACCELERATION, 0},
    {"ay", "m/s^2", GA__PROBE_ACCELERATION, 1},
    {"az", "m/s^2", GA__PROBE_ACCELERATION, 2},
    {"wx", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 0},
    {"wy", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 1},
    {"wz", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 2},
    {"roll", "rad", GA__PROBE_EULER, 0},
    {"pitch", "rad", GA__PROBE_EULER, 1},
    {"yaw", "rad", GA__PROBE_EULER, 2},
    {"qw", "", GA__PROBE_QUATERNION, 0},
    {"qx", "", GA__PROBE_QUATERNION, 1},
    {"qy", "", GA__PROBE_QUATERNION, 2},
    {"qz", "", GA__PROBE_QUATERNION, 3},
    {"angle", "rad", GA__PROBE_ANGLE, 0},
};
enum { OF_POINT = 9, OF_MARKER = 15, OF_RIGID = 19, OF_PLANAR = 20 };

int ga__n_rigid_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return OF_RIGID;
}

static int planar_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return OF_PLANAR;
}

int ga__n_point_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return OF_POINT;
}

static const ga__node *node_of_marker(const ga__mbs_model *b, int part, int *index)
{
  *index = GA__AT(b->marker, ga__marker, b->part_marker[part])->node;
  return GA__AT(b->node, ga__node, *index);
}

static int motions_of_marker(const ga__node *node)
{
  return node->has && !(node->has >> 3) ? OF_POINT : OF_MARKER;
}

/* Signals of its motion, then those of the part at its node. */
static int marker_signals(const ga__mbs_model *b, int part)
{
  int index;
  const ga__node *node = node_of_marker(b, part, &index);
  const ga__element_type *type = ga__type_of(&b->m->part[node->part]);
  return motions_of_marker(node) + (type->n_node_signals ? type->n_node_signals(b, node->part) : 0);
}

void ga__frame_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  ga__signal_set(out, SIGNAL[i].name, SIGNAL[i].unit, SIGNAL[i].kind, SIGNAL[i].component);
  out->probe.of = b->part_marker[part];
}

static void marker_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  int index;
  const ga__node *node = node_of_marker(b, part, &index);
  const int motions = motions_of_marker(node);
  if (i < motions)
    ga__frame_signal(b, part, i, out);
  else
    ga__type_of(&b->m->part[node->part])->node_signal(b, node->part, index, i - motions, out);
}

/* ---- The kinds ---- */

static int one_shape(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 1;
}

static void frame_shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_FRAME, .a = b->part_marker[part], .b = -1, .size = 0};
}

static void point_shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_POINT, .a = b->part_marker[part], .b = -1, .size = 0};
}

/* A line from the frame of its body; on the ground and on deformable parts a frame. */
static void marker_shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const int marker = b->part_marker[part];
  const ga__node *node = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker)->node);
  const int body = b->part_marker[node->part];
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_LINE, .a = body, .b = marker, .size = 0};
  if (node->part == 0 || body < 0)
    *out = (ga__drawing){.kind = GA_SHAPE_FRAME, .a = marker, .b = -1, .size = 0};
}

const ga__element_type ga__ground_type = {
    .create = {[GA__CREATE_BODIES] = add_ground},
    .n_shapes = one_shape,
    .shape = frame_shape,
};
const ga__element_type ga__rigid_type = {
    .create = {[GA__CREATE_BODIES] = add_rigid},
    .n_signals = ga__n_rigid_signals,
    .signal = ga__frame_signal,
    .n_shapes = one_shape,
    .shape = frame_shape,
};
const ga__element_type ga__planar_type = {
    .create = {[GA__CREATE_BODIES] = add_planar},
    .n_signals = planar_signals,
    .signal = ga__frame_signal,
    .n_shapes = one_shape,
    .shape = frame_shape,
};
const ga__element_type ga__point_type = {
    .create = {[GA__CREATE_BODIES] = add_point},
    .n_signals = ga__n_point_signals,
    .signal = ga__frame_signal,
    .n_shapes = one_shape,
    .shape = point_shape,
};
const ga__element_type ga__marker_type = {
    .create = {[GA__CREATE_MARKERS] = create_marker},
    .n_signals = marker_signals,
    .signal = marker_signal,
    .n_shapes = one_shape,
    .shape = marker_shape,
};
/* Its coordinate is created in joint.c, like those of joints. */
const ga__element_type ga__scalar_type = {
    .is_coordinate = 1,
    .is_signal = 1,
    .create = {[GA__CREATE_BODIES] = add_scalar, [GA__CREATE_JOINTS] = ga__scalar_coordinate},
    .n_signals = ga__joint_n_signals,
    .signal = ga__joint_signal,
    .complete_signal = ga__joint_complete_signal};
