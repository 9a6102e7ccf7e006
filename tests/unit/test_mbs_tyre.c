/* Tyres and roads: derivatives, slip curves, contact and its loss, standstill, energies, moving roads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/tyre_law.h"
#include "mbs_shop.h"

/* Coefficients of no particular tyre, none of them zero. */
static void set_magic(ga_tyre_def *d)
{
  d->nominal_load = 4000;
  d->pcx1 = 1.6, d->pdx1 = 1.1, d->pdx2 = -0.06, d->pdx3 = 0.4, d->pex1 = 0.2, d->pex2 = 0.1, d->pex3 = -0.05;
  d->pex4 = 0.02, d->pkx1 = 20, d->pkx2 = -1, d->pkx3 = 0.2, d->phx1 = 2e-3, d->phx2 = 1e-3, d->pvx1 = 4e-3;
  d->pvx2 = 2e-3, d->rbx1 = 11, d->rbx2 = -9, d->rcx1 = 1.1, d->rex1 = -0.3, d->rex2 = 0.1, d->rhx1 = 5e-3;
  d->pcy1 = 1.3, d->pdy1 = 0.95, d->pdy2 = -0.12, d->pdy3 = 1.2, d->pey1 = -0.9, d->pey2 = -0.3,
  d->pey3 = 0.1;
  d->pey4 = -1.5, d->pky1 = -17, d->pky2 = 1.7, d->pky3 = 0.3, d->phy1 = 3e-3, d->phy2 = -1e-3,
  d->phy3 = 0.04;
  d->pvy1 = 0.02, d->pvy2 = -0.01, d->pvy3 = -0.3, d->pvy4 = -0.2, d->rby1 = 8, d->rby2 = 7, d->rby3 = -0.02;
  d->rcy1 = 1.05, d->rey1 = 0.3, d->rey2 = 0.1, d->rhy1 = 6e-3, d->rhy2 = 2e-3, d->rvy1 = 0.05,
  d->rvy2 = 0.02;
  d->rvy3 = -0.3, d->rvy4 = 12, d->rvy5 = 1.9, d->rvy6 = -11, d->lmux = 0.95, d->lmuy = 1.05, d->lkx = 1.1;
  d->lky = 0.9;
}

static ga_tyre_def tyre_of(ga_tyre_kind kind, const char *wheel)
{
  ga_tyre_def d = ga_tyre_defaults();
  d.name = "tyre", d.kind = kind, d.wheel = wheel, d.road = "road";
  d.radius = 0.32, d.stiffness = 2.2e5, d.damping = 600;
  d.mu = 0.9, d.slip_stiffness = 18, d.cornering_stiffness = 14;
  if (kind == GA_TYRE_MAGIC) set_magic(&d);
  return d;
}

static void add_road(shop *s, const char *frame, const char *height, const char *friction)
{
  ga_road_def d = ga_road_defaults();
  d.name = "road", d.frame = frame, d.height = height, d.friction = friction;
  SHOP_ADD(s, road, &d);
}

/* A wheel of 20 kg with its axis along y, rolling along x at speed v. */
static void add_wheel(shop *s, double z, double v, double omega)
{
  ga_rigid_def d = ga_rigid_defaults();
  d.name = "wheel", d.mass = 20;
  d.inertia[0] = d.inertia[2] = 0.6, d.inertia[1] = 1.05;
  d.pose = ga_pose_at(0, 0, z);
  d.velocity[0] = v, d.omega[1] = omega;
  SHOP_ADD(s, rigid, &d);
}

/* ---- Derivatives ---- */

typedef struct road_case {
  const char *frame, *height, *friction;
} road_case;

/* All laws, in all forms, on all kinds of roads; forces are some newtons, as all other numbers here. */
static void derivatives_are_right(void **state)
{
  static const road_case ROAD[] = {{"tilted", NULL, NULL},
                                   {"tilted", "0.1*sin(2*x + y) + 0.02*t^2", "1 + 0.3*cos(x - y)"},
                                   {"table", NULL, NULL},
                                   {"table", "0.05*x*y + 0.03*sin(t + y)", "1/(1 + x^2)"},
                                   {"flat", "0.1*x^2", NULL}};
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int kind = 0; kind < 3; kind++)
      for (int r = 0; r < 5; r += rig_brief() ? 3 : 1) {
        rig_random random = rig_seed(100 * form + 10 * kind + r);
        shop s = shop_open((ga_form)form, -9.81);
        shop_rigid(&s, "body", 0.1, 0.2, 0.5);
        shop_rigid(&s, "base", 0.3, -0.2, -0.2);
        shop_planar(&s, "flat", 0.2, 0.1);
        shop_turned(&s, "tilted", "ground", 0, 0, 0.02, 0, 0.2);
        shop_turned(&s, "table", "base", 0, 0, 0.2, 1, 0.3);
        shop_turned(&s, "hub", "body", 0.05, -0.1, 0.04, 0, -0.4);
        add_road(&s, ROAD[r].frame, ROAD[r].height, ROAD[r].friction);
        ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "hub");
        d.axis = kind == 1 ? GA_TYRE_AXIS_Z : GA_TYRE_AXIS_Y;
        d.radius = 0.7, d.stiffness = 30, d.damping = 2, d.damping_depth = 0.3, d.speed = 0.8, d.preload = 3;
        d.slip_stiffness = 2, d.cornering_stiffness = 1.5, d.camber_stiffness = 0.4, d.nominal_load = 10;
        d.carcass = r == 3 ? 0 : 0.15;
        d.relaxation[0] = r % 2 ? 0.3 : 0, d.relaxation[1] = r == 2 || r == 3 ? 0.5 : 0;
        SHOP_ADD(&s, tyre, &d);
        ga_actuator_def feedback = ga_actuator_defaults(); /* signals that act: their derivatives too */
        feedback.name = "feedback", feedback.a = "hub", feedback.b = "table";
        feedback.force.expression =
            "0.1*tyre.fx + 0.2*tyre.fy*tyre.slip + 0.1*tyre.fz + tyre.camber + tyre.slip_angle"
            " + 0.5*tyre.x*tyre.z + tyre.penetration + tyre.lagged_slip_x*tyre.lagged_slip_y";
        SHOP_ADD(&s, actuator, &feedback);
        shop_build(&s);
        char what[64];
        snprintf(what, sizeof what, "form %d, law %d, road %d", form, kind, r);
        shop_check(&s, &random, rig_brief() ? 1 : 2, 0.08, 2e-6, what);
        shop_close(&s);
      }
}

