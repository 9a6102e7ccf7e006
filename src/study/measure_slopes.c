/* Derivatives of measures by parameters, beside a sensitivity of the run: of the numbers that the measures
 * themselves are, on the same dense output and by the same rules of integration. Values at extremes: the
 * derivative at their time (envelope theorem). Times at which something happens, g(t, p) = 0: dt/dp =
 * −(∂g/∂p)/(∂g/∂t).
 *
 * Steps that end at an event or at a break of a function of time end at a time T(p). A value there, as the
 * extreme at a corner or the last one of a run that an event ends, moves with it: dy/dp = ∂y/∂p + ẏ dT/dp. An
 * integral over times before and behind has the derivative ∫ ∂y/∂p dt + (y⁻ − y⁺) dT/dp. */
#include "study/measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIE 1e-7     /* [-] of the range: maxima that differ less are equal */
#define VALLEY 1e-6  /* [-] of the range: maxima with less between them are one */
#define WINDOW 0.125 /* [-] of the step: where derivatives by time are taken */
#define LEVEL 1e-3   /* [-] slope at an extreme, over the range in its step: more is a corner */
#define FLAT 1e-11   /* [-] bend in its step, over the value: less is rounding */
#define SAME 1e-6    /* [-] by which derivatives of equal maxima may differ */
#define NEAR 1e-9    /* [-] of the time: values closer to an event than this are at it */

typedef struct channel_slopes { /* arrays [n] */
  double *first, *now, *best[2], *rival[2], *sum, *squares;
  double *time[2]; /* of the times of the extremes */
  double *piece;   /* [n_pieces × GA__POINTS × n] of the history */
  long n_pieces, room;
  double valley[2];            /* since the best one: the lowest value */
  double t_rival[2];           /* of an extreme as high as the best one; NaN: none */
  int at_end[2];               /* 1: the extreme is at the end of a step, and may be an edge of that alone */
  int corner[2];               /* 1: the extreme is at a corner, so that its time has no derivative */
  char note[GA__MEASURE_NOTE]; /* why it has no derivatives; "": it has */
} channel_slopes;

typedef struct slot_slopes {
  double *value; /* [n] */
  char note[GA__MEASURE_NOTE];
} slot_slopes;

typedef struct ga__slopes {
  ga_sensitivity *se;
  ga_stepper *st; /* of the start */
  int n;
  ga_measure_by *by; /* [n] */
  double *block;     /* all arrays but histories */
  double *signal;    /* [n × n_signals] */
  double *points;    /* [GA__POINTS × n_channels × n] of the present step */
  double *at;        /* [n_channels × n] at one time */
  double *moving;    /* [n_channels × n] at the present state, as its time moves */
  double *rate;      /* [n_signals] of signals by time alone */
  double *dt;        /* [n] of the time of the present state */
  double span;       /* [s] of the last step */
  double t_moving;   /* [s] of the last event or break that parameters move; NaN: none */
  int ended;         /* 1: an event has ended the run */
  double *y;         /* [n_channels] */
  double *gradient;  /* [GA__MOST_SIGNALS + GA__MOST_CALLS + parameters] */
  double *result;    /* [n_measures × n] */
  double *work;      /* [4 × n] */
  channel_slopes *channel;
  slot_slopes *slot;
  char (*note)[GA__MEASURE_NOTE]; /* [n_measures] */
  int wants_points;
} slopes;

/* ---- Memory ---- */

void ga__slopes_destroy(ga_measures *m)
{
  slopes *s = m->slopes;
  if (!s) return;
  for (int i = 0; s->channel && i < m->n_channels; i++) ga__free(m->ctx, s->channel[i].piece);
  void *const blocks[] = {s->by, s->block, s->channel, s->slot, s->note};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(m->ctx, blocks[i]);
  ga__free(m->ctx, s);
  m->slopes = NULL;
}

static void lay_out(const ga_measures *m, slopes *s)
{
  enum { OF_CHANNEL = 10 };
  const size_t n = (size_t)s->n, channels = (size_t)m->n_channels;
  double *at = s->block;
  for (size_t i = 0; i < channels; i++) {
    channel_slopes *c = &s->channel[i];
    double **const arrays[OF_CHANNEL] = {&c->first,    &c->now,     &c->best[0], &c->best[1], &c->rival[0],
                                         &c->rival[1], &c->time[0], &c->time[1], &c->sum,     &c->squares};
    for (int k = 0; k < OF_CHANNEL; k++) *arrays[k] = at, at += n;
  }
  for (int i = 0; i < m->n_slots; i++) s->slot[i].value = at, at += n;
  s->signal = at, at += n * (size_t)m->n_signals;
  s->points = at, at += GA__POINTS * channels * n;
  s->at = at, at += channels * n;
  s->moving = at, at += channels * n;
  s->rate = at, at += m->n_signals;
  s->dt = at, at += n;
  s->y = at, at += channels;
  s->result = at, at += (size_t)m->n * n;
  s->work = at, at += 4 * n;
  s->gradient = at;
}

