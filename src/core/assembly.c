/* Iteration matrices, put together from a family's table of rules.
 *
 * The derivatives of a system come as numbers over its pattern: D, Q, G and, where a method evaluates it
 * elsewhere, M (core.h). A rule says where those of one block of rows go, by which scale they are multiplied,
 * and whether they are derivatives by q, which the tangent operator and the commutator term turn into
 * derivatives by the unknowns: with dq = T A du − T B_nᵀ dη they enter as (…) T A in the columns of u and
 * −(…) T B_nᵀ in those of η. In an expanded matrix dq are unknowns, with that as their equations, so that
 * derivatives by q are copied. The pattern, and where every number goes, is worked out once. */
#include "core/assembly.h"
#include "lin/lin_impl.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* (row, column) pairs of the pattern; ga_sparse_create returns place[] in the same order. */
typedef struct pairs {
  int count;
  int *row, *col;
} pairs;

static void add_pair(pairs *p, int row, int col)
{
  p->row[p->count] = row;
  p->col[p->count++] = col;
}

/* Indices for the walk: blocks by column, B by column, the pattern by row. */
typedef struct column_map {
  int *block;              /* [nv] tangent block of each column of V, or -1 */
  int *packed;             /* [nv] where that block begins in packed arrays */
  int *b_start, *b;        /* entries of B by column: indices into b_entry */
  int *row_start, *by_row; /* entries of the system's pattern by row */
  unsigned *bit;           /* [n] 1 << block of unknowns of each column */
  int *group_row;          /* [blocks] the last row visited, counted over all rules, with entries there */
  int *met,
      *met_at; /* [n_lambda] the last group with an entry in this row of B, and the index of its eta there */
  int *etas,
      *factors; /* [nv] for a group that begins at this column: number of etas, and first of their factors */
} column_map;

static void map_destroy(ga_context *ctx, column_map *map)
{
  ga__free(ctx, map->block);
  ga__free(ctx, map->packed);
  ga__free(ctx, map->b_start);
  ga__free(ctx, map->b);
  ga__free(ctx, map->row_start);
  ga__free(ctx, map->by_row);
  ga__free(ctx, map->met);
  ga__free(ctx, map->met_at);
  ga__free(ctx, map->etas);
  ga__free(ctx, map->factors);
  ga__free(ctx, map->bit);
  ga__free(ctx, map->group_row);
  memset(map, 0, sizeof *map);
}

static ga_status map_create(const ga_system *sys, column_map *map)
{
  ga_context *ctx = sys->ctx;
  memset(map, 0, sizeof *map);
  map->block = ga__alloc(ctx, (size_t)sys->nv, sizeof(int));
  map->packed = ga__alloc(ctx, (size_t)sys->nv, sizeof(int));
  map->b_start = ga__alloc(ctx, (size_t)sys->nv + 2, sizeof(int));
  map->b = ga__alloc(ctx, (size_t)sys->n_b, sizeof(int));
  map->row_start = ga__alloc(ctx, (size_t)sys->n + 2, sizeof(int));
  map->by_row = ga__alloc(ctx, (size_t)sys->n_entries, sizeof(int));
  map->met = ga__alloc(ctx, (size_t)sys->size[GA_BLOCK_LAMBDA], sizeof(int));
  map->met_at = ga__alloc(ctx, (size_t)sys->size[GA_BLOCK_LAMBDA], sizeof(int));
  map->etas = ga__alloc(ctx, (size_t)sys->nv, sizeof(int));
  map->factors = ga__alloc(ctx, (size_t)sys->nv, sizeof(int));
  map->bit = ga__alloc(ctx, (size_t)sys->n, sizeof *map->bit);
  map->group_row = ga__alloc(ctx, (size_t)ga_group_n_blocks(sys->group), sizeof(int));
  if (!map->bit || !map->group_row || !map->met || !map->met_at || !map->etas || !map->factors ||
      !map->block || !map->packed || !map->b_start || !map->b || !map->row_start || !map->by_row) {
    map_destroy(ctx, map);
    return ga__no_memory(ctx, "the plan of an iteration matrix");
  }
  for (int c = 0, index; c < sys->n; c++) map->bit[c] = 1u << ga__block_of(sys, c, &index);
  for (int c = 0; c < sys->nv; c++) map->block[c] = -1;
  for (int k = 0, packed = 0; k < ga_group_n_blocks(sys->group); k++) {
    int start, size = ga_group_block(sys->group, k, &start);
    for (int c = start; c < start + size; c++) map->block[c] = k, map->packed[c] = packed;
    packed += size * size;
  }
  for (int i = 0; i < sys->n_b; i++) map->b_start[sys->col[sys->b_entry[i]] + 2]++;
  for (int c = 0; c < sys->nv; c++) map->b_start[c + 2] += map->b_start[c + 1];
  for (int i = 0; i < sys->n_b; i++) map->b[map->b_start[sys->col[sys->b_entry[i]] + 1]++] = i;
  for (int e = 0; e < sys->n_entries; e++) map->row_start[sys->row[e] + 2]++;
  for (int r = 0; r < sys->n; r++) map->row_start[r + 2] += map->row_start[r + 1];
  for (int e = 0; e < sys->n_entries; e++) map->by_row[map->row_start[sys->row[e] + 1]++] = e;
  return GA_OK;
}

