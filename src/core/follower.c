/* A stepper that covers the steps of another one in parts. */
#include "core/sample.h"
#include "core/arrays.h"
#include "core/collocation.h"
#include "core/simulate.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_PARTS = 64 };
#define OF_LEADER                                                                                            \
  0.1 /* tolerance of iterations relative to the leader's: differences of both must be errors */
/* A leader restarts at the far side of a jump: the place of the jump is known within a part of the run,
 * unknown to the follower. A larger gap, relative to 1 s or the time itself, is an error. */
#define RESTART_GAP 1e-9
#define BEHIND_GAP 3e-6 /* the same behind an edge, after repeated GA__FURTHER */
/* A part that differs from the one before by less than this, relative, has equal length: factors are kept.
 * It does not pass the leader's end except by rounding: there may be a jump. */
#define EQUAL 1e-10
#define ROUNDINGS 4.0
#define HERE 1e-9         /* [-] of a part: an edge this close counts as at its beginning */
#define MOMENT 1e-6       /* [-] of the leader's last step: no step is made for less */
enum { AHEAD = 2 };       /* leader's steps: the one that ends before its edge, and the short one over it */
enum { MOST_STARTS = 8 }; /* with ever smaller steps */

struct ga_follower {
  ga_context *ctx;
  ga_stepper *st;
  ga_follower_opts opts;
  ga_start_opts start;
  int started;
  int observed;            /* 1: the observer has been given the current state */
  int at_jump;             /* 1: and is being given one that stands before an edge or event */
  double t_step, t_target; /* [s] beginning and end of the leader's current step */
  long steps, subdivided;
  ga__sides sides;
  double sampled; /* [s] samples up to this time have been met */
  double gap;     /* [s] from the current state to just behind an edge, for the restart there; 0: none */
  int n_edges;    /* edges met within the leader's step */
  int ahead; /* leader's steps in which the follower may be behind an edge that the leader has not met yet */
  double h_ahead;          /* [s] size of steps there; 0: not known yet */
  double *weight;          /* [nv] tolerances of errors of q */
  ga_simulate_opts leader; /* its tolerances */
  int event;               /* that the current state stands at; −1: none */
  ga_simulator *events;    /* looks for events in the follower's steps, and restarts there; NULL: none */
  ga_state inside;         /* an interpolated state, in the arrays below */
  double *block, *q, *v, *vdot, *lambda, *psi, *x, *xdot, *y;
};

ga_follower_opts ga_follower_defaults(void)
{
  return (ga_follower_opts){.parts = 2};
}

/* ---- Creation ---- */

static ga_status take_memory(ga_follower *f)
{
  const ga_system *sys = f->st->sys;
  const int *size = sys->size;
  const ga__array part[] = {{&f->q, (size_t)sys->nq},
                            {&f->v, (size_t)sys->nv},
                            {&f->vdot, (size_t)sys->nv},
                            {&f->lambda, (size_t)size[GA_BLOCK_LAMBDA]},
                            {&f->psi, (size_t)size[GA_BLOCK_PSI]},
                            {&f->x, (size_t)size[GA_BLOCK_X]},
                            {&f->xdot, (size_t)size[GA_BLOCK_X]},
                            {&f->y, (size_t)size[GA_BLOCK_Y]},
                            {&f->weight, (size_t)sys->nv}};
  return ga__arrays_create(f->ctx, GA__ARRAYS(part), "a follower", &f->block, NULL);
}

/* A simulator that makes no steps of its own. */
static ga_status watch_events(ga_follower *f)
{
  ga_simulate_opts o = f->leader;
  o.output = NULL, o.observer = NULL;
  o.output_every = 0.0;
  o.n_output_times = 0;
  o.defect_points = 0;
  o.fixed_h /= f->opts.parts;
  return ga_simulator_create(f->ctx, f->st, &o, &f->events);
}

