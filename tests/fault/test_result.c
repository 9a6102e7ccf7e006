/* Result files under failure: processes that are killed, disks that are full, memory that is not there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "result_rig.h"
#include "seeds.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Kills ---- */

typedef struct child_progress { /* by the child, after each call that flushes */
  volatile long flushed, checkpoint;
} child_progress;

enum { SAVED = 700 };

static void fill_saved(double *saved, long n)
{
  for (int i = 0; i < SAVED; i++) saved[i] = (double)n + 1e-3 * i;
}

/* Writes until it is killed, flushing and saving at random times. */
static void write_forever(rig *r, child_progress *progress, rig_random random)
{
  double saved[SAVED];
  ga_recorder *rec = NULL;
  long k;
  if (ga_recorder_create(r->ctx, r->path, &r->opts, &rec)) _exit(1);
  for (k = ga_recorder_n_records(rec);; k++) {
    if (rig_add(rec, r->m, k)) _exit(2);
    const int turn = rig_below(&random, 37 * 101);
    if (turn % 37 == 0) {
      if (ga_recorder_flush(rec)) _exit(3);
      progress->flushed = k + 1;
    }
    if (turn % 101 == 0) {
      fill_saved(saved, k + 1);
      if (ga_recorder_checkpoint(rec, rig_time(k), saved, SAVED - (size_t)(k % 3))) _exit(4);
      progress->flushed = progress->checkpoint = k + 1;
    }
  }
}

static void kill_after(rig *r, child_progress *progress, rig_random *random)
{
  const struct timespec pause = {0, 1000L * rig_below(random, 30000)};
  const rig_random writer = {rig_bits(random)};
  const pid_t child = fork();
  int how = 0;
  assert_true(child >= 0);
  if (child == 0) write_forever(r, progress, writer);
  while (!progress->flushed && waitpid(child, &how, WNOHANG) == 0) sched_yield();
  if (progress->flushed) nanosleep(&pause, NULL);
  kill(child, SIGKILL);
  waitpid(child, &how, 0);
  if (!WIFSIGNALED(how)) fail_msg("the writer ended by itself: %d", WEXITSTATUS(how));
}

/* All that was flushed is there, and what is there is right; the last checkpoint is whole. Its number of
 * records. */
static long check_killed(rig *r, const child_progress *progress)
{
  double t, saved[SAVED], expected[SAVED];
  ga_result *res = NULL;
  const char *wrong;
  size_t count = 0;
  long length[2], at = 0;
  if (rig_plain_lengths(r->path, length)) fail_msg("the file does not open in plain HDF5");
  assert_int_equal(length[0], length[1]);
  assert_true(length[0] >= progress->flushed);
  assert_status(r->ctx, ga_result_open(r->ctx, r->path, &res), GA_OK);
  assert_int_equal(ga_result_n_records(res), length[0]);
  wrong = rig_wrong(res);
  if (wrong) fail_msg("%s", wrong);
  assert_string_equal(ga_result_attribute(res, "status"), "running");
  assert_status(r->ctx, ga_result_checkpoint(res, &t, &count, NULL), GA_OK);
  if (progress->checkpoint || count) {
    assert_status(r->ctx, ga_result_checkpoint(res, &t, &count, saved), GA_OK);
    at = (long)saved[0];
    assert_true(at >= progress->checkpoint && at <= length[0]);
    assert_true(t == rig_time(at - 1));
    assert_int_equal(count, SAVED - (at - 1) % 3);
    fill_saved(expected, at);
    assert_memory_equal(saved, expected, count * sizeof *saved);
  }
  ga_result_close(&res);
  return at;
}

/* Killed, read, continued from its checkpoint, killed again, and so on. GALPHA_KILLS: how often; 3
 * without. */
static void survive_kills(int m, int compression)
{
  const char *asked = getenv("GALPHA_KILLS");
  const int kills = asked ? atoi(asked) : 3;
  child_progress *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(progress != MAP_FAILED);
  rig *r = rig_open(m);
  rig_random random = rig_seed(0);
  r->opts.compression = compression;
  for (int i = 0; i < kills; i++) {
    *progress = (child_progress){0, 0};
    kill_after(r, progress, &random);
    const long at = check_killed(r, progress);
    r->opts.append = at > 0 && at < 20000; /* a new file when it has become long */
  }
  rig_close(r);
  munmap(progress, sizeof *progress);
}

static void killed_few_signals(void **state)
{
  (void)state;
  survive_kills(3, 1);
}

static void killed_many_signals(void **state)
{
  (void)state;
  survive_kills(700, 1);
}

static void killed_plain(void **state)
{
  (void)state;
  survive_kills(3, 0);
}

