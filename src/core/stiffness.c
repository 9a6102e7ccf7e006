/* New stiffness within a step, as in a contact: by differences of forces along the error. */
#include "core/stepper.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* y = o along a chain of outputs: each pass computes one more; the first has those of `p`. */
static ga_status probe_outputs(ga_stepper *st, ga_point *p)
{
  enum { PASSES = 3 };
  const int n = st->sys->size[GA_BLOCK_Y];
  ga_status status = GA_OK;
  for (int i = 0; !status && n > 0 && i < PASSES; i++) {
    double *y = st->probe_y + (i % 2) * n;
    status = ga__call(st->sys, GA__OUTPUT, p, y);
    p->y = y;
  }
  return status;
}

/* out := small h²K d, K = −∂f/∂q, by a difference of forces. New damping damps its motion and does not
 * count. */
static ga_status stiffness_along(ga_stepper *st, const ga__state *at, const double *d, double small,
                                 double *out)
{
  const ga_system *sys = st->sys;
  const double h = st->now.scalar[GA__H_OLD];
  double *there = st->probe_f, *here = st->probe_f + sys->nv;
  ga_point p = ga__state_point(at);
  ga_status status = ga__call(sys, GA__FORCE, &p, here);
  for (int i = 0; i < sys->nv; i++) st->probe_u[i] = small * d[i];
  ga_group_move(sys->group, st->probe_q, at->q, st->probe_u);
  p.q = st->probe_q;
  if (!status) status = probe_outputs(st, &p);
  if (!status) status = ga__call(sys, GA__FORCE, &p, there);
  for (int i = 0; !status && i < sys->nv; i++) out[i] = h * h * (here[i] - there[i]);
  return status;
}

