/* Internals of the core layer. */
#ifndef GALPHA_CORE_IMPL_H
#define GALPHA_CORE_IMPL_H

#include "base/base_impl.h"
#include "galpha/core.h"

/* ---- System: evaluation with checks (system.c) ----------------------------------------------------------
 */

/* The callbacks of a system; the table in system.c gives name, block and place of each. */
typedef enum ga__fn {
  GA__MASS = 0,
  GA__FORCE,
  GA__PHI,
  GA__PHI_DOT,
  GA__PHI_ACC,
  GA__K,
  GA__K_ACC,
  GA__STATE,
  GA__OUTPUT,
  GA__OUTPUT_GUESS,
  GA__N_FN
} ga__fn;

struct ga_system {
  ga_context *ctx;
  ga_system_def
      def; /* factors and pattern: own copies; user: what callbacks get, the work space if there is one */
  void *given_user;        /* as in the definition */
  void *work;              /* NULL: none */
  const ga_system *shared; /* whose arrays these are; NULL: its own (ga__system_open) */
  ga_group *group;
  int nq, nv, n;
  int size[GA_N_BLOCKS];
  int start[GA_N_BLOCKS];
  int n_entries;     /* of the pattern; n² when dense */
  int *row, *col;    /* [n_entries] */
  unsigned char *in; /* [n_entries] arrays that can be non-zero there, GA_WANT_D, Q, G */
  int *cluster;      /* [nv] bodies of the velocities; NULL: not known */
  int *linked;       /* [nv] one of the velocities that constraints tie it to, the same for all of these */
  int n_b;           /* entries in rows LAMBDA, columns V: those of B and G */
  int *b_entry;      /* [n_b] which entries these are */
  int *b_row;        /* [n_b] their rows, counted from LAMBDA's first */
  int *b_col;        /* [n_b] their columns */
};

/* A system as one that evaluates it sees it: its constant arrays, with another context and work space. */
ga_status ga__system_open(ga_context *ctx, const ga_system *sys, const ga_system **out);
void ga__system_close(const ga_system **sys); /* the system opened may be gone already; NULL is fine */
/* Around a call of the user's: what the callback stores in the context goes behind the core's own words.
 * `before` is what ga__listen() returned. 0 for code 0; else GA_RETRY_CALLBACK or GA_ERR_CALLBACK with a
 * message. */
ga_status ga__listen(ga_context *ctx);
ga_status ga__answer(const ga_system *sys, const char *name, int block, double t, int code, ga_status before);
/* Calls a callback that the system has; GA_RETRY_CALLBACK, GA_ERR_CALLBACK or GA_RETRY_NAN with a message. */
ga_status ga__call(const ga_system *sys, ga__fn fn, const ga_point *p, double *out);
int ga__has(const ga_system *sys, ga__fn fn);
ga_block ga__block_of(const ga_system *sys, int row, int *index); /* of a row or column of the whole matrix */
/* "what 'name' (block index)" of row or column i, GA_BLOCK_ETA included, for messages. */
void ga__describe(const ga_system *sys, ga_block block, int index, char *text, size_t size);
/* The same of the unknown that belongs to it: 'name' (coordinate index), lambda index, ... */
void ga__describe_unknown(const ga_system *sys, ga_block block, int index, char *text, size_t size);
/* First index of a component that is not finite, or -1. */
int ga__first_bad(const double *a, int n);
double ga__max_abs(const double *a, int n,
                   int *where); /* NaN if one is not finite; where may be NULL; -1 if n is 0 */

/* Every part that the system has must be there, and q on its group (check.c). */
ga_status ga__check_point(const ga_system *sys, const ga_point *p, const char *caller);

/* ---- Derivatives: the user's or differences (derivative.c) ----------------------------------------------
 */

/* Buffers of one level of differences along the motion; levels nest. */
typedef struct ga__lane {
  double *q, *d, *g;
} ga__lane;

/* Work space for differences; one per stepper or check, since systems are constant. */
typedef struct ga__deriv {
  ga_context *ctx; /* its own, so that the system may go first */
  const ga_system *sys;
  double dt; /* [s] differences in time alone stay below this; 0: not known */
  int n_colours;
  int *colour_start, *colour_col;              /* columns of each colour */
  int *entry_start, *entry;                    /* entries of each column */
  double *q, *v, *vdot, *lambda, *psi, *x, *y; /* a perturbed copy of the point */
  double *d;                                   /* [nv] its move from the point's q */
  double *step;                                /* [n] of each column */
  double *plus, *minus, *tmp;                  /* [n] residuals */
  double *D, *Q, *G;                           /* [n_entries] for B v without phi_dot */
  ga__lane lane[2]; /* 0: for B v + Φ_t; 1: for what is differentiated on top of it */
} ga__deriv;

ga_status ga__deriv_create(const ga_system *sys, ga__deriv *w);
void ga__deriv_destroy(ga__deriv *w);

/* Fills J->D, Q, G (zeroed here) as core.h says, by the callback or by differences. */
ga_status ga__jacobian(ga__deriv *w, const ga_point *p, ga_jacobian *J);
/* The same without a look at the numbers, for matrices whose factorisation looks at them anyway; and the
 * look, which names the first that is not finite. */
ga_status ga__jacobian_unseen(ga__deriv *w, const ga_point *p, ga_jacobian *J);
ga_status ga__jacobian_bad(const ga_system *sys, const ga_point *p, const ga_jacobian *J);
/* B v + Φ_t; Φ's acceleration at vdot = 0; k_t + k_q v: by the callbacks or what core.h says stands in. */
ga_status ga__phi_dot(ga__deriv *w, const ga_point *p, double *out);
ga_status ga__phi_acc(ga__deriv *w, const ga_point *p, double *out);
ga_status ga__k_acc(ga__deriv *w, const ga_point *p, double *out);
/* r = (M vdot − f, Φ, k, −s, −o) into out[n]; tmp[nv] is overwritten. */
ga_status ga__residual(const ga_system *sys, const ga_point *p, double *out, double *tmp);
/* The same and, rate not NULL, B v + Φ_t by the system's sweep, with the derivatives where J is not NULL. */
ga_status ga__sweep(const ga_system *sys, const ga_point *p, double *out, double *rate, ga_jacobian *J,
                    double *tmp);
