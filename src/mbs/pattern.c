/* The sparsity pattern of a machine's derivatives. Elements first declare what they will write; then entries
 * are assigned: tiles of pairs of nodes, ports of nodes by outputs, and entries that belong to one element
 * alone. */
#include "mbs/mbs_impl.h"

#include <stdlib.h>
#include <string.h>

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

/* The components x (part 0) or φ (part 1) that a node has. */
static unsigned part_of(unsigned has, int part)
{
  return has >> (3 * part) & 7u;
}

static void *grow_array(ga_context *ctx, void *old, int used, int capacity, size_t size)
{
  char *bigger = ga__alloc(ctx, (size_t)capacity, size);
  if (!bigger) return NULL;
  if (used) memcpy(bigger, old, (size_t)used * size);
  ga__free(ctx, old);
  return bigger;
}

static ga_status reserve(ga_context *ctx, void **array, int used, int *capacity, size_t size)
{
  if (used < *capacity) return GA_OK;
  int wanted = *capacity ? 2 * *capacity : 64;
  void *bigger = grow_array(ctx, *array, used, wanted, size);
  if (!bigger) return ga__no_memory(ctx, "the pattern of a machine");
  *array = bigger;
  *capacity = wanted;
  return GA_OK;
}

ga_status ga__want_pair(ga__pattern *pt, int i, int j, unsigned tiles, unsigned full)
{
  if (i == 0 || j == 0 || !tiles) return GA_OK;
  ga_status status = reserve(pt->ctx, (void **)&pt->pair, pt->n_pairs, &pt->pairs_capacity, sizeof *pt->pair);
  if (status) return status;
  ga__mbs_pair *p = &pt->pair[pt->n_pairs++];
  *p = (ga__mbs_pair){.i = i, .j = j, .full = i == j ? full : tiles};
  for (int k = 0; k < 4; k++) p->at[k] = tiles >> k & 1u ? 0 : -1;
  return GA_OK;
}

ga_status ga__want_port(ga__pattern *pt, int node, int column)
{
  if (node == 0) return GA_OK;
  ga_status status = reserve(pt->ctx, (void **)&pt->port, pt->n_ports, &pt->ports_capacity, sizeof *pt->port);
  if (!status) pt->port[pt->n_ports++] = (ga__port){node, column, -1};
  return status;
}

ga_status ga__want_block(ga__mbs_model *b, int i, int j, int inertia)
{
  const unsigned all = 15u;
  const ga__node *ni = node_at(b, i), *nj = node_at(b, j);
  if (i == 0 || j == 0) return GA_OK;
  ga_status status = ga__want_pair(&b->pattern, i, j, ni->vector || nj->vector ? 1u : all, all);
  if (status) return status;
  ga__mbs_pair *p = &b->pattern.pair[b->pattern.n_pairs - 1];
  p->dense = ni->vector || nj->vector;
  p->inertia = inertia;
  return GA_OK;
}

ga_status ga__want_gauge(ga__mbs_model *b, const ga__gauge *g, int products)
{
  const int node[2] = {GA__AT(b->marker, ga__marker, g->a)->node, GA__AT(b->marker, ga__marker, g->b)->node};
  unsigned tiles = ga__gauge_tiles(g), mask = ga__gauge_mask(g), rows = 0, columns = 0;
  for (int i = 0; i < 4; i++) {
    rows |= (mask >> 3 * i & 7u ? 1u : 0u) << i;
    columns |= tiles >> 4 * i & 15u;
  }
  columns |= rows;
  for (int i = 0; products && i < 4; i++)
    if (rows >> i & 1u) tiles |= columns << 4 * i;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      unsigned own = 0;
      for (int k = 0; k < 4; k++) own |= (tiles >> (4 * (2 * i + k / 2) + 2 * j + k % 2) & 1u) << k;
      ga_status status = ga__want_pair(&b->pattern, node[i], node[j], own, own);
      if (status) return status;
    }
  return GA_OK;
}

/* ---- Assignment of entries ---- */

static int by_pair(const void *x, const void *y)
{
  const ga__mbs_pair *a = x, *b = y;
  return a->i != b->i ? (a->i < b->i ? -1 : 1) : a->j != b->j ? (a->j < b->j ? -1 : 1) : 0;
}

static int by_port(const void *x, const void *y)
{
  const ga__port *a = x, *b = y;
  if (a->node != b->node) return a->node < b->node ? -1 : 1;
  return a->column != b->column ? (a->column < b->column ? -1 : 1) : 0;
}

