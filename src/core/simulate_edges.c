/* Edges in a simulation: steps that end just before them, and restarts behind them. */
#include "core/simulate.h"

#include <float.h>
#include <math.h>

/* A step that passed an edge is repeated to end before it, with the motion before the edge, and again if it
 * has not come close enough. The next call moves to just behind the edge, and the one after that restarts. */
#define BRIEF 0.1     /* [-] of the step before an edge: shorter ones behind it are tested strictly */
#define HERE 1e-9     /* [-] of a step: an edge this close counts as at its beginning */
#define QUICK 1e4     /* times the move behind an edge: closer edges are the same one */
#define FURTHEST 1e-2 /* [-] of a step: farthest restart behind an edge */
enum { MOST_QUICK = 3, PAUSE = 50 };

/* [s] behind an edge, to be on the other side in spite of rounding. */
static double distance_behind_edge(const ga_simulator *sim, double h)
{
  return GA__BEHIND_EDGE * h + 64.0 * DBL_EPSILON * fabs(sim->st->now.scalar[GA__T]);
}

/* A motion that is pushed back from both sides stays on the edge: it cannot continue behind it. */
static void count_edge(ga_simulator *sim, double t)
{
  const int quick = t - sim->edge_last < QUICK * distance_behind_edge(sim, sim->edge_h);
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
  ga__log(sim->ctx, GA_LOG_WARNING, GA_REASON_STAYS_ON_JUMP,
          &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1}, .name = name});
}

/* No step ends before the edge: it is passed over. Not if it is a switch, whose mode would be wrong from here
 * on, as where a load grows from 0 and the motion continued from the beginning does not show it: modes are
 * then decided anew just behind it, once at one place. */
static ga_status pass_over(ga_simulator *sim, ga_status stepped, double h)
{
  ga_stepper *st = sim->st;
  const int n_sides = st->sys->def.n_sides, n_switches = st->sys->def.n_switches;
  const double begin = st->next.scalar[GA__T];
  ga__edge_met met;
  if (stepped || n_switches == 0) return GA_OK;
  sim->sides.first = n_sides - n_switches;
  ga_status status = ga__sides_find(&sim->sides, st, &met);
  if (status || isinf(met.before)) return status;
  if ((status = ga_stepper_undo(st))) return status;
  sim->edge_which = met.which;
  if (begin - sim->edge_last < QUICK * distance_behind_edge(sim, sim->edge_h))
    return ga__refuse(
        sim->ctx, GA_ERR_INCONSISTENT, GA_REASON_SWITCHES_CYCLE,
        &(ga__facts){.at = &(ga__fact_time){begin, NAN, -1, -1}, GA__NUMBERS({GA__MOST_AIMS, NULL})});
  const double whole = sim->opts.fixed_h > 0.0 ? sim->opts.fixed_h : fmax(sim->h_next, h);
  sim->edge_gap = met.behind - begin + fmax(GA__PAST_SWITCH * whole, distance_behind_edge(sim, h));
  return GA__AT_EDGE;
}

ga_status ga__sim_aim_at_edge(ga_simulator *sim, ga_status stepped, double h, ga__aim *aim, double *again)
{
  ga_stepper *st = sim->st;
  ga__edge_met met = {INFINITY, INFINITY, -1};
  double time = INFINITY;
  *again = 0.0;
  const int paused = sim->edge_pause > 0.0, n_switches = st->sys->def.n_switches;
  if (st->sys->def.n_sides == 0 || (paused && n_switches == 0)) return GA_OK;
  if (aim->n >= GA__MOST_AIMS) return pass_over(sim, stepped, h);
  sim->sides.first = paused ? st->sys->def.n_sides - n_switches : 0; /* switches are never passed over */
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
  if (*again > fmax(ga__sim_time_resolution(sim), HERE * h)) return GA_OK;
  ga__sides_gap(&sim->sides, st, fmax(2.0 * HERE * h, 4.0 * ga__sim_time_resolution(sim)), &sim->edge_gap);
  if (isinf(sim->edge_gap) && ga__sides_torn(&sim->sides, st)) sim->edge_gap = 0.0;
  if (isfinite(sim->edge_gap)) return sim->edge_gap += distance_behind_edge(sim, h), GA__AT_EDGE;
  sim->edge_gap = 0.0;
  aim->n = GA__MOST_AIMS; /* there is no edge after all */
  *again = h;
  return GA_OK;
}

