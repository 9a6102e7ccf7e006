/* Assembly: initial positions and velocities of bodies, from initial values of joints and bodies that are
 * held.
 *
 * Bodies are the vertices and joints the edges of a graph; a part of several nodes, as a beam, is moved as
 * one. Along a spanning tree, from the ground and from held bodies outwards, each body is placed so that the
 * joint to its parent has the given coordinates. Bodies behind joints without given coordinates move rigidly
 * with their parent. Loops are then closed by the core on an auxiliary system: the machine's constraints and
 * one row for each given value. Given coordinates are approached in small moves, so that a mechanism stays on
 * its branch. Velocities are treated in the same way, once positions are known. Where nothing is given except
 * that drives start with speeds, positions stay as given, and bodies that are given at rest get the
 * velocities that the drives impose. */
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/parts.h"
#include "mbs/servo.h"
#include "mbs/slider.h"
#include "mbs/workspace.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLOSED 1e-13 /* largest |Φ| of positions that are consistent to rounding */
#define LARGEST_MOVE                                                                                         \
  0.1 /* [rad], or relative to the size of the machine: largest move between closings of loops */
enum { MOST_MOVES = 200 };

/* ---- What is given ---- */

static ga_hold hold_of(const ga__part *part)
{
  const ga_hold *hold = ga__part_member(part, "hold", NULL);
  return hold ? *hold : GA_HOLD_NONE;
}

static double weight_of(const ga__part *part)
{
  const double *weight = ga__part_member(part, "weight", NULL);
  return weight ? *weight : 1.0;
}

static int holds(const ga__part *part, int rate)
{
  const ga_hold hold = hold_of(part);
  return hold == GA_HOLD_BOTH || hold == (rate ? GA_HOLD_VELOCITY : GA_HOLD_POSE);
}

static double given_of(const ga_machine *m, const ga__joint *joint, int c, int rate)
{
  return ga__given_coordinate(&m->part[joint->part], joint->coordinate[c].info, rate);
}

static int is_given(const ga_machine *m, const ga__joint *joint, int rate)
{
  for (int c = 0; c < joint->n_coordinates; c++)
    if (!isnan(given_of(m, joint, c, rate))) return 1;
  return 0;
}

/* Bits of what the parts of a machine give: 1 a coordinate, 2 a rate, 4 a held pose, 8 velocities,
 * 16 a weight, 32 a nonzero initial speed of a drive, 64 a slider that is nearly on its part. Those in ASKED
 * must be met, or the machine is refused here. */
enum {
  GIVES_VALUE = 1,
  GIVES_RATE = 2,
  HOLDS_POSE = 4,
  HOLDS_VELOCITY = 8,
  GIVES_WEIGHT = 16,
  GIVES_SPEED = 32,
  GIVES_GAP = 64,
  ASKED = GIVES_VALUE | GIVES_RATE | HOLDS_POSE | HOLDS_VELOCITY
};

static int begins_with_speed(const ga_machine *m, const ga__part *part)
{
  ga__prescribed drive;
  double target[2];
  ga_fault fault;
  if (ga__servo_initial_speed(m, part, target)) return target[0] != 0.0;
  return ga__prescribed_by(part, &drive) &&
         !ga_function_eval(drive.function, m->opts.t_start, 1, target, &fault) && target[1] != 0.0;
}

static int what_is_given(const ga_machine *m)
{
  int all = 0;
  for (int i = 1; i < m->n_parts; i++) {
    const ga__part *part = &m->part[i];
    if (holds(part, 0)) all |= HOLDS_POSE;
    if (holds(part, 1)) all |= HOLDS_VELOCITY;
    if (weight_of(part) != 1.0) all |= GIVES_WEIGHT;
    if (begins_with_speed(m, part)) all |= GIVES_SPEED;
    const ga__element_type *type = ga__type_of(part);
    for (int rate = 0; type->has_initial_values && rate < 2; rate++)
      if (type->has_initial_values(part, rate)) all |= rate ? GIVES_RATE : GIVES_VALUE;
  }
  return all;
}

/* ---- The tree ---- */

typedef struct edge {
  int joint;         /* −1: none, both are nodes of one part, which moves rigidly */
  int parent, child; /* nodes */
} edge;

typedef struct tree {
  ga_context *ctx;
  int n_nodes;             /* those that follow coordinates of constraints come later */
  int n_joints;            /* between frames, and scalars; drives and gears come later */
  int n_edges, n_followed; /* edges; edges with a joint */
  int loops;               /* 1: there may be loops to close */
  edge *edge;              /* in an order in which parents are placed first */
  double *value;           /* [3 joints] target coordinates */
  double *turned;          /* [nodes] [rad] rotation of planar bodies */
  int *moved;              /* [nodes] */
  ga__kin *before;         /* [nodes] */
} tree;

static const ga__joint *joint_at(const ga__mbs_model *b, int j)
{
  return GA__AT(b->joint, ga__joint, j);
}

static ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static int node_of(const ga__mbs_model *b, int marker)
{
  return GA__AT(b->marker, ga__marker, marker)->node;
}

static void tree_free(tree *t)
{
  if (!t->ctx) return;
  void *const blocks[] = {t->edge, t->value, t->turned, t->moved, t->before};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(t->ctx, blocks[i]);
  *t = (tree){.ctx = NULL};
}

/* Joints with given values come first, those that leave most free last. */
enum { N_RANKS = 3 };

static int rank_of(const ga_machine *m, const ga__joint *joint)
{
  if (is_given(m, joint, 0)) return 0;
  return ga__joint_holds_most(joint) ? 1 : 2;
}

/* Work space for growing the tree: joints of each node, and a queue for each rank. */
typedef struct search {
  const ga_machine *m;
  const ga__mbs_model *b;
  int *start, *incident; /* [nodes + 1], [2 joints] */
  int *queue[N_RANKS];   /* [2 joints] each: 2 joint + end */
  int head[N_RANKS], tail[N_RANKS];
  int *reached; /* [nodes] */
} search;

/* Marks a node as placed, and queues its joints. */
static void reach(search *s, int node)
{
  s->reached[node] = 1;
  for (int i = s->start[node]; i < s->start[node + 1]; i++) {
    const int j = s->incident[i] / 2, rank = rank_of(s->m, joint_at(s->b, j));
    s->queue[rank][s->tail[rank]++] = s->incident[i];
  }
}

/* The next joint to follow: 2 joint + the end that is placed; −1: none. */
static int next_joint(search *s)
{
  for (int rank = 0; rank < N_RANKS; rank++)
    if (s->head[rank] < s->tail[rank]) return s->queue[rank][s->head[rank]++];
  return -1;
}

/* Reaches all nodes of a part with several, as a beam; their numbers are consecutive. */
static void reach_part(search *s, tree *t, int node)
{
  const ga__node *at = node_at(s->b, node);
  reach(s, node);
  if (!at->number) return;
  for (int i = node - at->number + 1; i < s->b->node.n; i++) {
    const ga__node *other = node_at(s->b, i);
    if (other->part != at->part || !other->number) return;
    if (s->reached[i]) continue;
    t->edge[t->n_edges++] = (edge){-1, node, i};
    reach(s, i);
  }
}

static void grow(search *s, tree *t)
{
  for (int at; (at = next_joint(s)) >= 0;) {
    const ga__joint *joint = joint_at(s->b, at / 2);
    const int near = node_of(s->b, at % 2 ? joint->b : joint->a),
              far = node_of(s->b, at % 2 ? joint->a : joint->b);
    if (s->reached[far]) continue;
    t->edge[t->n_edges++] = (edge){at / 2, near, far};
    t->n_followed++;
    reach_part(s, t, far);
  }
}

