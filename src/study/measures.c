/* What measures see along a run: values within every step, on its dense output. */
#include "study/measures.h"

#include "core/stepper.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef ga__view view;

/* ---- Values ---- */

static void keep_note(char note[GA__MEASURE_NOTE], double t, const ga_fault *fault)
{
  char words[GA__MEASURE_NOTE - 40];
  if (*note) return;
  ga_fault_text(words, sizeof words, fault);
  snprintf(note, GA__MEASURE_NOTE, "it is undefined at t = %.6g s: %s", t, words);
}

/* Values of signals at a state, into m->x; those of all channels from them. */
static ga_status see_state(const view *w, const ga_state *s, double *y)
{
  ga_measures *m = w->m;
  const ga_status status = ga_machine_signals(m->machine, w->meter, s, m->n_signals, m->signal, m->x);
  ga_fault fault;
  m->x[GA__MOST_SIGNALS] = s->t;
  for (int i = 0; i < m->n_channels && !status; i++)
    if (ga_expr_eval(m->channel[i].e, m->x, &y[i], &fault)) {
      y[i] = NAN;
      keep_note(m->channel[i].note, s->t, &fault);
    }
  return status;
}

ga_status ga__measures_look(const ga__view *w, double t, double *y, ga_state *state)
{
  const ga_system *sys = ga_stepper_system(w->st);
  ga_state s = *state = *ga_stepper_state(w->st);
  if (t == s.t) return see_state(w, &s, y);
  double *at = w->m->state;
  const size_t sizes[] = {
      (size_t)ga_group_nq(ga_system_group(sys)), (size_t)ga_system_size(sys, GA_BLOCK_V),
      (size_t)ga_system_size(sys, GA_BLOCK_V),   (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
      (size_t)ga_system_size(sys, GA_BLOCK_PSI), (size_t)ga_system_size(sys, GA_BLOCK_X),
      (size_t)ga_system_size(sys, GA_BLOCK_Y)};
  double *part[7];
  for (int i = 0; i < 7; i++) part[i] = at, at += sizes[i];
  const ga_status status =
      ga_stepper_interpolate(w->st, t, part[0], part[1], part[2], part[3], part[4], part[5], part[6]);
  if (status) return status;
  s.t = t;
  s.q = part[0], s.v = part[1], s.vdot = part[2], s.lambda = part[3], s.psi = part[4], s.x = part[5],
  s.y = part[6];
  *state = s;
  return see_state(w, &s, y);
}

/* The same at a time within the last step. */
static ga_status see_time(const view *w, double t, double *y)
{
  ga_state s;
  return ga__measures_look(w, t, y, &s);
}

/* One channel at a time within the last step; failures are kept in *status. */
static double look(const view *w, int channel, double t, ga_status *status)
{
  double *y = w->m->y + (size_t)GA__POINTS * (size_t)w->m->n_channels;
  if (!*status) *status = see_time(w, t, y);
  return *status ? NAN : y[channel];
}

/* ---- Extremes ---- */

#define CLOSE 1e-7 /* [-] of the bracket: times of extremes, whose values are then off by its square */

/* The largest sign·y between a and b, with y(t) = y there: Brent's method. *at: its time. */
static double climb(const view *w, int channel, double sign, double a, double t, double b, double y,
                    double *at, ga_status *status)
{
  const double golden = 0.3819660112501051, close = CLOSE * (b - a);
  double x = t, v = t, u2 = t, fx = -sign * y, fv = fx, fu2 = fx, d = 0.0, e = 0.0;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (a + b);
    if (fabs(x - middle) <= 2.0 * close - 0.5 * (b - a)) break;
    int golden_step = 1;
    if (fabs(e) > close) {
      double r = (x - v) * (fx - fu2), q = (x - u2) * (fx - fv), p = (x - u2) * q - (x - v) * r;
      q = 2.0 * (q - r);
      if (q > 0.0) p = -p;
      q = fabs(q);
      const double before = e;
      e = d;
      if (fabs(p) < fabs(0.5 * q * before) && p > q * (a - x) && p < q * (b - x)) {
        d = p / q;
        golden_step = 0;
      }
    }
    if (golden_step) e = x < middle ? b - x : a - x, d = golden * e;
    const double u = x + (fabs(d) >= close ? d
                          : d > 0.0        ? close
                                           : -close),
                 f = -sign * look(w, channel, u, status);
    if (*status || isnan(f)) break;
    if (f <= fx) {
      *(u < x ? &b : &a) = x;
      u2 = v, fu2 = fv, v = x, fv = fx, x = u, fx = f;
      continue;
    }
    *(u < x ? &a : &b) = u;
    if (f <= fv || v == x)
      u2 = v, fu2 = fv, v = u, fv = f;
    else if (f <= fu2 || u2 == x || u2 == v)
      u2 = u, fu2 = f;
  }
  *at = x;
  return -sign * fx;
}

