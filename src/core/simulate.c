/* The simulator: step sizes by the local error, output at given times, and events. */
#include "core/inside.h"
#include "core/sides.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* PI controller: h · SAFETY · err^(−0.7/p) · err_old^(0.4/p), within [SHRINK, GROW]; steps that would grow by
 * less than WORTH stay, so that factors can be kept. */
#define SAFETY 0.9
#define SHRINK 0.2
#define GROW 2.0
#define WORTH 1.2
#define AFTER_FAILURE 0.25 /* of h, when Newton's iteration failed */
/* A step whose iteration needed LABOUR matrices is long enough: the next one is not longer, though after HELD
 * such steps in a row it may be, since iterations may be slow at any size. */
enum { LABOUR = 3, HELD = 8 };
/* A size that failed is not gone back to at once: WARY of it is the most for so many steps, twice as many
 * each time that it fails again, until a step of that size has been made. */
#define WARY 0.5
enum { WARY_FIRST = 8, WARY_MOST = 256 };
/* Where the side is seen that g = 0 at a step's beginning goes to: at this part of the step, or of the time
 * between the event's last two happenings, which may get shorter and shorter. */
#define PEEK 0.01
#define PEEK_AGAIN 1e-4
enum { MAX_LOCATE = 60 };
/* The search for what hides within a step: pieces within pieces. A question costs about what ten evaluations
 * of expressions do: each step is asked for as a whole, and for as many pieces as there were residuals, times
 * HIDDEN_SHARE; some in advance, and again after something was found. While none is left, steps are not asked
 * for either, since nothing could follow. */
enum { HIDDEN_DEPTH = 28 };
#define HIDDEN_SHARE 0.02
#define HIDDEN_ADVANCE 300.0
/* The first HIDDEN_STEPS steps of a run, which are all where steps are long, earn at least this many each. */
#define HIDDEN_STEPS 1000
#define HIDDEN_WAGE 60.0
/* Whole steps are free, but for those that took a closer look. */
#define HIDDEN_CLOSER 1.0
#define SHORTER 0.99 /* of a step within which something was found, at least */

struct ga_simulator {
  ga_context *ctx;
  ga_stepper *st;
  ga_simulate_opts opts;
  ga_event *events;
  double t0;
  double h_next, err_old; /* err_old 0: none since the start */
  double power;           /* of h that errors grow with, as seen; 0: their order */
  double failed_h;        /* size of a step that failed and has not been made since; 0: none */
  double held;            /* steps in a row that did not grow because of what they took */
  double wary, wary_span; /* steps for which smaller ones are taken yet, and for how many in all */
  double next_every;      /* number of the next output of output_every, −1: all done */
  int next_time;          /* index of the next of output_times */
  int started, finished, last_event;
  int stopped; /* by an output or by on_event: for good */
  int by_bend; /* 1: the error test is that of accelerations, first_ratio() */
  int n_first; /* steps since the start, as far as accelerations are tested */
  int worst;   /* coordinate that dominates the error test; n_v and beyond: states */
  ga_start_opts start;
  ga_simulate_stats stats;
  double *tally;            /* [2] of the error test, see weigh_one() */
  double *g, *g_new, *g_at; /* [n_events] */
  double *fired;            /* [n_events] when each happened last; −DBL_MAX: not yet */
  double *weight;           /* [nv] tolerances of errors of q */
  double *strict;           /* [nv] until when its errors are not filtered; −DBL_MAX: they are */
  double strict_most;       /* the largest of them */
  double kick_end;          /* until when that is for a force found within a step; −DBL_MAX: it is not */
  double *since;            /* [n_events] time from the happening before to that; DBL_MAX: not known */
  ga_state view;            /* of an interpolated state */
  double *backup;           /* of the stepper's state during a restart */
  double *q, *v, *vdot, *lambda, *psi, *x, *xdot, *y;
  ga__breaks breaks;
  ga__sides sides;
  double edge_gap;          /* [s] from the present state to just behind an edge, to restart there; 0: none */
  double edge_last, edge_h; /* [s] the last edge met, and the size of the step it was found in */
  double edge_quick;        /* edges in a row that followed at once on the one before */
  double edge_pause;        /* steps for which edges are not looked for */
  double edge_brief; /* [s] behind an edge, steps below this are of motion that is faster than in front */
  int edge_which, behind_edge, warned_sliding;
  int warned_aliasing;   /* of inputs too fast for equal steps */
  double piece;          /* [s] where the present piece began: at the start, or behind a break */
  double grid;           /* [s] between times at which the equations are checked; 0: they are not */
  double hidden_credit;  /* questions that may be asked yet */
  double hidden_counted; /* residuals that these have been earned by */
  double *hidden;        /* states within a step, see find_hidden(); NULL: the system tells nothing of it */
  double *off, *off_y, *off_room; /* what was found there, [nv + n_x]; work space for it */
};

ga_simulate_opts ga_simulate_defaults(void)
{
  ga_simulate_opts o;
  memset(&o, 0, sizeof o);
  o.rtol = o.rtol_v = o.rtol_x = 1e-4;
  o.atol = o.atol_v = o.atol_x = 1e-6;
  o.defect_points = 1000;
  return o;
}

/* ---- Creation ---- */

static ga_status check_times(ga_context *ctx, const char *name, int n, const double *times)
{
  if (n < 0 || (n > 0 && !times))
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: n_%s is %d but %s is %s", name, n, name,
                    times ? "given" : "NULL");
  for (int i = 0; i < n; i++)
    if (!isfinite(times[i]))
      return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: number %d of %s is %g", i, name, times[i]);
  for (int i = 1; i < n; i++)
    if (!(times[i] > times[i - 1]))
      return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: %s must ascend, but number %d, %g, follows %g", name,
                      i, times[i], times[i - 1]);
  return GA_OK;
}

static ga_status check_opts(ga_context *ctx, const ga_simulate_opts *o)
{
  const struct {
    const char *name;
    double value;
    int may_be_zero;
  } number[] = {{"fixed_h", o->fixed_h, 1},
                {"h_first", o->h_first, 1},
                {"h_min", o->h_min, 1},
                {"h_max", o->h_max, 1},
                {"rtol", o->rtol, 1},
                {"atol", o->atol, 0},
                {"rtol_v", o->rtol_v, 1},
                {"atol_v", o->atol_v, 0},
                {"rtol_x", o->rtol_x, 1},
                {"atol_x", o->atol_x, 0},
                {"output_every", o->output_every, 1}};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++)
    if (!(number[i].value >= 0.0 && isfinite(number[i].value)) ||
        (number[i].value == 0.0 && !number[i].may_be_zero))
      return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: %s is %g; it must be %s", number[i].name,
                      number[i].value, number[i].may_be_zero ? "0 or positive" : "positive");
  if (o->h_max > 0.0 && o->h_min > o->h_max)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: h_min is %g, above h_max, which is %g", o->h_min,
                    o->h_max);
  if (!isfinite(o->t_end)) return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: t_end is %g", o->t_end);
  if (o->error < GA_PER_STEP || o->error > GA_PER_UNIT_STEP_FILTERED)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: there is no error mode %d", (int)o->error);
  if (o->norm != GA_NORM_MAX && o->norm != GA_NORM_RMS)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: there is no error norm %d", (int)o->norm);
  ga_status status = check_times(ctx, "output_times", o->n_output_times, o->output_times);
  if (!status) status = check_times(ctx, "breaks", o->n_breaks, o->breaks);
  if (status) return status;
  if (o->defect_points < 0)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: defect_points is %d; it must be 0 or positive",
                    o->defect_points);
  if (o->n_events < 0 || (o->n_events > 0 && (!o->events || !o->event_function)))
    return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: %d events need events and event_function", o->n_events);
  for (int i = 0; i < o->n_events; i++) {
    if (o->events[i].direction < -1 || o->events[i].direction > 1)
      return ga__fail(ctx, GA_ERR_ARGUMENT,
                      "simulator: the direction of event %d is %d; it must be -1, 0 or 1", i,
                      o->events[i].direction);
    if (o->events[i].action < GA_EVENT_RECORD || o->events[i].action > GA_EVENT_RESTART)
      return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: event %d has no such action as %d", i,
                      (int)o->events[i].action);
    if (o->events[i].action == GA_EVENT_RESTART && !o->on_event)
      return ga__fail(ctx, GA_ERR_ARGUMENT, "simulator: event %d restarts, which needs on_event", i);
  }
  return GA_OK;
}

/* Room for a state within a step: outputs and, where the system asks for the motion, q and v. */
static size_t instant_room(const ga_system *sys)
{
  return (size_t)sys->size[GA_BLOCK_Y] + (sys->def.hidden_motion ? (size_t)(sys->nq + sys->nv) : 0);
}

static ga_status take_memory(ga_simulator *sim)
{
  const ga_system *sys = sim->st->sys;
  size_t n = (size_t)sim->opts.n_events;
  struct {
    double **array;
    size_t length;
  } need[] = {{&sim->tally, 2},
              {&sim->g, n},
              {&sim->g_new, n},
              {&sim->g_at, n},
              {&sim->fired, n},
              {&sim->since, n},
              {&sim->strict, (size_t)sys->nv},
              {&sim->weight, (size_t)sys->nv},
              {&sim->off, (size_t)(sys->nv + sys->size[GA_BLOCK_X])},
              {&sim->off_room, ga__defect_room(sys)},
              {&sim->off_y, (size_t)sys->size[GA_BLOCK_Y]},
              {&sim->backup, sim->st->state_length},
              {&sim->q, (size_t)sys->nq},
              {&sim->v, (size_t)sys->nv},
              {&sim->vdot, (size_t)sys->nv},
              {&sim->lambda, (size_t)sys->size[GA_BLOCK_LAMBDA]},
              {&sim->psi, (size_t)sys->size[GA_BLOCK_PSI]},
              {&sim->x, (size_t)sys->size[GA_BLOCK_X]},
              {&sim->xdot, (size_t)sys->size[GA_BLOCK_X]},
              {&sim->y, (size_t)sys->size[GA_BLOCK_Y]}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++)
    if (!(*need[i].array = ga__alloc(sim->ctx, need[i].length, sizeof(double))))
      return ga__no_memory(sim->ctx, "a simulator");
  if (sys->def.hidden && sim->opts.defect_points > 0) {
    sim->hidden = ga__alloc(sim->ctx, (HIDDEN_DEPTH + 5) * instant_room(sys), sizeof(double));
    if (!sim->hidden) return ga__no_memory(sim->ctx, "a simulator");
  }
  const ga_status status = ga__sides_create(sim->ctx, sys, &sim->opts, &sim->sides);
  if (status) return status;
  sim->events = ga__alloc(sim->ctx, n, sizeof *sim->events);
  if (!sim->events) return ga__no_memory(sim->ctx, "a simulator");
  if (n) memcpy(sim->events, sim->opts.events, n * sizeof *sim->events);
  return GA_OK;
}

