/* Rows of a sparse rectangular matrix J that follow from others: Gaussian elimination, column by column,
 *
 *   J = L U but for what is left of rows without a pivot,   L unit lower triangular by pivots,
 *
 * the columns in an order of little fill, the pivot of each in the first of the rows that have a large entry
 * there. U is not kept: what counts is which rows find no pivot, and L, whose rows say from which others they
 * follow. Entries of L are bounded by 1/share, `share` the part of the largest entry of its column that a
 * pivot must have. Rows are expected to have lengths of about 1. */
#include "lin/lin_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <colamd.h>

#define NOISE 1e-14 /* smaller entries count as zero */
#define LARGE 0.1   /* least pivot of the first pass, */
#define SMALLER 0.1 /* and its factor for the next ones */

struct ga__row_search {
  ga_context *ctx;
  const ga_sparse *J;
  int *waiting; /* [cols] columns without a pivot yet */
  int *order;   /* [cols] */
  int *step;    /* [rows] elimination step with its pivot in the row; −1: none; −2: row excluded */
  int *pivot;   /* [rows] row of a step */
  int n_steps;
  double share;  /* [-] least pivot relative to the largest entry of its column */
  int *start;    /* [rows + 1] columns of L, by steps */
  int *row;      /* their rows */
  double *value; /* and numbers */
  size_t room;
  int *by_row_start, *by_row; /* L by rows: places in the columns; by_row has `room` too */
  int *step_of;               /* [room] step of a place */
  double *x;                  /* [rows] a column */
  int *reach, *stack, *next;  /* [rows] */
  unsigned char *seen;        /* [rows] */
  double *weight;             /* [rows] of steps, for a relation */
  int *heap;                  /* [rows] */
};

/* ---- Memory ---- */

void ga__row_search_destroy(ga__row_search **out)
{
  ga__row_search *s = *out;
  if (!s) return;
  ga_context *ctx = s->ctx;
  void *const block[] = {s->waiting, s->order,        s->step,   s->pivot,   s->start, s->row,
                         s->value,   s->by_row_start, s->by_row, s->step_of, s->x,     s->reach,
                         s->stack,   s->next,         s->seen,   s->weight,  s->heap};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga__free(ctx, s);
  *out = NULL;
}

/* Fill-reducing order of the columns for any choice of pivots (COLAMD). */
static int order_columns(ga__row_search *s)
{
  const ga_sparse *J = s->J;
  size_t length = colamd_recommended(J->nnz, J->rows, J->cols);
  int *work = length > 0 && length <= INT_MAX ? ga__alloc(s->ctx, length, sizeof *work) : NULL;
  int *column = ga__alloc(s->ctx, (size_t)J->cols + 1, sizeof *column), stats[COLAMD_STATS],
      ok = work && column;
  if (ok) {
    memcpy(work, J->row, (size_t)J->nnz * sizeof *work);
    memcpy(column, J->col_start, ((size_t)J->cols + 1) * sizeof *column);
    ok = colamd(J->rows, J->cols, (int)length, work, column, NULL, stats);
    if (ok) memcpy(s->order, column, (size_t)J->cols * sizeof *column);
  }
  ga__free(s->ctx, work);
  ga__free(s->ctx, column);
  return ok;
}

static ga_status no_memory(ga__row_search *s)
{
  return ga__no_memory(s->ctx, "the search for redundant constraints");
}

