/* Rolling without slipping, and knife edges, on planes of bodies that move. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_shop.h"

static const double RADIUS = 0.4, BALL = 3, G = 10;

static ga_rolling_def rolling_of(ga_rolling_kind kind, const char *body, const char *plane)
{
  ga_rolling_def d = ga_rolling_defaults();
  d.name = "roll";
  d.kind = kind;
  d.body = body;
  d.plane = plane;
  if (kind != GA_ROLLING_KNIFE) d.radius = RADIUS;
  return d;
}

/* A homogeneous ball, at rest. */
static ga_rigid_def ball_at(double x, double y, double z)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "ball";
  d.mass = BALL;
  d.inertia[0] = d.inertia[1] = d.inertia[2] = 0.4 * BALL * RADIUS * RADIUS;
  d.pose = ga_pose_at(x, y, z);
  return d;
}

static ga_rigid_def table_of(double mass)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "table";
  d.mass = mass;
  d.inertia[0] = 2, d.inertia[1] = 3, d.inertia[2] = 4;
  return d;
}

/* A joint of the table with the ground, its axis (z of both frames) turned from z about y: 0 up, π/2 along x.
 */
static void join(shop *s, ga_joint_kind kind, const ga_rigid_def *table, int axis, double angle)
{
  double about[3] = {0, 0, 0};
  ga_joint_def d = ga_joint_defaults();
  d.name = "guide";
  d.kind = kind;
  d.a = "ground";
  d.b = table->name;
  d.at_pose = 1;
  d.at = table->pose;
  about[axis] = 1;
  assert_int_equal(ga_rotation_axis_angle(s->ctx, about, angle, d.at.rotation), GA_OK);
  SHOP_ADD(s, joint, &d);
}

static void drive(shop *s, const char *coordinate, const ga_function *f)
{
  ga_drive_def d = ga_drive_defaults();
  d.name = "drive";
  d.coordinate = coordinate;
  d.function = f;
  SHOP_ADD(s, drive, &d);
}

/* n steps of size h from the start. */
static const ga_state *run(shop *s, ga_method method, double h, int n)
{
  double q[RIG_MOST], v[RIG_MOST];
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  opts.method = method;
  o.h = h;
  shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, NULL), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(s->ctx, ga_stepper_step(s->st, h), GA_OK);
  return ga_stepper_state(s->st);
}

/* ---- Derivatives ---- */

/* What rolls on what: frames off the centres of mass, slanting; a force by all signals of the contact, so
 * that their derivatives are checked as well. */
static void derivatives_are_exact(void **state)
{
  static const struct {
    const char *what;
    ga_rolling_kind kind;
    int body_planar, plane_planar;
  } list[] = {{"sphere", GA_ROLLING_SPHERE, 0, 0},
              {"disk", GA_ROLLING_DISK, 0, 0},
              {"knife edge", GA_ROLLING_KNIFE, 0, 0},
              {"sphere on a planar body", GA_ROLLING_SPHERE, 0, 1},
              {"disk on a planar body", GA_ROLLING_DISK, 0, 1},
              {"planar knife edge", GA_ROLLING_KNIFE, 1, 0},
              {"planar knife edge on a planar body", GA_ROLLING_KNIFE, 1, 1}};
  rig_random random = rig_seed(7);
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (int form = 0; form < 3; form++) {
      char what[96];
      shop s = shop_open((ga_form)form, -9.81);
      ga_rolling_def d = rolling_of(list[i].kind, "hub", "slope");
      ga_force_def f = ga_force_defaults();
      snprintf(what, sizeof what, "%s, %s", list[i].what, SHOP_FORM[form]);
      if (list[i].body_planar)
        shop_planar(&s, "wheel", 0.3, -0.5);
      else
        shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
      if (list[i].plane_planar)
        shop_planar(&s, "table", -0.2, 0.1);
      else
        shop_rigid(&s, "table", -0.3, 0.1, -0.2);
      if (list[i].body_planar)
        shop_turned(&s, "hub", "wheel", 0.3, -0.2, 0, 2, 0.7);
      else
        shop_marker(&s, "hub", "wheel", 0.2, -0.1, 0.15);
      if (list[i].plane_planar && list[i].body_planar)
        shop_turned(&s, "slope", "table", 0.1, 0.3, 0, 2, 0.4);
      else
        shop_marker(&s, "slope", "table", 0.1, -0.2, 0.3);
      SHOP_ADD(&s, rolling, &d);
      f.name = "feedback";
      f.frame = "hub";
      f.force[0].expression = list[i].kind == GA_ROLLING_KNIFE
                                  ? "0.3*roll.fx - 0.2*roll.fy + 0.4*roll.fz + 0.1*roll.tangential"
                                  : "0.3*roll.fx - 0.2*roll.fy + 0.4*roll.fz + 0.1*roll.tangential + "
                                    "3*roll.px - 2*roll.py + roll.pz + 0.2*roll.normal";
      SHOP_ADD(&s, force, &f);
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 2 : 20, 0.4, 1e-7, what);
      shop_close(&s);
    }
}

