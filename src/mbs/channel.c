/* Channels: the signals of each kind of part. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/name.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 512 }; /* name of a signal, its end included */

/* ---- Channels ---- */

typedef struct recipe {
  const char *name, *unit;
  ga__probe_kind kind;
  int component;
} recipe;

/* Of frames, as many as their kind has. */
static const recipe FRAME[] = {
    {"x", "m", GA__PROBE_POSITION, 0},
    {"y", "m", GA__PROBE_POSITION, 1},
    {"z", "m", GA__PROBE_POSITION, 2},
    {"vx", "m/s", GA__PROBE_VELOCITY, 0},
    {"vy", "m/s", GA__PROBE_VELOCITY, 1},
    {"vz", "m/s", GA__PROBE_VELOCITY, 2},
    {"ax", "m/s^2", GA__PROBE_ACCELERATION, 0},
    {"ay", "m/s^2", GA__PROBE_ACCELERATION, 1},
    {"az", "m/s^2", GA__PROBE_ACCELERATION, 2},
    {"wx", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 0},
    {"wy", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 1},
    {"wz", "rad/s", GA__PROBE_ANGULAR_VELOCITY, 2},
    {"qw", "", GA__PROBE_QUATERNION, 0},
    {"qx", "", GA__PROBE_QUATERNION, 1},
    {"qy", "", GA__PROBE_QUATERNION, 2},
    {"qz", "", GA__PROBE_QUATERNION, 3},
    {"angle", "rad", GA__PROBE_ANGLE, 0},
};
enum { OF_POINT = 9, OF_MARKER = 12, OF_RIGID = 16, OF_PLANAR = 17 };

static const recipe REACTION[6] = {
    {"fx", "N", GA__PROBE_REACTION_FORCE, 0},    {"fy", "N", GA__PROBE_REACTION_FORCE, 1},
    {"fz", "N", GA__PROBE_REACTION_FORCE, 2},    {"mx", "N*m", GA__PROBE_REACTION_TORQUE, 0},
    {"my", "N*m", GA__PROBE_REACTION_TORQUE, 1}, {"mz", "N*m", GA__PROBE_REACTION_TORQUE, 2},
};

static const char *const AXIS[3] = {"x", "y", "z"};
static const char *const SCALAR_NAME[3] = {"", "rate", "acc"};
static const ga__probe_kind COORDINATE_KIND[3] = {GA__PROBE_GAUGE, GA__PROBE_GAUGE_RATE, GA__PROBE_GAUGE_ACC};
static const char *const SENSOR_UNIT[] = {"m", "m/s", "m/s^2", "m/s^2", "rad/s", "N", "N*m"};

/* A channel with its name in pieces: values are asked for far more often than names. */
typedef struct sketch {
  const char *name, *suffix; /* "angle", "_rate" */
  int number;                /* of an output or a state of a block, behind the name; 0: none */
  const char *unit;
  int coordinate;
  ga__probe probe;
} sketch;

static void set(sketch *to, const char *name, const char *unit, ga__probe_kind kind, int component)
{
  to->name = name;
  to->suffix = "";
  to->number = 0;
  to->unit = unit;
  to->coordinate = -1;
  to->probe = GA__NO_PROBE;
  to->probe.kind = kind;
  to->probe.component = component;
}

const ga__joint *ga__joint_of(const ga__built *b, int part)
{
  return b->part_joint[part] < 0 ? NULL : GA__AT(b->joint, ga__joint, b->part_joint[part]);
}

/* Blocks are in the order of their parts. */
static const ga__blocked *blocked_of(const ga__built *b, int part)
{
  int low = 0, high = b->blocked.n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (GA__AT(b->blocked, ga__blocked, middle)->part < part)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == b->blocked.n || GA__AT(b->blocked, ga__blocked, low)->part != part) return NULL;
  return GA__AT(b->blocked, ga__blocked, low);
}