static ga_status allocate(ga_measures *m, slopes *s, const ga_measure_by *by)
{
  const size_t n = (size_t)s->n, channels = (size_t)m->n_channels;
  const size_t room = n * (10 * channels + (size_t)m->n_slots + (size_t)m->n_signals + GA__POINTS * channels +
                           2 * channels + (size_t)m->n + 5) +
                      (size_t)m->n_signals + channels + GA__MOST_SIGNALS + GA__MOST_CALLS +
                      (size_t)m->n_parameters + 2;
  s->by = ga__alloc(m->ctx, n, sizeof *s->by);
  s->block = ga__alloc(m->ctx, room, sizeof *s->block);
  s->channel = ga__alloc(m->ctx, channels + 1, sizeof *s->channel);
  s->slot = ga__alloc(m->ctx, (size_t)m->n_slots + 1, sizeof *s->slot);
  s->note = ga__alloc(m->ctx, (size_t)m->n + 1, sizeof *s->note);
  if (!s->by || !s->block || !s->channel || !s->slot || !s->note)
    return ga__no_memory(m->ctx, "derivatives of measures");
  memcpy(s->by, by, n * sizeof *by);
  lay_out(m, s);
  for (int i = 0; i < m->n_channels; i++)
    s->wants_points |= m->channel[i].see & (GA__SEE_SUMS | GA__SEE_HISTORY);
  return GA_OK;
}

ga_status ga_measures_differentiate(ga_measures *measures, ga_sensitivity *se, int n, const ga_measure_by *by)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!se || !by) return ga__refuse_null(m->ctx, __func__, !se ? "se" : "by");
  if (n < 1) return ga__refuse_number(m->ctx, "measures", "n", n, ">= 1");
  for (int j = 0; j < n; j++)
    if (by[j].parameter < -1 || by[j].parameter >= m->n_parameters)
      return ga__refuse_number(m->ctx, "measures", "parameter", by[j].parameter,
                               "−1, or the number of one of their parameters");
  ga__slopes_destroy(m);
  m->started = 0;
  slopes *s = m->slopes = ga__alloc(m->ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(m->ctx, "derivatives of measures");
  s->se = se;
  s->n = n;
  const ga_status status = allocate(m, s, by);
  if (status) ga__slopes_destroy(m);
  return status;
}

/* ---- Slopes of channels at a time ---- */

static void keep_note(char note[GA__MEASURE_NOTE], const char *text)
{
  if (!*note) ga__cut_text(note, GA__MEASURE_NOTE, text);
}

/* Signals that are summed up along a run are no functions of a state. */
static int is_sum(const ga_measures *m, int signal)
{
  static const char *const names[] = {"energy.dissipated", "energy.input", "energy.balance"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ga_machine_find_signal(m->machine, names[i]) == signal) return 1;
  return 0;
}

/* All channels of one signal have no derivatives. */
static void refuse_signal(ga_measures *m, int signal, double t)
{
  char text[GA__MEASURE_NOTE];
  const char *name = ga_machine_signal_name(m->machine, m->signal[signal]);
  if (!name) name = "a signal"; /* there is no memory for its name */
  if (is_sum(m, m->signal[signal]))
    snprintf(text, sizeof text, "%.60s is summed up along the run", name);
  else
    snprintf(text, sizeof text, "%.60s has a corner or a jump at t = %.6g s", name, t);
  for (int i = 0; i < m->n_channels; i++) {
    const int *list = NULL;
    const int n = ga_expr_variables(m->channel[i].e, &list);
    for (int k = 0; k < n; k++)
      if (list[k] == signal) keep_note(m->slopes->channel[i].note, text);
  }
}

static ga_status slope_signals(const ga__view *w, int j, const ga_state *s, const ga_state *d, double *out)
{
  const ga_measures *m = w->m;
  const ga_measure_by *by = &m->slopes->by[j];
  const ga_machine *at[GA_PARAMETER_VALUES];
  const ga_direction along = {d->q, d->v, d->vdot, d->lambda, d->psi, d->x, d->y};
  const ga_parameter *p = by->variation ? ga_model_variation_parameter(by->variation) : NULL;
  for (int k = 0; k < GA_PARAMETER_VALUES && p; k++) at[k] = ga_model_variation_machine(by->variation, k);
  const double step = p ? p->step : 1.0;
  ga__mute_errors(m->ctx);
  ga_status status = ga_machine_signal_sensitivities(m->machine, p ? at : NULL, step, s, &along, m->n_signals,
                                                     m->signal, out);
  for (int i = 0; status == GA_ERR_DERIVATIVE && i < m->n_signals; i++) { /* which of them? */
    const ga_status one = ga_machine_signal_sensitivities(m->machine, p ? at : NULL, step, s, &along, 1,
                                                          &m->signal[i], &out[i]);
    if (one == GA_ERR_DERIVATIVE) {
      out[i] = NAN;
      refuse_signal(w->m, i, s->t);
    } else if (one) {
      status = one;
    }
  }
  ga__unmute_errors(m->ctx);
  return status == GA_ERR_DERIVATIVE ? GA_OK : status;
}

/* Slopes of a channel from those of signals; m->x has the values. dt: of the time; NULL: it is fixed. */
static void slope_channel(const ga_measures *m, int i, const double *dt, double *out)
{
  slopes *s = m->slopes;
  const int *list = NULL;
  const int n = ga_expr_variables(m->channel[i].e, &list);
  for (int j = 0; j < s->n; j++) out[j] = 0.0;
  if (n == 0) return;
  if (ga_expr_gradient(m->channel[i].e, m->x, n, list, NULL, s->gradient, NULL)) {
    keep_note(s->channel[i].note, "it has no derivative at some time");
    for (int j = 0; j < s->n; j++) out[j] = NAN;
    return;
  }
  for (int k = 0; k < n; k++)
    for (int j = 0; j < s->n; j++) {
      if (s->gradient[k] == 0.0) continue;
      if (list[k] < GA__MOST_SIGNALS) out[j] += s->gradient[k] * s->signal[j * m->n_signals + list[k]];
      if (list[k] == GA__MOST_SIGNALS && dt) out[j] += s->gradient[k] * dt[j];
      if (list[k] == GA__MOST_SIGNALS + 1 + s->by[j].parameter && s->by[j].parameter >= 0)
        out[j] += s->gradient[k];
    }
}

