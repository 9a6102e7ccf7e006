/* Motions that the caller prescribes beside a model, for inverse dynamics: drives, in place of what actuators
 * do. */
#include "model/prescribe.h"

#include "mbs/coordinate.h"
#include "model/sections.h"
#include <stdio.h>
#include <string.h>

/* "hinge" stands for the only coordinate of a joint, "hinge.angle". */
static int is_same_coordinate(const char *a, const char *b)
{
  const size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
  return strncmp(a, b, least) == 0 && (n == m || (n < m ? b : a)[least] == '.');
}

static int acts_on(const ga__tree *part, const char *coordinate)
{
  const ga__tree *of = part->kind == GA__TREE_MAP ? ga__map_peek(part, "coordinate") : NULL;
  return of && of->kind == GA__TREE_SCALAR && is_same_coordinate(of->text, coordinate);
}

static ga__tree *find_section(const ga__document *d, const char *key)
{
  const int i = ga__names_find(&d->names, key, strlen(key));
  return i >= 0 && d->section[i].tree->kind == GA__TREE_MAP ? d->section[i].tree : NULL;
}

/* ---- Trees ---- */

static ga__tree *new_tree(ga__reading *r, ga__tree_kind kind, const char *key, const char *text, ga__place at)
{
  ga__tree *tree = ga__pool_take(r->pool, sizeof *tree);
  if (!tree) return r->failed = 1, NULL;
  *tree = (ga__tree){.kind = kind, .at = at, .key_at = at, .key = key, .text = text};
  return tree;
}

/* key: the map's entry of that key is this tree from now on; it is added if there is none. */
static void put_entry(ga__reading *r, ga__tree *map, ga__tree *entry)
{
  for (int i = 0; i < map->n; i++)
    if (strcmp(map->child[i]->key, entry->key) == 0) {
      map->child[i] = entry;
      return;
    }
  ga__tree **more = ga__pool_take(r->pool, ((size_t)map->n + 1) * sizeof *more);
  if (!more) {
    r->failed = 1;
    return;
  }
  if (map->n > 0) memcpy(more, map->child, (size_t)map->n * sizeof *more);
  more[map->n++] = entry;
  map->child = more;
}

/* ---- Drives ---- */

/* "prescribed_hinge_angle" */
static char *drive_name(ga__reading *r, const char *coordinate)
{
  static const char before[] = "prescribed_";
  const size_t n = strlen(coordinate), all = sizeof before - 1 + n;
  char *name = ga__pool_take(r->pool, all + 1);
  if (!name) return r->failed = 1, NULL;
  memcpy(name, before, sizeof before - 1);
  memcpy(name + sizeof before - 1, coordinate, n);
  for (char *c = name; *c; c++)
    if (*c == '.') *c = '_';
  return name;
}

static void add_drive(ga__reading *r, ga__document *d, int i, ga__tree *function)
{
  const ga__place at = function->at;
  ga__prescribed *p = &r->prescribed[i];
  char *coordinate =
      ga__pool_text(r->pool, r->opts->prescribe[i].coordinate, strlen(r->opts->prescribe[i].coordinate));
  p->drive = drive_name(r, r->opts->prescribe[i].coordinate);
  ga__tree *drive = p->drive ? new_tree(r, GA__TREE_MAP, p->drive, NULL, at) : NULL;
  ga__tree *of = coordinate ? new_tree(r, GA__TREE_SCALAR, "coordinate", coordinate, at) : NULL;
  const ga__tree head = {.kind = GA__TREE_MAP, .key = "drives", .at = at, .key_at = at};
  if (!drive || !of) {
    r->failed = 1;
    return;
  }
  put_entry(r, drive, of);
  put_entry(r, drive, function);
  if (!r->failed) ga__document_add(r, d, &head, drive);
}

static int is_given_before(const ga__reading *r, int i)
{
  for (int k = 0; k < i; k++)
    if (is_same_coordinate(r->opts->prescribe[k].coordinate, r->opts->prescribe[i].coordinate)) return 1;
  return 0;
}

/* The function of one prescription, as a tree; NULL: what is wrong was reported. */
static ga__tree *read_function(ga__reading *r, ga__document *d, int i)
{
  const ga_prescription *p = &r->opts->prescribe[i];
  const int file = ga__messages_add_file(d->messages, p->coordinate);
  ga__tree *tree = NULL;
  if (file < 0) return r->failed = 1, NULL;
  const ga__concern outer = ga__messages_begin(r->messages, "prescribed motion", NULL);
  if (is_given_before(r, i))
    ga__report_error(r->messages, (ga__place){file, 1, 1}, GA_REASON_GIVEN_TWICE,
                     &(ga__facts){.name = p->coordinate, .detail = "the prescribed motion before"});
  else if (ga__tree_read(&d->forest, file, p->function, strlen(p->function), &tree))
    r->failed = 1;
  ga__messages_restore(r->messages, &outer);
  if (tree) tree->key = "function", tree->key_at = tree->at;
  return tree;
}

