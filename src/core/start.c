/* Consistent initial values, and projections of the velocity. */
#include "core/stepper.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ITERATIONS = 25 };
#define CONVERGED 1e-14 /* relative increments below this are rounding */
#define STAGNATED 1e-9  /* and below this when they no longer halve */
#define DOUBTFUL 1e-5   /* reciprocal condition below which constraints may be redundant */
#define LONG_ELIMINATION                                                                                     \
  1e7                  /* [-] operations of factors from which on relations are looked for before them */
#define JERK_STEP 0.05 /* of h: where the accelerations are compared to get the jerk */

ga_start_opts ga_start_defaults(void)
{
  ga_start_opts o = {0.0, 1, 1, 1, 0.1, 1e-6, 0};
  return o;
}

static ga_start_change no_change(void)
{
  ga_start_change c = {0.0, 0.0, -1, -1, 0.0, -1, 0};
  return c;
}

/* Has an iteration ended? increments relative; *before keeps the last one. */
static int settled(double increment, double *before)
{
  int done = increment <= CONVERGED || (increment <= STAGNATED && increment > 0.5 * *before);
  *before = increment;
  return done;
}

static ga_status inconsistent(ga_stepper *st, ga_block block, const ga_start_change *c, const char *what,
                              const char *why)
{
  char name[192] = "";
  const ga_system *sys = st->sys;
  if (c->worst_before >= 0) ga__describe(sys, block, c->worst_before, name, sizeof name);
  return ga__fail_at(sys->ctx, GA_ERR_INCONSISTENT, st->now.scalar[GA__T], (int)block, c->worst_before,
                     "%s, t = %.9g: %s %s; largest residual %.3g at first, in %s, %.3g at last",
                     st->has_state ? "step" : "start", st->now.scalar[GA__T], what, why, c->residual_before,
                     name, c->residual_after);
}

static ga_status too_far(ga_stepper *st, const ga_start_opts *o, ga_block block, const ga_start_change *c,
                         const char *what)
{
  char name[192] = "", coordinate[192] = "";
  const ga_system *sys = st->sys;
  if (c->worst_before >= 0) ga__describe(sys, block, c->worst_before, name, sizeof name);
  if (c->worst_change >= 0)
    ga__describe_unknown(sys, GA_BLOCK_V, c->worst_change, coordinate, sizeof coordinate);
  return ga__fail_at(
      sys->ctx, GA_ERR_INCONSISTENT, st->now.scalar[GA__T], (int)block, c->worst_before,
      "start, t = %.9g: the given %s are off the constraints: the residual is %.3g in %s, and mending it "
      "would move "
      "%s by %.3g, more than max_change = %g allows. Correct the initial values, or raise max_change",
      st->now.scalar[GA__T], what, c->residual_before, name, coordinate, c->change, o->max_change);
}

/* Residuals of the velocity level into the rows of out: −(B v + Φ_t − offset), −k; 0 elsewhere. */
static ga_status velocity_residual(ga_stepper *st, const ga_point *p, const double *offset, double *out)
{
  const ga_system *sys = st->sys;
  double *b = out + sys->start[GA_BLOCK_LAMBDA], *k = out + sys->start[GA_BLOCK_PSI];
  for (int i = 0; i < sys->n; i++) out[i] = 0.0;
  ga_status status = ga__phi_dot(&st->deriv, p, b);
  if (!status) status = ga__call(sys, GA__K, p, k);
  if (status) return status;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) b[i] = (offset ? offset[i] : 0.0) - b[i];
  for (int i = 0; i < sys->size[GA_BLOCK_PSI]; i++) k[i] = -k[i];
  return GA_OK;
}

/* to = from, every component moved by its rounding, up or down as `pattern` has it. */
static void move_by_rounding(double *to, const double *from, int n, unsigned pattern)
{
  for (int i = 0; i < n; i++) {
    const unsigned mixed = ((unsigned)i + 1u) * 2654435761u ^ pattern * 2246822519u;
    to[i] = from[i] + (mixed >> 16 & 1u ? 1.0 : -1.0) * DBL_EPSILON * (1.0 + fabs(from[i]));
  }
}

/* Are the residuals of positions, or velocities, no more than what the rounding of q and v makes of them?
 * Values moved by their rounding say so, however the residuals are found. residual[n_rows]; level 0: Φ, 1:
 * those of velocity_residual(). next.q and next.vdot, st->r and `room` are work space. */
ga_status ga__within_rounding(ga_stepper *st, int level, const double *offset, const double *residual,
                              double *room, int *yes)
{
  enum { PATTERNS = 4 };
  const double margin = 4.0;
  const ga_system *sys = st->sys;
  const int n = level ? sys->n : sys->size[GA_BLOCK_LAMBDA];
  ga_point p = ga__state_point(&st->now);
  *yes = 0;
  for (int i = 0; i < n; i++) room[i] = 0.0;
  p.q = st->next.q;
  if (level) p.v = st->next.vdot;
  for (unsigned k = 0; k < PATTERNS; k++) {
    move_by_rounding(st->next.q, st->now.q, sys->nq, k);
    if (level) move_by_rounding(st->next.vdot, st->now.v, sys->nv, k + PATTERNS);
    ga_status status = level ? velocity_residual(st, &p, offset, st->r) : ga__call(sys, GA__PHI, &p, st->r);
    if (status) return status;
    for (int i = 0; i < n; i++) room[i] = fmax(room[i], fabs(st->r[i] - residual[i]));
  }
  for (int i = 0; i < n; i++)
    if (!(fabs(residual[i]) <= margin * room[i])) return GA_OK;
  *yes = 1;
  return GA_OK;
}

static ga_status cannot_move(ga_stepper *st, const ga_start_change *c)
{
  return inconsistent(st, GA_BLOCK_LAMBDA, c, "the positions cannot be moved onto the constraints",
                      c->iterations == MAX_ITERATIONS
                          ? "(no convergence); the constraints may contradict each other"
                          : "(diverged)");
}

/* q := move(q, δ), [M Bᵀ; B 0](δ, μ) = (0, −Φ), until Φ is at rounding. The sum of all δ is what is reported.
 * Of all q, those given among them, the one that meets the constraints best is kept. */
