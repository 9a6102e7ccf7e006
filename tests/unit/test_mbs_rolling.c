/* Rolling without slipping, and knife edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

static ga_rolling_def rolling_of(ga_rolling_kind kind, const char *body, const char *plane)
{
  ga_rolling_def d = ga_rolling_defaults();
  d.name = "roll";
  d.kind = kind;
  d.body = body;
  d.plane = plane;
  if (kind != GA_ROLLING_KNIFE) d.radius = 0.4;
  return d;
}

/* ---- Derivatives ---- */

/* On a slanting plane, by frames off the centre of mass. */
static void derivatives_are_exact(void **state)
{
  static const char *const kind[] = {"sphere", "disk", "knife edge", "planar knife edge"};
  rig_random random = rig_seed(5);
  (void)state;
  for (int i = 0; i < 4; i++)
    for (int form = 0; form < 3; form++) {
      char what[64];
      shop s = shop_open((ga_form)form, -9.81);
      snprintf(what, sizeof what, "%s, %s", kind[i], SHOP_FORM[form]);
      if (i < 3) {
        shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
        shop_marker(&s, "hub", "wheel", 0.2, -0.1, 0.15);
      } else {
        shop_planar(&s, "sledge", 0.3, -0.5);
        shop_turned(&s, "blade", "sledge", 0.3, -0.2, 0, 2, 0.7);
      }
      shop_marker(&s, "slope", "ground", 0.1, -0.2, 0.3);
      ga_rolling_def d =
          rolling_of(i < 3 ? (ga_rolling_kind)i : GA_ROLLING_KNIFE, i < 3 ? "hub" : "blade", "slope");
      SHOP_ADD(&s, rolling, &d);
      shop_build(&s);
      shop_check(&s, &random, 20, 0.4, 1e-7, what);
      shop_close(&s);
    }
}

/* k and Φ' are the velocity of the material point of the body that touches the plane: of a
 * marker put there. */
static void touching_point_rests(void **state)
{
  rig_random random = rig_seed(31);
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int n = 0; n < 10; n++) {
      shop s = shop_open(GA_FORM_SPACE, 0);
      ga_rigid_def w = ga_rigid_defaults();
      ga_rolling_def d = rolling_of((ga_rolling_kind)kind, "wheel", "ground");
      double angle[3], P[3] = {0, 0, -0.4}, k[2], phi[1], phi_dot[1], q[RIG_MOST], v[RIG_MOST];
      for (int i = 0; i < 3; i++) {
        angle[i] = rig_uniform(&random, -1, 1);
        w.velocity[i] = rig_uniform(&random, -2, 2);
        w.omega[i] = rig_uniform(&random, -2, 2);
      }
      w.name = "wheel";
      w.mass = 1;
      w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
      w.pose = ga_pose_at(0.3, -0.2, 0.9);
      assert_int_equal(ga_rotation_euler(s.ctx, "xyx", angle, w.pose.rotation), GA_OK);
      SHOP_ADD(&s, rigid, &w);
      SHOP_ADD(&s, rolling, &d);
      shop_build(&s);
      assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
      const ga_system *sys = ga_machine_system(s.m);
      const ga_point p = {0, q, v, v, v, v, v, v, 0, NULL};
      assert_int_equal(sys->def.k(sys->def.user, &p, k), 0);
      assert_int_equal(sys->def.phi(sys->def.user, &p, phi), 0);
      assert_int_equal(sys->def.phi_dot(sys->def.user, &p, phi_dot), 0);
      /* the lowest point of the rim, found by search around it */
      double best = INFINITY;
      for (int a = 0; a < 200000 && kind == GA_ROLLING_DISK; a++) {
        const double c = cos(a * acos(-1.0) / 100000), si = sin(a * acos(-1.0) / 100000),
                     *R = w.pose.rotation;
        const double z = 0.4 * (R[6] * c + R[7] * si);
        if (z >= best) continue;
        best = z;
        for (int i = 0; i < 3; i++) P[i] = 0.4 * (R[3 * i] * c + R[3 * i + 1] * si);
      }
      const double *o = w.omega, *u = w.velocity;
      const double at_P[3] = {u[0] + o[1] * P[2] - o[2] * P[1], u[1] + o[2] * P[0] - o[0] * P[2],
                              u[2] + o[0] * P[1] - o[1] * P[0]};
      const double near = kind == GA_ROLLING_SPHERE ? 1e-14 : 1e-4; /* of the search */
      assert_near(k[0], at_P[0], near, "k along x");
      assert_near(k[1], at_P[1], near, "k along y");
      assert_near(phi_dot[0], at_P[2], near, "rate of the distance");
      assert_near(phi[0], 0.9 + P[2], kind == GA_ROLLING_SPHERE ? 1e-14 : 1e-8, "distance");
      shop_close(&s);
    }
}