/* One function both counts and fills: it counts while as->direct is NULL. */
typedef struct cursor {
  int64_t direct, groups, members, etas, factors; /* factors: entries of B over all etas */
  int rows;                                       /* visited, over all rules */
} cursor;

static int target_row(const ga__assembly *as, const ga__rule *rule, int row)
{
  return rule->to_row ? as->sys->n + row - as->layout.extra_from : row;
}

static int target_col(const ga__assembly *as, const ga__rule *rule, int col)
{
  return rule->to_col ? as->sys->n + col - as->layout.extra_from : col;
}

static void add_direct(ga__assembly *as, cursor *at, pairs *p, const ga__rule *rule, int entry, int row,
                       int col)
{
  if (as->direct) {
    as->direct[at->direct] =
        (ga__direct){entry, 0, (unsigned char)rule->source, (unsigned char)rule->scale, 0};
    add_pair(p, target_row(as, rule, row), target_col(as, rule, col));
  }
  at->direct++;
}

/* The etas of some columns: one for every row of B with entries there, and these entries; index n_b, behind
 * the last, means none. The same for all rows of the matrix. */
static void find_etas(ga__assembly *as, column_map *map, cursor *at, int start, int size)
{
  const ga_system *sys = as->sys;
  int count = 0;
  map->factors[start] = (int)at->factors;
  for (int c = 0; c < size; c++)
    for (int i = map->b_start[start + c]; i < map->b_start[start + c + 1]; i++) {
      int b = map->b[i], r = sys->b_row[b];
      if (map->met[r] != start + 1) {
        map->met[r] = start + 1;
        map->met_at[r] = count++;
        if (as->direct)
          for (int k = 0; k < size; k++)
            as->eta_b[at->factors + (int64_t)map->met_at[r] * size + k] = sys->n_b;
      }
      if (as->direct) as->eta_b[at->factors + (int64_t)map->met_at[r] * size + c] = b;
    }
  map->etas[start] = count;
  at->factors += (int64_t)count * size;
}

static int first_entry(const int *factor, int size, int none)
{
  int k = 0;
  while (k < size - 1 && factor[k] == none) k++;
  return factor[k];
}

/* Places of a group's etas in its row. */
static void add_etas(ga__assembly *as, column_map *map, cursor *at, pairs *p, int row, int start, int size)
{
  const ga_system *sys = as->sys;
  if (map->etas[start] < 0) find_etas(as, map, at, start, size);
  for (int i = 0; as->direct && i < map->etas[start]; i++) {
    const int b = first_entry(as->eta_b + map->factors[start] + i * size, size, sys->n_b);
    add_pair(p, row, sys->n + sys->start[GA_BLOCK_LAMBDA] - as->layout.extra_from + sys->b_row[b]);
  }
  at->etas += map->etas[start];
}

static int has_etas(const ga__assembly *as, const ga__rule *rule)
{
  return rule->eta && rule->eta <= as->layout.eta_level;
}

/* 1: B has entries in this column of V. */
static int meets_b(const column_map *map, int column)
{
  return map->b_start[column + 1] > map->b_start[column];
}

