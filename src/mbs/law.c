/* Forces along gauges. A law has forces F_i(ρ, ρ', t, y), positive where they oppose an increase of ρ_i
 * (law_kinds.c). Here they become wrenches and derivatives, in the same way for all laws. With gradients g_i,
 * curvatures K_i and the twists w of both nodes, ρ_i' = g_i · w and D_q ρ_i' = wᵀ K_i:
 *
 *   f −= Σ F_i g_i
 *   Q += Σ F_i K_i + Σ g_i (Σ_j ∂F_i/∂ρ_j g_j + ∂F_i/∂ρ_j' K_jᵀ w)ᵀ
 *   D += shift_v Σ g_i (Σ_j ∂F_i/∂ρ_j' g_j)ᵀ, and in the columns of y g_i ∂F_i/∂y */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/hidden.h"
#include "mbs/smooth.h"
#include "mbs/law_impl.h"
#include "mbs/selected.h"
#include "expr/same.h"

#include "lie/mat3.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

/* The gauges of a law at the point of an evaluation. */
typedef struct law_gauges {
  int node[2];
  double w[12]; /* twists of both nodes */
  double g[GA__MOST_GAUGES][12];
  double K[GA__MOST_GAUGES][144];
} law_gauges;

static const ga__gauge *gauge_of(const ga__mbs_model *b, const ga__law *law, int i)
{
  return GA__AT(b->gauge, ga__gauge, law->gauge[i]);
}

static void nodes_of(int node[2], const ga__mbs_model *b, const ga__law *law)
{
  const ga__gauge *g = gauge_of(b, law, 0);
  node[0] = GA__AT(b->marker, ga__marker, g->a)->node;
  node[1] = GA__AT(b->marker, ga__marker, g->b)->node;
}

/* Outputs y that the force depends on; returns their number. */
static int outputs_of(const ga__law *law, const int **y)
{
  if (law->formula.expr) {
    *y = law->formula.y;
    return law->formula.n_y;
  }
  *y = &law->input.y;
  return law->input.y >= 0 ? 1 : 0;
}

/* ---- Building ---- */

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_add(m, b, part, &ga__law_element, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  ga__law *law = el->data;
  law->type = ga__law_type_of(m->part[part].kind);
  law->part = part;
  law->input.y = -1;
  return law->type->resolve(m, b, law);
}

/* Several gauges: products of any two of them, in all parts x_a, φ_a, x_b, φ_b that they have. */
static ga_status want_products(ga__mbs_model *b, const ga__law *law, const int node[2])
{
  unsigned mask = 0;
  for (int i = 0; i < law->n; i++) mask |= ga__gauge_mask(gauge_of(b, law, i));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      unsigned tiles = 0;
      for (int k = 0; k < 4; k++)
        if (mask >> (6 * i + 3 * (k / 2)) & 7u && mask >> (6 * j + 3 * (k % 2)) & 7u) tiles |= 1u << k;
      ga_status status = ga__want_pair(&b->pattern, node[i], node[j], tiles, tiles);
      if (status) return status;
    }
  return GA_OK;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const ga__law *law = el->data;
  const int *y;
  const int n_y = outputs_of(law, &y);
  int node[2];
  nodes_of(node, b, law);
  ga_status status =
      law->n == 1 ? ga__want_gauge(b, gauge_of(b, law, 0), law->type->products) : want_products(b, law, node);
  for (int i = 0; i < n_y && !status; i++) {
    status = ga__want_port(&b->pattern, node[0], ga__column_y(b, y[i]));
    if (!status) status = ga__want_port(&b->pattern, node[1], ga__column_y(b, y[i]));
  }
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  ga__law *law = el->data;
  ga_context *ctx = b->pattern.ctx;
  const int *y;
  const int n_y = outputs_of(law, &y);
  int node[2];
  nodes_of(node, b, law);
  for (int i = 0; i < 4; i++) law->pair[i] = ga__find_pair(&b->pattern, node[i / 2], node[i % 2]);
  if (!n_y) return GA_OK;
  law->port_a = ga__alloc(ctx, (size_t)n_y, sizeof *law->port_a);
  law->port_b = ga__alloc(ctx, (size_t)n_y, sizeof *law->port_b);
  if (!law->port_a || !law->port_b) return ga__no_memory(ctx, "a force law");
  for (int i = 0; i < n_y; i++) {
    law->port_a[i] = ga__find_port(&b->pattern, node[0], ga__column_y(b, y[i]));
    law->port_b[i] = ga__find_port(&b->pattern, node[1], ga__column_y(b, y[i]));
  }
  return GA_OK;
}

