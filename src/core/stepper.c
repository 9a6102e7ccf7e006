/* The stepper: memory, one step, and what surrounds it. */
#include "core/core_impl.h"
#include "core/work.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* At tolerances up to TIGHT_TOL, the default, positions and velocities are asked for TIGHTER times more
 * accurately than accelerations, which keeps the constraints at the level of rounding; above it, less and
 * less. */
#define TIGHTER 1e4
#define TIGHT_TOL 1e-10

ga_stepper_opts ga_stepper_defaults(void)
{
  ga_stepper_opts o;
  memset(&o, 0, sizeof o);
  o.method = GA_STABILIZED;
  ga_scheme_rho(NULL, 0.8, &o.scheme); /* cannot fail */
  o.commutator = 1;
  o.move_offset = 1;
  o.newton.tol = 1e-10;
  o.newton.max_iterations = 12;
  o.newton.reuse = GA_REUSE;
  o.newton.patience = 4;
  o.newton.predictor = GA_PREDICT_AUTO;
  o.lu = GA_LU_AUTO;
  return o;
}

/* ---- Creation ---- */

static ga_status check_opts(ga_context *ctx, const ga_stepper_opts *o)
{
  const ga_newton_opts *n = &o->newton;
  if (o->adjust < GA_ADJUST_SHIFT || o->adjust > GA_ADJUST_NONE)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: there is no adjustment %d", (int)o->adjust);
  if (o->adjust == GA_ADJUST_GAMMA && o->method > GA_STABILIZED)
    return ga__fail(ctx, GA_ERR_ARGUMENT,
                    "stepper: GA_ADJUST_GAMMA is for GA_INDEX3 and GA_STABILIZED; the weighted methods take "
                    "GA_ADJUST_SHIFT");
  if (o->method < GA_INDEX3 || o->method > GA_HHT_SOI2)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: there is no method %d", (int)o->method);
  if (!(n->tol > 0.0 && n->tol < 1.0))
    return ga__fail(ctx, GA_ERR_ARGUMENT,
                    "stepper: newton.tol is %g; it must lie between 0 and 1, 1e-10 is usual", n->tol);
  if (n->max_iterations < 1)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: newton.max_iterations is %d; it must be at least 1",
                    n->max_iterations);
  if (n->predictor < GA_PREDICT_CONSTANT || n->predictor > GA_PREDICT_AUTO)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: there is no predictor %d", (int)n->predictor);
  if (o->redundant != GA_REDUNDANT_ACCEPT && o->redundant != GA_REDUNDANT_REFUSE)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: there is no such way with redundant constraints as %d",
                    (int)o->redundant);
  if (n->patience < 0)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "stepper: newton.patience is %d; it must not be negative",
                    n->patience);
  return o->allow_any_scheme ? GA_OK : ga_scheme_check(ctx, &o->scheme);
}

/* Arrays of a state, in the order of the block: where, and how long. */
static ga_status full_create(ga_stepper *st, ga__full *f)
{
  const ga_system *sys = st->sys;
  int weighted = st->family == &ga__weighted;
  const int *n = sys->size, nv = sys->nv, nl = n[GA_BLOCK_LAMBDA], np = n[GA_BLOCK_PSI], nx = n[GA_BLOCK_X],
            ny = n[GA_BLOCK_Y];
  struct {
    double **array;
    int length;
  } part[] = {{&f->q, sys->nq},
              {&f->v, nv},
              {&f->vdot, nv},
              {&f->a, nv},
              {&f->lambda, nl},
              {&f->psi, np},
              {&f->eta, nl},
              {&f->x, nx},
              {&f->xdot, nx},
              {&f->w, nx},
              {&f->y, ny},
              {&f->a_prev, nv},
              {&f->lambda_prev, nl},
              {&f->psi_prev, np},
              {&f->w_prev, nx},
              {&f->eta_prev, nl},
              {&f->y_prev, ny},
              {&f->a_prev2, nv},
              {&f->lambda_prev2, nl},
              {&f->psi_prev2, np},
              {&f->eta_prev2, nl},
              {&f->w_prev2, nx},
              {&f->y_prev2, ny},
              {&f->vdot_prev, nv},
              {&f->xdot_prev, nx},
              {&f->vdot_prev2, nv},
              {&f->xdot_prev2, nx},
              {&f->ma, weighted ? nv : 0},
              {&f->ma_prev, weighted ? nv : 0},
              {&f->scalar, GA__N_SCALARS}};
  size_t total = 0, count = sizeof part / sizeof *part;
  for (size_t i = 0; i < count; i++) total += (size_t)part[i].length;
  f->block = ga__alloc(st->ctx, total, sizeof(double));
  if (!f->block) return ga__no_memory(st->ctx, "a stepper's state");
  double *at = f->block;
  for (size_t i = 0; i < count; i++) {
    *part[i].array = at;
    at += part[i].length;
  }
  st->full_length = total;
  return GA_OK;
}

