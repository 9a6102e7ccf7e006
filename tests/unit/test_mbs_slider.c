/* Sliders: derivatives, beads, moving loads and masses against independent references, orders, ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs/element.h"
#include "mbs/meter.h"
#include "mbs/node_spline.h"
#include "mbs_shop.h"
#include <stdlib.h>

static const double G = 9.81, PI = 3.14159265358979323846;

static void slide(shop *s, const char *name, const char *along, const char *frame,
                  ga_slider_orientation orientation)
{
  ga_slider_def d = ga_slider_defaults();
  d.name = name, d.along = along, d.frame = frame, d.orientation = orientation;
  SHOP_ADD(s, slider, &d);
}

static ga_beam_def strip(const char *name, int elements)
{
  ga_beam_def d = ga_beam_defaults();
  d.name = name, d.elements = elements;
  d.section = GA_SECTION_RECTANGLE;
  d.width = 0.05, d.height = 0.03, d.young = 1e6, d.poisson = 0.3, d.density = 1000;
  return d;
}

/* ---- Derivatives ---- */

/* Along a curved beam and along a cable; a point, a rigid and a planar body, the ground, a marker on a beam;
 * a spring and a friction on the coordinate. */
static void derivatives_are_right(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++)
    for (int variant = 0; variant < 10; variant++) {
      static const char *const frame[] = {"bead", "box", "toe", "plate", "eye"};
      const int on = variant / 2, cable = variant % 2;
      char what[60];
      rig_random random = rig_seed(100 * form + variant);
      shop s = shop_open((ga_form)form, -G);
      ga_beam_def d = strip("arch", 4);
      d.length = 2, d.curvature[1] = 0.4, d.curvature[0] = 0.1;
      ga_cable_def c = ga_cable_defaults();
      c.name = "arch", c.length = 2.2, c.elements = 4, c.stiffness = 300, c.mass_per_length = 1;
      for (int i = 0; i < 3; i++) c.from[i] = 0, c.to[i] = i ? 0 : 2;
      if (cable)
        SHOP_ADD(&s, cable, &c);
      else
        SHOP_ADD(&s, beam, &d);
      if (on == 0) shop_point(&s, "bead", 0.8, 0.1, 0.2);
      if (on == 1 || on == 2) shop_rigid(&s, "box", 1, 0.2, 0.1);
      if (on == 2) shop_marker(&s, "toe", "box", 0.2, -0.3, 0.1);
      if (on == 3) shop_planar(&s, "plate", 0.7, 0.1);
      if (on == 4) shop_marker(&s, "eye", "ground", 0.8, 0.1, 0.1);
      ga_slider_def slip = ga_slider_defaults();
      slip.name = "slip", slip.along = "arch", slip.frame = frame[on];
      slip.orientation = on == 0 ? GA_SLIDER_FREE : GA_SLIDER_TANGENT;
      SHOP_ADD(&s, slider, &slip);
      ga_spring_def k = ga_spring_defaults();
      k.name = "coil", k.coordinate = "slip.s", k.stiffness = 5, k.damping = 0.3, k.rest = 0.2;
      k.expression = "slip.fx*slip.s_rate";
      SHOP_ADD(&s, spring, &k);
      const ga_status status = ga_machine_build(s.m);
      if (status) fail_msg("%s", ga_context_error(s.ctx)->text);
      snprintf(what, sizeof what, "%s, number %d", SHOP_FORM[form], variant);
      shop_check(&s, &random, rig_brief() ? 1 : 4, 0.08, 3e-6, what);
      shop_close(&s);
    }
}

/* ---- The curve ---- */

/* Weights of uneven nodes: cubics are met exactly, with all derivatives; value, slope and curvature do not
 * jump; a sine is met with order 4. */
