/* A planar chain of n uniform rods, the bench's scalable problem.
 *
 * Absolute coordinates q = (x, y, θ) of every rod's centre, revolute joints, the first one fixed at the
 * origin: nv = 3n, n_lambda = 2n;  rods of l = 1 m / n, m = 1 kg / n, J = m l²/12, gravity g = 9.81 m/s²
 * along −y. Released from rest with every rod horizontal, θ = 0. */
#ifndef GALPHA_BENCH_CHAIN_H
#define GALPHA_BENCH_CHAIN_H

#include "galpha/core.h"

typedef struct chain {
  int n;             /* rods */
  double l, m, J, g; /* [m], [kg], [kg m²], [m/s²] */
  int n_pattern;
  int *row, *col;  /* [n_pattern] */
  int *cluster;    /* [3n] rod of each velocity */
  double *q0, *v0; /* [3n] */
  ga_factor factor;
} chain;

/* NULL when out of memory or n < 1. */
chain *chain_create(int n);
void chain_destroy(chain **c);

/* Fills def, already at its defaults. def borrows c. */
void chain_define(const chain *c, ga_system_def *def);

/* out = Bᵀ λ [3n] */
int chain_reaction(void *user, const ga_point *p, double *out);
/* Derivative by q of phi_acc, over the chain's pattern (rows LAMBDA, columns V; the rest stays as it is).
 * Needed where Φ's second time derivative is solved for, as in the index-1 form. */
int chain_phi_acc_q(void *user, const ga_point *p, double *out);

/* [m] position of the free end. */
void chain_tip(const chain *c, const double *q, double tip[2]);

/* Tip at time t by an independent integration: rod angles only, joint forces by block elimination,
 * extrapolated modified midpoint of order 2·columns (2 to 10 columns) with n_steps steps of t/n_steps. 0, or
 * -1 when out of memory. */
int chain_tip_by_extrapolation(const chain *c, double t, long n_steps, int columns, double tip[2]);

#endif
