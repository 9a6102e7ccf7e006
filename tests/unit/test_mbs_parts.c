/* Parts of a machine: what is copied, what is refused and with which words, names found among many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mbs_parts_rig.h"

/* ---- What is refused ---- */

typedef enum set_what { NOTHING, NUMBER, TEXT, INTEGER, POINTER } set_what;

typedef struct setting {
  set_what what;
  size_t offset;
  double number; /* number or integer */
  const char *text;
} setting;

typedef struct refusal {
  ga__part_kind kind;
  setting set[3];
  const char *says;
} refusal;

#define AT(type, member) offsetof(type, member)
#define NUM(type, member, value)                                                                             \
  {                                                                                                          \
    NUMBER, AT(type, member), value, NULL                                                                    \
  }
#define TXT(type, member, value)                                                                             \
  {                                                                                                          \
    TEXT, AT(type, member), 0, value                                                                         \
  }
#define INT(type, member, value)                                                                             \
  {                                                                                                          \
    INTEGER, AT(type, member), value, NULL                                                                   \
  }
#define NONE(type, member)                                                                                   \
  {                                                                                                          \
    POINTER, AT(type, member), 0, NULL                                                                       \
  }

/* Each with all of: the kind, the name, the field, the value. */
static const refusal refusals[] = {
    /* names */
    {GA__PART_RIGID, {NONE(ga_rigid_def, name)}, "rigid body: its name is missing"},
    {GA__PART_SPRING, {TXT(ga_spring_def, name, "")}, "spring: its name is empty"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "2nd")}, "mass point '2nd': the name must be a letter"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a b")}, "mass point 'a b': the name must be"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a.")}, "mass point 'a.': the name must be"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a.1")}, "mass point 'a.1': the name must be"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a..b")}, "mass point 'a..b': the name must be"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "a\nb")}, "mass point 'a b': the name must be"},
    {GA__PART_POINT, {TXT(ga_point_def, name, "größe")}, "mass point 'größe': the name must be"},
    {GA__PART_MARKER, {TXT(ga_marker_def, name, "ground")}, "marker 'ground': the names ground, t, energy"},
    {GA__PART_SCALAR, {TXT(ga_scalar_def, name, "t")}, "scalar 't': the names ground, t, energy"},
    {GA__PART_BLOCK, {TXT(ga__block_def, name, "energy")}, "block 'energy': the names ground, t, energy"},
    {GA__PART_BLOCK, {TXT(ga__block_def, name, "energy.kinetic")}, "block 'energy.kinetic': the names"},
    {GA__PART_DRIVE, {TXT(ga_drive_def, name, "taken")}, "drive 'taken': an actuator has this name already"},
    {GA__PART_ACTUATOR, {TXT(ga_actuator_def, name, "taken")}, "actuator 'taken': an actuator has this name"},

    /* rigid bodies */
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, 0)}, "rigid body 'part': mass is 0 kg; it must be > 0"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, -2)}, "rigid body 'part': mass is -2 kg; it must be > 0"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, mass, NAN)}, "rigid body 'part': mass is"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, mass, -2), INT(ga_rigid_def, massless, 1)},
     "rigid body 'part': mass is -2 kg; it must be >= 0"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[4], INFINITY)}, "rigid body 'part': inertia[4] is inf kg m²"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5.1)}, "are 2, 3, 5.1 kg m², which no body has"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5.1)}, "too small by 0.1;"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5 * (1 + 3e-9))}, "which no body has"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, inertia[0], 0)},
     "are 0, 3, 4 kg m²; each must be > 0: give a thin rod"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[3], 3)}, "none may be negative: look at units, and at Jxy"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, inertia[3], 3), INT(ga_rigid_def, massless, 1)},
     "rigid body 'part': the principal moments of inertia are -0.5"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, com[2], NAN)}, "rigid body 'part': com[2] is"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, velocity[0], -INFINITY)},
     "part': velocity[0] is -inf m/s; it must be finite"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, omega[1], NAN)}, "part': omega[1] is"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.position[1], NAN)}, "part': pose.position[1] is"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, pose.rotation[4], NAN)},
     "part': pose.rotation: number 5 of the matrix"},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, pose.rotation[8], -1)},
     "pose.rotation: the matrix is off a rotation by 2"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, pose.rotation[1], 3e-6)}, "off a rotation by 3e-06"},
    {GA__PART_RIGID, {INT(ga_rigid_def, omega_in_body, 7)}, "part': omega_in_body is 7; it must be 0 or 1"},
    {GA__PART_RIGID, {INT(ga_rigid_def, massless, -1)}, "part': massless is -1; it must be 0 or 1"},

    /* other bodies */
    {GA__PART_PLANAR, {NUM(ga_planar_def, mass, 0)}, "planar body 'part': mass is 0 kg"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, inertia, -1)}, "planar body 'part': inertia is -1 kg m²"},
    {GA__PART_PLANAR,
     {NUM(ga_planar_def, inertia, -1), INT(ga_planar_def, massless, 1)},
     "planar body 'part': inertia is -1 kg m²; it must be >= 0"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, com[1], NAN)}, "part': com[1] is"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, position[0], NAN)}, "part': position[0] is"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, z, NAN)}, "part': z is"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, angle, NAN)}, "part': angle is"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, velocity[1], NAN)}, "part': velocity[1] is"},
    {GA__PART_PLANAR, {NUM(ga_planar_def, rate, NAN)}, "part': rate is"},
    {GA__PART_PLANAR, {INT(ga_planar_def, massless, 2)}, "part': massless is 2"},
    {GA__PART_POINT, {NUM(ga_point_def, mass, 0)}, "mass point 'part': mass is 0 kg"},
    {GA__PART_POINT, {NUM(ga_point_def, position[2], INFINITY)}, "part': position[2] is inf m"},
    {GA__PART_POINT, {NUM(ga_point_def, velocity[2], NAN)}, "part': velocity[2] is"},
    {GA__PART_POINT, {INT(ga_point_def, massless, 3)}, "part': massless is 3"},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, mass, 0)}, "scalar 'part': mass is 0 kg; it must be > 0"},
    {GA__PART_SCALAR,
     {NUM(ga_scalar_def, mass, -1), INT(ga_scalar_def, rotational, 1)},
     "scalar 'part': mass is -1 kg m²"},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, position, NAN)}, "part': position is"},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, velocity, NAN)}, "part': velocity is"},
    {GA__PART_SCALAR, {INT(ga_scalar_def, rotational, 3)}, "part': rotational is 3"},
    {GA__PART_SCALAR, {INT(ga_scalar_def, massless, 3)}, "part': massless is 3"},
    {GA__PART_MARKER, {NONE(ga_marker_def, body)}, "marker 'part': body is missing; give the name of a body"},
    {GA__PART_MARKER, {TXT(ga_marker_def, body, "")}, "marker 'part': body is empty"},
    {GA__PART_MARKER, {NUM(ga_marker_def, pose.position[0], NAN)}, "part': pose.position[0] is"},
    {GA__PART_MARKER, {NUM(ga_marker_def, pose.rotation[0], 0)}, "part': pose.rotation: the matrix is off"},

    /* joints, drives, rolling */
    {GA__PART_JOINT,
     {INT(ga_joint_def, kind, GA_N_JOINTS)},
     "which is no ga_joint_kind"},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, -1)}, "joint 'part': kind is -1"},
    {GA__PART_JOINT, {NONE(ga_joint_def, a)}, "joint 'part': a is missing"},
    {GA__PART_JOINT, {NONE(ga_joint_def, b)}, "joint 'part': b is missing"},
    {GA__PART_JOINT,
     {TXT(ga_joint_def, b, "arm")},
     "joint 'part': a and b are both 'arm'; give two different"},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, 0)}, "joint 'part': length is 0 m; it must be > 0"},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, -1)}, "joint 'part': length is -1 m"},
    {GA__PART_JOINT,
     {NUM(ga_joint_def, length, INFINITY)},
     "joint 'part': length is inf m; it must be finite"},
    {GA__PART_JOINT, {NUM(ga_joint_def, pitch, NAN)}, "joint 'part': pitch is"},
    {GA__PART_JOINT, {NUM(ga_joint_def, ratio, NAN)}, "joint 'part': ratio is"},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_JOINT_GEAR)}, "ratio is 0; a gear needs its ratio"},
    {GA__PART_JOINT,
     {INT(ga_joint_def, kind, GA_JOINT_RACK)},
     "ratio is 0; a rack_and_pinion needs the pinion's"},
    {GA__PART_JOINT, {INT(ga_joint_def, at_pose, 5)}, "part': at_pose is 5"},
    {GA__PART_JOINT, {NUM(ga_joint_def, at.position[2], NAN)}, "part': at.position[2] is"},
    {GA__PART_JOINT, {NUM(ga_joint_def, at.rotation[0], 2)}, "part': at.rotation: the matrix is off"},
    {GA__PART_DRIVE,
     {NONE(ga_drive_def, coordinate)},
     "drive 'part': coordinate is missing; give the name of a coord"},
    {GA__PART_DRIVE, {NONE(ga_drive_def, function)}, "drive 'part': function is missing"},
    {GA__PART_ROLLING,
     {INT(ga_rolling_def, kind, 3)},
     "rolling 'part': kind is 3, which is no ga_rolling_kind"},
    {GA__PART_ROLLING, {NONE(ga_rolling_def, body)}, "rolling 'part': body is missing"},
    {GA__PART_ROLLING, {NONE(ga_rolling_def, plane)}, "rolling 'part': plane is missing"},
    {GA__PART_ROLLING, {TXT(ga_rolling_def, plane, "arm")}, "rolling 'part': body and plane are both 'arm'"},
    {GA__PART_ROLLING, {NUM(ga_rolling_def, radius, 0)}, "rolling 'part': radius is 0 m"},
    {GA__PART_ROLLING, {NUM(ga_rolling_def, radius, NAN)}, "rolling 'part': radius is"},

    /* forces */
    {GA__PART_SPRING, {NONE(ga_spring_def, a)}, "spring 'part': a is missing"},
    {GA__PART_SPRING, {NONE(ga_spring_def, b)}, "spring 'part': b is missing"},
    {GA__PART_SPRING, {NONE(ga_spring_def, a), NONE(ga_spring_def, b)}, "spring 'part': it acts on nothing"},
    {GA__PART_SPRING,
     {TXT(ga_spring_def, coordinate, "hinge.angle")},
     "spring 'part': it has both a line (a is 'arm') and a coordinate ('hinge.angle'); give one"},
    {GA__PART_SPRING,
     {TXT(ga_spring_def, coordinate, "hinge.angle"), NONE(ga_spring_def, a)},
     "it has both a line (b is 'ground')"},
    {GA__PART_SPRING, {TXT(ga_spring_def, a, "ground")}, "spring 'part': a and b are both 'ground'"},
    {GA__PART_SPRING, {TXT(ga_spring_def, coordinate, "")}, "spring 'part': coordinate is empty; give NULL"},
    {GA__PART_SPRING, {TXT(ga_spring_def, expression, "")}, "spring 'part': expression is empty; give NULL"},
    {GA__PART_SPRING, {NUM(ga_spring_def, stiffness, NAN)}, "spring 'part': stiffness is"},
    {GA__PART_SPRING, {NUM(ga_spring_def, damping, NAN)}, "spring 'part': damping is"},
    {GA__PART_SPRING, {NUM(ga_spring_def, preload, NAN)}, "spring 'part': preload is"},
    {GA__PART_SPRING,
     {NUM(ga_spring_def, rest, INFINITY)},
     "spring 'part': rest is inf m or rad; it must be finite"},
    {GA__PART_ACTUATOR, {NONE(ga_actuator_def, b)}, "actuator 'part': b is missing"},
    {GA__PART_ACTUATOR, {NUM(ga_actuator_def, force.value, NAN)}, "actuator 'part': force.value is"},
    {GA__PART_ACTUATOR, {TXT(ga_actuator_def, force.expression, "")}, "part': force.expression is empty"},
    {GA__PART_FRICTION, {NONE(ga_friction_def, b)}, "friction 'part': b is missing"},
    {GA__PART_FRICTION,
     {NUM(ga_friction_def, speed, 0)},
     "friction 'part': speed is 0 m/s or rad/s; it must be > 0"},
    {GA__PART_FRICTION, {NUM(ga_friction_def, speed, INFINITY)}, "friction 'part': speed is inf"},
    {GA__PART_FRICTION, {NUM(ga_friction_def, level.value, NAN)}, "friction 'part': level.value is"},
    {GA__PART_FRICTION,
     {NUM(ga_friction_def, level.value, -3)},
     "friction 'part': level is -3; a negative one"},
    {GA__PART_BUSHING, {NONE(ga_bushing_def, a)}, "bushing 'part': a is missing"},
    {GA__PART_BUSHING, {TXT(ga_bushing_def, b, "arm")}, "bushing 'part': a and b are both 'arm'"},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, stiffness[35], NAN)}, "bushing 'part': stiffness[35] is"},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, damping[7], INFINITY)}, "bushing 'part': damping[7] is inf"},
    {GA__PART_BUSHING, {NUM(ga_bushing_def, preload[5], NAN)}, "bushing 'part': preload[5] is"},
    {GA__PART_FORCE, {NONE(ga_force_def, frame)}, "force 'part': frame is missing"},
    {GA__PART_FORCE, {INT(ga_force_def, axes, 2)}, "force 'part': axes is 2, which is no ga_axes"},
    {GA__PART_FORCE, {NUM(ga_force_def, force[1].value, NAN)}, "force 'part': force[1].value is"},
    {GA__PART_FORCE, {NUM(ga_force_def, torque[2].value, NAN)}, "force 'part': torque[2].value is"},
    {GA__PART_FORCE, {TXT(ga_force_def, torque[0].expression, "")}, "part': torque[0].expression is empty"},
    {GA__PART_CONTACT, {NONE(ga_contact_def, plane)}, "contact 'part': plane is missing"},
    {GA__PART_CONTACT, {NONE(ga_contact_def, point)}, "contact 'part': point is missing"},
    {GA__PART_CONTACT,
     {TXT(ga_contact_def, point, "ground")},
     "contact 'part': plane and point are both 'ground'"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, radius, -1)}, "contact 'part': radius is -1 m; it must be >= 0"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, stiffness, 0)}, "contact 'part': stiffness is 0 N/m^exponent"},
    {GA__PART_CONTACT,
     {NUM(ga_contact_def, exponent, 0.5)},
     "contact 'part': exponent is 0.5; it must be >= 1"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, exponent, NAN)}, "contact 'part': exponent is"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, dissipation, -1)}, "contact 'part': dissipation is -1 s/m"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, mu, -0.1)}, "contact 'part': mu is -0.1; it must be >= 0"},
    {GA__PART_CONTACT,
     {NUM(ga_contact_def, mu, 0.5)},
     "contact 'part': speed is 0 m/s; with friction (mu is 0.5)"},
    {GA__PART_CONTACT, {NUM(ga_contact_def, speed, NAN)}, "contact 'part': speed is"},

    /* sensors and blocks */
    {GA__PART_SENSOR, {INT(ga_sensor_def, kind, 7)}, "sensor 'part': kind is 7, which is no ga_sensor_kind"},
    {GA__PART_SENSOR, {NONE(ga_sensor_def, of)}, "sensor 'part': of is missing"},
    {GA__PART_SENSOR, {NONE(ga_sensor_def, from)}, "sensor 'part': from is missing"},
    {GA__PART_SENSOR, {TXT(ga_sensor_def, axes, "")}, "sensor 'part': axes is empty"},
    {GA__PART_SENSOR,
     {INT(ga_sensor_def, kind, GA_SENSOR_VELOCITY), TXT(ga_sensor_def, from, "arm")},
     "sensor 'part': from is 'arm', but only positions"},
    {GA__PART_RIGID, {NUM(ga_rigid_def, weight, 0)}, "rigid body 'part': weight is 0; it must be > 0"},
    {GA__PART_POINT, {NUM(ga_point_def, weight, INFINITY)}, "mass point 'part': weight is inf"},
    {GA__PART_GUESS, {NONE(ga_guess_def, signal)}, "guess 'part': signal is missing"},
    {GA__PART_GUESS, {NUM(ga_guess_def, value, NAN)}, "guess 'part': value is"},
    {GA__PART_BLOCK, {NONE(ga__block_def, block)}, "block 'part': block is NULL"},
    {GA__PART_BLOCK, {NONE(ga__block_def, inputs)}, "block 'part': inputs is NULL, but the block has 2"},
};

