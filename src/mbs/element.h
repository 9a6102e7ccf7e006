/* Elements: what a machine is made of.
 *
 * Every kind of part has a table of functions, ga__element_type. Building and evaluation go over the parts
 * and over one list of elements; they know no kind by name. A function that a kind does not need is NULL.
 * docs/develop/elements.md shows how a kind is added.
 *
 * An element computes with twists, accelerations and wrenches of nodes in ground axes (mbs_impl.h). It may
 * have any number of nodes, nodes of its own with any number of coordinates (ga__node_add_vector()), rows of
 * Φ and k (ga__label_lambda(), ga__label_psi()), states x and outputs y of its own (ga__element_add()). */
#ifndef GALPHA_MBS_ELEMENT_H
#define GALPHA_MBS_ELEMENT_H

#include "mbs/carried.h"

/* When something of a part is created: each stage for all parts, in the order in which they were added. */
typedef enum ga__create_stage {
  GA__CREATE_BODIES = 0,  /* nodes and the frames of bodies */
  GA__CREATE_MARKERS,     /* frames on these */
  GA__CREATE_JOINTS,      /* joints between frames, coordinates; bodies are where they are given */
  GA__CREATE_COUPLINGS,   /* what holds coordinates; from here on bodies are where they start */
  GA__CREATE_OUTPUTS,     /* numbers of states and outputs, so that expressions can use them */
  GA__CREATE_CONSTRAINTS, /* other constraints, so that expressions can use their forces */
  GA__CREATE_FORCES,      /* what uses expressions of signals */
  GA__CREATE_INPUTS,      /* inputs of what has outputs */
  GA__CREATE_GUESSES,     /* of outputs that are in use by then */
  GA__N_CREATE
} ga__create_stage;

/* The order of elements in sums, so that equal machines give equal bits. */
typedef enum ga__rank {
  GA__RANK_BODIES = 0,
  GA__RANK_ROWS,
  GA__RANK_JOINT,
  GA__RANK_LAW,
  GA__RANK_WRENCH,
  GA__RANK_ROLLING,
  GA__RANK_OUTPUTS,
  GA__RANK_BLOCK,
  GA__RANK_DRIVE,
  GA__RANK_OTHER
} ga__rank;

struct ga__element {
  const ga__element_type *type;
  int part;      /* that it belongs to; 0, the ground: of the machine as a whole */
  int x, n_x;    /* its states */
  int y, n_y;    /* its outputs */
  void *data;    /* [type->size], zeroed at first; owned */
  int on_frames; /* 1: it writes for frames that are carried; set once it is bound */
};

/* Energies and powers, to be added to. */
typedef struct ga__powers {
  double kinetic, potential; /* [J] */
  double lost, in;           /* [W] lost for ever; put in from outside of the mechanics */
} ga__powers;

/* How much an element has to do with a meter: what it adds in every step of a run. */
typedef struct ga__work_term {
  int element;           /* its number */
  int needs_kin;         /* 1: its powers need more than q, v, λ and y */
  int simple;            /* 1: damping ρ'² is lost and (force + y) ρ' put in, and nothing else: */
  int minus, plus;       /* ρ' = v[plus] − v[minus]; −1: the ground, 0 */
  int y;                 /* −1: none */
  double damping, force; /* one of them 0 */
} ga__work_term;

/* A constraint that only acts one way: sign · λ is its force, positive where it can act. */
typedef struct ga__unilateral {
  int lambda;
  double sign;
  const char *does, *would; /* in words: what it does that it cannot, and what would happen instead */
} ga__unilateral;

typedef struct ga__unilateral_record { /* along a run */
  int part;
  ga__unilateral way;
  double most;                  /* the largest |force| so far */
  double since, worst, worst_t; /* worst 0: it has always acted as it can */
} ga__unilateral_record;

