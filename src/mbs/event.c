/* Events of a machine: expressions whose zeros are sought, and what they change.
 *
 * Expressions are evaluated with the values of signals at a state, so that they may use all of them, and need
 * no derivatives. A velocity s = a · v that is set to c changes all velocities as an impulse along it does:
 *
 *   min (v₁ − v)ᵀM (v₁ − v)  with  B v₁ + Φ_t = 0,  k(v₁) = 0,  a · v₁ = c
 *
 *   [M  Gᵀ] [v₁ − v]   [0]
 *   [G  0 ] [impulse] = [r]      G = (B, k_v, a), r: what the constraints are off by
 *
 * by singular values, since constraints may be redundant. */
#include "mbs/channel.h"
#include "mbs/coordinate.h"
#include "mbs/element.h"
#include "mbs/event_watch.h"
#include "mbs/expression_unit.h"
#include "mbs/meter.h"
#include "mbs/name.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An expression with its signals, by part and number among the part's. */
typedef struct event_formula {
  ga_expr *expr; /* NULL: none */
  int n;
  int *part, *number;
} event_formula;

typedef enum event_target { SETS_NOTHING = 0, SETS_STATE, SETS_VELOCITY } event_target;

/* Data of the element. */
typedef struct event {
  event_formula when, to;
  event_target target;
  int state;        /* index of x */
  int part, number; /* of the velocity */
} event;

/* ---- Building ---- */

static const char *const SUMMED[] = {"energy.dissipated", "energy.input", "energy.balance"};

/* Energies are signals behind those of all parts. */
static int find_energy(const char *name)
{
  for (int i = 0; i < GA__N_ENERGIES; i++)
    if (strcmp(name, ga__energy_name(i)) == 0) return i;
  return -1;
}

static ga_status resolve_signal(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                const char *name, int *part, int *number)
{
  ga__channel at;
  int y;
  for (size_t i = 0; i < sizeof SUMMED / sizeof *SUMMED; i++)
    if (strcmp(name, SUMMED[i]) == 0)
      return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_EVENT_ENERGY,
                             (ga__facts){.field = field, .name = name});
  const int energy = find_energy(name);
  if (energy >= 0) {
    *part = m->n_parts, *number = energy;
    return GA_OK;
  }
  if (!ga__channel_find(b, name, part, &at, number, NULL))
    return ga__signal_y(m, b, asking, field, name, &y); /* says what is wrong */
  /* angles of joints count turns only if a node follows them */
  const int turns = at.coordinate >= 0 && at.probe.kind == GA__PROBE_GAUGE && strcmp(at.unit, "rad") == 0;
  return turns ? ga__signal_y(m, b, asking, field, name, &y) : GA_OK;
}

/* A signal of its own expression that a text uses; at, bytes: where. */
static const ga_signal_def *find_named(const ga_machine *m, const char *text, int *at, int *bytes)
{
  char name[GA_TEXT_PIECE];
  for (*at = 0; (*bytes = ga__name_next(text, at)) > 0; *at += *bytes) {
    if ((size_t)*bytes >= sizeof name) continue;
    memcpy(name, text + *at, (size_t)*bytes);
    name[*bytes] = '\0';
    const int part = ga__find_part(m, name);
    if (part >= 0 && m->part[part].kind == GA__PART_SIGNAL) return m->part[part].def;
  }
  return NULL;
}

/* Named signals are outputs, which are interpolated within steps: to see what they do there, their
 * expressions take their place in the text. NULL: there are none, or they would become too long. Owned by the
 * caller. */
static ga_status expand_signals(ga_machine *m, const char *text, char **out)
{
  enum { MOST = 4000 };
  const ga_signal_def *named;
  int at, bytes;
  *out = NULL;
  while ((named = find_named(m, *out ? *out : text, &at, &bytes))) {
    const char *from = *out ? *out : text;
    const size_t length = strlen(from) + strlen(named->expression) + 3;
    char *next = length < MOST ? ga__alloc(m->ctx, length, 1) : NULL;
    if (next) snprintf(next, length, "%.*s(%s)%s", at, from, named->expression, from + at + bytes);
    ga__free(m->ctx, *out);
    *out = next;
    if (!next) return length < MOST ? ga__no_memory(m->ctx, "an event") : GA_OK;
  }
  return GA_OK;
}

static void free_formula(ga_context *ctx, event_formula *f)
{
  ga_expr_destroy(&f->expr);
  ga__free(ctx, f->part);
  *f = (event_formula){.expr = NULL};
}

/* The unit of a signal; "": not known. */
static const char *unit_of(const ga__mbs_model *b, int part, int number, ga__channel *at)
{
  if (part >= b->m->n_parts) return "J"; /* an energy */
  ga__channel_get(b, part, number, at);
  return at->unit;
}