static void curve_is_smooth(void **state)
{
  static const double s[] = {0, 0.3, 0.31, 0.9, 1.4, 2};
  enum { N = sizeof s / sizeof *s - 1, FINEST = 32 };
  double w[2][GA__SPLINE_ORDERS * (FINEST + 1)], even[FINEST + 1], error[3];
  ga__node_spline c;
  (void)state;
  ga_context *ctx = rig_open_context();
  assert_int_equal(ga__node_spline_make(ctx, N, s, 0, &c), GA_OK);
  for (int k = 0; k <= 40; k++) {
    const double at = -0.1 + 2.2 * k / 40;
    const double expected[4] = {1 + at * (2 + at * (-3 + 0.5 * at)), 2 + at * (-6 + 1.5 * at), -6 + 3 * at,
                                3};
    ga__node_spline_at(&c, at, w[0]);
    for (int order = 0; order < 4; order++) {
      double sum = 0;
      for (int j = 0; j <= N; j++)
        sum += w[0][order * (N + 1) + j] * (1 + s[j] * (2 + s[j] * (-3 + 0.5 * s[j])));
      assert_near(sum, expected[order], order < 3 ? 1e-11 : 1e-9, "a cubic");
    }
  }
  for (int i = 1; i < N; i++) {
    ga__node_spline_at(&c, s[i] * (1 - 1e-13), w[0]);
    ga__node_spline_at(&c, s[i] * (1 + 1e-13), w[1]);
    for (int k = 0; k < 3 * (N + 1); k++)
      assert_near(w[0][k], w[1][k], 1e-8 * (1 + fabs(w[0][k])), "no jump at a node");
  }
  ga__node_spline_free(ctx, &c);
  for (int level = 0; level < 3; level++) {
    const int n = FINEST >> (2 - level);
    for (int i = 0; i <= n; i++) even[i] = 2.0 * i / n;
    assert_int_equal(ga__node_spline_make(ctx, n, even, 0, &c), GA_OK);
    error[level] = 0;
    for (int k = 0; k < 100; k++) {
      double sum = 0;
      ga__node_spline_at(&c, 0.02 * k, w[0]);
      for (int j = 0; j <= n; j++) sum += w[0][j] * sin(2 * even[j]);
      error[level] = fmax(error[level], fabs(sum - sin(0.04 * k)));
    }
    ga__node_spline_free(ctx, &c);
  }
  assert_near(log2(error[1] / error[2]), 4, 0.3, "order of the curve");
  ga_context_destroy(&ctx);
}

/* Of a cable: derivatives are those of the weights; lines are met; value, slope and, of even nodes, curvature
 * do not jump; Σ N_i N_j |s_i − s_j| is nearly constant within even nodes. */
static void curve_of_a_cable_has_no_ripples(void **state)
{
  enum { N = 8, W = N + 1 };
  double s[W], w[3][GA__SPLINE_ORDERS * W];
  (void)state;
  ga_context *ctx = rig_open_context();
  for (int uneven = 0; uneven < 2; uneven++) {
    ga__node_spline c;
    for (int i = 0; i <= N; i++) s[i] = 0.25 * i + (uneven ? 0.1 * (i == 4) : 0);
    assert_int_equal(ga__node_spline_make(ctx, N, s, 1, &c), GA_OK);
    for (int k = 0; k < 200; k++) {
      const double at = 0.003 + 0.00993 * k, d = 1e-4;
      double line = 0, sum = 0;
      for (int i = 0; i < 3; i++) ga__node_spline_at(&c, at + (i - 1) * d, w[i]);
      for (int j = 0; j <= N; j++) line += w[1][j] * (2 - 3 * s[j]);
      assert_near(line, 2 - 3 * at, 1e-13, "a line");
      for (int i = 0; i < W * W; i++) sum += w[1][i / W] * w[1][i % W] * fabs(s[i / W] - s[i % W]);
      if (!uneven && at > s[1] && at < s[N - 1]) assert_near(sum, 0.62 * 0.25, 0.01 * 0.25, "no ripple");
      int near = 0; /* a node: third derivatives jump, and others at uneven ones */
      for (int i = 0; i <= N; i++) near |= fabs(at - s[i]) < 2 * d;
      for (int i = 0; i < 3 * W && !near; i++)
        assert_near((w[2][i] - w[0][i]) / (2 * d), w[1][i + W], 2e-3 * (1 + fabs(w[1][i + W])), "derivative");
    }
    for (int i = 1; i < N; i++) {
      ga__node_spline_at(&c, s[i] * (1 - 1e-13), w[0]);
      ga__node_spline_at(&c, s[i] * (1 + 1e-13), w[1]);
      for (int k = 0; k < (uneven || i == 1 || i == N - 1 ? 2 : 3) * W; k++)
        assert_near(w[0][k], w[1][k], 1e-9, "no jump at a node");
    }
    ga__node_spline_free(ctx, &c);
  }
  ga_context_destroy(&ctx);
}

/* ---- Beads on what hardly deforms ---- */

typedef struct way {
  ga_method method;
  ga_form form;
} way;

static double *numbers(const shop *s)
{
  const ga_system *sys = ga_machine_system(s->m);
  double *all = calloc((size_t)(sys->nq + sys->n + 1), sizeof *all);
  assert_non_null(all);
  return all;
}

/* Builds, and starts for steps of h. */
static void start(shop *s, ga_method method, double h)
{
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = h;
  opts.method = method;
  if (method == GA_HHT_SOI2 || method == GA_WEIGHTED)
    assert_status(s->ctx, ga_scheme_hht(s->ctx, -0.1, &opts.scheme), GA_OK);
  if (ga_machine_build(s->m)) fail_msg("%s", ga_context_error(s->ctx)->text);
  double *q = numbers(s), *v = numbers(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q, v, NULL), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  if (ga_stepper_start(s->st, &o, 0, q, v, NULL, NULL, NULL, NULL))
    fail_msg("%s", ga_context_error(s->ctx)->text);
  free(q);
  free(v);
}

static void run(shop *s, ga_method method, double end, int steps)
{
  start(s, method, end / steps);
  for (int i = 0; i < steps; i++)
    if (ga_stepper_step(s->st, end / steps)) fail_msg("step %d: %s", i, ga_context_error(s->ctx)->text);
}

