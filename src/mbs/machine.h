/* A machine as it is given: its parts. (parts.c) */
#ifndef GALPHA_MBS_MACHINE_H
#define GALPHA_MBS_MACHINE_H

#include "base/base_impl.h"
#include "galpha/mbs.h"

#define GA__TWO_PI 6.283185307179586
/* [m] Ends closer than this are taken to coincide: rounding of positions. */
#define GA__COINCIDENT 1e-12

typedef enum ga__part_kind {
  GA__PART_GROUND = 0,
  GA__PART_RIGID,
  GA__PART_PLANAR,
  GA__PART_POINT,
  GA__PART_SCALAR,
  GA__PART_BEAM,
  GA__PART_CABLE,
  GA__PART_MODAL,
  GA__PART_MARKER,
  GA__PART_JOINT,
  GA__PART_DRIVE,
  GA__PART_ROLLING,
  GA__PART_SLIDER,
  GA__PART_CONSTRAINT,
  GA__PART_SPRING,
  GA__PART_ACTUATOR,
  GA__PART_FRICTION,
  GA__PART_DRY_FRICTION,
  GA__PART_BUSHING,
  GA__PART_FORCE,
  GA__PART_LINE_LOAD,
  GA__PART_CONTACT,
  GA__PART_STOP,
  GA__PART_RIGID_STOP,
  GA__PART_ROAD,
  GA__PART_TYRE,
  GA__PART_COLLIDER,
  GA__PART_COLLISION,
  GA__PART_SHAPE,
  GA__PART_SENSOR,
  GA__PART_SIGNAL,
  GA__PART_GUESS,
  GA__PART_VARIABLE, /* becomes a block when it is added */
  GA__PART_EVENT,
  GA__PART_BLOCK,
  GA__N_PARTS,
  GA__PART_ELEMENT = GA__N_PARTS /* not in model files: a ga__element_def with its own type, see element.h */
} ga__part_kind;

typedef struct ga__block_def { /* arguments of ga_machine_add_block() */
  const char *name;
  ga_control_block *block; /* owned */
  ga_input *inputs;        /* owned, [ga_block_n_in(block)] */
} ga__block_def;

typedef struct ga__part {
  ga__part_kind kind;
  const char *name; /* owned; the name in def */
  void *def;        /* owned copy of the definition of its kind, with its texts; NULL for the ground */
} ga__part;

typedef struct ga__mbs_model ga__mbs_model; /* model.h */
typedef struct ga__element ga__element;     /* element.h */
typedef struct ga__element_type ga__element_type;

struct ga_machine {
  ga_context *ctx;
  ga_machine_opts opts;
  int n_parts, capacity;
  ga__part *part;       /* part[0] is the ground */
  ga__mbs_model *model; /* NULL until it is built */
  int *bucket;          /* names: 1 + index of a part, 0: empty; open addressing */
  int n_buckets;        /* a power of two */
  int n_functions;      /* for use in expressions */
  ga_symbol *function;  /* [n_functions] their names belong to the machine */
};

/* For messages: when most functions of a machine may be called. */
#define GA__ONCE_BUILT "after ga_machine_build()"

const char *ga__part_text(ga__part_kind kind);            /* "rigid body", "spring", ... */
int ga__find_part(const ga_machine *m, const char *name); /* −1: none */
/* Refuses a name that refers to nothing, or to a part of the wrong kind; the message suggests the nearest
 * name. field: the field of `asking` that has the name ("a", "coordinate"); needs: "a body or marker".
 * Returns GA_ERR_ARGUMENT. */
ga_status ga__refuse_unknown(const ga_machine *m, const ga__part *asking, const char *field, const char *name,
                             const char *needs);
/* The same for an argument of a function, with the caller's context. */
ga_status ga__refuse_unknown_argument(const ga_machine *m, ga_context *ctx, const char *function,
                                      const char *field, const char *name, const char *needs);
/* Refuses something about a part: adds its kind and name to the facts. Returns status. */
ga_status ga__refuse_part(ga_context *ctx, const ga__part *part, ga_status status, ga_reason reason,
                          ga__facts facts);

/* Sets the part of the last error. */
void ga__error_set_part(ga_context *ctx, const ga__part *part);

/* A growing array of plain structs. */
typedef struct ga__list {
  void *at;
  int n, capacity;
  size_t size;
} ga__list;
#define GA__AT(list, type, i) (&((type *)(list).at)[i])

/* Makes room for n more items. */
ga_status ga__list_reserve(ga_context *ctx, ga__list *list, int n);
/* Adds an item, zeroed; NULL: out of memory, which is reported. */
void *ga__list_add(ga_context *ctx, ga__list *list);

#endif
