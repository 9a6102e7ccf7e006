/* Rolling without slipping, and knife edges, on a plane with axes e_x, e_y, e_z: of the ground, or of a body.
 *
 * Sphere and disk: C is the centre, P the lowest point of the rim as seen from the plane; the material points
 * of both bodies at P move alike. With l_b, l_p from the origins of the nodes of body and plane to P, their
 * relative velocity is s = u_b + ω_b × l_b − u_p − ω_p × l_p. Along e it is a_b · w_b + a_p · w_p,
 * a_b = (e, l_b × e), a_p = −(e, l_p × e): for e_z the rate of the distance Φ of P from the plane, for e_x
 * and e_y the rows of k.
 *
 *   sphere   P − C = −R e_z,  Φ = e_z · (C − origin) − R
 *   disk     P − C = −R d,    Φ = e_z · (C − origin) − R m,  s = e_z · n, m = √(1 − s²), d = (e_z − s n)/m
 *
 * with n the disk's axis. Under small rotations l_b changes by L_b δφ_b + L_p δφ_p, where L_b + L_p = −l_b~,
 * since both together turn all of it; l_p changes by δx_b − δx_p more; e changes by δφ_p × e. So, with σ = 1
 * for the body, −1 for the plane, Δ = ω_b − ω_p, and E = Σ e μ:
 *
 *   D_q(a · w) = −σ_j e × ω_p in δx_j;  L_jᵀ (e × Δ) in δφ_j, and e × s more in δφ_p
 *   D_q(a μ)   = −σ_i E~ L_j in rows φ_i and columns φ_j;  in columns φ_p also −σ_i E~ in rows x_i and
 *                −σ_i l_i~ E~ in rows φ_i;  in rows φ_p also σ_j E~ in columns x_j
 *   (a · w)'   = D_q(a · w) w where w' = 0
 *
 * Knife edge: ŷ is the projection h of the marker's y axis on the plane, made of length 1, and x̂ = ŷ × e_z.
 *
 *   k = a · w with P = C, e = ŷ;  ŷ changes by δφ_p × ŷ + x̂ b · (δφ_b − δφ_p),  b = y × x̂ / |h|
 *
 * On the ground x_p, φ_p and ω_p are left out. */
#include "mbs/channel.h"
#include "mbs/doubt.h"
#include "mbs/element.h"
#include "mbs/rolling.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

typedef ga__rolling rolling;

enum { BODY = 0, PLANE = 1 };
static const double SIGN[2] = {1, -1};

/* Geometry at the point of an evaluation. */
typedef struct contact_eval {
  int n; /* of the following, by node */
  const ga__node *node[2];
  const double *w[2]; /* twists */
  double l[2][3];     /* from the node's origin to P */
  double L[2][9];     /* derivatives of l[BODY] by rotations */
  double turn[3];     /* Δ */
  ga__frame body;
  double e[3][3], origin[3]; /* of the plane; knife edge: e[0] = ŷ */
  double m;          /* sine of the angle between e_z and the disk's axis, or y of the knife; sphere: 1 */
  double x[3], b[3]; /* knife edge: x̂, b */
} contact_eval;

static const ga__marker *marker_of(const ga__mbs_model *b, int marker)
{
  return GA__AT(b->marker, ga__marker, marker);
}

/* ---- Geometry ---- */

/* With g = n × e_z, s changes by g · δφ and d by (−n gᵀ + s n~ + (s/m) d gᵀ) δφ / m. */
static void eval_disk(contact_eval *v, double radius)
{
  const double *ez = v->e[2];
  double n[3], d[3], g[3], skew[9];
  for (int i = 0; i < 3; i++) n[i] = v->body.A[3 * i + 2];
  const double s = ga__vec3_dot(ez, n);
  ga__vec3_cross(g, n, ez);
  v->m = sqrt(ga__vec3_dot(g, g));
  const double inverse = v->m > 0 ? 1 / v->m : NAN;
  for (int i = 0; i < 3; i++) d[i] = inverse * (ez[i] - s * n[i]);
  ga__mat3_skew(skew, s, n);
  for (int i = 0; i < 3; i++) {
    v->l[BODY][i] -= radius * d[i];
    for (int j = 0; j < 3; j++)
      v->L[BODY][3 * i + j] -= radius * inverse * (skew[3 * i + j] + (s * inverse * d[i] - n[i]) * g[j]);
  }
}

