/* What the tests of parts share: a machine with counted memory, and a right definition of every kind. Include
 * after cmocka.h. */
#ifndef GALPHA_TESTS_MBS_PARTS_RIG_H
#define GALPHA_TESTS_MBS_PARTS_RIG_H

#include "core_rig.h"
#include "mbs/modal.h"
#include "mbs/parts.h"

typedef union any_def {
  const char *name; /* the first field of all */
  ga_rigid_def rigid;
  ga_planar_def planar;
  ga_point_def point;
  ga_scalar_def scalar;
  ga_beam_def beam;
  ga_cable_def cable;
  ga_modal_def modal;
  ga_marker_def marker;
  ga_joint_def joint;
  ga_drive_def drive;
  ga_rolling_def rolling;
  ga_slider_def slider;
  ga_constraint_def constraint;
  ga_spring_def spring;
  ga_actuator_def actuator;
  ga_friction_def friction;
  ga_dry_friction_def dry_friction;
  ga_bushing_def bushing;
  ga_force_def force;
  ga_line_load_def line_load;
  ga_contact_def contact;
  ga_road_def road;
  ga_tyre_def tyre;
  ga_collider_def collider;
  ga_shape_def shape;
  ga_collision_def collision;
  ga_stop_def stop;
  ga_rigid_stop_def rigid_stop;
  ga_sensor_def sensor;
  ga_signal_def signal;
  ga_guess_def guess;
  ga_variable_def variable;
  ga_event_def event;
  ga__block_def block;
} any_def;

typedef struct parts_rig {
  ga_context *ctx;
  ga_machine *m;
  ga_function *function;
  ga_input inputs[2]; /* of blocks */
  long block_size;    /* allocations that a block holds */
} parts_rig;

static inline ga_status parts_block(ga_context *ctx, ga_control_block **out)
{
  const ga_block_sum_opts sum = ga_block_sum_defaults(); /* two inputs */
  return ga_block_create_sum(ctx, &sum, out);
}

static inline int parts_set_up(void **state)
{
  parts_rig *r = calloc(1, sizeof *r);
  if (!r) return -1;
  *state = r;
  rig_memory = (rig_heap){0, 0, 0, 0};
  ga_control_block *block = NULL;
  if (rig_context(&r->ctx) || ga_machine_create(r->ctx, NULL, &r->m) ||
      ga_function_create_constant(r->ctx, 1, &r->function) || parts_block(r->ctx, &block))
    return -1;
  r->block_size = rig_memory.live;
  ga_block_destroy(&block);
  r->block_size -= rig_memory.live;
  return 0;
}

/* Nothing may be left. */
static inline int parts_tear_down(void **state)
{
  parts_rig *r = *state;
  ga_machine_destroy(&r->m);
  ga_function_destroy(&r->function);
  ga_context_destroy(&r->ctx);
  free(r);
  return rig_memory.live == 0 ? 0 : -1;
}

/* A reduced body of one mode and one interface node. */
static inline const ga_modal_body *parts_modal_body(void)
{
  static char name[] = "end";
  static double zero[18], lambda[] = {100};
  static ga__modal_point point = {.name = name, .phi = zero, .psi = zero};
  static const ga_modal_body body = {.n = 1,
                                     .mass = 1,
                                     .J = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                     .lambda = lambda,
                                     .J1 = zero,
                                     .J2 = zero,
                                     .C = zero,
                                     .size = 1,
                                     .n_points = 1,
                                     .point = &point};
  return &body;
}

