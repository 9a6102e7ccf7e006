#define _GNU_SOURCE /* popen, strcasecmp */
#include "plot.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

typedef struct terminal {
  const char *ending, *name, *more;
  double scale; /* pixels for one of the .svg */
} terminal;

static const terminal terminals[] = {{".svg", "svg", "font 'sans,14' background rgb 'white'", 1.0},
                                     {".png", "pngcairo", "font 'sans,18'", 1.5}};

/* NULL where the ending is not known. */
static const terminal *terminal_of(const char *file)
{
  const char *ending = strrchr(file, '.');
  for (size_t i = 0; ending && i < sizeof terminals / sizeof *terminals; i++)
    if (strcasecmp(ending, terminals[i].ending) == 0) return &terminals[i];
  return NULL;
}

int ex_plot_knows(const char *file)
{
  return terminal_of(file) != NULL;
}

/* A quote within the text is doubled. */
void ex_plot_quoted(FILE *gnuplot, const char *text)
{
  fputc('\'', gnuplot);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', gnuplot);
    fputc(*text, gnuplot);
  }
  fputc('\'', gnuplot);
}

FILE *ex_plot_open(const char *file, int width, int height)
{
  const terminal *t = terminal_of(file);
  if (!t) {
    fprintf(stderr, "no picture: \"%s\" ends neither in .svg nor in .png\n", file);
    return NULL;
  }
  signal(SIGPIPE, SIG_IGN); /* a gnuplot that is not there must not end us */
  /* Where it cannot open its file, gnuplot would draw on the standard output. */
  FILE *gnuplot = popen("gnuplot > /dev/null", "w");
  if (!gnuplot) {
    fprintf(stderr, "cannot start gnuplot: %s\n", strerror(errno));
    return NULL;
  }
  fprintf(gnuplot, "set terminal %s size %.0f,%.0f %s\nset output ", t->name, t->scale * width,
          t->scale * height, t->more);
  ex_plot_quoted(gnuplot, file);
  fputc('\n', gnuplot);
  return gnuplot;
}

int ex_plot_close(FILE *gnuplot, const char *file)
{
  const int status = pclose(gnuplot);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    printf("\npicture: %s\n", file);
    return 0;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    fprintf(stderr, "no picture: gnuplot is not installed (apt-get install gnuplot)\n");
  else
    fprintf(stderr, "no picture: gnuplot could not make %s\n", file);
  return -1;
}
