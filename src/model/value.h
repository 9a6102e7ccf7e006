/* From trees to values: numbers with units and expressions, texts, lists; every failure is reported with its
 * place. */
#ifndef GALPHA_MODEL_VALUE_H
#define GALPHA_MODEL_VALUE_H

#include "model/line.h"
#include "model/tree.h"

#include <stdint.h>

/* A number that may have come with a unit. */
typedef struct ga__number {
  double value;
  ga_dimension dimension;
  int has_dimension; /* 0: given without a unit, fits any */
  ga__course course; /* along ga__reading.line */
} ga__number;

/* State of a reading: files, messages, parameters. The caller sets ctx, messages and opts,
 * ga__document_read() the rest, which lives as long as the document. */
/* A motion that the caller prescribes (prescribe.c). */
typedef struct ga__prescribed {
  struct ga__tree *function; /* NULL: it is wrong, which was reported */
  const char *drive;         /* name of the drive */
} ga__prescribed;

typedef struct ga__reading {
  ga_context *ctx;
  ga__messages *messages;
  const ga_model_opts *opts;
  const ga__line *line;   /* NULL: the model itself is read */
  ga__line_values values; /* what numbers get along it */
  struct ga__parameters
      *parameters; /* values known; a parameter may use those before and after it, circles are reported */
  ga__pool *pool;  /* memory that lives as long as the document */
  ga__prescribed *prescribed;       /* [opts->n_prescribe]; NULL: not yet */
  uint64_t data;                    /* digest of the files with matrices read so far; 0: none */
  struct ga__model_source *sources; /* files read so far, in the pool */
  int failed;                       /* 1: out of memory */
  int incomplete; /* 1: an included file could not be read, so names may be missing for that reason alone */
} ga__reading;

/* 1: the unknown name may come from a file that could not be read, so it is not reported. */
int ga__may_be_elsewhere(const ga__reading *r, const ga_text_error *error);

/* Each returns 1, or 0 after an error was reported. (An expression of a wrong parameter fails silently, since
 * the parameter was reported; out of memory sets r->failed.) unit: SI unit of the value ("kg*m^2", "1": a
 * plain number, NULL: any). A scalar is a number ("0.5"), a quantity ("12 mm"), or an expression of
 * parameters and indices of repeats ("2*L", "L/2 + 3[mm]"). */
int ga__value_number(ga__reading *r, const ga__tree *tree, const char *unit, double *out);
/* Sets r->values; returns what they were. On the curve where what is read says where parts are: it must close
 * loops as the model does. */
ga__line_values ga__value_choose(ga__reading *r, ga__line_values values);
/* The value that a model along a line gets. */
double ga__value_along(const ga__reading *r, const ga__number *number, const char *unit);
/* A list of n numbers. */
int ga__value_numbers(ga__reading *r, const ga__tree *tree, int n, const char *unit, double *out);
int ga__value_int(ga__reading *r, const ga__tree *tree, long low, long high, long *out);
int ga__value_bool(ga__reading *r, const ga__tree *tree, int *out); /* true, false, yes, no */
/* A name or text; the pointer lives as long as the tree. */
int ga__value_text(ga__reading *r, const ga__tree *tree, const char **out);
/* A unit, "Pa"; the pointer lives as long as the tree. */
int ga__value_unit(ga__reading *r, const ga__tree *tree, const char **out);
/* One of n names; the message offers the nearest. */
int ga__value_choice(ga__reading *r, const ga__tree *tree, int n, const char *const *names, int *out);
/* An expression with parameters (which are marked as used) and indices replaced by their numbers. Other names
 * are kept: they may be signals. The pointer lives as long as the document. */
int ga__value_formula(ga__reading *r, const ga__tree *tree, const char **out);
/* The place of the character in this column (from 1) of a scalar's text, as far as that is known. */
ga__place ga__value_place(const ga__tree *tree, int column);

/* Maps: the child of a key, marked as used; NULL: not there. */
ga__tree *ga__map_get(ga__tree *map, const char *key);
/* The same, without marking it as used. */
const ga__tree *ga__map_peek(const ga__tree *map, const char *key);
/* 1: it is a map (list); otherwise this is reported. */
int ga__expect_map(ga__reading *r, const ga__tree *tree);
/* 1: the map has a key such as type:planar instead, without a blank after the colon, which is reported. */
int ga__report_glued_key(ga__reading *r, const ga__tree *map, const char *key);
int ga__expect_list(ga__reading *r, const ga__tree *tree);
int ga__expect_list_of(ga__reading *r, const ga__tree *tree,
                       const char *expected); /* "a list of 3 numbers" */
/* Report a list of n entries where something else is expected, and a number out of its range; return 0.
 * detail: addition to the message; NULL: none. */
int ga__report_count(ga__reading *r, const ga__tree *tree, const char *expected, int n, const char *detail);
int ga__report_range(ga__reading *r, const ga__tree *tree, double value, const char *unit,
                     const char *expected);
/* Reports every unused key, with the nearest of n known ones. */
void ga__unknown_keys(ga__reading *r, const ga__tree *map, int n, const char *const *known);
/* The most similar of n names, "" where none is similar. */
void ga__nearest_name(char nearest[GA_TEXT_PIECE], const char *word, int n, const char *const *names);
/* A scalar's number with its unit, for parameters. */
int ga__value_with_unit(ga__reading *r, const ga__tree *tree, const char *unit, ga__number *out);

#endif
