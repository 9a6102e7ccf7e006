/* Times that depend on parameters: of breaks at which steps end, and of all states behind them, since the
 * sizes of steps are held.
 *
 * A step from t(p) of size h(p), δt₁ = δt + δh, begins with a(h): the shift of a, and of w likewise, is a(1 +
 * r) − a_prev r, r = Δ(h/h_old − 1), or behind a start vdot + (a − vdot) h/h_start. Beside that
 *
 *   δE += δh (v + h(a + 2p) − Bᵀη + (h/6)[v, v₁])      δv₁ += δh (a + c₂p)      δx₁ += δh (w + θ px)
 *
 * and the equations are those at t₁(p). What is asked for are derivatives at a fixed time: the rate of the
 * solution times δt is taken off. */
#include "core/sensitivity.h"

#include <math.h>

#include <string.h>

static const double AT[GA__N_AT] = {-2.0, -1.0, 1.0, 2.0};
/* Of the time from the break before: where the next one is looked for. */
#define LOOKS_FROM 0.5
/* How far ahead of t, in those parts, a system is asked. */
#define AHEAD 16.0
#define PI 3.14159265358979323846
#define ROUNDED 1e-12 /* [-] relative difference of times that are the same */

/* ---- Breaks ---- */

/* The first break behind `from`; infinite: none is near. */
static ga_status find_break(const ga_system *sys, double from, double until, ga_breakpoint *out)
{
  *out = (ga_breakpoint){INFINITY, INFINITY, 0, INFINITY, INFINITY, 0, NULL};
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.next_break(sys->def.user, from, until, out);
  return ga__end_callback(sys, "next_break", -1, from, code, before);
}

static ga_status refuse_break(ga_sensitivity *se, int j)
{
  return ga__refuse_parameter(
      se, j, "a break of a function of time that depends on it comes or goes, or meets another",
      "give a smaller step, or another value of the parameter");
}

/* Whether a break of the run's own equations is at t; *at: it. Systems are asked seldom, far ahead. */
static ga_status is_break(ga_sensitivity *se, double t, double from, int *yes, ga_breakpoint *at)
{
  const ga_system *sys = se->st->sys;
  const double near = ROUNDED * (1.0 + fabs(t)), until = t + AHEAD * (t - from);
  *yes = 0;
  if (!sys->def.next_break || !(t > from) || t + near < se->clear) return GA_OK;
  const ga_status status = find_break(sys, from, until, at);
  if (status) return status;
  *yes = at->before <= t + near && at->after >= t - near;
  se->clear = isfinite(at->before) ? at->before : at->unresolved > 0.0 ? t : fmin(at->clear, until);
  /* Once more as it is asked for at other values: how closely a break is enclosed may depend on the interval.
   */
  return *yes ? find_break(sys, from, t + (t - from), at) : GA_OK;
}

/* offset[k]: by how much later the break is at other values, at its near side and behind it; *rate: δt of it.
 */
static ga_status compare_breaks(ga_sensitivity *se, int j, double t, double from, const ga_breakpoint *own,
                                double before[GA__N_AT], double behind[GA__N_AT], double *rate)
{
  ga__parameter *par = &se->parameter[j];
  const double *value[GA__N_AT];
  int moves = 0;
  *rate = 0.0;
  for (int k = 0; k < GA__N_AT; k++) before[k] = behind[k] = 0.0, value[k] = &before[k];
  if (!par->at[0].sys) return GA_OK;
  for (int k = 0; k < GA__N_AT; k++) {
    ga_breakpoint other;
    const ga_status status = find_break(par->at[k].sys, from, t + (t - from), &other);
    if (status) return status;
    if (isinf(other.before) || !other.restart != !own->restart) return refuse_break(se, j);
    before[k] = other.before - own->before;
    behind[k] = other.after - own->after;
    moves |= before[k] != 0.0;
  }
  if (moves && !ga__four_point(rate, value, NULL, 1, par->given.step, &par->doubt))
    return refuse_break(se, j);
  return GA_OK;
}

/* ---- Steps ---- */

static void set_offsets(const ga__parameter *par, double dt, double offset[GA__N_AT])
{
  for (int k = 0; k < GA__N_AT; k++) offset[k] = AT[k] * par->given.step * dt;
}

void ga__times_begin(ga_sensitivity *se)
{
  se->piece = se->clear = se->st->now.scalar[GA__T];
  se->on_break = se->behind_break = 0;
  for (int j = 0; j < se->n; j++) {
    ga__parameter *par = &se->parameter[j];
    par->dt_grid = 0.0;
    par->dt = par->dh = par->dt_begin = par->dh_old = par->dh_old2 = par->dh_start = 0.0;
    set_offsets(par, 0.0, par->from);
    set_offsets(par, 0.0, par->to);
  }
}

