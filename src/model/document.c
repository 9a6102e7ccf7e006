/* A model from its files: includes, sections shared by several files, and their order. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "model/prescribe.h"
#include "model/source.h"

#include "mbs/name.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST_INCLUDE = 16, LONGEST_PATH = PATH_MAX, FIRST_CAPACITY = 16 };

static int no_memory(ga__reading *r)
{
  r->failed = 1;
  return 0;
}

/* Makes room for one more of n items; returns 0: out of memory, nothing is changed. */
static int reserve(ga_context *ctx, void **list, int n, int *capacity, size_t size)
{
  if (n < *capacity) return 1;
  if (*capacity > INT_MAX / 4) return 0;
  const int more = *capacity ? 2 * *capacity : FIRST_CAPACITY;
  char *bigger = ga__alloc(ctx, (size_t)more, size);
  if (!bigger) return 0;
  if (n > 0) memcpy(bigger, *list, (size_t)n * size);
  ga__free(ctx, *list);
  *list = bigger;
  *capacity = more;
  return 1;
}

/* ---- Sections ---- */

static int is_nothing(const ga__tree *tree)
{
  return tree->kind == GA__TREE_SCALAR && !tree->text[0] && !tree->quoted;
}

/* The section of that key. A new one gets the tree itself or, if as_map is 1, an empty map. */
static ga__section *open_section(ga__reading *r, ga__document *d, const ga__tree *head, int as_map,
                                 int *is_new)
{
  void *list = d->section;
  const int before = d->names.n;
  if (!reserve(d->ctx, &list, before, &d->section_capacity, sizeof *d->section)) return no_memory(r), NULL;
  d->section = list;
  ga__tree *tree = NULL;
  int i = ga__names_find(&d->names, head->key, strlen(head->key));
  *is_new = i < 0;
  if (i < 0) {
    tree = ga__pool_take(&d->pool, sizeof *tree);
    i = tree ? ga__names_add(&d->names, head->key) : -1;
    if (i < 0) return no_memory(r), NULL;
    *tree = *head;
    d->section[i] = (ga__section){.tree = tree, .names = {.ctx = d->ctx}};
  }
  ga__section *section = &d->section[i];
  if (as_map && (*is_new || is_nothing(section->tree))) {
    section->tree->kind = GA__TREE_MAP;
    section->tree->text = NULL;
    section->tree->n = 0;
    section->tree->child = NULL;
  }
  return section;
}

static void report_again(ga__reading *r, const ga__tree *first, const ga__tree *second, const char *section)
{
  char place[GA__PLACE_TEXT], name[GA_TEXT_PIECE], of[GA_TEXT_PIECE] = "", indexed[GA_TEXT_PIECE + 8];
  ga__name_quote(name, second->key, (int)strlen(second->key));
  if (section) ga__name_quote(of, section, (int)strlen(section));
  if (memcmp(&first->key_at, &second->key_at, sizeof first->key_at) == 0) {
    snprintf(indexed, sizeof indexed, "%s{i}", name);
    ga__report_error(r->messages, second->key_at, GA_REASON_REPEATED_NAME,
                     &(ga__facts){.name = name, .other = of, .expected = indexed});
  } else {
    ga__report_error(
        r->messages, second->key_at, GA_REASON_GIVEN_TWICE,
        &(ga__facts){.name = name, .other = of, .detail = ga__place_text(place, r->messages, first->key_at)});
  }
}

/* 1: file `outer` includes `inner`, directly or indirectly; numbers as in messages. */
static int is_included_by(const ga__document *d, int inner, int outer)
{
  int i = d->n_files - 1;
  while (i >= 0 && d->file[i].file != inner) i--;
  for (i = i >= 0 ? d->file[i].outer : -1; i >= 0; i = d->file[i].outer)
    if (d->file[i].file == outer) return 1;
  return 0;
}

/* For keys that a model has once: 1 if value `a` replaces `b`, since the file that includes overrides the
 * included one. */
