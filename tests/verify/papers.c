#include "papers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *vf_method_name(ga_method method)
{
  ga_method_info info;
  return ga_method_at((int)method, &info) ? info.title : "none";
}

double vf_method_order(ga_method method)
{
  ga_method_info info;
  return ga_method_at((int)method, &info) ? info.order : 2.0;
}

int vf_method_suits(ga_method method, vf_needs needs)
{
  ga_method_info info;
  if (!ga_method_at((int)method, &info)) return 0;
  return needs == VF_ALL_METHODS || (needs == VF_EXACT_METHODS ? info.vdot_at_end : !info.holonomic_only);
}

const char *vf_form_name(ga_form form)
{
  static const char *const names[] = {"space", "body", "SE(3)"};
  return names[form];
}

vf_case vf_method_case(ga_method method)
{
  vf_case c = {.method = method, .start = VF_PERTURBED, .rho = 0.8, .commutator = 1};
  ga_method_info info;
  if (ga_method_at((int)method, &info) && info.hht) c.hht = -0.3;
  return c;
}

/* ---- A machine with a stepper ---- */

static ga_status build(vf_parts *p, const mx_machine *machine, ga_form form)
{
  ga_machine_opts o = ga_machine_defaults();
  o.form = form;
  memcpy(o.gravity, machine->gravity, sizeof o.gravity);
  ga_status status = ga_context_create(NULL, &p->b.ctx);
  if (!status) status = ga_machine_create(p->b.ctx, &o, &p->b.m);
  if (status) return status;
  machine->build(machine, &p->b);
  return p->b.status ? p->b.status : ga_machine_build(p->b.m);
}

ga_status vf_parts_open(vf_parts *p, const mx_machine *machine, ga_form form, const vf_case *c)
{
  ga_stepper_opts o = ga_stepper_defaults();
  *p = (vf_parts){.st = NULL};
  ga_status status = build(p, machine, form);
  if (!status)
    status =
        c->hht != 0 ? ga_scheme_hht(p->b.ctx, c->hht, &o.scheme) : ga_scheme_rho(p->b.ctx, c->rho, &o.scheme);
  o.method = c->method;
  o.commutator = c->commutator;
  o.newton.tol = 1e-13;
  o.newton.max_iterations = 30;
  return status ? status : ga_stepper_create(p->b.ctx, ga_machine_system(p->b.m), &o, &p->st);
}

ga_status vf_parts_start(vf_parts *p, double h, int anywhere)
{
  const ga_system *sys = ga_machine_system(p->b.m);
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V),
               nx = (size_t)ga_system_size(sys, GA_BLOCK_X);
  ga_start_opts o = ga_start_defaults();
  double *q = calloc(nq + nv + nx + 1, sizeof *q);
  o.h = h;
  if (anywhere) o.max_change = 1e9;
  ga_status status = q ? ga_machine_initial(p->b.m, q, q + nq, q + nq + nv) : GA_ERR_MEMORY;
  if (!status) status = ga_stepper_start(p->st, &o, 0, q, q + nq, q + nq + nv, NULL, NULL, NULL);
  free(q);
  return status;
}

void vf_parts_close(vf_parts *p)
{
  ga_stepper_destroy(&p->st);
  ga_machine_destroy(&p->b.m);
  for (int i = 0; i < p->b.n_functions; i++) ga_function_destroy(&p->b.function[i]);
  ga_context_destroy(&p->b.ctx);
  *p = (vf_parts){.st = NULL};
}

int vf_parts_fail(const vf_parts *p, const char *what, ga_status status, char *text, size_t size)
{
  const ga_error *e = p->b.ctx ? ga_context_error(p->b.ctx) : NULL;
  snprintf(text, size, "%s: %s (%s)", what, ga_status_text(status),
           e && e->status != GA_OK ? e->text : "no further message");
  return 1;
}

int vf_parts_signals(const vf_parts *p, int n, const char *const *names, double *out, char *text, size_t size)
{
  const ga_state *s = ga_stepper_state(p->st);
  for (int i = 0; i < n; i++) {
    const int minus = names[i][0] == '-';
    const char *name = names[i] + minus;
    if (strncmp(name, "psi", 3) == 0) {
      out[i] = s->psi[atoi(name + 3)];
    } else {
      const int at = ga_machine_find_signal(p->b.m, name);
      if (at < 0) return snprintf(text, size, "there is no signal \"%s\"", name), 1;
      const ga_status status = ga_machine_signals(p->b.m, NULL, s, 1, &at, &out[i]);
      if (status) return vf_parts_fail(p, name, status, text, size);
    }
    if (minus) out[i] = -out[i];
  }
  return 0;
}

/* ---- What a method cannot do ---- */

/* The weighted methods have no vdot to feed back, and say whose it is. */
static void check_refusal(const vf_sink *s)
{
  const mx_machine *m = mx_machine_find("spring_mass_parts");
  if (!s->wanted(s->user, m->name)) return;
  printf("\nAcceleration feedback under the weighted methods\n");
  for (int i = 0; ga_method_at(i, NULL); i++) {
    const ga_method method = (ga_method)i;
    if (vf_method_suits(method, VF_EXACT_METHODS)) continue;
    const vf_case c = vf_method_case(method);
    char text[GA_ERROR_TEXT + 160] = "was accepted";
    vf_parts p;
    ga_status status = vf_parts_open(&p, m, GA_FORM_SPACE, &c);
    if (!status) status = vf_parts_start(&p, m->h, 0);
    if (status) vf_parts_fail(&p, "refused", status, text, sizeof text);
    const int good = s->check(s->user, status == GA_ERR_ARGUMENT && strstr(text, "mass.acc"), m->name,
                              vf_method_name(method), text);
    printf("  %-10s %s  %s\n", vf_method_name(method), text, good ? "ok" : "FAIL");
    vf_parts_close(&p);
  }
}

void vf_papers_run(const vf_sink *s)
{
  vf_papers_same(s);
  vf_papers_order(s);
  check_refusal(s);
  vf_papers_figures(s);
}
