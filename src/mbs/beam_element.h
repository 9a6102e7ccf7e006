/* A beam element between two nodes: strain, force and stiffness of a geometrically exact beam, and its
 * inertia. Pure functions of poses and twists; beam.c makes parts of them. (beam_element.c, beam_inertia.c)
 *
 * The section frame of the beam has x along its axis. With H the poses of the nodes' section frames,
 *
 *   d = (u, θ) = log(Ha⁻¹ Hb),  d₀ in the reference, which is bent and twisted evenly over the length L
 *
 * and C = K⁻¹ the compliance of the section, order (x, y, z, about x, y, z), the energy is
 *
 *   U = (d − d₀)ᵀ S⁻¹ (d − d₀)/2L,   S = C + ad_d C ad_dᵀ/12,   ad_d = [θ~ u~; 0 θ~]
 *
 * S has what forces that vary along the element add to its compliance, to second order of the Magnus
 * expansion: displacements, rotations and forces of nodes converge with order 4. S = C, the plain element of
 * constant strain, has order 2. Both depend on d alone, so that rigid motion of whatever size strains
 * nothing, and are free of locking. */
#ifndef GALPHA_MBS_BEAM_ELEMENT_H
#define GALPHA_MBS_BEAM_ELEMENT_H

#include "mbs/node.h"

/* A section, in its own axes. */
typedef struct ga__beam_section {
  double K[36], C[36]; /* [N, N m, N m²] stiffness, symmetric and positive definite, and its inverse */
  double damping;      /* [s] Kelvin–Voigt: forces damping · K · rate of strain */
  double mass;         /* [kg/m] */
  double centre[2];    /* [m] of mass, along y and z */
  double J[9];         /* [kg m] of inertia about the axis's point, per length */
  int plain;           /* 1: S = C, and lumped inertia */
  double turn;         /* [rad] about x, from its axes to the principal ones of its rotary inertia */
  int diagonal;        /* 1: K and C are diagonal */
} ga__beam_section;

typedef struct ga__beam_element {
  const ga__beam_section *section;
  double L;           /* [m] */
  double d0[6];       /* in the reference */
  double frame[2][9]; /* one frame in the axes of a and of b: x along the chord in the reference */
  double chord;       /* [m] between the ends in the reference */
  /* of bending about y and z of the frame (beam_thick.c) */
  double slender[2]; /* s = 1/(1 + Φ), Φ = 12 EI/(GA L²) */
  double bend[2], couple[2], sway[2], spin;
} ga__beam_element;

/* An element of the length L and the reference d0. (beam_thick.c) */
void ga__beam_element_make(ga__beam_element *e, const ga__beam_section *section, double L,
                           const double d0[6]);

/* The element at two poses. Matrices row-major; columns of P are small twists of a, then b, in space. */
typedef struct ga__beam_strain {
  double d[6];
  double c, c1, c2; /* (1 − (θ/2) cot(θ/2))/θ², and its derivatives, see beam_element.c */
  double P[72];     /* δd = P δη [6 × 12]; by ga__beam_set_moves() */
  double S[36];     /* and what is left of it when factored, LDLᵀ */
  const double *Ra, *Rb;
} ga__beam_strain;

enum { GA__BEAM_TOO_BENT = 1 };

/* 0; GA__BEAM_TOO_BENT: one end is turned by so much that the sense of the turn is not known. */
int ga__beam_strain_at(ga__beam_strain *s, const ga__beam_element *e, const ga__kin *a, const ga__kin *b);

/* Sets P, which ga__beam_tangent(), ga__beam_rate_by_q() and ga__beam_add_product() need. */
void ga__beam_set_moves(ga__beam_strain *s);

/* Force within, n at the middle of the element in its axes, n = S⁻¹(d − d₀)/L. */
void ga__beam_force_within(const ga__beam_strain *s, const ga__beam_element *e, double n[6]);
double ga__beam_energy(const ga__beam_strain *s, const ga__beam_element *e, const double n[6]); /* [J] */
/* g = ∂U/∂d from n. */
void ga__beam_gradient(const ga__beam_strain *s, const ga__beam_element *e, const double n[6], double g[6]);
/* With n an iterate of its own, which strain does not determine yet: c = (d − d₀)/L − S n is left.
 * g = ∂U/∂d + L Bᵀ S⁻¹ c, B = ∂c/∂d: what Newton's iteration for poses and n together leaves for poses; */
void ga__beam_mixed_gradient(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                             double g[6]);
/* dn = S⁻¹(B δd + c), its change when d changes by δd. */
void ga__beam_mixed_step(const ga__beam_strain *s, const ga__beam_element *e, const double n[6],
                         const double dd[6], double dn[6]);
