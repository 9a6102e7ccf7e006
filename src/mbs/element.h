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

/* Stages of creation. Each stage runs over all parts, in the order in which they were added. */
typedef enum ga__create_stage {
  GA__CREATE_BODIES = 0,  /* nodes and the frames of bodies */
  GA__CREATE_MARKERS,     /* frames on bodies */
  GA__CREATE_JOINTS,      /* joints between frames, coordinates; bodies have their given positions */
  GA__CREATE_COUPLINGS,   /* constraints of coordinates; from here on bodies have their initial positions */
  GA__CREATE_OUTPUTS,     /* states and outputs are numbered, so that expressions can use them */
  GA__CREATE_CONSTRAINTS, /* other constraints, so that expressions can use their forces */
  GA__CREATE_FORCES,      /* forces, which use expressions of signals */
  GA__CREATE_INPUTS,      /* inputs of elements with outputs */
  GA__CREATE_GUESSES,     /* guesses of outputs that are in use */
  GA__N_CREATE
} ga__create_stage;

/* Order of evaluation, so that equal machines give bitwise equal sums. */
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
  int part;           /* owner; 0, the ground: an element of the whole machine */
  int x, n_x;         /* its states */
  int y, n_y;         /* its outputs */
  int inner, n_inner; /* its inner unknowns (ga_system_def) */
  void *data;         /* [type->size] owned, initially zero */
  int gate, gate_y;   /* state and output of its variable `active`; −1: it always acts */
  int on_frames;      /* 1: it writes to rows or columns of carried frames; known once it is bound */
};

/* Sums of energies and powers over elements. */
typedef struct ga__powers {
  double kinetic, potential; /* [J] */
  double lost, in;           /* [W] dissipated; put in by drives, actuators and the like */
  /* [J] of the potential energy: what is lost to the end, as where a damped contact is left so fast that it
   * would pull. It may fade within a step that nothing else limits: from here on `lost` is no measure of it.
   */
  double fading;
} ga__powers;

/* What a meter has to integrate for an element in every step of a run. */
typedef struct ga__work_term {
  int element;     /* its number */
  int needs_kin;   /* 1: its powers need more than q, v, λ and y */
  int simple;      /* 1: it only dissipates damping ρ'² or puts in (force + y) ρ', see the members below */
  int minus, plus; /* ρ' = v[plus] − v[minus]; −1: 0, the ground */
  int y;           /* −1: none */
  double damping, force; /* one of them is 0 */
} ga__work_term;

/* A unilateral constraint: its force, sign · λ, should be positive. It is computed as a bilateral one; the
 * meter reports wrong signs. */
typedef struct ga__unilateral {
  int lambda;
  double sign;
  const char *does, *would; /* for messages: what it does wrongly, and what would happen in reality */
  const ga__element *scaled; /* NULL, or: sign · λ has only the sign of the force, which is signal number 0 */
} ga__unilateral;

typedef struct ga__unilateral_record { /* history in a run */
  int part;
  ga__unilateral way;
  double most;                  /* the largest |force| so far */
  double since, worst, worst_t; /* wrong sign: first time, largest force, its time; worst 0: never */
} ga__unilateral_record;

/* A speed of rotation |ω| beyond which a part is not what it is computed as. */
typedef struct ga__spin_limit {
  int v;               /* first of the three velocities ω */
  double limit;        /* [rad/s] */
  const char *neglect; /* in words: what is neglected, and what to do */
} ga__spin_limit;

typedef struct ga__spin_record { /* history in a run */
  int part;
  ga__spin_limit spin;
  double since, worst, worst_t; /* worst 0: always below the limit */
} ga__spin_record;

typedef struct ga__doubt_record ga__doubt_record; /* doubt.h */
typedef struct ga__limit {
  const char *words; /* "rests at a limit"; "": there is none, as where it is infinite */
  int sudden;        /* 1: reached for no time, at the side of a jump that comes before it */
  int needs_kin;     /* 1: it reads poses or velocities of nodes */
  int reached;
} ga__limit;

