/* Symbolic factorisation by blocks. The graph is that of the blocks, made symmetric: blocks i and j are
 * adjacent if A has an entry in the rows of one and the columns of the other. */
#include "lin/fronts.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Lists of ints, one for each block. */
typedef struct lists {
  int *start; /* [n + 1] */
  int *item;
} lists;

/* Work data of the symbolic factorisation. "Early" numbers are those before postorder. */
typedef struct plan {
  ga_context *ctx;
  const ga_sparse *A;
  const ga__order *order;
  ga__fronts *out;
  int n, n_blocks;
  int *component; /* [n] of a column */
  int *early;     /* [n] pivots in the given order, component by component */
  int *block_of;  /* [n] early number of the block of each column */
  int *row_block; /* [n] early number of the block of the row with its pivot */
  int *size;      /* [n_blocks] */
  lists edge;     /* later blocks adjacent to each block in A; with duplicates */
  lists met;      /* later blocks adjacent during the elimination (structure of L) */
  lists below;    /* by fronts: later pivots adjacent during the elimination, ascending */
  int *parent;    /* the first of them, −1: none */
  int *child, *sibling, *mark;
  int *top;      /* [n_blocks] last block of its front: itself or an ancestor */
  int *rank;     /* [n_blocks] of their fronts, in postorder */
  int *pivot_of; /* [n_blocks] the first of a block's pivots, in postorder */
  int *front_of; /* [n] by pivots, in postorder */
  int *where;    /* [n] row of a pivot in the present front */
  int too_large; /* more than an int can count */
} plan;

static int *ints(const plan *p, size_t n)
{
  return ga__alloc(p->ctx, n, sizeof(int));
}

/* ---- Components and blocks ---- */

/* Sorts pivots by components, keeping the given order within each; splits blocks between components. */
static int find_blocks(plan *p)
{
  const int count = p->out->n_components, n = p->n;
  int *at = ints(p, (size_t)count + 1);
  p->early = ints(p, (size_t)n);
  p->size = ints(p, (size_t)n);
  if (!at || !p->early || !p->size) {
    ga__free(p->ctx, at);
    return 0;
  }
  for (int k = 0; k < n; k++) at[p->component[k] + 1]++;
  for (int c = 0; c < count; c++) at[c + 1] += at[c];
  for (int k = 0; k < n; k++) p->early[at[p->component[p->order->Q[k]]]++] = k;
  for (int i = 0; i < n; i++) {
    const int k = p->early[i], last = i > 0 ? p->early[i - 1] : -1;
    if (last < 0 || p->order->block[k] != p->order->block[last] ||
        p->component[p->order->Q[k]] != p->component[p->order->Q[last]])
      p->n_blocks++;
    p->size[p->n_blocks - 1]++;
    p->block_of[p->order->Q[k]] = p->row_block[p->order->P[k]] = p->n_blocks - 1;
  }
  ga__free(p->ctx, at);
  return 1;
}

/* Entries of a pivot's row and column in those of earlier blocks, by the given order of pivots. */
static void count_earlier(const plan *p, const int *of_row, const int *of_column, int *count)
{
  const ga_sparse *A = p->A;
  for (int c = 0; c < A->cols; c++)
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
      const int k = of_row[A->row[e]], i = p->row_block[A->row[e]], j = p->block_of[c];
      if (i == j || p->component[p->order->Q[k]] != p->component[c]) continue;
      count[i < j ? of_column[c] : k]++;
    }
}

/* Within a block those come first that more of the earlier ones act on: what a front below needs of it is
 * contiguous then, as the rotations of a body on a hinge, without its moves. */