/* Opened again and again while it is written as fast as can be: always a whole file, never a wrong number. */
static void read_while_it_is_written(void **state)
{
  child_progress *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  rig *r = rig_open(3);
  (void)state;
  *progress = (child_progress){0, 0};
  const pid_t child = fork();
  if (child == 0) write_forever(r, progress, rig_seed(0));
  while (!progress->flushed) sched_yield();
  for (int i = 0; i < (rig_brief() ? 3 : 40); i++) {
    const long flushed = progress->flushed;
    ga_result *res = NULL;
    const char *wrong = NULL;
    const ga_status status = ga_result_open(r->ctx, r->path, &res);
    const int short_of = status == GA_OK && ga_result_n_records(res) < flushed;
    if (status == GA_OK) wrong = rig_wrong(res);
    ga_result_close(&res);
    if (status || wrong || short_of) kill(child, SIGKILL);
    assert_status(r->ctx, status, GA_OK);
    if (wrong || short_of) fail_msg("%s", wrong ? wrong : "records that were flushed are not there");
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  rig_close(r);
  munmap(progress, sizeof *progress);
}

/* ---- Every write ---- */

/* A kill can come between any two pages that reach the disk. Here it does: what the library writes goes
 * through this. */
static long pages_written, last_page; /* last_page 0: for ever */

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
  const size_t first = 4096 - (size_t)(at % 4096);
  for (size_t done = 0, part = first; done < n; done += part, part = 4096) {
    if (part > n - done) part = n - done;
    if (pages_written++ == last_page && last_page) _exit(0);
    const long put = syscall(SYS_pwrite64, fd, (const char *)bytes + done, part, at + (off_t)done);
    if (put < (long)part) return (ssize_t)done + put > 0 ? (ssize_t)done + (put > 0 ? put : 0) : -1;
  }
  return (ssize_t)n;
}

/* Three blocks, flushed while they fill, with checkpoints; then gone on from the last one. */
static void short_run(rig *r, child_progress *progress)
{
  double saved[SAVED];
  ga_recorder *rec = NULL;
  for (int part = 0; part < 2; part++) {
    r->opts.append = part;
    if (ga_recorder_create(r->ctx, r->path, &r->opts, &rec)) _exit(1);
    if (part)
      progress->flushed = progress->checkpoint; /* what came later may be dropped */
    else
      progress->flushed = 0;
    for (long k = ga_recorder_n_records(rec); k < (part ? 3500 : 3200); k++) {
      if (rig_add(rec, r->m, k)) _exit(2);
      if (k % 230 == 7 && ga_recorder_flush(rec)) _exit(3);
      if (k % 230 == 7) progress->flushed = k + 1;
      if (k % 700 != 600) continue;
      fill_saved(saved, k + 1);
      if (ga_recorder_checkpoint(rec, rig_time(k), saved, SAVED - (size_t)(k % 3))) _exit(4);
      progress->flushed = progress->checkpoint = k + 1;
    }
    ga_recorder_destroy(&rec);
    progress->flushed =
        part ? 3500 : progress->checkpoint; /* the next one may drop down to there at any time */
  }
}

static void killed_between_any_two_pages(void **state)
{
  child_progress *progress =
      mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const long stride = rig_brief() ? 97 : getenv("GALPHA_KILLS") ? 1 : 7;
  long total, first;
  ga_recorder *rec = NULL;
  rig *r = rig_open(3);
  (void)state;
  pages_written = last_page = 0;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_OK);
  first = pages_written; /* a file that could not be begun has no promise to keep */
  ga_recorder_destroy(&rec);
  pages_written = 0;
  short_run(r, progress);
  total = pages_written;
  assert_true(total > 300);
  for (long at = first; at < total; at += stride) {
    int how = 0;
    unlink(r->path);
    *progress = (child_progress){0, 0};
    const pid_t child = fork();
    if (child == 0) {
      pages_written = 0;
      last_page = at;
      short_run(r, progress);
      _exit(5);
    }
    waitpid(child, &how, 0);
    if (!WIFEXITED(how) || WEXITSTATUS(how)) fail_msg("page %ld: the writer returned %d", at, how);
    check_killed(r, progress);
  }
  rig_close(r);
  munmap(progress, sizeof *progress);
}

/* ---- Full disks ---- */

/* Writes until it fails; what was flushed must be there, and later calls must fail in the same way. */
static void write_until_full(rig *r, int code)
{
  ga_recorder *rec = NULL;
  ga_status status = GA_OK;
  long k, flushed = 0;
  assert_status(r->ctx, ga_recorder_create(r->ctx, r->path, &r->opts, &rec), GA_OK);
  for (k = 0; status == GA_OK && k < 1000000; k++) {
    status = rig_add(rec, r->m, k);
    if (status == GA_OK && k % 100 == 99) {
      status = ga_recorder_flush(rec);
      if (status == GA_OK) flushed = k + 1;
    }
  }
  assert_status(r->ctx, status, GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_FILE_ACCESS, r->path, code);
  assert_true(flushed > 0);
  assert_status(r->ctx, rig_add(rec, r->m, k), GA_ERR_FILE);
  assert_status(r->ctx, ga_recorder_flush(rec), GA_ERR_FILE);
  assert_status(r->ctx, ga_recorder_finish(rec, GA_RUN_FINISHED, "done"), GA_ERR_FILE);
  assert_status(r->ctx, ga_recorder_checkpoint(rec, 1e9, (double[]){1.0}, 1), GA_ERR_FILE);
  assert_file_error(r->ctx, GA_REASON_FILE_ACCESS, r->path, code);
  ga_recorder_destroy(&rec);
  rig_check(r, flushed);
}

