/* Documents: includes, sections of several files, repeats. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_text_rig.h"
#include <sys/stat.h>
#include <unistd.h>

/* ---- Trees as texts ---- */

static void write_tree(ga__writer *w, const ga__tree *tree)
{
  if (tree->key) ga__write(w, "%s: ", tree->key);
  if (tree->kind == GA__TREE_SCALAR) {
    ga__write(w, "%s", tree->text);
    return;
  }
  ga__write(w, tree->kind == GA__TREE_LIST ? "[" : "{");
  for (int i = 0; i < tree->n; i++) {
    if (i) ga__write(w, ", ");
    write_tree(w, tree->child[i]);
  }
  ga__write(w, tree->kind == GA__TREE_LIST ? "]" : "}");
}

static void assert_tree(const ga__tree *root, const char *expected, const char *about)
{
  static char text[65536];
  ga__writer w = {text, sizeof text, 0};
  assert_non_null(root);
  write_tree(&w, root);
  if (strcmp(text, expected) != 0) fail_msg("%s\ngives\n%s\ninstead of\n%s", about, text, expected);
}

/* ---- Texts ---- */

static void texts(void **state)
{
  static const struct {
    const char *text, *tree, *messages;
  } rows[] = {
      {"a: 1\nb: {c: 2}", "{a: 1, b: {c: 2}}", ""},
      {"{}", "{}", ""},
      {"parameters: {x: 1}\na: x", "{a: x}", ""},
      {"[1]", NULL, "m.yaml:1:1 WRONG_FORM the model 'a list'"},
      {"text", NULL, "m.yaml:1:1 WRONG_FORM the model 'a text'"},
      {"", NULL, "m.yaml:1:1 WRONG_FORM 'nothing in this file'"},
      {"\xEF\xBB\xBF"
       "a: 1\nb: 2",
       "{a: 1, b: 2}", ""}, /* a mark of byte order, once */
      {"\xEF\xBB\xBF"
       "a: 1, \"b\": 2",
       NULL, "m.yaml:1:10 NOT_YAML"},
      {"\xEF\xBB\xBF", NULL, "m.yaml:1:1 WRONG_FORM 'nothing in this file'"},
      {"a: 1\ninclude: [b.yaml]", "{a: 1}", "m.yaml:2:1 NO_FOLDER include 'included files'"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    desk_open(&k);
    ga__tree *root = desk_read(&k, rows[i].text);
    assert_messages(&k, rows[i].messages, rows[i].text);
    assert_true((root != NULL) == (rows[i].tree != NULL));
    if (root) assert_tree(root, rows[i].tree, rows[i].text);
    desk_close(&k);
  }
  desk k;
  desk_open(&k);
  desk_read(&k, "a: 1");
  assert_string_equal(ga__document_text(k.d), "# ---- m.yaml ----\na: 1\n");
  assert_string_equal(ga__messages_file(k.r.messages, 0), "m.yaml");
  assert_string_equal(ga__messages_file(k.r.messages, 1), "");
  desk_close(&k);
}

/* ---- Repeats ---- */

static void repeats(void **state)
{
  static const struct {
    const char *text, *tree;
  } rows[] = {
      {"repeat: {count: 2, index: i, parts: {bodies: {\"rod{i}\": {mass: 1, x: i*L}}}}",
       "{bodies: {rod0: {mass: 1, x: i*L}, rod1: {mass: 1, x: i*L}}}"},
      {"bodies: {a: {m: 1}}\nrepeat: {count: 2, parts: {bodies: {\"b{i}\": {on: \"b{i-1}\", to: "
       "'{i+1}{i}'}}}}",
       "{bodies: {a: {m: 1}, b0: {on: b-1, to: 10}, b1: {on: b0, to: 21}}}"},
      {"repeat: {count: 2, from: 5, index: k, parts: {a: {\"x{k}\": {y: 1}}}}",
       "{a: {x5: {y: 1}, x6: {y: 1}}}"},
      {"repeat: {count: 0, parts: {a: {\"x{i}\": {y: 1}}}}", "{}"},
      {"parameters: {n: 1}\nrepeat: {count: 2*n, from: -n, parts: {a: {\"x{i + 1}_{2*n}\": {}}}}",
       "{a: {x0_2: {}, x1_2: {}}}"},
      {"repeat: {count: 2, parts: {a: {\"x{i}\": [\"{{{i}}}\", \"}\"]}}}",
       "{a: {x0: [{0}, }], x1: [{1}, }]}}"},
      {"repeat: [{count: 1, parts: {a: {\"x{i}\": {}}}}, {count: 1, parts: {b: {\"x{i}\": {}}}}]",
       "{a: {x0: {}}, b: {x0: {}}}"},
      {"repeat: {count: 2, parts: {a: {\"x{i}\": {}}, repeat: {count: i+1, index: k, parts: {a: "
       "{\"x{i}_{k}\": {z: i*k}}}}}}",
       "{a: {x0: {}, x0_0: {z: i*k}, x1: {}, x1_0: {z: i*k}, x1_1: {z: i*k}}}"},
      {"repeat: {count: 1, parts: {a: {x: {y: 1}}}}", "{a: {x: {y: 1}}}"},
      {"a: {x: '{i}'}", "{a: {x: {i}}}"},
      {"a:\nrepeat: {count: 1, parts: {a: {\"x{i}\": {}}}}", "{a: {x0: {}}}"},
      {"repeat: {count: 1, parts: {a: {\"x{i}\": {\"k{i}\": 3}}}}", "{a: {x0: {k0: 3}}}"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    desk_open(&k);
    ga__tree *root = desk_read(&k, rows[i].text);
    assert_messages(&k, "", rows[i].text);
    assert_tree(root, rows[i].tree, rows[i].text);
    desk_close(&k);
  }
}

static void wrong_repeats(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {"repeat: {count: 2, parts: {a: {x: {}}}}", "m.yaml:1:32 REPEATED_NAME repeat 'x'"},
      {"a: {x1: {}}\nrepeat: {count: 2, parts: {a: {\"x{i}\": {}}}}", "m.yaml:2:32 GIVEN_TWICE repeat 'x1'"},
      {"repeat: {parts: {}}", "m.yaml:1:9 KEY_MISSING repeat/count"},
      {"repeat: {count: 1}", "m.yaml:1:9 KEY_MISSING repeat/parts"},
      {"repeat: 3", "m.yaml:1:9 WRONG_FORM repeat 'a number'"},
      {"repeat: [3]", "m.yaml:1:10 WRONG_FORM repeat 'a number'"},
      {"repeat: {count: -1, parts: {}}", "m.yaml:1:17 OUT_OF_RANGE repeat/count =-1"},
      {"repeat: {count: 1000001, parts: {}}", "m.yaml:1:17 OUT_OF_RANGE repeat/count =1000001"},
      {"repeat: {count: 1.5, parts: {}}", "m.yaml:1:17 NOT_WHOLE repeat/count '1.5' =1.5"},
      {"repeat: {count: n, parts: {}}", "m.yaml:1:17 UNKNOWN_NAME repeat/count 'n'"},
      {"repeat: {count: 1, form: 2, parts: {}}", "m.yaml:1:20 UNKNOWN_KEY repeat 'form' ~from"},
      {"repeat: {count: 1, parts: [1]}", "m.yaml:1:27 WRONG_FORM repeat/parts 'a list'"},
      {"repeat: {count: 1, parts: {a: [1]}}", "m.yaml:1:31 WRONG_FORM repeat/a 'a list'"},
      {"repeat: {count: 2, parts: {parameters: {x: 1}}}",
       "m.yaml:1:28 NOT_READ repeat/parameters 'this key'"},
      {"repeat: {count: 1, index: 2i, parts: {}}", "m.yaml:1:27 NAME_NOT_ALLOWED repeat/index '2i'"},
      {"repeat: {count: 1, index: t, parts: {}}", "m.yaml:1:27 NAME_NOT_ALLOWED repeat/index 't'"},
      {"parameters: {i: 1}\nrepeat: {count: 1, parts: {}}", "m.yaml:2:9 NAME_NOT_ALLOWED repeat/index 'i'"},
      {"repeat: {count: 1, parts: {repeat: {count: 1, parts: {}}}}",
       "m.yaml:1:36 NAME_NOT_ALLOWED repeat/index 'i'"},
      {"repeat: {count: 1, parts: {a: {\"x{\": {}}}}", "m.yaml:1:32 SYNTAX repeat"},
      {"repeat: {count: 3, parts: {a: {\"x{j}\": {}}}}", "m.yaml:1:32 UNKNOWN_NAME repeat/{j} 'j'"},
      {"repeat: {count: 3, parts: {a: {\"x{i/2}\": {}}}}", "m.yaml:1:32 NOT_WHOLE repeat/{i/2} 'i/2' =0.5"},
      {"repeat: {count: 1, parts: {a: {\"x{i}\": {\"k{i}\": 3, k0: 4}}}}",
       "m.yaml:1:52 GIVEN_TWICE repeat 'k0'"},
      {"title: x\nrepeat: {count: 1, parts: {title: {\"x{i}\": {}}}}",
       "m.yaml:2:28 GIVEN_TWICE repeat 'title'"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    desk_open(&k);
    desk_read(&k, rows[i].text);
    assert_messages(&k, rows[i].messages, rows[i].text);
    desk_close(&k);
  }
}

/* Expressions within a repeat know its index, those without do not. */
static void indices_in_expressions(void **state)
{
  desk k;
  double value;
  const char *text;
  (void)state;
  desk_open(&k);
  ga__tree *root = desk_read(
      &k,
      "parameters: {L: 2}\n"
      "repeat: {count: 3, index: i, parts: {a: {\"x{i}\": {y: i*L + 1, z: 5, f: i*crank.angle, w: [i, 0]},\n"
      "  \"v{i}\": 'i + k{i}.y'},\n"
      "  repeat: {count: 2, index: j, parts: {a: {\"u{i}{j}\": 10*i + j}}}}}\n"
      "b: i");
  ga__tree *a = ga__map_get(root, "a");
  ga__tree *x2 = ga__map_get(a, "x2");
  assert_true(ga__value_number(&k.r, ga__map_get(x2, "y"), "1", &value));
  assert_true(value == 5);
  assert_true(ga__value_formula(&k.r, ga__map_get(x2, "f"), &text));
  assert_string_equal(text, "2*crank.angle");
  assert_true(ga__value_formula(&k.r, ga__map_get(a, "v1"), &text));
  assert_string_equal(text, "1 + k1.y");
  assert_true(ga__value_number(&k.r, ga__map_get(x2, "w")->child[0], "1", &value));
  assert_true(value == 2);
  assert_true(ga__value_number(&k.r, ga__map_get(a, "u21"), "1", &value));
  assert_true(value == 21);
  /* What does not depend on the index is there once. */
  assert_ptr_equal(ga__map_get(x2, "z"), ga__map_get(ga__map_get(a, "x0"), "z"));
  assert_int_equal(ga__errors(k.r.messages), 0);
  assert_false(ga__value_number(&k.r, ga__map_get(root, "b"), "1", &value));
  assert_messages(&k, "m.yaml:5:4 UNKNOWN_NAME 'i'", "outside");
  desk_close(&k);
}

static void too_many_parts(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {"a: {x: {}, y: {}, z: {}, w: {}}\nn: {p: 1, q: 2}", ""},
      {"a: {x: {}, y: {}, z: {}, w: {}, v: {}}", "m.yaml:1:33 LIMIT_EXCEEDED 'parts' =4"},
      {"repeat: {count: 2, parts: {a: {\"x{i}\": {}, \"y{i}\": {}}}}", ""},
      {"b: {c: {}}\nrepeat: {count: 2, parts: {a: {\"x{i}\": {}, \"y{i}\": {}}}}",
       "m.yaml:2:44 LIMIT_EXCEEDED repeat 'parts' =4"},
      {"repeat: {count: 4, parts: {repeat: {count: 4, index: k, parts: {}}}}",
       "m.yaml:1:36 LIMIT_EXCEEDED repeat 'rounds of repeats within repeats' =4"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    desk k;
    desk_open(&k);
    k.opts.max_parts = 4;
    desk_read(&k, rows[i].text);
    assert_messages(&k, rows[i].messages, rows[i].text);
    desk_close(&k);
  }
}

static void deep_repeats(void **state)
{
  char text[1024];
  ga__writer w = {text, sizeof text, 0};
  desk k;
  (void)state;
  for (int i = 0; i < 9; i++) ga__write(&w, "%srepeat: {count: 1, index: i%d, parts: {", i ? "\n" : "", i);
  for (int i = 0; i < 9; i++) ga__write(&w, "}}");
  desk_open(&k);
  desk_read(&k, text);
  assert_messages(&k, "m.yaml:9:9 LIMIT_EXCEEDED repeat 'levels of repeats' =8", text);
  desk_close(&k);
}

/* A hundred thousand parts take the memory of what differs. */
static void large_repeat(void **state)
{
  desk k;
  (void)state;
  desk_open(&k);
  ga__tree *root = desk_read(
      &k, "repeat: {count: 100000, parts: {bodies: {\"rod{i}\": {mass: 1, inertia: [1, 1, 1], x: [i, 0, "
          "0]}}}}");
  assert_messages(&k, "", "many rods");
  assert_int_equal(root->child[0]->n, 100000);
  assert_string_equal(root->child[0]->child[99999]->key, "rod99999");
  desk_close(&k);
}

/* ---- Files ---- */

static int make_folder(void **state)
{
  static desk_folder f;
  char path[256];
  strcpy(f.path, "/tmp/galpha_model_XXXXXX");
  if (!mkdtemp(f.path)) return -1;
  *state = &f;
  return mkdir(desk_path(&f, "in", path), 0700) || mkdir(desk_path(&f, "in/sub", path), 0700);
}

static int remove_folder(void **state)
{
  static const char *const names[] = {
      "in/m.yaml",     "in/a.yaml", "in/b.yaml",     "in/c.yaml", "in/link.yaml", "in/sub/a.yaml",
      "in/sub/b.yaml", "out.yaml",  "in/inner.yaml", "in/sub",    "in",           ""};
  const desk_folder *f = *state;
  char path[256];
  for (int i = 0; i < COUNT(names); i++) remove(desk_path(f, names[i], path));
  return access(f->path, F_OK) == 0 ? -1 : 0; /* nothing may be left */
}

static void clear_files(const desk_folder *f)
{
  static const char *const names[] = {"in/m.yaml", "in/a.yaml",     "in/b.yaml",
                                      "in/c.yaml", "in/sub/a.yaml", "in/sub/b.yaml"};
  char path[256];
  for (int i = 0; i < COUNT(names); i++) remove(desk_path(f, names[i], path));
}

/* Reads in/m.yaml, and compares with the folder's name left out. */
static void check_files(const desk_folder *f, const char *tree, const char *messages, const char *about)
{
  static char said[65536];
  char path[256], prefix[256];
  desk k;
  desk_open(&k);
  k.d = ga__document_read(&k.r, desk_path(f, "in/m.yaml", path), NULL, NULL, 0);
  desk_messages(&k, said, sizeof said);
  desk_path(f, "in/", prefix);
  for (char *p; (p = strstr(said, prefix)) != NULL;)
    memmove(p, p + strlen(prefix), strlen(p + strlen(prefix)) + 1);
  if (strcmp(said, messages) != 0) fail_msg("%s\nsays\n%s\ninstead of\n%s", about, said, messages);
  if (tree) assert_tree(k.d ? ga__document_root(k.d) : NULL, tree, about);
  if (!tree) assert_null(k.d);
  desk_close(&k);
}

typedef struct file_row {
  const char *name, *text;
} file_row;

static const struct {
  const char *about;
  file_row file[4];
  const char *tree, *messages;
} include_rows[] = {
    {"two files",
     {{"in/m.yaml", "include: [a.yaml, b.yaml]\nbodies: {m: {}}"},
      {"in/a.yaml", "bodies: {a: {}}"},
      {"in/b.yaml", "x: 1"}},
     "{bodies: {a: {}, m: {}}, x: 1}",
     ""},
    {"files by conditions",
     {{"in/m.yaml", "include: [{file: a.yaml, if: p == 0}, {file: b.yaml, if: p}, {file: c.yaml, if: k > 1}]\n"
                    "parameters: {p: 1}\nsimulation: {t: 1}"},
      {"in/a.yaml", "bodies: {f: {m: 1}}"},
      {"in/b.yaml", "parameters: {k: 2}\nbodies: {f: {m: 2}}\nsimulation: {t: 2, h: 3}"},
      {"in/c.yaml", "bodies: {c: {m: 3, if: k == 2}, d: {if: p == 0}}"}},
     "{simulation: {t: 1, h: 3}, bodies: {f: {m: 2}, c: {m: 3, if: k == 2}}}",
     ""},
    {"a file that is left out is not read",
     {{"in/m.yaml", "include: {file: none.yaml, if: false}\nx: {}"}},
     "{x: {}}",
     ""},
    {"conditions that are wrong",
     {{"in/m.yaml", "include: [{file: a.yaml, if: q}, {file: b.yaml, when: 1}]\nx: {}"},
      {"in/a.yaml", "parameters: {q: 1}"},
      {"in/b.yaml", "y: {}"}},
     "{y: {}, x: {}}",
     "m.yaml:1:30 UNKNOWN_NAME include/if 'q'\nm.yaml:1:49 UNKNOWN_KEY include 'when'"},
    {"a condition without a file",
     {{"in/m.yaml", "include: [{if: 1}]\nx: {}"}},
     "{x: {}}",
     "m.yaml:1:11 KEY_MISSING include/file"},
    {"marks of byte order",
     {{"in/m.yaml", "\xEF\xBB\xBF"
                    "include: a.yaml"},
      {"in/a.yaml", "\xEF\xBB\xBF"
                    "a: {b: 1, b: 2}"}},
     "{a: {b: 1}}",
     "a.yaml:1:11 GIVEN_TWICE 'b'"},
    {"one text",
     {{"in/m.yaml", "include: a.yaml"}, {"in/a.yaml", "bodies: {a: {}}"}},
     "{bodies: {a: {}}}",
     ""},
    {"folders",
     {{"in/m.yaml", "include: [sub/a.yaml]"},
      {"in/sub/a.yaml", "include: [b.yaml, ./../a.yaml]\nx: {c: 1}"},
      {"in/sub/b.yaml", "x: {d: 1}"},
      {"in/a.yaml", "x: {e: 1}"}},
     "{x: {d: 1, e: 1, c: 1}}",
     ""},
    {"parameters and repeats of several files",
     {{"in/m.yaml", "include: [a.yaml]\nparameters: {n: k}\nrepeat: {count: n, parts: {x: {\"m{i}\": 1}}}"},
      {"in/a.yaml", "parameters: {k: 2}\nrepeat: {count: n, parts: {x: {\"a{i}\": 1}}}"}},
     "{x: {a0: 1, a1: 1, m0: 1, m1: 1}}",
     ""},
    {"names in both",
     {{"in/m.yaml", "include: [a.yaml]\nbodies:\n  b: {}\n  a: {}\ntitle: two\nparameters: {p: 1}"},
      {"in/a.yaml", "title: one\nbodies: {a: {}}\nparameters: {p: 2}"}},
     "{title: two, bodies: {a: {}, b: {}}}",
     "m.yaml:4:3 GIVEN_TWICE 'a'\n"
     "m.yaml:6:14 GIVEN_TWICE 'p'"},
    {"of different kinds",
     {{"in/m.yaml", "include: [a.yaml]\nx: {a: 1}\ny: [1]\nz: {}\nw: {a: 1}"},
      {"in/a.yaml", "x: 1\ny: {a: 1}\nz: [1]\nw:"}},
     "{x: 1, y: {a: 1}, z: [1], w: {a: 1}}",
     "m.yaml:2:1 GIVEN_TWICE 'x'\n"
     "m.yaml:3:1 GIVEN_TWICE 'y'\n"
     "m.yaml:4:1 GIVEN_TWICE 'z'"},
    {"not there",
     {{"in/m.yaml", "include: [c.yaml]\nx: 1"}},
     "{x: 1}",
     "m.yaml:1:11 FILE_ACCESS <c.yaml> 'read'"},
    {"absolute",
     {{"in/m.yaml", "include: [/etc/passwd]\nx: 1"}},
     "{x: 1}",
     "m.yaml:1:11 PATH_REFUSED include '/etc/passwd'"},
    {"outside",
     {{"in/m.yaml", "include: [../out.yaml, sub/../../out.yaml, .., sub/x/../../../in/a.yaml]"}},
     "{}",
     "m.yaml:1:11 PATH_REFUSED include '../out.yaml'\n"
     "m.yaml:1:24 PATH_REFUSED include 'sub/../../out.yaml'\n"
     "m.yaml:1:44 PATH_REFUSED include '..'\n"
     "m.yaml:1:48 PATH_REFUSED include 'sub/x/../../../in/a.yaml'"},
    {"a link out of the folder",
     {{"in/m.yaml", "include: [link.yaml]"}},
     "{}",
     "m.yaml:1:11 PATH_REFUSED include 'link.yaml'"},
    {"a link within the folder",
     {{"in/m.yaml", "include: [inner.yaml]"}, {"in/a.yaml", "x: 1"}},
     "{x: 1}",
     ""},
    {"the same by a link",
     {{"in/m.yaml", "include: [a.yaml, inner.yaml]"}, {"in/a.yaml", "x: 1"}},
     "{x: 1}",
     "m.yaml:1:19 GIVEN_TWICE include 'a.yaml'"},
    {"a folder", {{"in/m.yaml", "include: [sub]"}}, "{}", "m.yaml:1:11 FILE_ACCESS <sub> 'read'"},
    {"itself", {{"in/m.yaml", "include: [m.yaml]"}}, "{}", "m.yaml:1:11 CIRCULAR include 'm.yaml'"},
    {"a circle",
     {{"in/m.yaml", "include: [a.yaml]"},
      {"in/a.yaml", "include: [sub/b.yaml]"},
      {"in/sub/b.yaml", "include: ../a.yaml"}},
     "{}",
     "sub/b.yaml:1:10 CIRCULAR include 'a.yaml'"},
    {"twice",
     {{"in/m.yaml", "include: [a.yaml, a.yaml]"}, {"in/a.yaml", "x: {y: {}}"}},
     "{x: {y: {}}}",
     "m.yaml:1:19 GIVEN_TWICE include 'a.yaml'"},
    {"no text", {{"in/m.yaml", "include: {a: 1}"}}, "{}", "m.yaml:1:10 WRONG_FORM include 'a map'"},
    {"no text in a list",
     {{"in/m.yaml", "include: [[1], '']"}},
     "{}",
     "m.yaml:1:11 WRONG_FORM include 'a list'\n"
     "m.yaml:1:16 WRONG_FORM include 'nothing'"},
    {"faults of two files",
     {{"in/m.yaml", "include: [a.yaml]\nx: {a: 1, a: 2}"}, {"in/a.yaml", "x: [1, 2"}},
     "{x: {a: 1}}",
     "a.yaml:2:1 NOT_YAML\n"
     "m.yaml:2:11 GIVEN_TWICE 'a'"},
    {"a model includes a model: the outer one has the last word on what is said once",
     {{"in/m.yaml", "galpha: 1\ninclude: a.yaml\ntitle: m\nsimulation: {t_end: 2, rho: 1}\nform: body"},
      {"in/a.yaml", "galpha: 1\ninclude: b.yaml\ntitle: a\ngravity: [0, 0, 1]\nsimulation: {t_end: 1}"},
      {"in/b.yaml", "title: b\ngravity: [0, 0, 2]\nsimulation: {step: 0.1, rho: 0}\nform: se3"}},
     "{title: m, gravity: [0, 0, 1], simulation: {step: 0.1, rho: 1, t_end: 2}, form: body, galpha: 1}",
     ""},
    {"neither of two files that are included side by side has it",
     {{"in/m.yaml", "include: [a.yaml, b.yaml]"},
      {"in/a.yaml", "title: a\nsimulation: {t_end: 1}"},
      {"in/b.yaml", "title: b\nsimulation: {t_end: 2}"}},
     "{title: a, simulation: {t_end: 1}}",
     "b.yaml:1:1 GIVEN_TWICE 'title'\n"
     "b.yaml:2:14 GIVEN_TWICE 't_end'"},
    {"another version is included",
     {{"in/m.yaml", "galpha: 1\ninclude: a.yaml"}, {"in/a.yaml", "x: 1\ngalpha: 2"}},
     "{x: 1, galpha: 1}",
     "a.yaml:2:9 OUT_OF_RANGE the model/galpha =2"},
    {"names that may be in a file which cannot be read are not missed",
     {{"in/m.yaml", "x: {a: 1, a: 2}\nparameters: {p: 2*q, r: 1 mmm}\ninclude: [none.yaml]"}},
     "{x: {a: 1}}",
     "m.yaml:3:11 FILE_ACCESS <none.yaml> 'read'\n"
     "m.yaml:1:11 GIVEN_TWICE 'a'\n"
     "m.yaml:2:27 UNKNOWN_UNIT parameter/r 'mmm' ~mm"},
    {"an empty file",
     {{"in/m.yaml", "include: [a.yaml]"}, {"in/a.yaml", ""}},
     "{}",
     "a.yaml:1:1 WRONG_FORM 'nothing in this file'"},
    {"no model", {{"in/a.yaml", "x: 1"}}, NULL, "m.yaml:0:0 FILE_ACCESS <m.yaml> 'read'"},
};

static void includes(void **state)
{
  const desk_folder *f = *state;
  char path[256], other[256];
  desk_write(f, "out.yaml", "x: 1");
  assert_int_equal(symlink(desk_path(f, "out.yaml", path), desk_path(f, "in/link.yaml", other)), 0);
  assert_int_equal(symlink("a.yaml", desk_path(f, "in/inner.yaml", other)), 0);
  for (int i = 0; i < COUNT(include_rows); i++) {
    clear_files(f);
    for (int n = 0; n < 4 && include_rows[i].file[n].name; n++)
      desk_write(f, include_rows[i].file[n].name, include_rows[i].file[n].text);
    check_files(f, include_rows[i].tree, include_rows[i].messages, include_rows[i].about);
  }
  clear_files(f);
}

static void deep_includes(void **state)
{
  const desk_folder *f = *state;
  char name[64], text[64], path[256], expected[512], prefix[256];
  desk k;
  for (int i = 0; i <= 17; i++) {
    snprintf(name, sizeof name, "in/d%d.yaml", i);
    snprintf(text, sizeof text, "include: d%d.yaml", i + 1);
    desk_write(f, name, text);
  }
  desk_open(&k);
  k.d = ga__document_read(&k.r, desk_path(f, "in/d0.yaml", path), NULL, NULL, 0);
  snprintf(expected, sizeof expected, "%sd16.yaml:1:10 LIMIT_EXCEEDED include 'levels of included files' =16",
           desk_path(f, "in/", prefix));
  assert_messages(&k, expected, "17 levels");
  desk_close(&k);
  for (int i = 0; i <= 17; i++) {
    snprintf(name, sizeof name, "in/d%d.yaml", i);
    remove(desk_path(f, name, path));
  }
}

/* As named from the model's own folder, and what is kept beside results. */
static void names_and_texts(void **state)
{
  const desk_folder *f = *state;
  char here[4096];
  desk k;
  desk_write(f, "in/m.yaml", "include: [sub/a.yaml]\nx: {a: 1}");
  desk_write(f, "in/sub/a.yaml", "x: {b: 1}\n");
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(f->path), 0);
  desk_open(&k);
  k.d = ga__document_read(&k.r, "in/m.yaml", NULL, NULL, 0);
  assert_string_equal(
      ga__document_text(k.d),
      "# ---- in/m.yaml ----\ninclude: [sub/a.yaml]\nx: {a: 1}\n# ---- in/sub/a.yaml ----\nx: {b: 1}\n");
  assert_string_equal(ga__messages_file(k.r.messages, 1), "in/sub/a.yaml");
  desk_close(&k);
  assert_int_equal(chdir("in"), 0);
  desk_open(&k);
  k.d = ga__document_read(&k.r, "m.yaml", NULL, NULL, 0);
  assert_tree(ga__document_root(k.d), "{x: {b: 1, a: 1}}", "from within");
  assert_string_equal(ga__messages_file(k.r.messages, 1), "sub/a.yaml");
  desk_close(&k);
  desk_open(&k);
  k.d = ga__document_read(&k.r, "sub", NULL, NULL, 0);
  assert_null(k.d);
  assert_messages(&k, "sub:0:0 FILE_ACCESS <sub> 'read'", "a folder");
  desk_close(&k);
  assert_int_equal(chdir(here), 0);
  clear_files(f);
}

int main(void)
{
#define WITH_FILES(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts),          cmocka_unit_test(repeats),
      cmocka_unit_test(wrong_repeats),  cmocka_unit_test(indices_in_expressions),
      cmocka_unit_test(too_many_parts), cmocka_unit_test(deep_repeats),
      cmocka_unit_test(large_repeat),   WITH_FILES(includes),
      WITH_FILES(deep_includes),        WITH_FILES(names_and_texts),
  };
  return cmocka_run_group_tests_name("model document", tests, NULL, NULL);
}
