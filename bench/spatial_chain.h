/* The spatial chain: the bench's scalable problem in three dimensions, as every code here is given it.
 *
 * n uniform rods of 1 m and 1 kg in all, l = 1 m / n and m = 1 kg / n each, moments of inertia about their
 * centres m l²/12 across and m l²/120 along. Joint i holds the near end of rod i: at the origin for i = 0, at
 * the far end of rod i−1 otherwise. At t = 0 the chain lies straight along +x, all frames of the rods
 * parallel to the world's, x along the rod. Gravity 9.81 m/s² along −z, 1 s.
 *
 *   SPATIAL_SPHERICAL  spherical joints, released from rest: the motion stays in the x–z plane and is that of
 *                      the planar chain of chain.h
 *   SPATIAL_REVOLUTE   revolute joints, axes fixed in both rods (or the ground), along y at t = 0 for even i
 *                      and along z for odd i. From rest the z-joints would never move, so each of them starts
 *                      with 10/n rad/s and the y-joints with 0: rod i turns with ⌊(i+1)/2⌋ · 10/n rad/s about
 *                      z, the last one with 5, at every (even) n the same motion at large. */
#ifndef GALPHA_BENCH_SPATIAL_CHAIN_H
#define GALPHA_BENCH_SPATIAL_CHAIN_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum spatial_kind { SPATIAL_SPHERICAL = 0, SPATIAL_REVOLUTE = 1, SPATIAL_N_KINDS } spatial_kind;

typedef struct spatial_chain {
  spatial_kind kind;
  int n;                    /* rods */
  double l, m;              /* [m], [kg] of one rod */
  double J_across, J_along; /* [kg m²] about its centre */
  double g;                 /* [m/s²] along −z */
  double t_end;             /* [s] */
} spatial_chain;

spatial_chain spatial_chain_make(spatial_kind kind, int n);
const char *spatial_kind_name(spatial_kind kind); /* "spherical", "revolute" */

/* Of a revolute joint at t = 0: its axis in the frames of both rods, and its rate [rad/s]. */
void spatial_joint_axis(double axis[3], int joint);
double spatial_joint_rate(const spatial_chain *c, int joint);

typedef struct spatial_rod { /* a rod in world axes */
  double x[3];               /* [m] its centre */
  double p[4];               /* unit quaternion (w, x, y, z), from the rod's axes to the world's */
  double u[3], w[3];         /* [m/s], [rad/s] velocity of the centre, angular velocity */
} spatial_rod;

/* Rod i at t = 0. */
void spatial_chain_start(spatial_rod *rod, const spatial_chain *c, int i);

/* [m] the free end, of the last rod's centre and unit quaternion. */
void spatial_chain_tip(double tip[3], const spatial_chain *c, const double x[3], const double p[4]);
/* The tip at t_end, and how far off it may be at the most [m], from a table made with
 * spatial_tip_by_extrapolation(). 0; -1 where the table has no such chain. */
int spatial_chain_reference(double tip[3], double *within, const spatial_chain *c);
/* [m] largest component of tip's distance from the reference; NaN without one. */
double spatial_chain_error(const spatial_chain *c, const double tip[3]);

/* The tip at time t by an integration that shares nothing with the codes compared: joint coordinates only,
 * articulated bodies from the free end upwards, extrapolated modified midpoint of order 2·columns (2 to 10)
 * in n_steps equal steps. 0, or -1 when out of memory or of range. */
int spatial_tip_by_extrapolation(const spatial_chain *c, double t, long n_steps, int columns, double tip[3]);

#ifdef __cplusplus
}
#endif
#endif
