/* Inside the layer mbs: how a machine is kept, built and evaluated.
 *
 * Parts are kept as given (ga__part). Building turns them into nodes, gauges and elements (ga__mbs_model),
 * numbers the unknowns and lays out the pattern. Elements know space vectors only: every node has a twist w =
 * (u, ω), the velocity of its origin (a body's centre of mass) and its angular velocity, both in ground axes;
 * a wrench (F, T) acts at the node's origin, in ground axes; derivatives by q are by small twists (δx, δφ), x
 * → x + δx, R → exp(δφ~) R. With GA_FORM_SPACE that is what the core sees; form.c turns it into the other
 * forms. A node that has only some of the six (planar: u_x, u_y, ω_z; point: u; scalar: u_x; ground: none)
 * drops the others, see ga__node.has. */
#ifndef GALPHA_MBS_IMPL_H
#define GALPHA_MBS_IMPL_H

#include "base/base_impl.h"
#include "galpha/mbs.h"
#include <string.h>

struct ga__course; /* how something goes with time, of expr/expr_impl.h */

#define GA__TWO_PI 6.283185307179586
/* [m] Ends closer than this are taken to coincide: rounding of positions. */
#define GA__COINCIDENT 1e-12

/* ---- Parts as given (parts.c) -------------------------------------------------------------------------- */

typedef enum ga__part_kind {
  GA__PART_GROUND = 0,
  GA__PART_RIGID,
  GA__PART_PLANAR,
  GA__PART_POINT,
  GA__PART_SCALAR,
  GA__PART_MARKER,
  GA__PART_JOINT,
  GA__PART_DRIVE,
  GA__PART_ROLLING,
  GA__PART_SPRING,
  GA__PART_ACTUATOR,
  GA__PART_FRICTION,
  GA__PART_BUSHING,
  GA__PART_FORCE,
  GA__PART_CONTACT,
  GA__PART_SENSOR,
  GA__PART_GUESS,
  GA__PART_BLOCK,
  GA__N_PARTS,
  GA__PART_ELEMENT = GA__N_PARTS /* of no kind of model files: its type comes with it, see element.h */
} ga__part_kind;

typedef struct ga__block_def { /* what ga_machine_add_block() was given */
  const char *name;
  ga_control_block *block; /* owned */
  ga_input *inputs;        /* owned, [ga_block_n_in(block)] */
} ga__block_def;

typedef struct ga__part {
  ga__part_kind kind;
  const char *name; /* owned; within def too */
  void *def;        /* a copy of the definition of its kind, texts owned; NULL for the ground */
} ga__part;

struct ga__mbs_model;
typedef struct ga__element ga__element; /* element.h */
typedef struct ga__element_type ga__element_type;

struct ga_machine {
  ga_context *ctx;
  ga_machine_opts opts;
  int n_parts, capacity;
  ga__part *part;              /* part[0] is the ground */
  struct ga__mbs_model *model; /* NULL until it is built */
  int *bucket;                 /* names: 1 + index of a part, 0: empty; open addressing */
  int n_buckets;               /* a power of two */
  int n_functions;             /* that expressions may call */
  ga_symbol *function;         /* [n_functions] their names belong to the machine */
};

const char *ga__part_text(ga__part_kind kind);            /* "rigid body", "spring", ... */
int ga__find_part(const ga_machine *m, const char *name); /* −1: none */
/* A name meant something, and there is nothing of that name, or not of the kind needed: a message with the
 * nearest name. field: what of the part asks for it ("a", "coordinate"); needs: "a body or marker". Returns
 * GA_ERR_ARGUMENT. */
ga_status ga__no_such(const ga_machine *m, const ga__part *asking, const char *field, const char *name,
                      const char *needs);
/* A failure that concerns a part: its kind and name are added to the facts. Returns status. */
ga_status ga__refuse_part(ga_context *ctx, const ga__part *part, ga_status status, ga_reason reason,
                          ga__facts facts);

/* ---- Nodes (node.c) -------------------------------------------------------------------------------------
 */

enum { GA__PX = 1, GA__PY = 2, GA__PZ = 4, GA__RX = 8, GA__RY = 16, GA__RZ = 32, GA__ALL6 = 63 };

typedef struct ga__node {    /* what evaluations need comes first */
  int q, v;                  /* where its coordinates and velocities begin */
  int planar, scalar, rigid; /* which kind of coordinates: 1 for one of them, none: point or ground */
  int vector;                /* 1: n coordinates of R^n that are no place; it has no component of a twist */
  int xx, xx_full, rr;  /* rigid nodes: first entries of its tiles xx (all nine or the diagonal) and φφ */
  double mass, J[9];    /* [kg], [kg m²] about the origin, in body axes */
  double z;             /* planar: the plane */
  unsigned has;         /* of the six components of its twist; the ground has none */
  int column[6];        /* component → column among its velocities, −1: not there */
  int n;                /* velocities */
  int self;             /* its pair with itself */
  int part;             /* that it belongs to: a body, or the joint or drive that needs it */
  double com[3];        /* the origin, seen in the body's frame */
  double q0[12], v0[6]; /* at the start: as stored in q of the form; a twist (space) */
  double q_given[12], v_given[6]; /* the same as the part gives them, before the machine is assembled */
  int carried;                    /* 1 + number of the frame that it stands for (carried.c); 0: none */
  double *own;                    /* vector: [2 n] q and v at the start, in place of q0 and v0; else NULL */
} ga__node;