/* 1: bodies can be placed along the joint; not if an end is on a deformable part, whose shape is not known
 * yet. */
static int is_followed(const ga__mbs_model *b, const ga__joint *joint)
{
  return joint->recipe && !node_at(b, node_of(b, joint->a))->carried &&
         !node_at(b, node_of(b, joint->b))->carried;
}

static void list_incident(search *s)
{
  const ga__mbs_model *b = s->b;
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < b->joint.n; j++) {
      const ga__joint *joint = joint_at(b, j);
      if (!is_followed(b, joint)) continue;
      const int node[2] = {node_of(b, joint->a), node_of(b, joint->b)};
      for (int k = 0; k < 2; k++) {
        if (pass == 0)
          s->start[node[k] + 1]++;
        else
          s->incident[s->start[node[k]]++] = 2 * j + k;
      }
    }
    if (pass == 0)
      for (int i = 0; i < b->node.n; i++) s->start[i + 1] += s->start[i];
  }
  for (int i = b->node.n; i > 0; i--) s->start[i] = s->start[i - 1];
  s->start[0] = 0;
}

/* Starts at the ground and at held bodies, then at bodies that are connected to neither. */
static void grow_all(search *s, tree *t)
{
  const ga__mbs_model *b = s->b;
  reach(s, 0);
  for (int i = 1; i < b->node.n; i++)
    if (holds(&s->m->part[node_at(b, i)->part], 0) && !s->reached[i]) reach_part(s, t, i);
  grow(s, t);
  for (int i = 1; i < b->node.n; i++) {
    if (s->reached[i]) continue;
    reach_part(s, t, i);
    grow(s, t);
  }
}

static ga_status tree_make(const ga_machine *m, const ga__mbs_model *b, tree *t)
{
  const size_t nodes = (size_t)b->node.n, joints = (size_t)b->joint.n;
  search s = {.m = m, .b = b};
  *t = (tree){.ctx = m->ctx, .n_nodes = b->node.n, .n_joints = b->joint.n};
  t->edge = ga__alloc(m->ctx, nodes, sizeof *t->edge);
  t->value = ga__alloc(m->ctx, 3 * joints, sizeof *t->value);
  t->turned = ga__alloc(m->ctx, nodes, sizeof *t->turned);
  t->moved = ga__alloc(m->ctx, nodes, sizeof *t->moved);
  t->before = ga__alloc(m->ctx, nodes, sizeof *t->before);
  int *room = ga__alloc(m->ctx, 2 * nodes + 2 + 2 * joints * (1 + N_RANKS), sizeof *room);
  ga_status status = GA_OK;
  if (!t->edge || !t->value || !t->turned || !t->moved || !t->before || !room) {
    status = ga__no_memory(m->ctx, "the assembly of a machine");
  } else {
    s.start = room;
    s.reached = room + nodes + 1;
    s.incident = s.reached + nodes + 1;
    for (int k = 0; k < N_RANKS; k++) s.queue[k] = s.incident + 2 * joints * (size_t)(k + 1);
    list_incident(&s);
    grow_all(&s, t);
    ga__prescribed unused;
    int n_joints = 0;
    for (int j = 0; j < b->joint.n; j++) n_joints += joint_at(b, j)->recipe != NULL;
    t->loops = n_joints > t->n_followed;
    for (int i = 1; i < m->n_parts; i++)
      t->loops |= ga__prescribed_by(&m->part[i], &unused) || holds(&m->part[i], 0) ||
                  ga__type_of(&m->part[i])->create[GA__CREATE_CONSTRAINTS];
  }
  ga__free(m->ctx, room);
  if (status) tree_free(t);
  return status;
}

/* ---- Placing bodies ---- */

static void set_pose(ga__node *node, const double x[3], const double R[9], double angle)
{
  for (int i = 0; i < (node->planar ? 2 : 3); i++) node->q0[i] = x[i];
  if (node->planar) node->q0[2] = angle;
  if (node->rigid) memcpy(node->q0 + 3, R, 9 * sizeof *R);
}

/* Motion of nodes from q0 and v0. */
static void eval_nodes(const ga__mbs_model *b, const tree *t)
{
  for (int i = 0; i < t->n_nodes; i++) ga__kin_initial(b, i, t->before);
}

/* x := x₁ + T (x − x₀), R := T R, T = R₁ R₀ᵀ of the parent. */
static void carry(ga__mbs_model *b, tree *t, const edge *at)
{
  const ga__kin *p0 = &t->before[at->parent], *c0 = &t->before[at->child];
  double T[9], Rt[9], d[3], x[3], R[9];
  ga__kin p1[1];
  ga__node *child = node_at(b, at->child);
  ga__kin_initial(b, at->parent, b->kin);
  *p1 = b->kin[at->parent];
  ga__mat3_transpose(Rt, p0->R);
  ga__mat3_mul(T, p1->R, Rt);
  for (int i = 0; i < 3; i++) d[i] = c0->x[i] - p0->x[i];
  ga__mat3_mul_vec(x, T, d);
  for (int i = 0; i < 3; i++) x[i] += p1->x[i];
  ga__mat3_mul(R, T, c0->R);
  t->turned[at->child] = t->turned[at->parent];
  set_pose(child, x, R, c0->angle + t->turned[at->child]);
}

static double angle_of(const double R[9])
{
  return atan2(R[3], R[0]);
}

/* Pose of b's frame relative to a's before bodies were moved: R, and d in a's axes. */
static void relative_before(const ga__mbs_model *b, const tree *t, const ga__joint *joint, double R[9],
                            double d[3])
{
  const ga__marker *ma = GA__AT(b->marker, ga__marker, joint->a),
                   *mb = GA__AT(b->marker, ga__marker, joint->b);
  ga__frame fa, fb;
  double At[9], across[3];
  ga__frame_at(&fa, ma, t->before);
  ga__frame_at(&fb, mb, t->before);
  ga__mat3_transpose(At, fa.A);
  ga__mat3_mul(R, At, fb.A);
  for (int i = 0; i < 3; i++) across[i] = fb.p[i] - fa.p[i];
  ga__mat3_mul_vec(d, At, across);
}

/* Puts the child where the joint's coordinates are t->value. With the frame of the parent's end F and that of
 * the child's end G: from a to b G = F R, p_G = p_F + F d, back G = F Rᵀ, p_G = p_F − G d. */
