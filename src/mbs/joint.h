/* Joints as built, and their coordinates. (joint.c) */
#ifndef GALPHA_MBS_JOINT_H
#define GALPHA_MBS_JOINT_H

#include "mbs/gauge.h"

enum { GA__MOST_COORDINATES = 3 };
typedef struct ga__coordinate {
  const ga_coordinate_info *info; /* its name is "" for a scalar body's */
  int gauge;                      /* as measured */
  int scalar_gauge;               /* of the scalar node that follows it, −1: none */
} ga__coordinate;
typedef struct ga__joint {
  int part, a, b;        /* markers; −1, −1: gear, rack, drive */
  int point3;            /* −1: none */
  int first_row, n_rows; /* its ga__row */
  int first_own;         /* first row that comes from the table of joint.c; −1: none */
  const void *recipe;    /* its row of that table; NULL: none */
  int n_coordinates;
  ga__coordinate coordinate[GA__MOST_COORDINATES];
} ga__joint;

/* What is needed of a coordinate: its value (angles in (−π, π]); counted turns too; its acceleration too.
 * Where the gauge cannot provide this, a scalar node is added that follows it by a constraint of its own. */
typedef enum ga__coordinate_need { GA__VALUE = 0, GA__TURNS = 1, GA__ACCELERATION = 2 } ga__coordinate_need;
/* The gauge of a named coordinate ("hinge.angle", a joint that has just one, a scalar body). */
ga_status ga__resolve_coordinate(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                 const char *name, ga__coordinate_need follow, int *gauge);
/* The same for coordinate number c of joint j. */
ga_status ga__coordinate_gauge(ga_machine *m, ga__mbs_model *b, int joint, int c, ga__coordinate_need follow,
                               int *gauge);
/* After bodies have their initial positions: constants of rows, turns of angles. */
ga_status ga__joints_set_constants(ga_machine *m, ga__mbs_model *b);
/* The angle between two frames of planar bodies or the ground, both with z upwards: initially in (−π, π],
 * turns are counted. Returns its gauge, −1: out of memory. */
int ga__add_plane_angle(ga_machine *m, ga__mbs_model *b, int marker_a, int marker_b);
/* Pose of b's frame in a's for given coordinates. R_now, d_now: the present pose, kept in directions that are
 * free but not coordinates. */
void ga__joint_relative(const ga__joint *joint, const double *value, const double R_now[9],
                        const double d_now[3], double R[9], double d[3]);
/* Relative motion of b in a's axes for given rates of coordinates: ω and the velocity of b's origin. w_now,
 * u_now: the present motion, kept likewise. */
void ga__joint_twist(const ga__joint *joint, const double *value, const double *rate, const double w_now[3],
                     const double u_now[3], double w[3], double u[3]);
/* Pitch of a screw, [m] per turn, which couples its second coordinate to its first; 0: not a screw. */
int ga__joint_pitch(const ga_machine *m, const ga__joint *joint, double *pitch);
/* x, y or z: a joint that holds all axes together stands at half a turn, where its constraints are satisfied
 * too, and this axis points in the opposite direction; 0: none. */
char ga__joint_turned_over(const ga__mbs_model *b, const ga__joint *joint, const struct ga__kin *kin);
/* 1: it constrains at least half of the relative motions. */
int ga__joint_holds_most(const ga__joint *joint);
/* Given initial value of a joint's coordinate, or (rate 1) of its rate; NaN: not given. */
double ga__joint_given(const ga_joint_def *def, const char *coordinate, int rate);
/* Adds a scalar node that is the sum of coordinates a + ratio b, angles if a is one; *gauge: its own. */
ga_status ga__add_sum(ga_machine *m, ga__mbs_model *b, int part, int gauge_a, int gauge_b, double ratio,
                      int *gauge);
/* Adds a row that holds one gauge at `constant`, and its rate at `rate`. */
ga_status ga__hold_gauge(ga_machine *m, ga__mbs_model *b, int part, const char *label, int gauge,
                         double constant, double rate);
/* Adds c times a gauge to the row that was added last. */
ga_status ga__row_add_term(ga_machine *m, ga__mbs_model *b, int row, int gauge, double c);

#endif
