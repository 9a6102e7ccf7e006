/* From trees to values: numbers with units and expressions, texts, lists; every failure is told with its place. */
#ifndef GALPHA_MODEL_VALUE_H
#define GALPHA_MODEL_VALUE_H

#include "model/model_impl.h"

/* What reading goes by: files, messages, parameters. (value.c; created by document.c) */
typedef struct ga__reading {
  ga_context *ctx;
  ga__messages *messages;
  const ga_model_opts *opts;
  struct ga__parameters *parameters; /* values known; a parameter may use those before and after it, circles are told */
  int failed;                        /* 1: out of memory */
} ga__reading;

/* Each returns 1, or 0 after having said what is wrong. unit: that of the value in SI, as expr's ("kg*m^2", "1": a plain
 * number, NULL: any). A scalar is a number ("0.5"), a quantity ("12 mm"), or an expression in parameters ("2*L", "L/2 + 3[mm]").
 * what: for messages, "mass of rigid body 'crank'". */
int ga__value_number(ga__reading *r, const ga__tree *tree, const char *unit, const char *what, double *out);
/* A list of n numbers, or where `repeat` is 1 a single number for all. */
int ga__value_numbers(ga__reading *r, const ga__tree *tree, int n, const char *unit, const char *what, double *out);
int ga__value_int(ga__reading *r, const ga__tree *tree, long low, long high, const char *what, long *out);
int ga__value_bool(ga__reading *r, const ga__tree *tree, const char *what, int *out); /* true, false, yes, no */
/* A name or text; the pointer lives as long as the tree. */
int ga__value_text(ga__reading *r, const ga__tree *tree, const char *what, const char **out);
/* One of n names; the message offers the nearest. */
int ga__value_choice(ga__reading *r, const ga__tree *tree, int n, const char *const *names, const char *what, int *out);

/* Maps: the child of a key, marked as used; NULL: not there. */
ga__tree *ga__map_get(ga__tree *map, const char *key);
/* Is it a map (list)? Says so if not. */
int ga__expect_map(ga__reading *r, const ga__tree *tree, const char *what);
int ga__expect_list(ga__reading *r, const ga__tree *tree, const char *what);
/* Tells every key that nobody asked for, with the nearest of the n that would have been known. */
void ga__unknown_keys(ga__reading *r, const ga__tree *map, int n, const char *const *known, const char *what);

/* A whole document (document.c): the file with its includes merged, `repeat` expanded, `parameters` taken out and set.
 * path NULL: text. NULL after errors that leave nothing to read. */
typedef struct ga__document ga__document;
ga__document *ga__document_read(ga__reading *r, const char *path, const char *name, const char *text, size_t length);
void ga__document_destroy(ga_context *ctx, ga__document **d);
ga__tree *ga__document_root(ga__document *d);         /* a map */
const char *ga__document_file(const ga__document *d, int file);
const char *ga__document_text(const ga__document *d); /* of all files, each with a line that names it */

#endif
