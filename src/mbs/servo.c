/* Drives by speed, by acceleration, or from a signal.
 *
 * The drive has a coordinate s of its own, and a row Φ = ρ − s of the driven coordinate (constraint.c). By a
 * speed of time alone s is held:
 *
 *   k = s' − w(t),   with the force −ψ on s, which has no inertia: ψ = λ
 *
 * Otherwise s obeys a law of its own, which the force of the drive does not change:
 *
 *   μ s'' = μ a(t, y, s, s'),   a = u,   (u − s)/T² − 2 s'/T,   or (u − s')/T
 *
 * The row's reaction on s, +λ, is therefore taken off again. μ only weighs s where velocities are projected,
 * in impacts for example: it is so large that s keeps its own. */
#include "mbs/servo.h"
#include "mbs/coordinate.h"

#include <math.h>

#define WEIGHT 1e9 /* μ relative to the masses of the machine */

typedef struct servo {
  ga__servo_law law;
  double lag, weight; /* [s]; μ [kg] or [kg m²] */
  int node, row;      /* of s, of Φ */
  int psi;            /* −1: none */
  ga__input input;    /* u */
  int pair, port;     /* s by s; s by y, −1: none */
  int reaction;       /* entry of s by λ */
  int own_A, own_At;  /* entries of k and its transpose */
} servo;

ga__servo_law ga__servo_law_of(const ga_drive_def *d)
{
  const ga_input *const in[] = {&d->acceleration, &d->follow, &d->follow_speed};
  const int flag[] = {d->has_acceleration, d->has_follow, d->has_follow_speed};
  if (d->speed) return GA__SERVO_SPEED;
  for (int i = 0; i < 3; i++)
    if (flag[i] || in[i]->value != 0 || in[i]->function || in[i]->expression)
      return (ga__servo_law)(GA__SERVO_ACCELERATION + i);
  return GA__SERVO_NONE;
}

const char *ga__servo_field(ga__servo_law law)
{
  static const char *const field[] = {"function", "speed", "acceleration", "follow", "follow_speed"};
  return field[law];
}

static const ga_drive_def *def_of(const ga__mbs_model *b, const ga__element *el)
{
  return b->m->part[el->part].def;
}

int ga__servo_initial_speed(const ga_machine *m, const ga__part *part, double *speed)
{
  const ga_drive_def *d = part->def;
  ga_fault fault;
  if (part->kind != GA__PART_DRIVE || !d->speed) return 0;
  return !ga_function_eval(d->speed, m->opts.t_start, 0, speed, &fault);
}

/* ---- Building ---- */

static const ga__node *own_node(const ga__mbs_model *b, const servo *u)
{
  return GA__AT(b->node, ga__node, u->node);
}

/* During assembly only the initial speed counts. */
ga_status ga__servo_assemble(ga_machine *m, ga__mbs_model *b, int part, int gauge)
{
  double speed;
  if (b->stage != GA__STAGE_VELOCITIES || !ga__servo_initial_speed(m, &m->part[part], &speed)) return GA_OK;
  return ga__hold_gauge(m, b, part, "prescribed speed", gauge, ga__gauge_initial(b, gauge), speed);
}

/* Two laws for one coordinate contradict each other, also where they agree for a while. */
static ga_status check_alone(ga_machine *m, ga__mbs_model *b, int part, int gauge)
{
  for (int i = 1; i < m->n_parts; i++) {
    const ga_drive_def *other = m->part[i].def, *d = m->part[part].def;
    int its_gauge;
    if (i == part || m->part[i].kind != GA__PART_DRIVE) continue;
    const ga_status status =
        ga__resolve_coordinate(m, b, &m->part[i], "coordinate", other->coordinate, GA__VALUE, &its_gauge);
    if (status) return status;
    if (its_gauge == gauge)
      return ga__refuse_part(
          m->ctx, &m->part[part], GA_ERR_ARGUMENT, GA_REASON_DRIVEN_TWICE,
          (ga__facts){.field = "coordinate", .name = d->coordinate, .other = m->part[i].name});
  }
  return GA_OK;
}

