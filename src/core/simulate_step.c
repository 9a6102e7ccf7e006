/* Steps until one is accepted. */
#include "core/simulate.h"

#include <math.h>

void ga__sim_count_rejection(ga_simulator *sim, ga_status status)
{
  if (status == GA_RETRY_CALLBACK || status == GA_RETRY_NAN)
    sim->stats.rejected_callback++;
  else
    sim->stats.rejected_newton++;
}

ga_status ga__sim_fail_step(ga_simulator *sim, double t, const char *what, double h)
{
  const ga_error *e = ga_context_error(sim->ctx);
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_STEP_FAILS,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, e->block, e->index},
                                 .name = what,
                                 .equation = e->equation,
                                 .detail = e->text,
                                 GA__NUMBERS({h, NULL})});
}

static ga_status fail_too_small(ga_simulator *sim, double h, double err, ga_status why)
{
  const ga_system *sys = sim->st->sys;
  char name[192];
  double t = sim->st->now.scalar[GA__T];
  if (why) return ga__sim_fail_step(sim, t, "the step would fall below h_min", ga__sim_least_step(sim));
  int is_state = sim->worst >= sys->nv, index = is_state ? sim->worst - sys->nv : sim->worst;
  ga_equation_block block = is_state ? GA_BLOCK_X : GA_BLOCK_V;
  ga__describe_unknown(sys, block, index, name, sizeof name);
  return ga__refuse(sim->ctx, GA_ERR_STEP, GA_REASON_TOLERANCE_NOT_MET,
                    &(ga__facts){.at = &(ga__fact_time){t, h, (int)block, index},
                                 .equation = name,
                                 GA__NUMBERS({ga__sim_least_step(sim), NULL}, {err, NULL})});
}

/* A step of fixed size, or the rest of one (h_next). If it fails, it is made in parts, or a longer one is
 * tried, since its end may be the problem, as a singular position; then on to the next regular time, by
 * parts that grow by at most RECOVER. */
#define RECOVER 4.0
static const struct {
  double part; /* [-] of the step wanted */
  double over; /* [fixed_h] beyond its end, 0: not */
} ANOTHER[] = {{1.0, 0.0}, {0.6, 0.0}, {1.0, 0.5},  {0.3, 0.0},  {1.0, 0.25},
               {1.0, 0.8}, {0.1, 0.0}, {0.03, 0.0}, {0.01, 0.0}, {1e-3, 0.0}};

enum { N_ANOTHER = sizeof ANOTHER / sizeof *ANOTHER };

static ga_status make_fixed_step(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  double fixed = sim->opts.fixed_h, wanted = ga__sim_fit_size(sim, sim->h_next),
         h_old = st->now.scalar[GA__H_OLD], h = 0.0;
  const double cut = fmax(sim->h_next - wanted, 0.0); /* cut off by a break: to be made behind it */
  double most = h_old > 0.0 && wanted > RECOVER * h_old ? RECOVER * h_old : wanted;
  double rest = ga__sim_stop_time(sim) - st->now.scalar[GA__T];
  ga_status status = GA_RETRY_NEWTON;
  for (int i = 0; status && i < N_ANOTHER; i++) {
    double other = ANOTHER[i].over > 0.0 ? wanted + ANOTHER[i].over * fixed : ANOTHER[i].part * most;
    if (i && (other > rest || other < 1e-6 * fixed)) continue;
    status = ga_stepper_step(st, h = other);
    if (status < 0) return status;
    if (status) ga__sim_count_rejection(sim, status);
  }
  if (status)
    return ga__sim_fail_step(sim, st->now.scalar[GA__T],
                             "a step failed in all parts that were tried; the last one was h", h);
  st->on_grid = h == most; /* up to a regular time, or a multiple of the last size on the way there */
  st->of_last = st->on_grid && most < wanted ? RECOVER : 0.0;
  st->to_end = st->on_grid && h == wanted && cut > 0.0 && ga__sim_stop_time(sim) == sim->opts.t_end;
  const double left = wanted + cut - h; /* too little for a separate step: added to the next one */
  sim->h_next = left > 1e-6 * fixed ? left : fixed + left;
  return GA_OK;
}

/* A step that ends close to a singular position fails, or its error is rounding times the condition;
 * shorter ones only end closer to it, and no step leads away from there. So other sizes are tried, as with
 * equal steps, and the next step has the original size, to pass the position. */
#define CLOSE 1e-7    /* reciprocal condition of a matrix at such a position */
#define EXCESSIVE 1e3 /* larger than errors otherwise become */
#define SAME 0.01     /* [-] relative difference of sizes that count as equal */

/* Size of the next attempt after `tries`; 0: none is left, or the position is not singular. err 0: the step
 * failed. Without constraints no position is singular: a matrix that looks so has forces of very different
 * stiffness. */
static double choose_another_size(const ga_simulator *sim, double wanted, double err, int *tries)
{
  const int *size = sim->st->sys->size;
  if (size[GA_BLOCK_LAMBDA] + size[GA_BLOCK_PSI] == 0) return 0.0;
  if (!(sim->st->stats.rcond < CLOSE) || sim->st->diverged || (err > 0.0 && err < EXCESSIVE)) return 0.0;
  while (++*tries < N_ANOTHER) {
    const double over = ANOTHER[*tries].over, part = over > 0.0 ? 1.0 + over : ANOTHER[*tries].part;
    const double other = ga__sim_fit_size(sim, part * wanted);
    if (fabs(other - wanted) > SAME * wanted) return other; /* limits may have made them equal */
  }
  return 0.0;
}