/* Work arrays, all in one arena. */
static ga_status work_create(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  size_t nl = (size_t)sys->size[GA_BLOCK_LAMBDA], np = (size_t)sys->size[GA_BLOCK_PSI];
  size_t entries = (size_t)sys->n_entries, nv = (size_t)sys->nv;
  size_t n = (size_t)st->assembly.n;
  size_t nx = (size_t)sys->size[GA_BLOCK_X], blocks = (size_t)ga_group_blocks_length(sys->group);
  size_t weighted = st->family == &ga__weighted, kept = (size_t)st->assembly.K->nnz;
  if (st->cheap_assembly.K && (size_t)st->cheap_assembly.K->nnz > kept)
    kept = (size_t)st->cheap_assembly.K->nnz;
  if (st->chooses_terms && (size_t)st->spare_assembly.K->nnz > kept) kept = (size_t)st->spare_assembly.K->nnz;
  struct {
    double **array;
    size_t length;
  } part[] = {{&st->D, entries},
              {&st->Q, entries},
              {&st->G, entries},
              {&st->B_n, (size_t)sys->n_b + 1},
              {&st->a_n, nv},
              {&st->w_n, nx},
              {&st->p, nv},
              {&st->px, nx},
              {&st->exponent, nv},
              {&st->T, blocks},
              {&st->TA, blocks},
              {&st->r, n},
              {&st->tmp, n},
              {&st->slope, nv},
              {&st->jerk_v, nv},
              {&st->jerk_x, nx},
              {&st->jerk_lambda, nl},
              {&st->jerk_psi, np},
              {&st->jerk_y, (size_t)sys->size[GA_BLOCK_Y]},
              {&st->offset, nl},
              {&st->solve, n},
              {&st->pt, weighted * nv},
              {&st->lambda_t, weighted * nl},
              {&st->psi_t, weighted * np},
              {&st->v_t, weighted * nv},
              {&st->f0, weighted * nv},
              {&st->ma_n, weighted * nv},
              {&st->q_mass, weighted * (size_t)sys->nq},
              {&st->M, weighted * entries},
              {&st->u, weighted * nv},
              {&st->zero, weighted * nv},
              {&st->v_moved, nv},
              {&st->est_q, nv},
              {&st->est_v, nv},
              {&st->est_x, nx},
              {&st->est_all, nv},
              {&st->probe_d, nv},
              {&st->probe_q, (size_t)sys->nq},
              {&st->probe_u, nv},
              {&st->probe_y, 2 * (size_t)sys->size[GA_BLOCK_Y]},
              {&st->probe_f, 2 * nv},
              {&st->probe_k, 7 * nv},
              {&st->probe_w, nv},
              {&st->K_kept, kept},
              {&st->begin_q, (size_t)sys->nq},
              {&st->begin_v, nv},
              {&st->begin_x, nx},
              {&st->begin_lambda, nl},
              {&st->begin_psi, np},
              {&st->begin_y, (size_t)sys->size[GA_BLOCK_Y]},
              {&st->tmp_y, (size_t)sys->size[GA_BLOCK_Y]}};
  size_t total = 0, count = sizeof part / sizeof *part;
  for (size_t i = 0; i < count; i++) total += part[i].length;
  ga_status status = ga__arena_create(st->ctx, total, &st->arena);
  for (size_t i = 0; !status && i < count; i++) *part[i].array = ga__arena_take(&st->arena, part[i].length);
  return status;
}

