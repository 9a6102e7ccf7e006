/* Systems: creation, sizes, names, and checked calls of the callbacks. */
#include "core/system.h"
#include "core/work.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* One row per callback: its field, the block of its result, its name in messages. */
typedef struct fn_row {
  size_t offset;
  ga_equation_block block;
  const char *name;
  int optional;
} fn_row;

static const fn_row FN[GA__N_FN] = {
    [GA__MASS] = {offsetof(ga_system_def, mass), GA_BLOCK_V, "mass", 0},
    [GA__FORCE] = {offsetof(ga_system_def, force), GA_BLOCK_V, "force", 0},
    [GA__PHI] = {offsetof(ga_system_def, phi), GA_BLOCK_LAMBDA, "phi", 0},
    [GA__PHI_DOT] = {offsetof(ga_system_def, phi_dot), GA_BLOCK_LAMBDA, "phi_dot", 1},
    [GA__PHI_ACC] = {offsetof(ga_system_def, phi_acc), GA_BLOCK_LAMBDA, "phi_acc", 1},
    [GA__K] = {offsetof(ga_system_def, k), GA_BLOCK_PSI, "k", 0},
    [GA__K_ACC] = {offsetof(ga_system_def, k_acc), GA_BLOCK_PSI, "k_acc", 1},
    [GA__STATE] = {offsetof(ga_system_def, state), GA_BLOCK_X, "state", 0},
    [GA__OUTPUT] = {offsetof(ga_system_def, output), GA_BLOCK_Y, "output", 0},
    [GA__OUTPUT_GUESS] = {offsetof(ga_system_def, output_guess), GA_BLOCK_Y, "output_guess", 1},
};

static const char *const BLOCK_NAME[] = {"v", "lambda", "psi", "x", "y", "eta"};
static const char *const UNKNOWN_NAME[] = {"coordinate", "lambda", "psi", "state", "output", "eta"};
static const char *const EQUATION_NAME[] = {"dynamics", "phi", "k", "state", "output", "phi_dot"};

static ga_eval_fn field(const ga_system_def *def, ga__fn fn)
{
  ga_eval_fn f;
  memcpy(&f, (const char *)def + FN[fn].offset, sizeof f);
  return f;
}

int ga__has(const ga_system *sys, ga__fn fn)
{
  return field(&sys->def, fn) != NULL;
}

ga_system_def ga_system_defaults(void)
{
  ga_system_def def;
  memset(&def, 0, sizeof def);
  return def;
}

static ga_status check_sizes(ga_context *ctx, const ga_system_def *def)
{
  const int size[] = {def->n_lambda, def->n_psi, def->n_x, def->n_y, def->n_sides, def->n_inner};
  static const char *const name[] = {"n_lambda", "n_psi", "n_x", "n_y", "n_sides", "n_inner"};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    if (size[i] < 0 || size[i] > INT_MAX / 16)
      return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                        &(ga__facts){.kind = "system",
                                     .field = name[i],
                                     .expected = "within its range",
                                     GA__NUMBERS({size[i], NULL}, {0, NULL}, {INT_MAX / 16, NULL})});
  if (def->n_switches < 0 || def->n_switches > def->n_sides)
    return ga__refuse_number(ctx, "system", "n_switches", def->n_switches, "0 to n_sides");
  if ((def->n_switches > 0) != (def->switches != NULL))
    return ga__refuse_missing(ctx, "system", "n_switches", def->n_switches, "switches");
  if ((def->n_sides > 0) != (def->sides != NULL))
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH,
                      &(ga__facts){.kind = "system",
                                   .field = "n_sides",
                                   .other = "the callback 'sides'",
                                   .detail = def->sides ? "given" : "missing",
                                   GA__NUMBERS({def->n_sides, NULL})});
  if (def->n_pattern < 0)
    return ga__refuse_number(ctx, "system", "n_pattern", def->n_pattern, ">= 0 (0: a dense system)");
  if (def->n_pattern > 0 && (!def->pattern_row || !def->pattern_col))
    return ga__refuse_missing(ctx, "system", "n_pattern", def->n_pattern,
                              def->pattern_row ? "pattern_col" : "pattern_row");
  return GA_OK;
}