static int sort_within_blocks(plan *p)
{
  const size_t n = (size_t)p->n;
  int *of_row = ints(p, n), *of_column = ints(p, n), *count = ints(p, n);
  const int ok = of_row && of_column && count;
  if (ok) {
    for (int k = 0; k < p->n; k++) of_row[p->order->P[k]] = of_column[p->order->Q[k]] = k;
    count_earlier(p, of_row, of_column, count);
    for (int i = 1; i < p->n; i++) {
      const int k = p->early[i], block = p->block_of[p->order->Q[k]];
      int at = i;
      for (; at > 0 && p->block_of[p->order->Q[p->early[at - 1]]] == block &&
             count[p->early[at - 1]] < count[k];
           at--)
        p->early[at] = p->early[at - 1];
      p->early[at] = k;
    }
  }
  ga__free(p->ctx, of_row);
  ga__free(p->ctx, of_column);
  ga__free(p->ctx, count);
  return ok;
}

/* Adjacent pairs of blocks, from the earlier to the later one. */
static int find_edges(plan *p)
{
  const ga_sparse *A = p->A;
  int *start = p->edge.start = ints(p, (size_t)p->n_blocks + 2);
  int *item = p->edge.item = ints(p, (size_t)A->nnz);
  int *component = ints(p, (size_t)p->n_blocks);
  if (!start || !item || !component) {
    ga__free(p->ctx, component);
    return 0;
  }
  for (int c = 0; c < A->cols; c++) component[p->block_of[c]] = p->component[c];
  for (int fill = 0; fill < 2; fill++) {
    for (int c = 0; c < A->cols; c++)
      for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
        const int i = p->row_block[A->row[e]], j = p->block_of[c], first = i < j ? i : j;
        if (i == j || component[i] != component[j]) continue;
        if (fill)
          item[start[first + 1]++] = i < j ? j : i;
        else
          start[first + 2]++;
      }
    for (int b = 0; !fill && b < p->n_blocks; b++) start[b + 2] += start[b + 1];
  }
  ga__free(p->ctx, component);
  return 1;
}

/* ---- Elimination ---- */