/* The tip of a beam carries the plane. */
static void beams_carry_planes(void **state)
{
  rig_random random = rig_seed(8);
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int form = 0; form < 3; form++) {
      shop s = shop_open((ga_form)form, -9.81);
      ga_beam_def beam = ga_beam_defaults();
      ga_rolling_def d = rolling_of((ga_rolling_kind)kind, "hub", "slope");
      beam.name = "beam";
      for (int i = 0; i < 3; i++) beam.from[i] = 0, beam.to[i] = i == 0;
      beam.elements = 1;
      beam.section = GA_SECTION_CIRCLE;
      beam.diameter = 0.1;
      beam.young = 1e5, beam.poisson = 0.3, beam.density = 1000;
      SHOP_ADD(&s, beam, &beam);
      shop_rigid(&s, "wheel", 1.1, 0.2, 0.4);
      shop_marker(&s, "hub", "wheel", 0.2, -0.1, 0.15);
      shop_marker(&s, "slope", "beam", 1, 0.2, 0.05);
      SHOP_ADD(&s, rolling, &d);
      shop_build(&s);
      shop_check(&s, &random, rig_brief() ? 1 : 5, 0.1, 1e-7, SHOP_FORM[form]);
      shop_close(&s);
    }
}

/* k and Φ' are the velocity, relative to the table, of the point of the body that is closest to it, along the
 * axes of the plane: the point is found by search around the rim. */
static void points_in_touch_move_alike(void **state)
{
  enum { TRIES = 20000 };
  rig_random random = rig_seed(32);
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int n = 0; n < 10; n++) {
      shop s = shop_open(GA_FORM_SPACE, 0);
      ga_rigid_def w[2] = {ball_at(0.3, -0.2, 0.9), table_of(1)};
      ga_rolling_def d = rolling_of((ga_rolling_kind)kind, "ball", "table");
      double angle[3], k[2], phi[1], phi_dot[1], q[RIG_MOST], v[RIG_MOST], P[3], u[3], least = INFINITY;
      w[1].pose = ga_pose_at(-0.1, 0.2, 0.1);
      for (int b = 0; b < 2; b++) {
        for (int i = 0; i < 3; i++) {
          angle[i] = rig_uniform(&random, -1, 1);
          w[b].velocity[i] = rig_uniform(&random, -2, 2);
          w[b].omega[i] = rig_uniform(&random, -2, 2);
        }
        assert_int_equal(ga_rotation_euler(s.ctx, "xyx", angle, w[b].pose.rotation), GA_OK);
        SHOP_ADD(&s, rigid, &w[b]);
      }
      SHOP_ADD(&s, rolling, &d);
      shop_build(&s);
      assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
      const ga_system *sys = ga_machine_system(s.m);
      const ga_point p = {0, q, v, v, v, v, v, v, 0, NULL};
      assert_int_equal(sys->def.k(sys->def.user, &p, k), 0);
      assert_int_equal(sys->def.phi(sys->def.user, &p, phi), 0);
      assert_int_equal(sys->def.phi_dot(sys->def.user, &p, phi_dot), 0);
      const double *R = w[0].pose.rotation, *T = w[1].pose.rotation;
      for (int a = 0; a < TRIES; a++) {
        const double c = cos(2 * acos(-1.0) * a / TRIES), si = sin(2 * acos(-1.0) * a / TRIES);
        double x[3], height = 0;
        for (int i = 0; i < 3; i++) {
          x[i] = w[0].pose.position[i] +
                 RADIUS * (kind == GA_ROLLING_SPHERE ? -T[3 * i + 2] : R[3 * i] * c + R[3 * i + 1] * si);
          height += T[3 * i + 2] * (x[i] - w[1].pose.position[i]);
        }
        if (height >= least) continue;
        least = height;
        memcpy(P, x, sizeof P);
      }
      for (int i = 0; i < 3; i++) {
        u[i] = 0;
        for (int b = 0; b < 2; b++) {
          const int j = (i + 1) % 3, l = (i + 2) % 3;
          const double *o = w[b].omega, *x = w[b].pose.position;
          u[i] += (b ? -1 : 1) * (w[b].velocity[i] + o[j] * (P[l] - x[l]) - o[l] * (P[j] - x[j]));
        }
      }
      const double near = kind == GA_ROLLING_SPHERE ? 1e-14 : 1e-3; /* of the search */
      assert_near(k[0], T[0] * u[0] + T[3] * u[1] + T[6] * u[2], near, "k along x");
      assert_near(k[1], T[1] * u[0] + T[4] * u[1] + T[7] * u[2], near, "k along y");
      assert_near(phi_dot[0], T[2] * u[0] + T[5] * u[1] + T[8] * u[2], near, "rate of the distance");
      assert_near(phi[0], least, kind == GA_ROLLING_SPHERE ? 1e-14 : 1e-7, "distance");
      shop_close(&s);
    }
}

