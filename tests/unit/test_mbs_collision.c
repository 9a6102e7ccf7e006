/* Colliders and collisions: derivatives, geometry, closed forms, energies, momenta, bad definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/collider.h"
#include "mbs_shop.h"

static const double TETRA_POINT[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double TETRA[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static ga_collider_def collider_of(ga_collider_kind kind, const char *name, const char *frame)
{
  ga_collider_def d = ga_collider_defaults();
  d.kind = kind, d.name = name, d.frame = frame;
  d.radius = kind == GA_COLLIDER_SPHERE    ? 0.5
             : kind == GA_COLLIDER_CAPSULE ? 0.35
             : kind == GA_COLLIDER_PLANE   ? 0
                                           : 0.2;
  d.length = 0.6;
  d.size[0] = 0.7, d.size[1] = 0.9, d.size[2] = 1.1;
  d.points = TETRA_POINT, d.n_points = 4, d.point_size = 3;
  d.triangles = TETRA, d.n_triangles = 4, d.triangle_size = 3;
  return d;
}

static ga_collision_def collision_of(const char *a, const char *b)
{
  ga_collision_def d = ga_collision_defaults();
  d.name = "hit", d.a = a, d.b = b;
  d.stiffness = 20, d.dissipation = 0.1, d.mu = 0.6, d.speed = 0.5;
  return d;
}

static const char *const KIND[] = {"sphere", "capsule", "box", "mesh", "plane"};

/* Two bodies with colliders, `body` at a height z. */
static shop pair_at(ga_form form, const ga_collider_def *a, const ga_collider_def *b, double z, double stick)
{
  shop s = shop_open(form, -9.81);
  shop_rigid(&s, "body", 0.1, 0.2, z);
  shop_rigid(&s, "base", 0.3, -0.2, -0.2);
  shop_turned(&s, "table", "base", 0.1, 0.1, 0.2, 1, 0.3);
  shop_turned(&s, "hub", "body", 0.05, -0.1, -0.1, 0, -0.4);
  SHOP_ADD(&s, collider, a);
  SHOP_ADD(&s, collider, b);
  ga_collision_def d = collision_of("ca", "cb");
  d.stick = stick;
  SHOP_ADD(&s, collision, &d);
  return s;
}

/* The height at which they press by a tenth of a metre or so. */
static double height_of(const ga_collider_def *a, const ga_collider_def *b)
{
  double z = 3, gap = 1;
  while (gap > -0.08) {
    shop s = pair_at(GA_FORM_SPACE, a, b, z -= 0.03, 0);
    gap = shop_signal(&s, shop_start(&s), "hit.gap");
    shop_close(&s);
    if (z < -2) fail_msg("they do not meet");
  }
  return z;
}

/* All pairs of kinds, in all forms, with signals that act. */
static void derivatives_are_right(void **state)
{
  (void)state;
  for (int k = 0; k < 24; k += rig_brief() ? 5 : 1) {
    const ga_collider_kind a = (ga_collider_kind)(k / 5), b = (ga_collider_kind)(k % 5);
    const ga_collider_def da = collider_of(a, "ca", "hub"), db = collider_of(b, "cb", "table");
    const double z = a == GA_COLLIDER_PLANE ? -0.6 : height_of(&da, &db);
    for (int form = 0; form < 3; form++) {
      rig_random random = rig_seed(100 * form + k);
      shop s = pair_at((ga_form)form, &da, &db, z, (form + k) % 2 ? 0.8 : 0);
      ga_actuator_def feedback = ga_actuator_defaults();
      feedback.name = "feedback", feedback.a = "hub", feedback.b = "table";
      feedback.force.expression = "0.1*hit.fx + 0.2*hit.fy*hit.gap + 0.1*hit.normal + hit.tangential"
                                  " + 0.5*hit.x*hit.z + hit.y";
      SHOP_ADD(&s, actuator, &feedback);
      shop_build(&s);
      char what[64];
      snprintf(what, sizeof what, "form %d, %s on %s", form, KIND[a], KIND[b]);
      shop_check(&s, &random, rig_brief() ? 1 : 2, 0.03, 2e-6, what);
      shop_close(&s);
    }
  }
}

/* ---- Motions ---- */

/* A body of inertia J about all axes, of the frame `name`. */
static void add_body(shop *s, const char *name, double mass, double J, const double at[3], const double v[3])
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = name, d.mass = mass;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = J;
  d.pose = ga_pose_at(at[0], at[1], at[2]);
  for (int i = 0; i < 3; i++) d.velocity[i] = v[i];
  SHOP_ADD(s, rigid, &d);
}

static void add_ball(shop *s, const char *name, const char *frame, double radius)
{
  ga_collider_def d = collider_of(GA_COLLIDER_SPHERE, name, frame);
  d.radius = radius;
  SHOP_ADD(s, collider, &d);
}

static void add_box(shop *s, const char *name, const char *frame, double x, double y, double z, double radius)
{
  ga_collider_def d = collider_of(GA_COLLIDER_BOX, name, frame);
  d.radius = radius;
  d.size[0] = x, d.size[1] = y, d.size[2] = z;
  SHOP_ADD(s, collider, &d);
}

static void add_plane(shop *s, const char *name, const char *frame)
{
  const ga_collider_def d = collider_of(GA_COLLIDER_PLANE, name, frame);
  SHOP_ADD(s, collider, &d);
}