/* w[12] += Pᵀ g: what deforms the element, at a and b in space. */
void ga__beam_add_wrench(const ga__beam_strain *s, const double g[6], double w[12]);
/* T[144] = D_q(Pᵀ g): with the stiffness that n has, and of a force g that is held alone (n NULL). */
void ga__beam_tangent(const ga__beam_strain *s, const ga__beam_element *e, const double *n, const double g[6],
                      double T[144]);

/* T[144] = D³U[u, ·, ·], how the stiffness changes with a small displacement u of the nodes: translations and
 * rotation vectors, in space. Symmetric. */
void ga__beam_stiffening(const ga__beam_strain *at, const ga__beam_element *e, const double u[12],
                         double T[144]);

/* d' = P v, v the twists of a and b. */
void ga__beam_rate(const ga__beam_strain *s, const double v[12], double rate[6]);
/* g[6] += damping K rate/L */
void ga__beam_add_viscous(const ga__beam_element *e, const double rate[6], double g[6]);
/* R[72] = D_q(P v) at fixed v. */
void ga__beam_rate_by_q(const ga__beam_strain *s, const double v[12], double R[72]);
/* T[144] += scale · Pᵀ K X, X [6 × 12]. */
void ga__beam_add_product(const ga__beam_strain *s, const double K[36], double scale, const double X[72],
                          double T[144]);

/* d of two poses, for references. */
int ga__beam_relative(double d[6], const double xa[3], const double Ra[9], const double xb[3],
                      const double Rb[9]);

/* ---- Inertia, beyond masses lumped to nodes (beam_inertia.c) ---- */

/* x(ξ) = (1 − ξ) xa + ξ xb + ξ (1 − ξ) q,  q = sa + sb,  sa = R u₀/2 at a, sb = −R u₀/2 at b: the axis as a
 * parabola by its ends and their tangents. */
typedef struct ga__beam_axis {
  double s[2][3];
  double r[2][3];       /* from the nodes to the centres of mass there */
  double axis[2][2][3]; /* y and z of the frame at a, at b, in space */
  const ga__kin *node[2];
} ga__beam_axis;
void ga__beam_axis_at(ga__beam_axis *x, const ga__beam_element *e, const ga__kin *a, const ga__kin *b);

/* w[12] += M vdot with what inertia forces depend on velocities: all of it, but for masses of nodes, half of
 * the element each. */
void ga__beam_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                      double w[12]);
/* T[144] += shift_vdot · derivative of that by vdot + shift_v · by v; and by q. */
void ga__beam_add_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                            double shift_v, double T[144]);
void ga__beam_add_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144]);
double ga__beam_kinetic(const ga__beam_axis *x, const ga__beam_element *e); /* [J] likewise */
/* The same of stretch and twist, which they include (beam_waves.c). */
void ga__beam_wave_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                           double w[12]);
void ga__beam_add_wave_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                 double shift_v, double T[144]);
void ga__beam_add_wave_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144]);
double ga__beam_wave_kinetic(const ga__beam_axis *x, const ga__beam_element *e);
/* The same of sections that turn otherwise than the chord (beam_thick.c). */
void ga__beam_thick_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                            double w[12]);
void ga__beam_add_thick_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                  double shift_v, double T[144]);
void ga__beam_add_thick_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144]);
double ga__beam_thick_kinetic(const ga__beam_axis *x, const ga__beam_element *e);

/* The same of rotary inertia where the ends turn differently (beam_spin.c). */
void ga__beam_spin_inertia(const ga__beam_axis *x, const ga__beam_element *e, int with_vdot, int with_v,
                           double w[12]);
void ga__beam_add_spin_inertia_d(const ga__beam_axis *x, const ga__beam_element *e, double shift_vdot,
                                 double shift_v, double T[144]);
void ga__beam_add_spin_inertia_q(const ga__beam_axis *x, const ga__beam_element *e, double T[144]);
double ga__beam_spin_kinetic(const ga__beam_axis *x, const ga__beam_element *e);

/* w[12] += what loads per length do to nodes: load[12] is a force and a moment in space, then a force and a
 * moment that turn with the sections, in their axes. T (may be NULL) += the derivative of it by q.
 * (beam_load.c) */
void ga__beam_load(const ga__beam_axis *x, const ga__beam_element *e, const double load[12], double w[12],
                   double *T);

/* w[12] += what the weight f of the whole element does beyond f/2 at each node, T (may be NULL) += its
 * derivative by q; and its potential energy, likewise, where gravity is g. */
void ga__beam_add_weight(const ga__beam_axis *x, const ga__beam_element *e, const double f[3], double w[12],
                         double *T);
double ga__beam_height(const ga__beam_axis *x, const ga__beam_element *e, const double g[3]);

#endif
