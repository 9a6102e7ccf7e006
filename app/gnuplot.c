#define _GNU_SOURCE /* pipe2 */
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct terminal {
  const char *ending, *name, *more;
  double scale; /* of its sizes over pixels of an .svg */
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

void app_gnuplot_quoted(FILE *to, const char *text)
{
  fputc('\'', to);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', to);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
  }
  fputc('\'', to);
}

/* Its input from a pipe, its complaints into a file; where it cannot open its picture it would draw on the
 * standard output. */
static int start(app_gnuplot *g)
{
  char name[] = "gnuplot", *const argv[] = {name, NULL};
  int ends[2];
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC)) return errno;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(g->complaints), STDERR_FILENO);
  const int error = posix_spawnp(&g->pid, name, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  if (error) return close(ends[1]), error;
  g->to = fdopen(ends[1], "w");
  return g->to ? 0 : errno;
}

/* Told apart on white, also by those who see red and green alike. */
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
  *g = (app_gnuplot){.file = file, .complaints = tmpfile()};
  if (!t) return app_misused(a, "\"%s\" ends neither in .svg nor in .png nor in .pdf", file);
  const int error = g->complaints ? start(g) : errno;
  if (error) {
    if (error == ENOENT)
      fprintf(stderr, "galpha %s: no picture: gnuplot is not installed (apt-get install gnuplot-nox)\n",
              a->command->name);
    else
      fprintf(stderr, "galpha %s: no picture: gnuplot cannot be started: %s\n", a->command->name,
              strerror(error));
    if (g->complaints) fclose(g->complaints);
    return APP_FAILED;
  }
  fprintf(g->to, "set terminal %s size %.4g,%.4g %s\nset output ", t->name, t->scale * width,
          t->scale * height, t->more);
  app_gnuplot_quoted(g->to, file);
  fputc('\n', g->to);
  write_colours(g->to);
  return APP_DONE;
}

static void print_complaints(FILE *complaints)
{
  char line[256];
  rewind(complaints);
  for (int i = 0; i < 8 && fgets(line, sizeof line, complaints); i++)
    if (line[strspn(line, " \n^")] != '\0') fprintf(stderr, "  %s", line);
}

int app_gnuplot_close(app_gnuplot *g, const app_arguments *a)
{
  int status = 0, failed = ferror(g->to);
  failed |= fclose(g->to) != 0;
  while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR) continue;
  failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  if (failed) {
    fprintf(stderr, "galpha %s: gnuplot could not make %s\n", a->command->name, g->file);
    print_complaints(g->complaints);
  } else {
    printf("picture: %s\n", g->file);
  }
  fclose(g->complaints);
  return failed ? APP_FAILED : APP_DONE;
}