/* ---- Known motions ---- */

/* A ball on a slope of angle α: 5/7 g sin α downhill; it presses with m g cos α and is held back by 2/7 m g
 * sin α. */
static void ball_rolls_downhill(void **state)
{
  const double alpha = 0.3, g = 10, mass = 3, radius = 0.4;
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -g);
    ga_rigid_def b = ga_rigid_defaults();
    ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball", "slope");
    shop_turned(&s, "slope", "ground", 0, 0, 0, 1, alpha); /* x points downhill */
    b.name = "ball";
    b.mass = mass;
    b.inertia[0] = b.inertia[1] = b.inertia[2] = 0.4 * mass * radius * radius;
    b.pose = ga_pose_at(radius * sin(alpha), 0, radius * cos(alpha));
    SHOP_ADD(&s, rigid, &b);
    SHOP_ADD(&s, rolling, &d);
    const ga_state *now = shop_start(&s);
    const double a = 5.0 / 7 * g * sin(alpha);
    assert_near(now->vdot[0], a * cos(alpha), 1e-11, "along x");
    assert_near(now->vdot[2], -a * sin(alpha), 1e-11, "along z");
    assert_near(now->vdot[4], a / radius, 1e-11, "about y");
    assert_near(-now->lambda[0], mass * g * cos(alpha), 1e-10, "pressure");
    assert_near(-now->psi[0], -2.0 / 7 * mass * g * sin(alpha), 1e-10, "grip along x");
    assert_near(-now->psi[1], 0, 1e-10, "grip along y");
    shop_close(&s);
  }
}

/* A disk, thin, rolling in a circle at a lean: with n its axis, d from P to the centre, s = e_z·n, m = e_z·d,
 * it precesses with Ω while N = ω·n if  N Ω m (C + M r²) = A Ω² s m − M g r s;  then u = r N n×d, u' and ω'
 * turn with Ω e_z. */