ga_status ga_simulator_create(ga_context *ctx, ga_stepper *st, const ga_simulate_opts *opts,
                              ga_simulator **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !st || !opts)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "ga_simulator_create: %s is NULL",
                    !out  ? "out"
                    : !st ? "st"
                          : "opts");
  if (st->ctx != ctx)
    return ga__fail(ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_create: the stepper was created with another context");
  ga_status status = check_opts(ctx, opts);
  if (status) return status;
  ga_simulator *sim = ga__alloc(ctx, 1, sizeof *sim);
  if (!sim) return ga__no_memory(ctx, "a simulator");
  sim->ctx = ctx;
  sim->st = st;
  sim->opts = *opts;
  sim->last_event = -1;
  sim->breaks = (ga__breaks){.sys = st->sys, .n_times = opts->n_breaks, .times = opts->breaks};
  if ((status = take_memory(sim)))
    ga_simulator_destroy(&sim);
  else
    *out = sim;
  return status;
}

void ga_simulator_destroy(ga_simulator **sim)
{
  if (!sim || !*sim) return;
  ga_simulator *s = *sim;
  ga_context *ctx = s->ctx;
  void *const block[] = {s->tally,  s->backup, s->g,        s->g_new, s->g_at, s->fired,
                         s->since,  s->strict, s->weight,   s->q,     s->v,    s->vdot,
                         s->lambda, s->psi,    s->x,        s->xdot,  s->y,    s->events,
                         s->hidden, s->off,    s->off_room, s->off_y};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  ga__sides_free(&s->sides);
  ga__free(ctx, s);
  *sim = NULL;
}

static void copy(double *to, const double *from, int n)
{
  if (n > 0) memcpy(to, from, (size_t)n * sizeof(double));
}

/* ---- Error test ---- */

/* Sum of squares of what is weighed, and how many there are, for GA_NORM_RMS. */
enum { SQUARES = 0, COUNT, N_TALLY };

/* Largest |e_i|/w_i; where it is, and its like so far, in *worst, *largest. */
static void weigh_one(const ga_simulator *sim, double e, double w, int i, double *largest, int *worst)
{
  double ratio = fabs(e) / w;
  sim->tally[SQUARES] += ratio * ratio;
  sim->tally[COUNT] += 1.0;
  if (ratio > *largest || !(ratio == ratio)) {
    *largest = ratio;
    *worst = i;
  }
}

static void weigh_q(const ga_simulator *sim, const double *e, double *largest, int *worst)
{
  const ga_system *sys = sim->st->sys;
  ga__tolerances_q(sys, sim->opts.atol, sim->opts.rtol, sim->st->now.q, sim->weight);
  for (int i = 0; i < sys->nv; i++) weigh_one(sim, e[i], sim->weight[i], i, largest, worst);
}

static void weigh_v(const ga_simulator *sim, int i, double *largest, int *worst)
{
  const ga_simulate_opts *o = &sim->opts;
  weigh_one(sim, sim->st->est_v[i], o->atol_v + o->rtol_v * fabs(sim->st->now.v[i]), i, largest, worst);
}

/* The filter is right for stiffness that was there before, whose motion steps have damped; not for one that
 * comes up, as in a contact that a body bounces off. Where it does, two periods of the motion it makes are to
 * be accurate without the filter, and in velocities too, with which it goes on. So are all steps behind an
 * edge that have to be much shorter than in front of it: a tolerance of positions is none for a contact that
 * is shallower than it. */
#define BRIEF 0.1
#define STRICT 2.0

static int is_strict(const ga_simulator *sim, double until)
{
  return sim->st->next.scalar[GA__T] < until || sim->st->now.scalar[GA__H_OLD] < sim->edge_brief;
}

/* Looks for it where the filter matters and factors are of this step: stiffness that is new needs new ones.
 * At a singular position all that is there is rounding. */
#define AT_SINGULAR 1e-11

static ga_status look_for_stiffness(ga_simulator *sim, int *found)
{
  ga_stepper *st = sim->st;
  double all = 0.0, filtered = 0.0, *period = sim->vdot; /* room that only states between steps need */
  int worst;
  *found = 0;
  if (st->factors.now.age > 1 || st->stats.rcond < AT_SINGULAR) return GA_OK;
  weigh_q(sim, st->est_all, &all, &worst);
  weigh_q(sim, st->est_q, &filtered, &worst);
  if (!(filtered < 0.5 * all)) return GA_OK;
  double strict = all;
  for (int i = 0; i < st->sys->nv; i++) weigh_v(sim, i, &strict, &worst);
  if (!(strict > 1.0)) return GA_OK;
  ga_status status = ga__new_stiffness(st, 0.01 / all, period);
  for (int i = 0; !status && i < st->sys->nv; i++) {
    if (!(period[i] > 0.0)) continue;
    sim->strict[i] = fmax(sim->strict[i], st->now.scalar[GA__T] + STRICT * period[i]);
    sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
    *found = 1;
  }
  return status;
}

/* The error as it is where that counts, what the filter leaves of it elsewhere. Nothing has been damped yet
 * in the first two steps: a spring that stands for a rod and starts without its force makes no other error
 * but one along itself, in steps of any size. */
static void weigh_filtered(ga_simulator *sim, double *ratio)
{
  ga_stepper *st = sim->st;
  const int young = !(st->next.scalar[GA__H_OLD2] > 0.0);
  if (young) memcpy(st->est_q, st->est_all, (size_t)st->sys->nv * sizeof(double));
  for (int i = 0; is_strict(sim, sim->strict_most) && i < st->sys->nv; i++) {
    if (!is_strict(sim, sim->strict[i])) continue;
    st->est_q[i] = st->est_all[i];
    weigh_v(sim, i, ratio, &sim->worst);
  }
  weigh_q(sim, st->est_q, ratio, &sim->worst);
}

/* By the norm of the options, what has been weighed since the tally began. */
static double normed(const ga_simulator *sim, double largest)
{
  if (sim->opts.norm != GA_NORM_RMS || largest != largest || !(sim->tally[COUNT] > 0.0)) return largest;
  return sqrt(sim->tally[SQUARES] / sim->tally[COUNT]);
}

static void begin_tally(ga_simulator *sim)
{
  sim->tally[SQUARES] = sim->tally[COUNT] = 0.0;
}

/* Accelerations of the first steps after a start. Errors of positions are κh³ vddot, and tell nothing of them
 * where the jerk is 0 as the motion begins: steps are then long, and vdot is off by a part of h² vdot''/2,
 * along constraints for many steps more, since only numerical damping takes it away there. Of a motion with
 * the angular frequency ω that is at the tolerance, (hω)³ is tol/κ, and
 *   κh² · h² vdot''  is  hω  of  κh³ vddot:
 * so much of the tolerance is for them here. That is less of it the tighter it is, and enough of it at any
 * for steps not to follow what positions do not show, as oscillations of stiff springs. Per unit step
 * velocities are tested, and with them this. */
enum { FIRST_STEPS = 4 };
#define KAPPA_LEAST 0.01

static double first_ratio(ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const ga_simulate_opts *o = &sim->opts;
  const double h = st->now.scalar[GA__H_OLD];
  const double kappa = fmax(fabs(st->now.scalar[GA__KAPPA_H2]) / (h * h), KAPPA_LEAST);
  const double part = o->error == GA_PER_STEP ? 1.0 : h / (o->t_end - sim->t0); /* of the tolerance */
  double ratio = 0.0, *bend = sim->vdot; /* room that only states between steps need */
  int worst = 0;
  if (sim->n_first >= FIRST_STEPS || o->error == GA_PER_UNIT_STEP) return 0.0;
  ga__estimate_bend(st, bend);
  for (int i = 0; i < st->sys->nv; i++) bend[i] *= kappa * h * h;
  begin_tally(sim);
  weigh_q(sim, bend, &ratio, &worst);
  return normed(sim, ratio) / (part * cbrt(part * (o->rtol + o->atol) / kappa));
}

/* Estimate over tolerance of the step just made. */
static ga_status error_ratio(ga_simulator *sim, double *ratio)
{
  ga_stepper *st = sim->st;
  const ga_simulate_opts *o = &sim->opts;
  const ga_system *sys = st->sys;
  const int per_unit = o->error == GA_PER_UNIT_STEP;
  int strict = is_strict(sim, sim->strict_most), found = 0;
  *ratio = 0.0;
  sim->worst = 0;
  ga_status status = ga__estimate(st, per_unit || strict);
  if (!status && !per_unit) status = ga__filter(st);
  if (!status && !per_unit) status = look_for_stiffness(sim, &found);
  if (!status && found && !strict) { /* velocities count now: estimate them properly */
    status = ga__estimate(st, 1);
    if (!status) status = ga__filter(st);
  }
  if (status) return status;
  begin_tally(sim);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    weigh_one(sim, st->est_x[i], o->atol_x + o->rtol_x * fabs(st->now.x[i]), sys->nv + i, ratio, &sim->worst);
  if (!per_unit)
    weigh_filtered(sim, ratio);
  else
    weigh_q(sim, st->est_q, ratio, &sim->worst);
  for (int i = 0; per_unit && i < sys->nv; i++) weigh_v(sim, i, ratio, &sim->worst);
  *ratio = normed(sim, *ratio);
  if (o->error != GA_PER_STEP) *ratio *= (o->t_end - sim->t0) / st->now.scalar[GA__H_OLD];
  const double first = first_ratio(sim);
  sim->by_bend = first > *ratio;
  if (sim->by_bend) *ratio = first;
  return GA_OK;
}

static double order_of(const ga_simulator *sim)
{
  return sim->opts.error != GA_PER_STEP ? 2.0 : 3.0;
}

/* Power of h that the error just found grows with. */
static double power_of(const ga_simulator *sim)
{
  return order_of(sim) + sim->by_bend;
}

/* Where steps are long, as long as a wheel takes for half a turn, the error grows with a higher power of h
 * than its order: that of a step refused and of the shorter one in its place tell which. It limits how the
 * next steps grow, less and less. */
#define STEEPEST 12.0
#define LESS_STEEP 0.95

/* A step that the error test refused in this place, and how often its error has grown with a shorter one. */
typedef struct refused {
  double err, h; /* 0: none */
  int grown;
} refused;

static double power_seen(const ga_simulator *sim, const refused *r, double h, double err)
{
  const double p = order_of(sim);
  if (!(r->h > 1.05 * h && r->err > err && err > 0.0)) return fmax(power_of(sim), LESS_STEEP * sim->power);
  return fmin(STEEPEST, fmax(p, log(r->err / err) / log(r->h / h)));
}

/* The power of h to go by. Where a contact closes errors jump with h, which is no power of it. */
static double steepness(const ga_simulator *sim)
{
  const double p = power_of(sim);
  return is_strict(sim, sim->strict_most) ? p : fmax(p, sim->power);
}

/* Size of the next step after one of size h with this error. */
static double controlled(const ga_simulator *sim, double h, double err)
{
  const double p = steepness(sim), e = fmax(err, 1e-6);
  double factor =
      SAFETY * pow(e, -0.7 / p) * (sim->err_old > 0.0 ? pow(sim->err_old, 0.4 / p) : pow(e, -0.3 / p));
  if (sim->power > order_of(sim)) factor = fmin(factor, fmax(1.0, SAFETY * pow(e, -1.0 / sim->power)));
  factor = fmin(GROW, fmax(SHRINK, factor));
  return factor >= 1.0 && factor < WORTH ? h : factor * h;
}

