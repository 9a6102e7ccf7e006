/* The scaled iteration matrix of the exact-equilibrium family.
 *
 * Unknowns (u, hλ, hψ, x₁, h y, η) with Δq = u − B_nᵀη, residuals (h(M vdot₁−f), Φ/h, k, h(xdot₁−s), h(y−o),
 * B v₁+Φ_t). With D of shifts (h c₂, c₁), dq = h(T A du − T B_nᵀ dη), A = I + κ ad(v_n) from the commutator
 * term:
 *
 *   dyn, x, y   D + h² Q T A      columns x: h D; + d₁ I (x,x), + I (y,y)      η: −h² Q T B_nᵀ
 *   Φ           Q T A                                                          η: −Q T B_nᵀ
 *   k           D/h + h Q T A                                                  η: −h Q T B_nᵀ
 *   vel         c₂ B + h G T A                                                 η: −h G T B_nᵀ
 *
 * Its condition does not depend on h. η is of order h², so that leaving out the terms with h in its columns
 * costs no iterations worth speaking of; what remains is block-triangular, η being found last. That is the
 * matrix of large systems. The pattern, and where every number goes, is worked out once. */
#include "core/core_impl.h"

#include <string.h>

/* Pairs of the pattern, growing; place[] comes from ga_sparse_create in the same order. */
typedef struct pairs {
  ga_context *ctx;
  int count, capacity;
  int *row, *col;
  int failed;
} pairs;

static int *grown(ga_context *ctx, int *old, int used, int capacity)
{
  int *bigger = ga__alloc(ctx, (size_t)capacity, sizeof *bigger);
  if (bigger && used) memcpy(bigger, old, (size_t)used * sizeof *old);
  if (bigger) ga__free(ctx, old);
  return bigger;
}

static void add_pair(pairs *p, int row, int col)
{
  if (p->failed) return;
  if (p->count == p->capacity) {
    int capacity = p->capacity ? 2 * p->capacity : 256;
    int *row2 = grown(p->ctx, p->row, p->count, capacity);
    if (row2) p->row = row2;
    int *col2 = row2 ? grown(p->ctx, p->col, p->count, capacity) : NULL;
    if (col2) p->col = col2;
    p->failed = !row2 || !col2;
    if (p->failed) return;
    p->capacity = capacity;
  }
  p->row[p->count] = row;
  p->col[p->count++] = col;
}

/* What the walk needs to find: blocks by column, B by column, the pattern by row. */
typedef struct column_map {
  int *block;              /* [nv] tangent block of each column of V, or -1 */
  int *packed;             /* [nv] where that block begins in packed arrays */
  int *b_start, *b;        /* entries of B by column: indices into b_entry */
  int *row_start, *by_row; /* entries of the system's pattern by row */
} column_map;