/* Entries of a row in `size` columns from `start` on, −1 where there is none. */
static void find_members(const ga_system *sys, const column_map *map, int row, int start, int size,
                         int *member)
{
  for (int c = 0; c < size; c++) member[c] = -1;
  for (int i = map->row_start[row]; i < map->row_start[row + 1]; i++) {
    const int e = map->by_row[i], c = sys->col[e] - start;
    if (c >= 0 && c < size) member[c] = e;
  }
}

/* Adds the group of an entry: all entries of its row in the columns of its tangent block. */
static void add_group(ga__assembly *as, column_map *map, cursor *at, pairs *p, const ga__rule *rule,
                      int entry, int row, int column)
{
  const ga_system *sys = as->sys;
  int target = target_row(as, rule, row);
  int block = map->block[column], size = 1, start = column, packed = -1;
  int64_t before = at->etas;
  if (block >= 0) {
    size = ga_group_block(sys->group, block, &start);
    packed = map->packed[column];
  }
  if (as->direct) {
    as->group[at->groups] =
        (ga__group_row){rule->source, rule->scale, packed, size, (int)at->members, (int)at->etas, 0, 0};
    int *member = as->group_entry + at->members;
    if (rule->source != GA__FROM_UNIT) find_members(sys, map, row, start, size, member);
    for (int c = 0; rule->source == GA__FROM_UNIT && c < size; c++)
      member[c] = start + c == column ? entry : -1;
    for (int c = 0; c < size; c++) add_pair(p, target, target_col(as, rule, start + c));
  }
  if (has_etas(as, rule)) add_etas(as, map, at, p, target, start, size);
  if (as->direct) as->group[at->groups].eta_count = (int)(at->etas - before);
  if (as->direct && at->etas > before) as->group[at->groups].factor_first = map->factors[start];
  at->groups++;
  at->members += size;
}

/* Whether a rule's source can be non-zero at an entry. M has the entries of D. */
static int holds(const ga_system *sys, ga__source source, int entry)
{
  static const unsigned char ARRAY[GA__FROM_UNIT] = {GA_WANT_D, GA_WANT_Q, GA_WANT_G, GA_WANT_D};
  return (sys->in[entry] & ARRAY[source]) != 0;
}

/* The same for any entry of the group that this one represents. */
static int group_holds(const ga_system *sys, const column_map *map, ga__source source, int row, int position)
{
  const int block = map->block[sys->col[map->by_row[position]]];
  if (block < 0) return holds(sys, source, map->by_row[position]);
  for (int i = position; i < map->row_start[row + 1]; i++) {
    const int e = map->by_row[i];
    if (sys->col[e] < sys->nv && map->block[sys->col[e]] == block && holds(sys, source, e)) return 1;
  }
  return 0;
}

static int goes_in_group(const ga__assembly *as, const column_map *map, const ga__rule *rule, int column)
{
  const int block = column < as->sys->nv ? map->block[column] : -1;
  return rule->turned && (block >= 0 || (has_etas(as, rule) && meets_b(map, column)));
}

static void walk_unit(ga__assembly *as, column_map *map, cursor *at, pairs *p, const ga__rule *rule,
                      int groups)
{
  for (int c = 0; c < as->sys->nv; c++) {
    if (goes_in_group(as, map, rule, c) != groups) continue;
    if (groups)
      add_group(as, map, at, p, rule, 0, c, c);
    else
      add_direct(as, at, p, rule, 0, c, c);
  }
}

/* First pass: groups, each represented by the first entry of its row within the tangent block. Second pass:
 * entries that are not turned, and commuting columns without etas. */
static void walk_rule(ga__assembly *as, column_map *map, cursor *at, pairs *p, const ga__rule *rule,
                      int groups)
{
  const ga_system *sys = as->sys;
  if ((rule->to_row || rule->to_col) && as->layout.n_extra == 0) return;
  if (groups && !rule->turned) return; /* none of its entries */
  if (rule->source == GA__FROM_UNIT) {
    walk_unit(as, map, at, p, rule, groups);
    return;
  }
  const int first = sys->start[rule->row], end = first + sys->size[rule->row];
  for (int row = first; row < end; row++) {
    at->rows++;
    for (int i = map->row_start[row]; i < map->row_start[row + 1]; i++) {
      const int e = map->by_row[i], column = sys->col[e], block = column < sys->nv ? map->block[column] : -1;
      const int leads = block < 0 || map->group_row[block] != at->rows;
      if (block >= 0) map->group_row[block] = at->rows;
      if (!(rule->cols & map->bit[column])) continue;
      if (goes_in_group(as, map, rule, column) != groups) continue;
      if (!groups && holds(sys, rule->source, e))
        add_direct(as, at, p, rule, e, row, column);
      else if (groups && leads && group_holds(sys, map, rule->source, row, i))
        add_group(as, map, at, p, rule, e, row, column);
    }
  }
}

