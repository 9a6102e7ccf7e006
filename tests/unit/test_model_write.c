/* Models that are written: read again they make the same machine to the last bit, and written again the same
 * text. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"
#include "galpha/model.h"
#include "model/document.h"
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 1000, FEWEST_EXAMPLES = 40, STEPS = 5 };

/* The folder of examples, found from this file's own path. */
static void examples_path(char *path, const char *name)
{
  static const char here[] = "tests/unit/test_model_write.c";
  const size_t root = strlen(__FILE__) - (sizeof here - 1);
  snprintf(path, PATH, "%.*sexamples/models/%s", (int)root, __FILE__, name);
}

static ga_model *read_text(ga_context *ctx, const char *text)
{
  ga_model *model = NULL;
  const ga_status status = ga_model_read_text(ctx, "model", text, strlen(text), NULL, &model);
  if (status) fail_msg("%s\n%s", ga_context_error(ctx)->text, text);
  return model;
}

static ga_model *read_file(ga_context *ctx, const char *path, int n_set, const char *const *set)
{
  ga_model_opts opts = ga_model_defaults();
  ga_model *model = NULL;
  opts.n_set = n_set;
  opts.set = set;
  const ga_status status = ga_model_read_file(ctx, path, &opts, &model);
  if (status) fail_msg("%s: %s", path, ga_context_error(ctx)->text);
  return model;
}

static const char *written(ga_context *ctx, ga_model *model)
{
  const char *text = NULL;
  size_t length = 0;
  assert_status(ctx, ga_model_write_text(model, &text, &length), GA_OK);
  assert_int_equal(strlen(text), length);
  assert_int_equal(text[length - 1], '\n');
  return text;
}

/* ---- The same machine ---- */

/* All signals at the start and after some steps, and how far it came. */
static ga_status run(ga_context *ctx, const ga_model *model, double *signals)
{
  const ga_machine *m = ga_model_machine(model);
  const ga_run_settings *set = ga_model_settings(model);
  const ga_system *sys = ga_machine_system(m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  const int n = ga_machine_n_signals(m);
  double *q = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *q);
  ga_stepper_opts opts = ga_stepper_defaults();
  ga_stepper *st = NULL;
  ga_meter *meter = NULL;
  assert_non_null(q);
  opts.method = set->method;
  assert_status(ctx, ga_scheme_rho(ctx, set->rho, &opts.scheme), GA_OK);
  assert_status(ctx, ga_stepper_create(ctx, sys, &opts, &st), GA_OK);
  assert_status(ctx, ga_meter_create(ga_machine_context(m), m, &meter), GA_OK);
  assert_status(ctx, ga_machine_initial(m, q, q + nq, q + nq + nv), GA_OK);
  ga_status status = ga_stepper_start(st, NULL, set->t_start, q, q + nq, q + nq + nv, NULL, NULL, NULL);
  if (!status) status = ga_meter_start(meter, ga_stepper_state(st));
  if (!status) status = ga_machine_signals(m, meter, ga_stepper_state(st), n, NULL, signals);
  for (int i = 0; i < STEPS && !status; i++) {
    status = ga_stepper_step(st, set->step > 0 ? set->step : 1e-3);
    if (!status) status = ga_meter_update(meter, ga_stepper_state(st));
  }
  if (!status) status = ga_machine_signals(m, meter, ga_stepper_state(st), n, NULL, signals + n);
  ga_meter_destroy(&meter);
  ga_stepper_destroy(&st);
  free(q);
  return status;
}

static void compare_signals(ga_context *ctx, const ga_model *a, const ga_model *b, const char *name)
{
  const ga_machine *ma = ga_model_machine(a), *mb = ga_model_machine(b);
  const int n = ga_machine_n_signals(ma);
  assert_int_equal(ga_machine_n_signals(mb), n);
  double *of_a = calloc(4 * (size_t)n + 1, sizeof *of_a), *of_b = of_a + 2 * n;
  assert_non_null(of_a);
  for (int i = 0; i < n; i++) {
    assert_string_equal(ga_machine_signal_name(ma, i), ga_machine_signal_name(mb, i));
    assert_string_equal(ga_machine_signal_unit(ma, i), ga_machine_signal_unit(mb, i));
  }
  assert_int_equal(run(ctx, a, of_a), run(ctx, b, of_b));
  for (int i = 0; i < 2 * n; i++)
    if (memcmp(&of_a[i], &of_b[i], sizeof *of_a) != 0)
      fail_msg("%s: %s is %.17g instead of %.17g", name, ga_machine_signal_name(ma, i % n), of_b[i], of_a[i]);
  free(of_a);
}

