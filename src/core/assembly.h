/* Iteration matrices from tables of rules (assembly.c, fill.c, order.c). */
#ifndef GALPHA_CORE_ASSEMBLY_H
#define GALPHA_CORE_ASSEMBLY_H

#include "core/null_space.h"

typedef enum ga__source {
  GA__FROM_D = 0,
  GA__FROM_Q,
  GA__FROM_G,
  GA__FROM_M,
  GA__FROM_UNIT, /* the unit matrix, rows and columns V; one number, 1 */
  GA__N_SOURCES
} ga__source;

enum { GA__MAX_SCALES = 9 };

/* Destination of the numbers of one block of rows; see assembly.c. */
typedef struct ga__rule {
  ga_equation_block row; /* rows of the pattern */
  unsigned cols;         /* columns, a bit 1 << block for each */
  ga__source source;
  int turned;         /* 1: derivatives by q, to be multiplied by T A; columns V only */
  int to_row, to_col; /* 0: the system's own rows, columns; 1: the method's extra ones */
  int scale;          /* index into the scales given with the numbers */
  int eta;            /* if turned: 1: columns of η too; 2: only if the layout's eta_level is 2 */
} ga__rule;

/* A set of constraints and its multipliers. Redundant constraints are excluded: row and column of the pair
 * are cleared except the diagonal entry, so that the multiplier does not change. */
typedef struct ga__set {
  int row[2], col[2]; /* first equation and first multiplier of Φ and of k; a row of −1: without k */
  int holonomic;      /* 1: only relations among the rows of B count */
} ga__set;

enum { GA__MAX_SETS = 2 };

typedef struct ga__layout {
  const ga__rule *rule;
  int n_rules;
  int n_extra;    /* extra rows and columns, behind the system's; rules that need them are skipped when 0 */
  int extra_from; /* the extra copy of row or column r is n + r − extra_from */
  int eta_level;  /* columns of η: 0: none; 1: in rules with eta 1; 2: in rules with eta 1 or 2 */
  int n_sets;
  ga__set set[GA__MAX_SETS];
  int leaves_out; /* 1: constraints may be excluded */
  int expanded;   /* 1: the first nv extra unknowns are changes of q, solved for and dropped */
} ga__layout;

typedef struct ga__direct { /* used during planning only */
  int entry, place;
  unsigned char source, scale, adds;
} ga__direct;

/* How the matrix is filled (fill.c): copies of contiguous entries to contiguous places, in runs of one
 * source, scale and length, */
typedef struct ga__copy {
  int entry, place;
} ga__copy;
typedef struct ga__run {
  ga__source source;
  int scale;
  int adds;   /* 0: the first to write to its places, 1: it adds */
  int length; /* of each copy */
  int end;    /* of its copies */
} ga__run;
/* and tiles of three rows and three columns multiplied by one tangent block: entries are contiguous by
 * columns, places within each column. Numbers copied to the same places, from entries in the same order,
 * are added at once. Etas as in ga__group_row, for the first row; places of the other rows follow. */
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

/* Entries of one row in the columns of one tangent block, or in one commuting column: they are multiplied
 * together by the tangent operator. */
typedef struct ga__group_row {
  ga__source source;
  int scale;
  int block_start; /* of its tangent block in packed arrays, -1: commuting column */
  int size;        /* columns: 1, 3 or 6 */
  int first;       /* into group_entry[] and group_place[] */
  int eta_first, factor_first, eta_count;
} ga__group_row;