static int overrides(const ga__document *d, const char *section, const ga__tree *b, const ga__tree *a)
{
  static const char *const once[] = {"title", "gravity", "form", "simulation"};
  size_t i = 0, n = sizeof once / sizeof once[0];
  while (i < n && strcmp(once[i], section) != 0) i++;
  return i < n && is_included_by(d, b->key_at.file, a->key_at.file);
}

ga__added ga__document_add(ga__reading *r, ga__document *d, const ga__tree *head, ga__tree *child)
{
  int is_new;
  ga__section *s = open_section(r, d, head, 1, &is_new);
  if (!s) return GA__FULL;
  if (s->tree->kind != GA__TREE_MAP) {
    report_again(r, s->tree, head, NULL);
    return GA__NOT_ADDED;
  }
  if (child->kind == GA__TREE_MAP && ++d->n_parts > r->opts->max_parts) {
    ga__report_error(r->messages, child->key_at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "parts", GA__NUMBERS({(double)r->opts->max_parts, NULL})});
    return GA__FULL;
  }
  void *list = s->child;
  const int n = s->tree->n, has_room = reserve(d->ctx, &list, n, &s->capacity, sizeof *s->child);
  s->child = list;
  s->tree->child = s->child;
  const int i = has_room ? ga__names_add(&s->names, child->key) : -1;
  if (i < 0) return no_memory(r), GA__FULL;
  if (i < n && overrides(d, head->key, s->child[i], child)) {
    s->child[i] = child;
    return GA__ADDED;
  }
  if (i < n && overrides(d, head->key, child, s->child[i])) return GA__ADDED; /* included by a condition */
  if (i < n) {
    report_again(r, s->child[i], child, head->key);
    return GA__NOT_ADDED;
  }
  s->child[s->tree->n++] = child;
  return GA__ADDED;
}

void ga__check_version(ga__reading *r, const ga__tree *tree)
{
  long number;
  const ga__concern outer = ga__messages_begin(r->messages, "the model", NULL);
  ga__messages_enter(r->messages, "galpha");
  if (ga__value_int(r, tree, INT_MIN, INT_MAX, &number) && number != 1)
    ga__report_range(r, tree, (double)number, NULL, "1, the version of the format");
  ga__messages_restore(r->messages, &outer);
}

/* 1: the entry is the version of an included file, which is checked here; that of the model itself later. */
static int is_version_of_included(ga__reading *r, const ga__document *d, const ga__tree *entry)
{
  if (strcmp(entry->key, "galpha") != 0 || entry->key_at.file == d->file[0].file) return 0;
  ga__check_version(r, entry);
  return 1;
}

/* Merges an entry of a file's root. Returns 0: reading cannot continue. */
static int merge_entry(ga__reading *r, ga__document *d, ga__tree *entry)
{
  int is_new;
  if (strcmp(entry->key, "include") == 0 || is_version_of_included(r, d, entry)) return 1;
  if (strcmp(entry->key, "repeat") == 0) {
    void *list = d->repeat;
    if (!reserve(d->ctx, &list, d->n_repeats, &d->repeat_capacity, sizeof *d->repeat)) return no_memory(r);
    d->repeat = list;
    d->repeat[d->n_repeats++] = entry;
    return 1;
  }
  const int is_map = entry->kind == GA__TREE_MAP;
  const ga__section *section = open_section(r, d, entry, is_map, &is_new);
  if (!section) return 0;
  if (is_map && entry->style != GA__STYLE_FLOW) section->tree->style = entry->style;
  ga__tree *tree = section->tree; /* the list of sections may move */
  if (!is_new && !is_map && tree->kind != GA__TREE_MAP && overrides(d, entry->key, tree, entry)) {
    *tree = *entry;
    return 1;
  }
  if (!is_new && !is_map && tree->kind != GA__TREE_MAP && overrides(d, entry->key, entry, tree)) return 1;
  if (!is_new && !is_nothing(entry) && !(is_map && tree->kind == GA__TREE_MAP)) {
    report_again(r, tree, entry, NULL);
    return 1;
  }
  for (int i = 0; is_map && i < entry->n; i++) {
    if (ga__document_add(r, d, entry, entry->child[i]) == GA__FULL) return 0;
  }
  return 1;
}