/* Where a node is and how it moves, at the point of an evaluation. */
typedef struct ga__kin {
  double x[3], R[9];
  double w[6];   /* twist */
  double acc[6]; /* of the origin, and angular */
  double angle;  /* planar nodes: any number of turns */
} ga__kin;

/* to[velocities of the node] += scale · six: a wrench, or what else has the components of a twist. */
static inline void ga__add_six(double *to, const ga__node *node, double scale, const double six[6])
{
  for (int c = 0; c < 6; c++)
    if (node->column[c] >= 0) to[node->column[c]] += scale * six[c];
}

/* A marker: part 0's node is the ground, node 0. */
typedef struct ga__marker {
  int node;
  double s[3]; /* from the node's origin, in body axes */
  double A[9]; /* axes in body axes */
} ga__marker;

/* A marker at the point of an evaluation. */
typedef struct ga__frame {
  int node;
  double r[3]; /* from the node's origin to the marker's, ground axes */
  double p[3]; /* the marker's origin */
  double A[9]; /* its axes as columns, ground axes */
} ga__frame;

void ga__frame_at(ga__frame *f, const ga__marker *marker, const ga__kin *kin /* of all nodes */);

/* ---- Gauges (gauge.c): scalar functions of two markers ---------------------------------------------------
 */

typedef enum ga__gauge_kind {
  GA__WORLD = 0, /* e · d, e = u fixed in space, d = p_b − p_a */
  GA__ALONG,     /* (A_a u) · d */
  GA__DOT,       /* (A_a u) · (A_b w) */
  GA__DISTANCE,  /* |d| */
  GA__ANGLE, /* of b about axis number `axis` (0, 1, 2 = i) of a, in (−π, π]: with j, k the axes after i,
                cyclically, atan2(b_j · a_k, b_j · a_j) */
  GA__TWIST, /* the same of the rotation's part about that axis, 2 atan2(q_i, q_0) of its quaternion: it is
                0 where b turns about j or k alone, by up to half a turn */
  GA__PLANE_ANGLE, /* θ_b − θ_a of planar nodes or the ground, + offset; any number of turns */
  GA__SCALAR       /* coordinate of scalar node a (marker a is on it) */
} ga__gauge_kind;

typedef struct ga__gauge {
  ga__gauge_kind kind;
  int a, b; /* markers */
  double u[3], w[3];
  int axis;
  double offset; /* of angles: turns, and for GA__PLANE_ANGLE the angle of the markers */
  enum { GA__NO_TURNS = 0, GA__FIRST_TURN, GA__GIVEN_TURNS } turns; /* of a joint's angle at the start */
} ga__gauge;

/* A gauge with its markers at the point of an evaluation. */
typedef struct ga__gauge_eval {
  const ga__gauge *gauge;
  ga__frame a, b;
  double angle_a, angle_b; /* planar nodes */
} ga__gauge_eval;

/* Of the twists, or gradients, of two nodes. */
static inline double ga__dot12(const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < 12; i++) sum += a[i] * b[i];
  return sum;
}

void ga__gauge_eval_at(ga__gauge_eval *s, const ga__gauge *g, const ga__marker *marker, const ga__kin *kin);
double ga__gauge_value(const ga__gauge_eval *s);
/* g[12] = (F_a, T_a, F_b, T_b): dρ = g · (δx_a, δφ_a, δx_b, δφ_b), twists of the nodes of a and b. */
void ga__gauge_gradient(double g[12], const ga__gauge_eval *s);
/* K[i*12+j]: derivative of g_i by component j of the twists. Not symmetric in rotations. */
void ga__gauge_curvature(double K[144], const ga__gauge_eval *s);
unsigned ga__gauge_mask(const ga__gauge *g); /* bit i: g_i can be non-zero */
/* bit 4 i + j, with i, j = 0..3 for (x_a, φ_a, x_b, φ_b): that 3×3 tile of K can be non-zero */
unsigned ga__gauge_tiles(const ga__gauge *g);

/* ---- Pattern (pattern.c) ---------------------------------------------------------------------------------
 */

/* The dynamics of node i by the velocities of node j: tiles xx, xφ, φx, φφ, each over the components that the
 * nodes have, column by column, all entries or the diagonal only. */
