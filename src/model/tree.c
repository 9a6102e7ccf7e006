/* From YAML to trees, by libyaml's events. libyaml uses malloc(), since it has no hooks; everything that
 * outlives the reading is from the context. */
#include "model/tree.h"
#include "model/surrogate.h"

#include "mbs/name.h"
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { FEW_KEYS = 16, FIRST_STACK = 64 };

typedef struct anchor {
  ga__tree *node; /* NULL: its end has not come yet */
  ga__place at;
} anchor;

typedef struct builder {
  ga__forest *forest;
  int file;
  const char *text;
  size_t length;
  ga__mended mended; /* where the text is not the one that was given */
  yaml_parser_t parser;
  int stopped; /* an error after which nothing can be read */
  ga_status status;
  ga__tree **stack; /* children of the lists and maps that are open */
  int n_stack, capacity;
  ga__names anchors;
  anchor *anchor; /* by the numbers of anchors */
  int anchor_capacity;
} builder;

/* ---- Errors ---- */

static void *no_memory(builder *b)
{
  b->status = GA_ERR_MEMORY;
  b->stopped = 1;
  return NULL;
}

static int column_of(const builder *b, yaml_mark_t mark)
{
  return ga__mended_column(&b->mended, (int)mark.line, (int)mark.column);
}

static ga__place place_of(const builder *b, yaml_mark_t mark)
{
  return (ga__place){b->file, (int)mark.line + 1, column_of(b, mark) + 1};
}

/* The place of a byte. */
static ga__place place_of_byte(const builder *b, size_t offset)
{
  ga__place at = {b->file, 1, 1};
  for (size_t i = 0; i < offset && i < b->length; i++) {
    if (b->text[i] == '\n') {
      at.line++;
      at.column = 1;
    } else if (((unsigned char)b->text[i] & 0xC0u) != 0x80u) {
      at.column++;
    }
  }
  at.column = ga__mended_column(&b->mended, at.line - 1, at.column - 1) + 1;
  return at;
}

/* The byte of a mark, b->length at the end. Columns of a line are counted in characters. */
static size_t byte_at(const builder *b, yaml_mark_t mark)
{
  size_t i = 0;
  for (size_t line = 0; line < mark.line && i < b->length; i++) line += b->text[i] == '\n';
  for (size_t column = 0; column < mark.column && i < b->length; column++) {
    i++;
    while (i < b->length && ((unsigned char)b->text[i] & 0xC0u) == 0x80u) i++;
  }
  return i;
}

/* 1: the last character before the mark, in its line, ends a list. */
static int follows_list(const builder *b, yaml_mark_t mark)
{
  size_t i = byte_at(b, mark);
  while (i > 0 && b->text[i - 1] == ' ') i--;
  return i > 0 && b->text[i - 1] == ']' && mark.column > 0;
}

/* The usual cause of an error of libyaml; NULL: unknown. */
static const char *hint_for(const builder *b, const char *problem)
{
  static const char flow[] = "did not find expected ',' or";
  static const struct {
    const char *problem, *hint;
  } hints[] = {
      {"mapping values are not allowed", "a text with ': ' in it needs quotes, or the indentation is off, "
                                         "or the line before has no ': ' behind its key"},
      {"could not find expected ':'", "write 'key: value', with a blank after the colon"},
      {"did not find expected key", "is the indentation the same as in the lines above?"},
      {"did not find expected ',' or '}'", "is a comma or a closing brace missing?"},
      {"did not find expected ',' or ']'", "is a comma or a closing bracket missing?"},
      {"did not find expected '-' indicator", "is the indentation the same as in the lines above?"},
      {"found unexpected end of stream", "is a closing quote missing?"},
      {"found invalid Unicode character escape code", "surrogates come in pairs, as in \"\\ud83d\\ude00\""},
      {"did not find expected alphabetic or numeric character",
       "a text that begins with * or & needs quotes"},
  };
  const size_t byte = byte_at(b, b->parser.problem_mark);
  const char at = byte < b->length ? b->text[byte] : '\0';
  if (strncmp(problem, flow, strlen(flow)) == 0 && follows_list(b, b->parser.problem_mark))
    return "is a comma missing? Units stand behind each number of a list: [1 mm, 2 mm]";
  if (at == '\t') return "indent by blanks, not by tabs";
  if ((at == '[' || at == '{') && strncmp(problem, flow, strlen(flow)) == 0)
    return "within brackets or braces an expression with brackets of its own needs quotes: "
           "\"2*cos(10[deg])\"; or is a "
           "comma missing?";
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
    if (strncmp(problem, hints[i].problem, strlen(hints[i].problem)) == 0) return hints[i].hint;
  }
  return NULL;
}

