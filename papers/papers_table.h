/* The figures and experiments of the five papers: each is one row of a table (ab07.c, jn_nh.c, acb15.c,
 * ba08.c, jn08.c, and beyond.c for what they leave open). One engine runs them: `galpha papers` draws the
 * results, tests/verify asserts them. */
#ifndef GALPHA_PAPERS_TABLE_H
#define GALPHA_PAPERS_TABLE_H

#include "galpha/model.h"
#include "reference.h"

enum {
  PP_SERIES = 7,      /* most runs of a figure, */
  PP_QUANTITIES = 10, /* quantities, */
  PP_LEVELS = 12,     /* step sizes, */
  PP_FACTS = 8,       /* facts, */
  PP_PANELS = 4,      /* panels, */
  PP_TEXT = 256       /* and bytes of a message */
};

/* What is measured: components of the state of a problem, or what a model's signals correspond to in its
 * reference. */
typedef enum pp_block {
  PP_Q = 0, /* q as flat numbers */
  PP_V,
  PP_VDOT,
  PP_LAMBDA,
  PP_PSI,
  PP_X,
  PP_Y,
  PP_A,      /* the auxiliary a, at t + (αm − αf) h */
  PP_ENERGY, /* E − E(0) of a problem */
  PP_ALONE   /* signals without a reference */
} pp_block;

typedef struct pp_quantity {
  const char *label; /* as gnuplot writes it; NULL ends the list */
  const char *unit;
  pp_block block;
  int first, count;    /* count 0: one component */
  const char *signals; /* of models: "axle.fx -axle.fy", a minus for the opposite sign; NULL: of a problem */
  double factor;       /* of drawn values, for degrees and the like; 0: 1 */
} pp_quantity;

typedef struct pp_series {
  const char *label;    /* NULL ends the list */
  const char *problem;  /* its equations in C, and the reference; NULL: there is no reference */
  const char *model;    /* file in examples/models that is run; NULL: the problem itself */
  const char *settings; /* as in a model's `simulation`: "method=index3 rho=0.7" */
  const char *set;      /* a parameter of the model, "gain=0"; NULL: none */
  ga_form form;         /* of models */
  double h;             /* [s] 0: the figure's */
  double split;         /* 0: constant steps; else alternately split·2h and (1−split)·2h */
  double project_at;    /* [s] 0: never; else the velocity is projected once, at this time */
  ga_projection projection;
  double from, until;          /* [s] errors count in this interval; until 0: to the end */
  int simulated;               /* 1: by a simulator, with breaks and checks within steps */
  double slope[PP_QUANTITIES]; /* expected; 0: not checked */
  const char *claim; /* where the paper expects another slope, or says nothing: why; NULL: as it says */
} pp_series;

typedef enum pp_kind {
  PP_ORDERS,   /* errors over step sizes, logarithmic */
  PP_MOTION,   /* quantities over time */
  PP_PHASE,    /* the second quantity over the first */
  PP_SNAPSHOTS /* lines through points at some times */
} pp_kind;

/* A number of a run over time that has to be in [low, high]. */
typedef enum pp_measure {
  PP_END,       /* last value */
  PP_END_ERROR, /* |value − reference| at the end */
  PP_LARGEST,   /* |value| in [from, until] */
  PP_LARGEST_ERROR,
  PP_RATIO, /* largest of `series` over largest of `other`, in [from, until] */
  PP_FLIPS  /* changes of sign of the error among the last 20 steps */
} pp_measure;

typedef struct pp_fact {
  const char *text; /* what it shows; NULL ends the list */
  pp_measure measure;
  int series, other, quantity;
  double from, until; /* [s] until 0: the end */
  double low, high;
} pp_fact;

typedef struct pp_panel { /* of a figure over time */
  const char *label;      /* of its axis, with the unit */
  unsigned quantities;    /* as bits; 0 ends the list */
  unsigned series;        /* as bits; 0: all */
} pp_panel;

typedef struct pp_fixed {
  const char *name;
  double x, y; /* [m] */
} pp_fixed;

