/* Signals: all quantities of a machine, by name and number.
 *
 * Signals are numbered part by part, in the order of the part's channels. Only the first signal of each part
 * is stored: names, units and probes are made on demand. */
#include "mbs/blocks.h"
#include "mbs/channel.h"
#include "mbs/meter.h"
#include "mbs/name.h"
#include "core/work.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int ga__signal_find(const ga__mbs_model *b, const char *name)
{
  int part, number;
  ga__channel at;
  if (ga__channel_find(b, name, &part, &at, &number, NULL)) return b->signals.first[part] + number;
  for (int i = 0; i < GA__N_ENERGIES; i++)
    if (strcmp(name, ga__energy_name(i)) == 0) return b->signals.first[b->m->n_parts] + i;
  return -1;
}

/* ---- Building ---- */

static ga_status sensor_probe(ga_machine *m, ga__mbs_model *b, int index, ga__probe *probe)
{
  static const ga__probe_kind kind[] = {GA__PROBE_POSITION,         GA__PROBE_VELOCITY,
                                        GA__PROBE_ACCELERATION,     GA__PROBE_SPECIFIC_FORCE,
                                        GA__PROBE_ANGULAR_VELOCITY, GA__PROBE_REACTION_FORCE,
                                        GA__PROBE_REACTION_TORQUE};
  const ga__part *part = &m->part[index];
  const ga_sensor_def *def = part->def;
  ga_status status = GA_OK;
  *probe = GA__NO_PROBE;
  probe->kind = kind[def->kind];
  probe->component = 0;
  if (def->kind == GA_SENSOR_REACTION_FORCE || def->kind == GA_SENSOR_REACTION_TORQUE) {
    const int joint = ga__find_part(m, def->of);
    if (joint < 0 || b->part_joint[joint] < 0 || ga__joint_of(b, joint)->a < 0)
      return ga__refuse_unknown(m, part, "of", def->of, "a joint between frames");
    probe->joint = b->part_joint[joint];
  } else {
    status = ga__resolve_frame(m, b, part, "of", def->of, &probe->of);
  }
  if (!status && def->kind == GA_SENSOR_POSITION && def->from)
    status = ga__resolve_frame(m, b, part, "from", def->from, &probe->from);
  if (!status && def->axes) status = ga__resolve_frame(m, b, part, "axes", def->axes, &probe->axes);
  if (probe->from == 0) probe->from = -1; /* the ground, as in other probes, so that equal probes are found */
  if (probe->axes == 0) probe->axes = -1;
  return status;
}

/* Resolves the frames of a sensor, which has three components; complete_sensor_signal() does so earlier if
 * needed. */
static ga_status create_sensor(ga_machine *m, ga__mbs_model *b, int part)
{
  ga__probe probe;
  const ga_status status = sensor_probe(m, b, part, &probe);
  const ga__element *el = status ? NULL : ga__element_add(m, b, part, &ga__sensor_type, 0, 0);
  if (el) memcpy(el->data, &probe, sizeof probe);
  return status ? status : el ? GA_OK : GA_ERR_MEMORY;
}

static int n_sensor_signals(const ga__mbs_model *b, int part)
{
  (void)b, (void)part;
  return 3;
}

static void sensor_signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  static const char *const AXIS[3] = {"x", "y", "z"};
  static const char *const UNIT[] = {"m", "m/s", "m/s^2", "m/s^2", "rad/s", "N", "N*m"};
  const ga_sensor_def *def = b->m->part[part].def;
  const ga__element *el = ga__element_of(b, part);
  ga__signal_set(out, AXIS[i], UNIT[def->kind], GA__PROBE_POSITION, i);
  if (!el) return;
  memcpy(&out->probe, el->data, sizeof out->probe);
  out->probe.component = i;
}

static ga_status complete_sensor_signal(ga_machine *m, ga__mbs_model *b, int part, ga__signal_def *signal)
{
  const int component = signal->probe.component;
  const ga_status status = sensor_probe(m, b, part, &signal->probe);
  signal->probe.component = component;
  return status;
}

