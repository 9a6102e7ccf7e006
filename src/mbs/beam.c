/* Beams: a chain of nodes with the elements of beam_element.h between them.
 *
 * There are nodes at markers, and evenly between these. Each has half of the mass of its elements, as a rigid
 * body (body.c); the remaining inertia is that of the element. */
#include "mbs/beam.h"
#include "mbs/along.h"
#include "mbs/channel.h"
#include "mbs/curve.h"
#include "mbs/coordinate.h"
#include "mbs/cut.h"
#include "mbs/element.h"
#include "mbs/smooth.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* [rad] largest angle between the ends of an unloaded element. */
#define LARGEST_BEND 1.5707963267948966

/* Data of the element of the machine. */
typedef struct beam {
  int first, n; /* node of the first section; elements */
  ga_pose start;
  double length, curvature[3];
  ga__beam_section section;
  ga__beam_element *element; /* [n] */
  double *s;                 /* [n + 1] where nodes are along the axis */
  int *pair;                 /* [4 n] aa, ab, ba, bb */
  ga__line_loads loads;
} beam;

static const beam *beam_of(const ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_of(b, part);
  return el ? el->data : NULL;
}

/* ---- The reference ---- */

/* Functions of f² = κ² s²: sin f/f, (1 − cos f)/f², (f − sin f)/f³ */
static void turn_functions(double f2, double out[3])
{
  const double f = sqrt(f2), half = sin(0.5 * f);
  if (f2 < 0.01) {
    out[0] = 1 - f2 / 6 * (1 - f2 / 20 * (1 - f2 / 42 * (1 - f2 / 72)));
    out[1] = 0.5 * (1 - f2 / 12 * (1 - f2 / 30 * (1 - f2 / 56 * (1 - f2 / 90))));
    out[2] = 1.0 / 6 * (1 - f2 / 20 * (1 - f2 / 42 * (1 - f2 / 72 * (1 - f2 / 110))));
    return;
  }
  out[0] = sin(f) / f;
  out[1] = 2 * half * half / f2;
  out[2] = (1 - out[0]) / f2;
}

/* R = I + a p~ + b p~², x = (I + b p~ + c p~²) u, d = (u, p) */
void ga__beam_exp(const double d[6], double x[3], double R[9])
{
  const double *p = d + 3, f2 = ga__vec3_dot(p, p);
  double f[3], V[9];
  turn_functions(f2, f);
  ga__mat3_about(R, 1 - f[1] * f2, f[0], f[1], p);
  ga__mat3_about(V, 1 - f[2] * f2, f[1], f[2], p);
  ga__mat3_mul_vec(x, V, d);
}

void ga__beam_reference(const double curvature[3], double s, double x[3], double R[9])
{
  const double d[6] = {s, 0, 0, s * curvature[0], s * curvature[1], s * curvature[2]};
  ga__beam_exp(d, x, R);
}

static int is_given(const double x[3])
{
  return !isnan(x[0]) || !isnan(x[1]) || !isnan(x[2]);
}

int ga__section_axes(const double axis[3], const double given[3], double R[9])
{
  static const double z[3] = {0, 0, 1}, other[3] = {1, 0, 0};
  double up[3], across[3];
  memcpy(up, is_given(given) ? given : fabs(axis[2]) > 1 - 1e-9 ? other : z, sizeof up);
  ga__vec3_cross(across, up, axis);
  const double size = sqrt(ga__vec3_dot(across, across));
  if (!(size > 1e-9 * sqrt(ga__vec3_dot(up, up)))) return 0;
  for (int i = 0; i < 3; i++) across[i] /= size;
  ga__vec3_cross(up, axis, across);
  for (int i = 0; i < 3; i++) R[3 * i] = axis[i], R[3 * i + 1] = across[i], R[3 * i + 2] = up[i];
  return 1;
}

static ga__beam_fault bad_place(const char *field, double value, const char *unit, const char *expected)
{
  return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, field, expected, value, unit};
}

ga__beam_fault ga__points_fault(const double *points, int n, int size)
{
  const ga__curve c = {points, n};
  int same;
  if (size != 3)
    return (ga__beam_fault){GA_REASON_WRONG_COUNT, "points", "rows of three numbers", size, NULL};
  if (n < 2) return (ga__beam_fault){GA_REASON_WRONG_COUNT, "points", "at least two points", n, NULL};
  for (int i = 0; i < 3 * n; i++)
    if (!isfinite(points[i])) return bad_place("points", points[i], "m", "finite numbers");
  const int at = ga__curve_fault(&c, &same);
  if (at == 0) return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
  return (ga__beam_fault){same ? GA_REASON_POINTS_COINCIDE : GA_REASON_POINTS_TURN_BACK, "points", NULL, at,
                          NULL};
}

