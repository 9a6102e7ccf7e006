/* Reading of trees into a machine: names of parts and functions, and objects that the machine borrows. Errors
 * are reported with their places, and reading continues. */
#ifndef GALPHA_MODEL_READER_H
#define GALPHA_MODEL_READER_H

#include "mbs/parts.h"
#include "model/parameters.h"

/* ---- Names of parts and functions ---- */

/* What is left out of a wrong part. The machine is built nevertheless, to find further errors. */
typedef enum ga__omission {
  GA__OMIT_NOTHING = 0,
  GA__OMIT_INPUTS,  /* of a block: all are 0 */
  GA__OMIT_NUMBERS, /* defaults stand in for what could not be read */
  GA__OMIT_ALL
} ga__omission;

typedef struct ga__named {
  const char *name;
  ga__tree *tree;       /* where it is defined */
  int kind;             /* of a part: ga__part_kind; −1: unknown, which was reported */
  int used;             /* 1: something refers to it */
  int duplicate;        /* two parts have this name, which was reported */
  ga__omission omitted; /* of a part */
  int state;            /* of a function: a function_state */
  ga_function *function;
  ga_definition *definition;  /* instead, of several arguments */
  const ga_modal_body *modal; /* of a part of type modal: once it is made */
  struct ga__body_size *size; /* of a body: data for warnings; NULL: not read */
} ga__named;

/* Named objects: list[i] has name number i. */
typedef struct ga__directory {
  ga__names names;
  ga__named *list;
} ga__directory;

ga__named *ga__directory_find(const ga__directory *d, const char *name, size_t bytes); /* NULL: none */
/* The object with this name, or with the longest name that precedes a dot in it. */
ga__named *ga__directory_head(const ga__directory *d, const char *name, size_t bytes);

typedef struct ga__reader {
  ga__reading *r;
  const char *folder; /* of the model; NULL: it is a text */
  double t_start;     /* [s] of the model's settings */
  ga_machine *m;
  ga__directory parts, functions;
  struct ga__kept *kept; /* what the machine borrows, the latest first */
  int again;             /* 1: another round without the parts that could not be built */
  int guessed; /* 1: defaults replace wrong positions, so errors that depend on positions are not reported */
} ga__reader;

/* Calls release(thing) after the machine is destroyed; returns 0: out of memory, and it was
 * called at once. */
int ga__keep(ga__reader *reader, void *thing, void (*release)(void *thing));
void ga__release_kept(struct ga__kept **kept);
/* From the document's memory; NULL: r->failed. */
void *ga__room(ga__reader *reader, size_t count, size_t size);
/* A path that is not within the model's folder: absolute, or upwards. */
int ga__leaves_folder(const char *path);
/* Reports the context's last error at a place; out of memory is remembered instead. */
void ga__report_status(ga__reader *reader, ga__place at, ga_status status);

#endif