static ga__dimension_known dimension_of(ga_context *ctx, const char *unit)
{
  ga__dimension_known known = {.known = 0};
  known.known = unit[0] && ga_unit_parse(ctx, unit, NULL, &known.dimension, NULL) == GA_OK;
  return known;
}

/* Terms of a sum must have the same dimension, and all of it that of the unit (NULL: none is known). */
static ga_status check_units(ga_machine *m, const ga__mbs_model *b, const ga__part *asking, const char *field,
                             const event_formula *f, const char *unit)
{
  ga__dimension_known known, *variable = ga__alloc(m->ctx, 1 + (size_t)f->n, sizeof *variable);
  ga__channel at;
  if (!variable) return ga__no_memory(m->ctx, "the units of an event");
  variable[0] = dimension_of(m->ctx, "s");
  for (int i = 0; i < f->n; i++)
    variable[1 + i] = dimension_of(m->ctx, unit_of(b, f->part[i], f->number[i], &at));
  const ga_status status = ga__expression_dimension(m, asking, field, f->expr, variable, NULL, &known);
  ga__free(m->ctx, variable);
  if (status || !unit) return status;
  const ga__dimension_known wanted = dimension_of(m->ctx, unit);
  if (!known.known || !wanted.known ||
      memcmp(&known.dimension, &wanted.dimension, sizeof known.dimension) == 0)
    return GA_OK;
  char is[GA_ERROR_UNIT];
  ga__write_unit(is, sizeof is, &known.dimension);
  return ga__refuse_part(
      m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_EVENT_UNIT,
      (ga__facts){.field = field, .name = ga_expr_text(f->expr), .detail = is, .expected = unit});
}

static ga_status resolve_text(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                              const char *text, event_formula *f)
{
  ga__name_list names = {.text = NULL};
  ga_status status = ga__names_compile(m, asking, field, text, 0, NULL, &names, &f->expr);
  f->n = status ? 0 : names.n - 1;
  f->part = status ? NULL : ga__alloc(m->ctx, 2 * (size_t)f->n, sizeof *f->part);
  if (!status && !f->part) status = ga__no_memory(m->ctx, "an event");
  if (f->part) f->number = f->part + f->n;
  for (int i = 0; !status && i < f->n; i++) {
    status = resolve_signal(m, b, asking, field, names.symbols[1 + i].name, &f->part[i], &f->number[i]);
    if (status) status = ga__names_blame(m, text, &names, i, status);
  }
  ga__names_free(m->ctx, &names);
  return status;
}

/* As it is written, so that messages show it; then with the expressions of signals in it. */
static ga_status resolve_formula(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *field,
                                 const char *text, const char *unit, event_formula *f)
{
  char *expanded = NULL;
  if (!text) return GA_OK;
  ga_status status = resolve_text(m, b, asking, field, text, f);
  if (!status) status = check_units(m, b, asking, field, f, unit);
  if (!status) status = expand_signals(m, text, &expanded);
  if (!status && expanded) {
    free_formula(m->ctx, f);
    status = resolve_text(m, b, asking, field, expanded, f);
  }
  ga__free(m->ctx, expanded);
  return status;
}

/* The state of a block that an output is equal to: that of an integrator without limits; −1: none. */
static int state_of_output(const ga__mbs_model *b, int part, int number)
{
  const ga__element *el = ga__element_of(b, part);
  if (!el || b->m->part[part].kind != GA__PART_BLOCK) return -1;
  const ga_control_block *block = ((const ga__block_def *)b->m->part[part].def)->block;
  if (ga_block_get_kind(block) != GA_KIND_INTEGRATOR || ga_block_has_edges(block)) return -1;
  return el->x + number;
}

static ga_status refuse_target(ga_machine *m, const ga__part *asking, const char *name, const char *why)
{
  return ga__refuse_part(m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_EVENT_TARGET,
                         (ga__facts){.field = "set", .name = name, .detail = why});
}

