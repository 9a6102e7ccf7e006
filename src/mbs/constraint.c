/* Holonomic constraints: rows that hold sums of gauges. Two frequent kinds are in axes.c and point3.c.
 *
 * A row:  Φ = Σ c ρ − target(t) − constant,  B = Σ c g,  D_q(B v) = Σ c wᵀK,  D_q(Bᵀλ) = λ Σ c K,
 *         B v + Φ_t = Σ c g·w − target',     Φ'' at vdot = 0: Σ c wᵀK w − target''
 *
 * A row that is switched off holds the coordinate s of a unit mass of its own instead, on which nothing else
 * acts: Φ = s, so that λ = 0 and the pattern stays the same. A weak spring and damper determine s where the
 * row acts. */
#include "mbs/element.h"
#include "mbs/smooth.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

#define OWN_STIFFNESS 1.0 /* [N/m] of s */
#define OWN_DAMPING 2.0   /* [N s/m] */

/* ---- Pattern ---- */

/* The row's slot for a node, added if there is none; −1: ground; −2: out of memory. */
static int slot_of(ga__mbs_model *b, ga__row *row, int node)
{
  if (node == 0) return -1;
  for (int k = 0; k < row->n_slots; k++)
    if (GA__AT(b->slot, ga__slot, row->first_slot + k)->node == node) return k;
  ga__slot *slot = ga__list_add(b->m->ctx, &b->slot);
  if (!slot) return -2;
  slot->node = node;
  return row->n_slots++;
}

static ga_status want_row(ga__mbs_model *b, ga__row *row)
{
  row->first_slot = b->slot.n;
  for (int t = 0; t < row->n_terms; t++) {
    ga__term *term = GA__AT(b->term, ga__term, row->first_term + t);
    const ga__gauge *g = GA__AT(b->gauge, ga__gauge, term->gauge);
    unsigned mask = ga__gauge_mask(g), tiles = ga__gauge_tiles(g), columns = 0;
    const int node[2] = {GA__AT(b->marker, ga__marker, g->a)->node,
                         GA__AT(b->marker, ga__marker, g->b)->node};
    int *const slot[2] = {&term->slot_a, &term->slot_b};
    for (int i = 0; i < 16; i++)
      if (tiles >> i & 1u) columns |= 7u << 3 * (i % 4);
    for (int k = 0; k < 2; k++) {
      *slot[k] = slot_of(b, row, node[k]);
      if (*slot[k] == -2) return GA_ERR_MEMORY;
      if (*slot[k] < 0) continue;
      ga__slot *s = GA__AT(b->slot, ga__slot, row->first_slot + *slot[k]);
      s->mask |= (mask | columns) >> 6 * k & node_at(b, node[k])->has;
      s->mask_t |= mask >> 6 * k & node_at(b, node[k])->has;
    }
    ga_status status = ga__want_gauge(b, g, 0);
    if (status) return status;
  }
  return row->own ? ga__want_block(b, row->own, row->own, 0) : GA_OK;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->row.n; i++) status = want_row(b, GA__AT(b->row, ga__row, i));
  return status ? status : ga__points_want(b);
}

static ga_status bind_slot(ga__mbs_model *b, ga__slot *slot, int lambda)
{
  const ga__node *node = node_at(b, slot->node);
  int row = b->nv + lambda;
  slot->B = slot->Bt = -1;
  for (int c = 0; c < 6; c++) {
    if (!(slot->mask >> c & 1u)) continue;
    int entry = ga__own_entry(&b->pattern, row, node->v + node->column[c]);
    if (entry < 0) return GA_ERR_MEMORY;
    if (slot->B < 0) slot->B = entry;
  }
  for (int c = 0; c < 6; c++) {
    if (!(slot->mask_t >> c & 1u)) continue;
    int entry = ga__own_entry(&b->pattern, node->v + node->column[c], row);
    if (entry < 0) return GA_ERR_MEMORY;
    if (slot->Bt < 0) slot->Bt = entry;
  }
  return GA_OK;
}