/* Bodies that have not all motions, and a frame on one that deforms. */
static void other_bodies(void **state)
{
  static const char *const FRAME[3] = {"flat", "bead", "rod.end"};
  (void)state;
  for (int k = 0; k < 9; k++) {
    rig_random random = rig_seed(7 + k);
    shop s = shop_open((ga_form)(k % 3), -9.81);
    shop_planar(&s, "flat", 0.2, 0.1);
    shop_point(&s, "bead", 0.1, 0.2, 0.3);
    shop_rigid(&s, "body", 0.3, -0.1, 0.2);
    ga_beam_def rod = ga_beam_defaults();
    rod.name = "rod", rod.elements = 1, rod.section = GA_SECTION_CIRCLE, rod.diameter = 0.05;
    rod.young = 1e4, rod.poisson = 0.3, rod.density = 800;
    rod.from[0] = rod.from[1] = rod.from[2] = rod.to[1] = rod.to[2] = 0, rod.to[0] = 0.4;
    SHOP_ADD(&s, beam, &rod);
    add_ball(&s, "round", FRAME[k / 3], 0.4);
    add_box(&s, "block", "body", 0.6, 0.5, 0.4, 0.1);
    ga_collision_def d = collision_of("round", "block");
    d.stick = k % 2 ? 0.5 : 0;
    SHOP_ADD(&s, collision, &d);
    assert_true(shop_signal(&s, shop_start(&s), "hit.gap") < 0);
    shop_check(&s, &random, 2, 0.02, 5e-6, FRAME[k / 3]);
    shop_close(&s);
  }
}

/* Fixed steps; a meter may follow. */
static const ga_state *run_steps(shop *s, double h, int n, ga_meter *meter)
{
  if (!s->st) {
    double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
    ga_start_opts o = ga_start_defaults();
    o.h = h;
    shop_build(s);
    assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
    assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), NULL, &s->st), GA_OK);
    assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  }
  for (int i = 0; i < n; i++) {
    assert_status(s->ctx, ga_stepper_step(s->st, h), GA_OK);
    if (meter) assert_status(s->ctx, ga_meter_update(meter, ga_stepper_state(s->st)), GA_OK);
  }
  return ga_stepper_state(s->st);
}

static ga_meter *meter_of(shop *s)
{
  ga_meter *meter = NULL;
  assert_status(s->ctx, ga_meter_create(s->ctx, s->m, &meter), GA_OK);
  assert_status(s->ctx, ga_meter_start(meter, ga_stepper_state(s->st)), GA_OK);
  return meter;
}

static double metered(const shop *s, const ga_meter *meter, const char *name)
{
  double value = NAN;
  const int index = ga_machine_find_signal(s->m, name);
  assert_status(s->ctx, ga_machine_signals(s->m, meter, ga_stepper_state(s->st), 1, &index, &value), GA_OK);
  return value;
}

/* By error control, to t_end. */
static ga_simulate_stats simulate(shop *s, double t_end, double tol)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  o.t_end = t_end, o.rtol = o.atol = tol;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, x), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), NULL, &s->st), GA_OK);
  assert_status(s->ctx, ga_simulator_create(s->ctx, s->st, &o, &sim), GA_OK);
  assert_status(s->ctx, ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_status(s->ctx, ga_simulator_run(sim), GA_OK);
  const ga_simulate_stats stats = *ga_simulator_stats(sim);
  ga_simulator_destroy(&sim);
  return stats;
}

/* Balls on a line by the classical Runge-Kutta method: x, v of n balls of radius r and mass m, each pressing
 * on the next one. */
typedef struct line {
  int n;
  double r, m, k, power, c;
} line;

static void line_rate(const line *l, const double *z, double *dz)
{
  for (int i = 0; i < l->n; i++) dz[i] = z[l->n + i], dz[l->n + i] = 0;
  for (int i = 0; i + 1 < l->n; i++) {
    const double depth = 2 * l->r - (z[i + 1] - z[i]), rate = z[l->n + i] - z[l->n + i + 1];
    const double N = depth > 0 ? l->k * pow(depth, l->power) * fmax(0, 1 + l->c * rate) : 0;
    dz[l->n + i] -= N / l->m, dz[l->n + i + 1] += N / l->m;
  }
}

