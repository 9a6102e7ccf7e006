/* The iteration matrices and their factors: plain ones and those with excluded constraints, each in up to
 * two forms; which of them are in use, and their rollback. */
#include "core/stepper.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* A smaller reciprocal condition causes a warning. */
#define NEARLY_SINGULAR 1e-12

/* ---- Matrices ---- */

static const ga__matrix *matrix_of(const ga__factors *f, const ga__factor_state *s)
{
  const ga__matrix *set = f->matrix[s->leaves_out];
  return set[s->choice.form].lu ? &set[s->choice.form] : &set[1 - s->choice.form];
}

ga__matrix *ga__matrix_in_use(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  return f->matrix[f->now.leaves_out] + (matrix_of(f, &f->now) - f->matrix[f->now.leaves_out]);
}

static void destroy_lu(ga__matrix *m)
{
  ga_lu_destroy(&m->lu);
  for (int i = 0; i < GA__MOST_FACTORS - 1; i++) ga_lu_destroy(&m->further[i]);
}

static void destroy_set(ga__matrix *set)
{
  for (int form = 0; form < GA__N_FORMS; form++) {
    destroy_lu(&set[form]);
    ga__assembly_destroy(&set[form].assembly);
    memset(&set[form], 0, sizeof set[form]);
  }
}

/* Numbers of the largest matrix of a set. */
static size_t size_of(const ga__matrix *set)
{
  int most = 0;
  for (int form = 0; form < GA__N_FORMS; form++)
    if (set[form].assembly.K && set[form].assembly.K->nnz > most) most = set[form].assembly.K->nnz;
  return (size_t)most;
}

/* Memory for one matrix, or for those of all stages twice. */
static ga_status create_kept(ga_stepper *st, int leaves_out)
{
  ga__factors *f = &st->factors;
  const size_t room = (f->stages > 1 ? 2 * (size_t)f->stages : 1) * size_of(f->matrix[leaves_out]);
  f->K_kept[leaves_out] = ga__alloc(st->ctx, room, sizeof(double));
  return f->K_kept[leaves_out] ? GA_OK : ga__no_memory(st->ctx, "an iteration matrix");
}

/* Plans all forms of the family, the cheapest first. */
static ga_status create_plans(ga_stepper *st, int leaves_out)
{
  ga__factors *f = &st->factors;
  ga_status status = GA_OK;
  for (int form = GA__N_FORMS - 1; !status && form >= 0; form--) {
    ga__layout layout = {0};
    ga__assembly *as = &f->matrix[leaves_out][form].assembly;
    status = st->family->layout(st, (ga__matrix_form)form, leaves_out, &layout);
    if (status || layout.n_rules == 0) continue;
    layout.leaves_out = leaves_out;
    status = ga__assembly_create(st->sys, &layout, st->opts.lu, as);
    if (!status) f->n = ga__assembly_unknowns(as); /* of the complete form, if there is one */
  }
  return status;
}

/* Threads for the stages of a method, if the system's callbacks can be called by several at a time. */
static ga_status create_helpers(ga_stepper *st, int leaves_out)
{
  ga__factors *f = &st->factors;
  const int nodes = f->stages - 1, n = (st->opts.threads < nodes ? st->opts.threads : nodes) - 1;
  if (leaves_out || n < 1 || !st->sys->def.work_create || !f->matrix[0][GA__COMPLETE].assembly.K)
    return GA_OK;
  return ga__helpers_create(st->ctx, st->sys, &f->matrix[0][GA__COMPLETE].assembly, n, &f->helpers);
}

/* Matrices with exclusions are made by one thread. */
static int thread_of(const ga__factors *f, int leaves_out, int stage)
{
  return leaves_out ? 0 : stage % (1 + ga__helpers_count(f->helpers));
}

static ga__assembly *assembly_of(ga__factors *f, int leaves_out, ga__matrix *m, int stage)
{
  const int who = thread_of(f, leaves_out, stage);
  return who > 0 ? ga__helpers_site(f->helpers, who)->assembly : &m->assembly;
}

int ga__stage_thread(const ga_stepper *st, int stage)
{
  return thread_of(&st->factors, st->factors.now.leaves_out, stage);
}

ga__assembly *ga__stage_assembly(ga_stepper *st, int stage)
{
  return assembly_of(&st->factors, st->factors.now.leaves_out, ga__matrix_in_use(st), stage);
}