/* ---- Files ---- */

/* The text of all files, each below a line that names it. */
static int keep_text(ga__reading *r, ga__document *d, const char *name, const char *text, size_t length)
{
  static const char lead[] = "# ---- ", tail[] = " ----\n";
  const size_t needed = d->text_used + sizeof lead + strlen(name) + sizeof tail + length + 2;
  if (needed > d->text_size) {
    const size_t size = 2 * d->text_size > needed ? 2 * d->text_size : needed;
    char *bigger = ga__alloc(d->ctx, size, 1);
    if (!bigger) return no_memory(r);
    if (d->text_used > 0) memcpy(bigger, d->text, d->text_used);
    ga__free(d->ctx, d->text);
    d->text = bigger;
    d->text_size = size;
  }
  char *to = d->text + d->text_used;
  to += snprintf(to, d->text_size - d->text_used, "%s%s%s", lead, name, tail);
  if (length > 0) memcpy(to, text, length);
  to += length;
  if (length > 0 && text[length - 1] != '\n') *to++ = '\n';
  *to = '\0';
  d->text_used = (size_t)(to - d->text);
  return 1;
}

static void report_unread(ga__reading *r, ga__place from, const char *name, const char *why)
{
  ga__report_error(r->messages, from, GA_REASON_FILE_ACCESS,
                   &(ga__facts){.kind = "", .file = name, .name = "read", .detail = why});
}

void ga__file_load(ga__reading *r, const char *path, const char *name, ga__place from, char **text,
                   size_t *length)
{
  struct stat about;
  char piece[GA_TEXT_PIECE], too_large[GA_TEXT_PIECE];
  FILE *file = NULL;
  *text = NULL;
  ga__name_quote(piece, name, (int)strlen(name));
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
    report_unread(r, from, piece, "it is no file, but a folder or a device");
    return;
  }
  if (!(file = fopen(path, "rb"))) {
    report_unread(r, from, piece, strerror(errno));
    return;
  }
  if (fstat(fileno(file), &about) || !S_ISREG(about.st_mode) || (size_t)about.st_size > GA__LARGEST_FILE) {
    snprintf(too_large, sizeof too_large, "it is no file, or larger than %zu MB", GA__LARGEST_FILE >> 20);
    report_unread(r, from, piece, too_large);
  } else if (!(*text = ga__alloc(r->ctx, (size_t)about.st_size + 1, 1))) {
    r->failed = 1;
  } else {
    *length = fread(*text, 1, (size_t)about.st_size, file);
    if (ferror(file)) {
      report_unread(r, from, piece, strerror(errno));
      ga__free(r->ctx, *text);
      *text = NULL;
    }
    ga__model_source_add(r, path);
  }
  fclose(file);
}

void ga__file_digest(ga__reading *r, const char *path)
{
  static const uint64_t OFFSET = 14695981039346656037u, PRIME = 1099511628211u;
  unsigned char piece[4096];
  struct stat about;
  FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
  uint64_t sum = r->data ? r->data : OFFSET;
  if (file && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode))
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;)
      for (size_t i = 0; i < n; i++) sum = (sum ^ piece[i]) * PRIME;
  if (file) fclose(file);
  sum = (sum ^ 0x100) * PRIME; /* where it ends */
  r->data = sum ? sum : OFFSET;
  ga__model_source_add(r, path);
}