static void line_run(const line *l, double *z, double t, int steps)
{
  const double h = t / steps;
  double k[4][16], y[16];
  for (int s = 0; s < steps; s++) {
    line_rate(l, z, k[0]);
    for (int j = 1; j < 4; j++) {
      for (int i = 0; i < 2 * l->n; i++) y[i] = z[i] + (j == 3 ? 1 : 0.5) * h * k[j - 1][i];
      line_rate(l, y, k[j]);
    }
    for (int i = 0; i < 2 * l->n; i++) z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

static void add_chain(shop *s, const line *l, const double *z)
{
  static const char *const BODY[5] = {"b0", "b1", "b2", "b3", "b4"},
                           *const BALL[5] = {"c0", "c1", "c2", "c3", "c4"},
                           *const HIT[4] = {"h0", "h1", "h2", "h3"};
  for (int i = 0; i < l->n; i++) {
    add_body(s, BODY[i], l->m, 0.4 * l->m * l->r * l->r, (double[3]){z[i], 0, 0},
             (double[3]){z[l->n + i], 0, 0});
    add_ball(s, BALL[i], BODY[i], l->r);
    if (i == 0) continue;
    ga_collision_def d = collision_of(BALL[i - 1], BALL[i]);
    d.name = HIT[i - 1], d.stiffness = l->k, d.exponent = l->power, d.dissipation = l->c, d.mu = 0;
    SHOP_ADD(s, collision, &d);
  }
}

static double velocity_of(const shop *s, int ball)
{
  char name[16];
  snprintf(name, sizeof name, "b%d.vx", ball);
  return shop_signal(s, ga_stepper_state(s->st), name);
}

/* A ball hits another one: against the integration above, with momentum and the restitution of the law. */
static void ball_on_ball(void **state)
{
  (void)state;
  for (int k = 0; k < 6; k += rig_brief() ? 3 : 1) {
    const line l = {2, 0.05, 0.2, k % 2 ? 1e6 : 1e4, k % 2 ? 1.5 : 1, k / 2 * 0.2};
    double z[4] = {0, 0.11, 1, 0};
    shop s = shop_open((ga_form)(k / 2), 0);
    add_chain(&s, &l, z);
    simulate(&s, 0.04, 1e-11);
    line_run(&l, z, 0.04, rig_brief() ? 20000 : 200000);
    for (int i = 0; i < 2; i++) assert_near(velocity_of(&s, i), z[2 + i], 2e-6, "velocity");
    assert_near(velocity_of(&s, 0) + velocity_of(&s, 1), 1, 1e-12, "momentum");
    const double restitution = velocity_of(&s, 1) - velocity_of(&s, 0);
    if (l.c == 0)
      assert_near(restitution, 1, 3e-6, "restitution");
    else
      assert_true(restitution < 1 - 0.4 * l.c && restitution > 1 - 0.8 * l.c);
    shop_close(&s);
  }
}

/* Newton's cradle without strings: the last ball leaves; with gaps it takes all, in contact nearly all of the
 * momentum, as the integration says. */
static void cradle(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k += rig_brief() ? 3 : 1) {
    const line l = {5, 0.05, 0.2, k % 2 ? 1e8 : 1e5, k % 2 ? 1.5 : 1, 0};
    const double gap = k / 2 ? 0.001 : 0;
    double z[10] = {0}, energy = 0, momentum = 0;
    for (int i = 0; i < 5; i++) z[i] = (0.1 + gap) * i - (i == 0 ? 0.01 : 0);
    z[5] = 1;
    shop s = shop_open(GA_FORM_SPACE, 0);
    add_chain(&s, &l, z);
    simulate(&s, 0.05, 1e-10);
    line_run(&l, z, 0.05, rig_brief() ? 50000 : 200000);
    for (int i = 0; i < 5; i++) {
      const double v = velocity_of(&s, i);
      assert_near(v, z[5 + i], 1e-4, "velocity");
      energy += v * v, momentum += v;
    }
    assert_near(momentum, 1, 1e-11, "momentum");
    assert_near(energy, 1, 1e-4, "energy");
    assert_true(velocity_of(&s, 4) > (gap > 0 ? 0.9999 : k % 2 ? 0.97 : 0.9));
    shop_close(&s);
  }
}

/* ---- A ball on a box: from sliding to rolling ---- */

/* Sliding at v₀, friction turns the ball by its arm a = R − δ/2 about the point of contact: rolling begins at
 * v = v₀/(1 + m a²/J)·(m a²/J), 5/7 v₀ where a = R, after t = (v₀ − v)/(μ g). */
static void from_sliding_to_rolling(void **state)
{
  const double R = 0.1, m = 2, J = 0.4 * m * R * R, k = 1e6, g = 9.81, mu = 0.3, v0 = 3;
  const double depth = m * g / k, arm = R - 0.5 * depth, share = m * arm * arm / J,
               rolling = v0 * share / (1 + share);
  (void)state;
  for (int k6 = 0; k6 < 6; k6 += rig_brief() ? 4 : 1) {
    const int slides = k6 % 2 == 0;
    shop s = shop_open((ga_form)(k6 / 2), -g);
    add_body(&s, "ball", m, J, (double[3]){-2, 0.1, R - depth}, (double[3]){v0, 0, 0});
    add_ball(&s, "round", "ball", R);
    shop_turned(&s, "top", "ground", 0, 0, -0.5, 2, 0.3);
    add_box(&s, "floor", "top", 20, 20, 1, 0);
    ga_collision_def d = collision_of("round", "floor");
    d.stiffness = k, d.exponent = 1, d.dissipation = 0.5, d.mu = mu, d.speed = 1e-3;
    SHOP_ADD(&s, collision, &d);
    simulate(&s, slides ? 0.2 : 0.6, 1e-9);
    const ga_state *at = ga_stepper_state(s.st);
    assert_near(shop_signal(&s, at, "hit.x"), shop_signal(&s, at, "ball.x"), 1e-9, "point of contact");
    assert_near(shop_signal(&s, at, "hit.gap"), -depth, 1e-8, "depth");
    assert_near(shop_signal(&s, at, "ball.vx"), slides ? v0 - mu * g * 0.2 : rolling, 1e-5, "speed");
    if (slides) {
      assert_near(shop_signal(&s, at, "hit.tangential"), mu * m * g, 1e-4, "friction");
    } else {
      assert_near(shop_signal(&s, at, "ball.vx"), 5.0 / 7 * v0, 1e-3, "five sevenths");
      assert_near(shop_signal(&s, at, "ball.wy") * arm, rolling, 1e-5, "rate of rolling");
      assert_true(shop_signal(&s, at, "hit.tangential") < 1e-3);
    }
    shop_close(&s);
  }
}

/* ---- All methods ---- */

/* A ball of 1 kg, radius 0.1 m, J = 0.004 kg m², meets the plane at 1 m/s and slides on it at 5 m/s: it
 * leaves with −1 m/s after π/√k; friction of 0.1 has taken 0.2 m/s, and turned it by the arm 0.1 − δ/2, whose
 * mean is 0.1 − π/8·0.01 m. */
static void bounce_by(ga_form form, const ga_method_info *by, double fixed_h)
{
  shop s = shop_open(form, 0);
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "ball", d.mass = 1;
  for (int i = 0; i < 3; i++) d.inertia[i] = 0.004;
  d.pose = ga_pose_at(0, 0, 0.15);
  d.velocity[0] = 5, d.velocity[2] = -1;
  SHOP_ADD(&s, rigid, &d);
  ga_collider_def c = collider_of(GA_COLLIDER_SPHERE, "rubber", "ball");
  c.radius = 0.1;
  SHOP_ADD(&s, collider, &c);
  add_plane(&s, "floor", "ground");
  ga_collision_def hit = collision_of("rubber", "floor");
  hit.stiffness = 1e4, hit.exponent = 1, hit.dissipation = 0, hit.mu = 0.1, hit.speed = 1e-3;
  SHOP_ADD(&s, collision, &hit);
  shop_build(&s);
  const double contact = acos(-1.0) / 100;
  ga_simulator *sim =
      shop_begin(&s, &(shop_trial){by->method, 0.05 + contact + 0.1, fixed_h, 1e-8}, NULL, NULL);
  assert_status(s.ctx, ga_simulator_run(sim), GA_OK);
  const char *what = by->name;
  const double within = fixed_h > 0 ? 2e-3 : 1e-4;
  assert_near(shop_now(&s, "ball.vz"), 1, within, what);
  assert_near(shop_now(&s, "ball.z"), 0.2, within, what);
  assert_near(shop_now(&s, "ball.vx"), 4.8, within, what);
  assert_near(shop_now(&s, "ball.wy"), 50 * (0.1 - acos(-1.0) / 800), 10 * within, what);
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

static void every_method_bounces(void **state)
{
  ga_method_info by;
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int i = 0; ga_method_at(i, &by); i++)
      for (int fixed = 0; fixed < 2; fixed++) bounce_by((ga_form)form, &by, fixed ? 2e-4 : 0);
}

/* ---- Boxes ---- */

/* A box with its middle at `at`, turned about y, and the plane z = 0. */
static shop box_on_plane(ga_form form, const double at[3], double turn, double mu, double stick, int mesh)
{
  static const double POINT[24] = {-0.2, -0.15, -0.1, 0.2, -0.15, -0.1, -0.2, 0.15, -0.1, 0.2, 0.15, -0.1,
                                   -0.2, -0.15, 0.1,  0.2, -0.15, 0.1,  -0.2, 0.15, 0.1,  0.2, 0.15, 0.1};
  static const double TRIANGLE[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  shop s = shop_open(form, -9.81);
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "crate", d.mass = 3;
  d.inertia[0] = 3 * (0.09 + 0.04) / 12, d.inertia[1] = 3 * (0.16 + 0.04) / 12,
  d.inertia[2] = 3 * (0.16 + 0.09) / 12;
  d.pose = ga_pose_at(at[0], at[1], at[2]);
  assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){0, 1, 0}, turn, d.pose.rotation), GA_OK);
  SHOP_ADD(&s, rigid, &d);
  if (mesh) {
    ga_collider_def c = collider_of(GA_COLLIDER_MESH, "crate_box", "crate");
    c.radius = 0;
    c.points = POINT, c.n_points = 8, c.triangles = TRIANGLE, c.n_triangles = 12;
    SHOP_ADD(&s, collider, &c);
  } else {
    add_box(&s, "crate_box", "crate", 0.4, 0.3, 0.2, 0);
  }
  add_plane(&s, "floor", "ground");
  ga_collision_def hit = collision_of("crate_box", "floor");
  hit.stiffness = 2e4, hit.exponent = 1, hit.dissipation = 5, hit.mu = mu, hit.speed = 1e-3,
  hit.stick = stick;
  SHOP_ADD(&s, collision, &hit);
  return s;
}