/* Groups first, then direct entries: distribute() relies on this order. */
static void walk(ga__assembly *as, column_map *map, cursor *at, pairs *p)
{
  const ga_system *sys = as->sys;
  if (sys->size[GA_BLOCK_LAMBDA] > 0)
    memset(map->met, 0, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof *map->met);
  for (int c = 0; c < sys->nv; c++) map->etas[c] = -1;
  for (int k = 0; k < ga_group_n_blocks(sys->group); k++) map->group_row[k] = 0;
  for (int groups = 1; groups >= 0; groups--)
    for (int i = 0; i < as->layout.n_rules; i++) walk_rule(as, map, at, p, &as->layout.rule[i], groups);
}

/* Constraints of a set: those of Φ, and those of k where it has them. */
static int set_length(const ga_system *sys, const ga__set *set)
{
  return sys->size[GA_BLOCK_LAMBDA] + (set->row[1] < 0 ? 0 : sys->size[GA_BLOCK_PSI]);
}

/* Row and column of a set's constraint i. */
static void pair_of(const ga_system *sys, const ga__set *set, int i, int *row, int *col)
{
  const int nl = sys->size[GA_BLOCK_LAMBDA], is_k = i >= nl;
  *row = set->row[is_k] + i - is_k * nl;
  *col = set->col[is_k] + i - is_k * nl;
}

static void add_meeting_places(ga__assembly *as, pairs *p)
{
  const ga__layout *l = &as->layout;
  int row, col;
  for (int b = 0; l->leaves_out && b < l->n_sets; b++)
    for (int i = 0; i < set_length(as->sys, &l->set[b]); i++) {
      pair_of(as->sys, &l->set[b], i, &row, &col);
      add_pair(p, row, col);
    }
}

/* Lists the places of the rows of all pairs, to clear them. */
static ga_status list_lines(ga__assembly *as)
{
  const ga_sparse *K = as->K;
  if (as->n_pairs == 0) return GA_OK;
  int *pair = ga__alloc(as->ctx, (size_t)as->n, sizeof *pair), total = 0, at = 0, row, col;
  if (!pair) return ga__no_memory(as->ctx, "the plan of an iteration matrix");
  for (int b = 0; b < as->layout.n_sets; b++)
    for (int i = 0; i < set_length(as->sys, &as->layout.set[b]); i++) {
      pair_of(as->sys, &as->layout.set[b], i, &row, &col);
      pair[row] = ++at;
    }
  for (int p = 0; p < K->nnz; p++) total += pair[K->row[p]] > 0;
  as->line_start = ga__alloc(as->ctx, (size_t)as->n_pairs + 2, sizeof(int));
  as->line = ga__alloc(as->ctx, (size_t)total, sizeof(int));
  as->left_out = ga__alloc(as->ctx, (size_t)as->n_pairs, sizeof(int));
  as->left_out_column = ga__alloc(as->ctx, (size_t)as->n_pairs, sizeof(int));
  const int complete = as->line_start && as->line && as->left_out && as->left_out_column;
  if (complete) {
    for (int p = 0; p < K->nnz; p++)
      if (pair[K->row[p]] > 0) as->line_start[pair[K->row[p]] + 1]++;
    for (int i = 0; i < as->n_pairs; i++) as->line_start[i + 2] += as->line_start[i + 1];
    for (int p = 0; p < K->nnz; p++)
      if (pair[K->row[p]] > 0) as->line[as->line_start[pair[K->row[p]]]++] = p;
  }
  ga__free(as->ctx, pair);
  return complete ? GA_OK : ga__no_memory(as->ctx, "the plan of an iteration matrix");
}