static ga_status bind_own(ga__mbs_model *b, ga__row *row)
{
  const ga__node *own = node_at(b, row->own);
  row->own_pair = ga__find_pair(&b->pattern, row->own, row->own);
  row->own_B = ga__own_entry(&b->pattern, b->nv + row->lambda, own->v);
  row->own_Bt = ga__own_entry(&b->pattern, own->v, b->nv + row->lambda);
  return row->own_B < 0 || row->own_Bt < 0 ? GA_ERR_MEMORY : GA_OK;
}

static ga_status bind_row(ga__mbs_model *b, ga__row *row)
{
  if (row->own && bind_own(b, row)) return GA_ERR_MEMORY;
  for (int k = 0; k < row->n_slots; k++)
    if (bind_slot(b, GA__AT(b->slot, ga__slot, row->first_slot + k), row->lambda)) return GA_ERR_MEMORY;
  for (int t = 0; t < row->n_terms; t++) {
    ga__term *term = GA__AT(b->term, ga__term, row->first_term + t);
    const ga__gauge *g = GA__AT(b->gauge, ga__gauge, term->gauge);
    const int node[2] = {GA__AT(b->marker, ga__marker, g->a)->node,
                         GA__AT(b->marker, ga__marker, g->b)->node};
    for (int k = 0; k < 4; k++) term->pair[k] = ga__find_pair(&b->pattern, node[k / 2], node[k % 2]);
  }
  return ga__axes_add_row(b, row);
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->row.n; i++) status = bind_row(b, GA__AT(b->row, ga__row, i));
  for (int i = 0; i < b->row.n; i++) b->n_plain_rows += !GA__AT(b->row, ga__row, i)->by_axes;
  return status ? status : ga__points_bind(b);
}

/* ---- Rows ---- */

static void eval_gauge(const ga__eval *e, const ga__term *term, ga__gauge_eval *s)
{
  ga__gauge_eval_at(s, GA__AT(e->b->gauge, ga__gauge, term->gauge), e->b->marker.at, e->kin);
}

static void twists_of(const ga__eval *e, const ga__gauge_eval *s, double w[12])
{
  memcpy(w, e->kin[s->a.node].w, 6 * sizeof *w);
  memcpy(w + 6, e->kin[s->b.node].w, 6 * sizeof *w);
}

/* Contribution of one gauge to Φ, B v or vᵀKv. */
static double term_value(const ga__eval *e, const ga__term *term, int order)
{
  ga__gauge_eval s;
  double g[12], w[12], K[144], sum = 0.0;
  eval_gauge(e, term, &s);
  if (order == 0) return term->c * ga__gauge_value(&s);
  twists_of(e, &s, w);
  if (order == 1) {
    ga__gauge_gradient(g, &s);
    return term->c * ga__dot12(g, w);
  }
  ga__gauge_curvature(K, &s);
  for (int i = 0; i < 12; i++) sum += w[i] * ga__dot12(K + 12 * i, w);
  return term->c * sum;
}

static int row_is_on(const ga__eval *e, const ga__row *row)
{
  return !row->own || ga__gate_is_open(e, row->gate);
}

/* Φ = s of a row that is off, and its rates. */
static double own_value(const ga__eval *e, const ga__row *row, int order)
{
  const ga__node *own = node_at(e->b, row->own);
  return order == 0 ? e->p->q[own->q] : order == 1 ? e->p->v[own->v] : 0;
}

/* What acts on s, times scale. */
static void own_force(const ga__eval *e, const ga__row *row, double scale, double *f)
{
  const ga__node *own = node_at(e->b, row->own);
  double pull = OWN_STIFFNESS * e->p->q[own->q] + OWN_DAMPING * e->p->v[own->v];
  if (!row_is_on(e, row)) pull += e->p->lambda[row->lambda];
  f[own->v] += scale * pull;
}

