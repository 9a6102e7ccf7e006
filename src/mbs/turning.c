/* Rotation of a whole machine about a fixed axis: the axis, its velocities, and Ω̂.
 *
 * A body has v = Ω × (x − c) and ω = Ω. Turned further by S, vectors in axes of the ground turn with it, and
 * those in axes of the body stay: S' = Ω̂ S with Ω̂ = Ω~ on positions and rotations of the form SPACE, on
 * positions of the form BODY, and 0 in the form SE3. Scalar coordinates are unchanged. */
#include "mbs/form.h"
#include "mbs/mbs_impl.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

#define DIFFERENT 1e-2 /* [-] largest deviation of velocities from those of the rotation, relative */

struct ga_machine_turning {
  ga_context *ctx;
  const ga__mbs_model *b;
  double omega[3], point[3];
  double *v; /* [nv] as given: scalars keep theirs */
  int *row, *col;
  double *value;
  ga_turning turning;
};

static int is_place(const ga__node *node)
{
  return node->n > 0 && !node->scalar && !node->vector && !node->carried;
}

static int turns(const ga__node *node)
{
  return node->rigid || node->planar;
}

/* The twist of the rotation at a point. */
static void twist_at(const ga_machine_turning *u, const double x[3], double w[6])
{
  const double arm[3] = {x[0] - u->point[0], x[1] - u->point[1], x[2] - u->point[2]};
  ga__vec3_cross(w, u->omega, arm);
  memcpy(w + 3, u->omega, 3 * sizeof *w);
}

static ga_form form_of(const ga__mbs_model *b)
{
  return b->m->opts.form;
}

static void velocity(const void *user, const double *q, double *v)
{
  const ga_machine_turning *u = user;
  const ga_form form = form_of(u->b);
  memcpy(v, u->v, (size_t)u->b->nv * sizeof *v);
  for (int i = 1; i < u->b->node.n; i++) {
    const ga__node *node = GA__AT(u->b->node, ga__node, i);
    ga__kin kin;
    double w[6];
    for (int c = 0; node->vector && c < node->n; c++) v[node->v + c] = 0.0; /* deformations are at rest */
    if (!is_place(node)) continue;
    ga__kin_pose(node, q + node->q, &kin);
    twist_at(u, kin.x, w);
    for (int c = 0; c < 6; c++)
      if (node->column[c] >= 0) v[node->v + node->column[c]] = w[c];
    if (!node->rigid) continue;
    if (form != GA_FORM_SPACE) ga__mat3_tmul_vec(v + node->v + 3, kin.R, w + 3);
    if (form == GA_FORM_SE3) ga__mat3_tmul_vec(v + node->v, kin.R, w);
  }
}

/* ---- The axis ---- */

/* The axis of the body nearest to it, which is the hub if there is one; 0: no body turns. */
static int find_axis(ga_machine_turning *u, const ga__kin *kin)
{
  int hub = 0;
  double least = 0.0;
  for (int i = 1; i < u->b->node.n; i++) {
    const double *w = kin[i].w, speed = sqrt(ga__vec3_dot(w, w));
    if (!turns(GA__AT(u->b->node, ga__node, i)) || !(ga__vec3_dot(w + 3, w + 3) > 0.0)) continue;
    if (hub == 0 || speed < least) hub = i, least = speed;
  }
  if (hub == 0) return 0;
  const ga__kin *k = &kin[hub];
  double arm[3];
  memcpy(u->omega, k->w + 3, sizeof u->omega);
  u->turning.speed = sqrt(ga__vec3_dot(u->omega, u->omega));
  ga__vec3_cross(arm, u->omega, k->w);
  for (int c = 0; c < 3; c++) u->point[c] = k->x[c] + arm[c] / (u->turning.speed * u->turning.speed);
  return hub;
}

static ga_status refuse_body(const ga_machine_turning *u, int node, const char *what, double off, double of,
                             const char *unit)
{
  const int part = GA__AT(u->b->node, ga__node, node)->part;
  return ga__refuse(u->ctx, GA_ERR_INCONSISTENT, GA_REASON_NOT_TURNING,
                    &(ga__facts){.name = u->b->m->part[part].name,
                                 .detail = what,
                                 GA__NUMBERS({off, unit}, {of, unit}, {u->turning.speed, "rad/s"})});
}

/* Checks that every body has the velocities of the rotation, up to a possible vibration. */
static ga_status check_bodies(const ga_machine_turning *u, const ga__kin *kin)
{
  double fastest = 0.0, w[6];
  for (int i = 1; i < u->b->node.n; i++) {
    if (!is_place(GA__AT(u->b->node, ga__node, i))) continue;
    twist_at(u, kin[i].x, w);
    fastest = fmax(fastest, sqrt(ga__vec3_dot(w, w)));
  }
  for (int i = 1; i < u->b->node.n; i++) {
    const ga__node *node = GA__AT(u->b->node, ga__node, i);
    double d[6];
    if (!is_place(node)) continue;
    twist_at(u, kin[i].x, w);
    for (int c = 0; c < 6; c++) d[c] = kin[i].w[c] - w[c];
    const double off = sqrt(ga__vec3_dot(d, d)), spin = sqrt(ga__vec3_dot(d + 3, d + 3));
    if (!(off <= DIFFERENT * fastest + 1e-9 * u->turning.speed))
      return refuse_body(u, i, "velocity", off, sqrt(ga__vec3_dot(w, w)), "m/s");
    if (turns(node) && !(spin <= DIFFERENT * u->turning.speed))
      return refuse_body(u, i, "angular velocity", spin, u->turning.speed, "rad/s");
    if (node->planar && !(hypot(u->omega[0], u->omega[1]) <= 1e-9 * u->turning.speed))
      return refuse_body(u, i, "angular velocity", spin, u->turning.speed, "rad/s");
  }
  return GA_OK;
}

