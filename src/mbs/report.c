/* Texts about mobility, redundant constraints and the start, in terms of parts. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "core/work.h"
#include "mbs/element.h"
#include "mbs/system.h"
#include "mbs/workspace.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdlib.h>

static const ga__label *label_of(const ga__mbs_model *b, const ga_constraint *c)
{
  return GA__AT(*(c->block == GA_BLOCK_PSI ? &b->psi_label : &b->lambda_label), ga__label, c->index);
}

/* Parts in the order of their first mention, each once; up to MOST of them are named. */
enum { MOST = 8 };
typedef struct part_list {
  int part[MOST], n, more;
} part_list;

static void add_part(part_list *l, int part)
{
  for (int i = 0; i < l->n; i++)
    if (l->part[i] == part) return;
  if (l->n < MOST)
    l->part[l->n++] = part;
  else
    l->more++;
}

static void write_parts(ga__writer *w, const ga_machine *m, const part_list *l)
{
  for (int i = 0; i < l->n; i++) {
    int last = i == l->n - 1 && !l->more;
    ga__write(w, "%s%s", i == 0 ? "" : last ? " and " : ", ", m->part[l->part[i]].name);
  }
  if (l->more) ga__write(w, " and others");
}

/* "hinge3: rotation about y is already fixed by hinge1 and hinge2" */
static void write_relation(ga__writer *w, const ga_machine *m, const ga_relation *r)
{
  const ga__mbs_model *b = m->model;
  const ga__label *blamed = label_of(b, &r->row[0]);
  part_list others = {{0}, 0, 0};
  for (int i = 1; i < r->n; i++)
    if (label_of(b, &r->row[i])->part != blamed->part) add_part(&others, label_of(b, &r->row[i])->part);
  ga__write(w, "%s: %s ", m->part[blamed->part].name, blamed->text);
  if (r->n == 1)
    ga__write(w, "holds nothing: no motion that there is would change it");
  else if (!others.n)
    ga__write(w, "is already fixed by the rest of %s itself", m->part[blamed->part].name);
  else
    ga__write(w, "is already fixed by ");
  write_parts(w, m, &others);
  ga__write(w, "\n");
}

static void write_shared(ga__writer *w, const ga_machine *m, const ga_redundancy *r)
{
  const ga__mbs_model *b = m->model;
  part_list shared = {{0}, 0, 0};
  for (int i = 0; r->lambda_shared && i < b->n_lambda; i++)
    if (r->lambda_shared[i]) add_part(&shared, GA__AT(b->lambda_label, ga__label, i)->part);
  for (int i = 0; r->psi_shared && i < b->n_psi; i++)
    if (r->psi_shared[i]) add_part(&shared, GA__AT(b->psi_label, ga__label, i)->part);
  if (!shared.n) return;
  ga__write(w, "reactions that are not unique, those of least norm are given: ");
  write_parts(w, m, &shared);
  ga__write(w, "\n");
}

/* Masses of rows that can be switched are no part of the machine, nor rows that are off. */
static void count_switched(const ga__mbs_model *b, const ga_state *s, int *own, int *off)
{
  *own = *off = 0;
  for (int i = 0; i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    *own += row->own > 0;
    *off += row->own > 0 && !(s->x[row->gate] > 0.5);
  }
}

int ga_machine_report(const ga_machine *m, ga_stepper *st, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  const ga_redundancy *r = m && m->model && st ? ga_stepper_redundancy(st) : NULL;
  if (!r || ga_stepper_system(st) != m->model->system) return 0;
  int own, off;
  count_switched(m->model, ga_stepper_state(st), &own, &off);
  const int velocities = m->model->nv - own, constraints = r->constraints - off;
  ga__write(&w, "mobility %d: %d velocit%s, %d constraint%s", r->mobility - (own - off), velocities,
            velocities == 1 ? "y" : "ies", constraints, constraints == 1 ? "" : "s");
  if (r->redundant) ga__write(&w, ", %d of them redundant", r->redundant);
  ga__write(&w, "\n");
  for (int i = 0; i < r->redundant; i++) write_relation(&w, m, &r->relation[i]);
  if (r->redundant) write_shared(&w, m, r);
  return (int)w.used;
}

