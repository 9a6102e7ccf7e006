/* Machines from parts in the coordinates of the examples: both take the same steps, and their q, v, vdot and
 * forces must stay the same. Multipliers depend on how constraints are written, so forces are compared. */
#include "papers.h"

#include <math.h>
#include <stdio.h>

enum { MOST_FORCES = 40, N_BLOCKS = 4 };
#define TOLERANCE 1e-9

typedef struct pair {
  const char *machine, *problem;
  ga_form form;
  vf_needs methods;
  double h;
  int steps, in_short;
  const int *column;         /* of v (and q) of the machine for each of the example; NULL: the same */
  int n_forces;              /* and states, outputs */
  const char *const *forces; /* signals of the machine */
  void (*expected)(const ga_state *s, double *f); /* the same from the example's state */
} pair;

/* ---- Forces from the multipliers of the examples ---- */

/* f_i = factor_i λ_i */
static void scaled(double *f, const double *lambda, int n, double factor)
{
  for (int i = 0; i < n; i++) f[i] = factor * lambda[i];
}

static const char *const top_forces[] = {"tip.fx", "tip.fy", "tip.fz"};
static void top_expected(const ga_state *s, double *f)
{
  scaled(f, s->lambda, 3, 1);
}

static const char *const pendulum_forces[] = {"pivot.fx", "pivot.fy", "-spring.force"};
static void pendulum_expected(const ga_state *s, double *f)
{
  scaled(f, s->lambda, 2, -1);
  f[2] = -3000 * (s->q[2] - 4.71238898038468986) - 100 * s->v[2];
}

static const int slider_crank_columns[] = {0, 1, 3, 4, 2, 5, 6, 9, 12, 13};
static const char *const slider_crank_forces[] = {
    "axle.fx",  "axle.fy",  "crank_hinge.fx", "crank_hinge.fy", "rod_hinge.fx", "rod_hinge.fy",
    "wrist.fx", "wrist.fy", "guide.fy",       "guide.mz",       "rail.fy",      "rail.mz"};
static void slider_crank_expected(const ga_state *s, double *f)
{
  scaled(f, s->lambda, 2, -1);
  scaled(f + 2, s->lambda + 2, 6, 1);
  f[8] = -s->lambda[7];
  f[9] = f[10] = f[11] = 0;
}

static const char *const slider_crank_hht_forces[] = {"axle.fx",  "axle.fy",  "knee.fx",  "knee.fy",
                                                      "wrist.fx", "wrist.fy", "guide.fy", "guide.mz"};
static void slider_crank_hht_expected(const ga_state *s, double *f)
{
  scaled(f, s->lambda, 2, -1);
  scaled(f + 2, s->lambda + 2, 4, 1);
  scaled(f + 6, s->lambda + 6, 2, -1);
}

/* θ and centre of every bar, then the pins. */
static const int andrews_columns[31] = {2,  5,  8,  11, 14, 17, 20, 0,  1,  3,  4,  6,  7,  9,  10, 12,
                                        13, 15, 16, 18, 19, 21, 22, 24, 25, 27, 28, 30, 31, 33, 34};
static const char *const andrews_forces[] = {
    "F_1.fx",    "F_1.fy",    "P_2.fx", "P_2.fy", "P_3.fx",    "P_3.fy",    "D_3.fx", "D_3.fy",
    "G_4.fx",    "G_4.fy",    "G_5.fx", "G_5.fy", "H_6.fx",    "H_6.fy",    "H_7.fx", "H_7.fy",
    "axle_O.fx", "axle_O.fy", "F_2.fx", "F_2.fy", "axle_B.fx", "axle_B.fy", "P_4.fx", "P_4.fy",
    "axle_5.fx", "axle_5.fy", "P_6.fx", "P_6.fy", "axle_7.fx", "axle_7.fy"};
