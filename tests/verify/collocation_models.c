/* Machines from parts under collocation: the orders of positions, velocities, accelerations, forces, outputs
 * and energies, on the models of examples/models. What is true is a solution of order 10 by small steps,
 * which must agree with one of order 8, and with order 2 extrapolated to step 0, a method of another family.
 */
#include "collocation_models.h"

#include "galpha/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SAMPLES = 5,
  LEVELS = 12,
  LEAST_LEVELS = 4,
  LEAST_KINDS = 3,
  MOST_SET = 3,
  MOST_ORDERS = 6,
  N_KINDS = 6
};
#define BAND 0.15      /* of the order */
#define ABOVE 10.0     /* times the doubt in what is true: smaller errors have no order */
#define ROUNDING 1e-11 /* of the largest value of its kind, likewise */
#define AGREE 1e-5     /* of the largest value of its kind: order 2, extrapolated */

typedef struct subject {
  const char *model, *set[MOST_SET]; /* set: parameters, up to NULL */
  double t_end;                      /* [s] with SAMPLES samples, and from one to the next so many steps: */
  int coarse, fine,
      order_2; /* the first, doubled until errors are rounding; of what is true; and of order 2 */
  int in_short;
  int order[MOST_ORDERS];
} subject;

#define EVEN                                                                                                 \
  {                                                                                                          \
    4, 6, 8                                                                                                  \
  }
#define ALL                                                                                                  \
  {                                                                                                          \
    4, 6, 8, 3, 5, 7                                                                                         \
  }
/* Orders that are left out reach rounding before they show. */
static const subject subjects[] = {
    {"chain", {"n=10"}, 0.6, 2, 80, 800, 1, ALL},
    {"bricard", {NULL}, 2, 1, 60, 800, 1, ALL},             /* redundant */
    {"bennett", {NULL}, 1, 2, 60, 400, 0, {4, 6, 3, 5, 7}}, /* redundant */
    {"four_bar", {NULL}, 1, 2, 60, 400, 1, ALL},            /* redundant */
    {"four_bar_3d", {NULL}, 1, 2, 60, 400, 0, ALL},
    {"door", {NULL}, 3, 1, 40, 400, 0, EVEN}, /* redundant */
    {"andrews", {NULL}, 0.01, 2, 100, 1600, 0, ALL},
    {"slider_crank_3d", {NULL}, 0.4, 1, 60, 800, 0, {4, 6, 3, 5, 7}},
    {"double_pendulum", {NULL}, 0.8, 2, 60, 400, 1, ALL},
    {"gyroscopic", {NULL}, 1, 4, 80, 400, 0, EVEN},
    {"heavy_top", {NULL}, 0.4, 4, 320, 6400, 0, {4, 6, 3, 7}},
    {"mechatronic", {NULL}, 1, 2, 60, 400, 1, ALL}, /* moving pivot, feedback of vdot and λ */
    {"car_axis", {NULL}, 0.5, 2, 60, 400, 0, EVEN},
    {"rolling_disk", {NULL}, 0.8, 1, 40, 400, 1, {4, 6, 3, 5}},
    {"spring_mass", {NULL}, 5, 1, 60, 400, 0, {4, 6, 3, 5}},
    {"cart_pole", {NULL}, 1, 1, 60, 400, 0, {4, 6, 8, 7}},
    {"line_spring", {NULL}, 1, 1, 40, 400, 0, EVEN},
};

/* ---- Runs ---- */

/* Kinds of signals, by their units. */
static int kind_of(const ga_machine *m, int i)
{
  static const struct {
    const char *unit;
    int kind;
  } known[] = {{"m", 0},       {"rad", 0}, {"m/s", 1}, {"rad/s", 1}, {"m/s^2", 2},
               {"rad/s^2", 2}, {"N", 3},   {"N*m", 3}, {"J", 5}};
  const char *unit = ga_machine_signal_unit(m, i), *name = ga_machine_signal_name(m, i);
  static const char *const branches[] = {".roll", ".pitch", ".yaw", ".qw", ".qx", ".qy", ".qz"};
  const size_t n = strlen(name);
  for (size_t k = 0; k < sizeof branches / sizeof *branches; k++)
    if (n > strlen(branches[k]) && strcmp(name + n - strlen(branches[k]), branches[k]) == 0) return -1;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strcmp(unit, known[k].unit) == 0) return known[k].kind;
  return 4;
}

typedef struct model {
  ga_context *ctx;
  ga_model *model;
  ga_machine *m;
  int n;     /* signals */
  int *kind; /* [n] −1: not compared */
} model;

static void close_model(model *u)
{
  free(u->kind);
  ga_model_destroy(&u->model);
  ga_context_destroy(&u->ctx);
}