/* The tree of a text; NULL: nothing could be read. */
static ga__tree *parse_text(ga__reading *r, ga__document *d, int file, const char *text, size_t length)
{
  static const char mark[] = "\xEF\xBB\xBF"; /* byte order mark, which some editors write */
  const size_t lead = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  ga__tree *tree = NULL;
  text += lead;
  length -= lead;
  if (!keep_text(r, d, ga__messages_file(d->messages, file), text, length)) return NULL;
  const ga__concern outer = ga__messages_begin(r->messages, NULL, NULL);
  if (ga__tree_read(&d->forest, file, text, length, &tree)) no_memory(r);
  ga__messages_begin(r->messages, "the model", NULL);
  const int is_map = tree && ga__expect_map(r, tree);
  ga__messages_restore(r->messages, &outer);
  return is_map ? tree : NULL;
}

/* ---- Includes ---- */

/* out: `path` relative to the folder of `from`, without . and ..; returns 0: it leaves the model's folder, or
 * is too long. */
static int normalise(char out[LONGEST_PATH], const char *from, const char *path)
{
  const char *slash = strrchr(from, '/');
  size_t n = slash ? (size_t)(slash - from) : 0;
  memcpy(out, from, n);
  while (*path) {
    const size_t bytes = strcspn(path, "/");
    if (bytes == 2 && memcmp(path, "..", 2) == 0) {
      if (n == 0) return 0;
      while (n > 0 && out[n - 1] != '/') n--;
      if (n > 0) n--;
    } else if (bytes > 0 && !(bytes == 1 && path[0] == '.')) {
      if (n + bytes + 2 > LONGEST_PATH) return 0;
      if (n > 0) out[n++] = '/';
      memcpy(out + n, path, bytes);
      n += bytes;
    }
    path += bytes + (path[bytes] == '/');
  }
  out[n] = '\0';
  return n > 0;
}

/* 1: the path, with links resolved, is below the model's folder. */
static int is_inside(const ga__document *d, const char *real)
{
  const size_t n = strlen(d->real_folder);
  if (strncmp(real, d->real_folder, n) != 0) return 0;
  return d->real_folder[n - 1] == '/' || real[n] == '/';
}

static int find_file(const ga__document *d, const char *real)
{
  int i = 0;
  while (i < d->n_files && strcmp(d->file[i].real, real) != 0) i++;
  return i < d->n_files ? i : -1;
}

/* 1: the file was read before, or is being read, which is reported. */
static int is_known(ga__reading *r, const ga__document *d, const char *real, ga__place from)
{
  const int known = find_file(d, real);
  char place[GA__PLACE_TEXT], chain[GA_ERROR_TEXT];
  ga__writer w = {chain, sizeof chain, 0};
  if (known < 0) return 0;
  if (!d->file[known].reading) {
    ga__report_error(r->messages, from, GA_REASON_GIVEN_TWICE,
                     &(ga__facts){.name = d->file[known].path,
                                  .detail = ga__place_text(place, r->messages, d->file[known].from)});
    return 1;
  }
  /* From the innermost outwards, so the chain reads "is included by". */
  ga__write(&w, "it is included by ");
  for (int i = d->n_files - 1; i >= 0; i--) {
    if (d->file[i].file != from.file) continue;
    for (; i >= 0; i = d->file[i].outer) {
      ga__write(&w, "%s", d->file[i].path);
      if (i == known) break;
      ga__write(&w, ", which is included by ");
    }
    break;
  }
  ga__report_error(r->messages, from, GA_REASON_CIRCULAR,
                   &(ga__facts){.name = d->file[known].path, .detail = chain});
  return 1;
}

/* Checks the path of an include: returns what is wrong; NULL: nothing, and path and real are set. expected:
 * what would be right; NULL: the path is right, but the system cannot open it. */
static const char *check_path(const ga__document *d, const ga__file *outer, const char *text,
                              char path[LONGEST_PATH], char real[LONGEST_PATH], const char **expected)
{
  char named[LONGEST_PATH];
  *expected = "another name";
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c < 0x20u || *c == 0x7Fu) return "its name has control characters";
  *expected = "a path relative to this file's folder";
  if (text[0] == '/') return "it is an absolute path";
  *expected = "a file within it";
  if (!normalise(path, outer->path, text)) return "it is not within the model's folder";
  if (snprintf(named, sizeof named, "%s%s", d->folder, path) >= (int)sizeof named) {
    *expected = "a shorter one";
    return "its path is too long";
  }
  if (!realpath(named, real)) return *expected = NULL, strerror(errno);
  return is_inside(d, real) ? NULL : "a link leads out of the model's folder";
}

