/* The point where a wheel touches a road. (tyre_contact.c) */
#ifndef GALPHA_MBS_TYRE_CONTACT_H
#define GALPHA_MBS_TYRE_CONTACT_H

#include "mbs/road.h"

typedef struct ga__wheel {
  ga__dual C[3], axis[3]; /* centre, unit vector of the axis */
  double radius, carcass; /* [m] */
  int sphere;             /* 1: a sphere with the radius `carcass`; axis, e_x, e_y and camber are not used */
} ga__wheel;

typedef struct ga__touch {
  ga__road_plane plane; /* tangent plane of the road at P */
  ga__dual m;           /* [-] sine of the angle between axis and normal; 0: the wheel lies flat */
  ga__dual ex[3], ey[3], P[3], camber;
  ga__dual rho;    /* [m] from the centre to the circle of carcass sections, in the wheel's plane */
  double place[2]; /* [m] x, y on the road */
  double gap; /* [m] by how much P is not where the plane was taken: 0 up to rounding where it is found */
} ga__touch;

/* [-] sine of that angle below which a wheel lies flat; nothing but m is known then */
#define GA__FLAT 1e-6

/* With derivatives by the variables of wheel, frame and t. Returns as ga__road_plane_at(). */
int ga__touch_find(ga__touch *out, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                   const ga__road_frame *frame, const ga__dual *t);

/* [m] by how deep the wheel also is at another place of the road than where it touches, beyond a rise of the
 * distance between both, or by how far no place was found; 0: neither. place: there. */
double ga__touch_doubt(const ga__touch *touch, const ga__wheel *wheel, const ga__eval *e,
                       const ga__road *road, const ga__road_frame *frame, const ga__dual *t, double place[2]);

#endif
