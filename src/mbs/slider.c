/* Sliders: a point P of a body is kept on the axis of a beam or cable, and slides along it without friction.
 *
 * The place s along the part is a coordinate of its own, without mass. With r(s) = Σ_j N_j(s) x_j, the spline
 * through the part's nodes (node_spline.h), and ρ from the body's origin to P:
 *
 *   Φ = p_P − r(s)   (−λ: the force on the body),   B = [−r' by s, −N_j by x_j, 1 and −ρ~ by the body]
 *
 * The row of s reads r'·λ + force on s = 0: there is no force along the tangent but for what springs, drives
 * and the like put on the coordinate. With orientation `tangent` two more rows keep x of P's frame along r',
 * with e its y and z axis:
 *
 *   Φ = e·r',   B = [e·r'' by s, N_j' e by x_j, e × r' by the body's rotation]
 *
 * Which nodes matter changes as P moves; the pattern has all nodes of the part, in four rows and columns. */
#include "mbs/slider.h"
#include "mbs/along.h"
#include "mbs/channel.h"
#include "mbs/element.h"
#include "mbs/node_spline.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* [-] of the length: how far beyond an end s may be. Differences about a start at an end need that. */
#define SLACK 1e-3
/* [-] of the length of an element: gaps at the start between these come from the curve through nodes. */
#define SMALL_GAP 1e-10
#define LARGE_GAP 0.05
enum { LEAST_ELEMENTS = 4, SAMPLES = 8, MOST_ROWS = 5 };

static const ga_coordinate_info PLACE = {"s", 0, {"m", "m/s", "m/s^2", "N"}};

/* Its data as an element of the machine. */
typedef struct slider {
  int along; /* part: a beam or cable */
  ga__along line;
  ga__node_spline curve;
  int marker, node; /* P and its node; 0: the ground */
  int place, s;     /* marker and node of the coordinate */
  double gap;       /* [-] at the start, of the length of an element */
  int n_rows, lambda;
  int *B, *Bt; /* [rows × (nodes + 2)] first entries: of nodes, of s, of the body */
  int *pair;   /* [4 nodes] (s, node), (node, s), (body, node), (node, body) */
  int self[4]; /* (s, s), (body, body), (s, body), (body, s) */
} slider;

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static int n_nodes(const slider *u)
{
  return u->line.n + 1;
}

static double length_of(const slider *u)
{
  return u->line.s[u->line.n];
}

/* ---- Where it is ---- */

/* The curve and P at the point of an evaluation. */
typedef struct contact {
  const double *N[GA__SPLINE_ORDERS];     /* weights of nodes and their derivatives by s */
  double r[GA__SPLINE_ORDERS][3];         /* r, r', r'', r''' */
  double drift[GA__SPLINE_ORDERS - 1][3]; /* Σ N_j v_j, Σ N_j' v_j, Σ N_j'' v_j */
  double rate;                            /* s' */
  const ga__kin *body;
  ga__frame frame; /* of P */
} contact;

/* sum[3] = Σ weight_j x_j */
static void combine(const slider *u, const ga__kin *kin, const double *weight, int velocities, double sum[3])
{
  memset(sum, 0, 3 * sizeof *sum);
  for (int j = 0; j < n_nodes(u); j++) {
    const ga__kin *k = &kin[u->line.first + j];
    for (int c = 0; c < 3; c++) sum[c] += weight[j] * (velocities ? k->w[c] : k->x[c]);
  }
}

static void contact_at(contact *at, const ga__mbs_model *b, const slider *u, const ga__kin *kin, double s,
                       double *room)
{
  ga__node_spline_at(&u->curve, s, room);
  for (int k = 0; k < GA__SPLINE_ORDERS; k++) {
    at->N[k] = room + k * n_nodes(u);
    combine(u, kin, at->N[k], 0, at->r[k]);
    if (k < GA__SPLINE_ORDERS - 1) combine(u, kin, at->N[k], 1, at->drift[k]);
  }
  at->body = &kin[u->node];
  ga__frame_at(&at->frame, GA__AT(b->marker, ga__marker, u->marker), kin);
}