/* Finds an included file; returns 1: path and real are set, 0: reported, −1: it was read before. */
static int find_include(ga__reading *r, const ga__document *d, const ga__file *outer, const ga__tree *tree,
                        char path[LONGEST_PATH], char real[LONGEST_PATH])
{
  char piece[GA_TEXT_PIECE];
  const char *text, *expected = NULL;
  if (!ga__value_text(r, tree, &text)) return 0;
  ga__name_quote(piece, text, (int)strlen(text));
  const char *why = check_path(d, outer, text, path, real, &expected);
  if (!why) return is_known(r, d, real, tree->at) ? -1 : 1;
  if (expected)
    ga__report_error(r->messages, tree->at, GA_REASON_PATH_REFUSED,
                     &(ga__facts){.name = piece, .detail = why, .expected = expected});
  else
    report_unread(r, tree->at, path, why);
  return 0;
}

/* Adds a file to the list; −1: out of memory. */
static int add_file(ga__reading *r, ga__document *d, const char *path, const char *real, ga__place from,
                    int outer)
{
  char named[2 * LONGEST_PATH];
  void *list = d->file;
  if (!reserve(d->ctx, &list, d->n_files, &d->file_capacity, sizeof *d->file)) return no_memory(r) - 1;
  d->file = list;
  ga__file *f = &d->file[d->n_files];
  snprintf(named, sizeof named, "%s%s", d->folder ? d->folder : "", path);
  *f = (ga__file){.from = from, .outer = outer, .reading = 1};
  f->path = ga__pool_text(&d->pool, path, strlen(path));
  f->real = ga__pool_text(&d->pool, real, strlen(real));
  f->file = ga__messages_add_file(d->messages, named);
  if (!f->path || !f->real || f->file < 0) return no_memory(r) - 1;
  return d->n_files++;
}

static void merge_file(ga__reading *r, ga__document *d, int file, ga__tree *tree, int depth);

/* The tree of an included file, *file its index; NULL: nothing to merge, with *file −1 if it
 * was read before. */
static ga__tree *open_include(ga__reading *r, ga__document *d, int outer, const ga__tree *tree, int depth,
                              int *file)
{
  char path[LONGEST_PATH], real[LONGEST_PATH];
  char *text;
  size_t length = 0;
  *file = outer;
  if (depth > DEEPEST_INCLUDE) {
    ga__report_error(r->messages, tree->at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "levels of included files", GA__NUMBERS({DEEPEST_INCLUDE, NULL})});
    return NULL;
  }
  const int found = find_include(r, d, &d->file[outer], tree, path, real);
  if (found < 0) *file = -1;
  if (found <= 0) return NULL;
  ga__file_load(r, real, path, tree->at, &text, &length);
  if (!text) return NULL;
  *file = add_file(r, d, path, real, tree->at, outer);
  ga__tree *root = *file >= 0 ? parse_text(r, d, d->file[*file].file, text, length) : NULL;
  ga__free(r->ctx, text);
  return root;
}

/* Includes one file. Its errors are reported first, since others may follow from them. */
static void include_one(ga__reading *r, ga__document *d, int outer, const ga__tree *tree, int depth)
{
  int file;
  const int said = ga__messages_count(r->messages);
  ga__tree *root = open_include(r, d, outer, tree, depth, &file);
  if (!root && file >= 0) {
    ga__messages_lead(r->messages, said);
    r->incomplete = 1;
  }
  if (root) merge_file(r, d, file, root, depth);
  if (file >= 0 && file != outer) d->file[file].reading = 0;
}

