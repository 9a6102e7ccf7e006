/* The format itself, for its schema and its page. */
#ifndef GALPHA_MODEL_FORMAT_H
#define GALPHA_MODEL_FORMAT_H

#include "model/fields.h"

/* Section i = 0, 1, ... of parts, in the order they are read in; NULL after the last. */
const char *ga__section_at(int i);

/* A key that is not in the tables of fields. */
typedef struct ga__extra {
  const char *name;
  const char *value; /* what stands there: "number", "text", "texts", "rows", "inputs" */
  const char *about;
} ga__extra;

typedef struct ga__group { /* one kind of map, by its fields */
  const char *section;     /* "bodies" */
  const char *type;        /* its `type`; NULL: it has none, or the field `kind` */
  const char *about;
  int n;
  const ga__field *fields;
  int n_extra;
  const ga__extra *extra;
  void (*defaults)(void *base);
  size_t size;
} ga__group;

enum { GA__DEFAULTS = 128 }; /* doubles that hold the defaults of any group */

/* Group i = 0, 1, ... of settings, functions, parts, blocks; 0: there is none. (schema.c) */
int ga__group_at(int i, ga__group *group);
void ga__group_defaults(const ga__group *group, double base[GA__DEFAULTS]);
/* The default of a field as it would be written in a file, or in words; empty: none. */
void ga__field_default(char *text, size_t size, const ga__field *field, const void *base);
int ga__field_needed(const ga__field *field, const void *base);
int ga__part_group(int i, ga__group *group);     /* parts.c */
int ga__function_group(int i, ga__group *group); /* functions.c */
int ga__block_group(int i, ga__group *group);    /* blocks.c */
int ga__setting_group(int i, ga__group *group);  /* settings.c */

#endif
