/* Reading result files. */
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE /* st_mtimespec */
#include "result/events.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  CACHE_BYTES = 64 << 20, /* holds a block of all signals, so that chunks are unpacked once */
  TRIES = 100,            /* attempts: a page may be read while it is being written */
  STILL = 10,             /* attempts if the file does not change; a writer may be waiting for a processor */
  PAUSE = 1000000         /* [ns] smallest pause between them */
};

typedef struct texts {
  int n;
  char *buffer;
  char **at; /* [n] */
} texts;

struct ga_result {
  ga_context *ctx;
  char *path;
  hid_t file, values, time, sums; /* sums negative: the file has no checksums */
  int m;                          /* rows of values */
  int signals;                    /* those that are neither error bars nor poses */
  int has_errors;                 /* 1: as many error bars follow them */
  long n;
  int rows, columns, groups;  /* records and signals of a chunk; groups of signals */
  long n_blocks;              /* of rows records */
  double tail[GA__TAIL_SIZE]; /* the last of them, if it is not full */
  unsigned char *state;       /* [(groups + 1) n_blocks] checksum state of chunks, those of the time last */
  double *chunk;              /* [rows columns] */
  int model_damaged, checkpoint_damaged;
  int is_still; /* 1: nobody writes the file, so what does not fit is damaged */
  int *order;   /* [m] signals by name */
  texts names, units, attribute_names, attributes;
  texts event_names;
  double *event_times; /* [n_events] times, then numbers */
  long n_events;
  char *model;
  int side; /* the valid checkpoint; −1: none */
  double mark[GA__CP_COLUMNS];
  uint64_t bytes; /* of the file, when it was opened */
  int torn;       /* 1: what was read is inconsistent */
  int is_growing; /* 1: it is being written, so headers may be of different times */
  long tail_end;  /* records with checksums, read before all other lengths; -1: unknown */
};

static ga_status damaged(ga_result *r, const char *what)
{
  r->torn = 1;
  return ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_FILE_DAMAGED, &(ga__facts){.file = r->path, .name = what});
}

/* ---- The file ------------------------------------------------------------------------------------------ */

/* Checks the file by the system first, whose reasons are more precise than those of HDF5. Only regular files
 * are opened: a pipe would block, and opening some devices has effects. */
static ga_status check_file(ga_result *r)
{
  char start[8] = {0};
  struct stat now;
  int fd = -1, error = stat(r->path, &now) ? errno : 0, other = 0;
  const int regular = !error && S_ISREG(now.st_mode);
  if (regular) {
    fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    error = fd < 0 || fstat(fd, &now) ? errno : 0;
    other = !error && now.st_size > 0 &&
            (pread(fd, start, sizeof start, 0) < 0 || memcmp(start, "\211HDF\r\n\032\n", 8) != 0);
    if (fd >= 0) close(fd);
  }
  if (error) return ga__no_file(r->ctx, r->path, "opened", error);
  if (S_ISDIR(now.st_mode)) return ga__no_file(r->ctx, r->path, "opened", EISDIR);
  if (!S_ISREG(now.st_mode)) return ga__refuse_file_kind(r->ctx, r->path, "a regular file", NULL, NULL);
  if (other || now.st_size == 0)
    return ga__refuse_file_kind(r->ctx, r->path, "an HDF5 file", other ? NULL : "it is empty", NULL);
  r->bytes = (uint64_t)now.st_size;
  return GA_OK;
}

/* Opens the file, or opens it again. */
static ga_status open_hdf5(ga_result *r)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  struct stat now;
  if (r->file >= 0) H5Fclose(r->file);
  r->values = r->time = r->sums = -1;
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, 0, 1); /* the writer leaves complete files only */
#endif
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  r->file = H5Fopen(r->path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  if (r->file < 0) return damaged(r, "the whole");
  if (stat(r->path, &now)) return ga__no_file(r->ctx, r->path, "opened", errno);
  r->bytes = (uint64_t)now.st_size;
  return GA_OK;
}

/* 1: n items of this size can be in the file: "deflate" compresses by at most 1032 to 1. Larger sizes in a
 * header are not believed. */
static int fits(const ga_result *r, double n, double size)
{
  return n * size <= 1032.0 * (double)r->bytes;
}

/* Attempts to open the file: repeated while it is being written, up to a limit. */
typedef struct retry {
  struct timespec seen; /* when it was written last */
  int tries, still;     /* since then */
} retry;

static struct timespec changed_at(const struct stat *file)
{
#ifdef __APPLE__
  return file->st_mtimespec;
#else
  return file->st_mtim;
#endif
}

static int retry_open(retry *p, const char *path)
{
  const struct timespec pause = {0,
                                 PAUSE * (1 + p->tries % 3)}; /* varied, to avoid the rhythm of the writer */
  struct stat now;
  if (++p->tries >= TRIES) return 0;
  nanosleep(&pause, NULL);
  if (stat(path, &now)) return 0;
  const struct timespec changed = changed_at(&now);
  p->still = changed.tv_sec == p->seen.tv_sec && changed.tv_nsec == p->seen.tv_nsec ? p->still + 1 : 0;
  p->seen = changed;
  return p->still < STILL;
}

