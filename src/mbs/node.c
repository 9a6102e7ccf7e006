/* Nodes: what bodies become. Their coordinates, motion, inertia and weight.
 *
 * A rigid node's origin is the centre of mass, so that with ω in space and J_s = R J Rᵀ
 *   M vdot = (m u', J_s ω'),   f = (m g, −ω × J_s ω) */
#include "mbs/form.h"
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

static const double IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- From parts ---- */

static void set_columns(ga__node *node, unsigned has)
{
  node->has = has;
  node->n = 0;
  for (int c = 0; c < 6; c++) node->column[c] = has >> c & 1u ? node->n++ : -1;
}

static ga__node *add_node(ga_machine *m, ga__built *b, int part, unsigned has)
{
  ga__node *node = ga__list_add(m->ctx, &b->node);
  if (!node) return NULL;
  node->part = part;
  node->self = -1;
  set_columns(node, has);
  return node;
}

/* The frame of a body, whose origin is off the centre of mass. */
static ga_status add_own_marker(ga_machine *m, ga__built *b, int part, int node, const double com[3])
{
  ga__marker *marker = ga__list_add(m->ctx, &b->marker);
  if (!marker) return GA_ERR_MEMORY;
  marker->node = node;
  for (int i = 0; i < 3; i++) marker->s[i] = -com[i];
  memcpy(marker->A, IDENTITY, sizeof IDENTITY);
  b->part_node[part] = node;
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

static ga_status add_rigid(ga_machine *m, ga__built *b, int part)
{
  const ga_rigid_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__ALL6);
  if (!node) return GA_ERR_MEMORY;
  const double *I = d->inertia, J[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  double offset[3], *R = node->q0 + 3, *w = node->v0;
  node->rigid = 1;
  node->mass = d->mass;
  memcpy(node->J, J, sizeof J);
  memcpy(node->com, d->com, sizeof d->com);
  memcpy(R, d->pose.rotation, sizeof d->pose.rotation);
  ga__mat3_mul_vec(offset, R, d->com);
  if (d->omega_in_body)
    ga__mat3_mul_vec(w + 3, R, d->omega);
  else
    memcpy(w + 3, d->omega, sizeof d->omega);
  ga__vec3_cross(w, w + 3, offset);
  for (int i = 0; i < 3; i++) {
    node->q0[i] = d->pose.position[i] + offset[i];
    w[i] += d->velocity[i];
  }
  return add_own_marker(m, b, part, b->node.n - 1, d->com);
}

static ga_status add_planar(ga_machine *m, ga__built *b, int part)
{
  const ga_planar_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX | GA__PY | GA__RZ);
  if (!node) return GA_ERR_MEMORY;
  double c = cos(d->angle), s = sin(d->angle);
  double ox = c * d->com[0] - s * d->com[1], oy = s * d->com[0] + c * d->com[1];
  node->planar = 1;
  node->mass = d->mass;
  node->J[8] = d->inertia;
  node->z = d->z;
  node->com[0] = d->com[0], node->com[1] = d->com[1];
  node->q0[0] = d->position[0] + ox, node->q0[1] = d->position[1] + oy, node->q0[2] = d->angle;
  node->v0[0] = d->velocity[0] - d->rate * oy;
  node->v0[1] = d->velocity[1] + d->rate * ox;
  node->v0[5] = d->rate;
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

static ga_status add_point(ga_machine *m, ga__built *b, int part)
{
  const ga_point_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX | GA__PY | GA__PZ);
  if (!node) return GA_ERR_MEMORY;
  node->mass = d->mass;
  memcpy(node->q0, d->position, sizeof d->position);
  memcpy(node->v0, d->velocity, sizeof d->velocity);
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

static ga_status add_scalar(ga_machine *m, ga__built *b, int part)
{
  const ga_scalar_def *d = m->part[part].def;
  ga__node *node = add_node(m, b, part, GA__PX);
  if (!node) return GA_ERR_MEMORY;
  node->scalar = 1;
  node->mass = d->mass;
  node->q0[0] = d->position;
  node->v0[0] = d->velocity;
  return add_own_marker(m, b, part, b->node.n - 1, node->com);
}

ga_status ga__node_add_scalar(ga_machine *m, ga__built *b, int part, int *marker)
{
  ga__node *node = add_node(m, b, part, GA__PX);
  ga__marker *own = node ? ga__list_add(m->ctx, &b->marker) : NULL;
  if (!own) return GA_ERR_MEMORY;
  node->scalar = 1;
  own->node = b->node.n - 1;
  memcpy(own->A, IDENTITY, sizeof IDENTITY);
  *marker = b->marker.n - 1;
  return GA_OK;
}

/* A marker on a marker on ... a body: depth counts, so that a circle is found. */
static ga_status add_marker(ga_machine *m, ga__built *b, int part, int depth)
{
  const ga__part *asking = &m->part[part];
  const ga_marker_def *d = asking->def;
  if (b->part_marker[part] >= 0) return GA_OK;
  int on = ga__find_part(m, d->body);
  if (depth > m->n_parts)
    return ga__fail(m->ctx, GA_ERR_ARGUMENT, "marker '%s': it is fixed to itself by way of '%s'; name a body",
                    d->name, d->body);
  if (on >= 0 && m->part[on].kind == GA__PART_MARKER) {
    ga_status status = add_marker(m, b, on, depth + 1);
    if (status) return status;
  }
  if (on < 0 || b->part_marker[on] < 0 || m->part[on].kind == GA__PART_SCALAR)
    return ga__no_such(m, asking, "body", d->body, "a body or marker");
  ga__marker base = *GA__AT(b->marker, ga__marker, b->part_marker[on]);
  ga__marker *marker = ga__list_add(m->ctx, &b->marker);
  if (!marker) return GA_ERR_MEMORY;
  marker->node = base.node;
  ga__mat3_mul_vec(marker->s, base.A, d->pose.position);
  for (int i = 0; i < 3; i++) marker->s[i] += base.s[i];
  ga__mat3_mul(marker->A, base.A, d->pose.rotation);
  b->part_marker[part] = b->marker.n - 1;
  return GA_OK;
}

ga_status ga__nodes_create(ga_machine *m, ga__built *b)
{
  static const double origin[3] = {0, 0, 0};
  static ga_status (*const add[GA__N_PARTS])(ga_machine *, ga__built *,
                                             int) = {[GA__PART_RIGID] = add_rigid,
                                                     [GA__PART_PLANAR] = add_planar,
                                                     [GA__PART_POINT] = add_point,
                                                     [GA__PART_SCALAR] = add_scalar};
  if (!add_node(m, b, 0, 0)) return GA_ERR_MEMORY;
  ga_status status = add_own_marker(m, b, 0, 0, origin);
  for (int i = 1; !status && i < m->n_parts; i++)
    if (add[m->part[i].kind]) status = add[m->part[i].kind](m, b, i);
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = GA__AT(b->node, ga__node, i);
    memcpy(node->q_given, node->q0, sizeof node->q0);
    memcpy(node->v_given, node->v0, sizeof node->v0);
  }
  for (int i = 1; !status && i < m->n_parts; i++)
    if (m->part[i].kind == GA__PART_MARKER) status = add_marker(m, b, i, 0);
  return status;
}