static void keep_extreme(ga__channel_seen *c, int which, double t, double y)
{
  const double sign = which ? -1.0 : 1.0;
  if (isnan(y) || !(sign * y > sign * c->best[which] || isnan(c->best[which]))) return;
  c->best[which] = y;
  c->t_best[which] = t;
}

/* Between the times seen: where a value is above its neighbours, and at ends from which it goes up. */
static ga_status find_extreme(const view *w, int channel, int which, const double *t, const double *y)
{
  ga__channel_seen *c = &w->m->channel[channel];
  const double sign = which ? -1.0 : 1.0;
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS && !status; k++) {
    const int low = k > 0 ? k - 1 : 0, high = k < GA__PARTS ? k + 1 : k;
    const double spread = fmax(fabs(y[k] - y[low]), fabs(y[k] - y[high]));
    if (!(sign * y[k] >= sign * y[low] && sign * y[k] >= sign * y[high])) continue;
    if (!(spread > 0.0) || !(sign * y[k] + spread > sign * c->best[which])) continue;
    double from = t[k], best = y[k], at = t[k];
    if (k == 0 || k == GA__PARTS) { /* does it rise from the end into the step? */
      from = t[k] + 1e-3 * (t[k == 0 ? 1 : GA__PARTS - 1] - t[k]);
      best = look(w, channel, from, &status);
      if (!(sign * best > sign * y[k])) continue;
    }
    best = climb(w, channel, sign, t[low], from, t[high], best, &at, &status);
    keep_extreme(c, which, at, best);
  }
  return status;
}

/* ---- Integrals ---- */

#define EXACT 1e-8 /* [-] error of integrals, relative to that of the largest value */

typedef struct integrand {
  const view *w;
  int channel, power;
  double origin, tolerance; /* tolerance per second */
  ga_status status;
} integrand;

static double raise(const integrand *f, double y)
{
  const double d = y - f->origin;
  return f->power == 1 ? d : d * d;
}

/* Simpson's rule on halves, until they agree with the whole; values at the ends, the middle, the quarters. */
static double simpson(integrand *f, double a, double b, double fa, double fq, double fm, double fr, double fb,
                      int depth)
{
  const double h = b - a, whole = h / 6.0 * (fa + 4.0 * fm + fb),
               halves = h / 12.0 * (fa + 4.0 * fq + 2.0 * fm + 4.0 * fr + fb);
  if (depth == 0 || !(fabs(halves - whole) > 15.0 * f->tolerance * h) || f->status) {
    if (!f->status) f->status = ga__slopes_leaf(f->w, f->channel, f->power, a, b);
    if (!f->status) f->status = ga__seeds_leaf(f->w, f->channel, f->power, a, b);
    return halves + (halves - whole) / 15.0; /* Boole's rule */
  }
  const double m = a + 0.5 * h;
  double f1[2], f2[2];
  for (int i = 0; i < 2; i++) {
    f1[i] = raise(f, look(f->w, f->channel, a + (0.125 + 0.25 * i) * h, &f->status));
    f2[i] = raise(f, look(f->w, f->channel, m + (0.125 + 0.25 * i) * h, &f->status));
  }
  return simpson(f, a, m, fa, f1[0], fq, f1[1], fm, depth - 1) +
         simpson(f, m, b, fm, f2[0], fr, f2[1], fb, depth - 1);
}

