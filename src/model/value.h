/* From trees to values: numbers with units and expressions, texts, lists; every failure is reported with its
 * place. */
#ifndef GALPHA_MODEL_VALUE_H
#define GALPHA_MODEL_VALUE_H

#include "model/model_impl.h"

/* What reading goes by: files, messages, parameters. The caller fills in ctx, messages and opts,
 * ga__document_read() the rest, which lives as long as the document. */
typedef struct ga__reading {
  ga_context *ctx;
  ga__messages *messages;
  const ga_model_opts *opts;
  struct ga__parameters
      *parameters; /* values known; a parameter may use those before and after it, circles are reported */
  ga__pool *pool;  /* memory that lives as long as the document */
  int failed;      /* 1: out of memory */
  int incomplete;  /* 1: an included file could not be read, so names may be missing for that reason alone */
} ga__reading;

/* An unknown name in an expression that may be that of a file which could not be read: nothing to report. */
int ga__may_be_elsewhere(const ga__reading *r, const ga_text_error *error);

/* Each returns 1, or 0 after having said what is wrong (once: an expression in a parameter that is wrong
 * itself fails silently; out of memory sets r->failed). unit: that of the value in SI, as expr's ("kg*m^2",
 * "1": a plain number, NULL: any). A scalar is a number ("0.5"), a quantity ("12 mm"), or an expression in
 * parameters and in indices of repeats
 * ("2*L", "L/2 + 3[mm]"). what: for messages, "mass of rigid body 'crank'". */
int ga__value_number(ga__reading *r, const ga__tree *tree, const char *unit, const char *what, double *out);
/* A list of n numbers. */
int ga__value_numbers(ga__reading *r, const ga__tree *tree, int n, const char *unit, const char *what,
                      double *out);
int ga__value_int(ga__reading *r, const ga__tree *tree, long low, long high, const char *what, long *out);
int ga__value_bool(ga__reading *r, const ga__tree *tree, const char *what,
                   int *out); /* true, false, yes, no */
/* A name or text; the pointer lives as long as the tree. */
int ga__value_text(ga__reading *r, const ga__tree *tree, const char *what, const char **out);
/* A unit, "Pa"; likewise. */
int ga__value_unit(ga__reading *r, const ga__tree *tree, const char *what, const char **out);
/* One of n names; the message offers the nearest. */
int ga__value_choice(ga__reading *r, const ga__tree *tree, int n, const char *const *names, const char *what,
                     int *out);
/* An expression for others to compile, its parameters and indices replaced by their numbers (parameters count
 * as used then). Names that are neither are left: they may be signals. The pointer lives as long as the
 * document. */
int ga__value_formula(ga__reading *r, const ga__tree *tree, const char *what, const char **out);
/* The place of the character in this column (from 1) of a scalar's text, as far as that is known. */
ga__place ga__value_place(const ga__tree *tree, int column);

/* Maps: the child of a key, marked as used; NULL: not there. */
ga__tree *ga__map_get(ga__tree *map, const char *key);
/* Only looks. */
const ga__tree *ga__map_peek(const ga__tree *map, const char *key);
/* Is it a map (list)? Says so if not. */
int ga__expect_map(ga__reading *r, const ga__tree *tree, const char *what);
int ga__expect_list(ga__reading *r, const ga__tree *tree, const char *what);
/* Reports every key that nobody asked for, with the nearest of the n that would have been known. */
void ga__unknown_keys(ga__reading *r, const ga__tree *map, int n, const char *const *known, const char *what);
/* The most similar of n names, "" where none is similar. */
void ga__nearest_name(char nearest[GA_TEXT_PIECE], const char *word, int n, const char *const *names);

/* ---- Parameters (parameters.c) ----------------------------------------------------------------------------
 */

/* Reads the section `parameters` (NULL: there is none) and opts.set. NULL: out of memory. */
struct ga__parameters *ga__parameters_read(ga__reading *r, ga__tree *section);
void ga__parameters_destroy(ga_context *ctx, struct ga__parameters **p);

typedef enum ga__lookup { GA__UNKNOWN_NAME, GA__KNOWN_NAME, GA__WRONG_NAME } ga__lookup;

/* A number that may have come with a unit. */
typedef struct ga__number {
  double value;
  ga_dimension dimension;
  int has_dimension; /* 0: it came without, and goes for any */
} ga__number;

/* The value of a name in an expression: an index of the scope, or a parameter, which counts as used from now
 * on. GA__WRONG_NAME: its own text is wrong, which has been said. *known (may be NULL) is a copy of the name
 * that lives. */
ga__lookup ga__parameter_find(ga__reading *r, const ga__scope *scope, const char *name, size_t bytes,
                              ga__number *out, const char **known);
/* All parameters, to find the nearest name. */
int ga__parameter_count(const ga__reading *r);
const char *ga__parameter_name(const ga__reading *r, int i);
/* Warns of parameters that nothing used; to be called when everything has been read, where there are no
 * errors. */
void ga__parameters_unused(ga__reading *r);

/* A scalar's number with its unit, for parameters. */
int ga__value_with_unit(ga__reading *r, const ga__tree *tree, const char *unit, const char *what,
                        ga__number *out);

#define GA__VERSION_KEY "galpha (the version of the format)"

/* ---- Documents (document.c) -------------------------------------------------------------------------------
 */

/* A whole document: the file with its includes merged, `repeat` expanded, `parameters` taken out and set.
 * path NULL: text. NULL after errors that leave nothing to read. */
typedef struct ga__document ga__document;
#define GA__LARGEST_FILE ((size_t)256 << 20) /* bytes of one */
ga__document *ga__document_read(ga__reading *r, const char *path, const char *name, const char *text,
                                size_t length);
void ga__document_destroy(ga_context *ctx, ga__document **d);
ga__tree *ga__document_root(ga__document *d); /* a map */
const char *ga__document_file(const ga__document *d, int file);
const char *ga__document_text(const ga__document *d); /* of all files, each with a line that names it */

/* ---- Writing (write.c) ------------------------------------------------------------------------------------
 */

/* The document as one YAML text, which the caller frees by ga__free(): includes merged, parameters as set,
 * everything else as it was written, repeats too. A text of more than `most` bytes is refused. */
ga_status ga__document_write(const ga__document *d, size_t most, char **text, size_t *length);
/* That text for keeping beside results, with those of the files below it as comments: so their own comments
 * are not lost. The caller frees it by ga__free(). NULL: out of memory. */
char *ga__document_keep(const ga__document *d, const char *written, size_t length);
int ga__document_n_files(const ga__document *d);
/* Writes that text to a file, wholly or not at all. The files of the document are refused. */
ga_status ga__document_save(const ga__document *d, const char *path, const char *text, size_t length);

#endif