/* It comes to rest on four corners, each of which has a quarter of the weight; energy only dissipates. */
static void box_falls(void **state)
{
  static const double TURN[2] = {0, 0.6};
  (void)state;
  for (int k = 0; k < 2; k++) {
    const double high = k ? 0.35 : 0.15;
    shop s = box_on_plane(GA_FORM_SPACE, (double[3]){0, 0, high}, TURN[k], 0.4, 0, 0);
    run_steps(&s, 2e-4, 0, NULL);
    ga_meter *meter = meter_of(&s);
    double before = 0;
    for (int i = 0; i < (rig_brief() ? 20 : 100); i++) {
      run_steps(&s, 2e-4, rig_brief() ? 100 : 100, meter);
      const double lost = metered(&s, meter, "energy.dissipated");
      assert_true(lost >= before - 1e-12);
      before = lost;
    }
    if (!rig_brief()) {
      assert_near(metered(&s, meter, "energy.balance"), 0, 2e-3, "energy balance");
      assert_near(shop_signal(&s, ga_stepper_state(s.st), "hit.normal"), 3 * 9.81, 1e-2, "weight");
      assert_near(shop_signal(&s, ga_stepper_state(s.st), "crate.z"), 0.1 - 3 * 9.81 / 4 / 2e4, 1e-5,
                  "height");
      assert_near(shop_signal(&s, ga_stepper_state(s.st), "hit.gap"), -3 * 9.81 / 4 / 2e4, 1e-5, "gap");
    }
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
}

/* The same motion as a box and as a mesh of its triangles. */
static void mesh_is_box(void **state)
{
  double q[2][12];
  (void)state;
  for (int mesh = 0; mesh < 2; mesh++) {
    shop s = box_on_plane(GA_FORM_SPACE, (double[3]){0, 0, 0.3}, 0.5, 0.4, 0, mesh);
    memcpy(q[mesh], run_steps(&s, 5e-4, 600, NULL)->q, sizeof q[mesh]);
    shop_close(&s);
  }
  for (int i = 0; i < 12; i++) assert_near(q[1][i], q[0][i], 1e-9, "coordinate");
}

static shop box_on_slope(ga_form form, double slope, double mu, double stick)
{
  const double g = 9.81;
  shop s = box_on_plane(form, (double[3]){0, 0, 0.1 - 3 * g * cos(slope) / 4 / 2e4}, 0, mu, stick, 0);
  ga_force_def pull = ga_force_defaults();
  pull.name = "pull", pull.frame = "crate"; /* gravity, turned */
  pull.force[0].value = 3 * g * sin(slope), pull.force[2].value = 3 * g * (1 - cos(slope));
  SHOP_ADD(&s, force, &pull);
  return s;
}

/* On a slope of angle α, with tan α < μ, it creeps at v = s tan α/√(μ² − tan² α). */
static void box_rests_on_a_slope(void **state)
{
  const double slope = 0.3, mu = 0.5, g = 9.81;
  (void)state;
  for (int form = 0; form < 3; form += rig_brief() ? 3 : 1) {
    shop s = box_on_slope((ga_form)form, slope, mu, 0);
    const ga_state *at = run_steps(&s, 1e-3, 2000, NULL);
    const double creep = 1e-3 * tan(slope) / sqrt(mu * mu - tan(slope) * tan(slope));
    assert_near(shop_signal(&s, at, "crate.vx"), creep, 1e-6, "creep");
    assert_near(shop_signal(&s, at, "crate.x"), 2 * creep, 1e-4, "way");
    assert_near(shop_signal(&s, at, "hit.tangential"), 3 * g * sin(slope), 1e-3, "friction");
    shop_close(&s);
  }
}

/* With a memory it does not creep: it has moved by ζ ℓ and less, and rests. */
static void box_sticks_to_a_slope(void **state)
{
  const double slope = 0.3, mu = 0.5, g = 9.81, stick = 1e-4;
  (void)state;
  for (int form = 0; form < 3; form += rig_brief() ? 3 : 1) {
    shop s = box_on_slope((ga_form)form, slope, mu, stick);
    const double before = shop_signal(&s, run_steps(&s, 2e-4, 5000, NULL), "crate.x");
    const ga_state *at = run_steps(&s, 2e-4, 5000, NULL);
    assert_near(shop_signal(&s, at, "crate.vx"), 0, 1e-7, "creep");
    assert_near(shop_signal(&s, at, "crate.x"), before, 1e-6, "way");
    assert_true(before > 0 &&
                before < 2 * stick); /* −ℓ ln(1 − tan α/μ), and some more for the jerk of the start */
    assert_near(shop_signal(&s, at, "hit.tangential"), 3 * g * sin(slope), 1e-5, "friction");
    shop_close(&s);
  }
}

/* What the memory of friction stores is given back: pulled and released below the limit, the box dissipates,
 * and never gets anything of it back. */
static void memory_stores_energy(void **state)
{
  const double g = 9.81, mu = 0.5, stick = 1e-4, pull = 8;
  (void)state;
  for (int form = 0; form < 3; form += rig_brief() ? 3 : 1) {
    shop s = box_on_plane((ga_form)form, (double[3]){0, 0, 0.1 - 3 * g / 4 / 2e4}, 0, mu, stick, 0);
    ga_force_def f = ga_force_defaults();
    f.name = "pull", f.frame = "crate", f.force[0].expression = "4*(1 - cos(2*t))";
    SHOP_ADD(&s, force, &f);
    run_steps(&s, 2e-4, 0, NULL);
    ga_meter *meter = meter_of(&s);
    const double rest = metered(&s, meter, "energy.potential"), half = acos(-1.0) / 2;
    double lost = 0;
    for (int k = 0; k < 40; k++) {
      run_steps(&s, half / 2000, 100, meter);
      const double now = metered(&s, meter, "energy.dissipated");
      if (!(now > lost - 1e-9)) fail_msg("at %d: %g J are dissipated, then %g J", k, lost, now);
      lost = now;
      if (k == 19) /* pulled fully: at least what a spring of stiffness μ N/ℓ has */
        assert_true(metered(&s, meter, "energy.potential") - rest > 0.4 * pull * pull * stick / (mu * 3 * g));
    }
    assert_near(metered(&s, meter, "energy.balance"), 0, 1e-6, "energy balance");
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
}

/* Steeper than μ it slides with g (sin α − μ cos α), with and without memory. */
static void box_slides_down_a_slope(void **state)
{
  const double slope = 0.6, mu = 0.5, g = 9.81;
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = box_on_slope(GA_FORM_SPACE, slope, mu, k * 1e-4);
    simulate(&s, 0.5, 1e-7);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "crate.vx"), 0.5 * g * (sin(slope) - mu * cos(slope)),
                5e-3, "velocity");
    shop_close(&s);
  }
}