/* Where breaks are searched: a function of time, an expression or a block. One of the first three is set. */
typedef struct ga__break_site {
  const ga_function *function;
  const ga_expr *expr; /* its variable 0 is t */
  const ga_control_block *block;
  int drive;         /* part of the drive whose motion it is; −1: not of a drive */
  int is_speed;      /* 1: the function is the speed of the drive, not its position */
  int restart_order; /* accelerations or outputs jump where a derivative up to this order does */
  const struct ga__time_signal *time_signal; /* variables of expr, or inputs of the block; NULL: only t */
} ga__break_site;
typedef int (*ga__visit_fn)(void *user, const ga__break_site *s); /* returns non-zero to stop */

/* A shape for drawing a part. */
typedef struct ga__drawing {
  ga_shape_kind kind;
  int a, b;                  /* markers (GA_SHAPE_BEAM, GA_SHAPE_CABLE: nodes); b −1: it has one end */
  double size;               /* [m] radius; 0: unspecified */
  double dimension[3];       /* as in ga_shape */
  double section[4];         /* likewise */
  const ga_pose *pose;       /* in the frame of a; NULL: the same */
  const ga_shape_def *given; /* NULL: not a shape of the model */
  const ga_collider_def *collider; /* GA_SHAPE_MESH of a collider */
} ga__drawing;

/* A part of elements one behind the other. */
typedef struct ga__cuts {
  int first, n;    /* its first node; elements */
  int size;        /* components of twists: 6, or 3 of points */
  double excess;   /* by how much estimates of its errors may be too large */
  const double *s; /* [n + 1] where nodes are along it */
  double damping;  /* [s] Kelvin–Voigt */
  double by_l4;    /* w2 · by_l4 · L⁴: (kL)⁴ of bending; infinite: unknown */
  double by_l2;    /* w2 · by_l2 · L²: the largest (kL)² of other waves */
} ga__cuts;

/* The motion that a part prescribes for a coordinate. */
typedef struct ga__prescribed {
  const ga_function *function; /* of time */
  const char *coordinate;
  int accept_impact; /* 1: its rate may jump */
} ga__prescribed;

/* A signal of a part: "part.name". */
typedef struct ga__signal_def {
  const char *name, *suffix; /* "angle", "_rate"; "": the part itself */
  int number;                /* appended to the name; 0: none */
  const char *unit;
  int coordinate; /* of a joint, −1: none */
  ga__probe probe;
} ga__signal_def;

/* Two models that are compared. (selected.h) */
typedef struct ga__comparison ga__comparison;

struct ga__element_type {
  ga__rank rank;
  size_t size; /* of its data */
  /* 1: it does not depend on velocities; on accelerations. An element on carried frames without these flags
   * is evaluated once more for each (condense.c). */
  int no_twists, no_accelerations;
  int measures_when_off; /* 1: its values are asked for where it is switched off, too */
  int floats;            /* 1: its own frame is no place on it, and can only be measured */

  /* -- Building -- */
  ga_status (*create[GA__N_CREATE])(ga_machine *m, ga__mbs_model *b, int part);
  /* First the element declares what it will write to the pattern of derivatives (want). Then the pattern is
   * laid out, and the element finds its entries (bind). */
  ga_status (*want)(ga__mbs_model *b, ga__element *el);
  ga_status (*bind)(ga__mbs_model *b, ga__element *el);
  void (*release)(ga_context *ctx, ga__element *el); /* frees what its data owns */
  /* Sets constants that are defined by the initial poses, as the rest length of a spring. Returns 1 if it has
   * any; kin NULL: only this is returned. */
  int (*set_from_start)(const ga__mbs_model *b, ga__element *el, const ga__kin *kin);

