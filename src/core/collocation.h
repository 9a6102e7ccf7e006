/* Collocation methods: rules, and data of the family (collocation.c, collocation_rule.c, collocation_end.c,
 * collocation_inside.c, collocation_error.c). */
#ifndef GALPHA_CORE_COLLOCATION_H
#define GALPHA_CORE_COLLOCATION_H

#include "core/stepper.h"

#define GA__TURN_MOST 2.0 /* [rad] in a step: beyond it the equations of Ω converge slowly, or not at all */
enum { GA__STAGES_LEAST = 2, GA__NODES = GA__MOST_STAGES + 1 };

/* Polynomials through the nodes c[first] ... c[stages] of a step, 0 its beginning and 1 its end. */
typedef struct ga__colloc_rule {
  int stages;          /* M: the last node is 1 */
  int first;           /* 0: the beginning of the step is a node (Lobatto), 1: not (Radau) */
  int order;           /* of the end of a step: 2M or 2M − 1 */
  double c[GA__NODES]; /* c[0] = 0 */
  double coefficient[GA__NODES][GA__NODES]; /* of the Lagrange polynomials: row j, powers of s */
  double A[GA__NODES][GA__NODES];           /* A[m][j] = ∫₀^c[m] ℓ_j */
  double inverse[GA__NODES][GA__NODES];     /* of A without row and column 0 */
  double Q[GA__NODES][GA__NODES];           /* Uᵀ of LU = A₁ᵀ: a lower triangular matrix near A₁ */
  double kappa[GA__NODES];                  /* c_m ω'(c_m) over that of the end, ω(s) = Π (s − c_j) */
} ga__colloc_rule;

/* 0: there is no rule of this order. */
int ga__colloc_rule_make(int order, ga__colloc_rule *out);
/* w[j] := ℓ_j(s), and ∫₀^s ℓ_j; w[0] is 0 where the beginning is no node. */
void ga__colloc_weights(const ga__colloc_rule *rule, double s, double *w);
void ga__colloc_integrals(const ga__colloc_rule *rule, double s, double *w);

/* Of a state: order of its last step, 0: none; further steps with sweeps from node to node, and their number
 * at the last change to these; whether their rule damps (1) or not (0); failures of simple sweeps, less and
 * less as steps succeed; then z at the nodes. */
enum {
  GA__COLLOC_ORDER = 0,
  GA__COLLOC_STIFF,
  GA__COLLOC_SPAN,
  GA__COLLOC_DAMPS,
  GA__COLLOC_FAILED,
  GA__COLLOC_Z
};

enum { GA__COLLOC_LEVELS = 5 }; /* three differences of z, errors of them, and tolerances */

/* Numbers at the nodes m = 0 ... M of the step, those of one node together. */
typedef struct ga__colloc {
  ga__colloc_rule rule[GA__MOST_ORDER + 1]; /* by order */
  const ga__colloc_rule *now;               /* of the current step */
  double *block;
  double *z;             /* [n] vdot, λ, ψ, xdot, y, as the unknowns of the system */
  double *v, *x;         /* [nv], [n_x] */
  double *exponent;      /* [nv] Ω: q_m = move(q₀, Ω_m) */
  double *rate;          /* [nv] Ω' = T(Ω)⁻¹ v */
  double *q;             /* [nq] */
  double *r;             /* [n] right-hand sides, then increments */
  double *gap_v, *gap_x; /* [nv], [n_x] from the polynomials' ends of v and x to those of the step, */
  double *end_place;     /* [nq] and the place of q there */
  double *end_q;         /* [nv] move from the polynomial's end to that of the step, for dense output */
  double *coarse_end_q;  /* [nv] the same for the polynomial of Ω' through the nodes */
  double *omega;         /* [nv] Ω there; in a step from node to node that at which the node has T */
  double *inside;        /* [GA__NODES][2 nv] of dense output */
  double *levels;        /* [GA__COLLOC_LEVELS][n] for estimates of errors */
  double *last;          /* [n] z of the last node, before those of the step's end took its place */
  double *nodes; /* [GA__NODES][n] z at the nodes, more accurate, for dense output, errors and predictions */
  double *further; /* [GA__NODES][n] its differences over nodes of the step before too, for dense output, */
  double t_further[GA__NODES]; /* these nodes, in steps from the beginning of this one, */
  int n_further;               /* and their number */
  double *inside_q, *inside_v, *inside_x, *inside_z; /* [nq], [nv], [n_x], [n] of a place within the step */
  int inside_solved;     /* 1: z was solved for again at the last place within a step, 0: it is that of
                            polynomials */
  double size_v, size_x; /* velocities, and rates of states, that errors of the iteration are relative to */
  double moved;          /* largest change of Ω in the last pass over the nodes */
  int sweeps;            /* of the current step, */
  double slowest;     /* and the largest ratio of two increments with new factors, from the third sweep on */
  int old_factors;    /* 1: its sweeps use those of an earlier step */
  int old_end;        /* 1: and those at its end too */
  int own_end;        /* 1: there is a matrix of the end beside that of the last node */
  double work_before; /* done when the sweeps began */
  int in_order;       /* 1: its sweeps go from node to node, */
  int damps;          /* and 1: by the rule for stiff equations */
  int failures;       /* of sweeps, but for those of that rule, at the state of this number */
  unsigned long failed_at;
  int course; /* of a step that is repeated: its order + 16 (in order + 2 damps); −1: it chooses these itself
              */
  /* Numbers of the states that these belong to. */
  unsigned long gap_number, end_number, coarse_end_number, further_number;
  /* -- Where the matrix of the end was made, for derivatives by parameters; z as the unknowns -- */
  double made_t, made_shift;
  int made_early; /* 1: at the prediction of the last node, 0: at a later iterate */
  double *made_q, *made_v, *made_z, *made_x;
} ga__colloc;