static ga_status project_position(ga_stepper *st, const ga_start_opts *o, ga_start_change *c)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  const size_t bytes = (size_t)sys->nq * sizeof(double);
  int nl = sys->size[GA_BLOCK_LAMBDA], consistent;
  double before = HUGE_VAL, *d = st->solve, *rhs = d + sys->start[GA_BLOCK_LAMBDA], *total = st->exponent;
  ga_point p = ga__state_point(f);
  ga_status status = ga__call(sys, GA__PHI, &p, st->tmp);
  if (status) return status;
  c->residual_before = c->residual_after = ga__max_abs(st->tmp, nl, &c->worst_before);
  if (!o->project || nl == 0) return GA_OK;
  status = ga__within_rounding(st, 0, NULL, st->tmp, st->solve, &consistent);
  if (status) return status;
  memcpy(st->next.q, f->q, bytes);
  for (int i = 0; i < sys->nv; i++) total[i] = 0.0;
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == MAX_ITERATIONS) return cannot_move(st, c);
    if ((status = ga__saddle_at(st, &p, 0))) return status;
    if (consistent) return GA_OK; /* leave every bit */
    for (int i = 0; i < sys->n; i++) d[i] = 0.0;
    for (int i = 0; i < nl; i++) rhs[i] = -st->tmp[i];
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
    double size = ga__max_abs(d, sys->nv, NULL) / (1.0 + ga__max_abs(f->q, sys->nq, NULL));
    if (!isfinite(size)) return cannot_move(st, c);
    if (c->iterations == 0 && size <= CONVERGED) return GA_OK;
    ga_group_move(sys->group, f->q, f->q, d);
    for (int i = 0; i < sys->nv; i++) total[i] += d[i];
    if ((status = ga__call(sys, GA__PHI, &p, st->tmp))) return status;
    const double residual = ga__max_abs(st->tmp, nl, NULL), best = c->residual_after;
    c->change = ga__max_abs(total, sys->nv, &c->worst_change);
    c->residual_after = residual;
    if (c->change > o->max_change * (1.0 + ga__max_abs(f->q, sys->nq, NULL)))
      return too_far(st, o, GA_BLOCK_LAMBDA, c, "positions");
    if (size <= STAGNATED && !(residual < best)) { /* rounding: it was better before */
      memcpy(f->q, st->next.q, bytes);
      for (int i = 0; i < sys->nv; i++) total[i] -= d[i];
      c->residual_after = best;
      c->change = c->iterations ? ga__max_abs(total, sys->nv, &c->worst_change) : 0.0;
      return GA_OK;
    }
    memcpy(st->next.q, f->q, bytes);
    if (settled(size, &before)) return GA_OK;
  }
}

static void record_velocity(ga_stepper *st, ga_start_change *c, ga_start_change *ck, int first)
{
  const ga_system *sys = st->sys;
  const double *b = st->solve + sys->start[GA_BLOCK_LAMBDA], *k = st->solve + sys->start[GA_BLOCK_PSI];
  c->residual_after = ga__max_abs(b, sys->size[GA_BLOCK_LAMBDA], first ? &c->worst_before : NULL);
  ck->residual_after = ga__max_abs(k, sys->size[GA_BLOCK_PSI], first ? &ck->worst_before : NULL);
  if (first) c->residual_before = c->residual_after, ck->residual_before = ck->residual_after;
}

static ga_status velocities_too_far(ga_stepper *st, const ga_start_opts *o, const ga_start_change *c,
                                    const ga_start_change *ck)
{
  const int slips = ck->residual_before > c->residual_before;
  ga_start_change said = slips ? *ck : *c;
  said.change = c->change, said.worst_change = c->worst_change; /* of both together */
  return too_far(st, o, slips ? GA_BLOCK_PSI : GA_BLOCK_LAMBDA, &said, "velocities");
}

static ga_status velocities_cannot(ga_stepper *st, const ga_start_change *c, const ga_start_change *ck)
{
  const int slips = ck->residual_after > c->residual_after;
  return inconsistent(st, slips ? GA_BLOCK_PSI : GA_BLOCK_LAMBDA, slips ? ck : c,
                      "the velocities cannot be moved onto the constraints",
                      c->iterations == MAX_ITERATIONS ? "(no convergence)" : "(diverged)");
}

/* v := v + δ, [M Bᵀ Aᵀ; B; A](δ, μ) = −(0, B v + Φ_t − offset, k), Newton since k may be nonlinear in v. The
 * total change is left in st->exponent. The best v is kept, as in project_position(). */
static ga_status project_velocity(ga_stepper *st, const ga_start_opts *o, const double *offset,
                                  ga_start_change *c, ga_start_change *ck)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  ga_point p = ga__state_point(f);
  int consistent;
  double before = HUGE_VAL, *total = st->exponent, *d = st->solve;
  ga_status status = velocity_residual(st, &p, offset, st->solve);
  if (status) return status;
  record_velocity(st, c, ck, 1);
  if (!o->project || sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] == 0) return GA_OK;
  status = ga__within_rounding(st, 1, offset, st->solve, st->tmp, &consistent);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) total[i] = 0.0;
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == MAX_ITERATIONS) return velocities_cannot(st, c, ck);
    if ((status = ga__saddle_at(st, &p, 0))) return status;
    if (consistent) return GA_OK;
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
    double size = ga__max_abs(d, sys->nv, NULL) / (1.0 + ga__max_abs(f->v, sys->nv, NULL));
    if (!isfinite(size)) return velocities_cannot(st, c, ck);
    if (c->iterations == 0 && size <= CONVERGED) return GA_OK;
    const double best = c->residual_after, best_k = ck->residual_after;
    memcpy(st->next.vdot, f->v, (size_t)sys->nv * sizeof(double));
    for (int i = 0; i < sys->nv; i++) f->v[i] += d[i], total[i] += d[i];
    if ((status = velocity_residual(st, &p, offset, st->solve))) return status;
    record_velocity(st, c, ck, 0);
    c->change = ga__max_abs(total, sys->nv, &c->worst_change);
    if (c->change > o->max_change * (1.0 + ga__max_abs(f->v, sys->nv, NULL)))
      return velocities_too_far(st, o, c, ck);
    if (size <= STAGNATED && !(fmax(c->residual_after, ck->residual_after) < fmax(best, best_k))) {
      for (int i = 0; i < sys->nv; i++) total[i] -= f->v[i] - st->next.vdot[i];
      memcpy(f->v, st->next.vdot, (size_t)sys->nv * sizeof(double));
      c->residual_after = best, ck->residual_after = best_k;
      c->change = c->iterations ? ga__max_abs(total, sys->nv, &c->worst_change) : 0.0;
      return GA_OK;
    }
    if (settled(size, &before)) return GA_OK;
  }
}

/* Minus the residuals (M vdot − f, B vdot + Φ's acceleration, A vdot + k's, 0, y − o) into st->solve, with B
 * and A of the saddle matrix. outputs 0: o is not asked for, and 0 stands for y − o. */
static ga_status acceleration_residual(ga_stepper *st, const ga__state *f, const ga_point *p, int outputs)
{
  const ga_system *sys = st->sys;
  const int *start = sys->start;
  double *r = st->solve;
  ga_status status = ga__call(sys, GA__MASS, p, r);
  if (!status) status = ga__call(sys, GA__FORCE, p, st->tmp);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) r[i] -= st->tmp[i];
  if ((status = ga__phi_acc(&st->deriv, p, r + start[GA_BLOCK_LAMBDA]))) return status;
  ga__b_mul(sys, r + start[GA_BLOCK_LAMBDA], st->saddle.Q, f->vdot);
  if ((status = ga__k_acc(&st->deriv, p, r + start[GA_BLOCK_PSI]))) return status;
  ga__saddle_a_mul(&st->saddle, r + start[GA_BLOCK_PSI], f->vdot);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) r[start[GA_BLOCK_X] + i] = 0.0;
  double *y = r + start[GA_BLOCK_Y];
  if (outputs && (status = ga__call(sys, GA__OUTPUT, p, y))) return status;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) y[i] = outputs ? f->y[i] - y[i] : 0.0;
  for (int i = 0; i < sys->n; i++) r[i] = -r[i];
  return GA_OK;
}