ga_status ga__row_search_create(ga_context *ctx, const ga_sparse *J, ga__row_search **out)
{
  ga__row_search *s = *out = ga__alloc(ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(ctx, "the search for redundant constraints");
  size_t m = (size_t)J->rows;
  s->ctx = ctx;
  s->J = J;
  struct {
    void **array;
    size_t count, bytes;
  } need[] = {{(void **)&s->order, (size_t)J->cols, sizeof(int)},
              {(void **)&s->waiting, (size_t)J->cols, sizeof(int)},
              {(void **)&s->step, m, sizeof(int)},
              {(void **)&s->pivot, m, sizeof(int)},
              {(void **)&s->start, m + 1, sizeof(int)},
              {(void **)&s->by_row_start, m + 2, sizeof(int)},
              {(void **)&s->x, m, sizeof(double)},
              {(void **)&s->reach, m, sizeof(int)},
              {(void **)&s->stack, m, sizeof(int)},
              {(void **)&s->next, m, sizeof(int)},
              {(void **)&s->seen, m, 1},
              {(void **)&s->weight, m, sizeof(double)},
              {(void **)&s->heap, m + 1, sizeof(int)}};
  int ok = 1;
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    ok = (*need[i].array = ga__alloc(ctx, need[i].count, need[i].bytes)) && ok;
  if (ok && order_columns(s)) return GA_OK;
  ga__row_search_destroy(out);
  return ga__no_memory(ctx, "the search for redundant constraints");
}

/* Room for one more column of L. */
static int grow(ga__row_search *s)
{
  const size_t used = (size_t)s->start[s->n_steps], m = (size_t)s->J->rows;
  if (used + m <= s->room) return 1;
  const size_t room = 2 * (used + m);
  if (room > INT_MAX) return 0;
  int *row = ga__alloc(s->ctx, room, sizeof *row), *by_row = ga__alloc(s->ctx, room, sizeof *by_row);
  int *step_of = ga__alloc(s->ctx, room, sizeof *step_of);
  double *value = ga__alloc(s->ctx, room, sizeof *value);
  const int ok = row && by_row && step_of && value;
  if (ok && used > 0) {
    memcpy(row, s->row, used * sizeof *row);
    memcpy(value, s->value, used * sizeof *value);
  }
  void *const old[] = {ok ? s->row : row, ok ? s->by_row : by_row, ok ? s->step_of : step_of,
                       ok ? (void *)s->value : (void *)value};
  for (size_t i = 0; i < sizeof old / sizeof *old; i++) ga__free(s->ctx, old[i]);
  if (ok) s->row = row, s->by_row = by_row, s->step_of = step_of, s->value = value, s->room = room;
  return ok;
}

/* ---- Elimination ---- */

/* Rows reached from row i: those of the column of L of its pivot. */
static void edges(const ga__row_search *s, int i, int *first, int *end)
{
  const int k = s->step[i];
  *first = k < 0 ? 0 : s->start[k];
  *end = k < 0 ? 0 : s->start[k + 1];
}

/* Depth-first search from row i; finished rows are stored before reach[top]. */
static int visit(ga__row_search *s, int i, int top)
{
  int depth = 0, end;
  s->stack[0] = i;
  s->seen[i] = 1;
  edges(s, i, &s->next[0], &end);
  while (depth >= 0) {
    const int at = s->stack[depth];
    int first;
    edges(s, at, &first, &end);
    while (s->next[depth] < end && s->seen[s->row[s->next[depth]]]) s->next[depth]++;
    if (s->next[depth] < end) {
      const int to = s->row[s->next[depth]++];
      s->seen[to] = 1;
      s->stack[++depth] = to;
      edges(s, to, &s->next[depth], &end);
    } else {
      s->reach[--top] = at;
      depth--;
    }
  }
  return top;
}

/* x := L⁻¹ times a column of J. reach[top], ... are its rows in topological order. */
static int solve_column(ga__row_search *s, int column)
{
  const ga_sparse *J = s->J;
  int top = J->rows;
  for (int p = J->col_start[column]; p < J->col_start[column + 1]; p++)
    if (J->value[p] != 0.0 && s->step[J->row[p]] > -2 && !s->seen[J->row[p]]) top = visit(s, J->row[p], top);
  for (int i = top; i < J->rows; i++) s->x[s->reach[i]] = 0.0, s->seen[s->reach[i]] = 0;
  for (int p = J->col_start[column]; p < J->col_start[column + 1]; p++)
    if (s->step[J->row[p]] > -2) s->x[J->row[p]] = J->value[p];
  for (int i = top; i < J->rows; i++) {
    const int k = s->step[s->reach[i]];
    const double x = s->x[s->reach[i]];
    if (k < 0 || fabs(x) < NOISE) continue;
    for (int p = s->start[k]; p < s->start[k + 1]; p++) s->x[s->row[p]] -= s->value[p] * x;
  }
  return top;
}

/* The first row with an entry of at least `share` of the largest; −1: all are below `least`. */
static int choose_pivot(const ga__row_search *s, int top, double least)
{
  double largest = 0.0;
  int pivot = -1;
  for (int i = top; i < s->J->rows; i++)
    if (s->step[s->reach[i]] < 0) largest = fmax(largest, fabs(s->x[s->reach[i]]));
  if (!(largest > least)) return -1;
  for (int i = top; i < s->J->rows; i++) {
    const int row = s->reach[i];
    if (s->step[row] < 0 && fabs(s->x[row]) >= s->share * largest && (pivot < 0 || row < pivot)) pivot = row;
  }
  return pivot;
}

static void store_column(ga__row_search *s, int top, int pivot)
{
  int at = s->start[s->n_steps];
  const double over = 1.0 / s->x[pivot];
  s->step[pivot] = s->n_steps;
  s->pivot[s->n_steps++] = pivot;
  for (int i = top; i < s->J->rows; i++) {
    const int row = s->reach[i];
    if (s->step[row] != -1 || fabs(s->x[row]) < NOISE) continue;
    s->row[at] = row;
    s->value[at++] = s->x[row] * over;
  }
  s->start[s->n_steps] = at;
}

/* L by rows, for rows without a pivot. */
static void transpose_l(ga__row_search *s)
{
  const int m = s->J->rows, n = s->start[s->n_steps];
  int *start = s->by_row_start;
  memset(start, 0, ((size_t)m + 2) * sizeof *start);
  for (int p = 0; p < n; p++) start[s->row[p] + 2]++;
  for (int i = 0; i < m; i++) start[i + 2] += start[i + 1];
  for (int k = 0; k < s->n_steps; k++)
    for (int p = s->start[k]; p < s->start[k + 1]; p++) {
      s->by_row[start[s->row[p] + 1]++] = p;
      s->step_of[p] = k;
    }
}

/* One pass over the columns without a pivot; *left: how many remain. */
static ga_status pass(ga__row_search *s, double least, int *left)
{
  int n = 0;
  for (int c = 0; c < *left; c++) {
    if (!grow(s)) return no_memory(s);
    const int top = solve_column(s, s->waiting[c]), pivot = choose_pivot(s, top, least);
    if (pivot >= 0)
      store_column(s, top, pivot);
    else
      s->waiting[n++] = s->waiting[c];
  }
  *left = n;
  return GA_OK;
}

/* Columns without a large entry are postponed: small pivots early would amplify rounding. */
ga_status ga__row_search_run(ga__row_search *s, int first, int end, double least, double share)
{
  const ga_sparse *J = s->J;
  int left = J->cols;
  s->share = share;
  s->n_steps = s->start[0] = 0;
  for (int i = 0; i < J->rows; i++) s->step[i] = i >= first && i < end ? -1 : -2;
  memcpy(s->waiting, s->order, (size_t)J->cols * sizeof *s->waiting);
  for (double level = LARGE, last = 2.0 * level; last > least; last = level, level *= SMALLER) {
    ga_status status = pass(s, level > least ? level : least, &left);
    if (status) return status;
  }
  if (s->n_steps < end - first) transpose_l(s);
  return GA_OK;
}

int ga__row_search_found(const ga__row_search *s, int row)
{
  return s->step[row] == -1;
}

/* ---- Relations ---- */

/* Heap with the latest step on top. */
static void push(int *heap, int *n, int k)
{
  int i = (*n)++;
  for (; i > 0 && heap[(i - 1) / 2] < k; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = k;
}

static int pop(int *heap, int *n)
{
  const int top = heap[0], last = heap[--*n];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= *n) break;
    if (child + 1 < *n && heap[child + 1] > heap[child]) child++;
    if (heap[child] <= last) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return top;
}

/* weight -= factor times row i of L */
static void subtract_row(ga__row_search *s, int i, double factor, int *n)
{
  for (int b = s->by_row_start[i]; b < s->by_row_start[i + 1]; b++) {
    const int p = s->by_row[b], k = s->step_of[p];
    if (!s->seen[k]) {
      s->seen[k] = 1;
      s->weight[k] = 0.0;
      push(s->heap, n, k);
    }
    s->weight[k] -= factor * s->value[p];
  }
}

int ga__row_search_relation(ga__row_search *s, int row, int *index, double *value)
{
  int waiting = 0, n = 0;
  index[n] = row;
  value[n++] = 1.0;
  subtract_row(s, row, 1.0, &waiting);
  while (waiting > 0) {
    const int k = pop(s->heap, &waiting);
    s->seen[k] = 0;
    if (fabs(s->weight[k]) < NOISE) continue;
    index[n] = s->pivot[k];
    value[n++] = s->weight[k];
    subtract_row(s, s->pivot[k], s->weight[k], &waiting);
  }
  return n;
}