/* Where a sweep puts what: out[n]; rate and J may be NULL. */
ga_sweep ga__sweep_into(const ga_system *sys, double *out, double *rate, ga_jacobian *J);
/* B alone (J->want is GA_WANT_B) into J->Q, which holds zeros or what the system has written there before. By
 * a sweep where there is one, whose numbers are not looked at. */
ga_status ga__b_again(ga__deriv *w, const ga_point *p, ga_jacobian *J, double *room); /* [n] */
/* d/ds of fn (GA__PHI, GA__K) or, for GA__PHI_DOT, of B v + Φ_t, along (t + s, move(q, s v)) at fixed v,
 * by fourth-order differences. */
ga_status ga__along_motion(ga__deriv *w, ga__fn fn, const ga_point *p, double *out);
/* out += (rows LAMBDA, columns V of values, B where they are Q) v */
void ga__b_mul(const ga_system *sys, double *out, const double *values, const double *v);
/* What is differentiated: the residuals by (v, vdot, λ, ...) or by q; B v + Φ_t or Φ by q. */
typedef enum ga__pass { GA__PASS_D, GA__PASS_Q, GA__PASS_G, GA__PASS_B } ga__pass;
/* One column of it by fourth-order differences, all rows, into out[n]; J gives the shifts. */
ga_status ga__difference_column(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what,
                                int column, double *out);
void ga__deriv_load(ga__deriv *w, const ga_point *p); /* copy p into w's arrays */
ga_point ga__deriv_point(const ga__deriv *w, double t);

/* ---- Null space of the constraints (null_space.c) ---------------------------------------------------------
 */

/* 1: an entry of the pattern is one of [B; A]; its value. */
int ga__is_constraint(const ga_system *sys, int e);
/* An entry of the pattern in V and V that M can have. */
int ga__has_mass(const ga_system *sys, int e);
double ga__constraint_value(const ga_system *sys, const double *B, const double *A, int e);
/* Lengths of the rows [m]; those that vanish against the longest get a length that leaves them short. */
void ga__measure_rows(const ga_system *sys, const double *B, const double *A, double *length);

/* Left null space of the rows of [B; A], or of those of B alone, each row divided by its length:
 * Nᵀ R⁻¹ [B; A] = 0. Every column of N has one row that follows from the others of it, with the number 1, and
 * no other column has that row. It depends on the point alone, to the bit. */
typedef struct ga__null {
  ga_context *ctx;
  int r;          /* columns of N: relations among the rows */
  int *row;       /* [r] the row that follows from the others, the last one first */
  int *start;     /* [r + 1] columns of N */
  int *index;     /* their rows */
  double *value;  /* and numbers */
  double *work;   /* [3][room] */
  size_t room;    /* for so many relations, */
  size_t numbers; /* and numbers */
  double *length; /* [m] R */
  double *z;      /* [2][m] */
  ga_sparse *S;   /* NᵀN and its factors, where conjugate gradients are slow */
  ga_lu *lu;
  struct ga__range *range; /* NULL, or where relations are many and long the range of J, instead of N */
} ga__null;

struct ga__row_search; /* of the lin layer */

/* J = R⁻¹ [B; A], and the search for rows that follow from others. */
typedef struct ga__rows {
  ga_context *ctx; /* NULL: not there yet */
  const ga_system *sys;
  int m;
  ga_sparse *J;
  int *place;                    /* [n_entries] in J, −1: no constraint */
  int *row_start, *by_row, *col; /* J by rows: places, columns */
  double *y;                     /* [nv] zeros */
  struct ga__row_search *search;
} ga__rows;

/* The range of J, of the rows up to `end`, as it is now (range.c); shared by relations that are copies. */
typedef struct ga__range ga__range;
double ga__range_cost(const ga__rows *rows, int end); /* numbers that its matrix is made from */
ga_status ga__range_create(const ga__rows *rows, int end, ga__range **out);
ga__range *ga__range_share(ga__range *range); /* NULL is fine, as below */
void ga__range_release(ga__range **range);
/* z[end] := its part in the range; 0: it is not found, and z is as it was. */
int ga__range_project(ga__range *range, double *z);

ga_status ga__rows_create(const ga_system *sys, ga__rows *rows);
void ga__rows_destroy(ga__rows *rows);
ga_status ga__null_create(const ga_system *sys, ga__null *null);
void ga__null_destroy(ga_context *ctx, ga__null *null);
ga_status ga__null_copy(ga_context *ctx, ga__null *to, const ga__null *from, int m);
/* From B and A over the pattern; holonomic 1: of B alone. */
ga_status ga__null_find(ga__rows *rows, const double *B, const double *A, int holonomic, ga__null *null);
/* 1: every relation is one among the rows of B, or one among those of A. */
int ga__null_splits(ga__rows *rows, const ga__null *null);
/* z[m] := z without its part in the space of N. */
void ga__null_remove(ga__null *null, double *z, int m);
/* z := the one of least length |R z| among those that differ by N; z = (λ, ψ), psi may be NULL. */
void ga__null_reduce(ga__null *null, const ga_system *sys, double *lambda, double *psi);
/* Largest component of R⁻¹ (phi, k) along a relation; either may be NULL. */
double ga__null_part(const ga__null *null, const ga_system *sys, const double *phi, const double *k);

/* ---- Positions that close an assembly (gram.c) ----------------------------------------------------------
 */

/* The matrix [M Jᵀ; J −E], J = R⁻¹ [B; A], regular whatever the rank. */
typedef struct ga__gram {
  ga_context *ctx; /* NULL: not there yet */
  const ga_system *sys;
  int m;
  ga_sparse *K;
  ga_lu *lu;
  int *entry_place, *turned_place; /* [n_entries] as in the saddle matrix */
  int *diag_place;                 /* [nv + m] */
  double *x;                       /* [nv + m] */
} ga__gram;