/* ---- Start ---- */

static double span(const ga_simulator *sim)
{
  return sim->opts.t_end - sim->t0;
}

/* Outputs say how closely the user looks, and the system how fast its inputs are. */
#define PER_OUTPUT 10.0

static double h_most(const ga_simulator *sim)
{
  const ga_simulate_opts *o = &sim->opts;
  if (o->h_max > 0.0) return o->h_max;
  double most = 0.1 * span(sim);
  if (o->output_every > 0.0) most = fmin(most, PER_OUTPUT * o->output_every);
  return sim->breaks.known ? fmin(most, fmax(sim->breaks.next.h_max, 1e-6 * span(sim))) : most;
}

/* Where a step has to end at the latest. */
static double stop_time(const ga_simulator *sim)
{
  return sim->breaks.known ? fmin(sim->breaks.next.before, sim->opts.t_end) : sim->opts.t_end;
}

/* Breaks may be close to each other in a long run: what is between them is a run of its own. */
#define PIECE_LEAST 1e-3

static double h_least(const ga_simulator *sim)
{
  const double stop = stop_time(sim), rest = stop - sim->piece;
  double least = sim->opts.h_min > 0.0 ? sim->opts.h_min : 1e-12 * span(sim);
  if (!(sim->opts.h_min > 0.0) && rest > 0.0) least = fmin(least, PIECE_LEAST * rest);
  return fmax(least, 16.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(stop))); /* or time would stand still */
}

/* Differences of time that count as none. */
static double tiny(const ga_simulator *sim)
{
  return fmax(1e-13 * span(sim), 8.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(sim->opts.t_end)));
}

/* From the jerk j and rates of the start: κh³|j| half of the tolerance; from the accelerations where there is
 * no jerk. */
static double first_step(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  double h = fmin(h_most(sim), 1e-2 * span(sim)), kappa = fabs(ga__kappa(st, h)), ratio = 0.0, ratio_x = 0.0;
  int worst;
  for (int i = 0; i < sys->nv; i++) st->est_q[i] = fmax(kappa, KAPPA_LEAST) * st->jerk_v[i];
  weigh_q(sim, st->est_q, &ratio, &worst);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    weigh_one(sim, st->jerk_x[i], sim->opts.atol_x + sim->opts.rtol_x * fabs(st->now.x[i]), i, &ratio_x,
              &worst);
  if (ratio > 0.0) h = fmin(h, 0.5 * cbrt(1.0 / ratio));
  if (ratio_x > 0.0) h = fmin(h, 0.5 * sqrt(1.0 / ratio_x));
  if (sim->opts.error != GA_PER_STEP && ratio > 0.0) h = fmin(h, 0.5 * sqrt(1.0 / (ratio * span(sim))));
  return fmax(h, h_least(sim));
}

static void count_rejection(ga_simulator *sim, ga_status status)
{
  if (status == GA_RETRY_CALLBACK || status == GA_RETRY_NAN)
    sim->stats.rejected_callback++;
  else
    sim->stats.rejected_newton++;
}

/* A step failed, and no smaller one is to be tried: `what` says why not, the last error why it failed. */
static ga_status no_step(ga_simulator *sim, double t, const char *what, double h)
{
  const ga_error *e = ga_context_error(sim->ctx);
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_STEP_FAILS,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, e->block, e->index},
                                 .name = what,
                                 .equation = e->equation,
                                 .detail = e->text,
                                 GA__NUMBERS({h, NULL})});
}

/* Finds the break that comes next, as far as steps may reach. */
static ga_status look_ahead(ga_simulator *sim, double t)
{
  const double fixed = sim->opts.fixed_h, reach = fmax(sim->opts.h_max, 0.1 * span(sim));
  return ga__breaks_find(&sim->breaks, t, t + (fixed > 0.0 ? 2.0 * fixed : reach));
}

/* Breaks that are no farther apart count as one: some roundings, also of times counted from the start. */
static double beside(const ga_simulator *sim, double t)
{
  return 64.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(t));
}

/* 1: the end of the run is within the next break, or at its far side. */
static int ends_in_break(const ga_simulator *sim)
{
  const double t_end = sim->opts.t_end;
  return sim->breaks.known && t_end <= sim->breaks.next.after + beside(sim, t_end);
}

/* 1: t is the end, or as near to it as a break at the end lets one go. */
static int is_end(const ga_simulator *sim, double t)
{
  return sim->opts.t_end - t <= tiny(sim) ||
         (ends_in_break(sim) && t >= sim->breaks.next.before - beside(sim, t));
}

/* Equal steps that oscillations of inputs are too fast for, by what the system says of these. */
#define ALIASING 2.5

static void warn_aliasing(ga_simulator *sim, double t)
{
  const double fixed = sim->opts.fixed_h, most = sim->breaks.next.h_max;
  if (!(fixed > ALIASING * most) || sim->warned_aliasing) return;
  sim->warned_aliasing = 1;
  ga__log(
      sim->ctx, GA_LOG_WARNING,
      "t = %.9g: an input oscillates with a period that steps of %.3g s cannot follow: take %.2g s or less",
      t, fixed, most);
}

/* The size of a first step as the options have it; 0: to be chosen. */
static double first_given(const ga_simulator *sim)
{
  return sim->opts.fixed_h > 0.0 ? sim->opts.fixed_h : sim->opts.h_first;
}

/* Starts the stepper at (t, q, v, x); the size of the first step is chosen on the way unless it is given, and
 * smaller where the equations cannot be evaluated at its end. */
static ga_status begin(ga_simulator *sim, double t, double h_given, const double *q, const double *v,
                       const double *x, const double *lambda, const double *psi, ga_start_report *report)
{
  const ga_simulate_opts *o = &sim->opts;
  ga_start_opts s = sim->start;
  const ga_status found = look_ahead(sim, t);
  if (found) return found;
  const int jumps = sim->breaks.next.before <= t; /* right here, if not just before */
  sim->piece = t;
  double room = fmax((jumps ? o->t_end : stop_time(sim)) - t, h_least(sim));
  int chosen = h_given > 0.0;
  warn_aliasing(sim, t);
  const int behind = sim->breaks.passed == t;
  s.forward = s.forward || jumps || behind || sim->behind_edge;
  ga__sides_forget(&sim->sides);
  if (behind) s.max_change = HUGE_VAL; /* velocities may jump by any amount, where that is accepted */
  s.h = fmin(chosen ? h_given : 1e-3 * span(sim), room);
  for (;;) {
    sim->st->provisional = !chosen;
    ga_status status = ga_stepper_start(sim->st, &s, t, q, v, x, lambda, psi, report);
    sim->st->provisional = 0;
    if (status < 0) return status;
    if (status > 0) {
      count_rejection(sim, status);
      if (o->fixed_h > 0.0) return no_step(sim, t, "a step failed that may not be smaller than fixed_h", s.h);
      room = s.h *= AFTER_FAILURE;
      if (s.h < h_least(sim)) return no_step(sim, t, "the step would fall below h_min", h_least(sim));
      continue;
    }
    sim->h_next = s.h;
    sim->n_first = 0;
    sim->err_old = sim->failed_h = sim->wary = sim->power = sim->held = 0.0;
    sim->hidden_credit = HIDDEN_ADVANCE;
    sim->hidden_counted = (double)sim->st->stats.residuals;
    sim->strict_most = sim->kick_end = -DBL_MAX;
    for (int i = 0; i < sim->st->sys->nv; i++) sim->strict[i] = -DBL_MAX;
    if (chosen) return GA_OK;
    chosen = 1;
    s.h = fmin(first_step(sim), room);
    if (!s.shift_a) s.h = fmin(s.h, 1e-3 * span(sim)); /* without a jerk there was nothing to choose by */
  }
}

static ga_status evaluate_events(ga_simulator *sim, const ga_state *s, double *g)
{
  const ga_simulate_opts *o = &sim->opts;
  if (o->n_events == 0) return GA_OK;
  ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0};
  int code = o->event_function(o->user, &p, g), bad = code ? -1 : ga__first_bad(g, o->n_events);
  if (code)
    return ga__fail_at(sim->ctx, GA_ERR_CALLBACK, s->t, -1, -1,
                       "t = %.9g: the event function gave up (it returned %d)", s->t, code);
  if (bad >= 0)
    return ga__fail_at(sim->ctx, GA_ERR_NAN, s->t, -1, bad,
                       "t = %.9g: the event function returned %g for event %d", s->t, g[bad], bad);
  return GA_OK;
}

static ga_status output(ga_simulator *sim, const ga_state *s)
{
  sim->stats.outputs++;
  return sim->opts.output && sim->opts.output(sim->opts.user, s) ? GA_STOPPED : GA_OK;
}

/* Time of the next output, or infinity. */
static double next_output(const ga_simulator *sim, int *which)
{
  const ga_simulate_opts *o = &sim->opts;
  double every = HUGE_VAL, listed = HUGE_VAL;
  if (o->output_every > 0.0 && sim->next_every >= 0.0) {
    every = sim->t0 + sim->next_every * o->output_every;
    if (sim->next_every > 0.0 && every > o->t_end - 1e-9 * o->output_every) every = o->t_end;
  }
  if (sim->next_time < o->n_output_times) listed = o->output_times[sim->next_time];
  *which = listed < every;
  return fmin(every, listed);
}

/* Times asked for in both ways count once. */
static void count_output(ga_simulator *sim, int which, double t)
{
  const ga_simulate_opts *o = &sim->opts;
  if (!which) sim->next_every = t >= o->t_end ? -1.0 : sim->next_every + 1.0;
  if (which || (sim->next_time < o->n_output_times && o->output_times[sim->next_time] == t)) sim->next_time++;
}

/* Times at which the equations are checked between steps are as close as outputs are, and a thousandth of the
 * run; ten thousand are enough, though. */
#define MOST_POINTS 10000.0

static void set_grid(ga_simulator *sim)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->grid = o->defect_points > 0 ? span(sim) / o->defect_points : 0.0;
  if (sim->grid > 0.0 && o->output_every > 0.0)
    sim->grid = fmin(sim->grid, fmax(o->output_every, span(sim) / MOST_POINTS));
}