/* With more constraints than velocities the plain matrices are singular whatever the values. */
static int is_crowded(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  return sys->nv > 0 && sys->start[GA_BLOCK_X] > 2 * sys->nv && st->opts.redundant == GA_REDUNDANT_ACCEPT;
}

/* Matrices and their factors: the family's own, and that of starts and projections. */
static ga_status matrices_create(ga_stepper *st)
{
  ga__terms_begin(st);
  ga__layout layout = st->family->layout(st);
  ga_status status = ga__assembly_create(st->sys, &layout, st->opts.lu, &st->assembly);
  if (!status && st->may_be_cheap) {
    layout = ga__cheap_layout(st);
    status = ga__assembly_create(st->sys, &layout, st->opts.lu, &st->cheap_assembly);
  }
  if (!status && is_crowded(st))
    return ga__without_plain(st,
                             ga__fail(st->ctx, GA_ERR_SINGULAR, "system: %d constraints act on %d velocities",
                                      st->sys->start[GA_BLOCK_X] - st->sys->nv, st->sys->nv));
  if (!status) status = ga__saddle_create(st->sys, st->opts.lu, 0, &st->saddle);
  if (!status) status = ga__assembly_lu(&st->assembly, st->opts.lu, &st->lu);
  if (!status && st->may_be_cheap) status = ga__assembly_lu(&st->cheap_assembly, st->opts.lu, &st->cheap_lu);
  if (!status) status = ga__terms_create(st);
  status = ga__name_column(st, status);
  return status == GA_ERR_SINGULAR ? ga__without_plain(st, status) : status;
}

/* What a method needs of the system beyond the checks of the start. */
static ga_status check_method(const ga_stepper *st)
{
  if (st->opts.method == GA_HHT_SOI2 && st->sys->size[GA_BLOCK_PSI] > 0)
    return ga__fail(
        st->ctx, GA_ERR_ARGUMENT,
        "stepper: GA_HHT_SOI2 is for holonomic constraints only, this system has %d nonholonomic ones; take "
        "GA_SOI2",
        st->sys->size[GA_BLOCK_PSI]);
  return GA_OK;
}

static ga_status build(ga_stepper *st)
{
  const ga_scheme *s = &st->opts.scheme;
  ga_status status;
  st->c1 = (1.0 - s->alpha_m) / (s->beta * (1.0 - s->alpha_f));
  st->c2 = s->gamma / s->beta;
  st->d1 = (1.0 - s->delta_m) / (s->theta * (1.0 - s->delta_f));
  st->tighter = fmax(1.0, TIGHTER * fmin(1.0, TIGHT_TOL / st->opts.newton.tol));
  st->alpha = s->alpha_m - s->alpha_f;
  st->stabilized = st->opts.method == GA_STABILIZED && st->sys->size[GA_BLOCK_LAMBDA] > 0;
  st->two_sets = st->opts.method == GA_SOI2 || st->opts.method == GA_HHT_SOI2;
  st->may_be_cheap = st->two_sets && !st->opts.full_solve && st->sys->n == st->sys->start[GA_BLOCK_X];
  st->cheap = st->may_be_cheap;
  st->commutes = st->opts.commutator && ga_group_n_blocks(st->sys->group) > 0;
  if ((status = check_method(st))) return status;
  if ((status = full_create(st, &st->now))) return status;
  if ((status = full_create(st, &st->next))) return status;
  if ((status = ga__deriv_create(st->sys, &st->deriv))) return status;
  if ((status = ga__redundant_create(st))) return status;
  if ((status = matrices_create(st))) return status;
  st->stats.difference_groups = st->deriv.n_colours;
  return work_create(st);
}

ga_status ga_stepper_create(ga_context *ctx, const ga_system *sys, const ga_stepper_opts *opts,
                            ga_stepper **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !sys)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "ga_stepper_create: %s is NULL", out ? "sys" : "out");
  ga_stepper_opts o = opts ? *opts : ga_stepper_defaults();
  ga_status status = check_opts(ctx, &o);
  if (status) return status;
  ga_stepper *st = ga__alloc(ctx, 1, sizeof *st);
  if (!st) return ga__no_memory(ctx, "a stepper");
  st->ctx = ctx;
  st->opts = o;
  st->family = o.method == GA_INDEX3 || o.method == GA_STABILIZED ? &ga__exact : &ga__weighted;
  status = ga__system_open(ctx, sys, &st->sys);
  if (!status) status = build(st);
  if (status)
    ga_stepper_destroy(&st);
  else
    *out = st;
  return status;
}