static int compare(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Later blocks adjacent to a block: by A, and through its children. Returns how many; the first is its
 * parent in the elimination tree. */
static int collect_neighbours(plan *p, int block, int *item)
{
  int count = 0, first = p->n_blocks;
  p->mark[block] = block;
  for (int child = p->child[block];; child = p->sibling[child]) {
    const lists *from = child < 0 ? &p->edge : &p->met;
    const int list = child < 0 ? block : child;
    for (int i = from->start[list]; i < from->start[list + 1]; i++) {
      const int other = from->item[i];
      if (p->mark[other] == block) continue;
      p->mark[other] = block;
      if (other < first) first = other;
      item[count++] = other;
    }
    if (child < 0) break;
  }
  p->parent[block] = count ? first : -1;
  return count;
}

static int *larger(const plan *p, int *old, size_t used, size_t room)
{
  int *block = ints(p, room);
  if (block && used) memcpy(block, old, used * sizeof *block);
  if (block) ga__free(p->ctx, old);
  return block;
}

static void add_child(plan *p, int parent, int child)
{
  p->sibling[child] = p->child[parent];
  p->child[parent] = child;
}

static int eliminate(plan *p)
{
  const size_t n = (size_t)p->n_blocks;
  size_t room = 4 * n + 64, used = 0;
  p->met.start = ints(p, n + 1);
  p->met.item = ints(p, room);
  p->parent = ints(p, n);
  p->child = ints(p, n);
  p->sibling = ints(p, n);
  p->mark = ints(p, n);
  if (!p->met.start || !p->met.item || !p->parent || !p->child || !p->sibling || !p->mark) return 0;
  for (int b = 0; b < p->n_blocks; b++) p->child[b] = p->mark[b] = -1;
  for (int b = 0; b < p->n_blocks; b++) {
    if ((p->too_large = used + n > INT_MAX)) return 0;
    if (used + n - (size_t)b > room) { /* room for the largest possible number of neighbours */
      room = 2 * room + n;
      int *item = larger(p, p->met.item, used, room);
      if (!item) return 0;
      p->met.item = item;
    }
    int *item = p->met.item + used;
    const int count = collect_neighbours(p, b, item);
    qsort(item, (size_t)count, sizeof *item, compare);
    used += (size_t)count;
    p->met.start[b + 1] = (int)used;
    if (p->parent[b] >= 0) add_child(p, p->parent[b], b);
  }
  return 1;
}

/* ---- Amalgamation ---- */

/* Cost of assembling a front and passing its update matrix to the parent, in operations per number. */
#define ASSEMBLY_COST 40.0

/* A block and its parent are amalgamated into one front if that costs less than the assembly: n pivots in R
 * rows and columns instead of r cost 2 n (R² − r²) more operations. Small fronts have kernels of fixed size
 * and stay as they are. */
static int amalgamate(plan *p)
{
  const size_t n = (size_t)p->n_blocks;
  int *pivots = ints(p, n), *rows = ints(p, n);
  const int ok = (p->top = ints(p, n)) && pivots && rows;
  for (int b = 0; ok && b < p->n_blocks; b++) {
    p->top[b] = b;
    p->child[b] = -1;
    rows[b] = pivots[b] = p->size[b];
    for (int i = p->met.start[b]; i < p->met.start[b + 1]; i++) rows[b] += p->size[p->met.item[i]];
  }
  for (int b = 0; ok && b < p->n_blocks; b++) {
    const int parent = p->parent[b];
    if (parent < 0 || rows[b] < GA__FRONT_LARGE) continue;
    const double r = rows[b], R = (double)rows[parent] + pivots[b];
    if (2.0 * pivots[b] * (R * R - r * r) > ASSEMBLY_COST * r * r) continue;
    p->top[b] = parent;
    pivots[parent] += pivots[b];
    rows[parent] += pivots[b];
  }
  for (int b = p->n_blocks - 1; ok && b >= 0; b--) p->top[b] = p->top[p->top[b]];
  for (int b = 0; ok && b < p->n_blocks; b++)
    if (p->top[b] == b && p->parent[b] >= 0) add_child(p, p->top[p->parent[b]], b);
  ga__free(p->ctx, pivots);
  ga__free(p->ctx, rows);
  return ok;
}

/* Postorder: children before their parents, so that update matrices can be kept on a stack. Roots, and with
 * them components, keep their order. */
static int postorder(plan *p)
{
  int *stack = ints(p, (size_t)p->n_blocks), next = 0;
  p->rank = ints(p, (size_t)p->n_blocks);
  if (!stack || !p->rank) {
    ga__free(p->ctx, stack);
    return 0;
  }
  for (int root = 0; root < p->n_blocks; root++) {
    if (p->parent[root] >= 0) continue; /* a root is the top of its front */
    int depth = 0;
    stack[depth++] = root;
    while (depth) {
      const int at = stack[depth - 1], child = p->child[at];
      if (child >= 0) { /* removed from the list on the way down */
        p->child[at] = p->sibling[child];
        stack[depth++] = child;
      } else {
        p->rank[at] = next++;
        depth--;
      }
    }
  }
  for (int b = 0; b < p->n_blocks; b++) p->rank[b] = p->rank[p->top[b]];
  p->out->n_fronts = next;
  ga__free(p->ctx, stack);
  return 1;
}

/* ---- Fronts ---- */

static int make_fronts(plan *p)
{
  ga__fronts *out = p->out;
  const size_t n = (size_t)p->n;
  out->front = ga__alloc(p->ctx, (size_t)out->n_fronts, sizeof *out->front);
  out->P = ints(p, n);
  out->Q = ints(p, n);
  out->component = ints(p, (size_t)out->n_components + 1);
  p->front_of = ints(p, n);
  out->row_pivot = ints(p, n);
  out->column_pivot = ints(p, n);
  p->where = ints(p, n);
  p->pivot_of = ints(p, (size_t)p->n_blocks);
  if (!out->front || !out->P || !out->Q || !out->component || !p->front_of || !out->row_pivot ||
      !out->column_pivot || !p->where || !p->pivot_of)
    return 0;
  for (int b = 0; b < p->n_blocks; b++) {
    ga__front *f = &out->front[p->rank[b]];
    f->size += p->size[b];
    if (p->top[b] == b && p->parent[b] >= 0) out->front[p->rank[p->parent[b]]].n_children++;
  }
  for (int i = 0, first = 0; i < out->n_fronts; i++) {
    out->front[i].first = first;
    first += out->front[i].size;
  }
  for (int i = 0, last = -1; i < p->n; i++) { /* first counts the pivots, and is reset below */
    const int k = p->early[i], column = p->order->Q[k], block = p->block_of[column], front = p->rank[block];
    const int pivot = out->front[front].first++;
    if (block != last) p->pivot_of[last = block] = pivot;
    out->P[pivot] = p->order->P[k];
    out->Q[pivot] = column;
    out->row_pivot[out->P[pivot]] = out->column_pivot[column] = pivot;
    p->front_of[pivot] = front;
    int *end = &out->component[p->component[column] + 1];
    if (front + 1 > *end) *end = front + 1;
  }
  for (int i = 0; i < out->n_fronts; i++) out->front[i].first -= out->front[i].size;
  return 1;
}

static int is_off_component(const plan *p, int row_pivot, int column_pivot)
{
  return p->component[p->out->Q[row_pivot]] != p->component[p->out->Q[column_pivot]];
}

/* By fronts: the later pivot of each entry of A whose earlier one is in the front. */
static int list_direct(plan *p, lists *direct)
{
  const ga__fronts *out = p->out;
  const ga_sparse *A = p->A;
  int *start = direct->start = ints(p, (size_t)out->n_fronts + 2);
  direct->item = ints(p, (size_t)A->nnz);
  if (!start || !direct->item) return 0;
  for (int fill = 0; fill < 2; fill++) {
    for (int c = 0; c < A->cols; c++)
      for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
        const int row = out->row_pivot[A->row[e]], column = out->column_pivot[c],
                  early = row < column ? row : column, front = p->front_of[early];
        if (is_off_component(p, row, column)) continue;
        if (fill)
          direct->item[start[front + 1]++] = row + column - early;
        else
          start[front + 2]++;
      }
    for (int i = 0; !fill && i < out->n_fronts; i++) start[i + 2] += start[i + 1];
  }
  return 1;
}

