/* Writing result files: records are collected in blocks, blocks are divided into chunks.
 *
 * A chunk holds `columns` signals over `rows` records. A block, one chunk for each group of signals and one
 * of the time, is full after `rows` records; then its chunks are compressed and go to the end of the file. A
 * flush before that writes the chunks uncompressed, and they remain so: later records of the block are
 * written into their place. So no number that was flushed is ever moved or changed, and readers of the open
 * file see valid numbers. */
#define _POSIX_C_SOURCE 200809L
#include "result/recorder.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
  TILE = 8,     /* records that are transposed together: doubles of a cache line */
  NO_FILTER = 3 /* mask of a chunk to which neither shuffle nor deflate was applied */
};

ga_recorder_opts ga_recorder_defaults(void)
{
  return (ga_recorder_opts){.compression = 1, .flush_seconds = 1.0};
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

/* After the first failure nothing is written any more. */
static ga_status fail_writing(ga_recorder *r)
{
  if (!r->store.failure) r->store.failure = EIO;
  if (r->store.failure == ENOMEM) return ga__no_memory(r->ctx, "pages of a result file");
  if (r->store.loss)
    return ga__refuse(
        r->ctx, GA_ERR_FILE, GA_REASON_FILE_CHANGED,
        &(ga__facts){.file = r->path, .detail = r->store.loss, .other = "results were written to it"});
  return ga__refuse(r->ctx, GA_ERR_FILE, GA_REASON_FILE_ACCESS,
                    &(ga__facts){.file = r->path,
                                 .name = "written",
                                 .code = r->store.failure,
                                 .detail = strerror(r->store.failure),
                                 GA__NUMBERS({(double)r->kept, NULL})});
}

static ga_status refuse_time(const ga_recorder *r, double t)
{
  return ga__refuse(r->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
                    &(ga__facts){.file = r->path, .field = "t", GA__NUMBERS({t, "s"})});
}

/* ---- Chunks -------------------------------------------------------------------------------------------- */

typedef struct chunk {
  hid_t dataset;
  hsize_t offset[2];
  const double *values;
  size_t n, run; /* numbers, and those of one signal */
} chunk;

/* Chunk i of the block; that of the time comes last. */
static chunk chunk_at(const ga_recorder *r, int i)
{
  const size_t rows = (size_t)r->rows, n = rows * (size_t)r->columns;
  if (i == r->groups) return (chunk){r->time, {(hsize_t)r->first, 0}, r->times, rows, rows};
  return (chunk){
      r->values, {(hsize_t)(i * r->columns), (hsize_t)r->first}, r->block + (size_t)i * n, n, rows};
}

static int write_plain(ga_recorder *r, const chunk *c)
{
  const uint32_t mask = r->compression ? NO_FILTER : 0;
  return H5Dwrite_chunk(c->dataset, H5P_DEFAULT, mask, c->offset, c->n * sizeof(double), c->values) < 0 ? -1
                                                                                                        : 0;
}

static int write_packed(ga_recorder *r, const chunk *c)
{
  const size_t size = ga__pack(r->ctx, r->packed, r->work, c->values, c->n, c->run);
  if (!size) return write_plain(r, c);
  return H5Dwrite_chunk(c->dataset, H5P_DEFAULT, 0, c->offset, size, r->packed) < 0 ? -1 : 0;
}

static int set_lengths(ga_recorder *r, long n)
{
  const hsize_t size[2] = {(hsize_t)r->m, (hsize_t)n};
  return H5Dset_extent(r->values, size) < 0 || H5Dset_extent(r->time, size + 1) < 0 ? -1 : 0;
}

static int write_block(ga_recorder *r)
{
  if (set_lengths(r, r->n)) return -1;
  for (int i = 0; i <= r->groups; i++) {
    const chunk c = chunk_at(r, i);
    if ((r->plain ? write_plain(r, &c) : write_packed(r, &c)) || r->store.failure) return -1;
  }
  return 0;
}

/* ---- Checksums ----------------------------------------------------------------------------------------- */

/* Signals in chunk i of a block; the last one may be partly filled. */
static size_t signals_of(const ga_recorder *r, int i)
{
  const int left = r->m - i * r->columns;
  return (size_t)(left < r->columns ? left : r->columns);
}

/* Writes the sums of a full block. Those of dropped records are kept until they are overwritten, since the
 * file on disk may still have these records. */
static int write_sums(ga_recorder *r, long block)
{
  const hsize_t size[2] = {(hsize_t)r->groups + 1, (hsize_t)(block + 1)}, from[2] = {0, (hsize_t)block},
                one[2] = {size[0], 1};
  if (r->sums < 0) return 0;
  for (int i = 0; i <= r->groups; i++) {
    const chunk c = chunk_at(r, i);
    const size_t n = i < r->groups ? signals_of(r, i) * c.run : c.n;
    r->column[i] = ga__sum(0, c.values, n * sizeof(double));
  }
  hid_t memory = H5Screate_simple(2, one, NULL), file = -1;
  int error = memory < 0 || (block >= r->n_sums && H5Dset_extent(r->sums, size) < 0) ||
              (file = H5Dget_space(r->sums)) < 0 ||
              H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, one, NULL) < 0 ||
              H5Dwrite(r->sums, H5T_NATIVE_UINT32, memory, file, H5P_DEFAULT, r->column) < 0;
  if (file >= 0) H5Sclose(file);
  if (memory >= 0) H5Sclose(memory);
  if (block >= r->n_sums) r->n_sums = block + 1;
  return error ? -1 : 0;
}

