/* Laws of the forces and moments of tyres on the road. (tyre_law.c, tyre_moment.c) */
#ifndef GALPHA_MBS_TYRE_LAW_H
#define GALPHA_MBS_TYRE_LAW_H

#include "galpha/mbs.h"
#include "mbs/dual.h"

typedef struct ga__tyre_slip {
  ga__dual slip[2];  /* κ = −v_sx/V, λ = −v_sy/V */
  ga__dual camber;   /* [rad] */
  ga__dual load;     /* [N] > 0 */
  ga__dual mu;       /* factor of friction */
  ga__dual vx, V;    /* [m/s] of the centre along e_x; √(v_x² + speed²) */
  ga__dual spin;     /* [rad/s] of the wheel against the road about e_y */
  ga__dual turn;     /* [rad/s] about e */
  ga__dual distance; /* [m] from the centre to P in the wheel's plane */
} ga__tyre_slip;

typedef struct ga__tyre_forces {
  ga__dual Fx, Fy;     /* [N] along e_x, e_y */
  ga__dual Mx, My, Mz; /* [N m] about e_x, e_y, e, at P */
} ga__tyre_forces;

void ga__tyre_law(const ga_tyre_def *def, const ga__tyre_slip *in, ga__tyre_forces *out);

/* ---- Within the laws ---- */

/* What the Magic Formula's moments take from its forces. */
typedef struct ga__magic {
  const ga_tyre_def *d;
  ga__dual kappa, alpha, gamma, gamma2, load, dfz, mu;
  ga__dual Kx, Ky, BCy; /* slip stiffnesses; B C of the side force */
  ga__dual shift;       /* S_Hy + S_Vy/K_y */
  ga__dual lift;        /* S_Vyκ */
} ga__magic;

/* [rad] |γ| is √(γ² + ε²) − ε, without a corner where wheels are upright; likewise signs of angles */
#define GA__MAGIC_ROUNDING 1e-3

/* C atan(B x − E (B x − atan B x)) */
ga__dual ga__magic_curve(double C, const ga__dual *B, const ga__dual *E, const ga__dual *x);
/* Aligning and overturning moment. */
void ga__magic_moments(const ga__magic *w, const ga__tyre_slip *in, ga__tyre_forces *out);
/* What all laws have: rolling resistance, and friction against turning with the coefficient mu. */
void ga__tyre_resist(const ga_tyre_def *d, const ga__tyre_slip *in, double mu, ga__tyre_forces *out);

#endif
