/* Meters: energies, and integrals over a run.
 *
 *   kinetic + potential + dissipated − input = const
 *
 * dissipated and input are integrals of powers by the trapezoidal rule, which has the order of the steps. */
#include "mbs/channel.h"
#include "mbs/meter.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* ---- Work ---- */

/* Adds the powers of simple elements. */
static void simple_work(const ga__work_term *w, int n, const double *v, const double *y, double *lost,
                        double *in)
{
  for (int i = 0; i < n; i++) {
    double rate = 0.0;
    if (w[i].minus >= 0) rate -= v[w[i].minus];
    if (w[i].plus >= 0) rate += v[w[i].plus];
    *lost += w[i].damping * rate * rate;
    *in += (w[i].y >= 0 ? w[i].force + y[w[i].y] : w[i].force) * rate;
  }
}

/* What work terms do at a time. */
typedef struct work_rates {
  double lost, in; /* [W] at the end of a step, */
  double next;     /* [W] and lost at the beginning of the next one, by all that does not fade */
  double stored;   /* [J] */
  double faded;    /* [J] lost since the update before, of what faded then */
} work_rates;

/* Conservative elements, usually most of them, are left out. fading: at the update before, and now. */
static int work_at(const ga_meter *meter, const ga__eval *e, double *fading, work_rates *out)
{
  int code = 0;
  *out = (work_rates){0, 0, 0, 0, 0};
  for (int i = 0; !code && i < meter->n_work_terms; i++) {
    const ga__work_term *w = &meter->work_term[i];
    const ga__element *el = ga__element_at(e->b, w->element);
    ga__powers now = {0, 0, 0, 0, 0};
    if (w->simple) {
      double lost = 0;
      simple_work(w, 1, e->p->v, e->p->y, &lost, &out->in);
      out->lost += lost;
      out->next += lost;
      continue;
    }
    if (ga__gate_is_open(e, el->gate)) code = el->type->powers(e, el, &now);
    out->lost += fading[i] > 0 ? 0 : now.lost;
    out->next += now.fading > 0 ? 0 : now.lost;
    out->in += now.in;
    out->stored += now.potential;
    if (fading[i] > 0) out->faded += fading[i] - now.potential;
    fading[i] = now.fading;
  }
  return code;
}

/* Lists the work terms of elements; list 0: only counts them. */
static void list_work(const ga__mbs_model *b, ga_meter *meter, int list)
{
  meter->n_work_terms = meter->needs_kin = 0;
  meter->simple = 1;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    ga__work_term w = {.element = i, .needs_kin = 1, .minus = -1, .plus = -1, .y = -1};
    if (!el->type->powers || (el->type->work_term && !el->type->work_term(b, el, &w))) continue;
    if (el->gate >= 0) w.simple = 0, w.needs_kin = 1;
    if (list) meter->work_term[meter->n_work_terms] = w;
    meter->n_work_terms++;
    meter->needs_kin |= w.needs_kin;
    meter->simple &= w.simple;
  }
}

/* ---- Impacts ----
 *
 * Where a drive's velocity jumps from r⁻ to r⁺, impulses −Bᵀμ change velocities: M(v⁺ − v⁻) = −Bᵀμ. The
 * change of kinetic energy, ½(v⁺ + v⁻)ᵀM(v⁺ − v⁻) = −½ μᵀB(v⁺ + v⁻), is the work of the drives, −½ μ (r⁻ +
 * r⁺) of each, since B v is 0 on both sides in all other rows. */

#define SAME_TIME 1e-14  /* relative to t: two sides of a jump, between which nothing has moved */
#define IMPACT_TIME 1e-9 /* [s], or relative to t: largest time between the two sides of a jump */

static int accepts_impacts(const ga__mbs_model *b, const ga__row *row)
{
  ga__prescribed drive;
  return row->target && ga__prescribed_by(&b->m->part[row->part], &drive) && drive.accept_impact;
}

static int has_rigid_stops(const ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++)
    if (ga__element_at(b, i)->type->impacts) return 1;
  return 0;
}

static int any_accepts_impacts(const ga__mbs_model *b)
{
  if (has_rigid_stops(b)) return 1;
  for (int i = 0; i < b->row.n; i++)
    if (accepts_impacts(b, GA__AT(b->row, ga__row, i))) return 1;
  return 0;
}

