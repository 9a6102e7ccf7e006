/* The simulator: its data, and functions shared by its files. */
#ifndef GALPHA_CORE_SIMULATE_H
#define GALPHA_CORE_SIMULATE_H

#include "core/inside.h"
#include "core/ringing.h"
#include "core/sides.h"
#include "core/weights.h"

struct ga_simulator {
  ga_context *ctx;
  ga_stepper *st;
  ga_simulate_opts opts;
  ga_event *events;
  double t0;
  double h_next, err_old; /* err_old 0: none since the start */
  double power;           /* observed power of h of the errors; 0: their order */
  double failed_h;        /* size of a step that failed and has not succeeded since; 0: none */
  double held;            /* consecutive steps that did not grow because they needed many factorisations */
  double wary, wary_span; /* remaining steps with a limited size after a failure, and their total */
  double next_every;      /* number of the next output of output_every, −1: all done */
  int next_time;          /* index of the next of output_times */
  int next_within;        /* number of the next output within the step from within[0] to within[1] */
  double within[2];
  int begins;       /* 1: the member to begin with is not chosen yet */
  int begins_stiff; /* 1: it is collocation, with steps for stiff equations, which have not begun yet */
  int started, finished, last_event;
  int stopped; /* stopped by an output or by on_event */
  int by_bend; /* 1: the error test of accelerations decided, first_ratio() */
  int n_first; /* steps since the start, while accelerations are tested */
  int worst;   /* coordinate that dominates the error test, as in ga__tally */
  ga_start_opts start;
  ga_simulate_stats stats;
  double *block;            /* of all arrays of numbers below */
  double *g, *g_new, *g_at; /* [n_events] */
  double *g_begin,
      *g_inside; /* [n_events], [(GA__EVENT_PARTS − 1) n_events] at the beginning of a step, and within it */
  double *from,
      *when; /* [n_events] from when on an event is looked for within a step, and when it happens there */
  double *u_inside; /* [(GA__EVENT_PARTS + 1) n_event_inputs] what events depend on, at the same times */
  double *u_ends, *u_range; /* [(GA__EVENT_DEPTH + 3) n_event_inputs], [2 n_event_inputs] of a search */
  double *hides;            /* [2 n_events] 1: g may be 0 in this half of the step; 2: and may jump there */
  double *unsure;           /* [n_events] 1: it was reported that it may have been missed */
  double *fired;            /* [n_events] time of the last occurrence; −DBL_MAX: none */
  double *weight;           /* [nv] tolerances of errors of q */
  double *strict;           /* [nv] until when its errors are not filtered; −DBL_MAX: they are */
  double strict_most;       /* the largest of them */
  double kick_end; /* [s] end of error control of velocities after a force within a step; −DBL_MAX: none */
  double force_size[GA_N_BLOCKS]; /* largest vdot, λ, ψ, y so far, where their errors are tested */
  double force_error;             /* and their error over the tolerance in the last step */
  double *since;                  /* [n_events] time between the last two occurrences; DBL_MAX: not known */
  ga_state view;                  /* of an interpolated state */
  double *backup;                 /* of the stepper's state during a restart */
  double *q, *v, *vdot, *lambda, *psi, *x, *xdot, *y;
  ga__breaks breaks;
  ga__sides sides;
  double edge_gap; /* [s] from the current state to just behind an edge, for the restart there; 0: none */
  double edge_last, edge_h; /* [s] the last edge met, and the size of the step it was found in */
  double edge_quick;        /* consecutive edges that followed immediately */
  double edge_pause;        /* steps without a search for edges */
  double edge_brief; /* [s] behind an edge, steps below this belong to a faster motion than before it */
  int edge_which, behind_edge, warned_sliding;
  int warned_aliasing;   /* of inputs too fast for equal steps */
  double piece;          /* [s] beginning of the current piece: the start, or the last break */
  double grid;           /* [s] between times at which the equations are checked; 0: they are not */
  double hidden_credit;  /* remaining calls of the callback `hidden` */
  double hidden_counted; /* residuals counted when they were granted */
  double *hidden; /* states within a step, see find_hidden(); NULL: the system has no callback `hidden` */
  ga__ringing ringing;
  double *off, *off_y, *off_room; /* errors found there, [nv + n_x]; work space */
};