/* Pose and length must not be given besides the ends, or besides points. */
static ga__beam_fault check_pose_left_out(const ga_beam_def *d, const char *expected)
{
  const ga_pose identity = ga_pose_identity();
  if (memcmp(&d->pose, &identity, sizeof identity) != 0)
    return bad_place("pose", d->pose.position[0], "m", expected);
  if (d->length != 0) return bad_place("length", d->length, "m", expected);
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

/* Along points: other keys for its position must not be given. */
static ga__beam_fault place_on_points(const ga_beam_def *d, ga_pose *start, double *length)
{
  const ga__curve c = {d->points, d->n_points};
  ga__beam_fault fault = ga__points_fault(d->points, d->n_points, d->point_size);
  double t[3];
  if (fault.reason) return fault;
  if (is_given(d->from) || is_given(d->to))
    return bad_place(is_given(d->from) ? "from" : "to", is_given(d->from) ? d->from[0] : d->to[0], "m",
                     "left out where points are given");
  fault = check_pose_left_out(d, "left out where points are given");
  if (fault.reason) return fault;
  for (int i = 0; i < 3; i++)
    if (d->curvature[i] != 0)
      return bad_place("curvature", d->curvature[i], "rad/m", "left out where points are given");
  ga__curve_tangent(&c, 0, t);
  *length = ga__curve_length(&c);
  memcpy(start->position, d->points, sizeof start->position);
  if (!ga__section_axes(t, d->up, start->rotation))
    return bad_place("up", d->up[0], NULL, "a direction across the beam at its first point");
  return fault;
}

/* At a pose, with a length. */
static ga__beam_fault check_pose(const ga_beam_def *d)
{
  if (!(d->length > 0)) return bad_place("length", d->length, "m", "> 0 where from and to are not given");
  if (is_given(d->up)) return bad_place("up", d->up[0], NULL, "left out where from and to are not given");
  return (ga__beam_fault){GA_REASON_NONE, NULL, NULL, 0, NULL};
}

ga__beam_fault ga__beam_place(const ga_beam_def *d, ga_pose *start, double *length)
{
  *start = d->pose;
  *length = d->length;
  if (d->points) return place_on_points(d, start, length);
  if (!is_given(d->from) && !is_given(d->to)) return check_pose(d);
  const ga__beam_fault fault = check_pose_left_out(d, "left out where from and to are given");
  if (fault.reason) return fault;
  for (int i = 0; i < 3; i++) {
    if (isnan(d->from[i]) || isnan(d->to[i]))
      return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, isnan(d->from[i]) ? "from" : "to",
                              "given, as both from and to are needed", NAN, "m"};
    start->position[i] = d->from[i];
  }
  if (d->curvature[1] != 0 || d->curvature[2] != 0)
    return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, "curvature", "a twist alone between from and to",
                            d->curvature[1] != 0 ? d->curvature[1] : d->curvature[2], "rad/m"};
  const double x[3] = {d->to[0] - d->from[0], d->to[1] - d->from[1], d->to[2] - d->from[2]};
  *length = sqrt(ga__vec3_dot(x, x));
  if (!(*length > 0))
    return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, "to", "another point than from", d->to[0], "m"};
  double axis[3];
  for (int i = 0; i < 3; i++) axis[i] = x[i] / *length;
  if (!ga__section_axes(axis, d->up, start->rotation))
    return (ga__beam_fault){GA_REASON_OUT_OF_RANGE, "up", "a direction across the beam", d->up[0], NULL};
  return fault;
}

/* ---- Nodes ---- */

static ga_status take_arrays(ga_machine *m, beam *u)
{
  const size_t n = (size_t)u->n;
  u->element = ga__alloc(m->ctx, n, sizeof *u->element);
  u->pair = ga__alloc(m->ctx, 4 * n, sizeof *u->pair);
  return u->element && u->pair ? GA_OK : ga__no_memory(m->ctx, "a beam");
}

/* The section at s along the unloaded beam: position, axes, and the angles by which the axis has turned and
 * twisted up to s. */
static void section_pose(const ga_beam_def *d, const beam *u, double s, double x[3], double R[9],
                         double *turn)
{
  const ga__curve curve = {d->points, d->n_points};
  double local[3], Rl[9];
  if (d->points) {
    ga__curve_at(&curve, u->start.rotation, s, x, R, turn);
    return;
  }
  ga__beam_reference(u->curvature, s, local, Rl);
  ga__mat3_mul_vec(x, u->start.rotation, local);
  ga__mat3_mul(R, u->start.rotation, Rl);
  for (int k = 0; k < 3; k++) x[k] += u->start.position[k];
  *turn = s * sqrt(ga__vec3_dot(u->curvature, u->curvature));
}

static ga_status check_bend(ga_machine *m, int part, const beam *u, double bend, double all)
{
  if (!(bend > LARGEST_BEND)) return GA_OK;
  return ga__refuse_part(
      m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_TOO_FEW_ELEMENTS,
      (ga__facts){
          .field = "elements",
          GA__NUMBERS({u->n, NULL}, {bend * 180 / 3.14159265358979, "deg"},
                      {ceil(fmax(all / (LARGEST_BEND / 3), u->n * bend / (LARGEST_BEND / 3))), NULL})});
}

/* The element between two positions: d₀ of a beam along points is that of their poses. */
static ga_status make_element(ga_machine *m, int part, beam *u, int i)
{
  const ga_beam_def *d = m->part[part].def;
  const double L = u->s[i + 1] - u->s[i], *k = d->curvature;
  double x[2][3], R[2][9], turn[2], all, end[3], last[9], d0[6] = {L, 0, 0, L * k[0], L * k[1], L * k[2]};
  for (int c = 0; c < 2; c++) section_pose(d, u, u->s[i + c], x[c], R[c], &turn[c]);
  section_pose(d, u, u->length, end, last, &all);
  const ga_status status = check_bend(m, part, u, turn[1] - turn[0], all);
  if (!status && d->points) ga__beam_relative(d0, x[0], R[0], x[1], R[1]);
  if (!status) ga__beam_element_make(&u->element[i], &u->section, L, d0);
  return status;
}

/* Elements, and positions of their nodes along the axis. */
static ga_status divide(ga_machine *m, int part, beam *u)
{
  const ga_beam_def *d = m->part[part].def;
  ga_status status = ga__along_divide(m, part, u->length, d->elements, &u->n, &u->s);
  if (!status) status = take_arrays(m, u);
  for (int i = 0; !status && i < u->n; i++) status = make_element(m, part, u, i);
  return status;
}