static void disk_rolls_in_a_circle(void **state)
{
  const double M = 2, r = 0.4, g = 10, A = 0.25 * M * r * r, C = 0.5 * M * r * r, Omega = 1.7, lean = 0.35;
  const double s = sin(lean), m = cos(lean),
               N = (A * Omega * Omega * s * m - M * g * r * s) / (Omega * m * (C + M * r * r));
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop shop_ = shop_open((ga_form)form, -g);
    ga_rigid_def b = ga_rigid_defaults();
    ga_rolling_def roll = rolling_of(GA_ROLLING_DISK, "disk", "ground");
    /* n = (0, −m, s), d = (0, s, m), t = n × d = (−1, 0, 0) */
    const double R[9] = {1, 0, 0, 0, s, -m, 0, m, s};
    b.name = "disk";
    b.mass = M;
    b.inertia[0] = b.inertia[1] = A;
    b.inertia[2] = C;
    b.pose = ga_pose_at(0, 0, r * m);
    memcpy(b.pose.rotation, R, sizeof R);
    const double spin = N - Omega * s;
    b.omega[1] = -spin * m;
    b.omega[2] = Omega + spin * s;
    b.velocity[0] = -r * N;
    SHOP_ADD(&shop_, rigid, &b);
    SHOP_ADD(&shop_, rolling, &roll);
    const ga_state *now = shop_start(&shop_);
    const double a[3] = {0, -r * N * Omega, 0}; /* Ω e_z × u */
    assert_near(shop_signal(&shop_, now, "disk.ax"), a[0], 1e-10, "acceleration along x");
    assert_near(shop_signal(&shop_, now, "disk.ay"), a[1], 1e-10, "acceleration along y");
    assert_near(shop_signal(&shop_, now, "disk.az"), a[2], 1e-10, "acceleration along z");
    assert_near(-now->lambda[0], M * g, 1e-9, "pressure");
    assert_near(-now->psi[0], 0, 1e-9, "grip along x");
    assert_near(-now->psi[1], M * a[1], 1e-9, "grip along y");
    if (form == GA_FORM_SPACE) {
      assert_near(now->vdot[3], -Omega * b.omega[1], 1e-10, "ω' = Ω e_z × ω along x");
      assert_near(now->vdot[4], 0, 1e-10, "ω' along y");
      assert_near(now->vdot[5], 0, 1e-10, "ω' along z");
    }
    shop_close(&shop_);
  }
}

/* The same disk for a while, off its steady motion: it stays on the plane, does not slip, and keeps its
 * energy. */
