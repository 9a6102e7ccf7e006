/* Edges at which the equations jump or have a kink with the motion: whether the last step has passed one,
 * its time, whether it matters, and the state just behind it. */
#include "core/arrays.h"
#include "core/inside.h"
#include "core/sides.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOPE 0.125  /* [-] of a step: distance over which slopes are measured, */
#define CLOSE 5e-3   /* and the least distance for that */
#define MATTERS 1e-2 /* [-] of a tolerance: change of velocities or states by an edge that may be ignored */
enum { OUTPUT_PASSES = 8 };      /* of y := o, one for each output of a chain */
enum { MOST_TURNS = 6 };         /* turning points of a step that are examined, */
#define TURN_APART 1e-3          /* [-] of the step: least distance between them */
enum { MOST_EDGES = 8 };         /* edges of a step that are examined */
enum { COARSE = 10, FINE = 44 }; /* bisections of a step: to see whether it jumps, and to locate the jump */
enum { ROUGH = 16 };             /* bisections of the time to an edge, to choose a step that ends before it */
enum { TRIES = 12 };             /* times tried in search of an edge, each four times the one before */

/* ---- Creation ---- */

static ga_status take_memory(ga__sides *s)
{
  const ga_system *sys = s->sys;
  const int *size = sys->size, n = sys->def.n_sides, n_off = sys->nv + size[GA_BLOCK_X];
  const ga__array part[] = {{&s->state.q, (size_t)sys->nq},
                            {&s->state.v, (size_t)sys->nv},
                            {&s->state.vdot, (size_t)sys->nv},
                            {&s->state.lambda, (size_t)size[GA_BLOCK_LAMBDA]},
                            {&s->state.psi, (size_t)size[GA_BLOCK_PSI]},
                            {&s->state.x, (size_t)size[GA_BLOCK_X]},
                            {&s->state.xdot, (size_t)size[GA_BLOCK_X]},
                            {&s->state.y, (size_t)size[GA_BLOCK_Y]},
                            {&s->state.scalar, (size_t)GA__N_SCALARS},
                            {&s->y_new, (size_t)size[GA_BLOCK_Y]},
                            {&s->off, (size_t)n_off},
                            {&s->off_left, (size_t)n_off},
                            {&s->off_right, (size_t)n_off},
                            {&s->off_behind, (size_t)n_off}};
  const ga_status status = ga__arrays_create(s->ctx, GA__ARRAYS(part), "edges", &s->block, NULL);
  if (status) return status;
  s->begin = ga__alloc(s->ctx, 4 * (size_t)n, sizeof *s->begin);
  if (!s->begin) return ga__no_memory(s->ctx, "edges");
  s->end = s->begin + n;
  s->at = s->end + n;
  s->from = s->at + n;
  return GA_OK;
}

ga_status ga__sides_create(ga_context *ctx, const ga_system *sys, const ga_simulate_opts *tolerances,
                           ga__sides *s)
{
  *s = (ga__sides){.ctx = ctx, .sys = sys, .t_begin = NAN, .t_end = NAN};
  s->atol_v = tolerances->atol_v, s->rtol_v = tolerances->rtol_v;
  s->atol_x = tolerances->atol_x, s->rtol_x = tolerances->rtol_x;
  return sys->def.n_sides > 0 ? take_memory(s) : GA_OK;
}

void ga__sides_free(ga__sides *s)
{
  if (!s->ctx) return;
  ga__free(s->ctx, s->block);
  ga__free(s->ctx, s->begin);
  *s = (ga__sides){0};
}

void ga__sides_forget(ga__sides *s)
{
  s->t_begin = s->t_end = NAN;
}

/* ---- Sides ---- */

/* 0: not known there. */
static int sides_of(const ga__sides *s, const ga__state *f, int *side)
{
  const ga_point p = ga__state_point(f);
  ga__mute_errors(s->ctx);
  const int code = s->sys->def.sides(s->sys->def.user, &p, side);
  ga__unmute_errors(s->ctx);
  return code == 0;
}