static void mark_frames(ga__pattern *pt, int entry)
{
  pt->on_frames |= pt->row[entry] >= pt->first_frame || pt->col[entry] >= pt->first_frame;
}

int ga__own_entry(ga__pattern *pt, int row, int col)
{
  int capacity[] = {pt->capacity, pt->capacity, pt->capacity, pt->capacity};
  if (reserve(pt->ctx, (void **)&pt->row, pt->n, &capacity[0], sizeof *pt->row)) return -1;
  if (reserve(pt->ctx, (void **)&pt->col, pt->n, &capacity[1], sizeof *pt->col)) return -1;
  if (reserve(pt->ctx, (void **)&pt->set, pt->n, &capacity[2], sizeof *pt->set)) return -1;
  if (reserve(pt->ctx, (void **)&pt->in, pt->n, &capacity[3], sizeof *pt->in)) return -1;
  pt->capacity = capacity[0];
  pt->row[pt->n] = row;
  pt->col[pt->n] = col;
  pt->set[pt->n] = 0;
  pt->in[pt->n] = GA_WANT_D | GA_WANT_Q | GA_WANT_G;
  mark_frames(pt, pt->n);
  return pt->n++;
}

int ga__own_rows(ga__pattern *pt, const ga__node *node, int row, int n, int transposed)
{
  int first = -1;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < node->n; i++) {
      const int entry =
          transposed ? ga__own_entry(pt, node->v + i, row + k) : ga__own_entry(pt, row + k, node->v + i);
      if (entry < 0) return -1;
      if (first < 0) first = entry;
    }
  return first;
}

void ga__set_entries(ga__pattern *pt, unsigned arrays, int first, int count)
{
  for (int i = first; i < first + count; i++) pt->set[i] |= (unsigned char)arrays;
}

void ga__exclude_entries(ga__pattern *pt, unsigned arrays, int first, int count)
{
  for (int i = first; i < first + count; i++) pt->in[i] &= (unsigned char)~arrays;
}

/* Φ does not depend on v; Q and G are derivatives by q. */
static void leave_blocks(ga__mbs_model *b)
{
  for (int i = 0; i < b->pattern.n; i++) {
    const int row = b->pattern.row[i], in_phi = row >= b->nv && row < b->nv + b->n_lambda;
    if (in_phi) ga__exclude_entries(&b->pattern, GA_WANT_D, i, 1);
    if (!in_phi) ga__exclude_entries(&b->pattern, GA_WANT_G, i, 1);
    const int first_frame = b->n_wide - 6 * b->carried.n;
    if (b->pattern.col[i] >= b->nv && b->pattern.col[i] < first_frame)
      ga__exclude_entries(&b->pattern, GA_WANT_Q | GA_WANT_G, i, 1);
  }
}

/* Counts while pt->clear is NULL, else fills it. */
static int walk_clears(ga__pattern *pt)
{
  static const unsigned ARRAY[] = {GA_WANT_D, GA_WANT_Q, GA_WANT_G};
  int n = 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0, open = 0; i < pt->n; i++) {
      const int adds = (pt->in[i] & ~pt->set[i] & ARRAY[k]) != 0;
      if (adds && !open && pt->clear) pt->clear[n] = (ga__clear){ARRAY[k], i, 0};
      if (adds && !open) n++;
      if (adds && pt->clear) pt->clear[n - 1].count++;
      open = adds;
    }
  return n;
}

ga_status ga__list_clears(ga__mbs_model *b)
{
  ga__pattern *pt = &b->pattern;
  leave_blocks(b);
  pt->clear = ga__alloc(pt->ctx, (size_t)walk_clears(pt), sizeof *pt->clear);
  if (!pt->clear) return GA_ERR_MEMORY;
  pt->n_clear = walk_clears(pt);
  return GA_OK;
}

void ga__clear_entries(const ga__pattern *pt, const ga_jacobian *J)
{
  const unsigned want = J->want | (J->want & GA_WANT_B ? GA_WANT_Q : 0u);
  for (int i = 0; i < pt->n_clear; i++) {
    const ga__clear *c = &pt->clear[i];
    double *array = c->array == GA_WANT_D ? J->D : c->array == GA_WANT_Q ? J->Q : J->G;
    if (want & c->array) memset(array + c->first, 0, (size_t)c->count * sizeof(double));
  }
}