ga_status ga__gram_create(const ga_system *sys, ga_lu_kind kind, ga__gram *g);
void ga__gram_destroy(ga__gram *g);
/* Factors [M Jᵀ; J −E] with E = eps / largest mass; the same for all rows, so that least squares are meant.
 */
ga_status ga__gram_damped(ga__gram *g, const double *M, const double *B, const double *A, double *length,
                          double eps);

/* ---- Iteration matrices (assembly.c) ----------------------------------------------------------------------
 */

typedef enum ga__source { GA__FROM_D = 0, GA__FROM_Q, GA__FROM_G, GA__FROM_M, GA__N_SOURCES } ga__source;

enum { GA__MAX_SCALES = 8 };

/* Where the numbers of one block of rows go; see assembly.c. */
typedef struct ga__rule {
  ga_block row;  /* rows of the pattern */
  unsigned cols; /* columns, a bit 1 << block for each */
  ga__source source;
  int turned;         /* 1: derivatives by q, to be multiplied by T A; columns V only */
  int to_row, to_col; /* 0: the system's own rows, columns; 1: the method's extra ones */
  int scale;          /* index into the scales given with the numbers */
  int eta;            /* turned only: 1: η's columns too; 2: only where the layout's eta_level is 2 */
} ga__rule;

/* A set of constraints and its multipliers. Where constraints are redundant, those that follow from others
 * are left out: row and column of a pair are cleared but for a number where they meet, so that the multiplier
 * stays as it is. */
typedef struct ga__set {
  int row[2], col[2]; /* first equation and first multiplier of Φ and of k; a row of −1: without k */
  int holonomic;      /* 1: it is B's relations that count */
} ga__set;

enum { GA__MAX_SETS = 2 };

typedef struct ga__layout {
  const ga__rule *rule;
  int n_rules;
  int n_extra;    /* extra rows and columns, behind the system's; rules that need them are skipped when 0 */
  int extra_from; /* row or column r has its extra twin at n + r − extra_from */
  int eta_level;  /* 0: no columns of η; 1: in the rules marked 1; 2: in all marked */
  int n_sets;
  ga__set set[GA__MAX_SETS];
  int leaves_out; /* 1: constraints may be left out */
} ga__layout;

typedef struct ga__direct { /* while the plan is made */
  int entry, place;
  unsigned char source, scale, adds;
} ga__direct;

/* How numbers are filled in (fill.c): copies of entries that follow each other to places that do, in runs of
 * one source, scale and length, */
typedef struct ga__copy {
  int entry, place;
} ga__copy;
typedef struct ga__run {
  ga__source source;
  int scale;
  int adds;   /* 0: it is the first to write at its places */
  int length; /* of each copy */
  int end;    /* of its copies */
} ga__run;
/* and three rows in three columns that one tangent block turns: entries follow each other column by column,
 * as places do within each. What is copied to the same places, from entries in the same order, is added on
 * the way. Etas as in ga__group_row, for the first row; places of the others follow. */
typedef struct ga__tile {
  ga__source source;
  int scale, adds;
  int block_start;
  int entry, place[3];
  int base_source, base_scale, base_entry; /* of the copy, −1: none */
  int eta_first, factor_first, eta_count;
} ga__tile;

/* Runs and tiles of one stripe of the matrix's values: where they end. */
typedef struct ga__stripe {
  int runs, tiles;
} ga__stripe;

/* Entries of one row in the columns of one tangent block, or of one commuting column: they move together when
 * the derivative with respect to q is multiplied by the tangent operator. */
typedef struct ga__group_row {
  ga__source source;
  int scale;
  int block_start; /* of its tangent block in packed arrays, -1: commuting column */
  int size;        /* columns: 1, 3 or 6 */
  int first;       /* into group_entry[] and group_place[] */
  int eta_first, factor_first, eta_count;
} ga__group_row;

typedef struct ga__assembly {
  ga_context *ctx; /* its own, so that the system may go first */
  const ga_system *sys;
  ga__layout layout;
  int n;                     /* rows, the extra ones included */
  int ordered;               /* 1: K has a place for every pivot of the order by bodies */
  int n_pairs;               /* constraints of all sets, where they may be left out */
  int *pair_place;           /* [n_pairs] where row and column of a pair meet */
  int *line_start, *line;    /* [n_pairs + 1] places of a pair's row */
  int n_left_out, *left_out; /* rows that K is without, */
  int *left_out_column;      /* and columns */
  ga_sparse *K;
  int n_direct;
  ga__direct *direct; /* NULL once arranged */
  ga__copy *copy;
  int n_runs, n_tiles, n_blank, n_stripes;
  ga__run *run;
  ga__tile *tile;
  ga__stripe *stripe;
  int *blank;      /* places to be cleared first */
  int *diag_place; /* [n_x + n_y] */
  int n_groups;
  ga__group_row *group;
  int *group_entry, *group_place; /* entry -1: the pattern has none there */
  int *eta_b, *eta_place; /* for every eta of a group: entries of B, one for each of its columns; its place */
} ga__assembly;

typedef struct ga__assembly_input {
  const double *source[GA__N_SOURCES];
  double scale[GA__MAX_SCALES];
  double diag_x;     /* on the diagonal of the states; outputs have 1 */
  const double *T;   /* packed tangent blocks */
  const double *TA;  /* the same times I + κ ad(v_n) of the commutator term, where there is one */
  const double *B_n; /* [n_b + 1] B at the beginning of the step, where there are columns of η; then 0 */
  const ga__null *null, *null_b; /* what is left out */
} ga__assembly_input;

/* Is a matrix of n rows to be ordered by bodies (order.c)? Those that may leave constraints out are in any
 * case: places where a row and a column meet would ruin other orders. */
int ga__order_wants(const ga_system *sys, int n, ga_lu_kind kind, int leaves_out);
/* The row that belongs to a column: its own, but for the two sets of multipliers of the stabilized form's
 * block-triangular matrix, which change places. layout NULL: a matrix without extra rows. */
