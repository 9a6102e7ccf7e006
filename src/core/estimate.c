/* Local errors of the last step, numerical minus exact, and their filter.
 *
 *   raw e_q   κh³ vddot − (h³/12)[v, vdot] + correction, vddot from a₁ − a; without the bracket with the
 *             commutator term; the correction is −h B_nᵀη in the stabilized form, βh²(ã − a₁) with two
 *             sets of unknowns
 *   e_q       in the index-3 form and similar ones its part along the constraints, since Φ = 0 holds
 *   raw e_v   κ_v h³ D²vdot, κ_v = 1/12 + Δ(αf − ½), and the terms of offset_force() and of the family's
 *             error_force()
 *   e_v       B e_v = −D_q(B v + Φ_t) e_q, A e_v = −k_q e_q
 *   e_x       κ_x h³ D²xdot, κ_x = 1/12 + (δm − δf)(δf − ½) */
#include "core/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rates r at the end, at the beginning and, h_prev before, earlier. Right after a start `earlier` is their
 * derivative at the beginning, and h_prev is 0. */
typedef struct rates {
  const double *end, *beginning, *earlier;
  double h, h_prev;
  double noise; /* noise of the rates, by rounding and Newton's iteration; smaller differences do not count */
} rates;

/* κ h³ D²r by divided differences. */
static void second_difference(double *out, const rates *r, int n, double kappa)
{
  double h = r->h, h_prev = r->h_prev;
  double factor = 2.0 * kappa * h * h * h / (h + h_prev),
         noise = 8.0 * fabs(factor) * r->noise * (1.0 / h + (h_prev > 0.0 ? 1.0 / h_prev : 0.0));
  for (int i = 0; i < n; i++) {
    double before = h_prev > 0.0 ? (r->beginning[i] - r->earlier[i]) / h_prev : r->earlier[i];
    out[i] = factor * ((r->end[i] - r->beginning[i]) / h - before);
    if (fabs(out[i]) < noise) out[i] = 0.0;
  }
}

int ga__is_held(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const double n = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  return n > 0.0 && n - st->now.scalar[GA__REDUNDANT] >= sys->nv;
}

static void raw_q(ga_stepper *st, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const ga__state *before = &st->next, *now = &st->now; /* before and after the step */
  double h = now->scalar[GA__H_OLD], factor = now->scalar[GA__KAPPA_H2] * h / now->scalar[GA__SPAN];
  for (int i = 0; i < sys->nv; i++) st->est_q[i] = factor * (now->a[i] - now->a_prev[i]);
  if (ga__is_held(st)) return;
  if (!st->commutes && ga_group_n_blocks(sys->group) > 0) {
    double *bracket = ga__take(&scratch, sys->nv);
    ga_group_bracket(sys->group, bracket, before->v, before->vdot);
    for (int i = 0; i < sys->nv; i++) st->est_q[i] -= h * h * h / 12.0 * bracket[i];
  }
  if (st->family->correct_q) st->family->correct_q(st, st->est_q);
}

/* e := the e nearest to e + M⁻¹ force in the metric of M with B e = b, A e = k. rows[n] has b and k in its
 * rows, and becomes the solution; force may be NULL. */
static ga_status project_error(ga_stepper *st, double *e, double *rows, const double *force)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__state_point(&st->now);
  p.vdot = e;
  ga_status status = ga__call(sys, GA__MASS, &p, rows);
  for (int i = 0; force && i < sys->nv; i++) rows[i] += force[i];
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, rows);
  if (!status) memcpy(e, rows, (size_t)sys->nv * sizeof(double));
  return status;
}

static double largest_of(const double *a, int n)
{
  return ga__max_abs(a, n, NULL);
}

/* Noise of vdot by rounding and Newton's iteration, for steps of at least h. Φ = 0 alone leaves ε|q| in
 * positions, divided by h²; B v + Φ_t = 0 leaves ε|v|. */
static double noise_of_vdot(const ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  double v = DBL_EPSILON * largest_of(now->v, sys->nv);
  if (ga__has_offset(st)) v += DBL_EPSILON * largest_of(now->q, sys->nq) / h;
  return fmax(st->noise_v, st->c1 * v / h + st->opts.newton.tol * largest_of(now->vdot, sys->nv));
}