static void compare_settings(const ga_run_settings *a, const ga_run_settings *b)
{
  const double of_a[] = {a->t_start, a->t_end, a->step, a->tolerance, a->rho, a->output};
  const double of_b[] = {b->t_start, b->t_end, b->step, b->tolerance, b->rho, b->output};
  assert_memory_equal(of_a, of_b, sizeof of_a);
  assert_int_equal(a->method, b->method);
  assert_int_equal(a->n_record, b->n_record);
  for (int i = 0; i < a->n_record; i++) assert_string_equal(a->record[i], b->record[i]);
}

/* Warnings in another order are the same ones. chosen 1: files are merged in `a`, so that parameters that only chose
 * them are not used there. */
static void compare_warnings(const ga_model *a, const ga_model *b, int chosen, const char *name)
{
  for (int i = 0; i < ga_model_n_messages(a); i++) {
    const char *text = ga_model_message_at(a, i)->text;
    int found = ga_model_message_at(a, i)->line == 0; /* of overrides, which the other does not have */
    found |= chosen && ga_model_message_at(a, i)->error->reason == GA_REASON_NOT_USED;
    for (int k = 0; k < ga_model_n_messages(b) && !found; k++)
      found = strcmp(text, ga_model_message_at(b, k)->text) == 0;
    if (!found) fail_msg("%s: '%s' is not said of what was written", name, text);
  }
}

/* Reads what was written and compares; the text lives as long as the model. */
static const char *round_trip(ga_context *ctx, ga_model *model, const char *name)
{
  const char *text = written(ctx, model);
  ga_model *again = read_text(ctx, text);
  assert_string_equal(ga_model_title(again), ga_model_title(model));
  compare_settings(ga_model_settings(model), ga_model_settings(again));
  compare_warnings(model, again, 0, name);
  compare_warnings(again, model, 1, name);
  compare_signals(ctx, model, again, name);
  if (strcmp(written(ctx, again), text) != 0)
    fail_msg("%s: written twice it is\n%s\ninstead of\n%s", name, written(ctx, again), text);
  ga_model_destroy(&again);
  assert_ptr_equal(written(ctx, model), text);
  return text;
}

static void examples_are_the_same(void **state)
{
  char folder[PATH], path[PATH];
  int n = 0;
  (void)state;
  examples_path(folder, "");
  DIR *list = opendir(folder);
  assert_non_null(list);
  for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
    const char *ending = strrchr(entry->d_name, '.');
    if (!ending || strcmp(ending, ".yaml") != 0 || (rig_brief() && n++ % 6 != 0)) continue;
    ga_context *ctx = rig_open_context();
    examples_path(path, entry->d_name);
    ga_model *model = read_file(ctx, path, 0, NULL);
    round_trip(ctx, model, entry->d_name);
    ga_model_destroy(&model);
    rig_close_context(&ctx);
    n += !rig_brief();
  }
  closedir(list);
  if (n < FEWEST_EXAMPLES) fail_msg("only %d examples were found", n);
}

/* ---- Texts as they were written ---- */