/* Node i: half the mass of each neighbouring element, with the velocity of the initial rigid motion. */
static ga_status add_node(ga_machine *m, ga__mbs_model *b, int part, beam *u, int i)
{
  const ga_beam_def *d = m->part[part].def;
  const double half = ga__along_share(u->s, u->n, i);
  double J[9], place[3], rotation[9], arm[3], turn[3], twist[6], bend;
  int node;
  section_pose(d, u, u->s[i], place, rotation, &bend);
  for (int k = 0; k < 3; k++) arm[k] = place[k] - u->start.position[k];
  ga__vec3_cross(turn, d->omega, arm);
  for (int k = 0; k < 3; k++) {
    twist[k] = d->velocity[k] + turn[k];
    twist[3 + k] = d->omega[k];
  }
  for (int k = 0; k < 9; k++) J[k] = half * u->section.J[k];
  const ga_status status = ga__node_add_rigid(m, b, part, half * u->section.mass, J, place, rotation, &node);
  if (status) return status;
  ga__node *made = GA__AT(b->node, ga__node, node);
  memcpy(made->v0, twist, sizeof twist);
  made->number = i + 1;
  if (i == 0) u->first = node;
  return GA_OK;
}

static ga_status create_nodes(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_beam_def *d = m->part[part].def;
  ga__element *el = ga__element_add(m, b, part, &ga__beam_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  beam *u = el->data;
  memcpy(u->curvature, d->curvature, sizeof u->curvature);
  ga__beam_section_make(d, &u->section); /* already checked when the part was added */
  ga__beam_place(d, &u->start, &u->length);
  ga_status status = divide(m, part, u);
  el->n_inner = 6 * u->n;
  if (!status) status = ga__list_reserve(m->ctx, &b->node, u->n + 1);
  for (int i = 0; i <= u->n && !status; i++) status = add_node(m, b, part, u, i);
  ga__marker *own = status ? NULL : ga__list_add(m->ctx, &b->marker);
  if (!own) return status ? status : GA_ERR_MEMORY;
  own->node = u->first;
  own->A[0] = own->A[4] = own->A[8] = 1;
  b->part_node[part] = u->first;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

ga__along ga__beam_along(const ga__mbs_model *b, int part)
{
  const beam *u = beam_of(b, part);
  return (ga__along){u->first, u->n, u->s};
}

static ga_status create_loads(ga_machine *m, ga__mbs_model *b, int part)
{
  beam *u = ga__element_of(b, part)->data;
  return ga__line_loads_create(m, b, part, u->s, u->n, u->first, &u->loads);
}

static void release(ga_context *ctx, ga__element *el)
{
  beam *u = el->data;
  void *const blocks[] = {u->element, u->s, u->pair};
  ga__line_loads_free(ctx, &u->loads);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(ctx, blocks[i]);
}

/* A marker: the node at its position along the axis, and its offset from the node. */
static ga_status place(ga_machine *m, ga__mbs_model *b, int part, const ga_pose *pose, ga__marker *out)
{
  const beam *u = beam_of(b, part);
  const double *at = pose->position;
  int i = 0;
  const ga_status status = ga__along_find(m, part, u->s, u->n, at[0], &i);
  if (status) return status;
  *out = (ga__marker){.node = u->first + i, .s = {at[0] - u->s[i], at[1], at[2]}};
  memcpy(out->A, pose->rotation, sizeof out->A);
  return GA_OK;
}

/* ---- The pattern ---- */

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const beam *u = el->data;
  const ga_status status = ga__along_want(b, u->first, u->n);
  return status ? status : ga__line_loads_want(b, &u->loads);
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  beam *u = el->data;
  ga__along_bind(b, u->first, u->n, u->pair);
  return ga__line_loads_bind(b, &u->loads);
}

/* ---- Evaluation ---- */

/* Reports an element that is bent too much; asks for a smaller step. */
static int too_bent(const ga__eval *e, const ga__element *el, int i)
{
  const beam *u = el->data;
  ga__refuse_part(
      e->work->ctx, &e->m->part[el->part], GA_RETRY_NAN, GA_REASON_BEAM_TOO_BENT,
      (ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1}, GA__NUMBERS({i + 1, NULL}, {u->n, NULL})});
  return 1;
}

/* Velocities of its nodes follow each other: v is that of the first node. */
static void add_twelve(double *v, int i, const double w[12])
{
  for (int c = 0; c < 12; c++) v[6 * i + c] += w[c];
}

static int first_velocity(const ga__eval *e, const beam *u)
{
  return GA__AT(e->b->node, ga__node, u->first)->v;
}

static void twists(const ga__kin *a, double v[12])
{
  memcpy(v, a[0].w, 6 * sizeof *v);
  memcpy(v + 6, a[1].w, 6 * sizeof *v);
}

/* Weight beyond that of nodes, times a factor: the parabola's part and what is off the axis turn with the
 * nodes. */
static void add_weight(const ga__eval *e, const ga__beam_axis *x, const ga__beam_element *be, double factor,
                       double w[12], double *T)
{
  const double *g = e->m->opts.gravity, mass = factor * ga__load_factor(e) * be->section->mass * be->L;
  const double f[3] = {mass * g[0], mass * g[1], mass * g[2]};
  if (f[0] != 0 || f[1] != 0 || f[2] != 0) ga__beam_add_weight(x, be, f, w, T);
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const beam *u = el->data;
  double *to = out + first_velocity(e, u);
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_axis x;
    double w[12] = {0};
    ga__beam_axis_at(&x, &u->element[i], a, a + 1);
    ga__beam_inertia(&x, &u->element[i], 1, 0, w);
    add_twelve(to, i, w);
  }
  return 0;
}

