/* Cables: mass points connected by elements that pull and never push.
 *
 * With l the distance of two neighbours and L their distance along the cable without tension, the tension is
 *
 *   N = max(0, EA (ε + τ ε')),   ε = (l − L)/L
 *
 * Damping (Kelvin–Voigt) never makes N negative: N is continuous, with a kink where an element becomes slack
 * or taut. The stored energy is EA L max(0, ε)²/2; the remaining power of N is dissipated and never negative.
 *
 * Masses: half of an element's at each end (body.c), and of its mass m L
 *
 *   (m L/12) [−1 1; 1 −1] more,
 *
 * the mean of masses lumped to nodes and of those of linear motion between them: the errors of both in the
 * speed of waves, of order two and of opposite signs, cancel.
 *
 * Bending stiffness, where there is any, adds a force to N t (cable_bend.c). */
#include "mbs/cable.h"
#include "mbs/along.h"
#include "mbs/cable_bend.h"
#include "mbs/channel.h"
#include "mbs/curve.h"
#include "mbs/cut.h"
#include "mbs/element.h"

#include "expr/side.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Data of the element of the machine. */
typedef struct cable {
  int first, n; /* node of its first end; elements */
  ga__cable_line line;
  double damping; /* [s] */
  double *s;      /* [n + 1] where nodes are along it */
  int *pair;      /* [4 n] aa, ab, ba, bb */
  ga__bending bending;
  ga__line_loads loads;
} cable;

static const cable *cable_of(const ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_of(b, part);
  return el ? el->data : NULL;
}

static int bends(const cable *u)
{
  return u->bending.EI > 0;
}

static double length_of(const cable *u, int i)
{
  return u->s[i + 1] - u->s[i];
}

/* ---- Input ---- */

static ga__beam_fault out_of_range(const char *field, double value, const char *unit, const char *expected)
{
  return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, field, expected, value, unit};
}