/* 1: a drive has a corner between the two times, the sides of a jump, or at one of them. */
static int is_impact(const ga_meter *meter, double from, double to)
{
  const ga__mbs_model *b = meter->m->model;
  const double beside = IMPACT_TIME * fmax(1.0, fabs(to));
  if (!meter->n_impact || !(to - from <= beside)) return 0;
  for (int i = 0; i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    ga_break at = {.before = INFINITY};
    if (!accepts_impacts(b, row)) continue;
    for (double t = from - beside; t < to + beside; t = at.after) {
      if (ga_function_next_break(row->target, t, to + beside, &at) || !isfinite(at.before)) break;
      if (at.order <= 1 && at.before <= to + beside) return 1;
    }
  }
  return 0;
}

static double kinetic_at(const ga_meter *meter, const ga_point *p)
{
  const ga__eval e = ga__eval_at(meter->work, p, 1, 0);
  ga__powers now = {0, 0, 0, 0, 0};
  for (int i = 0; i < e.b->element.n; i++) {
    const ga__element *el = ga__element_at(e.b, i);
    if (el->type->mass && el->type->powers) el->type->powers(&e, el, &now);
  }
  return now.kinetic;
}

static double kinetic_change(const ga_meter *meter, const ga_state *s)
{
  const ga_point after = ga__point_of(s);
  ga_point before = after;
  before.v = meter->v_before;
  const double energy = kinetic_at(meter, &before);
  return kinetic_at(meter, &after) - energy;
}

double ga__impact_work(const ga_meter *meter, const ga_state *s)
{
  if (!meter || !meter->started || !is_impact(meter, meter->t, s->t)) return 0.0;
  return kinetic_change(meter, s);
}

/* Kinetic energy that impacts at rigid stops change; the drives' have been handled. */
static double stop_work(const ga_meter *meter, const ga_state *s)
{
  if (!(s->t - meter->t <= IMPACT_TIME * fmax(1.0, fabs(s->t)))) return 0.0;
  return kinetic_change(meter, s);
}

static void keep_velocities(ga_meter *meter, const ga_state *s)
{
  if (meter->n_impact) memcpy(meter->v_before, s->v, (size_t)meter->n_impact * sizeof *s->v);
}

static int is_listed(const int *list, int n, int number)
{
  for (int i = 0; i < n; i++)
    if (list[i] == number) return 1;
  return 0;
}

static void list_spin(const ga__node *node, ga_meter *meter)
{
  for (int c = 3; c < 6; c++)
    if (node->column[c] >= 0) meter->spin[meter->n_spin++] = node->v + node->column[c];
  meter->spin[meter->n_spin++] = -1;
}

/* Lists the nodes of counted angles. An angle about z belongs to a joint that keeps this axis of both bodies
 * parallel, so it cannot change faster than they rotate; angles of universal joints and bushings can. */
static void list_turning(const ga__mbs_model *b, ga_meter *meter)
{
  for (int i = 0; i < b->signals.n_turns; i++) {
    const ga__gauge *g = GA__AT(b->gauge, ga__gauge, b->signals.counted_angle[i]);
    const int marker[2] = {g->a, g->b};
    if (g->axis != 2 || g->kind == GA__TWIST) meter->watch = 1, meter->simple = 0;
    for (int k = 0; k < 2; k++) {
      const ga__node *node = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker[k])->node);
      const int about_z = node->column[5];                    /* < 0: the ground */
      if (node->carried) meter->watch = 1, meter->simple = 0; /* v does not contain its angular velocity */
      if (node->carried) continue;
      if (about_z >= 0 && !is_listed(meter->spin, meter->n_spin, node->v + about_z)) list_spin(node, meter);
    }
  }
}

/* ---- Unilateral constraints ---- */

#define PULLS 1e-6    /* relative to the largest force of a part; less is rounding */
#define NO_FORCE 1e-9 /* [N] */

/* Fills list; NULL: only counts them. */
static int list_unilateral(const ga__mbs_model *b, ga__unilateral_record *list)
{
  int n = 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    ga__unilateral way;
    if (!el->type->unilateral || !el->type->unilateral(b, el, &way)) continue;
    if (list) list[n] = (ga__unilateral_record){.part = el->part, .way = way};
    n++;
  }
  return n;
}

/* The force where it is not sign · λ, but has its sign. */
static double scaled_force(ga_meter *meter, const ga_state *s, const ga__element *el, double force)
{
  double value;
  const ga_point p = ga__point_of(s);
  const ga__eval e = ga__eval_at(meter->work, &p, 1, 0);
  return el->type->value(&e, el, 0, &value) ? force : value;
}

