/* Residuals of the equations within a step: forces that act only there are not seen by a method that
 * satisfies them at the ends, nor by its error estimate. */
#include "core/inside.h"

#include <math.h>
#include <string.h>

enum { OUTPUT_PASSES = 8 }; /* of y := o, one for each output of a chain */
#define MOVED 1e-3          /* [-] relative change by which an output differs from the interpolated one */

/* Copies o from the residual to y. Returns 1 if one differs, relative to its own size, since others may
 * depend strongly on it. */
static int renew_outputs(const ga_stepper *st, const double *residual, double *y)
{
  const ga_system *sys = st->sys;
  const double *o = residual + sys->start[GA_BLOCK_Y], *a = st->next.y, *b = st->now.y;
  int moved = 0;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) {
    const double size = fmax(fmax(fabs(a[i]), fabs(b[i])), fabs(o[i]));
    moved |= fabs(o[i] + y[i]) > MOVED * size; /* residuals are −o */
    y[i] = -o[i];
  }
  return moved;
}

static ga_status evaluate(const ga_system *sys, const ga_point *p, double *residual, double *force)
{
  return sys->def.sweep ? ga__sweep(sys, p, residual, NULL, NULL, force)
                        : ga__residual(sys, p, residual, force);
}

/* Residuals at s, with outputs evaluated again: between steps they are only interpolated, which hides forces
 * that depend on them. They are written to y[n_y]. */
static ga_status residual_at(ga_stepper *st, const ga_state *s, double *y, double *residual,
                             ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *force = ga__take(&scratch, sys->nv);
  const int ny = sys->size[GA_BLOCK_Y];
  ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, y, ++st->motion, NULL};
  if (ny > 0) memcpy(y, s->y, (size_t)ny * sizeof *y);
  ga_status status = evaluate(sys, &p, residual, force);
  if (status || ny == 0 || !renew_outputs(st, residual, y)) return status;
  for (int pass = 1; !status && pass < OUTPUT_PASSES; pass++) {
    double *o = residual + sys->start[GA_BLOCK_Y];
    status = ga__call(sys, GA__OUTPUT, &p, o);
    for (int i = 0; i < ny; i++) o[i] = -o[i];
    if (!status && !renew_outputs(st, residual, y)) break;
  }
  return status ? status : evaluate(sys, &p, residual, force);
}

/* Derivative of the cubic of dense output. */
static double rate_of_cubic(double a, double da, double b, double db, double h, double s)
{
  return 6.0 * s * (1.0 - s) * (b - a) / h + (1.0 - s) * (1.0 - 3.0 * s) * da + s * (3.0 * s - 2.0) * db;
}

/* [s] Length of the last step. */
static double step_of(const ga_stepper *st)
{
  return st->now.scalar[GA__T] - st->next.scalar[GA__T];
}

/* Stiff components are damped as in the step itself, and B e_q = Φ. */
ga_status ga__solve_error_at(ga_stepper *st, const double *residual, int at, int with_x, double *e)
{
  const ga_system *sys = st->sys;
  const int lambda = sys->start[GA_BLOCK_LAMBDA], nx = sys->size[GA_BLOCK_X], x = sys->start[GA_BLOCK_X];
  ga__matrix *matrix = ga__matrix_in_use(st);
  for (int i = 0; i < st->factors.n; i++) st->r[i] = 0.0;
  for (int i = 0; i < sys->nv; i++) st->r[at + i] = residual[i];
  for (int i = lambda; i < lambda + sys->size[GA_BLOCK_LAMBDA]; i++) st->r[at + i] = residual[i];
  for (int i = x; with_x && i < x + nx; i++) st->r[i] = residual[i];
  ga_status status = ga__assembly_solve(&matrix->assembly, matrix->lu, st->r);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) e[i] = st->r[at + i];
  for (int i = 0; i < nx; i++) e[sys->nv + i] = with_x ? st->r[x + i] : 0.0;
  return GA_OK;
}