/* Stiffness and mass, given or from a round section. */
static ga__beam_fault make_section(const ga_cable_def *d, ga__cable_line *out)
{
  const double area = 0.25 * 3.14159265358979323846 * d->diameter * d->diameter;
  const int round = d->diameter > 0 || d->young > 0 || d->density > 0;
  const struct {
    const char *name, *unit;
    double value;
  } shape[] = {{"diameter", "m", d->diameter}, {"young", "Pa", d->young}, {"density", "kg/m^3", d->density}},
    number[] = {{"stiffness", "N", d->stiffness}, {"mass_per_length", "kg/m", d->mass_per_length}};
  for (int i = 0; i < 2; i++)
    if (round && number[i].value != 0)
      return out_of_range(number[i].name, number[i].value, number[i].unit,
                          "left out where diameter, young and density are given");
  for (int i = 0; i < 3; i++)
    if (round && !(shape[i].value > 0))
      return out_of_range(shape[i].name, shape[i].value, shape[i].unit,
                          "> 0, as diameter, young and density go together");
  for (int i = 0; i < 2; i++)
    if (!round && !(number[i].value > 0))
      return out_of_range(number[i].name, number[i].value, number[i].unit,
                          "> 0, or diameter, young and density be given");
  out->EA = round ? d->young * area : d->stiffness;
  out->mass = round ? d->density * area : d->mass_per_length;
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

/* Length of the initial line. */
static ga__beam_fault measure(const ga_cable_def *d, double *distance)
{
  const ga__curve curve = {d->points, d->n_points};
  double chord[3];
  *distance = 0;
  if (d->points) {
    const ga__beam_fault fault = ga__points_fault(d->points, d->n_points, d->point_size);
    for (int i = 0; i < 3 && !fault.reason; i++)
      if (!isnan(d->from[i]) || !isnan(d->to[i]))
        return out_of_range(isnan(d->from[i]) ? "to" : "from", isnan(d->from[i]) ? d->to[i] : d->from[i], "m",
                            "left out where points are given");
    if (!fault.reason) *distance = ga__curve_length(&curve);
    return fault;
  }
  for (int i = 0; i < 3; i++) {
    if (isnan(d->from[i]) || isnan(d->to[i]))
      return out_of_range(isnan(d->from[i]) ? "from" : "to", NAN, "m",
                          "given: a cable begins at from and ends at to");
    chord[i] = d->to[i] - d->from[i];
  }
  *distance = sqrt(ga__vec3_dot(chord, chord));
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

ga__beam_fault ga__cable_make(const ga_cable_def *d, ga__cable_line *out)
{
  double distance;
  const ga__beam_fault fault = measure(d, &distance);
  if (fault.reason) return fault;
  out->length = isnan(d->length) ? distance : d->length;
  if (isnan(d->length) && !(distance > 0))
    return out_of_range("to", d->to[0], "m", "another point than from, or length be given");
  if (!(out->length > 0)) return out_of_range("length", out->length, "m", "> 0");
  if (d->elements < 1) return out_of_range("elements", d->elements, NULL, "at least 1");
  if (d->elements < 2 && d->bending_stiffness > 0)
    return out_of_range("elements", d->elements, NULL, "at least 2 for bending_stiffness");
  return make_section(d, out);
}

/* ---- Building ---- */

/* Node i: half the mass of each neighbouring element, with the velocity of the initial rigid motion. */
static ga_status add_node(ga_machine *m, ga__mbs_model *b, int part, cable *u, int i, const double x[3])
{
  const ga_cable_def *d = m->part[part].def;
  const double *start = d->points ? d->points : d->from;
  const double arm[3] = {x[0] - start[0], x[1] - start[1], x[2] - start[2]};
  double turn[3];
  int node;
  const ga_status status =
      ga__node_add_point(m, b, part, ga__along_share(u->s, u->n, i) * u->line.mass, x, &node);
  if (status) return status;
  ga__node *made = GA__AT(b->node, ga__node, node);
  ga__vec3_cross(turn, d->omega, arm);
  for (int k = 0; k < 3; k++) made->v0[k] = d->velocity[k] + turn[k];
  made->number = i + 1;
  if (i == 0) u->first = node;
  return GA_OK;
}

/* Positions on the curve through its points, scaled evenly to its length. */
static void follow_points(const ga_cable_def *d, const cable *u, double *x)
{
  static const double any[3] = {NAN, NAN, NAN};
  const ga__curve curve = {d->points, d->n_points};
  const double stretch = ga__curve_length(&curve) / u->line.length;
  double t[3], start[9];
  ga__curve_tangent(&curve, 0, t);
  ga__section_axes(t, any, start);
  for (int i = 0; i <= u->n; i++) {
    double R[9], turn;
    ga__curve_at(&curve, start, stretch * u->s[i], x + 3 * i, R, &turn);
  }
}

static double distance_of(const ga_cable_def *d)
{
  const double chord[3] = {d->to[0] - d->from[0], d->to[1] - d->from[1], d->to[2] - d->from[2]};
  return sqrt(ga__vec3_dot(chord, chord));
}

/* Places on a longer catenary, such that elements are as long as weight stretches them on average. Chords of
 * the cable's own curve are shorter than it: all elements would be slack, only bending would hold them, and
 * the search for an equilibrium would begin far from it. s[n + 1]: work space. */
static void stretch_hanging(const ga_cable_def *d, const double gravity[3], const cable *u, double *s,
                            double *x)
{
  const double weight = u->line.mass * u->line.length * sqrt(ga__vec3_dot(gravity, gravity));
  const double stretch = 1 + fmin(0.1, 0.5 * weight / u->line.EA);
  memcpy(s, u->s, ((size_t)u->n + 1) * sizeof *s);
  for (int round = 0; round < 3; round++) {
    double before = 0;
    for (int i = 0; i < u->n; i++) {
      double chord[3];
      for (int k = 0; k < 3; k++) chord[k] = x[3 * i + 3 + k] - x[3 * i + k];
      const double size = sqrt(ga__vec3_dot(chord, chord)), wanted = stretch * length_of(u, i);
      const double along = (s[i + 1] - before) * (size > 0.8 * wanted ? wanted / size : 1); /* no folds */
      before = s[i + 1];
      s[i + 1] = s[i] + along;
    }
    ga__cable_hang(d->from, d->to, gravity, s, u->n, x);
  }
}

static ga_status add_nodes(ga_machine *m, ga__mbs_model *b, int part, cable *u)
{
  const ga_cable_def *d = m->part[part].def;
  double *x = ga__alloc(m->ctx, 4 * ((size_t)u->n + 1), sizeof *x), *s = x ? x + 3 * (u->n + 1) : NULL;
  if (!x) return ga__no_memory(m->ctx, "a cable");
  ga_status status = GA_OK;
  if (d->points)
    follow_points(d, u, x);
  else
    ga__cable_hang(d->from, d->to, m->opts.gravity, u->s, u->n, x);
  if (!d->points && d->bending_stiffness > 0 && u->line.length > distance_of(d))
    stretch_hanging(d, m->opts.gravity, u, s, x);
  if (!status) status = ga__list_reserve(m->ctx, &b->node, u->n + 1);
  for (int i = 0; i <= u->n && !status; i++) status = add_node(m, b, part, u, i, x + 3 * i);
  ga__free(m->ctx, x);
  return status;
}

static ga_status create_nodes(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_cable_def *d = m->part[part].def;
  const ga__element *el = ga__element_add(m, b, part, &ga__cable_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  cable *u = el->data;
  ga__cable_make(d, &u->line); /* already checked when the part was added */
  u->damping = d->damping;
  ga_status status = ga__along_divide(m, part, u->line.length, d->elements, &u->n, &u->s);
  if (status) return status;
  u->pair = ga__alloc(m->ctx, 4 * (size_t)u->n, sizeof *u->pair);
  if (!u->pair) return ga__no_memory(m->ctx, "a cable");
  status = add_nodes(m, b, part, u);
  if (!status)
    status = ga__bending_create(m->ctx, d->bending_stiffness, d->damping, u->first, u->n, u->s, u->pair,
                                &u->bending);
  ga__marker *own = status ? NULL : ga__list_add(m->ctx, &b->marker);
  if (!own) return status ? status : GA_ERR_MEMORY;
  own->node = u->first;
  own->A[0] = own->A[4] = own->A[8] = 1;
  b->part_node[part] = u->first;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

ga__along ga__cable_along(const ga__mbs_model *b, int part)
{
  const cable *u = cable_of(b, part);
  return (ga__along){u->first, u->n, u->s};
}

static ga_status create_loads(ga_machine *m, ga__mbs_model *b, int part)
{
  cable *u = ga__element_of(b, part)->data;
  return ga__line_loads_create(m, b, part, u->s, u->n, u->first, &u->loads);
}

static void release(ga_context *ctx, ga__element *el)
{
  cable *u = el->data;
  ga__line_loads_free(ctx, &u->loads);
  ga__free(ctx, u->s);
  ga__free(ctx, u->pair);
  ga__free(ctx, u->bending.far);
}

/* A marker is at a node; a cable has no rotation of sections. */
static ga_status place(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out)
{
  const cable *u = cable_of(b, part);
  int i = 0;
  for (int k = 1; k < 3; k++)
    if (pose->position[k] != 0)
      return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_OFF_CABLE,
                        &(ga__facts){.field = "position",
                                     .name = m->part[part].name,
                                     GA__NUMBERS({pose->position[1], "m"}, {pose->position[2], "m"})});
  const ga_status status = ga__along_find(m, part, u->s, u->n, pose->position[0], &i);
  if (status) return status;
  *out = (ga__marker){.node = u->first + i};
  memcpy(out->A, pose->rotation, sizeof out->A);
  return GA_OK;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const cable *u = el->data;
  ga_status status = ga__along_want(b, u->first, u->n);
  if (!status && bends(u)) status = ga__bending_want(b, &u->bending);
  return status ? status : ga__line_loads_want(b, &u->loads);
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  cable *u = el->data;
  ga__along_bind(b, u->first, u->n, u->pair);
  if (bends(u)) ga__bending_bind(b, &u->bending);
  return ga__line_loads_bind(b, &u->loads);
}

/* ---- An element ---- */

/* Distance and direction of its ends, tension, and derivatives of that by l and l'. */
typedef struct stretch {
  double l, rate, t[3], across[3]; /* across: (I − t tᵀ)(vb − va)/l, the derivative of l' by xb */
  double N, by_l, by_rate;
  double elastic; /* of N */
  int taut;
} stretch;

static void stretch_at(stretch *s, const cable *u, int i, const ga__kin *a)
{
  const double L = length_of(u, i), stiffness = u->line.EA / L;
  double d[3], v[3];
  for (int k = 0; k < 3; k++) d[k] = a[1].x[k] - a[0].x[k], v[k] = a[1].w[k] - a[0].w[k];
  s->l = sqrt(ga__vec3_dot(d, d));
  for (int k = 0; k < 3; k++) s->t[k] = s->l > 0 ? d[k] / s->l : 0;
  s->rate = ga__vec3_dot(s->t, v);
  for (int k = 0; k < 3; k++) s->across[k] = s->l > 0 ? (v[k] - s->rate * s->t[k]) / s->l : 0;
  const double N = stiffness * (s->l - L + u->damping * s->rate);
  s->taut = N > 0;
  s->N = s->taut ? N : 0;
  s->by_l = s->taut ? stiffness : 0;
  s->by_rate = s->taut ? stiffness * u->damping : 0;
  s->elastic = stiffness * fmax(0, s->l - L);
}

/* K = D_q(N t) by xb; by xa it is −K. t ((∂N/∂l) t + (∂N/∂l') across)ᵀ + (N/l)(I − t tᵀ) */
static void stiffness_of(const stretch *s, double K[9])
{
  const double turn = s->taut && s->l > 0 ? s->N / s->l : 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      K[3 * i + j] =
          s->t[i] * (s->by_l * s->t[j] + s->by_rate * s->across[j]) + turn * ((i == j) - s->t[i] * s->t[j]);
}

/* By vb; by va it is the opposite. */
static void damping_of(const stretch *s, double C[9])
{
  for (int i = 0; i < 9; i++) C[i] = s->by_rate * s->t[i / 3] * s->t[i % 3];
}

/* Coupling of the masses of both ends, m L/12. */
static double coupling_of(const cable *u, int i)
{
  return u->line.mass * length_of(u, i) / 12;
}

/* ---- Evaluation ---- */

static double *force_of(const ga__eval *e, const cable *u, int node, double *f)
{
  return f + GA__AT(e->b->node, ga__node, u->first + node)->v;
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const cable *u = el->data;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    double *at[2] = {force_of(e, u, i, out), force_of(e, u, i + 1, out)};
    for (int k = 0; k < 3; k++) {
      const double p = coupling_of(u, i) * (a[1].acc[k] - a[0].acc[k]);
      at[0][k] += p, at[1][k] -= p;
    }
  }
  return 0;
}

/* The force in an element, of its second node on its first: N t, and what bending adds. */
static void pull(const ga__eval *e, const cable *u, int i, const stretch *s, double F[3])
{
  for (int k = 0; k < 3; k++) F[k] = s->N * s->t[k];
  if (bends(u)) ga__bending_force(e, &u->bending, i, 0, F);
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const cable *u = el->data;
  double *value = e->work->scratch, sum[12];
  const int status = ga__line_loads_values(e, &u->loads, value);
  for (int i = 0; i < u->n && !status; i++) {
    stretch s;
    double *at[2] = {force_of(e, u, i, f), force_of(e, u, i + 1, f)};
    double F[3];
    stretch_at(&s, u, i, &e->kin[u->first + i]);
    pull(e, u, i, &s, F);
    ga__line_loads_sum(&u->loads, value, i, sum);
    for (int k = 0; k < 3; k++) {
      const double half = 0.5 * length_of(u, i) * sum[k];
      at[0][k] += F[k] + half;
      at[1][k] -= F[k] - half;
    }
  }
  return status;
}

static void add_tiles(const ga__eval *e, const cable *u, int i, double scale, const double K[9], double *to)
{
  for (int k = 0; k < 4; k++)
    ga__add_tile(to, e->b, u->pair[4 * i + k], GA__XX, k == 0 || k == 3 ? scale : -scale, K);
}

static void add_load_ports(const ga__eval *e, const cable *u, double *D)
{
  const ga__line_loads *all = &u->loads;
  for (int j = 0; j < 6 * all->n; j++) {
    const ga__line_load *load = &all->at[j / 6];
    for (int i = load->first; load->value[j % 6].y >= 0 && i < load->last; i++) {
      double w[6] = {0};
      w[j % 6] = 0.5 * length_of(u, i);
      for (int k = 0; k < 2; k++)
        ga__add_port(D, e->b, all->port[6 * (j / 6 * all->n_nodes + i + k) + j % 6], -1, w);
    }
  }
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const cable *u = el->data;
  const int forces = ga__wants_forces(J);
  if (!(J->want & (GA_WANT_D | GA_WANT_Q))) return 0;
  for (int i = 0; i < u->n; i++) {
    stretch s;
    double K[9];
    stretch_at(&s, u, i, &e->kin[u->first + i]);
    if (J->want & GA_WANT_D) add_tiles(e, u, i, -J->shift_vdot * coupling_of(u, i), one, J->D);
    if (forces && J->want & GA_WANT_D && u->damping > 0) {
      damping_of(&s, K);
      add_tiles(e, u, i, J->shift_v, K, J->D);
    }
    if (forces && J->want & GA_WANT_Q) {
      stiffness_of(&s, K);
      add_tiles(e, u, i, 1, K, J->Q);
    }
  }
  if (forces && bends(u)) ga__bending_jacobian(e, &u->bending, J);
  if (forces && J->want & GA_WANT_D) add_load_ports(e, u, J->D);
  return 0;
}

/* ---- Slack and taut ---- */

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

/* 1: at least one element pulls. Single elements of a cable that pulls elsewhere go slack and taut with every
 * wave in it; at their kinks, where N is continuous, steps keep their order without ending there. */
static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const cable *u = el->data;
  int taut = 0;
  for (int i = 0; i < u->n && !taut; i++) {
    stretch s;
    stretch_at(&s, u, i, &e->kin[u->first + i]);
    taut = s.taut;
  }
  ga__mix_side(out, taut);
  return 0;
}

static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  unsigned taut = 0, slack = 0;
  (void)b;
  *out = (ga__limit){.words = "is slack", .needs_kin = 1};
  if (i > 0 || !e) return i == 0;
  side(e, el, &taut);
  ga__mix_side(&slack, 0);
  out->reached = taut == slack;
  return 1;
}

