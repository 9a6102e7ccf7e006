/* Collisions: two solids press on each other where corners of one are within reach of the other, and where
 * edges cross. For every such place with depth δ, normal n from b to a, point P between both surfaces:
 *
 *   N = w k δ^m max(0, 1 + c δ'),  δ' = −n·v,  v = v_a(P) − v_b(P)       (Hunt and Crossley 1975)
 *   F = N n − μ N v_t/√(v_t² + s²),  v_t = v − (n·v) n                    on a; the opposite on b
 *
 * With a length ℓ to stick, the friction of a corner has a memory ζ, a vector that turns with b, |ζ| <= 1:
 *
 *   F_t = −μ N (s² ζ + (s (1 − ζ²) + |v_t|) v_t)/(v_t² + s²),  ζ' = (v_t − |v_t| ζ)/ℓ     off contact −ζ s/ℓ
 *
 * At rest F_t = −μ N ζ holds without a speed, as a spring that yields at μ N; sliding, ζ is along v_t, and
 * F_t = −μ N v_t/|v_t|. The spring stores μ N₀ ℓ ζ²/2, with N₀ the elastic part of N; the rest of the work is
 * lost, never less than 0.
 *
 * w is 1 for corners, and fades for crossings (solid.h). δ is the sum of the radii minus the distance of a
 * corner from the other core: to a corner, an edge or a face, whichever is nearest, or, within the core,
 * minus the distance from the nearest face. It is a continuous function of the positions with continuous
 * slopes as long as a corner is outside of the core; k δ^(m+1)/(m+1) is stored.
 *
 * Everything is computed with derivatives by poses and twists (dual.h); which features are the nearest is
 * found with plain numbers before (near.c). */
#include "mbs/channel.h"
#include "mbs/hidden.h"
#include "mbs/law_impl.h"
#include "mbs/press.h"

#include "expr/side.h"
#include "lie/mat3.h"
#include <math.h>
#include <string.h>

/* Variables: poses of the nodes of a and b, their twists, the memory of one corner. */
enum { POSE = 0, TWIST = 12, STATE = 24, ALL = 24, WITH_MEMORY = 27 };

typedef struct collision {
  const ga_collision_def *def;
  const ga__collider *of[2];
  int node[2];
  int n; /* variables */
  int pair[2][2];
  int *port, *row,
      *own; /* [2 n_x] nodes by states, states by nodes; [3 n_x] states by those of their corner */
} collision;

/* ---- Forces ---- */

typedef struct result {
  ga__dual six[2][6];     /* wrenches about the origins of the nodes */
  ga__dual normal, F[3];  /* sum of N; force on a */
  ga__dual tangential[3]; /* friction on a */
  ga__dual moment[3];     /* Σ N P */
  ga__dual stored;        /* [J] */
  double power;           /* [W] of all forces */
  double memory_power;    /* [W] by which changes of memories alone change what is stored */
  double at_node[2][3];
  int near; /* 0: they are far apart, and nothing else is set */
} result;

/* What one place does. */
typedef struct push {
  ga__dual six[2][6], N, F[3], tangential[3], stored;
  ga__dual rate[3]; /* of its memory, in the axes of b */
  double power, memory_power;
} push;

/* Who wants to know of single corners with a memory: rates of states, derivatives. */
typedef struct listener {
  const ga__eval *e;
  const ga__element *el;
  double *s;        /* rates; NULL: none */
  ga_jacobian *J;   /* NULL: none */
  double *by_state; /* [3 n_x] of the force on a; NULL: none */
  int only_looks;   /* 1: states between steps may be too deep */
} listener;

/* Velocity of a point that moves with a node. */
static void velocity_at(ga__dual out[3], const ga__scene *c, int which, const ga__kin *kin,
                        const ga__dual P[3])
{
  const int node = c->node[which], pose = ga__scene_pose(c, which), twist = node ? TWIST + 6 * which : -1;
  ga__dual arm[3], omega[3], turn[3];
  for (int i = 0; i < 3; i++) {
    const ga__dual x = ga__dual_variable(c->n, pose < 0 ? -1 : pose + i, kin[node].x[i]);
    arm[i] = ga__dual_sub(&P[i], &x);
    omega[i] = ga__dual_variable(c->n, twist < 0 ? -1 : twist + 3 + i, node ? kin[node].w[3 + i] : 0);
    out[i] = ga__dual_variable(c->n, twist < 0 ? -1 : twist + i, node ? kin[node].w[i] : 0);
  }
  ga__dual_cross(turn, omega, arm);
  for (int i = 0; i < 3; i++) out[i] = ga__dual_add(&out[i], &turn[i]);
}

