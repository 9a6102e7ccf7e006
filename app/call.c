/* Commands called by another program. */
#define _POSIX_C_SOURCE 200809L
#include "call.h"
#include "app.h"
#include "terminal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_message {
  ga_model_message public;
  ga_error error;
  char *file, *text;
} kept_message;

struct app_call {
  atomic_int stopped;
  char *printed, *reported; /* NULL: nothing yet */
  int has_error;
  ga_error error;
  char text[GA_ERROR_TEXT];
  int n_messages;
  kept_message *message;
};

static _Thread_local app_call *present; /* call of this thread; NULL: it is in none */

/* ---- Kept by commands ---- */

int app_call_is_made(void)
{
  return present != NULL;
}

int app_call_is_stopped(void)
{
  return present && atomic_load_explicit(&present->stopped, memory_order_relaxed);
}

void app_call_keep_error(const ga_context *ctx)
{
  const ga_error *e = ga_context_error(ctx);
  if (!present || e->status == GA_OK) return;
  present->error = *e;
  snprintf(present->text, sizeof present->text, "%s", e->text);
  present->error.text = present->text;
  present->has_error = 1;
}

/* Without memory the message is left out; it is among what was printed all the same. */
void app_call_keep_message(const ga_model_message *m)
{
  app_call *c = present;
  kept_message *grown = c ? realloc(c->message, ((size_t)c->n_messages + 1) * sizeof *c->message) : NULL;
  if (!grown) return;
  c->message = grown;
  kept_message *kept = &grown[c->n_messages];
  *kept = (kept_message){.public = *m, .error = *m->error};
  kept->file = strdup(m->file ? m->file : "");
  kept->text = strdup(m->text);
  if (kept->file && kept->text)
    c->n_messages++;
  else
    free(kept->file), free(kept->text);
}

/* ---- Calls ---- */

void app_call_begin(void)
{
  app_command_at(0);
}

app_call *app_call_create(void)
{
  return calloc(1, sizeof(app_call));
}

static void drop(app_call *c)
{
  for (int i = 0; i < c->n_messages; i++) free(c->message[i].file), free(c->message[i].text);
  free(c->message);
  free(c->printed);
  free(c->reported);
  c->message = NULL;
  c->printed = c->reported = NULL;
  c->n_messages = c->has_error = 0;
}

void app_call_destroy(app_call *call)
{
  if (!call) return;
  drop(call);
  free(call);
}

void app_call_stop(app_call *call)
{
  if (call) atomic_store(&call->stopped, 1);
}

static int run_command(int argc, char **argv)
{
  app_arguments a;
  const app_command *command = argc > 0 ? app_command_find(argv[0]) : NULL;
  if (!command) return fprintf(stderr, "galpha: there is no such command\n"), APP_USAGE;
  int code = app_arguments_read(&a, command, argc, argv);
  if (!code) code = command->function(&a);
  app_arguments_free(&a);
  return code;
}

int app_call_make(app_call *call, int argc, const char *const *argv)
{
  size_t sizes[2] = {0, 0};
  char **copy = calloc((size_t)argc + 1, sizeof *copy);
  drop(call);
  FILE *out = open_memstream(&call->printed, &sizes[0]), *err = open_memstream(&call->reported, &sizes[1]);
  int code = APP_FAILED;
  if (copy && out && err) {
    for (int i = 0; i < argc; i++) copy[i] = (char *)(size_t)argv[i];
    app_terminal_replace(out, err);
    present = call;
    code = run_command(argc, copy);
    present = NULL;
    app_terminal_replace(NULL, NULL);
  }
  if (out) fclose(out);
  if (err) fclose(err);
  free(copy);
  for (int i = 0; i < call->n_messages; i++) { /* the array may have moved */
    kept_message *kept = &call->message[i];
    kept->public.file = kept->file;
    kept->public.text = kept->text;
    kept->public.error = &kept->error;
  }
  return code;
}

const char *app_call_printed(const app_call *call)
{
  return call->printed ? call->printed : "";
}

const char *app_call_reported(const app_call *call)
{
  return call->reported ? call->reported : "";
}

const ga_error *app_call_error(const app_call *call)
{
  return call->has_error ? &call->error : NULL;
}

int app_call_n_messages(const app_call *call)
{
  return call->n_messages;
}

const ga_model_message *app_call_message(const app_call *call, int i)
{
  return i >= 0 && i < call->n_messages ? &call->message[i].public : NULL;
}

/* ---- The table of commands ---- */

int app_call_command(const char *command, const char **line, const char **more)
{
  const app_command *c = app_command_find(command);
  if (c && line) *line = c->line;
  if (c && more) *more = c->more;
  return c != NULL;
}

int app_call_option_at(const char *command, int i, app_call_option *out)
{
  const app_command *c = app_command_find(command);
  int n = 0;
  while (c && c->options[n].name) n++;
  if (i < 0 || i >= n) return 0;
  const app_option *o = &c->options[i];
  *out = (app_call_option){o->name, o->value, o->text, o->repeats};
  return 1;
}