ga_status ga__servo_add(ga_machine *m, ga__mbs_model *b, int part, int gauge, int row)
{
  const ga_drive_def *d = m->part[part].def;
  int marker;
  ga_status status = check_alone(m, b, part, gauge);
  if (!status) status = ga__node_add_scalar(m, b, part, &marker);
  if (status) return status;
  const int node = GA__AT(b->marker, ga__marker, marker)->node;
  const ga__gauge own = {.kind = GA__SCALAR, .a = marker, .b = 0};
  ga__element *el = ga__element_add(m, b, part, &ga__servo_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  servo *u = el->data;
  *u = (servo){.law = ga__servo_law_of(d), .lag = d->lag, .node = node, .row = row, .psi = -1, .port = -1};
  u->input.y = -1;
  if (u->law == GA__SERVO_SPEED) status = ga__label_psi(m, b, part, "prescribed speed", &u->psi);
  ga__node *s = GA__AT(b->node, ga__node, node);
  s->angle = ga__gauge_is_angle(b, gauge);
  s->q0[0] = ga__gauge_initial(b, gauge);
  s->v0[0] = ga__gauge_initial_rate(b, gauge);
  const int index = status ? -1 : ga__add_gauge(m, b, &own);
  return status ? status : index < 0 ? GA_ERR_MEMORY : ga__row_add_term(m, b, row, index, -1.0);
}

ga_status ga__servo_resolve(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga_drive_def *d = m->part[part].def;
  const ga_input *const in[] = {[GA__SERVO_ACCELERATION] = &d->acceleration,
                                [GA__SERVO_FOLLOW] = &d->follow,
                                [GA__SERVO_FOLLOW_SPEED] = &d->follow_speed};
  const ga__servo_law law = ga__servo_law_of(d);
  ga__input input;
  if (law < GA__SERVO_ACCELERATION) return GA_OK;
  const ga_status status = ga__resolve_input(m, b, &m->part[part], ga__servo_field(law), in[law], &input);
  if (!status) ((servo *)ga__element_of(b, part)->data)->input = input;
  return status;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  const servo *u = el->data;
  if (u->psi >= 0) return GA_OK;
  ga_status status = ga__want_block(b, u->node, u->node, 0);
  if (!status && u->input.y >= 0) status = ga__want_port(&b->pattern, u->node, ga__column_y(b, u->input.y));
  return status;
}

/* The entry of s by λ, which the row has: rows are bound before drives. */
static int reaction_entry(const ga__mbs_model *b, const servo *u)
{
  const ga__row *row = GA__AT(b->row, ga__row, u->row);
  for (int i = 0; i < row->n_slots; i++) {
    const ga__slot *slot = GA__AT(b->slot, ga__slot, row->first_slot + i);
    if (slot->node == u->node) return slot->Bt;
  }
  return -1;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  servo *u = el->data;
  if (u->psi >= 0) {
    const int row = b->nv + b->n_lambda + u->psi;
    u->own_A = ga__own_rows(&b->pattern, own_node(b, u), row, 1, 0);
    u->own_At = ga__own_rows(&b->pattern, own_node(b, u), row, 1, 1);
    return u->own_A < 0 || u->own_At < 0 ? GA_ERR_MEMORY : GA_OK;
  }
  double mass = 1;
  for (int i = 1; i < b->node.n; i++) mass += GA__AT(b->node, ga__node, i)->mass;
  u->weight = WEIGHT * mass;
  u->pair = ga__find_pair(&b->pattern, u->node, u->node);
  u->reaction = reaction_entry(b, u);
  if (u->input.y >= 0) u->port = ga__find_port(&b->pattern, u->node, ga__column_y(b, u->input.y));
  return GA_OK;
}

/* ---- Evaluation ---- */

/* a = c_u u + c_s s + c_v s' */
static void factors(const servo *u, double *c_u, double *c_s, double *c_v)
{
  const double T = u->lag;
  *c_u = u->law == GA__SERVO_FOLLOW ? 1 / (T * T) : u->law == GA__SERVO_FOLLOW_SPEED ? 1 / T : 1;
  *c_s = u->law == GA__SERVO_FOLLOW ? -1 / (T * T) : 0;
  *c_v = u->law == GA__SERVO_FOLLOW ? -2 / T : u->law == GA__SERVO_FOLLOW_SPEED ? -1 / T : 0;
}

static int mass(const ga__eval *e, const ga__element *el, double *out)
{
  const servo *u = el->data;
  const int v = own_node(e->b, u)->v;
  if (u->psi < 0) out[v] += u->weight * e->p->vdot[v];
  return 0;
}

static double lambda_of(const ga__eval *e, const servo *u)
{
  return e->p->lambda[GA__AT(e->b->row, ga__row, u->row)->lambda];
}

static int force(const ga__eval *e, const ga__element *el, double *f)
{
  const servo *u = el->data;
  const ga__node *s = own_node(e->b, u);
  double value, c_u, c_s, c_v;
  if (u->psi >= 0) {
    f[s->v] -= e->p->psi[u->psi];
    return 0;
  }
  const int status = ga__input_value(e, &u->input, &value);
  if (status) return status;
  factors(u, &c_u, &c_s, &c_v);
  const double a = c_u * value + c_s * e->p->q[s->q] + c_v * e->p->v[s->v];
  f[s->v] += u->weight * a - lambda_of(e, u);
  return 0;
}

static int k(const ga__eval *e, const ga__element *el, double *out, int order)
{
  const servo *u = el->data;
  double w[2];
  ga_fault fault = {.kind = GA_FAULT_NONE};
  if (u->psi < 0) return 0;
  if (ga_function_eval(def_of(e->b, el)->speed, e->p->t, order, w, &fault))
    return ga__fail_undefined(e, el->part, "speed", &fault);
  out[u->psi] = (order == 0 ? e->p->v[own_node(e->b, u)->v] : 0) - w[order];
  return 0;
}

static int k_along(const ga__eval *e, const ga__element *el, const ga__kin *twists, double *out)
{
  const servo *u = el->data;
  (void)e;
  if (u->psi >= 0) out[u->psi] = twists[u->node].w[0];
  return 0;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  static const double unit[36] = {1};
  const servo *u = el->data;
  double c_u, c_s, c_v;
  const int D = (J->want & GA_WANT_D) != 0;
  if (u->psi >= 0) {
    if (D) J->D[u->own_A] += J->shift_v, J->D[u->own_At] += 1;
    return 0;
  }
  factors(u, &c_u, &c_s, &c_v);
  if (D) ga__add_block(J->D, e->b, u->pair, u->weight * J->shift_vdot, unit);
  if (D) J->D[u->reaction] += 1;
  if (!ga__wants_forces(J)) return 0;
  if (J->want & GA_WANT_Q) ga__add_block(J->Q, e->b, u->pair, -u->weight * c_s, unit);
  if (!D) return 0;
  ga__add_block(J->D, e->b, u->pair, -u->weight * c_v * J->shift_v, unit);
  ga__add_port(J->D, e->b, u->port, -u->weight * c_u, unit);
  return 0;
}

/* The force on the coordinate is −λ, and s' its rate. */
static int powers(const ga__eval *e, const ga__element *el, ga__powers *out)
{
  const servo *u = el->data;
  out->in -= lambda_of(e, u) * e->p->v[own_node(e->b, u)->v];
  return 0;
}

static int work_term(const ga__mbs_model *b, const ga__element *el, ga__work_term *work)
{
  (void)b, (void)el;
  work->needs_kin = 0;
  return 1;
}

/* ---- Units, jumps ---- */

static int is_angle(const ga__mbs_model *b, const servo *u)
{
  return own_node(b, u)->angle;
}

static const char *unit_of_input(const ga__mbs_model *b, const ga__element *el, int y)
{
  const servo *u = el->data;
  return u->input.y != y
             ? ""
             : ga__motion_unit(is_angle(b, u), u->law == GA__SERVO_FOLLOW         ? GA_UNIT_VALUE
                                               : u->law == GA__SERVO_FOLLOW_SPEED ? GA_UNIT_RATE
                                                                                  : GA_UNIT_ACCELERATION);
}

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  *in = &((servo *)el->data)->input;
  *f = NULL;
  return i == 0;
}

static int visit(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit_site, void *user)
{
  const servo *u = el->data;
  if (u->psi < 0) return 0;
  return visit_site(
      user, &(ga__break_site){
                .function = def_of(b, el)->speed, .drive = el->part, .restart_order = 1, .is_speed = 1});
}

const ga__element_type ga__servo_type = {
    .rank = GA__RANK_DRIVE,
    .no_accelerations = 1,
    .size = sizeof(servo),
    .want = want,
    .bind = bind,
    .mass = mass,
    .force = force,
    .k = k,
    .k_along = k_along,
    .jacobian = jacobian,
    .powers = powers,
    .work_term = work_term,
    .unit_of_input = unit_of_input,
    .get_input = get_input,
    .visit = visit,
};
