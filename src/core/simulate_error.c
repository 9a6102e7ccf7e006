/* Error control: error over tolerance of a step, detection of rounding, and the next size. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* PI controller: h · SAFETY · err^(−0.7/p) · err_old^(0.4/p), within [SHRINK, GROW]; steps that would grow by
 * less than WORTH stay, so that factors can be kept. */
#define WORTH 1.2

/* ---- Error test ---- */

static void weigh_q(const ga_simulator *sim, const double *e, ga__tally *t)
{
  ga__tally_q(t, &sim->opts, sim->st, e, sim->weight);
}

static void weigh_v(const ga_simulator *sim, int i, ga__tally *t)
{
  ga__tally_add(t, sim->st->est_v[i], ga__tolerance_v(&sim->opts, sim->st->now.v[i]), i);
}

/* The filter is valid for stiffness that existed before, whose motion has been damped by the steps; not for
 * new stiffness, as in a contact that a body bounces off. After new stiffness, two periods of its motion
 * must be accurate without the filter, in velocities too. Likewise all steps behind an edge that must be
 * much shorter than before it: a tolerance of positions means nothing for a contact shallower than it. */
#define STRICT 2.0

static int is_strict(const ga_simulator *sim, double until)
{
  return sim->st->next.scalar[GA__T] < until || sim->st->now.scalar[GA__H_OLD] < sim->edge_brief;
}

/* Searched if the filter matters and factors belong to this step: new stiffness needs new factors. At a
 * singular position the result would be rounding. */
#define AT_SINGULAR 1e-11

static ga_status find_new_stiffness(ga_simulator *sim, int *found)
{
  ga_stepper *st = sim->st;
  double *period = sim->vdot; /* used as work space: only states between steps need it */
  ga__tally all = {0}, filtered = {0};
  *found = 0;
  if (st->factors.now.age > 1 || st->stats.rcond < AT_SINGULAR) return GA_OK;
  weigh_q(sim, st->est_all, &all);
  weigh_q(sim, st->est_q, &filtered);
  if (!(filtered.largest < 0.5 * all.largest)) return GA_OK;
  ga__tally strict = all;
  for (int i = 0; i < st->sys->nv; i++) weigh_v(sim, i, &strict);
  if (!(strict.largest > 1.0)) return GA_OK;
  ga_status status = ga__new_stiffness(st, 0.01 / all.largest, period);
  for (int i = 0; !status && i < st->sys->nv; i++) {
    if (!(period[i] > 0.0)) continue;
    sim->strict[i] = fmax(sim->strict[i], st->now.scalar[GA__T] + STRICT * period[i]);
    sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
    *found = 1;
  }
  return status;
}

/* The unfiltered error where required, the filtered one elsewhere. In the first two steps nothing has been
 * damped yet: a stiff spring that starts without its force has only an error along itself, for steps of any
 * size. */
static void weigh_filtered(ga_simulator *sim, ga__tally *t)
{
  ga_stepper *st = sim->st;
  const int young = !(st->next.scalar[GA__H_OLD2] > 0.0);
  if (young) memcpy(st->est_q, st->est_all, (size_t)st->sys->nv * sizeof(double));
  for (int i = 0; is_strict(sim, sim->strict_most) && i < st->sys->nv; i++) {
    if (!is_strict(sim, sim->strict[i])) continue;
    st->est_q[i] = st->est_all[i];
    weigh_v(sim, i, t);
  }
  weigh_q(sim, st->est_q, t);
}

/* By the norm of the options. */
static double norm_of(const ga_simulator *sim, const ga__tally *t)
{
  const int is_rms = sim->opts.norm == GA_NORM_RMS && t->largest == t->largest && t->count > 0.0;
  return is_rms ? sqrt(t->squares / t->count) : t->largest;
}

/* Accelerations of the first steps after a start. Errors of positions are κh³ vddot, and tell nothing of them
 * where the jerk is 0 as the motion begins: steps are then long, and vdot is off by a part of h² vdot''/2,
 * along constraints for many steps more, since only numerical damping takes it away there. Of a motion with
 * the angular frequency ω that is at the tolerance, (hω)³ is tol/κ, and
 *   κh² · h² vdot''  is  hω  of  κh³ vddot:
 * so much of the tolerance is for them here. That is less of it the tighter it is, and enough of it at any
 * for steps not to follow what positions do not show, as oscillations of stiff springs. Per unit step
 * velocities are tested, and with them this. */
