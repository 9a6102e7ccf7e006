/* Coordinates of joints: the table of their names, kinds and units. (coordinate.c) */
#ifndef GALPHA_MBS_COORDINATE_H
#define GALPHA_MBS_COORDINATE_H

#include "mbs/mbs_impl.h"

/* X(member of ga_joint_def and name, ANGLE or LENGTH, text for its initial value, text for its initial rate).
 * Initial values of joints, their fields in model files and their signals come from this list. The tables of
 * joint.c say which joint has which coordinates. */
#define GA__COORDINATE_LIST(X)                                                                               \
  X(angle, ANGLE, "angle at the start, of any number of turns", "the angle")                                 \
  X(displacement, LENGTH, "displacement at the start", "the displacement")                                   \
  X(angle_x, ANGLE, "angle of b about x of a at the start", "angle_x")                                       \
  X(angle_y, ANGLE, "angle about y of b at the start", "angle_y")                                            \
  X(x, LENGTH, "of b's origin along x of a at the start", "x")                                               \
  X(y, LENGTH, "of b's origin along y of a at the start", "y")

#define GA__UNIT_ANGLE "rad"
#define GA__UNIT_LENGTH "m"

enum {
#define GA__COORDINATE_NUMBER(member, motion, value, rate) GA__COORDINATE_##member,
  GA__COORDINATE_LIST(GA__COORDINATE_NUMBER)
#undef GA__COORDINATE_NUMBER
      GA__N_COORDINATES
};

const ga_coordinate_info *ga__coordinate_info(int number); /* of the list above */
const ga_coordinate_info *ga__scalar_info(int is_angle);   /* of a scalar body: its name is "" */
/* Units of a motion: a length or an angle, its rate, acceleration, and the force along it. */
const char *ga__motion_unit(int is_angle, ga_motion_unit what);
/* Suffix of the name of a coordinate's derivative 0, 1, 2. */
const char *ga__coordinate_suffix(int derivative);

/* Initial value of a coordinate, or (rate 1) its initial rate; NaN: not given. */
double ga__coordinate_given(const ga_joint_def *def, int number, int rate);
/* The same of a joint, or of another part that has the coordinate; NaN for a scalar body. */
double ga__given_coordinate(const ga__part *part, const ga_coordinate_info *info, int rate);
/* 1: a joint or slider with coordinates; 0: a scalar body, a coupling, a drive. */
int ga__has_coordinates(const ga__joint *joint);
/* Kinds of joints that have the coordinate, in space or in the plane, as bits. (joint.c) */
unsigned long ga__coordinate_kinds(int number);

/* 1: the gauge measures an angle. For a scalar node: its body, or the coordinate it follows, is an angle. */
int ga__gauge_is_angle(const ga__mbs_model *b, int gauge);
/* The same of a scalar node. */
int ga__node_is_angle(const ga__mbs_model *b, const ga__node *node);

#endif
