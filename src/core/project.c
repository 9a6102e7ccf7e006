/* Projections: positions and velocities moved onto the constraints. */
#include "core/rounding.h"
#include "core/start.h"

#include <math.h>
#include <string.h>

#define CONVERGED 1e-14 /* relative increments below this are rounding */
#define STAGNATED 1e-9  /* and below this if they no longer halve */

ga_start_change ga__start_no_change(void)
{
  ga_start_change c = {0.0, 0.0, -1, -1, 0.0, -1, 0};
  return c;
}

int ga__start_has_converged(double increment, double *before)
{
  int done = increment <= CONVERGED || (increment <= STAGNATED && increment > 0.5 * *before);
  *before = increment;
  return done;
}

ga_status ga__start_fail_inconsistent(ga_stepper *st, ga_equation_block block, const ga_start_change *c,
                                      const char *what, const char *goal, const char *why)
{
  char name[192] = "";
  const ga_system *sys = st->sys;
  if (c->worst_before >= 0) ga__describe(sys, block, c->worst_before, name, sizeof name);
  return ga__refuse(
      sys->ctx, GA_ERR_INCONSISTENT, GA_REASON_NOT_SOLVED,
      &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, (int)block, c->worst_before},
                   .kind = st->has_state ? "step" : "start",
                   .name = what,
                   .other = goal,
                   .detail = why,
                   .equation = name,
                   GA__NUMBERS({c->residual_before, NULL}, {c->residual_after, NULL})});
}

ga_status ga__start_fail_too_far(ga_stepper *st, const ga_start_opts *o, ga_equation_block block,
                                 const ga_start_change *c, const char *what)
{
  char name[192] = "", coordinate[192] = "";
  const ga_system *sys = st->sys;
  if (c->worst_before >= 0) ga__describe(sys, block, c->worst_before, name, sizeof name);
  if (c->worst_change >= 0)
    ga__describe_unknown(sys, GA_BLOCK_V, c->worst_change, coordinate, sizeof coordinate);
  return ga__refuse(
      sys->ctx, GA_ERR_INCONSISTENT, GA_REASON_START_OFF,
      &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, (int)block, c->worst_before},
                   .field = "max_change",
                   .name = what,
                   .other = coordinate,
                   .equation = name,
                   GA__NUMBERS({c->residual_before, NULL}, {c->change, NULL}, {o->max_change, NULL})});
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

/* Whether the residuals of positions or velocities are at the level of rounding of q and v: compared with
 * residuals at values moved by their rounding. residual[n_rows]; level 0: Φ, 1: those of
 * velocity_residual(). */
ga_status ga__within_rounding(ga_stepper *st, int level, const double *offset, const double *residual,
                              int *yes, ga__scratch scratch)
{
  enum { PATTERNS = 4 };
  const double margin = 4.0;
  const ga_system *sys = st->sys;
  const int n = level ? sys->n : sys->size[GA_BLOCK_LAMBDA];
  double *q = ga__take(&scratch, sys->nq), *v = ga__take(&scratch, sys->nv), *moved = ga__take(&scratch, n),
         *change = ga__take(&scratch, n);
  ga_point p = ga__state_point(&st->now);
  *yes = 0;
  for (int i = 0; i < n; i++) change[i] = 0.0;
  p.q = q;
  if (level) p.v = v;
  for (unsigned k = 0; k < PATTERNS; k++) {
    ga__move_by_rounding(q, st->now.q, sys->nq, 1.0, k);
    if (level) ga__move_by_rounding(v, st->now.v, sys->nv, 1.0, k + PATTERNS);
    ga_status status = level ? velocity_residual(st, &p, offset, moved) : ga__call(sys, GA__PHI, &p, moved);
    if (status) return status;
    for (int i = 0; i < n; i++) change[i] = fmax(change[i], fabs(moved[i] - residual[i]));
  }
  for (int i = 0; i < n; i++)
    if (!(fabs(residual[i]) <= margin * change[i])) return GA_OK;
  *yes = 1;
  return GA_OK;
}

static ga_status fail_positions(ga_stepper *st, const ga_start_change *c)
{
  return ga__start_fail_inconsistent(st, GA_BLOCK_LAMBDA, c, "positions", GA__ONTO_CONSTRAINTS,
                                     c->iterations == GA__START_ITERATIONS
                                         ? "no convergence; the constraints may contradict each other"
                                         : "diverged");
}