static double first_ratio(ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const ga_simulate_opts *o = &sim->opts;
  const double h = st->now.scalar[GA__H_OLD];
  const double kappa = fmax(fabs(st->now.scalar[GA__KAPPA_H2]) / (h * h), GA__KAPPA_LEAST);
  const double part = o->error == GA_PER_STEP ? 1.0 : h / (o->t_end - sim->t0); /* of the tolerance */
  double *bend = sim->vdot; /* used as work space: only states between steps need it */
  ga__tally t = {0};
  if (sim->n_first >= GA__FIRST_STEPS || o->error == GA_PER_UNIT_STEP) return 0.0;
  ga__estimate_bend(st, bend);
  for (int i = 0; i < st->sys->nv; i++) bend[i] *= kappa * h * h;
  weigh_q(sim, bend, &t);
  return norm_of(sim, &t) / (part * cbrt(part * (o->rtol + o->atol) / kappa));
}

int ga__sim_tests_forces(const ga_simulator *sim)
{
  return sim->opts.error_forces && sim->st->family->estimate_forces;
}

void ga__sim_force_sizes(const ga_simulator *sim, double size[GA_N_BLOCKS])
{
  const ga_stepper *st = sim->st;
  const ga__state *now = &st->now, *begin = &st->next;
  const double *const value[GA_N_BLOCKS][2] = {[GA_BLOCK_V] = {now->vdot, begin->vdot},
                                               [GA_BLOCK_LAMBDA] = {now->lambda, begin->lambda},
                                               [GA_BLOCK_PSI] = {now->psi, begin->psi},
                                               [GA_BLOCK_Y] = {now->y, begin->y}};
  for (int b = 0; b < GA_N_BLOCKS; b++) {
    size[b] = sim->force_size[b];
    for (int k = 0; k < 2 && value[b][k]; k++)
      size[b] = fmax(size[b], ga__max_abs(value[b][k], st->sys->size[b], NULL));
  }
}

static void weigh_forces(ga_simulator *sim, ga__tally *t)
{
  ga_stepper *st = sim->st;
  double size[GA_N_BLOCKS];
  ga__tally forces = {0};
  sim->force_error = 0.0;
  if (!ga__sim_tests_forces(sim)) return;
  ga__sim_force_sizes(sim, size);
  st->family->estimate_forces(st, st->est_z);
  ga__tally_forces(t, &sim->opts, st->sys, st->est_z, size);
  ga__tally_forces(&forces, &sim->opts, st->sys, st->est_z, size);
  sim->force_error = forces.largest;
}

/* Estimate over tolerance of the step just made. */
static ga_status error_ratio(ga_simulator *sim, double *ratio)
{
  ga_stepper *st = sim->st;
  const ga_simulate_opts *o = &sim->opts;
  const int per_unit = o->error == GA_PER_UNIT_STEP;
  ga__tally t = {0};
  int strict = is_strict(sim, sim->strict_most), found = 0;
  *ratio = 0.0;
  sim->worst = 0;
  const int filters = !per_unit && !st->family->estimate; /* else its own estimate is complete */
  ga_status status = ga__estimate(st, per_unit || strict);
  if (!status && filters) status = ga__filter(st);
  if (!status && filters) status = find_new_stiffness(sim, &found);
  if (!status && found && !strict) { /* velocities count now: estimate them fully */
    status = ga__estimate(st, 1);
    if (!status) status = ga__filter(st);
  }
  if (status) return status;
  ga__tally_x(&t, o, st, st->est_x);
  if (filters)
    weigh_filtered(sim, &t);
  else
    weigh_q(sim, st->est_q, &t);
  for (int i = 0; !filters && !per_unit && strict && i < st->sys->nv; i++)
    if (is_strict(sim, sim->strict[i])) weigh_v(sim, i, &t);
  for (int i = 0; per_unit && i < st->sys->nv; i++) weigh_v(sim, i, &t);
  weigh_forces(sim, &t);
  sim->worst = t.worst;
  *ratio = norm_of(sim, &t);
  if (st->family->estimate) return GA_OK;
  if (o->error != GA_PER_STEP) *ratio *= (o->t_end - sim->t0) / st->now.scalar[GA__H_OLD];
  const double first = first_ratio(sim);
  sim->by_bend = first > *ratio;
  if (sim->by_bend) *ratio = first;
  return GA_OK;
}