const ga__element_type ga__sensor_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(ga__probe),
    .create = {[GA__CREATE_GUESSES] = create_sensor},
    .n_signals = n_sensor_signals,
    .signal = sensor_signal,
    .complete_signal = complete_sensor_signal,
};

static ga_status take_memory(ga_machine *m, ga__signals *s, int n_turns)
{
  const size_t n = (size_t)m->n_parts;
  s->first = ga__alloc(m->ctx, n + 2, sizeof *s->first);
  s->first_counted = ga__alloc(m->ctx, n, sizeof *s->first_counted);
  s->counted_angle = ga__alloc(m->ctx, (size_t)n_turns, sizeof *s->counted_angle);
  s->limited = ga__alloc(m->ctx, (size_t)n_turns, sizeof *s->limited);
  s->name = ga__alloc(m->ctx, n, sizeof *s->name);
  if (!s->first || !s->first_counted || !s->counted_angle || !s->limited || !s->name)
    return ga__no_memory(m->ctx, "signals");
  for (int i = 0; i < m->n_parts; i++) s->first_counted[i] = -1;
  return GA_OK;
}

/* Lists angles whose turns a meter counts, those of joints first; fill 0: only counts them. */
static int list_turning(ga__mbs_model *b, int fill)
{
  ga__signals *s = &b->signals;
  int n = 0;
  for (int k = 0; k < b->element.n; k++) {
    const ga__element *el = ga__element_at(b, k);
    int gauge, limited;
    if (!el->type->counted_angle) continue;
    if (fill) s->first_counted[el->part] = n;
    for (int i = 0; (gauge = el->type->counted_angle(b, el, i, &limited)) >= 0; i++, n++)
      if (fill) s->counted_angle[n] = gauge, s->limited[n] = limited ? el->part : 0;
  }
  return n;
}

static ga_status refuse_taken(const ga_machine *m, int part, int owner)
{
  char other[GA_ERROR_NAME];
  snprintf(other, sizeof other, "%s '%s'", ga__part_text(m->part[owner].kind), m->part[owner].name);
  return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_SIGNAL_NAME_TAKEN,
                         (ga__facts){.other = other});
}

/* Refuses a scalar body or block whose name, itself a signal, is also the name of another part's channel. */
static ga_status check_name(const ga_machine *m, const ga__mbs_model *b, int part)
{
  const char *name = m->part[part].name, *dot = strrchr(name, '.');
  char head[2 * GA_TEXT_PIECE];
  ga__channel at;
  if (!dot || ga__channels_count(b, part) == 0 || (size_t)(dot - name) >= sizeof head) return GA_OK;
  ga__channel_get(b, part, 0, &at);
  if (at.name[0]) return GA_OK;
  snprintf(head, sizeof head, "%.*s", (int)(dot - name), name);
  const int owner = ga__find_part(m, head), n = owner < 0 ? 0 : ga__channels_count(b, owner);
  for (int c = 0; c < n; c++) {
    ga__channel_get(b, owner, c, &at);
    if (strcmp(at.name, dot + 1) == 0) return refuse_taken(m, part, owner);
  }
  return GA_OK;
}

ga_status ga__signals_create(ga_machine *m, ga__mbs_model *b)
{
  ga__signals *s = &b->signals;
  ga_status status = take_memory(m, s, list_turning(b, 0));
  if (status) return status;
  s->n_turns = list_turning(b, 1);
  for (int i = 0; !status && i < m->n_parts; i++) status = check_name(m, b, i);
  if (status) return status;
  for (int i = 0; i < m->n_parts; i++) {
    s->first[i] = s->n;
    s->n += ga__channels_count(b, i);
  }
  s->first[m->n_parts] = s->n;
  s->n += GA__N_ENERGIES;
  s->first[m->n_parts + 1] = s->n;
  return GA_OK;
}

void ga__signals_free(ga_context *ctx, ga__mbs_model *b)
{
  ga__signals *s = &b->signals;
  for (int i = 0; s->name && i < b->m->n_parts; i++) ga__free(ctx, s->name[i]);
  ga__free(ctx, s->first);
  ga__free(ctx, s->first_counted);
  ga__free(ctx, s->counted_angle);
  ga__free(ctx, s->limited);
  ga__free(ctx, s->name);
  memset(s, 0, sizeof *s);
}