static void place(ga__mbs_model *b, tree *t, const edge *at)
{
  const ga__joint *joint = joint_at(b, at->joint);
  const int forward = node_of(b, joint->a) == at->parent;
  const ga__marker *mf = GA__AT(b->marker, ga__marker, forward ? joint->a : joint->b),
                   *mg = GA__AT(b->marker, ga__marker, forward ? joint->b : joint->a);
  double R_now[9], d_now[3], R[9], d[3], Rt[9], G[9], At[9], body[9], step[3], p[3], arm[3], x[3];
  ga__frame f;
  ga__node *child = node_at(b, at->child);
  relative_before(b, t, joint, R_now, d_now);
  ga__joint_relative(joint, t->value + 3 * at->joint, R_now, d_now, R, d);
  ga__kin_initial(b, at->parent, b->kin);
  ga__frame_at(&f, mf, b->kin);
  ga__mat3_transpose(Rt, R);
  ga__mat3_mul(G, f.A, forward ? R : Rt);
  ga__mat3_mul_vec(step, forward ? f.A : G, d);
  for (int i = 0; i < 3; i++) p[i] = f.p[i] + (forward ? step[i] : -step[i]);
  const double turn = remainder(angle_of(R) - angle_of(R_now), GA__TWO_PI);
  t->turned[at->child] = t->turned[at->parent] + (forward ? turn : -turn);
  const double angle = t->before[at->child].angle + t->turned[at->child];
  if (child->planar) {
    const double c = cos(angle), s = sin(angle), planar[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    memcpy(body, planar, sizeof body);
  } else {
    ga__mat3_transpose(At, mg->A);
    ga__mat3_mul(body, G, At);
  }
  ga__mat3_mul_vec(arm, body, mg->s);
  for (int i = 0; i < 3; i++) x[i] = p[i] - arm[i];
  set_pose(child, x, body, angle);
}

/* Moves bodies along the tree so that coordinates become t->value. Bodies that need not move
 * keep every bit. */
static void place_all(const ga_machine *m, ga__mbs_model *b, tree *t)
{
  eval_nodes(b, t);
  for (int i = 0; i < t->n_nodes; i++) t->moved[i] = 0, t->turned[i] = 0.0;
  for (int e = 0; e < t->n_edges; e++) {
    const edge *at = &t->edge[e];
    if (at->joint >= 0 && is_given(m, joint_at(b, at->joint), 0)) {
      place(b, t, at);
      t->moved[at->child] = 1;
    } else if (t->moved[at->parent]) {
      carry(b, t, at);
      t->moved[at->child] = 1;
    }
  }
}

/* ---- Moving bodies ---- */

/* Twist of a node: that of its parent plus the relative motion (w, u) of b, in the axes of a. */
static void add_twist(const ga__mbs_model *b, const ga__joint *joint, int forward, const double w_rel[3],
                      const double u_rel[3], const ga__kin *kin, const ga__kin *parent, ga__node *child,
                      int c)
{
  ga__frame fa, fb;
  double w[3], u[3], arm[3], turn[3], out[3];
  ga__frame_at(&fa, GA__AT(b->marker, ga__marker, joint->a), kin);
  ga__frame_at(&fb, GA__AT(b->marker, ga__marker, joint->b), kin);
  ga__mat3_mul_vec(w, fa.A, w_rel);
  ga__mat3_mul_vec(u, fa.A, u_rel);
  /* at b's origin: velocity of b's body = velocity of a's body + u */
  for (int i = 0; i < 3; i++) out[i] = parent->w[3 + i] + (forward ? w[i] : -w[i]);
  for (int i = 0; i < 3; i++) arm[i] = fb.p[i] - parent->x[i];
  ga__vec3_cross(turn, parent->w + 3, arm);
  for (int i = 0; i < 3; i++) child->v0[i] = parent->w[i] + turn[i] + (forward ? u[i] : -u[i]);
  for (int i = 0; i < 3; i++) arm[i] = kin[c].x[i] - fb.p[i];
  ga__vec3_cross(turn, out, arm);
  for (int i = 0; i < 3; i++) child->v0[i] += turn[i], child->v0[3 + i] = out[i];
  for (int k = 0; k < 6; k++)
    if (child->column[k] < 0) child->v0[k] = 0.0;
}

/* Relative motion of b before: ω and the velocity of b's origin, in a's axes. */
static void twist_before(const ga__mbs_model *b, const tree *t, const ga__joint *joint, double w[3],
                         double u[3])
{
  const int na = node_of(b, joint->a), nb = node_of(b, joint->b);
  const ga__kin *ka = &t->before[na], *kb = &t->before[nb];
  ga__frame fa, fb;
  double arm[3], va[3], vb[3], dw[3], du[3];
  ga__frame_at(&fa, GA__AT(b->marker, ga__marker, joint->a), t->before);
  ga__frame_at(&fb, GA__AT(b->marker, ga__marker, joint->b), t->before);
  for (int i = 0; i < 3; i++) arm[i] = fb.p[i] - ka->x[i];
  ga__vec3_cross(va, ka->w + 3, arm);
  for (int i = 0; i < 3; i++) arm[i] = fb.p[i] - kb->x[i];
  ga__vec3_cross(vb, kb->w + 3, arm);
  for (int i = 0; i < 3; i++) {
    dw[i] = kb->w[3 + i] - ka->w[3 + i];
    du[i] = kb->w[i] + vb[i] - ka->w[i] - va[i];
  }
  ga__mat3_tmul_vec(w, fa.A, dw);
  ga__mat3_tmul_vec(u, fa.A, du);
}

/* Target rates of a joint's coordinates. Those that are not given stay as before; of a screw one follows from
 * the other. */
static void rates_of(const ga_machine *m, const ga__joint *joint, const double before[3], double rate[3])
{
  double pitch;
  for (int c = 0; c < joint->n_coordinates; c++) {
    const double given = given_of(m, joint, c, 1);
    rate[c] = isnan(given) ? before[c] : given;
  }
  if (!ga__joint_pitch(m, joint, &pitch)) return;
  const int turned = !isnan(given_of(m, joint, 0, 1)), moved = !isnan(given_of(m, joint, 1, 1));
  if (!moved) rate[1] = pitch / GA__TWO_PI * rate[0];
  if (!turned && moved && pitch != 0.0) rate[0] = GA__TWO_PI / pitch * rate[1];
}

/* Keeps the motion of the child relative to its parent: nodes of one part. */
static void follow_twist(ga__mbs_model *b, const tree *t, const edge *at)
{
  const ga__kin *p0 = &t->before[at->parent], *c0 = &t->before[at->child];
  double arm[3], turn[3], du[3], dw[3], mine[3], out[3];
  ga__kin_initial(b, at->parent, b->kin);
  ga__kin_initial(b, at->child, b->kin);
  const ga__kin *p1 = &b->kin[at->parent], *c1 = &b->kin[at->child];
  ga__node *child = node_at(b, at->child);
  for (int i = 0; i < 3; i++) arm[i] = c0->x[i] - p0->x[i];
  ga__vec3_cross(turn, p0->w + 3, arm);
  for (int i = 0; i < 3; i++) du[i] = c0->w[i] - p0->w[i] - turn[i], dw[i] = c0->w[3 + i] - p0->w[3 + i];
  for (int i = 0; i < 3; i++) arm[i] = c1->x[i] - p1->x[i];
  ga__vec3_cross(turn, p1->w + 3, arm);
  ga__mat3_tmul_vec(mine, p0->R, du);
  ga__mat3_mul_vec(out, p1->R, mine);
  for (int i = 0; i < 3; i++) child->v0[i] = p1->w[i] + turn[i] + out[i];
  ga__mat3_tmul_vec(mine, p0->R, dw);
  ga__mat3_mul_vec(out, p1->R, mine);
  for (int i = 0; i < 3; i++) child->v0[3 + i] = p1->w[3 + i] + out[i];
}

/* Velocities along the tree. t->before has the given poses and twists, t->value the given rates. A body whose
 * joint has no given rate keeps its motion relative to its parent. */
static void move_all(const ga_machine *m, ga__mbs_model *b, tree *t)
{
  for (int i = 0; i < b->node.n; i++) {
    const ga__kin *before = &t->before[i];
    ga__kin_initial(b, i, b->kin);
    t->moved[i] = memcmp(before->x, b->kin[i].x, sizeof before->x) != 0 ||
                  memcmp(before->R, b->kin[i].R, sizeof before->R) != 0;
  }
  for (int e = 0; e < t->n_edges; e++) {
    const edge *at = &t->edge[e];
    if (at->joint < 0) {
      if (!t->moved[at->parent] || holds(&m->part[node_at(b, at->child)->part], 1)) continue;
      follow_twist(b, t, at);
      t->moved[at->child] = 1;
      continue;
    }
    const ga__joint *joint = joint_at(b, at->joint);
    const int given = is_given(m, joint, 1), forward = node_of(b, joint->a) == at->parent;
    double w_now[3], u_now[3], w[3], u[3], rate[3] = {0, 0, 0}, value[3] = {0, 0, 0};
    if (!given && !t->moved[at->parent] && !t->moved[at->child]) continue;
    if (holds(&m->part[node_at(b, at->child)->part], 1)) continue;
    twist_before(b, t, joint, w_now, u_now);
    memcpy(w, w_now, sizeof w);
    memcpy(u, u_now, sizeof u);
    if (given) {
      rates_of(m, joint, t->value + 3 * at->joint, rate);
      for (int c = 0; c < joint->n_coordinates; c++)
        value[c] = ga__gauge_initial(b, joint->coordinate[c].gauge);
      ga__joint_twist(joint, value, rate, w_now, u_now, w, u);
    }
    ga__kin_initial(b, at->parent, b->kin);
    ga__kin_initial(b, at->child, b->kin);
    const ga__kin parent = b->kin[at->parent];
    add_twist(b, joint, forward, w, u, b->kin, &parent, node_at(b, at->child), at->child);
    t->moved[at->child] = 1;
  }
}

/* ---- Auxiliary systems ---- */

static ga_status hold_line(ga_machine *m, ga__mbs_model *b, const ga__gauge *gauge, int part, int rate)
{
  const int at = ga__add_gauge(m, b, gauge);
  if (at < 0) return GA_ERR_MEMORY;
  return ga__hold_gauge(m, b, part, rate ? "held velocity" : "held pose", at, ga__gauge_initial(b, at),
                        rate ? ga__gauge_initial_rate(b, at) : 0.0);
}

/* Holds a body at its pose by the rows of a fixed joint. */
static ga_status hold_body(ga_machine *m, ga__mbs_model *b, int i, int rate)
{
  static const int across[3][2] = {{1, 2}, {0, 2}, {0, 1}};
  const int part = node_at(b, i)->part, own = b->part_marker[part];
  const ga__node node = *node_at(b, i);
  ga_status status = GA_OK;
  if (node.scalar) return hold_line(m, b, &(ga__gauge){.kind = GA__SCALAR, .a = own, .b = 0}, part, rate);
  for (int k = 0; !status && k < (node.planar ? 2 : 3); k++) {
    ga__gauge gauge = {.kind = GA__WORLD, .a = 0, .b = own};
    gauge.u[k] = 1.0;
    status = hold_line(m, b, &gauge, part, rate);
  }
  if (!status && node.planar)
    status = hold_line(m, b, &(ga__gauge){.kind = GA__PLANE_ANGLE, .a = 0, .b = own}, part, rate);
  if (status || !node.rigid) return status;
  ga__marker *fixed = ga__list_add(m->ctx, &b->marker);
  if (!fixed) return GA_ERR_MEMORY;
  memcpy(fixed->A, node.q0 + 3, sizeof fixed->A); /* axes of the body's own frame */
  const int at = b->marker.n - 1;
  for (int k = 0; !status && k < 3; k++) {
    ga__gauge gauge = {.kind = GA__DOT, .a = at, .b = own};
    gauge.u[across[k][0]] = gauge.w[across[k][1]] = 1.0;
    status = hold_line(m, b, &gauge, part, rate);
  }
  return status;
}

/* Adds one row for each given value. */
static ga_status hold_given(ga_machine *m, ga__mbs_model *b, int rate)
{
  ga_status status = GA_OK;
  const int n_nodes = b->node.n;
  for (int i = 1; !status && i < n_nodes; i++)
    if (holds(&m->part[node_at(b, i)->part], rate) && b->part_node[node_at(b, i)->part] == i)
      status = hold_body(m, b, i, rate);
  for (int j = 0; !status && j < b->joint.n; j++)
    for (int c = 0; !status && c < joint_at(b, j)->n_coordinates; c++) {
      const ga__joint *joint = joint_at(b, j);
      const ga__coordinate *at = &joint->coordinate[c];
      const double given = given_of(m, joint, c, rate);
      char label[40];
      if (isnan(given)) continue;
      snprintf(label, sizeof label, "initial %s%s", at->info->name, ga__coordinate_suffix(rate));
      const int gauge = at->scalar_gauge >= 0 ? at->scalar_gauge : at->gauge;
      status = ga__hold_gauge(m, b, joint->part, label, gauge, rate ? ga__gauge_initial(b, gauge) : given,
                              rate ? given : 0.0);
    }
  return status;
}

/* The auxiliary system of one stage, and a stepper that solves its constraints. */
typedef struct stage {
  ga__mbs_model *b;
  ga_stepper *st;
  double *q, *v; /* of its system */
  double
      *placed; /* [nq] bodies along the tree at what is given, loops open: what is moved least from here on */
} stage;

static void stage_close(ga_machine *m, stage *s)
{
  m->model = NULL;
  ga_stepper_destroy(&s->st);
  ga__free(m->ctx, s->q);
  ga__mbs_model_destroy(m->ctx, &s->b);
}

/* Weights for the norm of moves: mass and inertia times the weights of bodies. Nodes that follow coordinates
 * have no mass. */
static void weigh_nodes(const ga_machine *m, ga__mbs_model *b)
{
  const double stays = 1e9; /* of the heaviest: what slides is moved, and what it slides on is not bent */
  double heaviest = 0.0;
  for (int i = 1; i < b->node.n; i++) heaviest = fmax(heaviest, node_at(b, i)->mass);
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = node_at(b, i);
    const double own = weight_of(&m->part[node->part]);
    const double weight = ga__is_slid_on(m, node->part) ? own * stays * heaviest / node->mass : own;
    node->mass *= weight;
    for (int k = 0; k < 9; k++) node->J[k] *= weight;
  }
}