/* Residuals of the dynamics times h² · part, of Φ, of x times h · part_x. */
static ga_status scaled_residual(ga_stepper *st, const ga_state *s, double part, double part_x, double *y,
                                 double *residual, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__state *before = &st->next, *now = &st->now;
  const double h = step_of(st), place = (s->t - before->scalar[GA__T]) / h;
  const int nx = sys->size[GA_BLOCK_X], x = sys->start[GA_BLOCK_X];
  double *rate = ga__take(&scratch, nx);
  ga_status status = residual_at(st, s, y, residual, scratch);
  for (int i = 0; !status && i < sys->nv; i++) residual[i] *= part * h * h;
  for (int i = 0; i < nx; i++)
    rate[i] = rate_of_cubic(before->x[i], before->xdot[i], now->x[i], now->xdot[i], h, place);
  if (!status && nx > 0 && st->family->interpolate) status = ga__interpolate_xdot(st, s->t, rate);
  for (int i = 0; !status && i < nx; i++) residual[x + i] = part_x * h * (rate[i] + residual[x + i]);
  return status;
}

/* An error r of the acceleration within a step of size h causes an error of about h²r/8 in q, one of a rate
 * of x hr/4. */
#define PART_Q 0.125
#define PART_X 0.25

ga_status ga__defect(ga_stepper *st, const ga_state *s, double *y, double *e)
{
  const int n = st->sys->nv + st->sys->size[GA_BLOCK_X];
  for (int i = 0; i < n; i++) e[i] = 0.0;
  if (!st->factors.now.valid) return GA_RETRY_SINGULAR; /* not known; this is counted */
  ga__scratch scratch = ga__stack_begin(&st->scratch);
  double *residual = ga__take(&scratch, st->sys->n);
  const double part = PART_Q * st->family->mass_factor(st);
  ga_status status = scaled_residual(st, s, part, PART_X * st->d1, y, residual, scratch);
  return status ? status : st->family->solve_error(st, residual, e);
}

/* ---- With the stiffness at the time itself ----
 * Between steps positions have errors of O(h⁴). A stiff spring turns that into a large force and, if it
 * rotates within the step, into one across its direction at the end of the step, which the iteration matrix
 * takes for a free direction. So the error is found with the forces at the time itself: e with (c₁/h²) M e
 * = M vdot − f(q − e), Φ(q − e) = 0 by the iteration matrix and Anderson mixing of its corrections (J. ACM
 * 12, 1965), which compensates for a matrix of another time. */
enum { ITERATIONS = 16, MIXED = 8 };

size_t ga__defect_room(const ga_system *sys)
{
  const size_t n = (size_t)(sys->nv + sys->size[GA_BLOCK_X]);
  return (size_t)(2 * MIXED + 4) * n + (size_t)(sys->nq + sys->size[GA_BLOCK_X]);
}