/* ---- The start ---- */

enum { MOST_MOVES = 12, MOST_JOINTS = 40 };
#define FAR_ENOUGH 1e-9 /* relative; less is rounding */
#define DEGREES (360.0 / GA__TWO_PI)

typedef struct move {
  int part;
  double distance, turn, size;
} move;

static int by_size(const void *x, const void *y)
{
  const move *a = x, *b = y;
  if (a->size != b->size) return a->size < b->size ? 1 : -1;
  return a->part < b->part ? -1 : a->part > b->part;
}

/* Angle of the rotation from R0 to R1; its sine is half the norm of the skew-symmetric part. */
static double turn_between(const double R0[9], const double R1[9])
{
  double Rt[9], T[9];
  ga__mat3_transpose(Rt, R0);
  ga__mat3_mul(T, R1, Rt);
  const double s[3] = {T[7] - T[5], T[2] - T[6], T[3] - T[1]};
  return atan2(sqrt(ga__vec3_dot(s, s)), T[0] + T[4] + T[8] - 1.0);
}

/* Move of a body's frame from its given pose to kin. */
static move move_of(const ga__mbs_model *b, int i, const ga__kin *now, double scale)
{
  const ga__node *node = GA__AT(b->node, ga__node, i);
  ga__kin given;
  double arm0[3], arm1[3], d[3];
  ga__kin_pose(node, node->q_given, &given);
  ga__mat3_mul_vec(arm0, given.R, node->com);
  ga__mat3_mul_vec(arm1, node->rigid || node->planar ? now->R : given.R, node->com);
  for (int k = 0; k < 3; k++) d[k] = now->x[k] - arm1[k] - given.x[k] + arm0[k];
  move mv = {node->part, sqrt(ga__vec3_dot(d, d)), 0.0, 0.0};
  if (node->scalar) mv.distance = fabs(now->x[0] - given.x[0]);
  if (node->rigid) mv.turn = turn_between(given.R, now->R);
  if (node->planar) mv.turn = fabs(now->angle - given.angle);
  mv.size = mv.distance / scale + mv.turn;
  return mv;
}

static const ga_state *state_of(const ga_machine *m, const ga_stepper *st)
{
  if (!m || !m->model || !st || ga_stepper_system(st) != m->model->system) return NULL;
  return ga_stepper_state(st);
}

/* Change of a body's velocities by the start: of its frame's origin, and angular. */
typedef struct velocity_change {
  double size[2], given[2], now[2]; /* largest components */
} velocity_change;

static velocity_change change_of_velocity(const ga__eval *e, int i)
{
  const ga__node *node = GA__AT(e->b->node, ga__node, i);
  const ga__kin *kin = &e->kin[i];
  velocity_change c = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  double arm[3], turn[2][3];
  ga__kin at;
  ga__kin_pose(node, node->q_given, &at);
  ga__mat3_mul_vec(arm, at.R, node->com);
  ga__vec3_cross(turn[0], node->v_given + 3, arm);
  ga__mat3_mul_vec(arm, node->rigid || node->planar ? kin->R : at.R, node->com);
  ga__vec3_cross(turn[1], kin->w + 3, arm);
  for (int k = 0; k < 6; k++) {
    if (node->column[k] < 0) continue;
    const double given = node->v_given[k] - (k < 3 ? turn[0][k] : 0.0),
                 now = kin->w[k] - (k < 3 ? turn[1][k] : 0.0);
    c.size[k / 3] = hypot(c.size[k / 3], now - given);
    c.given[k / 3] = fmax(c.given[k / 3], fabs(given));
    c.now[k / 3] = fmax(c.now[k / 3], fabs(now));
  }
  return c;
}

