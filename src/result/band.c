/* Error bars of signals, from two runs with steps of two sizes. */
#include "galpha/result.h"
#include "base/base_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Time is divided into BINS equal parts; for each signal the largest estimate of each part is kept. */
enum { BINS = 100, MARKS = 20 };
#define RICHARDSON (1.0 / 3.0) /* of the difference of step h and h/2, order 2: the error with h/2 */

/* The scale that errors of a signal are compared with.
 *
 * - A signal that changes by more than RESOLVED error bars: its own range.
 * - A signal that changes less may consist of errors only, as the acceleration of a point at rest. Then the
 * second run, with half the steps, changes by a quarter: by less than SHRINKS of the first run, and by less
 * than TYPICAL estimates of its error in the mean of squares, or FALLS times less than in the previous round.
 * Such a signal counts as constant. Its scale is its value, if that is more than RESOLVED error bars, but at
 * most the largest range of its unit. Otherwise it counts as 0, and its scale is the range of other signals
 * of the same object and unit; if they do not change, ALONE times the largest range of the unit (for
 * accelerations gravity, if there is any); if nothing of this unit changes, LEAST in SI units, unless it has
 *   also become FALLS times smaller since the previous round.
 * - A signal that changes little and does not shrink keeps its own range, and so a large relative error.
 *
 * Rounding neither shrinks nor changes. It is what is below DIGITS times the value, or NOTHING in SI units;
 * or below NOISE times the largest range of the unit (ABSENT in SI units if there is none), unless it is
 * larger than STRONG error bars, or SURE if it is below LOST times that
 * range, where it need not be more than rounding that both runs have in common. */
#define RESOLVED 3.0
#define SHRINKS 0.6
#define TYPICAL 1.5
#define ALONE 1e-1
#define LEAST 1e-6
#define FALLS 2.0
#define NOISE 1e-8
#define ABSENT 1e-9
#define DIGITS 1e-11
#define STRONG 30.0
#define LOST 1e-14
#define SURE 900.0
#define NOTHING 1e-15
#define TRUSTED 0.05 /* largest relative error of a round that the next one is compared with */

/* Relative rounding of the time: events, above all jumps of inputs, may be early or late by this. */
#define CLOCK (16 * DBL_EPSILON)
/* Records that are no farther apart, relative to the time or the whole run, are the two sides of a jump,
 * which is no change of the signal on either side. */
#define SIDES 1e-9

/* Data of one signal; doubles only, since it is saved as an array. */
typedef struct track {
  double largest, t_largest;    /* estimate, and when */
  double low, high;             /* values of the second run */
  double first_low, first_high; /* and of the first */
  double begin;                 /* first value of the second run */
  double sum, squares;          /* sums of the change since then, and of its square */
  double differences;           /* sum of the squares of all estimates */
  double window;                /* largest estimate of the earlier bins in the window */
  double last, slip;            /* value at the previous record; largest change within a rounding of time */
  double past;                  /* range in the previous round, if it was not resolved; 0: none */
  double settled;               /* 1: it was constant in the previous round */
  double bin[BINS];
  double mark[MARKS], mark_bar[MARKS]; /* values and error bars at some records, to compare rounds by */
} track;

enum { TRACK_NUMBERS = sizeof(track) / sizeof(double) };

struct ga_band {
  ga_context *ctx;
  ga_band_opts opts;
  int n, reach;         /* signals; bins that the window goes back */
  int *unit;            /* [n] number of its unit */
  int *object;          /* [n] first signal of its object */
  int *quaternion;      /* [n] components of a quaternion that begins here, 0: none */
  int *flips;           /* [n] 1: an angle that flips by half a turn where the pitch passes a right angle */
  int n_units;          /* the last one is that of energies */
  int kinetic;          /* the kinetic energy, whose range begins at 0; -1: not recorded */
  int accelerations;    /* number of their unit; -1: there are none */
  int at;               /* the present bin; -1: none */
  double count;         /* of records */
  double t_last;        /* [s] of the last one */
  double t_mark[MARKS]; /* [s] of the marks; NaN: not yet reached */
  track *tracks;        /* [n] */
  double
      *known; /* [n_units + 1] largest range of each unit that is not error; the count it was computed for */
};