/* It left the part: says so, and asks for a smaller step. */
static int off_end(const ga__eval *e, const ga__element *el, double s)
{
  const slider *u = el->data;
  const ga__part *on = &e->m->part[u->along];
  ga__refuse_part(e->work->ctx, &e->m->part[el->part], GA_RETRY_NAN, GA_REASON_SLID_OFF,
                  (ga__facts){.name = on->name,
                              .other = ga__part_text(on->kind),
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({s, "m"}, {length_of(u), "m"})});
  return 1;
}

static int eval_contact(contact *at, const ga__eval *e, const ga__element *el)
{
  const slider *u = el->data;
  const double s = e->kin[u->s].x[0], slack = SLACK * length_of(u);
  if (!(s >= -slack && s <= length_of(u) + slack)) return off_end(e, el, s);
  contact_at(at, e->b, u, e->kin, s, e->work->scratch);
  at->rate = e->kin[u->s].w[0];
  return 0;
}

/* Axis k = 0, 1 of P's frame that is kept across: y, z. */
static void across(const contact *at, int k, double e[3])
{
  for (int c = 0; c < 3; c++) e[c] = at->frame.A[3 * c + 1 + k];
}

/* Σ λ e of the kept axes. */
static void keeping(const contact *at, int n, const double *lambda, double keep[3])
{
  memset(keep, 0, 3 * sizeof *keep);
  for (int k = 0; k < n; k++) {
    double axis[3];
    across(at, k, axis);
    for (int c = 0; c < 3; c++) keep[c] += lambda[k] * axis[c];
  }
}

/* ---- Building ---- */

static ga_status refuse(const ga_machine *m, int part, ga_reason reason, ga__facts facts)
{
  return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, reason, facts);
}

