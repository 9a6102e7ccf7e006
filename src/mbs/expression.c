/* Constraints by expressions of signals, 0 = F(t, s).
 *
 * Signals are measures (measure.c): positions s_i(q) with s_i' = g_i · w, and velocities s_i = a_i · w. Of
 * the latter g_i is D_q(a_i · w) = wᵀK_i, with K_i the derivative of a_i, or of g_i of a position. F_i and
 * F_ij are exact derivatives of the expression.
 *
 * Holonomic, Φ = F(t, s(q)):
 *
 *   B = Σ F_i g_i,   Φ' and Φ'' at vdot = 0: F along s' = g · w, s'' = wᵀK w
 *   D_q(B v + Φ_t) = Σ (F_ti + Σ F_ij s_j') g_i + Σ F_i wᵀK_i
 *   D_q(Bᵀλ)       = λ (Σ F_i K_i + Σ F_ij g_i g_jᵀ)
 *
 * Nonholonomic, k = F(t, s(q, v)), sums with a over velocities alone:
 *
 *   k_v = A = Σ F_i a_i,   D_q k = Σ F_i g_i,   k' at vdot = 0: F along s' = g · w
 *   D_q(Aᵀψ) = ψ (Σ F_i K_i + Σ F_ij a_i g_jᵀ),   (Aᵀψ)_v = ψ Σ F_ij a_i a_jᵀ */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/expression_unit.h"
#include "mbs/measure.h"

#include "expr/smooth.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Gradients are taken as zero below this, and below this times second derivatives per m or rad. */
#define SINGULAR 1e-9

typedef struct signal_use {
  ga__measure measure;
  ga__probe probe; /* for its name */
} signal_use;

typedef struct node_use {
  int node;
  int B, Bt; /* entries of the row and of the column of the multiplier, one for each velocity */
} node_use;

/* Data of the element. */
typedef struct constraint {
  ga_expr *expr;
  int n; /* signals */
  signal_use *signal;
  int *wrt; /* [1 + n] all variables of expr: t, signals */
  int n_nodes;
  node_use *node;
  int *pair;       /* [n_nodes × n_nodes] */
  int lambda, psi; /* one of them −1 */
  char unit[GA_ERROR_UNIT], force_unit[GA_ERROR_UNIT];
} constraint;

/* ---- Work space ---- */

/* Values at the point of an evaluation. Gradients are over the six components of all nodes. */
typedef struct values {
  double *x; /* [1 + n] t, then signals */
  double *rate,
      *acc;        /* [1 + n] their first and second derivatives by t, at vdot = 0; of velocities the first */
  double *d1, *d2; /* [1 + n], [(1 + n)²] derivatives of F by t and signals */
  double *g, *a;   /* [n][6 n_nodes] by q, and of velocities by v */
  double *row;     /* [6 n_nodes] */
  double *weighted; /* [6 n_nodes] */
} values;

static size_t width_of(const constraint *c)
{
  return 6 * (size_t)c->n_nodes;
}

static size_t size_of(const constraint *c)
{
  const size_t n = (size_t)c->n;
  return 4 * (1 + n) + (1 + n) * (1 + n) + (2 * n + 2) * width_of(c);
}

static size_t scratch(const ga__element *el)
{
  return size_of(el->data);
}

static values values_in(const constraint *c, double *at)
{
  const size_t n = (size_t)c->n, width = width_of(c);
  values v;
  double **const array[] = {&v.x, &v.rate, &v.acc, &v.d1, &v.d2, &v.g, &v.a, &v.row, &v.weighted};
  const size_t length[] = {1 + n, 1 + n, 1 + n, 1 + n, (1 + n) * (1 + n), n * width, n * width, width, width};
  for (size_t i = 0; i < sizeof length / sizeof *length; at += length[i++]) *array[i] = at;
  return v;
}

/* ---- Evaluation ---- */

static int slot_of(const constraint *c, int node)
{
  for (int i = 0; node > 0 && i < c->n_nodes; i++)
    if (c->node[i].node == node) return i;
  return -1;
}

