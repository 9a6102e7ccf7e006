/* Trees: places, limits, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_text_rig.h"

typedef struct grove {
  desk k;
  ga__pool pool;
  ga__forest forest;
} grove;

static ga__tree *grow(grove *g, const char *text, size_t length)
{
  ga__tree *tree = NULL;
  desk_open(&g->k);
  g->pool = (ga__pool){.ctx = g->k.ctx};
  g->forest = (ga__forest){&g->pool, g->k.r.messages, GA__TREE_NODES, GA__TREE_ALIASED};
  assert_int_equal(ga__messages_add_file(g->k.r.messages, "m.yaml"), 0);
  assert_int_equal(ga__tree_read(&g->forest, 0, text, length, &tree), GA_OK);
  return tree;
}

static void fell(grove *g)
{
  ga__pool_destroy(&g->pool);
  desk_close(&g->k);
}

static void write_place(ga__writer *w, ga__place at)
{
  ga__write(w, "%d:%d", at.line, at.column);
}

/* All of a tree on one line: key@place, kind@place, text. */
static void write_tree(ga__writer *w, const ga__tree *tree)
{
  if (tree->key) {
    ga__write(w, "%s@", tree->key);
    write_place(w, tree->key_at);
    ga__write(w, "=");
  }
  if (tree->kind == GA__TREE_SCALAR) {
    ga__write(w, tree->quoted ? "'%s'@" : "%s@", tree->text);
    write_place(w, tree->at);
    ga__write(w, "+%d", tree->text_column);
    return;
  }
  ga__write(w, tree->kind == GA__TREE_LIST ? "[" : "{");
  for (int i = 0; i < tree->n; i++) {
    if (i) ga__write(w, " ");
    write_tree(w, tree->child[i]);
  }
  ga__write(w, tree->kind == GA__TREE_LIST ? "]@" : "}@");
  write_place(w, tree->at);
}

