#define _POSIX_C_SOURCE 200809L
#include "gnuplot.h"
#include "terminal.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct terminal {
  const char *ending, *name, *more;
  double scale; /* its unit of size in pixels of an .svg */
} terminals[] = {{".svg", "svg", "font 'sans,14' background rgb 'white'", 1.0},
                 {".png", "pngcairo", "font 'sans,18'", 1.5},
                 {".pdf", "pdfcairo", "font 'sans,10' fontscale 0.85 linewidth 0.8", 1.0 / 100.0}};

static const struct terminal *terminal_of(const char *file)
{
  for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
    if (app_ends_in(file, terminals[i].ending)) return &terminals[i];
  return NULL;
}

int app_gnuplot_knows(const char *file)
{
  return terminal_of(file) != NULL;
}

static void write_quoted(FILE *to, const char *text, const char *space)
{
  const size_t n = strlen(text);
  fputc('\'', to);
  for (size_t at = 0; at < n;) {
    unsigned code;
    const int bytes = app_utf8(text + at, n - at, &code);
    if (bytes > 0 && code == '\'') fputc('\'', to);
    if (bytes > 0 && code == ' ')
      fputs(space, to);
    else if (bytes > 0 && !app_is_control(code))
      fwrite(text + at, 1, (size_t)bytes, to);
    else
      fputc(bytes > 0 ? ' ' : '?', to);
    at += bytes > 0 ? (size_t)bytes : 1;
  }
  fputc('\'', to);
}

void app_gnuplot_quoted(FILE *to, const char *text)
{
  write_quoted(to, text, " ");
}

void app_gnuplot_label(FILE *to, const char *text)
{
  write_quoted(to, text, "\302\240");
}

/* Distinguishable on white, also for colour-blind readers. */
static void write_colours(FILE *to)
{
  static const char *const colours[] = {"0060ad", "d55e00", "009e73", "9400d3", "a6761d",
                                        "e7298a", "56b4e9", "000000", "e69f00", "7f7f7f"};
  const int n = (int)(sizeof colours / sizeof *colours);
  for (int i = 0; i < n; i++) fprintf(to, "set linetype %d linecolor rgb '#%s'\n", i + 1, colours[i]);
  fprintf(to, "set linetype cycle %d\n", n);
}

int app_gnuplot_open(app_gnuplot *g, const app_arguments *a, const char *file, int width, int height)
{
  const struct terminal *t = terminal_of(file);
  *g = (app_gnuplot){.file = file};
  if (!t) return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  const int error = app_output_check(file);
  if (error) return app_output_refused(a, file, error);
  if (!(g->to = tmpfile()))
    return fprintf(stderr, "galpha %s: no picture: a temporary file cannot be created: %s\n",
                   a->command->name, strerror(errno)),
           APP_FAILED;
  fprintf(g->to, "set terminal %s size %.4g,%.4g %s\n", t->name, t->scale * width, t->scale * height,
          t->more);
  write_colours(g->to);
  return APP_DONE;
}

/* ---- Running ---- */

typedef struct run {
  pid_t pid;
  int picture;      /* end of a pipe that it writes to */
  FILE *complaints; /* its standard error */
} run;

