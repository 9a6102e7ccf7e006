/* How robust methods are: every model given, from its own start and from starts near it, under several
 * methods and tolerances, each run in a process of its own with a limit of time; and compared with a solution
 * at a tolerance so tight that two orders and two families agree.
 *
 *   robust run [--file CSV] [--tol LIST] [--starts N] [--methods LIST] [--seconds S] [--references DIR]
 *              [--reference TOL] [--times 0] MODEL...
 *   robust steps [--tol LIST] [--methods LIST] MODEL...
 *
 * `steps` prints the steps of the first method and tolerance: end, size, order, and work so far.
 * tests/accuracy/robust-summary CSV makes tables of it.
 *
 * With --references solutions to compare with are kept in files there, so that methods can be measured again
 * after a change in much less time; with --reference they are those of collocation at that tolerance alone,
 * which takes less time still; with --times 0 work is counted but not timed.
 *
 * A row of CSV for each run. Rows that the file has already are not computed again, so a measurement that was
 * ended goes on, and models and tolerances can be measured in any order and in parts. Methods: stabilized;
 * automatic; collocation, whose order is chosen; collocation.N of order N. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "galpha/galpha.h"
#include "galpha/model.h"
#include "../random.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 200, MOST_SIGNALS = 6000, MOST_LIST = 16, MOST_RUNS = 200, TEXT = 400 };

#define ENOUGH 0.15 /* [s] */
#define NEAR 1e-3   /* of coordinates, and of velocities: how far other starts are away */
/* Signals that move less than this part of the largest range of their unit are measured by that much of it.
 */
#define QUIET 1e-3
#define CONSTANT 1e-4 /* of the largest value of the unit: likewise, where nothing of it moves */
#define LEAST 1e-6    /* in SI units: likewise, where all of it is rounding */
#define TURN 6.283185307179586
#define TIGHT 1e-11      /* tolerances of the solution that errors are measured from, */
#define LESS_TIGHT 1e-10 /* of another order, */
#define ORDER_2 1e-8     /* and of order 2 */

typedef struct choice { /* of a run */
  ga_method method;
  int order;
  double tolerance;
  int start; /* 0: that of the model */
} choice;

typedef struct outcome { /* in memory that parent and child share */
  int begun, done, n;    /* begun 1: it was started; done 1: and reached its end; n: signals */
  char text[TEXT];       /* why not */
  double seconds;        /* of the processor, without reading and signals */
  ga_simulate_stats sim;
  ga_stats st;
  double value[RECORDS][MOST_SIGNALS];
} outcome;

typedef struct names {
  int n;
  char name[MOST_SIGNALS][64], unit[MOST_SIGNALS][24];
} names;

typedef struct options {
  const char *file;
  int n_tol, n_methods, starts;
  double tol[MOST_LIST];
  char method[MOST_LIST][32];
  double seconds;
  const char *references; /* folder; NULL: they are not kept */
  double reference;       /* tolerance; 0: by two orders and two families */
  int times;              /* 0: runs are not repeated for the sake of clocks */
} options;

/* ---- One run, in the child ---- */

typedef struct run {
  ga_context *ctx;
  ga_model *model;
  ga_machine *machine;
  ga_stepper *st;
  ga_simulator *sim;
  ga_event_watch *watch;
  ga_run_settings set;
  double time[RECORDS];
  int next;     /* record */
  double aside; /* [s] that signals took */
  outcome *out;
} run;

static double processor_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int on_output(void *user, const ga_state *s)
{
  run *r = user;
  if (r->next >= RECORDS || s->t != r->time[r->next]) return 0;
  const double began = processor_seconds();
  const ga_status status = ga_machine_signals(r->machine, NULL, s, r->out->n, NULL, r->out->value[r->next++]);
  r->aside += processor_seconds() - began;
  return status != GA_OK;
}