static int item_of(const ga__built *b, int part)
{
  return b->signals.item ? b->signals.item[part] : -1;
}

/* Number of a joint's coordinate among the angles whose turns are counted, −1: it counts them itself. */
static int turning_of(const ga__built *b, int part, int coordinate)
{
  const ga__joint *joint = ga__joint_of(b, part);
  int n = item_of(b, part);
  if (n < 0) return -1;
  for (int i = 0; i <= coordinate; i++) {
    const ga__coordinate *c = &joint->coordinate[i];
    const int turning = c->scalar_gauge < 0 && GA__AT(b->gauge, ga__gauge, c->gauge)->kind == GA__ANGLE;
    if (i == coordinate) return turning ? n : -1;
    n += turning;
  }
  return -1;
}

static int frame_channels(const ga__built *b, int part)
{
  switch (b->m->part[part].kind) {
  case GA__PART_RIGID:
    return OF_RIGID;
  case GA__PART_PLANAR:
    return OF_PLANAR;
  case GA__PART_POINT:
    return OF_POINT;
  default: {
    const ga__marker *marker = GA__AT(b->marker, ga__marker, b->part_marker[part]);
    const ga__node *node = GA__AT(b->node, ga__node, marker->node);
    return node->has && !node->rigid && !node->planar ? OF_POINT : OF_MARKER;
  }
  }
}

static void frame_channel(const ga__built *b, int part, int c, sketch *to)
{
  set(to, FRAME[c].name, FRAME[c].unit, FRAME[c].kind, FRAME[c].component);
  to->probe.of = b->part_marker[part];
}

/* Joints, scalar bodies, drives: coordinates; what the joint does to b, or the force of a coupling. */
static int joint_channels(const ga__built *b, int part)
{
  const ga__joint *joint = ga__joint_of(b, part);
  if (!joint) return 0;
  if (b->m->part[part].kind == GA__PART_SCALAR) return 3;
  return 3 * joint->n_coordinates + (joint->a >= 0 ? 6 : joint->n_rows > 0);
}

static void joint_channel(const ga__built *b, int part, int c, sketch *to)
{
  const ga__joint *joint = ga__joint_of(b, part);
  if (c < 3 * joint->n_coordinates) {
    const ga__coordinate *at = &joint->coordinate[c / 3];
    const int scalar = b->m->part[part].kind == GA__PART_SCALAR;
    set(to, at->info->name, at->info->unit[c % 3], COORDINATE_KIND[c % 3], 0);
    to->suffix = scalar ? SCALAR_NAME[c % 3] : ga__coordinate_suffix(c % 3);
    to->coordinate = c / 3;
    to->probe.gauge = at->scalar_gauge >= 0 ? at->scalar_gauge : at->gauge;
    if (c % 3 == 0) to->probe.turns = turning_of(b, part, c / 3);
    return;
  }
  c -= 3 * joint->n_coordinates;
  if (joint->a >= 0) {
    set(to, REACTION[c].name, REACTION[c].unit, REACTION[c].kind, REACTION[c].component);
    to->probe.joint = b->part_joint[part];
    return;
  }
  const ga__row *row = GA__AT(b->row, ga__row, joint->first_row);
  const int angle = ga__gauge_is_angle(b, GA__AT(b->term, ga__term, row->first_term)->gauge);
  set(to, "force", ga__motion_unit(angle, GA_UNIT_FORCE), GA__PROBE_MULTIPLIER, 0);
  to->probe.index = row->lambda;
}

/* Springs and actuators: length, rate, force; friction: force; contact: normal force; bushings: against
 * growing δ. */
static int law_channels(const ga__built *b, int part)
{
  const int item = item_of(b, part);
  switch (b->m->part[part].kind) {
  case GA__PART_SPRING:
  case GA__PART_ACTUATOR:
    return 3;
  case GA__PART_BUSHING:
    return item < 0 ? 6 : GA__AT(b->law, ga__law, item)->n;
  default:
    return 1;
  }
}

