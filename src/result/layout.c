/* Datasets of a result file: created in a new file, opened in one that is appended to. */
#include "result/recorder.h"
#include "result/events.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum {
  MOST_ROWS = 1024,       /* of a block: a short file that was flushed has one, not compressed */
  LEAST_ROWS = 8,         /* of a block */
  BLOCK_NUMBERS = 524288, /* of a block, where that leaves LEAST_ROWS: 4 MiB */
  CHUNK_NUMBERS = 131072, /* of a chunk at most: 1 MiB, which is what other programs' caches hold */
  SAVED_CHUNK = 8192,     /* numbers of a checkpoint's chunk */
  TEXT_CHUNK = 4096,      /* names of a chunk */
  SUM_CHUNK = 64          /* blocks of a chunk of sums */
};

void ga__layout_sizes(ga_recorder *r)
{
  int rows = MOST_ROWS, columns;
  while (rows > LEAST_ROWS && (size_t)rows * (size_t)r->m > BLOCK_NUMBERS) rows /= 2;
  columns = CHUNK_NUMBERS / rows;
  r->groups = (r->m + columns - 1) / columns;
  r->columns = (r->m + r->groups - 1) / r->groups;
  r->rows = rows;
}

/* ---- Making -------------------------------------------------------------------------------------------- */

/* A dataset [fixed × any] (fixed 0: [any]) of doubles in chunks; the recorder writes whole chunks, so HDF5
 * need not keep any. */
static hid_t grown_dataset(hid_t file, const char *name, hsize_t fixed, hsize_t across, hsize_t along,
                           int compression)
{
  const int rank = fixed ? 2 : 1, skip = fixed ? 0 : 1;
  const hsize_t size[2] = {fixed, 0}, most[2] = {fixed, H5S_UNLIMITED}, chunk[2] = {across, along};
  hid_t space = H5Screate_simple(rank, size + skip, most + skip), made = -1;
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS);
  if (space >= 0 && create >= 0 && access >= 0 && H5Pset_chunk(create, rank, chunk + skip) >= 0 &&
      H5Pset_fill_time(create, H5D_FILL_TIME_NEVER) >= 0 && H5Pset_chunk_cache(access, 0, 0, 0.0) >= 0 &&
      (!compression || (H5Pset_shuffle(create) >= 0 && H5Pset_deflate(create, 4) >= 0)))
    made = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, access);
  H5Pclose(access);
  H5Pclose(create);
  H5Sclose(space);
  return made;
}

/* Creates a compact dataset, which is stored in its header and so within the first page: the table of
 * checkpoints, the tail. */
static hid_t compact_dataset(hid_t file, const char *name, int rank, const hsize_t *size)
{
  hid_t space = H5Screate_simple(rank, size, NULL), create = H5Pcreate(H5P_DATASET_CREATE), made = -1;
  if (space >= 0 && create >= 0 && H5Pset_layout(create, H5D_COMPACT) >= 0)
    made = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  H5Sclose(space);
  return made;
}

static hid_t sums_dataset(const ga_recorder *r)
{
  const hsize_t across = (hsize_t)r->groups + 1, size[2] = {across, 0}, most[2] = {across, H5S_UNLIMITED},
                chunk[2] = {across, SUM_CHUNK};
  hid_t space = H5Screate_simple(2, size, most), create = H5Pcreate(H5P_DATASET_CREATE), made = -1;
  if (space >= 0 && create >= 0 && H5Pset_chunk(create, 2, chunk) >= 0)
    made = H5Dcreate2(r->file, "sums", H5T_NATIVE_UINT32, space, H5P_DEFAULT, create, H5P_DEFAULT);
  H5Pclose(create);
  H5Sclose(space);
  return made;
}

static int within_first_page(hid_t object)
{
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC | H5O_INFO_HDR) >= 0 && info.hdr.nchunks == 1 &&
         info.addr + info.hdr.space.total <= GA__PAGE;
}

static int make_numbers(ga_recorder *r)
{
  const hsize_t table[2] = {2, GA__CP_COLUMNS}, tail = GA__TAIL_SIZE;
  hid_t group;
  r->values =
      grown_dataset(r->file, "values", (hsize_t)r->m, (hsize_t)r->columns, (hsize_t)r->rows, r->compression);
  r->time = grown_dataset(r->file, "time", 0, 0, (hsize_t)r->rows, r->compression);
  if (r->values < 0 || r->time < 0 || ga__text_attribute(r->time, "unit", "s", 0)) return -1;
  group = H5Gcreate2(r->file, "checkpoint", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0 || H5Gclose(group) < 0) return -1;
  r->table = compact_dataset(r->file, "checkpoint/table", 2, table);
  r->tail = compact_dataset(r->file, "tail", 1, &tail);
  r->sums = sums_dataset(r);
  r->saved[0] = grown_dataset(r->file, "checkpoint/a", 0, 0, SAVED_CHUNK, 0);
  r->saved[1] = grown_dataset(r->file, "checkpoint/b", 0, 0, SAVED_CHUNK, 0);
  if (r->table < 0 || r->saved[0] < 0 || r->saved[1] < 0 || r->tail < 0 || r->sums < 0) return -1;
  if (H5Dwrite(r->table, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->marks) < 0) return -1;
  /* required for consistency: what changes together is written together */
  return within_first_page(r->values) && within_first_page(r->time) && within_first_page(r->table) &&
                 within_first_page(r->tail)
             ? 0
             : -1;
}