static ga_status resolve_target(ga_machine *m, ga__mbs_model *b, const ga__part *asking, const char *name,
                                event *to)
{
  ga__channel at;
  int y;
  if (!name) return GA_OK;
  const int known = ga__find_part(m, name);
  if (!ga__channel_find(b, name, &to->part, &at, &to->number, NULL)) {
    if (known >= 0 && ga__has_active(&m->part[known]))
      return refuse_target(m, asking, name, "a part is switched by the variable that its key active names");
    if (known >= 0) return refuse_target(m, asking, name, "it has no value of its own");
    return ga__signal_y(m, b, asking, "set", name, &y); /* says what is wrong */
  }
  switch (at.probe.kind) {
  case GA__PROBE_STATE:
    to->target = SETS_STATE, to->state = at.probe.index;
    return GA_OK;
  case GA__PROBE_OUTPUT:
    to->target = SETS_STATE, to->state = state_of_output(b, to->part, to->number);
    return to->state >= 0 ? GA_OK : refuse_target(m, asking, name, "it follows from other values");
  case GA__PROBE_GAUGE_RATE:
  case GA__PROBE_VELOCITY:
  case GA__PROBE_ANGULAR_VELOCITY:
    to->target = SETS_VELOCITY;
    return GA_OK;
  case GA__PROBE_POSITION:
  case GA__PROBE_GAUGE:
  case GA__PROBE_ANGLE:
  case GA__PROBE_QUATERNION:
    return refuse_target(m, asking, name, "positions do not jump");
  default:
    return refuse_target(m, asking, name, "it follows from other values");
  }
}

#define ANY 1e100 /* larger than what signals are */

/* Comparisons, squares and the like have values on one side of 0 only. They are seen where they come to 0,
 * and an event that asks for the other direction would never happen. */
static ga_status check_sides(ga_machine *m, const ga__part *asking, const ga_event_def *def,
                             const event_formula *f)
{
  const size_t n = (size_t)f->n + 1;
  double least = 0.0, most = 0.0, *range = ga__alloc(m->ctx, 2 * n, sizeof *range);
  if (!range) return ga__no_memory(m->ctx, "an event");
  for (size_t i = 0; i < n; i++) range[i] = -ANY, range[n + i] = ANY;
  const int known = ga_expr_bounds(f->expr, range, range + n, &least, &most);
  ga__free(m->ctx, range);
  const int below = !(least < 0.0) && def->direction != GA_DIRECTION_FALLING,
            above = !(most > 0.0) && def->direction != GA_DIRECTION_RISING;
  if (!known || !(below || above)) return GA_OK;
  return ga__refuse_part(
      m->ctx, asking, GA_ERR_ARGUMENT, GA_REASON_EVENT_ONE_SIDED,
      (ga__facts){.field = "when", .name = def->when, .detail = below ? "negative" : "positive"});
}

static ga_status create(ga_machine *m, ga__mbs_model *b, int index)
{
  const ga__part *part = &m->part[index];
  const ga_event_def *def = part->def;
  const ga__element *el = ga__element_add(m, b, index, &ga__event_type, 0, 0);
  if (!el) return GA_ERR_MEMORY;
  event *e = el->data;
  ga__channel at;
  ga_status status = resolve_formula(m, b, part, "when", def->when, NULL, &e->when);
  if (!status) status = check_sides(m, part, def, &e->when);
  if (!status) status = resolve_target(m, b, part, def->set, e);
  if (!status)
    status = resolve_formula(m, b, part, "to", def->to, def->set ? unit_of(b, e->part, e->number, &at) : NULL,
                             &e->to);
  return status;
}

static void release(ga_context *ctx, ga__element *el)
{
  event *e = el->data;
  free_formula(ctx, &e->when);
  free_formula(ctx, &e->to);
}

const ga__element_type ga__event_type = {
    .rank = GA__RANK_OTHER,
    .size = sizeof(event),
    .no_twists = 1,
    .no_accelerations = 1,
    .create = {[GA__CREATE_GUESSES] = create},
    .release = release,
};

/* ---- The events of a machine ---- */

static const ga__part *event_part(const ga_machine *m, int i)
{
  for (int k = 1; m && i >= 0 && k < m->n_parts; k++)
    if (m->part[k].kind == GA__PART_EVENT && i-- == 0) return &m->part[k];
  return NULL;
}

int ga_machine_n_events(const ga_machine *m)
{
  int n = 0;
  for (int k = 1; m && k < m->n_parts; k++) n += m->part[k].kind == GA__PART_EVENT;
  return n;
}

const char *ga_machine_event_name(const ga_machine *m, int i)
{
  const ga__part *part = event_part(m, i);
  return part ? part->name : NULL;
}

int ga_machine_event_changes(const ga_machine *m, int i)
{
  const ga__part *part = event_part(m, i);
  const ga_event_def *def = part ? part->def : NULL;
  return def && (def->set || def->restart);
}

/* ---- Watching ---- */

/* What an event's expression was at its last evaluation. */
typedef struct resting {
  double t;  /* [s]; NAN: there was none */
  int zero;  /* 1: zero within rounding */
  int rests; /* 1: at a time before too */
} resting;