/* A step rejected by the error test here, and how often its error has grown with a shorter one. */
typedef struct ga__rejected_step {
  double err, h; /* 0: none */
  int grown;
} ga__rejected_step;

enum { GA__EVENT_PARTS = 4 };         /* of a step, at whose ends events are evaluated */
enum { GA__EVENT_DEPTH = 40 };        /* bisections of such a part in search of an event */
enum { GA__FIRST_STEPS = 4 };         /* steps after a start with a test of accelerations */
#define GA__KAPPA_LEAST 0.01          /* κ of the error of positions is taken to be at least this */
enum { GA__WARY_FIRST = 8 };          /* steps with a limited size after a failure */
#define GA__AT_EDGE ((ga_status)1000) /* no step was made: the current state is at an edge */

/* -- The simulator (simulate.c) -- */
void ga__sim_count_step(ga_simulator *sim, double h, double err);
void ga__sim_uncount_step(ga_simulator *sim, double err); /* the last one, which is made again */

/* -- Error control (simulate_error.c) -- */
/* Error test of the last step: *again: size to try instead; 0: accepted. */
ga_status ga__sim_judge_error(ga_simulator *sim, double h, double *err, ga__rejected_step *before,
                              double *again);
/* A force that acts for a short time must be resolved: its effect on velocities counts until the end of the
 * step in which it was found. */
void ga__sim_test_velocity(ga_simulator *sim, int i);
/* If velocities jump, no step is short enough for their tolerance: then only positions count. */
int ga__sim_drop_velocity_test(ga_simulator *sim);

/* -- The choice of the order (simulate_order.c) -- */
/* What a stepper has to know of error control: its tolerance, `part` of that of the options, the order to
 * begin with, and the member that has it. */
void ga__sim_begin_order(ga_stepper *st, const ga_simulate_opts *o, double part);
double ga__sim_work(const ga_stepper *st); /* so far, in tenths of residuals */
/* After a step of size h that took this work, with attempts that were rejected: chooses the order of the next
 * one. */
void ga__sim_choose_order(ga_simulator *sim, double h, double work, int rejected);
void ga__sim_use_order(const ga_simulator *sim); /* before a step */
/* At a start, which order 2 has made: *second: 1: collocation goes on. next is lost. */
ga_status ga__sim_choose_first_member(ga_simulator *sim, int *second);
/* Behind the start of that member: where it begins with steps for stiff equations, order 2 is tried late. */
void ga__sim_begin_stiff(ga_simulator *sim);
/* Where sweeps from node to node have just begun, and from time to time: whether their rule has to be the one
 * for stiff equations. */
ga_status ga__sim_choose_rule(ga_simulator *sim);
/* 1: the next order is one of the other member; then the change, by a restart, unless the motion is too stiff
 * for it, or it cannot be started there. */
int ga__sim_wants_member(const ga_simulator *sim);
ga_status ga__sim_change_member(ga_simulator *sim, int *changed);
/* Where collocation cannot go on, order 2 does, from the next restart on; 0: it may not, or does already. */
int ga__sim_give_way(ga_simulator *sim);
/* Where collocation has failed with steps of all sizes: order 2 goes on from the state before, if it can. Returns
 * `failed`, with its error, if not. */
ga_status ga__sim_fall_back(ga_simulator *sim, ga_status failed, int *changed);

/* -- Limits of step sizes (simulate_size.c) -- */
double ga__sim_run_length(const ga_simulator *sim);
double ga__sim_largest_step(const ga_simulator *sim);
/* Latest end of the next step. */
double ga__sim_stop_time(const ga_simulator *sim);
double ga__sim_least_step(const ga_simulator *sim);
/* Time differences below this count as zero. */
double ga__sim_time_resolution(const ga_simulator *sim);
/* From the jerk j and rates of the start: κh³|j| is half of the tolerance; from the accelerations without a
 * jerk. */