/* Adds those of the pivots that are behind a front and not in its list; returns the number in the list. */
static int add_later(plan *p, int front, const int *pivot, int n, int *list, int count)
{
  const ga__front *f = &p->out->front[front];
  for (int i = 0; i < n; i++) {
    if (pivot[i] < f->first + f->size || p->where[pivot[i]] == front + 1) continue;
    p->where[pivot[i]] = front + 1;
    list[count++] = pivot[i];
  }
  return count;
}

/* Numbers in all lists of rows, if all pivots of adjacent blocks were in them. */
static int most_below(plan *p, size_t *most)
{
  *most = 0;
  for (int b = 0; b < p->n_blocks; b++)
    for (int i = p->met.start[b]; p->top[b] == b && i < p->met.start[b + 1]; i++)
      *most += (size_t)p->size[p->met.item[i]];
  return !(p->too_large = *most > INT_MAX);
}

/* Rows below the pivots of each front: by A, and through its children. Of a block that is adjacent this may
 * be a part. */
static int find_below(plan *p)
{
  ga__fronts *out = p->out;
  const size_t n = (size_t)out->n_fronts;
  size_t room;
  lists direct = {NULL, NULL};
  int *child = ints(p, n + 1), *sibling = ints(p, n + 1), *parent = ints(p, n + 1);
  int ok = child && sibling && parent && most_below(p, &room) && list_direct(p, &direct) &&
           (p->below.start = ints(p, n + 1)) && (p->below.item = ints(p, room));
  for (int b = 0; ok && b < p->n_blocks; b++)
    if (p->top[b] == b) parent[p->rank[b]] = p->parent[b] >= 0 ? 1 + p->rank[p->parent[b]] : 0;
  for (int i = 0; ok && i < out->n_fronts; i++) { /* fronts are counted from 1 here, 0: none */
    int *list = p->below.item + p->below.start[i], count = 0;
    count = add_later(p, i, direct.item + direct.start[i], direct.start[i + 1] - direct.start[i], list, 0);
    for (int k = child[i + 1]; k; k = sibling[k])
      count = add_later(p, i, p->below.item + p->below.start[k - 1],
                        p->below.start[k] - p->below.start[k - 1], list, count);
    qsort(list, (size_t)count, sizeof *list, compare);
    out->front[i].below = count;
    p->below.start[i + 1] = p->below.start[i] + count;
    sibling[i + 1] = child[parent[i]];
    child[parent[i]] = i + 1;
  }
  int *const temporary[] = {child, sibling, parent, direct.start, direct.item};
  for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++) ga__free(p->ctx, temporary[i]);
  return ok;
}

