/* Laws of the forces of tyres along the road.
 *
 *   tanh    f = F_z (C_κ κ, C_α λ − C_γ γ),  F = f tanh(s)/s,  s = |f|/(μ F_z)
 *   brush   F = f (1 − s + s²/3),  s = |f|/(3 μ F_z);  F = μ F_z f/|f| from s = 1 on, where it is C²
 *   magic   Magic Formula: D sin(C atan(B x − E (B x − atan B x))), weighted by cosines in combined slip
 *
 * H. B. Pacejka, Tyre and Vehicle Dynamics, 2nd edition, 2006, section 4.3 (forces). */
#include "mbs/tyre_law.h"

/* ---- Saturated linear laws ---- */

/* tanh(s)/s and its derivative. */
static double tanh_ratio(double s, double *slope)
{
  if (s < 1e-2) {
    const double q = s * s;
    *slope = s * (-2. / 3 + q * (8. / 15 - q * (34. / 105)));
    return 1 + q * (-1. / 3 + q * (2. / 15 - q * (17. / 315)));
  }
  const double T = tanh(s);
  *slope = ((1 - T * T) - T / s) / s;
  return T / s;
}

/* The factor of f for the brush model, with s = |f|/(3 μ F_z). */
static double brush_ratio(double s, double *slope)
{
  if (s < 1) {
    *slope = -1 + 2 * s / 3;
    return 1 - s + s * s / 3;
  }
  *slope = -1 / (3 * s * s);
  return 1 / (3 * s);
}

static void saturated(const ga_tyre_def *d, const ga__tyre_slip *in, ga__dual *Fx, ga__dual *Fy)
{
  const ga__dual turn = ga__dual_linear(&in->slip[1], d->cornering_stiffness, 0),
                 lean = ga__dual_linear(&in->camber, d->camber_stiffness, 0);
  const ga__dual g[2] = {ga__dual_linear(&in->slip[0], d->slip_stiffness, 0), ga__dual_sub(&turn, &lean)};
  const int brush = d->kind == GA_TYRE_BRUSH;
  const ga__dual limit = ga__dual_linear(&in->mu, brush ? 3 * d->mu : d->mu, 0),
                 size = ga__dual_hypot(&g[0], &g[1]);
  double slope = 0, ratio = 0;
  ga__dual factor = limit; /* without friction: no force */
  if (limit.v > 0) {
    const ga__dual s = ga__dual_div(&size, &limit);
    ratio = brush ? brush_ratio(s.v, &slope) : tanh_ratio(s.v, &slope);
    factor = ga__dual_chain(&s, ratio, slope);
  }
  factor = ga__dual_mul(&factor, &in->load);
  *Fx = ga__dual_mul(&factor, &g[0]);
  *Fy = ga__dual_mul(&factor, &g[1]);
}

/* ---- Magic Formula ---- */

/* [rad] |γ| is √(γ² + ε²) − ε, without a corner where wheels are upright */
#define ROUNDING 1e-3

static ga__dual atan_of(const ga__dual *a)
{
  return ga__dual_chain(a, atan(a->v), 1 / (1 + a->v * a->v));
}

static ga__dual sin_of(const ga__dual *a)
{
  return ga__dual_chain(a, sin(a->v), cos(a->v));
}

static ga__dual cos_of(const ga__dual *a)
{
  return ga__dual_chain(a, cos(a->v), -sin(a->v));
}

/* C atan(B x − E (B x − atan B x)) */
static ga__dual curve(double C, const ga__dual *B, const ga__dual *E, const ga__dual *x)
{
  const ga__dual Bx = ga__dual_mul(B, x), bend = atan_of(&Bx);
  ga__dual gap = ga__dual_sub(&Bx, &bend);
  gap = ga__dual_mul(E, &gap);
  const ga__dual inner = ga__dual_sub(&Bx, &gap), angle = atan_of(&inner);
  return ga__dual_linear(&angle, C, 0);
}

/* cos(atan(b x)) = 1/√(1 + b² x²) */
static ga__dual fade(double b, const ga__dual *x)
{
  const double q = b * x->v, h = 1 / sqrt(1 + q * q);
  return ga__dual_chain(x, h, -h * h * h * q * b);
}

