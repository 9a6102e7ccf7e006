/* many_models N MODEL...: N models, read from these files in turn, built, run for a few steps with the
 * derivatives by their first parameter, and destroyed. Prints the bytes in use after each tenth, and fails if
 * contexts leave anything behind, or memory grows from tenth to tenth. */
#include "galpha/model.h"
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 3, TENTHS = 10, ROOM = 4096 };

static size_t in_use, blocks; /* of all contexts */

typedef union header {
  size_t bytes;
  long double align;
} header;

static void *get(void *user, size_t bytes)
{
  header *block = malloc(sizeof *block + bytes);
  (void)user;
  if (!block) return NULL;
  block->bytes = bytes;
  in_use += bytes;
  blocks++;
  return block + 1;
}

static void release(void *user, void *memory)
{
  header *block = memory;
  (void)user;
  if (!block) return;
  block--;
  in_use -= block->bytes;
  blocks--;
  free(block);
}

typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_model_variation *by;
  ga_stepper *stepper;
  ga_simulator *simulator;
  ga_sensitivity *sensitivity;
} run;

static ga_status prepare(run *r, const char *file)
{
  static double q[ROOM], v[ROOM], x[ROOM];
  ga_context_opts context = ga_context_defaults();
  ga_stepper_opts stepper;
  ga_simulate_opts simulate = ga_simulate_defaults();
  ga_model_parameter parameter;
  context.alloc = get;
  context.release = release;
  ga_status status = ga_context_create(&context, &r->ctx);
  if (!status) status = ga_model_read_file(r->ctx, file, NULL, &r->model);
  if (status) return status;
  const ga_machine *machine = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(machine);
  if (ga_group_nq(ga_system_group(sys)) > ROOM || ga_system_size(sys, GA_BLOCK_X) > ROOM)
    return GA_ERR_MEMORY;
  status = ga_run_stepper_opts(r->ctx, ga_model_settings(r->model), &stepper);
  simulate.fixed_h = 1e-3;
  simulate.t_end = ga_model_settings(r->model)->t_start + STEPS * simulate.fixed_h;
  if (!status) status = ga_stepper_create(r->ctx, sys, &stepper, &r->stepper);
  if (!status) status = ga_simulator_create(r->ctx, r->stepper, &simulate, &r->simulator);
  /* Not every model has derivatives, and refusals must not lose memory either. */
  if (!status && ga_model_parameter_at(r->model, 0, &parameter) &&
      !ga_model_variation_create(r->ctx, r->model, file, NULL, parameter.name, 0.0, &r->by))
    ga_sensitivity_create(r->ctx, r->stepper, 1, ga_model_variation_parameter(r->by), &r->sensitivity);
  if (!status) status = ga_machine_initial(machine, q, v, x);
  if (!status)
    status = ga_simulator_start(r->simulator, NULL, ga_model_settings(r->model)->t_start, q, v, x, NULL, NULL,
                                NULL);
  return status;
}

static ga_status steps(run *r)
{
  int derived = r->sensitivity && !ga_sensitivity_begin(r->sensitivity);
  ga_status status = GA_OK;
  while (!status && !ga_simulator_finished(r->simulator)) {
    status = ga_simulator_step(r->simulator);
    if (status >= 0 && derived) derived = !ga_sensitivity_step(r->sensitivity);
  }
  return status < 0 ? status : GA_OK;
}

static void close_run(run *r)
{
  ga_sensitivity_destroy(&r->sensitivity);
  ga_simulator_destroy(&r->simulator);
  ga_stepper_destroy(&r->stepper);
  ga_model_variation_destroy(&r->by);
  ga_model_destroy(&r->model);
  ga_context_destroy(&r->ctx);
}

/* Resident memory in kB; 0: not known. */
static long resident(void)
{
  long pages = 0, all = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
  fclose(file);
  return 4 * pages;
}

int main(int argc, char **argv)
{
  const int n = argc > 2 ? atoi(argv[1]) : 0;
  long failed = 0, first = 0;
  if (n < TENTHS) return fputs("usage: many_models N MODEL..., N at least 10\n", stderr), 2;
  for (int i = 0; i < n; i++) {
    run r = {0};
    const char *file = argv[2 + i % (argc - 2)];
    ga_status status = prepare(&r, file);
    if (!status) status = steps(&r);
    if (status)
      fprintf(stderr, "%s: %s\n", file, r.ctx ? ga_context_error(r.ctx)->text : ga_status_text(status));
    failed += status != GA_OK;
    close_run(&r);
    if (blocks || in_use)
      return fprintf(stderr, "%s leaves %zu bytes in %zu blocks\n", file, in_use, blocks), 1;
    if ((i + 1) % (n / TENTHS)) continue;
    const long now = resident();
    printf("%d models: %ld kB resident\n", i + 1, now);
    if (!first && i >= 4 * (argc - 2)) first = now; /* each has had what it takes */
    if (first && now > first + first / 20) return fprintf(stderr, "memory grows\n"), 1;
  }
  printf("%d models, %ld failed\n", n, failed);
  return failed > 0;
}