/* After a step of size h: plans the one that passes the position; not if that failed before, so that the
 * size was the cause. */
static void plan_over_singular(ga_simulator *sim, double wanted, double h)
{
  if (h < 0.25 * wanted || sim->wary_span > GA__WARY_FIRST) return;
  sim->h_next = fmax(sim->h_next, fmax(wanted, h));
  sim->err_old = 0.0;
}

/* A step of fixed size, up to the first edge in it, also if a switch is passed there and back. */
static ga_status make_equal_step(ga_simulator *sim)
{
  ga_stepper *st = sim->st;
  double again = 0.0;
  ga_status status = make_fixed_step(sim);
  if (!status) status = ga__sim_cut_step_at_edge(sim);
  if (!status) status = ga__sim_report_unseen(sim, &again);
  if (status || again == 0.0) return status;
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T];
  sim->edge_gap = 0.0;
  status = ga_stepper_undo(st);
  if (!status) status = ga_stepper_step(st, again);
  if (status > 0)
    return ga__sim_fail_step(sim, st->now.scalar[GA__T], "a step failed that ends behind a switch", again);
  sim->h_next = h - again;
  return status ? status : ga__sim_cut_step_at_edge(sim);
}

ga_status ga__sim_make_accepted_step(ga_simulator *sim, double *err)
{
  ga_stepper *st = sim->st;
  int failed = 0, tries = 0, rejected = 0;
  ga__aim aim = {0.0, 0.0, 0, 0};
  if (sim->opts.fixed_h > 0.0) return make_equal_step(sim);
  double h = ga__sim_fit_size(sim, sim->h_next), again, wanted = h;
  ga__rejected_step before = {0.0, 0.0, 0};
  const double work = ga__sim_work(st);
  ga__sim_use_order(sim);
  for (;;) {
    const long matrices = st->stats.factorisations;
    ga_status status = ga_stepper_step(st, h);
    if (status < 0) return status;
    const ga_status edge = ga__sim_aim_at_edge(sim, status, h, &aim, &again);
    if (edge) return edge;
    if (again > 0.0) {
      h = again;
      continue;
    }
    if (status > 0) {
      ga__sim_count_rejection(sim, status);
      ga__sim_note_failure(sim, status, h, failed++);
      again = GA__AFTER_FAILURE * h;
      *err = 0.0;
    } else {
      status = ga__sim_judge_error(sim, h, err, &before, &again);
      rejected += !status && again > 0.0;
      if (!status)
        status = again == 0.0 ? ga__sim_inspect_step(sim, tries > 0, &again) : ga__sim_inspect_rejected(sim);
      if (again == 0.0 && aim.n > 0 && (again = ga__sim_stand_at_edge(sim, h, &aim)) > 0.0) {
        if ((status = ga_stepper_undo(st))) return status;
        h = again;
        continue;
      }
      if (again == 0.0) {
        ga__sim_limit_after_labour(sim, h, st->stats.factorisations - matrices);
        ga__sim_limit_after_failure(sim, h);
        sim->n_first += sim->n_first < GA__FIRST_STEPS;
        if (tries > 0) plan_over_singular(sim, wanted, h);
        if (!status) ga__sim_choose_order(sim, h, ga__sim_work(st) - work, rejected);
        return status;
      }
      ga_status back = ga_stepper_undo(st);
      if (back || status < 0) return back ? back : status;
    }
    const double other = choose_another_size(sim, wanted, *err, &tries);
    if (other > 0.0) {
      if (!status) ga__sim_note_failure(sim, GA_RETRY_SINGULAR, h, failed++);
      again = other;
    }
    if (again < ga__sim_least_step(sim)) {
      if (!ga__sim_drop_velocity_test(sim)) return fail_too_small(sim, h, *err, status);
      again = h;
    }
    h = again;
    sim->err_old = 0.0;
  }
}

ga_status ga__sim_step_onto(ga_simulator *sim, double t, double err)
{
  ga_stepper *st = sim->st;
  ga_status status = ga_stepper_undo(st);
  double h = t - st->now.scalar[GA__T];
  while (!status && t - st->now.scalar[GA__T] > ga__sim_time_resolution(sim)) {
    h = fmin(h, t - st->now.scalar[GA__T]);
    status = ga_stepper_step(st, h);
    if (!status) { /* after a failed step only the next ones are small */
      ga__sim_count_step(sim, h, err);
      h *= GA__GROW;
      if (t - st->now.scalar[GA__T] > ga__sim_time_resolution(sim))
        status = ga__sim_outputs_until(sim, st->now.scalar[GA__T]);
      if (status) return status;
    }
    if (status <= 0) continue;
    ga__sim_count_rejection(sim, status);
    h *= GA__AFTER_FAILURE;
    status = h < ga__sim_least_step(sim)
                 ? ga__sim_fail_step(sim, st->now.scalar[GA__T], "the step would fall below h_min",
                                     ga__sim_least_step(sim))
                 : GA_OK;
  }
  return status;
}