/* to[all nodes] += scale · twelve, of the nodes of a term */
static void add_twelve(const constraint *c, double *to, const ga__measure_term *term, double scale,
                       const double twelve[12])
{
  for (int side = 0; side < 2; side++) {
    const int slot = slot_of(c, term->node[side]);
    for (int i = 0; slot >= 0 && i < 6; i++) to[6 * slot + i] += scale * twelve[6 * side + i];
  }
}

/* wᵀK */
static void slope_of(double slope[12], const double w[12], const double K[144])
{
  memset(slope, 0, 12 * sizeof *slope);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12 && w[i] != 0; j++) slope[j] += w[i] * K[12 * i + j];
}

/* Signals with their gradients; curved: those of velocities by q, and second derivatives, too. */
static void eval_signals(const ga__eval *e, const constraint *c, int curved, values *v)
{
  const size_t width = width_of(c);
  memset(v->g, 0, 2 * (size_t)c->n * width * sizeof *v->g); /* and a behind it */
  memset(v->x, 0, 3 * (1 + (size_t)c->n) * sizeof *v->x);   /* and both derivatives */
  v->x[0] = e->p->t;
  v->rate[0] = 1;
  for (int i = 0; i < c->n; i++) {
    const ga__measure *measure = &c->signal[i].measure;
    double *g = v->g + (size_t)i * width, *a = v->a + (size_t)i * width;
    for (int k = 0; k < measure->n; k++) {
      const ga__measure_term *term = &measure->term[k];
      ga__measure_eval at;
      double K[144], slope[12] = {0};
      ga__measure_eval_at(&at, curved ? K : NULL, e, term, measure->rate);
      if (curved) slope_of(slope, at.w, K);
      v->x[1 + i] += term->c * at.value;
      add_twelve(c, measure->rate ? a : g, term, term->c, at.g);
      if (measure->rate) add_twelve(c, g, term, term->c, slope);
      v->rate[1 + i] += term->c * ga__dot12(measure->rate ? slope : at.g, at.w);
      v->acc[1 + i] += term->c * ga__dot12(slope, at.w);
    }
  }
}

/* "tip.x = 0, hinge.angle = 2" */
static void list_values(const ga__mbs_model *b, const constraint *c, const values *v, char *text, size_t size)
{
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  for (int i = 0; i < c->n; i++) {
    char name[GA_TEXT_PIECE];
    ga__signal_name_of(b, &c->signal[i].probe, name, sizeof name);
    ga__write(&w, "%s%s = %.6g", i ? ", " : "", name, v->x[1 + i]);
  }
}

static int fail(const ga__eval *e, const ga__element *el, const values *v, const ga_fault *fault)
{
  const constraint *c = el->data;
  char text[GA_ERROR_NAME] = "";
  if (e->work->ctx->starting) list_values(e->b, c, v, text, sizeof text);
  return ga__expression_fault(e, el->part, c->expr, text, fault);
}

/* Derivatives of F, to second order or the first alone. */
static ga_status derive(const constraint *c, values *v, int second, ga_fault *fault)
{
  return second ? ga_expr_hessian(c->expr, v->x, 1 + c->n, c->wrt, NULL, v->d1, v->d2, fault)
                : ga_expr_gradient(c->expr, v->x, 1 + c->n, c->wrt, NULL, v->d1, fault);
}

/* to = Σ F_i (gradient of signal i); velocities 1: over these alone. */
static void sum_gradients(const constraint *c, const values *v, const double *gradient, int velocities,
                          double *to)
{
  const size_t width = width_of(c);
  memset(to, 0, width * sizeof *to);
  for (int i = 0; i < c->n; i++)
    for (size_t k = 0; k < width && (!velocities || c->signal[i].measure.rate); k++)
      to[k] += v->d1[1 + i] * gradient[(size_t)i * width + k];
}

/* B or A, into v->row. */
static int eval_row(const ga__eval *e, const ga__element *el, values *v)
{
  const constraint *c = el->data;
  ga_fault fault;
  eval_signals(e, c, 0, v);
  if (derive(c, v, 0, &fault)) return fail(e, el, v, &fault);
  sum_gradients(c, v, c->lambda >= 0 ? v->g : v->a, c->lambda < 0, v->row);
  return 0;
}