ga_status ga_follower_create(ga_context *ctx, ga_stepper *st, const ga_follower_opts *opts, ga_follower **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !st) return ga__refuse_null(ctx, __func__, out ? "st" : "out");
  if (st->ctx != ctx)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OTHER_CONTEXT,
                      &(ga__facts){.function = __func__, .field = "st"});
  const ga_follower_opts o = opts ? *opts : ga_follower_defaults();
  if (o.parts < 1 || o.parts > MOST_PARTS)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                      &(ga__facts){.kind = "follower",
                                   .field = "parts",
                                   .expected = "within its range",
                                   GA__NUMBERS({o.parts, NULL}, {1, NULL}, {MOST_PARTS, NULL})});
  ga_follower *f = ga__alloc(ctx, 1, sizeof *f);
  if (!f) return ga__no_memory(ctx, "a follower");
  f->ctx = ctx;
  f->st = st;
  st->meets_samples = 1;
  f->opts = o;
  f->event = -1;
  ga_status status = take_memory(f);
  st->follows = 1;
  f->leader = o.leader ? *o.leader : ga_simulate_defaults();
  if (!status) status = ga__sides_create(ctx, st->sys, &f->leader, &f->sides);
  if (!status && f->leader.n_events > 0) status = watch_events(f);
  if (o.leader) ga__sim_begin_order(st, o.leader, OF_LEADER);
  f->opts.leader = NULL;
  if (status)
    ga_follower_destroy(&f);
  else
    *out = f;
  return status;
}

void ga_follower_destroy(ga_follower **f)
{
  if (!f || !*f) return;
  ga_context *ctx = (*f)->ctx;
  ga__free(ctx, (*f)->block);
  ga__sides_free(&(*f)->sides);
  ga_simulator_destroy(&(*f)->events);
  ga__free(ctx, *f);
  *f = NULL;
}

/* ---- Starts ---- */

static ga_status call_observer(ga_follower *f)
{
  if (f->observed) return GA_OK;
  f->observed = 1;
  return f->opts.observer && f->opts.observer(f->opts.user, f->st) ? GA_STOPPED : GA_OK;
}

/* The same for a state before an edge or event of its own. */
static ga_status call_before_jump(ga_follower *f)
{
  f->at_jump = 1;
  const ga_status status = call_observer(f);
  f->at_jump = 0;
  return status;
}

static ga_status check_size(ga_follower *f, const char *where, double h)
{
  if (h > 0.0 && isfinite(h)) return GA_OK;
  return ga__refuse(
      f->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
      &(ga__facts){
          .function = where, .field = "h", .expected = "positive and finite", GA__NUMBERS({h, NULL})});
}

static ga_status check_started(ga_follower *f, const char *where)
{
  if (f->started) return GA_OK;
  return ga__refuse_order(f->ctx, where, "after ga_follower_start()");
}

/* t against the end of the leader's last step */
static ga_status refuse_time(ga_follower *f, const char *where, double t, const char *expected)
{
  return ga__refuse(f->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                    &(ga__facts){.function = where,
                                 .field = "t",
                                 .expected = expected,
                                 GA__NUMBERS({t, NULL}, {f->t_target, NULL})});
}

static double time_of(const ga_follower *f)
{
  return f->st->now.scalar[GA__T];
}

/* Starts. If that cannot be evaluated, tries smaller steps, as the leader does. */
static ga_status begin(ga_follower *f, ga_start_opts start, double t, const double *q, const double *v,
                       const double *x, const double *lambda, const double *psi)
{
  ga_status status = ga_stepper_start(f->st, &start, t, q, v, x, lambda, psi, NULL);
  ga__sides_forget(&f->sides);
  for (int i = 0; status > 0 && i < MOST_STARTS; i++) {
    start.h *= GA__AFTER_FAILURE;
    status = ga_stepper_start(f->st, &start, t, q, v, x, lambda, psi, NULL);
  }
  return status;
}

/* ---- Events ---- */