static double now(const shop *s, const char *signal)
{
  return shop_signal(s, ga_stepper_state(s->st), signal);
}

static void fix(shop *s, const char *name, const char *frame, double x, double z)
{
  ga_joint_def j = ga_joint_defaults();
  j.name = name, j.kind = GA_JOINT_FIXED, j.a = "ground", j.b = frame;
  j.at_pose = 1, j.at = ga_pose_at(x, 0, z);
  SHOP_ADD(s, joint, &j);
}

static void bead(shop *s, const char *name, double mass, double x, double z)
{
  ga_point_def d = ga_point_defaults();
  d.name = name, d.mass = mass, d.massless = mass == 0;
  d.position[0] = x, d.position[2] = z;
  SHOP_ADD(s, point, &d);
}

static void push(shop *s, const char *frame, double z)
{
  ga_force_def d = ga_force_defaults();
  d.name = "push", d.frame = frame, d.force[2].value = z;
  SHOP_ADD(s, force, &d);
}

/* A bar as good as rigid, held at both ends. */
static ga_beam_def rigid_bar(const char *name, int elements, double young)
{
  ga_beam_def d = strip(name, elements);
  d.width = d.height = 0.2, d.young = young, d.density = 100, d.damping = 1e-6;
  return d;
}

/* Down a straight incline: s = s₀ + ½ g sin α t², force m g cos α, over nodes; in all forms. */
static void a_bead_slides_down(void **state)
{
  (void)state;
  for (int form = 0; form < 3; form++) {
    shop s = shop_open((ga_form)form, 0);
    ga_beam_def d = rigid_bar("rail", 5, 1e11);
    for (int i = 0; i < 3; i++) d.from[i] = d.to[i] = 0;
    d.to[0] = 4, d.to[2] = -3;
    SHOP_ADD(&s, beam, &d);
    fix(&s, "left", "rail", 0, 0);
    fix(&s, "right", "rail.end", 4, -3);
    bead(&s, "bead", 2, 0.08, -0.06);
    push(&s, "bead", -2 * G); /* the rail has no weight that would bend it */
    slide(&s, "slip", "rail", "bead", GA_SLIDER_FREE);
    run(&s, GA_STABILIZED, 1, 200);
    assert_near(now(&s, "slip.s"), 0.1 + 0.5 * G * 0.6, 1e-5, "place");
    assert_near(now(&s, "slip.s_rate"), G * 0.6, 1e-5, "rate");
    assert_near(now(&s, "slip.s_acc"), G * 0.6, 1e-3, "acceleration");
    assert_near(now(&s, "slip.fx"), 2 * G * 0.8 * 0.6, 1e-3, "force");
    assert_near(now(&s, "slip.fz"), 2 * G * 0.8 * 0.8, 1e-3, "force");
    assert_near(now(&s, "bead.x"), 0.8 * now(&s, "slip.s"), 2e-6, "on the rail");
    shop_close(&s);
  }
}

/* Runge and Kutta's method for n <= MOST_ODE equations. */
enum { MOST_ODE = 48 };
typedef void (*ode)(double t, const double *y, double *rate);

