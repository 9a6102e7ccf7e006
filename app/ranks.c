/* Loads the library that knows MPI, where this process was started by mpirun or the like. */
#include "ranks.h"

#include "app.h"
#include "call.h"

#include <dlfcn.h>
#include <stdlib.h>

/* How many processes were started together, as far as the environment says. */
static int n_started(void)
{
  static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (getenv(counts[i])) return atoi(getenv(counts[i]));
  const char *tasks = getenv("SLURM_NTASKS");
  return getenv("PMIX_RANK") && tasks ? atoi(tasks) : 1;
}

static const app_rank_functions *load(void)
{
  static const char *const places[] = {GALPHA_MPI_BUILT, GALPHA_MPI_INSTALLED, "galpha_mpi.so"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    void *library = dlopen(places[i], RTLD_NOW | RTLD_GLOBAL);
    if (library) return dlsym(library, "galpha_rank_functions");
  }
  return NULL;
}

int app_ranks_open(app_ranks *r)
{
  *r = (app_ranks){.size = 1};
  if (app_call_is_made() || n_started() <= 1) return APP_DONE;
  const app_rank_functions *f = load();
  if (!f) {
    fprintf(stderr,
            "galpha: %d processes were started together, but this galpha has no MPI: it was built without "
            "it (docs/build.md)\n",
            n_started());
    return APP_FAILED;
  }
  if (!f->begin(&r->rank, &r->size)) return fputs("galpha: MPI does not begin\n", stderr), APP_FAILED;
  r->f = f;
  return APP_DONE;
}

void app_ranks_close(app_ranks *r)
{
  if (r->f) r->f->end();
  *r = (app_ranks){.size = 1};
}
