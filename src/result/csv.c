/* Results as CSV (RFC 4180), the same in every locale. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "result/result_impl.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBER = 32, BLOCK_NUMBERS = 2097152, MOST_ROWS = 1024 };

/* Writes 17 digits, with a point instead of the locale's decimal mark. */
void ga__put_number(FILE *file, double value)
{
  char text[NUMBER], *from = text, *to = text;
  snprintf(text, sizeof text, "%.17g", value);
  while (*from) {
    if (strchr("+-0123456789abcdefghijklmnopqrstuvwxyz", *from)) {
      *to++ = *from++;
      continue;
    }
    *to++ = '.';
    while (*from && !(*from >= '0' && *from <= '9')) from++;
  }
  fwrite(text, 1, (size_t)(to - text), file);
}

/* Spreadsheets treat a cell that begins with one of =+-@ as a formula, which may run programs: an apostrophe
 * makes it a text. */
void ga__put_title(FILE *file, const char *name, const char *unit)
{
  const int quoted = strpbrk(name, ",\"\n\r") || strpbrk(unit, ",\"\n\r");
  const char *const parts[] = {*name && strchr("=+-@\t\r", *name) ? "'" : "", name, *unit ? " [" : "", unit,
                               *unit ? "]" : ""};
  if (quoted) fputc('"', file);
  for (int k = 0; k < 5; k++)
    for (const char *c = parts[k]; *c; c++) {
      if (*c == '"') fputc('"', file);
      fputc(*c, file);
    }
  if (quoted) fputc('"', file);
}

/* Writes rows of time and signals, block by block. Damaged numbers become NaN, and *damaged 1. */
static ga_status put_rows(ga_result *r, FILE *file, const int *chosen, int n, double *block, long rows,
                          int *damaged)
{
  const long total = ga_result_n_records(r);
  for (long first = 0; first < total; first += rows) {
    const long count = total - first < rows ? total - first : rows;
    for (int k = 0; k <= n; k++) {
      const ga_status status =
          ga_result_read(r, k == 0 ? -1 : chosen[k - 1], first, count, block + (size_t)k * (size_t)rows);
      if (status && status != GA_ERR_FILE) return status;
      if (status) *damaged = 1;
    }
    for (long i = 0; i < count; i++)
      for (int k = 0; k <= n; k++) {
        ga__put_number(file, block[(size_t)k * (size_t)rows + (size_t)i]);
        fputc(k < n ? ',' : '\n', file);
      }
    if (ferror(file)) return GA_OK; /* reported by the caller, with the system's reason */
  }
  return GA_OK;
}

static ga_status put_all(ga_result *r, FILE *file, const int *chosen, int n, int *damaged)
{
  long rows = MOST_ROWS;
  double *block;
  ga_status status;
  while (rows > 1 && rows * (n + 1L) > BLOCK_NUMBERS) rows /= 2;
  block = ga__alloc(ga__result_context(r), (size_t)rows * ((size_t)n + 1), sizeof *block);
  if (!block) return ga__no_memory(ga__result_context(r), "rows of a table");
  ga__put_title(file, "time", "s");
  for (int k = 0; k < n; k++) {
    fputc(',', file);
    ga__put_title(file, ga_result_signal_name(r, chosen[k]), ga_result_signal_unit(r, chosen[k]));
  }
  fputc('\n', file);
  status = put_rows(r, file, chosen, n, block, rows, damaged);
  ga__free(ga__result_context(r), block);
  return status;
}

/* Writes a temporary file first and renames it, unless the file is a device or a pipe. A symbolic link is
 * kept. */
static ga_status write_file(ga_result *r, const char *path, const int *chosen, int n)
{
  ga_context *ctx = ga__result_context(r);
  char real[PATH_MAX], hidden[PATH_MAX + NUMBER];
  struct stat now;
  const char *target = realpath(path, real) ? real : path;
  const int straight = lstat(target, &now) == 0 && !S_ISREG(now.st_mode);
  if (snprintf(hidden, sizeof hidden, "%s.%ld.part", target, (long)getpid()) >= (int)sizeof hidden)
    return ga__no_file(ctx, path, "written", ENAMETOOLONG);
  FILE *file = fopen(straight ? target : hidden, straight ? "w" : "wx");
  int error = 0, damaged = 0;
  ga_status status;
  if (!file) return ga__no_file(ctx, path, "written", errno);
  errno = 0;
  status = put_all(r, file, chosen, n, &damaged);
  if (ferror(file)) error = errno ? errno : EIO;
  if (fclose(file) && !error) error = errno;
  if (status == GA_OK && !error && !straight && rename(hidden, target)) error = errno;
  if (status == GA_OK && error) status = ga__no_file(ctx, path, "written", error);
  if (status && !straight) remove(hidden);
  if (status || !damaged) return status;
  status = ga_result_verify(r); /* names what is damaged */
  return status ? status
                : ga__refuse(ctx, GA_ERR_FILE, GA_REASON_RECORDS_DAMAGED,
                             &(ga__facts){.file = ga__result_path(r), .detail = "some records"});
}

static ga_status choose(ga_result *r, int n, const char *const *names, int *chosen)
{
  for (int k = 0; k < n; k++) {
    chosen[k] = names ? ga_result_find(r, names[k]) : k;
    if (chosen[k] < 0)
      return ga__refuse(ga__result_context(r), GA_ERR_ARGUMENT, GA_REASON_UNKNOWN_SIGNAL,
                        &(ga__facts){.file = ga__result_path(r), .name = names[k]});
  }
  return GA_OK;
}

ga_status ga_result_export_csv(ga_result *r, const char *path, int n, const char *const *names)
{
  if (!r || !path) return ga__null_argument(r ? ga__result_context(r) : NULL);
  ga_context *ctx = ga__result_context(r);
  const int count = names ? n : ga_result_n_signals(r);
  int *chosen = ga__alloc(ctx, (size_t)count, sizeof *chosen);
  ga_status status = chosen ? choose(r, count, names, chosen) : ga__no_memory(ctx, "an export");
  if (status == GA_OK) status = write_file(r, path, chosen, count);
  ga__free(ctx, chosen);
  return status;
}
