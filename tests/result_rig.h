/* What the tests of result files share: a folder of their own, memory that counts and fails, signals whose
 * every value is known, and a look at files as other programs see them. Include after cmocka.h. */
#ifndef GALPHA_TESTS_RESULT_RIG_H
#define GALPHA_TESTS_RESULT_RIG_H

#include "galpha/result.h"
#include "errors.h"
#include "seeds.h"
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- Memory ---- */

typedef struct rig_heap {
  long count, live, fail_at;
} rig_heap;

static inline void *rig_get(void *user, size_t bytes)
{
  rig_heap *h = user;
  void *block = ++h->count == h->fail_at ? NULL : malloc(bytes);
  if (block) h->live++;
  return block;
}

static inline void rig_release(void *user, void *block)
{
  ((rig_heap *)user)->live--;
  free(block);
}

typedef struct rig {
  rig_heap heap;
  ga_context *ctx;
  char folder[64], path[128];
  int m;
  char **names, **units;
  ga_recorder_opts opts;
} rig;

/* The last error concerns this file, with this errno; 0: it is not from the system. */
static inline void assert_file_error(const ga_context *ctx, ga_reason reason, const char *path, int code)
{
  const ga_error *e = ga_context_error(ctx);
  if (e->reason != reason || strcmp(e->file, path) != 0 || e->code != code)
    fail_msg("'%s', file '%s', code %d instead of '%s', '%s', %d: %s", ga_reason_text(e->reason), e->file,
             e->code, ga_reason_text(reason), path, code, e->text);
}

static inline void assert_status(const ga_context *ctx, ga_status status, ga_status expected)
{
  if (status != expected)
    fail_msg("status %d instead of %d; last error: %s", (int)status, (int)expected,
             ga_context_error(ctx)->text);
}

/* m signals named s0 [m], s1 [rad], s2 (no unit), s3 [m], ... in a file of an empty folder. */
static inline rig *rig_open(int m)
{
  static const char *const units[] = {"m", "rad", ""};
  rig *r = calloc(1, sizeof *r);
  ga_context_opts o = ga_context_defaults();
  o.alloc = rig_get;
  o.release = rig_release;
  o.alloc_user = &r->heap;
  assert_int_equal(ga_context_create(&o, &r->ctx), GA_OK);
  strcpy(r->folder, "/tmp/galpha-result-XXXXXX");
  assert_non_null(mkdtemp(r->folder));
  snprintf(r->path, sizeof r->path, "%s/out.h5", r->folder);
  r->m = m;
  r->names = calloc((size_t)m, sizeof *r->names);
  r->units = calloc((size_t)m, sizeof *r->units);
  for (int i = 0; i < m; i++) {
    r->names[i] = calloc(1, 16);
    snprintf(r->names[i], 16, "s%d", i);
    r->units[i] = (char *)(uintptr_t)units[i % 3];
  }
  r->opts = ga_recorder_defaults();
  r->opts.n_signals = m;
  r->opts.names = (const char *const *)r->names;
  r->opts.units = (const char *const *)r->units;
  r->opts.flush_seconds = INFINITY;
  return r;
}

static inline void rig_close(rig *r)
{
  ga_context_destroy(&r->ctx);
  assert_int_equal(r->heap.live, 0);
  for (int i = 0; i < r->m; i++) free(r->names[i]);
  free(r->names);
  free(r->units);
  unlink(r->path);
  if (rmdir(r->folder)) fail_msg("%s is not empty: something was left behind", r->folder);
  free(r);
}

/* ---- Signals ---- */

/* Signal i of record k: constants, smooth ones, noise, whole numbers, NaN, infinity and zeros
 * of both signs. */
static inline double rig_value(int i, long k)
{
  const double t = 1e-3 * (double)k;
  union {
    uint64_t bits;
    double value;
  } noise = {.bits = ((uint64_t)i * 1000003u + (uint64_t)k) * 0x9e3779b97f4a7c15u};
  noise.bits ^= noise.bits >> 29;
  switch (i % 7) {
  case 0:
    return sin(3.0 * t + i) + 0.01 * sin(200.0 * t);
  case 1:
    return i;
  case 2:
    return noise.value;
  case 3:
    return (double)(k % 17);
  case 4:
    return k % 5 == 0 ? NAN : k % 5 == 1 ? -INFINITY : -0.0;
  case 5:
    return 1e300 * exp(-t);
  default:
    return t * t;
  }
}

static inline double rig_time(long k)
{
  return 1e-3 * (double)(k / 2) + 1e-5; /* each time twice, as at events */
}

static inline ga_status rig_add(ga_recorder *rec, int m, long k)
{
  double *x = malloc((size_t)m * sizeof *x);
  ga_status status;
  for (int i = 0; i < m; i++) x[i] = rig_value(i, k);
  status = ga_recorder_add(rec, rig_time(k), x);
  free(x);
  return status;
}

static inline void rig_add_all(rig *r, ga_recorder *rec, long from, long to)
{
  for (long k = from; k < to; k++) assert_status(r->ctx, rig_add(rec, r->m, k), GA_OK);
}

/* Every bit of every record of the file; its number of records. Does not use cmocka, for it is used in a loop
 * of millions. What is wrong, in words, or NULL. */
static inline const char *rig_wrong(ga_result *res)
{
  static char text[128];
  const long n = ga_result_n_records(res);
  double *x = malloc((size_t)(n ? n : 1) * sizeof *x);
  text[0] = '\0';
  for (int i = -1; i < ga_result_n_signals(res) && !text[0]; i++) {
    if (ga_result_read(res, i, 0, n, x)) snprintf(text, sizeof text, "signal %d cannot be read", i);
    for (long k = 0; k < n && !text[0]; k++) {
      const double expected = i < 0 ? rig_time(k) : rig_value(i, k);
      if (memcmp(&x[k], &expected, sizeof expected) != 0)
        snprintf(text, sizeof text, "signal %d of record %ld is %.17g, not %.17g", i, k, x[k], expected);
    }
  }
  free(x);
  return text[0] ? text : NULL;
}

/* The file has n records, all as they should be. */
static inline void rig_check(rig *r, long n)
{
  ga_result *res = NULL;
  const char *wrong;
  assert_status(r->ctx, ga_result_open(r->ctx, r->path, &res), GA_OK);
  assert_int_equal(ga_result_n_records(res), n);
  wrong = rig_wrong(res);
  if (wrong) fail_msg("%s", wrong);
  ga_result_close(&res);
}

/* As any program with HDF5 would see it: the lengths of time and values, −1 where it does not open. */
static inline int rig_plain_lengths(const char *path, long out[2])
{
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), time, values;
  hsize_t size[2] = {0, 0}, length = 0;
  if (file < 0) return -1;
  time = H5Dopen2(file, "time", H5P_DEFAULT);
  values = H5Dopen2(file, "values", H5P_DEFAULT);
  if (time >= 0 && values >= 0) {
    hid_t a = H5Dget_space(time), b = H5Dget_space(values);
    H5Sget_simple_extent_dims(a, &length, NULL);
    H5Sget_simple_extent_dims(b, size, NULL);
    H5Sclose(a);
    H5Sclose(b);
  }
  out[0] = (long)length;
  out[1] = (long)size[1];
  if (time >= 0) H5Dclose(time);
  if (values >= 0) H5Dclose(values);
  H5Fclose(file);
  return time >= 0 && values >= 0 ? 0 : -1;
}

#endif