static double multiplier(const ga__eval *e, const constraint *c)
{
  return c->lambda >= 0 ? e->p->lambda[c->lambda] : e->p->psi[c->psi];
}

static const ga__node *node_at(const ga__mbs_model *b, const constraint *c, int i)
{
  return GA__AT(b->node, ga__node, c->node[i].node);
}

/* −Bᵀλ, −Aᵀψ */
static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const constraint *c = el->data;
  values v = values_in(c, e->work->scratch);
  const int status = eval_row(e, el, &v);
  for (int i = 0; !status && i < c->n_nodes; i++) {
    const ga__node *node = node_at(e->b, c, i);
    ga__add_six(f + node->v, node, -multiplier(e, c), v.row + 6 * i);
  }
  return status;
}

/* F and its derivatives by t up to `order`, along the motion at vdot = 0. */
static int along_motion(const ga__eval *e, const ga__element *el, int order, double *out)
{
  const constraint *c = el->data;
  values v = values_in(c, e->work->scratch);
  double all[3];
  ga_fault fault;
  eval_signals(e, c, c->lambda >= 0 ? order > 1 : order > 0, &v);
  if (ga_expr_curve(c->expr, v.x, v.rate, v.acc, order, all, &fault)) return fail(e, el, &v, &fault);
  *out = all[order];
  return 0;
}

static int phi(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const constraint *c = el->data;
  return c->lambda < 0 ? 0 : along_motion(e, el, order, &out[c->lambda]);
}

static int k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const constraint *c = el->data;
  return c->psi < 0 ? 0 : along_motion(e, el, order, &out[c->psi]);
}

/* A times other twists. */
static int k_along(const ga__eval *e, const ga__element *el, const ga__kin *twists, double *out)
{
  const constraint *c = el->data;
  values v = values_in(c, e->work->scratch);
  if (c->psi < 0) return 0;
  const int status = eval_row(e, el, &v);
  if (status) return status;
  out[c->psi] = 0;
  for (int i = 0; i < c->n_nodes; i++)
    for (int s = 0; s < 6; s++) out[c->psi] += v.row[6 * i + s] * twists[c->node[i].node].w[s];
  return 0;
}

/* ---- Derivatives ---- */

/* array[row of the multiplier] += scale · v */
static void add_row(const ga__mbs_model *b, const constraint *c, double *array, int transposed, double scale,
                    const double *v)
{
  for (int i = 0; i < c->n_nodes; i++)
    ga__add_six(array + (transposed ? c->node[i].Bt : c->node[i].B), node_at(b, c, i), scale, v + 6 * i);
}

/* array += scale · left rightᵀ, over all pairs of nodes */
static void add_outer(const ga__mbs_model *b, const constraint *c, double *array, double scale,
                      const double *left, const double *right)
{
  for (int i = 0; i < c->n_nodes; i++)
    for (int j = 0; j < c->n_nodes; j++) {
      double M[36];
      for (int k = 0; k < 36; k++) M[k] = left[6 * i + k / 6] * right[6 * j + k % 6];
      ga__add_block(array, b, c->pair[i * c->n_nodes + j], scale, M);
    }
}

/* array += scale Σ F_ij left_i right_jᵀ; which of the signals: all, or velocities alone. */
static void add_products(const ga__mbs_model *b, const constraint *c, const values *v, double *array,
                         double scale, const double *left, int left_velocities, const double *right,
                         int right_velocities)
{
  const size_t width = width_of(c);
  for (int i = 0; i < c->n; i++) {
    const double *F = v->d2 + (1 + i) * (1 + c->n) + 1;
    int any = 0;
    if (left_velocities && !c->signal[i].measure.rate) continue;
    memset(v->weighted, 0, width * sizeof *v->weighted);
    for (int j = 0; j < c->n; j++) {
      if (F[j] == 0 || (right_velocities && !c->signal[j].measure.rate)) continue;
      any = 1;
      for (size_t s = 0; s < width; s++) v->weighted[s] += F[j] * right[(size_t)j * width + s];
    }
    if (any) add_outer(b, c, array, scale, left + (size_t)i * width, v->weighted);
  }
}

