/* Gradients of measures by an adjoint of the run: which values along the run a measure is made of, with their
 * weights, and derivatives of these by states, from the last step to the first. The same numbers as by
 * measure_slopes.c: on the same dense output, with the same nodes of integrals. */
#include "study/measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A value of a channel that was seen. */
typedef struct sample {
  long step; /* number of the state at the end of its step; 0: the start */
  double t;
  int channel, slot; /* slot: whose value it is; −1: of a sum */
  double by[2];      /* weights in the integrals of the distance from the start, and of its square */
  size_t slope;      /* where derivatives by the channel's variables begin */
} sample;

/* What a measure is made of, for one channel. */
typedef struct share {
  double first, last, by[2]; /* factors of the values at the start, at the end, and of both integrals */
} share;

typedef struct ga__seeds {
  ga_adjoint *adjoint;
  ga__view view;
  int n;
  ga_measure_by *by; /* [n] */
  long step;         /* number of the last state */
  sample *at;
  size_t n_samples, room;
  double *slope;
  size_t n_slopes, room_slopes;
  share *share;           /* [channels] */
  double *factor;         /* [slots] derivatives of a measure by slots */
  double *gradient, *own; /* [n] of a measure; that through signals at fixed states */
  double *weight;         /* [n_signals] */
  double *value;          /* [n_signals] */
  double *y;              /* [n_channels] */
  double *slopes;         /* [most variables of a channel, or of a measure] */
  double *block;
  size_t next; /* sample to be seeded */
  double jump; /* [s] the time behind a restart, to which the last piece led; −∞: it was a step */
  char note[GA__MEASURE_NOTE];
} seeds;

static const int can[GA__N_MEASURES] = {
    [GA__MEASURE_MEAN] = 1,    [GA__MEASURE_RMS] = 1,   [GA__MEASURE_STD] = 1, [GA__MEASURE_INTEGRAL] = 1,
    [GA__MEASURE_INITIAL] = 1, [GA__MEASURE_FINAL] = 1, [GA__MEASURE_AT] = 1};

/* ---- Memory ---- */

void ga__seeds_destroy(ga_measures *m)
{
  seeds *s = m->seeds;
  if (!s) return;
  void *const blocks[] = {s->by, s->at, s->slope, s->share, s->block};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(m->ctx, blocks[i]);
  ga__free(m->ctx, s);
  m->seeds = NULL;
}

static ga_status allocate(ga_measures *m, seeds *s, const ga_measure_by *by)
{
  const size_t n = (size_t)s->n, channels = (size_t)m->n_channels, signals = (size_t)m->n_signals;
  const size_t most = GA__MOST_SIGNALS + GA__MOST_CALLS + 2 + (size_t)m->n_parameters;
  s->by = ga__alloc(m->ctx, n, sizeof *s->by);
  s->share = ga__alloc(m->ctx, channels + 1, sizeof *s->share);
  s->block = ga__alloc(m->ctx, 2 * n + 2 * signals + channels + (size_t)m->n_slots + most, sizeof *s->block);
  if (!s->by || !s->share || !s->block) return ga__no_memory(m->ctx, "gradients of measures");
  memcpy(s->by, by, n * sizeof *by);
  s->gradient = s->block;
  s->own = s->gradient + n;
  s->weight = s->own + n;
  s->value = s->weight + signals;
  s->y = s->value + signals;
  s->factor = s->y + channels;
  s->slopes = s->factor + m->n_slots;
  return GA_OK;
}

ga_status ga_measures_use_adjoint(ga_measures *measures, ga_adjoint *adjoint, int n, const ga_measure_by *by)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!adjoint || !by) return ga__refuse_null(m->ctx, __func__, !adjoint ? "adjoint" : "by");
  if (n < 1) return ga__refuse_number(m->ctx, "measures", "n", n, ">= 1");
  for (int j = 0; j < n; j++)
    if (by[j].parameter < -1 || by[j].parameter >= m->n_parameters)
      return ga__refuse_number(m->ctx, "measures", "parameter", by[j].parameter,
                               "−1, or the number of one of their parameters");
  ga__seeds_destroy(m);
  m->started = 0;
  seeds *s = m->seeds = ga__alloc(m->ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(m->ctx, "gradients of measures");
  s->adjoint = adjoint;
  s->n = n;
  const ga_status status = allocate(m, s, by);
  if (status) ga__seeds_destroy(m);
  return status;
}

