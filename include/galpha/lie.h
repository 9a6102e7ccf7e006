/* galpha/lie.h: the configuration space, a product of Lie groups.
 *
 * Storage of q, and velocity v, per factor:
 *   GA_RN      q[n]                v[n]      v = qdot
 *   GA_SO3     R[9] row-major      ω[3]      left: Rdot = R Ω~ (body);   right: Rdot = ω~ R (space)
 *   GA_QUAT    p[4] = (w,x,y,z)    ω[3]      left: pdot = ½ p∘(0,Ω);     right: pdot = ½ (0,ω)∘p
 *   GA_R3SO3   x[3], R[9]          u[3], ω[3]    xdot = u; R as GA_SO3
 *   GA_SE3     x[3], R[9]          U[3], Ω[3]    left: xdot = R U, Rdot = R Ω~;  right: qdot = (U,Ω)~ q, so
 *                                                xdot = U + ω × x, Rdot = ω~ R
 *
 * A factor is trivialised on the left (body angular velocity, as in the papers) or on the right (space
 * angular velocity). ga_group_move() and the functions after it use the factor's side.
 */
#ifndef GALPHA_LIE_H
#define GALPHA_LIE_H

#include "galpha/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_factor_kind { GA_RN = 0, GA_SO3, GA_QUAT, GA_R3SO3, GA_SE3 } ga_factor_kind;
typedef enum ga_side { GA_LEFT = 0, GA_RIGHT = 1 } ga_side;

typedef struct ga_factor {
  ga_factor_kind kind;
  int n;        /* dimension, GA_RN only; ignored elsewhere */
  ga_side side; /* trivialisation; no meaning for GA_RN */
} ga_factor;

typedef struct ga_group ga_group;

/* The product of n_factors factors, in that order. n_factors may be 0 (no mechanical part). */
GA_API ga_status ga_group_create(ga_context *ctx, int n_factors, const ga_factor *factors, ga_group **out);
GA_API void ga_group_destroy(ga_group **group);

GA_API int ga_group_nq(const ga_group *g); /* length of q */
GA_API int ga_group_nv(const ga_group *g); /* length of v, dimension of the algebra */
GA_API int ga_group_n_factors(const ga_group *g);
/* Factor i and, where not NULL, where its q and v begin. */
GA_API ga_factor ga_group_factor(const ga_group *g, int i, int *q_start, int *v_start);

/* All below: output first, outputs may not overlap inputs unless said; no allocation; cannot fail. */
GA_API void ga_group_identity(const ga_group *g, double *q);
GA_API void ga_group_compose(const ga_group *g, double *q, const double *a, const double *b); /* q = a∘b */
GA_API void ga_group_inverse(const ga_group *g, double *q, const double *a);
GA_API void ga_group_exp(const ga_group *g, double *q, const double *d); /* d[nv] in the algebra */
/* Inverse of exp, rotation angle in [0, π]; a quaternion p and −p give the same d. */
GA_API void ga_group_log(const ga_group *g, double *d, const double *q);

/* q1 = q∘exp(d) on the left, exp(d)∘q on the right. Keeps rotation matrices orthonormal and quaternions of
 * unit length to rounding, however many moves are made. q1 may be q. */
GA_API void ga_group_move(const ga_group *g, double *q1, const double *q, const double *d);
/* The d with q1 = move(q, d), the shortest one. */
GA_API void ga_group_difference(const ga_group *g, double *d, const double *q, const double *q1);
/* qdot[nq] of the storage, as in the table above. */
GA_API void ga_group_rate(const ga_group *g, double *qdot, const double *q, const double *v);

/* c = [a,b] on the left and −[a,b] on the right (the bracket that belongs to the side); 0 on R^n. */
GA_API void ga_group_bracket(const ga_group *g, double *c, const double *a, const double *b);
/* c += factor [a,b], with the sign of the side; nothing is done on R^n. c may not overlap a or b. */
GA_API void ga_group_add_bracket(const ga_group *g, double *c, double factor, const double *a,
                                 const double *b);

/* The non-trivial diagonal blocks of tangent operators: R^n and translations of GA_R3SO3 have none. Block b
 * covers v[start .. start+size-1], size 3 or 6 (GA_SE3). Packed, row-major, one after the other. */
GA_API int ga_group_n_blocks(const ga_group *g);
GA_API int ga_group_block(const ga_group *g, int b, int *v_start); /* returns the size */
GA_API int ga_group_blocks_length(const ga_group *g);              /* sum of size² */

/* T(d) with move(q, d+δ) = move(move(q,d), T δ + O(δ²)), in packed blocks. */
GA_API void ga_group_tangent(const ga_group *g, double *T, const double *d);
GA_API void ga_group_tangent_inverse(const ga_group *g, double *Tinv, const double *d);
/* out[nv] = T(d)⁻¹ v: the rate of d where move(q, d) has the velocity v. out may be v. */
GA_API void ga_group_exponent_rate(const ga_group *g, double *out, const double *d, const double *v);
/* A with A b = bracket(a, b), in packed blocks. */
GA_API void ga_group_ad(const ga_group *g, double *A, const double *a);
/* T(d) and T(d) (I + κ A), A that of ga_group_ad() for a. */
GA_API void ga_group_tangent_ad(const ga_group *g, double *T, double *TA, const double *d, double kappa,
                                const double *a);

/* How far q is off the group: the largest entry of |RᵀR−I|, 2 for a negative determinant, ||p|−1|; NaN or
 * infinity if q contains such. */
GA_API double ga_group_defect(const ga_group *g, const double *q);
/* Nearest element: rotation matrices by their polar factor, quaternions by their length. */
GA_API void ga_group_normalise(const ga_group *g, double *q);

#ifdef __cplusplus
}
#endif
#endif