struct ga_event_watch {
  ga_context *ctx;
  const ga_machine *m;
  ga_event_seen_fn seen;
  void *user;
  int n, stopped_by;
  int switched;      /* 1: an event has switched a part since this was asked for */
  double t_released; /* [s] a joint was switched off last; NAN: never */
  ga_meter *meter;   /* its work space; it is not started */
  const ga__part **part;
  const event **event;
  const char **name;
  ga_event *action;
  resting *resting;
  int *index;                /* [most] signals of one expression */
  double *value;             /* [1 + most] t and their values */
  int n_inputs, *first;      /* signals of all `when`, and the first of each event */
  double *input;             /* [n_inputs] their last values */
  double *lo, *hi;           /* [1 + most] */
  ga_evaluation *evaluation; /* of velocities that are set; NULL: there are none */
  ga__svd svd;
  int n_all; /* rows of its matrix */
  double *matrix, *right, *solution, *unit, *residual, *phi_dot;
};

ga_state ga__event_state(const ga_point *p)
{
  return (ga_state){.t = p->t,
                    .q = p->q,
                    .v = p->v,
                    .vdot = p->vdot,
                    .lambda = p->lambda,
                    .psi = p->psi,
                    .x = p->x,
                    .y = p->y};
}

static int signal_index(const ga_machine *m, int part, int number)
{
  return m->model->signals.first[part] + number;
}

static ga_status formula_value(ga_event_watch *w, const ga__part *part, const event_formula *f,
                               const char *field, const ga_state *s, double *value)
{
  ga_fault fault;
  w->value[0] = s->t;
  for (int i = 0; i < f->n; i++) w->index[i] = signal_index(w->m, f->part[i], f->number[i]);
  ga_state between = *s;
  between.a = NULL; /* outputs belong to this state */
  ga_status status = ga_machine_signals(w->m, w->meter, &between, f->n, w->index, w->value + 1);
  if (status) return status;
  status = ga_expr_eval(f->expr, w->value, value, &fault);
  if (!status) return GA_OK;
  char why[GA_ERROR_TEXT / 2];
  ga_fault_text(why, sizeof why, &fault);
  return ga__refuse_part(
      w->ctx, part, GA_ERR_CALLBACK, GA_REASON_UNDEFINED,
      (ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1}, .field = field, .detail = why});
}

/* 1: the state switches a row. */
static int is_gate(const ga__mbs_model *b, int state)
{
  for (int i = 0; i < b->row.n; i++)
    if (GA__AT(b->row, ga__row, i)->gate == state) return 1;
  return 0;
}

/* What a joint holds at zero is zero within the accuracy of steps; what it has let go and rests there, within
 * rounding. [-] of the inputs of an expression, or [m], [rad] where these are zero themselves, as the angle
 * of a door that is shut. */
#define HELD 1e-7
#define RESTS 1e-12
#define APART 1e-9 /* [-] of the time, or [s]: less is the search for one time */

/* 1: the expression of event i, whose inputs are in w->input, is zero within this accuracy. */
static int is_zero_within(const ga_event_watch *w, int i, double t, double accuracy)
{
  const event_formula *f = &w->event[i]->when;
  double least, most;
  w->lo[0] = w->hi[0] = t;
  for (int k = 0; k < f->n; k++) {
    const double u = w->input[w->first[i] + k], by = accuracy * fmax(fabs(u), 1.0);
    w->lo[1 + k] = u - by, w->hi[1 + k] = u + by;
  }
  return ga_expr_bounds(f->expr, w->lo, w->hi, &least, &most) && least <= 0 && most >= 0;
}

/* 1: the expression of event i is zero within rounding, and was so at a time before: it does not pass there.
 */
static int rests_at_zero(ga_event_watch *w, int i, double t)
{
  resting *r = &w->resting[i];
  const int zero = is_zero_within(w, i, t, RESTS);
  if (!(fabs(t - r->t) <= APART * fmax(fabs(t), 1.0))) {
    r->rests = zero && r->zero;
    r->t = t;
    r->zero = zero;
  }
  r->zero &= zero;
  return r->rests &= zero;
}

/* An event that has switched a joint on often waits for what the joint now holds at zero, as the distance of
 * its ends. While it would change nothing, a value that is zero within the accuracy of constraints is none.
 * So it is where the joint lets go, and while its ends rest there: the sign that rounding gives it is not the
 * side it comes from, and the joint would be switched on again when they part. */
static ga_status mute_held(ga_event_watch *w, int i, const ga_state *s, double *g)
{
  const event *e = w->event[i];
  double to = 0;
  if (e->target != SETS_STATE || !s->x || !is_gate(w->m->model, e->state)) return GA_OK;
  const int rests = rests_at_zero(w, i, s->t);
  if (!is_zero_within(w, i, s->t, HELD)) return GA_OK;
  if (s->t == w->t_released || rests) return *g = 0, GA_OK;
  const ga_status status = formula_value(w, w->part[i], &e->to, "to", s, &to);
  if (!status && to == s->x[e->state]) *g = 0;
  return status;
}