static void release(ga_context *ctx, ga__element *el)
{
  ga__law *law = el->data;
  ga__formula_free(ctx, &law->formula);
  ga__free(ctx, law->port_a);
  ga__free(ctx, law->port_b);
}

/* Sets the rest length of a spring that is unloaded at the start. */
static int set_rest(const ga__mbs_model *b, ga__element *el, const ga__kin *kin)
{
  ga__law *law = el->data;
  ga__gauge_eval at_gauge;
  if (!law->type->rests_at_start || !law->type->rests_at_start(b, law)) return 0;
  if (!kin) return 1;
  ga__gauge_eval_at(&at_gauge, gauge_of(b, law, 0), b->marker.at, kin);
  law->rest = ga__gauge_value(&at_gauge);
  return 1;
}

/* ---- Evaluation of gauges and forces ---- */

/* A ball of radius r touches the plane, of axes e_x, e_y, e_z, at −r e_z from its centre. There the velocity
 * along e_x is that of the centre minus r e_y · (ω_b − ω_a), that along e_y plus r e_x · (ω_b − ω_a). */
static void move_to_rim(law_gauges *at, const ga__frame *plane, double radius, int curvature)
{
  for (int i = 1; i < 3; i++) {
    const int other = 2 - i; /* e_y for the gauge along x, e_x for the one along y */
    const double s = i == 1 ? -radius : radius;
    double e[3], skew[9];
    for (int k = 0; k < 3; k++) {
      e[k] = plane->A[3 * k + other];
      at->g[i][3 + k] -= s * e[k];
      at->g[i][9 + k] += s * e[k];
    }
    if (!curvature) continue;
    ga__mat3_skew(skew, s, e); /* δe = −e~ δφ_a */
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        at->K[i][12 * (3 + r) + 3 + c] += skew[3 * r + c];
        at->K[i][12 * (9 + r) + 3 + c] -= skew[3 * r + c];
      }
  }
}

/* Evaluates the gauges and the law; slopes 1: for a Jacobian. */
static int eval_law(law_gauges *v, ga__law_eval *at, const ga__eval *e, const ga__law *law, int slopes)
{
  const ga__marker *marker = e->b->marker.at;
  const double lever = law->type->lever ? law->type->lever(e->b, law) : 0;
  ga__gauge_eval at_gauge;
  nodes_of(v->node, e->b, law);
  memcpy(v->w, e->kin[v->node[0]].w, 6 * sizeof(double));
  memcpy(v->w + 6, e->kin[v->node[1]].w, 6 * sizeof(double));
  memset(at, 0, slopes ? sizeof *at : offsetof(ga__law_eval, by_rho));
  at->by_y = NULL;
  for (int i = 0; i < law->n; i++) {
    ga__gauge_eval_at(&at_gauge, gauge_of(e->b, law, i), marker, e->kin);
    at->rho[i] = ga__gauge_value(&at_gauge);
    ga__gauge_gradient(v->g[i], &at_gauge);
    if (slopes) ga__gauge_curvature(v->K[i], &at_gauge);
  }
  if (lever != 0) move_to_rim(v, &at_gauge.a, lever, slopes);
  for (int i = 0; i < law->n; i++) at->rate[i] = ga__dot12(v->g[i], v->w);
  return law->type->force(e, law, at, slopes);
}

void ga__gauge_rate(const ga__mbs_model *b, const ga__gauge *gauge, const ga__kin *kin, double *rho,
                    double *rate)
{
  const int node[2] = {GA__AT(b->marker, ga__marker, gauge->a)->node,
                       GA__AT(b->marker, ga__marker, gauge->b)->node};
  double g[12], w[12];
  ga__gauge_eval at_gauge;
  memcpy(w, kin[node[0]].w, 6 * sizeof(double));
  memcpy(w + 6, kin[node[1]].w, 6 * sizeof(double));
  ga__gauge_eval_at(&at_gauge, gauge, b->marker.at, kin);
  ga__gauge_gradient(g, &at_gauge);
  *rho = ga__gauge_value(&at_gauge);
  *rate = ga__dot12(g, w);
}

