/* Joints as built, and their coordinates. (joint.c) */
#ifndef GALPHA_MBS_JOINT_H
#define GALPHA_MBS_JOINT_H

#include "mbs/gauge.h"

/* A joint as built. */
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
  int first_own;         /* the first of those in its table; −1: none */
  const void *recipe;    /* that table's row, see joint.c; NULL: none */
  int n_coordinates;
  ga__coordinate coordinate[GA__MOST_COORDINATES];
} ga__joint;

/* What a coordinate is needed for: its value alone, angles within (−π, π]; turns counted as well; its
 * acceleration as well. Where the gauge itself cannot give it, a scalar node follows it, held by a constraint
 * of its own. */
typedef enum ga__coordinate_need { GA__VALUE = 0, GA__TURNS = 1, GA__ACCELERATION = 2 } ga__coordinate_need;
/* The gauge of a named coordinate ("hinge.angle", a joint that has just one, a scalar body). */
ga_status ga__resolve_coordinate(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                 const char *name, ga__coordinate_need follow, int *gauge);
/* The same for coordinate number c of joint j. */
ga_status ga__coordinate_gauge(ga_machine *m, ga__mbs_model *b, int joint, int c, ga__coordinate_need follow,
                               int *gauge);
/* Joints and drives (joint.c). */
/* Once bodies are where they start: what rows are held at, turns of angles. */
ga_status ga__joints_set_constants(ga_machine *m, ga__mbs_model *b);
/* The angle of two frames of planar bodies or the ground, both with z upwards: it begins within (−π, π], and
 * has any number of turns. Returns its gauge, −1: out of memory. */
int ga__add_plane_angle(ga_machine *m, ga__mbs_model *b, int marker_a, int marker_b);
/* Where b's frame is in a's, for these coordinates; R_now, d_now: now, which stays where the joint leaves it
 * free. */
void ga__joint_relative(const ga__joint *joint, const double *value, const double R_now[9],
                        const double d_now[3], double R[9], double d[3]);
/* How b moves against a, in a's axes, for these rates of coordinates with these values: ω and the velocity of
 * b's origin; w_now, u_now: now, likewise. */
void ga__joint_twist(const ga__joint *joint, const double *value, const double *rate, const double w_now[3],
                     const double u_now[3], double w[3], double u[3]);
/* A thread ties its second coordinate to its first: [m] per turn; returns 0 where it has none. */
int ga__joint_pitch(const ga_machine *m, const ga__joint *joint, double *pitch);
/* Does it hold at least half of what can move? */
int ga__joint_holds_most(const ga__joint *joint);
/* A coordinate of a joint, or its rate, as given for the start; NaN: not given. */
double ga__joint_given(const ga_joint_def *def, const char *coordinate, int rate);
/* A row that holds one gauge at a constant, which it has at `rate`. */
ga_status ga__hold_gauge(ga_machine *m, ga__mbs_model *b, int part, const char *label, int gauge,
                         double constant, double rate);

#endif
