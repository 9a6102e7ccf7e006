#include "same.h"
#include "papers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is run ------------------------------------------------------------------------------------- */

/* What a method must be able to do, as ga_method_at() says of it. */
typedef enum need {
  ANY,
  NONHOLONOMIC, /* constraints k, or forces other than f0 − Bᵀλ */
  VDOT,         /* feedback of vdot */
  GAMMA,        /* γ that follows the step size */
  CHEAP_SOLVE,  /* multipliers of rates that are solved for apart, or with all others */
  HHT_SOI2
} need;

static int meets(const ga_method_info *m, need n)
{
  switch (n) {
  case ANY:
    return 1;
  case NONHOLONOMIC:
    return !m->holonomic_only;
  case VDOT:
    return m->vdot_at_end;
  case GAMMA:
    return m->adjusts_gamma;
  case CHEAP_SOLVE:
    return m->keeps_rates && !m->vdot_at_end;
  case HHT_SOI2:
    return m->method == GA_HHT_SOI2;
  }
  return 0;
}

static const struct subject {
  const char *problem;
  double h;
  int steps;
  need need;
  int in_short;
} subjects[] = {
    {"pendulum", 2e-3, 200, ANY, 1},
    {"slider_crank_hht", 1e-3, 200, ANY, 1},
    {"heavy_top_left", 1e-3, 200, ANY, 1},
    {"heavy_top", 1e-3, 200, ANY, 0},
    {"heavy_top_se3", 1e-3, 200, ANY, 0},
    {"slider_crank", 2e-3, 150, ANY, 1},
    {"andrews31", 5e-5, 100, ANY, 1},
    {"rank_deficient_d1", 1e-3, 100, ANY, 0},
    {"test15", 1e-2, 80, NONHOLONOMIC, 1},
    {"test71", 1e-2, 80, NONHOLONOMIC, 0},
    {"rolling_disk", 1e-2, 200, NONHOLONOMIC, 1},
    {"mechatronic", 1e-2, 150, VDOT, 1},
    {"spring_mass", 5e-2, 80, VDOT, 0},
};

/* What is different in the second run, for which methods. */
typedef enum twist { REJECTED, REJECTED_GAMMA, RELOADED, RELOADED_GAMMA, FULL_SOLVE, AS_SOI2 } twist;
static const struct change {
  const char *text;
  twist kind;
  need need;
  double tolerance;
} changes[] = {
    {"steps taken back", REJECTED, ANY, 0},
    {"steps taken back, gamma from (29)", REJECTED_GAMMA, GAMMA, 0},
    {"saved and loaded", RELOADED, ANY, 0},
    {"saved and loaded, gamma from (29)", RELOADED_GAMMA, GAMMA, 0},
    {"against the full solve", FULL_SOLVE, CHEAP_SOLVE, 1e-11},
    {"(17) against (9)", AS_SOI2, HHT_SOI2, 1e-11},
};
enum { N_SUBJECTS = sizeof subjects / sizeof *subjects, N_CHANGES = sizeof changes / sizeof *changes };

static void describe(vf_same *out, const struct subject *s, const ga_method_info *m, const struct change *c)
{
  memset(out, 0, sizeof *out);
  out->problem = s->problem;
  out->in_short = s->in_short;
  out->h = s->h;
  out->steps = s->steps;
  out->tolerance = c->tolerance;
  snprintf(out->title, sizeof out->title, "%s, %s", vf_method_name(m->method), c->text);
  out->first = (vf_case){.method = m->method, .start = VF_PERTURBED, .rho = 0.8, .commutator = 1};
  if (m->hht && m->holonomic_only) out->first.hht = -0.3;
  if (c->kind == REJECTED_GAMMA || c->kind == RELOADED_GAMMA) out->first.adjust = GA_ADJUST_GAMMA;
  /* M a kept from the step before belongs to what is saved */
  if (c->kind == RELOADED || c->kind == REJECTED) out->first.mass_alpha = GA_MASS_PREVIOUS;
  out->reject = c->kind == REJECTED || c->kind == REJECTED_GAMMA;
  out->reload = c->kind == RELOADED || c->kind == RELOADED_GAMMA;
  out->second = out->first;
  if (c->kind == FULL_SOLVE) out->second.full_solve = 1;
  if (c->kind == AS_SOI2) out->second.method = GA_SOI2;
}

int vf_same_at(int i, vf_same *out)
{
  ga_method_info m;
  for (int s = 0; s < N_SUBJECTS; s++)
    for (int c = 0; c < N_CHANGES; c++)
      for (int method = 0; ga_method_at(method, &m); method++)
        if (meets(&m, subjects[s].need) && meets(&m, changes[c].need) && i-- == 0) {
          describe(out, &subjects[s], &m, &changes[c]);
          return 1;
        }
  return 0;
}

/* ---- How ---------------------------------------------------------------------------------------------- */