/* ---- Outputs y of signals ---- */

static ga_status unknown_signal(const ga_machine *m, const ga__mbs_model *b, const ga__part *asking,
                                const char *field, const char *name, int owner)
{
  char nearest[GA_TEXT_PIECE], has[160] = "", part[GA_ERROR_NAME] = "";
  ga__writer w = {has, sizeof has, 0};
  ga__channel_nearest(b, name, nearest);
  const int n = owner >= 0 ? ga__channels_count(b, owner) : 0;
  if (n > 0) snprintf(part, sizeof part, "%s '%s'", ga__part_text(m->part[owner].kind), m->part[owner].name);
  for (int c = 0; c < n && w.used < sizeof has - 16; c++) {
    ga__channel at;
    ga__channel_get(b, owner, c, &at);
    ga__write(&w, "%s%s", c ? ", " : "", at.name[0] ? at.name : "itself");
  }
  return ga__refuse_part(
      m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_UNKNOWN_SIGNAL,
      (ga__facts){.field = field, .name = name, .other = part, .detail = has, .nearest = nearest});
}

/* The complete probe of a signal while the machine is being built. */
static ga_status complete_probe(ga_machine *m, ga__mbs_model *b, int part, int number, ga__probe *probe)
{
  const ga__element_type *type = ga__type_of(&m->part[part]);
  ga__signal_def at;
  type->signal(b, part, number, &at);
  const ga_status status = type->complete_signal ? type->complete_signal(m, b, part, &at) : GA_OK;
  *probe = at.probe;
  return status;
}

static int same_probe(const ga__probe *a, const ga__probe *b)
{
  return a->kind == b->kind && a->of == b->of && a->from == b->from && a->axes == b->axes &&
         a->joint == b->joint && a->owner == b->owner && a->gauge == b->gauge &&
         a->component == b->component && a->index == b->index;
}

static ga_status add_probe(ga_machine *m, ga__mbs_model *b, const ga__probe *probe, int *y)
{
  for (int i = 0; i < b->y.n; i++) {
    const ga__y *at = GA__AT(b->y, ga__y, i);
    if (at->kind != GA__Y_PROBE || !same_probe(GA__AT(b->probe, ga__probe, at->index), probe)) continue;
    *y = i;
    return GA_OK;
  }
  ga__probe *kept = ga__list_add(m->ctx, &b->probe);
  if (!kept) return GA_ERR_MEMORY;
  *kept = *probe;
  ga__y *row = ga__list_add(m->ctx, &b->y);
  if (!row) return GA_ERR_MEMORY;
  *row = (ga__y){.kind = GA__Y_PROBE, .index = b->probe.n - 1};
  *y = b->y.n - 1;
  return GA_OK;
}

/* The signal of a name: its part, number and channel. */
static ga_status find_signal(const ga_machine *m, const ga__mbs_model *b, const ga__part *asking,
                             const char *field, const char *name, int *part, int *number, ga__channel *at)
{
  int owner;
  if (ga__channel_find(b, name, part, at, number, &owner)) return GA_OK;
  for (int i = 0; i < GA__N_ENERGIES; i++)
    if (strcmp(name, ga__energy_name(i)) == 0)
      return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_ENERGY_NOT_FED_BACK,
                             (ga__facts){.field = field, .name = name});
  return unknown_signal(m, b, asking, field, name, owner);
}

static ga_status feed_channel(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *name, int part, int number, ga__probe *probe)
{
  const ga_status status = complete_probe(m, b, part, number, probe);
  if (status) return status;
  if (!ga__probe_has_slopes(b, probe))
    return ga__refuse_part(
        m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_SIGNAL_NOT_FED_BACK,
        (ga__facts){.field = field,
                    .name = name,
                    .expected =
                        probe->kind == GA__PROBE_ELEMENT
                            ? "the inputs and coordinates that make up this force"
                        : probe->kind == GA__PROBE_ERROR
                            ? "the signals of its expression"
                            : "roll, pitch and yaw, angles, or components of axes from position sensors"});
  probe->part = part;
  probe->channel = number;
  return GA_OK;
}

