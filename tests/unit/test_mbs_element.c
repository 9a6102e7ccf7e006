/* A kind of element that no table has, written as docs/develop/extend.md describes: between two frames, with
 * a coordinate z, a state x and an output y of its own, and inertia that couples all of its nodes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/channel.h"
#include "mbs/element.h"
#include "mbs/meter.h"
#include "mbs_shop.h"

/* ---- The element: a mount -------------------------------------------------------------------------------
 *
 * With s = |p_b − p_a| − rest, the stretch, and e the x axis of the ground:
 *
 *   inertia   ½ b (e · (u_b − u_a) + z')²,  u the velocities of the nodes' origins
 *   bodies    −(k s + c (s − z) + y) grad s
 *   z         c (s − z) − d z' + p x
 *   x' = (s − x)/τ,   y = r (s − x) */

typedef struct mount_def {
  const char *a, *b;
  double rest, inertance, k, c, d, p, r, tau, z0;
} mount_def;

typedef struct mount {
  const mount_def *def;
  int gauge, z;           /* gauge of the distance, node of z */
  int node[3];            /* of a, b, z */
  int pair[3][3];         /* dynamics of each by each */
  int port_x, port_y[2];  /* z by x; bodies by y */
  int row_x[2], row_y[2]; /* rows of x and y by the nodes of a, b */
  int x_by_x, y_by_x;
} mount;

static ga_status create(ga_machine *m, ga__mbs_model *b, int part);

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const mount *u = el->data;
  ga_status status = GA_OK;
  for (int i = 0; i < 9 && !status; i++) status = ga__want_block(b, u->node[i / 3], u->node[i % 3], 1);
  for (int i = 0; i < 2 && !status; i++)
    status = ga__want_port(&b->pattern, u->node[i], ga__column_y(b, el->y));
  return status ? status : ga__want_port(&b->pattern, u->z, ga__column_x(b, el->x));
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  mount *u = el->data;
  const int x = ga__column_x(b, el->x), y = ga__column_y(b, el->y);
  ga__pattern *pt = &b->pattern;
  for (int i = 0; i < 9; i++) u->pair[i / 3][i % 3] = ga__find_pair(pt, u->node[i / 3], u->node[i % 3]);
  u->port_x = ga__find_port(pt, u->z, x);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, u->node[i]);
    u->port_y[i] = ga__find_port(pt, u->node[i], y);
    u->row_x[i] = u->node[i] ? ga__own_rows(pt, node, x, 1, 0) : 0;
    u->row_y[i] = u->node[i] ? ga__own_rows(pt, node, y, 1, 0) : 0;
    if (u->row_x[i] < 0 || u->row_y[i] < 0) return GA_ERR_MEMORY;
  }
  u->x_by_x = ga__own_entry(pt, x, x);
  u->y_by_x = ga__own_entry(pt, y, x);
  return u->x_by_x < 0 || u->y_by_x < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* What an evaluation needs to know. */
typedef struct view {
  double s, rate, z, z_rate; /* stretch */
  double g[12], K[144], w[12];
  double h_rate, h_acc; /* e · (u_b − u_a) + z', and its derivative */
} view;

static view view_of(const ga__eval *e, const mount *u)
{
  const ga__node *z = GA__AT(e->b->node, ga__node, u->z);
  const ga__kin *a = &e->kin[u->node[0]], *b = &e->kin[u->node[1]];
  ga__gauge_eval sight;
  view v;
  ga__gauge_eval_at(&sight, GA__AT(e->b->gauge, ga__gauge, u->gauge), e->b->marker.at, e->kin);
  ga__gauge_gradient(v.g, &sight);
  ga__gauge_curvature(v.K, &sight);
  memcpy(v.w, a->w, 6 * sizeof(double));
  memcpy(v.w + 6, b->w, 6 * sizeof(double));
  v.s = ga__gauge_value(&sight) - u->def->rest;
  v.rate = ga__dot12(v.g, v.w);
  v.z = e->p->q[z->q];
  v.z_rate = e->p->v ? e->p->v[z->v] : 0.0;
  v.h_rate = b->w[0] - a->w[0] + v.z_rate;
  v.h_acc = b->acc[0] - a->acc[0] + (e->p->vdot ? e->p->vdot[z->v] : 0.0);
  return v;
}