  /* -- Evaluation. Returns 0; > 0: retry with a smaller step; < 0: fatal. mass, force and jacobian add to
   * their results; phi, k, state and output store them. -- */
  int (*mass)(const ga__eval *e, const ga__element *el, double *out); /* M vdot */
  int (*force)(const ga__eval *e, const ga__element *el, double *f);  /* with −Bᵀλ − Aᵀψ */
  /* Time derivative of order 0, 1, 2 of Φ, and 0, 1 of k; the highest one at vdot = 0. */
  int (*phi)(const ga__eval *e, const ga__element *el, double *phi, int order);
  int (*k)(const ga__eval *e, const ga__element *el, double *k, int order);
  /* k_v times `twists` in place of velocities, where k is not linear in these; NULL: it is */
  int (*k_along)(const ga__eval *e, const ga__element *el, const ga__kin *twists, double *k);
  int (*state)(const ga__eval *e, const ga__element *el, double *s);  /* s[el->x ...] */
  int (*output)(const ga__eval *e, const ga__element *el, double *o); /* o[el->y ...] */
  int (*jacobian)(const ga__eval *e, const ga__element *el, ga_jacobian *J);
  /* mass, force, phi, k and jacobian in one pass, for frequent kinds; s or J may be NULL. NULL: the functions
   * above are called. */
  int (*sweep)(const ga__eval *e, const ga__element *el, const ga_sweep *s, const ga_jacobian *J);
  /* mass and force, and jacobian unless J is NULL, of one pass over an element without a sweep, for frequent
   * kinds: r += M vdot − f, with the same bits with and without J. NULL: the functions above are called. */
  int (*dynamics)(const ga__eval *e, const ga__element *el, double *r, ga_jacobian *J);
  /* 1: sweep reads poses and twists of nodes (ga__eval.kin). */
  int (*uses_kin)(const ga__mbs_model *b, const ga__element *el);
  void (*initial)(const ga__mbs_model *b, const ga__element *el, double *x); /* initial x[el->x ...] */
  /* Inner unknowns n[el->inner ...]: their values at q, and their changes for moves of the nodes that the
   * twists in e->kin are. */
  int (*inner)(const ga__eval *e, const ga__element *el, double *n);
  int (*inner_step)(const ga__eval *e, const ga__element *el, double *dn);
  /* Doubles of work space, e->work->scratch, that these functions need; not kept between calls. Apart from it
   * an element writes to its results only. NULL: none. */
  size_t (*scratch)(const ga__element *el);

  /* 1: with the same values for all states as b, the same element of another model (selected.h); NULL: not
   * known */
  int (*same)(const ga__comparison *c, const ga__element *a, const ga__element *b);

  /* -- Frames on a deformable part (carried.h) -- */
  /* Creates the frame of a marker at a pose in the part's frame: by ga__carried_add(), or on one of its
   * nodes. */
  ga_status (*place)(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out);
  void (*carry)(const ga__mbs_model *b, const ga__element *el, int number, const ga__carrier *carrier,
                ga__carried_motion *out);

  /* -- Energy -- */
  int (*powers)(const ga__eval *e, const ga__element *el, ga__powers *out);
  /* What a meter has to integrate; work->element is set by the caller. Returns 0: nothing. NULL: everything
   * that `powers` computes. */
  int (*work_term)(const ga__mbs_model *b, const ga__element *el, ga__work_term *work);
  int impacts; /* 1: velocities may jump by it; what kinetic energy is lost then, it dissipates */
  int (*unilateral)(const ga__mbs_model *b, const ga__element *el, ga__unilateral *out); /* 1: it is one */
  /* What is doubtful about this state, as a size in the element's own units; 0: nothing. at: where, if that
   * is a place. write_doubt: the line of a report. may_doubt NULL: it may. (doubt.c) */
  double (*doubt)(const ga__eval *e, const ga__element *el, double at[2]);
  int (*may_doubt)(const ga__element *el);
  void (*write_doubt)(ga__writer *w, const ga_machine *m, const ga__doubt_record *r);
  /* Its limit number i, as a saturation or the end of a travel; 0: it has no more. Where e is given, whether
   * it is reached there. (limit.c) */
  int (*limit)(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out);
  int (*spin_limit)(const ga__mbs_model *b, const ga__element *el, ga__spin_limit *out); /* 1: it has one */

  /* -- The start; from the definition of the part -- */
  int (*has_initial_values)(const ga__part *part, int rate);    /* 1: of a coordinate; rate 1: of its rate */
  int (*prescribes)(const ga__part *part, ga__prescribed *out); /* 1: it prescribes a motion */
  /* Writes the probable cause where its row `lambda` of Φ is violated; kin: given positions of bodies. */
  void (*advise)(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);

