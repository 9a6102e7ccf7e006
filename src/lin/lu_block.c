/* Sparse LU factors by dense fronts, for matrices whose unknowns come in small blocks (bodies, joints).
 *
 * Why not KLU alone: factors and solution of one iteration matrix, fronts and KLU in the same order, one
 * thread, best of many:
 *
 *   spatial chain, index 3 (bench_mbs --only split)      factors [µs]    solve [µs]     step [µs]
 *     100 ball joints                                     31     57       9     12       64     93
 *     1000 ball joints                                   327    544      93    171      700    991
 *     100 hinges                                          62     87      14     20      113    143
 *     1000 hinges                                        598    942     147    203     1163   1652
 *   structures of 2000 distances (bench_structures)      factors [ms]
 *     net, net with diagonals                             15     51;     18    110
 *     lattice, cubes with all diagonals                   99    384;     51    207
 *
 * A step with new factors takes 20 to 30 % less time, and structures a quarter. Below about 20 unknowns dense
 * factors take over.
 *
 * The matrix is brought to block triangular form; within a component the blocks are eliminated in the given
 * order. Pivots are sought within their block only, so that everything else is known beforehand (fronts.c):
 * the fill, and the place of every number. To each block belongs a front, a small dense matrix
 *
 *        [ F11 F12 ]   s pivots        F11 = Pᵀ L11 U11,  U12 = L11⁻¹ P F12,  L21 = F21 U11⁻¹
 *    F = [ F21 F22 ]   m rows below    F22 − L21 U12 goes to the front of the next block that it meets
 *
 * (the multifrontal method). Where a block has no good pivots of its own the whole matrix goes to KLU, which
 * seeks them elsewhere, and so do the REST next ones.
 *
 * Nothing is scaled: rows are weighed with R and columns with C, powers of two found with the first factors,
 * where pivots are sought and judged. */
#include "base/quad.h"
#include "lin/fronts.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { REST = 50 };
enum { FEW_NUMBERS = 1000000 }; /* larger factors, and KLU for them, are created at their first use */
enum { LINE = 8 };              /* numbers in a line of the cache */
/* [-] larger scaled entries of L21 would amplify rounding; larger pivots show that the scaling is out of
 * date and could make a zero pivot look non-zero. */
static const double MOST_GROWTH = 1e5;
/* Rows and columns are balanced from this power of two of their ratio on, by at most so many sweeps. */
enum { UNBALANCED = 10, BALANCE_MOST = 30 };
static const double NEAR_ONE = 4; /* [-] largest scaled entries, at least 2 as scales are powers of two */

typedef struct factor_history {
  int scaled;    /* 1: R and C are set */
  int rest;      /* number of further factorisations to be done by KLU */
  int searched;  /* KLU has pivots */
  uint64_t seen; /* checksum of the last matrix if KLU factored it; else 0 */
} factor_history;

typedef struct blocks {
  ga__fronts plan;
  double *factors;    /* of all fronts */
  double *off_value;  /* values of A outside the components at the last factorisation */
  double *room;       /* memory for two fronts, */
  double *front[2];   /* aligned to cache lines: the current front and the one before */
  double *row;        /* [longest] of a front */
  double *panel;      /* [GA__FRONT_ROOM] */
  double *stack;      /* update matrices of fronts whose parent is not the next front, */
  int *waiting;       /* and the indices of these fronts */
  int *taken;         /* [n] row of F11, before exchanges, that a pivot was found in */
  double *inverse;    /* [n] of the pivots */
  double *pivot;      /* [n] scaled */
  double *x;          /* [n] a right-hand side in the order of the pivots */
  double *local;      /* [longest] */
  double *R, *C;      /* [n] by pivots */
  double *over;       /* [n] 1/R */
  double growth;      /* largest scaled entry of L21, or pivot */
  int by_klu;         /* the last factors are KLU's */
  factor_history now; /* with R, C and klu everything that later factors depend on */
  int marking;        /* 1: the marked state must be kept: */
  factor_history marked;
  int scale_marked; /* 1: marked_R, marked_C hold R and C of the mark */
  double *marked_R, *marked_C;
  ga_lu klu;          /* data NULL: not created yet, */
  int *klu_P, *klu_Q; /* [n] and the order for it */
} blocks;