/* ---- Texts --------------------------------------------------------------------------------------------- */

static ga_status no_memory(const ga_result *r)
{
  return ga__no_memory(r->ctx, "texts of a result file");
}

/* A dataset or attribute of texts has its type and its space; numbers are refused. */
static int text_size(hid_t type, size_t *size)
{
  if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) return -1;
  *size = H5Tget_size(type);
  return 0;
}

/* The r->m texts of a dataset. */
static ga_status read_texts(ga_result *r, const char *name, int count, texts *out)
{
  const size_t m = (size_t)count;
  hid_t set = ga__open_own(r->file, name, H5P_DEFAULT), type = -1, space = -1, wide = -1;
  size_t size = 0;
  ga_status status = GA_OK;
  if (set >= 0) {
    type = H5Dget_type(set);
    space = H5Dget_space(set);
  }
  if (set < 0 || text_size(type, &size) || H5Sget_simple_extent_npoints(space) != count ||
      !fits(r, (double)count, (double)size))
    status = damaged(r, name);
  if (status == GA_OK) {
    out->buffer = ga__alloc(r->ctx, m, size + 1);
    out->at = ga__alloc(r->ctx, m, sizeof *out->at);
    if (!out->buffer || !out->at) status = no_memory(r);
  }
  if (status == GA_OK) {
    wide = ga__text_type(size + 1, H5Tget_cset(type)); /* with room for an end */
    if (wide < 0 || H5Dread(set, wide, H5S_ALL, H5S_ALL, H5P_DEFAULT, out->buffer) < 0)
      status = damaged(r, name);
    for (size_t i = 0; i < m; i++) out->at[i] = out->buffer + i * (size + 1);
    out->n = count;
  }
  if (wide >= 0) H5Tclose(wide);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  return status;
}

/* Files of runs without events have none. */
static ga_status read_events(ga_result *r)
{
  if (H5Lexists(r->file, "event_names", H5P_DEFAULT) <= 0) return GA_OK;
  hid_t set = ga__open_own(r->file, "event_names", H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
  const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  if (count < 1 || count > INT_MAX) return damaged(r, "event_names");
  ga_status status = read_texts(r, "event_names", (int)count, &r->event_names);
  for (int i = 0; status == GA_OK && i < r->event_names.n; i++)
    if (!ga__is_shown(r->event_names.at[i])) status = damaged(r, "the name of an event");
  if (status == GA_OK) status = ga__events_read(r->ctx, r->file, &r->n_events, &r->event_times);
  return status == GA_ERR_FILE ? damaged(r, "events") : status;
}

static ga_status read_model(ga_result *r)
{
  hid_t set, type = -1, space = -1;
  size_t size = 0;
  ga_status status = GA_OK;
  if (H5Lexists(r->file, "model", H5P_DEFAULT) <= 0) {
    r->model = ga__alloc(r->ctx, 1, 1);
    return r->model ? GA_OK : no_memory(r);
  }
  set = ga__open_own(r->file, "model", H5P_DEFAULT);
  if (set >= 0) {
    type = H5Dget_type(set);
    space = H5Dget_space(set);
  }
  if (set < 0 || text_size(type, &size) || size > r->bytes || H5Sget_simple_extent_npoints(space) != 1)
    status = damaged(r, "model");
  if (status == GA_OK && !(r->model = ga__alloc(r->ctx, size + 1, 1))) status = no_memory(r);
  if (status == GA_OK && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->model) < 0)
    status = damaged(r, "model");
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  return status;
}

