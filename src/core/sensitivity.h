/* Derivatives of the numerical solution by parameters and initial values (sensitivity.c). */
#ifndef GALPHA_CORE_SENSITIVITY_H
#define GALPHA_CORE_SENSITIVITY_H

#include "core/rounding.h"
#include "core/stepper.h"

enum { GA__N_AT = GA_PARAMETER_VALUES };
enum { GA__MOST_MET = 16 }; /* events at one state */

struct ga__colloc_linear; /* sensitivity_collocation.h */

/* Derivative of a stepper's state; q in the algebra. */
typedef struct ga__tangent {
  double *block;
  double *q, *v, *vdot, *a, *lambda, *psi, *eta, *x, *xdot, *w, *y;
  double *a_prev, *w_prev; /* of those before, as the last step has used them */
  /* of those before, and at the step before that, as in ga__state */
  double *vdot_prev, *lambda_prev, *psi_prev, *y_prev, *vdot_prev2, *lambda_prev2, *psi_prev2, *y_prev2;
} ga__tangent;

/* The equations at one value of a parameter. */
typedef struct ga__variant {
  const ga_system *sys; /* opened for this object; NULL: the equations do not depend on the parameter */
  ga__deriv deriv;
} ga__variant;

typedef struct ga__parameter {
  ga_parameter given; /* as given; its pointers are used by starts alone */
  char name[64];
  ga__variant at[GA__N_AT];
  ga__variant
      part[GA__N_AT + 1];  /* the terms that depend on it (ga_parameter.part), at the last at its own value */
  int moves_b;             /* 1: B depends on it, or may */
  ga__tangent now, before; /* at the end of the last step, and at its beginning */
  ga__tangent inside;      /* at a time within it */
  ga__tangent fixed;       /* as now, but at a fixed time, where dt is not 0 */
  double dt, dt_begin;     /* derivatives of the time of the state, and of that before, */
  double dh, dh_old, dh_old2, dh_start; /* and of the sizes of the last steps, and that of the start */
  double dt_grid;                       /* and of the times at which equal steps end */
  double from[GA__N_AT], to[GA__N_AT];  /* [s] by how much later both times are at other values, */
  double longer[GA__N_AT];              /* and by how much longer the first step behind a restart */
  double doubt;  /* [-] estimated error of differences, relative to the largest derivative of their kind */
  int linear;    /* steps in a row in which the equations were linear in it */
  int plain;     /* 1: in the last step they were of degree 2 at the most */
  ga_state view; /* of now, at a fixed time */
  ga_state view_moving;
  ga_state view_inside;
} ga__parameter;

/* The linear equations of a step, common to all parameters. */
typedef struct ga__linear_step {
  double h, c2, gamma, theta;
  double *Dv, *Dm;        /* [n_entries] derivatives with the shift of v alone, and with that of vdot */
  double *D, *Q, *G;      /* [n_entries] those of the iteration matrix */
  double *G0;             /* [n_entries] G at the beginning of the step for v = 0 */
  double *B_n;            /* [n_b] B there */
  double *T, *TA, *ad;    /* packed blocks */
  double *exponent, *v_n; /* [nv] */
} ga__linear_step;

/* Of redundant constraints (sensitivity_redundant.c); allocated at the first redundant state. */
typedef struct ga__least {
  ga_point p; /* where the equations are those of */
  ga__saddle saddle;
  int *row_start, *of_row;                  /* entries of B by rows */
  int *block_at, *block_size, *block_place; /* [nv] the group's block of a coordinate; size 0: none */
  double *B, *dB;                           /* [n_b] at the end of the step, and a derivative */
  double *G0;                               /* [n_entries] G there for v = 0 */
  double *y;                                /* [n] R² λ = J y */
  double *turned;                           /* [nv] [δq, y] */
  double *aim;                              /* [n_lambda] R⁻¹ δJ y − 2 δR λ */
  int turns;                                /* 1: step.ad is ad(δq), and not zero */
} ga__least;