#define HALF_TURN 3.14159265358979323846

ga_band_opts ga_band_defaults(void)
{
  return (ga_band_opts){.factor = 2.0, .window = 0.1};
}

/* ---- Creation ---- */

static int is_energy(const char *name)
{
  return strncmp(name, "energy.", 7) == 0;
}

static void number_units(ga_band *b)
{
  const ga_band_opts *o = &b->opts;
  for (int i = 0; i < b->n; i++) {
    b->unit[i] = -1;
    for (int k = 0; k < i && b->unit[i] < 0 && !is_energy(o->names[i]); k++)
      if (!is_energy(o->names[k]) && strcmp(o->units[k], o->units[i]) == 0) b->unit[i] = b->unit[k];
    if (b->unit[i] < 0 && !is_energy(o->names[i])) b->unit[i] = b->n_units++;
  }
  for (int i = 0; i < b->n; i++)
    if (b->unit[i] < 0) b->unit[i] = b->n_units;
  b->n_units++;
}

/* Length of the name before .qw, .qx, .qy or .qz; 0: it is no component of a quaternion. */
static size_t stem(const char *name)
{
  const size_t n = strlen(name);
  return n > 3 && name[n - 3] == '.' && name[n - 2] == 'q' && strchr("wxyz", name[n - 1]) ? n - 3 : 0;
}

/* Roll and yaw of bodies, also those of wheels that turn: with φ, θ, ψ the angles φ + π, π − θ, ψ + π give
 * the same rotation, and |θ| is at most π/2. */
static int is_roll_or_yaw(const char *name, const char *unit)
{
  const char *last = strrchr(name, '.');
  return last && strcmp(unit, "rad") == 0 && (strcmp(last, ".roll") == 0 || strcmp(last, ".yaw") == 0);
}

static void find_quaternions(ga_band *b)
{
  const char *const *name = b->opts.names;
  for (int i = 0; i < b->n;) {
    const size_t n = stem(name[i]);
    int k = 1;
    while (n > 0 && k < 4 && i + k < b->n && stem(name[i + k]) == n && strncmp(name[i], name[i + k], n) == 0)
      k++;
    b->quaternion[i] = n > 0 ? k : 0;
    i += k;
  }
}

/* Length of the name before its last point; 0: it has none. */
static size_t object_length(const char *name)
{
  const char *point = strrchr(name, '.');
  return point ? (size_t)(point - name) : 0;
}

/* Signals of one object follow each other. */
static void find_objects(ga_band *b)
{
  const char *const *name = b->opts.names;
  for (int i = 0, first = 0; i < b->n; i++) {
    const size_t n = object_length(name[i]);
    if (n == 0 || n != object_length(name[first]) || strncmp(name[i], name[first], n) != 0) first = i;
    b->object[i] = first;
  }
}

static ga_status take_memory(ga_band *b)
{
  const size_t n = (size_t)b->n;
  b->unit = ga__alloc(b->ctx, n, sizeof *b->unit);
  b->object = ga__alloc(b->ctx, n, sizeof *b->object);
  b->quaternion = ga__alloc(b->ctx, n, sizeof *b->quaternion);
  b->flips = ga__alloc(b->ctx, n, sizeof *b->flips);
  b->tracks = ga__alloc(b->ctx, n, sizeof *b->tracks);
  b->known = ga__alloc(b->ctx, n + 2, sizeof *b->known);
  const int complete = b->unit && b->object && b->quaternion && b->flips && b->tracks && b->known;
  return complete ? GA_OK : ga__no_memory(b->ctx, "error bars");
}

static void remember(ga_band *b, const ga_band *before);