/* Residuals at q − e, x − e. */
static ga_status residual_without_error(ga_stepper *st, const ga_state *s, const double *e, double *q,
                                        double *x, double *y, double *residual, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int nx = sys->size[GA_BLOCK_X];
  ga_state moved = *s;
  double *work = ga__take(&scratch, sys->nv); /* −e, then M e */
  for (int i = 0; i < sys->nv; i++) work[i] = -e[i];
  ga_group_move(sys->group, q, s->q, work);
  for (int i = 0; i < nx; i++) x[i] = s->x[i] - e[sys->nv + i];
  moved.q = q, moved.x = x;
  ga_status status = scaled_residual(st, &moved, st->family->force_factor(st), 1.0, y, residual, scratch);
  ga_point p = {s->t, q, s->v, e, s->lambda, s->psi, x, y, 0, NULL};
  if (!status && sys->nv > 0) status = ga__call(sys, GA__MASS, &p, work);
  for (int i = 0; !status && i < sys->nv; i++) residual[i] -= st->family->mass_factor(st) * work[i];
  for (int i = 0; !status && i < nx; i++) residual[sys->start[GA_BLOCK_X] + i] -= st->d1 * e[sys->nv + i];
  return status;
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Anderson mixing: e += d − Σ γ_k (Δe_k + Δd_k) with the γ that minimise |d − Σ γ_k Δd_k|. The Δd are
 * orthogonalised one after the other, the newest last, and Δe with them. */
static void mix_corrections(double *e, double *d, double *const *de, double *const *dd, int kept, int n,
                            double damped)
{
  for (int k = 0; k < kept; k++) {
    const double size = dot(dd[k], dd[k], n), gamma = size > 0.0 ? dot(dd[k], d, n) / size : 0.0;
    for (int i = 0; i < n; i++) {
      e[i] -= gamma * de[k][i];
      d[i] -= gamma * dd[k][i];
    }
  }
  for (int i = 0; i < n; i++) e[i] += damped * d[i];
}

static void orthogonalise(double *const *de, double *const *dd, int newest, int n)
{
  for (int k = 0; k < newest; k++) {
    const double size = dot(dd[k], dd[k], n), part = size > 0.0 ? dot(dd[k], dd[newest], n) / size : 0.0;
    for (int i = 0; i < n; i++) {
      dd[newest][i] -= part * dd[k][i];
      de[newest][i] -= part * de[k][i];
    }
  }
}

/* The error in the norm of ga__defect(). */
static double weigh_error(const ga_stepper *st, const ga__defect_weight *w, const double *e, double *room)
{
  const int nv = st->sys->nv, n = nv + st->sys->size[GA_BLOCK_X];
  const double part_q = PART_Q * st->family->mass_factor(st) / st->family->force_factor(st),
               part_x = PART_X * st->d1;
  for (int i = 0; i < n; i++) room[i] = e[i] * (i < nv ? part_q : part_x);
  return w->weigh(w->user, room);
}

/* cautious: moves are limited to errors that count, since forces differ farther away. */
static ga_status solve_for_error(ga_stepper *st, const ga_state *s, const ga__defect_weight *w, int cautious,
                                 double *y, double *room, double *e, int *off, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *residual = ga__take(&scratch, sys->n);
  const int n = sys->nv + sys->size[GA_BLOCK_X];
  double *d = room, *d_old = room + n, *e_old = room + 2 * n, *scaled = room + 3 * n, *at = room + 4 * n;
  double *de[MIXED], *dd[MIXED];
  for (int k = 0; k < MIXED; k++) de[k] = at, dd[k] = at + n, at += 2 * n;
  double *q = at, *x = at + sys->nq;
  int kept = 0;
  *off = 1;
  for (int i = 0; i < n; i++) e[i] = 0.0;
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    ga_status status = residual_without_error(st, s, e, q, x, y, residual, scratch);
    if (!status) status = st->family->solve_error(st, residual, d);
    if (status) return status;
    if (iteration) {
      const int newest = kept < MIXED ? kept : MIXED - 1;
      for (int i = 0; i < n; i++) dd[newest][i] = d[i] - d_old[i], de[newest][i] = e[i] - e_old[i];
      orthogonalise(de, dd, newest, n);
      kept = newest + 1;
      /* converged: both the error and its correction are small */
      *off = weigh_error(st, w, e, scaled) > w->most || weigh_error(st, w, d, scaled) > w->most;
    }
    if (!*off || sqrt(dot(d, d, n)) <= 1e-6 * sqrt(dot(e, e, n))) return GA_OK;
    memcpy(d_old, d, (size_t)n * sizeof *d);
    memcpy(e_old, e, (size_t)n * sizeof *e);
    mix_corrections(e, d, de, dd, kept, n,
                    cautious ? fmin(1.0, w->most / weigh_error(st, w, d, scaled)) : 1.0);
  }
  return GA_OK;
}

ga_status ga__defect_again(ga_stepper *st, const ga_state *s, const ga__defect_weight *w, double *y,
                           double *room, double *e, int *off)
{
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  ga_status status = GA_OK;
  *off = 1;
  for (int cautious = 0; !status && *off && cautious < 2; cautious++)
    status = solve_for_error(st, s, w, cautious, y, room, e, off, scratch);
  return status;
}
