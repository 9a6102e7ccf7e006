/* The point P where a wheel touches a road: for the tangent plane at a place s = (x, y),
 *
 *   m = |n × e|,  e_x = n × e / m,  e_y = e × e_x,  d = (e − (e·n) n)/m
 *   ρ = (e·(C − S) − a)/m,  P = C − ρ d − a e
 *
 * and P must be at this place itself: r(s) = s(P(s)) − s = 0. Newton's iteration from the place below C, with
 * r' by the curvature of the road. For an upright wheel r = −∇ ½|C − S|²: where −r' is positive, P is a
 * nearest point, whatever the curvature of a bump; where it is not, as in a hollow that is narrower than the
 * wheel, steps along r lead away to one. The derivatives of s follow from those of r:  −r' ds = dr. */
#include "mbs/tyre_contact.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 40, MOST_HALVINGS = 12 };
enum { SAMPLES = 32 };   /* of the distance, on each side of a place, up to the radius */
enum { ITERATIONS = 3 }; /* by tangent planes alone, where Newton's iteration finds nothing */
#define EXACT 4.0        /* roundings: r as small as this is 0 */
#define FOUND 1e-10      /* [-] of the radius: largest r of a place that is found */
#define FARTHEST 0.5     /* [-] of the radius: longest step */
#define MARGIN 1e-3      /* [-] of the radius: depths and rises below this do not count */
#define CORNER 0.02      /* [-] of the radius: at a corner of the road there is no place */

/* What the iteration is given: numbers without derivatives but those by the place. */
typedef struct search {
  ga__wheel wheel;
  ga__road_frame frame;
  ga__dual t;
  const ga__eval *e;
  const ga__road *road;
} search;

/* m = 1, ρ = e·(C − S) − a, P = C − (ρ + a) e */
static void touch_sphere(ga__touch *c, const ga__wheel *w)
{
  ga__dual off[3];
  ga__dual_minus(off, w->C, c->plane.point);
  const ga__dual height = ga__dual_dot(c->plane.normal, off), down = ga__dual_linear(&height, -1, 0);
  c->m = ga__dual_const(height.n, 1);
  c->camber = ga__dual_const(height.n, 0);
  for (int i = 0; i < 3; i++) c->ex[i] = c->ey[i] = c->camber;
  c->rho = ga__dual_linear(&height, 1, -w->carcass);
  ga__dual_along(c->P, w->C, &down, c->plane.normal);
}

static void touch_plane(ga__touch *c, const ga__wheel *w)
{
  if (w->sphere) {
    touch_sphere(c, w);
    return;
  }
  const ga__dual *e = c->plane.normal;
  const double a = w->carcass;
  ga__dual off[3], d[3], h;
  const ga__dual s = ga__dual_dot(w->axis, e), against = ga__dual_linear(&s, -1, 0);
  ga__dual_cross(c->ex, w->axis, e);
  const ga__dual m2 = ga__dual_dot(c->ex, c->ex);
  c->m = ga__dual_chain(&m2, sqrt(m2.v), 0.5 / sqrt(m2.v));
  ga__dual_along(d, e, &against, w->axis);
  for (int i = 0; i < 3; i++) c->ex[i] = ga__dual_div(&c->ex[i], &c->m), d[i] = ga__dual_div(&d[i], &c->m);
  ga__dual_cross(c->ey, e, c->ex);
  ga__dual_minus(off, w->C, c->plane.point);
  h = ga__dual_dot(e, off);
  h = ga__dual_linear(&h, 1, -a);
  c->rho = ga__dual_div(&h, &c->m);
  c->camber = ga__dual_chain(&s, asin(fmax(-1, fmin(1, s.v))), 1 / c->m.v);
  const ga__dual back = ga__dual_linear(&c->rho, -1, 0), down = ga__dual_const(s.n, -a);
  ga__dual_along(c->P, w->C, &back, d);
  ga__dual_along(c->P, c->P, &down, e);
}

/* r at a place, and A = −r'. Returns as ga__road_plane_at(). */
static int gap_at(const search *s, const double place[2], ga__touch *touch, double r[2], double A[4])
{
  ga__dual at[2], of[2];
  for (int i = 0; i < 2; i++) at[i] = ga__dual_variable(2, i, place[i]);
  const int status = ga__road_plane_at_place(&touch->plane, s->e, s->road, &s->frame, &s->t, at);
  if (status) return status;
  touch_plane(touch, &s->wheel);
  ga__road_place(of, &s->frame, touch->P);
  for (int i = 0; i < 2; i++) {
    r[i] = of[i].v - place[i];
    for (int j = 0; j < 2; j++) A[2 * i + j] = (i == j) - of[i].d[j];
  }
  return 0;
}

static int is_positive(const double A[4])
{
  return A[0] * A[3] - A[1] * A[2] > 0 && A[0] + A[3] > 0;
}

