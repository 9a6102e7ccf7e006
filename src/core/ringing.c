/* Multipliers that ring: along the constraints, a method that does not keep velocities on them has the
 * multiple root −ρ∞ of infinitely stiff motions. Small terms split a multiple root by their roots: where
 * bodies turn within a step, as wheels do, one of them may be larger than 1. Then λ changes sides with every
 * step, and grows.
 *
 *   b_n = λ_n − 2λ_{n−1} + λ_{n−2},  it turns round where b_n·b_{n−1} < −|b_n| |b_{n−1}|/2
 *
 * A motion that steps resolve has hardly any b, and what a jump leaves behind rings and decays. So it is
 * reported where b turns round in most steps of three windows, is larger in each of them, and counts. */
#include "core/ringing.h"

#include <math.h>

enum { WINDOW = 24, TURNS = 18 }; /* steps; those of them in which it turns round */
#define GROWS 1.3                 /* from window to window: 1.1 % a step */
#define COUNTS 1e-6               /* [-] of the largest multiplier */

int ga__may_ring(const ga_stepper *st)
{
  return !st->method->keeps_rates && st->sys->size[GA_BLOCK_LAMBDA] > 0;
}

void ga__ringing_reset(ga__ringing *r)
{
  r->known = r->n = r->turned = 0;
  r->most = r->before[0] = r->before[1] = 0.0;
}

/* The bend of this step, kept in place of the last one; *along: their product. Returns its size. */
static double next_bend(ga__ringing *r, const double *lambda, int n, double *along)
{
  double size = 0.0, before = 0.0;
  *along = 0.0;
  for (int i = 0; i < n; i++) {
    const double slope = lambda[i] - r->last[i], bend = slope - r->slope[i];
    *along += bend * r->bend[i];
    before += r->bend[i] * r->bend[i];
    size += bend * bend;
    r->last[i] = lambda[i], r->slope[i] = slope, r->bend[i] = bend;
  }
  *along /= fmax(sqrt(size * before), 1e-300);
  return sqrt(size);
}

static void warn(ga_stepper *st, ga_simulate_stats *stats)
{
  ga_method_info info = {.name = "it"};
  ga_method_at((int)st->opts.method, &info);
  stats->ringing = 1;
  stats->t_ringing = st->now.scalar[GA__T];
  ga__log(st->ctx, GA_LOG_WARNING, GA_REASON_MULTIPLIERS_RING,
          &(ga__facts){.at = &(ga__fact_time){stats->t_ringing, NAN, -1, -1}, .name = info.name});
}

/* At the end of a window. */
static void judge_window(ga__ringing *r, ga_stepper *st, ga_simulate_stats *stats)
{
  const int n = st->sys->size[GA_BLOCK_LAMBDA];
  const int rings = r->turned >= TURNS;
  if (rings && r->before[0] > 0.0 && r->before[1] > GROWS * r->before[0] && r->most > GROWS * r->before[1] &&
      r->most > COUNTS * ga__max_abs(r->last, n, NULL))
    warn(st, stats);
  r->before[0] = rings ? r->before[1] : 0.0;
  r->before[1] = rings ? r->most : 0.0;
  r->n = r->turned = 0;
  r->most = 0.0;
}

void ga__ringing_watch(ga__ringing *r, ga_stepper *st, ga_simulate_stats *stats)
{
  const double h = st->now.scalar[GA__H_OLD];
  double along;
  if (!r->last || stats->ringing) return;
  if (r->known > 0 && fabs(h - r->h) > 1e-6 * h) ga__ringing_reset(r);
  r->h = h;
  const double size = next_bend(r, st->now.lambda, st->sys->size[GA_BLOCK_LAMBDA], &along);
  if (r->known < 3) {
    r->known++;
    return;
  }
  r->turned += along < -0.5;
  r->most = fmax(r->most, size);
  if (++r->n == WINDOW) judge_window(r, st, stats);
}