static void check_unilateral(ga_meter *meter, const ga_state *s)
{
  for (int i = 0; i < meter->n_unilateral; i++) {
    ga__unilateral_record *o = &meter->unilateral[i];
    double force = o->way.sign * s->lambda[o->way.lambda];
    if (force < 0 && o->way.scaled) force = scaled_force(meter, s, o->way.scaled, force);
    if (fabs(force) > o->most) o->most = fabs(force);
    if (!(-force > o->worst) || !(-force > PULLS * o->most + NO_FORCE)) continue;
    if (o->worst == 0.0) o->since = s->t;
    o->worst = -force;
    o->worst_t = s->t;
  }
}

/* Number i of those with a force of the wrong sign; NULL: no more. */
static const ga__unilateral_record *pull_at(const ga_meter *meter, int i)
{
  for (int k = 0; meter && k < meter->n_unilateral; k++)
    if (meter->unilateral[k].worst > 0.0 && i-- == 0) return &meter->unilateral[k];
  return NULL;
}

int ga_meter_n_pulls(const ga_meter *meter)
{
  int n = 0;
  for (int k = 0; meter && k < meter->n_unilateral; k++) n += meter->unilateral[k].worst > 0.0;
  return n;
}

ga_status ga_meter_pull(const ga_meter *meter, int i, ga_pull *out)
{
  if (!meter) return GA_ERR_ARGUMENT;
  const ga__unilateral_record *o = i >= 0 ? pull_at(meter, i) : NULL;
  if (!out) return ga__refuse_null(meter->ctx, __func__, "out");
  if (!o)
    return ga__refuse(meter->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                      &(ga__facts){.function = __func__,
                                   .field = "i",
                                   GA__NUMBERS({i, NULL}, {ga_meter_n_pulls(meter), NULL})});
  *out = (ga_pull){meter->m->part[o->part].name, o->since, o->worst, o->worst_t};
  return GA_OK;
}

/* ---- Limits of spin ---- */

/* Fills list; NULL: only counts them. */
static int list_spin_limits(const ga__mbs_model *b, ga__spin_record *list)
{
  int n = 0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    ga__spin_limit spin;
    if (!el->type->spin_limit || !el->type->spin_limit(b, el, &spin)) continue;
    if (list) list[n] = (ga__spin_record){.part = el->part, .spin = spin};
    n++;
  }
  return n;
}

static void check_spin_limits(ga_meter *meter, const ga_state *s)
{
  for (int i = 0; i < meter->n_spin_limits; i++) {
    ga__spin_record *o = &meter->spin_limit[i];
    const double *w = s->v + o->spin.v, size = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (!(size > o->worst) || !(size > o->spin.limit)) continue;
    if (o->worst == 0.0) o->since = s->t;
    o->worst = size;
    o->worst_t = s->t;
  }
}

static void write_spins(ga__writer *w, const ga_meter *meter)
{
  for (int i = 0; i < meter->n_spin_limits; i++) {
    const ga__spin_record *o = &meter->spin_limit[i];
    const ga__part *part = &meter->m->part[o->part];
    if (!(o->worst > 0.0)) continue;
    ga__write(
        w,
        "%s '%s' turns faster than %.3g rad/s, at t = %.6g s for the first time, most at t = %.6g s with "
        "%.4g rad/s: %s\n",
        ga__part_text(part->kind), part->name, o->spin.limit, o->since, o->worst_t, o->worst,
        o->spin.neglect);
  }
}

/* One line for each limited angle that went beyond half a turn, where its value jumps to the other side. */
static void write_turned_over(ga__writer *w, const ga_meter *meter)
{
  const ga__mbs_model *b = meter->m->model;
  for (int i = 0; i < meter->n_turns; i++) {
    const ga__part *part = &meter->m->part[b->signals.limited[i]];
    if (!b->signals.limited[i] || meter->over[i] == 0) continue;
    ga__write(
        w,
        "%s '%s' turns over about %c, at t = %.6g s for the first time: its angle jumps there from half "
        "a turn to minus half a turn, and its torques with it. Turn one of its frames, or take a joint "
        "and a spring on its angle, which counts turns\n",
        ga__part_text(part->kind), part->name,
        "xyz"[GA__AT(b->gauge, ga__gauge, b->signals.counted_angle[i])->axis], meter -> over_t[i]);
  }
}

int ga_meter_pull_text(const ga_meter *meter, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  for (int k = 0; meter && k < meter->n_unilateral; k++) {
    const ga__unilateral_record *o = &meter->unilateral[k];
    const ga__part *part = &meter->m->part[o->part];
    if (!(o->worst > 0.0)) continue;
    ga__write(
        &w, "%s '%s' %s, at t = %.6g s for the first time, most at t = %.6g s with %.4g N: it would %s\n",
        ga__part_text(part->kind), part->name, o->way.does, o->since, o->worst_t, o->worst, o->way.would);
  }
  if (meter) write_turned_over(&w, meter);
  if (meter) write_spins(&w, meter);
  if (meter) ga__doubts_write(&w, meter->m, meter->doubt, meter->n_doubts);
  return (int)w.used;
}

