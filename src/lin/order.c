/* An order of elimination for saddle-point matrices of bodies and constraints.
 *
 * The velocities of a body make a cluster, given from outside. All other unknowns come in groups: those next
 * to each other whose equations act on the same bodies, as the multipliers of a joint do. A group goes to one
 * of its bodies with velocities enough, no two to the same: two joints of one body can be dependent there,
 * two ball joints are; what finds no body of its own goes to the last one of its bodies, when nothing depends
 * any more. The clusters are ordered by approximate minimum degree. In a cluster velocities come first: when
 * they are gone their constraints have pivots on the diagonal, where there were none before. Bodies without
 * inertia make one block with a constraint of theirs. Each other group is a
 * block of its own, so that of those at the last body only such as meet fill the matrix.
 *
 * Where many joints meet in bodies that nothing else couples it fills less to eliminate all velocities first,
 * which leaves the matrix B M⁻¹ Bᵀ of the constraints. For eliminations that are long both orders are tried.
 */
#include "lin/lin_impl.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <amd.h>
#include <btf.h>

/* Groups of more bodies than this form a star in the graph of the clusters, not a clique. */
enum { CLIQUE_MOST = 8 };
/* [-] the second order is tried from this number of operations on, and used if it saves this part */
#define SECOND_FROM 1e7
#define SECOND_SAVES 0.3
/* The second order is not tried from this ratio of adjacent pairs of groups to entries of the matrix on. */
#define MOST_PAIRS 20.0

typedef struct group {
  int first, end;    /* columns, in `column` */
  int bodies, n;     /* clusters it acts on, in `met` */
  int kind, cluster; /* kind of its columns; its cluster, −1: that of the last of its bodies */
} group;

typedef struct ordering {
  ga_context *ctx;
  const ga_sparse *A;
  const int *partner;
  int *given;   /* [n] kind or body of a column, as ga__order_bodies() takes them, without the mark of light
                   ones */
  int *light;   /* [bodies] 1: without inertia */
  int *cluster; /* [n] of a column */
  int *column;  /* [n] column that a row belongs to */
  int *row_start, *by_row; /* A by rows: columns */
  group *group;
  int n_groups;
  int *member;    /* [n] columns of the groups */
  int *met;       /* [nnz] bodies of the groups */
  int n_clusters; /* bodies first */
  int n_bodies;
  int n_light; /* velocities of light bodies */
  int *size;   /* [bodies] velocities of each */
  int *rank;   /* [n_clusters] in the order found */
  int *node; /* [n_groups] node of each group: groups on the same bodies are one node; this and the following
                for the second order */
  int n_nodes;
  int *couple;           /* [bodies] representative of the bodies coupled by M */
  int *meeting, *met_by; /* nodes that act on each set of coupled bodies */
} ordering;

static int *ints(ga_context *ctx, size_t n)
{
  return ga__alloc(ctx, n, sizeof(int));
}

static int list_rows(ordering *o)
{
  const ga_sparse *A = o->A;
  const int n = A->cols;
  o->column = ints(o->ctx, (size_t)n);
  o->row_start = ints(o->ctx, (size_t)n + 2);
  o->by_row = ints(o->ctx, (size_t)A->nnz);
  if (!o->column || !o->row_start || !o->by_row) return 0;
  for (int c = 0; c < n; c++) o->column[o->partner[c]] = c;
  for (int p = 0; p < A->nnz; p++) o->row_start[A->row[p] + 2]++;
  for (int r = 0; r < n; r++) o->row_start[r + 2] += o->row_start[r + 1];
  for (int c = 0; c < n; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++) o->by_row[o->row_start[A->row[p] + 1]++] = c;
  return 1;
}

/* ---- Groups ---- */