/* Step sizes that depend on parameters are differentiated with the plain shift of a and w. */
static ga_status check_shift(ga_sensitivity *se, const ga__parameter *par)
{
  const ga_stepper *st = se->st;
  if ((par->dh == 0.0 && par->dh_old == 0.0) || st->method->has_order) return GA_OK;
  if (st->opts.adjust != GA_ADJUST_GAMMA && st->gamma == st->opts.scheme.gamma &&
      st->theta == st->opts.scheme.theta)
    return GA_OK;
  return ga__refuse_sensitivity(se, "the size of a step depends on a parameter, and γ on the sizes of steps",
                                NULL);
}

ga_status ga__times_of_step(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const double t = st->now.scalar[GA__T], from = se->piece + LOOKS_FROM * (t - se->piece);
  ga_breakpoint own;
  int ends = 0;
  ga_status status = is_break(se, t, from, &ends, &own);
  se->on_break = ends;
  se->behind_break = 0;
  se->place = ends ? GA_PLACE_BREAK : GA_PLACE_STEP;
  for (int j = 0; j < se->n && !status; j++) {
    ga__parameter *par = &se->parameter[j];
    double behind[GA__N_AT], rate;
    memcpy(par->from, par->to, sizeof par->from);
    par->dt_begin = par->dt;
    par->dh_old2 = par->dh_old;
    par->dh_old = par->dh;
    par->dh = 0.0;
    if (ends) {
      status = compare_breaks(se, j, t, from, &own, par->to, behind, &rate);
      par->dh = rate - par->dt;
    }
    if (!ends && st->on_grid)
      par->dh = st->to_end          ? -par->dt
                : st->of_last > 0.0 ? st->of_last * par->dh_old
                                    : par->dt_grid - par->dt;
    par->dt += par->dh;
    if (!ends) set_offsets(par, par->dt, par->to);
    if (!status) status = check_shift(se, par);
  }
  if (ends && !status && !own.restart) se->piece = se->clear = t;
  return status;
}

ga_status ga__times_stay(ga_sensitivity *se, const ga_stepper *st, int restarted)
{
  const double t = st->now.scalar[GA__T], from = se->piece + LOOKS_FROM * (t - se->piece);
  ga_breakpoint own;
  int ends = 0;
  ga_status status = is_break(se, t, from, &ends, &own);
  for (int j = 0; ends && j < se->n && !status; j++) {
    double before[GA__N_AT], behind[GA__N_AT], rate;
    status = compare_breaks(se, j, t, from, &own, before, behind, &rate);
    for (int k = 0; k < GA__N_AT && !status; k++)
      if (before[k] != 0.0 || behind[k] != 0.0)
        status = ga__refuse_parameter(
            se, j, "the time of a jump or corner depends on it, which the adjoint does not follow",
            "forward derivatives have no such limit");
  }
  if (restarted || (ends && !status && !own.restart)) se->piece = se->clear = t;
  return status;
}

/* The first step behind a restart. Equal steps go on from it, or to the end of the one that was cut, which a
 * further break may cut again: then they go on from that. */
static ga_status find_first_size(ga_sensitivity *se, int j)
{
  const ga_stepper *st = se->st;
  ga__parameter *par = &se->parameter[j];
  const double t = st->now.scalar[GA__T], h = st->begun.h;
  ga_breakpoint next;
  int cut = 0;
  set_offsets(par, 0.0, par->longer);
  par->dh_start = 0.0;
  if (!(st->regular > 0.0)) return GA_OK;
  if (h >= (1.0 - ROUNDED) * st->regular) {
    par->dt_grid = par->dt;
    return GA_OK;
  }
  ga_status status = is_break(se, t + h, t + LOOKS_FROM * h, &cut, &next);
  if (!status && cut) {
    double before[GA__N_AT], behind[GA__N_AT];
    status = compare_breaks(se, j, t + h, t + LOOKS_FROM * h, &next, before, behind, &par->dt_grid);
    for (int k = 0; k < GA__N_AT; k++) par->longer[k] = before[k] - par->to[k];
  } else {
    for (int k = 0; k < GA__N_AT; k++) par->longer[k] = AT[k] * par->given.step * par->dt_grid - par->to[k];
  }
  par->dh_start = par->dt_grid - par->dt;
  return status;
}