static void block_destroy(ga_lu *lu)
{
  blocks *b = lu->data;
  ga__fronts_destroy(lu->ctx, &b->plan);
  if (b->klu.data) b->klu.backend->destroy(&b->klu);
  void *const array[] = {b->factors, b->off_value, b->room,     b->row,   b->panel, b->stack, b->waiting,
                         b->taken,   b->inverse,   b->pivot,    b->x,     b->local, b->R,     b->C,
                         b->over,    b->marked_R,  b->marked_C, b->klu_P, b->klu_Q};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) ga__free(lu->ctx, array[i]);
  ga__free(lu->ctx, b);
  lu->data = NULL;
}

static ga_status allocate_factors(ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  const size_t n = (size_t)plan->n;
  struct {
    void **array;
    size_t count, bytes;
  } need[] = {{(void **)&b->factors, plan->n_factors + 4, sizeof(double)},
              {(void **)&b->off_value, (size_t)plan->off_start[plan->n], sizeof(double)},
              {(void **)&b->room, plan->front_size[0] + plan->front_size[1] + 4 * LINE, sizeof(double)},
              {(void **)&b->row, (size_t)plan->longest, sizeof(double)},
              {(void **)&b->panel, plan->longest >= GA__FRONT_LARGE ? GA__FRONT_ROOM : 0, sizeof(double)},
              {(void **)&b->stack, plan->stack_size, sizeof(double)},
              {(void **)&b->waiting, (size_t)plan->n_waiting, sizeof(int)},
              {(void **)&b->taken, n, sizeof(int)},
              {(void **)&b->inverse, n, sizeof(double)},
              {(void **)&b->pivot, n, sizeof(double)},
              {(void **)&b->x, n, sizeof(double)},
              {(void **)&b->local, (size_t)plan->longest + 4, sizeof(double)},
              {(void **)&b->R, n, sizeof(double)},
              {(void **)&b->C, n, sizeof(double)},
              {(void **)&b->over, n, sizeof(double)},
              {(void **)&b->marked_R, n, sizeof(double)},
              {(void **)&b->marked_C, n, sizeof(double)}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    if (!*need[i].array && !(*need[i].array = ga__alloc(lu->ctx, need[i].count, need[i].bytes)))
      return ga__no_memory(lu->ctx, "sparse LU factors");
  const size_t off = (uintptr_t)b->room / sizeof(double) % LINE;
  b->front[0] = b->room + (LINE - off) % LINE;
  b->front[1] = b->front[0] + (plan->front_size[0] + LINE - 1) / LINE * LINE;
  return GA_OK;
}

static int n_fill(const blocks *b)
{
  return b->plan.n_fill < INT_MAX ? (int)b->plan.n_fill : INT_MAX;
}

static ga_status create_klu(ga_lu *lu, const ga__order *order)
{
  blocks *b = lu->data;
  b->klu = (ga_lu){.ctx = lu->ctx, .A = lu->A, .backend = &ga__lu_klu, .order = order};
  const ga_status status = b->klu.backend->create(&b->klu);
  b->klu.order = NULL;
  if (status && b->klu.data) b->klu.backend->destroy(&b->klu);
  if (!status && b->marking) b->klu.backend->mark(&b->klu);
  return status;
}

static ga_status keep_order(ga_lu *lu)
{
  blocks *b = lu->data;
  const size_t n = (size_t)lu->A->cols;
  b->klu_P = ga__alloc(lu->ctx, n, sizeof *b->klu_P);
  b->klu_Q = ga__alloc(lu->ctx, n, sizeof *b->klu_Q);
  if (!b->klu_P || !b->klu_Q) return ga__no_memory(lu->ctx, "sparse LU factors");
  memcpy(b->klu_P, lu->order->P, n * sizeof *b->klu_P);
  memcpy(b->klu_Q, lu->order->Q, n * sizeof *b->klu_Q);
  return GA_OK;
}

static ga_status block_create(ga_lu *lu)
{
  blocks *b = lu->data = ga__alloc(lu->ctx, 1, sizeof *b);
  if (!b) return ga__no_memory(lu->ctx, "sparse LU factors");
  ga_status status = ga__fronts_create(lu->ctx, lu->A, lu->order, &b->plan);
  const int few = b->plan.n_factors <= FEW_NUMBERS;
  if (!status) status = few ? create_klu(lu, lu->order) : keep_order(lu);
  if (!status && few) status = allocate_factors(lu);
  lu->info.n_fill = n_fill(b);
  return status;
}

/* ---- Scaling ---- */

/* 1/x, or 1/√x with half = 1, to the nearest power of two; 1 for 0. */
static double reciprocal(double x, int half)
{
  int exponent = 0;
  if (x > 0) frexp(x, &exponent);
  if (exponent < -1000) exponent = -1000;
  return ldexp(1, -(half ? exponent / 2 : exponent));
}

/* R_k = C_k = 1/√|a_kk|; 0 without a diagonal entry. */
static void scale_diagonals(const ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  for (int k = 0; k < plan->n; k++) {
    const int at = ga_sparse_find(lu->A, plan->P[k], plan->Q[k]);
    const double a = at >= 0 ? fabs(lu->A->value[at]) : 0;
    b->R[k] = b->C[k] = a > 0 ? reciprocal(a, 1) : 0;
  }
}

/* Largest scaled entries beside the diagonal, within components, by rows and by columns. */
static void find_largest(const ga_lu *lu, double *row, double *column)
{
  const blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  const ga_sparse *A = lu->A;
  for (int c = 0, k = 0; c < plan->n_components; c++) {
    const ga__front *last = &plan->front[plan->component[c + 1] - 1];
    const int first = k, end = last->first + last->size;
    for (int i = first; i < end; i++) row[i] = 0;
    for (; k < end; k++) {
      double most = 0;
      for (int p = A->col_start[plan->Q[k]]; p < A->col_start[plan->Q[k] + 1]; p++) {
        const int i = plan->row_pivot[A->row[p]];
        if (i < first || i >= end || i == k) continue;
        const double size = b->R[i] * b->C[k] * fabs(A->value[p]);
        most = fmax(most, size);
        row[i] = fmax(row[i], size);
      }
      column[k] = most;
    }
  }
}

/* Units that do not fit, as pressures of 1e7 Pa beside flows of 1e-6 m³/s, show in rows whose entries are
 * much larger than those of the column, or the reverse: R_k is reduced and C_k increased until both are of
 * one size, which leaves the diagonal as it is. Half of the exponent at a time, as the other end of an entry
 * changes too. */
static void balance(const ga_lu *lu, double *row, double *column)
{
  blocks *b = lu->data;
  for (int sweep = 0, changed = 1; changed && sweep < BALANCE_MOST; sweep++) {
    changed = 0;
    find_largest(lu, row, column);
    for (int k = 0; k < b->plan.n; k++) {
      if (!(row[k] > 0 && column[k] > 0)) continue;
      int exponent;
      frexp(row[k] / column[k], &exponent);
      if (abs(exponent) < UNBALANCED) continue;
      b->R[k] = ldexp(b->R[k], -exponent / 4);
      b->C[k] = ldexp(b->C[k], exponent / 4);
      changed = 1;
    }
  }
}

/* R_k and C_k become less if entries of its component with earlier pivots, from `first` on, would become much
 * larger than 1. row[n]: largest entries by pivots, in the columns scaled so far. */
static void limit_scale(const ga_lu *lu, int first, int k, double *row)
{
  blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  const ga_sparse *A = lu->A;
  const int end = A->col_start[plan->Q[k] + 1];
  double column = 0;
  if (b->R[k] == 0) return;
  for (int p = A->col_start[plan->Q[k]]; p < end; p++) {
    const int i = plan->row_pivot[A->row[p]];
    if (i >= first && i < k) column = fmax(column, b->R[i] * fabs(A->value[p]));
  }
  if (b->R[k] * row[k] > NEAR_ONE) b->R[k] = reciprocal(row[k], 0);
  if (b->C[k] * column > NEAR_ONE) b->C[k] = reciprocal(column, 0);
  for (int p = A->col_start[plan->Q[k]]; p < end; p++) {
    const int i = plan->row_pivot[A->row[p]];
    if (i >= first) row[i] = fmax(row[i], b->C[k] * fabs(A->value[p]));
  }
}

/* Without a diagonal entry: 1 over the largest entry of the row or column, already scaled in the other
 * direction; rows first. */
static void find_scale(const ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  const ga_sparse *A = lu->A;
  double *row = b->x;
  scale_diagonals(lu);
  balance(lu, row, b->inverse);
  for (int k = 0; k < plan->n; k++) row[k] = 0;
  for (int c = 0, k = 0; c < plan->n_components; c++) {
    const int first = k, last = plan->component[c + 1] - 1;
    for (; k < plan->front[last].first + plan->front[last].size; k++) limit_scale(lu, first, k, row);
  }
  for (int k = 0; k < plan->n; k++)
    if (b->R[k] == 0) b->R[k] = reciprocal(row[k], 0);
  for (int k = 0; k < plan->n; k++) {
    double most = 0;
    if (b->C[k] > 0) continue;
    for (int p = A->col_start[plan->Q[k]]; p < A->col_start[plan->Q[k] + 1]; p++)
      most = fmax(most, b->R[plan->row_pivot[A->row[p]]] * fabs(A->value[p]));
    b->C[k] = reciprocal(most, 0);
  }
}

static void renew_scale(const ga_lu *lu)
{
  blocks *b = lu->data;
  const size_t bytes = (size_t)b->plan.n * sizeof(double);
  if (b->marking && b->now.scaled && !b->scale_marked) {
    memcpy(b->marked_R, b->R, bytes);
    memcpy(b->marked_C, b->C, bytes);
    b->scale_marked = 1;
  }
  find_scale(lu);
  b->now.scaled = 1;
}

static double block_column_max(const ga_lu *lu, int column)
{
  const blocks *b = lu->data;
  const ga_sparse *A = lu->A;
  const double C = b->C[b->plan.column_pivot[column]];
  double most = 0;
  for (int p = A->col_start[column]; p < A->col_start[column + 1]; p++)
    most = fmax(most, b->R[b->plan.row_pivot[A->row[p]]] * C * fabs(A->value[p]));
  return most;
}

/* ---- Factors ---- */

/* One elimination step in F[rows][W], pivot k of s; L replaces the zeros. weight[s] and taken[s] are
 * permuted with the rows. W and J are compile-time constants, 4 J <= k: columns before 4 J are finished.
 * The inner loop is most of the work; the pivot row is kept in registers. */
GA__INLINE void eliminate_one(double *F, int rows, int s, int k, const int W, const int J, ga__quad *u,
                              double *restrict weight, int *restrict taken, double *restrict inverse)
{
  double *pivot_row = F + k * W, most = fabs(pivot_row[k]) * weight[k];
  const ga__quad_mask kk = {k, k, k, k};
  int best = k;
  for (int i = k + 1; i < s; i++) {
    const double size = fabs(F[i * W + k]) * weight[i];
    if (size > most) most = size, best = i;
  }
  if (best != k) {
    const double w = weight[k];
    const int t = taken[k];
    ga__front_exchange(pivot_row, F + best * W, W);
    weight[k] = weight[best], weight[best] = w;
    taken[k] = taken[best], taken[best] = t;
  }
  const double over_pivot = inverse[k] = 1 / pivot_row[k];
  for (int j = J; j < W / 4; j++) {
    const ga__quad_mask at = {4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3};
    u[j] = (ga__quad)((ga__quad_mask)ga__quad_load(pivot_row + 4 * j) & (at > kk));
  }
  const ga__quad_mask lane = {4 * J, 4 * J + 1, 4 * J + 2, 4 * J + 3}, here = lane == kk;
  for (int i = k + 1; i < rows; i++) {
    double *f = F + i * W;
    const double l = f[k] * over_pivot;
    const ga__quad ll = {l, l, l, l}, first = ga__quad_load(f + 4 * J) - ll * u[J];
    for (int j = J + 1; j < W / 4; j++) *(ga__quad *)(f + 4 * j) -= ll * u[j];
    if (J < 2) { /* l is in the first four: stored as a whole quad, as the next step loads it */
      *(ga__quad *)(f + 4 * J) = (ga__quad)(((ga__quad_mask)first & ~here) | ((ga__quad_mask)ll & here));
    } else {
      *(ga__quad *)(f + 4 * J) = first;
      f[k] = l;
    }
  }
}

GA__INLINE void eliminate(double *F, int rows, int s, const int W, ga__quad *u, double *restrict weight,
                          int *restrict taken, double *restrict inverse)
{
  int k = 0;
  for (; k < s && k < 4; k++) eliminate_one(F, rows, s, k, W, 0, u, weight, taken, inverse);
  for (; W >= 8 && k < s && k < 8; k++) eliminate_one(F, rows, s, k, W, 1, u, weight, taken, inverse);
  for (; W >= 12 && k < s; k++) eliminate_one(F, rows, s, k, W, 2, u, weight, taken, inverse);
}

/* Sizes with kernels of their own: velocities of bodies, constraints of joints; and widths of fronts. */
#define BY_SIZE(size, DO)                                                                                    \
  switch (size) {                                                                                            \
  case 1:                                                                                                    \
    DO(1);                                                                                                   \
    break;                                                                                                   \
  case 2:                                                                                                    \
    DO(2);                                                                                                   \
    break;                                                                                                   \
  case 3:                                                                                                    \
    DO(3);                                                                                                   \
    break;                                                                                                   \
  case 5:                                                                                                    \
    DO(5);                                                                                                   \
    break;                                                                                                   \
  case 6:                                                                                                    \
    DO(6);                                                                                                   \
    break;                                                                                                   \
  default:                                                                                                   \
    DO(size);                                                                                                \
  }
#define UNROLLED _Pragma("GCC unroll 8")
#define WIDTHS(X) X(4) X(8) X(12) X(16) X(20) X(24)

GA__WIDE static void eliminate_front(const blocks *b, const ga__front *f, double *F, double *weight)
{
  double *inverse = b->inverse + f->first;
  int *taken = b->taken + f->first, rows = f->size + f->below;
  if (rows >= GA__FRONT_LARGE) {
    ga__front_eliminate(F, rows, f->size, f->width, weight, taken, inverse, b->panel);
    return;
  }
  switch (f->width) {
#define CASE(W)                                                                                              \
  case W: {                                                                                                  \
    ga__quad u[W / 4];                                                                                       \
    eliminate(F, rows, f->size, W, u, weight, taken, inverse);                                               \
    break;                                                                                                   \
  }
    WIDTHS(CASE)
#undef CASE
  default:
    eliminate(F, rows, f->size, f->width, (ga__quad *)(void *)b->row, weight, taken, inverse);
  }
}

/* F += update matrix of a child, from[below][stride]. Its places are mostly contiguous. */
static inline void add_child(double *F, int W, const int *place, int m, const double *from, int stride)
{
  if (place[m - 1] - place[0] == m - 1) {
    double *to = F + place[0] * W + place[0];
    for (int i = 0; i < m; i++, to += W, from += stride)
      for (int j = 0; j < m; j++) to[j] += from[j];
    return;
  }
  for (int i = 0; i < m; i++, from += stride)
    for (int j = 0; j < m; j++) F[place[i] * W + place[j]] += from[j];
}

/* F := entries of A */
static void fill_front(const blocks *b, double *F, const double *value, const ga__front *f)
{
  const ga__move *entry = b->plan.entry + f->entry;
  memset(F, 0, (size_t)(f->size + f->below) * (size_t)f->width * sizeof *F);
  for (int i = 0; i < f->n_entry; i++) F[entry[i].to] = value[entry[i].from];
}

/* F += update matrices of the children: that of the last one is still in its front, the others are on the
 * stack, whose new end is returned. */
static double *add_children(const blocks *b, double *F, int number, double *end, int *n_waiting)
{
  const ga__fronts *plan = &b->plan;
  const ga__front *f = &plan->front[number];
  if (f->n_children > 0) {
    const ga__front *last = f - 1;
    add_child(F, f->width, plan->place + last->index, last->below,
              b->front[(number - 1) % 2] + last->size * last->width + last->size, last->width);
  }
  for (int k = 1; k < f->n_children; k++) {
    const ga__front *child = &plan->front[b->waiting[--*n_waiting]];
    end -= (size_t)child->below * (size_t)child->below;
    add_child(F, f->width, plan->place + child->index, child->below, end, child->below);
  }
  return end;
}

/* Stores L11, U11 and U12, then L21, without the padding of rows: it is overwritten by the next row, or
 * lies behind the last one. */
GA__INLINE void store_rows(double *to, const double *F, int n, int length, int W)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < length; j += 4) *(ga__quad *)(to + i * length + j) = ga__quad_load(F + i * W + j);
}