/* Largest relative increment of the solution just found in st->solve; adds it to f. */
static double add_accelerations(ga_stepper *st, ga__state *f)
{
  const ga_system *sys = st->sys;
  double *const to[GA_N_BLOCKS] = {f->vdot, f->lambda, f->psi, NULL, f->y}, size = 0.0;
  double largest = size;
  for (int b = 0; b < GA_N_BLOCKS; b++) {
    if (!to[b]) continue;
    const double *d = st->solve + sys->start[b];
    for (int i = 0; i < sys->size[b]; i++) to[b][i] += d[i];
    double relative = ga__max_abs(d, sys->size[b], NULL) / (1.0 + ga__max_abs(to[b], sys->size[b], NULL));
    if (ga__first_bad(d, sys->size[b]) >= 0) return NAN;
    if (relative > largest) largest = relative;
  }
  return largest;
}

/* Neither accelerations nor outputs came to rest: outputs are to blame where they are off. */
static ga_status not_solved(ga_stepper *st, const ga_start_change *c, const ga_point *p)
{
  const ga_system *sys = st->sys;
  int n = sys->size[GA_BLOCK_Y], worst = -1;
  double off = 0.0;
  if (n > 0 && !ga__call(sys, GA__OUTPUT, p, st->solve)) {
    for (int i = 0; i < n; i++) st->solve[i] -= p->y[i];
    off = ga__max_abs(st->solve, n, &worst);
  }
  if (worst < 0 || !(off > 1e-6 * (1.0 + fabs(p->y[worst]))))
    return inconsistent(st, GA_BLOCK_V, c, "the accelerations and multipliers cannot be solved for",
                        "(no convergence); where f is nonlinear in them, give guesses for lambda and psi "
                        "near their values, in a "
                        "model in the section 'guesses'");
  char name[192];
  ga__describe(sys, GA_BLOCK_Y, worst, name, sizeof name);
  return ga__fail_at(sys->ctx, GA_ERR_INCONSISTENT, p->t, GA_BLOCK_Y, worst,
                     "start, t = %.9g: the outputs cannot be solved for (no convergence): %s is still off by "
                     "%.3g. The algebraic "
                     "loop through it may have no solution: let it pass through a state (a filter, an "
                     "integrator), or change its "
                     "gain. Where it has one, give a guess near it: the section 'guesses' of a model, "
                     "ga_machine_add_guess(), or output_guess of a system",
                     p->t, name, off);
}

ga_status ga__accelerations(ga_stepper *st, ga__state *f, ga_start_change *c)
{
  const ga_system *sys = st->sys;
  ga_point p = ga__state_point(f);
  ga_status status;
  double before = HUGE_VAL, size;
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == MAX_ITERATIONS) return not_solved(st, c, &p);
    if ((status = ga__saddle_at(st, &p, 1))) return status;
    if ((status = acceleration_residual(st, f, &p, 1))) return status;
    c->residual_after = ga__max_abs(st->solve, sys->nv, c->iterations ? NULL : &c->worst_before);
    if (c->iterations == 0) c->residual_before = c->residual_after;
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, st->solve))) return status;
    size = add_accelerations(st, f);
    if (!isfinite(size))
      return inconsistent(st, GA_BLOCK_V, c, "the accelerations and multipliers cannot be solved for",
                          "(diverged)");
    if (settled(size, &before)) break;
  }
  c->change = ga__max_abs(f->vdot, sys->nv, &c->worst_change);
  return ga__call(sys, GA__STATE, &p, f->xdot);
}

/* The present q moved on by a time e, q exp(e v + e²/2 vdot), and v, x by d: v + d vdot, x + d xdot. */
static void move_on(ga_stepper *st, double e, double d, double *q, double *v, double *x)
{
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now;
  for (int i = 0; i < sys->nv; i++) {
    st->exponent[i] = e * f->v[i] + 0.5 * e * e * f->vdot[i];
    v[i] = f->v[i] + d * f->vdot[i];
  }
  ga_group_move(sys->group, q, f->q, st->exponent);
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) x[i] = f->x[i] + d * f->xdot[i];
}

void ga__carry(ga_stepper *st, double t, double early, double *q, double *v, double *x)
{
  const double e = t - st->now.scalar[GA__T];
  if (e > 0.0) move_on(st, e, fmax(e - early, 0.0), q, v, x);
}

/* Accelerations, multipliers, outputs and rates at t + e along the motion, into next. */
static ga_status accelerations_along(ga_stepper *st, double e)
{
  const ga__state *f = &st->now;
  ga__state *m = &st->next;
  ga_start_change c = no_change();
  ga__state_copy(st, m, f);
  move_on(st, e, e, m->q, m->v, m->x);
  m->scalar[GA__T] = f->scalar[GA__T] + e;
  return ga__accelerations(st, m, &c);
}

/* vddot, xddot and the rates of λ, ψ, y by differences of second order along the motion: of values at ±s, or
 * at s and 2s against the present ones. */
static ga_status jerk(ga_stepper *st, double h, int forward)
{
  static const double at[2][2] = {{-1.0, 1.0}, {1.0, 2.0}}, weight[2][2] = {{-0.5, 0.5}, {2.0, -0.5}};
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now, *m = &st->next;
  const struct {
    double *rate;
    const double *here, *there;
    int n;
  } list[] = {{st->jerk_v, f->vdot, m->vdot, sys->nv},
              {st->jerk_x, f->xdot, m->xdot, sys->size[GA_BLOCK_X]},
              {st->jerk_lambda, f->lambda, m->lambda, sys->size[GA_BLOCK_LAMBDA]},
              {st->jerk_psi, f->psi, m->psi, sys->size[GA_BLOCK_PSI]},
              {st->jerk_y, f->y, m->y, sys->size[GA_BLOCK_Y]}};
  enum { N_LIST = sizeof list / sizeof *list };
  const double s = JERK_STEP * h;
  for (int l = 0; l < N_LIST; l++)
    for (int i = 0; i < list[l].n; i++) list[l].rate[i] = forward ? -1.5 * list[l].here[i] / s : 0.0;
  for (int k = 0; k < 2; k++) {
    ga_status status = accelerations_along(st, at[forward][k] * s);
    if (status) return status;
    for (int l = 0; l < N_LIST; l++)
      for (int i = 0; i < list[l].n; i++) list[l].rate[i] += weight[forward][k] * list[l].there[i] / s;
  }
  return GA_OK;
}

/* B(−κh² vddot + h²[v,vdot]/12) into out[n_lambda]: the normal part of v that the index-3 form settles at, h²
 * B r in the papers' words. The commutator term takes the bracket out. B is that of the present state. */
static ga_status normal_offset(ga_stepper *st, double kappa_h2, double h2, double *out)
{
  const ga_system *sys = st->sys;
  const ga__state *f = &st->now;
  double *r = st->exponent;
  ga_point p = ga__state_point(f);
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, st->D, st->Q, st->G};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  ga_group_bracket(sys->group, r, f->v, f->vdot);
  for (int i = 0; i < sys->nv; i++) r[i] = (st->commutes ? 0.0 : h2 * r[i] / 12.0) - kappa_h2 * st->jerk_v[i];
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) out[i] = 0.0;
  ga__b_mul(sys, out, st->Q, r);
  return GA_OK;
}

