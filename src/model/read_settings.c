/* Reads title, gravity, the form of rigid bodies, and the settings of a run. */
#include "model/settings.h"
#include "model/document.h"
#include "model/format.h"
#include "model/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGE_GRAVITY 100 /* [m/s²] more is suspicious */

void ga__read_globals(ga__reader *reader, ga__tree *root, ga__globals *out)
{
  ga__owner owner = {.kind = -1};
  ga__tree *version = ga__map_get(root, "galpha"), *title = ga__map_get(root, "title");
  ga__group keys;
  ga__messages *m = reader->r->messages;
  out->title = "";
  out->machine = ga_machine_defaults();
  if (version)
    ga__check_version(reader->r, version);
  else
    ga__report_error(
        m, root->at, GA_REASON_KEY_MISSING,
        &(ga__facts){.field = "galpha", .expected = "the line 'galpha: 1', the version of the format"});
  const size_t before = ga__messages_enter(m, "title");
  if (title) ga__value_text(reader->r, title, &out->title);
  ga__messages_leave(m, before);
  ga__setting_group(0, &keys);
  ga__read_fields(reader, root, keys.n, keys.fields, &owner, &out->machine);
  out->gives_gravity = ga__map_get(root, "gravity") != NULL;
  const double *g = out->machine.gravity, length = hypot(hypot(g[0], g[1]), g[2]);
  if (length > LARGE_GRAVITY)
    ga__report_warning(m, ga__map_get(root, "gravity")->at, GA_REASON_SUSPICIOUS_UNIT,
                       &(ga__facts){.field = "gravity", GA__NUMBERS({length, "m/s²"}), .expected = "mm/s^2"});
}

/* Place of a setting in the file, or of its map. */
static ga__place place_of(const ga__tree *map, const char *field)
{
  const ga__tree *at = ga__map_peek(map, field);
  return at ? at->at : map->key_at;
}

/* Reports settings that have no effect because of others. Settings of error control besides `step` are only a
 * warning, since both may be given for comparisons. */
static void find_unused(ga__reader *reader, const ga__tree *map, const ga_run_settings *s)
{
  ga_setting at;
  ga_error why;
  for (int i = 0; ga_setting_at(i, &at); i++) {
    const ga__tree *given = ga__map_peek(map, at.name);
    if (given && ga__setting_unused(&at, s, &why))
      ga__report_refused(reader->r->messages,
                         ga_setting_is_used(&at, s) ? GA_MESSAGE_WARNING : GA_MESSAGE_ERROR, given->key_at,
                         &why);
  }
}

static void suspect_length(ga__reader *reader, const ga__tree *map, const ga_run_settings *s)
{
  const double length = s->t_end - s->t_start;
  char detail[GA_TEXT_PIECE];
  if (!(s->step > length && length > 0)) return;
  snprintf(detail, sizeof detail, "more than the %g s from t_start to t_end", length);
  ga__report_warning(reader->r->messages, place_of(map, "step"), GA_REASON_SUSPICIOUS_NUMBER,
                     &(ga__facts){.field = "step", GA__NUMBERS({s->step, "s"}), .detail = detail});
}

/* Reports all errors of settings, each at its place. */
static void check_settings(ga__reader *reader, const ga__tree *map, const ga_run_settings *s)
{
  ga_context *ctx = reader->r->ctx;
  ga_status status = GA_OK;
  int faults = 0;
  for (int i = 0; ga_setting_at(i, NULL); i++) {
    if (!ga__setting_check(ctx, i, s)) continue;
    faults++;
    ga__report_refused(reader->r->messages, GA_MESSAGE_ERROR, place_of(map, ctx->error.field), &ctx->error);
  }
  if (faults) return;
  for (int i = 0; ga__settings_contradiction(ctx, i, s, &status); i++)
    if (status)
      ga__report_refused(reader->r->messages, GA_MESSAGE_ERROR, place_of(map, ctx->error.field), &ctx->error);
  find_unused(reader, map, s);
  suspect_length(reader, map, s);
}

/* Signals to record, which count as used. */
static void read_record(ga__reader *reader, const ga__tree *record, ga_run_settings *settings)
{
  const char **names;
  settings->n_record = 0;
  if (!record) return;
  const size_t before = ga__messages_enter(reader->r->messages, "record");
  if (ga__read_texts(reader, record, &settings->n_record, &names))
    settings->record = names;
  else
    settings->n_record = 0;
  ga__messages_leave(reader->r->messages, before);
  for (int i = 0; i < settings->n_record; i++) {
    ga__named *part = ga__directory_head(&reader->parts, settings->record[i], strlen(settings->record[i]));
    if (part) part->used = 1;
  }
}

/* Plain numbers; how many there must be is known once the machine is built. */
static void read_a0(ga__reader *reader, const ga__tree *list, ga_run_settings *settings)
{
  double *numbers = NULL;
  if (!list) return;
  const size_t before = ga__messages_enter(reader->r->messages, "a0");
  if (ga__expect_list(reader->r, list)) numbers = ga__room(reader, (size_t)list->n + 1, sizeof *numbers);
  if (numbers && ga__value_numbers(reader->r, list, list->n, NULL, numbers))
    settings->n_a0 = list->n, settings->a0 = numbers;
  ga__messages_leave(reader->r->messages, before);
}

static void read_simulation(ga__reader *reader, ga__tree *map, ga_run_settings *settings)
{
  static const char *const more[] = {"record", "a0"};
  ga__owner owner = {.kind = -1};
  int n;
  const ga__field *fields = ga__setting_fields(&n);
  if (!ga__expect_map(reader->r, map)) return;
  const int good = ga__read_fields(reader, map, n, fields, &owner, settings);
  read_record(reader, ga__map_get(map, "record"), settings);
  read_a0(reader, ga__map_get(map, "a0"), settings);
  ga__finish_keys(reader, map, n, fields, &owner, 2, more);
  if (good) check_settings(reader, map, settings);
  ga_run_choose_steps(settings, ga__map_get(map, "step") != NULL, ga__map_get(map, "tolerance") != NULL,
                      ga__map_get(map, "accuracy") != NULL);
}

void ga__read_settings(ga__reader *reader, ga__tree *root, ga_run_settings *settings)
{
  ga__tree *map = ga__map_get(root, "simulation");
  if (!map) return;
  const ga__concern outer = ga__messages_begin(reader->r->messages, "simulation", NULL);
  read_simulation(reader, map, settings);
  ga__messages_restore(reader->r->messages, &outer);
}
