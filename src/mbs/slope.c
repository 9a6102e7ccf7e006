/* Derivatives of signals: along a direction and by a parameter, by differences of order 4; by all of a state,
 * by the slopes of probes. */
#include "mbs/channel.h"
#include "mbs/mbs_impl.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define STEP 1e-3 /* for a direction with components of about 1 */
#define LOST 1e-5 /* [-] of derivatives, lost in the rounding of positions that move by STEP: more is none   \
                   */

/* A state near another one; all arrays in one block. */
typedef struct neighbour {
  double *block, *q, *move, *v, *vdot, *lambda, *psi, *x, *y;
} neighbour;

static int neighbour_create(ga_context *ctx, const ga_system *sys, neighbour *b)
{
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               n_lambda = (size_t)ga_system_size(sys, GA_BLOCK_LAMBDA),
               n_psi = (size_t)ga_system_size(sys, GA_BLOCK_PSI),
               n_x = (size_t)ga_system_size(sys, GA_BLOCK_X), n_y = (size_t)ga_system_size(sys, GA_BLOCK_Y);
  struct {
    double **array;
    size_t n;
  } need[] = {{&b->q, nq},      {&b->move, nv}, {&b->v, nv}, {&b->vdot, nv}, {&b->lambda, n_lambda},
              {&b->psi, n_psi}, {&b->x, n_x},   {&b->y, n_y}};
  b->block = ga__alloc(ctx, nq + (size_t)ga_system_n(sys) + 2 * nv, sizeof *b->block);
  double *at = b->block;
  for (size_t i = 0; b->block && i < sizeof need / sizeof *need; i++) *need[i].array = at, at += need[i].n;
  return b->block != NULL;
}

static void add_scaled(double *out, const double *a, double factor, const double *d, int n)
{
  for (int i = 0; i < n; i++) out[i] = a[i] + factor * d[i];
}

/* The state at the distance h along d. */
static ga_state move_state(const ga_system *sys, neighbour *b, const ga_state *s, const ga_direction *d,
                           double h)
{
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  ga_state to = *s;
  for (int i = 0; i < nv; i++) b->move[i] = h * d->q[i];
  ga_group_move(ga_system_group(sys), b->q, s->q, b->move);
  add_scaled(b->v, s->v, h, d->v, nv);
  add_scaled(b->vdot, s->vdot, h, d->vdot, nv);
  add_scaled(b->lambda, s->lambda, h, d->lambda, ga_system_size(sys, GA_BLOCK_LAMBDA));
  add_scaled(b->psi, s->psi, h, d->psi, ga_system_size(sys, GA_BLOCK_PSI));
  add_scaled(b->x, s->x, h, d->x, ga_system_size(sys, GA_BLOCK_X));
  add_scaled(b->y, s->y, h, d->y, ga_system_size(sys, GA_BLOCK_Y));
  to.q = b->q, to.v = b->v, to.vdot = b->vdot, to.lambda = b->lambda, to.psi = b->psi, to.x = b->x,
  to.y = b->y;
  return to;
}

/* f' = (8 (f(h) − f(−h)) − (f(2h) − f(−2h)))/(12 h) */
ga_status ga_machine_signal_slopes(const ga_machine *m, const ga_state *s, const ga_direction *d, int n,
                                   const int *index, double *out)
{
  static const double at[4] = {1.0, -1.0, 2.0, -2.0}, weight[4] = {8.0, -8.0, -1.0, 1.0};
  if (!m) return GA_ERR_ARGUMENT;
  ga_context *ctx = ga_machine_context(m);
  const ga_system *sys = ga_machine_system(m);
  if (!sys) return ga__refuse_order(ctx, __func__, "once the machine is built");
  if (!s || !d || !out) return ga__refuse_null(ctx, __func__, !s ? "s" : d ? "out" : "d");
  const int count = index ? n : ga_machine_n_signals(m);
  neighbour b = {0};
  double *values = ga__alloc(ctx, (size_t)count, sizeof *values);
  ga_status status =
      values && neighbour_create(ctx, sys, &b) ? GA_OK : ga__no_memory(ctx, "slopes of signals");
  for (int i = 0; !status && i < count; i++) out[i] = 0.0;
  for (int k = 0; !status && k < 4; k++) {
    const ga_state moved = move_state(sys, &b, s, d, at[k] * STEP);
    status = ga_machine_signals(m, NULL, &moved, count, index, values);
    for (int i = 0; !status && i < count; i++) out[i] += weight[k] * values[i] / (12.0 * STEP);
  }
  ga__free(ctx, values);
  ga__free(ctx, b.block);
  return status;
}