/* Read as it stands, written as it stands. */
static const char kept_text[] =
    "galpha: 1\n"
    "title: 'it''s # no comment: Pendel \xC3\xBC"
    "ber \xCE\xB1 = -1'\n"
    "parameters: {L: 12 mm, phi0: -30 deg, m: '2[kg] + 3[g]', unit_free: -.5e-3, n: +3}\n"
    "gravity: [0, -9.81, 0]\n"
    "functions:\n"
    "  ramp: {type: expression, expression: \"if(t < 1, t, 1)\"}\n"
    "  bumps: {type: table, rows: [[-1, 2 mm], [0, 0], [1, 3]], interpolation: monotone, before: linear}\n"
    "  wave: {type: wave, amplitude: 2, frequency: 3 Hz, phase: 90 deg}\n"
    "bodies:\n"
    "  rod:\n"
    "    type: rigid\n"
    "    mass: m\n"
    "    inertia: [1e-6, m*L^2/12, m*L^2/12 + 1e-6]\n"
    "    com: ['L/2 + 3[mm]', 0, 0]\n"
    "    rotation: {axis: [0, 0, 1], angle: phi0}\n"
    "  y: {type: scalar, mass: 1, rotational: yes}\n"
    "  'no': {type: point, mass: 1 g, position: [0, 1 m, unit_free]}\n"
    "markers:\n"
    "  tip: {body: rod, position: [L, 0, 0]}\n"
    "joints:\n"
    "  hinge: {type: revolute, a: ground, b: rod}\n"
    "forces:\n"
    "  s: {type: spring, a: ground, b: tip, stiffness: 29.5 N/m, rest: 2 cm, expression: -0.1*v}\n"
    "  push:\n"
    "    type: force\n"
    "    frame: 'no'\n"
    "    force: [1, 2*t, {value: 1 N, function: wave, expression: -3*hinge.angle}]\n"
    "  turn: {type: actuator, coordinate: y, force: pid}\n"
    "blocks:\n"
    "  pid: {type: pid, kp: 10, ki: 5, upper: inf, inputs: {measurement: y, setpoint: \"0.1\"}}\n"
    "  both: {type: gain, matrix: [[1, 2], [3, n]], inputs: [y, y.rate]}\n"
    "  calc: {type: expression, expression: [\"hypot(a, b)\", a*ramp(b)*t], inputs: {a: y, b: both.y1}}\n"
    "simulation: {t_end: 2 s, step: 1 ms, method: index3, rho: 0.9, record: [rod.*, calc.y1, 'no.z']}\n";

static void texts_are_kept(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_model *model = read_text(ctx, kept_text);
  (void)state;
  assert_string_equal(round_trip(ctx, model, "kept"), kept_text);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* What is written in another way, and how. */
static void other_forms_are_made_plain(void **state)
{
  static const struct {
    const char *from, *to;
  } cases[] = {
      {"{\"galpha\": 1, \"title\": \"J\", \"bodies\": {\"a\": {\"type\": \"point\", \"mass\": \"1 kg\"}}}",
       "\"galpha\": 1\n\"title\": \"J\"\n\"bodies\": {\"a\": {\"type\": \"point\", \"mass\": \"1 kg\"}}\n"},
      {"# lost\ngalpha: 1 # too\n\nbodies:\n    a: &a\n        type: point\n        mass: 1\n    b: *a\n",
       "galpha: 1\nbodies:\n  a:\n    type: point\n    mass: 1\n  b:\n    type: point\n    mass: 1\n"},
      {"galpha: 1\ntitle: |\n    two\n      lines\nmarkers:\nbodies: {a: {type: point, mass: 1}}\n",
       "galpha: 1\ntitle: |\n  two\n    lines\nmarkers:\nbodies: {a: {type: point, mass: 1}}\n"},
      {"galpha: 1\ntitle: >-\n  one\n  line\nbodies: {a: {type: point, mass: 1}}\n",
       "galpha: 1\ntitle: |-\n  one line\nbodies: {a: {type: point, mass: 1}}\n"},
      {"galpha: 1\ntitle: plain\n  goes\n\n  on\nbodies: {a: {type: point, mass: 1}}\n",
       "galpha: 1\ntitle: \"plain goes\\non\"\nbodies: {a: {type: point, mass: 1}}\n"},
      {"galpha: 1\ntitle: |\n  a\xE2\x80\xA8"
       "  b\nbodies: {a: {type: point, mass: 1}}\n",
       "galpha: 1\ntitle: \"a\\Lb\\n\"\nbodies: {a: {type: point, mass: 1}}\n"},
      {"galpha: 1\ntitle: !!str 12\nbodies: {a: {type: point, mass: !!int 1}}\n",
       "galpha: 1\ntitle: '12'\nbodies: {a: {type: point, mass: 1}}\n"},
      {"galpha: 1\ntitle: \"\\x07\\r\\u2028\"\nbodies: {a: {type: point, mass: 1}}\n",
       "galpha: 1\ntitle: \"\\a\\r\\L\"\nbodies: {a: {type: point, mass: 1}}\n"},
      {"---\ngalpha: 1\nbodies: {a: {type: point, mass: 1, position: [1 + 1 + 1 + 1 + 1 + 1 + 1, 2 + 2 + 2 + "
       "2 + 2 + 2,\n"
       "  3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3]}}\n...\n",
       "galpha: 1\nbodies:\n  a:\n    type: point\n    mass: 1\n"
       "    position: [1 + 1 + 1 + 1 + 1 + 1 + 1, 2 + 2 + 2 + 2 + 2 + 2, 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + 3 + "
       "3 + 3]\n"},
  };
  ga_context *ctx = rig_open_context();
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ga_model *model = read_text(ctx, cases[i].from);
    assert_string_equal(round_trip(ctx, model, cases[i].from), cases[i].to);
    ga_model_destroy(&model);
  }
  rig_close_context(&ctx);
}

