/* Matrices of bodies and joints for the tests of the lin layer, with what is known of their unknowns:
 * partners and clusters, as ga__order_bodies() takes them. Header only; the caller's includes come first. */
#ifndef LIN_BODIES_H
#define LIN_BODIES_H

#include "lin_matrices.h"
#include <math.h>
#include <string.h>

/* Rows of a constraint between two bodies, b = -1: with the ground. */
typedef struct lin_joint {
  int a, b, rows;
} lin_joint;

enum { LIN_DOF_MOST = 16 };

typedef struct lin_bodies {
  int n_bodies, n_joints;
  /* Further unknowns, with an entry on the diagonal; the even ones act on the body that acts on them, the
   * last third are coupled to no body. */
  int n_states;
  int second;  /* 1: a second set of multipliers, which makes the matrix block triangular */
  int springs; /* 1: bodies that share a joint are coupled in M too, 2: one way only */
  double wild; /* how far constraints are from unit ones; from about 0.5 on they grow dependent */
  double mass_unit, length_unit; /* 0: 1 */
  double orders; /* masses from 10^-orders to 10^orders, lengths from 10^(-2/3 orders) to 10^(1/3 orders) */
  int *dof;      /* [n_bodies] */
  lin_joint *joint; /* [n_joints] */
  int *first;       /* [n_bodies + 1] column of a body */
  int *row;         /* [n_joints + 1] first row of a joint among all */
  double *mass, *length;
  double *B[2]; /* [rows][2][LIN_DOF_MOST] constraints, and those of the other equation */
  int n;
  int *partner, *cluster; /* [n] */
} lin_bodies;

typedef enum lin_shape { LIN_CHAIN, LIN_TREE, LIN_HUB, LIN_LOOP, LIN_PARTS, LIN_N_SHAPES } lin_shape;

static inline void *lin_get(size_t count, size_t size)
{
  void *block = calloc(count ? count : 1, size);
  if (!block) abort();
  return block;
}

/* Bodies of dof velocities, each held by a joint of the rows given; loops close with one more. */
static inline lin_bodies lin_bodies_new(lin_shape shape, int n_bodies, int dof, int rows, rig_random *r)
{
  lin_bodies m = {.n_bodies = n_bodies, .n_joints = n_bodies, .wild = 0.2};
  m.dof = lin_get((size_t)n_bodies, sizeof *m.dof);
  m.joint = lin_get((size_t)n_bodies + 1, sizeof *m.joint);
  for (int i = 0; i < n_bodies; i++) {
    int other = i - 1;
    if (shape == LIN_TREE && i > 0) other = rig_below(r, i);
    if (shape == LIN_HUB && i > 0) other = 0;
    if (shape == LIN_PARTS && i % 3 == 0) other = -1;
    m.dof[i] = dof;
    m.joint[i] = (lin_joint){i, other, rows};
  }
  if (shape == LIN_LOOP && n_bodies > 2)
    m.joint[m.n_joints++] = (lin_joint){0, n_bodies - 1, dof - rows < rows ? dof - rows : rows};
  return m;
}

static inline void lin_bodies_free(lin_bodies *m)
{
  void *const block[] = {m->dof,    m->joint, m->first, m->row,     m->mass,
                         m->length, m->B[0],  m->B[1],  m->partner, m->cluster};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) free(block[i]);
  memset(m, 0, sizeof *m);
}

static inline double *lin_constraint(const lin_bodies *m, int set, int row, int side)
{
  return m->B[set] + ((size_t)row * 2 + (size_t)side) * LIN_DOF_MOST;
}

/* Whether a velocity is one of rotation; in the plane the last of three is. */
static inline int lin_turns(int dof, int i)
{
  return dof == 3 ? i == 2 : i >= (dof + 1) / 2;
}