void ga__law_gauge_rate(const ga__mbs_model *b, const ga__law *law, const ga__kin *kin, double *rho,
                        double *rate, double *turns)
{
  const ga__gauge *gauge = gauge_of(b, law, 0);
  int node[2];
  nodes_of(node, b, law);
  ga__gauge_rate(b, gauge, kin, rho, rate);
  *turns = 0;
  if (gauge->kind == GA__SCALAR || gauge->kind == GA__PLANE_ANGLE) return;
  for (int i = 0; i < 2; i++) {
    const double *omega = kin[node[i]].w + 3;
    *turns = fmax(*turns, sqrt(ga__vec3_dot(omega, omega)));
  }
}

/* ---- Forces on nodes and derivatives ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const ga__law *law = el->data;
  law_gauges v;
  ga__law_eval at;
  const int status = eval_law(&v, &at, e, law, 0);
  if (status) return status;
  for (int side = 0; side < 2; side++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, v.node[side]);
    for (int c = 0; c < 6; c++) {
      if (node->column[c] < 0) continue;
      double sum = 0;
      for (int i = 0; i < law->n; i++) sum += at.F[i] * v.g[i][6 * side + c];
      f[node->v + node->column[c]] -= sum;
    }
  }
  return 0;
}

/* by_q = Σ_j ∂F_i/∂ρ_j g_j + ∂F_i/∂ρ_j' K_jᵀ w, by_w = Σ_j ∂F_i/∂ρ_j' g_j. Returns 0 where both are 0. */
static int slope_of(double by_q[12], double by_w[12], const law_gauges *v, const ga__law_eval *at, int n,
                    int i)
{
  int any = 0;
  memset(by_q, 0, 12 * sizeof *by_q);
  memset(by_w, 0, 12 * sizeof *by_w);
  for (int j = 0; j < n; j++) {
    const double k = at->by_rho[n * i + j], c = at->by_rate[n * i + j];
    if (k != 0 || c != 0) any = 1;
    if (k != 0 || c != 0)
      for (int s = 0; s < 12; s++) {
        by_q[s] += k * v->g[j][s];
        by_w[s] += c * v->g[j][s];
      }
    if (c != 0)
      for (int r = 0; r < 12; r++)
        if (v->w[r] != 0)
          for (int s = 0; s < 12; s++) by_q[s] += c * v->w[r] * v->K[j][12 * r + s];
  }
  return any;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const ga__law *law = el->data;
  law_gauges v;
  ga__law_eval at;
  double by_q[12], by_w[12];
  const int *y;
  if (!ga__wants_forces(J)) return 0;
  const int n_y = outputs_of(law, &y), status = eval_law(&v, &at, e, law, 1);
  if (status) return status;
  for (int i = 0; i < law->n; i++) {
    const int any = slope_of(by_q, by_w, &v, &at, law->n, i);
    if (J->want & GA_WANT_Q) {
      ga__add_curvature(J->Q, e->b, law->pair, ga__gauge_tiles(gauge_of(e->b, law, i)), at.F[i], v.K[i]);
      if (any) ga__add_product(J->Q, e->b, law->pair, 1, v.g[i], by_q);
    }
    if (any && J->want & GA_WANT_D) ga__add_product(J->D, e->b, law->pair, J->shift_v, v.g[i], by_w);
  }
  if (J->want & GA_WANT_D && at.by_y)
    for (int k = 0; k < n_y; k++) {
      ga__add_port(J->D, e->b, law->port_a[k], at.by_y[k], v.g[0]);
      ga__add_port(J->D, e->b, law->port_b[k], at.by_y[k], v.g[0] + 6);
    }
  return 0;
}

/* ---- Energy ---- */

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const ga__law *law = el->data;
  law_gauges v;
  ga__law_eval at;
  ga__law_power power = {0, 0, 0, 0};
  int status = eval_law(&v, &at, e, law, 0);
  if (!status) status = law->type->power(e, law, &at, &power);
  out->potential += power.stored;
  if (power.fades) out->fading += power.stored;
  out->lost += power.lost;
  out->in += power.in;
  return status;
}

/* Index in v of the angular velocity of a planar node, −1: the ground. */
static int turn_rate(const ga__mbs_model *b, int marker)
{
  const int index = GA__AT(b->marker, ga__marker, marker)->node;
  const ga__node *node = GA__AT(b->node, ga__node, index);
  return index == 0 ? -1 : node->v + node->column[5];
}

