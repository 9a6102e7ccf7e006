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
      {"[1]", NULL, "m.yaml:1:1: the model: expected a map (key: value), found a list"},
      {"text", NULL, "m.yaml:1:1: the model: expected a map (key: value), found a text"},
      {"", NULL, "m.yaml:1:1: there is nothing in this file, expected a map"},
      {"\xEF\xBB\xBF"
       "a: 1\nb: 2",
       "{a: 1, b: 2}", ""}, /* a mark of byte order, once */
      {"\xEF\xBB\xBF"
       "a: 1, \"b\": 2",
       NULL,
       "m.yaml:1:10: this is no YAML: mapping values are not allowed in this context; a text with ': ' in it "
       "needs "
       "quotes, or the indentation is off, or the line before has no ': ' behind its key"},
      {"\xEF\xBB\xBF", NULL, "m.yaml:1:1: there is nothing in this file, expected a map"},
      {"a: 1\ninclude: [b.yaml]", "{a: 1}",
       "m.yaml:2:1: nothing can be included: the model is a text, not a file"},
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
  assert_string_equal(ga__document_file(k.d, 0), "m.yaml");
  assert_string_equal(ga__document_file(k.d, 1), "");
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
      {"repeat: {count: 2, parts: {a: {x: {}}}}", "m.yaml:1:32: the repeat gives the name 'x' of a more than "
                                                  "once; a name needs the index in it, as in 'x{i}'"},
      {"a: {x1: {}}\nrepeat: {count: 2, parts: {a: {\"x{i}\": {}}}}",
       "m.yaml:2:32: 'x1' of a is there already, at m.yaml:1:5"},
      {"repeat: {parts: {}}", "m.yaml:1:9: repeat: 'count' is missing"},
      {"repeat: {count: 1}", "m.yaml:1:9: repeat: 'parts' is missing"},
      {"repeat: 3", "m.yaml:1:9: repeat: expected a map (key: value), found a number"},
      {"repeat: [3]", "m.yaml:1:10: repeat: expected a map (key: value), found a number"},
      {"repeat: {count: -1, parts: {}}",
       "m.yaml:1:17: count of the repeat: '-1' is out of range, expected 0 to 1000000"},
      {"repeat: {count: 1000001, parts: {}}",
       "m.yaml:1:17: count of the repeat: '1000001' is out of range, expected 0 to 1000000"},
      {"repeat: {count: 1.5, parts: {}}",
       "m.yaml:1:17: count of the repeat: '1.5' is 1.5, expected a whole number"},
      {"repeat: {count: n, parts: {}}",
       "m.yaml:1:17: count of the repeat: 'n' is unknown, expected a known name"},
      {"repeat: {count: 1, form: 2, parts: {}}", "m.yaml:1:20: repeat: the key 'form' is unknown, expected "
                                                 "count, index, from or parts; did you mean 'from'?"},
      {"repeat: {count: 1, parts: [1]}",
       "m.yaml:1:27: parts of the repeat: expected a map (key: value), found a list"},
      {"repeat: {count: 1, parts: {a: [1]}}", "m.yaml:1:31: a: expected a map (key: value), found a list"},
      {"repeat: {count: 2, parts: {parameters: {x: 1}}}", "m.yaml:1:28: 'parameters' cannot be repeated"},
      {"repeat: {count: 1, index: 2i, parts: {}}",
       "m.yaml:1:27: index of the repeat: '2i' cannot be one, expected a letter or _, then letters, digits "
       "and _, but not t"},
      {"repeat: {count: 1, index: t, parts: {}}",
       "m.yaml:1:27: index of the repeat: 't' cannot be one, expected a letter or _, then letters, digits "
       "and _, but not t"},
      {"parameters: {i: 1}\nrepeat: {count: 1, parts: {}}",
       "m.yaml:2:9: index of the repeat: 'i' is a parameter or the index of an outer repeat already; name it "
       "by 'index'"},
      {"repeat: {count: 1, parts: {repeat: {count: 1, parts: {}}}}",
       "m.yaml:1:36: index of the repeat: 'i' is a parameter or the index of an outer repeat already; name "
       "it by 'index'"},
      {"repeat: {count: 1, parts: {a: {\"x{\": {}}}}",
       "m.yaml:1:32: a brace is opened and never closed; '{{' stands for a brace itself"},
      {"repeat: {count: 3, parts: {a: {\"x{j}\": {}}}}",
       "m.yaml:1:32: {j} in a repeat: 'j' is unknown, expected a known name"},
      {"repeat: {count: 3, parts: {a: {\"x{i/2}\": {}}}}",
       "m.yaml:1:32: {i/2} in a repeat: 'i/2' is 0.5, expected a whole number"},
      {"repeat: {count: 1, parts: {a: {\"x{i}\": {\"k{i}\": 3, k0: 4}}}}",
       "m.yaml:1:52: the key 'k0' is there already, at m.yaml:1:41"},
      {"title: x\nrepeat: {count: 1, parts: {title: {\"x{i}\": {}}}}",
       "m.yaml:2:28: 'title' is there already, at m.yaml:1:1"},
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
  assert_true(ga__value_number(&k.r, ga__map_get(x2, "y"), "1", "y", &value));
  assert_true(value == 5);
  assert_true(ga__value_formula(&k.r, ga__map_get(x2, "f"), "f", &text));
  assert_string_equal(text, "2*crank.angle");
  assert_true(ga__value_formula(&k.r, ga__map_get(a, "v1"), "v", &text));
  assert_string_equal(text, "1 + k1.y");
  assert_true(ga__value_number(&k.r, ga__map_get(x2, "w")->child[0], "1", "w", &value));
  assert_true(value == 2);
  assert_true(ga__value_number(&k.r, ga__map_get(a, "u21"), "1", "u", &value));
  assert_true(value == 21);
  /* What does not depend on the index is there once. */
  assert_ptr_equal(ga__map_get(x2, "z"), ga__map_get(ga__map_get(a, "x0"), "z"));
  assert_int_equal(ga__errors(k.r.messages), 0);
  assert_false(ga__value_number(&k.r, ga__map_get(root, "b"), "1", "b", &value));
  assert_messages(&k, "m.yaml:5:4: b: 'i' is unknown, expected a known name", "outside");
  desk_close(&k);
}

