/* What the files of the peer IDA share: its unknowns, and how iteration matrices are made of the model's
 * Jacobian. */
#ifndef GALPHA_BENCH_IDA_IMPL_H
#define GALPHA_BENCH_IDA_IMPL_H

#include "ida_peer.h"

#include <idas/idas.h> /* IDA with derivatives by parameters; without these the two do the same */
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

/* Where a number of the iteration matrix comes from: value[place] += scale[..] · source[index]. */
enum {
  SRC_D,
  SRC_Q,
  SRC_G,
  SRC_G_ACC, /* G at v := v' */
  SRC_ACC_Q,
  SRC_ACC_V,
  SRC_N
}; /* arrays over the model's entries; after them 1, −1, and −∂(K v)/∂p of every quaternion, 4 x 4 */
enum { SCALE_ONE, SCALE_CJ, SCALE_TWO, SCALE_N }; /* after them K, 4 x 3, and P, 3 x 4, of every quaternion */
enum { QUAT_SCALES = 24, QUAT_SOURCES = 16 };

typedef struct op {
  int place, index, scale;
} op;

typedef struct layout { /* one iteration matrix: its pattern in compressed columns, and how to fill it */
  int n, n_ops, max_ops;
  op *ops;
  int *row, *col; /* [max_ops] while it is built */
  int *dense;     /* [max_ops] the places in a dense matrix, by columns */
  ga_sparse *pattern;
} layout;

enum { LAYOUT_START = IDA_N_FORMS, N_LAYOUTS };

/* A coordinate of q that belongs to one of v: q' = K v, and δ = P δq in the algebra; 1 and 1 in R^n. */
typedef struct tie {
  int q, k, p; /* k, p: their scales */
} tie;

struct ida_peer {
  ga_context *ctx;
  ida_model model;
  ga_group *group;
  int nq, nv, nl, nx, ny, n_entries, n_quats;
  int at_x, at_y, at_mu;      /* where they begin in IDA's vector; the rest as q, v, λ */
  int *entry_row, *entry_col; /* of the model's Jacobian */
  double *source, *scale;
  int *first_tie; /* [nv+1] */
  tie *ties;
  double *q, *w;             /* [nq] of unit length, [max(nq, nv, nl)] work */
  layout layouts[N_LAYOUTS]; /* by form, and the one of the start: [M Bᵀ; B 0], x' and y beside it */
  const layout *in_use;
  ida_form form;
  struct linear *linear; /* of a run with derivatives */
};

/* Runs that end take some ten thousand steps at the most; others are stuck. */
#define IDA_MOST_STEPS 300000L

typedef struct ida_workspace { /* what one run owns */
  SUNContext sun;
  N_Vector y, yp, id, atol, b;
  SUNMatrix A, A0;
  SUNLinearSolver ls, ls0;
  void *ida;
} ida_workspace;

/* The model's point in IDA's vectors; its q is a copy of unit length where there are quaternions. */
ga_point ida_point(const ida_peer *s, double t, const double *y, const double *yp);
/* D, Q, G at p with the shifts; G at v := vdot and the derivatives of phi_acc where the index-1 form wants
 * them. */
int ida_sources_fill(ida_peer *s, const ga_point *p, double shift_v, double shift_vdot, int want_acc);
/* K, P = 4 Kᵀ/|p|² and −∂(K v)/∂p of the quaternions. */
void ida_quats_fill(ida_peer *s, const double *q, const double *v);
/* A := Σ scale·source over the entries of lay, dense or sparse. */
void ida_matrix_fill(SUNMatrix A, const layout *lay, const double *source, const double *scale);
int ida_layout_create(layout *lay, int n, int max_ops);
void ida_put(layout *lay, int row, int col, int index, int scale);
ga_status ida_layout_finish(ida_peer *s, layout *lay);
void ida_layout_free(ida_peer *s, layout *lay);

/* Everything before the first step: values and derivatives, and IDA with its options. A0 keeps its factors.
 */
int ida_begin(ida_workspace *w, ida_peer *s, const ida_opts *o, double t_end);
void ida_counts_get(const ida_workspace *w, ida_counts *n);
void ida_workspace_free(ida_workspace *w);
SUNMatrix ida_matrix_create(const layout *lay, ida_solver solver, SUNContext sun);
SUNLinearSolver ida_solver_create(N_Vector y, SUNMatrix A, ida_solver solver, SUNContext sun);

#endif
