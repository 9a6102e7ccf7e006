/* Beams: how build, start, steps, statics and modes grow with the number of nodes; where the time of a step
 * goes; and bytes for a node. A rope hangs down and is set swinging: elements of 0.1 m, as many as asked for.
 *
 * The flying spaghetti against SUNDIALS IDA, at equal error in time: IDA integrates the same semidiscrete
 * equations, by the callbacks of the machine, with unit quaternions in place of rotation matrices. */
#include "galpha/galpha.h"
#include "galpha/model.h"
#include "memory.h"
#include "report.h"

#include "core/system.h"
#include "ida_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { STEPS = 10, MODES = 4 };

/* CPU time [s]: all of it, and without the system's, which is that of supplying pages of memory; that of
 * the clock, as statistics of steppers have it; and page faults, which no other program disturbs. */
typedef struct span {
  double all, user, clock, faults;
  double peak; /* [GB] of the process's memory so far */
} span;

static span span_now(void)
{
  struct rusage r;
  struct timespec t;
  getrusage(RUSAGE_SELF, &r);
  timespec_get(&t, TIME_UTC);
  return (span){cpu_now(), (double)r.ru_utime.tv_sec + 1e-6 * (double)r.ru_utime.tv_usec,
                (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, (double)r.ru_minflt,
                (double)r.ru_maxrss / 1048576.0};
}

static span span_since(span begin)
{
  const span now = span_now();
  return (span){now.all - begin.all, now.user - begin.user, now.clock - begin.clock,
                now.faults - begin.faults, now.peak};
}

typedef struct costs { /* CPU [s], memory [bytes] */
  span build, start, steps, statics, modes;
  double step, iteration;
  double residual, jacobian, factor, solve; /* parts of all steps */
  double machine, stepper;                  /* memory of the machine, and of a stepper with it */
  double iterations;
  const char *why; /* not NULL: failed */
} costs;

typedef struct rope {
  ga_context *ctx;
  ga_model *model;
  ga_stepper *st;
  double *q, *v;
} rope;

static int stop(costs *c, const rope *r, ga_status status)
{
  if (!status) return 0;
  c->why = r->ctx ? ga_context_error(r->ctx)->text : "no context";
  fprintf(stderr, "%s\n", c->why);
  return 1;
}

static int build_rope(rope *r, int n, costs *c)
{
  char text[1024];
  const span begin = span_now();
  snprintf(text, sizeof text,
           "galpha: 1\ngravity: [0, 0, -9.81]\nbodies:\n  b: {type: beam, from: [0, 0, 0], to: [0, 0, %g], "
           "elements: %d, "
           "section: numbers, mass_per_length: 0.1, stiffness: [1e7, 4e6, 4e6, 8, 10, 10], rotary_inertia: "
           "[2e-4, 1e-4, "
           "1e-4], omega: [0, 0.01, 0]}\njoints:\n  hinge: {type: revolute, a: ground, b: b, at: {position: "
           "[0, 0, 0], "
           "rotation: {z_axis: [0, 1, 0]}}}\n",
           -0.1 * n, n);
  if (stop(c, r, ga_model_read_text(r->ctx, "rope", text, strlen(text), NULL, &r->model))) return 1;
  const ga_machine *m = ga_model_machine(r->model);
  const ga_system *sys = ga_machine_system(m);
  r->q = malloc((size_t)ga_group_nq(ga_system_group(sys)) * sizeof *r->q);
  r->v = malloc((size_t)ga_system_size(sys, GA_BLOCK_V) * sizeof *r->v);
  if (!r->q || !r->v || stop(c, r, ga_machine_initial(m, r->q, r->v, NULL))) return 1;
  c->build = span_since(begin);
  return 0;
}

static int make_steps(rope *r, costs *c)
{
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  o.timing = 1;
  start.h = 1e-3;
  span begin = span_now();
  if (stop(c, r, ga_stepper_create(r->ctx, ga_machine_system(ga_model_machine(r->model)), &o, &r->st)))
    return 1;
  if (stop(c, r, ga_stepper_start(r->st, &start, 0.0, r->q, r->v, NULL, NULL, NULL, NULL))) return 1;
  c->start = span_since(begin);
  const ga_stats before = *ga_stepper_stats(r->st), *s = ga_stepper_stats(r->st);
  begin = span_now();
  for (int i = 0; i < STEPS; i++)
    if (stop(c, r, ga_stepper_step(r->st, 1e-3))) return 1;
  c->steps = span_since(begin);
  c->step = c->steps.all / STEPS;
  c->iterations = (double)(s->iterations - before.iterations);
  c->iteration = STEPS * c->step / c->iterations;
  c->residual = s->time_residual - before.time_residual;
  c->jacobian = s->time_jacobian - before.time_jacobian;
  c->factor = s->time_factor - before.time_factor;
  c->solve = s->time_solve - before.time_solve;
  return 0;
}

static int find_rest(rope *r, costs *c)
{
  const ga_system *sys = ga_machine_system(ga_model_machine(r->model));
  ga_equilibrium_opts o = ga_equilibrium_defaults();
  ga_equilibrium *eq = NULL;
  span begin = span_now();
  o.stability = 0;
  int bad = stop(c, r, ga_equilibrium_create(r->ctx, sys, &o, &eq));
  if (!bad) bad = stop(c, r, ga_equilibrium_solve(eq, 0.0, r->q, NULL, NULL));
  c->statics = span_since(begin);
  if (!bad) {
    const ga_state *s = ga_equilibrium_state(eq);
    const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
    ga_modes_opts m = ga_modes_defaults();
    ga_modes *modes = NULL;
    m.n = MODES;
    begin = span_now();
    bad = stop(c, r, ga_modes_create(r->ctx, sys, &m, &p, &modes));
    c->modes = span_since(begin);
    ga_modes_destroy(&modes);
  }
  ga_equilibrium_destroy(&eq);
  return bad;
}

static void close_rope(rope *r)
{
  ga_stepper_destroy(&r->st);
  ga_model_destroy(&r->model);
  free(r->q);
  free(r->v);
  r->q = r->v = NULL;
}

/* Times and faults, with a new context of the library's own heap. */
static costs measure_times(int n)
{
  costs c = {0};
  rope r = {0};
  if (ga_context_create(NULL, &r.ctx)) return c.why = "no memory", c;
  int bad = build_rope(&r, n, &c);
  if (!bad) bad = make_steps(&r, &c);
  ga_stepper_destroy(&r.st);
  if (!bad) find_rest(&r, &c);
  close_rope(&r);
  ga_context_destroy(&r.ctx);
  return c;
}

/* Bytes, with a heap that counts them. */
static void measure_memory(int n, costs *c)
{
  rope r = {0};
  costs unused = {0};
  memory_count count;
  if (memory_context_begin(&count, &r.ctx)) return;
  int bad = build_rope(&r, n, &unused);
  c->machine = (double)count.live / (n + 1);
  if (!bad) make_steps(&r, &unused);
  c->stepper = (double)count.live / (n + 1);
  close_rope(&r);
  memory_context_end(&r.ctx);
}

enum { PHASES = 5 };
static const char *const PHASE[PHASES] = {"build", "start", "step", "statics", "modes"};

static span *phase(costs *c, int which)
{
  span *const all[PHASES] = {&c->build, &c->start, &c->steps, &c->statics, &c->modes};
  return all[which];
}

/* Small machines are measured several times, the best time of each phase counts: a single disturbance is as
 * long as all of it. */
static costs measure(int n, int most)
{
  costs best = measure_times(n);
  const int times = most / n < 10 ? most / n : 10;
  for (int i = 1; i < times && !best.why; i++) {
    costs c = measure_times(n);
    if (c.why) return c;
    for (int k = 0; k < PHASES; k++) {
      span *kept = phase(&best, k);
      const span now = *phase(&c, k);
      if (now.all < kept->all) kept->all = now.all;
      if (now.user < kept->user) kept->user = now.user;
    }
  }
  best.step = best.steps.all / STEPS;
  best.iteration = STEPS * best.step / best.iterations;
  if (!best.why) measure_memory(n, &best);
  return best;
}

/* Slope of log y over log x by least squares. */
static double slope(int n, const double *x, const double *y)
{
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (int i = 0; i < n; i++) {
    if (!(y[i] > 0.0)) return NAN;
    mean_x += log(x[i]) / n, mean_y += log(y[i]) / n;
  }
  for (int i = 0; i < n; i++) {
    const double dx = log(x[i]) - mean_x;
    xx += dx * dx, xy += dx * (log(y[i]) - mean_y);
  }
  return xy / xx;
}

/* The exponents over the last n sizes; key: of the figures. */
static void report_growth(report *out, costs *c, const int *size, int n, const char *key)
{
  enum { MOST = 8 };
  double x[MOST], all[MOST], user[MOST];
  printf("exponents of growth over %d to %d elements, all CPU time (without the system's):\n", size[0],
         size[n - 1]);
  for (int k = 0; k < PHASES; k++) {
    for (int i = 0; i < n && i < MOST; i++)
      x[i] = size[i], all[i] = phase(&c[i], k)->all, user[i] = phase(&c[i], k)->user;
    printf("  %s %.2f (%.2f)", PHASE[k], slope(n, x, all), slope(n, x, user));
    report_add(out, slope(n, x, all), "beam.%s.%s", key, PHASE[k]);
    report_add(out, slope(n, x, user), "beam.%s_user.%s", key, PHASE[k]);
  }
  printf("\n");
}

static void report_faults(report *out, costs *c, const int *size, int n)
{
  printf("page faults for a node\n%8s", "nodes");
  for (int k = 0; k < PHASES; k++) printf(" %9s", PHASE[k]);
  printf("\n");
  for (int i = 0; i < n; i++) {
    printf("%8d", size[i] + 1);
    for (int k = 0; k < PHASES; k++) {
      const double faults = phase(&c[i], k)->faults / (size[i] + 1);
      printf(" %9.2f", faults);
      report_add(out, faults, "beam.rope%d.faults_per_node_%s", size[i], PHASE[k]);
    }
    printf("\n");
  }
}

/* Assembly is residuals and Jacobians; a residual with its Jacobian in one pass counts as a residual. */
static void report_step(report *out, const costs *c, int n)
{
  const double part[] = {c->residual, c->jacobian, c->factor, c->solve}, to_ms = 1e3 / STEPS;
  const double sum = part[0] + part[1] + part[2] + part[3];
  printf("%8d %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", n + 1, to_ms * c->steps.clock, to_ms * part[0],
         to_ms * part[1], to_ms * part[2], to_ms * part[3], c->steps.clock / sum);
  report_add(out, to_ms * c->steps.clock, "beam.rope%d.step_ms", n);
  report_add(out, to_ms * (part[0] + part[1]), "beam.rope%d.step_assembly_ms", n);
  report_add(out, to_ms * part[2], "beam.rope%d.step_factors_ms", n);
  report_add(out, to_ms * part[3], "beam.rope%d.step_solutions_ms", n);
  report_add(out, c->steps.clock / sum, "beam.rope%d.step_over_parts", n);
}

static void print_costs(report *out, const costs *c, int n)
{
  printf("%8d %9.3f %9.3f %9.2f %11.2f %9.3f %9.3f %9.0f %9.0f\n", n + 1, c->build.all, c->start.all,
         1e3 * c->step, 1e6 * c->iteration / n, c->statics.all, c->modes.all, c->machine, c->stepper);
  report_add(out, 1e6 * c->iteration / n, "beam.rope%d.us_per_element_and_iteration", n);
  report_add(out, c->stepper, "beam.rope%d.bytes_per_node", n);
  report_add(out, c->machine, "beam.rope%d.bytes_per_node_machine", n);
}

static void measure_growth(report *out, int full)
{
  enum { SIZES = 4, LARGE_SIZES = 3 };
  static const int SIZE[SIZES] = {1000, 10000, 30000, 100000};
  costs c[SIZES];
  const int n = full ? SIZES : SIZES - 2;
  printf("a hanging rope: CPU time, memory of the library and of KLU\n%8s %9s %9s %9s %11s %9s %9s %9s %9s\n",
         "nodes", "build s", "start s", "step ms", "iter. us/el", "statics s", "modes s", "machine B",
         "+stepper");
  for (int i = 0; i < n; i++) {
    c[i] = measure(SIZE[i], SIZE[SIZES - 1]);
    if (c[i].why) return;
    print_costs(out, &c[i], SIZE[i]);
  }
  report_growth(out, c, SIZE, n, "growth_all_sizes");
  if (full) report_growth(out, c + SIZES - LARGE_SIZES, SIZE + SIZES - LARGE_SIZES, LARGE_SIZES, "growth");
  report_faults(out, c, SIZE, n);
  printf("peak of the process's memory after each phase of the last, GB:");
  for (int k = 0; k < PHASES; k++) {
    printf(" %s %.2f", PHASE[k], phase(&c[n - 1], k)->peak);
    report_add(out, phase(&c[n - 1], k)->peak, "beam.rope%d.peak_gb_%s", SIZE[n - 1], PHASE[k]);
  }
  printf("\n");
  printf("a step and its parts by the clock, ms\n%8s %9s %9s %9s %9s %9s %9s\n", "nodes", "step", "residuals",
         "Jacobians", "factors", "solutions", "step/sum");
  for (int i = 0; i < n; i++) report_step(out, &c[i], SIZE[i]);
}

/* ---- Flying spaghetti ---- */

enum { ELEMENTS = 32, NODES = ELEMENTS + 1 };
static const double T_END = 5.0, AT_ERROR = 1e-4;

typedef struct spaghetti {
  ga_context *ctx;
  ga_model *model;
  const ga_system *sys; /* opened */
  double *q0, *v0, *q, *q_ida;
  double end[3];   /* the truth: the end of the beam */
  int sampling;    /* 1: the peer looks for non-zeros, at points that no beam could reach */
  double *q_model; /* [nq of the machine] */
  ida_peer *peer;
} spaghetti;

static const char SPAGHETTI[] = "galpha: 1\nbodies:\n  beam: {type: beam, from: [6, 0, 0], to: [0, 8, 0], "
                                "elements: 32, stiffness: [10000, 10000, 10000, "
                                "500, 500, 500], mass_per_length: 1, rotary_inertia: [10, 10, "
                                "10]}\nfunctions:\n  M: {type: table, x: [0, 2.5, 5], y: [0, "
                                "200, 0], after: hold}\nforces:\n  push: {type: force, frame: beam, force: "
                                "['M(t)/10', 0, 0], torque: [0, '-M(t)/2', "
                                "'-M(t)']}\n";

static void rotation_of(double R[9], const double p[4])
{
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  const double made[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, made, sizeof made);
}

/* The machine's point of one of IDA's, which has seven numbers for a node in place of twelve. */
static ga_point machine_point(spaghetti *s, const ga_point *p)
{
  ga_point out = *p;
  for (int i = 0; i < NODES; i++) {
    memcpy(s->q_model + 12 * i, p->q + 7 * i, 3 * sizeof *s->q_model);
    rotation_of(s->q_model + 12 * i + 3, p->q + 7 * i + 3);
  }
  if (s->sampling) memcpy(s->q_model, s->q0, 12 * NODES * sizeof *s->q_model);
  out.q = s->q_model;
  out.motion = 0;
  return out;
}

static int mass(void *user, const ga_point *p, double *out)
{
  spaghetti *s = user;
  const ga_point at = machine_point(s, p);
  return s->sys->def.mass(s->sys->def.user, &at, out);
}

static int force(void *user, const ga_point *p, double *out)
{
  spaghetti *s = user;
  const ga_point at = machine_point(s, p);
  return s->sys->def.force(s->sys->def.user, &at, out);
}

static int output(void *user, const ga_point *p, double *out)
{
  spaghetti *s = user;
  const ga_point at = machine_point(s, p);
  return s->sys->def.output(s->sys->def.user, &at, out);
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  spaghetti *s = user;
  const ga_point at = machine_point(s, p);
  return s->sys->def.jacobian(s->sys->def.user, &at, J);
}

static void create_peer(spaghetti *s)
{
  static ga_factor factor[2 * NODES];
  static double q[7 * NODES];
  for (int i = 0; i < NODES; i++) {
    factor[2 * i] = (ga_factor){GA_RN, 3, GA_LEFT};
    factor[2 * i + 1] = (ga_factor){GA_QUAT, 0, GA_RIGHT};
    memcpy(q + 7 * i, s->q0 + 12 * i, 3 * sizeof *q);
    const double *R = s->q0 + 12 * i + 3, w = 0.5 * sqrt(1 + R[0] + R[4] + R[8]);
    q[7 * i + 3] = w;
    q[7 * i + 4] = (R[7] - R[5]) / (4 * w), q[7 * i + 5] = (R[2] - R[6]) / (4 * w),
              q[7 * i + 6] = (R[3] - R[1]) / (4 * w);
  }
  ida_model model = {.def = ga_system_defaults(), .q0 = q, .v0 = s->v0};
  model.def.n_factors = 2 * NODES, model.def.factors = factor;
  model.def.n_pattern = s->sys->n_entries;
  model.def.pattern_row = s->sys->row, model.def.pattern_col = s->sys->col;
  model.def.mass = mass, model.def.force = force, model.def.jacobian = jacobian, model.def.user = s;
  model.def.n_y = s->sys->size[GA_BLOCK_Y], model.def.output = output;
  s->sampling = 1;
  s->peer = ida_peer_create(s->ctx, &model);
  s->sampling = 0;
}

static double error_of(const spaghetti *s, const double *x)
{
  return fmax(fabs(x[0] - s->end[0]), fmax(fabs(x[1] - s->end[1]), fabs(x[2] - s->end[2])));
}

/* Error control by a tolerance, or with fixed > 0 equal steps. */
static int run_ours(spaghetti *s, double tol, double fixed, point *out)
{
  ga_stepper_opts o = ga_stepper_defaults();
  ga_simulate_opts sim = ga_simulate_defaults();
  ga_stepper *st = NULL;
  ga_simulator *run = NULL;
  const double begin = cpu_now();
  sim.t_end = T_END, sim.rtol = sim.atol = tol, sim.fixed_h = fixed, sim.defect_points = 0;
  ga_status status = ga_stepper_create(s->ctx, ga_machine_system(ga_model_machine(s->model)), &o, &st);
  if (!status) status = ga_simulator_create(s->ctx, st, &sim, &run);
  if (!status) status = ga_simulator_start(run, NULL, 0.0, s->q0, s->v0, NULL, NULL, NULL, NULL);
  if (!status) status = ga_simulator_run(run);
  if (!status) {
    memcpy(s->q, ga_stepper_state(st)->q, 12 * NODES * sizeof *s->q);
    out->cpu = cpu_now() - begin;
    out->error = error_of(s, s->q + 12 * ELEMENTS);
    out->steps = (double)ga_simulator_stats(run)->steps;
    out->iterations = (double)ga_stepper_stats(st)->iterations;
    out->factorisations = (double)ga_stepper_stats(st)->factorisations;
  } else {
    snprintf(out->why, sizeof out->why, "%.150s", ga_context_error(s->ctx)->text);
  }
  ga_simulator_destroy(&run);
  ga_stepper_destroy(&st);
  return status != GA_OK;
}

static int by_tolerance(void *user, point *out)
{
  return run_ours(user, out->setting, 0.0, out);
}

static int by_steps(void *user, point *out)
{
  return run_ours(user, 1e-6, T_END / out->setting, out);
}

static int run_ida(void *user, int order, point *out)
{
  spaghetti *s = user;
  ida_opts o = ida_peer_defaults(IDA_GGL);
  ida_counts n;
  o.tol = out->setting, o.max_order = order;
  const double begin = cpu_now();
  const int rc = ida_peer_run(s->peer, &o, T_END, s->q_ida, NULL, &n);
  out->cpu = cpu_now() - begin;
  if (rc) return snprintf(out->why, sizeof out->why, "IDA's flag %d", rc), 1;
  out->error = error_of(s, s->q_ida + 7 * ELEMENTS);
  out->steps = (double)n.steps, out->iterations = (double)n.iterations,
  out->factorisations = (double)n.jacobians;
  return 0;
}

static int by_ida(void *user, point *out)
{
  return run_ida(user, 5, out);
}

static int by_ida_of_order_2(void *user, point *out)
{
  return run_ida(user, 2, out);
}

static int spaghetti_open(spaghetti *s)
{
  if (ga_context_create(NULL, &s->ctx) ||
      ga_model_read_text(s->ctx, "spaghetti", SPAGHETTI, sizeof SPAGHETTI - 1, NULL, &s->model) ||
      ga__system_open(s->ctx, ga_machine_system(ga_model_machine(s->model)), &s->sys))
    return 1;
  s->q0 = calloc(12 * NODES, sizeof(double)), s->v0 = calloc(6 * NODES, sizeof(double));
  s->q = calloc(12 * NODES, sizeof(double)), s->q_ida = calloc(7 * NODES, sizeof(double));
  s->q_model = calloc(12 * NODES, sizeof(double));
  if (!s->q0 || !s->v0 || !s->q || !s->q_ida || !s->q_model || s->sys->nv != 6 * NODES) return 1;
  return ga_machine_initial(ga_model_machine(s->model), s->q0, s->v0, NULL) != GA_OK;
}

static void spaghetti_close(spaghetti *s)
{
  ida_peer_destroy(&s->peer);
  ga__system_close(&s->sys);
  ga_model_destroy(&s->model);
  ga_context_destroy(&s->ctx);
  double *const arrays[] = {s->q0, s->v0, s->q, s->q_ida, s->q_model};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
}

/* The truth is the limit of two runs with equal steps, 5/32000 and 5/16000 s. */
static int find_truth(spaghetti *s)
{
  point p = {0};
  double rough[3];
  if (run_ours(s, 1e-6, T_END / 16000, &p)) return 1;
  memcpy(rough, s->q + 12 * ELEMENTS, sizeof rough);
  if (run_ours(s, 1e-6, T_END / 32000, &p)) return 1;
  for (int i = 0; i < 3; i++) s->end[i] = (4 * s->q[12 * ELEMENTS + i] - rough[i]) / 3;
  return 0;
}

static void measure_spaghetti(report *out)
{
  static curve c[4];
  spaghetti s = {0};
  static const struct {
    const char *name, *setting;
    curve_run_fn run;
    curve_plan plan;
  } row[] = {{"ours_fixed", "steps", by_steps, {250, 2, 1e-6, 1, 0}},
             {"ours", "tolerance", by_tolerance, {1e-3, 0.2, 1e-6, 1, 0}},
             {"ida", "tolerance", by_ida, {1e-2, 0.2, 1e-6, 1, 0}},
             {"ida_order2", "tolerance", by_ida_of_order_2, {1e-2, 0.2, 1e-6, 1, 0}}};
  if (spaghetti_open(&s) || find_truth(&s)) {
    fprintf(stderr, "flying spaghetti: %s\n", ga_context_error(s.ctx)->text);
    spaghetti_close(&s);
    return;
  }
  create_peer(&s);
  printf("flying spaghetti, %d elements, %g s: error of its end against the limit in time\n", ELEMENTS,
         T_END);
  const int n = s.peer ? 4 : 2;
  for (int k = 0; k < n; k++) {
    snprintf(c[k].name, sizeof c[k].name, "%s", row[k].name);
    curve_walk(&c[k], &row[k].plan, row[k].run, &s);
  }
  for (int k = 0; k < n; k++) curve_measure(&c[k], 1.0, row[k].run, &s);
  for (int k = 0; k < n; k++) {
    curve_print(&c[k], row[k].setting);
    report_add(out, curve_time_at(&c[k], AT_ERROR), "beam.spaghetti.%s_seconds", row[k].name);
  }
  const double best =
      fmin(curve_time_at(&c[2], AT_ERROR), curve_time_at(&c[3], AT_ERROR)); /* a NaN does not count */
  for (int k = 0; k < 2 && s.peer; k++) {
    const double ratio = best / curve_time_at(&c[k], AT_ERROR);
    printf("IDA's time over %s at an error of %g m: %.2f\n", row[k].name, AT_ERROR, ratio);
    report_add(out, ratio, "beam.spaghetti.ida_over_%s", row[k].name);
  }
  spaghetti_close(&s);
}

int main(int argc, char **argv)
{
  bench_options o;
  static report figures;
  const int code = bench_options_read(&o, argc, argv, "growth spaghetti");
  if (code >= 0) return code;
  if (bench_wanted(&o, "growth")) measure_growth(&figures, o.full || o.only);
  if (bench_wanted(&o, "spaghetti")) measure_spaghetti(&figures);
  return bench_finish(&figures, &o);
}
