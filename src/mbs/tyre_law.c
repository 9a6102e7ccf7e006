/* Laws of the forces of tyres along the road, and their aligning moments.
 *
 *   tanh    f = F_z (C_κ κ, C_α λ − C_γ γ),  F = f tanh(s)/s,  s = |f|/(μ F_z)
 *   brush   F = f (1 − s + s²/3),  s = |f|/(3 μ F_z);  F = μ F_z f/|f| from s = 1 on, where it is C²
 *   magic   Magic Formula: D sin(C atan(B x − E (B x − atan B x))), weighted by cosines in combined slip; E
 * is at most 1, beyond which forces of large slips would change their sign
 *
 * The aligning moment of both saturated laws is −t F_y v_x/V, with a pneumatic trail t that vanishes as the
 * patch slides. Of the brush: side forces of bristles, c y with y = λ(a − x) from the leading edge on up to
 * where they slide under the parabolic pressure, have the sum F_y above and the moment  −a/3 f_y (1 − s)³, a
 * half of the patch's length.
 *
 * H. B. Pacejka, Tyre and Vehicle Dynamics, 2nd edition, 2006, sections 3.2 (brush), 4.3 (Magic Formula). */
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

/* Trail by `trail`, times the factor of f: of the brush (1 − s)³, otherwise tanh(s)/(s cosh² s). */
static double trail_ratio(int brush, double s, double ratio, double slope, double *by_s)
{
  const double c = cosh(fmin(s, 300)), rest = fmax(1 - s, 0);
  *by_s = brush ? -3 * rest * rest : (slope - 2 * ratio * tanh(s)) / (c * c);
  return brush ? rest * rest * rest : ratio / (c * c);
}

static void saturated(const ga_tyre_def *d, const ga__tyre_slip *in, ga__tyre_forces *out)
{
  const ga__dual turn = ga__dual_linear(&in->slip[1], d->cornering_stiffness, 0),
                 lean = ga__dual_linear(&in->camber, d->camber_stiffness, 0);
  const ga__dual g[2] = {ga__dual_linear(&in->slip[0], d->slip_stiffness, 0), ga__dual_sub(&turn, &lean)};
  const int brush = d->kind == GA_TYRE_BRUSH;
  const ga__dual limit = ga__dual_linear(&in->mu, brush ? 3 * d->mu : d->mu, 0),
                 size = ga__dual_hypot(&g[0], &g[1]);
  double slope = 0, ratio = 0;
  ga__dual factor = limit, trail = limit; /* without friction: no force */
  if (limit.v > 0) {
    const ga__dual s = ga__dual_div(&size, &limit);
    double by_s;
    ratio = brush ? brush_ratio(s.v, &slope) : tanh_ratio(s.v, &slope);
    factor = ga__dual_chain(&s, ratio, slope);
    const double t = d->trail * trail_ratio(brush, s.v, ratio, slope, &by_s);
    trail = ga__dual_chain(&s, -t, -d->trail * by_s);
  }
  factor = ga__dual_mul(&factor, &in->load);
  out->Fx = ga__dual_mul(&factor, &g[0]);
  out->Fy = ga__dual_mul(&factor, &g[1]);
  const ga__dual forward = ga__dual_div(&in->vx, &in->V), f = ga__dual_mul(&in->load, &g[1]),
                 ahead = ga__dual_mul(&f, &forward);
  out->Mz = ga__dual_mul(&trail, &ahead);
  ga__tyre_resist(d, in, d->mu, out);
}

/* ---- Magic Formula ---- */

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

ga__dual ga__magic_curve(double C, const ga__dual *B, const ga__dual *E, const ga__dual *x)
{
  const ga__dual Bx = ga__dual_mul(B, x), bend = atan_of(&Bx);
  const ga__dual one = ga__dual_const(x->n, 1);
  ga__dual gap = ga__dual_sub(&Bx, &bend);
  gap = ga__dual_mul(E->v > 1 ? &one : E, &gap);
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
  const ga__dual CD = ga__dual_linear(&D, C, 0), B = ga__dual_div(&K, &CD),
                 angle = ga__magic_curve(C, &B, &E, &x);
  return plus(times(D, sin_of(&angle)), lift);
}

/* cos(curve(x + S_H)) / cos(curve(S_H)) */
static ga__dual weight(double C, ga__dual B, ga__dual E, ga__dual x, ga__dual shift)
{
  const ga__dual moved = plus(x, shift), angle = ga__magic_curve(C, &B, &E, &moved),
                 still = ga__magic_curve(C, &B, &E, &shift);
  const ga__dual top = cos_of(&angle), bottom = cos_of(&still);
  return ga__dual_div(&top, &bottom);
}

static ga__dual pure_x(ga__magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual x = plus(w->kappa, line(d->phx1, d->phx2, &w->dfz));
  const ga__dual grip =
      times(line(d->pdx1 * d->lmux, d->pdx2 * d->lmux, &w->dfz), line(1, -d->pdx3, &w->gamma2));
  const ga__dual bend = plus(line(d->pex1, d->pex2, &w->dfz), times(line(0, d->pex3, &w->dfz), w->dfz));
  const ga__dual grow = ga__dual_chain(&w->dfz, exp(d->pkx3 * w->dfz.v), d->pkx3 * exp(d->pkx3 * w->dfz.v));
  const ga__dual K = w->Kx = times(times(w->load, line(d->pkx1 * d->lkx, d->pkx2 * d->lkx, &w->dfz)), grow);
  const ga__dual weight_load = times(w->load, w->mu),
                 lift = line(d->pvx1 * d->lmux, d->pvx2 * d->lmux, &w->dfz);
  return pure(d->pcx1, times(grip, weight_load), K, ga__dual_linear(&bend, 1 - d->pex4 * sign_of(x.v), 0), x,
              times(weight_load, lift));
}

