/* Moments of tyres: derivatives, laws against integrals and formulas written out, coasting, turning on the spot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lie/mat3.h"
#include "mbs/tyre_law.h"
#include "mbs_shop.h"

/* Coefficients of no particular tyre. */
static void set_magic(ga_tyre_def *d)
{
  d->nominal_load = 4000, d->reference_speed = 15;
  d->pcx1 = 1.6, d->pdx1 = 1.1, d->pdx2 = -0.06, d->pex1 = 0.2, d->pkx1 = 20, d->pkx2 = -1, d->pkx3 = 0.2;
  d->rbx1 = 11, d->rbx2 = -9, d->rcx1 = 1.1;
  d->pcy1 = 1.3, d->pdy1 = 0.95, d->pdy2 = -0.12, d->pdy3 = 1.2, d->pey1 = -0.9, d->pky1 = -17, d->pky2 = 1.7;
  d->pky3 = 0.3, d->phy1 = 3e-3, d->phy2 = -1e-3, d->phy3 = 0.04, d->pvy1 = 0.02, d->pvy2 = -0.01, d->pvy3 = -0.3;
  d->rby1 = 8, d->rby2 = 7, d->rcy1 = 1.05, d->rvy1 = 0.05, d->rvy2 = 0.02, d->rvy4 = 12, d->rvy5 = 1.9;
  d->rvy6 = -11, d->lmux = 0.95, d->lmuy = 1.05, d->lkx = 1.1, d->lky = 0.9;
  d->qbz1 = 9, d->qbz2 = -1.5, d->qbz3 = -0.4, d->qbz4 = 0.1, d->qbz5 = -0.2, d->qbz9 = 18, d->qbz10 = 0.1;
  d->qcz1 = 1.15, d->qdz1 = 0.11, d->qdz2 = -0.01, d->qdz3 = -0.1, d->qdz4 = 2, d->qdz6 = -3e-3, d->qdz7 = 1e-3;
  d->qdz8 = -0.12, d->qdz9 = 0.02, d->qez1 = -2, d->qez2 = 0.6, d->qez3 = -0.3, d->qez4 = 0.2, d->qez5 = -0.9;
  d->qhz1 = 4e-3, d->qhz2 = -2e-3, d->qhz3 = 0.12, d->qhz4 = 0.05, d->ssz1 = 0.03, d->ssz2 = 0.01, d->ssz3 = 0.5;
  d->ssz4 = -0.3, d->qsx1 = 2e-3, d->qsx2 = 0.7, d->qsx3 = -0.06, d->qsy1 = 0.01, d->qsy2 = 0.02, d->qsy3 = 2e-3;
  d->qsy4 = 1e-3, d->ltr = 0.9, d->lres = 1.1, d->ls = 0.8, d->lmx = 1.2, d->lmy = 0.7;
}

static ga_tyre_def tyre_of(ga_tyre_kind kind, const char *wheel)
{
  ga_tyre_def d = ga_tyre_defaults();
  d.name = "tyre", d.kind = kind, d.wheel = wheel, d.road = "road";
  d.radius = 0.32, d.stiffness = 2.2e5, d.damping = 600, d.mu = 0.9, d.slip_stiffness = 18;
  d.cornering_stiffness = 14, d.trail = kind == GA_TYRE_MAGIC ? 0 : 0.03;
  if (kind == GA_TYRE_MAGIC) set_magic(&d);
  return d;
}

static void add_road(shop *s, const char *frame, const char *height)
{
  ga_road_def d = ga_road_defaults();
  d.name = "road", d.frame = frame, d.height = height;
  SHOP_ADD(s, road, &d);
}

/* ---- Derivatives ---- */