/* to[velocities] += scale (−e, e, 1) */
static void add_along(const ga__eval *e, const mount *u, double scale, double *to)
{
  static const double axis[6] = {1, 0, 0, 0, 0, 0};
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, u->node[i]);
    ga__add_six(to + node->v, node, i ? scale : -scale, axis);
  }
  to[GA__AT(e->b->node, ga__node, u->z)->v] += scale;
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const mount *u = el->data;
  add_along(e, u, u->def->inertance * view_of(e, u).h_acc, out);
  return 0;
}

static double pull_of(const ga__eval *e, const ga__element *el, const view *v)
{
  const mount_def *d = ((const mount *)el->data)->def;
  return d->k * v->s + d->c * (v->s - v->z) + e->p->y[el->y];
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const mount *u = el->data;
  const mount_def *d = u->def;
  const view v = view_of(e, u);
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, u->node[i]);
    ga__add_six(f + node->v, node, -pull_of(e, el, &v), v.g + 6 * i);
  }
  f[GA__AT(e->b->node, ga__node, u->z)->v] += d->c * (v.s - v.z) - d->d * v.z_rate + d->p * e->p->x[el->x];
  return 0;
}

static int state(const ga__eval *e, const ga__element *el, double *s)
{
  const mount *u = el->data;
  s[el->x] = (view_of(e, u).s - e->p->x[el->x]) / u->def->tau;
  return 0;
}

static int output(const ga__eval *e, const ga__element *el, double *o)
{
  const mount *u = el->data;
  o[el->y] = u->def->r * (view_of(e, u).s - e->p->x[el->x]);
  return 0;
}

/* Inertia: b h hᵀ, h = (−e, e, 1). */
static void inertia_jacobian(const ga__eval *e, const mount *u, ga_jacobian *J)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double M[36] = {0};
      M[0] = (i == 0 ? -1 : 1) * (j == 0 ? -1 : 1);
      ga__add_block(J->D, e->b, u->pair[i][j], J->shift_vdot * u->def->inertance, M);
    }
}

/* Residuals M vdot − f: + pull g in rows of bodies, −c (s − z) + d z' − p x in that of z; −s and −o. */
static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const mount *u = el->data;
  const mount_def *d = u->def;
  const view v = view_of(e, u);
  const double pull = ga__wants_forces(J) ? pull_of(e, el, &v) : 0.0, one = 1.0;
  if (J->want & GA_WANT_D) inertia_jacobian(e, u, J);
  if (!ga__wants_forces(J)) return 0;
  for (int i = 0; i < 2; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, u->node[i]);
    const double *gi = v.g + 6 * i;
    double by_z[6], of_z[6];
    for (int c = 0; c < 6; c++) by_z[c] = -d->c * gi[c], of_z[c] = -d->c * gi[c];
    if (J->want & GA_WANT_D) ga__add_port(J->D, e->b, u->port_y[i], 1, gi);
    if (!(J->want & GA_WANT_Q)) continue;
    for (int j = 0; j < 2; j++) {
      double M[36];
      for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
          M[6 * r + c] = pull * v.K[12 * (6 * i + r) + 6 * j + c] + (d->k + d->c) * gi[r] * v.g[6 * j + c];
      ga__add_block(J->Q, e->b, u->pair[i][j], 1, M);
    }
    ga__add_block(J->Q, e->b, u->pair[i][2], 1, by_z);
    ga__add_block(J->Q, e->b, u->pair[2][i], 1, of_z);
    if (u->node[i]) {
      ga__add_six(J->Q + u->row_x[i], node, -1 / d->tau, gi);
      ga__add_six(J->Q + u->row_y[i], node, -d->r, gi);
    }
  }
  if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->pair[2][2], d->c, &one);
  if (!(J->want & GA_WANT_D)) return 0;
  ga__add_block(J->D, e->b, u->pair[2][2], J->shift_v * d->d, &one);
  ga__add_port(J->D, e->b, u->port_x, -d->p, &one);
  J->D[u->x_by_x] += 1 / d->tau;
  J->D[u->y_by_x] += d->r;
  return 0;
}

static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const mount *u = el->data;
  const mount_def *d = u->def;
  const view v = view_of(e, u);
  out->kinetic += 0.5 * d->inertance * v.h_rate * v.h_rate;
  out->potential += 0.5 * d->k * v.s * v.s + 0.5 * d->c * (v.s - v.z) * (v.s - v.z);
  out->lost += d->d * v.z_rate * v.z_rate;
  out->in += d->p * e->p->x[el->x] * v.z_rate - e->p->y[el->y] * v.rate;
  return 0;
}

