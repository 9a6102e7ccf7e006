/* Interface between law.c, which evaluates gauges and adds forces, and law_kinds.c, which has the laws. */
#ifndef GALPHA_MBS_LAW_IMPL_H
#define GALPHA_MBS_LAW_IMPL_H

#include "mbs/element.h"

enum { GA__MOST_GAUGES = 6 };

typedef struct ga__law_type ga__law_type;

/* Data of an element: forces F(ρ, ρ', t, y)[n] along n gauges, positive where they oppose an increase of ρ.
 * All gauges have the same markers. */
typedef struct ga__law {
  const ga__law_type *type;
  int part;
  int n; /* gauges */
  int gauge[GA__MOST_GAUGES];
  double rest;         /* spring */
  ga__input input;     /* actuator: force; friction: level */
  ga__formula formula; /* spring; expr NULL: none */
  int may_hide;        /* 1: its force may act only in a narrow range of ρ or ρ' */
  int pair[4];
  int *port_a, *port_b; /* [formula.n_y, or 1 where input.y >= 0] −1: ground */
} ga__law;

/* Evaluation of a law. In: gauges ρ and rates ρ'. Out: forces and slopes. The matrices are n × n, row-major:
 * by_rho[i*n+j] = ∂F_i/∂ρ_j. */
typedef struct ga__law_eval {
  double rho[GA__MOST_GAUGES], rate[GA__MOST_GAUGES];
  double F[GA__MOST_GAUGES]; /* opposing an increase of ρ */
  double by_rho[GA__MOST_GAUGES * GA__MOST_GAUGES], by_rate[GA__MOST_GAUGES * GA__MOST_GAUGES];
  const double *by_y; /* ∂F_0/∂y of each output used; laws of several gauges use none */
  double by_input;    /* storage for by_y if there is just one */
} ga__law_eval;

typedef struct ga__law_power {
  double stored, lost, in; /* [J] energy, [W] dissipated, [W] put in */
  int fades;               /* 1: all that is stored is being lost */
} ga__law_power;

/* Range of the first gauge and its rate over a piece of a step. */
typedef struct ga__law_range {
  double rho[2], rate[2];
  const ga_piece *piece;
} ga__law_range;

/* The line between frames a and b, or a coordinate, as a definition gives it. */
typedef struct ga__law_line {
  const char *a, *b, *coordinate;
} ga__law_line;

struct ga__law_type {
  /* Fills the law from the part's definition. On entry type, part and input.y = −1 are set, the rest is 0. */
  ga_status (*resolve)(ga_machine *m, ga__mbs_model *b, ga__law *law);
  /* Computes F and, with slopes 1, by_rho, by_rate and by_y; all are zero on entry. Returns as ga_eval_fn. */
  int (*force)(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes);
  int (*power)(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power);
  /* 0: the law is conservative, it neither dissipates nor puts in power. NULL: never conservative. */
  int (*works)(const ga__mbs_model *b, const ga__law *law);
  int products; /* 1: F depends on ρ or ρ' */
  /* Fills damping, force and y of a simple ga__work_term. Returns 0: the law is not simple. NULL: never. */
  int (*simple)(const ga__mbs_model *b, const ga__law *law, ga__work_term *work);
  /* Terms of F that may act only in a narrow range of ρ or ρ', and bounds of one of them; returns 0: unknown,
   * or there is no such term. */
  int n_terms;
  int (*bounds)(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r, double out[2]);
  /* 1: F may jump or have a corner in ρ, ρ' or y; and the side it is on, as ga_expr_side(). NULL: it does
   * not. */
  int (*has_edges)(const ga__mbs_model *b, const ga__law *law);
  int (*side)(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side);
  int smooth;  /* 1: F varies as ρ and ρ' do, unless may_hide */
  int (*rests_at_start)(const ga__mbs_model *b, const ga__law *law); /* 1: `rest` is the initial length */
  /* Distance of the contact point from the origin of b, opposite to the first gauge's axis; NULL: 0. */
  double (*lever)(const ga__mbs_model *b, const ga__law *law);
  /* 1: gauge i is an angle at whose half turn the force jumps. NULL: none is. */
  int (*jumps)(const ga__mbs_model *b, const ga__law *law, int i);

  /* Signals: length and rate of a line; forces. */
  ga__law_line (*line)(const void *def); /* NULL: it has no line */
  int (*count)(const void *def);         /* number of its forces, where they have no name of their own */
  const char *force_name; /* of the first gauge's force; NULL: forces of all gauges, fx, fy, ... */
  double sign;            /* of the force as a signal; 1: opposing an increase of ρ */
  double (*depth)(const ga__mbs_model *b, const ga__law *law, double rho); /* a second signal; NULL: none */
  /* Shape number i; returns 0: no more. */
  int (*shape)(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out);
};

const ga__law_type *ga__law_type_of(ga__part_kind kind); /* law_kinds.c */
extern const ga__law_type ga__stop_law;                  /* stop.c */

/* The definition of a law's part. */
#define GA__LAW_DEF(type, model, law) ((const type *)(model)->m->part[(law)->part].def)
/* Adds φ(x) to sum and, where slope is not NULL, φ'(x) to slope. φ may be NULL. */
int ga__law_add_function(const ga__eval *e, const ga__law *law, const char *field, const ga_function *f,
                         double x, double *sum, double *slope);
/* ∫ φ from 0 to x. */
int ga__law_integral(const ga_function *f, double x, double *out);

/* Value and rate of a gauge. */
void ga__gauge_rate(const ga__mbs_model *b, const ga__gauge *gauge, const ga__kin *kin, double *rho,
                    double *rate);
/* Value and rate of the first gauge; turns: [rad/s] angular speed of nodes whose rotation it depends on. */
void ga__law_gauge_rate(const ga__mbs_model *b, const ga__law *law, const ga__kin *kin, double *rho,
                        double *rate, double *turns);

#endif