static ga_status start_method(ga_stepper *st, const ga_start_opts *o, ga_start_report *r)
{
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  ga__state *f = &st->now;
  int nx = sys->size[GA_BLOCK_X], perturb = o->perturb_v && ga__has_offset(st);
  double da = o->shift_a ? (s->alpha_m - s->alpha_f) * o->h : 0.0,
         dw = o->shift_a ? (s->delta_m - s->delta_f) * o->h : 0.0;
  ga_status status;
  for (int i = 0; i < sys->nv; i++) st->jerk_v[i] = 0.0;
  for (int i = 0; i < nx; i++) st->jerk_x[i] = 0.0;
  int with_jerk = o->shift_a || perturb;
  if (with_jerk && (status = jerk(st, o->h, o->forward != 0))) return status;
  f->scalar[GA__HAS_JERK] = with_jerk; /* for the error estimate of the first step */
  memcpy(f->vdot_prev, st->jerk_v, (size_t)sys->nv * sizeof(double));
  memcpy(f->xdot_prev, st->jerk_x, (size_t)nx * sizeof(double));
  r->jerk = ga__max_abs(st->jerk_v, sys->nv, NULL);
  for (int i = 0; i < sys->nv; i++) f->a_prev[i] = f->a[i] = f->vdot[i] + da * st->jerk_v[i];
  for (int i = 0; i < nx; i++) f->w_prev[i] = f->w[i] = f->xdot[i] + dw * st->jerk_x[i];
  f->scalar[GA__EPS_A] = da;
  f->scalar[GA__EPS_W] = dw;
  f->scalar[GA__KAPPA_H2] = ga__kappa(st, o->h) * o->h * o->h;
  r->a_shift = fabs(da) * r->jerk;
  r->w_shift = fabs(dw) * ga__max_abs(st->jerk_x, nx, NULL);
  if (!perturb) return GA_OK;
  ga_start_change c = no_change(), ck = no_change();
  ga_start_opts free_opts = {o->h, 1, 0, 0, HUGE_VAL, HUGE_VAL, 0};
  if ((status = normal_offset(st, f->scalar[GA__KAPPA_H2], o->h * o->h, st->offset))) return status;
  status = project_velocity(st, &free_opts, st->offset, &c, &ck);
  r->v_perturbation = c.change;
  return status;
}

/* needed: how many of q0, v0, x0; guesses may be left out. */
static ga_status check_values(ga_stepper *st, const ga_start_opts *o, double t0, int needed, const double *q0,
                              const double *v0, const double *x0, const double *lambda, const double *psi)
{
  enum { COUNT = 5 };
  const ga_system *sys = st->sys;
  const double *value[COUNT] = {q0, v0, x0, lambda, psi};
  const int n[COUNT] = {sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_LAMBDA],
                        sys->size[GA_BLOCK_PSI]};
  static const char *const name[COUNT] = {"q0", "v0", "x0", "lambda_guess", "psi_guess"};
  if (!(o->h > 0.0 && isfinite(o->h)))
    return ga__fail(st->ctx, GA_ERR_ARGUMENT,
                    "start: h is %g; give the size of the first step, it must be positive", o->h);
  if (!(o->max_gap > 0.0))
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "start: max_gap is %g; it must be positive", o->max_gap);
  if (!(o->max_change > 0.0))
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "start: max_change is %g; it must be positive", o->max_change);
  if (!isfinite(t0)) return ga__fail(st->ctx, GA_ERR_NAN, "start: t0 is %g", t0);
  for (int i = 0; i < COUNT; i++) {
    if (i < needed && n[i] > 0 && !value[i])
      return ga__fail(st->ctx, GA_ERR_ARGUMENT, "start: %s is NULL; it needs %d values", name[i], n[i]);
    int bad = n[i] > 0 && value[i] ? ga__first_bad(value[i], n[i]) : -1;
    if (bad >= 0)
      return ga__fail(st->ctx, GA_ERR_NAN, "start: component %d of %s is %g", bad, name[i], value[i][bad]);
  }
  double defect = ga_group_defect(sys->group, q0);
  if (!(defect < 1e-6))
    return ga__fail(st->ctx, GA_ERR_INCONSISTENT,
                    "start: q0 is not on its group, off by %.3g: a rotation matrix is not orthonormal or a "
                    "quaternion not of unit length",
                    defect);
  return GA_OK;
}

/* By way of next, since the values given may be those of the present state. */
static void take_values(ga_stepper *st, double t0, const double *q0, const double *v0, const double *x0,
                        const double *lambda, const double *psi, double h)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->next;
  const double *from[] = {q0, v0, x0, lambda, psi};
  double *to[] = {f->q, f->v, f->x, f->lambda, f->psi};
  const int n[] = {sys->nq, sys->nv, sys->size[GA_BLOCK_X], sys->size[GA_BLOCK_LAMBDA],
                   sys->size[GA_BLOCK_PSI]};
  memset(f->block, 0, st->state_length * sizeof(double));
  for (int i = 0; i < 5; i++)
    if (from[i] && n[i] > 0) memcpy(to[i], from[i], (size_t)n[i] * sizeof(double));
  if (ga_group_defect(sys->group, f->q) > 4.0 * DBL_EPSILON) ga_group_normalise(sys->group, f->q);
  f->scalar[GA__T] = f->scalar[GA__T_BASE] = t0;
  f->scalar[GA__H_START] = h;
  ga__state_copy(st, &st->now, f);
  ga__state_changed(st);
  double *const keep[] = {st->begin_q, st->begin_v, st->begin_x, st->begin_lambda, st->begin_psi};
  for (int i = 0; i < 5; i++)
    if (n[i] > 0) memcpy(keep[i], to[i], (size_t)n[i] * sizeof(double));
}

/* The same values once more, for another attempt. */
static void take_again(ga_stepper *st, double h)
{
  take_values(st, st->now.scalar[GA__T], st->begin_q, st->begin_v, st->begin_x, st->begin_lambda,
              st->begin_psi, h);
}

/* The first iteration matrix is factored here, so that steps need no memory. */
static ga_status first_factors(ga_stepper *st, double h)
{
  ga_status status = st->family->predict(st, h);
  if (status) return status;
  st->family->trial(st);
  return st->family->prepare(st);
}

/* Without phi_dot, Φ must not depend on t unless the system says so: the same q must give the same Φ, to the
 * bit. */
static ga_status refuse_hidden_time(ga_stepper *st, double h)
{
  const ga_system *sys = st->sys;
  int nl = sys->size[GA_BLOCK_LAMBDA];
  if (nl == 0 || ga__has(sys, GA__PHI_DOT) || sys->def.rheonomic) return GA_OK;
  ga_point p = ga__state_point(&st->now), later = p;
  later.t += 0.618 * h;
  ga_status status = ga__call(sys, GA__PHI, &p, st->tmp);
  if (!status) status = ga__call(sys, GA__PHI, &later, st->solve);
  for (int i = 0; !status && i < nl; i++)
    if (st->tmp[i] != st->solve[i]) {
      char name[192];
      ga__describe(sys, GA_BLOCK_LAMBDA, i, name, sizeof name);
      return ga__fail_at(
          sys->ctx, GA_ERR_ARGUMENT, p.t, GA_BLOCK_LAMBDA, i,
          "start: %s depends on t, but phi_dot is not given; set rheonomic = 1, or better, give phi_dot",
          name);
    }
  return status;
}

