/* The iteration matrices and their factors: step size, age, and their state at the beginning of the current
 * step (factors.c). */
#ifndef GALPHA_CORE_FACTORS_H
#define GALPHA_CORE_FACTORS_H

#include "core/helpers.h"

/* Forms of the iteration matrix. The reduced one lacks terms that often do not matter, and costs less. A
 * family has one of them, or both and a rule for which is used. */
typedef enum ga__matrix_form { GA__COMPLETE = 0, GA__REDUCED, GA__N_FORMS } ga__matrix_form;

enum { GA__MOST_STAGES = 5, GA__MOST_ORDER = 2 * GA__MOST_STAGES, GA__MOST_FACTORS = GA__MOST_STAGES + 1 };

typedef struct ga__matrix {
  ga__assembly assembly; /* K NULL: there is no such matrix */
  ga_lu *lu;
  ga_lu *further[GA__MOST_FACTORS -
                 1]; /* of the same matrix with other values, if a family has several stages */
} ga__matrix;

/* The form in use, and for how long (terms.c, weighted.c). */
typedef struct ga__choice {
  ga__matrix_form form;
  int wait;  /* steps with the complete form until the reduced one is tried again, */
  int span;  /* their initial number, */
  int since; /* and steps with the reduced form since then, up to a limit */
} ga__choice;

/* State of the factors in use. */
typedef struct ga__factor_state {
  int valid;         /* 1: the factors belong to steps of size h */
  double h;          /* [s] */
  int age;           /* steps since they were made */
  int fresh_steps;   /* number of further steps that begin with new factors */
  double rate;       /* observed contraction; 0: none yet */
  ga__choice choice; /* of the form */
  /* -- of collocation (collocation_reuse.c) -- */
  int n_stages;   /* how many there are, */
  int rule;       /* order of the step that made them; negative: with sweeps from node to node */
  int span;       /* steps that the last pause of reuse took */
  double work;    /* of the step that made them, residuals and solutions of nodes, */
  double spent;   /* and what they have cost so far: to make them, and further work of later steps */
  int leaves_out; /* 1: of the matrix with excluded constraints, */
  int version;    /* version of the excluded set */
  unsigned char
      slot[GA__MOST_FACTORS]; /* of two in K_kept, with several stages: where values of a stage are */
} ga__factor_state;

typedef struct ga__factors {
  ga__matrix matrix[2][GA__N_FORMS]; /* plain, and with excluded constraints */
  int made;                          /* 1: there are matrices */
  int n;                             /* rows of all but the reduced form of two sets of unknowns */
  int stages;                        /* factors kept at the same time, at most */
  ga__helpers *helpers;              /* threads; NULL: none */
  ga__factor_state now, kept;        /* kept: at the beginning of the current step */
  int worn;           /* 1: still usable within the last step, but the next one begins with new factors */
  int by_convergence; /* 1: there are both forms, and terms.c chooses */
  int form_changed;   /* 1: just changed from the reduced to the complete form */
  int renewed;        /* 1: renewed in the current step; K_kept has the matrix of the old factors */
  int restore;        /* 1: K_kept must be factored again before the next use */
  /* Values of the matrix at the beginning of the step: plain, with exclusions. With several stages two slots
   * for each: one has those of the beginning, and where they are renewed in the step the other the new ones.
   */
  double *K_kept[2];
} ga__factors;

/* -- Matrices -- */
/* The plain ones, and the saddle-point matrix, unless they are there. */
ga_status ga__factors_create(ga_stepper *st);
void ga__factors_destroy(ga_stepper *st);
ga__matrix *ga__matrix_in_use(ga_stepper *st);
/* Switches to the matrices for the relations in st->red; creates them if needed. Nothing in a start that no
 * step follows. */
ga_status ga__factors_for_relations(ga_stepper *st);

/* -- Factors -- */
ga_status ga__factor(ga_stepper *st); /* the matrix in use; with counts, names and warnings */
/* The same into the factors of a stage; 0: lu itself, otherwise further[stage − 1]. */
ga_status ga__factor_stage(ga_stepper *st, int stage);
ga_lu *ga__stage_factors(const ga__matrix *m, int stage);
/* The assembly that the factors of a stage belong to, and the thread that makes them, 0: the calling one. */
ga__assembly *ga__stage_assembly(ga_stepper *st, int stage);
int ga__stage_thread(const ga_stepper *st, int stage);
/* After ga_lu_factor() by a thread: what ga__factor_stage() does beside. */
void ga__factors_count(ga_stepper *st, int stage);
void ga__factors_drop(ga_stepper *st);   /* marks the factors as invalid */
void ga__factors_forget(ga_stepper *st); /* discards everything of earlier steps except the state */

/* -- Rollback -- */
void ga__factors_keep(ga_stepper *st);        /* at the beginning of a step */
void ga__factors_save_matrix(ga_stepper *st); /* before the first renewal in it */
/* With several stages: before each matrix is made, and behind its factorisation. */
void ga__factors_open_stage(ga_stepper *st, int stage);
void ga__factors_save_stage(ga_stepper *st, int stage);
/* After a step was taken back or has failed. */
void ga__factors_restore(ga_stepper *st, int failed);
ga_status ga__factors_refactor(ga_stepper *st); /* refactors after a restore, before use */

/* -- Repeating steps by another stepper of the same system and options -- */
/* Numbers that the present factors are made from; 0: there are none, or not without the relations of
 * constraints. */
size_t ga__factors_count_values(const ga_stepper *st);
void ga__factors_save(const ga_stepper *st, double *value);
/* value NULL: the next step makes its own; else they are factored before their next use. */
void ga__factors_load(ga_stepper *st, const ga__factor_state *state, const double *value);

/* -- The form of the matrix, chosen by how the iteration converges (terms.c) -- */
int ga__terms_lacking(const ga_stepper *st); /* 1: the reduced form is in use, and the complete one exists */
void ga__terms_take_all(ga_stepper *st); /* changes to the complete form, as the iteration is slow or fails */
void ga__terms_try_fewer(
    ga_stepper *st); /* tries the reduced form again if it is time; new factors follow anyway */
void ga__terms_count_step(ga_stepper *st);

#endif