static void too_many_parts(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {"a: {x: {}, y: {}, z: {}, w: {}}\nn: {p: 1, q: 2}", ""},
      {"a: {x: {}, y: {}, z: {}, w: {}, v: {}}",
       "m.yaml:1:33: the model has more than 4 parts, the most that are allowed"},
      {"repeat: {count: 2, parts: {a: {\"x{i}\": {}, \"y{i}\": {}}}}", ""},
      {"b: {c: {}}\nrepeat: {count: 2, parts: {a: {\"x{i}\": {}, \"y{i}\": {}}}}",
       "m.yaml:2:44: the model has more than 4 parts, the most that are allowed"},
      {"repeat: {count: 4, parts: {repeat: {count: 4, index: k, parts: {}}}}",
       "m.yaml:1:36: repeats within repeats go round more than 4 times"},
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
  assert_messages(&k, "m.yaml:9:9: repeats are nested deeper than 8 levels", text);
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
    {"marks of byte order",
     {{"in/m.yaml", "\xEF\xBB\xBF"
                    "include: a.yaml"},
      {"in/a.yaml", "\xEF\xBB\xBF"
                    "a: {b: 1, b: 2}"}},
     "{a: {b: 1}}",
     "a.yaml:1:11: the key 'b' is there already, at a.yaml:1:5"},
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
     "m.yaml:4:3: 'a' of bodies is there already, at a.yaml:2:10\n"
     "m.yaml:6:14: 'p' of parameters is there already, at a.yaml:3:14"},
    {"of different kinds",
     {{"in/m.yaml", "include: [a.yaml]\nx: {a: 1}\ny: [1]\nz: {}\nw: {a: 1}"},
      {"in/a.yaml", "x: 1\ny: {a: 1}\nz: [1]\nw:"}},
     "{x: 1, y: {a: 1}, z: [1], w: {a: 1}}",
     "m.yaml:2:1: 'x' is there already, at a.yaml:1:1\n"
     "m.yaml:3:1: 'y' is there already, at a.yaml:2:1\n"
     "m.yaml:4:1: 'z' is there already, at a.yaml:3:1"},
    {"not there",
     {{"in/m.yaml", "include: [c.yaml]\nx: 1"}},
     "{x: 1}",
     "m.yaml:1:11: include 'c.yaml': 'c.yaml' cannot be opened: No such file or directory"},
    {"absolute",
     {{"in/m.yaml", "include: [/etc/passwd]\nx: 1"}},
     "{x: 1}",
     "m.yaml:1:11: include '/etc/passwd': expected a path relative to this file's folder, not an absolute "
     "one"},
    {"outside",
     {{"in/m.yaml", "include: [../out.yaml, sub/../../out.yaml, .., sub/x/../../../in/a.yaml]"}},
     "{}",
     "m.yaml:1:11: include '../out.yaml': this is not within the model's folder ''; only files within it are "
     "read\nm.yaml:1:24: include 'sub/../../out.yaml': this is not within the model's folder ''; only files "
     "within it are read\nm.yaml:1:44: include '..': this is not within the model's folder ''; only files "
     "within it are read\nm.yaml:1:48: include 'sub/x/../../../in/a.yaml': this is not within the model's "
     "folder ''; only files within it are read"},
    {"a link out of the folder",
     {{"in/m.yaml", "include: [link.yaml]"}},
     "{}",
     "m.yaml:1:11: include 'link.yaml': a link leads out of the model's folder ''; only files within it are "
     "read"},
    {"a link within the folder",
     {{"in/m.yaml", "include: [inner.yaml]"}, {"in/a.yaml", "x: 1"}},
     "{x: 1}",
     ""},
    {"the same by a link",
     {{"in/m.yaml", "include: [a.yaml, inner.yaml]"}, {"in/a.yaml", "x: 1"}},
     "{x: 1}",
     "m.yaml:1:19: 'a.yaml' is included already, at m.yaml:1:11"},
    {"a folder",
     {{"in/m.yaml", "include: [sub]"}},
     "{}",
     "m.yaml:1:11: 'sub' is no file, but a folder or a device"},
    {"itself",
     {{"in/m.yaml", "include: [m.yaml]"}},
     "{}",
     "m.yaml:1:11: 'm.yaml' includes itself: it is included by m.yaml"},
    {"a circle",
     {{"in/m.yaml", "include: [a.yaml]"},
      {"in/a.yaml", "include: [sub/b.yaml]"},
      {"in/sub/b.yaml", "include: ../a.yaml"}},
     "{}",
     "sub/b.yaml:1:10: 'a.yaml' includes itself: it is included by sub/b.yaml, which is included by "
     "a.yaml"},
    {"twice",
     {{"in/m.yaml", "include: [a.yaml, a.yaml]"}, {"in/a.yaml", "x: {y: {}}"}},
     "{x: {y: {}}}",
     "m.yaml:1:19: 'a.yaml' is included already, at m.yaml:1:11"},
    {"no text",
     {{"in/m.yaml", "include: {a: 1}"}},
     "{}",
     "m.yaml:1:10: include: expected a list, found a map"},
    {"no text in a list",
     {{"in/m.yaml", "include: [[1], '']"}},
     "{}",
     "m.yaml:1:11: include: expected a text, found a list\nm.yaml:1:16: include: there is nothing, "
     "expected a text"},
    {"faults of two files",
     {{"in/m.yaml", "include: [a.yaml]\nx: {a: 1, a: 2}"}, {"in/a.yaml", "x: [1, 2"}},
     "{x: {a: 1}}",
     "a.yaml:2:1: this is no YAML: while parsing a flow sequence that began in line 1: did not find "
     "expected ',' or ']'; is "
     "a comma or a closing bracket missing?\n"
     "m.yaml:2:11: the key 'a' is there already, at m.yaml:2:5"},
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
     "b.yaml:1:1: 'title' is there already, at a.yaml:1:1\n"
     "b.yaml:2:14: 't_end' of simulation is there already, at a.yaml:2:14"},
    {"another version is included",
     {{"in/m.yaml", "galpha: 1\ninclude: a.yaml"}, {"in/a.yaml", "x: 1\ngalpha: 2"}},
     "{x: 1, galpha: 1}",
     "a.yaml:2:9: galpha (the version of the format): '2' is out of range, expected 1 to 1"},
    {"names that may be in a file which cannot be read are not missed",
     {{"in/m.yaml", "x: {a: 1, a: 2}\nparameters: {p: 2*q, r: 1 mmm}\ninclude: [none.yaml]"}},
     "{x: {a: 1}}",
     "m.yaml:3:11: include 'none.yaml': 'none.yaml' cannot be opened: No such file or directory\n"
     "m.yaml:1:11: the key 'a' is there already, at m.yaml:1:5\n"
     "m.yaml:2:27: parameter 'r': '1 mmm': 'mmm' is unknown, expected a known unit; did you mean 'mm'?"},
    {"an empty file",
     {{"in/m.yaml", "include: [a.yaml]"}, {"in/a.yaml", ""}},
     "{}",
     "a.yaml:1:1: there is nothing in this file, expected a map"},
    {"no model",
     {{"in/a.yaml", "x: 1"}},
     NULL,
     "m.yaml:0:0: 'm.yaml' cannot be opened: No such file or directory"},
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
  snprintf(expected, sizeof expected, "%sd16.yaml:1:10: files are included deeper than 16 levels",
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
  assert_string_equal(ga__document_file(k.d, 1), "in/sub/a.yaml");
  desk_close(&k);
  assert_int_equal(chdir("in"), 0);
  desk_open(&k);
  k.d = ga__document_read(&k.r, "m.yaml", NULL, NULL, 0);
  assert_tree(ga__document_root(k.d), "{x: {b: 1, a: 1}}", "from within");
  assert_string_equal(ga__document_file(k.d, 1), "sub/a.yaml");
  desk_close(&k);
  desk_open(&k);
  k.d = ga__document_read(&k.r, "sub", NULL, NULL, 0);
  assert_null(k.d);
  assert_messages(&k, "sub:0:0: 'sub' is no file, but a folder or a device", "a folder");
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
