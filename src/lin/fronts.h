/* Symbolic factorisation by blocks: components, fronts, and the place of every number. See lu_block.c. */
#ifndef GALPHA_LIN_FRONTS_H
#define GALPHA_LIN_FRONTS_H

#include "lin/lin_impl.h"

/* Fronts of at least this many rows are large: blocks are amalgamated in them, and they have their own
 * kernels (large_front.c). */
enum { GA__FRONT_LARGE = 64 };

/* A front of size + below rows and columns. Large ones are stored by rows, `width` numbers each. Others are
 * stored by columns, so that runs of entries, updates and solutions are vectors: `own` numbers of the
 * pivots' rows, then those below, both padded with zeros to multiples of four, `width` in all. */
typedef struct ga__front {
  int first, size;         /* pivots */
  int below;               /* further rows and columns of the front */
  int own, width;          /* see above */
  int index;               /* into `index` and `place` */
  int index_run;           /* 1: the indices are contiguous */
  int n_pieces;            /* runs of contiguous places, from `index` on in `piece` */
  int entry, n_own, n_all; /* runs of entries of A: those in columns of the pivots first */
  int n_children;          /* children: the front before it in postorder, and the last ones on the stack */
  int waits;     /* 1: its parent is not the next front, and its update matrix is put on the stack */
  size_t factor; /* into the factors. Large: the pivots' rows [size][size + below], L21 [below][size];
                    else the pivots' columns [size][width], U12 [below][size] */
} ga__front;

/* Contiguous numbers: `from` is an index into A's values, `to` one into a large front, into the columns of
 * the pivots, or into the other columns. */
typedef struct ga__run {
  int from, to, n;
} ga__run;

/* `from` is an index into A's values. */
typedef struct ga__move {
  int from, to;
} ga__move;

typedef struct ga__fronts {
  int n;                /* pivots */
  int n_fronts;         /* in postorder, component by component */
  int n_components;     /* block triangular form: the last component is solved first */
  int *P, *Q;           /* [n] row and column of a pivot */
  int *row_pivot;       /* [n] pivot of a row, */
  int *column_pivot;    /* and of a column of A */
  int *component;       /* [n_components + 1] first front of each */
  ga__front *front;     /* [n_fronts] */
  int *index;           /* pivots of the rows below, front by front, padded with n to multiples of four */
  int *place;           /* as index: the row of each in the parent front */
  ga__run *piece;       /* the same as runs of rows: see ga__front_row() */
  int n_index;          /* of all */
  ga__run *entry;       /* front by front */
  int *off_start;       /* [n + 1] by the pivot of their row: entries of A outside of the components, */
  ga__move *off;        /* `to` the pivot of their column */
  size_t n_factors;     /* numbers in all factors */
  size_t n_fill;        /* entries of L+U, with those outside of the components */
  size_t front_size[2]; /* numbers in the largest front with an even and with an odd index; without columns
                           of pivots, unless it is large */
  int longest;          /* width of the widest front */
  size_t stack_size;    /* largest number of doubles on the stack */
  int n_waiting;        /* largest number of fronts on the stack */
} ga__fronts;

/* GA_ERR_MEMORY: out of memory, or fronts too large for an int; nothing is left allocated. */
ga_status ga__fronts_create(ga_context *ctx, const ga_sparse *A, const ga__order *order, ga__fronts *out);
void ga__fronts_destroy(ga_context *ctx, ga__fronts *f);

static inline int ga__front_is_large(const ga__front *f)
{
  return f->size + f->below >= GA__FRONT_LARGE;
}

/* Where the number of a row is in a column of a front; of a large one, the row. */
static inline int ga__front_row(const ga__front *f, int row)
{
  return row < f->size || ga__front_is_large(f) ? row : f->own + row - f->size;
}

/* Numbers of the factors of all fronts. */
typedef struct ga__front_factors {
  double *value;   /* [n_factors] */
  double *inverse; /* [n + 4] of the pivots */
  int *taken;      /* [n] row of a front, before exchanges, that a pivot was found in */
} ga__front_factors;

/* ---- Small fronts, by columns (small_front.c) ---- */

/* Powers of two that rows and columns are weighed with where pivots are sought and judged. */
typedef struct ga__front_scale {
  double *row;            /* [size] R of the pivots' rows, exchanged with them */
  const double *below;    /* [padded below] R of the rows below */
  const double *over, *C; /* [size] 1/R of the pivots' rows, before exchanges, and C of their columns */
} ga__front_scale;

/* Eliminates the columns P[size][width] of the pivots and the others, B[below][width]. P, with U12 behind it,
 * becomes the factors: L11 without its unit diagonal and L21, U11 times the inverse pivot of each column, and
 * U12. The update matrix replaces the lower part of B. pivot[size]: scaled. Returns the largest scaled entry
 * of L21 and of the pivots; NaN if one is NaN. */
double ga__small_front_eliminate(const ga__front *f, double *P, double *B, const ga__front_scale *scale,
                                 int *taken, double *inverse, double *pivot);
void ga__small_front_lower_t(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b,
                             double *x, double *local);
void ga__small_front_upper_t(const ga__fronts *plan, const ga__front *f, const ga__front_factors *b,
                             double *x);

/* x := U⁻¹ L⁻¹ x of the fronts first..end−1, large ones too, for `count` matrices of the same plan: what they
 * have to wait for overlaps. x[][n + 4]; local[longest + 4] is work space. */
void ga__fronts_solve(const ga__fronts *plan, int first, int end, int count,
                      const ga__front_factors *const b[], double *const x[], double *local);

/* ---- Large fronts, by rows (large_front.c) ---- */

/* Numbers of work space that the elimination of a large front needs. */
enum { GA__FRONT_ROOM = 32 * 192 };

/* Eliminates the first s rows of F[rows][W]; L, without its unit diagonal, and U replace it. Pivots are
 * sought among these s rows, by |entry| times weight; weight[s] and taken[s] are permuted with them.
 * inverse[s]: 1 / pivots. */
void ga__front_eliminate(double *F, int rows, int s, int W, double *weight, int *taken, double *inverse,
                         double *room);
/* x := L⁻¹ x and x := U⁻¹ x of the front's factors (ga__front.factor), own[size] the unknowns of its pivots;
 * local[size + below] is work space. */
void ga__front_lower(const ga__front *f, const double *factor, const int *index, const int *taken, double *x,
                     double *local);
void ga__front_upper(const ga__front *f, const double *factor, const int *index, const double *inverse,
                     double *x, double *local);

/* Whether the last factors of a GA_LU_BLOCKS were made by fronts, not by KLU. */
int ga__lu_is_by_fronts(const ga_lu *lu);

/* Exchanges two rows of a front. */
static inline void ga__front_exchange(double *restrict a, double *restrict b, int n)
{
  for (int j = 0; j < n; j++) {
    const double t = a[j];
    a[j] = b[j];
    b[j] = t;
  }
}

#endif
