/* Parameters: numbers, quantities or expressions of other parameters, in any order. A value is computed when
 * it is first needed; a parameter that is met while it is being computed is a circle. */
#include "model/parameters.h"

#include "mbs/name.h"
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 200 }; /* nested parameters */

typedef enum state { NEW, WAITING, KNOWN, WRONG } state;

typedef struct parameter {
  ga__tree *tree;     /* in a file */
  ga__tree **place;   /* its entry in the section, which an override replaces */
  ga__tree *override; /* from opts.set, NULL: none */
  state state;
  ga__number number;
  int used;
} parameter;

struct ga__parameters {
  ga__names names;
  parameter *at; /* by the numbers of names */
  ga__pool pool; /* of overrides */
  int path[DEEPEST], n_path;
};

/* ---- Values ---- */

static void report_circle(ga__reading *r, int i)
{
  struct ga__parameters *p = r->parameters;
  char circle[GA_ERROR_TEXT];
  ga__writer w = {circle, sizeof circle, 0};
  int from = p->n_path - 1;
  while (from > 0 && p->path[from] != i) from--;
  for (int k = from; k < p->n_path; k++) ga__write(&w, "%s -> ", p->names.name[p->path[k]]);
  ga__write(&w, "%s", p->names.name[i]);
  ga__report_error(r->messages, p->at[i].tree->key_at, GA_REASON_CIRCULAR,
                   &(ga__facts){.kind = "parameter", .part = p->names.name[i], .detail = circle});
}

/* Warns of an override with another dimension than the value in the file. */
static void compare_override(ga__reading *r, const parameter *p)
{
  ga__number of_file;
  char is[2 * GA_TEXT_PIECE], expected[2 * GA_TEXT_PIECE], detail[GA_ERROR_NAME + 2 * GA_TEXT_PIECE];
  char wanted[GA_ERROR_NAME + 2 * GA_TEXT_PIECE];
  const ga__tree *tree = p->tree;
  double ignored;
  if (tree->kind != GA__TREE_SCALAR) return;
  if (ga_quantity_parse(r->ctx, tree->text, NULL, &ignored, &of_file.dimension, NULL)) return;
  static const ga_dimension none;
  const size_t size = sizeof none.power;
  if (memcmp(of_file.dimension.power, none.power, size) == 0) return;
  ga_dimension_text(expected, sizeof expected, &of_file.dimension);
  if (!p->number.has_dimension) {
    ga__report_warning(r->messages, GA__NOWHERE, GA_REASON_UNIT_NOT_GIVEN,
                       &(ga__facts){.name = p->override->text, .other = tree->text});
  } else if (memcmp(of_file.dimension.power, p->number.dimension.power, size) != 0) {
    ga_dimension_text(is, sizeof is, &p->number.dimension);
    snprintf(detail, sizeof detail, "'%.*s' is %s", GA_TEXT_PIECE, p->override->text, is);
    snprintf(wanted, sizeof wanted, "%s, as '%.*s' in the model", expected, GA_TEXT_PIECE, tree->text);
    ga__report_error(r->messages, GA__NOWHERE, GA_REASON_WRONG_DIMENSION,
                     &(ga__facts){.name = p->override->text, .detail = detail, .expected = wanted});
  }
}

static void evaluate(ga__reading *r, int i)
{
  struct ga__parameters *all = r->parameters;
  parameter *p = &all->at[i];
  if (all->n_path == DEEPEST) {
    ga__report_error(r->messages, p->tree->key_at, GA_REASON_LIMIT_EXCEEDED,
                     &(ga__facts){.kind = "parameter",
                                  .part = all->names.name[i],
                                  .name = "parameters that wait for each other",
                                  GA__NUMBERS({DEEPEST, NULL}),
                                  .detail = "put those first that others need"});
    p->state = WRONG;
    return;
  }
  all->path[all->n_path++] = i;
  p->state = WAITING;
  const ga__concern outer = ga__messages_begin(r->messages, "parameter", all->names.name[i]);
  const int ok = ga__value_with_unit(r, p->override ? p->override : p->tree, NULL, &p->number);
  p->state = ok ? KNOWN : WRONG;
  if (ok && r->line && strcmp(r->line->parameter, all->names.name[i]) == 0)
    ga__line_parameter(r->line, p->number.value, &p->number.course);
  all->n_path--;
  if (ok && p->override) compare_override(r, p);
  ga__messages_restore(r->messages, &outer);
}

