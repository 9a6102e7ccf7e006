#include "spatial_peers.h"

#include "report.h"

#include <math.h>
#include <stddef.h>

static const spatial_peer *const peers[] = {
#ifdef HAVE_SUNDIALS
    &spatial_ida_ggl, &spatial_ida_index1,
#endif
#ifdef HAVE_SIMBODY
    &spatial_simbody_merson,
#endif
#ifdef HAVE_MUJOCO
    &spatial_mujoco_rk4,
#endif
    NULL};

static const char *const missing[] = {
#ifndef HAVE_SUNDIALS
    "SUNDIALS IDA (libsundials-dev)",
#endif
#ifndef HAVE_SIMBODY
    "Simbody (libsimbody-dev)",
#endif
#ifndef HAVE_MUJOCO
    "MuJoCo (libmujoco-dev)",
#endif
    NULL};

const spatial_peer *const *spatial_peers(void)
{
  return peers;
}

const char *const *spatial_peers_missing(void)
{
  return missing;
}

double spatial_peer_cpu(const spatial_peer *peer, spatial_kind kind, int n, double accuracy,
                        double *tip_error)
{
  const spatial_chain c = spatial_chain_make(kind, n);
  spatial_outcome out = {.why = ""};
  void *model = peer->open(&c);
  *tip_error = NAN;
  if (!model) return NAN;
  const double start = cpu_now();
  const int rc = peer->run(model, accuracy, &out);
  const double cpu = cpu_now() - start;
  peer->close(model);
  if (rc != 0) return NAN;
  *tip_error = spatial_chain_error(&c, out.tip);
  return cpu;
}