double ga__sim_choose_first_step(ga_simulator *sim);
/* Finds the next break, as far as steps may reach. */
ga_status ga__sim_find_next_break(ga_simulator *sim, double t);
/* Breaks closer than this count as one: some roundings, also of times counted from the start. */
double ga__sim_break_width(const ga_simulator *sim, double t);
/* 1: the end of the run is within the next break, or at its end. */
int ga__sim_ends_in_break(const ga_simulator *sim);
/* 1: t is the end, or as close to it as a break there allows. */
int ga__sim_is_end(const ga_simulator *sim, double t);
void ga__sim_warn_aliasing(ga_simulator *sim, double t);
/* Size of the first step given by the options; 0: to be chosen. */
double ga__sim_given_first_step(const ga_simulator *sim);
/* Limits h to the end or the next break, without leaving a tiny step before it. */
double ga__sim_fit_size(const ga_simulator *sim, double h);
/* After a step of size h with this many factorisations: the next one is not longer if these were many. */
void ga__sim_limit_after_labour(ga_simulator *sim, double h, long matrices);
/* Records a failure. A callback that cannot be evaluated does not limit the size. count: earlier failures
 * of this step. */
void ga__sim_note_failure(ga_simulator *sim, ga_status status, double h, int count);
/* After a step of size h: keeps the next one below a size that failed. */
void ga__sim_limit_after_failure(ga_simulator *sim, double h);

/* -- Starts of the simulator, and restarts behind jumps, events and edges (simulate_start.c) -- */
/* Starts the stepper at (t, q, v, x). The size of the first step is chosen unless given, and smaller if the
 * equations cannot be evaluated at its end. */
ga_status ga__sim_start_stepper(ga_simulator *sim, double t, double h_given, const double *q, const double *v,
                                const double *x, const double *lambda, const double *psi,
                                ga_start_report *report);
void ga__sim_copy_state(ga_simulator *sim, const ga_state *s);
/* Restores the state before a failed restart. */
void ga__sim_restore_backup(ga_simulator *sim);
/* Restarts with q, v, x as on_event left them. g of the current events is set to 0, in spite of rounding. */
ga_status ga__sim_restart(ga_simulator *sim, double t, double h_given);

/* -- Steps until one is accepted (simulate_step.c) -- */
void ga__sim_count_rejection(ga_simulator *sim, ga_status status);
/* A step failed and no smaller one is tried: `what` says why, the last error why it failed. */
ga_status ga__sim_fail_step(ga_simulator *sim, double t, const char *what, double h);
/* Steps until one is accepted; *err: its error. GA__AT_EDGE: none was, as the current state is at an edge. */
ga_status ga__sim_make_accepted_step(ga_simulator *sim, double *err);
/* Takes the last step back and steps to t instead, with outputs on the way but none up to t itself; if t is
 * its beginning up to rounding, stays there. */
ga_status ga__sim_step_onto(ga_simulator *sim, double t, double err);

/* -- Checks within steps (simulate_inside.c) -- */
/* Length of the work space for the search within a step. */
size_t ga__sim_hidden_room(const ga_system *sys);
void ga__sim_reset_questions(ga_simulator *sim); /* resets the calls of `hidden` to those of a start */
/* Times at which the equations are checked between steps. */
void ga__sim_set_grid(ga_simulator *sim);
/* sim->view: the state at t within the last step. */
ga_status ga__sim_interpolate(ga_simulator *sim, double t);
/* 1: errors of accelerations, multipliers and outputs are tested, relative to these sizes. (simulate_error.c)
 */
int ga__sim_tests_forces(const ga_simulator *sim);
void ga__sim_force_sizes(const ga_simulator *sim, double size[GA_N_BLOCKS]);
/* The same where accelerations, forces and outputs need not be as accurate as q and v, for less work. */
ga_status ga__sim_interpolate_plainly(ga_simulator *sim, double t);
/* Checks the last step within: *again: size to try instead, so that it ends where something acts; 0:
 * accepted. beside_singular 1: it ends close to a singular position, where the equations are off by rounding,
 * so that only what acts is searched for. */