static inline void lin_number(lin_bodies *m)
{
  m->first = lin_get((size_t)m->n_bodies + 1, sizeof *m->first);
  m->row = lin_get((size_t)m->n_joints + 1, sizeof *m->row);
  for (int i = 0; i < m->n_bodies; i++) m->first[i + 1] = m->first[i] + m->dof[i];
  for (int j = 0; j < m->n_joints; j++) m->row[j + 1] = m->row[j] + m->joint[j].rows;
  const int v = m->first[m->n_bodies], all = m->row[m->n_joints];
  m->n = v + all + m->n_states + (m->second ? all : 0);
  m->partner = lin_get((size_t)m->n, sizeof *m->partner);
  m->cluster = lin_get((size_t)m->n, sizeof *m->cluster);
  for (int c = 0; c < m->n; c++) {
    m->partner[c] = c;
    m->cluster[c] = c < v + all + m->n_states ? -1 : -2;
  }
  for (int i = 0; i < m->n_bodies; i++)
    for (int c = m->first[i]; c < m->first[i + 1]; c++) m->cluster[c] = i;
  for (int k = 0; m->second && k < all; k++) {
    m->partner[v + k] = v + all + m->n_states + k;
    m->partner[v + all + m->n_states + k] = v + k;
  }
}

static inline void lin_draw(lin_bodies *m, rig_random *r)
{
  const size_t all = (size_t)m->row[m->n_joints];
  m->mass = lin_get((size_t)m->n_bodies, sizeof *m->mass);
  m->length = lin_get((size_t)m->n_bodies, sizeof *m->length);
  for (int set = 0; set < 2; set++) m->B[set] = lin_get(all * 2 * LIN_DOF_MOST, sizeof(double));
  for (int i = 0; i < m->n_bodies; i++) {
    const double u = rig_uniform(r, -1, 1);
    m->mass[i] = pow(10, m->orders * rig_uniform(r, -1, 1)) * (m->mass_unit > 0 ? m->mass_unit : 1);
    m->length[i] = pow(10, m->orders * (u < 0 ? 2 * u : u) / 3) * (m->length_unit > 0 ? m->length_unit : 1);
  }
  for (int j = 0; j < m->n_joints; j++)
    for (int row = m->row[j]; row < m->row[j + 1]; row++)
      for (int side = 0; side < 2; side++) {
        const int body = side ? m->joint[j].b : m->joint[j].a;
        for (int i = 0; body >= 0 && i < m->dof[body]; i++) {
          const double unit = lin_turns(m->dof[body], i) ? m->length[body] : 1;
          const double value =
              ((i == row - m->row[j]) + m->wild * rig_uniform(r, -1, 1)) * (side ? -unit : unit);
          lin_constraint(m, 0, row, side)[i] = value;
          lin_constraint(m, 1, row, side)[i] = value * (1 + 0.1 * rig_uniform(r, -1, 1));
        }
      }
}

/* M of a body: positive definite, and its units. */
static inline void lin_add_body(lin_list *list, const lin_bodies *m, int body, rig_random *r)
{
  const int d = m->dof[body], at = m->first[body];
  for (int i = 0; i < d; i++)
    for (int j = 0; j <= i; j++) {
      const double a = lin_turns(d, i) ? m->length[body] : 1, b = lin_turns(d, j) ? m->length[body] : 1;
      const double value = m->mass[body] * a * b * (i == j ? 1 : rig_uniform(r, -1, 1) / d);
      lin_add(list, at + i, at + j, value);
      if (i != j) lin_add(list, at + j, at + i, value * (1 + 0.01 * rig_uniform(r, -1, 1)));
    }
}

static inline void lin_add_spring(lin_list *list, const lin_bodies *m, const lin_joint *joint, rig_random *r)
{
  const int a = joint->a, b = joint->b;
  if (b < 0) return;
  const double k = 0.1 * fmin(m->mass[a], m->mass[b]);
  const int way = m->springs == 2 ? rig_below(r, 2) : 2;
  for (int i = 0; i < m->dof[a]; i++)
    for (int j = 0; j < m->dof[b]; j++) {
      if (lin_turns(m->dof[a], i) || lin_turns(m->dof[b], j)) continue;
      if (way != 0) lin_add(list, m->first[a] + i, m->first[b] + j, k * rig_uniform(r, -1, 1));
      if (way != 1) lin_add(list, m->first[b] + j, m->first[a] + i, k * rig_uniform(r, -1, 1));
    }
}