/* Events are looked for from the current state on. first 1: the follower has just started. */
static ga_status begin_events(ga_follower *f, int first)
{
  ga_simulator *sim = f->events;
  if (!sim) return GA_OK;
  if (first) {
    sim->t0 = time_of(f);
    sim->start = f->start;
    ga__breaks_begin(&sim->breaks, sim->opts.t_end);
    sim->stats.events = 0;
    for (int i = 0; i < sim->opts.n_events; i++)
      sim->fired[i] = -DBL_MAX, sim->since[i] = DBL_MAX, sim->unsure[i] = 1.0; /* the leader reports */
  }
  return ga__sim_evaluate_events(sim, &f->st->view, sim->g);
}

/* Events of the last step, whose part of the leader's step is `part`: where one of them changes the motion,
 * the step ends on it, and the next one begins with what it changes. */
static ga_status reach_event(ga_follower *f, double part)
{
  ga_simulator *sim = f->events;
  if (!sim || !f->st->can_undo) return GA_OK; /* it was taken back: an edge is at its beginning */
  if (!(sim->opts.fixed_h > 0.0)) sim->opts.h_first = part;
  const ga_status status = ga__sim_reach_event(sim, 0.0, &f->event);
  if (f->event < 0 && status >= 0) ga__copy_numbers(sim->g, sim->g_new, sim->opts.n_events);
  if (f->event >= 0) f->gap = 0.0;
  return status < 0 ? status : GA_OK;
}

/* An event that ends the run ends that of the leader; the follower goes on. */
static ga_status act_on_event(ga_follower *f)
{
  ga_simulator *sim = f->events;
  ga_status status = call_before_jump(f);
  if (!status) status = ga__sim_act_on_event(sim, f->event);
  f->event = sim->last_event = -1;
  f->observed = 0;
  f->ahead = sim->opts.fixed_h > 0.0 ? 0 : AHEAD;
  f->h_ahead = 0.0;
  ga__sides_forget(&f->sides);
  return status == GA_STOPPED ? GA_OK : status;
}

ga_status ga_follower_start(ga_follower *f, const ga_start_opts *start, double h, const ga_state *leader)
{
  if (!f) return GA_ERR_ARGUMENT;
  if (!leader) return ga__refuse_null(f->ctx, __func__, "leader");
  ga_status status = check_size(f, "ga_follower_start", h);
  if (status) return status;
  f->started = 0;
  f->start = start ? *start : ga_start_defaults();
  f->start.h = h / f->opts.parts;
  status = begin(f, f->start, leader->t, leader->q, leader->v, leader->x, leader->lambda, leader->psi);
  if (status) return status;
  f->started = 1;
  f->observed = 0;
  f->gap = 0.0;
  f->event = -1;
  f->ahead = 0;
  f->t_step = f->t_target = f->sampled = leader->t;
  f->steps = f->subdivided = 0;
  status = begin_events(f, 1);
  return status ? status : call_observer(f);
}