/* N, what is stored, and N without dissipation. */
static ga__dual normal_force(const ga_collision_def *d, const ga__press *p, const ga__dual *rate,
                             ga__dual *stored, ga__dual *plain)
{
  const double root_k = d->stiffness * pow(p->depth.v, d->exponent - 1), elastic = root_k * p->depth.v;
  const ga__dual damp = ga__dual_linear(rate, d->dissipation, 1);
  *stored = ga__dual_chain(&p->depth, elastic * p->depth.v / (d->exponent + 1), elastic);
  *stored = ga__dual_mul(stored, &p->weight);
  *plain = ga__dual_chain(&p->depth, elastic, d->exponent * root_k);
  *plain = ga__dual_mul(plain, &p->weight);
  if (damp.v <= 0) return ga__dual_const(damp.n, 0);
  return ga__dual_mul(plain, &damp);
}

/* |v|; at 0 without derivatives, where what it is a factor of changes sides. */
static ga__dual size_of(const ga__dual v[3])
{
  const ga__dual plane = ga__dual_hypot(&v[0], &v[1]);
  return ga__dual_hypot(&plane, &v[2]);
}

/* t: friction −μ N v/√(v² + s²). */
static void add_friction(ga__dual t[3], const ga_collision_def *d, const ga__dual *N, const ga__dual vt[3])
{
  ga__dual vv = ga__dual_dot(vt, vt);
  vv = ga__dual_linear(&vv, 1, d->speed * d->speed);
  const ga__dual speed = ga__dual_root(&vv), level = ga__dual_linear(N, -d->mu, 0),
                 by = ga__dual_div(&level, &speed);
  ga__dual_along(t, t, &by, vt);
}

/* The memory of a corner: z in the axes of b, with its derivatives. */
static void memory_of(ga__dual out[3], const ga__scene *c, const double z[3])
{
  ga__scene_vector(out, c, 1, z);
  for (int k = 0; k < 9 && c->n == WITH_MEMORY; k++) out[k / 3].d[STATE + k % 3] = c->frame[1].A[k];
}

static void add_friction_with_memory(push *out, const ga_collision_def *d, const ga__scene *c,
                                     const ga__dual *N, const ga__dual *elastic, const ga__dual n[3],
                                     const ga__dual vt[3], const double z[3])
{
  const double s = d->speed;
  ga__dual zeta[3], along[3], change[3];
  memory_of(zeta, c, z);
  const ga__dual zn = ga__dual_dot(zeta, n), back = ga__dual_linear(&zn, -1, 0);
  ga__dual_along(along, zeta, &back, n);
  const ga__dual zz = ga__dual_dot(along, along), vv = ga__dual_dot(vt, vt), v = size_of(vt);
  const ga__dual level = ga__dual_linear(N, -d->mu, 0), sum = ga__dual_linear(&vv, 1, s * s),
                 share = ga__dual_div(&level, &sum), hold = ga__dual_linear(&share, s * s, 0);
  ga__dual slide = ga__dual_chain2(&zz, &v, s * (1 - zz.v) + v.v, -s, 1);
  slide = ga__dual_mul(&share, &slide);
  ga__dual_along(out->tangential, out->tangential, &hold, along);
  ga__dual_along(out->tangential, out->tangential, &slide, vt);
  const ga__dual half = ga__dual_linear(elastic, 0.5 * d->mu * d->stick, 0),
                 spring = ga__dual_mul(&half, &zz);
  out->stored = ga__dual_add(&out->stored, &spring);
  const ga__dual less = ga__dual_linear(&v, -1, 0);
  ga__dual_along(change, vt, &less, zeta);
  for (int i = 0; i < 3; i++) {
    double axis[3] = {0, 0, 0};
    ga__dual turned[3];
    axis[i] = 1 / d->stick;
    ga__scene_vector(turned, c, 1, axis);
    out->rate[i] = ga__dual_dot(turned, change);
    if (c->n == WITH_MEMORY) out->memory_power += spring.d[STATE + i] * out->rate[i].v;
  }
}

static void set_wrench(push *out, const ga__scene *c, const result *r, const ga__dual P[3])
{
  for (int which = 0; which < 2; which++) {
    const int pose = ga__scene_pose(c, which);
    ga__dual arm[3];
    for (int i = 0; i < 3; i++) {
      const ga__dual x = ga__dual_variable(c->n, pose < 0 ? -1 : pose + i, r->at_node[which][i]);
      arm[i] = ga__dual_sub(&P[i], &x);
      out->six[which][i] = ga__dual_linear(&out->F[i], which ? -1 : 1, 0);
    }
    ga__dual_cross(out->six[which] + 3, arm, out->six[which]);
  }
}

