/* Dense output: the solution within the last step. */
#include "core/stepper.h"

#include <math.h>

/* Cubic through (0, a), (1, b) with slopes da, db there, at s. */
static double hermite(double a, double da, double b, double db, double s)
{
  double u = 1.0 - s;
  return u * u * ((1.0 + 2.0 * s) * a + s * da) + s * s * ((3.0 - 2.0 * s) * b - u * db);
}

static void curve(double *out, const double *a, const double *da, const double *b, const double *db, int n,
                  double h, double s)
{
  for (int i = 0; out && i < n; i++) out[i] = hermite(a[i], h * da[i], b[i], h * db[i], s);
}

/* A quantity that is not integrated, so that its rates are unknown: its values at the ends of the step and
 * of the two steps before. If there is no such step (h 0), has_rate says that the rate is given in place of
 * the value. */
typedef struct values {
  const double *end, *beginning, *prev, *prev2;
  int n;
} values;

typedef struct history {
  double h, h_prev, h_prev2; /* [s] of this step and the two before; 0: before the start */
  int has_rate;              /* 1: the start has given rates */
  int smooth;                /* 0: there was a restart before this step */
} history;

/* Quadratics are used if the step before was at most this much shorter, and if curvature has grown by at
 * most STEEPER: faster growth is a corner or a jump. */
#define LONGER 8.0
#define STEEPER 4.0

/* Second divided difference of c, b and, h earlier, a; of c, b and the slope a at b where h is 0. */
static double divided_difference(double c, double b, double a, double h_new, double h)
{
  return ((c - b) / h_new - (h > 0.0 ? (b - a) / h : a)) / (h_new + h);
}

static double bound_curvature(double d, double before)
{
  if (d * before <= 0.0) return 0.0;
  return fabs(d) <= STEEPER * fabs(before) ? d : STEEPER * before;
}

/* f(s) = (1−s) f_n + s f₁ − s(1−s) h² D, D the second divided difference with the value before, or with the
 * rate after a start. Next to a corner D is that of the corner, not of f: D is bounded by the one before it,
 * from which it differs by O(h) where f is smooth, so that the error stays O(h³). Values at the ends of the
 * step are kept. */
static void parabola(double *out, const values *f, const history *k, double s)
{
  const double h = k->h, bubble = s * (1.0 - s) * h * h;
  const int known = k->h_prev > 0.0 ? k->smooth && h <= LONGER * k->h_prev : k->has_rate;
  const int bounded = known && k->h_prev > 0.0 && (k->h_prev2 > 0.0 || k->has_rate);
  for (int i = 0; out && i < f->n; i++) {
    double D = known ? divided_difference(f->end[i], f->beginning[i], f->prev[i], h, k->h_prev) : 0.0;
    if (bounded)
      D = bound_curvature(
          D, divided_difference(f->beginning[i], f->prev[i], f->prev2[i], k->h_prev, k->h_prev2));
    out[i] = (1.0 - s) * f->beginning[i] + s * f->end[i] - bubble * D;
  }
}

/* Its derivative, from those of the values; where the bound is met, that of the bound. */
static void parabola_rate(double *out, const values *f, const values *d, const history *k, double s)
{
  const double h = k->h, bubble = s * (1.0 - s) * h * h;
  const int known = k->h_prev > 0.0 ? k->smooth && h <= LONGER * k->h_prev : k->has_rate;
  const int bounded = known && k->h_prev > 0.0 && (k->h_prev2 > 0.0 || k->has_rate);
  for (int i = 0; i < f->n; i++) {
    double rate = known ? divided_difference(d->end[i], d->beginning[i], d->prev[i], h, k->h_prev) : 0.0;
    if (bounded) {
      const double D = divided_difference(f->end[i], f->beginning[i], f->prev[i], h, k->h_prev),
                   before =
                       divided_difference(f->beginning[i], f->prev[i], f->prev2[i], k->h_prev, k->h_prev2);
      if (D * before <= 0.0)
        rate = 0.0;
      else if (fabs(D) > STEEPER * fabs(before))
        rate = STEEPER * divided_difference(d->beginning[i], d->prev[i], d->prev2[i], k->h_prev, k->h_prev2);
    }
    out[i] = (1.0 - s) * d->beginning[i] + s * d->end[i] - bubble * rate;
  }
}

/* Adds to derivatives by a divided difference of second order, of c, b and a, `by` times its derivatives. */
static void turn_difference(double *c, double *b, double *a, double by, double h_new, double h)
{
  const double over = by / (h_new + h);
  *c += over / h_new;
  *b -= over / h_new + (h > 0.0 ? over / h : 0.0);
  *a += h > 0.0 ? over / h : -over;
}