static void apply(any_def *def, const setting *s)
{
  char *at = (char *)def + s->offset;
  const int integer = (int)s->number;
  switch (s->what) {
  case NOTHING:
    return;
  case NUMBER:
    memcpy(at, &s->number, sizeof s->number);
    return;
  case INTEGER:
    memcpy(at, &integer, sizeof integer);
    return;
  case TEXT:
  case POINTER:
    memcpy(at, &s->text, sizeof s->text);
    return;
  }
}

/* The machine before and after a refusal. */
static void assert_refused(parts_rig *r, ga__part_kind kind, any_def *def, const char *says)
{
  const int n = r->m->n_parts;
  const long live = rig_memory.live, extra = kind == GA__PART_BLOCK && def->block.block ? r->block_size : 0;
  ga_context_clear_error(r->ctx);
  const ga_status status = add_any(r->m, kind, def);
  if (status != GA_ERR_ARGUMENT || !strstr(ga_context_error(r->ctx)->text, says))
    fail_msg("status %d with '%s' instead of '%s'", (int)status, ga_context_error(r->ctx)->text, says);
  assert_int_equal(r->m->n_parts, n);
  assert_int_equal(rig_memory.live, live - extra); /* a block is gone all the same */
}

static void each_fault_is_named(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_ACTUATOR, "taken", &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_ACTUATOR, &def), GA_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *c = &refusals[i];
    def_of(r, c->kind, "part", &def);
    if (c->kind == GA__PART_BLOCK && c->set[0].offset == AT(ga__block_def, block))
      ga_block_destroy(&def.block.block);
    for (int k = 0; k < 3; k++) apply(&def, &c->set[k]);
    assert_refused(r, c->kind, &def, c->says);
  }
}