/* z: memory of a corner, NULL: none. */
static void push_at(push *out, const ga_collision_def *d, const ga__scene *c, const ga__kin *kin,
                    const ga__press *p, const double *z)
{
  ga__dual va[3], vb[3], v[3], vt[3], elastic;
  velocity_at(va, c, 0, kin, p->point);
  velocity_at(vb, c, 1, kin, p->point);
  ga__dual_minus(v, va, vb);
  out->memory_power = 0;
  const ga__dual away = ga__dual_dot(p->normal, v), rate = ga__dual_linear(&away, -1, 0);
  out->N = normal_force(d, p, &rate, &out->stored, &elastic);
  ga__dual_along(vt, v, &rate, p->normal);
  for (int i = 0; i < 3; i++) out->tangential[i] = ga__dual_const(c->n, 0);
  if (d->mu > 0 && z)
    add_friction_with_memory(out, d, c, &out->N, &elastic, p->normal, vt, z);
  else if (d->mu > 0)
    add_friction(out->tangential, d, &out->N, vt);
  ga__dual_along(out->F, out->tangential, &out->N, p->normal);
  out->power = 0;
  for (int i = 0; i < 3; i++) out->power += out->F[i].v * v[i].v;
}

static void add_push(result *out, const push *p, const ga__dual point[3])
{
  for (int i = 0; i < 12; i++)
    out->six[i / 6][i % 6] = ga__dual_add(&out->six[i / 6][i % 6], &p->six[i / 6][i % 6]);
  out->normal = ga__dual_add(&out->normal, &p->N);
  out->stored = ga__dual_add(&out->stored, &p->stored);
  ga__dual_along(out->moment, out->moment, &p->N, point);
  for (int i = 0; i < 3; i++) {
    out->F[i] = ga__dual_add(&out->F[i], &p->F[i]);
    out->tangential[i] = ga__dual_add(&out->tangential[i], &p->tangential[i]);
  }
  out->power += p->power;
  out->memory_power += p->memory_power;
}

static void clear_result(result *out, const ga__scene *c, const ga__kin *kin)
{
  const ga__dual zero = ga__dual_const(c->n, 0);
  out->normal = out->stored = zero;
  out->power = out->memory_power = 0;
  for (int i = 0; i < 3; i++) out->F[i] = out->moment[i] = out->tangential[i] = zero;
  for (int which = 0; which < 2; which++) {
    memcpy(out->at_node[which], kin[c->node[which]].x, sizeof out->at_node[which]);
    for (int i = 0; i < 6; i++) out->six[which][i] = zero;
  }
}

/* Says that one is nearly through the other, and asks for a smaller step. */
static int fail_deep(const ga__eval *e, const ga__element *el, const ga__scene *c, const ga__place *at)
{
  const collision *u = el->data;
  if (!e->work) return 1;
  ga__refuse_part(e->work->ctx, &e->m->part[el->part], GA_RETRY_NAN, GA_REASON_COLLIDERS_TOO_DEEP,
                  (ga__facts){.name = u->def->a,
                              .other = u->def->b,
                              .at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              GA__NUMBERS({c->radii - at->distance, "m"})});
  return 1;
}

/* Number of the first state of a corner among those of the element; −1: it has none. */
static int memory_at(const collision *u, const ga__scene *c, const ga__place *at)
{
  if (!u->own || at->corner < 0) return -1;
  return 3 * (at->corner + (at->which && ga__sends_corners(c, 0) ? c->solid[0]->n_corners : 0));
}

static void tell(const listener *l, const collision *u, const push *p, int first);

/* 1: the nodes alone are so far apart that the solids on them cannot touch; most pairs of many bodies are,
 * and cost no more than this. */
static int are_far(const collision *u, const ga__kin *kin)
{
  const double *a = kin[u->node[0]].x, *b = kin[u->node[1]].x, reach = u->of[0]->extent + u->of[1]->extent;
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return u->node[0] && u->node[1] && ga__vec3_dot(d, d) > reach * reach;
}