/* s->state.y := outputs for the other unknowns of s->state, since they were only interpolated or
 * extrapolated. 0: they cannot be evaluated. */
static int renew_outputs(ga__sides *s)
{
  const ga_point p = ga__state_point(&s->state);
  const size_t bytes = (size_t)s->sys->size[GA_BLOCK_Y] * sizeof(double);
  int fine = 1;
  ga__mute_errors(s->ctx);
  for (int pass = 0; bytes > 0 && fine && pass < OUTPUT_PASSES; pass++) {
    fine = ga__call(s->sys, GA__OUTPUT, &p, s->y_new) == GA_OK;
    if (fine && memcmp(s->state.y, s->y_new, bytes) == 0) break;
    if (fine) memcpy(s->state.y, s->y_new, bytes);
  }
  ga__unmute_errors(s->ctx);
  return fine;
}

/* Index of the first side that differs; −1: none. */
static int first_difference(const ga__sides *s, const int *a, const int *b)
{
  for (int i = s->first; i < s->sys->def.n_sides; i++)
    if (a[i] != b[i]) return i;
  return -1;
}

/* Accelerations and forces are those of the step, not solved for again: they show what it has not met. */
static ga_status interpolate(ga__sides *s, ga_stepper *st, double t)
{
  const ga__state *f = &s->state;
  f->scalar[GA__T] = t;
  return ga__interpolate(st, t,
                         &(ga__inside){.q = f->q,
                                       .v = f->v,
                                       .vdot = f->vdot,
                                       .lambda = f->lambda,
                                       .psi = f->psi,
                                       .x = f->x,
                                       .y = f->y,
                                       .plain = 1});
}

/* Sides at t within the last step; *other: the first that differs from s->from; −1: none. */
static int sides_at(ga__sides *s, ga_stepper *st, double t, int *other)
{
  if (interpolate(s, st, t) || !renew_outputs(s) || !sides_of(s, &s->state, s->at)) return 0;
  *other = first_difference(s, s->from, s->at);
  return 1;
}

/* Sides at both ends of the last step; known ones are not evaluated again. */
static int find_end_sides(ga__sides *s, const ga_stepper *st)
{
  const double begin = st->next.scalar[GA__T];
  const size_t bytes = (size_t)s->sys->def.n_sides * sizeof *s->begin;
  if (begin == s->t_end && begin != s->t_begin) {
    memcpy(s->begin, s->end, bytes);
  } else if (begin != s->t_begin && !sides_of(s, &st->next, s->begin)) {
    ga__sides_forget(s);
    return 0;
  }
  s->t_begin = begin;
  s->t_end = NAN;
  if (!sides_of(s, &st->now, s->end)) return 0;
  s->t_end = st->now.scalar[GA__T];
  return 1;
}

/* ---- Jumps ---- */

static ga_status defect_at(ga__sides *s, ga_stepper *st, double t, double *off)
{
  const ga__state *f = &s->state;
  ga_status status = interpolate(s, st, t);
  const ga_state at = {t, f->q, f->v, f->vdot, NULL, f->lambda, f->psi, NULL, f->x, NULL, NULL, f->y};
  const int begins =
      t == st->next.scalar[GA__T]; /* outputs of a start may belong to other velocities, see start.c */
  if (begins && s->sys->size[GA_BLOCK_Y] > 0)
    memcpy(f->y, st->next.y, (size_t)s->sys->size[GA_BLOCK_Y] * sizeof(double));
  else if (!status && !renew_outputs(s))
    status = GA_RETRY_CALLBACK;
  return status ? status : ga__defect(st, &at, s->y_new, off);
}

/* Whether ignoring the jump between two close times would cause an error that matters. An acceleration
 * error r causes an error of h²r/8 in ga__defect(), and of hr/2 in velocities. */