  /* -- Signals; may be called before the element is created -- */
  int is_coordinate; /* 1: its name refers to a coordinate, and it has no frame */
  int is_signal;     /* 1: its name alone may be a signal */
  int (*n_signals)(const ga__mbs_model *b, int part);
  void (*signal)(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
  /* Completes the probe of a signal that an expression uses while the machine is built. */
  ga_status (*complete_signal)(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal);
  /* Value i of GA__PROBE_ELEMENT, for signals that are neither motions nor unknowns. */
  int (*value)(const ga__eval *e, const ga__element *el, int i, double *value);
  int (*never_changes)(const ga__element *el,
                       int i); /* 1: value i is the same in all motions; NULL: none is */
  /* Those values that cost together as much as value i, one of them: from *first on, `value` has room for
   * GA__ELEMENT_VALUES. Returns their number; 0: they have no values here. NULL: one by one. */
  int (*values)(const ga__eval *e, const ga__element *el, int i, int *first, double *value);
  /* Its derivatives, for signals that are fed back (ga__probe_columns(), ga__probe_slopes()); NULL: none. */
  int (*value_columns)(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room);
  int (*value_slopes)(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                      double *d, double *dq);
  /* Additional signals of each frame on one of its nodes. */
  int (*n_node_signals)(const ga__mbs_model *b, int part);
  void (*node_signal)(const ga__mbs_model *b, int part, int node, int i, ga__signal_def *out);
  /* Gauge of the angle number i whose turns the meter counts, −1: no more; *limited: 1 if it must stay within
   * half a turn. */
  int (*counted_angle)(const ga__mbs_model *b, const ga__element *el, int i, int *limited);
  /* Unit of the input that reads output y. */
  const char *(*unit_of_input)(const ga__mbs_model *b, const ga__element *el, int y);
  const char *(*unit_of_output)(const ga__element *el, int i);
  const char *(*unit_of_row)(const ga__element *el, int rate); /* of its row of Φ or k, or of Φ' */

  /* -- Shapes for drawing; may be called without an element -- */
  int (*n_shapes)(const ga__mbs_model *b, int part);
  void (*shape)(const ga__mbs_model *b, int part, int i, ga__drawing *out);
  /* Strain and force of its shape i at given poses of nodes; NULL: it has none. Returns 0. */
  int (*piece_load)(const ga__element *el, int i, const ga__kin *kin, ga_piece_load *out);
  /* How fine its elements are for a motion of angular frequency √w2: what they are, and K − w2 M of element i
   * at poses of nodes, cut into 2^level pieces (cut.h), [2 size × 2 size]. Returns 0; 1: it has none. */
  void (*cuts)(const ga__element *el, ga__cuts *out);
  int (*cut)(const ga__element *el, int i, const ga__kin *kin, double w2, int level, double D[144]);
  /* Height over its plane; returns 0: none there. *varies: 1 if it is not 0 everywhere. NULL: 0. */
  int (*height)(const ga__element *el, double t, double x, double y, double *z, int *varies);

  /* -- Breaks in time, edges with the motion, narrow features -- */
  /* Input or formula number i: sets *in or *f. Returns 0: no more. */
  int (*get_input)(const ga__element *el, int i, ga__input **in, ga__formula **f);
  /* Visits other sites of breaks than these. */
  int (*visit)(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit, void *user);
  int (*has_edges)(const ga__mbs_model *b, const ga__element *el);
  int (*side)(const ga__eval *e, const ga__element *el, unsigned *side); /* as ga_expr_side() */
  /* As ga_switch_fn for one switch, whose side has_edges and side tell: returns 1 and the new mode in *x if
   * it should have another one; *excess: how much it disagrees, the largest one changes first. */
  int (*switch_mode)(const ga__eval *e, const ga__element *el, ga_switch_when when,
                     const unsigned char *shared, double *x, double *excess);
  int (*switch_row)(const ga__element *el); /* its row of k, which holds against forces but not impulses */
  /* 1: apart from functions of time and formulas, what it adds varies as the motion does
   * (ga_system_def.smooth); NULL: not known. */
  int (*is_smooth)(const ga__mbs_model *b, const ga__element *el);
  int (*may_hide)(const ga__element *el); /* 1: it may act in a narrow range of the motion only */
  int (*hides)(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece);
  /* Outputs and inputs that are functions of time alone (time_signal.c). */
  ga_status (*output_over_time)(ga_machine *m, ga__mbs_model *b, ga__element *el, int output);
  ga_status (*keep_time_signals)(ga_machine *m, ga__mbs_model *b, ga__element *el);
};

/* A part with a type of its own, not from the table of part kinds. */
typedef struct ga__element_def {
  const char *name;
  const ga__element_type *type; /* borrowed */
  const void *def;              /* borrowed; data for its functions */
} ga__element_def;
ga_status ga__machine_add_element(ga_machine *m, const ga__element_def *def); /* parts.c */
/* The member def of such a part. */
static inline const void *ga__element_def_of(const ga__mbs_model *b, int part)
{
  return ((const ga__element_def *)b->m->part[part].def)->def;
}

const ga__element_type *ga__type_of(const ga__part *part);
/* The motion that a part prescribes; returns 0: none. */
static inline int ga__prescribed_by(const ga__part *part, ga__prescribed *out)
{
  const ga__element_type *type = ga__type_of(part);
  return type && type->prescribes && type->prescribes(part, out);
}
/* One stage of creation, for all parts. */
ga_status ga__create(ga_machine *m, ga__mbs_model *b, ga__create_stage stage);
/* Adds an element of a part, with n_x states and n_y outputs; NULL: out of memory. The pointer is valid until
 * the next element is added. */
ga__element *ga__element_add(ga_machine *m, ga__mbs_model *b, int part, const ga__element_type *type, int n_x,
                             int n_y);
/* The element of a part; NULL: none, or not yet created. */
ga__element *ga__element_of(const ga__mbs_model *b, int part);
/* Columns of what depends on the motion of nodes (0, the ground, has none) and on the element's states, as
 * value_columns gives them. */
int ga__columns_of_nodes(const ga__mbs_model *b, const ga__element *el, const int *node, int n_nodes,
                         int *column, int room);
/* After all parts have created theirs: adds the elements of the whole machine and sorts all by rank. */
ga_status ga__elements_close(ga_machine *m, ga__mbs_model *b);
/* After all are bound: prepares evaluation (which elements have a sweep, which act without one). */
void ga__elements_ready(ga__mbs_model *b);
void ga__elements_free(ga_context *ctx, ga__mbs_model *b);
static inline ga__element *ga__element_at(const ga__mbs_model *b, int i)
{
  return &((ga__element *)b->element.at)[i];
}

/* The element with state (GA_BLOCK_X) or output (GA_BLOCK_Y) number i; NULL: none. */
const ga__element *ga__element_with(const ga__mbs_model *b, ga_equation_block block, int i);

/* Evaluation of all elements. ga__elements_rows(): length of their force vectors, velocities of the system
 * and, behind all unknowns, those of carried frames. */
int ga__elements_rows(const ga__mbs_model *b);
void ga__elements_mass(const ga__eval *e, double *out);
void ga__unswept_mass(const ga__eval *e, double *out); /* adds M vdot of elements without a sweep */
int ga__elements_force(const ga__eval *e, double *f);
int ga__elements_phi(const ga__eval *e, double *out, int order);
int ga__elements_k(const ga__eval *e, double *out, int order);
/* k_v times the twists that `at` has in place of velocities, but for what k is without any. */
int ga__elements_k_along(const ga__eval *e, const ga__eval *at, double *out);
int ga__elements_state(const ga__eval *e, double *s);
int ga__elements_jacobian(const ga__eval *e, ga_jacobian *J);
int ga__elements_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);
int ga__elements_powers(const ga__eval *e, ga__powers *out);
int ga__elements_inner(const ga__eval *e, double *n);
int ga__elements_inner_step(const ga__eval *e, double *dn);

