/* Members of GA_AUTOMATIC: methods that one stepper has, each with its data and matrices, one of them in use
 * (member.c). */
#ifndef GALPHA_CORE_MEMBER_H
#define GALPHA_CORE_MEMBER_H

#include "core/method.h"

/* What a stepper has of each method. */
typedef struct ga__member {
  const ga__method *method;
  void *own; /* the family's data */
  ga__factors factors;
} ga__member;

/* The methods of the stepper's options with their data, and the matrices of the second one, or of the only
 * one. st->factors.n and the length of a state are those of the larger one. */
ga_status ga__members_create(ga_stepper *st);
void ga__members_destroy(ga_stepper *st);
/* Numbers of the families in a state. */
size_t ga__members_state_length(const ga_stepper *st);
/* Takes the first or the second member, if there are two; steps before are forgotten then. A start must
 * follow, which makes its matrices, unless the state is one of that member. */
void ga__member_use(ga_stepper *st, int second);
int ga__member_is_second(const ga_stepper *st);
/* 1: there are two, between which a simulator may choose. */
int ga__has_members(const ga_stepper *st);

#endif