static void clear_constraints(const ga_system *sys, double *rows)
{
  for (int i = sys->nv; i < sys->n; i++) rows[i] = 0.0;
}

/* −D_q(B v + Φ_t) e_q and −k_q e_q into rows[n]; leaves ∂(−f)/∂v in D. */
static ga_status velocity_rows(ga_stepper *st, double *rows)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__state_point(&st->now);
  ga_jacobian J = {GA_WANT_D | GA_WANT_Q | GA_WANT_G | GA_WANT_B,
                   1.0,
                   0.0,
                   st->jacobian_D,
                   st->jacobian_Q,
                   st->jacobian_G};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  clear_constraints(sys, rows);
  int first = sys->start[GA_BLOCK_LAMBDA], psi = sys->start[GA_BLOCK_PSI], end = sys->start[GA_BLOCK_X];
  for (int e = 0; e < sys->n_entries; e++) {
    int row = sys->row[e];
    if (row < first || row >= end || sys->col[e] >= sys->nv) continue;
    rows[row] -= (row < psi ? st->jacobian_G[e] : st->jacobian_Q[e]) * st->est_q[sys->col[e]];
  }
  return GA_OK;
}

/* With Φ = 0 alone, v has a part δ normal to the constraints: B δ = B v + Φ_t, A δ = 0, into d. Leaves the
 * saddle matrix of f. After a singular position the offset at the beginning is unknown: 0. */
static ga_status offset_of(ga_stepper *st, const ga__state *f, const double *v, double *d,
                           ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  double *rows = ga__take(&scratch, sys->n);
  ga_point p = ga__state_point(f);
  p.v = v;
  ga_status status = ga__saddle_at(st, &p, 0);
  for (int i = 0; i < sys->n; i++) rows[i] = 0.0;
  if (!status) status = ga__phi_dot(&st->deriv, &p, rows + sys->start[GA_BLOCK_LAMBDA]);
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, rows);
  if (!status) memcpy(d, rows, (size_t)sys->nv * sizeof(double));
  if (status != GA_RETRY_SINGULAR || !(f->scalar[GA__REDUNDANT] > st->red.null.r)) return status;
  for (int i = 0; i < sys->nv; i++) d[i] = 0.0;
  return GA_OK;
}

/* v without δ is compared; its rate differs from the exact one by M⁻¹f_v δ − δ'. The second term is in e_v
 * already: force += h f_v δ. */
static void offset_force(ga_stepper *st, double h, const double *d, double *force)
{
  const ga_system *sys = st->sys;
  for (int e = 0; e < sys->n_entries; e++)
    if (sys->row[e] < sys->nv && sys->col[e] < sys->nv)
      force[sys->row[e]] -= h * st->jacobian_D[e] * d[sys->col[e]];
}

/* e_v from its raw form, with the saddle matrix of the current state. offset: δ of this state, or NULL. */
static ga_status finish_v(ga_stepper *st, const double *offset, ga__scratch scratch)
{
  double h = st->now.scalar[GA__H_OLD], *rows = ga__take(&scratch, st->sys->n),
         *force = ga__take(&scratch, st->sys->nv);
  ga_status status = velocity_rows(st, rows);
  for (int i = 0; i < st->sys->nv; i++) force[i] = 0.0;
  if (status) return status;
  if (offset) offset_force(st, h, offset, force);
  if (st->family->error_force) status = st->family->error_force(st, force, scratch);
  return status ? status : project_error(st, st->est_v, rows, force);
}

/* Raw e_v and e_x. Returns 0, and sets zeros, if there are no earlier rates yet. */
static int differences(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *before = &st->next, *now = &st->now;
  double h = now->scalar[GA__H_OLD], h_prev = before->scalar[GA__H_OLD], delta = s->delta_m - s->delta_f;
  double known = before->scalar[GA__HAS_JERK] != 0.0 || h_prev > 0.0;
  double noise = noise_of_vdot(st, h_prev > 0.0 ? fmin(h, h_prev) : h),
         size_a = largest_of(now->vdot, sys->nv);
  double size_x = largest_of(now->xdot, sys->size[GA_BLOCK_X]);
  /* states that depend on vdot share its noise, estimated by the sizes of both */
  double noise_x = st->opts.newton.tol * size_x + (size_a > 0.0 ? size_x / size_a * noise : 0.0);
  rates x = {now->xdot, before->xdot, before->xdot_prev, h, h_prev, noise_x};
  rates v = {now->vdot, before->vdot, before->vdot_prev, h, h_prev, noise};
  second_difference(st->est_x, &x, sys->size[GA_BLOCK_X], known * (1.0 / 12.0 + delta * (s->delta_f - 0.5)));
  second_difference(st->est_v, &v, sys->nv, known * (1.0 / 12.0 + st->alpha * (s->alpha_f - 0.5)));
  return known != 0.0;
}

