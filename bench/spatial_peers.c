#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include "spatial_peers.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static const spatial_peer *const linked[] = {
#ifdef HAVE_SUNDIALS
    &spatial_ida_ggl, &spatial_ida_index1,
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

/* Simbody calls its own functions of SUNDIALS, whatever others of these names the program has. */
static const spatial_peer *simbody_load(void)
{
#ifdef HAVE_SIMBODY
  void *module = dlopen(HAVE_SIMBODY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module) return dlsym(module, "spatial_simbody");
  fprintf(stderr, "Simbody: %s\n", dlerror());
#endif
  return NULL;
}

const spatial_peer *const *spatial_peers(void)
{
  static const spatial_peer *all[sizeof linked / sizeof *linked + 1];
  static int known = 0;
  if (known) return all;
  int n = 0;
  for (; linked[n]; n++) all[n] = linked[n];
  all[n] = simbody_load();
  known = 1;
  return all;
}

const char *const *spatial_peers_missing(void)
{
  return missing;
}
