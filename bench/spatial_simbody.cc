// Simbody on the spatial chain: joint coordinates and articulated bodies, its integrators with error control.
#include "spatial_peers.h"

#include <SimTKsimbody.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>

namespace
{

struct simbody_chain {
  spatial_chain c;
  SimTK::MultibodySystem system;
  SimTK::SimbodyMatterSubsystem matter{system};
  SimTK::GeneralForceSubsystem forces{system};
  SimTK::State start;
};

// From the z axis, about which Simbody's pins turn, to the joint's axis, y or z.
SimTK::Rotation pin_frame(int joint)
{
  double axis[3];
  spatial_joint_axis(axis, joint);
  return axis[1] > 0.0 ? SimTK::Rotation(-0.5 * SimTK::Pi, SimTK::XAxis) : SimTK::Rotation();
}

void rods_add(simbody_chain &m)
{
  using namespace SimTK;
  const spatial_chain &c = m.c;
  const double across = c.J_across + 0.25 * c.m * c.l * c.l; // Simbody wants it about the body's origin
  const Body::Rigid rod(MassProperties(c.m, Vec3(0.5 * c.l, 0, 0), Inertia(c.J_along, across, across)));
  for (int i = 0; i < c.n; i++) {
    MobilizedBody &parent = m.matter.updMobilizedBody(MobilizedBodyIndex(i)); // 0 is the ground
    const Vec3 end(i > 0 ? c.l : 0.0, 0, 0);
    if (c.kind == SPATIAL_SPHERICAL)
      MobilizedBody::Ball(parent, Transform(end), rod, Transform());
    else
      MobilizedBody::Pin(parent, Transform(pin_frame(i), end), rod, Transform(pin_frame(i), Vec3(0)));
  }
  Force::UniformGravity(m.forces, m.matter, Vec3(0, 0, -c.g));
}

void *simbody_open(const spatial_chain *c)
{
  try {
    std::unique_ptr<simbody_chain> m(new simbody_chain);
    m->c = *c;
    rods_add(*m);
    m->start = m->system.realizeTopology();
    m->system.realizeModel(m->start);
    for (int i = 0; i < c->n && c->kind == SPATIAL_REVOLUTE; i++)
      m->matter.getMobilizedBody(SimTK::MobilizedBodyIndex(i + 1))
          .setOneU(m->start, 0, spatial_joint_rate(c, i));
    return m.release();
  } catch (const std::exception &) {
    return nullptr;
  }
}

void simbody_close(void *model)
{
  delete static_cast<simbody_chain *>(model);
}

const char *const options[] = {"Runge-Kutta-Merson",  "Runge-Kutta-Feldberg", "Runge-Kutta 3", "Verlet",
                               "CPodes, Adams",       nullptr};

SimTK::Integrator *integrator_create(const SimTK::System &system, int option)
{
  switch (option) {
  case 0: return new SimTK::RungeKuttaMersonIntegrator(system);
  case 1: return new SimTK::RungeKuttaFeldbergIntegrator(system);
  case 2: return new SimTK::RungeKutta3Integrator(system);
  case 3: return new SimTK::VerletIntegrator(system);
  default: return new SimTK::CPodesIntegrator(system, SimTK::CPodes::Adams);
  }
}

// CPodes writes its warnings to stderr; while this lives they go nowhere.
struct silence {
  int kept = dup(2), nowhere = open("/dev/null", O_WRONLY);
  silence()
  {
    if (kept >= 0 && nowhere >= 0) dup2(nowhere, 2);
  }
  ~silence()
  {
    if (kept >= 0 && nowhere >= 0) dup2(kept, 2);
    if (kept >= 0) close(kept);
    if (nowhere >= 0) close(nowhere);
  }
};

int simbody_run(void *model, int option, double accuracy, spatial_outcome *out)
{
  simbody_chain &m = *static_cast<simbody_chain *>(model);
  const silence quiet;
  try {
    std::unique_ptr<SimTK::Integrator> made(integrator_create(m.system, option));
    SimTK::Integrator &integrator = *made;
    integrator.setAccuracy(accuracy);
    integrator.setInternalStepLimit(10000000);
    SimTK::TimeStepper stepper(m.system, integrator);
    stepper.initialize(m.start);
    stepper.stepTo(m.c.t_end);
    const SimTK::State &state = integrator.getState();
    m.system.realize(state, SimTK::Stage::Position);
    const SimTK::MobilizedBody &last = m.matter.getMobilizedBody(SimTK::MobilizedBodyIndex(m.c.n));
    const SimTK::Vec3 tip = last.findStationLocationInGround(state, SimTK::Vec3(m.c.l, 0, 0));
    for (int k = 0; k < 3; k++) out->tip[k] = tip[k];
    out->steps = integrator.getNumStepsTaken();
    return 0;
  } catch (const std::exception &e) {
    std::snprintf(out->why, sizeof out->why, "%.150s", e.what());
    return -1;
  }
}

} // namespace

const spatial_peer spatial_simbody = {"simbody", "Simbody",    "accuracy",  0.1,          0.31622776601683794,
                                      options,   simbody_open, simbody_run, simbody_close};