static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int kind = 0; kind < 3; kind++)
      for (int r = 0; r < 2; r++) {
        rig_random random = rig_seed(100 * form + 10 * kind + r);
        shop s = shop_open((ga_form)form, -9.81);
        shop_rigid(&s, "body", 0.1, 0.2, 0.5);
        shop_rigid(&s, "base", 0.3, -0.2, -0.2);
        shop_turned(&s, "table", "base", 0, 0, 0.2, 1, 0.3);
        shop_turned(&s, "hub", "body", 0.05, -0.1, 0.04, 0, -0.4);
        add_road(&s, "table", r ? "0.1*sin(2*x + y) + 0.02*t^2" : NULL);
        ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "hub");
        d.radius = 0.7, d.stiffness = 30, d.damping = 2, d.damping_depth = 0.3, d.speed = 0.8, d.preload = 3;
        d.slip_stiffness = 2, d.cornering_stiffness = 1.5, d.camber_stiffness = 0.4, d.nominal_load = 10;
        d.carcass = 0.15, d.relaxation[1] = r ? 0.5 : 0, d.mirrored = r;
        d.trail = kind == GA_TYRE_MAGIC ? 0 : 0.4, d.rolling_resistance = 0.2, d.turn_radius = 0.3;
        d.reference_speed = 1;
        SHOP_ADD(&s, tyre, &d);
        ga_actuator_def feedback = ga_actuator_defaults();
        feedback.name = "feedback", feedback.a = "hub", feedback.b = "table";
        feedback.force.expression = "0.1*tyre.mx + 0.2*tyre.my*tyre.slip + 0.3*tyre.mz + tyre.turn_slip";
        SHOP_ADD(&s, actuator, &feedback);
        shop_build(&s);
        char what[64];
        snprintf(what, sizeof what, "form %d, law %d, road %d", form, kind, r);
        shop_check(&s, &random, rig_brief() ? 1 : 2, 0.08, 2e-6, what);
        shop_close(&s);
      }
}

/* ---- Laws ---- */

typedef struct moments {
  double Fx, Fy, Mx, My, Mz;
} moments;

static moments law_at(const ga_tyre_def *d, double kappa, double lambda, double gamma, double Fz, double vx)
{
  ga__tyre_slip in = {.slip = {ga__dual_const(0, kappa), ga__dual_const(0, lambda)}};
  ga__tyre_forces out;
  in.camber = ga__dual_const(0, gamma), in.load = ga__dual_const(0, Fz), in.mu = ga__dual_const(0, 0.8);
  in.vx = ga__dual_const(0, vx), in.V = ga__dual_const(0, hypot(vx, d->speed));
  in.spin = ga__dual_const(0, vx / 0.3), in.turn = ga__dual_const(0, 0), in.distance = ga__dual_const(0, 0.3);
  ga__tyre_law(d, &in, &out);
  return (moments){out.Fx.v, out.Fy.v, out.Mx.v, out.My.v, out.Mz.v};
}

/* Bristles along the patch, each bent by the slip since it entered, up to what the pressure holds. */
static moments bristles(const ga_tyre_def *d, double kappa, double lambda, double Fz)
{
  enum { N = 20000 };
  const double a = 3 * d->trail, f[2] = {Fz * d->slip_stiffness * kappa, Fz * d->cornering_stiffness * lambda},
               size = hypot(f[0], f[1]);
  moments m = {0};
  for (int i = 0; i < N; i++) {
    const double x = a * (1 - (2.0 * i + 1) / N), dx = 2 * a / N;
    const double bent = size / (2 * a * a) * (a - x), most = 0.8 * d->mu * 0.75 * Fz / a * (1 - x * x / (a * a));
    const double stress = fmin(bent, most);
    m.Fx += stress * f[0] / size * dx, m.Fy += stress * f[1] / size * dx, m.Mz += x * stress * f[1] / size * dx;
  }
  return m;
}

static void brush_is_the_sum_of_bristles(void **state)
{
  const ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
  double most = 0;
  (void)state;
  for (int i = -4; i <= 4; i++)
    for (int k = -2; k <= 2; k++) {
      const double lambda = 0.03 * i, kappa = 0.02 * k, Fz = 3000;
      if (i == 0 && k == 0) continue;
      const moments m = law_at(&d, kappa, lambda, 0, Fz, 200), b = bristles(&d, kappa, lambda, Fz);
      assert_near(m.Fx, b.Fx, 1e-4 * Fz, "force along");
      assert_near(m.Fy, b.Fy, 1e-4 * Fz, "force across");
      assert_near(m.Mz, b.Mz, 1e-4 * Fz * d.trail, "aligning moment");
      most = fmax(most, fabs(m.Mz));
    }
  assert_true(most > 0.3 * 0.72 * 3000 * d.trail);
}