enum { N_OF_ANGLE = 5 }; /* doubles for each counted angle in ga_meter */

ga_status ga_meter_create(ga_context *ctx, const ga_machine *m, ga_meter **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!m || !out) return ga__refuse_null(ctx, __func__, m ? "out" : "m");
  if (!m->model) return ga__refuse_order(ctx, __func__, GA__ONCE_BUILT);
  const size_t n = (size_t)m->model->signals.n_turns;
  ga_meter *meter = ga__alloc(ctx, 1, sizeof *meter);
  if (!meter) return ga__no_memory(ctx, "a meter");
  meter->ctx = ctx;
  meter->m = m;
  meter->n_turns = m->model->signals.n_turns;
  list_work(m->model, meter, 0);
  meter->angle = ga__alloc(ctx, N_OF_ANGLE * n, sizeof *meter->angle);
  meter->work_term = ga__alloc(ctx, (size_t)meter->n_work_terms, sizeof *meter->work_term);
  meter->fading = ga__alloc(ctx, (size_t)meter->n_work_terms, sizeof *meter->fading);
  meter->fading_inside = ga__alloc(ctx, (size_t)meter->n_work_terms, sizeof *meter->fading_inside);
  meter->spin = ga__alloc(ctx, 8 * n, sizeof *meter->spin);
  meter->n_unilateral = list_unilateral(m->model, NULL);
  meter->unilateral = ga__alloc(ctx, (size_t)meter->n_unilateral, sizeof *meter->unilateral);
  meter->n_spin_limits = list_spin_limits(m->model, NULL);
  meter->spin_limit = ga__alloc(ctx, (size_t)meter->n_spin_limits, sizeof *meter->spin_limit);
  meter->n_doubts = ga__doubts_list(m->model, NULL);
  meter->doubt = ga__alloc(ctx, (size_t)meter->n_doubts, sizeof *meter->doubt);
  int limits_need_kin = 0;
  meter->n_limits = ga__limits_list(m->model, NULL, &limits_need_kin);
  meter->limit = ga__alloc(ctx, (size_t)meter->n_limits, sizeof *meter->limit);
  meter->rigid_stops = has_rigid_stops(m->model);
  meter->n_impact = any_accepts_impacts(m->model) ? m->model->nv : 0;
  meter->v_before = ga__alloc(ctx, (size_t)meter->n_impact, sizeof *meter->v_before);
  const ga_status status = ga__workspace_create(ctx, m->model, 0, &meter->work);
  if (status || !meter->angle || !meter->work_term || !meter->fading || !meter->fading_inside ||
      !meter->spin || !meter->unilateral || !meter->spin_limit || !meter->doubt || !meter->limit ||
      !meter->v_before) {
    ga_meter_destroy(&meter);
    return ga__no_memory(ctx, "a meter");
  }
  list_work(m->model, meter, 1);
  list_unilateral(m->model, meter->unilateral);
  list_spin_limits(m->model, meter->spin_limit);
  ga__doubts_list(m->model, meter->doubt);
  ga__limits_list(m->model, meter->limit, &limits_need_kin);
  list_turning(m->model, meter);
  if (meter->n_doubts > 0 || limits_need_kin) meter->needs_kin = 1, meter->simple = 0;
  if (meter->n_limits > 0) meter->simple = 0;
  meter->rate = meter->angle + n;
  meter->turns = meter->angle + 2 * n;
  meter->over = meter->angle + 3 * n;
  meter->over_t = meter->angle + 4 * n;
  *out = meter;
  return GA_OK;
}

void ga_meter_destroy(ga_meter **meter)
{
  if (!meter || !*meter) return;
  ga_context *ctx = (*meter)->ctx; /* the machine may be gone */
  ga__free(ctx, (*meter)->angle);
  ga__free(ctx, (*meter)->work_term);
  ga__free(ctx, (*meter)->fading);
  ga__free(ctx, (*meter)->fading_inside);
  ga__free(ctx, (*meter)->spin);
  ga__free(ctx, (*meter)->unilateral);
  ga__free(ctx, (*meter)->spin_limit);
  ga__free(ctx, (*meter)->doubt);
  ga__free(ctx, (*meter)->limit);
  ga__free(ctx, (*meter)->v_before);
  ga__workspace_destroy((*meter)->work);
  ga__free(ctx, *meter);
  *meter = NULL;
}