/* Clears row and column of a pair except their diagonal entry, which gets the size of the row. */
static void exclude_pair(ga__assembly *as, int pair, int row, int col)
{
  double *K = as->K->value, size = 0.0;
  for (int i = as->line_start[pair]; i < as->line_start[pair + 1]; i++) {
    size = fmax(size, fabs(K[as->line[i]]));
    K[as->line[i]] = 0.0;
  }
  for (int i = as->K->col_start[col]; i < as->K->col_start[col + 1]; i++) K[i] = 0.0;
  K[as->pair_place[pair]] = size > 0.0 ? size : 1.0;
  as->left_out_column[as->n_left_out] = col;
  as->left_out[as->n_left_out++] = row;
}

void ga__assembly_leave_out(ga__assembly *as, const ga__null *null, const ga__null *null_b)
{
  const ga__layout *l = &as->layout;
  int row, col;
  as->n_left_out = 0;
  for (int b = 0, first = 0; l->leaves_out && b < l->n_sets; first += set_length(as->sys, &l->set[b++])) {
    const ga__null *which = l->set[b].holonomic ? null_b : null;
    for (int k = 0; k < which->r; k++) {
      pair_of(as->sys, &l->set[b], which->row[k], &row, &col);
      exclude_pair(as, first + which->row[k], row, col);
    }
  }
}

int ga__assembly_leaves_out(const ga__assembly *as, const ga__null *null, const ga__null *null_b)
{
  const ga__layout *l = &as->layout;
  int at = 0, row, col;
  for (int b = 0; l->leaves_out && b < l->n_sets; b++) {
    const ga__null *which = l->set[b].holonomic ? null_b : null;
    for (int k = 0; k < which->r; k++) {
      pair_of(as->sys, &l->set[b], which->row[k], &row, &col);
      if (at >= as->n_left_out || as->left_out[at++] != row) return 0;
    }
  }
  return at == as->n_left_out;
}

int ga__assembly_unknowns(const ga__assembly *as)
{
  return as->n - (as->layout.expanded ? as->sys->nv : 0);
}

int ga__assembly_unknown_of(const ga__assembly *as, int column)
{
  const ga_system *sys = as->sys;
  if (!as->layout.expanded || column < sys->n) return column;
  return column < sys->n + sys->nv ? column - sys->n : column - sys->nv;
}

/* The equations of the unknowns dropped have no residuals; in the transposed matrix these are the unknowns.
 */
static ga_status solve_expanded(const ga__assembly *as, ga_lu *lu, ga_status (*solve)(ga_lu *, double *),
                                double *r)
{
  const size_t n = (size_t)as->sys->n, nv = (size_t)as->sys->nv, rest = (size_t)as->n - n - nv;
  double *x = as->work;
  memcpy(x, r, n * sizeof *x);
  memset(x + n, 0, nv * sizeof *x);
  memcpy(x + n + nv, r + n, rest * sizeof *x);
  const ga_status status = solve(lu, x);
  memcpy(r, x, n * sizeof *x);
  memcpy(r + n, x + n + nv, rest * sizeof *x);
  return status;
}

ga_status ga__assembly_solve(const ga__assembly *as, ga_lu *lu, double *r)
{
  if (as->layout.expanded) return solve_expanded(as, lu, ga_lu_solve, r);
  for (int i = 0; i < as->n_left_out; i++) r[as->left_out[i]] = 0.0;
  return ga_lu_solve(lu, r);
}

ga_status ga__assembly_solve_t(const ga__assembly *as, ga_lu *lu, double *r)
{
  if (as->layout.expanded) return solve_expanded(as, lu, ga_lu_solve_t, r);
  for (int i = 0; i < as->n_left_out; i++) r[as->left_out_column[i]] = 0.0;
  return ga_lu_solve_t(lu, r);
}

typedef enum side { EQUATIONS, MULTIPLIERS } side;

/* Removes the components along relations from the sets' equations (divided by the row lengths) or their
 * multipliers (times them). */