struct ga_sensitivity {
  ga_context *ctx, *quiet; /* quiet: without messages, for starts at other values */
  ga_stepper *st;
  int n;
  ga__parameter *parameter; /* [n] */
  ga__assembly assembly;
  ga_lu *lu;
  ga__linear_step step;
  ga__least least;
  struct ga__colloc_linear *colloc; /* of steps by collocation; NULL: there are none */
  ga_event_rule rule;               /* .g NULL: events are not differentiated */
  int met[GA__MOST_MET], n_met;     /* events at the present state, whose changes have not been made yet */
  int event;                        /* the one that is evaluated */
  int place;                        /* of the present state: ga_sensitivity_place() */
  int on_break, behind_break;  /* 1: the last step has ended on a break of a function of time; an event has
                                  happened behind one */
  int n_last_events;           /* events of a run that has ended with the last step; 0: it has not */
  const ga_event *last_events; /* borrowed from the simulator until the next step */
  unsigned long number;        /* of the stepper's state that the derivatives belong to */
  ga_status failed;            /* why an event cannot be differentiated, and the message */
  ga_error why;
  ga_sensitivity *next;  /* of the stepper's watchers */
  ga__variant own;       /* the run's own equations at another time */
  double piece;          /* [s] the last break before the state, or the start */
  double clear;          /* [s] before this time there is none */
  ga__tangent rate, mid; /* rates of the state, and a state within the step */
  int replays;           /* 1: for an adjoint, whose stepper does not know the relations of a step */
  double
      *by_p; /* [n + n_lambda] ∂r/∂p and ∂(B v + Φ_t)/∂p of the last parameter, with redundant constraints */
  int differs; /* 1: the equations are differenced by a parameter */
  int started;
  double t;     /* [s] and */
  double *last; /* [n_last] the beginning of the stepper's state that the derivatives belong to, */
  size_t n_last;
  size_t n_tangent; /* numbers of a tangent */
  double *saved;    /* beginnings of both states of the stepper, while those in it are moved */
  double *at_q, *at_v, *at_x, *mid_q; /* other states */
  double *work;
  double *dq, *dv, *dvdot, *dx, *dxdot; /* derivatives at the end of the step without those of the unknowns */
  double *force;                        /* [nv] D_q(Bᵀη) δq + ∂(Bᵀη)/∂p */
  double *g;                            /* [n + n_eta] derivatives of the residuals, */
  double *rhs;                          /* [n + n_eta] the same scaled, then the unknowns */
  double *value, *room;                 /* [n + n_lambda] of the equations at one value, [n] */
  double *kept;                         /* [n + n_lambda] */
  const double *middle;                 /* [n + n_lambda] that values at other values are compared with */
  double *spare, *other;                /* [n_entries] */
  double *moves;                        /* [GA__N_AT][nv] from the start's q to those at other values */
  ga__moved_point moved;
  double *base;  /* [n + n_lambda] values of the system itself at a point, */
  double *noise; /* [n + n_lambda] their rounding, terms that cancel included */
  long n_base;   /* evaluations of them since the start */
  double *inner, *outer, *inner_even, *outer_even; /* [n + n_lambda] of those at ±δ, ±2δ: differences, sums */
  double *one, *two;                               /* [nv] */
  ga_point begin, end;                             /* of the last step, for a pullback */
};

/* -- The step: ga__slopes of its family (sensitivity_step.c, sensitivity_collocation.c) -- */
/* Those of the methods of a stepper, one or, with members, two: their number. */
int ga__slopes_of(const ga_stepper *st, const ga__slopes *list[2]);
/* Numbers of B v + Φ_t among the equations that are differentiated. */
static inline int ga__n_rates(const ga_stepper *st)
{
  return st->method->keeps_rates ? st->sys->size[GA_BLOCK_LAMBDA] : 0;
}
/* The derivatives become those at the beginning of the step, and the history of those at its end. */
void ga__tangent_keep(const ga_sensitivity *se, ga__parameter *par);
/* For each coordinate [nv] the group's block that it belongs to: where that begins, its size, and its place
 * in packed blocks. Coordinates in none are left as they are. */
void ga__block_tables(const ga_group *g, int *at, int *size, int *place);
/* out = Tx, or Tᵀx, by packed blocks; what has no block is multiplied by `rest`. */
void ga__mul_blocks(const ga_group *g, double *out, const double *T, const double *x, double rest,
                    int turned);
/* Derivative of move(q, E) into out[nv], from those of q and, in d[nv], of E; T: that of E. d is changed. */
void ga__move_tangent(const ga_group *g, const double *T, const double *exponent, const double *dq, double *d,
                      double *out);
