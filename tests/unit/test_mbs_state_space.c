/* Linear models of machines between named inputs and outputs: closed forms in all forms of bodies, a control
 * loop, prescribed motion, and runs of the nonlinear equations with small inputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/model.h"
#include "mbs_rig.h"

enum { TEXT = 4096 };

typedef struct bench {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  ga_stepper *st;
  ga_machine_linearisation *lin;
  const ga_state_space *f;
} bench;

static void start(bench *b, const char *text)
{
  double q[128], v[128], x[64];
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-4;
  assert_int_equal(ga_context_create(NULL, &b->ctx), GA_OK);
  if (ga_model_read_text(b->ctx, "model", text, strlen(text), NULL, &b->model))
    fail_msg("%s", ga_model_message_at(b->model, 0)->text);
  b->m = ga_model_machine(b->model);
  assert_int_equal(ga_stepper_create(b->ctx, ga_machine_system(b->m), NULL, &b->st), GA_OK);
  assert_int_equal(ga_machine_initial(b->m, q, v, x), GA_OK);
  if (ga_stepper_start(b->st, &o, 0.0, q, v, x, NULL, NULL, NULL))
    fail_msg("%s", ga_context_error(b->ctx)->text);
}

static void linearise(bench *b, int n_in, const char *const *inputs, int n_out, const char *const *outputs)
{
  ga_machine_linearisation_destroy(&b->lin);
  if (ga_machine_linearisation_create(b->ctx, b->m, n_in, inputs, n_out, outputs, &b->lin) ||
      ga_machine_linearisation_compute(b->lin, ga_stepper_state(b->st), &b->f))
    fail_msg("%s", ga_context_error(b->ctx)->text);
  assert_true(b->f->n_u == n_in && b->f->n_y == n_out);
}

static void stop(bench *b)
{
  ga_machine_linearisation_destroy(&b->lin);
  ga_stepper_destroy(&b->st);
  ga_model_destroy(&b->model);
  ga_context_destroy(&b->ctx);
}

static void near_to(double value, double expected, double tolerance, const char *what)
{
  if (!(fabs(value - expected) <= tolerance)) fail_msg("%s is %.12g, not %.12g", what, value, expected);
}

/* C (s − A)⁻¹ B + D at a real s, from input j to output i. */
static double transfer(const ga_state_space *f, double s, int i, int j)
{
  enum { MOST = 24 };
  double w[MOST][MOST + 1], sum = f->D[i * f->n_u + j];
  const int n = f->n;
  assert_true(n <= MOST);
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) w[r][c] = (r == c) * s - f->A[r * n + c];
    w[r][n] = f->B[r * f->n_u + j];
  }
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int r = k; r < n; r++)
      if (fabs(w[r][k]) > fabs(w[pivot][k])) pivot = r;
    for (int c = 0; c <= n; c++) {
      const double kept = w[k][c];
      w[k][c] = w[pivot][c], w[pivot][c] = kept;
    }
    for (int r = 0; r < n; r++)
      for (int c = n; r != k && c >= k; c--) w[r][c] -= w[r][k] / w[k][k] * w[k][c];
  }
  for (int k = 0; k < n; k++) sum += f->C[i * n + k] * w[k][n] / w[k][k];
  return sum;
}

static const char *const forms[] = {"space", "body", "se3"};

/* A mass between a wall and a force: x = u/(m s² + d s + k). The body is rigid and slides, so that
 * constraints hold all else, in every form. */
static void mass_and_spring(void **state)
{
  const double m = 2.0, d = 3.0, k = 50.0;
  const char *const in[] = {"push"}, *const out[] = {"slide.displacement", "slide.displacement_rate",
                                                     "box.ax", "wall.force", "slide.fz"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[TEXT];
    bench b = {0};
    snprintf(text, sizeof text,
             "galpha: 1\nform: %s\ngravity: [0, 0, -9.81]\n"
             "bodies: {box: {type: rigid, mass: 2, inertia: [0.1, 0.2, 0.3]}}\n"
             "joints: {slide: {type: prismatic, a: ground, b: box, at: {rotation: {z_axis: [1, 0, 0]}}}}\n"
             "blocks: {push: {type: constant, value: 0}}\n"
             "forces:\n  wall: {type: spring, coordinate: slide.displacement, stiffness: 50, damping: 3}\n"
             "  pull: {type: force, frame: box, force: [push, 0, 0]}\n",
             forms[i]);
    start(&b, text);
    linearise(&b, 1, in, 5, out);
    assert_int_equal(b.f->n, 2);
    assert_string_equal(b.f->input[0], "push");
    assert_string_equal(b.f->output[0], "slide.displacement");
    assert_string_equal(b.f->output_unit[0], "m");
    assert_string_equal(b.f->state_unit[0], "m");
    assert_string_equal(b.f->state_unit[1], "m/s");
    assert_non_null(strstr(b.f->state[0], "box"));
    const double A[4] = {0, 1, -k / m, -d / m}, B[2] = {0, 1 / m};
    for (int e = 0; e < 4; e++) near_to(b.f->A[e], A[e], 1e-9, "A");
    for (int e = 0; e < 2; e++) near_to(b.f->B[e], B[e], 1e-9, "B");
    near_to(b.f->D[2], 1 / m, 1e-9, "acceleration by the force");
    for (double s = 0.5; s < 20; s *= 3) {
      const double x = 1 / (m * s * s + d * s + k);
      near_to(transfer(b.f, s, 0, 0), x, 1e-9, "displacement");
      near_to(transfer(b.f, s, 1, 0), s * x, 1e-9, "rate");
      near_to(transfer(b.f, s, 2, 0), s * s * x, 1e-9, "acceleration");
      near_to(fabs(transfer(b.f, s, 3, 0)), (k + d * s) * x, 1e-8, "force of the spring");
      near_to(transfer(b.f, s, 4, 0), 0, 1e-8, "reaction across");
    }
    stop(&b);
  }
}

