#define _POSIX_C_SOURCE 200809L
#include "gnuplot.h"
#include "terminal.h"

#include "galpha/galpha.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct terminal {
  const char *ending, *name, *more;
} terminals[] = {{".svg", "svg", "background rgb 'white'"},
                 {".png", "pngcairo", "background rgb 'white'"},
                 {".pdf", "pdfcairo", "background rgb 'white'"}};

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

/* ---- Size and letters ---- */

#define DPI 96.0            /* of an .svg */
#define POINT (DPI / 72.0)  /* in its pixels */
#define LETTERS 14.0        /* usual height */
#define PRINTED (9 * POINT) /* the same where the size is given in mm or the like */

app_look app_look_defaults(void)
{
  return (app_look){.width = 900.0, .letters = LETTERS, .font = "sans", .dpi = 1.5 * DPI};
}

/* One length: "84mm", "3.3 in"; without a unit pixels. */
static int read_length(const app_arguments *a, ga_context *ctx, const char *text, double *pixels,
                       int *printed)
{
  char *end;
  const double plain = strtod(text, &end);
  while (*end == ' ') end++;
  if (end > text && (!*end || strcmp(end, "px") == 0)) return *pixels = plain, APP_DONE;
  double metres = 0.0;
  if (ga_quantity_parse(ctx, text, "m", &metres, NULL, NULL))
    return app_misused(a, "--size: %s", ga_context_error(ctx)->text);
  *pixels = metres / 0.0254 * DPI;
  *printed = 1;
  return APP_DONE;
}

/* "WIDTH x HEIGHT" or "WIDTH"; a unit after the height alone is that of both. */
static int read_size(const app_arguments *a, ga_context *ctx, const char *text, app_look *look)
{
  char first[64], second[64] = "";
  const char *cross = strpbrk(text, "xX\303"); /* the first byte of a multiplication sign */
  while (cross && (*cross == 'x' || *cross == 'X') && cross > text && cross[-1] == 'p') /* "px" */
    cross = strpbrk(cross + 1, "xX\303");
  const char *after = !cross ? "" : *cross == '\303' && cross[1] ? cross + 2 : cross + 1;
  const size_t length = cross ? (size_t)(cross - text) : strlen(text);
  if (length >= sizeof first - 16 || strlen(after) >= sizeof second)
    return app_misused(a, "--size: \"%.40s\" is not a size such as 84mm x 60mm", text);
  memcpy(first, text, length);
  first[length] = '\0';
  snprintf(second, sizeof second, "%s", after);
  char *end;
  strtod(first, &end);
  char *unit = second + strspn(second, "0123456789.+-eE ");
  if (cross && !end[strspn(end, " ")] && *unit) snprintf(end, 16, "%.15s", unit);
  int printed = 0, code = read_length(a, ctx, first, &look->width, &printed);
  if (!code && cross) code = read_length(a, ctx, second, &look->height, &printed);
  const double least = 100.0, most = 20000.0;
  if (!code && (!(look->width >= least && look->width <= most) ||
                (cross && !(look->height >= least && look->height <= most))))
    return app_misused(a, "--size: %s is not between %g and %g pixels (%.0f mm and %.1f m)", text, least,
                       most, least / DPI * 25.4, most / DPI * 0.0254);
  if (!code && printed) look->letters = PRINTED, look->dpi = 300.0;
  return code;
}

/* "Helvetica,8", "Helvetica" or "8", in points. */
static int read_font(const app_arguments *a, const char *text, app_look *look)
{
  const char *comma = strrchr(text, ','), *number = comma ? comma + 1 : text;
  char *end;
  const double points = strtod(number, &end);
  while (*end == ' ') end++;
  if (strncmp(end, "pt", 2) == 0) end += 2;
  const int has_number = end > number && !*end;
  const size_t length = comma ? (size_t)(comma - text) : has_number ? 0 : strlen(text);
  if ((comma && !has_number) || length >= sizeof look->font || strpbrk(text, "'\"\\{}") ||
      strchr(text, ',') != comma)
    return app_misused(a, "--font: \"%.60s\" is not a font such as Helvetica,8 with its size in points",
                       text);
  if (length > 0) snprintf(look->font, sizeof look->font, "%.*s", (int)length, text);
  if (!has_number) return APP_DONE;
  if (!(points >= 3.0 && points <= 100.0))
    return app_misused(a, "--font: %g points are not between 3 and 100", points);
  look->letters = points * POINT;
  return APP_DONE;
}

int app_look_read(const app_arguments *a, app_look *look)
{
  ga_context *ctx = NULL;
  const char *size = app_text(a, "size"), *font = app_text(a, "font");
  if (ga_context_create(NULL, &ctx)) return fputs("galpha: out of memory\n", stderr), APP_FAILED;
  int code = size ? read_size(a, ctx, size, look) : APP_DONE;
  if (!code && font) code = read_font(a, font, look);
  ga_context_destroy(&ctx);
  return code;
}

/* ---- Scripts ---- */

/* Size and letters in the units of the terminal. */
static void write_terminal(FILE *to, const struct terminal *t, const app_look *look)
{
  const double scale = look->letters / LETTERS;
  fprintf(to, "set terminal %s %s size ", t->name, t->more);
  if (strcmp(t->name, "pdfcairo") == 0)
    fprintf(to, "%.4f,%.4f font '%s,%.2f' fontscale 1 linewidth %.3f pointscale %.3f\n", look->width / DPI,
            look->height / DPI, look->font, look->letters / POINT, scale, scale);
  else if (strcmp(t->name, "pngcairo") == 0)
    fprintf(to, "%.0f,%.0f font '%s,%.2f' linewidth %.3f pointscale %.3f\n", look->width * look->dpi / DPI,
            look->height * look->dpi / DPI, look->font, look->letters / POINT * look->dpi / DPI,
            look->dpi / DPI * scale, look->dpi / DPI * scale);
  else
    fprintf(to, "%.0f,%.0f font '%s,%.2f' linewidth %.3f\n", look->width, look->height, look->font,
            look->letters, scale);
  fputs("set encoding utf8\nset minussign\n", to);
}

int app_gnuplot_open_look(app_gnuplot *g, const app_arguments *a, const char *file, const app_look *look)
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
  write_terminal(g->to, t, look);
  write_colours(g->to);
  return APP_DONE;
}

int app_gnuplot_open(app_gnuplot *g, const app_arguments *a, const char *file, int width, int height)
{
  app_look look = app_look_defaults();
  look.width = width;
  look.height = height;
  return app_gnuplot_open_look(g, a, file, &look);
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