/* to[nv] += derivatives of bar · T⁻¹(d) v by d, by fourth-order differences; moved, rate: [nv] room */
void ga__exponent_rate_turned(const ga_group *g, const double *d, const double *v, const double *bar, double *to,
                              double *moved, double *rate);
/* out[nv] += factor ad(a)ᵀ x */
void ga__add_ad_turned(ga_sensitivity *se, double *out, double factor, const double *a, const double *x);

/* -- Redundant constraints (sensitivity_redundant.c) -- */
/* The matrix of steps, of the kind that may leave out constraints or the other. */
ga_status ga__sensitivity_matrix(ga_sensitivity *se, int leaves_out);
/* Finds the relations of the last step, where the stepper does not have them. */
ga_status ga__sensitivity_relations(ga_sensitivity *se);
/* At a point, for all parameters, after the derivatives of the equations there, se->step.D, Q and G; the point's arrays
 * stay in use. */
ga_status ga__least_make(ga_sensitivity *se, const ga_point *at);
/* Makes the derivatives d of multipliers there, by parameter j, those of least multipliers. */
ga_status ga__least_forward(ga_sensitivity *se, int j, const double *later, ga__tangent *d);
/* Whether the constraints that were left out are satisfied at other values of it. */
ga_status ga__least_check(ga_sensitivity *se, int j);
/* Refuses what is not transposed: derivatives by multipliers along relations. */
ga_status ga__least_reverse(ga_sensitivity *se, const ga__tangent *bar);
void ga__least_destroy(ga_sensitivity *se);

/* -- Times that depend on parameters (sensitivity_times.c) -- */
void ga__times_begin(ga_sensitivity *se);
/* Of the last step, whose end may be a break; and of the restart behind one. */
ga_status ga__times_of_step(ga_sensitivity *se);
ga_status ga__times_of_restart(ga_sensitivity *se);
/* Of an adjoint: refuses where the break at the end of the last step, or behind which the stepper has been
 * restarted, moves with a parameter. */
ga_status ga__times_stay(ga_sensitivity *se, const ga_stepper *st, int restarted);
int ga__times_move(const ga_sensitivity *se); /* 1: the time of the state depends on a parameter */
/* What a size that depends on the parameter adds: to a and w at the beginning of the step, to se->dv and dx,
 * and to the derivative of the exponent. */
void ga__times_shift(ga_sensitivity *se, const ga__parameter *par, ga__tangent *d);
void ga__times_rates(ga_sensitivity *se, const ga__parameter *par);
void ga__times_exponent(ga_sensitivity *se, const ga__parameter *par, double *exponent);
/* Slopes of vdot, λ, ψ and y at the end of the last step, where dense output has polynomials of a degree. */
enum { GA__MOST_DEGREE = 2 * GA__MOST_STAGES - 1 };
ga_status ga__times_slope(ga_sensitivity *se, int degree, ga__tangent *rate);
/* par->fixed of all parameters. */
ga_status ga__times_fix(ga_sensitivity *se);

/* -- Within a step (sensitivity_inside.c) -- */
ga_status ga__exact_inside(ga_sensitivity *se, int j, double t);
/* par->inside, at a fixed part of the step with its times held, becomes that at a fixed time; with_z 0: of q,
 * v and x alone. */
ga_status ga__times_inside(ga_sensitivity *se, int j, double t, int with_z);
ga_status ga__times_at_begin(ga_sensitivity *se, int j); /* par->inside at the beginning of the step */

/* -- Events (sensitivity_events.c) -- */
/* se->at_q, at_v, at_x := what the events at the present state make of it at value k of parameter j; s: with
 * room for the state. */
ga_status ga__event_jump(ga_sensitivity *se, int j, int k, ga_state *s);
void ga__sensitivity_unwatch(ga_sensitivity *se);
ga_status ga__events_at_end(ga_sensitivity *se); /* of the run, behind its last step */
/* The last step by all parameters; and what is shown of its end. */
ga_status ga__sensitivity_one_step(ga_sensitivity *se);
ga_status ga__sensitivity_restart(ga_sensitivity *se); /* the restart that the stepper has made */
ga_status ga__sensitivity_show(ga_sensitivity *se);
int ga__sensitivity_is_at(const ga_sensitivity *se, const ga__state *s); /* whether it is the state shown */
void ga__times_of_event(ga_sensitivity *se); /* behind a restart by an event */

