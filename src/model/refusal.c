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

enum { HINT = 3 * GA_TEXT_PIECE };

static const char *coordinate_at(const void *kind, int i)
{
  return ga_joint_coordinate(*(const ga_joint_kind *)kind, 0, i)->name;
}

static void write_coordinates(char hint[HINT], const ga__named *joint, const char *written)
{
  char nearest[GA_TEXT_PIECE];
  ga__writer w = {hint, HINT, 0};
  const ga_joint_kind kind = (ga_joint_kind)ga__joint_kind_of(joint->tree);
  int n = 0;
  while (ga_joint_coordinate(kind, 0, n)) n++;
  ga__name_nearest(nearest, written, (int)strlen(written), coordinate_at, &kind, n);
  if (nearest[0]) {
    ga__write(&w, "; did you mean '%.*s.%s'?", GA_TEXT_PIECE, joint->name, nearest);
    return;
  }
  for (int i = 0; i < n; i++)
    ga__write(&w, "%s'%.*s.%s'",
              i > 0   ? ", "
              : n > 1 ? "; its coordinates are "
                      : "; its coordinate is ",
              GA_TEXT_PIECE / 2, joint->name, coordinate_at(&kind, i));
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
  if (part->kind == GA__PART_JOINT) write_coordinates(hint, part, written);
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