static void own_jacobian(const ga__eval *e, const ga__row *row, const ga_jacobian *J)
{
  static const double unit[36] = {1};
  if (ga__wants_forces(J)) {
    if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, row->own_pair, OWN_STIFFNESS, unit);
    if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, row->own_pair, J->shift_v * OWN_DAMPING, unit);
  }
  if (row_is_on(e, row)) return;
  if (J->want & (GA_WANT_Q | GA_WANT_B)) J->Q[row->own_B] += 1;
  if (J->want & GA_WANT_D) J->D[row->own_Bt] += 1;
}

static int row_values(const ga__eval *e, double *out, int order)
{
  for (int i = 0; e->b->n_plain_rows && i < e->b->row.n; i++) {
    const ga__row *row = GA__AT(e->b->row, ga__row, i);
    if (row->by_axes) continue;
    if (!row_is_on(e, row)) {
      out[row->lambda] = own_value(e, row, order);
      continue;
    }
    double sum = order == 0 ? -row->constant : 0.0, target[3] = {0.0, 0.0, 0.0};
    ga_fault fault;
    if (row->target && ga_function_eval(row->target, e->p->t, order, target, &fault))
      return ga__fail_undefined(e, row->part, "function", &fault);
    sum -= target[order] + (order == 1 ? row->rate : 0.0);
    for (int t = 0; t < row->n_terms; t++)
      sum += term_value(e, GA__AT(e->b->term, ga__term, row->first_term + t), order);
    out[row->lambda] = order == 0 && row->wrap ? remainder(sum, GA__TWO_PI) : sum;
  }
  return 0;
}

static void add_wrench(const ga__eval *e, int node_index, double scale, const double wrench[6], double *f)
{
  const ga__node *node = node_at(e->b, node_index);
  ga__add_six(f + node->v, node, scale, wrench);
}

static void row_forces(const ga__eval *e, double *f)
{
  for (int i = 0; e->b->n_plain_rows && i < e->b->row.n; i++) {
    const ga__row *row = GA__AT(e->b->row, ga__row, i);
    if (row->own) own_force(e, row, -1, f);
    for (int t = 0; !row->by_axes && row_is_on(e, row) && t < row->n_terms; t++) {
      const ga__term *term = GA__AT(e->b->term, ga__term, row->first_term + t);
      double g[12], scale = -term->c * e->p->lambda[row->lambda];
      ga__gauge_eval s;
      eval_gauge(e, term, &s);
      ga__gauge_gradient(g, &s);
      add_wrench(e, s.a.node, scale, g, f);
      add_wrench(e, s.b.node, scale, g + 6, f);
    }
  }
}

/* to[entries of the mask] += scale · six */
static void add_masked(double *to, unsigned mask, double scale, const double six[6])
{
  for (int c = 0; c < 6; c++)
    if (mask >> c & 1u) *to++ += scale * six[c];
}

static void term_jacobian(const ga__eval *e, const ga__row *row, const ga__term *term,
                          const ga__gauge_eval *s, const double g[12], const ga_jacobian *J)
{
  const int slot[2] = {term->slot_a, term->slot_b};
  double w[12], K[144], slope[12];
  unsigned tiles = ga__gauge_tiles(s->gauge);
  int curved = tiles && J->want & (GA_WANT_Q | GA_WANT_G);
  if (curved) {
    ga__gauge_curvature(K, s);
    twists_of(e, s, w);
    memset(slope, 0, sizeof slope);
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) slope[j] += w[i] * K[12 * i + j];
  }
  for (int k = 0; k < 2; k++) {
    if (slot[k] < 0) continue;
    const ga__slot *at = GA__AT(e->b->slot, ga__slot, row->first_slot + slot[k]);
    if (J->want & (GA_WANT_Q | GA_WANT_B)) add_masked(J->Q + at->B, at->mask, term->c, g + 6 * k);
    if (J->want & GA_WANT_D) add_masked(J->D + at->Bt, at->mask_t, term->c, g + 6 * k);
    if (curved && J->want & GA_WANT_G) add_masked(J->G + at->B, at->mask, term->c, slope + 6 * k);
  }
  if (curved && J->want & GA_WANT_Q)
    ga__add_curvature(J->Q, e->b, term->pair, tiles, term->c * e->p->lambda[row->lambda], K);
}

