/* Fills an iteration matrix with numbers.
 *
 * The plan of assembly.c is rearranged once for memory access: entries that are only copied, in runs of one
 * source and scale; rows of three multiplied by one tangent block, three by three as tiles; all stripe by
 * stripe of the matrix, so that each stripe stays in the cache. The first writer of a place stores, later
 * ones add, so that the matrix need not be cleared. */
#include "base/quad.h"
#include "core/assembly.h"

#include <string.h>

/* ---- Arranging ---- */

/* Lists places without a storing writer, to be cleared. */
static int clear_if_new(ga__assembly *as, unsigned char *seen, int place)
{
  if (seen[place]) return 0;
  seen[place] = 1;
  as->blank[as->n_blank++] = place;
  return 1;
}

/* Whether g is the row below the row `up` of a tile, with contiguous entries and places. */
static int follows(const ga__assembly *as, const ga__group_row *up, const ga__group_row *g)
{
  if (g->source != up->source || g->scale != up->scale || g->block_start != up->block_start ||
      g->eta_count != up->eta_count || g->size != up->size)
    return 0;
  for (int c = 0; c < 3; c++)
    if (as->group_place[g->first + c] != as->group_place[up->first + c] + 1 ||
        as->group_entry[g->first + c] != as->group_entry[up->first + c] + 1)
      return 0;
  for (int i = 0; i < g->eta_count; i++)
    if (as->eta_place[g->eta_first + i] != as->eta_place[up->eta_first + i] + 1) return 0;
  return !g->eta_count || g->factor_first == up->factor_first;
}

/* Largest distance of the next row of a tile: rows of a body have at most this many blocks. */
enum { NEAR = 24 };

static int next_row(const ga__assembly *as, const unsigned char *used, int k)
{
  for (int j = k + 1; j < as->n_groups && j <= k + NEAR; j++)
    if (!used[j] && follows(as, &as->group[k], &as->group[j])) return j;
  return -1;
}

static int leads_a_tile(const ga__assembly *as, const ga__group_row *g)
{
  const int *entry = as->group_entry + g->first;
  return g->block_start >= 0 && g->size == 3 && entry[0] >= 0 && entry[1] == entry[0] + 3 &&
         entry[2] == entry[0] + 6;
}

/* Collects tiles of three rows; the rest stay groups. */
static void arrange_tiles(ga__assembly *as, unsigned char *used)
{
  int left = 0;
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    if (used[k] || !leads_a_tile(as, g)) continue;
    const int second = next_row(as, used, k), third = second < 0 ? -1 : next_row(as, used, second);
    if (third < 0) continue;
    used[k] = used[second] = used[third] = 1;
    const int *place = as->group_place + g->first;
    as->tile[as->n_tiles++] = (ga__tile){
        g->source, g->scale, 0, g->block_start, as->group_entry[g->first], {place[0], place[1], place[2]},
        -1,        0,        0, g->eta_first,   g->factor_first,           g->eta_count};
  }
  for (int k = 0; k < as->n_groups; k++)
    if (!used[k]) as->group[left++] = as->group[k];
  as->n_groups = left;
}

/* Moves entries and places of the groups that are left together; returns how many. */
static size_t pack_members(ga__assembly *as)
{
  int at = 0;
  for (int k = 0; k < as->n_groups; k++) {
    ga__group_row *g = &as->group[k];
    memmove(as->group_entry + at, as->group_entry + g->first, (size_t)g->size * sizeof(int));
    memmove(as->group_place + at, as->group_place + g->first, (size_t)g->size * sizeof(int));
    g->first = at;
    at += g->size;
  }
  return (size_t)at;
}

/* Values of a stripe: with their sources they fit into the first-level cache. */
enum { STRIPE = 2048 };

enum { N_RUN_KINDS = 2 * GA__N_SOURCES * GA__MAX_SCALES };

static int run_kind(const ga__direct *d)
{
  return (d->adds * GA__N_SOURCES + d->source) * GA__MAX_SCALES + d->scale;
}

typedef enum direct_key { BY_STRIPE, BY_PLACE, BY_KIND } direct_key;

