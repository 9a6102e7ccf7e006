/* A gauge held by a row of k in some modes. With gradient g, curvature K and twists w of both nodes: ρ' = g ·
 * w, D_q ρ' = wᵀK, ρ'' = g · w' + wᵀK w. */
#include "mbs/held.h"
#include "mbs/channel.h"
#include "mbs/coordinate.h"

#include <math.h>
#include <string.h>

#define OWN_STIFFNESS 1.0 /* [N/m] of s */
#define OWN_DAMPING 2.0   /* [N s/m] */

/* ---- Building ---- */

ga_status ga__held_create(ga_machine *m, ga__mbs_model *b, int part, const char *label, ga__held *held)
{
  int marker;
  ga_status status = ga__node_add_scalar(m, b, part, &marker);
  if (!status) status = ga__label_psi(m, b, part, label, &held->psi);
  if (status) return status;
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, held->gauge);
  held->own = GA__AT(b->marker, ga__marker, marker)->node;
  GA__AT(b->node, ga__node, held->own)->mass = 1;
  held->node[0] = GA__AT(b->marker, ga__marker, g->a)->node;
  held->node[1] = GA__AT(b->marker, ga__marker, g->b)->node;
  return GA_OK;
}

ga_status ga__held_want(ga__mbs_model *b, const ga__held *held)
{
  const ga_status status = ga__want_gauge(b, GA__AT(b->gauge, ga__gauge, held->gauge), 0);
  return status ? status : ga__want_block(b, held->own, held->own, 0);
}

ga_status ga__held_bind(ga__mbs_model *b, ga__held *held)
{
  const int row = b->nv + b->n_lambda + held->psi;
  for (int i = 0; i < 4; i++)
    held->pair[i] = ga__find_pair(&b->pattern, held->node[i / 2], held->node[i % 2]);
  held->own_pair = ga__find_pair(&b->pattern, held->own, held->own);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, held->node[i]);
    held->A[i] = held->At[i] = -1;
    if (held->node[i] == 0) continue;
    held->A[i] = ga__own_rows(&b->pattern, node, row, 1, 0);
    held->At[i] = ga__own_rows(&b->pattern, node, row, 1, 1);
    if (held->A[i] < 0 || held->At[i] < 0) return GA_ERR_MEMORY;
  }
  held->own_A = ga__own_rows(&b->pattern, GA__AT(b->node, ga__node, held->own), row, 1, 0);
  held->own_At = ga__own_rows(&b->pattern, GA__AT(b->node, ga__node, held->own), row, 1, 1);
  return held->own_A < 0 || held->own_At < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Evaluation ---- */

void ga__held_eval_at(ga__held_eval *v, const ga__eval *e, const ga__held *held, int curvature)
{
  ga__gauge_eval at;
  ga__gauge_eval_at(&at, GA__AT(e->b->gauge, ga__gauge, held->gauge), e->b->marker.at, e->kin);
  ga__gauge_gradient(v->g, &at);
  if (curvature) ga__gauge_curvature(v->K, &at);
  for (int i = 0; i < 2; i++) memcpy(v->w + 6 * i, e->kin[held->node[i]].w, 6 * sizeof(double));
  v->value = ga__gauge_value(&at);
  v->rate = v->size = 0;
  for (int i = 0; i < 12; i++) v->rate += v->g[i] * v->w[i], v->size += fabs(v->g[i] * v->w[i]);
}

/* wᵀ K w */
static double curved_rate(const ga__held_eval *v)
{
  double sum = 0;
  for (int i = 0; i < 12; i++) sum += v->w[i] * ga__dot12(v->K + 12 * i, v->w);
  return sum;
}

double ga__held_acceleration(const ga__held_eval *v, const ga__eval *e, const ga__held *held)
{
  double sum = curved_rate(v), size = fabs(sum);
  for (int i = 0; i < 12; i++) {
    const double term = v->g[i] * e->kin[held->node[i / 6]].acc[i % 6];
    sum += term;
    size += fabs(term);
  }
  return fabs(sum) <= GA__STILL * (1 + size) ? 0 : sum;
}

static const ga__node *own_node(const ga__mbs_model *b, const ga__held *held)
{
  return GA__AT(b->node, ga__node, held->own);
}

void ga__held_force(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds, double F,
                    double *f)
{
  const ga__node *own = own_node(e->b, held);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, held->node[i]);
    if (held->node[i]) ga__add_six(f + node->v, node, -F, v->g + 6 * i);
  }
  f[own->v] -= OWN_STIFFNESS * e->p->q[own->q] + OWN_DAMPING * e->p->v[own->v];
  if (!holds) f[own->v] -= e->p->psi[held->psi];
}

void ga__held_row(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds,
                  const ga__held_aim *aim, double *k, int order)
{
  if (holds)
    k[held->psi] = order == 0 ? v->rate - aim->rate + aim->back * (v->value - aim->place)
                              : curved_rate(v) + aim->back * v->rate;
  else
    k[held->psi] = order == 0 ? e->p->v[own_node(e->b, held)->v] : 0;
}

void ga__held_row_jacobian(const ga__held_eval *v, const ga__eval *e, const ga__held *held, int holds,
                           double back, const ga_jacobian *J)
{
  double slope[12];
  for (int i = 0; i < 12; i++) slope[i] = back * v->g[i];
  if (J->want & GA_WANT_D && !holds) {
    J->D[held->own_A] += J->shift_v;
    J->D[held->own_At] += 1;
  }
  for (int i = 0; holds && J->want & GA_WANT_Q && i < 12; i++)
    for (int j = 0; j < 12; j++) slope[j] += v->w[i] * v->K[12 * i + j];
  for (int i = 0; holds && i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, held->node[i]);
    if (held->node[i] == 0) continue;
    if (J->want & GA_WANT_D) {
      ga__add_six(J->D + held->A[i], node, J->shift_v, v->g + 6 * i);
      ga__add_six(J->D + held->At[i], node, 1, v->g + 6 * i);
    }
    if (J->want & GA_WANT_Q) ga__add_six(J->Q + held->A[i], node, 1, slope + 6 * i);
  }
}

void ga__held_force_jacobian(const ga__held_eval *v, const ga__eval *e, const ga__held *held, double F,
                             const ga_jacobian *J)
{
  static const double unit[36] = {1};
  const unsigned tiles = ga__gauge_tiles(GA__AT(e->b->gauge, ga__gauge, held->gauge));
  if (J->want & GA_WANT_Q) {
    ga__add_curvature(J->Q, e->b, held->pair, tiles, F, v->K);
    ga__add_block(J->Q, e->b, held->own_pair, OWN_STIFFNESS, unit);
  }
  if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, held->own_pair, J->shift_v * OWN_DAMPING, unit);
}

/* ---- What elements share ---- */

int ga__held_has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

int ga__held_switch_row(const ga__element *el)
{
  return ((const ga__held *)el->data)->psi;
}

int ga__held_n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 2;
}

void ga__held_signal(const ga__mbs_model *b, int part, int i, const char *holds, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  const int angle = el && b->gauge.n > 0 && ga__gauge_is_angle(b, ((const ga__held *)el->data)->gauge);
  if (i == 0)
    ga__signal_set(out, "force", ga__motion_unit(angle, GA_UNIT_FORCE), GA__PROBE_ELEMENT, 0);
  else
    ga__signal_set(out, holds, "1", GA__PROBE_ELEMENT, 1);
  out->probe.owner = part;
}