/* xorshift64*, uniform in [0,1) */
static double uniform(uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)((*state * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-53;
}

enum { N_BLOCKS = 8 };

typedef struct final_state {
  double *numbers;
  int length[N_BLOCKS];
} final_state;

static int keep(final_state *f, const vf_setup *s)
{
  const ga_state *now = ga_stepper_state(s->st);
  const ga_group *g = ga_system_group(s->sys);
  const double *from[N_BLOCKS] = {now->q, now->v, now->vdot, now->a, now->lambda, now->psi, now->x, now->y};
  const int nv = ga_group_nv(g), length[N_BLOCKS] = {ga_group_nq(g),
                                                     nv,
                                                     nv,
                                                     nv,
                                                     ga_system_size(s->sys, GA_BLOCK_LAMBDA),
                                                     ga_system_size(s->sys, GA_BLOCK_PSI),
                                                     ga_system_size(s->sys, GA_BLOCK_X),
                                                     ga_system_size(s->sys, GA_BLOCK_Y)};
  size_t total = 1;
  for (int b = 0; b < N_BLOCKS; b++) total += (size_t)(f->length[b] = length[b]);
  double *to = f->numbers = malloc(total * sizeof(double));
  for (int b = 0; to && b < N_BLOCKS; to += length[b++])
    if (length[b]) memcpy(to, from[b], (size_t)length[b] * sizeof(double));
  return !to;
}

/* A trial with another h or the same one, accepted or refused, that must leave no trace. */
static ga_status take_back(vf_setup *s, double h, uint64_t *random)
{
  static const double factor[] = {1, 1, 0.5, 2, 4};
  const double trial = h * factor[(int)(uniform(random) * 5)];
  const ga_status status = ga_stepper_step(s->st, trial);
  if (status < 0) return status;
  return status == GA_OK ? ga_stepper_undo(s->st) : GA_OK;
}

/* Saves, which drops the factors; the second run goes on in another stepper. */
static ga_status save(vf_setup *s, const vf_case *c, const ex_problem *problem, int load)
{
  double *saved = malloc(ga_stepper_saved_size(s->st) * sizeof(double));
  ga_status status = saved ? ga_stepper_save(s->st, saved) : GA_ERR_MEMORY;
  if (!status && load) {
    vf_setup_destroy(s);
    status = vf_setup_create(s, c, problem);
    if (!status) status = ga_stepper_load(s->st, saved);
  }
  free(saved);
  return status;
}

static ga_status integrate(const vf_same *same, vf_setup *s, const vf_case *c, const ex_problem *problem,
                           int second)
{
  uint64_t sizes = 1, events = 2, trials = 3;
  ga_status status = vf_setup_create(s, c, problem);
  double h = same->h;
  for (int k = 0; !status && k < same->steps; k++) {
    if (uniform(&sizes) < 0.2) h = same->h * (0.5 + 0.5 * uniform(&sizes)); /* else factors are used again */
    const int event = uniform(&events) < 0.1;
    if (k == 0) status = vf_setup_start(s, h);
    if (!status && event && same->reject && second) status = take_back(s, h, &trials);
    if (!status && event && same->reload) status = save(s, c, problem, second);
    if (!status) status = ga_stepper_step(s->st, h);
  }
  return status;
}

static int run(const vf_same *same, const ex_problem *problem, int second, final_state *f, char *text,
               size_t size)
{
  vf_setup s;
  const vf_case *c = second ? &same->second : &same->first;
  const ga_status status = integrate(same, &s, c, problem, second);
  int bad = status != GA_OK;
  if (bad)
    vf_setup_fail(&s, second ? "second run" : "first run", status, text, size);
  else
    bad = keep(f, &s);
  vf_setup_destroy(&s);
  return bad;
}

static double difference(const final_state *a, const final_state *b)
{
  double worst = 0;
  const double *x = a->numbers, *y = b->numbers;
  for (int block = 0; block < N_BLOCKS; x += a->length[block], y += a->length[block], block++) {
    double scale = 1, largest = 0;
    for (int i = 0; i < a->length[block]; i++) {
      scale = fmax(scale, fabs(x[i]));
      largest = isfinite(x[i] - y[i]) ? fmax(largest, fabs(x[i] - y[i])) : INFINITY;
    }
    worst = fmax(worst, largest / scale);
  }
  return worst;
}

double vf_same_run(const vf_same *s, const ex_problem *problem, char *text, size_t size)
{
  final_state f[2] = {{NULL, {0}}, {NULL, {0}}};
  snprintf(text, size, "out of memory");
  const int bad = run(s, problem, 0, &f[0], text, size) || run(s, problem, 1, &f[1], text, size);
  const double worst = bad ? NAN : difference(&f[0], &f[1]);
  free(f[0].numbers);
  free(f[1].numbers);
  return worst;
}