static int eval_collision(result *out, const ga__eval *e, const ga__element *el, int n, const listener *l)
{
  const collision *u = el->data;
  ga__scene c;
  ga__place at;
  ga__press p[GA__MOST_ALIKE];
  push f;
  out->near = 0;
  if (are_far(u, e->kin)) return 0;
  ga__scene_set(&c, e->b, e->kin, u->of, n);
  out->near = ga__scene_may_touch(&c);
  if (!out->near) return 0;
  clear_result(out, &c, e->kin);
  ga__search s = ga__search_in(&c, c.radii);
  while (ga__next_place(&c, &s, &at)) {
    if (!(l && l->only_looks) && ga__place_is_deep(&c, &at)) return fail_deep(e, el, &c, &at);
    const int first = memory_at(u, &c, &at);
    const int n_alike = ga__presses_at(p, &c, &at);
    for (int k = 0; k < n_alike; k++) {
      push_at(&f, u->def, &c, e->kin, &p[k], first >= 0 && e->p->x ? e->p->x + el->x + first : NULL);
      set_wrench(&f, &c, out, p[k].point);
      add_push(out, &f, p[k].point);
      if (l && first >= 0) tell(l, u, &f, first);
    }
  }
  return 0;
}

/* ---- Building ---- */

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

/* A mesh that is not convex, and what else would be needed. */
static ga_status check_dents(ga_machine *m, int part, const collision *u)
{
  const ga_collision_def *d = u->def;
  const ga__solid *a = &u->of[0]->solid, *b = &u->of[1]->solid;
  const char *detail = NULL, *expected = NULL;
  if (!(a->dents || b->dents) || a->is_plane || b->is_plane) return GA_OK;
  if (a->dents && b->dents)
    detail = "and nor is the other one",
    expected = "make one of several convex meshes, each a collider of the same frame";
  else if (!(a->radius + b->radius > 0))
    detail = "and pressed on from outside only",
    expected = "give it, or what it collides with, a radius of more than the depth";
  else if (d->stick > 0 && d->mu > 0)
    detail = "and a corner may touch it at several places, which have no memory",
    expected = "leave stick out";
  if (!detail) return GA_OK;
  return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_DENTS_NEED,
                         (ga__facts){.name = a->dents ? d->a : d->b, .detail = detail, .expected = expected});
}

static ga_status check_pair(ga_machine *m, int part, const collision *u)
{
  const ga_collision_def *d = u->def;
  if (u->node[0] == u->node[1])
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_SAME_BODY,
                           (ga__facts){.name = d->a, .other = d->b});
  if (u->of[0]->solid.is_plane && u->of[1]->solid.is_plane)
    return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_TWO_PLANES,
                           (ga__facts){.name = d->a, .other = d->b});
  return check_dents(m, part, u);
}

static ga_status reserve(ga_machine *m, collision *u, int n_x)
{
  u->n = WITH_MEMORY;
  u->port = ga__alloc(m->ctx, 2 * (size_t)n_x, sizeof *u->port);
  u->row = ga__alloc(m->ctx, 2 * (size_t)n_x, sizeof *u->row);
  u->own = ga__alloc(m->ctx, 3 * (size_t)n_x, sizeof *u->own);
  return u->port && u->row && u->own ? GA_OK : ga__no_memory(m->ctx, "the memory of a friction");
}