static int key_of(const ga__direct *d, direct_key by)
{
  return by == BY_STRIPE ? d->place / STRIPE : by == BY_PLACE ? d->place % STRIPE : run_kind(d);
}

/* Stable counting sort; start[keys + 1] is work space, and at its end has where each key ends. */
static void sort_directs(ga__direct *to, const ga__direct *from, int n, direct_key by, int keys, int *start)
{
  memset(start, 0, ((size_t)keys + 1) * sizeof *start);
  for (int i = 0; i < n; i++) start[key_of(&from[i], by) + 1]++;
  for (int k = 0; k < keys; k++) start[k + 1] += start[k];
  for (int i = 0; i < n; i++) to[start[key_of(&from[i], by)]++] = from[i];
}

/* Order of the copies: by stripe, storing before adding, by run, by place. */
static ga_status sort_copies(ga__assembly *as, int n)
{
  int small[STRIPE + N_RUN_KINDS + 1]; /* enough for either key */
  int *end = ga__alloc(as->ctx, (size_t)as->n_stripes + 1, sizeof *end);
  ga__direct *room = ga__alloc(as->ctx, (size_t)n, sizeof *room), *all = as->direct;
  const int complete = end && room;
  if (complete) {
    sort_directs(room, all, n, BY_STRIPE, as->n_stripes, end);
    for (int i = 0, from = 0; i < as->n_stripes; from = end[i++]) {
      const int count = end[i] - from;
      if (!count) continue;
      sort_directs(all + from, room + from, count, BY_PLACE, STRIPE, small);
      sort_directs(room + from, all + from, count, BY_KIND, N_RUN_KINDS, small);
    }
    as->direct = room;
    room = all;
  }
  ga__free(as->ctx, room);
  ga__free(as->ctx, end);
  return complete ? GA_OK : GA_ERR_MEMORY;
}

static int same_run(const ga__direct *a, const ga__direct *b)
{
  return a->adds == b->adds && a->source == b->source && a->scale == b->scale;
}

/* Lengths of copies; contiguous entries are divided into these. */
static const int LENGTH[] = {6, 3, 1};
enum { N_LENGTHS = sizeof LENGTH / sizeof *LENGTH };

static int is_next(const ga__direct *a, const ga__direct *b)
{
  return b->place == a->place + 1 && b->entry == a->entry + 1 && same_run(a, b) &&
         b->place / STRIPE == a->place / STRIPE;
}

/* strip[i]: directs from i on that follow each other without a gap. */
static void find_strips(const ga__assembly *as, int n, int *strip)
{
  for (int i = n - 1; i >= 0; i--)
    strip[i] = i + 1 < n && is_next(&as->direct[i], &as->direct[i + 1]) ? strip[i + 1] + 1 : 1;
}

/* One run from directs[from..to) for the pieces of one length; only counted while as->run is NULL; *at: its
 * first copy, then the one behind it. */
static void cut_run(ga__assembly *as, int from, int to, const int *strip, int length, int *at)
{
  const int before = *at;
  for (int i = from; i < to; i += strip[i]) {
    const ga__direct *d = &as->direct[i];
    int done = 0, k = 0;
    for (; LENGTH[k] != length; k++) done += (strip[i] - done) / LENGTH[k] * LENGTH[k];
    for (; done + length <= strip[i]; done += length) {
      if (as->run) as->copy[*at] = (ga__copy){d->entry + done, d->place + done};
      ++*at;
    }
  }
  if (*at == before) return;
  if (as->run)
    as->run[as->n_runs] = (ga__run){(ga__source)as->direct[from].source, as->direct[from].scale,
                                    as->direct[from].adds, length, *at};
  as->n_runs++;
}

/* Returns the number of copies. */
static int cut_runs(ga__assembly *as, int n, const int *strip)
{
  int at = 0;
  as->n_runs = 0;
  for (int from = 0, to; from < n; from = to) {
    const int stripe = as->direct[from].place / STRIPE;
    for (to = from + 1;
         to < n && same_run(&as->direct[from], &as->direct[to]) && as->direct[to].place / STRIPE == stripe;)
      to++;
    for (int k = 0; k < N_LENGTHS; k++) cut_run(as, from, to, strip, LENGTH[k], &at);
    if (as->run) as->stripe[stripe].runs = as->n_runs;
  }
  return at;
}