/* Velocities that have changed behind a jump of the equations, since a rate that is prescribed has. */
static void tell_impact(ga_stepper *st, const ga_start_change *c)
{
  char name[192], equation[192] = "a constraint";
  if (!(c->change > 1e-6) || c->worst_change < 0) return;
  ga__describe_unknown(st->sys, GA_BLOCK_V, c->worst_change, name, sizeof name);
  if (c->worst_before >= 0)
    ga__describe(st->sys, GA_BLOCK_LAMBDA, c->worst_before, equation, sizeof equation);
  ga__log(st->ctx, GA_LOG_INFO,
          "t = %.9g: an impact: the rate of %s jumps by %.4g, and velocities with it, that of %s by %.4g",
          st->now.scalar[GA__T], equation, c->residual_before, name, c->change);
}

static void warn_moved(ga_stepper *st, const ga_start_change *c, const char *what)
{
  char name[192];
  if (!(c->change > 1e-6) || c->worst_change < 0) return;
  ga__describe_unknown(st->sys, GA_BLOCK_V, c->worst_change, name, sizeof name);
  ga__log(st->ctx, GA_LOG_WARNING,
          "start: the given %s were off the constraints by up to %.3g; %s was moved by %.3g", what,
          c->residual_before, name, c->change);
}

/* y from what q, v, and as far as they are known vdot, λ and ψ, say. */
static ga_status guess_outputs(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  size_t bytes = (size_t)sys->size[GA_BLOCK_Y] * sizeof(double);
  if (!ga__has(sys, GA__OUTPUT_GUESS)) return GA_OK;
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__call(sys, GA__OUTPUT_GUESS, &p, st->next.y);
  if (!status) memcpy(st->now.y, st->next.y, bytes);
  return status;
}

/* Accelerations and multipliers under the forces that the present y cause, by [M Bᵀ Aᵀ; B; A], which asks
 * neither for outputs nor for their derivatives. */
static ga_status accelerations_at_fixed_outputs(ga_stepper *st)
{
  ga_point p = ga__state_point(&st->now);
  ga_status status = ga__saddle_at(st, &p, 0);
  if (!status) status = acceleration_residual(st, &st->now, &p, 0);
  if (!status) status = ga__saddle_solve(&st->saddle, &st->red.null, st->solve);
  if (status) return status;
  return isfinite(add_accelerations(st, &st->now)) ? GA_OK : GA_RETRY_NAN;
}

/* As before they were looked for. */
static void forget_accelerations(ga_stepper *st)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  for (int i = 0; i < sys->nv; i++) f->vdot[i] = 0.0;
  if (sys->size[GA_BLOCK_LAMBDA])
    memcpy(f->lambda, st->begin_lambda, (size_t)sys->size[GA_BLOCK_LAMBDA] * sizeof(double));
  if (sys->size[GA_BLOCK_PSI])
    memcpy(f->psi, st->begin_psi, (size_t)sys->size[GA_BLOCK_PSI] * sizeof(double));
}

/* From outputs as they were before the start was made again. Where that does not do, everything is as if it
 * had not been tried. */
static ga_status accelerations_from_before(ga_stepper *st, ga_start_change *c, int *found)
{
  const ga_system *sys = st->sys;
  const size_t bytes = (size_t)sys->size[GA_BLOCK_Y] * sizeof(double);
  const ga_error said = st->ctx->error;
  *found = 0;
  if (st->again == GA__FIRST || bytes == 0) return GA_OK;
  memcpy(st->tmp_y, st->now.y, bytes);
  memcpy(st->now.y, st->begin_y, bytes);
  const ga_status status = ga__accelerations(st, &st->now, c);
  *found = !status;
  if (!status || (status < 0 && status != GA_ERR_INCONSISTENT)) return status;
  st->fell_back = status > 0 ? status : st->fell_back;
  st->ctx->error = said;
  *c = no_change();
  forget_accelerations(st);
  memcpy(st->now.y, st->tmp_y, bytes);
  return GA_OK;
}

/* Outputs that depend on accelerations or multipliers may have no value where these are 0, as 1/hinge.fy:
 * accelerations at fixed outputs, outputs at these accelerations, and so on, until Newton's iteration
 * succeeds from there. What it said first counts when it never does. */
static ga_status accelerations_by_turns(ga_stepper *st, ga_start_change *c)
{
  enum { MOST_ROUNDS = 4 };
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  int found;
  ga_status first = accelerations_from_before(st, c, &found), status = first;
  if (found || status) return status;
  first = status = ga__accelerations(st, f, c);
  const int loops = sys->size[GA_BLOCK_Y] > 0 && ga__has(sys, GA__OUTPUT_GUESS);
  if (!loops || (status != GA_RETRY_CALLBACK && status != GA_RETRY_NAN && status != GA_ERR_INCONSISTENT))
    return status;
  const ga_error said = st->ctx->error;
  for (int round = 1; status && round <= MOST_ROUNDS; round++) {
    forget_accelerations(st);
    status = guess_outputs(st);
    for (int i = 0; !status && i < round; i++) {
      status = accelerations_at_fixed_outputs(st);
      if (!status) status = guess_outputs(st);
    }
    if (status < 0) return status;
    if (status) break;
    *c = no_change();
    status = ga__accelerations(st, f, c);
    if (status < 0 && status != GA_ERR_INCONSISTENT) return status;
  }
  if (!status) return GA_OK;
  st->ctx->error = said;
  return first;
}

/* Accelerations and multipliers were not found: is it that forces do not depend on a multiplier where it is
 * as guessed, as on λ in −Bᵀλ³ at 0? */