static int compare(const void *a, const void *b)
{
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* Bodies that the equation of a column acts on, ascending; returns their number. */
static int bodies_of(const ordering *o, int column, int *out)
{
  const int row = o->partner[column];
  int n = 0, kept = 0;
  for (int i = o->row_start[row]; i < o->row_start[row + 1]; i++) {
    const int body = o->given[o->by_row[i]];
    if (body >= 0 && (n == 0 || out[n - 1] != body)) out[n++] = body;
  }
  qsort(out, (size_t)n, sizeof *out, compare);
  for (int i = 0; i < n; i++)
    if (i == 0 || out[i] != out[i - 1]) out[kept++] = out[i];
  return kept;
}

static int is_same(const ordering *o, const group *g, int kind, const int *body, int n)
{
  return g->kind == kind && g->n == n && n > 0 && !memcmp(o->met + g->bodies, body, (size_t)n * sizeof *body);
}

static int find_bodies(ordering *o, const int *cluster)
{
  const int n = o->A->cols;
  o->given = ints(o->ctx, (size_t)n);
  o->cluster = ints(o->ctx, (size_t)n);
  if (!o->given || !o->cluster) return 0;
  for (int c = 0; c < n; c++) {
    const int given = cluster[c] <= GA__ORDER_LIGHT ? GA__ORDER_LIGHT - cluster[c] : cluster[c];
    o->cluster[c] = o->given[c] = given;
    if (given >= o->n_clusters) o->n_clusters = given + 1;
  }
  o->n_bodies = o->n_clusters;
  o->size = ints(o->ctx, (size_t)o->n_clusters);
  o->light = ints(o->ctx, (size_t)o->n_clusters);
  if (!o->size || !o->light) return 0;
  for (int c = 0; c < n; c++) {
    if (o->given[c] >= 0) o->size[o->given[c]]++;
    if (cluster[c] <= GA__ORDER_LIGHT) o->light[o->given[c]] = 1, o->n_light++;
  }
  return 1;
}

static int find_groups(ordering *o)
{
  const size_t n = (size_t)o->A->cols;
  int at = 0, used = 0;
  o->group = ga__alloc(o->ctx, n, sizeof *o->group);
  o->member = ints(o->ctx, n);
  o->met = ints(o->ctx, (size_t)o->A->nnz);
  if (!o->group || !o->member || !o->met) return 0;
  for (int c = 0; c < o->A->cols; c++) {
    if (o->given[c] >= 0) continue;
    const int bodies = bodies_of(o, c, o->met + used);
    group *last = o->group + o->n_groups - 1;
    if (o->n_groups == 0 || !is_same(o, last, o->given[c], o->met + used, bodies)) {
      last = o->group + o->n_groups++;
      *last = (group){at, at, used, bodies, o->given[c], -1};
      used += bodies;
    }
    o->member[at++] = c;
    last->end = at;
  }
  return 1;
}

/* A body without inertia has no pivots of its own: it gets the first group that could be there. */
static void match_light(ordering *o, int kind)
{
  for (int g = 0; o->n_light > 0 && g < o->n_groups; g++) {
    group *one = &o->group[g];
    for (int i = 0; one->kind == kind && one->cluster < 0 && i < one->n; i++) {
      const int body = o->met[one->bodies + i];
      if (o->light[body] != 1 || o->size[body] < one->end - one->first) continue;
      one->cluster = body;
      o->light[body] = 2;
    }
  }
  for (int b = 0; o->n_light > 0 && b < o->n_bodies; b++) o->light[b] = o->light[b] > 0;
}

/* Maximum matching: as many groups of a kind as possible get a body of their own. */
static int match(ordering *o, int kind)
{
  match_light(o, kind);
  const int n = o->n_groups;
  int *start = ints(o->ctx, (size_t)n + 1), *item = ints(o->ctx, (size_t)o->A->nnz),
      *matched = ints(o->ctx, (size_t)o->n_clusters), *work = ints(o->ctx, 5 * ((size_t)n + 1));
  const int ok = start && item && matched && work;
  if (ok) {
    double effort;
    for (int g = 0, at = 0; g < n; g++) {
      const group *one = &o->group[g];
      for (int i = 0; one->kind == kind && one->cluster < 0 && i < one->n; i++) {
        const int body = o->met[one->bodies + i];
        if (o->size[body] >= one->end - one->first && !o->light[body]) item[at++] = body;
      }
      start[g + 1] = at;
    }
    btf_maxtrans(o->n_clusters, n, start, item, 0, &effort, matched, work);
    for (int b = 0; b < o->n_clusters; b++)
      if (matched[b] >= 0) o->group[matched[b]].cluster = b;
  }
  int *const temporary[] = {start, item, matched, work};
  for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++) ga__free(o->ctx, temporary[i]);
  return ok;
}

