#include "run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mx_options mx_options_of(const mx_machine *machine)
{
  return (mx_options){.form = GA_FORM_SPACE,
                      .method = ga_stepper_defaults().method,
                      .h = machine->h,
                      .rho = machine->rho,
                      .t_end = machine->t_end,
                      .rtol = machine->rtol};
}

/* ---- Expressions in signals ---- */

/* Symbols of all signals, and of t behind them; NULL when out of memory. */
static ga_symbol *symbols_of(const ga_machine *m, int n)
{
  ga_symbol *symbol = calloc((size_t)n + 1, sizeof *symbol);
  for (int i = 0; symbol && i <= n; i++) {
    symbol[i].name = i < n ? ga_machine_signal_name(m, i) : "t";
    symbol[i].kind = GA_SYMBOL_VARIABLE;
    symbol[i].index = i;
  }
  return symbol;
}

static ga_status compile(mx_run *run)
{
  const mx_samples *s = &run->samples;
  const int n = run->n_signals = ga_machine_n_signals(run->b.m);
  ga_symbol *symbol = symbols_of(run->b.m, n);
  ga_status status = GA_OK;
  run->signal = calloc((size_t)n + 1, sizeof *run->signal);
  run->used = calloc((size_t)n + 1, sizeof *run->used);
  run->used_value = calloc((size_t)n + 1, sizeof *run->used_value);
  run->expr = calloc((size_t)s->n_texts + 1, sizeof(ga_expr *));
  if (!symbol || !run->signal || !run->used || !run->used_value || !run->expr) status = GA_ERR_MEMORY;
  for (int i = 0; !status && i < s->n_texts; i++)
    status = ga_expr_compile(run->b.ctx, s->texts[i], symbol, n + 1, NULL, &run->expr[i]);
  free(symbol);
  for (int k = 0; !status && k < n; k++)
    for (int i = 0; i < s->n_texts; i++)
      if (ga_expr_uses(run->expr[i], GA_SYMBOL_VARIABLE, k)) {
        run->used[run->n_used++] = k;
        break;
      }
  run->energy_at = ga_machine_find_signal(run->b.m, "energy.balance");
  return status;
}

static ga_status sample(mx_run *run, const ga_state *s)
{
  double *out = run->samples.values + (size_t)run->row * (size_t)run->samples.n_texts;
  ga_status status = ga_machine_signals(run->b.m, run->meter, s, run->n_used, run->used, run->used_value);
  for (int k = 0; k < run->n_used; k++) run->signal[run->used[k]] = run->used_value[k];
  run->signal[run->n_signals] = s->t;
  for (int i = 0; !status && i < run->samples.n_texts; i++)
    status = ga_expr_eval(run->expr[i], run->signal, &out[i], NULL);
  return status;
}

/* ---- Callbacks of the simulator ---- */

typedef struct following {
  mx_run *run;
  mx_each_fn each;
  void *user;
  int started;
} following;

static int on_output(void *user, const ga_state *s)
{
  mx_run *run = ((following *)user)->run;
  if (run->row < run->samples.n_times && fabs(s->t - run->samples.times[run->row]) <= 1e-9 * (1 + s->t)) {
    run->status = sample(run, s);
    run->row++;
  }
  return run->status != GA_OK;
}

static ga_status look(following *f, const ga_state *s)
{
  mx_run *run = f->run;
  double balance = 0;
  ga_status status = f->started ? ga_meter_update(run->meter, s) : ga_meter_start(run->meter, s);
  if (!status && run->energy_at >= 0)
    status = ga_machine_signals(run->b.m, run->meter, s, 1, &run->energy_at, &balance);
  if (!f->started) run->energy0 = balance;
  f->started = 1;
  run->energy_off = fmax(run->energy_off, fabs(balance - run->energy0));
  return status;
}

static int on_step(void *user, const ga_stepper *st)
{
  following *f = user;
  f->run->status = look(f, ga_stepper_state(st));
  return f->run->status || (f->each && f->each(f->user, f->run, ga_stepper_state(st)));
}

/* ---- One run ---- */