/* ---- Ω̂ ---- */

/* Columns and entries of Ω~ in the rows of three components of a node, for those it has. */
static void put_three(ga_machine_turning *u, const ga__node *node, int first, int *count)
{
  const double *o = u->omega, skew[9] = {0, -o[2], o[1], o[2], 0, -o[0], -o[1], o[0], 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int row = node->column[first + i], col = node->column[first + j];
      if (row < 0 || col < 0 || skew[3 * i + j] == 0.0) continue;
      const int at = 2 * (node->v + row) + count[node->v + row]++;
      u->col[at] = node->v + col;
      u->value[at] = skew[3 * i + j];
    }
}

/* At most two entries in a row; then the gaps are removed. count[nv]: zeros. */
static void fill(ga_machine_turning *u, int *count)
{
  const ga_form form = form_of(u->b);
  int n = 0;
  for (int i = 1; i < u->b->node.n; i++) {
    const ga__node *node = GA__AT(u->b->node, ga__node, i);
    if (!is_place(node) || (node->rigid && form == GA_FORM_SE3)) continue;
    put_three(u, node, 0, count);
    if (node->rigid && form == GA_FORM_SPACE) put_three(u, node, 3, count);
  }
  for (int r = 0; r < u->b->nv; r++)
    for (int k = 0; k < count[r]; k++, n++)
      u->row[n] = r, u->col[n] = u->col[2 * r + k], u->value[n] = u->value[2 * r + k];
  u->turning = (ga_turning){u->turning.speed, n, u->row, u->col, u->value, velocity, u};
}

/* ---- The object ---- */

static ga_status build(ga_machine_turning *u, const double *q, const double *v)
{
  const size_t nv = (size_t)u->b->nv;
  int *count = ga__alloc(u->ctx, nv, sizeof *count);
  ga__kin *kin = ga__alloc(u->ctx, (size_t)u->b->node.n, sizeof *kin);
  u->v = ga__alloc(u->ctx, nv, sizeof *u->v);
  u->row = ga__alloc(u->ctx, 2 * nv, sizeof *u->row);
  u->col = ga__alloc(u->ctx, 2 * nv, sizeof *u->col);
  u->value = ga__alloc(u->ctx, 2 * nv, sizeof *u->value);
  const int complete = count && kin && u->v && u->row && u->col && u->value;
  ga_status status = complete ? GA_OK : ga__no_memory(u->ctx, "a turning");
  if (!status) {
    memcpy(u->v, v, nv * sizeof *v);
    ga__kin_nodes(u->b, q, v, NULL, kin);
    if (!find_axis(u, kin))
      status =
          ga__refuse(u->ctx, GA_ERR_INCONSISTENT, GA_REASON_NOTHING_TURNS, &(ga__facts){.kind = "turning"});
  }
  if (!status) status = check_bodies(u, kin);
  if (!status) fill(u, count);
  ga__free(u->ctx, count);
  ga__free(u->ctx, kin);
  return status;
}

ga_status ga_machine_turning_create(ga_context *ctx, const ga_machine *m, const double *q, const double *v,
                                    ga_machine_turning **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!m || !q || !v || !out) return ga__refuse_null(ctx, __func__, !out ? "out" : !m ? "m" : q ? "v" : "q");
  if (!ga_machine_system(m)) return ga__refuse_order(ctx, __func__, "once the machine is built");
  ga_machine_turning *u = ga__alloc(ctx, 1, sizeof *u);
  if (!u) return ga__no_memory(ctx, "a turning");
  u->ctx = ctx;
  u->b = m->model;
  const ga_status status = build(u, q, v);
  if (status)
    ga_machine_turning_destroy(&u);
  else
    *out = u;
  return status;
}

void ga_machine_turning_destroy(ga_machine_turning **turning)
{
  if (!turning || !*turning) return;
  ga_machine_turning *u = *turning;
  ga_context *ctx = u->ctx;
  ga__free(ctx, u->v);
  ga__free(ctx, u->row);
  ga__free(ctx, u->col);
  ga__free(ctx, u->value);
  ga__free(ctx, u);
  *turning = NULL;
}

const ga_turning *ga_machine_turning_get(const ga_machine_turning *u)
{
  return u ? &u->turning : NULL;
}

void ga_machine_turning_axis(const ga_machine_turning *u, double omega[3], double point[3])
{
  if (omega) memset(omega, 0, 3 * sizeof *omega);
  if (point) memset(point, 0, 3 * sizeof *point);
  if (u && omega) memcpy(omega, u->omega, sizeof u->omega);
  if (u && point) memcpy(point, u->point, sizeof u->point);
}