int ga__order_partner(const ga_system *sys, const ga__layout *layout, int column);
/* LU with that order; every (partner, column) must be in K's pattern. by_fronts: the faster factors for
 * matrices that are far from singular, whose pivots say less of how far; else they are taken only where all
 * others would take too long. leaves_out: constraints may be left out (ga__lu_leave_out). */
ga_status ga__lu_create_ordered_by_bodies(const ga_system *sys, const ga__layout *layout, const ga_sparse *K,
                                          ga_lu_kind kind, int by_fronts, int leaves_out, ga_lu **out);

/* kind: of the factors it is meant for. */
ga_status ga__assembly_create(const ga_system *sys, const ga__layout *layout, ga_lu_kind kind,
                              ga__assembly *as);
/* How many numbers the plan of such a matrix would have. */
ga_status ga__assembly_length(const ga_system *sys, const ga__layout *layout, double *numbers);
ga_status ga__assembly_lu(const ga__assembly *as, ga_lu_kind kind, ga_lu **out);
void ga__assembly_destroy(ga__assembly *as);
ga_status ga__assembly_arrange(ga__assembly *as); /* for filling; the last of its creation (fill.c) */
void ga__assembly_fill(ga__assembly *as, const ga__assembly_input *in);
/* Leaves the redundant constraints out of K, the last of its filling. */
void ga__assembly_leave_out(ga__assembly *as, const ga__null *null, const ga__null *null_b);
/* 1: K, as it was filled last, is without just these. */
int ga__assembly_leaves_out(const ga__assembly *as, const ga__null *null, const ga__null *null_b);
/* r := K⁻¹ r, without what was left out of K. */
ga_status ga__assembly_solve(const ga__assembly *as, ga_lu *lu, double *r);
/* The same by least squares: of the equations that which contradicts others is not asked for, and multipliers
 * do not move where they are free. */
ga_status ga__assembly_solve_squares(const ga__assembly *as, ga_lu *lu, ga__null *null, ga__null *null_b,
                                     double *r);

/* ---- The saddle-point matrix [M Bᵀ Aᵀ; B; A] of starts and projections (saddle.c) -----------------------
 */

typedef struct ga__saddle {
  ga_context *ctx; /* its own, so that the system may go first */
  const ga_system *sys;
  ga_sparse *K;
  ga_lu *lu;
  int *entry_place;          /* [n_entries] place of each entry itself, -1: plays no part */
  int *turned_place;         /* [n_entries] place of the transposed entry, for those of B and A; else -1 */
  int *diag_place;           /* [n_x + n_y] */
  double *M;                 /* [n_entries] D with shift_vdot 1: M and −f_λ, −f_ψ, −f_y, −o_... */
  double *A;                 /* [n_entries] D with shift_v 1: its rows PSI are A */
  double *Q, *G;             /* rows LAMBDA of Q are B */
  int leaves_out;            /* 1: constraints may be left out, as in ga__set */
  int *pair_place;           /* [n_lambda + n_psi] on the diagonal */
  int n_left_out, *left_out; /* constraints that K is without, */
  int *left_out_column;      /* and their columns */
  unsigned char *is_out;     /* [n_lambda + n_psi] */
  double *factored;          /* the values of K that lu has the factors of, */
  int known;                 /* where this is 1 */
  double least_rcond;        /* of the factors made since this was set */
} ga__saddle;

ga_status ga__saddle_create(const ga_system *sys, ga_lu_kind kind, int leaves_out, ga__saddle *sd);
void ga__saddle_destroy(ga__saddle *sd);
/* Evaluates at p and factors. with_forces 1: the columns of λ, ψ, y hold −f_λ, −f_ψ, −f_y and the rows of y
 * their equations; 0: Bᵀ and Aᵀ, y apart. */
ga_status ga__saddle_factor(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces,
                            const ga__null *null);
/* A column of λ or ψ where forces depend on it if all multipliers are 1, but not at p; −1: none. The arrays
 * of sd are lost. */
int ga__vanishing_multiplier(ga__saddle *sd, ga__deriv *w, const ga_point *p);
/* M, B and A alone, into sd->M, Q, A. */
ga_status ga__saddle_evaluate(ga__saddle *sd, ga__deriv *w, const ga_point *p, int with_forces);
/* d[n]; by least squares, as ga__assembly_solve_squares(). */
ga_status ga__saddle_solve(ga__saddle *sd, ga__null *null, double *d);
/* out += A v, with the A of the last evaluation. */
void ga__saddle_a_mul(const ga__saddle *sd, double *out, const double *v);

/* ---- State and stepper (stepper.c, newton.c, start.c) ----------------------------------------------------
 */

/* One complete state, all arrays in one block of `length` doubles. */
typedef struct ga__full {
  double *block;
  double *q, *v, *vdot, *a, *lambda, *psi, *eta, *x, *xdot, *w, *y;
  double *a_prev, *lambda_prev, *psi_prev, *eta_prev, *w_prev, *y_prev;       /* at the step before */
  double *a_prev2, *lambda_prev2, *psi_prev2, *eta_prev2, *w_prev2, *y_prev2; /* and at the one before that */
  double *vdot_prev, *xdot_prev, *vdot_prev2, *xdot_prev2;
  /* After a start there is no step before: λ, ψ, y, vdot, xdot have their rates in _prev instead, where
   * GA__HAS_JERK says so. */
  double *ma, *ma_prev; /* weighted family: M a as the next step may use it */
  double *scalar;       /* [GA__N_SCALARS] */
} ga__full;

/* t; where equal steps began and how many there were; last step, 0 after a start; h of the start; where a and
 * w stand, as times after t. */