/* Pairs of the nodes of a term: aa, ab, ba, bb; −1 where one is the ground. */
static void pairs_of(const constraint *c, const ga__measure_term *term, int pair[4])
{
  const int slot[2] = {slot_of(c, term->node[0]), slot_of(c, term->node[1])};
  for (int i = 0; i < 4; i++)
    pair[i] = slot[i / 2] < 0 || slot[i % 2] < 0 ? -1 : c->pair[slot[i / 2] * c->n_nodes + slot[i % 2]];
}

/* Q += scale Σ F_i K_i (Q NULL: not wanted) and row += Σ F_i wᵀK_i (NULL: likewise), over velocities in a
 * nonholonomic constraint. */
static void add_curvatures(const ga__eval *e, const constraint *c, const values *v, double scale, double *Q,
                           double *row)
{
  for (int i = 0; i < c->n; i++) {
    const ga__measure *measure = &c->signal[i].measure;
    if (c->psi >= 0 && !measure->rate) continue;
    for (int k = 0; k < measure->n; k++) {
      const ga__measure_term *term = &measure->term[k];
      const double weight = term->c * v->d1[1 + i];
      ga__measure_eval at;
      double K[144], slope[12];
      int pair[4];
      ga__measure_eval_at(&at, K, e, term, measure->rate);
      pairs_of(c, term, pair);
      if (Q) ga__add_curvature(Q, e->b, pair, at.tiles, scale * weight, K);
      if (!row) continue;
      slope_of(slope, at.w, K);
      add_twelve(c, row, term, weight, slope);
    }
  }
}

static void holonomic_jacobian(const ga__eval *e, const constraint *c, values *v, ga_jacobian *J)
{
  const size_t width = width_of(c);
  const double lambda = e->p->lambda[c->lambda];
  sum_gradients(c, v, v->g, 0, v->row);
  if (J->want & GA_WANT_D) add_row(e->b, c, J->D, 1, 1, v->row);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) add_row(e->b, c, J->Q, 0, 1, v->row);
  if (J->want & GA_WANT_Q) add_products(e->b, c, v, J->Q, lambda, v->g, 0, v->g, 0);
  memset(v->row, 0, width * sizeof *v->row);
  if (J->want & (GA_WANT_Q | GA_WANT_G))
    add_curvatures(e, c, v, lambda, J->want & GA_WANT_Q ? J->Q : NULL, v->row);
  if (!(J->want & GA_WANT_G)) return;
  for (int i = 0; i < c->n; i++) {
    const double *F = v->d2 + (1 + i) * (1 + c->n);
    double along = 0; /* of F_i, along the motion */
    for (int j = 0; j <= c->n; j++) along += F[j] * v->rate[j];
    for (size_t s = 0; s < width; s++) v->row[s] += along * v->g[(size_t)i * width + s];
  }
  add_row(e->b, c, J->G, 0, 1, v->row);
}

static void nonholonomic_jacobian(const ga__eval *e, const constraint *c, values *v, ga_jacobian *J)
{
  const double psi = e->p->psi[c->psi];
  if (J->want & GA_WANT_D) {
    sum_gradients(c, v, v->a, 1, v->row);
    add_row(e->b, c, J->D, 0, J->shift_v, v->row);
    add_row(e->b, c, J->D, 1, 1, v->row);
    if (ga__wants_forces(J) && J->shift_v != 0)
      add_products(e->b, c, v, J->D, J->shift_v * psi, v->a, 1, v->a, 1);
  }
  if (!(J->want & GA_WANT_Q)) return;
  sum_gradients(c, v, v->g, 0, v->row);
  add_row(e->b, c, J->Q, 0, 1, v->row);
  add_curvatures(e, c, v, psi, J->Q, NULL);
  add_products(e->b, c, v, J->Q, psi, v->a, 1, v->g, 0);
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const constraint *c = el->data;
  const int first = c->lambda >= 0 && !(J->want & (GA_WANT_Q | GA_WANT_G));
  values v = values_in(c, e->work->scratch);
  ga_fault fault;
  eval_signals(e, c, c->psi >= 0, &v);
  if (derive(c, &v, !first, &fault)) return fail(e, el, &v, &fault);
  if (c->lambda >= 0)
    holonomic_jacobian(e, c, &v, J);
  else
    nonholonomic_jacobian(e, c, &v, J);
  return 0;
}

