/* Nodes: coordinates and motion of bodies; markers on them. (node.c) */
#ifndef GALPHA_MBS_NODE_H
#define GALPHA_MBS_NODE_H

#include "mbs/machine.h"

#include <string.h>

enum { GA__PX = 1, GA__PY = 2, GA__PZ = 4, GA__RX = 8, GA__RY = 16, GA__RZ = 32, GA__ALL6 = 63 };

typedef struct ga__node {    /* members for evaluation come first */
  int q, v;                  /* its first coordinate and velocity */
  int planar, scalar, rigid; /* one of them is 1; none: point or ground */
  int angle;                 /* scalar: 1: an angle that no part or joint tells of */
  int vector;                /* 1: n coordinates of R^n, without a pose and without a twist */
  int xx, xx_full, rr;  /* rigid nodes: first entries of its tiles xx (all nine or the diagonal) and φφ */
  double mass, J[9];    /* [kg], [kg m²] about the origin, in body axes */
  double z;             /* planar: the plane */
  unsigned has;         /* bits: components of the twist that it has; the ground has none */
  int column[6];        /* component → column among its velocities, −1: not there */
  int n;                /* velocities */
  int self;             /* its pair with itself */
  int part;             /* owner: a body, or the joint or drive that needs it */
  int number;           /* 1, 2, ... of a part with several nodes; 0: the only one */
  double com[3];        /* its origin in the body's frame */
  double q0[12], v0[6]; /* initial values: as stored in q; twist in space */
  double q_given[12], v_given[6]; /* the same as defined by the part, before assembly */
  int carried;                    /* 1 + number of its carried frame (carried.c); 0: none */
  double *own;                    /* vector: [4 n] instead of q0, v0, q_given, v_given; else NULL */
} ga__node;

/* Pose, twist and acceleration of a node at the point of an evaluation. */
typedef struct ga__kin {
  double x[3], R[9];
  double w[6];   /* twist */
  double acc[6]; /* of the origin, and angular */
  double angle;  /* planar nodes: any number of turns */
} ga__kin;

/* to[velocities of the node] += scale · six; six: a wrench, or another vector of that kind. */
static inline void ga__add_six(double *to, const ga__node *node, double scale, const double six[6])
{
  for (int c = 0; c < 6; c++)
    if (node->column[c] >= 0) to[node->column[c]] += scale * six[c];
}

/* A marker; node 0 is the ground. */
typedef struct ga__marker {
  int node;
  double s[3]; /* from the node's origin, in body axes */
  double A[9]; /* axes in body axes */
} ga__marker;

/* A marker at the point of an evaluation. */
typedef struct ga__frame {
  int node;
  double r[3]; /* from the node's origin to the marker's, ground axes */
  double p[3]; /* the marker's origin */
  double A[9]; /* its axes as columns, ground axes */
} ga__frame;

void ga__frame_at(ga__frame *f, const ga__marker *marker, const ga__kin *kin /* of all nodes */);

/* From the initial values of a node. */
void ga__kin_initial(const ga__mbs_model *b, int node, ga__kin *kin);
void ga__kin_pose(const ga__node *node, const double q[12], ga__kin *k); /* at rest, q as in ga__node.q0 */
/* Poses at q of the system; the node has a pose. */
void ga__marker_pose(const ga__mbs_model *b, int marker, const double *q, ga_pose *pose);
void ga__node_pose(const ga__mbs_model *b, int node, const double *q, ga_pose *pose);
/* After bodies are created: copies q0, v0 to q_given, v_given. */
void ga__nodes_keep_given(ga__mbs_model *b);
/* A massless scalar node for a joint. */
ga_status ga__node_add_scalar(ga_machine *m, ga__mbs_model *b, int part, int *marker);
/* A rigid node, at rest, of a part with several nodes; J about its origin, in its axes. */
ga_status ga__node_add_rigid(ga_machine *m, ga__mbs_model *b, int part, double mass, const double J[9],
                             const double x[3], const double R[9], int *node);
/* A mass point, at rest, of a part with several nodes. */
ga_status ga__node_add_point(ga_machine *m, ga__mbs_model *b, int part, double mass, const double x[3],
                             int *node);
/* The node of a carried frame; see ga__carried_add(). */
ga_status ga__node_add_carried(ga_machine *m, ga__mbs_model *b, int part, int frame, int *node);
/* A node of n coordinates of an element, as amplitudes of modes: no pose; inertia only from the element. q,
 * v: [n] initial values, NULL: zeros. */
ga_status ga__node_add_vector(ga_machine *m, ga__mbs_model *b, int part, int n, const double *q,
                              const double *v, int *node);
static inline size_t ga__node_n_q(const ga__node *node)
{
  return node->rigid ? 12u : (size_t)node->n;
}
const ga__node *ga__node_with(const ga__mbs_model *b, int v); /* the node with velocity number v */
/* Initial values: from the node to q and v of the system, and back (v may be NULL). */
void ga__node_get_initial(const ga__node *node, double *q, double *v);
void ga__node_set_initial(ga__node *node, const double *q, const double *v);
/* Motion of one node at q, v, vdot of the system: of a rigid one in the space form; */
static inline void ga__kin_rigid(const ga__node *node, const double *q, const double *v, const double *vdot,
                                 ga__kin *k)
{
  memcpy(k->x, q + node->q, 12 * sizeof *q); /* x and R follow each other in both */
  if (v) memcpy(k->w, v + node->v, sizeof k->w);
  if (vdot) memcpy(k->acc, vdot + node->v, sizeof k->acc);
}
/* of any other. v, vdot may be NULL. */
void ga__kin_other(const ga__node *node, const double *q, const double *v, const double *vdot, ga__kin *k);
/* Motion of all nodes; v, vdot may be NULL. ga__kin_nodes() leaves out carried frames. */
void ga__kin_nodes(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                   ga__kin *kin);
void ga__kin_at(const ga__mbs_model *b, const double *q, const double *v, const double *vdot, ga__kin *kin);

#endif