/* Writes "rotor: its given velocity was changed by 1.5 m/s and 2 rad/s" or, if drives start with speeds,
 * "rotor starts with 2 rad/s, ...". fastest: the largest velocity of all bodies, by which rounding is known.
 * Returns 0 if neither applies; silent 1: only returns this. */
static int write_velocity(ga__writer *w, const ga__eval *e, int i, double fastest, int silent)
{
  const ga__node *node = GA__AT(e->b->node, ga__node, i);
  const velocity_change c = change_of_velocity(e, i);
  const double given = fmax(c.given[0], c.given[1]);
  int changed[2], taken[2];
  for (int k = 0; k < 2; k++) {
    changed[k] = given > 0.0 && c.size[k] > FAR_ENOUGH * given;
    taken[k] =
        e->b->start_with_drive_speeds && c.given[k] <= FAR_ENOUGH * given && c.size[k] > FAR_ENOUGH * fastest;
    if (taken[k]) changed[k] = 0;
  }
  const int all = changed[0] || changed[1];
  if (!all && !taken[0] && !taken[1]) return 0;
  if (silent) return 1;
  ga__write(w, "%s%s", e->m->part[node->part].name,
            all ? ": its given velocity was changed by" : " starts, by drives, with");
  if (all || taken[0]) ga__write(w, " %.3g%s", c.size[0], node->scalar ? "" : " m/s");
  if ((node->rigid || node->planar) && (all || taken[1]))
    ga__write(w, "%s %.3g rad/s", all || taken[0] ? " and" : "", c.size[1]);
  ga__write(w, "%s\n", all ? "" : given > 0.0 ? ", which was not given" : "; it was given at rest");
  return 1;
}

static void write_velocities(ga__writer *w, const ga__eval *e)
{
  double fastest = 0.0;
  int n = 0;
  for (int i = 1; i < e->b->node.n; i++) {
    const velocity_change c = change_of_velocity(e, i);
    fastest = fmax(fastest, fmax(c.now[0], c.now[1]));
  }
  for (int i = 1; i < e->b->node.n; i++)
    if (e->b->part_node[GA__AT(e->b->node, ga__node, i)->part] == i)
      n += write_velocity(w, e, i, fastest, n >= MOST_MOVES);
  if (n > MOST_MOVES) ga__write(w, "and velocities of %d more bodies\n", n - MOST_MOVES);
}

/* "bar: its coordinates were changed by up to 0.03, their rates by up to 1.2" */
static void write_amplitudes(ga__writer *w, const ga__eval *e)
{
  for (int i = 1; i < e->b->node.n; i++) {
    const ga__node *node = GA__AT(e->b->node, ga__node, i);
    double change[2] = {0.0, 0.0}, size[2] = {0.0, 0.0};
    for (int k = 0; node->vector && k < 2 * node->n; k++) {
      const int rate = k >= node->n;
      const double now = rate ? e->p->v[node->v + k - node->n] : e->p->q[node->q + k];
      change[rate] = fmax(change[rate], fabs(now - node->own[2 * node->n + k]));
      size[rate] = fmax(size[rate], fabs(now));
    }
    for (int k = 0; k < 2; k++)
      if (change[k] <= FAR_ENOUGH * (k == 0 ? 1.0 : size[k])) change[k] = 0.0;
    if (change[0] == 0.0 && change[1] == 0.0) continue;
    ga__write(w, "%s: its coordinates were changed by up to %.3g, their rates by up to %.3g\n",
              e->m->part[node->part].name, change[0], change[1]);
  }
}

