/* Motions that constraints prescribe wholly: what the files of kinematics share (kinematics.c,
 * kinematics_singular.c). */
#ifndef GALPHA_CORE_KINEMATICS_H
#define GALPHA_CORE_KINEMATICS_H

#include "core/inside.h"
#include "core/start.h"

/* The motion for which the constraints are least independent: B w = σ u, with w measured by M. */
typedef struct ga__least_held {
  double sigma; /* the square root of the least eigenvalue of B M⁻¹ Bᵀ; infinite without constraints */
  double *u;    /* [n_lambda] of the constraints, of length 1 */
  double *w;    /* [nv] of the velocities, of length 1 */
} ga__least_held;

struct ga_kinematics {
  ga_context *ctx;
  ga_kinematics_opts opts;
  ga_stepper *st;
  ga__breaks breaks;
  double t0;       /* [s] of the start */
  double h_next;   /* [s] of the next move; 0: not known */
  int has_state;   /* 1: a start has succeeded */
  int n_free;      /* directions that constraints leave free, of the last start */
  ga_jump_side at; /* whether the state stands beside a jump */
  ga_kinematics_stats stats;
  ga__least_held now, next;             /* of the present state, and of the one that is tried */
  double most_sigma;                    /* largest that was seen */
  double most_speed;                    /* largest velocity away from singular positions */
  double *block;                        /* of all numbers below, and of u and w */
  double *q, *v, *x, *lambda, *psi, *y; /* prediction and guesses */
  double *move;                         /* [nv] of the prediction */
  double *kept;                         /* [state_length] the present state while another one is tried */
};

/* σ, u and w at the stepper's present state; `from`: the one to begin with. */
ga_status ga__least_held_find(ga_kinematics *k, const double *from, ga__least_held *out);
/* Constraints lose their independence between two states, or these are too far apart to tell? 1: so it seems.
 * size: of the move between them, relative. */
int ga__least_held_turned(const ga_kinematics *k, double size);
/* Notes σ and speeds of the present state, by which singular positions are judged. */
void ga__least_held_note(ga_kinematics *k);
/* The error for a motion that cannot be continued beyond the present state; `why`: what the last attempt
 * said. */
ga_status ga__kinematics_fail(ga_kinematics *k, ga_status status, const ga_error *why);
/* The error for a start that leaves n_free directions free. */
ga_status ga__kinematics_refuse_free(ga_kinematics *k);

#endif