/* What a drive has besides a function of its position, and a condition: what is prescribed always acts. */
static void drop_other_laws(ga__tree *drive)
{
  static const char *const law[] = {"speed", "acceleration", "follow", "follow_speed", "lag", "if"};
  int n = 0;
  for (int i = 0; i < drive->n; i++) {
    int other = 0;
    for (size_t k = 0; k < sizeof law / sizeof *law; k++)
      other |= drive->child[i]->key && strcmp(drive->child[i]->key, law[k]) == 0;
    if (!other) drive->child[n++] = drive->child[i];
  }
  drive->n = n;
}

void ga__prescribe_drives(ga__reading *r, ga__document *d)
{
  const int n = r->opts->n_prescribe;
  r->prescribed = ga__pool_take(r->pool, (size_t)n * sizeof *r->prescribed + 1);
  if (!r->prescribed) r->failed = 1;
  for (int i = 0; i < n && !r->failed; i++) {
    ga__tree *function = read_function(r, d, i);
    if (!function) continue;
    r->prescribed[i].function = function;
    const ga__tree *drives = find_section(d, "drives");
    ga__tree *there = NULL;
    for (int k = 0; drives && k < drives->n && !there; k++)
      if (acts_on(drives->child[k], r->opts->prescribe[i].coordinate)) there = drives->child[k];
    if (there) {
      drop_other_laws(there);
      put_entry(r, there, function);
      r->prescribed[i].drive = there->key;
    } else {
      add_drive(r, d, i, function);
    }
  }
}

void ga__prescribe_rest(ga__reading *r, ga__document *d)
{
  const ga__tree *forces = find_section(d, "forces");
  for (int k = 0; forces && k < forces->n && !r->failed; k++) {
    ga__tree *part = forces->child[k];
    const ga__tree *type = part->kind == GA__TREE_MAP ? ga__map_peek(part, "type") : NULL;
    if (!type || type->kind != GA__TREE_SCALAR || strcmp(type->text, "actuator") != 0) continue;
    for (int i = 0; i < r->opts->n_prescribe; i++) {
      if (!acts_on(part, r->opts->prescribe[i].coordinate)) continue;
      ga__tree *none = new_tree(r, GA__TREE_SCALAR, "force", "0", part->at);
      if (none) put_entry(r, part, none);
    }
  }
}

/* ---- Starts ---- */

/* Value and rate of prescription i at the start; 0: it has none. */
static int value_at_start(ga__reader *reader, int i, const char *unit, double value[3])
{
  const ga_function *f = NULL;
  ga__tree *tree = reader->r->prescribed ? reader->r->prescribed[i].function : NULL;
  ga_fault fault;
  ga__messages *kept = tree ? ga__mute_messages(reader) : NULL; /* the drive reports what is wrong */
  if (!kept) return 0;
  const int good = ga__read_function(reader, tree, unit, &f);
  ga__unmute_messages(reader, kept);
  return good && ga_function_eval(f, reader->t_start, 1, value, &fault) == GA_OK;
}

void ga__prescribe_joint(ga__reader *reader, const char *part, ga_joint_def *def)
{
  const size_t n = strlen(part);
  double value[3] = {0};
  for (int i = 0; i < reader->r->opts->n_prescribe; i++) {
    const char *coordinate = reader->r->opts->prescribe[i].coordinate;
    if (strncmp(coordinate, part, n) != 0 || (coordinate[n] && coordinate[n] != '.')) continue;
    const ga_coordinate_info *only = ga_joint_coordinate(def->kind, 0, 0);
    if (!only) only = ga_joint_coordinate(def->kind, 1, 0);
    const char *name = coordinate[n] ? coordinate + n + 1 : only ? only->name : "";
#define SET(member, motion, about, rate_about)                                                               \
  if (strcmp(name, #member) == 0 && value_at_start(reader, i, GA__UNIT_##motion, value))                     \
    def->member = value[0], def->member##_rate = value[1];
    GA__COORDINATE_LIST(SET)
#undef SET
  }
}

void ga__prescribe_scalar(ga__reader *reader, const char *part, ga_scalar_def *def)
{
  double value[3] = {0};
  for (int i = 0; i < reader->r->opts->n_prescribe; i++)
    if (strcmp(reader->r->opts->prescribe[i].coordinate, part) == 0 &&
        value_at_start(reader, i, def->rotational ? "rad" : "m", value))
      def->position = value[0], def->velocity = value[1];
}
