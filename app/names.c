/* Names: the most similar one, and patterns. */
#define _POSIX_C_SOURCE 200809L
#include "app.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MOST_LETTERS = 64 }; /* further letters are ignored */

static int letters(const char *name)
{
  const size_t n = strlen(name);
  return n < MOST_LETTERS ? (int)n : MOST_LETTERS;
}

/* Levenshtein distance. */
static int distance(const char *a, const char *b)
{
  int row[MOST_LETTERS + 1];
  const int na = letters(a), nb = letters(b);
  for (int j = 0; j <= nb; j++) row[j] = j;
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0]; /* of the row above */
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      const int above = row[j], replaced = diagonal + (a[i - 1] != b[j - 1]);
      int best = (above < row[j - 1] ? above : row[j - 1]) + 1;
      if (replaced < best) best = replaced;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[nb];
}

/* Twice the distance; less one if one name contains the other. */
static int unlikeness(const char *name, const char *other)
{
  const int part = *name && *other && (strstr(other, name) || strstr(name, other));
  const int d = 2 * distance(name, other);
  return part && d > 1 ? d / 2 : d;
}

const char *app_nearest(const char *name, int n, app_name_fn at, const void *user)
{
  const char *nearest = NULL;
  int least = letters(name) + 3; /* 2 · distance: about half of the letters must be right */
  for (int i = 0; i < n; i++) {
    const char *other = at(user, i);
    const int d = other ? unlikeness(name, other) : least;
    if (d >= least) continue;
    least = d;
    nearest = other;
  }
  return nearest;
}

int app_matches(const char *pattern, const char *name)
{
  return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

int app_ends_in(const char *text, const char *ending)
{
  const size_t n = strlen(text), m = strlen(ending);
  return n > m && strcasecmp(text + n - m, ending) == 0;
}

int app_same_file(const char *a, const char *b)
{
  struct stat first, second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

char *app_beside(const char *model, const char *ending)
{
  const char *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model, *dot = strrchr(base, '.');
  const size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  char *file = malloc(n + strlen(ending) + 1);
  if (!file) return NULL;
  memcpy(file, base, n);
  strcpy(file + n, ending);
  return file;
}
