#include "peer_models.h"

ida_model chain_ida_model(const chain *c)
{
  ida_model model = {.def = ga_system_defaults(),
                     .q0 = c->q0,
                     .v0 = c->v0,
                     .reaction = chain_reaction,
                     .phi_acc_q = chain_phi_acc_q};
  chain_define(c, &model.def);
  return model;
}