static void report_syntax(builder *b)
{
  const yaml_parser_t *p = &b->parser;
  const char *problem = p->problem ? p->problem : "it cannot be read";
  char context[GA_ERROR_TEXT / 2] = "", detail[GA_ERROR_TEXT];
  b->stopped = 1;
  if (p->error == YAML_MEMORY_ERROR) {
    no_memory(b);
  } else if (p->error == YAML_READER_ERROR) {
    if (p->problem_value >= 0)
      snprintf(detail, sizeof detail, "%s (0x%02X)", problem, (unsigned)p->problem_value);
    else
      snprintf(detail, sizeof detail, "%s", problem);
    ga__report_error(b->forest->messages, place_of_byte(b, p->problem_offset), GA_REASON_NOT_UTF8,
                     &(ga__facts){.detail = detail});
  } else {
    if (p->context && p->context_mark.line != p->problem_mark.line) {
      snprintf(context, sizeof context, "%s that began in line %d: ", p->context,
               (int)p->context_mark.line + 1);
    } else if (p->context) {
      snprintf(context, sizeof context, "%s: ", p->context);
    }
    snprintf(detail, sizeof detail, "%s%s", context, problem);
    ga__report_error(b->forest->messages, place_of(b, p->problem_mark), GA_REASON_NOT_YAML,
                     &(ga__facts){.detail = detail, .other = hint_for(b, problem)});
  }
}

static int next_event(builder *b, yaml_event_t *event)
{
  memset(event, 0, sizeof *event);
  if (b->stopped) return 0;
  if (yaml_parser_parse(&b->parser, event)) return 1;
  report_syntax(b);
  return 0;
}

/* ---- Nodes ---- */

static ga__tree *new_node(builder *b, ga__tree_kind kind, ga__place at)
{
  if (b->forest->nodes_left-- <= 0) {
    ga__report_error(b->forest->messages, at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "values, lists and maps", GA__NUMBERS({GA__TREE_NODES, NULL})});
    b->stopped = 1;
    return NULL;
  }
  ga__tree *node = ga__pool_take(b->forest->pool, sizeof *node);
  if (!node) return no_memory(b);
  node->kind = kind;
  node->at = at;
  return node;
}

static int push(builder *b, ga__tree *node)
{
  if (b->n_stack == b->capacity) {
    const int capacity = b->capacity ? 2 * b->capacity : FIRST_STACK;
    ga__tree **stack = ga__alloc(b->forest->pool->ctx, (size_t)capacity, sizeof *stack);
    if (!stack) return no_memory(b) != NULL;
    if (b->n_stack > 0) memcpy(stack, b->stack, (size_t)b->n_stack * sizeof *stack);
    ga__free(b->forest->pool->ctx, b->stack);
    b->stack = stack;
    b->capacity = capacity;
  }
  b->stack[b->n_stack++] = node;
  return 1;
}

