/* Whether modes are resolved by the elements of beams and cables.
 *
 * With D(s) the dynamic stiffness of the machine and φ a mode, D(s) φ = 0, an error ΔD of it shifts s by
 *
 *   δs/s = −φᵀ ΔD φ/(2 s² φᵀ M φ)
 *
 * to first order, where forces of dampers are small. ΔD is what changes when an element is cut into shorter
 * pieces whose inner nodes follow the frequency (cut.c): its sum over the elements of a part is what they
 * contribute to the error. With Kelvin–Voigt damping τ of the section D = (1 + s τ)(K − w2 M), w2 = −s²/(1 +
 * s τ), and the denominator is s² φᵀ M φ (2 + s τ)/(1 + s τ). */
#include "mbs/cut.h"
#include "mbs/element.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#define LARGEST 5e-3 /* [-] error of a frequency that is not reported */
#define AIM 2e-3     /* [-] with as many elements as advised */
#define ROUGH 0.1    /* [-] above it an error tells nothing about those of shorter elements */
#define ROUNDING 1e-12
#define LEAST_ORDER 1.5 /* at which errors fall, of cables that hang */
#define MANY 200        /* beams with more elements: those are left out that are short against all waves */
enum { MOST_LEVELS = 8 };

typedef struct study {
  const ga_machine *m;
  const ga__mbs_model *b;
  ga__workspace *work;
  const ga_state *s;
  double *zero, *force;  /* [nv], [rows] */
  ga__kin *at, *re, *im; /* [nodes] poses; accelerations: the twists of the shape */
} study;

static ga_status open_study(study *t)
{
  const size_t nv = (size_t)t->b->nv, rows = (size_t)ga__elements_rows(t->b), nodes = (size_t)t->b->node.n;
  t->zero = ga__alloc(t->m->ctx, nv + rows + 2, sizeof *t->zero);
  t->at = ga__alloc(t->m->ctx, 3 * nodes, sizeof *t->at);
  if (!t->zero || !t->at) return ga__no_memory(t->m->ctx, "the resolution of modes");
  t->force = t->zero + nv + 1;
  t->re = t->at + nodes;
  t->im = t->re + nodes;
  ga__kin_at(t->b, t->s->q, t->zero, t->zero, t->at);
  return GA_OK;
}

static void close_study(study *t)
{
  ga__free(t->m->ctx, t->zero);
  ga__free(t->m->ctx, t->at);
}

/* kin: the shape d as accelerations from rest; returns dᵀ M d. */
static double set_shape(study *t, const double *d, ga__kin *kin)
{
  ga_point p = ga__point_of(t->s);
  p.v = t->zero, p.vdot = d;
  const ga__eval e = ga__eval_at(t->work, &p, 1, 1);
  double sum = 0;
  ga__space_mass(&e, t->force);
  memcpy(kin, e.kin, (size_t)t->b->node.n * sizeof *kin);
  for (int i = 1; i < t->b->node.n; i++) {
    const ga__node *node = GA__AT(t->b->node, ga__node, i);
    if (node->carried) continue;
    for (int c = 0; c < node->n && !node->rigid; c++) sum += t->force[node->v + c] * d[node->v + c];
    for (int c = 0; c < 6 && node->rigid; c++) sum += t->force[node->v + c] * kin[i].acc[c];
  }
  return sum;
}

/* *sum += xᵀ (A − B) x of both parts x of the shape, by the pair of nodes from `first` on; *terms: what is
 * added and subtracted, by its size. */
static void add_change(const study *t, const ga__cuts *u, int first, const double *A, const double *B,
                       double *sum, double *terms)
{
  const ga__kin *const part[2] = {t->re + first, t->im + first};
  const int n = u->size;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2 * n; i++)
      for (int j = 0; j < 2 * n; j++) {
        const double by = part[k][i / n].acc[i % n] * part[k][j / n].acc[j % n];
        *sum += (A[2 * n * i + j] - B[2 * n * i + j]) * by;
        *terms += fabs(A[2 * n * i + j] * by);
      }
}

static int is_fine(const ga__cuts *u, int i, double w2)
{
  const double L = u->s[i + 1] - u->s[i];
  return u->n > MANY && fabs(w2) * u->by_l4 * L * L * L * L < 1e-4 && fabs(w2) * u->by_l2 * L * L < 1e-2;
}

/* Error of s from pieces of level `level` instead of those of the next, with its sign. energy: the
 * denominator. */
static double error_at(const study *t, const ga__element *el, const ga__cuts *u, double w2, double energy,
                       int level)
{
  double sum = 0, terms = 0, D[2][144];
  for (int i = 0; i < u->n; i++) {
    if (is_fine(u, i, w2)) continue;
    if (el->type->cut(el, i, t->at, w2, level, D[0]) || el->type->cut(el, i, t->at, w2, level + 1, D[1]))
      continue;
    add_change(t, u, u->first + i, D[0], D[1], &sum, &terms);
  }
  return copysign(fmax(0, fabs(sum) - ROUNDING * terms), sum) / energy;
}

/* The order at which errors fall from one level to the next; 0: they do not yet. */
static double order_of(double first, double next)
{
  const double order = log2(fabs(first) / fmax(fabs(next), 1e-9 * fabs(first)));
  return order < LEAST_ORDER ? 0 : fmin(4, order);
}