ga__colloc *ga__colloc_of(const ga_stepper *st);
/* The rule of the step that led to a state; NULL: there is none, as after a start. */
const ga__colloc_rule *ga__colloc_last_rule(const ga_stepper *st, const ga__state *s);
/* The point of a node. */
ga_point ga__colloc_point(const ga_stepper *st, int m);
/* z[n] of a state, and back. */
void ga__colloc_collect(const ga_system *sys, const ga__state *s, double *z);
void ga__colloc_distribute(const ga_system *sys, const double *z, ga__state *s);
/* to[n] += h Σ_j w_j node_j, of nodes[GA__NODES][stride] */
void ga__colloc_add(const ga__colloc_rule *rule, double h, const double *w, const double *nodes, int stride,
                    double *to, int n);
double ga__colloc_tolerance(const ga_stepper *st); /* of the sweeps, relative to velocities */
/* What the sweeps of the last step may have left in z, of a block. */
double ga__colloc_left_in(const ga_stepper *st, int block);
/* r := solution by the factors of a node, or of the end of the step. */
enum { GA__COLLOC_END = 0 };
ga_status ga__colloc_solve(ga_stepper *st, int m, double *r);

/* Weights w[0 ... stages] of z at the nodes of the step before in the prediction for c_m h, the last one that
 * of the state at the end of it. old: its rule, as ga__colloc_last_rule(). 0: the polynomial is not used. */
int ga__colloc_predicts(const ga__colloc_rule *old, double h, double h_old, double c_m, double *w);
/* The matrix of a node from derivatives by (v, vdot) with the shifts (d, 1); inverse: 1/d. d 0 with an
 * inverse of 1: that by vdot, λ, ψ, xdot and y alone, with A in the rows of k of D. */
void ga__colloc_fill(const ga_stepper *st, ga__assembly *as, const double *D, const double *Q,
                     const double *G, double d, double inverse);
/* The matrix of the end of the step at the last node, and its factors. */
ga_status ga__colloc_prepare_end(ga_stepper *st);

/* Factors that several steps share (collocation_reuse.c). */
typedef struct ga__colloc_progress {
  double size, before, best; /* of the last increment, the one before, and the smallest */
  double rho;                /* ratio of the last two */
  double first;              /* increment of z in the first sweep with the present factors, */
  double last;               /* and the last one: without moves of Ω, which the prediction begins with */
  int n;                     /* sweeps with these factors */
  int stalled;               /* sweeps without a smaller increment */
} ga__colloc_progress;
/* Before the sweeps: whether they begin with the factors that are there. Else these are dropped. */
int ga__colloc_keeps_factors(ga_stepper *st);
/* Whether they contract less than with their own factors. */
int ga__colloc_is_slower(const ga_stepper *st, const ga__colloc_progress *p);
/* Whether sweeps with old factors are so slow that new ones pay within this step. */
int ga__colloc_is_slow(const ga_stepper *st, const ga__colloc_progress *p);
/* Sweeps with old factors were given up: the factors are made again. */
void ga__colloc_give_up_factors(ga_stepper *st);
/* The step is complete: whether the next one keeps its factors. */
void ga__colloc_note_work(ga_stepper *st, const ga__colloc_progress *p);