/* μ_y without the road's factor */
static ga__dual grip_y(const ga__magic *w)
{
  const ga_tyre_def *d = w->d;
  return times(line(d->pdy1 * d->lmuy, d->pdy2 * d->lmuy, &w->dfz), line(1, -d->pdy3, &w->gamma2));
}

static ga__dual pure_y(ga__magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual shift = plus(line(d->phy1, d->phy2, &w->dfz), line(0, d->phy3, &w->gamma)),
                 x = plus(w->alpha, shift);
  const double ratio = w->load.v / (d->pky2 * d->nominal_load), turn = 2 * atan(ratio),
               by = 2 / ((1 + ratio * ratio) * d->pky2 * d->nominal_load),
               top = d->pky1 * d->lky * d->nominal_load;
  const ga__dual still = ga__dual_const(w->load.n, GA__MAGIC_ROUNDING),
                 lean = ga__dual_hypot(&w->gamma, &still);
  const ga__dual K = times(ga__dual_chain(&w->load, top * sin(turn), top * cos(turn) * by),
                           line(1 + d->pky3 * GA__MAGIC_ROUNDING, -d->pky3, &lean));
  const ga__dual asymmetry = line(1 - d->pey3 * sign_of(x.v), -d->pey4 * sign_of(x.v), &w->gamma);
  const ga__dual weight_load = times(w->load, w->mu);
  const ga__dual lift =
      plus(line(d->pvy1, d->pvy2, &w->dfz), times(line(d->pvy3, d->pvy4, &w->dfz), w->gamma));
  const ga__dual D = times(grip_y(w), weight_load),
                 rise = times(weight_load, ga__dual_linear(&lift, d->lmuy, 0));
  w->Ky = K;
  w->BCy = ga__dual_div(&K, &D);
  w->shift = plus(shift, ga__dual_div(&rise, &K));
  return pure(d->pcy1, D, K, times(line(d->pey1, d->pey2, &w->dfz), asymmetry), x, rise);
}

/* S_Vyκ: side force by slip along, D cos(atan(r₄ α)) sin(r₅ atan(r₆ κ)). */
static ga__dual lift_by_slip(const ga__magic *w)
{
  const ga_tyre_def *d = w->d;
  const ga__dual slope = plus(line(d->rvy1, d->rvy2, &w->dfz), line(0, d->rvy3, &w->gamma));
  const ga__dual steep = line(0, d->rvy6, &w->kappa), angle = atan_of(&steep),
                 wave = line(0, d->rvy5, &angle);
  const ga__dual D = times(times(times(grip_y(w), times(w->load, w->mu)), slope), fade(d->rvy4, &w->alpha));
  return times(D, sin_of(&wave));
}

static void magic_formula(const ga_tyre_def *d, const ga__tyre_slip *in, ga__tyre_forces *out)
{
  ga__magic w = {.d = d, .kappa = in->slip[0], .gamma = in->camber, .load = in->load, .mu = in->mu};
  const int n = in->load.n;
  w.alpha = atan_of(&in->slip[1]);
  w.alpha = ga__dual_linear(&w.alpha, -1, 0);
  w.gamma2 = ga__dual_mul(&w.gamma, &w.gamma);
  w.dfz = ga__dual_linear(&w.load, 1 / d->nominal_load, -1);
  if (w.mu.v > 0) {
    const ga__dual off = ga__dual_linear(&w.alpha, 1, -d->rby3);
    const ga__dual by_alpha = fade(d->rbx2, &w.kappa), by_kappa = fade(d->rby2, &off);
    out->Fx = times(pure_x(&w), weight(d->rcx1, ga__dual_linear(&by_alpha, d->rbx1, 0),
                                       line(d->rex1, d->rex2, &w.dfz), w.alpha, ga__dual_const(n, d->rhx1)));
    out->Fy =
        times(pure_y(&w), weight(d->rcy1, ga__dual_linear(&by_kappa, d->rby1, 0),
                                 line(d->rey1, d->rey2, &w.dfz), w.kappa, line(d->rhy1, d->rhy2, &w.dfz)));
    w.lift = lift_by_slip(&w);
    out->Fy = plus(out->Fy, w.lift);
    ga__magic_moments(&w, in, out);
  }
  ga__tyre_resist(d, in, d->pdy1 * d->lmuy, out);
}

/* A tyre of the other side: y is exchanged with −y. */
static void exchange_sides(ga__dual *const list[], int n)
{
  for (int i = 0; i < n; i++) *list[i] = ga__dual_linear(list[i], -1, 0);
}

void ga__tyre_law(const ga_tyre_def *def, const ga__tyre_slip *in, ga__tyre_forces *out)
{
  ga__tyre_slip own = *in;
  ga__dual *const given[] = {&own.slip[1], &own.camber, &own.turn}, *const found[] = {&out->Fy, &out->Mx,
                                                                                      &out->Mz};
  if (def->mirrored) exchange_sides(given, 3);
  out->Fx = out->Fy = out->Mx = out->My = out->Mz = ga__dual_const(in->load.n, 0);
  (def->kind == GA_TYRE_MAGIC ? magic_formula : saturated)(def, &own, out);
  if (def->mirrored) exchange_sides(found, 3);
}