static void remove_relations(const ga__assembly *as, side which, ga__null *null, ga__null *null_b, double *r)
{
  const ga__layout *l = &as->layout;
  const int m = as->sys->start[GA_BLOCK_X] - as->sys->nv;
  int at[2];
  for (int b = 0; b < l->n_sets; b++) {
    ga__null *N = l->set[b].holonomic ? null_b : null;
    const int n = N->r > 0 ? set_length(as->sys, &l->set[b]) : 0;
    for (int i = n; i < m; i++) N->z[i] = 0.0;
    for (int i = 0; i < n; i++) {
      pair_of(as->sys, &l->set[b], i, &at[EQUATIONS], &at[MULTIPLIERS]);
      N->z[i] = which == EQUATIONS ? r[at[which]] / N->length[i] : r[at[which]] * N->length[i];
    }
    ga__null_remove(N, N->z, m);
    for (int i = 0; i < n; i++) {
      pair_of(as->sys, &l->set[b], i, &at[EQUATIONS], &at[MULTIPLIERS]);
      r[at[which]] = which == EQUATIONS ? N->z[i] * N->length[i] : N->z[i] / N->length[i];
    }
  }
}

ga_status ga__assembly_solve_squares(const ga__assembly *as, ga_lu *lu, ga__null *null, ga__null *null_b,
                                     double *r)
{
  if (as->n_left_out == 0) return ga__assembly_solve(as, lu, r);
  remove_relations(as, EQUATIONS, null, null_b, r);
  ga_status status = ga__assembly_solve(as, lu, r);
  if (!status) remove_relations(as, MULTIPLIERS, null, null_b, r);
  return status;
}

ga_status ga__assembly_solve_several(const ga__assembly *as, ga_lu *const lu[], ga__null *null,
                                     ga__null *null_b, double *const r[], int n)
{
  ga_status status = GA_OK;
  if (as->n_left_out == 0 && !as->layout.expanded) return ga__lu_solve_together(lu, r, n);
  for (int i = 0; !status && i < n; i++) status = ga__assembly_solve_squares(as, lu[i], null, null_b, r[i]);
  return status;
}

static ga_status take_memory(ga__assembly *as, const cursor *size)
{
  const ga_system *sys = as->sys;
  size_t n_xy = (size_t)(sys->size[GA_BLOCK_X] + sys->size[GA_BLOCK_Y]);
  struct {
    void **array;
    size_t count, bytes;
  } need[] = {{(void **)&as->direct, (size_t)size->direct, sizeof(ga__direct)},
              {(void **)&as->diag_place, n_xy, sizeof(int)},
              {(void **)&as->group, (size_t)size->groups, sizeof(ga__group_row)},
              {(void **)&as->group_entry, (size_t)size->members, sizeof(int)},
              {(void **)&as->group_place, (size_t)size->members, sizeof(int)},
              {(void **)&as->eta_b, (size_t)size->factors, sizeof(int)},
              {(void **)&as->eta_place, (size_t)size->etas, sizeof(int)},
              {(void **)&as->pair_place, (size_t)as->n_pairs, sizeof(int)},
              {(void **)&as->work, as->layout.expanded ? (size_t)as->n : 0, sizeof(double)}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    if (!(*need[i].array = ga__alloc(sys->ctx, need[i].count, need[i].bytes)))
      return ga__no_memory(sys->ctx, "the plan of an iteration matrix");
  as->n_direct = (int)size->direct;
  as->n_groups = (int)size->groups;
  return GA_OK;
}

/* place[] is in the order in which the pairs were added: groups with their etas, direct entries, diagonals,
 * diagonal entries of constraints. */
static void distribute(ga__assembly *as, const int *place)
{
  const ga_system *sys = as->sys;
  int at = 0;
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    for (int c = 0; c < g->size; c++) as->group_place[g->first + c] = place[at++];
    for (int i = 0; i < g->eta_count; i++) as->eta_place[g->eta_first + i] = place[at++];
  }
  for (int i = 0; i < as->n_direct; i++) as->direct[i].place = place[at++];
  for (int i = 0; i < sys->n - sys->start[GA_BLOCK_X]; i++) as->diag_place[i] = place[at++];
  for (int i = 0; i < as->n_pairs; i++) as->pair_place[i] = place[at++];
}

static int64_t count_numbers(ga__assembly *as, column_map *map, pairs *p, cursor *size)
{
  walk(as, map, size, p);
  return size->direct + size->members + size->etas + size->factors;
}

/* Memory for all pairs and their places. */
static ga_status take_pairs(const ga__assembly *as, const cursor *size, pairs *p, int **place)
{
  const ga_system *sys = as->sys;
  const size_t n = (size_t)(size->members + size->etas + size->direct) + (size_t)as->n_pairs +
                   (size_t)(sys->n - sys->start[GA_BLOCK_X]) + (as->ordered ? (size_t)(as->n - sys->nv) : 0);
  p->row = ga__alloc(sys->ctx, n, sizeof *p->row);
  p->col = ga__alloc(sys->ctx, n, sizeof *p->col);
  *place = ga__alloc(sys->ctx, n, sizeof **place);
  return p->row && p->col && *place ? GA_OK : ga__no_memory(sys->ctx, "the plan of an iteration matrix");
}