static ga_status give_tile(ga__mbs_model *b, ga__mbs_pair *p, int tile)
{
  const ga__node *ni = node_at(b, p->i), *nj = node_at(b, p->j);
  int part_i = tile / 2, part_j = tile % 2, full = (int)(p->full >> tile & 1u);
  p->at[tile] = -1;
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++) {
      int row = ni->column[3 * part_i + r], col = nj->column[3 * part_j + c];
      if (row < 0 || col < 0 || (!full && r != c)) continue;
      int entry = ga__own_entry(&b->pattern, ni->v + row, nj->v + col);
      if (entry < 0) return GA_ERR_MEMORY;
      if (p->i != p->j && !p->inertia) b->pattern.in[entry] |= GA_NO_MASS;
      if (p->at[tile] < 0) p->at[tile] = entry;
      if (entry == p->at[tile] + 8) p->whole |= 1u << tile;
    }
  return GA_OK;
}

/* All velocities of both nodes. */
static ga_status give_dense(ga__mbs_model *b, ga__mbs_pair *p)
{
  const ga__node *ni = node_at(b, p->i), *nj = node_at(b, p->j);
  p->at[0] = b->pattern.n;
  for (int c = 0; c < nj->n; c++)
    for (int r = 0; r < ni->n; r++) {
      const int entry = ga__own_entry(&b->pattern, ni->v + r, nj->v + c);
      if (entry < 0) return GA_ERR_MEMORY;
      if (p->i != p->j && !p->inertia) b->pattern.in[entry] |= GA_NO_MASS;
    }
  return GA_OK;
}

static ga_status give_pair(ga__mbs_model *b, ga__mbs_pair *p)
{
  if (p->dense) return give_dense(b, p);
  for (int t = 0; t < 4; t++)
    if (p->at[t] >= 0 && give_tile(b, p, t)) return GA_ERR_MEMORY;
  return GA_OK;
}

static void merge_pairs(ga__pattern *pt)
{
  int n = 0;
  if (pt->n_pairs) qsort(pt->pair, (size_t)pt->n_pairs, sizeof *pt->pair, by_pair);
  for (int k = 0; k < pt->n_pairs; k++) {
    ga__mbs_pair *p = &pt->pair[k];
    if (n && by_pair(&pt->pair[n - 1], p) == 0) {
      pt->pair[n - 1].full |= p->full;
      pt->pair[n - 1].inertia |= p->inertia;
      for (int t = 0; t < 4; t++)
        if (p->at[t] >= 0) pt->pair[n - 1].at[t] = 0;
    } else {
      pt->pair[n++] = *p;
    }
  }
  pt->n_pairs = n;
}

static void merge_ports(ga__pattern *pt)
{
  int n = 0;
  if (pt->n_ports) qsort(pt->port, (size_t)pt->n_ports, sizeof *pt->port, by_port);
  for (int k = 0; k < pt->n_ports; k++)
    if (!n || by_port(&pt->port[n - 1], &pt->port[k]) != 0) pt->port[n++] = pt->port[k];
  pt->n_ports = n;
}