/* The Magic Formula's moments in plain numbers, as in the book. */
static moments plain_magic(const ga_tyre_def *d, double k, double a, double g, double Fz, double vx)
{
  const double road = 0.8, f0 = d->nominal_load, R = d->radius, df = (Fz - f0) / f0, lean = sqrt(g * g + 1e-6) - 1e-3;
  const moments F = law_at(d, k, -tan(a), g, Fz, vx);
  const double Kx = Fz * (d->pkx1 + d->pkx2 * df) * exp(d->pkx3 * df) * d->lkx;
  const double Ky = d->pky1 * f0 * sin(2 * atan(Fz / (d->pky2 * f0))) * (1 - d->pky3 * lean) * d->lky;
  const double muy = (d->pdy1 + d->pdy2 * df) * (1 - d->pdy3 * g * g) * d->lmuy * road;
  const double SHy = d->phy1 + d->phy2 * df + d->phy3 * g,
               SVy = Fz * (d->pvy1 + d->pvy2 * df + (d->pvy3 + d->pvy4 * df) * g) * d->lmuy * road;
  const double SVk = muy * Fz * (d->rvy1 + d->rvy2 * df + d->rvy3 * g) * cos(atan(d->rvy4 * a)) *
                     sin(d->rvy5 * atan(d->rvy6 * k));
  const double at = a + d->qhz1 + d->qhz2 * df + (d->qhz3 + d->qhz4 * df) * g, ar = a + SHy + SVy / Ky;
  const double teq = atan(hypot(tan(at), Kx / Ky * k)) * (at < 0 ? -1 : 1), req = atan(hypot(tan(ar), Kx / Ky * k));
  const double Bt = (d->qbz1 + d->qbz2 * df + d->qbz3 * df * df) * (1 + d->qbz4 * g + d->qbz5 * lean) * d->lky / d->lmuy;
  const double Dt = Fz * (d->qdz1 + d->qdz2 * df) * (1 + d->qdz3 * g + d->qdz4 * g * g) * R / f0 * d->ltr;
  const double Et = fmin(1, (d->qez1 + d->qez2 * df + d->qez3 * df * df) *
                                (1 + (d->qez4 + d->qez5 * g) * 0.63661977236758134 * atan(Bt * d->qcz1 * at)));
  const double t = Dt * cos(d->qcz1 * atan(Bt * teq - Et * (Bt * teq - atan(Bt * teq)))) * cos(a);
  const double Br = d->qbz9 * d->lky / d->lmuy + d->qbz10 * Ky / (muy * Fz);
  const double Dr = Fz * R * ((d->qdz6 + d->qdz7 * df) * d->lres + (d->qdz8 + d->qdz9 * df) * g) * d->lmuy * road;
  const double s = R * (d->ssz1 + d->ssz2 * F.Fy / f0 + (d->ssz3 + d->ssz4 * df) * g) * d->ls;
  const double ahead = vx / hypot(vx, d->speed), u = vx / d->reference_speed;
  const double resist = d->qsy1 + d->qsy2 * F.Fx / f0 + d->qsy3 * fabs(u) + d->qsy4 * u * u * u * u;
  moments m = F;
  m.Mz = ahead * (Dr * cos(atan(Br * req)) * cos(a) - t * (F.Fy - SVk)) + s * F.Fx;
  m.Mx = R * Fz * d->lmx * (d->qsx1 - d->qsx2 * g + d->qsx3 * F.Fy / f0);
  m.My = -R * Fz * d->lmy * fmax(resist, 0) * (vx < 0 ? -1 : 1);
  return m;
}