static ga_status check_opts(ga_context *ctx, const ga_band_opts *o)
{
  static const char kind[] = "error bars";
  if (o->n_signals < 1) return ga__refuse_number(ctx, kind, "n_signals", o->n_signals, "at least 1");
  if (!o->names || !o->units)
    return ga__refuse_missing(ctx, kind, "n_signals", o->n_signals, o->names ? "units" : "names");
  if (!(o->t_end > o->t_start))
    return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.kind = kind,
                                   .field = "t_end",
                                   .expected = "after t_start",
                                   GA__NUMBERS({o->t_end, "s"}, {o->t_start, "s"})});
  if (!(o->factor > 0.0)) return ga__refuse_number(ctx, kind, "factor", o->factor, "> 0");
  if (!(o->window >= 0.0 && o->window <= 1.0))
    return ga__refuse_number(ctx, kind, "window", o->window, "from 0 to 1");
  if (!(o->least >= 0.0 && o->least <= 1.0))
    return ga__refuse_number(ctx, kind, "least", o->least, "from 0 to 1");
  return GA_OK;
}

ga_status ga_band_create(ga_context *ctx, const ga_band_opts *opts, ga_band **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !opts) return ga__refuse_null(ctx, __func__, opts ? "out" : "opts");
  const ga_status wrong = check_opts(ctx, opts);
  if (wrong) return wrong;
  ga_band *b = ga__alloc(ctx, 1, sizeof *b);
  if (!b) return ga__no_memory(ctx, "error bars");
  b->ctx = ctx;
  b->opts = *opts;
  b->n = opts->n_signals;
  b->reach = (int)ceil(opts->window * BINS);
  b->at = -1;
  const ga_status status = take_memory(b);
  if (status) return ga_band_destroy(&b), status;
  number_units(b);
  find_objects(b);
  find_quaternions(b);
  for (int i = 0; i < b->n; i++) b->flips[i] = is_roll_or_yaw(b->opts.names[i], b->opts.units[i]);
  b->kinetic = b->accelerations = -1;
  for (int i = 0; i < b->n; i++) {
    if (strcmp(opts->names[i], "energy.kinetic") == 0) b->kinetic = i;
    if (strcmp(opts->units[i], "m/s^2") == 0) b->accelerations = b->unit[i];
  }
  for (int j = 0; j < MARKS; j++) b->t_mark[j] = NAN;
  remember(b, opts->before);
  *out = b;
  return GA_OK;
}

void ga_band_destroy(ga_band **b)
{
  if (!b || !*b) return;
  ga_context *ctx = (*b)->ctx;
  ga__free(ctx, (*b)->unit);
  ga__free(ctx, (*b)->object);
  ga__free(ctx, (*b)->quaternion);
  ga__free(ctx, (*b)->flips);
  ga__free(ctx, (*b)->tracks);
  ga__free(ctx, (*b)->known);
  ga__free(ctx, *b);
  *b = NULL;
}

/* ---- Records ---- */

static int bin_of(const ga_band *b, double t)
{
  const double k = floor(BINS * (t - b->opts.t_start) / (b->opts.t_end - b->opts.t_start));
  return k < 0.0 ? 0 : k >= BINS ? BINS - 1 : (int)k;
}

/* The window of the bins before k, once a bin. */
static void enter_bin(ga_band *b, int k)
{
  const int from = k > b->reach ? k - b->reach : 0;
  b->at = k;
  for (int i = 0; i < b->n; i++) {
    track *s = &b->tracks[i];
    s->window = 0.0;
    for (int j = from; j < k; j++) s->window = fmax(s->window, s->bin[j]);
  }
}

/* −1 if the quaternion of the first run is nearer to that of the second with its sign changed, else 1. */
static double sign_of(const double *first, const double *second, int n)
{
  double same = 0.0;
  for (int i = 0; i < n; i++) same += first[i] * second[i];
  return same < 0.0 ? -1.0 : 1.0;
}