/* Refuses a callback that is given without another one it needs. */
static ga_status refuse_without(ga_system *sys, const char *given, const char *missing)
{
  return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING,
                    &(ga__facts){.kind = "system", .callback = missing, .name = given});
}

static ga_status check_callbacks(ga_system *sys)
{
  static const char *const SIZE_NAME[] = {"n_factors", "n_lambda", "n_psi", "n_x", "n_y"};
  for (int fn = 0; fn < GA__N_FN; fn++) {
    ga_equation_block block = FN[fn].block;
    int size = sys->size[block], given = ga__has(sys, (ga__fn)fn);
    if (size > 0 && !FN[fn].optional && !given)
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_MISSING,
                        &(ga__facts){.kind = "system",
                                     .callback = FN[fn].name,
                                     .other = BLOCK_NAME[block],
                                     GA__NUMBERS({size, NULL})});
    if (size == 0 && given)
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_CALLBACK_UNUSED,
                        &(ga__facts){.kind = "system",
                                     .callback = FN[fn].name,
                                     .field = SIZE_NAME[block],
                                     .other = BLOCK_NAME[block]});
  }
  if (sys->def.n_inner > 0 && !(sys->def.inner && sys->def.inner_step))
    return refuse_without(sys, "n_inner", sys->def.inner ? "inner_step" : "inner");
  if (sys->def.sweep && !sys->def.jacobian) return refuse_without(sys, "sweep", "jacobian");
  if (sys->def.sweep && sys->def.n_lambda > 0 && !sys->def.phi_dot)
    return refuse_without(sys, "sweep", "phi_dot");
  if (sys->def.work_create && !sys->def.work_destroy)
    return refuse_without(sys, "work_create", "work_destroy");
  return GA_OK;
}

enum { DENSE_MOST = 20000 }; /* 3 GB */

static ga_status set_sizes(ga_system *sys)
{
  const ga_system_def *def = &sys->def;
  const int size[GA_N_BLOCKS] = {sys->nv, def->n_lambda, def->n_psi, def->n_x, def->n_y};
  int64_t n = 0;
  for (int b = 0; b < GA_N_BLOCKS; b++) {
    sys->size[b] = size[b];
    sys->start[b] = (int)n;
    n += size[b];
    if (n > INT_MAX / 4)
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                        &(ga__facts){.kind = "system",
                                     .field = "equations",
                                     GA__NUMBERS({(double)n, NULL}, {INT_MAX / 4, NULL})});
  }
  sys->n = (int)n;
  if (def->n_pattern == 0 && n > DENSE_MOST)
    return ga__refuse(
        sys->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
        &(ga__facts){.kind = "system",
                     .field = "equations without a pattern",
                     .detail = "their matrix would be dense: declare pattern_row and pattern_col",
                     GA__NUMBERS({(double)n, NULL}, {DENSE_MOST, NULL})});
  return GA_OK;
}

int ga__has_mass(const ga_system *sys, int e)
{
  return sys->row[e] < sys->nv && sys->col[e] < sys->nv &&
         (sys->in[e] & (GA_WANT_D | GA_NO_MASS)) == GA_WANT_D;
}

enum { ANYWHERE = GA_WANT_D | GA_WANT_Q | GA_WANT_G };