/* 1: what is switched by the state `gate` acts. */
static inline int ga__gate_is_open(const ga__eval *e, int gate)
{
  return gate < 0 || !e->p->x || e->p->x[gate] > 0.5;
}
/* The variable that switches a part; NULL: it always acts. (part_kinds.c) */
const char *ga__active_of(const ga__part *part);
int ga__has_active(const ga__part *part); /* 1: it may have one */
/* 1: the part is a variable, which only events change. (gate.c) */
int ga__is_variable(const ga_machine *m, int part);
/* 1: its variable switches it off at the start. (gate.c) */
int ga__is_off_at_start(const ga_machine *m, int part);
/* Finds the variables that switch elements and rows, once all are created. (gate.c) */
ga_status ga__gates_resolve(ga_machine *m, ga__mbs_model *b);

/* 1: the row of a constraint is an angle, or the sine of one. (failure.c) */
int ga__constrains_angle(const ga__mbs_model *b, int lambda);

/* The iterate of an element's inner unknowns; NULL: those that belong to q. */
static inline const double *ga__inner_of(const ga__eval *e, const ga__element *el)
{
  const ga_static_values *s = e->p->statics;
  return s && s->inner ? s->inner + el->inner : NULL;
}

/* The load factor: what loads are scaled by. Inputs that depend on the motion are no loads. */
static inline double ga__load_factor(const ga__eval *e)
{
  return e->p->statics ? e->p->statics->load : 1.0;
}

