/* Systems: data, and calls of callbacks (system.c). */
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
      def; /* factors and pattern: own copies; user: passed to callbacks, the work space if there is one */
  void *given_user;        /* as in the definition */
  void *work;              /* NULL: none */
  const ga_system *shared; /* owner of the arrays; NULL: its own (ga__system_open) */
  ga_group *group;
  int nq, nv, n;
  int size[GA_N_BLOCKS];
  int start[GA_N_BLOCKS];
  int n_entries;     /* of the pattern; n² when dense */
  int *row, *col;    /* [n_entries] */
  unsigned char *in; /* [n_entries] arrays that can be non-zero there, GA_WANT_D, Q, G */
  int *cluster;      /* [nv] bodies of the velocities; NULL: not known */
  double *scale;     /* [nv] bounds of |q| in tolerances, 0: none; NULL: 0 for all */
  char *light;       /* [nv] 1: of a body without inertia; NULL: none */
  int *linked;       /* [nv] representative of the velocities connected by constraints */
  int *continuum;    /* [nv] representative of bodies coupled by M, as nodes of a beam; −1, NULL: none */
  int n_b;           /* entries in rows LAMBDA, columns V: those of B and G */
  int *b_entry;      /* [n_b] which entries these are */
  int *b_row;        /* [n_b] their rows, counted from LAMBDA's first */
  int *b_col;        /* [n_b] their columns */
};

/* A system opened for one evaluator: it shares the constant arrays, with its own context and work space. */
ga_status ga__system_open(ga_context *ctx, const ga_system *sys, const ga_system **out);
void ga__system_close(const ga_system **sys); /* the original may be destroyed already; NULL is allowed */
/* Before and after a callback: an error that the callback stores in the context is added to the core's
 * message. `before`: result of ga__begin_callback(). Returns 0 for code 0; else GA_RETRY_CALLBACK or
 * GA_ERR_CALLBACK with an error. */
ga_status ga__begin_callback(ga_context *ctx);
ga_status ga__end_callback(const ga_system *sys, const char *name, int block, double t, int code,
                           ga_status before);
/* Calls a callback that the system has; GA_RETRY_CALLBACK, GA_ERR_CALLBACK or GA_RETRY_NAN with a message. */
ga_status ga__call(const ga_system *sys, ga__fn fn, const ga_point *p, double *out);
/* Inner unknowns n[n_inner] at p->q; their change when q moves by dq. Errors as above. */
ga_status ga__inner_values(const ga_system *sys, const ga_point *p, double *n);
ga_status ga__inner_step(const ga_system *sys, const ga_point *p, const double *dq, double *dn);
int ga__has(const ga_system *sys, ga__fn fn);
/* Whether an entry of the pattern in V and V can be non-zero in M. */
int ga__has_mass(const ga_system *sys, int e);
ga_equation_block ga__block_of(const ga_system *sys, int row,
                               int *index); /* row or column of the whole matrix */
/* "what 'name' (block index)" of row or column i, GA_BLOCK_ETA included, for messages. */
void ga__describe(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size);
/* The same for the unknown of this equation: 'name' (coordinate index), lambda index, ... */
void ga__describe_unknown(const ga_system *sys, ga_equation_block block, int index, char *text, size_t size);
static inline void ga__copy_numbers(double *to, const double *from, int n)
{
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}
/* First index of a component that is not finite, or -1. */
int ga__first_bad(const double *a, int n);
double ga__max_abs(const double *a, int n,
                   int *where); /* NaN if one is not finite; where may be NULL; -1 if n is 0 */

/* All arrays that the system needs must be given, and q must be on its group (check.c). */
ga_status ga__check_point(const ga_system *sys, const ga_point *p, const char *caller);

#endif
