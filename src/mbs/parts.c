/* The machine as a list of parts: create, add, find, destroy. */
#include "mbs/parts.h"
#include "mbs/beam.h"
#include "mbs/cable.h"
#include "mbs/element.h"
#include "mbs/modal.h"

#include "mbs/name.h"
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 16, BUCKETS_PER_PART = 4 }; /* powers of two */
enum { NAME_SIZE = 2 * GA_TEXT_PIECE }; /* longest name with its 0, as long as messages can show */

const char *ga_joint_name(ga_joint_kind kind)
{
  static const char *const name[] = {
#define JOINT_NAME(value, text, about) text,
      GA_JOINT_LIST(JOINT_NAME)
#undef JOINT_NAME
  };
  return (int)kind >= 0 && kind < GA_N_JOINTS ? name[kind] : NULL;
}

/* ---- Growing arrays ---- */

ga_status ga__list_reserve(ga_context *ctx, ga__list *list, int n)
{
  if (n <= list->capacity - list->n) return GA_OK;
  const int twice = list->capacity > INT_MAX / 2 ? INT_MAX : 2 * list->capacity;
  const int room = list->n > INT_MAX - n ? -1 : list->n + n, least = twice > room ? twice : room;
  const int capacity = least < FIRST_CAPACITY ? FIRST_CAPACITY : least;
  void *at = room < 0 ? NULL : ga__alloc(ctx, (size_t)capacity, list->size);
  if (!at) return ga__no_memory(ctx, "building a machine");
  if (list->n > 0) memcpy(at, list->at, (size_t)list->n * list->size);
  ga__free(ctx, list->at);
  list->at = at;
  list->capacity = capacity;
  return GA_OK;
}

void *ga__list_add(ga_context *ctx, ga__list *list)
{
  if (ga__list_reserve(ctx, list, 1)) return NULL;
  return memset((char *)list->at + (size_t)list->n++ * list->size, 0, list->size);
}

/* ---- Names: a hash with open addressing, at most half full ---- */

/* FNV-1a */
static uint32_t hash(const char *name)
{
  uint32_t h = 2166136261u;
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 16777619u;
  return h;
}

/* The bucket of that name, or the empty one for it. */
static int *find_bucket(int *bucket, int n_buckets, const ga__part *part, const char *name)
{
  const uint32_t mask = (uint32_t)n_buckets - 1;
  uint32_t i = hash(name) & mask;
  while (bucket[i] && strcmp(part[bucket[i] - 1].name, name) != 0) i = (i + 1) & mask;
  return &bucket[i];
}

int ga__find_part(const ga_machine *m, const char *name)
{
  return name ? *find_bucket(m->bucket, m->n_buckets, m->part, name) - 1 : -1;
}

/* Makes room for one more part; changes nothing on failure. */
static ga_status reserve(ga_machine *m)
{
  if (m->n_parts < m->capacity) return GA_OK;
  const int capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY;
  const int n_buckets = BUCKETS_PER_PART * capacity;
  ga__part *part = NULL;
  int *bucket = NULL;
  if (m->capacity <= INT_MAX / (4 * BUCKETS_PER_PART)) {
    part = ga__alloc(m->ctx, (size_t)capacity, sizeof *part);
    bucket = ga__alloc(m->ctx, (size_t)n_buckets, sizeof *bucket);
  }
  if (!part || !bucket) {
    ga__free(m->ctx, part);
    ga__free(m->ctx, bucket);
    return ga__no_memory(m->ctx, "the parts of a machine");
  }
  if (m->n_parts > 0) memcpy(part, m->part, (size_t)m->n_parts * sizeof *part);
  for (int i = 0; i < m->n_parts; i++) *find_bucket(bucket, n_buckets, part, part[i].name) = i + 1;
  ga__free(m->ctx, m->part);
  ga__free(m->ctx, m->bucket);
  m->part = part;
  m->bucket = bucket;
  m->capacity = capacity;
  m->n_buckets = n_buckets;
  return GA_OK;
}

