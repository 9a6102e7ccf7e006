/* Documents: sections of several files, and what repeats add to them. */
#ifndef GALPHA_MODEL_DOCUMENT_H
#define GALPHA_MODEL_DOCUMENT_H

#include "model/parameters.h"

/* A document: the file with its includes merged, `repeat` expanded, `parameters` removed and set. path NULL:
 * a text. NULL after errors that leave nothing to read. */
typedef struct ga__document ga__document;
#define GA__LARGEST_FILE ((size_t)256 << 20) /* bytes of one */
/* Adds the bytes of a file, and where it ends, to r->data (FNV-1a), and the file to r->sources. One that cannot
 * be read is empty: its reader reports that. */
void ga__file_digest(ga__reading *r, const char *path);
/* All of a file, which is added to r->sources, with a NUL behind it. *text is NULL where it cannot be read, which is reported at `from`. */
void ga__file_load(ga__reading *r, const char *path, const char *name, ga__place from, char **text,
                   size_t *length);
ga__document *ga__document_read(ga__reading *r, const char *path, const char *name, const char *text,
                                size_t length);
void ga__document_destroy(ga_context *ctx, ga__document **d);
/* Reports a version of the format that is not known. */
void ga__check_version(ga__reading *r, const ga__tree *tree);
ga__tree *ga__document_root(ga__document *d); /* a map */
int ga__document_has_includes(const ga__document *d); /* read ones, or ones that conditions leave out */
const char *ga__document_text(const ga__document *d); /* of all files, each with a line that names it */

/* ---- Internals ---- */

/* An entry of the root. Maps grow by includes and repeats. */
typedef struct ga__section {
  ga__tree *tree;
  ga__tree *chosen; /* without the parts that are off, once conditions are known */
  ga__names names;  /* of its children, where it is a map */
  ga__tree **child;
  int capacity;
  int n_given; /* children from files; those after them come from repeats */
} ga__section;

typedef struct ga__file {
  const char *path; /* below the model's folder, without . and .. */
  const char *real; /* links resolved */
  ga__place from;   /* of its include */
  int file;         /* number for messages */
  int outer;        /* index of the file that includes it; −1: the model itself */
  int reading;      /* 1: its includes are being read */
} ga__file;

/* An included file with a condition. */
typedef struct ga__conditional {
  const ga__tree *file, *condition;
  int outer, depth; /* index of the file that includes it, and how deep it would be */
} ga__conditional;

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
  ga__conditional *conditional;
  int n_conditional, conditional_capacity;
  ga__file *file;
  int n_files, file_capacity;
  const char *folder, *real_folder; /* of the model; folder is "" or ends in a slash. NULL: it is a text */
  char *text;
  size_t text_used, text_size;
  long n_parts;         /* entries of sections that are maps themselves */
  long n_rounds;        /* of all repeats, those within others included */
  long n_copied;        /* values, lists and maps that repeats made */
  const ga__tree *main; /* of the model's own file */
  int n_given;          /* sections from files; those after them come from repeats */
  ga__tree root;
};

typedef enum ga__added {
  GA__ADDED,
  GA__NOT_ADDED, /* which was reported */
  GA__FULL       /* likewise: there are too many parts, or no memory (r->failed) */
} ga__added;

/* Adds a child to the section with the key of head, which is created if needed. */
ga__added ga__document_add(ga__reading *r, ga__document *d, const ga__tree *head, ga__tree *child);
/* The section `parameters` as read so far; NULL: none. */
ga__tree *ga__document_parameters(ga__document *d);
/* Reads and merges an included file: its path as in the file with index `outer`. */
void ga__document_include(ga__reading *r, ga__document *d, int outer, const ga__tree *path, int depth);

/* ---- Conditions (condition.c) ---- */

/* A condition: 0 or 1, a word as true, or a comparison. Returns 0: an error was reported, and it does not
 * hold. */
int ga__condition_read(ga__reading *r, const ga__tree *tree, int *holds);
/* That of the key `if` of a map; it holds where there is none. */
int ga__condition_of(ga__reading *r, ga__tree *map, int *holds);
/* Merges the files with conditions that hold. */
void ga__conditional_includes(ga__reading *r, ga__document *d);
/* Marks the parameters of these conditions as used. */
void ga__conditions_use(ga__reading *r, const ga__document *d);
/* Sets `chosen` of all sections, and what is off for messages. */
void ga__conditions_apply(ga__reading *r, ga__document *d);

/* Expands one entry `repeat`, a map or a list of maps (repeat.c). */
void ga__repeat_expand(ga__reading *r, ga__document *d, ga__tree *entry);

/* ---- Writing (write.c) ---- */

/* The document as one YAML text, which the caller frees by ga__free(): includes merged, parameters as set,
 * everything else as it was written, repeats too. A text of more than `most` bytes is refused. */
ga_status ga__document_write(const ga__document *d, size_t most, char **text, size_t *length);
/* That text for result files, followed by the original files as comments, so that their comments are not
 * lost. The caller frees it by ga__free(). NULL: out of memory. */
char *ga__document_keep(const ga__document *d, const char *written, size_t length);
/* Writes that text to a file, completely or not at all. Refuses to overwrite a file of the document. */
ga_status ga__document_save(const ga__document *d, const char *path, const char *text, size_t length);

/* NULL: there was nothing to read. (model.c) */
const ga__document *ga__model_document(const ga_model *model);

#endif
