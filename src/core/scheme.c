/* Parameters of the generalized-α family, and their conditions. */
#include "core/system.h"

#include <math.h>
#include <stdio.h>

#define ROUNDING 1e-12

/* Jansen, Whiting & Hulbert's choice for first-order states, in this library's convention. */
static void first_order_rho(double rho, ga_scheme *s)
{
  s->delta_f = rho / (rho + 1.0);
  s->delta_m = 0.5 * (3.0 * rho - 1.0) / (rho + 1.0);
  s->theta = 0.5 + s->delta_f - s->delta_m;
}

ga_status ga_scheme_rho(ga_context *ctx, double rho_inf, ga_scheme *out)
{
  if (!out) return ga__refuse_null(ctx, __func__, "out");
  if (!(rho_inf >= 0.0 && rho_inf <= 1.0))
    return ga__refuse_number(ctx, "scheme", "rho_inf", rho_inf,
                             "between 0 (high frequencies vanish in one step) and 1 (no numerical damping)");
  out->alpha_m = (2.0 * rho_inf - 1.0) / (rho_inf + 1.0);
  out->alpha_f = rho_inf / (rho_inf + 1.0);
  out->gamma = 0.5 + out->alpha_f - out->alpha_m;
  out->beta = 0.25 * (out->gamma + 0.5) * (out->gamma + 0.5);
  first_order_rho(rho_inf, out);
  return GA_OK;
}

ga_status ga_scheme_hht(ga_context *ctx, double alpha, ga_scheme *out)
{
  if (!(alpha >= -1.0 / 3.0 - ROUNDING && alpha <= 0.0))
    return ga__refuse_number(ctx, "scheme", "alpha", alpha, "between -1/3 (most damping) and 0 (none)");
  out->alpha_m = 0.0;
  out->alpha_f = -alpha;
  out->gamma = 0.5 - alpha;
  out->beta = 0.25 * (1.0 - alpha) * (1.0 - alpha);
  first_order_rho((1.0 + alpha) / (1.0 - alpha), out);
  return GA_OK;
}

ga_status ga_scheme_newmark(ga_context *ctx, double beta, double gamma, ga_scheme *out)
{
  if (!out) return ga__refuse_null(ctx, __func__, "out");
  if (!(beta > 0.0 && beta <= 1.0)) return ga__refuse_number(ctx, "scheme", "beta", beta, "> 0 and <= 1");
  if (!(gamma > 0.0 && gamma <= 1.0)) return ga__refuse_number(ctx, "scheme", "gamma", gamma, "> 0 and <= 1");
  out->alpha_m = out->alpha_f = 0.0;
  out->beta = beta;
  out->gamma = gamma;
  first_order_rho(1.0, out);
  return GA_OK;
}

/* One condition, value >= 0; why: the consequence of violating it. */
typedef struct condition {
  double value;
  const char *text, *why;
} condition;

static ga_status refuse_condition(ga_context *ctx, const ga_scheme *s, const condition *c)
{
  char detail[GA_ERROR_TEXT];
  snprintf(
      detail, sizeof detail,
      "%s. Parameters are alpha_m = %g, alpha_f = %g, beta = %g, gamma = %g, delta_m = %g, delta_f = %g, "
      "theta = %g",
      c->why, s->alpha_m, s->alpha_f, s->beta, s->gamma, s->delta_m, s->delta_f, s->theta);
  return ga__refuse(
      ctx, GA_ERR_ARGUMENT, GA_REASON_SCHEME,
      &(ga__facts){.kind = "scheme", .expected = c->text, .detail = detail, GA__NUMBERS({-c->value, NULL})});
}

ga_status ga_scheme_check(ga_context *ctx, const ga_scheme *s)
{
  if (!s) return ga__refuse_null(ctx, __func__, "s");
  const condition list[] = {
      {s->beta > 0.0 ? 0.0 : s->beta - 1.0, "beta > 0",
       "the positions would not depend on the forces of the step"},
      {1.0 - s->alpha_m > 0.1 ? 0.0 : -1.0, "alpha_m < 0.9", "the recursion of a divides by 1 - alpha_m"},
      {1.0 - s->alpha_f > 0.1 ? 0.0 : -1.0, "alpha_f < 0.9", "the recursion of a divides by 1 - alpha_f"},
      {-fabs(s->gamma - (0.5 - s->alpha_m + s->alpha_f)), "gamma = 1/2 - alpha_m + alpha_f",
       "the method is of first order otherwise"},
      {0.5 - s->alpha_m, "alpha_m <= 1/2", "errors in a would grow from step to step (zero-stability)"},
      {s->alpha_f - s->alpha_m, "alpha_m <= alpha_f", "high frequencies would grow (stability at infinity)"},
      {0.5 - s->alpha_f, "alpha_f <= 1/2", "high frequencies would grow (stability at infinity)"},
      {s->beta - (0.25 + 0.5 * (s->alpha_f - s->alpha_m)), "beta >= 1/4 + (alpha_f - alpha_m)/2",
       "the method would be stable for small steps only"},
      {s->theta > 0.0 ? 0.0 : s->theta - 1.0, "theta > 0",
       "the states would not depend on their rates at the step's end"},
      {-fabs(s->theta - (0.5 - s->delta_m + s->delta_f)), "theta = 1/2 - delta_m + delta_f",
       "the states are of first order otherwise"},
      {0.5 - s->delta_m, "delta_m <= 1/2", "errors in w would grow from step to step (zero-stability)"},
      {s->delta_f - s->delta_m, "delta_m <= delta_f", "fast states would grow (stability at infinity)"},
      {0.5 - s->delta_f, "delta_f <= 1/2", "fast states would grow (stability at infinity)"},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    if (!(list[i].value >= -ROUNDING)) return refuse_condition(ctx, s, &list[i]);
  return GA_OK;
}