enum {
  GA__T = 0,
  GA__T_BASE,
  GA__N_EQUAL,
  GA__H_OLD,
  GA__H_START,
  GA__EPS_A,
  GA__EPS_W,
  GA__KAPPA_H2,
  GA__SPAN,
  GA__SPAN_W,
  GA__HAS_JERK,
  GA__H_OLD2,
  GA__ORDER,
  GA__REDUNDANT,     /* relations among the constraints */
  GA__REDUNDANT_OLD, /* the same one step before */
  GA__HAD_JERK,      /* GA__HAS_JERK one step before */
  GA__GAP,           /* by which redundant ones did not fit together at the start: positions, velocities */
  GA__GAP_V,
  GA__N_SCALARS
};

/* Weighted size of an increment: `acc` of the accelerations, `tight` of positions, velocities and η, `all`
 * over these, λ, ψ, x and y. */
typedef struct ga__measure {
  double all, acc, tight;
} ga__measure;

/* What a family of methods gives to the stepper and to Newton's iteration. The unknowns, the right-hand side
 * and then the increment (both in r) are the family's own affair; the state at the step's end grows in next.
 */
typedef struct ga__family {
  ga__layout (*layout)(const ga_stepper *st);     /* of the iteration matrix */
  ga_status (*predict)(ga_stepper *st, double h); /* set up a step of size h, and first values */
  void (*trial)(ga_stepper *st);                  /* next from the unknowns */
  ga_status (*residual)(ga_stepper *st);          /* right-hand side into r */
  ga_status (*prepare)(ga_stepper *st);           /* iteration matrix at next, factored */
  ga_status (*solve)(ga_stepper *st);             /* increment into r */
  /* the increment in r; worst, where not NULL, receives the column of the unknown that dominates */
  ga__measure (*weigh)(const ga_stepper *st, int *worst);
  ga__measure (*floor)(const ga_stepper *st); /* what rounding leaves of it */
  /* what rounding does to the right-hand side, its terms being of size `terms`[nv] in the dynamics */
  void (*noise)(const ga_stepper *st, const double *terms, double *out);
  void (*update)(ga_stepper *st);                  /* unknowns += r */
  ga_status (*accept)(ga_stepper *st);             /* last touch to next, NULL: none */
  int (*row_of)(const ga_stepper *st, int column); /* the system's row or column behind one of the matrix */
} ga__family;

extern const ga__family ga__exact, ga__weighted;

/* Which terms the columns of η have (terms.c), where that is chosen by how the iteration converges. */
typedef struct ga__terms {
  int all;  /* 1: all of them; 0: those of Φ only */
  int wait; /* steps with all of them until fewer are tried again, */
  int span; /* and how many these were at their beginning */
  int lean; /* steps with fewer since then, up to a few more than matter */
} ga__terms;

/* What Newton's iteration remembers of its factors; kept at the beginning of a step, for taking it back. */
typedef struct ga__memory {
  int have_factors, age, fresh_steps, cheap, cheap_wait;
  double h_factors, rate;
  ga__terms terms;
  int leaves_out, version; /* of the matrices */
} ga__memory;

/* The iteration matrices that are not in use: plain ones while those that leave constraints out are, and the
 * reverse.
 */
typedef struct ga__matrices {
  ga__assembly assembly, cheap_assembly;
  ga_lu *lu, *cheap_lu;
  double *K_kept;
} ga__matrices;

/* What is known of redundant constraints (redundant.c). */
typedef struct ga__redundant {
  ga__gram gram;
  ga__rows rows;
  ga__null null, null_b; /* of [B; A] and of B alone */
  ga__null null_eta; /* as null_b, for the step under way: −B₁ T B_nᵀ, between Φ and η, is as short of rank
                        as the one of B_n and B₁ that is shorter */
  int valid;         /* they are those of the present state */
  int reported;      /* so is the report */
  int plain_refused; /* the plain matrices are singular whatever the values */
  ga_redundancy report;
  size_t room, numbers; /* relations, and their constraints, that the arrays of the report have room for */
  ga_relation *relation;
  ga_constraint *constraint;
  unsigned char *shared; /* [n_lambda + n_psi] */
} ga__redundant;

typedef enum ga__tried { GA__ACCEPTED = 0, GA__FAILED, GA__TAKEN_BACK } ga__tried;

/* Whether a start is the first, or follows on steps; then outputs as they were are its first guess of them,
 * so that algebraic loops stay on their solution. Behind a jump velocities that change are an impact. */
typedef enum ga__again {
  GA__FIRST = 0,
  GA__AFTER_EVENT,
  GA__BEHIND_JUMP,
  GA__FOLLOWING, /* another one's start behind a jump, which has told of it */
  GA__PASSING    /* behind an edge of the motion, where velocities are as the method has them */
} ga__again;

struct ga_stepper {
  const ga__family *family;
  ga_context *ctx;
  const ga_system *sys;
  ga_stepper_opts opts;
  ga__full now, next; /* the state, and the one being computed: they change places on success */
  size_t full_length;
  int has_state;
  ga_state view; /* of now */
  ga_stats stats;

  ga__deriv deriv;
  ga__assembly assembly;
  ga__saddle saddle;
  ga_lu *lu;
  int leaves_out; /* 1: the matrices in use are those that leave constraints out, */
  int version;    /* and this counts what they leave out */
  ga__matrices other;
  ga__saddle other_saddle;
  int chooses_terms;           /* 1: there are matrices with fewer terms of η and with all of them */
  ga__terms terms;             /* of the plain matrices */
  ga__assembly spare_assembly; /* the other one of the two */
  ga_lu *spare_lu;
  ga__redundant red;
  int have_factors; /* lu holds factors of the iteration matrix for step h_factors; */
  int worn;         /* 1: good for looking into the last step, but the next one begins with new ones */
  double h_factors;
  int age;         /* steps ended since the factors were made */
  int fresh_steps; /* steps yet to begin with new factors without asking */
  double rate;     /* contraction seen with these factors, 0: none yet */
  ga__memory kept; /* as the step under way found them */
  int restore;     /* 1: K_kept is to be factored again before the next step uses the factors */
  int flipped;     /* 1: the small matrix has just given way to the full one */
  int diverged;    /* 1: increments of the last iteration grew and grew: the step was too long */
  int renewed;     /* 1: the factors were renewed since, K_kept has the matrix of the old ones */
  double *K_kept;
  int busy;        /* 1: a simulator is looking into the last step */
  ga__tried tried; /* what became of the last step, as far as next still has it */
  ga_error why;    /* it failed */
  int can_undo;    /* 1: next holds the state before the last step */
  int b_valid;     /* B_n is that of the present state */