static ga_status copy_pattern(ga_system *sys)
{
  const ga_system_def *def = &sys->def;
  int dense = def->n_pattern == 0;
  sys->n_entries = dense ? sys->n * sys->n : def->n_pattern;
  sys->row = ga__alloc(sys->ctx, (size_t)sys->n_entries, sizeof *sys->row);
  sys->col = ga__alloc(sys->ctx, (size_t)sys->n_entries, sizeof *sys->col);
  sys->in = ga__alloc(sys->ctx, (size_t)sys->n_entries, sizeof *sys->in);
  if (!sys->row || !sys->col || !sys->in) return ga__no_memory(sys->ctx, "the pattern of a system");
  for (int e = 0; e < sys->n_entries; e++) {
    sys->row[e] = dense ? e / sys->n : def->pattern_row[e];
    sys->col[e] = dense ? e % sys->n : def->pattern_col[e];
    sys->in[e] = dense || !def->pattern_in ? ANYWHERE : def->pattern_in[e];
    if (sys->row[e] < 0 || sys->row[e] >= sys->n || sys->col[e] < 0 || sys->col[e] >= sys->n)
      return ga__refuse(sys->ctx, GA_ERR_PATTERN, GA_REASON_ENTRY_OUTSIDE,
                        &(ga__facts){.kind = "system",
                                     GA__NUMBERS({e, NULL}, {sys->row[e], NULL}, {sys->col[e], NULL},
                                                 {sys->n, NULL}, {sys->n, NULL})});
  }
  return GA_OK;
}

/* Entries given twice, found by sorting the entries of each row by their column with a mark per column. */
static ga_status check_unique(ga_system *sys)
{
  ga_status status = GA_OK;
  int n = sys->n;
  int *first = ga__alloc(sys->ctx, (size_t)n + 1, sizeof *first);
  int *order = ga__alloc(sys->ctx, (size_t)sys->n_entries, sizeof *order);
  int *seen = ga__alloc(sys->ctx, (size_t)n, sizeof *seen);
  if (!first || !order || !seen) {
    status = ga__no_memory(sys->ctx, "checking a pattern");
    goto done;
  }
  for (int e = 0; e < sys->n_entries; e++) first[sys->row[e] + 1]++;
  for (int r = 0; r < n; r++) first[r + 1] += first[r];
  for (int e = 0; e < sys->n_entries; e++) order[first[sys->row[e]]++] = e;
  for (int i = 0; i < sys->n_entries; i++) {
    int e = order[i], stamp = sys->row[e] + 1;
    if (seen[sys->col[e]] == stamp) {
      status = ga__refuse(
          sys->ctx, GA_ERR_PATTERN, GA_REASON_ENTRY_TWICE,
          &(ga__facts){.kind = "system", GA__NUMBERS({e, NULL}, {sys->row[e], NULL}, {sys->col[e], NULL})});
      goto done;
    }
    seen[sys->col[e]] = stamp;
  }
done:
  ga__free(sys->ctx, first);
  ga__free(sys->ctx, order);
  ga__free(sys->ctx, seen);
  return status;
}

static ga_status list_b(ga_system *sys)
{
  int first = sys->start[GA_BLOCK_LAMBDA], end = first + sys->size[GA_BLOCK_LAMBDA];
  sys->n_b = 0;
  for (int e = 0; e < sys->n_entries; e++)
    sys->n_b += sys->row[e] >= first && sys->row[e] < end && sys->col[e] < sys->nv;
  sys->b_entry = ga__alloc(sys->ctx, (size_t)sys->n_b, sizeof *sys->b_entry);
  sys->b_row = ga__alloc(sys->ctx, (size_t)sys->n_b, sizeof *sys->b_row);
  sys->b_col = ga__alloc(sys->ctx, (size_t)sys->n_b, sizeof *sys->b_col);
  if (!sys->b_entry || !sys->b_row || !sys->b_col) return ga__no_memory(sys->ctx, "the pattern of a system");
  int i = 0;
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->row[e] >= first && sys->row[e] < end && sys->col[e] < sys->nv) {
      sys->b_entry[i] = e;
      sys->b_row[i] = sys->row[e] - first;
      sys->b_col[i++] = sys->col[e];
    }
  return GA_OK;
}

