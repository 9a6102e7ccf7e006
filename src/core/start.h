/* Internals of starts and projections. */
#ifndef GALPHA_CORE_START_H
#define GALPHA_CORE_START_H

#include "core/stepper.h"

enum { GA__START_ITERATIONS = 25 };

/* -- Steps of another size (start.c) -- */
/* After a start that no step follows, the same with opts->h for steps. *done 0: it has to be made from the
 * beginning, since its matrices are doubtful, or what is done there depends on h. */
ga_status ga__start_resize(ga_stepper *st, const ga_start_opts *opts, ga_start_report *report, int *done);

/* -- Projections (project.c) -- */
ga_start_change ga__start_no_change(void);
/* Whether an iteration has converged; relative increments; *before: the last one. */
int ga__start_has_converged(double increment, double *before);
/* "the <what> cannot be <goal> (<why>)" */
#define GA__ONTO_CONSTRAINTS "moved onto the constraints"
ga_status ga__start_fail_inconsistent(ga_stepper *st, ga_equation_block block, const ga_start_change *c,
                                      const char *what, const char *goal, const char *why);
ga_status ga__start_fail_too_far(ga_stepper *st, const ga_start_opts *o, ga_equation_block block,
                                 const ga_start_change *c, const char *what);
/* q := move(q, δ), [M Bᵀ; B 0](δ, μ) = (0, −Φ), until Φ is at rounding. The sum of all δ is reported. The
 * best q is kept, the given one included. */
ga_status ga__start_project_position(ga_stepper *st, const ga_start_opts *o, ga_start_change *c,
                                     ga__scratch scratch);
/* v := v + δ, [M Bᵀ Aᵀ; B; A](δ, μ) = −(0, B v + Φ_t − offset, k), Newton since k may be nonlinear in v. The
 * best v is kept, as in ga__start_project_position(). */
ga_status ga__start_project_velocity(ga_stepper *st, const ga_start_opts *o, const double *offset,
                                     ga_start_change *c, ga_start_change *ck, ga__scratch scratch);
/* A singular matrix does not depend on the step size here: fatal. */
ga_status ga__start_make_singular_fatal(ga_stepper *st, ga_status status);

/* -- Accelerations, multipliers and outputs at given positions and velocities (accelerations.c) -- */
/* y from q, v and, as far as they are known, vdot, λ and ψ. */
ga_status ga__start_guess_outputs(ga_stepper *st);
/* Outputs that depend on accelerations or multipliers may be undefined where these are 0, as 1/hinge.fy:
 * accelerations at fixed outputs and outputs at fixed accelerations are computed in turn, until Newton's
 * iteration succeeds. If it never does, its first error is reported. */
ga_status ga__start_solve_accelerations(ga_stepper *st, ga_start_change *c, ga__scratch scratch);
/* After a failure: reports a multiplier on which forces do not depend at its guess, as on λ in −Bᵀλ³ at 0. */
ga_status ga__start_explain_by_guess(ga_stepper *st, ga_status status);

/* -- Rates of accelerations along the motion, and the resulting normal part of the velocity (jerk.c) -- */
/* vddot, xddot and the rates of λ, ψ, y by second-order differences along the motion: central at ±s, or
 * forward at s and 2s. */
ga_status ga__start_compute_jerk(ga_stepper *st, double h, int forward, ga__scratch scratch);
/* |h ∂vdot/∂v w + h² ∂vdot/∂q w|/|w|, w the jerk: by how much it changes within a step. Large where a damped
 * or stiff motion is too fast for steps of h, and has a part in the jerk. next is lost. */
ga_status ga__start_jerk_change(ga_stepper *st, double h, double *change, ga__scratch scratch);
/* B(−κh² vddot + h²[v,vdot]/12) into out[n_lambda]: the normal part of v that the index-3 form converges
 * to, h² B r in the papers. The commutator term removes the bracket. B belongs to the current state. */
ga_status ga__start_normal_offset(ga_stepper *st, double kappa_h2, double h2, double *out,
                                  ga__scratch scratch);

/* -- Reports of a start (start_report.c) -- */
/* Reports velocities that changed behind a jump of the equations because a prescribed rate did. */
void ga__start_report_impact(ga_stepper *st, const ga_start_change *c);
void ga__start_warn_moved(ga_stepper *st, const ga_start_change *c, const char *what);
void ga__start_clear_report(ga_start_report *r);
void ga__start_report_relations(ga_stepper *st, ga_start_report *r);

#endif
