/* Meshes for tests of modal bodies: trusses of bars between points, and frames of springs between nodes that
 * turn. Include after core_rig.h. */
#ifndef GALPHA_TESTS_MODAL_RIG_H
#define GALPHA_TESTS_MODAL_RIG_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "galpha/mbs.h"

enum { MESH_NODES = 64, MESH_MOST = 6 * MESH_NODES };

/* Dense matrices, from which the sparse ones are made. */
typedef struct test_mesh {
  int n, dofs;
  double position[3 * MESH_NODES];
  double M[MESH_MOST][MESH_MOST], K[MESH_MOST][MESH_MOST];
  int n_interface, node[8];
  const char *name[8];
  ga_sparse *mass, *stiffness;
  ga_mesh mesh;
} test_mesh;

static inline test_mesh *mesh_new(int n, int dofs)
{
  test_mesh *t = calloc(1, sizeof *t);
  t->n = n;
  t->dofs = dofs;
  return t;
}

static inline ga_sparse *mesh_sparse(ga_context *ctx, int N, double (*A)[MESH_MOST])
{
  const size_t room = (size_t)N * (size_t)N;
  int *row = calloc(room, sizeof(int)), *col = calloc(room, sizeof(int)), *place = calloc(room, sizeof(int)),
      n = 0;
  ga_sparse *S = NULL;
  for (int c = 0; c < N; c++)
    for (int r = 0; r < N; r++)
      if (A[r][c] != 0.0) row[n] = r, col[n++] = c;
  if (ga_sparse_create(ctx, N, N, n, row, col, place, &S) == GA_OK)
    for (int e = 0; e < n; e++) S->value[place[e]] = A[row[e]][col[e]];
  free(row);
  free(col);
  free(place);
  return S;
}

/* Makes ->mesh of what was added. */
static inline const ga_mesh *mesh_close(ga_context *ctx, test_mesh *t)
{
  t->mass = mesh_sparse(ctx, t->n * t->dofs, t->M);
  t->stiffness = mesh_sparse(ctx, t->n * t->dofs, t->K);
  t->mesh = (ga_mesh){.n_nodes = t->n,
                      .dofs = t->dofs,
                      .position = t->position,
                      .mass = t->mass,
                      .stiffness = t->stiffness,
                      .n_interface = t->n_interface,
                      .interface_node = t->node,
                      .interface_name = t->name};
  return &t->mesh;
}

static inline void mesh_free(ga_context *ctx, test_mesh **t)
{
  ga_sparse_destroy(ctx, &(*t)->mass);
  ga_sparse_destroy(ctx, &(*t)->stiffness);
  free(*t);
  *t = NULL;
}

static inline void mesh_point(test_mesh *t, int i, double x, double y, double z, double m)
{
  const double at[3] = {x, y, z};
  memcpy(t->position + 3 * i, at, sizeof at);
  for (int c = 0; c < 3; c++) t->M[t->dofs * i + c][t->dofs * i + c] += m;
}

static inline void mesh_rotary(test_mesh *t, int i, const double I[6])
{
  const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  for (int k = 0; k < 9; k++) t->M[6 * i + 3 + k / 3][6 * i + 3 + k % 3] += I[at[k]];
}

static inline void mesh_interface(test_mesh *t, int node, const char *name)
{
  t->node[t->n_interface] = node;
  t->name[t->n_interface++] = name;
}

/* A bar of stiffness k between two points. */
static inline void mesh_bar(test_mesh *t, int i, int j, double k)
{
  double n[3], L = 0;
  const int end[2] = {t->dofs * i, t->dofs * j};
  for (int c = 0; c < 3; c++) n[c] = t->position[3 * j + c] - t->position[3 * i + c], L += n[c] * n[c];
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++)
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) t->K[end[a] + r][end[b] + c] += (a == b ? k : -k) * n[r] * n[c] / L;
}

/* A spring with stiffness D[6] between nodes that turn, its strain as seen from node i: u_j − u_i − θ_i × d,
 * θ_j − θ_i. */
static inline void mesh_spring(test_mesh *t, int i, int j, const double D[6])
{
  double B[6][12] = {{0}}, d[3];
  for (int c = 0; c < 3; c++) d[c] = t->position[3 * j + c] - t->position[3 * i + c];
  for (int c = 0; c < 6; c++) B[c][c] = -1, B[c][6 + c] = 1;
  /* −θ × d = d~ θ */
  const double S[9] = {0, -d[2], d[1], d[2], 0, -d[0], -d[1], d[0], 0};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) B[r][3 + c] += S[3 * r + c];
  for (int a = 0; a < 12; a++)
    for (int b = 0; b < 12; b++)
      for (int k = 0; k < 6; k++)
        t->K[6 * (a < 6 ? i : j) + a % 6][6 * (b < 6 ? i : j) + b % 6] += D[k] * B[k][a] * B[k][b];
}

/* A cage of seven points, all connected. */
static inline test_mesh *mesh_cage(double stiffness)
{
  static const double at[7][3] = {{0, 0, 0},     {1, 0.1, 0}, {0.2, 0.9, 0.1}, {0.1, -0.2, 1.1},
                                  {1.2, 1.1, 0}, {1, 0.2, 1}, {2.1, 0.8, 0.7}};
  test_mesh *t = mesh_new(7, 3);
  for (int i = 0; i < 7; i++) mesh_point(t, i, at[i][0], at[i][1], at[i][2], 0.3 + 0.1 * i);
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < i; j++) mesh_bar(t, i, j, stiffness * (1 + 0.1 * i + 0.03 * j));
  mesh_interface(t, 0, "root");
  mesh_interface(t, 6, "tip");
  mesh_interface(t, 3, "side");
  return t;
}

/* A bent chain of five nodes that turn, with rotary inertia without symmetry. */
static inline test_mesh *mesh_chain(double stiffness)
{
  static const double at[5][3] = {{0, 0, 0}, {0.5, 0.1, 0}, {1, 0, 0.1}, {1.4, 0.3, 0.2}, {2, 0.4, 0}};
  test_mesh *t = mesh_new(5, 6);
  for (int i = 0; i < 5; i++) {
    const double I[6] = {0.05, 0.06 + 0.01 * i, 0.07, 0.01, -0.005, 0.004};
    mesh_point(t, i, at[i][0], at[i][1], at[i][2], 0.4 + 0.1 * i);
    mesh_rotary(t, i, I);
  }
  for (int i = 0; i + 1 < 5; i++) {
    const double D[6] = {4 * stiffness, 3 * stiffness,   2 * stiffness,
                         stiffness,     0.8 * stiffness, 0.7 * stiffness};
    mesh_spring(t, i, i + 1, D);
  }
  mesh_interface(t, 0, "root");
  mesh_interface(t, 4, "tip");
  return t;
}

#endif