static ga_status build(ga__assembly *as, column_map *map, pairs *p, int **place)
{
  const ga_system *sys = as->sys;
  cursor size = {0}, at = {0};
  const int64_t numbers = count_numbers(as, map, p, &size);
  if (numbers > INT_MAX / 4)
    return ga__refuse(
        sys->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
        &(ga__facts){.kind = "stepper",
                     .field = "numbers that make up the iteration matrix",
                     .detail = "the multipliers η need them: declare a pattern, or take GA_INDEX3",
                     GA__NUMBERS({(double)numbers, NULL}, {INT_MAX / 4, NULL})});
  ga_status status = take_memory(as, &size);
  if (!status) status = take_pairs(as, &size, p, place);
  if (status) return status;
  walk(as, map, &at, p);
  for (int i = sys->start[GA_BLOCK_X]; i < sys->n; i++) add_pair(p, i, i);
  add_meeting_places(as, p);
  for (int c = sys->nv; as->ordered && c < as->n; c++) add_pair(p, ga__order_partner(sys, &as->layout, c), c);
  status = ga_sparse_create(sys->ctx, as->n, as->n, p->count, p->row, p->col, *place, &as->K);
  if (status) return status;
  distribute(as, *place);
  return list_lines(as);
}

ga_status ga__assembly_create(const ga_system *sys, const ga__layout *layout, ga_lu_kind kind,
                              ga__assembly *as)
{
  column_map map;
  int *place = NULL;
  memset(as, 0, sizeof *as);
  as->ctx = sys->ctx;
  as->sys = sys;
  as->layout = *layout;
  as->n = sys->n + layout->n_extra;
  as->ordered = ga__order_wants(sys, as->n, kind, layout->leaves_out);
  for (int b = 0; layout->leaves_out && b < layout->n_sets; b++)
    as->n_pairs += set_length(sys, &layout->set[b]);
  ga_status status = map_create(sys, &map);
  if (status) return status;
  pairs p = {0};
  status = build(as, &map, &p, &place);
  ga__free(sys->ctx, place);
  ga__free(sys->ctx, p.row);
  ga__free(sys->ctx, p.col);
  map_destroy(sys->ctx, &map);
  if (!status) status = ga__assembly_arrange(as);
  if (status) ga__assembly_destroy(as);
  return status;
}

ga_status ga__assembly_length(const ga_system *sys, const ga__layout *layout, double *numbers)
{
  column_map map;
  pairs none = {0};
  cursor size = {0};
  ga__assembly as = {.ctx = sys->ctx, .sys = sys, .layout = *layout};
  ga_status status = map_create(sys, &map);
  if (status) return status;
  *numbers = (double)count_numbers(&as, &map, &none, &size);
  map_destroy(sys->ctx, &map);
  return GA_OK;
}

ga_status ga__assembly_lu(const ga__assembly *as, ga_lu_kind kind, ga_lu **out)
{
  return as->ordered ? ga__lu_create_ordered_by_bodies(as->sys, &as->layout, as->K, kind, 1,
                                                       as->layout.leaves_out, out)
                     : ga_lu_create(as->ctx, as->K, kind, out);
}

void ga__assembly_place(ga__assembly *as, double *value)
{
  if (!as->own_value) as->own_value = as->K->value;
  as->K->value = value;
}

void ga__assembly_destroy(ga__assembly *as)
{
  if (!as->ctx) return;
  if (as->own_value) as->K->value = as->own_value;
  ga_context *ctx = as->ctx;
  void *const block[] = {as->direct,   as->diag_place,      as->group,      as->group_entry, as->group_place,
                         as->eta_b,    as->eta_place,       as->pair_place, as->copy,        as->run,
                         as->tile,     as->blank,           as->stripe,     as->line_start,  as->line,
                         as->left_out, as->left_out_column, as->work};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga_sparse_destroy(ctx, &as->K);
  memset(as, 0, sizeof *as);
}
