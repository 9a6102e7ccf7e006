/* The files that a model was made of. */
#define _XOPEN_SOURCE 700 /* stat */
#include "model/source.h"

#include <sys/stat.h>

struct ga__model_source {
  dev_t device;
  ino_t number;
  ga__model_source *next;
};

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
  if (!added) {
    r->failed = 1;
    return;
  }
  *added = (ga__model_source){about.st_dev, about.st_ino, r->sources};
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
