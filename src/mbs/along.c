/* Beams and cables: their division into elements, the node of each marker, and loads along them. */
#include "mbs/along.h"
#include "mbs/element.h"
#include "mbs/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Positions closer to each other than this, relative to the length, share a node. */
#define SAME_PLACE 1e-6

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Positions at which part i requires a node of this part; returns their number, at most two. */
static int places_of(const ga_machine *m, int part, int i, double at[2])
{
  const char *name = m->part[part].name;
  const ga_marker_def *marker = m->part[i].kind == GA__PART_MARKER ? m->part[i].def : NULL;
  const ga_line_load_def *load = m->part[i].kind == GA__PART_LINE_LOAD ? m->part[i].def : NULL;
  if (marker && strcmp(marker->body, name) == 0) {
    at[0] = marker->pose.position[0];
    return 1;
  }
  if (!load || strcmp(load->body, name) != 0) return 0;
  at[0] = load->from, at[1] = load->to;
  return 2;
}

/* at[]: both ends and places of markers and loads between them, ascending; those that share a node once. */
static int list_places(const ga_machine *m, int part, double length, double *at)
{
  int n = 0, kept = 1;
  at[n++] = 0;
  for (int i = 1; i < m->n_parts; i++) {
    double s[2];
    for (int k = 0, count = places_of(m, part, i, s); k < count; k++) /* NaN: an end of the part */
      if (s[k] > SAME_PLACE * length && s[k] < (1 - SAME_PLACE) * length) at[n++] = s[k];
  }
  qsort(at + 1, (size_t)n - 1, sizeof *at, ascending);
  for (int i = 1; i < n; i++)
    if (at[i] - at[kept - 1] > SAME_PLACE * length) at[kept++] = at[i];
  at[kept++] = length;
  return kept;
}

/* Number of elements between two positions, close to an even division. */
static int elements_between(int elements, double length, double from, double to)
{
  const long n = lround(elements * (to - from) / length);
  return n < 1 ? 1 : (int)n;
}

ga_status ga__along_divide(ga_machine *m, int part, double length, int elements, int *n, double **s)
{
  double *at = ga__alloc(m->ctx, 2 * (size_t)m->n_parts + 2, sizeof *at);
  if (!at) return ga__no_memory(m->ctx, "nodes along a part");
  const int n_places = list_places(m, part, length, at);
  *n = 0;
  for (int i = 0; i + 1 < n_places; i++) *n += elements_between(elements, length, at[i], at[i + 1]);
  *s = ga__alloc(m->ctx, (size_t)*n + 1, sizeof **s);
  for (int i = 0, k = 0; *s && i + 1 < n_places; i++) {
    const int between = elements_between(elements, length, at[i], at[i + 1]);
    for (int j = 0; j < between; j++) (*s)[k++] = at[i] + j * ((at[i + 1] - at[i]) / between);
  }
  if (*s) (*s)[*n] = length;
  ga__free(m->ctx, at);
  return *s ? GA_OK : ga__no_memory(m->ctx, "nodes along a part");
}