/* ---- Motion ---- */

static void planar_kin(ga__kin *k, const ga__node *node, const double *q)
{
  double c = cos(q[2]), s = sin(q[2]);
  const double R[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
  k->x[0] = q[0], k->x[1] = q[1], k->x[2] = node->z;
  memcpy(k->R, R, sizeof R);
  k->angle = q[2];
}

static void spread(double six[6], const ga__node *node, const double *v)
{
  for (int c = 0; c < 6; c++) six[c] = node->column[c] >= 0 ? v[node->v + node->column[c]] : 0.0;
}

void ga__kin_other(const ga__node *node, const double *q, const double *v, const double *vdot, ga__kin *k)
{
  const double *at = q + node->q;
  if (node->planar)
    planar_kin(k, node, at);
  else
    for (int c = 0; c < node->n; c++) k->x[c] = at[c];
  if (v) spread(k->w, node, v);
  if (vdot) spread(k->acc, node, vdot);
}

void ga__kin_at(const ga__built *b, const double *q, const double *v, const double *vdot, ga__kin *kin)
{
  const double *velocity = b->form ? NULL : v, *acceleration = b->form ? NULL : vdot;
  for (int i = 0; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->rigid)
      ga__kin_rigid(node, q, velocity, acceleration, &kin[i]);
    else
      ga__kin_other(node, q, v, vdot, &kin[i]);
  }
  if (b->form && v) ga__form_kin(b, v, vdot, kin);
}