static void integrate(ode f, int n, double *y, double t, double h, int steps)
{
  for (int i = 0; i < steps; i++, t += h) {
    double k[4][MOST_ODE], at[MOST_ODE];
    for (int j = 0; j < 4; j++) {
      const double part = j == 0 ? 0 : j == 3 ? h : 0.5 * h;
      for (int c = 0; c < n; c++) at[c] = y[c] + (j ? part * k[j - 1][c] : 0);
      f(t + part, at, k[j]);
    }
    for (int c = 0; c < n; c++) y[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
  }
}

/* In a quarter of a circle of radius 1, φ from the horizontal. */
static void circle(double t, const double *y, double *rate)
{
  (void)t;
  rate[0] = y[1], rate[1] = G * cos(y[0]);
}

/* Places with order 3 at least in the length of elements; forces, which have the curvature of a spline, with
 * order 2. */
static void a_bead_slides_in_a_circle(void **state)
{
  enum { STEPS = 800 };
  double error[3][3] = {{0}};
  (void)state;
  for (int level = 0; level < (rig_brief() ? 1 : 3); level++) {
    const int steps = rig_brief() ? 200 : STEPS;
    double y[2] = {0.05, 0};
    shop s = shop_open(GA_FORM_SPACE, -G);
    ga_beam_def d = rigid_bar("bowl", 6 << level, 1e12);
    /* it starts at (−1, 0, 0), goes down, and ends at (0, 0, −1) */
    d.length = 0.5 * PI, d.curvature[1] = -1;
    d.pose = ga_pose_at(-1, 0, 0);
    const double down[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0};
    memcpy(d.pose.rotation, down, sizeof down);
    SHOP_ADD(&s, beam, &d);
    ga_joint_def j = ga_joint_defaults();
    j.name = "wall", j.kind = GA_JOINT_FIXED, j.a = "corner", j.b = "bowl";
    ga_marker_def corner = ga_marker_defaults();
    corner.name = "corner", corner.body = "ground", corner.pose = d.pose;
    SHOP_ADD(&s, marker, &corner);
    SHOP_ADD(&s, joint, &j);
    bead(&s, "bead", 2, -cos(0.05), -sin(0.05));
    slide(&s, "slip", "bowl", "bead", GA_SLIDER_FREE);
    start(&s, GA_STABILIZED, 0.5 / steps);
    for (int i = 0; i < steps; i++) {
      assert_status(s.ctx, ga_stepper_step(s.st, 0.5 / steps), GA_OK);
      integrate(circle, 2, y, 0, 0.05 / steps, 10);
      const double off[3] = {now(&s, "slip.s") - y[0], now(&s, "bead.x") + cos(y[0]),
                             hypot(now(&s, "slip.fx"), now(&s, "slip.fz")) -
                                 2 * (y[1] * y[1] + G * sin(y[0]))};
      for (int k = 0; k < 3 && i > steps / 8; k++) error[level][k] = fmax(error[level][k], fabs(off[k]));
    }
    shop_close(&s);
  }
  assert_near(error[0][0], 0, 1e-4, "place");
  assert_near(error[0][1], 0, 3e-4, "of the bead");
  if (!rig_brief()) assert_near(error[0][2], 0, 0.7, "force"); /* long steps: that of axial waves */
  for (int k = 0; k < 2 && !rig_brief(); k++)
    assert_true(log2(error[0][k] / error[1][k]) > 2.8 && error[2][k] < 3e-6);
  if (!rig_brief()) assert_near(log2(error[1][2] / error[2][2]), 2, 0.2, "order of the force");
}

/* ---- Loads and masses that cross a bridge ---- */

static const double SPAN = 10, EI = 1e6, PER_LENGTH = 50, SPEED = 12;

/* A slender bridge on a hinge and on rollers. */
static void bridge(shop *s, int elements, double damping)
{
  ga_beam_def d = ga_beam_defaults();
  ga_joint_def j = ga_joint_defaults();
  d.name = "bridge", d.length = SPAN, d.elements = elements, d.damping = damping;
  d.section = GA_SECTION_NUMBERS;
  const double K[6] = {1e9, 1e10, 1e10, EI, EI, EI};
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = K[i];
  d.mass_per_length = PER_LENGTH;
  for (int i = 0; i < 3; i++) d.rotary_inertia[i] = i ? 1e-4 : 2e-4;
  SHOP_ADD(s, beam, &d);
  shop_turned(s, "hinge", "ground", 0, 0, 0, 0, 0.5 * PI);
  shop_turned(s, "pin", "bridge", 0, 0, 0, 0, 0.5 * PI);
  shop_turned(s, "rail", "ground", SPAN, 0, 0, 1, 0.5 * PI);
  j.name = "left", j.kind = GA_JOINT_REVOLUTE, j.a = "hinge", j.b = "pin";
  SHOP_ADD(s, joint, &j);
  j = ga_joint_defaults();
  j.name = "right", j.kind = GA_JOINT_POINT_ON_LINE, j.a = "rail", j.b = "bridge.end";
  SHOP_ADD(s, joint, &j);
}

/* Deflection under a force P that has moved since t = 0 from one end (Timoshenko 1922; Frýba 1972). */
static double crossing_force(double P, double x, double t)
{
  double sum = 0;
  for (int n = 1; n <= 400; n++) {
    const double k = n * PI / SPAN, omega = k * k * sqrt(EI / PER_LENGTH), forced = k * SPEED;
    sum +=
        sin(k * x) / (omega * omega - forced * forced) * (sin(forced * t) - forced / omega * sin(omega * t));
  }
  return 2 * P / (PER_LENGTH * SPAN) * sum;
}

static void close_with(shop *s, ga_function *f)
{
  ga_stepper_destroy(&s->st);
  ga_machine_destroy(&s->m);
  ga_function_destroy(&f);
  shop_close(s);
}

static void drive_at(shop *s, const char *name, const char *coordinate, const ga_function *f)
{
  ga_drive_def d = ga_drive_defaults();
  d.name = name, d.coordinate = coordinate, d.function = f;
  SHOP_ADD(s, drive, &d);
}

/* Deflections under the load and in the middle at t = 0.55 s, as it has crossed two thirds. */
static void cross(int elements, int steps, double mass, double end, double damping, double out[3])
{
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_function *go = shop_function(s.ctx, "12*t");
  bridge(&s, elements, damping);
  bead(&s, "car", mass, 0, 0);
  slide(&s, "wheel", "bridge", "car", GA_SLIDER_FREE);
  drive_at(&s, "go", "wheel.s", go);
  push(&s, "car", mass > 0 ? -mass * G : -1000);
  shop_marker(&s, "middle", "bridge", 0.5 * SPAN, 0, 0);
  run(&s, GA_STABILIZED, end, steps);
  out[0] = now(&s, "middle.z");
  out[1] = now(&s, "car.z");
  out[2] = now(&s, "wheel.fz");
  close_with(&s, go);
}

/* Against the series in space, with short steps; with order 2 in time. */
static void a_load_crosses_a_bridge(void **state)
{
  const double end = 0.55,
               exact[2] = {-crossing_force(1000, 0.5 * SPAN, end), -crossing_force(1000, SPEED * end, end)};
  double error[2][2], in_time[3][3];
  (void)state;
  for (int level = 0; level < (rig_brief() ? 1 : 2); level++) {
    double z[3];
    cross(6 << level, rig_brief() ? 100 : 1600, 0, end, 0, z);
    assert_near(z[2], 1000, 1e-8, "force on the load");
    for (int k = 0; k < 2; k++) error[level][k] = fabs(z[k] - exact[k]) / fabs(exact[k]);
  }
  assert_true(error[0][0] < 6e-3 && error[0][1] < 6e-3);
  if (rig_brief()) return;
  assert_true(error[1][0] < 3e-4 && error[1][1] < 3e-4 && log2(error[0][0] / error[1][0]) > 3.5);
  for (int level = 0; level < 3; level++) cross(8, 400 << level, 0, end, 2e-3, in_time[level]);
  for (int k = 0; k < 2; k++)
    assert_near(log2((in_time[0][k] - in_time[1][k]) / (in_time[1][k] - in_time[2][k])), 2, 0.3, "in time");
}

/* A mass instead, with gravity on it alone, which moves with the bridge: modes of the bridge, and
 * F = m (g − w''), w'' = Σ q'' φ + 2 v q' φ' + v² q φ''. */
enum { MODES = 24 };
static const double MASS = 150;

static void crossing_mass(double t, const double *y, double *rate)
{
  const double x = SPEED * t, own = 0.5 * PER_LENGTH * SPAN;
  double phi[MODES], free = -G, share = 0;
  /* own (q'' + ω² q) = F φ with F = m (−g − w''), downwards negative */
  for (int n = 0; n < MODES; n++) {
    const double k = (n + 1) * PI / SPAN, omega2 = k * k * k * k * EI / PER_LENGTH;
    phi[n] = sin(k * x);
    free -= -omega2 * y[n] * phi[n] + 2 * SPEED * y[MODES + n] * k * cos(k * x) -
            SPEED * SPEED * k * k * y[n] * phi[n];
    share += phi[n] * phi[n] / own;
  }
  const double F = MASS * free / (1 + MASS * share);
  for (int n = 0; n < MODES; n++) {
    const double k = (n + 1) * PI / SPAN, omega2 = k * k * k * k * EI / PER_LENGTH;
    rate[n] = y[MODES + n];
    rate[MODES + n] = F * phi[n] / own - omega2 * y[n];
  }
}

static void a_mass_crosses_a_bridge(void **state)
{
  const double end = 0.6;
  double y[MOST_ODE] = {0}, rate[MOST_ODE], exact[3] = {0, 0, MASS * G}, z[3];
  (void)state;
  integrate(crossing_mass, 2 * MODES, y, 0, end / 20000, 20000);
  crossing_mass(end, y, rate);
  for (int n = 0; n < MODES; n++) {
    const double k = (n + 1) * PI / SPAN, phi = sin(k * SPEED * end);
    exact[0] += y[n] * sin((n + 1) * PI / 2);
    exact[1] += y[n] * phi;
    exact[2] += MASS * (rate[MODES + n] * phi + 2 * SPEED * y[MODES + n] * k * cos(k * SPEED * end) -
                        SPEED * SPEED * k * k * y[n] * phi);
  }
  const double bound[2][3] = {{1e-4, 2e-4, 1e-2},
                              {1e-2, 1e-2, 5e-2}}; /* of fine and of coarse meshes and steps */
  const double *within = bound[rig_brief()];
  cross(rig_brief() ? 8 : 24, rig_brief() ? 100 : 2400, MASS, end, 0, z);
  assert_near(z[0], exact[0], within[0] * fabs(exact[0]), "middle");
  assert_near(z[1], exact[1], within[1] * fabs(exact[1]), "under the mass");
  assert_near(z[2], exact[2], within[2] * exact[2], "force on the mass");
}

/* ---- Energy, orders ---- */

/* A soft arm turns about a hinge; a block, its x axis along it, slides outwards on it, pulled back by a
 * spring. */
static shop rotor(ga_form form)
{
  shop s = shop_open(form, -G);
  ga_beam_def d = strip("arm", 6);
  d.length = 1.2, d.young = 5e6, d.damping = 0.02;
  d.omega[2] = 3, d.omega[1] = -0.5;
  SHOP_ADD(&s, beam, &d);
  ga_joint_def j = ga_joint_defaults();
  j.name = "ball", j.kind = GA_JOINT_SPHERICAL, j.a = "ground", j.b = "arm";
  SHOP_ADD(&s, joint, &j);
  ga_rigid_def block = ga_rigid_defaults();
  block.name = "block", block.mass = 0.8;
  for (int i = 0; i < 3; i++) block.inertia[i] = 2e-3 + 1e-3 * i;
  block.pose = ga_pose_at(0.31, 0, 0);
  block.velocity[1] = 3 * 0.31, block.velocity[2] = 0.5 * 0.31, block.velocity[0] = 0.4;
  memcpy(block.omega, d.omega, sizeof block.omega);
  SHOP_ADD(&s, rigid, &block);
  slide(&s, "slip", "arm", "block", GA_SLIDER_TANGENT);
  ga_spring_def k = ga_spring_defaults();
  k.name = "coil", k.coordinate = "slip.s", k.stiffness = 8, k.rest = 0.2;
  SHOP_ADD(&s, spring, &k);
  return s;
}

/* Positions, velocities, forces and torques have order 2, and so has the balance of energy: with every
 * method, in every form. */
static void motion_has_order_two(void **state)
{
  static const char *const signal[] = {"slip.s",  "slip.s_rate", "block.z", "block.wz",
                                       "slip.fz", "slip.my",     "ball.fy", "energy.balance"};
  static const way ways[] = {{GA_STABILIZED, GA_FORM_SPACE}, {GA_STABILIZED, GA_FORM_BODY},
                             {GA_STABILIZED, GA_FORM_SE3},   {GA_INDEX3, GA_FORM_SPACE},
                             {GA_SOI2, GA_FORM_SPACE},       {GA_HHT_SOI2, GA_FORM_BODY},
                             {GA_WEIGHTED, GA_FORM_SPACE}};
  enum { N = sizeof signal / sizeof *signal, LEVELS = 4 };
  (void)state;
  for (size_t w = 0; w < (rig_brief() ? 1 : sizeof ways / sizeof *ways); w++) {
    double value[LEVELS][N];
    for (int level = 0; level < LEVELS; level++) {
      const int steps = (rig_brief() ? 10 : 200) << level;
      const double h = (rig_brief() ? 0.01 : 0.3) / steps;
      shop s = rotor(ways[w].form);
      ga_meter *meter = NULL;
      start(&s, ways[w].method, h);
      assert_status(s.ctx, ga_meter_create(s.ctx, s.m, &meter), GA_OK);
      assert_status(s.ctx, ga_meter_start(meter, ga_stepper_state(s.st)), GA_OK);
      for (int i = 0; i < steps; i++) {
        if (ga_stepper_step(s.st, h)) fail_msg("%s", ga_context_error(s.ctx)->text);
        assert_status(s.ctx, ga_meter_update(meter, ga_stepper_state(s.st)), GA_OK);
      }
      for (int i = 0; i < N; i++) {
        const int index = ga_machine_find_signal(s.m, signal[i]);
        if (index < 0) fail_msg("%s", signal[i]);
        assert_status(s.ctx,
                      ga_machine_signals(s.m, meter, ga_stepper_state(s.st), 1, &index, &value[level][i]),
                      GA_OK);
      }
      ga_meter_destroy(&meter);
      shop_close(&s);
    }
    for (int i = 0; i < N && !rig_brief(); i++) {
      const double rough = fabs(value[LEVELS - 3][i] - value[LEVELS - 2][i]),
                   fine = fabs(value[LEVELS - 2][i] - value[LEVELS - 1][i]);
      if (fine > 5e-6) assert_near(log2(rough / fine), 2, 0.25, signal[i]); /* below it errors cancel */
      assert_true(fine < 2e-5);
    }
  }
}

/* ---- Statics: a weight on a light cable hangs on an ellipse ---- */

/* Weightless and without stretch, between (0, 0) and (D, −0.5): both sides have the same angle with the
 * vertical, sin β = D/L, and the same tension. Places converge with order 1, as the kink is cut short;
 * tensions differ by what elements hold the weight with, which does not become less with their number: 0.5 %
 * of it at 42 deg, 3 % at 84 deg. */
static void a_weight_hangs_on_a_cable(void **state)
{
  static const double distance[] = {5.6, 4}, uneven[] = {0.006, 0.04};
  const double L = 6, W = 200;
  (void)state;
  for (int k = 0; k < 2; k++) {
    const double D = distance[k], cosine = sqrt(1 - D * D / (L * L)), l = 0.5 * (L + 0.5 / cosine);
    double error[2];
    for (int level = 0; level < (rig_brief() ? 1 : 2); level++) {
      shop s = shop_open(GA_FORM_SPACE, -G);
      ga_cable_def d = ga_cable_defaults();
      d.name = "rope", d.length = L, d.elements = 10 << level;
      for (int i = 0; i < 3; i++) d.from[i] = d.to[i] = 0;
      d.to[0] = D, d.to[2] = -0.5;
      d.stiffness = 1e6, d.mass_per_length = 0.01;
      SHOP_ADD(&s, cable, &d);
      for (int end = 0; end < 2; end++) {
        ga_joint_def j = ga_joint_defaults();
        j.name = end ? "right" : "left", j.kind = GA_JOINT_SPHERICAL;
        j.a = "ground", j.b = end ? "rope.end" : "rope";
        j.at_pose = 1, j.at = ga_pose_at(end ? D : 0, 0, end ? -0.5 : 0);
        SHOP_ADD(&s, joint, &j);
      }
      bead(&s, "weight", W / G, 0.98 * l * D / L, -0.9 * l * cosine);
      slide(&s, "pulley", "rope", "weight", GA_SLIDER_FREE);
      shop_build(&s);
      ga_equilibrium *eq = NULL;
      double *q = numbers(&s), *v = numbers(&s);
      assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
      assert_status(s.ctx, ga_equilibrium_create(s.ctx, ga_machine_system(s.m), NULL, &eq), GA_OK);
      if (ga_equilibrium_solve(eq, 0, q, NULL, NULL)) fail_msg("%s", ga_context_error(s.ctx)->text);
      const ga_state *at = ga_equilibrium_state(eq);
      const double left = shop_signal(&s, at, "rope.tension"),
                   right = shop_signal(&s, at, "rope.end.tension");
      error[level] = fabs(shop_signal(&s, at, "weight.z") + l * cosine);
      assert_near(shop_signal(&s, at, "pulley.fx"), 0, 1e-8 * W, "no force along the level");
      assert_near(left, right, uneven[k] * W, "equal tensions");
      free(q), free(v);
      ga_equilibrium_destroy(&eq);
      shop_close(&s);
    }
    if (!rig_brief()) assert_near(log2(error[0] / error[1]), 1, 0.2, "order");
  }
}

/* ---- Starts, ends, what is refused ---- */

static shop inclined(void)
{
  shop s = shop_open(GA_FORM_SPACE, -G);
  ga_beam_def d = rigid_bar("rail", 4, 1e9);
  for (int i = 0; i < 3; i++) d.from[i] = d.to[i] = 0;
  d.to[0] = 4, d.to[2] = -3;
  SHOP_ADD(&s, beam, &d);
  fix(&s, "left", "rail", 0, 0);
  fix(&s, "right", "rail.end", 4, -3);
  bead(&s, "bead", 2, 3.2, -2.4);
  return s;
}

/* It stops at the end of what it slides on, with name, place and length. */
static void it_does_not_slide_off(void **state)
{
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    shop s = inclined();
    slide(&s, "slip", "rail", "bead", GA_SLIDER_FREE);
    shop_build(&s);
    ga_stepper_opts opts = ga_stepper_defaults();
    ga_start_opts start_opts = ga_start_defaults();
    ga_simulate_opts o = ga_simulate_defaults();
    ga_simulator *sim = NULL;
    ga_step_failure failure;
    double *q = numbers(&s), *v = numbers(&s);
    o.t_end = 2;
    o.fixed_h = fixed ? 0.01 : 0;
    assert_status(s.ctx, ga_machine_initial(s.m, q, v, NULL), GA_OK);
    assert_status(s.ctx, ga_stepper_create(s.ctx, ga_machine_system(s.m), &opts, &s.st), GA_OK);
    assert_status(s.ctx, ga_simulator_create(s.ctx, s.st, &o, &sim), GA_OK);
    assert_status(s.ctx, ga_simulator_start(sim, &start_opts, 0, q, v, NULL, NULL, NULL, NULL), GA_OK);
    assert_true(ga_simulator_run(sim) != GA_OK);
    assert_true(ga_stepper_failure(s.st, &failure));
    assert_int_equal(failure.error.reason, GA_REASON_SLID_OFF);
    assert_string_equal(failure.error.part, "slip");
    const double t = ga_stepper_state(s.st)->t, fall = sqrt(2 * 1.0 / (0.6 * G));
    assert_near(t, fall, 3e-3, "when it leaves");
    assert_true(now(&s, "slip.s") <= 5 * (1 + 1e-3));
    ga_simulator_destroy(&sim);
    free(q), free(v);
    shop_close(&s);
  }
}