/* ---- Turns ----
 *
 * An angle is evaluated once it can have changed by LOOK_AGAIN, far enough below half a turn to count turns
 * safely: it does not change faster than |ω_a| + |ω_b|, in whatever axes a form has them. If it changes by
 * that much in one step, it is evaluated after each step, and its rate predicts the change. */
#define LOOK_AGAIN 0.5 /* [rad] */

/* Uses the sum of components, a bound of |ω| that is cheaper. */
static double fastest_at(const ga_meter *meter, const double *v)
{
  double most = 0, sum = 0;
  for (const int *at = meter->spin, *end = at + meter->n_spin; at < end; at++) {
    if (*at >= 0) {
      sum += fabs(v[*at]);
      continue;
    }
    if (!(sum <= most)) most = sum;
    sum = 0;
  }
  return most;
}

/* Value in (−π, π] and rate of a counted angle, with one evaluation of its gauge. */
static void angle_at(const ga__eval *e, int turning, double *angle, double *rate)
{
  ga__probe probe = GA__NO_PROBE;
  ga__probe_cache seen;
  ga__probe_cache_reset(&seen);
  probe.kind = GA__PROBE_GAUGE;
  probe.gauge = e->b->signals.counted_angle[turning];
  ga__probe_read(&seen, e, &probe, angle);
  probe.kind = GA__PROBE_GAUGE_RATE;
  ga__probe_read(&seen, e, &probe, rate);
}

static void count_turns(ga_meter *meter, const ga__eval *e, double t, double h)
{
  const int passed =
      meter->moved > 0 && meter->n_spin > 0; /* the rate at the beginning of the step is unknown */
  for (int i = 0; i < meter->n_turns; i++) {
    double angle, rate;
    angle_at(e, i, &angle, &rate);
    const double expected =
        meter->angle[i] + GA__TWO_PI * meter->turns[i] + h * (passed ? rate : 0.5 * (meter->rate[i] + rate));
    meter->turns[i] = round((expected - angle) / GA__TWO_PI);
    if (meter->turns[i] != 0 && meter->over[i] == 0) meter->over[i] = 1, meter->over_t[i] = t;
    meter->angle[i] = angle;
    meter->rate[i] = rate;
  }
}

static ga_status fail_powers(const ga_meter *meter, int code, double t)
{
  return ga__refuse(meter->ctx, code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK, GA_REASON_NO_VALUE,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .kind = "meter",
                                 .field = "a force",
                                 .detail = "energies cannot be counted"});
}

ga_status ga_meter_start(ga_meter *meter, const ga_state *s)
{
  if (!meter) return GA_ERR_ARGUMENT;
  if (!s) return ga__refuse_null(meter->ctx, __func__, "the state");
  const ga_point p = ga__point_of(s);
  const ga__eval e = ga__eval_at(meter->work, &p, 1, 1);
  ga__powers now;
  const int code = ga__elements_powers(&e, &now);
  meter->started = meter->nodes.n = 0;
  if (code) return fail_powers(meter, code, s->t);
  meter->t = s->t;
  meter->dissipated = meter->input = 0;
  meter->start = now.kinetic + now.potential;
  meter->lost = now.lost;
  meter->in = now.in;
  for (int i = 0; i < meter->n_turns; i++) {
    angle_at(&e, i, &meter->angle[i], &meter->rate[i]);
    meter->turns[i] = meter->over[i] = meter->over_t[i] = 0;
  }
  meter->moved = 0;
  meter->fastest = fastest_at(meter, s->v);
  work_rates begin;
  memset(meter->fading, 0, (size_t)meter->n_work_terms * sizeof *meter->fading);
  work_at(meter, &e, meter->fading, &begin);
  meter->stored = begin.stored;
  meter->lost = begin.next;
  list_unilateral(meter->m->model, meter->unilateral);
  check_unilateral(meter, s);
  list_spin_limits(meter->m->model, meter->spin_limit);
  check_spin_limits(meter, s);
  ga__doubts_list(meter->m->model, meter->doubt);
  ga__doubts_check(meter->doubt, meter->n_doubts, &e);
  ga__limits_list(meter->m->model, meter->limit, &(int){0});
  ga__limits_check(meter->limit, meter->n_limits, &e, 0);
  keep_velocities(meter, s);
  meter->started = 1;
  return GA_OK;
}

