#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLIP_STEPS = 20, MAX_ROWS = 64 };

/* One run of a case: the objects under test, and what has been measured so far. */
typedef struct run {
  const vf_case *c;
  vf_setup setup;
  vf_reference *ref;
  double spacing; /* of the reference's samples */
  double last_step;
  long steps_left;
  double first[VF_EXPECTS]; /* energies and probes at the start */
  double last[VF_EXPECTS];  /* signed error before, for sign changes */
  double *value;            /* result per row of expect */
  char *failure;
  size_t failure_size;
} run;

static int fail(run *r, const char *what, ga_status status)
{
  return vf_setup_fail(&r->setup, what, status, r->failure, r->failure_size);
}

double vf_case_end(const vf_case *c, const ex_problem *problem)
{
  return c->t_end > 0 ? c->t_end : problem->t_end;
}

static double finest_step(const vf_case *c)
{
  return c->h / pow(c->ratio ? c->ratio : 2, c->levels - 1);
}

static int compared(const vf_expect *e)
{
  return e->label && e->quantity <= VF_A && e->measure != VF_VALUE;
}

double vf_case_spacing(const vf_case *c, const ex_problem *problem)
{
  int along = 0;
  for (int i = 0; i < VF_EXPECTS && c->expect[i].label; i++)
    along |= compared(&c->expect[i]) && c->expect[i].measure != VF_END && c->expect[i].quantity != VF_A;
  if (!along) return vf_case_end(c, problem);
  if (!(c->split > 0)) return finest_step(c);
  /* both steps are multiples of 2h over the denominator of split */
  int parts = 2;
  while (parts < 10 && fabs(c->split * parts - nearbyint(c->split * parts)) > 1e-9) parts++;
  return 2 * finest_step(c) / parts;
}

/* The numbers of a quantity in a state and in the reference, and how many there are. */
static int pick(const run *r, const vf_expect *e, const ga_state *s, const ga_point *p, const double **now,
                const double **exact)
{
  const vf_sizes z = vf_reference_sizes(r->ref);
  const int length[] = {z.nq, z.nv, z.nv, z.n_lambda, z.n_psi, z.n_x, z.n_y, z.nv};
  const double *mine[] = {s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, s->a};
  const double *theirs[] = {p->q, p->v, p->vdot, p->lambda, p->psi, p->x, p->y, p->vdot};
  const int left = length[e->quantity] - e->first;
  *now = mine[e->quantity] + e->first;
  *exact = theirs[e->quantity] + e->first;
  return e->count && e->count < left ? e->count : left;
}

static double distance(const double *a, const double *b, int n, vf_norm norm)
{
  double sum = 0;
  for (int i = 0; i < n; i++) {
    const double d = fabs(a[i] - b[i]);
    if (isnan(d)) return INFINITY;
    sum = norm == VF_2NORM ? hypot(sum, d) : fmax(sum, d);
  }
  return sum;
}

/* Φ, B v + Φ_t or k from the problem's own callbacks. */
static double constraint_residual(const run *r, const vf_expect *e, const ga_state *s)
{
  const ga_eval_fn fn = e->quantity == VF_PHI ? r->setup.def.phi
                        : e->quantity == VF_K ? r->setup.def.k
                                              : r->setup.def.phi_dot;
  const int all = e->quantity == VF_K ? r->setup.def.n_psi : r->setup.def.n_lambda;
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  const double zero[MAX_ROWS] = {0};
  double out[MAX_ROWS];
  if (!fn || all > MAX_ROWS || fn(r->setup.def.user, &p, out)) return INFINITY;
  return distance(out + e->first, zero, e->count ? e->count : all - e->first, VF_MAXNORM);
}

/* One row of expectations at one time. */
static void measure(run *r, int row, const ga_state *s, const ga_point *p, int at_start, int at_end)
{
  const vf_expect *e = &r->c->expect[row];
  const double *now, *exact;
  double error;
  if (e->quantity <= VF_A) {
    const int n = pick(r, e, s, p, &now, &exact);
    if (e->measure == VF_FLIPS) {
      const double signed_error = now[0] - exact[0];
      if (r->steps_left < FLIP_STEPS && signed_error * r->last[row] < 0) r->value[row] += 1;
      r->last[row] = signed_error;
      return;
    }
    error = e->measure == VF_VALUE ? now[0] : distance(now, exact, n, e->norm);
  } else if (e->quantity <= VF_K) {
    error = constraint_residual(r, e, s);
  } else {
    const vf_probe_fn probe = e->quantity == VF_ENERGY ? r->setup.problem->energy : e->probe;
    const double value = probe ? probe(s) : NAN;
    if (at_start) r->first[row] = value;
    error = fabs(value - r->first[row]);
  }
  if (e->measure == VF_MAX && e->quantity != VF_A)
    r->value[row] = isnan(error) ? INFINITY : fmax(r->value[row], error);
  else if (at_end)
    r->value[row] = error;
}