/* Largest scaled entry of L21, NaN if one is NaN. over[]: 1 / the weights of the pivots' rows, padded with
 * zeros. */
GA__INLINE double growth_of(const double *R, const ga__front *f, const int *index, const double *F,
                            const double *over)
{
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  const int s = f->size, W = f->width;
  const double *l = F + s * W;
  ga__quad most = {0, 0, 0, 0}, bad = most;
  for (int i = 0; i < f->below; i++, l += W)
    for (int k = 0; k < s; k += 4) {
      const ga__quad size =
          (ga__quad)((ga__quad_mask)ga__quad_load(l + k) & sign) * (R[index[i]] * ga__quad_load(over + k));
      most = ga__quad_larger(size, most);
      bad += size * 0.0;
    }
  const double low = most[0] > most[1] ? most[0] : most[1], high = most[2] > most[3] ? most[2] : most[3];
  return (low > high ? low : high) + (bad[0] + bad[1] + bad[2] + bad[3]);
}

/* Copies F22 to the stack. */
static double *push_update(const ga__front *f, const double *F, double *to)
{
  F += f->size * f->width + f->size;
  for (int i = 0; i < f->below; i++, to += f->below, F += f->width)
    for (int j = 0; j < f->below; j++) to[j] = F[j];
  return to;
}

