/* The simulator, and what its files share. */
#ifndef GALPHA_CORE_SIMULATE_H
#define GALPHA_CORE_SIMULATE_H

#include "core/inside.h"
#include "core/sides.h"
#include "core/weights.h"

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
  double *block;            /* of all arrays of numbers below */
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

/* A step that the error test refused in this place, and how often its error has grown with a shorter one. */
typedef struct ga__refused {
  double err, h; /* 0: none */
  int grown;
} ga__refused;

enum { GA__FIRST_STEPS = 4 };         /* after a start, whose accelerations are tested too */
#define GA__KAPPA_LEAST 0.01          /* κ of the error of positions is taken to be at least this */
enum { GA__WARY_FIRST = 8 };          /* steps for which smaller ones are taken after one has failed */
#define GA__AT_EDGE ((ga_status)1000) /* no step was made: the present state stands at an edge */

/* -- The simulator (simulate.c) -- */
void ga__sim_count_step(ga_simulator *sim, double h, double err);

/* -- Error control (simulate_error.c) -- */
/* Judges the step just made: *again is the size to try instead, 0 when it is accepted. */
ga_status ga__sim_judge_error(ga_simulator *sim, double h, double *err, ga__refused *before, double *again);
/* A force that acts for a moment is to be seen whole: what it does to velocities counts until the end of the
 * step that it was found in. */
void ga__sim_test_velocity(ga_simulator *sim, int i);
/* Where it jumps no step may be short enough for the tolerance of velocities: then positions alone count. */
int ga__sim_drop_velocity_test(ga_simulator *sim);

/* -- Limits of step sizes (simulate_size.c) -- */
double ga__sim_run_length(const ga_simulator *sim);
double ga__sim_largest_step(const ga_simulator *sim);
/* Where a step has to end at the latest. */
double ga__sim_stop_time(const ga_simulator *sim);
double ga__sim_least_step(const ga_simulator *sim);
/* Differences of time that count as none. */
double ga__sim_time_resolution(const ga_simulator *sim);
/* From the jerk j and rates of the start: κh³|j| half of the tolerance; from the accelerations where there is
 * no jerk. */
double ga__sim_choose_first_step(ga_simulator *sim);
/* Finds the break that comes next, as far as steps may reach. */
ga_status ga__sim_find_next_break(ga_simulator *sim, double t);
/* Breaks that are no farther apart count as one: some roundings, also of times counted from the start. */
double ga__sim_break_width(const ga_simulator *sim, double t);
/* 1: the end of the run is within the next break, or at its far side. */
int ga__sim_ends_in_break(const ga_simulator *sim);
/* 1: t is the end, or as near to it as a break at the end lets one go. */
int ga__sim_is_end(const ga_simulator *sim, double t);
void ga__sim_warn_aliasing(ga_simulator *sim, double t);
/* The size of a first step as the options have it; 0: to be chosen. */
double ga__sim_given_first_step(const ga_simulator *sim);
/* Step towards the end, or the next break, without leaving a sliver before it. */
double ga__sim_fit_size(const ga_simulator *sim, double h);
/* After a step of size h that took so many matrices: the next one is not longer if that was much. */
void ga__sim_limit_after_labour(ga_simulator *sim, double h, long matrices);
/* A callback that cannot be evaluated says nothing of the size. count: failures of this step before */
void ga__sim_note_failure(ga_simulator *sim, ga_status status, double h, int count);
/* After a step of size h: the next one, kept from the size that failed. */
void ga__sim_limit_after_failure(ga_simulator *sim, double h);

/* -- Starts of the simulator, and starts again behind jumps, events and edges (simulate_start.c) -- */
/* Starts the stepper at (t, q, v, x); the size of the first step is chosen on the way unless it is given, and
 * smaller where the equations cannot be evaluated at its end. */
ga_status ga__sim_start_stepper(ga_simulator *sim, double t, double h_given, const double *q, const double *v,
                                const double *x, const double *lambda, const double *psi,
                                ga_start_report *report);
