/* The journal: rows of finished runs, appended one by one, so that a process that is killed loses no finished
 * run. A header, then rows of one length with their texts:
 *
 *   header   "galpha sweep 1\n\0", digest, numbers in a row, number of runs
 *   row      run, status, warnings, bytes of the text; numbers; text; CRC-32 of all these
 *
 * in the byte order of the machine. A row whose sum is wrong, as after a kill within a write, ends the file.
 */
#define _POSIX_C_SOURCE 200809L
#include "study/study_impl.h"

#include "result/result_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {
  char mark[16];
  uint64_t digest;
  int64_t width, n_runs;
} header;

typedef struct row_header {
  int64_t run;
  int32_t status, warnings;
  uint64_t text; /* bytes */
} row_header;

struct ga__journal {
  char *path;
  int fd, width;
  long n_runs;
  unsigned char *bytes; /* of one row */
};

static const char MARK[16] = "galpha sweep 1\n";

static size_t row_size(const ga__journal *j, size_t text)
{
  return sizeof(row_header) + (size_t)j->width * sizeof(double) + text + sizeof(uint32_t);
}

/* ---- Files ---- */

static int write_all(int fd, const void *bytes, size_t n)
{
  const char *at = bytes;
  while (n > 0) {
    const ssize_t done = write(fd, at, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    at += done;
    n -= (size_t)done;
  }
  return 0;
}

/* Bytes read; fewer at the end of the file; −1: errno. */
static ssize_t read_all(int fd, void *bytes, size_t n)
{
  size_t used = 0;
  while (used < n) {
    const ssize_t done = read(fd, (char *)bytes + used, n - used);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return -1;
    if (done == 0) break;
    used += (size_t)done;
  }
  return (ssize_t)used;
}

/* ---- Reading ---- */

static ga_status read_header(ga_context *ctx, ga__journal *j, uint64_t digest, long n_runs)
{
  header h;
  const ssize_t got = read_all(j->fd, &h, sizeof h);
  if (got < 0) return ga__no_file(ctx, j->path, "read", errno);
  if (got != (ssize_t)sizeof h || memcmp(h.mark, MARK, sizeof MARK) != 0)
    return ga__refuse_file_kind(ctx, j->path, "the journal of a sweep", NULL, NULL);
  if (h.digest != digest || h.width != j->width || h.n_runs != n_runs)
    return ga__refuse_file_kind(
        ctx, j->path, "the journal of this sweep",
        "it belongs to other parameters, measures or settings, or to a model that has changed", NULL);
  return GA_OK;
}

/* Hands out the rows that are sound; *length: where they end. */
static ga_status read_rows(ga_context *ctx, ga__journal *j, ga__journal_fn row, void *user, off_t *length)
{
  *length = (off_t)sizeof(header);
  for (;;) {
    row_header h;
    uint32_t sum;
    if (read_all(j->fd, &h, sizeof h) != (ssize_t)sizeof h) return GA_OK;
    if (h.text >= GA_ERROR_TEXT || h.run < 0 || h.run >= j->n_runs) return GA_OK;
    const size_t size = row_size(j, (size_t)h.text), rest = size - sizeof h;
    memcpy(j->bytes, &h, sizeof h);
    if (read_all(j->fd, j->bytes + sizeof h, rest) != (ssize_t)rest) return GA_OK;
    memcpy(&sum, j->bytes + size - sizeof sum, sizeof sum);
    if (sum != ga__sum(0, j->bytes, size - sizeof sum)) return GA_OK;
    char text[GA_ERROR_TEXT];
    memcpy(text, j->bytes + size - sizeof sum - h.text, (size_t)h.text);
    text[h.text] = '\0';
    const ga_study_row found = {.run = (long)h.run,
                                .status = (ga_study_status)h.status,
                                .warnings = h.warnings,
                                .text = text,
                                .values = (const double *)(const void *)(j->bytes + sizeof h)};
    const ga_status status = row(user, &found);
    if (status) return status;
    *length += (off_t)size;
  }
  (void)ctx;
}

/* ---- Opening ---- */

static ga_status begin_file(ga_context *ctx, ga__journal *j, uint64_t digest)
{
  header h = {.digest = digest, .width = j->width, .n_runs = j->n_runs};
  memcpy(h.mark, MARK, sizeof MARK);
  const int error = write_all(j->fd, &h, sizeof h);
  return error ? ga__no_file(ctx, j->path, "written", error) : GA_OK;
}

static ga_status open_file(ga_context *ctx, ga__journal *j, uint64_t digest, int resume, ga__journal_fn row,
                           void *user)
{
  struct stat now;
  off_t length = 0;
  j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (j->fd < 0) return ga__no_file(ctx, j->path, "written", errno);
  if (flock(j->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
    return ga__refuse(ctx, GA_ERR_FILE, GA_REASON_FILE_IN_USE, &(ga__facts){.file = j->path});
  if (fstat(j->fd, &now)) return ga__no_file(ctx, j->path, "read", errno);
  if (!S_ISREG(now.st_mode)) return ga__refuse_file_kind(ctx, j->path, "a regular file", NULL, NULL);
  if (!resume && now.st_size > (off_t)sizeof(header))
    return ga__refuse(ctx, GA_ERR_FILE, GA_REASON_JOURNAL_UNFINISHED, &(ga__facts){.file = j->path});
  if (!resume || now.st_size < (off_t)sizeof(header)) { /* new, or killed while it was begun */
    if (ftruncate(j->fd, 0) || lseek(j->fd, 0, SEEK_SET) < 0)
      return ga__no_file(ctx, j->path, "written", errno);
    return begin_file(ctx, j, digest);
  }
  ga_status status = read_header(ctx, j, digest, j->n_runs);
  if (!status) status = read_rows(ctx, j, row, user, &length);
  if (!status && (ftruncate(j->fd, length) || lseek(j->fd, length, SEEK_SET) < 0))
    status = ga__no_file(ctx, j->path, "written", errno);
  return status;
}

ga_status ga__journal_open(ga_context *ctx, const char *path, uint64_t digest, int width, long n_runs,
                           int resume, ga__journal_fn row, void *user, ga__journal **out)
{
  ga__journal *j = *out = ga__alloc(ctx, 1, sizeof *j);
  if (!j) return ga__no_memory(ctx, "the journal of a sweep");
  *j = (ga__journal){.fd = -1, .width = width, .n_runs = n_runs};
  j->path = ga__copy_text(ctx, path);
  j->bytes = ga__alloc(ctx, row_size(j, GA_ERROR_TEXT), 1);
  const ga_status status = j->path && j->bytes ? open_file(ctx, j, digest, resume, row, user)
                                               : ga__no_memory(ctx, "the journal of a sweep");
  if (status) ga__journal_close(ctx, out);
  return status;
}

ga_status ga__journal_add(ga_context *ctx, ga__journal *j, const ga_study_row *row)
{
  size_t text = strlen(row->text);
  if (text >= GA_ERROR_TEXT) text = GA_ERROR_TEXT - 1;
  const row_header h = {row->run, (int32_t)row->status, row->warnings, text};
  const size_t size = row_size(j, text), numbers = (size_t)j->width * sizeof(double);
  memcpy(j->bytes, &h, sizeof h);
  if (numbers) memcpy(j->bytes + sizeof h, row->values, numbers);
  memcpy(j->bytes + sizeof h + numbers, row->text, text);
  const uint32_t sum = ga__sum(0, j->bytes, size - sizeof sum);
  memcpy(j->bytes + size - sizeof sum, &sum, sizeof sum);
  const int error = write_all(j->fd, j->bytes, size);
  return error ? ga__no_file(ctx, j->path, "written", error) : GA_OK;
}

void ga__journal_close(ga_context *ctx, ga__journal **journal)
{
  ga__journal *j = *journal;
  if (!j) return;
  if (j->fd >= 0) close(j->fd);
  ga__free(ctx, j->path);
  ga__free(ctx, j->bytes);
  ga__free(ctx, j);
  *journal = NULL;
}
