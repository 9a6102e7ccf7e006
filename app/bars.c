#include "bars.h"
#include "events.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger relative differences of the two runs are no reliable estimate of the error. */
#define DOUBTFUL 0.05
#define ROUNDING 1e-6  /* relative to the scale of a signal; smaller bars are not reported */
#define AT_EDGES 3.0   /* factor of the estimate, instead of 2, once the run has passed an edge */
#define LEAST_BAR 0.05 /* smallest error bar, relative to accuracy · range of the signal */

enum { LEADER, FOLLOWER };
/* A record so near before a restart, relative to the time or 1 s, is that of the side before it. */
#define SAME_TIME 1e-9

/* ---- The follower ---- */

/* The follower jumps at its own times: what the leader is before a jump is compared with this. */
static void keep_side(app_bars *b, const ga_state *s)
{
  b->metered = ga_machine_signals(b->task->machine, b->meter, s, b->n, b->index, b->side[FOLLOWER]);
  b->t_side[FOLLOWER] = s->t;
}

/* Called after each step of the follower. */
static int update_meter(void *user, const ga_stepper *st)
{
  app_bars *b = user;
  double energy = 0.0;
  if (!b->metered) b->metered = ga_meter_follow(b->meter, st);
  if (!b->metered) b->metered = ga_meter_update(b->meter, ga_stepper_state(st));
  if (!b->metered && b->jumped) b->metered = app_events_energy(b->task, ga_stepper_state(st), &energy);
  if (!b->metered && b->jumped) app_events_add_work(b->meter, b->watch, energy - b->energy);
  b->jumped = 0;
  if (!b->metered && ga_follower_at_jump(b->follower)) keep_side(b, ga_stepper_state(st));
  return b->metered != GA_OK;
}

/* An event of the follower; s: the state before its changes, whose energy they add to. */
static int on_event(void *user, int event, const ga_state *s)
{
  app_bars *b = user;
  if (b->jumped || !ga_machine_event_changes(b->task->machine, event)) return 0;
  if (!b->metered) b->metered = ga_meter_follow(b->meter, b->stepper);
  if (!b->metered) b->metered = ga_meter_update(b->meter, s);
  if (!b->metered) b->metered = app_events_energy(b->task, s, &b->energy);
  b->jumped = 1;
  return 0;
}

/* If the observer stopped the follower, the meter failed. */
static ga_status status_of(const app_bars *b, ga_status status)
{
  return status == GA_STOPPED && b->metered ? b->metered : status;
}

static ga_status create_band(app_bars *b, const app_task *s, int n, const int *index)
{
  ga_band_opts opts = ga_band_defaults();
  b->n = n;
  b->names = calloc(2 * (size_t)n + 1, sizeof *b->names);
  b->first = calloc((size_t)n + 1, sizeof *b->first);
  for (int i = LEADER; i <= FOLLOWER; i++) b->side[i] = calloc((size_t)n + 1, sizeof *b->side[i]);
  if (!b->names || !b->first || !b->side[LEADER] || !b->side[FOLLOWER]) return GA_ERR_MEMORY;
  for (int i = 0; i < n; i++) {
    b->names[i] = ga_machine_signal_name(s->machine, index[i]);
    b->names[n + i] = ga_machine_signal_unit(s->machine, index[i]);
  }
  opts.n_signals = n;
  opts.names = b->names;
  opts.units = b->names + n;
  opts.gravity = ga_machine_gravity(s->machine);
  opts.t_start = s->settings.t_start;
  opts.t_end = s->settings.t_end;
  opts.before = b->before;
  opts.least = LEAST_BAR * b->accuracy;
  if (b->n_rounds > 0) opts.smaller = fmin(s->settings.tolerance / b->round[b->n_rounds - 1].tolerance, 1.0);
  return ga_band_create(s->ctx, &opts, &b->band);
}

ga_status app_bars_prepare(app_bars *b, const app_task *s, int n, const int *index)
{
  if (b->accuracy == 0.0) return GA_OK;
  ga_stepper_opts stepper;
  ga_follower_opts opts = ga_follower_defaults();
  ga_band *before = b->band;
  b->band = NULL;
  app_bars_close(b);
  b->before = before;
  opts.observer = update_meter;
  opts.user = b;
  ga_simulate_opts leader = ga_simulate_defaults();
  opts.leader = &leader;
  ga_status status = app_task_simulate_opts(s, &s->settings, &leader);
  b->task = s;
  b->index = index;
  if (!status && app_events_change(s)) {
    status = ga_event_watch_create(s->ctx, s->machine, on_event, b, &b->watch);
    ga_event_watch_use(b->watch, &leader);
  }
  if (!status) status = ga_run_stepper_opts(s->ctx, &s->settings, &stepper);
  if (!status) status = ga_stepper_create(s->ctx, ga_machine_system(s->machine), &stepper, &b->stepper);
  if (!status) status = ga_follower_create(s->ctx, b->stepper, &opts, &b->follower);
  if (!status) status = ga_meter_create(ga_machine_context(s->machine), s->machine, &b->meter);
  return status ? status : create_band(b, s, n, index);
}