/* The coordinate's node comes with the bodies, so that assembly keeps its place. */
static ga_status create_place(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_add(m, b, part, &ga__slider_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  slider *u = el->data;
  const ga_status status = ga__node_add_scalar(m, b, part, &u->place);
  if (!status) u->s = GA__AT(b->marker, ga__marker, u->place)->node;
  return status;
}

static ga_status resolve(ga_machine *m, ga__mbs_model *b, int part, slider *u)
{
  const ga_slider_def *d = m->part[part].def;
  u->along = ga__find_part(m, d->along);
  if (u->along < 0 || !ga__along_of(b, u->along, &u->line))
    return ga__refuse_unknown(m, &m->part[part], "along", d->along, "a beam or cable");
  const ga__part *on = &m->part[u->along];
  const ga_status status = ga__resolve_frame(m, b, &m->part[part], "frame", d->frame, &u->marker);
  if (status) return status;
  u->node = GA__AT(b->marker, ga__marker, u->marker)->node;
  const ga__node *node = node_at(b, u->node);
  if (u->node != 0 && node->part == u->along)
    return refuse(m, part, GA_REASON_SAME_BODY, (ga__facts){.name = d->along, .other = d->frame});
  if (u->line.n < LEAST_ELEMENTS)
    return refuse(m, part, GA_REASON_SLIDER_NEEDS_ELEMENTS,
                  (ga__facts){.name = on->name,
                              .other = ga__part_text(on->kind),
                              GA__NUMBERS({u->line.n, NULL}, {LEAST_ELEMENTS, NULL})});
  if (d->orientation != GA_SLIDER_FREE && node->has == (GA__PX | GA__PY | GA__PZ))
    return refuse(m, part, GA_REASON_POINT_HAS_NO_AXES,
                  (ga__facts){.field = "frame", .name = d->frame, .expected = "slider that keeps axes"});
  return GA_OK;
}

static double distance2(const ga__mbs_model *b, const slider *u, double s, double *room, contact *at)
{
  double sum = 0;
  contact_at(at, b, u, b->kin, s, room);
  for (int c = 0; c < 3; c++) sum += (at->r[0][c] - at->frame.p[c]) * (at->r[0][c] - at->frame.p[c]);
  return sum;
}

/* The place nearest to P, to rounding: samples between nodes, then Newton's iteration for r'·(r − p) = 0. */
static double nearest_place(const ga__mbs_model *b, const slider *u, double *room, contact *at)
{
  const double length = length_of(u);
  double best = 0, least = HUGE_VAL, reach = 0;
  for (int i = 0; i <= SAMPLES * u->line.n; i++) {
    const int k = i < SAMPLES * u->line.n ? i / SAMPLES : u->line.n - 1;
    const double h = u->line.s[k + 1] - u->line.s[k], s = u->line.s[k] + h * (i - SAMPLES * k) / SAMPLES;
    const double d2 = distance2(b, u, s, room, at);
    if (d2 < least) best = s, least = d2, reach = h / SAMPLES;
  }
  double s = best;
  for (int i = 0; i < 20; i++) {
    double off[3], slope, bend;
    distance2(b, u, s, room, at);
    for (int c = 0; c < 3; c++) off[c] = at->r[0][c] - at->frame.p[c];
    slope = ga__vec3_dot(at->r[1], off);
    bend = ga__vec3_dot(at->r[1], at->r[1]) + ga__vec3_dot(at->r[2], off);
    if (!(bend > 0)) break;
    s = fmin(fmax(s - slope / bend, fmax(0, best - reach)), fmin(length, best + reach));
  }
  return distance2(b, u, s, room, at) <= least ? s : best;
}

/* Where it starts: as given, or at the nearest place; and how fast. */
static ga_status set_start(ga_machine *m, ga__mbs_model *b, int part, slider *u)
{
  const ga_slider_def *d = m->part[part].def;
  const double length = length_of(u);
  if (!isnan(d->s) && !(d->s >= 0 && d->s <= length))
    return refuse(m, part, GA_REASON_OUT_OF_RANGE,
                  (ga__facts){.field = "s",
                              .expected = "along the part that it slides on",
                              GA__NUMBERS({d->s, "m"}, {0, "m"}, {length, "m"})});
  double *room = ga__alloc(m->ctx, GA__SPLINE_ORDERS * (size_t)n_nodes(u), sizeof *room);
  if (!room) return ga__no_memory(m->ctx, "a slider");
  for (int j = 0; j < n_nodes(u); j++) ga__kin_initial(b, u->line.first + j, b->kin);
  ga__kin_initial(b, u->node, b->kin);
  contact at;
  ga__node *node = GA__AT(b->node, ga__node, u->s);
  node->q0[0] = isnan(d->s) ? nearest_place(b, u, room, &at) : d->s;
  u->gap = sqrt(distance2(b, u, node->q0[0], room, &at)) * u->line.n / length;
  double v[3], along = 0;
  ga__vec3_cross(v, at.body->w + 3, at.frame.r);
  for (int c = 0; c < 3; c++) along += (at.body->w[c] + v[c] - at.drift[0][c]) * at.r[1][c];
  node->v0[0] = isnan(d->s_rate) ? along / ga__vec3_dot(at.r[1], at.r[1]) : d->s_rate;
  ga__free(m->ctx, room);
  return GA_OK;
}

/* Its coordinate, as that of a joint. */
static ga_status add_coordinate(ga_machine *m, ga__mbs_model *b, int part, const slider *u)
{
  ga__joint *joint = ga__list_add(m->ctx, &b->joint);
  if (!joint) return GA_ERR_MEMORY;
  const int at = ga__add_gauge(m, b, &(ga__gauge){.kind = GA__SCALAR, .a = u->place, .b = 0});
  if (at < 0) return GA_ERR_MEMORY;
  *joint = (ga__joint){.part = part, .a = -1, .b = -1, .point3 = -1, .n_coordinates = 1};
  joint->coordinate[0] = (ga__coordinate){&PLACE, at, at};
  b->part_joint[part] = b->joint.n - 1;
  return GA_OK;
}

static ga_status create_joint(ga_machine *m, ga__mbs_model *b, int part)
{
  slider *u = ga__element_of(b, part)->data;
  ga_status status = resolve(m, b, part, u);
  const int cable = !status && m->part[u->along].kind == GA__PART_CABLE;
  if (!status) status = ga__node_spline_make(m->ctx, u->line.n, u->line.s, cable, &u->curve);
  if (!status) status = set_start(m, b, part, u);
  return status ? status : add_coordinate(m, b, part, u);
}

int ga__is_slid_on(const ga_machine *m, int part)
{
  for (int i = 1; i < m->n_parts; i++)
    if (m->part[i].kind == GA__PART_SLIDER &&
        strcmp(((const ga_slider_def *)m->part[i].def)->along, m->part[part].name) == 0)
      return 1;
  return 0;
}

int ga__sliders_have_gaps(const ga__mbs_model *b)
{
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    const double gap = el->type == &ga__slider_type ? ((const slider *)el->data)->gap : 0;
    if (gap > SMALL_GAP && gap <= LARGE_GAP) return 1;
  }
  return 0;
}

