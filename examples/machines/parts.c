/* Short forms for putting machines together. */
#include "machine.h"
#include <string.h>

void mx_marker(mx_builder *b, const char *name, const char *frame, ga_pose pose)
{
  ga_marker_def d = ga_marker_defaults();
  d.name = name;
  d.body = frame;
  d.pose = pose;
  mx_add(b, marker, &d);
}

void mx_joint(mx_builder *b, const char *name, ga_joint_kind kind, const char *frame_a, const char *frame_b)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = frame_a;
  d.b = frame_b;
  mx_add(b, joint, &d);
}

void mx_joint_at(mx_builder *b, const char *name, ga_joint_kind kind, const char *body_a, const char *body_b,
                 ga_pose at)
{
  ga_joint_def d = ga_joint_defaults();
  d.name = name;
  d.kind = kind;
  d.a = body_a;
  d.b = body_b;
  d.at_pose = 1;
  d.at = at;
  mx_add(b, joint, &d);
}

void mx_drive(mx_builder *b, const char *name, const char *coordinate, const char *expression)
{
  ga_function_expr_opts o = ga_function_expr_defaults();
  ga_function *f = NULL;
  ga_drive_def d = ga_drive_defaults();
  o.text = expression;
  if (!b->status && b->n_functions == MX_MOST_FUNCTIONS) b->status = GA_ERR_MEMORY;
  if (!b->status) b->status = ga_function_create_expr(b->ctx, &o, NULL, &f);
  if (b->status) return;
  b->function[b->n_functions++] = f;
  d.name = name;
  d.coordinate = coordinate;
  d.function = f;
  mx_add(b, drive, &d);
}

void mx_sensor(mx_builder *b, const char *name, ga_sensor_kind kind, const char *of, const char *axes)
{
  ga_sensor_def d = ga_sensor_defaults();
  d.name = name;
  d.kind = kind;
  d.of = of;
  d.axes = axes;
  mx_add(b, sensor, &d);
}

void mx_block(mx_builder *b, const char *name, ga_control_block *block, const char *const *inputs)
{
  ga_input in[GA_BLOCK_SIZE];
  if (b->status) {
    ga_block_destroy(&block);
    return;
  }
  for (int i = 0; i < ga_block_n_in(block); i++) in[i] = (ga_input){.expression = inputs[i]};
  b->status = ga_machine_add_block(b->m, name, block, in);
}

ga_pose mx_pose_axis(mx_builder *b, const double at[3], const double axis[3])
{
  ga_pose pose = ga_pose_at(at[0], at[1], at[2]);
  if (!b->status) b->status = ga_rotation_z_axis(b->ctx, axis, NULL, pose.rotation);
  return pose;
}

ga_pose mx_pose_turned(mx_builder *b, const double at[3], const double axis[3], double angle)
{
  ga_pose pose = ga_pose_at(at[0], at[1], at[2]);
  if (!b->status) b->status = ga_rotation_axis_angle(b->ctx, axis, angle, pose.rotation);
  return pose;
}

ga_pose mx_pose_compose(const ga_pose *a, const ga_pose *b)
{
  ga_pose c;
  for (int i = 0; i < 3; i++) {
    const double *R = a->rotation + 3 * i;
    c.position[i] = a->position[i];
    for (int k = 0; k < 3; k++) c.position[i] += R[k] * b->position[k];
    for (int j = 0; j < 3; j++)
      c.rotation[3 * i + j] = R[0] * b->rotation[j] + R[1] * b->rotation[3 + j] + R[2] * b->rotation[6 + j];
  }
  return c;
}

ga_pose mx_pose_inverse(const ga_pose *a)
{
  ga_pose c;
  for (int i = 0; i < 3; i++) {
    c.position[i] = 0;
    for (int j = 0; j < 3; j++) {
      c.rotation[3 * i + j] = a->rotation[3 * j + i];
      c.position[i] -= a->rotation[3 * j + i] * a->position[j];
    }
  }
  return c;
}