static ga_status create_factors(ga_stepper *st, int leaves_out)
{
  ga__matrix *set = st->factors.matrix[leaves_out];
  const int stages = st->factors.stages = st->family->stages ? st->family->stages(st) : 1;
  ga_status status = create_helpers(st, leaves_out);
  for (int form = GA__N_FORMS - 1; !status && form >= 0; form--) {
    if (!set[form].assembly.K) continue;
    status = ga__assembly_lu(&set[form].assembly, st->opts.lu, &set[form].lu);
    for (int i = 0; !status && i < stages - 1; i++) {
      const ga__assembly *as = assembly_of(&st->factors, leaves_out, &set[form], i + 1);
      const int is_same = as == &set[form].assembly; /* no thread beside this one writes to it */
      if (is_same) status = ga__lu_create_like(set[form].lu, &set[form].further[i]);
      if (!status && !set[form].further[i]) status = ga__assembly_lu(as, st->opts.lu, &set[form].further[i]);
      if (status && !is_same) st->ctx->error = as->ctx->error;
    }
  }
  return status;
}

/* The matrices with excluded constraints. */
static ga_status create_leaving_out(ga_stepper *st)
{
  ga_status status = create_plans(st, 1);
  if (!status) status = create_factors(st, 1);
  if (!status) status = create_kept(st, 1);
  if (status) destroy_set(st->factors.matrix[1]);
  return status;
}

/* With more constraints than velocities the plain matrices are singular for any values. */
static int is_crowded(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  return sys->nv > 0 && sys->start[GA_BLOCK_X] > 2 * sys->nv && st->opts.redundant == GA_REDUNDANT_ACCEPT;
}

/* The plain matrices are singular by their pattern (`status`): tries those with excluded constraints. */
static ga_status create_without_plain(ga_stepper *st, ga_status status)
{
  const ga_system *sys = st->sys;
  const int m = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  const ga_error error = st->ctx->error;
  if (st->opts.redundant == GA_REDUNDANT_REFUSE || sys->nv == 0 || m == 0) return status;
  destroy_set(st->factors.matrix[0]);
  ga__helpers_destroy(&st->factors.helpers);
  ga__saddle_destroy(&st->saddle);
  status = create_leaving_out(st);
  if (!status) status = ga__saddle_create(sys, st->opts.lu, 1, &st->saddle);
  if (status == GA_ERR_SINGULAR) st->ctx->error = error;
  st->red.plain_refused = 1;
  return status;
}

static ga_status refuse_crowd(const ga_stepper *st, int block, int index)
{
  const ga_system *sys = st->sys;
  return ga__refuse(st->ctx, GA_ERR_SINGULAR, GA_REASON_TOO_MANY_CONSTRAINTS,
                    &(ga__facts){.at = &(ga__fact_time){NAN, NAN, block, index},
                                 .kind = "system",
                                 GA__NUMBERS({sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI], NULL},
                                             {sys->nv, NULL})});
}

/* The reduced form is of no use if it takes as much memory, hence as many operations, as the complete one:
 * where many constraints meet in one body its η are all coupled, which an expanded matrix avoids. */
static void drop_needless(ga__matrix *set)
{
  ga__matrix *reduced = &set[GA__REDUCED];
  const ga_lu_info *all = ga_lu_get_info(set[GA__COMPLETE].lu), *fewer = ga_lu_get_info(reduced->lu);
  if (!all || !fewer || fewer->n_fill < all->n_fill) return;
  ga_lu_destroy(&reduced->lu);
  ga__assembly_destroy(&reduced->assembly);
  memset(reduced, 0, sizeof *reduced);
}

static ga_status create_plain(ga_stepper *st)
{
  if (is_crowded(st)) return refuse_crowd(st, -1, -1);
  ga_status status = create_plans(st, 0);
  if (!status && !st->saddle.lu) status = ga__saddle_create(st->sys, st->opts.lu, 0, &st->saddle);
  if (!status) status = create_factors(st, 0);
  if (!status && st->family->form_by_convergence) drop_needless(st->factors.matrix[0]);
  if (!status) status = create_kept(st, 0);
  return ga__name_column(st, status);
}