static void sweep_off_row(const ga__eval *e, const ga__row *row, const ga_sweep *s)
{
  if (!s) return;
  s->phi[row->lambda] = own_value(e, row, 0);
  if (s->phi_dot) s->phi_dot[row->lambda] = own_value(e, row, 1);
}

/* Values, forces and derivatives of a row, gauge by gauge. */
static int sweep_row(const ga__eval *e, const ga__row *row, const ga_sweep *s, const ga_jacobian *J)
{
  const int order = s && s->phi_dot ? 1 : 0;
  double phi = -row->constant, rate = 0.0 - row->rate, target[2] = {0.0, 0.0};
  ga_fault fault;
  if (row->own && s) own_force(e, row, 1, s->dynamics);
  if (row->own && J) own_jacobian(e, row, J);
  if (!row_is_on(e, row)) return sweep_off_row(e, row, s), 0;
  if (s && row->target && ga_function_eval(row->target, e->p->t, order, target, &fault))
    return ga__fail_undefined(e, row->part, "function", &fault);
  phi -= target[0];
  rate -= target[1];
  for (int t = 0; t < row->n_terms; t++) {
    const ga__term *term = GA__AT(e->b->term, ga__term, row->first_term + t);
    double g[12], w[12];
    ga__gauge_eval at_gauge;
    eval_gauge(e, term, &at_gauge);
    ga__gauge_gradient(g, &at_gauge);
    if (J) term_jacobian(e, row, term, &at_gauge, g, J);
    if (!s) continue;
    const double pull = term->c * e->p->lambda[row->lambda];
    add_wrench(e, at_gauge.a.node, pull, g, s->dynamics);
    add_wrench(e, at_gauge.b.node, pull, g + 6, s->dynamics);
    phi += term->c * ga__gauge_value(&at_gauge);
    if (!order) continue;
    twists_of(e, &at_gauge, w);
    rate += term->c * ga__dot12(g, w);
  }
  if (s) s->phi[row->lambda] = row->wrap ? remainder(phi, GA__TWO_PI) : phi;
  if (order) s->phi_dot[row->lambda] = rate;
  return 0;
}

int ga__row_sweep(const ga__eval *e, int i, const ga_sweep *s)
{
  return sweep_row(e, GA__AT(e->b->row, ga__row, i), s, NULL);
}

/* ---- All of them ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  (void)el;
  ga__points_force(e, f);
  ga__axes_force(e, f);
  row_forces(e, f);
  return 0;
}

static int phi(const ga__eval *e, const ga__element *el, double *out, int order)
{
  (void)el;
  ga__points_values(e, out, order);
  ga__axes_values(e, out, order);
  return row_values(e, out, order);
}

/* point3 rows are swept with their bodies (body.c). */
static int sweep(const ga__eval *e, const ga__element *el, const ga_sweep *s, const ga_jacobian *J)
{
  int status = 0;
  (void)el;
  ga__axes_sweep(e, s, J);
  for (int i = 0; !status && e->b->n_plain_rows && i < e->b->row.n; i++) {
    const ga__row *row = GA__AT(e->b->row, ga__row, i);
    if (!row->by_axes) status = sweep_row(e, row, s, J);
  }
  return status;
}

static int uses_kin(const ga__mbs_model *b, const ga__element *el)
{
  (void)el;
  return b->axes.n + b->n_plain_rows > 0;
}

const ga__element_type ga__rows_type = {
    .rank = GA__RANK_ROWS,
    .is_smooth = ga__always_smooth,
    .no_twists = 1,
    .no_accelerations = 1,
    .want = want,
    .bind = bind,
    .force = force,
    .phi = phi,
    .sweep = sweep,
    .uses_kin = uses_kin,
};
