/* What only a few machines can show: eigenvalues of small motions, and error control
 * through narrow places. */
#include "linearise.h"
#include "machines.h"

#include <math.h>
#include <stdio.h>

/* ---- Eigenvalues ---- */

/* Eigenvalues where a run of the machine to t_end has arrived; t_end 0: at its start. 0, or
 * a failed check. */
static int modes_of(const vf_sink *s, const mx_machine *m, double t_end, vf_modes *modes)
{
  char text[GA_ERROR_TEXT + 128] = "";
  mx_run run;
  mx_options o = mx_options_of(m);
  o.t_end = t_end;
  ga_status status = mx_run_open(&run, m, &o, NULL);
  if (!status && t_end > 0) status = mx_run_finish(&run, NULL, NULL);
  if (status) mx_run_explain(&run, status, text, sizeof text);
  int bad = status != GA_OK;
  if (!bad)
    bad = vf_modes_find(run.b.ctx, ga_machine_system(run.b.m), ga_stepper_state(run.st), modes, text,
                        sizeof text);
  mx_run_close(&run);
  return !s->check(s->user, !bad, m->name, "linearisation", text);
}

static void check_mode(const vf_sink *s, const mx_machine *m, const vf_modes *modes, const char *what,
                       double re, double im, double tolerance)
{
  char text[128];
  const double off = vf_modes_off(modes, re, im);
  snprintf(text, sizeof text, "eigenvalue %.12g %+.12g i is off by %.2e, at most %.0e", re, im, off,
           tolerance);
  const int good = s->check(s->user, off <= tolerance, m->name, what, text);
  printf("  %-24s %-10s %20.14f %+20.14f i  off by %8.1e (%.0e)  %s\n", m->name, what, re, im, off, tolerance,
         good ? "ok" : "FAIL");
}

static void run_rhombus(const vf_sink *s)
{
  const mx_machine *m = mx_machine_find("rhombus");
  vf_modes modes;
  if (!s->wanted(s->user, m->name) || modes_of(s, m, m->t_end, &modes)) return;
  s->check(s->user, modes.n == 2, m->name, "linearisation", "two eigenvalues are expected");
  check_mode(s, m, &modes, "swinging", -0.242385809310505, 2.13395502834838, 1e-9);
  vf_modes_free(&modes);
}

/* The same door on one hinge and on three: redundant constraints change no eigenvalue, as it swings. */
static void run_doors(const vf_sink *s)
{
  const mx_machine *one = mx_machine_find("door_one_hinge"), *three = mx_machine_find("door_three_hinges");
  vf_modes a, b;
  if (!s->wanted(s->user, three->name) || modes_of(s, one, 1, &a)) return;
  if (!modes_of(s, three, 1, &b)) {
    s->check(s->user, a.n == 2 && b.n == 2, three->name, "linearisation", "two eigenvalues are expected");
    for (int i = 0; i < a.n; i++) check_mode(s, three, &b, "as one", a.re[i], a.im[i], 1e-9);
    vf_modes_free(&b);
  }
  vf_modes_free(&a);
}

/* ---- The bicycle ---- */

/* The eigenvalue that decides: the largest real part among those with an imaginary part (weave), or among the
 * real ones above −10 other than zero (capsize). */
static double bicycle_growth(const vf_sink *s, double speed, int weave, vf_modes *modes)
{
  mx_machine m = *mx_machine_find("bicycle");
  double most = -INFINITY;
  m.variant = (int)lround(1000 * speed);
  if (modes_of(s, &m, 0, modes)) return NAN;
  for (int i = 0; i < modes->n; i++) {
    const int oscillates = fabs(modes->im[i]) > 1e-3;
    if (oscillates == weave && hypot(modes->re[i], modes->im[i]) > 2e-4) most = fmax(most, modes->re[i]);
  }
  return most;
}

/* Where the growth passes zero, from two speeds close by. */
static void check_speed(const vf_sink *s, const char *what, int weave, double low, double high,
                        double expected)
{
  char text[96];
  vf_modes modes;
  const double a = bicycle_growth(s, low, weave, &modes);
  vf_modes_free(&modes);
  const double b = bicycle_growth(s, high, weave, &modes), speed = low - a * (high - low) / (b - a);
  vf_modes_free(&modes);
  snprintf(text, sizeof text, "%.6f m/s, expected %.6f", speed, expected);
  const int good = s->check(s->user, fabs(speed - expected) < 2e-5, "bicycle", what, text);
  printf("  %-24s %-22s %s  %s\n", "bicycle", what, text, good ? "ok" : "FAIL");
}