/* ---- Crossings ---- */

/* A capsule falls across another one that is held: by the force between two points, integrated here. The
 * depth is that of the axes, the other directions are not moved. */
static void capsules_cross(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form += rig_brief() ? 3 : 1) {
    const double k = 1e5, c = 0.3, m = 1.5, h = 1e-6;
    double z = 0.25, v = 0;
    shop s = shop_open((ga_form)form, -9.81);
    add_body(&s, "rod", m, 0.02, (double[3]){0, 0, z}, (double[3]){0, 0, 0});
    shop_turned(&s, "across", "rod", 0, 0, 0, 0, 1.5707963267948966);
    shop_turned(&s, "along", "ground", 0, 0, 0, 1, 1.5707963267948966);
    ga_collider_def d = collider_of(GA_COLLIDER_CAPSULE, "upper", "across");
    d.radius = 0.1, d.length = 1;
    SHOP_ADD(&s, collider, &d);
    d.name = "lower", d.frame = "along";
    SHOP_ADD(&s, collider, &d);
    ga_collision_def hit = collision_of("upper", "lower");
    hit.stiffness = k, hit.exponent = 1.5, hit.dissipation = c, hit.mu = 0;
    SHOP_ADD(&s, collision, &hit);
    simulate(&s, 0.25, 1e-9);
    for (int i = 0; i < 250000; i++) { /* midpoint rule */
      double a[2], zz = z, vv = v;
      for (int j = 0; j < 2; j++) {
        const double depth = 0.2 - zz;
        a[j] = -9.81 + (depth > 0 ? k * pow(depth, 1.5) * fmax(0, 1 - c * vv) / m : 0);
        zz = z + 0.5 * h * v, vv = v + 0.5 * h * a[j];
      }
      z += h * vv, v += h * a[1];
    }
    const ga_state *at = ga_stepper_state(s.st);
    assert_near(shop_signal(&s, at, "rod.z"), z, 2e-6, "height");
    assert_near(shop_signal(&s, at, "rod.vz"), v, 2e-5, "velocity");
    assert_near(shop_signal(&s, at, "rod.x"), 0, 1e-12, "x");
    shop_close(&s);
  }
}

/* Two boxes that stand on edges, which cross: the upper one is caught, without a corner near the other. */
static void edges_of_boxes_cross(void **state)
{
  (void)state;
  const double half = sqrt(0.5) * 0.4;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  add_body(&s, "upper", 2, 0.05, (double[3]){0, 0, 2 * half - 1e-3}, (double[3]){0, 0, 0});
  shop_turned(&s, "roof", "ground", 0, 0, 0, 0, 0.7853981633974483);
  shop_turned(&s, "keel", "upper", 0, 0, 0, 1, 0.7853981633974483);
  add_box(&s, "low", "roof", 0.4, 0.4, 0.4, 0);
  add_box(&s, "high", "keel", 0.4, 0.4, 0.4, 0);
  ga_collision_def d = collision_of("high", "low");
  d.stiffness = 2 * 9.81 / 1e-3, d.exponent = 1, d.mu = 0;
  SHOP_ADD(&s, collision, &d);
  const ga_state *at = run_steps(&s, 1e-3, 100, NULL);
  assert_near(shop_signal(&s, at, "hit.gap"), -1e-3, 1e-9, "depth");
  assert_near(shop_signal(&s, at, "hit.normal"), 2 * 9.81, 1e-5, "weight");
  assert_near(shop_signal(&s, at, "upper.vz"), 0, 1e-9, "rest");
  shop_close(&s);
}

