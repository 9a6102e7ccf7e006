/* The callbacks of a machine's system, which evaluate its elements. */
#include "mbs/sampled.h"
#include "mbs/system.h"
#include "mbs/extent.h"
#include "lie/mat3.h"
#include "mbs/blocks.h"
#include "mbs/carried.h"
#include "mbs/breaks.h"
#include "mbs/edges.h"
#include "mbs/form.h"
#include "mbs/hidden.h"
#include "mbs/smooth.h"
#include "mbs/workspace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1: kin has to be computed for this point; records that it belongs to it from now on. */
static int moves_to(ga__workspace *w, const ga_point *p)
{
  if (p->motion && p->motion == w->motion && p->q == w->motion_q && p->v == w->motion_v &&
      p->vdot == w->motion_vdot)
    return 0;
  w->motion = p->motion;
  w->motion_q = p->q, w->motion_v = p->v, w->motion_vdot = p->vdot;
  return 1;
}

ga__eval ga__eval_at(ga__workspace *w, const ga_point *p, int with_v, int with_vdot)
{
  const int again = p->motion != 0; /* the same motion may come again, with more of kin needed */
  if (moves_to(w, p))
    ga__kin_at(w->b, p->q, with_v || again ? p->v : NULL, with_vdot || again ? p->vdot : NULL, w->kin);
  return (ga__eval){w->m, w->b, p, w->kin, w};
}

int ga__fail_undefined(const ga__eval *e, int part, const char *field, const ga_fault *fault)
{
  char text[256];
  const ga__part *p = &e->m->part[part];
  ga_fault_text(text, sizeof text, fault);
  if (e->work->ctx->starting) e->work->ctx->starting |= GA__UNDEFINED;
  ga__refuse_part(e->work->ctx, p, GA_RETRY_NAN,
                  fault->kind == GA_FAULT_RANGE ? GA_REASON_OUTSIDE_TABLE : GA_REASON_UNDEFINED,
                  (ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1}, .field = field, .detail = text});
  return 1;
}

/* ---- Space form, with carried frames ---- */

void ga__space_mass(const ga__eval *e, double *out)
{
  if (e->b->carried.n)
    ga__carried_mass(e, out);
  else
    ga__elements_mass(e, out);
}

int ga__space_force(const ga__eval *e, double *f)
{
  return e->b->carried.n ? ga__carried_force(e, f) : ga__elements_force(e, f);
}

int ga__space_jacobian(const ga__eval *e, ga_jacobian *J)
{
  return e->b->carried.n ? ga__carried_sweep(e, NULL, J) : ga__elements_jacobian(e, J);
}

int ga__space_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  if (e->b->carried.n) return ga__carried_sweep(e, s, J);
  if (J) ga__clear_entries(&e->b->pattern, J);
  return ga__elements_sweep(e, s, J);
}

/* ---- Callbacks ---- */

static int mass(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 1);
  ga__space_mass(&e, out);
  if (e.b->form) ga__form_mass(&e, out);
  return 0;
}

static int force(void *user, const ga_point *p, double *f)
{
  ga__eval e = ga__eval_at(user, p, 1, 0);
  int status = ga__space_force(&e, f);
  if (!status && e.b->form) ga__form_force(&e, f);
  return status;
}

static int phi(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 0, 0);
  return ga__elements_phi(&e, out, 0);
}

static int phi_dot(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 0);
  return ga__elements_phi(&e, out, 1);
}

/* Φ'' at vdot = 0 of the form, where accelerations in space may be non-zero: Φ'' = B acc + .... */
static int phi_acc(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 0);
  int status = ga__elements_phi(&e, out, 2);
  if (!status && e.b->carried.n) status = ga__carried_phi_acc(&e, out);
  return status || !e.b->form ? status : ga__form_phi_acc(&e, out);
}

static int k(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 0);
  return ga__elements_k(&e, out, 0);
}

static int k_acc(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 0);
  int status = ga__elements_k(&e, out, 1);
  if (!status && e.b->carried.n) status = ga__carried_k_acc(&e, out);
  return status || !e.b->form ? status : ga__form_k_acc(&e, out);
}

static int state(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 1);
  return ga__elements_state(&e, out);
}

static int output(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 1);
  return ga__outputs_value(&e, out);
}

