/* Moments of tyres at the point of contact.
 *
 *   M_z = −t (F_y − S_Vyκ) + M_zr + s F_x                                   aligning moment, Magic Formula
 *   t = D_t cos(C_t atan(B_t α_t − E_t (B_t α_t − atan B_t α_t))) c         pneumatic trail
 *   M_zr = D_r cos(atan(B_r α_r)) c                                         residual moment
 *   M_x = R F_z (q_sx1 − q_sx2 γ + q_sx3 F_y/F_z0)                          overturning moment
 *   M_y = −R F_z (q_sy1 + q_sy2 F_x/F_z0 + q_sy3 |v_x|/v_0 + q_sy4 (v_x/v_0)⁴) ω/√(ω² + (V₀/R)²)
 *
 * with c = cos α v_x/V. In combined slip α_t becomes atan √(tan² α_t + (K_x κ/K_y)²), but not in E_t, and α_r
 * likewise. The bracket of M_y is never negative, so that it only takes energy.
 *
 * H. B. Pacejka, Tyre and Vehicle Dynamics, 2nd edition, 2006, section 4.3. */
#include "mbs/tyre_law.h"

static ga__dual line(double a, double b, const ga__dual *f)
{
  return ga__dual_linear(f, b, a);
}

static ga__dual times(ga__dual a, ga__dual b)
{
  return ga__dual_mul(&a, &b);
}

static ga__dual plus(ga__dual a, ga__dual b)
{
  return ga__dual_add(&a, &b);
}

static ga__dual over(ga__dual a, ga__dual b)
{
  return ga__dual_div(&a, &b);
}

/* a + b f + c f² */
static ga__dual parabola(double a, double b, double c, const ga__dual *f)
{
  return ga__dual_chain(f, a + f->v * (b + f->v * c), b + 2 * c * f->v);
}

static ga__dual atan_of(const ga__dual *a)
{
  return ga__dual_chain(a, atan(a->v), 1 / (1 + a->v * a->v));
}

/* |γ| without its corner, and angles over their size */
static ga__dual size_of(const ga__dual *a)
{
  const ga__dual round = ga__dual_const(a->n, GA__MAGIC_ROUNDING);
  return ga__dual_hypot(a, &round);
}

/* ---- Aligning moment ---- */

/* atan √(tan² α + (K_x κ/K_y)²) */
static ga__dual with_slip(const ga__dual *alpha, const ga__dual *stretch)
{
  const double t = tan(alpha->v);
  const ga__dual slope = ga__dual_chain(alpha, t, 1 + t * t), both = ga__dual_hypot(&slope, stretch);
  return atan_of(&both);
}

static ga__dual trail(const ga__magic *w, const ga__dual *stretch)
{
  const ga_tyre_def *d = w->d;
  const ga__dual lean = size_of(&w->gamma);
  const ga__dual alpha = plus(w->alpha, plus(line(d->qhz1, d->qhz2, &w->dfz),
                                             times(line(d->qhz3, d->qhz4, &w->dfz), w->gamma))),
                 size = with_slip(&alpha, stretch);
  const ga__dual camber =
      plus(line(1, d->qbz4, &w->gamma), line(-d->qbz5 * GA__MAGIC_ROUNDING, d->qbz5, &lean));
  const ga__dual steep = times(parabola(d->qbz1, d->qbz2, d->qbz3, &w->dfz), camber),
                 B = line(0, d->lky / d->lmuy, &steep);
  const ga__dual D =
      times(times(times(w->load, line(d->qdz1, d->qdz2, &w->dfz)), parabola(1, d->qdz3, d->qdz4, &w->gamma)),
            ga__dual_const(w->load.n, d->radius / d->nominal_load * d->ltr));
  const ga__dual wide = times(B, line(0, d->qcz1, &alpha)), bend = atan_of(&wide),
                 asymmetry =
                     times(line(d->qez4, d->qez5, &w->gamma), line(0, 2 / 3.14159265358979323846, &bend));
  const ga__dual E = times(parabola(d->qez1, d->qez2, d->qez3, &w->dfz), line(1, 1, &asymmetry));
  const ga__dual angle = ga__magic_curve(d->qcz1, &B, &E, &size);
  return times(D, ga__dual_chain(&angle, cos(angle.v), -sin(angle.v)));
}

