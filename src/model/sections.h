/* Sections of a model: each reads its part of the document. */
#ifndef GALPHA_MODEL_SECTIONS_H
#define GALPHA_MODEL_SECTIONS_H

#include "model/fields.h"

/* parts.c */
/* Reads a part; sets named->omitted if it is wrong, which is reported. */
void ga__read_part(ga__reader *reader, ga__named *named);
/* Warns of suspicious numbers and unused parts, after everything is read. */
void ga__suspect_parts(ga__reader *reader);
/* The ga_joint_kind that a joint's type names; −1: none. */
int ga__joint_kind_of(const ga__tree *joint);

/* refusal.c: reports the builder's error at the place of the part or field. */
void ga__report_refusal(ga__reader *reader, const ga__named *named, ga_status status);

/* functions.c */
enum { GA__N_INTERPOLATIONS = GA_INTERPOLATE_SPLINE + 1, GA__N_EXTRAPOLATIONS = GA_EXTRAPOLATE_ERROR + 1 };
extern const char *const ga__interpolation_names[GA__N_INTERPOLATIONS];
extern const char *const ga__extrapolation_names[GA__N_EXTRAPOLATIONS];
int ga__read_named_function(ga__reader *reader, ga__named *named); /* 0: it could not be made */
/* Reads a function: a name, a number, an expression in t, or a map; unit: of its values. */
int ga__read_function(ga__reader *reader, ga__tree *tree, const char *unit, const ga_function **f);
ga_symbol ga__function_symbol(const ga__named *named);              /* one that was read */
int ga__calls_function(const ga__reader *reader, const char *text); /* 1: one of the model's functions */
/* Adds all functions that could be created to the machine. */
void ga__add_functions(ga__reader *reader);
/* The functions that a text calls, as symbols; 0 after failure. */
int ga__read_calls(ga__reader *reader, const ga__tree *tree, int *n, ga_symbol **symbols);

/* blocks.c */
/* Reads and adds a block, without what named->omitted says; returns 0: it was not added. */
int ga__read_block(ga__reader *reader, ga__named *named);

/* settings.c */
typedef struct ga__globals {
  ga_machine_opts machine;
  const char *title;
  int gives_gravity; /* 1: the key is there */
} ga__globals;
void ga__read_globals(ga__reader *reader, ga__tree *root, ga__globals *out);
void ga__read_settings(ga__reader *reader, ga__tree *root, ga_run_settings *settings);

/* build.c */
/* Reads all parts of a document and builds the machine; reader->m is NULL after errors. */
void ga__read_machine(ga__reader *reader, ga__tree *root, ga__globals *globals, ga_run_settings *settings);

/* Messages from now on are dropped; NULL: no memory. The value is for ga__unmute_messages(). */
ga__messages *ga__mute_messages(ga__reader *reader);
void ga__unmute_messages(ga__reader *reader, ga__messages *kept);

#endif