/* Attribute i into the lists, if it is one text. */
static ga_status read_attribute(ga_result *r, hsize_t i)
{
  hid_t attribute = H5Aopen_by_idx(r->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
        type = -1, space = -1;
  const int k = r->attributes.n;
  ssize_t length = -1;
  size_t size = 0;
  ga_status status = GA_OK;
  if (attribute >= 0) {
    type = H5Aget_type(attribute);
    space = H5Aget_space(attribute);
    length = H5Aget_name(attribute, 0, NULL);
  }
  if (length < 0) status = damaged(r, "an attribute");
  if (status == GA_OK && !text_size(type, &size) && H5Sget_simple_extent_npoints(space) == 1 &&
      size <= r->bytes) {
    r->attributes.n = r->attribute_names.n = k + 1;
    r->attribute_names.at[k] = ga__alloc(r->ctx, (size_t)length + 1, 1);
    r->attributes.at[k] = ga__alloc(r->ctx, size + 1, 1);
    if (!r->attribute_names.at[k] || !r->attributes.at[k])
      status = no_memory(r);
    else if (H5Aget_name(attribute, (size_t)length + 1, r->attribute_names.at[k]) < 0 ||
             H5Aread(attribute, type, r->attributes.at[k]) < 0)
      status = damaged(r, "an attribute");
    else if (!ga__is_shown(r->attribute_names.at[k]))
      status = damaged(r, "the name of an attribute");
  }
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  if (attribute >= 0) H5Aclose(attribute);
  return status;
}

static ga_status refuse_format(const ga_result *r, const char *format)
{
  char is[GA_ERROR_NAME];
  snprintf(is, sizeof is, "it is HDF5, its format '%s'", format);
  return ga__refuse_file_kind(r->ctx, r->path, "a result of galpha", is, NULL);
}

static ga_status read_attributes(ga_result *r)
{
  const char *format;
  H5O_info_t info;
  ga_status status = GA_OK;
  if (H5Oget_info2(r->file, &info, H5O_INFO_NUM_ATTRS) < 0) return damaged(r, "the root");
  r->attributes.at = ga__alloc(r->ctx, info.num_attrs, sizeof(char *));
  r->attribute_names.at = ga__alloc(r->ctx, info.num_attrs, sizeof(char *));
  if (!r->attributes.at || !r->attribute_names.at) return no_memory(r);
  for (hsize_t i = 0; i < info.num_attrs && status == GA_OK; i++) status = read_attribute(r, i);
  if (status) return status;
  format = ga_result_attribute(r, "format");
  if (!format || strcmp(format, "galpha result 1") != 0) return refuse_format(r, format ? format : "");
  return GA_OK;
}

/* ---- Numbers ------------------------------------------------------------------------------------------- */

static int are_numbers(hid_t set)
{
  hid_t type = H5Dget_type(set);
  const int good = type >= 0 && H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(double);
  if (type >= 0) H5Tclose(type);
  return good;
}

static ga_status open_numbers(ga_result *r)
{
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS), space = -1, line = -1;
  hsize_t size[2] = {0, 0}, length = 0;
  int done = 0;
  if (access >= 0 && H5Pset_chunk_cache(access, 1009, CACHE_BYTES, 1.0) >= 0) {
    r->values = ga__open_own(r->file, "values", access);
    r->time = ga__open_own(r->file, "time", access);
  }
  if (r->values >= 0 && r->time >= 0) {
    space = H5Dget_space(r->values);
    line = H5Dget_space(r->time);
    done = space >= 0 && line >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
           H5Sget_simple_extent_ndims(line) == 1 && H5Sget_simple_extent_dims(space, size, NULL) == 2 &&
           H5Sget_simple_extent_dims(line, &length, NULL) == 1 && size[0] > 0 && size[0] <= INT32_MAX &&
           fits(r, (double)size[0] * (double)size[1], sizeof(double)) &&
           fits(r, (double)length, sizeof(double)) && are_numbers(r->values) && are_numbers(r->time);
  }
  if (r->is_growing && r->tail_end >= 0 && r->tail_end <= (long)size[1] && r->tail_end <= (long)length)
    size[1] = length = (hsize_t)r->tail_end;
  done = done && size[1] == length;
  done = done && (!r->m || (size[0] == (hsize_t)r->m &&
                            length >= (hsize_t)r->n)); /* opened again: no less than before */
  if (!r->m) {
    r->m = (int)size[0];
    r->n = (long)length;
  }
  if (line >= 0) H5Sclose(line);
  if (space >= 0) H5Sclose(space);
  if (access >= 0) H5Pclose(access);
  return done ? GA_OK : damaged(r, "values or time");
}

static int read_once(ga_result *r, int i, long first, long n, double *out)
{
  const hsize_t from[2] = {(hsize_t)(i < 0 ? 0 : i), (hsize_t)first}, size[2] = {1, (hsize_t)n};
  const int skip = i < 0;
  hid_t set = skip ? r->time : r->values, memory = H5Screate_simple(1, size + 1, NULL),
        file = H5Dget_space(set);
  const int done = memory >= 0 && file >= 0 &&
                   H5Sselect_hyperslab(file, H5S_SELECT_SET, from + skip, NULL, size + skip, NULL) >= 0 &&
                   H5Dread(set, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, out) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
  return done;
}

/* ---- Checksums ----------------------------------------------------------------------------------------- */

enum { UNKNOWN, SOUND, DAMAGED };

/* Reads the sizes of chunks; returns 1: they are valid. */
static int read_sizes(ga_result *r)
{
  hid_t create = H5Dget_create_plist(r->values);
  hsize_t chunk[2] = {0, 0};
  const int known =
      create >= 0 && H5Pget_layout(create) == H5D_CHUNKED && H5Pget_chunk(create, 2, chunk) == 2;
  if (create >= 0) H5Pclose(create);
  if (!known || chunk[0] < 1 || chunk[1] < 1 || chunk[0] > INT32_MAX || chunk[1] > INT32_MAX) return 0;
  r->columns = (int)chunk[0];
  r->rows = (int)chunk[1];
  r->groups = (int)(((long)r->m + r->columns - 1) / r->columns);
  r->n_blocks = r->n / r->rows + (r->n % r->rows > 0);
  return 1;
}

