/* Texts for equations, with units, and for the causes of a failed step, in terms of parts. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "core/work.h"
#include "mbs/system.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Equations ---- */

static const char *write_dynamics(ga__writer *w, const ga__mbs_model *b, int index)
{
  static const char *const what[6] = {"force along x",  "force along y",  "force along z",
                                      "torque about x", "torque about y", "torque about z"};
  const ga__node *node = ga__node_with(b, index);
  const ga__part *part = &b->m->part[node->part];
  ga__write(w, "%s '%s': ", ga__part_text(part->kind), part->name);
  if (node->scalar) {
    const int angle = ga__node_is_angle(b, node);
    ga__write(w, "%s", angle ? "torque" : "force");
    return ga__motion_unit(angle, GA_UNIT_FORCE);
  }
  int c = 0;
  while (c < 5 && node->column[c] != index - node->v) c++;
  ga__write(w, "%s%s", what[c], node->rigid && b->m->opts.form != GA_FORM_SPACE ? " of its own frame" : "");
  return ga__motion_unit(c >= 3, GA_UNIT_FORCE);
}

/* 1: what is measured is an angle, or the sine of one. */
static int is_angle(const ga__mbs_model *b, int gauge)
{
  return GA__AT(b->gauge, ga__gauge, gauge)->kind == GA__DOT || ga__gauge_is_angle(b, gauge);
}

int ga__constrains_angle(const ga__mbs_model *b, int lambda)
{
  for (int i = 0; i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    if (row->lambda != lambda || !row->n_terms) continue;
    return is_angle(b, GA__AT(b->term, ga__term, row->first_term)->gauge);
  }
  return 0;
}

static const char *write_constraint(ga__writer *w, const ga__mbs_model *b, ga_equation_block block, int index)
{
  const ga__list *labels = block == GA_BLOCK_PSI ? &b->psi_label : &b->lambda_label;
  const ga__label *label = GA__AT(*labels, ga__label, index);
  const ga__part *part = &b->m->part[label->part];
  ga__write(w, "%s '%s': %s%s", ga__part_text(part->kind), part->name,
            block == GA_BLOCK_ETA ? "rate of the " : "", label->text);
  const ga__element *el = ga__element_of(b, label->part);
  if (el && el->type->unit_of_row) return el->type->unit_of_row(el, block == GA_BLOCK_ETA);
  if (block == GA_BLOCK_PSI) return ga__motion_unit(0, GA_UNIT_RATE);
  return ga__motion_unit(ga__constrains_angle(b, index),
                         block == GA_BLOCK_ETA ? GA_UNIT_RATE : GA_UNIT_VALUE);
}

/* Unit of the part's input that reads output y: a force or a torque; inputs of blocks have none. */
static const char *unit_of_formula(const ga__mbs_model *b, int part, int y)
{
  const ga__element *el = ga__element_of(b, part);
  return el && el->type->unit_of_input ? el->type->unit_of_input(b, el, y) : "";
}

/* A state or output: of a block, of a formula, or measured. */
static const char *write_output(ga__writer *w, const ga__mbs_model *b, ga_equation_block block, int index)
{
  const ga__y *y = block == GA_BLOCK_Y ? GA__AT(b->y, ga__y, index) : NULL;
  if (y && y->kind == GA__Y_PROBE) {
    const ga__probe *probe = GA__AT(b->probe, ga__probe, y->index);
    char name[256];
    ga__channel at;
    ga__channel_get(b, probe->part, probe->channel, &at);
    ga__channel_name(name, sizeof name, b->m->part[probe->part].name, at.name);
    ga__write(w, "signal '%s'", name);
    return at.unit;
  }
  if (y && y->kind == GA__Y_FORMULA) {
    const ga__formula *f = GA__AT(b->formula, ga__formula, y->index);
    const ga__part *part = &b->m->part[f->part];
    ga__write(w, "%s '%s': expression '%.60s'", ga__part_text(part->kind), part->name, ga_expr_text(f->expr));
    return unit_of_formula(b, f->part, index);
  }
  const ga__element *el = ga__element_with(b, block, index);
  if (!el) return "";
  const int number = index - (y ? el->y : el->x);
  const ga__part *part = &b->m->part[el->part];
  ga__write(w, "%s '%s': %s %d", ga__part_text(part->kind), part->name, y ? "output" : "state", number + 1);
  return y && el->type->unit_of_output ? el->type->unit_of_output(el, number) : "";
}

static const char *write_equation(ga__writer *w, const ga__mbs_model *b, ga_equation_block block, int index)
{
  if (block == GA_BLOCK_V) return write_dynamics(w, b, index);
  if (block == GA_BLOCK_X || block == GA_BLOCK_Y) return write_output(w, b, block, index);
  return write_constraint(w, b, block, index);
}

const char *ga_machine_equation(const ga_machine *m, ga_equation_block block, int index, char *text,
                                size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  const ga__mbs_model *b = m ? m->model : NULL;
  if (!b || (int)block < 0 || block > GA_BLOCK_ETA || index < 0 || index >= ga_system_size(b->system, block))
    return "";
  return write_equation(&w, b, block, index);
}

/* ---- The largest force ---- */

