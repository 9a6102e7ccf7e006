/* A machine as it is built: nodes, elements, rows, outputs, signals. (build.c) */
#ifndef GALPHA_MBS_MODEL_H
#define GALPHA_MBS_MODEL_H

#include "mbs/constraint.h"
#include "mbs/input.h"
#include "mbs/joint.h"
#include "mbs/pattern.h"
#include "mbs/probe.h"

/* What may jump with the motion: a formula, or the element of a part. (edges.c) */
typedef struct ga__edge {
  int formula; /* −1: an element */
  int part;
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

/* All signals, numbered part by part, energies last. Names and probes are made when asked for: there are
 * twenty for every body. (signal.c) */
typedef struct ga__signals {
  int n, n_turns;        /* signals; angles whose turns a meter counts */
  int *first;            /* [n_parts + 2] first signal of a part; of the energies; n */
  int *first_counted;    /* [n_parts] its first angle among those */
  int *counted_angle;    /* [n_turns] gauges of these angles, */
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

/* What is built: the machine, or a system that only serves to assemble it (assemble.c). */
typedef enum ga__stage { GA__STAGE_MACHINE = 0, GA__STAGE_POSITIONS, GA__STAGE_VELOCITIES } ga__stage;

struct ga__mbs_model {
  const ga_machine *m;
  ga__stage stage;
  ga_system *system;
  ga__list node, marker, gauge, row, slot, term, point3, axes, joint, y, formula, probe, edge;
  ga__list carried;                      /* frames on what deforms (carried.c) */
  ga__pattern condensed;                 /* the pattern of the system then; else it is that of elements */
  struct ga__condensation *condensation; /* from the one to the other (condense.c); NULL: there are none */
  int n_wide;                 /* rows, and columns, that elements write to: all unknowns, then frames */
  ga__list element;           /* of ga__element; once closed in the order of their ranks */
  int n_swept, first_unswept; /* those that offer a sweep come first; the first that acts without one */
  int unswept_inertia;        /* 1: one of these has inertia */
  int uses_kin;               /* 1: not only rigid bodies and points held together look at nodes */
  int n_frame_nodes;          /* nodes that there are before joints are created */
  int *part_node;             /* [n_parts] node of a body; −1 */
  int *part_marker;           /* [n_parts] marker of a body's own frame, or of a marker; −1 */
  int *part_joint;            /* [n_parts] ga__joint of a joint, or scalar body; −1 */
  int *part_element;          /* [n_parts] its element; −1 */
  ga__pattern pattern;
  int *y_column, *y_entry;             /* of rows of y that are probes or formulas: ga__y.first, n_columns */
  ga__body_end *end;                   /* of all point3, by node: */
  int *end_start;                      /* [nodes + 1] */
  int y_room;                          /* the most columns of a row of y */
  struct ga__time_signal *time_signal; /* [n_y] outputs that depend on time alone (time_signal.c) */
  ga_function **time_function;         /* [n_y] functions that were made for it */
  ga__signals signals;
  int nq, nv, n_lambda, n_psi, n_x, n_y;
  int n_plain_rows;                 /* rows that axes.c does not evaluate */
  ga__list lambda_label, psi_label; /* of ga__label: whose equations they are */
  int start_with_drive_speeds;      /* 1: bodies given at rest start with speeds that drives have */
  ga__kin *kin; /* [nodes] as they start; for building alone, NULL once a machine is built */
  int kin_room;
  struct ga__form *form; /* NULL: GA_FORM_SPACE, or no rigid body */
};

/* Has the part a frame that others can be fixed to? A scalar body has none. */
static inline int ga__has_frame(const ga__mbs_model *b, int part)
{
  const int marker = b->part_marker[part];
  return marker >= 0 && !GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, marker)->node)->scalar;
}

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

void ga__mbs_model_destroy(ga_context *ctx, ga__mbs_model **b); /* build.c */

/* The marker of a named frame, for `asking`'s field. */
ga_status ga__resolve_frame(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, int *marker);
/* Line a–b or coordinate, as springs, actuators and friction have them. */
ga_status ga__resolve_line(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *a,
                           const char *b_frame, const char *coordinate, int *gauge);
ga_status ga__label_lambda(ga_machine *m, ga__mbs_model *b, int part, const char *label,
                           int *lambda); /* a new row of Φ */
ga_status ga__label_psi(ga_machine *m, ga__mbs_model *b, int part, const char *label,
                        int *psi); /* a new row of k */

/* Names and values of signals (signal.c). */
ga_status ga__signals_create(ga_machine *m, ga__mbs_model *b); /* once nothing more is resolved */
void ga__signals_free(ga_context *ctx, ga__mbs_model *b);
int ga__signal_find(const ga__mbs_model *b, const char *name); /* −1: none */
void ga__signal_name_of(const ga__mbs_model *b, const ga__probe *probe, char *text,
                        size_t size); /* of an output y */

#endif