static int padded(int n)
{
  return (n + 3) / 4 * 4;
}

/* Numbers of a front's factors, and of what else it holds while it is eliminated. */
static size_t measure_front(ga__front *f, size_t *held)
{
  const size_t size = (size_t)f->size, below = (size_t)f->below, rows = size + below;
  if (ga__front_is_large(f)) {
    f->width = (int)((rows + 3) / 4 * 4);
    *held = rows * (size_t)f->width;
    return (size * (rows + below) + 3) / 4 * 4;
  }
  f->own = padded(f->size);
  f->width = f->own + padded(f->below);
  *held = below * (size_t)f->width;
  return (size * (size_t)f->width + below * size + 3) / 4 * 4;
}

/* Positions within a front and in the lists of rows must fit into an int. */
static int measure(plan *p)
{
  ga__fronts *out = p->out;
  size_t index = 0;
  for (int i = 0; i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    const size_t size = (size_t)f->size, below = (size_t)f->below, rows = size + below;
    size_t held;
    if ((p->too_large = rows * (rows + 6) > INT_MAX || index + below + 4 > INT_MAX)) return 0;
    f->index = (int)index;
    index += (size_t)padded(f->below);
    f->factor = out->n_factors;
    out->n_factors += measure_front(f, &held);
    out->n_fill += size * (rows + below);
    if (held > out->front_size[i % 2]) out->front_size[i % 2] = held;
    if (f->width > out->longest) out->longest = f->width;
  }
  out->n_index = (int)index;
  return 1;
}

static int is_run(const int *list, int n)
{
  for (int i = 1; i < n; i++)
    if (list[i] != list[0] + i) return 0;
  return n > 0;
}

/* Joins the places of a child's rows in its parent to runs, of which none is in both of its parts. Returns
 * their number. */
static int join_places(const ga__front *parent, const int *place, int n, ga__run *to)
{
  int runs = 0;
  for (int r = 0; r < n; r++) {
    const int at = ga__front_row(parent, place[r]);
    if (runs > 0 && to[runs - 1].to + to[runs - 1].n == at && place[r] != parent->size)
      to[runs - 1].n++;
    else
      to[runs++] = (ga__run){r, at, 1};
  }
  return runs;
}

/* Lists the rows of each front below its pivots and their positions in the parent, and the largest size of
 * the stack. */