/* ---- Slip curves ---- */

/* The laws once more, in plain numbers, as they are written in the header and in the book. */
static double magic_curve(double B, double C, double E, double x)
{
  const double bend = fmin(E, 1);
  return C * atan(B * x - bend * (B * x - atan(B * x)));
}

static void plain_magic(const ga_tyre_def *d, double k, double a, double g, double Fz, double road,
                        double F[2])
{
  const double df = (Fz - d->nominal_load) / d->nominal_load, mux = d->lmux * road, muy = d->lmuy * road;
  const double kx = k + d->phx1 + d->phx2 * df,
               Dx = (d->pdx1 + d->pdx2 * df) * (1 - d->pdx3 * g * g) * mux * Fz;
  const double Ex = (d->pex1 + d->pex2 * df + d->pex3 * df * df) * (1 - d->pex4 * (kx > 0 ? 1 : -1));
  const double Kx = Fz * (d->pkx1 + d->pkx2 * df) * exp(d->pkx3 * df) * d->lkx, Bx = Kx / (d->pcx1 * Dx);
  const double Fx0 = Dx * sin(magic_curve(Bx, d->pcx1, Ex, kx)) + Fz * (d->pvx1 + d->pvx2 * df) * mux;
  const double Bxa = d->rbx1 * cos(atan(d->rbx2 * k)), Exa = d->rex1 + d->rex2 * df;
  F[0] =
      Fx0 * cos(magic_curve(Bxa, d->rcx1, Exa, a + d->rhx1)) / cos(magic_curve(Bxa, d->rcx1, Exa, d->rhx1));
  const double ay = a + d->phy1 + d->phy2 * df + d->phy3 * g, lean = sqrt(g * g + 1e-6) - 1e-3;
  const double muy0 = (d->pdy1 + d->pdy2 * df) * (1 - d->pdy3 * g * g) * muy, Dy = muy0 * Fz;
  const double Ey = (d->pey1 + d->pey2 * df) * (1 - (d->pey3 + d->pey4 * g) * (ay > 0 ? 1 : -1));
  const double Ky = d->pky1 * d->nominal_load * sin(2 * atan(Fz / (d->pky2 * d->nominal_load))) *
                    (1 - d->pky3 * lean) * d->lky;
  const double SVy = Fz * (d->pvy1 + d->pvy2 * df + (d->pvy3 + d->pvy4 * df) * g) * muy;
  const double Fy0 = Dy * sin(magic_curve(Ky / (d->pcy1 * Dy), d->pcy1, Ey, ay)) + SVy;
  const double Byk = d->rby1 * cos(atan(d->rby2 * (a - d->rby3))), Eyk = d->rey1 + d->rey2 * df;
  const double shift = d->rhy1 + d->rhy2 * df;
  const double lift = muy0 * Fz * (d->rvy1 + d->rvy2 * df + d->rvy3 * g) * cos(atan(d->rvy4 * a)) *
                      sin(d->rvy5 * atan(d->rvy6 * k));
  F[1] = Fy0 * cos(magic_curve(Byk, d->rcy1, Eyk, k + shift)) / cos(magic_curve(Byk, d->rcy1, Eyk, shift)) +
         lift;
}

static void plain_law(const ga_tyre_def *d, double k, double l, double g, double Fz, double road, double F[2])
{
  if (d->kind == GA_TYRE_MAGIC) {
    plain_magic(d, k, -atan(l), g, Fz, road, F);
    return;
  }
  const double f[2] = {Fz * d->slip_stiffness * k,
                       Fz * (d->cornering_stiffness * l - d->camber_stiffness * g)};
  const double size = hypot(f[0], f[1]), most = road * d->mu * Fz, s = size / (3 * most);
  const double force = d->kind == GA_TYRE_TANH ? most * tanh(size / most)
                       : s < 1                 ? most * (3 * s - 3 * s * s + s * s * s)
                                               : most;
  for (int i = 0; i < 2; i++) F[i] = size > 0 ? force * f[i] / size : 0;
}

/* A wheel that moves and turns in every way, against the laws at slips that are computed here. */
static void slip_curves_follow_the_laws(void **state)
{
  static const double SIDE[] = {0, 0.05, -1, 4}, SPIN[] = {0, 30, 32, -5}, SPEED[] = {10, 0, -7};
  double most = 0;
  (void)state;
  for (int k = 0; k < 3 * 4 * 4 * 3; k += rig_brief() ? 11 : 1) {
    const ga_tyre_kind kind = (ga_tyre_kind)(k % 3);
    const double vy = SIDE[k / 3 % 4], omega = SPIN[k / 12 % 4], vx = SPEED[k / 48];
    const double lean = 0.1 * (k / 3 % 3 - 1), rho = 0.3, z = rho * cos(lean);
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
    w.pose = ga_pose_at(0, 0, z);
    assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){1, 0, 0}, lean, w.pose.rotation), GA_OK);
    w.velocity[0] = vx, w.velocity[1] = vy;
    w.omega[1] = omega, w.omega_in_body = 1;
    SHOP_ADD(&s, rigid, &w);
    add_road(&s, "ground", NULL, "0.8");
    ga_tyre_def d = tyre_of(kind, "wheel");
    d.camber_stiffness = 1;
    if (k % 2) d.pex1 = 1.4, d.pey1 = 1.3; /* as far from the nominal load: forces keep their sign */
    SHOP_ADD(&s, tyre, &d);
    const ga_state *at = shop_start(&s);
    const double V = sqrt(vx * vx + 0.01), kappa = -(vx - omega * rho) / V, lambda = -vy / V,
                 Fz = 2.2e5 * 0.02;
    double F[2];
    plain_law(&d, kappa, lambda, lean, Fz, 0.8, F);
    assert_near(shop_signal(&s, at, "tyre.fz"), Fz, 1e-6, "load");
    assert_near(shop_signal(&s, at, "tyre.slip"), kappa, 1e-12 * (1 + fabs(kappa)), "slip");
    assert_near(shop_signal(&s, at, "tyre.slip_angle"), -atan(lambda), 1e-12, "slip angle");
    assert_near(shop_signal(&s, at, "tyre.camber"), lean, 1e-12, "camber");
    assert_near(shop_signal(&s, at, "tyre.penetration"), 0.02, 1e-12, "penetration");
    assert_near(shop_signal(&s, at, "tyre.y"), rho * sin(lean), 1e-12, "contact");
    assert_near(shop_signal(&s, at, "tyre.z"), 0, 1e-12, "contact");
    assert_near(shop_signal(&s, at, "tyre.fx"), F[0], 1e-8 * Fz, "force along");
    assert_near(shop_signal(&s, at, "tyre.fy"), F[1], 1e-8 * Fz, "force across");
    most = fmax(most, hypot(F[0], F[1]));
    shop_close(&s);
  }
  assert_true(most > 0.5 * 2.2e5 * 0.02);
}

