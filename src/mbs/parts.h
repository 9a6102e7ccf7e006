/* Kinds of parts: tables of their fields and conditions. (part_kinds.c) */
#ifndef GALPHA_MBS_PARTS_H
#define GALPHA_MBS_PARTS_H

#include "mbs/field.h"
#include "mbs/mbs_impl.h"

typedef struct ga__part_type {
  const char *name;    /* "rigid": of ga_machine_add_rigid(); NULL: none */
  const char *text;    /* "rigid body": in messages */
  const char *section; /* of model files */
  const char *type;    /* its `type` there; NULL: the field `kind` is, or it has none */
  const char *about;   /* one line */
  size_t size;
  const ga__field *fields; /* the name first */
  int n_fields;
  void (*defaults)(void *def);                      /* NULL: blocks */
  ga_status (*add)(ga_machine *m, const void *def); /* NULL: blocks */
  const ga__element_type *element;                  /* its type */
} ga__part_type;

/* Kinds (bits of the field `kind`) that use a field. */
unsigned long ga__field_kinds(const ga__field *field);

const ga__part_type *ga__part_type_of(ga__part_kind kind);
size_t ga__def_size(ga__part_kind kind);

/* Checks numbers, choices and required texts. Names are resolved later, when the machine is built. Rotations
 * that are orthogonal to 1e-6 are made orthogonal to rounding. The message names kind, part, field, value. */
ga_status ga__def_check(ga_context *ctx, ga__part_kind kind, void *def);

/* A member of a part's definition by its name; NULL: none. *count (count may be NULL): length of an array. */
const void *ga__part_member(const ga__part *part, const char *name, int *count);

/* Address of matrix number i = 0, 1, ... in a definition, *n (may be NULL) numbers; NULL after the last. */
const double **ga__def_matrix(ga__part_kind kind, void *def, int i, size_t *n);

/* Address of text number i = 0, 1, ... in a definition, the name first; NULL after the last. */
const char **ga__def_text(ga__part_kind kind, void *def, int i);

#endif