/* A capsule lies across a box, whose edges it crosses in two places: half of the weight on each. A box lies
 * on another one, turned by 45°, with corners of neither above the other: an eighth on each of eight
 * crossings. */
static void crossings_carry(void **state)
{
  const double k = 1e5, g = 9.81, m = 2;
  (void)state;
  for (int boxes = 0; boxes < 2; boxes++) {
    const double depth = m * g / (boxes ? 8 : 2) / k, high = boxes ? 0.75 : 0.6;
    shop s = shop_open(GA_FORM_SPACE, -g);
    add_body(&s, "load", m, 0.1, (double[3]){0, 0, high - depth}, (double[3]){0, 0, 0});
    shop_turned(&s, "turned", "load", 0, 0, 0, boxes ? 2 : 1,
                boxes ? 0.7853981633974483 : 1.5707963267948966);
    add_box(&s, "block", "ground", 0.5, 0.5, 1, 5e-3);
    if (boxes) {
      add_box(&s, "bar", "turned", 0.5, 0.5, 0.5, 5e-3);
    } else {
      ga_collider_def d = collider_of(GA_COLLIDER_CAPSULE, "bar", "turned");
      d.radius = 0.1, d.length = 1.2;
      SHOP_ADD(&s, collider, &d);
    }
    ga_collision_def hit = collision_of("bar", "block");
    hit.stiffness = k, hit.exponent = 1, hit.dissipation = 5, hit.mu = 0.5, hit.speed = 1e-3;
    SHOP_ADD(&s, collision, &hit);
    const ga_state *at = run_steps(&s, 1e-3, 300, NULL);
    assert_near(shop_signal(&s, at, "hit.gap"), -depth, 1e-3 * depth, "depth");
    assert_near(shop_signal(&s, at, "hit.normal"), m * g, 1e-4, "weight");
    assert_near(shop_signal(&s, at, "load.z"), high - depth, 1e-3 * depth, "height");
    assert_near(shop_signal(&s, at, "hit.x"), 0, 1e-6, "point of contact");
    shop_close(&s);
  }
}

/* ---- Order, bits ---- */

/* A ball slides and rolls on the rounded edge of a box that moves itself, always in contact. */
static shop rolling_pair(ga_form form)
{
  shop s = shop_open(form, -9.81);
  add_body(&s, "base", 5, 0.2, (double[3]){0, 0, -6 * 9.81 / 5e3}, (double[3]){0.2, 0, 0});
  add_body(&s, "ball", 1, 0.01, (double[3]){0.1, 0.05, 0.45 - 6 * 9.81 / 5e3 - 9.81 / 2e4},
           (double[3]){0.5, 0.2, 0});
  add_box(&s, "block", "base", 1, 1, 0.7, 0.1);
  add_ball(&s, "round", "ball", 0.1);
  ga_collision_def d = collision_of("round", "block");
  d.stiffness = 2e4, d.exponent = 1, d.dissipation = 1, d.mu = 0.3, d.speed = 0.05;
  SHOP_ADD(&s, collision, &d);
  ga_bushing_def k = ga_bushing_defaults();
  k.name = "hold", k.a = "ground", k.b = "base";
  for (int i = 0; i < 6; i++) k.stiffness[7 * i] = 5e3, k.damping[7 * i] = 5;
  SHOP_ADD(&s, bushing, &k);
  return s;
}

static void motion_is_of_order_two(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form += rig_brief() ? 3 : 1) {
    double q[4][24], error[3] = {0, 0, 0};
    for (int level = 0; level < 4; level++) {
      const int n = level == 3 ? 1600 : 100 << level;
      shop s = rolling_pair((ga_form)form);
      const ga_state *at = run_steps(&s, 0.1 / n, n, NULL);
      assert_true(shop_signal(&s, at, "hit.gap") < 0);
      memcpy(q[level], at->q, sizeof q[level]);
      shop_close(&s);
    }
    for (int level = 0; level < 3; level++)
      for (int i = 0; i < 24; i++) error[level] = fmax(error[level], fabs(q[level][i] - q[3][i]));
    if (!(log2(error[0] / error[1]) > 1.8 && log2(error[1] / error[2]) > 1.8))
      fail_msg("form %d: errors %.3g, %.3g, %.3g", form, error[0], error[1], error[2]);
  }
}

/* Saved and loaded within contact, the motion goes on with the same bits. */
static void motion_goes_on_with_the_same_bits(void **state)
{
  static double saved[1 << 14];
  double q[24];
  (void)state;
  shop s = rolling_pair(GA_FORM_SPACE);
  run_steps(&s, 1e-3, 40, NULL);
  assert_true(ga_stepper_saved_size(s.st) <= sizeof saved / sizeof *saved);
  assert_status(s.ctx, ga_stepper_save(s.st, saved), GA_OK);
  memcpy(q, run_steps(&s, 1e-3, 60, NULL)->q, sizeof q);
  shop_close(&s);
  s = rolling_pair(GA_FORM_SPACE);
  run_steps(&s, 1e-3, 1, NULL);
  assert_status(s.ctx, ga_stepper_load(s.st, saved), GA_OK);
  assert_true(shop_signal(&s, ga_stepper_state(s.st), "hit.normal") > 1);
  assert_memory_equal(q, run_steps(&s, 1e-3, 60, NULL)->q, sizeof q);
  shop_close(&s);
}

/* ---- Geometry ---- */

