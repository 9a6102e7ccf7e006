/* Error bars of signals, from two runs with steps of two sizes. */
#include "galpha/result.h"
#include "base/base_impl.h"

#include <math.h>
#include <string.h>

/* Time is divided into BINS equal parts; of each signal the largest estimate within each is kept. */
enum { BINS = 100 };
/* Below FLOOR times the largest range of its unit a signal needs no accuracy of its own. One that moves by no
 * more than CONSTANT times its error bar, which is below IDLE of that range, is a constant as far as can be
 * told, as is the acceleration of a point that does not move: its values are errors, and no part of them is a
 * measure. It is compared with the largest range of its unit, or with LEAST, in SI units, where
 * there is none. What moves by less than NOTHING, in SI units, is rounding. */
#define FLOOR 1e-6
#define CONSTANT 3.0
#define IDLE 1e-2
#define LEAST 1e-6
#define NOTHING 1e-12
#define RICHARDSON (1.0 / 3.0) /* of the difference of step h and h/2, order 2: the error with h/2 */

struct ga_band {
  ga_context *ctx;
  ga_band_opts opts;
  int n, reach;       /* signals; bins that the window goes back */
  int *unit;          /* [n] number of its unit */
  int *quaternion;    /* [n] components of a quaternion that begins here, 0: none */
  int n_units;        /* the last one is that of energies, */
  int kinetic;        /* among which this one counts from 0 on; -1: it is not recorded */
  double *largest;    /* [n] estimates, */
  double *t_largest;  /* [n] and when */
  double *low, *high; /* [n] */
  double *most;       /* [n_units] largest range of signals of the unit */
  double *bin;        /* [n][BINS] */
  double *window;     /* [n] largest of the bins before the present one that are in the window */
  int at;             /* the present bin; -1: none */
};

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

static ga_status take_memory(ga_band *b)
{
  const size_t n = (size_t)b->n;
  b->unit = ga__alloc(b->ctx, n, sizeof *b->unit);
  b->quaternion = ga__alloc(b->ctx, n, sizeof *b->quaternion);
  b->largest = ga__alloc(b->ctx, n * (6 + BINS) + 1, sizeof *b->largest);
  if (!b->unit || !b->quaternion || !b->largest) return ga__no_memory(b->ctx, "error bars");
  b->t_largest = b->largest + n;
  b->low = b->largest + 2 * n;
  b->high = b->largest + 3 * n;
  b->window = b->largest + 4 * n;
  b->most = b->largest + 5 * n;
  b->bin = b->largest + 6 * n + 1;
  return GA_OK;
}

ga_status ga_band_create(ga_context *ctx, const ga_band_opts *opts, ga_band **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!out || !opts || opts->n_signals < 1 || !opts->names || !opts->units)
    return ga__fail(ctx, GA_ERR_ARGUMENT, "ga_band_create: out, names and units of signals are needed");
  if (!(opts->t_end > opts->t_start) || !(opts->factor > 0.0) ||
      !(opts->window >= 0.0 && opts->window <= 1.0))
    return ga__fail(
        ctx, GA_ERR_ARGUMENT,
        "ga_band_create: t from %g to %g, factor %g, window %g: the end must come after the start, "
        "the factor be positive, the window from 0 to 1",
        opts->t_start, opts->t_end, opts->factor, opts->window);
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
  find_quaternions(b);
  b->kinetic = -1;
  for (int i = 0; i < b->n; i++)
    if (strcmp(opts->names[i], "energy.kinetic") == 0) b->kinetic = i;
  for (int i = 0; i < b->n; i++)
    if (strcmp(opts->units[i], "m/s^2") == 0) b->most[b->unit[i]] = fmax(opts->gravity, 0.0);
  *out = b;
  return GA_OK;
}

void ga_band_destroy(ga_band **b)
{
  if (!b || !*b) return;
  ga_context *ctx = (*b)->ctx;
  ga__free(ctx, (*b)->unit);
  ga__free(ctx, (*b)->quaternion);
  ga__free(ctx, (*b)->largest);
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
    const double *bin = b->bin + (size_t)i * BINS;
    b->window[i] = 0.0;
    for (int j = from; j < k; j++) b->window[i] = fmax(b->window[i], bin[j]);
  }
}

/* −1 where the first run's quaternion is nearer to the second's with its sign changed. */
static double sign_of(const double *first, const double *second, int n)
{
  double same = 0.0;
  for (int i = 0; i < n; i++) same += first[i] * second[i];
  return same < 0.0 ? -1.0 : 1.0;
}

static double range_of(const ga_band *b, int i)
{
  return b->high[i] - b->low[i];
}