/* There is room, and the name is new. */
static void append(ga_machine *m, ga__part_kind kind, const char *name, void *def)
{
  m->part[m->n_parts] = (ga__part){kind, name, def};
  *find_bucket(m->bucket, m->n_buckets, m->part, name) = ++m->n_parts;
}

/* ---- Unknown names ---- */

static const char *name_at(const void *names, int i)
{
  return ((const ga__part *)names)[i].name;
}

/* "a rigid body", "an actuator" */
static void describe_kind(char *text, size_t size, ga__part_kind kind)
{
  const char *name = ga__part_text(kind);
  snprintf(text, size, "%s %s", strchr("aeiou", name[0]) ? "an" : "a", name);
}

ga_status ga__refuse_part(ga_context *ctx, const ga__part *part, ga_status status, ga_reason reason,
                          ga__facts facts)
{
  facts.kind = ga__part_text(part->kind);
  facts.part = part->name;
  return ga__refuse(ctx, status, reason, &facts);
}

void ga__error_set_part(ga_context *ctx, const ga__part *part)
{
  ga__cut_text(ctx->error.kind, sizeof ctx->error.kind, ga__part_text(part->kind));
  ga__cut_text(ctx->error.part, sizeof ctx->error.part, part->name);
}

/* The part with the longest name such that `name` begins with that name and a dot; −1: none. */
static int part_before_dot(const ga_machine *m, const char *name)
{
  char head[NAME_SIZE];
  const size_t bytes = strlen(name);
  for (size_t n = bytes; n > 0; n--) {
    if (name[n - 1] != '.' || n - 1 >= sizeof head) continue;
    memcpy(head, name, n - 1);
    head[n - 1] = '\0';
    const int part = ga__find_part(m, head);
    if (part >= 0) return part;
  }
  return -1;
}

/* Either asking or function is set: where the name was given. */
static ga_status no_such(const ga_machine *m, ga_context *ctx, const ga__part *asking, const char *function,
                         const char *field, const char *name, const char *needs)
{
  char quoted[GA_TEXT_PIECE], nearest[GA_TEXT_PIECE], other[GA_ERROR_NAME] = "";
  const int found = ga__find_part(m, name), head = part_before_dot(m, name);
  ga__name_quote(quoted, name, (int)strlen(name));
  ga__facts facts = {.function = function, .field = field, .name = quoted, .other = other, .expected = needs};
  ga_reason reason = GA_REASON_UNKNOWN_PART;
  if (found == 0) {
    reason = GA_REASON_GROUND;
  } else if (found > 0) {
    const int on_coordinate = asking && ga__type_of(&m->part[found])->is_coordinate &&
                              ga__part_member(asking, "a", NULL) &&
                              ga__part_member(asking, "coordinate", NULL);
    reason = on_coordinate ? GA_REASON_SCALAR_AS_END : GA_REASON_WRONG_KIND;
    describe_kind(other, sizeof other, m->part[found].kind);
  } else if (head > 0) {
    reason = GA_REASON_NO_SUCH_MEMBER;
    snprintf(other, sizeof other, "%s '%s'", ga__part_text(m->part[head].kind), m->part[head].name);
    facts.detail = name + strlen(m->part[head].name) + 1;
  } else {
    ga__name_nearest(nearest, name, (int)strlen(name), name_at, m->part, m->n_parts);
    facts.nearest = nearest;
  }
  if (!asking) return ga__refuse(ctx, GA_ERR_ARGUMENT, reason, &facts);
  return ga__refuse_part(ctx, asking, GA_ERR_ARGUMENT, reason, facts);
}

ga_status ga__refuse_unknown(const ga_machine *m, const ga__part *asking, const char *field, const char *name,
                             const char *needs)
{
  return no_such(m, m->ctx, asking, NULL, field, name, needs);
}

ga_status ga__refuse_unknown_argument(const ga_machine *m, ga_context *ctx, const char *function,
                                      const char *field, const char *name, const char *needs)
{
  return no_such(m, ctx, NULL, function, field, name, needs);
}

