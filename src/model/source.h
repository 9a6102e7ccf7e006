/* The files that a model was made of, so that none of them is written over. */
#ifndef GALPHA_MODEL_SOURCE_H
#define GALPHA_MODEL_SOURCE_H

#include "model/value.h"

/* Files are known by what the system has of them, not by their names, which may be links. */
typedef struct ga__model_source ga__model_source;

/* Notes a file that is read; one that is not there is not noted. The memory is that of r->pool. */
void ga__model_source_add(ga__reading *r, const char *path);
int ga__model_source_has(const ga__model_source *first, const char *path); /* 1: the file at path is one of them */
int ga__model_source_changed(const ga__model_source *first); /* 1: one was written, replaced or removed since */

#endif