  int warned;                        /* of a nearly singular iteration matrix */
  int stabilized;                    /* 1: B v + Φ_t = 0 is kept by multipliers η */
  int commutes;                      /* 1: the commutator term has anything to do */
  double c1, c2, d1;                 /* (1−αm)/(β(1−αf)), γ/β, (1−δm)/(θ(1−δf)) */
  double weight[GA_PREDICT_AUTO][3]; /* of the last three values, for every order of prediction */
  double tighter; /* how much more accurately than accelerations positions and velocities are asked for */
  double size_q, size_v, size_a, size[GA_N_BLOCKS]; /* 1 + largest of the trial at the first iteration */
  int sized;
  double gamma, theta;           /* of the step under way */
  double noise_v;                /* of vdot, where it has been found out; 0: not */
  double *est_q, *est_v, *est_x; /* local errors of the last step */
  double *est_all;               /* est_q before ga__filter() */
  double *probe_d;               /* [nv] a direction, */
  double *probe_u, *probe_q;     /* [nv], [nq] a part of it, and positions that far away, */
  double *probe_y, *probe_f;     /* [2 n_y], [2 nv] outputs there, forces there and here, */
  double *probe_k;   /* [7 nv] M, K before and K after the step times the direction; and of those that turn */
  double *probe_w;   /* [nv] one of these, scaled */
  const double *v_n; /* velocity that the step begins with */
  double *v_moved;   /* [nv] for it, where it is not the state's */
  double h;          /* of the step under way */
  unsigned long motion; /* of the trial: ga_point's number for it; exact family only */
  int renewing;         /* 1: the iteration matrix will be made at this trial */
  int swept;            /* 1: D, Q, G are those of this trial already */
  ga__arena arena;      /* of everything below */
  double *D, *Q, *G, *B_n;
  double *a_n, *w_n;       /* a and w adjusted to h */
  double *p, *px;          /* β(a₁−a) and w₁−w: the unknowns in a form free of cancellation */
  double *exponent;        /* [nv] hΔq + commutator */
  double *T, *TA;          /* packed blocks: T and T A, A = I + (h c₂/12) ad(v_n) */
  double *r;               /* [n + n_eta] right-hand side, then the increment */
  double *tmp;             /* [max(nv, n_lambda, ...)] */
  double *slope;           /* [nv] of dense output */
  double *jerk_v, *jerk_x; /* vddot, xddot of the start and the projections, */
  double *jerk_lambda, *jerk_psi, *jerk_y; /* and the rates of λ, ψ, y that come with them */
  /* weighted family only */
  double alpha;     /* αm − αf */
  int two_sets;     /* 1: ã, λ̃, ψ̃ are unknowns too */
  int may_be_cheap; /* 1: no states and outputs, so that one small matrix can serve both sets */
  int cheap;        /* 1: it does now */
  int cheap_wait;   /* steps until it is tried again */
  ga__assembly cheap_assembly;
  ga_lu *cheap_lu;
  double *pt;               /* ã − a; p is a₁ − a in this family */
  double *lambda_t, *psi_t; /* λ̃, ψ̃ */
  double *v_t;              /* z̃₁ */
  double *f0, *ma_n;        /* f at the step's beginning; M_α a */
  double *q_mass, *M;       /* where M₁₊α is evaluated; its values over the pattern */
  double *u, *zero;         /* [nv] */
  double *offset;           /* [n_lambda] h² B r */
  double *solve;            /* [n] of the saddle solves */
  double *begin_q, *begin_v, *begin_x, *begin_lambda, *begin_psi; /* values given to the start */
  ga__again again;
  int provisional; /* 1: the next start serves to choose h alone, and no step follows on it */
  ga_status
      fell_back; /* > 0: outputs from before could not be evaluated or did not do, and others were taken */
  double *begin_y, *tmp_y; /* [n_y] outputs before a start that is made again; work space */
};

/* xdot within the last step, as ga_stepper_interpolate() gives the others (dense.c). */
void ga__interpolate_xdot(const ga_stepper *st, double t, double *xdot);
/* q, v, x at t, some roundings after the present state, by its rates; nothing where t is not after it. The
 * rates of v and x end `early` before. */
void ga__carry(ga_stepper *st, double t, double early, double *q, double *v, double *x);
ga_status ga__newton(ga_stepper *st);

/* -- Terms in the columns of η (terms.c) -- */
/* Which ones the plain matrices begin with. */
void ga__terms_begin(ga_stepper *st);
/* The second of the plain matrices, where there is a choice; after the first. */
ga_status ga__terms_create(ga_stepper *st);
void ga__terms_destroy(ga_stepper *st);
/* Do the matrices in use lack terms that could be had? */
int ga__terms_lacking(const ga_stepper *st);
void ga__terms_take_all(ga_stepper *st);  /* they do, and it is slow or fails for it */
void ga__terms_try_fewer(ga_stepper *st); /* where it is time to; new factors are needed in any case */
void ga__terms_count(ga_stepper *st);     /* a step has been made */
/* The plain matrices have these terms again. */
void ga__terms_restore(ga_stepper *st, const ga__terms *terms);
/* The plain matrix with or without all terms. */
const ga__assembly *ga__terms_assembly(const ga_stepper *st, int all);
void ga__failure_keep(ga_stepper *st, ga_status status); /* the step under way has failed (failure.c) */

/* -- Redundant constraints (redundant.c, closing.c) -- */
ga_status ga__redundant_create(ga_stepper *st);
void ga__redundant_destroy(ga_stepper *st);
/* The matrices for what is redundant, in st->red, become those in use; builds them where they are not there.
 */