ga__lookup ga__parameter_find(ga__reading *r, const ga__scope *scope, const char *name, size_t bytes,
                              ga__number *out, const char **known)
{
  struct ga__parameters *all = r->parameters;
  for (; scope; scope = scope->outer) {
    if (strncmp(scope->name, name, bytes) != 0 || scope->name[bytes]) continue;
    *out = (ga__number){.value = (double)scope->value};
    if (known) *known = scope->name;
    return GA__KNOWN_NAME;
  }
  const int i = all ? ga__names_find(&all->names, name, bytes) : -1;
  if (i < 0) return GA__UNKNOWN_NAME;
  parameter *p = &all->at[i];
  p->used = 1;
  if (known) *known = all->names.name[i];
  if (p->state == NEW) evaluate(r, i);
  if (p->state == WAITING) {
    report_circle(r, i);
    p->state = WRONG;
  }
  if (p->state != KNOWN) return GA__WRONG_NAME;
  *out = p->number;
  return GA__KNOWN_NAME;
}

int ga__parameter_count(const ga__reading *r)
{
  return r->parameters ? r->parameters->names.n : 0;
}

const char *ga__parameter_name(const ga__reading *r, int i)
{
  return r->parameters->names.name[i];
}

int ga__parameters_at(const struct ga__parameters *p, int i, const char **name, ga__number *number)
{
  if (!p || i < 0 || i >= p->names.n || p->at[i].state != KNOWN) return 0;
  *name = p->names.name[i];
  *number = p->at[i].number;
  return 1;
}

void ga__parameters_unused(ga__reading *r)
{
  struct ga__parameters *all = r->parameters;
  for (int i = 0; all && i < all->names.n; i++) {
    if (all->at[i].used) continue;
    ga__report_warning(r->messages, all->at[i].tree->key_at, GA_REASON_NOT_USED,
                       &(ga__facts){.kind = "parameter", .part = all->names.name[i]});
  }
}

/* ---- Names ---- */

/* 1: the name can be used in expressions. */
static int check_name(ga__reading *r, const ga__tree *tree)
{
  char piece[GA_TEXT_PIECE];
  const size_t bytes = strlen(tree->key);
  ga__name_quote(piece, tree->key, (int)bytes);
  if (bytes >= GA_TEXT_PIECE) {
    ga__report_error(r->messages, tree->key_at, GA_REASON_NAME_TOO_LONG,
                     &(ga__facts){.kind = "parameter",
                                  .part = piece,
                                  GA__NUMBERS({(double)bytes, NULL}, {GA_TEXT_PIECE - 1, NULL})});
    return 0;
  }
  const int is_time = strcmp(tree->key, "t") == 0;
  if (ga__name_length(tree->key) != (int)bytes || strchr(tree->key, '.') || is_time) {
    ga__report_error(r->messages, tree->key_at, GA_REASON_NAME_NOT_ALLOWED,
                     &(ga__facts){.name = piece,
                                  .other = "a parameter",
                                  .expected = is_time ? "another: it is the time"
                                                      : "a letter or _, then letters, digits and _"});
    return 0;
  }
  if (strcmp(tree->key, "pi") == 0 || strcmp(tree->key, "e") == 0)
    ga__report_warning(r->messages, tree->key_at, GA_REASON_REPLACES_CONSTANT,
                       &(ga__facts){.kind = "parameter",
                                    .part = piece,
                                    .other = tree->key[0] == 'p' ? "π = 3.14159..." : "e = 2.71828..."});
  return 1;
}