/* Creates nodes, and joints with their frames, with bodies as given. */
static ga_status stage_open(ga_machine *m, ga__stage what, stage *s)
{
  *s = (stage){.b = NULL};
  s->b = ga__alloc(m->ctx, 1, sizeof *s->b);
  if (!s->b) return ga__no_memory(m->ctx, "the assembly of a machine");
  s->b->stage = what;
  ga_status status = ga__build_begin(m, s->b);
  if (!status) status = ga__build_frames(m, s->b);
  if (!status) weigh_nodes(m, s->b);
  if (!status) status = ga__create(m, s->b, GA__CREATE_JOINTS);
  return status;
}

/* Builds the rest, with bodies at their present positions. */
static ga_status stage_build(ga_machine *m, stage *s)
{
  ga__mbs_model *b = s->b;
  ga_stepper_opts o = ga_stepper_defaults();
  ga_status status = ga__create(m, b, GA__CREATE_COUPLINGS);
  if (!status) status = ga__create(m, b, GA__CREATE_CONSTRAINTS);
  if (!status) status = hold_given(m, b, b->stage == GA__STAGE_VELOCITIES);
  if (!status) status = ga__build_finish(m, b);
  if (status) return status;
  m->model = b;
  s->q = ga__alloc(m->ctx, (size_t)(2 * b->nq + b->nv) + 1, sizeof *s->q);
  if (!s->q) return ga__no_memory(m->ctx, "the assembly of a machine");
  s->v = s->q + b->nq;
  s->placed = s->v + b->nv;
  return ga_stepper_create(m->ctx, b->system, &o, &s->st);
}

/* Copies the solution to the nodes. */
static void take_values(const stage *s, int velocities)
{
  for (int i = 1; i < s->b->node.n; i++)
    ga__node_set_initial(node_at(s->b, i), s->q, velocities ? s->v : NULL);
}