/* /sums, with a column for every block that is full, and /tail for the one that is not. */
static int sums_fit(ga_result *r)
{
  hid_t tail = ga__open_own(r->file, "tail", H5P_DEFAULT), line = tail >= 0 ? H5Dget_space(tail) : -1,
        space = r->sums >= 0 ? H5Dget_space(r->sums) : -1;
  hsize_t size[2] = {0, 0};
  const int done =
      line >= 0 && space >= 0 && H5Sget_simple_extent_npoints(line) == GA__TAIL_SIZE &&
      (r->is_growing || H5Dread(tail, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->tail) >= 0) &&
      H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, size, NULL) == 2 &&
      size[0] == (hsize_t)r->groups + 1 && size[1] >= (hsize_t)(r->n / r->rows) &&
      fits(r, (double)size[0] * (double)size[1], sizeof(uint32_t)) &&
      r->tail[GA__TAIL_FIRST] == (double)(r->n - r->n % r->rows) &&
      r->tail[GA__TAIL_ROWS] == (double)(r->n % r->rows);
  if (space >= 0) H5Sclose(space);
  if (line >= 0) H5Sclose(line);
  if (tail >= 0) H5Dclose(tail);
  return done;
}

static ga_status open_sums(ga_result *r)
{
  if (H5Lexists(r->file, "sums", H5P_DEFAULT) <= 0) return GA_OK;
  r->sums = ga__open_own(r->file, "sums", H5P_DEFAULT);
  if (r->state) return r->sums < 0 ? damaged(r, "checksums") : GA_OK; /* opened again: as it was */
  if (!read_sizes(r) || !sums_fit(r)) return damaged(r, "checksums");
  r->state = ga__alloc(r->ctx, (size_t)r->groups + 1, (size_t)r->n_blocks + 1);
  r->chunk = ga__alloc(r->ctx, (size_t)r->rows * (size_t)r->columns, sizeof *r->chunk);
  return r->state && r->chunk ? GA_OK : ga__no_memory(r->ctx, "checksums of a result file");
}

static unsigned char *state_of(ga_result *r, int group, long block)
{
  return &r->state[(size_t)block * ((size_t)r->groups + 1) + (size_t)group];
}

/* Reads records first ... first+n−1 of a group of signals (or of the time) into r->chunk, and continues the
 * checksum. */
static int sum_chunk(ga_result *r, int group, long first, long n, uint32_t *sum)
{
  const int is_time = group == r->groups, left = r->m - group * r->columns;
  const hsize_t across = is_time ? 1 : (hsize_t)(left < r->columns ? left : r->columns);
  const hsize_t from[2] = {(hsize_t)group * (hsize_t)r->columns, (hsize_t)first},
                size[2] = {across, (hsize_t)n};
  hid_t set = is_time ? r->time : r->values, memory = H5Screate_simple(2, size, NULL),
        file = H5Dget_space(set);
  const int done =
      memory >= 0 && file >= 0 &&
      H5Sselect_hyperslab(file, H5S_SELECT_SET, from + is_time, NULL, size + is_time, NULL) >= 0 &&
      H5Dread(set, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, r->chunk) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
  if (done) *sum = ga__sum(*sum, r->chunk, (size_t)across * (size_t)n * sizeof(double));
  return done;
}

static int read_sum(ga_result *r, int group, long block, uint32_t *sum)
{
  const hsize_t from[2] = {(hsize_t)group, (hsize_t)block}, one[2] = {1, 1};
  hid_t memory = H5Screate_simple(2, one, NULL), file = H5Dget_space(r->sums);
  const int done = memory >= 0 && file >= 0 &&
                   H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, one, NULL) >= 0 &&
                   H5Dread(r->sums, H5T_NATIVE_UINT32, memory, file, H5P_DEFAULT, sum) >= 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
  return done;
}

/* The last block has one sum for all. */
static void check_tail(ga_result *r)
{
  const long first = (long)r->tail[GA__TAIL_FIRST], n = (long)r->tail[GA__TAIL_ROWS];
  uint32_t sum = 0;
  int good = 1;
  for (int g = 0; g <= r->groups && good; g++) good = sum_chunk(r, g, first, n, &sum);
  good = good && (double)sum == r->tail[GA__TAIL_SUM];
  for (int g = 0; g <= r->groups; g++) *state_of(r, g, r->n_blocks - 1) = good ? SOUND : DAMAGED;
}