/* The transpose of parabola_rate(): to[4] as its values, end first. */
static void turn_parabola(const double *bar, const values *f, double *const to[4], const history *k, double s)
{
  const double h = k->h, bubble = s * (1.0 - s) * h * h;
  const int known = k->h_prev > 0.0 ? k->smooth && h <= LONGER * k->h_prev : k->has_rate;
  const int bounded = known && k->h_prev > 0.0 && (k->h_prev2 > 0.0 || k->has_rate);
  for (int i = 0; i < f->n; i++) {
    to[1][i] += (1.0 - s) * bar[i];
    to[0][i] += s * bar[i];
    if (!known) continue;
    const double by = -bubble * bar[i];
    int other = 0; /* 1: the bound is met; 2: there it is 0 */
    if (bounded) {
      const double D = divided_difference(f->end[i], f->beginning[i], f->prev[i], h, k->h_prev),
                   before =
                       divided_difference(f->beginning[i], f->prev[i], f->prev2[i], k->h_prev, k->h_prev2);
      other = D * before <= 0.0 ? 2 : fabs(D) > STEEPER * fabs(before);
    }
    if (other == 0) turn_difference(&to[0][i], &to[1][i], &to[2][i], by, h, k->h_prev);
    if (other == 1) turn_difference(&to[1][i], &to[2][i], &to[3][i], STEEPER * by, k->h_prev, k->h_prev2);
  }
}

static history history_of(const ga_stepper *st)
{
  const double *n = st->next.scalar, *m = st->now.scalar;
  const double h_prev = n[GA__H_OLD];
  return (history){m[GA__T] - n[GA__T], h_prev, h_prev > 0.0 ? n[GA__H_OLD2] : 0.0,
                   n[h_prev > 0.0 ? GA__HAD_JERK : GA__HAS_JERK] != 0.0, 1};
}

/* Multipliers of least norm change if the number of relations among the constraints changes. */
static int same_relations(const ga_stepper *st)
{
  const double *n = st->next.scalar, *m = st->now.scalar;
  return m[GA__REDUNDANT] == n[GA__REDUNDANT] &&
         (n[GA__H_OLD] == 0.0 || n[GA__REDUNDANT] == n[GA__REDUNDANT_OLD]);
}

/* Its end points determine a rotation only up to whole turns: beyond this angle [rad] velocities are used. */
#define FAR 2.0

/* 1: a body turns by more than FAR within the step, by its mean velocity. */
static int turns_far(const ga_stepper *st, double h)
{
  const ga_group *g = st->sys->group;
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    double sum = 0.0;
    for (int i = start + size - 3; i < start + size; i++) {
      double w = 0.5 * h * (st->next.v[i] + st->now.v[i]);
      sum += w * w;
    }
    if (sum > FAR * FAR) return 1;
  }
  return 0;
}

/* v := T v, T in packed blocks. */
static void multiply_blocks(const ga_group *g, const double *T, double *v)
{
  for (int b = 0, at = 0; b < ga_group_n_blocks(g); b++) {
    int start, size = ga_group_block(g, b, &start);
    double out[6];
    for (int i = 0; i < size; i++) {
      out[i] = 0.0;
      for (int j = 0; j < size; j++) out[i] += T[at + i * size + j] * v[start + j];
    }
    for (int i = 0; i < size; i++) v[start + i] = out[i];
    at += size * size;
  }
}

/* q(s) = move(q_n, c(s)), c the cubic from 0, h v_n to d, h T⁻¹(d) v₁ where q₁ = move(q_n, d). */
static void configuration(ga_stepper *st, double *q, double h, double s, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga_group *g = sys->group;
  const ga__state *before = &st->next, *now = &st->now;
  double *d = ga__take(&scratch, sys->nv), *slope = ga__take(&scratch, sys->nv);
  ga_group_difference(g, d, before->q, now->q);
  for (int i = 0; i < sys->nv; i++) slope[i] = now->v[i];
  ga_group_tangent_inverse(g, st->T, d);
  multiply_blocks(g, st->T, slope);
  for (int i = 0; i < sys->nv; i++) d[i] = hermite(0.0, h * before->v[i], d[i], h * slope[i], s);
  ga_group_move(g, q, before->q, d);
}

/* The same for rotations of more than a turn: the mean motion e = h (v_n + v₁)/2 comes first, and the cubic
 * is the rest: q(s) = move(move(q_n, s e), c(s)) with q₁ = move(move(q_n, e), d), c'(0) = h v_n − e and,
 * since the velocity of exp(s e) is transformed by c, c'(1) = h T⁻¹(d) v₁ − T⁻¹(−d) e. */