/* Makes everything pushed since `base` the children of a node. */
static int take_children(builder *b, ga__tree *node, int base)
{
  const int n = b->n_stack - base;
  b->n_stack = base;
  if (n == 0) return 1;
  node->child = ga__pool_take(b->forest->pool, (size_t)n * sizeof *node->child);
  if (!node->child) return no_memory(b) != NULL;
  memcpy(node->child, b->stack + base, (size_t)n * sizeof *node->child);
  node->n = n;
  return 1;
}

/* ---- Tags, anchors, aliases ---- */

/* Checks a tag. Those of the core schema have no effect, except !!str, which makes the value a text. */
static void check_tag(builder *b, const yaml_char_t *tag, ga__place at, int *is_text)
{
  static const char core[] = "tag:yaml.org,2002:";
  static const char *const known[] = {"str", "int", "float", "bool", "null", "map", "seq"};
  const char *name = (const char *)tag;
  if (!tag || strcmp(name, "!") == 0) return;
  if (strncmp(name, core, sizeof core - 1) == 0) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
      if (strcmp(name + sizeof core - 1, known[i]) != 0) continue;
      *is_text = i == 0;
      return;
    }
  }
  char piece[GA_TEXT_PIECE], the_tag[GA_TEXT_PIECE + 16];
  ga__name_quote(piece, name, (int)strlen(name));
  snprintf(the_tag, sizeof the_tag, "the tag '%s'", piece);
  ga__report_error(b->forest->messages, at, GA_REASON_NOT_READ,
                   &(ga__facts){.name = the_tag, .expected = "leave it out"});
}

/* The number of a new anchor; −1: there is none, or it is wrong. */
static int open_anchor(builder *b, const yaml_char_t *name, ga__place at)
{
  if (!name || b->stopped) return -1;
  const int before = b->anchors.n;
  char *copy = ga__pool_text(b->forest->pool, (const char *)name, strlen((const char *)name));
  const int i = copy ? ga__names_add(&b->anchors, copy) : -1;
  if (i < 0) {
    no_memory(b);
    return -1;
  }
  if (i < before) {
    char first[GA__PLACE_TEXT], piece[GA_TEXT_PIECE];
    ga__name_quote(piece, copy, (int)strlen(copy));
    ga__report_error(b->forest->messages, at, GA_REASON_GIVEN_TWICE,
                     &(ga__facts){.name = piece,
                                  .other = "the anchors",
                                  .detail = ga__place_text(first, b->forest->messages, b->anchor[i].at)});
    return -1;
  }
  if (b->anchors.n > b->anchor_capacity) {
    anchor *list = ga__alloc(b->forest->pool->ctx, (size_t)b->anchors.capacity, sizeof *list);
    if (!list) {
      no_memory(b);
      return -1;
    }
    if (before > 0) memcpy(list, b->anchor, (size_t)before * sizeof *list);
    ga__free(b->forest->pool->ctx, b->anchor);
    b->anchor = list;
    b->anchor_capacity = b->anchors.capacity;
  }
  b->anchor[i] = (anchor){NULL, at};
  return i;
}

static int too_deep(builder *b, int depth, ga__place at)
{
  if (depth <= GA__TREE_DEPTH) return 0;
  ga__report_error(b->forest->messages, at, GA_REASON_LIMIT_EXCEEDED,
                   &(ga__facts){.name = "levels of lists and maps", GA__NUMBERS({GA__TREE_DEPTH, NULL})});
  b->stopped = 1;
  return 1;
}

/* Copies the tree of an alias, up to a limit: aliases within aliases can grow exponentially. */
static ga__tree *copy_tree(builder *b, const ga__tree *from, ga__place alias, int depth)
{
  if (too_deep(b, depth, alias)) return NULL;
  if (b->forest->aliased_left-- <= 0) {
    ga__report_error(b->forest->messages, alias, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.name = "values, lists and maps by aliases",
                                  GA__NUMBERS({GA__TREE_ALIASED, NULL}),
                                  .detail = "use 'repeat' or parameters"});
    b->stopped = 1;
    return NULL;
  }
  ga__tree *node = new_node(b, from->kind, from->at);
  if (!node) return NULL;
  *node = *from;
  if (from->n == 0) return node;
  node->child = ga__pool_take(b->forest->pool, (size_t)from->n * sizeof *node->child);
  if (!node->child) return no_memory(b);
  for (int i = 0; i < from->n; i++) {
    node->child[i] = copy_tree(b, from->child[i], alias, depth + 1);
    if (!node->child[i]) return NULL;
  }
  return node;
}