static void magic_moments_follow_the_book(void **state)
{
  const ga_tyre_def d = tyre_of(GA_TYRE_MAGIC, "wheel");
  double most = 0;
  (void)state;
  for (int i = 0; i < 5 * 5 * 3 * 2; i++) {
    const double k = 0.04 * (i % 5 - 2), a = 0.06 * (i / 5 % 5 - 2) + 0.02, g = 0.05 * (i / 25 % 3 - 1),
                 vx = i / 75 ? -20 : 20, Fz = 3000 + 500 * (i % 4);
    const moments m = law_at(&d, k, -tan(a), g, Fz, vx), p = plain_magic(&d, k, a, g, Fz, vx);
    assert_near(m.Mz, p.Mz, 1e-2 + 2e-4 * fabs(p.Mz), "aligning moment");
    assert_near(m.Mx, p.Mx, 1e-6 * Fz, "overturning moment");
    assert_near(m.My, p.My, 1e-4 * fabs(p.My), "rolling resistance");
    most = fmax(most, fabs(m.Mz));
  }
  assert_true(most > 60);
}

/* A mirrored tyre does the mirror image. */
static void sides_are_mirror_images(void **state)
{
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    const ga_tyre_def left = tyre_of((ga_tyre_kind)kind, "wheel");
    ga_tyre_def right = left;
    right.mirrored = 1;
    const moments a = law_at(&left, 0.02, 0.05, 0.03, 3500, 12), b = law_at(&right, 0.02, -0.05, -0.03, 3500, 12);
    assert_true(a.Fx == b.Fx && a.Fy == -b.Fy && a.Mx == -b.Mx && a.My == b.My && a.Mz == -b.Mz);
    assert_true(a.Fy != law_at(&left, 0.02, -0.05, -0.03, 3500, 12).Fy * -1 || kind != GA_TYRE_MAGIC);
  }
}

/* ---- Energy ---- */

typedef struct slip_state {
  double vx, v[2], camber, omega[3], Fz; /* v: slip velocity at P; omega: against the road, about e_x, e_y, e */
} slip_state;

/* [W] Power of forces and moments in the road's plane on wheel and road together; > 0: it drives them. */
static double power_of(const ga_tyre_def *d, const slip_state *u)
{
  const double V = hypot(u->vx, d->speed);
  ga__tyre_slip in = {.slip = {ga__dual_const(0, -u->v[0] / V), ga__dual_const(0, -u->v[1] / V)}};
  ga__tyre_forces out;
  in.camber = ga__dual_const(0, u->camber), in.load = ga__dual_const(0, u->Fz), in.mu = ga__dual_const(0, 0.8);
  in.vx = ga__dual_const(0, u->vx), in.V = ga__dual_const(0, V), in.spin = ga__dual_const(0, u->omega[1]);
  in.turn = ga__dual_const(0, u->omega[2]), in.distance = ga__dual_const(0, 0.3);
  ga__tyre_law(d, &in, &out);
  return out.Fx.v * u->v[0] + out.Fy.v * u->v[1] + out.Mx.v * u->omega[0] + out.My.v * u->omega[1] +
         out.Mz.v * u->omega[2];
}

/* From standstill to 60 m/s, from hardly any slip to locked and sideways, turning up to 20 rad/s. */
static slip_state any_state(rig_random *random)
{
  slip_state u;
  const double scale[2] = {pow(10, rig_uniform(random, -5, 0.3)), pow(10, rig_uniform(random, -5, 0.3))};
  u.vx = pow(10, rig_uniform(random, -4, 1.8)) * (rig_uniform(random, -1, 1) < 0 ? -1 : 1);
  for (int i = 0; i < 2; i++) u.v[i] = hypot(u.vx, 0.1) * scale[i] * rig_uniform(random, -1, 1);
  for (int i = 0; i < 3; i++) u.omega[i] = 20 * pow(10, rig_uniform(random, -4, 0)) * rig_uniform(random, -1, 1);
  u.omega[1] += u.vx / 0.3, u.camber = rig_uniform(random, -0.15, 0.15), u.Fz = rig_uniform(random, 50, 8000);
  return u;
}