static ga_status settle(run *r, double *q, size_t nq, double *v, double *x, size_t nx)
{
  ga_equilibrium *eq = NULL;
  ga_equilibrium_opts opts = ga_equilibrium_defaults();
  opts.hold_free = 1;
  ga_status status = ga_equilibrium_create(r->ctx, ga_machine_system(r->machine), &opts, &eq);
  if (!status) status = ga_equilibrium_solve(eq, r->set.t_start, q, x, NULL);
  const ga_state *rest = status ? NULL : ga_equilibrium_state(eq);
  if (rest) status = ga_machine_move_velocities(r->machine, q, rest->q, v);
  if (rest) memcpy(q, rest->q, nq * sizeof *q);
  if (rest && nx > 0) memcpy(x, rest->x, nx * sizeof *x);
  ga_equilibrium_destroy(&eq);
  return status;
}

/* A start near the model's, the same for all methods. */
static void move_start(const run *r, const char *name, int start, double *q, double *v, double *d, int nv)
{
  const ga_group *group = ga_system_group(ga_machine_system(r->machine));
  rig_random random = {(uint64_t)start * 0x9E3779B97F4A7C15u};
  double size = 0.0, speed = 0.0;
  for (const char *c = name; *c; c++) random.state = random.state * 31 + (uint64_t)(unsigned char)*c;
  for (int i = 0; i < ga_group_nq(group); i++) size = fmax(size, fabs(q[i]));
  for (int i = 0; i < nv; i++) speed = fmax(speed, fabs(v[i]));
  size = fmin(size > 0.0 ? size : 1.0, 1.0);
  for (int i = 0; i < nv; i++) d[i] = NEAR * size * rig_uniform(&random, -1.0, 1.0);
  ga_group_move(group, q, q, d);
  for (int i = 0; i < nv; i++) v[i] += NEAR * fmax(speed, size) * rig_uniform(&random, -1.0, 1.0);
}

static ga_status start(run *r, const char *name, const choice *c)
{
  const ga_system *sys = ga_machine_system(r->machine);
  const int nv = ga_system_size(sys, GA_BLOCK_V);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  double *q = calloc(nq + 2 * (size_t)nv + nx + 1, sizeof *q), *v = q + nq, *x = v + nv, *d = x + nx;
  const ga_start_opts opts = ga_run_start_opts(&r->set);
  ga_status status = q ? ga_machine_initial(r->machine, q, v, x) : GA_ERR_MEMORY;
  if (!status && r->set.from_equilibrium) status = settle(r, q, nq, v, x, nx);
  if (!status && c->start > 0) move_start(r, name, c->start, q, v, d, nv);
  if (!status) status = ga_simulator_start(r->sim, &opts, r->set.t_start, q, v, x, NULL, NULL, NULL);
  free(q);
  return status;
}

static ga_status prepare(run *r, const choice *c)
{
  ga_stepper_opts so = ga_stepper_defaults();
  ga_simulate_opts o = ga_simulate_defaults();
  r->set = *ga_model_settings(r->model);
  r->set.step = r->set.accuracy = 0.0;
  r->set.tolerance = c->tolerance;
  r->set.method = c->method;
  r->set.order = c->order;
  for (int k = 0; k < RECORDS; k++) /* off the times at which things happen */
    r->time[k] = r->set.t_start + (r->set.t_end - r->set.t_start) * (k + 0.3719) / RECORDS;
  ga_status status = ga_run_stepper_opts(r->ctx, &r->set, &so);
  if (!status) status = ga_run_simulate_opts(r->ctx, &r->set, &o);
  const double size = ga_machine_size(r->machine);
  if (r->set.atol == 0.0 && size > 0.0) o.atol = fmin(o.atol, o.rtol * size); /* as the program does */
  o.output = on_output;
  o.user = r;
  o.n_output_times = RECORDS;
  o.output_times = r->time;
  if (!status && ga_machine_n_events(r->machine) > 0) {
    status = ga_event_watch_create(r->ctx, r->machine, NULL, NULL, &r->watch);
    if (!status) ga_event_watch_use(r->watch, &o);
  }
  if (!status) status = ga_stepper_create(r->ctx, ga_machine_system(r->machine), &so, &r->st);
  return status ? status : ga_simulator_create(r->ctx, r->st, &o, &r->sim);
}

