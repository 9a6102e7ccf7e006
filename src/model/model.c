/* Model files as a whole: a document, its messages, its machine. */
#include "model/source.h"
#include "model/document.h"
#include "model/format.h"
#include "model/line.h"
#include "model/sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct ga_model {
  ga_context *ctx;
  ga__messages *messages;
  ga__document *document; /* NULL: there was nothing to read */
  ga_machine *machine;
  struct ga__kept *kept; /* functions, tables, libraries that the machine borrows */
  ga_run_settings settings;
  const char *title; /* within the document */
  int gives_gravity;
  const char *prescribed_by[GA_MOST_PRESCRIBED]; /* names of drives, within the document */
  char *written;                                 /* by ga_model_write_text(); NULL: not yet asked for */
  size_t n_written;
  char data[17];                          /* digest of files with matrices, "": none */
  const struct ga__model_source *sources; /* all files, within the document's memory */
  char *whole; /* of a model with includes or overrides: its text as one file; NULL: the text as it is */
};

ga_model_opts ga_model_defaults(void)
{
  return (ga_model_opts){.max_parts = 1000000};
}

/* "model" for "model/car.yaml", "." for "car.yaml". */
static const char *folder_of(ga__reader *reader, const char *path)
{
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (!path) return NULL;
  if (!slash) return ".";
  const size_t bytes = slash == path ? 1 : (size_t)(slash - path);
  char *folder = ga__room(reader, bytes + 1, 1);
  return folder ? memcpy(folder, path, bytes) : NULL;
}

static void read_document(ga_model *model, ga__reading *r, const char *path)
{
  ga__reader reader = {.r = r};
  ga__globals globals = {.title = ""};
  reader.folder = folder_of(&reader, path);
  ga__read_machine(&reader, ga__document_root(model->document), &globals, &model->settings);
  model->machine = reader.m;
  model->kept = reader.kept;
  model->title = globals.title;
  model->gives_gravity = globals.gives_gravity;
}

/* Makes the text for result files. A model that is too long with its aliases expanded is kept as
 * it was read. */
static ga_status keep_whole(ga_model *model)
{
  const ga_status status =
      ga__document_write(model->document, GA__LARGEST_FILE, &model->written, &model->n_written);
  if (status) return status == GA_ERR_MEMORY ? status : GA_OK;
  model->whole = ga__document_keep(model->document, model->written, model->n_written);
  return model->whole ? GA_OK : GA_ERR_MEMORY;
}

/* Sets the context's error for a model with errors: their number, and the first. */
static ga_status refuse_wrong(const ga_model *model)
{
  char place[GA_ERROR_TEXT] = "";
  int i = 0;
  const ga_model_message *first;
  while ((first = ga__messages_at(model->messages, i)) && first->level != GA_MESSAGE_ERROR) i++;
  if (first)
    snprintf(place, sizeof place, "%s:%d:%d: %s", first->file, first->line, first->column, first->text);
  return ga__refuse(model->ctx, GA_ERR_ARGUMENT, GA_REASON_MODEL_WRONG,
                    &(ga__facts){GA__NUMBERS({ga__errors(model->messages), NULL}), .detail = place});
}

static ga_status check_prescriptions(ga_context *ctx, const ga_model_opts *o)
{
  if (o->n_prescribe < 0 || o->n_prescribe > GA_MOST_PRESCRIBED)
    return ga__refuse_number(ctx, "model", "n_prescribe", o->n_prescribe, "0 to GA_MOST_PRESCRIBED");
  if (o->n_prescribe > 0 && !o->prescribe)
    return ga__refuse_missing(ctx, "model", "n_prescribe", o->n_prescribe, "prescribe");
  for (int i = 0; i < o->n_prescribe; i++)
    if (!o->prescribe[i].coordinate || !o->prescribe[i].function)
      return ga__refuse_missing(ctx, "model", "n_prescribe", o->n_prescribe,
                                "coordinate and function of prescribe");
  return GA_OK;
}

static ga_status check_functions(ga_context *ctx, const ga_model_opts *o)
{
  if (o->n_functions < 0) return ga__refuse_number(ctx, "model", "n_functions", o->n_functions, ">= 0");
  if (o->n_functions > 0 && !o->functions)
    return ga__refuse_missing(ctx, "model", "n_functions", o->n_functions, "functions");
  for (int i = 0; i < o->n_functions; i++)
    if (!o->functions[i].name || !o->functions[i].function)
      return ga__refuse_missing(ctx, "model", "n_functions", o->n_functions, "the members of functions");
  return GA_OK;
}