/* ---- Any tree ---- */

typedef struct garden {
  ga_context *ctx;
  ga__messages *messages;
  ga__pool pool;
  ga_model_opts opts;
  rig_random random;
  int n_nodes;
} garden;

static int any(garden *g, int below)
{
  const int i = (int)rig_uniform(&g->random, 0, below);
  return i < below ? i : below - 1;
}

/* Of pieces that mean something in YAML, or are hard to write. */
static const char *any_text(garden *g, const char *lead)
{
  static const char *const pieces[] = {" ",
                                       " ",
                                       "\n",
                                       "\n",
                                       "\t",
                                       "#",
                                       ": ",
                                       ":",
                                       "- ",
                                       "-",
                                       "'",
                                       "\"",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ", ",
                                       "&a",
                                       "*a",
                                       "!",
                                       "|",
                                       ">",
                                       "%",
                                       "@",
                                       "`",
                                       "?",
                                       "? ",
                                       "~",
                                       "\\",
                                       "<<",
                                       "=",
                                       "...",
                                       "---",
                                       "\r",
                                       "\x07",
                                       "\x1b",
                                       "\x7f",
                                       "\xC3\xA9",
                                       "\xC2\x85",
                                       "\xC2\xA0",
                                       "\xE2\x80\xA8",
                                       "\xE2\x80\xA9",
                                       "\xEF\xBB\xBF",
                                       "\xF0\x9F\x98\x80",
                                       "a",
                                       "b1",
                                       "12 mm",
                                       "null",
                                       "yes",
                                       "0x1",
                                       "1e3",
                                       "long words that go on and on, past the end of a line"};
  char text[512];
  ga__writer w = {text, sizeof text, 0};
  text[0] = '\0';
  ga__write(&w, "%s", lead);
  for (int n = any(g, 7); n > 0; n--)
    ga__write(&w, "%s", pieces[any(g, (int)(sizeof pieces / sizeof pieces[0]))]);
  return ga__pool_text(&g->pool, text, strlen(text));
}

static ga__tree *any_tree(garden *g, int depth)
{
  static const ga__tree_style styles[] = {GA__STYLE_PLAIN, GA__STYLE_SINGLE, GA__STYLE_DOUBLE,
                                          GA__STYLE_LINES};
  ga__tree *tree = ga__pool_take(&g->pool, sizeof *tree);
  const int kind = depth > 6 || g->n_nodes++ > 60 ? 0 : any(g, depth < 2 ? 2 : 4);
  tree->kind = depth == 0 || (depth > 0 && kind == 1) ? GA__TREE_MAP
               : kind == 2                            ? GA__TREE_LIST
                                                      : GA__TREE_SCALAR;
  tree->style = styles[any(g, 4)];
  if (tree->kind == GA__TREE_SCALAR) {
    tree->text = any_text(g, "");
    return tree;
  }
  tree->style = any(g, 2) ? GA__STYLE_FLOW : GA__STYLE_PLAIN;
  tree->n = any(g, 5) + (depth == 0);
  tree->child = ga__pool_take(&g->pool, (size_t)(tree->n + 1) * sizeof(ga__tree *));
  for (int i = 0; i < tree->n; i++) {
    char lead[16];
    tree->child[i] = any_tree(g, depth + 1);
    snprintf(lead, sizeof lead, "%d", i); /* so that keys are different */
    tree->child[i]->key_style = styles[any(g, 4)];
    if (tree->kind == GA__TREE_MAP) tree->child[i]->key = i == 0 && any(g, 9) == 0 ? "<<" : any_text(g, lead);
  }
  return tree;
}