static void inputs_of_blocks_are_checked(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_BLOCK, "part", &def);
  r->inputs[1].value = NAN;
  assert_refused(r, GA__PART_BLOCK, &def, "block 'part': inputs[1].value is");
  def_of(r, GA__PART_BLOCK, "part", &def);
  r->inputs[0].expression = "";
  assert_refused(r, GA__PART_BLOCK, &def, "block 'part': inputs[0].expression is empty");
}

static void names_have_a_length(void **state)
{
  parts_rig *r = *state;
  char name[200];
  any_def def;
  memset(name, 'a', sizeof name);
  name[127] = '\0';
  def_of(r, GA__PART_POINT, name, &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_POINT, &def), GA_OK);
  name[127] = 'a';
  name[128] = '\0';
  assert_refused(r, GA__PART_POINT, &def, "the name has 128 characters; 127 are the most");
}

/* ---- What is accepted ---- */

typedef struct acceptance {
  ga__part_kind kind;
  setting set[3];
} acceptance;

static const acceptance acceptances[] = {
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5)}}, /* a thin plate: A + B = C */
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 5 * (1 + 3e-10))}},
    {GA__PART_RIGID,
     {NUM(ga_rigid_def, mass, 0), NUM(ga_rigid_def, inertia[0], 0), INT(ga_rigid_def, massless, 1)}},
    {GA__PART_RIGID, {NUM(ga_rigid_def, inertia[2], 50), INT(ga_rigid_def, massless, 1)}}, /* a rotor */
    {GA__PART_PLANAR,
     {NUM(ga_planar_def, mass, 0), NUM(ga_planar_def, inertia, 0), INT(ga_planar_def, massless, 1)}},
    {GA__PART_POINT, {NUM(ga_point_def, mass, 0), INT(ga_point_def, massless, 1)}},
    {GA__PART_SCALAR, {NUM(ga_scalar_def, mass, 0), INT(ga_scalar_def, massless, 1)}},
    {GA__PART_JOINT, {NUM(ga_joint_def, length, NAN)}},
    {GA__PART_JOINT, {INT(ga_joint_def, kind, GA_JOINT_GEAR), NUM(ga_joint_def, ratio, -2)}},
    {GA__PART_ROLLING, {INT(ga_rolling_def, kind, GA_ROLLING_KNIFE), NUM(ga_rolling_def, radius, 0)}},
    {GA__PART_SPRING, {NUM(ga_spring_def, stiffness, -1), NUM(ga_spring_def, rest, NAN)}},
    {GA__PART_SPRING,
     {NONE(ga_spring_def, a), NONE(ga_spring_def, b), TXT(ga_spring_def, coordinate, "hinge.angle")}},
    {GA__PART_FRICTION,
     {NUM(ga_friction_def, level.value, -1), TXT(ga_friction_def, level.expression, "2*pid")}},
    {GA__PART_CONTACT, {NUM(ga_contact_def, mu, 0.5), NUM(ga_contact_def, speed, 0.1)}},
    {GA__PART_SENSOR, {TXT(ga_sensor_def, from, "arm")}},
    {GA__PART_POINT, {TXT(ga_point_def, name, "_a1.b_2.C")}},
    {GA__PART_POINT, {TXT(ga_point_def, name, "energy_store")}},
};