/* w += elastic and viscous forces of an element, as they act against its deformation. inner: section forces
 * that are iterates, NULL: those of the strain. */
static void add_elastic(const beam *u, int i, const ga__beam_strain *s, const ga__kin *a, const double *inner,
                        double w[12])
{
  const ga__beam_element *be = &u->element[i];
  double n[6], g[6], v[12], rate[6];
  if (inner) {
    ga__beam_mixed_gradient(s, be, inner + 6 * i, g);
  } else {
    ga__beam_force_within(s, be, n);
    ga__beam_gradient(s, be, n, g);
  }
  if (u->section.damping > 0) {
    twists(a, v);
    ga__beam_rate(s, v, rate);
    ga__beam_add_viscous(be, rate, g);
  }
  ga__beam_add_wrench(s, g, w);
}

/* against[12]: forces of element i less its weight and loads, with its M vdot or without. value: of loads. */
static void sum_forces(const ga__eval *e, const ga__element *el, int i, int with_vdot, const double *value,
                       const ga__beam_axis *x, const ga__beam_strain *s, double against[12])
{
  const beam *u = el->data;
  const ga__beam_element *be = &u->element[i];
  double with[12] = {0}, sum[12];
  memset(against, 0, 12 * sizeof *against);
  ga__beam_inertia(x, be, with_vdot, 1, against);
  add_elastic(u, i, s, x->node[0], ga__inner_of(e, el), against);
  add_weight(e, x, be, 1, with, NULL);
  if (u->loads.n) {
    ga__line_loads_sum(&u->loads, value, i, sum);
    ga__beam_load(x, be, sum, with, NULL);
  }
  for (int c = 0; c < 12; c++) against[c] -= with[c];
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const beam *u = el->data;
  double *value = e->work->scratch, *to = f + first_velocity(e, u);
  const int status = ga__line_loads_values(e, &u->loads, value);
  for (int i = 0; i < u->n && !status; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_axis x;
    ga__beam_strain s;
    double against[12];
    ga__beam_axis_at(&x, &u->element[i], a, a + 1);
    if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    sum_forces(e, el, i, 0, value, &x, &s, against);
    for (int c = 0; c < 12; c++) to[6 * i + c] -= against[c];
  }
  return status;
}

/* ---- Section forces as iterates ---- */

static int inner(const ga__eval *e, const ga__element *el, double *n)
{
  const beam *u = el->data;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_strain s;
    if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    ga__beam_force_within(&s, &u->element[i], n + el->inner + 6 * i);
  }
  return 0;
}

static int inner_step(const ga__eval *e, const ga__element *el, double *dn)
{
  const beam *u = el->data;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    const int at = el->inner + 6 * i;
    ga__beam_strain s;
    double moves[12], dd[6];
    if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    twists(a, moves);
    ga__beam_rate(&s, moves, dd);
    ga__beam_mixed_step(&s, &u->element[i], ga__inner_of(e, el) + 6 * i, dd, dn + at);
  }
  return 0;
}

/* ---- Derivatives ---- */

static void add_tangent(const ga__eval *e, const beam *u, int i, const double T[144], double *to)
{
  for (int k = 0; k < 4; k++)
    ga__add_twist_block(to, e->b, u->pair[4 * i + k], T + 72 * (k / 2) + 6 * (k % 2), 12);
}

/* By the loads themselves, where these are outputs. */
static void add_load_ports(const ga__eval *e, const beam *u, int i, const ga__beam_axis *x, double *D)
{
  const ga__line_loads *all = &u->loads;
  for (int j = 0; j < 6 * all->n; j++) {
    const ga__line_load *load = &all->at[j / 6];
    if (load->value[j % 6].y < 0 || i < load->first || i >= load->last) continue;
    double sum[12] = {0}, w[12] = {0};
    sum[(load->in_section ? 6 : 0) + j % 6] = 1;
    ga__beam_load(x, &u->element[i], sum, w, NULL);
    for (int k = 0; k < 2; k++)
      ga__add_port(D, e->b, all->port[6 * (j / 6 * all->n_nodes + i + k) + j % 6], -1, w + 6 * k);
  }
}

/* T = D_q of elastic, viscous and inertia forces less weight and loads. iterate: as in elastic(). */
static void tangent_q(const ga__eval *e, const beam *u, int i, const ga__beam_axis *x,
                      const ga__beam_strain *s, const double *iterate, const double sum[12], double T[144])
{
  const ga__beam_element *be = &u->element[i];
  double n[6], g[6], v[12], rate[6], w[12] = {0};
  if (iterate)
    memcpy(n, iterate + 6 * i, sizeof n);
  else
    ga__beam_force_within(s, be, n);
  ga__beam_gradient(s, be, n, g);
  if (u->section.damping > 0) {
    twists(x->node[0], v);
    ga__beam_rate(s, v, rate);
    ga__beam_add_viscous(be, rate, g);
  }
  ga__beam_tangent(s, be, n, g, T);
  if (u->section.damping > 0) {
    double by_q[72];
    ga__beam_rate_by_q(s, v, by_q);
    ga__beam_add_product(s, be->section->K, be->section->damping / be->L, by_q, T);
  }
  ga__beam_add_inertia_q(x, be, T);
  add_weight(e, x, be, -1, w, T);
  if (!u->loads.n) return;
  double loads[144] = {0};
  ga__beam_load(x, be, sum, w, loads);
  for (int k = 0; k < 144; k++) T[k] -= loads[k];
}