void ga_stepper_destroy(ga_stepper **st)
{
  if (!st || !*st) return;
  ga_stepper *s = *st;
  ga_context *ctx = s->ctx;
  ga__redundant_destroy(s);
  ga_lu_destroy(&s->lu);
  ga_lu_destroy(&s->cheap_lu);
  ga__terms_destroy(s);
  ga__assembly_destroy(&s->cheap_assembly);
  ga__saddle_destroy(&s->saddle);
  ga__assembly_destroy(&s->assembly);
  ga__deriv_destroy(&s->deriv);
  ga__arena_destroy(ctx, &s->arena);
  ga__free(ctx, s->now.block);
  ga__free(ctx, s->next.block);
  ga__system_close(&s->sys);
  ga__free(ctx, s);
  *st = NULL;
}

/* ---- One step ---- */

void ga__full_copy(ga_stepper *st, ga__full *to, const ga__full *from)
{
  memcpy(to->block, from->block, st->full_length * sizeof(double));
}

void ga__show(ga_stepper *st)
{
  const ga__full *f = &st->now;
  st->view = (ga_state){f->scalar[GA__T], f->q,   f->v, f->vdot, f->a, f->lambda,
                        f->psi,           f->eta, f->x, f->xdot, f->w, f->y};
}

static ga_status check_step(ga_stepper *st, double h)
{
  if (!st->has_state)
    return ga__fail(st->ctx, GA_ERR_ORDER,
                    "ga_stepper_step: the stepper has no state yet; call ga_stepper_start() first");
  double t = st->now.scalar[GA__T];
  if (!(h > 0.0 && isfinite(h)))
    return ga__fail_at(st->ctx, GA_ERR_ARGUMENT, t, -1, -1,
                       "t = %.9g: the step size is %g; it must be positive", t, h);
  if (t + h == t)
    return ga__fail_at(st->ctx, GA_ERR_ARGUMENT, t, -1, -1,
                       "t = %.9g: the step size %g is too small to change the time", t, h);
  return GA_OK;
}

/* The state computed becomes the present one, and the other way round. */
static void exchange(ga_stepper *st)
{
  ga__full other = st->next;
  st->next = st->now;
  st->now = other;
  st->b_valid = 0;
  ga__show(st);
}

ga_status ga_stepper_step(ga_stepper *st, double h)
{
  if (!st) return GA_ERR_ARGUMENT;
  ga_status status = check_step(st, h);
  if (!status) status = ga__ready_matrices(st);
  if (status) return status;
  int relations = st->red.null.r;
  ga__keep_factors(st);
  st->can_undo = 0;
  st->tried = GA__ACCEPTED;
  if ((status = ga__solve_step(st, h))) { /* `now` was never touched */
    st->stats.failed_steps++;
    ga__restore_factors(st, 1);
    ga__failure_keep(st, status);
    return status;
  }
  ga__judge_predictor(st);
  exchange(st);
  st->can_undo = st->red.valid = 1;
  st->stats.steps++;
  st->stats.redundant = st->red.null.r;
  ga__log_relations(st, st->now.scalar[GA__T], relations);
  return GA_OK;
}

ga_status ga_stepper_undo(ga_stepper *st)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo)
    return ga__fail(st->ctx, GA_ERR_ORDER, "ga_stepper_undo: only a step just made can be taken back");
  exchange(st);
  ga__restore_factors(st, 0);
  st->can_undo = 0;
  st->tried = GA__TAKEN_BACK;
  st->stats.steps--;
  st->stats.redundant = (int)st->now.scalar[GA__REDUNDANT];
  return GA_OK;
}

/* Of values that have been kept one step before. */
static void go_on(double *to, const double *from, const double *before, int n, double part)
{
  for (int i = 0; i < n; i++) to[i] = from[i] + (part != 0.0 ? part * (from[i] - before[i]) : 0.0);
}

