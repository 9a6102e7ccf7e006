/* Where everything is: movers, and the numbers that determine their poses. */
#include "mbs/element.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Movers: the nodes ---- */

int ga_machine_n_movers(const ga_machine *m)
{
  return m && m->model ? m->model->node.n : 0;
}

static ga_status check_index(const ga_machine *m, const char *function, int i)
{
  if (!m->model) return ga__refuse_order(m->ctx, function, GA__ONCE_BUILT);
  if (i >= 0 && i < m->model->node.n) return GA_OK;
  return ga__refuse(
      m->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
      &(ga__facts){.function = function, .field = "i", GA__NUMBERS({i, NULL}, {m->model->node.n, NULL})});
}

ga_status ga_machine_mover(const ga_machine *m, int i, ga_mover *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga_status status = check_index(m, __func__, i);
  if (status) return status;
  if (!out) return ga__refuse_null(m->ctx, __func__, "out");
  const ga__node *node = GA__AT(m->model->node, ga__node, i);
  const double *J = node->J;
  *out = (ga_mover){.part = m->part[node->part].name,
                    .number = node->number,
                    .has_pose = !node->scalar && !node->vector,
                    .planar = node->planar,
                    .point = i > 0 && !node->planar && !node->rigid && !node->carried,
                    .mass = node->mass,
                    .inertia = {J[0], J[4], J[8], J[1], J[2], J[5]}};
  return GA_OK;
}

ga_status ga_machine_mover_pose(const ga_machine *m, const ga_state *s, int i, ga_pose *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga_status status = check_index(m, __func__, i);
  if (status) return status;
  if (!s || !out) return ga__refuse_null(m->ctx, __func__, s ? "out" : "the state");
  const ga__mbs_model *b = m->model;
  const ga__node *node = GA__AT(b->node, ga__node, i);
  ga__kin kin = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (node->carried)
    ga__carried_pose(b, i, s->q, &kin);
  else if (i > 0 && !node->scalar && !node->vector)
    ga__kin_pose(node, s->q + node->q, &kin);
  memcpy(out->position, kin.x, sizeof kin.x);
  memcpy(out->rotation, kin.R, sizeof kin.R);
  return GA_OK;
}

/* ---- Places ---- */

/* Numbers that determine the pose of a node, or its coordinates of R^n. */
static int places_of(const ga__node *node)
{
  if (node->carried || node->scalar) return 0;
  return node->rigid ? 7 : node->n;
}

/* The frame by which a node is described: that of its part, or the node itself, where the part has several.
 */
