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
    if (p->top[b] != b) continue;
    for (int i = p->met.start[b]; i < p->met.start[b + 1]; i++) f->below += p->size[p->met.item[i]];
    if (p->parent[b] >= 0) out->front[p->rank[p->parent[b]]].n_children++;
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

/* Positions within a front and in the lists of rows must fit into an int. */
static int measure(plan *p)
{
  ga__fronts *out = p->out;
  size_t index = 0;
  for (int i = 0; i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    const size_t size = (size_t)f->size, below = (size_t)f->below, rows = size + below,
                 width = (rows + 3) / 4 * 4;
    if ((p->too_large = rows * width > INT_MAX || index + below > INT_MAX)) return 0;
    f->width = (int)width;
    f->index = (int)index;
    index += below;
    f->factor = out->n_factors;
    out->n_factors += size * (rows + below);
    out->n_fill += size * (rows + below);
    if (rows * width > out->front_size[i % 2]) out->front_size[i % 2] = rows * width;
    if (f->width > out->longest) out->longest = f->width;
  }
  return 1;
}

/* Lists the rows of each front below its pivots and their positions in the parent, and the largest size of
 * the stack. */
static int list_rows(plan *p)
{
  ga__fronts *out = p->out;
  const ga__front *last = &out->front[out->n_fronts - 1];
  const size_t n = (size_t)(last->index + last->below);
  int *block_at = ints(p, (size_t)p->n_blocks), *waiting = ints(p, (size_t)p->n_blocks), n_waiting = 0;
  size_t used = 0;
  out->index = ints(p, n);
  out->place = ints(p, n);
  const int ok = block_at && waiting && out->index && out->place;
  for (int b = 0; ok && b < p->n_blocks; b++) block_at[p->rank[b]] = p->top[b];
  for (int i = 0; ok && i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    const int b = block_at[i];
    int at = 0;
    for (int k = 0; k < f->size; k++) p->where[f->first + k] = k;
    for (int m = p->met.start[b]; m < p->met.start[b + 1]; m++) {
      const int other = p->met.item[m], first = p->pivot_of[other];
      for (int k = 0; k < p->size[other]; k++, at++) {
        out->index[f->index + at] = first + k;
        p->where[first + k] = f->size + at;
      }
    }
    for (int k = 0; k < f->n_children; k++) {
      const ga__front *child = k == 0 ? f - 1 : &out->front[waiting[--n_waiting]];
      for (int r = 0; r < child->below; r++)
        out->place[child->index + r] = p->where[out->index[child->index + r]];
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

static int is_off_component(const plan *p, int row_pivot, int column_pivot)
{
  return p->component[p->out->Q[row_pivot]] != p->component[p->out->Q[column_pivot]];
}

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
static void sort_entries(const plan *p, int *start, int *column)
{
  ga__fronts *out = p->out;
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
        out->entry[start[front + 1]].from = e;
        column[start[front + 1]++] = pivot;
      }
    }
    for (int i = 0; !fill && i < out->n_fronts; i++) start[i + 2] += start[i + 1];
  }
}

static int list_entries(plan *p)
{
  ga__fronts *out = p->out;
  const size_t nnz = (size_t)p->A->nnz;
  int *start = ints(p, (size_t)p->n_blocks + 2), *column = ints(p, nnz);
  out->entry = ga__alloc(p->ctx, nnz, sizeof *out->entry);
  const int ok = start && column && out->entry;
  if (ok) sort_entries(p, start, column);
  for (int i = 0; ok && i < out->n_fronts; i++) {
    ga__front *f = &out->front[i];
    f->entry = start[i];
    f->n_entry = start[i + 1] - start[i];
    for (int k = 0; k < f->size; k++) p->where[f->first + k] = k;
    for (int k = 0; k < f->below; k++) p->where[out->index[f->index + k]] = f->size + k;
    for (int k = start[i]; k < start[i + 1]; k++) {
      const int row = out->row_pivot[p->A->row[out->entry[k].from]];
      out->entry[k].to = p->where[row] * f->width + p->where[column[k]];
    }
  }
  ga__free(p->ctx, start);
  ga__free(p->ctx, column);
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
  if (p->out->n_components < 0 || !find_blocks(p) || !find_edges(p)) return 0;
  if (!eliminate(p) || !amalgamate(p) || !postorder(p)) return 0;
  return make_fronts(p) && measure(p) && list_rows(p) && list_off(p) && list_entries(p);
}

ga_status ga__fronts_create(ga_context *ctx, const ga_sparse *A, const ga__order *order, ga__fronts *out)
{
  *out = (ga__fronts){.n = A->cols};
  plan p = {.ctx = ctx, .A = A, .order = order, .out = out, .n = A->cols};
  const int ok = make_plan(&p);
  int *const temporary[] = {p.component, p.early,     p.block_of, p.row_block, p.size,     p.edge.start,
                            p.edge.item, p.met.start, p.met.item, p.parent,    p.child,    p.sibling,
                            p.mark,      p.top,       p.rank,     p.pivot_of,  p.front_of, p.where};
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
                         f->index, f->place, f->entry,     f->off_start,    f->off};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  *f = (ga__fronts){0};
}