/* Start and steps. *seconds: of the processor, without creation and signals. */
static ga_status make_run(run *r, const char *name, const choice *c, double *seconds)
{
  ga_status status = prepare(r, c);
  r->aside = 0.0;
  const double began = processor_seconds();
  if (!status) status = start(r, name, c);
  r->out->begun = !status;
  while (!status) status = ga_simulator_step(r->sim);
  *seconds = processor_seconds() - began - r->aside;
  return status;
}

static void close_run(run *r)
{
  ga_simulator_destroy(&r->sim);
  ga_stepper_destroy(&r->st);
  ga_event_watch_destroy(&r->watch);
}

/* The mean of as many runs as take ENOUGH: clocks may advance in steps of milliseconds. */
static double mean_seconds(run *r, const char *name, const choice *c, double first)
{
  double sum = 0.0, seconds;
  int n = 0;
  if (first >= ENOUGH) return first;
  const double began = processor_seconds();
  for (r->next = RECORDS; n < MOST_RUNS && processor_seconds() - began < ENOUGH; n++) {
    close_run(r);
    make_run(r, name, c, &seconds);
    sum += seconds;
  }
  return sum / n;
}

static void simulate(const char *path, const char *name, const choice *c, int is_timed, outcome *out)
{
  run r = {.out = out};
  ga_status status = ga_context_create(NULL, &r.ctx);
  if (!status) status = ga_model_read_file(r.ctx, path, NULL, &r.model);
  r.machine = status ? NULL : ga_model_machine(r.model);
  out->n = r.machine ? ga_machine_n_signals(r.machine) : 0;
  if (out->n > MOST_SIGNALS) out->n = MOST_SIGNALS;
  if (!status) status = make_run(&r, name, c, &out->seconds);
  if (r.sim) out->sim = *ga_simulator_stats(r.sim), out->st = *ga_stepper_stats(r.st);
  const int finished = out->begun && status == GA_STOPPED && ga_simulator_finished(r.sim);
  if (!finished) {
    const ga_error *e = r.ctx ? ga_context_error(r.ctx) : NULL;
    const int stopped = out->begun && status == GA_STOPPED;
    snprintf(out->text, TEXT, "%s",
             stopped          ? "ended by an event"
             : e && e->status ? e->text
                              : ga_status_text(status));
  } else if (is_timed) {
    out->seconds = mean_seconds(&r, name, c, out->seconds);
  }
  out->done = finished;
}

/* Work in residuals, as the choice of the order counts it (core/simulate_order.c). */
static double work_of(const ga_stats *n)
{
  return (double)n->residuals + 1.5 * (double)n->jacobians + 2.0 * (double)n->factorisations +
         0.7 * (double)n->solves;
}

static int print_steps(const char *path, const choice *c)
{
  static outcome none;
  run r = {.out = &none};
  ga_status status = ga_context_create(NULL, &r.ctx);
  if (!status) status = ga_model_read_file(r.ctx, path, NULL, &r.model);
  r.machine = status ? NULL : ga_model_machine(r.model);
  r.next = RECORDS;
  if (!status) status = prepare(&r, c);
  if (!status) status = start(&r, path, c);
  printf("# t h order work rejected, %s\n", path);
  double before = r.set.t_start;
  while (!status) {
    status = ga_simulator_step(r.sim);
    if (status != GA_OK && status != GA_STOPPED) break;
    const double t = ga_stepper_state(r.st)->t;
    const ga_simulate_stats *n = ga_simulator_stats(r.sim);
    if (t > before)
      printf("%.9g %.4g %d %.1f %ld\n", t, t - before, ga_stepper_order(r.st),
             work_of(ga_stepper_stats(r.st)),
             n->rejected_error + n->rejected_newton + n->rejected_callback + n->rejected_defect);
    before = t;
  }
  const int bad = status != GA_STOPPED;
  if (bad) fprintf(stderr, "%s: %s\n", path, r.ctx ? ga_context_error(r.ctx)->text : ga_status_text(status));
  close_run(&r);
  ga_model_destroy(&r.model);
  ga_context_destroy(&r.ctx);
  return bad;
}

/* ---- Runs, in the parent ---- */