ga_status ga_simulator_start(ga_simulator *sim, const ga_start_opts *start, double t0, const double *q0,
                             const double *v0, const double *x0, const double *lambda_guess,
                             const double *psi_guess, ga_start_report *report)
{
  if (!sim) return GA_ERR_ARGUMENT;
  sim->started = sim->finished = sim->stopped = 0;
  sim->last_event = -1;
  if (!(sim->opts.t_end > t0))
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT, "simulator: t_end is %g, which is not after the start at %g",
                    sim->opts.t_end, t0);
  if (sim->opts.output_every > 0.0 && (sim->opts.t_end - t0) / sim->opts.output_every > 1e9)
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "simulator: output_every is %g, which makes more than 1e9 outputs",
                    sim->opts.output_every);
  sim->t0 = t0;
  sim->start = start ? *start : ga_start_defaults();
  ga__breaks_begin(&sim->breaks, sim->opts.t_end);
  set_grid(sim);
  memset(&sim->stats, 0, sizeof sim->stats);
  sim->next_every = 0.0;
  sim->next_time = 0;
  sim->edge_gap = sim->edge_h = sim->edge_quick = sim->edge_pause = sim->edge_brief = 0.0;
  sim->edge_last = -DBL_MAX;
  sim->warned_sliding = 0;
  for (int i = 0; i < sim->opts.n_events; i++) sim->fired[i] = -DBL_MAX, sim->since[i] = DBL_MAX;
  while (sim->next_time < sim->opts.n_output_times && sim->opts.output_times[sim->next_time] < t0)
    sim->next_time++;
  ga_status status = begin(sim, t0, first_given(sim), q0, v0, x0, lambda_guess, psi_guess, report);
  const ga_state *s = ga_stepper_state(sim->st);
  if (!status) status = evaluate_events(sim, s, sim->g);
  if (status) return status;
  sim->started = 1;
  int which;
  double t;
  while ((t = next_output(sim, &which)) <= t0) {
    count_output(sim, which, t);
    if (output(sim, s)) {
      sim->stopped = 1;
      return GA_STOPPED;
    }
  }
  return GA_OK;
}

/* ---- One accepted step ---- */

/* Step towards the end, or the next break, without leaving a sliver before it. */
static double fitted(const ga_simulator *sim, double h)
{
  const double stop = stop_time(sim), rest = stop - sim->st->now.scalar[GA__T];
  if (sim->opts.fixed_h > 0.0) { /* the last of equal steps is one of them, but for rounding */
    int equal = fabs(rest - h) <= 4.0 * DBL_EPSILON * fmax(fabs(sim->t0), fabs(stop));
    return !equal && rest < h * (1.0 + 1e-9) ? rest : h;
  }
  h = fmin(h, h_most(sim));
  if (rest <= h * (1.0 + 1e-9)) return rest;
  return rest < 2.0 * h ? 0.5 * rest : h;
}

static ga_status too_small(ga_simulator *sim, double h, double err, ga_status why)
{
  const ga_system *sys = sim->st->sys;
  char name[192];
  double t = sim->st->now.scalar[GA__T];
  if (why) return no_step(sim, t, "the step would fall below h_min", h_least(sim));
  int is_state = sim->worst >= sys->nv, index = is_state ? sim->worst - sys->nv : sim->worst;
  ga_block block = is_state ? GA_BLOCK_X : GA_BLOCK_V;
  ga__describe_unknown(sys, block, index, name, sizeof name);
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_TOLERANCE_NOT_MET,
                    &(ga__facts){.at = &(ga__fact_time){t, h, (int)block, index},
                                 .equation = name,
                                 GA__NUMBERS({h_least(sim), NULL}, {err, NULL})});
}

/* Is the largest error far below the values, as rounding is even where it has been amplified? */
static int is_faint(const ga_simulator *sim)
{
  const ga_stepper *st = sim->st;
  const ga_system *sys = st->sys;
  const double faint = 1e-8; /* about the root of ε */
  const int i = sim->worst, k = i - sys->nv, nx = sys->size[GA_BLOCK_X];
  if (k >= 0) return fabs(st->est_x[k]) <= faint * ga__max_abs(st->now.x, nx, NULL);
  const double v = ga__max_abs(st->now.v, sys->nv, NULL), a = ga__max_abs(st->now.vdot, sys->nv, NULL);
  const int with_v = sim->opts.error == GA_PER_UNIT_STEP || is_strict(sim, sim->strict[i]);
  if (with_v && fabs(st->est_v[i]) > faint * (v + a * st->now.scalar[GA__H_OLD])) return 0;
  return fabs(st->est_q[i]) <= faint * ga__max_abs(st->now.q, sys->nq, NULL);
}

/* A faint error that grows while steps shrink is rounding: the tolerance is below what can be had here. One
 * that is not faint grows where a shorter step is the first to end in a contact or beyond a jump. */
static int is_rounding(const ga_simulator *sim, double err, const refused *before)
{
  return before->grown + (before->err > 0.0 && err > 1.5 * before->err) >= 2 && is_faint(sim);
}

/* Before a step is refused: is what is refused more than rounding makes of the accelerations? *err: what is
 * left. */
static int below_noise(ga_simulator *sim, double *err)
{
  ga_stepper *st = sim->st;
  double before = *err;
  int worst = sim->worst;
  if (sim->opts.error != GA_PER_UNIT_STEP) return 0; /* e_q is smooth: it needs no differences of vdot */
  st->noise_v = ga__noise(st, &st->now).acc * st->size_a;
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
  int is_state = sim->worst >= sys->nv;
  if (sim->stats.at_rounding++ > 0) return;
  ga__describe_unknown(sys, is_state ? GA_BLOCK_X : GA_BLOCK_V, is_state ? sim->worst - sys->nv : sim->worst,
                       name, sizeof name);
  ga__log(sim->ctx, GA_LOG_WARNING,
          "t = %.9g: at h = %.3g the error estimate of the coordinate of %s is rounding; the tolerance is "
          "tighter than the "
          "arithmetic allows, and the step is accepted",
          sim->st->now.scalar[GA__T], h, name);
}

/* Judges the step just made: *again is the size to try instead, 0 when it is accepted. */
static ga_status judge(ga_simulator *sim, double h, double *err, refused *before, double *again)
{
  ga_status status = error_ratio(sim, err);
  *again = AFTER_FAILURE * h; /* not 0: a step that cannot be judged is taken back */
  if (status) {
    if (status > 0) count_rejection(sim, status);
    return status;
  }
  int rounding = *err > 1.0 && (below_noise(sim, err) || is_rounding(sim, *err, before));
  if (rounding) warn_rounding(sim, h);
  if (*err <= 1.0 || rounding) {
    sim->power = power_seen(sim, before, h, *err);
    sim->h_next = rounding ? fmin(GROW * h, h_most(sim)) : fmax(controlled(sim, h, *err), h_least(sim));
    sim->err_old = rounding ? 0.0 : fmax(*err, 1e-4);
    *again = 0.0;
    return GA_OK;
  }
  sim->stats.rejected_error++;
  *again = fmax(SHRINK, SAFETY * pow(*err, -1.0 / steepness(sim))) * h;
  before->grown = before->err > 0.0 && *err > 1.5 * before->err ? before->grown + 1 : 0;
  before->err = *err;
  before->h = h;
  return GA_OK;
}

/* A step of fixed size, or of what is left of one (h_next). Where it fails it is taken in parts, or a longer
 * one is tried, since its very end may be the trouble, as a singular position is; then on to the next of the
 * equal steps' times, by parts that grow by RECOVER at the most. */
#define RECOVER 4.0
static const struct {
  double part; /* of the step wanted */
  double over; /* [fixed_h] beyond its end, 0: not */
} ANOTHER[] = {{1.0, 0.0}, {0.6, 0.0}, {1.0, 0.5},  {0.3, 0.0},  {1.0, 0.25},
               {1.0, 0.8}, {0.1, 0.0}, {0.03, 0.0}, {0.01, 0.0}, {1e-3, 0.0}};
enum { N_ANOTHER = sizeof ANOTHER / sizeof *ANOTHER };

static ga_status fixed_step(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  double fixed = sim->opts.fixed_h, wanted = fitted(sim, sim->h_next), h_old = st->now.scalar[GA__H_OLD],
         h = 0.0;
  const double cut = fmax(sim->h_next - wanted, 0.0); /* off by a break: to be made behind it */
  double most = h_old > 0.0 && wanted > RECOVER * h_old ? RECOVER * h_old : wanted;
  double rest = stop_time(sim) - st->now.scalar[GA__T];
  ga_status status = GA_RETRY_NEWTON;
  for (int i = 0; status && i < N_ANOTHER; i++) {
    double other = ANOTHER[i].over > 0.0 ? wanted + ANOTHER[i].over * fixed : ANOTHER[i].part * most;
    if (i && (other > rest || other < 1e-6 * fixed)) continue;
    status = ga_stepper_step(st, h = other);
    if (status < 0) return status;
    if (status) count_rejection(sim, status);
  }
  if (status)
    return no_step(sim, st->now.scalar[GA__T],
                   "a step failed in all parts that were tried; the last one was h", h);
  const double left = wanted + cut - h; /* too little for a step of its own: it goes with the next one */
  sim->h_next = left > 1e-6 * fixed ? left : fixed + left;
  return GA_OK;
}

/* After a step of size h that took so many matrices: the next one is not longer if that was much. */
static void hold_back(ga_simulator *sim, double h, long matrices)
{
  const int holds = matrices >= LABOUR && sim->h_next > h && sim->held < HELD;
  sim->held = holds ? sim->held + 1.0 : 0.0;
  if (holds) sim->h_next = h;
}

/* A callback that cannot be evaluated says nothing of the size. count: failures of this step before */
static void remember_failure(ga_simulator *sim, ga_status status, double h, int count)
{
  const int again = sim->failed_h > 0.0;
  if (status == GA_RETRY_CALLBACK || status == GA_RETRY_NAN) return;
  if (count == 0) sim->wary_span = again ? fmin(2.0 * sim->wary_span, WARY_MOST) : WARY_FIRST;
  sim->wary = sim->wary_span;
  sim->failed_h = h;
}

/* After a step of size h: the next one, kept from the size that failed. */
static void stay_wary(ga_simulator *sim, double h)
{
  if (h >= sim->failed_h) sim->failed_h = sim->wary = 0.0;
  if (!(sim->wary > 0.0)) return;
  sim->wary -= 1.0;
  sim->h_next = fmin(sim->h_next, fmax(WARY * sim->failed_h, h));
}

/* A step that ended close to a singular position fails, or its error is rounding times the condition; shorter
 * ones only end closer to it, and from there none leads away. So, as with equal steps, others are tried, and
 * the next one has the size that this was to have, to go over the position. */
#define CLOSE 1e-7    /* reciprocal condition of a matrix at such a position */
#define EXCESSIVE 1e3 /* an error that no step grows into otherwise */
#define SAME 0.01     /* of a size, below which another counts as the same */

/* The size of another try after `tries` of them, 0: none is left, or it is not that. err 0: the step failed.
 */
static double elsewhere(const ga_simulator *sim, double wanted, double err, int *tries)
{
  if (!(sim->st->stats.rcond < CLOSE) || sim->st->diverged || (err > 0.0 && err < EXCESSIVE)) return 0.0;
  while (++*tries < N_ANOTHER) {
    const double over = ANOTHER[*tries].over, part = over > 0.0 ? 1.0 + over : ANOTHER[*tries].part;
    const double other = fitted(sim, part * wanted);
    if (fabs(other - wanted) > SAME * wanted) return other; /* limits may have left nothing of it */
  }
  return 0.0;
}

/* After a step of size h: the one that leads over the position; not where that failed before, so that it was
 * the size after all. */
static void go_over(ga_simulator *sim, double wanted, double h)
{
  if (h < 0.25 * wanted || sim->wary_span > WARY_FIRST) return;
  sim->h_next = fmax(sim->h_next, fmax(wanted, h));
  sim->err_old = 0.0;
}

