/* Between law.c, which gathers gauges and scatters forces, and law_kinds.c, which has the laws. */
#ifndef GALPHA_MBS_LAW_IMPL_H
#define GALPHA_MBS_LAW_IMPL_H

#include "mbs/element.h"

enum { GA__MOST_GAUGES = 6 };

typedef enum ga__law_kind {
  GA__LAW_SPRING,
  GA__LAW_ACTUATOR,
  GA__LAW_FRICTION,
  GA__LAW_BUSHING,
  GA__LAW_CONTACT
} ga__law_kind;

/* Data of an element: a force against growing gauges, F(ρ, ρ', t, y)[n]. Its gauges share their markers. */
typedef struct ga__law {
  ga__law_kind kind;
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
typedef struct ga__law_at {
  double rho[GA__MOST_GAUGES], rate[GA__MOST_GAUGES];
  double F[GA__MOST_GAUGES]; /* against growing gauges */
  double by_rho[GA__MOST_GAUGES * GA__MOST_GAUGES], by_rate[GA__MOST_GAUGES * GA__MOST_GAUGES];
  const double *by_y; /* ∂F_0/∂y of each output used; laws of several gauges use none */
  double by_input;    /* room for it where there is just one */
} ga__law_at;

/* Energy stored, power lost for ever, power put in by what is outside of the mechanics. */
typedef struct ga__law_power {
  double stored, lost, in;
} ga__law_power;

/* What the first gauge goes through while the motion goes through a piece of a step. */
typedef struct ga__law_range {
  double rho[2], rate[2];
  const ga_piece *piece;
} ga__law_range;

typedef struct ga__law_type {
  /* From the part's definition; the law is zeroed but for kind and part, and input.y is −1. */
  ga_status (*resolve)(ga_machine *m, ga__mbs_model *b, ga__law *law);
  /* F, which is zero on entry; with slopes 1 also by_rho, by_rate and by_y, zero then. Returns as ga_eval_fn.
   */
  int (*force)(const ga__eval *e, const ga__law *law, ga__law_at *at, int slopes);
  int (*power)(const ga__eval *e, const ga__law *law, const ga__law_at *at, ga__law_power *power);
  int (*works)(const ga__mbs_model *b,
               const ga__law *law); /* 0: it never loses power nor puts any in; NULL: always */
  int products;                     /* 1: F depends on ρ or ρ' */
  /* Damping, force and y of ga__work_kind where the law does nothing else to the energy; 0: it does. NULL: it
   * always does. */
  int (*simple)(const ga__mbs_model *b, const ga__law *law, ga__work_kind *work);
  /* Terms of F that may act in a narrow range of ρ or ρ' only, and bounds of one of them; 0: not known, or
   * there is none. */
  int n_terms;
  int (*bounds)(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r, double out[2]);
  /* May F jump or bend with ρ, ρ' or y, and the side of its edges that it is on, as ga_expr_side(); NULL: it
   * does not. */
  int (*has_edges)(const ga__mbs_model *b, const ga__law *law);
  int (*side)(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side);
} ga__law_type;

const ga__law_type *ga__law_type_of(ga__law_kind kind);
int ga__law_kind_of(ga__part_kind kind); /* −1: not a law */

/* Value and rate of a gauge of the machine's markers. */
void ga__gauge_rate(const ga__mbs_model *b, const ga__gauge *gauge, const ga__kin *kin, double *rho,
                    double *rate);
/* The first gauge, its rate, and how fast nodes turn that it depends on by their turning [rad/s]. */
void ga__law_gauge_rate(const ga__mbs_model *b, const ga__law *law, const ga__kin *kin, double *rho,
                        double *rate, double *turns);

/* Is gauge i an angle of a bushing whose torques jump where it passes half a turn? */
int ga__bushing_jumps(const ga__mbs_model *b, const ga__law *law, int i);

/* Radius by which the point of contact lies off the origin of b, against the first gauge's axis; 0 for all
 * but balls with friction. */
double ga__law_lever(const ga__mbs_model *b, const ga__law *law);

#endif