/* ---- Known motions ---- */

typedef struct errors {
  double place, velocity, force;
} errors;

static void take(double *most, double got, double exact)
{
  *most = fmax(*most, fabs(got - exact));
}

static void assert_order_2(const errors *coarse, const errors *fine, const char *what)
{
  const double order[3] = {log2(coarse->place / fine->place), log2(coarse->velocity / fine->velocity),
                           log2(coarse->force / fine->force)};
  for (int i = 0; i < 3; i++)
    if (!(order[i] > 1.8 && order[i] < 2.3))
      fail_msg("%s: orders %.2f %.2f %.2f; errors %.1e %.1e %.1e", what, order[0], order[1], order[2],
               fine->place, fine->velocity, fine->force);
}

/* A ball on a turntable. m u' = F and (2/5) m R² ω' = −R e_z × F give with the constraint
 * u − R ω × e_z = Ω e_z × c:  u' = (2/7) Ω e_z × u. So its centre goes around a circle, 2/7 as fast as the
 * table; the force is m u', and the weight. */
static errors turntable(ga_form form, ga_method method, double h)
{
  const double Omega = 3, rate = 2 * Omega / 7, c0[2] = {0.5, 0.2}, u0[2] = {0.4, 0.9}, t = 2;
  shop s = shop_open(form, -G);
  ga_function *turn = shop_function(s.ctx, "3*t");
  ga_rigid_def table = table_of(7), ball = ball_at(c0[0], c0[1], RADIUS);
  ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball", "table");
  errors e = {0, 0, 0};
  ball.velocity[0] = u0[0], ball.velocity[1] = u0[1];
  /* R (ω_y, −ω_x) = u − Ω e_z × c */
  ball.omega[1] = (u0[0] + Omega * c0[1]) / RADIUS;
  ball.omega[0] = -(u0[1] - Omega * c0[0]) / RADIUS;
  table.omega[2] = Omega;
  SHOP_ADD(&s, rigid, &table);
  SHOP_ADD(&s, rigid, &ball);
  join(&s, GA_JOINT_REVOLUTE, &table, 2, 0);
  drive(&s, "guide.angle", turn);
  SHOP_ADD(&s, rolling, &d);
  const ga_state *now = run(&s, method, h, (int)lround(t / h));
  const double c = cos(rate * t), si = sin(rate * t);
  const double u[2] = {c * u0[0] - si * u0[1], si * u0[0] + c * u0[1]};
  /* c' = u: around the centre c0 + e_z × u0 / rate */
  const double x[2] = {c0[0] - u0[1] / rate + u[1] / rate, c0[1] + u0[0] / rate - u[0] / rate};
  const double F[3] = {-BALL * rate * u[1], BALL * rate * u[0], BALL * G};
  const char *const places[2] = {"ball.x", "ball.y"}, *const touch[2] = {"roll.px", "roll.py"};
  const char *const speeds[2] = {"ball.vx", "ball.vy"}, *const forces[3] = {"roll.fx", "roll.fy", "roll.fz"};
  for (int i = 0; i < 2; i++) {
    take(&e.place, shop_signal(&s, now, places[i]), x[i]);
    take(&e.place, shop_signal(&s, now, touch[i]), x[i]);
    take(&e.velocity, shop_signal(&s, now, speeds[i]), u[i]);
  }
  for (int i = 0; i < 3; i++) take(&e.force, shop_signal(&s, now, forces[i]), F[i]);
  take(&e.force, shop_signal(&s, now, "roll.tangential"), hypot(F[0], F[1]));
  take(&e.force, shop_signal(&s, now, "roll.normal"), BALL * G);
  assert_near(shop_signal(&s, now, "roll.pz"), 0, 1e-9, "height of the contact");
  assert_near(shop_signal(&s, now, "ball.z"), RADIUS, 1e-9, "height of the ball");
  ga_machine_destroy(&s.m);
  ga_function_destroy(&turn);
  shop_close(&s);
  return e;
}

