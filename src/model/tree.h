/* Trees: YAML by libyaml's events, with places, limits of depth, size and aliases. */
#ifndef GALPHA_MODEL_TREE_H
#define GALPHA_MODEL_TREE_H

#include "model/pool.h"

typedef enum ga__tree_kind { GA__TREE_SCALAR, GA__TREE_LIST, GA__TREE_MAP } ga__tree_kind;

/* How a value was written, for writing it again. */
typedef enum ga__tree_style {
  GA__STYLE_PLAIN,  /* a text without quotes; a list or map in lines of its own */
  GA__STYLE_SINGLE, /* texts: in single quotes */
  GA__STYLE_DOUBLE, /* in double quotes */
  GA__STYLE_LINES,  /* line by line, after | or > */
  GA__STYLE_FLOW    /* lists and maps: in brackets or braces */
} ga__tree_style;

/* Indices of the repeats that a tree was made by, the innermost first. */
typedef struct ga__scope {
  const char *name;
  long value;
  const struct ga__scope *outer;
} ga__scope;

typedef struct ga__tree {
  ga__tree_kind kind;
  ga__place at;     /* of the value */
  ga__place key_at; /* of its key, within a map */
  const char *key;  /* within a map; NULL elsewhere */
  const char *text; /* scalar, UTF-8 */
  int text_column;  /* scalar: column of its first character; 0: the text in the file differs */
  int quoted;       /* scalar: 1: it was in quotes */
  int n;            /* children */
  ga__tree_style style, key_style;
  struct ga__tree **child;
  const ga__scope *scope; /* NULL: not in a repeat, or nothing below depends on its index */
  int used;               /* set when the key is read; others are reported as unknown */
} ga__tree;

enum {
  GA__TREE_DEPTH = 64,        /* levels */
  GA__TREE_NODES = 5000000,   /* of all files of a document */
  GA__TREE_ALIASED = 1000000, /* among them, by aliases */
};

/* Memory of trees, and the limits of their size. */
typedef struct ga__forest {
  ga__pool *pool;
  ga__messages *messages;
  long nodes_left, aliased_left;
} ga__forest;

/* Reads one document. *out is NULL if errors, which are reported, leave nothing to read. Fails only with
 * GA_ERR_MEMORY. Aliases become copies, so that every node has its own flag `used`. */
ga_status ga__tree_read(ga__forest *forest, int file, const char *text, size_t length, ga__tree **out);

/* 1: the text is null, as written in JSON or YAML. Without quotes it means an empty value. */
int ga__tree_is_null(const char *text);

/* Reports duplicate keys, and keeps the first. */
ga_status ga__tree_unique(ga__forest *forest, ga__tree *map);

#endif