static ga__tree *read_alias(builder *b, const yaml_event_t *event, int depth)
{
  const char *name = (const char *)event->data.alias.anchor;
  const ga__place at = place_of(b, event->start_mark);
  const int i = ga__names_find(&b->anchors, name, strlen(name));
  char piece[GA_TEXT_PIECE], nearest[GA_TEXT_PIECE];
  ga__name_quote(piece, name, (int)strlen(name));
  if (i >= 0 && b->anchor[i].node) return copy_tree(b, b->anchor[i].node, at, depth);
  if (i >= 0) {
    ga__report_error(b->forest->messages, at, GA_REASON_CIRCULAR,
                     &(ga__facts){.name = piece, .detail = "its alias stands within the anchor"});
  } else {
    ga__names_nearest(nearest, b->forest->messages, &b->anchors, name, strlen(name));
    ga__report_error(
        b->forest->messages, at, GA_REASON_UNKNOWN_REFERENCE,
        &(ga__facts){.other = "anchor",
                     .name = piece,
                     .nearest = nearest,
                     .detail = nearest[0] ? NULL : "an anchor '&name' comes before its aliases '*name'"});
  }
  ga__tree *empty = new_node(b, GA__TREE_SCALAR, at); /* so that reading can continue */
  if (empty) empty->text = "";
  return empty;
}

/* ---- Expressions split at their commas ---- */

/* Parentheses that are open after a text, -1: one is closed that was not opened. */
static int balance(int open, const char *text)
{
  for (; *text && open >= 0; text++) open += *text == '(' ? 1 : *text == ')' ? -1 : 0;
  return open;
}

/* The text between two commas: an entry of a list, or a key without a value; NULL: neither. */
static const char *piece_of(const ga__tree *node, int i)
{
  const ga__tree *child = node->child[i];
  if (child->kind != GA__TREE_SCALAR || child->quoted) return NULL;
  if (node->kind == GA__TREE_LIST) return child->text;
  return child->key_style == GA__STYLE_PLAIN && !child->text[0] ? child->key : NULL;
}

/* Number of children after number i that belong to its expression; 0: it is not split. */
static int count_split(const ga__tree *node, int i)
{
  const ga__tree *first = node->child[i];
  int open = first->kind == GA__TREE_SCALAR && !first->quoted ? balance(0, first->text) : 0;
  for (int k = i + 1; open > 0 && k < node->n; k++) {
    const char *piece = piece_of(node, k);
    open = piece ? balance(open, piece) : -1;
    if (open == 0) return k - i;
  }
  return 0;
}

/* In YAML [0, max(a, b)] has three entries, and {force: max(a, b)} two keys. This is reported once, and the
 * pieces are joined, so that no other errors follow. */
static void join_split(builder *b, ga__tree *node)
{
  int kept = 0;
  for (int i = 0, n_torn; i < node->n; i += 1 + n_torn) {
    ga__tree *child = node->child[kept++] = node->child[i];
    n_torn = count_split(node, i);
    if (n_torn == 0) continue;
    size_t size = strlen(child->text) + 1;
    for (int k = i + 1; k <= i + n_torn; k++) size += strlen(piece_of(node, k)) + 2;
    char *whole = ga__pool_take(b->forest->pool, size), piece[GA_TEXT_PIECE];
    if (!whole) {
      no_memory(b);
      return;
    }
    ga__writer w = {whole, size, 0};
    ga__write(&w, "%s", child->text);
    for (int k = i + 1; k <= i + n_torn; k++) ga__write(&w, ", %s", piece_of(node, k));
    child->text = whole;
    ga__name_quote(piece, whole, (int)strlen(whole));
    ga__report_error(b->forest->messages, child->at, GA_REASON_NEEDS_QUOTES, &(ga__facts){.name = piece});
  }
  node->n = kept;
}