/* Writes the tail: records and sum of the block that is not full. */
static int write_tail(ga_recorder *r)
{
  const size_t used = (size_t)(r->n - r->first), rows = (size_t)r->rows;
  double tail[GA__TAIL_SIZE] = {(double)r->first, (double)used, 0.0, r->model_sum};
  uint32_t sum = 0;
  if (r->tail < 0) return 0;
  for (size_t s = 0; s < (size_t)r->m && used > 0; s++)
    sum = ga__sum(sum, r->block + s * rows, used * sizeof(double));
  tail[GA__TAIL_SUM] = used ? ga__sum(sum, r->times, used * sizeof(double)) : 0;
  return H5Dwrite(r->tail, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, tail) < 0 ? -1 : 0;
}

/* ---- Records ------------------------------------------------------------------------------------------- */

/* block[signal][record] from tile[record][signal], one cache line at a time. */
static void transpose_tile(ga_recorder *r)
{
  const size_t m = (size_t)r->m, rows = (size_t)r->rows;
  double *to = r->block + (r->n - r->first - r->in_tile);
  for (size_t s = 0; s < m; s++, to += rows)
    for (int i = 0; i < r->in_tile; i++) to[i] = r->tile[(size_t)i * m + s];
  r->in_tile = 0;
}

static ga_status finish_block(ga_recorder *r)
{
  if (write_block(r) || write_sums(r, r->first / r->rows)) return fail_writing(r);
  r->first = r->n;
  r->plain = !r->compression;
  return GA_OK;
}

static ga_status commit(ga_recorder *r, int lengths_first)
{
  if (write_tail(r) || H5Fflush(r->file, H5F_SCOPE_LOCAL) < 0 || ga__store_commit(&r->store, lengths_first))
    return fail_writing(r);
  r->kept = r->n;
  clock_gettime(CLOCK_MONOTONIC, &r->flushed);
  return GA_OK;
}

static ga_status flush(ga_recorder *r, int lengths_first)
{
  if (r->store.failure) return fail_writing(r);
  transpose_tile(r);
  r->plain = r->plain || r->n > r->first;
  if (r->n > r->first && write_block(r)) return fail_writing(r);
  return commit(r, lengths_first);
}

/* The last flush: the block is compressed as if it were full. */
static ga_status finish_short_block(ga_recorder *r)
{
  const size_t rows = (size_t)r->rows, used = (size_t)(r->n - r->first);
  if (r->store.failure) return fail_writing(r);
  transpose_tile(r);
  if (!r->plain && used > 0) {
    for (size_t s = 0; s < (size_t)r->m; s++)
      memset(r->block + s * rows + used, 0, (rows - used) * sizeof *r->block);
    memset(r->times + used, 0, (rows - used) * sizeof *r->times);
    if (write_block(r)) return fail_writing(r);
    r->plain = 1; /* further records, if any, must not overwrite these */
    return commit(r, 0);
  }
  return flush(r, 0);
}

