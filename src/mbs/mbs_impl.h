/* Inside the layer mbs: how a machine is kept, built and evaluated.
 *
 * Parts are kept as given (ga__part). Building turns them into nodes, gauges and elements (ga__mbs_model),
 * numbers the unknowns and lays out the pattern. Elements compute in ground axes. Every node has a twist
 * w = (u, ω): the velocity of its origin (a body's centre of mass) and its angular velocity. A wrench (F, T)
 * acts at the node's origin. Derivatives by q are by small twists (δx, δφ): x → x + δx, R → exp(δφ~) R. With
 * GA_FORM_SPACE this is also what the core sees; form.c converts it to the other forms. A node that has only
 * some of the six components (planar: u_x, u_y, ω_z; point: u; scalar: u_x; ground: none) drops the others,
 * see ga__node.has. */
#ifndef GALPHA_MBS_IMPL_H
#define GALPHA_MBS_IMPL_H

#include "mbs/assemble.h"
#include "mbs/model.h"

#endif