/* The roll of a pushed bicycle at times[n]; 0, or a failed check. */
static int roll_of(const vf_sink *s, const mx_machine *m, const double *times, int n, double *roll)
{
  static const char *const texts[] = {"frame.qx"};
  char text[GA_ERROR_TEXT + 128] = "";
  const mx_options o = mx_options_of(m);
  const mx_samples samples = {1, texts, n, times, roll};
  mx_run run;
  ga_status status = mx_run_open(&run, m, &o, &samples);
  if (!status) status = mx_run_finish(&run, NULL, NULL);
  if (status) mx_run_explain(&run, status, text, sizeof text);
  mx_run_close(&run);
  return !s->check(s->user, status == GA_OK, m->name, "run", text);
}

/* Largest roll of the late part of the run over that of the early part. */
static void check_stability(const vf_sink *s, const char *name, double low, double high)
{
  enum { N = 101 };
  const mx_machine *m = mx_machine_find(name);
  double times[N], roll[N], early = 0, late = 0;
  char text[96];
  for (int i = 0; i < N; i++) times[i] = 0.1 * i;
  if (roll_of(s, m, times, N, roll)) return;
  for (int i = 0; i < N; i++)
    if (times[i] < 3)
      early = fmax(early, fabs(roll[i]));
    else if (times[i] > 7)
      late = fmax(late, fabs(roll[i]));
  snprintf(text, sizeof text, "roll late over early %.3g, expected %g to %g", late / early, low, high);
  const int good = s->check(s->user, late / early >= low && late / early <= high, name, "stability", text);
  printf("  %-24s %s  %s\n", name, text, good ? "ok" : "FAIL");
}

/* Capsizing slowly, the bicycle follows its eigenvalue. */
static void check_capsize(const vf_sink *s)
{
  static const double times[2] = {8, 10};
  const mx_machine *m = mx_machine_find("bicycle_fast");
  vf_modes modes;
  double roll[2];
  char text[96];
  const double growth = bicycle_growth(s, 7, 0, &modes);
  vf_modes_free(&modes);
  if (roll_of(s, m, times, 2, roll)) return;
  const double seen = log(roll[1] / roll[0]) / (times[1] - times[0]);
  snprintf(text, sizeof text, "capsizes at %.6f 1/s, eigenvalue %.6f", seen, growth);
  const int good = s->check(s->user, fabs(seen - growth) < 1e-3 * growth, m->name, "capsize", text);
  printf("  %-24s %s  %s\n", m->name, text, good ? "ok" : "FAIL");
}

static void run_bicycle(const vf_sink *s)
{
  const mx_machine *m = mx_machine_find("bicycle");
  vf_modes modes;
  if (!s->wanted(s->user, m->name) || modes_of(s, m, 0, &modes)) return;
  check_mode(s, m, &modes, "weave", -0.77534188219585, 4.46486771378823, 1e-8);
  check_mode(s, m, &modes, "capsize", -0.32286642900409, 0, 1e-8);
  check_mode(s, m, &modes, "castering", -14.07838969279822, 0, 1e-8);
  vf_modes_free(&modes);
  check_speed(s, "weaves below", 1, 4.292, 4.293, 4.29238253634111);
  check_speed(s, "capsizes above", 0, 6.02, 6.03, 6.02426201538837);
  check_stability(s, "bicycle", 0, 0.2);
  check_stability(s, "bicycle_slow", 1.5, 1e3);
  check_stability(s, "bicycle_fast", 1.2, 1e3);
  check_capsize(s);
}

/* ---- Error control ---- */

static void run_cart_pole(const vf_sink *s)
{
  static const double tolerance[] = {1e-6, 1e-7, 1e-8};
  const mx_machine *m = mx_machine_find("light_cart_pole");
  double previous = INFINITY;
  if (!s->wanted(s->user, m->name)) return;
  for (int i = 0; i < (s->brief ? 2 : 3); i++) {
    mx_options o = mx_options_of(m);
    mx_result r;
    char text[160];
    o.rtol = tolerance[i];
    mx_compare(m, &o, &r);
    if (!s->check(s->user, !r.failure[0], m->name, "error control", r.failure)) return;
    snprintf(text, sizeof text, "tolerance %.0e  %6ld steps, %ld rejected, rms x %.2e, angle %.2e",
             tolerance[i], r.simulate.steps, r.simulate.rejected_error, r.error[0], r.error[1]);
    printf("  %-24s %s\n", m->name, text);
    s->check(s->user, r.error[0] < previous, m->name, "error control", text);
    previous = r.error[0];
  }
}

void vf_machines_more(const vf_sink *s)
{
  printf("\nMachines: small motions, error control\n");
  run_rhombus(s);
  run_doors(s);
  run_bicycle(s);
  run_cart_pole(s);
}