/* ---- Integrals of powers ----
 *
 * Over the steps of order 2 by the trapezoidal rule, which is as accurate. Steps of higher order solve their
 * equations at nodes c_j: the polynomial through the powers there, integrated, has the order of the step, as
 * if the energies were further states of the system. */

/* Σ a_k s^(k+1) */
static double integral_at(const double *a, int n, double s)
{
  double sum = 0.0;
  for (int k = n - 1; k >= 0; k--) sum = (sum + a[k]) * s;
  return sum;
}

void ga__meter_span(const ga_meter *meter, double t, double lost, double in, double *dissipated,
                    double *input)
{
  const ga__power_nodes *p = &meter->nodes;
  const double h = p->end - p->begin, half = 0.5 * (t - meter->t);
  if (p->n > 0 && meter->t >= p->begin && meter->t <= p->end && t >= p->begin && t <= p->end) {
    const double from = (meter->t - p->begin) / h, to = (t - p->begin) / h;
    *dissipated = integral_at(p->lost, p->n, to) - integral_at(p->lost, p->n, from);
    *input = integral_at(p->in, p->n, to) - integral_at(p->in, p->n, from);
    return;
  }
  *dissipated = half * (meter->lost + lost);
  *input = half * (meter->in + in);
}

/* Powers at the times c[n] within the step, 0 to 1, become the coefficients of their integral over it, of
 * size h: Newton's divided differences, then powers of s. */
static void integrate_nodes(double *p, const double *c, int n, double h)
{
  double a[GA_MOST_NODES] = {0};
  for (int k = 1; k < n; k++)
    for (int j = n - 1; j >= k; j--) p[j] = (p[j] - p[j - 1]) / (c[j] - c[j - k]);
  for (int j = n - 1; j >= 0; j--) { /* a := a · (s − c_j) + p_j */
    for (int k = n - 1; k > 0; k--) a[k] = a[k - 1] - c[j] * a[k];
    a[0] = p[j] - c[j] * a[0];
  }
  for (int k = 0; k < n; k++) p[k] = h * a[k] / (k + 1);
}

/* Integrates over a step of h that ends with these powers. */
static void add_step(ga_meter *meter, double h, double lost, double in)
{
  double dissipated, input;
  ga__meter_span(meter, meter->t + h, lost, in, &dissipated, &input);
  meter->dissipated += dissipated;
  meter->input += input;
  meter->lost = lost;
  meter->in = in;
}

/* Skips the evaluation of angles; their rates are out of date from now on. */
static void pass_angles(ga_meter *meter, double moved)
{
  if (meter->moved == 0 && moved > 0 && meter->n_spin > 0)
    for (int i = 0; i < meter->n_turns; i++) meter->rate[i] = 0;
  meter->moved = moved;
}

/* Impacts at stops, by the velocities before them; the evaluation for s is made anew. */
static void check_impacts(ga_meter *meter, const ga_state *s, double h)
{
  if (!(h <= IMPACT_TIME * fmax(1.0, fabs(s->t)))) return;
  if (memcmp(meter->v_before, s->v, (size_t)meter->n_impact * sizeof *s->v) == 0) return;
  const ga_point after = ga__point_of(s);
  ga_point before = after;
  before.v = meter->v_before;
  const ga__eval e = ga__eval_at(meter->work, &before, 1, 0);
  ga__limits_check(meter->limit, meter->n_limits, &e, 1);
  ga__eval_at(meter->work, &after, 1, 0);
}

/* Update if there are other than simple work terms, or if angles have to be evaluated. */
static ga_status full_update(ga_meter *meter, const ga_state *s, double h, double moved)
{
  ga__workspace *w = meter->work;
  const int looks = meter->n_turns > 0 && (meter->watch || !(moved < LOOK_AGAIN));
  const double impact = ga__impact_work(meter, s);
  work_rates now;
  const ga_point p = ga__point_of(s);
  const ga__eval e =
      meter->needs_kin || looks ? ga__eval_at(w, &p, 1, 0) : (ga__eval){w->m, w->b, &p, w->kin, w};
  const int code = work_at(meter, &e, meter->fading, &now);
  if (code) return fail_powers(meter, code, s->t);
  add_step(meter, h, now.lost, now.in);
  meter->lost = now.next;
  meter->dissipated += now.faded;
  if (h <= SAME_TIME * fabs(s->t)) /* as by a road that jumps */
    meter->input += now.stored - meter->stored + now.faded;
  meter->stored = now.stored;
  ga__doubts_check(meter->doubt, meter->n_doubts, &e);
  ga__limits_check(meter->limit, meter->n_limits, &e, 0);
  if (meter->rigid_stops) check_impacts(meter, s, h);
  meter->at_stops = meter->rigid_stops && impact == 0 ? stop_work(meter, s) : 0.0;
  meter->dissipated -= meter->at_stops;
  meter->input += impact;
  if (looks)
    count_turns(meter, &e, s->t, h), meter->moved = 0;
  else
    pass_angles(meter, moved);
  return GA_OK;
}