static void run_child(const char *path, const char *name, const choice *c, double seconds, int is_timed,
                      outcome *out)
{
  int how = 0;
  memset(out, 0, offsetof(outcome, value));
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t most = (rlim_t)ceil(seconds);
    const struct rlimit limit = {most, most + 1};
    setrlimit(RLIMIT_CPU, &limit);
    simulate(path, name, c, is_timed, out);
    _exit(0);
  }
  if (child < 0) exit(2);
  while (waitpid(child, &how, 0) < 0) continue;
  if (WIFSIGNALED(how)) {
    out->done = 0;
    snprintf(out->text, TEXT,
             WTERMSIG(how) == SIGXCPU || WTERMSIG(how) == SIGKILL ? "took too long" : "died by signal %d",
             WTERMSIG(how));
  }
}

static int read_names(const char *path, names *all)
{
  ga_context *ctx = NULL;
  ga_model *model = NULL;
  if (ga_context_create(NULL, &ctx)) return 0;
  const ga_status status = ga_model_read_file(ctx, path, NULL, &model);
  const ga_machine *m = status ? NULL : ga_model_machine(model);
  all->n = m ? ga_machine_n_signals(m) : 0;
  if (all->n > MOST_SIGNALS) all->n = MOST_SIGNALS;
  for (int i = 0; i < all->n; i++) {
    snprintf(all->name[i], sizeof all->name[i], "%s", ga_machine_signal_name(m, i));
    snprintf(all->unit[i], sizeof all->unit[i], "%s", ga_machine_signal_unit(m, i));
  }
  ga_model_destroy(&model);
  ga_context_destroy(&ctx);
  return all->n > 0;
}

/* ---- Errors ---- */

/* Energies that are sums along a run are not counted here, and three angles have no meaning where the second
 * is a quarter turn. */
static int is_compared(const char *name)
{
  static const char *const not [] = {".roll", ".pitch", ".yaw"};
  const size_t n = strlen(name);
  int is = strncmp(name, "energy.", 7) != 0;
  for (int i = 0; i < 3; i++) is &= n < strlen(not [i]) || strcmp(name + n - strlen(not [i]), not [i]) != 0;
  return is;
}

/* What errors of each signal are compared with: its range, or a part of the largest of its unit; 0: not
 * compared. */
static void find_scales(const names *all, const outcome *truth, double *scale, char *moves)
{
  double *range = calloc(2 * (size_t)all->n, sizeof *range), *size = range + all->n;
  for (int i = 0; range && i < all->n; i++) {
    double low = truth->value[0][i], high = low;
    for (int k = 1; k < RECORDS; k++)
      low = fmin(low, truth->value[k][i]), high = fmax(high, truth->value[k][i]);
    range[i] = high - low;
    size[i] = fmax(fabs(low), fabs(high));
  }
  for (int i = 0; range && i < all->n; i++) {
    double most = 0.0, largest = 0.0;
    for (int j = 0; j < all->n; j++)
      if (strcmp(all->unit[i], all->unit[j]) == 0)
        most = fmax(most, range[j]), largest = fmax(largest, size[j]);
    const double least = fmax(LEAST, fmax(QUIET * most, CONSTANT * largest));
    scale[i] = is_compared(all->name[i]) ? fmax(range[i], least) : 0.0;
    moves[i] = range[i] > least;
  }
  free(range);
}

static int is_quaternion(const char *name)
{
  const size_t n = strlen(name);
  return n > 3 && name[n - 3] == '.' && name[n - 2] == 'q' && strchr("wxyz", name[n - 1]) != NULL;
}

typedef struct distance {
  double all, most_times,
      positions; /* largest over scale; largest in 95 of 100 records; of lengths and angles */
  double middle; /* of the middle one of signals that move: its largest in 95 of 100 records */
  int signal;
} distance;