ga_status ga_event_watch_values(ga_event_watch *w, const ga_state *s, double *g)
{
  ga_status status = GA_OK;
  if (!w) return GA_ERR_ARGUMENT;
  if (!s || !g) return ga__refuse_null(w->ctx, __func__, s ? "g" : "the state");
  for (int i = 0; i < w->n && !status; i++) {
    status = formula_value(w, w->part[i], &w->event[i]->when, "when", s, &g[i]);
    memcpy(w->input + w->first[i], w->value + 1, (size_t)w->event[i]->when.n * sizeof *w->input);
    if (!status) status = mute_held(w, i, s, &g[i]);
  }
  return status;
}

static void event_inputs(void *user, double *u)
{
  const ga_event_watch *w = user;
  memcpy(u, w->input, (size_t)w->n_inputs * sizeof *u);
}

static int event_bounds(void *user, int event_number, const double t[2], const double *lo, const double *hi,
                        double *least, double *most)
{
  ga_event_watch *w = user;
  const event_formula *f = &w->event[event_number]->when;
  const size_t first = (size_t)w->first[event_number], bytes = (size_t)f->n * sizeof *lo;
  w->lo[0] = t[0], w->hi[0] = t[1];
  memcpy(w->lo + 1, lo + first, bytes);
  memcpy(w->hi + 1, hi + first, bytes);
  if (!ga_expr_bounds(f->expr, w->lo, w->hi, least, most)) return 0;
  return ga_expr_has_edges(f->expr, -1) ? 2 : 1;
}

static int event_function(void *user, const ga_point *p, double *g)
{
  const ga_state s = ga__event_state(p);
  return ga_event_watch_values(user, &s, g) ? -1 : 0;
}

/* ---- Velocities that are set ---- */

/* Adds a matrix below M, and its transpose to the right of it. */
static void place(ga_event_watch *w, const ga_sparse *A, int row, int transposed)
{
  const size_t n = (size_t)w->n_all;
  for (int c = 0; A && c < A->cols; c++)
    for (int k = A->col_start[c]; k < A->col_start[c + 1]; k++) {
      w->matrix[(size_t)(row + A->row[k]) * n + (size_t)c] = A->value[k];
      if (transposed) w->matrix[(size_t)c * n + (size_t)(row + A->row[k])] = A->value[k];
    }
}

static ga_status read_velocity(ga_event_watch *w, const event *e, const ga_state *s, const double *v,
                               double *value)
{
  const int index = signal_index(w->m, e->part, e->number);
  ga_state at = *s;
  at.v = v, at.a = NULL;
  return ga_machine_signals(w->m, w->meter, &at, 1, &index, value);
}

/* Friction that sticks gives way to an impulse, and a stop that something rests at answers by an impact of
 * its own, in the start that follows: their rows do not count. */
static void leave_out_switches(ga_event_watch *w)
{
  const ga__mbs_model *b = w->m->model;
  const size_t n = (size_t)w->n_all;
  for (int i = b->edge.n - b->n_switches; i < b->edge.n; i++) {
    const ga__element *el = ga__element_of(b, GA__AT(b->edge, ga__edge, i)->part);
    const size_t row = (size_t)(b->nv + b->n_lambda + el->type->switch_row(el));
    for (size_t k = 0; k < n; k++) w->matrix[row * n + k] = w->matrix[k * n + row] = 0.0;
    w->right[row] = 0.0;
  }
}

/* The equations of impulses of all constraints at p; the last row, of what is set, is empty. */
static ga_status fill_impulses(ga_event_watch *w, const ga_point *p)
{
  const ga__mbs_model *b = w->m->model;
  const int nv = b->nv, nl = b->n_lambda;
  const size_t n = (size_t)w->n_all;
  memset(w->matrix, 0, n * n * sizeof *w->matrix);
  memset(w->right, 0, n * sizeof *w->right);
  ga_status status = ga_evaluation_jacobian(w->evaluation, p);
  if (!status) status = ga_evaluation_residual(w->evaluation, p, NULL, w->residual, w->phi_dot);
  if (status) return status;
  place(w, ga_evaluation_matrix(w->evaluation, GA_BLOCK_V, GA_BY_VDOT), 0, 0);
  place(w, ga_evaluation_matrix(w->evaluation, GA_BLOCK_LAMBDA, GA_BY_Q), nv, 1);
  place(w, ga_evaluation_matrix(w->evaluation, GA_BLOCK_PSI, GA_BY_V), nv + nl, 1);
  for (int i = 0; i < nl; i++) w->right[nv + i] = -w->phi_dot[i];
  for (int i = 0; i < b->n_psi; i++) w->right[nv + nl + i] = -w->residual[nv + nl + i];
  return GA_OK;
}