/* Slopes of all channels at a time within the last step, out[n_channels × n]; their values in s->y. */
static ga_status slope_at(const ga__view *w, double t, double *out)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  ga_state state;
  ga_status status = ga__measures_look(w, t, s->y, &state);
  const int inside = t != ga_stepper_state(w->st)->t;
  for (int j = 0; j < s->n && !status; j++) {
    const ga_state *d = ga_sensitivity_at(s->se, j);
    if (inside) status = ga_sensitivity_inside(s->se, j, t, &d);
    if (!status && !d) status = ga__refuse_order(m->ctx, "ga_measures_step", "after ga_sensitivity_step()");
    if (!status) status = slope_signals(w, j, &state, d, s->signal + (size_t)j * (size_t)m->n_signals);
  }
  for (int i = 0; i < m->n_channels && !status; i++)
    slope_channel(m, i, NULL, out + (size_t)i * (size_t)s->n);
  return status;
}

static void copy(const slopes *s, double *to, const double *from)
{
  memcpy(to, from, (size_t)s->n * sizeof *to);
}

/* ---- Times that move ---- */

/* s->dt; 1: some are not 0. */
static int times_move(const slopes *s)
{
  int move = 0;
  for (int j = 0; j < s->n; j++) move |= (s->dt[j] = ga_sensitivity_time(s->se, j)) != 0.0;
  return move;
}

/* 1: the present state is at an event or a break, or behind it. */
static int is_place(const slopes *s)
{
  return ga_sensitivity_place(s->se) != GA_PLACE_STEP;
}

static ga_status rate_signals(const ga__view *w, const ga_state *state)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  const double span = s->span > 0.0 ? s->span : 1e-9;
  ga__mute_errors(m->ctx);
  ga_status status = ga_machine_signal_rates(m->machine, span, state, m->n_signals, m->signal, s->rate);
  for (int i = 0; status == GA_ERR_DERIVATIVE && i < m->n_signals; i++) {
    const ga_status one = ga_machine_signal_rates(m->machine, span, state, 1, &m->signal[i], &s->rate[i]);
    if (one == GA_ERR_DERIVATIVE) {
      s->rate[i] = NAN;
      refuse_signal(m, i, state->t);
    } else if (one) {
      status = one;
    }
  }
  ga__unmute_errors(m->ctx);
  return status == GA_ERR_DERIVATIVE ? GA_OK : status;
}

/* s->moving: slopes of all channels at the present state, as its time moves. */
static ga_status slope_moving(const ga__view *w)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  ga_state state;
  ga_status status = ga__measures_look(w, ga_stepper_state(w->st)->t, s->y, &state);
  const int move = times_move(s);
  for (int i = 0; i < m->n_signals; i++) s->rate[i] = 0.0;
  if (!status && move) status = rate_signals(w, &state);
  for (int j = 0; j < s->n && !status; j++) {
    const ga_state *d = ga_sensitivity_moving(s->se, j);
    double *out = s->signal + (size_t)j * (size_t)m->n_signals;
    status = d ? slope_signals(w, j, &state, d, out)
               : ga__refuse_order(m->ctx, "ga_measures_step", "after ga_sensitivity_step()");
    for (int i = 0; i < m->n_signals && !status && s->dt[j] != 0.0; i++) out[i] += s->dt[j] * s->rate[i];
  }
  for (int i = 0; i < m->n_channels && !status; i++)
    slope_channel(m, i, s->dt, s->moving + (size_t)i * (size_t)s->n);
  return status;
}

/* A slot has no derivatives. */
static void refuse_slot(const ga_measures *m, int slot, const char *text)
{
  const slopes *s = m->slopes;
  keep_note(s->slot[slot].note, text);
  for (int j = 0; j < s->n; j++) s->slot[slot].value[j] = NAN;
}

static int is_near(const ga_measures *m, double t, double at)
{
  return fabs(t - at) <= NEAR * fmax(fabs(at), at - m->t_start);
}

#define MOVED "its time is that of an event or a jump, which parameters move"

/* Values at a given time that is that of a jump: on its two sides they are others, or have other slopes. */
static ga_status compare_sides(const ga__view *w, int channel, const ga__piece_seen *piece)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  const double size = NEAR * m->channel[channel].peak, *behind = s->at + (size_t)channel * (size_t)s->n;
  if (!times_move(s)) return GA_OK;
  for (int k = 0; k < m->n_slots; k++) {
    const ga__slot *slot = &m->slot[k];
    if (slot->kind != GA__MEASURE_AT || slot->channel != channel || !is_near(m, slot->arg[0], piece->t))
      continue;
    const ga_status status = slope_at(w, piece->t, s->at);
    if (status) return status;
    int differs = fabs(piece->y[GA__PARTS] - piece->y[0]) > size;
    for (int j = 0; j < s->n; j++) {
      const double a = s->slot[k].value[j], b = behind[j];
      differs |= !(fabs(a - b) <= SAME * (fabs(a) + fabs(b)));
    }
    if (differs) refuse_slot(m, k, MOVED);
  }
  return GA_OK;
}

/* What the times before and behind the present one add to the integrals of a channel: y⁻, y⁺ there. */
static void add_boundary(const ga_measures *m, int channel, double before, double behind)
{
  slopes *s = m->slopes;
  channel_slopes *c = &s->channel[channel];
  const double a = before - m->channel[channel].first, b = behind - m->channel[channel].first;
  if (!times_move(s)) return;
  for (int j = 0; j < s->n; j++) {
    c->sum[j] += (a - b) * s->dt[j];
    c->squares[j] += (a * a - b * b) * s->dt[j];
  }
}