/* With a carcass the contact is below the centre of its section: (R − a) d + a e from the wheel's. */
static void carcass_moves_the_contact(void **state)
{
  const double lean = 0.3, a = 0.1, rho = 0.3;
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_rigid_def w = ga_rigid_defaults();
  w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
  w.pose = ga_pose_at(0, 0, (rho - a) * cos(lean) + a);
  assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){1, 0, 0}, lean, w.pose.rotation), GA_OK);
  SHOP_ADD(&s, rigid, &w);
  add_road(&s, "ground", NULL, NULL);
  ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
  d.carcass = a;
  SHOP_ADD(&s, tyre, &d);
  const ga_state *at = shop_start(&s);
  assert_near(shop_signal(&s, at, "tyre.y"), (rho - a) * sin(lean), 1e-12, "contact");
  assert_near(shop_signal(&s, at, "tyre.penetration"), 0.02, 1e-12, "penetration");
  shop_close(&s);
}

/* On a curved road the contact is on the surface, in the wheel's plane, to the accuracy of three iterations.
 */
static void contact_is_on_the_surface(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_wheel(&s, 0.36, 0, 0);
  add_road(&s, "ground", "0.05*sin(2*x + 0.7) + 0.02*y", NULL);
  const ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
  SHOP_ADD(&s, tyre, &d);
  const ga_state *at = shop_start(&s);
  const double x = shop_signal(&s, at, "tyre.x"), y = shop_signal(&s, at, "tyre.y"),
               z = shop_signal(&s, at, "tyre.z");
  const double slope = 0.1 * cos(2 * x + 0.7);
  assert_near(z, 0.05 * sin(2 * x + 0.7) + 0.02 * y, 1e-6, "on the surface");
  assert_near(x, slope * (0.36 - z), 1e-4, "below the centre, along the normal");
  assert_true(fabs(x) > 0.01);
  assert_near(y, 0, 1e-12, "in the plane of the wheel");
  shop_close(&s);
}

/* ---- Bumps that are narrower than the wheel ---- */

/* A wheel of 0.32 m at x, leaning and turned, over a bump whose radius of curvature is 0.13 m. */
static shop on_ridge(double x, double y, double lean, double turn)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  double angle[3] = {lean, 0, turn};
  ga_rigid_def w = ga_rigid_defaults();
  w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
  w.pose = ga_pose_at(x, y, 0.33);
  assert_int_equal(ga_rotation_euler(s.ctx, "zxy", (double[3]){angle[2], angle[0], 0}, w.pose.rotation),
                   GA_OK);
  w.velocity[0] = 3, w.omega[1] = 9;
  SHOP_ADD(&s, rigid, &w);
  add_road(&s, "ground", "0.03*exp(-((x - 0.2*y)/0.09)^2) + 0.01*sin(y)", NULL);
  const ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
  SHOP_ADD(&s, tyre, &d);
  return s;
}

static double ridge_height(double x, double y)
{
  const double u = (x - 0.2 * y) / 0.09;
  return 0.03 * exp(-u * u) + 0.01 * sin(y);
}

/* P is on the surface, in the wheel's plane, and the normal there points to the centre, as seen in that
 * plane; an upright wheel is nowhere nearer to the road. */
static void contact_on_ridges(void **state)
{
  (void)state;
  for (int k = 0; k < 27 * 3; k++) {
    const double x = 0.01 * (k % 27 - 13), lean = k / 27 == 1 ? 0.2 : 0, turn = k / 27 == 2 ? 0.4 : 0;
    shop s = on_ridge(x, 0, lean, turn);
    const ga_state *at = shop_start(&s);
    const double P[3] = {shop_signal(&s, at, "tyre.x"), shop_signal(&s, at, "tyre.y"),
                         shop_signal(&s, at, "tyre.z")};
    const double to[3] = {P[0] - x, P[1], P[2] - 0.33};
    const double axis[3] = {-sin(turn) * cos(lean), cos(turn) * cos(lean), sin(lean)};
    const double hx = (ridge_height(P[0] + 1e-6, P[1]) - ridge_height(P[0] - 1e-6, P[1])) / 2e-6,
                 hy = (ridge_height(P[0], P[1] + 1e-6) - ridge_height(P[0], P[1] - 1e-6)) / 2e-6;
    const double normal[3] = {-hx, -hy, 1}; /* n · (normal × to) = 0: both have the same direction there */
    double across = 0, triple = 0;
    for (int i = 0; i < 3; i++) {
      const int p = (i + 1) % 3, q = (i + 2) % 3;
      across += axis[i] * to[i];
      triple += axis[i] * (normal[p] * to[q] - normal[q] * to[p]);
    }
    assert_near(P[2], ridge_height(P[0], P[1]), 1e-12, "on the surface");
    assert_near(across, 0, 1e-12, "in the plane of the wheel");
    assert_near(triple, 0, 1e-9, "along the normal");
    const double own = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2]);
    assert_near(shop_signal(&s, at, "tyre.penetration"), 0.32 - own, 1e-12, "penetration");
    for (int i = -300; i <= 300 && lean == 0; i++) {
      const double px = x + 1e-3 * i * cos(turn), py = 1e-3 * i * sin(turn);
      assert_true(hypot(1e-3 * i, ridge_height(px, py) - 0.33) >= own - 1e-12);
    }
    shop_close(&s);
  }
}

