/* Derivatives of steps by collocation (sensitivity_collocation.c, sensitivity_collocation_end.c). */
#ifndef GALPHA_CORE_SENSITIVITY_COLLOCATION_H
#define GALPHA_CORE_SENSITIVITY_COLLOCATION_H

#include "core/collocation.h"
#include "core/sensitivity.h"

/* Derivatives by one parameter. */
typedef struct ga__colloc_variation {
  double *block;
  double *nodes, *before; /* [GA__NODES][n] of ga__colloc.nodes, and of those of the step before */
  double *rate;           /* [GA__NODES][nv] of ga__colloc.rate */
  double *q, *v, *z, *x;  /* of the point where the matrix of the end was made, */
  double t;               /* and of its time */
} ga__colloc_variation;

/* The matrix of the equations of all nodes, of rules with this number of nodes. */
typedef struct ga__colloc_matrix {
  ga_sparse *K;
  ga_lu *lu;
  int *row, *col; /* [n_terms] while the pattern is listed, */
  int *place;     /* [n_terms] and where they are in K */
  int n_terms;    /* of sums that are the entries of K */
  int next;
} ga__colloc_matrix;

/* Derivatives of a number by what a step and its equations are made of (sensitivity_collocation_turned.c). */
typedef struct ga__colloc_turned {
  double *block;
  double *nodes;         /* [GA__NODES][n] by ga__colloc.nodes, */
  double *q, *v, *z, *x; /* and by the point where the matrix of the end was made: over several steps */
  double *before, *rate; /* [GA__NODES][n], [nv] by those nodes of the step before, and by ga__colloc.rate */
  double *at_z, *at_v, *at_omega, *at_x; /* [GA__NODES][n], [nv], [nv], [n_x] by values at the nodes */
  double *carried;                       /* [GA__NODES][nv] by what of q there comes from the beginning */
  double *weight;          /* [GA__NODES][n + n_lambda] by the equations at the nodes; [0]: at the end, */
  double *acceleration;    /* [n_lambda + n_psi] by accelerations of constraints there, */
  double *turn_q, *turn_v; /* [n] and by q.turn and v.turn */
  ga_point place;          /* a place within the step, */
  int solved;              /* 1: where z was solved for again, */
  double *place_z;         /* [n] which is this, */
  double *place_weight, *place_acceleration; /* [n + n_lambda], [n_lambda + n_psi] and the same there */
  double *full, *by_q, *pulled;              /* [n], [nv], [n + n_lambda] */
  double *change;                            /* [2 nv] of constraints along the motion */
  ga__colloc_bars bars;                      /* work space of dense output */
  ga__tangent in;                            /* by the state at the beginning */
} ga__colloc_turned;

/* Numbers by pairs of nodes. */
typedef struct ga__colloc_table {
  double of[GA__NODES][GA__NODES];
} ga__colloc_table;

/* Factors of the matrix of the end of a step. */
enum { GA__COLLOC_OF_Q = 0, GA__COLLOC_OF_V, GA__COLLOC_OF_ALL, GA__COLLOC_N_ENDS };

/* Projections of q and of v: */
typedef struct ga__colloc_move {
  double *by;   /* [nv] what they moved, */
  double *full; /* [n] with the multipliers, as solved for by the matrix of the end, */
  double *turn; /* [n] and the derivative of this matrix times it */
  int counts;   /* 1: it is more than rounding */
} ga__colloc_move;

typedef struct ga__colloc_linear {
  double *block;
  size_t n_variation;                               /* numbers of one */
  int *table, *block_at, *block_size, *block_place; /* [nv] the group's block of a coordinate; size 0: none */
  ga__colloc_variation *of;                         /* [n + 1] by parameter */
  ga__colloc_matrix matrix[GA__NODES];              /* by number of nodes */
  int leaves_out;                                   /* 1: they are those that may leave out constraints, */
  unsigned char *left_out;                          /* [n] 1: rows that are left out */
  ga__assembly assembly;                            /* of the end, */
  ga_lu *lu[GA__COLLOC_N_ENDS];                     /* and its factors */
  /* -- At the nodes 1 ... M, and 0: at the end of the step -- */
  double *Q, *G;       /* [GA__NODES][n_entries] */
  double *Dv, *Dm;     /* [GA__NODES][n_entries] */
  double *T, *inverse; /* [GA__NODES] packed T(Ω), T(Ω)⁻¹, */
  double *turn;        /* and derivatives of T(Ω)⁻¹ v by Ω */
  double *base;        /* [GA__NODES][n + n_lambda] values of the equations */
  /* Of pairs of nodes, packed: Ω_m/h = Σ solved_mj (known parts)_j + Σ by_z_mj h vdot_j, and T_m times the
   * second */
  double *solved, *by_z, *to_q;
  ga__colloc_table unit, twice; /* 1, and A A: the same without blocks */
  double *known_omega, *room;   /* [GA__NODES][nv] of Ω/h, as far as they do not come from vdot */
  /* -- One parameter -- */
  double *dz, *dv, *dx, *domega; /* [GA__NODES][n], [nv], [n_x], [nv] derivatives at the nodes */
  double *carried;               /* [GA__NODES][nv] part of those of q that comes from q at the beginning */
  double *dq;                    /* [nv] at the last node */
  double *rhs;                   /* right-hand side of the nodes, then the unknowns */
  double *end;                   /* [n] the same of the end */
  double later[GA__N_AT];        /* [s] by how much later a node is at other values */
  /* -- The end -- */
  ga__colloc_move q, v;
  double *T_end;                     /* packed T(q.by) */
  double *D, *Q_end, *zero;          /* [n_entries] of a matrix of the end; zeros */
  int known;                         /* 1: the matrix of projections is, */
  double t, shift;                   /* [s] made at this time, with this shift, */
  double *at_q, *at_v, *at_z, *at_x; /* at this point, */
  double *at_D, *at_Q, *at_G;        /* and these derivatives */
  double *moved_z, *moved_x;         /* other points, */
  double *inside_q, *inside_v;       /* and that of dense output, with these */
  double inside_t;                   /* [s] its time, */
  unsigned long inside_number;       /* in the step to the state of this number; 0: none; */
  int inside_solved;                 /* 1: where z is solved for again */
  double *acceleration, *rates;      /* [n_lambda + n_psi], [n_lambda] */
  ga__colloc_change change;          /* of dense output */
  ga__colloc_turned *turned;         /* of an adjoint; NULL: there is none */
} ga__colloc_linear;