/* ---- Scalars, lists, maps ---- */

static int characters(const char *text)
{
  int n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xC0u) != 0x80u;
  return n;
}

/* Copies a text; a NUL within it, by an escape, would end it early. */
static const char *copy_text(builder *b, const yaml_event_t *event, ga__place at)
{
  const char *text = (const char *)event->data.scalar.value;
  const size_t length = event->data.scalar.length;
  if (strlen(text) != length) {
    ga__report_error(b->forest->messages, at, GA_REASON_NOT_READ,
                     &(ga__facts){.name = "the character NUL", .expected = "leave it out"});
  }
  const char *copy = ga__pool_text(b->forest->pool, text, strlen(text));
  if (!copy) no_memory(b);
  return copy;
}

/* Finds the first column of the text, if it is on one line and without escapes. An anchor or tag may precede
 * it, so the column of a plain text is counted from its end. */
static void place_text(const builder *b, ga__tree *node, const yaml_event_t *event)
{
  const yaml_mark_t start = event->start_mark, end = event->end_mark;
  const int n = characters(node->text), length = (int)end.column - (int)start.column;
  const yaml_scalar_style_t style = event->data.scalar.style;
  const int behind = event->data.scalar.anchor || event->data.scalar.tag;
  if (start.line != end.line) return;
  if (style == YAML_PLAIN_SCALAR_STYLE && length >= n) {
    node->text_column = column_of(b, end) - n + 1;
    if (n > 0) node->at.column = node->text_column;
  } else if (!behind && length == n + 2) {
    node->text_column = column_of(b, start) + 2;
  }
}

/* A text by tag is written in quotes, since the tag is not kept. */
static ga__tree_style style_of(yaml_scalar_style_t style, int is_text)
{
  if (style == YAML_SINGLE_QUOTED_SCALAR_STYLE) return GA__STYLE_SINGLE;
  if (style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) return GA__STYLE_DOUBLE;
  if (style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE) return GA__STYLE_LINES;
  return is_text ? GA__STYLE_SINGLE : GA__STYLE_PLAIN;
}

int ga__tree_is_null(const char *text)
{
  static const char *const words[] = {"null", "Null", "NULL", "~"};
  for (int i = 0; i < 4; i++)
    if (strcmp(text, words[i]) == 0) return 1;
  return 0;
}

static ga__tree *read_scalar(builder *b, const yaml_event_t *event)
{
  int is_text = 0;
  const ga__place at = place_of(b, event->start_mark);
  check_tag(b, event->data.scalar.tag, at, &is_text);
  ga__tree *node = new_node(b, GA__TREE_SCALAR, at);
  if (!node || !(node->text = copy_text(b, event, at))) return NULL;
  node->style = style_of(event->data.scalar.style, is_text);
  node->quoted = node->style != GA__STYLE_PLAIN;
  place_text(b, node, event);
  if (!node->quoted && ga__tree_is_null(node->text)) node->text = "";
  const int i = open_anchor(b, event->data.scalar.anchor, at);
  if (i >= 0) b->anchor[i].node = node;
  return node;
}

static ga__tree *read_node(builder *b, const yaml_event_t *event, int depth);

static void read_list(builder *b, ga__tree *node, int depth)
{
  const int base = b->n_stack;
  yaml_event_t event;
  while (next_event(b, &event)) {
    const int ends = event.type == YAML_SEQUENCE_END_EVENT;
    ga__tree *child = ends ? NULL : read_node(b, &event, depth + 1);
    yaml_event_delete(&event);
    if (ends) {
      if (take_children(b, node, base) && node->style == GA__STYLE_FLOW) join_split(b, node);
      return;
    }
    if (child) push(b, child);
  }
}

