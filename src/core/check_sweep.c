/* Checks of sweeps: against the single callbacks, against the sweep without a Jacobian, and against the
 * sweep into arrays with the numbers of another point. */
#include "core/check.h"

#include <math.h>
#include <string.h>

static const ga__finding_text RESIDUAL = {GA_CHECK_SWEEP, "sweep", "given", "the callback for it gives", 9},
                              NO_RATE = {GA_CHECK_SWEEP, "sweep (phi_dot not wanted)", "given",
                                         "with it, it is", 9},
                              NO_JACOBIAN = {GA_CHECK_SWEEP, "sweep (without a Jacobian)", "given",
                                             "with one it is", 17};

/* The arrays of a Jacobian, and the wording of findings in them. */
enum { N_ARRAYS = 3 };
static const unsigned ARRAY[N_ARRAYS] = {GA_WANT_D, GA_WANT_Q, GA_WANT_G};
static const ga__finding_text ENTRY[N_ARRAYS] = {
    {GA_CHECK_SWEEP, "sweep's D", "given", "'jacobian' gives", 9},
    {GA_CHECK_SWEEP, "sweep's Q", "given", "'jacobian' gives", 9},
    {GA_CHECK_SWEEP, "sweep's G", "given", "'jacobian' gives", 9}};
#define OVER "over another point's numbers", "over zeros it is", 17
static const ga__finding_text STALE[N_ARRAYS] = {{GA_CHECK_SWEEP, "sweep's D", OVER},
                                                 {GA_CHECK_SWEEP, "sweep's Q", OVER},
                                                 {GA_CHECK_SWEEP, "sweep's G", OVER}};
#undef OVER
static const ga__finding_text B_ALONE = {GA_CHECK_SWEEP, "sweep's B (asked for alone)", "given",
                                         "within Q it is", 17};

typedef struct sweeper {
  ga__checker *c;
  double *expected;                 /* [n + n_lambda] by the single callbacks: residuals, then B v + Φ_t */
  double *with, *other;             /* the same by the sweep with a Jacobian, and without */
  ga_jacobian given, clear, filled; /* by the callback; by the sweep into zeroed arrays, and into used ones */
} sweeper;

/* One call; s and o come with the sign that the callbacks give them. */
static ga_status sweep(const sweeper *w, const ga_point *p, double *r, int with_rate, ga_jacobian *J)
{
  const ga_system *sys = w->c->sys;
  ga_sweep s = ga__sweep_into(sys, r, with_rate ? r + sys->n : NULL, J);
  s.jacobian_alone = J && J->want == GA_WANT_B;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.sweep(sys->def.user, p, &s);
  return ga__end_callback(sys, "sweep", -1, p->t, code, before);
}

/* ---- Residuals ---- */

static ga_status expect(sweeper *w)
{
  const ga_system *sys = w->c->sys;
  ga_status status = ga__residual(sys, w->c->p, w->expected, w->other);
  if (!status) status = ga__call(sys, GA__PHI_DOT, w->c->p, w->expected + sys->n);
  for (int i = sys->start[GA_BLOCK_X]; i < sys->n; i++) w->expected[i] = -w->expected[i];
  return status;
}

/* Size of the terms of a row: they cancel where equations are satisfied. */
static double scale_of(const sweeper *w, int row)
{
  const ga__checker *c = w->c;
  const ga_system *sys = c->sys;
  const ga_point *p = c->p;
  int index;
  const ga_equation_block block = ga__block_of(sys, row, &index);
  const double *of[] = {NULL, p->q, p->v, p->x, p->y, p->v};
  const int n[] = {0, sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_Y], sys->nv};
  if (block == GA_BLOCK_V) return c->terms[row];
  return 0.01 * ga__max_abs(of[block], n[block], NULL) +
         ga__max_abs(w->expected + ga_system_start(sys, block), ga_system_size(sys, block), NULL);
}

static void compare_residuals(const sweeper *w, const ga__finding_text *said, const double *r,
                              const double *expected, int n)
{
  for (int i = 0; i < n; i++) ga__check_compare(w->c, said, i, -1, r[i], expected[i], scale_of(w, i), 0.0);
}

/* ---- Entries ---- */

static const double *array_of(const ga_jacobian *J, int k)
{
  const double *const array[N_ARRAYS] = {J->D, J->Q, J->G};
  return array[k];
}

/* Whether entry e of an array is used. */
static int is_read(const ga_system *sys, int k, int e)
{
  if (!(sys->in[e] & ARRAY[k])) return 0;
  if (ARRAY[k] != GA_WANT_D && sys->col[e] >= sys->nv) return 0;
  return ARRAY[k] != GA_WANT_G || ga__check_is_phi(sys, sys->row[e]);
}

static void compare_entries(const sweeper *w, int k)
{
  ga__checker *c = w->c;
  const ga_system *sys = c->sys;
  const double *expected = array_of(&w->given, k), *given = array_of(&w->clear, k);
  for (int columns_v = 0; columns_v < 2; columns_v++) {
    ga__check_rows(c, expected, columns_v);
    for (int e = 0; e < sys->n_entries; e++)
      if (is_read(sys, k, e) && (sys->col[e] < sys->nv) == columns_v)
        ga__check_compare(c, &ENTRY[k], sys->row[e], sys->col[e], given[e], expected[e],
                          c->row_size[sys->row[e]], 0.0);
  }
}

