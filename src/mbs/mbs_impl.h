/* Inside the layer mbs: how a machine is kept, built and evaluated.
 *
 * Parts are kept as given (ga__part). Building turns them into nodes, gauges and elements (ga__mbs_model),
 * numbers the unknowns and lays out the pattern. Elements know space vectors only: every node has a twist w =
 * (u, ω), the velocity of its origin (a body's centre of mass) and its angular velocity, both in ground axes;
 * a wrench (F, T) acts at the node's origin, in ground axes; derivatives by q are by small twists (δx, δφ), x
 * → x + δx, R → exp(δφ~) R. With GA_FORM_SPACE that is what the core sees; form.c turns it into the other
 * forms. A node that has only some of the six (planar: u_x, u_y, ω_z; point: u; scalar: u_x; ground: none)
 * drops the others, see ga__node.has. */
#ifndef GALPHA_MBS_IMPL_H
#define GALPHA_MBS_IMPL_H

#include "mbs/assemble.h"
#include "mbs/model.h"

#endif
