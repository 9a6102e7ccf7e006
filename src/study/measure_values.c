/* Values of measures at the end of a run, from what was seen. */
#include "study/measures.h"

#include <math.h>
#include <stdio.h>

#define NO_CHANGE 1e-12 /* [-] of the largest value: smaller changes are rounding */
#define LATE 0.05       /* [-] of the run: what settles within its last part may not have settled */

static double largest(double a, double b)
{
  return fmax(fabs(a), fabs(b));
}

/* ---- Values within a step, by the polynomial through those seen ---- */

double ga__piece_inside(const ga__piece_seen *p, double s)
{
  double sum = 0.0;
  for (int k = 0; k < GA__POINTS; k++) {
    double weight = 1.0;
    for (int i = 0; i < GA__POINTS; i++)
      if (i != k) weight *= (s * GA__PARTS - i) / (double)(k - i);
    sum += weight * p->y[k];
  }
  return sum;
}

enum { FINE = 16 }; /* places within a step at which the polynomial is looked at */

/* The time within a piece, between places a and b of it, at which |y − target| passes band (band < 0: y
 * passes target). */
static double pass(const ga__piece_seen *p, double a, double b, double target, double band)
{
  const double begin = ga__piece_inside(p, a) - target;
  const int first = band < 0.0 ? begin > 0.0 : fabs(begin) > band;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (a + b), d = ga__piece_inside(p, middle) - target;
    if ((band < 0.0 ? d > 0.0 : fabs(d) > band) == first)
      a = middle;
    else
      b = middle;
  }
  return p->t + 0.5 * (a + b) * p->h;
}

/* The first time at which y reaches `level` on its way, which goes up or down. */
double ga__channel_reach(const ga__channel_seen *c, double level, int up)
{
  for (long i = 0; i < c->n; i++) {
    const ga__piece_seen *p = &c->piece[i];
    for (int k = 1; k <= FINE; k++) {
      const double s = (double)k / FINE, y = ga__piece_inside(p, s);
      if (up ? y < level : y > level) continue;
      return pass(p, s - 1.0 / FINE, s, level, -1.0);
    }
  }
  return NAN;
}

/* The last time at which |y − target| is larger than band; the start: never. */
static double last_outside(const ga__channel_seen *c, double target, double band, double t_start)
{
  for (long i = c->n - 1; i >= 0; i--) {
    const ga__piece_seen *p = &c->piece[i];
    for (int k = FINE; k >= 0; k--) {
      const double s = (double)k / FINE;
      if (!(fabs(ga__piece_inside(p, s) - target) > band)) continue;
      return k == FINE ? p->t + p->h : pass(p, s, s + 1.0 / FINE, target, band);
    }
  }
  return t_start;
}

/* ---- Kinds ---- */

static void note(ga__slot *s, const char *text)
{
  snprintf(s->note, sizeof s->note, "%s: %s", ga__measure_words[s->kind], text);
  s->value = NAN;
}

/* 1: x changes from its start to its end; otherwise this is noted. */
static int changes(ga__slot *s, const ga__channel_seen *c)
{
  if (fabs(c->now - c->first) > NO_CHANGE * c->peak) return 1;
  note(s, "the value at the end is that at the start");
  return 0;
}

static void end_settling(const ga_measures *m, ga__slot *s, const ga__channel_seen *c)
{
  const int given = s->n_args > 1;
  const double target = given ? s->arg[1] : c->now, change = fabs(target - c->first),
               span = m->t - m->t_start;
  if (!given && !changes(s, c)) return;
  if (given && !(change > 0.0)) {
    note(s, "the target is the value at the start");
    return;
  }
  const double t = last_outside(c, target, s->arg[0] * change, m->t_start);
  if (given ? fabs(c->now - target) > s->arg[0] * change : t > m->t - LATE * span) {
    char text[96];
    snprintf(text, sizeof text, "it has not settled; it was last outside at t = %.6g s", t);
    note(s, text);
    return;
  }
  s->value = t - m->t_start;
}

