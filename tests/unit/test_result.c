/* Result files: what is written is what is read, by us and by others; every error in words. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "result_rig.h"
#include <errno.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/wait.h>

static ga_recorder *recorder(rig *r)
{
  ga_recorder *rec = NULL;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_OK);
  return rec;
}

static ga_result *result(rig *r)
{
  ga_result *res = NULL;
  assert_status(r->ctx, ga_result_open(r->ctx, r->path, &res), GA_OK);
  return res;
}

/* ---- What is written is what is read ---- */

/* All kinds of numbers, lengths at the borders of blocks, one chunk or several side by side. */
static void every_bit_returns(void **state)
{
  static const int signals[] = {1, 7, 130, 1100};
  static const long lengths[] = {0, 1, 9, 1023, 1024, 1025, 2500};
  (void)state;
  for (int s = 0; s < COUNT(signals); s++)
    for (int l = 0; l < COUNT(lengths) - (signals[s] > 1000 && rig_brief()); l++)
      for (int compression = 0; compression < 2; compression++) {
        rig *r = rig_open(signals[s]);
        r->opts.compression = compression;
        ga_recorder *rec = recorder(r);
        rig_add_all(r, rec, 0, lengths[l]);
        assert_int_equal(ga_recorder_n_records(rec), lengths[l]);
        ga_recorder_destroy(&rec);
        assert_null(rec);
        rig_check(r, lengths[l]);
        rig_close(r);
      }
}

/* After each flush the file has what was added, and can be read while it grows. */
static void readable_while_it_grows(void **state)
{
  (void)state;
  for (int step = 97; step < 800; step *= 2) {
    rig *r = rig_open(5);
    ga_recorder *rec = recorder(r);
    long length[2];
    rig_check(r, 0);
    for (long k = 0; k < 4000; k += step) {
      rig_add_all(r, rec, k, k + step);
      assert_int_equal(rig_plain_lengths(r->path, length), 0);
      assert_int_equal(length[0], k); /* not before the flush */
      assert_status(r->ctx, ga_recorder_flush(rec), GA_OK);
      assert_int_equal(rig_plain_lengths(r->path, length), 0);
      assert_int_equal(length[0], k + step);
      assert_int_equal(length[1], k + step);
      rig_check(r, k + step);
    }
    assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FINISHED, "done"), GA_OK);
    rig_add_all(r, rec, 4000 / step * step + step, 5000); /* going on after all */
    assert_status(r->ctx, ga_recorder_flush(rec), GA_OK);
    rig_check(r, 5000);
    ga_recorder_destroy(&rec);
    rig_check(r, 5000);
    rig_close(r);
  }
}

/* A result that is open keeps its length; the clock flushes too. */
static void a_snapshot_stays(void **state)
{
  rig *r = rig_open(3);
  (void)state;
  r->opts.flush_seconds = 0.0;
  ga_recorder *rec = recorder(r);
  rig_add_all(r, rec, 0, 10);
  rig_check(r, 10);
  ga_result *res = result(r);
  rig_add_all(r, rec, 10, 600);
  assert_int_equal(ga_result_n_records(res), 10);
  assert_null(rig_wrong(res));
  ga_result_close(&res);
  ga_recorder_destroy(&rec);
  rig_check(r, 600);
  rig_close(r);
}

static void facts_about_the_run(void **state)
{
  char *const long_text = calloc(1, 100001);
  const char *facts[] = {"step", "1e-3", "note", "Größe, \"quoted\"", "empty", "", "long", long_text};
  rig *r = rig_open(4);
  int found = 0;
  (void)state;
  memset(long_text, 'x', 100000);
  r->opts.attributes = facts;
  r->opts.n_attributes = 4;
  r->opts.model = "title: a model\nparts: []\n";
  ga_recorder *rec = recorder(r);
  ga_result *res = result(r);
  assert_string_equal(ga_result_attribute(res, "status"), "running");
  assert_int_equal(ga_result_run_status(res), GA_RUN_RUNNING);
  ga_result_close(&res);
  assert_status(r->ctx, ga_recorder_finish(rec, (ga_run_status)4, NULL), GA_ERR_ARGUMENT);
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_UNKNOWN, NULL), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_NOT_A_CHOICE, NULL, "status", NULL);
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FAILED, "done, after 3 s"), GA_OK);
  ga_recorder_destroy(&rec);
  res = result(r);
  assert_string_equal(ga_result_attribute(res, "status"), "failed");
  assert_string_equal(ga_result_attribute(res, "failure"), "done, after 3 s");
  assert_int_equal(ga_result_run_status(res), GA_RUN_FAILED);
  assert_string_equal(ga_result_attribute(res, "galpha"), ga_version());
  for (int i = 0; i < 4; i++) assert_string_equal(ga_result_attribute(res, facts[2 * i]), facts[2 * i + 1]);
  assert_null(ga_result_attribute(res, "nothing"));
  assert_int_equal(ga_result_n_attributes(res), 8);
  for (int i = 0; i < 8; i++) found += strcmp(ga_result_attribute_name(res, i), "note") == 0;
  assert_int_equal(found, 1);
  assert_string_equal(ga_result_attribute_name(res, 8), "");
  assert_string_equal(ga_result_model(res), r->opts.model);
  assert_int_equal(ga_result_n_signals(res), 4);
  assert_string_equal(ga_result_signal_name(res, 3), "s3");
  assert_string_equal(ga_result_signal_unit(res, 1), "rad");
  assert_string_equal(ga_result_signal_unit(res, 2), "");
  assert_string_equal(ga_result_signal_name(res, 4), "");
  assert_string_equal(ga_result_signal_name(res, -1), "");
  for (int i = 0; i < 4; i++) assert_int_equal(ga_result_find(res, r->names[i]), i);
  assert_int_equal(ga_result_find(res, "time"), -1);
  ga_result_close(&res);
  assert_null(res);
  free(long_text);
  rig_close(r);
}