static ga_status copy_clusters(ga_system *sys, const int *cluster)
{
  if (!cluster) return GA_OK;
  sys->cluster = ga__alloc(sys->ctx, (size_t)sys->nv, sizeof *sys->cluster);
  sys->light = ga__alloc(sys->ctx, (size_t)sys->nv, sizeof *sys->light);
  if (!sys->cluster || !sys->light) return ga__no_memory(sys->ctx, "a system");
  for (int i = 0; i < sys->nv; i++) {
    const int body = cluster[i] < 0 ? ~cluster[i] : cluster[i];
    if (body >= sys->nv)
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                        &(ga__facts){.kind = "system",
                                     .field = "cluster",
                                     .item = i + 1,
                                     .expected = "within its range",
                                     GA__NUMBERS({body, NULL}, {0, NULL}, {sys->nv - 1, NULL})});
    sys->cluster[i] = body;
    sys->light[i] = cluster[i] < 0;
  }
  return GA_OK;
}

static ga_status copy_scale(ga_system *sys, const double *scale)
{
  if (!scale) return GA_OK;
  sys->scale = ga__alloc(sys->ctx, (size_t)sys->nv, sizeof *sys->scale);
  if (!sys->scale) return ga__no_memory(sys->ctx, "a system");
  for (int i = 0; i < sys->nv; i++) {
    if (!(scale[i] >= 0.0) || isinf(scale[i]))
      return ga__refuse(sys->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                        &(ga__facts){.kind = "system",
                                     .field = "scale",
                                     .item = i + 1,
                                     .expected = "finite and not negative",
                                     GA__NUMBERS({scale[i], NULL})});
    sys->scale[i] = scale[i];
  }
  return GA_OK;
}

/* Representative of i's set (union-find with path halving). */
static int find_set(int *set, int i)
{
  while (set[i] != i) i = set[i] = set[set[i]];
  return i;
}

/* Velocities that appear in one constraint move together. */
static ga_status link_velocities(ga_system *sys)
{
  const int begin = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_X];
  int *first = ga__alloc(sys->ctx, (size_t)(end - begin), sizeof *first); /* of each row, 1 + its column */
  sys->linked = ga__alloc(sys->ctx, (size_t)sys->nv, sizeof *sys->linked);
  if (!first || !sys->linked) {
    ga__free(sys->ctx, first);
    return ga__no_memory(sys->ctx, "a system");
  }
  for (int i = 0; i < sys->nv; i++) sys->linked[i] = i;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e] - begin, col = sys->col[e];
    if (row < 0 || row >= end - begin || col >= sys->nv) continue;
    if (!first[row]) first[row] = 1 + col;
    sys->linked[find_set(sys->linked, col)] = find_set(sys->linked, first[row] - 1);
  }
  for (int i = 0; i < sys->nv; i++) sys->linked[i] = find_set(sys->linked, i);
  ga__free(sys->ctx, first);
  return GA_OK;
}

/* 1: M couples two bodies there. */
static int couples_bodies(const ga_system *sys, int e)
{
  return ga__has_mass(sys, e) && sys->cluster[sys->row[e]] != sys->cluster[sys->col[e]];
}

/* Bodies that M couples are parts of one continuum. */
static ga_status find_continua(ga_system *sys)
{
  int n = 0;
  for (int e = 0; sys->cluster && e < sys->n_entries; e++) n += couples_bodies(sys, e);
  if (n == 0) return GA_OK;
  int *first =
      ga__alloc(sys->ctx, 2 * (size_t)sys->nv, sizeof *first); /* of each cluster, 1 + its first velocity */
  int *set = sys->continuum = ga__alloc(sys->ctx, (size_t)sys->nv, sizeof *set);
  if (!first || !set) {
    ga__free(sys->ctx, first);
    return ga__no_memory(sys->ctx, "a system");
  }
  int *coupled = first + sys->nv; /* [nv] 1: this velocity, and all of its set, are */
  for (int i = 0; i < sys->nv; i++) {
    if (!first[sys->cluster[i]]) first[sys->cluster[i]] = 1 + i;
    set[i] = first[sys->cluster[i]] - 1;
  }
  for (int e = 0; e < sys->n_entries; e++)
    if (couples_bodies(sys, e))
      set[find_set(set, sys->col[e])] = find_set(set, sys->row[e]), coupled[sys->row[e]] = 1;
  for (int i = 0; i < sys->nv; i++) set[i] = find_set(set, i);
  for (int i = 0; i < sys->nv; i++)
    if (coupled[i]) coupled[set[i]] = 1;
  for (int i = 0; i < sys->nv; i++) first[i] = coupled[set[i]];
  for (int i = 0; i < sys->nv; i++)
    if (!first[i]) set[i] = -1;
  ga__free(sys->ctx, first);
  return GA_OK;
}