static ga_status read_model(ga_context *ctx, const char *path, const char *name, const char *text,
                            size_t length, const ga_model_opts *opts, const ga__line *line, ga_model **out)
{
  const ga_model_opts used = opts ? *opts : ga_model_defaults();
  ga_status given = check_prescriptions(ctx, &used);
  if (!given) given = check_functions(ctx, &used);
  if (given) return given;
  ga_model *model = ga__alloc(ctx, 1, sizeof *model);
  if (!model) return ga__no_memory(ctx, "a model");
  model->ctx = ctx;
  model->title = "";
  model->messages = ga__messages_create(ctx);
  if (!model->messages) {
    ga_model_destroy(&model);
    return ga__no_memory(ctx, "the messages of a model");
  }
  *out = model;
  model->settings = ga_run_defaults();
  ga__reading r = {.ctx = ctx, .messages = model->messages, .opts = &used, .line = line};
  model->document = ga__document_read(&r, path, name, text, length);
  if (model->document && !r.failed) read_document(model, &r, path);
  for (int i = 0; r.prescribed && i < used.n_prescribe && i < GA_MOST_PRESCRIBED; i++)
    model->prescribed_by[i] = r.prescribed[i].drive;
  if (model->machine && !line &&
      (used.n_set > 0 || used.n_prescribe > 0 || ga__document_has_includes(model->document)))
    r.failed |= keep_whole(model) != GA_OK;
  ga__messages_finish(model->messages);
  if (model->document) model->sources = r.sources;
  if (r.data) snprintf(model->data, sizeof model->data, "%016" PRIx64, r.data);
  if (r.failed || ga__messages_status(model->messages)) {
    ga_machine_destroy(&model->machine);
    return ga__no_memory(ctx, "reading a model");
  }
  return ga__errors(model->messages) > 0 ? refuse_wrong(model) : GA_OK;
}

ga_status ga_model_read_file(ga_context *ctx, const char *path, const ga_model_opts *opts, ga_model **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!path || !out) return ga__null_argument(ctx);
  return read_model(ctx, path, NULL, NULL, 0, opts, NULL, out);
}

ga_status ga_model_read_text(ga_context *ctx, const char *name, const char *text, size_t length,
                             const ga_model_opts *opts, ga_model **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!text || !out) return ga__null_argument(ctx);
  return read_model(ctx, NULL, name ? name : "model", text, length, opts, NULL, out);
}

ga_status ga__model_read_along(ga_context *ctx, const char *path, const char *text, const ga_model_opts *opts,
                               const ga__line *line, ga_model **out)
{
  *out = NULL;
  return read_model(ctx, path, "model", path ? NULL : text, path ? 0 : strlen(text), opts, line, out);
}

void ga_model_destroy(ga_model **model)
{
  if (!model || !*model) return;
  ga_model *old = *model;
  ga_machine_destroy(&old->machine);
  ga__release_kept(&old->kept);
  ga__document_destroy(old->ctx, &old->document);
  ga__free(old->ctx, old->written);
  ga__free(old->ctx, old->whole);
  ga__messages_destroy(&old->messages);
  ga__free(old->ctx, old);
  *model = NULL;
}

int ga_model_n_messages(const ga_model *model)
{
  return model ? ga__messages_count(model->messages) : 0;
}

const ga_model_message *ga_model_message_at(const ga_model *model, int i)
{
  return model ? ga__messages_at(model->messages, i) : NULL;
}

const ga__document *ga__model_document(const ga_model *model)
{
  return model->document;
}

int ga_model_gives_gravity(const ga_model *model)
{
  return model ? model->gives_gravity : 0;
}

ga_machine *ga_model_machine(const ga_model *model)
{
  return model ? model->machine : NULL;
}

const char *ga_model_prescribed_by(const ga_model *model, int i)
{
  return model && i >= 0 && i < GA_MOST_PRESCRIBED ? model->prescribed_by[i] : NULL;
}

const ga_run_settings *ga_model_settings(const ga_model *model)
{
  return model ? &model->settings : NULL;
}

const char *ga_model_title(const ga_model *model)
{
  return model ? model->title : "";
}

const char *ga_model_text(const ga_model *model)
{
  if (!model || !model->document) return "";
  return model->whole ? model->whole : ga__document_text(model->document);
}

int ga_model_reads(const ga_model *model, const char *path)
{
  return model && path ? ga__model_source_has(model->sources, path) : 0;
}

int ga_model_is_outdated(const ga_model *model)
{
  return model ? ga__model_source_changed(model->sources) : 0;
}

const char *ga_model_data(const ga_model *model)
{
  return model ? model->data : "";
}

ga_status ga_model_write_text(ga_model *model, const char **text, size_t *length)
{
  if (text) *text = NULL;
  if (length) *length = 0;
  if (!model) return GA_ERR_ARGUMENT;
  if (!text) return ga__null_argument(model->ctx);
  if (!model->machine) return refuse_wrong(model);
  if (!model->written) {
    const ga_status status =
        ga__document_write(model->document, GA__LARGEST_FILE, &model->written, &model->n_written);
    if (status) return status;
  }
  *text = model->written;
  if (length) *length = model->n_written;
  return GA_OK;
}

ga_status ga_model_write_file(ga_model *model, const char *path)
{
  const char *text;
  size_t length;
  if (!model) return GA_ERR_ARGUMENT;
  if (!path) return ga__null_argument(model->ctx);
  if (ga__model_source_has(model->sources, path))
    return ga__refuse(model->ctx, GA_ERR_ARGUMENT, GA_REASON_WOULD_OVERWRITE, &(ga__facts){.name = path});
  const ga_status status = ga_model_write_text(model, &text, &length);
  return status ? status : ga__document_save(model->document, path, text, length);
}