static void limits_are_accepted(void **state)
{
  parts_rig *r = *state;
  for (size_t i = 0; i < sizeof acceptances / sizeof acceptances[0]; i++) {
    char name[20];
    any_def def;
    snprintf(name, sizeof name, "part%zu", i);
    def_of(r, acceptances[i].kind, name, &def);
    for (int k = 0; k < 3; k++) apply(&def, &acceptances[i].set[k]);
    assert_status(r->ctx, add_any(r->m, acceptances[i].kind, &def), GA_OK);
  }
}

/* Moments turned into other axes are judged by their principal values, whatever the axes. */
static void inertia_in_any_axes(void **state)
{
  static const double good[3] = {2, 3, 4.9}, bad[3] = {2, 3, 5.1}, flat[3] = {1e-14, 3, 3};
  const double *const moments[3] = {good, bad, flat};
  parts_rig *r = *state;
  rig_random random = rig_seed(0);
  for (int n = 0; n < 300; n++) {
    const double *p = moments[n % 3], scale = pow(10, rig_uniform(&random, -30, 30));
    double q[4], R[9], J[9] = {0};
    any_def def;
    char name[20];
    snprintf(name, sizeof name, "body%d", n);
    def_of(r, GA__PART_RIGID, name, &def);
    for (int i = 0; i < 4; i++) q[i] = rig_uniform(&random, -1, 1);
    assert_status(r->ctx, ga_rotation_quaternion(r->ctx, q, R), GA_OK);
    for (int i = 0; i < 27; i++)
      J[3 * (i / 9) + i / 3 % 3] += scale * R[3 * (i / 9) + i % 3] * p[i % 3] * R[3 * (i / 3 % 3) + i % 3];
    const double tensor[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
    memcpy(def.rigid.inertia, tensor, sizeof tensor);
    if (p == good)
      assert_status(r->ctx, add_any(r->m, GA__PART_RIGID, &def), GA_OK);
    else
      assert_refused(r, GA__PART_RIGID, &def, p == bad ? "which no body has" : "each must be > 0");
  }
}

/* A rotation given with few digits is kept as a rotation to rounding. */
static void poses_are_mended(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_MARKER, "part", &def);
  static const double rough[9] = {0.8660254, -0.5, 0, 0.5, 0.8660254, 0, 0, 0, 1};
  memcpy(def.marker.pose.rotation, rough, sizeof rough);
  assert_status(r->ctx, add_any(r->m, GA__PART_MARKER, &def), GA_OK);
  const ga_marker_def *kept = r->m->part[1].def;
  assert_near(kept->pose.rotation[0], sqrt(0.75), 1e-8, "cosine");
  assert_near(kept->pose.rotation[0] * kept->pose.rotation[0] +
                  kept->pose.rotation[3] * kept->pose.rotation[3],
              1, 4e-16, "length of an axis");
}

