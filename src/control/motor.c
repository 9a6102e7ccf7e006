/* Blocks of electric drives: direct-current motors, gearboxes with losses. */
#include "control/control_impl.h"
#include "expr/same.h"
#include <math.h>
#include <string.h>

static const ga__block_type GEARBOX;

/* ---- Motor: L i' = U − R i − K ω, torque K i ---- */

ga_block_dc_motor_opts ga_block_dc_motor_defaults(void)
{
  return (ga_block_dc_motor_opts){.resistance = 0};
}

ga_status ga_block_create_dc_motor(ga_context *ctx, const ga_block_dc_motor_opts *opts,
                                   ga_control_block **out)
{
  static const char *const in_names[] = {"voltage", "speed"}, *const out_names[] = {"torque", "current"},
                           *const state[] = {"current"};
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_DC_MOTOR, opts, out);
  if (in.status) return in.status;
  ga__want_number(&in, opts->resistance >= 0 && isfinite(opts->resistance), "resistance", 0, opts->resistance,
                  "0 or positive");
  ga__want_positive(&in, "inductance", opts->inductance);
  ga__want_positive(&in, "constant", opts->constant);
  ga__want_finite(&in, "current", opts->current);
  if (!in.status)
    in.status = ga__wiener_new(ctx, GA_KIND_DC_MOTOR, (ga__block_sizes){2, 1, 2},
                               &(ga_block_names){in_names, state, out_names}, out);
  if (in.status) return in.status;
  const double L = opts->inductance,
               K[9] = {1 / L, -opts->constant / L, -opts->resistance / L, 0, 0, opts->constant, 0, 0, 1};
  memcpy((*out)->data.wiener.K, K, sizeof K);
  (*out)->x0[0] = opts->current;
  in.status = ga__wiener_finish(out);
  if (!in.status) in.status = ga_block_set_unit(*out, 0, "N*m");
  return in.status ? in.status : ga_block_set_unit(*out, 1, "A");
}

/* ---- Gearbox: T_out = n T g,  g = ½(η + 1/η) + ½(η − 1/η) tanh(P/P₀),  P = T n ω ----
 *
 * The driving side pays for the losses: g = η where the motor drives (P > 0), 1/η where it is driven. */

ga_block_gearbox_opts ga_block_gearbox_defaults(void)
{
  return (ga_block_gearbox_opts){.ratio = 1, .efficiency = 1};
}

ga_status ga_block_create_gearbox(ga_context *ctx, const ga_block_gearbox_opts *opts, ga_control_block **out)
{
  static const char *const in_names[] = {"torque", "speed"}, *const out_names[] = {"torque", "speed"};
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_GEARBOX, opts, out);
  if (in.status) return in.status;
  ga__want_number(&in, isfinite(opts->ratio) && opts->ratio != 0, "ratio", 0, opts->ratio,
                  "finite and not 0");
  ga__want_number(&in, opts->efficiency > 0 && opts->efficiency <= 1, "efficiency", 0, opts->efficiency,
                  "above 0 and at most 1");
  if (opts->efficiency < 1) ga__want_positive_with(&in, "power", opts->power, "with efficiency below 1");
  if (!in.status)
    in.status = ga__block_new(ctx, GA_KIND_GEARBOX, &GEARBOX, (ga__block_sizes){2, 0, 2},
                              &(ga_block_names){.in = in_names, .out = out_names}, out);
  if (in.status) return in.status;
  const unsigned char depends[4] = {1, opts->efficiency < 1, 0, 1};
  memcpy((*out)->depends, depends, sizeof depends);
  (*out)->data.gearbox = (ga__gearbox){opts->ratio, opts->efficiency, opts->power};
  in.status = ga_block_set_unit(*out, 0, "N*m");
  return in.status ? in.status : ga_block_set_unit(*out, 1, "rad/s");
}

/* g and its slope by P. */
static double loss_of(const ga__gearbox *g, double power, double *slope)
{
  const double mean = 0.5 * (g->efficiency + 1 / g->efficiency),
               half = 0.5 * (g->efficiency - 1 / g->efficiency);
  *slope = 0;
  if (g->efficiency == 1) return 1;
  const double way = tanh(power / g->power);
  *slope = half / g->power * (1 - way * way);
  return mean + half * way;
}

static ga_status gearbox_eval(const ga_control_block *b, double t, const double *u, const double *x,
                              double *xdot, double *y, ga_fault *fault)
{
  const ga__gearbox *g = &b->data.gearbox;
  double slope;
  (void)t, (void)x, (void)xdot, (void)fault;
  if (!y) return GA_OK;
  y[0] = g->ratio * u[0] * loss_of(g, u[0] * g->ratio * u[1], &slope);
  y[1] = g->ratio * u[1];
  return GA_OK;
}

static ga_status gearbox_jacobian(const ga_control_block *b, double t, const double *u, const double *x,
                                  double *J, ga_fault *fault)
{
  const ga__gearbox *g = &b->data.gearbox;
  double slope;
  (void)t, (void)x, (void)fault;
  const double loss = loss_of(g, u[0] * g->ratio * u[1], &slope);
  J[0] = g->ratio * (loss + u[0] * slope * g->ratio * u[1]);
  J[1] = g->ratio * u[0] * slope * u[0] * g->ratio;
  J[3] = g->ratio;
  return GA_OK;
}

static int gearbox_same(const ga_control_block *a, const ga_control_block *b)
{
  const ga__gearbox *g = &a->data.gearbox, *h = &b->data.gearbox;
  const double x[] = {g->ratio, g->efficiency, g->power}, y[] = {h->ratio, h->efficiency, h->power};
  return ga__numbers_same(x, y, sizeof x / sizeof *x);
}

static const ga__block_type GEARBOX = {gearbox_eval, gearbox_jacobian, NULL, gearbox_same};
