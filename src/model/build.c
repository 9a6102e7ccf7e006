/* From sections to a machine: reads names, then parts, then builds. What the builder refuses is reported and
 * left out, and building is repeated, so that all errors are found. */
#include "model/format.h"
#include "model/sections.h"

#include "mbs/name.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum {
  MOST_ROUNDS = 20,        /* repetitions without refused parts */
  MOST_TO_REPEAT = 20000,  /* parts of a machine; larger ones are not built again */
  MOST_KINDS = GA__N_PARTS /* in a section */
};

static const char *const other_keys[] = {"galpha",     "title",   "gravity", "form",     "simulation",
                                         "parameters", "include", "repeat",  "functions"};
enum {
  N_OTHER_KEYS = sizeof other_keys / sizeof other_keys[0],
  MOST_SECTIONS = GA__N_PARTS
}; /* a kind has one section */

static const char *section_of(int kind)
{
  return ga__part_type_of((ga__part_kind)kind)->section;
}

/* section[]: in the order in which kinds first name them; their number. */
static int list_sections(const char *section[MOST_SECTIONS])
{
  int n = 0;
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    int known = 0;
    while (known < n && strcmp(section[known], section_of(kind)) != 0) known++;
    if (known == n) section[n++] = section_of(kind);
  }
  return n;
}

const char *ga__section_at(int i)
{
  const char *section[MOST_SECTIONS];
  return i < list_sections(section) ? section[i] : NULL;
}

/* ---- Names ---- */

/* "bodies" becomes "body". */
static void singular(char *text, size_t size, const char *section)
{
  const size_t n = strlen(section);
  if (n > 3 && strcmp(section + n - 3, "ies") == 0)
    snprintf(text, size, "%.*sy", (int)n - 3, section);
  else if (n > 4 && strcmp(section + n - 4, "sses") == 0)
    snprintf(text, size, "%.*s", (int)n - 2, section);
  else
    snprintf(text, size, "%.*s", (int)n - 1, section);
}

/* The kind of a part: the only one of its section, or by its type; −1: none, which is reported. */
static int choose_kind(ga__reader *reader, const char *section, ga__tree *part)
{
  const char *types[MOST_KINDS];
  int kinds[MOST_KINDS], n = 0, found = 0;
  char list[GA_ERROR_NAME] = "one of ";
  ga__writer w = {list, sizeof list, strlen(list)};
  for (int kind = GA__PART_RIGID; kind < GA__N_PARTS; kind++) {
    const ga__part_type *k = ga__part_type_of((ga__part_kind)kind);
    if (strcmp(k->section, section) != 0) continue;
    types[n] = k->type;
    kinds[n++] = kind;
    ga__write(&w, "%s%s", n > 1 ? ", " : "", k->type ? k->type : "");
  }
  if (!ga__expect_map(reader->r, part)) return -1;
  if (n == 1) return kinds[0];
  const ga__tree *type = ga__map_get(part, "type");
  const size_t before = ga__messages_enter(reader->r->messages, "type");
  const int good = type && ga__value_choice(reader->r, type, n, types, &found);
  if (!type && !ga__report_glued_key(reader->r, part, "type"))
    ga__report_error(reader->r->messages, part->key_at, GA_REASON_KEY_MISSING,
                     &(ga__facts){.expected = list});
  ga__messages_leave(reader->r->messages, before);
  return good ? kinds[found] : -1;
}

static int find_kind(ga__reader *reader, const char *section, ga__tree *part)
{
  char one[GA_TEXT_PIECE];
  singular(one, sizeof one, section);
  const ga__concern outer = ga__messages_begin(reader->r->messages, one, part->key);
  const int kind = choose_kind(reader, section, part);
  ga__messages_restore(reader->r->messages, &outer);
  return kind;
}

/* The section meant by `bodys` or `body`, which are too different from `bodies` for the search of similar
 * names; NULL: none. */
static const char *find_meant(const char *key)
{
  char one[GA_TEXT_PIECE];
  const char *section[MOST_SECTIONS];
  const int n = list_sections(section);
  for (int i = 0; i < n; i++) {
    singular(one, sizeof one, section[i]);
    const size_t bytes = strlen(one);
    if (strncmp(key, one, bytes) == 0 && (!key[bytes] || strcmp(key + bytes, "s") == 0)) return section[i];
  }
  return NULL;
}