/* Every text of every kind is a copy; what the caller does with his own afterwards is his. */
static void texts_are_copied(void **state)
{
  parts_rig *r = *state;
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    char buffer[12][32];
    char name[20];
    const char **text;
    any_def def, other;
    int n = 0;
    snprintf(name, sizeof name, "part%d", kind);
    def_of(r, (ga__part_kind)kind, name, &def);
    for (; (text = ga__def_text((ga__part_kind)kind, &def, n)) != NULL; n++) {
      assert_true(n < 12);
      if (!*text) continue;
      snprintf(buffer[n], sizeof buffer[n], "%s", *text);
      *text = buffer[n];
    }
    assert_status(r->ctx, add_any(r->m, (ga__part_kind)kind, &def), GA_OK);
    for (int i = 0; i < n; i++) memset(buffer[i], '#', sizeof buffer[i] - 1);
    const ga__part *part = &r->m->part[r->m->n_parts - 1];
    assert_int_equal(part->kind, kind);
    assert_string_equal(part->name, name);
    def_of(r, (ga__part_kind)kind, name, &other);
    for (int i = 0; i < n; i++) {
      const char *kept = *ga__def_text((ga__part_kind)kind, part->def, i);
      const char *given = *ga__def_text((ga__part_kind)kind, &other, i);
      assert_int_equal(kept == NULL, given == NULL);
      if (given) assert_string_equal(kept, given);
    }
    if (kind == GA__PART_BLOCK) ga_block_destroy(&other.block.block);
  }
}