/* ---- Energy, signals ---- */

/* Constraint forces do work at the rate −λ B v = λ Φ_t, −ψ A v. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const constraint *c = el->data;
  values v = values_in(c, e->work->scratch);
  const int status = eval_row(e, el, &v);
  if (status) return status;
  if (c->lambda >= 0) {
    out->in += e->p->lambda[c->lambda] * v.d1[0];
    return 0;
  }
  for (int i = 0; i < c->n; i++)
    if (c->signal[i].measure.rate) out->in -= e->p->psi[c->psi] * v.d1[1 + i] * v.x[1 + i];
  return 0;
}

static int work_term(const ga__mbs_model *b, const ga__element *el, ga__work_term *out)
{
  const constraint *c = el->data;
  (void)b;
  out->needs_kin = 1;
  return c->psi >= 0 || ga_expr_uses(c->expr, GA_SYMBOL_VARIABLE, 0);
}

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 2;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  const constraint *c = el ? el->data : NULL;
  if (i == 0) {
    ga__signal_set(out, "force", c ? c->force_unit : "",
                   c && c->psi >= 0 ? GA__PROBE_MULTIPLIER_OF_K : GA__PROBE_MULTIPLIER, 0);
    if (c) out->probe.index = c->psi >= 0 ? c->psi : c->lambda;
    return;
  }
  ga__signal_set(out, "error", c ? c->unit : "", GA__PROBE_ERROR, 0);
  out->probe.owner = part;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  (void)i;
  return along_motion(e, el, 0, out);
}

static const char *unit_of_row(const ga__element *el, int rate)
{
  const constraint *c = el->data;
  return rate ? "" : c->unit;
}

/* ---- Jumps ---- */

static int visit(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit_site, void *user)
{
  const constraint *c = el->data;
  (void)b;
  return visit_site(user,
                    &(ga__break_site){.expr = c->expr, .drive = -1, .restart_order = c->lambda >= 0 ? 2 : 1});
}

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b;
  return ga_expr_has_edges(((const constraint *)el->data)->expr, 0);
}

static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const constraint *c = el->data;
  values v = values_in(c, e->work->scratch);
  eval_signals(e, c, 0, &v);
  return ga_expr_side(c->expr, v.x, out) != GA_OK;
}

/* ---- Units ---- */

/* "m^2*kg/s", of a dimension without rad where that is only half of the unit of a torque. */
void ga__write_unit(char *text, size_t size, const ga_dimension *d)
{
  static const char *const name[GA_N_BASE_UNITS] = {"m", "kg", "s", "A", "K", "mol", "cd", "rad"};
  static const struct {
    ga_dimension dimension;
    const char *unit;
  } known[] = {
      {{{1, 1, -2}}, "N"}, {{{2, 1, -2}}, "N*m"}, {{{0, 1, -2}}, "N/m"}, {{{2, 1, -3}}, "W"}, {{{0}}, "1"}};
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (memcmp(&known[i].dimension, d, sizeof *d) == 0) {
      ga__write(&w, "%s", known[i].unit);
      return;
    }
  for (int below = 0; below < 2; below++)
    for (int i = 0; i < GA_N_BASE_UNITS; i++) {
      const int power = below ? -d->power[i] : d->power[i];
      if (power <= 0) continue;
      ga__write(&w, "%s%s", below ? (w.used ? "/" : "1/") : w.used ? "*" : "", name[i]);
      if (power > 1) ga__write(&w, "^%d", power);
    }
}

/* Units of the expression and of the force: power divided by the rate of the expression, or by the expression
 * itself if it is a rate. */