void app_bars_close(app_bars *b)
{
  ga_band_destroy(&b->band);
  ga_band_destroy(&b->before);
  ga_follower_destroy(&b->follower);
  ga_stepper_destroy(&b->stepper);
  ga_event_watch_destroy(&b->watch);
  ga_meter_destroy(&b->meter);
  free(b->names);
  free(b->first);
  for (int i = LEADER; i <= FOLLOWER; i++) free(b->side[i]), b->side[i] = NULL;
  b->names = NULL;
  b->first = NULL;
  b->metered = GA_OK;
  b->restarts = b->edges = b->ahead = b->met = 0;
  b->jumped = b->changed = b->before_jump = 0;
}

void app_bars_drop(app_bars *b)
{
  ga_band_destroy(&b->band);
  b->band = b->before;
  b->before = NULL;
}

ga_status app_bars_start(app_bars *b, const app_task *s)
{
  if (b->accuracy == 0.0) return GA_OK;
  const ga_state *leader = ga_stepper_state(s->stepper);
  const ga_start_opts start = ga_run_start_opts(&s->settings);
  for (int i = 0; i < 2; i++) b->t_side[i] = -DBL_MAX, b->t_jump[i] = leader->t;
  ga_status status = ga_meter_start(b->meter, leader);
  if (!status) status = ga_follower_start(b->follower, &start, ga_simulator_next_step(s->simulator), leader);
  return status_of(b, status);
}

/* The leader has restarted at t. */
static void leave_jump(app_bars *b, double t, long restarts)
{
  b->restarts = restarts;
  b->t_jump[1] = b->t_jump[0];
  b->t_jump[0] = t;
  b->before_jump = 0;
}

/* Makes the follower repeat the leader's last step, or its restart after a jump, if it has not
 * done so yet. */
static ga_status catch_up(app_bars *b, const app_task *s)
{
  const double t = ga_stepper_state(s->stepper)->t;
  const ga_simulate_stats *stats = ga_simulator_stats(s->simulator);
  if (stats->edges != b->edges) {
    b->edges = stats->edges;
    b->before_jump = 1;
    ga_band_set_factor(b->band, AT_EDGES);
    return ga_follower_pass(b->follower, t);
  }
  b->met = stats->events;
  if (b->watch && b->changed &&
      stats->restarts != b->restarts) { /* an event has changed the leader's motion */
    leave_jump(b, t, stats->restarts);
    b->changed = 0;
    ga_band_set_factor(b->band, AT_EDGES);
    return ga_follower_meet(b->follower, t, stats->events - b->ahead);
  }
  if (stats->restarts == b->restarts)
    return t > ga_follower_time(b->follower) ? ga_follower_lead(b->follower, t, ga_stepper_order(s->stepper))
                                             : GA_OK;
  leave_jump(b, t, stats->restarts);
  return ga_follower_restart(b->follower, t, ga_simulator_next_step(s->simulator));
}

ga_status app_bars_step(app_bars *b, const app_task *s)
{
  if (b->accuracy == 0.0) return GA_OK;
  ga_status status = catch_up(b, s);
  if (!status) status = ga_follower_reach(b->follower, ga_follower_time(b->follower), NULL);
  return status_of(b, status);
}

/* Times of jumps are known with the accuracy of everything else, relative to the time since the jump before.
 * Within that, each run may be on either side. */
static double slack(const app_bars *b, double interval)
{
  return b->accuracy * interval;
}

/* 1: the follower has behind it a jump that the leader is still to meet, just after t: one that is nearer to
 * t than to the leader's last one. */
static int is_ahead(const app_bars *b, double t)
{
  const double by = t - b->t_side[FOLLOWER], since = t - b->t_jump[0];
  return by >= 0.0 && by < 0.5 * since && (b->before_jump || by <= slack(b, since));
}

