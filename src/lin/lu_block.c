/* Sparse LU factors by dense fronts, for matrices whose unknowns come in small blocks (bodies, joints).
 *
 * Why not KLU alone: factors and solution of one iteration matrix, fronts and KLU in the same order, one
 * thread, best of many:
 *
 *   spatial chain, index 3 (bench_mbs --only split)      factors [µs]    solve [µs]
 *     100 ball joints                                     18     39       5      8
 *     1000 ball joints                                   193    392      53     86
 *     100 hinges                                          28     59       6     10
 *     1000 hinges                                        320    620      63    103
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
#include "lin/columns.h"
#include "lin/fronts.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { REST = 50 };
enum { FEW_NUMBERS = 1000000 }; /* larger factors are created at their first use, KLU always: its search for
                                   pivots allocates anyway */
enum { LINE = 8 };              /* numbers in a line of the cache */
enum { TOGETHER = 8 };          /* matrices solved at a time */
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

/* What all factors have in common that were created alike. */
typedef struct shared_plan {
  ga__fronts fronts;
  int users;
  int *P, *Q; /* [n] the order for KLU */
} shared_plan;

typedef struct blocks {
  shared_plan *shared;
  const ga__fronts *plan;    /* the one in it */
  double *numbers;           /* memory for the factors of all fronts, */
  ga__front_factors factors; /* aligned to cache lines */
  double *off_value;         /* values of A outside the components at the last factorisation */
  double *room;              /* memory for two fronts, */
  double *front[2];          /* aligned to cache lines: the current front and the one before */
  double *panel;             /* [GA__FRONT_ROOM] */
  double *stack;             /* update matrices of fronts whose parent is not the next front, */
  int *waiting;              /* and the indices of these fronts */
  double *pivot;             /* [n] scaled */
  double *x;                 /* [n + 4] a right-hand side in the order of the pivots */
  double *local;             /* [longest + 4] */
  double *R, *C;             /* [n] by pivots */
  double *over;              /* [n] 1/R */
  double *below_R;           /* [plan.n_index] R of the rows below, front by front */
  double growth;             /* largest scaled entry of L21, or pivot */
  int by_klu;                /* the last factors are KLU's */
  factor_history now;        /* with R, C and klu everything that later factors depend on */
  int marking;               /* 1: the marked state must be kept: */
  factor_history marked;
  int scale_marked; /* 1: marked_R, marked_C hold R and C of the mark */
  double *marked_R, *marked_C;
  ga_lu klu; /* data NULL: not created yet */
} blocks;

static void release_plan(ga_context *ctx, shared_plan *shared)
{
  if (!shared || --shared->users > 0) return;
  ga__fronts_destroy(ctx, &shared->fronts);
  ga__free(ctx, shared->P);
  ga__free(ctx, shared->Q);
  ga__free(ctx, shared);
}

static void block_destroy(ga_lu *lu)
{
  blocks *b = lu->data;
  release_plan(lu->ctx, b->shared);
  if (b->klu.data) b->klu.backend->destroy(&b->klu);
  void *const array[] = {
      b->numbers,         b->off_value, b->room,     b->panel, b->stack, b->waiting, b->factors.taken,
      b->factors.inverse, b->pivot,     b->x,        b->local, b->R,     b->C,       b->over,
      b->below_R,         b->marked_R,  b->marked_C};
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) ga__free(lu->ctx, array[i]);
  ga__free(lu->ctx, b);
  lu->data = NULL;
}

/* The first number in a line of the cache. */
static double *aligned(double *memory)
{
  return memory + (LINE - (uintptr_t)memory / sizeof(double) % LINE) % LINE;
}