/* ---- Derivatives by time ---- */

/* Weights of nodes x[0..count) for the derivatives 0, 1, 2 at 0 (Fornberg 1988). */
static void weigh_nodes(int count, const double *x, double weight[3][GA__POINTS])
{
  double c1 = 1.0;
  memset(weight, 0, 3 * sizeof *weight);
  weight[0][0] = 1.0;
  for (int i = 1; i < count; i++) {
    double c2 = 1.0;
    const int order = i < 2 ? i : 2;
    for (int j = 0; j < i; j++) {
      const double c3 = x[i] - x[j];
      c2 *= c3;
      if (j == i - 1) {
        for (int k = order; k > 0; k--)
          weight[k][i] = c1 * (k * weight[k - 1][i - 1] - x[i - 1] * weight[k][i - 1]) / c2;
        weight[0][i] = -c1 * x[i - 1] * weight[0][i - 1] / c2;
      }
      for (int k = order; k > 0; k--) weight[k][j] = (x[i] * weight[k][j] - k * weight[k - 1][j]) / c3;
      weight[0][j] = x[i] * weight[0][j] / c3;
    }
    c1 = c2;
  }
}

/* Value and two derivatives by time of a channel at a time within the step seen at t[GA__POINTS], and the
 * rate of its slopes; slope_rate may be NULL. */
static ga_status rates_at(const ga__view *w, int channel, double at, const double *t, double rate[3],
                          double *slope_rate)
{
  slopes *s = w->m->slopes;
  const double h = t[GA__PARTS] - t[0], width = WINDOW * h;
  double begin = fmin(fmax(at - 0.5 * width, t[0]), t[GA__PARTS] - width), x[GA__POINTS],
         weight[3][GA__POINTS];
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS; k++) x[k] = (begin - at + width * k / GA__PARTS) / h;
  weigh_nodes(GA__POINTS, x, weight);
  rate[0] = rate[1] = rate[2] = 0.0;
  for (int j = 0; j < s->n && slope_rate; j++) slope_rate[j] = 0.0;
  for (int k = 0; k < GA__POINTS && !status; k++) {
    const double time = fmin(fmax(at + x[k] * h, t[0]), t[GA__PARTS]);
    ga_state state;
    status = slope_rate ? slope_at(w, time, s->at) : ga__measures_look(w, time, s->y, &state);
    for (int order = 0; order < 3; order++) rate[order] += weight[order][k] * s->y[channel];
    for (int j = 0; j < s->n && slope_rate; j++)
      slope_rate[j] += weight[1][k] * s->at[channel * s->n + j] / h;
  }
  rate[1] /= h;
  rate[2] /= h * h;
  return status;
}

/* ---- Along a run ---- */

ga_status ga__slopes_start(const ga__view *w)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  if (!s) return GA_OK;
  s->st = w->st;
  s->t_moving = NAN;
  s->span = 0.0;
  s->ended = 0;
  for (int i = 0; i < m->n_channels; i++) {
    channel_slopes *c = &s->channel[i];
    c->note[0] = '\0';
    c->n_pieces = 0;
    c->at_end[0] = c->at_end[1] = 0;
    for (int which = 0; which < 2; which++) {
      c->valley[which] = which ? -m->channel[i].first : m->channel[i].first;
      c->t_rival[which] = NAN;
      c->corner[which] = 0;
    }
  }
  for (int i = 0; i < m->n_slots; i++) s->slot[i].note[0] = '\0';
  for (int i = 0; i < m->n_signals; i++)
    if (is_sum(m, m->signal[i])) refuse_signal(m, i, m->t);
  const ga_status status = slope_at(w, m->t, s->at);
  for (int i = 0; i < m->n_channels && !status; i++) {
    channel_slopes *c = &s->channel[i];
    const double *at = s->at + (size_t)i * (size_t)s->n;
    double *const same[] = {c->first, c->now, c->best[0], c->best[1]};
    for (int k = 0; k < 4; k++) copy(s, same[k], at);
    for (int j = 0; j < s->n; j++) c->time[0][j] = c->time[1][j] = c->sum[j] = c->squares[j] = 0.0;
  }
  return status;
}

ga_status ga__slopes_piece(const ga__view *w, const double *t, int inside)
{
  const ga_measures *m = w->m;
  slopes *s = m->slopes;
  const size_t n = s ? (size_t)s->n * (size_t)m->n_channels : 0;
  ga_status status = GA_OK;
  if (!s) return GA_OK;
  if (inside) s->span = t[GA__PARTS] - t[0];
  if (is_place(s) && times_move(s)) s->t_moving = t[GA__PARTS];
  if (!s->wants_points) return GA_OK;
  for (int i = 0; i < m->n_channels; i++) copy(s, s->points + (size_t)i * (size_t)s->n, s->channel[i].now);
  if (inside && times_move(s))
    status = slope_at(w, t[0], s->points); /* rates are not those of the step before */
  if (!status) status = slope_at(w, t[GA__PARTS], s->points + GA__PARTS * n);
  for (int k = 1; k < GA__PARTS && !status; k++)
    if (inside) {
      status = slope_at(w, t[k], s->points + (size_t)k * n);
    } else {
      const double part = (double)k / GA__PARTS;
      for (size_t i = 0; i < n; i++)
        s->points[(size_t)k * n + i] = (1.0 - part) * s->points[i] + part * s->points[GA__PARTS * n + i];
    }
  return status;
}