static ga_status reserve(ga_measures *m, void **array, size_t *room, size_t n, size_t more, size_t bytes)
{
  if (n + more <= *room) return GA_OK;
  const size_t wanted = 2 * (n + more) + 64;
  void *grown = ga__alloc(m->ctx, wanted, bytes);
  if (!grown) return ga__no_memory(m->ctx, "gradients of measures");
  if (n) memcpy(grown, *array, n * bytes);
  ga__free(m->ctx, *array);
  *array = grown;
  *room = wanted;
  return GA_OK;
}

/* ---- Along a run ---- */

static void keep_note(seeds *s, const char *text)
{
  if (!*s->note) ga__cut_text(s->note, sizeof s->note, text);
}

/* Notes a value of a channel at a time within the last step, with its derivatives by the channel's variables.
 */
static ga_status add_sample(const ga__view *w, const sample *of)
{
  ga_measures *m = w->m;
  seeds *s = m->seeds;
  ga_state state;
  const int *list = NULL;
  const ga_expr *e = m->channel[of->channel].e;
  const int n = ga_expr_variables(e, &list);
  ga_status status = reserve(m, (void **)&s->at, &s->room, s->n_samples, 1, sizeof *s->at);
  if (!status)
    status = reserve(m, (void **)&s->slope, &s->room_slopes, s->n_slopes, (size_t)n, sizeof *s->slope);
  if (!status) status = ga__measures_look(w, of->t, s->y, &state);
  if (status) return status;
  if (n > 0 && ga_expr_gradient(e, m->x, n, list, NULL, s->slope + s->n_slopes, NULL))
    keep_note(s, "it has no derivative at some time");
  s->at[s->n_samples] = *of;
  s->at[s->n_samples].step = s->step;
  s->at[s->n_samples++].slope = s->n_slopes;
  s->n_slopes += (size_t)n;
  return GA_OK;
}

ga_status ga__seeds_start(const ga__view *w)
{
  ga_measures *m = w->m;
  seeds *s = m->seeds;
  if (!s) return GA_OK;
  s->view = *w;
  s->step = 0;
  s->jump = -INFINITY;
  s->n_samples = s->n_slopes = 0;
  s->note[0] = '\0';
  ga_status status = GA_OK;
  for (int i = 0; i < m->n_channels && !status; i++) /* the first samples: those of the start */
    status = add_sample(w, &(sample){.t = m->t, .channel = i, .slot = -1});
  return status;
}

void ga__seeds_piece(const ga__view *w, double end, int inside)
{
  seeds *s = w->m->seeds;
  if (!s) return;
  s->step++;
  s->jump = inside ? -INFINITY : end;
}

ga_status ga__seeds_leaf(const ga__view *w, int channel, int power, double a, double b)
{
  static const double boole[GA__POINTS] = {7.0 / 90, 32.0 / 90, 12.0 / 90, 32.0 / 90, 7.0 / 90};
  ga_measures *m = w->m;
  seeds *s = m->seeds;
  ga_status status = GA_OK;
  if (!s || s->jump >= b) return GA_OK; /* there is no integral over a jump */
  int wanted = 0;
  for (int k = 0; k < m->n_slots; k++)
    wanted |= m->slot[k].channel == channel && can[m->slot[k].kind] &&
              (power == 1 ? m->slot[k].kind == GA__MEASURE_MEAN || m->slot[k].kind == GA__MEASURE_INTEGRAL ||
                                m->slot[k].kind == GA__MEASURE_RMS || m->slot[k].kind == GA__MEASURE_STD
                          : m->slot[k].kind == GA__MEASURE_RMS || m->slot[k].kind == GA__MEASURE_STD);
  for (int k = 0; k < GA__POINTS && !status && wanted; k++) {
    sample of = {.t = k == GA__PARTS ? b : a + (b - a) * k / GA__PARTS, .channel = channel, .slot = -1};
    double *by = &of.by[power - 1];
    *by = boole[k] * (b - a);
    status = add_sample(w, &of);
    if (!status && power == 2)
      s->at[s->n_samples - 1].by[1] *= 2.0 * (s->y[channel] - m->channel[channel].first);
  }
  return status;
}

ga_status ga__seeds_slot(const ga__view *w, int slot, double t)
{
  if (!w->m->seeds) return GA_OK;
  t = fmax(t, w->m->seeds->jump);
  return add_sample(w, &(sample){.t = t, .channel = w->m->slot[slot].channel, .slot = slot});
}

