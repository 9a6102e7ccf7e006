/* Elastic stops: a force law on one gauge, free between two limits. With l = ρ − rest, and at the upper limit
 * s = 1, δ = l − upper, at the lower one s = −1, δ = lower − l, and δ' = s ρ':
 *
 *   E = k δ (δ/depth)^(n−1) + φ(δ),  N = max(0, E (1 + d δ') + c δ'),  F = s N  where δ > 0; else 0
 *
 * E (1 + d δ') is the law of Hunt and Crossley 1975, whose force is continuous where contact begins. Edges
 * are where contact begins or ends, and where N would pull. E is stored, the rest of N dissipates. */
#include "expr/side.h"
#include "mbs/law_impl.h"

#include <math.h>

/* Where a gauge is: depth 0 between the limits. */
typedef struct stop_place {
  double sign, depth, rate;
} stop_place;

static stop_place place_of(const ga_stop_def *def, double l, double rate)
{
  if (l > def->upper) return (stop_place){1, l - def->upper, rate};
  if (l < def->lower) return (stop_place){-1, def->lower - l, -rate};
  return (stop_place){0, 0, 0};
}

/* k δ (δ/depth)^(n−1) and its slope, without φ. */
static double elastic_force(const ga_stop_def *def, double depth, double *slope)
{
  const double k =
      def->exponent > 1 ? def->stiffness * pow(depth / def->depth, def->exponent - 1) : def->stiffness;
  *slope = def->exponent * k;
  return k * depth;
}

/* The distance of b's origin along an axis of a. */
static ga_status resolve_axis(ga_machine *m, ga__mbs_model *b, ga__law *law, const ga_stop_def *def)
{
  const ga__part *part = &m->part[law->part];
  ga__gauge along = {.kind = GA__ALONG};
  along.u[def->direction - GA_STOP_X] = 1;
  ga_status status = ga__resolve_frame(m, b, part, "a", def->a, &along.a);
  if (!status) status = ga__resolve_frame(m, b, part, "b", def->b, &along.b);
  if (status) return status;
  if (GA__AT(b->marker, ga__marker, along.a)->node == GA__AT(b->marker, ga__marker, along.b)->node)
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                           (ga__facts){.name = def->a, .other = def->b});
  law->gauge[0] = ga__add_gauge(m, b, &along);
  return law->gauge[0] < 0 ? GA_ERR_MEMORY : GA_OK;
}

static ga_status resolve(ga_machine *m, ga__mbs_model *b, ga__law *law)
{
  const ga__part *part = &m->part[law->part];
  const ga_stop_def *def = GA__LAW_DEF(ga_stop_def, b, law);
  int other;
  law->n = 1;
  law->may_hide = 1;
  if (def->direction != GA_STOP_LINE) return resolve_axis(m, b, law, def);
  ga_status status = ga__resolve_line(m, b, part, def->a, def->b, def->coordinate, &law->gauge[0]);
  if (status || !def->other) return status;
  status = ga__resolve_coordinate(m, b, part, "other", def->other, GA__TURNS, &other);
  if (!status) status = ga__add_sum(m, b, law->part, law->gauge[0], other, def->ratio, &law->gauge[0]);
  if (!status) law->rest = ga__gauge_initial(b, law->gauge[0]);
  return status;
}

static int rests_at_start(const ga__mbs_model *b, const ga__law *law)
{
  return GA__LAW_DEF(ga_stop_def, b, law)->other != NULL;
}

static int force(const ga__eval *e, const ga__law *law, ga__law_eval *at, int slopes)
{
  const ga_stop_def *def = GA__LAW_DEF(ga_stop_def, e->b, law);
  const stop_place p = place_of(def, at->rho[0] - law->rest, at->rate[0]);
  double slope;
  if (p.depth == 0) return 0;
  double E = elastic_force(def, p.depth, &slope);
  const int status = ga__law_add_function(e, law, "force", def->force, p.depth, &E, slopes ? &slope : NULL);
  const double damp = 1 + def->dissipation * p.rate, N = E * damp + def->damping * p.rate;
  if (status || N <= 0) return status;
  at->F[0] = p.sign * N;
  at->by_rho[0] = slope * damp;
  at->by_rate[0] = E * def->dissipation + def->damping;
  return 0;
}