/* The key of an event, with its place; NULL: invalid, which is reported, and its value is discarded. */
static const char *read_key(builder *b, const yaml_event_t *event, ga__place at)
{
  ga__messages *m = b->forest->messages;
  if (event->type != YAML_SCALAR_EVENT) {
    ga__report_error(m, at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a text as key",
                                  .name = event->type == YAML_ALIAS_EVENT            ? "an alias"
                                          : event->type == YAML_SEQUENCE_START_EVENT ? "a list"
                                                                                     : "a map"});
  } else if (event->data.scalar.anchor) {
    ga__report_error(m, at, GA_REASON_NOT_READ,
                     &(ga__facts){.name = "an anchor of a key", .expected = "it has to belong to a value"});
  } else if (event->data.scalar.length == 0) {
    ga__report_error(m, at, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a key before the colon", .name = "nothing"});
  } else if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
             strcmp((char *)event->data.scalar.value, "<<") == 0) {
    ga__report_error(
        m, at, GA_REASON_NOT_READ,
        &(ga__facts){.name = "a merge key (<<)",
                     .expected = "write the keys out, or give a whole value by an alias (key: *name)"});
  } else {
    int is_text;
    check_tag(b, event->data.scalar.tag, at, &is_text);
    return copy_text(b, event, at);
  }
  return NULL;
}

/* A key and its value. */
static void read_pair(builder *b, const yaml_event_t *event, int depth)
{
  const ga__place at = place_of(b, event->start_mark);
  const char *key = read_key(b, event, at);
  yaml_event_t value;
  if (!key && event->type != YAML_SCALAR_EVENT && event->type != YAML_ALIAS_EVENT)
    read_node(b, event, depth + 1);
  if (!next_event(b, &value)) return;
  ga__tree *child = read_node(b, &value, depth + 1);
  yaml_event_delete(&value);
  if (!child || !key) return;
  child->key = key;
  child->key_at = at;
  child->key_style = style_of(event->data.scalar.style, 0);
  push(b, child);
}

static void read_map(builder *b, ga__tree *node, int depth)
{
  const int base = b->n_stack;
  yaml_event_t event;
  while (next_event(b, &event)) {
    const int ends = event.type == YAML_MAPPING_END_EVENT;
    if (!ends) read_pair(b, &event, depth);
    yaml_event_delete(&event);
    if (!ends) continue;
    if (!take_children(b, node, base)) return;
    if (node->style == GA__STYLE_FLOW) join_split(b, node);
    if (!b->stopped && ga__tree_unique(b->forest, node)) no_memory(b);
    return;
  }
}

static ga__tree *read_node(builder *b, const yaml_event_t *event, int depth)
{
  const ga__place at = place_of(b, event->start_mark);
  const int is_list = event->type == YAML_SEQUENCE_START_EVENT;
  const int is_flow = is_list ? event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE
                              : event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
  int is_text;
  if (event->type == YAML_SCALAR_EVENT) return read_scalar(b, event);
  if (event->type == YAML_ALIAS_EVENT) return read_alias(b, event, depth);
  if (too_deep(b, depth, at)) return NULL;
  check_tag(b, is_list ? event->data.sequence_start.tag : event->data.mapping_start.tag, at, &is_text);
  ga__tree *node = new_node(b, is_list ? GA__TREE_LIST : GA__TREE_MAP, at);
  const int i =
      open_anchor(b, is_list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor, at);
  if (!node) return NULL;
  node->style = is_flow ? GA__STYLE_FLOW : GA__STYLE_PLAIN;
  if (is_list) {
    read_list(b, node, depth);
  } else {
    read_map(b, node, depth);
  }
  if (i >= 0) b->anchor[i].node = node;
  return b->stopped ? NULL : node;
}