static void configuration_far(ga_stepper *st, double *q, double h, double s, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga_group *g = sys->group;
  const ga__state *before = &st->next, *now = &st->now;
  double *d = ga__take(&scratch, sys->nv), *e = ga__take(&scratch, sys->nv),
         *slope = ga__take(&scratch, sys->nv);
  for (int i = 0; i < sys->nv; i++) e[i] = 0.5 * h * (before->v[i] + now->v[i]);
  ga_group_move(g, q, before->q, e);
  ga_group_difference(g, d, q, now->q);

  for (int i = 0; i < sys->nv; i++) slope[i] = h * now->v[i];
  ga_group_tangent_inverse(g, st->T, d);
  multiply_blocks(g, st->T, slope);
  for (int i = 0; i < sys->nv; i++) d[i] = -d[i];
  ga_group_tangent_inverse(g, st->T, d);
  multiply_blocks(g, st->T, e);
  for (int i = 0; i < sys->nv; i++) {
    const double mean = 0.5 * h * (before->v[i] + now->v[i]);
    d[i] = hermite(0.0, h * before->v[i] - mean, -d[i], slope[i] - e[i], s);
    e[i] = s * mean;
  }
  ga_group_move(g, q, before->q, e);
  ga_group_move(g, q, q, d);
}

ga_status ga_stepper_interpolate(ga_stepper *st, double t, double *q, double *v, double *vdot, double *lambda,
                                 double *psi, double *x, double *y)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo) return ga__refuse_order(st->ctx, __func__, "right after a step");
  const ga__state *before = &st->next, *now = &st->now;
  const int *size = st->sys->size;
  double t0 = before->scalar[GA__T], t1 = now->scalar[GA__T], h = t1 - t0, s = (t - t0) / h;
  if (!(s >= -1e-9 && s <= 1.0 + 1e-9))
    return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.function = __func__,
                                   .field = "t",
                                   .expected = "within the last step",
                                   GA__NUMBERS({t, NULL}, {t0, NULL}, {t1, NULL})});
  if (st->family->interpolate)
    return st->family->interpolate(
        st, s, &(ga__inside){.q = q, .v = v, .vdot = vdot, .lambda = lambda, .psi = psi, .x = x, .y = y});
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  if (q && turns_far(st, h))
    configuration_far(st, q, h, s, scratch);
  else if (q)
    configuration(st, q, h, s, scratch);
  curve(v, before->v, before->vdot, now->v, now->vdot, st->sys->nv, h, s);
  curve(x, before->x, before->xdot, now->x, now->xdot, size[GA_BLOCK_X], h, s);
  history k = history_of(st);
  const values accelerations = {now->vdot, before->vdot, before->vdot_prev, before->vdot_prev2, st->sys->nv};
  const values outputs = {now->y, before->y, before->y_prev, before->y_prev2, size[GA_BLOCK_Y]};
  const values holonomic = {now->lambda, before->lambda, before->lambda_prev, before->lambda_prev2,
                            size[GA_BLOCK_LAMBDA]};
  const values rolling = {now->psi, before->psi, before->psi_prev, before->psi_prev2, size[GA_BLOCK_PSI]};
  parabola(vdot, &accelerations, &k, s);
  parabola(y, &outputs, &k, s);
  if (!same_relations(st)) k.smooth = k.has_rate = 0;
  parabola(lambda, &holonomic, &k, s);
  parabola(psi, &rolling, &k, s);
  return GA_OK;
}

void ga__interpolate_rates(const ga_stepper *st, double t, const ga__inside_rates *d, const ga__inside *out)
{
  const ga__state *before = &st->next, *now = &st->now;
  const int *size = st->sys->size, nv = st->sys->nv;
  const double h = now->scalar[GA__T] - before->scalar[GA__T], s = (t - before->scalar[GA__T]) / h;
  history k = history_of(st);
  const struct {
    values f, d;
    double *out;
    int by_relations;
  } list[] = {
      {{now->vdot, before->vdot, before->vdot_prev, before->vdot_prev2, nv},
       {d->vdot[0], d->vdot[1], d->vdot[2], d->vdot[3], nv},
       out->vdot,
       0},
      {{now->y, before->y, before->y_prev, before->y_prev2, size[GA_BLOCK_Y]},
       {d->y[0], d->y[1], d->y[2], d->y[3], size[GA_BLOCK_Y]},
       out->y,
       0},
      {{now->lambda, before->lambda, before->lambda_prev, before->lambda_prev2, size[GA_BLOCK_LAMBDA]},
       {d->lambda[0], d->lambda[1], d->lambda[2], d->lambda[3], size[GA_BLOCK_LAMBDA]},
       out->lambda,
       1},
      {{now->psi, before->psi, before->psi_prev, before->psi_prev2, size[GA_BLOCK_PSI]},
       {d->psi[0], d->psi[1], d->psi[2], d->psi[3], size[GA_BLOCK_PSI]},
       out->psi,
       1}};
  curve(out->v, d->v[1], d->vdot[1], d->v[0], d->vdot[0], nv, h, s);
  curve(out->x, d->x[1], d->xdot[1], d->x[0], d->xdot[0], size[GA_BLOCK_X], h, s);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    if (list[i].by_relations && !same_relations(st)) k.smooth = k.has_rate = 0;
    parabola_rate(list[i].out, &list[i].f, &list[i].d, &k, s);
  }
}