void ga__sim_copy_state(ga_simulator *sim, const ga_state *s);
/* The state before a start that is made again. */
void ga__sim_restore_backup(ga_simulator *sim);
/* Start again with q, v, x as on_event left them. For what has happened now g is 0, whatever rounding says.
 */
ga_status ga__sim_restart(ga_simulator *sim, double t, double h_given);

/* -- Steps until one is accepted (simulate_step.c) -- */
void ga__sim_count_rejection(ga_simulator *sim, ga_status status);
/* A step failed, and no smaller one is to be tried: `what` says why not, the last error why it failed. */
ga_status ga__sim_fail_step(ga_simulator *sim, double t, const char *what, double h);
/* Steps until one is accepted; its error in *err. GA__AT_EDGE: none was, as the present state stands at an
 * edge.
 */
ga_status ga__sim_make_accepted_step(ga_simulator *sim, double *err);
/* Take the last step back and step onto t instead; where t is as good as its beginning, stay there. */
ga_status ga__sim_step_onto(ga_simulator *sim, double t, double err);

/* -- What happens within a step that its ends do not see (simulate_inside.c) -- */
/* Room for the states within a step that a search for what hides there needs. */
size_t ga__sim_hidden_room(const ga_system *sys);
void ga__sim_reset_questions(ga_simulator *sim); /* as at a start */
/* Times at which the equations are checked between steps. */
void ga__sim_set_grid(ga_simulator *sim);
/* sim->view: the state at t within the last step. */
ga_status ga__sim_interpolate(ga_simulator *sim, double t);
/* Is the step just made to be taken back? *again is the size to try instead: so that it ends where something
 * acts. */
ga_status ga__sim_inspect_step(ga_simulator *sim, double *again);
/* Equal steps stay as they are, whatever they miss; but that is reported. */
ga_status ga__sim_report_unseen(ga_simulator *sim);

/* -- Edges at which the equations jump with the motion (simulate_edges.c) -- */
/* After a try of size h, which was a step, or failed: is there an edge within it? *again is the size of a
 * step that may end in front of it; 0: there is none. GA__AT_EDGE: the present state stands in front of it
 * already. */
ga_status ga__sim_aim_at_edge(ga_simulator *sim, ga_status stepped, double h, ga__aim *aim, double *again);
/* A step of size h has ended in front of an edge that it was made to end at. The size of another that ends
 * nearer to it; 0: it is near enough, or is not there any more. */
double ga__sim_stand_at_edge(ga_simulator *sim, double h, ga__aim *aim);
/* The same for equal steps: what is left of one is made behind the edge. */
ga_status ga__sim_cut_step_at_edge(ga_simulator *sim);
/* The present state stands in front of an edge: it moves to just behind it, as by a step; or there, and
 * starts again. *moved, *restarted: it did. */
ga_status ga__sim_pass_edge(ga_simulator *sim, int *moved, int *restarted);

/* -- Events (simulate_events.c) -- */
ga_status ga__sim_evaluate_events(ga_simulator *sim, const ga_state *s, double *g);
/* Events of the last step in their order. *gone: the step has been replaced by one onto a stop or restart. */
ga_status ga__sim_handle_events(ga_simulator *sim, double err, int *gone);

/* -- Outputs at given times (simulate_output.c) -- */
ga_status ga__sim_hand_out_state(ga_simulator *sim, const ga_state *s);
/* Time of the next output, or infinity. */
double ga__sim_next_output(const ga_simulator *sim, int *which);
/* Times asked for in both ways count once. */
void ga__sim_count_output(ga_simulator *sim, int which, double t);
/* Outputs due up to t, within the last step or, but for rounding, at its end. */
ga_status ga__sim_outputs_until(ga_simulator *sim, double t);
/* Outputs up to t have been given; which come next, and is t the end? */
void ga__sim_find_next_outputs(ga_simulator *sim, double t);

#endif