static ga_status add_impulses(ga_event_watch *w, double *v)
{
  leave_out_switches(w);
  const ga_status status = ga__svd_compute(&w->svd, w->matrix, 1e-12);
  if (status) return status;
  ga__svd_solve(&w->svd, w->right, w->solution);
  for (int i = 0; i < w->m->model->nv; i++) v[i] += w->solution[i];
  return GA_OK;
}

/* v := velocities after the impulse. */
static ga_status set_velocity(ga_event_watch *w, const ga__part *part, const event *e, const ga_state *s,
                              double to, const double *x, double *v)
{
  const int nv = w->m->model->nv, last = w->n_all - 1;
  const size_t n = (size_t)w->n_all;
  const ga_point p = {s->t, s->q, v, s->vdot, s->lambda, s->psi, x, s->y, 0, NULL};
  double now, zero, got;
  memset(w->unit, 0, (size_t)nv * sizeof *w->unit);
  ga_status status = fill_impulses(w, &p);
  if (!status) status = read_velocity(w, e, s, v, &now);
  if (!status) status = read_velocity(w, e, s, w->unit, &zero);
  if (status) return status;
  for (int i = 0; i < nv; i++) { /* signals are linear in velocities */
    w->unit[i] = 1.0;
    if ((status = read_velocity(w, e, s, w->unit, &got))) return status;
    w->unit[i] = 0.0;
    w->matrix[(size_t)last * n + (size_t)i] = w->matrix[(size_t)i * n + (size_t)last] = got - zero;
  }
  w->right[last] = to - now;
  if ((status = add_impulses(w, v))) return status;
  if ((status = read_velocity(w, e, s, v, &got))) return status;
  if (fabs(got - to) <= 1e-6 * (fabs(to) + fabs(now)) + 1e-12) return GA_OK;
  return ga__refuse_part(w->ctx, part, GA_ERR_INCONSISTENT, GA_REASON_EVENT_HELD,
                         (ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1},
                                     .field = "set",
                                     .name = ((const ga_event_def *)part->def)->set,
                                     GA__NUMBERS({to, NULL}, {now, NULL})});
}

/* ---- Parts that are switched ---- */

#define MATCHES 1e-5 /* [m], [rad] what a joint may be off by where it is switched on */

static int opens(const ga_state *s, const double *x, int gate)
{
  return gate >= 0 && !(s->x[gate] > 0.5) && x[gate] > 0.5;
}

static int changes_gate(const ga_state *s, const double *x, int gate)
{
  return gate >= 0 && (s->x[gate] > 0.5) != (x[gate] > 0.5);
}

/* A joint that would hold its ends half a turn apart does not fit. */
static ga_status check_turns(ga_event_watch *w, const ga__part *part, const ga_state *s, const double *x)
{
  const ga__mbs_model *b = w->m->model;
  ga__workspace *work = w->meter->work;
  work->motion = 0; /* kin belongs to no evaluation any more */
  ga__kin_at(b, s->q, NULL, NULL, work->kin);
  for (int i = 0; i < b->joint.n; i++) {
    const ga__joint *joint = GA__AT(b->joint, ga__joint, i);
    if (!joint->n_rows || !opens(s, x, GA__AT(b->row, ga__row, joint->first_row)->gate)) continue;
    const char axis = ga__joint_turned_over(b, joint, work->kin);
    if (axis)
      return ga__refuse_part(w->ctx, part, GA_ERR_INCONSISTENT, GA_REASON_EVENT_TURNED,
                             (ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1},
                                         .name = w->m->part[joint->part].name,
                                         .detail = (const char[]){axis, '\0'}});
  }
  return GA_OK;
}

/* Joints that are switched on must fit where they are. That is an impact: velocities are those that the
 * impulses of all constraints leave. */