static void names_without_units_or_model(void **state)
{
  rig *r = rig_open(3000);
  (void)state;
  r->opts.units = NULL;
  ga_recorder *rec = recorder(r);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  assert_string_equal(ga_result_signal_unit(res, 2999), "");
  assert_string_equal(ga_result_model(res), "");
  for (int i = 0; i < 3000; i++) assert_int_equal(ga_result_find(res, r->names[i]), i);
  ga_result_close(&res);
  rig_close(r);
}

/* Parts of a signal; what is not there is refused. */
static void parts_of_a_signal(void **state)
{
  double x[8];
  rig *r = rig_open(4);
  ga_recorder *rec = recorder(r);
  (void)state;
  rig_add_all(r, rec, 0, 1500);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  assert_status(r->ctx, ga_result_read(res, 0, 1020, 8, x), GA_OK);
  for (int i = 0; i < 8; i++) assert_true(x[i] == rig_value(0, 1020 + i));
  assert_status(r->ctx, ga_result_read(res, -1, 1499, 1, x), GA_OK);
  assert_true(x[0] == rig_time(1499));
  assert_status(r->ctx, ga_result_read(res, 0, 1500, 0, x), GA_OK);
  static const struct {
    int i;
    long first, n;
    const char *field;
  } bad[] = {{4, 0, 1, "i"},
             {-2, 0, 1, "i"},
             {0, -1, 1, "first"},
             {0, 0, -1, "n"},
             {0, 1499, 2, "n"},
             {0, 1501, 0, "first"},
             {0, 2, 9223372036854775807, "n"}};
  for (int i = 0; i < COUNT(bad); i++) {
    assert_status(r->ctx, ga_result_read(res, bad[i].i, bad[i].first, bad[i].n, x), GA_ERR_ARGUMENT);
    assert_error(r->ctx, GA_REASON_OUT_OF_RANGE, NULL, bad[i].field, NULL);
    assert_string_equal(ga_context_error(r->ctx)->file, r->path);
  }
  ga_result_close(&res);
  rig_close(r);
}

/* ---- Checkpoints ---- */

/* Run, save, run on, resume from the saved one: as if the records after it had never been. */
static void gone_on_from_a_checkpoint(void **state)
{
  static const long at[] = {1, 500, 1024, 1500, 3000};
  (void)state;
  for (int compression = 0; compression < 2; compression++) {
    rig *r = rig_open(6);
    double t, saved[3];
    size_t n;
    r->opts.compression = compression;
    ga_recorder *rec = recorder(r);
    for (int i = 0; i < COUNT(at); i++) {
      rig_add_all(r, rec, ga_recorder_n_records(rec), at[i]);
      const double own[3] = {(double)at[i], 2.0, 3.0};
      assert_status(r->ctx, ga_recorder_checkpoint(rec, rig_time(at[i] - 1), own, i % 2 ? 3 : 2), GA_OK);
      rig_check(r, at[i]);
      rig_add_all(r, rec, at[i], at[i] + 700);
      assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_STOPPED, "killed"), GA_OK);
      ga_recorder_destroy(&rec);
      rig_check(r, at[i] + 700);
      ga_result *res = result(r);
      assert_status(r->ctx, ga_result_checkpoint(res, &t, &n, NULL), GA_OK);
      assert_int_equal(n, i % 2 ? 3 : 2);
      assert_status(r->ctx, ga_result_checkpoint(res, &t, &n, saved), GA_OK);
      assert_true(t == rig_time(at[i] - 1));
      assert_memory_equal(saved, own, n * sizeof *saved);
      ga_result_close(&res);
      r->opts.append = 1;
      rec = recorder(r);
      assert_int_equal(ga_recorder_n_records(rec), at[i]);
      rig_check(r, at[i]); /* the others are gone */
      res = result(r);
      assert_string_equal(ga_result_attribute(res, "status"), "running");
      ga_result_close(&res);
    }
    rig_add_all(r, rec, 3000, 4000);
    ga_recorder_destroy(&rec);
    rig_check(r, 4000);
    rig_close(r);
  }
}