/* Moves bodies from their present positions (or velocities) to ones that satisfy all rows. */
static ga_status stage_solve(ga_machine *m, stage *s, double max_change, int velocities)
{
  ga__mbs_model *b = s->b;
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  o.max_change = max_change;
  ga__initial_values(b, s->q, s->v);
  const ga_status status =
      ga_stepper_assemble(s->st, &o, m->opts.t_start, s->q, velocities ? s->v : NULL, NULL);
  take_values(s, velocities);
  return status;
}

/* Moves assembled bodies to the solution nearest to where they were placed, by weight. They stay if it cannot
 * be found. */
static ga_status stage_nearest(ga_machine *m, stage *s)
{
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  o.max_change = HUGE_VAL;
  ga__initial_values(s->b, s->q, s->v);
  const ga_status status = ga_stepper_nearest(s->st, &o, m->opts.t_start, s->placed, s->q);
  if (status > 0) {
    ga__log(m->ctx, GA_LOG_WARNING, GA_REASON_NOT_THE_NEAREST, &(ga__facts){0});
    return GA_OK;
  }
  if (!status) take_values(s, 0);
  return status;
}

/* ---- Messages ---- */

static double reached_by(const ga__mbs_model *b, const ga__joint *joint, int c, double given, int rate)
{
  const ga__coordinate *at = &joint->coordinate[c];
  if (rate) return ga__gauge_initial_rate(b, at->gauge);
  const double reached = ga__gauge_initial(b, at->gauge);
  return at->info->is_angle ? given + remainder(reached - given, GA__TWO_PI) : reached;
}

/* By how much the coordinates of a joint miss what is given: the largest of them; −1: nothing is given. */
static double missed_by(const ga_machine *m, const ga__mbs_model *b, const ga__joint *joint, int rate)
{
  double most = -1.0;
  for (int c = 0; c < joint->n_coordinates; c++) {
    const double given = given_of(m, joint, c, rate);
    if (!isnan(given)) most = fmax(most, fabs(reached_by(b, joint, c, given, rate) - given));
  }
  return most;
}

#define MET 1e-8 /* relative to 1 and the value: nothing to be said of it */

/* "crank.angle = 0.5 (reached 0.48), rocker.angle = ...", those that are missed */
static void list_given(const ga_machine *m, const ga__mbs_model *b, int rate, ga__writer *w)
{
  enum { MOST_LISTED = 6 };
  int n = 0;
  for (int j = 0; j < b->joint.n; j++)
    for (int c = 0; c < joint_at(b, j)->n_coordinates; c++) {
      const ga__joint *joint = joint_at(b, j);
      const ga__coordinate *at = &joint->coordinate[c];
      const double given = given_of(m, joint, c, rate);
      if (isnan(given)) continue;
      const double reached = reached_by(b, joint, c, given, rate);
      if (fabs(reached - given) <= MET * (1.0 + fabs(given))) continue;
      if (n++ < MOST_LISTED)
        ga__write(w, "%s%s.%s%s = %.9g %s (nearest found: %.9g)", n > 1 ? ", " : "",
                  m->part[joint->part].name, at->info->name, ga__coordinate_suffix(rate), given,
                  at->info->unit[rate ? GA_UNIT_RATE : GA_UNIT_VALUE], reached);
    }
  for (int i = 1; i < b->node.n; i++) {
    const ga__part *part = &m->part[node_at(b, i)->part];
    if (!holds(part, rate) || b->part_node[node_at(b, i)->part] != i) continue;
    if (n++ < MOST_LISTED)
      ga__write(w, "%s%s of '%s', which is held", n > 1 ? ", " : "", rate ? "velocity" : "pose", part->name);
  }
  for (int i = 1; i < m->n_parts; i++) {
    ga__prescribed drive;
    double target[2];
    ga_fault fault;
    if (!ga__prescribed_by(&m->part[i], &drive) ||
        ga_function_eval(drive.function, m->opts.t_start, 1, target, &fault))
      continue;
    if (n++ < MOST_LISTED)
      ga__write(w, "%s%s%s = %.9g by %s '%s'", n > 1 ? ", " : "", drive.coordinate,
                ga__coordinate_suffix(rate), target[rate], ga__part_text(m->part[i].kind), m->part[i].name);
  }
  if (n > MOST_LISTED) ga__write(w, ", and %d more", n - MOST_LISTED);
}

/* The part that the message names: the joint whose initial values are missed most, else a held body. */
static const ga__part *most_missed(const ga_machine *m, const ga__mbs_model *b, int rate)
{
  const ga__joint *joint = NULL;
  double most = -1.0;
  for (int j = 0; j < b->joint.n; j++) {
    const double by = missed_by(m, b, joint_at(b, j), rate);
    if (by > most) most = by, joint = joint_at(b, j);
  }
  if (joint) return &m->part[joint->part];
  for (int i = 1; i < m->n_parts; i++)
    if (holds(&m->part[i], rate)) return &m->part[i];
  return &m->part[0];
}

static ga_status refuse_given(const ga_machine *m, const ga__mbs_model *b, int rate, ga_status status)
{
  char text[GA_ERROR_TEXT];
  ga__writer w = {text, sizeof text, 0};
  if (status == GA_ERR_MEMORY) return status;
  text[0] = '\0';
  list_given(m, b, rate, &w);
  ga__write(&w, ". %s", ga_context_error(m->ctx)->text);
  return ga__refuse_part(m->ctx, most_missed(m, b, rate), GA_ERR_INCONSISTENT, GA_REASON_START_CONTRADICTS,
                         (ga__facts){.expected = rate ? "rates" : "values", .detail = text});
}

/* ---- Stages ---- */

/* Sets the other coordinate of a screw, along its thread. */
static void follow_thread(const ga_machine *m, const ga__joint *joint, const double before[3],
                          double value[3])
{
  double pitch;
  if (!ga__joint_pitch(m, joint, &pitch)) return;
  const int turned = !isnan(given_of(m, joint, 0, 0)), moved = !isnan(given_of(m, joint, 1, 0));
  if (!moved) value[1] = before[1] + pitch / GA__TWO_PI * (value[0] - before[0]);
  if (!turned && moved && pitch != 0.0) value[0] = before[0] + GA__TWO_PI / pitch * (value[1] - before[1]);
}

/* Required change of a coordinate: angles the short way round, except for screws. */
static double change_of(const ga_machine *m, const ga__joint *joint, int c, double given, double now)
{
  double pitch;
  if (isnan(given)) return 0.0;
  return joint->coordinate[c].info->is_angle && !ga__joint_pitch(m, joint, &pitch)
             ? remainder(given - now, GA__TWO_PI)
             : given - now;
}

/* The coordinate of a drive's row. */
static const ga__gauge *driven_gauge(const ga__mbs_model *b, const ga__row *row, int *index)
{
  *index = GA__AT(b->term, ga__term, row->first_term)->gauge;
  return GA__AT(b->gauge, ga__gauge, *index);
}

static int turns_drive(const ga__mbs_model *b, const ga__row *row)
{
  int index;
  const ga__gauge_kind kind = driven_gauge(b, row, &index)->kind;
  return kind == GA__ANGLE || kind == GA__PLANE_ANGLE;
}

/* off[rows]: distance of coordinates from the positions of their drives; 0 for other rows. */
static void measure_drives(const ga_machine *m, const ga__mbs_model *b, double *off)
{
  for (int i = 0; i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    double target;
    int index;
    ga_fault fault;
    off[i] = 0.0;
    if (!row->target || ga_function_eval(row->target, m->opts.t_start, 0, &target, &fault)) continue;
    driven_gauge(b, row, &index);
    off[i] = ga__gauge_initial(b, index) - target;
    if (row->wrap) off[i] = remainder(off[i], GA__TWO_PI);
  }
}

