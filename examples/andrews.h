/* Andrews' squeezing mechanism: the data that its two formulations share, and its spring.
 *
 * Seven bars, numbered 1 to 7 as in the IVP test set, move in the plane; a constant torque drives the crank.
 *
 *   1 the crank, turning about O, with the pin F at its end     2 from F to the pin P
 *   3 a triangle turning about B, from P to the spring's end D
 *   4 from P to the pin G     5 from G to its axis A
 *   6 from P to the pin H     7 from H to its axis A
 *
 * Gravity plays no part. The motion is fast, the crank soon turns at more than 1000 rad/s. A classical test
 * for constrained systems: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7;
 * F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers. SI units throughout. */
#ifndef GALPHA_EXAMPLES_ANDREWS_H
#define GALPHA_EXAMPLES_ANDREWS_H

#include <math.h>

/* masses [kg] and moments of inertia [kg m²] about the centres of mass */
#define AN_M1 0.04325
#define AN_M2 0.00365
#define AN_M3 0.02373
#define AN_M4 0.00706
#define AN_M5 0.07050
#define AN_M6 0.00706
#define AN_M7 0.05498
#define AN_I1 2.194e-6
#define AN_I2 4.410e-7
#define AN_I3 5.255e-6
#define AN_I4 5.667e-7
#define AN_I5 1.169e-5
#define AN_I6 5.667e-7
#define AN_I7 1.912e-5

/* lengths [m], named as in the test set */
#define AN_D 0.028
#define AN_DA 0.0115
#define AN_E 0.02
#define AN_EA 0.01421
#define AN_RR 0.007
#define AN_RA 0.00092
#define AN_SS 0.035
#define AN_SA 0.01874
#define AN_SB 0.01043
#define AN_SC 0.018
#define AN_SD 0.02
#define AN_TA 0.02308
#define AN_TB 0.00916
#define AN_U 0.04
#define AN_UA 0.01228
#define AN_UB 0.00449
#define AN_ZF 0.02
#define AN_ZT 0.04
#define AN_FA 0.01421

static const double an_A[2] = {-0.06934, -0.00227}; /* [m] the fixed points; O is the origin */
static const double an_B[2] = {-0.03635, 0.03273};
static const double an_C[2] = {0.014, 0.072}; /* the spring's fixed end */
static const double an_stiffness = 4530;      /* [N/m] c0 */
static const double an_rest_length = 0.07785; /* [m] l0 */
static const double an_torque = 0.033;        /* [N m] on the crank */

/* r = D − C and its length L */
static inline double an_spring_length(double r[2], const double D[2])
{
  r[0] = D[0] - an_C[0];
  r[1] = D[1] - an_C[1];
  return sqrt(r[0] * r[0] + r[1] * r[1]);
}

/* f = −c0 (1 − l0/L) r, the force on D */
static inline void an_spring_force(double f[2], const double D[2])
{
  double r[2];
  const double tension = an_stiffness * (1 - an_rest_length / an_spring_length(r, D));
  f[0] = -tension * r[0];
  f[1] = -tension * r[1];
}

/* K = −∂f/∂D = c0 (1 − l0/L) I + c0 l0/L³ r rᵀ */
static inline void an_spring_stiffness(double K[2][2], const double D[2])
{
  double r[2];
  const double L = an_spring_length(r, D);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      K[i][j] =
          an_stiffness * ((i == j) * (1 - an_rest_length / L) + an_rest_length / (L * L * L) * r[i] * r[j]);
}

static inline double an_spring_energy(const double D[2])
{
  double r[2];
  const double stretch = an_spring_length(r, D) - an_rest_length;
  return 0.5 * an_stiffness * stretch * stretch;
}

/* y = R(angle) X; turned once by 90° it is the derivative by the angle, twice −y. */
static inline void an_rotate(double y[2], double angle, const double X[2])
{
  const double c = cos(angle), s = sin(angle);
  y[0] = c * X[0] - s * X[1];
  y[1] = s * X[0] + c * X[1];
}

#endif
