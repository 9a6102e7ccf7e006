/* Machines from parts in other coordinates than the examples: compared with the motion of the example at
 * several times, in positions, velocities, accelerations and forces, which all have to converge with order
 * 2. */
#include "papers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 24, N_BLOCKS = 4, LEVELS = 3, SAMPLES = 8 };
#define BAND 0.12

typedef struct subject {
  const char *machine, *problem; /* problem NULL: `exact` knows the motion */
  ga_form form;
  vf_needs methods;
  double t_end, h; /* h: the coarsest; t_end / SAMPLES is a multiple */
  double rho;
  int in_short;
  int count[N_BLOCKS];                              /* positions, velocities, accelerations, forces */
  const char *const *signals;                       /* of the machine, block after block */
  void (*expected)(const ga_point *p, double *out); /* the same from the example's motion */
  void (*exact)(double t, double *out);
} subject;

/* ---- Plane mechanisms in space ---- */

static const char *const pendulum_signals[] = {"bar.x",    "bar.y",   "pivot.angle",     /* */
                                               "bar.vx",   "bar.vy",  "bar.wz",          /* */
                                               "bar.ax",   "bar.ay",  "pivot.angle_acc", /* */
                                               "pivot.fx", "pivot.fy"};
static void pendulum_expected(const ga_point *p, double *out)
{
  memcpy(out, p->q, 3 * sizeof *out);
  out[2] -= 2 * 3.14159265358979323846;
  memcpy(out + 3, p->v, 3 * sizeof *out);
  memcpy(out + 6, p->vdot, 3 * sizeof *out);
  for (int i = 0; i < 2; i++) out[9 + i] = -p->lambda[i];
}

static const char *const slider_crank_signals[] = {
    "crank.x",  "crank.y",  "rod.x",   "rod.y",  "slider.x",  "second.x",                        /* */
    "crank.vx", "crank.vy", "rod.vx",  "rod.vy", "slider.vx", "second.vx", "crank.wz", "rod.wz", /* */
    "crank.ax", "crank.ay", "rod.ax",  "rod.ay", "slider.ax", "second.ax",                       /* */
    "axle.fx",  "axle.fy",  "knee.fx", "knee.fy"};
static void slider_crank_expected(const ga_point *p, double *out)
{
  static const int at[8] = {0, 1, 2, 3, 6, 7, 4, 5};
  for (int i = 0; i < 6; i++) out[i] = p->q[at[i]], out[14 + i] = p->vdot[at[i]];
  for (int i = 0; i < 8; i++) out[6 + i] = p->v[at[i]];
  for (int i = 0; i < 2; i++) out[20 + i] = -p->lambda[i], out[22 + i] = p->lambda[2 + i];
}

static const char *const slider_crank_hht_signals[] = {
    "crank.x",  "crank.y",  "rod.x",   "rod.y",   "slider.x",                        /* */
    "crank.vx", "crank.vy", "rod.vx",  "rod.vy",  "slider.vx", "crank.wz", "rod.wz", /* */
    "crank.ax", "crank.ay", "rod.ax",  "rod.ay",  "slider.ax",                       /* */
    "axle.fx",  "axle.fy",  "knee.fx", "knee.fy", "-wrist.fx", "-wrist.fy"};
static void slider_crank_hht_expected(const ga_point *p, double *out)
{
  static const int at[7] = {0, 1, 3, 4, 6, 2, 5};
  for (int i = 0; i < 5; i++) out[i] = p->q[at[i]], out[12 + i] = p->vdot[at[i]];
  for (int i = 0; i < 7; i++) out[5 + i] = p->v[at[i]];
  for (int i = 0; i < 2; i++) out[17 + i] = -p->lambda[i];
  for (int i = 0; i < 4; i++) out[19 + i] = p->lambda[2 + i];
}

/* ---- Andrews' mechanism in seven angles ---- */