static ga_status blame_guess(ga_stepper *st, ga_status status)
{
  const ga_system *sys = st->sys;
  char name[192];
  int index;
  if (status != GA_RETRY_SINGULAR && status != GA_RETRY_NAN && status != GA_ERR_INCONSISTENT) return status;
  forget_accelerations(st);
  const ga_point p = ga__state_point(&st->now);
  const int column = ga__vanishing_multiplier(&st->saddle, &st->deriv, &p);
  if (column < 0) return status;
  ga_block block = ga__block_of(sys, column, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__fail_at(
      sys->ctx, GA_ERR_SINGULAR, p.t, (int)block, index,
      "start, t = %.9g: the forces do not depend on the multiplier of %s where it is %.3g, as "
      "guessed (0 unless given), so that it cannot be solved for; give guesses near the "
      "multipliers' values, lambda_guess and psi_guess of ga_stepper_start(), in a model in the "
      "section 'guesses'",
      p.t, name, block == GA_BLOCK_LAMBDA ? p.lambda[index] : p.psi[index]);
}

/* What a part said to be undefined at the given values (ga_context's starting) is so for every step. */
static ga_status no_step_helps(ga_stepper *st, ga_status status)
{
  const int undefined = st->ctx->starting & GA__UNDEFINED;
  st->ctx->starting &= ~GA__UNDEFINED;
  if (!undefined || (status != GA_RETRY_CALLBACK && status != GA_RETRY_NAN)) return status;
  return st->ctx->error.status = GA_ERR_INCONSISTENT;
}

/* From positions on the constraints to a state that steps can begin from. */
static ga_status make_ready(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  ga_status status = project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic);
  if (!status) status = guess_outputs(st);
  if (!status) status = blame_guess(st, accelerations_by_turns(st, &r->acceleration));
  status = no_step_helps(st, status);
  if (!status) status = ga__method_check_vdot(st);
  if (status) return status;
  r->rcond = ga_lu_get_info(st->saddle.lu)->rcond;
  if ((status = start_method(st, opts, r))) return status;
  const int has = f->scalar[GA__HAS_JERK] != 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) f->lambda_prev[i] = has ? st->jerk_lambda[i] : 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_PSI]; i++) f->psi_prev[i] = has ? st->jerk_psi[i] : 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_Y]; i++) f->y_prev[i] = has ? st->jerk_y[i] : 0.0;
  st->red.valid = 1;
  if ((status = ga__ready_relations(st)) || st->provisional) return status;
  return first_factors(st, opts->h);
}

static void clear_report(ga_start_report *r)
{
  memset(r, 0, sizeof *r);
  r->position = r->velocity = r->nonholonomic = r->acceleration = no_change();
}

/* Is it known beforehand that plain matrices are singular? Where their factors take long it is asked for,
 * since it is then that the search for pivots that do not exist takes longest. st->red.null has the
 * relations. */
static ga_status foresee_singular(ga_stepper *st, int *yes)
{
  const ga_point p = ga__state_point(&st->now);
  const int ask =
      st->opts.redundant == GA_REDUNDANT_ACCEPT && ga__lu_flops(st->saddle.lu) >= LONG_ELIMINATION;
  ga_status status = ask ? ga__find_relations(st, &p) : GA_OK;
  *yes = st->red.plain_refused || (ask && !status && st->red.null.r > 0);
  st->red.null.r = st->red.null_b.r = 0;
  return status;
}

/* As if no constraint were redundant. *doubtful: where that may be wrong. */
static ga_status start_plainly(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r, int *doubtful)
{
  clear_report(r);
  st->red.null.r = st->red.null_b.r = 0;
  st->saddle.least_rcond = st->other_saddle.least_rcond = 1.0;
  ga_status status = no_step_helps(st, project_position(st, opts, &r->position));
  if (!status) status = make_ready(st, opts, r);
  double rcond = fmin(st->saddle.least_rcond,
                      !st->factors.now.leaves_out && st->factors.now.valid ? st->stats.rcond : 1.0);
  *doubtful = status == GA_RETRY_SINGULAR || status == GA_ERR_INCONSISTENT || (!status && rcond < DOUBTFUL);
  return status;
}

static ga_status cannot_close(ga_stepper *st, const ga_start_change *c)
{
  const ga_system *sys = st->sys;
  char name[192] = "";
  if (c->worst_after >= 0) ga__describe(sys, GA_BLOCK_LAMBDA, c->worst_after, name, sizeof name);
  return ga__fail_at(
      sys->ctx, GA_ERR_INCONSISTENT, st->now.scalar[GA__T], GA_BLOCK_LAMBDA, c->worst_after,
      "start, t = %.9g: the constraints cannot all be met, the assembly does not close: in the best position "
      "found %s is still off by %.3g (at first the largest residual was %.3g). Correct lengths, axes or "
      "initial "
      "positions; the constraints may contradict each other",
      st->now.scalar[GA__T], name, c->residual_after, c->residual_before);
}

/* Redundant constraints that do not fit together: positions were looked at before, velocities here. */
static ga_status check_gap(ga_stepper *st, const ga_start_opts *o, ga_start_report *r)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  int index;
  ga__gap positions, rates;
  ga_status status = ga__gaps_at(st, f, &positions, &rates);
  if (status) return status;
  r->gap = f->scalar[GA__GAP] = positions.size;
  f->scalar[GA__GAP_V] = rates.size;
  if (!o->project || rates.size <= o->max_gap * (1.0 + ga__max_abs(f->v, sys->nv, NULL))) return GA_OK;
  char name[192];
  ga_block block = ga__block_of(sys, sys->nv + rates.worst, &index);
  ga__describe(sys, block, index, name, sizeof name);
  return ga__fail_at(
      sys->ctx, GA_ERR_INCONSISTENT, f->scalar[GA__T], (int)block, index,
      "start, t = %.9g: the constraints cannot all be met by velocities: at best the rate of %s "
      "is still off by %.3g. Do two prescribed motions contradict each other?",
      f->scalar[GA__T], name, rates.off);
}

static void report_relations(ga_stepper *st, ga_start_report *r)
{
  const ga_redundancy *red = ga_stepper_redundancy(st);
  const int most = sizeof r->blamed_index / sizeof *r->blamed_index;
  if (!red) return;
  r->mobility = red->mobility;
  r->redundant = red->redundant;
  for (int k = 0; k < red->redundant && k < most; k++, r->n_blamed++) {
    r->blamed_block[k] = red->relation[k].row[0].block;
    r->blamed_index[k] = red->relation[k].row[0].index;
  }
}

/* A plain start was not possible, or is to be doubted (`plain` tells): are constraints redundant where the
 * assembly closes? *yes, unless they are independent there. */
static ga_status start_redundant(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r,
                                 ga_status plain, int *yes)
{
  ga__state *f = &st->now;
  int closed;
  clear_report(r);
  ga_status status = ga__close_positions(st, opts, &r->position, &closed);
  *yes = status != GA_OK;
  if (status) return status;
  ga_point p = ga__state_point(f);
  double moved = r->position.change, most = opts->max_change * (1.0 + ga__max_abs(f->q, st->sys->nq, NULL));
  if (moved > most || !closed) {
    *yes = plain != GA_OK; /* else the plain start has done better */
    return moved > most ? too_far(st, opts, GA_BLOCK_LAMBDA, &r->position, "positions")
                        : cannot_close(st, &r->position);
  }
  status = ga__find_relations(st, &p);
  *yes = status || st->red.null.r > 0;
  if (status || !*yes) return status;
  f->scalar[GA__REDUNDANT] = st->red.null.r;
  ga__null_reduce(&st->red.null, st->sys, f->lambda, f->psi);
  if (!(status = make_ready(st, opts, r))) status = check_gap(st, opts, r);
  return status;
}

static int has_constraints(const ga_stepper *st)
{
  return st->sys->size[GA_BLOCK_LAMBDA] + st->sys->size[GA_BLOCK_PSI] > 0;
}

/* A plain start has failed in a way that redundant constraints might explain, or its matrices are so badly
 * conditioned that it must be asked. */