/* 1: the numbers of a chunk agree with its checksum, or there is none. */
static int is_sound(ga_result *r, int group, long block)
{
  if (!r->state) return 1;
  unsigned char *state = state_of(r, group, block);
  if (*state == UNKNOWN && (block + 1) * r->rows > r->n) {
    check_tail(r);
  } else if (*state == UNKNOWN) {
    uint32_t sum = 0, written = 0;
    const int good =
        read_sum(r, group, block, &written) && sum_chunk(r, group, block * r->rows, r->rows, &sum);
    *state = good && sum == written ? SOUND : DAMAGED;
  }
  return *state == SOUND;
}

int ga__result_block_is_sound(ga_result *r, long record)
{
  int good = 1;
  for (int g = 0; r->state && g <= r->groups && good; g++) good = is_sound(r, g, record / r->rows);
  return good;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static int group_of(const ga_result *r, int i)
{
  return i < 0 ? r->groups : i / r->columns;
}

/* Reads all records at once, if their checksums are right. */
static int read_sound(ga_result *r, int i, long first, long n, double *out)
{
  if (r->state)
    for (long b = first / r->rows; b <= (first + n - 1) / r->rows; b++)
      if (!is_sound(r, group_of(r, i), b)) return 0;
  return read_once(r, i, first, n, out);
}

/* Reads block by block, with NaN for damaged records, which the error names. */
static ga_status read_rest(ga_result *r, int i, long first, long n, double *out)
{
  char text[GA_ERROR_TEXT / 2];
  ga__writer w = {text, sizeof text, 0};
  const long end = first + n, rows = r->state ? r->rows : n;
  long from = -1; /* first record of a range that is damaged */
  int ranges = 0;
  for (long at = first; at < end;) {
    const long stop = r->state && (at / rows + 1) * rows < end ? (at / rows + 1) * rows : end;
    const int good = (!r->state || is_sound(r, group_of(r, i), at / rows)) &&
                     read_once(r, i, at, stop - at, out + (at - first));
    if (!good && from < 0) from = at;
    for (long k = at; !good && k < stop; k++) out[k - first] = NAN;
    if (from >= 0 && (good || stop == end)) {
      const long last = good ? at - 1 : end - 1;
      if (ranges < 8) ga__write(&w, "%s%ld to %ld", ranges ? ", " : "records ", from, last);
      if (ranges++ == 8) ga__write(&w, ", and more");
      from = -1;
    }
    at = stop;
  }
  if (ranges == 0) return GA_OK;
  ga__write(&w, " of %s", i < 0 ? "the time" : r->names.at[i]);
  return ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_RECORDS_DAMAGED,
                    &(ga__facts){.file = r->path,
                                 .name = i < 0 ? "time" : r->names.at[i],
                                 .detail = text,
                                 GA__NUMBERS({(double)first, NULL}, {(double)end - 1, NULL})});
}

static ga_status refuse_index(const ga_result *r, const char *field, long value, const char *expected,
                              long least, long most)
{
  return ga__refuse(
      r->ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
      &(ga__facts){.file = r->path,
                   .function = "ga_result_read",
                   .field = field,
                   .expected = expected,
                   GA__NUMBERS({(double)value, NULL}, {(double)least, NULL}, {(double)most, NULL})});
}

ga_status ga_result_read(ga_result *r, int i, long first, long n, double *out)
{
  if (!r || !out) return ga__null_argument(r ? r->ctx : NULL);
  ga__hdf5_messages quiet;
  retry retries = {{0, 0}, 0, 0};
  ga_status status = GA_OK;
  int done;
  if (i < -1 || i >= r->m)
    return refuse_index(r, "i", i, "the number of a signal, or -1 for the time", -1, r->m - 1);
  if (first < 0 || first > r->n) return refuse_index(r, "first", first, "a record or the end", 0, r->n);
  if (n < 0 || n > r->n - first)
    return refuse_index(r, "n", n, "a number of records that are there from `first` on", 0, r->n - first);
  if (n == 0) return GA_OK;
  quiet = ga__hdf5_mute();
  done = read_sound(r, i, first, n, out);
  while (!done && !r->is_still && retry_open(&retries, r->path)) {
    if (r->state) memset(r->state, UNKNOWN, ((size_t)r->groups + 1) * (size_t)r->n_blocks);
    done = open_hdf5(r) == GA_OK && open_numbers(r) == GA_OK && open_sums(r) == GA_OK &&
           read_sound(r, i, first, n, out);
  }
  if (!done) {
    r->is_still = 1;
    for (long k = 0; k < n; k++) out[k] = NAN;
    if (r->file < 0 || r->values < 0 || r->time < 0 || (r->state && r->sums < 0))
      status = damaged(r, "values or time");
    else
      status = read_rest(r, i, first, n, out);
  }
  ga__hdf5_unmute(&quiet);
  return status;
}