/* 1: the leader has jumped just before t, the follower may be about to. */
static int may_be_late(const app_bars *b, double t)
{
  const double at = b->t_jump[0];
  return at - b->t_side[LEADER] <= SAME_TIME * fmax(fabs(t), 1.0) &&
         t - at <= fmax(slack(b, at - b->t_jump[1]), SAME_TIME * fmax(fabs(t), 1.0));
}

/* The leader's signals at t, each on the side that the follower is on. */
static void choose_sides(app_bars *b, double t, const double *second)
{
  const double *side = b->side[LEADER];
  if (b->before_jump) {
    memcpy(b->side[LEADER], b->first, (size_t)b->n * sizeof *b->first);
    b->t_side[LEADER] = t;
  } else if (may_be_late(b, t))
    for (int i = 0; i < b->n; i++)
      if (fabs(side[i] - second[i]) < fabs(b->first[i] - second[i])) b->first[i] = side[i];
}

ga_status app_bars_values(app_bars *b, const app_task *s, const ga_meter *leader, const ga_state *state,
                          const int *index, double *values)
{
  const ga_state *own = NULL;
  ga_status status = ga_machine_signals(s->machine, leader, state, b->n, index, b->first);
  if (!status) status = catch_up(b, s);
  if (!status) status = ga_follower_reach(b->follower, state->t, &own);
  if (!status) status = ga_meter_follow(b->meter, b->stepper); /* own may be within a step */
  if (!status && is_ahead(b, state->t))
    memcpy(values, b->side[FOLLOWER], (size_t)b->n * sizeof *values);
  else if (!status)
    status = ga_machine_signals(s->machine, b->meter, own, b->n, index, values);
  if (status) return status_of(b, status);
  choose_sides(b, state->t, values);
  ga_band_add(b->band, state->t, b->first, values, values + b->n);
  return GA_OK;
}

/* ---- Checkpoints ---- */

enum { SAVED_HEAD = 7 }; /* before the sides of the last jump, and what is saved of rounds */

size_t app_bars_saved_size(const app_bars *b)
{
  return b->accuracy == 0.0 ? 0
                            : ga_follower_saved_size(b->follower) + ga_meter_saved_size(b->meter) +
                                  ga_band_saved_size(b->band) + SAVED_HEAD + 2 * (size_t)b->n +
                                  sizeof b->round / (sizeof(double));
}

ga_status app_bars_save(app_bars *b, double *saved)
{
  if (b->accuracy == 0.0) return GA_OK;
  const ga_status status = status_of(b, ga_follower_save(b->follower, saved));
  if (status) return status;
  ga_meter_save(b->meter, saved += ga_follower_saved_size(b->follower));
  ga_band_save(b->band, saved += ga_meter_saved_size(b->meter));
  saved += ga_band_saved_size(b->band);
  saved[0] = (double)(ga_follower_events(b->follower) + b->ahead - b->met); /* events met before the leader */
  saved[1] = b->n_rounds;
  saved[2] = b->before_jump;
  memcpy(saved + 3, b->t_side, sizeof b->t_side);
  memcpy(saved + 5, b->t_jump, sizeof b->t_jump);
  saved += SAVED_HEAD;
  for (int i = LEADER; i <= FOLLOWER; i++, saved += b->n)
    memcpy(saved, b->side[i], (size_t)b->n * sizeof *saved);
  memcpy(saved, b->round, sizeof b->round);
  return GA_OK;
}

ga_status app_bars_load(app_bars *b, const double *saved)
{
  if (b->accuracy == 0.0) return GA_OK;
  ga_status status = ga_follower_load(b->follower, saved);
  saved += ga_follower_saved_size(b->follower);
  if (!status) status = ga_meter_load(b->meter, saved);
  saved += ga_meter_saved_size(b->meter);
  if (!status) status = ga_band_load(b->band, saved);
  saved += ga_band_saved_size(b->band);
  b->restarts = b->edges = b->met = 0; /* the leader's counts begin here too */
  b->ahead = isfinite(saved[0]) && fabs(saved[0]) < 1e6 ? (long)saved[0] : 0;
  b->n_rounds = saved[1] >= 0.0 && saved[1] <= APP_MOST_ROUNDS ? (int)saved[1] : 0;
  b->before_jump = saved[2] != 0.0;
  memcpy(b->t_side, saved + 3, sizeof b->t_side);
  memcpy(b->t_jump, saved + 5, sizeof b->t_jump);
  saved += SAVED_HEAD;
  for (int i = LEADER; i <= FOLLOWER; i++, saved += b->n)
    memcpy(b->side[i], saved, (size_t)b->n * sizeof *saved);
  memcpy(b->round, saved, sizeof b->round);
  return status;
}

