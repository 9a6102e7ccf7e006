/* What result files cost and what they survive: the recorder, whose store (result/store.c) lets HDF5 write
 * complete files only, against plain HDF5 with the same chunks, filters and flushes. Figures: time of a
 * record, size of a file, and of writers that were killed how many left a file that opens, and how many of
 * the records that were flushed. */
#define _GNU_SOURCE /* kill, nanosleep, mmap */
#include "../tests/random.h"
#include "galpha/result.h"
#include "report.h"

#define H5_USE_110_API
#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  SIGNALS = 50,
  BLOCK = 256,
  RECORDS = 100000,
  FLUSH_EVERY = 2000,
  FLUSH_OFTEN = 20,
  KILLS = 200,
  ROUNDS = 3
};

static double signal_at(int i, long k)
{
  return sin(1e-3 * (double)k * (1 + i)) + i;
}

/* ---- Plain HDF5: /values [signals × records] and /time, chunks of BLOCK records, shuffled, deflated ---- */

typedef struct plain {
  hid_t file, values, time;
  hsize_t n;
  double *block; /* [SIGNALS][BLOCK], then the times */
  int filled;
} plain;

static hid_t make_dataset(hid_t file, const char *name, int rank, const hsize_t *size, const hsize_t *most,
                          const hsize_t *chunk)
{
  const hid_t space = H5Screate_simple(rank, size, most), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(how, rank, chunk);
  H5Pset_shuffle(how);
  H5Pset_deflate(how, 1);
  const hid_t made = H5Dcreate(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT);
  H5Sclose(space);
  H5Pclose(how);
  return made;
}

static int plain_open(plain *p, const char *path)
{
  const hsize_t size[2] = {SIGNALS, 0}, most[2] = {SIGNALS, H5S_UNLIMITED}, chunk[2] = {SIGNALS, BLOCK};
  *p = (plain){.block = calloc((SIGNALS + 1) * BLOCK, sizeof(double))};
  p->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (!p->block || p->file < 0) return -1;
  p->values = make_dataset(p->file, "values", 2, size, most, chunk);
  p->time = make_dataset(p->file, "time", 1, size + 1, most + 1, chunk + 1);
  return p->values < 0 || p->time < 0 ? -1 : 0;
}

/* The records of the block that are there, into their place. */
static void plain_write(plain *p)
{
  const hsize_t size[2] = {SIGNALS, p->n + (hsize_t)p->filled}, at[2] = {0, p->n},
                count[2] = {SIGNALS, (hsize_t)p->filled}, held[2] = {SIGNALS, BLOCK}, none[2] = {0, 0};
  hid_t to[2], memory = H5Screate_simple(2, held, NULL), line = H5Screate_simple(1, held + 1, NULL);
  H5Dset_extent(p->values, size);
  H5Dset_extent(p->time, size + 1);
  to[0] = H5Dget_space(p->values);
  to[1] = H5Dget_space(p->time);
  H5Sselect_hyperslab(to[0], H5S_SELECT_SET, at, NULL, count, NULL);
  H5Sselect_hyperslab(to[1], H5S_SELECT_SET, at + 1, NULL, count + 1, NULL);
  H5Sselect_hyperslab(memory, H5S_SELECT_SET, none, NULL, count, NULL);
  H5Sselect_hyperslab(line, H5S_SELECT_SET, none, NULL, count + 1, NULL);
  H5Dwrite(p->values, H5T_NATIVE_DOUBLE, memory, to[0], H5P_DEFAULT, p->block);
  H5Dwrite(p->time, H5T_NATIVE_DOUBLE, line, to[1], H5P_DEFAULT, p->block + SIGNALS * BLOCK);
  H5Sclose(to[0]), H5Sclose(to[1]), H5Sclose(memory), H5Sclose(line);
}

static void plain_add(plain *p, double t, const double *values)
{
  for (int i = 0; i < SIGNALS; i++) p->block[i * BLOCK + p->filled] = values[i];
  p->block[SIGNALS * BLOCK + p->filled++] = t;
  if (p->filled < BLOCK) return;
  plain_write(p);
  p->n += BLOCK;
  p->filled = 0;
}

static void plain_flush(plain *p)
{
  if (p->filled > 0) plain_write(p);
  H5Fflush(p->file, H5F_SCOPE_GLOBAL);
}

static void plain_close(plain *p)
{
  plain_flush(p);
  H5Dclose(p->values), H5Dclose(p->time), H5Fclose(p->file);
  free(p->block);
}

/* ---- Writers: n records, flushed every flush_every; *flushed follows ---- */

static int write_plain(const char *path, long n, int flush_every, volatile long *flushed)
{
  plain p;
  double values[SIGNALS];
  if (plain_open(&p, path)) return -1;
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < SIGNALS; i++) values[i] = signal_at(i, k);
    plain_add(&p, 1e-3 * (double)k, values);
    if ((k + 1) % flush_every == 0) plain_flush(&p), *flushed = k + 1;
  }
  plain_close(&p);
  return 0;
}

