/* Motion laws and waves. */
#include "base/base_impl.h"
#include "expr/function.h"
#include "expr/same.h"
#include "expr/range.h"
#include <float.h>
#include <math.h>

/* ---- Laws: s, s', s'' at u within [0,1] ---- */

static void law_linear(double s[3], double u, double ramp)
{
  (void)ramp;
  s[0] = u;
  s[1] = 1;
  s[2] = 0;
}

/* Velocity rises over the part r, stays at 1/(1-r), falls over the part r; the second half mirrors the first.
 */
static void law_trapezoid(double s[3], double u, double r)
{
  const double top = 1 / (1 - r), v = u < 0.5 ? u : 1 - u;
  if (v < r) {
    s[0] = 0.5 * top / r * v * v;
    s[1] = top / r * v;
    s[2] = top / r;
  } else {
    s[0] = top * (v - 0.5 * r);
    s[1] = top;
    s[2] = 0;
  }
  if (u >= 0.5) {
    s[0] = 1 - s[0];
    s[2] = -s[2];
  }
}

/* s = u - sin(2πu)/2π */
static void law_cycloidal(double s[3], double u, double ramp)
{
  const double w = 2 * GA__PI;
  (void)ramp;
  s[0] = u - sin(w * u) / w;
  s[1] = 1 - cos(w * u);
  s[2] = w * sin(w * u);
}

/* s = 10u³ - 15u⁴ + 6u⁵ */
static void law_poly345(double s[3], double u, double ramp)
{
  (void)ramp;
  s[0] = u * u * u * (10 + u * (6 * u - 15));
  s[1] = 30 * u * u * (1 - u) * (1 - u);
  s[2] = 60 * u * (1 - u) * (1 - 2 * u);
}

/* s = 35u⁴ - 84u⁵ + 70u⁶ - 20u⁷ */
static void law_poly4567(double s[3], double u, double ramp)
{
  const double r = u * (1 - u);
  (void)ramp;
  s[0] = u * u * u * u * (35 + u * (u * (70 - 20 * u) - 84));
  s[1] = 140 * r * r * r;
  s[2] = 420 * r * r * (1 - 2 * u);
}

static void (*const laws[GA_N_MOTIONS])(double s[3], double u, double ramp) = {
    [GA_MOTION_LINEAR] = law_linear,       [GA_MOTION_TRAPEZOID] = law_trapezoid,
    [GA_MOTION_CYCLOIDAL] = law_cycloidal, [GA_MOTION_POLY345] = law_poly345,
    [GA_MOTION_POLY4567] = law_poly4567,
};

static const char *const law_names[GA_N_MOTIONS] = {
#define GA__MOTION_NAME(law, text, continuous) [law] = text,
    GA_MOTION_LIST(GA__MOTION_NAME)
#undef GA__MOTION_NAME
};

const char *ga_motion_name(ga_motion_law law)
{
  return (unsigned)law < GA_N_MOTIONS ? law_names[law] : NULL;
}

ga_motion_opts ga_motion_defaults(void)
{
  return (ga_motion_opts){.law = GA_MOTION_POLY345, .duration = 1, .to = 1, .ramp = 0.25};
}

ga_status ga__check_finite(ga_context *ctx, const char *what, int n, const char *const *name,
                           const double *value)
{
  for (int i = 0; i < n; i++) {
    if (!isfinite(value[i])) {
      return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NOT_FINITE,
                        &(ga__facts){.kind = what, .field = name[i], GA__NUMBERS({value[i], NULL})});
    }
  }
  return GA_OK;
}

ga_status ga__motion_check(ga_context *ctx, const ga_motion_opts *opts)
{
  static const char *const name[] = {"t_start", "duration", "from", "to", "ramp"};
  const double value[] = {opts->t_start, opts->duration, opts->from, opts->to, opts->ramp};
  ga_status status = ga__check_finite(ctx, "motion", 5, name, value);
  if (!status)
    status = ga__check_choice(ctx, "motion", "law", (int)opts->law, "ga_motion_law", GA_N_MOTIONS - 1);
  if (status) return status;
  if (!(opts->duration > 0)) {
    return ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
        &(ga__facts){
            .kind = "motion", .field = "duration", .expected = "> 0", GA__NUMBERS({opts->duration, "s"})});
  }
  if (opts->law == GA_MOTION_TRAPEZOID && !(opts->ramp > 0 && opts->ramp <= 0.5)) {
    return ga__refuse_number(ctx, "motion", "ramp", opts->ramp, "> 0 and at most 0.5");
  }
  return GA_OK;
}

/* y = from + (to-from) s(u), u = (t-t_start)/duration. */
static ga_status eval_motion(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const ga_motion_opts *m = &f->data.motion;
  const double u = (t - m->t_start) / m->duration, rise = m->to - m->from;
  double s[3] = {u < 0 ? 0 : 1, 0, 0};
  (void)order;
  (void)fault;
  if (u >= 0 && u < 1) laws[m->law](s, u, m->ramp);
  out[0] = u >= 1 ? m->to : m->from + rise * s[0];
  out[1] = rise * s[1] / m->duration;
  out[2] = rise * s[2] / m->duration / m->duration;
  return GA_OK;
}

