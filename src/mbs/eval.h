/* Inputs and work space of an evaluation. (workspace.c, system.c) */
#ifndef GALPHA_MBS_EVAL_H
#define GALPHA_MBS_EVAL_H

#include "mbs/node.h"

/* State of ga__workspace.kin in a sweep over rigid bodies. */
typedef enum ga__kin_use {
  GA__KIN_CURRENT, /* kin belongs to the point of evaluation */
  GA__KIN_UPDATE,  /* the sweep computes it, node by node */
  GA__KIN_UNUSED   /* it is not needed */
} ga__kin_use;

/* Work space of one evaluator of a built machine: a stepper, a meter, or the machine itself. The model is
 * only read. (workspace.c) */
typedef struct ga__workspace {
  ga_context *ctx; /* where errors go */
  const ga_machine *m;
  const ga__mbs_model *b;
  ga__kin *kin;         /* [nodes] of the evaluation under way */
  unsigned long motion; /* ga_point.motion and arrays that kin was computed for; 0: none */
  const double *motion_q, *motion_v, *motion_vdot;
  double *f;                         /* [nv] forces within a sweep */
  double *x_sample, *x_next;         /* [n_x] states before and behind samples */
  double *y_between, *y_previous;    /* [n_y] outputs of a state between steps */
  double *y_slope;                   /* [2 y_room] derivatives of one row of y, by D, then by Q */
  double *value, *slope;             /* of one formula's variables, and derivatives by them */
  double *scratch;                   /* of the one element that is evaluated (ga__element_type.scratch) */
  struct ga__carried_space *carried; /* NULL: there are no such frames */
  struct ga__form_space *form;       /* NULL: GA_FORM_SPACE, no rigid body, or no derivatives wanted */
  struct ga__enclosure *enclosure;   /* what outputs stay within (hidden.c); NULL: there are none */
  ga__kin_use use;                   /* of kin, in a sweep over rigid bodies */
  int suspect; /* output that hid something last: it is checked first, which does not change the result */
  const struct ga__selected *selected; /* the terms that are evaluated (selected.h); NULL: all */
  void *block;                         /* of all arrays */
} ga__workspace;

/* Inputs of an evaluation. */
typedef struct ga__eval {
  const ga_machine *m;
  const ga__mbs_model *b;
  const ga_point *p;
  const ga__kin *kin;  /* of all nodes */
  ga__workspace *work; /* of the evaluation */
} ga__eval;

/* Reports that a function or expression of a part is undefined; returns 1 (retry). */
int ga__fail_undefined(const ga__eval *e, int part, const char *field, const ga_fault *fault);

#endif