ga_status ga__sim_inspect_step(ga_simulator *sim, int beside_singular, double *again);
/* After a step that the error test rejects, before it is undone: finds velocities that count from then on. */
ga_status ga__sim_inspect_rejected(ga_simulator *sim);
/* Equal steps are not changed; what they miss is reported. But switches are never passed over: *again: size
 * of a step that ends in the other mode; 0: none was passed. */
ga_status ga__sim_report_unseen(ga_simulator *sim, double *again);

/* -- Edges at which the equations jump with the motion (simulate_edges.c) -- */
/* After an attempt of size h, successful or not: searches for an edge within it. *again: size of a step
 * that may end before it; 0: none. GA__AT_EDGE: the current state is already at it. */
ga_status ga__sim_aim_at_edge(ga_simulator *sim, ga_status stepped, double h, ga__aim *aim, double *again);
/* A step of size h was made to end before an edge. Returns the size of another that ends closer; 0: it is
 * close enough, or the edge is gone. */
double ga__sim_stand_at_edge(ga_simulator *sim, double h, ga__aim *aim);
/* The same for equal steps: the rest of the step is made behind the edge. */
ga_status ga__sim_cut_step_at_edge(ga_simulator *sim);
/* The current state is just before an edge: moves to just behind it, as by a step; or restarts there.
 * *moved, *restarted: what was done. */
ga_status ga__sim_pass_edge(ga_simulator *sim, int *moved, int *restarted);

/* -- Events (simulate_events.c) -- */
ga_status ga__sim_evaluate_events(ga_simulator *sim, const ga_state *s, double *g);
/* Handles the events of the last step in order. *gone: the step was replaced by one that ends at a stop or
 * restart. */
ga_status ga__sim_handle_events(ga_simulator *sim, double err, int *gone);
/* The same in two parts: up to a stop or restart, on which the last step ends then (*event −1: there is
 * none), and what happens there. */
ga_status ga__sim_reach_event(ga_simulator *sim, double err, int *event);
ga_status ga__sim_act_on_event(ga_simulator *sim, int event);
/* Behind a restart that no event has made, at a sample, jump or switch: events whose g has passed zero in it
 * are met at the beginning of the next step. sim->g_new: g before it. */
void ga__sim_keep_sides_in_jump(ga_simulator *sim);

/* g of all events at t within the last step, into sim->g_at. */
ga_status ga__sim_evaluate_events_at(ga_simulator *sim, double t);
const char *ga__sim_event_name(const ga_simulator *sim, int event, char number[16]);

/* -- Events narrower than a quarter of a step (event_search.c) -- */
/* u := what g was computed from in the last evaluation. */
void ga__sim_keep_event_inputs(ga_simulator *sim, double *u);
/* 1: the value of g in the last evaluation, at t, is 0 up to rounding of what it depends on. */
int ga__sim_event_is_rounding(ga_simulator *sim, int event, double t);
/* sim->hides, from sim->u_inside */
void ga__sim_find_hiding_events(ga_simulator *sim);
/* g has the sign of from_below at both ends of [begin, last], within the last step. Searches for a time *t
 * with the other sign or 0. *found: there is one, with g *value. */
ga_status ga__sim_search_event(ga_simulator *sim, int event, double begin, double last, double from_below,
                               int *found, double *t, double *value);

/* -- Outputs at given times (simulate_output.c) -- */
ga_status ga__sim_hand_out_state(ga_simulator *sim, const ga_state *s);
/* Time of the next output, or infinity; *due: why, for ga__sim_count_output(). A time given in several ways
 * counts once. */
double ga__sim_next_output(ga_simulator *sim, unsigned *due);
void ga__sim_count_output(ga_simulator *sim, unsigned due, double t);
/* Outputs due up to t, within the last step or, up to rounding, at its end. */
ga_status ga__sim_outputs_until(ga_simulator *sim, double t);
/* After outputs up to t: finds the next ones, and whether t is the end. */
void ga__sim_find_next_outputs(ga_simulator *sim, double t);

#endif