ga_status ga__seeds_end(ga_measures *m)
{
  seeds *s = m->seeds;
  ga_status status = GA_OK;
  for (int k = 0; s && k < m->n_slots && !status; k++)
    if (m->slot[k].kind == GA__MEASURE_FINAL) status = ga__seeds_slot(&s->view, k, m->t);
  return status;
}

/* ---- What a measure is made of ---- */

/* Signals that are summed up along a run are no functions of a state. */
static int has_sum(const ga_measures *m, int channel)
{
  static const char *const names[] = {"energy.dissipated", "energy.input", "energy.balance"};
  const int *list = NULL;
  const int n = ga_expr_variables(m->channel[channel].e, &list);
  for (int k = 0; k < n; k++)
    for (size_t i = 0; list[k] < m->n_signals && i < sizeof names / sizeof *names; i++)
      if (m->signal[list[k]] == ga_machine_find_signal(m->machine, names[i])) return 1;
  return 0;
}

static void share_sums(const ga_measures *m, const ga__slot *slot, double factor, share *to)
{
  const ga__channel_seen *seen = &m->channel[slot->channel];
  const double span = m->t - m->t_start, mean = seen->sum / span, by = factor / span;
  switch (slot->kind) {
  case GA__MEASURE_MEAN:
    to->first += factor;
    to->by[0] += by;
    break;
  case GA__MEASURE_INTEGRAL:
    to->first += factor * span;
    to->by[0] += factor;
    break;
  case GA__MEASURE_RMS:
    to->first += factor * (seen->first + mean) / slot->value;
    to->by[0] += by * seen->first / slot->value;
    to->by[1] += 0.5 * by / slot->value;
    break;
  default:
    to->by[0] -= by * mean / slot->value;
    to->by[1] += 0.5 * by / slot->value;
  }
}

const char *ga_measures_adjoint_note(const ga_measures *measures, int i)
{
  const ga_measures *m = measures;
  const int *list = NULL;
  if (!m || i < 0 || i >= m->n) return NULL;
  const int n = ga_expr_variables(m->measure[i].e, &list);
  for (int k = 0; k < n; k++) {
    if (list[k] >= m->n_slots) continue;
    const ga__slot *slot = &m->slot[list[k]];
    if (!can[slot->kind])
      return "it has measures whose values are not sums over the run or values at given times";
    if (slot->depends) return "an argument of it depends on parameters";
    if (has_sum(m, slot->channel)) return "it has an energy that is summed up along the run";
  }
  return "";
}

/* Factors of everything that measure i is made of; 0: they are not finite, or there are none. */
static int find_shares(ga_measures *m, int i)
{
  seeds *s = m->seeds;
  const int *list = NULL;
  const int n = ga_expr_variables(m->measure[i].e, &list);
  for (int k = 0; k < m->n_slots; k++) s->factor[k] = 0.0;
  for (int c = 0; c < m->n_channels; c++) s->share[c] = (share){0};
  if (*m->measure[i].note || ga_expr_gradient(m->measure[i].e, m->z, n, list, NULL, s->slopes, NULL))
    return 0;
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < s->n; j++)
      if (list[k] == GA__MOST_CALLS + s->by[j].parameter && s->by[j].parameter >= 0)
        s->own[j] += s->slopes[k];
    if (list[k] >= m->n_slots) continue;
    const ga__slot *slot = &m->slot[list[k]];
    share *to = &s->share[slot->channel];
    const int of_root = slot->kind == GA__MEASURE_RMS || slot->kind == GA__MEASURE_STD;
    if (of_root && slot->value == 0.0) return 0;
    if (slot->kind == GA__MEASURE_INITIAL)
      to->first += s->slopes[k];
    else if (slot->kind == GA__MEASURE_FINAL || slot->kind == GA__MEASURE_AT)
      s->factor[list[k]] = s->slopes[k];
    else
      share_sums(m, slot, s->slopes[k], to);
  }
  for (size_t k = (size_t)m->n_channels; k < s->n_samples; k++) { /* sums are of distances from the start */
    const sample *of = &s->at[k];
    share *to = &s->share[of->channel];
    if (of->slot < 0) to->first -= to->by[0] * of->by[0] + to->by[1] * of->by[1];
  }
  return 1;
}

/* ---- Backwards ---- */