static double order_of(const ga_simulator *sim)
{
  const ga__family *family = sim->st->family;
  if (family->error_power) return family->error_power(sim->st);
  return sim->opts.error != GA_PER_STEP ? 2.0 : 3.0;
}

/* Power of h that the error just found grows with. */
static double power_of(const ga_simulator *sim)
{
  return order_of(sim) + sim->by_bend;
}

/* With long steps, such as half a turn of a wheel, the error grows with a higher power of h than its order:
 * the errors of a rejected step and of the shorter one in its place give the power. It limits the growth of
 * the next steps, less and less. */
#define STEEPEST 12.0
#define LESS_STEEP 0.95

static double power_seen(const ga_simulator *sim, const ga__rejected_step *r, double h, double err)
{
  const double p = order_of(sim);
  if (!(r->h > 1.05 * h && r->err > err && err > 0.0)) return fmax(power_of(sim), LESS_STEEP * sim->power);
  return fmin(STEEPEST, fmax(p, log(r->err / err) / log(r->h / h)));
}

/* The power of h used for control. Where a contact closes, errors jump with h, which is not a power. */
static double control_power(const ga_simulator *sim)
{
  const double p = power_of(sim);
  return is_strict(sim, sim->strict_most) ? p : fmax(p, sim->power);
}

/* The same of methods with estimates of their own, whose factors serve steps of other sizes too. Errors are
 * steered to GOAL by the digital filter H211b with b = 2 (Söderlind, ACM TOMS 29, 2003): by the geometric
 * mean of the changes that the errors of the last two steps ask for. */
#define GOAL 0.15
#define FILTER 0.5 /* 1/b */
#define LEAST 1e-6 /* error */

static double filtered_size(const ga_simulator *sim, double h, double err)
{
  const double p = control_power(sim), h_old = sim->st->next.scalar[GA__H_OLD];
  const double alone = pow(GOAL / fmax(err, LEAST), 1.0 / p);
  double factor = alone;
  if (sim->err_old > 0.0 && h_old > 0.0)
    factor = pow(alone, FILTER) * pow(GOAL / sim->err_old, FILTER / p) * pow(h_old / h, FILTER);
  const ga__family *family = sim->st->family;
  if (family->growth) factor = family->growth(sim->st, factor);
  return h * fmin(GA__GROW, fmax(GA__SHRINK, factor));
}

/* Size of the next step after one of size h with this error. */
static double control_size(const ga_simulator *sim, double h, double err)
{
  if (sim->st->family->error_power) return filtered_size(sim, h, err);
  const double p = control_power(sim), e = fmax(err, 1e-6);
  double factor =
      GA__SAFETY * pow(e, -0.7 / p) * (sim->err_old > 0.0 ? pow(sim->err_old, 0.4 / p) : pow(e, -0.3 / p));
  if (sim->power > order_of(sim)) factor = fmin(factor, fmax(1.0, GA__SAFETY * pow(e, -1.0 / sim->power)));
  factor = fmin(GA__GROW, fmax(GA__SHRINK, factor));
  return factor >= 1.0 && factor < WORTH ? h : factor * h;
}

/* Whether the largest error is far below the values, like amplified rounding. */
static int is_far_below_values(const ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  const double faint = 1e-8; /* about the root of ε */
  const int i = sim->worst, k = i - sys->nv, nx = sys->size[GA_BLOCK_X];
  if (k >= nx) {
    double size[GA_N_BLOCKS];
    int index;
    ga__sim_force_sizes(sim, size);
    return st->est_z[k - nx] <= faint * size[ga__block_of(sys, k - nx, &index)];
  }
  if (k >= 0) return fabs(st->est_x[k]) <= faint * ga__max_abs(st->now.x, nx, NULL);
  const double v = ga__max_abs(st->now.v, sys->nv, NULL), a = ga__max_abs(st->now.vdot, sys->nv, NULL);
  const int with_v = sim->opts.error == GA_PER_UNIT_STEP || is_strict(sim, sim->strict[i]);
  if (with_v && fabs(st->est_v[i]) > faint * (v + a * st->now.scalar[GA__H_OLD])) return 0;
  return fabs(st->est_q[i]) <= faint * ga__max_abs(st->now.q, sys->nq, NULL);
}