/* first, second: values of both runs; e: the estimate of the second one's error. */
static void track_error(track *s, int begin, double t, double first, double second, double e)
{
  if (begin) {
    s->low = s->high = s->begin = second;
    s->first_low = s->first_high = first;
  }
  if (begin || e > s->largest || e != e) s->largest = e, s->t_largest = t;
  s->low = fmin(s->low, second);
  s->high = fmax(s->high, second);
  s->first_low = fmin(s->first_low, first);
  s->first_high = fmax(s->first_high, first);
  s->sum += second - s->begin;
  s->squares += (second - s->begin) * (second - s->begin);
  s->differences += e * e;
}

/* Largest change of the signal within the rounding of the time; smooth 1: not across a jump. */
static double rounding_of_clock(track *s, int smooth, double t_last, double t, double value)
{
  if (smooth) s->slip = fmax(s->slip, fabs(value - s->last) * CLOCK * fabs(t) / fabs(t - t_last));
  s->last = value;
  return s->slip;
}

/* Number of the mark that the first record of bin k is; -1: it is none. */
static int mark_of(int k)
{
  return k % (BINS / MARKS) == 0 ? k / (BINS / MARKS) : -1;
}

/* Lower bound of an error bar from the previous round, if that was reliable; 0: none. Errors decrease with
 * the power 2/3 of the tolerance: a bar that decreased by more than the tolerance is small by chance, as
 * where forces jump with the motion. And if the two rounds differ by more than their error bars, one of them
 * is wrong. */
static double least_bar(const ga_band *b, int i, int j, double value, double bar)
{
  const ga_band *before = b->opts.before;
  if (!before || i >= before->n || before->t_mark[j] != b->t_mark[j]) return 0.0;
  const track *s = &before->tracks[i];
  const ga_band_signal was = ga_band_of(before, i);
  if (was.constant || !(was.ratio < TRUSTED)) return 0.0;
  const double other = stem(b->opts.names[i]) ? fabs(value + s->mark[j]) : HUGE_VAL,
               gap = fmin(fabs(value - s->mark[j]), other);
  return gap > s->mark_bar[j] + bar ? gap : b->opts.smaller * s->mark_bar[j];
}

static void set_mark(ga_band *b, int i, int j, double value, double *bar)
{
  track *s = &b->tracks[i];
  const double least = least_bar(b, i, j, value, *bar), e = least / b->opts.factor;
  s->bin[b->at] = e > s->bin[b->at] ? e : s->bin[b->at];
  if (e > s->largest) s->largest = e, s->t_largest = b->t_mark[j];
  if (least > *bar) *bar = least;
  s->mark[j] = value;
  s->mark_bar[j] = *bar;
}

static double range_of(const ga_band *b, int i)
{
  return b->tracks[i].high - b->tracks[i].low;
}

static double size_of(const ga_band *b, int i)
{
  return fmax(fabs(b->tracks[i].low), fabs(b->tracks[i].high));
}

/* Lower bound of an error bar from the requested accuracy: errors of steps may cancel, so that the difference
 * of the two runs is small by chance. Signals that are equal up to rounding, as functions of time, have no
 * such errors. */
static double at_least(const ga_band *b, int i, double bar)
{
  const track *s = &b->tracks[i];
  const double least = b->opts.least * range_of(b, i);
  return bar < least && s->largest > DIGITS * size_of(b, i) ? least : bar;
}