typedef struct reference {
  int known; /* 0: there is none */
  outcome *value;
  distance doubt, other; /* between two orders; to order 2 */
  double scale[MOST_SIGNALS];
  char moves[MOST_SIGNALS]; /* 1: its range is its scale */
} reference;

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static distance compare(const names *all, const reference *ref, const outcome *a, const outcome *b)
{
  static double of_signal[MOST_SIGNALS];
  const double *scale = ref->scale;
  distance d = {0};
  double worst[RECORDS] = {0}, one[RECORDS];
  int n = 0;
  for (int i = 0; i < all->n; i++) {
    const int length = (strcmp(all->unit[i], "m") == 0 || strcmp(all->unit[i], "rad") == 0);
    const int angle = strcmp(all->unit[i], "rad") == 0; /* counted from some turn on */
    const int either = is_quaternion(all->name[i]);
    for (int k = 0; scale[i] > 0.0 && k < RECORDS; k++) {
      const double x = a->value[k][i], y = b->value[k][i];
      double off = fabs(x - y);
      if (either) off = fmin(off, fabs(x + y));
      if (angle) off = fabs(remainder(off, TURN));
      off = off == off ? off / scale[i] : HUGE_VAL;
      one[k] = off;
      worst[k] = fmax(worst[k], off);
      if (length) d.positions = fmax(d.positions, off);
      if (off > d.all) d.all = off, d.signal = i;
    }
    if (!(scale[i] > 0.0 && ref->moves[i])) continue;
    qsort(one, RECORDS, sizeof *one, ascending);
    of_signal[n++] = one[RECORDS * 95 / 100];
  }
  qsort(of_signal, (size_t)n, sizeof *of_signal, ascending);
  d.middle = n > 0 ? of_signal[n / 2] : 0.0;
  qsort(worst, RECORDS, sizeof *worst, ascending);
  d.most_times = worst[RECORDS * 95 / 100];
  return d;
}

/* ---- The measurement ---- */

static outcome *shared_outcome(void)
{
  void *p =
      mmap(NULL, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) exit(2);
  return p;
}

/* By collocation of two orders and, for no family to be trusted alone, by order 2. */
static void find_reference(const char *path, const char *name, int at, double seconds, const names *all,
                           reference *ref)
{
  outcome *second = shared_outcome(), *third = shared_outcome();
  choice c = {GA_COLLOCATION, 0, TIGHT, at};
  run_child(path, name, &c, 3.0 * seconds, 0, ref->value);
  for (int i = 0; i < 4 && !ref->value->done && ref->value->begun;
       i++) { /* rough motions: less tight, or not at all */
    c.tolerance *= 10.0;
    run_child(path, name, &c, 3.0 * seconds, 0, ref->value);
  }
  ref->doubt = ref->other = (distance){HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL, 0};
  ref->known = ref->value->done;
  choice two = {GA_STABILIZED, 0, ORDER_2, at};
  run_child(path, name, &two, 3.0 * seconds, 0, third);
  for (int i = 0; i < 2 && !third->done && third->begun; i++) {
    two.tolerance *= 10.0;
    run_child(path, name, &two, 3.0 * seconds, 0, third);
  }
  if (ref->known) {
    find_scales(all, ref->value, ref->scale, ref->moves);
    c.order = 6;
    c.tolerance *= LESS_TIGHT / TIGHT;
    run_child(path, name, &c, 3.0 * seconds, 0, second);
    if (second->done) ref->doubt = compare(all, ref, second, ref->value);
    if (third->done) ref->other = compare(all, ref, third, ref->value);
  } else if (third->done) { /* only by order 2 */
    memcpy(ref->value, third, sizeof *third);
    find_scales(all, ref->value, ref->scale, ref->moves);
    ref->known = 1;
    two.tolerance *= 10.0;
    run_child(path, name, &two, 3.0 * seconds, 0, second);
    if (second->done) ref->doubt = compare(all, ref, second, ref->value);
  }
  munmap(second, sizeof *second);
  munmap(third, sizeof *third);
}

/* By collocation at one tolerance; where that fails, as above. */
static void find_quickly(const options *o, const char *path, const char *name, int at, const names *all,
                         reference *ref)
{
  const choice c = {GA_COLLOCATION, 0, o->reference, at};
  ref->doubt = ref->other = (distance){0};
  run_child(path, name, &c, 3.0 * o->seconds, 0, ref->value);
  ref->known = ref->value->done;
  if (ref->known)
    find_scales(all, ref->value, ref->scale, ref->moves);
  else
    find_reference(path, name, at, o->seconds, all, ref);
}