/* (B' W⁻¹ Bᵀ) of two rows. */
static inline double lin_product(const lin_bodies *m, int joint_p, int p, int joint_q, int q)
{
  const lin_joint *P = &m->joint[joint_p], *Q = &m->joint[joint_q];
  double sum = 0;
  for (int s = 0; s < 2; s++)
    for (int t = 0; t < 2; t++) {
      const int body = s ? P->b : P->a;
      if (body < 0 || body != (t ? Q->b : Q->a)) continue;
      for (int i = 0; i < m->dof[body]; i++) {
        const double unit = lin_turns(m->dof[body], i) ? m->length[body] : 1;
        sum += lin_constraint(m, 1, p, s)[i] * lin_constraint(m, 0, q, t)[i] / (m->mass[body] * unit * unit);
      }
    }
  return sum;
}

static inline int lin_meet(const lin_joint *p, const lin_joint *q)
{
  return p->a == q->a || p->a == q->b || (p->b >= 0 && (p->b == q->a || p->b == q->b));
}

/* Rows of the multipliers, and a zero for every one that has no entry with its partner. */
static inline void lin_add_joint(lin_list *list, const lin_bodies *m, int j)
{
  const int v = m->first[m->n_bodies], all = m->row[m->n_joints], eta = v + all + m->n_states;
  for (int row = m->row[j]; row < m->row[j + 1]; row++) {
    for (int side = 0; side < 2; side++) {
      const int body = side ? m->joint[j].b : m->joint[j].a;
      for (int i = 0; body >= 0 && i < m->dof[body]; i++) {
        const double value = lin_constraint(m, 0, row, side)[i];
        lin_add(list, m->first[body] + i, v + row, value);
        lin_add(list, m->second ? eta + row : v + row, m->first[body] + i, value);
        if (m->second) lin_add(list, v + row, m->first[body] + i, lin_constraint(m, 1, row, side)[i]);
      }
    }
    lin_add(list, m->second ? eta + row : v + row, v + row, 0);
    for (int k = 0; m->second && k < m->n_joints; k++)
      for (int q = m->row[k]; lin_meet(&m->joint[j], &m->joint[k]) && q < m->row[k + 1]; q++)
        lin_add(list, v + row, eta + q, -lin_product(m, j, row, k, q));
  }
}

static inline void lin_add_states(lin_list *list, const lin_bodies *m, rig_random *r)
{
  const int first = m->first[m->n_bodies] + m->row[m->n_joints];
  for (int k = 0; k < m->n_states; k++) {
    lin_add(list, first + k, first + k, 1.5 + rig_uniform(r, -1, 1));
    if (3 * k >= 2 * m->n_states || m->n_bodies == 0) {
      if (k > 0) lin_add(list, first + k, first + k - 1, rig_uniform(r, -1, 1));
      continue;
    }
    const int from = rig_below(r, m->n_bodies), to = k % 2 ? rig_below(r, m->n_bodies) : from;
    lin_add(list, first + k, m->first[from], rig_uniform(r, -1, 1));
    lin_add(list, m->first[to], first + k, 0.1 * m->mass[to] * rig_uniform(r, -1, 1));
  }
}

/* The matrix of
 *   [ M Bᵀ ]    or, with a second set,  [ M  Bᵀ  0        ]
 *   [ B 0  ]                            [ B' 0  -B'W⁻¹Bᵀ  ]
 *                                       [ B  0   0        ],   W the diagonal of M,
 * and states between; fills partner and cluster. The bodies are the caller's, see lin_bodies_free(). */
static inline ga_sparse *lin_bodies_matrix(ga_context *ctx, lin_bodies *m, rig_random *r)
{
  lin_number(m);
  lin_draw(m, r);
  lin_list list = {.n = m->n};
  for (int i = 0; i < m->n_bodies; i++) lin_add_body(&list, m, i, r);
  for (int j = 0; j < m->n_joints; j++) {
    if (m->springs) lin_add_spring(&list, m, &m->joint[j], r);
    lin_add_joint(&list, m, j);
  }
  lin_add_states(&list, m, r);
  return lin_finish(ctx, &list);
}

#endif