static ga_status jump_matters(ga__sides *s, ga_stepper *st, double before, double behind, int *matters)
{
  const int nv = s->sys->nv, nx = s->sys->size[GA_BLOCK_X];
  const double h = st->now.scalar[GA__T] - st->next.scalar[GA__T];
  *matters = !st->factors.now.valid; /* without factors nothing is known */
  if (*matters) return GA_OK;
  ga_status status = defect_at(s, st, before, s->off);
  if (!status) status = defect_at(s, st, behind, s->off_behind);
  if (status) return status;
  for (int i = 0; i < nv; i++)
    if (4.0 * fabs(s->off_behind[i] - s->off[i]) > MATTERS * h * (s->atol_v + s->rtol_v * fabs(st->now.v[i])))
      *matters = 1;
  for (int i = 0; i < nx; i++)
    if (2.0 * fabs(s->off_behind[nv + i] - s->off[nv + i]) >
        MATTERS * (s->atol_x + s->rtol_x * fabs(st->now.x[i])))
      *matters = 1;
  return GA_OK;
}

/* The same for a jump r' of the slope: h²r'/8 in velocities. Slopes are measured over an eighth of the step
 * on both sides, from the errors that jump_matters() has left at the times themselves. */
static ga_status corner_matters(ga__sides *s, ga_stepper *st, double before, double behind, int *matters)
{
  const int nv = s->sys->nv, nx = s->sys->size[GA_BLOCK_X], n = nv + nx;
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T], h = end - begin;
  const double left = fmin(SLOPE * h, before - begin), right = fmin(SLOPE * h, end - behind);
  *matters = left < CLOSE * h || right < CLOSE * h; /* too close to an end to tell */
  if (*matters) return GA_OK;
  ga_status status = defect_at(s, st, before - left, s->off_left);
  if (!status) status = defect_at(s, st, behind + right, s->off_right);
  for (int i = 0; !status && i < n; i++) {
    const double bend =
        h * fabs((s->off_right[i] - s->off_behind[i]) / right - (s->off[i] - s->off_left[i]) / left);
    const double size = i < nv ? st->now.v[i] : st->now.x[i - nv];
    *matters |= i < nv ? bend > MATTERS * h * (s->atol_v + s->rtol_v * fabs(size))
                       : 0.5 * bend > MATTERS * (s->atol_x + s->rtol_x * fabs(size));
  }
  return status;
}

/* Bisects [*a, *b], *a being on the sides s->from and *b not; *which: the edge. */
static int bisect_edge(ga__sides *s, ga_stepper *st, int halvings, double *a, double *b, int *which)
{
  for (int i = 0; i < halvings; i++) {
    const double middle = *a + 0.5 * (*b - *a);
    int other;
    if (!(middle > *a && middle < *b)) return 1;
    if (!sides_at(s, st, middle, &other)) return 0;
    if (other < 0)
      *a = middle;
    else
      *b = middle, *which = other;
  }
  return 1;
}

/* Switches always matter: equations change by them alone. */
int ga__sides_is_switch(const ga__sides *s, int which)
{
  return which >= s->sys->def.n_sides - s->sys->def.n_switches;
}

int ga__sides_switched_at(ga__sides *s, ga_stepper *st, double t)
{
  const int first = s->first;
  int other = -1;
  if (s->sys->def.n_switches == 0 || !find_end_sides(s, st)) return 0;
  memcpy(s->from, s->begin, (size_t)s->sys->def.n_sides * sizeof *s->from);
  s->first = s->sys->def.n_sides - s->sys->def.n_switches;
  const int known = sides_at(s, st, t, &other);
  s->first = first;
  return known && other >= 0;
}

/* Adds the position s within the step, from 0 to 1, of a turning point, unless it is close to a known one. */
static void add_turn(double *turn, int *n, double s)
{
  if (!(s > TURN_APART && s < 1.0 - TURN_APART) || *n == MOST_TURNS) return;
  for (int i = 0; i < *n; i++)
    if (fabs(turn[i] - s) < TURN_APART) return;
  turn[(*n)++] = s;
}

/* Both ends are on the same sides, but an edge may be passed back and forth near a turning point of an
 * output or coordinate. *t: a time on other sides, *which: the edge; *t is the end of the step if none was
 * found. */
