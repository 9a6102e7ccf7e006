/* Carried frames: their motion, and the values of elements on them.
 *
 * Elements see a carried frame as a node: they add wrenches p to its six rows, which come after all unknowns.
 * With w = T v, a = T v' + b, b = T' v:
 *
 *   rows      r = r_own + Tᵀ p
 *   Φ'', k'   at v' = 0, where a = b: those of elements at a = 0, plus B b, k_w b
 *   inertia   M v' = Tᵀ M_s T v', f = Tᵀ (f_s − M_s b)
 *
 * condense.c transfers derivatives. */
#include "mbs/carried.h"
#include "mbs/element.h"

#include <stdlib.h>
#include <string.h>

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static int n_of(const ga__node *node)
{
  return node->vector ? node->n : 6;
}

enum { MOST_CARRIERS = 8 };

/* ---- Creation ---- */

ga_status ga__carried_add(ga_machine *m, ga__mbs_model *b, int part, int number, int n_carriers,
                          const int *carrier, int *index)
{
  if (n_carriers > MOST_CARRIERS)
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                           (ga__facts){.field = "nodes that one frame moves with",
                                       GA__NUMBERS({n_carriers, NULL}, {MOST_CARRIERS, NULL})});
  b->carried.size = sizeof(ga__carried);
  ga__carried *c = ga__list_add(m->ctx, &b->carried);
  if (!c) return GA_ERR_MEMORY;
  *c = (ga__carried){.part = part, .number = number, .n_carriers = n_carriers};
  c->carrier = ga__alloc(m->ctx, (size_t)n_carriers, sizeof *c->carrier);
  if (!c->carrier) return ga__no_memory(m->ctx, "a frame on what deforms");
  for (int i = 0; i < n_carriers; i++) {
    c->carrier[i] = carrier[i];
    c->n += n_of(node_at(b, carrier[i]));
  }
  const int at = b->carried.n - 1;
  const ga_status status = ga__node_add_carried(m, b, part, at, index);
  if (!status) ga__carried_at(b, at)->node = *index;
  return status;
}

void ga__carried_number(ga__mbs_model *b)
{
  const int behind = b->nv + b->n_lambda + b->n_psi + b->n_x + b->n_y;
  for (int i = 0; i < b->carried.n; i++)
    GA__AT(b->node, ga__node, ga__carried_at(b, i)->node)->v = behind + 6 * i;
  b->n_wide = behind + 6 * b->carried.n;
  b->pattern.first_frame = behind;
}

ga_status ga__carried_list_columns(ga_context *ctx, const ga__mbs_model *b, ga__carried *c)
{
  c->column = ga__alloc(ctx, (size_t)c->n, sizeof *c->column);
  c->self = ga__alloc(ctx, (size_t)c->n * (size_t)c->n, sizeof *c->self);
  if (!c->column || !c->self) return ga__no_memory(ctx, "a frame on what deforms");
  for (int i = 0, at = 0; i < c->n_carriers; i++) {
    const ga__node *node = node_at(b, c->carrier[i]);
    for (int k = 0; k < n_of(node); k++, at++)
      c->column[at] = node->vector ? node->v + k : node->column[k] < 0 ? -1 : node->v + node->column[k];
  }
  return GA_OK;
}

/* ---- Motion ---- */

static void list_carriers(const ga__mbs_model *b, const ga__carried *c, const double *q, const double *v,
                          const double *vdot, const ga__kin *kin, ga__carrier *out)
{
  for (int i = 0; i < c->n_carriers; i++) {
    const ga__node *node = node_at(b, c->carrier[i]);
    out[i] = (ga__carrier){.kin = node->vector ? NULL : &kin[c->carrier[i]]};
    if (!node->vector) continue;
    out[i].q = q ? q + node->q : node->own;
    out[i].v = q ? (v ? v + node->v : NULL) : node->own + node->n;
    out[i].vdot = vdot ? vdot + node->v : NULL;
  }
}

/* At the point of an evaluation; q NULL: at the start. */
static void move_frame(const ga__mbs_model *b, const ga__carried *c, const double *q, const double *v,
                       const double *vdot, const ga__kin *kin, ga__carried_motion *out)
{
  ga__carrier carrier[MOST_CARRIERS];
  const ga__element *el = ga__element_of(b, c->part);
  list_carriers(b, c, q, v, vdot, kin, carrier);
  el->type->carry(b, el, c->number, carrier, out);
}

void ga__carried_kin(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                     ga__kin *kin)
{
  for (int i = 0; i < b->carried.n; i++) {
    const ga__carried *c = ga__carried_at(b, i);
    ga__carried_motion m = {.T = NULL};
    move_frame(b, c, q, v, vdot, kin, &m);
    kin[c->node] = m.kin;
  }
}