static int write_recorder(const char *path, long n, int flush_every, volatile long *flushed)
{
  static char name[SIGNALS][16];
  const char *names[SIGNALS];
  double values[SIGNALS];
  ga_context *ctx = NULL;
  ga_recorder *r = NULL;
  ga_recorder_opts o = ga_recorder_defaults();
  for (int i = 0; i < SIGNALS; i++) snprintf(name[i], sizeof name[i], "s%d", i), names[i] = name[i];
  o.n_signals = SIGNALS, o.names = names, o.flush_seconds = INFINITY;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_recorder_create(ctx, path, &o, &r);
  for (long k = 0; !status && k < n; k++) {
    for (int i = 0; i < SIGNALS; i++) values[i] = signal_at(i, k);
    status = ga_recorder_add(r, 1e-3 * (double)k, values);
    if (status || (k + 1) % flush_every) continue;
    status = ga_recorder_flush(r);
    *flushed = k + 1;
  }
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_recorder_destroy(&r);
  ga_context_destroy(&ctx);
  return status ? -1 : 0;
}

/* Records of a file that opens and whose first `least` ones are right; −1: it does not open, −2: they are
 * not. */
static long n_readable(const char *path, long least)
{
  hsize_t size[2] = {0, 0};
  long n = -1;
  H5E_auto2_t print;
  void *user;
  H5Eget_auto2(H5E_DEFAULT, &print, &user);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
              values = file < 0 ? -1 : H5Dopen(file, "values", H5P_DEFAULT);
  if (values >= 0) {
    const hid_t space = H5Dget_space(values);
    H5Sget_simple_extent_dims(space, size, NULL);
    double *all = malloc((size_t)(size[0] * size[1]) * sizeof *all + 1);
    n = (long)size[1];
    if (!all || n < least || H5Dread(values, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0)
      n = -2;
    for (long k = 0; n >= 0 && k < least; k++)
      for (int i = 0; i < SIGNALS; i++)
        if (all[(hsize_t)i * size[1] + (hsize_t)k] != signal_at(i, k)) n = -2;
    free(all);
    H5Sclose(space), H5Dclose(values);
  }
  if (file >= 0) H5Fclose(file);
  H5Eset_auto2(H5E_DEFAULT, print, user);
  return n;
}

/* ---- Figures ---- */

static const struct kind {
  const char *name;
  int (*write)(const char *path, long n, int flush_every, volatile long *flushed);
} KINDS[] = {{"recorder", write_recorder}, {"plain HDF5", write_plain}};

static void measure_cost(report *r, const struct kind *kind, const char *path)
{
  double best = INFINITY;
  volatile long flushed = 0;
  struct stat written = {0};
  for (int i = 0; i < ROUNDS; i++) {
    const double from = cpu_now();
    if (kind->write(path, RECORDS, FLUSH_EVERY, &flushed)) return;
    best = fmin(best, cpu_now() - from);
  }
  stat(path, &written);
  printf("  %-12s %8.2f us a record, %6.2f MB\n", kind->name, 1e6 * best / RECORDS,
         1e-6 * (double)written.st_size);
  report_add(r, 1e6 * best / RECORDS, "result.%s.record_us", kind == KINDS ? "recorder" : "plain");
  report_add(r, 1e-6 * (double)written.st_size, "result.%s.MB", kind == KINDS ? "recorder" : "plain");
}

static void measure_kills(report *r, const struct kind *kind, const char *path)
{
  volatile long *flushed =
      mmap(NULL, sizeof *flushed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  rig_random random = {1};
  int open = 0, whole = 0;
  if (flushed == MAP_FAILED) return;
  for (int i = 0; i < KILLS; i++) {
    const struct timespec pause = {0, 1000L * (1000 + rig_below(&random, 30000))};
    int how;
    *flushed = 0;
    const pid_t child = fork();
    if (child == 0) _exit(kind->write(path, 1000L * RECORDS, FLUSH_OFTEN, flushed) != 0);
    while (child > 0 && !*flushed && waitpid(child, &how, WNOHANG) == 0)
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    waitpid(child, &how, 0);
    const long n = n_readable(path, *flushed);
    open += n != -1;
    whole += n >= 0;
  }
  printf("  %-12s of %d writers that were killed %d left a file that opens, %d with all records that were "
         "flushed\n",
         kind->name, KILLS, open, whole);
  report_add(r, whole / (double)KILLS, "result.%s.survived", kind == KINDS ? "recorder" : "plain");
  munmap((void *)(uintptr_t)flushed, sizeof *flushed);
}

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  char folder[] = "bench-result-XXXXXX", path[64];
  const int code = bench_options_read(&o, argc, argv, "cost kills");
  if (code >= 0) return code;
  if (!mkdtemp(folder)) return perror(folder), 1;
  snprintf(path, sizeof path, "%s/out.h5", folder);
  printf("result files: %d records of %d signals, flushed every %d records\n", RECORDS, SIGNALS, FLUSH_EVERY);
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
    if (bench_wanted(&o, "cost")) measure_cost(&r, &KINDS[i], path);
    if (bench_wanted(&o, "kills")) measure_kills(&r, &KINDS[i], path);
  }
  unlink(path);
  rmdir(folder);
  return bench_finish(&r, &o);
}