/* ---- The machine ---- */

ga_machine_opts ga_machine_defaults(void)
{
  return (ga_machine_opts){.form = GA_FORM_SPACE};
}

ga_status ga_machine_create(ga_context *ctx, const ga_machine_opts *opts, ga_machine **out)
{
  const ga_machine_opts used = opts ? *opts : ga_machine_defaults();
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(ctx, __func__, "out");
  if ((int)used.form < 0 || used.form > GA_FORM_SE3)
    return ga__refuse_choice(ctx, "machine", "form", (int)used.form, "ga_form", GA_FORM_SE3);
  for (int i = 0; i < 3; i++)
    if (!isfinite(used.gravity[i]))
      return ga__refuse(
          ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
          &(ga__facts){
              .kind = "machine", .field = "gravity", .item = i + 1, GA__NUMBERS({used.gravity[i], "m/s²"})});
  ga_machine *m = ga__alloc(ctx, 1, sizeof *m);
  if (!m) return ga__no_memory(ctx, "a machine");
  m->ctx = ctx;
  m->opts = used;
  const ga_status status = reserve(m);
  if (status) {
    ga_machine_destroy(&m);
    return status;
  }
  append(m, GA__PART_GROUND, "ground", NULL);
  *out = m;
  return GA_OK;
}

ga_context *ga_machine_context(const ga_machine *m)
{
  return m ? m->ctx : NULL;
}

/* Frees a definition with its texts and inputs; does not destroy a block. */
static void free_def(ga_context *ctx, ga__part_kind kind, void *def)
{
  const char **text;
  for (int i = 0; (text = ga__def_text(kind, def, i)) != NULL; i++) ga__free(ctx, (void *)(uintptr_t)*text);
  if (kind == GA__PART_BLOCK) ga__free(ctx, ((ga__block_def *)def)->inputs);
  for (int i = 0; ga__def_matrix(kind, def, i, NULL); i++)
    ga__free(ctx, (void *)(uintptr_t)*ga__def_matrix(kind, def, i, NULL));
  ga__free(ctx, def);
}

static void free_part(ga_context *ctx, const ga__part *part)
{
  if (part->kind == GA__PART_GROUND) return;
  ga_control_block *block = part->kind == GA__PART_BLOCK ? ((ga__block_def *)part->def)->block : NULL;
  free_def(ctx, part->kind, part->def); /* needs the block, for the number of inputs */
  ga_block_destroy(&block);
}

void ga_machine_destroy(ga_machine **m)
{
  if (!m || !*m) return;
  ga_context *ctx = (*m)->ctx;
  ga__mbs_model_destroy(ctx, &(*m)->model);
  for (int i = 0; i < (*m)->n_parts; i++) free_part(ctx, &(*m)->part[i]);
  for (int i = 0; i < (*m)->n_functions; i++) ga__free(ctx, (void *)(uintptr_t)(*m)->function[i].name);
  ga__free(ctx, (*m)->function);
  ga__free(ctx, (*m)->part);
  ga__free(ctx, (*m)->bucket);
  ga__free(ctx, *m);
  *m = NULL;
}

/* ---- Adding ---- */

static ga_status check_name(const ga_machine *m, ga__part_kind kind, const char *name)
{
  static const char *const reserved[] = {"ground", "t", "energy"};
  static const char energy[] = "energy.";
  const char *text = ga__part_text(kind);
  char quoted[GA_TEXT_PIECE];
  if (!name || !name[0])
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_MISSING,
                      &(ga__facts){.kind = text, .detail = name ? "empty" : "missing"});
  ga__name_quote(quoted, name, (int)strlen(name));
  if ((size_t)ga__name_length(name) != strlen(name))
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_SYNTAX,
                      &(ga__facts){.kind = text, .part = quoted});
  if (strlen(name) >= NAME_SIZE)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TOO_LONG,
                      &(ga__facts){.kind = text,
                                   .part = quoted,
                                   GA__NUMBERS({(double)strlen(name), NULL}, {NAME_SIZE - 1, NULL})});
  int taken = strncmp(name, energy, sizeof energy - 1) == 0;
  for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) taken |= strcmp(name, reserved[i]) == 0;
  if (taken)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_RESERVED,
                      &(ga__facts){.kind = text, .part = name});
  const int other = ga__find_part(m, name);
  if (other >= 0) {
    char what[GA_ERROR_WORD];
    describe_kind(what, sizeof what, m->part[other].kind);
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TAKEN,
                      &(ga__facts){.kind = text, .part = name, .other = what});
  }
  return GA_OK;
}

