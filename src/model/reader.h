/* From trees to definitions, by tables of fields. What is wrong is reported with its place, and reading goes
 * on.
 */
#ifndef GALPHA_MODEL_READER_H
#define GALPHA_MODEL_READER_H

#include "mbs/parts.h"
#include "model/value.h"

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

/* ---- Fields (reader.c) ---- */

enum { GA__WHAT = 320, GA__MOST_SIZES = 4 };

/* What is read, for messages, cut where it is long. */
void ga__what(char text[GA__WHAT], const char *format, ...) GA_PRINTF(2, 3);

/* Whose fields are read. */
typedef struct ga__owner {
  const char *what;     /* "rigid body 'crank'" */
  const char *type_key; /* what the field `kind` is called: "type" */
  int other;            /* units are those of angles */
  int kind;             /* value of the field `kind`; −1: has none */
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

int ga__read_pose(ga__reader *reader, ga__tree *tree, const char *what, ga_pose *pose);
/* Warns of an angle that was read: a plain number of more than a turn is rather one of degrees. */
void ga__suspect_turn(ga__reader *reader, const ga__tree *tree, const char *what);
/* Text, number, or map of value, function, expression. */
int ga__read_input(ga__reader *reader, ga__tree *tree, const char *unit, const char *what, ga_input *input);
/* Compiles a text with all its names as variables, and the model's functions: what is wrong with it is
 * reported in the words of the file. 0: something is. */
int ga__check_syntax(ga__reader *reader, const ga__tree *tree, const char *what);
/* An expression of t, signals and `local` names, parameters replaced by their values. */
int ga__read_expression(ga__reader *reader, const ga__tree *tree, int n_local, const char *const *local,
                        const char *what, const char **text);
/* Is this scalar a number, perhaps of parameters? Otherwise signals occur in it. */
int ga__is_number(ga__reader *reader, const ga__tree *tree);
/* 1: a quantity in tonnes where t is the time, "2 N*t", which was reported. */
int ga__refuse_tonnes(ga__reader *reader, const ga__tree *tree, const char *what);
/* A text, or a list of texts. */
int ga__read_texts(ga__reader *reader, const ga__tree *tree, const char *what, int *n, const char ***texts);
/* Says what the context's last error is, at a place; out of memory is remembered instead. */
void ga__say_error(ga__reader *reader, ga__place at, ga_status status);

/* ---- Sections ---- */

/* parts.c */
/* Sets named->omitted where it is wrong, which was reported. */
void ga__read_part(ga__reader *reader, ga__named *named);
/* Warnings of numbers that are suspicious, and of parts that nothing refers to; when all is read. */
void ga__suspect_parts(ga__reader *reader);
/* The ga_joint_kind that a joint's type names; −1: none. */
int ga__joint_kind_of(const ga__tree *joint);

/* refusal.c: says what the builder refuses, where the part, or the field that is meant, stands. */
void ga__say_refusal(ga__reader *reader, const ga__named *named, ga_status status);

/* functions.c */
enum { GA__N_INTERPOLATIONS = GA_INTERPOLATE_SPLINE + 1, GA__N_EXTRAPOLATIONS = GA_EXTRAPOLATE_ERROR + 1 };
extern const char *const ga__interpolation_names[GA__N_INTERPOLATIONS];
extern const char *const ga__extrapolation_names[GA__N_EXTRAPOLATIONS];
int ga__read_named_function(ga__reader *reader, ga__named *named); /* 0: it could not be made */
/* A name, a number, an expression in t, or a function in place; unit: of its value. */
int ga__read_function(ga__reader *reader, ga__tree *tree, const char *unit, const char *what,
                      const ga_function **f);
int ga__calls_function(const ga__reader *reader, const char *text); /* 1: one of the model's functions */
/* All functions that could be made become the machine's. */
void ga__add_functions(ga__reader *reader);
/* The functions that a text calls, as symbols; 0 after failure. */
int ga__read_calls(ga__reader *reader, const ga__tree *tree, int *n, ga_symbol **symbols);

/* blocks.c */
/* As far as named->omitted leaves it; 0: it was not added. */
int ga__read_block(ga__reader *reader, ga__named *named);

/* settings.c */
typedef struct ga__globals {
  ga_machine_opts machine;
  const char *title;
  int gives_gravity; /* 1: the key is there */
} ga__globals;
void ga__read_globals(ga__reader *reader, ga__tree *root, ga__globals *out);
void ga__read_settings(ga__reader *reader, ga__tree *root, ga_run_settings *settings);

/* ---- All of it (build.c) ---- */

/* Reads all parts of a document and builds the machine; reader->m is NULL after errors. */
void ga__read_machine(ga__reader *reader, ga__tree *root, ga__globals *globals, ga_run_settings *settings);

/* ---- The format, for schema and page ---- */

/* Section i = 0, 1, ... of parts, in the order they are read in; NULL after the last. */
const char *ga__section_at(int i);

/* A key that is read by hand. */
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
/* What a field is where it is not given, as it would stand in a file, or in words; empty: nothing to say. */
void ga__field_default(char *text, size_t size, const ga__field *field, const void *base);
int ga__field_needed(const ga__field *field, const void *base);
int ga__part_group(int i, ga__group *group);     /* parts.c */
int ga__function_group(int i, ga__group *group); /* functions.c */
int ga__block_group(int i, ga__group *group);    /* blocks.c */
int ga__setting_group(int i, ga__group *group);  /* settings.c */

#endif
