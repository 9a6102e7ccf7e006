/* Numbers into an iteration matrix.
 *
 * The plan of assembly.c is rearranged once, for what memory likes: entries that are only copied in runs of
 * one source and scale; rows of three that are turned by one block, three by three as tiles; and whoever
 * comes first to a place writes, all others add, so that the matrix need not be cleared. */
#include "core/core_impl.h"

#include <string.h>

/* ---- Arranging ---- */

/* Places that nobody writes first are cleared. */
static int blank_if_new(ga__assembly *as, unsigned char *seen, int place)
{
  if (seen[place]) return 0;
  seen[place] = 1;
  as->blank[as->n_blank++] = place;
  return 1;
}

/* Runs of copies: first those that write, then those that add. */
static void arrange_copies(ga__assembly *as, unsigned char *seen)
{
  unsigned char *first = as->direct_first;
  int at = 0;
  for (int i = 0; i < as->n_direct; i++) {
    first[i] = !seen[as->direct[i].place];
    seen[as->direct[i].place] = 1;
  }
  for (int adds = 0; adds < 2; adds++)
    for (int i = 0; i < as->n_direct; i++) {
      const ga__direct *d = &as->direct[i];
      if (first[i] == adds) continue;
      ga__run *run = as->n_runs ? &as->run[as->n_runs - 1] : NULL;
      if (!run || run->adds != adds || run->source != d->source || run->scale != d->scale) {
        run = &as->run[as->n_runs++];
        *run = (ga__run){(ga__source)d->source, d->scale, adds, at};
      }
      as->copy[at++] = (ga__copy){d->entry, d->place};
      run->end = at;
    }
}

/* Is g the row below the row `up` of a tile: entries and places following those? */
static int follows(const ga__assembly *as, const ga__group_row *up, const ga__group_row *g)
{
  if (g->source != up->source || g->scale != up->scale || g->block_start != up->block_start ||
      g->eta_count != up->eta_count || g->size != up->size)
    return 0;
  for (int c = 0; c < 3; c++)
    if (as->group_place[g->first + c] != as->group_place[up->first + c] + 1 ||
        as->group_entry[g->first + c] != as->group_entry[up->first + c] + 3)
      return 0;
  for (int i = 0; i < g->eta_count; i++)
    if (as->eta_place[g->eta_first + i] != as->eta_place[up->eta_first + i] + 1) return 0;
  return !g->eta_count || !memcmp(as->eta_b + g->factor_first, as->eta_b + up->factor_first,
                                  3 * (size_t)g->eta_count * sizeof(int));
}

/* How far the next row of a tile may be: rows of a body have so many blocks. */
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
  return g->block_start >= 0 && g->size == 3 && entry[0] >= 0 && entry[1] == entry[0] + 1 &&
         entry[2] == entry[0] + 2;
}

/* Tiles of three rows; what makes none stays among the groups. */
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
    as->tile[as->n_tiles++] = (ga__tile){g->source,
                                         g->scale,
                                         0,
                                         g->block_start,
                                         as->group_entry[g->first],
                                         {place[0], place[1], place[2]},
                                         g->eta_first,
                                         g->factor_first,
                                         g->eta_count};
  }
  for (int k = 0; k < as->n_groups; k++)
    if (!used[k]) as->group[left++] = as->group[k];
  as->n_groups = left;
}

static void arrange_writers(ga__assembly *as, unsigned char *seen)
{
  const ga_system *sys = as->sys;
  for (int i = 0; i < sys->n - sys->start[GA_BLOCK_X]; i++) blank_if_new(as, seen, as->diag_place[i]);
  for (size_t i = 0; i < ga__assembly_borders(as); i++) blank_if_new(as, seen, as->border_place[i]);
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    for (int c = 0; c < g->size; c++) blank_if_new(as, seen, as->group_place[g->first + c]);
    for (int i = 0; i < g->eta_count; i++) blank_if_new(as, seen, as->eta_place[g->eta_first + i]);
  }
  for (int k = 0; k < as->n_tiles; k++) {
    ga__tile *t = &as->tile[k];
    int taken = 0;
    for (int c = 0; c < 9; c++) taken += seen[t->place[c / 3] + c % 3];
    t->adds = taken > 0;
    for (int c = 0; c < 9; c++) {
      if (t->adds) blank_if_new(as, seen, t->place[c / 3] + c % 3);
      seen[t->place[c / 3] + c % 3] = 1;
    }
    for (int i = 0; i < 3 * t->eta_count; i++)
      blank_if_new(as, seen, as->eta_place[t->eta_first + i / 3] + i % 3);
  }
}