ga_status ga__pattern_merge(ga__mbs_model *b)
{
  ga__pattern *pt = &b->pattern;
  merge_pairs(pt);
  merge_ports(pt);
  for (int k = 0; k < pt->n_pairs; k++)
    if (give_pair(b, &pt->pair[k])) return GA_ERR_MEMORY;
  for (int k = 0; k < pt->n_ports; k++) {
    const ga__node *node = node_at(b, pt->port[k].node);
    pt->port[k].at = pt->n;
    for (int i = 0; i < node->n; i++)
      if (ga__own_entry(pt, node->v + i, pt->port[k].column) < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

int ga__find_pair(ga__pattern *pt, int i, int j)
{
  ga__mbs_pair key = {.i = i, .j = j};
  const ga__mbs_pair *found =
      pt->n_pairs ? bsearch(&key, pt->pair, (size_t)pt->n_pairs, sizeof key, by_pair) : NULL;
  for (int t = 0; found && t < (found->dense ? 1 : 4); t++)
    if (found->at[t] >= 0) mark_frames(pt, found->at[t]);
  return found ? (int)(found - pt->pair) : -1;
}

int ga__find_port(ga__pattern *pt, int node, int column)
{
  ga__port key = {node, column, 0};
  const ga__port *found =
      pt->n_ports ? bsearch(&key, pt->port, (size_t)pt->n_ports, sizeof key, by_port) : NULL;
  if (found) mark_frames(pt, found->at);
  return found ? (int)(found - pt->port) : -1;
}

void ga__pattern_free_entries(ga__pattern *pt)
{
  if (!pt->ctx) return;
  void *const block[] = {pt->row, pt->col, pt->set, pt->in};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(pt->ctx, block[i]);
  pt->row = pt->col = NULL;
  pt->set = pt->in = NULL;
  pt->capacity = 0;
}

void ga__pattern_free(ga__pattern *pt)
{
  if (!pt->ctx) return;
  void *const block[] = {pt->pair, pt->port, pt->clear};
  ga__pattern_free_entries(pt);
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(pt->ctx, block[i]);
  memset(pt, 0, sizeof *pt);
}

/* ---- Writing ---- */

void ga__add_tile(double *array, const ga__mbs_model *b, int pair, int tile, double scale, const double T[9])
{
  if (pair < 0) return;
  const ga__mbs_pair *p = &b->pattern.pair[pair];
  if (p->at[tile] < 0) return;
  double *to = array + p->at[tile];
  if (p->whole >> tile & 1u) {
    for (int k = 0; k < 9; k++) to[k] += scale * T[k % 3 * 3 + k / 3];
    return;
  }
  unsigned rows = part_of(node_at(b, p->i)->has, tile / 2), cols = part_of(node_at(b, p->j)->has, tile % 2);
  int full = (int)(p->full >> tile & 1u);
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++)
      if (rows >> r & 1u && cols >> c & 1u && (full || r == c)) *to++ += scale * T[3 * r + c];
}

void ga__add_block(double *array, const ga__mbs_model *b, int pair, double scale, const double *M)
{
  if (pair < 0) return;
  const ga__mbs_pair *p = &b->pattern.pair[pair];
  const ga__node *ni = node_at(b, p->i), *nj = node_at(b, p->j);
  const int rows = ni->vector ? ni->n : 6, cols = nj->vector ? nj->n : 6;
  if (p->dense) {
    double *to = array + p->at[0];
    for (int c = 0; c < cols; c++)
      for (int r = 0; r < rows; r++)
        if ((ni->vector || ni->column[r] >= 0) && (nj->vector || nj->column[c] >= 0))
          *to++ += scale * M[r * cols + c];
    return;
  }
  for (int tile = 0; tile < 4; tile++) {
    double T[9];
    for (int k = 0; k < 9; k++) T[k] = M[6 * (3 * (tile / 2) + k / 3) + 3 * (tile % 2) + k % 3];
    ga__add_tile(array, b, pair, tile, scale, T);
  }
}

void ga__add_twist_block(double *array, const ga__mbs_model *b, int pair, const double *M, int stride)
{
  if (pair < 0) return;
  const ga__mbs_pair *p = &b->pattern.pair[pair];
  for (int tile = 0; tile < 4; tile++) {
    double *to = array + p->at[tile];
    const double *from = M + 3 * (tile / 2) * stride + 3 * (tile % 2);
    for (int c = 0; c < 3; c++)
      for (int r = 0; r < 3; r++) to[3 * c + r] += from[stride * r + c];
  }
}

void ga__add_curvature(double *array, const ga__mbs_model *b, const int pair[4], unsigned tiles, double scale,
                       const double K[144])
{
  double T[9];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      if (!(tiles >> (4 * i + j) & 1u) || pair[2 * (i / 2) + j / 2] < 0) continue;
      for (int k = 0; k < 9; k++) T[k] = K[12 * (3 * i + k / 3) + 3 * j + k % 3];
      ga__add_tile(array, b, pair[2 * (i / 2) + j / 2], 2 * (i % 2) + j % 2, scale, T);
    }
}

void ga__add_product(double *array, const ga__mbs_model *b, const int pair[4], double scale,
                     const double left[12], const double right[12])
{
  double T[9];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      int at = pair[2 * (i / 2) + j / 2], tile = 2 * (i % 2) + j % 2;
      if (at < 0 || b->pattern.pair[at].at[tile] < 0) continue;
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) T[3 * r + c] = left[3 * i + r] * right[3 * j + c];
      ga__add_tile(array, b, at, tile, scale, T);
    }
}

void ga__add_port(double *array, const ga__mbs_model *b, int port, double scale, const double *wrench)
{
  if (port < 0) return;
  const ga__port *p = &b->pattern.port[port];
  const ga__node *node = node_at(b, p->node);
  if (!node->vector) ga__add_six(array + p->at, node, scale, wrench);
  for (int i = 0; node->vector && i < node->n; i++) array[p->at + i] += scale * wrench[i];
}