/* The force element with the largest contribution to one row of the dynamics; −1: none. */
static int largest_force(ga__workspace *work, const ga_state *s, int row, double *value)
{
  const ga__mbs_model *b = work->b;
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  const ga__eval e = ga__eval_at(work, &p, 1, 0);
  const size_t bytes = (size_t)b->n_wide * sizeof(double);
  double *f = ga__alloc(work->ctx, (size_t)b->n_wide, sizeof *f);
  int part = -1;
  *value = 0.0;
  for (int i = b->first_unswept; f && i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    memset(f, 0, bytes);
    if (!el->type->force || !el->type->powers || el->type->force(&e, el, f)) continue;
    if (!(fabs(f[row]) > fabs(*value))) continue;
    *value = f[row];
    part = el->part;
  }
  ga__free(work->ctx, f);
  return part;
}

/* At the end of the failed step, or else at its beginning: a diverged iteration may have
 * left all contacts. */
static void write_largest_force(ga__writer *w, ga__workspace *work, const ga_step_failure *f,
                                const ga_state *now, const ga_residual *r, const char *unit)
{
  const ga_machine *m = work->m;
  double value;
  if (r->block != GA_BLOCK_V || m->model->form) return; /* in other forms rows are not in ground axes */
  int part = largest_force(work, &f->trial, r->index, &value);
  if (part < 0) part = largest_force(work, now, r->index, &value);
  if (part >= 0)
    ga__write(w, "; the largest force there is that of %s '%s', %.4g %s", ga__part_text(m->part[part].kind),
              m->part[part].name, value, unit);
}

/* ---- The report ---- */

#define JUMP 10.0 /* times rate · step: a larger change is a jump */

/* Positions that drives prescribe: an unreachable one, or a jump, is a frequent cause. */
static void write_drives(ga__writer *w, const ga_machine *m, const ga_step_failure *f)
{
  enum { MOST = 4 };
  int n = 0;
  for (int i = 0; i < m->n_parts && n < MOST; i++) {
    ga__prescribed drive;
    if (!ga__prescribed_by(&m->part[i], &drive)) continue;
    const ga__joint *joint = ga__joint_of(m->model, i);
    double y[2], end;
    if (!joint || ga_function_eval(drive.function, f->t, 1, y, NULL) ||
        ga_function_eval(drive.function, f->t + f->h, 0, &end, NULL))
      continue;
    const int angle =
        ga__constrains_angle(m->model, GA__AT(m->model->row, ga__row, joint->first_row)->lambda);
    const char *const *unit = ga__scalar_info(angle)->unit;
    ga__write(w, "%s '%s' prescribes %s = %.6g %s, rate %.4g %s", ga__part_text(m->part[i].kind),
              m->part[i].name, drive.coordinate, y[0], unit[GA_UNIT_VALUE], y[1], unit[GA_UNIT_RATE]);
    if (fabs(end - y[0]) > JUMP * (fabs(y[1]) * f->h + DBL_EPSILON * (1.0 + fabs(y[0]))))
      ga__write(w, ", and %.6g %s at the end of the step", end, unit[GA_UNIT_VALUE]);
    ga__write(w, "\n");
    n++;
  }
}

/* Equations with smaller residuals are not reported. */
#define MET 1e-8

static void write_residuals(ga__writer *w, ga__workspace *work, const ga_step_failure *f, const ga_state *now)
{
  for (int i = 0; i < f->n && (i == 0 || f->residual[i].size > MET); i++) {
    const ga_residual *r = &f->residual[i];
    ga__write(w, "%s: ", i ? "then" : "largest residual");
    const char *unit = write_equation(w, work->b, r->block, r->index);
    ga__write(w, " is off by %.3g%s%s", r->value, unit[0] ? " " : "", unit);
    if (r->block == GA_BLOCK_V) ga__write(w, ", %.2g of the largest term", r->size);
    if (i == 0) write_largest_force(w, work, f, now, r, unit);
    ga__write(w, "\n");
  }
}

/* Without time, callback and advice, which are for users who write their own equations. */
static void write_reason(ga__writer *w, const ga_error *error)
{
  char text[GA_ERROR_TEXT];
  ga_error_say(error, GA_SAY_PART, text, sizeof text);
  ga__write(w, "%s", text);
}

int ga_machine_failure(const ga_machine *m, ga_stepper *st, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  ga_step_failure f;
  if (size) text[0] = '\0';
  if (!m || !m->model || !st || ga_stepper_system(st) != m->model->system || !ga_stepper_failure(st, &f))
    return 0;
  ga_context *ctx = ga__stepper_context(st);
  const ga_error error = ctx->error;
  ga__write(&w, "a step of %.3g s from t = %.9g s %s", f.h, f.t,
            f.status ? "failed: " : "was made and taken back");
  write_reason(&w, &f.error);
  ga__write(&w, "\n");
  write_residuals(&w, ga__stepper_work(st), &f, ga_stepper_state(st));
  if (f.status == GA_OK || f.status == GA_RETRY_NEWTON || f.status == GA_RETRY_SINGULAR)
    write_drives(&w, m, &f);
  ctx->error = error;
  return (int)w.used;
}
