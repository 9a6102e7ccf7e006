/* spring_mass_parts: the controlled spring-mass system of Brüls & Arnold 2008 from parts;
 * examples/spring_mass.c has its equations written out. An accelerometer, a leaky integrator, a saturation,
 * an actuator. */
#include "machine.h"

static void build(const mx_machine *self, mx_builder *b)
{
  static const double A = -0.1, B = -1.4, C = 1;
  static const char *const acceleration[] = {"mass.acc"}, *const command[] = {"integrator"};
  ga_scalar_def mass = ga_scalar_defaults();
  ga_spring_def spring = ga_spring_defaults();
  ga_actuator_def actuator = ga_actuator_defaults();
  ga_block_state_space_opts leaky = ga_block_state_space_defaults();
  ga_block_tanh_opts limit = ga_block_tanh_defaults();
  ga_control_block *block = NULL;
  (void)self;
  mass.name = "mass";
  mass.mass = 1;
  mass.position = 5;
  mx_add(b, scalar, &mass);
  spring.name = "spring";
  spring.coordinate = "mass";
  spring.stiffness = 1;
  spring.rest = 0;
  mx_add(b, spring, &spring);
  leaky.n_in = leaky.n_x = leaky.n_out = 1;
  leaky.A = &A;
  leaky.B = &B;
  leaky.C = &C;
  if (!b->status) b->status = ga_block_create_state_space(b->ctx, &leaky, &block);
  mx_block(b, "integrator", block, acceleration);
  block = NULL;
  if (!b->status) b->status = ga_block_create_tanh(b->ctx, &limit, &block);
  mx_block(b, "limit", block, command);
  actuator.name = "actuator";
  actuator.coordinate = "mass";
  actuator.force.expression = "limit";
  mx_add(b, actuator, &actuator);
}

const mx_machine mx_spring_mass_parts = {
    .name = "spring_mass_parts",
    .title = "spring-mass system with acceleration feedback and saturation (Brüls & Arnold 2008)",
    .build = build,
    .t_end = 5,
    .h = 0.05,
    .rho = 0.8,
    .reference = {{"mass", NULL, 5, -0.566053023185347, 4e-3, 2},
                  {"mass.rate", NULL, 5, 2.047440149690646, 4e-3, 2},
                  {"mass.acc", NULL, 5, -0.4314401971107706, 4e-3, 2},
                  {"integrator", NULL, 5, -3.340324670314635, 4e-3, 2},
                  {"actuator.force", NULL, 5, -0.9974932202961176, 3e-5, 2}},
    .energy = 1e-2,
    .mobility = 1,
    .redundant = 0,
};