/* "records 1024 to 2047 of rod.x to hinge.fy": what one group of signals has lost. */
static int write_damage(ga_result *r, int group, ga__writer *w, int ranges)
{
  const int last = (group + 1) * r->columns - 1;
  for (long b = 0; b < r->n_blocks; b++) {
    const long from = b;
    while (b < r->n_blocks && !is_sound(r, group, b)) b++;
    if (b == from) continue;
    const long end = b * r->rows < r->n ? b * r->rows : r->n;
    if (ranges++ >= 8) continue;
    ga__write(w, "%srecords %ld to %ld of ", ranges > 1 ? "; " : "", from * r->rows, end - 1);
    if (group == r->groups)
      ga__write(w, "the time");
    else if (group * r->columns == (last < r->m ? last : r->m - 1))
      ga__write(w, "%s", r->names.at[group * r->columns]);
    else
      ga__write(w, "%s to %s", r->names.at[group * r->columns], r->names.at[last < r->m ? last : r->m - 1]);
  }
  return ranges;
}

ga_status ga_result_verify(ga_result *r)
{
  if (!r) return ga__null_argument(NULL);
  char text[GA_ERROR_TEXT / 2] = "";
  ga__writer w = {text, sizeof text, 0};
  int ranges = 0;
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  if (r->state)
    for (int g = 0; g <= r->groups; g++) ranges = write_damage(r, g, &w, ranges);
  ga__hdf5_unmute(&quiet);
  if (ranges > 8) ga__write(&w, "; and %d more", ranges - 8);
  if (r->model_damaged) ga__write(&w, "%sthe text of the model", ranges ? "; " : "");
  if (r->checkpoint_damaged) ga__write(&w, "%sthe checkpoint", ranges || r->model_damaged ? "; " : "");
  if (ranges || r->model_damaged || r->checkpoint_damaged)
    return ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_RECORDS_DAMAGED,
                      &(ga__facts){.file = r->path, .detail = text});
  return GA_OK;
}

/* ---- Checkpoints --------------------------------------------------------------------------------------- */

/* Reads the n numbers of a checkpoint; returns 1: they agree with its mark. */
static int read_saved(ga_result *r, int side, const double *mark, double *saved)
{
  hid_t set = ga__open_own(r->file, side ? "checkpoint/b" : "checkpoint/a", H5P_DEFAULT), space = -1;
  int done = 0;
  if (set >= 0) space = H5Dget_space(set);
  done = space >= 0 && (double)H5Sget_simple_extent_npoints(space) == mark[GA__CP_COUNT] &&
         are_numbers(set) && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, saved) >= 0 &&
         ga__checkpoint_sum(saved, (size_t)mark[GA__CP_COUNT]) == mark[GA__CP_SUM];
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return done;
}

/* 1: the mark has valid counts of records and numbers. */
static int is_mark(const ga_result *r, const double *mark)
{
  const double records = mark[GA__CP_RECORDS], count = mark[GA__CP_COUNT];
  return mark[GA__CP_SERIAL] > 0.0 && isfinite(mark[GA__CP_TIME]) && records >= 0.0 &&
         records <= (double)r->n && records == floor(records) && count >= 1.0 && count == floor(count) &&
         fits(r, count, sizeof(double));
}

/* Finds the later one of the two checkpoints that is valid. */
static ga_status find_checkpoint(ga_result *r)
{
  double marks[2][GA__CP_COLUMNS];
  hid_t table = ga__open_own(r->file, "checkpoint/table", H5P_DEFAULT),
        space = table >= 0 ? H5Dget_space(table) : -1;
  int done = space >= 0 && H5Sget_simple_extent_npoints(space) == 2 * GA__CP_COLUMNS &&
             H5Dread(table, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, marks) >= 0;
  int side;
  if (space >= 0) H5Sclose(space);
  if (table >= 0) H5Dclose(table);
  if (!done) return damaged(r, "the table of checkpoints");
  side = marks[1][GA__CP_SERIAL] > marks[0][GA__CP_SERIAL];
  for (int k = 0; k < 2 && r->side < 0; k++, side = 1 - side) {
    const double *mark = marks[side];
    double *saved;
    if (mark[GA__CP_SERIAL] == 0.0) continue;
    if (!is_mark(r, mark)) {
      r->checkpoint_damaged = 1;
      continue;
    }
    saved = ga__alloc(r->ctx, (size_t)mark[GA__CP_COUNT], sizeof *saved);
    if (!saved) return ga__no_memory(r->ctx, "a checkpoint");
    if (read_saved(r, side, mark, saved)) {
      r->side = side;
      memcpy(r->mark, mark, sizeof r->mark);
    } else {
      r->checkpoint_damaged = 1; /* the other one may do */
    }
    ga__free(r->ctx, saved);
  }
  return GA_OK;
}

const double *ga__result_mark(const ga_result *r)
{
  return r->side < 0 ? NULL : r->mark;
}