static ga_status look(ga_simulator *sim, double t)
{
  ga_status status =
      ga_stepper_interpolate(sim->st, t, sim->q, sim->v, sim->vdot, sim->lambda, sim->psi, sim->x, sim->y);
  if (!status) ga__interpolate_xdot(sim->st, t, sim->xdot);
  sim->view = (ga_state){t,        sim->q, sim->v, sim->vdot, NULL, sim->lambda, /* a, η, w: of steps only */
                         sim->psi, NULL,   sim->x, sim->xdot, NULL, sim->y};
  return status;
}

/* ---- What happens within a step ---- */

#define OFF_MOST 10.0 /* tolerances that a step may be off by between its ends */
enum { FEWEST_POINTS = 3 };
/* Steps shorter than the distance between points: their ends see what points do that are nearer to them than
 * this part of it, and see it more closely where errors are controlled. But all of them may miss the same, of
 * which each so many-th point tells. */
#define NEAR_END 0.25
#define SPARSE_POINTS 4.0

static double weigh_defect(const void *user, const double *e)
{
  const ga_simulator *sim = user;
  const ga_simulate_opts *o = &sim->opts;
  const ga_stepper *st = sim->st;
  double ratio = 0.0;
  int worst;
  weigh_q(sim, e, &ratio, &worst);
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++)
    weigh_one(sim, e[st->sys->nv + i], o->atol_x + o->rtol_x * fabs(st->now.x[i]), i, &ratio, &worst);
  return o->error != GA_PER_STEP ? ratio * span(sim) / st->now.scalar[GA__H_OLD] : ratio;
}

/* *off: are the equations off at t within the last step? Where they cannot be evaluated nothing is known. */
static ga_status defect_at(ga_simulator *sim, double t, int *off)
{
  *off = 0;
  ga_status status = look(sim, t);
  if (!status) status = ga__defect(sim->st, &sim->view, sim->off_y, sim->off);
  if (!status && weigh_defect(sim, sim->off) > OFF_MOST) {
    const ga__defect_weight weight = {weigh_defect, sim, OFF_MOST};
    status = ga__defect_again(sim->st, &sim->view, &weight, sim->off_y, sim->off_room, sim->off, off);
  }
  if (status) *off = 0;
  sim->stats.unchecked += status > 0;
  return status < 0 ? status : GA_OK;
}

/* The first time within the last step at which the equations are off; infinity: none. */
static ga_status find_defect(ga_simulator *sim, double *t)
{
  const double begin = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T], h = end - begin;
  double number = floor((begin - sim->t0) / sim->grid);
  const double inside = ceil((end - sim->t0) / sim->grid) - 1.0 - number;
  const int few = inside < FEWEST_POINTS && h > 0.25 * (stop_time(sim) - sim->piece);
  const int is_short = !few && !(sim->opts.fixed_h > 0.0) && h < sim->grid;
  int off = 0;
  ga_status status = GA_OK;
  *t = INFINITY;
  for (int i = 0; !status && i < (few ? FEWEST_POINTS : inside); i++) {
    const double at =
        few ? begin + h * (2.0 * i + 1.0) / (2.0 * FEWEST_POINTS) : sim->t0 + ++number * sim->grid;
    if (!(at > begin && at < end)) continue;
    const int is_seen = is_short && fmin(at - begin, end - at) < NEAR_END * sim->grid;
    if (is_seen && fmod(number, SPARSE_POINTS) != 0.0) continue;
    status = defect_at(sim, at, &off);
    if (off) return *t = at, status;
  }
  return status;
}

/* ---- What hides within a step ---- */

/* A force that acts for a moment is to be seen whole: what it does to velocities counts until the end of the
 * step that it was found in. */
static void see_kick(ga_simulator *sim, int i)
{
  sim->strict[i] = fmax(sim->strict[i], sim->st->now.scalar[GA__T]);
  sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
  sim->kick_end = sim->strict[i];
}

/* Where it jumps no step may be short enough for the tolerance of velocities: then positions alone count. */
static int forget_kick(ga_simulator *sim)
{
  const int brief = sim->edge_brief > 0.0;
  sim->edge_brief = 0.0;
  if (!(sim->st->now.scalar[GA__T] < sim->kick_end)) return brief;
  sim->kick_end = sim->strict_most = -DBL_MAX;
  for (int i = 0; i < sim->st->sys->nv; i++) sim->strict[i] = -DBL_MAX;
  return 1;
}

/* Would what acts at t change velocities, or states, by more than their tolerance? That of positions is none
 * for a force that acts for a moment only. */
static ga_status matters_at(ga_simulator *sim, double t, int *matters)
{
  const ga_simulate_opts *o = &sim->opts;
  const ga_stepper *st = sim->st;
  const int nv = st->sys->nv;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T];
  *matters = 0;
  ga_status status = look(sim, t);
  if (!status) status = ga__defect(sim->st, &sim->view, sim->off_y, sim->off);
  for (int i = 0; !status && i < nv; i++)
    if (4.0 * fabs(sim->off[i]) > h * (o->atol_v + o->rtol_v * fabs(st->now.v[i])))
      *matters = 1, see_kick(sim, i);
  for (int i = 0; !status && i < st->sys->size[GA_BLOCK_X]; i++)
    if (2.0 * fabs(sim->off[nv + i]) > o->atol_x + o->rtol_x * fabs(st->now.x[i])) *matters = 1;
  sim->stats.unchecked += status > 0;
  return status < 0 ? status : GA_OK;
}

static ga_instant instant_in(const ga_system *sys, const double *at)
{
  const double *q = sys->def.hidden_motion ? at + sys->size[GA_BLOCK_Y] : NULL;
  return (ga_instant){at, q, q ? q + sys->nq : NULL};
}

static void keep_instant(const ga_system *sys, double *at, const ga__state *s)
{
  copy(at, s->y, sys->size[GA_BLOCK_Y]);
  if (!sys->def.hidden_motion) return;
  copy(at + sys->size[GA_BLOCK_Y], s->q, sys->nq);
  copy(at + sys->size[GA_BLOCK_Y] + sys->nq, s->v, sys->nv);
}

static ga_status see_instant(ga_simulator *sim, double t, double *at)
{
  const ga_system *sys = sim->st->sys;
  double *q = sys->def.hidden_motion ? at + sys->size[GA_BLOCK_Y] : NULL;
  return ga_stepper_interpolate(sim->st, t, q, q ? q + sys->nq : NULL, NULL, NULL, NULL, NULL, at);
}

/* Residuals pay for questions. */
static void earn_questions(ga_simulator *sim)
{
  const double residuals = (double)sim->st->stats.residuals - sim->hidden_counted;
  const double earned = fmax(HIDDEN_SHARE * residuals, sim->stats.steps < HIDDEN_STEPS ? HIDDEN_WAGE : 0.0);
  sim->hidden_credit = fmin(sim->hidden_credit + earned, HIDDEN_ADVANCE);
  sim->hidden_counted += residuals;
}

/* The first time found within `step` at which something hides that matters; infinity: none. It is halved, and
 * its pieces where something may hide. sim->hidden has, each of instant_room(), the ends of those that wait,
 * the next one last, and behind them its middle; at last, `begin_at`, the beginning of the present one. */
static ga_status search_pieces(ga_simulator *sim, const ga_piece *step, double *begin_at, double *t)
{
  const ga_system *sys = sim->st->sys;
  const size_t room = instant_room(sys);
  const double shortest = ldexp(step->t[1] - step->t[0], -HIDDEN_DEPTH);
  double end[HIDDEN_DEPTH] = {step->t[1]}, begin = step->t[0];
  int waiting = 1, matters = 0;
  ga_status status = GA_OK;
  while (!status && waiting > 0 && sim->hidden_credit >= 1.0) {
    double *end_at = sim->hidden + (size_t)(waiting - 1) * room, *middle_at = end_at + room;
    const double middle = begin + 0.5 * (end[waiting - 1] - begin);
    const ga_piece piece = {{begin, end[waiting - 1]},
                            {instant_in(sys, begin_at), instant_in(sys, end_at)},
                            instant_in(sys, middle_at)};
    sim->hidden_credit -= 1.0;
    if (waiting < HIDDEN_DEPTH) status = see_instant(sim, middle, middle_at);
    if (waiting == HIDDEN_DEPTH || end[waiting - 1] - begin <= shortest ||
        (!status && sys->def.hidden(sys->def.user, step, &piece) <= 0)) {
      begin = end[--waiting];
      memcpy(begin_at, end_at, room * sizeof(double));
      continue;
    }
    const ga_piece here = {{middle, middle}, {piece.middle, piece.middle}, piece.middle};
    if (!status && sys->def.hidden(sys->def.user, step, &here) > 0)
      status = matters_at(sim, middle, &matters);
    if (!status && matters) return *t = middle, sim->hidden_credit = HIDDEN_ADVANCE, GA_OK;
    end[waiting++] = middle;
  }
  return status;
}

/* The same within the last step, which is asked for as a whole first, as most steps need no more. */
static ga_status find_hidden(ga_simulator *sim, double *t)
{
  const ga_system *sys = sim->st->sys;
  const ga__state *n = &sim->st->next, *m = &sim->st->now;
  const size_t room = instant_room(sys);
  double *begin_at = sim->hidden + (HIDDEN_DEPTH + 1) * room, *of_step = begin_at + room;
  const ga_piece step = {{n->scalar[GA__T], m->scalar[GA__T]},
                         {instant_in(sys, of_step), instant_in(sys, of_step + room)},
                         instant_in(sys, of_step + 2 * room)};
  *t = INFINITY;
  keep_instant(sys, of_step, n);
  keep_instant(sys, of_step + room, m);
  ga_status status = see_instant(sim, step.t[0] + 0.5 * (step.t[1] - step.t[0]), of_step + 2 * room);
  earn_questions(sim);
  const int asks = !status && sim->hidden_credit >= 1.0;
  const int hides = asks ? sys->def.hidden(sys->def.user, &step, &step) : 0;
  if (hides < 0) sim->hidden_credit -= HIDDEN_CLOSER;
  if (hides > 0) {
    memcpy(begin_at, of_step, room * sizeof(double));
    memcpy(sim->hidden, of_step + room, room * sizeof(double));
    status = search_pieces(sim, &step, begin_at, t);
  }
  return status < 0 ? status : GA_OK;
}

/* Is the step just made to be taken back? *again is the size to try instead: so that it ends where something
 * acts. */
static ga_status inspect(ga_simulator *sim, double *again)
{
  const double h = sim->st->now.scalar[GA__H_OLD];
  double t = INFINITY;
  ga_status status = sim->grid > 0.0 ? find_defect(sim, &t) : GA_OK;
  *again = status ? AFTER_FAILURE * h : 0.0; /* as where a step cannot be judged */
  if (status) return status;
  const double begin = sim->st->next.scalar[GA__T];
  if (isfinite(t)) {
    *again = fmin(0.5 * h, fmax(SHRINK * h, t - begin));
  } else if (sim->hidden) {
    status = find_hidden(sim, &t);
    if (status) *again = AFTER_FAILURE * h;
    /* shorter in any case: what begins with the end of the step is found in front of it again and again */
    if (!status && isfinite(t) && t - begin > h_least(sim)) *again = fmin(t - begin, SHORTER * h);
  }
  sim->stats.rejected_defect += !status && *again > 0.0;
  return status;
}

