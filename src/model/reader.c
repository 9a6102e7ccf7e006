/* Names of parts and functions, and what a machine borrows. */
#include "model/reader.h"

#include <string.h>

/* ---- Names ---- */

ga__named *ga__directory_find(const ga__directory *d, const char *name, size_t bytes)
{
  const int i = ga__names_find(&d->names, name, bytes);
  return i >= 0 ? &d->list[i] : NULL;
}

ga__named *ga__directory_head(const ga__directory *d, const char *name, size_t bytes)
{
  ga__named *found = ga__directory_find(d, name, bytes);
  for (size_t n = bytes; !found && n > 0; n--)
    if (name[n - 1] == '.') found = ga__directory_find(d, name, n - 1);
  return found;
}

/* ---- Memory ---- */

struct ga__kept {
  void *thing;
  void (*release)(void *thing);
  struct ga__kept *next;
};

int ga__keep(ga__reader *reader, void *thing, void (*release)(void *thing))
{
  struct ga__kept *kept = ga__room(reader, 1, sizeof *kept);
  if (!kept) {
    release(thing);
    return 0;
  }
  *kept = (struct ga__kept){thing, release, reader->kept};
  reader->kept = kept;
  return 1;
}

void ga__release_kept(struct ga__kept **kept)
{
  for (struct ga__kept *k = *kept; k; k = k->next) k->release(k->thing);
  *kept = NULL;
}

void *ga__room(ga__reader *reader, size_t count, size_t size)
{
  void *block = size && count > (size_t)-1 / size ? NULL : ga__pool_take(reader->r->pool, count * size);
  if (!block) reader->r->failed = 1;
  return block;
}

void ga__report_status(ga__reader *reader, ga__place at, ga_status status)
{
  if (status == GA_ERR_MEMORY)
    reader->r->failed = 1;
  else
    ga__report_refused(reader->r->messages, GA_MESSAGE_ERROR, at, &reader->r->ctx->error);
}

int ga__leaves_folder(const char *path)
{
  if (path[0] == '/') return 1;
  for (const char *p = path; p; p = strchr(p, '/')) {
    p += p != path;
    if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || !p[2])) return 1;
    if (!strchr(p, '/')) break;
  }
  return 0;
}