/* Sets the constants of drives so that the fraction `left` of the way is still to go. */
static void set_drives(ga__mbs_model *b, const double *off, double left)
{
  for (int i = 0; i < b->row.n; i++)
    if (GA__AT(b->row, ga__row, i)->target) GA__AT(b->row, ga__row, i)->constant = left * off[i];
}

/* Number of moves for the way to the given values and to the positions of drives. */
static int count_moves(const ga_machine *m, const ga__mbs_model *b, const tree *t, const double *off)
{
  double largest = 0.0, size = 1e-3;
  if (!t->loops) return 1;
  for (int i = 1; i < b->node.n; i++)
    for (int k = 0; k < (node_at(b, i)->planar ? 2 : 3) && !node_at(b, i)->scalar; k++)
      size = fmax(size, fabs(node_at(b, i)->q0[k]));
  for (int j = 0; j < b->joint.n; j++)
    for (int c = 0; c < joint_at(b, j)->n_coordinates; c++) {
      const ga__joint *joint = joint_at(b, j);
      const double given = given_of(m, joint, c, 0), now = t->value[3 * j + c];
      const double change = fabs(change_of(m, joint, c, given, now));
      largest = fmax(largest, joint->coordinate[c].info->is_angle ? change : change / size);
    }
  for (int i = 0; i < b->row.n; i++)
    if (off[i] != 0.0)
      largest =
          fmax(largest, turns_drive(b, GA__AT(b->row, ga__row, i)) ? fabs(off[i]) : fabs(off[i]) / size);
  const double moves = ceil(largest / LARGEST_MOVE);
  return moves < 1 ? 1 : moves > MOST_MOVES ? MOST_MOVES : (int)moves;
}

/* Sets scalar nodes that follow coordinates to the target values. */
static void set_followers(ga__mbs_model *b, const ga__joint *joint, const double *value)
{
  for (int c = 0; c < joint->n_coordinates; c++) {
    if (!ga__has_coordinates(joint) || joint->coordinate[c].scalar_gauge < 0) continue;
    const ga__gauge *g = GA__AT(b->gauge, ga__gauge, joint->coordinate[c].scalar_gauge);
    node_at(b, node_of(b, g->a))->q0[0] = value[c];
  }
}

/* Makes the first of the remaining moves along the tree. first_row: the first row that holds a given value,
 * −1: there are none yet. */
static void place_given(const ga_machine *m, ga__mbs_model *b, tree *t, int moves_left, int first_row)
{
  int row = first_row;
  for (int j = 0; j < b->joint.n; j++) {
    const ga__joint *joint = joint_at(b, j);
    double before[3], *value = t->value + 3 * j;
    if (!ga__has_coordinates(joint)) continue;
    for (int c = 0; c < joint->n_coordinates; c++) {
      const ga__coordinate *at = &joint->coordinate[c];
      const double given = given_of(m, joint, c, 0);
      before[c] = ga__gauge_initial(b, at->scalar_gauge >= 0 ? at->scalar_gauge : at->gauge);
      value[c] = before[c] + change_of(m, joint, c, given, before[c]) / moves_left;
      if (!isnan(given) && moves_left == 1) value[c] = given;
      if (!isnan(given) && first_row >= 0) GA__AT(b->row, ga__row, row++)->constant = value[c];
    }
    if (is_given(m, joint, 0)) follow_thread(m, joint, before, value);
    set_followers(b, joint, value);
  }
  place_all(m, b, t);
}

/* Rows of initial values are the last ones; those of held bodies come before them. */
static int count_given(const ga_machine *m, const ga__mbs_model *b)
{
  int n = 0;
  for (int j = 0; j < b->joint.n; j++)
    for (int c = 0; c < joint_at(b, j)->n_coordinates; c++) n += !isnan(given_of(m, joint_at(b, j), c, 0));
  return n;
}

static void read_coordinates(const ga__mbs_model *b, tree *t)
{
  for (int j = 0; j < b->joint.n; j++)
    for (int c = 0; c < joint_at(b, j)->n_coordinates; c++)
      t->value[3 * j + c] = ga__gauge_initial(b, joint_at(b, j)->coordinate[c].gauge);
}

/* What is copied between nodes and a placement. */
enum { POSITIONS = 1, VELOCITIES = 2 };

/* Initial values of a node: q, then v, and their numbers. */
static void start_values(ga__node *node, double *value[2], int n[2])
{
  value[0] = node->vector ? node->own : node->q0;
  value[1] = node->vector ? node->own + node->n : node->v0;
  n[0] = node->vector ? node->n : 12;
  n[1] = node->vector ? node->n : 6;
}

/* Copies from nodes to p, or back. */
static void transfer_values(const ga__mbs_model *b, const ga__placement *p, int what, int back)
{
  double *at[2] = {p->q, p->v}, *value[2];
  int n[2];
  for (int i = 0; i < p->n; i++) {
    start_values(node_at(b, i), value, n);
    for (int k = 0; k < 2; at[k] += n[k], k++)
      if (what & (k == 0 ? POSITIONS : VELOCITIES))
        memcpy(back ? value[k] : at[k], back ? at[k] : value[k], (size_t)n[k] * sizeof(double));
  }
}

static void keep_nodes(const ga__mbs_model *b, ga__placement *p, int what)
{
  transfer_values(b, p, what, 0);
}

static void restore_nodes(const ga__mbs_model *b, const ga__placement *p, int what)
{
  transfer_values(b, p, what, 1);
}

/* ---- The way to given coordinates ---- */

#define FALLS                                                                                                \
  0.55 /* of the value before: constraints that lose their independence within the next move fall by half */

/* How independent constraints are before the first move and after each. */
typedef struct independence_record {
  int n;
  double independence[MOST_MOVES + 1];
} independence_record;

static ga_status record_independence(ga_machine *m, stage *s, independence_record *w)
{
  ga__initial_values(s->b, s->q, s->v);
  const ga_status status = ga_stepper_independence(s->st, m->opts.t_start, s->q, &w->independence[w->n++]);
  return status == GA_ERR_MEMORY ? status : GA_OK;
}

/* The move in which constraints became dependent, or nearly so: their independence falls towards 0 before it
 * and grows from 0 after it, as |s| does. −1: none. */
static int singular_move(const independence_record *w)
{
  const double *x = w->independence;
  for (int k = 0; k + 1 < w->n; k++) {
    const int before = k > 0, after = k + 2 < w->n;
    const int falls = before && x[k] < FALLS * x[k - 1], rises = after && x[k + 1] < FALLS * x[k + 2];
    if ((falls && rises) || (falls && !after) || (rises && !before)) return k;
  }
  return -1;
}

/* The given coordinate, or drive, with the longest way. */
typedef struct longest_move {
  const ga__part *part; /* NULL: none */
  const char *name;     /* of the coordinate */
  double from, change;
  const char *unit;
} longest_move;

/* value: coordinates, off: of drives, both before the first move. */
static longest_move find_longest_move(const ga_machine *m, const ga__mbs_model *b, const double *value,
                                      const double *off)
{
  longest_move all = {.part = NULL};
  for (int j = 0; j < b->joint.n; j++)
    for (int c = 0; c < joint_at(b, j)->n_coordinates; c++) {
      const ga__joint *joint = joint_at(b, j);
      const ga__coordinate *at = &joint->coordinate[c];
      const double by = change_of(m, joint, c, given_of(m, joint, c, 0), value[3 * j + c]);
      if (fabs(by) > fabs(all.change))
        all = (longest_move){&m->part[joint->part], at->info->name, value[3 * j + c], by, at->info->unit[0]};
    }
  for (int i = 0; i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    double target;
    ga_fault fault;
    if (!(fabs(off[i]) > fabs(all.change)) ||
        ga_function_eval(row->target, m->opts.t_start, 0, &target, &fault))
      continue;
    all = (longest_move){
        &m->part[row->part], "coordinate", target + off[i], -off[i],
        ga__motion_unit(ga__gauge_is_angle(b, GA__AT(b->term, ga__term, row->first_term)->gauge),
                        GA_UNIT_VALUE)};
  }
  return all;
}