/* Stores the factors of a front, its pivots and growth, after its elimination. weight[s]: of the pivots'
 * rows. */
GA__WIDE static void store_front(blocks *b, const ga__front *f, const double *F, double *weight)
{
  const int s = f->size, W = f->width, rows = s + f->below, *index = b->plan.index + f->index,
            *taken = b->taken + f->first;
  const double *C = b->C + f->first, *over = b->over + f->first;
  double *to = b->factors + f->factor, *pivot = b->pivot + f->first, most = b->growth, bad = 0;
  for (int k = 0; k < s; k++) {
    const double p = F[k * W + k] * weight[k] * C[k];
    pivot[k] = p;
    most = fabs(p) > most ? fabs(p) : most;
    bad += p * 0.0;
    weight[k] = over[taken[k]];
  }
  for (int k = s; k % 4; k++) weight[k] = 0;
  store_rows(to, F, s, rows, W);
  store_rows(to + s * rows, F + s * W, f->below, s, W);
  const double below = growth_of(b->R, f, index, F, weight);
  b->growth = (most > below ? most : below) + (bad + below * 0.0 + b->growth * 0.0); /* keeps a NaN */
}

static void factor_blocks(ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  double *end = b->stack, *weight = b->local;
  int n_waiting = 0;
  b->growth = 0;
  for (int i = 0; i < plan->n; i++) b->over[i] = 1 / b->R[i];
  for (int i = 0; i < plan->n_fronts; i++) {
    const ga__front *f = &plan->front[i];
    const int first = f->first;
    double *F = b->front[i % 2];
    fill_front(b, F, lu->A->value, f);
    end = add_children(b, F, i, end, &n_waiting);
    for (int k = 0; k < f->size; k++) weight[k] = b->R[first + k], b->taken[first + k] = k;
    eliminate_front(b, f, F, weight);
    store_front(b, f, F, weight);
    if (!f->waits) continue;
    end = push_update(f, F, end);
    b->waiting[n_waiting++] = i;
  }
  for (int k = 0; k < plan->off_start[plan->n]; k++) b->off_value[k] = lu->A->value[plan->off[k].from];
}