ga_status ga__signal_y(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                       const char *name, int *y)
{
  int part, number;
  ga__channel at;
  ga_status status = find_signal(m, b, asking, field, name, &part, &number, &at);
  if (status) return status;
  if (at.probe.kind == GA__PROBE_OUTPUT) {
    *y = at.probe.index;
    return GA_OK;
  }
  status = feed_channel(m, b, asking, field, name, part, number, &at.probe);
  return status ? status : add_probe(m, b, &at.probe, y);
}

ga_status ga__signal_motion(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                            const char *name, ga__probe *probe, const char **unit)
{
  int part, number;
  ga__channel at;
  ga_status status = find_signal(m, b, asking, field, name, &part, &number, &at);
  if (status) return status;
  const char *not = ga__probe_beyond_motion(&at.probe);
  if (not )
    return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_NOT_OF_MOTION,
                           (ga__facts){.field = field, .name = name, .other = not });
  status = feed_channel(m, b, asking, field, name, part, number, &at.probe);
  *probe = at.probe;
  *unit = at.unit;
  return status;
}

/* 1: it is a function of positions and velocities only. */
static int is_known(const ga__mbs_model *b, int y)
{
  const ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->kind != GA__Y_PROBE) return 0;
  switch (GA__AT(b->probe, ga__probe, row->index)->kind) {
  case GA__PROBE_ACCELERATION:
  case GA__PROBE_SPECIFIC_FORCE:
  case GA__PROBE_ANGULAR_ACCELERATION:
  case GA__PROBE_REACTION_FORCE:
  case GA__PROBE_REACTION_TORQUE:
  case GA__PROBE_MULTIPLIER:
  case GA__PROBE_TENSION:
  case GA__PROBE_MULTIPLIER_OF_K:
  case GA__PROBE_GAUGE_ACC:
  case GA__PROBE_ELEMENT: /* forces in sections have inertia in them */
    return 0;
  default:
    return 1;
  }
}

static ga_status take_guess(ga_machine *m, ga__mbs_model *b, int index)
{
  const ga__part *part = &m->part[index];
  const ga_guess_def *d = part->def;
  const int before = b->y.n;
  int y = -1;
  const ga_status status = ga__signal_y(m, b, part, "signal", d->signal, &y);
  if (status) return status;
  if (is_known(b, y))
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_GUESS_OF_KNOWN,
                           (ga__facts){.field = "signal", .name = d->signal});
  if (y >= before)
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_GUESS_UNUSED,
                           (ga__facts){.field = "signal", .name = d->signal});
  ga__y *row = GA__AT(b->y, ga__y, y);
  if (row->guessed)
    return ga__refuse_part(m->ctx, part, GA_ERR_ARGUMENT, GA_REASON_GUESS_TWICE,
                           (ga__facts){.field = "signal", .name = d->signal});
  row->guessed = 1;
  row->guess = d->value;
  return GA_OK;
}

const ga__element_type ga__guess_type = {.create = {[GA__CREATE_GUESSES] = take_guess}};

static void name_channel(const ga__mbs_model *b, int part, int channel, char *text, size_t size)
{
  ga__channel at;
  ga__channel_get(b, part, channel, &at);
  ga__channel_name(text, size, b->m->part[part].name, at.name);
}

void ga__signal_name_of(const ga__mbs_model *b, const ga__probe *probe, char *text, size_t size)
{
  name_channel(b, probe->part, probe->channel, text, size);
}

/* ---- Use ---- */

static ga__mbs_model *built_of(const ga_machine *m)
{
  return m ? m->model : NULL;
}

void ga_machine_gravity_vector(const ga_machine *m, double g[3])
{
  for (int i = 0; g && i < 3; i++) g[i] = m ? m->opts.gravity[i] : 0.0;
}

double ga_machine_gravity(const ga_machine *m)
{
  const double *g = m ? m->opts.gravity : NULL;
  return g ? sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) : 0.0;
}

