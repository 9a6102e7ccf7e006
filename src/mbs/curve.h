/* Smooth curves through points, of circular arcs: the axes of beams and cables that are given by points.
 * (curve.c) */
#ifndef GALPHA_MBS_CURVE_H
#define GALPHA_MBS_CURVE_H

/* Two arcs between any two neighbouring points, with common tangents everywhere; at a point the tangent is
 * that of the circle through it and its neighbours. Points on a circle or a line give that circle or line. */
typedef struct ga__curve {
  const double *point; /* [3 n] in the ground's frame */
  int n;               /* >= 2 */
} ga__curve;

/* 1 + number (from 0) of the first point that is where the one before is, or where the curve would turn back
 * by a right angle or more between two points; *same 1: the former. 0: there is none. */
int ga__curve_fault(const ga__curve *c, int *same);
double ga__curve_length(const ga__curve *c);                    /* [m] */
void ga__curve_tangent(const ga__curve *c, int i, double t[3]); /* at point i, of size 1 */

/* At s along the curve, where its frame at the first point, x along the tangent, is moved along without
 * turning about the tangent: place, frame, and *turn [rad] by how much the tangent has turned up to there,
 * turns to and fro added up. */
void ga__curve_at(const ga__curve *c, const double start[9], double s, double x[3], double R[9],
                  double *turn);

#endif