static void compare_trees(const ga__tree *a, const ga__tree *b, const char *text)
{
  if (a->kind != b->kind || a->n != b->n || (a->kind == GA__TREE_SCALAR && strcmp(a->text, b->text) != 0))
    fail_msg("a tree is not what it was:\n%s", text);
  for (int i = 0; i < a->n; i++) {
    if (!a->child[i]->key != !b->child[i]->key ||
        (a->child[i]->key && strcmp(a->child[i]->key, b->child[i]->key) != 0))
      fail_msg("a key is not what it was:\n%s", text);
    compare_trees(a->child[i], b->child[i], text);
  }
}

/* A document whose only section is that tree. */
static ga_status write_tree(garden *g, ga__tree *tree, size_t most, char **text)
{
  static ga__tree head[1], *children[1];
  ga__section section = {.tree = tree, .n_given = tree->n};
  ga__document d = {.ctx = g->ctx, .main = head, .section = &section, .n_given = 1};
  size_t length;
  d.names.ctx = g->ctx;
  tree->key = "tree";
  children[0] = tree;
  head[0] = (ga__tree){.kind = GA__TREE_MAP, .n = 1, .child = children};
  assert_int_equal(ga__names_add(&d.names, "tree"), 0);
  const ga_status status = ga__document_write(&d, most, text, &length);
  ga__names_destroy(&d.names);
  return status;
}

static void any_tree_is_kept(void **state)
{
  garden g = {.ctx = rig_open_context(), .random = rig_seed(0)};
  (void)state;
  for (int k = 0; k < (rig_brief() ? 100 : 3000); k++) {
    ga__tree *again = NULL;
    char *text, *twice;
    g.messages = ga__messages_create(g.ctx);
    g.pool = (ga__pool){.ctx = g.ctx};
    g.n_nodes = 0;
    ga__forest forest = {&g.pool, g.messages, 100000, 10};
    ga__tree *tree = any_tree(&g, 0);
    assert_status(g.ctx, write_tree(&g, tree, GA__LARGEST_FILE, &text), GA_OK);
    assert_status(g.ctx, ga__tree_read(&forest, 0, text, strlen(text), &again), GA_OK);
    ga__messages_finish(g.messages);
    if (ga__messages_count(g.messages) > 0 || !again)
      fail_msg("%d:%d: %s\n%s", ga__messages_at(g.messages, 0)->line, ga__messages_at(g.messages, 0)->column,
               ga__messages_at(g.messages, 0)->text, text);
    compare_trees(tree, again->child[0], text);
    assert_status(g.ctx, write_tree(&g, again->child[0], strlen(text), &twice), GA_OK);
    if (strcmp(text, twice) != 0) fail_msg("written twice it is\n%s\ninstead of\n%s", twice, text);
    ga__free(g.ctx, twice);
    assert_status(g.ctx, write_tree(&g, tree, strlen(text) - 1, &twice), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(g.ctx)->reason, GA_REASON_LIMIT_EXCEEDED);
    ga__free(g.ctx, text);
    ga__pool_destroy(&g.pool);
    ga__messages_destroy(&g.messages);
  }
  rig_close_context(&g.ctx);
}

/* ---- Parameters that are set ---- */