static ga_status add_integrals(const view *w, int channel, const double *t, const double *y)
{
  enum { DEPTH = 12 };
  ga__channel_seen *c = &w->m->channel[channel];
  const double size = c->peak + fabs(c->first);
  for (int power = 1; power <= 2; power++) {
    integrand f = {w, channel, power, c->first, EXACT * (power == 1 ? size : size * size), GA_OK};
    double value[GA__POINTS];
    for (int k = 0; k < GA__POINTS; k++) value[k] = raise(&f, y[k]);
    *(power == 1 ? &c->sum : &c->squares) +=
        simpson(&f, t[0], t[GA__PARTS], value[0], value[1], value[2], value[3], value[4], DEPTH);
    if (f.status) return f.status;
  }
  return GA_OK;
}

/* ---- Crossings ---- */

/* Where y − level changes its sign between two times within the step. */
static double find_root(const view *w, int channel, double level, double a, double b, double ya,
                        ga_status *status)
{
  for (int i = 0; i < 60 && b - a > 4.0 * DBL_EPSILON * fmax(fabs(a), fabs(b)); i++) {
    const double middle = 0.5 * (a + b), y = look(w, channel, middle, status);
    if (*status || isnan(y)) break;
    if ((y > level) == (ya > level))
      a = middle;
    else
      b = middle;
  }
  return 0.5 * (a + b);
}

/* Goes on to a value at b, in a step that is seen at t. */
static ga_status pass_level(const view *w, ga__slot *s, const double *t, double a, double ya, double b,
                            double yb)
{
  const double level = s->kind == GA__MEASURE_AT ? 0.0 : s->arg[0];
  const int side = (yb > level) - (yb < level), wanted = s->n_args > 1 ? (int)s->arg[1] : 1;
  ga_status status = GA_OK;
  if (side == 0) return GA_OK;
  if (s->side != 0 && side != s->side) {
    s->count += 1.0;
    if ((int)s->count == wanted) {
      s->value = a < b ? find_root(w, s->channel, level, a, b, ya, &status) : b;
      if (!status) status = ga__slopes_slot(w, (int)(s - w->m->slot), s->value, t, a < b ? 1 : -1);
    }
  }
  s->side = side;
  return status;
}

static ga_status add_crossings(const view *w, ga__slot *s, const double *t, const double *y)
{
  ga_status status = GA_OK;
  for (int k = 1; k < GA__POINTS && !status; k++) {
    const double level = s->arg[0], d0 = y[k - 1] - level, d1 = y[k] - level;
    const double d2 = k < GA__PARTS ? y[k + 1] - level : d1;
    /* an extreme near the level may lie beyond it */
    if (k < GA__PARTS && d0 * d1 > 0.0 && d1 * d2 > 0.0 && fabs(d1) <= fabs(d0) && fabs(d1) <= fabs(d2)) {
      const double bend = d0 - 2.0 * d1 + d2,
                   vertex = bend != 0.0 ? (d2 - d0) * (d2 - d0) / (8.0 * bend) : 0.0;
      double at = t[k];
      if (fabs(vertex) > 0.5 * fabs(d1)) {
        const double best =
            climb(w, s->channel, d1 > 0.0 ? -1.0 : 1.0, t[k - 1], t[k], t[k + 1], y[k], &at, &status);
        if (!status && (best - level) * d1 < 0.0 && at > t[k - 1] && at < t[k + 1]) {
          status = pass_level(w, s, t, t[k - 1], y[k - 1], at, best);
          if (!status && at < t[k]) status = pass_level(w, s, t, at, best, t[k], y[k]);
          continue;
        }
      }
    }
    status = pass_level(w, s, t, t[k - 1], y[k - 1], t[k], y[k]);
  }
  return status;
}

/* ---- Steps ---- */

