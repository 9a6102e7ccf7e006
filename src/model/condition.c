/* Conditions: parts, repeats and included files with the key `if`, which parameters switch on and off.
 *
 * Conditions of included files are needed before all parameters are known: they are read from the parameters
 * of the files read so far, one after the other, and each file may add parameters for the next ones. */
#include "model/document.h"

#include <stdio.h>
#include <string.h>

/* ---- Values ---- */

int ga__condition_read(ga__reading *r, const ga__tree *tree, int *holds)
{
  static const char *const words[] = {"true", "false", "yes", "no"};
  double value = 0;
  *holds = 0;
  for (int i = 0; tree->kind == GA__TREE_SCALAR && i < 4; i++)
    if (strcmp(tree->text, words[i]) == 0) return *holds = i % 2 == 0, 1;
  if (!ga__value_number(r, tree, "1", &value)) return 0;
  if (value != 0 && value != 1)
    return ga__report_range(r, tree, value, NULL,
                            "0 or 1, for off and on: a parameter, or a comparison as n > 2");
  *holds = value == 1;
  return 1;
}

int ga__condition_of(ga__reading *r, ga__tree *map, int *holds)
{
  const ga__tree *condition = ga__map_get(map, "if");
  *holds = 1;
  if (!condition) return 1;
  const size_t before = ga__messages_enter(r->messages, "if");
  const int good = ga__condition_read(r, condition, holds);
  ga__messages_leave(r->messages, before);
  return good;
}

/* ---- Included files ---- */

/* The condition of an include, from the parameters of the files read so far. */
static int holds_so_far(ga__reading *r, ga__document *d, const ga__conditional *c, int *holds)
{
  struct ga__parameters *sofar = ga__parameters_preview(r, ga__document_parameters(d));
  if (!sofar) return 0;
  const ga__concern outer = ga__messages_begin(r->messages, "include", NULL);
  const size_t before = ga__messages_enter(r->messages, "if");
  const int good = ga__condition_read(r, c->condition, holds);
  ga__messages_leave(r->messages, before);
  ga__messages_restore(r->messages, &outer);
  ga__parameters_destroy(r->ctx, &sofar);
  r->parameters = NULL;
  return good;
}

void ga__conditional_includes(ga__reading *r, ga__document *d)
{
  for (int i = 0; i < d->n_conditional && !r->failed; i++) { /* the list grows */
    const ga__conditional c = d->conditional[i];
    int holds = 0;
    if (!holds_so_far(r, d, &c, &holds)) {
      r->incomplete = 1; /* names may be missing for that reason alone */
      continue;
    }
    if (holds)
      ga__document_include(r, d, c.outer, c.file, c.depth);
    else
      ga__messages_leave_out_file(r->messages, c.file->text, c.condition->text, c.condition->at);
  }
}

void ga__conditions_use(ga__reading *r, const ga__document *d)
{
  int holds;
  for (int i = 0; i < d->n_conditional && !r->incomplete; i++) {
    const ga__concern outer = ga__messages_begin(r->messages, "include", NULL);
    ga__condition_read(r, d->conditional[i].condition, &holds);
    ga__messages_restore(r->messages, &outer);
  }
}

/* ---- Parts ---- */

static int has_parts(const char *section)
{
  static const char *const others[] = {"galpha", "title", "gravity", "form", "simulation", "parameters"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(section, others[i]) == 0) return 0;
  return 1;
}

static int is_conditional(const ga__tree *part)
{
  return part->kind == GA__TREE_MAP && ga__map_peek(part, "if") != NULL;
}

/* 1: the part is in the model; one with a wrong condition is, so that names of it are known. */
static int is_on(ga__reading *r, const char *section, ga__tree *part)
{
  int holds = 1;
  if (!is_conditional(part)) return 1;
  const ga__concern outer = ga__messages_begin(r->messages, section, part->key);
  if (!ga__condition_of(r, part, &holds)) holds = 1;
  ga__messages_restore(r->messages, &outer);
  if (!holds) ga__messages_switch_off(r->messages, part->key, ga__map_peek(part, "if")->at);
  return holds;
}

/* The section without the parts that are off; the section itself where none has a condition. */
static ga__tree *choose_parts(ga__reading *r, ga__document *d, ga__tree *section)
{
  int any = 0;
  for (int i = 0; i < section->n && !any; i++) any = is_conditional(section->child[i]);
  if (!any) return section;
  ga__tree *chosen = ga__pool_take(&d->pool, sizeof *chosen);
  ga__tree **child = ga__pool_take(&d->pool, (size_t)section->n * sizeof *child);
  if (!chosen || !child) return r->failed = 1, section;
  *chosen = *section;
  chosen->child = child;
  chosen->n = 0;
  for (int i = 0; i < section->n; i++)
    if (is_on(r, section->key, section->child[i])) child[chosen->n++] = section->child[i];
  return chosen;
}

void ga__conditions_apply(ga__reading *r, ga__document *d)
{
  for (int i = 0; i < d->names.n && !r->failed; i++) {
    ga__section *s = &d->section[i];
    s->chosen = s->tree->kind == GA__TREE_MAP && has_parts(s->tree->key) ? choose_parts(r, d, s->tree) : s->tree;
  }
}