/* Equal steps stay as they are, whatever they miss; but that is told. */
static ga_status count_unseen(ga_simulator *sim)
{
  double t = INFINITY;
  ga_status status = sim->grid > 0.0 ? find_defect(sim, &t) : GA_OK;
  if (!status && !isfinite(t) && sim->hidden) status = find_hidden(sim, &t);
  if (status) ga_stepper_undo(sim->st);
  if (status || !isfinite(t)) return status;
  if (sim->stats.unseen++ > 0) return GA_OK;
  sim->stats.t_unseen = t;
  ga__log(
      sim->ctx, GA_LOG_WARNING,
      "t = %.9g: within a step of %.3g s, the size given, something acts that its ends do not see: the "
      "equations are off there by more than %g times the tolerance. Take a smaller step, or error control",
      t, sim->opts.fixed_h, OFF_MOST);
  return GA_OK;
}

/* ---- Edges at which the equations jump with the motion ----
 * A step that passed one is made again to end in front of it, by the motion before it, and once more where
 * it has not come near enough; the next call moves to just behind it, and the one after that starts anew. */
#define AT_EDGE ((ga_status)1000) /* of accepted_step() */
#define HERE 1e-9                 /* of a step, within which an edge is where the step begins */
#define QUICK 1e4                 /* times what states are moved by behind an edge: the same one again */
#define FURTHEST 1e-2             /* of a step, behind an edge, that a start is looked for */
enum { MOST_QUICK = 3, PAUSE = 50 };

/* [s] behind an edge, to be on the other side in spite of rounding. */
static double behind_edge(const ga_simulator *sim, double h)
{
  return GA__BEHIND_EDGE * h + 64.0 * DBL_EPSILON * fabs(sim->st->now.scalar[GA__T]);
}

/* A motion that both sides push back to the edge stays on it: there is nothing to go on with behind it. */
static void count_edge(ga_simulator *sim, double t)
{
  const int quick = t - sim->edge_last < QUICK * behind_edge(sim, sim->edge_h);
  sim->edge_quick = quick ? sim->edge_quick + 1.0 : 0.0;
  if (!quick)
    sim->edge_h = sim->st->now.scalar[GA__H_OLD] > 0.0 ? sim->st->now.scalar[GA__H_OLD] : sim->h_next;
  sim->edge_last = t;
  if (sim->edge_quick < MOST_QUICK) return;
  sim->edge_quick = 0.0;
  sim->edge_pause = PAUSE;
  if (sim->warned_sliding) return;
  char name[256];
  sim->warned_sliding = 1;
  ga__sides_name(&sim->sides, sim->edge_which, name, sizeof name);
  ga__log(
      sim->ctx, GA_LOG_WARNING,
      "t = %.9g: %s jumps here, and drives the motion back from both sides of the jump, so that it stays on "
      "it. Make the jump a steep slope: tanh(x/w) for sign(x), step(x, -w, 0, w, 1) for x > 0, w a small "
      "number",
      t, name);
}

/* After a try of size h, which was a step, or failed: is there an edge within it? *again is the size of a
 * step that may end in front of it; 0: there is none. AT_EDGE: the present state stands in front of it
 * already. */
static ga_status aim_at_edge(ga_simulator *sim, ga_status stepped, double h, ga__aim *aim, double *again)
{
  ga_stepper *st = sim->st;
  ga__edge_met met = {INFINITY, INFINITY, -1};
  double time = INFINITY;
  *again = 0.0;
  if (st->sys->def.n_sides == 0 || sim->edge_pause > 0.0 || aim->n >= GA__MOST_AIMS) return GA_OK;
  if (stepped) {
    const int which = ga__sides_gap(&sim->sides, st, h, &time);
    if (which < 0 && aim->n == 0) return GA_OK;
    if (which >= 0) sim->edge_which = which;
  } else {
    ga_status status = ga__sides_find(&sim->sides, st, &met);
    time = met.before - st->next.scalar[GA__T];
    if (status || isinf(time)) return status;
    if ((status = ga_stepper_undo(st))) return status;
    sim->edge_which = met.which;
  }
  *again = ga__aim_shorter(&sim->sides, st, aim, h, time);
  if (*again > fmax(tiny(sim), HERE * h)) return GA_OK;
  ga__sides_gap(&sim->sides, st, fmax(2.0 * HERE * h, 4.0 * tiny(sim)), &sim->edge_gap);
  if (isinf(sim->edge_gap) && ga__sides_torn(&sim->sides, st)) sim->edge_gap = 0.0;
  if (isfinite(sim->edge_gap)) return sim->edge_gap += behind_edge(sim, h), AT_EDGE;
  sim->edge_gap = 0.0;
  aim->n = GA__MOST_AIMS; /* it is not there after all */
  *again = h;
  return GA_OK;
}

/* A step of size h has ended in front of an edge that it was made to end at. The size of another that ends
 * nearer to it; 0: it is near enough, or is not there any more. */
static double stand_at_edge(ga_simulator *sim, double h, ga__aim *aim)
{
  double gap;
  const double again = ga__aim_longer(&sim->sides, sim->st, aim, h, &gap);
  if (again == 0.0 && isfinite(gap)) sim->edge_gap = gap + behind_edge(sim, h);
  return again;
}

/* The same for equal steps: what is left of one is made behind the edge. */
static ga_status cut_at_edge(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], rest = sim->h_next;
  double again = h, made = h;
  ga__aim aim = {0.0, 0.0, 0, 0};
  ga_status status = GA_OK;
  for (;;) {
    const ga_status edge = aim_at_edge(sim, status, made, &aim, &again);
    if (edge == AT_EDGE) sim->h_next = h;
    if (edge) return edge;
    if (again == 0.0 && status > 0) again = h, aim.n = GA__MOST_AIMS; /* over it, as if it were not known */
    if (again == 0.0 && aim.n > 0 && made < h) {
      again = stand_at_edge(sim, made, &aim);
      if (again > 0.0 && (status = ga_stepper_undo(st))) return status;
    }
    if (again == 0.0) break;
    status = ga_stepper_step(st, made = again);
    if (status < 0 || (status > 0 && aim.n >= GA__MOST_AIMS)) return status;
    if (status > 0) count_rejection(sim, status);
  }
  if (made < h) sim->h_next = h - made > 1e-6 * sim->opts.fixed_h ? h - made : rest + h - made;
  return GA_OK;
}

/* Steps until one is accepted; its error in *err. AT_EDGE: none was, as the present state stands at an edge.
 */
static ga_status accepted_step(ga_simulator *sim, double *err)
{
  ga_stepper *st = sim->st;
  int failed = 0, tries = 0;
  ga__aim aim = {0.0, 0.0, 0, 0};
  if (sim->opts.fixed_h > 0.0) {
    ga_status status = fixed_step(sim);
    if (!status) status = cut_at_edge(sim);
    return status ? status : count_unseen(sim);
  }
  double h = fitted(sim, sim->h_next), again, wanted = h;
  refused before = {0.0, 0.0, 0};
  for (;;) {
    const long matrices = st->stats.factorisations;
    ga_status status = ga_stepper_step(st, h);
    if (status < 0) return status;
    const ga_status edge = aim_at_edge(sim, status, h, &aim, &again);
    if (edge) return edge;
    if (again > 0.0) {
      h = again;
      continue;
    }
    if (status > 0) {
      count_rejection(sim, status);
      remember_failure(sim, status, h, failed++);
      again = AFTER_FAILURE * h;
      *err = 0.0;
    } else {
      status = judge(sim, h, err, &before, &again);
      if (again == 0.0 && tries == 0) status = inspect(sim, &again);
      if (again == 0.0 && aim.n > 0 && (again = stand_at_edge(sim, h, &aim)) > 0.0) {
        if ((status = ga_stepper_undo(st))) return status;
        h = again;
        continue;
      }
      if (again == 0.0) {
        hold_back(sim, h, st->stats.factorisations - matrices);
        stay_wary(sim, h);
        sim->n_first += sim->n_first < FIRST_STEPS;
        if (tries > 0) go_over(sim, wanted, h);
        return status;
      }
      ga_status back = ga_stepper_undo(st);
      if (back || status < 0) return back ? back : status;
    }
    const double other = elsewhere(sim, wanted, *err, &tries);
    if (other > 0.0) {
      if (!status) remember_failure(sim, GA_RETRY_SINGULAR, h, failed++);
      again = other;
    }
    if (again < h_least(sim)) {
      if (!forget_kick(sim)) return too_small(sim, h, *err, status);
      again = h;
    }
    h = again;
    sim->err_old = 0.0;
  }
}

/* g leaves the side it was on, be it to 0. */
static int crosses(const ga_event *e, double before, double after)
{
  if (before == 0.0 || (before < 0.0 ? after < 0.0 : after > 0.0)) return 0;
  return e->direction == 0 || (e->direction > 0) == (before < 0.0);
}

/* First time in (ta, tb] at which event i crosses: bisection made faster by false position (Illinois). */
static ga_status locate(ga_simulator *sim, int i, double ta, double tb, double *t)
{
  double ga = sim->g[i], gb = sim->g_new[i];
  int side = 0, from_below = ga < 0.0;
  for (int k = 0; k < MAX_LOCATE && tb - ta > 4.0 * DBL_EPSILON * fmax(fabs(ta), fabs(tb)); k++) {
    double tc = k % 3 == 2 ? 0.5 * (ta + tb) : (ta * gb - tb * ga) / (gb - ga);
    if (!(tc > ta && tc < tb)) tc = 0.5 * (ta + tb);
    ga_status status = look(sim, tc);
    if (!status) status = evaluate_events(sim, &sim->view, sim->g_at);
    if (status) return status;
    double gc = sim->g_at[i];
    if (gc == 0.0 || (gc < 0.0) != from_below) {
      tb = tc, gb = gc;
      if (side == 1) ga *= 0.5;
      side = 1;
      if (gc == 0.0) break;
    } else {
      ta = tc, ga = gc;
      if (side == -1) gb *= 0.5;
      side = -1;
    }
  }
  *t = tb;
  return GA_OK;
}

/* g = 0 where the step began, be it from a restart: what counts is the side it has gone to from there. */
static ga_status decide_sides(ga_simulator *sim)
{
  double beginning = sim->st->next.scalar[GA__T], end = sim->st->now.scalar[GA__T];
  for (int i = 0; i < sim->opts.n_events; i++) {
    if (sim->g[i] != 0.0) continue;
    double after = fmax(fmin(PEEK * (end - beginning), PEEK_AGAIN * sim->since[i]), tiny(sim));
    ga_status status = look(sim, fmin(beginning + after, end));
    if (!status) status = evaluate_events(sim, &sim->view, sim->g_at);
    if (status) return status;
    sim->g[i] = sim->g_at[i];
  }
  return GA_OK;
}