/* Tiles write to places of η in any stripe, before copies to them: these are cleared first. */
static void clear_copied_etas(ga__assembly *as, unsigned char *seen, const int *copy_of)
{
  for (int k = 0; k < as->n_tiles; k++)
    for (int i = 0; i < 3 * as->tile[k].eta_count; i++) {
      const int place = as->eta_place[as->tile[k].eta_first + i / 3] + i % 3;
      if (copy_of[place] != -1) clear_if_new(as, seen, place);
    }
}

static ga_status arrange_copies(ga__assembly *as, unsigned char *seen)
{
  int n = 0;
  for (int i = 0; i < as->n_direct; i++) { /* those merged into tiles are marked by entry −1 */
    if (as->direct[i].entry < 0) continue;
    as->direct[n] = as->direct[i];
    as->direct[n].adds = seen[as->direct[n].place];
    seen[as->direct[n++].place] = 1;
  }
  if (n && sort_copies(as, n)) return GA_ERR_MEMORY;
  int *strip = ga__alloc(as->ctx, (size_t)n, sizeof *strip);
  if (!strip) return GA_ERR_MEMORY;
  find_strips(as, n, strip);
  as->copy = ga__alloc(as->ctx, (size_t)cut_runs(as, n, strip), sizeof *as->copy);
  as->run = ga__alloc(as->ctx, (size_t)as->n_runs, sizeof *as->run);
  const int complete = as->copy && as->run;
  if (complete) cut_runs(as, n, strip);
  ga__free(as->ctx, strip);
  return complete ? GA_OK : GA_ERR_MEMORY;
}

/* Sorts tiles by the stripe of their last column, when copies to the other columns are done; stable. */
static int stripe_of(const ga__tile *t)
{
  return (t->place[2] + 2) / STRIPE;
}

static void arrange_stripes(ga__assembly *as, ga__tile *sorted)
{
  int at = 0;
  for (int k = 0; k < as->n_tiles; k++) as->stripe[stripe_of(&as->tile[k])].tiles++;
  for (int i = 0; i < as->n_stripes; i++) { /* first the beginning of each, then, while placing, its end */
    const int count = as->stripe[i].tiles;
    as->stripe[i].tiles = at;
    at += count;
    if (i > 0 && as->stripe[i].runs == 0) as->stripe[i].runs = as->stripe[i - 1].runs;
  }
  for (int k = 0; k < as->n_tiles; k++) sorted[as->stripe[stripe_of(&as->tile[k])].tiles++] = as->tile[k];
  if (as->n_tiles) memcpy(as->tile, sorted, (size_t)as->n_tiles * sizeof *sorted);
}

/* The only copy that goes to each place, −1: none, −2: several. */
static void find_copies(const ga__assembly *as, int *copy_of)
{
  for (int i = 0; i < as->K->nnz; i++) copy_of[i] = -1;
  for (int i = 0; i < as->n_direct; i++) {
    int *one = &copy_of[as->direct[i].place];
    *one = *one == -1 ? i : -2;
  }
}

/* Merges copies to all nine places of a tile into the tile. */
static void merge_copies(ga__assembly *as, const int *copy_of)
{
  for (int k = 0; k < as->n_tiles; k++) {
    ga__tile *t = &as->tile[k];
    const int lead = copy_of[t->place[0]];
    const ga__direct *first = lead < 0 ? NULL : &as->direct[lead];
    int fits = first && first->entry >= 0;
    for (int i = 0; fits && i < 9; i++) {
      const int one = copy_of[t->place[i / 3] + i % 3];
      fits = one >= 0 && same_run(&as->direct[one], first) && as->direct[one].entry == first->entry + i;
    }
    if (!fits) continue;
    t->base_source = first->source;
    t->base_scale = first->scale;
    t->base_entry = first->entry;
    for (int i = 8; i >= 0; i--) as->direct[copy_of[t->place[i / 3] + i % 3]].entry = -1;
  }
}

