/* Any text as a model, up to the built machine: read or refused with a reason, and nothing left behind. What
 * is read can be written, read again, and written to the same text. */
#include "fuzz.h"
#include "galpha/model.h"
#include <string.h>

static void check_messages(const ga_model *model, int failed)
{
  int errors = 0;
  for (int i = 0; i < ga_model_n_messages(model); i++) {
    const ga_model_message *message = ga_model_message_at(model, i);
    if (!message->text[0] || message->line < 0 || message->column < 0) abort();
    for (const char *c = message->text; *c; c++) {
      if ((unsigned char)*c < 0x20u) abort();
    }
    errors += message->level == GA_MESSAGE_ERROR;
  }
  if (failed != (errors > 0)) abort();
}

static void check_writing(ga_context *ctx, ga_model *model, const ga_model_opts *opts)
{
  const char *text = NULL, *twice = NULL;
  ga_model *again = NULL;
  size_t length = 0;
  ga_status status = ga_model_write_text(model, &text, &length);
  if (!status) status = ga_model_read_text(ctx, "again.yaml", text, length, opts, &again);
  if (!status) status = ga_model_write_text(again, &twice, NULL);
  if (status && status != GA_ERR_MEMORY) abort();
  if (!status && (strcmp(text, twice) != 0 || ga_machine_n_signals(ga_model_machine(model)) !=
                                                  ga_machine_n_signals(ga_model_machine(again))))
    abort();
  ga_model_destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  ga_model_opts opts = ga_model_defaults();
  ga_context *ctx = fuzz_open();
  ga_model *model = NULL;
  if (!ctx) return 0;
  opts.max_parts = 50;
  const ga_status status = ga_model_read_text(ctx, "fuzz.yaml", (const char *)data, size, &opts, &model);
  if (status != GA_ERR_MEMORY) {
    if (!model || (status != GA_OK && status != GA_ERR_ARGUMENT)) abort();
    check_messages(model, status != GA_OK);
    if ((status == GA_OK) != (ga_model_machine(model) != NULL)) abort();
  }
  if (status == GA_OK) check_writing(ctx, model, &opts);
  ga_model_destroy(&model);
  fuzz_close(ctx);
  return 0;
}
