/* Documents as one YAML text, by libyaml's emitter. The trees have all texts as they were read, so nothing
 * here depends on particular keys. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "model/document.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

enum { INDENT = 2, LONGEST_LINE = 120, FIRST_TEXT = 4096, NUMBER = 32 };

typedef struct output {
  ga_context *ctx;
  yaml_emitter_t emitter;
  char *text;
  size_t used, size, most;
  int too_long; /* more than most */
} output;

/* ---- The text ---- */

static int grow(output *o, size_t needed)
{
  size_t size = o->size ? o->size : FIRST_TEXT;
  while (size < needed) size *= 2;
  char *bigger = ga__alloc(o->ctx, size, 1);
  if (!bigger) return 0;
  if (o->used > 0) memcpy(bigger, o->text, o->used);
  ga__free(o->ctx, o->text);
  o->text = bigger;
  o->size = size;
  return 1;
}

/* Receives a piece of text from libyaml; returns 0: stop. */
static int take_piece(void *user, unsigned char *piece, size_t bytes)
{
  output *o = user;
  if (bytes > o->most - o->used) {
    o->too_long = 1;
    return 0;
  }
  if (o->used + bytes >= o->size && !grow(o, o->used + bytes + 1)) return 0;
  memcpy(o->text + o->used, piece, bytes);
  o->used += bytes;
  return 1;
}

/* Emits an event, if it could be created; the emitter frees it in any case. */
static int send(output *o, int made, yaml_event_t *event)
{
  return made && yaml_emitter_emit(&o->emitter, event);
}

/* ---- Scalars ---- */

/* 1: the text has Unicode line breaks, which not every reader treats as such, so they are
 * written as escapes. */
static int has_odd_break(const char *text)
{
  return strstr(text, "\xE2\x80\xA8") || strstr(text, "\xE2\x80\xA9");
}

/* The original style, if it is still valid; the emitter adds quotes where they are needed. */
static yaml_scalar_style_t scalar_style(const char *text, ga__tree_style style)
{
  const int odd = has_odd_break(text);
  if (style == GA__STYLE_LINES && !odd) return YAML_LITERAL_SCALAR_STYLE;
  if (style == GA__STYLE_LINES || style == GA__STYLE_DOUBLE || odd || strchr(text, '\n'))
    return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  if (ga__tree_is_null(text)) return YAML_SINGLE_QUOTED_SCALAR_STYLE;
  return style == GA__STYLE_SINGLE ? YAML_SINGLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
}

static int put_text(output *o, const char *text, ga__tree_style style)
{
  yaml_event_t event;
  const size_t bytes = strlen(text);
  const int made =
      bytes <= INT_MAX && yaml_scalar_event_initialize(&event, NULL, NULL, (const unsigned char *)text,
                                                       (int)bytes, 1, 1, scalar_style(text, style));
  return send(o, made, &event);
}

/* Writes a key; "<<" in quotes, since it would be a merge key otherwise. */
static int put_key(output *o, const ga__tree *tree)
{
  const int merges = strcmp(tree->key, "<<") == 0 && tree->key_style == GA__STYLE_PLAIN;
  return put_text(o, tree->key, merges ? GA__STYLE_SINGLE : tree->key_style);
}

/* ---- Lists and maps ---- */

static int columns(const char *text)
{
  int n = 0;
  for (; *text && n <= LONGEST_LINE; text++) n += ((unsigned char)*text & 0xC0u) != 0x80u;
  return n;
}

/* 1: it fits into one line. Quotes do not count: they may differ when the text is read and written again, and
 * the result must be the same. */
static int fits(const ga__tree *tree, int *room)
{
  if (tree->kind == GA__TREE_SCALAR) {
    *room -= columns(tree->text);
    return tree->style != GA__STYLE_LINES && *room >= 0;
  }
  int good = tree->style == GA__STYLE_FLOW;
  *room -= 2;
  for (int i = 0; i < tree->n && good; i++) {
    if (tree->child[i]->key) *room -= columns(tree->child[i]->key) + 2;
    *room -= 2;
    good = *room >= 0 && fits(tree->child[i], room);
  }
  return good && *room >= 0;
}

static int open_list(output *o, int flow)
{
  yaml_event_t event;
  const int made = yaml_sequence_start_event_initialize(
      &event, NULL, NULL, 1, flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE);
  return send(o, made, &event);
}