static void overrides_are_written(void **state)
{
  static const char *const set[] = {"length= 500 mm ", "mass=2[kg] + 1e-3[kg]", "length=+0.4 m"};
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  static const char text[] = "galpha: 1\nparameters: {length: 1 m, mass: 2 kg, half: length/2}\nbodies:\n"
                             "  rod: {type: rigid, mass: mass, inertia: [1, 1, 1], com: [half, 0, 0]}\n"
                             "joints:\n  hinge: {type: revolute, a: ground, b: rod}\n";
  (void)state;
  ga_model_opts opts = ga_model_defaults();
  opts.n_set = 3;
  opts.set = set;
  assert_status(ctx, ga_model_read_text(ctx, "m", text, strlen(text), &opts, &model), GA_OK);
  const char *whole = round_trip(ctx, model, "set");
  if (!strstr(whole, "parameters: {length: +0.4 m, mass: '2[kg] + 1e-3[kg]', half: length/2}\n"))
    fail_msg("the parameters are not those that were set:\n%s", whole);
  ga_model_destroy(&model);
  /* what gets quotes only when it is written must not fall out of its line when it is read again */
  for (int blanks = 30; blanks < 90; blanks++) {
    char long_one[200];
    const char *const one[] = {long_one};
    snprintf(long_one, sizeof long_one, "length=1[m] +%*s1[mm]", blanks, "");
    opts.n_set = 1;
    opts.set = one;
    assert_status(ctx, ga_model_read_text(ctx, "m", text, strlen(text), &opts, &model), GA_OK);
    round_trip(ctx, model, long_one);
    ga_model_destroy(&model);
  }
  opts.n_set = 1;
  opts.set = set;
  assert_status(ctx, ga_model_read_text(ctx, "m", text, strlen(text), &opts, &model), GA_OK);
  assert_non_null(strstr(round_trip(ctx, model, "set"), "{length: 500 mm, mass: 2 kg, half: length/2}"));
  assert_non_null(strstr(ga_model_text(model), "{length: 500 mm, mass: 2 kg, half: length/2}"));
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

/* ---- Files ---- */

typedef struct folder {
  char path[64];
} folder;

static const char *at(const folder *f, const char *name, char path[PATH])
{
  snprintf(path, PATH, "%s/%s", f->path, name);
  return path;
}

static void make_file(const folder *f, const char *name, const char *text)
{
  char path[PATH];
  FILE *file = fopen(at(f, name, path), "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void open_folder(folder *f)
{
  char path[PATH];
  snprintf(f->path, sizeof f->path, "/tmp/galpha_write_XXXXXX");
  assert_non_null(mkdtemp(f->path));
  assert_int_equal(mkdir(at(f, "parts", path), 0777), 0);
  make_file(f, "model.yaml",
            "galpha: 1\ntitle: two rods\ninclude: [parts/rod.yaml, parts/more.yaml]\nbodies:\n"
            "  last: {type: point, mass: m}\nsimulation: {t_end: 1}\n"
            "repeat:\n- {count: 2, parts: {bodies: {'q{i}': {type: point, mass: 1 + i}}}}\n"
            "- {count: 1, parts: {sensors: {s: {type: position, of: q0}}}}\n");
  make_file(f, "parts/rod.yaml",
            "parameters: {m: 2 kg}\nbodies: {rod: {type: planar, mass: m, inertia: 0.1}}\n"
            "repeat: {count: n, index: k, from: 1, parts: {bodies: {'p{k}': {type: point, mass: m*k}}}}\n");
  make_file(f, "parts/more.yaml",
            "parameters: {n: 3}\nmarkers: {end: {body: rod, position: [1, 0, 0]}}\n"
            "joints: {hinge: {type: revolute, a: ground, b: end}}\n");
}

static void close_folder(const folder *f)
{
  static const char *const names[] = {"model.yaml", "parts/rod.yaml", "parts/more.yaml", "parts",
                                      "whole.yaml", "link.yaml",      "other.yaml"};
  char path[PATH];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) remove(at(f, names[i], path));
  if (rmdir(f->path)) fail_msg("something was left in %s", f->path);
}

static void assert_file(const folder *f, const char *name, const char *expected)
{
  char path[PATH], text[8192] = "";
  FILE *file = fopen(at(f, name, path), "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, expected);
}

static const char merged_text[] =
    "galpha: 1\n"
    "title: two rods\n"
    "parameters: {m: 3 kg, n: 3}\n"
    "markers: {end: {body: rod, position: [1, 0, 0]}}\n"
    "joints: {hinge: {type: revolute, a: ground, b: end}}\n"
    "bodies:\n"
    "  rod: {type: planar, mass: m, inertia: 0.1}\n"
    "  last: {type: point, mass: m}\n"
    "simulation: {t_end: 1}\n"
    "repeat:\n"
    "- {count: n, index: k, from: 1, parts: {bodies: {'p{k}': {type: point, mass: m*k}}}}\n"
    "- {count: 2, parts: {bodies: {'q{i}': {type: point, mass: 1 + i}}}}\n"
    "- {count: 1, parts: {sensors: {s: {type: position, of: q0}}}}\n";

static void includes_are_merged(void **state)
{
  static const char *const set[] = {"m=3 kg"};
  char path[PATH];
  folder f;
  ga_context *ctx = rig_open_context();
  (void)state;
  open_folder(&f);
  ga_model *model = read_file(ctx, at(&f, "model.yaml", path), 1, set);
  assert_string_equal(round_trip(ctx, model, "merged"), merged_text);
  assert_status(ctx, ga_model_write_file(model, at(&f, "whole.yaml", path)), GA_OK);
  assert_file(&f, "whole.yaml", merged_text);
  ga_model_destroy(&model);
  model = read_file(ctx, path, 0, NULL);
  assert_string_equal(round_trip(ctx, model, "merged"), merged_text);
  ga_model_destroy(&model);
  close_folder(&f);
  rig_close_context(&ctx);
}

/* The same path again, and through a link, which stays one. */
/* What is kept beside results can be run: the merged model, and below it what the files say, comments and
 * all. */
static void kept_text_is_a_model(void **state)
{
  static const char *const set[] = {"m=3 kg"};
  static const char below[] = "\n# # ---- ";
  char path[PATH];
  folder f;
  ga_context *ctx = rig_open_context();
  (void)state;
  open_folder(&f);
  make_file(&f, "parts/more.yaml",
            "# hinged\xE2\x80\xA8# at\xC2\x85# its\r# end\r\nparameters: {n: 3}\n\n"
            "markers: {end: {body: rod, position: [1, 0, 0]}}\n"
            "joints: {hinge: {type: revolute, a: ground, b: end}}\n");
  ga_model *model = read_file(ctx, at(&f, "model.yaml", path), 1, set);
  const char *kept = ga_model_text(model);
  assert_int_equal(strncmp(kept, merged_text, strlen(merged_text)), 0);
  assert_int_equal(strncmp(kept + strlen(merged_text), below, strlen(below)), 0);
  assert_non_null(
      strstr(kept, "\n# # hinged\n# # at\n# # its\n# # end\n# parameters: {n: 3}\n#\n# markers:"));
  assert_int_equal(kept[strlen(kept) - 1], '\n');
  ga_model *again = read_text(ctx, kept);
  compare_signals(ctx, model, again, "kept");
  compare_settings(ga_model_settings(model), ga_model_settings(again));
  ga_model_destroy(&again);
  ga_model_destroy(&model);
  close_folder(&f);
  rig_close_context(&ctx);
}

static void files_are_replaced(void **state)
{
  char path[PATH], target[PATH];
  struct stat about;
  folder f;
  ga_context *ctx = rig_open_context();
  (void)state;
  open_folder(&f);
  ga_model *model = read_text(ctx, kept_text);
  make_file(&f, "whole.yaml", "what was there before");
  assert_status(ctx, ga_model_write_file(model, at(&f, "whole.yaml", path)), GA_OK);
  assert_file(&f, "whole.yaml", kept_text);
  make_file(&f, "other.yaml", "what was there before");
  assert_int_equal(symlink("other.yaml", at(&f, "link.yaml", path)), 0);
  assert_status(ctx, ga_model_write_file(model, path), GA_OK);
  assert_int_equal(lstat(path, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_file(&f, "other.yaml", kept_text);
  remove(at(&f, "other.yaml", target)); /* a link that leads nowhere is written through */
  assert_status(ctx, ga_model_write_file(model, path), GA_OK);
  assert_file(&f, "other.yaml", kept_text);
  ga_model_destroy(&model);
  close_folder(&f);
  rig_close_context(&ctx);
}

static void sources_are_not_replaced(void **state)
{
  static const char *const names[] = {"model.yaml", "parts/rod.yaml", "parts/../parts/more.yaml",
                                      "link.yaml"};
  char path[PATH];
  folder f;
  ga_context *ctx = rig_open_context();
  (void)state;
  open_folder(&f);
  ga_model *model = read_file(ctx, at(&f, "model.yaml", path), 0, NULL);
  assert_int_equal(symlink("parts/rod.yaml", at(&f, "link.yaml", path)), 0);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_status(ctx, ga_model_write_file(model, at(&f, names[i], path)), GA_ERR_ARGUMENT);
    assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_WOULD_OVERWRITE);
    assert_says(ctx, names[i]);
  }
  ga_model_destroy(&model);
  close_folder(&f);
  rig_close_context(&ctx);
}

static void failures_leave_nothing(void **state)
{
  char path[PATH];
  folder f;
  ga_context *ctx = rig_open_context();
  struct rlimit before, none;
  (void)state;
  open_folder(&f);
  ga_model *model = read_text(ctx, kept_text);
  assert_status(ctx, ga_model_write_file(model, at(&f, "nowhere/whole.yaml", path)), GA_ERR_FILE);
  assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_FILE_ACCESS);
  assert_says(ctx, "nowhere/whole.yaml: cannot be written: No such file");
  assert_status(ctx, ga_model_write_file(model, at(&f, "model.yaml/whole.yaml", path)), GA_ERR_FILE);
  assert_status(ctx, ga_model_write_file(model, f.path), GA_ERR_FILE);
  assert_says(ctx, "Is a directory");
  assert_status(ctx, ga_model_write_file(model, ""), GA_ERR_FILE);
  if (access("/dev/full", W_OK) == 0) {
    assert_status(ctx, ga_model_write_file(model, "/dev/full"), GA_ERR_FILE);
    assert_says(ctx, "/dev/full: cannot be written: No space left");
    assert_int_equal(access("/dev/full", W_OK), 0);
  }
  /* a file that may not grow: the old one stays, and there is no new one */
  make_file(&f, "whole.yaml", "what was there before");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  none = before;
  none.rlim_cur = 100;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  const ga_status old = ga_model_write_file(model, at(&f, "whole.yaml", path));
  const ga_status new = ga_model_write_file(model, at(&f, "other.yaml", path));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(old, GA_ERR_FILE);
  assert_int_equal(new, GA_ERR_FILE);
  assert_says(ctx, "cannot be written: File too large");
  assert_file(&f, "whole.yaml", "what was there before");
  assert_int_not_equal(access(path, F_OK), 0);
  ga_model_destroy(&model);
  close_folder(&f); /* finds what else was left */
  rig_close_context(&ctx);
}

/* ---- Wrong calls, want of memory ---- */

static void wrong_calls_are_refused(void **state)
{
  ga_context *ctx = rig_open_context();
  ga_model *model = NULL;
  const char *text = "x";
  size_t length = 1;
  (void)state;
  assert_int_equal(ga_model_write_text(NULL, &text, &length), GA_ERR_ARGUMENT);
  assert_null(text);
  assert_int_equal(length, 0);
  assert_int_equal(ga_model_write_file(NULL, "x"), GA_ERR_ARGUMENT);
  assert_status(ctx, ga_model_read_text(ctx, "m", "galpha: 2", 9, NULL, &model), GA_ERR_ARGUMENT);
  assert_status(ctx, ga_model_write_text(model, &text, NULL), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(ctx)->reason, GA_REASON_MODEL_WRONG);
  assert_status(ctx, ga_model_write_file(model, "/tmp/nothing.yaml"), GA_ERR_ARGUMENT);
  ga_model_destroy(&model);
  assert_status(ctx, ga_model_read_text(ctx, "m", "[", 1, NULL, &model),
                GA_ERR_ARGUMENT); /* has no document */
  assert_status(ctx, ga_model_write_text(model, &text, NULL), GA_ERR_ARGUMENT);
  ga_model_destroy(&model);
  model = read_text(ctx, kept_text);
  assert_status(ctx, ga_model_write_text(model, NULL, &length), GA_ERR_ARGUMENT);
  assert_status(ctx, ga_model_write_file(model, NULL), GA_ERR_ARGUMENT);
  assert_status(ctx, ga_model_write_text(model, &text, NULL), GA_OK);
  assert_string_equal(text, kept_text);
  ga_model_destroy(&model);
  rig_close_context(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_are_the_same),      cmocka_unit_test(texts_are_kept),
      cmocka_unit_test(other_forms_are_made_plain), cmocka_unit_test(any_tree_is_kept),
      cmocka_unit_test(overrides_are_written),      cmocka_unit_test(includes_are_merged),
      cmocka_unit_test(kept_text_is_a_model),       cmocka_unit_test(files_are_replaced),
      cmocka_unit_test(sources_are_not_replaced),   cmocka_unit_test(failures_leave_nothing),
      cmocka_unit_test(wrong_calls_are_refused),
  };
  return cmocka_run_group_tests_name("model_write", tests, NULL, NULL);
}