static void begin_with_reduced(ga__factors *f)
{
  f->now.choice = (ga__choice){f->matrix[0][GA__REDUCED].lu || f->matrix[1][GA__REDUCED].lu, 0, 0, 0};
}

ga_status ga__factors_create(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  if (f->made) return GA_OK;
  ga_status status = st->red.plain_refused ? create_leaving_out(st) : create_plain(st);
  if (status == GA_ERR_SINGULAR && !st->red.plain_refused) status = create_without_plain(st, status);
  f->by_convergence =
      st->family->form_by_convergence && f->matrix[0][GA__COMPLETE].lu && f->matrix[0][GA__REDUCED].lu;
  begin_with_reduced(f);
  f->made = !status;
  if (status) ga__factors_destroy(st);
  return status;
}

void ga__factors_destroy(ga_stepper *st)
{
  for (int leaves_out = 0; leaves_out < 2; leaves_out++)
    for (int form = 0; form < GA__N_FORMS; form++)
      destroy_lu(&st->factors.matrix[leaves_out][form]); /* those of threads use their memory */
  ga__helpers_destroy(&st->factors.helpers);
  for (int leaves_out = 0; leaves_out < 2; leaves_out++) destroy_set(st->factors.matrix[leaves_out]);
  for (int leaves_out = 0; leaves_out < 2; leaves_out++) {
    ga__free(st->ctx, st->factors.K_kept[leaves_out]);
    st->factors.K_kept[leaves_out] = NULL;
  }
  st->factors.made = 0;
}

ga_status ga__factors_for_relations(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  const ga__null *null = &st->red.null, *null_b = &st->red.null_eta;
  const int leaves_out = null->r > 0 || null_b->r > 0;
  if (!leaves_out && st->red.plain_refused)
    return ga__refuse(st->ctx, GA_ERR_SINGULAR, GA_REASON_PATTERN_RANK,
                      &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, -1, -1}});
  if (st->provisional) return GA_OK;
  if (f->now.leaves_out == leaves_out &&
      ga__assembly_leaves_out(&ga__matrix_in_use(st)->assembly, null, null_b))
    return GA_OK;
  ga__factors_drop(st);
  f->now.version++;
  const int there = f->matrix[leaves_out][GA__COMPLETE].lu || f->matrix[leaves_out][GA__REDUCED].lu;
  ga_status status = there ? GA_OK : create_leaving_out(st);
  if (!status) f->now.leaves_out = leaves_out;
  return ga__name_column(st, status);
}

/* ---- Factors ---- */

void ga__factors_drop(ga_stepper *st)
{
  st->factors.now.valid = st->factors.restore = 0;
}

/* The unknown of a column, in words. */
static ga_equation_block describe_column(ga_stepper *st, int column, int *index, char *text, size_t size)
{
  const ga__assembly *as = &ga__matrix_in_use(st)->assembly;
  if (as->K) column = ga__assembly_unknown_of(as, column);
  const ga_equation_block block = ga__block_of(st->sys, st->family->row_of(st, column), index);
  ga__describe_unknown(st->sys, block, *index, text, size);
  return block;
}

static ga_status fail_singular(ga_stepper *st, const ga_lu *lu)
{
  char what[192];
  int index;
  const ga_equation_block block =
      describe_column(st, ga_lu_get_info(lu)->weak_column, &index, what, sizeof what);
  return ga__refuse(st->ctx, GA_RETRY_SINGULAR, GA_REASON_SINGULAR_STEP,
                    &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], st->h, (int)block, index},
                                 .equation = what});
}

ga_status ga__name_column(ga_stepper *st, ga_status status)
{
  const ga_system *sys = st->sys;
  if (status != GA_ERR_SINGULAR || sys->ctx->error.index < 0) return status;
  char what[192];
  int index;
  const ga_equation_block block = describe_column(st, sys->ctx->error.index, &index, what, sizeof what);
  if (sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] > sys->nv)
    return refuse_crowd(st, (int)block, index);
  return ga__refuse(
      sys->ctx, status, GA_REASON_NO_PIVOT,
      &(ga__facts){.at = &(ga__fact_time){NAN, NAN, (int)block, index}, .kind = "system", .equation = what});
}