static ga_status keep_piece(ga_measures *m, ga__channel_seen *c, const ga__piece_seen *piece)
{
  if (c->n == c->room) {
    const long room = c->room ? 2 * c->room : 256;
    ga__piece_seen *more = ga__alloc(m->ctx, (size_t)room, sizeof *more);
    if (!more) return ga__no_memory(m->ctx, "values of a measure over time");
    if (c->n) memcpy(more, c->piece, (size_t)c->n * sizeof *more);
    ga__free(m->ctx, c->piece);
    c->piece = more;
    c->room = room;
  }
  c->piece[c->n++] = *piece;
  return GA_OK;
}

static ga_status see_channel(const view *w, int i, const double *t, const ga__piece_seen *piece)
{
  ga__channel_seen *c = &w->m->channel[i];
  const double best[2] = {c->best[0], c->best[1]}, t_best[2] = {c->t_best[0], c->t_best[1]};
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS; k++) c->peak = fmax(c->peak, fabs(piece->y[k]));
  if (c->see & GA__SEE_EXTREMES)
    for (int which = 0; which < 2 && !status; which++) {
      for (int k = 0; k < GA__POINTS; k++) keep_extreme(c, which, t[k], piece->y[k]);
      if (piece->h > 0.0) status = find_extreme(w, i, which, t, piece->y);
    }
  if (!status && (c->see & GA__SEE_SUMS) && piece->h > 0.0) status = add_integrals(w, i, t, piece->y);
  if (!status && (c->see & GA__SEE_HISTORY)) status = keep_piece(w->m, c, piece);
  if (!status) status = ga__slopes_channel(w, i, t, piece, best, t_best);
  c->now = piece->y[GA__PARTS];
  return status;
}

static ga_status see_slot(const view *w, ga__slot *s, const double *t, const double *y)
{
  ga_status status = GA_OK;
  if (s->kind == GA__MEASURE_CROSSING || s->kind == GA__MEASURE_CROSSINGS) return add_crossings(w, s, t, y);
  if (s->kind != GA__MEASURE_AT || !(s->arg[0] > t[0] && s->arg[0] <= t[GA__PARTS])) return GA_OK;
  s->value = s->arg[0] == t[GA__PARTS] ? y[GA__PARTS] : look(w, s->channel, s->arg[0], &status);
  if (!status) status = ga__slopes_slot(w, (int)(s - w->m->slot), s->arg[0], t, 0);
  return status ? status : ga__seeds_slot(w, (int)(s - w->m->slot), s->arg[0]);
}

/* A step from m->t on, or a jump (end == m->t). */
static ga_status see_piece(const view *w, double end, int inside)
{
  ga_measures *m = w->m;
  const double begin = m->t, h = end - begin;
  const size_t n = (size_t)m->n_channels;
  double t[GA__POINTS];
  ga_status status = GA_OK;
  for (int k = 0; k < GA__POINTS; k++) t[k] = k == GA__PARTS ? end : begin + h * k / GA__PARTS;
  for (int k = inside ? 1 : GA__PARTS; k < GA__POINTS && !status; k++)
    status = see_time(w, t[k], m->y + (size_t)k * n);
  if (!status) status = ga__slopes_piece(w, t, inside);
  ga__seeds_piece(w, end, inside);
  for (int i = 0; i < m->n_channels && !status; i++) {
    ga__channel_seen *c = &m->channel[i];
    ga__piece_seen piece = {.t = begin, .h = h};
    for (int k = 0; k < GA__POINTS; k++) {
      const double s = (double)k / GA__PARTS, last = m->y[(size_t)GA__PARTS * n + (size_t)i];
      piece.y[k] = k == 0                     ? c->now
                   : inside || k == GA__PARTS ? m->y[(size_t)k * n + (size_t)i]
                                              : c->now + s * (last - c->now);
    }
    status = see_channel(w, i, t, &piece);
    for (int k = 0; k < m->n_slots && !status; k++)
      if (m->slot[k].channel == i) status = see_slot(w, &m->slot[k], t, piece.y);
  }
  m->t = end;
  return status;
}

#define SAME_TIME 1e-9 /* [-] of the time: what a restart may move it by */

