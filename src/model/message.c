/* Messages: kept as data with their places, within limits, and sorted at the end. */
#include "model/message.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST = 100,              /* of each level */
  MOST_SEARCHED = 2000000, /* comparisons in searches for similar names; about a second */
  MOST_HERE = 3,           /* messages of one level at one place, as a repeat makes many equal ones */
  N_LEVELS = 2,
  FIRST_FILES = 8
};

typedef struct entry {
  ga_model_message message;
  ga_error error;
  ga__place at;
  int order; /* in which it was reported */
  int more;  /* number of messages omitted at this place */
  int lead;  /* 1: sorted before others */
  char *text;
} entry;

/* A name, or a file, that a condition leaves out. */
typedef struct absent {
  const char *name, *condition; /* condition NULL: a part */
  ga__place at;
  struct absent *next;
} absent;

struct ga__messages {
  ga_context *ctx;
  ga_status status;
  int n_files, file_capacity;
  char **file;
  int said[N_LEVELS], kept[N_LEVELS], lost[N_LEVELS]; /* lost: those beyond MOST */
  long searched;                                      /* names compared */
  ga__concern concern;
  absent *absent;
  int files_told; /* 1: files that are left out were reported */
  int n;
  entry entry[N_LEVELS * (MOST + 1)];
};

ga__messages *ga__messages_create(ga_context *ctx)
{
  ga__messages *m = ga__alloc(ctx, 1, sizeof *m);
  if (m) m->ctx = ctx;
  return m;
}

void ga__messages_destroy(ga__messages **m)
{
  if (!m || !*m) return;
  ga_context *ctx = (*m)->ctx;
  for (int i = 0; i < (*m)->n; i++) ga__free(ctx, (*m)->entry[i].text);
  for (int i = 0; i < (*m)->n_files; i++) ga__free(ctx, (*m)->file[i]);
  ga__free(ctx, (*m)->file);
  for (absent *a = (*m)->absent, *next; a; a = next) {
    next = a->next;
    ga__free(ctx, a);
  }
  ga__free(ctx, *m);
  *m = NULL;
}

int ga__errors(const ga__messages *m)
{
  return m->said[GA_MESSAGE_ERROR];
}

ga_status ga__messages_status(const ga__messages *m)
{
  return m->status;
}

int ga__messages_may_search(ga__messages *m, int n)
{
  if (m->searched > MOST_SEARCHED || m->kept[GA_MESSAGE_ERROR] >= MOST) return 0;
  m->searched += n;
  return 1;
}

void ga__messages_end_search(ga__messages *m)
{
  m->searched = MOST_SEARCHED + 1L;
}

/* ---- Files ---- */

int ga__messages_add_file(ga__messages *m, const char *name)
{
  const size_t bytes = strlen(name) + 1;
  if (m->n_files == m->file_capacity) {
    const int capacity = m->file_capacity ? 2 * m->file_capacity : FIRST_FILES;
    char **file = ga__alloc(m->ctx, (size_t)capacity, sizeof *file);
    if (!file) return -1;
    if (m->n_files > 0) memcpy(file, m->file, (size_t)m->n_files * sizeof *file);
    ga__free(m->ctx, m->file);
    m->file = file;
    m->file_capacity = capacity;
  }
  char *copy = ga__alloc(m->ctx, bytes, 1);
  if (!copy) return -1;
  m->file[m->n_files] = memcpy(copy, name, bytes);
  return m->n_files++;
}

const char *ga__messages_file(const ga__messages *m, int file)
{
  return file >= 0 && file < m->n_files ? m->file[file] : "";
}

const char *ga__place_text(char text[GA__PLACE_TEXT], const ga__messages *m, ga__place at)
{
  const char *file = ga__messages_file(m, at.file);
  const size_t room = GA__PLACE_TEXT - 40, bytes = strlen(file);
  size_t cut = bytes > room ? bytes - room : 0;
  while (((unsigned char)file[cut] & 0xC0u) == 0x80u) cut++; /* not within a character */
  if (at.line > 0) {
    snprintf(text, GA__PLACE_TEXT, "%s%s:%d:%d", cut ? "..." : "", file + cut, at.line, at.column);
  } else {
    snprintf(text, GA__PLACE_TEXT, "%s%s", cut ? "..." : "", file + cut);
  }
  return text;
}

/* ---- Context of messages ---- */

ga__concern ga__messages_begin(ga__messages *m, const char *kind, const char *part)
{
  const ga__concern before = m->concern;
  m->concern = (ga__concern){.kind = kind, .part = part};
  return before;
}

void ga__messages_restore(ga__messages *m, const ga__concern *before)
{
  m->concern = *before;
}

ga__concern ga__messages_concern(const ga__messages *m)
{
  return m->concern;
}

void ga__messages_set_purpose(ga__messages *m, const char *purpose)
{
  m->concern.purpose = purpose;
}

