/* Measures: their texts (measure_text.c), what is seen along a run (measures.c), what follows from it
 * (measure_values.c). */
#ifndef GALPHA_STUDY_MEASURES_H
#define GALPHA_STUDY_MEASURES_H

#include "study/study_impl.h"

typedef enum ga__measure_kind {
#define GA__MEASURE_ENUM(name, word, least, most, text) GA__MEASURE_##name,
  GA_MEASURE_LIST(GA__MEASURE_ENUM)
#undef GA__MEASURE_ENUM
      GA__N_MEASURES
} ga__measure_kind;

/* Values in a step are seen at GA__PARTS + 1 times, its ends among them. */
enum { GA__PARTS = 4, GA__POINTS = GA__PARTS + 1, GA__MEASURE_NOTE = 160 };

/* Of all measures together. Values of expressions are signals, then the time, then parameters; those of
 * measures are calls, then parameters. */
enum { GA__MOST_SIGNALS = 256, GA__MOST_CALLS = 64 };

/* What has to be seen of an expression. */
enum { GA__SEE_EXTREMES = 1, GA__SEE_SUMS = 2, GA__SEE_HISTORY = 4 };

typedef struct ga__piece_seen { /* a step, or a jump, of length 0 */
  double t, h, y[GA__POINTS];
} ga__piece_seen;

typedef struct ga__channel_seen { /* one expression along a run */
  ga_expr *e;
  ga_dimension dimension;
  int see;
  double now, first,
      peak; /* value at the last time and at the start; the largest |value| at all times seen */
  double best[2], t_best[2]; /* largest and smallest value, and their times */
  double sum, squares;       /* integrals of its distance from `first`, and of the square of that */
  ga__piece_seen *piece;     /* [n] */
  long n, room;
  char note[GA__MEASURE_NOTE]; /* why it has no value at some time; "": it always has one */
} ga__channel_seen;

typedef struct ga__slot { /* one call of a measure */
  ga__measure_kind kind;
  int channel, n_args;
  double arg[2];
  int depends; /* 1: an argument depends on parameters */
  ga_dimension dimension;
  double value, scale;
  int side;     /* of crossings: +1 above the level, −1 below, 0 not known yet */
  double count; /* of crossings */
  char note[GA__MEASURE_NOTE];
} ga__slot;

typedef struct ga__measure_text { /* one text */
  ga_expr *e;
  char unit[GA_TEXT_PIECE];
  int same; /* 1: its dimension is that of a call in it, whose size its errors are compared with */
  char note[GA__MEASURE_NOTE];
} ga__measure_text;

struct ga_measures {
  ga_context *ctx;
  const ga_machine *machine;
  int n, n_slots, n_channels, n_signals, n_parameters;
  ga__measure_text *measure;           /* [n] */
  ga__slot *slot;                      /* [n_slots] */
  ga__channel_seen *channel;           /* [n_channels] */
  int *signal;                         /* [n_signals] of the machine */
  const ga_study_parameter *parameter; /* of the caller, while it is created */
  double *x;                           /* [GA__MOST_SIGNALS + 1 + n_parameters] */
  double *z;                           /* [GA__MOST_CALLS + n_parameters] */
  ga_dimension *dimension_x, *dimension_z;
  double *y;         /* [GA__POINTS × n_channels] */
  double *state;     /* q, v, vdot, λ, ψ, x, y of a state within a step */
  double t_start, t; /* [s] */
  double missing;    /* [s] 0, or the first time at which a step could not be seen inside */
  int started;
  struct ga__slopes *slopes; /* NULL: derivatives are not wanted */
  struct ga__seeds *seeds;   /* NULL: likewise by an adjoint */
};

/* What is looked at: a stepper at the end of a step. */
typedef struct ga__view {
  ga_measures *m;
  ga_stepper *st;
  const ga_meter *meter;
} ga__view;

/* Values of all channels at a time within the last step, into y[n_channels]; the state is left in *s, whose
 * arrays are those of the stepper or of m->state. */
ga_status ga__measures_look(const ga__view *w, double t, double *y, ga_state *s);
/* The value of the polynomial through the values seen of a piece, at s in [0, 1]. */
double ga__piece_inside(const ga__piece_seen *p, double s);
/* The first time at which the values of a channel reach `level` on their way, which goes up or down. */
double ga__channel_reach(const ga__channel_seen *c, double level, int up);

extern const char *const ga__measure_words[GA__N_MEASURES];

/* Fills measures, slots, channels and signals from texts. */
ga_status ga__measures_read(ga_measures *m, const char *const *texts, int *which);
/* The value of a slot at the end of a run, with its scale and note. */
void ga__slot_end(const ga_measures *m, ga__slot *s);

/* ---- Derivatives by parameters (measure_slopes.c); nothing happens where they are not wanted ---- */

void ga__slopes_destroy(ga_measures *m);
/* At the start, with the values of channels known. */
ga_status ga__slopes_start(const ga__view *w);
/* Before channels see a step: their slopes at the times t[GA__POINTS]. */
ga_status ga__slopes_piece(const ga__view *w, const double *t, int inside);
/* A part of the integral of (y − origin)^power, by the rule of Boole: y at quarters of [a, b]. */
ga_status ga__slopes_leaf(const ga__view *w, int channel, int power, double a, double b);
/* A channel has seen a step; before: its best values and their times until then. */
ga_status ga__slopes_channel(const ga__view *w, int channel, const double *t, const ga__piece_seen *piece,
                             const double best[2], const double t_best[2]);
/* A slot has its value at a time within the step; crosses 1: the value is that time. */
ga_status ga__slopes_slot(const ga__view *w, int slot, double at, const double *t, int crosses);
/* At the end, with all values known. */
ga_status ga__slopes_end(ga_measures *m);

/* ---- The same by an adjoint (measure_seeds.c) ---- */

void ga__seeds_destroy(ga_measures *m);
ga_status ga__seeds_start(const ga__view *w);
void ga__seeds_piece(const ga__view *w, double end, int inside);
ga_status ga__seeds_leaf(const ga__view *w, int channel, int power, double a, double b);
/* A slot has its value at a given time within the step. */
ga_status ga__seeds_slot(const ga__view *w, int slot, double t);
ga_status ga__seeds_end(ga_measures *m);

#endif