static void no_checkpoint(void **state)
{
  double t;
  size_t n = 9;
  rig *r = rig_open(2);
  ga_recorder *rec = recorder(r);
  (void)state;
  rig_add_all(r, rec, 0, 5);
  assert_status(r->ctx, ga_recorder_checkpoint(rec, 0.0, &t, 0), GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, GA_REASON_OUT_OF_RANGE, "checkpoint", "n");
  assert_status(r->ctx, ga_recorder_checkpoint(rec, NAN, &t, 1), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_NOT_FINITE, NULL, "t", NULL);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  assert_status(r->ctx, ga_result_checkpoint(res, &t, &n, NULL), GA_OK);
  assert_int_equal(n, 0);
  ga_result_close(&res);
  r->opts.append = 1;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_CANNOT_RESUME, r->path, 0);
  assert_null(rec);
  rig_check(r, 5);
  rig_close(r);
}

/* Numbers of the later checkpoint that are not what was saved: the one before counts. */
static void a_broken_checkpoint(void **state)
{
  const double saved[2][2] = {{1.0, 2.0}, {3.0, 4.0}}, wrong[2] = {3.0, 5.0};
  double t, out[2];
  size_t n;
  rig *r = rig_open(2);
  ga_recorder *rec = recorder(r);
  (void)state;
  for (int i = 0; i < 2; i++) {
    rig_add_all(r, rec, 5L * i, 5L * (i + 1));
    assert_status(r->ctx, ga_recorder_checkpoint(rec, i, saved[i], 2), GA_OK);
  }
  ga_recorder_destroy(&rec);
  hid_t file = H5Fopen(r->path, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, "checkpoint/b", H5P_DEFAULT);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, wrong) >= 0);
  H5Dclose(set);
  H5Fclose(file);
  ga_result *res = result(r);
  assert_status(r->ctx, ga_result_checkpoint(res, &t, &n, out), GA_OK);
  assert_true(n == 2 && t == 0.0 && out[0] == 1.0 && out[1] == 2.0);
  ga_result_close(&res);
  r->opts.append = 1;
  rec = recorder(r);
  assert_int_equal(ga_recorder_n_records(rec), 5);
  ga_recorder_destroy(&rec);
  rig_close(r);
}

static void appended_to_other_signals(void **state)
{
  const double saved = 1.0;
  rig *r = rig_open(3);
  ga_recorder *rec = recorder(r);
  (void)state;
  assert_status(r->ctx, ga_recorder_checkpoint(rec, 0.0, &saved, 1), GA_OK);
  ga_recorder_destroy(&rec);
  r->opts.append = 1;
  r->opts.n_signals = 2;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_COUNT_MISMATCH, NULL, "n_signals", NULL);
  assert_error_number(r->ctx, 0, 2);
  assert_error_number(r->ctx, 1, 3);
  r->opts.n_signals = 3;
  r->names[1][0] = 'S';
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_OTHER_SIGNALS, NULL, NULL, "s1");
  assert_string_equal(ga_context_error(r->ctx)->other, "S1");
  assert_error_number(r->ctx, 0, 2);
  rig_close(r);
}

/* ---- Errors ---- */

static void not_created(rig *r, const char *path, ga_status status)
{
  ga_recorder *rec = (ga_recorder *)r;
  ga_context_clear_error(r->ctx);
  assert_status(r->ctx, ga_recorder_create(r->ctx, path, &r->opts, &rec), status);
  assert_null(rec);
}

/* A file that cannot be written, with errno where the system says so. */
static void refused(rig *r, const char *path, ga_reason reason, int code)
{
  not_created(r, path, GA_ERR_FILE);
  assert_file_error(r->ctx, reason, path, code);
}

/* An option, and which of its items (from 0; -1: it has none). */
static void bad_option(rig *r, ga_reason reason, const char *field, int item)
{
  not_created(r, r->path, GA_ERR_ARGUMENT);
  assert_call_error(r->ctx, reason, "recorder", field);
  assert_int_equal(ga_context_error(r->ctx)->item, item);
}

static void options_out_of_range(void **state)
{
  const char *facts[] = {"a", "1", "a", "2"};
  rig *r = rig_open(3);
  const ga_recorder_opts good = r->opts;
  (void)state;
  r->opts.n_signals = 0;
  bad_option(r, GA_REASON_OUT_OF_RANGE, "n_signals", -1);
  r->opts = good;
  r->opts.flush_seconds = -1.0;
  bad_option(r, GA_REASON_OUT_OF_RANGE, "flush_seconds", -1);
  assert_error_number(r->ctx, 0, -1);
  r->opts.flush_seconds = NAN;
  bad_option(r, GA_REASON_OUT_OF_RANGE, "flush_seconds", -1);
  r->opts = good;
  r->opts.compression = 2;
  bad_option(r, GA_REASON_OUT_OF_RANGE, "compression", -1);
  r->opts = good;
  r->opts.n_attributes = 2;
  r->opts.attributes = facts;
  not_created(r, r->path, GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_NAME_TAKEN, "a", NULL, "a");
  facts[2] = "status";
  not_created(r, r->path, GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_NAME_TAKEN, "status", NULL, "status");
  facts[2] = NULL;
  bad_option(r, GA_REASON_FIELD_MISSING, "attributes", 2);
  facts[2] = "b", facts[3] = NULL;
  bad_option(r, GA_REASON_FIELD_MISSING, "attributes", 3);
  r->opts = good;
  strcpy(r->names[2], "s0");
  not_created(r, r->path, GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_NAME_TAKEN, "s0", NULL, "s0");
  r->names[2][0] = '\0';
  bad_option(r, GA_REASON_FIELD_MISSING, "names", 2);
  strcpy(r->names[2], "a\nb");
  bad_option(r, GA_REASON_FIELD_MISSING, "names", 2);
  assert_int_equal(access(r->path, F_OK), -1);
  rig_close(r);
}