int ga_machine_moves(const ga_machine *m, const ga_stepper *st, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  const ga_state *s = state_of(m, st);
  ga_context *ctx = s ? ga__stepper_context(st) : NULL;
  move *list = s ? ga__alloc(ctx, (size_t)m->model->node.n, sizeof *list) : NULL;
  if (!list) return 0;
  const ga__mbs_model *b = m->model;
  const ga_point p = ga__point_of(s);
  const ga__eval e = ga__eval_at(ga__stepper_work(st), &p, 1, 0);
  double scale = 1e-3;
  int n = 0;
  for (int i = 1; i < b->node.n; i++)
    for (int k = 0; k < 3 && !GA__AT(b->node, ga__node, i)->scalar; k++)
      scale = fmax(scale, fabs(e.kin[i].x[k]));
  for (int i = 1; i < b->node.n; i++) {
    if (b->part_node[GA__AT(b->node, ga__node, i)->part] != i)
      continue; /* a scalar node that follows a coordinate */
    const move mv = move_of(b, i, &e.kin[i], scale);
    if (mv.size > FAR_ENOUGH) list[n++] = mv;
  }
  qsort(list, (size_t)n, sizeof *list, by_size);
  for (int i = 0; i < n && i < MOST_MOVES; i++) {
    const int moved = list[i].distance > FAR_ENOUGH * scale, turned = list[i].turn > FAR_ENOUGH;
    ga__write(&w, "%s was", m->part[list[i].part].name);
    if (moved || !turned)
      ga__write(&w, " moved by %.3g%s", list[i].distance, ga__has_frame(b, list[i].part) ? " m" : "");
    if (turned)
      ga__write(&w, "%s turned by %.3g rad (%.3g deg)", moved ? " and" : "", list[i].turn,
                DEGREES * list[i].turn);
    ga__write(&w, "\n");
  }
  if (n > MOST_MOVES) ga__write(&w, "and %d more bodies, by less\n", n - MOST_MOVES);
  write_velocities(&w, &e);
  write_amplitudes(&w, &e);
  ga__free(ctx, list);
  return (int)w.used;
}

/* "hinge: angle 0.524 rad (30 deg), given; rate 2 rad/s" */
static void write_coordinate(ga__writer *w, const ga__eval *e, const ga__joint *joint, int c)
{
  const ga__coordinate *at = &joint->coordinate[c];
  const ga__part *part = &e->m->part[joint->part];
  const int gauge = at->scalar_gauge >= 0 ? at->scalar_gauge : at->gauge;
  double value = 0.0, rate = 0.0;
  ga__probe probe = GA__NO_PROBE;
  probe.gauge = gauge;
  probe.kind = GA__PROBE_GAUGE;
  if (ga__probe_value(e, &probe, &value)) return;
  probe.kind = GA__PROBE_GAUGE_RATE;
  if (ga__probe_value(e, &probe, &rate)) return;
  ga__write(w, "%s.%s = %.6g %s", part->name, at->info->name, value, at->info->unit[GA_UNIT_VALUE]);
  if (at->info->is_angle) ga__write(w, " (%.5g deg)", DEGREES * value);
  if (!isnan(ga__given_coordinate(part, at->info, 0))) ga__write(w, ", given");
  ga__write(w, "; rate %.6g %s", rate, at->info->unit[GA_UNIT_RATE]);
  if (!isnan(ga__given_coordinate(part, at->info, 1))) ga__write(w, ", given");
  ga__write(w, "\n");
}

int ga_machine_coordinates(const ga_machine *m, const ga_stepper *st, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  const ga_state *s = state_of(m, st);
  if (!s) return 0;
  const ga__mbs_model *b = m->model;
  const ga_point p = ga__point_of(s);
  const ga__eval e = ga__eval_at(ga__stepper_work(st), &p, 1, 0);
  int n = 0;
  for (int j = 0; j < b->joint.n; j++) {
    const ga__joint *joint = GA__AT(b->joint, ga__joint, j);
    for (int c = 0; ga__has_coordinates(joint) && c < joint->n_coordinates; c++)
      if (n++ < MOST_JOINTS) write_coordinate(&w, &e, joint, c);
  }
  if (n > MOST_JOINTS) ga__write(&w, "and %d more coordinates\n", n - MOST_JOINTS);
  return (int)w.used;
}