/* The earliest event of the last step that has not been dealt with, −1: none; *t when. */
static ga_status first_event(ga_simulator *sim, int *event, double *t)
{
  const ga_stepper *st = sim->st;
  double beginning = st->next.scalar[GA__T];
  *event = -1;
  for (int i = 0; i < sim->opts.n_events; i++) {
    double when;
    if (sim->fired[i] > beginning || !crosses(&sim->events[i], sim->g[i], sim->g_new[i])) continue;
    ga_status status = locate(sim, i, beginning, st->now.scalar[GA__T], &when);
    if (status) return status;
    if (*event < 0 || when < *t) *event = i, *t = when;
  }
  return GA_OK;
}

/* Outputs due up to t, within the last step or, but for rounding, at its end. */
static ga_status outputs_until(ga_simulator *sim, double t)
{
  const ga_stepper *st = sim->st;
  int which;
  double when;
  while ((when = next_output(sim, &which)) <= t) {
    int here = when >= st->now.scalar[GA__T] || !st->can_undo;
    count_output(sim, which, when);
    ga_status status = here ? GA_OK : look(sim, when);
    const int beside = here && when != st->view.t; /* by rounding, or within a break */
    if (beside) sim->view = st->view, sim->view.t = when;
    if (!status) status = output(sim, here && !beside ? &st->view : &sim->view);
    if (status) return status;
  }
  return GA_OK;
}

static void count_step(ga_simulator *sim, double h, double err)
{
  ga_simulate_stats *s = &sim->stats;
  s->steps++;
  s->h_smallest = s->steps == 1 || h < s->h_smallest ? h : s->h_smallest;
  s->h_largest = fmax(s->h_largest, h);
  s->worst_error = fmax(s->worst_error, err);
  s->mean_error += (err - s->mean_error) / (double)s->steps;
}

/* Take the last step back and step onto t instead; where t is as good as its beginning, stay there. */
static ga_status step_onto(ga_simulator *sim, double t, double err)
{
  ga_stepper *st = sim->st;
  ga_status status = ga_stepper_undo(st);
  double h = t - st->now.scalar[GA__T];
  while (!status && t - st->now.scalar[GA__T] > tiny(sim)) {
    h = fmin(h, t - st->now.scalar[GA__T]);
    status = ga_stepper_step(st, h);
    if (!status)
      count_step(sim, h, err), h *= 2.0; /* a step that failed makes the next ones small, not all of them */
    if (status <= 0) continue;
    count_rejection(sim, status);
    h *= AFTER_FAILURE;
    status = h < h_least(sim)
                 ? no_step(sim, st->now.scalar[GA__T], "the step would fall below h_min", h_least(sim))
                 : GA_OK;
  }
  return status;
}

/* Lets on_event know; q, v, x NULL where it may not change them. GA_STOPPED: so it wishes. */
static ga_status tell(ga_simulator *sim, int event, const ga_state *s, double *q, double *v, double *x)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->stats.events++;
  sim->since[event] = s->t - sim->fired[event];
  sim->fired[event] = s->t;
  int code = o->on_event ? o->on_event(o->user, event, s, q, v, x) : 0;
  if (code < 0)
    return ga__fail_at(sim->ctx, GA_ERR_CALLBACK, s->t, -1, event,
                       "t = %.9g: on_event gave up at event %d (it returned %d)", s->t, event, code);
  return code > 0 ? GA_STOPPED : GA_OK;
}

static void copy_state(ga_simulator *sim, const ga_state *s)
{
  const ga_system *sys = sim->st->sys;
  copy(sim->q, s->q, sys->nq);
  copy(sim->v, s->v, sys->nv);
  copy(sim->x, s->x, sys->size[GA_BLOCK_X]);
  copy(sim->lambda, s->lambda, sys->size[GA_BLOCK_LAMBDA]);
  copy(sim->psi, s->psi, sys->size[GA_BLOCK_PSI]);
}

/* The state before a start that is made again. */
static void take_back(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  memcpy(st->now.block, sim->backup, st->state_length * sizeof(double));
  ga__forget_steps(st);
  st->has_state = 1;
  ga__state_changed(st);
  ga__state_show(st);
}

/* Start again with q, v, x as on_event left them. For what has happened now g is 0, whatever rounding says.
 */
static ga_status restart(ga_simulator *sim, double t, double h_given)
{
  ga_stepper *st = sim->st;
  memcpy(sim->backup, st->now.block, st->state_length * sizeof(double));
  ga__start_again(st, sim->behind_edge          ? GA__PASSING
                      : sim->breaks.passed == t ? GA__BEHIND_JUMP
                                                : GA__AFTER_EVENT);
  ga_status status = begin(sim, t, h_given, sim->q, sim->v, sim->x, sim->lambda, sim->psi, NULL);
  ga__start_first(st);
  if (st->fell_back) count_rejection(sim, st->fell_back);
  if (status) { /* the state before the restart is still worth having */
    take_back(sim);
    return status;
  }
  status = evaluate_events(sim, &st->view, sim->g);
  for (int i = 0; i < sim->opts.n_events; i++)
    if (sim->fired[i] >= t - tiny(sim)) sim->g[i] = 0.0;
  sim->stats.restarts += !status;
  return status;
}

/* Restarts that follow each other ever faster would go on for ever, or be missed in the end. */
static ga_status too_fast(ga_simulator *sim, int event)
{
  double t = sim->fired[event];
  return ga__fail_at(
      sim->ctx, GA_ERR_STEP, t, -1, event,
      "t = %.9g: event %d restarts again after %.3g, which is below h_min = %.3g: its restarts "
      "pile up. Let on_event stop the simulation, or go on with another model, before that",
      t, event, sim->since[event], h_least(sim));
}

/* The stepper stands on `event`: that one, and others that turn out to have happened by now. */
static ga_status events_here(ga_simulator *sim, int event, double beginning)
{
  const ga_state *s = &sim->st->view;
  int restarts = 0, stops = 0;
  ga_status status = evaluate_events(sim, s, sim->g_at);
  copy_state(sim, s);
  for (int i = 0; i < sim->opts.n_events && status >= 0; i++) {
    ga_event_action action = sim->events[i].action;
    int again = action == GA_EVENT_RESTART;
    if (i != event && (sim->fired[i] > beginning || !crosses(&sim->events[i], sim->g[i], sim->g_at[i])))
      continue;
    status = tell(sim, i, s, again ? sim->q : NULL, again ? sim->v : NULL, again ? sim->x : NULL);
    if (!status && again && sim->since[i] < h_least(sim)) status = too_fast(sim, i);
    restarts |= again;
    stops |= status == GA_STOPPED || action == GA_EVENT_STOP;
    if (action == GA_EVENT_STOP) sim->last_event = i;
  }
  if (status >= 0 && restarts) status = restart(sim, s->t, first_given(sim));
  return status < 0 ? status : stops ? GA_STOPPED : GA_OK;
}

/* Events of the last step in their order. *gone: the step has been replaced by one onto a stop or restart. */
static ga_status handle_events(ga_simulator *sim, double err, int *gone)
{
  double t = 0.0, beginning = sim->st->next.scalar[GA__T];
  int event;
  *gone = 0;
  ga_status status = evaluate_events(sim, &sim->st->view, sim->g_new);
  if (!status) status = decide_sides(sim);
  while (!status && !(status = first_event(sim, &event, &t)) && event >= 0) {
    if ((status = outputs_until(sim, t))) return status;
    if (sim->events[event].action == GA_EVENT_RECORD) {
      if (!(status = look(sim, t))) status = tell(sim, event, &sim->view, NULL, NULL, NULL);
      continue;
    }
    *gone = 1;
    status = step_onto(sim, t, err);
    return status ? status : events_here(sim, event, beginning);
  }
  return status;
}

/* There is no start behind a jump. A step over it fails, most often, and says more of what is wrong; one that
 * does not would go on from what is not known. The state before is kept. */
static ga_status no_state_behind(ga_simulator *sim, double t, ga_status status)
{
  const ga_error why = sim->ctx->error;
  char text[GA_ERROR_TEXT];
  double err;
  const ga_status stepped = accepted_step(sim, &err);
  if (stepped) return stepped;
  take_back(sim);
  ga_error_say(&why, GA_SAY_ALL, text, sizeof text);
  return ga__refuse(sim->ctx, status < 0 ? status : GA_ERR_STEP, GA_REASON_NO_STATE_AFTER_JUMP,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, why.block, why.index},
                                 .equation = why.equation,
                                 .detail = text});
}

#define JUMP_EARLY (2.0 * DBL_EPSILON)

/* The breaks that the present state stands at. *restarted: the equations jump there, and the state is now
 * that behind them. */
static ga_status meet_breaks(ga_simulator *sim, int *restarted)
{
  ga__breaks *b = &sim->breaks;
  const double t = sim->st->now.scalar[GA__T], cut = sim->opts.fixed_h > 0.0 ? sim->h_next : 0.0;
  int jumps = 0;
  ga_status status;
  *restarted = 0;
  while (!(status = look_ahead(sim, fmax(t, b->passed))) && b->next.before <= t + beside(sim, t) &&
         !ends_in_break(sim)) {
    jumps |= b->next.restart;
    sim->stats.breaks++;
    ga__breaks_pass(b);
    sim->piece = t;
  }
  if (status || !jumps) return status;
  copy_state(sim, &sim->st->view);
  /* when a jump is, is known to a rounding of time: a follower takes it to be later, and error bars tell */
  ga__carry(sim->st, b->passed, JUMP_EARLY * fabs(b->passed), sim->q, sim->v, sim->x);
  const double h_next = sim->h_next;
  status = restart(sim, fmax(t, b->passed), cut); /* equal steps: on to the end of the one that was cut */
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  if (status) {
    sim->h_next = h_next;
    sim->piece = t;
    return ga__nothing_jumps(sim->st, fmax(t, b->passed)) ? GA_OK : no_state_behind(sim, t, status);
  }
  *restarted = 1;
  return GA_OK;
}

/* Starts again on the other side of an edge, just behind which the present state stands; where the start
 * falls back in front of it, a little later. */
static ga_status start_behind_edge(ga_simulator *sim)
{
  const double cut = sim->opts.fixed_h > 0.0 ? sim->h_next : 0.0;
  double gap = 64.0 * DBL_EPSILON * fabs(sim->st->now.scalar[GA__T]);
  const double most = fmax(FURTHEST * fmax(sim->edge_h, sim->h_next), gap);
  for (int i = 0;; i++, gap *= GA__FURTHER) {
    const int known = ga__sides_here(&sim->sides, sim->st);
    const double t = sim->st->now.scalar[GA__T];
    copy_state(sim, &sim->st->view);
    sim->behind_edge = 1;
    const ga_status status = restart(sim, t, cut);
    sim->behind_edge = 0;
    if (status || !known || !ga__sides_left(&sim->sides, sim->st) || i == GA__MOST_FURTHER || gap > most ||
        t + gap >= stop_time(sim))
      return status;
    take_back(sim);
    ga__hop(sim->st, gap);
  }
}

/* The present state stands in front of an edge: it moves to just behind it, as by a step; or there, and
 * starts again. *moved, *restarted: it did. */