/* x1, y and the stretch. */
static int n_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 3;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  static const char *const name[] = {"memory", "relaxing", "stretch"}, *const unit[] = {"m", "N", "m"};
  static const ga__probe_kind kind[] = {GA__PROBE_STATE, GA__PROBE_OUTPUT, GA__PROBE_ELEMENT};
  ga__signal_set(out, name[i], unit[i], kind[i], 0);
  out->probe.owner = part;
  out->probe.index = i == 0 ? el->x : i == 1 ? el->y : -1;
}

static int value(const ga__eval *e, const ga__element *el, int i, double *out)
{
  (void)i;
  *out = view_of(e, el->data).s;
  return 0;
}

static const ga__element_type MOUNT = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(mount),
    .create = {[GA__CREATE_OUTPUTS] = create},
    .want = want,
    .bind = bind,
    .mass = mass,
    .force = force,
    .state = state,
    .output = output,
    .jacobian = jacobian,
    .powers = powers,
    .n_signals = n_signals,
    .signal = signal,
    .value = value,
};

static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const mount_def *d = ga__element_def_of(b, part);
  const ga__part *asking = &m->part[part];
  const ga__element *el = ga__element_add(m, b, part, &MOUNT, 1, 1);
  if (!el) return GA_ERR_MEMORY;
  mount *u = el->data;
  ga__gauge line = {.kind = GA__DISTANCE};
  u->def = d;
  ga_status status = ga__resolve_frame(m, b, asking, "a", d->a, &line.a);
  if (!status) status = ga__resolve_frame(m, b, asking, "b", d->b, &line.b);
  if (!status) status = ga__node_add_vector(m, b, part, 1, &d->z0, NULL, &u->z);
  if (status) return status;
  u->gauge = ga__add_gauge(m, b, &line);
  u->node[0] = GA__AT(b->marker, ga__marker, line.a)->node;
  u->node[1] = GA__AT(b->marker, ga__marker, line.b)->node;
  u->node[2] = u->z;
  return u->gauge < 0 ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Tests ---- */

static void add_mount(shop *s, const char *name, const mount_def *d)
{
  const ga__element_def def = {name, &MOUNT, d};
  assert_status(s->ctx, ga__machine_add_element(s->m, &def), GA_OK);
}

/* All derivatives, of every form, between all kinds of bodies. */
static void derivatives_are_right(void **state)
{
  static const char *const end[][2] = {
      {"arm.tip", "leg.tip"}, {"ground", "arm.tip"}, {"flat", "arm"}, {"bead", "flat"}, {"arm.tip", "bead"}};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (size_t k = 0; k < sizeof end / sizeof *end; k++) {
      const mount_def d = {end[k][0], end[k][1], 0.8, 0.7, 30, 20, 2, 3, 12, 0.4, 0.1};
      rig_random random = rig_seed(10 * form + (int)k);
      shop s = shop_open((ga_form)form, -9.81);
      shop_rigid(&s, "arm", 0, 0, 0);
      shop_rigid(&s, "leg", 1.1, 0.4, -0.3);
      shop_planar(&s, "flat", -0.7, 0.9);
      shop_point(&s, "bead", 0.3, -1.2, 0.8);
      shop_marker(&s, "arm.tip", "arm", 0.2, -0.1, 0.3);
      shop_marker(&s, "leg.tip", "leg", -0.1, 0.2, 0.1);
      add_mount(&s, "mount", &d);
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 5, 0.15, 1e-6, "mount");
      shop_close(&s);
    }
}

/* Two beads on the x axis: v₁' , v₂', z'' from the 3 × 3 inertia, x'. */
static void slopes_of(const mount_def *d, double m, const double *u, double *out)
{
  const double s = u[1] - u[0] - d->rest, z = u[2], x = u[6], y = d->r * (s - x), b = d->inertance;
  const double pull = d->k * s + d->c * (s - z) + y,
               f[3] = {pull, -pull, d->c * (s - z) - d->d * u[5] + d->p * x};
  /* b h (h·a) + m a = f for a₁, a₂ and b h·a = f₃ for z: h·a = f₃/b, a₁ = (f₁ + f₃)/m, a₂ = (f₂ − f₃)/m */
  out[0] = u[3], out[1] = u[4], out[2] = u[5];
  out[3] = (f[0] + f[2]) / m;
  out[4] = (f[1] - f[2]) / m;
  out[5] = f[2] / b - (out[4] - out[3]);
  out[6] = (s - x) / d->tau;
}

