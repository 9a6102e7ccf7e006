/* Internals of the lie layer.
 *
 * A group is a list of parts. A part is one of the kinds R^n, SO(3), unit quaternions, SE(3); a direct
 * product such as GA_R3SO3 has several parts. A kind is a table of functions; a new group needs nothing
 * else. */
#ifndef GALPHA_LIE_IMPL_H
#define GALPHA_LIE_IMPL_H

#include "galpha/lie.h"

enum { GA__PART_NQ = 12 }; /* largest nq of a kind other than R^n */

typedef struct ga__kind ga__kind;

typedef struct ga__part {
  const ga__kind *kind;
  int nq;     /* length of its q, and of its v in R^n */
  int q, v;   /* where its q and v begin */
  int packed; /* where its block begins among the packed ones */
  double sign; /* 1 left, −1 right: right operators are the left ones with the sign of d, or of a, reversed */
} ga__part;

/* Every function is given its own section of q, v or the packed blocks. No overlap, except q1 == q in move.
 */
struct ga__kind {
  int nq, nv; /* 0 for R^n: see the part */
  int block;  /* size of the tangent block, 0: the identity, no block */
  void (*identity)(const ga__part *p, double *q);
  void (*compose)(const ga__part *p, double *q, const double *a, const double *b);
  void (*inverse)(const ga__part *p, double *q, const double *a);
  void (*exp)(const ga__part *p, double *q, const double *d);
  void (*log)(const ga__part *p, double *d, const double *q);
  void (*move)(const ga__part *p, double *q1, const double *q, const double *d); /* NULL: `moves` does it */
  void (*difference)(const ga__part *p, double *d, const double *q, const double *q1);
  void (*rate)(const ga__part *p, double *qdot, const double *q, const double *v);
  void (*bracket)(const ga__part *p, double *c, const double *a, const double *b);
  void (*add_bracket)(const ga__part *p, double *c, double factor, const double *a,
                      const double *b); /* NULL if there is no block */
  void (*tangent)(const ga__part *p, double *T,
                  const double *d); /* this and the next two: NULL if no block */
  void (*tangent_inverse)(const ga__part *p, double *Tinv, const double *d);
  void (*ad)(const ga__part *p, double *A, const double *a);
  /* Of n parts at once, with the arrays of the whole group: independent operations overlap. moves: NULL
   * where `move` is given. */
  void (*moves)(const ga__part *const *part, int n, double *q1, const double *q, const double *d);
  void (*tangent_ads)(const ga__part *const *part, int n, double *T, double *TA, const double *d,
                      double kappa, const double *a);
  void (*exponent_rates)(const ga__part *const *part, int n, double *out, const double *d, const double *v);
  void (*tidy)(const ga__part *p, double *q); /* reduces a small defect ε to O(ε²); used by ga__part_move */
  double (*defect)(const ga__part *p, const double *q);
  void (*normalise)(const ga__part *p, double *q);
};

extern const ga__kind ga__kind_rn, ga__kind_so3, ga__kind_quat, ga__kind_se3;

/* move and difference from exp, log, compose, inverse and tidy, for kinds of at most GA__PART_NQ numbers. */
void ga__part_move(const ga__part *p, double *q1, const double *q, const double *d);
void ga__part_difference(const ga__part *p, double *d, const double *q, const double *q1);

/* Functions of x = f², f the rotation angle. All are entire in x, none divides by f where f is small. */
typedef struct ga__trig {
  double a;  /* sin f / f */
  double b;  /* (1 − cos f) / f² */
  double c;  /* (f − sin f) / f³ */
  double db; /* b' = (db/df)/f = (a − 2b) / f² */
  double dc; /* c' = (dc/df)/f = (b − 3c) / f² */
} ga__trig;

void ga__trig_eval(ga__trig *t, double x);
/* (1 − (f/2) cot(f/2)) / f², the coefficient of ψ~² in T⁻¹. Its poles are f = 2π, 4π, ... */
static inline double ga__trig_e(const ga__trig *t)
{
  return -t->db / (2 * t->b);
}

/* The rotation kernels, left trivialised; t belongs to |psi|². */
void ga__so3_exp(double *R, const double *psi, const ga__trig *t);
void ga__so3_tangent(double *T, const double *psi, const ga__trig *t);
void ga__so3_tangent_inverse(double *Tinv, const double *psi, const ga__trig *t);
void ga__so3_log(double *psi, const double *R);
void ga__so3_rate(double *Rdot, double sign, const double *R, const double *omega);
void ga__so3_tidy(double *R);
double ga__so3_defect(const double *R);
void ga__so3_normalise(double *R);
/* The rotation vector of the quaternion p, of any length but 0. */
void ga__quat_log(double *psi, const double *p);

/* Functions common to SO(3) and unit quaternions, which have the same algebra. */
void ga__so3_part_bracket(const ga__part *p, double *c, const double *a, const double *b);
void ga__so3_part_add_bracket(const ga__part *p, double *c, double factor, const double *a, const double *b);
void ga__so3_part_tangent(const ga__part *p, double *T, const double *d);
void ga__so3_part_tangent_inverse(const ga__part *p, double *Tinv, const double *d);
void ga__so3_part_ad(const ga__part *p, double *A, const double *a);
void ga__so3_parts_tangent_ad(const ga__part *const *part, int n, double *T, double *TA, const double *d,
                              double kappa, const double *a);

void ga__so3_parts_exponent_rate(const ga__part *const *part, int n, double *out, const double *d,
                                 const double *v);

/* Maximum; NaN if either is NaN, which fmax would hide. */
static inline double ga__larger(double a, double b)
{
  return (a > b || a != a) ? a : b;
}

/* 0 for finite numbers, otherwise the NaN or the infinity. */
double ga__not_finite(const double *x, int n);

#endif