static void end_rise(ga__slot *s, const ga__channel_seen *c)
{
  const double low = s->n_args > 0 ? s->arg[0] : 0.1, high = s->n_args > 1 ? s->arg[1] : 0.9,
               change = c->now - c->first;
  if (!changes(s, c)) return;
  s->value = ga__channel_reach(c, c->first + high * change, change > 0.0) -
             ga__channel_reach(c, c->first + low * change, change > 0.0);
  if (isnan(s->value)) note(s, "a part of the change is not reached");
}

static void end_overshoot(ga__slot *s, const ga__channel_seen *c)
{
  if (!changes(s, c)) return;
  const double change = c->now - c->first;
  s->value = fmax((c->best[change > 0.0 ? 0 : 1] - c->now) / change, 0.0);
}

static void end_crossing(ga__slot *s)
{
  char text[96];
  if (!isnan(s->value)) return;
  snprintf(text, sizeof text, "there %s %g crossing%s of %g", s->count == 1.0 ? "is" : "are", s->count,
           s->count == 1.0 ? "" : "s", s->arg[0]);
  note(s, text);
}

static void end_sums(const ga_measures *m, ga__slot *s, const ga__channel_seen *c)
{
  const double span = m->t - m->t_start;
  if (!(span > 0.0)) {
    note(s, "the run has no length");
    return;
  }
  const double mean = c->sum / span, square = c->squares / span; /* of the distance from the start's value */
  switch (s->kind) {
  case GA__MEASURE_MEAN:
    s->value = c->first + mean;
    break;
  case GA__MEASURE_INTEGRAL:
    s->value = c->first * span + c->sum;
    break;
  case GA__MEASURE_RMS:
    s->value = sqrt(fmax(c->first * (c->first + 2.0 * mean) + square, 0.0));
    break;
  default:
    s->value = sqrt(fmax(square - mean * mean, 0.0));
  }
}

static void find_scale(const ga_measures *m, ga__slot *s, const ga__channel_seen *c)
{
  const double span = m->t - m->t_start;
  switch (s->kind) {
  case GA__MEASURE_PEAK_TIME:
  case GA__MEASURE_LOW_TIME:
  case GA__MEASURE_CROSSING:
  case GA__MEASURE_SETTLING:
  case GA__MEASURE_RISE:
    s->scale = span;
    break;
  case GA__MEASURE_CROSSINGS:
  case GA__MEASURE_OVERSHOOT:
    s->scale = 1.0;
    break;
  case GA__MEASURE_INTEGRAL:
    s->scale = c->peak * span;
    break;
  default:
    s->scale = largest(c->peak, s->value);
  }
  if (isnan(s->scale)) s->scale = 0.0;
}

void ga__slot_end(const ga_measures *m, ga__slot *s)
{
  const ga__channel_seen *c = &m->channel[s->channel];
  s->note[0] = '\0';
  switch (s->kind) {
  case GA__MEASURE_MAX:
  case GA__MEASURE_MIN:
    s->value = c->best[s->kind == GA__MEASURE_MIN];
    break;
  case GA__MEASURE_RANGE:
    s->value = c->best[0] - c->best[1];
    break;
  case GA__MEASURE_PEAK_TIME:
  case GA__MEASURE_LOW_TIME:
    s->value = c->t_best[s->kind == GA__MEASURE_LOW_TIME];
    break;
  case GA__MEASURE_INITIAL:
    s->value = c->first;
    break;
  case GA__MEASURE_FINAL:
    s->value = c->now;
    break;
  case GA__MEASURE_AT:
    if (isnan(s->value)) note(s, "the run does not contain this time");
    break;
  case GA__MEASURE_CROSSING:
    end_crossing(s);
    break;
  case GA__MEASURE_CROSSINGS:
    s->value = s->count;
    break;
  case GA__MEASURE_SETTLING:
    end_settling(m, s, c);
    break;
  case GA__MEASURE_RISE:
    end_rise(s, c);
    break;
  case GA__MEASURE_OVERSHOOT:
    end_overshoot(s, c);
    break;
  default:
    end_sums(m, s, c);
  }
  find_scale(m, s, c);
  if (*c->note) {
    snprintf(s->note, sizeof s->note, "%s", c->note);
    s->value = NAN;
  }
}