static void derivatives_on_ridges(void **state)
{
  rig_random random = rig_seed(11);
  (void)state;
  for (int k = 0; k < 4; k++) {
    shop s = on_ridge(0.03 * k - 0.05, 0.1, 0.1 * k - 0.2, 0.3);
    shop_build(&s);
    shop_check(&s, &random, 6, 0.01, 1e-6, "on a ridge");
    shop_close(&s);
  }
}

/* What the meter says at the start of a wheel at x over a road. */
static void doubt_at(double x, double z, const char *height, char *text, size_t size)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_meter *meter = NULL, *other = NULL;
  double saved[64];
  char again[512];
  ga_rigid_def w = ga_rigid_defaults();
  w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
  w.pose = ga_pose_at(x, 0, z);
  SHOP_ADD(&s, rigid, &w);
  add_road(&s, "ground", height, NULL);
  const ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
  SHOP_ADD(&s, tyre, &d);
  const ga_state *at = shop_start(&s);
  assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
  assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &other), GA_OK);
  assert_status(s.ctx, ga_meter_start(meter, at), GA_OK);
  ga_meter_pull_text(meter, text, size);
  assert_true(ga_meter_saved_size(meter) <= 64);
  ga_meter_save(meter, saved);
  assert_status(s.ctx, ga_meter_load(other, saved), GA_OK);
  ga_meter_pull_text(other, again, sizeof again);
  assert_string_equal(again, text); /* a resumed run reports the same */
  ga_meter_destroy(&meter);
  ga_meter_destroy(&other);
  shop_close(&s);
}

/* A kerb in front of the wheel, a hollow that it does not reach the bottom of, a corner; and smooth roads. */
static void several_contacts_are_reported(void **state)
{
  static const struct {
    double x, z;
    const char *height;
    int doubtful;
  } CASE[] = {{0, 0.31, "0.1*step5(x, 0.2, 0, 0.24, 1)", 1},
              {0, 0.29, "-0.05*exp(-(x/0.05)^2)", 1},
              {0.01, 0.29, "-0.05*exp(-(x/0.05)^2)", 1},
              {0.01, 0.31, "-0.2*abs(x)", 1},
              {0, 0.31, "0.1*step5(x, 0.5, 0, 0.54, 1)", 0},
              {0, 0.33, "0.03*exp(-(x/0.1)^2)", 0},
              {0.05, 0.33, "0.03*exp(-(x/0.1)^2)", 0},
              {0, 0.28, "-0.03*exp(-(x/0.2)^2)", 0},
              {0, 0.31, "0.05*sin(x)", 0}};
  (void)state;
  for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
    char text[512];
    doubt_at(CASE[k].x, CASE[k].z, CASE[k].height, text, sizeof text);
    if ((strstr(text, "tyre 'tyre' has no single point of contact with road 'road', at t = 0 s") != NULL) !=
        CASE[k].doubtful)
      fail_msg("%s at x = %g: %s", CASE[k].height, CASE[k].x, text);
  }
  /* follows: "make heights smooth over the wheel's radius" */
  char text[512];
  doubt_at(0, 0.31, "0.1*step5(x, 0.1, 0, 0.8, 1)", text, sizeof text);
  assert_string_equal(text, "");
}

/* ---- Motion ---- */

/* A wheel on a vertical plane: x, z, spin, and the lagged slip. Classical Runge-Kutta. */
typedef struct rolling_ref {
  const ga_tyre_def *d;
  double m, J;
} rolling_ref;

static void rolling_slopes(const rolling_ref *r, const double *u, double *out)
{
  const ga_tyre_def *d = r->d;
  const double vx = u[3], vz = u[4], w = u[5], x = u[6], depth = d->radius - u[1];
  const double Fz = depth > 0 ? fmax(0, d->stiffness * depth - d->damping * vz) : 0, vs = vx - w * u[1];
  const double V = sqrt(vx * vx + d->speed * d->speed);
  double F[2];
  plain_law(d, x, 0, 0, fmax(Fz, 1e-9), 1, F);
  out[0] = vx, out[1] = vz, out[2] = w;
  out[3] = F[0] / r->m, out[4] = Fz / r->m - 9.81, out[5] = -F[0] * u[1] / r->J;
  out[6] = sqrt(V * V + vs * vs) / d->relaxation[0] * (-vs / V - x);
}

static void rolling_reference(const rolling_ref *r, double t, double *u)
{
  enum { N = 40000 };
  const double h = t / N;
  for (int i = 0; i < N; i++) {
    double k[4][7], at[7];
    for (int j = 0; j < 4; j++) {
      for (int c = 0; c < 7; c++) at[c] = u[c] + (j == 0 ? 0 : j == 3 ? h : 0.5 * h) * (j ? k[j - 1][c] : 0);
      rolling_slopes(r, at, k[j]);
    }
    for (int c = 0; c < 7; c++) u[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
  }
}

/* A spinning wheel that is set down and picks up speed: order 2 in positions, velocities, accelerations,
 * slip. */
static void motion_is_of_order_two(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int form = 0; form < (rig_brief() ? 1 : 3); form++) {
      double error[2][5];
      ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "wheel");
      d.relaxation[0] = 0.3, d.stiffness = 2e4, d.damping_depth = 1e-6, d.speed = 0.5;
      const rolling_ref r = {&d, 20, 1.05};
      const double T = 0.2;
      double ref[7] = {0, 0.3, 0, 2, 0, 20, 0}, slope[7];
      rolling_reference(&r, T, ref);
      rolling_slopes(&r, ref, slope);
      for (int level = 0; level < 2; level++) {
        const int n = 200 << level;
        shop s = shop_open((ga_form)form, -9.81);
        add_wheel(&s, 0.3, 2, 20);
        add_road(&s, "ground", NULL, NULL);
        SHOP_ADD(&s, tyre, &d);
        shop_start(&s);
        for (int i = 0; i < n; i++) assert_status(s.ctx, ga_stepper_step(s.st, T / n), GA_OK);
        const ga_state *at = ga_stepper_state(s.st);
        error[level][0] = shop_signal(&s, at, "wheel.z") - ref[1];
        error[level][1] = shop_signal(&s, at, "wheel.vx") - ref[3];
        error[level][2] = shop_signal(&s, at, "wheel.wy") - ref[5];
        error[level][3] = shop_signal(&s, at, "tyre.lagged_slip_x") - ref[6];
        error[level][4] = shop_signal(&s, at, "wheel.az") - slope[4];
        shop_close(&s);
      }
      for (int i = 0; i < 5; i++) assert_near(log2(fabs(error[0][i] / error[1][i])), 2, 0.15, "order");
    }
}