int ga_machine_n_signals(const ga_machine *m)
{
  return built_of(m) ? m->model->signals.n : 0;
}

int ga__part_of_signal(const ga__mbs_model *b, int i)
{
  int low = 0, high = b->m->n_parts;
  while (low < high) { /* the last part whose first signal is not after i */
    const int middle = low + (high - low + 1) / 2;
    if (b->signals.first[middle] <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static int is_signal(const ga_machine *m, int i)
{
  return built_of(m) && i >= 0 && i < m->model->signals.n;
}

const char *ga_machine_signal_name(const ga_machine *m, int i)
{
  if (!is_signal(m, i)) return NULL;
  const ga__mbs_model *b = m->model;
  const ga__signals *s = &b->signals;
  const int part = ga__part_of_signal(b, i), n = part < m->n_parts ? ga__channels_count(b, part) : 0;
  if (part == m->n_parts) return ga__energy_name(i - s->first[part]);
  const size_t room = strlen(b->m->part[part].name) + sizeof((ga__channel *)0)->name + 1;
  char *made = atomic_load(&s->name[part]);
  if (!made) {
    char *mine = ga__alloc(m->ctx, (size_t)n, room);
    if (!mine) return NULL;
    for (int c = 0; c < n; c++) name_channel(b, part, c, mine + (size_t)c * room, room);
    if (atomic_compare_exchange_strong(&s->name[part], &made, mine))
      made = mine;
    else
      ga__free(m->ctx, mine); /* another thread was faster; its block is used */
  }
  return made + (size_t)(i - s->first[part]) * room;
}

const char *ga_machine_signal_unit(const ga_machine *m, int i)
{
  ga__channel at;
  if (!is_signal(m, i)) return NULL;
  const int part = ga__part_of_signal(m->model, i);
  if (part == m->n_parts) return "J";
  ga__channel_get(m->model, part, i - m->model->signals.first[part], &at);
  return at.unit;
}

ga_signal_kind ga_machine_signal_kind(const ga_machine *m, int i)
{
  static const ga_signal_kind KIND[] = {
      [GA__PROBE_POSITION] = GA_SIGNAL_POSITION,
      [GA__PROBE_VELOCITY] = GA_SIGNAL_RATE,
      [GA__PROBE_ACCELERATION] = GA_SIGNAL_ACCELERATION,
      [GA__PROBE_SPECIFIC_FORCE] = GA_SIGNAL_ACCELERATION,
      [GA__PROBE_ANGULAR_VELOCITY] = GA_SIGNAL_RATE,
      [GA__PROBE_ANGULAR_ACCELERATION] = GA_SIGNAL_ACCELERATION,
      [GA__PROBE_REACTION_FORCE] = GA_SIGNAL_REACTION,
      [GA__PROBE_REACTION_TORQUE] = GA_SIGNAL_REACTION,
      [GA__PROBE_GAUGE] = GA_SIGNAL_COORDINATE,
      [GA__PROBE_GAUGE_RATE] = GA_SIGNAL_RATE,
      [GA__PROBE_GAUGE_ACC] = GA_SIGNAL_ACCELERATION,
      [GA__PROBE_ANGLE] = GA_SIGNAL_COORDINATE,
      [GA__PROBE_QUATERNION] = GA_SIGNAL_ORIENTATION,
      [GA__PROBE_EULER] = GA_SIGNAL_ORIENTATION,
      [GA__PROBE_TENSION] = GA_SIGNAL_FORCE,
      [GA__PROBE_ELEMENT] = GA_SIGNAL_FORCE,
      [GA__PROBE_ERROR] = GA_SIGNAL_ERROR,
      [GA__PROBE_MULTIPLIER] = GA_SIGNAL_FORCE,
      [GA__PROBE_MULTIPLIER_OF_K] = GA_SIGNAL_FORCE,
      [GA__PROBE_STATE] = GA_SIGNAL_BLOCK,
      [GA__PROBE_OUTPUT] = GA_SIGNAL_BLOCK,
      [GA__PROBE_ENERGY] = GA_SIGNAL_ENERGY,
  };
  ga__probe probe;
  if (!is_signal(m, i)) return GA_SIGNAL_NONE;
  const int part = ga__part_of_signal(m->model, i);
  if (part == m->n_parts) return GA_SIGNAL_ENERGY;
  ga__channel_probe(m->model, part, i - m->model->signals.first[part], &probe);
  return KIND[probe.kind];
}

int ga_machine_signal_is_constant(const ga_machine *m, int i)
{
  ga__probe probe;
  if (!is_signal(m, i)) return 0;
  const int part = ga__part_of_signal(m->model, i);
  if (part == m->n_parts) return 0; /* energies */
  ga__channel_probe(m->model, part, i - m->model->signals.first[part], &probe);
  return ga__probe_is_constant(m->model, &probe);
}

int ga_machine_find_signal(const ga_machine *m, const char *name)
{
  return built_of(m) && name ? ga__signal_find(m->model, name) : -1;
}

static double energy_of(const ga_meter *meter, const ga__powers *now, double impact, double t, int what)
{
  if (what == GA__KINETIC) return now->kinetic;
  if (what == GA__POTENTIAL) return now->potential;
  if (!meter || !meter->started) return 0;
  double dissipated, input; /* from the meter's last state */
  ga__meter_span(meter, t, now->lost, now->in, &dissipated, &input);
  dissipated += meter->dissipated;
  input += meter->input + impact;
  if (what == GA__DISSIPATED) return dissipated;
  if (what == GA__INPUT) return input;
  return now->kinetic + now->potential + dissipated - input - meter->start;
}

/* Adds the turns that bring an angle nearest to the meter's prediction. */
static double with_turns(const ga_meter *meter, int turning, double t, double angle)
{
  if (!meter || !meter->started) return angle;
  const double expected =
      meter->angle[turning] + GA__TWO_PI * meter->turns[turning] + (t - meter->t) * meter->rate[turning];
  return angle + GA__TWO_PI * round((expected - angle) / GA__TWO_PI);
}

static ga_status fail_signal(const ga__workspace *work, int part, int channel, int code, double t)
{
  char name[2 * GA_TEXT_PIECE];
  if (part == work->m->n_parts)
    snprintf(name, sizeof name, "%s", ga__energy_name(channel));
  else
    name_channel(work->b, part, channel, name, sizeof name);
  return ga__refuse(work->ctx, code > 0 ? GA_RETRY_CALLBACK : GA_ERR_CALLBACK, GA_REASON_NO_VALUE,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1}, .field = "signal", .name = name});
}

ga_status ga_machine_signals(const ga_machine *m, const ga_meter *meter, const ga_state *s, int n,
                             const int *index, double *out)
{
  ga__powers now;
  ga__probe_cache cache;
  int have_powers = 0, part = 0;
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || (!out && (n > 0 || !index))) return ga__refuse_null(m->ctx, __func__, s ? "out" : "the state");
  if (meter && meter->m != m)
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_OF_THIS_MACHINE,
                      &(ga__facts){.function = __func__, .field = "meter"});
  if (!index) n = m->model->signals.n;
  ga_point p = ga__point_of(s);
  ga__workspace *work = meter ? meter->work : ga__workspace_own(m);
  const double impact = ga__impact_work(meter, s);
  const ga__eval e = ga__eval_at(work, &p, 1, 1);
  if (!s->a) p.y = ga__outputs_between(&e, s->y);
  const int *first = m->model->signals.first;
  ga__probe_cache_reset(&cache);
  for (int k = 0; k < n; k++) {
    const int i = index ? index[k] : k;
    ga__probe probe;
    int code = 0;
    if (!is_signal(m, i))
      return ga__refuse(work->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                        &(ga__facts){.function = __func__,
                                     .field = "index",
                                     .item = index ? k + 1 : 0,
                                     GA__NUMBERS({i, NULL}, {m->model->signals.n, NULL})});
    if (i < first[part] || i >= first[part + 1]) part = ga__part_of_signal(m->model, i);
    const int c = i - first[part];
    if (part == m->n_parts) {
      if (!have_powers) code = ga__elements_powers(&e, &now);
      have_powers = !code;
      out[k] = code ? NAN : energy_of(meter, &now, impact, s->t, c);
    } else {
      ga__channel_probe(m->model, part, c, &probe);
      code = ga__probe_read(&cache, &e, &probe, &out[k]);
      if (probe.turns >= 0) out[k] = with_turns(meter, probe.turns, s->t, out[k]);
    }
    if (code) return fail_signal(work, part, c, code, s->t);
  }
  return GA_OK;
}