static int flush_is_due(const ga_recorder *r)
{
  struct timespec now;
  if (r->flush_seconds == 0.0) return 1;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - r->flushed.tv_sec) + 1e-9 * (double)(now.tv_nsec - r->flushed.tv_nsec) >=
         r->flush_seconds;
}

ga_status ga_recorder_add(ga_recorder *r, double t, const double *values)
{
  if (!r || !values) return ga__null_argument(r ? r->ctx : NULL);
  ga_status status = GA_OK;
  ga__hdf5_messages quiet;
  if (r->store.failure) return fail_writing(r);
  if (!isfinite(t)) return refuse_time(r, t);
  if (t < r->last_t)
    return ga__refuse(r->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.file = r->path,
                                   .field = "t",
                                   .expected = "at or after the last record",
                                   GA__NUMBERS({t, "s"}, {r->last_t, "s"})});
  memcpy(r->tile + (size_t)r->in_tile * (size_t)r->m, values, (size_t)r->m * sizeof *values);
  r->times[r->n - r->first] = t;
  r->last_t = t;
  r->in_tile++;
  r->n++;
  if (r->in_tile == TILE || r->n - r->first == r->rows) transpose_tile(r);
  if (r->n - r->first < r->rows && !flush_is_due(r)) return GA_OK;
  quiet = ga__hdf5_mute();
  if (r->n - r->first == r->rows) status = finish_block(r);
  if (status == GA_OK && flush_is_due(r)) status = flush(r, 0);
  ga__hdf5_unmute(&quiet);
  return status;
}

ga_status ga_recorder_flush(ga_recorder *r)
{
  if (!r) return ga__null_argument(NULL);
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  const ga_status status = flush(r, 0);
  ga__hdf5_unmute(&quiet);
  return status;
}

long ga_recorder_n_records(const ga_recorder *r)
{
  if (!r) return 0;
  return r->n;
}

double ga_recorder_time(const ga_recorder *r)
{
  if (!r) return -INFINITY;
  return r->last_t;
}

/* ---- Checkpoints and the end --------------------------------------------------------------------------- */

static int write_checkpoint(ga_recorder *r, double t, const double *saved, size_t n)
{
  const int side = r->marks[0][GA__CP_SERIAL] > r->marks[1][GA__CP_SERIAL]; /* the older one is replaced */
  const hsize_t size = n;
  double *mark = r->marks[side];
  if (H5Dset_extent(r->saved[side], &size) < 0 ||
      H5Dwrite(r->saved[side], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, saved) < 0)
    return -1;
  mark[GA__CP_SERIAL] = r->marks[1 - side][GA__CP_SERIAL] + 1.0;
  mark[GA__CP_TIME] = t;
  mark[GA__CP_RECORDS] = (double)r->n;
  mark[GA__CP_COUNT] = (double)n;
  mark[GA__CP_SUM] = ga__checkpoint_sum(saved, n);
  return H5Dwrite(r->table, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->marks) < 0 ? -1 : 0;
}

ga_status ga_recorder_checkpoint(ga_recorder *r, double t, const double *saved, size_t n)
{
  if (!r || !saved) return ga__null_argument(r ? r->ctx : NULL);
  ga__hdf5_messages quiet;
  ga_status status;
  if (!isfinite(t)) return refuse_time(r, t);
  if (n == 0) return ga__refuse_number(r->ctx, "checkpoint", "n", 0, "at least 1");
  if (r->store.failure) return fail_writing(r);
  quiet = ga__hdf5_mute();
  status = write_checkpoint(r, t, saved, n) || r->store.failure ? fail_writing(r) : flush(r, 0);
  ga__hdf5_unmute(&quiet);
  return status;
}

static int write_text(ga_recorder *r, const char *name, const char *text)
{
  hid_t type = ga__text_type(strlen(text), H5T_CSET_UTF8), attribute = H5Aopen(r->file, name, H5P_DEFAULT);
  int done = 0;
  if (type >= 0 && attribute >= 0) done = H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (type >= 0) H5Tclose(type);
  return done ? 0 : -1;
}