static void warn_of_branches(const ga_machine *m, const ga__mbs_model *b, const double *value,
                             const double *off, const independence_record *w)
{
  const int k = singular_move(w);
  const longest_move at = k < 0 ? (longest_move){.part = NULL} : find_longest_move(m, b, value, off);
  if (!at.part) return;
  ga__log(m->ctx, GA_LOG_WARNING, GA_REASON_BRANCHES_MEET,
          &(ga__facts){.kind = ga__part_text(at.part->kind),
                       .part = at.part->name,
                       .name = at.name,
                       GA__NUMBERS({at.from + at.change, at.unit},
                                   {at.from + at.change * (k + 0.5) / (w->n - 1), at.unit})});
}

/* Records where bodies would be placed along the tree, with open loops. Bodies are not moved. */
static ga_status record_placement(const ga_machine *m, stage *s, tree *t, int first_row)
{
  ga__mbs_model *b = s->b;
  const size_t n = 12 * (size_t)b->node.n;
  double *before = ga__alloc(m->ctx, n, sizeof *before);
  if (!before) return ga__no_memory(m->ctx, "the assembly of a machine");
  for (int i = 0; i < b->node.n; i++) memcpy(before + 12 * i, node_at(b, i)->q0, 12 * sizeof *before);
  if (t->loops) place_given(m, b, t, 1, first_row);
  ga__initial_values(b, s->placed, s->v);
  for (int i = 0; i < b->node.n; i++) memcpy(node_at(b, i)->q0, before + 12 * i, 12 * sizeof *before);
  ga__free(m->ctx, before);
  return GA_OK;
}

/* Work space of approach_given(). */
typedef struct approach {
  double *value;   /* [3 joints] coordinates before the first move */
  double *off;     /* [rows] of drives, likewise */
  double *carried; /* [nq] bodies after the move along the tree */
  double *closing; /* [nv] their move from there to close loops: about the same in the next move */
} approach;

/* Predicts the closing of loops from the previous move, so that a mechanism goes straight on where branches
 * meet. Bodies outside of loops are not changed. */
static void predict_closing(stage *s, approach *k)
{
  const ga_group *group = ga_system_group(s->b->system);
  ga__initial_values(s->b, k->carried, s->v);
  ga_group_move(group, s->q, k->carried, k->closing);
  take_values(s, 0);
}

static void keep_closing(const stage *s, int solved, approach *k)
{
  ga_group_difference(ga_system_group(s->b->system), k->closing, k->carried, s->q);
  for (int i = 0; i < s->b->nv; i++)
    if (!solved || fabs(k->closing[i]) < CLOSED) k->closing[i] = 0.0;
}

/* Moves bodies to all given values, in small moves. */
static ga_status approach_given(ga_machine *m, stage *s, tree *t, int given, approach *at)
{
  ga__mbs_model *b = s->b;
  double *const value = at->value, *const off = at->off;
  const int first_row = b->row.n - count_given(m, b);
  independence_record w = {.n = 0};
  memcpy(value, t->value, 3 * (size_t)t->n_joints * sizeof *value);
  measure_drives(m, b, off);
  const int n = count_moves(m, b, t, off), watched = t->loops && n > 1;
  ga_status status = given & GIVES_WEIGHT ? record_placement(m, s, t, first_row) : GA_OK;
  if (!status && watched) status = record_independence(m, s, &w);
  for (int k = 0; !status && k < n; k++) {
    if (t->loops) place_given(m, b, t, n - k, first_row);
    set_drives(b, off, (double)(n - 1 - k) / n);
    if (watched) predict_closing(s, at);
    status = stage_solve(m, s, HUGE_VAL, 0);
    if (watched)
      keep_closing(s, !status && k > 0, at); /* loops may be open initially, which is closed once */
    if (status && status != GA_ERR_MEMORY && k < n - 1) status = GA_OK; /* the last one decides */
    if (!status && watched) status = record_independence(m, s, &w);
  }
  if (!status && (given & GIVES_WEIGHT)) status = stage_nearest(m, s);
  if (!status && watched) warn_of_branches(m, b, value, off, &w);
  return status;
}

/* Computes positions into p. given: bits of what_is_given(). If these have no coordinates, poses or weights,
 * bodies stay as given, and p only has the consistent positions that the start will find. */
static ga_status assemble_positions(ga_machine *m, int given, ga__placement *p)
{
  stage s;
  tree t = {.ctx = NULL};
  ga_status status = stage_open(m, GA__STAGE_POSITIONS, &s);
  if (!status) status = ga__joints_set_constants(m, s.b);
  if (!status) status = tree_make(m, s.b, &t);
  if (!status) {
    const int matters = given & (GIVES_VALUE | HOLDS_POSE);
    read_coordinates(s.b, &t);
    if (!t.loops) place_given(m, s.b, &t, 1, -1);
    status = stage_build(m, &s);
    const size_t n = 3 * (size_t)t.n_joints, rows = (size_t)s.b->row.n, nq = (size_t)s.b->nq;
    double *room = status ? NULL : ga__alloc(m->ctx, n + rows + nq + (size_t)s.b->nv, sizeof *room);
    if (!status && !room) status = ga__no_memory(m->ctx, "the assembly of a machine");
    if (!status) {
      approach at = {room, room + n, room + n + rows, room + n + rows + nq};
      status = approach_given(m, &s, &t, given, &at);
    }
    ga__free(m->ctx, room);
    p->positions = matters || (!status && (given & (GIVES_WEIGHT | GIVES_GAP)));
    if (status && matters) status = refuse_given(m, s.b, 0, status);
    if (status && status != GA_ERR_MEMORY && !matters) { /* the start will say what is wrong */
      if ((given & ~GIVES_GAP) == GIVES_SPEED) p->n = 0;
      status = GA_OK;
    }
    if (!status) keep_nodes(s.b, p, POSITIONS);
  }
  tree_free(&t);
  stage_close(m, &s);
  return status;
}

/* Which velocities of a body are given: 1 of its origin, 2 its angular velocity. Zero counts as not given,
 * unless the body is held. */
static int velocities_given(const ga__part *part)
{
  static const char *const member[] = {"velocity", "omega", "rate"};
  int given = 0;
  for (int k = 0; k < 3; k++) {
    int n = 0;
    const double *value = ga__part_member(part, member[k], &n);
    for (int i = 0; value && i < n; i++)
      if (value[i] != 0.0) given |= k == 0 ? 1 : 2;
  }
  return given;
}

/* Given velocities get a large weight, so that others are changed instead. */
static void weigh_given_velocities(const ga_machine *m, ga__mbs_model *b)
{
  const double many = 1e6;
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = node_at(b, i);
    const int given = b->part_node[node->part] == i ? velocities_given(&m->part[node->part]) : 0;
    if (given & 1) node->mass *= many;
    for (int k = 0; (given & 2) && k < 9; k++) node->J[k] *= many;
  }
}

/* Restores given velocities; that of the centre of mass is v + ω × s, with v that of the frame's origin.
 * Returns the largest change. */