enum { GA__XX = 0, GA__XR = 1, GA__RX_ = 2, GA__RR = 3 };
typedef struct ga__mbs_pair {
  int i, j;
  int at[4];      /* first entry of the tile, −1: none */
  unsigned full;  /* bit k: tile k has all its entries; else the diagonal */
  unsigned whole; /* bit by tile: all nine entries are there, and follow each other */
  int dense;      /* 1: a node has coordinates beyond the six; all entries, column by column, from at[0] on */
  int inertia;    /* 1: M has entries there too, though i is not j */
} ga__mbs_pair;

/* The dynamics of a node by one of λ, ψ, x, y: one entry for each of the node's velocities. */
typedef struct ga__port {
  int node, column, at;
} ga__port;

/* Entries of one array: GA_WANT_D, Q or G. */
typedef struct ga__clear {
  unsigned array;
  int first, count;
} ga__clear;

typedef struct ga__pattern {
  ga_context *ctx;
  int n_pairs, pairs_capacity;
  ga__mbs_pair *pair; /* sorted by (i, j) once merged */
  int n_ports, ports_capacity;
  ga__port *port; /* sorted by (node, column) once merged */
  int n, capacity;
  int *row, *col;     /* entries */
  unsigned char *in;  /* [n] arrays that can be non-zero there: GA_WANT_D, Q, G; all until somebody says no */
  unsigned char *set; /* [n] arrays whose entry an element always writes over */
  int n_clear;
  ga__clear *clear; /* what is added to, and cleared before */
} ga__pattern;

/* First stage: what elements will write. tiles, full: bits as in ga__mbs_pair. */
ga_status ga__want_pair(ga__pattern *pt, int i, int j, unsigned tiles, unsigned full);
ga_status ga__want_port(ga__pattern *pt, int node, int column);
/* All of the dynamics of node i by node j, of any kinds; inertia 1: by accelerations too. */
ga_status ga__want_block(struct ga__mbs_model *b, int i, int j, int inertia);
/* All pairs of two nodes (i and j may be ground or equal) that a gauge's K, weighted, and g gᵀ (products 1)
 * can fill. */
ga_status ga__want_gauge(struct ga__mbs_model *b, const ga__gauge *g, int products);
/* Second stage, once everything is wanted: where it is. */
int ga__find_pair(const ga__pattern *pt, int i, int j); /* index, −1: none (the ground) */
int ga__find_port(const ga__pattern *pt, int node, int column);
/* An entry of its own: nobody else may ask for the same place. Returns its index, −1: out of memory. */
int ga__own_entry(ga__pattern *pt, int row, int col);
/* Entries of its own for n rows by all velocities of a node, row after row; transposed: for these columns.
 * Returns the first, −1: out of memory. */
int ga__own_rows(ga__pattern *pt, const ga__node *node, int row, int n, int transposed);
/* An element writes these over whenever the arrays are wanted; or nobody ever writes there. arrays:
 * GA_WANT_D, Q, G. */
void ga__set_entries(ga__pattern *pt, unsigned arrays, int first, int count);
void ga__exclude_entries(ga__pattern *pt, unsigned arrays, int first, int count);
/* Last stage: what has to be cleared before. And clearing it. */
ga_status ga__list_clears(struct ga__mbs_model *b);
void ga__clear_entries(const ga__pattern *pt, const ga_jacobian *J);

/* array[tile] += scale · T, T[9] over all three components each. */
void ga__add_tile(double *array, const struct ga__mbs_model *b, int pair, int tile, double scale,
                  const double T[9]);
/* array[pair] += scale · M: M[rows × columns], row-major, with 6 rows for a node that has components of a
 * twist (those that it has not are left out), n for one with other coordinates; columns likewise. */
void ga__add_block(double *array, const struct ga__mbs_model *b, int pair, double scale, const double *M);
/* Adds scale · K, K[144] of a gauge between nodes a and b, in the tiles of the mask of ga__gauge_tiles().
 * pair[4] = aa, ab, ba, bb; a and b may be the same node. */
void ga__add_curvature(double *array, const struct ga__mbs_model *b, const int pair[4], unsigned tiles,
                       double scale, const double K[144]);
/* Adds scale · left rightᵀ, of two gauges between the same nodes. */
void ga__add_product(double *array, const struct ga__mbs_model *b, const int pair[4], double scale,
                     const double left[12], const double right[12]);
/* array[port entries] += scale · wrench; of a node with other coordinates: [n] */
void ga__add_port(double *array, const struct ga__mbs_model *b, int port, double scale, const double *wrench);

/* ---- Inputs and formulas (input.c) -----------------------------------------------------------------------
 */

typedef struct ga__input { /* value + function(t) + y */
  double value;
  const ga_function *function;
  int y;    /* −1: none */
  int part; /* that it belongs to, for messages */
} ga__input;