/* A file of an older version has both in one text: "failed: words". */
static int write_status(ga_recorder *r, ga_run_status status, const char *words)
{
  const char *word = ga__run_status_words[status];
  char both[GA__STATUS_SIZE];
  if (H5Aexists(r->file, "failure") > 0)
    return write_text(r, "status", word) || write_text(r, "failure", words) ? -1 : 0;
  snprintf(both, sizeof both, "%s%s%s", word, *words ? ": " : "", words);
  return write_text(r, "status", both);
}

ga_status ga_recorder_finish(ga_recorder *r, ga_run_status how, const char *words)
{
  if (!r) return GA_ERR_ARGUMENT;
  ga__hdf5_messages quiet;
  ga_status status;
  if ((int)how < 0 || (int)how >= GA__N_RUN_STATUS)
    return ga__refuse_choice(r->ctx, "recorder", "status", (int)how, "ga_run_status", GA_RUN_FAILED);
  if (words && strlen(words) >= GA__STATUS_SIZE)
    return ga__refuse(r->ctx, GA_ERR_ARGUMENT, GA_REASON_TOO_MANY,
                      &(ga__facts){.file = r->path,
                                   .field = "bytes of status text",
                                   GA__NUMBERS({(double)strlen(words), NULL}, {GA__STATUS_SIZE - 1, NULL})});
  if (r->store.failure) return fail_writing(r);
  quiet = ga__hdf5_mute();
  status = write_status(r, how, words ? words : "") ? fail_writing(r) : finish_short_block(r);
  ga__hdf5_unmute(&quiet);
  return status;
}

/* ---- Creation ------------------------------------------------------------------------------------------ */

/* Checks a text that is printed and used in tables and pictures. */
static ga_status check_shown(ga_context *ctx, const char *path, const char *field, int i, const char *text,
                             int may_be_empty)
{
  if (text && ((may_be_empty && !*text) || ga__is_shown(text))) return GA_OK;
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
                    &(ga__facts){.file = path,
                                 .kind = "recorder",
                                 .field = field,
                                 .item = i + 1,
                                 .name = text,
                                 .detail = !text   ? "NULL"
                                           : *text ? "a text with control characters"
                                                   : "empty",
                                 .expected = may_be_empty ? "a text, which may be empty" : "a text"});
}

static ga_status refuse_name(ga_context *ctx, const char *path, const char *kind, const char *name,
                             const char *owner)
{
  return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TAKEN,
                    &(ga__facts){.file = path, .kind = kind, .part = name, .name = name, .other = owner});
}

static ga_status check_names(ga_context *ctx, const char *path, const ga_recorder_opts *o)
{
  int *order = ga__alloc(ctx, (size_t)o->n_signals, sizeof *order);
  ga_status status = GA_OK;
  if (!order) return ga__no_memory(ctx, "the order of signals' names");
  for (int i = 0; i < o->n_signals && status == GA_OK; i++) {
    status = check_shown(ctx, path, "names", i, o->names[i], 0);
    if (status == GA_OK && o->units) status = check_shown(ctx, path, "units", i, o->units[i], 1);
  }
  if (status == GA_OK) ga__sort_names(order, o->names, o->n_signals);
  for (int i = 1; i < o->n_signals && status == GA_OK; i++)
    if (strcmp(o->names[order[i - 1]], o->names[order[i]]) == 0)
      status = refuse_name(ctx, path, "signal", o->names[order[i]], "another signal");
  ga__free(ctx, order);
  return status;
}

/* Checks attribute number i: a unique name, and a value. */
static ga_status check_attribute(ga_context *ctx, const char *path, const ga_recorder_opts *o, int i)
{
  static const char *const own[] = {"status", "failure", "format", "galpha"};
  const char *name = o->attributes[2 * i], *value = o->attributes[2 * i + 1], *owner = NULL;
  if (!name || !*name || !value)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
                      &(ga__facts){.file = path,
                                   .kind = "recorder",
                                   .field = "attributes",
                                   .item = 2 * i + 1 + (name && *name),
                                   .detail = !name || (*name && !value) ? "NULL" : "empty",
                                   .expected = "a name and a value"});
  for (size_t k = 0; k < sizeof own / sizeof *own; k++)
    if (strcmp(name, own[k]) == 0) owner = "the file itself";
  for (int k = 0; k < i; k++)
    if (strcmp(name, o->attributes[2 * k]) == 0) owner = "another attribute";
  return owner ? refuse_name(ctx, path, "attribute", name, owner) : GA_OK;
}