void ga__move_on(const ga_stepper *st, double gap, ga__full *to)
{
  const ga_system *sys = st->sys;
  const ga__full *n = &st->now;
  const double h = n->scalar[GA__H_OLD], part = h > 0.0 && gap <= h ? gap / h : 0.0;
  go_on(to->vdot, n->vdot, n->vdot_prev, sys->nv, part);
  go_on(to->xdot, n->xdot, n->xdot_prev, sys->size[GA_BLOCK_X], part);
  go_on(to->lambda, n->lambda, n->lambda_prev, sys->size[GA_BLOCK_LAMBDA], part);
  go_on(to->psi, n->psi, n->psi_prev, sys->size[GA_BLOCK_PSI], part);
  go_on(to->y, n->y, n->y_prev, sys->size[GA_BLOCK_Y], part);
  for (int i = 0; i < sys->nv; i++) { /* ∫ and ∫∫ of vdot, which goes on linearly */
    const double change = to->vdot[i] - n->vdot[i];
    st->exponent[i] = gap * (n->v[i] + gap * (0.5 * n->vdot[i] + change / 6.0));
    to->v[i] = n->v[i] + gap * (n->vdot[i] + 0.5 * change);
  }
  ga_group_move(sys->group, to->q, n->q, st->exponent);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) to->x[i] = n->x[i] + 0.5 * gap * (n->xdot[i] + to->xdot[i]);
  to->scalar[GA__T] = n->scalar[GA__T] + gap;
}

void ga__hop(ga_stepper *st, double gap)
{
  ga__keep_factors(st);
  ga__full_copy(st, &st->next, &st->now);
  ga__move_on(st, gap, &st->next);
  st->next.scalar[GA__H_OLD2] = st->now.scalar[GA__H_OLD];
  st->next.scalar[GA__HAD_JERK] = st->now.scalar[GA__HAS_JERK];
  st->next.scalar[GA__H_OLD] = gap;
  exchange(st);
  st->can_undo = 1;
  st->stats.steps++;
}

ga_status ga_stepper_run(ga_stepper *st, double h, long n, ga_observer_fn observer, void *user)
{
  if (!st) return GA_ERR_ARGUMENT;
  ga_status status = check_step(st, h);
  if (status) return status;
  if (n < 0) return ga__fail(st->ctx, GA_ERR_ARGUMENT, "ga_stepper_run: the number of steps is %ld", n);
  if (observer && observer(user, st)) return GA_STOPPED;
  for (long i = 0; i < n; i++) {
    if ((status = ga_stepper_step(st, h))) return status;
    if (observer && observer(user, st)) return GA_STOPPED;
  }
  return GA_OK;
}

/* ---- Looking at it, saving it ---- */

/* Nothing that later steps depend on may be left but the state itself. */
void ga__forget_factors(ga_stepper *st)
{
  st->have_factors = st->worn = st->restore = st->age = st->fresh_steps = st->cheap_wait = st->can_undo = 0;
  st->cheap = st->may_be_cheap;
  if (st->chooses_terms) ga__terms_restore(st, &(ga__terms){0, 0, 0, 0});
  st->tried = GA__ACCEPTED;
  st->rate = 0.0;
  st->red.valid = 0;
  ga_lu *const lu[] = {st->lu,       st->cheap_lu,       st->saddle.lu,      st->spare_lu,
                       st->other.lu, st->other.cheap_lu, st->other_saddle.lu};
  for (size_t i = 0; i < sizeof lu / sizeof *lu; i++) ga__lu_forget(lu[i]);
}

const ga_state *ga_stepper_state(const ga_stepper *st)
{
  return st && st->has_state ? &st->view : NULL;
}
const ga_stats *ga_stepper_stats(const ga_stepper *st)
{
  return st ? &st->stats : NULL;
}
void *ga__stepper_work(const ga_stepper *st)
{
  return st->sys->work;
}

ga_context *ga__stepper_context(const ga_stepper *st)
{
  return st->ctx;
}

const ga_system *ga_stepper_system(const ga_stepper *st)
{
  return st ? st->sys->shared : NULL;
}

/* A saved state begins with its own length and its method, so that one of another system is refused; the
 * length is negative where a simulator has saved more behind it. */
enum { SAVED_HEAD = 2 };

size_t ga_stepper_saved_size(const ga_stepper *st)
{
  return st ? st->full_length + SAVED_HEAD : 0;
}