/* A section; NULL: absent or empty. */
static ga__tree *get_section(ga__reader *reader, ga__tree *root, const char *key)
{
  ga__tree *section = ga__map_get(root, key);
  if (!section || (section->kind == GA__TREE_SCALAR && !section->text[0] && !section->quoted)) return NULL;
  const size_t before = ga__messages_enter(reader->r->messages, key);
  if (section->kind == GA__TREE_LIST)
    ga__report_error(
        reader->r->messages, section->at, GA_REASON_WRONG_FORM,
        &(ga__facts){.expected = "a map (key: value)",
                     .name = "a list",
                     .detail = "names are keys here and stand without '-', as in 'rod: {type: ..., ...}'"});
  const int good = section->kind != GA__TREE_LIST && ga__expect_map(reader->r, section);
  ga__messages_leave(reader->r->messages, before);
  return good ? section : NULL;
}

/* Adds a name; a duplicate is reported, and the first part is kept. */
static void add_name(ga__reader *reader, ga__directory *d, ga__tree *tree, int kind)
{
  const int before = d->names.n, i = ga__names_add(&d->names, tree->key);
  if (i < 0) {
    reader->r->failed = 1;
    return;
  }
  if (i < before) {
    char place[GA__PLACE_TEXT];
    ga__report_error(
        reader->r->messages, tree->key_at, GA_REASON_GIVEN_TWICE,
        &(ga__facts){.name = tree->key,
                     .detail = ga__place_text(place, reader->r->messages, d->list[i].tree->key_at)});
    d->list[i].duplicate = 1;
    return;
  }
  d->list[i] = (ga__named){.name = d->names.name[i], .tree = tree, .kind = kind};
}

/* `known`: n keys. */
static int is_unknown(const ga__tree *section, int n, const char *const *known)
{
  if (section->kind != GA__TREE_MAP) return 0;
  for (int i = 0; i < n; i++)
    if (strcmp(section->key, known[i]) == 0) return 0;
  return 1;
}

/* known[]: sections, then the other keys. *sections: number of the former; returns that of all. */
static int list_keys(const char *known[MOST_SECTIONS + N_OTHER_KEYS], int *sections)
{
  const int n = list_sections(known);
  memcpy(known + n, other_keys, sizeof other_keys);
  if (sections) *sections = n;
  return n + N_OTHER_KEYS;
}

/* Adds the names of an unknown section, so that references to them are not reported too. */
static void add_unknown(ga__reader *reader, const ga__tree *section)
{
  for (int i = 0; i < section->n; i++)
    if (!ga__directory_find(&reader->parts, section->child[i]->key, strlen(section->child[i]->key)))
      add_name(reader, &reader->parts, section->child[i], -1);
}

static int make_room(ga__reader *reader, ga__directory *d, size_t n)
{
  d->names.ctx = reader->r->ctx;
  d->list = ga__room(reader, n, sizeof *d->list);
  return d->list != NULL;
}

/* Collects all names first, so that parts may refer to later ones; returns 0: out of memory. */
static int collect(ga__reader *reader, ga__tree *root)
{
  ga__tree *section[MOST_SECTIONS], *functions = get_section(reader, root, "functions");
  const char *known[MOST_SECTIONS + N_OTHER_KEYS];
  int sections;
  const int n_known = list_keys(known, &sections);
  size_t n = 0;
  for (int i = 0; i < sections; i++) {
    section[i] = get_section(reader, root, known[i]);
    n += section[i] ? (size_t)section[i]->n : 0;
  }
  for (int i = 0; i < root->n; i++)
    n += is_unknown(root->child[i], n_known, known) ? (size_t)root->child[i]->n : 0;
  if (!make_room(reader, &reader->parts, n) ||
      !make_room(reader, &reader->functions, functions ? (size_t)functions->n : 0))
    return 0;
  for (int i = 0; i < sections; i++) {
    for (int k = 0; section[i] && k < section[i]->n; k++) {
      ga__tree *part = section[i]->child[k];
      part->used = 1;
      /* parts of unknown kind are added too, so that references to them are not reported */
      add_name(reader, &reader->parts, part, find_kind(reader, known[i], part));
    }
  }
  for (int i = 0; i < root->n; i++)
    if (is_unknown(root->child[i], n_known, known)) add_unknown(reader, root->child[i]);
  for (int k = 0; functions && k < functions->n; k++) {
    functions->child[k]->used = 1;
    add_name(reader, &reader->functions, functions->child[k], -1);
  }
  return !reader->r->failed;
}