ga_status ga__times_of_restart(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const double t = st->now.scalar[GA__T], from = se->piece + LOOKS_FROM * (t - se->piece);
  ga_breakpoint own;
  int jumps = 0;
  ga_status status = is_break(se, t, from, &jumps, &own);
  for (int j = 0; j < se->n && !status; j++) {
    ga__parameter *par = &se->parameter[j];
    double before[GA__N_AT], rate = par->dt;
    set_offsets(par, par->dt, par->to);
    if (jumps) status = compare_breaks(se, j, t, from, &own, before, par->to, &rate);
    par->dt_begin = par->dt = rate;
    par->dh = par->dh_old = par->dh_old2 = 0.0;
    memcpy(par->from, par->to, sizeof par->from);
    if (!status) status = find_first_size(se, j);
  }
  se->piece = se->clear = t;
  se->on_break = 0;
  return status;
}

void ga__times_of_event(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  for (int j = 0; j < se->n; j++) {
    ga__parameter *par = &se->parameter[j];
    par->dt_begin = par->dt_grid = par->dt;
    par->dh = par->dh_old = par->dh_old2 = par->dh_start = 0.0;
    if (!se->behind_break)
      set_offsets(par, par->dt, par->to); /* else they are those of the break, to rounding */
    set_offsets(par, 0.0, par->longer);
    memcpy(par->from, par->to, sizeof par->from);
  }
  if (!se->on_break) se->piece = se->clear = st->now.scalar[GA__T]; /* else a restart behind it follows */
}

/* ---- The formulas of a step ---- */

/* δ of the shift's factors by h and h_old, as weights of a − a_prev, or of a − vdot. */
static double shift_rate(const ga_stepper *st, const ga__parameter *par, double difference)
{
  const double h = st->now.scalar[GA__H_OLD], h_old = st->next.scalar[GA__H_OLD],
               h_start = st->next.scalar[GA__H_START];
  if (st->opts.adjust == GA_ADJUST_NONE) return 0.0;
  if (h_old > 0.0) return difference * (par->dh - par->dh_old * h / h_old) / h_old;
  return h_start > 0.0 ? (par->dh - par->dh_start * h / h_start) / h_start : 0.0;
}

void ga__times_shift(ga_sensitivity *se, const ga__parameter *par, ga__tangent *d)
{
  const ga_stepper *st = se->st;
  const ga_scheme *c = &st->opts.scheme;
  const ga__state *from = &st->next;
  const int started = !(from->scalar[GA__H_OLD] > 0.0);
  if (par->dh == 0.0 && par->dh_old == 0.0 && par->dh_start == 0.0) return;
  const double by_a = shift_rate(st, par, c->alpha_m - c->alpha_f),
               by_w = shift_rate(st, par, c->delta_m - c->delta_f);
  for (int i = 0; i < st->sys->nv; i++)
    d->a_prev[i] += by_a * (from->a[i] - (started ? from->vdot[i] : from->a_prev[i]));
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++)
    d->w_prev[i] += by_w * (from->w[i] - (started ? from->xdot[i] : from->w_prev[i]));
}

/* Into se->dv, se->dx. */
void ga__times_rates(ga_sensitivity *se, const ga__parameter *par)
{
  const ga_stepper *st = se->st;
  const ga__state *now = &st->now;
  const double dh = par->dh, ratio = se->step.gamma; /* c₂ β = γ */
  if (dh == 0.0) return;
  for (int i = 0; i < st->sys->nv; i++)
    se->dv[i] += dh * (now->a_prev[i] + ratio * (now->a[i] - now->a_prev[i]));
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++)
    se->dx[i] += dh * (now->w_prev[i] + se->step.theta * (now->w[i] - now->w_prev[i]));
}

/* Into the exponent's derivative. */
void ga__times_exponent(ga_sensitivity *se, const ga__parameter *par, double *exponent)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const ga__state *now = &st->now;
  const double dh = par->dh, h = s->h, beta = st->opts.scheme.beta;
  if (dh == 0.0) return;
  for (int i = 0; i < sys->nv; i++)
    exponent[i] += dh * (s->v_n[i] + h * (now->a_prev[i] + 2.0 * beta * (now->a[i] - now->a_prev[i])));
  for (int i = 0; st->n_eta && i < sys->n_b; i++)
    exponent[sys->b_col[i]] -= dh * s->B_n[i] * now->eta[sys->b_row[i]];
  if (st->commutes) ga_group_add_bracket(sys->group, exponent, dh * h / 6.0, s->v_n, now->v);
}

/* ---- At a fixed time ---- */