/* A wheel whose axis is turned by ε on an arm that turns steadily about a vertical axis: it runs free, its
 * slip angle is ε, and the drive of the arm has to overcome the side force: torque = r F_y sin ε. */
static void steady_circle(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    const double r = 3, rate = 2, toe = 0.03, Fz = 2.2e5 * 0.02, V = sqrt(pow(r * rate * cos(toe), 2) + 0.01);
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_function *turn = shop_function(s.ctx, "2*t");
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "arm", w.mass = 5, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
    w.pose = ga_pose_at(0, 0, 0.3), w.omega[2] = rate;
    SHOP_ADD(&s, rigid, &w);
    w.name = "wheel", w.pose = ga_pose_at(0, -r, 0.3), w.velocity[0] = r * rate;
    assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){0, 0, 1}, toe, w.pose.rotation), GA_OK);
    w.omega[0] = -sin(toe) * 19, w.omega[1] = cos(toe) * 19;
    SHOP_ADD(&s, rigid, &w);
    ga_joint_def j = ga_joint_defaults();
    j.name = "pivot", j.kind = GA_JOINT_REVOLUTE, j.a = "ground", j.b = "arm", j.at_pose = 1;
    j.at = ga_pose_at(0, 0, 0.3);
    SHOP_ADD(&s, joint, &j);
    j.name = "hub", j.a = "arm", j.b = "wheel", j.at = w.pose;
    assert_int_equal(ga_rotation_z_axis(s.ctx, (double[3]){-sin(toe), cos(toe), 0}, NULL, j.at.rotation),
                     GA_OK);
    SHOP_ADD(&s, joint, &j);
    ga_drive_def drive = ga_drive_defaults();
    drive.name = "drive", drive.coordinate = "pivot.angle", drive.function = turn;
    SHOP_ADD(&s, drive, &drive);
    add_road(&s, "ground", NULL, NULL);
    ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "wheel");
    if (kind == GA_TYRE_MAGIC) d.rvy1 = d.rvy2 = d.rvy3 = 0;
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    for (int i = 0; i < 1500; i++) assert_status(s.ctx, ga_stepper_step(s.st, 2e-3), GA_OK);
    const ga_state *at = ga_stepper_state(s.st);
    const double Fx = shop_signal(&s, at, "tyre.fx"), lambda = r * rate * sin(toe) / V;
    double F[2];
    plain_law(&d, shop_signal(&s, at, "tyre.slip"), lambda, 0, Fz, 1, F);
    assert_near(Fx, 0, 1e-3, "it runs free");
    assert_near(shop_signal(&s, at, "tyre.slip_angle"), -atan(lambda), 1e-6, "slip angle");
    assert_near(shop_signal(&s, at, "tyre.fy"), F[1], 1e-2, "side force");
    assert_near(shop_signal(&s, at, "drive.force"), r * F[1] * sin(toe), 0.1, "torque of the drive");
    assert_true(fabs(F[1]) > 0.3 * Fz);
    ga_stepper_destroy(&s.st);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&turn);
    shop_close(&s);
  }
}

/* A body on a rail along x, whose wheel does not turn: the load is constant. */
static void add_sled(shop *s, double v, double slope)
{
  ga_rigid_def w = ga_rigid_defaults();
  w.name = "sled", w.mass = 400, w.inertia[0] = w.inertia[1] = w.inertia[2] = 10;
  w.pose = ga_pose_at(0, 0, 0.3), w.velocity[0] = v;
  SHOP_ADD(s, rigid, &w);
  ga_joint_def j = ga_joint_defaults();
  j.name = "rail", j.kind = GA_JOINT_PRISMATIC, j.a = "ground", j.b = "sled", j.at_pose = 1, j.at = w.pose;
  assert_int_equal(ga_rotation_z_axis(s->ctx, (double[3]){1, 0, 0}, NULL, j.at.rotation), GA_OK);
  SHOP_ADD(s, joint, &j);
  ga_force_def f = ga_force_defaults();
  f.name = "downhill", f.frame = "sled", f.force[0].value = slope;
  SHOP_ADD(s, force, &f);
}

/* A locked wheel slides with μ F_z until it stops; then it stays, pushed by a small force, but for creeping:
 * as a damper at V₀ F/(C F_z), with relaxation first as a spring. */
static void braking_to_standstill(void **state)
{
  (void)state;
  for (int lag = 0; lag < 2; lag++) {
    const double Fz = 2.2e5 * 0.02, push = 200, slide = (0.9 * Fz - push) / 400,
                 creep = 0.1 * push / (18 * Fz);
    shop s = shop_open(GA_FORM_SPACE, 0);
    add_sled(&s, 10, push);
    add_road(&s, "ground", NULL, NULL);
    ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "sled");
    d.relaxation[0] = lag ? 0.1 : 0;
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    for (int i = 0; i < 500; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    assert_near(shop_signal(&s, ga_stepper_state(s.st), "sled.vx"), 10 - 0.5 * slide, lag ? 0.05 : 1e-6,
                "sliding");
    for (int i = 0; i < 20000 && !rig_brief(); i++)
      assert_status(s.ctx, ga_stepper_step(s.st, lag ? 2e-3 : 1e-3), GA_OK);
    if (!rig_brief()) {
      const ga_state *at = ga_stepper_state(s.st);
      assert_near(shop_signal(&s, at, "tyre.fx"), -push, 1e-3, "it holds");
      assert_near(shop_signal(&s, at, "sled.vx") / creep, 1, 0.02, "creeping");
    }
    shop_close(&s);
  }
}