static void release(ga_context *ctx, ga__element *el)
{
  const collision *u = el->data;
  ga__free(ctx, u->port);
  ga__free(ctx, u->row);
  ga__free(ctx, u->own);
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_collision_def *d = m->part[part].def;
  const char *const field[2] = {"a", "b"}, *const name[2] = {d->a, d->b};
  collision own = {.def = d, .n = ALL};
  ga__scene c = {.n = 0};
  int corners = 0;
  for (int i = 0; i < 2; i++) {
    const ga_status status = ga__resolve_collider(m, b, &m->part[part], field[i], name[i], &own.of[i]);
    if (status) return status;
    own.node[i] = own.of[i]->node;
    c.solid[i] = &own.of[i]->solid;
  }
  const ga_status status = check_pair(m, part, &own);
  if (status) return status;
  for (int i = 0; i < 2 && d->stick > 0 && d->mu > 0; i++)
    if (ga__sends_corners(&c, i)) corners += c.solid[i]->n_corners;
  const ga__element *el = ga__element_add(m, b, part, &ga__collision_type, 3 * corners, 0);
  if (!el) return GA_ERR_MEMORY;
  collision *u = el->data;
  *u = own;
  return corners ? reserve(m, u, el->n_x) : GA_OK;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const collision *u = el->data;
  ga_status status = GA_OK;
  for (int k = 0; k < 4 && !status; k++)
    if (u->node[k / 2] && u->node[k % 2]) status = ga__want_block(b, u->node[k / 2], u->node[k % 2], 0);
  for (int k = 0; k < 2 * el->n_x && !status; k++)
    if (u->node[k % 2]) status = ga__want_port(&b->pattern, u->node[k % 2], ga__column_x(b, el->x + k / 2));
  return status;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  collision *u = el->data;
  for (int k = 0; k < 4; k++)
    u->pair[k / 2][k % 2] =
        u->node[k / 2] && u->node[k % 2] ? ga__find_pair(&b->pattern, u->node[k / 2], u->node[k % 2]) : -1;
  for (int k = 0; k < 2 * el->n_x; k++) {
    const int node = u->node[k % 2], x = ga__column_x(b, el->x + k / 2);
    u->port[k] = node ? ga__find_port(&b->pattern, node, x) : -1;
    u->row[k] = node ? ga__own_rows(&b->pattern, node_at(b, node), x, 1, 0) : 0;
    if (u->row[k] < 0) return GA_ERR_MEMORY;
  }
  for (int k = 0; k < 3 * el->n_x; k++) {
    const int i = k / 3, j = i - i % 3 + k % 3;
    u->own[k] = ga__own_entry(&b->pattern, ga__column_x(b, el->x + i), ga__column_x(b, el->x + j));
    if (u->own[k] < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

/* ---- Evaluation ---- */

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const collision *u = el->data;
  result r;
  const int status = eval_collision(&r, e, el, 0, NULL);
  if (status || !r.near) return status;
  for (int which = 0; which < 2; which++) {
    const ga__node *node = node_at(e->b, u->node[which]);
    double w[6];
    if (!u->node[which]) continue;
    for (int i = 0; i < 6; i++) w[i] = r.six[which][i].v;
    ga__add_six(f + node->v, node, 1, w);
  }
  return 0;
}

/* Off contact the memory fades. */
static double fading(const ga_collision_def *d)
{
  return d->speed / d->stick;
}

static int state(const ga__eval *e, const ga__element *el, double *s)
{
  const collision *u = el->data;
  result r;
  for (int i = 0; i < el->n_x; i++) s[el->x + i] = -fading(u->def) * e->p->x[el->x + i];
  return el->n_x ? eval_collision(&r, e, el, 0, &(listener){e, el, s, NULL, NULL, 0}) : 0;
}

/* Derivatives by and of the states of a corner; that they fade was added for all of them. */
static void add_memory(const listener *l, const collision *u, const push *p, int first)
{
  const ga_jacobian *J = l->J;
  const int D = J->want & GA_WANT_D, Q = J->want & GA_WANT_Q;
  for (int i = first; i < first + 3; i++) {
    const ga__dual *rate = &p->rate[i - first];
    for (int j = 0; j < 2; j++) {
      const ga__node *node = node_at(l->e->b, u->node[j]);
      double by[6];
      if (!u->node[j]) continue;
      for (int k = 0; k < 6; k++) by[k] = p->six[j][k].d[STATE + i - first];
      if (D) ga__add_port(J->D, l->e->b, u->port[2 * i + j], -1, by);
      if (D) ga__add_six(J->D + u->row[2 * i + j], node, -J->shift_v, rate->d + TWIST + 6 * j);
      if (Q) ga__add_six(J->Q + u->row[2 * i + j], node, -1, rate->d + POSE + 6 * j);
    }
    for (int k = 0; k < 3 && D; k++)
      J->D[u->own[3 * i + k]] -= rate->d[STATE + k] + (k == i - first ? fading(u->def) : 0);
  }
}

static void tell(const listener *l, const collision *u, const push *p, int first)
{
  for (int i = 0; i < 3 && l->s; i++) l->s[l->el->x + first + i] = p->rate[i].v;
  if (l->J) add_memory(l, u, p, first);
  for (int k = 0; k < 9 && l->by_state; k++)
    l->by_state[3 * (first + k / 3) + k % 3] = p->F[k % 3].d[STATE + k / 3];
}

/* Residuals have −f. */
static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const collision *u = el->data;
  result r;
  if (!ga__wants_forces(J)) return 0;
  for (int i = 0; i < el->n_x && J->want & GA_WANT_D; i++) J->D[u->own[3 * i + i % 3]] += fading(u->def);
  const int status = eval_collision(&r, e, el, u->n, &(listener){e, el, NULL, J, NULL, 0});
  if (status || !r.near) return status;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double Q[36], D[36];
      if (u->pair[i][j] < 0) continue;
      for (int k = 0; k < 36; k++) {
        Q[k] = r.six[i][k / 6].d[POSE + 6 * j + k % 6];
        D[k] = r.six[i][k / 6].d[TWIST + 6 * j + k % 6];
      }
      if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->pair[i][j], -1, Q);
      if (J->want & GA_WANT_D) ga__add_block(J->D, e->b, u->pair[i][j], -J->shift_v, D);
    }
  return 0;
}