static ga_status ask_redundant(ga_stepper *st, const ga_start_opts *opts, ga_start_report *r, ga_status plain,
                               int foreseen)
{
  int redundant;
  if (!plain) {
    ga_point p = ga__state_point(&st->now);
    ga_status status = ga__find_relations(st, &p);
    if (status || st->red.null.r == 0) return status;
  }
  const ga_error said = st->ctx->error;
  take_again(st, opts->h);
  ga_status status = start_redundant(st, opts, r, plain, &redundant);
  if (plain && !foreseen &&
      status == GA_RETRY_SINGULAR) { /* redundancy is not what was wrong: the first words were right */
    st->ctx->error = said;
    return plain;
  }
  if (redundant) return status;
  take_again(st, opts->h); /* what was done first was right */
  return start_plainly(st, opts, r, &redundant);
}

/* A singular matrix is no matter of the step size here. */
static ga_status singular_is_fatal(ga_stepper *st, ga_status status)
{
  if (status != GA_RETRY_SINGULAR) return status;
  st->ctx->error.status = GA_ERR_SINGULAR;
  return GA_ERR_SINGULAR;
}

ga_status ga_stepper_start(ga_stepper *st, const ga_start_opts *opts, double t0, const double *q0,
                           const double *v0, const double *x0, const double *lambda_guess,
                           const double *psi_guess, ga_start_report *report)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!opts)
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "start: opts is NULL; give ga_start_defaults() with h set");
  ga_start_report unused, *r = report ? report : &unused;
  int doubtful = 1, foreseen = 0;
  clear_report(r);
  st->has_state = 0;
  ga__forget_steps(st);
  ga_status status = check_values(st, opts, t0, 3, q0, v0, x0, lambda_guess, psi_guess);
  if (status) return status;
  take_values(st, t0, q0, v0, x0, lambda_guess, psi_guess, opts->h);
  st->deriv.dt = 0.25 * opts->h;
  st->ctx->starting = GA__STARTING;
  status = refuse_hidden_time(st, opts->h);
  if (!status) status = foresee_singular(st, &foreseen);
  if (!status && foreseen)
    status = GA_RETRY_SINGULAR;
  else if (!status)
    status = start_plainly(st, opts, r, &doubtful);
  else
    doubtful = 0;
  if (doubtful && st->opts.redundant == GA_REDUNDANT_ACCEPT && has_constraints(st))
    status = ask_redundant(st, opts, r, status, foreseen);
  st->ctx->starting = 0;
  if (status) return singular_is_fatal(st, status);
  st->has_state = st->red.valid = 1;
  ga__state_show(st);
  if (st->again == GA__FIRST || st->again == GA__AFTER_EVENT) {
    warn_moved(st, &r->position, "positions");
    warn_moved(st, &r->velocity, "velocities");
  }
  if (st->again == GA__BEHIND_JUMP) tell_impact(st, &r->velocity);
  const int known =
      st->again == GA__FIRST ? 0 : st->stats.redundant; /* what was told before is not told again */
  st->stats.redundant = st->red.null.r;
  report_relations(st, r);
  ga__log_relations(st, t0, known);
  return GA_OK;
}

void ga__start_again(ga_stepper *st, ga__again again)
{
  st->again = again;
  st->fell_back = GA_OK;
  if (st->sys->size[GA_BLOCK_Y] > 0)
    memcpy(st->begin_y, st->now.y, (size_t)st->sys->size[GA_BLOCK_Y] * sizeof(double));
}

void ga__start_first(ga_stepper *st)
{
  st->again = GA__FIRST;
}

/* What may jump: callbacks, and the derivatives of Φ by time. */
enum { RATES = -1, ACCELERATIONS = -2 };

static ga_status value_at(ga_stepper *st, int which, const ga_point *p, double *out)
{
  if (which == RATES) return ga__phi_dot(&st->deriv, p, out);
  if (which == ACCELERATIONS) return ga__phi_acc(&st->deriv, p, out);
  return ga__call(st->sys, (ga__fn)which, p, out);
}

int ga__nothing_jumps(ga_stepper *st, double t_behind)
{
  static const struct {
    int which;
    ga_block block;
  } list[] = {{GA__FORCE, GA_BLOCK_V},    {GA__OUTPUT, GA_BLOCK_Y}, {GA__STATE, GA_BLOCK_X},
              {GA__PHI, GA_BLOCK_LAMBDA}, {RATES, GA_BLOCK_LAMBDA}, {ACCELERATIONS, GA_BLOCK_LAMBDA},
              {GA__K, GA_BLOCK_PSI}};
  const double equal = 1e-9;
  const ga_error said = st->ctx->error;
  ga_point before = ga__state_point(&st->now), behind = before;
  int same = 1;
  behind.t = t_behind;
  for (size_t k = 0; same && k < sizeof list / sizeof *list; k++) {
    const int n = st->sys->size[list[k].block];
    if (n == 0) continue;
    same = !value_at(st, list[k].which, &before, st->tmp) && !value_at(st, list[k].which, &behind, st->solve);
    const double most = same ? fmax(ga__max_abs(st->tmp, n, NULL), ga__max_abs(st->solve, n, NULL)) : 0.0;
    for (int i = 0; same && i < n; i++) same = fabs(st->tmp[i] - st->solve[i]) <= equal * most;
  }
  st->ctx->error = said;
  return same;
}

/* Positions and velocities alone, as if no constraint were redundant. */
static ga_status assemble_plainly(ga_stepper *st, const ga_start_opts *opts, int velocities,
                                  ga_start_report *r)
{
  clear_report(r);
  st->red.null.r = st->red.null_b.r = 0;
  st->saddle.least_rcond = st->other_saddle.least_rcond = 1.0;
  int foreseen;
  ga_status status = foresee_singular(st, &foreseen);
  if (!status && foreseen) return GA_RETRY_SINGULAR;
  if (!status) status = project_position(st, opts, &r->position);
  if (!status && velocities) status = project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic);
  return status;
}

/* The same where constraints may be redundant. */
static ga_status assemble_redundant(ga_stepper *st, const ga_start_opts *opts, int velocities,
                                    ga_start_report *r)
{
  ga__state *f = &st->now;
  int closed;
  clear_report(r);
  ga_status status = ga__close_positions(st, opts, &r->position, &closed);
  if (status) return status;
  if (r->position.change > opts->max_change * (1.0 + ga__max_abs(f->q, st->sys->nq, NULL)))
    return too_far(st, opts, GA_BLOCK_LAMBDA, &r->position, "positions");
  if (!closed) return cannot_close(st, &r->position);
  if (!velocities) return GA_OK;
  ga_point p = ga__state_point(f);
  status = ga__find_relations(st, &p);
  f->scalar[GA__REDUNDANT] = st->red.null.r;
  if (!status) status = project_velocity(st, opts, NULL, &r->velocity, &r->nonholonomic);
  return status || st->red.null.r == 0 ? status : check_gap(st, opts, r);
}

