/* Repeats: parts that are written once and created many times. Values that depend on the index are copied;
 * others are shared by all copies. */
#include "model/document.h"

#include "mbs/name.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
  DEEPEST = 8,            /* repeats within repeats */
  MOST_COPIED = 20000000, /* values, lists and maps */
  MOST_DIGITS = 15
};
static const long largest_index = 1000000000000000;

typedef struct expansion {
  ga__reading *r;
  ga__document *d;
  const ga__tree *spec; /* the outermost, for messages */
  int stopped;
} expansion;

static void stop_for_memory(expansion *x)
{
  x->r->failed = 1;
  x->stopped = 1;
}

/* ---- Texts with {i} ---- */

/* The fast case: index, index+1, index-1. */
static int read_simple(const char *inner, size_t bytes, const ga__scope *scope, long *value)
{
  const int name = ga__name_length(inner);
  if (name == 0 || (size_t)name > bytes) return 0;
  while (scope && (strncmp(scope->name, inner, (size_t)name) != 0 || scope->name[name])) scope = scope->outer;
  if (!scope) return 0;
  *value = scope->value;
  if ((size_t)name == bytes) return 1;
  const char sign = inner[name];
  const size_t digits = bytes - (size_t)name - 1;
  long offset = 0;
  if ((sign != '+' && sign != '-') || digits == 0 || digits > MOST_DIGITS) return 0;
  for (size_t i = 0; i < digits; i++) {
    const char c = inner[(size_t)name + 1 + i];
    if (c < '0' || c > '9') return 0;
    offset = 10 * offset + (c - '0');
  }
  *value += sign == '+' ? offset : -offset;
  return 1;
}

/* A whole number from any expression in indices and parameters. */
static int read_inner(expansion *x, const char *inner, size_t bytes, const ga__scope *scope, ga__place at,
                      long *value)
{
  char piece[GA_TEXT_PIECE], key[GA_TEXT_PIECE + 8];
  if (read_simple(inner, bytes, scope, value)) return 1;
  ga__tree tree = {.kind = GA__TREE_SCALAR, .at = at, .scope = scope};
  tree.text = ga__pool_text(&x->d->pool, inner, bytes);
  if (!tree.text) return stop_for_memory(x), 0;
  ga__name_quote(piece, inner, bytes < INT_MAX ? (int)bytes : INT_MAX);
  snprintf(key, sizeof key, "{%s}", piece);
  const size_t before = ga__messages_enter(x->r->messages, key);
  const int good = ga__value_int(x->r, &tree, -largest_index, largest_index, value);
  ga__messages_leave(x->r->messages, before);
  return good;
}

/* Replaces {...} by its value; {{ and }} are the braces themselves. Returns 0: an error was reported. */
static int write_replaced(expansion *x, const char *text, const ga__scope *scope, ga__place at, ga__writer *w)
{
  while (*text) {
    const size_t plain = strcspn(text, "{}");
    ga__write(w, "%.*s", (int)plain, text);
    text += plain;
    if (!*text) break;
    if (text[0] == text[1] || text[0] == '}') {
      ga__write(w, "%c", text[0]);
      text += text[0] == text[1] ? 2 : 1;
      continue;
    }
    const char *end = strchr(text, '}');
    long value;
    if (!end) {
      ga__report_error(x->r->messages, at, GA_REASON_SYNTAX,
                       &(ga__facts){.within = text,
                                    .detail = "a brace is opened and never closed",
                                    .expected = "'}'; '{{' stands for a brace itself"});
      return 0;
    }
    if (!read_inner(x, text + 1, (size_t)(end - text) - 1, scope, at, &value)) return 0;
    ga__write(w, "%ld", value);
    text = end + 1;
  }
  return 1;
}

/* The text with replacements, or the text itself if it has no braces; NULL: an error was reported. */
static const char *replace(expansion *x, const char *text, const ga__scope *scope, ga__place at)
{
  ga__writer count = {0};
  if (!strpbrk(text, "{}")) return text;
  if (!write_replaced(x, text, scope, at, &count)) return NULL;
  ga__writer w = {ga__pool_take(&x->d->pool, count.used + 1), count.used + 1, 0};
  if (!w.text) return stop_for_memory(x), NULL;
  write_replaced(x, text, scope, at, &w);
  return w.text;
}

/* ---- Copies ---- */

static int text_depends(const char *text, const ga__scope *scope)
{
  if (strpbrk(text, "{}")) return 1;
  for (; scope; scope = scope->outer) {
    if (strstr(text, scope->name)) return 1;
  }
  return 0;
}

