/* papers_page PAGE: docs/papers.md has each figure, scheme and erratum of the tables of papers/ as a row, and
 * no other. */
#include "papers_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_checks, n_failed;

static void report(int good, const char *what, const char *problem)
{
  n_failed += !good;
  printf("%s %d - %s\n", good ? "ok" : "not ok", ++n_checks, what);
  if (!good) printf("# missing in the page, or another: %s\n", problem);
}

static char *read_page(const char *path)
{
  enum { MOST = 1 << 20 };
  FILE *file = fopen(path, "rb");
  char *text = file ? calloc(1, MOST) : NULL;
  if (text) fread(text, 1, MOST - 1, file);
  if (file) fclose(file);
  return text;
}

/* Lines that begin so, of the part of a page under a heading. */
static int count_lines(const char *page, const char *heading, const char *start)
{
  const char *from = strstr(page, heading), *end = from ? strstr(from + 1, "\n## ") : NULL;
  int n = 0;
  for (const char *line = from; line && (!end || line < end); line = strchr(line + 1, '\n'))
    n += strncmp(line + 1, start, strlen(start)) == 0;
  return n;
}

static void check_row(const char *page, const char *row)
{
  report(strstr(page, row) != NULL, "a row of the tables is in the page", row);
}

static void check_count(const char *page, const char *heading, const char *start, int expected)
{
  char problem[128];
  const int n = count_lines(page, heading, start);
  snprintf(problem, sizeof problem, "%d rows instead of %d", n, expected);
  report(n == expected, heading, problem);
}

int main(int argc, char **argv)
{
  char *page = argc == 2 ? read_page(argv[1]) : NULL, row[1024], title[256];
  const pp_figure *f;
  const pp_scheme *s;
  const pp_erratum *e;
  int n;
  if (!page) return fputs("usage: papers_page docs/papers.md\n", stderr), 2;
  for (n = 0; (f = pp_figure_at(n)) != NULL; n++) {
    pp_plain(title, sizeof title, f->title);
    snprintf(row, sizeof row, "\n| `%s` | %s |\n", f->name, title);
    check_row(page, row);
  }
  check_count(page, "# The papers", "| `", n);
  for (n = 0; (s = pp_scheme_at(n)) != NULL; n++) {
    snprintf(row, sizeof row, "\n| %s | %s | `%s` | %s |\n", s->paper, s->scheme, s->options, s->note);
    check_row(page, row);
  }
  check_count(page, "\n## From a paper to options", "| 0", n);
  for (n = 0; (e = pp_erratum_at(n)) != NULL; n++) {
    snprintf(row, sizeof row, "\n- %s: %s\n", e->paper, e->text);
    check_row(page, row);
  }
  check_count(page, "\n## What is wrong in the papers", "- ", n);
  free(page);
  printf("1..%d\n", n_checks);
  return n_failed > 0;
}