/* The model without its list of records, which may name parts that it does not have with other parameters. */
static ga_status read_without_records(ga_context *ctx, const char *path, const ga_model_opts *o,
                                      ga_model **out)
{
  enum { LONGEST = 20000 };
  char *text = calloc(1, LONGEST + 1), line[1000];
  FILE *f = fopen(path, "r");
  size_t n = 0;
  while (f && text && fgets(line, sizeof line, f) && n + strlen(line) < LONGEST)
    if (!strstr(line, "  record:")) n += strlen(strcpy(text + n, line));
  if (f) fclose(f);
  const ga_status status = f && text ? ga_model_read_text(ctx, path, text, n, o, out) : GA_ERR_FILE;
  free(text);
  return status;
}

static ga_status open_model(model *u, const subject *s)
{
  char path[1000];
  ga_model_opts o = ga_model_defaults();
  *u = (model){0};
  snprintf(path, sizeof path, "%s/%s.yaml", VF_MODELS, s->model);
  o.set = s->set;
  while (o.n_set < MOST_SET && s->set[o.n_set]) o.n_set++;
  ga_status status = ga_context_create(NULL, &u->ctx);
  if (!status)
    status = o.n_set > 0 ? read_without_records(u->ctx, path, &o, &u->model)
                         : ga_model_read_file(u->ctx, path, &o, &u->model);
  if (status) return status;
  u->m = ga_model_machine(u->model);
  u->n = ga_machine_n_signals(u->m);
  u->kind = calloc((size_t)u->n + 1, sizeof *u->kind);
  for (int i = 0; u->kind && i < u->n; i++) u->kind[i] = kind_of(u->m, i);
  return u->kind ? GA_OK : GA_ERR_MEMORY;
}

/* Steps of size h by a stepper, and the meter after each; signals at SAMPLES times into out[SAMPLES][n]. */
static ga_status steps(const model *u, ga_stepper *st, ga_meter *meter, double h, int each, double *out)
{
  ga_status status = ga_meter_start(meter, ga_stepper_state(st));
  for (int k = 0; !status && k < SAMPLES; k++) {
    for (int i = 0; !status && i < each; i++) {
      status = ga_stepper_step(st, h);
      if (!status) status = ga_meter_follow(meter, st);
      if (!status) status = ga_meter_update(meter, ga_stepper_state(st));
    }
    if (!status) status = ga_machine_signals(u->m, meter, ga_stepper_state(st), u->n, NULL, out + k * u->n);
  }
  return status;
}

