/* What the tests of model texts share: memory that counts and fails, a reading with its messages, files for a
 * while. Include after cmocka.h. */
#ifndef GALPHA_TESTS_MODEL_TEXT_RIG_H
#define GALPHA_TESTS_MODEL_TEXT_RIG_H

#include "message_data.h"
#include "model/document.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct desk_heap {
  long count, live; /* allocations asked for, and those not yet freed */
  long fail_at;     /* the request of this number fails; 0: none */
} desk_heap;

static desk_heap desk_memory; /* one for contexts and for libyaml, whose functions have no user data */

static inline void *desk_get(void *old, size_t bytes)
{
  if (++desk_memory.count == desk_memory.fail_at) return NULL;
  void *block = realloc(old, bytes);
  if (block && !old) desk_memory.live++;
  return block;
}

static inline void desk_release(void *block)
{
  if (block) desk_memory.live--;
  free(block);
}

static inline void *desk_context_get(void *user, size_t bytes)
{
  (void)user;
  return desk_get(NULL, bytes);
}

static inline void desk_context_release(void *user, void *block)
{
  (void)user;
  desk_release(block);
}

/* ---- A reading ---- */

typedef struct desk {
  ga_context *ctx;
  ga_model_opts opts;
  ga__reading r;
  ga__document *d;
} desk;

/* 0: out of memory. */
static inline int desk_start(desk *k)
{
  k->r = (ga__reading){.ctx = k->ctx, .opts = &k->opts, .messages = ga__messages_create(k->ctx)};
  k->d = NULL;
  return k->r.messages != NULL;
}

static inline void desk_open(desk *k)
{
  ga_context_opts o = ga_context_defaults();
  o.alloc = desk_context_get;
  o.release = desk_context_release;
  desk_memory = (desk_heap){0, 0, 0};
  *k = (desk){.opts = {.max_parts = 1000000}};
  assert_int_equal(ga_context_create(&o, &k->ctx), GA_OK);
  assert_true(desk_start(k));
}

static inline void desk_clear(desk *k)
{
  ga__document_destroy(k->ctx, &k->d);
  assert_null(k->d);
  ga__messages_destroy(&k->r.messages);
  assert_null(k->r.messages);
}

static inline void desk_close(desk *k)
{
  desk_clear(k);
  ga_context_destroy(&k->ctx);
  assert_int_equal(desk_memory.live, 0);
}

static inline ga__tree *desk_read(desk *k, const char *text)
{
  k->d = ga__document_read(&k->r, NULL, "m.yaml", text, strlen(text));
  return k->d ? ga__document_root(k->d) : NULL;
}

/* ---- Messages: a line each, as message_data.h writes them ---- */

/* Data and sentence of one message agree: the sentence is made of the data, and of nothing else. */
static inline void assert_sentence(const ga_model_message *m)
{
  char sentence[2 * GA_ERROR_TEXT];
  const int length = ga_error_say(m->error, GA_SAY_ALL, sentence, sizeof sentence);
  assert_true(length > 0 && length < (int)sizeof sentence);
  if (strncmp(m->text, sentence, (size_t)length) != 0 || (m->n_more == 0 && m->text[length]))
    fail_msg("%s\nis not the sentence of its data,\n%s", m->text, sentence);
}

static inline char *desk_messages(const desk *k, char *text, size_t size)
{
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  ga__messages_finish(k->r.messages);
  for (int i = 0; i < ga__messages_count(k->r.messages); i++) {
    const ga_model_message *m = ga__messages_at(k->r.messages, i);
    if (i) ga__write(&w, "\n");
    write_message_data(&w, m);
    assert_sentence(m);
  }
  return text;
}

static inline void assert_messages(const desk *k, const char *expected, const char *about)
{
  static char text[65536];
  if (strcmp(desk_messages(k, text, sizeof text), expected) != 0)
    fail_msg("%s\nsays\n%s\ninstead of\n%s", about, text, expected);
}

/* The sentence of the first message. */
static inline void assert_first_sentence(const desk *k, const char *expected)
{
  ga__messages_finish(k->r.messages);
  const ga_model_message *m = ga__messages_at(k->r.messages, 0);
  assert_non_null(m);
  assert_string_equal(m->text, expected);
}

/* ---- Files ---- */

typedef struct desk_folder {
  char path[64];
} desk_folder;

static inline char *desk_path(const desk_folder *f, const char *name, char path[256])
{
  snprintf(path, 256, "%s/%s", f->path, name);
  return path;
}

static inline void desk_write(const desk_folder *f, const char *name, const char *text)
{
  char path[256];
  FILE *file = fopen(desk_path(f, name, path), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

#endif