static ga_status create_rows(ga_machine *m, ga__mbs_model *b, int part)
{
  static const char *const label[MOST_ROWS] = {"position along x", "position along y", "position along z",
                                               "y across the axis", "z across the axis"};
  const ga_slider_def *d = m->part[part].def;
  slider *u = ga__element_of(b, part)->data;
  const size_t rows = d->orientation == GA_SLIDER_FREE ? 3 : MOST_ROWS, nodes = (size_t)n_nodes(u);
  ga_status status = GA_OK;
  u->n_rows = (int)rows;
  for (int i = 0, lambda; i < u->n_rows && !status; i++) {
    status = ga__label_lambda(m, b, part, label[i], &lambda);
    if (i == 0) u->lambda = lambda;
  }
  if (status) return status;
  u->B = ga__alloc(m->ctx, 2 * rows * (nodes + 2), sizeof *u->B);
  u->pair = ga__alloc(m->ctx, 4 * nodes, sizeof *u->pair);
  if (!u->B || !u->pair) return ga__no_memory(m->ctx, "a slider");
  u->Bt = u->B + rows * (nodes + 2);
  return GA_OK;
}

static void release(ga_context *ctx, ga__element *el)
{
  slider *u = el->data;
  ga__node_spline_free(ctx, &u->curve);
  ga__free(ctx, u->B);
  ga__free(ctx, u->pair);
}

static int turns(const slider *u)
{
  return u->n_rows > 3;
}

/* Pairs of node j: with the coordinate and, where axes are kept, with the body. */
static void list_pairs(const slider *u, int j, int row[4], int column[4])
{
  const int node = u->line.first + j;
  row[0] = u->s, column[0] = node;
  row[1] = node, column[1] = u->s;
  row[2] = u->node, column[2] = node;
  row[3] = node, column[3] = u->node;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  static const unsigned TILE[4] = {1u << GA__XX, 1u << GA__XX, 1u << GA__RX_, 1u << GA__XR};
  const slider *u = el->data;
  const int rotates = u->node != 0 && node_at(b, u->node)->has & (GA__RX | GA__RY | GA__RZ);
  ga_status status = ga__want_pair(&b->pattern, u->s, u->s, TILE[0], TILE[0]);
  if (!status && rotates) status = ga__want_pair(&b->pattern, u->node, u->node, 1u << GA__RR, 1u << GA__RR);
  for (int j = 0; j < n_nodes(u) && !status; j++) {
    int row[4], column[4];
    list_pairs(u, j, row, column);
    for (int k = 0; k < (turns(u) && rotates ? 4 : 2) && !status; k++)
      status = ga__want_pair(&b->pattern, row[k], column[k], TILE[k], TILE[k]);
  }
  if (!turns(u) || !rotates) return status;
  if (!status) status = ga__want_pair(&b->pattern, u->s, u->node, TILE[3], TILE[3]);
  return status ? status : ga__want_pair(&b->pattern, u->node, u->s, TILE[2], TILE[2]);
}

/* Entries of row i of Φ by a node of the part: along one direction, or all three. */
static int bind_node(ga__mbs_model *b, const slider *u, int i, int j, int transposed)
{
  const ga__node *node = node_at(b, u->line.first + j);
  const int row = b->nv + u->lambda + i, first = i < 3 ? i : 0, last = i < 3 ? i : 2;
  int at = -1;
  for (int c = first; c <= last; c++) {
    const int v = node->v + node->column[c],
              entry = ga__own_entry(&b->pattern, transposed ? v : row, transposed ? row : v);
    if (entry < 0) return -1;
    if (c == first) at = entry;
  }
  return at;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  slider *u = el->data;
  const int width = n_nodes(u) + 2;
  for (int transposed = 0; transposed < 2; transposed++)
    for (int i = 0; i < u->n_rows; i++) {
      const int row = b->nv + u->lambda + i;
      int *at = (transposed ? u->Bt : u->B) + i * width;
      for (int j = 0; j < n_nodes(u); j++)
        if ((at[j] = bind_node(b, u, i, j, transposed)) < 0) return GA_ERR_MEMORY;
      at[width - 2] = ga__own_rows(&b->pattern, node_at(b, u->s), row, 1, transposed);
      at[width - 1] = u->node ? ga__own_rows(&b->pattern, node_at(b, u->node), row, 1, transposed) : 0;
      if (at[width - 2] < 0 || at[width - 1] < 0) return GA_ERR_MEMORY;
    }
  const int node[4][2] = {{u->s, u->s}, {u->node, u->node}, {u->s, u->node}, {u->node, u->s}};
  for (int k = 0; k < 4; k++)
    u->self[k] = u->node == 0 && k > 0 ? -1 : ga__find_pair(&b->pattern, node[k][0], node[k][1]);
  for (int j = 0; j < n_nodes(u); j++) {
    int row[4], column[4];
    list_pairs(u, j, row, column);
    for (int k = 0; k < 4; k++)
      u->pair[4 * j + k] =
          k > 1 && (u->node == 0 || !turns(u)) ? -1 : ga__find_pair(&b->pattern, row[k], column[k]);
  }
  return GA_OK;
}