static void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void write_zeros(const char *path)
{
  const char zeros[4096] = {0};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
  assert_int_equal(fclose(file), 0);
}

/* A run killed before the first page, which is written last, leaves zeros. The file is replaced if its name
 * ends in .part. */
static void files_without_a_first_page_are_replaced(void **state)
{
  char path[256];
  rig *r = rig_open(2);
  ga_recorder *rec = NULL;
  (void)state;
  write_zeros(r->path);
  refused(r, r->path, GA_REASON_FILE_KIND, 0);
  unlink(r->path);
  snprintf(path, sizeof path, "%s/out.h5.part", r->folder);
  write_zeros(path);
  assert_status(r->ctx, ga_recorder_create(r->ctx, path, &r->opts, &rec), GA_OK);
  ga_recorder_destroy(&rec);
  write_text(path, "a text of somebody else");
  refused(r, path, GA_REASON_FILE_KIND, 0);
  unlink(path);
  rig_close(r);
}

static void paths_that_cannot_be(void **state)
{
  char path[256], text[32] = {0};
  rig *r = rig_open(2);
  ga_recorder *rec = NULL, *second = NULL;
  (void)state;
  refused(r, r->folder, GA_REASON_FILE_ACCESS, EISDIR);
  refused(r, "/dev/full", GA_REASON_FILE_KIND, 0);
  snprintf(path, sizeof path, "%s/missing/out.h5", r->folder);
  refused(r, path, GA_REASON_FILE_ACCESS, ENOENT);
  write_text(r->path, "title: my model\n");
  refused(r, r->path, GA_REASON_FILE_KIND, 0);
  FILE *file = fopen(r->path, "r");
  assert_non_null(fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, "title: my model\n");
  r->opts.append = 1;
  refused(r, r->path, GA_REASON_FILE_KIND, 0);
  unlink(r->path);
  refused(r, r->path, GA_REASON_FILE_ACCESS, ENOENT);
  r->opts.append = 0;
  rec = recorder(r);
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &second), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_FILE_IN_USE, r->path, 0);
  rig_add_all(r, rec, 0, 3);
  ga_recorder_destroy(&rec);
  rig_check(r, 3);
  rec = recorder(r); /* replaced */
  ga_recorder_destroy(&rec);
  rig_check(r, 0);
  rig_close(r);
}

static void folder_without_permission(void **state)
{
  const uid_t me = geteuid();
  rig *r = rig_open(2);
  (void)state;
  chmod(r->folder, 0555);
  if (me == 0) assert_int_equal(seteuid(65534), 0); /* root may write anywhere */
  refused(r, r->path, GA_REASON_FILE_ACCESS, EACCES);
  if (me == 0) assert_int_equal(seteuid(me), 0);
  chmod(r->folder, 0700);
  rig_close(r);
}

static void unreadable(rig *r, const char *path, ga_reason reason, int code)
{
  ga_result *res = (ga_result *)r;
  ga_context_clear_error(r->ctx);
  assert_status(r->ctx, ga_result_open(r->ctx, path, &res), GA_ERR_FILE);
  assert_null(res);
  assert_file_error(r->ctx, reason, path, code);
}

static void change_byte(const char *path, off_t at)
{
  FILE *file = fopen(path, "r+");
  fseek(file, at, SEEK_SET);
  const int byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 0x55, file);
  fclose(file);
}

/* 1: what can be read is what was written, record by record; what cannot is said to be damaged,
 * and is NaN. */
static int no_wrong_number(ga_result *res, long n)
{
  double *x = malloc((size_t)n * sizeof *x);
  int right = ga_result_n_records(res) == n;
  for (int i = -1; i < ga_result_n_signals(res) && right; i++) {
    const ga_status status = ga_result_read(res, i, 0, n, x);
    right = status == GA_OK || (status == GA_ERR_FILE && ga_result_verify(res) == GA_ERR_FILE);
    for (long k = 0; k < n && right; k++) {
      const double expected = i < 0 ? rig_time(k) : rig_value(i, k);
      right = memcmp(&x[k], &expected, sizeof expected) == 0 || (status && isnan(x[k]));
    }
  }
  free(x);
  return right;
}

/* A byte changed, anywhere: an error or the right numbers, never a crash. In a process that ends without a
 * look at what HDF5 did not free after finding the damage. */