/* T = shift_vdot D_vdot + shift_v D_v of them; s NULL: of M vdot alone. */
static void tangent_d(const beam *u, int i, const ga__beam_axis *x, const ga__beam_strain *s, double shift_v,
                      double shift_vdot, double T[144])
{
  const ga__beam_element *be = &u->element[i];
  memset(T, 0, 144 * sizeof *T);
  ga__beam_add_inertia_d(x, be, shift_vdot, s ? shift_v : 0.0, T);
  if (s && u->section.damping > 0)
    ga__beam_add_product(s, be->section->K, shift_v * be->section->damping / be->L, s->P, T);
}

/* J += derivatives of element i; s NULL: of M vdot alone. value: of loads. */
static void add_derivatives(const ga__eval *e, const ga__element *el, int i, const double *value,
                            const ga__beam_axis *x, ga__beam_strain *s, ga_jacobian *J)
{
  const beam *u = el->data;
  double sum[12], T[144];
  if (s) ga__beam_set_moves(s);
  if (J->want & GA_WANT_D) {
    tangent_d(u, i, x, s, J->shift_v, J->shift_vdot, T);
    add_tangent(e, u, i, T, J->D);
    if (s) add_load_ports(e, u, i, x, J->D);
  }
  if (!s || !(J->want & GA_WANT_Q)) return;
  ga__line_loads_sum(&u->loads, value, i, sum);
  tangent_q(e, u, i, x, s, ga__inner_of(e, el), sum, T);
  add_tangent(e, u, i, T, J->Q);
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const beam *u = el->data;
  const int forces = ga__wants_forces(J);
  double *value = e->work->scratch;
  if (!(J->want & (GA_WANT_D | GA_WANT_Q))) return 0;
  const int status = forces ? ga__line_loads_values(e, &u->loads, value) : 0;
  if (status) return status;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_axis x;
    ga__beam_strain s;
    ga__beam_axis_at(&x, &u->element[i], a, a + 1);
    if (forces && ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    add_derivatives(e, el, i, value, &x, forces ? &s : NULL, J);
  }
  return 0;
}

/* M vdot − f and its derivatives in one pass. */
static int dynamics(const ga__eval *e, const ga__element *el, double *r, ga_jacobian *J)
{
  const beam *u = el->data;
  double *value = e->work->scratch, *to = r + first_velocity(e, u), against[12];
  const int status = ga__line_loads_values(e, &u->loads, value);
  const int slopes = J && ga__wants_forces(J);
  for (int i = 0; i < u->n && !status; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_axis x;
    ga__beam_strain s;
    ga__beam_axis_at(&x, &u->element[i], a, a + 1);
    if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    sum_forces(e, el, i, 1, value, &x, &s, against);
    add_twelve(to, i, against);
    if (slopes) add_derivatives(e, el, i, value, &x, &s, J);
  }
  return status || !J || slopes ? status : jacobian(e, el, J);
}

/* ---- Third derivatives ---- */

static void unloaded(const ga_beam_def *d, const beam *u, double s, ga__kin *out)
{
  double turn;
  memset(out, 0, sizeof *out);
  section_pose(d, u, s, out->x, out->R, &turn);
}

void ga__beam_add_stiffening(const ga__mbs_model *b, int part, const double *moved, ga_sparse *out)
{
  const beam *u = beam_of(b, part);
  const ga_beam_def *d = b->m->part[part].def;
  double T[144];
  for (int i = 0; i < u->n; i++) {
    ga__kin end[2];
    ga__beam_strain s;
    for (int k = 0; k < 2; k++) unloaded(d, u, u->s[i + k], &end[k]);
    if (ga__beam_strain_at(&s, &u->element[i], &end[0], &end[1])) continue; /* refused when it was built */
    ga__beam_stiffening(&s, &u->element[i], moved + 6 * i, T);
    for (int k = 0; k < 144; k++) out->value[ga_sparse_find(out, 6 * i + k / 12, 6 * i + k % 12)] += T[k];
  }
}

/* ---- Energy ---- */

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const beam *u = el->data;
  double *value = e->work->scratch, sum[12];
  const int status = ga__line_loads_values(e, &u->loads, value);
  if (status) return status;
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    const ga__beam_element *be = &u->element[i];
    ga__beam_strain s;
    ga__beam_axis x;
    double n[6], v[12], rate[6], viscous[6] = {0}, w[12] = {0};
    if (ga__beam_strain_at(&s, be, a, a + 1)) return too_bent(e, el, i);
    ga__beam_axis_at(&x, be, a, a + 1);
    ga__beam_force_within(&s, be, n);
    twists(a, v);
    ga__beam_rate(&s, v, rate);
    ga__beam_add_viscous(be, rate, viscous);
    out->potential += ga__beam_energy(&s, be, n) + ga__beam_height(&x, be, e->m->opts.gravity);
    out->kinetic += ga__beam_kinetic(&x, be);
    for (int c = 0; c < 6; c++) out->lost += viscous[c] * rate[c];
    if (!u->loads.n) continue;
    ga__line_loads_sum(&u->loads, value, i, sum);
    ga__beam_load(&x, be, sum, w, NULL);
    for (int c = 0; c < 12; c++) out->in += w[c] * v[c];
  }
  return 0;
}

static int list_work(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  const beam *u = el->data;
  (void)b;
  work->needs_kin = 1;
  return u->section.damping > 0 || u->loads.n > 0;
}

/* ---- The kind ---- */

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  *f = NULL;
  return ga__line_loads_use(&((beam *)el->data)->loads, i, in);
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  (void)b;
  return ga__line_loads_unit(&((const beam *)el->data)->loads, y);
}