/* The node nearest to a position. */
static int nearest(const double *s, int n, double at)
{
  int low = 0, high = n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (s[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return at - s[low] <= s[high] - at ? low : high;
}

ga_status ga__along_find(ga_machine *m, int part, const double *s, int n, double at, int *node)
{
  const double length = s[n], slack = SAME_PLACE * length;
  if (!(at >= -slack && at <= length + slack))
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_OFF_BEAM,
                      &(ga__facts){.field = "position",
                                   .name = m->part[part].name,
                                   .other = ga__part_text(m->part[part].kind),
                                   GA__NUMBERS({at, "m"}, {length, "m"})});
  *node = nearest(s, n, at);
  return GA_OK;
}

int ga__along_of(const ga__mbs_model *b, int part, ga__along *out)
{
  const ga__part_kind kind = b->m->part[part].kind;
  if (kind != GA__PART_BEAM && kind != GA__PART_CABLE) return 0;
  *out = kind == GA__PART_BEAM ? ga__beam_along(b, part) : ga__cable_along(b, part);
  return 1;
}

ga_status ga__along_want(ga__mbs_model *b, int first, int n)
{
  ga_status status = GA_OK;
  for (int i = 0; i < 4 * n && !status; i++)
    status = ga__want_block(b, first + i / 4 + i % 4 / 2, first + i / 4 + i % 2, 1);
  return status;
}

void ga__along_bind(ga__mbs_model *b, int first, int n, int *pair)
{
  for (int i = 0; i < 4 * n; i++)
    pair[i] = ga__find_pair(&b->pattern, first + i / 4 + i % 4 / 2, first + i / 4 + i % 2);
}

int ga__along_columns(const ga__mbs_model *b, int first, int n_nodes, int size, int *column, int room)
{
  int n = 0;
  for (int k = 0; k < n_nodes; k++)
    for (int c = 0; c < size; c++, n++)
      if (n < room) column[n] = GA__AT(b->node, ga__node, first + k)->v + c;
  return n;
}

/* ---- Loads ---- */

static int is_load_on(const ga_machine *m, int part, int i)
{
  const ga_line_load_def *d = m->part[i].kind == GA__PART_LINE_LOAD ? m->part[i].def : NULL;
  return d && strcmp(d->body, m->part[part].name) == 0;
}

/* Inputs of a load; moment NULL: it has none. */
static ga_status resolve(ga_machine *m, ga__mbs_model *b, ga__line_load *load, const ga_input *force,
                         const ga_input *moment)
{
  const ga__part *asking = &m->part[load->part];
  ga_status status = GA_OK;
  for (int i = 0; i < 6; i++) load->value[i] = (ga__input){.y = -1, .part = load->part};
  for (int i = 0; i < (moment ? 6 : 3) && !status; i++) {
    status = ga__resolve_input(m, b, asking, i < 3 ? "load" : "moment", i < 3 ? &force[i] : &moment[i - 3],
                               &load->value[i]);
    status = ga__name_item(m->ctx, status, i % 3, NULL);
  }
  return status;
}

static ga_status refuse_place(const ga_machine *m, int part, const char *field, double value, double length)
{
  return ga__refuse_part(m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
                         (ga__facts){.field = field,
                                     .expected = "along the part that it acts on",
                                     GA__NUMBERS({value, "m"}, {0, "m"}, {length, "m"})});
}

static int is_zero(const ga_input in[3])
{
  int zero = 1;
  for (int i = 0; i < 3; i++) zero &= in[i].value == 0 && !in[i].function && !in[i].expression;
  return zero;
}

/* A load that is a part of its own (line_load): its stretch of the part that it acts on. */
static ga_status place_load(ga_machine *m, ga__mbs_model *b, int on, const double *s, int n,
                            ga__line_load *load)
{
  const ga_line_load_def *d = m->part[load->part].def;
  const double length = s[n], from = isnan(d->from) ? 0 : d->from, to = isnan(d->to) ? length : d->to;
  const int turns = m->part[on].kind == GA__PART_BEAM;
  const double slack = SAME_PLACE * length;
  if (!(from >= -slack && from <= length + slack)) return refuse_place(m, load->part, "from", from, length);
  if (!(to >= -slack && to <= length + slack)) return refuse_place(m, load->part, "to", to, length);
  if (!turns && (!is_zero(d->moment) || d->axes == GA_AXES_BODY))
    return ga__refuse_part(
        m->ctx, &m->part[load->part], GA_ERR_ARGUMENT, GA_REASON_CABLE_CANNOT_TURN,
        (ga__facts){.field = d->axes == GA_AXES_BODY ? "axes" : "moment", .name = d->body});
  load->in_section = d->axes == GA_AXES_BODY;
  load->first = nearest(s, n, from);
  load->last = nearest(s, n, to);
  if (load->first >= load->last)
    return ga__refuse_part(
        m->ctx, &m->part[load->part], GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
        (ga__facts){.field = "to", .expected = "beyond from", GA__NUMBERS({to, "m"}, {from, "m"})});
  return resolve(m, b, load, d->load, d->moment);
}

ga_status ga__line_loads_create(ga_machine *m, ga__mbs_model *b, int part, const double *s, int n,
                                int first_node, ga__line_loads *out)
{
  const ga_input *force = ga__part_member(&m->part[part], "load", NULL),
                 *moment = ga__part_member(&m->part[part], "moment", NULL);
  const ga_axes *axes = ga__part_member(&m->part[part], "axes", NULL);
  const int own = !is_zero(force) || (moment && !is_zero(moment));
  int count = own;
  for (int i = 1; i < m->n_parts; i++) count += is_load_on(m, part, i);
  *out = (ga__line_loads){.n_nodes = n + 1, .first_node = first_node};
  if (count == 0) return GA_OK;
  out->at = ga__alloc(m->ctx, (size_t)count, sizeof *out->at);
  out->port = ga__alloc(m->ctx, 6 * (size_t)count * (size_t)(n + 1), sizeof *out->port);
  if (!out->at || !out->port) return ga__no_memory(m->ctx, "loads along a part");
  ga_status status = GA_OK;
  if (own) {
    out->at[out->n] =
        (ga__line_load){.part = part, .first = 0, .last = n, .in_section = axes && *axes == GA_AXES_BODY};
    status = resolve(m, b, &out->at[out->n++], force, moment);
  }
  for (int i = 1; i < m->n_parts && !status; i++) {
    if (!is_load_on(m, part, i)) continue;
    out->at[out->n].part = i;
    status = place_load(m, b, part, s, n, &out->at[out->n++]);
  }
  return status;
}

void ga__line_loads_free(ga_context *ctx, ga__line_loads *loads)
{
  ga__free(ctx, loads->at);
  ga__free(ctx, loads->port);
  loads->at = NULL, loads->port = NULL;
}

/* Component c of load l at a node; none if it is no output or does not reach the node. */
static int is_port(const ga__line_load *load, int c, int node)
{
  return load->value[c].y >= 0 && node >= load->first && node <= load->last;
}

ga_status ga__line_loads_want(ga__mbs_model *b, const ga__line_loads *loads)
{
  ga_status status = GA_OK;
  for (int i = 0; i < 6 * loads->n * loads->n_nodes && !status; i++) {
    const ga__line_load *load = &loads->at[i / 6 / loads->n_nodes];
    const int node = i / 6 % loads->n_nodes;
    if (is_port(load, i % 6, node))
      status = ga__want_port(&b->pattern, loads->first_node + node, ga__column_y(b, load->value[i % 6].y));
  }
  return status;
}

ga_status ga__line_loads_bind(ga__mbs_model *b, ga__line_loads *loads)
{
  for (int i = 0; i < 6 * loads->n * loads->n_nodes; i++) {
    const ga__line_load *load = &loads->at[i / 6 / loads->n_nodes];
    const int node = i / 6 % loads->n_nodes;
    loads->port[i] = is_port(load, i % 6, node) ? ga__find_port(&b->pattern, loads->first_node + node,
                                                                ga__column_y(b, load->value[i % 6].y))
                                                : -1;
  }
  return GA_OK;
}

int ga__line_loads_values(const ga__eval *e, const ga__line_loads *loads, double *value)
{
  for (int i = 0; i < 6 * loads->n; i++) {
    const ga__input *in = &loads->at[i / 6].value[i % 6];
    const int status = ga__input_value(e, in, &value[i]);
    if (status) return status;
    if (in->y < 0) value[i] *= ga__load_factor(e);
  }
  return 0;
}

void ga__line_loads_sum(const ga__line_loads *loads, const double *value, int i, double sum[12])
{
  memset(sum, 0, 12 * sizeof *sum);
  for (int k = 0; k < loads->n; k++) {
    const ga__line_load *load = &loads->at[k];
    for (int c = 0; i >= load->first && i < load->last && c < 6; c++)
      sum[(load->in_section ? 6 : 0) + c] += value[6 * k + c];
  }
}

int ga__line_loads_columns(const ga__mbs_model *b, const ga__line_loads *loads, int i, int *column, int n,
                           int room)
{
  for (int j = 0; j < 6 * loads->n; j++) {
    const ga__line_load *load = &loads->at[j / 6];
    if (!ga__line_load_feeds(load, j % 6, i)) continue;
    if (n < room) column[n] = ga__column_y(b, load->value[j % 6].y);
    n++;
  }
  return n;
}

int ga__line_loads_use(const ga__line_loads *loads, int i, ga__input **in)
{
  *in = i < 6 * loads->n ? &loads->at[i / 6].value[i % 6] : NULL;
  return i < 6 * loads->n;
}

const char *ga__line_loads_unit(const ga__line_loads *loads, int y)
{
  for (int i = 0; i < 6 * loads->n; i++)
    if (loads->at[i / 6].value[i % 6].y == y) return i % 6 < 3 ? "N/m" : "N";
  return "";
}

/* The part itself has no equations: the part that it acts on evaluates it. */
static ga_status check_body(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_line_load_def *d = m->part[part].def;
  const int on = ga__find_part(m, d->body);
  (void)b;
  if (on >= 0 && (m->part[on].kind == GA__PART_BEAM || m->part[on].kind == GA__PART_CABLE)) return GA_OK;
  return ga__refuse_unknown(m, &m->part[part], "body", d->body, "a beam or cable");
}

const ga__element_type ga__line_load_type = {.create = {[GA__CREATE_FORCES] = check_body}};