/* Simple terms: gauges that are a coordinate, or a difference of two, whose rates are read from v. */
static int list_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  const ga__law *law = el->data;
  const ga__law_type *type = law->type;
  const ga__gauge *g = gauge_of(b, law, 0);
  if (type->works && !type->works(b, law)) return 0;
  work->needs_kin = 1;
  if (law->n > 1 || (g->kind != GA__SCALAR && g->kind != GA__PLANE_ANGLE)) return 1;
  work->simple = type->simple && type->simple(b, law, work);
  if (!work->simple) return 1;
  work->needs_kin = 0;
  if (g->kind == GA__SCALAR) {
    work->plus = GA__AT(b->node, ga__node, GA__AT(b->marker, ga__marker, g->a)->node)->v;
  } else {
    work->minus = turn_rate(b, g->a);
    work->plus = turn_rate(b, g->b);
  }
  return 1;
}

/* ---- Signals: length, rate and force of a line; else forces ---- */

static const ga__law_type *type_of(const ga__mbs_model *b, int part)
{
  return ga__law_type_of(b->m->part[part].kind);
}

static int n_signals(const ga__mbs_model *b, int part)
{
  const ga__law_type *type = type_of(b, part);
  const ga__element *el = ga__element_of(b, part);
  if (type->line) return 3;
  if (type->force_name) return type->depth ? 2 : 1;
  return el ? ((const ga__law *)el->data)->n : type->count(b->m->part[part].def);
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const char *const name[2] = {"length", "rate"};
  const ga__law_type *type = type_of(b, part);
  const ga__element *el = ga__element_of(b, part);
  const ga__law *law = el ? el->data : NULL;
  const int angle = law && law->n == 1 ? ga__gauge_is_angle(b, law->gauge[0]) : 0;
  if (type->line && i < 2) {
    ga__signal_set(out, name[i], ga__motion_unit(angle, (ga_motion_unit)i),
                   i ? GA__PROBE_GAUGE_RATE : GA__PROBE_GAUGE, 0);
    if (law) out->probe.gauge = law->gauge[0];
    return;
  }
  if (type->depth && i == 1)
    ga__signal_set(out, "depth", ga__motion_unit(angle, GA_UNIT_VALUE), GA__PROBE_ELEMENT, 1);
  else if (type->force_name)
    ga__signal_set(out, type->force_name, ga__motion_unit(angle, GA_UNIT_FORCE), GA__PROBE_ELEMENT, 0);
  else
    ga__signal_set_reaction(out, i, GA__PROBE_ELEMENT);
  out->probe.owner = part;
}

/* Resolves the line of a law that is not created yet. */
static ga_status complete_signal(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal)
{
  const ga__part *p = &m->part[part];
  const ga__law_type *type = ga__law_type_of(p->kind);
  if (signal->probe.kind == GA__PROBE_ELEMENT || !type->line) return GA_OK;
  const ga__law_line line = type->line(p->def);
  return ga__resolve_line(m, b, p, line.a, line.b, line.coordinate, &signal->probe.gauge);
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  const ga__law *law = el->data;
  law_gauges v;
  ga__law_eval at;
  const int status = eval_law(&v, &at, e, law, 0);
  if (law->type->depth && i == 1)
    *out = law->type->depth(e->b, law, at.rho[0]);
  else
    *out = law->type->sign < 0 ? -at.F[i] : at.F[i];
  return status;
}

static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  const ga__law *law = el->data;
  double depth = 0;
  (void)b;
  *out = (ga__limit){.words = "is touched", .needs_kin = 1};
  if (i > 0 || !law->type->depth || !e) return i == 0 && law->type->depth;
  out->reached = value(e, el, 1, &depth) == 0 && depth > 0;
  return 1;
}

/* Columns of a force: velocities of both nodes, the ground's left out, then outputs. */
static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const ga__law *law = el->data;
  const int *y;
  const int n_y = outputs_of(law, &y);
  int node[2], n = 0;
  (void)i;
  nodes_of(node, b, law);
  for (int side = 0; side < 2; side++) {
    const ga__node *at = GA__AT(b->node, ga__node, node[side]);
    for (int c = 0; node[side] > 0 && c < at->n; c++, n++)
      if (n < room) column[n] = at->v + c;
  }
  for (int k = 0; k < n_y; k++, n++)
    if (n < room) column[n] = ga__column_y(b, y[k]);
  return n;
}

/* Makes the force the depth of a law with one gauge: its slope is that of |ρ| beyond the limit. */
static void take_depth(const ga__mbs_model *b, const ga__law *law, ga__law_eval *at)
{
  const double depth = law->type->depth(b, law, at->rho[0]);
  const int grows = law->type->depth(b, law, at->rho[0] + depth) > depth;
  at->by_rho[0] = depth > 0 ? (grows ? 1 : -1) : 0;
  at->by_rate[0] = 0;
  at->by_y = NULL;
}