/* ---- By a parameter ---- */

/* Values of signals at four places, and in the middle. */
typedef struct samples {
  double *block, *middle, *at[GA_PARAMETER_VALUES], *noise;
} samples;

static int samples_create(ga_context *ctx, int n, samples *f)
{
  f->block = ga__alloc(ctx, (size_t)n * (GA_PARAMETER_VALUES + 2) + 1, sizeof *f->block);
  f->middle = f->block;
  for (int k = 0; f->block && k < GA_PARAMETER_VALUES; k++) f->at[k] = f->block + (size_t)n * (size_t)(k + 1);
  if (f->block) f->noise = f->block + (size_t)n * (GA_PARAMETER_VALUES + 1);
  return f->block != NULL;
}

/* First and second differences over h and 2h disagree by more than this part: there is a corner or a jump. */
#define MOST_BEND 0.05
/* [-] Disagreements below this, relative to the natural size of a derivative, are rounding, of terms that
 * cancel in a signal too. */
#define ROUNDING 1e-9

static double change_of(double value, double middle, int angle)
{
  const double pi = 3.14159265358979323846, d = value - middle;
  return angle && fabs(d) > pi ? remainder(d, 2.0 * pi) : d;
}

/* First and second differences of signal i over h and 2h. */
static void difference(const ga_machine *m, const samples *f, int signal, int i,
                       double d[GA_PARAMETER_VALUES])
{
  const char *unit = ga_machine_signal_unit(m, signal);
  const int angle = unit && strcmp(unit, "rad") == 0;
  for (int k = 0; k < GA_PARAMETER_VALUES; k++) d[k] = change_of(f->at[k][i], f->middle[i], angle);
}

/* The first signal that is not smooth; −1: there is none. size: of forces; noise[n]: of values. */
static int find_corner(const ga_machine *m, const samples *f, double h, double size, int n, const int *index)
{
  for (int i = 0; i < n; i++) {
    double d[GA_PARAMETER_VALUES];
    difference(m, f, index ? index[i] : i, i, d);
    const double odd = (d[2] - d[1]) / (2.0 * h), odd_2 = (d[3] - d[0]) / (4.0 * h), even = (d[2] + d[1]) / h,
                 even_2 = (d[3] + d[0]) / (4.0 * h);
    const double change = fmax(fmax(fabs(odd), fabs(odd_2)), fmax(fabs(even), fabs(even_2)));
    const double off = fmax(fabs(odd - odd_2), fabs(even - even_2));
    const double rounding = ROUNDING * (1.0 + fabs(f->middle[i]) + size) + 10.0 * f->noise[i];
    if (!(off <= MOST_BEND * change + rounding / h)) return index ? index[i] : i;
  }
  return -1;
}

static void add_differences(const ga_machine *m, const samples *f, double h, int n, const int *index,
                            double *out)
{
  for (int i = 0; i < n; i++) {
    double d[GA_PARAMETER_VALUES];
    difference(m, f, index ? index[i] : i, i, d);
    out[i] += (8.0 * (d[2] - d[1]) - (d[3] - d[0])) / (12.0 * h);
  }
}

