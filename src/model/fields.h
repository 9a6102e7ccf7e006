/* Structs from maps, by tables of fields. */
#ifndef GALPHA_MODEL_FIELDS_H
#define GALPHA_MODEL_FIELDS_H

#include "model/reader.h"

enum { GA__MOST_SIZES = 4 };

/* Whose fields are read. */
typedef struct ga__owner {
  const char *type_key; /* what the field `kind` is called: "type" */
  int other;            /* units are those of angles */
  int kind;             /* value of the field `kind`; −1: has none */
  const char *kind_name;
  struct {
    size_t at;      /* offset of the int, + 1 */
    const char *by; /* the field that gave it */
  } size[GA__MOST_SIZES];
  int n_sizes;
} ga__owner;

/* Reads all fields that the map has into the struct at base; 0: some were wrong. Keys remain to be judged by
 * ga__finish_keys(). */
int ga__read_fields(ga__reader *reader, ga__tree *map, int n, const ga__field *fields, ga__owner *owner,
                    void *base);
/* Reports keys that are neither a field's nor among `more`. */
void ga__finish_keys(ga__reader *reader, const ga__tree *map, int n, const ga__field *fields,
                     const ga__owner *owner, int n_more, const char *const *more);
/* The name under which a field stands in files. */
const char *ga__field_key(const ga__field *field, const char *type_key);
/* What there is to add to a field's line; "": nothing. */
const char *ga__field_note(const ga__field *field);
/* A size that a list or the inputs gave; 0: another was given already, and it was reported. */
int ga__set_size(ga__reader *reader, ga__owner *owner, void *base, size_t at, int n, const char *by,
                 const ga__tree *tree);
/* A text, or a list of texts. */
int ga__read_texts(ga__reader *reader, const ga__tree *tree, int *n, const char ***texts);

/* ---- Poses (poses.c) ---- */

/* The keys position and rotation of a map, where they are. */
int ga__read_pose_keys(ga__reader *reader, ga__tree *map, ga_pose *pose);
/* A list, the position alone, or a map of these keys. */
int ga__read_pose(ga__reader *reader, ga__tree *tree, ga_pose *pose);
/* Warns of an angle that was read: a plain number of more than a turn is rather one of degrees. */
void ga__suspect_turn(ga__reader *reader, const ga__tree *tree);

#endif