/* by q: Σ_j ∂F/∂ρ_j g_j + ∂F/∂ρ_j' K_jᵀ w;  by v: Σ_j ∂F/∂ρ_j' g_j */
static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const ga__law *law = el->data;
  const int depth = law->type->depth && i == 1;
  const double sign = law->type->sign < 0 && !depth ? -1.0 : 1.0;
  law_gauges v;
  ga__law_eval at;
  double by_q[12], by_w[12];
  const int *y;
  const int n_y = outputs_of(law, &y), status = eval_law(&v, &at, e, law, 1);
  (void)shift_vdot;
  if (status) return status;
  if (depth) take_depth(e->b, law, &at);
  slope_of(by_q, by_w, &v, &at, law->n, depth ? 0 : i);
  for (int side = 0; side < 2; side++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, v.node[side]);
    for (int c = 0; v.node[side] > 0 && c < 6; c++) {
      if (node->column[c] < 0) continue;
      *d++ = sign * shift_v * by_w[6 * side + c];
      *dq++ = sign * by_q[6 * side + c];
    }
  }
  for (int k = 0; k < n_y; k++) {
    *d++ = at.by_y && i == 0 ? sign * at.by_y[k] : 0.0;
    *dq++ = 0.0;
  }
  return 0;
}

static int counted_angle(const ga__mbs_model *b, const ga__element *el, int i, int *limited)
{
  const ga__law *law = el->data;
  *limited = 1;
  for (int k = 0; law->type->jumps && k < law->n; k++)
    if (law->type->jumps(b, law, k) && i-- == 0) return law->gauge[k];
  return -1;
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  const ga__law *law = el->data;
  if (law->input.y != y || law->n == 0) return "";
  return ga__motion_unit(ga__gauge_is_angle(b, law->gauge[0]), GA_UNIT_FORCE);
}

/* ---- Edges ---- */

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  ga__law *law = el->data;
  *in = i == 0 ? &law->input : NULL;
  *f = i == 0 ? NULL : &law->formula;
  return i == 0 || (i == 1 && law->formula.expr);
}

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  const ga__law *law = el->data;
  const ga__law_type *type = law->type;
  return type->has_edges && type->has_edges(b, law);
}

static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const ga__law *law = el->data;
  double rho, rate, turns;
  ga__law_gauge_rate(e->b, law, e->kin, &rho, &rate, &turns);
  return law->type->side(e, law, rho, rate, out);
}

static int may_hide(const ga__element *el)
{
  return ((const ga__law *)el->data)->may_hide;
}

/* ---- Shapes ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_of(b, part);
  const ga__law *law = el ? el->data : NULL;
  ga__drawing unused;
  int n = 0;
  while (law && law->type->shape(b, law, n, &unused)) n++;
  return n;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const ga__law *law = ga__element_of(b, part)->data;
  law->type->shape(b, law, i, out);
}

/* All that laws compute with is in their definitions, but for what they have resolved. */
static int same(const ga__comparison *c, const ga__element *a, const ga__element *b)
{
  const ga__law *x = a->data, *y = b->data;
  if (x->type != y->type || x->n != y->n || !ga__numbers_same(&x->rest, &y->rest, 1)) return 0;
  for (int i = 0; i < x->n; i++)
    if (x->gauge[i] != y->gauge[i] || c->gauge[x->gauge[i]]) return 0;
  return ga__same_input(&x->input, &y->input) && ga__same_formula(&x->formula, &y->formula) &&
         ga__same_def(c, x->part);
}

const ga__element_type ga__law_element = {
    .rank = GA__RANK_LAW,
    .no_accelerations = 1,
    .size = sizeof(ga__law),
    .same = same,
    .create = {[GA__CREATE_FORCES] = create},
    .want = want,
    .bind = bind,
    .release = release,
    .set_from_start = set_rest,
    .force = force,
    .jacobian = jacobian,
    .powers = powers,
    .work_term = list_work,
    .n_signals = n_signals,
    .signal = signal,
    .complete_signal = complete_signal,
    .value = value,
    .limit = limit,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .counted_angle = counted_angle,
    .unit_of_input = unit_of_input,
    .get_input = get_input,
    .has_edges = has_edges,
    .side = side,
    .is_smooth = ga__law_is_smooth,
    .may_hide = may_hide,
    .hides = ga__law_hides,
    .n_shapes = n_shapes,
    .shape = shape,
};