/* A pin feels −λ of the arm that ends there; the place where a bar begins what its arms have together. */
static void andrews_expected(const ga_state *s, double *f)
{
  static const int ends[8] = {1, 3, 5, 6, 8, 10, 12, 14};
  static const struct {
    int arm[3]; /* −1: no more */
    double sign;
  } starts[7] = {{{0, 1, -1}, -1},  {{2, 3, -1}, 1},   {{4, 5, 6}, -1},   {{7, 8, -1}, 1},
                 {{9, 10, -1}, -1}, {{11, 12, -1}, 1}, {{13, 14, -1}, -1}};
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 8; k++) f[2 * k + i] = -s->lambda[2 * ends[k] + i];
    for (int k = 0; k < 7; k++) {
      double sum = 0;
      for (int j = 0; j < 3 && starts[k].arm[j] >= 0; j++) sum += s->lambda[2 * starts[k].arm[j] + i];
      f[16 + 2 * k + i] = starts[k].sign * sum;
    }
  }
}

static const char *const spring_mass_forces[] = {"integrator", "limit", "actuator.force", "-spring.force",
                                                 "integrator.x1"};
static void spring_mass_expected(const ga_state *s, double *f)
{
  f[0] = s->y[0];
  f[1] = f[2] = s->y[1];
  f[3] = -s->q[0];
  f[4] = s->x[0];
}

#define FORCES(name) (int)(sizeof name##_forces / sizeof *name##_forces), name##_forces, name##_expected

/* Steps are not too small: the floor of rounding of forces in the index-3 form is about eps/(β h²). */
static const pair pairs[] = {
    {"heavy_top_parts", "heavy_top", GA_FORM_SPACE, VF_ALL_METHODS, 2e-3, 200, 1, NULL, FORCES(top)},
    {"heavy_top_parts", "heavy_top_left", GA_FORM_BODY, VF_ALL_METHODS, 2e-3, 200, 1, NULL, FORCES(top)},
    {"heavy_top_parts", "heavy_top_se3", GA_FORM_SE3, VF_ALL_METHODS, 2e-3, 200, 1, NULL, FORCES(top)},
    {"tumbling_top_parts", "tumbling_top", GA_FORM_SPACE, VF_ALL_METHODS, 4e-3, 125, 1, NULL, FORCES(top)},
    {"tumbling_top_parts", "tumbling_top_left", GA_FORM_BODY, VF_ALL_METHODS, 4e-3, 125, 1, NULL,
     FORCES(top)},
    {"pendulum_parts", "pendulum", GA_FORM_SPACE, VF_ALL_METHODS, 2.5e-3, 400, 1, NULL, FORCES(pendulum)},
    {"slider_crank_parts", "slider_crank", GA_FORM_SPACE, VF_ALL_METHODS, 2.5e-3, 200, 1,
     slider_crank_columns, FORCES(slider_crank)},
    {"slider_crank_hht_parts", "slider_crank_hht", GA_FORM_SPACE, VF_ALL_METHODS, 4e-3, 250, 1, NULL,
     FORCES(slider_crank_hht)},
    {"andrews_parts", "andrews31", GA_FORM_SPACE, VF_ALL_METHODS, 6e-5, 300, 1, andrews_columns,
     FORCES(andrews)},
    {"spring_mass_parts", "spring_mass", GA_FORM_SPACE, VF_EXACT_METHODS, 0.05, 100, 1, NULL,
     FORCES(spring_mass)},
};

/* ---- Both side by side ---- */

/* One block: largest difference so far, and largest number (at least 1). */
typedef struct measured {
  double off, size;
} measured;

static void compare(measured *m, double mine, double expected)
{
  const double off = fabs(mine - expected);
  m->size = fmax(m->size, fabs(expected));
  m->off = isfinite(off) ? fmax(m->off, off) : INFINITY;
}