static ga__marker frame_of(const ga__mbs_model *b, int index)
{
  const ga__node *node = GA__AT(b->node, ga__node, index);
  const int own = b->part_marker[node->part];
  if (b->part_node[node->part] == index && own >= 0) return *GA__AT(b->marker, ga__marker, own);
  return (ga__marker){.node = index, .A = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

int ga_machine_n_places(const ga_machine *m)
{
  int n = 0;
  for (int i = 1; m && m->model && i < m->model->node.n; i++)
    n += places_of(GA__AT(m->model->node, ga__node, i));
  return n;
}

int ga_machine_place_name(const ga_machine *m, int i, char *text, size_t size)
{
  static const char *const RIGID[] = {"x", "y", "z", "qw", "qx", "qy", "qz"}, *const PLANAR[] = {"x", "y",
                                                                                                 "angle"};
  const ga__mbs_model *b = m ? m->model : NULL;
  int k = 1, n = i;
  for (; b && n >= 0 && k < b->node.n; k++) {
    const int here = places_of(GA__AT(b->node, ga__node, k));
    if (n < here) break;
    n -= here;
  }
  if (!text) size = 0;
  if (size) text[0] = '\0';
  if (!b || n < 0 || k >= b->node.n) return 0;
  const ga__node *node = GA__AT(b->node, ga__node, k);
  const char *part = m->part[node->part].name;
  if (node->vector) return snprintf(text, size, "%s.amplitude%d", part, n + 1);
  const char *name = node->planar ? PLANAR[n] : RIGID[n];
  if (b->part_node[node->part] == k) return snprintf(text, size, "%s.%s", part, name);
  return snprintf(text, size, "%s.%s:%d", part, name, node->number);
}

/* The unit quaternion of a rotation, with a non-negative real part; Shepperd's method. */
static void to_quaternion(double q[4], const double R[9])
{
  const double trace = R[0] + R[4] + R[8];
  const double square[4] = {trace, 2 * R[0] - trace, 2 * R[4] - trace, 2 * R[8] - trace};
  int k = 0;
  for (int j = 1; j < 4; j++)
    if (square[j] > square[k]) k = j;
  const double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
  const double xy = R[3] + R[1], xz = R[2] + R[6], yz = R[7] + R[5];
  const double length = sqrt(1 + square[k]);
  const double row[4][4] = {{0, x, y, z}, {x, 0, xy, xz}, {y, xy, 0, yz}, {z, xz, yz, 0}};
  const double sign = k > 0 && row[k][0] < 0 ? -0.5 : 0.5;
  for (int j = 0; j < 4; j++) q[j] = sign * (j == k ? length : row[k][j] / length);
}

/* R of a quaternion of any length but 0; returns 0 where it has none. */
static int from_quaternion(double R[9], const double q[4])
{
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(square > 0.0) || !isfinite(square)) return 0;
  const double s = 2.0 / square, w = q[0], x = q[1], y = q[2], z = q[3];
  const double to[9] = {1 - s * (y * y + z * z), s * (x * y - w * z),     s * (x * z + w * y),
                        s * (x * y + w * z),     1 - s * (x * x + z * z), s * (y * z - w * x),
                        s * (x * z - w * y),     s * (y * z + w * x),     1 - s * (x * x + y * y)};
  memcpy(R, to, sizeof to);
  return 1;
}

/* p = x + R s, and the axes R A of the frame. */
static void read_place(const ga__mbs_model *b, int index, const double *q, double *out)
{
  const ga__node *node = GA__AT(b->node, ga__node, index);
  const ga__marker frame = frame_of(b, index);
  ga__kin kin;
  double offset[3], A[9];
  if (node->vector) {
    memcpy(out, q + node->q, (size_t)node->n * sizeof *out);
    return;
  }
  ga__kin_pose(node, q + node->q, &kin);
  ga__mat3_mul_vec(offset, kin.R, frame.s);
  for (int i = 0; i < (node->planar ? 2 : 3); i++) out[i] = kin.x[i] + offset[i];
  if (node->planar) out[2] = q[node->q + 2];
  if (!node->rigid) return;
  ga__mat3_mul(A, kin.R, frame.A);
  to_quaternion(out + 3, A);
}

/* The inverse: R = A_frame Aᵀ, x = p − R s. */
static void write_place(const ga__mbs_model *b, int index, const double *in, double *q)
{
  const ga__node *node = GA__AT(b->node, ga__node, index);
  const ga__marker frame = frame_of(b, index);
  double A[9], back[9], R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, offset[3], *to = q + node->q;
  for (int i = 0; i < places_of(node); i++)
    if (!isfinite(in[i])) return;
  if (node->vector) {
    memcpy(to, in, (size_t)node->n * sizeof *to);
    return;
  }
  if (node->rigid) {
    if (!from_quaternion(A, in + 3)) return;
    ga__mat3_transpose(back, frame.A);
    ga__mat3_mul(R, A, back);
    memcpy(to + 3, R, sizeof R);
  }
  if (node->planar) {
    const double c = cos(in[2]), s = sin(in[2]);
    R[0] = R[4] = c, R[1] = -s, R[3] = s;
    to[2] = in[2];
  }
  ga__mat3_mul_vec(offset, R, frame.s);
  for (int i = 0; i < (node->planar ? 2 : 3); i++) to[i] = in[i] - offset[i];
}

ga_status ga_machine_places(const ga_machine *m, const ga_state *s, double *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || !out) return ga__refuse_null(m->ctx, __func__, s ? "out" : "the state");
  const ga__mbs_model *b = m->model;
  for (int i = 1; i < b->node.n; i++) {
    const int n = places_of(GA__AT(b->node, ga__node, i));
    if (n > 0) read_place(b, i, s->q, out);
    out += n;
  }
  return GA_OK;
}

ga_status ga_machine_from_places(const ga_machine *m, const double *places, double *q)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!places || !q) return ga__refuse_null(m->ctx, __func__, places ? "q" : "places");
  const ga__mbs_model *b = m->model;
  for (int i = 1; i < b->node.n; i++) {
    const int n = places_of(GA__AT(b->node, ga__node, i));
    if (n > 0) write_place(b, i, places, q);
    places += n;
  }
  return GA_OK;
}