void ga__kin_pose(const ga__node *node, const double q[12], ga__kin *k)
{
  memset(k, 0, sizeof *k);
  memcpy(k->R, IDENTITY, sizeof IDENTITY);
  if (node->rigid) memcpy(k->R, q + 3, sizeof k->R);
  if (node->planar)
    planar_kin(k, node, q);
  else
    memcpy(k->x, q, sizeof k->x);
}

void ga__kin_initial(const ga__built *b, int i, ga__kin *kin)
{
  const ga__node *node = GA__AT(b->node, ga__node, i);
  ga__kin_pose(node, node->q0, &kin[i]);
  memcpy(kin[i].w, node->v0, sizeof kin[i].w);
}

/* A gauge at the start, as given; its nodes' places in kin serve. */
static void initial_sight(const ga__built *b, int gauge, ga__sight *s)
{
  const ga__gauge *g = GA__AT(b->gauge, ga__gauge, gauge);
  const ga__marker *marker = b->marker.at;
  ga__kin_initial(b, marker[g->a].node, b->kin);
  ga__kin_initial(b, marker[g->b].node, b->kin);
  ga__sight_at(s, g, marker, b->kin);
}

double ga__gauge_initial(const ga__built *b, int gauge)
{
  ga__sight s;
  initial_sight(b, gauge, &s);
  return ga__gauge_value(&s);
}

double ga__gauge_initial_rate(const ga__built *b, int gauge)
{
  ga__sight s;
  double g[12], rate = 0.0;
  initial_sight(b, gauge, &s);
  ga__gauge_gradient(g, &s);
  for (int i = 0; i < 6; i++) rate += g[i] * b->kin[s.a.node].w[i] + g[6 + i] * b->kin[s.b.node].w[i];
  return rate;
}

/* ---- Inertia ---- */

/* y = R J Rᵀ x */
static void turned_inertia(double y[3], const double R[9], const double J[9], const double x[3])
{
  double a[3], c[3];
  ga__mat3_tmul_vec(a, R, x);
  ga__mat3_mul_vec(c, J, a);
  ga__mat3_mul_vec(y, R, c);
}

void ga__inertia_mass(const ga__eval *e, double *out)
{
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    const double *acc = e->kin[i].acc;
    double *to = out + node->v;
    for (int c = 0; c < 3; c++)
      if (node->column[c] >= 0) to[node->column[c]] = node->mass * acc[c];
    if (node->rigid) turned_inertia(to + 3, e->kin[i].R, node->J, acc + 3);
    if (node->planar) to[2] = node->J[8] * acc[5];
  }
}

void ga__inertia_force(const ga__eval *e, double *f)
{
  const double *g = e->m->opts.gravity;
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    double *to = f + node->v;
    if (!node->scalar)
      for (int c = 0; c < 3; c++)
        if (node->column[c] >= 0) to[node->column[c]] += node->mass * g[c];
    if (node->rigid) {
      const double *w = e->kin[i].w + 3;
      double Jw[3], gyro[3];
      turned_inertia(Jw, e->kin[i].R, node->J, w);
      ga__vec3_cross(gyro, w, Jw);
      for (int c = 0; c < 3; c++) to[3 + c] -= gyro[c];
    }
  }
}

ga_status ga__inertia_want(ga__built *b)
{
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    unsigned tiles = 1u << GA__XX | (node->has >> 3 ? 1u << GA__RR : 0u);
    ga_status status = ga__want_pair(&b->pattern, i, i, tiles, 1u << GA__RR);
    if (status) return status;
  }
  return GA_OK;
}

void ga__inertia_bind(ga__built *b)
{
  for (int i = 1; i < b->node.n; i++) {
    ga__node *node = GA__AT(b->node, ga__node, i);
    node->self = ga__find_pair(&b->pattern, i, i);
    if (!node->rigid) continue;
    const ga__pair *pair = &b->pattern.pair[node->self];
    node->xx = pair->at[GA__XX];
    node->xx_full = (int)(pair->full >> GA__XX & 1u);
    node->rr = pair->at[GA__RR];
    ga__set_entries(&b->pattern, GA_WANT_D, node->xx, node->xx_full ? 9 : 3);
    if (!node->xx_full) ga__leave_entries(&b->pattern, GA_WANT_Q, node->xx, 3); /* nobody else asked for it */
    ga__set_entries(&b->pattern, GA_WANT_D | GA_WANT_Q, node->rr, 9);
  }
}
