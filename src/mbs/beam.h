/* Beams as parts: sections, nodes, and what refers to them. (beam.c, beam_section.c) */
#ifndef GALPHA_MBS_BEAM_H
#define GALPHA_MBS_BEAM_H

#include "mbs/beam_element.h"

/* What is wrong with a definition; no reason: nothing. */
typedef struct ga__beam_fault {
  ga_reason reason;
  const char *field, *expected;
  double value; /* of GA_REASON_MESH_NOT_SYMMETRIC: the index of the entry */
  const char *unit;
} ga__beam_fault;

/* The section of a definition whose numbers are finite. (beam_section.c) */
ga__beam_fault ga__beam_section_make(const ga_beam_def *def, ga__beam_section *out);
/* Axes of a section with the given x axis, z as near to `up` (NaN: the default) as it can be; 0: up is along
 * the axis. (beam.c) */
int ga__section_axes(const double axis[3], const double up[3], double R[9]);
/* What is wrong with points that a beam or cable goes through, size numbers each. (beam.c) */
ga__beam_fault ga__points_fault(const double *points, int n, int size);
/* Where it starts and how long it is; pose, from, to and up as given. (beam.c) */
ga__beam_fault ga__beam_place(const ga_beam_def *def, ga_pose *start, double *length);
/* The pose exp(d), d = (u, θ), inverse to ga__beam_relative(). (beam.c) */
void ga__beam_exp(const double d[6], double x[3], double R[9]);
/* The pose of the section at s along a beam that is not loaded, seen from its first one. */
void ga__beam_reference(const double curvature[3], double s, double x[3], double R[9]);
/* out += D³U[moved, ·, ·] of a beam where it is not loaded: moved[6 (elements + 1)] translations and
 * rotations of its nodes; out has blocks of 12 by 12 for each element. (beam.c) */
void ga__beam_add_stiffening(const struct ga__mbs_model *b, int part, const double *moved, ga_sparse *out);

#endif