/* The size of it with all further levels, from the rate at which errors fall. Those of long pieces may
 * cancel. */
static double error_from(const study *t, const ga__element *el, const ga__cuts *u, double w2, double energy,
                         int level, double *order)
{
  double before = 0, first = error_at(t, el, u, w2, energy, level);
  double next = error_at(t, el, u, w2, energy, level + 1);
  if (fmax(fabs(first), fabs(next)) <= 0.25 * LARGEST) return fabs(first + next);
  *order = order_of(first, next);
  if (*order == 0) {
    before = first, first = next;
    next = error_at(t, el, u, w2, energy, level + 2);
    *order = fmax(LEAST_ORDER, order_of(first, next));
  }
  return fabs(before + first / (1 - pow(2, -*order)));
}

/* How many elements mode i, from 0, needs, if it has this error with those that there are. */
static int count_needed(const study *t, const ga__element *el, const ga__cuts *u, double w2, double energy,
                        double error, double order, int i)
{
  double pieces = u->n;
  for (int level = 1; !(error < ROUGH) && level < MOST_LEVELS; level++) {
    error = error_from(t, el, u, w2, energy, level, &order);
    pieces *= 2;
  }
  const double needed = ceil(pieces * pow(fmin(error, 1) / AIM, 1 / order));
  /* With by far too few elements the frequency is far above that of the mode with this number, which has at
   * most about i + 2 half waves along a beam. Of order 4 elements these need 4 each, of order 2 24. */
  const double enough = ceil(4 * pow(6, 0.5 * (4 - order))) * (i + 2);
  return (int)fmax(u->n + 1, fmin(needed, enough));
}

/* Adds what the mode i says about an element of the machine. */
static void check_mode(study *t, const ga__element *el, const ga_mode *mode, int i, double mass,
                       ga_coarse_part *out)
{
  ga__cuts u = {.n = 0};
  double order = 4;
  el->type->cuts(el, &u);
  const double complex s = mode->re + I * mode->im, damped = 1 + s * u.damping;
  const double w2 = creal(-s * s / damped);
  const double energy = mass * cabs(s * s * (1 + damped) / (damped * damped));
  if (!(energy > 0) || !isfinite(w2)) return;
  const double error = error_from(t, el, &u, w2, energy, 0, &order);
  if (error <= LARGEST * u.excess) return;
  const int needed = count_needed(t, el, &u, w2, energy, error, order, i);
  if (out->n_modes++ == 0) {
    out->part = t->m->part[el->part].name;
    out->elements = u.n;
    out->mode = i;
    out->error = fmin(error, 1);
  }
  if (needed > out->needed) out->needed = needed;
}

static void warn(const ga_machine *m, const ga__element *el, const ga_mode *mode, const ga_coarse_part *c)
{
  const int oscillates = mode->frequency > 0;
  ga__log(m->ctx, GA_LOG_WARNING, GA_REASON_MODE_NOT_RESOLVED,
          &(ga__facts){.kind = ga__part_text(m->part[el->part].kind),
                       .part = c->part,
                       .field = "elements",
                       GA__NUMBERS({c->mode + 1, NULL},
                                   {oscillates ? mode->frequency : mode->re, oscillates ? "Hz" : "1/s"},
                                   {c->elements, NULL}, {100 * c->error, "%"},
                                   {c->n_modes > 1 ? (double)c->n_modes : NAN, NULL}, {c->needed, NULL})});
}

static ga_status check_modes(study *t, const ga_modes *modes, int room, ga_coarse_part *out, int *n)
{
  const int n_modes = ga_modes_get_info(modes)->n, n_elements = t->b->element.n;
  ga_coarse_part *found = ga__alloc(t->m->ctx, (size_t)n_elements + 1, sizeof *found);
  if (!found) return ga__no_memory(t->m->ctx, "the resolution of modes");
  for (int i = 0; i < n_modes; i++) {
    const ga_mode *mode = ga_modes_at(modes, i);
    if (mode->zero) continue;
    const double mass = set_shape(t, mode->real.q, t->re) + set_shape(t, mode->imaginary.q, t->im);
    for (int k = 0; k < n_elements; k++) {
      const ga__element *el = ga__element_at(t->b, k);
      if (el->type->cut) check_mode(t, el, mode, i, mass, &found[k]);
    }
  }
  for (int k = 0; k < n_elements; k++) {
    if (found[k].n_modes == 0) continue;
    warn(t->m, ga__element_at(t->b, k), ga_modes_at(modes, found[k].mode), &found[k]);
    if (out && *n < room) out[*n] = found[k];
    ++*n;
  }
  ga__free(t->m->ctx, found);
  return GA_OK;
}

ga_status ga_machine_check_modes(const ga_machine *m, const ga_state *s, const ga_modes *modes, int room,
                                 ga_coarse_part *out, int *n)
{
  int count = 0;
  if (n) *n = 0;
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!s || !modes) return ga__refuse_null(m->ctx, __func__, s ? "modes" : "the state");
  study t = {.m = m, .b = m->model, .work = ga__workspace_own(m), .s = s};
  ga_status status = open_study(&t);
  if (!status) status = check_modes(&t, modes, room, out, &count);
  close_study(&t);
  if (n) *n = count;
  return status;
}