static int list_rows(plan *p)
{
  ga__fronts *out = p->out;
  const size_t n = (size_t)out->n_index;
  int *block_at = ints(p, (size_t)p->n_blocks), *waiting = ints(p, (size_t)p->n_blocks), n_waiting = 0;
  size_t used = 0;
  out->index = ints(p, n);
  out->place = ints(p, n);
  out->piece = ga__alloc(p->ctx, n, sizeof *out->piece);
  const int ok = block_at && waiting && out->index && out->place && out->piece;
  for (int b = 0; ok && b < p->n_blocks; b++) block_at[p->rank[b]] = p->top[b];
  for (int i = 0; ok && i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    const int b = block_at[i];
    int at = 0;
    for (int k = 0; k < f->size; k++) p->where[f->first + k] = k;
    for (; at < f->below; at++) {
      const int pivot = out->index[f->index + at] = p->below.item[p->below.start[i] + at];
      p->where[pivot] = f->size + at;
    }
    for (; at < padded(f->below); at++) out->index[f->index + at] = p->n;
    f->index_run = is_run(out->index + f->index, f->below);
    for (int k = 0; k < f->n_children; k++) {
      ga__front *child = k == 0 ? f - 1 : &out->front[waiting[--n_waiting]];
      for (int r = 0; r < child->below; r++)
        out->place[child->index + r] = p->where[out->index[child->index + r]];
      child->n_pieces = join_places(f, out->place + child->index, child->below, out->piece + child->index);
      if (k > 0) used -= (size_t)child->below * (size_t)child->below;
    }
    f->waits = f->below > 0 && p->rank[p->parent[b]] != i + 1;
    if (!f->waits) continue;
    waiting[n_waiting++] = i;
    used += (size_t)f->below * (size_t)f->below;
    if (used > out->stack_size) out->stack_size = used;
    if (n_waiting > out->n_waiting) out->n_waiting = n_waiting;
  }
  ga__free(p->ctx, block_at);
  ga__free(p->ctx, waiting);
  return ok;
}

/* ---- Entries ---- */

/* Entries outside the diagonal components, by the pivots of their rows. */
static int list_off(plan *p)
{
  ga__fronts *out = p->out;
  const ga_sparse *A = p->A;
  int *start = out->off_start = ints(p, (size_t)p->n + 2);
  for (int fill = 0; start && fill < 2; fill++) {
    for (int pivot = 0; pivot < p->n; pivot++) {
      const int c = out->Q[pivot];
      for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
        const int row = out->row_pivot[A->row[e]];
        if (!is_off_component(p, row, pivot)) continue;
        if (fill)
          out->off[start[row + 1]++] = (ga__move){e, pivot};
        else
          start[row + 2]++;
      }
    }
    if (fill) break;
    for (int k = 0; k < p->n; k++) start[k + 2] += start[k + 1];
    out->off = ga__alloc(p->ctx, (size_t)start[p->n + 1], sizeof *out->off);
    if (!out->off) return 0;
  }
  if (!start) return 0;
  out->n_fill += (size_t)start[p->n];
  return 1;
}

/* The other entries, each in the front of the earlier of its two pivots. column[]: pivots of the columns. */
static void sort_entries(const plan *p, int *start, ga__run *entry, int *column)
{
  const ga__fronts *out = p->out;
  const ga_sparse *A = p->A;
  for (int fill = 0; fill < 2; fill++) {
    for (int pivot = 0; pivot < p->n; pivot++) {
      const int c = out->Q[pivot];
      for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
        const int row = out->row_pivot[A->row[e]], front = p->front_of[row < pivot ? row : pivot];
        if (is_off_component(p, row, pivot)) continue;
        if (!fill) {
          start[front + 2]++;
          continue;
        }
        entry[start[front + 1]].from = e;
        column[start[front + 1]++] = pivot;
      }
    }
    for (int i = 0; !fill && i < out->n_fronts; i++) start[i + 2] += start[i + 1];
  }
}

/* Where an entry is in its front, see ga__run. */
static int place_in_front(const ga__front *f, int row, int column)
{
  if (ga__front_is_large(f)) return row * f->width + column;
  return (column < f->size ? column : column - f->size) * f->width + ga__front_row(f, row);
}

/* Joins the entries of a front, which are in the order of A's columns and rows, to runs; returns their
 * number. own 1: those in columns of the pivots, 0: the others. */