ga_status ga__slopes_leaf(const ga__view *w, int channel, int power, double a, double b)
{
  static const double boole[GA__POINTS] = {7.0 / 90, 32.0 / 90, 12.0 / 90, 32.0 / 90, 7.0 / 90};
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  if (!s) return GA_OK;
  channel_slopes *c = &s->channel[channel];
  const double now = ga_stepper_state(w->st)->t, origin = m->channel[channel].first;
  const int whole = a == m->t && b == now;
  double *sum = power == 1 ? c->sum : c->squares;
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS && !status; k++) {
    const double *g = s->points + ((size_t)k * (size_t)m->n_channels + (size_t)channel) * (size_t)s->n;
    double y = k == 0 ? m->channel[channel].now : m->y[k * m->n_channels + channel];
    if (!whole && !(k == 0 && a == m->t)) {
      status = slope_at(w, k == GA__PARTS ? b : a + (b - a) * k / GA__PARTS, s->at);
      g = s->at + (size_t)channel * (size_t)s->n;
      y = s->y[channel];
    }
    const double by = boole[k] * (b - a) * (power == 1 ? 1.0 : 2.0 * (y - origin));
    for (int j = 0; j < s->n && !status; j++) sum[j] += by * (g[j] - c->first[j]);
  }
  return status;
}

/* The derivative of the time of an extreme: −(∂ẏ/∂p)/ÿ; that of an event or break there; 0 where the run
 * begins, and, so far, at its end. */
static ga_status slope_time(const ga__view *w, int channel, int which, double at, const double *t,
                            const ga__piece_seen *piece)
{
  slopes *s = w->m->slopes;
  channel_slopes *c = &s->channel[channel];
  double rate[3], low = piece->y[0], high = low;
  c->corner[which] = 0;
  for (int j = 0; j < s->n; j++)
    c->time[which][j] = at >= t[GA__PARTS] && is_place(s) ? ga_sensitivity_time(s->se, j) : 0.0;
  if (!(piece->h > 0.0) || at >= t[GA__PARTS]) return GA_OK;
  for (int k = 1; k < GA__POINTS; k++) low = fmin(low, piece->y[k]), high = fmax(high, piece->y[k]);
  const ga_status status = rates_at(w, channel, at, t, rate, c->time[which]);
  c->corner[which] = fabs(rate[1]) * piece->h > LEVEL * (high - low) + 1e-12 * fabs(rate[0]) ||
                     !(fabs(rate[2]) * piece->h * piece->h > FLAT * fabs(rate[0]));
  for (int j = 0; j < s->n; j++) c->time[which][j] /= -rate[2];
  return status;
}

static int wants_times(const ga_measures *m, int channel)
{
  for (int k = 0; k < m->n_slots; k++)
    if (m->slot[k].channel == channel &&
        (m->slot[k].kind == GA__MEASURE_PEAK_TIME || m->slot[k].kind == GA__MEASURE_LOW_TIME))
      return 1;
  return 0;
}

/* The slopes of a new extreme. */
static ga_status slope_extreme(const ga__view *w, int channel, int which, const double *t,
                               const ga__piece_seen *piece)
{
  const ga_measures *m = w->m;
  slopes *s = m->slopes;
  channel_slopes *c = &s->channel[channel];
  const double at = m->channel[channel].t_best[which];
  const size_t first = (size_t)channel * (size_t)s->n;
  const int end = at == t[GA__PARTS], moves = end && is_place(s);
  ga_status status = moves ? slope_moving(w) : slope_at(w, at, s->at);
  copy(s, c->best[which], (moves ? s->moving : s->at) + first);
  c->at_end[which] = end && !moves;
  if (!status && wants_times(m, channel)) status = slope_time(w, channel, which, at, t, piece);
  return status;
}

static ga_status follow_extreme(const ga__view *w, int channel, int which, const double *t,
                                const ga__piece_seen *piece, double before, double t_before)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  channel_slopes *c = &s->channel[channel];
  const ga__channel_seen *seen = &m->channel[channel];
  const double sign = which ? -1.0 : 1.0, range = seen->best[0] - seen->best[1],
               best = sign * seen->best[which];
  double low = sign * piece->y[0], t_high = t[0], high = low;
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS; k++) {
    low = fmin(low, sign * piece->y[k]);
    if (sign * piece->y[k] > high) high = sign * piece->y[k], t_high = t[k];
  }
  const int separate = c->valley[which] < best - VALLEY * range;
  if (seen->t_best[which] != t_before || seen->best[which] != before) {
    const int ties = separate && sign * before >= best - TIE * range;
    if (ties) copy(s, c->rival[which], c->best[which]);
    if (separate) c->t_rival[which] = ties ? t_before : NAN;
    status = slope_extreme(w, channel, which, t, piece);
    c->valley[which] = sign * piece->y[GA__PARTS];
    return status;
  }
  if (c->at_end[which] && seen->t_best[which] == t[0] && piece->h > 0.0 && wants_times(m, channel))
    status = slope_time(w, channel, which, t[0], t, piece); /* the step before did not show what follows */
  c->at_end[which] = 0;
  if (!status && separate && high >= best - TIE * range && isnan(c->t_rival[which])) {
    status = slope_at(w, t_high, s->at);
    copy(s, c->rival[which], s->at + (size_t)channel * (size_t)s->n);
    c->t_rival[which] = t_high;
  }
  c->valley[which] = fmin(c->valley[which], low);
  return status;
}