/* A dataset of n texts of up to `size` bytes, one after the other in buffer. */
static int write_texts(hid_t file, const char *name, const char *buffer, hsize_t n, size_t size)
{
  const hsize_t chunk = n < TEXT_CHUNK ? n : TEXT_CHUNK;
  hid_t type = ga__text_type(size, H5T_CSET_ASCII), space = H5Screate_simple(1, &n, NULL),
        create = H5Pcreate(H5P_DATASET_CREATE);
  hid_t made = -1;
  int done = 0;
  if (type >= 0 && space >= 0 && create >= 0 && H5Pset_chunk(create, 1, &chunk) >= 0 &&
      H5Pset_deflate(create, 4) >= 0)
    made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  if (made >= 0)
    done = H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0 && H5Dclose(made) >= 0;
  H5Pclose(create);
  H5Sclose(space);
  H5Tclose(type);
  return done ? 0 : -1;
}

/* texts NULL: all "". */
static int make_texts(ga_recorder *r, const char *name, const char *const *texts, ga_status *status)
{
  const size_t m = (size_t)r->m;
  size_t size = 1;
  char *buffer;
  int error;
  for (size_t i = 0; texts && i < m; i++)
    if (strlen(texts[i]) > size) size = strlen(texts[i]);
  buffer = ga__alloc(r->ctx, m, size);
  if (!buffer) {
    *status = ga__no_memory(r->ctx, "names of signals");
    return -1;
  }
  for (size_t i = 0; texts && i < m; i++) memcpy(buffer + i * size, texts[i], strlen(texts[i]));
  error = write_texts(r->file, name, buffer, m, size);
  ga__free(r->ctx, buffer);
  return error;
}

static int make_model(hid_t file, const char *model)
{
  hid_t type = ga__text_type(strlen(model), H5T_CSET_ASCII), space = H5Screate(H5S_SCALAR), made = -1;
  int done = 0;
  if (type >= 0 && space >= 0)
    made = H5Dcreate2(file, "model", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (made >= 0)
    done = H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, model) >= 0 && H5Dclose(made) >= 0;
  H5Sclose(space);
  H5Tclose(type);
  return done ? 0 : -1;
}

int ga__layout_create(ga_recorder *r, const ga_recorder_opts *opts, ga_status *status)
{
  hid_t create = H5Pcreate(H5P_FILE_CREATE);
  *status = GA_OK;
  /* Free space is not kept track of: the store decides where things go. */
  if (create >= 0 && H5Pset_file_space_strategy(create, H5F_FSPACE_STRATEGY_NONE, 0, 1) >= 0)
    r->file = H5Fcreate(r->path, H5F_ACC_TRUNC, create, r->store.access);
  H5Pclose(create);
  if (r->file < 0 || make_numbers(r)) return -1;
  if (make_texts(r, "names", opts->names, status) || make_texts(r, "units", opts->units, status)) return -1;
  if (opts->model && *opts->model && make_model(r->file, opts->model)) return -1;
  if (ga__events_create(r, opts)) return -1;
  if (ga__text_attribute(r->file, "status", ga__run_status_words[GA_RUN_RUNNING], GA__STATUS_SIZE) ||
      ga__text_attribute(r->file, "failure", "", GA__STATUS_SIZE) ||
      ga__text_attribute(r->file, "format", "galpha result 1", 0) ||
      ga__text_attribute(r->file, "galpha", ga_version(), 0))
    return -1;
  for (int i = 0; i < opts->n_attributes; i++)
    if (ga__text_attribute(r->file, opts->attributes[2 * i], opts->attributes[2 * i + 1], 0)) return -1;
  return 0;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

static hid_t open_dataset(hid_t file, const char *name)
{
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS), opened = -1;
  if (access >= 0 && H5Pset_chunk_cache(access, 0, 0, 0.0) >= 0) opened = ga__open_own(file, name, access);
  H5Pclose(access);
  return opened;
}

/* Reads the sizes from the file: another version may use others. */
static int read_sizes(ga_recorder *r)
{
  hid_t create = H5Dget_create_plist(r->values), space = H5Dget_space(r->values);
  hsize_t chunk[2] = {0, 0}, size[2] = {0, 0};
  int done = 0;
  if (create >= 0 && space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
      H5Sget_simple_extent_dims(space, size, NULL) == 2 && H5Pget_chunk(create, 2, chunk) == 2) {
    r->m = (int)size[0];
    r->columns = (int)chunk[0];
    r->rows = (int)chunk[1];
    r->compression = H5Pget_nfilters(create) > 0;
    r->groups = r->columns > 0 ? (r->m + r->columns - 1) / r->columns : 0;
    done = r->groups > 0 && r->rows > 0;
  }
  H5Sclose(space);
  H5Pclose(create);
  return done ? 0 : -1;
}