/* The transpose of curve(). */
static void turn_curve(const double *bar, double *a, double *da, double *b, double *db, int n, double h,
                       double s)
{
  const double u = 1.0 - s;
  for (int i = 0; i < n; i++) {
    a[i] += u * u * (1.0 + 2.0 * s) * bar[i];
    da[i] += u * u * s * h * bar[i];
    b[i] += s * s * (3.0 - 2.0 * s) * bar[i];
    db[i] -= s * s * u * h * bar[i];
  }
}

void ga__interpolate_turned(const ga_stepper *st, double t, const ga__inside *bar, const ga__inside_bars *to)
{
  const ga__state *before = &st->next, *now = &st->now;
  const int *size = st->sys->size, nv = st->sys->nv;
  const double h = now->scalar[GA__T] - before->scalar[GA__T], s = (t - before->scalar[GA__T]) / h;
  history k = history_of(st);
  const struct {
    values f;
    const double *bar;
    double *const *to;
    int by_relations;
  } list[] = {
      {{now->vdot, before->vdot, before->vdot_prev, before->vdot_prev2, nv}, bar->vdot, to->vdot, 0},
      {{now->y, before->y, before->y_prev, before->y_prev2, size[GA_BLOCK_Y]}, bar->y, to->y, 0},
      {{now->lambda, before->lambda, before->lambda_prev, before->lambda_prev2, size[GA_BLOCK_LAMBDA]},
       bar->lambda,
       to->lambda,
       1},
      {{now->psi, before->psi, before->psi_prev, before->psi_prev2, size[GA_BLOCK_PSI]},
       bar->psi,
       to->psi,
       1}};
  turn_curve(bar->v, to->v[1], to->vdot[1], to->v[0], to->vdot[0], nv, h, s);
  turn_curve(bar->x, to->x[1], to->xdot[1], to->x[0], to->xdot[0], size[GA_BLOCK_X], h, s);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    if (list[i].by_relations && !same_relations(st)) k.smooth = k.has_rate = 0;
    turn_parabola(list[i].bar, &list[i].f, list[i].to, &k, s);
  }
}

int ga__turns_far(const ga_stepper *st)
{
  return turns_far(st, st->now.scalar[GA__T] - st->next.scalar[GA__T]);
}

ga_status ga__interpolate(ga_stepper *st, double t, const ga__inside *out)
{
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T];
  if (st->family->interpolate && st->can_undo && t >= begin && t <= end)
    return st->family->interpolate(st, (t - begin) / (end - begin), out);
  const ga_status status =
      ga_stepper_interpolate(st, t, out->q, out->v, out->vdot, out->lambda, out->psi, out->x, out->y);
  return !status && out->xdot ? ga__interpolate_xdot(st, t, out->xdot) : status;
}

int ga_stepper_nodes(const ga_stepper *st, double *begin, double at[GA_MOST_NODES])
{
  if (!st || !begin || !at || !st->can_undo || !st->family->nodes) return 0;
  *begin = st->next.scalar[GA__T];
  return st->family->nodes(st, at);
}

ga_status ga_stepper_node(const ga_stepper *st, int i, ga_state *out)
{
  double begin, at[GA_MOST_NODES];
  if (!st) return GA_ERR_ARGUMENT;
  if (!out) return ga__refuse_null(st->ctx, __func__, "out");
  const int n = ga_stepper_nodes(st, &begin, at);
  if (i < 0 || i >= n)
    return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_NO_SUCH_INDEX,
                      &(ga__facts){.function = __func__, .field = "i", GA__NUMBERS({i, NULL}, {n, NULL})});
  st->family->node(st, i, out);
  out->t = at[i];
  return GA_OK;
}

ga_status ga__interpolate_xdot(ga_stepper *st, double t, double *xdot)
{
  const ga__state *before = &st->next, *now = &st->now;
  const history k = history_of(st);
  if (st->family->interpolate)
    return st->family->interpolate(st, (t - before->scalar[GA__T]) / k.h,
                                   &(ga__inside){.xdot = xdot, .coarse = 1, .plain = 1});
  const values rates = {now->xdot, before->xdot, before->xdot_prev, before->xdot_prev2,
                        st->sys->size[GA_BLOCK_X]};
  parabola(xdot, &rates, &k, (t - before->scalar[GA__T]) / k.h);
  return GA_OK;
}