void ga_band_add(ga_band *b, double t, const double *first, const double *second, double *error)
{
  if (!b || !first || !second || !error) return;
  const int k = bin_of(b, t), begin = b->at < 0, mark = k != b->at ? mark_of(k) : -1;
  const int smooth = !begin && fabs(t - b->t_last) > SIDES * fmax(fabs(t), b->opts.t_end - b->opts.t_start);
  int left = 0; /* components of the quaternion under way */
  double sign = 1.0;
  if (k != b->at) enter_bin(b, k);
  b->count += 1.0;
  if (mark >= 0) b->t_mark[mark] = t;
  for (int i = 0; i < b->n; i++) {
    track *s = &b->tracks[i];
    if (left > 0) left--;
    if (b->quaternion[i]) left = b->quaternion[i], sign = sign_of(first + i, second + i, left);
    const double aligned = b->flips[i] ? second[i] + remainder(first[i] - second[i], HALF_TURN)
                                       : (left > 0 ? sign : 1.0) * first[i];
    const double apart = RICHARDSON * fabs(aligned - second[i]),
                 slip = rounding_of_clock(s, smooth, b->t_last, t, second[i]),
                 e = apart < slip ? slip : apart;
    track_error(s, begin, t, aligned, second[i], e);
    if (e > s->bin[k] || e != e) s->bin[k] = e;
    error[i] = b->opts.factor * (s->bin[k] < s->window ? s->window : s->bin[k]);
    if (mark >= 0) set_mark(b, i, mark, second[i], &error[i]);
    error[i] = at_least(b, i, error[i]);
  }
  b->t_last = t;
}

void ga_band_set_factor(ga_band *b, double factor)
{
  if (b && factor > 0.0) b->opts.factor = factor;
}

/* ---- Evaluation ---- */

static double bar_of(const ga_band *b, int i)
{
  return b->opts.factor * b->tracks[i].largest;
}

/* 1: the range or value is larger than error and rounding; known: largest range of the unit. */
static int is_above_rounding(const ga_band *b, int i, double value, double known)
{
  const double bar = bar_of(b, i);
  if (!(value > RESOLVED * bar && value > fmax(DIGITS * size_of(b, i), NOTHING))) return 0;
  const double strong = value > LOST * known ? STRONG : SURE;
  return value > strong * bar || value > (known > 0.0 ? NOISE * known : ABSENT);
}

/* 1: it has become smaller since the previous round, where it was not resolved either. */
static int has_fallen(const ga_band *b, int i)
{
  return range_of(b, i) * FALLS <= b->tracks[i].past;
}

/* 1: in the second run it changes less than in the first, by its range and by the mean of squares; or much
 * less than in the previous round, or not more if it was constant there (the position of records within steps
 * is random). */
static int has_shrunk(const ga_band *b, int i)
{
  const track *s = &b->tracks[i];
  if (s->past > 0.0 && (has_fallen(b, i) || (s->settled != 0.0 && range_of(b, i) <= s->past))) return 1;
  return range_of(b, i) <= SHRINKS * (s->first_high - s->first_low) &&
         s->squares - s->sum * s->sum / b->count <= TYPICAL * TYPICAL * s->differences;
}

/* 1: its range is a scale for other signals of its unit: it is resolved, or is the same in both runs and
 * above rounding. */
static int is_measure(const ga_band *b, int i, double range)
{
  return is_above_rounding(b, i, range, 0.0) ||
         (range > fmax(ABSENT, DIGITS * size_of(b, i)) && !has_shrunk(b, i));
}

/* Largest range of the signal's unit; found once for all signals after a record. */
static double known_range(const ga_band *b, int i)
{
  double *known = b->known;
  if (known[b->n_units] != b->count) {
    for (int k = 0; k < b->n_units; k++) known[k] = k == b->accelerations ? fmax(b->opts.gravity, 0.0) : 0.0;
    for (int k = 0; k < b->n; k++) {
      const double range = k == b->kinetic ? b->tracks[k].high : range_of(b, k);
      if (is_measure(b, k, range)) known[b->unit[k]] = fmax(known[b->unit[k]], range);
    }
    known[b->n_units] = b->count;
  }
  return known[b->unit[i]];
}

static int is_resolved(const ga_band *b, int i)
{
  return is_above_rounding(b, i, range_of(b, i), known_range(b, i));
}

/* 1: its changes are error or rounding. */
static int is_constant(const ga_band *b, int i)
{
  const double known = known_range(b, i), seen = fmax(range_of(b, i), bar_of(b, i));
  if (is_above_rounding(b, i, range_of(b, i), known)) return 0;
  return has_shrunk(b, i) || seen <= fmax(known > 0.0 ? NOISE * known : ABSENT, DIGITS * size_of(b, i));
}