static void change_bytes(rig *r, long n, int stride)
{
  struct stat now;
  int how = 0;
  assert_int_equal(stat(r->path, &now), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    const long live = r->heap.live;
    for (off_t at = 0; at < now.st_size; at += rig_brief() ? 21 * stride : stride) {
      ga_result *res = NULL;
      int right = 1;
      change_byte(r->path, at);
      if (ga_result_open(r->ctx, r->path, &res) == GA_OK) right = no_wrong_number(res, n);
      ga_result_close(&res);
      change_byte(r->path, at);
      if (r->heap.live != live) _exit(1);
      if (!right) _exit(3);
    }
    execlp("true", "true", (char *)NULL);
    _exit(2);
  }
  waitpid(child, &how, 0);
  assert_true(WIFEXITED(how));
  assert_int_equal(WEXITSTATUS(how), 0);
  rig_check(r, n);
}

static void files_that_are_damaged(void **state)
{
  struct stat now;
  (void)state;
  for (int plain = 0; plain < 3; plain++) { /* compressed; flushed, and so not; without compression */
    rig *r = rig_open(3);
    r->opts.compression = plain < 2;
    ga_recorder *rec = recorder(r);
    rig_add_all(r, rec, 0, 50);
    if (plain) assert_status(r->ctx, ga_recorder_flush(rec), GA_OK);
    rig_add_all(r, rec, 50, 100);
    ga_recorder_destroy(&rec);
    change_bytes(r, 100, plain ? 131 : 23);
    assert_int_equal(stat(r->path, &now), 0);
    assert_int_equal(truncate(r->path, now.st_size / 2), 0);
    unreadable(r, r->path, GA_REASON_FILE_DAMAGED, 0);
    rig_close(r);
  }
}

/* Where the file holds this number, as bytes. */
static off_t find_number(const char *path, double number)
{
  FILE *file = fopen(path, "rb");
  unsigned char window[8] = {0};
  off_t at = -8;
  for (int c; (c = fgetc(file)) != EOF; at++) {
    memmove(window, window + 1, 7);
    window[7] = (unsigned char)c;
    if (at >= 0 && memcmp(window, &number, 8) == 0) break;
  }
  fclose(file);
  return at;
}

/* Blocks of 1024 records: those that are damaged are named, and all others are read. */
static void damaged_records_are_named(void **state)
{
  rig *r = rig_open(3);
  const double saved = 1.0;
  double *x = malloc(5000 * sizeof *x);
  (void)state;
  r->opts.compression = 0;
  r->opts.model = "galpha: 1";
  ga_recorder *rec = recorder(r);
  rig_add_all(r, rec, 0, 5000);
  assert_status(r->ctx, ga_recorder_checkpoint(rec, 1.0, &saved, 1), GA_OK);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  assert_status(r->ctx, ga_result_verify(res), GA_OK);
  ga_result_close(&res);
  const off_t one = find_number(r->path, rig_value(0, 1500)), last = find_number(r->path, rig_value(0, 4990));
  assert_true(one > 0 && last > one);
  change_byte(r->path, one + 2);
  change_byte(r->path, last + 2);
  res = result(r);
  assert_status(r->ctx, ga_result_verify(res), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_RECORDS_DAMAGED, r->path, 0);
  assert_string_equal(ga_context_error(r->ctx)->detail,
                      "records 1024 to 2047 of s0 to s2; records 4096 to 4999 of s0 to s2; records "
                      "4096 to 4999 of the time");
  assert_status(r->ctx, ga_result_read(res, 0, 0, 5000, x), GA_ERR_FILE);
  assert_error(r->ctx, GA_REASON_RECORDS_DAMAGED, NULL, NULL, "s0");
  assert_string_equal(ga_context_error(r->ctx)->detail, "records 1024 to 2047, 4096 to 4999 of s0");
  for (long k = 0; k < 5000; k++) {
    const double expected = rig_value(0, k);
    if ((k >= 1024 && k < 2048) || k >= 4096)
      assert_true(isnan(x[k]));
    else
      assert_memory_equal(&x[k], &expected, sizeof expected);
  }
  assert_status(r->ctx, ga_result_read(res, 0, 2048, 2048, x), GA_OK);
  assert_status(r->ctx, ga_result_read(res, -1, 0, 4096, x), GA_OK);
  ga_result_close(&res);
  r->opts.append = 1; /* the block that would be written on is damaged: its numbers get no new sum */
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_CANNOT_RESUME, r->path, 0);
  assert_error_number(r->ctx, 0, 4999);
  /* follows: "start anew" */
  char anew[160];
  snprintf(anew, sizeof anew, "%s.anew", r->path);
  r->opts.append = 0;
  assert_status(r->ctx, ga_recorder_create(r->ctx, anew, &r->opts, &rec), GA_OK);
  ga_recorder_destroy(&rec);
  unlink(anew);
  r->opts.append = 1;
  change_byte(r->path, last + 2);
  rec = recorder(r);
  rig_add_all(r, rec, 5000, 6500);
  ga_recorder_destroy(&rec);
  res = result(r);
  assert_status(r->ctx, ga_result_verify(res), GA_ERR_FILE);
  assert_string_equal(ga_context_error(r->ctx)->detail, "records 1024 to 2047 of s0 to s2");
  ga_result_close(&res);
  change_byte(r->path, one + 2);
  rig_check(r, 6500);
  free(x);
  rig_close(r);
}