static ga_status keep_history(ga_measures *m, channel_slopes *c, int channel)
{
  const slopes *s = m->slopes;
  const size_t size = GA__POINTS * (size_t)s->n;
  if (c->n_pieces == c->room) {
    const long room = c->room ? 2 * c->room : 256;
    double *more = ga__alloc(m->ctx, (size_t)room * size, sizeof *more);
    if (!more) return ga__no_memory(m->ctx, "derivatives of a measure over time");
    if (c->n_pieces) memcpy(more, c->piece, (size_t)c->n_pieces * size * sizeof *more);
    ga__free(m->ctx, c->piece);
    c->piece = more;
    c->room = room;
  }
  for (size_t k = 0; k < GA__POINTS; k++)
    copy(s, c->piece + (size_t)c->n_pieces * size + k * (size_t)s->n,
         s->points + (k * (size_t)m->n_channels + (size_t)channel) * (size_t)s->n);
  c->n_pieces++;
  return GA_OK;
}

ga_status ga__slopes_channel(const ga__view *w, int channel, const double *t, const ga__piece_seen *piece,
                             const double best[2], const double t_best[2])
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  ga_status status = GA_OK;
  if (!s) return GA_OK;
  channel_slopes *c = &s->channel[channel];
  if (piece->h == 0.0 && (m->channel[channel].see & GA__SEE_SUMS))
    add_boundary(m, channel, piece->y[0], piece->y[GA__PARTS]);
  if (piece->h == 0.0) status = compare_sides(w, channel, piece);
  if (m->channel[channel].see & GA__SEE_EXTREMES)
    for (int which = 0; which < 2 && !status; which++)
      status = follow_extreme(w, channel, which, t, piece, best[which], t_best[which]);
  if (!status && (m->channel[channel].see & GA__SEE_HISTORY)) status = keep_history(m, c, channel);
  if (!status && s->wants_points)
    copy(s, c->now, s->points + (GA__PARTS * (size_t)m->n_channels + (size_t)channel) * (size_t)s->n);
  return status;
}

ga_status ga__slopes_slot(const ga__view *w, int slot, double at, const double *t, int crosses)
{
  ga_measures *m = w->m;
  slopes *s = m->slopes;
  if (!s) return GA_OK;
  const int channel = m->slot[slot].channel;
  slot_slopes *out = &s->slot[slot];
  double rate[3];
  out->note[0] = '\0';
  for (int j = 0; j < s->n; j++) out->value[j] = crosses < 0 ? ga_sensitivity_time(s->se, j) : 0.0;
  if (crosses < 0) return GA_OK; /* at a jump */
  if (!crosses && at > s->t_moving && is_near(m, at, s->t_moving)) return refuse_slot(m, slot, MOVED), GA_OK;
  ga_status status = slope_at(w, at, s->at);
  copy(s, out->value, s->at + (size_t)channel * (size_t)s->n);
  if (status || !crosses) return status;
  if (!t || !(t[GA__PARTS] > t[0])) return GA_OK;
  status = rates_at(w, channel, at, t, rate, NULL);
  if (rate[1] == 0.0) keep_note(out->note, "the level is touched, not passed");
  for (int j = 0; j < s->n; j++) out->value[j] /= -rate[1];
  return status;
}

/* ---- The end: slopes of slots ---- */

/* y, its rate and its slopes at a time in the history of a channel, by the polynomial through what was seen;
 * 0: the time is at an end of a piece where y jumps, or there is no such piece. */
static int recall(const ga_measures *m, int channel, double t, double *rate, double *out)
{
  const slopes *s = m->slopes;
  const ga__channel_seen *seen = &m->channel[channel];
  const channel_slopes *c = &s->channel[channel];
  for (long i = 0; i < seen->n && i < c->n_pieces; i++) {
    const ga__piece_seen *p = &seen->piece[i];
    if (!(p->h > 0.0) || t < p->t || t > p->t + p->h) continue;
    double x[GA__POINTS], weight[3][GA__POINTS];
    const double *g = c->piece + (size_t)i * GA__POINTS * (size_t)s->n;
    for (int k = 0; k < GA__POINTS; k++) x[k] = (double)k / GA__PARTS - (t - p->t) / p->h;
    weigh_nodes(GA__POINTS, x, weight);
    *rate = 0.0;
    for (int j = 0; j < s->n; j++) out[j] = 0.0;
    for (int k = 0; k < GA__POINTS; k++) {
      *rate += weight[1][k] * p->y[k] / p->h;
      for (int j = 0; j < s->n; j++) out[j] += weight[0][k] * g[k * s->n + j];
    }
    return 1;
  }
  return 0;
}

/* The time at which y reaches first + part·change: dt/dp of it. */
static void slope_reach(const ga_measures *m, int slot, double part, int up, double *out)
{
  const slopes *s = m->slopes;
  const int channel = m->slot[slot].channel;
  const ga__channel_seen *seen = &m->channel[channel];
  const channel_slopes *c = &s->channel[channel];
  const double t = ga__channel_reach(seen, seen->first + part * (seen->now - seen->first), up);
  double rate = 0.0;
  if (!recall(m, channel, t, &rate, out) || rate == 0.0) {
    keep_note(s->slot[slot].note, "a level is reached by a jump, or only touched");
    for (int j = 0; j < s->n; j++) out[j] = NAN;
    return;
  }
  for (int j = 0; j < s->n; j++) out[j] = -(out[j] - (1.0 - part) * c->first[j] - part * c->now[j]) / rate;
}

static void slope_rise(const ga_measures *m, int slot)
{
  const slopes *s = m->slopes;
  const ga__slot *is = &m->slot[slot];
  const ga__channel_seen *seen = &m->channel[is->channel];
  const double low = is->n_args > 0 ? is->arg[0] : 0.1, high = is->n_args > 1 ? is->arg[1] : 0.9;
  const int up = seen->now > seen->first;
  slope_reach(m, slot, high, up, s->slot[slot].value);
  slope_reach(m, slot, low, up, s->work);
  for (int j = 0; j < s->n; j++) s->slot[slot].value[j] -= s->work[j];
}