static double largest(const double *a, int n)
{
  double most = 0.0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

/* Largest derivative relative to 1 + the largest value of its kind. */
static double relative_size(const ga_system *sys, const ga_state *s, const ga_direction *d)
{
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  const struct {
    const double *d, *s;
    int n;
  } list[] = {{d->v, s->v, nv},
              {d->vdot, s->vdot, nv},
              {d->lambda, s->lambda, ga_system_size(sys, GA_BLOCK_LAMBDA)},
              {d->psi, s->psi, ga_system_size(sys, GA_BLOCK_PSI)},
              {d->x, s->x, ga_system_size(sys, GA_BLOCK_X)},
              {d->y, s->y, ga_system_size(sys, GA_BLOCK_Y)}};
  double size = largest(d->q, nv);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    size = fmax(size, largest(list[k].d, list[k].n) / (1.0 + largest(list[k].s, list[k].n)));
  return size;
}

static ga_status refuse_slopes(const ga_machine *m, double t, const char *detail, const char *name,
                               const char *expected)
{
  return ga__refuse(ga_machine_context(m), GA_ERR_DERIVATIVE, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .detail = detail,
                                 .name = name,
                                 .expected = expected});
}

static ga_status refuse_corner(const ga_machine *m, int signal, double t)
{
  return refuse_slopes(m, t, "a signal has a corner or a jump here", ga_machine_signal_name(m, signal),
                       "leave it out of those that are recorded");
}

/* Rounding of the values, terms that cancel in them included: by how much they differ at states next to s. */
static ga_status measure_noise(const ga_machine *m, neighbour *b, const ga_state *s, const ga_direction *d,
                               double h, int n, const int *index, samples *f)
{
  enum { NEAR = 3 };
  double *value = f->at[0];
  ga_status status = GA_OK;
  for (int k = 1; k <= NEAR && !status; k++) {
    const ga_state moved = move_state(ga_machine_system(m), b, s, d, k * 1e-9 * h);
    status = ga_machine_signals(m, NULL, &moved, n, index, value);
    for (int i = 0; i < n && !status; i++) f->noise[i] = fmax(f->noise[i], fabs(value[i] - f->middle[i]));
  }
  return status;
}

/* Values along d. */
static ga_status sample_along(const ga_machine *m, neighbour *b, const ga_state *s, const ga_direction *d,
                              double h, int n, const int *index, samples *f)
{
  static const double AT[GA_PARAMETER_VALUES] = {-2.0, -1.0, 1.0, 2.0};
  ga_status status = GA_OK;
  for (int k = 0; !status && k < GA_PARAMETER_VALUES; k++) {
    const ga_state moved = move_state(ga_machine_system(m), b, s, d, AT[k] * h);
    status = ga_machine_signals(m, NULL, &moved, n, index, f->at[k]);
  }
  return status;
}

static ga_status sample_machines(const ga_machine *const at[GA_PARAMETER_VALUES], const ga_state *s, int n,
                                 const int *index, samples *f)
{
  ga_status status = GA_OK;
  for (int k = 0; !status && k < GA_PARAMETER_VALUES; k++)
    status = ga_machine_signals(at[k], NULL, s, n, index, f->at[k]);
  return status;
}

/* Along d, by shorter moves where the first ones are too long for a signal. */
static ga_status add_along(const ga_machine *m, neighbour *b, const ga_state *s, const ga_direction *d,
                           double h, double force, int n, const int *index, samples *f, double *out)
{
  enum { TRIES = 3 };
  const double shorter = 1.0 / 30.0;
  int corner = -1;
  for (int i = 0; i < TRIES; i++, h *= shorter) {
    ga_status status = sample_along(m, b, s, d, h, n, index, f);
    if (!status) corner = find_corner(m, f, h, force, n, index);
    if (!status && corner < 0) add_differences(m, f, h, n, index, out);
    if (status || corner < 0) return status;
    if (i == 0 && (status = measure_noise(m, b, s, d, h, n, index, f)) != GA_OK) return status;
  }
  return refuse_corner(m, corner, s->t);
}