/* ---- Evaluation ---- */

/* Φ and its time derivatives, the second at vdot = 0. */
static int phi(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const slider *u = el->data;
  contact at;
  const int status = eval_contact(&at, e, el);
  if (status) return status;
  const double v = at.rate, *omega = at.body->w + 3;
  double turn[3], more[3], tangent[3], grow[3];
  ga__vec3_cross(turn, omega, at.frame.r);
  ga__vec3_cross(more, omega, turn);
  for (int c = 0; c < 3; c++) {
    const double curve[3] = {at.r[0][c], at.r[1][c] * v + at.drift[0][c],
                             at.r[2][c] * v * v + 2 * at.drift[1][c] * v},
                 point[3] = {at.frame.p[c], at.body->w[c] + turn[c], more[c]};
    out[u->lambda + c] = point[order] - curve[order];
    tangent[c] = at.r[2][c] * v + at.drift[1][c]; /* rates of r' */
    grow[c] = at.r[3][c] * v * v + 2 * at.drift[2][c] * v;
  }
  for (int k = 0; k < u->n_rows - 3; k++) {
    double axis[3], rate[3], acc[3];
    across(&at, k, axis);
    ga__vec3_cross(rate, omega, axis);
    ga__vec3_cross(acc, omega, rate);
    out[u->lambda + 3 + k] = order == 0   ? ga__vec3_dot(axis, at.r[1])
                             : order == 1 ? ga__vec3_dot(rate, at.r[1]) + ga__vec3_dot(axis, tangent)
                                          : ga__vec3_dot(acc, at.r[1]) + 2 * ga__vec3_dot(rate, tangent) +
                                                ga__vec3_dot(axis, grow);
  }
  return 0;
}

/* −Bᵀλ: −λ on the body, λ on nodes. */
static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const slider *u = el->data;
  const double *lambda = e->p->lambda + u->lambda;
  contact at;
  const int status = eval_contact(&at, e, el);
  if (status) return status;
  double keep[3], wrench[6];
  keeping(&at, u->n_rows - 3, lambda + 3, keep);
  for (int j = 0; j < n_nodes(u); j++) {
    double *to = f + node_at(e->b, u->line.first + j)->v;
    for (int c = 0; c < 3; c++) to[c] += at.N[0][j] * lambda[c] - at.N[1][j] * keep[c];
  }
  f[node_at(e->b, u->s)->v] += ga__vec3_dot(at.r[1], lambda) - ga__vec3_dot(at.r[2], keep);
  if (u->node == 0) return 0;
  double torque[3];
  memcpy(wrench, lambda, 3 * sizeof *wrench);
  ga__vec3_cross(wrench + 3, at.frame.r, lambda);
  ga__vec3_cross(torque, keep, at.r[1]);
  for (int c = 0; c < 3; c++) wrench[3 + c] += torque[c];
  const ga__node *node = node_at(e->b, u->node);
  ga__add_six(f + node->v, node, -1, wrench);
  return 0;
}

/* ---- Derivatives ---- */

/* A row of B or of D_q(B v): by place j of a node it is weight[0][j] a + weight[1][j] b. */
typedef struct row_part {
  const double *weight[2];
  double a[3], b[3];
  double by_s, by_body[6];
} row_part;