void ga_band_add(ga_band *b, double t, const double *first, const double *second, double *error)
{
  if (!b || !first || !second || !error) return;
  const int k = bin_of(b, t), begin = b->at < 0;
  int left = 0; /* components of the quaternion under way */
  double sign = 1.0;
  if (k != b->at) enter_bin(b, k);
  for (int i = 0; i < b->n; i++) {
    double *here = &b->bin[(size_t)i * BINS + (size_t)k];
    if (left > 0) left--;
    if (b->quaternion[i]) left = b->quaternion[i], sign = sign_of(first + i, second + i, left);
    const double e = RICHARDSON * fabs((left > 0 ? sign : 1.0) * first[i] - second[i]);
    if (e > *here || e != e) *here = e;
    if (begin || e > b->largest[i] || e != e) b->largest[i] = e, b->t_largest[i] = t;
    b->low[i] = begin ? second[i] : fmin(b->low[i], second[i]);
    b->high[i] = begin ? second[i] : fmax(b->high[i], second[i]);
    b->most[b->unit[i]] = fmax(b->most[b->unit[i]], i == b->kinetic ? second[i] : range_of(b, i));
    error[i] = b->opts.factor * (*here < b->window[i] ? b->window[i] : *here);
  }
}

/* ---- What has been seen ---- */

static int is_constant(const ga_band *b, int i)
{
  const double bar = b->opts.factor * b->largest[i];
  return range_of(b, i) <= CONSTANT * bar && bar <= fmax(IDLE * b->most[b->unit[i]], LEAST);
}

static double scale_of(const ga_band *b, int i)
{
  const double most = b->most[b->unit[i]];
  if (b->unit[i] == b->n_units - 1) return fmax(most, NOTHING);
  return is_constant(b, i) ? fmax(most, LEAST) : fmax(range_of(b, i), fmax(FLOOR * most, NOTHING));
}

ga_band_signal ga_band_of(const ga_band *b, int i)
{
  if (!b || i < 0 || i >= b->n || b->at < 0) return (ga_band_signal){0};
  const double scale = scale_of(b, i), error = b->opts.factor * b->largest[i];
  return (ga_band_signal){error,
                          b->t_largest[i],
                          b->low[i],
                          b->high[i],
                          scale,
                          scale > 0.0 ? error / scale : 0.0,
                          is_constant(b, i)};
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

/* Largest ratio of any signal within each bin. */
static void profile(const ga_band *b, double out[BINS])
{
  memset(out, 0, BINS * sizeof *out);
  for (int i = 0; i < b->n; i++) {
    const double *bin = b->bin + (size_t)i * BINS, scale = scale_of(b, i);
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

/* A peak that stands alone: the bins with more than a tenth of it are this part of all at most. */
#define ALONE 0.1

int ga_band_jumps(const ga_band *b, int i, double *t)
{
  int high = 0;
  if (!b || !t || i < 0 || i >= b->n || b->at < 0) return 0;
  const double *bin = b->bin + (size_t)i * BINS;
  for (int k = 0; k < BINS; k++) high += bin[k] > 0.1 * b->largest[i];
  *t = b->t_largest[i];
  return high > 0 && high <= ALONE * BINS;
}

/* Times at which the largest ratio so far reaches three levels, each as many times the one before: equal
 * intervals are exponential growth; a power of t up to 4 takes more than twice as long for the second. */
static int grows_between(const ga_band *b, const double ratios[BINS], double low, double factor,
                         double *decade)
{
  const double end = ratios[BINS - 1];
  const int k1 = first_above(ratios, low * end), k2 = first_above(ratios, low * factor * end),
            k3 = first_above(ratios, low * factor * factor * end);
  *decade = (time_of_bin(b, k3) - time_of_bin(b, k1)) / (2.0 * log10(factor));
  return end > 0.0 && k1 > 0 && k2 - k1 >= 2 && k3 - k2 >= 2 && k3 - k2 <= 1.7 * (k2 - k1);
}

int ga_band_grows(const ga_band *b, double *decade)
{
  double ratios[BINS];
  if (!b || !decade || b->at < 0) return 0;
  profile(b, ratios);
  for (int k = 1; k < BINS; k++) ratios[k] = fmax(ratios[k], ratios[k - 1]);
  return grows_between(b, ratios, 1e-4, 30.0, decade) || grows_between(b, ratios, 5e-3, 10.0, decade);
}

/* ---- Saving ---- */

enum { N_HEAD = 2 };

static size_t n_numbers(const ga_band *b)
{
  return (size_t)b->n * (6 + BINS) + 1;
}

size_t ga_band_saved_size(const ga_band *b)
{
  return b ? N_HEAD + n_numbers(b) : 0;
}

void ga_band_save(const ga_band *b, double *saved)
{
  if (!b || !saved) return;
  saved[0] = b->n;
  saved[1] = b->at;
  memcpy(saved + N_HEAD, b->largest, n_numbers(b) * sizeof *saved);
}

ga_status ga_band_load(ga_band *b, const double *saved)
{
  if (!b || !saved) return GA_ERR_ARGUMENT;
  if (saved[0] != b->n || !(saved[1] >= -1.0 && saved[1] < BINS))
    return ga__fail(b->ctx, GA_ERR_ARGUMENT, "ga_band_load: the numbers are not those of %d signals", b->n);
  b->at = (int)saved[1];
  memcpy(b->largest, saved + N_HEAD, n_numbers(b) * sizeof *saved);
  return GA_OK;
}