/* Values of loads. */
static size_t scratch(const ga__element *el)
{
  return 6 * (size_t)((const beam *)el->data)->loads.n;
}

/* ---- Signals ---- */

static const struct {
  const char *name, *unit;
} SECTION_SIGNAL[] = {{"force_x", "N"},    {"force_y", "N"},    {"force_z", "N"},  {"moment_x", "N*m"},
                      {"moment_y", "N*m"}, {"moment_z", "N*m"}, {"strain_x", ""},  {"shear_y", ""},
                      {"shear_z", ""},     {"twist_x", "1/m"},  {"bend_y", "1/m"}, {"bend_z", "1/m"}};
enum { N_SECTION_SIGNALS = sizeof SECTION_SIGNAL / sizeof *SECTION_SIGNAL };

/* What element i does to the joint or element at its end k = 0, 1, in space: elastic and viscous forces,
 * inertia of its half and loads along it, so that forces at a place are the same from both sides. */
static int end_force(const ga__eval *e, const ga__element *el, int i, int k, double out[6])
{
  const beam *u = el->data;
  const ga__beam_element *be = &u->element[i];
  const ga__kin *a = &e->kin[u->first + i], *at = a + k;
  const double *g = e->m->opts.gravity, half = 0.5 * be->L, load = ga__load_factor(e);
  double *value = e->work->scratch, sum[12], against[12] = {0}, with[12] = {0}, Js[9], Rt[9], RJ[9], L[3],
         N[3], gyro[3];
  ga__beam_axis x;
  ga__beam_strain s;
  const int status = ga__line_loads_values(e, &u->loads, value);
  if (status) return status;
  ga__beam_axis_at(&x, be, a, a + 1);
  ga__beam_inertia(&x, be, 1, 1, against);
  if (ga__beam_strain_at(&s, be, a, a + 1)) return too_bent(e, el, i);
  add_elastic(u, i, &s, a, NULL, against);
  add_weight(e, &x, be, 1, with, NULL);
  ga__line_loads_sum(&u->loads, value, i, sum);
  if (u->loads.n) ga__beam_load(&x, be, sum, with, NULL);
  ga__mat3_transpose(Rt, at->R);
  ga__mat3_mul(RJ, at->R, u->section.J);
  ga__mat3_mul(Js, RJ, Rt);
  ga__mat3_mul_vec(L, Js, at->w + 3);
  ga__mat3_mul_vec(N, Js, at->acc + 3);
  ga__vec3_cross(gyro, at->w + 3, L);
  for (int c = 0; c < 3; c++) {
    out[c] = against[6 * k + c] - with[6 * k + c] + half * u->section.mass * (at->acc[c] - load * g[c]);
    out[3 + c] = against[6 * k + 3 + c] - with[6 * k + 3 + c] + half * (N[c] + gyro[c]);
  }
  return 0;
}

/* Force and moment in the section at a node, in its axes, of the following piece on the preceding one; and
 * their strain and change of curvature. */
static int section_at(const ga__eval *e, const ga__element *el, int node, double out[N_SECTION_SIGNALS])
{
  const beam *u = el->data;
  const int last = node == u->n;
  double six[6];
  const int status = end_force(e, el, last ? node - 1 : node, last, six);
  if (status) return status;
  for (int c = 0; c < 6; c++) six[c] *= last ? 1 : -1;
  ga__mat3_tmul_vec(out, e->kin[u->first + node].R, six);
  ga__mat3_tmul_vec(out + 3, e->kin[u->first + node].R, six + 3);
  for (int i = 0; i < 6; i++) {
    out[6 + i] = 0;
    for (int j = 0; j < 6; j++) out[6 + i] += u->section.C[6 * i + j] * out[j];
  }
  return 0;
}

static int n_node_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return N_SECTION_SIGNALS;
}

/* Numbers of values: 0 the energy, then those of the first node, of the second, ... */
static void node_signal(const ga__mbs_model *b, int part, int node, int i, ga__signal_def *out)
{
  const beam *u = beam_of(b, part);
  const int number = 1 + N_SECTION_SIGNALS * (node - u->first) + i;
  ga__signal_set(out, SECTION_SIGNAL[i].name, SECTION_SIGNAL[i].unit, GA__PROBE_ELEMENT, number);
  out->probe.owner = part;
}

/* Those of its first section, and the energy that it stores. */
static int n_signals(const ga__mbs_model *b, int part)
{
  return ga__n_rigid_signals(b, part) + N_SECTION_SIGNALS + 1;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const int section = i - ga__n_rigid_signals(b, part);
  if (section < 0) {
    ga__frame_signal(b, part, i, out);
  } else if (section < N_SECTION_SIGNALS) {
    node_signal(b, part, b->part_node[part], section, out);
  } else {
    ga__signal_set(out, "strain_energy", "J", GA__PROBE_ELEMENT, 0);
    out->probe.owner = part;
  }
}

static int stored_energy(const ga__eval *e, const ga__element *el, double *energy)
{
  const beam *u = el->data;
  *energy = 0;
  for (int k = 0; k < u->n; k++) {
    const ga__kin *a = &e->kin[u->first + k];
    ga__beam_strain s;
    double n[6];
    if (ga__beam_strain_at(&s, &u->element[k], a, a + 1)) return too_bent(e, el, k);
    ga__beam_force_within(&s, &u->element[k], n);
    *energy += ga__beam_energy(&s, &u->element[k], n);
  }
  return 0;
}