ga_status ga__start_project_position(ga_stepper *st, const ga_start_opts *o, ga_start_change *c,
                                     ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  const size_t bytes = (size_t)sys->nq * sizeof(double);
  int nl = sys->size[GA_BLOCK_LAMBDA], consistent;
  double before = HUGE_VAL, *phi = ga__take(&scratch, nl);
  ga_point p = ga__state_point(f);
  ga_status status = ga__call(sys, GA__PHI, &p, phi);
  if (status) return status;
  c->residual_before = c->residual_after = ga__max_abs(phi, nl, &c->worst_before);
  if (!o->project || nl == 0) return GA_OK;
  status = ga__within_rounding(st, 0, NULL, phi, &consistent, scratch);
  if (status) return status;
  double *total = ga__take(&scratch, sys->nv), *d = ga__take(&scratch, sys->n),
         *rhs = d + sys->start[GA_BLOCK_LAMBDA], *best_q = ga__take(&scratch, sys->nq);
  memcpy(best_q, f->q, bytes);
  for (int i = 0; i < sys->nv; i++) total[i] = 0.0;
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == GA__START_ITERATIONS) return fail_positions(st, c);
    if ((status = ga__saddle_at(st, &p, 0))) return status;
    if (consistent) return GA_OK; /* keep q to the last bit */
    for (int i = 0; i < sys->n; i++) d[i] = 0.0;
    for (int i = 0; i < nl; i++) rhs[i] = -phi[i];
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
    double size = ga__max_abs(d, sys->nv, NULL) / (1.0 + ga__max_abs(f->q, sys->nq, NULL));
    if (!isfinite(size)) return fail_positions(st, c);
    if (c->iterations == 0 && size <= CONVERGED) return GA_OK;
    ga_group_move(sys->group, f->q, f->q, d);
    for (int i = 0; i < sys->nv; i++) total[i] += d[i];
    if ((status = ga__call(sys, GA__PHI, &p, phi))) return status;
    const double residual = ga__max_abs(phi, nl, NULL), best = c->residual_after;
    c->change = ga__max_abs(total, sys->nv, &c->worst_change);
    c->residual_after = residual;
    if (c->change > o->max_change * (1.0 + ga__max_abs(f->q, sys->nq, NULL)))
      return ga__start_fail_too_far(st, o, GA_BLOCK_LAMBDA, c, "positions");
    if (size <= STAGNATED && !(residual < best)) { /* rounding: the position before was better */
      memcpy(f->q, best_q, bytes);
      for (int i = 0; i < sys->nv; i++) total[i] -= d[i];
      c->residual_after = best;
      c->change = c->iterations ? ga__max_abs(total, sys->nv, &c->worst_change) : 0.0;
      return GA_OK;
    }
    memcpy(best_q, f->q, bytes);
    if (ga__start_has_converged(size, &before)) return GA_OK;
  }
}

/* residual: of velocity_residual(). */
static void record_velocity(const ga_system *sys, const double *residual, ga_start_change *c,
                            ga_start_change *ck, int first)
{
  const double *b = residual + sys->start[GA_BLOCK_LAMBDA], *k = residual + sys->start[GA_BLOCK_PSI];
  c->residual_after = ga__max_abs(b, sys->size[GA_BLOCK_LAMBDA], first ? &c->worst_before : NULL);
  ck->residual_after = ga__max_abs(k, sys->size[GA_BLOCK_PSI], first ? &ck->worst_before : NULL);
  if (first) c->residual_before = c->residual_after, ck->residual_before = ck->residual_after;
}

static ga_status fail_velocities_too_far(ga_stepper *st, const ga_start_opts *o, const ga_start_change *c,
                                         const ga_start_change *ck)
{
  const int slips = ck->residual_before > c->residual_before;
  ga_start_change said = slips ? *ck : *c;
  said.change = c->change, said.worst_change = c->worst_change; /* change of both together */
  return ga__start_fail_too_far(st, o, slips ? GA_BLOCK_PSI : GA_BLOCK_LAMBDA, &said, "velocities");
}

static ga_status fail_velocities(ga_stepper *st, const ga_start_change *c, const ga_start_change *ck)
{
  const int slips = ck->residual_after > c->residual_after;
  return ga__start_fail_inconsistent(st, slips ? GA_BLOCK_PSI : GA_BLOCK_LAMBDA, slips ? ck : c, "velocities",
                                     GA__ONTO_CONSTRAINTS,
                                     c->iterations == GA__START_ITERATIONS ? "no convergence" : "diverged");
}