static void eval_knife(contact_eval *v)
{
  const double *ez = v->e[2];
  double y[3], h[3];
  for (int i = 0; i < 3; i++) y[i] = v->body.A[3 * i + 1];
  const double up = ga__vec3_dot(ez, y);
  for (int i = 0; i < 3; i++) h[i] = y[i] - up * ez[i];
  v->m = sqrt(ga__vec3_dot(h, h));
  const double inverse = v->m > 0 ? 1 / v->m : NAN;
  for (int i = 0; i < 3; i++) v->e[0][i] = inverse * h[i];
  ga__vec3_cross(v->x, v->e[0], ez);
  ga__vec3_cross(v->b, y, v->x);
  for (int i = 0; i < 3; i++) v->b[i] *= inverse;
}

/* What the motion of the plane adds, once l_b and L_b are known. */
static void eval_plane(contact_eval *v, const ga__eval *e, const rolling *r)
{
  const double *x = e->kin[r->node[PLANE]].x;
  memcpy(v->turn, v->w[BODY] + 3, sizeof v->turn);
  if (v->n == 1) return;
  ga__mat3_skew(v->L[PLANE], -1, v->l[BODY]);
  for (int i = 0; i < 9; i++) v->L[PLANE][i] -= v->L[BODY][i];
  for (int i = 0; i < 3; i++) {
    v->l[PLANE][i] = e->kin[r->node[BODY]].x[i] + v->l[BODY][i] - x[i];
    v->turn[i] -= v->w[PLANE][3 + i];
  }
}

static void eval_contact(contact_eval *v, const ga__eval *e, const rolling *r)
{
  ga__frame plane;
  ga__frame_at(&plane, marker_of(e->b, r->plane), e->kin);
  ga__frame_at(&v->body, marker_of(e->b, r->body), e->kin);
  v->n = r->n;
  for (int j = 0; j < r->n; j++) {
    v->node[j] = GA__AT(e->b->node, ga__node, r->node[j]);
    v->w[j] = e->kin[r->node[j]].w;
  }
  v->m = 1;
  memcpy(v->origin, plane.p, sizeof v->origin);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) v->e[i][k] = plane.A[3 * k + i];
  memcpy(v->l[BODY], v->body.r, sizeof v->l[BODY]);
  ga__mat3_skew(v->L[BODY], -1, v->body.r);
  if (r->kind == GA_ROLLING_KNIFE) eval_knife(v);
  if (r->kind == GA_ROLLING_DISK) eval_disk(v, r->radius);
  if (r->kind == GA_ROLLING_SPHERE)
    for (int i = 0; i < 3; i++) v->l[BODY][i] -= r->radius * v->e[2][i];
  eval_plane(v, e, r);
}

/* a = ±(e, ℓ × e) of node j along axis i */
static void row_of(double a[6], const contact_eval *v, int i, int j)
{
  for (int k = 0; k < 3; k++) a[k] = SIGN[j] * v->e[i][k];
  ga__vec3_cross(a + 3, v->l[j], a);
}

/* s · d, the slip along a direction */
static double slip_along(const contact_eval *v, const double d[3])
{
  double sum = 0, u[3];
  for (int j = 0; j < v->n; j++) {
    ga__vec3_cross(u, v->w[j] + 3, v->l[j]);
    sum += SIGN[j] * (ga__vec3_dot(d, v->w[j]) + ga__vec3_dot(d, u));
  }
  return sum;
}

/* D_q(a · w) by node j; for a knife edge with the change of ŷ. */
static void row_slope(double a[6], const contact_eval *v, const rolling *r, int i, int j)
{
  double c[3], s[3];
  memset(a, 0, 6 * sizeof *a);
  ga__vec3_cross(c, v->e[i], v->turn);
  ga__mat3_tmul_vec(a + 3, v->L[j], c);
  if (v->n > 1) {
    ga__vec3_cross(c, v->e[i], v->w[PLANE] + 3);
    for (int k = 0; k < 3; k++) a[k] = -SIGN[j] * c[k];
  }
  if (j == PLANE) {
    for (int k = 0; k < 3; k++) s[k] = slip_along(v, (const double[3]){k == 0, k == 1, k == 2});
    ga__vec3_cross(c, v->e[i], s);
    for (int k = 0; k < 3; k++) a[3 + k] += c[k];
  }
  if (r->kind != GA_ROLLING_KNIFE) return;
  const double along = SIGN[j] * slip_along(v, v->x);
  for (int k = 0; k < 3; k++) a[3 + k] += along * v->b[k];
}

