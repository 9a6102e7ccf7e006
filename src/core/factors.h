/* The iteration matrices and their factors: what they were made for, how old they are, and what they were
 * when the step under way began (factors.c). */
#ifndef GALPHA_CORE_FACTORS_H
#define GALPHA_CORE_FACTORS_H

#include "core/assembly.h"

/* Forms of the iteration matrix. The reduced one lacks terms that often do not matter, and costs less. A
 * family has one of them, or both and a rule for which is used. */
typedef enum ga__matrix_form { GA__COMPLETE = 0, GA__REDUCED, GA__N_FORMS } ga__matrix_form;

typedef struct ga__matrix {
  ga__assembly assembly; /* K NULL: there is no such matrix */
  ga_lu *lu;
} ga__matrix;

/* Which form is used, and for how long yet (terms.c, weighted.c). */
typedef struct ga__choice {
  ga__matrix_form form;
  int wait;  /* steps with the complete form until the reduced one is tried again, */
  int span;  /* how many these were at their beginning, */
  int since; /* and steps with the reduced form since then, up to a few more than matter */
} ga__choice;

/* What is known of the factors in use. */
typedef struct ga__factor_state {
  int valid;         /* 1: they are those of a matrix for steps of size h */
  double h;          /* [s] */
  int age;           /* steps ended since they were made */
  int fresh_steps;   /* steps yet to begin with new factors without asking */
  double rate;       /* contraction seen with them, 0: none yet */
  ga__choice choice; /* of the form */
  int leaves_out;    /* 1: of a matrix that may leave constraints out, */
  int version;       /* and this counts what it leaves out */
} ga__factor_state;

typedef struct ga__factors {
  ga__matrix matrix[2][GA__N_FORMS]; /* plain ones, and those that may leave constraints out */
  int n;                             /* rows of all but the reduced form of two sets of unknowns */
  ga__factor_state now, kept;        /* kept: as the step under way found them */
  int worn;           /* 1: good for looking into the last step, but the next one begins with new ones */
  int by_convergence; /* 1: both forms are there, and terms.c chooses */
  int form_changed;   /* 1: the reduced form has just given way to the complete one */
  int renewed;        /* 1: renewed since the step began; K_kept has the matrix of the old ones */
  int restore;        /* 1: K_kept is to be factored again before the next step uses the factors */
  double *K_kept[2];  /* values of the matrix in use when the step began: plain, leaving out */
} ga__factors;

/* -- Matrices -- */
ga_status ga__factors_create(ga_stepper *st); /* the plain ones, and the saddle-point matrix */
void ga__factors_destroy(ga_stepper *st);
ga__matrix *ga__matrix_in_use(ga_stepper *st);
/* Places in K_kept that the plain matrices need. */
size_t ga__factors_room(const ga_stepper *st);
/* The matrices for the relations in st->red become those in use; they are built where they are not there. */
ga_status ga__factors_for_relations(ga_stepper *st);

/* -- Factors -- */
ga_status ga__factor(ga_stepper *st);    /* the matrix in use; with counts, names and warnings */
void ga__factors_drop(ga_stepper *st);   /* they are of no use any more */
void ga__factors_forget(ga_stepper *st); /* so that nothing is left of earlier steps but the state */

/* -- Rollback -- */
void ga__factors_keep(ga_stepper *st);        /* at the beginning of a step */
void ga__factors_save_matrix(ga_stepper *st); /* before the first renewal in it */
/* When the step is taken back, or has failed. */
void ga__factors_restore(ga_stepper *st, int failed);
ga_status ga__factors_refactor(ga_stepper *st); /* makes up for a restore, where the factors are to be used */

/* -- The form of the matrix, chosen by how the iteration converges (terms.c) -- */
int ga__terms_lacking(const ga_stepper *st); /* Does the matrix in use lack terms that could be had? */
void ga__terms_take_all(ga_stepper *st);     /* it does, and the iteration is slow or fails for it */
void ga__terms_try_fewer(ga_stepper *st);    /* where it is time to; new factors are needed in any case */
void ga__terms_count_step(ga_stepper *st);

#endif