/* A body beside the part is moved there, and the part is not strained; a given place is taken. */
static void bodies_are_moved_to_it(void **state)
{
  (void)state;
  for (int given = 0; given < 2; given++) {
    shop s = inclined();
    ga_slider_def d = ga_slider_defaults();
    d.name = "slip", d.along = "rail", d.frame = given ? "far" : "near";
    if (given) d.s = 1.25, d.s_rate = 0.5;
    bead(&s, "near", 1, 2.0 + 0.6e-3, -1.5 + 0.8e-3);
    bead(&s, "far", 1, 0, 0.5);
    SHOP_ADD(&s, slider, &d);
    start(&s, GA_STABILIZED, 1e-4);
    assert_near(now(&s, "slip.s"), given ? 1.25 : 2.5, 1e-9, "place");
    assert_near(now(&s, "slip.s_rate"), given ? 0.5 : 0, 1e-9, "rate");
    assert_near(now(&s, given ? "far.x" : "near.x"), given ? 1 : 2, 1e-6, "x");
    assert_near(now(&s, "rail.strain_energy"), 0, 1e-9, "the rail is not strained");
    shop_close(&s);
  }
}

/* A run that is resumed goes on with the same bits as one that was saved at the same time. */
static void it_resumes(void **state)
{
  (void)state;
  double end[2];
  for (int k = 0; k < 2; k++) {
    shop s = rotor(GA_FORM_BODY);
    start(&s, GA_STABILIZED, 1e-3);
    for (int i = 0; i < 30; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    double *saved = calloc(ga_stepper_saved_size(s.st), sizeof *saved);
    assert_non_null(saved);
    assert_status(s.ctx, ga_stepper_save(s.st, saved), GA_OK);
    for (int i = 0; k && i < 7; i++) assert_status(s.ctx, ga_stepper_step(s.st, 2e-3), GA_OK);
    if (k) assert_status(s.ctx, ga_stepper_load(s.st, saved), GA_OK);
    free(saved);
    for (int i = 0; i < 30; i++) assert_status(s.ctx, ga_stepper_step(s.st, 1e-3), GA_OK);
    end[k] = now(&s, "slip.fz") + now(&s, "slip.s");
    shop_close(&s);
  }
  assert_true(end[1] == end[0]);
}

static void refuse(ga_reason reason, const char *says, const char *along, const char *frame,
                   ga_slider_orientation orientation, double place)
{
  shop s = inclined();
  ga_slider_def d = ga_slider_defaults();
  d.name = "slip", d.along = along, d.frame = frame, d.orientation = orientation, d.s = place;
  ga_beam_def rough = strip("rough", 3);
  rough.length = 1;
  SHOP_ADD(&s, beam, &rough);
  SHOP_ADD(&s, slider, &d);
  assert_int_equal(ga_machine_build(s.m), GA_ERR_ARGUMENT);
  const ga_error *error = ga_context_error(s.ctx);
  if (error->reason != reason || !strstr(error->text, says)) fail_msg("%s", error->text);
  shop_close(&s);
}

static void what_is_wrong_is_refused(void **state)
{
  (void)state;
  refuse(GA_REASON_UNKNOWN_PART, "along is 'rial'", "rial", "bead", GA_SLIDER_FREE, NAN);
  refuse(GA_REASON_WRONG_KIND, "a beam or cable is needed", "bead", "rail", GA_SLIDER_FREE, NAN);
  refuse(GA_REASON_UNKNOWN_PART, "frame is 'beed'", "rail", "beed", GA_SLIDER_FREE, NAN);
  refuse(GA_REASON_SAME_BODY, "slip", "rail", "rail.end", GA_SLIDER_FREE, NAN);
  refuse(GA_REASON_POINT_HAS_NO_AXES, "slip", "rail", "bead", GA_SLIDER_TANGENT, NAN);
  refuse(GA_REASON_OUT_OF_RANGE, "s is 5.5 m", "rail", "bead", GA_SLIDER_FREE, 5.5);
  refuse(GA_REASON_OUT_OF_RANGE, "s is -0.1 m", "rail", "bead", GA_SLIDER_FREE, -0.1);
  refuse(GA_REASON_SLIDER_NEEDS_ELEMENTS, "has only 3 elements; at least 4", "rough", "bead", GA_SLIDER_FREE,
         NAN);
}

static shop with_all(void)
{
  shop s = rotor(GA_FORM_SE3);
  ga_cable_def c = ga_cable_defaults();
  c.name = "rope", c.elements = 5, c.stiffness = 1e3, c.mass_per_length = 1;
  for (int i = 0; i < 3; i++) c.from[i] = i == 2, c.to[i] = i != 1;
  SHOP_ADD(&s, cable, &c);
  bead(&s, "ring", 1, 0.3, 1);
  ga_slider_def d = ga_slider_defaults();
  d.name = "loop", d.along = "rope", d.frame = "ring", d.s = 0.4;
  SHOP_ADD(&s, slider, &d);
  return s;
}

static void memory_may_fail(void **state)
{
  (void)state;
  shop_fail_memory(with_all);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_right),           cmocka_unit_test(curve_is_smooth),
      cmocka_unit_test(curve_of_a_cable_has_no_ripples), cmocka_unit_test(a_bead_slides_down),
      cmocka_unit_test(a_bead_slides_in_a_circle),       cmocka_unit_test(a_load_crosses_a_bridge),
      cmocka_unit_test(a_mass_crosses_a_bridge),         cmocka_unit_test(motion_has_order_two),
      cmocka_unit_test(a_weight_hangs_on_a_cable),       cmocka_unit_test(it_does_not_slide_off),
      cmocka_unit_test(bodies_are_moved_to_it),          cmocka_unit_test(it_resumes),
      cmocka_unit_test(what_is_wrong_is_refused),        cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