/* Rotations and the like have more numbers in q than in v: then there is no map. */
static int look(const pair *p, const vf_setup *example, const vf_parts *parts, measured block[N_BLOCKS],
                char *text, size_t size)
{
  const ga_state *a = ga_stepper_state(example->st), *b = ga_stepper_state(parts->st);
  const ga_group *group = ga_system_group(example->sys);
  double mine[MOST_FORCES], expected[MOST_FORCES];
  if (vf_parts_signals(parts, p->n_forces, p->forces, mine, text, size)) return 1;
  p->expected(a, expected);
  for (int i = 0; i < ga_group_nq(group); i++)
    compare(&block[0], b->q[p->column ? p->column[i] : i], a->q[i]);
  for (int i = 0; i < ga_group_nv(group); i++) {
    const int at = p->column ? p->column[i] : i;
    compare(&block[1], b->v[at], a->v[i]);
    compare(&block[2], b->vdot[at], a->vdot[i]);
  }
  for (int i = 0; i < p->n_forces; i++) compare(&block[3], mine[i], expected[i]);
  return 0;
}

/* Equal steps, then steps that jump. */
static double step_at(const pair *p, int k)
{
  return k < p->steps / 2 ? p->h : (k % 2 ? 1.3 : 0.7) * p->h;
}

static int follow(const pair *p, vf_setup *example, vf_parts *parts, measured block[N_BLOCKS], char *text,
                  size_t size)
{
  ga_status status = vf_setup_start(example, p->h);
  if (status) return vf_setup_fail(example, "start of the example", status, text, size);
  status = vf_parts_start(parts, p->h, 0);
  if (status) return vf_parts_fail(parts, "start", status, text, size);
  if (look(p, example, parts, block, text, size)) return 1;
  for (int k = 0; k < p->steps; k++) {
    const double h = step_at(p, k);
    status = ga_stepper_step(example->st, h);
    if (status) return vf_setup_fail(example, "step of the example", status, text, size);
    status = ga_stepper_step(parts->st, h);
    if (status) return vf_parts_fail(parts, "step", status, text, size);
    if (look(p, example, parts, block, text, size)) return 1;
  }
  return 0;
}

static void run_pair(const vf_sink *s, const pair *p, ga_method method)
{
  const vf_case c = vf_method_case(method);
  measured block[N_BLOCKS] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}};
  char text[GA_ERROR_TEXT + 160] = "", title[96];
  double worst = 0, relative[N_BLOCKS];
  vf_setup example;
  vf_parts parts;
  snprintf(title, sizeof title, "as %s, %s", p->problem, vf_method_name(method));
  ga_status status = vf_setup_create(&example, &c, ex_problem_find(p->problem));
  int bad = status ? vf_setup_fail(&example, "example", status, text, sizeof text) : 0;
  status = vf_parts_open(&parts, mx_machine_find(p->machine), p->form, &c);
  if (status) bad = vf_parts_fail(&parts, "build", status, text, sizeof text);
  bad = bad || follow(p, &example, &parts, block, text, sizeof text);
  vf_parts_close(&parts);
  vf_setup_destroy(&example);
  if (!s->check(s->user, !bad, p->machine, title, text)) return;
  for (int i = 0; i < N_BLOCKS; i++) worst = fmax(worst, relative[i] = block[i].off / block[i].size);
  snprintf(text, sizeof text, "differs by %.2e, at most %.0e", worst, TOLERANCE);
  const int good = s->check(s->user, worst <= TOLERANCE, p->machine, title, text);
  printf("  %-24s %-18s %-11s %8.1e %8.1e %8.1e %8.1e  %s\n", p->machine, p->problem, vf_method_name(method),
         relative[0], relative[1], relative[2], relative[3], good ? "ok" : "FAIL");
}

void vf_papers_same(const vf_sink *s)
{
  printf("\nThe papers' machines from parts, in the coordinates of the examples: largest relative "
         "difference (%.0e)\n  %-24s %-18s %-11s %8s %8s %8s %8s\n",
         TOLERANCE, "machine", "example", "method", "q", "v", "vdot", "forces");
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (int method = 0; ga_method_at(method, NULL); method++)
      if ((vf_method_suits((ga_method)method, pairs[i].methods)) && s->wanted(s->user, pairs[i].machine) &&
          (!s->brief || pairs[i].in_short))
        run_pair(s, &pairs[i], (ga_method)method);
}