/* ---- Rounds ---- */

/* Errors fall with the tolerance to the power 2/3 as long as nothing else is known, and are to end
 * this much below what is wanted. A round does not go down by more than MOST_DOWN, since large
 * estimates are no good. */
#define POWER (2.0 / 3.0)
#define MARGIN 0.6
#define CHANCE 0.1
#define AGAIN 0.2
#define MOST_DOWN 1e-3
#define MOST_DOWN_DOUBTFUL 1e-2
#define LEAST_TOLERANCE 1e-12
/* A tolerance that fell by STALL_TOLERANCE must have made the error fall by STALL_ERROR; where it
 * has not, which may be a matter of where records lie within steps, one more round that goes down
 * by STALL_DOWN tells. */
#define STALL_TOLERANCE 8.0
#define STALL_ERROR 2.0
#define STALL_DOWN 0.05

static double power_seen(const app_round *round, int n)
{
  if (n < 2) return POWER;
  const app_round *a = &round[n - 2], *b = &round[n - 1];
  const double p = log(fmin(a->error, 1.0) / b->error) / log(a->tolerance / b->tolerance);
  return p > 0.3 && p < 1.2 && a->error < DOUBTFUL ? p : POWER;
}

/* 1: the error decreased much faster than expected, as if both runs happened to meet edges of forces at the
 * same times. Another round has to confirm it. */
static int by_chance(const app_round *now, const app_round *before)
{
  return before && now->fell < CHANCE * pow(now->tolerance / before->tolerance, POWER);
}

static double fall_since(const ga_band *now, const ga_band *before)
{
  const int worst = before ? ga_band_worst(before, NULL) : -1;
  return worst < 0 ? NAN : ga_band_of(now, worst).error / ga_band_of(before, worst).error;
}

/* 1: the error of the last of n rounds decreased only a little. */
static int has_stalled(const app_round *round, int n)
{
  const app_round *now = &round[n - 1], *before = now - 1;
  return n > 1 && before->tolerance >= STALL_TOLERANCE * now->tolerance &&
         !(now->error * STALL_ERROR < before->error);
}

app_verdict app_bars_judge(const app_round *round, int n, double accuracy, double *tolerance)
{
  const app_round *now = &round[n - 1], *before = n > 1 ? now - 1 : NULL;
  const int last = n == APP_MOST_ROUNDS || now->tolerance <= LEAST_TOLERANCE;
  if (now->error <= accuracy && !last && by_chance(now, before)) {
    *tolerance = fmax(AGAIN * now->tolerance, LEAST_TOLERANCE);
    return APP_TRY_AGAIN;
  }
  if (now->error <= accuracy) return APP_REACHED;
  if (n == APP_MOST_ROUNDS || now->tolerance <= LEAST_TOLERANCE) return APP_GIVE_UP;
  const double error = now->error == now->error ? fmin(now->error, 1.0) : 1.0;
  const int stalled = has_stalled(round, n);
  if (stalled && has_stalled(round, n - 1)) return APP_GIVE_UP;
  const double wanted = pow(MARGIN * accuracy / error, 1.0 / power_seen(round, n));
  const double down = fmax(wanted, stalled ? STALL_DOWN : error > DOUBTFUL ? MOST_DOWN_DOUBTFUL : MOST_DOWN);
  *tolerance = fmax(now->tolerance * fmin(down, 0.5), LEAST_TOLERANCE);
  return APP_TRY_AGAIN;
}

/* Largest work of a round that is not asked for: steps · unknowns, three times, since the follower makes two
 * half steps. About 15 s for machines of all sizes; independent of the computer. */
#define MOST_WORK 5e6

app_verdict app_bars_end(app_bars *b, const app_task *s, double steps, double *tolerance)
{
  const ga_system *sys = ga_machine_system(s->machine);
  const double now = s->settings.tolerance;
  double error = NAN, unknowns = 0.0;
  for (int k = 0; k < GA_N_BLOCKS; k++) unknowns += ga_system_size(sys, (ga_equation_block)k);
  ga_band_worst(b->band, &error);
  const app_round round = {now, error, ga_band_until(b->band, b->accuracy), steps * unknowns,
                           fall_since(b->band, b->before)};
  if (b->n_rounds < APP_MOST_ROUNDS) b->round[b->n_rounds++] = round;
  const app_verdict verdict = app_bars_judge(b->round, b->n_rounds, b->accuracy, tolerance);
  const double most = s->settings.accuracy_by_default ? MOST_WORK : 0.0;
  b->too_much = verdict == APP_TRY_AGAIN && most > 0.0 && round.work * cbrt(now / *tolerance) > most;
  return b->too_much ? APP_GIVE_UP : verdict;
}