/* Counts texts by hand, so that none is left out of the table. */
static void every_text_is_in_the_table(void **state)
{
  static const int count[GA__N_PARTS] = {
      [GA__PART_RIGID] = 1,  [GA__PART_PLANAR] = 1,   [GA__PART_POINT] = 1,    [GA__PART_SCALAR] = 1,
      [GA__PART_MARKER] = 2, [GA__PART_JOINT] = 3,    [GA__PART_DRIVE] = 2,    [GA__PART_ROLLING] = 3,
      [GA__PART_SPRING] = 5, [GA__PART_ACTUATOR] = 5, [GA__PART_FRICTION] = 5, [GA__PART_BUSHING] = 3,
      [GA__PART_FORCE] = 8,  [GA__PART_CONTACT] = 3,  [GA__PART_SENSOR] = 4,   [GA__PART_GUESS] = 2,
      [GA__PART_BLOCK] = 3};
  parts_rig *r = *state;
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    any_def def;
    int n = 0;
    def_of(r, (ga__part_kind)kind, "part", &def);
    while (ga__def_text((ga__part_kind)kind, &def, n)) n++;
    if (n != count[kind]) fail_msg("%s: %d texts", ga__part_text((ga__part_kind)kind), n);
    if (kind == GA__PART_BLOCK) ga_block_destroy(&def.block.block);
  }
}

