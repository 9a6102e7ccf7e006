/* Channels: the signals of a part, by number and by name. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/name.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 512 }; /* name of a signal, its end included */

/* ---- Channels ---- */

void ga__signal_set(ga__signal_def *to, const char *name, const char *unit, ga__probe_kind kind,
                    int component)
{
  *to = (ga__signal_def){.name = name, .suffix = "", .unit = unit, .coordinate = -1, .probe = GA__NO_PROBE};
  to->probe.kind = kind;
  to->probe.component = component;
}

void ga__signal_set_reaction(ga__signal_def *to, int i, ga__probe_kind kind)
{
  static const char *const NAME[6] = {"fx", "fy", "fz", "mx", "my", "mz"};
  ga__signal_set(to, NAME[i], ga__motion_unit(i >= 3, GA_UNIT_FORCE), kind, i);
}

int ga__channels_count(const ga__mbs_model *b, int part)
{
  const ga__element_type *type = ga__type_of(&b->m->part[part]);
  return type->n_signals ? type->n_signals(b, part) : 0;
}

void ga__channel_get(const ga__mbs_model *b, int part, int c, ga__channel *to)
{
  ga__signal_def at;
  ga__type_of(&b->m->part[part])->signal(b, part, c, &at);
  if (at.number)
    snprintf(to->name, sizeof to->name, "%s%s%d", at.name, at.suffix, at.number);
  else
    snprintf(to->name, sizeof to->name, "%s%s", at.name, at.suffix);
  to->unit = at.unit;
  to->coordinate = at.coordinate;
  to->probe = at.probe;
}

void ga__channel_probe(const ga__mbs_model *b, int part, int c, ga__probe *to)
{
  ga__signal_def at;
  ga__type_of(&b->m->part[part])->signal(b, part, c, &at);
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

int ga__channel_find(const ga__mbs_model *b, const char *name, int *part, ga__channel *to, int *number,
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

/* Iterator over all names for ga__name_nearest(); i must ascend. */
typedef struct walk {
  const ga__mbs_model *b;
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

void ga__channel_nearest(const ga__mbs_model *b, const char *name, char nearest[GA_TEXT_PIECE])
{
  walk w = {.b = b, .part = -1};
  int n = GA__N_ENERGIES;
  for (int i = 0; i < b->m->n_parts; i++) n += ga__channels_count(b, i);
  ga__name_nearest(nearest, name, (int)strlen(name), walk_name, &w, n);
}