static int may_hide(const ga__element *el)
{
  (void)el;
  return 1;
}

static void ends_at(const ga__mbs_model *b, const cable *u, int i, const ga_instant *at, ga__kin end[2])
{
  for (int k = 0; k < 2; k++)
    ga__kin_other(GA__AT(b->node, ga__node, u->first + i + k), at->q, at->v, NULL, &end[k]);
}

/* The largest distance of an element's ends within a piece: at most that of the Bézier points of the cubic
 * that goes through both ends of the piece. */
static double longest(const ga__mbs_model *b, const cable *u, int i, const ga_piece *p)
{
  const double h = (p->t[1] - p->t[0]) / 3;
  ga__kin at[2][2];
  double most = 0;
  for (int k = 0; k < 2; k++) ends_at(b, u, i, &p->end[k], at[k]);
  for (int k = 0; k < 4; k++) {
    const ga__kin *near = at[k / 2];
    const double go = k == 1 ? h : k == 2 ? -h : 0;
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = near[1].x[c] - near[0].x[c] + go * (near[1].w[c] - near[0].w[c]);
    most = fmax(most, sqrt(ga__vec3_dot(d, d)));
  }
  return most;
}

/* 1: the whole cable is slack there. */
static int is_slack(const ga__mbs_model *b, const cable *u, const ga_instant *at)
{
  for (int i = 0; i < u->n; i++) {
    ga__kin end[2];
    stretch s;
    ends_at(b, u, i, at, end);
    stretch_at(&s, u, i, end);
    if (s.taut) return 0;
  }
  return 1;
}