/* Groups that act on no body form clusters of their own. */
static int place_groups(ordering *o)
{
  int least = 0, ok = 1;
  for (int g = 0; g < o->n_groups; g++)
    if (o->group[g].kind < least) least = o->group[g].kind;
  for (int kind = -1; ok && kind >= least; kind--) ok = match(o, kind);
  for (int g = 0; g < o->n_groups; g++) {
    if (o->group[g].n == 0) o->group[g].cluster = o->n_clusters++;
    for (int i = o->group[g].first; i < o->group[g].end; i++) o->cluster[o->member[i]] = o->group[g].cluster;
  }
  return ok;
}

/* ---- Order ---- */

/* Pairs of clusters, each once; if item is NULL they are counted into start[cluster + 2]. */
typedef struct graph {
  int *start, *item;
} graph;

static void add_pair(graph *g, int a, int b)
{
  if (a < 0 || b < 0 || a == b) return;
  if (g->item)
    g->item[g->start[a + 1]++] = b;
  else
    g->start[a + 2]++;
}

static void add_pairs(const ordering *o, graph *to)
{
  const ga_sparse *A = o->A;
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; p < A->col_start[c + 1]; p++)
      add_pair(to, o->cluster[c], o->cluster[o->column[A->row[p]]]);
  for (int k = 0; k < o->n_groups; k++) {
    const group *g = &o->group[k];
    for (int i = 0; g->cluster < 0 && i < g->n; i++)
      for (int j = i + 1; j < (g->n <= CLIQUE_MOST || i == 0 ? g->n : 0); j++)
        add_pair(to, o->met[g->bodies + i], o->met[g->bodies + j]);
  }
}

/* Ranks of n nodes by approximate minimum degree. add lists the pairs; its first call counts them. AMD
 * accepts duplicates. */
static int order_graph(const ordering *o, int n, void (*add)(const ordering *o, graph *to), int *rank)
{
  graph g = {ints(o->ctx, (size_t)n + 2), NULL};
  int *order = ints(o->ctx, (size_t)n), ok = 0;
  if (g.start && order) {
    add(o, &g);
    for (int i = 0; i < n; i++) g.start[i + 2] += g.start[i + 1];
    g.item = ints(o->ctx, (size_t)g.start[n + 1]);
    if (g.item) add(o, &g);
    ok = g.item && amd_order(n, g.start, g.item, order, NULL, NULL) >= AMD_OK;
    for (int i = 0; ok && i < n; i++) rank[order[i]] = i;
  }
  ga__free(o->ctx, g.start);
  ga__free(o->ctx, g.item);
  ga__free(o->ctx, order);
  return ok;
}

static int order_clusters(ordering *o)
{
  o->rank = ints(o->ctx, (size_t)o->n_clusters);
  return o->rank && order_graph(o, o->n_clusters, add_pairs, o->rank);
}

/* Groups without a body of their own are put to the last of their bodies. */
static void place_rest(ordering *o)
{
  for (int k = 0; k < o->n_groups; k++) {
    const group *g = &o->group[k];
    if (g->cluster >= 0) continue;
    int last = o->met[g->bodies];
    for (int i = 1; i < g->n; i++)
      if (o->rank[o->met[g->bodies + i]] > o->rank[last]) last = o->met[g->bodies + i];
    for (int i = g->first; i < g->end; i++) o->cluster[o->member[i]] = last;
  }
}

/* Blocks of a cluster, in this order: the velocities of its body; more unknowns of the same, as changes of
 * its position; multipliers; a second set of them. */
enum { VELOCITIES, TWINS, FIRST_SET, SECOND_SET, N_PLACES };

/* The first run of contiguous columns of a body are its velocities. All that belongs to a light body makes
 * one block. */
static int place_of(const ordering *o, const int *first_end, const int *rest, int column)
{
  const int body = o->given[column], cluster = o->cluster[column];
  if (cluster < o->n_bodies && o->light[cluster]) return rest[column] ? SECOND_SET : VELOCITIES;
  return body >= 0 ? (column < first_end[body] ? VELOCITIES : TWINS) : body == -2 ? SECOND_SET : FIRST_SET;
}

/* The pivots from the order of the clusters. Groups that were put to the last of their bodies are blocks of
 * their own, as they need not meet. */