static ga_status check_opts(ga_context *ctx, const char *path, const ga_recorder_opts *o)
{
  static const char kind[] = "recorder";
  if (o->n_signals < 1) return ga__refuse_number(ctx, kind, "n_signals", o->n_signals, "at least 1");
  if (!o->names) return ga__refuse_missing(ctx, kind, "n_signals", o->n_signals, "names");
  if (!(o->flush_seconds >= 0.0))
    return ga__refuse_number(ctx, kind, "flush_seconds", o->flush_seconds, "at least 0");
  if (o->n_attributes < 0) return ga__refuse_number(ctx, kind, "n_attributes", o->n_attributes, "at least 0");
  if (o->n_attributes > 0 && !o->attributes)
    return ga__refuse_missing(ctx, kind, "n_attributes", o->n_attributes, "attributes");
  if (o->n_events < 0) return ga__refuse_number(ctx, kind, "n_events", o->n_events, "at least 0");
  if (o->n_events > 0 && !o->event_names)
    return ga__refuse_missing(ctx, kind, "n_events", o->n_events, "event_names");
  for (int i = 0; i < o->n_events; i++) {
    const ga_status shown = check_shown(ctx, path, "event_names", i, o->event_names[i], 0);
    if (shown) return shown;
  }
  if (o->compression != 0 && o->compression != 1)
    return ga__refuse_number(ctx, kind, "compression", o->compression, "0 or 1");
  ga_status status = GA_OK;
  for (int i = 0; i < o->n_attributes && status == GA_OK; i++) status = check_attribute(ctx, path, o, i);
  return status ? status : check_names(ctx, path, o);
}

static ga_status take_memory(ga_recorder *r)
{
  const size_t rows = (size_t)r->rows, numbers = rows * (size_t)r->columns;
  r->block = ga__alloc(r->ctx, numbers * (size_t)r->groups, sizeof *r->block);
  r->times = ga__alloc(r->ctx, rows, sizeof *r->times);
  r->tile = ga__alloc(r->ctx, (size_t)r->m * TILE, sizeof *r->tile);
  r->packed = ga__alloc(r->ctx, numbers, sizeof(double));
  r->work = ga__alloc(r->ctx, numbers, sizeof(double));
  r->column = ga__alloc(r->ctx, (size_t)r->groups + 1, sizeof *r->column);
  if (r->block && r->times && r->tile && r->packed && r->work && r->column) return GA_OK;
  return ga__no_memory(r->ctx, "buffers of a result file");
}

/* The time of record n − 1, which may be in a block that is full. */
static int read_last_time(ga_recorder *r, long n)
{
  const hsize_t at = (hsize_t)(n - 1), one = 1;
  hid_t memory = H5Screate_simple(1, &one, NULL), line = H5Dget_space(r->time);
  const int error = H5Sselect_hyperslab(line, H5S_SELECT_SET, &at, NULL, &one, NULL) < 0 ||
                    H5Dread(r->time, H5T_NATIVE_DOUBLE, memory, line, H5P_DEFAULT, &r->last_t) < 0;
  H5Sclose(line);
  H5Sclose(memory);
  return error;
}

/* Reads the records of the last block that are kept, and drops the others. */
static ga_status resume_block(ga_recorder *r)
{
  const long n = r->resume;
  const hsize_t rows = (hsize_t)(n % r->rows), from[2] = {0, (hsize_t)(n - (long)rows)};
  const hsize_t size[2] = {(hsize_t)r->m, rows},
                in[2] = {(hsize_t)(r->groups * r->columns), (hsize_t)r->rows};
  const hsize_t zero[2] = {0, 0};
  hid_t memory = H5Screate_simple(2, in, NULL), file = H5Dget_space(r->values), line = H5Dget_space(r->time);
  hid_t short_line = H5Screate_simple(1, &rows, NULL);
  int error = 0;
  if (rows)
    error = H5Sselect_hyperslab(memory, H5S_SELECT_SET, zero, NULL, size, NULL) < 0 ||
            H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, size, NULL) < 0 ||
            H5Sselect_hyperslab(line, H5S_SELECT_SET, from + 1, NULL, size + 1, NULL) < 0 ||
            H5Dread(r->values, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, r->block) < 0 ||
            H5Dread(r->time, H5T_NATIVE_DOUBLE, short_line, line, H5P_DEFAULT, r->times) < 0;
  H5Sclose(short_line);
  H5Sclose(line);
  H5Sclose(file);
  H5Sclose(memory);
  r->kept = r->n = n;
  r->first = n - (long)rows;
  if (n > 0 && !error) error = read_last_time(r, n);
  return error || set_lengths(r, r->first) ? fail_writing(r) : GA_OK;
}