/* ---- Keys given twice ---- */

static void report_twice(const ga__forest *forest, const ga__tree *first, const ga__tree *second)
{
  char place[GA__PLACE_TEXT], piece[GA_TEXT_PIECE];
  ga__name_quote(piece, second->key, (int)strlen(second->key));
  ga__report_error(
      forest->messages, second->key_at, GA_REASON_GIVEN_TWICE,
      &(ga__facts){.name = piece, .detail = ga__place_text(place, forest->messages, first->key_at)});
}

/* The number of the child with that key among the first n, or n itself. */
static int first_with(const ga__tree *map, const ga__names *names, int n, const char *key)
{
  int i = 0;
  if (map->n > FEW_KEYS) {
    i = ga__names_find(names, key, strlen(key));
    return i < 0 ? n : i;
  }
  while (i < n && strcmp(map->child[i]->key, key) != 0) i++;
  return i;
}

ga_status ga__tree_unique(ga__forest *forest, ga__tree *map)
{
  ga__names names = {.ctx = forest->pool->ctx};
  int kept = 0, failed = 0;
  for (int i = 0; i < map->n && !failed; i++) {
    ga__tree *child = map->child[i];
    const int first = first_with(map, &names, kept, child->key);
    if (first < kept) {
      report_twice(forest, map->child[first], child);
      continue;
    }
    if (map->n > FEW_KEYS) failed = ga__names_add(&names, child->key) < 0;
    map->child[kept++] = child;
  }
  ga__names_destroy(&names);
  map->n = kept;
  return failed ? GA_ERR_MEMORY : GA_OK;
}

/* ---- Documents ---- */

static ga__tree *read_documents(builder *b)
{
  ga__tree *root = NULL;
  yaml_event_t event;
  int n = 0, ended = 0;
  while (!ended && next_event(b, &event)) {
    const ga__place at = place_of(b, event.start_mark);
    switch (event.type) {
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
      break;
    case YAML_DOCUMENT_START_EVENT:
      if (++n > 1) {
        ga__report_error(b->forest->messages, at, GA_REASON_NOT_READ,
                         &(ga__facts){.name = "a second document", .expected = "a file of a model has one"});
        b->stopped = 1;
      }
      break;
    case YAML_STREAM_END_EVENT:
      ended = 1;
      break;
    default:
      root = read_node(b, &event, 1);
      break;
    }
    yaml_event_delete(&event);
  }
  return b->status ? NULL : root;
}

ga_status ga__tree_read(ga__forest *forest, int file, const char *text, size_t length, ga__tree **out)
{
  ga_context *ctx = forest->pool->ctx;
  builder b = {.forest = forest, .file = file, .anchors = {.ctx = ctx}};
  *out = NULL;
  ga_status status = ga__surrogates_mend(ctx, text, length, &b.mended);
  if (!status && !yaml_parser_initialize(&b.parser)) status = GA_ERR_MEMORY;
  if (status) {
    ga__mended_free(ctx, &b.mended);
    return status;
  }
  b.text = b.mended.text ? b.mended.text : text;
  b.length = b.mended.length;
  yaml_parser_set_input_string(&b.parser, (const unsigned char *)b.text, b.length);
  yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
  ga__tree *root = read_documents(&b);
  yaml_parser_delete(&b.parser);
  ga__mended_free(ctx, &b.mended);
  ga__free(ctx, b.stack);
  ga__free(ctx, b.anchor);
  ga__names_destroy(&b.anchors);
  if (b.status) return b.status;
  if (!root && !b.stopped) {
    ga__report_error(forest->messages, (ga__place){file, 1, 1}, GA_REASON_WRONG_FORM,
                     &(ga__facts){.expected = "a map", .name = "nothing in this file"});
  }
  *out = b.stopped ? NULL : root;
  return GA_OK;
}