static void finish_root(ga__reader *reader, const ga__tree *root)
{
  const char *known[MOST_SECTIONS + N_OTHER_KEYS];
  const int n = list_keys(known, NULL);
  for (int i = 0; i < root->n; i++) {
    const char *meant = root->child[i]->used ? NULL : find_meant(root->child[i]->key);
    if (!meant) continue;
    ga__report_error(reader->r->messages, root->child[i]->key_at, GA_REASON_UNKNOWN_KEY,
                     &(ga__facts){.name = root->child[i]->key, .nearest = meant});
    root->child[i]->used = 1;
  }
  ga__unknown_keys(reader->r, root, n, known);
}

/* ---- Parts ---- */

ga__messages *ga__mute_messages(ga__reader *reader)
{
  ga__messages *kept = reader->r->messages, *muted = ga__messages_create(reader->r->ctx);
  if (!muted) {
    reader->r->failed = 1;
    return NULL;
  }
  ga__messages_end_search(muted);
  reader->r->messages = muted;
  return kept;
}

void ga__unmute_messages(ga__reader *reader, ga__messages *kept)
{
  if (ga__messages_status(reader->r->messages)) reader->r->failed = 1;
  ga__messages_destroy(&reader->r->messages);
  reader->r->messages = kept;
}

/* A wrong block is created as far as possible, since others may use its outputs. */
static void read_block(ga__reader *reader, ga__named *part)
{
  if (ga__read_block(reader, part)) return;
  ga__messages *kept = reader->r->failed ? NULL : ga__mute_messages(reader);
  if (!kept) return;
  do {
    part->omitted++;
  } while (part->omitted < GA__OMIT_ALL && !reader->r->failed && !ga__read_block(reader, part));
  ga__unmute_messages(reader, kept);
}

/* Returns 0: out of memory. */
static int read_parts(ga__reader *reader)
{
  for (int i = 0; i < reader->functions.names.n && !reader->r->failed; i++)
    ga__read_named_function(reader, &reader->functions.list[i]);
  ga__add_functions(reader);
  for (int i = 0; i < reader->parts.names.n && !reader->r->failed; i++) {
    ga__named *part = &reader->parts.list[i];
    if (part->kind < 0 || part->omitted == GA__OMIT_ALL) continue;
    if (part->kind == GA__PART_BLOCK)
      read_block(reader, part);
    else
      ga__read_part(reader, part);
  }
  return !reader->r->failed;
}

/* The part that the builder refused; NULL: the machine as a whole. */
static ga__named *find_refused(const ga__reader *reader)
{
  const char *part = reader->r->ctx->error.part;
  return part[0] ? ga__directory_find(&reader->parts, part, strlen(part)) : NULL;
}

/* 1: the signals or the kind of the part are unknown, because it has errors. */
static int is_incomplete(const ga__named *part)
{
  return part->kind < 0 || part->duplicate || part->omitted == GA__OMIT_ALL ||
         (part->kind == GA__PART_BLOCK && part->omitted == GA__OMIT_NUMBERS);
}

/* 1: the refusal refers to a part with reported errors, and so follows from these. */
static int names_incomplete_part(const ga__reader *reader, const ga__named *refused)
{
  const ga_error *e = &reader->r->ctx->error;
  const char *const name[] = {e->name, e->other};
  for (int i = 0; i < 2; i++) {
    const ga__named *part = ga__directory_head(&reader->parts, name[i], strlen(name[i]));
    if (part && part != refused && is_incomplete(part)) return 1;
  }
  return 0;
}

/* Reports the builder's error, unless it follows from others; returns 1: building may be repeated without
 * that part. */
static int report_refusal(ga__reader *reader, ga_status status, ga__place whole)
{
  ga__named *part = status == GA_ERR_MEMORY ? NULL : find_refused(reader);
  if (!part) {
    if (status == GA_ERR_MEMORY || !ga__errors(reader->r->messages)) ga__report_status(reader, whole, status);
    return 0;
  }
  /* these errors depend on positions */
  const int of_places = status == GA_ERR_INCONSISTENT || part->kind == GA__PART_ROLLING;
  const int follows = part->omitted != GA__OMIT_NOTHING || names_incomplete_part(reader, part) ||
                      (reader->guessed && of_places);
  if (!follows) ga__report_refusal(reader, part, status);
  if (part->omitted == GA__OMIT_ALL) return 0;
  part->omitted = part->kind == GA__PART_BLOCK && !part->omitted ? GA__OMIT_INPUTS : GA__OMIT_ALL;
  return reader->parts.names.n <= MOST_TO_REPEAT;
}

