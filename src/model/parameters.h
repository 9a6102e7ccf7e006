/* Parameters of a model: values by name, computed when first needed. */
#ifndef GALPHA_MODEL_PARAMETERS_H
#define GALPHA_MODEL_PARAMETERS_H

#include "model/value.h"

/* Reads the section `parameters` (NULL: there is none) and opts.set. NULL: out of memory. */
struct ga__parameters *ga__parameters_read(ga__reading *r, ga__tree *section);
/* The parameters of the files read so far, whose values are computed where they are needed; others may be
 * missing. They become those of r. */
struct ga__parameters *ga__parameters_preview(ga__reading *r, ga__tree *section);
void ga__parameters_destroy(ga_context *ctx, struct ga__parameters **p);

typedef enum ga__lookup { GA__UNKNOWN_NAME, GA__KNOWN_NAME, GA__WRONG_NAME } ga__lookup;

/* The value of a name in an expression: an index of the scope, or a parameter, which is marked as
 * used. GA__WRONG_NAME: its text is wrong, which is reported. *known (may be NULL): a permanent copy
 * of the name. */
ga__lookup ga__parameter_find(ga__reading *r, const ga__scope *scope, const char *name, size_t bytes,
                              ga__number *out, const char **known);
/* All parameters, to find the nearest name. */
int ga__parameter_count(const ga__reading *r);
const char *ga__parameter_name(const ga__reading *r, int i);
/* Parameter i of a document, in the order of the files. 0: there are fewer, or its value is wrong. */
int ga__parameters_at(const struct ga__parameters *p, int i, const char **name, ga__number *number);
/* Warns of unused parameters; to be called at the end if there are no errors. */
void ga__parameters_unused(ga__reading *r);

#endif
