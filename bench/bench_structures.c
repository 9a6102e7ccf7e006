/* Structures of points held together by some 2000 distances, many of them redundant: the time of building and
 * starting them, which is what `galpha check` does, of a step, and memory. bench/README.md explains the
 * figures. */
#include "galpha/mbs.h"
#include "memory.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, FRESH_STEPS = 5, MOST_POINTS = 1100, MOST_DISTANCES = 2500 };
#define STEP_SIZE 1e-3 /* [s] */

typedef struct structure {
  int n, m; /* points, distances */
  double x[MOST_POINTS][3];
  int end[MOST_DISTANCES][2];
} structure;

static void join(structure *s, int a, int b)
{
  if (s->m < MOST_DISTANCES) s->end[s->m][0] = a, s->end[s->m++][1] = b;
}

/* A number in [0, 1), the same ones in every run. */
static double next_random(unsigned *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) / 16777216.0;
}

/* Points of a grid; those that differ by at most one in every index, and by at most `most` in their sum, are
 * joined, diagonals of a net one way only. The middle of a net sags. */
static void make_grid(structure *s, int nx, int ny, int nz, int most)
{
  s->n = nx * ny * nz;
  for (int i = 0; i < s->n; i++) {
    const int at[3] = {i / (ny * nz), i / nz % ny, i % nz};
    for (int k = 0; k < 3; k++) s->x[i][k] = at[k];
    if (nz == 1) s->x[i][2] = -0.02 * at[0] * (nx - 1 - at[0]) - 0.03 * at[1] * (ny - 1 - at[1]);
    for (int j = 0; j < i; j++) {
      const int other[3] = {j / (ny * nz), j / nz % ny, j % nz};
      int largest = 0, sum = 0;
      for (int k = 0; k < 3; k++) {
        const int d = abs(at[k] - other[k]);
        sum += d;
        if (d > largest) largest = d;
      }
      const int other_way = nz == 1 && sum == 2 && at[1] < other[1];
      if (largest == 1 && sum <= most && !other_way) join(s, j, i);
    }
  }
}

static void make_random(structure *s, int n, int m)
{
  unsigned state = 12345u;
  s->n = n;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) s->x[i][k] = 2.0 * next_random(&state) - 1.0;
  while (s->m < m) {
    const int a = (int)(next_random(&state) * n), b = (int)(next_random(&state) * n);
    int known = a >= b;
    for (int k = 0; k < s->m; k++) known |= s->end[k][0] == a && s->end[k][1] == b;
    if (!known) join(s, a, b);
  }
}

static void make_cubes(structure *s)
{
  make_grid(s, 3, 9, 9, 3);
}

static void make_net(structure *s)
{
  make_grid(s, 31, 33, 1, 1);
}

static void make_braced_net(structure *s)
{
  make_grid(s, 25, 27, 1, 2);
}

static void make_lattice(structure *s)
{
  make_grid(s, 9, 9, 9, 1);
}

static void make_random_700(structure *s)
{
  make_random(s, 700, 2000);
}

static void make_random_500(structure *s)
{
  make_random(s, 500, 2000);
}

static ga_status add_parts(const structure *s, ga_machine *m)
{
  ga_status status = GA_OK;
  char name[16], a[16], b[16];
  for (int i = 0; !status && i < s->n; i++) {
    ga_point_def d = ga_point_defaults();
    snprintf(name, sizeof name, "p%d", i);
    d.name = name;
    d.mass = 1.0;
    memcpy(d.position, s->x[i], sizeof s->x[i]);
    d.velocity[0] = -0.3 * s->x[i][1], d.velocity[1] = 0.3 * s->x[i][0]; /* it turns about z as it falls */
    status = ga_machine_add_point(m, &d);
  }
  for (int k = 0; !status && k < s->m; k++) {
    ga_joint_def d = ga_joint_defaults();
    snprintf(name, sizeof name, "d%d", k);
    snprintf(a, sizeof a, "p%d", s->end[k][0]);
    snprintf(b, sizeof b, "p%d", s->end[k][1]);
    d.name = name, d.kind = GA_JOINT_DISTANCE, d.a = a, d.b = b;
    status = ga_machine_add_joint(m, &d);
  }
  return status;
}

typedef struct figures {
  double check, first, step; /* [s] building and starting, the first step, each of the others */
  int redundant;
  long matrices;        /* factorised by all steps */
  size_t checked, peak; /* [bytes] after the start, at most */
} figures;

static ga_status start_structure(const structure *s, ga_machine *m, const ga_stepper_opts *opts,
                                 ga_context *ctx, ga_stepper **st, figures *f)
{
  ga_start_opts start = ga_start_defaults();
  ga_start_report started;
  double *q = calloc(6 * (size_t)s->n, sizeof *q);
  if (!q) return GA_ERR_MEMORY;
  start.h = STEP_SIZE;
  ga_status status = add_parts(s, m);
  if (!status) status = ga_machine_build(m);
  if (!status) status = ga_machine_initial(m, q, q + 3 * s->n, NULL);
  if (!status) status = ga_stepper_create(ctx, ga_machine_system(m), opts, st);
  if (!status) status = ga_stepper_start(*st, &start, 0.0, q, q + 3 * s->n, NULL, NULL, NULL, &started);
  if (!status) f->redundant = started.redundant;
  free(q);
  return status;
}