static ga_status append(ga_recorder *r, const ga_recorder_opts *opts)
{
  ga_status status = ga__layout_open(r, opts);
  r->plain = !r->compression;
  if (status == GA_OK) status = take_memory(r);
  if (status == GA_OK) status = resume_block(r);
  if (status == GA_OK && write_status(r, GA_RUN_RUNNING, "")) status = fail_writing(r);
  return status ? status : flush(r, 1);
}

static ga_status create(ga_recorder *r, const ga_recorder_opts *opts)
{
  ga_status status;
  r->m = opts->n_signals;
  r->compression = opts->compression;
  r->plain = !r->compression;
  if (opts->model) r->model_sum = ga__sum(0, opts->model, strlen(opts->model));
  ga__layout_sizes(r);
  status = take_memory(r);
  if (status) return status;
  if (ga__layout_create(r, opts, &status)) return status ? status : fail_writing(r);
  return commit(r, 0);
}

static void release(ga_recorder *r)
{
  ga_context *ctx = r->ctx;
  if (r->file >= 0) {
    H5Fclose(r->file); /* closes the datasets too */
    ga__store_commit(&r->store, 0);
  }
  ga__store_close(&r->store);
  ga__free(ctx, r->column);
  ga__free(ctx, r->work);
  ga__free(ctx, r->packed);
  ga__free(ctx, r->tile);
  ga__free(ctx, r->times);
  ga__free(ctx, r->block);
  ga__free(ctx, r->path);
  ga__free(ctx, r);
}

static ga_status open_recorder(ga_context *ctx, const char *path, const ga_recorder_opts *opts,
                               ga_recorder **out)
{
  ga_recorder *r = ga__alloc(ctx, 1, sizeof *r);
  ga_status status;
  if (!r) return ga__no_memory(ctx, "a recorder");
  r->ctx = ctx;
  r->file = r->sums = r->tail = r->events = -1;
  r->last_t = -INFINITY;
  r->flush_seconds = opts->flush_seconds;
  r->path = ga__copy_text(ctx, path);
  status = r->path ? ga__store_open(ctx, path, !opts->append, &r->store) : ga__no_memory(ctx, "a path");
  if (status == GA_OK) {
    status = opts->append ? append(r, opts) : create(r, opts);
    if (status) { /* nothing is written to a file that could not be created or opened */
      if (!r->store.failure) r->store.failure = ECANCELED;
      if (!opts->append) unlink(path);
    }
  }
  if (status)
    release(r);
  else
    *out = r;
  return status;
}

ga_status ga_recorder_create(ga_context *ctx, const char *path, const ga_recorder_opts *opts,
                             ga_recorder **out)
{
  if (out) *out = NULL;
  if (!ctx || !path || !opts || !out) return ga__null_argument(ctx);
  ga__hdf5_messages quiet;
  ga_status status;
  *out = NULL;
  status = check_opts(ctx, path, opts);
  if (status) return status;
  quiet = ga__hdf5_mute();
  status = open_recorder(ctx, path, opts, out);
  ga__hdf5_unmute(&quiet);
  return status;
}

void ga_recorder_destroy(ga_recorder **r)
{
  ga__hdf5_messages quiet;
  if (!r || !*r) return;
  quiet = ga__hdf5_mute();
  if (!(*r)->store.failure && (*r)->kept < (*r)->n) finish_short_block(*r);
  release(*r);
  ga__hdf5_unmute(&quiet);
  *r = NULL;
}