static int output_guess(void *user, const ga_point *p, double *out)
{
  ga__eval e = ga__eval_at(user, p, 1, 1);
  ga__outputs_guess(&e, out);
  return 0;
}

static int inner(void *user, const ga_point *p, double *n)
{
  ga__eval e = ga__eval_at(user, p, 0, 0);
  return ga__elements_inner(&e, n);
}

/* The twists that velocities dq would be are the moves of nodes in space, in every form. */
static int inner_step(void *user, const ga_point *p, const double *dq, double *dn)
{
  ga__workspace *w = user;
  const ga__eval e = {w->m, w->b, p, w->kin, w};
  ga__kin_nodes(w->b, p->q, dq, NULL, w->kin);
  w->motion = 0;
  return ga__elements_inner_step(&e, dn);
}

static int jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  ga__eval e = ga__eval_at(user, p, 1, 1);
  return e.b->form ? ga__form_sweep(&e, NULL, J) : ga__space_jacobian(&e, J);
}

/* ---- All at once ---- */

/* kin is not needed if point3 are the only constraints and forces. */
static ga__kin_use use_of_kin(ga__workspace *w, const ga_point *p)
{
  if (!moves_to(w, p)) return GA__KIN_CURRENT;
  if (w->b->uses_kin) return GA__KIN_UPDATE;
  w->motion = 0; /* kin will not be computed for this point */
  return GA__KIN_UNUSED;
}

static int sweep(void *user, const ga_point *p, ga_sweep *wanted)
{
  ga__workspace *w = user;
  const ga__mbs_model *b = w->b;
  const ga__eval e = {w->m, b, p, w->kin, w};
  ga_jacobian *J = wanted->jacobian;
  ga_sweep *s = wanted->jacobian_alone ? NULL : wanted;
  int status;
  if (b->form) { /* elements compute with twists in space */
    ga__eval_at(w, p, 1, 1);
    status = ga__form_sweep(&e, s, J);
  } else if (b->carried.n) { /* frames need all nodes first */
    if (moves_to(w, p)) ga__kin_nodes(b, p->q, p->v, p->vdot, w->kin);
    status = ga__space_sweep(&e, s, J);
  } else {
    w->use = use_of_kin(w, p);
    status = ga__space_sweep(&e, s, J);
    w->use = GA__KIN_CURRENT;
  }
  if (!status && s && b->n_x) status = ga__elements_state(&e, s->state);
  if (!status && s && b->n_y) status = ga__outputs_value(&e, s->output);
  return status;
}

/* ---- Names ---- */

static void name_velocity(const ga_machine *m, const ga__mbs_model *b, int index, char *text, size_t size)
{
  static const char *const component[6] = {
      "x", "y", "z", "rotation about x", "rotation about y", "rotation about z"};
  const ga__node *node = ga__node_with(b, index);
  const char *part = m->part[node->part].name;
  if (node->scalar) {
    snprintf(text, size, "%s: coordinate", part);
    return;
  }
  if (node->vector) {
    snprintf(text, size, "%s: coordinate %d", part, index - node->v + 1);
    return;
  }
  const char *of = "";
  for (int c = 0; c < 6; c++)
    if (node->column[c] == index - node->v) of = component[c];
  if (node->number)
    snprintf(text, size, "%s: %s of node %d", part, of, node->number);
  else
    snprintf(text, size, "%s: %s", part, of);
}

static void name_output(const ga_machine *m, const ga__mbs_model *b, ga_equation_block block, int index,
                        char *text, size_t size)
{
  const ga__y *row = block == GA_BLOCK_Y ? GA__AT(b->y, ga__y, index) : NULL;
  if (row && row->kind == GA__Y_PROBE) {
    ga__signal_name_of(b, GA__AT(b->probe, ga__probe, row->index), text, size);
    return;
  }
  if (row && row->kind == GA__Y_FORMULA) {
    const ga__formula *f = GA__AT(b->formula, ga__formula, row->index);
    snprintf(text, size, "%s: %s", m->part[f->part].name, ga_expr_text(f->expr));
    return;
  }
  const ga__element *el = ga__element_with(b, block, index);
  if (el)
    snprintf(text, size, "%s: %s %d", m->part[el->part].name, row ? "output" : "state",
             index - (row ? el->y : el->x) + 1);
}

