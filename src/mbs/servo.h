/* Drives by speed, by acceleration, or from a signal. (servo.c) */
#ifndef GALPHA_MBS_SERVO_H
#define GALPHA_MBS_SERVO_H

#include "mbs/element.h"

typedef enum ga__servo_law {
  GA__SERVO_NONE = 0, /* its position is a function of time (joint.c) */
  GA__SERVO_SPEED,    /* a function of time */
  GA__SERVO_ACCELERATION,
  GA__SERVO_FOLLOW,
  GA__SERVO_FOLLOW_SPEED
} ga__servo_law;

extern const ga__element_type ga__servo_type;

ga__servo_law ga__servo_law_of(const ga_drive_def *d);
const char *ga__servo_field(ga__servo_law law); /* the field that gives it */
/* 1: the part is a drive whose speed is a function of time; *speed at the start. */
int ga__servo_initial_speed(const ga_machine *m, const ga__part *part, double *speed);

/* Creation, called for drives (joint.c): in auxiliary systems of the assembly; the element with its
 * coordinate s, which is added to the row with the gauge of the driven coordinate; its input. */
ga_status ga__servo_assemble(ga_machine *m, ga__mbs_model *b, int part, int gauge);
ga_status ga__servo_add(ga_machine *m, ga__mbs_model *b, int part, int gauge, int row);
ga_status ga__servo_resolve(ga_machine *m, ga__mbs_model *b, int part);

#endif