/* Replaces the texts of a definition by copies; out of memory: those not copied become NULL. */
static ga_status own_texts(ga_context *ctx, ga__part_kind kind, void *def)
{
  const char **text;
  int failed = 0;
  for (int i = 0; (text = ga__def_text(kind, def, i)) != NULL; i++) {
    if (!*text) continue;
    const size_t bytes = strlen(*text) + 1;
    char *copy = failed ? NULL : ga__alloc(ctx, bytes, 1);
    if (copy) memcpy(copy, *text, bytes);
    failed |= !copy;
    *text = copy;
  }
  return failed ? ga__no_memory(ctx, "the names and texts of a part") : GA_OK;
}

/* A block's definition with an array of inputs of its own. */
static ga_status own_inputs(ga_context *ctx, ga__block_def *def)
{
  const size_t n = (size_t)ga_block_n_in(def->block);
  ga_input *inputs = ga__alloc(ctx, n, sizeof *inputs);
  if (!inputs) return ga__no_memory(ctx, "the inputs of a block");
  if (n > 0) memcpy(inputs, def->inputs, n * sizeof *inputs);
  def->inputs = inputs;
  return GA_OK;
}

/* Makes a deep copy of a checked definition. */
/* Copies of matrices; what could not be copied is NULL. */
static ga_status own_matrices(ga_context *ctx, ga__part_kind kind, void *def)
{
  const double **matrix;
  size_t n;
  ga_status status = GA_OK;
  for (int i = 0; (matrix = ga__def_matrix(kind, def, i, &n)) != NULL; i++) {
    double *own = *matrix && !status ? ga__alloc(ctx, n, sizeof *own) : NULL;
    if (*matrix && !own) status = ga__no_memory(ctx, "a part");
    if (own) memcpy(own, *matrix, n * sizeof *own);
    *matrix = own;
  }
  return status;
}

static ga_status own_def(ga_context *ctx, ga__part_kind kind, const void *def, void **out)
{
  const size_t size = ga__def_size(kind);
  void *own = ga__alloc(ctx, 1, size);
  if (!own) return ga__no_memory(ctx, "a part");
  memcpy(own, def, size);
  ga_status status = ga__def_check(ctx, kind, own);
  if (!status && kind == GA__PART_BLOCK) status = own_inputs(ctx, own);
  if (status) {
    ga__free(ctx, own);
    return status;
  }
  status = own_matrices(ctx, kind, own);
  const ga_status texts = own_texts(ctx, kind, own); /* in any case, as what is freed must be its own */
  if (!status) status = texts;
  if (status)
    free_def(ctx, kind, own);
  else
    *out = own;
  return status;
}

/* The name is good, and the machine is not built yet. */
static ga_status check_place(const ga_machine *m, ga__part_kind kind, const char *name)
{
  const ga_status status = check_name(m, kind, name);
  if (status || !m->model) return status;
  return ga__refuse(m->ctx, GA_ERR_ORDER, GA_REASON_TOO_LATE,
                    &(ga__facts){.kind = ga__part_text(kind), .part = name, .expected = "parts"});
}