typedef struct ga__formula { /* variables: t, then n_local local ones, then outputs y */
  ga_expr *expr;
  int n_local, n_y;
  int *y;   /* [n_y] which outputs */
  int *wrt; /* [n_local + n_y] variables for derivatives: 1, 2, ... */
  struct ga__course
      *course; /* [1 + n_local + n_y] of its variables over time; NULL: nothing is known but t */
  int part;    /* that it belongs to, for messages */
} ga__formula;

void ga__formula_free(ga_context *ctx, ga__formula *f); /* what it owns; {0} is fine */

/* ---- Elements ---------------------------------------------------------------------------------------------
 */

/* Poses and twists of nodes in a sweep over rigid bodies. */
typedef enum ga__kin_use {
  GA__KIN_MADE, /* kin is that of the point */
  GA__KIN_MAKE, /* it is to be made, node by node */
  GA__KIN_NONE  /* nobody will read it */
} ga__kin_use;

/* What evaluations of a built machine write, of one who evaluates it: the machine's own, a stepper's, a
 * meter's. What is built is only read. (workspace.c) */
typedef struct ga__workspace {
  ga_context *ctx; /* where errors go */
  const ga_machine *m;
  const struct ga__mbs_model *b;
  ga__kin *kin;         /* [nodes] of the evaluation under way */
  unsigned long motion; /* that kin belongs to, with these arrays; 0: none that could come again */
  const double *motion_q, *motion_v, *motion_vdot;
  double *f;                         /* [nv] forces within a sweep */
  double *y_seen, *y_last;           /* [n_y] outputs of a state between steps */
  double *y_slope;                   /* [2 y_room] derivatives of one row of y, by D, then by Q */
  double *value, *slope;             /* of one formula's variables, and derivatives by them */
  double *scratch;                   /* of the one element that is evaluated (ga__element_type.scratch) */
  struct ga__carried_space *carried; /* NULL: there are no such frames */
  struct ga__form_space *form;       /* NULL: GA_FORM_SPACE, no rigid body, or no derivatives wanted */
  struct ga__enclosure *enclosure;   /* what outputs stay within (hidden.c); NULL: there are none */
  ga__kin_use use;                   /* of kin, in a sweep over rigid bodies */
  int suspect; /* among those that act, the output that hid something last; answers are the same */
  void *block; /* of all arrays */
} ga__workspace;

/* What an evaluation sees. */
typedef struct ga__eval {
  const ga_machine *m;
  const struct ga__mbs_model *b;
  const ga_point *p;
  const ga__kin *kin;  /* of all nodes */
  ga__workspace *work; /* of whoever evaluates */
} ga__eval;

/* One constraint row: Σ c ρ − target(t) − constant = 0. Its slots are the nodes concerned; in each the
 * entries of B and D_q(B v), and those of Bᵀ, one for every bit of the mask in ascending order. */
typedef struct ga__slot {
  int node;
  unsigned mask, mask_t; /* six bits each, of the components that the node has */
  int B, Bt;             /* first entries */
} ga__slot;
typedef struct ga__term {
  int gauge;
  double c;
  int slot_a, slot_b; /* within the row's slots; −1: ground */
  int pair[4];        /* aa, ab, ba, bb */
} ga__term;
typedef struct ga__row {
  int part;
  int first_slot, n_slots, first_term, n_terms;
  const ga_function *target; /* NULL: none */
  double constant;
  double rate; /* of the sum, besides that of target; not 0 only while a machine is assembled */
  int wrap;    /* 1: an angle, taken within (−π, π] */
  int lambda;  /* its number */
  int by_axes; /* 1: evaluated in axes.c */
} ga__row;

/* A row that holds the angle between two axes fixed in rigid bodies or the ground: e_a · e_b = constant, as
 * hinges and slides do, twice and more each. (axes.c) */
typedef struct ga__axes {
  int lambda;
  int node[2], v[2]; /* their first velocities */
  double u[2][3];    /* the axes, in body axes */
  double constant;
  int B[2], Bt[2]; /* first of three entries of φ; −1: ground */
  int rr[4];       /* tiles φφ of the pairs aa, ab, ba, bb; −1: ground */
} ga__axes;

/* Three rows at once: p_b − p_a = 0 in ground axes, the most frequent constraint. (point3.c) */
typedef struct ga__end {
  int node, v; /* 0: ground; first velocity */
  double s[3]; /* from the node's origin, in body axes */
  int B;       /* first entry: 3 of x (diagonal), then 9 of φ, column by column */
  int Bt;      /* of the first column of Bᵀ: one of x, two of φ (without the diagonal) */
  int rr;      /* the node's own tile φφ */
} ga__end;
typedef struct ga__point3 {
  int part, a, b; /* markers */
  int lambda;     /* first of three */
  int stride;     /* from one column of Bᵀ to the next */
  ga__end end[2];
} ga__point3;