/* The velocities of an event have jumped, which the last update took for an impact at stops. */
static int takes_work(ga_meter *meter)
{
  if (!meter || !meter->started) return 0;
  meter->dissipated += meter->at_stops;
  meter->at_stops = 0;
  return 1;
}

void ga_meter_add_loss(ga_meter *meter, double work)
{
  if (takes_work(meter)) meter->dissipated += work;
}

void ga_meter_add_input(ga_meter *meter, double work)
{
  if (takes_work(meter)) meter->input += work;
}

static ga_status powers_at_node(ga_meter *meter, const ga_stepper *st, int i, double *lost, double *in)
{
  ga_state s;
  work_rates now;
  const ga_status status = ga_stepper_node(st, i, &s);
  if (status) return status;
  const ga_point p = ga__point_of(&s);
  const ga__eval e = ga__eval_at(meter->work, &p, 1, 0);
  double *fading = meter->fading_inside;
  memcpy(fading, meter->fading, (size_t)meter->n_work_terms * sizeof *fading);
  const int code = work_at(meter, &e, fading, &now);
  if (code) return fail_powers(meter, code, s.t);
  *lost = now.lost;
  *in = now.in;
  return GA_OK;
}

ga_status ga_meter_follow(ga_meter *meter, const ga_stepper *st)
{
  if (!meter) return GA_ERR_ARGUMENT;
  if (!st) return ga__refuse_null(meter->ctx, __func__, "st");
  if (ga_stepper_system(st) != ga_machine_system(meter->m))
    return ga__refuse(meter->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_OF_THIS_MACHINE,
                      &(ga__facts){.function = __func__, .field = "st"});
  ga__power_nodes *p = &meter->nodes;
  double at[GA_MOST_NODES], c[GA_MOST_NODES], begin = 0.0;
  const int n = meter->started && meter->n_work_terms > 0 ? ga_stepper_nodes(st, &begin, at) : 0;
  if (n > 0 && p->n == n && p->begin == begin && p->end == at[n - 1]) return GA_OK; /* done before */
  p->n = 0;
  if (n == 0) return GA_OK;
  const double end = at[n - 1], h = end - begin;
  for (int i = 0; i < n; i++) {
    const ga_status status = powers_at_node(meter, st, i, &p->lost[i], &p->in[i]);
    if (status) return status;
    c[i] = (at[i] - begin) / h;
  }
  integrate_nodes(p->lost, c, n, h);
  integrate_nodes(p->in, c, n, h);
  p->n = n;
  p->begin = begin;
  p->end = end;
  return GA_OK;
}

ga_status ga_meter_update(ga_meter *meter, const ga_state *s)
{
  if (!meter) return GA_ERR_ARGUMENT;
  if (!meter->started) return ga__refuse_order(meter->ctx, __func__, "after ga_meter_start()");
  if (!s) return ga__refuse_null(meter->ctx, __func__, "the state");
  if (!(s->t >= meter->t))
    return ga__refuse(meter->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.function = __func__,
                                   .field = "the state's time",
                                   .expected = "that of the state before or later",
                                   GA__NUMBERS({s->t, NULL}, {meter->t, NULL})});
  const double h = s->t - meter->t, fastest = fastest_at(meter, s->v);
  const double moved = meter->moved + h * (meter->fastest + fastest); /* 2 · ½ h (...) */
  if (!meter->simple || !(moved < LOOK_AGAIN)) {
    const ga_status status = full_update(meter, s, h, moved);
    if (status) return status;
  } else {
    double lost = 0, in = 0;
    simple_work(meter->work_term, meter->n_work_terms, s->v, s->y, &lost, &in);
    add_step(meter, h, lost, in);
    pass_angles(meter, moved);
  }
  meter->fastest = fastest;
  meter->t = s->t;
  keep_velocities(meter, s);
  if (meter->n_unilateral > 0) check_unilateral(meter, s);
  if (meter->n_spin_limits > 0) check_spin_limits(meter, s);
  return GA_OK;
}

/* ---- Saving ---- */

enum { N_SAVED = 10, N_SAVED_UNILATERAL = 4, N_SAVED_SPIN = 3 };

