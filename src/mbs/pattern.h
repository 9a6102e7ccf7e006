/* The sparsity pattern of derivatives, and the entries of each element in it. (pattern.c) */
#ifndef GALPHA_MBS_PATTERN_H
#define GALPHA_MBS_PATTERN_H

#include "mbs/gauge.h"

/* The dynamics of node i by the velocities of node j: tiles xx, xφ, φx, φφ, each over the components that the
 * nodes have, column by column, all entries or the diagonal only. */
enum { GA__XX = 0, GA__XR = 1, GA__RX_ = 2, GA__RR = 3 };
typedef struct ga__mbs_pair {
  int i, j;
  int at[4];      /* first entry of the tile, −1: none */
  unsigned full;  /* bit k: tile k has all its entries; else the diagonal */
  unsigned whole; /* bit by tile: all nine entries are there, and follow each other */
  int dense;      /* 1: a node has coordinates beyond the six; all entries, column by column, from at[0] on */
  int inertia;    /* 1: i ≠ j, and M has entries there too */
} ga__mbs_pair;

/* The dynamics of a node by one of λ, ψ, x, y: one entry for each of the node's velocities. */
typedef struct ga__port {
  int node, column, at;
} ga__port;

/* Entries of one array: GA_WANT_D, Q or G. */
typedef struct ga__clear {
  unsigned array;
  int first, count;
} ga__clear;

typedef struct ga__pattern {
  ga_context *ctx;
  int n_pairs, pairs_capacity;
  ga__mbs_pair *pair; /* sorted by (i, j) once merged */
  int n_ports, ports_capacity;
  ga__port *port; /* sorted by (node, column) once merged */
  int n, capacity;
  int *row, *col;     /* entries */
  unsigned char *in;  /* [n] arrays that can be non-zero there: GA_WANT_D, Q, G; all unless excluded */
  unsigned char *set; /* [n] arrays whose entry an element always stores, so that it need not be cleared */
  int first_frame;    /* first row and column of carried frames */
  int on_frames;      /* set to 1 when an entry of a carried frame is added or found */
  int n_clear;
  ga__clear *clear; /* entries that are added to, and have to be cleared first */
} ga__pattern;

/* First stage: elements declare what they will write. tiles, full: bits as in ga__mbs_pair. */
ga_status ga__want_pair(ga__pattern *pt, int i, int j, unsigned tiles, unsigned full);
ga_status ga__want_port(ga__pattern *pt, int node, int column);
/* All entries of the dynamics of node i by node j, of any kinds; inertia 1: by accelerations too. */
ga_status ga__want_block(ga__mbs_model *b, int i, int j, int inertia);
/* All pairs of the gauge's two nodes (which may be the ground or equal) that its curvature K and, with
 * products 1, g gᵀ can fill. */
ga_status ga__want_gauge(ga__mbs_model *b, const ga__gauge *g, int products);
/* Second stage, after ga__pattern_merge(): elements find their entries. */
int ga__find_pair(ga__pattern *pt, int i, int j); /* index, −1: none (the ground) */
int ga__find_port(ga__pattern *pt, int node, int column);
/* An entry that belongs to one element alone. Returns its index, −1: out of memory. */
int ga__own_entry(ga__pattern *pt, int row, int col);
/* Such entries for n rows by all velocities of a node, row after row; transposed: for n columns. Returns the
 * first, −1: out of memory. */
int ga__own_rows(ga__pattern *pt, const ga__node *node, int row, int n, int transposed);
/* Declares that an element stores these entries whenever the arrays are wanted; that nobody ever writes them.
 * arrays: GA_WANT_D, Q, G. */
void ga__set_entries(ga__pattern *pt, unsigned arrays, int first, int count);
void ga__exclude_entries(ga__pattern *pt, unsigned arrays, int first, int count);
/* Last stage: lists the entries that have to be cleared before an evaluation. And clears them. */
ga_status ga__list_clears(ga__mbs_model *b);
void ga__clear_entries(const ga__pattern *pt, const ga_jacobian *J);

/* array[tile] += scale · T, T[9] over all three components each. */
void ga__add_tile(double *array, const ga__mbs_model *b, int pair, int tile, double scale, const double T[9]);
/* array[pair] += scale · M: M[rows × columns], row-major, with 6 rows for a node that has components of a
 * twist (missing ones are left out), n for one with other coordinates; columns likewise. */
void ga__add_block(double *array, const ga__mbs_model *b, int pair, double scale, const double *M);
/* The same for two nodes with all components of a twist: M[6 × 6] with rows of this stride. */
void ga__add_twist_block(double *array, const ga__mbs_model *b, int pair, const double *M, int stride);
/* Adds scale · K, K[144] of a gauge between nodes a and b, in the tiles of the mask of ga__gauge_tiles().
 * pair[4] = aa, ab, ba, bb; a and b may be the same node. */
void ga__add_curvature(double *array, const ga__mbs_model *b, const int pair[4], unsigned tiles, double scale,
                       const double K[144]);
/* Adds scale · left rightᵀ, of two gauges between the same nodes. */
void ga__add_product(double *array, const ga__mbs_model *b, const int pair[4], double scale,
                     const double left[12], const double right[12]);
/* array[port entries] += scale · wrench; wrench: [6], for a node with other coordinates [n]. */
void ga__add_port(double *array, const ga__mbs_model *b, int port, double scale, const double *wrench);

ga_status ga__pattern_merge(ga__mbs_model *b); /* between the two stages */
/* Once the system has its copy: frees row, col, in and set; n stays. */
void ga__pattern_free_entries(ga__pattern *pt);
void ga__pattern_free(ga__pattern *pt);

#endif