/* Creates the machine again without refused parts, to find further errors. */
static int read_again(ga__reader *reader, const ga_machine_opts *opts)
{
  ga__messages *kept = ga__mute_messages(reader);
  if (!kept) return 0;
  ga_machine_destroy(&reader->m);
  reader->again = 1;
  const ga_status status = ga_machine_create(reader->r->ctx, opts, &reader->m);
  if (status) reader->r->failed = 1; /* the same options were accepted before, so memory is exhausted */
  const int good = !status && read_parts(reader);
  ga__unmute_messages(reader, kept);
  return good;
}

static void build(ga__reader *reader, const ga__tree *root, const ga_machine_opts *opts)
{
  for (int round = 0; round < MOST_ROUNDS; round++) {
    const ga_status status = ga_machine_build(reader->m);
    if (!status || !report_refusal(reader, status, root->at) || !read_again(reader, opts)) return;
  }
}

/* ---- Signals to record ---- */

/* Names of signals, made on demand. */
static const char *signal_at(const void *names, int i)
{
  const ga__reader *reader = names;
  const char *name = ga_machine_signal_name(reader->m, i);
  if (!name) reader->r->failed = 1;
  return name ? name : "";
}

static int is_signal(const ga__reader *reader, const char *name)
{
  if (!strpbrk(name, "*?[")) return ga_machine_find_signal(reader->m, name) >= 0;
  for (int i = 0; i < ga_machine_n_signals(reader->m); i++)
    if (fnmatch(name, signal_at(reader, i), FNM_NOESCAPE) == 0) return 1;
  return 0;
}

/* 1: the name may be a signal of a part that could not be built. */
static int may_mean_incomplete(const ga__reader *reader, const char *name)
{
  const ga__named *part = ga__directory_head(&reader->parts, name, strlen(name));
  if (part) return is_incomplete(part);
  int vague = 0;
  for (int i = 0; strpbrk(name, "*?[") && i < reader->parts.names.n; i++)
    vague |= is_incomplete(&reader->parts.list[i]);
  return vague;
}

static void check_record(ga__reader *reader, ga__tree *root, const ga_run_settings *settings)
{
  const ga__tree *record = ga__map_get(ga__map_get(root, "simulation"), "record");
  for (int i = 0; i < settings->n_record; i++) {
    const char *name = settings->record[i];
    char nearest[GA_TEXT_PIECE];
    if (is_signal(reader, name) || may_mean_incomplete(reader, name)) continue;
    nearest[0] = '\0';
    if (ga__messages_may_search(reader->r->messages, ga_machine_n_signals(reader->m)))
      ga__name_nearest(nearest, name, (int)strlen(name), signal_at, reader, ga_machine_n_signals(reader->m));
    ga__report_error(reader->r->messages, record->kind == GA__TREE_LIST ? record->child[i]->at : record->at,
                     GA_REASON_UNKNOWN_SIGNAL,
                     &(ga__facts){.kind = "simulation", .field = "record", .name = name, .nearest = nearest});
  }
}

/* ---- All of it ---- */

void ga__read_machine(ga__reader *reader, ga__tree *root, ga__globals *globals, ga_run_settings *settings)
{
  ga__messages_begin(reader->r->messages, "the model", NULL);
  const int named = collect(reader, root);
  ga__read_globals(reader, root, globals);
  if (reader->r->opts->form) globals->machine.form = *reader->r->opts->form;
  if (named) ga__read_settings(reader, root, settings);
  globals->machine.t_start = reader->t_start = settings->t_start;
  const ga_status status =
      named ? ga_machine_create(reader->r->ctx, &globals->machine, &reader->m) : GA_ERR_MEMORY;
  if (status) ga__report_status(reader, root->at, status);
  const int read = !status && read_parts(reader);
  ga__messages_begin(reader->r->messages, "the model", NULL);
  finish_root(reader, root);
  if (read && !reader->r->incomplete) build(reader, root, &globals->machine);
  if (ga_machine_system(reader->m)) check_record(reader, root, settings);
  if (ga__errors(reader->r->messages) > 0 || reader->r->failed) {
    ga_machine_destroy(&reader->m);
  } else {
    ga__suspect_parts(reader);
    ga__parameters_unused(reader->r);
  }
  ga__names_destroy(&reader->parts.names);
  ga__names_destroy(&reader->functions.names);
}