typedef struct ga__assembly {
  ga_context *ctx; /* its own: the system may be destroyed before */
  const ga_system *sys;
  ga__layout layout;
  int n;                     /* rows, the extra ones included */
  double *work;              /* [n] right-hand side of an expanded matrix */
  int ordered;               /* 1: K has a place for every pivot of the order by bodies */
  int n_pairs;               /* constraints of all sets, if they may be excluded */
  int *pair_place;           /* [n_pairs] place of the diagonal entry of a pair */
  int *line_start, *line;    /* [n_pairs + 1] places of a pair's row */
  int n_left_out, *left_out; /* rows excluded from K, */
  int *left_out_column;      /* and columns */
  ga_sparse *K;
  double *own_value; /* memory of K, if its values are elsewhere */
  int n_direct;
  ga__direct *direct; /* NULL once arranged */
  ga__copy *copy;
  int n_runs, n_tiles, n_blank, n_stripes;
  ga__run *run;
  ga__tile *tile;
  ga__stripe *stripe;
  int *blank;      /* places to be cleared before filling */
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
  const double *T;   /* packed blocks of the tangent operator */
  const double *TA;  /* the same times I + κ ad(v_n) of the commutator term, if there is one */
  const double *B_n; /* [n_b + 1] B at the beginning of the step, if there are columns of η; the last is 0 */
  const ga__null *null, *null_b; /* relations whose constraints are excluded */
} ga__assembly_input;

/* Unknowns of a system from which on its expanded matrix, and the order by bodies where KLU seeks pivots, are
 * worth their larger pattern. */
enum { GA__ORDER_LARGE = 80 };

/* From now on the values of K are written to this array of nnz numbers. */
void ga__assembly_place(ga__assembly *as, double *value);

/* Whether a matrix of n rows is ordered by bodies (order.c). Those with exclusions always are: their extra
 * diagonal entries would spoil other orders. */
int ga__order_wants(const ga_system *sys, int n, ga_lu_kind kind, int leaves_out);
/* The row that belongs to a column: its own, except for the two sets of multipliers of the stabilized
 * form's block-triangular matrix, which are exchanged. layout NULL: a matrix without extra rows. */
int ga__order_partner(const ga_system *sys, const ga__layout *layout, int column);
/* LU with that order; every (partner, column) must be in K's pattern. by_fronts: the faster factors, for
 * matrices that are far from singular (their pivots say less about the distance); otherwise they are used
 * only if all others would be too slow. leaves_out: constraints may be excluded (ga__lu_decouple). */
ga_status ga__lu_create_ordered_by_bodies(const ga_system *sys, const ga__layout *layout, const ga_sparse *K,
                                          ga_lu_kind kind, int by_fronts, int leaves_out, ga_lu **out);

/* kind: of the factors that will be used. */
ga_status ga__assembly_create(const ga_system *sys, const ga__layout *layout, ga_lu_kind kind,
                              ga__assembly *as);
/* Number of entries in the plan of such a matrix. */
ga_status ga__assembly_length(const ga_system *sys, const ga__layout *layout, double *numbers);
ga_status ga__assembly_lu(const ga__assembly *as, ga_lu_kind kind, ga_lu **out);
/* Unknowns of solutions, without those dropped; and the unknown of a column. */
int ga__assembly_unknowns(const ga__assembly *as);
int ga__assembly_unknown_of(const ga__assembly *as, int column);
void ga__assembly_destroy(ga__assembly *as);
ga_status ga__assembly_arrange(ga__assembly *as); /* prepares filling; the last step of creation (fill.c) */
void ga__assembly_fill(ga__assembly *as, const ga__assembly_input *in);
/* Excludes the redundant constraints from K; the last step of filling. */
void ga__assembly_leave_out(ga__assembly *as, const ga__null *null, const ga__null *null_b);
/* 1: exactly these were excluded when K was last filled. */
int ga__assembly_leaves_out(const ga__assembly *as, const ga__null *null, const ga__null *null_b);
/* r := K⁻¹ r, excluded constraints ignored. */
ga_status ga__assembly_solve(const ga__assembly *as, ga_lu *lu, double *r);
/* r := K⁻ᵀ r, likewise. */
ga_status ga__assembly_solve_t(const ga__assembly *as, ga_lu *lu, double *r);
/* r := K⁻¹ r by least squares: contradicting parts of the equations are ignored, and free multipliers do not
 * change. */
ga_status ga__assembly_solve_squares(const ga__assembly *as, ga_lu *lu, ga__null *null, ga__null *null_b,
                                     double *r);
/* The same with n factors of the assembly, each for its own r: faster than one after the other. */
ga_status ga__assembly_solve_several(const ga__assembly *as, ga_lu *const lu[], ga__null *null,
                                     ga__null *null_b, double *const r[], int n);

#endif