static void find_turned_edge(ga__sides *s, ga_stepper *st, double *t, int *which)
{
  const ga__state *before = &st->next, *now = &st->now, *f = &s->state;
  const double begin = before->scalar[GA__T], h = now->scalar[GA__T] - begin;
  double turn[MOST_TURNS];
  int found = 0;
  if (interpolate(s, st, begin + 0.5 * h)) return;
  for (int i = 0; i < s->sys->size[GA_BLOCK_Y]; i++) { /* slopes of the parabola at its ends */
    const double first = 4.0 * f->y[i] - 3.0 * before->y[i] - now->y[i];
    const double last = 3.0 * now->y[i] + before->y[i] - 4.0 * f->y[i];
    if (first * last < 0.0) add_turn(turn, &found, first / (first - last));
  }
  for (int i = 0; i < s->sys->nv; i++)
    if (before->v[i] * now->v[i] < 0.0) add_turn(turn, &found, before->v[i] / (before->v[i] - now->v[i]));
  const int switches =
      s->sys->def.n_switches > 0; /* they depend on multipliers, and on signs of velocities */
  for (int i = 0; switches && i < s->sys->size[GA_BLOCK_PSI]; i++) {
    const double first = 4.0 * f->psi[i] - 3.0 * before->psi[i] - now->psi[i];
    const double last = 3.0 * now->psi[i] + before->psi[i] - 4.0 * f->psi[i];
    if (first * last < 0.0) add_turn(turn, &found, first / (first - last));
  }
  for (int i = 0; switches && i < s->sys->nv; i++)
    if (before->vdot[i] * now->vdot[i] < 0.0)
      add_turn(turn, &found, before->vdot[i] / (before->vdot[i] - now->vdot[i]));
  for (int i = 0; i < found; i++) {
    int other = -1;
    if (!sides_at(s, st, begin + turn[i] * h, &other) || other < 0 || begin + turn[i] * h >= *t) continue;
    *t = begin + turn[i] * h;
    *which = other;
  }
}

ga_status ga__sides_find(ga__sides *s, ga_stepper *st, ga__edge_met *out)
{
  *out = (ga__edge_met){INFINITY, INFINITY, -1};
  if (s->sys->def.n_sides == 0 || !find_end_sides(s, st)) return GA_OK;
  const size_t bytes = (size_t)s->sys->def.n_sides * sizeof *s->from;
  double begin = st->next.scalar[GA__T];
  double end = st->now.scalar[GA__T];
  memcpy(s->from, s->begin, bytes);
  for (int i = 0; i < MOST_EDGES; i++) { /* one after the other, up to the first that matters */
    int which = first_difference(s, s->from, s->end), matters = 0, other;
    if (which < 0 && i == 0) find_turned_edge(s, st, &end, &which);
    if (which < 0) return GA_OK;
    double a = begin, b = end;
    if (!bisect_edge(s, st, COARSE, &a, &b, &which)) return GA_OK;
    if (ga__sides_is_switch(s, which)) {
      if (bisect_edge(s, st, FINE - COARSE, &a, &b, &which)) *out = (ga__edge_met){a, b, which};
      return GA_OK;
    }
    ga_status status = jump_matters(s, st, a, b, &matters);
    if (!status && matters && bisect_edge(s, st, FINE - COARSE, &a, &b, &which))
      status = jump_matters(s, st, a, b, &matters);
    else
      matters = 0;
    if (!status && !matters) status = corner_matters(s, st, a, b, &matters);
    if (status) return status < 0 ? status : GA_OK;
    if (matters) *out = (ga__edge_met){a, b, which};
    if (matters || !sides_at(s, st, b, &other)) return GA_OK;
    memcpy(s->from, s->at, bytes);
    begin = b;
  }
  return GA_OK;
}

/* ---- Just behind an edge ---- */

static int sides_after(ga__sides *s, ga_stepper *st, double gap, int *other)
{
  ga__extrapolate(st, gap, &s->state);
  if (!renew_outputs(s) || !sides_of(s, &s->state, s->at)) return 0;
  *other = first_difference(s, s->begin, s->at);
  return 1;
}