/* Of N δ' the part E δ' is stored; where N is cut off because it would pull, it is lost with δ. */
static int power(const ga__eval *e, const ga__law *law, const ga__law_eval *at, ga__law_power *power)
{
  const ga_stop_def *def = GA__LAW_DEF(ga_stop_def, e->b, law);
  const stop_place p = place_of(def, at->rho[0] - law->rest, at->rate[0]);
  double slope, work = 0;
  if (p.depth == 0) return 0;
  double E = elastic_force(def, p.depth, &slope);
  power->stored = E * p.depth / (def->exponent + 1);
  int status = ga__law_add_function(e, law, "force", def->force, p.depth, &E, NULL);
  if (!status && def->force) status = ga__law_integral(def->force, p.depth, &work);
  power->stored += work;
  power->fades = at->F[0] == 0;
  power->lost = (p.sign * at->F[0] - E) * p.rate;
  return status;
}

/* Term 0: the force without φ, which grows with ρ and ρ'. Term 1: φ, at the limit that is passed. */
static int bounds(ga__workspace *work, const ga__law *law, int term, const ga__law_range *r, double out[2])
{
  const ga_stop_def *def = GA__LAW_DEF(ga_stop_def, work->b, law);
  stop_place p[2];
  for (int i = 0; i < 2; i++) p[i] = place_of(def, r->rho[i] - law->rest, r->rate[i]);
  if (term == 1) {
    const double most = fmax(p[0].depth, p[1].depth);
    if (!def->force) return 0;
    out[0] = out[1] = 0;
    return most == 0 || ga_function_bounds(def->force, 0, most, &out[0], &out[1]);
  }
  for (int i = 0; i < 2; i++) {
    double slope;
    const double E = elastic_force(def, p[i].depth, &slope);
    out[i] = p[i].depth > 0
                 ? p[i].sign * fmax(0, E * (1 + def->dissipation * p[i].rate) + def->damping * p[i].rate)
                 : 0;
  }
  return 1;
}

static int has_edges(const ga__mbs_model *b, const ga__law *law)
{
  (void)b, (void)law;
  return 1;
}

/* Free; pressed at the upper or the lower limit; leaving it so fast that it would pull. */
static int side(const ga__eval *e, const ga__law *law, double rho, double rate, unsigned *side)
{
  const ga_stop_def *def = GA__LAW_DEF(ga_stop_def, e->b, law);
  const stop_place p = place_of(def, rho - law->rest, rate);
  double slope, E = elastic_force(def, p.depth, &slope);
  if (p.depth > 0 && def->force) {
    if (ga__law_add_function(e, law, "force", def->force, p.depth, &E, NULL)) return 1;
    if (ga_function_side(def->force, p.depth, side)) return 1;
  }
  const int pulls = E * (1 + def->dissipation * p.rate) + def->damping * p.rate < 0;
  ga__mix_side(side, p.depth == 0 ? 0 : (p.sign > 0 ? 1 : 3) + pulls);
  return 0;
}

static double depth(const ga__mbs_model *b, const ga__law *law, double rho)
{
  return place_of(GA__LAW_DEF(ga_stop_def, b, law), rho - law->rest, 0).depth;
}

static int shape(const ga__mbs_model *b, const ga__law *law, int i, ga__drawing *out)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, law->gauge[0]);
  *out = (ga__drawing){.kind = GA_SHAPE_LINE, .a = g->a, .b = g->b, .size = 0};
  return i == 0 && g->kind == GA__DISTANCE;
}

const ga__law_type ga__stop_law = {
    .resolve = resolve,
    .force = force,
    .power = power,
    .products = 1,
    .n_terms = 2,
    .bounds = bounds,
    .has_edges = has_edges,
    .side = side,
    .rests_at_start = rests_at_start,
    .force_name = "force",
    .sign = -1,
    .depth = depth,
    .shape = shape,
};
