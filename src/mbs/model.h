/* A built machine: nodes, elements, rows, outputs, signals. (build.c) */
#ifndef GALPHA_MBS_MODEL_H
#define GALPHA_MBS_MODEL_H

#include "mbs/constraint.h"
#include "mbs/input.h"
#include "mbs/joint.h"
#include "mbs/pattern.h"
#include "mbs/probe.h"

/* A formula, the element of a part, or a probe that may jump or have a corner with the motion. (edges.c) */
typedef struct ga__edge {
  int formula; /* −1: an element, or a probe */
  int part;
  int probe; /* that jumps; −1: none */
} ga__edge;

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

/* All signals, numbered part by part, energies last. Names and probes are made on demand, since every body
 * has twenty signals. (signal.c) */
typedef struct ga__signals {
  int n, n_turns;        /* signals; angles whose turns a meter counts */
  int *first;            /* [n_parts + 2] first signal of each part, of the energies; n */
  int *first_counted;    /* [n_parts] its first counted angle */
  int *counted_angle;    /* [n_turns] gauges of these angles */
  int *limited;          /* [n_turns] part of an angle that must stay within half a turn, else 0 */
  _Atomic(char *) *name; /* [n_parts + 1] names of a part's signals; NULL until first needed */
} ga__signals;

typedef enum ga__energy {
  GA__KINETIC = 0,
  GA__POTENTIAL,
  GA__DISSIPATED, /* this and the following are integrated by a meter; 0 without one */
  GA__INPUT,
  GA__BALANCE, /* kinetic + potential + dissipated − input, minus the same at the start */
  GA__N_ENERGIES
} ga__energy;

typedef struct ga__label {
  int part;
  char text[40]; /* "rotation about y" */
} ga__label;

/* What is built: the machine, or an auxiliary system for its assembly (assemble.c). */
typedef enum ga__stage { GA__STAGE_MACHINE = 0, GA__STAGE_POSITIONS, GA__STAGE_VELOCITIES } ga__stage;

struct ga__mbs_model {
  const ga_machine *m;
  ga__stage stage;
  ga_system *system;
  double size; /* [m] of the machine at its start; 0: it has none */
  ga__list node, marker, gauge, row, slot, term, point3, axes, joint, y, formula, probe, edge;
  int n_switches;        /* the last of the edges */
  ga__list carried;      /* frames on deformable parts (carried.c) */
  ga__pattern condensed; /* pattern of the system if there are such frames, else unused */
  struct ga__condensation
      *condensation;          /* from `pattern` to `condensed` (condense.c); NULL: no such frames */
  int n_wide;                 /* rows, and columns, that elements write to: all unknowns, then frames */
  ga__list element;           /* of ga__element; sorted by rank once closed */
  int n_swept, first_unswept; /* elements with a sweep come first; the first one to evaluate without */
  int unswept_inertia;        /* 1: an element without a sweep has inertia */
  int uses_kin;               /* 1: elements other than rigid bodies and point3 read poses of nodes */
  int n_frame_nodes;          /* nodes of bodies: those created before joints */
  int *part_node;             /* [n_parts] node of a body; −1 */
  int *part_marker;           /* [n_parts] marker of a body's own frame, or of a marker; −1 */
  int *part_joint;            /* [n_parts] ga__joint of a joint, or scalar body; −1 */
  int *part_element;          /* [n_parts] its element; −1 */
  ga__pattern pattern;
  int *y_column, *y_entry;             /* columns and entries of probes and formulas, see ga__y.first */
  ga__body_end *end;                   /* of all point3, by node: */
  int *end_start;                      /* [nodes + 1] */
  int y_room;                          /* largest number of columns of a row of y */
  struct ga__time_signal *time_signal; /* [n_y] outputs that depend on time alone (time_signal.c) */
  ga_function **time_function;         /* [n_y] functions made for time_signal; owned */
  ga__signals signals;
  int nq, nv, n_lambda, n_psi, n_x, n_y, n_inner;
  int n_plain_rows;                 /* rows that axes.c does not evaluate */
  ga__list lambda_label, psi_label; /* of ga__label: part and name of each row */
  int start_with_drive_speeds;      /* 1: bodies given at rest start with the speeds of drives */
  ga__kin *kin;                     /* [nodes] initial motion; only while building, then NULL */
  int kin_room;
  struct ga__form *form; /* NULL: GA_FORM_SPACE, or no rigid body */
};

/* 1: the part has a frame. A scalar body has none. */
static inline int ga__has_frame(const ga__mbs_model *b, int part)
{
  const int marker = b->part_marker[part];
  return marker >= 0 && !GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker)->node)->scalar;
}

/* Column and row of state i, of output i, in the matrix of all unknowns. */
static inline int ga__column_x(const ga__mbs_model *b, int i)
{
  return b->nv + b->n_lambda + b->n_psi + i;
}
static inline int ga__column_y(const ga__mbs_model *b, int i)
{
  return b->nv + b->n_lambda + b->n_psi + b->n_x + i;
}

/* The pattern of the system; that of its elements is b->pattern. */
static inline ga__pattern *ga__system_pattern(ga__mbs_model *b)
{
  return b->carried.n ? &b->condensed : &b->pattern;
}
static inline const ga__pattern *ga__system_pattern_of(const ga__mbs_model *b)
{
  return b->carried.n ? &b->condensed : &b->pattern;
}

void ga__mbs_model_destroy(ga_context *ctx, ga__mbs_model **b); /* build.c */

/* Finds the marker of a named frame; asking and field: who refers to it, for messages. */
ga_status ga__resolve_frame(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, int *marker);
/* The gauge of a line a–b or of a coordinate, as springs, actuators and friction have. */
ga_status ga__resolve_line(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *a,
                           const char *b_frame, const char *coordinate, int *gauge);
/* A new row of Φ, of k. */
ga_status ga__label_lambda(ga_machine *m, ga__mbs_model *b, int part, const char *label, int *lambda);
ga_status ga__label_psi(ga_machine *m, ga__mbs_model *b, int part, const char *label, int *psi);

/* Names and values of signals (signal.c). */
ga_status ga__signals_create(ga_machine *m, ga__mbs_model *b); /* after all names are resolved */
void ga__signals_free(ga_context *ctx, ga__mbs_model *b);
int ga__signal_find(const ga__mbs_model *b, const char *name); /* −1: none */
/* Name of the signal that an output y was created for. */
void ga__signal_name_of(const ga__mbs_model *b, const ga__probe *probe, char *text, size_t size);

#endif