static void ball_circles_on_a_turntable(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int method = GA_INDEX3; method <= GA_SOI2; method++) {
      const errors coarse = turntable((ga_form)form, (ga_method)method, 0.02),
                   fine = turntable((ga_form)form, (ga_method)method, 0.01);
      assert_order_2(&coarse, &fine, SHOP_FORM[form]);
    }
}

/* A ball on a table that is free along x and pushed by F: a_ball = 2/7 a_table, and the table feels it,
 * a_table = F/(M + 2/7 m). */
static void ball_stays_behind(void **state)
{
  const double push = 5, M = 7, a = push / (M + 2 * BALL / 7);
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, -G);
    ga_rigid_def table = table_of(M), ball = ball_at(0.5, 0.2, RADIUS);
    ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball", "table");
    ga_force_def f = ga_force_defaults();
    SHOP_ADD(&s, rigid, &table);
    SHOP_ADD(&s, rigid, &ball);
    join(&s, GA_JOINT_PRISMATIC, &table, 1, acos(0.0));
    SHOP_ADD(&s, rolling, &d);
    f.name = "push";
    f.frame = "table";
    f.force[0].value = push;
    SHOP_ADD(&s, force, &f);
    const ga_state *now = shop_start(&s);
    assert_near(shop_signal(&s, now, "table.ax"), a, 1e-10, "table");
    assert_near(shop_signal(&s, now, "ball.ax"), 2 * a / 7, 1e-10, "ball");
    assert_near(shop_signal(&s, now, "ball.az"), 0, 1e-10, "ball upwards");
    assert_near(shop_signal(&s, now, "roll.fx"), BALL * 2 * a / 7, 1e-10, "grip");
    assert_near(shop_signal(&s, now, "roll.tangential"), BALL * 2 * a / 7, 1e-10, "size of the grip");
    assert_near(shop_signal(&s, now, "roll.normal"), BALL * G, 1e-10, "normal");
    shop_close(&s);
  }
}

/* A table that tilts about y by θ = Ω t. With s along it and θ' = Ω
 *   T = m/2 ((s' + RΩ)² + s²Ω²) + I/2 (Ω + s'/R)²,  V = m g (R cos θ − s sin θ)
 *   (7/5) s'' = Ω² s + g sin Ωt
 *   s = s0 cosh κt + B sinh κt + C sin Ωt,  κ² = (5/7) Ω²,  C = −5g/(12Ω²),  κB + ΩC = 0
 * along the table, where m (s'' − sΩ²) − m g sin θ is its grip, and m (−2 s'Ω − RΩ²) + m g cos θ its
 * pressure. */