ga_status ga__start_project_velocity(ga_stepper *st, const ga_start_opts *o, const double *offset,
                                     ga_start_change *c, ga_start_change *ck, ga__scratch scratch)
{
  const ga_system *sys = st->sys;
  ga__state *f = &st->now;
  ga_point p = ga__state_point(f);
  int consistent;
  double before = HUGE_VAL, *d = ga__take(&scratch, sys->n); /* the residual, then the increment */
  ga_status status = velocity_residual(st, &p, offset, d);
  if (status) return status;
  record_velocity(sys, d, c, ck, 1);
  if (!o->project || sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] == 0) return GA_OK;
  status = ga__within_rounding(st, 1, offset, d, &consistent, scratch);
  if (status) return status;
  double *total = ga__take(&scratch, sys->nv), *best_v = ga__take(&scratch, sys->nv);
  for (int i = 0; i < sys->nv; i++) total[i] = 0.0;
  for (c->iterations = 0;; c->iterations++) {
    if (c->iterations == GA__START_ITERATIONS) return fail_velocities(st, c, ck);
    if ((status = ga__saddle_at(st, &p, 0))) return status;
    if (consistent) return GA_OK;
    if ((status = ga__saddle_solve(&st->saddle, &st->red.null, d))) return status;
    double size = ga__max_abs(d, sys->nv, NULL) / (1.0 + ga__max_abs(f->v, sys->nv, NULL));
    if (!isfinite(size)) return fail_velocities(st, c, ck);
    if (c->iterations == 0 && size <= CONVERGED) return GA_OK;
    const double best = c->residual_after, best_k = ck->residual_after;
    memcpy(best_v, f->v, (size_t)sys->nv * sizeof(double));
    for (int i = 0; i < sys->nv; i++) f->v[i] += d[i], total[i] += d[i];
    if ((status = velocity_residual(st, &p, offset, d))) return status;
    record_velocity(sys, d, c, ck, 0);
    c->change = ga__max_abs(total, sys->nv, &c->worst_change);
    if (c->change > o->max_change * (1.0 + ga__max_abs(f->v, sys->nv, NULL)))
      return fail_velocities_too_far(st, o, c, ck);
    if (size <= STAGNATED && !(fmax(c->residual_after, ck->residual_after) < fmax(best, best_k))) {
      for (int i = 0; i < sys->nv; i++) total[i] -= f->v[i] - best_v[i];
      memcpy(f->v, best_v, (size_t)sys->nv * sizeof(double));
      c->residual_after = best, ck->residual_after = best_k;
      c->change = c->iterations ? ga__max_abs(total, sys->nv, &c->worst_change) : 0.0;
      return GA_OK;
    }
    if (ga__start_has_converged(size, &before)) return GA_OK;
  }
}

ga_status ga__start_make_singular_fatal(ga_stepper *st, ga_status status)
{
  if (status != GA_RETRY_SINGULAR) return status;
  st->ctx->error.status = GA_ERR_SINGULAR;
  return GA_ERR_SINGULAR;
}

ga_status ga_stepper_project_velocity(ga_stepper *st, ga_projection kind, ga_start_change *change)
{
  if (!st) return GA_ERR_ARGUMENT;
  if (!st->has_state) return ga__refuse_order(st->ctx, __func__, "after ga_stepper_start()");
  if (kind != GA_PROJECT_PLAIN && kind != GA_PROJECT_OFFSET)
    return ga__refuse_choice(st->ctx, "stepper", "kind", (int)kind, "ga_projection", GA_PROJECT_OFFSET);
  st->can_undo = 0; /* `next` serves as work space */
  const ga__scratch scratch = ga__stack_begin(&st->scratch);
  st->tried = GA__ACCEPTED;
  ga_status status = ga__ready_relations(st);
  if (status) return status;
  ga__state *f = &st->now;
  double h = f->scalar[GA__H_OLD] > 0.0 ? f->scalar[GA__H_OLD] : f->scalar[GA__H_START];
  int with_offset = kind == GA_PROJECT_OFFSET && ga__has_offset(st);
  ga_start_opts o = {h, 1, 0, 0, HUGE_VAL, HUGE_VAL, 0, NULL};
  ga_start_change c = ga__start_no_change(), ck = ga__start_no_change();
  if (with_offset) {
    if ((status = ga__start_compute_jerk(st, h, 0, scratch))) return status;
    status = ga__start_normal_offset(st, f->scalar[GA__KAPPA_H2], h * h, st->offset, scratch);
    if (status) return status;
  }
  memcpy(st->next.v, f->v, (size_t)st->sys->nv * sizeof(double));
  status = ga__start_project_velocity(st, &o, with_offset ? st->offset : NULL, &c, &ck, scratch);
  if (status) memcpy(f->v, st->next.v, (size_t)st->sys->nv * sizeof(double));
  if (change) *change = c;
  return ga__start_make_singular_fatal(st, status);
}
