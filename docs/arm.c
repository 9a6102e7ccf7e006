#include <galpha/galpha.h>
#include <stdio.h>

static const double pi = 3.14159265358979324;

/* An arm of 2 kg and 1 m on a hinge, lifted by a motor: a PID controller makes its angle follow a setpoint.
 */
static ga_status build(ga_context *ctx, ga_machine *m, const ga_function *setpoint)
{
  const double z[3] = {0, 0, 1};
  ga_rigid_def arm = ga_rigid_defaults();
  arm.name = "arm", arm.mass = 2.0;
  arm.com[0] = 0.5; /* the body's frame is at the hinge, with x along the arm */
  arm.inertia[0] = 1e-3, arm.inertia[1] = arm.inertia[2] = 2.0 / 12; /* about the centre of mass */
  ga_status status =
      ga_rotation_axis_angle(ctx, z, -pi / 3, arm.pose.rotation); /* 60° below the horizontal */
  if (!status) status = ga_machine_add_rigid(m, &arm);

  ga_joint_def hinge = ga_joint_defaults();
  hinge.name = "hinge", hinge.kind = GA_JOINT_REVOLUTE;
  hinge.a = "ground", hinge.b = "arm"; /* about z of both frames, where their origins meet */
  if (!status) status = ga_machine_add_joint(m, &hinge);

  ga_spring_def bearing = ga_spring_defaults();
  bearing.name = "bearing", bearing.coordinate = "hinge.angle", bearing.damping = 0.5; /* [N m s] */
  if (!status) status = ga_machine_add_spring(m, &bearing);

  ga_block_pid_opts pid = ga_block_pid_defaults();
  ga_control_block *block = NULL;
  const ga_input inputs[2] = {{0, setpoint, NULL}, {0, NULL, "hinge.angle"}}; /* setpoint, measurement */
  pid.kp = 200, pid.ki = 400, pid.kd = 30, pid.setpoint_weight_derivative = 1;
  pid.integral = 2.0 * 9.81 * 0.5 * 0.5; /* holds the arm at the start */
  if (!status) status = ga_block_create_pid(ctx, &pid, &block);
  if (!status) status = ga_machine_add_block(m, "pid", block, inputs);

  ga_actuator_def motor = ga_actuator_defaults();
  motor.name = "motor", motor.coordinate = "hinge.angle", motor.force.expression = "pid";
  if (!status) status = ga_machine_add_actuator(m, &motor);
  return status ? status : ga_machine_build(m);
}

static int count(void *meter, const ga_stepper *st) /* after every step */
{
  return ga_meter_update(meter, ga_stepper_state(st)) != GA_OK;
}

int main(void)
{
  static const char *const name[8] = {"hinge.angle",    "motor.force",      "hinge.fy",
                                      "energy.kinetic", "energy.potential", "energy.dissipated",
                                      "energy.input",   "energy.balance"};
  double q[16], v[8], x[4], s[8]; /* 13, 7 and 2 are used: the arm, its angle, the controller */
  int index[8];
  ga_machine_opts opts = ga_machine_defaults();
  ga_motion_opts law = ga_motion_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_start_report report;
  ga_context *ctx = NULL;
  ga_machine *m = NULL;
  ga_function *setpoint = NULL;
  ga_stepper *st = NULL;
  ga_meter *meter = NULL;

  opts.gravity[1] = -9.81;
  law.from = -pi / 3, law.to = pi / 3, law.duration = 1.0;
  start.h = 1e-3;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_machine_create(ctx, &opts, &m);
  if (!status) status = ga_function_create_motion(ctx, &law, &setpoint);
  if (!status) status = build(ctx, m, setpoint);
  if (!status) status = ga_machine_initial(m, q, v, x);
  if (!status) status = ga_stepper_create(ctx, ga_machine_system(m), NULL, &st);
  if (!status) status = ga_stepper_start(st, &start, 0.0, q, v, x, NULL, NULL, &report);
  if (!status) status = ga_meter_create(ga_machine_context(m), m, &meter);
  if (!status) status = ga_meter_start(meter, ga_stepper_state(st));
  if (!status) {
    printf("mobility %d, redundant constraints %d\n", report.mobility, report.redundant);
    puts(" t/s    angle/rad  motor/Nm  bearing fy/N  kinetic  potential  dissipated   input/J  balance/J");
  }
  for (int k = 0; k < 8; k++) index[k] = ga_machine_find_signal(m, name[k]);
  for (int i = 0; i <= 8 && !status; i++) {
    if (i > 0) status = ga_stepper_run(st, start.h, 250, count, meter);
    if (!status) status = ga_machine_signals(m, meter, ga_stepper_state(st), 8, index, s);
    if (!status)
      printf("%5.2f  %9.4f  %8.3f  %12.3f  %7.4f  %9.4f  %10.4f  %8.4f  %9.1e\n", ga_stepper_state(st)->t,
             s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
  }
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_meter_destroy(&meter);
  ga_stepper_destroy(&st);
  ga_machine_destroy(&m);
  ga_function_destroy(&setpoint);
  ga_context_destroy(&ctx);
  return status ? 1 : 0;
}
