/* Commands called by another program, as the Python package does: what they print is kept, failures are kept
 * as data too, and a flag stops them instead of signals. A call belongs to one thread at a time; several
 * threads may make calls of their own. */
#ifndef GALPHA_APP_CALL_H
#define GALPHA_APP_CALL_H

#include "galpha/model.h"

typedef struct app_call app_call;

/* Tables that are made at the first use; before the first thread. */
void app_call_begin(void);
app_call *app_call_create(void);       /* NULL: out of memory */
void app_call_destroy(app_call *call); /* NULL is fine */
/* argv[0]: the name of a command. Returns its exit code. What the last one left is dropped. */
int app_call_make(app_call *call, int argc, const char *const *argv);
/* From any thread: the command ends soon, and keeps its results. Also before it begins. */
void app_call_stop(app_call *call);

/* ---- What is left of the last one ---- */

const char *app_call_printed(const app_call *call);  /* on the standard output */
const char *app_call_reported(const app_call *call); /* on the standard error */
/* Why it failed, with its sentence; NULL: not known as data. Where the model has errors: app_call_message().
 */
const ga_error *app_call_error(const app_call *call);
int app_call_n_messages(const app_call *call); /* about the model */
const ga_model_message *app_call_message(const app_call *call, int i);

/* ---- The table of commands ---- */

typedef struct app_call_option {
  const char *name, *value, *text; /* without its dashes; names of its values, NULL: a switch; one line */
  int repeats;                     /* 1: may be given several times */
} app_call_option;

/* One line about a command, and further help (NULL: none); 0: there is none of this name. Both may be NULL.
 */
int app_call_command(const char *command, const char **line, const char **more);
/* Its option i = 0, 1, ...; 0: there are fewer. */
int app_call_option_at(const char *command, int i, app_call_option *out);

/* ---- For the commands ---- */

int app_call_is_made(void);    /* 1: this thread is in a call: nothing is shown while it runs */
int app_call_is_stopped(void); /* 1: by app_call_stop() */
void app_call_keep_error(const ga_context *ctx); /* the last error of ctx is why the command fails */
void app_call_keep_message(const ga_model_message *m);

#endif
