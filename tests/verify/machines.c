#include "machines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Errors below this are rounding, and have no order. */
#define ROUNDING 1e-9
#define BAND 0.15        /* of orders */
#define ENERGY_BAND 0.35 /* the energy's largest error may lie between two steps */

static double order_of(double coarse, double fine)
{
  return fine > 0 ? log2(coarse / fine) : NAN;
}

static void check_mobility(const vf_sink *s, const mx_machine *m, const mx_result *r)
{
  char text[96];
  if (m->mobility >= 0) {
    snprintf(text, sizeof text, "mobility %d, expected %d", r->report.mobility, m->mobility);
    s->check(s->user, r->report.mobility == m->mobility, m->name, "mobility", text);
  }
  if (m->redundant >= 0) {
    snprintf(text, sizeof text, "%d redundant constraints, expected %d", r->report.redundant, m->redundant);
    s->check(s->user, r->report.redundant == m->redundant, m->name, "redundancy", text);
  }
  if (m->report) s->check(s->user, strstr(r->mobility, m->report) != NULL, m->name, "report", r->mobility);
}

/* One row: the error against its bound, and its order; fine NaN: not halved. */
static void check_row(const vf_sink *s, const char *machine, const char *label, double coarse, double fine,
                      double bound, double order, double band)
{
  char text[256];
  const double observed = order_of(coarse, fine);
  int good = 1;
  snprintf(text, sizeof text, "%s is off by %.3e, at most %.1e", label, coarse, bound);
  good &= s->check(s->user, coarse <= bound, machine, "error", text);
  if (order > 0 && !isnan(fine) && fine > ROUNDING) {
    snprintf(text, sizeof text, "%s has order %.3f, expected %.1f within %.2f", label, observed, order, band);
    good &= s->check(s->user, fabs(observed - order) <= band, machine, "order", text);
  }
  printf("  %-44.44s  %9.2e", label, coarse);
  if (!isnan(fine))
    printf("  %9.2e", fine);
  else
    printf("           ");
  if (order > 0 && fine > ROUNDING)
    printf("  %5.2f", observed);
  else
    printf("       ");
  printf("  (%.0e)  %s\n", bound, good ? "ok" : "FAIL");
}

static void run_machine(const vf_sink *s, const mx_machine *m)
{
  mx_options o = mx_options_of(m);
  mx_result r[2];
  const int halve = !(m->rtol > 0);
  for (int level = 0; level <= halve; level++, o.h *= 0.5) {
    mx_compare(m, &o, &r[level]);
    if (!s->check(s->user, !r[level].failure[0], m->name, level ? "half the step" : "run", r[level].failure))
      return;
  }
  printf("\n%s: %s\n", m->name, m->title);
  printf("  h = %g, rho %g, %ld steps, %.2f iterations per step\n", m->h, m->rho, r[0].simulate.steps,
         (double)r[0].stats.iterations / (double)r[0].simulate.steps);
  check_mobility(s, m, &r[0]);
  for (int k = 0; k < r[0].n; k++)
    check_row(s, m->name, m->reference[k].signal, r[0].error[k], halve ? r[1].error[k] : NAN,
              m->reference[k].tolerance, m->reference[k].order, BAND);
  if (m->energy > 0)
    check_row(s, m->name, "energy balance", r[0].energy, halve ? r[1].energy : NAN, m->energy, 2,
              ENERGY_BAND);
}

/* ---- Forms and methods ---- */

/* The largest error of a run over its tolerance. */
static double worst_ratio(const mx_machine *m, const mx_result *r)
{
  double worst = 0;
  for (int k = 0; k < r->n; k++) worst = fmax(worst, r->error[k] / m->reference[k].tolerance);
  return worst;
}

/* Other ways to describe bodies and to hold constraints come close to the same motion. */
static void run_others(const vf_sink *s, const mx_machine *m)
{
  static const struct {
    const char *title;
    ga_form form;
    ga_method method;
  } other[] = {{"body form", GA_FORM_BODY, GA_STABILIZED},
               {"SE(3) form", GA_FORM_SE3, GA_STABILIZED},
               {"index 3", GA_FORM_SPACE, GA_INDEX3}};
  char text[96];
  if (m->rtol > 0 || m->twin || !m->reference[0].signal) return; /* twins are compared to the bit, nearly */
  printf("  %-24s", m->name);
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    mx_options o = mx_options_of(m);
    mx_result r;
    o.form = other[i].form;
    o.method = other[i].method;
    mx_compare(m, &o, &r);
    if (!s->check(s->user, !r.failure[0], m->name, other[i].title, r.failure)) continue;
    const double worst = worst_ratio(m, &r);
    snprintf(text, sizeof text, "error %.2f times the tolerance, at most 20", worst);
    s->check(s->user, worst <= 20, m->name, other[i].title, text);
    printf("   %s %5.2f", other[i].title, worst);
  }
  printf("\n");
}

void vf_machines_run(const vf_sink *s)
{
  const mx_machine *m;
  for (int i = 0; (m = mx_machine_at(i)) != NULL; i++)
    if (s->wanted(s->user, m->name) && (!s->brief || m->in_short)) run_machine(s, m);
  if (!s->brief) printf("\nMachines, otherwise described: largest error over tolerance\n");
  for (int i = 0; !s->brief && (m = mx_machine_at(i)) != NULL; i++)
    if (s->wanted(s->user, m->name)) run_others(s, m);
  vf_machines_more(s);
}