static void reference(const mount_def *d, double m, double t, double *u)
{
  enum { N = 20000 };
  const double h = t / N;
  for (int i = 0; i < N; i++) { /* classical Runge-Kutta */
    double k[4][7], at[7];
    for (int j = 0; j < 4; j++) {
      for (int c = 0; c < 7; c++) at[c] = u[c] + (j == 0 ? 0 : j == 3 ? h : 0.5 * h) * (j ? k[j - 1][c] : 0);
      slopes_of(d, m, at, k[j]);
    }
    for (int c = 0; c < 7; c++) u[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
  }
}

static const mount_def ON_AXIS = {"one", "two", 1.0, 0.7, 30, 20, 2, 3, 12, 0.4, 0.1};

static shop two_beads(void)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  shop_point(&s, "one", 0, 0, 0);
  shop_point(&s, "two", 1.2, 0, 0);
  add_mount(&s, "mount", &ON_AXIS);
  shop_start(&s);
  return s;
}

/* Order 2 in motion, coordinate, state and output, and the energy balance. */
static void motion_is_right(void **state)
{
  double error[2][4], balance[2];
  (void)state;
  for (int level = 0; level < 2; level++) {
    const double T = 1.0;
    const int n = 200 << level;
    double u[7] = {0, 1.2, 0.1, 0, 0, 0, 0}, last;
    shop s = two_beads();
    ga_meter *meter = NULL;
    assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
    assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
    for (int i = 0; i < n; i++) {
      assert_status(s.ctx, ga_stepper_step(s.st, T / n), GA_OK);
      assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    }
    reference(&ON_AXIS, 2.0, T, u);
    const ga_state *at = ga_stepper_state(s.st);
    error[level][0] = shop_signal(&s, at, "two.x") - u[1];
    error[level][1] = at->q[6] - u[2];
    error[level][2] = shop_signal(&s, at, "mount.memory") - u[6];
    error[level][3] = shop_signal(&s, at, "mount.relaxing") - ON_AXIS.r * (u[1] - u[0] - ON_AXIS.rest - u[6]);
    assert_near(shop_signal(&s, at, "mount.stretch"),
                shop_signal(&s, at, "two.x") - shop_signal(&s, at, "one.x") - 1, 1e-12, "stretch");
    const int index = ga_machine_find_signal(s.m, "energy.balance");
    assert_status(s.ctx, ga_machine_signals(s.m, meter, at, 1, &index, &last), GA_OK);
    balance[level] = last;
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
  for (int i = 0; i < 4; i++) {
    const double order = log2(fabs(error[0][i] / error[1][i]));
    assert_true(fabs(error[1][i]) < 1e-3);
    assert_near(order, 2, 0.1, "order");
  }
  assert_near(log2(fabs(balance[0] / balance[1])), 2, 0.2, "order of the energy balance");
}

/* Names of its equations, and the error if a frame does not exist. */
static void equations_have_names(void **state)
{
  const mount_def wrong = {"one", "tow", 1, 1, 1, 1, 1, 1, 1, 1, 0};
  char text[128];
  (void)state;
  shop s = two_beads();
  const ga_system *sys = ga_machine_system(s.m);
  ga_system_name(sys, GA_BLOCK_V, 6, text, sizeof text);
  assert_string_equal(text, "mount: coordinate 1");
  ga_system_name(sys, GA_BLOCK_X, 0, text, sizeof text);
  assert_string_equal(text, "mount: state 1");
  ga_system_name(sys, GA_BLOCK_Y, 0, text, sizeof text);
  assert_string_equal(text, "mount: output 1");
  shop_close(&s);
  s = shop_open(GA_FORM_SPACE, 0);
  shop_point(&s, "one", 0, 0, 0);
  shop_point(&s, "two", 1.2, 0, 0);
  add_mount(&s, "mount", &wrong);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "element 'mount'");
  shop_close(&s);
}

static shop one_and_two(void)
{
  shop s = shop_open(GA_FORM_SE3, 0);
  shop_rigid(&s, "one", 0, 0, 0);
  shop_point(&s, "two", 1.2, 0, 0);
  add_mount(&s, "mount", &ON_AXIS);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(one_and_two);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(motion_is_right),
      cmocka_unit_test(equations_have_names),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