static int n_states(void)
{
  return rig_brief() ? 20000 : 200000;
}

/* Without trail and camber stiffness all that both saturated laws do is friction; with them a gain is bounded, and the
 * bound is reached: F_z C_α V/4 (C_γ |γ|/C_α + t₀ |ω_e|/V)². Enough friction against turning takes back what the trail
 * gives. */
static void saturated_laws_dissipate(void **state)
{
  (void)state;
  for (int kind = GA_TYRE_TANH; kind <= GA_TYRE_BRUSH; kind++)
    for (int c = 0; c < 4; c++) {
      rig_random random = rig_seed(40 + 10 * kind + c);
      ga_tyre_def d = tyre_of((ga_tyre_kind)kind, "wheel");
      d.rolling_resistance = c & 1 ? 0.01 : 0;
      if (c == 0) d.trail = 0, d.turn_radius = 0.05;
      if (c == 1) d.turn_radius = 0.5 * d.trail * sqrt(d.cornering_stiffness / (0.8 * d.mu));
      if (c == 3) d.camber_stiffness = 0.9;
      double most = 0;
      for (int i = 0; i < n_states(); i++) {
        const slip_state u = any_state(&random);
        const double V = hypot(u.vx, d.speed), lean = d.camber_stiffness * fabs(u.camber) / d.cornering_stiffness,
                     turn = d.trail * fabs(u.omega[2]) / V, P = power_of(&d, &u),
                     bound = u.Fz * d.cornering_stiffness * V / 4 * (lean + turn) * (lean + turn);
        if (c < 2 ? P > 0 : P > bound * (1 + 1e-12))
          fail_msg("law %d, case %d: gains %g W of at most %g at vx %g, slip %g %g, turn %g", kind, c, P, bound, u.vx, u.v[0],
                   u.v[1], u.omega[2]);
        if (c == 2) most = fmax(most, P / bound);
      }
      if (c == 2) assert_true(most > 0.7);
    }
}

/* Coefficients that push or turn an upright wheel which rolls straight ahead, and those of camber. */
static void without_shifts(ga_tyre_def *d)
{
  d->phy1 = d->phy2 = d->phy3 = d->pvy1 = d->pvy2 = d->pvy3 = d->qhz1 = d->qhz2 = d->qhz3 = d->qhz4 = 0;
  d->qdz6 = d->qdz7 = d->qdz8 = d->qdz9 = d->ssz1 = d->ssz2 = d->ssz3 = d->ssz4 = 0;
  d->rvy1 = d->rvy2 = d->qsx1 = d->qsx2 = d->qsx3 = 0;
}

/* The Magic Formula is no law of friction. Without shifts it only dissipates while the wheel does not turn about the
 * normal, and gains by turning are bounded as above. With them, and with camber, the gain of these coefficients is
 * below 0.002 F_z V, and below 0.1 F_z (V + R |ω_e|) while the wheel turns. The overturning moment moves the load sideways, its power is none of slip. */
static void magic_dissipates(void **state)
{
  double most[4] = {0, 0, 0, 0};
  (void)state;
  for (int c = 0; c < 4; c++) {
    rig_random random = rig_seed(70 + c);
    ga_tyre_def d = tyre_of(GA_TYRE_MAGIC, "wheel");
    if (c < 2) without_shifts(&d);
    for (int i = 0; i < n_states(); i++) {
      slip_state u = any_state(&random);
      u.Fz = 1000 + 0.875 * u.Fz;
      u.omega[0] = 0;
      if (c % 3 == 0) u.omega[2] = 0;
      const double V = hypot(u.vx, d.speed), P = power_of(&d, &u), trail = 0.12 * d.radius * u.Fz / d.nominal_load,
                   turn = trail * fabs(u.omega[2]) / V, K = 17 * d.nominal_load;
      most[c] = fmax(most[c], c == 1 ? P / (K * V / 4 * turn * turn) : P / (u.Fz * (V + d.radius * fabs(u.omega[2]))));
    }
  }
  assert_true(most[0] <= 0 && most[1] > 0.2 && most[1] < 1 && most[2] < 0.1 && most[3] < 2e-3);
  assert_true(most[2] > 0.01 && most[3] > 1e-4);
}