/* By the machines at other values, at the state itself. */
static ga_status add_by_machines(const ga_machine *m, neighbour *b, const ga_state *s, const ga_direction *d,
                                 const ga_machine *const at[GA_PARAMETER_VALUES], double step, double h,
                                 double force, int n, const int *index, samples *f, double *out)
{
  ga_status status = sample_machines(at, s, n, index, f);
  int corner = status ? -1 : find_corner(m, f, step, force, n, index);
  if (corner >= 0 && h > 0.0) { /* or rounding? */
    status = measure_noise(m, b, s, d, h, n, index, f);
    if (!status) status = sample_machines(at, s, n, index, f);
    corner = status ? -1 : find_corner(m, f, step, force, n, index);
  }
  if (corner >= 0) return refuse_corner(m, corner, s->t);
  if (!status) add_differences(m, f, step, n, index, out);
  return status;
}

/* A direction that moves everything. */
static double *make_ones(ga_context *ctx, const ga_system *sys)
{
  const size_t n = (size_t)ga_system_n(sys) + 1;
  double *ones = ga__alloc(ctx, n, sizeof *ones);
  for (size_t i = 0; ones && i < n; i++) ones[i] = 1.0;
  return ones;
}

ga_status ga_machine_signal_sensitivities(const ga_machine *m,
                                          const ga_machine *const at[GA_PARAMETER_VALUES], double step,
                                          const ga_state *s, const ga_direction *d, int n, const int *index,
                                          double *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  ga_context *ctx = ga_machine_context(m);
  const ga_system *sys = ga_machine_system(m);
  if (!sys) return ga__refuse_order(ctx, __func__, "once the machine is built");
  if (!s || (!d && !at) || !out) return ga__refuse_null(ctx, __func__, !s ? "s" : d || at ? "out" : "d");
  if (at && !(step > 0.0)) return ga__refuse_number(ctx, "sensitivities", "step", step, "> 0");
  const int count = index ? n : ga_machine_n_signals(m);
  double *ones = d ? NULL : make_ones(ctx, sys);
  if (!d && !ones) return ga__no_memory(ctx, "derivatives of signals");
  const ga_direction any = {ones, ones, ones, ones, ones, ones, ones};
  const double size = relative_size(sys, s, d ? d : &any), h = size > 0.0 ? STEP / size : 0.0,
               force = fmax(largest(s->lambda, ga_system_size(sys, GA_BLOCK_LAMBDA)),
                            largest(s->psi, ga_system_size(sys, GA_BLOCK_PSI)));
  neighbour b = {0};
  samples f = {0};
  ga_state as_given =
      *s; /* within steps too: outputs evaluated again there would settle on loops only by chance */
  if (!s->a) as_given.a = s->vdot;
  s = &as_given;
  if (d && DBL_EPSILON * largest(s->q, ga_group_nq(ga_system_group(sys))) > LOST * STEP) {
    ga__free(ctx, ones);
    return refuse_slopes(m, s->t, "a position is so far from 0 that small moves are lost in rounding", NULL,
                         NULL);
  }
  ga_status status = samples_create(ctx, count, &f) && neighbour_create(ctx, sys, &b)
                         ? GA_OK
                         : ga__no_memory(ctx, "derivatives of signals");
  for (int i = 0; !status && i < count; i++) out[i] = 0.0;
  if (!status) status = ga_machine_signals(m, NULL, s, count, index, f.middle);
  if (!status && d && h > 0.0) status = add_along(m, &b, s, d, h, force, count, index, &f, out);
  if (!status && at)
    status = add_by_machines(m, &b, s, d ? d : &any, at, step, h, force, count, index, &f, out);
  ga__free(ctx, ones);
  ga__free(ctx, f.block);
  ga__free(ctx, b.block);
  return status;
}