/* d = A⁻¹ r, or, where A is not positive, along r by a length that does not pass the place sought. */
static void choose_step(const double A[4], const double r[2], double most, double d[2])
{
  const double det = A[0] * A[3] - A[1] * A[2];
  const double bend = fabs(A[0]) + fabs(A[1]) + fabs(A[2]) + fabs(A[3]);
  d[0] = is_positive(A) ? (A[3] * r[0] - A[1] * r[1]) / det : r[0] / (1 + bend);
  d[1] = is_positive(A) ? (A[0] * r[1] - A[2] * r[0]) / det : r[1] / (1 + bend);
  const double length = hypot(d[0], d[1]);
  for (int i = 0; i < 2 && length > most; i++) d[i] *= most / length;
}

/* From `place` on to a place with r = 0. *found: it is one, and a nearest point. touch, A: there. */
static int find_place(const search *s, double place[2], ga__touch *touch, double A[4], int *found)
{
  double r[2];
  int status = gap_at(s, place, touch, r, A);
  *found = 0;
  for (int i = 0; !status && i < MOST_STEPS && touch->m.v > GA__FLAT; i++) {
    const double rounding = DBL_EPSILON * (fabs(place[0]) + fabs(place[1]) + s->wheel.radius);
    ga__touch touch_next;
    double d[2], next[2], r_next[2], A_next[4];
    const double size = hypot(r[0], r[1]);
    *found = is_positive(A) && size <= FOUND * s->wheel.radius + 16 * EXACT * rounding;
    if (size <= EXACT * rounding) return 0;
    choose_step(A, r, FARTHEST * s->wheel.radius, d);
    int smaller = 0;
    for (int k = 0; !smaller && k < MOST_HALVINGS; k++) {
      for (int j = 0; j < 2; j++) next[j] = place[j] + ldexp(d[j], -k);
      status = gap_at(s, next, &touch_next, r_next, A_next);
      if (status < 0) return status;
      smaller = !status && (!is_positive(A) || hypot(r_next[0], r_next[1]) < size);
    }
    if (!smaller) return 0;
    *touch = touch_next;
    memcpy(place, next, sizeof next);
    memcpy(r, r_next, sizeof r_next);
    memcpy(A, A_next, sizeof A_next);
  }
  return status;
}

/* ---- Distances along the road ---- */

/* [m] from the centre, in the wheel's plane, to the road at a distance `s` along e_x from a place; infinite:
 * not defined there. at: that place. */
static double distance_along(const ga__touch *touch, const ga__wheel *w, const ga__eval *e,
                             const ga__road *road, const ga__road_frame *frame, const ga__dual *t,
                             const double place[2], double s, double at[2])
{
  ga_fault fault;
  double f, square = 0, across = 0;
  for (int i = 0; i < 2; i++) {
    at[i] = place[i];
    for (int k = 0; k < 3; k++) at[i] += s * touch->ex[k].v * frame->axis[i][k].v;
  }
  const double x[3] = {t->v, at[0], at[1]};
  if (!road->height.expr || !e->work || ga_expr_eval(road->height.expr, x, &f, &fault)) return INFINITY;
  for (int k = 0; k < 3; k++) {
    const double off = frame->p[k].v + at[0] * frame->axis[0][k].v + at[1] * frame->axis[1][k].v +
                       f * frame->axis[2][k].v - w->C[k].v;
    square += off * off;
    if (!w->sphere) across += off * w->axis[k].v;
  }
  return sqrt(fmax(square - across * across, 0));
}

/* place := the one of the samples about it that is nearest to the centre. */
static int search_nearest(const search *s, double place[2])
{
  ga__touch touch;
  double r[2], A[4], at[2], nearest[2] = {place[0], place[1]}, least = INFINITY;
  const int status = gap_at(s, place, &touch, r, A);
  for (int i = -SAMPLES; !status && i <= SAMPLES; i++) {
    const double D = distance_along(&touch, &s->wheel, s->e, s->road, &s->frame, &s->t, place,
                                    s->wheel.radius * i / SAMPLES, at);
    if (D < least) least = D, memcpy(nearest, at, sizeof at);
  }
  memcpy(place, nearest, sizeof nearest);
  return status;
}

/* 1: heights within the wheel's reach differ by less than the margin. */
static int is_even(const ga__touch *touch, const ga__wheel *w, const ga__road *road, const ga__dual *t)
{
  double lo[3] = {t->v, touch->place[0] - w->radius, touch->place[1] - w->radius};
  double hi[3] = {t->v, touch->place[0] + w->radius, touch->place[1] + w->radius}, least, most;
  return ga_expr_bounds(road->height.expr, lo, hi, &least, &most) && most - least < MARGIN * w->radius;
}