static int are_factors_good(ga_lu *lu)
{
  const blocks *b = lu->data;
  return b->growth <= MOST_GROWTH && ga__lu_check_pivots(lu, b->pivot, 1, b->plan.Q) == GA__PIVOTS_GOOD;
}

/* Checksum of the bits of A's values, never 0. */
static uint64_t checksum(const ga_sparse *A)
{
  uint64_t sum = 0;
  for (int p = 0; p < A->nnz; p++) {
    uint64_t bits;
    memcpy(&bits, &A->value[p], sizeof bits);
    sum = (sum ^ bits) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  return sum ? sum : 1;
}

static ga_status factor_by_klu(ga_lu *lu, uint64_t seen)
{
  blocks *b = lu->data;
  const ga__order order = {.P = b->klu_P, .Q = b->klu_Q};
  ga_status status = b->klu.data ? GA_OK : create_klu(lu, &order);
  if (status) return status;
  b->by_klu = 1;
  b->now.seen = seen;
  status = b->klu.backend->factor(&b->klu);
  b->now.searched = !status;
  const long n_solve = lu->info.n_solve, n_factor = lu->info.n_factor, n_refactor = lu->info.n_refactor;
  lu->info = b->klu.info;
  lu->info.kind = GA_LU_BLOCKS;
  lu->info.n_solve = n_solve;
  lu->info.n_factor = n_factor + b->klu.info.n_factor;
  lu->info.n_refactor = n_refactor + b->klu.info.n_refactor;
  b->klu.info.n_factor = b->klu.info.n_refactor = 0;
  return status;
}

/* The same matrix given again is factored in the same way, and not counted, so that factors discarded by a
 * rejected step can be made again. */
static ga_status block_factor(ga_lu *lu)
{
  blocks *b = lu->data;
  if (!b->front[1]) {
    const ga_status status = allocate_factors(lu);
    if (status) return status;
  }
  const uint64_t seen = b->now.seen ? checksum(lu->A) : 0;
  if (b->now.seen && (b->now.rest > 0 || seen == b->now.seen)) {
    b->now.rest -= seen != b->now.seen;
    return factor_by_klu(lu, seen);
  }
  const int first = !b->now.scaled;
  if (first) renew_scale(lu);
  factor_blocks(lu);
  int good = are_factors_good(lu);
  if (!good && !first) { /* the scaling may be out of date */
    renew_scale(lu);
    factor_blocks(lu);
    good = are_factors_good(lu);
  }
  if (!good) {
    b->now.rest = REST;
    return factor_by_klu(lu, checksum(lu->A));
  }
  b->by_klu = 0;
  b->now.seen = 0;
  lu->info.n_fill = n_fill(b);
  if (first)
    lu->info.n_factor++;
  else
    lu->info.n_refactor++;
  return GA_OK;
}

/* ---- Solving ---- */

/* Both for a compile-time s, which keeps y in registers. x := L⁻¹ x, */
enum { FEW = 8 };

static inline __attribute__((always_inline)) void lower(const blocks *b, const ga__front *f,
                                                        double *restrict x, const int s)
{
  const int W = s + f->below, *taken = b->taken + f->first, *index = b->plan.index + f->index;
  const double *L = b->factors + f->factor;
  double few[FEW], *restrict y = s <= FEW ? few : b->local, *restrict own = x + f->first;
  UNROLLED
  for (int k = 0; k < s; k++) y[k] = own[taken[k]];
  UNROLLED
  for (int k = 0; k < s; k++) UNROLLED
  for (int i = k + 1; i < s; i++) y[i] -= L[i * W + k] * y[k];
  UNROLLED
  for (int k = 0; k < s; k++) own[k] = y[k];
  L += s * W;
  for (int i = 0; i < f->below; i++, L += s) {
    double sum = 0;
    UNROLLED
    for (int k = 0; k < s; k++) sum += L[k] * y[k];
    x[index[i]] -= sum;
  }
}

/* x := U⁻¹ x. */
static inline __attribute__((always_inline)) void upper(const blocks *b, const ga__front *f,
                                                        double *restrict x, const int s)
{
  const int W = s + f->below, *index = b->plan.index + f->index;
  const double *U = b->factors + f->factor, *inverse = b->inverse + f->first;
  double few[FEW], *restrict y = s <= FEW ? few : b->local, *restrict own = x + f->first;
  UNROLLED
  for (int k = 0; k < s; k++) y[k] = own[k];
  for (int i = 0; i < f->below; i++) {
    const double z = x[index[i]];
    UNROLLED
    for (int k = 0; k < s; k++) y[k] -= U[k * W + s + i] * z;
  }
  UNROLLED
  for (int k = s - 1; k >= 0; k--) {
    y[k] *= inverse[k];
    UNROLLED
    for (int j = 0; j < k; j++) y[j] -= U[j * W + k] * y[k];
  }
  UNROLLED
  for (int k = 0; k < s; k++) own[k] = y[k];
}

static void solve_lower(const blocks *b, const ga__front *f, double *x)
{
  if (f->size + f->below >= GA__FRONT_LARGE) {
    ga__front_lower(f, b->factors + f->factor, b->plan.index + f->index, b->taken + f->first, x, b->local);
    return;
  }
#define DO(S) lower(b, f, x, S)
  BY_SIZE(f->size, DO)
#undef DO
}

static void solve_upper(const blocks *b, const ga__front *f, double *x)
{
  if (f->size + f->below >= GA__FRONT_LARGE) {
    ga__front_upper(f, b->factors + f->factor, b->plan.index + f->index, b->inverse + f->first, x, b->local);
    return;
  }
#define DO(S) upper(b, f, x, S)
  BY_SIZE(f->size, DO)
#undef DO
}

/* Moves known unknowns of other components to the right-hand side of one. */
static void move_known(const blocks *b, const ga__front *first, const ga__front *last, double *x)
{
  const ga__fronts *plan = &b->plan;
  for (int k = first->first; k < last->first + last->size; k++) {
    double sum = 0;
    for (int p = plan->off_start[k]; p < plan->off_start[k + 1]; p++)
      sum += b->off_value[p] * x[plan->off[p].to];
    x[k] -= sum;
  }
}

static void block_solve(ga_lu *lu, double *rhs)
{
  const blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  double *x = b->x;
  if (b->by_klu) {
    b->klu.backend->solve((ga_lu *)&b->klu, rhs);
    return;
  }
  for (int k = 0; k < plan->n; k++) x[k] = rhs[plan->P[k]];
  for (int c = plan->n_components - 1; c >= 0; c--) {
    const int first = plan->component[c], end = plan->component[c + 1];
    if (c < plan->n_components - 1) move_known(b, &plan->front[first], &plan->front[end - 1], x);
    for (int i = first; i < end; i++) solve_lower(b, &plan->front[i], x);
    for (int i = end - 1; i >= first; i--) solve_upper(b, &plan->front[i], x);
  }
  for (int k = 0; k < plan->n; k++) rhs[plan->Q[k]] = x[k];
}

/* ---- Solving with the transposed matrix: every operation above transposed, in the opposite order ---- */

/* own := U11⁻ᵀ own; its products are subtracted from the rows below. */
static void upper_t(const blocks *b, const ga__front *f, double *x)
{
  const int s = f->size, *index = b->plan.index + f->index;
  const size_t W = (size_t)(s + f->below);
  const double *U = b->factors + f->factor, *inverse = b->inverse + f->first;
  double *own = x + f->first;
  for (int k = 0; k < s; k++, U += W) {
    const double y = own[k] *= inverse[k];
    for (int j = k + 1; j < s; j++) own[j] -= U[j] * y;
    for (int i = 0; i < f->below; i++) x[index[i]] -= U[s + i] * y;
  }
}

/* own := Pᵀ L11⁻ᵀ (own − L21ᵀ below) */
static void lower_t(const blocks *b, const ga__front *f, double *x)
{
  const int s = f->size, *taken = b->taken + f->first, *index = b->plan.index + f->index;
  const size_t W = (size_t)(s + f->below);
  const double *L = b->factors + f->factor, *below = L + (size_t)s * W;
  double *y = b->local, *own = x + f->first;
  for (int k = 0; k < s; k++) y[k] = own[k];
  for (int i = 0; i < f->below; i++, below += s) {
    const double z = x[index[i]];
    for (int k = 0; k < s; k++) y[k] -= below[k] * z;
  }
  for (int i = s - 1; i > 0; i--)
    for (int k = 0; k < i; k++) y[k] -= L[(size_t)i * W + (size_t)k] * y[i];
  for (int k = 0; k < s; k++) own[taken[k]] = y[k];
}

/* Moves the unknowns of one component to the right-hand sides of others. */
static void move_known_t(const blocks *b, const ga__front *first, const ga__front *last, double *x)
{
  const ga__fronts *plan = &b->plan;
  for (int k = first->first; k < last->first + last->size; k++)
    for (int p = plan->off_start[k]; p < plan->off_start[k + 1]; p++)
      x[plan->off[p].to] -= b->off_value[p] * x[k];
}

static void block_solve_t(ga_lu *lu, double *rhs)
{
  const blocks *b = lu->data;
  const ga__fronts *plan = &b->plan;
  double *x = b->x;
  if (b->by_klu) {
    b->klu.backend->solve_t((ga_lu *)&b->klu, rhs);
    return;
  }
  for (int k = 0; k < plan->n; k++) x[k] = rhs[plan->Q[k]];
  for (int c = 0; c < plan->n_components; c++) {
    const int first = plan->component[c], end = plan->component[c + 1];
    for (int i = first; i < end; i++) upper_t(b, &plan->front[i], x);
    for (int i = end - 1; i >= first; i--) lower_t(b, &plan->front[i], x);
    move_known_t(b, &plan->front[first], &plan->front[end - 1], x);
  }
  for (int k = 0; k < plan->n; k++) rhs[plan->P[k]] = x[k];
}

int ga__lu_is_by_fronts(const ga_lu *lu)
{
  const blocks *b = lu->data;
  return lu->factored && !b->by_klu;
}

/* ---- What later factors depend on ---- */

static void block_mark(ga_lu *lu)
{
  blocks *b = lu->data;
  b->marking = 1;
  b->marked = b->now;
  b->scale_marked = 0;
  if (b->klu.data) b->klu.backend->mark(&b->klu);
}

/* KLU returns to its marked pivots; if it had none, those found since, and factors made by them, are
 * discarded. */
static void block_rollback(ga_lu *lu)
{
  blocks *b = lu->data;
  const size_t bytes = (size_t)b->plan.n * sizeof(double);
  if (!b->marking) return;
  if (b->scale_marked) {
    memcpy(b->R, b->marked_R, bytes);
    memcpy(b->C, b->marked_C, bytes);
    b->scale_marked = 0;
  }
  if (b->klu.data) b->klu.backend->rollback(&b->klu);
  if (b->now.searched && !b->marked.searched) {
    b->klu.backend->forget(&b->klu);
    b->klu.backend->mark(&b->klu);
    if (b->by_klu) lu->factored = 0;
  }
  b->now = b->marked;
}

static void block_forget(ga_lu *lu)
{
  blocks *b = lu->data;
  b->now = (factor_history){0};
  b->marking = b->scale_marked = 0;
  if (b->klu.data) b->klu.backend->forget(&b->klu);
}

const ga__lu_backend ga__lu_block = {.create = block_create,
                                     .destroy = block_destroy,
                                     .factor = block_factor,
                                     .solve = block_solve,
                                     .solve_t = block_solve_t,
                                     .column_max = block_column_max,
                                     .mark = block_mark,
                                     .rollback = block_rollback,
                                     .forget = block_forget};