static int expand(const ordering *o, ga__order *out)
{
  const int n = o->A->cols, k = o->n_clusters;
  int *start = ints(o->ctx, N_PLACES * (size_t)k + 1), *first_end = ints(o->ctx, (size_t)k);
  int *rest = ints(o->ctx, (size_t)n);
  const int ok = start && first_end && rest;
  for (int c = 0; ok && c < n; c++) {
    const int body = o->given[c];
    if (body >= 0 && (first_end[body] == 0 || first_end[body] == c)) first_end[body] = c + 1;
  }
  for (int g = 0; ok && g < o->n_groups; g++)
    for (int i = o->group[g].first; o->group[g].cluster < 0 && i < o->group[g].end; i++)
      rest[o->member[i]] = g + 1;
  for (int c = 0; ok && c < n; c++)
    start[N_PLACES * o->rank[o->cluster[c]] + place_of(o, first_end, rest, c) + 1]++;
  for (int i = 0; ok && i < N_PLACES * k; i++) start[i + 1] += start[i];
  for (int c = 0; ok && c < n; c++) {
    const int at = start[N_PLACES * o->rank[o->cluster[c]] + place_of(o, first_end, rest, c)]++;
    out->Q[at] = c;
    out->P[at] = o->partner[c];
  }
  for (int at = 0, block = 0; ok && out->block && at < n; at++) {
    const int c = out->Q[at], last = at > 0 ? out->Q[at - 1] : c;
    block += o->cluster[c] != o->cluster[last] || rest[c] != rest[last] ||
             place_of(o, first_end, rest, c) != place_of(o, first_end, rest, last);
    out->block[at] = block;
  }
  int *const work[] = {start, first_end, rest};
  for (size_t i = 0; i < sizeof work / sizeof *work; i++) ga__free(o->ctx, work[i]);
  return ok;
}

static void release(ordering *o)
{
  void *const block[] = {o->given,  o->light, o->cluster, o->column,  o->row_start,
                         o->by_row, o->group, o->member,  o->met,     o->size,
                         o->rank,   o->node,  o->couple,  o->meeting, o->met_by};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(o->ctx, block[i]);
}

static ga_status no_memory(ga_context *ctx)
{
  return ga__no_memory(ctx, "the order of elimination of a sparse matrix");
}

ga_status ga__order_bodies(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                           ga__order *out)
{
  ordering o = {.ctx = ctx, .A = A, .partner = partner};
  int ok =
      list_rows(&o) && find_bodies(&o, cluster) && find_groups(&o) && place_groups(&o) && order_clusters(&o);
  if (ok) {
    place_rest(&o);
    ok = expand(&o, out);
  }
  release(&o);
  return ok ? GA_OK : no_memory(ctx);
}

/* ---- All velocities first ---- */

/* Merges groups that act on the same bodies into nodes, by a hash table of their bodies. */
static int find_nodes(ordering *o)
{
  size_t room = 4;
  while (room < 2 * (size_t)o->n_groups) room *= 2;
  int *table = ints(o->ctx, room); /* 1 + a group of the node, 0: none */
  o->node = ints(o->ctx, (size_t)o->n_groups);
  for (int g = 0; table && o->node && g < o->n_groups; g++) {
    const group *one = &o->group[g];
    uint64_t sum = 0;
    for (int i = 0; i < one->n; i++) sum = (sum ^ (uint64_t)o->met[one->bodies + i]) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(sum >> 20) % room;
    while (one->n > 0 && table[at] &&
           !is_same(o, &o->group[table[at] - 1], o->group[table[at] - 1].kind, o->met + one->bodies, one->n))
      at = (at + 1) % room;
    const int known = one->n > 0 && table[at];
    o->node[g] = known ? o->node[table[at] - 1] : o->n_nodes++;
    if (one->n > 0 && !known) table[at] = g + 1;
  }
  const int ok = table && o->node;
  ga__free(o->ctx, table);
  return ok;
}

static int root_of(int *couple, int body)
{
  while (couple[body] != body) body = couple[body] = couple[couple[body]];
  return body;
}