static void map_destroy(ga_context *ctx, column_map *map)
{
  ga__free(ctx, map->block);
  ga__free(ctx, map->packed);
  ga__free(ctx, map->b_start);
  ga__free(ctx, map->b);
  ga__free(ctx, map->row_start);
  ga__free(ctx, map->by_row);
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
  if (!map->block || !map->packed || !map->b_start || !map->b || !map->row_start || !map->by_row) {
    map_destroy(ctx, map);
    return ga__no_memory(ctx, "the plan of an iteration matrix");
  }
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

/* How D enters a row and column block: a scale, or -1 where it plays no part. */
static int direct_scale(ga_block row, ga_block col)
{
  if (row == GA_BLOCK_LAMBDA) return -1;
  if (row == GA_BLOCK_PSI) return col == GA_BLOCK_V ? GA__SCALE_INV_H : -1;
  return col == GA_BLOCK_X ? GA__SCALE_H : GA__SCALE_ONE;
}

static int group_scale(ga_block row)
{
  if (row == GA_BLOCK_LAMBDA) return GA__SCALE_ONE;
  return row == GA_BLOCK_PSI ? GA__SCALE_H : GA__SCALE_H2;
}

/* The two walks over the plan, counting first and filling then, are one function: counting when as->group is
 * NULL. */
typedef struct cursor {
  int groups, members, etas;
} cursor;

static void add_eta(ga__assembly *as, const column_map *map, cursor *at, pairs *p, int row, int local,
                    int column)
{
  const ga_system *sys = as->sys;
  for (int i = map->b_start[column]; i < map->b_start[column + 1]; i++) {
    int b = map->b[i];
    if (as->group) {
      as->eta_column[at->etas] = local;
      as->eta_b[at->etas] = b;
      add_pair(p, row, sys->n + sys->row[sys->b_entry[b]] - sys->start[GA_BLOCK_LAMBDA]);
    }
    at->etas++;
  }
}

/* One group for row `target` of K, from row `source` of the pattern. */
static void add_group(ga__assembly *as, const column_map *map, cursor *at, pairs *p, int source, int target,
                      int entry, int scale, int from_g)
{
  const ga_system *sys = as->sys;
  int column = sys->col[entry], block = map->block[column], size = 1, start = column, packed = -1;
  if (block >= 0) {
    size = ga_group_block(sys->group, block, &start);
    packed = map->packed[column];
  }
  if (as->group) {
    ga__group_row *g = &as->group[at->groups];
    *g = (ga__group_row){from_g, scale, packed, size, at->members, at->etas, 0};
    for (int c = 0; c < size; c++) {
      as->group_entry[at->members + c] = block < 0 ? entry : -1;
      add_pair(p, target, start + c);
    }
    for (int i = map->row_start[source]; block >= 0 && i < map->row_start[source + 1]; i++) {
      int e = map->by_row[i];
      if (sys->col[e] >= start && sys->col[e] < start + size)
        as->group_entry[at->members + sys->col[e] - start] = e;
    }
  }
  int before = at->etas;
  int in_phi = !from_g && scale == GA__SCALE_ONE;
  if (as->stabilized && (as->coupled || in_phi))
    for (int c = 0; c < size; c++) add_eta(as, map, at, p, target, c, start + c);
  if (as->group) as->group[at->groups].eta_count = at->etas - before;
  at->groups++;
  at->members += size;
}

/* First entry of its row within its tangent block? Then it stands for the group. */
static int leads(const ga_system *sys, const column_map *map, int row, int position)
{
  int e = map->by_row[position], block = map->block[sys->col[e]];
  if (block < 0) return 1;
  for (int i = map->row_start[row]; i < position; i++) {
    int c = sys->col[map->by_row[i]];
    if (c < sys->nv && map->block[c] == block) return 0;
  }
  return 1;
}

static void walk_groups(ga__assembly *as, const column_map *map, cursor *at, pairs *p)
{
  const ga_system *sys = as->sys;
  for (int row = 0; row < sys->n; row++) {
    int index;
    ga_block block = ga__block_of(sys, row, &index);
    for (int i = map->row_start[row]; i < map->row_start[row + 1]; i++) {
      int e = map->by_row[i];
      if (sys->col[e] >= sys->nv || !leads(sys, map, row, i)) continue;
      add_group(as, map, at, p, row, row, e, group_scale(block), 0);
      if (as->stabilized && block == GA_BLOCK_LAMBDA)
        add_group(as, map, at, p, row, sys->n + index, e, GA__SCALE_H, 1);
    }
  }
}

static ga_status take_memory(ga__assembly *as, const cursor *size)
{
  const ga_system *sys = as->sys;
  size_t entries = (size_t)sys->n_entries, n_xy = (size_t)(sys->size[GA_BLOCK_X] + sys->size[GA_BLOCK_Y]);
  struct {
    void **array;
    size_t count, bytes;
  } need[] = {{(void **)&as->direct_entry, entries, sizeof(int)},
              {(void **)&as->direct_place, entries, sizeof(int)},
              {(void **)&as->direct_scale, entries, 1},
              {(void **)&as->rate_entry, (size_t)sys->n_b, sizeof(int)},
              {(void **)&as->rate_place, (size_t)sys->n_b, sizeof(int)},
              {(void **)&as->diag_place, n_xy, sizeof(int)},
              {(void **)&as->group, (size_t)size->groups, sizeof(ga__group_row)},
              {(void **)&as->group_entry, (size_t)size->members, sizeof(int)},
              {(void **)&as->group_place, (size_t)size->members, sizeof(int)},
              {(void **)&as->eta_column, (size_t)size->etas, sizeof(int)},
              {(void **)&as->eta_b, (size_t)size->etas, sizeof(int)},
              {(void **)&as->eta_place, (size_t)size->etas, sizeof(int)}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    if (!(*need[i].array = ga__alloc(sys->ctx, need[i].count, need[i].bytes)))
      return ga__no_memory(sys->ctx, "the plan of an iteration matrix");
  return GA_OK;
}

static void plan_direct(ga__assembly *as, pairs *p)
{
  const ga_system *sys = as->sys;
  int index;
  for (int e = 0; e < sys->n_entries; e++) {
    int scale = direct_scale(ga__block_of(sys, sys->row[e], &index), ga__block_of(sys, sys->col[e], &index));
    if (scale < 0) continue;
    as->direct_entry[as->n_direct] = e;
    as->direct_scale[as->n_direct++] = (unsigned char)scale;
    add_pair(p, sys->row[e], sys->col[e]);
  }
  for (int i = 0; as->stabilized && i < sys->n_b; i++) {
    int e = sys->b_entry[i];
    as->rate_entry[as->n_rate++] = e;
    add_pair(p, sys->n + sys->row[e] - sys->start[GA_BLOCK_LAMBDA], sys->col[e]);
  }
  for (int i = sys->start[GA_BLOCK_X]; i < sys->n; i++) add_pair(p, i, i);
}

/* place[] follows the order in which the pairs were added: direct, rates, diagonals, groups with their etas.
 */
static void distribute(ga__assembly *as, const int *place)
{
  const ga_system *sys = as->sys;
  int at = 0;
  for (int i = 0; i < as->n_direct; i++) as->direct_place[i] = place[at++];
  for (int i = 0; i < as->n_rate; i++) as->rate_place[i] = place[at++];
  for (int i = 0; i < sys->n - sys->start[GA_BLOCK_X]; i++) as->diag_place[i] = place[at++];
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    for (int c = 0; c < g->size; c++) as->group_place[g->first + c] = place[at++];
    for (int i = 0; i < g->eta_count; i++) as->eta_place[g->eta_first + i] = place[at++];
  }
}

static ga_status build(ga__assembly *as, const column_map *map, pairs *p, int **place)
{
  const ga_system *sys = as->sys;
  cursor size = {0, 0, 0}, at = {0, 0, 0};
  walk_groups(as, map, &size, p);
  ga_status status = take_memory(as, &size);
  if (status) return status;
  plan_direct(as, p);
  walk_groups(as, map, &at, p);
  as->n_groups = at.groups;
  if (p->failed || !(*place = ga__alloc(sys->ctx, (size_t)p->count, sizeof(int))))
    return ga__no_memory(sys->ctx, "the plan of an iteration matrix");
  status = ga_sparse_create(sys->ctx, as->n, as->n, p->count, p->row, p->col, *place, &as->K);
  if (!status) distribute(as, *place);
  return status;
}

ga_status ga__assembly_create(const ga_system *sys, int stabilized, int coupled, ga__assembly *as)
{
  column_map map;
  int *place = NULL;
  memset(as, 0, sizeof *as);
  as->sys = sys;
  as->coupled = coupled;
  as->stabilized = stabilized && sys->size[GA_BLOCK_LAMBDA] > 0;
  as->n = sys->n + (as->stabilized ? sys->size[GA_BLOCK_LAMBDA] : 0);
  ga_status status = map_create(sys, &map);
  if (status) return status;
  pairs p = {sys->ctx, 0, 0, NULL, NULL, 0};
  status = build(as, &map, &p, &place);
  ga__free(sys->ctx, place);
  ga__free(sys->ctx, p.row);
  ga__free(sys->ctx, p.col);
  map_destroy(sys->ctx, &map);
  if (status) ga__assembly_destroy(as);
  return status;
}

void ga__assembly_destroy(ga__assembly *as)
{
  if (!as->sys) return;
  ga_context *ctx = as->sys->ctx;
  void *const block[] = {as->direct_entry, as->direct_place, as->direct_scale, as->rate_entry,
                         as->rate_place,   as->diag_place,   as->group,        as->group_entry,
                         as->group_place,  as->eta_column,   as->eta_b,        as->eta_place};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga_sparse_destroy(ctx, &as->K);
  memset(as, 0, sizeof *as);
}

/* w = (row values) T, then row A: wa = w A; commuting columns pass through. */
static void turn(double *w, double *wa, const ga__group_row *g, const double *row, const double *T,
                 const double *A)
{
  int m = g->size;
  if (g->block_start < 0) {
    w[0] = wa[0] = row[0];
    return;
  }
  T += g->block_start;
  for (int j = 0; j < m; j++) w[j] = 0.0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) w[j] += row[i] * T[i * m + j];
  if (!A) {
    memcpy(wa, w, (size_t)m * sizeof *w);
    return;
  }
  A += g->block_start;
  for (int j = 0; j < m; j++) wa[j] = 0.0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) wa[j] += w[i] * A[i * m + j];
}