void ga__carried_pose(const ga__mbs_model *b, int node, const double *q, ga__kin *out)
{
  const ga__carried *c = ga__carried_at(b, node_at(b, node)->carried - 1);
  const ga__element *el = ga__element_of(b, c->part);
  ga__carrier carrier[MOST_CARRIERS];
  ga__kin kin[MOST_CARRIERS];
  ga__carried_motion m = {.T = NULL};
  for (int i = 0; i < c->n_carriers; i++) {
    const ga__node *on = node_at(b, c->carrier[i]);
    carrier[i] = (ga__carrier){.kin = on->vector ? NULL : &kin[i], .q = q + on->q};
    if (!on->vector) ga__kin_pose(on, q + on->q, &kin[i]);
  }
  el->type->carry(b, el, c->number, carrier, &m);
  *out = m.kin;
}

void ga__carried_initial(const ga__mbs_model *b, int node, ga__kin *kin)
{
  const ga__carried *c = ga__carried_at(b, node_at(b, node)->carried - 1);
  ga__carried_motion m = {.T = NULL};
  for (int i = 0; i < c->n_carriers; i++) ga__kin_initial(b, c->carrier[i], kin);
  move_frame(b, c, NULL, NULL, NULL, kin, &m);
  kin[node] = m.kin;
}

void ga__carried_free(ga_context *ctx, ga__mbs_model *b)
{
  for (int i = 0; i < b->carried.n; i++) {
    void *const owned[] = {ga__carried_at(b, i)->carrier, ga__carried_at(b, i)->column,
                           ga__carried_at(b, i)->self};
    for (int k = 0; k < 3; k++) ga__free(ctx, owned[k]);
  }
  ga__condensation_free(ctx, b);
  ga__free(ctx, b->carried.at);
}

/* ---- Work space ---- */

static size_t most_numbers(const ga__mbs_model *b)
{
  size_t n = 0;
  for (int i = 0; i < b->carried.n; i++) {
    const size_t width = (size_t)ga__carried_at(b, i)->n;
    n += 4 * 6 * width + width * width;
  }
  return n;
}

static int most_velocities(const ga__mbs_model *b)
{
  int most = 0;
  for (int i = 0; i < b->carried.n; i++)
    if (ga__carried_at(b, i)->n > most) most = ga__carried_at(b, i)->n;
  return most;
}

/* Lengths of the arrays of a ga__carried_space, in the order of its members. */
enum { N_ARRAYS = 10 };
static void list_lengths(const ga__mbs_model *b, size_t length[N_ARRAYS])
{
  const size_t wide = (size_t)b->n_wide, entries = (size_t)b->pattern.n;
  const size_t all[N_ARRAYS] = {wide,
                                wide,
                                (size_t)b->nv,
                                entries,
                                entries,
                                entries,
                                entries,
                                entries,
                                6 * (size_t)most_velocities(b),
                                (size_t)(b->n_lambda + b->n_psi)};
  memcpy(length, all, sizeof all);
}

size_t ga__carried_space_size(const ga__mbs_model *b)
{
  if (b->carried.n == 0) return 0;
  size_t length[N_ARRAYS], numbers = most_numbers(b);
  list_lengths(b, length);
  for (int i = 0; i < N_ARRAYS; i++) numbers += length[i];
  return sizeof(ga__carried_space) + (size_t)b->carried.n * sizeof(ga__carried_motion) +
         (size_t)b->node.n * sizeof(ga__kin) + numbers * sizeof(double);
}

ga__carried_space *ga__carried_space_in(const ga__mbs_model *b, void *block)
{
  ga__carried_space *s = block;
  s->motion = (ga__carried_motion *)(s + 1);
  s->kin = (ga__kin *)(s->motion + b->carried.n);
  double *at = (double *)(s->kin + b->node.n);
  double **const array[N_ARRAYS] = {&s->wide, &s->more, &s->zero, &s->D,       &s->Q,
                                    &s->G,    &s->by_w, &s->by_a, &s->product, &s->rate};
  size_t length[N_ARRAYS];
  list_lengths(b, length);
  for (int i = 0; i < N_ARRAYS; at += length[i++]) *array[i] = at;
  for (int i = 0; i < b->carried.n; i++) {
    const int n = ga__carried_at(b, i)->n;
    ga__carried_motion *m = &s->motion[i];
    double **const matrix[] = {&m->T, &m->rate_by_q, &m->bias_by_v, &m->acc_by_q};
    for (int k = 0; k < 4; k++, at += 6 * n) *matrix[k] = at;
    m->force_by_q = at;
    at += n * n;
    m->wrench = s->wide + node_at(b, ga__carried_at(b, i)->node)->v;
  }
  return s;
}

void ga__carried_eval(const ga__eval *e, int only_T)
{
  ga__carried_space *s = e->work->carried;
  for (int i = 0; i < e->b->carried.n; i++) {
    s->motion[i].only_T = only_T;
    move_frame(e->b, ga__carried_at(e->b, i), e->p->q, e->p->v, e->p->vdot, e->kin, &s->motion[i]);
  }
}