static void law_channel(const ga__built *b, int part, int c, sketch *to)
{
  static const char *const name[3] = {"length", "rate", "force"};
  const ga__part_kind kind = b->m->part[part].kind;
  const ga__law *law = item_of(b, part) < 0 ? NULL : GA__AT(b->law, ga__law, item_of(b, part));
  const int line = kind == GA__PART_SPRING || kind == GA__PART_ACTUATOR;
  const int angle = law && kind != GA__PART_BUSHING ? ga__gauge_is_angle(b, law->gauge[0]) : 0;
  if (line && c < 2) {
    set(to, name[c], ga__motion_unit(angle, (ga_motion_unit)c), COORDINATE_KIND[c], 0);
    if (law) to->probe.gauge = law->gauge[0];
    return;
  }
  if (kind == GA__PART_BUSHING)
    set(to, REACTION[c].name, REACTION[c].unit, GA__PROBE_LAW, c);
  else
    set(to, kind == GA__PART_CONTACT ? "normal" : "force", ga__motion_unit(angle, GA_UNIT_FORCE),
        GA__PROBE_LAW, 0);
  to->probe.joint = item_of(b, part);
  to->probe.index =
      kind == GA__PART_SPRING || kind == GA__PART_BUSHING ? 1 : -1; /* sign against F of the law */
}

static int block_channels(const ga__built *b, int part)
{
  const ga__blocked *block = blocked_of(b, part);
  return block ? ga_block_n_out(block->block) + ga_block_n_x(block->block) : 0;
}

static void block_channel(const ga__built *b, int part, int c, sketch *to)
{
  const ga__blocked *block = blocked_of(b, part);
  const int n_out = ga_block_n_out(block->block);
  const int numbered = c >= n_out || n_out > 1;
  const char *unit = c < n_out ? ga_block_output_unit(block->block, c) : "";
  set(to, !numbered ? "" : c < n_out ? "y" : "x", unit, c < n_out ? GA__PROBE_OUTPUT : GA__PROBE_STATE, 0);
  if (numbered) to->number = c < n_out ? c + 1 : c - n_out + 1;
  to->probe.index = c < n_out ? block->y + c : block->x + c - n_out;
}

static int sensor_channels(const ga__built *b, int part)
{
  (void)b;
  (void)part;
  return 3;
}

static void sensor_channel(const ga__built *b, int part, int c, sketch *to)
{
  const ga_sensor_def *def = b->m->part[part].def;
  set(to, AXIS[c], SENSOR_UNIT[def->kind], GA__PROBE_POSITION, c);
  if (item_of(b, part) < 0) return;
  to->probe = b->signals.sensor[item_of(b, part)];
  to->probe.component = c;
}

static int rolling_channels(const ga__built *b, int part)
{
  return ((const ga_rolling_def *)b->m->part[part].def)->kind != GA_ROLLING_KNIFE;
}

static void rolling_channel(const ga__built *b, int part, int c, sketch *to)
{
  (void)c;
  set(to, "normal", "N", GA__PROBE_MULTIPLIER, 0);
  if (item_of(b, part) >= 0) to->probe.index = GA__AT(b->rolling, ga__rolling, item_of(b, part))->lambda;
}

typedef struct channels {
  int (*count)(const ga__built *b, int part);
  void (*get)(const ga__built *b, int part, int c, sketch *to);
} channels;