static int close_list(output *o)
{
  yaml_event_t event;
  return send(o, yaml_sequence_end_event_initialize(&event), &event);
}

static int open_map(output *o, int flow)
{
  yaml_event_t event;
  const int made = yaml_mapping_start_event_initialize(
      &event, NULL, NULL, 1, flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE);
  return send(o, made, &event);
}

static int close_map(output *o)
{
  yaml_event_t event;
  return send(o, yaml_mapping_end_event_initialize(&event), &event);
}

/* A value that begins in this column, in lines of this indentation. */
static int put_tree(output *o, const ga__tree *tree, int column, int indent)
{
  int room = LONGEST_LINE - column;
  if (tree->kind == GA__TREE_SCALAR) return put_text(o, tree->text, tree->style);
  const int is_map = tree->kind == GA__TREE_MAP, flow = fits(tree, &room), inner = indent + INDENT;
  int good = is_map ? open_map(o, flow) : open_list(o, flow);
  for (int i = 0; i < tree->n && good; i++) {
    const ga__tree *child = tree->child[i];
    if (is_map) good = put_key(o, child);
    good = good && put_tree(o, child, inner + (is_map ? columns(child->key) + 2 : 0), inner);
  }
  return good && (is_map ? close_map(o) : close_list(o));
}

static int put_entry(output *o, const ga__tree *tree)
{
  return put_key(o, tree) && put_tree(o, tree, columns(tree->key) + 2, 0);
}

/* ---- Documents ---- */

/* Writes the repeats of all files as one list. */
static int put_repeats(output *o, const ga__document *d)
{
  if (d->n_repeats == 0) return 1;
  if (d->n_repeats == 1) return put_entry(o, d->repeat[0]);
  int good = put_key(o, d->repeat[0]) && open_list(o, 0);
  for (int i = 0; i < d->n_repeats && good; i++) {
    const ga__tree *entry = d->repeat[i];
    if (entry->kind != GA__TREE_LIST) good = put_tree(o, entry, INDENT, INDENT);
    for (int k = 0; entry->kind == GA__TREE_LIST && k < entry->n && good; k++)
      good = put_tree(o, entry->child[k], INDENT, INDENT);
  }
  return good && close_list(o);
}

/* Writes a section without the parts added by repeats. */
static int put_section(output *o, const ga__section *section)
{
  ga__tree tree = *section->tree;
  if (tree.kind == GA__TREE_MAP) tree.n = section->n_given;
  return put_entry(o, &tree);
}

static int find_key(const ga__tree *map, const char *key)
{
  for (int i = 0; i < map->n; i++)
    if (strcmp(map->child[i]->key, key) == 0) return 1;
  return 0;
}

/* Sections that the model's own file does not have: of included files, or of prescribed motions. */
static int put_others(output *o, const ga__document *d)
{
  int good = 1;
  for (int i = 0; i < d->n_given && good; i++)
    if (!find_key(d->main, d->section[i].tree->key)) good = put_section(o, &d->section[i]);
  return good;
}

/* What only included files have. */
static int put_included(output *o, const ga__document *d)
{
  return put_others(o, d) && (find_key(d->main, "repeat") || put_repeats(o, d));
}

/* Writes sections in the order of the model's own file; those of included files at its key `include`. */
static int put_sections(output *o, const ga__document *d)
{
  int good = 1;
  for (int i = 0; i < d->main->n && good; i++) {
    const char *key = d->main->child[i]->key;
    const int section = ga__names_find(&d->names, key, strlen(key));
    if (strcmp(key, "include") == 0)
      good = put_included(o, d);
    else if (strcmp(key, "repeat") == 0)
      good = put_repeats(o, d);
    else if (section >= 0)
      good = put_section(o, &d->section[section]);
  }
  return good && (find_key(d->main, "include") || put_others(o, d));
}

static int put_document(output *o, const ga__document *d)
{
  yaml_event_t event;
  return send(o, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event) &&
         send(o, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event) &&
         open_map(o, 0) && put_sections(o, d) && close_map(o) &&
         send(o, yaml_document_end_event_initialize(&event, 1), &event) &&
         send(o, yaml_stream_end_event_initialize(&event), &event);
}