static ga_status add_part(ga_machine *m, ga__part_kind kind, const void *def)
{
  void *own = NULL;
  if (!m) return GA_ERR_ARGUMENT;
  if (!def)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
                      &(ga__facts){.kind = ga__part_text(kind),
                                   .field = "its definition",
                                   .detail = "NULL",
                                   .expected = "one that begins with the kind's defaults"});
  const char *name;
  memcpy(&name, def, sizeof name); /* the first field of every definition */
  ga_status status = check_place(m, kind, name);
  if (!status) status = reserve(m);
  if (!status) status = own_def(m->ctx, kind, def, &own);
  if (!status) append(m, kind, *ga__def_text(kind, own, 0), own);
  return status;
}

ga_status ga_machine_add_rigid(ga_machine *m, const ga_rigid_def *def)
{
  return add_part(m, GA__PART_RIGID, def);
}

ga_status ga_machine_add_planar(ga_machine *m, const ga_planar_def *def)
{
  return add_part(m, GA__PART_PLANAR, def);
}

ga_status ga_machine_add_point(ga_machine *m, const ga_point_def *def)
{
  return add_part(m, GA__PART_POINT, def);
}

ga_status ga_machine_add_scalar(ga_machine *m, const ga_scalar_def *def)
{
  return add_part(m, GA__PART_SCALAR, def);
}

/* Removes the part that was added last; its bucket is not part of a later chain. */
static void remove_last(ga_machine *m)
{
  const ga__part *last = &m->part[m->n_parts - 1];
  *find_bucket(m->bucket, m->n_buckets, m->part, last->name) = 0;
  free_part(m->ctx, last);
  m->n_parts--;
}

/* The marker at the end of a part that was added last; without it, that is taken away again. */
static ga_status add_end(ga_machine *m, double length)
{
  char name[NAME_SIZE + sizeof ".end"];
  ga_marker_def end = ga_marker_defaults();
  end.body = m->part[m->n_parts - 1].name;
  snprintf(name, sizeof name, "%s.end", end.body);
  end.name = name;
  end.pose.position[0] = length;
  const ga_status status = add_part(m, GA__PART_MARKER, &end);
  if (status) remove_last(m);
  return status;
}

ga_status ga_machine_add_beam(ga_machine *m, const ga_beam_def *def)
{
  ga_pose start;
  double length;
  const ga_status status = add_part(m, GA__PART_BEAM, def);
  if (status) return status;
  ga__beam_place(def, &start, &length);
  return add_end(m, length);
}

ga_status ga_machine_add_cable(ga_machine *m, const ga_cable_def *def)
{
  ga__cable_line line;
  const ga_status status = add_part(m, GA__PART_CABLE, def);
  if (status) return status;
  ga__cable_make(def, &line);
  return add_end(m, line.length);
}

ga_status ga_machine_add_line_load(ga_machine *m, const ga_line_load_def *def)
{
  return add_part(m, GA__PART_LINE_LOAD, def);
}

/* With a marker at each interface node. */
ga_status ga_machine_add_modal(ga_machine *m, const ga_modal_def *def)
{
  char name[2 * NAME_SIZE];
  ga_status status = add_part(m, GA__PART_MODAL, def);
  int added = !status;
  for (int i = 0; !status && i < def->body->n_points; i++) {
    ga_marker_def marker = ga_marker_defaults();
    snprintf(name, sizeof name, "%s.%s", def->name, def->body->point[i].name);
    marker.name = name;
    marker.body = def->name;
    memcpy(marker.pose.position, def->body->point[i].place, sizeof marker.pose.position);
    status = add_part(m, GA__PART_MARKER, &marker);
    added += !status;
  }
  while (status && added-- > 0) remove_last(m);
  return status;
}

ga_status ga_machine_add_marker(ga_machine *m, const ga_marker_def *def)
{
  return add_part(m, GA__PART_MARKER, def);
}

ga_status ga_machine_add_joint(ga_machine *m, const ga_joint_def *def)
{
  return add_part(m, GA__PART_JOINT, def);
}

ga_status ga_machine_add_drive(ga_machine *m, const ga_drive_def *def)
{
  return add_part(m, GA__PART_DRIVE, def);
}