static double dot6(const double *a, const double *b)
{
  return ga__vec3_dot(a, b) + ga__vec3_dot(a + 3, b + 3);
}

/* ---- Building ---- */

/* Refuses a start at which the direction of the constraint is undefined. */
static ga_status check_start(ga_machine *m, ga__mbs_model *b, const rolling *r)
{
  const ga__eval e = {m, b, NULL, b->kin, NULL};
  contact_eval v;
  for (int j = 0; j < r->n; j++) ga__kin_initial(b, r->node[j], b->kin);
  eval_contact(&v, &e, r);
  const char *name = m->part[r->part].name;
  if (r->kind == GA_ROLLING_DISK && v.m < 1e-6)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_DISK_LIES_FLAT,
                      &(ga__facts){.kind = "rolling", .part = name});
  if (r->kind == GA_ROLLING_KNIFE && v.m < 1e-6)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_KNIFE_IS_NORMAL,
                      &(ga__facts){.kind = "rolling", .part = name});
  return GA_OK;
}

static ga_status check_frames(ga_machine *m, const ga__mbs_model *b, const rolling *r,
                              const ga_rolling_def *def)
{
  const ga__node *node = GA__AT(b->node, ga__node, r->node[BODY]),
                 *under = GA__AT(b->node, ga__node, r->node[PLANE]);
  const int knife = r->kind == GA_ROLLING_KNIFE;
  if (!node->rigid && !(knife && node->planar))
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_CANNOT_ROLL,
                      &(ga__facts){.kind = "rolling",
                                   .part = def->name,
                                   .field = "body",
                                   .name = def->body,
                                   .other = ga__part_text(m->part[node->part].kind),
                                   .expected = knife ? "a knife edge needs a rigid or a planar body"
                                                     : "only rigid bodies roll"});
  if (r->n > 1 && !under->rigid && !under->planar && !under->carried)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_PLANE_HAS_NO_AXES,
                      &(ga__facts){.kind = "rolling",
                                   .part = def->name,
                                   .field = "plane",
                                   .name = def->plane,
                                   .other = ga__part_text(m->part[under->part].kind)});
  if (r->node[BODY] == r->node[PLANE])
    return ga__refuse(
        m->ctx, GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
        &(ga__facts){.kind = "rolling", .part = def->name, .name = def->body, .other = def->plane});
  return GA_OK;
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  static const char *const label[3] = {"no slip along x", "no slip along y", "no slip across"};
  const ga__part *asking = &m->part[part];
  const ga_rolling_def *def = asking->def;
  const ga__element *el = ga__element_add(m, b, part, &ga__rolling_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  rolling *r = el->data;
  r->part = part;
  r->kind = def->kind;
  r->radius = def->radius;
  r->lambda = -1;
  r->n_psi = def->kind == GA_ROLLING_KNIFE ? 1 : 2;
  ga_status status = ga__resolve_frame(m, b, asking, "body", def->body, &r->body);
  if (def->road) {
    if (!status) status = ga__resolve_road(m, b, asking, def->road, &r->road);
    if (!status) r->plane = r->road->marker;
  } else if (!status) {
    status = ga__resolve_frame(m, b, asking, "plane", def->plane, &r->plane);
  }
  if (status) return status;
  r->node[BODY] = marker_of(b, r->body)->node;
  r->node[PLANE] = marker_of(b, r->plane)->node;
  r->n = r->node[PLANE] ? 2 : 1;
  status = check_frames(m, b, r, def);
  if (!status && !r->road) status = check_start(m, b, r); /* roads need work space: found when a start is computed */
  if (!status && def->kind != GA_ROLLING_KNIFE) status = ga__label_lambda(m, b, part, "contact", &r->lambda);
  for (int i = 0; i < r->n_psi && !status; i++) {
    int psi;
    status = ga__label_psi(m, b, part, label[def->kind == GA_ROLLING_KNIFE ? 2 : i], &psi);
    if (i == 0) r->psi = psi;
  }
  return status;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const rolling *r = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < r->n && !status; j++) {
      unsigned tiles = 1u << GA__RR;
      if (r->kind == GA_ROLLING_KNIFE || j == PLANE) tiles |= 1u << GA__XR;
      if (i == PLANE) tiles |= 1u << GA__RX_;
      if (r->road)
        status = ga__want_block(b, r->node[i], r->node[j], 0);
      else
        status = ga__want_pair(&b->pattern, r->node[i], r->node[j], tiles, tiles);
    }
  return status;
}