static errors tilting(ga_form form, double h)
{
  const double Omega = 0.5, s0 = -0.3, t = 1.5, kappa = sqrt(5.0 / 7) * Omega,
               C = -5 * G / (12 * Omega * Omega), B = -Omega * C / kappa;
  shop s = shop_open(form, -G);
  ga_function *turn = shop_function(s.ctx, "0.5*t");
  ga_rigid_def table = table_of(7), ball = ball_at(s0, 0.2, RADIUS);
  ga_rolling_def d = rolling_of(GA_ROLLING_SPHERE, "ball", "top");
  errors e = {0, 0, 0};
  ball.velocity[0] = RADIUS * Omega, ball.velocity[2] = -s0 * Omega;
  ball.omega[1] = table.omega[1] = Omega;
  SHOP_ADD(&s, rigid, &table);
  shop_turned(&s, "top", "table", 0.1, -0.3, 0, 2, 0.6); /* its x and y point anywhere */
  SHOP_ADD(&s, rigid, &ball);
  join(&s, GA_JOINT_REVOLUTE, &table, 0, -acos(0.0)); /* z along y */
  drive(&s, "guide.angle", turn);
  SHOP_ADD(&s, rolling, &d);
  const ga_state *now = run(&s, GA_STABILIZED, h, (int)lround(t / h));
  const double ch = cosh(kappa * t), sh = sinh(kappa * t), c = cos(Omega * t), si = sin(Omega * t);
  const double along = s0 * ch + B * sh + C * si, speed = kappa * (s0 * sh + B * ch) + Omega * C * c,
               acc = kappa * kappa * (s0 * ch + B * sh) - Omega * Omega * C * si;
  const double grip = BALL * (acc - along * Omega * Omega - G * si),
               normal = BALL * (-2 * speed * Omega - RADIUS * Omega * Omega + G * c);
  /* e_x = (c, 0, −s), e_z = (s, 0, c) */
  take(&e.place, shop_signal(&s, now, "ball.x"), along * c + RADIUS * si);
  take(&e.place, shop_signal(&s, now, "ball.z"), -along * si + RADIUS * c);
  take(&e.place, shop_signal(&s, now, "roll.px"), along * c);
  take(&e.place, shop_signal(&s, now, "roll.pz"), -along * si);
  take(&e.velocity, shop_signal(&s, now, "ball.vx"), (speed + RADIUS * Omega) * c - along * Omega * si);
  take(&e.velocity, shop_signal(&s, now, "ball.wy"), Omega + speed / RADIUS);
  take(&e.force, shop_signal(&s, now, "roll.normal"), normal);
  take(&e.force, shop_signal(&s, now, "roll.tangential"), fabs(grip));
  take(&e.force, shop_signal(&s, now, "roll.fx"), grip * c + normal * si);
  take(&e.force, shop_signal(&s, now, "roll.fz"), -grip * si + normal * c);
  assert_near(shop_signal(&s, now, "roll.py"), 0.2, 1e-9, "across");
  ga_machine_destroy(&s.m);
  ga_function_destroy(&turn);
  shop_close(&s);
  return e;
}

static void ball_rolls_on_a_tilting_table(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    const errors coarse = tilting((ga_form)form, 0.02), fine = tilting((ga_form)form, 0.01);
    assert_order_2(&coarse, &fine, SHOP_FORM[form]);
  }
}

/* A disk that wobbles, on a table in uniform motion along (sin 1, 0, cos 1) or on the ground: its place
 * relative to the table, angular velocity, forces. */
enum { N_SEEN = 12 };
static void wobble(ga_form form, int moves, double out[N_SEEN])
{
  static const char *const names[N_SEEN] = {"ball.x",  "ball.y",  "ball.z",  "roll.px", "roll.py", "roll.pz",
                                            "ball.wx", "ball.wy", "ball.wz", "roll.fx", "roll.fy", "roll.fz"};
  const double lean = 0.2, axis[3] = {1, 0, 0}, u[3] = {0.9 * sin(1.0), 0, 0.9 * cos(1.0)}, t = 0.4, h = 1e-3;
  shop s = shop_open(form, -G);
  ga_function *way = shop_function(s.ctx, "0.9*t");
  ga_rigid_def disk = ball_at(0, 0, RADIUS * cos(lean)), table = table_of(7);
  ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "ball", moves ? "table" : "ground");
  disk.inertia[0] = disk.inertia[1] = 0.25 * BALL * RADIUS * RADIUS;
  disk.inertia[2] = 0.5 * BALL * RADIUS * RADIUS;
  assert_int_equal(ga_rotation_axis_angle(s.ctx, axis, acos(0.0) - lean, disk.pose.rotation), GA_OK);
  disk.omega_in_body = 1;
  disk.omega[2] = 9, disk.omega[0] = 0.3;
  disk.velocity[0] = -RADIUS * 9;
  disk.velocity[1] = -RADIUS * 0.3 * cos(lean);
  disk.velocity[2] = RADIUS * 0.3 * sin(lean);
  for (int i = 0; i < 3 && moves; i++) disk.velocity[i] += u[i], table.velocity[i] = u[i];
  SHOP_ADD(&s, rigid, &disk);
  if (moves) {
    SHOP_ADD(&s, rigid, &table);
    join(&s, GA_JOINT_PRISMATIC, &table, 1, 1);
    drive(&s, "guide.displacement", way);
  }
  SHOP_ADD(&s, rolling, &d);
  const ga_state *now = run(&s, GA_STABILIZED, h, (int)lround(t / h));
  for (int i = 0; i < N_SEEN; i++)
    out[i] = shop_signal(&s, now, names[i]) - (moves && i < 6 ? u[i % 3] * t : 0);
  ga_machine_destroy(&s.m);
  ga_function_destroy(&way);
  shop_close(&s);
}