ga_status ga_stepper_assemble(ga_stepper *st, const ga_start_opts *opts, double t0, double *q, double *v,
                              ga_start_report *report)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!opts)
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "assemble: opts is NULL; give ga_start_defaults() with h set");
  ga_start_report unused, *r = report ? report : &unused;
  clear_report(r);
  st->has_state = 0;
  ga__forget_steps(st);
  ga_status status = check_values(st, opts, t0, 1, q, v, NULL, NULL, NULL);
  if (status) return status;
  take_values(st, t0, q, v, NULL, NULL, NULL, opts->h);
  st->deriv.dt = 0.25 * opts->h;
  st->ctx->starting = GA__STARTING;
  status = assemble_plainly(st, opts, v != NULL, r);
  const int doubtful = status == GA_RETRY_SINGULAR || status == GA_ERR_INCONSISTENT ||
                       (!status && st->saddle.least_rcond < DOUBTFUL);
  if (doubtful && st->opts.redundant == GA_REDUNDANT_ACCEPT && has_constraints(st)) {
    take_again(st, opts->h);
    status = assemble_redundant(st, opts, v != NULL, r);
  }
  st->ctx->starting = 0;
  if (st->sys->nq > 0) memcpy(q, st->now.q, (size_t)st->sys->nq * sizeof(double));
  if (v && st->sys->nv > 0) memcpy(v, st->now.v, (size_t)st->sys->nv * sizeof(double));
  return singular_is_fatal(st, status);
}

ga_status ga__move_offset(ga_stepper *st, double d_kappa_h2, double d_h2, double *v)
{
  const ga_system *sys = st->sys;
  const double *scalar = st->now.scalar;
  double *d = st->solve;
  ga_point p = ga__state_point(&st->now);
  ga_status status = jerk(st, scalar[GA__H_OLD] > 0.0 ? scalar[GA__H_OLD] : scalar[GA__H_START], 0);
  if (!status) status = normal_offset(st, d_kappa_h2, d_h2, st->offset);
  if (!status) status = ga__saddle_at(st, &p, 0);
  if (status) return status;
  for (int i = 0; i < sys->n; i++) d[i] = 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) d[sys->start[GA_BLOCK_LAMBDA] + i] = st->offset[i];
  if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
  for (int i = 0; i < sys->nv; i++) v[i] = st->now.v[i] + d[i];
  return GA_OK;
}

ga_status ga_stepper_project_velocity(ga_stepper *st, ga_projection kind, ga_start_change *change)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->has_state)
    return ga__fail(st->ctx, GA_ERR_ORDER, "ga_stepper_project_velocity: call ga_stepper_start() first");
  if (kind != GA_PROJECT_PLAIN && kind != GA_PROJECT_OFFSET)
    return ga__fail(st->ctx, GA_ERR_ARGUMENT, "ga_stepper_project_velocity: there is no projection %d",
                    (int)kind);
  st->can_undo = 0; /* `next` serves as work space */
  st->tried = GA__ACCEPTED;
  ga_status status = ga__ready_relations(st);
  if (status) return status;
  ga__state *f = &st->now;
  double h = f->scalar[GA__H_OLD] > 0.0 ? f->scalar[GA__H_OLD] : f->scalar[GA__H_START];
  int with_offset = kind == GA_PROJECT_OFFSET && ga__has_offset(st);
  ga_start_opts o = {h, 1, 0, 0, HUGE_VAL, HUGE_VAL, 0};
  ga_start_change c = no_change(), ck = no_change();
  if (with_offset) {
    if ((status = jerk(st, h, 0))) return status;
    if ((status = normal_offset(st, f->scalar[GA__KAPPA_H2], h * h, st->offset))) return status;
  }
  memcpy(st->next.v, f->v, (size_t)st->sys->nv * sizeof(double));
  status = project_velocity(st, &o, with_offset ? st->offset : NULL, &c, &ck);
  if (status) memcpy(f->v, st->next.v, (size_t)st->sys->nv * sizeof(double));
  if (change) *change = c;
  return singular_is_fatal(st, status);
}

/* ---- The report in words ---- */

static void say_change(ga__writer *w, const ga_system *sys, ga_block block, const ga_start_change *c,
                       const char *what, const char *unit)
{
  char name[192];
  if (c->worst_before < 0) return;
  ga__describe(sys, block, c->worst_before, name, sizeof name);
  if (c->change > 0.0) {
    char coordinate[192] = "";
    if (c->worst_change >= 0)
      ga__describe_unknown(sys, GA_BLOCK_V, c->worst_change, coordinate, sizeof coordinate);
    ga__write(
        w,
        "%s: residual %.3g (largest in %s) mended to %.3g in %d iterations; %s moved by up to %.3g, most in "
        "%s\n",
        what, c->residual_before, name, c->residual_after, c->iterations, unit, c->change, coordinate);
  } else {
    ga__write(w, "%s: residual %.3g, left as given\n", what, c->residual_before);
  }
}

static void say_redundant(ga__writer *w, const ga_system *sys, const ga_start_report *r)
{
  char name[192];
  ga__write(w, "redundant: %d constraints follow from others:", r->redundant);
  for (int i = 0; i < r->n_blamed; i++) {
    ga__describe(sys, r->blamed_block[i], r->blamed_index[i], name, sizeof name);
    ga__write(w, "%s %s", i ? "," : "", name);
  }
  ga__write(w, "%s; reactions of constraints that share a load are not unique\n",
            r->redundant > r->n_blamed ? ", ..." : "");
  if (r->gap > 1e-12) ga__write(w, "redundant constraints do not quite fit together: %.3g is left\n", r->gap);
}

int ga_start_report_text(const ga_system *sys, const ga_start_report *r, char *text, size_t size)
{
  if (!text) size = 0;
  if (size) text[0] = '\0';
  if (!sys || !r) return 0;
  ga__writer w = {text, size, 0};
  char name[192] = "none";
  if (size) text[0] = '\0';
  say_change(&w, sys, GA_BLOCK_LAMBDA, &r->position, "positions", "q");
  say_change(&w, sys, GA_BLOCK_LAMBDA, &r->velocity, "velocities", "v");
  if (r->nonholonomic.worst_before >= 0)
    ga__write(&w, "nonholonomic: residual %.3g, now %.3g\n", r->nonholonomic.residual_before,
              r->nonholonomic.residual_after);
  if (r->acceleration.worst_change >= 0)
    ga__describe_unknown(sys, GA_BLOCK_V, r->acceleration.worst_change, name, sizeof name);
  ga__write(&w, "accelerations: solved in %d iterations, largest %.6g in %s; reciprocal condition %.1e\n",
            r->acceleration.iterations + 1, r->acceleration.change, name, r->rcond);
  if (sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] > 0)
    ga__write(&w, "mobility: %d, of %d velocities under %d constraints\n", r->mobility, sys->nv,
              sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI]);
  if (r->redundant > 0) say_redundant(&w, sys, r);
  if (r->a_shift > 0.0)
    ga__write(&w, "a: shifted from vdot by up to %.3g, for order 2 in forces from the first step\n",
              r->a_shift);
  if (r->w_shift > 0.0) ga__write(&w, "w: shifted from xdot by up to %.3g\n", r->w_shift);
  if (r->v_perturbation > 0.0)
    ga__write(&w,
              "v: moved off the hidden constraints by up to %.3g, as the index-3 form needs for order 2 in "
              "lambda\n",
              r->v_perturbation);
  return (int)w.used;
}