static void set_units(constraint *c, const ga__dimension_known *known)
{
  ga_dimension force = {{2, 1, c->psi >= 0 ? -3 : -2}};
  if (!known->known) return;
  ga__write_unit(c->unit, sizeof c->unit, &known->dimension);
  for (int i = 0; i < GA_N_BASE_UNITS - 1; i++)
    force.power[i] = (signed char)(force.power[i] - known->dimension.power[i]);
  ga__write_unit(c->force_unit, sizeof c->force_unit, &force);
}

/* Compares the given unit with that of the terms. */
static ga_status check_unit(ga_machine *m, const ga__part *part, const char *text, ga__dimension_known *known)
{
  char is[2 * GA_TEXT_PIECE], expected[2 * GA_TEXT_PIECE], detail[3 * GA_TEXT_PIECE];
  ga_dimension given;
  ga_text_error error;
  const ga_status status = ga_unit_parse(m->ctx, text, NULL, &given, &error);
  if (status == GA_ERR_ARGUMENT) ga__blame_field(m, part, "unit");
  if (status) return status;
  if (known->known && memcmp(&known->dimension, &given, sizeof given) != 0) {
    ga_dimension_text(is, sizeof is, &given);
    ga_dimension_text(expected, sizeof expected, &known->dimension);
    snprintf(detail, sizeof detail, "'%.*s' is %s", GA_TEXT_PIECE / 2, text, is);
    return ga__refuse_part(
        m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_WRONG_DIMENSION,
        (ga__facts){.field = "unit", .name = text, .detail = detail, .expected = expected});
  }
  *known = (ga__dimension_known){1, given};
  return GA_OK;
}

ga_status ga__expression_dimension(ga_machine *m, const ga__part *part, const char *field,
                                   const ga_expr *expr, const ga__dimension_known *variable, const char *unit,
                                   ga__dimension_known *known)
{
  ga_dimension sum[2];
  ga__expr_piece piece;
  char first[2 * GA_TEXT_PIECE], second[2 * GA_TEXT_PIECE];
  if (ga__expr_dimension(expr, variable, known, sum, &piece)) {
    ga_dimension_text(first, sizeof first, &sum[0]);
    ga_dimension_text(second, sizeof second, &sum[1]);
    return ga__refuse_part(
        m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_SUM_OF_DIMENSIONS,
        (ga__facts){.field = field, .name = ga_expr_text(expr), .other = first, .detail = second});
  }
  return unit ? check_unit(m, part, unit, known) : GA_OK;
}

static ga_status take_units(ga_machine *m, const ga__part *part, const ga_constraint_def *def, constraint *c,
                            const ga__dimension_known *variable)
{
  ga__dimension_known known;
  const ga_status status = ga__expression_dimension(m, part, "zero", c->expr, variable, def->unit, &known);
  if (!status) set_units(c, &known);
  return status;
}

/* ---- Building ---- */

static void release(ga_context *ctx, ga__element *el)
{
  constraint *c = el->data;
  ga_expr_destroy(&c->expr);
  void *const owned[] = {c->signal, c->wrt, c->node, c->pair};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) ga__free(ctx, owned[i]);
}

/* One signal: its measure, nodes and dimension. */
static ga_status take_signal(ga_machine *m, ga__mbs_model *b, const ga__part *part, const char *name,
                             constraint *c, int i, ga__dimension_known *dimension)
{
  signal_use *use = &c->signal[i];
  const char *unit;
  ga_status status = ga__signal_motion(m, b, part, "zero", name, &use->probe, &unit);
  if (!status) status = ga__measure_make(m, b, &use->probe, &use->measure);
  if (status) return status;
  if (use->probe.kind == GA__PROBE_GAUGE || use->probe.kind == GA__PROBE_GAUGE_RATE)
    unit = ga__motion_unit(ga__gauge_is_angle(b, use->probe.gauge),
                           use->measure.rate ? GA_UNIT_RATE : GA_UNIT_VALUE);
  dimension->known = ga_unit_parse(m->ctx, unit, NULL, &dimension->dimension, NULL) == GA_OK;
  for (int k = 0; k < use->measure.n; k++)
    for (int side_ = 0; side_ < 2; side_++) {
      const int node = use->measure.term[k].node[side_];
      if (node > 0 && slot_of(c, node) < 0) c->node[c->n_nodes++].node = node;
    }
  return GA_OK;
}