static ga__range range_motion(const ga_function *f, double from, double to)
{
  const ga_motion_opts *m = &f->data.motion;
  const int moves = (to - m->t_start) / m->duration > 0 && (from - m->t_start) / m->duration < 1;
  const double rounding = moves ? 8 * DBL_EPSILON * (fabs(m->from) + fabs(m->to)) : 0;
  double first[3], last[3];
  eval_motion(f, from, 0, first, NULL); /* every law is monotone up to rounding */
  eval_motion(f, to, 0, last, NULL);
  return (ga__range){fmin(first[0], last[0]) - rounding, fmax(first[0], last[0]) + rounding};
}

/* Both ends, and for a trapezoid the ends of its ramps. */
static int kinked_motion(const ga_function *f, double from, double to)
{
  const ga_motion_opts *m = &f->data.motion;
  const double ramp = m->law == GA_MOTION_TRAPEZOID ? m->ramp : 0, corner[4] = {0, ramp, 1 - ramp, 1};
  for (int i = 0; i < 4; i++) {
    const double t = m->t_start + corner[i] * m->duration;
    if (t > from && t <= to) return 1;
  }
  return 0;
}

/* A motion counts as half an oscillation; a linear one has no period. */
static double period_motion(const ga_function *f, double from, double to)
{
  const ga_motion_opts *m = &f->data.motion;
  const int within = from < m->t_start + m->duration && to > m->t_start;
  return within && m->law != GA_MOTION_LINEAR ? 2 * m->duration : INFINITY;
}

/* The velocity of every law rises up to its middle and falls from there. */
static ga__range slope_motion(const ga_function *f, double from, double to)
{
  const ga_motion_opts *m = &f->data.motion;
  const double middle = m->t_start + 0.5 * m->duration, at[3] = {from, to, middle};
  ga__range out = {INFINITY, -INFINITY};
  for (int i = 0; i < 2 + (from < middle && middle < to); i++) {
    double y[3];
    eval_motion(f, at[i], 1, y, NULL);
    out = ga__range_join(out, (ga__range){y[1], y[1]});
  }
  return out;
}

static int same_motion(const ga_function *f, const ga_function *g)
{
  const ga_motion_opts *a = &f->data.motion, *b = &g->data.motion;
  const double x[] = {a->t_start, a->duration, a->from, a->to, a->ramp},
               y[] = {b->t_start, b->duration, b->from, b->to, b->ramp};
  return a->law == b->law && ga__numbers_same(x, y, sizeof x / sizeof *x);
}

const ga__function_kind ga__kind_motion = {
    "motion", eval_motion, range_motion, kinked_motion, period_motion, NULL, slope_motion, 0, same_motion};

/* ---- Waves ---- */

ga_wave_opts ga_wave_defaults(void)
{
  return (ga_wave_opts){.amplitude = 1, .frequency = 1, .frequency_end = 1};
}

ga_status ga__wave_check(ga_context *ctx, const ga_wave_opts *opts)
{
  static const char *const name[] = {"offset", "amplitude", "frequency", "frequency_end",
                                     "phase",  "t_start",   "sweep"};
  const double value[] = {opts->offset, opts->amplitude, opts->frequency, opts->frequency_end,
                          opts->phase,  opts->t_start,   opts->sweep};
  ga_status status = ga__check_finite(ctx, "wave", 7, name, value);
  if (!status && opts->sweep < 0) {
    status = ga__refuse(
        ctx, GA_ERR_ARGUMENT, GA_REASON_OUT_OF_RANGE,
        &(ga__facts){
            .kind = "wave", .field = "sweep", .expected = "at least 0", GA__NUMBERS({opts->sweep, "s"})});
  }
  return status;
}

/* Turns c = ∫ f dt since t_start, c' = f, c'' = f': the frequency f varies linearly during the sweep and is
 * constant outside. */
static void turns(double c[3], const ga_wave_opts *w, double t)
{
  const double f0 = w->frequency, f1 = w->sweep > 0 ? w->frequency_end : f0, T = w->sweep;
  const double u = t - w->t_start;
  if (T == 0 || u < 0) {
    c[0] = f0 * u;
    c[1] = f0;
    c[2] = 0;
  } else if (u < T) {
    c[2] = (f1 - f0) / T;
    c[1] = f0 + c[2] * u;
    c[0] = (f0 + 0.5 * c[2] * u) * u;
  } else {
    c[0] = 0.5 * (f0 + f1) * T + f1 * (u - T);
    c[1] = f1;
    c[2] = 0;
  }
}

/* y = offset + amplitude sin φ, y', y''; phase[3] := φ, φ', φ'', without whole turns, for accuracy at large
 * t. */