static double dot(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* A stiff direction that turns, as that of a spring which stands for a rod, comes to coordinates it had no
 * part in, and is nothing new: coordinate i is free to move when those that were stiff before go with it, min
 * over u of wᵀK w,  w = e_i + u,  u in coordinates that were stiff already by conjugate gradients, of which
 * as many are needed as stiff directions meet there. 1: it is so. */
typedef struct turning {
  const double *d, *before; /* the filtered part of the error; h²K of it before the step */
  double most;              /* largest of d */
  double *w, *g, *p, *Kp;
} turning;

static ga_status stiffness_of(ga_stepper *st, const turning *t, const double *w, double small, double *out)
{
  const int n = st->sys->nv;
  const double size = ga__max_abs(w, n, NULL), scale = size > 0.0 ? t->most / size : 0.0;
  for (int i = 0; i < n; i++) out[i] = scale * w[i];
  memcpy(st->probe_w, out, (size_t)n * sizeof *out);
  ga_status status = stiffness_along(st, &st->now, st->probe_w, small, out);
  for (int i = 0; !status && i < n && scale > 0.0; i++) out[i] /= scale;
  return status;
}

static ga_status has_turned(ga_stepper *st, const turning *t, int i, double small, int *yes)
{
  enum { MOST = 4 };
  const int n = st->sys->nv;
  double rest = 0.0, *w = t->w, *g = t->g, *p = t->p, *Kp = t->Kp;
  *yes = 0;
  for (int j = 0; j < n; j++) w[j] = p[j] = 0.0;
  w[i] = copysign(t->most, t->d[i]);
  ga_status status = stiffness_of(st, t, w, small, g);
  const double alone = status ? 0.0 : w[i] * g[i];
  for (int k = 0; !status && k < MOST; k++) {
    double last = rest;
    rest = 0.0;
    for (int j = 0; j < n; j++) rest += t->before[j] != 0.0 ? g[j] * g[j] : 0.0;
    if (!(rest > 1e-12 * alone * alone / (t->most * t->most))) break;
    for (int j = 0; j < n; j++) p[j] = t->before[j] != 0.0 ? -g[j] + (k ? rest / last : 0.0) * p[j] : 0.0;
    if ((status = stiffness_of(st, t, p, small, Kp))) break;
    const double curvature = dot(p, Kp, n), step = curvature > 0.0 ? rest / curvature : 0.0;
    for (int j = 0; j < n; j++) w[j] += step * p[j], g[j] += step * Kp[j];
  }
  ga_point at = ga__state_point(&st->now);
  at.vdot = w;
  if (!status) status = ga__call(st->sys, GA__MASS, &at, p);
  *yes = !status && alone > 0.0 && dot(w, g, n) < st->c1 * small * dot(w, p, n);
  return status;
}

static ga_status drop_turned(ga_stepper *st, turning t, double small, double *period)
{
  ga_status status = GA_OK;
  t.most = ga__max_abs(t.d, st->sys->nv, NULL);
  for (int i = 0; !status && i < st->sys->nv; i++) {
    int turned = 0;
    if (period[i] > 0.0) status = has_turned(st, &t, i, small, &turned);
    if (turned) period[i] = 0.0;
  }
  return status < 0 ? status : GA_OK;
}

/* A smaller increase is not new stiffness: the step has become longer. */
#define CAME_UP 3.0

/* Where constraints tie coordinates together, no single one of them moves along d alone, and h²K d in it may
 * be anything that constraint forces balance: those of light arms turn with them, and are large beside their
 * own masses. There the work of all that are tied together tells, in which constraint forces have no part:
 * stiffness that comes up adds more than WORK_SHARE of c₁ dᵀM d to h² dᵀK d. `change`, h²(K₁ − K_n) d, and
 * `mass` are turned into sums of work at the representatives. 1: coordinate i may be stiff anew. */
#define WORK_SHARE 0.05

static void sum_work(const ga_system *sys, const double *d, double *change, double *mass)
{
  for (int i = 0; i < sys->nv; i++) change[i] *= d[i], mass[i] *= d[i];
  for (int i = 0; i < sys->nv; i++) {
    const int at = sys->linked[i];
    if (at != i) change[at] += change[i], mass[at] += mass[i];
  }
}

static int does_work(const ga_stepper *st, const double *change, const double *mass, double small, int i)
{
  const int at = st->sys->linked[i];
  return fabs(change[at]) > WORK_SHARE * st->c1 * small * fabs(mass[at]);
}

/* In a continuum, such as a beam, stiff directions rotate with it, and small errors along them look like
 * stiffness across them: in a slender beam these change much within a step, and are not new. New stiffness
 * makes the work h² dᵀK d of the whole continuum much larger than before. */
static void sum_continua(const ga_system *sys, const double *d, const double *k, double *work)
{
  for (int i = 0; i < sys->nv; i++) work[i] = 0.0;
  for (int i = 0; i < sys->nv; i++)
    if (sys->continuum[i] >= 0) work[sys->continuum[i]] += d[i] * k[i];
}

/* Clears the periods of continua without new stiffness; work: [2][nv]. */
static int drop_continua(const ga_system *sys, const double *d, const double *before, const double *after,
                         double *work, double *period)
{
  double *was = work, *is = work + sys->nv;
  int left = 0;
  sum_continua(sys, d, before, was);
  sum_continua(sys, d, after, is);
  for (int i = 0; i < sys->nv; i++) {
    const int at = sys->continuum[i];
    if (at >= 0 && !(fabs(is[at]) > CAME_UP * fabs(was[at]))) period[i] = 0.0;
    left |= period[i] > 0.0;
  }
  return left;
}

/* Along the filtered error d: where h²K was less than c₁M and is now more, as in a contact that closes.
 * Stiffness that only changes or rotates has been damped before. */
ga_status ga__new_stiffness(ga_stepper *st, double small, double *period)
{
  const ga_system *sys = st->sys;
  const int n = sys->nv;
  double *d = st->probe_d, *mass = st->probe_k, *before = mass + n, *after = mass + 2 * n;
  double *change = mass + 3 * n, *all_mass = mass + 4 * n; /* until rotation is checked */
  const turning t = {d, before, 0.0, mass + 3 * n, mass + 4 * n, mass + 5 * n, mass + 6 * n};
  for (int i = 0; i < n; i++) d[i] = st->est_all[i] - st->est_q[i], period[i] = 0.0;
  ga_point p = ga__state_point(&st->now);
  p.vdot = d;
  ga_status status = ga__call(sys, GA__MASS, &p, mass);
  if (!status) status = stiffness_along(st, &st->next, d, small, before);
  if (!status) status = stiffness_along(st, &st->now, d, small, after);
  if (status) return status < 0 ? status : GA_OK; /* if it cannot be evaluated nearby, nothing is new */
  for (int i = 0; i < n; i++) change[i] = after[i] - before[i], all_mass[i] = mass[i];
  sum_work(sys, d, change, all_mass);
  int found = 0;
  double *work = mass + 5 * n;
  for (int i = 0; i < n; i++) {
    const double m = st->c1 * small * fabs(mass[i]), k = fabs(after[i]);
    if (fabs(before[i]) < m && k > m && k > CAME_UP * fabs(before[i]) &&
        does_work(st, change, all_mass, small, i)) {
      period[i] = 2.0 * PI * st->now.scalar[GA__H_OLD] * sqrt(m / (st->c1 * k));
      found = 1;
    }
  }
  if (found && sys->continuum) found = drop_continua(sys, d, before, after, work, period);
  for (int i = 0; i < n; i++) /* the rest was stiff already */
    if (fabs(before[i]) < st->c1 * small * fabs(mass[i]) || period[i] > 0.0) before[i] = 0.0;
  return found ? drop_turned(st, t, small, period) : GA_OK;
}
