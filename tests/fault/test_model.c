/* Reading and writing of model files under failure of every allocation, libyaml's own included. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_text_rig.h"
#include "seeds.h"
#include <sys/stat.h>
#include <unistd.h>

/* libyaml's memory: these take the place of its own functions. */
void *yaml_malloc(size_t bytes);
void *yaml_realloc(void *old, size_t bytes);
void yaml_free(void *block);
unsigned char *yaml_strdup(const unsigned char *text);
static long yaml_calls;

void *yaml_malloc(size_t bytes)
{
  yaml_calls++;
  return desk_get(NULL, bytes ? bytes : 1);
}

void *yaml_realloc(void *old, size_t bytes)
{
  yaml_calls++;
  return desk_get(old, bytes ? bytes : 1);
}

void yaml_free(void *block)
{
  desk_release(block);
}

unsigned char *yaml_strdup(const unsigned char *text)
{
  const size_t bytes = text ? strlen((const char *)text) + 1 : 0;
  unsigned char *copy = text ? yaml_malloc(bytes) : NULL;
  return copy ? memcpy(copy, text, bytes) : NULL;
}

/* Reads a file with all that a document may have, then values of every kind. 1: something failed for lack of
 * memory. */
static int read_all(desk *k, const char *path)
{
  static const char *const keys[] = {"bodies", "joints"};
  int failed = !desk_start(k);
  if (failed) return 1;
  k->d = ga__document_read(&k->r, path, NULL, NULL, 0);
  if (k->d) {
    ga__tree *root = ga__document_root(k->d), *values = ga__map_get(root, "values");
    double number;
    const char *text;
    for (int i = 0; values && i < values->n; i++) {
      ga__value_number(&k->r, values->child[i], "m", &number);
      ga__value_formula(&k->r, values->child[i], &text);
    }
    ga__unknown_keys(&k->r, root, 2, keys);
    ga__parameters_unused(&k->r);
  }
  ga__messages_finish(k->r.messages);
  failed = k->r.failed || ga__messages_status(k->r.messages) == GA_ERR_MEMORY;
  if (!failed && !k->d) fail_msg("nothing was read, and memory was there");
  return failed;
}

static void write_model(const desk_folder *f)
{
  static char text[16384];
  ga__writer w = {text, sizeof text, 0};
  ga__write(&w, "title: \"\\ud83d\\ude00\"\ninclude: [other.yaml]\nparameters: {L: 12 mm, h: L/2, unused: 1, "
                "same: 1}\n");
  ga__write(&w,
            "repeat: {count: 40, parts: {bodies: {\"rod{i}\": {x: [i*L, 0], y: &b {z: 1}, n: '{2*i}'}}}}\n");
  ga__write(&w, "values: {a: 3, b: 2*h, c: wrong, d: 3 kgg, e: [1], f: 1/0, g: .nan}\n");
  for (int i = 0; i < 40; i++) ga__write(&w, "s%d: &a%d {x: 1}\n", i, i + 1);
  ga__write(&w, "copy: *a7\nlost: *a99\ns3: again\n");
  desk_write(f, "m.yaml", text);
  desk_write(f, "other.yaml", "parameters: {same: 2}\nbodies: {rod1: {}}\nlist: [1, 'two', \"three\"]\n");
}

static void each_allocation_fails(void **state)
{
  desk_folder f = {"/tmp/galpha_fault_XXXXXX"};
  char path[256], clean[4096], text[4096];
  static const char *const set[] = {"L=13 mm", "none=1"};
  static const ga_prescription motions[] = {
      {"hinge.angle", "2*t"}, {"rod", "{type: motion, to: 3}"}, {"rod", "0"}};
  desk k;
  (void)state;
  assert_non_null(mkdtemp(f.path));
  write_model(&f);
  desk_path(&f, "m.yaml", path);
  desk_open(&k);
  desk_clear(&k);
  k.opts.n_set = 2;
  k.opts.set = set;
  k.opts.n_prescribe = 3;
  k.opts.prescribe = motions;
  yaml_calls = 0;
  const long before = desk_memory.count, live = desk_memory.live;
  assert_int_equal(read_all(&k, path), 0);
  desk_messages(&k, clean, sizeof clean);
  assert_true(ga__messages_count(k.r.messages) > 10);
  desk_clear(&k);
  const long needed = desk_memory.count - before;
  assert_true(yaml_calls > 100);
  assert_true(needed > yaml_calls + 50);
  for (long n = 1; n <= needed; n += rig_stride(needed)) {
    desk_memory.fail_at = desk_memory.count + n;
    if (!read_all(&k, path)) fail_msg("allocation %ld of %ld failed, and nobody noticed", n, needed);
    desk_memory.fail_at = 0;
    desk_clear(&k);
    assert_int_equal(desk_memory.live, live);
  }
  /* And all is as before. */
  assert_int_equal(read_all(&k, path), 0);
  assert_string_equal(desk_messages(&k, text, sizeof text), clean);
  desk_close(&k);
  remove(path);
  remove(desk_path(&f, "other.yaml", path));
  assert_int_equal(rmdir(f.path), 0);
}

/* ---- Writing ---- */

/* Its title is so long that libyaml hands it over in several pieces, for which room is made
 * again and again. */