/* An end as sweeps go through them, body by body. (body.c) */
typedef struct ga__body_end {
  double s[3], sign; /* 1 for b, −1 for a */
  int lambda, B, Bt, stride;
  int first; /* 1: the other end's body comes later */
} ga__body_end;

/* What may jump with the motion: a formula, or the element of a part. (edges.c) */
typedef struct ga__edge {
  int formula; /* −1: an element */
  int part;
} ga__edge;

/* Something that can be sensed. (probe.c) */
typedef enum ga__probe_kind {
  GA__PROBE_POSITION = 0,
  GA__PROBE_VELOCITY,
  GA__PROBE_ACCELERATION,
  GA__PROBE_SPECIFIC_FORCE,
  GA__PROBE_ANGULAR_VELOCITY,
  GA__PROBE_ANGULAR_ACCELERATION,
  GA__PROBE_REACTION_FORCE, /* of joint `joint` on b at b's marker */
  GA__PROBE_REACTION_TORQUE,
  GA__PROBE_GAUGE, /* value */
  GA__PROBE_GAUGE_RATE,
  GA__PROBE_GAUGE_ACC,  /* output only, but of a scalar node */
  GA__PROBE_ANGLE,      /* of the planar body that `of` is on, with its turns */
  GA__PROBE_QUATERNION, /* output only */
  GA__PROBE_ELEMENT,    /* value number `component` of the element of part `owner`; output only */
  GA__PROBE_MULTIPLIER, /* −λ number `index`: the force of a drive, gear or rack on its (first) coordinate */
  GA__PROBE_STATE,      /* x number `index` */
  GA__PROBE_OUTPUT,     /* y number `index` */
  GA__PROBE_ENERGY      /* number `index` of ga__energy; output only */
} ga__probe_kind;
typedef struct ga__probe {
  ga__probe_kind kind;
  int of, from, axes; /* markers; −1: ground */
  int joint;          /* index of a ga__joint */
  int owner;          /* a part */
  int gauge;
  int component, index;
  int turns;         /* number of the angle whose turns a meter counts, −1: none */
  int part, channel; /* of an output y: the signal it was made for */
} ga__probe;

/* A joint as built. */
enum { GA__MOST_COORDINATES = 3 };
typedef struct ga__coordinate {
  const ga_coordinate_info *info; /* its name is "" for a scalar body's */
  int gauge;                      /* as measured */
  int scalar_gauge;               /* of the scalar node that follows it, −1: none */
} ga__coordinate;
typedef struct ga__joint {
  int part, a, b;        /* markers; −1, −1: gear, rack, drive */
  int point3;            /* −1: none */
  int first_row, n_rows; /* its ga__row */
  int first_own;         /* the first of those in its table; −1: none */
  const void *recipe;    /* that table's row, see joint.c; NULL: none */
  int n_coordinates;
  ga__coordinate coordinate[GA__MOST_COORDINATES];
} ga__joint;

/* Rows of y. */
typedef enum ga__y_kind { GA__Y_PROBE, GA__Y_FORMULA, GA__Y_ELEMENT } ga__y_kind;
typedef struct ga__y {
  ga__y_kind kind;
  int index;            /* of the probe or formula; the part of the element */
  int output;           /* of the element */
  int first, n_columns; /* into y_column, y_entry */
  int guessed;          /* 1: the start begins with `guess` */
  double guess;
} ga__y;

/* All signals, numbered part by part, energies last. Names and probes are made when asked for: there are
 * twenty for every body. (signal.c) */
typedef struct ga__signals {
  int n, n_turns;        /* signals; angles whose turns a meter counts */
  int *first;            /* [n_parts + 2] first signal of a part; of the energies; n */
  int *first_turning;    /* [n_parts] its first angle among those */
  int *turning;          /* [n_turns] gauges of these angles, */
  int *limited;          /* and the part of one that must not turn over, else 0 */
  _Atomic(char *) *name; /* [n_parts + 1] names of a part's signals, NULL until a thread asks for them */
} ga__signals;

typedef enum ga__energy {
  GA__KINETIC = 0,
  GA__POTENTIAL,
  GA__DISSIPATED, /* this and the following along a run, 0 without a meter */
  GA__INPUT,
  GA__BALANCE, /* kinetic + potential + dissipated − input, minus the same at the start */
  GA__N_ENERGIES
} ga__energy;

typedef struct ga__label {
  int part;
  char text[40]; /* "rotation about y" */
} ga__label;

/* A growing array of plain structs. */
typedef struct ga__list {
  void *at;
  int n, capacity;
  size_t size;
} ga__list;
#define GA__AT(list, type, i) (&((type *)(list).at)[i])

/* What is built: the machine, or a system that only serves to assemble it (assemble.c). */
typedef enum ga__stage { GA__STAGE_MACHINE = 0, GA__STAGE_POSITIONS, GA__STAGE_VELOCITIES } ga__stage;