static ga_status pass_edge(ga_simulator *sim, int *moved, int *restarted)
{
  const double gap = sim->edge_gap, h_next = sim->h_next;
  *moved = *restarted = 0;
  sim->edge_gap = 0.0;
  if (gap == 0.0 || sim->st->now.scalar[GA__T] + fabs(gap) >= stop_time(sim)) return GA_OK;
  if (gap > 0.0) {
    count_edge(sim, sim->st->now.scalar[GA__T]);
    ga__hop(sim->st, gap);
    sim->edge_gap = -gap;
    sim->stats.edges++;
    *moved = 1;
    return GA_OK;
  }
  const ga_status status = start_behind_edge(sim);
  sim->edge_brief = sim->opts.error == GA_PER_STEP ? BRIEF * sim->edge_h : 0.0;
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  *restarted = 1;
  if (status) sim->h_next = h_next, sim->edge_pause = PAUSE; /* steps over it may do, as they did before */
  return GA_OK;
}

static ga_status after_restart(ga_simulator *sim)
{
  const ga_status status = outputs_until(sim, sim->st->now.scalar[GA__T]);
  sim->stopped = status == GA_STOPPED;
  const int wish = sim->opts.observer && status >= 0 && sim->opts.observer(sim->opts.user, sim->st);
  return status || !wish ? status : GA_STOPPED;
}

ga_status ga_simulator_step(ga_simulator *sim)
{
  if (!sim) return GA_ERR_ARGUMENT;
  if (!sim->started)
    return ga__fail(sim->ctx, GA_ERR_ORDER, "ga_simulator_step: call ga_simulator_start() first");
  if (sim->finished || sim->stopped || sim->last_event >= 0) return GA_STOPPED;
  double err = 0.0, t_end = sim->opts.t_end;
  int gone, restarted, moved = 0;
  ga_status status = meet_breaks(sim, &restarted);
  if (!status && !restarted) status = pass_edge(sim, &moved, &restarted);
  if (!status && !restarted && !moved) status = accepted_step(sim, &err);
  if (status == AT_EDGE) {
    status = pass_edge(sim, &moved, &restarted);
    if (!status && !moved) sim->edge_pause = 1.0, status = accepted_step(sim, &err); /* the end is nearer */
  }
  if (!status && restarted) return after_restart(sim);
  if (status) return status;
  sim->st->busy = 1; /* until all that is within the step has been handed out */
  status = handle_events(sim, err, &gone);
  if (!gone && !moved) {
    count_step(sim, sim->st->now.scalar[GA__H_OLD], err);
    sim->edge_pause = fmax(sim->edge_pause - 1.0, 0.0);
    if (sim->st->now.scalar[GA__H_OLD] >= sim->edge_brief) sim->edge_brief = 0.0;
  }
  if (gone) sim->edge_gap = 0.0;
  double t = sim->st->now.scalar[GA__T];
  int at_end = is_end(sim, t);
  if (!status && !gone) copy(sim->g, sim->g_new, sim->opts.n_events);
  if (!status && (!gone || at_end)) status = outputs_until(sim, at_end ? fmax(t, t_end) : t);
  sim->st->busy = 0;
  sim->stopped = status == GA_STOPPED;
  if (status < 0) return status;
  sim->finished = !status && at_end;
  int wish = sim->opts.observer && sim->opts.observer(sim->opts.user, sim->st);
  return status || sim->finished || wish ? GA_STOPPED : GA_OK;
}

ga_status ga_simulator_run(ga_simulator *sim)
{
  ga_status status;
  do status = ga_simulator_step(sim);
  while (status == GA_OK);
  return status == GA_STOPPED && sim->finished ? GA_OK : status;
}

int ga_simulator_finished(const ga_simulator *sim)
{
  return sim && sim->finished;
}
int ga_simulator_last_event(const ga_simulator *sim)
{
  return sim ? sim->last_event : -1;
}
double ga_simulator_next_step(const ga_simulator *sim)
{
  return sim ? sim->h_next : 0.0;
}
const ga_simulate_stats *ga_simulator_stats(const ga_simulator *sim)
{
  return sim ? &sim->stats : NULL;
}

/* ---- Saving ---- */

/* Numbers that are saved behind those of the stepper, and for every event: its g, when it happened last, and
 * how long after the time before; then `strict`. What follows from t and the
 * options is found anew, so that a run can go on with another t_end or other outputs. */
enum { N_SAVED = 34, PER_EVENT = 3 };

static int n_saved(const ga_simulator *sim)
{
  return N_SAVED + PER_EVENT * sim->opts.n_events + sim->st->sys->nv;
}

/* Infinite times are saved as the largest number. */
static double saved_time(double t)
{
  return fmin(t, DBL_MAX);
}
static double loaded_time(double s)
{
  return s < DBL_MAX ? s : INFINITY;
}

static void saved_numbers(const ga_simulator *sim, double *s)
{
  const ga_start_opts *o = &sim->start;
  const ga_breakpoint *b = &sim->breaks.next;
  const double number[N_SAVED] = {sim->opts.n_events,
                                  sim->t0,
                                  sim->h_next,
                                  sim->err_old,
                                  sim->stopped,
                                  sim->last_event,
                                  o->project,
                                  o->shift_a,
                                  o->perturb_v,
                                  o->max_change,
                                  o->max_gap,
                                  sim->failed_h,
                                  sim->wary,
                                  sim->wary_span,
                                  sim->piece,
                                  sim->breaks.passed,
                                  sim->breaks.known,
                                  saved_time(b->before),
                                  saved_time(b->after),
                                  b->restart,
                                  saved_time(b->clear),
                                  saved_time(b->h_max),
                                  sim->power,
                                  sim->hidden_credit,
                                  sim->hidden_counted - (double)sim->st->stats.residuals,
                                  sim->n_first,
                                  sim->held,
                                  sim->kick_end,
                                  sim->edge_gap,
                                  sim->edge_last,
                                  sim->edge_h,
                                  sim->edge_quick,
                                  sim->edge_pause,
                                  sim->edge_brief};
  memcpy(s, number, sizeof number);
}

static void loaded_numbers(ga_simulator *sim, const double *s)
{
  ga_start_opts *o = &sim->start;
  sim->t0 = s[1];
  sim->h_next = s[2];
  sim->err_old = s[3];
  sim->stopped = s[4] != 0.0;
  sim->last_event = s[5] >= 0.0 && s[5] < sim->opts.n_events ? (int)s[5] : -1;
  o->project = s[6] != 0.0;
  o->shift_a = s[7] != 0.0;
  o->perturb_v = s[8] != 0.0;
  o->max_change = s[9];
  o->max_gap = s[10];
  sim->failed_h = s[11];
  sim->wary = s[12];
  sim->wary_span = s[13];
  sim->piece = s[14];
  ga__breaks_begin(&sim->breaks, sim->opts.t_end);
  sim->breaks.passed = s[15];
  sim->breaks.known = s[16] != 0.0;
  sim->breaks.next = (ga_breakpoint){loaded_time(s[17]), loaded_time(s[18]), s[19] != 0.0, loaded_time(s[20]),
                                     loaded_time(s[21])};
  set_grid(sim);
  sim->power = s[22];
  sim->hidden_credit = s[23];
  sim->hidden_counted = s[24] + (double)sim->st->stats.residuals;
  sim->n_first = s[25] < FIRST_STEPS ? (int)s[25] : FIRST_STEPS;
  sim->held = s[26];
  sim->kick_end = s[27];
  sim->edge_gap = s[28];
  sim->edge_last = s[29];
  sim->edge_h = s[30];
  sim->edge_quick = s[31];
  sim->edge_pause = s[32];
  sim->edge_brief = s[33];
  ga__sides_forget(&sim->sides);
  sim->started = 1;
}

/* Outputs up to t have been given; which come next, and is t the end? */
static void find_place(ga_simulator *sim, double t)
{
  const ga_simulate_opts *o = &sim->opts;
  sim->finished = t >= o->t_end - tiny(sim);
  sim->next_time = 0;
  while (sim->next_time < o->n_output_times && o->output_times[sim->next_time] <= t) sim->next_time++;
  sim->next_every = sim->finished ? -1.0 : 0.0;
  if (o->output_every > 0.0 && !sim->finished) {
    sim->next_every = floor((t - sim->t0) / o->output_every);
    while (sim->t0 + sim->next_every * o->output_every <= t) sim->next_every += 1.0;
  }
}

size_t ga_simulator_saved_size(const ga_simulator *sim)
{
  return sim ? ga_stepper_saved_size(sim->st) + (size_t)n_saved(sim) : 0;
}

ga_status ga_simulator_save(ga_simulator *sim, double *saved)
{
  if (!sim || !saved) return GA_ERR_ARGUMENT;
  ga_status status = ga_stepper_save(sim->st, saved);
  if (status) return status;
  double *s = saved + ga_stepper_saved_size(sim->st);
  saved[0] = -saved[0];
  saved_numbers(sim, s);
  double *const per_event[] = {sim->g, sim->fired, sim->since};
  for (int k = 0; k < PER_EVENT; k++)
    copy(s + N_SAVED + k * sim->opts.n_events, per_event[k], sim->opts.n_events);
  copy(s + N_SAVED + PER_EVENT * sim->opts.n_events, sim->strict, sim->st->sys->nv);
  return GA_OK;
}

static ga_status check_saved(ga_simulator *sim, const double *saved)
{
  ga_status status = ga__check_saved(sim->st, saved);
  if (status) return status;
  if (saved[0] > 0.0)
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved by ga_stepper_save(), with nothing of a simulator behind it");
  const double *s = saved + ga_stepper_saved_size(sim->st);
  if (s[0] != sim->opts.n_events)
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved with %g events, this simulator has %d", s[0],
                    sim->opts.n_events);
  int bad = ga__first_bad(s, n_saved(sim));
  if (bad >= 0)
    return ga__fail(sim->ctx, GA_ERR_NAN, "ga_simulator_load: number %d of what the simulator saved is %g",
                    bad, s[bad]);
  double t = ga__saved_time(sim->st, saved);
  if (!(t <= sim->opts.t_end) || !(s[2] > 0.0))
    return ga__fail(sim->ctx, GA_ERR_ARGUMENT,
                    "ga_simulator_load: saved at t = %g with a next step of %g; t_end is %g", t, s[2],
                    sim->opts.t_end);
  return GA_OK;
}

ga_status ga_simulator_load(ga_simulator *sim, const double *saved)
{
  if (!sim || !saved) return GA_ERR_ARGUMENT;
  ga_status status = check_saved(sim, saved);
  if (!status) status = ga_stepper_load(sim->st, saved);
  if (status) return status;
  const double *s = saved + ga_stepper_saved_size(sim->st);
  loaded_numbers(sim, s);
  find_place(sim, sim->st->now.scalar[GA__T]);
  double *const per_event[] = {sim->g, sim->fired, sim->since};
  for (int k = 0; k < PER_EVENT; k++)
    copy(per_event[k], s + N_SAVED + k * sim->opts.n_events, sim->opts.n_events);
  copy(sim->strict, s + N_SAVED + PER_EVENT * sim->opts.n_events, sim->st->sys->nv);
  sim->strict_most = -DBL_MAX;
  for (int i = 0; i < sim->st->sys->nv; i++) sim->strict_most = fmax(sim->strict_most, sim->strict[i]);
  return GA_OK;
}