/* A cable that is slack at both ends of a step, but may pull within the piece. */
static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const cable *u = el->data;
  if (!is_slack(w->b, u, &step->end[0]) || !is_slack(w->b, u, &step->end[1])) return 0;
  for (int i = 0; i < u->n; i++)
    if (longest(w->b, u, i, piece) > length_of(u, i)) return 1;
  return 0;
}

/* ---- Energy ---- */

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const cable *u = el->data;
  double *value = e->work->scratch, sum[12];
  const int status = ga__line_loads_values(e, &u->loads, value);
  if (status) return status;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    const double L = length_of(u, i);
    stretch s;
    stretch_at(&s, u, i, a);
    ga__line_loads_sum(&u->loads, value, i, sum);
    out->potential += 0.5 * s.elastic * fmax(0, s.l - L);
    out->lost += (s.N - s.elastic) * s.rate;
    for (int k = 0; k < 3; k++) {
      const double v = a[1].w[k] - a[0].w[k];
      out->kinetic -= 0.5 * coupling_of(u, i) * v * v;
      out->in += 0.5 * L * sum[k] * (a[0].w[k] + a[1].w[k]);
    }
  }
  if (bends(u)) {
    double stored, lost;
    ga__bending_energy(e, &u->bending, &stored, &lost);
    out->potential += stored;
    out->lost += lost;
  }
  return 0;
}