static void uniform_motion_changes_nothing(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    double rest[N_SEEN], moving[N_SEEN];
    /* rotations and positions are updated together in SE(3), so that errors of steps depend on the speed */
    const double near = form == GA_FORM_SE3 ? 2e-4 : 1e-8;
    wobble((ga_form)form, 0, rest);
    wobble((ga_form)form, 1, moving);
    assert_true(fabs(rest[0]) > 0.5);
    for (int i = 0; i < N_SEEN; i++)
      assert_near(moving[i], rest[i], near * fmax(1, fabs(rest[i])), SHOP_FORM[form]);
  }
}

/* A knife edge along x on a turntable, with which its body turns: seen from the table it goes along x with u.
 * Across the blade its acceleration is that of Coriolis, 2 Ω u; along it there is no force, so that in the
 * ground's frame it has no acceleration. */
static void blade_on_a_turntable(void **state)
{
  const double Omega = 1.3, u = 2, c[2] = {0.4, 0}, mass = 2;
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, 0);
    ga_function *turn = shop_function(s.ctx, "1.3*t");
    ga_rigid_def table = table_of(7), sledge = ball_at(c[0], c[1], 0);
    ga_rolling_def d = rolling_of(GA_ROLLING_KNIFE, "ball", "table");
    sledge.mass = mass;
    sledge.velocity[0] = u, sledge.velocity[1] = Omega * c[0];
    sledge.omega[2] = table.omega[2] = Omega;
    SHOP_ADD(&s, rigid, &table);
    SHOP_ADD(&s, rigid, &sledge);
    join(&s, GA_JOINT_REVOLUTE, &table, 2, 0);
    drive(&s, "guide.angle", turn);
    SHOP_ADD(&s, rolling, &d);
    const ga_state *now = shop_start(&s);
    assert_near(shop_signal(&s, now, "ball.ax"), 0, 1e-10, "along the blade");
    assert_near(shop_signal(&s, now, "ball.ay"), 2 * Omega * u, 1e-10, "across");
    assert_near(shop_signal(&s, now, "roll.fy"), 2 * mass * Omega * u, 1e-10, "force");
    assert_near(shop_signal(&s, now, "roll.tangential"), 2 * mass * Omega * u, 1e-10, "force across");
    ga_machine_destroy(&s.m);
    ga_function_destroy(&turn);
    shop_close(&s);
  }
}

/* ---- Action and reaction ---- */

enum { PLACES = 6, SPEEDS = 12, FORCES = 4, MOTION = PLACES + SPEEDS + FORCES };
typedef struct flight {
  double motion[MOTION], momentum[3], spin[3], energy;
} flight;