static void shapes_and_places(void **state)
{
  static const struct {
    const char *text, *tree;
  } rows[] = {
      {"a: 1", "{a@1:1=1@1:4+4}@1:1"},
      {"a:   12 mm  # note\n", "{a@1:1=12 mm@1:6+6}@1:1"},
      {"a: '2*L'\nb: \"3\"", "{a@1:1='2*L'@1:4+5 b@2:1='3'@2:4+5}@1:1"},
      {"- 1\n- [2, 3]\n", "[1@1:3+3 [2@2:4+4 3@2:7+7]@2:3]@1:1"},
      {"a:\n  b: {c: d}\n", "{a@1:1={b@2:3={c@2:7=d@2:10+10}@2:6}@2:3}@1:1"},
      {"{\"a\": [1, 2.5e-3, true]}", "{a@1:2=[1@1:8+8 2.5e-3@1:11+11 true@1:19+19]@1:7}@1:1"},
      {"a: &x 5\nb: *x", "{a@1:1=5@1:7+7 b@2:1=5@1:7+7}@1:1"},
      {"a: &x {k: 1}\nb: *x", "{a@1:1={k@1:8=1@1:11+11}@1:4 b@2:1={k@1:8=1@1:11+11}@1:4}@1:1"},
      {"a: &x '5'", "{a@1:1='5'@1:4+0}@1:1"},
      {"a: \"x\\ty\"", "{a@1:1='x\ty'@1:4+0}@1:1"},
      {"a: |\n  x\n  y\n", "{a@1:1='x\ny\n'@1:4+0}@1:1"},
      {"a: x\n  y", "{a@1:1=x y@1:4+0}@1:1"},
      {"a:\nb: ~", "{a@1:1=@1:3+3 b@2:1=@2:4+4}@1:1"},
      {"{\"a\": null, \"b\": \"null\", \"c\": [Null, NULL, !!str null]}",
       "{a@1:2=@1:7+7 b@1:13='null'@1:18+19 c@1:26=[@1:32+32 @1:38+38 'null'@1:50+50]@1:31}@1:1"},
      /* pairs of surrogates, and what looks like them */
      {"{\"a\": \"\\ud83d\\ude00\", \"b\": 2,\n \"c\": 3}",
       "{a@1:2='\xF0\x9F\x98\x80'@1:7+0 b@1:23=2@1:28+28 c@2:2=3@2:7+7}@1:1"},
      {"{\"\\uD800\\uDC00\": \"x\\\\ud83d\\\"\\udbff\\udfff \\u00e4 \\ud83d\\ude00\", b: '2'}",
       "{\xF0\x90\x80\x80@1:2='x\\ud83d\"\xF4\x8F\xBF\xBF \xC3\xA4 \xF0\x9F\x98\x80'@1:18+0 "
       "b@1:64='2'@1:67+68}@1:1"},
      {"a: \\ud83d\\ude00 # \"\\ud83d\\ude00\"\nb: '\\ud83d\\ude00'\nc: |\n  \"\\ud83d\\ude00\"\nd: "
       "\"\\ud83d\\ude00\"",
       "{a@1:1=\\ud83d\\ude00@1:4+4 b@2:1='\\ud83d\\ude00'@2:4+5 c@3:1='\"\\ud83d\\ude00\"\n'@3:4+0 "
       "d@5:1='\xF0\x9F\x98\x80'@5:4+0}@1:1"},
      {"a: !!str 5\nb: !!int 6", "{a@1:1='5'@1:10+10 b@2:1=6@2:10+10}@1:1"},
      {"größe: µm x", "{größe@1:1=µm x@1:8+8}@1:1"},
      {"\xEF\xBB\xBF"
       "a: 1",
       "{a@1:2=1@1:5+5}@1:2"},
      {"---\na: 1\n...\n", "{a@2:1=1@2:4+4}@2:1"},
      {"a: 1\r\nb: 2\r\n", "{a@1:1=1@1:4+4 b@2:1=2@2:4+4}@1:1"},
      {"'<<': 1", "{<<@1:1=1@1:7+7}@1:1"},
      {"[]", "[]@1:1"},
      {"{}", "{}@1:1"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    char text[1024];
    ga__writer w = {text, sizeof text, 0};
    grove g;
    ga__tree *tree = grow(&g, rows[i].text, strlen(rows[i].text));
    assert_messages(&g.k, "", rows[i].text);
    assert_non_null(tree);
    write_tree(&w, tree);
    if (strcmp(text, rows[i].tree) != 0)
      fail_msg("%s\ngives %s\ninstead of %s", rows[i].text, text, rows[i].tree);
    fell(&g);
  }
}

static void refused(void **state)
{
  static const struct {
    const char *text, *messages;
  } rows[] = {
      {"", "m.yaml:1:1 WRONG_FORM 'nothing in this file'"},
      {"# only a note\n", "m.yaml:1:1 WRONG_FORM 'nothing in this file'"},
      {"a: 1\nb: 2\na: 3", "m.yaml:3:1 GIVEN_TWICE 'a'"},
      {"x: {a: 1, a: 2}\ny: {b: 1, b: 2}", "m.yaml:1:11 GIVEN_TWICE 'a'\n"
                                           "m.yaml:2:11 GIVEN_TWICE 'b'"},
      {"a: 1\n---\nb: 2", "m.yaml:2:1 NOT_READ 'a second document'"},
      {"a: !point [1, 2]", "m.yaml:1:4 NOT_READ 'the tag '!point''"},
      {"a: !!binary abc=", "m.yaml:1:4 NOT_READ 'the tag 'tag:yaml.org,2002:binary''"},
      {"a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", "m.yaml:3:3 NOT_READ 'a merge key (<<)'"},
      {"[1, 2]: 3", "m.yaml:1:1 WRONG_FORM 'a list'"},
      {"? {a: 1}\n: 3", "m.yaml:1:3 WRONG_FORM 'a map'"},
      {"a: &x k\n*x : 3", "m.yaml:2:1 WRONG_FORM 'an alias'"},
      {"&x a: 3", "m.yaml:1:1 NOT_READ 'an anchor of a key'"},
      {"'': 3", "m.yaml:1:1 WRONG_FORM 'nothing'"},
      {"a: *wheel\nb: &wheels 1", "m.yaml:1:4 UNKNOWN_REFERENCE 'wheel'"},
      {"b: &wheels 1\na: *wheel", "m.yaml:2:4 UNKNOWN_REFERENCE 'wheel' ~wheels"},
      {"a: &x [1, *x]", "m.yaml:1:11 CIRCULAR 'x'"},
      {"a: &x {b: {c: *x}}", "m.yaml:1:15 CIRCULAR 'x'"},
      {"a: &x 1\nb: &x 2", "m.yaml:2:4 GIVEN_TWICE 'x'"},
      {"a: \"x\\0y\"", "m.yaml:1:4 NOT_READ 'the character NUL'"},
      {"a: [1, 2", "m.yaml:2:1 NOT_YAML"},
      {"a: {b: 1\nc: 2}", "m.yaml:2:2 NOT_YAML"},
      {"a: [0, R*cos(10[deg])]", "m.yaml:1:16 NOT_YAML"},
      {"a: [0, max(b, c), 3]\nd: {e: if(b, (c), 3), f: 1}\ng: [a(b, c), h(i,j(k), l)]",
       "m.yaml:1:8 NEEDS_QUOTES 'max(b, c)'\n"
       "m.yaml:2:8 NEEDS_QUOTES 'if(b, (c), 3)'\n"
       "m.yaml:3:5 NEEDS_QUOTES 'a(b, c)'\n"
       "m.yaml:3:14 NEEDS_QUOTES 'h(i, j(k), l)'"},
      {"a: {\"b\": \"\\ud83d\\ude00\", b: 1}", "m.yaml:1:26 GIVEN_TWICE 'b'"},
      {"a: [\"\\ud83d\\ude00\", \"\\ude00\\ud83d\"]", "m.yaml:1:24 NOT_YAML"},
      {"a: [\"\\ud83d\\ude00\" \"\\ud83d\\ude00 \\q\"]", "m.yaml:1:34 NOT_YAML"},
      {"a: [\"\\ud83d\\ude00\" \"\xFF\"]", "m.yaml:1:21 NOT_UTF8"},
      {"a: 'x\n", "m.yaml:2:1 NOT_YAML"},
      {"a: b: c", "m.yaml:1:5 NOT_YAML"},
      {"a:\n\tb: 1", "m.yaml:2:1 NOT_YAML"},
      {"a:\n  b: 1\n c: 2", "m.yaml:3:2 NOT_YAML"},
      {"a: 1\nb\n", "m.yaml:3:1 NOT_YAML"},
      {"a: @x", "m.yaml:1:4 NOT_YAML"},
      {"a: 1\nb: \xFF", "m.yaml:2:4 NOT_UTF8"},
      {"a: \x01", "m.yaml:1:4 NOT_UTF8"},
      {"\xFF\xFE"
       "a\0",
       "m.yaml:1:1 NOT_UTF8"},
  };
  (void)state;
  for (int i = 0; i < COUNT(rows); i++) {
    grove g;
    grow(&g, rows[i].text, strlen(rows[i].text));
    assert_messages(&g.k, rows[i].messages, rows[i].text);
    fell(&g);
  }
  grove g;
  assert_null(grow(&g, "a: x\0y", 6));
  assert_messages(&g.k, "m.yaml:1:5 NOT_UTF8", "NUL");
  fell(&g);
}

/* Many keys take the way of the hash. */
static void many_keys(void **state)
{
  char text[4096];
  ga__writer w = {text, sizeof text, 0};
  grove g;
  (void)state;
  for (int i = 0; i < 200; i++) ga__write(&w, "k%d: %d\n", i, i);
  ga__write(&w, "k7: 1\nk199: 2\nl: 3\n");
  ga__tree *tree = grow(&g, text, strlen(text));
  assert_messages(&g.k,
                  "m.yaml:201:1 GIVEN_TWICE 'k7'\n"
                  "m.yaml:202:1 GIVEN_TWICE 'k199'",
                  "200 keys");
  assert_int_equal(tree->n, 201);
  assert_string_equal(tree->child[7]->text, "7");
  assert_string_equal(tree->child[200]->key, "l");
  fell(&g);
}

/* As many pairs of surrogates as one likes, on one line and on lines of their own. */
static void many_pairs(void **state)
{
  enum { N = 5000, LENGTH = 25 };
  grove g;
  (void)state;
  for (int lines = 0; lines < 2; lines++) {
    char *text = malloc(N * LENGTH + 100);
    assert_non_null(text);
    ga__writer w = {text, N * LENGTH + 100, 0};
    for (int i = 0; i < N; i++)
      ga__write(&w, "%c%c\"k%04d\":\"\\ud83d\\ude00\"", i == 0 ? '{' : ',', lines ? '\n' : ' ', i);
    ga__write(&w, ",\"k0000\":1}");
    ga__tree *tree = grow(&g, text, strlen(text));
    assert_messages(
        &g.k, lines ? "m.yaml:5001:24 GIVEN_TWICE 'k0000'" : "m.yaml:1:120002 GIVEN_TWICE 'k0000'", "pairs");
    assert_int_equal(tree->n, N);
    for (int i = 0; i < N; i++) assert_string_equal(tree->child[i]->text, "\xF0\x9F\x98\x80");
    fell(&g);
    free(text);
  }
}

static void depth(void **state)
{
  static const char limit[] = "LIMIT_EXCEEDED 'levels of lists and maps' =64";
  char text[4096], expected[256];
  grove g;
  (void)state;
  for (int n = GA__TREE_DEPTH; n <= GA__TREE_DEPTH + 1; n++) {
    memset(text, '[', (size_t)n);
    memset(text + n, ']', (size_t)n);
    ga__tree *tree = grow(&g, text, 2 * (size_t)n);
    snprintf(expected, sizeof expected, "m.yaml:1:65 %s", limit);
    assert_messages(&g.k, n <= GA__TREE_DEPTH ? "" : expected, "brackets");
    assert_true((tree != NULL) == (n <= GA__TREE_DEPTH));
    fell(&g);
  }
  memset(text, '[', 3000);
  assert_null(grow(&g, text, 3000));
  fell(&g);
  /* By aliases: 40 levels within 40. */
  ga__writer w = {text, sizeof text, 0};
  ga__write(&w, "a: &x ");
  for (int i = 0; i < 40; i++) ga__write(&w, "[");
  for (int i = 0; i < 40; i++) ga__write(&w, "]");
  ga__write(&w, "\nb: ");
  for (int i = 0; i < 40; i++) ga__write(&w, "[");
  ga__write(&w, "*x");
  for (int i = 0; i < 40; i++) ga__write(&w, "]");
  assert_null(grow(&g, text, strlen(text)));
  snprintf(expected, sizeof expected, "m.yaml:2:44 %s", limit);
  assert_messages(&g.k, expected, "aliases");
  fell(&g);
}

/* Nine levels of nine aliases: 9^9 values. a6 takes 672597 of the million, the first *a6 the rest. */
static void alias_bomb(void **state)
{
  char text[2048];
  ga__writer w = {text, sizeof text, 0};
  grove g;
  (void)state;
  ga__write(&w, "a0: &a0 x\n");
  for (int i = 1; i <= 9; i++) {
    ga__write(&w, "a%d: &a%d [", i, i);
    for (int k = 0; k < 9; k++) ga__write(&w, "%s*a%d", k ? ", " : "", i - 1);
    ga__write(&w, "]\n");
  }
  assert_null(grow(&g, text, strlen(text)));
  assert_messages(&g.k, "m.yaml:8:10 LIMIT_EXCEEDED 'values, lists and maps by aliases' =1000000", "a bomb");
  fell(&g);
}

static void size(void **state)
{
  grove g;
  ga__tree *tree;
  (void)state;
  desk_open(&g.k);
  g.pool = (ga__pool){.ctx = g.k.ctx};
  g.forest = (ga__forest){&g.pool, g.k.r.messages, 5, 100};
  ga__messages_add_file(g.k.r.messages, "m.yaml");
  assert_int_equal(ga__tree_read(&g.forest, 0, "[1, 2, 3, 4]", 12, &tree), GA_OK);
  assert_non_null(tree);
  g.forest.nodes_left = 4;
  assert_int_equal(ga__tree_read(&g.forest, 0, "[1, 2, 3, 4]", 12, &tree), GA_OK);
  assert_null(tree);
  assert_messages(&g.k, "m.yaml:1:11 LIMIT_EXCEEDED 'values, lists and maps' =5000000", "four left for five");
  fell(&g);
}

/* ---- Messages themselves ---- */

static void report(ga__messages *m, ga_message_level level, ga__place at, const char *name)
{
  const ga__facts facts = {.name = name};
  if (level == GA_MESSAGE_ERROR)
    ga__report_error(m, at, GA_REASON_NOT_READ, &facts);
  else
    ga__report_warning(m, at, GA_REASON_NOT_READ, &facts);
}

static void messages_are_sorted(void **state)
{
  desk k;
  (void)state;
  desk_open(&k);
  ga__messages *m = k.r.messages;
  assert_int_equal(ga__messages_add_file(m, "b.yaml"), 0);
  assert_int_equal(ga__messages_add_file(m, "a.yaml"), 1);
  report(m, GA_MESSAGE_ERROR, (ga__place){1, 1, 1}, "five");
  report(m, GA_MESSAGE_WARNING, (ga__place){0, 2, 5}, "four");
  report(m, GA_MESSAGE_ERROR, (ga__place){0, 2, 3}, "two");
  report(m, GA_MESSAGE_ERROR, GA__NOWHERE, "one\033[2J\n");
  report(m, GA_MESSAGE_ERROR, (ga__place){0, 2, 3}, "three");
  report(m, GA_MESSAGE_ERROR, (ga__place){0, 2, 3}, "two");
  assert_int_equal(ga__errors(m), 5);
  assert_messages(&k,
                  ":0:0 NOT_READ 'one [2J '\n"
                  "b.yaml:2:3 NOT_READ 'two'\n"
                  "b.yaml:2:3 NOT_READ 'three'\n"
                  "b.yaml:2:5 warning NOT_READ 'four'\n"
                  "a.yaml:1:1 NOT_READ 'five'",
                  "six calls");
  assert_null(ga__messages_at(m, -1));
  assert_null(ga__messages_at(m, 5));
  assert_int_equal(ga__messages_status(m), GA_OK);
  desk_close(&k);
}

static void messages_have_limits(void **state)
{
  desk k;
  (void)state;
  desk_open(&k);
  ga__messages *m = k.r.messages;
  ga__messages_add_file(m, "a.yaml");
  for (int i = 0; i < 10; i++)
    report(m, GA_MESSAGE_ERROR, (ga__place){0, 1, 1}, (char[]){(char)('0' + i), '\0'});
  for (int i = 0; i < 150; i++) report(m, GA_MESSAGE_ERROR, (ga__place){0, 2, 1 + i}, "x");
  for (int i = 0; i < 102; i++) report(m, GA_MESSAGE_WARNING, (ga__place){0, 3, 1 + i}, "y");
  assert_int_equal(ga__errors(m), 160);
  ga__messages_finish(m);
  assert_int_equal(ga__messages_count(m), 202);
  assert_string_equal(ga__messages_at(m, 0)->error->name, "0");
  assert_string_equal(ga__messages_at(m, 2)->text, "2 is not read (and 7 more of this place)");
  assert_int_equal(ga__messages_at(m, 3)->line, 2);
  assert_int_equal(ga__messages_at(m, 2)->n_more, 7);
  assert_string_equal(ga__messages_at(m, 200)->text, "too many errors, 53 more are not shown");
  assert_int_equal(ga__messages_at(m, 201)->error->reason, GA_REASON_MORE_MESSAGES);
  assert_true(ga__messages_at(m, 201)->error->number[0].value == 2);
  assert_string_equal(ga__messages_at(m, 201)->file, "");
  assert_int_equal(ga__messages_at(m, 201)->level, GA_MESSAGE_WARNING);
  desk_close(&k);
}

static void long_places_keep_their_end(void **state)
{
  desk k;
  char name[512], text[GA__PLACE_TEXT];
  (void)state;
  desk_open(&k);
  memset(name, 'a', sizeof name);
  memcpy(name + 200, "é", 2);
  strcpy(name + 500, "z.yaml");
  ga__messages_add_file(k.r.messages, name);
  ga__place_text(text, k.r.messages, (ga__place){0, 12345, 67});
  assert_true(strncmp(text, "...aaa", 6) == 0);
  assert_string_equal(text + strlen(text) - 15, "z.yaml:12345:67");
  assert_string_equal(ga__place_text(text, k.r.messages, GA__NOWHERE), "");
  desk_close(&k);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_and_places),
      cmocka_unit_test(refused),
      cmocka_unit_test(many_keys),
      cmocka_unit_test(many_pairs),
      cmocka_unit_test(depth),
      cmocka_unit_test(alias_bomb),
      cmocka_unit_test(size),
      cmocka_unit_test(messages_are_sorted),
      cmocka_unit_test(messages_have_limits),
      cmocka_unit_test(long_places_keep_their_end),
  };
  return cmocka_run_group_tests_name("model tree", tests, NULL, NULL);
}
