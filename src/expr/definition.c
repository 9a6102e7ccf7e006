/* Functions of several arguments with local names. An expression that calls one contains its instructions:
 * arguments and local values stay on the stack while the value is computed (compile.c), so that derivatives,
 * ranges and kinks need no rules of their own. */
#include "expr/definition.h"
#include "base/base_impl.h"

#include <string.h>

#define KIND "definition"

ga_definition_opts ga_definition_defaults(void)
{
  return (ga_definition_opts){.n_args = 0};
}

static const char *name_at(const ga_definition_opts *o, int i)
{
  return i < o->n_args ? o->args[i] : o->locals[i - o->n_args];
}

static ga_status check(ga_context *ctx, const ga_definition_opts *o)
{
  if (o->n_args < 1 || o->n_args > GA_DEFINITION_NAMES)
    return ga__refuse_number(ctx, KIND, "n_args", o->n_args, "from 1 to 16");
  if (o->n_locals < 0 || o->n_locals > GA_DEFINITION_NAMES)
    return ga__refuse_number(ctx, KIND, "n_locals", o->n_locals, "from 0 to 16");
  if (!o->args) return ga__refuse_missing(ctx, KIND, "n_args", o->n_args, "args");
  if (o->n_locals > 0 && (!o->locals || !o->texts))
    return ga__refuse_missing(ctx, KIND, "n_locals", o->n_locals, o->locals ? "texts" : "locals");
  if (o->n_symbols < 0) return ga__refuse_number(ctx, KIND, "n_symbols", o->n_symbols, "at least 0");
  if (o->n_symbols > 0 && !o->symbols)
    return ga__refuse_missing(ctx, KIND, "n_symbols", o->n_symbols, "symbols");
  for (int i = 0; i < o->n_args + o->n_locals; i++) {
    const char *name = name_at(o, i);
    if (!name || (i >= o->n_args && !o->texts[i - o->n_args]))
      return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
                        &(ga__facts){.kind = KIND, .part = "", .field = name ? "texts" : "names"});
    for (int k = 0; k < i; k++)
      if (strcmp(name, name_at(o, k)) == 0)
        return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TAKEN,
                          &(ga__facts){.kind = KIND, .part = name, .other = "another name"});
  }
  return GA_OK;
}

/* Compiles local value number k, or the value where k is n_locals: of the arguments and the locals before. */
static ga_status compile(ga_definition *d, const ga_definition_opts *o, int k, ga_symbol *symbols,
                         ga_text_error *error)
{
  const int n = o->n_args + k;
  for (int i = 0; i < n; i++)
    symbols[i] = (ga_symbol){.name = name_at(o, i), .kind = GA_SYMBOL_VARIABLE, .index = i};
  if (o->n_symbols > 0) memcpy(symbols + n, o->symbols, (size_t)o->n_symbols * sizeof *symbols);
  return ga_expr_compile(d->ctx, k < o->n_locals ? o->texts[k] : o->value, symbols, n + o->n_symbols, error,
                         &d->step[k]);
}

ga_status ga_definition_create(ga_context *ctx, const ga_definition_opts *opts, int *which,
                               ga_text_error *error, ga_definition **out)
{
  if (error) *error = (ga_text_error){0};
  if (which) *which = -1;
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !opts || !opts->value)
    return ga__refuse_null(ctx, __func__, !out ? "out" : opts ? "value" : "opts");
  ga_status status = check(ctx, opts);
  if (status) return status;
  const size_t names = (size_t)opts->n_args + (size_t)opts->n_locals + (size_t)opts->n_symbols;
  ga_definition *d = ga__alloc(ctx, 1, sizeof *d);
  ga_symbol *symbols = ga__alloc(ctx, names, sizeof *symbols);
  if (!d || !symbols) status = ga__no_memory(ctx, "a definition");
  if (!status) *d = (ga_definition){.ctx = ctx, .n_args = opts->n_args, .n_locals = opts->n_locals};
  for (int k = 0; !status && k <= opts->n_locals; k++) {
    status = compile(d, opts, k, symbols, error);
    if (status && which) *which = k;
  }
  ga__free(ctx, symbols);
  if (status && d) d->ctx = ctx, ga_definition_destroy(&d);
  *out = d;
  return status;
}

void ga_definition_destroy(ga_definition **definition)
{
  if (!definition || !*definition) return;
  ga_definition *d = *definition;
  ga_context *ctx = d->ctx;
  for (int k = 0; k <= GA_DEFINITION_NAMES; k++) ga_expr_destroy(&d->step[k]);
  ga__free(ctx, d);
  *definition = NULL;
}

int ga_definition_n_args(const ga_definition *definition)
{
  return definition ? definition->n_args : 0;
}