static ga_status build(mx_run *run)
{
  ga_machine_opts o = ga_machine_defaults();
  ga_status status = ga_context_create(NULL, &run->b.ctx);
  o.form = run->opts.form;
  memcpy(o.gravity, run->machine->gravity, sizeof o.gravity);
  if (!status) status = ga_machine_create(run->b.ctx, &o, &run->b.m);
  if (status) return status;
  run->machine->build(run->machine, &run->b);
  return run->b.status ? run->b.status : ga_machine_build(run->b.m);
}

static ga_status prepare(mx_run *run)
{
  ga_stepper_opts o = ga_stepper_defaults();
  o.method = run->opts.method;
  ga_status status = ga_scheme_rho(run->b.ctx, run->opts.rho, &o.scheme);
  if (!status) status = ga_stepper_create(run->b.ctx, ga_machine_system(run->b.m), &o, &run->st);
  if (!status) status = ga_meter_create(ga_machine_context(run->b.m), run->b.m, &run->meter);
  return status ? status : compile(run);
}

static ga_status start(mx_run *run)
{
  const ga_system *sys = ga_machine_system(run->b.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  ga_start_opts o = ga_start_defaults();
  double *q = calloc(nq + nv + nx + 1, sizeof *q), *v = q + nq, *x = v + nv;
  o.h = run->opts.h;
  ga_status status = q ? ga_machine_initial(run->b.m, q, v, x) : GA_ERR_MEMORY;
  if (!status) status = ga_stepper_start(run->st, &o, 0, q, v, x, NULL, NULL, &run->report);
  free(q);
  return status;
}

ga_status mx_run_open(mx_run *run, const mx_machine *machine, const mx_options *opts,
                      const mx_samples *samples)
{
  *run = (mx_run){.machine = machine, .opts = *opts};
  if (samples) run->samples = *samples;
  ga_status status = build(run);
  if (!status) status = prepare(run);
  return status ? status : start(run);
}

ga_status mx_run_finish(mx_run *run, mx_each_fn each, void *user)
{
  const ga_state *s = ga_stepper_state(run->st);
  const ga_system *sys = ga_machine_system(run->b.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  following f = {run, each, user, 0};
  ga_simulate_opts o = ga_simulate_defaults();
  double *from = calloc(nq + nv + nx + 1, sizeof *from);
  ga_status status = from ? GA_OK : GA_ERR_MEMORY;
  if (status) return status;
  memcpy(from, s->q, nq * sizeof *from);
  memcpy(from + nq, s->v, nv * sizeof *from);
  if (nx) memcpy(from + nq + nv, s->x, nx * sizeof *from);
  status = look(&f, s);
  if (!status && each && each(user, run, s)) status = GA_STOPPED;
  o.t_end = run->opts.t_end;
  if (run->opts.rtol > 0)
    o.rtol = o.atol = o.rtol_x = o.atol_x = run->opts.rtol;
  else
    o.fixed_h = run->opts.h;
  o.n_output_times = run->samples.n_times;
  o.output_times = run->samples.times;
  o.output = on_output;
  o.observer = on_step;
  o.user = &f;
  if (!status) status = ga_simulator_create(run->b.ctx, run->st, &o, &run->sim);
  if (!status)
    status = ga_simulator_start(run->sim, NULL, 0, from, from + nq, from + nq + nv, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(run->sim);
  free(from);
  return run->status ? run->status : status;
}

void mx_run_explain(const mx_run *run, ga_status status, char *text, int size)
{
  const ga_error *error = run->b.ctx ? ga_context_error(run->b.ctx) : NULL;
  const ga_state *s = run->st ? ga_stepper_state(run->st) : NULL;
  snprintf(text, (size_t)size, "%s (t = %g)", error && error->status ? error->text : ga_status_text(status),
           s ? s->t : 0.0);
}

void mx_run_close(mx_run *run)
{
  for (int i = 0; run->expr && i < run->samples.n_texts; i++) ga_expr_destroy(&run->expr[i]);
  free(run->expr);
  free(run->signal);
  free(run->used);
  free(run->used_value);
  ga_simulator_destroy(&run->sim);
  ga_meter_destroy(&run->meter);
  ga_stepper_destroy(&run->st);
  ga_machine_destroy(&run->b.m);
  for (int i = 0; i < run->b.n_functions; i++) ga_function_destroy(&run->b.function[i]);
  ga_context_destroy(&run->b.ctx);
  *run = (mx_run){0};
}
