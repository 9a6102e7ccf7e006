/* PID controller: a linear block with a saturated output; the integrator tracks the saturated output. */
#include "control/control_impl.h"
#include <math.h>

ga_block_pid_opts ga_block_pid_defaults(void)
{
  return (ga_block_pid_opts){.kp = 1, .setpoint_weight = 1, .lower = -INFINITY, .upper = INFINITY};
}

/* Replaces times of 0 by the defaults described in the header. */
static ga_block_pid_opts with_times(const ga_block_pid_opts *opts)
{
  ga_block_pid_opts o = *opts;
  if (o.filter_time == 0 && o.kp != 0) o.filter_time = fabs(o.kd / o.kp) / 10;
  if (o.tracking_time == 0 && o.ki != 0)
    o.tracking_time = o.kd != 0 ? sqrt(fabs(o.kd / o.ki)) : fabs(o.kp / o.ki);
  return o;
}

static int limited(const ga_block_pid_opts *o)
{
  return isfinite(o->lower) || isfinite(o->upper);
}

static void inspect(ga__inspect *in, const ga_block_pid_opts *o)
{
  const struct {
    const char *option;
    double value;
  } finite[] = {{"kp", o->kp},
                {"ki", o->ki},
                {"kd", o->kd},
                {"setpoint_weight", o->setpoint_weight},
                {"setpoint_weight_derivative", o->setpoint_weight_derivative},
                {"integral", o->integral},
                {"filtered", o->filtered}};
  for (int i = 0; i < (int)(sizeof finite / sizeof *finite); i++)
    ga__want_finite(in, finite[i].option, finite[i].value);
  ga__want_both(in, o->kp != 0 || o->ki != 0 || o->kd != 0, "kp", o->kp, "ki", o->ki,
                "one of kp, ki and kd must not be 0");
  ga__want_limits(in, o->lower, o->upper, o->smoothing);
  if (o->kd != 0) ga__want_positive_with(in, "filter_time", o->filter_time, "with kd and without kp");
  if (o->ki != 0 && limited(o))
    ga__want_positive_with(in, "tracking_time", o->tracking_time, "with limits and ki alone");
}

/* The rows of the equations in the header; columns r, m, then i and d where they exist. */
static void fill(ga_control_block *b, const ga_block_pid_opts *o)
{
  const int has_i = o->ki != 0, has_d = o->kd != 0, col_i = 2, col_d = 2 + has_i;
  const double c = o->setpoint_weight_derivative;
  double *v = ga__wiener_row(b, b->n_x);
  v[0] = o->kp * o->setpoint_weight;
  v[1] = -o->kp;
  if (has_i) {
    double *i = ga__wiener_row(b, 0);
    i[0] = o->ki;
    i[1] = -o->ki;
    v[col_i] = 1;
    b->x0[0] = o->integral;
  }
  if (has_d) {
    double *d = ga__wiener_row(b, has_i);
    const double rate = 1 / o->filter_time, gain = o->kd * rate;
    d[0] = c * rate;
    d[1] = -rate;
    d[col_d] = -rate;
    v[0] += gain * c;
    v[1] -= gain;
    v[col_d] = -gain;
    b->x0[has_i] = o->filtered;
  }
  if (!limited(o)) return;
  b->data.wiener.shape = (ga__shape){ga__shape_saturation, o->lower, o->upper, o->smoothing, 0, NULL};
  if (!has_i) return;
  b->data.wiener.n_tracked = 1;
  b->data.wiener.rate = 1 / o->tracking_time;
}

ga_status ga_block_create_pid(ga_context *ctx, const ga_block_pid_opts *opts, ga_control_block **out)
{
  static const char *const in_names[] = {"setpoint", "measurement"};
  static const char *const x_names[] = {"integral", "filtered"};
  static const char *const out_names[] = {"output"};
  ga__inspect in = ga__inspect_begin(ctx, GA_KIND_PID, opts, out);
  if (in.status) return in.status;
  const ga_block_pid_opts o = with_times(opts);
  const ga_block_names names = {in_names, o.ki != 0 ? x_names : x_names + 1, out_names};
  inspect(&in, &o);
  if (!in.status) {
    const ga__block_sizes n = {2, (o.ki != 0) + (o.kd != 0), 1};
    in.status = ga__wiener_new(ctx, GA_KIND_PID, n, &names, out);
  }
  if (in.status) return in.status;
  fill(*out, &o);
  return ga__wiener_finish(out);
}