/* [s] the factors of a matrix, where every step makes some. */
static ga_status measure_factors(const structure *s, ga_lu_kind lu, double *seconds)
{
  ga_context *ctx = NULL;
  ga_machine *m = NULL;
  ga_stepper *st = NULL;
  figures f;
  const ga_machine_opts o = ga_machine_defaults();
  ga_stepper_opts opts = ga_stepper_defaults();
  opts.lu = lu;
  opts.newton.reuse = GA_FRESH_STEP;
  opts.timing = 1;
  ga_status status = ga_context_create(NULL, &ctx);
  if (!status) status = ga_machine_create(ctx, &o, &m);
  if (!status) status = start_structure(s, m, &opts, ctx, &st, &f);
  *seconds = INFINITY;
  for (int i = 0; !status && i < FRESH_STEPS; i++) {
    const ga_stats a = *ga_stepper_stats(st);
    if ((status = ga_stepper_step(st, STEP_SIZE))) break;
    const ga_stats *b = ga_stepper_stats(st);
    *seconds =
        fmin(*seconds, (b->time_factor - a.time_factor) / (double)(b->factorisations - a.factorisations));
  }
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_machine_destroy(&m);
  ga_context_destroy(&ctx);
  return status;
}

static ga_status measure(const structure *s, figures *f)
{
  memory_count count;
  ga_context *ctx = NULL;
  ga_machine *m = NULL;
  ga_stepper *st = NULL;
  ga_machine_opts o = ga_machine_defaults();
  const ga_stepper_opts opts = ga_stepper_defaults();
  o.gravity[2] = -9.81;
  ga_status status = memory_context_begin(&count, &ctx);
  if (status) return status;
  const double began = cpu_now();
  status = ga_machine_create(ctx, &o, &m);
  if (!status) status = start_structure(s, m, &opts, ctx, &st, f);
  const double started = cpu_now();
  f->check = started - began;
  f->checked = count.peak;
  const long matrices = st ? ga_stepper_stats(st)->factorisations : 0;
  if (!status) status = ga_stepper_step(st, STEP_SIZE);
  const double first = cpu_now();
  f->first = first - started;
  for (int i = 1; !status && i < STEPS; i++) status = ga_stepper_step(st, STEP_SIZE);
  f->step = (cpu_now() - first) / (STEPS - 1);
  f->peak = count.peak;
  f->matrices = st ? ga_stepper_stats(st)->factorisations - matrices : 0;
  if (status) fprintf(stderr, "%s\n", ga_context_error(ctx)->text);
  ga_stepper_destroy(&st);
  ga_machine_destroy(&m);
  memory_context_end(&ctx);
  return status;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name, *text;
    void (*make)(structure *s);
    int slow; /* factors take a minute and more: with --full */
  } list[] = {{"cubes", "cubes with all diagonals", make_cubes, 0},
              {"random700", "700 points at random", make_random_700, 1},
              {"random500", "500 points at random", make_random_500, 1},
              {"net", "a net", make_net, 0},
              {"braced_net", "a net with diagonals", make_braced_net, 0},
              {"lattice", "a lattice", make_lattice, 0}};
  static report r;
  static structure s;
  bench_options o;
  int failed = 0;
  const int code = bench_options_read(&o, argc, argv, "cubes random700 random500 net braced_net lattice");
  if (code >= 0) return code;
  printf("galpha %s, structures of distances; equal steps of %g s\n", ga_version(), STEP_SIZE);
  printf("  %-26s %7s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "structure", "points", "distances",
         "redundant", "check [s]", "[MB]", "first [s]", "step [s]", "[MB]", "matrices", "LU [ms]",
         "KLU [ms]");
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    figures f = {0};
    double blocks = NAN, klu = NAN;
    if (!bench_wanted(&o, list[i].name)) continue;
    memset(&s, 0, sizeof s);
    list[i].make(&s);
    const int factors = o.full || !list[i].slow;
    if (measure(&s, &f) || (factors && (measure_factors(&s, GA_LU_BLOCKS, &blocks) ||
                                        measure_factors(&s, GA_LU_SPARSE, &klu)))) {
      failed = 1;
      continue;
    }
    printf("  %-26s %7d %9d %9d %9.2f %9.0f %9.2f %9.3f %9.0f %9ld %9.1f %9.1f\n", list[i].text, s.n, s.m,
           f.redundant, f.check, 1e-6 * (double)f.checked, f.first, f.step, 1e-6 * (double)f.peak, f.matrices,
           1e3 * blocks, 1e3 * klu);
    report_add(&r, blocks, "structure_%s_factor_s", list[i].name);
    report_add(&r, klu, "structure_%s_klu_factor_s", list[i].name);
    report_add(&r, f.check, "structure_%s_check_s", list[i].name);
    report_add(&r, f.step, "structure_%s_step_s", list[i].name);
    report_add(&r, 1e-6 * (double)f.peak, "structure_%s_MB", list[i].name);
  }
  return bench_finish(&r, &o) || failed;
}
