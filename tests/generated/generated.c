/* The files of docs/ that are made from the library's tables.
 *   generated ROOT           writes them
 *   generated --check ROOT   a line of TAP for each: is it what the tables say now?
 * ROOT: the project's folder. `make generated` runs the first, the test `generated` the second. */
#include "galpha/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *path;
  size_t (*write)(char *text, size_t size);
} FILES[] = {
    {"docs/model-format.md", ga_model_format_page},
    {"docs/model.schema.json", ga_model_schema},
};
enum { N_FILES = sizeof FILES / sizeof *FILES };

/* The text that the tables give; the caller frees it. */
static char *make_text(size_t (*write)(char *text, size_t size))
{
  const size_t size = write(NULL, 0) + 1;
  char *text = malloc(size);
  if (text) write(text, size);
  return text;
}

static int write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  const int written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written;
}

/* 1: the file has this text, and no more. */
static int has_text(const char *path, const char *text)
{
  const size_t n = strlen(text);
  char *kept = malloc(n + 1);
  FILE *file = kept ? fopen(path, "r") : NULL;
  const int same = file && fread(kept, 1, n + 1, file) == n && memcmp(kept, text, n) == 0;
  if (file) fclose(file);
  free(kept);
  return same;
}

int main(int argc, char **argv)
{
  const int check = argc == 3 && strcmp(argv[1], "--check") == 0;
  if (argc != 2 && !check) return fputs("usage: generated [--check] ROOT\n", stderr), 2;
  int n_failed = 0;
  for (int i = 0; i < N_FILES; i++) {
    char path[4096];
    char *text = make_text(FILES[i].write);
    snprintf(path, sizeof path, "%s/%s", argv[argc - 1], FILES[i].path);
    const int good = text && (check ? has_text(path, text) : write_text(path, text));
    if (check)
      printf("%s %d - %s is up to date%s\n", good ? "ok" : "not ok", i + 1, FILES[i].path,
             good ? "" : "\n# it is not what the library's tables say: run `make generated` and commit it");
    else if (!good)
      fprintf(stderr, "generated: cannot write %s\n", path);
    else
      printf("%s\n", FILES[i].path);
    n_failed += !good;
    free(text);
  }
  return n_failed > 0;
}