static ga__solid solid_of(ga_context *ctx, const ga_collider_def *d)
{
  const ga__part part = {GA__PART_COLLIDER, "solid", (void *)(uintptr_t)d};
  ga__solid s;
  assert_status(ctx, ga__solid_create(ctx, &part, &s), GA_OK);
  return s;
}

/* Distances from a box, by its formula. */
static void nearest_features(void **state)
{
  rig_random random = rig_seed(1);
  ga_context *ctx = NULL;
  (void)state;
  assert_int_equal(rig_context(&ctx), GA_OK);
  ga_collider_def d = collider_of(GA_COLLIDER_BOX, "box", "ground");
  d.radius = 0;
  ga__solid s = solid_of(ctx, &d);
  assert_int_equal(s.n_corners, 8);
  assert_int_equal(s.n_edges, 12);
  assert_near(s.half, 0.35, 1e-15, "half");
  for (int k = 0; k < (rig_brief() ? 100 : 20000); k++) {
    double x[3], out = 0, in = -INFINITY;
    ga__feature f;
    for (int i = 0; i < 3; i++) {
      x[i] = rig_uniform(&random, -1, 1);
      const double beyond = fabs(x[i]) - 0.5 * d.size[i];
      out += beyond > 0 ? beyond * beyond : 0;
      in = fmax(in, beyond);
    }
    assert_int_equal(ga__solid_nearest(&s, x, INFINITY, &f), 1);
    assert_near(f.distance, out > 0 ? sqrt(out) : in, 1e-14, "distance");
  }
  ga__solid_free(ctx, &s);
  ga_context_destroy(&ctx);
}

static void random_pose(rig_random *random, double far, ga__relative *g, ga__relative *back)
{
  double q[4], n = 0;
  for (int i = 0; i < 4; i++) q[i] = rig_uniform(random, -1, 1), n += q[i] * q[i];
  for (int i = 0; i < 4; i++) q[i] /= sqrt(n);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(g->R, R, sizeof R);
  for (int i = 0; i < 3; i++) g->p[i] = rig_uniform(random, -far, far);
  for (int i = 0; i < 3; i++) {
    back->p[i] = 0;
    for (int j = 0; j < 3; j++) back->R[3 * i + j] = R[3 * j + i], back->p[i] -= R[3 * j + i] * g->p[j];
  }
}

/* The query says of no two solids that they are apart while a place of one is within reach of the other, and
 * of few that they may meet while balls around them do not. Sizes from a thousandth to a thousand metres. */
static void the_query_loses_nothing(void **state)
{
  rig_random random = rig_seed(2);
  ga_context *ctx = NULL;
  int met = 0, apart = 0;
  (void)state;
  assert_int_equal(rig_context(&ctx), GA_OK);
  for (int k = 0; k < (rig_brief() ? 60 : 6000); k++) {
    const double unit = pow(10, k % 3 * 3 - 3);
    ga_collider_def d[2];
    ga__solid s[2];
    ga__relative b_in_a, a_in_b;
    ga__feature f;
    ga__crossing x;
    double nearest = INFINITY;
    long next = 0;
    for (int i = 0; i < 2; i++) {
      d[i] = collider_of((ga_collider_kind)(1 + (k / 3 + i * (k / 9)) % 3), "solid", "ground");
      d[i].radius *= k % 2 ? unit : 0.1 * unit, d[i].length *= unit, d[i].scale = unit;
      for (int j = 0; j < 3; j++) d[i].size[j] *= unit;
      s[i] = solid_of(ctx, &d[i]);
    }
    random_pose(&random, 1.2 * unit, &b_in_a, &a_in_b);
    const double most = s[0].radius + s[1].radius;
    for (int i = 0; i < 2; i++)
      for (int c = 0; c < s[i].n_corners; c++) {
        double at[3];
        ga__relative_apply(at, i ? &b_in_a : &a_in_b, s[i].point + 3 * c);
        if (ga__solid_nearest(&s[1 - i], at, most, &f)) nearest = fmin(nearest, f.distance);
      }
    const double deep = ga__least_overlap(&s[0], &s[1], &a_in_b, &b_in_a);
    while (ga__solid_crossing(&s[0], &s[1], &b_in_a, most, deep, &next, &x)) nearest = fmin(nearest, x.apart);
    const int meets = ga__solids_meet(&s[0], &s[1], &b_in_a);
    if (nearest < most && !meets) fail_msg("case %d: %.3g within %.3g is lost", k, nearest, most);
    met += nearest < most, apart += !meets;
    for (int i = 0; i < 2; i++) ga__solid_free(ctx, &s[i]);
  }
  assert_true(met > 10 && apart > 10);
  ga_context_destroy(&ctx);
}

/* ---- Thin and fast ---- */

/* A ball of 1 cm at 200 m/s against a plate of 5 mm, met within less than 1e-4 s: error control does not step
 * over it. */
static void bullets_do_not_tunnel(void **state)
{
  (void)state;
  for (int k = 0; k < 3; k++) {
    shop s = shop_open((ga_form)k, 0);
    add_body(&s, "ball", 0.01, 1e-6, (double[3]){0, 0, 10.3}, (double[3]){0, 0, -200});
    add_ball(&s, "round", "ball", 0.005);
    add_box(&s, "plate", "ground", 1, 1, 0.005, 0);
    ga_collision_def d = collision_of("round", "plate");
    d.stiffness = 1e9, d.exponent = 1, d.mu = 0, d.dissipation = 0;
    SHOP_ADD(&s, collision, &d);
    simulate(&s, 0.1, 1e-4);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "ball.vz"), 200, 2, "velocity behind");
    shop_close(&s);
  }
}