ga_status ga_machine_add_rolling(ga_machine *m, const ga_rolling_def *def)
{
  return add_part(m, GA__PART_ROLLING, def);
}

ga_status ga_machine_add_slider(ga_machine *m, const ga_slider_def *def)
{
  return add_part(m, GA__PART_SLIDER, def);
}

ga_status ga_machine_add_road(ga_machine *m, const ga_road_def *def)
{
  return add_part(m, GA__PART_ROAD, def);
}

ga_status ga_machine_add_tyre(ga_machine *m, const ga_tyre_def *def)
{
  return add_part(m, GA__PART_TYRE, def);
}

ga_status ga_machine_add_constraint(ga_machine *m, const ga_constraint_def *def)
{
  return add_part(m, GA__PART_CONSTRAINT, def);
}

ga_status ga_machine_add_spring(ga_machine *m, const ga_spring_def *def)
{
  return add_part(m, GA__PART_SPRING, def);
}

ga_status ga_machine_add_actuator(ga_machine *m, const ga_actuator_def *def)
{
  return add_part(m, GA__PART_ACTUATOR, def);
}

ga_status ga_machine_add_friction(ga_machine *m, const ga_friction_def *def)
{
  return add_part(m, GA__PART_FRICTION, def);
}

ga_status ga_machine_add_dry_friction(ga_machine *m, const ga_dry_friction_def *def)
{
  return add_part(m, GA__PART_DRY_FRICTION, def);
}

ga_status ga_machine_add_bushing(ga_machine *m, const ga_bushing_def *def)
{
  return add_part(m, GA__PART_BUSHING, def);
}

ga_status ga_machine_add_force(ga_machine *m, const ga_force_def *def)
{
  return add_part(m, GA__PART_FORCE, def);
}

ga_status ga_machine_add_collider(ga_machine *m, const ga_collider_def *def)
{
  return add_part(m, GA__PART_COLLIDER, def);
}

ga_status ga_machine_add_collision(ga_machine *m, const ga_collision_def *def)
{
  return add_part(m, GA__PART_COLLISION, def);
}

ga_status ga_machine_add_shape(ga_machine *m, const ga_shape_def *def)
{
  return add_part(m, GA__PART_SHAPE, def);
}

ga_status ga_machine_add_contact(ga_machine *m, const ga_contact_def *def)
{
  return add_part(m, GA__PART_CONTACT, def);
}

ga_status ga_machine_add_stop(ga_machine *m, const ga_stop_def *def)
{
  return add_part(m, GA__PART_STOP, def);
}

ga_status ga_machine_add_rigid_stop(ga_machine *m, const ga_rigid_stop_def *def)
{
  return add_part(m, GA__PART_RIGID_STOP, def);
}

ga_status ga_machine_add_sensor(ga_machine *m, const ga_sensor_def *def)
{
  return add_part(m, GA__PART_SENSOR, def);
}

ga_status ga_machine_add_signal(ga_machine *m, const ga_signal_def *def)
{
  return add_part(m, GA__PART_SIGNAL, def);
}

ga_status ga_machine_add_guess(ga_machine *m, const ga_guess_def *def)
{
  return add_part(m, GA__PART_GUESS, def);
}

ga_status ga_machine_add_block(ga_machine *m, const char *name, ga_control_block *block,
                               const ga_input *inputs)
{
  /* The inputs are copied before anything is written to them. */
  const ga__block_def def = {name, block, (ga_input *)(uintptr_t)inputs};
  const ga_status status = add_part(m, GA__PART_BLOCK, &def);
  if (status) ga_block_destroy(&block);
  return status;
}