/* What is not stored of the forces' work is lost. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const collision *u = el->data;
  result r;
  const int status = eval_collision(&r, e, el, u->n, &(listener){.e = e, .el = el, .only_looks = 1});
  if (status || !r.near) return status;
  double rate = r.memory_power;
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < 6 && u->node[which]; i++)
      rate += r.stored.d[POSE + 6 * which + i] * e->kin[u->node[which]].w[i];
  out->potential += r.stored.v;
  out->lost -= r.power + rate;
  return 0;
}

/* ---- Signals ---- */

enum { GAP, NORMAL, TANGENTIAL, FX, FY, FZ, X, Y, Z, N_SIGNALS };

static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return N_SIGNALS;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const struct {
    const char *name, *unit;
  } SIGNAL[N_SIGNALS] = {[GAP] = {"gap", "m"}, [NORMAL] = {"normal", "N"}, [TANGENTIAL] = {"tangential", "N"},
                         [FX] = {"fx", "N"},   [FY] = {"fy", "N"},         [FZ] = {"fz", "N"},
                         [X] = {"x", "m"},     [Y] = {"y", "m"},           [Z] = {"z", "m"}};
  (void)b;
  ga__signal_set(out, SIGNAL[i].name, SIGNAL[i].unit, GA__PROBE_ELEMENT, i);
  out->probe.owner = part;
}

#define ABOUT                                                                                                \
  0.01 /* [-] of the reach: places so much farther apart than the nearest one count half or less */

/* Apart, the mean point of the nearest places, so that it does not jump between equal ones: weights (1 +
 * u²)^−2, u = (d − d_nearest)/ε. */
static ga__dual point_between(const ga__scene *c, const ga__press *nearest, int i)
{
  const double about = ABOUT * fmin(c->solid[0]->reach, c->solid[1]->reach);
  ga__dual sum = ga__dual_const(c->n, 0), weights = sum;
  ga__search s = ga__search_in(c, c->radii - nearest->depth.v + 4 * about);
  ga__place at;
  ga__press p;
  while (ga__next_place(c, &s, &at)) {
    ga__press_at(&p, c, &at);
    const ga__dual off = ga__dual_sub(&nearest->depth, &p.depth);
    const double u = off.v / about, v = 1 / (1 + u * u);
    const ga__dual by = ga__dual_chain(&off, v * v, -4 * u * v * v * v / about),
                   w = ga__dual_mul(&by, &p.weight), share = ga__dual_mul(&w, &p.point[i]);
    sum = ga__dual_add(&sum, &share);
    weights = ga__dual_add(&weights, &w);
  }
  return weights.v > 0 ? ga__dual_div(&sum, &weights) : nearest->point[i];
}

/* The gap, and the point of contact of solids that are apart. */
static void place_dual(ga__dual *out, const ga__eval *e, const ga__element *el, int i, int n)
{
  ga__scene c;
  ga__place at;
  ga__press p;
  ga__scene_set(&c, e->b, e->kin, ((const collision *)el->data)->of, n);
  ga__scene_relate(&c);
  *out = ga__dual_const(n, 0);
  if (!ga__nearest_place(&c, &at)) return;
  ga__press_at(&p, &c, &at);
  *out = i == GAP ? ga__dual_linear(&p.depth, -1, 0) : point_between(&c, &p, i - X);
}

static int signal_dual(ga__dual *out, result *r, const ga__eval *e, const ga__element *el, int i, int n,
                       double *by_state)
{
  const int status = eval_collision(r, e, el, n, &(listener){e, el, NULL, NULL, by_state, 1});
  if (status) return status;
  if (!ga__gate_is_open(e, el->gate)) r->near = 0;
  if (i == GAP || (i >= X && !(r->near && r->normal.v > 0)))
    place_dual(out, e, el, i, n);
  else if (!r->near)
    *out = ga__dual_const(n, 0);
  else if (i == NORMAL)
    *out = r->normal;
  else if (i == TANGENTIAL)
    *out = size_of(r->tangential);
  else
    *out = i < X ? r->F[i - FX] : ga__dual_div(&r->moment[i - X], &r->normal);
  return 0;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  result r;
  ga__dual s;
  const int status = signal_dual(&s, &r, e, el, i, 0, NULL);
  *out = status ? NAN : s.v;
  return status;
}