/* Three places in a row: 1 if all are new; otherwise the new ones are listed to be cleared. */
static int are_new(ga__assembly *as, unsigned char *seen, int place)
{
  const int all = !seen[place] && !seen[place + 1] && !seen[place + 2];
  for (int i = 0; i < 3; i++) {
    if (!all) clear_if_new(as, seen, place + i);
    seen[place + i] = 1;
  }
  return all;
}

/* Finds the first writer of each place in the order of filling; a place of etas or groups that is stored,
 * not added to, is kept as its complement. */
static void arrange_writers(ga__assembly *as, unsigned char *seen)
{
  const ga_system *sys = as->sys;
  for (int k = 0; k < as->n_tiles; k++) {
    ga__tile *t = &as->tile[k];
    int taken = 0;
    for (int c = 0; c < 9; c++) taken += seen[t->place[c / 3] + c % 3];
    t->adds = taken > 0;
    for (int c = 0; c < 9; c++) {
      if (t->adds) clear_if_new(as, seen, t->place[c / 3] + c % 3);
      seen[t->place[c / 3] + c % 3] = 1;
    }
    for (int i = t->eta_first; i < t->eta_first + t->eta_count; i++)
      if (are_new(as, seen, as->eta_place[i])) as->eta_place[i] = ~as->eta_place[i];
  }
  for (int i = 0; i < sys->n - sys->start[GA_BLOCK_X]; i++) clear_if_new(as, seen, as->diag_place[i]);
  for (int i = 0; i < as->n_pairs; i++) clear_if_new(as, seen, as->pair_place[i]);
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    int *const list[2] = {as->group_place + g->first, as->eta_place + g->eta_first};
    const int length[2] = {g->size, g->eta_count};
    for (int i = 0; i < length[0] + length[1]; i++) {
      int *place = i < length[0] ? &list[0][i] : &list[1][i - length[0]];
      const int new_place = !seen[*place];
      seen[*place] = 1;
      if (new_place) *place = ~*place;
    }
  }
}

/* Reduces an array to the part of it that is used. */
static int shrink(ga_context *ctx, void *array, size_t count, size_t size)
{
  void **at = array, *smaller = ga__alloc(ctx, count, size);
  if (!smaller) return 0;
  if (count) memcpy(smaller, *at, count * size);
  ga__free(ctx, *at);
  *at = smaller;
  return 1;
}

static int shrink_plan(ga__assembly *as)
{
  const size_t members = pack_members(as), groups = (size_t)as->n_groups;
  return shrink(as->ctx, &as->group, groups, sizeof *as->group) &&
         shrink(as->ctx, &as->group_entry, members, sizeof *as->group_entry) &&
         shrink(as->ctx, &as->group_place, members, sizeof *as->group_place) &&
         shrink(as->ctx, &as->tile, (size_t)as->n_tiles, sizeof *as->tile);
}

ga_status ga__assembly_arrange(ga__assembly *as)
{
  ga_context *ctx = as->ctx;
  const size_t nnz = (size_t)as->K->nnz, groups = (size_t)as->n_groups;
  unsigned char *seen = ga__alloc(ctx, nnz, 1), *used = ga__alloc(ctx, groups, 1);
  int *copy_of = NULL;
  as->tile = ga__alloc(ctx, groups / 3, sizeof *as->tile);
  as->n_stripes = as->K->nnz / STRIPE + 1;
  as->stripe = ga__alloc(ctx, (size_t)as->n_stripes, sizeof *as->stripe);
  int ok = seen && used && as->tile && as->stripe;
  if (ok) {
    arrange_tiles(as, used);
    ok = shrink_plan(as);
  }
  copy_of = ok ? ga__alloc(ctx, nnz, sizeof *copy_of) : NULL;
  as->blank = ok ? ga__alloc(ctx, nnz, sizeof *as->blank) : NULL;
  if ((ok = copy_of && as->blank)) {
    find_copies(as, copy_of);
    merge_copies(as, copy_of);
    clear_copied_etas(as, seen, copy_of);
    ok = !arrange_copies(as, seen);
  }
  ga__free(ctx, copy_of);
  ga__free(ctx, as->direct);
  as->direct = NULL;
  ga__tile *sorted = ok ? ga__alloc(ctx, (size_t)as->n_tiles, sizeof *sorted) : NULL;
  if ((ok = sorted != NULL)) {
    arrange_stripes(as, sorted);
    arrange_writers(as, seen);
    ok = shrink(ctx, &as->blank, (size_t)as->n_blank, sizeof *as->blank);
  }
  ga__free(ctx, sorted);
  ga__free(ctx, seen);
  ga__free(ctx, used);
  return ok ? GA_OK : ga__no_memory(ctx, "the plan of an iteration matrix");
}