static ga__dual residual(const ga__magic *w, const ga__dual *stretch)
{
  const ga_tyre_def *d = w->d;
  const ga__dual alpha = plus(w->alpha, w->shift), size = with_slip(&alpha, stretch);
  const ga__dual B = line(d->qbz9 * d->lky / d->lmuy, d->qbz10, &w->BCy), x = times(B, size),
                 root = ga__dual_chain(&x, 1 / sqrt(1 + x.v * x.v), -x.v / pow(1 + x.v * x.v, 1.5));
  const ga__dual even = line(d->qdz6 * d->lres, d->qdz7 * d->lres, &w->dfz),
                 leaning = times(line(d->qdz8, d->qdz9, &w->dfz), w->gamma),
                 D = times(plus(even, leaning), w->mu);
  return times(times(times(w->load, D), root), ga__dual_const(w->load.n, d->radius * d->lmuy));
}

void ga__magic_moments(const ga__magic *w, const ga__tyre_slip *in, ga__tyre_forces *out)
{
  const ga_tyre_def *d = w->d;
  const double side = 1 / sqrt(1 + in->slip[1].v * in->slip[1].v);
  const ga__dual cosine = ga__dual_chain(&in->slip[1], side, -side * side * side * in->slip[1].v),
                 ahead = times(cosine, over(in->vx, in->V)), stretch = times(over(w->Kx, w->Ky), w->kappa);
  const ga__dual side_force = ga__dual_sub(&out->Fy, &w->lift);
  const ga__dual arm = plus(line(d->ssz1, d->ssz2 / d->nominal_load, &out->Fy),
                            times(line(d->ssz3, d->ssz4, &w->dfz), w->gamma)),
                 by_drive = times(line(0, d->radius * d->ls, &arm), out->Fx);
  const ga__dual behind = times(trail(w, &stretch), side_force), rest = residual(w, &stretch),
                 by_side = times(ga__dual_sub(&rest, &behind), ahead);
  out->Mz = plus(by_side, by_drive);
  const ga__dual over_turn =
      plus(line(d->qsx1, -d->qsx2, &w->gamma), line(0, d->qsx3 / d->nominal_load, &out->Fy));
  out->Mx = times(w->load, line(0, d->radius * d->lmx, &over_turn));
}

/* ---- Resistance ---- */

/* x/√(x² + floor²) */
static ga__dual saturated(const ga__dual *x, const ga__dual *floor)
{
  return over(*x, ga__dual_hypot(x, floor));
}

/* The bracket of M_y by the coefficients qsy. */
static ga__dual resistance_of(const ga_tyre_def *d, const ga__tyre_slip *in, const ga__tyre_forces *out)
{
  const double v0 = d->reference_speed;
  const ga__dual speed = over(times(in->vx, in->vx), in->V), u = line(0, 1 / v0, &in->vx);
  const ga__dual sum = plus(line(d->qsy1, d->qsy2 / d->nominal_load, &out->Fx),
                            plus(line(0, d->qsy3 / v0, &speed),
                                 ga__dual_chain(&u, d->qsy4 * pow(u.v, 4), 4 * d->qsy4 * pow(u.v, 3))));
  return sum.v * d->lmy > 0 ? line(0, d->lmy, &sum) : ga__dual_const(sum.n, 0);
}

void ga__tyre_resist(const ga_tyre_def *d, const ga__tyre_slip *in, double mu, ga__tyre_forces *out)
{
  const ga__dual slow = ga__dual_const(in->load.n, d->speed / d->radius);
  ga__dual arm = line(0, d->rolling_resistance, &in->distance);
  if (d->kind == GA_TYRE_MAGIC) {
    const ga__dual factor = resistance_of(d, in, out);
    arm = plus(arm, line(0, d->radius, &factor));
  }
  const ga__dual sign = saturated(&in->spin, &slow), My = times(times(in->load, arm), sign);
  out->My = line(0, -1, &My);
  if (!(d->turn_radius > 0)) return;
  const ga__dual u = line(0, d->turn_radius, &in->turn), grip = times(in->load, in->mu),
                 M = times(grip, saturated(&u, &in->V));
  out->Mz = plus(out->Mz, line(0, -mu * d->turn_radius, &M));
}
