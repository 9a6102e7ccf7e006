/* Matrices for the tests and measurements of the lin layer: random ones, and those that Newton's method meets
 * on chains of pendulums. Header only; the caller's includes come first. */
#ifndef LIN_MATRICES_H
#define LIN_MATRICES_H

#include "../random.h"
#include "galpha/lin.h"
#include <stdlib.h>

/* Entries in any order; those at the same place are added. */
typedef struct lin_list {
  int n, count, room;
  int *row, *col;
  double *value;
} lin_list;

static inline void lin_add(lin_list *list, int row, int col, double value)
{
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 64;
    list->row = realloc(list->row, (size_t)list->room * sizeof *list->row);
    list->col = realloc(list->col, (size_t)list->room * sizeof *list->col);
    list->value = realloc(list->value, (size_t)list->room * sizeof *list->value);
    if (!list->row || !list->col || !list->value) abort();
  }
  list->row[list->count] = row;
  list->col[list->count] = col;
  list->value[list->count++] = value;
}

/* The matrix of a list, which it frees. NULL when out of memory. */
static inline ga_sparse *lin_finish(ga_context *ctx, lin_list *list)
{
  ga_sparse *A = NULL;
  int *place = malloc(((size_t)list->count + 1) * sizeof *place);
  if (place && !ga_sparse_create(ctx, list->n, list->n, list->count, list->row, list->col, place, &A)) {
    for (int e = 0; e < list->count; e++) A->value[place[e]] += list->value[e];
  }
  free(place);
  free(list->row);
  free(list->col);
  free(list->value);
  return A;
}

/* Every entry present, uniform. */
static inline ga_sparse *lin_full(ga_context *ctx, int n, rig_random r)
{
  lin_list list = {.n = n};
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) lin_add(&list, i, j, rig_uniform(&r, -1, 1));
  }
  return lin_finish(ctx, &list);
}

/* About per_column uniform entries a column, one of them on a hidden permutation, so that the structure is
 * regular although most of the diagonal is zero. */
static inline ga_sparse *lin_scattered(ga_context *ctx, int n, int per_column, rig_random r)
{
  lin_list list = {.n = n};
  const int shift = rig_below(&r, n);
  for (int j = 0; j < n; j++) {
    lin_add(&list, (j + shift) % n, j, 2 + rig_uniform(&r, -1, 1));
    for (int k = 1; k < per_column; k++) lin_add(&list, rig_below(&r, n), j, rig_uniform(&r, -1, 1));
  }
  return lin_finish(ctx, &list);
}

/* Kinds of chain: degrees of freedom of a body, rows of a joint, whether the hidden constraints are solved
 * too. */
typedef struct lin_chain_kind {
  const char *name;
  int dof, joint, stabilized;
} lin_chain_kind;

static const lin_chain_kind lin_chains[] = {
    {"planar", 3, 2, 0},
    {"planar stabilized", 3, 2, 1},
    {"spatial", 6, 3, 0},
    {"spatial stabilized", 6, 3, 1},
};
enum { LIN_N_CHAINS = sizeof lin_chains / sizeof *lin_chains };

/* The saddle-point matrix of a chain,
 *   [ M Bᵀ ]        or, stabilized index-2 with u as first unknown,   [ M  Bᵀ  0     ]
 *   [ B 0  ]                                                          [ B  0  -B Bᵀ  ]
 *                                                                     [ B' 0  -h B Bᵀ],
 * M positive definite by bodies, joint b between bodies b-1 and b, B' = 2B and a little more. */
static inline ga_sparse *lin_chain(ga_context *ctx, const lin_chain_kind *kind, int bodies, rig_random r)
{
  const int d = kind->dof, m = kind->joint, k = d * bodies, all = m * bodies;
  lin_list list = {.n = k + all + (kind->stabilized ? all : 0)};
  double *B = calloc((size_t)all * 2 * (size_t)d, sizeof *B); /* row: body b-1, then body b */
  if (!B) return NULL;
  for (int row = 0; row < all; row++) {
    const int b = row / m;
    for (int s = b > 0 ? 0 : 1; s < 2; s++) {
      for (int i = 0; i < d; i++) {
        const double value = i < m ? (i == row % m ? (s ? 1 : -1) : 0) : rig_uniform(&r, -1, 1) / 2;
        if (value == 0) continue;
        const int col = (b - 1 + s) * d + i;
        B[(row * 2 + s) * d + i] = value;
        lin_add(&list, col, k + row, value);
        lin_add(&list, k + row, col, value);
        if (kind->stabilized) lin_add(&list, k + all + row, col, 2 * value + 1e-3 * rig_uniform(&r, -1, 1));
      }
    }
  }
  for (int b = 0; b < bodies; b++) {
    for (int i = 0; i < d; i++) {
      lin_add(&list, b * d + i, b * d + i, 1);
      for (int j = m; j < i; j++) {
        const double value = 0.1 * rig_uniform(&r, -1, 1);
        lin_add(&list, b * d + i, b * d + j, value);
        lin_add(&list, b * d + j, b * d + i, value);
      }
    }
  }
  for (int p = 0; kind->stabilized && p < all; p++) {
    for (int q = 0; q < all; q++) {
      const int apart = q / m - p / m;
      if (apart < -1 || apart > 1) continue;
      double product = 0; /* joints p and q share the bodies that both rows hold */
      for (int s = 0; s < 2; s++) {
        const int t = s - apart;
        for (int i = 0; t >= 0 && t < 2 && i < d; i++)
          product += B[(p * 2 + s) * d + i] * B[(q * 2 + t) * d + i];
      }
      lin_add(&list, k + p, k + all + q, -product);
      lin_add(&list, k + all + p, k + all + q, -1e-3 * product);
    }
  }
  free(B);
  return lin_finish(ctx, &list);
}

#endif
