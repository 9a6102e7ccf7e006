/* A truss with the geometric stiffness of its bars, for tests. Include after cmocka.h. */
#ifndef GALPHA_TESTS_STIFFENING_RIG_H
#define GALPHA_TESTS_STIFFENING_RIG_H

#include "mbs/modal.h"
#include "modal_rig.h"

/* The cage with the stiffening matrices of all its loads: a bar with the force N adds N/l (1 − n nᵀ), forces
 * by a dense solution. */
typedef struct stiff_cage {
  test_mesh *t;
  ga_sparse *matrix[GA_MESH_SPIN_LOADS + 3 * 8];
  int n;
} stiff_cage;

static inline double bar_stiffness(double k, int i, int j)
{
  return k * (1 + 0.1 * i + 0.03 * j);
}

static inline void add_bar_stiffening(const test_mesh *t, int i, int j, double k, const double *u,
                                      double (*K)[MESH_MOST])
{
  double d[3], l = 0, N = 0;
  for (int c = 0; c < 3; c++) d[c] = t->position[3 * i + c] - t->position[3 * j + c], l += d[c] * d[c];
  l = sqrt(l);
  for (int c = 0; c < 3; c++) N += k * d[c] / l * (u[3 * i + c] - u[3 * j + c]);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      const double x = N / l * ((r == c) - d[r] * d[c] / (l * l));
      K[3 * i + r][3 * i + c] += x, K[3 * j + r][3 * j + c] += x;
      K[3 * i + r][3 * j + c] -= x, K[3 * j + r][3 * i + c] -= x;
    }
}

static inline stiff_cage cage_open(ga_context *ctx, double k, double scale)
{
  static double K[MESH_MOST][MESH_MOST];
  stiff_cage s = {.t = mesh_cage(k)};
  ga__mesh_work w;
  ga__held h;
  double f[21], u[21];
  mesh_close(ctx, s.t);
  s.n = ga__mesh_n_loads(&s.t->mesh);
  assert_int_equal(ga__mesh_open(&w, ctx, &s.t->mesh), GA_OK);
  assert_int_equal(ga__relief_create(&w, &h), GA_OK);
  for (int load = 0; load < s.n; load++) {
    memset(K, 0, sizeof K);
    ga__mesh_load(&w, load, f);
    assert_int_equal(ga__relief_solve(&h, f, u), GA_OK);
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < i; j++) add_bar_stiffening(s.t, i, j, scale * bar_stiffness(k, i, j), u, K);
    s.matrix[load] = mesh_sparse(ctx, 21, K);
  }
  ga__held_destroy(&h);
  ga__mesh_close(&w);
  return s;
}

static inline void cage_close(ga_context *ctx, stiff_cage *s)
{
  for (int i = 0; i < s->n; i++) ga_sparse_destroy(ctx, &s->matrix[i]);
  mesh_free(ctx, &s->t);
}

#endif