/* A scalar of no file, without blanks around it, as in a file; NULL: out of memory. */
static ga__tree *make_scalar(ga__pool *pool, const char *text)
{
  ga__tree *tree = ga__pool_take(pool, sizeof *tree);
  if (!tree) return NULL;
  text += strspn(text, " \t");
  size_t bytes = strlen(text);
  while (bytes > 0 && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t')) bytes--;
  *tree = (ga__tree){.kind = GA__TREE_SCALAR, .at = GA__NOWHERE, .key_at = GA__NOWHERE};
  tree->text = ga__pool_text(pool, text, bytes);
  return tree->text ? tree : NULL;
}

/* "its parameters are length, mass, ...", the nearest first; as many as fit. */
static void list_parameters(char *text, size_t size, const struct ga__parameters *all, const char *nearest)
{
  size_t used = (size_t)snprintf(text, size, all->names.n ? "its parameters are " : "it has no parameters");
  if (*nearest) used += (size_t)snprintf(text + used, size - used, "%s", nearest);
  int first = !*nearest;
  for (int i = 0; i < all->names.n; i++) {
    const char *name = all->names.name[i];
    if (strcmp(name, nearest) == 0) continue;
    if (used + strlen(name) + 8 > size) {
      snprintf(text + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s%s", first ? "" : ", ", name);
    first = 0;
  }
}

/* One "name=value"; 0: out of memory. preview 1: names may still come, and the section stays as it is. */
static int read_override(ga__reading *r, struct ga__parameters *all, const char *set, int preview)
{
  const char *equals = set ? strchr(set, '=') : NULL;
  char piece[GA_TEXT_PIECE], nearest[GA_TEXT_PIECE], found[GA_TEXT_PIECE + 2], known[GA_ERROR_TEXT / 2];
  if (!equals && preview) return 1;
  if (!equals) {
    ga__name_quote(piece, set ? set : "", set ? (int)strlen(set) : 0);
    snprintf(found, sizeof found, "'%s'", piece);
    ga__report_error(r->messages, GA__NOWHERE, GA_REASON_WRONG_FORM,
                     &(ga__facts){.kind = "parameters", .expected = "name=value", .name = found});
    return 1;
  }
  size_t bytes = (size_t)(equals - set);
  while (bytes > 0 && set[0] == ' ') set++, bytes--;
  while (bytes > 0 && set[bytes - 1] == ' ') bytes--;
  const int i = ga__names_find(&all->names, set, bytes);
  if (i < 0 && (r->incomplete || preview)) return 1;
  if (i < 0) {
    ga__name_quote(piece, set, (int)bytes);
    ga__names_nearest(nearest, r->messages, &all->names, set, bytes);
    list_parameters(known, sizeof known, all, nearest);
    ga__report_error(r->messages, GA__NOWHERE, GA_REASON_UNKNOWN_REFERENCE,
                     &(ga__facts){.other = "parameter", .name = piece, .nearest = nearest, .detail = known});
    return 1;
  }
  ga__tree *override = make_scalar(&all->pool, equals + 1);
  if (!override) return 0;
  override->key = all->names.name[i];
  override->key_style = all->at[i].tree->key_style;
  all->at[i].override = override;
  if (!preview) *all->at[i].place = override;
  return 1;
}

/* ---- All of them ---- */

static int read_names(ga__reading *r, struct ga__parameters *all, ga__tree *section)
{
  if (!section || (section->kind == GA__TREE_SCALAR && !section->text[0])) return 1;
  const ga__concern outer = ga__messages_begin(r->messages, "parameters", NULL);
  const int is_map = ga__expect_map(r, section);
  ga__messages_restore(r->messages, &outer);
  if (!is_map) return 1;
  all->at = ga__alloc(r->ctx, (size_t)section->n, sizeof *all->at);
  if (!all->at) return 0;
  for (int k = 0; k < section->n; k++) {
    section->child[k]->used = 1;
    if (!check_name(r, section->child[k])) continue;
    const int i = ga__names_add(&all->names, section->child[k]->key);
    if (i < 0) return 0;
    all->at[i].tree = section->child[k];
    all->at[i].place = &section->child[k];
  }
  return 1;
}

/* Names and overrides; no value is computed yet. */
static struct ga__parameters *open(ga__reading *r, ga__tree *section, int preview)
{
  struct ga__parameters *all = ga__alloc(r->ctx, 1, sizeof *all);
  if (!all) {
    r->failed = 1;
    return NULL;
  }
  all->names.ctx = all->pool.ctx = r->ctx;
  int ok = read_names(r, all, section);
  for (int i = 0; ok && i < r->opts->n_set; i++) ok = read_override(r, all, r->opts->set[i], preview);
  if (!ok) {
    r->failed = 1;
    ga__parameters_destroy(r->ctx, &all);
    return NULL;
  }
  r->parameters = all;
  return all;
}

struct ga__parameters *ga__parameters_preview(ga__reading *r, ga__tree *section)
{
  return open(r, section, 1);
}

struct ga__parameters *ga__parameters_read(ga__reading *r, ga__tree *section)
{
  struct ga__parameters *all = open(r, section, 0);
  for (int i = 0; all && i < all->names.n; i++) {
    if (all->at[i].state == NEW) evaluate(r, i);
  }
  return all;
}

void ga__parameters_destroy(ga_context *ctx, struct ga__parameters **p)
{
  if (!p || !*p) return;
  ga__names_destroy(&(*p)->names);
  ga__pool_destroy(&(*p)->pool);
  ga__free(ctx, (*p)->at);
  ga__free(ctx, *p);
  *p = NULL;
}