/* ---- Reports ---- */

enum { SHOWN = 4 };

/* 1: the signal changes by no more than its error bar: it is constant, or too small for this accuracy. */
static int is_unknown(const app_bars *b, int i)
{
  const ga_band_signal s = ga_band_of(b->band, i);
  return s.constant && (s.ratio > ROUNDING || (s.scale == 0.0 && s.error > 0.0));
}

static void print_constants(const app_bars *b, FILE *out)
{
  int n = 0;
  for (int i = 0; i < b->n; i++) n += is_unknown(b, i);
  if (n == 0) return;
  fprintf(out, "  %d signal%s constant within %s error bar%s:", n, n == 1 ? " is" : "s are",
          n == 1 ? "its" : "their", n == 1 ? "" : "s");
  for (int i = 0, shown = 0; i < b->n && shown <= SHOWN; i++) {
    if (!is_unknown(b, i)) continue;
    if (++shown > SHOWN)
      fputs(", ...", out);
    else
      fprintf(out, "%s %s within %.2g%s%s", shown > 1 ? "," : "", b->names[i], ga_band_of(b->band, i).error,
              *b->names[b->n + i] ? " " : "", b->names[b->n + i]);
  }
  fputc('\n', out);
}

void app_bars_print(const app_bars *b, FILE *out)
{
  int shown[SHOWN], n = 0;
  double most;
  if (b->accuracy == 0.0 || ga_band_worst(b->band, &most) < 0) return;
  fprintf(out, "error bars   up to %.2g %% of a signal's range; requested: %.3g %%%s\n", 100.0 * most,
          100.0 * b->accuracy, most <= b->accuracy ? "" : ", not reached");
  for (; n < SHOWN && n < b->n; n++) {
    int worst = -1;
    for (int i = 0; i < b->n; i++) {
      int known = 0;
      for (int k = 0; k < n; k++) known |= shown[k] == i;
      if (!known && (worst < 0 || ga_band_of(b->band, i).ratio > ga_band_of(b->band, worst).ratio)) worst = i;
    }
    shown[n] = worst;
    const ga_band_signal s = worst >= 0 ? ga_band_of(b->band, worst) : (ga_band_signal){0};
    if (!(s.ratio > 0.0)) continue;
    const char *unit = b->names[b->n + worst], *gap = *unit ? " " : "";
    fprintf(out, "  %-24s within %.2g%s%s, %.2g %% of %.3g%s%s, most at t = %.4g s\n", b->names[worst],
            s.error, gap, unit, 100.0 * s.ratio, s.scale, gap, unit, s.t);
  }
  print_constants(b, out);
}

void app_bars_explain(const app_bars *b)
{
  double most = 0.0, t = 0.0, decade = 0.0;
  const int worst = b->accuracy == 0.0 ? -1 : ga_band_worst(b->band, &most);
  if (worst < 0 || most <= b->accuracy) return;
  const char *name = b->names[worst];
  const double until = ga_band_until(b->band, b->accuracy);
  if (b->too_much) {
    fprintf(stderr,
            "warning: %s has an error bar of %.2g %% of its range%s. Smaller ones would take long: "
            "--accuracy %.3g continues until it is reached, --tol runs without error bars\n",
            name, 100.0 * most, most > DOUBTFUL ? ", too large to be reliable" : "", b->accuracy);
    return;
  }
  fprintf(stderr,
          "warning: the accuracy of %.3g %% is not reached: %s has an error bar of %.2g %% of its range",
          100.0 * b->accuracy, name, 100.0 * most);
  if (b->n_rounds > 1)
    fprintf(stderr, ", at tolerances from %.1g to %.1g", b->round[0].tolerance,
            b->round[b->n_rounds - 1].tolerance);
  if (ga_band_grows(b->band, &decade))
    fprintf(stderr,
            ". The motion is chaotic or unstable: errors grow tenfold in %.2g s. The accuracy holds up to "
            "t = %.4g s",
            decade, until);
  else if (ga_band_jumps(b->band, worst, &t))
    fprintf(stderr, ". It does not converge; it jumps near t = %.6g s, at different times in the two runs",
            t);
  else
    fprintf(stderr, ". It does not converge; the accuracy holds up to t = %.4g s", until);
  if (most > DOUBTFUL) fputs(". Error bars above 5 % are not reliable", stderr);
  fputc('\n', stderr);
}
