/* The system as the core calls it (system.c). */
#ifndef GALPHA_CORE_SYSTEM_H
#define GALPHA_CORE_SYSTEM_H

#include "base/base_impl.h"
#include "galpha/core.h"

#include <string.h>

/* The callbacks of a system; the table in system.c gives name, block and place of each. */
typedef enum ga__fn {
  GA__MASS = 0,
  GA__FORCE,
  GA__PHI,
  GA__PHI_DOT,
  GA__PHI_ACC,
  GA__K,
  GA__K_ACC,
  GA__STATE,
  GA__OUTPUT,
  GA__OUTPUT_GUESS,
  GA__N_FN
} ga__fn;

struct ga_system {
  ga_context *ctx;
  ga_system_def
      def; /* factors and pattern: own copies; user: what callbacks get, the work space if there is one */
  void *given_user;        /* as in the definition */
  void *work;              /* NULL: none */
  const ga_system *shared; /* whose arrays these are; NULL: its own (ga__system_open) */
  ga_group *group;
  int nq, nv, n;
  int size[GA_N_BLOCKS];
  int start[GA_N_BLOCKS];
  int n_entries;     /* of the pattern; n² when dense */
  int *row, *col;    /* [n_entries] */
  unsigned char *in; /* [n_entries] arrays that can be non-zero there, GA_WANT_D, Q, G */
  int *cluster;      /* [nv] bodies of the velocities; NULL: not known */
  int *linked;       /* [nv] one of the velocities that constraints tie it to, the same for all of these */
  int *continuum; /* [nv] of bodies that M couples, as nodes of a beam, one velocity for all of them; −1: of
                     none; NULL: there are none */
  int n_b;        /* entries in rows LAMBDA, columns V: those of B and G */
  int *b_entry;   /* [n_b] which entries these are */
  int *b_row;     /* [n_b] their rows, counted from LAMBDA's first */
  int *b_col;     /* [n_b] their columns */
};

/* A system as one that evaluates it sees it: its constant arrays, with another context and work space. */
ga_status ga__system_open(ga_context *ctx, const ga_system *sys, const ga_system **out);
void ga__system_close(const ga_system **sys); /* the system opened may be gone already; NULL is fine */
/* Around a call of the user's: what the callback stores in the context goes behind the core's own words.
 * `before` is what ga__listen() returned. 0 for code 0; else GA_RETRY_CALLBACK or GA_ERR_CALLBACK with a
 * message. */
ga_status ga__listen(ga_context *ctx);
ga_status ga__answer(const ga_system *sys, const char *name, int block, double t, int code, ga_status before);
/* Calls a callback that the system has; GA_RETRY_CALLBACK, GA_ERR_CALLBACK or GA_RETRY_NAN with a message. */
ga_status ga__call(const ga_system *sys, ga__fn fn, const ga_point *p, double *out);
/* Inner unknowns n[n_inner] at p->q; their change when q moves by dq. Errors as above. */
ga_status ga__inner_values(const ga_system *sys, const ga_point *p, double *n);
ga_status ga__inner_step(const ga_system *sys, const ga_point *p, const double *dq, double *dn);
int ga__has(const ga_system *sys, ga__fn fn);
/* An entry of the pattern in V and V that M can have. */
int ga__has_mass(const ga_system *sys, int e);
ga_equation_block ga__block_of(const ga_system *sys, int row,
                               int *index); /* of a row or column of the whole matrix */
/* "what 'name' (block index)" of row or column i, GA_BLOCK_ETA included, for messages. */
void ga__describe(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size);
/* The same of the unknown that belongs to it: 'name' (coordinate index), lambda index, ... */
void ga__describe_unknown(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size);
static inline void ga__copy_numbers(double *to, const double *from, int n)
{
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}
/* First index of a component that is not finite, or -1. */
int ga__first_bad(const double *a, int n);
double ga__max_abs(const double *a, int n,
                   int *where); /* NaN if one is not finite; where may be NULL; -1 if n is 0 */

/* Every part that the system has must be there, and q on its group (check.c). */
ga_status ga__check_point(const ga_system *sys, const ga_point *p, const char *caller);

#endif