/* Entries of n rows and their transposes by all nodes. */
static ga_status bind_rows(ga__mbs_model *b, const rolling *r, int row, int n, int *at, int *transposed)
{
  for (int j = 0; j < r->n; j++) {
    const ga__node *node = GA__AT(b->node, ga__node, r->node[j]);
    at[j] = ga__own_rows(&b->pattern, node, row, n, 0);
    transposed[j] = ga__own_rows(&b->pattern, node, row, n, 1);
    if (at[j] < 0 || transposed[j] < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  rolling *r = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < r->n; j++) r->pair[i][j] = ga__find_pair(&b->pattern, r->node[i], r->node[j]);
  if (r->lambda >= 0) status = bind_rows(b, r, b->nv + r->lambda, 1, r->B, r->Bt);
  return status ? status : bind_rows(b, r, b->nv + b->n_lambda + r->psi, r->n_psi, r->A, r->At);
}

/* ---- Evaluation ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const rolling *r = el->data;
  contact_eval v;
  double a[6];
  if (r->road) return ga__road_rolling_force(e, el, f);
  eval_contact(&v, e, r);
  for (int j = 0; j < v.n; j++) {
    for (int i = 0; i < r->n_psi; i++) {
      row_of(a, &v, i, j);
      ga__add_six(f + v.node[j]->v, v.node[j], -e->p->psi[r->psi + i], a);
    }
    if (r->lambda < 0) continue;
    row_of(a, &v, 2, j);
    ga__add_six(f + v.node[j]->v, v.node[j], -e->p->lambda[r->lambda], a);
  }
  return 0;
}

/* Time derivative of a · w at w' = 0: the slope of the row by q times w. */
static double row_acc(const contact_eval *v, const rolling *r, int i)
{
  double slope[6], sum = 0;
  for (int j = 0; j < v->n; j++) {
    row_slope(slope, v, r, i, j);
    sum += dot6(slope, v->w[j]);
  }
  return sum;
}

static double row_rate(const contact_eval *v, int i)
{
  double a[6], sum = 0;
  for (int j = 0; j < v->n; j++) {
    row_of(a, v, i, j);
    sum += dot6(a, v->w[j]);
  }
  return sum;
}

static int phi(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const rolling *r = el->data;
  contact_eval v;
  double height = 0;
  if (r->road) return ga__road_rolling_phi(e, el, out, order);
  if (r->lambda < 0) return 0;
  eval_contact(&v, e, r);
  for (int k = 0; k < 3; k++) height += v.e[2][k] * (v.body.p[k] - v.origin[k]);
  out[r->lambda] = order == 0 ? height - r->radius * v.m : order == 1 ? row_rate(&v, 2) : row_acc(&v, r, 2);
  return 0;
}

static int slip(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const rolling *r = el->data;
  contact_eval v;
  if (r->road) return ga__road_rolling_k(e, el, out, order);
  eval_contact(&v, e, r);
  for (int i = 0; i < r->n_psi; i++) out[r->psi + i] = order == 0 ? row_rate(&v, i) : row_acc(&v, r, i);
  return 0;
}

/* E = Σ e μ over all rows: the opposite of the force on the body */
static void sum_of_forces(double E[3], const contact_eval *v, const ga__eval *e, const rolling *r)
{
  for (int k = 0; k < 3; k++) {
    E[k] = 0;
    for (int i = 0; i < r->n_psi; i++) E[k] += e->p->psi[r->psi + i] * v->e[i][k];
    if (r->lambda >= 0) E[k] += e->p->lambda[r->lambda] * v->e[2][k];
  }
}

/* The part of D_q(Σ a μ) by changes of ŷ: ±μ x̂ bᵀ in rows x and ±μ (l × x̂) bᵀ in rows φ. */
static void add_knife(const contact_eval *v, const ga__eval *e, const rolling *r, int i, int j, double *Q)
{
  const double scale = SIGN[i] * SIGN[j] * e->p->psi[r->psi];
  double tile[9], moment[3];
  ga__vec3_cross(moment, v->l[i], v->x);
  for (int part = 0; part < 2; part++) {
    const double *left = part ? moment : v->x;
    for (int k = 0; k < 9; k++) tile[k] = left[k / 3] * v->b[k % 3];
    ga__add_tile(Q, e->b, r->pair[i][j], part ? GA__RR : GA__XR, scale, tile);
  }
}

/* D_q(Σ a μ): rows of node i, columns of node j. */
static void add_geometric(const contact_eval *v, const ga__eval *e, const rolling *r, int i, int j, double *Q)
{
  const int pair = r->pair[i][j];
  double E[3], skew[9], arm[9], tile[9];
  sum_of_forces(E, v, e, r);
  ga__mat3_skew(skew, -1, E);
  ga__mat3_mul(tile, skew, v->L[j]);
  ga__add_tile(Q, e->b, pair, GA__RR, SIGN[i], tile);
  if (j == PLANE) {
    ga__mat3_skew(arm, 1, v->l[i]);
    ga__mat3_mul(tile, arm, skew);
    ga__add_tile(Q, e->b, pair, GA__XR, SIGN[i], skew);
    ga__add_tile(Q, e->b, pair, GA__RR, SIGN[i], tile);
  }
  if (i == PLANE) ga__add_tile(Q, e->b, pair, GA__RX_, -SIGN[j], skew);
  if (r->kind == GA_ROLLING_KNIFE) add_knife(v, e, r, i, j, Q);
}

static void contact_jacobian(const contact_eval *v, const rolling *r, int j, ga_jacobian *J)
{
  double a[6], slope[6];
  row_of(a, v, 2, j);
  if (J->want & GA_WANT_D) ga__add_six(J->D + r->Bt[j], v->node[j], 1, a);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) ga__add_six(J->Q + r->B[j], v->node[j], 1, a);
  if (!(J->want & GA_WANT_G)) return;
  row_slope(slope, v, r, 2, j);
  ga__add_six(J->G + r->B[j], v->node[j], 1, slope);
}