static void wave_at(double out[3], double phase[3], const ga_wave_opts *w, double t)
{
  double c[3];
  turns(c, w, t);
  phase[0] = w->phase + 2 * GA__PI * fmod(c[0], 1);
  phase[1] = 2 * GA__PI * c[1];
  phase[2] = 2 * GA__PI * c[2];
  out[0] = w->offset + w->amplitude * sin(phase[0]);
  out[1] = w->amplitude * cos(phase[0]) * phase[1];
  out[2] = w->amplitude * (cos(phase[0]) * 2 * GA__PI * c[2] - sin(phase[0]) * phase[1] * phase[1]);
}

/* Adds the change of y to first order. That of φ is linear in those of phase and frequencies, d:
 * dy = dA sin φ + A cos φ dφ, and the derivatives of this by t. */
static void add_change(double out[3], const double phase[3], const ga_wave_opts *w, const ga_wave_opts *d,
                       double t)
{
  const double s = sin(phase[0]), c = cos(phase[0]), rate = phase[1], a = d->amplitude, A = w->amplitude;
  double n[3];
  turns(n, d, t);
  const double by = d->phase + 2 * GA__PI * n[0], by_1 = 2 * GA__PI * n[1], by_2 = 2 * GA__PI * n[2];
  out[0] += d->offset + a * s + A * c * by;
  out[1] += a * c * rate + A * (c * by_1 - s * rate * by);
  out[2] += a * (c * phase[2] - s * rate * rate) +
            A * (c * by_2 - 2 * s * rate * by_1 - (c * rate * rate + s * phase[2]) * by);
}

static ga_status eval_wave(const ga_function *f, double t, int order, double out[3], ga_fault *fault)
{
  const ga__wave *w = &f->data.wave;
  const ga_wave_opts *to = &w->opts, *from = &w->base;
  double phase[3];
  (void)order;
  (void)fault;
  wave_at(out, phase, w->along ? from : to, t);
  if (!w->along) return GA_OK;
  const ga_wave_opts d = {.offset = to->offset - from->offset,
                          .amplitude = to->amplitude - from->amplitude,
                          .frequency = to->frequency - from->frequency,
                          .frequency_end = to->frequency_end - from->frequency_end,
                          .phase = to->phase - from->phase,
                          .t_start = to->t_start,
                          .sweep = to->sweep};
  add_change(out, phase, from, &d, t);
  return GA_OK;
}

/* Range of the turns within [from, to]: at its ends, and where the frequency of a sweep is 0. */
static ga__range range_turns(const ga_wave_opts *w, double from, double to)
{
  double first[3], last[3], still[3];
  turns(first, w, from);
  turns(last, w, to);
  ga__range out = {fmin(first[0], last[0]), fmax(first[0], last[0])};
  if (w->sweep > 0 && w->frequency != w->frequency_end) {
    const double t = w->t_start + w->sweep * w->frequency / (w->frequency - w->frequency_end);
    turns(still, w, fmin(fmax(t, from), to));
    out = ga__range_join(out, (ga__range){still[0], still[0]});
  }
  return out;
}

static ga__range range_wave(const ga_function *f, double from, double to)
{
  const ga_wave_opts *w = &f->data.wave.opts;
  const ga__range c = range_turns(w, from, to);
  const ga__range angle = {w->phase + 2 * GA__PI * c.lo, w->phase + 2 * GA__PI * c.hi};
  const double a = sin(angle.lo), b = sin(angle.hi);
  const ga__range sine = ga__range_wave((ga__range){fmin(a, b), fmax(a, b)}, &angle, 0.5 * GA__PI);
  const double one = w->offset + w->amplitude * sine.lo, other = w->offset + w->amplitude * sine.hi;
  const double slack =
      DBL_EPSILON * (8 * fabs(w->amplitude) * (1 + fmax(fabs(angle.lo), fabs(angle.hi))) + fabs(w->offset));
  return (ga__range){fmin(one, other) - slack, fmax(one, other) + slack};
}

/* Both ends of a sweep. */
static int kinked_wave(const ga_function *f, double from, double to)
{
  const ga_wave_opts *w = &f->data.wave.opts;
  const double first = w->t_start, last = first + w->sweep;
  return w->sweep > 0 && ((first > from && first <= to) || (last > from && last <= to));
}

static double period_wave(const ga_function *f, double from, double to)
{
  double first[3], last[3];
  turns(first, &f->data.wave.opts, from);
  turns(last, &f->data.wave.opts, to);
  const double fastest = fmax(fabs(first[1]), fabs(last[1]));
  return fastest > 0 && f->data.wave.opts.amplitude != 0 ? 1 / fastest : INFINITY;
}

static int same_wave(const ga_function *f, const ga_function *g)
{
  const ga_wave_opts *a = &f->data.wave.opts, *b = &g->data.wave.opts;
  const double x[] = {a->offset, a->amplitude, a->frequency, a->frequency_end,
                      a->phase,  a->t_start,   a->sweep},
               y[] = {b->offset, b->amplitude, b->frequency, b->frequency_end,
                      b->phase,  b->t_start,   b->sweep};
  return ga__numbers_same(x, y, sizeof x / sizeof *x);
}

const ga__function_kind ga__kind_wave = {"wave", eval_wave, range_wave, kinked_wave, period_wave,
                                         NULL,   NULL,      0,          same_wave};