/* Another process changes a file that is being written. */
static void files_changed_by_others_are_reported(void **state)
{
  static const struct {
    const char *words;
    int how;
  } cases[] = {{"was deleted or replaced", 0},
               {"was truncated", 1},
               {"was truncated", 2},
               {"was moved", 3},
               {"was deleted or replaced", 4}};
  (void)state;
  for (int i = 0; i < COUNT(cases); i++) {
    rig *r = rig_open(3);
    char other[sizeof r->path + 8];
    snprintf(other, sizeof other, "%s.other", r->path);
    ga_recorder *rec = recorder(r);
    rig_add_all(r, rec, 0, 3000);
    assert_status(r->ctx, ga_recorder_flush(rec), GA_OK);
    if (cases[i].how == 0) assert_int_equal(unlink(r->path), 0);
    if (cases[i].how == 1) assert_int_equal(truncate(r->path, 0), 0);
    if (cases[i].how == 2) assert_int_equal(truncate(r->path, 9000), 0);
    if (cases[i].how == 3) assert_int_equal(rename(r->path, other), 0);
    if (cases[i].how == 4) {
      write_text(other, "something else");
      assert_int_equal(rename(other, r->path), 0);
    }
    ga_status status = GA_OK;
    for (long k = 3000; k < 5000 && !status; k++) status = rig_add(rec, r->m, k);
    if (!status) status = ga_recorder_finish(rec, GA_RUN_FINISHED, NULL);
    assert_status(r->ctx, status, GA_ERR_FILE);
    assert_file_error(r->ctx, GA_REASON_FILE_CHANGED, r->path, 0);
    assert_non_null(strstr(ga_context_error(r->ctx)->detail, cases[i].words));
    assert_int_equal(ga_recorder_flush(rec), GA_ERR_FILE);
    ga_recorder_destroy(&rec);
    if (cases[i].how == 3) assert_int_equal(rename(other, r->path), 0);
    if (cases[i].how == 3) rig_check(r, 5000);
    rig_close(r);
  }
}

static void files_that_are_no_results(void **state)
{
  rig *r = rig_open(3);
  (void)state;
  unreadable(r, r->path, GA_REASON_FILE_ACCESS, ENOENT);
  unreadable(r, r->folder, GA_REASON_FILE_ACCESS, EISDIR);
  write_text(r->path, "");
  unreadable(r, r->path, GA_REASON_FILE_KIND, 0);
  write_text(r->path, "time,s0\n0,1\n");
  unreadable(r, r->path, GA_REASON_FILE_KIND, 0);
  H5Fclose(H5Fcreate(r->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  unreadable(r, r->path, GA_REASON_FILE_KIND, 0);
  rig_close(r);
}

static void times_and_states_refused(void **state)
{
  const double x[2] = {1.0, 2.0};
  char text[300] = {0};
  rig *r = rig_open(2);
  ga_recorder *rec = recorder(r);
  (void)state;
  assert_status(r->ctx, ga_recorder_add(rec, 1.0, x), GA_OK);
  assert_status(r->ctx, ga_recorder_add(rec, 0.5, x), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_TIME_OUT_OF_RANGE, NULL, "t", NULL);
  assert_error_number(r->ctx, 0, 0.5);
  assert_error_number(r->ctx, 1, 1);
  assert_status(r->ctx, ga_recorder_add(rec, NAN, x), GA_ERR_ARGUMENT);
  memset(text, 'x', 256);
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FAILED, text), GA_ERR_ARGUMENT);
  text[255] = '\0';
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FAILED, text), GA_OK);
  assert_int_equal(ga_recorder_n_records(rec), 1);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  assert_string_equal(ga_result_attribute(res, "failure"), text);
  ga_result_close(&res);
  rig_close(r);
}

/* A file without an attribute for why a run failed, as older versions wrote them, has both in one text. */
static void files_of_older_versions_have_a_status(void **state)
{
  rig *r = rig_open(1);
  const double x[1] = {1};
  (void)state;
  ga_recorder *rec = recorder(r);
  assert_status(r->ctx, ga_recorder_add(rec, 1.0, x), GA_OK);
  assert_status(r->ctx, ga_recorder_checkpoint(rec, 1.0, x, 1), GA_OK);
  ga_recorder_destroy(&rec);
  hid_t file = H5Fopen(r->path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5Adelete(file, "failure") >= 0);
  assert_true(H5Fclose(file) >= 0);
  ga_result *res = result(r);
  assert_int_equal(ga_result_run_status(res), GA_RUN_RUNNING);
  ga_result_close(&res);
  r->opts.append = 1;
  rec = recorder(r);
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FAILED, "too fast"), GA_OK);
  ga_recorder_destroy(&rec);
  res = result(r);
  assert_string_equal(ga_result_attribute(res, "status"), "failed: too fast");
  assert_int_equal(ga_result_run_status(res), GA_RUN_FAILED);
  ga_result_close(&res);
  rig_close(r);
}