static void many_names_are_found(void **state)
{
  enum { MANY = 20000 };
  parts_rig *r = *state;
  char name[20];
  ga_point_def def = ga_point_defaults();
  def.mass = 1;
  def.name = name;
  for (int i = 1; i <= MANY; i++) {
    snprintf(name, sizeof name, "body%d", i);
    assert_status(r->ctx, ga_machine_add_point(r->m, &def), GA_OK);
  }
  for (int i = 1; i <= MANY; i++) {
    snprintf(name, sizeof name, "body%d", i);
    assert_int_equal(ga__find_part(r->m, name), i);
  }
  assert_int_equal(ga__find_part(r->m, "ground"), 0);
  assert_int_equal(ga__find_part(r->m, "body0"), -1);
  assert_int_equal(ga__find_part(r->m, ""), -1);
  assert_int_equal(ga__find_part(r->m, NULL), -1);
}

/* ---- Names that mean nothing ---- */

static void no_such_names(void **state)
{
  static const struct {
    const char *name, *says;
  } cases[] = {
      {"amr", "joint 'hinge': b is 'amr', but there is no part of that name; a body or marker is needed; did "
              "you mean "
              "'arm'?"},
      {"Ground", "did you mean 'ground'?"},
      {"xyzzy", "there is no part of that name; a body or marker is needed"},
      {"helper", "joint 'hinge': b is 'helper', an actuator; a body or marker is needed"},
      {"arm", "joint 'hinge': b is 'arm', a rigid body; a body or marker is needed"},
      {"ground", "joint 'hinge': b is the ground; a body or marker is needed"},
      {"arm.tip",
       "joint 'hinge': b is 'arm.tip', but rigid body 'arm' has no 'tip'; a body or marker is needed"},
      {"arm.a.b", "but rigid body 'arm' has no 'a.b'"},
      {"", "joint 'hinge': b is ''"},
  };
  parts_rig *r = *state;
  const struct {
    ga__part_kind kind;
    const char *name;
  } parts[] = {{GA__PART_JOINT, "hinge"}, {GA__PART_RIGID, "arm"}, {GA__PART_ACTUATOR, "helper"}};
  for (int i = 0; i < 3; i++) {
    any_def def;
    def_of(r, parts[i].kind, parts[i].name, &def);
    assert_status(r->ctx, add_any(r->m, parts[i].kind, &def), GA_OK);
  }
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(ga__no_such(r->m, &r->m->part[1], "b", cases[i].name, "a body or marker"),
                     GA_ERR_ARGUMENT);
    assert_says(r->ctx, cases[i].says);
  }
  ga__no_such(r->m, &r->m->part[1], "b", "xyzzy", "a body or marker");
  assert_null(strstr(ga_context_error(r->ctx)->text, "did you mean"));
}

/* ---- The machine itself ---- */

static void machines_are_checked(void **state)
{
  parts_rig *r = *state;
  ga_machine_opts opts = ga_machine_defaults();
  ga_machine *m = r->m;
  assert_int_equal(opts.form, GA_FORM_SPACE);
  for (int i = 0; i < 3; i++) assert_true(opts.gravity[i] == 0);
  assert_int_equal(ga_machine_create(NULL, &opts, &m), GA_ERR_ARGUMENT);
  assert_null(m);
  assert_int_equal(ga_machine_create(r->ctx, &opts, NULL), GA_ERR_ARGUMENT);
  assert_says(r->ctx, "out is NULL");
  opts.form = (ga_form)3;
  m = r->m;
  assert_int_equal(ga_machine_create(r->ctx, &opts, &m), GA_ERR_ARGUMENT);
  assert_null(m);
  assert_says(r->ctx, "machine: form is 3, which is no ga_form");
  opts = ga_machine_defaults();
  opts.gravity[1] = NAN;
  assert_int_equal(ga_machine_create(r->ctx, &opts, &m), GA_ERR_ARGUMENT);
  assert_says(r->ctx, "machine: gravity[1] is");
  opts.gravity[1] = -9.81;
  assert_status(r->ctx, ga_machine_create(r->ctx, &opts, &m), GA_OK);
  assert_ptr_equal(ga_machine_context(m), r->ctx);
  assert_true(m->opts.gravity[1] == -9.81);
  assert_int_equal(m->n_parts, 1);
  assert_string_equal(m->part[0].name, "ground");
  assert_int_equal(m->part[0].kind, GA__PART_GROUND);
  ga_machine_destroy(&m);
  assert_null(m);
  ga_machine_destroy(&m);
  ga_machine_destroy(NULL);
  assert_null(ga_machine_context(NULL));
}

