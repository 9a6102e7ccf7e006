/* What goes on from trees to a machine: names of parts and functions, and what the machine borrows. What is
 * wrong is reported with its place, and reading goes on. */
#ifndef GALPHA_MODEL_READER_H
#define GALPHA_MODEL_READER_H

#include "mbs/parts.h"
#include "model/parameters.h"

/* ---- Names of parts and functions ---- */

/* What of a wrong part stays out of the machine, which is built all the same for the sake of further
 * messages. */
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
  int used;             /* somebody refers to it */
  int duplicate;        /* two parts have this name, which was reported */
  ga__omission omitted; /* of a part */
  int state;            /* of a function: a function_state */
  ga_function *function;
  const ga_modal_body *modal; /* of a part of type modal: once it is made */
  struct ga__body_size *size; /* of a body: what its numbers are judged by; NULL: not read */
} ga__named;

/* What is called so: list[i] has the name number i. */
typedef struct ga__directory {
  ga__names names;
  ga__named *list;
} ga__directory;

ga__named *ga__directory_find(const ga__directory *d, const char *name, size_t bytes); /* NULL: none */
/* The one whose name this is, or begins with before a dot: the longest such. */
ga__named *ga__directory_head(const ga__directory *d, const char *name, size_t bytes);

typedef struct ga__reader {
  ga__reading *r;
  const char *folder; /* of the model; NULL: it is a text */
  ga_machine *m;
  ga__directory parts, functions;
  struct ga__kept *kept; /* what the machine borrows, the latest first */
  int again;             /* 1: another round without the parts that could not be built */
  int guessed;           /* 1: defaults stand in for places, so that what lies where says nothing */
} ga__reader;

/* `release` will be called with `thing` after the machine is gone; 0: no memory, and it was called. */
int ga__keep(ga__reader *reader, void *thing, void (*release)(void *thing));
void ga__release_kept(struct ga__kept **kept);
/* From the document's memory; NULL: r->failed. */
void *ga__room(ga__reader *reader, size_t count, size_t size);
/* A path that is not within the model's folder: absolute, or upwards. */
int ga__leaves_folder(const char *path);
/* Reports the context's last error at a place; out of memory is remembered instead. */
void ga__report_status(ga__reader *reader, ga__place at, ga_status status);

#endif