/* ---- Filling ---- */

/* w = row M, M of m columns. */
static inline void turn(double *w, const double *row, const double *M, int m)
{
  for (int j = 0; j < m; j++) w[j] = 0.0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) w[j] += row[i] * M[i * m + j];
}

/* K[place] += x, or = x at the complement of a place */
GA__INLINE void put(double *K, int place, double x)
{
  if (place < 0)
    K[~place] = x;
  else
    K[place] += x;
}

/* K(row, η) −= w B_nᵀ, w the row times T. */
static void fill_etas(double *K, const ga__assembly *as, const ga__group_row *g, const double *w,
                      const double *B_n)
{
  const int *place = as->eta_place + g->eta_first, *b = as->eta_b + g->factor_first;
  for (int i = 0; i < g->eta_count; i++) {
    double sum = 0.0;
    for (int c = 0; c < g->size; c++) sum += w[c] * B_n[*b++];
    put(K, place[i], -sum);
  }
}

static inline double pick(const double *values, int entry)
{
  return entry >= 0 ? values[entry] : 0.0;
}

/* A single row of a rotation. */
GA__INLINE void fill_row(double *K, const ga__assembly *as, const ga__group_row *g, const double row[3],
                         const ga__assembly_input *in)
{
  const double *M = in->TA + g->block_start, *T = in->T + g->block_start, x = row[0], y = row[1], z = row[2];
  const int *place = as->group_place + g->first, *b = as->eta_b + g->factor_first;
  for (int j = 0; j < 3; j++) put(K, place[j], x * M[j] + y * M[3 + j] + z * M[6 + j]);
  if (!g->eta_count) return;
  const double u = x * T[0] + y * T[3] + z * T[6], v = x * T[1] + y * T[4] + z * T[7],
               w = x * T[2] + y * T[5] + z * T[8];
  place = as->eta_place + g->eta_first;
  for (int i = 0; i < g->eta_count; i++, b += 3)
    put(K, place[i], -(u * in->B_n[b[0]] + v * in->B_n[b[1]] + w * in->B_n[b[2]]));
}

static void fill_groups(double *K, const ga__assembly *as, const ga__assembly_input *in)
{
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    const double *values = in->source[g->source], scale = in->scale[g->scale];
    const int *entry = as->group_entry + g->first, *place = as->group_place + g->first;
    double row[6], w[6];
    for (int c = 0; c < g->size; c++) row[c] = scale * pick(values, entry[c]);
    if (g->block_start < 0) {
      put(K, place[0], row[0]);
      fill_etas(K, as, g, row, in->B_n);
    } else if (g->size == 3) {
      fill_row(K, as, g, row, in);
    } else {
      turn(w, row, in->TA + g->block_start, g->size);
      for (int c = 0; c < g->size; c++) put(K, place[c], w[c]);
      if (g->eta_count && in->TA != in->T) turn(w, row, in->T + g->block_start, g->size);
      fill_etas(K, as, g, w, in->B_n);
    }
  }
}

/* A column of V M, V[9] by columns; the fourth number is ignored. */
#define COLUMN(V, x, y, z)                                                                                   \
  (*(const ga__quad *)(V) * (x) + *(const ga__quad *)((V) + 3) * (y) + *(const ga__quad *)((V) + 6) * (z))