/* Starts gnuplot without the user's settings; returns errno. */
static int start(run *r, FILE *script)
{
  char name[] = "gnuplot", plain[] = "-d", *const argv[] = {name, plain, NULL};
  int ends[2];
  posix_spawn_file_actions_t actions;
  if (pipe(ends)) return errno;
  for (int i = 0; i < 2; i++) {
    const int failed = app_close_on_exec(ends[i]);
    if (failed) return close(ends[0]), close(ends[1]), failed;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(r->complaints), STDERR_FILENO);
  const int error = posix_spawnp(&r->pid, name, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  r->picture = ends[0];
  if (error) close(ends[0]);
  return error;
}

enum { FIRST_SIZE = 1 << 16, LARGEST = 1 << 28 };

/* Reads until the other end is closed; to be freed. NULL: errno in *error. */
static char *read_all(int fd, size_t *length, int *error)
{
  size_t size = 0, used = 0;
  char *bytes = NULL;
  *error = 0;
  for (;;) {
    if (used == size) {
      size = size ? 2 * size : FIRST_SIZE;
      char *more = size <= LARGEST ? realloc(bytes, size) : NULL;
      if (!more) return free(bytes), *error = ENOMEM, NULL;
      bytes = more;
    }
    const ssize_t n = read(fd, bytes + used, size - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return *error = errno, free(bytes), NULL;
    if (n == 0) return *length = used, bytes;
    used += (size_t)n;
  }
}

static int contains(const char *bytes, size_t n, const char *word)
{
  const size_t length = strlen(word);
  for (size_t at = 0; at + length <= n; at++)
    if (memcmp(bytes + at, word, length) == 0) return 1;
  return 0;
}

/* 1: the picture is complete; gnuplot does not always notice that it could not be written. */
static int is_whole(const char *file, const char *bytes, size_t n)
{
  static const struct {
    const char *ending, *begin, *end;
  } kinds[] = {{".svg", "<?xml", "</svg>"}, {".png", "\211PNG\r\n", "IEND"}, {".pdf", "%PDF-", "%%EOF"}};
  enum { TAIL = 64 };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!app_ends_in(file, kinds[i].ending)) continue;
    const size_t tail = n < TAIL ? n : TAIL, begin = strlen(kinds[i].begin);
    return n > begin && memcmp(bytes, kinds[i].begin, begin) == 0 &&
           contains(bytes + n - tail, tail, kinds[i].end);
  }
  return 0;
}

static void print_complaints(FILE *complaints)
{
  char line[256];
  rewind(complaints);
  for (int i = 0; i < 8 && fgets(line, sizeof line, complaints); i++)
    if (line[strspn(line, " \n^")] != '\0') fprintf(stderr, "  %s", line);
}

static int cannot_start(const app_arguments *a, int error)
{
  if (error == ENOENT)
    fprintf(stderr,
            "galpha %s: no picture: gnuplot is not installed (on Debian, apt-get install gnuplot-nox)\n",
            a->command->name);
  else
    fprintf(stderr, "galpha %s: no picture: gnuplot cannot be started: %s\n", a->command->name,
            strerror(error));
  return APP_FAILED;
}

/* Reads the picture into memory, then writes the file. */
static int draw(app_gnuplot *g, const app_arguments *a, run *r)
{
  int status = 0, error = start(r, g->to);
  size_t length = 0;
  if (error) return cannot_start(a, error);
  char *picture = read_all(r->picture, &length, &error);
  close(r->picture);
  while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR) continue;
  const int drawn =
      picture && WIFEXITED(status) && WEXITSTATUS(status) == 0 && is_whole(g->file, picture, length);
  int code = APP_FAILED;
  if (!drawn) {
    fprintf(stderr, "galpha %s: gnuplot could not make %s%s%s\n", a->command->name, g->file,
            error ? ": " : "", error ? strerror(error) : "");
    print_complaints(r->complaints);
  } else if ((error = app_output_write(g->file, picture, length)) != 0) {
    app_output_refused(a, g->file, error);
  } else {
    printf("picture: %s\n", g->file);
    code = APP_DONE;
  }
  free(picture);
  return code;
}

int app_gnuplot_close(app_gnuplot *g, const app_arguments *a)
{
  run r = {.complaints = tmpfile()};
  int code = APP_FAILED;
  if (!r.complaints || fflush(g->to) || ferror(g->to) || fseek(g->to, 0, SEEK_SET))
    fprintf(stderr, "galpha %s: no picture: a temporary file cannot be written: %s\n", a->command->name,
            strerror(errno));
  else
    code = draw(g, a, &r);
  if (r.complaints) fclose(r.complaints);
  fclose(g->to);
  return code;
}