ga_status ga__document_write(const ga__document *d, size_t most, char **text, size_t *length)
{
  output o = {.ctx = d->ctx, .most = most};
  if (!yaml_emitter_initialize(&o.emitter)) return ga__no_memory(d->ctx, "writing a model");
  yaml_emitter_set_output(&o.emitter, take_piece, &o);
  yaml_emitter_set_encoding(&o.emitter, YAML_UTF8_ENCODING);
  yaml_emitter_set_unicode(&o.emitter, 1);
  yaml_emitter_set_indent(&o.emitter, INDENT);
  yaml_emitter_set_width(&o.emitter, -1); /* texts are never broken */
  const int good = put_document(&o, d);
  yaml_emitter_delete(&o.emitter);
  if (good) {
    o.text[o.used] = '\0';
    *text = o.text;
    *length = o.used;
    return GA_OK;
  }
  ga__free(d->ctx, o.text);
  if (o.too_long)
    return ga__refuse(d->ctx, GA_ERR_ARGUMENT, GA_REASON_LIMIT_EXCEEDED,
                      &(ga__facts){.name = "bytes in the model as one text",
                                   GA__NUMBERS({(double)most, NULL}),
                                   .detail = "aliases are written out"});
  return ga__no_memory(d->ctx, "writing a model");
}

/* ---- Text for result files ---- */

/* Length of a line break at this position, one of libyaml's five kinds; 0: none. */
static size_t break_length(const char *text)
{
  if (text[0] == '\r') return text[1] == '\n' ? 2 : 1;
  if (text[0] == '\n') return 1;
  if (strncmp(text, "\xC2\x85", 2) == 0) return 2;
  return strncmp(text, "\xE2\x80\xA8", 3) == 0 || strncmp(text, "\xE2\x80\xA9", 3) == 0 ? 3 : 0;
}

/* Every line as a comment. */
static void write_comments(ga__writer *w, const char *text)
{
  while (*text) {
    size_t bytes = 0;
    while (text[bytes] && !break_length(text + bytes)) bytes++;
    ga__write(w, "#%s%.*s\n", bytes ? " " : "", (int)bytes, text);
    text += bytes;
    text += break_length(text);
  }
}

char *ga__document_keep(const ga__document *d, const char *written, size_t length)
{
  ga__writer count = {0};
  write_comments(&count, ga__document_text(d));
  char *text = ga__alloc(d->ctx, length + count.used + 2, 1);
  if (!text) return NULL;
  memcpy(text, written, length);
  text[length] = '\n';
  ga__writer w = {text + length + 1, count.used + 1, 0};
  write_comments(&w, ga__document_text(d));
  return text;
}

/* ---- Files ---- */

/* Returns 0 or errno. */
static int write_bytes(const char *path, const char *mode, const char *text, size_t length)
{
  FILE *file = fopen(path, mode);
  int error = 0;
  if (!file) return errno ? errno : EIO;
  errno = 0;
  if (fwrite(text, 1, length, file) != length || fflush(file)) error = errno ? errno : EIO;
  if (fclose(file) && !error) error = errno ? errno : EIO;
  return error;
}

/* Writes a temporary file first and renames it, unless the file is a device or a pipe. A symbolic link is
 * kept. */
ga_status ga__document_save(const ga__document *d, const char *path, const char *text, size_t length)
{
  char real[PATH_MAX];
  struct stat now;
  const char *target = realpath(path, real) ? real : path;
  const int straight = lstat(target, &now) == 0 && !S_ISREG(now.st_mode);
  const size_t size = strlen(target) + NUMBER;
  char *hidden = ga__alloc(d->ctx, size, 1);
  if (!hidden) return ga__no_memory(d->ctx, "the name of a file");
  snprintf(hidden, size, "%s.%ld.part", target, (long)getpid());
  int error = straight ? write_bytes(target, "w", text, length) : write_bytes(hidden, "wx", text, length);
  if (!straight && !error && rename(hidden, target)) error = errno;
  if (!straight && error && error != EEXIST) remove(hidden);
  ga__free(d->ctx, hidden);
  return error ? ga__refuse(d->ctx, GA_ERR_FILE, GA_REASON_FILE_ACCESS,
                            &(ga__facts){.file = path, .name = "written", .detail = strerror(error)})
               : GA_OK;
}
