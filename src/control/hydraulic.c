/* Blocks of hydraulic circuits: orifices and valves, chambers. */
#include "control/control_impl.h"
#include "expr/same.h"
#include <math.h>
#include <string.h>

static const ga__block_type ORIFICE, CHAMBER;

/* ---- Orifice: Q = opening K s/(s² + d²)^¼,  s = Δp, or chk(Δp) for a check valve ----
 *
 *   chk(p) = ½(p + √(p² + w²)) − ½w,   Q_s = opening K (½s² + d²)/(s² + d²)^(5/4) */

ga_block_orifice_opts ga_block_orifice_defaults(void)
{
  return (ga_block_orifice_opts){.transition = 1e5, .check_width = 200};
}

ga_status ga_block_create_orifice(ga_context *ctx, const ga_block_orifice_opts *opts, ga_control_block **out)
{
  static const char *const in_names[] = {"inlet", "outlet", "opening"};
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_ORIFICE, opts, out);
  if (in.status) return in.status;
  ga__want_positive(&in, "coefficient", opts->coefficient);
  ga__want_positive(&in, "transition", opts->transition);
  if (opts->check) ga__want_positive_with(&in, "check_width", opts->check_width, "with check");
  const ga__block_sizes n = {opts->controlled ? 3 : 2, 0, 1};
  if (!in.status)
    in.status = ga__block_new(ctx, GA_KIND_ORIFICE, &ORIFICE, n, &(ga_block_names){.in = in_names}, out);
  if (in.status) return in.status;
  memset((*out)->depends, 1, (size_t)n.n_in);
  (*out)->data.orifice =
      (ga__orifice){opts->coefficient, opts->transition, opts->check ? opts->check_width : 0};
  return ga_block_set_unit(*out, 0, "m^3/s");
}

/* K s/(s² + d²)^¼ and its slope by Δp. */
static double flow_of(const ga_control_block *b, const double *u, double *slope)
{
  const ga__orifice *o = &b->data.orifice;
  const double drop = u[0] - u[1], root = hypot(drop, o->width);
  const double s = o->width > 0 ? 0.5 * (drop + root) - 0.5 * o->width : drop;
  const double by_drop = o->width > 0 ? 0.5 * (1 + drop / root) : 1, d2 = o->transition * o->transition;
  const double size = sqrt(hypot(s, o->transition)); /* (s² + d²)^¼ */
  *slope = o->coefficient * (0.5 * s * s + d2) / (size * (s * s + d2)) * by_drop;
  return o->coefficient * s / size;
}

static ga_status orifice_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  double slope;
  (void)t, (void)x, (void)xdot, (void)fault;
  if (y) y[0] = flow_of(b, u, &slope) * (b->n_in > 2 ? u[2] : 1);
  return GA_OK;
}

static ga_status orifice_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  double slope;
  (void)t, (void)x, (void)fault;
  const double flow = flow_of(b, u, &slope), opening = b->n_in > 2 ? u[2] : 1;
  J[0] = opening * slope;
  J[1] = -opening * slope;
  if (b->n_in > 2) J[2] = flow;
  return GA_OK;
}

static int orifice_same(const ga_control_block *a, const ga_control_block *b)
{
  const ga__orifice *o = &a->data.orifice, *p = &b->data.orifice;
  const double x[] = {o->coefficient, o->transition, o->width},
               y[] = {p->coefficient, p->transition, p->width};
  return ga__numbers_same(x, y, sizeof x / sizeof *x);
}

static const ga__block_type ORIFICE = {orifice_eval, orifice_jacobian, NULL, orifice_same};

/* ---- Chamber: p' = bulk/V (Q − V'),  V = volume + area x ---- */

ga_block_chamber_opts ga_block_chamber_defaults(void)
{
  return (ga_block_chamber_opts){.bulk_modulus = 0};
}

ga_status ga_block_create_chamber(ga_context *ctx, const ga_block_chamber_opts *opts, ga_control_block **out)
{
  static const char *const in_names[] = {"flow", "displacement", "rate"}, *const state[] = {"pressure"};
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_CHAMBER, opts, out);
  if (in.status) return in.status;
  ga__want_positive(&in, "bulk_modulus", opts->bulk_modulus);
  ga__want_positive(&in, "volume", opts->volume);
  ga__want_finite(&in, "area", opts->area);
  ga__want_finite(&in, "pressure", opts->pressure);
  if (!in.status)
    in.status = ga__block_new(ctx, GA_KIND_CHAMBER, &CHAMBER, (ga__block_sizes){3, 1, 1},
                              &(ga_block_names){in_names, state, state}, out);
  if (in.status) return in.status;
  const unsigned char depends[8] = {1, opts->area != 0, opts->area != 0, 0, 0, 0, 0, 1};
  memcpy((*out)->depends, depends, sizeof depends);
  (*out)->x0[0] = opts->pressure;
  (*out)->data.chamber = (ga__chamber){opts->bulk_modulus, opts->volume, opts->area};
  return ga_block_set_unit(*out, 0, "Pa");
}

static ga_status volume_of(const ga_control_block *b, const double *u, double *volume, ga_fault *fault)
{
  *volume = b->data.chamber.volume + b->data.chamber.area * u[1];
  if (*volume > 0) return GA_OK;
  return ga__block_fault(fault, b, GA_RETRY_NAN, GA_FAULT_DOMAIN,
                         "the volume, volume + area displacement, must be positive", u);
}

static ga_status chamber_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  const ga__chamber *c = &b->data.chamber;
  double volume;
  (void)t;
  const ga_status status = volume_of(b, u, &volume, fault);
  if (xdot && !status) xdot[0] = c->bulk / volume * (u[0] - c->area * u[2]);
  if (y) y[0] = x[0];
  return status;
}

static ga_status chamber_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  const ga__chamber *c = &b->data.chamber;
  double volume;
  (void)t, (void)x;
  const ga_status status = volume_of(b, u, &volume, fault);
  if (status) return status;
  J[0] = c->bulk / volume;
  J[1] = -c->bulk * c->area / (volume * volume) * (u[0] - c->area * u[2]);
  J[2] = -c->bulk * c->area / volume;
  J[7] = 1;
  return GA_OK;
}

static int chamber_same(const ga_control_block *a, const ga_control_block *b)
{
  const ga__chamber *c = &a->data.chamber, *d = &b->data.chamber;
  const double x[] = {c->bulk, c->volume, c->area}, y[] = {d->bulk, d->volume, d->area};
  return ga__numbers_same(x, y, sizeof x / sizeof *x);
}

static const ga__block_type CHAMBER = {chamber_eval, chamber_jacobian, NULL, chamber_same};