static ga_status take_signals(ga_machine *m, ga__mbs_model *b, const ga__part *part, const char *text,
                              const ga__name_list *names, constraint *c, ga__dimension_known *dimension)
{
  ga_status status = GA_OK;
  for (int i = 0; i < c->n && !status; i++) {
    status = take_signal(m, b, part, names->symbols[1 + i].name, c, i, &dimension[1 + i]);
    status = ga__names_blame(m, text, names, i, status);
  }
  for (int i = 0; i <= c->n && !status; i++) c->wrt[i] = i;
  return status;
}

static int uses_velocities(const constraint *c)
{
  for (int i = 0; i < c->n; i++)
    if (c->signal[i].measure.rate) return 1;
  return 0;
}

/* Checks of the text: it constrains something, has the given type, and is smooth. */
static ga_status check_text(ga_machine *m, const ga__part *part, const ga_constraint_def *def,
                            const constraint *c)
{
  static const char *const name[] = {"auto", "holonomic", "nonholonomic"};
  const int velocities = uses_velocities(c);
  ga__expr_piece kink;
  if (c->n_nodes == 0)
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_HOLDS_NOTHING,
                           (ga__facts){.field = "zero",
                                       .name = def->zero,
                                       .detail = c->n ? "all that it uses is fixed to the ground"
                                                      : "it uses no signal of the machine"});
  if (def->type != GA_CONSTRAINT_AUTO && velocities != (def->type == GA_CONSTRAINT_NONHOLONOMIC))
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_OTHER_CONSTRAINT,
                           (ga__facts){.field = "type",
                                       .name = def->zero,
                                       .expected = name[def->type],
                                       .detail = velocities ? "uses velocities: it is nonholonomic"
                                                            : "uses no velocities: it is holonomic"});
  if (ga__expr_find_kink(c->expr, &kink))
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_CONSTRAINT_KINK,
                           (ga__facts){.field = "zero", .name = def->zero, .other = kink.operation});
  return GA_OK;
}

/* 1: the gradient is zero or negligible: very small, or changing by its own size within a very small motion.
 */
static int is_singular(const constraint *c, const values *v)
{
  const size_t width = width_of(c);
  const double *gradient = c->lambda >= 0 ? v->g : v->a;
  double first = 0, second = 0;
  sum_gradients(c, v, gradient, c->lambda < 0, v->row);
  for (size_t s = 0; s < width; s++) first = fmax(first, fabs(v->row[s]));
  for (int i = 0; i < c->n; i++)
    for (int j = 0; j < c->n; j++) {
      double left = 0, right = 0;
      for (size_t s = 0; s < width; s++) {
        left = fmax(left, fabs(gradient[(size_t)i * width + s]));
        right = fmax(right, fabs(gradient[(size_t)j * width + s]));
      }
      second = fmax(second, fabs(v->d2[(1 + i) * (1 + c->n) + 1 + j]) * left * right);
    }
  return !(first > SINGULAR * fmax(1, second));
}

/* At the initial positions the expression must be defined, and constrain a motion. */
static ga_status check_start(ga_machine *m, ga__mbs_model *b, const ga__part *part, const constraint *c)
{
  const ga_point p = {.t = m->opts.t_start};
  const ga__eval e = {m, b, &p, b->kin, NULL};
  double *room = ga__alloc(m->ctx, size_of(c), sizeof *room);
  if (!room) return ga__no_memory(m->ctx, "a constraint");
  values v = values_in(c, room);
  char text[GA_ERROR_NAME];
  ga_status status = GA_OK;
  ga_fault fault;
  for (int i = 0; i < c->n_nodes; i++) ga__kin_initial(b, c->node[i].node, b->kin);
  eval_signals(&e, c, 0, &v);
  list_values(b, c, &v, text, sizeof text);
  if (derive(c, &v, 1, &fault)) {
    ga__refuse_at_start(m->ctx, part, GA_ERR_INCONSISTENT, "zero", p.t, c->expr, text, &fault);
    status = GA_ERR_INCONSISTENT;
  } else if (is_singular(c, &v)) {
    status = ga__refuse_part(m->ctx, part, GA_ERR_INCONSISTENT, GA_REASON_CONSTRAINT_SINGULAR,
                             (ga__facts){.field = "zero",
                                         .name = ga_expr_text(c->expr),
                                         .other = text,
                                         .expected = c->lambda >= 0 ? "small motion" : "velocity"});
  }
  ga__free(m->ctx, room);
  return status;
}