static void disk_keeps_its_energy(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, -10);
  ga_rigid_def b = ga_rigid_defaults();
  ga_rolling_def roll = rolling_of(GA_ROLLING_DISK, "disk", "ground");
  const double M = 2, r = 0.4, lean = 0.2;
  const double axis[3] = {1, 0, 0};
  b.name = "disk";
  b.mass = M;
  b.inertia[0] = b.inertia[1] = 0.25 * M * r * r;
  b.inertia[2] = 0.5 * M * r * r;
  b.pose = ga_pose_at(0, 0, r * cos(lean));
  assert_int_equal(ga_rotation_axis_angle(s.ctx, axis, acos(0.0) - lean, b.pose.rotation), GA_OK);
  b.omega_in_body = 1;
  b.omega[2] = 9;
  b.omega[0] = 0.3;
  b.velocity[0] = -r * 9; /* ω × r d, d = (0, sin, cos) of the lean */
  b.velocity[1] = -r * 0.3 * cos(lean);
  b.velocity[2] = r * 0.3 * sin(lean);
  SHOP_ADD(&s, rigid, &b);
  SHOP_ADD(&s, rolling, &roll);
  double q[RIG_MOST], v[RIG_MOST], k[2], phi[1];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  shop_build(&s);
  const ga_system *sys = ga_machine_system(s.m);
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, sys, &opts, &s.st), GA_OK);
  o.h = 1e-3;
  assert_status(s.ctx, ga_stepper_start(s.st, &o, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  double energy[2];
  for (int n = 0;; n++) {
    const ga_state *now = ga_stepper_state(s.st);
    const double e = shop_signal(&s, now, "energy.kinetic") + shop_signal(&s, now, "energy.potential");
    energy[n > 0] = e;
    if (n == 400) break;
    assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
  }
  const ga_state *now = ga_stepper_state(s.st);
  const ga_point p = {now->t, now->q, now->v, now->vdot, now->lambda, now->psi, now->x, now->y, 0, NULL};
  assert_int_equal(sys->def.k(sys->def.user, &p, k), 0);
  assert_int_equal(sys->def.phi(sys->def.user, &p, phi), 0);
  assert_near(energy[1], energy[0], 1e-4 * energy[0], "energy");
  assert_true(fabs(now->q[0]) > 0.5); /* it got somewhere */
  assert_near(k[0], 0, 1e-9, "slip along x");
  assert_near(k[1], 0, 1e-9, "slip along y");
  assert_near(phi[0], 0, 1e-9, "distance");
  shop_close(&s);
}

/* A knife edge at the centre of mass: the body goes on in a circle, held by m u ω across the blade. */
static void sledge_goes_in_a_circle(void **state)
{
  const double speed = 3, rate = 2, heading = 0.4;
  (void)state;
  for (int planar = 0; planar < 2; planar++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rolling_def d = rolling_of(GA_ROLLING_KNIFE, "sledge", "ground");
    ga_planar_def b = ga_planar_defaults();
    ga_rigid_def r = ga_rigid_defaults();
    const double z[3] = {0, 0, 1};
    b.name = r.name = "sledge";
    b.mass = r.mass = 2;
    b.inertia = r.inertia[0] = r.inertia[1] = r.inertia[2] = 0.3;
    b.angle = heading;
    b.rate = r.omega[2] = rate;
    b.velocity[0] = r.velocity[0] = speed * cos(heading);
    b.velocity[1] = r.velocity[1] = speed * sin(heading);
    assert_int_equal(ga_rotation_axis_angle(s.ctx, z, heading, r.pose.rotation), GA_OK);
    if (planar)
      SHOP_ADD(&s, planar, &b);
    else
      SHOP_ADD(&s, rigid, &r);
    SHOP_ADD(&s, rolling, &d);
    const ga_state *now = shop_start(&s);
    assert_near(now->vdot[0], -speed * rate * sin(heading), 1e-12, "along x");
    assert_near(now->vdot[1], speed * rate * cos(heading), 1e-12, "along y");
    assert_near(now->vdot[planar ? 2 : 5], 0, 1e-12, "about z");
    assert_near(-now->psi[0], 2 * speed * rate, 1e-12, "force across the blade");
    shop_close(&s);
  }
}

/* ---- What is refused ---- */

static void refuse(const ga_rolling_def *d, const char *says)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def flat = ga_rigid_defaults();
  flat.name = "flat";
  flat.mass = 1;
  flat.inertia[0] = flat.inertia[1] = flat.inertia[2] = 1;
  SHOP_ADD(&s, rigid, &flat);
  shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
  shop_planar(&s, "sledge", 1, 0);
  shop_point(&s, "bob", 0, 0, 1);
  shop_turned(&s, "upright", "flat", 0, 0, 0, 0, acos(0.0));
  SHOP_ADD(&s, rolling, d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "roll");
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void mistakes_are_named(void **state)
{
  (void)state;
  ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "bob", "ground");
  refuse(&d, "'bob' belongs to a mass point");
  d = rolling_of(GA_ROLLING_DISK, "sledge", "ground");
  refuse(&d, "only rigid bodies roll");
  d = rolling_of(GA_ROLLING_KNIFE, "bob", "ground");
  refuse(&d, "a knife edge needs a rigid or a planar body");
  d = rolling_of(GA_ROLLING_DISK, "flat", "ground");
  refuse(&d, "the disk lies flat");
  d = rolling_of(GA_ROLLING_KNIFE, "upright", "ground");
  refuse(&d, "normal to the plane");
  d = rolling_of(GA_ROLLING_SPHERE, "whel", "ground");
  refuse(&d, "'whel'");
}

static void memory_runs_out(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SE3, 0);
  ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "wheel", "ground");
  shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
  SHOP_ADD(&s, rolling, &d);
  const long before = rig_memory.live;
  for (int n = 1;; n++) {
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_machine_build(s.m);
    if (!status) break;
    assert_int_equal(status, GA_ERR_MEMORY);
    assert_int_equal(rig_memory.live, before);
  }
  rig_memory.fail_at = 0;
  shop_close(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact), cmocka_unit_test(touching_point_rests),
      cmocka_unit_test(ball_rolls_downhill),   cmocka_unit_test(disk_rolls_in_a_circle),
      cmocka_unit_test(disk_keeps_its_energy), cmocka_unit_test(sledge_goes_in_a_circle),
      cmocka_unit_test(mistakes_are_named),    cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