/* |y − target| = band·|target − first|, target: given, or the value at the end. */
static void slope_settling(const ga_measures *m, int slot)
{
  const slopes *s = m->slopes;
  const ga__slot *is = &m->slot[slot];
  const ga__channel_seen *seen = &m->channel[is->channel];
  const channel_slopes *c = &s->channel[is->channel];
  double *out = s->slot[slot].value, rate = 0.0;
  const int given = is->n_args > 1;
  const double target = given ? is->arg[1] : seen->now, t = m->t_start + is->value;
  for (int j = 0; j < s->n; j++) out[j] = 0.0;
  if (is->value == 0.0) return; /* it was never outside */
  if (!recall(m, is->channel, t, &rate, out) || rate == 0.0) {
    refuse_slot(m, slot, "it settles by a jump, or touches the band");
    return;
  }
  const double change = target - seen->first, side = -rate > 0.0 ? 1.0 : -1.0; /* it goes inwards there */
  for (int j = 0; j < s->n; j++) {
    const double moves = given ? 0.0 : c->now[j],
                 wider = is->arg[0] * (change > 0.0 ? 1.0 : -1.0) * (moves - c->first[j]);
    out[j] = -(out[j] - moves - side * wider) / rate;
  }
}

static void slope_overshoot(const ga_measures *m, int slot)
{
  const slopes *s = m->slopes;
  const ga__slot *is = &m->slot[slot];
  const ga__channel_seen *seen = &m->channel[is->channel];
  const channel_slopes *c = &s->channel[is->channel];
  const double change = seen->now - seen->first;
  const double *best = c->best[change > 0.0 ? 0 : 1];
  for (int j = 0; j < s->n; j++)
    s->slot[slot].value[j] =
        is->value > 0.0 ? (best[j] - c->now[j] - is->value * (c->now[j] - c->first[j])) / change : 0.0;
}

/* From the sums of the distance from the start's value, as end_sums() has them. */
static void slope_sums(const ga_measures *m, int slot)
{
  const slopes *s = m->slopes;
  const ga__slot *is = &m->slot[slot];
  const ga__channel_seen *seen = &m->channel[is->channel];
  const channel_slopes *c = &s->channel[is->channel];
  const double span = m->t - m->t_start, mean = seen->sum / span, square = seen->squares / span;
  if (is->value == 0.0 && (is->kind == GA__MEASURE_RMS || is->kind == GA__MEASURE_STD)) {
    refuse_slot(m, slot, "it is 0, where a root has no derivative");
    return;
  }
  for (int j = 0; j < s->n; j++) {
    const double d_span = s->ended ? ga_sensitivity_time(s->se, j) : 0.0, d_first = c->first[j];
    const double d_mean = (c->sum[j] - mean * d_span) / span,
                 d_square = (c->squares[j] - square * d_span) / span;
    double *out = &s->slot[slot].value[j];
    switch (is->kind) {
    case GA__MEASURE_MEAN:
      *out = d_first + d_mean;
      break;
    case GA__MEASURE_INTEGRAL:
      *out = d_first * span + seen->first * d_span + c->sum[j];
      break;
    case GA__MEASURE_RMS:
      *out = (seen->first * d_first + d_first * mean + seen->first * d_mean + 0.5 * d_square) / is->value;
      break;
    default:
      *out = (0.5 * d_square - mean * d_mean) / is->value;
    }
  }
}

/* Two extremes of the same height, with other derivatives. */
static void note_rival(const ga_measures *m, int slot, int which)
{
  const slopes *s = m->slopes;
  const channel_slopes *c = &s->channel[m->slot[slot].channel];
  const ga__channel_seen *seen = &m->channel[m->slot[slot].channel];
  const double range = seen->best[0] - seen->best[1];
  char text[GA__MEASURE_NOTE];
  int differ = 0;
  if (isnan(c->t_rival[which])) return;
  for (int j = 0; j < s->n; j++) {
    const ga_parameter *p = s->by[j].variation ? ga_model_variation_parameter(s->by[j].variation) : NULL;
    const double size = p ? 1e3 * p->step : INFINITY, /* about that of the parameter */
        apart = fabs(c->best[which][j] - c->rival[which][j]);
    differ |=
        apart > SAME * (fabs(c->best[which][j]) + fabs(c->rival[which][j])) && apart * size > SAME * range;
  }
  if (!differ) return;
  snprintf(text, sizeof text, "a corner: its extremes at t = %.6g and %.6g s are equal",
           fmin(seen->t_best[which], c->t_rival[which]), fmax(seen->t_best[which], c->t_rival[which]));
  keep_note(s->slot[slot].note, text);
}