/* ---- A start that was refused ---- */

static int is_body(const ga_machine *m, const char *name)
{
  const int part = ga__find_part(m, name);
  if (part < 0) return 0;
  return part == 0 || (m->model->part_node[part] >= 0 && ga__has_frame(m->model, part));
}

/* A frequent error: a joint between bodies instead of markers connects the origins of the bodies. */
void ga__advise_joint(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin)
{
  const ga__mbs_model *b = m->model;
  const ga_joint_def *d = m->part[part].def;
  const ga__joint *joint = ga__joint_of(b, part);
  double distance = 0.0;
  ga__frame f[2];
  (void)lambda;
  if (!joint || !joint->recipe || d->at_pose || !is_body(m, d->a) || !is_body(m, d->b)) return;
  ga__frame_at(&f[0], GA__AT(b->marker, ga__marker, joint->a), kin);
  ga__frame_at(&f[1], GA__AT(b->marker, ga__marker, joint->b), kin);
  for (int i = 0; i < 3; i++) distance = hypot(distance, f[1].p[i] - f[0].p[i]);
  if (distance == 0.0) return;
  ga__write(w,
            "joint '%s' has no `at`: it joins the origins of '%s' and '%s', which are %.3g m apart; give the "
            "place where they meet, at: [x, y, z], or markers there as a and b\n",
            d->name, d->a, d->b, distance);
}

/* Reports a drive whose initial position differs from that of the given bodies. */
void ga__advise_drive(ga__writer *w, const ga_machine *m, int part, int lambda, const ga__kin *kin)
{
  const ga__mbs_model *b = m->model;
  const ga_drive_def *d = m->part[part].def;
  double target;
  ga_fault fault;
  const ga__row *row = NULL;
  for (int i = 0; i < b->row.n && !row; i++)
    if (GA__AT(b->row, ga__row, i)->lambda == lambda) row = GA__AT(b->row, ga__row, i);
  if (!row || !row->target || ga_function_eval(d->function, m->opts.t_start, 0, &target, &fault)) return;
  ga__gauge_eval at_gauge;
  ga__gauge_eval_at(&at_gauge, GA__AT(b->gauge, ga__gauge, GA__AT(b->term, ga__term, row->first_term)->gauge),
                    b->marker.at, kin);
  ga__write(
      w,
      "drive '%s' begins with %s = %.6g, where bodies as they are given have %.6g: give that coordinate "
      "for the start, and bodies are placed there, or begin the drive where they are\n",
      d->name, d->coordinate, target, ga__gauge_value(&at_gauge));
}

int ga_machine_start_advice(const ga_machine *m, const ga_error *error, char *text, size_t size)
{
  if (!text) size = 0;
  ga__writer w = {text, size, 0};
  if (size) text[0] = '\0';
  if (!m || !m->model || !error || error->status != GA_ERR_INCONSISTENT || error->block != GA_BLOCK_LAMBDA ||
      error->index < 0 || error->index >= m->model->n_lambda)
    return 0;
  const ga__label *label = GA__AT(m->model->lambda_label, ga__label, error->index);
  const ga__element_type *type = ga__type_of(&m->part[label->part]);
  ga_context *ctx = NULL; /* own context, so that any thread may call this */
  ga__workspace *work = NULL;
  double off = 0.0;
  if (!ga_context_create(&m->ctx->opts, &ctx) && !ga__workspace_create(ctx, m->model, 0, &work) &&
      !ga__phi_initial(work, &off) && off >= FAR_ENOUGH) { /* else the positions are consistent */
    if (type->advise) type->advise(&w, m, label->part, error->index, work->kin);
  }
  ga__workspace_destroy(work);
  ga_context_destroy(&ctx);
  return (int)w.used;
}