/* While a simulator hands out output and events of a step, its stepper is not to be changed. */
static ga_status refuse_busy(ga_stepper *st, const char *what)
{
  if (!st->busy) return GA_OK;
  return ga__fail(st->ctx, GA_ERR_ORDER,
                  "%s: not from an output or an event; the observer, or between steps, is the place", what);
}

ga_status ga_stepper_save(ga_stepper *st, double *saved)
{
  if (!st || !saved) return GA_ERR_ARGUMENT;
  ga_status status = refuse_busy(st, "ga_stepper_save");
  if (status) return status;
  if (!st->has_state)
    return ga__fail(st->ctx, GA_ERR_ORDER,
                    "ga_stepper_save: there is no state to save before ga_stepper_start()");
  saved[0] = (double)st->full_length;
  saved[1] = st->opts.method;
  memcpy(saved + SAVED_HEAD, st->now.block, st->full_length * sizeof(double));
  ga__forget_factors(st);
  return GA_OK;
}

double ga__saved_time(const ga_stepper *st, const double *saved)
{
  return saved[SAVED_HEAD + (st->now.scalar - st->now.block) + GA__T];
}

ga_status ga__check_saved(ga_stepper *st, const double *saved)
{
  if (fabs(saved[0]) != (double)st->full_length || saved[1] != (double)st->opts.method)
    return ga__fail(st->ctx, GA_ERR_ARGUMENT,
                    "ga_stepper_load: the saved state has %g numbers of method %g, this stepper's has %zu of "
                    "method %d; it was "
                    "saved from another system or method",
                    fabs(saved[0]), saved[1], st->full_length, (int)st->opts.method);
  const double *block = saved + SAVED_HEAD, *scalar = block + (st->now.scalar - st->now.block);
  for (size_t i = 0; i < st->full_length; i++)
    if (!isfinite(block[i]))
      return ga__fail(st->ctx, GA_ERR_NAN, "ga_stepper_load: number %zu of the saved state is %g", i,
                      block[i]);
  int order = scalar[GA__ORDER] == 0.0 || scalar[GA__ORDER] == 1.0 || scalar[GA__ORDER] == 2.0;
  double most = st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI], r = scalar[GA__REDUNDANT];
  if (!order || !(r >= 0.0 && r <= most && r == floor(r)) || scalar[GA__H_OLD] < 0.0 ||
      scalar[GA__H_OLD2] < 0.0 || !(scalar[GA__H_START] > 0.0))
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "ga_stepper_load: the numbers are not those of a saved state");
  return GA_OK;
}

ga_status ga_stepper_load(ga_stepper *st, const double *saved)
{
  if (!st || !saved) return GA_ERR_ARGUMENT;
  ga_status status = refuse_busy(st, "ga_stepper_load");
  if (!status) status = ga__check_saved(st, saved);
  if (status) return status;
  memcpy(st->now.block, saved + SAVED_HEAD, st->full_length * sizeof(double));
  ga__forget_factors(st);
  st->b_valid = 0;
  st->has_state = 1;
  ga__show(st);
  return GA_OK;
}

ga_status ga_stepper_constraint_residuals(ga_stepper *st, double *phi, double *phi_dot, double *k)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->has_state)
    return ga__fail(st->ctx, GA_ERR_ORDER, "ga_stepper_constraint_residuals: call ga_stepper_start() first");
  const ga_system *sys = st->sys;
  ga_point p = ga__full_point(&st->now);
  ga_status status;
  if (phi) {
    if ((status = ga__call(sys, GA__PHI, &p, st->tmp))) return status;
    *phi = ga__max_abs(st->tmp, sys->size[GA_BLOCK_LAMBDA], NULL);
  }
  if (phi_dot) {
    if ((status = ga__phi_dot(&st->deriv, &p, st->tmp))) return status;
    *phi_dot = ga__max_abs(st->tmp, sys->size[GA_BLOCK_LAMBDA], NULL);
  }
  if (k) {
    if ((status = ga__call(sys, GA__K, &p, st->tmp))) return status;
    *k = ga__max_abs(st->tmp, sys->size[GA_BLOCK_PSI], NULL);
  }
  return GA_OK;
}
