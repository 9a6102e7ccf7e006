/* What the builder refuses, told where it stands in the file, with the name that was perhaps meant. */
#include "model/reader.h"

#include "mbs/name.h"
#include <stdio.h>
#include <string.h>

/* ---- Places ---- */

/* The input that a message counts and names, "input 2 (measurement)", as it was given. */
static const ga__tree *find_input(const ga__named *named, const char *text)
{
  const ga__tree *inputs = ga__map_peek(named->tree, "inputs");
  char name[GA_BLOCK_NAME] = "";
  int number = 0;
  if (!inputs || sscanf(text, "input %d (%63[^)]", &number, name) < 1) return NULL;
  if (inputs->kind == GA__TREE_MAP) return ga__map_peek(inputs, name);
  if (inputs->kind == GA__TREE_SCALAR) return inputs;
  return number >= 1 && number <= inputs->n ? inputs->child[number - 1] : NULL;
}

/* The value that a message is about: what follows the part's name is the field. */
static const ga__tree *find_blamed(const ga__named *named, const char *text)
{
  const char *field = strchr(text, '\'');
  if (field) field = strchr(field + 1, '\'');
  if (!field || (field[1] != ':' && field[1] != ',') || field[2] != ' ') return NULL;
  field += 3;
  if (strncmp(field, "input ", 6) == 0) return find_input(named, field);
  for (int i = 0; i < named->tree->n; i++) {
    const ga__tree *child = named->tree->child[i];
    const size_t bytes = strlen(child->key);
    if (strncmp(field, child->key, bytes) == 0 && field[bytes] && strchr(" .[:", field[bytes])) return child;
  }
  return NULL;
}

/* Within an expression, the signal that a message quotes. */
static ga__place place_of_signal(const ga__tree *tree, const char *text)
{
  static const char before[] = "signal '";
  const char *quoted = strstr(text, before);
  if (tree->kind != GA__TREE_SCALAR || !quoted) return tree->at;
  quoted += sizeof before - 1;
  const size_t bytes = strcspn(quoted, "'");
  for (const char *at = tree->text; *at; at++)
    if (strncmp(at, quoted, bytes) == 0)
      return ga__value_place(tree, ga__text_column(tree->text, (int)(at - tree->text)));
  return tree->at;
}

/* ---- Coordinates ---- */

enum { MOST_COORDINATES = 4, LONGEST_COORDINATE = 32, HINT = 3 * GA_TEXT_PIECE };

typedef struct coordinates {
  int n;
  char name[MOST_COORDINATES][LONGEST_COORDINATE];
} coordinates;

/* A signal of joint 'j' that has a rate. */
static void note_coordinate(const ga_machine *m, const char *signal, coordinates *c)
{
  char rate[2 * LONGEST_COORDINATE];
  if (strncmp(signal, "j.", 2) != 0 || strlen(signal) >= LONGEST_COORDINATE) return;
  snprintf(rate, sizeof rate, "%s_rate", signal);
  if (ga_machine_find_signal(m, rate) < 0 || c->n == MOST_COORDINATES) return;
  snprintf(c->name[c->n++], LONGEST_COORDINATE, "%s", signal + 2);
}

/* Those of a type of joints, asked of a machine with such a joint and nothing else. */
static ga_status list_coordinates(ga_context *ctx, ga_joint_kind kind, coordinates *c)
{
  static const double unit[6] = {1, 1, 1, 0, 0, 0};
  ga_rigid_def body = ga_rigid_defaults();
  ga_joint_def joint = ga_joint_defaults();
  ga_machine *m = NULL;
  body.name = "b";
  body.mass = 1;
  memcpy(body.inertia, unit, sizeof unit);
  joint.name = "j";
  joint.kind = kind;
  joint.a = "ground";
  joint.b = "b";
  ga_status status = ga_machine_create(ctx, NULL, &m);
  if (!status) status = ga_machine_add_rigid(m, &body);
  if (!status) status = ga_machine_add_joint(m, &joint);
  if (!status) status = ga_machine_build(m);
  for (int i = 0; !status && i < ga_machine_n_signals(m); i++) {
    const char *signal = ga_machine_signal_name(m, i);
    if (!signal) status = GA_ERR_MEMORY;
    if (signal) note_coordinate(m, signal, c);
  }
  ga_machine_destroy(&m);
  return status;
}

static const char *coordinate_at(const void *names, int i)
{
  return ((const coordinates *)names)->name[i];
}

static void write_coordinates(ga__reader *reader, char hint[HINT], const ga__named *joint,
                              const char *written)
{
  coordinates c = {0};
  char nearest[GA_TEXT_PIECE];
  ga__writer w = {hint, HINT, 0};
  const ga__tree *type = ga__map_peek(joint->tree, "type");
  for (int kind = 0; kind < GA_N_JOINTS && type && type->kind == GA__TREE_SCALAR; kind++)
    if (strcmp(type->text, ga_joint_name((ga_joint_kind)kind)) == 0 &&
        list_coordinates(reader->r->ctx, (ga_joint_kind)kind, &c) == GA_ERR_MEMORY)
      reader->r->failed = 1;
  ga__name_nearest(nearest, written, (int)strlen(written), coordinate_at, &c, c.n);
  if (nearest[0]) {
    ga__write(&w, "; did you mean '%.*s.%s'?", GA_TEXT_PIECE, joint->name, nearest);
    return;
  }
  for (int i = 0; i < c.n; i++)
    ga__write(&w, "%s'%.*s.%s'",
              i > 0     ? ", "
              : c.n > 1 ? "; its coordinates are "
                        : "; its coordinate is ",
              GA_TEXT_PIECE / 2, joint->name, c.name[i]);
}

/* Where a coordinate of a joint or a scalar was meant, and its name is wrong. */
static void hint_at_coordinate(ga__reader *reader, const ga__tree *blamed, const char *text, char hint[HINT])
{
  hint[0] = '\0';
  if (!strstr(text, "; a coordinate") || !blamed || blamed->kind != GA__TREE_SCALAR) return;
  const size_t bytes = strlen(blamed->text);
  const ga__named *part = ga__directory_head(&reader->parts, blamed->text, bytes);
  if (!part) return;
  const size_t head = strlen(part->name);
  const char *written = head < bytes ? blamed->text + head + 1 : "";
  if (part->kind == GA__PART_JOINT) write_coordinates(reader, hint, part, written);
  if (part->kind == GA__PART_SCALAR)
    snprintf(hint, HINT, "; its coordinate is called '%.*s'", GA_TEXT_PIECE, part->name);
}

/* ---- Telling ---- */

void ga__say_refusal(ga__reader *reader, const ga__named *named, ga_status status)
{
  if (status == GA_ERR_MEMORY) {
    reader->r->failed = 1;
    return;
  }
  char text[GA_ERROR_TEXT], hint[HINT];
  snprintf(text, sizeof text, "%s", ga_context_error(reader->r->ctx)->text);
  const ga__tree *blamed = find_blamed(named, text);
  hint_at_coordinate(reader, blamed, text, hint);
  ga__say(reader->r->messages, GA_MESSAGE_ERROR, blamed ? place_of_signal(blamed, text) : named->tree->key_at,
          "%s%s", text, hint);
}