static void balance(const shop *s, const ga_state *now, const ga_rigid_def *body, flight *f)
{
  static const char *const place[3] = {"x", "y", "z"}, *const speed[6] = {"vx", "vy", "vz", "wx", "wy", "wz"};
  double x[3], w[6], R[9], H[3] = {0, 0, 0}, quat[4];
  static const char *const q[4] = {"qw", "qx", "qy", "qz"};
  char name[32];
  for (int i = 0; i < 3; i++)
    snprintf(name, sizeof name, "%s.%s", body->name, place[i]), x[i] = shop_signal(s, now, name);
  for (int i = 0; i < 6; i++)
    snprintf(name, sizeof name, "%s.%s", body->name, speed[i]), w[i] = shop_signal(s, now, name);
  for (int i = 0; i < 4; i++)
    snprintf(name, sizeof name, "%s.%s", body->name, q[i]), quat[i] = shop_signal(s, now, name);
  const double a = quat[0], b = quat[1], c = quat[2], d = quat[3];
  const double rotation[9] = {
      a * a + b * b - c * c - d * d, 2 * (b * c - a * d),           2 * (b * d + a * c),
      2 * (b * c + a * d),           a * a - b * b + c * c - d * d, 2 * (c * d - a * b),
      2 * (b * d - a * c),           2 * (c * d + a * b),           a * a - b * b - c * c + d * d};
  memcpy(R, rotation, sizeof R);
  for (int k = 0; k < 3; k++) { /* H = R J Rᵀ ω */
    double local = 0;
    for (int i = 0; i < 3; i++) local += R[3 * i + k] * w[3 + i];
    for (int i = 0; i < 3; i++) H[i] += R[3 * i + k] * body->inertia[k] * local;
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    f->momentum[i] += body->mass * w[i];
    f->spin[i] += H[i] + body->mass * (x[j] * w[k] - x[k] * w[j]);
  }
}

/* A ball or disk rolls on a table, both free in space; the contact holds them together. */
static flight fly(ga_form form, ga_rolling_kind kind, double h, double t)
{
  static const char *const names[MOTION] = {
      "ball.x",   "ball.y",   "ball.z",  "table.x", "table.y",  "table.z",    "ball.vx",  "ball.vy",
      "ball.vz",  "ball.wx",  "ball.wy", "ball.wz", "table.vx", "table.vy",   "table.vz", "table.wx",
      "table.wy", "table.wz", "roll.fx", "roll.fy", "roll.fz",  "roll.normal"};
  const double lean = kind == GA_ROLLING_DISK ? 0.3 : 0, axis[3] = {1, 0, 0};
  shop s = shop_open(form, 0);
  flight f = {{0}, {0}, {0}, 0};
  ga_rigid_def table = table_of(7), ball = ball_at(0.3, 0.1, RADIUS * cos(lean));
  ga_rolling_def d = rolling_of(kind, "ball", "table");
  ball.inertia[0] *= 1.2;
  if (kind == GA_ROLLING_DISK)
    assert_int_equal(ga_rotation_axis_angle(s.ctx, axis, acos(0.0) - lean, ball.pose.rotation), GA_OK);
  const double o[3] = {0.6, -1.5, 0.4}, O[3] = {0.3, 0.5, -0.8}, u[3] = {0.2, -0.1, 0.15};
  /* P = C − R d, d = (0, sin, cos) of the lean; there both have the velocity u + Ω × P */
  const double arm[3] = {0, RADIUS * sin(lean), RADIUS * cos(lean)};
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double *C = ball.pose.position;
    table.omega[i] = O[i], table.velocity[i] = u[i], ball.omega[i] = o[i];
    ball.velocity[i] = u[i] + O[j] * (C[k] - arm[k]) - O[k] * (C[j] - arm[j]) + o[j] * arm[k] - o[k] * arm[j];
  }
  SHOP_ADD(&s, rigid, &table);
  SHOP_ADD(&s, rigid, &ball);
  SHOP_ADD(&s, rolling, &d);
  const ga_state *now = run(&s, GA_STABILIZED, h, (int)lround(t / h));
  for (int i = 0; i < MOTION; i++) f.motion[i] = shop_signal(&s, now, names[i]);
  balance(&s, now, &table, &f);
  balance(&s, now, &ball, &f);
  f.energy = shop_signal(&s, now, "energy.kinetic");
  shop_close(&s);
  return f;
}

static errors between(const flight *a, const flight *b)
{
  errors e = {0, 0, 0};
  for (int i = 0; i < MOTION; i++)
    take(i < PLACES ? &e.place : i < PLACES + SPEEDS ? &e.velocity : &e.force, a->motion[i], b->motion[i]);
  return e;
}