/* A small error that grows while steps shrink is rounding: the tolerance cannot be reached here. A larger
 * one grows where a shorter step is the first to end in a contact or behind a jump. */
static int is_rounding(const ga_simulator *sim, double err, const ga__rejected_step *before)
{
  return before->grown + (before->err > 0.0 && err > 1.5 * before->err) >= 2 && is_far_below_values(sim);
}

/* Before a step is rejected: whether its error is only rounding of the accelerations. *err: the error
 * without it. */
static int is_noise(ga_simulator *sim, double *err)
{
  ga_stepper *st = sim->st;
  double before = *err;
  int worst = sim->worst;
  if (sim->opts.error != GA_PER_UNIT_STEP) return 0; /* e_q is smooth: it uses no differences of vdot */
  st->noise_v = ga__noise(st, &st->now, ga__stack_begin(&st->scratch)).acc * st->size_a;
  ga_status status = error_ratio(sim, err);
  st->noise_v = 0.0;
  if (!status && *err <= 1.0) return 1;
  *err = before;
  sim->worst = worst;
  return 0;
}

static void warn_rounding(ga_simulator *sim, double h)
{
  char name[192];
  const ga_system *sys = sim->st->sys;
  const int nx = sys->size[GA_BLOCK_X], behind = sim->worst - sys->nv, is_state = behind >= 0;
  int index = is_state ? behind : sim->worst;
  ga_equation_block block = is_state ? GA_BLOCK_X : GA_BLOCK_V;
  if (sim->stats.at_rounding++ > 0) return;
  if (behind >= nx) block = ga__block_of(sys, behind - nx, &index);
  ga__describe_unknown(sys, block, index, name, sizeof name);
  ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_ERROR_IS_ROUNDING,
          &(ga__facts){.at = &(ga__fact_time){sim->st->now.scalar[GA__T], h, -1, -1}, .equation = name});
}

ga_status ga__sim_judge_error(ga_simulator *sim, double h, double *err, ga__rejected_step *before,
                              double *again)
{
  ga_status status = error_ratio(sim, err);
  *again = GA__AFTER_FAILURE * h; /* not 0: a step that cannot be tested is taken back */
  if (status) {
    if (status > 0) ga__sim_count_rejection(sim, status);
    return status;
  }
  int rounding = *err > 1.0 && (is_noise(sim, err) || is_rounding(sim, *err, before));
  if (rounding) warn_rounding(sim, h);
  if (*err <= 1.0 || rounding) {
    if (ga__sim_tests_forces(sim)) ga__sim_force_sizes(sim, sim->force_size);
    sim->power = power_seen(sim, before, h, *err);
    sim->h_next = rounding ? fmin(GA__GROW * h, ga__sim_largest_step(sim))
                           : fmax(control_size(sim, h, *err), ga__sim_least_step(sim));
    sim->err_old = rounding ? 0.0 : fmax(*err, 1e-4);
    *again = 0.0;
    return GA_OK;
  }
  sim->stats.rejected_error++;
  const ga__family *family = sim->st->family;
  if (family->struggled && family->struggled(sim->st)) ga__sim_note_failure(sim, GA_RETRY_NEWTON, h, 0);
  *again = fmax(GA__SHRINK, GA__SAFETY * pow(*err, -1.0 / control_power(sim))) * h;
  before->grown = before->err > 0.0 && *err > 1.5 * before->err ? before->grown + 1 : 0;
  before->err = *err;
  before->h = h;
  return GA_OK;
}

/* ---- Velocities that count for a while ---- */

void ga__sim_test_velocity(ga_simulator *sim, int i)
{
  sim->strict[i] = fmax(sim->strict[i], sim->st->now.scalar[GA__T]);
  sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
  sim->kick_end = sim->strict[i];
}

int ga__sim_drop_velocity_test(ga_simulator *sim)
{
  const int brief = sim->edge_brief > 0.0;
  sim->edge_brief = 0.0;
  if (!(sim->st->now.scalar[GA__T] < sim->kick_end)) return brief;
  sim->kick_end = sim->strict_most = -DBL_MAX;
  for (int i = 0; i < sim->st->sys->nv; i++) sim->strict[i] = -DBL_MAX;
  return 1;
}