static int value_columns(const ga__mbs_model *b, const ga__element *el, int i, int *column, int room)
{
  (void)i;
  return ga__columns_of_nodes(b, el, ((const collision *)el->data)->node, 2, column, room);
}

/* Forces by the memory of corners. */
static double by_memory(const result *r, int i, const double by[3])
{
  double along = 0, size = 0;
  if (!r->near) return 0;
  if (i >= FX && i <= FZ) return by[i - FX];
  for (int k = 0; k < 3; k++)
    along += r->tangential[k].v * by[k], size += r->tangential[k].v * r->tangential[k].v;
  return i == TANGENTIAL && size > 0 ? along / sqrt(size) : 0;
}

static int value_slopes(const ga__eval *e, const ga__element *el, int i, double shift_v, double shift_vdot,
                        double *d, double *dq)
{
  const collision *u = el->data;
  double *by_state = el->n_x ? e->work->scratch : NULL;
  result r;
  ga__dual s;
  int n = 0;
  (void)shift_vdot;
  for (int k = 0; k < 3 * el->n_x; k++) by_state[k] = 0;
  const int status = signal_dual(&s, &r, e, el, i, u->n, by_state);
  if (status) return status;
  for (int j = 0; j < 2; j++) {
    const ga__node *node = node_at(e->b, u->node[j]);
    for (int k = 0; k < 6 && u->node[j]; k++) {
      if (node->column[k] < 0) continue;
      d[n] = shift_v * s.d[TWIST + 6 * j + k];
      dq[n++] = s.d[POSE + 6 * j + k];
    }
  }
  for (int k = 0; k < el->n_x; k++) d[n] = by_memory(&r, i, by_state + 3 * k), dq[n++] = 0;
  return 0;
}

static size_t scratch(const ga__element *el)
{
  return 3 * (size_t)el->n_x;
}

/* ---- Edges: where contact begins and ends, and where a place passes from one feature to another ---- */

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b, (void)el;
  return 1;
}

static unsigned feature_number(const ga__scene *c, const ga__place *at)
{
  const ga__feature *f = &at->feature;
  if (at->corner < 0) return 0;
  if (c->solid[1 - at->which]->dents)
    return 1u + (unsigned)f->kind; /* from one triangle to the next nothing jumps */
  const int index = f->kind == GA__FACE ? c->solid[1 - at->which]->face[f->index].plane : f->index;
  return 1u + 3u * (unsigned)index + (unsigned)f->kind;
}

static int side(const ga__eval *e, const ga__element *el, unsigned *number)
{
  const collision *u = el->data;
  ga__scene c;
  ga__place at;
  if (are_far(u, e->kin)) return 0;
  ga__scene_set(&c, e->b, e->kin, u->of, 0);
  if (!ga__scene_may_touch(&c)) return 0;
  ga__search s = ga__search_in(&c, c.radii);
  while (ga__next_place(&c, &s, &at)) {
    ga__dual va[3], vb[3];
    ga__press p;
    double away = 0;
    ga__press_at(&p, &c, &at);
    velocity_at(va, &c, 0, e->kin, p.point);
    velocity_at(vb, &c, 1, e->kin, p.point);
    for (int i = 0; i < 3; i++) away += p.normal[i].v * (va[i].v - vb[i].v);
    ga__mix_side(number, 1 + at.which);
    ga__mix_side(number, at.corner < 0 ? at.crossing.edge[0] : at.corner);
    ga__mix_side(number, at.corner < 0 ? at.crossing.edge[1] : (int)feature_number(&c, &at));
    ga__mix_side(number, u->def->dissipation * away < 1);
  }
  return 0;
}

/* ---- Contact between the ends of a step ---- */

static int may_hide(const ga__element *el)
{
  (void)el;
  return 1;
}

typedef struct moment {
  double gap, rate; /* of the nearest ga__place */
  double speed;     /* [m/s] no place comes nearer faster */
  double normal[3]; /* 0: they are far apart */
} moment;

/* Poses and twists of both nodes. */
static void move_to(ga__workspace *w, const collision *u, const ga_instant *at)
{
  w->motion = 0; /* kin belongs to no evaluation any more */
  if (w->b->form || w->b->carried.n) {
    ga__kin_at(w->b, at->q, at->v, NULL, w->kin);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const ga__node *node = node_at(w->b, u->node[i]);
    if (node->rigid)
      ga__kin_rigid(node, at->q, at->v, NULL, &w->kin[u->node[i]]);
    else
      ga__kin_other(node, at->q, at->v, NULL, &w->kin[u->node[i]]);
  }
}