static ga_status take_memory(ga_machine *m, int n, constraint *c, ga__dimension_known **dimension)
{
  const size_t many = (size_t)n, nodes = 4 * many + 1;
  c->n = n;
  c->signal = ga__alloc(m->ctx, many + 1, sizeof *c->signal);
  c->wrt = ga__alloc(m->ctx, many + 1, sizeof *c->wrt);
  c->node = ga__alloc(m->ctx, nodes, sizeof *c->node);
  *dimension = ga__alloc(m->ctx, many + 1, sizeof **dimension);
  return c->signal && c->wrt && c->node && *dimension ? GA_OK : ga__no_memory(m->ctx, "a constraint");
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int index)
{
  const ga__part *part = &m->part[index];
  const ga_constraint_def *def = part->def;
  const ga__element *el = ga__element_add(m, b, index, &ga__constraint_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  constraint *c = el->data;
  ga__name_list names = {.text = NULL};
  ga__dimension_known *dimension = NULL;
  c->lambda = c->psi = -1;
  ga_status status = ga__names_compile(m, part, "zero", def->zero, 0, NULL, &names, &c->expr);
  if (!status) status = take_memory(m, names.n - 1, c, &dimension);
  if (!status) status = take_signals(m, b, part, def->zero, &names, c, dimension);
  if (!status) status = check_text(m, part, def, c);
  if (!status)
    status = uses_velocities(c) ? ga__label_psi(m, b, index, "expression", &c->psi)
                                : ga__label_lambda(m, b, index, "expression", &c->lambda);
  if (!status) status = take_units(m, part, def, c, dimension);
  if (!status && b->stage == GA__STAGE_MACHINE) status = check_start(m, b, part, c);
  ga__free(m->ctx, dimension);
  ga__names_free(m->ctx, &names);
  return status;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const constraint *c = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < c->n_nodes && !status; i++)
    for (int j = 0; j < c->n_nodes && !status; j++)
      status = ga__want_block(b, c->node[i].node, c->node[j].node, 0);
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  constraint *c = el->data;
  const int row = b->nv + (c->lambda >= 0 ? c->lambda : b->n_lambda + c->psi), n = c->n_nodes;
  c->pair = ga__alloc(b->m->ctx, (size_t)(n * n), sizeof *c->pair);
  if (!c->pair) return GA_ERR_MEMORY;
  for (int i = 0; i < n; i++) {
    c->node[i].B = ga__own_rows(&b->pattern, node_at(b, c, i), row, 1, 0);
    c->node[i].Bt = ga__own_rows(&b->pattern, node_at(b, c, i), row, 1, 1);
    if (c->node[i].B < 0 || c->node[i].Bt < 0) return GA_ERR_MEMORY;
    for (int j = 0; j < n; j++)
      c->pair[i * n + j] = ga__find_pair(&b->pattern, c->node[i].node, c->node[j].node);
  }
  return GA_OK;
}

const ga__element_type ga__constraint_type = {
    .rank = GA__RANK_ROLLING,
    .no_accelerations = 1,
    .size = sizeof(constraint),
    .create = {[GA__CREATE_CONSTRAINTS] = create},
    .want = want,
    .bind = bind,
    .release = release,
    .force = force,
    .phi = phi,
    .k = k,
    .k_along = k_along,
    .jacobian = jacobian,
    .scratch = scratch,
    .powers = powers,
    .work_term = work_term,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .unit_of_row = unit_of_row,
    .visit = visit,
    .has_edges = has_edges,
    .side = side,
};
