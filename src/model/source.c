/* The files that a model was made of. */
#define _XOPEN_SOURCE 700 /* stat */
#define _DARWIN_C_SOURCE  /* st_mtimespec */
#include "model/source.h"

#include <string.h>
#include <sys/stat.h>

struct ga__model_source {
  dev_t device;
  ino_t number;
  off_t size;
  struct timespec changed;
  const char *path;
  ga__model_source *next;
};

static struct timespec last_change(const struct stat *about)
{
#ifdef __APPLE__
  return about->st_mtimespec;
#else
  return about->st_mtim;
#endif
}

static int is_same(const ga__model_source *s, const struct stat *about)
{
  return s->device == about->st_dev && s->number == about->st_ino;
}

void ga__model_source_add(ga__reading *r, const char *path)
{
  struct stat about;
  if (!r->pool || stat(path, &about)) return;
  for (const ga__model_source *s = r->sources; s; s = s->next)
    if (is_same(s, &about)) return;
  ga__model_source *added = ga__pool_take(r->pool, sizeof *added);
  const char *kept = added ? ga__pool_text(r->pool, path, strlen(path)) : NULL;
  if (!kept) {
    r->failed = 1;
    return;
  }
  *added =
      (ga__model_source){about.st_dev, about.st_ino, about.st_size, last_change(&about), kept, r->sources};
  r->sources = added;
}

int ga__model_source_has(const ga__model_source *first, const char *path)
{
  struct stat about;
  if (!first || stat(path, &about)) return 0;
  for (const ga__model_source *s = first; s; s = s->next)
    if (is_same(s, &about)) return 1;
  return 0;
}

int ga__model_source_changed(const ga__model_source *first)
{
  for (const ga__model_source *s = first; s; s = s->next) {
    struct stat about;
    if (stat(s->path, &about) || !is_same(s, &about) || about.st_size != s->size) return 1;
    const struct timespec changed = last_change(&about);
    if (changed.tv_sec != s->changed.tv_sec || changed.tv_nsec != s->changed.tv_nsec) return 1;
  }
  return 0;
}