/* Bodies that share an entry of M are coupled: after their elimination all groups on them are adjacent. */
static int find_couples(ordering *o)
{
  const ga_sparse *A = o->A;
  o->couple = ints(o->ctx, (size_t)o->n_clusters);
  for (int b = 0; o->couple && b < o->n_clusters; b++) o->couple[b] = b;
  for (int c = 0; o->couple && c < A->cols; c++)
    for (int p = A->col_start[c]; o->given[c] >= 0 && p < A->col_start[c + 1]; p++) {
      const int other = o->given[o->column[A->row[p]]];
      if (other >= 0) o->couple[root_of(o->couple, other)] = root_of(o->couple, o->given[c]);
    }
  return o->couple != NULL;
}

/* Lists the nodes adjacent in each set of coupled bodies, in meeting and met_by; *pairs: number of pairs. */
static int list_adjacent_nodes(ordering *o, double *pairs)
{
  const size_t n = (size_t)o->n_clusters;
  int *start = o->meeting = ints(o->ctx, n + 2);
  o->met_by = ints(o->ctx, (size_t)o->A->nnz);
  *pairs = 0.0;
  if (!start || !o->met_by) return 0;
  for (int fill = 0; fill < 2; fill++) {
    for (int g = 0; g < o->n_groups; g++)
      for (int i = 0; i < o->group[g].n; i++) {
        const int couple = root_of(o->couple, o->met[o->group[g].bodies + i]);
        if (fill)
          o->met_by[start[couple + 1]++] = o->node[g];
        else
          start[couple + 2]++;
      }
    for (int b = 0; !fill && b < o->n_clusters; b++) {
      *pairs += (double)start[b + 2] * start[b + 2];
      start[b + 2] += start[b + 1];
    }
  }
  return 1;
}

static void add_meetings(const ordering *o, graph *to)
{
  const ga_sparse *A = o->A;
  for (int b = 0; b < o->n_clusters; b++)
    for (int i = o->meeting[b]; i < o->meeting[b + 1]; i++)
      for (int j = o->meeting[b]; j < o->meeting[b + 1]; j++) add_pair(to, o->met_by[i], o->met_by[j]);
  for (int c = 0; c < A->cols; c++)
    for (int p = A->col_start[c]; o->given[c] < 0 && p < A->col_start[c + 1]; p++)
      if (o->given[o->column[A->row[p]]] < 0) add_pair(to, o->cluster[c], o->cluster[o->column[A->row[p]]]);
}

/* Bodies in the order of `before`, then the nodes. */
static int rank_nodes(ordering *o, const ga__order *before)
{
  int *rank = ints(o->ctx, (size_t)o->n_nodes);
  o->rank = ints(o->ctx, (size_t)(o->n_clusters + o->n_nodes));
  for (int g = 0; g < o->n_groups; g++)
    for (int i = o->group[g].first; i < o->group[g].end; i++) o->cluster[o->member[i]] = o->node[g];
  const int ok = rank && o->rank && order_graph(o, o->n_nodes, add_meetings, rank);
  for (int i = 0; ok && i < o->n_nodes; i++) o->rank[o->n_clusters + i] = o->n_clusters + rank[i];
  for (int k = 0, next = 0, last = -1; ok && k < o->A->cols; k++) {
    const int body = o->given[before->Q[k]];
    if (body >= 0 && body != last) o->rank[last = body] = next++;
  }
  for (int c = 0; c < o->A->cols; c++)
    if (o->given[c] < 0) o->cluster[c] += o->n_clusters;
  o->n_clusters += o->n_nodes;
  ga__free(o->ctx, rank);
  return ok;
}

ga_status ga__order_constraints(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                                const ga__order *before, ga__order *out, int *found)
{
  ordering o = {.ctx = ctx, .A = A, .partner = partner};
  double pairs;
  int ok = list_rows(&o) && find_bodies(&o, cluster) && find_groups(&o) && find_nodes(&o) &&
           find_couples(&o) && list_adjacent_nodes(&o, &pairs);
  *found = ok && o.n_light == 0 && pairs <= MOST_PAIRS * A->nnz;
  if (*found) ok = rank_nodes(&o, before) && expand(&o, out);
  release(&o);
  return ok ? GA_OK : no_memory(ctx);
}