static ga_status engage_rows(ga_event_watch *w, const ga__part *part, const ga_state *s, const double *x,
                             double *v)
{
  const ga__mbs_model *b = w->m->model;
  const ga_point p = {s->t, s->q, v, s->vdot, s->lambda, s->psi, x, s->y, 0, NULL};
  int n = 0;
  for (int i = 0; i < b->row.n; i++) n += opens(s, x, GA__AT(b->row, ga__row, i)->gate);
  if (n == 0) return GA_OK;
  ga_status status = fill_impulses(w, &p);
  for (int i = 0; !status && i < b->row.n; i++) {
    const ga__row *row = GA__AT(b->row, ga__row, i);
    const double off = w->residual[b->nv + row->lambda];
    if (!opens(s, x, row->gate) || fabs(off) <= MATCHES) continue;
    return ga__refuse_part(w->ctx, part, GA_ERR_INCONSISTENT, GA_REASON_EVENT_APART,
                           (ga__facts){.at = &(ga__fact_time){s->t, NAN, -1, -1},
                                       .name = w->m->part[row->part].name,
                                       .detail = GA__AT(b->lambda_label, ga__label, row->lambda)->text,
                                       GA__NUMBERS({off, ga__motion_unit(ga__constrains_angle(b, row->lambda),
                                                                         GA_UNIT_VALUE)})});
  }
  if (!status) status = check_turns(w, part, s, x);
  return status ? status : add_impulses(w, v);
}

/* States of what is switched on begin again. */
static ga_status switch_parts(ga_event_watch *w, const ga__part *part, const ga_state *s, double *x,
                              double *v)
{
  const ga__mbs_model *b = w->m->model;
  for (int i = 0; i < b->element.n; i++) {
    const ga__element *el = ga__element_at(b, i);
    w->switched |= changes_gate(s, x, el->gate);
    if (!opens(s, x, el->gate)) continue;
    memset(x + el->x, 0, (size_t)el->n_x * sizeof *x);
    if (el->n_x && el->type->initial) el->type->initial(b, el, x);
  }
  for (int i = 0; i < b->row.n; i++) {
    const int gate = GA__AT(b->row, ga__row, i)->gate;
    if (!changes_gate(s, x, gate)) continue;
    w->switched = 1;
    if (!(x[gate] > 0.5)) w->t_released = s->t;
  }
  return engage_rows(w, part, s, x, v);
}

ga_status ga__event_value(ga_event_watch *w, int i, const ga_state *s, double *g)
{
  return formula_value(w, w->part[i], &w->event[i]->when, "when", s, g);
}

ga_status ga__event_change(ga_event_watch *w, int i, const ga_state *s, double *v, double *x)
{
  const event *e = w->event[i];
  const ga__part *part = w->part[i];
  double to = 0.0;
  if (e->target == SETS_NOTHING) return GA_OK;
  const ga_status status = formula_value(w, part, &e->to, "to", s, &to);
  if (status) return status;
  if (e->target == SETS_VELOCITY) return set_velocity(w, part, e, s, to, x, v);
  x[e->state] = to;
  return switch_parts(w, part, s, x, v);
}

static int on_event(void *user, int event_number, const ga_state *s, double *q, double *v, double *x)
{
  ga_event_watch *w = user;
  const ga_event_def *def = w->part[event_number]->def;
  (void)q;
  if (w->seen && w->seen(w->user, event_number, s)) return 1;
  if (ga__event_change(w, event_number, s, v, x)) return -1;
  if (def->stop) w->stopped_by = event_number;
  return def->stop;
}

int ga__events_match(const ga_event_watch *a, const ga_event_watch *b)
{
  int match = a->n == b->n;
  for (int i = 0; i < a->n && match; i++) {
    const event *one = a->event[i], *other = b->event[i];
    match = strcmp(a->name[i], b->name[i]) == 0 && one->target == other->target &&
            one->state == other->state && one->part == other->part && one->number == other->number;
  }
  return match;
}

const char *const *ga__event_names(const ga_event_watch *w)
{
  return w->name;
}

/* ---- Creation ---- */

static ga_status take_velocity_memory(ga_event_watch *w)
{
  const ga__mbs_model *b = w->m->model;
  const size_t n = (size_t)(w->n_all = b->nv + b->n_lambda + b->n_psi + 1);
  double **const array[] = {&w->matrix, &w->right, &w->solution, &w->unit, &w->residual, &w->phi_dot};
  const size_t length[] = {n * n, n, n, n, (size_t)ga_system_n(b->system) + 1, n};
  ga_status status = ga_evaluation_create(w->ctx, b->system, &w->evaluation);
  if (!status) status = ga__svd_create(w->ctx, (int)n, (int)n, &w->svd);
  for (size_t i = 0; i < sizeof length / sizeof *length && !status; i++) {
    *array[i] = ga__alloc(w->ctx, length[i], sizeof **array[i]);
    if (!*array[i]) status = ga__no_memory(w->ctx, "velocities of events");
  }
  return status;
}