void ga__assembly_fill(ga__assembly *as, const ga__assembly_input *in)
{
  const ga_system *sys = as->sys;
  const double scale[GA__N_SCALES] = {1.0, in->h, 1.0 / in->h, in->c2, in->h * in->h};
  double *K = as->K->value;
  ga_sparse_zero(as->K);
  for (int i = 0; i < as->n_direct; i++)
    K[as->direct_place[i]] += scale[as->direct_scale[i]] * in->D[as->direct_entry[i]];
  for (int i = 0; i < as->n_rate; i++) K[as->rate_place[i]] += in->c2 * in->Q[as->rate_entry[i]];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) K[as->diag_place[i]] += in->d1;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) K[as->diag_place[sys->size[GA_BLOCK_X] + i]] += 1.0;
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    const double *values = g->from_g ? in->G : in->Q;
    double row[6], w[6], wa[6], any = 0.0;
    for (int c = 0; c < g->size; c++) {
      int e = as->group_entry[g->first + c];
      row[c] = e >= 0 ? scale[g->scale] * values[e] : 0.0;
      any += row[c] != 0.0;
    }
    if (any == 0.0) continue;
    turn(w, wa, g, row, in->T, in->A);
    for (int c = 0; c < g->size; c++) K[as->group_place[g->first + c]] += wa[c];
    for (int i = g->eta_first; i < g->eta_first + g->eta_count; i++)
      K[as->eta_place[i]] -= w[as->eta_column[i]] * in->B_n[as->eta_b[i]];
  }
}