static void nothing_to_add(void **state)
{
  parts_rig *r = *state;
  any_def def;
  assert_int_equal(ga_machine_add_spring(r->m, NULL), GA_ERR_ARGUMENT);
  assert_says(r->ctx, "spring: its definition is NULL");
  def_of(r, GA__PART_SPRING, "part", &def);
  assert_int_equal(ga_machine_add_spring(NULL, &def.spring), GA_ERR_ARGUMENT);
  def_of(r, GA__PART_BLOCK, "part", &def);
  assert_int_equal(ga_machine_add_block(NULL, "part", def.block.block, r->inputs), GA_ERR_ARGUMENT);
}

static void nothing_is_added_once_built(void **state)
{
  parts_rig *r = *state;
  any_def def;
  def_of(r, GA__PART_POINT, "first", &def);
  assert_status(r->ctx, add_any(r->m, GA__PART_POINT, &def), GA_OK);
  assert_status(r->ctx, ga_machine_build(r->m), GA_OK);
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    def_of(r, (ga__part_kind)kind, "late", &def);
    assert_int_equal(add_any(r->m, (ga__part_kind)kind, &def), GA_ERR_ORDER);
    assert_says(r->ctx, "'late': the machine is built; add parts before ga_machine_build()");
    assert_says(r->ctx, ga__part_text((ga__part_kind)kind));
  }
  assert_int_equal(r->m->n_parts, 2);
}

static void names_of_kinds(void **state)
{
  (void)state;
  assert_string_equal(ga__part_text(GA__PART_GROUND), "ground");
  assert_string_equal(ga__part_text(GA__PART_RIGID), "rigid body");
  assert_string_equal(ga__part_text((ga__part_kind)(GA__N_PARTS + 1)), "unknown part");
  assert_string_equal(ga_joint_name(GA_JOINT_FIXED), "fixed");
  assert_string_equal(ga_joint_name(GA_JOINT_REVOLUTE), "revolute");
  assert_string_equal(ga_joint_name(GA_JOINT_RACK), "rack_and_pinion");
  assert_null(ga_joint_name(GA_N_JOINTS));
  assert_null(ga_joint_name((ga_joint_kind)-1));
}

/* Elements are new and zero, and what was there stays, through every growth. */
static void lists_grow(void **state)
{
  typedef struct element {
    double x;
    int i;
  } element;
  parts_rig *r = *state;
  ga__list list = {.size = sizeof(element)};
  for (int i = 0; i < 1000; i++) {
    element *e = ga__list_add(r->ctx, &list);
    assert_non_null(e);
    assert_ptr_equal(e, GA__AT(list, element, i));
    assert_true(e->x == 0 && e->i == 0);
    *e = (element){0.5 * i, i};
  }
  assert_int_equal(list.n, 1000);
  for (int i = 0; i < 1000; i++)
    assert_true(GA__AT(list, element, i)->i == i && GA__AT(list, element, i)->x == 0.5 * i);
  list.n = 10; /* a place used before is zeroed again */
  const element *again = ga__list_add(r->ctx, &list);
  assert_true(again->x == 0 && again->i == 0);
  ga__free(r->ctx, list.at);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, parts_set_up, parts_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(each_fault_is_named),
      TEST(inputs_of_blocks_are_checked),
      TEST(names_have_a_length),
      TEST(limits_are_accepted),
      TEST(inertia_in_any_axes),
      TEST(poses_are_mended),
      TEST(texts_are_copied),
      TEST(every_text_is_in_the_table),
      TEST(many_names_are_found),
      TEST(no_such_names),
      TEST(machines_are_checked),
      TEST(nothing_to_add),
      TEST(nothing_is_added_once_built),
      TEST(names_of_kinds),
      TEST(lists_grow),
  };
#undef TEST
  return cmocka_run_group_tests_name("mbs: parts", tests, NULL, NULL);
}