/* order 2: the stabilized method. */
static ga_status run(const model *u, const subject *s, int order, int each, double *out)
{
  const ga_system *sys = ga_machine_system(u->m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  ga_stepper_opts o = ga_stepper_defaults();
  ga_start_opts start = ga_start_defaults();
  ga_stepper *st = NULL;
  ga_meter *meter = NULL;
  double *q = calloc(nq + nv + nx + 1, sizeof *q);
  const double h = s->t_end / SAMPLES / each;
  o.method = order > 2 ? GA_COLLOCATION : GA_STABILIZED;
  o.order = order > 2 ? order : 0;
  o.newton.tol = 1e-14;
  o.newton.max_iterations = 50;
  start.h = h;
  ga_status status = q ? GA_OK : GA_ERR_MEMORY;
  if (!status && order == 2) status = ga_scheme_rho(u->ctx, 0.9, &o.scheme);
  if (!status) status = ga_stepper_create(u->ctx, sys, &o, &st);
  if (!status) status = ga_meter_create(ga_machine_context(u->m), u->m, &meter);
  if (!status) status = ga_machine_initial(u->m, q, q + nq, q + nq + nv);
  if (!status) status = ga_stepper_start(st, &start, 0, q, q + nq, q + nq + nv, NULL, NULL, NULL);
  if (!status) status = steps(u, st, meter, h, each, out);
  ga_meter_destroy(&meter);
  ga_stepper_destroy(&st);
  free(q);
  return status;
}

/* ---- Comparison ---- */

/* Largest difference of each kind. */
static void compare(const model *u, const double *a, const double *b, double out[N_KINDS])
{
  for (int kind = 0; kind < N_KINDS; kind++) out[kind] = 0.0;
  for (int k = 0; k < SAMPLES; k++)
    for (int i = 0; i < u->n; i++) {
      const double off = fabs(a[k * u->n + i] - b[k * u->n + i]);
      if (u->kind[i] >= 0) out[u->kind[i]] = off == off ? fmax(out[u->kind[i]], off) : HUGE_VAL;
    }
}

typedef struct truth {
  double *value;                        /* [SAMPLES][n] */
  double doubt[N_KINDS], size[N_KINDS]; /* of it; largest values */
} truth;

static ga_status find_truth(const vf_sink *sink, const subject *s, const model *u, double *work, truth *t)
{
  const size_t n = (size_t)(SAMPLES * u->n);
  double *coarse = work, *fine = work + n, other[N_KINDS];
  char text[160];
  ga_status status = run(u, s, 10, s->fine, t->value);
  if (!status) status = run(u, s, 8, s->fine, coarse);
  if (status) return status;
  compare(u, coarse, t->value, t->doubt);
  memset(fine, 0, n * sizeof *fine);
  compare(u, t->value, fine, t->size);
  status = run(u, s, 2, s->order_2, coarse);
  if (!status) status = run(u, s, 2, 2 * s->order_2, fine);
  if (status) return status;
  for (size_t i = 0; i < n; i++) fine[i] += (fine[i] - coarse[i]) / 3.0;
  compare(u, fine, t->value, other);
  for (int kind = 0; kind < N_KINDS; kind++) {
    t->doubt[kind] = fmax(t->doubt[kind], ROUNDING * t->size[kind]);
    snprintf(text, sizeof text, "order 2, extrapolated, differs by %.1e of %.1e in kind %d", other[kind],
             t->size[kind], kind);
    sink->check(sink->user, other[kind] <= AGREE * t->size[kind] + 1e-12, s->model, "reference", text);
  }
  return GA_OK;
}

/* Steps are halved until the error of each kind is rounding; the order is that of the last two above. */
static void check_order(const vf_sink *sink, const subject *s, const model *u, int order, double *work,
                        const truth *t)
{
  static const char *const name[N_KINDS] = {"positions", "velocities", "accelerations",
                                            "forces",    "others",     "energies"};
  double error[LEVELS][N_KINDS];
  char text[GA_ERROR_TEXT + 160], title[40];
  int levels = 0, each[LEVELS], good = 1, seen = 0;
  snprintf(title, sizeof title, "collocation, order %d", order);
  for (int n = s->coarse; levels < LEVELS && n < s->fine; n += n / 2 + (n == 1)) {
    const ga_status status = run(u, s, order, n, work);
    snprintf(text, sizeof text, "%d steps to a sample: %s", n, status ? ga_context_error(u->ctx)->text : "");
    if (status > 0 && levels == 0) continue; /* too long for its sweeps */
    if (!sink->check(sink->user, !status, s->model, title, text)) return;
    each[levels] = n;
    compare(u, work, t->value, error[levels++]);
  }
  snprintf(text, sizeof text, "%d step sizes, at least %d are expected", levels, LEAST_LEVELS);
  sink->check(sink->user, levels >= LEAST_LEVELS, s->model, title, text);
  printf("  %-18s %2d", s->model, order);
  for (int kind = 0; kind < N_KINDS; kind++) {
    int last = levels - 1;
    while (last > 0 && !(error[last][kind] > ABOVE * t->doubt[kind])) last--;
    if (last <= 0) { /* constant, or exact with the largest step already */
      printf("      -     - ");
      continue;
    }
    const double p =
        log(error[last - 1][kind] / error[last][kind]) / log((double)each[last] / each[last - 1]);
    seen++;
    /* where energy is conserved, its error may fall faster */
    const double most = (kind == N_KINDS - 1 ? 2.0 : 1.0) * BAND;
    const int right = p >= (1.0 - BAND) * order && p <= (1.0 + most) * order;
    snprintf(text, sizeof text,
             "%s converge with order %.2f (error %.1e with %d steps to a sample, what is true known to %.1e)",
             name[kind], p, error[last][kind], each[last], t->doubt[kind]);
    good &= sink->check(sink->user, right, s->model, title, text);
    printf("  %8.1e %5.2f", error[last][kind], p);
  }
  printf("  %s\n", good ? "ok" : "FAIL");
  snprintf(text, sizeof text, "the order is seen in %d kinds of signals, in %d expected", seen, LEAST_KINDS);
  sink->check(sink->user, seen >= LEAST_KINDS, s->model, title, text);
}

void vf_collocation_models(const vf_sink *sink)
{
  printf("\nModels under collocation: the smallest errors above rounding, and orders, of positions, "
         "velocities, accelerations, "
         "forces, others, energies\n");
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    const subject *s = &subjects[i];
    model u;
    truth t = {.value = NULL};
    if (!sink->wanted(sink->user, "models") || (sink->brief && !s->in_short)) continue;
    ga_status status = open_model(&u, s);
    const size_t n = (size_t)(SAMPLES * u.n);
    double *work = status ? NULL : calloc(3 * n + 1, sizeof *work);
    if (work) t.value = work + 2 * n;
    if (work) status = find_truth(sink, s, &u, work, &t);
    const ga_error *e = u.ctx ? ga_context_error(u.ctx) : NULL;
    if (sink->check(sink->user, work && !status, s->model, "reference", status && e ? e->text : "no memory"))
      for (int k = 0; k < MOST_ORDERS && s->order[k]; k++) check_order(sink, s, &u, s->order[k], work, &t);
    free(work);
    close_model(&u);
  }
}