static void name(void *user, ga_equation_block block, int index, char *text, size_t size)
{
  const ga__mbs_model *b = ((const ga__workspace *)user)->b;
  const ga_machine *m = b->m;
  if (block == GA_BLOCK_V) {
    name_velocity(m, b, index, text, size);
    return;
  }
  if (block == GA_BLOCK_X || block == GA_BLOCK_Y) {
    name_output(m, b, block, index, text, size);
    return;
  }
  const ga__label *l = GA__AT(*(block == GA_BLOCK_PSI ? &b->psi_label : &b->lambda_label), ga__label, index);
  snprintf(text, size, "%s: %s", m->part[l->part].name, l->text);
}

/* ---- The system ---- */

/* One factor for each rigid body; what lies between them is R^n. */
static ga_status make_factors(ga_machine *m, ga__mbs_model *b, ga_factor **out, int *n)
{
  static const ga_factor RIGID[] = {[GA_FORM_SPACE] = {GA_R3SO3, 0, GA_RIGHT},
                                    [GA_FORM_BODY] = {GA_R3SO3, 0, GA_LEFT},
                                    [GA_FORM_SE3] = {GA_SE3, 0, GA_LEFT}};
  ga_factor *factor = ga__alloc(m->ctx, (size_t)b->node.n, sizeof *factor);
  if (!factor) return ga__no_memory(m->ctx, "a machine");
  *n = 0;
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->carried) continue;
    if (node->rigid)
      factor[(*n)++] = RIGID[m->opts.form];
    else if (*n && factor[*n - 1].kind == GA_RN)
      factor[*n - 1].n += node->n;
    else
      factor[(*n)++] = (ga_factor){GA_RN, node->n, GA_LEFT};
  }
  *out = factor;
  return GA_OK;
}

ga_status ga__system_make(ga_machine *m, ga__mbs_model *b)
{
  ga_factor *factor = NULL;
  int n = 0;
  ga_status status = make_factors(m, b, &factor, &n);
  if (status) return status;
  ga_system_def def = ga_system_defaults();
  def.n_factors = n;
  def.factors = factor;
  def.n_lambda = b->n_lambda;
  def.n_psi = b->n_psi;
  def.n_x = b->n_x;
  def.n_y = b->n_y;
  def.user = b;
  def.work_create = ga__workspace_of, def.work_destroy = ga__workspace_destroy;
  if (b->nv > 0) def.mass = mass, def.force = force;
  if (b->n_lambda > 0) def.phi = phi, def.phi_dot = phi_dot, def.phi_acc = phi_acc;
  if (b->n_psi > 0) def.k = k, def.k_acc = k_acc;
  if (b->n_x > 0) def.state = state;
  if (b->n_y > 0) def.output = output, def.output_guess = output_guess;
  def.n_inner = b->n_inner;
  if (b->n_inner > 0) def.inner = inner, def.inner_step = inner_step;
  def.jacobian = jacobian;
  def.sweep = sweep;
  def.name = name;
  def.next_break = ga__machine_next_break;
  def.sample = ga__has_samples(b) ? ga__machine_sample : NULL;
  if (ga__machine_may_hide(b, &def.hidden_motion)) def.hidden = ga__machine_hidden;
  def.smooth = !def.hidden_motion && !def.sample && ga__machine_is_smooth(b);
  def.n_sides = b->edge.n;
  if (b->edge.n > 0) def.sides = ga__machine_sides, def.side_name = ga__machine_side_name;
  def.n_switches = b->n_switches;
  if (b->n_switches > 0) def.switches = ga__machine_switches;
  const ga__pattern *pattern = ga__system_pattern(b);
  def.n_pattern = pattern->n;
  def.pattern_row = pattern->row;
  def.pattern_col = pattern->col;
  def.pattern_in = b->form ? NULL : pattern->in;
  int *cluster = ga__alloc(m->ctx, (size_t)b->nv, sizeof *cluster), number = 0;
  for (int i = 1; cluster && i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    if (node->carried) continue;
    const int light = node->scalar && node->mass == 0.0;
    for (int c = 0; c < node->n; c++) cluster[node->v + c] = light ? ~number : number;
    number++;
  }
  double *scale = ga__alloc(m->ctx, (size_t)b->nv, sizeof *scale);
  if (scale) ga__extent_scale(b, scale);
  def.cluster = cluster;
  def.scale = scale;
  status = cluster && scale ? ga_system_create(m->ctx, &def, &b->system) : ga__no_memory(m->ctx, "a machine");
  ga__free(m->ctx, cluster);
  ga__free(m->ctx, scale);
  ga__free(m->ctx, factor);
  if (!b->form) { /* forms read columns of the pattern when they turn derivatives */
    ga__pattern_free_entries(&b->pattern);
    ga__pattern_free_entries(&b->condensed);
  }
  return status;
}