/* The cheaper of both orders into out. */
static ga_status choose_order(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                              double flops, ga__order *out)
{
  const size_t n = (size_t)A->cols;
  ga__order second = {ints(ctx, n), ints(ctx, n), out->block ? ints(ctx, n) : NULL, out->fronts_from};
  double its = 0.0;
  int found = 0;
  ga_status status = second.P && second.Q && (second.block || !out->block) ? GA_OK : no_memory(ctx);
  if (!status) status = ga__order_constraints(ctx, A, partner, cluster, out, &second, &found);
  if (!status && found) status = ga__order_cost(ctx, A, &second, &its);
  if (!status && found && its <= (1.0 - SECOND_SAVES) * flops) {
    memcpy(out->P, second.P, n * sizeof(int));
    memcpy(out->Q, second.Q, n * sizeof(int));
    if (out->block) memcpy(out->block, second.block, n * sizeof(int));
  }
  ga__free(ctx, second.P);
  ga__free(ctx, second.Q);
  ga__free(ctx, second.block);
  return status;
}

ga_status ga__order_find(ga_context *ctx, const ga_sparse *A, const int *partner, const int *cluster,
                         ga__order *out)
{
  double flops = 0.0;
  ga_status status = ga__order_bodies(ctx, A, partner, cluster, out);
  if (!status) status = ga__order_cost(ctx, A, out, &flops);
  return status || flops < SECOND_FROM ? status : choose_order(ctx, A, partner, cluster, flops, out);
}

/* ---- Cost ---- */

/* Strong components of the pattern with the pivots on its diagonal. */
int ga__order_components(ga_context *ctx, const ga_sparse *A, const ga__order *order, int *component)
{
  const size_t n = (size_t)A->cols;
  int *column = ints(ctx, n), *perm = ints(ctx, n), *start = ints(ctx, n + 1), *work = ints(ctx, 4 * n);
  int count = -1;
  if (column && perm && start && work) {
    for (int k = 0; k < A->cols; k++) column[order->P[k]] = order->Q[k];
    count = btf_strongcomp(A->cols, (int *)A->col_start, (int *)A->row, column, perm, start, work);
    for (int c = 0; c < count; c++)
      for (int k = start[c]; k < start[c + 1]; k++) component[column[k]] = c;
  }
  int *const temporary[] = {column, perm, start, work};
  for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++) ga__free(ctx, temporary[i]);
  return count;
}

/* Elimination tree of the symmetrised pattern of A(P, Q), within its components, and the number of entries
 * below each pivot: row by row, following each entry's path up the tree until a node already visited for
 * this row. */
static void count_below(const ga_sparse *A, const int *row_start, const int *by_row, const ga__order *order,
                        const int *component, const int *row_at, const int *col_at, int *parent, int *met,
                        int *below)
{
  for (int k = 0; k < A->cols; k++) parent[k] = met[k] = -1;
  for (int k = 0; k < A->cols; k++) {
    const int column = order->Q[k], row = order->P[k];
    met[k] = k;
    const int in_column = A->col_start[column + 1] - A->col_start[column],
              in_row = row_start[row + 1] - row_start[row];
    for (int p = 0; p < in_column + in_row; p++) {
      int i = p < in_column ? row_at[A->row[A->col_start[column] + p]]
                            : col_at[by_row[row_start[row] + p - in_column]];
      if (component[order->Q[i]] != component[column]) continue;
      for (; i < k && met[i] != k; i = parent[i]) {
        met[i] = k;
        below[i]++;
        if (parent[i] < 0) parent[i] = k;
      }
    }
  }
}

ga_status ga__order_cost(ga_context *ctx, const ga_sparse *A, const ga__order *order, double *flops)
{
  const size_t n = (size_t)A->cols;
  ordering o = {.ctx = ctx, .A = A, .partner = order->P};
  int *work = ints(ctx, 6 * n), ok = work != NULL;
  *flops = 0.0;
  if (ok) {
    int *row_at = work, *col_at = row_at + n, *parent = col_at + n, *met = parent + n, *below = met + n,
        *component = below + n;
    for (int k = 0; k < A->cols; k++) row_at[order->P[k]] = col_at[order->Q[k]] = k;
    if ((ok = ga__order_components(ctx, A, order, component) >= 0 && list_rows(&o)))
      count_below(A, o.row_start, o.by_row, order, component, row_at, col_at, parent, met, below);
    for (int k = 0; ok && k < A->cols; k++) *flops += 2.0 * below[k] * (double)below[k];
  }
  void *const block[] = {work, o.column, o.row_start, o.by_row};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  return ok ? GA_OK : no_memory(ctx);
}
