/* Probes: quantities that can be measured. (probe.c) */
#ifndef GALPHA_MBS_PROBE_H
#define GALPHA_MBS_PROBE_H

#include "mbs/eval.h"
#include "mbs/gauge.h"

typedef enum ga__probe_kind {
  GA__PROBE_POSITION = 0,
  GA__PROBE_VELOCITY,
  GA__PROBE_ACCELERATION,
  GA__PROBE_SPECIFIC_FORCE,
  GA__PROBE_ANGULAR_VELOCITY,
  GA__PROBE_ANGULAR_ACCELERATION,
  GA__PROBE_REACTION_FORCE, /* of joint `joint` on b at b's marker */
  GA__PROBE_REACTION_TORQUE,
  GA__PROBE_GAUGE, /* value */
  GA__PROBE_GAUGE_RATE,
  GA__PROBE_GAUGE_ACC,  /* no slopes, except for a scalar node */
  GA__PROBE_ANGLE,      /* of the planar body that `of` is on, with its turns */
  GA__PROBE_QUATERNION, /* no slopes */
  GA__PROBE_EULER,      /* 0, 1, 2: roll, pitch, yaw of `of`, R = Rz(yaw) Ry(pitch) Rx(roll) */
  GA__PROBE_ELEMENT,    /* value number `component` of the element of part `owner` */
  GA__PROBE_ERROR,      /* value of the expression of the constraint `owner`; no slopes */
  GA__PROBE_MULTIPLIER, /* −λ number `index`: the force of a drive, gear or rack on its (first) coordinate */
  GA__PROBE_TENSION,    /* λ number `index`: of a distance, positive where it pulls its ends together */
  GA__PROBE_MULTIPLIER_OF_K, /* −ψ number `index`, likewise */
  GA__PROBE_STATE,           /* x number `index` */
  GA__PROBE_OUTPUT,          /* y number `index` */
  GA__PROBE_ENERGY           /* number `index` of ga__energy; no slopes */
} ga__probe_kind;
typedef struct ga__probe {
  ga__probe_kind kind;
  int of, from, axes; /* markers; −1: ground */
  int joint;          /* index of a ga__joint */
  int owner;          /* a part */
  int gauge;
  int component, index;
  int turns;         /* number among the angles whose turns a meter counts, −1: none */
  int part, channel; /* of an output y: the signal it was created for */
} ga__probe;

/* Most values of GA__PROBE_ELEMENT that an element computes at once (ga__element_type.values). */
enum { GA__ELEMENT_VALUES = 24 };

/* Intermediate results for the probes of one evaluation: components of a vector, or an angle and its rate,
 * are usually read one after the other. Indices as in ga__probe; GA__NOT_CACHED: none yet. */
enum { GA__NOT_CACHED = -2 };
typedef struct ga__probe_cache {
  int of, axes; /* markers */
  ga__frame of_frame, axes_frame;
  ga__probe_kind vector; /* X, of the markers vector_of and vector_from */
  int vector_of, vector_from;
  double X[3];
  int joint; /* F, T: its reaction */
  double F[3], T[3];
  int gauge, has_gradient;
  ga__gauge_eval at_gauge;
  double g[12], w[12]; /* gradient, twists */
  int owner;           /* a part: n_values of its values, from first_value on */
  int first_value, n_values;
  double value[GA__ELEMENT_VALUES];
} ga__probe_cache;
void ga__probe_cache_reset(ga__probe_cache *cache);
/* Value at an evaluation. cache: reset before, and used only for probes of this evaluation. */
int ga__probe_read(ga__probe_cache *cache, const ga__eval *e, const ga__probe *probe, double *value);
int ga__probe_value(const ga__eval *e, const ga__probe *probe, double *value); /* of a single probe */
/* On which side of its jump by a full turn an angle is, mixed into *side; other probes have none. */
int ga__probe_has_edges(const ga__probe *probe);
void ga__probe_side(const ga__eval *e, const ga__probe *probe, unsigned *side);
/* Words for a signal that positions and velocities do not determine; NULL: they do. */
const char *ga__probe_beyond_motion(const ga__probe *probe);
/* 1: it has one value in every motion, up to rounding: z of a planar body, the output of a constant block. (constant.c) */
int ga__probe_is_constant(const ga__mbs_model *b, const ga__probe *probe);
/* 1: its derivatives are available, so that it can be an output y of the system. */
int ga__probe_has_slopes(const ga__mbs_model *b, const ga__probe *probe);
/* Columns of the matrix of all unknowns that it depends on: writes up to `room` of them, returns their
 * number. */
int ga__probe_columns(const ga__mbs_model *b, const ga__probe *probe, int *column, int room);
/* Derivatives in the order of ga__probe_columns(): by velocities and accelerations (combined by the shifts)
 * and by λ, ψ, x, y into d; by q into dq. */
int ga__probe_slopes(const ga__eval *e, const ga__probe *probe, double shift_v, double shift_vdot, double *d,
                     double *dq);

#endif