ga_status ga_measures_step(ga_measures *measures, ga_stepper *st, const ga_meter *meter)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!st) return ga__null_argument(m->ctx);
  if (!m->started || !ga_stepper_state(st))
    return ga__refuse_order(m->ctx, __func__, "after ga_measures_start()");
  const view w = {m, st, meter};
  const double t = st->now.scalar[GA__T], close = SAME_TIME * fmax(fabs(t), t - m->t_start);
  const int inside = t > m->t && st->can_undo && st->next.scalar[GA__T] <= m->t + close;
  if (t > m->t && inside) {
    /* the step may begin a rounding later than the last one has ended, behind a jump */
    if (st->next.scalar[GA__T] > m->t) m->t = st->next.scalar[GA__T];
    return t > m->t ? see_piece(&w, t, 1) : GA_OK;
  }
  if (t > m->t + close && m->missing == 0.0) m->missing = t;
  if (t <= m->t + close) m->t = t; /* a jump: a restart behind it may be later by a rounding */
  return see_piece(&w, t, 0);
}

/* ---- Start and end ---- */

static void reset(ga_measures *m)
{
  for (int i = 0; i < m->n_channels; i++) {
    ga__channel_seen *c = &m->channel[i];
    c->peak = c->sum = c->squares = 0.0;
    c->best[0] = c->best[1] = NAN;
    c->n = 0;
    c->note[0] = '\0';
  }
  for (int i = 0; i < m->n_slots; i++) {
    m->slot[i].value = NAN;
    m->slot[i].side = 0;
    m->slot[i].count = 0.0;
    m->slot[i].note[0] = '\0';
  }
  m->missing = 0.0;
}

ga_status ga_measures_start(ga_measures *measures, ga_stepper *st, const ga_meter *meter)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!st) return ga__null_argument(m->ctx);
  if (!ga_stepper_state(st)) return ga__refuse_order(m->ctx, __func__, "after ga_stepper_start()");
  const view w = {m, st, meter};
  reset(m);
  m->t = m->t_start = st->now.scalar[GA__T];
  ga_status status = see_time(&w, m->t, m->y);
  for (int i = 0; i < m->n_channels && !status; i++) {
    ga__channel_seen *c = &m->channel[i];
    c->now = c->first = m->y[i];
    c->peak = fabs(c->now);
    keep_extreme(c, 0, m->t, c->now);
    keep_extreme(c, 1, m->t, c->now);
  }
  if (!status) status = ga__slopes_start(&w);
  if (!status) status = ga__seeds_start(&w);
  for (int i = 0; i < m->n_channels && !status; i++) {
    ga__channel_seen *c = &m->channel[i];
    for (int k = 0; k < m->n_slots && !status; k++) {
      ga__slot *s = &m->slot[k];
      if (s->channel != i) continue;
      if (s->kind == GA__MEASURE_AT && s->arg[0] == m->t) {
        s->value = c->now;
        status = ga__slopes_slot(&w, k, m->t, NULL, 0);
        if (!status) status = ga__seeds_slot(&w, k, m->t);
      }
      if (s->kind == GA__MEASURE_CROSSING || s->kind == GA__MEASURE_CROSSINGS)
        status = pass_level(&w, s, NULL, m->t, c->now, m->t, c->now);
    }
  }
  m->started = !status;
  return status;
}

static void end_measure(ga_measures *m, ga__measure_text *e, double *value, double *scale)
{
  const int *list = NULL;
  const int n = ga_expr_variables(e->e, &list);
  ga_fault fault;
  *value = NAN;
  e->note[0] = '\0';
  for (int i = 0; i < n; i++)
    if (list[i] < m->n_slots && *m->slot[list[i]].note) {
      snprintf(e->note, sizeof e->note, "%s", m->slot[list[i]].note);
      *scale = 0.0;
      return;
    }
  if (ga_expr_eval(e->e, m->z, value, &fault)) {
    char words[GA__MEASURE_NOTE - 16];
    ga_fault_text(words, sizeof words, &fault);
    snprintf(e->note, sizeof e->note, "undefined: %s", words);
    *value = NAN;
  }
  *scale = fabs(*value);
  for (int i = 0; i < n && e->same; i++)
    if (list[i] < m->n_slots) *scale = fmax(*scale, m->slot[list[i]].scale);
}

