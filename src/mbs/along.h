/* Parts along a line, as beams and cables: where their nodes are. (along.c) */
#ifndef GALPHA_MBS_ALONG_H
#define GALPHA_MBS_ALONG_H

#include "mbs/mbs_impl.h"

/* The places of nodes along a part of a length: both ends, every marker on it, ends of loads, and evenly
 * between these, with about as many elements as requested. *s [*n + 1] is allocated; the caller frees it,
 * also on failure. */
ga_status ga__along_divide(ga_machine *m, int part, double length, int elements, int *n, double **s);

/* The node for a marker at x = at along the part; refuses places beyond its ends. */
ga_status ga__along_find(ga_machine *m, int part, const double *s, int n, double at, int *node);

/* Nodes first ... first + n of a beam or cable, at s[n + 1] along it (borrowed). Returns 0: the part is
 * neither. */
typedef struct ga__along {
  int first, n;
  const double *s;
} ga__along;
int ga__along_of(const ga__mbs_model *b, int part, ga__along *out);
ga__along ga__beam_along(const ga__mbs_model *b, int part);  /* (beam.c) */
ga__along ga__cable_along(const ga__mbs_model *b, int part); /* (cable.c) */

/* Elements i between nodes first + i and first + i + 1: blocks of the pattern for each two of their nodes,
 * then pair[4 n] with their numbers. */
ga_status ga__along_want(ga__mbs_model *b, int first, int n);
void ga__along_bind(ga__mbs_model *b, int first, int n, int *pair);
/* The element that shows the section at a node, and at which of its ends. */
static inline int ga__along_element(int n, int node, int *end)
{
  *end = node == n;
  return node == n ? node - 1 : node;
}
/* column[n_nodes × size]: velocities of these nodes, as far as there is room; returns how many. */
int ga__along_columns(const ga__mbs_model *b, int first, int n_nodes, int size, int *column, int room);

/* ---- Loads along them ---- */

/* One load, on elements first ... last − 1: force and moment by length, constant along these. */
typedef struct ga__line_load {
  int part; /* that gives it: the beam or cable itself, or a line_load */
  int first, last;
  int in_section;     /* 1: in section axes, which turn */
  ga__input value[6]; /* [N/m], [N m/m] */
} ga__line_load;

typedef struct ga__line_loads {
  int n, n_nodes, first_node;
  ga__line_load *at;
  int *port; /* [n × n_nodes × 6] of those that are outputs; −1: none */
} ga__line_loads;

/* The load of the part itself, and those that parts of their own put on it. What they own is freed by
 * ga__line_loads_free(), also on failure. */
ga_status ga__line_loads_create(ga_machine *m, ga__mbs_model *b, int part, const double *s, int n,
                                int first_node, ga__line_loads *out);
void ga__line_loads_free(ga_context *ctx, ga__line_loads *loads);
ga_status ga__line_loads_want(ga__mbs_model *b, const ga__line_loads *loads);
ga_status ga__line_loads_bind(ga__mbs_model *b, ga__line_loads *loads);
/* value[6 n]: of all loads. */
int ga__line_loads_values(const ga__eval *e, const ga__line_loads *loads, double *value);
/* sum[12]: of those on element i in ground axes, then in section axes; force and moment by length. */
void ga__line_loads_sum(const ga__line_loads *loads, const double *value, int i, double sum[12]);
/* Is component c of a load an output, and does it act on element i? */
static inline int ga__line_load_feeds(const ga__line_load *load, int c, int i)
{
  return load->value[c].y >= 0 && i >= load->first && i < load->last;
}
/* Appends to column[n ...] those of loads on element i, in the order of loads and components; returns how
 * many there are then. */
int ga__line_loads_columns(const ga__mbs_model *b, const ga__line_loads *loads, int i, int *column, int n,
                           int room);
/* As ga__element_type.get_input and .unit_of_input. */
int ga__line_loads_use(const ga__line_loads *loads, int i, ga__input **in);
const char *ga__line_loads_unit(const ga__line_loads *loads, int y);

/* Node k of the n + 1 nodes in s: the length that belongs to it, half of each element next to it. */
static inline double ga__along_share(const double *s, int n, int k)
{
  return 0.5 * (s[k < n ? k + 1 : n] - s[k > 0 ? k - 1 : 0]);
}

#endif