static int list_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  const cable *u = el->data;
  (void)b;
  work->needs_kin = 1;
  return u->damping > 0 || u->loads.n > 0;
}

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  *f = NULL;
  return ga__line_loads_use(&((cable *)el->data)->loads, i, in);
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  (void)b;
  return ga__line_loads_unit(&((const cable *)el->data)->loads, y);
}

static size_t scratch(const ga__element *el)
{
  return 6 * (size_t)((const cable *)el->data)->loads.n;
}

/* ---- Signals ---- */

static const struct {
  const char *name, *unit;
} NODE_SIGNAL[] = {{"tension", "N"},  {"fx", "N"},   {"fy", "N"},   {"fz", "N"},
                   {"moment", "N*m"}, {"mx", "N*m"}, {"my", "N*m"}, {"mz", "N*m"}};
enum { N_FORCE_SIGNALS = 4, N_NODE_SIGNALS = sizeof NODE_SIGNAL / sizeof *NODE_SIGNAL };

/* Signals of each node: moments only where there is bending stiffness. */
static int signals_of_node(const ga_cable_def *d)
{
  return d->bending_stiffness > 0 ? N_NODE_SIGNALS : N_FORCE_SIGNALS;
}

/* A signal of a node by the number of its value. */
typedef struct node_value {
  int node, moment; /* 1: of the moment, 0: of the force */
  int axis;         /* −1: its size */
} node_value;