static void slip_jacobian(const contact_eval *v, const rolling *r, int j, ga_jacobian *J)
{
  const ga__node *node = v->node[j];
  double a[6];
  for (int i = 0; i < r->n_psi; i++) {
    const int at = i * node->n;
    row_of(a, v, i, j);
    if (J->want & GA_WANT_D) {
      ga__add_six(J->D + r->A[j] + at, node, J->shift_v, a);
      ga__add_six(J->D + r->At[j] + at, node, 1, a);
    }
    if (!(J->want & GA_WANT_Q)) continue;
    row_slope(a, v, r, i, j);
    ga__add_six(J->Q + r->A[j] + at, node, 1, a);
  }
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const rolling *r = el->data;
  contact_eval v;
  if (r->road) return ga__road_rolling_jacobian(e, el, J);
  eval_contact(&v, e, r);
  for (int j = 0; j < v.n; j++) {
    if (r->lambda >= 0) contact_jacobian(&v, r, j, J);
    slip_jacobian(&v, r, j, J);
    for (int i = 0; i < v.n && J->want & GA_WANT_Q; i++) add_geometric(&v, e, r, i, j, J->Q);
  }
  return 0;
}

/* ---- The kind ---- */

static int unilateral(const ga__mbs_model *b, const ga__element *el, ga__unilateral *out)
{
  const rolling *r = el->data;
  (void)b;
  *out = (ga__unilateral){r->lambda, -1.0,
                          r->road ? "pulls at its road, which nothing can that rolls"
                                  : "pulls at its plane, which nothing can that rolls",
                          "lift off there, and does not move as is computed from then on", r->road ? el : NULL};
  return r->lambda >= 0;
}