/* A function of time, an expression or a block, in which breaks are searched. */
typedef struct ga__break_site {
  const ga_function *function; /* or */
  const ga_expr *expr;         /* with t as its variable 0, or */
  const ga_control_block *block;
  int drive; /* part of a drive whose position it is; −1: an input */
  const struct ga__time_signal
      *time_signal; /* of the variables of expr, or of the block's inputs; NULL: only of time */
} ga__break_site;
typedef int (*ga__visit_fn)(void *user, const ga__break_site *s); /* returns non-zero to end */

/* A shape that a part is drawn with. */
typedef struct ga__shape_def {
  ga_shape_kind kind;
  int a, b;    /* markers, of GA_SHAPE_BEAM nodes; b −1: it has one end */
  double size; /* [m] radius; 0: of no size of its own */
} ga__shape_def;

/* A motion that a part prescribes to a coordinate. */
typedef struct ga__prescribed {
  const ga_function *function; /* of time */
  const char *coordinate;
  int accept_impact; /* 1: its rate may jump */
} ga__prescribed;

/* A signal that a part has: "part.name". */
typedef struct ga__signal_def {
  const char *name, *suffix; /* "angle", "_rate"; "": the part itself */
  int number;                /* behind the name; 0: none */
  const char *unit;
  int coordinate; /* of a joint, −1: none */
  ga__probe probe;
} ga__signal_def;

struct ga__element_type {
  ga__rank rank;
  size_t size; /* of its data */
  /* 1: nothing of it depends on velocities, on accelerations. An element on carried frames that may depend on
   * them is evaluated once more for each (condense.c). */
  int no_twists, no_accelerations;

  /* -- Building -- */
  ga_status (*create[GA__N_CREATE])(ga_machine *m, ga__mbs_model *b, int part);
  /* What it will write in the pattern of derivatives; then, when that is laid out, where. */
  ga_status (*want)(ga__mbs_model *b, ga__element *el);
  ga_status (*bind)(ga__mbs_model *b, ga__element *el);
  void (*release)(ga_context *ctx, ga__element *el); /* what its data owns */
  /* What is as at the start, as the rest of a spring, from poses there. Returns 1 where it has such; kin
   * NULL: this is only asked for. */
  int (*set_from_start)(const ga__mbs_model *b, ga__element *el, const ga__kin *kin);

  /* -- Evaluation: 0; > 0: retry with a smaller step; < 0: give up. All add, but for Φ, k, s, o -- */
  int (*mass)(const ga__eval *e, const ga__element *el, double *out); /* M vdot */
  int (*force)(const ga__eval *e, const ga__element *el, double *f);  /* with −Bᵀλ − Aᵀψ */
  /* Derivative number `order` (0, 1, 2) of Φ by time, and (0, 1) of k; those with accelerations at vdot = 0
   */
  int (*phi)(const ga__eval *e, const ga__element *el, double *phi, int order);
  int (*k)(const ga__eval *e, const ga__element *el, double *k, int order);
  int (*state)(const ga__eval *e, const ga__element *el, double *s);  /* s[el->x ...] */
  int (*output)(const ga__eval *e, const ga__element *el, double *o); /* o[el->y ...] */
  int (*jacobian)(const ga__eval *e, const ga__element *el, ga_jacobian *J);
  /* All of mass, force, phi, k and jacobian in one pass, written straight to the sweep (s, J may be NULL).
   * For kinds that are frequent; NULL: the functions above are called. */
  int (*sweep)(const ga__eval *e, const ga__element *el, const ga_sweep *s, const ga_jacobian *J);
  /* 1: sweep needs poses and twists of nodes (ga__eval.kin) */
  int (*uses_kin)(const ga__mbs_model *b, const ga__element *el);
  void (*initial)(const ga__mbs_model *b, const ga__element *el, double *x); /* x[el->x ...] at the start */
  /* Numbers of work space that one of these functions needs, e->work->scratch: its contents are lost from one
   * call to the next. An element writes nowhere else but to its results; NULL: it needs none. */
  size_t (*scratch)(const ga__element *el);