typedef struct pp_figure {
  const char *name;  /* "000-fig3" */
  const char *title; /* of the picture */
  const char *caption;
  const char *remark; /* what differs from the paper, or is wrong there; NULL: nothing */
  pp_kind kind;
  pp_series series[PP_SERIES];
  pp_quantity quantities[PP_QUANTITIES];
  double t_end, h;    /* [s] */
  double from;        /* [s] first time drawn */
  int levels;         /* PP_ORDERS: number of step sizes, each half the one before */
  int fit;            /* level whose slope to the one before is checked; 0: the last */
  double band;        /* how far a slope may be off; 0: 0.15 */
  int maximum;        /* 1: largest errors over the run; 0: at its end */
  int relative;       /* 1: errors divided by the 2-norm of the reference */
  int with_reference; /* PP_MOTION: 1: the reference is drawn too */
  pp_panel panels[PP_PANELS];
  const char *lines, *dashed;  /* PP_SNAPSHOTS: names of points, lines separated by ';' */
  const pp_fixed *fixed;       /* points that do not move, up to a row without a name; NULL: none */
  double times[PP_PANELS * 2]; /* [s] of snapshots */
  pp_fact facts[PP_FACTS];
  int brief; /* 1: part of the short selection */
} pp_figure;

typedef struct pp_paper {
  const char *name, *title; /* "000", authors and title */
  const pp_figure *figures;
  int n;
} pp_paper;

/* Paper i; NULL at the end. */
const pp_paper *pp_paper_at(int i);
/* Figure i of all papers; NULL at the end. */
const pp_figure *pp_figure_at(int i);
const pp_figure *pp_figure_find(const char *name);

/* gnuplot's markup of titles, "x_4", "h^2", "10^{-5}", as plain text: x₄, h², 10⁻⁵. Ends with NUL; cut if text is
 * too short. */
void pp_plain(char *text, size_t size, const char *markup);

/* How a scheme of the papers is had exactly: options of `galpha run`, which are keys of `simulation` too. */
typedef struct pp_scheme {
  const char *paper, *scheme, *options, *note;
} pp_scheme;
const pp_scheme *pp_scheme_at(int i); /* NULL at the end */
typedef struct pp_erratum {
  const char *paper, *text;
} pp_erratum;
const pp_erratum *pp_erratum_at(int i); /* NULL at the end */

/* ---- Results ---- */

typedef struct pp_curve { /* of a quantity of a run: errors over steps, or values over time */
  int n;
  double *x, *y;
  double *exact;            /* the reference at the same times; NULL: none */
  double slope;             /* PP_ORDERS: the observed one; NaN: not known */
  double slopes[PP_LEVELS]; /* between neighbours; [0] NaN */
} pp_curve;

typedef struct pp_result {
  const pp_figure *figure;
  int n_series, n_quantities;
  pp_curve curve[PP_SERIES][PP_QUANTITIES];
  double fact[PP_FACTS];
  int n_checks, n_failed;
  long steps;
  char failure[GA_ERROR_TEXT + PP_TEXT]; /* empty: every run reached its end */
} pp_result;

/* References that were computed, shared by all figures. */
typedef struct pp_library pp_library;
pp_library *pp_library_create(const char *models); /* folder of models, borrowed; NULL: out of memory */
void pp_library_destroy(pp_library **library);

/* Called while a figure is run, with the part that is done; NULL: not. */
typedef void (*pp_progress_fn)(void *user, double done);

/* Runs a figure and checks its slopes and facts. The result has to be freed also after failures. */
void pp_figure_run(const pp_figure *f, pp_library *library, pp_progress_fn progress, void *user,
                   pp_result *r);
void pp_result_free(pp_result *r);
/* 1: the slope or fact is as expected; also where nothing is expected. */
int pp_slope_good(const pp_figure *f, int series, int quantity, double observed);
int pp_fact_good(const pp_fact *fact, double observed);
int pp_count_series(const pp_figure *f);
int pp_count_quantities(const pp_figure *f);
double pp_series_step(const pp_figure *f, const pp_series *s); /* [s] the coarsest */

/* Internal: settings from "name=value name=value" into *o. 0, or 1 with the reason in text. */
int pp_settings_read(const char *given, ga_run_settings *o, char *text, size_t size);

#endif
