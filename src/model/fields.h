/* Structs from maps, by tables of fields. */
#ifndef GALPHA_MODEL_FIELDS_H
#define GALPHA_MODEL_FIELDS_H

#include "model/reader.h"

enum { GA__MOST_SIZES = 4 };

/* The part, or other object, whose fields are read. */
typedef struct ga__owner {
  const char *type_key; /* what the field `kind` is called: "type" */
  int other;            /* units are those of angles */
  int kind;             /* value of the field `kind`; −1: has none */
  const char *kind_name;
  struct {
    size_t at;      /* offset of the int, + 1 */
    const char *by; /* the field that set it */
  } size[GA__MOST_SIZES];
  int n_sizes;
} ga__owner;

/* Reads all fields of the map into the struct at base; returns 0: some were wrong. Unknown keys are reported
 * by ga__finish_keys(). */
int ga__read_fields(ga__reader *reader, ga__tree *map, int n, const ga__field *fields, ga__owner *owner,
                    void *base);
/* Reports keys that are neither a field's nor among `more`. */
void ga__finish_keys(ga__reader *reader, const ga__tree *map, int n, const ga__field *fields,
                     const ga__owner *owner, int n_more, const char *const *more);
/* The key of a field in files. */
const char *ga__field_key(const ga__field *field, const char *type_key);
/* A note for a field's line; "": none. */
const char *ga__field_note(const ga__field *field);
/* Sets a size that follows from a list or from the inputs; returns 0: it contradicts an earlier one, which is
 * reported. */
int ga__set_size(ga__reader *reader, ga__owner *owner, void *base, size_t at, int n, const char *by,
                 const ga__tree *tree);
/* A text, or a list of texts. */
int ga__read_texts(ga__reader *reader, const ga__tree *tree, int *n, const char ***texts);

/* ---- Poses (poses.c) ---- */

/* Reads the keys position and rotation of a map, if given. */
int ga__read_pose_keys(ga__reader *reader, ga__tree *map, ga_pose *pose);
/* A list, the position alone, or a map of these keys. */
int ga__read_pose(ga__reader *reader, ga__tree *tree, ga_pose *pose);
/* Warns of an angle given as a plain number of more than one turn, which is probably in degrees. */
void ga__suspect_turn(ga__reader *reader, const ga__tree *tree);

#endif