/* Where nothing moves and nothing turns: no NaN, no force along the road. */
static void standstill_has_no_singularity(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    shop s = shop_open(GA_FORM_SPACE, -9.81);
    add_wheel(&s, 0.32 - 20 * 9.81 / 2.2e5, 0, 0);
    add_road(&s, "ground", NULL, NULL);
    ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "wheel");
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    for (int i = 0; i < 100; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-2), GA_OK);
    const ga_state *at = ga_stepper_state(s.st);
    assert_near(shop_signal(&s, at, "tyre.fx"), 0, 1e-9, "force along");
    assert_near(shop_signal(&s, at, "tyre.fy"), 0, 1e-9, "force across");
    assert_near(shop_signal(&s, at, "tyre.fz"), 20 * 9.81, 1e-6, "load");
    shop_close(&s);
  }
}

/* Dropped without damping it bounces back to where it was; with damping it loses energy, never gains any; in
 * the air there is no load. */
static void lift_off(void **state)
{
  (void)state;
  for (int damped = rig_brief(); damped < 2; damped++) {
    const double h = 1e-4, fall = 0.1;
    double highest = 0, before = HUGE_VAL, most = 0;
    int flying = 0, pressed = 0, back = 0;
    shop s = shop_open(GA_FORM_SPACE, -9.81);
    ga_meter *meter = NULL;
    add_wheel(&s, 0.32 + fall, 3, 0);
    add_road(&s, "ground", NULL, NULL);
    ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
    d.damping = damped ? 600 : 0;
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
    assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
    const int index[4] = {
        ga_machine_find_signal(s.m, "energy.kinetic"), ga_machine_find_signal(s.m, "energy.potential"),
        ga_machine_find_signal(s.m, "energy.balance"), ga_machine_find_signal(s.m, "tyre.fz")};
    for (int i = 0; i < 4200; i++) {
      double value[4];
      assert_status(s.ctx, ga_stepper_step(s.st, h), GA_OK);
      const ga_state *at = ga_stepper_state(s.st);
      assert_status(s.ctx, ga_meter_update(meter, at), GA_OK);
      assert_status(s.ctx, ga_machine_signals(s.m, meter, at, 4, index, value), GA_OK);
      const double depth = shop_signal(&s, at, "tyre.penetration");
      assert_true(value[3] >= 0);
      assert_true(depth > 0 || value[3] == 0);
      pressed += depth > 0, flying += depth < 0;
      back |= pressed > 0 && depth < 0;
      if (back) highest = fmax(highest, -depth);
      assert_true(value[0] + value[1] < before + 1e-3);
      before = value[0] + value[1];
      most = fmax(most, fabs(value[2]));
    }
    assert_true(pressed > 100 && flying > 1000);
    assert_near(most, 0, 0.02, "energy balance");
    if (damped)
      assert_true(highest > 0 && highest < 0.9 * fall);
    else
      assert_near(highest / fall, 1, 2e-3, "it bounces back");
    ga_meter_destroy(&meter);
    shop_close(&s);
  }
}

/* Pressed on the road at a constant camber, without slip, friction or damping, the load gives back all of its
 * work. */
static void load_of_a_leaning_wheel_is_stored(void **state)
{
  const double lean = 0.4, fall = 0.05;
  double most = 0, kept = HUGE_VAL, stored = 0;
  shop s = shop_open(GA_FORM_SPACE, -9.81);
  ga_meter *meter = NULL;
  (void)state;
  add_wheel(&s, 0.32 * cos(lean) + fall, 0, 0);
  shop_turned(&s, "rim", "wheel", 0, 0, 0, 0, lean);
  add_road(&s, "ground", NULL, "0");
  ga_joint_def j = ga_joint_defaults();
  j.name = "guide", j.kind = GA_JOINT_PRISMATIC, j.a = "ground", j.b = "wheel", j.at_pose = 1;
  SHOP_ADD(&s, joint, &j);
  ga_tyre_def d = tyre_of(GA_TYRE_TANH, "rim");
  d.damping = 0;
  SHOP_ADD(&s, tyre, &d);
  shop_start(&s);
  assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
  assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
  const int index[3] = {ga_machine_find_signal(s.m, "energy.dissipated"),
                        ga_machine_find_signal(s.m, "tyre.camber"),
                        ga_machine_find_signal(s.m, "tyre.penetration")};
  for (int i = 0; i < 2000; i++) {
    double value[3];
    assert_status(s.ctx, ga_stepper_step(s.st, 1e-4), GA_OK);
    assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    assert_status(s.ctx, ga_machine_signals(s.m, meter, ga_stepper_state(s.st), 3, index, value), GA_OK);
    most = fmax(most, fabs(value[0]));
    kept = fmin(kept, fabs(value[1]));
    stored = fmax(stored, value[2] > 0 ? 0.5 * 2.2e5 * value[2] * value[2] : 0);
  }
  assert_near(kept, lean, 1e-9, "camber");
  assert_true(stored > 5); /* of which a part of 1 − cos γ, 8 %, must not be taken for lost */
  assert_near(most, 0, 1e-3, "dissipated");
  ga_meter_destroy(&meter);
  shop_close(&s);
}

/* ---- Roads that move ---- */

/* A road that is lifted by a drive, and the same road as a function of time, give the same motion and work.
 */
