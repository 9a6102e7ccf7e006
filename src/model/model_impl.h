/* Inside the layer model: the tree of a file, and where messages go. */
#ifndef GALPHA_MODEL_IMPL_H
#define GALPHA_MODEL_IMPL_H

#include "base/base_impl.h"
#include "galpha/model.h"

/* ---- Messages (message.c) ------------------------------------------------------------------------------- */

typedef struct ga__place {
  int file;         /* index of the file; −1: none */
  int line, column; /* from 1 */
} ga__place;

/* Keeps a message; after MOST_MESSAGES errors one more says that there are too many. Out of memory is remembered and
 * returned by ga__messages_status(). */
typedef struct ga__messages ga__messages;
void ga__say(ga__messages *m, ga_message_level level, ga__place at, const char *format, ...) GA_PRINTF(4, 5);
int ga__errors(const ga__messages *m); /* so far */

/* ---- Trees (tree.c): YAML by libyaml's events, with places, limits of depth, size and aliases ------------ */

typedef enum ga__tree_kind { GA__TREE_SCALAR, GA__TREE_LIST, GA__TREE_MAP } ga__tree_kind;

typedef struct ga__tree {
  ga__tree_kind kind;
  ga__place at;         /* of the value */
  ga__place key_at;     /* of its key, within a map */
  const char *key;      /* within a map; NULL elsewhere */
  const char *text;     /* scalar, UTF-8 */
  int quoted;           /* scalar: it stood in quotes */
  int n;                /* children */
  struct ga__tree **child;
  int used;             /* set by readers: a key that nobody asked for is told as unknown */
} ga__tree;

#endif