/* Bisects [*low, *high]; which: the edge passed at *high. Returns the edge; −1: unknown. */
static int bisect_gap(ga__sides *s, ga_stepper *st, int halvings, double *low, double *high, int which)
{
  for (int i = 0; i < halvings; i++) {
    const double middle = 0.5 * (*low + *high);
    int other;
    if (!(middle > *low && middle < *high)) break;
    if (!sides_after(s, st, middle, &other)) return -1;
    if (other < 0)
      *low = middle;
    else
      *high = middle, which = other;
  }
  return which;
}

int ga__sides_here(ga__sides *s, const ga_stepper *st)
{
  s->t_begin = NAN;
  if (s->sys->def.n_sides == 0) return 0;
  ga__extrapolate(st, 0.0, &s->state); /* its outputs may belong to a step over a gap */
  if (!renew_outputs(s) || !sides_of(s, &s->state, s->begin)) return 0;
  s->t_begin = st->now.scalar[GA__T];
  return 1;
}

int ga__sides_torn(ga__sides *s, const ga_stepper *st)
{
  return ga__sides_here(s, st) && ga__sides_left(s, st);
}

int ga__sides_left(ga__sides *s, const ga_stepper *st)
{
  return sides_of(s, &st->now, s->at) && first_difference(s, s->begin, s->at) >= 0;
}

/* The next edge after the current state is more than *low and at most *high away, to 2^-ROUGH of it.
 * Returns which; −1: none up to `most`. */
static int find_gap(ga__sides *s, ga_stepper *st, double most, double *low, double *high)
{
  int which = -1;
  *low = 0.0, *high = ldexp(most, -2 * TRIES);
  if (!ga__sides_here(s, st)) return -1;
  for (int i = 0; i <= TRIES; i++) { /* from near to far: the region behind an edge may be narrow */
    if (!sides_after(s, st, *high, &which)) return -1;
    if (which >= 0) break;
    *low = *high;
    *high *= 4.0;
  }
  return which < 0 ? -1 : bisect_gap(s, st, ROUGH, low, high, which);
}

int ga__sides_gap(ga__sides *s, ga_stepper *st, double most, double *gap)
{
  double low, high;
  int which = find_gap(s, st, most, &low, &high);
  if (which >= 0) which = bisect_gap(s, st, FINE - ROUGH, &low, &high, which);
  *gap = which < 0 ? INFINITY : high;
  return which;
}

/* ---- Steps that end in front of an edge ---- */

/* [-] distance of the first step's end before an edge, relative to the predicted time to the edge */
#define SHORT_OF 5e-4
/* factor of this distance for the next steps, if iterations pass the edge back and forth */
#define SHORTER 8.0
#define REACH 0.05 /* [-] of a step: distance behind its end within which the edge is sought */

double ga__aim_shorter(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double dense)
{
  double foreseen;
  if (!(aim->behind > 0.0) || h < aim->behind) aim->behind = h;
  aim->final = aim->front > 0.0;
  if (aim->final) return aim->front;
  ga__sides_gap(s, st, aim->behind, &foreseen);
  const double time = fmin(fmin(foreseen, fmax(dense, 0.5 * aim->behind)), aim->behind);
  return time * fmax(0.5, 1.0 - SHORT_OF * pow(SHORTER, aim->n++));
}

double ga__aim_longer(ga__sides *s, ga_stepper *st, ga__aim *aim, double h, double *gap)
{
  ga__sides_gap(s, st, REACH * h, gap);
  if (isinf(*gap) || aim->final || *gap <= GA__NEAR_EDGE * h || aim->n >= GA__MOST_AIMS) return 0.0;
  aim->n++;
  aim->front = fmax(aim->front, h);
  const double next = h + (1.0 - SHORT_OF) * *gap;
  return !(aim->behind > 0.0) || next < aim->behind ? next : 0.5 * (h + aim->behind);
}

void ga__sides_name(const ga__sides *s, int which, char *text, size_t size)
{
  const ga_system_def *def = &s->sys->def;
  if (def->side_name && which >= 0)
    def->side_name(def->user, which, text, size);
  else
    snprintf(text, size, "edge %d", which);
}