static ga_status allocate_factors(ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = b->plan;
  const size_t n = (size_t)plan->n;
  struct {
    void **array;
    size_t count, bytes;
  } need[] = {{(void **)&b->numbers, plan->n_factors + 2 * LINE, sizeof(double)},
              {(void **)&b->off_value, (size_t)plan->off_start[plan->n], sizeof(double)},
              {(void **)&b->room, plan->front_size[0] + plan->front_size[1] + 4 * LINE, sizeof(double)},
              {(void **)&b->panel, plan->longest >= GA__FRONT_LARGE ? GA__FRONT_ROOM : 0, sizeof(double)},
              {(void **)&b->stack, plan->stack_size, sizeof(double)},
              {(void **)&b->waiting, (size_t)plan->n_waiting, sizeof(int)},
              {(void **)&b->factors.taken, n, sizeof(int)},
              {(void **)&b->factors.inverse, n + 4, sizeof(double)},
              {(void **)&b->pivot, n, sizeof(double)},
              {(void **)&b->x, n + 4, sizeof(double)},
              {(void **)&b->local, (size_t)plan->longest + 4, sizeof(double)},
              {(void **)&b->R, n, sizeof(double)},
              {(void **)&b->C, n, sizeof(double)},
              {(void **)&b->over, n, sizeof(double)},
              {(void **)&b->below_R, (size_t)plan->n_index, sizeof(double)},
              {(void **)&b->marked_R, n, sizeof(double)},
              {(void **)&b->marked_C, n, sizeof(double)}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    if (!*need[i].array && !(*need[i].array = ga__alloc(lu->ctx, need[i].count, need[i].bytes)))
      return ga__no_memory(lu->ctx, "sparse LU factors");
  b->factors.value = aligned(b->numbers);
  b->front[0] = aligned(b->room);
  b->front[1] = b->front[0] + (plan->front_size[0] + LINE - 1) / LINE * LINE;
  return GA_OK;
}

static int n_fill(const blocks *b)
{
  return b->plan->n_fill < INT_MAX ? (int)b->plan->n_fill : INT_MAX;
}

static ga_status create_klu(ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__order order = {.P = b->shared->P, .Q = b->shared->Q};
  b->klu = (ga_lu){.ctx = lu->ctx, .A = lu->A, .backend = &ga__lu_klu, .order = &order};
  const ga_status status = b->klu.backend->create(&b->klu);
  b->klu.order = NULL;
  if (status && b->klu.data) b->klu.backend->destroy(&b->klu);
  if (!status && b->marking) b->klu.backend->mark(&b->klu);
  return status;
}

static ga_status create_plan(ga_lu *lu)
{
  blocks *b = lu->data;
  const size_t n = (size_t)lu->A->cols;
  shared_plan *shared = b->shared = ga__alloc(lu->ctx, 1, sizeof *shared);
  if (!shared) return ga__no_memory(lu->ctx, "sparse LU factors");
  shared->users = 1;
  shared->P = ga__alloc(lu->ctx, n, sizeof *shared->P);
  shared->Q = ga__alloc(lu->ctx, n, sizeof *shared->Q);
  if (!shared->P || !shared->Q) return ga__no_memory(lu->ctx, "sparse LU factors");
  memcpy(shared->P, lu->order->P, n * sizeof *shared->P);
  memcpy(shared->Q, lu->order->Q, n * sizeof *shared->Q);
  return ga__fronts_create(lu->ctx, lu->A, lu->order, &shared->fronts);
}

/* What is not shared. */
static ga_status create_numbers(ga_lu *lu)
{
  blocks *b = lu->data;
  b->plan = &b->shared->fronts;
  lu->info.n_fill = n_fill(b);
  return b->plan->n_factors > FEW_NUMBERS ? GA_OK : allocate_factors(lu);
}

static ga_status block_create(ga_lu *lu)
{
  lu->data = ga__alloc(lu->ctx, 1, sizeof(blocks));
  if (!lu->data) return ga__no_memory(lu->ctx, "sparse LU factors");
  const ga_status status = create_plan(lu);
  return status ? status : create_numbers(lu);
}

static ga_status block_create_like(ga_lu *lu, const ga_lu *like)
{
  blocks *b = lu->data = ga__alloc(lu->ctx, 1, sizeof *b);
  if (!b) return ga__no_memory(lu->ctx, "sparse LU factors");
  b->shared = ((const blocks *)like->data)->shared;
  b->shared->users++;
  return create_numbers(lu);
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
  const ga__fronts *plan = b->plan;
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
  const ga__fronts *plan = b->plan;
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
    for (int k = 0; k < b->plan->n; k++) {
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
  const ga__fronts *plan = b->plan;
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
  const ga__fronts *plan = b->plan;
  const ga_sparse *A = lu->A;
  double *row = b->x;
  scale_diagonals(lu);
  balance(lu, row, b->factors.inverse);
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

/* What follows from R. */
static void note_scale(blocks *b)
{
  const ga__fronts *plan = b->plan;
  for (int i = 0; i < plan->n; i++) b->over[i] = 1 / b->R[i];
  for (int i = 0; i < plan->n_fronts; i++) {
    const ga__front *f = &plan->front[i];
    for (int k = 0; k < f->below; k++) b->below_R[f->index + k] = b->R[plan->index[f->index + k]];
  }
}

static void renew_scale(const ga_lu *lu)
{
  blocks *b = lu->data;
  const size_t bytes = (size_t)b->plan->n * sizeof(double);
  if (b->marking && b->now.scaled && !b->scale_marked) {
    memcpy(b->marked_R, b->R, bytes);
    memcpy(b->marked_C, b->C, bytes);
    b->scale_marked = 1;
  }
  find_scale(lu);
  b->now.scaled = 1;
  note_scale(b);
}

static double block_column_max(const ga_lu *lu, int column)
{
  const blocks *b = lu->data;
  const ga_sparse *A = lu->A;
  const double C = b->C[b->plan->column_pivot[column]];
  double most = 0;
  for (int p = A->col_start[column]; p < A->col_start[column + 1]; p++)
    most = fmax(most, b->R[b->plan->row_pivot[A->row[p]]] * C * fabs(A->value[p]));
  return most;
}

/* ---- Factors ---- */

/* A front while it is assembled and eliminated: by rows if it is large, else the columns of its pivots, which
 * are where its factors will be, and the others. */
typedef struct live_front {
  const ga__front *f;
  double *own, *other; /* large: both the front */
} live_front;

static live_front front_at(const blocks *b, int i)
{
  const ga__front *f = &b->plan->front[i];
  double *F = b->front[i % 2];
  return (live_front){f, ga__front_is_large(f) ? F : b->factors.value + f->factor, F};
}

/* An update matrix: entry (i, k) is from[i row + k column]. */
typedef struct update {
  const double *from;
  int m, row, column;
  const int *place;     /* [m] in the parent, */
  const ga__run *piece; /* and the same as runs of rows */
  int n_pieces;
} update;

/* Of a front that was just eliminated. */
static update update_of(const blocks *b, int number)
{
  const live_front live = front_at(b, number);
  const ga__front *f = live.f;
  update u = {live.other + f->own,       f->below,   1, f->width, b->plan->place + f->index,
              b->plan->piece + f->index, f->n_pieces};
  if (ga__front_is_large(f)) {
    u.from = live.other + (size_t)f->size * (size_t)f->width + f->size;
    u.row = f->width;
    u.column = 1;
  }
  return u;
}

/* Of one on the stack, which begins there. */
static update update_on_stack(const blocks *b, int number, const double *from)
{
  update u = update_of(b, number);
  u.from = from;
  if (u.row == 1)
    u.column = u.m;
  else
    u.row = u.m;
  return u;
}

/* to += from, n numbers */
GA__INLINE void add(double *to, const double *from, int n)
{
  int i = 0;
  for (; i + 4 <= n; i += 4) *(ga__quad *)(to + i) += ga__quad_load(from + i);
  if (n & 2) {
    *(ga__duo *)(to + i) += *(const ga__duo *)(from + i);
    i += 2;
  }
  if (n & 1) to[i] += from[i];
}

GA__INLINE void add_to_large(double *F, int W, const update *u)
{
  const size_t w = (size_t)W;
  if (u->column == 1 && u->place[u->m - 1] - u->place[0] == u->m - 1) {
    double *to = F + (size_t)u->place[0] * w + u->place[0];
    for (int i = 0; i < u->m; i++) add(to + (size_t)i * w, u->from + (size_t)i * (size_t)u->row, u->m);
    return;
  }
  for (int i = 0; i < u->m; i++)
    for (int k = 0; k < u->m; k++)
      F[(size_t)u->place[i] * w + u->place[k]] += u->from[(size_t)i * (size_t)u->row + k * u->column];
}

GA__INLINE void add_to_small(const live_front *live, const update *u)
{
  const ga__front *f = live->f;
  const int s = f->size, W = f->width;
  for (int k = 0; k < u->m; k++) {
    const int place = u->place[k];
    const double *from = u->from + k * u->column;
    double *to = place < s ? live->own + place * W : live->other + (place - s) * W;
    if (u->row == 1)
      for (int i = 0; i < u->n_pieces; i++) add(to + u->piece[i].to, from + u->piece[i].from, u->piece[i].n);
    else
      for (int i = 0; i < u->m; i++) to[ga__front_row(f, u->place[i])] += from[i * u->row];
  }
}

/* The front += the update matrices of its children: that of the last one is still where it was eliminated,
 * the others are on the stack, whose new end is returned. */
GA__INLINE double *add_children(const blocks *b, const live_front *live, int number, double *end,
                                int *n_waiting)
{
  const ga__front *f = live->f;
  for (int k = 0; k < f->n_children; k++) {
    update u;
    if (k == 0) {
      u = update_of(b, number - 1);
    } else {
      const int child = b->waiting[--*n_waiting];
      end -= (size_t)b->plan->front[child].below * (size_t)b->plan->front[child].below;
      u = update_on_stack(b, child, end);
    }
    if (ga__front_is_large(f))
      add_to_large(live->own, f->width, &u);
    else
      add_to_small(live, &u);
  }
  return end;
}

/* to[n] = 0, n a multiple of four */
GA__INLINE void clear(double *to, size_t n)
{
  const ga__quad zero = {0, 0, 0, 0};
  for (size_t i = 0; i < n; i += 4) *(ga__quad *)(to + i) = zero;
}

GA__INLINE void copy_runs(double *to, const double *value, const ga__run *run, int n)
{
  for (const ga__run *end = run + n; run < end; run++) {
    const double *from = value + run->from;
    double *at = to + run->to;
    int i = 0;
    for (; i + 4 <= run->n; i += 4) *(ga__quad *)(at + i) = ga__quad_load(from + i);
    if (run->n & 2) {
      *(ga__duo *)(at + i) = *(const ga__duo *)(from + i);
      i += 2;
    }
    if (run->n & 1) at[i] = from[i];
  }
}

/* The front := entries of A */
GA__INLINE void fill_front(const blocks *b, const live_front *live, const double *value)
{
  const ga__front *f = live->f;
  const ga__run *run = b->plan->entry + f->entry;
  const size_t W = (size_t)f->width;
  if (ga__front_is_large(f)) {
    clear(live->own, (size_t)(f->size + f->below) * W);
  } else {
    clear(live->own, (size_t)f->size * W);
    clear(live->other, (size_t)f->below * W);
  }
  copy_runs(live->own, value, run, f->n_own);
  copy_runs(live->other, value, run + f->n_own, f->n_all - f->n_own);
}

/* Stores L11, U11 and U12 of a large front, then L21, without the padding of rows: it is overwritten by the
 * next row, or lies behind the last one. */
GA__INLINE void store_rows(double *to, const double *F, size_t n, size_t length, size_t W)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < length; j += 4) *(ga__quad *)(to + i * length + j) = ga__quad_load(F + i * W + j);
}

/* Largest scaled entry of L21 of a large front, NaN if one is NaN. over[]: 1 / the weights of the pivots'
 * rows, padded with zeros. */
GA__INLINE double growth_of(const ga__front *f, const double *R, const double *F, const double *over)
{
  const ga__quad_mask sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  const int s = f->size, W = f->width;
  const double *l = F + (size_t)s * (size_t)W;
  ga__quad most = {0, 0, 0, 0}, bad = most;
  for (int i = 0; i < f->below; i++, l += W)
    for (int k = 0; k < s; k += 4) {
      const ga__quad size =
          (ga__quad)((ga__quad_mask)ga__quad_load(l + k) & sign) * (R[i] * ga__quad_load(over + k));
      most = ga__quad_larger(size, most);
      bad += size * 0.0;
    }
  const double low = most[0] > most[1] ? most[0] : most[1], high = most[2] > most[3] ? most[2] : most[3];
  return (low > high ? low : high) + (bad[0] + bad[1] + bad[2] + bad[3]);
}

/* Stores the factors of a large front and its pivots; returns its growth. weight[s]: of the pivots' rows. */
GA__WIDE static double store_large(blocks *b, const ga__front *f, const double *F, double *weight)
{
  const int s = f->size, W = f->width, rows = s + f->below, *taken = b->factors.taken + f->first;
  const double *C = b->C + f->first, *over = b->over + f->first;
  double *to = b->factors.value + f->factor, *pivot = b->pivot + f->first, most = 0, bad = 0;
  for (int k = 0; k < s; k++) {
    const double p = F[(size_t)k * (size_t)W + k] * weight[k] * C[k];
    pivot[k] = p;
    most = fabs(p) > most ? fabs(p) : most;
    bad += p * 0.0;
    weight[k] = over[taken[k]];
  }
  for (int k = s; k % 4; k++) weight[k] = 0;
  store_rows(to, F, (size_t)s, (size_t)rows, (size_t)W);
  store_rows(to + (size_t)s * (size_t)rows, F + (size_t)s * (size_t)W, (size_t)f->below, (size_t)s,
             (size_t)W);
  const double below = growth_of(f, b->below_R + f->index, F, weight);
  return (most > below ? most : below) + (bad + below * 0.0);
}

/* Eliminates a front; returns its growth, NaN if a factor is NaN. */
static double eliminate_front(blocks *b, const live_front *live)
{
  const ga__front *f = live->f;
  const int first = f->first;
  int *taken = b->factors.taken + first;
  double *weight = b->local, *inverse = b->factors.inverse + first;
  for (int k = 0; k < f->size; k++) weight[k] = b->R[first + k], taken[k] = k;
  if (ga__front_is_large(f)) {
    ga__front_eliminate(live->own, f->size + f->below, f->size, f->width, weight, taken, inverse, b->panel);
    return store_large(b, f, live->own, weight);
  }
  const ga__front_scale scale = {weight, b->below_R + f->index, b->over + first, b->C + first};
  return ga__small_front_eliminate(f, live->own, live->other, &scale, taken, inverse, b->pivot + first);
}

/* Copies the update matrix of a front to the stack. */
static double *push_update(const blocks *b, int number, double *to)
{
  const update u = update_of(b, number);
  const size_t step = (size_t)(u.row == 1 ? u.column : u.row);
  for (int i = 0; i < u.m; i++, to += u.m)
    for (int k = 0; k < u.m; k++) to[k] = u.from[(size_t)i * step + (size_t)k];
  return to;
}

GA__WIDE static double *assemble_front(const blocks *b, const live_front *live, int number, double *end,
                                       const double *value, int *n_waiting)
{
  fill_front(b, live, value);
  return add_children(b, live, number, end, n_waiting);
}

static void factor_blocks(ga_lu *lu)
{
  blocks *b = lu->data;
  const ga__fronts *plan = b->plan;
  double *end = b->stack, growth = 0, bad = 0;
  int n_waiting = 0;
  for (int i = 0; i < plan->n_fronts; i++) {
    const live_front live = front_at(b, i);
    end = assemble_front(b, &live, i, end, lu->A->value, &n_waiting);
    const double its = eliminate_front(b, &live);
    growth = its > growth ? its : growth;
    bad += its * 0.0;
    if (!live.f->waits) continue;
    end = push_update(b, i, end);
    b->waiting[n_waiting++] = i;
  }
  b->growth = growth + bad; /* keeps a NaN */
  for (int k = 0; k < plan->off_start[plan->n]; k++) b->off_value[k] = lu->A->value[plan->off[k].from];
}

static int are_factors_good(ga_lu *lu)
{
  const blocks *b = lu->data;
  return b->growth <= MOST_GROWTH && ga__lu_check_pivots(lu, b->pivot, 1, b->plan->Q) == GA__PIVOTS_GOOD;
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
  ga_status status = b->klu.data ? GA_OK : create_klu(lu);
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

/* Moves known unknowns of other components to the right-hand side of one. */
static void move_known(const blocks *b, const ga__front *first, const ga__front *last)
{
  const ga__fronts *plan = b->plan;
  double *x = b->x;
  for (int k = first->first; k < last->first + last->size; k++) {
    double sum = 0;
    for (int p = plan->off_start[k]; p < plan->off_start[k + 1]; p++)
      sum += b->off_value[p] * x[plan->off[p].to];
    x[k] -= sum;
  }
}

static void load(const blocks *b, const double *rhs)
{
  const ga__fronts *plan = b->plan;
  GA__UNROLLED
  for (int k = 0; k < plan->n; k++) b->x[k] = rhs[plan->P[k]];
  memset(b->x + plan->n, 0, 4 * sizeof *b->x);
}

static void store(const blocks *b, double *rhs)
{
  const ga__fronts *plan = b->plan;
  GA__UNROLLED
  for (int k = 0; k < plan->n; k++) rhs[plan->Q[k]] = b->x[k];
}

/* Matrices of the same plan, each with its own right-hand side. */
static void solve_together(const blocks *const b[], double *const rhs[], int count)
{
  const ga__fronts *plan = b[0]->plan;
  const ga__front_factors *factors[TOGETHER];
  double *x[TOGETHER];
  for (int m = 0; m < count; m++) {
    factors[m] = &b[m]->factors;
    x[m] = b[m]->x;
    load(b[m], rhs[m]);
  }
  for (int c = plan->n_components - 1; c >= 0; c--) {
    const int first = plan->component[c], end = plan->component[c + 1];
    for (int m = 0; m < count && c < plan->n_components - 1; m++)
      move_known(b[m], &plan->front[first], &plan->front[end - 1]);
    ga__fronts_solve(plan, first, end, count, factors, x, b[0]->local);
  }
  for (int m = 0; m < count; m++) store(b[m], rhs[m]);
}

static void block_solve(ga_lu *lu, double *rhs)
{
  const blocks *b = lu->data;
  if (b->by_klu)
    b->klu.backend->solve((ga_lu *)&b->klu, rhs);
  else
    solve_together(&b, &rhs, 1);
}

/* Whether the factors of both are fronts of the same plan. */
static int are_alike(const ga_lu *one, const ga_lu *other)
{
  const blocks *a = one->data, *b = other->data;
  if (one->backend != &ga__lu_block || other->backend != &ga__lu_block || !a || !b) return 0;
  return a->plan == b->plan && one->factored && other->factored && !a->by_klu && !b->by_klu;
}

ga_status ga__lu_solve_together(ga_lu *const lu[], double *const b[], int n)
{
  const blocks *all[TOGETHER];
  int alike = n > 1 && n <= TOGETHER;
  for (int i = 0; alike && i < n; i++) {
    alike = b[i] && are_alike(lu[0], lu[i]);
    for (int k = 0; k < i; k++) alike &= lu[k] != lu[i]; /* each has work space for one */
    all[i] = lu[i]->data;
  }
  if (!alike) {
    ga_status status = GA_OK;
    for (int i = 0; !status && i < n; i++) status = ga_lu_solve(lu[i], b[i]);
    return status;
  }
  solve_together(all, b, n);
  for (int i = 0; i < n; i++) lu[i]->info.n_solve++;
  return GA_OK;
}

/* ---- Solving with the transposed matrix: every operation above transposed, in the opposite order ---- */

/* Large fronts. own := U11⁻ᵀ own; its products are subtracted from the rows below. */
static void large_upper_t(const blocks *b, const ga__front *f, double *x)
{
  const int s = f->size, *index = b->plan->index + f->index;
  const size_t W = (size_t)(s + f->below);
  const double *U = b->factors.value + f->factor, *inverse = b->factors.inverse + f->first;
  double *own = x + f->first;
  for (int k = 0; k < s; k++, U += W) {
    const double y = own[k] *= inverse[k];
    for (int j = k + 1; j < s; j++) own[j] -= U[j] * y;
    for (int i = 0; i < f->below; i++) x[index[i]] -= U[s + i] * y;
  }
}

/* own := Pᵀ L11⁻ᵀ (own − L21ᵀ below) */
static void large_lower_t(const blocks *b, const ga__front *f, double *x)
{
  const int s = f->size, *taken = b->factors.taken + f->first, *index = b->plan->index + f->index;
  const size_t W = (size_t)(s + f->below);
  const double *L = b->factors.value + f->factor, *below = L + (size_t)s * W;
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

static void upper_t(const blocks *b, const ga__front *f, double *x)
{
  if (ga__front_is_large(f))
    large_upper_t(b, f, x);
  else
    ga__small_front_upper_t(b->plan, f, &b->factors, x);
}

static void lower_t(const blocks *b, const ga__front *f, double *x)
{
  if (ga__front_is_large(f))
    large_lower_t(b, f, x);
  else
    ga__small_front_lower_t(b->plan, f, &b->factors, x, b->local);
}

/* Moves the unknowns of one component to the right-hand sides of others. */
static void move_known_t(const blocks *b, const ga__front *first, const ga__front *last, double *x)
{
  const ga__fronts *plan = b->plan;
  for (int k = first->first; k < last->first + last->size; k++)
    for (int p = plan->off_start[k]; p < plan->off_start[k + 1]; p++)
      x[plan->off[p].to] -= b->off_value[p] * x[k];
}

static void block_solve_t(ga_lu *lu, double *rhs)
{
  const blocks *b = lu->data;
  const ga__fronts *plan = b->plan;
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
  const size_t bytes = (size_t)b->plan->n * sizeof(double);
  if (!b->marking) return;
  if (b->scale_marked) {
    memcpy(b->R, b->marked_R, bytes);
    memcpy(b->C, b->marked_C, bytes);
    note_scale(b);
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
                                     .create_like = block_create_like,
                                     .destroy = block_destroy,
                                     .factor = block_factor,
                                     .solve = block_solve,
                                     .solve_t = block_solve_t,
                                     .column_max = block_column_max,
                                     .mark = block_mark,
                                     .rollback = block_rollback,
                                     .forget = block_forget};