typedef struct ga__mbs_model {
  const ga_machine *m;
  ga__stage stage;
  ga_system *system;
  ga__list node, marker, gauge, row, slot, term, point3, axes, joint, y, formula, probe, edge;
  ga__list carried;              /* frames on what deforms (carried.c) */
  struct ga__carriage *carriage; /* what elements write for these, and where it goes; NULL: there are none */
  ga__pattern condensed;         /* the pattern of the system then; else it is that of elements */
  int n_wide;                    /* rows, and columns, that elements write to: all unknowns, then frames */
  ga__list element;              /* of ga__element; once closed in the order of their ranks */
  int n_swept, first_acting;     /* those that offer a sweep come first; the first that acts without one */
  int acting_inertia;            /* 1: one of these has inertia */
  int uses_kin;                  /* 1: not only rigid bodies and points held together look at nodes */
  int *part_node;                /* [n_parts] node of a body; −1 */
  int *part_marker;              /* [n_parts] marker of a body's own frame, or of a marker; −1 */
  int *part_joint;               /* [n_parts] ga__joint of a joint, or scalar body; −1 */
  int *part_element;             /* [n_parts] its element; −1 */
  ga__pattern pattern;
  int *y_column, *y_entry; /* of rows of y that are probes or formulas: ga__y.first, n_columns */
  ga__body_end *end;       /* of all point3, by node: */
  int *end_start;          /* [nodes + 1] */
  int y_room;              /* the most columns of a row of y */
  struct ga__course
      *course;             /* [n_y] how outputs go with time, where they depend on nothing else (course.c) */
  ga_function **course_of; /* [n_y] functions that were made for it */
  ga__signals signals;
  int nq, nv, n_lambda, n_psi, n_x, n_y;
  int n_plain_rows;                 /* rows that axes.c does not evaluate */
  ga__list lambda_label, psi_label; /* of ga__label: whose equations they are */
  int takes_speeds;                 /* 1: bodies given at rest start with speeds that drives have */
  ga__kin *kin; /* [nodes] as they start; for building alone, NULL once a machine is built */
  int kin_room;
  struct ga__form *form; /* NULL: GA_FORM_SPACE, or no rigid body */
} ga__mbs_model;

/* Column, and row, of state i and of output i in the whole matrix. */
static inline int ga__column_x(const ga__mbs_model *b, int i)
{
  return b->nv + b->n_lambda + b->n_psi + i;
}
static inline int ga__column_y(const ga__mbs_model *b, int i)
{
  return b->nv + b->n_lambda + b->n_psi + b->n_x + i;
}

/* The pattern of the system. */
static inline ga__pattern *ga__system_pattern(ga__mbs_model *b)
{
  return b->carried.n ? &b->condensed : &b->pattern;
}
static inline const ga__pattern *ga__system_pattern_of(const ga__mbs_model *b)
{
  return b->carried.n ? &b->condensed : &b->pattern;
}

void ga__mbs_model_destroy(ga_context *ctx, struct ga__mbs_model **b); /* build.c */

/* Adds an element, zeroed; NULL: out of memory (said so). */
void *ga__list_add(ga_context *ctx, ga__list *list);

/* ---- Building (build.c) -----------------------------------------------------------------------------------
 */

/* The marker of a named frame, for `asking`'s field. */
ga_status ga__resolve_frame(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, int *marker);
/* What a coordinate is needed for: its value alone, angles within (−π, π]; turns counted as well; its
 * acceleration as well. Where the gauge itself cannot give it, a scalar node follows it, held by a constraint
 * of its own. */
typedef enum ga__coordinate_need { GA__VALUE = 0, GA__TURNS = 1, GA__ACCELERATION = 2 } ga__coordinate_need;
/* The gauge of a named coordinate ("hinge.angle", a joint that has just one, a scalar body). */
ga_status ga__resolve_coordinate(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                 const char *name, ga__coordinate_need follow, int *gauge);
/* The same for coordinate number c of joint j. */
ga_status ga__coordinate_gauge(ga_machine *m, ga__mbs_model *b, int joint, int c, ga__coordinate_need follow,
                               int *gauge);
/* Line a–b or coordinate, as springs, actuators and friction have them. */
ga_status ga__resolve_line(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *a,
                           const char *b_frame, const char *coordinate, int *gauge);
int ga__add_gauge(ga_machine *m, ga__mbs_model *b, const ga__gauge *g); /* index, −1: out of memory */
/* Values at the start, as given. */
void ga__kin_initial(const ga__mbs_model *b, int node, ga__kin *kin);
void ga__kin_pose(const ga__node *node, const double q[12], ga__kin *k); /* at rest, q as in ga__node.q0 */
void ga__marker_pose(const ga__mbs_model *b, int marker, const double *q,
                     ga_pose *pose); /* q of the system */