/* Largest range of the same object and unit; 0: none is known. */
static double known_in_object(const ga_band *b, int i)
{
  double most = 0.0;
  for (int k = b->object[i]; k < b->n && b->object[k] == b->object[i]; k++)
    if (b->unit[k] == b->unit[i] && !is_constant(b, k)) most = fmax(most, range_of(b, k));
  return most;
}

static double scale_of_constant(const ga_band *b, int i)
{
  const track *s = &b->tracks[i];
  const double known = known_range(b, i), value = 0.5 * fabs(s->low + s->high);
  if (is_above_rounding(b, i, value, known)) return known > 0.0 ? fmin(value, known) : value;
  const double near = known_in_object(b, i);
  const double gravity = b->unit[i] == b->accelerations ? b->opts.gravity : 0.0;
  if (near > 0.0 || known > 0.0) return near > 0.0 ? near : fmax(ALONE * known, gravity);
  return has_fallen(b, i) ? 0.0 : LEAST;
}

static double scale_of(const ga_band *b, int i)
{
  const double known = known_range(b, i);
  if (b->unit[i] == b->n_units - 1 && known > 0.0) return known;
  return is_constant(b, i) ? scale_of_constant(b, i) : range_of(b, i);
}

/* Keeps the ranges of unresolved signals of the previous round. */
static void remember(ga_band *b, const ga_band *before)
{
  for (int i = 0; before && before->count > 0.0 && i < b->n && i < before->n; i++) {
    b->tracks[i].past = is_resolved(before, i) ? 0.0 : range_of(before, i);
    b->tracks[i].settled = is_constant(before, i);
  }
}

ga_band_signal ga_band_of(const ga_band *b, int i)
{
  if (!b || i < 0 || i >= b->n || b->at < 0) return (ga_band_signal){0};
  const track *s = &b->tracks[i];
  const double scale = scale_of(b, i), error = at_least(b, i, bar_of(b, i)),
               ratio = scale == 0.0 ? 0.0 : error / scale;
  return (ga_band_signal){error, s->t_largest, s->low, s->high, scale, ratio, is_constant(b, i)};
}

int ga_band_worst(const ga_band *b, double *ratio)
{
  int worst = -1;
  double most = 0.0;
  for (int i = 0; b && b->at >= 0 && i < b->n; i++) {
    const double r = ga_band_of(b, i).ratio;
    if (worst < 0 || r > most || (r != r && most == most)) worst = i, most = r;
  }
  if (ratio) *ratio = most;
  return worst;
}

/* Largest relative error of any signal within each bin. Errors of a chaotic motion do not shrink, so an
 * unresolved signal is not compared with its own range here. */
static void profile(const ga_band *b, double out[BINS])
{
  memset(out, 0, BINS * sizeof *out);
  for (int i = 0; i < b->n; i++) {
    const double *bin = b->tracks[i].bin, least = is_resolved(b, i) ? 0.0 : ALONE * known_range(b, i),
                 scale = fmax(scale_of(b, i), least);
    for (int k = 0; scale > 0.0 && k < BINS; k++) out[k] = fmax(out[k], b->opts.factor * bin[k] / scale);
  }
}

static double time_of_bin(const ga_band *b, int k)
{
  return k >= BINS ? b->opts.t_end : b->opts.t_start + k * (b->opts.t_end - b->opts.t_start) / BINS;
}

/* First bin that has this value or more, BINS: none has. */
static int first_above(const double value[BINS], double most)
{
  int k = 0;
  while (k < BINS && !(value[k] >= most)) k++;
  return k;
}

double ga_band_until(const ga_band *b, double ratio)
{
  double ratios[BINS];
  if (!b || b->at < 0) return 0.0;
  profile(b, ratios);
  int k = 0;
  while (k < BINS && ratios[k] <= ratio) k++;
  return time_of_bin(b, k);
}