/* ---- Work space ---- */

static ga_status make_work(ga_system *sys)
{
  if (!sys->def.work_create) return GA_OK;
  const ga_status before = ga__begin_callback(sys->ctx);
  const ga_status status = sys->def.work_create(sys->given_user, sys->ctx, &sys->work);
  if (status && sys->ctx->error.status == GA_OK)
    return ga__refuse(sys->ctx, status, GA_REASON_CALLBACK,
                      &(ga__facts){.kind = "system", .callback = "work_create", .code = (int)status});
  if (sys->ctx->error.status == GA_OK) sys->ctx->error.status = before;
  if (!status) sys->def.user = sys->work;
  return status;
}

static void free_work(ga_system *sys)
{
  if (sys->work) sys->def.work_destroy(sys->work);
}

static ga_system *copy_of(ga_context *ctx, const ga_system *sys)
{
  ga_system *own = ga__alloc(ctx, 1, sizeof *own);
  if (!own) return NULL;
  *own = *sys;
  own->ctx = ctx;
  own->shared = sys->shared ? sys->shared : sys;
  own->work = NULL;
  own->def.user = own->given_user;
  return own;
}

ga_status ga__system_open(ga_context *ctx, const ga_system *sys, const ga_system **out)
{
  *out = NULL;
  ga_system *own = copy_of(ctx, sys);
  if (!own) return ga__no_memory(ctx, "a system's work space");
  const ga_status status = make_work(own);
  *out = own;
  if (status) ga__system_close(out);
  return status;
}

ga_status ga__system_with(ga_context *ctx, const ga_system *sys, void *user, ga_work_create_fn work_create,
                          ga_sweep_fn sweep, const ga_system **out)
{
  *out = NULL;
  ga_system *own = copy_of(ctx, sys);
  if (!own) return ga__no_memory(ctx, "a system's work space");
  own->given_user = own->def.user = user;
  own->def.work_create = work_create;
  own->def.sweep = sweep;
  const ga_status status = make_work(own);
  *out = own;
  if (status) ga__system_close(out);
  return status;
}

void *ga__system_work(const ga_system *sys)
{
  return sys->work;
}

void ga__system_close(const ga_system **sys)
{
  if (!*sys) return;
  ga_system *own = (ga_system *)*sys;
  free_work(own);
  ga__free(own->ctx, own);
  *sys = NULL;
}

static ga_status build(ga_system *sys, const ga_system_def *def)
{
  ga_status status = check_sizes(sys->ctx, def);
  if (status) return status;
  sys->def = *def;
  sys->given_user = def->user;
  status = ga_group_create(sys->ctx, def->n_factors, def->factors, &sys->group);
  if (status) return status;
  sys->nq = ga_group_nq(sys->group);
  sys->nv = ga_group_nv(sys->group);
  if ((status = set_sizes(sys))) return status;
  if ((status = check_callbacks(sys))) return status;
  if ((status = copy_pattern(sys))) return status;
  if ((status = copy_clusters(sys, def->cluster))) return status;
  if ((status = copy_scale(sys, def->scale))) return status;
  if (def->n_pattern > 0 && (status = check_unique(sys))) return status;
  sys->def.factors = NULL;
  sys->def.pattern_row = sys->def.pattern_col = sys->def.cluster = NULL;
  sys->def.pattern_in = NULL;
  if ((status = link_velocities(sys))) return status;
  if ((status = find_continua(sys))) return status;
  if ((status = list_b(sys))) return status;
  return make_work(sys);
}