static void write_row(const ga__eval *e, const slider *u, const int *at, int i, const row_part *row,
                      double *array)
{
  const int nodes = n_nodes(u);
  for (int j = 0; j < nodes; j++)
    for (int c = i < 3 ? i : 0, k = 0; c <= (i < 3 ? i : 2); c++)
      array[at[j] + k++] += row->weight[0][j] * row->a[c] + row->weight[1][j] * row->b[c];
  array[at[nodes]] += row->by_s;
  const ga__node *node = node_at(e->b, u->node);
  if (u->node) ga__add_six(array + at[nodes + 1], node, 1, row->by_body);
}

/* Row i of B: that of the position along i, or of axis i − 3. */
static row_part row_of(const contact *at, int i)
{
  row_part row = {.weight = {at->N[i < 3 ? 0 : 1], at->N[0]}};
  if (i < 3) {
    double unit[3] = {0, 0, 0};
    unit[i] = 1;
    row.a[i] = -1;
    row.by_s = -at->r[1][i];
    row.by_body[i] = 1;
    ga__vec3_cross(row.by_body + 3, at->frame.r, unit);
    return row;
  }
  across(at, i - 3, row.a);
  row.by_s = ga__vec3_dot(row.a, at->r[2]);
  ga__vec3_cross(row.by_body + 3, row.a, at->r[1]);
  return row;
}

/* Row i of D_q(B v). Position: ω × (δφ × ρ) = (ω·ρ) δφ − ρ (ω·δφ); axis, with w = (r')':
 * r' (e·ω) − (r'·e) ω + e × w by δφ. */
static row_part rate_row_of(const contact *at, int i)
{
  const double *omega = at->body->w + 3, *rho = at->frame.r;
  row_part row = {.weight = {at->N[1], at->N[2]}};
  if (i < 3) {
    row.a[i] = -at->rate;
    row.by_s = -at->r[2][i] * at->rate - at->drift[1][i];
    for (int c = 0; c < 3; c++) row.by_body[3 + c] = -rho[i] * omega[c];
    row.by_body[3 + i] += ga__vec3_dot(omega, rho);
    return row;
  }
  double axis[3], w[3], turn[3];
  across(at, i - 3, axis);
  ga__vec3_cross(row.a, omega, axis);
  row.by_s = ga__vec3_dot(row.a, at->r[2]);
  for (int c = 0; c < 3; c++) {
    row.b[c] = at->rate * axis[c];
    row.by_s += axis[c] * (at->drift[2][c] + at->r[3][c] * at->rate);
    w[c] = at->drift[1][c] + at->r[2][c] * at->rate;
  }
  ga__vec3_cross(turn, axis, w);
  const double along = ga__vec3_dot(axis, omega), lean = ga__vec3_dot(axis, at->r[1]);
  for (int c = 0; c < 3; c++) row.by_body[3 + c] = at->r[1][c] * along - lean * omega[c] + turn[c];
  return row;
}

/* T[9]: one row or one column that is not zero. */
static void row_tile(double T[9], const double x[3])
{
  memset(T, 0, 9 * sizeof *T);
  memcpy(T, x, 3 * sizeof *T);
}

static void column_tile(double T[9], const double x[3])
{
  for (int i = 0; i < 9; i++) T[i] = i % 3 ? 0 : x[i / 3];
}

/* D_q(Bᵀλ), with k = Σ λ e: by s and places of nodes −N_j' λ + N_j'' k; with the body's rotation k × r'',
 * N_j' k~, and ρ λᵀ − (λ·ρ) + k r'ᵀ − k·r' of it alone. */