enum {
  NORMAL = GA__ROLLING_NORMAL,
  PLACE = GA__ROLLING_PLACE,
  FORCE = GA__ROLLING_FORCE,
  TANGENTIAL = GA__ROLLING_TANGENTIAL,
  N_ROLLING_SIGNALS = GA__ROLLING_SIGNALS,
  OF_KNIFE = FORCE
};

static int first_signal(const ga__mbs_model *b, int part)
{
  return ((const ga_rolling_def *)b->m->part[part].def)->kind == GA_ROLLING_KNIFE ? OF_KNIFE : 0;
}

static int n_signals(const ga__mbs_model *b, int part)
{
  return N_ROLLING_SIGNALS - first_signal(b, part);
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const char *const NAME[N_ROLLING_SIGNALS] = {"normal", "px", "py", "pz",
                                                      "fx",     "fy", "fz", "tangential"};
  const ga__element *el = ga__element_of(b, part);
  i += first_signal(b, part);
  const int is_lambda = i == NORMAL && !((const ga_rolling_def *)b->m->part[part].def)->road;
  ga__signal_set(out, NAME[i], i >= PLACE && i < FORCE ? "m" : "N",
                 is_lambda ? GA__PROBE_MULTIPLIER : GA__PROBE_ELEMENT, i);
  out->probe.owner = part;
  if (el && is_lambda) out->probe.index = ((const rolling *)el->data)->lambda;
}

static double tangential(const ga__eval *e, const rolling *r)
{
  const double *psi = e->p->psi + r->psi;
  return r->n_psi == 1 ? -psi[0] : hypot(psi[0], psi[1]);
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  const rolling *r = el->data;
  contact_eval v;
  if (r->road) return ga__road_rolling_value(e, el, i, out);
  *out = tangential(e, r);
  if (i == TANGENTIAL) return 0;
  eval_contact(&v, e, r);
  if (i < FORCE) {
    *out = e->kin[v.body.node].x[i - PLACE] + v.l[BODY][i - PLACE];
    return 0;
  }
  *out = 0;
  for (int k = 0; k < r->n_psi; k++) *out -= e->p->psi[r->psi + k] * v.e[k][i - FORCE];
  if (r->lambda >= 0) *out -= e->p->lambda[r->lambda] * v.e[2][i - FORCE];
  return 0;
}

/* Columns: the nodes' velocities, ψ, λ. */
static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  const rolling *r = el->data;
  int n = 0;
  (void)i;
  for (int j = 0; j < r->n; j++) {
    const ga__node *node = GA__AT(b->node, ga__node, r->node[j]);
    for (int c = 0; c < node->n; c++, n++)
      if (n < room) column[n] = node->v + c;
  }
  for (int k = 0; k < r->n_psi; k++, n++)
    if (n < room) column[n] = b->nv + b->n_lambda + r->psi + k;
  if (r->lambda >= 0 && n++ < room) column[n - 1] = b->nv + r->lambda;
  return n;
}

/* By the pose of node j. Place: δx_b + L_j δφ_j; force −E: −φ_p × E, and of a knife edge ∓ψ x̂ (b · δφ_j). */
static void place_slope(double six[6], const contact_eval *v, const ga__eval *e, const rolling *r, int i,
                        int j)
{
  memset(six, 0, 6 * sizeof *six);
  if (i < FORCE) {
    six[i - PLACE] = j == BODY;
    memcpy(six + 3, v->L[j] + 3 * (i - PLACE), 3 * sizeof *six);
    return;
  }
  if (i == TANGENTIAL) return;
  if (r->kind == GA_ROLLING_KNIFE)
    for (int k = 0; k < 3; k++) six[3 + k] = -SIGN[j] * e->p->psi[r->psi] * v->x[i - FORCE] * v->b[k];
  if (j == PLANE) {
    double E[3], skew[9];
    sum_of_forces(E, v, e, r);
    ga__mat3_skew(skew, 1, E);
    for (int k = 0; k < 3; k++) six[3 + k] += skew[3 * (i - FORCE) + k];
  }
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const rolling *r = el->data;
  const double *psi = e->p->psi + r->psi, size = tangential(e, r);
  contact_eval v;
  double six[6];
  int n = 0;
  (void)shift_v, (void)shift_vdot;
  if (r->road) return ga__road_rolling_slopes(e, el, i, d, dq);
  eval_contact(&v, e, r);
  for (int j = 0; j < v.n; j++) {
    const int first = n;
    for (; n < first + v.node[j]->n; n++) d[n] = dq[n] = 0;
    place_slope(six, &v, e, r, i, j);
    ga__add_six(dq + first, v.node[j], 1, six);
  }
  memset(dq + n, 0, (size_t)(r->n_psi + (r->lambda >= 0)) * sizeof *dq);
  for (int k = 0; k < r->n_psi; k++, n++) {
    d[n] = i < FORCE ? 0 : i < TANGENTIAL ? -v.e[k][i - FORCE] : 0;
    if (i == TANGENTIAL) d[n] = r->n_psi == 1 ? -1 : size > 0 ? psi[k] / size : 0;
  }
  if (r->lambda >= 0) d[n] = i >= FORCE && i < TANGENTIAL ? -v.e[2][i - FORCE] : 0;
  return 0;
}