ga_status ga__assembly_arrange(ga__assembly *as)
{
  ga_context *ctx = as->ctx;
  const size_t nnz = (size_t)as->K->nnz, groups = (size_t)as->n_groups, direct = (size_t)as->n_direct;
  unsigned char *seen = ga__alloc(ctx, nnz, 1), *used = ga__alloc(ctx, groups, 1);
  as->direct_first = ga__alloc(ctx, direct, 1);
  as->copy = ga__alloc(ctx, direct, sizeof *as->copy);
  as->run = ga__alloc(ctx, 2 * (size_t)as->layout.n_rules, sizeof *as->run);
  as->tile = ga__alloc(ctx, groups / 3, sizeof *as->tile);
  as->blank = ga__alloc(ctx, nnz, sizeof *as->blank);
  const int ok = seen && used && as->direct_first && as->copy && as->run && as->tile && as->blank;
  if (ok) {
    arrange_copies(as, seen);
    arrange_tiles(as, used);
    arrange_writers(as, seen);
  }
  ga__free(ctx, seen);
  ga__free(ctx, used);
  ga__free(ctx, as->direct_first);
  ga__free(ctx, as->direct);
  as->direct_first = NULL;
  as->direct = NULL;
  return ok ? GA_OK : ga__no_memory(ctx, "the plan of an iteration matrix");
}

/* ---- Filling ---- */

/* T A, block by block. */
static void multiply_blocks(const ga__assembly *as, const double *T, const double *A, double *TA)
{
  const ga_group *g = as->sys->group;
  for (int b = 0, n = ga_group_n_blocks(g), at = 0; b < n; b++) {
    int start, m = ga_group_block(g, b, &start);
    const double *t = T + at, *a = A + at;
    double *out = TA + at;
    for (int i = 0; m == 3 && i < 9; i += 3) {
      const double x = t[i], y = t[i + 1], z = t[i + 2];
      out[i] = x * a[0] + y * a[3] + z * a[6];
      out[i + 1] = x * a[1] + y * a[4] + z * a[7];
      out[i + 2] = x * a[2] + y * a[5] + z * a[8];
    }
    for (int i = 0; m != 3 && i < m; i++)
      for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int k = 0; k < m; k++) sum += t[i * m + k] * a[k * m + j];
        out[i * m + j] = sum;
      }
    at += m * m;
  }
}

/* w = row M, M of m columns. */
static inline void turn(double *w, const double *row, const double *M, int m)
{
  for (int j = 0; j < m; j++) w[j] = 0.0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) w[j] += row[i] * M[i * m + j];
}

/* K(row, η) −= w B_nᵀ, w the row times T. */
static void fill_etas(double *K, const ga__assembly *as, const ga__group_row *g, const double *w,
                      const double *B_n)
{
  const int *place = as->eta_place + g->eta_first, *b = as->eta_b + g->factor_first;
  for (int i = 0; i < g->eta_count; i++)
    for (int c = 0; c < g->size; c++) K[place[i]] -= w[c] * B_n[*b++];
}

static inline double pick(const double *values, int entry)
{
  return entry >= 0 ? values[entry] : 0.0;
}

static void fill_groups(double *K, const ga__assembly *as, const ga__assembly_input *in, const double *TA)
{
  for (int k = 0; k < as->n_groups; k++) {
    const ga__group_row *g = &as->group[k];
    const double *values = in->source[g->source], scale = in->scale[g->scale];
    const int *entry = as->group_entry + g->first, *place = as->group_place + g->first;
    double row[6], w[6];
    for (int c = 0; c < g->size; c++) row[c] = scale * pick(values, entry[c]);
    if (g->block_start < 0) {
      K[place[0]] += row[0];
      fill_etas(K, as, g, row, in->B_n);
    } else {
      turn(w, row, TA + g->block_start, g->size);
      for (int c = 0; c < g->size; c++) K[place[c]] += w[c];
      if (g->eta_count && TA != in->T) turn(w, row, in->T + g->block_start, g->size);
      fill_etas(K, as, g, w, in->B_n);
    }
  }
}