/* Reads or writes a reference; 1: done. */
static int exchange_reference(FILE *f, int write, reference *ref)
{
  outcome *v = ref->value;
  const struct {
    void *at;
    size_t size;
  } part[] = {{&ref->known, sizeof ref->known}, {&ref->doubt, sizeof ref->doubt},
              {&ref->other, sizeof ref->other}, {ref->scale, sizeof ref->scale},
              {ref->moves, sizeof ref->moves},  {&v->n, sizeof v->n}};
  int ok = f != NULL;
  for (size_t i = 0; ok && i < sizeof part / sizeof *part; i++)
    ok = (write ? fwrite(part[i].at, part[i].size, 1, f) : fread(part[i].at, part[i].size, 1, f)) == 1;
  ok = ok && v->n >= 0 && v->n <= MOST_SIGNALS;
  for (int k = 0; ok && v->n > 0 && k < RECORDS; k++) {
    const size_t size = (size_t)v->n * sizeof(double);
    ok = (write ? fwrite(v->value[k], size, 1, f) : fread(v->value[k], size, 1, f)) == 1;
  }
  if (f && fclose(f)) ok = 0;
  return ok;
}

static void get_reference(const options *o, const char *path, const char *name, int at, const names *all,
                          reference *ref)
{
  char file[1000] = "";
  if (o->references) snprintf(file, sizeof file, "%s/%s.%d", o->references, name, at);
  if (o->references && exchange_reference(fopen(file, "rb"), 0, ref) && ref->value->n == all->n) return;
  if (o->reference > 0.0)
    find_quickly(o, path, name, at, all, ref);
  else
    find_reference(path, name, at, o->seconds, all, ref);
  if (o->references && !exchange_reference(fopen(file, "wb"), 1, ref)) {
    perror(file);
    remove(file);
  }
}

static const char HEAD[] =
    "machine,start,method,tolerance,ending,seconds,steps,rejected_error,rejected_newton,rejected_callback,"
    "rejected_defect,residuals,jacobians,factorisations,solves,at_rounding,h_least,h_largest,error,error_95,"
    "error_positions,"
    "error_middle,signal,doubt,other,"
    "message\n";

static void key_of(char *key, size_t size, const char *name, int at, const char *method, double tol)
{
  snprintf(key, size, "%s,%d,%s,%.0e,", name, at, method, tol);
}

/* 1: the file has this row already. */
static int has_row(const char *file, const char *key)
{
  char line[4000];
  int found = 0;
  FILE *f = fopen(file, "r");
  while (f && !found && fgets(line, sizeof line, f)) found = strncmp(line, key, strlen(key)) == 0;
  if (f) fclose(f);
  return found;
}

static int parse_method(const char *text, choice *c)
{
  c->order = 0;
  c->method = GA_COLLOCATION;
  if (strcmp(text, "stabilized") == 0) return c->method = GA_STABILIZED, 1;
  if (strcmp(text, "automatic") == 0) return c->method = GA_AUTOMATIC, 1;
  if (strncmp(text, "collocation", 11) != 0) return 0;
  if (text[11] == '.') c->order = atoi(text + 12);
  return text[11] == '.' || text[11] == '\0';
}

static void write_row(FILE *f, const char *key, const outcome *o, const names *all, const reference *ref)
{
  const int measured = o->done && ref->known;
  const distance d = measured ? compare(all, ref, o, ref->value) : (distance){NAN, NAN, NAN, NAN, 0};
  char text[TEXT];
  snprintf(text, sizeof text, "%s", o->done ? "" : o->text);
  for (char *p = text; *p; p++)
    if (*p == '"' || *p == '\n') *p = ' ';
  fprintf(
      f,
      "%s%s,%.6f,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%.3g,%.3g,%.3e,%.3e,%.3e,%.3e,%s,%.3e,%.3e,\"%s\"\n",
      key,
      o->done    ? "done"
      : o->begun ? "failed"
                 : "no start",
      o->seconds, o->sim.steps, o->sim.rejected_error, o->sim.rejected_newton, o->sim.rejected_callback,
      o->sim.rejected_defect, o->st.residuals, o->st.jacobians, o->st.factorisations, o->st.solves,
      o->sim.at_rounding, o->sim.h_smallest, o->sim.h_largest, d.all, d.most_times, d.positions, d.middle,
      measured ? all->name[d.signal] : "", ref->doubt.all, ref->other.all, text);
  fflush(f);
}