static void file_too_large(void **state)
{
  struct rlimit old, small;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  rig_random random = rig_seed(0);
  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  for (int i = 0; i < 40; i++) { /* limits reached in chunks, in structures, in the middle of pages */
    rig *r = rig_open(i % 2 ? 3 : 300);
    r->opts.compression = i % 3 > 0;
    small = old;
    small.rlim_cur = (i % 2 ? 150000u : 5000000u) + (rlim_t)rig_below(&random, 500000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    write_until_full(r, EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    rig_close(r);
  }
  signal(SIGXFSZ, handler);
}

/* No room even for the beginning: nothing is left behind. */
static void no_room_to_begin(void **state)
{
  struct rlimit old, small;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  rig *r = rig_open(3);
  ga_recorder *rec = NULL;
  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  for (rlim_t most = 0; most < 4500; most += 500) {
    small.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const ga_status status = ga_recorder_create(r->ctx, r->path, &r->opts, &rec);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_status(r->ctx, status, GA_ERR_FILE);
    assert_string_equal(ga_context_error(r->ctx)->file, r->path);
    assert_null(rec);
    assert_int_equal(access(r->path, F_OK), -1);
  }
  signal(SIGXFSZ, handler);
  rig_close(r);
}

/* A disk of 1 MB, mounted in a name space of a child's own; skipped where that is not allowed. */
static void disk_is_full(void **state)
{
  int how = 0;
  (void)state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    rig *r = rig_open(3);
    if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", r->folder, "tmpfs", 0, "size=1m")) {
      rig_close(r);
      _exit(77);
    }
    write_until_full(r, ENOSPC);
    unlink(r->path);
    umount(r->folder);
    rig_close(r);
    _exit(0);
  }
  waitpid(child, &how, 0);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 77) skip();
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

/* ---- Memory ---- */

static ga_status whole_run(rig *r)
{
  const double saved[] = {1.0, 2.0, 3.0};
  const char *const names[] = {"s1"};
  char table[160];
  ga_recorder *rec = NULL;
  ga_result *res = NULL;
  ga_status status = ga_recorder_create(r->ctx, r->path, &r->opts, &rec);
  snprintf(table, sizeof table, "%s/out.csv", r->folder);
  for (long k = status == GA_OK ? ga_recorder_n_records(rec) : 0; status == GA_OK && k < 30; k++)
    status = rig_add(rec, r->m, k);
  if (status == GA_OK) status = ga_recorder_checkpoint(rec, 1.0, saved, 3);
  if (status == GA_OK) status = ga_recorder_finish(rec, GA_RUN_FINISHED, "done");
  ga_recorder_destroy(&rec);
  if (status == GA_OK) status = ga_result_open(r->ctx, r->path, &res);
  if (status == GA_OK) status = ga_result_export_csv(res, table, 1, names);
  ga_result_close(&res);
  unlink(table);
  return status;
}

/* Of the context's allocations; HDF5's own are out of reach. */
static void each_allocation_fails(void **state)
{
  (void)state;
  for (int append = 0; append < 2; append++) {
    rig *r = rig_open(5);
    assert_status(r->ctx, whole_run(r), GA_OK);
    r->opts.append = append;
    const long before = r->heap.count, live = r->heap.live;
    assert_status(r->ctx, whole_run(r), GA_OK);
    const long needed = r->heap.count - before;
    assert_true(needed > 30);
    for (long n = 1; n <= needed; n++) {
      ga_context_clear_error(r->ctx);
      r->heap.fail_at = r->heap.count + n;
      if (whole_run(r) != GA_ERR_MEMORY)
        fail_msg("allocation %ld of %ld failed, and nobody noticed", n, needed);
      assert_error(r->ctx, GA_REASON_MEMORY, NULL, NULL, NULL);
      assert_int_equal(r->heap.live, live);
    }
    r->heap.fail_at = 0;
    assert_status(r->ctx, whole_run(r), GA_OK);
    rig_check(r, 30);
    rig_close(r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killed_few_signals),
      cmocka_unit_test(killed_many_signals),
      cmocka_unit_test(killed_plain),
      cmocka_unit_test(killed_between_any_two_pages),
      cmocka_unit_test(read_while_it_is_written),
      cmocka_unit_test(file_too_large),
      cmocka_unit_test(no_room_to_begin),
      cmocka_unit_test(disk_is_full),
      cmocka_unit_test(each_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