ga_status ga__use_matrices(ga_stepper *st);
/* Those in use before become so again; 0: they are no longer there. */
int ga__recall_matrices(ga_stepper *st, int leaves_out, int version);
/* The plain matrices are singular by their pattern, which `status` says: would leaving constraints out mend
 * that? */
ga_status ga__without_plain(ga_stepper *st, ga_status status);
/* The relations at a point into st->red.null, null_b. */
ga_status ga__find_relations(ga_stepper *st, const ga_point *p);
/* Relations and matrices as the present state needs them, at the beginning of a step. */
ga_status ga__ready_matrices(ga_stepper *st);
/* What redundancy leaves unmet of Φ, and of B v + Φ_t and k: */
typedef struct ga__gap {
  double size; /* in the direction of the relations, rows divided by their lengths */
  double off;  /* of the constraint that is off most, as it is */
  int worst;   /* that one, counted through Φ and k; -1: none */
} ga__gap;
double ga__last_max_abs(const double *a, int n,
                        int *where); /* the last of those that are equal, but for rounding */
ga_status ga__gaps_at(ga_stepper *st, const ga__full *f, ga__gap *positions, ga__gap *rates);
/* Predict, Newton's iteration and all else that makes `next`, with other matrices where the rank changes. */
ga_status ga__solve_step(ga_stepper *st, double h);
void ga__log_relations(ga_stepper *st, double t, int before); /* the warning that their number has changed */
/* Factors the saddle matrix that belongs to the relations known. */
ga_status ga__saddle_at(ga_stepper *st, const ga_point *p, int with_forces);
/* Moves q of the present state to where Φ is smallest, as far as o->max_change; *closed: to where it is 0. */
ga_status ga__close_positions(ga_stepper *st, const ga_start_opts *o, ga_start_change *c, int *closed);
/* What rounding of the equations' terms at a state does to the unknowns, found by sending it through the
 * factors. */
ga__measure ga__noise(ga_stepper *st, const ga__full *at);
/* Local errors of the last step into est_q, est_v, est_x (estimate.c); without with_v est_v is raw, off the
 * constraints. */
ga_status ga__estimate(ga_stepper *st, int with_v);
/* Tolerances of errors of q, atol + rtol |q|: by component in R^n, by the length of a position vector, by 1
 * rad. */
void ga__tolerances_q(const ga_system *sys, double atol, double rtol, const double *q, double *out);
/* What accelerations of the last step changed by beyond a straight line, (h²/2) D²vdot, into out[nv]; 0 where
 * no rate is known. */
void ga__estimate_bend(const ga_stepper *st, double *out);
/* est_q := what of it a step would not damp away, by the factors of the iteration matrix; all of it: est_all.
 */
ga_status ga__filter(ga_stepper *st);
/* Stiffness that came up during the step, and has damped nothing yet: period[i], [nv], is that of the motion
 * it makes in coordinate i, 2π √(M/K); 0: there is none. small: times est_all is a change that forces are
 * differenced by. */
ga_status ga__new_stiffness(ga_stepper *st, double small, double *period);
/* Is this what ga_stepper_save() wrote for such a stepper? And the time it was written at. */
ga_status ga__check_saved(ga_stepper *st, const double *saved);
double ga__saved_time(const ga_stepper *st, const double *saved);
void ga__forget_factors(ga_stepper *st); /* so that nothing is left of earlier steps but the state */
void ga__keep_factors(ga_stepper *st);   /* at the beginning of a step */
void ga__save_matrix(ga_stepper *st);    /* before the first renewal in it */
void ga__restore_factors(ga_stepper *st, int failed); /* when it is taken back, or has failed */
ga_status ga__factors_again(ga_stepper *st); /* makes up for a restore, where the factors are to be used */
ga_status ga__begin_velocity(ga_stepper *st, double h); /* sets v_n */
/* 1: Φ = 0 alone is kept, so that v carries an offset normal to the constraints. */
int ga__has_offset(const ga_stepper *st);
/* κ of a step of size h: Δq is off by κ h² vddot. */
double ga__kappa(const ga_stepper *st, double h);
/* v of the present state, its part normal to the constraints moved as κh² changes by d_kappa_h2 and h² by
 * d_h2; into v. */
ga_status ga__move_offset(ga_stepper *st, double d_kappa_h2, double d_h2, double *v);
/* From the unknowns p, px, η: exponent, q₁, v₁, vdot₁, a₁, xdot₁, w₁ in next. */
void ga__trial(ga_stepper *st);
ga_status ga__prepare_factors(ga_stepper *st); /* Jacobian at next, iteration matrix, LU */
ga_point ga__full_point(const ga__full *f);
double ga__seconds(const ga_stepper *st); /* of a clock that runs with opts.timing only */
void ga__trial_states(ga_stepper *st);    /* x₁, xdot₁, w₁ of next from px */
void ga__prepare_tangent(ga_stepper *st); /* T and T A at the present exponent */
/* An LU could not be made because its pattern is singular: say so again, with the name of the unknown instead
 * of a column. Other statuses pass through. */
ga_status ga__name_column(ga_stepper *st, ga_status status);
ga_status ga__factor(ga_stepper *st, ga_lu *lu); /* with counts, names and warnings */
double ga__rounding_of_rate(const ga_system *sys);
ga__layout ga__cheap_layout(const ga_stepper *st);
/* B at the present state into B_n, unless it is there already. */
ga_status ga__update_b(ga_stepper *st);
/* Sets up a_n, w_n for a step of size h, and the prediction in p, px, next. */
void ga__predict(ga_stepper *st, double h);
void ga__show(ga_stepper *st); /* point the public view at the present state */
/* all = max(all, value); *worst, where not NULL, follows: row + where the largest of d[n] is. */
void ga__take(ga__measure *m, double value, int *worst, int row, const double *d, int n);
/* Largest values of the trial, for relative errors; once a step. */
void ga__measure_sizes(ga_stepper *st);
/* Which prediction would have been best for the step just solved; the next one uses it. */
void ga__judge_predictor(ga_stepper *st);
void ga__full_copy(ga_stepper *st, ga__full *to, const ga__full *from);
/* to: the present state moved on for a time that is short against a step, by what is known of it; all but a,
 * w and what was before. */