/* Packed blocks of the group for each pair of nodes. */
static inline size_t ga__colloc_pair(const ga_system *sys, int m, int j)
{
  return (size_t)(m * GA__NODES + j) * (size_t)ga_group_blocks_length(sys->group);
}

/* Whether a row of the system is one of a block. */
static inline int ga__is_of(const ga_system *sys, int block, int row)
{
  return row >= sys->start[block] && row < sys->start[block] + sys->size[block];
}

/* The matrix of the end, in the layout of the family, with or without exclusions. */
ga_status ga__colloc_end_create(ga_sensitivity *se);
/* Equations and factors of the end of the last step. */
ga_status ga__colloc_end_make(ga_sensitivity *se);
/* Derivatives at the end of the step, from those at the last node. */
ga_status ga__colloc_end_forward(ga_sensitivity *se, int j);
/* Where accelerations, multipliers, rates and outputs are solved for at q, v and x, as at the end of a step
 * and within it: the equations and factors of such a point, */
ga_status ga__colloc_place_make(ga_sensitivity *se, const ga_point *p);
/* and their derivatives d->vdot ... from d->q, v and x, and g[n] of the equations by the parameter. later
 * NULL: at the same time. */
ga_status ga__colloc_place_forward(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                   const double *g, ga__tangent *d);
ga_status ga__colloc_rates(ga_sensitivity *se, ga__tangent *rate); /* slopes at the end of the last step */
/* z[n] of a derivative. */
void ga__colloc_collect_tangent(const ga_system *sys, const ga__tangent *d, double *z);
/* q.turn and v.turn := the change of the matrix of projections with the parameter alone, times what they
 * moved. */
ga_status ga__colloc_turn_by_parameter(ga_sensitivity *se, int j);
/* out[n_lambda + n_psi] += derivatives of accelerations of constraints at p by the parameter alone, times
 * included. */
ga_status ga__colloc_accelerate_parameter(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                          double *out);
/* out[n] := the equations at p, with accelerations in the rows of constraints. */
ga_status ga__colloc_evaluate_place(ga_sensitivity *se, const ga_point *p, double *out);
/* The point of the matrix of projections. */
ga_point ga__colloc_matrix_point(const ga_sensitivity *se);
extern const ga__turned ga__colloc_turned_step; /* sensitivity_collocation_turned.c */
void ga__colloc_turned_destroy(ga_sensitivity *se);
/* out[GA__NODES][nv] := Σ_j of the blocks of pairs (m, j), or (j, m) transposed, times in_j, from node 1 on;
 * what has no block is multiplied by the number in `rest` likewise. */
void ga__colloc_mul_pairs(const ga_sensitivity *se, const double *blocks, const ga__colloc_table *rest,
                          const double *in, double *out, int turned);
/* The coefficient of entry e of the system in its equations at node m, as solved: of v, or of x; 0 if it is
 * of neither. */
double ga__colloc_coefficient(const ga_sensitivity *se, int m, int e);
/* The point of node m of the last step. */
ga_point ga__colloc_last_point(const ga_stepper *st, int m);
/* M and what else goes with accelerations into Dm, the rest into Dv, Q and G. */
ga_status ga__colloc_differentiate(ga_sensitivity *se, const ga_point *p, double *Dm, double *Dv, double *Q,
                                   double *G);
/* g[n + n_lambda] := derivatives of the equations at p by parameter j, whose values are base[]. */
ga_status ga__colloc_by_parameter(ga_sensitivity *se, int j, const ga_point *p, const double *base,
                                  const double *later, double *g);

#endif