/* Files of earlier versions have no checksums, and get none. */
static int open_sums(ga_recorder *r)
{
  hsize_t size[2] = {0, 0};
  double tail[GA__TAIL_SIZE];
  if (H5Lexists(r->file, "sums", H5P_DEFAULT) <= 0 || H5Lexists(r->file, "tail", H5P_DEFAULT) <= 0) return 0;
  r->sums = ga__open_own(r->file, "sums", H5P_DEFAULT);
  r->tail = ga__open_own(r->file, "tail", H5P_DEFAULT);
  hid_t space = r->sums >= 0 ? H5Dget_space(r->sums) : -1, line = r->tail >= 0 ? H5Dget_space(r->tail) : -1;
  const int done = space >= 0 && line >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                   H5Sget_simple_extent_dims(space, size, NULL) == 2 && size[0] == (hsize_t)r->groups + 1 &&
                   H5Sget_simple_extent_npoints(line) == GA__TAIL_SIZE &&
                   H5Dread(r->tail, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, tail) >= 0;
  if (space >= 0) H5Sclose(space);
  if (line >= 0) H5Sclose(line);
  r->n_sums = (long)size[1];
  r->model_sum = done && tail[GA__TAIL_MODEL] >= 0.0 && tail[GA__TAIL_MODEL] <= UINT32_MAX
                     ? (uint32_t)tail[GA__TAIL_MODEL]
                     : 0;
  return done ? 0 : -1;
}

static ga_status refuse_count(const ga_recorder *r, int given, int in_file)
{
  char count[16];
  snprintf(count, sizeof count, "%d", in_file);
  return ga__refuse(r->ctx, GA_ERR_ARGUMENT, GA_REASON_COUNT_MISMATCH,
                    &(ga__facts){.file = r->path,
                                 .field = "n_signals",
                                 .other = "the number of signals in the file",
                                 .detail = count,
                                 GA__NUMBERS({given, NULL}, {in_file, NULL})});
}

ga_status ga__layout_open(ga_recorder *r, const ga_recorder_opts *opts)
{
  ga_result *old = NULL;
  double t = -INFINITY;
  ga_status status = ga_result_open(r->ctx, r->path, &old);
  if (status == GA_OK && ga__result_mark(old)) t = ga__result_mark(old)[GA__CP_TIME];
  if (status == GA_OK && ga__result_mark(old))
    r->resume = (long)ga__result_mark(old)[GA__CP_RECORDS];
  else if (status == GA_OK)
    status = ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_CANNOT_RESUME,
                        &(ga__facts){.file = r->path, .detail = "has no checkpoint to go on from"});
  /* the last block is written again, with a new sum, so it must be intact */
  if (status == GA_OK && r->resume > 0 && !ga__result_block_is_sound(old, r->resume - 1))
    status = ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_CANNOT_RESUME,
                        &(ga__facts){.file = r->path,
                                     .detail = "the last records before its checkpoint are damaged",
                                     GA__NUMBERS({(double)r->resume - 1, NULL})});
  if (status == GA_OK && ga__result_rows(old) != opts->n_signals)
    status = refuse_count(r, opts->n_signals, ga__result_rows(old));
  for (int i = 0; status == GA_OK && i < opts->n_signals; i++)
    if (strcmp(ga_result_signal_name(old, i), opts->names[i]) != 0)
      status = ga__refuse(r->ctx, GA_ERR_ARGUMENT, GA_REASON_OTHER_SIGNALS,
                          &(ga__facts){.file = r->path,
                                       .name = ga_result_signal_name(old, i),
                                       .other = opts->names[i],
                                       GA__NUMBERS({i + 1, NULL})});
  ga_result_close(&old);
  if (status) return status;
  r->file = H5Fopen(r->path, H5F_ACC_RDWR, r->store.access);
  if (r->file >= 0) {
    r->values = open_dataset(r->file, "values");
    r->time = open_dataset(r->file, "time");
    r->table = ga__open_own(r->file, "checkpoint/table", H5P_DEFAULT);
    r->saved[0] = open_dataset(r->file, "checkpoint/a");
    r->saved[1] = open_dataset(r->file, "checkpoint/b");
  }
  if (r->file < 0 || r->values < 0 || r->time < 0 || r->table < 0 || r->saved[0] < 0 || r->saved[1] < 0 ||
      read_sizes(r) || open_sums(r) || ga__events_open(r, t) ||
      H5Dread(r->table, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->marks) < 0)
    return ga__no_file(r->ctx, r->path, "appended to", r->store.failure);
  r->n_event_names = opts->n_events;
  return GA_OK;
}
