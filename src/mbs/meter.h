/* What a meter keeps along a run. (meter.c) */
#ifndef GALPHA_MBS_METER_H
#define GALPHA_MBS_METER_H

#include "mbs/element.h"

struct ga_meter { /* what every step needs stands first, in two lines of the processor's cache */
  int started;
  int simple; /* 1: simple work, and turns that need no check in every step, are all there is to count */
  int n_work_terms, n_spin; /* how many of work_term and spin */
  int n_unilateral;
  ga__unilateral_record *unilateral;
  double t, dissipated, input;
  double lost, in; /* [W] at t */
  double moved,
      fastest; /* what any angle can have moved by since it was looked at; a bound of all |ω| at t */
  ga__work_term *work_term; /* of elements that lose power or put it in */
  int *spin;                /* places in v of the components of ω that move angles; after each ω −1 */

  ga_context *ctx;
  const ga_machine *m;
  ga__workspace *work;
  double start;                 /* kinetic + potential then */
  double *angle, *rate, *turns; /* [n_turns] when they were looked at last; rates 0 where that was before t */
  double *over, *over_t;        /* [n_turns] 1: it has been beyond half a turn; when first */
  int n_turns, watch;           /* 1: angles are looked at in every step */
  int needs_kin;                /* 0: what does work needs no more than q and v */
  int n_impact;                 /* length of v_before: nv where a drive's impacts are accepted, else 0 */
  double *v_before;             /* [n_impact] velocities at t */
};

/* [J] what drives do by an impact between the meter's last state and s, which are its two sides; 0: they are
 * not. */
double ga__impact_work(const ga_meter *meter, const ga_state *s);

#endif