/* A pendulum with a PID controller of its angle: θ = G (C r + d)/(1 + G C), G = 1/(J s² + m g l), with the
 * reference as an output of a block, a torque from outside, and an error of the sensor. */
static void control_loop(void **state)
{
  const double J = 1.5, mgl = 2.0 * 9.81 * 0.5, kp = 40.0, ki = 20.0, kd = 6.0, T = 0.05;
  const char *const in[] = {"reference", "load", "hinge.angle"}, *const out[] = {"hinge.angle", "pid"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[TEXT];
    bench b = {0};
    snprintf(text, sizeof text,
             "galpha: 1\nform: %s\ngravity: [0, -9.81, 0]\n"
             "bodies: {rod: {type: rigid, mass: 2, inertia: [0.1, 1, 1], com: [0, 0, 0], position: [0, -0.5, "
             "0]}}\n"
             "joints: {hinge: {type: revolute, a: ground, b: rod, at: [0, 0, 0]}}\n"
             "blocks:\n  reference: {type: constant, value: 0}\n  load: {type: constant, value: 0}\n"
             "  pid: {type: pid, kp: 40, ki: 20, kd: 6, filter_time: 0.05 s,\n"
             "        inputs: {setpoint: reference, measurement: hinge.angle}}\n"
             "forces: {motor: {type: actuator, coordinate: hinge.angle, force: pid + load}}\n",
             forms[i]);
    start(&b, text);
    linearise(&b, 3, in, 2, out);
    assert_int_equal(b.f->n, 4);
    for (double s = 0.3; s < 30; s *= 3) {
      const double G = 1 / (J * s * s + mgl), C = kp + ki / s + kd * s / (1 + T * s), R = kp + ki / s,
                   closed = 1 + G * C;
      near_to(transfer(b.f, s, 0, 0), G * R / closed, 1e-8, "angle by the reference");
      near_to(transfer(b.f, s, 0, 1), G / closed, 1e-8, "angle by a torque");
      near_to(transfer(b.f, s, 0, 2), -G * C / closed, 1e-8, "angle by an error of the sensor");
      near_to(transfer(b.f, s, 1, 0), R / closed, 1e-6, "torque by the reference");
      near_to(transfer(b.f, s, 1, 2), -C / closed, 1e-6, "torque by an error of the sensor");
    }
    stop(&b);
  }
}

/* A pendulum hangs from a carriage that is driven: θ/w'' = −(m l)/(J s² + m g l), the force of the drive
 * (m + M) w'' + m l θ''. */
static void driven_support(void **state)
{
  const double M = 3.0, m = 2.0, l = 0.5, J = 1.0 + m * l * l, g = 9.81;
  const char *const in[] = {"move"}, *const out[] = {"hinge.angle", "rail.displacement",
                                                     "rail.displacement_rate", "rail.displacement_acc",
                                                     "move.force"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    char text[TEXT];
    bench b = {0};
    snprintf(text, sizeof text,
             "galpha: 1\nform: %s\ngravity: [0, -9.81, 0]\n"
             "bodies:\n  cart: {type: rigid, mass: 3, inertia: [1, 1, 1]}\n"
             "  rod: {type: rigid, mass: 2, inertia: [0.5, 1, 1], position: [0, -0.5, 0]}\n"
             "joints:\n  rail: {type: prismatic, a: ground, b: cart, at: {rotation: {z_axis: [1, 0, 0]}}}\n"
             "  hinge: {type: revolute, a: cart, b: rod, at: [0, 0, 0]}\n"
             "drives: {move: {coordinate: rail.displacement, function: 0}}\n",
             forms[i]);
    start(&b, text);
    linearise(&b, 1, in, 5, out);
    assert_int_equal(b.f->n, 4);
    assert_string_equal(b.f->input_unit[0], "m/s^2");
    assert_string_equal(b.f->state[2], "move.offset");
    assert_string_equal(b.f->state[3], "move.offset_rate");
    assert_string_equal(b.f->state_unit[3], "m/s");
    for (double s = 0.3; s < 30; s *= 3) {
      const double angle = -m * l / (J * s * s + m * g * l);
      near_to(transfer(b.f, s, 0, 0), angle, 1e-8, "angle by the acceleration of the support");
      near_to(transfer(b.f, s, 1, 0), 1 / (s * s), 1e-8, "displacement");
      near_to(transfer(b.f, s, 2, 0), 1 / s, 1e-8, "rate");
      near_to(transfer(b.f, s, 3, 0), 1, 1e-8, "acceleration");
      near_to(transfer(b.f, s, 4, 0), M + m + m * l * s * s * angle, 1e-7, "force of the drive");
    }
    stop(&b);
  }
}

