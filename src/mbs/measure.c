/* Measures: signals as functions of positions and velocities, with the derivatives that constraints need.
 *
 * Positions are gauges, of which gauge.c has gradient g and curvature K. Velocities are a · w with a that
 * turns: rates of gauges, a = g, and with an axis e of marker a, δe = δφ_a × e, and r of marker b, δr = δφ_b
 * × r,
 *
 *   e · (u + ω × r)   a_b = (e, r × e),  δ(r × e) = (r eᵀ − (r·e) I) δφ_b + ((r·e) I − e rᵀ) δφ_a
 *   e · ω             a_b = (0, e) */
#include "mbs/measure.h"

#include "lie/mat3.h"
#include <string.h>

enum { RA = 1, XB = 2, RB = 3 }; /* tiles of K: rows and columns (x_a, φ_a, x_b, φ_b) */
#define TILE(i, j) (1u << (4 * (i) + (j)))

/* ---- Evaluation ---- */

/* tile (i, j) of K */
static double *tile_at(double K[144], int i, int j)
{
  return K + 36 * i + 3 * j;
}

static void store_tile(double K[144], int i, int j, const double T[9])
{
  for (int r = 0; r < 3; r++) memcpy(tile_at(K, i, j) + 12 * r, T + 3 * r, 3 * sizeof *T);
}

/* p qᵀ − (p·q) I */
static void turn_of(double T[9], double scale, const double p[3], const double q[3])
{
  const double dot = ga__vec3_dot(p, q);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) T[3 * i + j] = scale * (p[i] * q[j] - (i == j ? dot : 0.0));
}

static void velocity_eval(ga__measure_eval *out, double *K, const ga__eval *e, const ga__measure_term *term)
{
  const ga__marker *marker = e->b->marker.at;
  const int spin = term->kind == GA__MEASURE_SPIN;
  ga__frame a, b;
  double T[9];
  ga__frame_at(&a, marker + term->a, e->kin);
  ga__frame_at(&b, marker + term->b, e->kin);
  const double axis[3] = {a.A[term->axis], a.A[3 + term->axis], a.A[6 + term->axis]};
  memset(out->g, 0, sizeof out->g);
  memcpy(out->g + (spin ? 9 : 6), axis, sizeof axis);
  if (!spin) ga__vec3_cross(out->g + 9, b.r, axis);
  out->tiles = spin ? TILE(RB, RA) : TILE(XB, RA) | TILE(RB, RA) | TILE(RB, RB);
  if (!K) return;
  memset(K, 0, 144 * sizeof *K);
  ga__mat3_skew(T, -1, axis);
  store_tile(K, spin ? RB : XB, RA, T);
  if (spin) return;
  turn_of(T, -1, axis, b.r);
  store_tile(K, RB, RA, T);
  turn_of(T, 1, b.r, axis);
  store_tile(K, RB, RB, T);
}

void ga__measure_eval_at(ga__measure_eval *out, double *K, const ga__eval *e, const ga__measure_term *term,
                         int rate)
{
  for (int side = 0; side < 2; side++)
    memcpy(out->w + 6 * side, e->kin[term->node[side]].w, 6 * sizeof *out->w);
  if (term->kind == GA__MEASURE_GAUGE) {
    ga__gauge_eval at;
    ga__gauge_eval_at(&at, GA__AT(e->b->gauge, ga__gauge, term->gauge), e->b->marker.at, e->kin);
    ga__gauge_gradient(out->g, &at);
    out->tiles = ga__gauge_tiles(at.gauge);
    if (K) ga__gauge_curvature(K, &at);
    out->value = rate ? 0.0 : ga__gauge_value(&at);
  } else {
    velocity_eval(out, K, e, term);
  }
  if (rate) out->value = ga__dot12(out->g, out->w);
}

/* ---- Building ---- */

static int node_of(const ga__mbs_model *b, int marker)
{
  return GA__AT(b->marker, ga__marker, marker)->node;
}

static void add_gauge(const ga__mbs_model *b, ga__measure *out, int gauge, double c)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  ga__measure_term *term = &out->term[out->n++];
  *term = (ga__measure_term){.kind = GA__MEASURE_GAUGE, .c = c, .gauge = gauge};
  term->node[0] = node_of(b, g->a);
  term->node[1] = g->kind == GA__SCALAR ? 0 : node_of(b, g->b);
}

static ga_status make_gauge(ga_machine *m, ga__mbs_model *b, const ga__gauge *gauge, double c,
                            ga__measure *out)
{
  const int index = ga__add_gauge(m, b, gauge);
  if (index < 0) return GA_ERR_MEMORY;
  add_gauge(b, out, index, c);
  return GA_OK;
}

/* e · (p_of − p_from): along an axis of the ground one gauge, along one that turns the difference of two. */
static ga_status make_position(ga_machine *m, ga__mbs_model *b, const ga__probe *probe, ga__measure *out)
{
  const int of = probe->of, from = probe->from < 0 ? 0 : probe->from,
            axes = probe->axes < 0 ? 0 : probe->axes;
  ga__gauge gauge = {.kind = GA__WORLD, .a = from, .b = of};
  if (node_of(b, axes) == 0) {
    const double *A = GA__AT(b->marker, ga__marker, axes)->A;
    for (int i = 0; i < 3; i++) gauge.u[i] = A[3 * i + probe->component];
    return make_gauge(m, b, &gauge, 1, out);
  }
  gauge = (ga__gauge){.kind = GA__ALONG, .a = axes, .b = of};
  gauge.u[probe->component] = 1;
  ga_status status = make_gauge(m, b, &gauge, 1, out);
  gauge.b = from;
  if (!status && from != axes) status = make_gauge(m, b, &gauge, -1, out);
  return status;
}

ga_status ga__measure_make(ga_machine *m, ga__mbs_model *b, const ga__probe *probe, ga__measure *out)
{
  const int axes = probe->axes < 0 ? 0 : probe->axes;
  *out = (ga__measure){.rate = 0};
  switch (probe->kind) {
  case GA__PROBE_POSITION:
    return make_position(m, b, probe, out);
  case GA__PROBE_ANGLE:
    return make_gauge(m, b, &(ga__gauge){.kind = GA__PLANE_ANGLE, .a = 0, .b = probe->of}, 1, out);
  case GA__PROBE_VELOCITY:
  case GA__PROBE_ANGULAR_VELOCITY:
    out->rate = out->n = 1;
    out->term[0] = (ga__measure_term){.kind = probe->kind == GA__PROBE_VELOCITY ? GA__MEASURE_VELOCITY
                                                                                : GA__MEASURE_SPIN,
                                      .c = 1,
                                      .a = axes,
                                      .b = probe->of,
                                      .axis = probe->component,
                                      .node = {node_of(b, axes), node_of(b, probe->of)}};
    return GA_OK;
  default: /* a gauge, or its rate */
    out->rate = probe->kind == GA__PROBE_GAUGE_RATE;
    add_gauge(b, out, probe->gauge, 1);
    return GA_OK;
  }
}