double ga__sim_stand_at_edge(ga_simulator *sim, double h, ga__aim *aim)
{
  double gap;
  const double again = ga__aim_longer(&sim->sides, sim->st, aim, h, &gap);
  if (again == 0.0 && isfinite(gap)) sim->edge_gap = gap + distance_behind_edge(sim, h);
  return again;
}

ga_status ga__sim_cut_step_at_edge(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T], rest = sim->h_next;
  double again = h, made = h;
  ga__aim aim = {0.0, 0.0, 0, 0};
  ga_status status = GA_OK;
  for (;;) {
    const ga_status edge = ga__sim_aim_at_edge(sim, status, made, &aim, &again);
    if (edge == GA__AT_EDGE) sim->h_next = h;
    if (edge) return edge;
    if (again == 0.0 && status > 0)
      again = h, aim.n = GA__MOST_AIMS; /* step over it, as if it were unknown */
    if (again == 0.0 && aim.n > 0 && made < h) {
      again = ga__sim_stand_at_edge(sim, made, &aim);
      if (again > 0.0 && (status = ga_stepper_undo(st))) return status;
    }
    if (again == 0.0) break;
    status = ga_stepper_step(st, made = again);
    if (status < 0 || (status > 0 && aim.n >= GA__MOST_AIMS)) return status;
    if (status > 0) ga__sim_count_rejection(sim, status);
  }
  if (made < h) sim->h_next = h - made > 1e-6 * sim->opts.fixed_h ? h - made : rest + h - made;
  return GA_OK;
}

/* Restarts just behind an edge; if the start falls back before it, a little later. */
static ga_status start_behind_edge(ga_simulator *sim)
{
  const double cut = sim->opts.fixed_h > 0.0 ? sim->h_next : 0.0;
  double gap = 64.0 * DBL_EPSILON * fabs(sim->st->now.scalar[GA__T]);
  const double most = fmax(FURTHEST * fmax(sim->edge_h, sim->h_next), gap);
  for (int i = 0;; i++, gap *= GA__FURTHER) {
    const int known = ga__sides_here(&sim->sides, sim->st);
    const double t = sim->st->now.scalar[GA__T];
    ga__sim_copy_state(sim, &sim->st->view);
    sim->behind_edge = 1;
    const ga_status status = ga__sim_restart(sim, t, cut);
    sim->behind_edge = 0;
    if (status || !known || sim->st->switched || !ga__sides_left(&sim->sides, sim->st) ||
        i == GA__MOST_FURTHER || gap > most || t + gap >= ga__sim_stop_time(sim))
      return status;
    ga__sim_restore_backup(sim);
    ga__step_over_gap(sim->st, gap);
  }
}

ga_status ga__sim_pass_edge(ga_simulator *sim, int *moved, int *restarted)
{
  const double gap = sim->edge_gap, h_next = sim->h_next;
  *moved = *restarted = 0;
  sim->edge_gap = 0.0;
  if (gap == 0.0 || sim->st->now.scalar[GA__T] + fabs(gap) >= ga__sim_stop_time(sim)) return GA_OK;
  if (gap > 0.0) {
    count_edge(sim, sim->st->now.scalar[GA__T]);
    ga__step_over_gap(sim->st, gap);
    sim->edge_gap = -gap;
    sim->stats.edges++;
    *moved = 1;
    return GA_OK;
  }
  const ga_status status = start_behind_edge(sim);
  sim->edge_brief = sim->opts.error == GA_PER_STEP ? BRIEF * sim->edge_h : 0.0;
  if (status == GA_ERR_MEMORY || status == GA_ERR_CALLBACK) return status;
  if (status && sim->st->sys->def.n_switches > 0) return status; /* modes would be wrong from here on */
  *restarted = 1;
  if (status) sim->h_next = h_next, sim->edge_pause = PAUSE; /* steps over it may succeed, as before */
  return GA_OK;
}
