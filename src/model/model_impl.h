/* Inside the layer model: memory of a document, the tree of a file, and where messages go. */
#ifndef GALPHA_MODEL_IMPL_H
#define GALPHA_MODEL_IMPL_H

#include "base/base_impl.h"
#include "galpha/model.h"

/* ---- Messages (message.c) -------------------------------------------------------------------------------
 */

typedef struct ga__place {
  int file;         /* number of the file, see ga__messages_add_file(); −1: none */
  int line, column; /* from 1; 0: the file as a whole */
} ga__place;

#define GA__NOWHERE ((ga__place){-1, 0, 0})

/* Keeps 100 errors and 100 warnings, of one place at most three; what is left out is counted and reported at
 * the end. The same text at the same place is kept once. Out of memory is remembered and returned by
 * ga__messages_status(). */
typedef struct ga__messages ga__messages;
ga__messages *ga__messages_create(ga_context *ctx); /* NULL: out of memory */
void ga__messages_destroy(ga__messages **m);
/* What messages are about from now on, as data, borrowed; returns what they were about. */
typedef struct ga__concern {
  const char *kind, *part, *field; /* NULL: none */
} ga__concern;
ga__concern ga__messages_concern(ga__messages *m, ga__concern now);
/* The same of the field alone. */
const char *ga__messages_field(ga__messages *m, const char *field);

/* "what: " and the sentence of a reason; part and field are added to the facts where these have none. */
void ga__say_why(ga__messages *m, ga_message_level level, ga__place at, const char *what, ga_reason reason,
                 const ga__facts *facts);
/* What another layer has found: "what: " in place of its own part and field; NULL: with these. */
void ga__say_data(ga__messages *m, ga_message_level level, ga__place at, const char *what,
                  const ga_error *error);
/* In words, with their reason and the name that is wrong (NULL: none). */
void ga__say_as(ga__messages *m, ga_message_level level, ga__place at, ga_reason reason, const char *name,
                const char *format, ...) GA_PRINTF(6, 7);
/* In words alone, GA_REASON_OTHER. */
void ga__say(ga__messages *m, ga_message_level level, ga__place at, const char *format, ...) GA_PRINTF(4, 5);
/* 1: n more names may be compared with a wrong one, to find which was meant. Thousands of wrong names would
 * take minutes: once there are as many messages as are shown, or too much has been compared, nothing is
 * searched any more. */
int ga__messages_may_search(ga__messages *m, int n);
void ga__messages_end_search(ga__messages *m);
int ga__errors(const ga__messages *m);                /* so far, those not kept included */
ga_status ga__messages_status(const ga__messages *m); /* GA_OK or GA_ERR_MEMORY */

/* Files in the order they are opened in; the name is copied. −1: out of memory. */
int ga__messages_add_file(ga__messages *m, const char *name);
const char *ga__messages_file(const ga__messages *m, int file); /* "" for −1 */

enum { GA__PLACE_TEXT = 160 };
/* "car.yaml:12:3", for a second place within a message; returns text. A long name keeps its end. */
const char *ga__place_text(char text[GA__PLACE_TEXT], const ga__messages *m, ga__place at);

/* What was said from number `from` on (a count of before) comes before all else: others may follow from it.
 */
void ga__messages_lead(ga__messages *m, int from);
/* To be called once, when all is said; only then can messages be asked for. Leading ones first, then sorted
 * by file, line and column. */
void ga__messages_finish(ga__messages *m);
int ga__messages_count(const ga__messages *m);                         /* those kept; at any time */
const ga_model_message *ga__messages_at(const ga__messages *m, int i); /* NULL: there is none */

/* ---- Memory (pool.c) --------------------------------------------------------------------------------------
 */

/* Many small blocks that are freed together. Start from {ctx}. */
typedef struct ga__pool {
  ga_context *ctx;
  struct ga__chunk *chunk; /* the latest first */
  size_t used, size;       /* of the latest */
} ga__pool;

void *ga__pool_take(ga__pool *pool, size_t bytes);                   /* zeroed; NULL: out of memory */
char *ga__pool_text(ga__pool *pool, const char *text, size_t bytes); /* a copy with its end; likewise */
void ga__pool_destroy(ga__pool *pool);

/* Names numbered in the order they are added in, found by a hash. They are borrowed. Start from {ctx}. */
typedef struct ga__names {
  ga_context *ctx;
  int n, capacity;
  const char **name;
  int *bucket; /* twice the capacity, a power of 2; number + 1 */
} ga__names;

int ga__names_find(const ga__names *names, const char *name, size_t bytes); /* −1: not there */
/* The number of that name, which may have been there before (then it is below the n of before); −1: out of
 * memory. */
int ga__names_add(ga__names *names, const char *name);
void ga__names_destroy(ga__names *names);
/* The most similar of them to the first bytes of word, "" where none is, or enough has been searched for
 * messages. */
void ga__names_nearest(char *nearest, ga__messages *m, const ga__names *names, const char *word,
                       size_t bytes);

/* ---- Trees (tree.c): YAML by libyaml's events, with places, limits of depth, size and aliases ------------
 */

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
  int text_column;  /* scalar: of the first character of text; 0: the text does not stand so in the file */
  int quoted;       /* scalar: it stood in quotes */
  int n;            /* children */
  ga__tree_style style, key_style;
  struct ga__tree **child;
  const ga__scope *scope; /* NULL: not in a repeat, or nothing below depends on its index */
  int used;               /* set by readers: a key that nobody asked for is reported as unknown */
} ga__tree;

enum {
  GA__TREE_DEPTH = 64,        /* levels */
  GA__TREE_NODES = 5000000,   /* of all files of a document */
  GA__TREE_ALIASED = 1000000, /* among them, by aliases */
};

/* Memory of trees, and how much more there may be of them. */
typedef struct ga__forest {
  ga__pool *pool;
  ga__messages *messages;
  long nodes_left, aliased_left;
} ga__forest;

/* Reads one document. *out is NULL where errors leave nothing to go on with; they have been said then. Fails
 * with GA_ERR_MEMORY alone. Aliases become copies, so that every place of the tree has its own mark `used`.
 */
ga_status ga__tree_read(ga__forest *forest, int file, const char *text, size_t length, ga__tree **out);

/* Is it the word null of JSON, or one of YAML's others? Without quotes it is nothing: an empty text. */
int ga__tree_is_null(const char *text);

/* Of two children of the same key the first is kept, and the second reported. */
ga_status ga__tree_unique(ga__forest *forest, ga__tree *map);

#endif
