/* Redundant constraints: relations among them, matrices that leave them out, gaps between them (redundant.c,
 * closing.c). */
#ifndef GALPHA_CORE_REDUNDANT_H
#define GALPHA_CORE_REDUNDANT_H

#include "core/gram.h"
#include "core/null_space.h"
#include "core/state.h"

typedef struct ga__redundant {
  ga__gram gram;
  ga__rows rows;
  ga__null null, null_b; /* of [B; A] and of B alone */
  ga__null null_eta; /* as null_b, for the step under way: −B₁ T B_nᵀ, between Φ and η, is as short of rank
                        as the one of B_n and B₁ that is shorter */
  int valid;         /* they are those of the present state */
  int reported;      /* so is the report */
  int plain_refused; /* the plain matrices are singular whatever the values */
  ga_redundancy report;
  size_t room, numbers; /* relations, and their constraints, that the arrays of the report have room for */
  ga_relation *relation;
  ga_constraint *constraint;
  unsigned char *shared; /* [n_lambda + n_psi] */
} ga__redundant;

/* What redundancy leaves unmet of Φ, and of B v + Φ_t and k: */
typedef struct ga__gap {
  double size; /* in the direction of the relations, rows divided by their lengths */
  double off;  /* of the constraint that is off most, as it is */
  int worst;   /* that one, counted through Φ and k; -1: none */
} ga__gap;

ga_status ga__redundant_create(ga_stepper *st);
void ga__redundant_destroy(ga_stepper *st);
/* The relations at a point into st->red.null, null_b. */
ga_status ga__find_relations(ga_stepper *st, const ga_point *p);
/* Relations and matrices as the present state needs them, at the beginning of a step. */
ga_status ga__ready_relations(ga_stepper *st);
/* Matrices for the relations known, those of η included, before a try. */
ga_status ga__use_relations(ga_stepper *st);
/* After a try that used `used` relations and ended with `status`: are there more, or fewer, at its end? Those
 * are left in st->red. */
ga_status ga__check_rank(ga_stepper *st, ga_status status, int used, int *again);
/* Multipliers of next become the shortest that hold the motion, and redundant constraints must fit together.
 */
ga_status ga__settle_multipliers(ga_stepper *st);
ga_status ga__gaps_at(ga_stepper *st, const ga__state *f, ga__gap *positions, ga__gap *rates);
/* The last of those that are equal, but for rounding. */
double ga__last_max_abs(const double *a, int n, int *where);
void ga__log_relations(ga_stepper *st, double t, int before); /* the warning that their number has changed */
/* Factors the saddle matrix that belongs to the relations known. */
ga_status ga__saddle_at(ga_stepper *st, const ga_point *p, int with_forces);
/* Moves q of the present state to where Φ is smallest, as far as o->max_change; *closed: to where it is 0. */
ga_status ga__close_positions(ga_stepper *st, const ga_start_opts *o, ga_start_change *c, int *closed);

#endif