/* Weights of values at x[0 ... n] for the slope of their polynomial at x[0]. */
static void weigh_slope(const double *x, int n, double *w)
{
  w[0] = 0.0;
  for (int i = 1; i <= n; i++) {
    w[i] = 1.0 / (x[i] - x[0]);
    w[0] += 1.0 / (x[0] - x[i]);
    for (int k = 1; k <= n; k++)
      if (k != i) w[i] *= (x[0] - x[k]) / (x[i] - x[k]);
  }
}

ga_status ga__times_slope(ga_sensitivity *se, int n, ga__tangent *rate)
{
  ga_stepper *st = se->st;
  const int *size = st->sys->size;
  const double t0 = st->next.scalar[GA__T], t1 = st->now.scalar[GA__T], h = t1 - t0;
  const ga__tangent *at = &se->mid;
  const struct {
    double *out;
    const double *value;
    int n;
  } list[] = {{rate->vdot, at->vdot, st->sys->nv},
              {rate->lambda, at->lambda, size[GA_BLOCK_LAMBDA]},
              {rate->psi, at->psi, size[GA_BLOCK_PSI]},
              {rate->y, at->y, size[GA_BLOCK_Y]}};
  double x[GA__MOST_DEGREE + 1], w[GA__MOST_DEGREE + 1];
  for (int i = 0; i <= n; i++) x[i] = 0.5 * (1.0 + cos(PI * i / n));
  weigh_slope(x, n, w);
  memset(rate->block, 0, se->n_tangent * sizeof *rate->block);
  for (int i = 0; i <= n; i++) {
    const double t = i == 0 ? t1 : i == n ? t0 : t0 + x[i] * h;
    const ga_status status =
        ga_stepper_interpolate(st, t, NULL, NULL, at->vdot, at->lambda, at->psi, NULL, at->y);
    if (status) return status;
    for (size_t l = 0; l < sizeof list / sizeof *list; l++)
      for (int k = 0; k < list[l].n; k++) list[l].out[k] += w[i] / h * list[l].value[k];
  }
  return GA_OK;
}

/* Behind a start: those that the start has found. */
static ga_status rates_at_start(ga_sensitivity *se, ga__tangent *rate)
{
  const ga_stepper *st = se->st;
  const ga__state *now = &st->now;
  const int *size = st->sys->size;
  if (now->scalar[GA__HAS_JERK] == 0.0)
    return ga__refuse_sensitivity(
        se, "the time of a restart depends on a parameter, and its rates are not known", NULL);
  ga__copy_numbers(rate->vdot, now->vdot_prev, st->sys->nv);
  ga__copy_numbers(rate->lambda, now->lambda_prev, size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(rate->psi, now->psi_prev, size[GA_BLOCK_PSI]);
  ga__copy_numbers(rate->y, now->y_prev, size[GA_BLOCK_Y]);
  return GA_OK;
}

int ga__times_move(const ga_sensitivity *se)
{
  if (se->n_met > 0) return 1;
  for (int j = 0; j < se->n; j++)
    if (se->parameter[j].dt != 0.0) return 1;
  return 0;
}

static void subtract(double *out, const double *d, const double *rate, double dt, int n)
{
  for (int i = 0; i < n; i++) out[i] = d[i] - dt * rate[i];
}

/* The derivatives at fixed times into par->fixed. */
ga_status ga__times_fix(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const ga__state *now = &st->now;
  const int *size = st->sys->size, nv = st->sys->nv;
  ga__tangent *rate = &se->rate;
  if (!ga__times_move(se)) return GA_OK;
  const ga_status status =
      now->scalar[GA__H_OLD] > 0.0 ? st->family->slopes->rates(se, rate) : rates_at_start(se, rate);
  for (int j = 0; j < se->n && !status; j++) {
    const ga__parameter *par = &se->parameter[j];
    const ga__tangent *d = &par->now;
    const ga__tangent *out = &par->fixed;
    memcpy(out->block, d->block, se->n_tangent * sizeof *out->block);
    if (par->dt == 0.0) continue;
    subtract(out->q, d->q, now->v, par->dt, nv);
    subtract(out->v, d->v, now->vdot, par->dt, nv);
    subtract(out->x, d->x, now->xdot, par->dt, size[GA_BLOCK_X]);
    subtract(out->vdot, d->vdot, rate->vdot, par->dt, nv);
    subtract(out->lambda, d->lambda, rate->lambda, par->dt, size[GA_BLOCK_LAMBDA]);
    subtract(out->psi, d->psi, rate->psi, par->dt, size[GA_BLOCK_PSI]);
    subtract(out->y, d->y, rate->y, par->dt, size[GA_BLOCK_Y]);
  }
  return status;
}
