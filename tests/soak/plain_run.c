/* plain_run MODEL STEP T_END: the run that `galpha run` makes with equal steps, by the library alone: nothing
 * is written, measured or shown. What the program costs beyond this is its own. Prints the number of steps
 * and the seconds of the processor. */
#include "galpha/model.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *stepper;
  ga_simulator *simulator;
  double *state;
} run;

static ga_status prepare(run *r, const char *file, double step, double t_end)
{
  ga_stepper_opts stepper = ga_stepper_defaults();
  ga_simulate_opts simulate = ga_simulate_defaults();
  ga_status status = ga_context_create(NULL, &r->ctx);
  if (!status) status = ga_model_read_file(r->ctx, file, NULL, &r->model);
  if (status) return status;
  const ga_run_settings *settings = ga_model_settings(r->model);
  const ga_system *sys = ga_machine_system(ga_model_machine(r->model));
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  status = ga_scheme_rho(r->ctx, settings->rho, &stepper.scheme);
  stepper.method = settings->method;
  simulate.fixed_h = step;
  simulate.t_end = t_end;
  r->state = calloc(nq + nv + (size_t)ga_system_size(sys, GA_BLOCK_X) + 1, sizeof *r->state);
  if (!r->state) return GA_ERR_MEMORY;
  if (!status) status = ga_stepper_create(r->ctx, sys, &stepper, &r->stepper);
  if (!status) status = ga_simulator_create(r->ctx, r->stepper, &simulate, &r->simulator);
  if (!status)
    status = ga_machine_initial(ga_model_machine(r->model), r->state, r->state + nq, r->state + nq + nv);
  if (!status)
    status = ga_simulator_start(r->simulator, NULL, settings->t_start, r->state, r->state + nq,
                                r->state + nq + nv, NULL, NULL, NULL);
  return status;
}

int main(int argc, char **argv)
{
  run r = {0};
  if (argc != 4) return fputs("usage: plain_run MODEL STEP T_END\n", stderr), 2;
  ga_status status = prepare(&r, argv[1], strtod(argv[2], NULL), strtod(argv[3], NULL));
  if (!status) status = ga_simulator_run(r.simulator);
  if (!status)
    printf("%ld %.3f\n", ga_simulator_stats(r.simulator)->steps, (double)clock() / CLOCKS_PER_SEC);
  else
    fprintf(stderr, "plain_run: %s\n", r.ctx ? ga_context_error(r.ctx)->text : ga_status_text(status));
  ga_simulator_destroy(&r.simulator);
  ga_stepper_destroy(&r.stepper);
  ga_model_destroy(&r.model);
  ga_context_destroy(&r.ctx);
  free(r.state);
  return status != GA_OK;
}