static int depends(const ga__tree *tree, const ga__scope *scope)
{
  if (tree->key && strpbrk(tree->key, "{}")) return 1;
  if (tree->kind == GA__TREE_SCALAR) return text_depends(tree->text, scope);
  for (int i = 0; i < tree->n; i++) {
    if (depends(tree->child[i], scope)) return 1;
  }
  return 0;
}

/* A copy of the tree for one index, as far as it depends on it; NULL: an error was reported. */
static ga__tree *instantiate(expansion *x, ga__tree *from, const ga__scope *scope)
{
  if (!depends(from, scope)) return from;
  if (x->d->n_copied++ >= MOST_COPIED) {
    ga__report_error(
        x->r->messages, x->spec->at, GA_REASON_LIMIT_EXCEEDED,
        &(ga__facts){.name = "values, lists and maps by repeats", GA__NUMBERS({MOST_COPIED, NULL})});
    x->stopped = 1;
    return NULL;
  }
  ga__tree *tree = ga__pool_take(&x->d->pool, sizeof *tree);
  if (!tree) return stop_for_memory(x), NULL;
  *tree = *from;
  tree->scope = scope;
  if (from->key && !(tree->key = replace(x, from->key, scope, from->key_at))) return NULL;
  if (from->kind == GA__TREE_SCALAR) {
    tree->text = replace(x, from->text, scope, from->at);
    if (tree->text != from->text) tree->text_column = 0;
    return tree->text ? tree : NULL;
  }
  tree->child = ga__pool_take(&x->d->pool, (size_t)from->n * sizeof *tree->child);
  if (!tree->child) return stop_for_memory(x), NULL;
  for (int i = 0; i < from->n; i++) {
    if (!(tree->child[i] = instantiate(x, from->child[i], scope))) return NULL;
  }
  if (tree->kind == GA__TREE_MAP && ga__tree_unique(&x->d->forest, tree)) return stop_for_memory(x), NULL;
  return tree;
}

/* ---- Repeats ---- */

typedef struct repeat {
  long count, from;
  int on; /* 0: its condition does not hold */
  const char *index;
  ga__tree *parts;
} repeat;

/* Reads an integer of a repeat, which may use the index of an outer repeat. */
static int read_int(expansion *x, const ga__tree *tree, const char *key, const ga__scope *scope, long low,
                    long high, long *out)
{
  ga__tree seen = *tree;
  seen.scope = scope;
  const size_t before = ga__messages_enter(x->r->messages, key);
  const int good = ga__value_int(x->r, &seen, low, high, out);
  ga__messages_leave(x->r->messages, before);
  return good;
}

/* The condition of a repeat; tree NULL: it holds. */
static int read_condition(expansion *x, const ga__tree *tree, const ga__scope *scope, int *holds)
{
  *holds = 1;
  if (!tree) return 1;
  ga__tree seen = *tree;
  seen.scope = scope;
  const size_t before = ga__messages_enter(x->r->messages, "if");
  const int good = ga__condition_read(x->r, &seen, holds);
  ga__messages_leave(x->r->messages, before);
  return good;
}

static int check_index(expansion *x, const ga__tree *tree, const ga__scope *scope, const char *name)
{
  char piece[GA_TEXT_PIECE];
  const size_t bytes = strlen(name);
  ga__number number;
  ga__name_quote(piece, name, (int)bytes);
  if (bytes >= GA_TEXT_PIECE || ga__name_length(name) != (int)bytes || strchr(name, '.') ||
      strcmp(name, "t") == 0) {
    ga__report_error(x->r->messages, tree->at, GA_REASON_NAME_NOT_ALLOWED,
                     &(ga__facts){.name = piece,
                                  .other = "an index",
                                  .expected = "a letter or _, then letters, digits and _, but not t"});
    return 0;
  }
  if (ga__parameter_find(x->r, scope, name, bytes, &number, NULL) != GA__UNKNOWN_NAME) {
    ga__report_error(
        x->r->messages, tree->at, GA_REASON_NAME_NOT_ALLOWED,
        &(ga__facts){.name = piece,
                     .other = "an index",
                     .expected = "one that is no parameter and no index of an outer repeat; name it by the "
                                 "key index"});
    return 0;
  }
  return 1;
}