static const char *const andrews_signals[] = {"axle_O.angle",      "hinge_F.angle",
                                              "axle_B.angle",      "-hinge_G.angle", /* */
                                              "axle_5.angle",      "-hinge_H.angle",
                                              "axle_7.angle", /* */
                                              "axle_O.angle_rate", "hinge_F.angle_rate",
                                              "axle_B.angle_rate", "-hinge_G.angle_rate",
                                              "axle_5.angle_rate", "-hinge_H.angle_rate",
                                              "axle_7.angle_rate", /* */
                                              "axle_B.angle_acc",  "axle_5.angle_acc",
                                              "axle_7.angle_acc", /* */
                                              "-P_3.fx",           "-P_3.fy",
                                              "-P_4.fx",           "-P_4.fy",
                                              "-P_6.fx",           "-P_6.fy"};
static void andrews_expected(const ga_point *p, double *out)
{
  static const int turning[3] = {2, 4, 6};
  memcpy(out, p->q, 7 * sizeof *out);
  memcpy(out + 7, p->v, 7 * sizeof *out);
  for (int i = 0; i < 3; i++) out[14 + i] = p->vdot[turning[i]];
  memcpy(out + 17, p->lambda, 6 * sizeof *out);
}

/* ---- Rolling ---- */

/* Centre of the disk, its velocity and acceleration, and the direction it is heading: see papers_space.c. */
static const char *const rotor_signals[] = {"fork.x",
                                            "fork.y",
                                            "fork.z",
                                            "nose.x",
                                            "nose.y",
                                            "wheel_hinge.angle", /* */
                                            "fork.vx",
                                            "fork.vy",
                                            "fork.vz",
                                            "fork.wx",
                                            "fork.wy",
                                            "fork.wz",
                                            "wheel_hinge.angle_rate",
                                            "energy.kinetic", /* */
                                            "fork.ax",
                                            "fork.ay",
                                            "fork.az",
                                            "wheel_hinge.angle_acc", /* */
                                            "psi0",
                                            "psi1",
                                            "contact.normal"};
static void rotor_expected(const ga_point *p, double *out)
{
  const double *q = p->q, *z = p->v, *a = p->vdot;
  const double s3 = sin(q[2]), c3 = cos(q[2]), s4 = sin(q[3]), c4 = cos(q[3]);
  const double u[3] = {-s3 * s4, s3 * c4, c3}, by3[3] = {-c3 * s4, c3 * c4, -s3},
               by4[3] = {-s3 * c4, -s3 * s4, 0};
  const double by34[3] = {-c3 * c4, -c3 * s4, 0}, by44[3] = {s3 * s4, -s3 * c4, 0};
  for (int i = 0; i < 3; i++) {
    out[i] = (i < 2 ? q[i] : 0) + u[i];
    out[6 + i] = (i < 2 ? z[i] : 0) + by3[i] * z[2] + by4[i] * z[3];
    out[14 + i] = (i < 2 ? a[i] : 0) + by3[i] * a[2] + by4[i] * a[3] - u[i] * z[2] * z[2] +
                  2 * by34[i] * z[2] * z[3] + by44[i] * z[3] * z[3];
  }
  out[3] = out[0] + c4;
  out[4] = out[1] + s4;
  out[5] = q[4] - 1;
  out[9] = -z[2] * c4;
  out[10] = -z[2] * s4;
  out[11] = z[3];
  out[12] = z[4];
  const double spin = z[4] + z[3] * s3; /* the rotor's: mass and moments of inertia are 2 */
  out[13] =
      out[6] * out[6] + out[7] * out[7] + out[8] * out[8] + z[2] * z[2] + z[3] * z[3] * c3 * c3 + spin * spin;
  out[17] = a[4];
  out[18] = p->psi[0];
  out[19] = p->psi[1];
  out[20] = 2 * (10 + out[16]);
}