static void get_vector(const shop *s, const char *of, const char *const axis[3], double out[3])
{
  char name[32];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s.%s", of, axis[i]);
    out[i] = shop_now(s, name);
  }
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A free wheel and a free road, both with the inertia of a sphere: T' = m v·v' + J ω·ω' is the power of all that the
 * tyre does to both, here by its signals. */
static void all_power_is_that_at_the_contact(void **state)
{
  static const char *const V[] = {"vx", "vy", "vz"}, *const A[] = {"ax", "ay", "az"}, *const W[] = {"wx", "wy", "wz"},
                           *const X[] = {"x", "y", "z"}, *const F[] = {"fx", "fy", "fz"}, *const M[] = {"mx", "my", "mz"},
                           *const BODY[] = {"wheel", "base"};
  (void)state;
  for (int k = 0; k < 60; k++) {
    rig_random random = rig_seed(300 + k);
    shop s = shop_open(GA_FORM_SPACE, 0);
    for (int i = 0; i < 2; i++) {
      ga_rigid_def b = ga_rigid_defaults();
      b.name = BODY[i], b.mass = 20 + 30 * i, b.inertia[0] = b.inertia[1] = b.inertia[2] = 2 + i;
      b.pose = ga_pose_at(0, 0, i ? 0 : 0.3);
      assert_int_equal(ga_rotation_axis_angle(s.ctx, (double[3]){1, 0, 0}, i ? 0 : rig_uniform(&random, -0.2, 0.2),
                                              b.pose.rotation),
                       GA_OK);
      for (int j = 0; j < 3; j++) b.velocity[j] = rig_uniform(&random, -3, 3), b.omega[j] = rig_uniform(&random, -3, 3);
      if (!i) b.velocity[0] += 2 * (k % 5), b.omega[1] += 6 * (k % 5);
      SHOP_ADD(&s, rigid, &b);
    }
    add_road(&s, "base", NULL);
    ga_tyre_def d = tyre_of((ga_tyre_kind)(k % 3), "wheel");
    d.damping = 0, d.rolling_resistance = 0.01, d.turn_radius = 0.05, d.camber_stiffness = 0.5;
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    double P[3], f[3], m[3], force[3], moment[3], slip[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, rate = 0;
    get_vector(&s, "tyre", X, P), get_vector(&s, "tyre", F, f), get_vector(&s, "tyre", M, m);
    const ga_state *now = ga_stepper_state(s.st);
    for (int i = 0; i < 2; i++) {
      double v[3], a[3], w[3], x[3], r[3], at[3];
      get_vector(&s, BODY[i], V, v), get_vector(&s, BODY[i], A, a), get_vector(&s, BODY[i], W, w);
      get_vector(&s, BODY[i], X, x);
      for (int j = 0; j < 3; j++) r[j] = P[j] - x[j];
      ga__vec3_cross(at, w, r);
      for (int j = 0; j < 3; j++) slip[j] += (i ? -1 : 1) * (v[j] + at[j]), turn[j] += (i ? -1 : 1) * w[j];
      rate += (20 + 30 * i) * dot(v, a) + (2 + i) * dot(w, now->vdot + 6 * i + 3);
    }
    /* The road is level, and e_x that of the wheel. */
    memcpy(force, f, sizeof f), memcpy(moment, m, sizeof m);
    const double power = dot(force, slip) + dot(moment, turn);
    assert_near(rate, power, 1e-9 * (1 + fabs(power)), "power");
    shop_close(&s);
  }
}

/* ---- Motion ---- */

/* An upright wheel that coasts: m v' = F_x, J ω' = M_y − ρ F_x, v = ρ ω, M_y = −c m g ρ. */
static void coasting(void **state)
{
  const double m = 100, J = 4, c = 0.012, g = 9.81, rho = 0.32 - m * g / 2.2e5,
               slowing = c * g / (1 + J / (m * rho * rho));
  (void)state;
  for (int way = -1; way <= 1; way += 2) {
    shop s = shop_open(GA_FORM_SPACE, -g);
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "wheel", w.mass = m, w.inertia[0] = w.inertia[2] = 5, w.inertia[1] = J;
    w.pose = ga_pose_at(0, 0, rho), w.velocity[0] = 10 * way, w.omega[1] = 10 * way / rho;
    SHOP_ADD(&s, rigid, &w);
    add_road(&s, "ground", NULL);
    ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
    d.rolling_resistance = c;
    SHOP_ADD(&s, tyre, &d);
    shop_start(&s);
    for (int i = 0; i < 1000; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    const double first = shop_now(&s, "wheel.vx");
    for (int i = 0; i < 2000; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    assert_near((first - shop_now(&s, "wheel.vx")) / (2 * way * slowing), 1, 2e-4, "deceleration");
    const double spin = shop_now(&s, "wheel.wy");
    assert_near(shop_now(&s, "tyre.my"), -c * m * g * rho * spin / hypot(spin, 0.1 / 0.32), 1e-6, "moment");
    assert_near(shop_now(&s, "wheel.y"), 0, 1e-9, "straight");
    shop_close(&s);
  }
}

/* At rest it turns against −μ F_z r; at slow turning in proportion to the rate; rolling by turn slip. */
static void turning_on_the_spot(void **state)
{
  static const double RATE[] = {50, 0.01, 0.3, -50}, SPEED[] = {0, 0, 10, 0};
  const double r = 0.06, Fz = 2.2e5 * 0.02;
  (void)state;
  for (int i = 0; i < 4; i++) {
    shop s = shop_open(GA_FORM_SPACE, 0);
    ga_rigid_def w = ga_rigid_defaults();
    w.name = "wheel", w.mass = 20, w.inertia[0] = w.inertia[1] = w.inertia[2] = 1;
    w.pose = ga_pose_at(0, 0, 0.3), w.omega[2] = RATE[i], w.velocity[0] = SPEED[i], w.omega[1] = SPEED[i] / 0.3;
    SHOP_ADD(&s, rigid, &w);
    add_road(&s, "ground", NULL);
    ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
    d.turn_radius = r;
    SHOP_ADD(&s, tyre, &d);
    const ga_state *at = shop_start(&s);
    const double V = hypot(SPEED[i], 0.1), u = r * RATE[i];
    assert_near(shop_signal(&s, at, "tyre.mz"), -0.9 * Fz * r * u / hypot(u, V), 1e-9 * Fz, "torque");
    assert_near(shop_signal(&s, at, "tyre.turn_slip"), -RATE[i] / V, 1e-9, "turn slip");
    shop_close(&s);
  }
}

static void numbers_are_checked(void **state)
{
  static const struct {
    const char *field;
    size_t offset;
  } BAD[] = {{"trail", offsetof(ga_tyre_def, trail)},
             {"rolling_resistance", offsetof(ga_tyre_def, rolling_resistance)},
             {"turn_radius", offsetof(ga_tyre_def, turn_radius)}};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      const double value = k ? NAN : -1;
      shop s = shop_open(GA_FORM_SPACE, 0);
      ga_tyre_def d = tyre_of(GA_TYRE_BRUSH, "wheel");
      memcpy((char *)&d + BAD[i].offset, &value, sizeof value);
      assert_int_equal(ga_machine_add_tyre(s.m, &d), GA_ERR_ARGUMENT);
      assert_non_null(strstr(ga_context_error(s.ctx)->text, BAD[i].field));
      shop_close(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),         cmocka_unit_test(brush_is_the_sum_of_bristles),
      cmocka_unit_test(magic_moments_follow_the_book), cmocka_unit_test(sides_are_mirror_images),
      cmocka_unit_test(saturated_laws_dissipate),
      cmocka_unit_test(magic_dissipates),
      cmocka_unit_test(all_power_is_that_at_the_contact),
      cmocka_unit_test(coasting),                      cmocka_unit_test(turning_on_the_spot),
      cmocka_unit_test(numbers_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