  /* -- Frames on it, where it deforms (carried.h) -- */
  /* A frame at a pose of its own frame, for a marker: by ga__carried_add(), or on a node that it has. */
  ga_status (*place)(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out);
  void (*carry)(const ga__mbs_model *b, const ga__element *el, int number, const ga__carrier *carrier,
                ga__carried_motion *out);

  /* -- Energy -- */
  int (*powers)(const ga__eval *e, const ga__element *el, ga__powers *out);
  /* What of it a meter has to count, work->element being set; 0: nothing, ever. NULL: all that powers says.
   */
  int (*work_term)(const ga__mbs_model *b, const ga__element *el, ga__work_term *work);
  int (*unilateral)(const ga__mbs_model *b, const ga__element *el, ga__unilateral *out); /* 1: it is one */

  /* -- The start; of parts as they are given -- */
  int (*has_initial_values)(const ga__part *part, int rate); /* 1: coordinates of its, or rates, are given */
  int (*prescribes)(const ga__part *part, ga__prescribed *out); /* 1: it does */
  /* What may be wrong where its row `lambda` of Φ is not met; kin: as bodies are given. */
  void (*advise)(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);

  /* -- Signals; the element itself need not exist yet -- */
  int is_coordinate; /* 1: it is a coordinate itself, and has no frame */
  int is_signal;     /* 1: its name alone may be a signal */
  int (*n_signals)(const ga__mbs_model *b, int part);
  void (*signal)(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
  /* Completes the probe of a signal that an expression uses while the machine is built. */
  ga_status (*complete_signal)(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal);
  /* Signals that are neither motion nor unknowns, GA__PROBE_ELEMENT: number i. */
  int (*value)(const ga__eval *e, const ga__element *el, int i, double *value);
  /* Signals that each frame on one of its nodes has too. */
  int (*n_node_signals)(const ga__mbs_model *b, int part);
  void (*node_signal)(const ga__mbs_model *b, int part, int node, int i, ga__signal_def *out);
  /* The gauge of angle i whose turns a meter counts, −1: none; *limited: 1 where it must not turn over. */
  int (*counted_angle)(const ga__mbs_model *b, const ga__element *el, int i, int *limited);
  const char *(*unit_of_input)(const ga__mbs_model *b, const ga__element *el,
                               int y); /* of the input that is y */
  const char *(*unit_of_output)(const ga__element *el, int i);

  /* -- How it looks: its shapes, between markers; the element itself need not exist -- */
  int (*n_shapes)(const ga__mbs_model *b, int part);
  void (*shape)(const ga__mbs_model *b, int part, int i, ga__shape_def *out);

  /* -- What may jump, break or hide -- */
  /* Inputs and formulas, by number; 0: there are not so many. One of *in and *f is set. */
  int (*get_input)(const ga__element *el, int i, ga__input **in, ga__formula **f);
  int (*visit)(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit,
               void *user); /* besides these */
  int (*has_edges)(const ga__mbs_model *b, const ga__element *el);
  int (*side)(const ga__eval *e, const ga__element *el, unsigned *side); /* as ga_expr_side() */
  int (*may_hide)(const ga__element *el); /* 1: it may act in a narrow range of the motion only */
  int (*hides)(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece);
  /* What its outputs and inputs are as functions of time alone (time_signal.c). */
  ga_status (*output_over_time)(ga_machine *m, ga__mbs_model *b, ga__element *el, int output);
  ga_status (*keep_time_signals)(ga_machine *m, ga__mbs_model *b, ga__element *el);
};

/* A part whose type comes with it: of a kind that is in no table. */
typedef struct ga__element_def {
  const char *name;
  const ga__element_type *type; /* borrowed, as def */
  const void *def;              /* what its functions read */
} ga__element_def;
ga_status ga__machine_add_element(ga_machine *m, const ga__element_def *def); /* parts.c */
/* def of such a part. */
static inline const void *ga__element_def_of(const ga__mbs_model *b, int part)
{
  return ((const ga__element_def *)b->m->part[part].def)->def;
}

/* The type of a part. */
const ga__element_type *ga__type_of(const ga__part *part);
/* The motion that a part prescribes; 0: none. */
static inline int ga__prescribed_by(const ga__part *part, ga__prescribed *out)
{
  const ga__element_type *type = ga__type_of(part);
  return type && type->prescribes && type->prescribes(part, out);
}
/* All parts, one stage. */
ga_status ga__create(ga_machine *m, ga__mbs_model *b, ga__create_stage stage);
/* A new element of a part, with n_x states and n_y outputs; NULL: out of memory. Valid until the next one. */
ga__element *ga__element_add(ga_machine *m, ga__mbs_model *b, int part, const ga__element_type *type, int n_x,
                             int n_y);
/* Of a part, NULL: it has none, or not yet. */
ga__element *ga__element_of(const ga__mbs_model *b, int part);
/* Once all parts have theirs: those of the machine as a whole, and all in the order of their ranks. */
ga_status ga__elements_close(ga_machine *m, ga__mbs_model *b);
/* Once they are bound: what passes over them need to know. */
void ga__elements_ready(ga__mbs_model *b);
void ga__elements_free(ga_context *ctx, ga__mbs_model *b);
static inline ga__element *ga__element_at(const ga__mbs_model *b, int i)
{
  return &((ga__element *)b->element.at)[i];
}

/* That which has state (GA_BLOCK_X) or output (GA_BLOCK_Y) number i; NULL: none. */
const ga__element *ga__element_with(const ga__mbs_model *b, ga_equation_block block, int i);

/* All elements. Rows that they add forces to: velocities, and far behind them those of carried frames. */
int ga__elements_rows(const ga__mbs_model *b);
void ga__elements_mass(const ga__eval *e, double *out);
void ga__unswept_mass(const ga__eval *e, double *out); /* of those without a sweep alone, added */
int ga__elements_force(const ga__eval *e, double *f);
int ga__elements_phi(const ga__eval *e, double *out, int order);
int ga__elements_k(const ga__eval *e, double *out, int order);
int ga__elements_state(const ga__eval *e, double *s);
int ga__elements_jacobian(const ga__eval *e, ga_jacobian *J);
int ga__elements_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);
int ga__elements_powers(const ga__eval *e, ga__powers *out);