/* Relative velocity at the centre c of the smaller solid, and what rotations add within its reach and the
 * gap. */
static void set_speed(moment *m, const ga__workspace *w, const ga__scene *c)
{
  const int small = c->solid[0]->reach <= c->solid[1]->reach ? 0 : 1;
  const ga__solid *s = c->solid[small];
  double centre[3], v[3] = {0, 0, 0}, spin = 0;
  ga__mat3_mul_vec(centre, c->frame[small].A, s->centre);
  for (int i = 0; i < 2; i++) {
    const ga__kin *k = &w->kin[c->node[i]];
    double arm[3], turn[3];
    if (!c->node[i]) continue;
    for (int j = 0; j < 3; j++) arm[j] = centre[j] + c->frame[small].p[j] - k->x[j];
    ga__vec3_cross(turn, k->w + 3, arm);
    for (int j = 0; j < 3; j++) v[j] += (i ? -1 : 1) * (k->w[j] + turn[j]);
    spin += sqrt(ga__vec3_dot(k->w + 3, k->w + 3));
  }
  m->speed = sqrt(ga__vec3_dot(v, v)) + spin * (s->reach + fmax(m->gap, 0));
}

/* far: [m] gaps beyond it need not be known. */
static moment moment_at(ga__workspace *w, const collision *u, const ga_instant *at, double far)
{
  ga__scene c;
  ga__place near;
  ga__press p;
  ga__dual va[3], vb[3];
  moment out = {.gap = far};
  move_to(w, u, at);
  ga__scene_set(&c, w->b, w->kin, u->of, 0);
  const int within = ga__scene_is_near(&c, far);
  if (within) ga__scene_relate(&c);
  if (within && ga__nearest_place(&c, &near)) {
    ga__press_at(&p, &c, &near);
    velocity_at(va, &c, 0, w->kin, p.point);
    velocity_at(vb, &c, 1, w->kin, p.point);
    out.gap = near.distance - c.radii;
    for (int i = 0; i < 3; i++) {
      out.normal[i] = p.normal[i].v;
      out.rate += p.normal[i].v * (va[i].v - vb[i].v);
    }
  }
  set_speed(&out, w, &c);
  return out;
}

#define FASTER 1.5 /* [-] than at the ends of a piece, within it */
#define ALIKE 0.9  /* [-] cosine of the angle between normals up to which they are those of one ga__place */
#define DEEPER 1.25

/* The least gap within a piece of length h: of a cubic, which stays within its Bézier points, where the same
 * place presses at an end; else at least (g₀ + g₁ − V h)/2. */
static double least_gap(const moment end[2], double speed, double h)
{
  const double lower = 0.5 * (end[0].gap + end[1].gap - speed * h), ends = fmin(end[0].gap, end[1].gap);
  if (ends > 0 || !(ga__vec3_dot(end[0].normal, end[1].normal) > ALIKE)) return fmin(lower, ends);
  return fmin(ends, fmin(end[0].gap + h / 3 * end[0].rate, end[1].gap - h / 3 * end[1].rate));
}

/* 1: within the piece they may press more than at the ends of the step. */
static int hides(ga__workspace *w, const ga__element *el, const ga_piece *step, const ga_piece *piece)
{
  const collision *u = el->data;
  const double h = piece->t[1] - piece->t[0];
  moment end[2];
  double speed = 0, depth = 0;
  for (int i = 0; i < 2; i++) end[i] = moment_at(w, u, &piece->end[i], 0);
  for (int i = 0; i < 2; i++) speed = fmax(speed, FASTER * end[i].speed);
  for (int i = 0; i < 2 && h > 0; i++) end[i] = moment_at(w, u, &piece->end[i], speed * h);
  const double least = least_gap(end, speed, h);
  if (least >= 0) return 0;
  for (int i = 0; i < 2; i++) depth = fmax(depth, -moment_at(w, u, &step->end[i], 0).gap);
  return least < -DEEPER * depth;
}

const ga__element_type ga__collision_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(collision),
    .no_accelerations = 1,
    .measures_when_off = 1,
    .create = {[GA__CREATE_OUTPUTS] = create},
    .want = want,
    .bind = bind,
    .release = release,
    .force = force,
    .state = state,
    .jacobian = jacobian,
    .scratch = scratch,
    .powers = powers,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
    .value_columns = value_columns,
    .value_slopes = value_slopes,
    .has_edges = has_edges,
    .side = side,
    .may_hide = may_hide,
    .hides = hides,
};