/* ---- Roads: corners, narrow bumps, several points of contact, work of heights that change ---- */

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  const rolling *r = el->data;
  (void)b;
  return r->road && ga__road_has_edges(r->road);
}

static int may_hide(const ga__element *el)
{
  const rolling *r = el->data;
  return r->road && r->road->height.expr;
}

static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const rolling *r = el->data;
  return ga__road_hides(w, r->road, r->body, r->kind == GA_ROLLING_KNIFE ? 1 : r->radius, step, piece);
}

static int may_doubt(const ga__element *el)
{
  const rolling *r = el->data;
  return r->road && r->road->height.expr && r->kind != GA_ROLLING_KNIFE;
}

static void write_doubt(ga__writer *w, const ga_machine *m, const ga__doubt_record *record)
{
  const rolling *r = record->el->data;
  ga__write(w,
            "rolling '%s' has no single point of contact with road '%s', at t = %.6g s for the first time, most at "
            "t = %.6g s at x = %.6g m, y = %.6g m by %.4g m: a hollow there is narrower than what rolls, and the "
            "motion is not meaningful from then on\n",
            m->part[r->part].name, m->part[r->road->part].name, record->since, record->worst_t, record->at[0],
            record->at[1], record->worst);
}

static int work_term(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  const rolling *r = el->data;
  (void)b;
  work->needs_kin = 1;
  return r->road && r->road->height.expr != NULL;
}

static int n_shapes(const ga__mbs_model *b, int part)
{
  return ga__element_of(b, part) ? 2 : 0;
}

/* The rolling body, and the plane. */
static void shape(const ga__mbs_model *b, int part, int i, ga__drawing *out)
{
  static const ga_shape_kind KIND[] = {[GA_ROLLING_SPHERE] = GA_SHAPE_SPHERE,
                                       [GA_ROLLING_DISK] = GA_SHAPE_DISK,
                                       [GA_ROLLING_KNIFE] = GA_SHAPE_FRAME};
  const rolling *r = ga__element_of(b, part)->data;
  *out = i == 0 ? (ga__drawing){.kind = KIND[r->kind], .a = r->body, .b = -1, .size = r->radius}
                : (ga__drawing){.kind = GA_SHAPE_PLANE, .a = r->plane, .b = -1, .size = 0};
}

const ga__element_type ga__rolling_type = {
    .rank = GA__RANK_ROLLING,
    .no_accelerations = 1,
    .size = sizeof(rolling),
    .create = {[GA__CREATE_CONSTRAINTS] = create},
    .want = want,
    .bind = bind,
    .force = force,
    .phi = phi,
    .k = slip,
    .jacobian = jacobian,
    .unilateral = unilateral,
    .powers = ga__road_rolling_powers,
    .work_term = work_term,
    .has_edges = has_edges,
    .side = ga__road_rolling_side,
    .may_hide = may_hide,
    .hides = hides,
    .may_doubt = may_doubt,
    .doubt = ga__road_rolling_doubt,
    .write_doubt = write_doubt,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .n_shapes = n_shapes,
    .shape = shape,
};