/* The disk itself, m = I1 = I2 = 2, r = 1, g = 10. With ω in space, a its axis, u = (z − (z·a) a)/|·| from
 * the contact to the centre C and F the force of the ground
 *
 *   C' = ω × u,   a' = ω × a,   F = 2 (C'' + g z),   2 ω' = −u × F    (both moments of inertia are the same)
 *
 * whence 2 ω' + 2 (ω' − u (u·ω')) = −2 u × (ω × u' + g z), integrated by the classical Runge-Kutta method. */
typedef struct disk {
  double C[3], a[3], w[3];
} disk;

static void cross(double out[3], const double a[3], const double b[3])
{
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* rate of the state; acc = C'' */
static void disk_rate(disk *rate, double acc[3], const disk *s)
{
  const double sine = s->a[2], level = sqrt(1 - sine * sine);
  double u[3], u_dot[3], rhs[3], turn[3], force[3];
  cross(rate->a, s->w, s->a);
  const double sine_rate = rate->a[2], level_rate = -sine * sine_rate / level;
  for (int i = 0; i < 3; i++) u[i] = ((i == 2) - sine * s->a[i]) / level;
  for (int i = 0; i < 3; i++)
    u_dot[i] = (-sine_rate * s->a[i] - sine * rate->a[i] - level_rate * u[i]) / level;
  cross(rate->C, s->w, u);
  cross(turn, s->w, u_dot);
  for (int i = 0; i < 3; i++) force[i] = turn[i] + (i == 2 ? 10 : 0);
  cross(rhs, u, force); /* 2 ω' − u (u·ω') = −rhs */
  const double along = -dot(u, rhs);
  for (int i = 0; i < 3; i++) rate->w[i] = 0.5 * (-rhs[i] + along * u[i]);
  cross(acc, rate->w, u);
  for (int i = 0; i < 3; i++) acc[i] += turn[i];
}

static void disk_add(disk *out, const disk *s, double h, const disk *rate)
{
  for (int i = 0; i < 3; i++) {
    out->C[i] = s->C[i] + h * rate->C[i];
    out->a[i] = s->a[i] + h * rate->a[i];
    out->w[i] = s->w[i] + h * rate->w[i];
  }
}

static const char *const disk_signals[] = {
    "disk.x",  "disk.y",  "disk.z",        "axle.x",  "axle.y",  "axle.z",  /* */
    "disk.vx", "disk.vy", "disk.vz",       "disk.wx", "disk.wy", "disk.wz", /* */
    "disk.ax", "disk.ay", "disk.az",       "axle.ax", "axle.ay", "axle.az", /* */
    "psi0",    "psi1",    "contact.normal"};
static void disk_exact(double t, double *out)
{
  const double s = sin(0.3), c = cos(0.3);
  disk now = {{0.1, s, c}, {0, c, -s}, {-0.02, 0.1 * c, -0.02 - 0.1 * s}}, k[4], at;
  const int n = 1 + (int)(t / 2e-4);
  const double h = t / n;
  double acc[3];
  for (int i = 0; i < n; i++) {
    disk_rate(&k[0], acc, &now);
    for (int j = 1; j < 4; j++) {
      disk_add(&at, &now, j < 3 ? 0.5 * h : h, &k[j - 1]);
      disk_rate(&k[j], acc, &at);
    }
    for (int j = 0; j < 4; j++) disk_add(&now, &now, (j == 0 || j == 3 ? h : 2 * h) / 6, &k[j]);
  }
  disk_rate(&k[0], acc, &now);
  double turn[3], inward[3];
  cross(turn, k[0].w, now.a);
  cross(inward, now.w, k[0].a);
  for (int i = 0; i < 3; i++) {
    out[i] = now.C[i];
    out[3 + i] = now.C[i] + now.a[i];
    out[6 + i] = k[0].C[i];
    out[9 + i] = now.w[i];
    out[12 + i] = acc[i];
    out[15 + i] = acc[i] + turn[i] + inward[i];
    out[18 + i] = i < 2 ? -2 * acc[i] : 2 * (acc[i] + 10);
  }
}

/* ---- Table ---- */

/* clang-format off */
#define PENDULUM(form, in_short) \
  {"pendulum_space", "pendulum", form, VF_ALL_METHODS, 2, 2.5e-3, 0.8, in_short, \
   {3, 3, 3, 2}, pendulum_signals, pendulum_expected, NULL}
#define SLIDER_CRANK(form, in_short) \
  {"slider_crank_space", "slider_crank", form, VF_ALL_METHODS, 0.4, 1.25e-3, 0.7, in_short, \
   {6, 8, 6, 4}, slider_crank_signals, slider_crank_expected, NULL}
#define SLIDER_CRANK_HHT(form, in_short) \
  {"slider_crank_hht_space", "slider_crank_hht", form, VF_ALL_METHODS, 1, 3.90625e-3, 0.8, in_short, \
   {5, 7, 5, 6}, slider_crank_hht_signals, slider_crank_hht_expected, NULL}
#define ANDREWS(form, in_short) \
  {"andrews_bars", "andrews", form, VF_ALL_METHODS, 0.024, 2e-5, 0.7, in_short, \
   {7, 7, 3, 6}, andrews_signals, andrews_expected, NULL}
#define DISK_ROTOR(form, in_short) \
  {"rolling_disk_rotor", "rolling_disk", form, VF_NONHOLONOMIC_METHODS, 0.8, 1e-2, 0.8, in_short, \
   {6, 8, 4, 3}, rotor_signals, rotor_expected, NULL}
#define DISK(form, in_short) \
  {"rolling_disk_parts", NULL, form, VF_NONHOLONOMIC_METHODS, 0.8, 1e-2, 0.8, in_short, \
   {6, 6, 6, 3}, disk_signals, NULL, disk_exact}

static const subject subjects[] = {
    PENDULUM(GA_FORM_SPACE, 1),         PENDULUM(GA_FORM_BODY, 0),         PENDULUM(GA_FORM_SE3, 0),
    SLIDER_CRANK(GA_FORM_SPACE, 1),     SLIDER_CRANK(GA_FORM_BODY, 0),     SLIDER_CRANK(GA_FORM_SE3, 0),
    SLIDER_CRANK_HHT(GA_FORM_SPACE, 1), SLIDER_CRANK_HHT(GA_FORM_BODY, 0), SLIDER_CRANK_HHT(GA_FORM_SE3, 0),
    ANDREWS(GA_FORM_SPACE, 1),
    DISK_ROTOR(GA_FORM_SPACE, 1),       DISK_ROTOR(GA_FORM_BODY, 0),       DISK_ROTOR(GA_FORM_SE3, 0),
    DISK(GA_FORM_SPACE, 1),             DISK(GA_FORM_BODY, 0),             DISK(GA_FORM_SE3, 0),
};
/* clang-format on */

/* ---- Runs ---- */

typedef struct motion { /* what is expected at the samples */
  double value[SAMPLES][MOST];
} motion;

static int total(const subject *u)
{
  return u->count[0] + u->count[1] + u->count[2] + u->count[3];
}

static int motion_of(const subject *u, motion *m, char *text, size_t size)
{
  if (!u->problem) {
    for (int k = 0; k < SAMPLES; k++) u->exact(u->t_end * (k + 1) / SAMPLES, m->value[k]);
    return 0;
  }
  vf_reference *ref =
      vf_reference_create(ex_problem_find(u->problem), u->t_end / SAMPLES, SAMPLES, text, size);
  for (int k = 0; ref && k < SAMPLES; k++) {
    const ga_point p = vf_reference_at(ref, k + 1);
    u->expected(&p, m->value[k]);
  }
  const int bad = ref == NULL;
  vf_reference_destroy(&ref);
  return bad;
}

/* Largest 2-norm over the samples, block by block. */
static int measure(const subject *u, const vf_parts *p, const double *expected, double error[N_BLOCKS],
                   char *text, size_t size)
{
  double mine[MOST];
  if (vf_parts_signals(p, total(u), u->signals, mine, text, size)) return 1;
  for (int block = 0, i = 0; block < N_BLOCKS; block++) {
    double sum = 0;
    for (int k = 0; k < u->count[block]; k++, i++) sum += (mine[i] - expected[i]) * (mine[i] - expected[i]);
    error[block] = isfinite(sum) ? fmax(error[block], sqrt(sum)) : INFINITY;
  }
  return 0;
}

static int run_level(const subject *u, const vf_case *c, const motion *m, double h, double error[N_BLOCKS],
                     char *text, size_t size)
{
  const long each = lround(u->t_end / SAMPLES / h);
  vf_parts p;
  ga_status status = vf_parts_open(&p, mx_machine_find(u->machine), u->form, c);
  if (!status) status = vf_parts_start(&p, h, 0);
  int bad = 0;
  for (int k = 0; !status && !bad && k < SAMPLES; k++) {
    status = ga_stepper_run(p.st, h, each, NULL, NULL);
    if (!status) bad = measure(u, &p, m->value[k], error, text, size);
  }
  if (status) bad = vf_parts_fail(&p, "run", status, text, size);
  vf_parts_close(&p);
  return bad;
}

static void run_method(const vf_sink *s, const subject *u, const motion *m, ga_method method)
{
  static const char *const block_name[N_BLOCKS] = {"positions", "velocities", "accelerations", "forces"};
  vf_case c = vf_method_case(method);
  /* errors of higher order would come down to those of the references */
  double error[LEVELS][N_BLOCKS] = {{0}}, h = vf_method_order(method) > 2 ? 2 * u->h : u->h;
  char text[GA_ERROR_TEXT + 160], title[96];
  int bad = 0, good = 1;
  if (c.hht == 0) c.rho = u->rho;
  snprintf(title, sizeof title, "%s, %s form", vf_method_name(method), vf_form_name(u->form));
  for (int level = 0; level < LEVELS && !bad; level++, h *= 0.5)
    bad = run_level(u, &c, m, h, error[level], text, sizeof text);
  if (!s->check(s->user, !bad, u->machine, title, text)) return;
  printf("  %-24s %-6s %-11s", u->machine, vf_form_name(u->form), vf_method_name(method));
  for (int block = 0; block < N_BLOCKS; block++) {
    const double order = log2(error[LEVELS - 2][block] / error[LEVELS - 1][block]);
    const double expected = vf_method_order(method), band = 0.5 * expected * BAND;
    snprintf(text, sizeof text, "%s converge with order %.3f (error %.2e), expected %g within %.2f",
             block_name[block], order, error[LEVELS - 1][block], expected, band);
    good &= s->check(s->user, fabs(order - expected) <= band, u->machine, title, text);
    printf("  %8.1e %4.2f", error[LEVELS - 1][block], order);
  }
  printf("  %s\n", good ? "ok" : "FAIL");
}

void vf_papers_order(const vf_sink *s)
{
  printf("\nThe papers' machines from parts, in other coordinates: error at the finest of %d steps, and "
         "order\n  %-24s %-6s %-11s  %-13s  %-13s  %-13s  %-13s\n",
         LEVELS, "machine", "form", "method", "position", "velocity", "acceleration", "force");
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
    const subject *u = &subjects[i];
    char text[256];
    motion m;
    if (!s->wanted(s->user, u->machine) || (s->brief && !u->in_short)) continue;
    if (!s->check(s->user, !motion_of(u, &m, text, sizeof text), u->machine, "reference", text)) continue;
    for (int method = 0; ga_method_at(method, NULL); method++)
      if (vf_method_suits((ga_method)method, u->methods)) run_method(s, u, &m, (ga_method)method);
  }
}