/* -- Equations by parameters (sensitivity_equations.c) -- */
/* ∂r/∂p into g[n], of B v + Φ_t into g + n if the method has η, at p; added: what is there is kept. later[k]:
 * by how much later they are evaluated at other values; NULL: at the same time. */
ga_status ga__parameter_residual(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                 double *g);
/* force[nv] += ∂(Bᵀη)/∂p at p. */
ga_status ga__parameter_reaction(ga_sensitivity *se, int j, const ga_point *p, const double *later,
                                 const double *eta, double *force);
/* dB[n_b] += ∂B/∂p at p, by the systems at other values. */
ga_status ga__parameter_b(ga_sensitivity *se, int j, const ga_point *p, const double *later, double *dB);
/* Whether B is the same for all values at p, to the last bit. */
ga_status ga__parameter_moves_b(ga_sensitivity *se, int j, const ga_point *p, int *moves);
/* Before a run, or a pass over its steps: forgets which parameters the equations are linear in. */
void ga__parameters_forget(ga_sensitivity *se);
/* The equations at value k of parameter j, and *at := p at that value; the run's own if they do not depend on
 * the parameter. */
ga__variant *ga__variant_at(ga_sensitivity *se, int j, int k, const ga_point *p, const double *later,
                            ga_point *at);
/* Whether the following is needed. */
static inline int ga__needs_base(const ga_sensitivity *se)
{
  return se->differs || ga__times_move(se);
}
/* Values of the system itself at p, which the following ones are compared with. */
ga_status ga__parameter_base(ga_sensitivity *se, const ga_point *p);
/* out[n] := derivative from values at −2δ, −δ, δ, 2δ; middle: at 0, NULL: they are zero. Returns 0: they are
 * not on a smooth curve. */
int ga__four_point(double *out, const double *const value[GA__N_AT], const double *middle, int n, double step,
                   double *doubt);

/* -- The start (sensitivity_start.c) -- */
/* Derivatives of the stepper's last start. again 1: it was a restart, from values whose derivatives are those
 * at the end of the last step. */
ga_status ga__sensitivity_start(ga_sensitivity *se, int again);
/* The transpose of a restart at given times: bar becomes derivatives by the state before. */
ga_status ga__sensitivity_restart_turned(ga_sensitivity *se, ga__tangent *bar, double *gradient);

/* Whether two systems have the same equations but for their numbers. */
int ga__same_sizes(const ga_system *a, const ga_system *b);
/* -- Seeds within a step (sensitivity_seed.c) -- */
typedef struct ga__inner_seed {
  ga__tangent before; /* derivatives by the state at the beginning of the step, */
  int used;           /* 1: there are some */
  ga__tangent bar;    /* those by a state within it */
  double *q, *v, *vdot, *lambda, *psi, *x, *y, *block; /* that state */
  double *c, *d, *w, *rate, *out;                      /* [nv] */
} ga__inner_seed;
ga_status ga__inner_seed_create(ga_sensitivity *se, ga__inner_seed *in);
void ga__inner_seed_destroy(ga_context *ctx, ga__inner_seed *in);
/* The state at t within the last step of se's stepper into in->q ..., for *s; in->bar is cleared. */
ga_status ga__inner_seed_at(ga_sensitivity *se, ga__inner_seed *in, double t, ga_state *s);
/* These numbers by dense output of order 2. */
ga_status ga__inner_seed_look(ga_sensitivity *se, ga__inner_seed *in, double t, ga_state *s);
/* Adds to `end` and in->before, the derivatives by the states at the ends of the step, what those by the
 * state at t are. */
ga_status ga__inner_seed_turn(ga_sensitivity *se, ga__inner_seed *in, double t, ga__tangent *end);

ga_status ga__tangent_create(ga_sensitivity *se, ga__tangent *d);
/* Whether the stepper's last step is of a kind that is differentiated. */
ga_status ga__sensitivity_check_step(ga_sensitivity *se, const ga_stepper *st);
ga_status ga__refuse_parameter(ga_sensitivity *se, int j, const char *what, const char *remedy);
ga_status ga__refuse_sensitivity(ga_sensitivity *se, const char *what, const char *remedy);

#endif