double ga__touch_doubt(const ga__touch *touch, const ga__wheel *w, const ga__eval *e, const ga__road *road,
                       const ga__road_frame *frame, const ga__dual *t, double place[2])
{
  const double margin = MARGIN * w->radius;
  double deepest = touch->gap > CORNER * w->radius ? touch->gap : 0;
  memcpy(place, touch->place, sizeof touch->place);
  if (is_even(touch, w, road, t)) return deepest;
  for (int side = -1; side <= 1; side += 2) {
    double farthest = 0, at[2];
    for (int i = 0; i <= SAMPLES; i++) {
      const double D =
          distance_along(touch, w, e, road, frame, t, touch->place, side * w->radius * i / SAMPLES, at);
      farthest = isfinite(D) ? fmax(farthest, D) : farthest;
      if (!(D < farthest - margin) || !(w->radius - D > fmax(margin, deepest))) continue;
      deepest = w->radius - D;
      memcpy(place, at, sizeof at);
    }
  }
  return deepest;
}

/* ---- The whole ---- */

static ga__dual frozen(const ga__dual *a)
{
  return ga__dual_const(2, a->v);
}

static void begin_search(search *s, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                         const ga__road_frame *frame, const ga__dual *t)
{
  *s = (search){.wheel = {.radius = wheel->radius, .carcass = wheel->carcass, .sphere = wheel->sphere}, .e = e, .road = road};
  s->t = frozen(t);
  for (int i = 0; i < 3; i++) {
    s->wheel.C[i] = frozen(&wheel->C[i]);
    s->wheel.axis[i] = frozen(&wheel->axis[i]);
    s->frame.p[i] = frozen(&frame->p[i]);
    for (int k = 0; k < 3; k++) s->frame.axis[i][k] = frozen(&frame->axis[i][k]);
  }
}

/* Touches the plane at a place; gap: as in ga__touch. */
static int touch_at(ga__touch *out, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                    const ga__road_frame *frame, const ga__dual *t, const ga__dual place[2], ga__dual r[2])
{
  const int status = ga__road_plane_at_place(&out->plane, e, road, frame, t, place);
  if (status) return status;
  touch_plane(out, wheel);
  ga__road_place(r, frame, out->P);
  for (int i = 0; i < 2; i++) r[i] = ga__dual_sub(&r[i], &place[i]), out->place[i] = place[i].v;
  out->gap = hypot(r[0].v, r[1].v);
  return 0;
}

/* Without the derivatives by the place. */
static void strip(ga__touch *c)
{
  ga__dual *const vector[] = {c->plane.point, c->plane.normal, c->ex, c->ey, c->P};
  ga__dual *const number[] = {&c->plane.rise, &c->m, &c->camber, &c->rho};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++)
    for (int k = 0; k < 3; k++) vector[i][k].n = 0;
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) number[i]->n = 0;
}

/* With the derivatives of the place, −r' ds = dr, at a place with A = −r'. */
static int touch_found(ga__touch *out, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                       const ga__road_frame *frame, const ga__dual *t, const double at[2], const double A[4])
{
  const double det = A[0] * A[3] - A[1] * A[2];
  ga__dual place[2], r[2];
  for (int i = 0; i < 2; i++) place[i] = ga__dual_const(t->n, at[i]);
  const int status = touch_at(out, wheel, e, road, frame, t, place, r);
  if (status) return status;
  place[0] = ga__dual_chain2(&r[0], &r[1], at[0], A[3] / det, -A[1] / det);
  place[1] = ga__dual_chain2(&r[0], &r[1], at[1], -A[2] / det, A[0] / det);
  return touch_at(out, wheel, e, road, frame, t, place, r);
}

/* By tangent planes alone, from that below the centre. */
static int touch_planes(ga__touch *out, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                        const ga__road_frame *frame, const ga__dual *t)
{
  ga__dual place[2], r[2];
  int status = 0;
  for (int i = 0; i < (road->height.expr ? ITERATIONS : 1); i++) {
    ga__road_place(place, frame, i == 0 ? wheel->C : out->P);
    if ((status = touch_at(out, wheel, e, road, frame, t, place, r)) || !(out->m.v > GA__FLAT)) break;
  }
  if (!road->height.expr) out->gap = 0; /* any place of a plane will do */
  return status;
}

int ga__touch_find(ga__touch *out, const ga__wheel *wheel, const ga__eval *e, const ga__road *road,
                   const ga__road_frame *frame, const ga__dual *t)
{
  search s;
  ga__dual below[2];
  double A[4], at[2];
  int found;
  if (!road->height.expr) return touch_planes(out, wheel, e, road, frame, t);
  begin_search(&s, wheel, e, road, frame, t);
  ga__road_place(below, &s.frame, s.wheel.C);
  for (int i = 0; i < 2; i++) at[i] = below[i].v;
  int status = find_place(&s, at, out, A, &found);
  if (!status && !found && out->m.v > GA__FLAT && !(status = search_nearest(&s, at)))
    status = find_place(&s, at, out, A, &found);
  if (status) return status;
  if (!found) return touch_planes(out, wheel, e, road, frame, t);
  if (t->n > 0) return touch_found(out, wheel, e, road, frame, t, at, A);
  strip(out);
  memcpy(out->place, at, sizeof at);
  out->gap = 0;
  return 0;
}