/* HDF5 prints nothing during our calls, and prints again afterwards if it did before. */
static herr_t count_prints(hid_t stack, void *user)
{
  (void)stack;
  ++*(int *)user;
  return 0;
}

static void hdf5_prints_nothing(void **state)
{
  H5E_auto2_t print = NULL;
  void *user = NULL;
  int printed = 0;
  rig *r = rig_open(2);
  ga_result *res = NULL;
  (void)state;
  H5Eset_auto2(H5E_DEFAULT, count_prints, &printed);
  write_text(r->path, "no HDF5");
  assert_status(r->ctx, ga_result_open(r->ctx, r->path, &res), GA_ERR_FILE);
  ga_recorder *rec = NULL;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_ERR_FILE);
  unlink(r->path);
  rec = recorder(r);
  rig_add_all(r, rec, 0, 3000);
  ga_recorder_destroy(&rec);
  rig_check(r, 3000);
  assert_int_equal(printed, 0);
  H5Eget_auto2(H5E_DEFAULT, &print, &user);
  assert_true(print == count_prints && user == &printed);
  assert_true(H5Fopen("/nowhere", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
  assert_int_equal(printed, 1);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  rig_close(r);
}

/* ---- Memory ---- */

/* The address sanitizer keeps what is freed for a while: HDF5's buffers of every write, which are more the
 * slower the machine is, since writes go by the clock. */
#ifdef __SANITIZE_ADDRESS__
enum { FREED_STAYS = 1 };
#else
enum { FREED_STAYS = 0 };
#endif

/* Live blocks of ours stay few, and the process does not grow. How many pages are held back between two
 * writes goes by the clock; a block that stays behind with every write, or every hundredth, would be seen. */
static void memory_stays_flat(void **state)
{
  const long n = rig_brief() || FREED_STAYS ? 20000 : 1000000;
  struct rusage early, late;
  rig *r = rig_open(10);
  double x[10] = {0};
  (void)state;
  r->opts.flush_seconds = 0.05;
  ga_recorder *rec = recorder(r);
  const long live = r->heap.live;
  for (long k = 0; k < n; k++) {
    for (int i = 0; i < 10; i++) x[i] += 1e-3 * (i + 1) * x[(i + 1) % 10] + 1e-6;
    assert_int_equal(ga_recorder_add(rec, 1e-3 * (double)k, x), GA_OK);
    if (k == n / 10) getrusage(RUSAGE_SELF, &early);
  }
  getrusage(RUSAGE_SELF, &late);
  assert_in_range(r->heap.live, live, live + 64);
  if (!rig_brief() && !FREED_STAYS && late.ru_maxrss - early.ru_maxrss > 2000)
    fail_msg("%ld kB more after %ld records than after a tenth of them", late.ru_maxrss - early.ru_maxrss, n);
  ga_recorder_destroy(&rec);
  rig_close(r);
}

/* ---- CSV ---- */

static char *read_text(const char *path)
{
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 1 << 20);
  assert_non_null(file);
  assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
  fclose(file);
  return text;
}

static void csv_of_some_signals(void **state)
{
  static const char *const chosen[] = {"s3", "a, \"b\""}, *const unknown[] = {"s9"};
  char path[256];
  rig *r = rig_open(4);
  (void)state;
  snprintf(path, sizeof path, "%s/out.csv", r->folder);
  strcpy(r->names[0], "a, \"b\"");
  ga_recorder *rec = recorder(r);
  for (int k = 0; k < 3; k++)
    assert_status(r->ctx, ga_recorder_add(rec, 0.1 * k, (double[]){k ? 1.0 / 3.0 : -INFINITY, 0, 0, k - 1.0}),
                  GA_OK);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  write_text(path, "old");
  assert_status(r->ctx, ga_result_export_csv(res, path, 2, chosen), GA_OK);
  char *text = read_text(path);
  assert_string_equal(text, "time [s],s3 [m],\"a, \"\"b\"\" [m]\"\n"
                            "0,-1,-inf\n"
                            "0.10000000000000001,0,0.33333333333333331\n"
                            "0.20000000000000001,1,0.33333333333333331\n");
  free(text);
  assert_status(r->ctx, ga_result_export_csv(res, path, 1, unknown), GA_ERR_ARGUMENT);
  assert_error(r->ctx, GA_REASON_UNKNOWN_SIGNAL, NULL, NULL, "s9");
  assert_status(r->ctx, ga_result_export_csv(res, "/dev/full", 2, chosen), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_FILE_ACCESS, "/dev/full", ENOSPC);
  assert_status(r->ctx, ga_result_export_csv(res, "/dev/null", 2, chosen), GA_OK);
  assert_status(r->ctx, ga_result_export_csv(res, r->folder, 2, chosen), GA_ERR_FILE);
  unlink(path);
  strcat(path, "/x");
  assert_status(r->ctx, ga_result_export_csv(res, path, 2, chosen), GA_ERR_FILE);
  ga_result_close(&res);
  rig_close(r);
}

