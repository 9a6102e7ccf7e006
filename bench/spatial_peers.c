#include "spatial_peers.h"

#include <stddef.h>

static const spatial_peer *const peers[] = {
#ifdef HAVE_SUNDIALS
    &spatial_ida_ggl, &spatial_ida_index1,
#endif
#ifdef HAVE_SIMBODY
    &spatial_simbody,
#endif
#ifdef HAVE_MUJOCO
    &spatial_mujoco,
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
