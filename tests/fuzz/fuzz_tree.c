/* Any text as a model, down to its values: the reader's layer of text. */
#include "fuzz.h"
#include "model/document.h"
#include <string.h>

/* Every node in every role. */
static void visit(ga__reading *r, ga__tree *tree)
{
  static const char *const names[] = {"true", "mass", "revolute"};
  double number, three[3];
  const char *text;
  long whole;
  int choice;
  ga__value_number(r, tree, "m", &number);
  ga__value_numbers(r, tree, 3, "kg*m^2", three);
  ga__value_int(r, tree, -5, 5, &whole);
  ga__value_text(r, tree, &text);
  ga__value_choice(r, tree, 3, names, &choice);
  if (ga__value_formula(r, tree, &text) && strlen(text) == (size_t)-1) abort();
  for (int i = 0; i < tree->n; i += 2) tree->child[i]->used = 1;
  ga__unknown_keys(r, tree, 3, names);
  for (int i = 0; i < tree->n; i++) visit(r, tree->child[i]);
}

static void check_messages(const ga__messages *m)
{
  for (int i = 0; i < ga__messages_count(m); i++) {
    const ga_model_message *message = ga__messages_at(m, i);
    if (!message->text[0] || message->line < 0 || message->column < 0) abort();
    for (const char *c = message->text; *c; c++) {
      if ((unsigned char)*c < 0x20u) abort();
    }
  }
  if (ga__messages_count(m) > 202) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const set[] = {"L=2*m"};
  const ga_model_opts opts = {.n_set = 1, .set = set, .max_parts = 200};
  ga_context *ctx = fuzz_open();
  if (!ctx) return 0;
  ga__reading r = {.ctx = ctx, .opts = &opts, .messages = ga__messages_create(ctx)};
  ga__document *d = ga__document_read(&r, NULL, "fuzz.yaml", (const char *)data, size);
  if (!d && ga__errors(r.messages) == 0 && !r.failed) abort(); /* nothing read, and nothing said */
  if (d) {
    visit(&r, ga__document_root(d));
    ga__parameters_unused(&r);
  }
  ga__messages_finish(r.messages);
  check_messages(r.messages);
  ga__document_destroy(ctx, &d);
  ga__messages_destroy(&r.messages);
  fuzz_close(ctx);
  return 0;
}