static ga_status estimate(ga_stepper *st, int with_v, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int along = ga__has_offset(st);
  double *offset = ga__take(&scratch, sys->nv);
  ga_status status = GA_OK;
  raw_q(st, scratch);
  with_v &= differences(st);
  if (ga__is_held(st)) return GA_OK;
  with_v &= st->family->error_force ||
            sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] > 0; /* else it is done */
  if (along && with_v) {
    status = offset_of(st, &st->next, st->v_n, offset, scratch); /* δ' is (δ₁ − δ)/h, and δ₁ is normal here */
    for (int i = 0; i < sys->nv; i++) st->est_v[i] += offset[i];
  }
  ga_point p = ga__state_point(&st->now);
  if (!status && along)
    status = offset_of(st, &st->now, st->now.v, offset, scratch);
  else if (!status && with_v)
    status = ga__saddle_at(st, &p, 0);
  if (!status && along) {
    double *rows = ga__take(&scratch, sys->n);
    clear_constraints(sys, rows); /* k = 0 does not restrict positions: A e_q is unchanged */
    ga__saddle_a_mul(&st->saddle, rows + sys->start[GA_BLOCK_PSI], st->est_q);
    status = project_error(st, st->est_q, rows, NULL);
  }
  return status || !with_v ? status : finish_v(st, along ? offset : NULL, scratch);
}

/* vdot₁ − vdot_n − h vddot_n with the rate at the beginning of the step from the start, or from the step
 * before, then times h/(h + h_prev): both are (h²/2) D²vdot. */
void ga__estimate_bend(const ga_stepper *st, double *out)
{
  const ga__state *before = &st->next, *now = &st->now;
  const double h = now->scalar[GA__H_OLD], h_prev = before->scalar[GA__H_OLD], part = h / (h + h_prev);
  const int known = h_prev > 0.0 || before->scalar[GA__HAS_JERK] != 0.0;
  for (int i = 0; i < st->sys->nv; i++) {
    const double rate =
        h_prev > 0.0 ? (before->vdot[i] - before->vdot_prev[i]) / h_prev : before->vdot_prev[i];
    out[i] = known ? part * (now->vdot[i] - before->vdot[i] - h * rate) : 0.0;
  }
}

/* Errors below the rounding of the values do not count. */
static void drop_rounding(double *e, int n, double size)
{
  for (int i = 0; i < n; i++)
    if (fabs(e[i]) < 8.0 * DBL_EPSILON * size) e[i] = 0.0;
}

ga_status ga__estimate(ga_stepper *st, int with_v)
{
  const ga_system *sys = st->sys;
  const ga__state *now = &st->now;
  int nx = sys->size[GA_BLOCK_X];
  ga_status status = GA_OK;
  if (st->family->estimate)
    st->family->estimate(st);
  else
    status = estimate(st, with_v, ga__stack_begin(&st->scratch));
  if (status) return status;
  drop_rounding(st->est_q, sys->nv, largest_of(now->q, sys->nq));
  drop_rounding(st->est_x, nx, largest_of(now->x, nx));
  if (with_v) drop_rounding(st->est_v, sys->nv, largest_of(now->v, sys->nv));
  return GA_OK;
}

/* out[n_psi] = factor · A e_q, as A e = h (k(v + e/h) − k(v)), which is exact for k that is linear in v. */
static ga_status rates_of_error(ga_stepper *st, double factor, double *out, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  const int n = sys->size[GA_BLOCK_PSI];
  const double h = st->now.scalar[GA__H_OLD];
  if (n == 0) return GA_OK;
  double *v = ga__take(&scratch, sys->nv), *k = ga__take(&scratch, n);
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__call(sys, GA__K, &p, k);
  for (int i = 0; i < sys->nv; i++) v[i] = st->now.v[i] + st->est_q[i] / h;
  p.v = v;
  p.motion = 0;
  if (!status) status = ga__call(sys, GA__K, &p, out);
  for (int i = 0; i < n; i++) out[i] = factor * h * (out[i] - k[i]);
  return status;
}