/* A point that just touches a plane: the equations have a kink there, or, where the force grows with δ^1.5,
 * only the slopes of the force are uncertain. And forces that bend without a kink: an actuator's by tanh,
 * beside large outputs; a spinning top's accelerations, whose third derivatives are large. */
static void kinks(void **state)
{
  const char *const normal = "floor.normal", *const in = "u", *const force = "motor.force";
  const char *const of_top[] = {"top.ax", "top.vx", "tip.fx", "top.qw"};
  bench b = {0};
  (void)state;
  start(&b, "galpha: 1\nbodies: {p: {type: point, mass: 1}}\n"
            "forces: {floor: {type: contact, plane: ground, point: p, stiffness: 1e4, exponent: 1}}\n");
  assert_int_equal(ga_machine_linearisation_create(b.ctx, b.m, 0, NULL, 0, NULL, &b.lin), GA_OK);
  assert_int_equal(ga_machine_linearisation_compute(b.lin, ga_stepper_state(b.st), &b.f), GA_ERR_DERIVATIVE);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_KINK);
  assert_string_equal(ga_context_error(b.ctx)->name, "contact 'floor'");
  stop(&b);
  b = (bench){0};
  start(&b, "galpha: 1\nbodies: {p: {type: point, mass: 1}}\n"
            "forces: {floor: {type: contact, plane: ground, point: p, stiffness: 1e4, exponent: 1.5}}\n");
  assert_int_equal(ga_machine_linearisation_create(b.ctx, b.m, 0, NULL, 1, &normal, &b.lin), GA_OK);
  assert_int_equal(ga_machine_linearisation_compute(b.lin, ga_stepper_state(b.st), &b.f), GA_ERR_DERIVATIVE);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_NO_DERIVATIVE);
  assert_string_equal(ga_context_error(b.ctx)->name, "floor.normal");
  stop(&b);
  b = (bench){0};
  start(&b, "galpha: 1\nbodies: {p: {type: scalar, mass: 1}}\n"
            "blocks: {u: {type: constant, value: 0.3}, large: {type: gain, matrix: [[1e5]], inputs: u}}\n"
            "forces: {motor: {type: actuator, coordinate: p, force: tanh(u) + 1e-5*large}}\n");
  linearise(&b, 1, &in, 1, &force);
  near_to(b.f->D[0], 2 - tanh(0.3) * tanh(0.3), 1e-9, "force of the actuator");
  near_to(b.f->B[1], 2 - tanh(0.3) * tanh(0.3), 1e-9, "acceleration by it");
  stop(&b);
  b = (bench){0};
  start(&b, "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
            "  top: {type: rigid, mass: 15, inertia: [0.23, 0.23, 0.3], position: [0, 0.6, 0.8], omega: [0, "
            "120, 160],\n"
            "        omega_in_body: false}\n"
            "joints: {tip: {type: spherical, a: ground, b: top, at: [0, 0, 0]}}\n");
  linearise(&b, 0, NULL, 4, of_top);
  stop(&b);
}

/* What there is not, cannot be, or has no derivative. */
static void refusals(void **state)
{
  static const char text[] = "galpha: 1\nbodies: {p: {type: point, mass: 1}}\n"
                             "blocks: {u: {type: constant, value: 0}, kink: {type: expression, inputs: {a: "
                             "p.x}, expression: abs(a)}}\n"
                             "forces: {f: {type: force, frame: p, force: [u, 0, 0]}}\n";
  static const struct {
    const char *input, *output;
    ga_reason reason;
  } wrong[] = {{"nothing", "p.x", GA_REASON_UNKNOWN_INPUT},
               {"p.y", "p.x", GA_REASON_NOT_AN_INPUT},
               {"u", "p.q", GA_REASON_UNKNOWN_SIGNAL},
               {"u", "energy.balance", GA_REASON_NOT_AN_OUTPUT}};
  const char *const twice[] = {"u", "u"}, *const out[] = {"p.x"};
  bench b = {0};
  (void)state;
  start(&b, text);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(
        ga_machine_linearisation_create(b.ctx, b.m, 1, &wrong[i].input, 1, &wrong[i].output, &b.lin),
        GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(b.ctx)->reason, wrong[i].reason);
    assert_null(b.lin);
  }
  assert_int_equal(ga_machine_linearisation_create(b.ctx, b.m, 2, twice, 1, out, &b.lin), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(b.ctx)->reason, GA_REASON_INPUT_TWICE);
  stop(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(mass_and_spring), cmocka_unit_test(control_loop),
                                     cmocka_unit_test(driven_support), cmocka_unit_test(kinks),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("mbs: linear models", tests, NULL, NULL);
}