double ga__gauge_initial(const ga__mbs_model *b, int gauge);
double ga__gauge_initial_rate(const ga__mbs_model *b, int gauge);
void ga__mbs_model_destroy(ga_context *ctx, struct ga__mbs_model **b);
ga_status ga__label_lambda(ga_machine *m, ga__mbs_model *b, int part, const char *label,
                           int *lambda); /* a new row of Φ */
ga_status ga__label_psi(ga_machine *m, ga__mbs_model *b, int part, const char *label,
                        int *psi); /* a new row of k */

/* Nodes (node.c). */
void ga__nodes_keep_given(ga__mbs_model *b); /* once bodies are created: what they are given */
ga_status ga__node_add_scalar(ga_machine *m, ga__mbs_model *b, int part,
                              int *marker); /* massless, on a joint's behalf */
/* A node of n coordinates of an element's own, as amplitudes of modes: no place, no inertia but the
 * element's. q, v: [n] at the start, NULL: zeros. */
ga_status ga__node_add_carried(ga_machine *m, ga__mbs_model *b, int part, int frame, int *node);
ga_status ga__node_add_vector(ga_machine *m, ga__mbs_model *b, int part, int n, const double *q,
                              const double *v, int *node);
static inline size_t ga__node_n_q(const ga__node *node)
{
  return node->rigid ? 12u : (size_t)node->n;
}
const ga__node *ga__node_with(const ga__mbs_model *b, int v); /* that which has velocity number v */
/* Values at the start: from the node to q and v of the system, and back (v may be NULL). */
void ga__node_get_initial(const ga__node *node, double *q, double *v);
void ga__node_set_initial(ga__node *node, const double *q, const double *v);
/* Of one node: of a rigid one in the space form, */
static inline void ga__kin_rigid(const ga__node *node, const double *q, const double *v, const double *vdot,
                                 ga__kin *k)
{
  memcpy(k->x, q + node->q, 12 * sizeof *q); /* x and R follow each other in both */
  if (v) memcpy(k->w, v + node->v, sizeof k->w);
  if (vdot) memcpy(k->acc, vdot + node->v, sizeof k->acc);
}
/* and of any other; v, vdot may be NULL */
void ga__kin_other(const ga__node *node, const double *q, const double *v, const double *vdot, ga__kin *k);
void ga__kin_at(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                ga__kin *kin); /* v, vdot may be NULL */

/* Joints and drives (joint.c). */
/* Once bodies are where they start: what rows are held at, turns of angles. */
ga_status ga__joints_set_constants(ga_machine *m, ga__mbs_model *b);
/* The angle of two frames of planar bodies or the ground, both with z upwards: it begins within (−π, π], and
 * has any number of turns. Returns its gauge, −1: out of memory. */
int ga__add_plane_angle(ga_machine *m, ga__mbs_model *b, int marker_a, int marker_b);
/* Where b's frame is in a's, for these coordinates; R_now, d_now: now, which stays where the joint leaves it
 * free. */
void ga__joint_relative(const ga__joint *joint, const double *value, const double R_now[9],
                        const double d_now[3], double R[9], double d[3]);
/* How b moves against a, in a's axes, for these rates of coordinates with these values: ω and the velocity of
 * b's origin; w_now, u_now: now, likewise. */
void ga__joint_twist(const ga__joint *joint, const double *value, const double *rate, const double w_now[3],
                     const double u_now[3], double w[3], double u[3]);
/* Does it hold at least half of what can move? */
int ga__joint_holds_most(const ga__joint *joint);
/* A coordinate of a joint, or its rate, as given for the start; NaN: not given. */
double ga__joint_given(const ga_joint_def *def, const char *coordinate, int rate);
/* A row that holds one gauge at a constant, which it has at `rate`. */
ga_status ga__hold_gauge(ga_machine *m, ga__mbs_model *b, int part, const char *label, int gauge,
                         double constant, double rate);

/* Where bodies are and how they move at the start, found from initial values of joints and bodies that are
 * held (assemble.c). */
typedef struct ga__placement {
  ga_context *ctx;
  int n;         /* bodies' nodes, the ground among them; 0: as given */
  double *q, *v; /* [12 n] as ga__node.q0, [6 n] as v0 */
  int positions; /* 0: q is where bodies will be once they are consistent, and they stay as given */
  int speeds;    /* 1: drives begin with speeds, which v has */
} ga__placement;
ga_status ga__assemble(ga_machine *m, ga__placement *out);
void ga__placement_free(ga__placement *p);
void ga__placement_apply(const ga__placement *p, ga__mbs_model *b); /* once joints have their frames */
/* Springs whose rest is that at the start, where given positions are off the constraints. */
ga_status ga__set_spring_rests(ga_machine *m, ga__mbs_model *b);
/* The stages of building that both need (build.c). */
ga_status ga__build_begin(ga_machine *m, ga__mbs_model *b);
ga_status ga__build_frames(ga_machine *m, ga__mbs_model *b); /* nodes and markers */
ga_status ga__build_finish(ga_machine *m, ga__mbs_model *b);
void ga__initial_values(const ga__mbs_model *b, double *q, double *v); /* of the system made from b */
/* The largest |Φ| there; HUGE_VAL: unknown. */
ga_status ga__phi_initial(ga__workspace *w, double *largest);