static node_value node_value_of(const cable *u, int i)
{
  const int count = bends(u) ? N_NODE_SIGNALS : N_FORCE_SIGNALS, which = (i - 1) % count;
  return (node_value){(i - 1) / count, which / N_FORCE_SIGNALS, which % N_FORCE_SIGNALS - 1};
}

/* Force in the cable at a node, ground axes, of the following piece on the preceding one. It differs from N
 * in the middle of the element by inertia, weight and loads of half an element. */
static int force_at(const ga__eval *e, const cable *u, int node, double F[3])
{
  double *value = e->work->scratch, sum[12] = {0};
  int end;
  const int i = ga__along_element(u->n, node, &end);
  const ga__kin *a = &e->kin[u->first + i];
  const double half = 0.5 * length_of(u, i), *g = e->m->opts.gravity, load = ga__load_factor(e);
  stretch s;
  const int status = ga__line_loads_values(e, &u->loads, value);
  stretch_at(&s, u, i, a);
  pull(e, u, i, &s, F);
  if (!status) ga__line_loads_sum(&u->loads, value, i, sum);
  for (int k = 0; k < 3 && !status; k++) {
    const double needed = half * (u->line.mass * (a[end].acc[k] - load * g[k]) - sum[k]) +
                          coupling_of(u, i) * (a[1 - end].acc[k] - a[end].acc[k]);
    F[k] += end ? needed : -needed;
  }
  return status;
}

static int stored_energy(const ga__eval *e, const cable *u, double *value)
{
  *value = 0;
  for (int i = 0; i < u->n; i++) {
    stretch s;
    stretch_at(&s, u, i, &e->kin[u->first + i]);
    *value += 0.5 * s.elastic * fmax(0, s.l - length_of(u, i));
  }
  if (bends(u)) {
    double stored, lost;
    ga__bending_energy(e, &u->bending, &stored, &lost);
    *value += stored;
  }
  return 0;
}

/* The force or the moment at a node. */
static int vector_at(const ga__eval *e, const cable *u, node_value which, double F[3])
{
  if (!which.moment) return force_at(e, u, which.node, F);
  ga__bending_moment(e, &u->bending, which.node, F);
  return 0;
}

/* Numbers of values: 0 the energy, then those of the first node, of the second, ... */
static int value_of_signal(const ga__eval *e, const ga__element *el, int i, double *value)
{
  const cable *u = el->data;
  double F[3] = {NAN, NAN, NAN};
  if (i == 0) return stored_energy(e, u, value);
  const node_value which = node_value_of(u, i);
  const int status = vector_at(e, u, which, F);
  *value = which.axis >= 0 ? F[which.axis] : sqrt(ga__vec3_dot(F, F));
  return status;
}

/* ---- Derivatives of signals, for feedback ---- */

/* The nodes that a value depends on: all for the energy; for a force those of its element, with bending also
 * the next ones; for a moment the neighbours, none at the ends. */
static int nodes_of_value(const cable *u, int i, int *first)
{
  int end;
  *first = 0;
  if (i == 0) return u->n + 1;
  const node_value which = node_value_of(u, i);
  const int at = which.moment ? which.node - 1 : ga__along_element(u->n, which.node, &end);
  if (which.moment && (at < 0 || at + 2 > u->n)) return 0;
  const int before = !which.moment && bends(u) && at > 0,
            after = which.moment || (bends(u) && at + 2 <= u->n);
  *first = at - before;
  return before + 2 + after;
}

static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const cable *u = el->data;
  int end, first;
  const int nodes = nodes_of_value(u, i, &first),
            n = ga__along_columns(b, u->first + first, nodes, 3, column, room);
  if (i == 0 || node_value_of(u, i).moment) return n;
  const int at = ga__along_element(u->n, node_value_of(u, i).node, &end);
  return ga__line_loads_columns(b, &u->loads, at, column, n, room);
}

