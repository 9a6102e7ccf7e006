#include "peer_models.h"

ida_model example_ida_model(const ex_problem *problem)
{
  ida_model model = {.def = ga_system_defaults(), .q0 = problem->q0, .v0 = problem->v0, .x0 = problem->x0};
  problem->define(&model.def);
  return model;
}
