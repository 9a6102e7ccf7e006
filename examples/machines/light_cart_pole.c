/* light_cart_pole: a heavy bob on a pole without mass under a cart of 1e-6 kg, see examples/cart_pole.c.
 * Released with the pole horizontal, it passes eleven times within 10 s below the cart, in about a
 * microsecond each, with up to 4429 rad/s. For error control; equal steps fail. */
#include "machine.h"

static void build(const mx_machine *self, mx_builder *b)
{
  ga_planar_def cart = ga_planar_defaults(), pole = ga_planar_defaults();
  (void)self;
  cart.name = "cart";
  cart.mass = 1e-6;
  cart.massless = 1; /* the track holds its angle */
  mx_add(b, planar, &cart);
  pole.name = "pole";
  pole.mass = 1.0;
  pole.com[0] = 1.0;
  pole.massless = 1; /* a point has no moment of inertia about itself */
  mx_add(b, planar, &pole);
  mx_joint(b, "track", GA_JOINT_PRISMATIC, "ground", "cart");
  mx_joint(b, "hinge", GA_JOINT_REVOLUTE, "cart", "pole");
}

const mx_machine mx_light_cart_pole = {
    .name = "light_cart_pole",
    .title = "heavy pole on a cart of 1e-6 kg, with error control",
    .gravity = {0, -9.81, 0},
    .build = build,
    .t_end = 10.0,
    .h = 1e-3,
    .rho = 0.8,
    .rtol = 1e-7,
    .file = "lightcartpole",
    .reference = {{"cart.x", "x", 0, 0, 0.3, 0}, {"hinge.angle + pi/2", "theta", 0, 0, 0.35, 0}},
    .energy = 0,
    .mobility = 2,
    .redundant = 0,
    .in_short = 1,
};