/* All texts are given that may be. A block is created with it; it fails the test when memory ends. */
static inline void def_of(parts_rig *r, ga__part_kind kind, const char *name, any_def *def)
{
  static const double bent[9] = {0, 0, 0, 1, 0.2, 0, 2, 0, 0.1};
  memset(def, 0, sizeof *def);
  switch (kind) {
  case GA__PART_RIGID:
    def->rigid = ga_rigid_defaults();
    def->rigid.mass = 1;
    for (int i = 0; i < 3; i++) def->rigid.inertia[i] = 2 + i;
    break;
  case GA__PART_PLANAR:
    def->planar = ga_planar_defaults();
    def->planar.mass = def->planar.inertia = 1;
    break;
  case GA__PART_POINT:
    def->point = ga_point_defaults();
    def->point.mass = 1;
    break;
  case GA__PART_SCALAR:
    def->scalar = ga_scalar_defaults();
    def->scalar.mass = 1;
    break;
  case GA__PART_BEAM:
    def->beam = ga_beam_defaults();
    def->beam.length = 1;
    def->beam.section = GA_SECTION_CIRCLE;
    def->beam.diameter = 0.1;
    def->beam.young = def->beam.density = 1e3;
    for (int i = 0; i < 3; i++) def->beam.load[i].expression = def->beam.moment[i].expression = "sin(t)";
    break;
  case GA__PART_CABLE:
    def->cable = ga_cable_defaults();
    def->cable.points = bent;
    def->cable.n_points = def->cable.point_size = 3;
    for (int i = 0; i < 3; i++) def->cable.load[i].expression = "sin(t)";
    def->cable.stiffness = def->cable.mass_per_length = 1;
    break;
  case GA__PART_LINE_LOAD:
    def->line_load = ga_line_load_defaults();
    def->line_load.body = "rope";
    for (int i = 0; i < 3; i++)
      def->line_load.load[i].expression = def->line_load.moment[i].expression = "sin(t)";
    break;
  case GA__PART_MODAL:
    def->modal = ga_modal_defaults();
    def->modal.body = parts_modal_body();
    break;
  case GA__PART_MARKER:
    def->marker = ga_marker_defaults();
    def->marker.body = "arm";
    break;
  case GA__PART_JOINT:
    def->joint = ga_joint_defaults();
    def->joint.kind = GA_JOINT_REVOLUTE;
    def->joint.a = "arm";
    def->joint.b = "ground";
    break;
  case GA__PART_DRIVE:
    def->drive = ga_drive_defaults();
    def->drive.coordinate = "hinge.angle";
    def->drive.function = r->function;
    break;
  case GA__PART_ROLLING:
    def->rolling = ga_rolling_defaults();
    def->rolling.body = "arm";
    def->rolling.radius = 1;
    break;
  case GA__PART_SLIDER:
    def->slider = ga_slider_defaults();
    def->slider.along = "rope";
    def->slider.frame = "arm";
    break;
  case GA__PART_ROAD:
    def->road = ga_road_defaults();
    def->road.height = "0.1*sin(x)";
    break;
  case GA__PART_TYRE:
    def->tyre = ga_tyre_defaults();
    def->tyre.wheel = "arm";
    def->tyre.road = "road";
    def->tyre.radius = 0.3;
    def->tyre.stiffness = 2e5;
    def->tyre.mu = 0.9;
    def->tyre.slip_stiffness = def->tyre.cornering_stiffness = 15;
    break;
  case GA__PART_CONSTRAINT:
    def->constraint = ga_constraint_defaults();
    def->constraint.zero = "arm.x - sin(arm.y)";
    def->constraint.unit = "m";
    break;
  case GA__PART_SPRING:
    def->spring = ga_spring_defaults();
    def->spring.a = "arm";
    def->spring.b = "ground";
    def->spring.expression = "l^3";
    break;
  case GA__PART_ACTUATOR:
    def->actuator = ga_actuator_defaults();
    def->actuator.a = "arm";
    def->actuator.b = "ground";
    def->actuator.force.expression = "sin(t)";
    break;
  case GA__PART_FRICTION:
    def->friction = ga_friction_defaults();
    def->friction.a = "arm";
    def->friction.b = "ground";
    def->friction.speed = 0.1;
    break;
  case GA__PART_DRY_FRICTION:
    def->dry_friction = ga_dry_friction_defaults();
    def->dry_friction.a = "arm";
    def->dry_friction.b = "ground";
    def->dry_friction.level.expression = "2 + sin(t)";
    break;
  case GA__PART_BUSHING:
    def->bushing = ga_bushing_defaults();
    def->bushing.a = "arm";
    def->bushing.b = "ground";
    break;
  case GA__PART_FORCE:
    def->force = ga_force_defaults();
    def->force.frame = "arm";
    for (int i = 0; i < 3; i++) def->force.force[i].expression = def->force.torque[i].expression = "cos(t)";
    break;
  case GA__PART_COLLIDER:
    def->collider = ga_collider_defaults();
    def->collider.kind = GA_COLLIDER_BOX;
    def->collider.frame = "arm";
    def->collider.size[0] = def->collider.size[1] = def->collider.size[2] = 0.1;
    break;
  case GA__PART_SHAPE:
    def->shape = ga_shape_defaults();
    def->shape.frame = "arm";
    def->shape.colour = "red";
    def->shape.size[0] = def->shape.size[1] = def->shape.size[2] = 0.1;
    break;
  case GA__PART_COLLISION:
    def->collision = ga_collision_defaults();
    def->collision.a = "collider";
    def->collision.b = "floor";
    def->collision.stiffness = 1e4;
    break;
  case GA__PART_CONTACT:
    def->contact = ga_contact_defaults();
    def->contact.plane = "ground";
    def->contact.point = "arm";
    def->contact.stiffness = 1e4;
    break;
  case GA__PART_STOP:
    def->stop = ga_stop_defaults();
    def->stop.coordinate = "hinge.angle";
    def->stop.other = "pin.angle";
    def->stop.ratio = 2;
    def->stop.lower = -1;
    def->stop.upper = 1;
    def->stop.stiffness = 1e4;
    break;
  case GA__PART_RIGID_STOP:
    def->rigid_stop = ga_rigid_stop_defaults();
    def->rigid_stop.coordinate = "hinge.angle";
    def->rigid_stop.lower = -1;
    break;
  case GA__PART_SENSOR:
    def->sensor = ga_sensor_defaults();
    def->sensor.of = "arm";
    break;
  case GA__PART_SIGNAL:
    def->signal = ga_signal_defaults();
    def->signal.expression = "2*t";
    break;
  case GA__PART_GUESS:
    def->guess = ga_guess_defaults();
    def->guess.signal = "arm.ax";
    break;
  case GA__PART_VARIABLE:
    def->variable = ga_variable_defaults();
    def->variable.value = 2;
    break;
  case GA__PART_EVENT:
    def->event = ga_event_defaults();
    def->event.when = "arm.z - 1";
    def->event.set = "arm.vz";
    def->event.to = "-arm.vz";
    break;
  case GA__PART_BLOCK:
    r->inputs[0] = (ga_input){.expression = "2*t"};
    r->inputs[1] = (ga_input){.value = 1, .expression = "t"};
    if (parts_block(r->ctx, &def->block.block)) fail_msg("no block: %s", ga_context_error(r->ctx)->text);
    def->block.inputs = r->inputs;
    break;
  case GA__PART_GROUND:
  case GA__N_PARTS:
    break;
  }
  def->name = name;
}