static void lifted_road(void **state)
{
  double z[2], input[2], force[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, -9.81);
    ga_meter *meter = NULL;
    ga_function *lift = shop_function(s.ctx, "0.01*(1 - cos(8*t))");
    add_wheel(&s, 0.3197, 5, 5 / 0.3197);
    if (k == 0) {
      shop_rigid(&s, "table", 0, 0, -0.5);
      shop_turned(&s, "top", "ground", 0, 0, -0.5, 0, 0);
      ga_joint_def j = ga_joint_defaults();
      j.name = "post", j.kind = GA_JOINT_PRISMATIC, j.a = "ground", j.b = "table", j.at_pose = 1;
      SHOP_ADD(&s, joint, &j);
      ga_drive_def drive = ga_drive_defaults();
      drive.name = "lift", drive.coordinate = "post.displacement", drive.function = lift;
      SHOP_ADD(&s, drive, &drive);
      ga_marker_def m = ga_marker_defaults(); /* the ground's frame, on the table, which is turned */
      const double angle[3] = {0.3, -0.4, 0.7};
      double R[9];
      assert_int_equal(ga_rotation_euler(s.ctx, "xyz", angle, R), GA_OK);
      m.name = "plate", m.body = "table";
      for (int i = 0; i < 3; i++) {
        m.pose.position[i] = R[6 + i] * 0.5;
        for (int c = 0; c < 3; c++) m.pose.rotation[3 * i + c] = R[3 * c + i];
      }
      SHOP_ADD(&s, marker, &m);
    }
    add_road(&s, k == 0 ? "plate" : "ground", k == 0 ? NULL : "0.01*(1 - cos(8*t))", NULL);
    const ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
    assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
    for (int i = 0; i < 1000; i++) {
      assert_status(s.ctx, ga_stepper_step(s.st, 5e-4), GA_OK);
      assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
    }
    const ga_state *at = ga_stepper_state(s.st);
    const int index[2] = {ga_machine_find_signal(s.m, "energy.balance"),
                          ga_machine_find_signal(s.m, "energy.input")};
    double value[2];
    assert_status(s.ctx, ga_machine_signals(s.m, meter, at, 2, index, value), GA_OK);
    assert_near(value[0], 0, 1e-3, "energy balance");
    z[k] = shop_signal(&s, at, "wheel.z"), force[k] = shop_signal(&s, at, "tyre.fz");
    input[k] = value[1] - (k == 0 ? 2.5 * 0.01 * (1 - cos(4.0)) * 9.81 : 0); /* what lifts the table */
    if (k == 0) {                                                            /* its own inertia: ½ m v² */
      const double v = 0.08 * sin(4.0);
      input[k] -= 0.5 * 2.5 * v * v;
    }
    ga_meter_destroy(&meter);
    ga_stepper_destroy(&s.st);
    ga_machine_destroy(&s.m);
    ga_function_destroy(&lift);
    shop_close(&s);
  }
  assert_near(z[0], z[1], 1e-7, "height");
  assert_near(force[0], force[1], 2e-2, "load");
  assert_near(input[0], input[1], 2e-3, "work of the road");
  assert_true(fabs(input[0]) > 0.5);
}

/* A wheel at rest over a road that runs backwards feels what a wheel feels that runs over a road at rest. */
static void running_road(void **state)
{
  double F[2][3];
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def belt = ga_rigid_defaults();
    belt.name = "belt", belt.mass = 1e6, belt.inertia[0] = belt.inertia[1] = belt.inertia[2] = 1e6;
    belt.velocity[0] = k == 0 ? 0 : -9, belt.velocity[1] = k == 0 ? 0 : -0.4,
    belt.velocity[2] = k == 0 ? 0 : 0.1;
    SHOP_ADD(&s, rigid, &belt);
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1,
    w.pose = ga_pose_at(0, 0, 0.3);
    w.velocity[0] = k == 0 ? 9 : 0, w.velocity[1] = k == 0 ? 0.4 : 0, w.velocity[2] = k == 0 ? -0.1 : 0;
    w.omega[1] = 29;
    SHOP_ADD(&s, rigid, &w);
    add_road(&s, "belt", NULL, NULL);
    const ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
    SHOP_ADD(&s, tyre, &d);
    const ga_state *at = shop_start(&s);
    F[k][0] = shop_signal(&s, at, "tyre.fx"), F[k][1] = shop_signal(&s, at, "tyre.fy");
    F[k][2] = shop_signal(&s, at, "tyre.fz");
    assert_near(shop_signal(&s, at, "belt.ax") * 1e6, -F[k][0], 1e-6, "the road is pushed back");
    shop_close(&s);
  }
  for (int i = 0; i < 3; i++) assert_near(F[0][i], F[1][i], 1e-9, "force");
  assert_true(fabs(F[0][0]) > 100 && fabs(F[0][1]) > 100 && F[0][2] > 2.2e5 * 0.02 + 50);
}

/* Friction by place: ice on the left. */
static void friction_by_place(void **state)
{
  double F[2];
  (void)state;
  for (int k = 0; k < 2; k++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
    w.pose = ga_pose_at(0, k ? 0.5 : -0.5, 0.3), w.velocity[0] = 5;
    SHOP_ADD(&s, rigid, &w);
    add_road(&s, "ground", NULL, "if(y > 0, 0.1, 1)");
    const ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
    SHOP_ADD(&s, tyre, &d);
    F[k] = shop_signal(&s, shop_start(&s), "tyre.fx");
    shop_close(&s);
  }
  assert_near(F[0], -0.9 * 2.2e5 * 0.02, 1e-6, "dry");
  assert_near(F[1], 0.1 * F[0], 1e-6, "ice");
}

/* ---- Input that is wrong ---- */

typedef void (*spoil)(ga_tyre_def *d);
static void no_radius(ga_tyre_def *d)
{
  d->radius = 0;
}
static void soft(ga_tyre_def *d)
{
  d->stiffness = -1;
}
static void not_a_number(ga_tyre_def *d)
{
  d->damping = NAN;
}
static void thick(ga_tyre_def *d)
{
  d->carcass = 0.4;
}
static void no_friction(ga_tyre_def *d)
{
  d->mu = 0;
}
static void no_speed(ga_tyre_def *d)
{
  d->speed = 0;
}
static void negative_length(ga_tyre_def *d)
{
  d->relaxation[1] = -1;
}
static void no_law(ga_tyre_def *d)
{
  d->kind = (ga_tyre_kind)7;
}
static void other_sign(ga_tyre_def *d)
{
  d->kind = GA_TYRE_MAGIC, set_magic(d), d->pky1 = 17;
}
static void slippery(ga_tyre_def *d)
{
  d->kind = GA_TYRE_MAGIC, set_magic(d), d->pdy2 = -1;
}

