/* Carried frames: frames on deformable parts, whose pose is a function of the coordinates of several nodes,
 * the carriers. Elements see each as a node of its own, with six velocities that are not unknowns. What they
 * write for it is transferred to the carriers: values in carried.c, derivatives in condense.c. */
#ifndef GALPHA_MBS_CARRIED_H
#define GALPHA_MBS_CARRIED_H

#include "mbs/mbs_impl.h"

/* A carrier: the motion of a node with a pose, or the coordinates of a node of R^n. */
typedef struct ga__carrier {
  const ga__kin *kin;         /* NULL: a node of R^n */
  const double *q, *v, *vdot; /* of a node of R^n */
} ga__carrier;

/* Motion of a carried frame, to be computed by ga__element_type.carry. v has n components: the velocities of
 * all carriers, six for each carrier with a pose. With w the twist of the frame, a = (u', ω') its
 * acceleration:
 *
 *   w = T v,   a = T v' + T' v
 *
 * Derivatives by q are by small twists of carriers with a pose, and by coordinates of the others. */
typedef struct ga__carried_motion {
  ga__kin kin;          /* x, R, w, a; w and a are not read where v or vdot of the carriers is NULL */
  double *T;            /* [6 × n]; NULL: only kin is needed, and the pointers below are NULL too */
  int only_T;           /* 1: nothing below is needed */
  double *rate_by_q;    /* [6 × n] of T v by q */
  double *bias_by_v;    /* [6 × n] of T' v by v */
  double *acc_by_q;     /* [6 × n] of T v' + T' v by q */
  const double *wrench; /* [6] */
  double *force_by_q;   /* [n × n] of Tᵀ wrench by q */
} ga__carried_motion;

/* Adds a frame whose motion the element's function `carry` computes; number: passed to `carry`. */
ga_status ga__carried_add(ga_machine *m, ga__mbs_model *b, int part, int number, int n_carriers,
                          const int *carrier, int *node);

/* After nodes are numbered: assigns rows and columns behind all unknowns to the frames. */
void ga__carried_number(ga__mbs_model *b);
/* Poses and twists of all frames; those of their carriers are already in kin. q, v, vdot of the system. */
void ga__carried_kin(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                     ga__kin *kin);
/* Pose of one frame. */
void ga__carried_pose(const ga__mbs_model *b, int node, const double *q, ga__kin *out);
/* Initial motion of one frame; computes that of its carriers too. */
void ga__carried_initial(const ga__mbs_model *b, int node, ga__kin *kin);

typedef struct ga__carried {
  int node, part, number; /* node of the frame; part of the element; number of the frame for `carry` */
  int n_carriers, *carrier;
  int n;       /* velocities of all carriers */
  int *column; /* [n] their columns; −1: a component that the node does not have */
  int *self;   /* [n × n] entries of the system's pattern: carriers by carriers */
} ga__carried;

static inline ga__carried *ga__carried_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->carried, ga__carried, i);
}

/* Fills ga__carried.column. */
ga_status ga__carried_list_columns(ga_context *ctx, const ga__mbs_model *b, ga__carried *c);
/* Makes b->condensed, the pattern of the system, from b->pattern, that of the elements. */
ga_status ga__condensation_create(ga_machine *m, ga__mbs_model *b);
void ga__condensation_free(ga_context *ctx, ga__mbs_model *b);
void ga__carried_free(ga_context *ctx, ga__mbs_model *b);

/* Work space, in a block of zeros. */
typedef struct ga__carried_space {
  double *wide, *more;        /* [n_wide] values of elements */
  double *zero;               /* [nv] */
  double *D, *Q, *G;          /* [entries of elements' pattern] derivatives of elements */
  double *by_w, *by_a;        /* [same] parts of D in the columns of frames: by twists, by accelerations */
  double *product;            /* [6 × the most velocities of a frame's carriers] */
  double *rate;               /* [n_lambda + n_psi] */
  ga__carried_motion *motion; /* [carried] */
  ga__kin *kin;               /* [nodes] */
} ga__carried_space;
size_t ga__carried_space_size(const ga__mbs_model *b);
ga__carried_space *ga__carried_space_in(const ga__mbs_model *b, void *block);

/* As ga__elements_...(), in terms of the unknowns of the system. */
void ga__carried_mass(const ga__eval *e, double *out);
int ga__carried_force(const ga__eval *e, double *f);
int ga__carried_phi_acc(const ga__eval *e, double *out);
int ga__carried_k_acc(const ga__eval *e, double *out);
/* s NULL: derivatives only; J NULL: values only. e->kin has all nodes except the frames. */
int ga__carried_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);

/* Computes kin and T of all frames at the point of an evaluation and, where only_T is 0, the other members of
 * ga__carried_motion, with the wrenches from the rows of `wide`. */
void ga__carried_eval(const ga__eval *e, int only_T);
/* out[velocities] = wide + Tᵀ (its rows of the frames) */
void ga__carried_sum(const ga__mbs_model *b, const ga__carried_space *s, double *out);

#endif