ga_status ga_measures_end(ga_measures *measures, double *values, double *scales)
{
  if (!measures) return GA_ERR_ARGUMENT;
  ga_measures *m = measures;
  if (!values) return ga__null_argument(m->ctx);
  if (!m->started) return ga__refuse_order(m->ctx, __func__, "after ga_measures_start()");
  for (int i = 0; i < m->n_slots; i++) {
    ga__slot_end(m, &m->slot[i]);
    m->z[i] = m->slot[i].value;
  }
  for (int i = 0; i < m->n; i++) {
    double scale;
    end_measure(m, &m->measure[i], &values[i], &scale);
    if (scales) scales[i] = scale;
  }
  const ga_status status = ga__slopes_end(m);
  return status ? status : ga__seeds_end(m);
}

/* ---- Creation ---- */

void ga_measures_destroy(ga_measures **measures)
{
  if (!measures || !*measures) return;
  ga_measures *m = *measures;
  ga_context *ctx = m->ctx;
  ga__slopes_destroy(m);
  ga__seeds_destroy(m);
  for (int i = 0; m->measure && i < m->n; i++) ga_expr_destroy(&m->measure[i].e);
  for (int i = 0; m->channel && i <= m->n_channels; i++) { /* one more may have failed half-way */
    ga_expr_destroy(&m->channel[i].e);
    ga__free(ctx, m->channel[i].piece);
  }
  void *const blocks[] = {m->measure, m->slot,        m->channel,     m->signal, m->x,
                          m->z,       m->dimension_x, m->dimension_z, m->y,      m->state};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ga__free(ctx, blocks[i]);
  ga__free(ctx, m);
  *measures = NULL;
}

static ga_status allocate(ga_measures *m)
{
  const ga_system *sys = ga_machine_system(m->machine);
  const size_t room =
      (size_t)ga_group_nq(ga_system_group(sys)) + 2 * (size_t)ga_system_size(sys, GA_BLOCK_V) +
      (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA) + (size_t)ga_system_size(sys, GA_BLOCK_PSI) +
      (size_t)ga_system_size(sys, GA_BLOCK_X) + (size_t)ga_system_size(sys, GA_BLOCK_Y);
  m->y = ga__alloc(m->ctx, (GA__POINTS + 1) * (size_t)m->n_channels + 1, sizeof *m->y);
  m->state = ga__alloc(m->ctx, room + 1, sizeof *m->state);
  return m->y && m->state ? GA_OK : ga__no_memory(m->ctx, "measures");
}

ga_status ga_measures_create(ga_context *ctx, const ga_machine *machine, int n, const char *const *texts,
                             int n_parameters, const ga_study_parameter *parameters, int *which,
                             ga_measures **out)
{
  if (out) *out = NULL;
  if (which) *which = -1;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!machine || !out || (n > 0 && !texts) || (n_parameters > 0 && !parameters))
    return ga__null_argument(ctx);
  for (int i = 0; i < n; i++)
    if (!texts[i]) return ga__null_argument(ctx);
  for (int i = 0; i < n_parameters; i++)
    if (!parameters[i].name) return ga__null_argument(ctx);
  if (!ga_machine_system(machine)) return ga__refuse_order(ctx, __func__, "after ga_machine_build()");
  ga_measures *m = ga__alloc(ctx, 1, sizeof *m);
  if (!m) return ga__no_memory(ctx, "measures");
  *m = (ga_measures){.ctx = ctx,
                     .machine = machine,
                     .n = n > 0 ? n : 0,
                     .n_parameters = n_parameters,
                     .parameter = parameters};
  ga_status status = ga__measures_read(m, texts, which);
  if (!status) status = allocate(m);
  m->parameter = NULL;
  if (status)
    ga_measures_destroy(&m);
  else
    *out = m;
  return status;
}

const char *ga_measures_unit(const ga_measures *measures, int i)
{
  return measures && i >= 0 && i < measures->n ? measures->measure[i].unit : NULL;
}

const char *ga_measures_note(const ga_measures *measures, int i)
{
  return measures && i >= 0 && i < measures->n ? measures->measure[i].note : NULL;
}