/* Signals whose expressions contain t, or functions of it, depend on it at the same state too. */
ga_status ga_machine_signal_rates(const ga_machine *m, double span, const ga_state *s, int n,
                                  const int *index, double *out)
{
  static const double AT[GA_PARAMETER_VALUES] = {-2.0, -1.0, 1.0, 2.0};
  enum { TRIES = 3 };
  if (!m) return GA_ERR_ARGUMENT;
  ga_context *ctx = ga_machine_context(m);
  if (!ga_machine_system(m)) return ga__refuse_order(ctx, __func__, "once the machine is built");
  if (!s || !out) return ga__refuse_null(ctx, __func__, s ? "out" : "s");
  if (!(span > 0.0)) return ga__refuse_number(ctx, "sensitivities", "span", span, "> 0");
  const int count = index ? n : ga_machine_n_signals(m);
  samples f = {0};
  ga_state at = *s;
  double h = STEP * span;
  int corner = -1;
  if (!s->a) at.a = s->vdot; /* outputs are those of the state */
  ga_status status = samples_create(ctx, count, &f) ? GA_OK : ga__no_memory(ctx, "rates of signals");
  if (!status) status = ga_machine_signals(m, NULL, &at, count, index, f.middle);
  for (int i = 0; i < TRIES && !status && (i == 0 || corner >= 0); i++, h /= 30.0) {
    for (int k = 0; k < GA_PARAMETER_VALUES && !status; k++) {
      at.t = s->t + AT[k] * h;
      status = ga_machine_signals(m, NULL, &at, count, index, f.at[k]);
    }
    corner = status ? -1 : find_corner(m, &f, h, 0.0, count, index);
    for (int l = 0; l < count; l++) out[l] = 0.0;
    if (!status && corner < 0) add_differences(m, &f, h, count, index, out);
  }
  ga__free(ctx, f.block);
  return status || corner < 0 ? status : refuse_corner(m, corner, s->t);
}

/* ---- By all of a state ---- */

/* What adds to a gradient: its arrays in the order of the unknowns v, λ, ψ, x, y, and where these begin. */
typedef struct gradient {
  const ga_seed *out;
  double *of[GA_N_BLOCKS];
  int start[GA_N_BLOCKS + 1];
} gradient;

static gradient gradient_of(const ga_system *sys, const ga_seed *out)
{
  gradient g = {.out = out, .of = {out->vdot, out->lambda, out->psi, out->x, out->y}};
  for (int b = 0; b < GA_N_BLOCKS; b++)
    g.start[b + 1] = g.start[b] + ga_system_size(sys, (ga_equation_block)b);
  return g;
}

static void add_to_column(const gradient *g, int column, double by)
{
  int b = 0;
  while (b < GA_N_BLOCKS - 1 && column >= g->start[b + 1]) b++;
  g->of[b][column - g->start[b]] += by;
}

/* out += weight times the slopes of a probe, which has them in the machine's own form. */
static int add_slopes(const ga__eval *e, const ga__probe *probe, double weight, const gradient *g, int n,
                      int *column, double *d, double *dq)
{
  const int nv = e->b->nv;
  ga__probe_columns(e->b, probe, column, n);
  for (int pass = 0; pass < 2; pass++) { /* by velocities and all else; by accelerations */
    const int code = ga__probe_slopes(e, probe, pass == 0, pass == 1, d, dq);
    if (code) return code;
    for (int i = 0; i < n; i++) {
      if (column[i] < nv) g->out->q[column[i]] += pass == 0 ? weight * dq[i] : 0.0;
      if (column[i] < nv && pass == 0) g->out->v[column[i]] += weight * d[i];
      if (column[i] < nv ? pass == 1 : pass == 0) add_to_column(g, column[i], weight * d[i]);
    }
  }
  return 0;
}