/* K(rows, η) −= V T B_nᵀ */
GA__INLINE void fill_tile_etas(double *K, const ga__assembly *as, const ga__tile *t, const double *V,
                               double scale, const double *T, const double *B_n)
{
  const int *place = as->eta_place + t->eta_first, *b = as->eta_b + t->factor_first;
  ga__quad W[3];
  for (int j = 0; j < 3; j++) W[j] = scale * COLUMN(V, T[j], T[3 + j], T[6 + j]);
  for (int i = 0; i < t->eta_count; i++, b += 3) {
    const ga__quad sum = W[0] * B_n[b[0]] + W[1] * B_n[b[1]] + W[2] * B_n[b[2]];
    if (place[i] < 0)
      ga__quad_store3(K + ~place[i], -sum);
    else
      ga__quad_store3(K + place[i], ga__quad_load3(K + place[i]) - sum);
  }
}

/* Rotations are the most frequent case. */
GA__WIDE static void fill_tiles(double *K, const ga__assembly *as, const ga__assembly_input *in, int from,
                                int to_tile)
{
  for (int k = from; k < to_tile; k++) {
    const ga__tile *t = &as->tile[k];
    const double *V = in->source[t->source] + t->entry, *M = in->TA + t->block_start,
                 scale = in->scale[t->scale];
    const double *base = t->base_source < 0 ? NULL : in->source[t->base_source] + t->base_entry;
    const double factor = base ? in->scale[t->base_scale] : 0.0;
    for (int j = 0; j < 3; j++) {
      double *to = K + t->place[j];
      ga__quad W = scale * COLUMN(V, M[j], M[3 + j], M[6 + j]);
      if (base) W += factor * *(const ga__quad *)(base + 3 * j);
      if (t->adds) W += ga__quad_load3(to);
      ga__quad_store3(to, W);
    }
    if (t->eta_count) fill_tile_etas(K, as, t, V, scale, in->T + t->block_start, in->B_n);
  }
}

/* length and adds are compile-time constants, so that loops are unrolled. */
GA__INLINE void copy_run(double *restrict K, const ga__copy *restrict c, const ga__copy *end,
                         const double *restrict values, double factor, int adds, int length)
{
  for (; c < end; c++) {
    double *to = K + c->place;
    const double *from = values + c->entry;
    for (int i = 0; i < length; i++) to[i] = adds ? to[i] + factor * from[i] : factor * from[i];
  }
}

static void fill_copies(double *K, const ga__assembly *as, const ga__assembly_input *in, int from, int to)
{
  const ga__copy *c = as->copy + (from ? as->run[from - 1].end : 0);
  for (int i = from; i < to; i++) {
    const ga__run *run = &as->run[i];
    const ga__copy *end = as->copy + run->end;
    const double *values = in->source[run->source], factor = in->scale[run->scale];
    switch (2 * run->length + run->adds) {
#define CASES(length)                                                                                        \
  case 2 * (length):                                                                                         \
    copy_run(K, c, end, values, factor, 0, length);                                                          \
    break;                                                                                                   \
  case 2 * (length) + 1:                                                                                     \
    copy_run(K, c, end, values, factor, 1, length);                                                          \
    break;
      CASES(6)
      CASES(3)
      CASES(1)
#undef CASES
    }
    c = end;
  }
}

void ga__assembly_fill(ga__assembly *as, const ga__assembly_input *in)
{
  const ga_system *sys = as->sys;
  double *K = as->K->value;
  int nx = sys->size[GA_BLOCK_X];
  for (int i = 0; i < as->n_blank; i++) K[as->blank[i]] = 0.0;
  for (int i = 0, run = 0, tile = 0; i < as->n_stripes; i++) {
    fill_copies(K, as, in, run, as->stripe[i].runs);
    fill_tiles(K, as, in, tile, as->stripe[i].tiles);
    run = as->stripe[i].runs;
    tile = as->stripe[i].tiles;
  }
  for (int i = 0; i < nx; i++) K[as->diag_place[i]] += in->diag_x;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) K[as->diag_place[nx + i]] += 1.0;
  fill_groups(K, as, in);
  ga__assembly_leave_out(as, in->null, in->null_b);
}
