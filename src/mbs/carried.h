/* Frames that are carried by something that deforms: their pose is a function of all coordinates of several
 * nodes. To its users each is a node of its own, with six velocities that are no unknowns; what
 * elements write for it is handed on to its carriers. (carried.c: motion and values; condense.c: derivatives)
 */
#ifndef GALPHA_MBS_CARRIED_H
#define GALPHA_MBS_CARRIED_H

#include "mbs/mbs_impl.h"

/* A carrier: of a node with a place its motion in space, of one with other coordinates these. */
typedef struct ga__carrier {
  const ga__kin *kin;         /* NULL: a node of n coordinates */
  const double *q, *v, *vdot; /* of such a node */
} ga__carrier;

/* What is asked of a carried frame, for carriers with n velocities together, 6 for those with a place. With
 * w its twist, a its acceleration (u', ω'), and T, n columns wide:
 *
 *   w = T v,   a = T v' + T' v
 *
 * Derivatives by q are by small twists of carriers with a place, and by coordinates of the others. */
typedef struct ga__carried_motion {
  ga__kin kin;          /* x, R, w, a; what v and vdot, NULL, leave out is not read */
  double *T;            /* [6 × n], and the rest: NULL where only kin is asked for */
  int only_T;           /* 1: of the following nothing is read; it may be left out */
  double *rate_by_q;    /* [6 × n] of T v by q */
  double *bias_by_v;    /* [6 × n] of T' v by v */
  double *acc_by_q;     /* [6 × n] of T v' + T' v by q */
  const double *wrench; /* [6] */
  double *force_by_q;   /* [n × n] of Tᵀ wrench by q */
} ga__carried_motion;

/* Adds a frame of an element that its type's function `carry` describes; number: the element's own of it. */
ga_status ga__carried_add(ga_machine *m, ga__mbs_model *b, int part, int number, int n_carriers,
                          const int *carrier, int *node);

/* Once nodes are numbered: their places behind all unknowns. Returns how many rows there are then. */
void ga__carried_number(ga__mbs_model *b);
/* Poses and twists of all of them, those of their carriers being there; q, v, vdot of the system. */
void ga__carried_kin(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                     ga__kin *kin);
void ga__carried_pose(const ga__mbs_model *b, int node, const double *q,
                      ga__kin *out);                                      /* pose alone, of one */
void ga__carried_initial(const ga__mbs_model *b, int node, ga__kin *kin); /* its carriers' too */

typedef struct ga__carried {
  int node, part, number; /* node that stands for it; element's part, and its own number of the frame */
  int n_carriers, *carrier;
  int n;       /* velocities of all of them */
  int *column; /* [n] where these are; −1: a component that the node has not */
  int *self;   /* [n × n] entries of the system's pattern: carriers by carriers */
} ga__carried;

static inline ga__carried *ga__carried_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->carried, ga__carried, i);
}

/* Lists ga__carried.column; then sets b->condensed, the pattern that the system has, from that of elements.
 */
ga_status ga__carried_list_columns(ga_context *ctx, const ga__mbs_model *b, ga__carried *c);
ga_status ga__condensation_create(ga_machine *m, ga__mbs_model *b);
void ga__condensation_free(ga_context *ctx, ga__mbs_model *b);
void ga__carried_free(ga_context *ctx, ga__mbs_model *b);

/* Work space, in a block of zeros. */
typedef struct ga__carried_space {
  double *wide, *more;        /* [n_wide] values of elements */
  double *zero;               /* [nv] */
  double *D, *Q, *G;          /* [entries of elements' pattern] derivatives of elements, */
  double *by_w, *by_a;        /* and what D is made of in the columns of frames */
  double *product;            /* [6 × the most velocities of a frame's carriers] */
  double *rate;               /* [n_lambda + n_psi] */
  ga__carried_motion *motion; /* [carried] */
  ga__kin *kin;               /* [nodes] */
} ga__carried_space;
size_t ga__carried_space_size(const ga__mbs_model *b);
ga__carried_space *ga__carried_space_in(const ga__mbs_model *b, void *block);

/* As ga__elements_...(), for the unknowns that there are. */
void ga__carried_mass(const ga__eval *e, double *out);
int ga__carried_force(const ga__eval *e, double *f);
int ga__carried_phi_acc(const ga__eval *e, double *out);
int ga__carried_k_acc(const ga__eval *e, double *out);
/* s NULL: derivatives alone; J NULL: values alone. Poses and twists of all nodes but the frames are there. */
int ga__carried_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);

/* Of all frames at the point of an evaluation: kin, T and, where only_T is 0, the rest, with the wrenches in
 * the rows of `wide`. */
void ga__carried_eval(const ga__eval *e, int only_T);
/* out[velocities] = wide + Tᵀ (its rows of the frames) */
void ga__carried_sum(const ga__mbs_model *b, const ga__carried_space *s, double *out);

#endif