/* Every number of a table read back is the number recorded, more rows than a block, in any locale. */
static void csv_has_every_digit(void **state)
{
  static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "C.UTF-8"};
  char path[256];
  rig *r = rig_open(7);
  (void)state;
  snprintf(path, sizeof path, "%s/out.csv", r->folder);
  ga_recorder *rec = recorder(r);
  rig_add_all(r, rec, 0, 2100);
  ga_recorder_destroy(&rec);
  ga_result *res = result(r);
  for (int i = 0; i < COUNT(commas) && !setlocale(LC_NUMERIC, commas[i]);) i++;
  assert_status(r->ctx, ga_result_export_csv(res, path, 0, NULL), GA_OK);
  setlocale(LC_NUMERIC, "C");
  char *text = read_text(path), *at = strchr(text, '\n') + 1;
  for (long k = 0; k < 2100; k++)
    for (int i = -1; i < 7; i++) {
      const double expected = i < 0 ? rig_time(k) : rig_value(i, k), found = strtod(at, &at);
      if (!(found == expected || (isnan(found) && isnan(expected))))
        fail_msg("signal %d of record %ld is %.17g, not %.17g", i, k, found, expected);
      assert_int_equal(*at++, i < 6 ? ',' : '\n');
    }
  assert_int_equal(*at, '\0');
  free(text);
  unlink(path);
  ga_result_close(&res);
  rig_close(r);
}

/* ---- Others ---- */

/* As docs/results.md does it, while the file grows, by the Python that has Debian's h5py; skipped where none
 * has it. */
static void opens_in_python(void **state)
{
  static const char *const programs[] = {"/usr/bin/python3", "python3"};
  char command[1024];
  const char *python = NULL;
  rig *r = rig_open(4);
  (void)state;
  for (int i = 0; i < COUNT(programs) && !python; i++) {
    snprintf(command, sizeof command, "%s -c 'import h5py' >/dev/null 2>&1", programs[i]);
    if (system(command) == 0) python = programs[i];
  }
  if (!python || rig_brief()) {
    rig_close(r);
    skip();
  }
  r->opts.model = "title: é\n";
  ga_recorder *rec = recorder(r);
  rig_add_all(r, rec, 0, 3000);
  assert_status(r->ctx, ga_recorder_flush(rec), GA_OK);
  for (int closed = 0; closed < 2; closed++) {
    snprintf(command, sizeof command,
             "%s -c '\n"
             "import h5py\n"
             "f = h5py.File(\"%s\")\n"
             "names = list(f[\"names\"].asstr())\n"
             "t, x = f[\"time\"][:], f[\"values\"][names.index(\"s3\")]\n"
             "assert len(t) == 3000 and list(x) == [k %% 17 for k in range(3000)]\n"
             "assert abs(t[2999] - 1.49901) < 1e-12 and f[\"values\"].shape == (4, 3000)\n"
             "assert list(f[\"units\"].asstr()) == [\"m\", \"rad\", \"\", \"m\"]\n"
             "assert f[\"model\"].asstr(\"utf-8\")[()] == \"title: \\u00e9\\n\"\n"
             "assert f.attrs[\"status\"].decode() == \"%s\"\n"
             "' 2>&1",
             python, r->path, closed ? "finished" : "running");
    assert_int_equal(system(command), 0);
    if (!closed) assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FINISHED, "done"), GA_OK);
    if (!closed) ga_recorder_destroy(&rec);
  }
  rig_close(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_of_older_versions_have_a_status),
      cmocka_unit_test(every_bit_returns),
      cmocka_unit_test(readable_while_it_grows),
      cmocka_unit_test(a_snapshot_stays),
      cmocka_unit_test(facts_about_the_run),
      cmocka_unit_test(names_without_units_or_model),
      cmocka_unit_test(parts_of_a_signal),
      cmocka_unit_test(gone_on_from_a_checkpoint),
      cmocka_unit_test(no_checkpoint),
      cmocka_unit_test(a_broken_checkpoint),
      cmocka_unit_test(appended_to_other_signals),
      cmocka_unit_test(options_out_of_range),
      cmocka_unit_test(files_without_a_first_page_are_replaced),
      cmocka_unit_test(paths_that_cannot_be),
      cmocka_unit_test(folder_without_permission),
      cmocka_unit_test(files_that_are_no_results),
      cmocka_unit_test(files_that_are_damaged),
      cmocka_unit_test(damaged_records_are_named),
      cmocka_unit_test(files_changed_by_others_are_reported),
      cmocka_unit_test(times_and_states_refused),
      cmocka_unit_test(hdf5_prints_nothing),
      cmocka_unit_test(memory_stays_flat),
      cmocka_unit_test(csv_of_some_signals),
      cmocka_unit_test(csv_has_every_digit),
      cmocka_unit_test(opens_in_python),
  };
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