static int value_of_signal(const ga__eval *e, const ga__element *el, int i, double *value)
{
  double section[N_SECTION_SIGNALS];
  if (i == 0) return stored_energy(e, el, value);
  const int status = section_at(e, el, (i - 1) / N_SECTION_SIGNALS, section);
  *value = status ? NAN : section[(i - 1) % N_SECTION_SIGNALS];
  return status;
}

/* Those of one section. */
_Static_assert((int)N_SECTION_SIGNALS <= (int)GA__ELEMENT_VALUES, "room for a section");
static int values_of_section(const ga__eval *e, const ga__element *el, int i, int *first, double *value)
{
  *first = i;
  if (i == 0) return stored_energy(e, el, value) ? 0 : 1;
  const int node = (i - 1) / N_SECTION_SIGNALS;
  *first = 1 + N_SECTION_SIGNALS * node;
  return section_at(e, el, node, value) ? 0 : N_SECTION_SIGNALS;
}

/* ---- Derivatives of signals, for feedback ---- */

/* The energy depends on all nodes; a section on the nodes of its element, and on loads there. */
static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const beam *u = el->data;
  int end;
  const int at = i == 0 ? 0 : ga__along_element(u->n, (i - 1) / N_SECTION_SIGNALS, &end);
  const int n = ga__along_columns(b, u->first + at, i == 0 ? u->n + 1 : 2, 6, column, room);
  return i == 0 ? n : ga__line_loads_columns(b, &u->loads, at, column, n, room);
}

/* Rotary inertia of half an element, lumped to its end: of half (Js α + ω × Js ω), Js = R J Rᵀ, by (x, φ),
 * into three rows:
 *   by α  half Js,   by ω  half (ω~ Js − (Js ω)~)
 *   by φ  half (Js α~ − (Js α)~ + ω~ (Js ω~ − (Js ω)~)) */
static void rotary_slopes(const beam *u, const ga__kin *at, double half, double by_alpha[9],
                          double by_omega[9], double by_phi[9])
{
  double Rt[9], RJ[9], Js[9], L[3], N[3], wk[9], ak[9], X[9], Y[9], Z[9];
  ga__mat3_transpose(Rt, at->R);
  ga__mat3_mul(RJ, at->R, u->section.J);
  ga__mat3_mul(Js, RJ, Rt);
  ga__mat3_mul_vec(L, Js, at->w + 3);
  ga__mat3_mul_vec(N, Js, at->acc + 3);
  ga__mat3_skew(wk, 1, at->w + 3);
  ga__mat3_skew(ak, 1, at->acc + 3);
  ga__mat3_mul(X, wk, Js);
  ga__mat3_skew(Y, 1, L);
  for (int k = 0; k < 9; k++) by_alpha[k] = half * Js[k], by_omega[k] = half * (X[k] - Y[k]);
  ga__mat3_mul(X, Js, wk);
  for (int k = 0; k < 9; k++) X[k] -= Y[k];
  ga__mat3_mul(Z, wk, X);
  ga__mat3_mul(X, Js, ak);
  ga__mat3_skew(Y, 1, N);
  for (int k = 0; k < 9; k++) by_phi[k] = half * (X[k] - Y[k] + Z[k]);
}

/* D and Q [6 × 12] of end_force() by the motion of both nodes: rows of the element's end only. */
static void end_slopes(const beam *u, int i, int k, const ga__kin *a, const double by_d[144],
                       const double by_q[144], double shift_v, double shift_vdot, double D[72], double Q[72])
{
  const double half = 0.5 * u->element[i].L;
  double alpha[9], omega[9], phi[9];
  memcpy(D, by_d + 72 * k, 72 * sizeof *D);
  memcpy(Q, by_q + 72 * k, 72 * sizeof *Q);
  rotary_slopes(u, a + k, half, alpha, omega, phi);
  for (int c = 0; c < 3; c++) D[12 * c + 6 * k + c] += shift_vdot * half * u->section.mass;
  for (int c = 0; c < 9; c++) {
    const int at = 12 * (3 + c / 3) + 6 * k + 3 + c % 3;
    D[at] += shift_vdot * alpha[c] + shift_v * omega[c];
    Q[at] += phi[c];
  }
}

/* row[6]: signal number `which` as a sum of forces and moments at the end, in space: a column of ±R, or these
 * weighted by a row of the compliance. turn[3]: by the node's own rotation, which turns R. */
static void section_row(const beam *u, const double R[9], double sign, int which, const double six[6],
                        double row[6], double turn[3])
{
  double weight[6] = {0}, f[3], m[3];
  if (which < 6)
    weight[which] = 1;
  else
    memcpy(weight, u->section.C + 6 * (which - 6), sizeof weight);
  ga__mat3_mul_vec(row, R, weight);
  ga__mat3_mul_vec(row + 3, R, weight + 3);
  for (int c = 0; c < 6; c++) row[c] *= sign;
  ga__vec3_cross(f, row, six); /* (δφ × e) · f = δφ · (e × f) */
  ga__vec3_cross(m, row + 3, six + 3);
  for (int c = 0; c < 3; c++) turn[c] = f[c] + m[c];
}