/* An isolated peak: at most this fraction of the bins has more than a tenth of it. */
#define PEAK 0.1

int ga_band_jumps(const ga_band *b, int i, double *t)
{
  int high = 0;
  if (!b || !t || i < 0 || i >= b->n || b->at < 0) return 0;
  const track *s = &b->tracks[i];
  for (int k = 0; k < BINS; k++) high += s->bin[k] > 0.1 * s->largest;
  *t = s->t_largest;
  return high > 0 && high <= PEAK * BINS;
}

/* Times at which the largest relative error reaches three levels with equal ratios: equal intervals mean
 * exponential growth; for a power of t up to 4 the second interval is more than twice the first. */
static int grows_between(const ga_band *b, const double ratios[BINS], double low, double factor,
                         double *decade)
{
  const double end = ratios[BINS - 1];
  const int k1 = first_above(ratios, low * end), k2 = first_above(ratios, low * factor * end),
            k3 = first_above(ratios, low * factor * factor * end);
  *decade = (time_of_bin(b, k3) - time_of_bin(b, k1)) / (2.0 * log10(factor));
  return end > 0.0 && k1 > 0 && k2 - k1 >= 2 && k3 - k2 >= 2 && k3 - k2 <= 1.7 * (k2 - k1);
}

/* 1: the error of signal i appears suddenly, as for a force that jumps at different times in the two runs. */
static int error_jumps(const ga_band *b, int i)
{
  const track *s = &b->tracks[i];
  return first_above(s->bin, 0.3 * s->largest) - first_above(s->bin, 1e-3 * s->largest) < 2;
}

int ga_band_grows(const ga_band *b, double *decade)
{
  double ratios[BINS];
  if (!b || !decade || b->at < 0 || error_jumps(b, ga_band_worst(b, NULL))) return 0;
  profile(b, ratios);
  for (int k = 1; k < BINS; k++) ratios[k] = fmax(ratios[k], ratios[k - 1]);
  return grows_between(b, ratios, 1e-4, 30.0, decade) || grows_between(b, ratios, 5e-3, 10.0, decade);
}

/* ---- Saving ---- */

enum { N_HEAD = 5 };

size_t ga_band_saved_size(const ga_band *b)
{
  return b ? N_HEAD + MARKS + (size_t)b->n * TRACK_NUMBERS : 0;
}

void ga_band_save(const ga_band *b, double *saved)
{
  if (!b || !saved) return;
  saved[0] = b->n;
  saved[1] = b->at;
  saved[2] = b->count;
  saved[3] = b->t_last;
  saved[4] = b->opts.factor;
  for (int j = 0; j < MARKS; j++) saved[N_HEAD + j] = b->t_mark[j] == b->t_mark[j] ? b->t_mark[j] : HUGE_VAL;
  memcpy(saved + N_HEAD + MARKS, b->tracks, (size_t)b->n * sizeof *b->tracks);
}

ga_status ga_band_load(ga_band *b, const double *saved)
{
  if (!b || !saved) return ga__null_argument(b ? b->ctx : NULL);
  const int other = saved[0] != b->n;
  if (other || !(saved[1] >= -1.0 && saved[1] < BINS))
    return ga__refuse(b->ctx, GA_ERR_ARGUMENT, GA_REASON_SAVED_STATE,
                      &(ga__facts){.function = __func__,
                                   .field = other ? "number of signals" : "part of the run",
                                   .expected = other ? "that of these error bars:" : "below",
                                   GA__NUMBERS({saved[!other], NULL}, {other ? b->n : BINS, NULL})});
  b->at = (int)saved[1];
  b->count = saved[2];
  b->t_last = saved[3];
  ga_band_set_factor(b, saved[4]);
  b->known[b->n_units] = -1.0;
  memcpy(b->t_mark, saved + N_HEAD, sizeof b->t_mark);
  memcpy(b->tracks, saved + N_HEAD + MARKS, (size_t)b->n * sizeof *b->tracks);
  return GA_OK;
}