ga_status ga_result_checkpoint(ga_result *r, double *t, size_t *n, double *saved)
{
  if (!r || !t || !n) return ga__null_argument(r ? r->ctx : NULL);
  ga__hdf5_messages quiet;
  int done = 1;
  *t = r->mark[GA__CP_TIME];
  *n = (size_t)r->mark[GA__CP_COUNT];
  if (r->side < 0 || !saved) return GA_OK;
  quiet = ga__hdf5_mute();
  done = read_saved(r, r->side, r->mark, saved);
  ga__hdf5_unmute(&quiet);
  return done ? GA_OK
              : ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_FILE_CHANGED,
                           &(ga__facts){.file = r->path,
                                        .detail = "the checkpoint was replaced since the file was opened"});
}

/* ---- Opening and closing ------------------------------------------------------------------------------- */

/* Rows before those that end in GA_RESULT_POSE, but one at least. */
static int count_without_poses(const ga_result *r)
{
  const size_t end = sizeof GA_RESULT_POSE - 1;
  int m = r->m;
  for (; m > 1; m--) {
    const char *name = r->names.at[m - 1];
    if (strlen(name) <= end || strcmp(name + strlen(name) - end, GA_RESULT_POSE) != 0) break;
  }
  return m;
}

/* 1: the second half of the first m names are those of the first with GA_RESULT_ERROR appended. */
static int have_errors(const ga_result *r, int m)
{
  const int half = m / 2;
  if (m % 2 || half == 0) return 0;
  for (int k = 0; k < half; k++) {
    const char *name = r->names.at[k], *bar = r->names.at[half + k];
    const size_t n = strlen(name);
    if (strncmp(name, bar, n) != 0 || strcmp(bar + n, GA_RESULT_ERROR) != 0) return 0;
  }
  return 1;
}

/* Reads this length first: lengths of a growing file increase, so the others are at least as large. */
static void read_tail_end(ga_result *r)
{
  double tail[GA__TAIL_SIZE];
  r->tail_end = -1;
  if (H5Lexists(r->file, "tail", H5P_DEFAULT) <= 0) return;
  hid_t set = ga__open_own(r->file, "tail", H5P_DEFAULT), line = set >= 0 ? H5Dget_space(set) : -1;
  if (line >= 0 && H5Sget_simple_extent_npoints(line) == GA__TAIL_SIZE &&
      H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, tail) >= 0 &&
      tail[GA__TAIL_FIRST] >= 0.0 && tail[GA__TAIL_ROWS] >= 0.0 &&
      tail[GA__TAIL_FIRST] + tail[GA__TAIL_ROWS] < 1e15) {
    memcpy(r->tail, tail, sizeof tail);
    r->tail_end = (long)(tail[GA__TAIL_FIRST] + tail[GA__TAIL_ROWS]);
  }
  if (line >= 0) H5Sclose(line);
  if (set >= 0) H5Dclose(set);
}

static ga_status open_file(ga_result *r)
{
  ga_status status = check_file(r);
  if (status == GA_OK) status = open_hdf5(r);
  if (status) return status;
  read_tail_end(r);
  status = read_attributes(r);
  if (status == GA_OK) status = open_numbers(r);
  if (status == GA_OK) status = open_sums(r);
  if (status == GA_OK) status = read_texts(r, "names", r->m, &r->names);
  if (status == GA_OK) status = read_texts(r, "units", r->m, &r->units);
  if (status == GA_OK) status = read_events(r);
  if (status == GA_OK) status = read_model(r);
  if (status == GA_OK) status = find_checkpoint(r);
  for (int i = 0; i < r->m && status == GA_OK; i++)
    if (!ga__is_shown(r->names.at[i]) || (*r->units.at[i] && !ga__is_shown(r->units.at[i])))
      status = damaged(r, "the name or unit of a signal (empty, or control characters in it)");
  if (status) return status;
  if (r->state && r->tail[GA__TAIL_MODEL] != (double)ga__sum(0, r->model, strlen(r->model))) {
    r->model_damaged = 1;
    r->model[0] = '\0';
  }
  r->order = ga__alloc(r->ctx, (size_t)r->m, sizeof *r->order);
  if (!r->order) return no_memory(r);
  ga__sort_names(r->order, (const char *const *)r->names.at, r->m);
  r->signals = count_without_poses(r);
  r->has_errors = have_errors(r, r->signals);
  if (r->has_errors) r->signals /= 2;
  return GA_OK;
}

static ga_status open_once(ga_context *ctx, const char *path, int is_growing, ga_result **out, int *torn)
{
  ga_result *r = ga__alloc(ctx, 1, sizeof *r);
  ga_status status;
  if (r) {
    r->ctx = ctx;
    r->file = r->values = r->time = r->sums = -1;
    r->side = -1;
    r->is_growing = is_growing;
    r->path = ga__copy_text(ctx, path);
  }
  status = r && r->path ? open_file(r) : ga__no_memory(ctx, "a result");
  *torn = r && r->torn;
  if (status)
    ga_result_close(&r);
  else
    *out = r;
  return status;
}