static void add_curvature(const ga__eval *e, const slider *u, const contact *at, double *Q)
{
  const double *lambda = e->p->lambda + u->lambda, *rho = at->frame.r;
  double keep[3], T[9], turn[3];
  keeping(at, u->n_rows - 3, lambda + 3, keep);
  const double own[3] = {ga__vec3_dot(keep, at->r[3]) - ga__vec3_dot(lambda, at->r[2]), 0, 0};
  row_tile(T, own);
  ga__add_tile(Q, e->b, u->self[0], GA__XX, 1, T);
  for (int j = 0; j < n_nodes(u); j++) {
    double x[3];
    const int *pair = u->pair + 4 * j;
    for (int c = 0; c < 3; c++) x[c] = at->N[2][j] * keep[c] - at->N[1][j] * lambda[c];
    row_tile(T, x);
    ga__add_tile(Q, e->b, pair[0], GA__XX, 1, T);
    column_tile(T, x);
    ga__add_tile(Q, e->b, pair[1], GA__XX, 1, T);
    if (!turns(u)) continue;
    ga__mat3_skew(T, at->N[1][j], keep);
    ga__add_tile(Q, e->b, pair[2], GA__RX_, 1, T);
    ga__add_tile(Q, e->b, pair[3], GA__XR, -1, T);
  }
  if (u->node == 0) return;
  const double diagonal = -ga__vec3_dot(lambda, rho) - ga__vec3_dot(keep, at->r[1]);
  for (int i = 0; i < 9; i++)
    T[i] = (i % 4 ? 0 : diagonal) + rho[i / 3] * lambda[i % 3] + keep[i / 3] * at->r[1][i % 3];
  ga__add_tile(Q, e->b, u->self[1], GA__RR, 1, T);
  if (!turns(u)) return;
  ga__vec3_cross(turn, keep, at->r[2]);
  row_tile(T, turn);
  ga__add_tile(Q, e->b, u->self[2], GA__XR, 1, T);
  column_tile(T, turn);
  ga__add_tile(Q, e->b, u->self[3], GA__RX_, 1, T);
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const slider *u = el->data;
  const int width = n_nodes(u) + 2;
  contact at;
  const int status = eval_contact(&at, e, el);
  for (int i = 0; i < u->n_rows && !status; i++) {
    const row_part row = row_of(&at, i), rate = rate_row_of(&at, i);
    if (J->want & GA_WANT_D) write_row(e, u, u->Bt + i * width, i, &row, J->D);
    if (J->want & (GA_WANT_Q | GA_WANT_B)) write_row(e, u, u->B + i * width, i, &row, J->Q);
    if (J->want & GA_WANT_G) write_row(e, u, u->B + i * width, i, &rate, J->G);
  }
  if (!status && J->want & GA_WANT_Q) add_curvature(e, u, &at, J->Q);
  return status;
}

static size_t scratch(const ga__element *el)
{
  return GA__SPLINE_ORDERS * (size_t)n_nodes(el->data);
}

/* ---- Signals: the coordinate, force and torque on the body ---- */

static int n_signals(const ga__mbs_model *b, int part)
{
  const ga_slider_def *d = b->m->part[part].def;
  return 3 + (d->orientation == GA_SLIDER_FREE ? 3 : 6);
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  const slider *u = el ? el->data : NULL;
  if (i < 3) {
    ga__joint_signal(b, part, i, out);
    return;
  }
  ga__signal_set_reaction(out, i - 3, i < 6 ? GA__PROBE_MULTIPLIER : GA__PROBE_ELEMENT);
  out->probe.component = i < 6 ? 0 : i - 6;
  if (i < 6)
    out->probe.index = u ? u->lambda + i - 3 : -1;
  else
    out->probe.owner = part;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  const slider *u = el->data;
  double keep[3], torque[3];
  contact at;
  const int status = eval_contact(&at, e, el);
  if (status) return status;
  keeping(&at, u->n_rows - 3, e->p->lambda + u->lambda + 3, keep);
  ga__vec3_cross(torque, at.r[1], keep);
  *out = torque[i];
  return 0;
}

static int has_initial_values(const ga__part *part, int rate)
{
  const ga_slider_def *d = part->def;
  return !isnan(rate ? d->s_rate : d->s);
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 1;
}

static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  (void)i;
  *out = (ga__drawing){.kind = GA_SHAPE_JOINT,
                       .a = ((const slider *)ga__element_of(b, part)->data)->marker,
                       .b = -1,
                       .size = 0};
}

const ga__element_type ga__slider_type = {
    .rank = GA__RANK_OTHER,
    .no_twists = 1,
    .no_accelerations = 1,
    .size = sizeof(slider),
    .create = {[GA__CREATE_BODIES] = create_place,
               [GA__CREATE_JOINTS] = create_joint,
               [GA__CREATE_CONSTRAINTS] = create_rows},
    .want = want,
    .bind = bind,
    .release = release,
    .force = force,
    .phi = phi,
    .jacobian = jacobian,
    .scratch = scratch,
    .has_initial_values = has_initial_values,
    .n_signals = n_signals,
    .signal = signal,
    .complete_signal = ga__joint_complete_signal,
    .value = value,
    .n_shapes = n_shapes,
    .shape = shape,
};
