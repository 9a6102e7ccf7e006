#include "spatial_machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ga_status add_rod(const spatial_machine *m, int i, const char *name)
{
  const spatial_chain *c = &m->chain;
  spatial_rod at;
  ga_rigid_def def = ga_rigid_defaults();
  spatial_chain_start(&at, c, i);
  def.name = name;
  def.mass = c->m;
  def.inertia[0] = c->J_along;
  def.inertia[1] = def.inertia[2] = c->J_across;
  def.pose = ga_pose_at(at.x[0], at.x[1], at.x[2]);
  memcpy(def.velocity, at.u, sizeof at.u);
  memcpy(def.omega, at.w, sizeof at.w);
  return ga_machine_add_rigid(m->machine, &def);
}

/* Joint i, at the near end of rod i. */
static ga_status add_joint(const spatial_machine *m, int i, const char *before, const char *rod)
{
  const spatial_chain *c = &m->chain;
  char name[32];
  double axis[3];
  ga_joint_def def = ga_joint_defaults();
  snprintf(name, sizeof name, "joint%d", i);
  spatial_joint_axis(axis, i);
  def.name = name;
  def.kind = c->kind == SPATIAL_SPHERICAL ? GA_JOINT_SPHERICAL : GA_JOINT_REVOLUTE;
  def.a = before;
  def.b = rod;
  def.at_pose = 1;
  def.at = ga_pose_at(i * c->l, 0.0, 0.0);
  const ga_status status = ga_rotation_z_axis(m->ctx, axis, NULL, def.at.rotation);
  return status ? status : ga_machine_add_joint(m->machine, &def);
}

static ga_status add_parts(spatial_machine *m)
{
  ga_status status = GA_OK;
  char before[32] = "ground";
  for (int i = 0; i < m->chain.n && !status; i++) {
    snprintf(m->tip, sizeof m->tip, "rod%d", i);
    status = add_rod(m, i, m->tip);
    if (!status) status = add_joint(m, i, before, m->tip);
    memcpy(before, m->tip, sizeof before);
  }
  return status;
}

static ga_status initial_values(spatial_machine *m)
{
  const ga_group *group = ga_system_group(m->sys);
  m->q0 = calloc((size_t)ga_group_nq(group), sizeof *m->q0);
  m->v0 = calloc((size_t)ga_group_nv(group), sizeof *m->v0);
  if (!m->q0 || !m->v0) return GA_ERR_MEMORY;
  return ga_machine_initial(m->machine, m->q0, m->v0, NULL);
}

int spatial_machine_open(spatial_machine *m, spatial_kind kind, int n)
{
  *m = (spatial_machine){.chain = spatial_chain_make(kind, n)};
  ga_machine_opts opts = ga_machine_defaults();
  opts.gravity[2] = -m->chain.g;
  ga_status status = memory_context_begin(&m->memory, &m->ctx);
  if (!status) status = ga_machine_create(m->ctx, &opts, &m->machine);
  if (!status) status = add_parts(m);
  if (!status) status = ga_machine_build(m->machine);
  if (!status) {
    m->sys = ga_machine_system(m->machine);
    status = initial_values(m);
  }
  if (status)
    fprintf(stderr, "chain of %d rods: %s\n", n, m->ctx ? ga_context_error(m->ctx)->text : "out of memory");
  return status ? -1 : 0;
}

void spatial_machine_close(spatial_machine *m)
{
  free(m->q0);
  free(m->v0);
  m->q0 = m->v0 = NULL;
  ga_machine_destroy(&m->machine);
  memory_context_end(&m->ctx);
}

double spatial_machine_error(const spatial_machine *m, const ga_state *s)
{
  ga_pose rod;
  double tip[3];
  if (ga_machine_pose(m->machine, s, m->tip, &rod) != GA_OK) return NAN;
  for (int i = 0; i < 3; i++) tip[i] = rod.position[i] + 0.5 * m->chain.l * rod.rotation[3 * i];
  return spatial_chain_error(&m->chain, tip);
}