/* Warns once that the iteration matrix is nearly singular, with the weakest unknown. */
static void warn_nearly_singular(ga_stepper *st, const ga_lu *lu)
{
  const ga_lu_info *info = ga_lu_get_info(lu);
  if (st->warned || !(info->rcond < NEARLY_SINGULAR) || info->weak_column < 0) return;
  char name[192];
  int index;
  describe_column(st, info->weak_column, &index, name, sizeof name);
  ga__log(st->ctx, GA_LOG_WARNING, GA_REASON_NEARLY_SINGULAR,
          &(ga__facts){.at = &(ga__fact_time){st->next.scalar[GA__T], NAN, -1, -1},
                       .equation = name,
                       GA__NUMBERS({info->rcond, NULL})});
  st->warned = 1;
}

ga_lu *ga__stage_factors(const ga__matrix *m, int stage)
{
  return stage == 0 ? m->lu : m->further[stage - 1];
}

static void take_factors(ga_stepper *st, const ga_lu *lu)
{
  ga__factors *f = &st->factors;
  warn_nearly_singular(st, lu);
  f->now.valid = 1;
  f->worn = f->now.age = 0;
  f->now.h = st->h;
}

ga_status ga__factor_stage(ga_stepper *st, int stage)
{
  ga__factors *f = &st->factors;
  ga__matrix *m = ga__matrix_in_use(st);
  ga_lu *lu = ga__stage_factors(m, stage);
  ga__factors_drop(st);
  f->now.rate = 0.0;
  st->stats.factorisations++;
  double from = ga__seconds(st);
  ga__lu_decouple(lu, m->assembly.n_left_out, m->assembly.left_out_column);
  ga_status status = ga_lu_factor(lu);
  st->stats.time_factor += ga__seconds(st) - from;
  st->stats.rcond = ga_lu_get_info(lu)->rcond;
  if (status == GA_RETRY_SINGULAR) return fail_singular(st, lu);
  if (!status) take_factors(st, lu);
  return status;
}

void ga__factors_count(ga_stepper *st, int stage)
{
  ga_lu *lu = ga__stage_factors(ga__matrix_in_use(st), stage);
  ga__factors_drop(st);
  st->factors.now.rate = 0.0;
  st->stats.factorisations++;
  st->stats.rcond = ga_lu_get_info(lu)->rcond;
  take_factors(st, lu);
}

ga_status ga__factor(ga_stepper *st)
{
  return ga__factor_stage(st, 0);
}

/* ---- Rollback ----
 * The same matrix gives the same factors, so that what follows on a step taken back is what would have
 * followed without it: the values of the matrix that a step begins with are kept when it renews them, and
 * factored again where the next step uses them. */

enum { N_LU = 2 * GA__N_FORMS * GA__MOST_FACTORS + 2 };

static void list_lu(ga_stepper *st, ga_lu *lu[N_LU])
{
  int n = 0;
  for (int leaves_out = 0; leaves_out < 2; leaves_out++)
    for (int form = 0; form < GA__N_FORMS; form++)
      for (int stage = 0; stage < GA__MOST_FACTORS; stage++)
        lu[n++] = ga__stage_factors(&st->factors.matrix[leaves_out][form], stage);
  lu[n++] = st->saddle.lu;
  lu[n] = st->other_saddle.lu;
}

void ga__factors_keep(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  ga_lu *lu[N_LU];
  f->kept = f->now;
  f->kept.valid = f->now.valid && !f->worn;
  f->renewed = 0;
  list_lu(st, lu);
  for (int i = 0; i < N_LU; i++) ga__lu_mark(lu[i]);
}

/* One of two places of a stage in K_kept. */
static double *stage_values(const ga__factors *f, int slot, int stage)
{
  const int leaves_out = f->now.leaves_out;
  return f->K_kept[leaves_out] + (size_t)(slot * f->stages + stage) * size_of(f->matrix[leaves_out]);
}

void ga__factors_open_stage(ga_stepper *st, int stage)
{
  const ga__factors *f = &st->factors;
  ga__assembly_place(ga__stage_assembly(st, stage), stage_values(f, !f->kept.slot[stage], stage));
}

void ga__factors_save_matrix(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  if (f->renewed || !f->kept.valid || st->opts.newton.reuse != GA_REUSE) return;
  const ga_sparse *K = matrix_of(f, &f->kept)->assembly.K;
  if (f->stages == 1 && !f->restore) /* otherwise K_kept still has it, and K is that of a step taken back */
    memcpy(f->K_kept[f->kept.leaves_out], K->value, (size_t)K->nnz * sizeof(double));
  f->renewed = 1;
}