static void compare_filled(const sweeper *w, int k)
{
  const ga_system *sys = w->c->sys;
  const double *expected = array_of(&w->clear, k), *given = array_of(&w->filled, k);
  for (int e = 0; e < sys->n_entries; e++)
    if (is_read(sys, k, e)) ga__check_same(w->c, &STALE[k], sys->row[e], sys->col[e], given[e], expected[e]);
}

/* A point that differs from the checked one in all unknowns, by `far`. */
static ga_point elsewhere(ga__checker *c, double far)
{
  ga__deriv *w = &c->deriv;
  const ga_system *sys = c->sys;
  double *const of[] = {w->v, w->vdot, w->lambda, w->psi, w->x, w->y};
  const int n[] = {sys->nv,
                   sys->nv,
                   sys->size[GA_BLOCK_LAMBDA],
                   sys->size[GA_BLOCK_PSI],
                   sys->size[GA_BLOCK_X],
                   sys->size[GA_BLOCK_Y]};
  ga__deriv_load(w, c->p);
  for (int i = 0; i < sys->nv; i++) w->d[i] = far * cos(3.0 * i);
  ga_group_move(sys->group, w->q, c->p->q, w->d);
  for (int b = 0; b < 6; b++) {
    const double size = 1.0 + ga__max_abs(of[b], n[b], NULL);
    for (int i = 0; i < n[b]; i++) of[b][i] += far * size * cos(2.0 * i + b);
  }
  return ga__deriv_point(w, c->p->t + far);
}

/* Fills the arrays at another point, as far away as the system can be evaluated; at this point if nowhere
 * else. */
static ga_status fill(sweeper *w)
{
  static const double FAR[] = {0.3, 0.03, 0.0};
  ga_context *ctx = w->c->sys->ctx;
  const ga_error said = ctx->error;
  ga_status status = GA_ERR_CALLBACK;
  for (int i = 0; status && i < 3; i++) {
    const ga_point p = elsewhere(w->c, FAR[i]);
    ctx->error = said;
    status = ga__jacobian(&w->c->deriv, &p, &w->filled); /* in a stepper it writes to the same arrays */
    if (!status) status = sweep(w, &p, w->other, 1, &w->filled);
  }
  return status;
}

/* B as the stabilized form requests it: alone, into arrays with the numbers of another point. */
static ga_status check_b(sweeper *w)
{
  const ga_system *sys = w->c->sys;
  ga_jacobian J = w->filled;
  J.want = GA_WANT_B;
  ga_status status = fill(w);
  if (!status) status = sweep(w, w->c->p, w->other, 0, &J);
  for (int i = 0; !status && i < sys->n_b; i++) {
    const int e = sys->b_entry[i];
    if (is_read(sys, 1, e))
      ga__check_same(w->c, &B_ALONE, sys->row[e], sys->col[e], w->filled.Q[e], w->clear.Q[e]);
  }
  return status;
}

static ga_status run(sweeper *w)
{
  ga__checker *c = w->c;
  const int n = c->sys->n, all = n + c->sys->size[GA_BLOCK_LAMBDA];
  ga_status status = expect(w);
  if (!status) status = ga__jacobian(&c->deriv, c->p, &w->given);
  if (!status) status = sweep(w, c->p, w->with, 1, &w->clear);
  if (status) return status;
  compare_residuals(w, &RESIDUAL, w->with, w->expected, all);
  for (int k = 0; k < N_ARRAYS; k++) compare_entries(w, k);
  if ((status = sweep(w, c->p, w->other, 1, NULL))) return status;
  for (int i = 0; i < all; i++) ga__check_same(c, &NO_JACOBIAN, i, -1, w->other[i], w->with[i]);
  if ((status = sweep(w, c->p, w->other, 0, NULL))) return status;
  compare_residuals(w, &NO_RATE, w->other, w->with, n);
  if ((status = fill(w))) return status;
  if ((status = sweep(w, c->p, w->other, 1, &w->filled))) return status;
  for (int k = 0; k < N_ARRAYS; k++) compare_filled(w, k);
  return check_b(w);
}

/* Different shifts, so that an exchange of them is detected. */
static ga_jacobian arrays_at(double *block, size_t n)
{
  return (ga_jacobian){
      GA_WANT_D | GA_WANT_Q | GA_WANT_G | GA_WANT_B, 0.7, 1.3, block, block + n, block + 2 * n};
}

ga_status ga__check_sweep(ga__checker *c)
{
  const ga_system *sys = c->sys;
  const size_t n = (size_t)(sys->n + sys->size[GA_BLOCK_LAMBDA]), n_entries = (size_t)sys->n_entries;
  if (!sys->def.sweep) return GA_OK;
  double *block = ga__alloc(sys->ctx, 3 * n + 3 * N_ARRAYS * n_entries, sizeof *block);
  if (!block) return ga__no_memory(sys->ctx, "checking a sweep");
  double *entries = block + 3 * n;
  sweeper w = {c,
               block,
               block + n,
               block + 2 * n,
               arrays_at(entries, n_entries),
               arrays_at(entries + 3 * n_entries, n_entries),
               arrays_at(entries + 6 * n_entries, n_entries)};
  const ga_status status = run(&w);
  ga__free(sys->ctx, block);
  return status;
}