ga_status ga_result_open(ga_context *ctx, const char *path, ga_result **out)
{
  if (out) *out = NULL;
  if (!ctx || !path || !out) return ga__null_argument(ctx);
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  retry retries = {{0, 0}, 0, 0};
  ga_status status;
  int torn;
  *out = NULL;
  status = open_once(ctx, path, 0, out, &torn);
  while (status == GA_ERR_FILE && torn && retry_open(&retries, path)) {
    const int is_growing = retries.tries > 1 && retries.still == 0;
    status = open_once(ctx, path, is_growing, out, &torn);
  }
  ga__hdf5_unmute(&quiet);
  return status;
}

static void release_texts(ga_context *ctx, texts *t)
{
  for (int i = 0; !t->buffer && i < t->n; i++)
    ga__free(ctx, t->at[i]); /* one by one only where they have no buffer */
  ga__free(ctx, t->buffer);
  ga__free(ctx, t->at);
}

void ga_result_close(ga_result **result)
{
  ga_result *r = result ? *result : NULL;
  ga__hdf5_messages quiet;
  if (!r) return;
  quiet = ga__hdf5_mute();
  if (r->file >= 0) H5Fclose(r->file);
  ga__hdf5_unmute(&quiet);
  release_texts(r->ctx, &r->names);
  release_texts(r->ctx, &r->units);
  release_texts(r->ctx, &r->event_names);
  ga__free(r->ctx, r->event_times);
  release_texts(r->ctx, &r->attribute_names);
  release_texts(r->ctx, &r->attributes);
  ga__free(r->ctx, r->order);
  ga__free(r->ctx, r->chunk);
  ga__free(r->ctx, r->state);
  ga__free(r->ctx, r->model);
  ga__free(r->ctx, r->path);
  ga__free(r->ctx, r);
  *result = NULL;
}

/* ---- Access -------------------------------------------------------------------------------------------- */

long ga_result_n_events(const ga_result *r)
{
  return r ? r->n_events : 0;
}

double ga_result_event_time(const ga_result *r, long i)
{
  return r && i >= 0 && i < r->n_events ? r->event_times[i] : NAN;
}

const char *ga_result_event_name(const ga_result *r, long i)
{
  if (!r || i < 0 || i >= r->n_events) return "";
  const double number = r->event_times[r->n_events + i];
  return number >= 0.0 && number < r->event_names.n ? r->event_names.at[(int)number] : "";
}

static const char *text_at(const texts *t, int i)
{
  return i >= 0 && i < t->n ? t->at[i] : "";
}

long ga_result_n_records(const ga_result *r)
{
  if (!r) return 0;
  return r->n;
}

int ga_result_n_signals(const ga_result *r)
{
  return r ? r->signals : 0;
}

int ga_result_error(const ga_result *r, int i)
{
  return r && r->has_errors && i >= 0 && i < r->signals ? r->signals + i : -1;
}

int ga__result_rows(const ga_result *r)
{
  return r->m;
}

const char *ga_result_signal_name(const ga_result *r, int i)
{
  if (!r) return "";
  return text_at(&r->names, i);
}

const char *ga_result_signal_unit(const ga_result *r, int i)
{
  if (!r) return "";
  return text_at(&r->units, i);
}

int ga_result_find(const ga_result *r, const char *name)
{
  if (!r || !name) return -1;
  return ga__find_name(r->order, (const char *const *)r->names.at, r->m, name);
}

int ga_result_n_attributes(const ga_result *r)
{
  if (!r) return 0;
  return r->attributes.n;
}

const char *ga_result_attribute_name(const ga_result *r, int i)
{
  if (!r) return "";
  return text_at(&r->attribute_names, i);
}

const char *ga_result_attribute(const ga_result *r, const char *name)
{
  if (!r || !name) return NULL;
  for (int i = 0; i < r->attributes.n; i++)
    if (strcmp(r->attribute_names.at[i], name) == 0) return r->attributes.at[i];
  return NULL;
}

const char *const ga__run_status_words[GA__N_RUN_STATUS] = {
#define STATUS_WORD(name, word) word,
    GA_RUN_STATUS_LIST(STATUS_WORD)
#undef STATUS_WORD
};

/* Older files have the words after the status: "failed: ...". */
ga_run_status ga_result_run_status(const ga_result *r)
{
  const char *text = ga_result_attribute(r, "status");
  const size_t bytes = text ? strcspn(text, ":") : 0;
  for (int i = 0; i < GA__N_RUN_STATUS; i++)
    if (bytes == strlen(ga__run_status_words[i]) && strncmp(text, ga__run_status_words[i], bytes) == 0)
      return (ga_run_status)i;
  return GA_RUN_UNKNOWN;
}

const char *ga_result_model(const ga_result *r)
{
  if (!r) return "";
  return r->model;
}

const char *ga__result_path(const ga_result *r)
{
  return r->path;
}

ga_context *ga__result_context(const ga_result *r)
{
  return r->ctx;
}