/* 1: derivatives of forces are wanted; 0 if only M is. */
static inline int ga__wants_forces(const ga_jacobian *J)
{
  return (J->want & (GA_WANT_D | GA_WANT_Q)) && !(J->want & GA_WANT_M);
}

/* The types, each in its file. */
extern const ga__element_type ga__ground_type, ga__rigid_type, ga__planar_type, ga__point_type,
    ga__scalar_type, ga__marker_type;                         /* node.c */
extern const ga__element_type ga__beam_type;                  /* beam.c */
extern const ga__element_type ga__cable_type;                 /* cable.c */
extern const ga__element_type ga__slider_type;                /* slider.c */
extern const ga__element_type ga__line_load_type;             /* along.c */
extern const ga__element_type ga__modal_type;                 /* modal.c */
extern const ga__element_type ga__bodies_type;                /* body.c */
extern const ga__element_type ga__rows_type;                  /* constraint.c */
extern const ga__element_type ga__joint_type, ga__drive_type; /* joint.c */
extern const ga__element_type ga__law_element; /* law.c: springs, actuators, friction, bushings, contacts */
extern const ga__element_type ga__dry_friction_type; /* dry_friction.c */
extern const ga__element_type ga__rigid_stop_type;   /* rigid_stop.c */
extern const ga__element_type ga__wrench_type, ga__rolling_type;
extern const ga__element_type ga__road_type, ga__tyre_type;          /* road.c, tyre.c */
extern const ga__element_type ga__collider_type, ga__collision_type; /* collider.c, collision.c */
extern const ga__element_type ga__shape_type;                        /* drawn.c */
extern const ga__element_type ga__constraint_type;                   /* expression.c */
extern const ga__element_type ga__block_type, ga__outputs_type;      /* blocks.c */
extern const ga__element_type ga__sensor_type, ga__guess_type;       /* signal.c */
extern const ga__element_type ga__named_signal_type;                 /* named_signal.c */
extern const ga__element_type ga__event_type;                        /* event.c */

/* Signals of the frames of rigid bodies and mass points: their numbers, and each. (node.c) */
int ga__n_point_signals(const ga__mbs_model *b, int part);
int ga__n_rigid_signals(const ga__mbs_model *b, int part);
void ga__frame_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
/* Coordinates of joints, drives and scalar bodies, and their signals. (joint.c) */
ga_status ga__scalar_coordinate(ga_machine *m, ga__mbs_model *b, int part);
int ga__joint_n_signals(const ga__mbs_model *b, int part);
void ga__joint_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out);
ga_status ga__joint_complete_signal(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal);
/* ga__element_type.advise of joints and drives. (report.c) */
void ga__advise_joint(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);
void ga__advise_drive(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin);

#endif