static int join_entries(const plan *p, const ga__front *f, int own, const ga__run *entry, const int *column,
                        int n, ga__run *to)
{
  const int *row_pivot = p->out->row_pivot;
  int runs = 0, last = -1;
  for (int k = 0; k < n; k++) {
    const int at = p->where[column[k]], row = p->where[row_pivot[p->A->row[entry[k].from]]];
    if ((ga__front_is_large(f) || at < f->size) != own) continue;
    const ga__run one = {entry[k].from, place_in_front(f, row, at), 1};
    ga__run *before = runs > 0 && last == at && !ga__front_is_large(f) ? &to[runs - 1] : NULL;
    if (before && before->from + before->n == one.from && before->to + before->n == one.to)
      before->n++;
    else
      to[runs++] = one;
    last = at;
  }
  return runs;
}

static int list_entries(plan *p)
{
  ga__fronts *out = p->out;
  const size_t nnz = (size_t)p->A->nnz;
  int *start = ints(p, (size_t)p->n_blocks + 2), *column = ints(p, nnz), runs = 0;
  ga__run *work = ga__alloc(p->ctx, nnz, sizeof *work);
  out->entry = ga__alloc(p->ctx, nnz, sizeof *out->entry);
  const int ok = start && column && work && out->entry;
  if (ok) sort_entries(p, start, work, column);
  for (int i = 0; ok && i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    const int n = start[i + 1] - start[i];
    f->entry = runs;
    for (int k = 0; k < f->size; k++) p->where[f->first + k] = k;
    for (int k = 0; k < f->below; k++) p->where[out->index[f->index + k]] = f->size + k;
    f->n_own = join_entries(p, f, 1, work + start[i], column + start[i], n, out->entry + runs);
    runs += f->n_own;
    f->n_all = f->n_own + join_entries(p, f, 0, work + start[i], column + start[i], n, out->entry + runs);
    runs += f->n_all - f->n_own;
  }
  ga__free(p->ctx, start);
  ga__free(p->ctx, column);
  ga__free(p->ctx, work);
  return ok;
}

static int make_plan(plan *p)
{
  const size_t n = (size_t)p->n;
  p->component = ints(p, n);
  p->block_of = ints(p, n);
  p->row_block = ints(p, n);
  if (!p->component || !p->block_of || !p->row_block) return 0;
  p->out->n_components = ga__order_components(p->ctx, p->A, p->order, p->component);
  if (p->out->n_components < 0 || !find_blocks(p) || !sort_within_blocks(p) || !find_edges(p)) return 0;
  if (!eliminate(p) || !amalgamate(p) || !postorder(p)) return 0;
  return make_fronts(p) && find_below(p) && measure(p) && list_rows(p) && list_off(p) && list_entries(p);
}

ga_status ga__fronts_create(ga_context *ctx, const ga_sparse *A, const ga__order *order, ga__fronts *out)
{
  *out = (ga__fronts){.n = A->cols};
  plan p = {.ctx = ctx, .A = A, .order = order, .out = out, .n = A->cols};
  const int ok = make_plan(&p);
  int *const temporary[] = {p.component,  p.early,     p.block_of,  p.row_block, p.size,
                            p.edge.start, p.edge.item, p.met.start, p.met.item,  p.below.start,
                            p.below.item, p.parent,    p.child,     p.sibling,   p.mark,
                            p.top,        p.rank,      p.pivot_of,  p.front_of,  p.where};
  for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++) ga__free(ctx, temporary[i]);
  if (ok) return GA_OK;
  ga__fronts_destroy(ctx, out);
  if (p.too_large)
    return ga__refuse(ctx, GA_ERR_MEMORY, GA_REASON_TOO_MANY,
                      &(ga__facts){.kind = "LU factors by blocks",
                                   .field = "entries of a front",
                                   .detail = "an int cannot count them; take GA_LU_SPARSE"});
  return ga__no_memory(ctx, "the plan of sparse LU factors");
}

void ga__fronts_destroy(ga_context *ctx, ga__fronts *f)
{
  void *const block[] = {f->P,     f->Q,     f->row_pivot, f->column_pivot, f->component, f->front,
                         f->index, f->place, f->piece,     f->entry,        f->off_start, f->off};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  *f = (ga__fronts){0};
}
