/* Messages about a model: errors as data with their places; their sentences are in base/sentence.c. */
#ifndef GALPHA_MODEL_MESSAGE_H
#define GALPHA_MODEL_MESSAGE_H

#include "base/base_impl.h"
#include "galpha/model.h"

typedef struct ga__place {
  int file;         /* number of the file, see ga__messages_add_file(); −1: none */
  int line, column; /* from 1; 0: the file as a whole */
} ga__place;

#define GA__NOWHERE ((ga__place){-1, 0, 0})

/* Keeps up to 100 errors and 100 warnings, at most three per place; the number of others is reported at the
 * end. The same sentence at the same place is kept once. ga__messages_status() returns whether memory was
 * exhausted. */
typedef struct ga__messages ga__messages;
ga__messages *ga__messages_create(ga_context *ctx); /* NULL: out of memory */
void ga__messages_destroy(ga__messages **m);

/* ---- Context of messages ---- */

/* The part and key that messages refer to; texts are borrowed except the keys. */
typedef struct ga__concern {
  const char *kind, *part;   /* "rigid body", "crank"; NULL: none */
  const char *purpose;       /* what a function is used for, "force of actuator 'a'"; NULL: nothing known */
  char field[GA_ERROR_WORD]; /* keys from the part to the value: "at.rotation" */
} ga__concern;

/* Messages refer to this part from now on; returns the previous context, to be restored. */
ga__concern ga__messages_begin(ga__messages *m, const char *kind, const char *part);
void ga__messages_restore(ga__messages *m, const ga__concern *before);
ga__concern ga__messages_concern(const ga__messages *m);
void ga__messages_set_purpose(ga__messages *m, const char *purpose);
/* Messages refer to a key within the present one, or to entry `index` of a list, from 0. The return value is
 * for ga__messages_leave(). */
size_t ga__messages_enter(ga__messages *m, const char *key);
size_t ga__messages_enter_index(ga__messages *m, int index);
void ga__messages_leave(ga__messages *m, size_t before);

/* ---- Reports ---- */

/* Adds kind, part and key of the context, followed by the field of the facts; not if the facts
 * have a kind. */
void ga__report_error(ga__messages *m, ga__place at, ga_reason reason, const ga__facts *facts);
void ga__report_warning(ga__messages *m, ga__place at, ga_reason reason, const ga__facts *facts);
/* Reports an error of another layer, with the context of messages. */
void ga__report_found(ga__messages *m, ga__place at, const ga_error *error);
/* Reports an error of another layer that names its part and field. */
void ga__report_refused(ga__messages *m, ga_message_level level, ga__place at, const ga_error *error);

/* What is not in the model by a condition at that place: an error about a part of that name, which may contain
 * {...} of repeats, says so; and after an error about an unknown name a note tells which files are left out.
 * Texts are borrowed. */
void ga__messages_switch_off(ga__messages *m, const char *name, ga__place at);
void ga__messages_leave_out_file(ga__messages *m, const char *file, const char *condition, ga__place at);

/* 1: n more names may be compared to find a similar one. Thousands of wrong names would take minutes, so this
 * ends once there are as many messages as are shown, or after a limit of comparisons. */
int ga__messages_may_search(ga__messages *m, int n);
void ga__messages_end_search(ga__messages *m);
int ga__errors(const ga__messages *m);                /* so far, those not kept included */
ga_status ga__messages_status(const ga__messages *m); /* GA_OK or GA_ERR_MEMORY */

/* ---- Files ---- */

/* In the order they are opened in; the name is copied. −1: out of memory. */
int ga__messages_add_file(ga__messages *m, const char *name);
const char *ga__messages_file(const ga__messages *m, int file); /* "" for −1 */

enum { GA__PLACE_TEXT = 160 };
/* "car.yaml:12:3", for a second place within a message; returns text. A long name keeps its end. */
const char *ga__place_text(char text[GA__PLACE_TEXT], const ga__messages *m, ga__place at);

/* ---- The end ---- */

/* Sorts messages from number `from` on before all others, which may follow from them. */
void ga__messages_lead(ga__messages *m, int from);
/* Sorts the messages: leading ones first, then by file, line and column. To be called once, at the end;
 * messages can be read after that. */
void ga__messages_finish(ga__messages *m);
int ga__messages_count(const ga__messages *m);                         /* those kept; at any time */
const ga_model_message *ga__messages_at(const ga__messages *m, int i); /* NULL: there is none */

#endif