/* The same by differences along every coordinate of the state, for signals without slopes. */
static ga_status add_differenced(const ga_machine *m, const ga_state *s, int signal, double weight,
                                 const ga_seed *out)
{
  ga_context *ctx = ga_machine_context(m);
  const ga_system *sys = ga_machine_system(m);
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  ga_direction d = {0};
  const double **to[] = {&d.q, &d.v, &d.vdot, &d.lambda, &d.psi, &d.x, &d.y};
  double *const add[] = {out->q, out->v, out->vdot, out->lambda, out->psi, out->x, out->y};
  const int n[] = {nv,
                   nv,
                   nv,
                   ga_system_size(sys, GA_BLOCK_LAMBDA),
                   ga_system_size(sys, GA_BLOCK_PSI),
                   ga_system_size(sys, GA_BLOCK_X),
                   ga_system_size(sys, GA_BLOCK_Y)};
  double *block = ga__alloc(ctx, (size_t)ga_system_n(sys) + 2 * (size_t)nv + 1, sizeof *block), *at = block,
         by;
  if (!block) return ga__no_memory(ctx, "derivatives of signals");
  for (int k = 0; k < 7; k++) *to[k] = at, at += n[k];
  ga_status status = GA_OK;
  at = block;
  for (int k = 0; k < 7; k++)
    for (int i = 0; i < n[k] && !status; i++, at++) {
      *at = 1.0;
      status = ga_machine_signal_sensitivities(m, NULL, 1.0, s, &d, 1, &signal, &by);
      *at = 0.0;
      if (!status) add[k][i] += weight * by;
    }
  ga__free(ctx, block);
  return status;
}

static ga_status add_signal(const ga_machine *m, const ga__eval *e, const ga_state *s, int signal,
                            double weight, const gradient *g, int *column, double *d, double *dq, int room)
{
  const ga__mbs_model *b = e->b;
  ga__probe probe;
  const int part = ga__part_of_signal(b, signal);
  if (part == m->n_parts) return add_differenced(m, s, signal, weight, g->out);
  ga__channel_probe(b, part, signal - b->signals.first[part], &probe);
  const int n = ga__probe_has_slopes(b, &probe) && !b->form && !b->carried.n
                    ? ga__probe_columns(b, &probe, NULL, 0)
                    : room + 1;
  if (n > room) return add_differenced(m, s, signal, weight, g->out);
  const int code = add_slopes(e, &probe, weight, g, n, column, d, dq);
  if (!code) return GA_OK;
  return code > 0 ? add_differenced(m, s, signal, weight, g->out) : GA_ERR_CALLBACK;
}

ga_status ga_machine_signal_gradient(const ga_machine *m, const ga_state *s, int n, const int *index,
                                     const double *weight, const ga_seed *out)
{
  if (!m) return GA_ERR_ARGUMENT;
  ga_context *ctx = ga_machine_context(m);
  const ga_system *sys = ga_machine_system(m);
  if (!sys) return ga__refuse_order(ctx, __func__, "once the machine is built");
  if (!s || !index || !weight || !out)
    return ga__refuse_null(ctx, __func__, !s ? "s" : !index ? "index" : !weight ? "weight" : "out");
  for (int i = 0; i < n; i++)
    if (index[i] < 0 || index[i] >= ga_machine_n_signals(m))
      return ga__refuse(ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                        &(ga__facts){.function = __func__,
                                     .field = "index",
                                     .item = i + 1,
                                     GA__NUMBERS({index[i], NULL}, {ga_machine_n_signals(m), NULL})});
  const int room = ga_system_n(sys) + 64; /* columns may be named twice */
  double *d = ga__alloc(ctx, 2 * (size_t)room, sizeof *d);
  int *column = ga__alloc(ctx, (size_t)room, sizeof *column);
  ga_state as_given = *s;
  if (!s->a) as_given.a = s->vdot; /* as ga_machine_signal_sensitivities() */
  const gradient g = gradient_of(sys, out);
  ga_status status = d && column ? GA_OK : ga__no_memory(ctx, "derivatives of signals");
  for (int i = 0; i < n && !status; i++) {
    if (weight[i] == 0.0) continue;
    const ga_point p = ga__point_of(&as_given);
    const ga__eval e = ga__eval_at(ga__workspace_own(m), &p, 1, 1);
    status = add_signal(m, &e, &as_given, index[i], weight[i], &g, column, d, d + room, room);
  }
  ga__free(ctx, d);
  ga__free(ctx, column);
  return status;
}