static void slope_slot(const ga_measures *m, int slot)
{
  const slopes *s = m->slopes;
  const ga__slot *is = &m->slot[slot];
  const channel_slopes *c = &s->channel[is->channel];
  slot_slopes *out = &s->slot[slot];
  const int low = is->kind == GA__MEASURE_MIN || is->kind == GA__MEASURE_LOW_TIME;
  switch (is->kind) {
  case GA__MEASURE_MAX:
  case GA__MEASURE_MIN:
    copy(s, out->value, c->best[low]);
    note_rival(m, slot, low);
    break;
  case GA__MEASURE_RANGE:
    for (int j = 0; j < s->n; j++) out->value[j] = c->best[0][j] - c->best[1][j];
    note_rival(m, slot, 0);
    note_rival(m, slot, 1);
    break;
  case GA__MEASURE_PEAK_TIME:
  case GA__MEASURE_LOW_TIME:
    copy(s, out->value, c->time[low]);
    if (c->corner[low]) refuse_slot(m, slot, "its extreme is at a corner over time, or flat");
    if (!isnan(c->t_rival[low])) refuse_slot(m, slot, "two extremes are equal");
    break;
  case GA__MEASURE_INITIAL:
    copy(s, out->value, c->first);
    break;
  case GA__MEASURE_FINAL:
    copy(s, out->value, c->now);
    break;
  case GA__MEASURE_AT:
  case GA__MEASURE_CROSSING:
    break; /* since then */
  case GA__MEASURE_CROSSINGS:
    refuse_slot(m, slot, "a count has no derivative");
    break;
  case GA__MEASURE_SETTLING:
    slope_settling(m, slot);
    break;
  case GA__MEASURE_RISE:
    slope_rise(m, slot);
    break;
  case GA__MEASURE_OVERSHOOT:
    slope_overshoot(m, slot);
    note_rival(m, slot, m->channel[is->channel].now > m->channel[is->channel].first ? 0 : 1);
    break;
  default:
    slope_sums(m, slot);
  }
  if (is->kind == GA__MEASURE_AT && s->ended && times_move(s) && is_near(m, is->arg[0], m->t))
    refuse_slot(m, slot, MOVED);
  if (is->depends) refuse_slot(m, slot, "an argument of it depends on parameters");
  if (!*c->note) return;
  out->note[0] = '\0';
  refuse_slot(m, slot, c->note);
}

/* ---- Slopes of measures ---- */

static void slope_measure(const ga_measures *m, int i)
{
  slopes *s = m->slopes;
  double *out = s->result + (size_t)i * (size_t)s->n;
  const int *list = NULL;
  const int n = ga_expr_variables(m->measure[i].e, &list);
  s->note[i][0] = '\0';
  for (int j = 0; j < s->n; j++) out[j] = 0.0;
  if (*m->measure[i].note || ga_expr_gradient(m->measure[i].e, m->z, n, list, NULL, s->gradient, NULL)) {
    for (int j = 0; j < s->n; j++) out[j] = NAN;
    keep_note(s->note[i], *m->measure[i].note ? "it has no value" : "it has no derivative");
    return;
  }
  for (int k = 0; k < n; k++) {
    if (list[k] < m->n_slots && *s->slot[list[k]].note) keep_note(s->note[i], s->slot[list[k]].note);
    for (int j = 0; j < s->n; j++) {
      if (list[k] < m->n_slots) out[j] += s->gradient[k] * s->slot[list[k]].value[j];
      if (list[k] == GA__MOST_CALLS + s->by[j].parameter && s->by[j].parameter >= 0) out[j] += s->gradient[k];
    }
  }
  for (int j = 0; j < s->n; j++)
    if (!isfinite(out[j])) keep_note(s->note[i], "its derivative is not finite");
}

/* The slopes at the end. Where an event has ended the run, its time moves, and so do integrals up to it; else
 * an extreme there does not, even at a break. */
static ga_status slope_end(const ga__view *w)
{
  const ga_measures *m = w->m;
  slopes *s = m->slopes;
  ga_status status = GA_OK;
  s->ended = ga_sensitivity_place(s->se) == GA_PLACE_EVENT;
  const double *at = s->ended ? s->moving : s->wants_points ? NULL : s->at; /* NULL: they are known */
  if (s->ended)
    status = slope_moving(w);
  else if (at)
    status = slope_at(w, m->t, s->at);
  for (int i = 0; i < m->n_channels && !status; i++) {
    const ga__channel_seen *seen = &m->channel[i];
    channel_slopes *c = &s->channel[i];
    if (at) copy(s, c->now, at + (size_t)i * (size_t)s->n);
    if (s->ended && (seen->see & GA__SEE_SUMS)) add_boundary(m, i, seen->now, seen->first);
    for (int which = 0; which < 2 && !s->ended; which++) {
      if (!(seen->see & GA__SEE_EXTREMES) || seen->t_best[which] != m->t) continue;
      copy(s, c->best[which], c->now);
      for (int j = 0; j < s->n; j++) c->time[which][j] = 0.0;
      c->corner[which] = 0;
    }
  }
  return status;
}

ga_status ga__slopes_end(ga_measures *m)
{
  slopes *s = m->slopes;
  if (!s) return GA_OK;
  const ga__view w = {m, s->st, NULL};
  const ga_status status = slope_end(&w);
  if (status) return status;
  for (int i = 0; i < m->n_slots; i++) slope_slot(m, i);
  for (int i = 0; i < m->n; i++) slope_measure(m, i);
  return GA_OK;
}

ga_status ga_measures_slopes(const ga_measures *measures, int i, double *out)
{
  if (!measures) return GA_ERR_ARGUMENT;
  const ga_measures *m = measures;
  if (!out) return ga__null_argument(m->ctx);
  if (!m->slopes || !m->started)
    return ga__refuse_order(m->ctx, __func__, "after ga_measures_differentiate() and a run");
  if (i < 0 || i >= m->n) return ga__refuse_number(m->ctx, "measures", "i", i, "the number of one of them");
  memcpy(out, m->slopes->result + (size_t)i * (size_t)m->slopes->n, (size_t)m->slopes->n * sizeof *out);
  return GA_OK;
}

const char *ga_measures_slope_note(const ga_measures *measures, int i)
{
  return measures && measures->slopes && i >= 0 && i < measures->n ? measures->slopes->note[i] : NULL;
}