/* ---- Poses and reactions ---- */

static ga_status named_frame(const ga_machine *m, ga_context *ctx, const char *function, const char *field,
                             const char *name, int *marker)
{
  const int part = ga__find_part(m, name);
  if (part < 0 || !ga__has_frame(m->model, part))
    return ga__refuse_unknown_argument(m, ctx, function, field, name, "a body or marker");
  *marker = m->model->part_marker[part];
  return GA_OK;
}

ga_status ga_machine_pose(const ga_machine *m, const ga_state *s, const char *frame, ga_pose *pose)
{
  int marker = -1;
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || !frame || !pose)
    return ga__refuse_null(m->ctx, __func__, !s ? "the state" : frame ? "pose" : "frame");
  ga_status status = named_frame(m, m->ctx, __func__, "frame", frame, &marker);
  if (status) return status;
  ga__marker_pose(m->model, marker, s->q, pose);
  return GA_OK;
}

/* 1: no multiplier of the joint is undetermined because of redundant constraints. */
static int is_unique(const ga__mbs_model *b, const ga__joint *joint, const ga_redundancy *redundancy)
{
  const unsigned char *shared = redundancy ? redundancy->lambda_shared : NULL;
  if (!shared) return 1;
  if (joint->point3 >= 0)
    for (int i = 0; i < 3; i++)
      if (shared[GA__AT(b->point3, ga__point3, joint->point3)->lambda + i]) return 0;
  for (int r = joint->first_row; r < joint->first_row + joint->n_rows; r++)
    if (shared[GA__AT(b->row, ga__row, r)->lambda]) return 0;
  return 1;
}

