/* Symbolic factorisation by blocks: components, fronts, and the place of every number. See lu_block.c. */
#ifndef GALPHA_LIN_FRONTS_H
#define GALPHA_LIN_FRONTS_H

#include "lin/lin_impl.h"

/* Fronts of at least this many rows are large: blocks are amalgamated in them, and they have their own
 * kernels (large_front.c). */
enum { GA__FRONT_LARGE = 64 };

typedef struct ga__front {
  int first, size;    /* pivots */
  int below;          /* further rows and columns of the front */
  int width;          /* row length: size + below, rounded up to a multiple of four */
  int index;          /* [below] into `index` and `place` */
  int entry, n_entry; /* entries of A that belong to the front */
  int n_children;     /* children: the front before it in postorder, and the last ones on the stack */
  int waits;          /* 1: its parent is not the next front, and its update matrix is put on the stack */
  size_t factor;      /* into the factors: the pivots' rows [size][size + below], L21 [below][size] */
} ga__front;

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
  int *index;           /* pivots of the rows below, front by front */
  int *place;           /* as index: the row of each in the parent front */
  ga__move *entry;      /* front by front; `to`: place in the front */
  int *off_start;       /* [n + 1] by the pivot of their row: entries of A outside of the components, */
  ga__move *off;        /* `to` the pivot of their column */
  size_t n_factors;     /* numbers in all factors */
  size_t n_fill;        /* entries of L+U, with those outside of the components */
  size_t front_size[2]; /* numbers in the largest front with an even and with an odd index, */
  int longest;          /* rows of the longest front, rounded up to a multiple of four */
  size_t stack_size;    /* largest number of doubles on the stack */
  int n_waiting;        /* largest number of fronts on the stack */
} ga__fronts;

/* GA_ERR_MEMORY: out of memory, or fronts too large for an int; nothing is left allocated. */
ga_status ga__fronts_create(ga_context *ctx, const ga_sparse *A, const ga__order *order, ga__fronts *out);
void ga__fronts_destroy(ga_context *ctx, ga__fronts *f);

/* ---- Large fronts (large_front.c) ---- */

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