ga_status ga_machine_add_variable(ga_machine *m, const ga_variable_def *def)
{
  ga_block_integrator_opts opts = ga_block_integrator_defaults();
  ga_control_block *block = NULL;
  const ga_input none = {.value = 0.0};
  if (!m) return GA_ERR_ARGUMENT;
  if (!def) return add_part(m, GA__PART_VARIABLE, def);
  ga_variable_def copy = *def;
  ga_status status = check_place(m, GA__PART_VARIABLE, def->name);
  if (!status) status = ga__def_check(m->ctx, GA__PART_VARIABLE, &copy);
  opts.initial = &def->value;
  if (!status) status = ga_block_create_integrator(m->ctx, &opts, &block);
  return status ? status : ga_machine_add_block(m, def->name, block, &none);
}

ga_status ga_machine_add_event(ga_machine *m, const ga_event_def *def)
{
  return add_part(m, GA__PART_EVENT, def);
}

ga_status ga__machine_add_element(ga_machine *m, const ga__element_def *def)
{
  return add_part(m, GA__PART_ELEMENT, def);
}

/* ---- Functions ---- */

static ga_status check_function(const ga_machine *m, const char *name, const void *function)
{
  char quoted[GA_TEXT_PIECE];
  if (!name || !name[0])
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_MISSING,
                      &(ga__facts){.kind = "function", .detail = name ? "empty" : "missing"});
  ga__name_quote(quoted, name, (int)strlen(name));
  if ((size_t)ga__name_length(name) != strlen(name))
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_SYNTAX,
                      &(ga__facts){.kind = "function", .part = quoted});
  if (!function)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_FIELD_MISSING,
                      &(ga__facts){.kind = "function",
                                   .part = quoted,
                                   .field = "function",
                                   .detail = "NULL",
                                   .expected = "one of galpha/expr.h"});
  for (int i = 0; i < m->n_functions; i++)
    if (strcmp(m->function[i].name, name) == 0)
      return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NAME_TAKEN,
                        &(ga__facts){.kind = "function", .part = quoted, .other = "another"});
  if (m->model)
    return ga__refuse(m->ctx, GA_ERR_ORDER, GA_REASON_TOO_LATE,
                      &(ga__facts){.kind = "function", .part = quoted, .expected = "functions"});
  return GA_OK;
}

/* Adds a symbol with its own copy of its name. */
static ga_status add_callable(ga_machine *m, const char *name, ga_symbol symbol)
{
  const size_t n = (size_t)m->n_functions, bytes = strlen(name) + 1;
  ga_symbol *all = ga__alloc(m->ctx, n + 1, sizeof *all);
  char *own = ga__alloc(m->ctx, bytes, 1);
  if (!all || !own) {
    ga__free(m->ctx, all);
    ga__free(m->ctx, own);
    return ga__no_memory(m->ctx, "a function of a machine");
  }
  if (n > 0) memcpy(all, m->function, n * sizeof *all);
  memcpy(own, name, bytes);
  symbol.name = own;
  all[n] = symbol;
  ga__free(m->ctx, m->function);
  m->function = all;
  m->n_functions++;
  return GA_OK;
}

ga_status ga_machine_add_function(ga_machine *m, const char *name, const ga_function *function)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga_status status = check_function(m, name, function);
  return status ? status
                : add_callable(m, name, (ga_symbol){.kind = GA_SYMBOL_FUNCTION, .function = function});
}

ga_status ga_machine_add_definition(ga_machine *m, const char *name, const ga_definition *definition)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga_status status = check_function(m, name, definition);
  return status ? status
                : add_callable(m, name, (ga_symbol){.kind = GA_SYMBOL_DEFINITION, .definition = definition});
}

/* ---- Counting ---- */

static int count_kinds(const ga_machine *m, ga__part_kind first, ga__part_kind last)
{
  int n = 0;
  for (int i = 1; m && i < m->n_parts; i++) n += m->part[i].kind >= first && m->part[i].kind <= last;
  return n;
}

int ga_machine_n_bodies(const ga_machine *m)
{
  return count_kinds(m, GA__PART_RIGID, GA__PART_MODAL);
}

int ga_machine_n_joints(const ga_machine *m)
{
  return count_kinds(m, GA__PART_JOINT, GA__PART_JOINT);
}
