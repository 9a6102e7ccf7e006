/* simple_pendulum: problem A01 of the IFToMM benchmarks. A mass point on a rod without mass, released from
 * the horizontal. The reference is exact, by elliptic functions. */
#include "machine.h"

static void build(const mx_machine *self, mx_builder *b)
{
  ga_point_def bob = ga_point_defaults();
  (void)self;
  bob.name = "bob";
  bob.mass = 1.0;
  bob.position[0] = -1.0;
  mx_add(b, point, &bob);
  mx_joint(b, "rod", GA_JOINT_DISTANCE, "ground", "bob");
}

const mx_machine mx_simple_pendulum = {
    .name = "simple_pendulum",
    .title = "mass point on a rod without mass (IFToMM A01)",
    .gravity = {0, -9.81, 0},
    .build = build,
    .t_end = 10.0,
    .h = 1e-3,
    .rho = 0.95,
    .file = "A01_pendulum",
    .reference = {{"bob.x", "x", 10, -0.275087462576117, 1e-4, 2},
                  {"bob.y", "y", 10, -0.961419205099125, 1e-4, 2},
                  {"bob.vx", "vx", 10, 4.17559810095173, 5e-4, 2},
                  {"bob.vy", "vy", 0, 0, 5e-4, 2},
                  {"-(rod.fx*bob.x + rod.fy*bob.y)", "tension", 10, 28.2945672060673, 3e-3, 2}},
    .energy = 5e-5,
    .mobility = 2, /* the point may leave the plane, but does not */
    .redundant = 0,
    .in_short = 1,
};