static void measure_start(const options *o, const char *path, const char *name, int at, const names *all,
                          FILE *f)
{
  static reference ref;
  int known = 0;
  outcome *out = shared_outcome();
  char key[200];
  for (int t = 0; t < o->n_tol; t++)
    for (int m = 0; m < o->n_methods; m++) {
      choice c = {.tolerance = o->tol[t], .start = at};
      key_of(key, sizeof key, name, at, o->method[m], o->tol[t]);
      if (has_row(o->file, key) || !parse_method(o->method[m], &c)) continue;
      if (!known) {
        if (!ref.value) ref.value = shared_outcome();
        get_reference(o, path, name, at, all, &ref);
        known = 1;
      }
      run_child(path, name, &c, o->seconds, o->times, out);
      write_row(f, key, out, all, &ref);
    }
  munmap(out, sizeof *out);
}

static int measure(const options *o, int n, char **model)
{
  static names all;
  int bad = 0;
  FILE *f = fopen(o->file, "a");
  if (!f) return perror(o->file), 2;
  if (ftell(f) == 0) fputs(HEAD, f);
  for (int at = 0; at < o->starts; at++)
    for (int i = 0; i < n; i++) {
      char name[64];
      const char *slash = strrchr(model[i], '/'), *base = slash ? slash + 1 : model[i];
      snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
      if (read_names(model[i], &all))
        measure_start(o, model[i], name, at, &all, f);
      else
        bad = 1, fprintf(stderr, "%s cannot be read\n", model[i]);
    }
  fclose(f);
  return bad;
}

static int split_list(char *text, char out[MOST_LIST][32])
{
  int n = 0;
  for (char *p = strtok(text, ","); p && n < MOST_LIST; p = strtok(NULL, ","))
    snprintf(out[n++], 32, "%s", p);
  return n;
}

int main(int argc, char **argv)
{
  options o = {.file = "robust.csv", .starts = 1, .seconds = 20.0, .times = 1};
  char tol[MOST_LIST][32], usual_tol[] = "1e-3,1e-5,1e-7", usual[] = "stabilized,automatic";
  char *tolerances = usual_tol, *methods = usual;
  int i = 2;
  const int steps = argc > 2 && strcmp(argv[1], "steps") == 0;
  if (argc < 3 || (!steps && strcmp(argv[1], "run") != 0))
    return fputs("robust: run or steps, and models\n", stderr), 2;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
    char *value = argv[i + 1];
    if (strcmp(argv[i], "--file") == 0)
      o.file = value;
    else if (strcmp(argv[i], "--tol") == 0)
      tolerances = value;
    else if (strcmp(argv[i], "--methods") == 0)
      methods = value;
    else if (strcmp(argv[i], "--starts") == 0)
      o.starts = atoi(value);
    else if (strcmp(argv[i], "--seconds") == 0)
      o.seconds = strtod(value, NULL);
    else if (strcmp(argv[i], "--references") == 0)
      o.references = value;
    else if (strcmp(argv[i], "--reference") == 0)
      o.reference = strtod(value, NULL);
    else if (strcmp(argv[i], "--times") == 0)
      o.times = atoi(value);
    else
      return fprintf(stderr, "robust: unknown option %s\n", argv[i]), 2;
  }
  o.n_tol = split_list(tolerances, tol);
  for (int k = 0; k < o.n_tol; k++) o.tol[k] = strtod(tol[k], NULL);
  o.n_methods = split_list(methods, o.method);
  choice c = {.tolerance = o.tol[0]};
  if (steps && !parse_method(o.method[0], &c)) return fputs("robust: no such method\n", stderr), 2;
  int bad = 0;
  for (; steps && i < argc; i++) bad |= print_steps(argv[i], &c);
  return steps ? bad : measure(&o, argc - i, argv + i);
}