static int section_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                          double *d, double *dq)
{
  const beam *u = el->data;
  const int node = (i - 1) / N_SECTION_SIGNALS;
  int end;
  const int at = ga__along_element(u->n, node, &end);
  const ga__kin *a = &e->kin[u->first + at];
  double *value = e->work->scratch, sum[12], by_d[144], by_q[144], D[72], Q[72], six[6], row[6], turn[3];
  ga__beam_axis x;
  ga__beam_strain s;
  int status = end_force(e, el, at, end, six);
  if (!status) status = ga__line_loads_values(e, &u->loads, value);
  if (status) return status;
  ga__beam_axis_at(&x, &u->element[at], a, a + 1);
  if (ga__beam_strain_at(&s, &u->element[at], a, a + 1)) return too_bent(e, el, at);
  ga__beam_set_moves(&s);
  ga__line_loads_sum(&u->loads, value, at, sum);
  tangent_d(u, at, &x, &s, shift_v, shift_vdot, by_d);
  tangent_q(e, u, at, &x, &s, NULL, sum, by_q);
  end_slopes(u, at, end, a, by_d, by_q, shift_v, shift_vdot, D, Q);
  section_row(u, a[end].R, end ? 1 : -1, (i - 1) % N_SECTION_SIGNALS, six, row, turn);
  for (int c = 0; c < 12; c++) {
    d[c] = dq[c] = 0;
    for (int r = 0; r < 6; r++) d[c] += row[r] * D[12 * r + c], dq[c] += row[r] * Q[12 * r + c];
  }
  for (int c = 0; c < 3; c++) dq[6 * end + 3 + c] += turn[c];
  for (int j = 0, n = 12; j < 6 * u->loads.n; j++) {
    const ga__line_load *load = &u->loads.at[j / 6];
    if (!ga__line_load_feeds(load, j % 6, at)) continue;
    double one[12] = {0}, w[12] = {0};
    one[(load->in_section ? 6 : 0) + j % 6] = 1;
    ga__beam_load(&x, &u->element[at], one, w, NULL);
    d[n] = 0;
    for (int r = 0; r < 6; r++) d[n] -= row[r] * w[6 * end + r];
    dq[n++] = 0;
  }
  return 0;
}

static int energy_slopes(const ga__eval *e, const ga__element *el, double *d, double *dq)
{
  const beam *u = el->data;
  memset(d, 0, 6 * ((size_t)u->n + 1) * sizeof *d);
  memset(dq, 0, 6 * ((size_t)u->n + 1) * sizeof *dq);
  for (int i = 0; i < u->n; i++) {
    const ga__kin *a = &e->kin[u->first + i];
    ga__beam_strain s;
    double n[6], g[6];
    if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return too_bent(e, el, i);
    ga__beam_force_within(&s, &u->element[i], n);
    ga__beam_gradient(&s, &u->element[i], n, g);
    ga__beam_add_wrench(&s, g, dq + 6 * i);
  }
  return 0;
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  return i == 0 ? energy_slopes(e, el, d, dq) : section_slopes(e, el, i, shift_v, shift_vdot, d, dq);
}

/* ---- Shape for pictures ---- */

static int n_shapes(const ga__mbs_model *b, int part)
{
  return beam_of(b, part)->n;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  const ga_beam_def *d = b->m->part[part].def;
  const int first = b->part_node[part] + i;
  const double across = d->section == GA_SECTION_NUMBERS ? 0
                        : d->section == GA_SECTION_CIRCLE || d->section == GA_SECTION_TUBE
                            ? d->diameter
                            : fmax(d->width, d->height);
  *out = (ga__drawing){.kind = GA_SHAPE_BEAM, .a = first, .b = first + 1, .size = 0.5 * across};
  if (d->section == GA_SECTION_RECTANGLE || d->section == GA_SECTION_I)
    out->section[0] = d->width, out->section[1] = d->height;
  if (d->section == GA_SECTION_I) out->section[2] = d->web, out->section[3] = d->flange;
}

static int piece_load(const ga__element *el, int i, const ga__kin *kin, ga_piece_load *out)
{
  const beam *u = el->data;
  const ga__kin *a = &kin[u->first + i];
  ga__beam_strain s;
  if (ga__beam_strain_at(&s, &u->element[i], a, a + 1)) return 1;
  ga__beam_force_within(&s, &u->element[i], out->force);
  for (int k = 0; k < 6; k++) {
    out->strain[k] = 0;
    for (int j = 0; j < 6; j++) out->strain[k] += u->section.C[6 * k + j] * out->force[j];
  }
  return 0;
}

/* ---- Resolution of modes ---- */

static void cuts(const ga__element *el, ga__cuts *out)
{
  const beam *u = el->data;
  const double *C = u->section.C, *J = u->section.J, m = u->section.mass;
  *out = (ga__cuts){.first = u->first,
                    .n = u->n,
                    .size = 6,
                    .excess = u->section.plain ? 2.4 : 1,
                    .s = u->s,
                    .damping = u->section.damping,
                    .by_l4 = m * fmax(C[28], C[35]),
                    .by_l2 = fmax(m * fmax(C[0], fmax(C[7], C[14])), J[0] * C[21])};
}

static int cut(const ga__element *el, int i, const ga__kin *kin, double w2, int level, double D[144])
{
  const beam *u = el->data;
  return ga__beam_cut(&u->element[i], &kin[u->first + i], &kin[u->first + i + 1], w2, level, D);
}

const ga__element_type ga__beam_type = {
    .rank = GA__RANK_OTHER,
    .is_smooth = ga__always_smooth,
    .size = sizeof(beam),
    .create = {[GA__CREATE_BODIES] = create_nodes, [GA__CREATE_FORCES] = create_loads},
    .want = want,
    .bind = bind,
    .release = release,
    .mass = mass,
    .force = force,
    .jacobian = jacobian,
    .dynamics = dynamics,
    .inner = inner,
    .inner_step = inner_step,
    .place = place,
    .powers = powers,
    .work_term = list_work,
    .get_input = get_input,
    .scratch = scratch,
    .unit_of_input = unit_of_input,
    .n_signals = n_signals,
    .signal = signal,
    .value = value_of_signal,
    .values = values_of_section,
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
