/* Redundant constraints: relations among them, matrices that exclude them, contradictions between them
 * (redundant.c, closing.c). */
#ifndef GALPHA_CORE_REDUNDANT_H
#define GALPHA_CORE_REDUNDANT_H

#include "core/gram.h"
#include "core/null_space.h"
#include "core/state.h"

typedef struct ga__redundant {
  ga__gram gram;
  ga__rows rows;
  ga__null null, null_b; /* of [B; A] and of B alone */
  ga__null null_eta; /* as null_b, for the current step: the rank of −B₁ T B_nᵀ, between Φ and η, is the
                        smaller one of B_n and B₁ */
  int valid;         /* 1: they belong to the current state */
  int reported;      /* 1: so does the report */
  int plain_refused; /* 1: the plain matrices are singular for any values */
  ga_redundancy report;
  size_t room, numbers; /* relations and constraints that the report has room for */
  ga_relation *relation;
  ga_constraint *constraint;
  unsigned char *shared; /* [n_lambda + n_psi] */
} ga__redundant;

/* Contradiction of redundant constraints, of Φ, or of B v + Φ_t and k: */
typedef struct ga__gap {
  double size; /* component along the relations, rows divided by their lengths */
  double off;  /* residual of the constraint that is violated most, unscaled */
  int worst;   /* that one, counted through Φ and k; -1: none */
} ga__gap;

ga_status ga__redundant_create(ga_stepper *st);
void ga__redundant_destroy(ga_stepper *st);
/* The relations at a point into st->red.null, null_b. */
ga_status ga__find_relations(ga_stepper *st, const ga_point *p);
/* Updates relations and matrices for the current state, at the beginning of a step. */
ga_status ga__ready_relations(ga_stepper *st);
/* Switches to the matrices for the known relations, those of η included, before an attempt. */
ga_status ga__use_relations(ga_stepper *st);
/* After an attempt with `used` relations that ended with `status`: *again 1 if there are more or fewer at
 * its end, which are left in st->red. */
ga_status ga__check_rank(ga_stepper *st, ga_status status, int used, int *again);
/* Makes the multipliers of next those of least norm, and checks that redundant constraints do not
 * contradict each other. */
ga_status ga__settle_multipliers(ga_stepper *st, ga__scratch scratch);
ga_status ga__gaps_at(ga_stepper *st, const ga__state *f, ga__gap *positions, ga__gap *rates,
                      ga__scratch scratch);
/* As ga__max_abs(); *where: the last of those equal up to rounding. */
double ga__last_max_abs(const double *a, int n, int *where);
void ga__log_relations(ga_stepper *st, double t, int before); /* the warning that their number has changed */
/* Factors the saddle matrix for the known relations. */
ga_status ga__saddle_at(ga_stepper *st, const ga_point *p, int with_forces);
/* Moves q of the current state to the least |Φ|, by at most o->max_change; *closed 1: Φ = 0 is reached. */
ga_status ga__close_positions(ga_stepper *st, const ga_start_opts *o, ga_start_change *c, int *closed,
                              ga__scratch scratch);

#endif