static size_t first_unilateral(const ga_meter *meter)
{
  return N_SAVED + N_OF_ANGLE * (size_t)meter->n_turns;
}

size_t ga_meter_saved_size(const ga_meter *meter)
{
  return meter ? first_unilateral(meter) + N_SAVED_UNILATERAL * (size_t)meter->n_unilateral +
                     N_SAVED_SPIN * (size_t)meter->n_spin_limits + GA__DOUBT_SAVED * (size_t)meter->n_doubts +
                     GA__LIMIT_SAVED * (size_t)meter->n_limits +
                     (size_t)meter->n_work_terms + (size_t)meter->n_impact
               : 0;
}

void ga_meter_save(const ga_meter *meter, double *saved)
{
  if (!meter || !saved) return;
  const double fixed[N_SAVED] = {meter->started, meter->t,  meter->dissipated, meter->input,   meter->start,
                                 meter->lost,    meter->in, meter->moved,      meter->fastest, meter->stored};
  memcpy(saved, fixed, sizeof fixed);
  memcpy(saved + N_SAVED, meter->angle, N_OF_ANGLE * (size_t)meter->n_turns * sizeof *saved);
  saved += first_unilateral(meter);
  for (int i = 0; i < meter->n_unilateral; i++, saved += N_SAVED_UNILATERAL) {
    const ga__unilateral_record *o = &meter->unilateral[i];
    saved[0] = o->most, saved[1] = o->since, saved[2] = o->worst, saved[3] = o->worst_t;
  }
  for (int i = 0; i < meter->n_spin_limits; i++, saved += N_SAVED_SPIN) {
    const ga__spin_record *o = &meter->spin_limit[i];
    saved[0] = o->since, saved[1] = o->worst, saved[2] = o->worst_t;
  }
  ga__doubts_save(meter->doubt, meter->n_doubts, saved);
  saved += GA__DOUBT_SAVED * meter->n_doubts;
  ga__limits_save(meter->limit, meter->n_limits, saved);
  saved += GA__LIMIT_SAVED * meter->n_limits;
  memcpy(saved, meter->fading, (size_t)meter->n_work_terms * sizeof *saved);
  saved += meter->n_work_terms;
  if (meter->n_impact) memcpy(saved, meter->v_before, (size_t)meter->n_impact * sizeof *saved);
}

ga_status ga_meter_load(ga_meter *meter, const double *saved)
{
  if (!meter) return GA_ERR_ARGUMENT;
  if (!saved) return ga__refuse_null(meter->ctx, __func__, "saved");
  const size_t n = ga_meter_saved_size(meter);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(saved[i]))
      return ga__refuse(meter->ctx, GA_ERR_NAN, GA_REASON_SAVED_STATE,
                        &(ga__facts){.function = __func__,
                                     .field = "saved",
                                     .item = (int)i + 1,
                                     .expected = "finite",
                                     GA__NUMBERS({saved[i], NULL})});
  meter->started = saved[0] != 0;
  meter->nodes.n = 0;
  meter->t = saved[1];
  meter->dissipated = saved[2];
  meter->input = saved[3];
  meter->start = saved[4];
  meter->lost = saved[5];
  meter->in = saved[6];
  meter->moved = saved[7];
  meter->fastest = saved[8];
  meter->stored = saved[9];
  memcpy(meter->angle, saved + N_SAVED, N_OF_ANGLE * (size_t)meter->n_turns * sizeof *saved);
  saved += first_unilateral(meter);
  for (int i = 0; i < meter->n_unilateral; i++, saved += N_SAVED_UNILATERAL) {
    ga__unilateral_record *o = &meter->unilateral[i];
    o->most = saved[0], o->since = saved[1], o->worst = saved[2], o->worst_t = saved[3];
  }
  for (int i = 0; i < meter->n_spin_limits; i++, saved += N_SAVED_SPIN) {
    ga__spin_record *o = &meter->spin_limit[i];
    o->since = saved[0], o->worst = saved[1], o->worst_t = saved[2];
  }
  ga__doubts_load(meter->doubt, meter->n_doubts, saved);
  saved += GA__DOUBT_SAVED * meter->n_doubts;
  ga__limits_load(meter->limit, meter->n_limits, saved);
  saved += GA__LIMIT_SAVED * meter->n_limits;
  memcpy(meter->fading, saved, (size_t)meter->n_work_terms * sizeof *saved);
  saved += meter->n_work_terms;
  if (meter->n_impact) memcpy(meter->v_before, saved, (size_t)meter->n_impact * sizeof *saved);
  return GA_OK;
}
