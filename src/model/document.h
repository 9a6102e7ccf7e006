/* A document while it is put together: sections of several files, and what repeats add to them. */
#ifndef GALPHA_MODEL_DOCUMENT_H
#define GALPHA_MODEL_DOCUMENT_H

#include "model/value.h"

/* An entry of the root. Maps grow by includes and repeats. */
typedef struct ga__section {
  ga__tree *tree;
  ga__names names; /* of its children, where it is a map */
  ga__tree **child;
  int capacity;
  int n_given; /* children that files gave; those after them are by repeats */
} ga__section;

typedef struct ga__file {
  const char *path; /* below the model's folder, without . and .. */
  const char *real; /* links resolved */
  ga__place from;   /* of the include that named it */
  int file;         /* number among the messages */
  int outer;        /* place in the list of the one that includes it; −1: the model itself */
  int reading;      /* 1: its includes are being read */
} ga__file;

struct ga__document {
  ga_context *ctx;
  ga__messages *messages;
  ga__pool pool;
  ga__forest forest;
  struct ga__parameters *parameters;
  ga__names names;      /* of sections */
  ga__section *section; /* by their numbers */
  int section_capacity;
  ga__tree **repeat; /* entries `repeat` of all files */
  int n_repeats, repeat_capacity;
  ga__file *file;
  int n_files, file_capacity;
  const char *folder, *real_folder; /* of the model; folder is "" or ends in a slash. NULL: it is a text */
  char *text;
  size_t text_used, text_size;
  long n_parts;         /* entries of sections that are maps themselves */
  long n_rounds;        /* of all repeats, those within others included */
  long n_copied;        /* values, lists and maps that repeats made */
  const ga__tree *main; /* of the model's own file */
  int n_given;          /* sections that files gave; those after them are by repeats */
  ga__tree root;
};

typedef enum ga__added {
  GA__ADDED,
  GA__NOT_ADDED, /* which was reported */
  GA__FULL       /* likewise: there are too many parts, or no memory (r->failed) */
} ga__added;

/* Adds a child to the section of that head (a map of the same key), which may be new. */
ga__added ga__document_add(ga__reading *r, ga__document *d, const ga__tree *head, ga__tree *child);
/* Expands one entry `repeat`, a map or a list of maps (repeat.c). */
void ga__repeat_expand(ga__reading *r, ga__document *d, ga__tree *entry);

#endif
