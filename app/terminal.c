/* The filter between printed text and the terminal. */
#define _GNU_SOURCE /* fopencookie, where the C library has it */
#include "terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Streams ---- */

FILE *app_out(void), *app_err(void); /* declared here, since streams.h redefines stdout */
static FILE *filtered_out, *filtered_err;
static _Thread_local FILE *own_out, *own_err; /* of a call; NULL: none */

FILE *app_out(void)
{
  return own_out ? own_out : filtered_out ? filtered_out : stdout;
}

FILE *app_err(void)
{
  return own_err ? own_err : filtered_err ? filtered_err : stderr;
}

void app_terminal_replace(FILE *out, FILE *err)
{
  own_out = out;
  own_err = err;
}

/* ---- Characters ---- */

int app_utf8(const char *text, size_t n, unsigned *code)
{
  static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *c = (const unsigned char *)text;
  const int length = n == 0        ? 0
                     : c[0] < 0x80 ? 1
                     : c[0] < 0xC2 ? 0
                     : c[0] < 0xE0 ? 2
                     : c[0] < 0xF0 ? 3
                     : c[0] < 0xF5 ? 4
                                   : 0;
  if (length < 2) return *code = length ? c[0] : 0, length;
  *code = c[0] & (0xFFu >> (length + 1));
  for (int i = 1; i < length; i++) {
    if ((size_t)i == n) return -1;
    if ((c[i] & 0xC0u) != 0x80u) return 0;
    *code = *code << 6 | (c[i] & 0x3Fu);
  }
  return *code < least[length] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : length;
}

int app_is_control(unsigned code)
{
  static const unsigned turning[][2] = {{0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return 1;
  for (size_t i = 0; i < sizeof turning / sizeof *turning; i++)
    if (code >= turning[i][0] && code <= turning[i][1]) return 1;
  return 0;
}

/* ---- The filter ---- */

enum { BLOCK = 4096, LONGEST = 8 /* bytes of one character shown as an escape */ };
#ifdef __GLIBC__
enum { FAILED = 0 }; /* result of a failed write for fopencookie(); elsewhere it is -1 */
#else
enum { FAILED = -1 };
#endif

typedef struct filter {
  int fd, off;
  char rest[4]; /* first bytes of an incomplete character */
  size_t n_rest;
} filter;

static filter filters[2] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

/* 0, or −1 with errno. */
static int write_all(int fd, const char *bytes, size_t n)
{
  while (n > 0) {
    const ssize_t done = write(fd, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return -1;
    bytes += done;
    n -= (size_t)done;
  }
  return 0;
}

/* Writes one character to out[LONGEST]; returns the number of bytes read, 0: it needs more. */
static size_t show_one(char *out, size_t *length, const char *text, size_t n)
{
  unsigned code;
  const int bytes = app_utf8(text, n, &code);
  if (bytes < 0) return 0;
  if (bytes == 0 || (bytes == 1 && app_is_control(code) && code != '\n' && code != '\t')) {
    *length = (size_t)snprintf(out, LONGEST, "\\x%02x", (unsigned char)text[0]);
    return 1;
  }
  if (bytes > 1 && app_is_control(code)) {
    *length = (size_t)snprintf(out, LONGEST, "\\u%04x", code & 0xFFFFu);
    return (size_t)bytes;
  }
  memcpy(out, text, *length = (size_t)bytes);
  return (size_t)bytes;
}

/* ---- Colours ---- */

static const struct colour {
  const char *word, *begin;
} colours[] = {{"warning:", "\033[33m"}, {"error:", "\033[31m"}};

/* 1: the standard error is a terminal, and the user has not switched colours off (https://no-color.org). */
static int has_colours(const filter *f)
{
  static int known = -1;
  if (f->fd != STDERR_FILENO) return 0;
  if (known < 0) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    known = isatty(STDERR_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
  }
  return known;
}

/* Writes text, the first of these words of each line in its colour. */
static int write_coloured(int fd, const char *text, size_t n)
{
  while (n > 0) {
    const char *end = memchr(text, '\n', n);
    const size_t length = end ? (size_t)(end - text) + 1 : n;
    size_t at = length, k = 0;
    for (size_t i = 0; i < length && at == length; i++)
      for (k = 0; k < sizeof colours / sizeof *colours; k++)
        if (strlen(colours[k].word) <= length - i &&
            memcmp(text + i, colours[k].word, strlen(colours[k].word)) == 0) {
          at = i;
          break;
        }
    if (write_all(fd, text, at)) return -1;
    if (at < length) {
      const size_t word = strlen(colours[k].word);
      if (write_all(fd, colours[k].begin, 5) || write_all(fd, text + at, word) ||
          write_all(fd, "\033[0m", 4) || write_all(fd, text + at + word, length - at - word))
        return -1;
    }
    text += length;
    n -= length;
  }
  return 0;
}

/* Write function of the stream; returns the number of bytes written, or FAILED. */
static ssize_t pass(void *cookie, const char *bytes, size_t n)
{
  filter *f = cookie;
  char in[BLOCK + sizeof f->rest], out[LONGEST * (BLOCK + sizeof f->rest)];
  if (f->off) return write_all(f->fd, bytes, n) ? FAILED : (ssize_t)n;
  for (size_t done = 0; done < n;) {
    const size_t more = n - done < BLOCK ? n - done : BLOCK, have = f->n_rest + more;
    size_t at = 0, used = 0, length = 0, took;
    memcpy(in, f->rest, f->n_rest);
    memcpy(in + f->n_rest, bytes + done, more);
    while (at < have && (took = show_one(out + used, &length, in + at, have - at)) > 0)
      at += took, used += length;
    memcpy(f->rest, in + at, f->n_rest = have - at);
    if (has_colours(f) ? write_coloured(f->fd, out, used) : write_all(f->fd, out, used)) return FAILED;
    done += more;
  }
  return (ssize_t)n;
}

#ifdef GALPHA_HAVE_FOPENCOOKIE
static FILE *open_filter(filter *f)
{
  static const cookie_io_functions_t functions = {.write = pass};
  return fopencookie(f, "w", functions);
}
#else
static int pass_some(void *cookie, const char *bytes, int n)
{
  return (int)pass(cookie, bytes, (size_t)n);
}

static FILE *open_filter(filter *f)
{
  return funopen(f, NULL, pass_some, NULL, NULL);
}
#endif

/* Creates a filtered stream; the system's stream if out of memory. */
static FILE *filtered(filter *f, FILE *otherwise, int mode)
{
  FILE *stream = open_filter(f);
  if (!stream) return otherwise;
  setvbuf(stream, NULL, mode, BUFSIZ);
  return stream;
}

void app_terminal_begin(void)
{
  filtered_out = filtered(&filters[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
  filtered_err = filtered(&filters[1], stderr, _IOLBF);
}

void app_terminal_data(void)
{
  fflush(app_out());
  if (!own_out) filters[0].off = !isatty(STDOUT_FILENO);
}

void app_terminal_control(const char *sequence)
{
  fflush(app_err());
  write_all(STDERR_FILENO, sequence, strlen(sequence));
}