static inline ga_status add_any(ga_machine *m, ga__part_kind kind, any_def *def)
{
  switch (kind) {
  case GA__PART_RIGID:
    return ga_machine_add_rigid(m, &def->rigid);
  case GA__PART_PLANAR:
    return ga_machine_add_planar(m, &def->planar);
  case GA__PART_POINT:
    return ga_machine_add_point(m, &def->point);
  case GA__PART_SCALAR:
    return ga_machine_add_scalar(m, &def->scalar);
  case GA__PART_BEAM:
    return ga_machine_add_beam(m, &def->beam);
  case GA__PART_CABLE:
    return ga_machine_add_cable(m, &def->cable);
  case GA__PART_LINE_LOAD:
    return ga_machine_add_line_load(m, &def->line_load);
  case GA__PART_MODAL:
    return ga_machine_add_modal(m, &def->modal);
  case GA__PART_MARKER:
    return ga_machine_add_marker(m, &def->marker);
  case GA__PART_JOINT:
    return ga_machine_add_joint(m, &def->joint);
  case GA__PART_DRIVE:
    return ga_machine_add_drive(m, &def->drive);
  case GA__PART_ROLLING:
    return ga_machine_add_rolling(m, &def->rolling);
  case GA__PART_SLIDER:
    return ga_machine_add_slider(m, &def->slider);
  case GA__PART_ROAD:
    return ga_machine_add_road(m, &def->road);
  case GA__PART_TYRE:
    return ga_machine_add_tyre(m, &def->tyre);
  case GA__PART_CONSTRAINT:
    return ga_machine_add_constraint(m, &def->constraint);
  case GA__PART_SPRING:
    return ga_machine_add_spring(m, &def->spring);
  case GA__PART_ACTUATOR:
    return ga_machine_add_actuator(m, &def->actuator);
  case GA__PART_FRICTION:
    return ga_machine_add_friction(m, &def->friction);
  case GA__PART_DRY_FRICTION:
    return ga_machine_add_dry_friction(m, &def->dry_friction);
  case GA__PART_BUSHING:
    return ga_machine_add_bushing(m, &def->bushing);
  case GA__PART_FORCE:
    return ga_machine_add_force(m, &def->force);
  case GA__PART_COLLIDER:
    return ga_machine_add_collider(m, &def->collider);
  case GA__PART_SHAPE:
    return ga_machine_add_shape(m, &def->shape);
  case GA__PART_COLLISION:
    return ga_machine_add_collision(m, &def->collision);
  case GA__PART_CONTACT:
    return ga_machine_add_contact(m, &def->contact);
  case GA__PART_STOP:
    return ga_machine_add_stop(m, &def->stop);
  case GA__PART_RIGID_STOP:
    return ga_machine_add_rigid_stop(m, &def->rigid_stop);
  case GA__PART_SENSOR:
    return ga_machine_add_sensor(m, &def->sensor);
  case GA__PART_SIGNAL:
    return ga_machine_add_signal(m, &def->signal);
  case GA__PART_GUESS:
    return ga_machine_add_guess(m, &def->guess);
  case GA__PART_VARIABLE:
    return ga_machine_add_variable(m, &def->variable);
  case GA__PART_EVENT:
    return ga_machine_add_event(m, &def->event);
  case GA__PART_BLOCK:
    return ga_machine_add_block(m, def->block.name, def->block.block, def->block.inputs);
  case GA__PART_GROUND:
  case GA__N_PARTS:
    break;
  }
  return GA_ERR_ARGUMENT;
}

#endif
