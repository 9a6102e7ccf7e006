/* What every example machine provides: its parts, and references computed independently.
 *
 * Each examples/machines/NAME.c defines its machines; examples/machines/main.c runs one of them from the
 * command line, tests/verify compares them with their references. */
#ifndef GALPHA_EXAMPLES_MACHINE_H
#define GALPHA_EXAMPLES_MACHINE_H

#include "galpha/galpha.h"

/* ---- Putting parts together ---- */

enum { MX_MOST_FUNCTIONS = 16 };

/* A machine under construction. After the first failure further parts are left out, so that only the end
 * needs a look at `status`. */
typedef struct mx_builder {
  ga_context *ctx;
  ga_machine *m;
  ga_status status;
  ga_function *function[MX_MOST_FUNCTIONS]; /* those that parts borrow; destroyed after the machine */
  int n_functions;
} mx_builder;

/* mx_add(b, spring, &def): ga_machine_add_spring(), unless something failed before. */
#define mx_add(b, what, def)                                                                                 \
  do {                                                                                                       \
    if (!(b)->status) (b)->status = ga_machine_add_##what((b)->m, (def));                                    \
  } while (0)

/* Short forms of parts that need little. Poses are in the ground's frame at the start, those of a marker in
 * its frame's. */
void mx_marker(mx_builder *b, const char *name, const char *frame, ga_pose pose);
void mx_joint(mx_builder *b, const char *name, ga_joint_kind kind, const char *frame_a, const char *frame_b);
void mx_joint_at(mx_builder *b, const char *name, ga_joint_kind kind, const char *body_a, const char *body_b,
                 ga_pose at);
void mx_drive(mx_builder *b, const char *name, const char *coordinate, const char *expression); /* in t */
void mx_sensor(mx_builder *b, const char *name, ga_sensor_kind kind, const char *of, const char *axes);
/* A block with its inputs, one expression each. */
void mx_block(mx_builder *b, const char *name, ga_control_block *block, const char *const *inputs);

/* At a point, with this axis z. */
ga_pose mx_pose_axis(mx_builder *b, const double at[3], const double axis[3]);
/* At a point, turned about an axis. */
ga_pose mx_pose_turned(mx_builder *b, const double at[3], const double axis[3], double angle);
/* b's pose in a's frame, seen from where a's is given. */
ga_pose mx_pose_compose(const ga_pose *a, const ga_pose *b);
ga_pose mx_pose_inverse(const ga_pose *a);

/* ---- What is known ---- */

/* `signal` and `column` are expressions (galpha/expr.h): the first in t and the machine's signals, the second
 * in the columns of examples/data/<file>.csv, or in t and the signals of the twin. */
typedef struct mx_reference {
  const char *signal; /* NULL ends the list */
  const char *column; /* NULL: only the number */
  double t, value;    /* a number at one time; t 0: none */
  double tolerance;   /* at the machine's h, on the largest error over all rows and the number */
  double order;       /* when h is halved; 0: not looked at */
} mx_reference;

enum { MX_MOST_REFERENCES = 24 };
typedef struct mx_machine mx_machine;
struct mx_machine {
  const char *name;  /* "bricard" */
  const char *title; /* one line */
  double gravity[3];
  void (*build)(const mx_machine *self, mx_builder *b); /* adds all parts */
  int variant;                                          /* for a build that serves several machines */
  double t_end, h, rho;
  double rtol;      /* 0: equal steps h; else error control, and errors are root mean squares over the rows */
  const char *file; /* of references, without folder and ending; NULL: none */
  const char *twin; /* machine that must move alike, compared at a hundred times; NULL: none */
  mx_reference reference[MX_MOST_REFERENCES];
  double energy;           /* [J] largest error of the energy balance at h, of order 2; 0: not looked at */
  int mobility, redundant; /* expected; −1: not looked at */
  const char *report;      /* what ga_machine_report() must contain; NULL: anything */
  int in_short;            /* 1: part of `verify --short` */
};

const mx_machine *mx_machine_find(const char *name);
const mx_machine *mx_machine_at(int i); /* NULL at the end */

#endif
