/* Data of a meter during a run. (meter.c) */
#ifndef GALPHA_MBS_METER_H
#define GALPHA_MBS_METER_H

#include "mbs/doubt.h"
#include "mbs/limit.h"

/* Powers at the nodes of a stepper's last step, and the polynomials through them. */
typedef struct ga__power_nodes {
  int n;             /* nodes; 0: there are none, and the trapezoidal rule is taken */
  double begin, end; /* [s] of the step */
  double lost[GA_MOST_NODES], in[GA_MOST_NODES]; /* [J] coefficients of the integrals from its beginning,
                                                    times s, s², ...; s is 1 at its end */
} ga__power_nodes;

struct ga_meter { /* members that every step needs come first, within two cache lines */
  int started;
  int simple;               /* 1: all work terms are simple, and turns need no check in every step */
  int n_work_terms, n_spin; /* lengths of work_term and spin */
  int n_unilateral;
  ga__unilateral_record *unilateral;
  int n_spin_limits;
  ga__spin_record *spin_limit;
  double t, dissipated, input;
  double lost, in;          /* [W] at t */
  double stored;            /* [J] potential energy of work terms at t, which may jump with time */
  double moved;             /* [rad] bound of the change of any counted angle since it was evaluated */
  double fastest;           /* [rad/s] bound of all |ω| at t */
  ga__work_term *work_term; /* of elements that dissipate power or put it in */
  double *fading;           /* [n_work_terms] [J] ga__powers.fading at t */
  int *spin;                /* indices in v of the components of ω that change angles; −1 after each ω */

  ga_context *ctx;
  const ga_machine *m;
  ga__workspace *work;
  double start;                 /* [J] kinetic + potential at the start */
  double *angle, *rate, *turns; /* [n_turns] at their last evaluation; rate 0 if that was before t */
  double *over, *over_t;        /* [n_turns] 1: it has been beyond half a turn; first time of that */
  int n_turns;                  /* counted angles */
  int watch;                    /* 1: they are evaluated in every step */
  int needs_kin;                /* 0: work terms need only q and v */
  int rigid_stops;              /* 1: velocities may jump at rigid stops */
  double at_stops;              /* [J] what the last update took for the work of impacts there */
  int n_doubts;                 /* elements with states to be reported */
  ga__doubt_record *doubt;
  int n_limits;
  ga__limit_record *limit;
  int n_impact;     /* length of v_before: nv if a drive accepts impacts, else 0 */
  double *v_before; /* [n_impact] velocities at t */
  ga__power_nodes nodes;
  double *fading_inside; /* [n_work_terms] at a node */
};

/* [J] work of drives in an impact, if the meter's last state and s are the two sides of one; else 0. */
double ga__impact_work(const ga_meter *meter, const ga_state *s);

/* [J] dissipated and put in from the meter's last state to s, which ends with these powers [W]. */
void ga__meter_span(const ga_meter *meter, double t, double lost, double in, double *dissipated,
                    double *input);

#endif