static void free_table_feels_the_reaction(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int kind = 0; kind < 2; kind++) {
      const flight start = fly((ga_form)form, (ga_rolling_kind)kind, 0.005, 0),
                   coarse = fly((ga_form)form, (ga_rolling_kind)kind, 0.02, 0.8),
                   middle = fly((ga_form)form, (ga_rolling_kind)kind, 0.01, 0.8),
                   fine = fly((ga_form)form, (ga_rolling_kind)kind, 0.005, 0.8);
      const errors first = between(&coarse, &middle), second = between(&middle, &fine);
      assert_order_2(&first, &second, SHOP_FORM[form]);
      const double drift[2] = {fabs(middle.energy - start.energy), fabs(fine.energy - start.energy)};
      assert_true(drift[1] < 1e-4 * start.energy && drift[1] < 0.3 * drift[0]);
      for (int i = 0; i < 3; i++) {
        /* in SE(3) momentum is a matter of the steps' errors as well */
        const double near = form == GA_FORM_SE3 ? 1e-3 : 1e-10;
        assert_near(fine.momentum[i], start.momentum[i], near, "momentum");
        assert_near(fine.spin[i], start.spin[i], 1e-3, "angular momentum");
        assert_true(fabs(fine.spin[i] - start.spin[i]) < 0.3 * fabs(middle.spin[i] - start.spin[i]) + 1e-9);
      }
    }
}

/* ---- What is refused ---- */

static void refuse(const ga_rolling_def *d, const char *says)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def flat = table_of(1);
  SHOP_ADD(&s, rigid, &flat);
  shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
  shop_planar(&s, "sledge", 1, 0);
  shop_point(&s, "bob", 0, 0, 1);
  shop_scalar(&s, "shaft", 0, 0);
  shop_turned(&s, "side", "wheel", 0.1, 0, 0, 0, 0.3);
  shop_turned(&s, "rim", "table", 0, 0, 0.4, 2, 0.3);
  shop_turned(&s, "upright", "table", 0, 0, 0, 0, acos(0.0));
  SHOP_ADD(&s, rolling, d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "roll");
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void mistakes_are_named(void **state)
{
  (void)state;
  ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "wheel", "side");
  refuse(&d, "'wheel' and 'side' are on the same body");
  d = rolling_of(GA_ROLLING_KNIFE, "rim", "upright");
  refuse(&d, "'rim' and 'upright' are on the same body");
  d = rolling_of(GA_ROLLING_SPHERE, "wheel", "bob");
  refuse(&d, "plane 'bob' belongs to a mass point, which has no axes");
  d = rolling_of(GA_ROLLING_SPHERE, "wheel", "shaft");
  refuse(&d, "'shaft'");
  d = rolling_of(GA_ROLLING_SPHERE, "bob", "table");
  refuse(&d, "only rigid bodies roll");
  d = rolling_of(GA_ROLLING_SPHERE, "ground", "table");
  refuse(&d, "only rigid bodies roll");
  d = rolling_of(GA_ROLLING_DISK, "wheel", "tabel");
  refuse(&d, "'tabel'");
  d = rolling_of(GA_ROLLING_DISK, "rim", "sledge"); /* both have z upwards */
  refuse(&d, "the disk lies flat");
  d = rolling_of(GA_ROLLING_KNIFE, "upright", "sledge");
  refuse(&d, "normal to the plane");
}

static shop on_table(void)
{
  shop s = shop_open(GA_FORM_SE3, 0);
  ga_rolling_def d = rolling_of(GA_ROLLING_DISK, "wheel", "table");
  shop_rigid(&s, "table", -0.5, 0.1, 0);
  shop_rigid(&s, "wheel", 0.5, 0.2, 0.4);
  SHOP_ADD(&s, rolling, &d);
  return s;
}

static void memory_runs_out(void **state)
{
  (void)state;
  shop_fail_memory(on_table);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_exact),
      cmocka_unit_test(beams_carry_planes),
      cmocka_unit_test(points_in_touch_move_alike),
      cmocka_unit_test(ball_circles_on_a_turntable),
      cmocka_unit_test(ball_stays_behind),
      cmocka_unit_test(ball_rolls_on_a_tilting_table),
      cmocka_unit_test(uniform_motion_changes_nothing),
      cmocka_unit_test(blade_on_a_turntable),
      cmocka_unit_test(free_table_feels_the_reaction),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