static int read_repeat(expansion *x, ga__tree *spec, const ga__scope *scope, repeat *out)
{
  static const char *const keys[] = {"count", "index", "from", "if", "parts"};
  if (!ga__expect_map(x->r, spec)) return 0;
  ga__tree *count = ga__map_get(spec, "count"), *index = ga__map_get(spec, "index"),
           *from = ga__map_get(spec, "from"), *condition = ga__map_get(spec, "if");
  int ok = 1;
  *out = (repeat){.index = "i", .parts = ga__map_get(spec, "parts")};
  ga__unknown_keys(x->r, spec, sizeof keys / sizeof *keys, keys);
  if (!count || !out->parts) {
    ga__report_error(x->r->messages, spec->at, GA_REASON_KEY_MISSING,
                     &(ga__facts){.field = count ? "parts" : "count"});
    return 0;
  }
  ok &= read_condition(x, condition, scope, &out->on);
  ok &= read_int(x, count, "count", scope, 0, x->r->opts->max_parts, &out->count);
  if (from) ok &= read_int(x, from, "from", scope, -largest_index, largest_index, &out->from);
  size_t before = ga__messages_enter(x->r->messages, "index");
  if (index) ok &= ga__value_text(x->r, index, &out->index);
  if (ok) ok = check_index(x, index ? index : spec, scope, out->index);
  ga__messages_leave(x->r->messages, before);
  before = ga__messages_enter(x->r->messages, "parts");
  ok &= ga__expect_map(x->r, out->parts);
  ga__messages_leave(x->r->messages, before);
  return ok;
}

static void expand_entry(expansion *x, ga__tree *entry, const ga__scope *scope, int depth);

/* Returns 0: expansion cannot continue. */
static int expand_section(expansion *x, ga__tree *section, const ga__scope *scope, int depth)
{
  if (strcmp(section->key, "repeat") == 0) {
    expand_entry(x, section, scope, depth + 1);
    return !x->stopped;
  }
  if (strcmp(section->key, "parameters") == 0 || strcmp(section->key, "include") == 0) {
    ga__report_error(
        x->r->messages, section->key_at, GA_REASON_NOT_READ,
        &(ga__facts){.field = section->key, .name = "this key", .expected = "it cannot be repeated"});
    return 0;
  }
  const size_t before = ga__messages_enter(x->r->messages, section->key);
  const int is_map = ga__expect_map(x->r, section);
  ga__messages_leave(x->r->messages, before);
  if (!is_map) return 0;
  for (int i = 0; i < section->n && !x->stopped; i++) {
    ga__tree *part = instantiate(x, section->child[i], scope);
    const ga__added added = part ? ga__document_add(x->r, x->d, section, part) : GA__NOT_ADDED;
    if (added == GA__FULL) x->stopped = 1;
    if (added != GA__ADDED) return 0;
  }
  return !x->stopped;
}

/* Parts of a repeat that is off, by their names as written. */
static void note_parts_off(expansion *x, ga__tree *spec, const ga__tree *parts)
{
  const ga__place at = ga__map_get(spec, "if")->at;
  for (int k = 0; k < parts->n; k++)
    for (int i = 0; parts->child[k]->kind == GA__TREE_MAP && i < parts->child[k]->n; i++)
      ga__messages_switch_off(x->r->messages, parts->child[k]->child[i]->key, at);
}

static void expand(expansion *x, ga__tree *spec, const ga__scope *outer, int depth)
{
  repeat rep;
  int going = 1;
  if (depth > DEEPEST) {
    ga__report_error(x->r->messages, spec->at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "levels of repeats", GA__NUMBERS({DEEPEST, NULL})});
    x->stopped = 1;
    return;
  }
  if (!read_repeat(x, spec, outer, &rep)) return;
  if (!rep.on) {
    note_parts_off(x, spec, rep.parts);
    return;
  }
  for (long i = 0; i < rep.count && going && !x->stopped; i++) {
    ga__scope *scope = ga__pool_take(&x->d->pool, sizeof *scope);
    if (!scope) {
      stop_for_memory(x);
      return;
    }
    if (++x->d->n_rounds > x->r->opts->max_parts) {
      ga__report_error(x->r->messages, spec->at, GA_REASON_LIMIT_EXCEEDED,
                       &(ga__facts){.name = "rounds of repeats within repeats",
                                    GA__NUMBERS({(double)x->r->opts->max_parts, NULL})});
      x->stopped = 1;
      return;
    }
    *scope = (ga__scope){rep.index, rep.from + i, outer};
    for (int k = 0; k < rep.parts->n; k++) going &= expand_section(x, rep.parts->child[k], scope, depth);
  }
}

static void expand_entry(expansion *x, ga__tree *entry, const ga__scope *scope, int depth)
{
  entry->used = 1;
  if (entry->kind != GA__TREE_LIST) {
    expand(x, entry, scope, depth);
    return;
  }
  for (int i = 0; i < entry->n && !x->stopped; i++) expand(x, entry->child[i], scope, depth);
}

void ga__repeat_expand(ga__reading *r, ga__document *d, ga__tree *entry)
{
  expansion x = {.r = r, .d = d, .spec = entry};
  const ga__concern outer = ga__messages_begin(r->messages, "repeat", NULL);
  expand_entry(&x, entry, NULL, 1);
  ga__messages_restore(r->messages, &outer);
}