ga_status ga_machine_reaction(const ga_machine *m, ga_stepper *st, const char *joint, const char *axes,
                              double force[3], double torque[3], int *unique)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga_state *s = st ? ga_stepper_state(st) : NULL;
  if (!m->model || !s)
    return ga__refuse_order(m->ctx, __func__, m->model ? "after ga_stepper_start()" : GA__ONCE_BUILT);
  ga_context *ctx = ga__stepper_context(st);
  if (!joint || !force || !torque)
    return ga__refuse_null(ctx, __func__, !joint ? "joint" : force ? "torque" : "force");
  if (ga_stepper_system(st) != m->model->system)
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_OF_THIS_MACHINE,
                      &(ga__facts){.function = __func__, .field = "the stepper"});
  const int part = ga__find_part(m, joint);
  const ga__joint *at = part >= 0 ? ga__joint_of(m->model, part) : NULL;
  if (!at || at->a < 0)
    return ga__refuse_unknown_argument(m, ctx, __func__, "joint", joint, "a joint between frames");
  ga__probe probe = GA__NO_PROBE;
  probe.joint = m->model->part_joint[part];
  ga_status status = axes ? named_frame(m, ctx, __func__, "axes", axes, &probe.axes) : GA_OK;
  if (status) return status;
  const ga_point p = ga__point_of(s);
  const ga__eval e = ga__eval_at(ga__stepper_work(st), &p, 1, 1);
  for (probe.component = 0; probe.component < 3; probe.component++) {
    probe.kind = GA__PROBE_REACTION_FORCE;
    ga__probe_value(&e, &probe, &force[probe.component]);
    probe.kind = GA__PROBE_REACTION_TORQUE;
    ga__probe_value(&e, &probe, &torque[probe.component]);
  }
  if (unique) *unique = is_unique(m->model, at, ga_stepper_redundancy(st));
  return GA_OK;
}