void ga__carried_sum(const ga__mbs_model *b, const ga__carried_space *s, double *out)
{
  memcpy(out, s->wide, (size_t)b->nv * sizeof *out);
  for (int i = 0; i < b->carried.n; i++) {
    const ga__carried *c = ga__carried_at(b, i);
    const double *p = s->motion[i].wrench;
    for (int k = 0; k < c->n; k++)
      for (int r = 0; r < 6 && c->column[k] >= 0; r++)
        out[c->column[k]] += s->motion[i].T[r * c->n + k] * p[r];
  }
}

/* b = T' v: acceleration at v' = 0. */
static void bias_of(const ga__eval *e, int i, double bias[6])
{
  const ga__carried_space *s = e->work->carried;
  ga__carried_motion m = {.T = NULL};
  ga__kin *kin = e->work->carried->kin;
  for (int k = 0; k < ga__carried_at(e->b, i)->n_carriers; k++) {
    const int node = ga__carried_at(e->b, i)->carrier[k];
    kin[node] = e->kin[node];
    memset(kin[node].acc, 0, sizeof kin[node].acc);
  }
  move_frame(e->b, ga__carried_at(e->b, i), e->p->q, e->p->v, s->zero, kin, &m);
  memcpy(bias, m.kin.acc, sizeof m.kin.acc);
}

/* ---- Values ---- */

/* M_s a of elements without a sweep: at a = T v', or at a = b of the frames and 0 of all other nodes. */
static void inertia_at(const ga__eval *e, int at_bias)
{
  ga__carried_space *s = e->work->carried;
  ga__eval at = *e;
  ga_point p = *e->p;
  at.p = &p;
  if (at_bias) p.vdot = s->zero;
  double bias[6];
  for (int i = 0; i < e->b->carried.n; i++) { /* before kin is used for all nodes */
    bias_of(e, i, bias);
    memcpy(s->motion[i].kin.acc, bias, sizeof bias);
  }
  memcpy(s->kin, e->kin, (size_t)e->b->node.n * sizeof *s->kin);
  for (int i = 0; at_bias && i < e->b->node.n; i++) memset(s->kin[i].acc, 0, sizeof s->kin[i].acc);
  for (int i = 0; i < e->b->carried.n; i++) {
    double *acc = s->kin[ga__carried_at(e->b, i)->node].acc;
    for (int k = 0; k < 6; k++) acc[k] = at_bias ? s->motion[i].kin.acc[k] : acc[k] - s->motion[i].kin.acc[k];
  }
  at.kin = s->kin;
  memset(s->wide, 0, (size_t)e->b->n_wide * sizeof *s->wide);
  if (at_bias)
    ga__unswept_mass(&at, s->wide);
  else
    ga__elements_mass(&at, s->wide);
}

void ga__carried_mass(const ga__eval *e, double *out)
{
  ga__carried_eval(e, 1);
  inertia_at(e, 0);
  ga__carried_sum(e->b, e->work->carried, out);
}

int ga__carried_force(const ga__eval *e, double *f)
{
  ga__carried_space *s = e->work->carried;
  const ga__mbs_model *b = e->b;
  ga__carried_eval(e, 1);
  if (b->unswept_inertia) {
    inertia_at(e, 1);
    memcpy(s->more, s->wide, (size_t)b->n_wide * sizeof *s->wide);
  }
  const int status = ga__elements_force(e, s->wide);
  for (int i = 0; b->unswept_inertia && i < b->n_wide; i++) s->wide[i] -= s->more[i];
  ga__carried_sum(b, s, f);
  return status;
}

/* out += rate(w = b) − rate(w = 0) of the frames: the part of a rate that is linear in w, at w = b. rate: at
 * e, with the twists of `at` */
static int add_bias(const ga__eval *e, int n, double *out,
                    int (*rate)(const ga__eval *e, const ga__eval *at, double *out))
{
  ga__carried_space *s = e->work->carried;
  ga__eval at = *e;
  for (int i = 0; i < e->b->carried.n; i++) bias_of(e, i, s->motion[i].kin.acc);
  at.kin = s->kin;
  for (int with = 1; with >= 0; with--) {
    memcpy(s->kin, e->kin, (size_t)e->b->node.n * sizeof *s->kin);
    for (int i = 0; i < e->b->node.n; i++) memset(s->kin[i].w, 0, sizeof s->kin[i].w);
    for (int i = 0; with && i < e->b->carried.n; i++)
      memcpy(s->kin[ga__carried_at(e->b, i)->node].w, s->motion[i].kin.acc, 6 * sizeof(double));
    const int status = rate(e, &at, s->rate);
    if (status) return status;
    for (int i = 0; i < n; i++) out[i] += with ? s->rate[i] : -s->rate[i];
  }
  return 0;
}

static int phi_dot(const ga__eval *e, const ga__eval *at, double *out)
{
  (void)e;
  return ga__elements_phi(at, out, 1);
}

int ga__carried_phi_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_lambda, out, phi_dot);
}

int ga__carried_k_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_psi, out, ga__elements_k_along);
}