/* Derivatives of forces are wanted; not so where M alone is. */
static inline int ga__wants_forces(const ga_jacobian *J)
{
  return (J->want & (GA_WANT_D | GA_WANT_Q)) && !(J->want & GA_WANT_M);
}

/* The types, each in its file. */
extern const ga__element_type ga__ground_type, ga__rigid_type, ga__planar_type, ga__point_type,
    ga__scalar_type, ga__marker_type;                         /* node.c */
extern const ga__element_type ga__beam_type;                  /* beam.c */
extern const ga__element_type ga__bodies_type;                /* body.c */
extern const ga__element_type ga__rows_type;                  /* constraint.c */
extern const ga__element_type ga__joint_type, ga__drive_type; /* joint.c */
extern const ga__element_type ga__law_element; /* law.c: springs, actuators, friction, bushings, contacts */
extern const ga__element_type ga__wrench_type, ga__rolling_type;
extern const ga__element_type ga__block_type, ga__outputs_type; /* blocks.c */
extern const ga__element_type ga__sensor_type, ga__guess_type;  /* signal.c */

/* Signals of frames: how many a rigid body's has, and each. (node.c) */
int ga__n_rigid_signals(const ga__mbs_model *b, int part);
void ga__frame_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
/* A coordinate and its signals: of joints, drives and scalar bodies. (joint.c) */
ga_status ga__scalar_coordinate(ga_machine *m, ga__mbs_model *b, int part);
int ga__joint_n_signals(const ga__mbs_model *b, int part);
void ga__joint_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
ga_status ga__joint_complete_signal(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal);
/* Advice of joints and drives. (report.c) */
void ga__advise_joint(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);
void ga__advise_drive(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);

#endif