static void energy_slopes(const ga__eval *e, const cable *u, double *dq)
{
  for (int i = 0; i < u->n; i++) {
    stretch s;
    double F[3];
    stretch_at(&s, u, i, &e->kin[u->first + i]);
    for (int c = 0; c < 3; c++) F[c] = s.elastic * s.t[c];
    if (bends(u)) ga__bending_force(e, &u->bending, i, 1, F);
    for (int c = 0; c < 3; c++) {
      dq[3 * i + c] -= F[c];
      dq[3 * i + 3 + c] += F[c];
    }
  }
}

/* out[k + 1] += scale · row · K, out[k] −= it: K by the vector along the element from node k to k + 1. */
static void add_row(double *out, int k, double scale, const double row[3], const double K[9])
{
  for (int c = 0; c < 3; c++) {
    const double by = scale * (row[0] * K[c] + row[1] * K[3 + c] + row[2] * K[6 + c]);
    out[3 * k + c] -= by;
    out[3 * k + 3 + c] += by;
  }
}

/* row · δM, by nodes node − 1 to node + 1. */
static void moment_slopes(const ga__eval *e, const cable *u, int node, double shift_v, const double row[3],
                          double *d, double *dq)
{
  double by_d[18], by_rate[18];
  if (node < 1 || node >= u->n) return;
  ga__bending_moment_slopes(e, &u->bending, node, by_d, by_rate);
  for (int k = 0; k < 2; k++) {
    add_row(d, k, shift_v, row, by_rate + 9 * k);
    add_row(dq, k, 1, row, by_d + 9 * k);
  }
}

/* row · δF of force_at(), by nodes from `first` on. */
static void force_slopes(const ga__eval *e, const cable *u, int node, int first, double shift_v,
                         double shift_vdot, const double row[3], double *d, double *dq)
{
  int end;
  const int at = ga__along_element(u->n, node, &end);
  const double sign = end ? 1 : -1, half = 0.5 * length_of(u, at);
  double K[9], C[9];
  stretch s;
  stretch_at(&s, u, at, &e->kin[u->first + at]);
  stiffness_of(&s, K);
  damping_of(&s, C);
  add_row(d, at - first, shift_v, row, C);
  add_row(dq, at - first, 1, row, K);
  for (int k = 0; k < 2; k++) {
    const double mass = k == end ? half * u->line.mass - coupling_of(u, at) : coupling_of(u, at);
    for (int c = 0; c < 3; c++) d[3 * (at - first + k) + c] += shift_vdot * sign * mass * row[c];
  }
  if (!bends(u)) return;
  double by_d[27], by_rate[27];
  ga__bending_slopes(e, &u->bending, at, by_d, by_rate);
  for (int k = 0; k < 3; k++) {
    if (at - 1 + k < 0 || at - 1 + k >= u->n) continue;
    add_row(d, at - 1 + k - first, shift_v, row, by_rate + 9 * k);
    add_row(dq, at - 1 + k - first, 1, row, by_d + 9 * k);
  }
}

/* row: along an axis, or along the vector itself for its size. */
static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const cable *u = el->data;
  double F[3], row[3];
  int first, end, n = 3 * nodes_of_value(u, i, &first);
  memset(d, 0, (size_t)n * sizeof *d);
  memset(dq, 0, (size_t)n * sizeof *dq);
  if (i == 0) return energy_slopes(e, u, dq), 0;
  const node_value which = node_value_of(u, i);
  const int status = vector_at(e, u, which, F);
  if (status) return status;
  const double size = sqrt(ga__vec3_dot(F, F));
  for (int c = 0; c < 3; c++) row[c] = which.axis >= 0 ? c == which.axis : size > 0 ? F[c] / size : 0;
  if (which.moment) return moment_slopes(e, u, which.node, shift_v, row, d, dq), 0;
  force_slopes(e, u, which.node, first, shift_v, shift_vdot, row, d, dq);
  const int at = ga__along_element(u->n, which.node, &end);
  for (int j = 0; j < 6 * u->loads.n; j++) {
    if (!ga__line_load_feeds(&u->loads.at[j / 6], j % 6, at)) continue;
    d[n] = (end ? -0.5 : 0.5) * length_of(u, at) * row[j % 6]; /* loads on cables have no moments */
    dq[n++] = 0;
  }
  return 0;
}

static int n_node_signals(const ga__mbs_model *b, int part)
{
  return signals_of_node(b->m->part[part].def);
}

static void node_signal(const ga__mbs_model *b, int part, int node, int i, ga__signal_def *out)
{
  const int number = 1 + signals_of_node(b->m->part[part].def) * (node - b->part_node[part]) + i;
  ga__signal_set(out, NODE_SIGNAL[i].name, NODE_SIGNAL[i].unit, GA__PROBE_ELEMENT, number);
  out->probe.owner = part;
}