ga_status ga__pattern_merge(ga__mbs_model *b); /* between the two stages */
void ga__pattern_free(ga__pattern *pt);

ga_status ga__resolve_input(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const ga_input *in, ga__input *out);
ga_status ga__resolve_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *text, int n_local, const char *const *local, ga__formula *out);
/* The output y that carries a signal; made where there is none yet. */
ga_status ga__signal_y(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                       const char *name, int *y);

/* Values at an evaluation: 0; > 0 retry; < 0 give up, as ga_eval_fn. */
int ga__input_value(const ga__eval *e, const ga__input *in, double *value);
/* local[n_local]; slope (may be NULL) by local variables, then by y. */
int ga__formula_value(const ga__eval *e, const ga__formula *f, const double *local, double *value,
                      double *slope);
/* The side of its jumps that it is on, as ga_expr_side(). */
int ga__formula_side(const ga__eval *e, const ga__formula *f, const double *local, unsigned *side);

/* A function or expression of a part has no value: says so, and returns 1 (retry). */
int ga__fault(const ga__eval *e, int part, const char *field, const ga_fault *fault);
void ga__formula_free(ga_context *ctx, ga__formula *f);

/* What was worked out last for probes of one evaluation: components of one vector, or an angle and its rate,
 * are asked for one after the other. Numbers are those of probes, GA__NOT_CACHED: nothing yet. */
enum { GA__NOT_CACHED = -2 };
typedef struct ga__probe_cache {
  int of, axes; /* markers */
  ga__frame of_frame, axes_frame;
  ga__probe_kind vector; /* X, of the markers vector_of and vector_from */
  int vector_of, vector_from;
  double X[3];
  int joint; /* F, T: its reaction */
  double F[3], T[3];
  int gauge, has_gradient;
  ga__gauge_eval sight;
  double g[12], w[12]; /* gradient, twists */
} ga__probe_cache;
void ga__probe_cache_reset(ga__probe_cache *seen);
/* Value at an evaluation; seen: begun, and used for nothing but probes of this evaluation. */
int ga__probe_read(ga__probe_cache *seen, const ga__eval *e, const ga__probe *probe, double *value);
int ga__probe_value(const ga__eval *e, const ga__probe *probe, double *value); /* of a single probe */
/* For outputs of the system, the derivatives: columns by component of twist. 1: has them. */
int ga__probe_can_feed(const ga__mbs_model *b, const ga__probe *probe);
/* Which columns of the whole matrix it depends on: writes up to `room` of them, returns how many there are.
 */
int ga__probe_columns(const ga__mbs_model *b, const ga__probe *probe, int *column, int room);
/* Derivatives in the order of ga__probe_columns(): by velocities and accelerations (combined by the shifts)
 * and by λ, ψ, x, y into d; by q into dq. */
int ga__probe_slopes(const ga__eval *e, const ga__probe *probe, double shift_v, double shift_vdot, double *d,
                     double *dq);

/* Elements that are frequent are swept: values added to s (NULL: not wanted; f with its sign turned to
 * s->dynamics), derivatives to J (NULL: not wanted). The others' part of ga__constraint_...() is what sweeps
 * do, for the callbacks of single blocks. order: Φ, Φ' or Φ'' at vdot = 0. */
/* Constraint rows that hold two axes (axes.c). */
ga_status ga__axes_take(ga__mbs_model *b, ga__row *row);
void ga__axes_values(const ga__eval *e, double *out, int order);
void ga__axes_force(const ga__eval *e, double *f);
void ga__axes_sweep(const ga__eval *e, const ga_sweep *s, const ga_jacobian *J);
/* Two origins held together (point3.c). */
ga_status ga__points_want(ga__mbs_model *b);
ga_status ga__points_bind(ga__mbs_model *b);
void ga__points_values(const ga__eval *e, double *out, int order);
void ga__points_force(const ga__eval *e, double *f);
ga_status ga__ends_list(ga__mbs_model *b);
/* Inertia, weight and these (body.c): the first of all elements, writes s->dynamics, tiles of bodies and rows
 * of its own. */

/* Names and values of signals (signal.c). */
ga_status ga__signals_create(ga_machine *m, ga__mbs_model *b); /* once nothing more is resolved */
void ga__signals_free(ga_context *ctx, ga__mbs_model *b);
int ga__signal_find(const ga__mbs_model *b, const char *name); /* −1: none */
void ga__signal_name_of(const ga__mbs_model *b, const ga__probe *probe, char *text,
                        size_t size); /* of an output y */

#endif