size_t ga__messages_enter(ga__messages *m, const char *key)
{
  char *field = m->concern.field;
  const size_t before = strlen(field);
  snprintf(field + before, sizeof m->concern.field - before, "%s%s", before ? "." : "", key);
  return before;
}

size_t ga__messages_enter_index(ga__messages *m, int index)
{
  char *field = m->concern.field;
  const size_t before = strlen(field);
  snprintf(field + before, sizeof m->concern.field - before, "[%d]", index);
  return before;
}

void ga__messages_leave(ga__messages *m, size_t before)
{
  m->concern.field[before] = '\0';
}

/* ---- Reports ---- */

static int same_place(ga__place a, ga__place b)
{
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

/* The sentence of an error, with the number of others at its place; NULL: out of memory. */
static char *make_text(ga__messages *m, const ga_error *error, int more)
{
  static const char and_more[] = " (and %d more of this place)";
  const size_t length = (size_t)ga_error_say(error, GA_SAY_ALL, NULL, 0),
               size = length + sizeof and_more + 16;
  char *text = ga__alloc(m->ctx, size, 1);
  if (!text) {
    m->status = GA_ERR_MEMORY;
    return NULL;
  }
  ga_error_say(error, GA_SAY_ALL, text, size);
  if (more > 0) snprintf(text + strlen(text), size - length, and_more, more);
  return text;
}

/* 1: the message is not kept, as a duplicate or beyond the limits. */
static int left_out(ga__messages *m, ga_message_level level, ga__place at, const char *text)
{
  entry *last = NULL;
  int here = 0;
  for (int i = 0; i < m->n; i++) {
    entry *e = &m->entry[i];
    if (e->message.level != level || !same_place(e->at, at)) continue;
    if (strcmp(e->text, text) == 0) return 1;
    last = e;
    here++;
  }
  if (here >= MOST_HERE && at.line > 0) {
    last->more++;
    return 1;
  }
  if (m->kept[level] < MOST) return 0;
  m->lost[level]++;
  return 1;
}

static void keep(ga__messages *m, ga_message_level level, ga__place at, const ga_error *error, char *text)
{
  m->entry[m->n] = (entry){.message = {.level = level, .line = at.line, .column = at.column, .text = text},
                           .error = *error,
                           .at = at,
                           .order = m->n,
                           .text = text};
  m->n++;
}

/* ---- What conditions leave out ---- */

static void add_absent(ga__messages *m, absent what)
{
  absent *a = ga__alloc(m->ctx, 1, sizeof *a);
  if (!a) {
    m->status = GA_ERR_MEMORY;
    return;
  }
  what.next = m->absent;
  *a = what;
  m->absent = a;
}

void ga__messages_switch_off(ga__messages *m, const char *name, ga__place at)
{
  add_absent(m, (absent){.name = name, .at = at});
}

void ga__messages_leave_out_file(ga__messages *m, const char *file, const char *condition, ga__place at)
{
  add_absent(m, (absent){.name = file, .condition = condition, .at = at});
}

/* 1: the name, up to a point, is `written`, in which {...} stands for a number. */
static int is_name_of(const char *written, const char *name)
{
  while (*written && *written != '.') {
    if (*written == '{') {
      const char *end = strchr(written, '}');
      if (!end) return 0;
      while (*name == '-' || (*name >= '0' && *name <= '9')) name++;
      written = end + 1;
    } else if (*written++ != *name++) {
      return 0;
    }
  }
  return !*name || *name == '.';
}

static int is_about_unknown_name(ga_reason reason)
{
  static const ga_reason about[] = {GA_REASON_UNKNOWN_PART, GA_REASON_UNKNOWN_SIGNAL, GA_REASON_UNKNOWN_NAME,
                                    GA_REASON_UNKNOWN_FUNCTION, GA_REASON_UNKNOWN_REFERENCE};
  size_t i = 0, n = sizeof about / sizeof *about;
  while (i < n && about[i] != reason) i++;
  return i < n;
}

/* An error about a part that is off gets that as its reason. */
static void explain_absence(ga__messages *m, ga_error *error)
{
  char place[GA__PLACE_TEXT];
  if (!is_about_unknown_name(error->reason)) return;
  for (const absent *a = m->absent; a; a = a->next) {
    if (a->condition || !is_name_of(a->name, error->name)) continue;
    error->reason = GA_REASON_SWITCHED_OFF;
    ga__cut_text(error->detail, sizeof error->detail, ga__place_text(place, m, a->at));
    return;
  }
}

static void add_message(ga__messages *m, ga_message_level level, ga__place at, const ga_error *error)
{
  char *text = make_text(m, error, 0);
  m->said[level]++;
  if (!text) return;
  if (left_out(m, level, at, text)) {
    ga__free(m->ctx, text);
  } else {
    keep(m, level, at, error, text);
    m->kept[level]++;
  }
}

/* Files that are left out may have what is unknown. */
static void tell_files_left_out(ga__messages *m)
{
  if (m->files_told) return;
  m->files_told = 1;
  for (const absent *a = m->absent; a; a = a->next) {
    ga_error note;
    if (!a->condition) continue;
    ga__error_set(&note, GA_ERR_ARGUMENT, GA_REASON_FILE_LEFT_OUT,
                  &(ga__facts){.name = a->name, .detail = a->condition});
    add_message(m, GA_MESSAGE_WARNING, a->at, &note);
  }
}

static void report(ga__messages *m, ga_message_level level, ga__place at, const ga_error *original)
{
  ga_error error = *original;
  explain_absence(m, &error);
  add_message(m, level, at, &error);
  if (is_about_unknown_name(error.reason)) tell_files_left_out(m);
}

/* Adds the part that is being read, its key with the field of the error, and what a function is used for. */
static void add_concern(const ga__messages *m, ga_error *error)
{
  const ga__concern *c = &m->concern;
  char text[2 * GA_ERROR_TEXT];
  if (c->kind) {
    ga__cut_text(error->kind, sizeof error->kind, c->kind);
    ga__cut_text(error->part, sizeof error->part, c->part);
  }
  snprintf(text, sizeof text, "%s%s%s", c->field, c->field[0] && error->field[0] ? "." : "", error->field);
  ga__cut_text(error->field, sizeof error->field, text);
  if (!c->purpose || !error->expected[0]) return;
  snprintf(text, sizeof text, "%s, the %s", error->expected, c->purpose);
  ga__cut_text(error->expected, sizeof error->expected, text);
}

static void report_facts(ga__messages *m, ga_message_level level, ga__place at, ga_reason reason,
                         const ga__facts *facts)
{
  ga_error error;
  ga__error_set(&error, GA_ERR_ARGUMENT, reason, facts);
  if (!facts->kind) add_concern(m, &error);
  report(m, level, at, &error);
}

void ga__report_error(ga__messages *m, ga__place at, ga_reason reason, const ga__facts *facts)
{
  report_facts(m, GA_MESSAGE_ERROR, at, reason, facts);
}

void ga__report_warning(ga__messages *m, ga__place at, ga_reason reason, const ga__facts *facts)
{
  report_facts(m, GA_MESSAGE_WARNING, at, reason, facts);
}

void ga__report_found(ga__messages *m, ga__place at, const ga_error *error)
{
  ga_error kept = *error;
  kept.text = "";
  add_concern(m, &kept);
  report(m, GA_MESSAGE_ERROR, at, &kept);
}

void ga__report_refused(ga__messages *m, ga_message_level level, ga__place at, const ga_error *error)
{
  ga_error kept = *error;
  kept.text = "";
  report(m, level, at, &kept);
}

void ga__messages_lead(ga__messages *m, int from)
{
  for (int i = from; i < m->n; i++) m->entry[i].lead = 1;
}

/* ---- The end ---- */

static int compare(const void *first, const void *second)
{
  const entry *a = first, *b = second;
  const int of_a[] = {!a->lead, a->at.file, a->at.line, a->at.column, a->order};
  const int of_b[] = {!b->lead, b->at.file, b->at.line, b->at.column, b->order};
  for (int i = 0; i < 5; i++) {
    if (of_a[i] != of_b[i]) return of_a[i] < of_b[i] ? -1 : 1;
  }
  return 0;
}

void ga__messages_finish(ga__messages *m)
{
  static const char *const level_name[N_LEVELS] = {"errors", "warnings"};
  for (int i = 0; i < m->n; i++) {
    entry *e = &m->entry[i];
    if (e->more == 0) continue;
    char *text = make_text(m, &e->error, e->more);
    if (!text) continue;
    ga__free(m->ctx, e->text);
    e->message.text = e->text = text;
    e->message.n_more = e->more;
    e->more = 0;
  }
  for (int level = 0; level < N_LEVELS; level++) {
    if (m->lost[level] == 0) continue;
    ga_error error;
    ga__error_set(&error, GA_ERR_ARGUMENT, GA_REASON_MORE_MESSAGES,
                  &(ga__facts){.name = level_name[level], GA__NUMBERS({m->lost[level], NULL})});
    char *text = make_text(m, &error, 0);
    if (text) keep(m, (ga_message_level)level, (ga__place){INT_MAX, 0, 0}, &error, text);
    m->lost[level] = 0;
  }
  qsort(m->entry, (size_t)m->n, sizeof m->entry[0], compare);
  for (int i = 0; i < m->n; i++) {
    m->entry[i].message.file = ga__messages_file(m, m->entry[i].at.file);
    m->entry[i].message.error = &m->entry[i].error;
  }
}

int ga__messages_count(const ga__messages *m)
{
  return m->n;
}

const ga_model_message *ga__messages_at(const ga__messages *m, int i)
{
  return i >= 0 && i < m->n ? &m->entry[i].message : NULL;
}