const ga_system *ga_machine_system(const ga_machine *m)
{
  return m && m->model ? m->model->system : NULL;
}

ga_status ga__phi_initial(ga__workspace *w, double *largest)
{
  const ga__mbs_model *b = w->b;
  double *phi = ga__alloc(w->ctx, (size_t)b->n_lambda + 1, sizeof *phi);
  const ga_point at = {.t = w->m->opts.t_start};
  const ga_error error = w->ctx->error;
  if (!phi) return ga__no_memory(w->ctx, "a machine");
  for (int i = 0; i < b->node.n; i++) ga__kin_initial(b, i, w->kin);
  w->motion = 0;
  const ga__eval e = {w->m, b, &at, w->kin, w};
  *largest = ga__elements_phi(&e, phi, 0) ? HUGE_VAL : 0.0;
  for (int i = 0; i < b->n_lambda; i++)
    if (!(fabs(phi[i]) <= *largest)) *largest = fabs(phi[i]);
  ga__free(w->ctx, phi);
  w->ctx->error = error;
  return GA_OK;
}

void ga__initial_values(const ga__mbs_model *b, double *q, double *v)
{
  for (int i = 1; i < b->node.n; i++) ga__node_get_initial(GA__AT(b->node, ga__node, i), q, v);
  if (b->form) ga__form_initial(b, v);
}

/* to := R₁ R₀ᵀ to */
static void turn_with(double to[3], const double R1[9], const double R0[9])
{
  double local[3];
  ga__mat3_tmul_vec(local, R0, to);
  ga__mat3_mul_vec(to, R1, local);
}

ga_status ga_machine_move_velocities(const ga_machine *m, const double *q, const double *moved, double *v)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga__mbs_model *b = m->model;
  if (!b) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if ((b->nq && (!q || !moved)) || (b->nv && !v))
    return ga__refuse_null(m->ctx, __func__, !v ? "v" : !q ? "q" : "moved");
  for (int i = 1; i < b->node.n; i++) {
    const ga__node *node = GA__AT(b->node, ga__node, i);
    ga__kin from, to;
    if (!node->rigid || node->carried) continue;
    ga__kin_pose(node, q + node->q, &from);
    ga__kin_pose(node, moved + node->q, &to);
    if (!b->form) turn_with(v + node->v + 3, to.R, from.R);
    if (!b->form || m->opts.form != GA_FORM_SE3) continue;
    double space[3];
    ga__mat3_mul_vec(space, from.R, v + node->v);
    ga__mat3_tmul_vec(v + node->v, to.R, space);
  }
  return GA_OK;
}

ga_status ga_machine_initial(const ga_machine *m, double *q, double *v, double *x)
{
  if (!m) return GA_ERR_ARGUMENT;
  const ga__mbs_model *b = m->model;
  if (!b) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  const struct {
    const char *name;
    const double *array;
    int n;
  } needs[] = {{"q", q, b->nq}, {"v", v, b->nv}, {"x", x, b->n_x}};
  for (int i = 0; i < 3; i++)
    if (needs[i].n && !needs[i].array)
      return ga__refuse(
          m->ctx, GA_ERR_ARGUMENT, GA_REASON_NULL_ARGUMENT,
          &(ga__facts){.function = __func__, .field = needs[i].name, GA__NUMBERS({needs[i].n, NULL})});
  ga__initial_values(b, q, v);
  for (int i = 0; i < b->n_x; i++) x[i] = 0.0;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    if (el->n_x && el->type->initial) el->type->initial(b, el, x);
  }
  return GA_OK;
}