static const channels CHANNELS[GA__N_PARTS] = {
    [GA__PART_RIGID] = {frame_channels, frame_channel},
    [GA__PART_PLANAR] = {frame_channels, frame_channel},
    [GA__PART_POINT] = {frame_channels, frame_channel},
    [GA__PART_MARKER] = {frame_channels, frame_channel},
    [GA__PART_SCALAR] = {joint_channels, joint_channel},
    [GA__PART_JOINT] = {joint_channels, joint_channel},
    [GA__PART_DRIVE] = {joint_channels, joint_channel},
    [GA__PART_ROLLING] = {rolling_channels, rolling_channel},
    [GA__PART_SPRING] = {law_channels, law_channel},
    [GA__PART_ACTUATOR] = {law_channels, law_channel},
    [GA__PART_FRICTION] = {law_channels, law_channel},
    [GA__PART_BUSHING] = {law_channels, law_channel},
    [GA__PART_CONTACT] = {law_channels, law_channel},
    [GA__PART_SENSOR] = {sensor_channels, sensor_channel},
    [GA__PART_BLOCK] = {block_channels, block_channel},
};

int ga__channels_count(const ga__built *b, int part)
{
  const channels *c = &CHANNELS[b->m->part[part].kind];
  return c->count ? c->count(b, part) : 0;
}

void ga__channel_get(const ga__built *b, int part, int c, ga__channel *to)
{
  sketch at;
  CHANNELS[b->m->part[part].kind].get(b, part, c, &at);
  if (at.number)
    snprintf(to->name, sizeof to->name, "%s%s%d", at.name, at.suffix, at.number);
  else
    snprintf(to->name, sizeof to->name, "%s%s", at.name, at.suffix);
  to->unit = at.unit;
  to->coordinate = at.coordinate;
  to->probe = at.probe;
}

void ga__channel_probe(const ga__built *b, int part, int c, ga__probe *to)
{
  sketch at;
  CHANNELS[b->m->part[part].kind].get(b, part, c, &at);
  *to = at.probe;
}

/* ---- Names ---- */

const char *ga__energy_name(int i)
{
  static const char *const name[GA__N_ENERGIES] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                                   "energy.input", "energy.balance"};
  return name[i];
}

void ga__channel_name(char *text, size_t size, const char *part, const char *channel_name)
{
  snprintf(text, size, "%s%s%s", part, channel_name[0] ? "." : "", channel_name);
}

int ga__channel_find(const ga__built *b, const char *name, int *part, ga__channel *to, int *number,
                     int *owner)
{
  const size_t bytes = strlen(name);
  char text[LONGEST];
  if (owner) *owner = -1;
  if (bytes >= sizeof text) return 0;
  for (size_t cut = bytes; cut > 0; cut--) {
    if (cut < bytes && name[cut] != '.') continue;
    memcpy(text, name, cut);
    text[cut] = '\0';
    *part = ga__find_part(b->m, text);
    if (*part < 0) continue;
    if (owner && *owner < 0) *owner = *part;
    const char *rest = name + cut + (cut < bytes);
    const int n = ga__channels_count(b, *part);
    for (int c = 0; c < n; c++) {
      ga__channel_get(b, *part, c, to);
      *number = c;
      if (strcmp(to->name, rest) == 0) return 1;
    }
  }
  return 0;
}

/* All names one after the other, for ga__name_nearest(): i must ascend. */
typedef struct walk {
  const ga__built *b;
  int part, channel, n_channels;
  char name[LONGEST];
} walk;

static const char *walk_name(const void *names, int i)
{
  walk *w = (walk *)(size_t)names;
  ga__channel at;
  if (i < GA__N_ENERGIES) return ga__energy_name(i);
  while (w->channel >= w->n_channels) {
    w->n_channels = ga__channels_count(w->b, ++w->part);
    w->channel = 0;
  }
  ga__channel_get(w->b, w->part, w->channel++, &at);
  ga__channel_name(w->name, sizeof w->name, w->b->m->part[w->part].name, at.name);
  return w->name;
}

void ga__channel_nearest(const ga__built *b, const char *name, char nearest[GA_TEXT_PIECE])
{
  walk w = {.b = b, .part = -1};
  int n = GA__N_ENERGIES;
  for (int i = 0; i < b->m->n_parts; i++) n += ga__channels_count(b, i);
  ga__name_nearest(nearest, name, (int)strlen(name), walk_name, &w, n);
}