/* After the sweeps: the matrix of the end, if it has one of its own. */
ga_status ga__colloc_begin_end(ga_stepper *st);
/* What the sweeps have left in z at the last node, by that matrix: as part of the estimated errors. */
ga_status ga__colloc_noise(ga_stepper *st, double *noise, ga__scratch scratch);
/* Then next from the last node, on the constraints, with accelerations, multipliers and outputs
 * that belong to it (collocation_end.c). */
ga_status ga__colloc_finish(ga_stepper *st, ga__scratch scratch);

/* vdot, λ, ψ, xdot and y at t, q, v and x of a place within the last step, by the factors of node m; *found
 * 0: it does not converge. */
ga_status ga__colloc_solve_at(ga_stepper *st, int m, double t, const ga__inside *at, int *found,
                              ga__scratch scratch);
/* 1: the last step is one for stiff equations, within which accelerations and forces are those of
 * polynomials. */
int ga__colloc_is_stiff(const ga_stepper *st);
/* Dense output (collocation_inside.c). */
ga_status ga__colloc_interpolate(ga_stepper *st, double s, const ga__inside *out);
/* Derivatives of what dense output is made from, q in the algebra; [0]: at the beginning of the last step,
 * [1]: at its end. */
typedef struct ga__colloc_change {
  const double *q[2], *v[2], *x[2];
  const double *nodes, *before, *rate; /* of ga__colloc.nodes, of those of the step before, and of .rate */
  /* -- Work space -- */
  double *further;                           /* [GA__NODES][n] */
  double *gap_v, *gap_x, *one, *two, *three; /* [nv], gap_x [n_x] */
  double *v_inside, *omega, *omega_rate;     /* [GA__NODES][nv] */
  double *part;                              /* [nv] */
  double *T;                                 /* packed blocks */
} ga__colloc_change;
/* Derivatives of dense output by polynomials at s in (0, 1); those of q into out->q[nv]. */
void ga__colloc_interpolate_change(ga_stepper *st, double s, const ga__colloc_change *d,
                                   const ga__inside *out);
/* Its transpose: numbers are added to derivatives by what dense output is made from, q in the algebra. Bounds
 * that act on noise alone are left out. */
enum { GA__COLLOC_ROOM = 7 };
typedef struct ga__colloc_bars {
  double *q[2], *v[2], *x[2];
  double *nodes, *before, *rate;
  /* -- Work space -- */
  double *further, *gap_v, *gap_x;     /* [GA__NODES][n], [nv], [n_x] */
  double *room, *part, *one, *two, *T; /* [GA__COLLOC_ROOM][GA__NODES][nv], [5 nv], [nv], packed blocks */
} ga__colloc_bars;
void ga__colloc_interpolate_turned(ga_stepper *st, double s, const ga__inside *bar,
                                   const ga__colloc_bars *to);
int ga__colloc_nodes(const ga_stepper *st, double *at);
void ga__colloc_node(const ga_stepper *st, int i, ga_state *out);

extern const ga__slopes ga__colloc_slopes; /* sensitivity_collocation.c */

/* Errors (collocation_error.c). */
void ga__colloc_estimate(ga_stepper *st);
/* The part in them that a change d[n] of z at the last node would have, over the tolerance. */
double ga__colloc_part_of_error(ga_stepper *st, const double *d);
/* Those of vdot, λ, ψ, xdot and y into e[n]. */
void ga__colloc_estimate_forces(ga_stepper *st, double *e);
/* Growth of the next step, at most that wanted, by how fast sweeps converged and bodies turn. */
double ga__colloc_growth(const ga_stepper *st, double wanted);
/* 1: simple sweeps failed in the last step, and not in the one before. */
int ga__colloc_failed_simply(const ga_stepper *st);
double ga__colloc_order_seen(const ga_stepper *st); /* p of the errors of the last step */
/* Errors that the last step would have had with the next higher or lower even order, into e_q[nv], e_x[n_x]
 * and, unless NULL, e_z[n] of vdot, λ, ψ, xdot and y; 0: not known. */
int ga__colloc_error_of(ga_stepper *st, int order, double *e_q, double *e_x, double *e_z);

#endif
