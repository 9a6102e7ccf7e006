/* Any text as a model, up to the built machine: read or refused with a reason, and nothing left behind. */
#include "fuzz.h"
#include "galpha/model.h"

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
  ga_model_destroy(&model);
  fuzz_close(ctx);
  return 0;
}
