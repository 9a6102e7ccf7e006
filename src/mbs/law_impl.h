/* Between law.c, which gathers gauges and scatters forces, and law_kinds.c, which has the laws. */
#ifndef GALPHA_MBS_LAW_IMPL_H
#define GALPHA_MBS_LAW_IMPL_H

#include "mbs/element.h"

enum { GA__MOST_GAUGES = 6 };

typedef struct ga__law_type ga__law_type;

/* Data of an element: a force against growing gauges, F(ρ, ρ', t, y)[n]. Its gauges share their markers. */
typedef struct ga__law {
  const ga__law_type *type;
  int part;
  int n; /* gauges */
  int gauge[GA__MOST_GAUGES];
  double rest;         /* spring */
  ga__input input;     /* actuator: force; friction: level */
  ga__formula formula; /* spring; expr NULL: none */
  int may_hide;        /* 1: its force may act in a narrow range of ρ or ρ' only */
  int pair[4];
  int *port_a, *port_b; /* [formula.n_y, or 1 where input.y >= 0] −1: ground */
} ga__law;

/* A law at the point of an evaluation: gauges ρ and rates ρ' go in, forces and slopes come out. Of the
 * matrices the first n × n numbers are used, row-major: by_rho[i*n+j] = ∂F_i/∂ρ_j. */
typedef struct ga__law_eval {
  double rho[GA__MOST_GAUGES], rate[GA__MOST_GAUGES];
  double F[GA__MOST_GAUGES]; /* against growing gauges */
  double by_rho[GA__MOST_GAUGES * GA__MOST_GAUGES], by_rate[GA__MOST_GAUGES * GA__MOST_GAUGES];
  const double *by_y; /* ∂F_0/∂y of each output used; laws of several gauges use none */
  double by_input;    /* room for it where there is just one */
} ga__law_eval;

/* Energy stored, power lost for ever, power put in by what is outside of the mechanics. */
typedef struct ga__law_power {
  double stored, lost, in;
} ga__law_power;

/* What the first gauge goes through while the motion goes through a piece of a step. */
typedef struct ga__law_range {
  double rho[2], rate[2];
  const ga_piece *piece;
} ga__law_range;

/* The line between frames a and b, or a coordinate, as a definition gives it. */
typedef struct ga__law_line {
  const char *a, *b, *coordinate;
} ga__law_line;

struct ga__law_type {
  /* From the part's definition; the law is zeroed but for type and part, and input.y is −1. */
  ga_status (*resolve)(ga_machine *m, ga__mbs_model *b, ga__law *law);
  /* F, which is zero on entry; with slopes 1 also by_rho, by_rate and by_y, zero then. Returns as ga_eval_fn.
   */
  int (*force)(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes);
  int (*power)(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power);
  int (*works)(const ga__mbs_model *b,
               const ga__law *law); /* 0: it never loses power nor puts any in; NULL: always */
  int products;                     /* 1: F depends on ρ or ρ' */
  /* Damping, force and y of ga__work_term where the law does nothing else to the energy; 0: it does. NULL: it
   * always does. */
  int (*simple)(const ga__mbs_model *b, const ga__law *law, ga__work_term *work);
  /* Terms of F that may act in a narrow range of ρ or ρ' only, and bounds of one of them; 0: not known, or
   * there is none. */
  int n_terms;
  int (*bounds)(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r, double out[2]);
  /* May F jump or bend with ρ, ρ' or y, and the side of its edges that it is on, as ga_expr_side(); NULL: it
   * does not. */
  int (*has_edges)(const ga__mbs_model *b, const ga__law *law);
  int (*side)(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side);
  int (*rests_at_start)(const ga__mbs_model *b, const ga__law *law); /* 1: `rest` is that at the start */
  /* Radius by which the point of contact lies off the origin of b, against the first gauge's axis; NULL: 0.
   */
  double (*lever)(const ga__mbs_model *b, const ga__law *law);
  /* 1: gauge i is an angle at whose half turn the force jumps; NULL: none is. */
  int (*jumps)(const ga__mbs_model *b, const ga__law *law, int i);

  /* Signals: length, rate and force of a line; the force of its first gauge by this name; NULL: of all
   * gauges, as reactions are named. */
  ga__law_line (*line)(const void *def); /* NULL: it has none */
  const char *force_name;
  double sign; /* of the force as a signal; 1: against growing gauges */
  /* Shape number i; 0: there are not so many. */
  int (*shape)(const ga__mbs_model *b, const ga__law *law, int i, ga__shape_def *out);
};

const ga__law_type *ga__law_type_of(ga__part_kind kind); /* law_kinds.c */

/* Value and rate of a gauge of the machine's markers. */
void ga__gauge_rate(const ga__mbs_model *b, const ga__gauge *gauge, const ga__kin *kin, double *rho,
                    double *rate);
/* The first gauge, its rate, and how fast nodes turn that it depends on by their turning [rad/s]. */
void ga__law_gauge_rate(const ga__mbs_model *b, const ga__law *law, const ga__kin *kin, double *rho,
                        double *rate, double *turns);

#endif