/* Pressed to the middle of a plate it would leave on the other side: the step fails, and says so. */
static void nothing_is_pushed_through(void **state)
{
  double q[RIG_MOST], v[RIG_MOST], x[RIG_MOST];
  ga_simulate_opts o = ga_simulate_defaults();
  ga_simulator *sim = NULL;
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_body(&s, "ball", 1, 1e-3, (double[3]){0, 0, 0.3}, (double[3]){0, 0, -20});
  add_ball(&s, "round", "ball", 0.05);
  add_box(&s, "plate", "ground", 1, 1, 0.02, 0);
  ga_collision_def d = collision_of("round", "plate");
  d.stiffness = 1e3, d.exponent = 1, d.mu = 0;
  SHOP_ADD(&s, collision, &d);
  shop_build(&s);
  o.t_end = 1;
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
  assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
  assert_status(s.ctx, ga_simulator_start(sim, NULL, 0, q, v, x, NULL, NULL, NULL), GA_OK);
  assert_true(ga_simulator_run(sim) != GA_OK);
  assert_says(s.ctx, "'round' and 'plate' are pressed");
  ga_simulator_destroy(&sim);
  shop_close(&s);
}

/* ---- What is refused ---- */

static void refuse_collider(ga_collider_def d, const char *says, int at_once)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  const ga_status status = ga_machine_add_collider(s.m, &d);
  if (at_once)
    assert_status(s.ctx, status, GA_ERR_ARGUMENT);
  else
    assert_status(s.ctx, status ? status : ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void colliders_are_checked(void **state)
{
  /* one with a triangle missing; one flat; points out of range */
  static const double NOTCH_POINT[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.1, 0.1, 0.1};
  static const double NOTCH[15] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4};
  static const double FLAT_POINT[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  static const double BEYOND[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4};
  const ga_collider_def mesh = collider_of(GA_COLLIDER_MESH, "c", "ground");
  (void)state;
  ga_collider_def d = collider_of(GA_COLLIDER_SPHERE, "c", "ground");
  d.radius = 0, refuse_collider(d, "radius is 0 m; it must be > 0", 1);
  d.radius = -1, refuse_collider(d, "radius", 1);
  d.radius = NAN, refuse_collider(d, "radius", 1);
  d = collider_of(GA_COLLIDER_CAPSULE, "c", "ground"), d.length = 0;
  refuse_collider(d, "without length it is a sphere", 1);
  d = collider_of(GA_COLLIDER_BOX, "c", "ground"), d.size[1] = 0.4;
  refuse_collider(d, "more than two radii", 1);
  d = collider_of(GA_COLLIDER_BOX, "c", "grund");
  refuse_collider(d, "did you mean 'ground'?", 0);
  d = mesh, d.points = NULL, d.n_points = 0, refuse_collider(d, "points", 1);
  d = mesh, d.scale = 0, refuse_collider(d, "scale", 1);
  d = mesh, d.n_triangles = 3, refuse_collider(d, "3 triangles", 0);
  d = mesh, d.triangles = BEYOND,
  refuse_collider(d, "triangle 4 has point 4; points are numbered from 0 to 3", 0);
  d = mesh, d.points = FLAT_POINT, refuse_collider(d, "c", 0);
  d = mesh, d.points = NOTCH_POINT, d.n_points = 5, d.triangles = NOTCH, d.n_triangles = 5;
  refuse_collider(d, "not closed: the edge between points", 0);
}

static void refuse_collision(const ga_collision_def *d, const char *says)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_body(&s, "ball", 1, 1, (double[3]){0, 0, 3}, (double[3]){0, 0, 0});
  add_ball(&s, "round", "ball", 0.1);
  add_box(&s, "block", "ball", 1, 1, 1, 0);
  add_plane(&s, "floor", "ground");
  shop_turned(&s, "side", "ball", 0, 0, 0, 1, 0.3);
  add_plane(&s, "lid", "side");
  const ga_status status = ga_machine_add_collision(s.m, d);
  assert_status(s.ctx, status ? status : ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void collisions_are_checked(void **state)
{
  (void)state;
  ga_collision_def d = collision_of("round", "flor");
  refuse_collision(&d, "did you mean 'floor'?");
  d.b = "ball", refuse_collision(&d, "a collider");
  d.b = "block", refuse_collision(&d, "block");
  d.a = "lid", d.b = "floor", refuse_collision(&d, "both planes");
  d = collision_of("round", "floor");
  d.stiffness = 0, refuse_collision(&d, "stiffness");
  d = collision_of("round", "floor");
  d.exponent = 0.5, refuse_collision(&d, "exponent");
  d = collision_of("round", "floor");
  d.speed = 0, refuse_collision(&d, "speed");
  d = collision_of("round", "round"), refuse_collision(&d, "round");
}

static shop with_everything(void)
{
  shop s = shop_open(GA_FORM_BODY, -9.81);
  const ga_collider_def mesh = collider_of(GA_COLLIDER_MESH, "stone", "body");
  shop_rigid(&s, "body", 0, 0, 2);
  SHOP_ADD(&s, collider, &mesh);
  add_box(&s, "block", "ground", 1, 1, 1, 0.1);
  ga_collision_def d = collision_of("stone", "block");
  d.stick = 1e-3;
  SHOP_ADD(&s, collision, &d);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(with_everything);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(other_bodies),
      cmocka_unit_test(ball_on_ball),
      cmocka_unit_test(cradle),
      cmocka_unit_test(from_sliding_to_rolling),
      cmocka_unit_test(box_falls),
      cmocka_unit_test(mesh_is_box),
      cmocka_unit_test(box_rests_on_a_slope),
      cmocka_unit_test(box_sticks_to_a_slope),
      cmocka_unit_test(memory_stores_energy),
      cmocka_unit_test(every_method_bounces),
      cmocka_unit_test(box_slides_down_a_slope),
      cmocka_unit_test(capsules_cross),
      cmocka_unit_test(edges_of_boxes_cross),
      cmocka_unit_test(crossings_carry),
      cmocka_unit_test(motion_is_of_order_two),
      cmocka_unit_test(motion_goes_on_with_the_same_bits),
      cmocka_unit_test(nearest_features),
      cmocka_unit_test(the_query_loses_nothing),
      cmocka_unit_test(bullets_do_not_tunnel),
      cmocka_unit_test(nothing_is_pushed_through),
      cmocka_unit_test(colliders_are_checked),
      cmocka_unit_test(collisions_are_checked),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