ga_status ga_system_create(ga_context *ctx, const ga_system_def *def, ga_system **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !def) return ga__refuse_null(ctx, __func__, out ? "def" : "out");
  ga_system *sys = ga__alloc(ctx, 1, sizeof *sys);
  if (!sys) return ga__no_memory(ctx, "a system");
  sys->ctx = ctx;
  ga_status status = build(sys, def);
  if (status)
    ga_system_destroy(&sys);
  else
    *out = sys;
  return status;
}

void ga_system_destroy(ga_system **sys)
{
  if (!sys || !*sys) return;
  ga_context *ctx = (*sys)->ctx;
  free_work(*sys);
  ga_group_destroy(&(*sys)->group);
  ga__free(ctx, (*sys)->row);
  ga__free(ctx, (*sys)->col);
  ga__free(ctx, (*sys)->in);
  ga__free(ctx, (*sys)->cluster);
  ga__free(ctx, (*sys)->scale);
  ga__free(ctx, (*sys)->light);
  ga__free(ctx, (*sys)->linked);
  ga__free(ctx, (*sys)->continuum);
  ga__free(ctx, (*sys)->b_entry);
  ga__free(ctx, (*sys)->b_row);
  ga__free(ctx, (*sys)->b_col);
  ga__free(ctx, *sys);
  *sys = NULL;
}

const ga_group *ga_system_group(const ga_system *sys)
{
  if (!sys) return NULL;
  return sys->group;
}
int ga_system_n(const ga_system *sys)
{
  if (!sys) return 0;
  return sys->n;
}

int ga_system_size(const ga_system *sys, ga_equation_block block)
{
  if (!sys || (int)block < 0 || block > GA_BLOCK_ETA) return 0;
  return sys->size[block == GA_BLOCK_ETA ? GA_BLOCK_LAMBDA : block];
}

int ga_system_start(const ga_system *sys, ga_equation_block block)
{
  if (!sys || (int)block < 0 || block > GA_BLOCK_ETA) return 0;
  return block == GA_BLOCK_ETA ? sys->n : sys->start[block];
}

void ga_system_name(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size)
{
  if (!text || size == 0) return;
  text[0] = '\0';
  if (!sys || (int)block < 0 || block > GA_BLOCK_ETA) return;
  ga_equation_block asked = block == GA_BLOCK_ETA ? GA_BLOCK_LAMBDA : block;
  if (sys->def.name) sys->def.name(sys->def.user, asked, index, text, size);
  text[size - 1] = '\0';
  if (!text[0]) snprintf(text, size, "%s %d", EQUATION_NAME[block], index);
}

ga_equation_block ga__block_of(const ga_system *sys, int row, int *index)
{
  int b = GA_N_BLOCKS - 1;
  if (row >= sys->n) {
    *index = row - sys->n;
    return GA_BLOCK_ETA;
  }
  while (b > 0 && (sys->size[b] == 0 || row < sys->start[b])) b--;
  *index = row - sys->start[b];
  return (ga_equation_block)b;
}

/* 'name' (kind index) where the system names its equations, kind index otherwise. */
static void describe(const ga_system *sys, const char *const kind[], ga_equation_block block, int index,
                     char *text, size_t size)
{
  char name[128] = "";
  if (sys->def.name) ga_system_name(sys, block, index, name, sizeof name);
  if (name[0])
    snprintf(text, size, "'%s' (%s %d)", name, kind[block], index);
  else
    snprintf(text, size, "%s %d", kind[block], index);
}

void ga__describe(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size)
{
  describe(sys, EQUATION_NAME, block, index, text, size);
}

void ga__describe_unknown(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size)
{
  describe(sys, UNKNOWN_NAME, block, index, text, size);
}

int ga__first_bad(const double *a, int n)
{
  if (ga__all_finite(a, n)) return -1;
  int i = 0;
  while (isfinite(a[i])) i++;
  return i;
}