/* The reference where the last step's a stands. */
static int point_of_a(run *r, ga_point *p)
{
  const double delta = r->setup.scheme.alpha_m - r->setup.scheme.alpha_f;
  *p = vf_reference_between(r->ref, ga_stepper_state(r->setup.st)->t + delta * r->last_step);
  return p->q ? 0 : fail(r, "the reference at the time of a", GA_ERR_ARGUMENT);
}

/* All rows at the present state. Times between samples can only be met by cases that need the end alone. */
static int observe(run *r, int at_start)
{
  const ga_state *s = ga_stepper_state(r->setup.st);
  const int at_end = r->steps_left == 0;
  const long i = lround(s->t / r->spacing);
  const int sampled = fabs(s->t - (double)i * r->spacing) < 1e-6 * r->spacing;
  const ga_point p = vf_reference_at(r->ref, sampled ? i : 0);
  ga_point p_of_a;
  for (int row = 0; row < VF_EXPECTS && r->c->expect[row].label; row++) {
    const vf_expect *e = &r->c->expect[row];
    if (e->quantity == VF_A) {
      if (at_end && point_of_a(r, &p_of_a)) return 1;
      if (at_end) measure(r, row, s, &p_of_a, at_start, at_end);
      continue;
    }
    if (compared(e) && !sampled) {
      if (e->measure != VF_END || at_end) return fail(r, "no reference at this time", GA_ERR_ARGUMENT);
      continue;
    }
    measure(r, row, s, &p, at_start, at_end);
  }
  return 0;
}

static int project_once(run *r, int *done)
{
  const double t = ga_stepper_state(r->setup.st)->t, at = r->c->project_at;
  if (*done || !(at > 0) || t < at * (1 - 1e-9)) return 0;
  *done = 1;
  const ga_status status = ga_stepper_project_velocity(r->setup.st, r->c->projection, NULL);
  return status == GA_OK ? 0 : fail(r, "velocity projection", status);
}

static int integrate(run *r, double h, long n)
{
  const double split = r->c->split;
  const double step[2] = {split > 0 ? 2 * split * h : h, split > 0 ? 2 * (1 - split) * h : h};
  int projected = 0;
  ga_status status = vf_setup_start(&r->setup, step[0]);
  if (status) return fail(r, "start", status);
  r->steps_left = n;
  if (observe(r, 1)) return 1;
  for (long k = 0; k < n; k++) {
    r->last_step = step[k % 2];
    if ((status = ga_stepper_step(r->setup.st, r->last_step))) return fail(r, "step", status);
    r->steps_left = n - k - 1;
    if (project_once(r, &projected) || observe(r, 0)) return 1;
  }
  return 0;
}

void vf_case_run(const vf_case *c, const ex_problem *problem, vf_reference *ref, vf_result *result)
{
  memset(result, 0, sizeof *result);
  double h = c->h;
  for (int level = 0; level < c->levels && !result->failure[0]; level++, h /= c->ratio ? c->ratio : 2) {
    run r = {.c = c,
             .ref = ref,
             .spacing = vf_reference_spacing(ref),
             .value = result->value[level],
             .failure = result->failure,
             .failure_size = sizeof result->failure};
    result->h[level] = h;
    const ga_status status = vf_setup_create(&r.setup, c, problem);
    if (status)
      fail(&r, "create", status);
    else
      integrate(&r, h, lround(vf_case_end(c, problem) / h));
    if (r.setup.st) {
      const ga_stats *stats = ga_stepper_stats(r.setup.st);
      result->steps += stats->steps;
      result->iterations += stats->iterations;
      result->at_floor += stats->at_floor;
    }
    vf_setup_destroy(&r.setup);
  }
}