static double restore_given_velocities(const ga_machine *m, ga__mbs_model *b)
{
  double change = 0.0;
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = node_at(b, i);
    const int given = b->part_node[node->part] == i ? velocities_given(&m->part[node->part]) : 0;
    double arm[3], turn[3], turn_given[3], v[6];
    ga__kin at;
    memcpy(v, node->v0, sizeof v);
    if (given & 2) memcpy(v + 3, node->v_given + 3, 3 * sizeof *v);
    ga__kin_pose(node, node->q_given, &at);
    ga__mat3_mul_vec(arm, at.R, node->com);
    ga__vec3_cross(turn, v + 3, arm);
    ga__vec3_cross(turn_given, node->v_given + 3, arm);
    for (int k = 0; (given & 1) && k < 3; k++)
      if (node->column[k] >= 0) v[k] = node->v_given[k] - turn_given[k] + turn[k];
    for (int k = 0; k < 6; k++) change = fmax(change, fabs(v[k] - node->v0[k]));
    memcpy(node->v0, v, sizeof v);
  }
  return change;
}

/* Gives bodies at rest the velocities that drives impose: the smallest change in kinetic energy that leaves
 * given velocities unchanged. If these contradict the drives: GA_ERR_INCONSISTENT, and the start refuses
 * them. */
static ga_status take_speeds(ga_machine *m, stage *s)
{
  enum { MOST_ROUNDS = 4 }; /* each leaves about 1e-6 of the change to velocities that were given */
  const double contradiction = 0.1;
  ga_status status = GA_OK;
  double change = HUGE_VAL, largest = 0.0;
  for (int k = 0; !status && change > 0.0 && k < MOST_ROUNDS; k++) {
    status = stage_solve(m, s, HUGE_VAL, 1);
    change = restore_given_velocities(m, s->b);
  }
  for (int i = 0; i < s->b->nv; i++) largest = fmax(largest, fabs(s->v[i]));
  if (!status && change > contradiction * (1.0 + largest)) status = GA_ERR_INCONSISTENT;
  return status;
}

/* Computes velocities into p. If only drives ask for them, they begin with the given ones. */
static ga_status assemble_velocities(ga_machine *m, int given, ga__placement *p)
{
  stage s;
  tree t = {.ctx = NULL};
  ga_status status = stage_open(m, GA__STAGE_VELOCITIES, &s);
  if (!status) status = tree_make(m, s.b, &t);
  if (!status) {
    eval_nodes(s.b, &t);
    for (int j = 0; j < s.b->joint.n; j++)
      for (int c = 0; c < joint_at(s.b, j)->n_coordinates; c++)
        t.value[3 * j + c] = ga__gauge_initial_rate(s.b, joint_at(s.b, j)->coordinate[c].gauge);
    restore_nodes(s.b, p, POSITIONS);
    if (given == GIVES_SPEED)
      weigh_given_velocities(m, s.b);
    else
      move_all(m, s.b, &t);
    status = ga__joints_set_constants(m, s.b);
    if (!status) status = stage_build(m, &s);
    if (!status && given == GIVES_SPEED) {
      status = take_speeds(m, &s);
    } else if (!status) {
      status = stage_solve(m, &s, HUGE_VAL, 1);
      if (status) status = refuse_given(m, s.b, 1, status);
    }
    if (!status) keep_nodes(s.b, p, VELOCITIES);
  }
  tree_free(&t);
  stage_close(m, &s);
  return status;
}

/* ---- For building ---- */

void ga__placement_free(ga__placement *p)
{
  if (!p->ctx) return;
  ga__free(p->ctx, p->q);
  *p = (ga__placement){.ctx = NULL};
}

void ga__placement_apply(const ga__placement *p, ga__mbs_model *b)
{
  b->start_with_drive_speeds = p->speeds;
  restore_nodes(b, p, p->positions ? POSITIONS | VELOCITIES : VELOCITIES);
}

/* Uses GA_FORM_SPACE, whatever the form of the machine. */
ga_status ga__assemble(ga_machine *m, const ga__mbs_model *b, ga__placement *p)
{
  const int given = what_is_given(m) | (ga__sliders_have_gaps(b) ? GIVES_GAP : 0), n = b->n_frame_nodes;
  const ga_form form = m->opts.form;
  const ga_error said = m->ctx->error;
  *p = (ga__placement){.ctx = NULL};
  if (!given) return GA_OK;
  p->ctx = m->ctx;
  size_t room[2] = {0, 0};
  for (int i = 0; i < n; i++) {
    double *value[2];
    int count[2];
    start_values(node_at(b, i), value, count);
    room[0] += (size_t)count[0], room[1] += (size_t)count[1];
  }
  p->q = ga__alloc(m->ctx, room[0] + room[1], sizeof *p->q);
  if (!p->q) return ga__no_memory(m->ctx, "the assembly of a machine");
  p->v = p->q + room[0];
  p->n = n;
  m->opts.form = GA_FORM_SPACE;
  stage s;
  ga_status status = stage_open(m, GA__STAGE_POSITIONS, &s);
  if (!status) keep_nodes(s.b, p, POSITIONS | VELOCITIES); /* as given */
  stage_close(m, &s);
  if (!status) status = assemble_positions(m, given, p);
  if (!status && !(given & ~(GIVES_WEIGHT | GIVES_GAP)) && !p->positions)
    p->n = 0; /* nothing has to be met here; the start reports the contradiction */
  if (!status && p->n > 0 && given != GIVES_GAP) status = assemble_velocities(m, given & ~GIVES_GAP, p);
  if (status && status != GA_ERR_MEMORY && !(given & ASKED)) p->n = 0, status = GA_OK, m->ctx->error = said;
  p->speeds = (given & GIVES_SPEED) && p->n > 0;
  m->opts.form = form;
  return status;
}

/* ---- Springs that are unloaded at the start ---- */

static int rests_at_start(const ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    if (el->type->set_from_start && el->type->set_from_start(b, el, NULL)) return 1;
  }
  return 0;
}

static void set_rests(ga__mbs_model *b, ga__workspace *w, const double *q)
{
  w->motion = 0;
  ga__kin_at(b, q, NULL, NULL, w->kin);
  for (int i = 0; i < b->element.n; i++) {
    ga__element *el = ga__element_at(b, i);
    if (el->type->set_from_start) el->type->set_from_start(b, el, w->kin);
  }
}

/* If given positions violate the constraints, the start moves bodies, and springs are unloaded at the moved
 * positions. If that fails, the start will report it. */
ga_status ga__set_spring_rests(ga_machine *m, ga__mbs_model *b)
{
  const ga_error error = m->ctx->error;
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_start_report report;
  ga_stepper *st = NULL;
  ga__workspace *own = ga__workspace_own(m);
  double off;
  if (!rests_at_start(b)) return GA_OK;
  ga_status status = ga__phi_initial(own, &off);
  if (status || off <= CLOSED) return status;
  double *q = ga__alloc(m->ctx, (size_t)(b->nq + b->nv) + 1, sizeof *q);
  if (!q) return ga__no_memory(m->ctx, "springs at the start");
  ga__initial_values(b, q, q + b->nq);
  start.h = 1e-3;
  start.max_change = HUGE_VAL;
  status = ga_stepper_create(m->ctx, b->system, &o, &st);
  if (!status) status = ga_stepper_assemble(st, &start, m->opts.t_start, q, NULL, &report);
  if (!status && report.position.change > 0.0) set_rests(b, own, q);
  ga_stepper_destroy(&st);
  ga__free(m->ctx, q);
  if (status == GA_ERR_MEMORY) return status;
  m->ctx->error = error;
  return GA_OK;
}
