/* Events of a run in its result file: /event_names [k], and /events [2 × n], the time and the number of each.
 */
#include "result/recorder.h"
#include "result/events.h"

#include <math.h>
#include <string.h>

enum { EVENT_CHUNK = 512 };

/* ---- Writing ------------------------------------------------------------------------------------------- */

int ga__events_create(ga_recorder *r, const ga_recorder_opts *opts)
{
  const hsize_t size[2] = {2, 0}, most[2] = {2, H5S_UNLIMITED}, chunk[2] = {2, EVENT_CHUNK};
  if (opts->n_events == 0) return 0;
  hid_t space = H5Screate_simple(2, size, most), create = H5Pcreate(H5P_DATASET_CREATE);
  if (space >= 0 && create >= 0 && H5Pset_chunk(create, 2, chunk) >= 0)
    r->events = H5Dcreate2(r->file, "events", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (create >= 0) H5Pclose(create);
  if (space >= 0) H5Sclose(space);
  r->n_event_names = opts->n_events;
  return r->events >= 0 && ga__write_names(r->ctx, r->file, "event_names", opts->n_events, opts->event_names)
             ? 0
             : -1;
}

/* One column [time, number] at place `at`. */
static int write_column(ga_recorder *r, hsize_t at, const double column[2])
{
  const hsize_t size[2] = {2, at + 1}, from[2] = {0, at}, one[2] = {2, 1};
  hid_t memory = H5Screate_simple(2, one, NULL), file = -1;
  const int done = memory >= 0 && H5Dset_extent(r->events, size) >= 0 &&
                   (file = H5Dget_space(r->events)) >= 0 &&
                   H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, one, NULL) >= 0 &&
                   H5Dwrite(r->events, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, column) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
  return done ? 0 : -1;
}

ga_status ga_recorder_event(ga_recorder *r, double t, int event)
{
  if (!r) return GA_ERR_ARGUMENT;
  if (event < 0 || event >= r->n_event_names)
    return ga__refuse_number(r->ctx, "recorder", "event", event, "the number of one of its events");
  if (!isfinite(t)) return ga__refuse_number(r->ctx, "recorder", "t of an event", t, "finite");
  const double column[2] = {t, event};
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  const int error = r->store.failure || write_column(r, (hsize_t)r->n_happened, column);
  ga__hdf5_unmute(&quiet);
  if (error) return ga__no_file(r->ctx, r->path, "written", r->store.failure);
  r->n_happened++;
  return GA_OK;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* Number of events in the dataset; −1: it is not as it should be. */
static long count_events(hid_t set)
{
  hsize_t size[2] = {0, 0};
  hid_t space = H5Dget_space(set);
  const int good = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                   H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[0] == 2 && size[1] < (1u << 30);
  if (space >= 0) H5Sclose(space);
  return good ? (long)size[1] : -1;
}

ga_status ga__events_read(ga_context *ctx, hid_t file, long *n, double **times)
{
  *n = 0;
  *times = NULL;
  if (H5Lexists(file, "events", H5P_DEFAULT) <= 0) return GA_OK;
  hid_t set = ga__open_own(file, "events", H5P_DEFAULT);
  const long found = set >= 0 ? count_events(set) : -1;
  ga_status status = found < 0 ? GA_ERR_FILE : GA_OK;
  if (!status && found > 0 && !(*times = ga__alloc(ctx, 2 * (size_t)found, sizeof **times)))
    status = ga__no_memory(ctx, "events of a result");
  if (!status && found > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *times) < 0)
    status = GA_ERR_FILE;
  if (set >= 0) H5Dclose(set);
  if (!status) *n = found;
  return status;
}

int ga__events_open(ga_recorder *r, double t)
{
  double *times;
  long n;
  if (H5Lexists(r->file, "events", H5P_DEFAULT) <= 0) return 0;
  if (ga__events_read(r->ctx, r->file, &n, &times)) return -1;
  while (n > 0 && times[n - 1] > t) n--;
  ga__free(r->ctx, times);
  const hsize_t size[2] = {2, (hsize_t)n};
  r->events = ga__open_own(r->file, "events", H5P_DEFAULT);
  r->n_happened = n;
  return r->events >= 0 && H5Dset_extent(r->events, size) >= 0 ? 0 : -1;
}