/* e_q → (M̂ + h²K_q)⁻¹ c₁M e_q: a mode with h²K ≫ M is damped by the step itself and needs no accuracy.
 * k = 0 holds velocities, not positions: A e_q is left as it is. */
ga_status ga__filter(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const int at = st->family->position_rows(st);
  memcpy(st->est_all, st->est_q, (size_t)sys->nv * sizeof(double));
  if (at < 0 || ga__is_held(st)) return GA_OK; /* no stiffness in the matrix: nothing to filter */
  const double c = st->family->mass_factor(st);
  ga__matrix *matrix = ga__matrix_in_use(st);
  ga_point p = ga__state_point(&st->now);
  p.vdot = st->est_q;
  for (int i = 0; i < st->factors.n; i++) st->r[i] = 0.0;
  ga_status status = ga__call(sys, GA__MASS, &p, st->r + at);
  for (int i = 0; i < sys->nv; i++) st->r[at + i] *= c;
  if (!status)
    status = rates_of_error(st, st->family->rate_factor(st), st->r + at + sys->start[GA_BLOCK_PSI],
                            ga__stack_begin(&st->scratch));
  if (!status) status = ga__assembly_solve(&matrix->assembly, matrix->lu, st->r);
  if (!status) memcpy(st->est_q, st->r + at, (size_t)sys->nv * sizeof(double));
  return status;
}

ga_status ga_stepper_error(ga_stepper *st, double *e_q, double *e_v, double *e_x)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo) return ga__refuse_order(st->ctx, __func__, "right after a step");
  ga_status status = ga__estimate(st, e_v != NULL);
  if (status) return status;
  size_t nv = (size_t)st->sys->nv * sizeof(double);
  if (e_q) memcpy(e_q, st->est_q, nv);
  if (e_v) memcpy(e_v, st->est_v, nv);
  if (e_x) memcpy(e_x, st->est_x, (size_t)st->sys->size[GA_BLOCK_X] * sizeof(double));
  return GA_OK;
}

ga_status ga_stepper_force_error(ga_stepper *st, double *e_vdot, double *e_lambda, double *e_psi, double *e_y)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->can_undo) return ga__refuse_order(st->ctx, __func__, "right after a step");
  const ga_system *sys = st->sys;
  if (!st->family->estimate_forces)
    return ga__refuse(st->ctx, GA_ERR_ARGUMENT, GA_REASON_METHOD,
                      &(ga__facts){.kind = "stepper",
                                   .name = "order 2",
                                   .detail = "estimate errors of accelerations and forces",
                                   .expected = "GA_COLLOCATION"});
  st->family->estimate_forces(st, st->est_z);
  double *const to[GA_N_BLOCKS] = {
      [GA_BLOCK_V] = e_vdot, [GA_BLOCK_LAMBDA] = e_lambda, [GA_BLOCK_PSI] = e_psi, [GA_BLOCK_Y] = e_y};
  for (int b = 0; b < GA_N_BLOCKS; b++)
    if (to[b]) ga__copy_numbers(to[b], st->est_z + sys->start[b], sys->size[b]);
  return GA_OK;
}

static double length_of(const double *a, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

void ga__tolerances_q(const ga_system *sys, double atol, double rtol, const double *q, double *out)
{
  for (int f = 0; f < ga_group_n_factors(sys->group); f++) {
    int qs, vs;
    const ga_factor factor = ga_group_factor(sys->group, f, &qs, &vs);
    const int line = factor.kind == GA_RN, both = factor.kind == GA_R3SO3 || factor.kind == GA_SE3,
              translations = line   ? factor.n
                             : both ? 3
                                    : 0;
    const double length = line ? 0.0 : length_of(q + qs, translations);
    for (int i = 0; i < translations; i++) out[vs + i] = atol + rtol * (line ? fabs(q[qs + i]) : length);
    for (int i = 0; !line && i < 3; i++) out[vs + translations + i] = atol + rtol;
  }
  for (int i = 0; sys->scale && i < sys->nv; i++)
    if (sys->scale[i] > 0.0) out[i] = fmin(out[i], atol + rtol * sys->scale[i]);
}