static ga_model *read_parts(ga_context *ctx, int set)
{
  static char text[65536];
  ga_model_opts opts = ga_model_defaults();
  static const char *const values[] = {"m=13 g"};
  ga__writer w = {text, sizeof text, 0};
  ga_model *model = NULL;
  ga__write(&w, "galpha: 1\nparameters: {m: 12 g}\ntitle: |\n");
  for (int i = 0; i < 1000; i++) ga__write(&w, "  line %d of a very long title\n", i);
  ga__write(&w, "bodies:\n");
  for (int i = 0; i < 20; i++)
    ga__write(&w, "  p%d: {type: point, mass: %d*m, position: [1, -2, '3 mm']}\n", i, i + 1);
  ga__write(&w, "repeat: [{count: 2, parts: {bodies: {'q{i}': {type: point, mass: \"m\"}}}}]\n");
  opts.n_set = set; /* then it is written as soon as it has been read */
  opts.set = values;
  assert_int_equal(ga_model_read_text(ctx, "m.yaml", text, strlen(text), &opts, &model), GA_OK);
  return model;
}

static void each_allocation_of_writing_fails(void **state)
{
  desk_folder f = {"/tmp/galpha_fault_XXXXXX"};
  char path[256];
  const char *text = NULL;
  size_t length = 0;
  desk k;
  (void)state;
  assert_non_null(mkdtemp(f.path));
  desk_path(&f, "whole.yaml", path);
  desk_open(&k);
  ga_model *model = read_parts(k.ctx, 0);
  const long live = desk_memory.live;
  yaml_calls = 0;
  long n = 1;
  for (;; n = rig_next(n)) { /* until there is enough */
    desk_memory.fail_at = desk_memory.count + n;
    const ga_status status = ga_model_write_file(model, path);
    const int enough = desk_memory.count < desk_memory.fail_at;
    desk_memory.fail_at = 0;
    if (enough) {
      assert_int_equal(status, GA_OK);
      break;
    }
    assert_int_equal(status, GA_ERR_MEMORY);
    assert_int_equal(ga_context_error(k.ctx)->status, GA_ERR_MEMORY);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(desk_memory.live <= live + 1); /* the text, once it is there */
  }
  assert_true(n > 50 && yaml_calls > (rig_brief() ? 10 : 50));
  assert_int_equal(ga_model_write_text(model, &text, &length), GA_OK);
  assert_true(length > 2 * 16384);
  assert_non_null(strstr(text, "parameters: {m: 12 g}\n"));
  ga_model_destroy(&model);
  model = read_parts(k.ctx, 1);
  assert_int_equal(ga_model_write_text(model, &text, &length), GA_OK);
  assert_non_null(strstr(text, "parameters: {m: 13 g}\n"));
  ga_model_destroy(&model);
  desk_close(&k);
  assert_int_equal(remove(path), 0);
  assert_int_equal(rmdir(f.path), 0);
}

/* ---- Grids from files ---- */

static void each_allocation_of_grids_fails(void **state)
{
  static const char MODEL[] = "galpha: 1\nfunctions:\n  a: {type: grid, file: matrix.csv}\n"
                              "  b: {type: grid, file: points.csv}\n  c: {type: grid, x: [0, 1], y: [0, 1], z: [[1, 2], [2, 5]]}\n"
                              "bodies: {m: {type: scalar, mass: 1}}\n"
                              "signals: {s: {expression: 'a(m, 1) + b(m, 1) + c(m, 1)'}}\n";
  desk_folder f = {"/tmp/galpha_fault_XXXXXX"};
  char path[3][256];
  desk k;
  (void)state;
  assert_non_null(mkdtemp(f.path));
  desk_write(&f, "m.yaml", MODEL);
  desk_write(&f, "matrix.csv", "z [mm],0,1\n0,1,2\n1,2,4\n");
  desk_write(&f, "points.csv", "x,y,z [mm]\n0,0,1\n1,0,2\n0,1,2\n1,1,3\n");
  desk_path(&f, "m.yaml", path[0]), desk_path(&f, "matrix.csv", path[1]), desk_path(&f, "points.csv", path[2]);
  desk_open(&k);
  const long live = desk_memory.live;
  for (long n = 1;; n = rig_next(n)) { /* until there is enough */
    const ga_model_opts opts = ga_model_defaults();
    ga_model *model = NULL;
    desk_memory.fail_at = desk_memory.count + n;
    const ga_status status = ga_model_read_file(k.ctx, path[0], &opts, &model);
    const int enough = desk_memory.count < desk_memory.fail_at;
    desk_memory.fail_at = 0;
    if (status != (enough ? GA_OK : GA_ERR_MEMORY)) fail_msg("allocation %ld: status %d", n, (int)status);
    ga_model_destroy(&model);
    assert_int_equal(desk_memory.live, live);
    if (enough) break;
  }
  desk_close(&k);
  for (int i = 0; i < 3; i++) assert_int_equal(remove(path[i]), 0);
  assert_int_equal(rmdir(f.path), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails),
                                     cmocka_unit_test(each_allocation_of_grids_fails),
                                     cmocka_unit_test(each_allocation_of_writing_fails)};
  return cmocka_run_group_tests_name("fault: model", tests, NULL, NULL);
}