void ga__document_include(ga__reading *r, ga__document *d, int outer, const ga__tree *path, int depth)
{
  const ga__concern before = ga__messages_begin(r->messages, "include", NULL);
  include_one(r, d, outer, path, depth);
  ga__messages_restore(r->messages, &before);
}

/* An entry of `include`: a path, or a map with a path and a condition, which waits for parameters. */
static void include_entry(ga__reading *r, ga__document *d, int outer, ga__tree *entry, int depth)
{
  static const char *const keys[] = {"file", "if"};
  if (entry->kind != GA__TREE_MAP) {
    include_one(r, d, outer, entry, depth);
    return;
  }
  const ga__tree *file = ga__map_get(entry, "file"), *condition = ga__map_get(entry, "if");
  const char *text;
  ga__unknown_keys(r, entry, 2, keys);
  if (!file) {
    ga__report_error(r->messages, entry->at, GA_REASON_KEY_MISSING, &(ga__facts){.field = "file"});
    r->incomplete = 1;
    return;
  }
  if (!condition) {
    include_one(r, d, outer, file, depth);
    return;
  }
  if (!ga__value_text(r, file, &text)) return;
  void *list = d->conditional;
  if (!reserve(d->ctx, &list, d->n_conditional, &d->conditional_capacity, sizeof *d->conditional)) {
    no_memory(r);
    return;
  }
  d->conditional = list;
  d->conditional[d->n_conditional++] = (ga__conditional){file, condition, outer, depth};
}

/* Merges a file, after the files that it includes. */
static void merge_file(ga__reading *r, ga__document *d, int file, ga__tree *tree, int depth)
{
  ga__tree *include = ga__map_get(tree, "include");
  const ga__concern outer = ga__messages_begin(r->messages, "include", NULL);
  if (include && !d->folder) {
    ga__report_error(r->messages, include->key_at, GA_REASON_NO_FOLDER,
                     &(ga__facts){.name = "included files"});
  } else if (include && include->kind != GA__TREE_LIST) {
    include_entry(r, d, file, include, depth + 1);
  } else if (include) {
    for (int i = 0; i < include->n && !r->failed; i++)
      include_entry(r, d, file, include->child[i], depth + 1);
  }
  ga__messages_begin(r->messages, NULL, NULL);
  for (int i = 0; i < tree->n && !r->failed; i++) {
    if (!merge_entry(r, d, tree->child[i])) break;
  }
  ga__messages_restore(r->messages, &outer);
}

/* ---- Documents ---- */

/* Finds the model's folder, as given and with links resolved. Returns 0: out of memory. */
static int find_folder(ga__reading *r, ga__document *d, const char *path)
{
  char real[LONGEST_PATH];
  const char *slash = strrchr(path, '/');
  d->folder = ga__pool_text(&d->pool, path, slash ? (size_t)(slash - path) + 1 : 0);
  if (!d->folder) return no_memory(r);
  if (!realpath(d->folder[0] ? d->folder : ".", real)) real[0] = '\0';
  d->real_folder = ga__pool_text(&d->pool, real[0] ? real : "/", strlen(real[0] ? real : "/"));
  return d->real_folder ? 1 : no_memory(r);
}

static ga__tree *read_main(ga__reading *r, ga__document *d, const char *path, const char *name,
                           const char *text, size_t length)
{
  char real[LONGEST_PATH] = "", *loaded = NULL;
  if (path && !find_folder(r, d, path)) return NULL;
  if (path && !realpath(path, real)) real[0] = '\0'; /* ga__file_load() will say why */
  const char *base = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  const int i = add_file(r, d, path ? base : name ? name : "", real, GA__NOWHERE, -1);
  if (i < 0) return NULL;
  const ga__place whole = {d->file[i].file, 0, 0};
  if (path) ga__file_load(r, path, path, whole, &loaded, &length);
  if (path && !loaded) return NULL;
  ga__tree *root = parse_text(r, d, d->file[i].file, path ? loaded : text, length);
  ga__free(r->ctx, loaded);
  if (root) d->root.at = root->at;
  return root;
}