/* W = scale V M, all 3 x 3. */
static inline void turn_tile(double W[9], double scale, const double *V, const double *M)
{
  for (int i = 0; i < 3; i++) {
    const double x = scale * V[3 * i], y = scale * V[3 * i + 1], z = scale * V[3 * i + 2];
    for (int j = 0; j < 3; j++) W[3 * i + j] = x * M[j] + y * M[3 + j] + z * M[6 + j];
  }
}

/* Rotations are nearly all there is. */
static void fill_tiles(double *K, const ga__assembly *as, const ga__assembly_input *in, const double *TA)
{
  for (int k = 0; k < as->n_tiles; k++) {
    const ga__tile *t = &as->tile[k];
    const double *V = in->source[t->source] + t->entry, scale = in->scale[t->scale];
    double W[9];
    turn_tile(W, scale, V, TA + t->block_start);
    for (int j = 0; j < 3; j++) {
      double *to = K + t->place[j];
      if (t->adds)
        to[0] += W[j], to[1] += W[3 + j], to[2] += W[6 + j];
      else
        to[0] = W[j], to[1] = W[3 + j], to[2] = W[6 + j];
    }
    if (!t->eta_count) continue;
    const int *place = as->eta_place + t->eta_first, *b = as->eta_b + t->factor_first;
    turn_tile(W, scale, V, in->T + t->block_start);
    for (int i = 0; i < t->eta_count; i++, b += 3) {
      const double x = in->B_n[b[0]], y = in->B_n[b[1]], z = in->B_n[b[2]];
      double *to = K + place[i];
      for (int r = 0; r < 3; r++) to[r] -= W[3 * r] * x + W[3 * r + 1] * y + W[3 * r + 2] * z;
    }
  }
}

static void fill_copies(double *K, const ga__assembly *as, const ga__assembly_input *in)
{
  const ga__copy *c = as->copy;
  for (int i = 0; i < as->n_runs; i++) {
    const ga__run *run = &as->run[i];
    const ga__copy *end = as->copy + run->end;
    const double *values = in->source[run->source], factor = in->scale[run->scale];
    if (run->adds)
      for (; c < end; c++) K[c->place] += factor * values[c->entry];
    else
      for (; c < end; c++) K[c->place] = factor * values[c->entry];
  }
}

static void fill_borders(ga__assembly *as, const ga__assembly_input *in)
{
  const ga_system *sys = as->sys;
  int m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  const int *place = as->border_place;
  for (int b = 0; b < as->layout.n_borders; b++) {
    const ga__border *border = &as->layout.border[b];
    const ga__null *null = border->holonomic ? in->null_b : in->null;
    for (int k = 0; k < as->layout.relations[b]; k++)
      for (int i = 0; i < ga__border_length(as, border); i++)
        for (int side = 0; side < 2; side++)
          as->K->value[*place++] += null->length[i] * null->N[(size_t)k * (size_t)m + (size_t)i];
  }
}

void ga__assembly_fill(ga__assembly *as, const ga__assembly_input *in)
{
  const ga_system *sys = as->sys;
  double *K = as->K->value;
  int nx = sys->size[GA_BLOCK_X];
  for (int i = 0; i < as->n_blank; i++) K[as->blank[i]] = 0.0;
  fill_copies(K, as, in);
  for (int i = 0; i < nx; i++) K[as->diag_place[i]] += in->diag_x;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) K[as->diag_place[nx + i]] += 1.0;
  fill_borders(as, in);
  if (in->A) multiply_blocks(as, in->T, in->A, as->TA);
  const double *TA = in->A ? as->TA : in->T;
  fill_tiles(K, as, in, TA);
  fill_groups(K, as, in, TA);
}
