/* Values of selected terms of a machine. */
#include "mbs/selected.h"
#include "mbs/blocks.h"
#include "mbs/form.h"
#include "mbs/system.h"
#include "mbs/workspace.h"
#include "core/work.h"

#include <string.h>

static void clear(double *x, int n)
{
  if (x) memset(x, 0, (size_t)n * sizeof *x);
}

static void clear_all(const ga__mbs_model *b, const ga_sweep *s, int rows)
{
  clear(s->dynamics, rows);
  clear(s->phi, b->n_lambda);
  clear(s->phi_dot, b->n_lambda);
  clear(s->k, b->n_psi);
  clear(s->state, b->n_x);
  clear(s->output, b->n_y);
}

/* Inertia, and constraints of frequent kinds; f: forces. */
static int add_frequent(const ga__eval *e, const ga__selected *x, const ga_sweep *s, double *f)
{
  int status = 0;
  for (int i = 0; i < x->n_nodes; i++) {
    ga__node_mass(e, x->node[i], s->dynamics);
    ga__node_force(e, x->node[i], f);
  }
  for (int i = 0; i < x->n_points; i++) {
    ga__point_value(e, x->point[i], s->phi, 0);
    if (s->phi_dot) ga__point_value(e, x->point[i], s->phi_dot, 1);
    ga__point_force(e, x->point[i], f);
  }
  for (int i = 0; i < x->n_axes; i++) {
    ga__axes_value(e, x->axes[i], s->phi, 0);
    if (s->phi_dot) ga__axes_value(e, x->axes[i], s->phi_dot, 1);
    ga__axes_torque(e, x->axes[i], f);
  }
  for (int i = 0; i < x->n_rows && !status; i++) status = ga__row_sweep(e, x->row[i], s);
  return status;
}

static int add_element(const ga__eval *e, const ga__element *el, const ga_sweep *s, double *f)
{
  const ga__element_type *t = el->type;
  const int open = ga__gate_is_open(e, el->gate);
  int status = 0;
  if (t->dynamics)
    status = t->dynamics(e, el, s->dynamics, NULL);
  else if (t->mass)
    status = t->mass(e, el, s->dynamics);
  if (!status && !t->dynamics && t->force && open) status = t->force(e, el, f);
  if (!status && t->phi) status = t->phi(e, el, s->phi, 0);
  if (!status && t->phi && s->phi_dot) status = t->phi(e, el, s->phi_dot, 1);
  if (!status && t->k) status = t->k(e, el, s->k, 0);
  if (!status && t->state && el->n_x && open) status = t->state(e, el, s->state);
  return status;
}

/* Motion of carried frames; returns where elements write forces on them too. */
static double *frames_begin(const ga__eval *e)
{
  ga__carried_space *space = e->work->carried;
  ga__carried_eval(e, 1);
  for (int i = 0; i < e->b->carried.n; i++)
    e->work->kin[ga__carried_at(e->b, i)->node] = space->motion[i].kin;
  return space->wide;
}

static int sweep(void *user, const ga_point *p, ga_sweep *wanted)
{
  ga__workspace *w = user;
  const ga__mbs_model *b = w->b;
  const ga__selected *x = w->selected;
  const int rows = ga__elements_rows(b);
  double *f = w->f;
  ga_sweep s = *wanted;
  if (wanted->jacobian) return -1; /* nobody asks for it */
  const ga__eval e = ga__eval_at(w, p, 1, 1);
  if (b->carried.n) s.dynamics = frames_begin(&e);
  clear_all(b, &s, rows);
  clear(f, rows);
  int status = add_frequent(&e, x, &s, f);
  for (int i = 0; i < x->n_elements && !status; i++)
    status = add_element(&e, ga__element_at(b, x->element[i]), &s, f);
  for (int i = 0; i < rows; i++) s.dynamics[i] -= f[i];
  if (b->carried.n) ga__carried_sum(b, w->carried, wanted->dynamics);
  if (b->form) ga__form_turn_rows(&e, wanted->dynamics);
  for (int i = 0; i < x->n_outputs && !status; i++) status = ga__output_value(&e, x->output[i], s.output);
  return status;
}

/* ---- As systems ---- */

static ga_status work_create(void *user, ga_context *ctx, void **work)
{
  const ga__selection *s = user;
  ga__workspace *w;
  const ga_status status = ga__workspace_create(ctx, s->b, 0, &w);
  if (!status) w->selected = s->terms;
  *work = w;
  return status;
}

ga_status ga__selection_system(ga_context *ctx, const ga__selection *s, const ga_system **out)
{
  return ga__system_with(ctx, s->b->system, (void *)s, work_create, sweep, out);
}
