/* Messages: kept with their places, within limits, and sorted at the end. */
#include "model/model_impl.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST = 100,              /* of each level */
  MOST_SEARCHED = 2000000, /* names compared with wrong ones; a second or so */
  MOST_HERE = 3,           /* of one level at one place: a repeat would fill everything with the same fault */
  N_LEVELS = 2,
  FIRST_FILES = 8
};

typedef struct entry {
  ga_model_message message;
  ga_error error;
  ga__place at;
  int order; /* in which it was said */
  int more;  /* others of that place that were left out */
  int lead;  /* 1: comes before those that do not */
  char *text;
} entry;

struct ga__messages {
  ga_context *ctx;
  ga_status status;
  int n_files, file_capacity;
  char **file;
  int said[N_LEVELS], kept[N_LEVELS], lost[N_LEVELS]; /* lost: those beyond MOST */
  long searched;                                      /* names compared */
  ga__concern concern;
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

/* ---- Saying ---- */

static int same_place(ga__place a, ga__place b)
{
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

static char *format_text(ga__messages *m, const char *format, va_list args)
{
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = length < 0 ? NULL : ga__alloc(m->ctx, (size_t)length + 1, 1);
  if (!text) {
    m->status = GA_ERR_MEMORY;
    return NULL;
  }
  vsnprintf(text, (size_t)length + 1, format, args);
  ga__make_plain(text);
  return text;
}

static char *write_text(ga__messages *m, const char *format, ...) GA_PRINTF(2, 3);
static char *write_text(ga__messages *m, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = format_text(m, format, args);
  va_end(args);
  return text;
}

/* 1: not to be kept, because it was said before or there is no room. */
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
  m->entry[m->n] = (entry){.message = {level, NULL, at.line, at.column, text, NULL},
                           .error = *error,
                           .at = at,
                           .order = m->n,
                           .text = text};
  m->n++;
}

ga__concern ga__messages_concern(ga__messages *m, ga__concern now)
{
  const ga__concern before = m->concern;
  m->concern = now;
  return before;
}

const char *ga__messages_field(ga__messages *m, const char *field)
{
  const char *before = m->concern.field;
  m->concern.field = field;
  return before;
}

/* The part and field that are being read. */
static void add_concern(const ga__messages *m, ga_error *error)
{
  ga__cut_text(error->kind, sizeof error->kind, m->concern.kind);
  ga__cut_text(error->part, sizeof error->part, m->concern.part);
  ga__cut_text(error->field, sizeof error->field, m->concern.field);
}

/* text is taken over; NULL: there was no memory for it. */
static void say(ga__messages *m, ga_message_level level, ga__place at, const ga_error *error, char *text)
{
  m->said[level]++;
  if (!text) return;
  if (left_out(m, level, at, text)) {
    ga__free(m->ctx, text);
  } else {
    keep(m, level, at, error, text);
    m->kept[level]++;
  }
}

/* text: taken over, and the detail of the error. */
static void say_words(ga__messages *m, ga_message_level level, ga__place at, ga_reason reason,
                      const char *name, char *text)
{
  ga_error error;
  ga__error_set(&error, GA_ERR_ARGUMENT, reason, &(ga__facts){.name = name, .detail = text});
  add_concern(m, &error);
  say(m, level, at, &error, text);
}

void ga__say_as(ga__messages *m, ga_message_level level, ga__place at, ga_reason reason, const char *name,
                const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = format_text(m, format, args);
  va_end(args);
  say_words(m, level, at, reason, name, text);
}

void ga__say(ga__messages *m, ga_message_level level, ga__place at, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = format_text(m, format, args);
  va_end(args);
  say_words(m, level, at, GA_REASON_OTHER, NULL, text);
}

void ga__say_data(ga__messages *m, ga_message_level level, ga__place at, const char *what,
                  const ga_error *error)
{
  char sentence[GA_ERROR_TEXT];
  ga_error kept = *error;
  ga_error_say(error, what ? GA_SAY_ADVICE : GA_SAY_ALL, sentence, sizeof sentence);
  kept.text = "";
  if (what) add_concern(m, &kept);
  say(m, level, at, &kept, write_text(m, "%s%s%s", what ? what : "", what ? ": " : "", sentence));
}

void ga__say_why(ga__messages *m, ga_message_level level, ga__place at, const char *what, ga_reason reason,
                 const ga__facts *facts)
{
  ga_error error;
  ga__error_set(&error, GA_ERR_ARGUMENT, reason, facts);
  ga__say_data(m, level, at, what, &error);
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
    char *text = write_text(m, "%s (and %d more of this place)", e->text, e->more);
    if (!text) continue;
    ga__free(m->ctx, e->text);
    e->message.text = e->text = text;
    e->more = 0;
  }
  for (int level = 0; level < N_LEVELS; level++) {
    if (m->lost[level] == 0) continue;
    char *text = write_text(m, "too many %s, %d more are not shown", level_name[level], m->lost[level]);
    const ga_error none = ga__error_none();
    if (text) keep(m, (ga_message_level)level, (ga__place){INT_MAX, 0, 0}, &none, text);
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