static double sign_of(double x)
{
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* a + b f */
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

/* D sin(curve) + S_V with B = K/(C D). */
static ga__dual pure(double C, ga__dual D, ga__dual K, ga__dual E, ga__dual x, ga__dual lift)
{
  const ga__dual CD = ga__dual_linear(&D, C, 0), B = ga__dual_div(&K, &CD), angle = curve(C, &B, &E, &x);
  return plus(times(D, sin_of(&angle)), lift);
}

/* cos(curve(x + S_H)) / cos(curve(S_H)) */
static ga__dual weight(double C, ga__dual B, ga__dual E, ga__dual x, ga__dual shift)
{
  const ga__dual moved = plus(x, shift), angle = curve(C, &B, &E, &moved), still = curve(C, &B, &E, &shift);
  const ga__dual top = cos_of(&angle), bottom = cos_of(&still);
  return ga__dual_div(&top, &bottom);
}

typedef struct magic {
  const ga_tyre_def *d;
  ga__dual kappa, alpha, gamma, gamma2, load, dfz, mu;
} magic;

static ga__dual pure_x(const magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual x = plus(w->kappa, line(d->phx1, d->phx2, &w->dfz));
  const ga__dual grip =
      times(line(d->pdx1 * d->lmux, d->pdx2 * d->lmux, &w->dfz), line(1, -d->pdx3, &w->gamma2));
  const ga__dual bend = plus(line(d->pex1, d->pex2, &w->dfz), times(line(0, d->pex3, &w->dfz), w->dfz));
  const ga__dual grow = ga__dual_chain(&w->dfz, exp(d->pkx3 * w->dfz.v), d->pkx3 * exp(d->pkx3 * w->dfz.v));
  const ga__dual K = times(times(w->load, line(d->pkx1 * d->lkx, d->pkx2 * d->lkx, &w->dfz)), grow);
  const ga__dual weight_load = times(w->load, w->mu),
                 lift = line(d->pvx1 * d->lmux, d->pvx2 * d->lmux, &w->dfz);
  return pure(d->pcx1, times(grip, weight_load), K, ga__dual_linear(&bend, 1 - d->pex4 * sign_of(x.v), 0), x,
              times(weight_load, lift));
}

/* μ_y without the road's factor */
static ga__dual grip_y(const magic *w)
{
  const ga_tyre_def *d = w->d;
  return times(line(d->pdy1 * d->lmuy, d->pdy2 * d->lmuy, &w->dfz), line(1, -d->pdy3, &w->gamma2));
}

static ga__dual pure_y(const magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual x = plus(w->alpha, plus(line(d->phy1, d->phy2, &w->dfz), line(0, d->phy3, &w->gamma)));
  const double ratio = w->load.v / (d->pky2 * d->nominal_load), turn = 2 * atan(ratio),
               by = 2 / ((1 + ratio * ratio) * d->pky2 * d->nominal_load),
               top = d->pky1 * d->lky * d->nominal_load;
  const ga__dual still = ga__dual_const(w->load.n, ROUNDING), lean = ga__dual_hypot(&w->gamma, &still);
  const ga__dual K = times(ga__dual_chain(&w->load, top * sin(turn), top * cos(turn) * by),
                           line(1 + d->pky3 * ROUNDING, -d->pky3, &lean));
  const ga__dual asymmetry = line(1 - d->pey3 * sign_of(x.v), -d->pey4 * sign_of(x.v), &w->gamma);
  const ga__dual weight_load = times(w->load, w->mu);
  const ga__dual lift =
      plus(line(d->pvy1, d->pvy2, &w->dfz), times(line(d->pvy3, d->pvy4, &w->dfz), w->gamma));
  return pure(d->pcy1, times(grip_y(w), weight_load), K, times(line(d->pey1, d->pey2, &w->dfz), asymmetry), x,
              times(weight_load, ga__dual_linear(&lift, d->lmuy, 0)));
}

/* S_Vyκ: side force by slip along, D cos(atan(r₄ α)) sin(r₅ atan(r₆ κ)). */
static ga__dual lift_by_slip(const magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual slope = plus(line(d->rvy1, d->rvy2, &w->dfz), line(0, d->rvy3, &w->gamma));
  const ga__dual steep = line(0, d->rvy6, &w->kappa), angle = atan_of(&steep),
                 wave = line(0, d->rvy5, &angle);
  const ga__dual D = times(times(times(grip_y(w), times(w->load, w->mu)), slope), fade(d->rvy4, &w->alpha));
  return times(D, sin_of(&wave));
}

static void magic_formula(const ga_tyre_def *d, const ga__tyre_slip *in, ga__dual *Fx, ga__dual *Fy)
{
  magic w = {.d = d, .kappa = in->slip[0], .gamma = in->camber, .load = in->load, .mu = in->mu};
  const int n = in->load.n;
  w.alpha = atan_of(&in->slip[1]);
  w.alpha = ga__dual_linear(&w.alpha, -1, 0);
  w.gamma2 = ga__dual_mul(&w.gamma, &w.gamma);
  w.dfz = ga__dual_linear(&w.load, 1 / d->nominal_load, -1);
  *Fx = *Fy = ga__dual_const(n, 0);
  if (!(w.mu.v > 0)) return;
  const ga__dual off = ga__dual_linear(&w.alpha, 1, -d->rby3);
  const ga__dual by_alpha = fade(d->rbx2, &w.kappa), by_kappa = fade(d->rby2, &off);
  *Fx = times(pure_x(&w), weight(d->rcx1, ga__dual_linear(&by_alpha, d->rbx1, 0),
                                 line(d->rex1, d->rex2, &w.dfz), w.alpha, ga__dual_const(n, d->rhx1)));
  *Fy = times(pure_y(&w), weight(d->rcy1, ga__dual_linear(&by_kappa, d->rby1, 0),
                                 line(d->rey1, d->rey2, &w.dfz), w.kappa, line(d->rhy1, d->rhy2, &w.dfz)));
  *Fy = plus(*Fy, lift_by_slip(&w));
}

void ga__tyre_law(const ga_tyre_def *def, const ga__tyre_slip *in, ga__dual *Fx, ga__dual *Fy)
{
  if (def->kind == GA_TYRE_MAGIC)
    magic_formula(def, in, Fx, Fy);
  else
    saturated(def, in, Fx, Fy);
}