void ga__factors_save_stage(ga_stepper *st, int stage)
{
  ga__factors *f = &st->factors;
  f->now.slot[stage] = !f->kept.slot[stage];
}

/* After a step that failed with the reduced form, the next one does not begin with it. */
void ga__factors_restore(ga_stepper *st, int failed)
{
  ga__factors *f = &st->factors;
  const ga__choice found = f->now.choice;
  const int given_up = failed && f->kept.choice.form == GA__REDUCED && found.form == GA__COMPLETE;
  const int version = f->now.version, there = !f->kept.leaves_out || f->kept.version == version;
  f->now = f->kept;
  f->now.version = version;
  if (given_up) f->now.choice = found;
  f->now.valid = f->kept.valid && !given_up && there;
  f->worn = st->red.valid = 0;
  f->restore = f->renewed && f->now.valid;
  f->renewed = 0;
  ga_lu *lu[N_LU];
  list_lu(st, lu);
  for (int i = 0; i < N_LU; i++) ga__lu_rollback(lu[i]);
  st->saddle.known = st->other_saddle.known = 0;
}

ga_status ga__factors_refactor(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  if (!f->restore) return GA_OK;
  ga__matrix *m = ga__matrix_in_use(st);
  const ga_sparse *K = m->assembly.K;
  ga_status status = GA_OK;
  f->restore = 0;
  for (int stage = 0; !status && stage < (f->stages > 1 ? f->now.n_stages : 1); stage++) {
    if (f->stages > 1)
      ga__assembly_place(ga__stage_assembly(st, stage), stage_values(f, f->now.slot[stage], stage));
    else
      memcpy(K->value, f->K_kept[f->now.leaves_out], (size_t)K->nnz * sizeof(double));
    st->stats.factorisations++;
    status = ga_lu_factor(ga__stage_factors(m, stage));
  }
  return status;
}

static int stages_kept(const ga__factors *f)
{
  return f->stages > 1 ? f->now.n_stages : 1;
}

/* Those with excluded constraints belong to relations that the other stepper has not found. */
size_t ga__factors_count_values(const ga_stepper *st)
{
  const ga__factors *f = &st->factors;
  if (!f->now.valid || f->restore || f->now.leaves_out) return 0;
  return (size_t)stages_kept(f) * (size_t)matrix_of(f, &f->now)->assembly.K->nnz;
}

void ga__factors_save(const ga_stepper *st, double *value)
{
  const ga__factors *f = &st->factors;
  const int stages = stages_kept(f);
  const size_t nnz = ga__factors_count_values(st) / (size_t)stages;
  const ga_sparse *K = matrix_of(f, &f->now)->assembly.K;
  for (int stage = 0; stage < stages; stage++)
    memcpy(value + (size_t)stage * nnz, f->stages > 1 ? stage_values(f, f->now.slot[stage], stage) : K->value,
           nnz * sizeof *value);
}

void ga__factors_load(ga_stepper *st, const ga__factor_state *state, const double *value)
{
  ga__factors *f = &st->factors;
  const int version = f->now.version, leaves_out = f->now.leaves_out;
  f->now = *state;
  f->now.version = version;
  f->now.leaves_out = leaves_out;
  f->now.valid = f->restore = value != NULL;
  f->worn = 0;
  memset(f->now.slot, 0, sizeof f->now.slot);
  if (!value) return;
  f->now.leaves_out = 0;
  const size_t nnz = (size_t)ga__matrix_in_use(st)->assembly.K->nnz;
  for (int stage = 0; stage < stages_kept(f); stage++)
    memcpy(stage_values(f, f->now.slot[stage], stage), value + (size_t)stage * nnz, nnz * sizeof *value);
}

void ga__factors_forget(ga_stepper *st)
{
  ga__factors *f = &st->factors;
  ga_lu *lu[N_LU];
  f->now = (ga__factor_state){.h = f->now.h, .leaves_out = f->now.leaves_out, .version = f->now.version};
  begin_with_reduced(f);
  f->worn = f->restore = 0;
  list_lu(st, lu);
  for (int i = 0; i < N_LU; i++) ga__lu_forget(lu[i]);
}