double ga__max_abs(const double *a, int n, int *where)
{
  const double largest = ga__largest(a, n);
  if (where) {
    *where = n > 0 ? 0 : -1;
    for (int i = 0; i < n && fabs(a[i]) < largest; i++) *where = i + 1 < n ? i + 1 : *where;
    if (!(largest == largest)) *where = ga__first_bad(a, n);
  }
  return largest;
}

ga_status ga__begin_callback(ga_context *ctx)
{
  const ga_status before = ctx->error.status;
  ctx->error.status = GA_OK;
  return before;
}

ga_status ga__end_callback(const ga_system *sys, const char *name, int block, double t, int code,
                           ga_status before)
{
  ga_context *ctx = sys->ctx;
  const int spoke = ctx->error.status != GA_OK;
  if (!spoke) ctx->error.status = before;
  if (code == 0) return GA_OK;
  const ga_status status = code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK;
  if (!spoke)
    return ga__refuse(
        ctx, status,
        code < 0        ? GA_REASON_CALLBACK
        : ctx->starting ? GA_REASON_CALLBACK_AT_START
                        : GA_REASON_CALLBACK_RETRY,
        &(ga__facts){.at = &(ga__fact_time){t, NAN, block, -1}, .callback = name, .code = code});
  ctx->error.status = status;
  ctx->error.t = t;
  ctx->error.block = block;
  ctx->error.index = -1;
  if (code > 0 && ctx->starting)
    return status; /* the callback's own error is complete; it does not depend on a step */
  ga__cut_text(ctx->error.callback, sizeof ctx->error.callback, name);
  ctx->error.code = code;
  return status;
}

ga_status ga__call(const ga_system *sys, ga__fn fn, const ga_point *p, double *out)
{
  char where[192];
  ga_equation_block block = FN[fn].block;
  int n = sys->size[block];
  if (n == 0) return GA_OK;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = field(&sys->def, fn)(sys->def.user, p, out);
  const ga_status status = ga__end_callback(sys, FN[fn].name, (int)block, p->t, code, before);
  if (status) return status;
  int bad = ga__first_bad(out, n);
  if (bad < 0) return GA_OK;
  ga__describe(sys, block, bad, where, sizeof where);
  return ga__refuse(sys->ctx, GA_RETRY_NAN,
                    sys->ctx->starting ? GA_REASON_NOT_FINITE_AT_START : GA_REASON_NOT_FINITE_IN_STEP,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, (int)block, bad},
                                 .equation = where,
                                 .callback = FN[fn].name,
                                 GA__NUMBERS({out[bad], NULL})});
}

static ga_status check_inner(const ga_system *sys, const char *callback, const ga_point *p, const double *n)
{
  const int bad = ga__first_bad(n, sys->def.n_inner);
  if (bad < 0) return GA_OK;
  char where[64];
  snprintf(where, sizeof where, "inner unknown %d", bad);
  return ga__refuse(sys->ctx, GA_RETRY_NAN, GA_REASON_NOT_FINITE_IN_STEP,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, -1, -1},
                                 .equation = where,
                                 .callback = callback,
                                 GA__NUMBERS({n[bad], NULL})});
}

ga_status ga__inner_values(const ga_system *sys, const ga_point *p, double *n)
{
  if (sys->def.n_inner == 0) return GA_OK;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.inner(sys->def.user, p, n);
  const ga_status status = ga__end_callback(sys, "inner", -1, p->t, code, before);
  return status ? status : check_inner(sys, "inner", p, n);
}

ga_status ga__inner_step(const ga_system *sys, const ga_point *p, const double *dq, double *dn)
{
  if (sys->def.n_inner == 0) return GA_OK;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.inner_step(sys->def.user, p, dq, dn);
  const ga_status status = ga__end_callback(sys, "inner_step", -1, p->t, code, before);
  return status ? status : check_inner(sys, "inner_step", p, dn);
}