static ga_status take_memory(ga_event_watch *w)
{
  const size_t n = (size_t)w->n;
  w->part = ga__alloc(w->ctx, n, sizeof *w->part);
  w->event = ga__alloc(w->ctx, n, sizeof *w->event);
  w->name = ga__alloc(w->ctx, n, sizeof *w->name);
  w->action = ga__alloc(w->ctx, n, sizeof *w->action);
  w->first = ga__alloc(w->ctx, n, sizeof *w->first);
  w->resting = ga__alloc(w->ctx, n, sizeof *w->resting);
  if (!w->part || !w->event || !w->name || !w->action || !w->first || !w->resting)
    return ga__no_memory(w->ctx, "events");
  int most = 0, velocities = 0;
  for (int i = 0; i < w->n; i++) {
    static const int DIRECTION[] = {
        [GA_DIRECTION_BOTH] = 0, [GA_DIRECTION_RISING] = 1, [GA_DIRECTION_FALLING] = -1};
    w->part[i] = event_part(w->m, i);
    const event *e = w->event[i] = ga__element_of(w->m->model, (int)(w->part[i] - w->m->part))->data;
    const ga_event_def *def = w->part[i]->def;
    w->name[i] = w->part[i]->name;
    w->action[i] = (ga_event){DIRECTION[def->direction], def->set || def->restart ? GA_EVENT_RESTART
                                                         : def->stop              ? GA_EVENT_STOP
                                                                                  : GA_EVENT_RECORD};
    w->first[i] = w->n_inputs;
    w->resting[i] = (resting){.t = NAN};
    w->n_inputs += e->when.n;
    most = e->when.n > most ? e->when.n : most;
    most = e->to.n > most ? e->to.n : most;
    velocities |= e->target == SETS_VELOCITY;
  }
  for (int i = 0; i < w->m->model->row.n; i++) velocities |= GA__AT(w->m->model->row, ga__row, i)->gate >= 0;
  w->index = ga__alloc(w->ctx, (size_t)most, sizeof *w->index);
  w->value = ga__alloc(w->ctx, (size_t)most + 1, sizeof *w->value);
  w->lo = ga__alloc(w->ctx, (size_t)most + 1, sizeof *w->lo);
  w->hi = ga__alloc(w->ctx, (size_t)most + 1, sizeof *w->hi);
  w->input = ga__alloc(w->ctx, (size_t)w->n_inputs, sizeof *w->input);
  if (!w->index || !w->value || !w->lo || !w->hi || !w->input) return ga__no_memory(w->ctx, "events");
  return velocities ? take_velocity_memory(w) : GA_OK;
}

ga_status ga_event_watch_create(ga_context *ctx, const ga_machine *m, ga_event_seen_fn seen, void *user,
                                ga_event_watch **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!m || !out) return ga__refuse_null(ctx, __func__, m ? "out" : "the machine");
  if (!m->model) return ga__refuse_order(ctx, __func__, GA__ONCE_BUILT);
  ga_event_watch *w = ga__alloc(ctx, 1, sizeof *w);
  if (!w) return ga__no_memory(ctx, "events");
  *w = (ga_event_watch){.ctx = ctx,
                        .m = m,
                        .seen = seen,
                        .user = user,
                        .n = ga_machine_n_events(m),
                        .stopped_by = -1,
                        .t_released = NAN};
  ga_status status = ga_meter_create(ctx, m, &w->meter);
  if (!status) status = take_memory(w);
  if (status)
    ga_event_watch_destroy(&w);
  else
    *out = w;
  return status;
}

void ga_event_watch_destroy(ga_event_watch **watch)
{
  if (!watch || !*watch) return;
  ga_event_watch *w = *watch;
  void *const owned[] = {w->part,  w->event,    w->name,     w->action, w->index,   w->value,
                         w->right, w->solution, w->residual, w->unit,   w->phi_dot, w->matrix,
                         w->first, w->input,    w->lo,       w->hi,     w->resting};
  ga_context *ctx = w->ctx;
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) ga__free(ctx, owned[i]);
  ga__svd_destroy(&w->svd);
  ga_evaluation_destroy(&w->evaluation);
  ga_meter_destroy(&w->meter);
  ga__free(ctx, w);
  *watch = NULL;
}

void ga_event_watch_use(ga_event_watch *w, ga_simulate_opts *o)
{
  if (!w || !o) return;
  w->stopped_by = -1;
  o->n_events = w->n;
  o->events = w->action;
  o->event_names = w->name;
  o->event_function = event_function;
  o->on_event = on_event;
  o->event_user = w;
  o->n_event_inputs = w->n_inputs;
  o->event_inputs = event_inputs;
  o->event_bounds = event_bounds;
}

int ga_event_watch_switched(ga_event_watch *w)
{
  const int switched = w ? w->switched : 0;
  if (w) w->switched = 0;
  return switched;
}

int ga_event_watch_stopped_by(const ga_event_watch *w)
{
  return w ? w->stopped_by : -1;
}