static void numbers_are_checked(void **state)
{
  static const struct {
    spoil spoil;
    const char *says;
  } CASE[] = {
      {no_radius, "radius"}, {soft, "stiffness"}, {not_a_number, "damping"},       {thick, "carcass"},
      {no_friction, "mu"},   {no_speed, "speed"}, {negative_length, "relaxation"}, {no_law, "ga_tyre_kind"},
      {other_sign, "pky1"},  {slippery, "pdy2"}};
  (void)state;
  for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
    CASE[i].spoil(&d);
    assert_status(s.ctx, ga_machine_add_tyre(s.m, &d), GA_ERR_ARGUMENT);
    assert_says(s.ctx, "tyre 'tyre'");
    assert_says(s.ctx, CASE[i].says);
    shop_close(&s);
  }
}

static void refuse_build(const char *road, const char *wheel, const char *height, ga_tyre_axis axis,
                         const char *says)
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_wheel(&s, 0.3, 0, 0);
  shop_point(&s, "bead", 0, 0, 1);
  add_road(&s, "ground", height, NULL);
  ga_tyre_def d = tyre_of(GA_TYRE_TANH, wheel);
  d.road = road, d.axis = axis;
  SHOP_ADD(&s, tyre, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void names_and_places_are_checked(void **state)
{
  (void)state;
  refuse_build("raod", "wheel", NULL, GA_TYRE_AXIS_Y, "did you mean 'road'?");
  refuse_build("wheel", "wheel", NULL, GA_TYRE_AXIS_Y, "a road");
  refuse_build("road", "bead", NULL, GA_TYRE_AXIS_Y, "a wheel is a rigid body");
  refuse_build("road", "ground", NULL, GA_TYRE_AXIS_Y, "a wheel is a rigid body");
  refuse_build("road", "wheel", NULL, GA_TYRE_AXIS_Z, "lies flat");
  refuse_build("road", "wheel", "0.1*wheel.x", GA_TYRE_AXIS_Y, "uses signals");
  refuse_build("road", "wheel", "0.1*(x", GA_TYRE_AXIS_Y, "road 'road'");
}

/* The start fails with the reason, not with NaN. */
static void refuse_start(const char *height, const char *friction, ga_tyre_axis axis, const char *says)
{
  double q[64], v[64], x[8];
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_start_opts o = ga_start_defaults();
  add_wheel(&s, 0.3, 1, 0);
  add_road(&s, "ground", height, friction);
  ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
  d.axis = axis;
  SHOP_ADD(&s, tyre, &d);
  shop_build(&s);
  assert_status(s.ctx, ga_machine_initial(s.m, q, v, x), GA_OK);
  assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), NULL, &s.st), GA_OK);
  o.h = 1e-3;
  assert_true(ga_stepper_start(s.st, &o, 0, q, v, x, NULL, NULL, NULL) != GA_OK);
  assert_says(s.ctx, says);
  shop_close(&s);
}

static void places_without_a_road(void **state)
{
  (void)state;
  refuse_start("sqrt(x - 1)", NULL, GA_TYRE_AXIS_Y, "sqrt(x - 1)");
  refuse_start(NULL, "-0.5", GA_TYRE_AXIS_Y, "must not be negative");
  refuse_start("0*x", NULL, GA_TYRE_AXIS_Z, "lies flat");
  refuse_start("0.5 + 0*x", NULL, GA_TYRE_AXIS_Y, "the centre of the wheel is 0.2 m below the road 'road'");
}

/* A road whose frame is upside down. */
static void wheels_below_the_road(void **state)
{
  (void)state;
  shop s = shop_open(GA_FORM_SPACE, 0);
  add_wheel(&s, 0.3, 1, 0);
  shop_turned(&s, "turned", "ground", 0, 0, 0, 0, 3.14159265358979324);
  add_road(&s, "turned", NULL, NULL);
  const ga_tyre_def d = tyre_of(GA_TYRE_TANH, "wheel");
  SHOP_ADD(&s, tyre, &d);
  assert_status(s.ctx, ga_machine_build(s.m), GA_ERR_ARGUMENT);
  assert_says(s.ctx, "the centre of the wheel is 0.3 m below the road 'road'");
  shop_close(&s);
}

static shop with_everything(void)
{
  shop s = shop_open(GA_FORM_BODY, -9.81);
  add_wheel(&s, 0.3, 1, 0);
  shop_rigid(&s, "table", 0, 0, -1);
  add_road(&s, "table", "0.1*sin(x)", "1 + 0.1*y");
  ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
  d.relaxation[0] = d.relaxation[1] = 0.3;
  SHOP_ADD(&s, tyre, &d);
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
      cmocka_unit_test(slip_curves_follow_the_laws),
      cmocka_unit_test(carcass_moves_the_contact),
      cmocka_unit_test(contact_is_on_the_surface),
      cmocka_unit_test(contact_on_ridges),
      cmocka_unit_test(derivatives_on_ridges),
      cmocka_unit_test(several_contacts_are_reported),
      cmocka_unit_test(motion_is_of_order_two),
      cmocka_unit_test(steady_circle),
      cmocka_unit_test(braking_to_standstill),
      cmocka_unit_test(standstill_has_no_singularity),
      cmocka_unit_test(lift_off),
      cmocka_unit_test(load_of_a_leaning_wheel_is_stored),
      cmocka_unit_test(lifted_road),
      cmocka_unit_test(running_road),
      cmocka_unit_test(friction_by_place),
      cmocka_unit_test(numbers_are_checked),
      cmocka_unit_test(names_and_places_are_checked),
      cmocka_unit_test(places_without_a_road),
      cmocka_unit_test(wheels_below_the_road),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