void ga__move_on(const ga_stepper *st, double gap, ga__full *to);
/* Such a state as that behind a step, so that there is dense output; to go on from it a start is needed. */
void ga__hop(ga_stepper *st, double gap);
/* vdot, λ, ψ, y and xdot of f at its t, q, v, x; what they hold is the guess. */
ga_status ga__accelerations(ga_stepper *st, ga__full *f, ga_start_change *change);
/* The start that comes next is made again, from the present state, until ga__start_first(). */
void ga__start_again(ga_stepper *st, ga__again again);
void ga__start_first(ga_stepper *st);
/* Do all functions of the system have the same values at the present state when t is t_behind? Then nothing
 * jumps there. */
int ga__nothing_jumps(ga_stepper *st, double t_behind);
/* 1: residuals (level 0: Φ, 1: those of velocities, as rows of the whole system) are rounding of q and v. */
ga_status ga__within_rounding(ga_stepper *st, int level, const double *offset, const double *residual,
                              double *room, int *yes);

/* ---- Breakpoints (breakpoints.c) and what happens between the ends of a step (defect.c) -------------------
 */

typedef struct ga__breaks {
  const ga_system *sys;
  int n_times; /* the caller's own, borrowed */
  const double *times;
  double until;       /* none is looked for after this */
  double passed;      /* the end of the last one met */
  int known;          /* 1: next is that after the present time */
  ga_breakpoint next; /* the first one that ends after it */
} ga__breaks;

void ga__breaks_begin(ga__breaks *b, double until);
/* b->next for a state at t, or that there is none up to `ahead`; asks the system only where that is not known
 * yet. */
ga_status ga__breaks_find(ga__breaks *b, double t, double ahead);
void ga__breaks_pass(ga__breaks *b); /* next has been met: it is not found again */

/* How far the equations are off at a state s within the last step, as errors e[nv + n_x] of q and x at its
 * end that this would make. y[n_y] is work space. > 0: they cannot be evaluated there. */
ga_status ga__defect(ga_stepper *st, const ga_state *s, double *y, double *e);
/* How such errors are weighed, and what is too much. */
typedef struct ga__defect_weight {
  double (*weigh)(const void *user, const double *e);
  const void *user;
  double most;
} ga__defect_weight;
/* The same with the stiffness that forces have at that time, for where the first answer is large: *off, is it
 * too large? room: work space of ga__defect_room() numbers, e[nv + n_x] too. */
ga_status ga__defect_again(ga_stepper *st, const ga_state *s, const ga__defect_weight *w, double *y,
                           double *room, double *e, int *off);
size_t ga__defect_room(const ga_system *sys);

/* ---- Edges at which the equations jump with the motion (sides.c) -----------------------------------------
 */

typedef struct ga__sides {
  ga_context *ctx;
  const ga_system *sys;
  double atol_v, rtol_v, atol_x, rtol_x; /* jumps that change less than a part of these do not matter */
  int *begin, *end, *at, *from;          /* [n_sides] at a step's beginning and end, and in between */
  double t_begin, t_end;                 /* [s] that they are of; NaN: not known */
  ga__full state;                        /* q, v, vdot, lambda, psi, x, xdot, y and scalar[GA__T] of it */
  double *block, *y_new, *off, *off_behind, *off_left, *off_right;
} ga__sides;

/* Parts of a step: within the one the state is moved on to the edge by itself; by the other it is moved
 * further, to be on the other side in spite of rounding. */
#define GA__NEAR_EDGE 1e-3
#define GA__BEHIND_EDGE 1e-12
/* Where a start falls back in front of it, by this many times as much, so many times. */
#define GA__FURTHER 8.0
enum { GA__MOST_FURTHER = 10 };

typedef struct ga__edge_met {
  double before, behind; /* [s] infinite: none */
  int which;
} ga__edge_met;

ga_status ga__sides_create(ga_context *ctx, const ga_system *sys, const ga_simulate_opts *tolerances,
                           ga__sides *s);
void ga__sides_free(ga__sides *s);
void ga__sides_forget(ga__sides *s); /* the state has changed other than by a step */
/* The first edge found within the last step whose jump matters. < 0: failed. */
ga_status ga__sides_find(ga__sides *s, ga_stepper *st, ga__edge_met *out);
/* The edge in front of the present state: *gap, the time to just behind it, at most `most`; infinite, and −1:
 * none. Returns which. */
int ga__sides_gap(ga__sides *s, ga_stepper *st, double most, double *gap);
/* Sizes of steps that are to end just in front of an edge. Those that end behind it, or fail because they end
 * on it, tell little of its place, since what acts behind it has a part in them; those that end in front tell
 * it the better the nearer they come. */
typedef struct ga__aim {
  double front, behind; /* the largest that ended in front, 0: none; the smallest that did not, 0: none */
  int n;                /* tries */
  int settled;          /* 1: no other will be nearer */
} ga__aim;
enum { GA__MOST_AIMS = 12 };
/* A step of size h has not, and has been taken back; by its dense output the edge is met at `dense`: the next
 * size. */
double ga__aim_shorter(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double dense);
/* A step of size h has: *gap to just behind the edge, infinite: it is not near. The next size; 0: near
 * enough, or none is left. */
double ga__aim_longer(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double *gap);
/* Keeps the sides that the present state is on; 0: they are not known. And is it on others now? */
int ga__sides_here(ga__sides *s, const ga_stepper *st);
int ga__sides_left(ga__sides *s, const ga_stepper *st);
/* 1: its outputs are on other sides than its motion, as where a start moves velocities that were 0 off their
 * constraints, as far as the method wants that. */
int ga__sides_torn(ga__sides *s, const ga_stepper *st);
void ga__sides_name(const ga__sides *s, int which, char *text, size_t size);

#endif