/* Through signals at a fixed state, which may depend on parameters themselves. */
static ga_status add_own(ga_measures *m, const ga_state *state)
{
  seeds *s = m->seeds;
  ga_status status = GA_OK;
  for (int j = 0; j < s->n && !status; j++) {
    const ga_model_variation *v = s->by[j].variation;
    const ga_machine *at[GA_PARAMETER_VALUES];
    if (!v) continue;
    for (int k = 0; k < GA_PARAMETER_VALUES; k++) at[k] = ga_model_variation_machine(v, k);
    status = ga_machine_signal_sensitivities(m->machine, at, ga_model_variation_parameter(v)->step, state,
                                             NULL, m->n_signals, m->signal, s->value);
    for (int i = 0; i < m->n_signals && !status; i++)
      if (s->weight[i] != 0.0) s->own[j] += s->weight[i] * s->value[i];
  }
  return status;
}

/* Of the values that belong to s->weight. */
static int seed_state(void *user, long step, const ga_state *state, ga_seed *out)
{
  ga_measures *m = user;
  (void)step;
  ga_status status =
      ga_machine_signal_gradient(m->machine, state, m->n_signals, m->signal, m->seeds->weight, out);
  if (!status) status = add_own(m, state);
  return status ? -1 : 0;
}

/* Weights of signals of all samples at one time; 0: all are 0. */
static int weigh(ga_measures *m, const sample *of)
{
  seeds *s = m->seeds;
  const share *from = &s->share[of->channel];
  const int *list = NULL;
  const int n = ga_expr_variables(m->channel[of->channel].e, &list);
  const int is_first = (size_t)(of - s->at) < (size_t)m->n_channels;
  const double factor = is_first        ? from->first
                        : of->slot >= 0 ? s->factor[of->slot]
                                        : from->by[0] * of->by[0] + from->by[1] * of->by[1];
  if (factor == 0.0) return 0;
  for (int k = 0; k < n; k++) {
    const double by = factor * s->slope[of->slope + (size_t)k];
    if (list[k] < m->n_signals) s->weight[list[k]] += by;
    for (int j = 0; j < s->n; j++)
      if (list[k] == GA__MOST_SIGNALS + 1 + s->by[j].parameter && s->by[j].parameter >= 0) s->own[j] += by;
  }
  return 1;
}

static int seed(void *user, long step, const ga_state *state, ga_seed *out)
{
  ga_measures *m = user;
  seeds *s = m->seeds;
  int code = 0;
  while (!code && s->next > 0 && s->at[s->next - 1].step == step) {
    const double t = s->at[s->next - 1].t;
    int any = 0;
    for (int i = 0; i < m->n_signals; i++) s->weight[i] = 0.0;
    while (s->next > 0 && s->at[s->next - 1].step == step && s->at[s->next - 1].t == t)
      any |= weigh(m, &s->at[--s->next]);
    if (!any) continue;
    if (step == 0 || t == state->t)
      code = seed_state(m, step, state, out);
    else
      code = ga_adjoint_inside(s->adjoint, t, seed_state, m) ? -1 : 0;
  }
  return code;
}

ga_status ga_measures_gradient(ga_measures *measures, int i, double *gradient)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!gradient) return ga__refuse_null(m->ctx, __func__, "gradient");
  seeds *s = m->seeds;
  if (!s || !m->started)
    return ga__refuse_order(m->ctx, __func__, "after ga_measures_use_adjoint() and a run");
  if (i < 0 || i >= m->n) return ga__refuse_number(m->ctx, "measures", "i", i, "the number of one of them");
  const char *why = ga_measures_adjoint_note(m, i);
  if (!*why && *s->note) why = s->note;
  if (*why)
    return ga__refuse(
        m->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SENSITIVITY,
        &(ga__facts){.at = &(ga__fact_time){m->t, NAN, -1, -1}, .kind = "measures", .detail = why});
  for (int j = 0; j < s->n; j++) s->own[j] = 0.0;
  if (!find_shares(m, i)) {
    for (int j = 0; j < s->n; j++) gradient[j] = NAN;
    return GA_OK;
  }
  s->next = s->n_samples;
  ga_status status = ga_adjoint_gradient(s->adjoint, seed, m, gradient);
  if (!status && s->next > 0)
    status =
        ga__refuse_order(m->ctx, __func__, "with ga_adjoint_step() and ga_measures_step() behind every step");
  for (int j = 0; j < s->n && !status; j++) gradient[j] += s->own[j];
  return status;
}