static int n_signals(const ga__mbs_model *b, int part)
{
  return ga__n_point_signals(b, part) + n_node_signals(b, part) + 1;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const int more = i - ga__n_point_signals(b, part);
  if (more < 0) {
    ga__frame_signal(b, part, i, out);
  } else if (more < n_node_signals(b, part)) {
    node_signal(b, part, b->part_node[part], more, out);
  } else {
    ga__signal_set(out, "strain_energy", "J", GA__PROBE_ELEMENT, 0);
    out->probe.owner = part;
  }
}

/* ---- Shape for pictures ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  return cable_of(b, part)->n;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const int first = b->part_node[part] + i;
  const ga_cable_def *d = b->m->part[part].def;
  *out = (ga__drawing){.kind = GA_SHAPE_CABLE, .a = first, .b = first + 1, .size = 0.5 * d->diameter};
}

static int piece_load(const ga__element *el, int i, const ga__kin *kin, ga_piece_load *out)
{
  const cable *u = el->data;
  stretch s;
  stretch_at(&s, u, i, &kin[u->first + i]);
  *out = (ga_piece_load){.strain = {(s.l - length_of(u, i)) / length_of(u, i)}, .force = {s.N}};
  return 0;
}

/* ---- Resolution of modes ---- */

static void cuts(const ga__element *el, ga__cuts *out)
{
  const cable *u = el->data;
  *out = (ga__cuts){.first = u->first,
                    .n = u->n,
                    .size = 3,
                    .excess = 1,
                    .s = u->s,
                    .damping = u->damping,
                    .by_l4 = INFINITY};
}

/* What holds transverse waves of frequency √w2 in elements of length L: m w2 = N k² + EI k⁴ = pull k². EI
 * acts at nodes, which with these masses makes its part less by (kL)²/12. */
static double transverse_pull(const cable *u, double N, double w2, double L)
{
  const double m = u->line.mass, EI = u->bending.EI;
  if (!(EI > 0)) return N;
  const double pull = 0.5 * (N + sqrt(N * N + 4 * EI * m * fabs(w2))), k2 = m * fabs(w2) / pull;
  return N + EI * k2 * fmax(0, 1 - k2 * L * L / 12);
}

/* One of 2^level pieces of an element with mass, stiffness and length divided by them. */
static void cut_piece(const cable *u, int i, const stretch *s, double w2, int level, double D[36])
{
  const double pieces = ldexp(1, level), L = length_of(u, i) / pieces, mass = u->line.mass * L,
               pull = transverse_pull(u, s->N, w2, L);
  for (int k = 0; k < 36; k++) {
    const int row = k / 6, col = k % 6, same = row / 3 == col / 3;
    const double one = row % 3 == col % 3, along = s->t[row % 3] * s->t[col % 3];
    const double K = pieces * (s->by_l * along + pull / s->l * (one - along));
    D[k] = (same ? K : -K) - w2 * mass / 12 * (same ? 5 : 1) * one;
  }
}

static int cut(const ga__element *el, int i, const ga__kin *kin, double w2, int level, double D[144])
{
  const cable *u = el->data;
  ga__kin at[2] = {kin[u->first + i], kin[u->first + i + 1]};
  stretch s;
  int status = 0;
  for (int k = 0; k < 2; k++) memset(at[k].w, 0, sizeof at[k].w);
  stretch_at(&s, u, i, at);
  if (!s.taut) return 1;
  cut_piece(u, i, &s, w2, level, D);
  for (int k = 0; k < level && !status; k++) {
    double half[36];
    memcpy(half, D, sizeof half);
    status = ga__cut_join(3, half, half, D);
  }
  return status;
}

const ga__element_type ga__cable_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(cable),
    .create = {[GA__CREATE_BODIES] = create_nodes, [GA__CREATE_FORCES] = create_loads},
    .want = want,
    .bind = bind,
    .release = release,
    .mass = mass,
    .force = force,
    .jacobian = jacobian,
    .place = place,
    .powers = powers,
    .limit = limit,
    .work_term = list_work,
    .get_input = get_input,
    .scratch = scratch,
    .unit_of_input = unit_of_input,
    .has_edges = has_edges,
    .side = side,
    .may_hide = may_hide,
    .hides = hides,
    .n_signals = n_signals,
    .signal = signal,
    .value = value_of_signal,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .n_node_signals = n_node_signals,
    .node_signal = node_signal,
    .n_shapes = n_shapes,
    .shape = shape,
    .piece_load = piece_load,
    .cuts = cuts,
    .cut = cut,
};