/* Restarts at t from the current q, v, x. */
static ga_status start_at(ga_follower *f, double t, double h)
{
  const ga_system *sys = f->st->sys;
  const ga__state *now = &f->st->now;
  ga_start_opts start = f->start;
  memcpy(f->q, now->q, (size_t)sys->nq * sizeof(double));
  memcpy(f->v, now->v, (size_t)sys->nv * sizeof(double));
  memcpy(f->x, now->x, (size_t)sys->size[GA_BLOCK_X] * sizeof(double));
  ga__extrapolate_motion(f->st, t, 0.0, f->q, f->v, f->x);
  const double from = fmax(time_of(f) - 64.0 * DBL_EPSILON * fabs(t), f->sampled);
  ga_status status = ga__sample(f->st, from, t, f->q, f->v, f->x);
  if (status) return status;
  f->sampled = t;
  memcpy(f->lambda, now->lambda, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
  memcpy(f->psi, now->psi, (size_t)sys->size[GA_BLOCK_PSI] * sizeof(double));
  start.h = h;
  start.forward = 1;
  start.max_change = HUGE_VAL; /* as the leader's: velocities may jump there, where that is accepted */
  f->started = 0;
  f->gap = 0.0;
  ga__start_again(f->st, GA__FOLLOWING);
  status = begin(f, start, t, f->q, f->v, f->x, f->lambda, f->psi);
  ga__start_first(f->st);
  if (f->events) ga__copy_numbers(f->events->g_new, f->events->g, f->events->opts.n_events);
  if (!status) status = begin_events(f, 0);
  if (!status && f->events) ga__sim_keep_sides_in_jump(f->events);
  f->started = !status;
  f->observed = 0;
  return status;
}

/* Moves from just before to just behind an edge. */
static ga_status pass_edge(ga_follower *f)
{
  if (!(f->gap > 0.0)) return GA_OK;
  const ga_status status = call_observer(f);
  if (status) return status;
  ga__step_over_gap(f->st, f->gap);
  f->gap = -f->gap;
  f->observed = 0;
  return GA_OK;
}

/* The leader moves to just behind its edge. This short time need not be short here: a follower that has
 * passed its own edge before may have much smaller steps, and makes them. */
ga_status ga_follower_pass(ga_follower *f, double t)
{
  if (!f) return GA_ERR_ARGUMENT;
  const double leader = fmax(f->t_target - f->t_step, f->start.h);
  const ga_status status = ga_follower_lead(f, t, 0);
  if (status) return status;
  const double gap = t - time_of(f), own = f->st->now.scalar[GA__H_OLD];
  if (gap > fmax(GA__NEAR_EDGE * own, MOMENT * leader)) return GA_OK;
  f->t_step = t;
  f->gap = gap; /* an edge further ahead is found again */
  return pass_edge(f);
}

ga_status ga_follower_restart(ga_follower *f, double t, double h)
{
  if (!f) return GA_ERR_ARGUMENT;
  ga_status status = check_started(f, "ga_follower_restart");
  if (!status) status = check_size(f, "ga_follower_restart", h);
  const double later = t - f->t_target, most = fmax(fabs(t), 1.0);
  if (!status && !(later >= -RESTART_GAP * most && later <= BEHIND_GAP * most))
    status = refuse_time(f, __func__, t, "where the leader's last step ended");
  if (!status) status = ga_follower_reach(f, f->t_target, NULL);
  if (!status) status = call_observer(f);
  if (status) return status;
  status = start_at(f, fmax(t, time_of(f)), h / f->opts.parts); /* never back */
  f->t_step = f->t_target = t;
  f->n_edges = f->ahead = 0;
  return status ? status : call_observer(f); /* so that what it sums up is known behind the jump too */
}

/* ---- Going along ---- */

/* Differences of time that rounding makes. */
static double time_rounding(const ga_follower *f)
{
  return 64.0 * DBL_EPSILON * fmax(fabs(f->t_target), fabs(f->t_step)) + EQUAL * (f->t_target - f->t_step);
}

static ga_status fail_parts(ga_follower *f, double h)
{
  const ga_error *e = ga_context_error(f->ctx);
  return ga__refuse(f->ctx, GA_ERR_STEP, GA_REASON_PARTS_FAIL,
                    &(ga__facts){.at = &(ga__fact_time){time_of(f), h, e->block, e->index},
                                 .equation = e->equation,
                                 .detail = e->text});
}

/* Sizes tried if a part fails: first all that is left of the leader's step, since the end of the part may
 * be the problem, as a singular position; then fractions of the part. */
static const double ANOTHER[] = {1.0, 0.0, 0.6, 0.3, 0.8, 0.1, 0.45, 0.03, 0.01, 1e-3, 1e-4, 1e-5};
enum { N_ANOTHER = sizeof ANOTHER / sizeof *ANOTHER };

/* 1: a part of this size from the current time on can replace one of size h. */
static int is_as_good(const ga_follower *f, double size, double h, double whole)
{
  const double latest = f->t_target + ROUNDINGS * DBL_EPSILON * fabs(f->t_target);
  return fabs(h - size) <= EQUAL * whole && time_of(f) + size <= latest;
}

enum { MOST_EDGES = 20 }; /* within a step of the leader */

/* The current state is `gap` before an edge; more after a start that fell back before it. */
static void stand_at_edge(ga_follower *f, double gap, double h)
{
  const double margin = GA__BEHIND_EDGE * h + 64.0 * DBL_EPSILON * fabs(time_of(f));
  f->gap = gap + margin * pow(GA__FURTHER, f->n_edges < GA__MOST_FURTHER ? f->n_edges : GA__MOST_FURTHER);
  f->n_edges++;
}

/* All parts of size h or less have failed: 1: since an edge is so close that steps with several nodes lie on
 * both of its sides. The state stands at it then. */
static int is_held_by_edge(ga_follower *f, double h, double whole)
{
  double gap;
  if (f->st->sys->def.n_sides == 0 || f->n_edges >= MOST_EDGES) return 0;
  ga__sides_gap(&f->sides, f->st, fmin(h, GA__NEAR_EDGE * whole), &gap);
  if (isinf(gap)) return 0;
  stand_at_edge(f, gap, h);
  return 1;
}

/* If a part of size h has passed an edge, it is replaced by one that ends before the edge, and the next one
 * starts behind it. The leader passes the same edge at another time. */
static ga_status stop_at_edge(ga_follower *f, double h)
{
  ga_stepper *st = f->st;
  ga__edge_met met;
  ga__aim aim = {0.0, 0.0, 0, 0};
  double made = h, again = 0.0, gap;
  while (f->n_edges < MOST_EDGES) {
    ga_status status = ga__sides_find(&f->sides, st, &met);
    if (status || (aim.n == 0 && isinf(met.before))) return status;
    if (isinf(met.before)) { /* before it now */
      again = ga__aim_longer(&f->sides, st, &aim, made, &gap);
      if (again == 0.0 && isfinite(gap)) stand_at_edge(f, gap, h);
      if (again == 0.0) return GA_OK;
    }
    if ((status = ga_stepper_undo(st))) return status;
    do {
      if (isfinite(met.before) || status > 0)
        again = ga__aim_shorter(&f->sides, st, &aim, made, met.before - time_of(f));
      if (aim.n > GA__MOST_AIMS && isfinite(met.before) && ga__sides_is_switch(&f->sides, met.which)) {
        stand_at_edge(f, met.behind - time_of(f) + GA__PAST_SWITCH * h, h);
        return GA_OK;
      }
      if (aim.n > GA__MOST_AIMS) return ga_stepper_step(st, h); /* over it, as before */
      if (again > fmax(HERE * h, time_rounding(f))) continue;
      ga__sides_gap(&f->sides, st, 2.0 * HERE * h + 4.0 * time_rounding(f), &gap); /* it is there already */
      if (isinf(gap)) return ga_stepper_step(st, h);
      stand_at_edge(f, gap, h);
      return GA_OK;
    } while ((status = ga_stepper_step(st, made = again)) > 0);
    if (status) return status;
  }
  return GA_OK;
}

/* [s] behind an edge: a part, or what is left of the leader's step. */
static double start_size(const ga_follower *f)
{
  const double part = (f->t_target - f->t_step) / f->opts.parts, left = f->t_target - time_of(f);
  return left > 0.0 && left < part ? left : part;
}

/* ---- Ahead of the leader ----
 * Behind an edge that the leader reaches later, the leader's steps are no guide: a ball that has touched
 * the floor while the leader's still flies needs the steps of the contact. Errors are then controlled by
 * the leader's tolerances, for parts of its steps, until it has met the edge too. */
enum { MOST_TRIES = 40 };

/* Largest error of the last step over its tolerance. */
static ga_status error_ratio(ga_follower *f, double *ratio)
{
  const ga_stepper *st = f->st;
  const ga_simulate_opts *o = &f->leader;
  const ga_status status = ga__estimate(f->st, 1);
  ga__tally t = {0};
  *ratio = 0.0;
  if (status) return status;
  ga__tally_q(&t, o, st, st->est_q, f->weight);
  for (int i = 0; i < st->sys->nv; i++) ga__tally_add(&t, st->est_v[i], ga__tolerance_v(o, st->now.v[i]), i);
  ga__tally_x(&t, o, st, st->est_x);
  *ratio = t.largest;
  return GA_OK;
}

/* A step of size h at most; *made: its size. > 0: none was found. */
static ga_status careful_step(ga_follower *f, double h, double *made)
{
  const double most =
      pow(f->opts.parts, -3.0); /* tolerance relative to the leader's, by order 3 in the number of parts */
  ga_status status = GA_RETRY_NEWTON;
  if (f->h_ahead > 0.0 && f->h_ahead < h) h = f->h_ahead;
  for (int i = 0; i < MOST_TRIES && time_of(f) + h > time_of(f); i++) {
    double ratio = 0.0, factor = GA__AFTER_FAILURE;
    status = ga_stepper_step(f->st, *made = h);
    if (status < 0) return status;
    if (!status) {
      status = error_ratio(f, &ratio);
      if (status < 0) return status;
      if (!status) factor = ratio > 0.0 ? GA__SAFETY * cbrt(most / ratio) : GA__GROW;
      if (!status && ratio <= most) {
        f->h_ahead = fmin(factor, GA__GROW) * h;
        return GA_OK;
      }
      const ga_status back = ga_stepper_undo(f->st);
      if (back) return back;
      status = GA_RETRY_NEWTON;
    }
    h *= fmin(fmax(factor, GA__SHRINK), GA__SAFETY);
  }
  return status;
}

/* A part of the leader's step. Where equations have several solutions, long steps of collocation may find
 * another one than the leader: errors far above the tolerance show it, and the step counts as failed. */
#define WILD 30.0

static ga_status make_part(ga_follower *f, double h)
{
  double ratio;
  ga_status status = ga_stepper_step(f->st, h);
  if (status || !f->st->family->estimate || f->leader.fixed_h > 0.0) return status;
  if ((status = error_ratio(f, &ratio)) < 0) return status;
  if (!status && ratio <= WILD) return GA_OK;
  const ga_status back = ga_stepper_undo(f->st);
  return back ? back : GA_RETRY_NEWTON;
}

/* One step of the follower: the next part of the leader's step, or a smaller one. */
static ga_status next_part(ga_follower *f)
{
  if (f->event >= 0) return act_on_event(f);
  if (f->gap > 0.0) {
    const ga_status shown = call_before_jump(f);
    return shown ? shown : pass_edge(f);
  }
  if (f->gap < 0.0) {
    ga_status seen = call_observer(f);
    if (!seen) seen = start_at(f, time_of(f), start_size(f));
    f->ahead = AHEAD;
    f->h_ahead = 0.0;
    return seen;
  }
  const double whole = (f->t_target - f->t_step) / f->opts.parts, t = time_of(f);
  const double k = floor((t - f->t_step) / whole + 1e-6); /* parts that are done */
  double h = f->t_step + (k + 1.0) * whole - t;
  if (k + 1.0 >= f->opts.parts) h = f->t_target - t;
  const double last = f->st->now.scalar[GA__H_OLD];
  if (is_as_good(f, last, h, whole))
    h = last;
  else if (is_as_good(f, whole, h, whole))
    h = whole;
  ga_status status = call_observer(f);
  if (status) return status;
  double other = h;
  status = f->ahead ? careful_step(f, h, &other) : GA_RETRY_NEWTON;
  for (int i = 0; status > 0 && i < N_ANOTHER; i++) {
    other = ANOTHER[i] > 0.0 ? ANOTHER[i] * h : f->t_target - t;
    if (i == 1) f->subdivided++;
    if (i == 1 && other <= h) continue; /* the part is all that is left */
    if (t + other > t) status = make_part(f, other);
  }
  if (status > 0) return is_held_by_edge(f, h, whole) ? GA_OK : fail_parts(f, other);
  if (!status) status = stop_at_edge(f, other);
  if (status > 0) return fail_parts(f, other);
  if (!status) status = reach_event(f, whole);
  if (status) return status;
  f->steps++;
  f->observed = 0;
  return GA_OK;
}

/* The order of the leader's next step, odd for stiff equations; another member of the method begins with a
 * restart. */
static ga_status take_order(ga_follower *f, int order)
{
  ga_stepper *st = f->st;
  const int second = order > 2;
  if (st->opts.order != 0 || order == 0) return GA_OK;
  if (ga__has_members(st) && second != ga__member_is_second(st)) {
    const double h = fmax(st->now.scalar[GA__H_OLD], f->start.h);
    ga_status status = call_observer(f);
    if (status) return status;
    ga__member_use(st, second);
    if ((status = start_at(f, time_of(f), h))) return status;
  }
  if (!second || !st->method->has_order) return GA_OK;
  st->order = order + order % 2;
  if (order % 2 != 0) {
    st->now.own[GA__COLLOC_STIFF] = fmax(st->now.own[GA__COLLOC_STIFF], 1.0);
    st->now.own[GA__COLLOC_DAMPS] = 1.0;
  }
  return GA_OK;
}

ga_status ga_follower_lead(ga_follower *f, double t, int order)
{
  if (!f) return GA_ERR_ARGUMENT;
  ga_status status = check_started(f, "ga_follower_lead");
  if (!status && !(t > f->t_target))
    status = refuse_time(f, __func__, t, "after the end of the leader's step before");
  if (!status) status = ga_follower_reach(f, f->t_target, NULL);
  if (!status) status = take_order(f, order);
  if (status) return status;
  f->t_step = f->t_target;
  f->t_target = t;
  f->n_edges = 0;
  if (f->ahead > 0) f->ahead--;
  return GA_OK;
}

ga_status ga_follower_reach(ga_follower *f, double t, const ga_state **s)
{
  if (!f) return GA_ERR_ARGUMENT;
  ga_status status = check_started(f, "ga_follower_reach");
  if (status) return status;
  const double slack = time_rounding(f);
  if (t > f->t_target && t - f->t_target <= RESTART_GAP * fmax(fabs(t), 1.0))
    t = f->t_target; /* a record at a jump, before which the leader's step has ended */
  if (!(t <= f->t_target + slack)) return refuse_time(f, __func__, t, "at most that of the leader");
  while (!status && time_of(f) < t - slack) status = next_part(f);
  if (status || !s) return status;
  *s = &f->st->view;
  if (t >= time_of(f) - slack || !f->st->can_undo) return GA_OK;
  t = fmax(t, f->st->next.scalar[GA__T]); /* it went far ahead to meet an event that only the leader has */
  status = ga__interpolate(f->st, t,
                           &(ga__inside){.q = f->q,
                                         .v = f->v,
                                         .vdot = f->vdot,
                                         .lambda = f->lambda,
                                         .psi = f->psi,
                                         .x = f->x,
                                         .xdot = f->xdot,
                                         .y = f->y});
  if (status) return status;
  f->inside = (ga_state){t,      f->q, f->v, f->vdot, NULL, f->lambda, /* a, η, w: of steps only */
                         f->psi, NULL, f->x, f->xdot, NULL, f->y};
  *s = &f->inside;
  return GA_OK;
}

/* An event changes the motion of the leader at t. The follower's own one may have been earlier, or is yet to
 * come: then it goes on until it has happened, within one more step of the leader. */
ga_status ga_follower_meet(ga_follower *f, double t, long events)
{
  if (!f) return GA_ERR_ARGUMENT;
  ga_status status = check_started(f, __func__);
  if (!status && t > f->t_target) status = ga_follower_lead(f, t, 0);
  if (!status) status = ga_follower_reach(f, f->t_target, NULL);
  if (status) return status;
  const double step = fmax(f->t_target - f->t_step, f->start.h);
  f->t_step = fmax(t, time_of(f)), f->t_target = f->t_step + step;
  while (!status && f->events && f->events->stats.events < events &&
         time_of(f) < f->t_target - time_rounding(f))
    status = next_part(f);
  f->t_step = f->t_target = t;
  f->n_edges = f->ahead = 0;
  return status ? status : call_observer(f);
}

long ga_follower_events(const ga_follower *f)
{
  return f && f->events ? f->events->stats.events : 0;
}

double ga_follower_time(const ga_follower *f)
{
  return f ? f->t_target : 0.0;
}
int ga_follower_at_jump(const ga_follower *f)
{
  return f ? f->at_jump : 0;
}
long ga_follower_steps(const ga_follower *f)
{
  return f ? f->steps : 0;
}
long ga_follower_subdivided(const ga_follower *f)
{
  return f ? f->subdivided : 0;
}

/* ---- Saving ---- */

/* Behind the stepper's numbers: the end of the leader's last step, counts, and how it was started. */
enum { N_SAVED = 13 };

/* Then g of every event, its last time, and the time between its last two occurrences. */
static size_t n_saved_events(const ga_follower *f)
{
  return f->events ? 3 * (size_t)f->events->opts.n_events : 0;
}

static void save_events(const ga_follower *f, double *saved)
{
  const int n = f->events ? f->events->opts.n_events : 0;
  if (n == 0) return;
  ga__copy_numbers(saved, f->events->g, n);
  ga__copy_numbers(saved + n, f->events->fired, n);
  ga__copy_numbers(saved + 2 * n, f->events->since, n);
}

static ga_status load_events(ga_follower *f, const double *saved)
{
  const int n = f->events ? f->events->opts.n_events : 0;
  const ga_status status = begin_events(f, 1);
  if (n == 0 || status) return status;
  ga__copy_numbers(f->events->g, saved, n);
  ga__copy_numbers(f->events->fired, saved + n, n);
  ga__copy_numbers(f->events->since, saved + 2 * n, n);
  return GA_OK;
}

size_t ga_follower_saved_size(const ga_follower *f)
{
  return f ? ga_stepper_saved_size(f->st) + N_SAVED + n_saved_events(f) : 0;
}

ga_status ga_follower_save(ga_follower *f, double *saved)
{
  if (!f || !saved) return GA_ERR_ARGUMENT;
  ga_status status = check_started(f, "ga_follower_save");
  if (!status && f->t_target - time_of(f) > time_rounding(f))
    status = ga__refuse_order(f->ctx, __func__, "after the leader's step is finished");
  if (!status && f->event >= 0) status = act_on_event(f);
  if (!status) status = call_observer(f);
  if (!status) status = ga_stepper_save(f->st, saved);
  if (status) return status;
  const ga_start_opts *o = &f->start;
  const double number[N_SAVED] = {
      f->t_target, (double)f->steps, (double)f->subdivided, o->h,       o->project,
      o->shift_a,  o->perturb_v,     o->max_change,         o->max_gap, f->gap,
      f->ahead,    f->h_ahead,       f->st->order};
  memcpy(saved + ga_stepper_saved_size(f->st), number, sizeof number);
  save_events(f, saved + ga_stepper_saved_size(f->st) + N_SAVED);
  return GA_OK;
}

ga_status ga_follower_load(ga_follower *f, const double *saved)
{
  if (!f || !saved) return GA_ERR_ARGUMENT;
  const double *s = saved + ga_stepper_saved_size(f->st);
  const int bad = ga__first_bad(s, N_SAVED + (int)n_saved_events(f));
  if (bad >= 0) return ga__refuse_saved(f->ctx, __func__, (size_t)(s - saved) + (size_t)bad, s[bad]);
  const ga_status status = ga_stepper_load(f->st, saved);
  if (status) return status;
  f->t_step = f->t_target = s[0];
  f->steps = (long)s[1];
  f->subdivided = (long)s[2];
  f->start = ga_start_defaults();
  f->start.h = s[3];
  f->start.project = s[4] != 0.0;
  f->start.shift_a = s[5] != 0.0;
  f->start.perturb_v = s[6] != 0.0;
  f->start.max_change = s[7];
  f->start.max_gap = s[8];
  f->gap = s[9];
  f->ahead = (int)s[10];
  f->h_ahead = s[11];
  f->st->order = (int)s[12];
  ga__sides_forget(&f->sides);
  f->started = f->observed = 1;
  f->event = -1;
  return load_events(f, s + N_SAVED);
}
