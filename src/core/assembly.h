/* Iteration matrices from tables of rules (assembly.c, fill.c, order.c). */
#ifndef GALPHA_CORE_ASSEMBLY_H
#define GALPHA_CORE_ASSEMBLY_H

#include "core/null_space.h"

typedef enum ga__source { GA__FROM_D = 0, GA__FROM_Q, GA__FROM_G, GA__FROM_M, GA__N_SOURCES } ga__source;

enum { GA__MAX_SCALES = 8 };

/* Where the numbers of one block of rows go; see assembly.c. */
typedef struct ga__rule {
  ga_equation_block row; /* rows of the pattern */
  unsigned cols;         /* columns, a bit 1 << block for each */
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
 * others would take too long. leaves_out: constraints may be left out (ga__lu_decouple). */
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

#endif