/* Removes and returns a section. */
static ga__tree *take_section(ga__document *d, const char *key)
{
  const int i = ga__names_find(&d->names, key, strlen(key));
  if (i < 0) return NULL;
  d->section[i].tree->used = 1;
  return d->section[i].tree;
}

ga__tree *ga__document_parameters(ga__document *d)
{
  return take_section(d, "parameters");
}

/* Marks the present entries as given by files; later ones come from repeats. */
static void mark_given(ga__document *d, const ga__tree *root)
{
  d->main = root;
  d->n_given = d->names.n;
  for (int i = 0; i < d->names.n; i++) d->section[i].n_given = d->section[i].tree->n;
}

/* Makes the root from the present sections. */
static int make_root(ga__reading *r, ga__document *d, const ga__tree *without)
{
  d->root.kind = GA__TREE_MAP;
  d->root.child = ga__pool_take(&d->pool, (size_t)d->names.n * sizeof *d->root.child);
  if (!d->root.child) return no_memory(r);
  for (int i = 0; i < d->names.n; i++) {
    if (d->section[i].tree != without) d->root.child[d->root.n++] = d->section[i].chosen;
  }
  return 1;
}

ga__document *ga__document_read(ga__reading *r, const char *path, const char *name, const char *text,
                                size_t length)
{
  ga__document *d = ga__alloc(r->ctx, 1, sizeof *d);
  if (!d) return no_memory(r), NULL;
  d->ctx = d->pool.ctx = d->names.ctx = r->ctx;
  d->messages = r->messages;
  d->forest = (ga__forest){&d->pool, r->messages, GA__TREE_NODES, GA__TREE_ALIASED};
  r->pool = &d->pool;
  r->parameters = NULL;
  ga__tree *root = read_main(r, d, path, name, text, length);
  ga__tree *parameters = NULL;
  if (root) merge_file(r, d, 0, root, 0);
  if (root && !r->failed) ga__conditional_includes(r, d);
  if (root && !r->failed) {
    if (r->opts->n_prescribe > 0) ga__prescribe_drives(r, d);
    mark_given(d, root);
    parameters = take_section(d, "parameters");
    d->parameters = ga__parameters_read(r, parameters);
    if (d->parameters) ga__conditions_use(r, d);
  }
  for (int i = 0; root && i < d->n_repeats && !r->failed; i++) ga__repeat_expand(r, d, d->repeat[i]);
  if (root && !r->failed && r->opts->n_prescribe > 0) ga__prescribe_rest(r, d);
  if (root && !r->failed) ga__conditions_apply(r, d);
  if (root && !r->failed) make_root(r, d, parameters);
  if (!root || r->failed) {
    ga__document_destroy(r->ctx, &d);
    r->parameters = NULL;
    r->pool = NULL;
  }
  return d;
}

void ga__document_destroy(ga_context *ctx, ga__document **d)
{
  if (!d || !*d) return;
  ga__document *old = *d;
  ga__parameters_destroy(ctx, &old->parameters);
  for (int i = 0; i < old->names.n; i++) {
    ga__names_destroy(&old->section[i].names);
    ga__free(ctx, old->section[i].child);
  }
  ga__names_destroy(&old->names);
  ga__free(ctx, old->section);
  ga__free(ctx, old->repeat);
  ga__free(ctx, old->conditional);
  ga__free(ctx, old->file);
  ga__free(ctx, old->text);
  ga__pool_destroy(&old->pool);
  ga__free(ctx, old);
  *d = NULL;
}

ga__tree *ga__document_root(ga__document *d)
{
  return &d->root;
}

int ga__document_has_includes(const ga__document *d)
{
  return d->n_files > 1 || d->n_conditional > 0;
}

const char *ga__document_text(const ga__document *d)
{
  return d->text ? d->text : "";
}
