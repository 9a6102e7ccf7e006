/* Frames carried by what deforms.
 *
 * Elements see a carried frame as a node: they add wrenches p to six rows that stand behind all unknowns, and
 * derivatives by its twist w, its acceleration a and its small moves. With w = T v, a = T v' + b, b = T' v:
 *
 *   rows      r = r_own + Tᵀ p
 *   by v'     r_a T
 *   by v      r_w T + r_a b_v
 *   by q      r_q T + r_w (T v)_q + r_a (T v' + b)_q, and (Tᵀ p)_q in the rows of carriers
 *   D_q(B v)  G T + B (T v)_q
 *   Φ'', k'   at v' = 0 is a = b: B b, k_w b more than what elements give at a = 0
 *   inertia   M v' = Tᵀ M_s T v', f = Tᵀ (f_s − M_s b)
 *
 * The plan is made once: for every entry of the elements' pattern the entries of the system's that it goes
 * to. */
#include "mbs/carried.h"
#include "mbs/element.h"

#include <stdlib.h>
#include <string.h>

typedef struct ga__carried {
  int node, part, number; /* node that stands for it; element's part, and its own number of the frame */
  int n_carriers, *carrier;
  int n;       /* velocities of all of them */
  int *column; /* [n] where these are; −1: a component that the node has not */
  int *self;   /* [n × n] entries of the system's pattern: carriers by carriers */
} ga__carried;

/* Where an entry of the elements' pattern goes: to[first ...], row after row of what its row and its column
 * stand for. */
typedef struct spread {
  int row, column; /* carried frames, −1: none */
  int r, c;        /* components of theirs */
  int first;       /* into `to` */
} spread;

struct ga__carriage {
  spread *spread; /* [entries of the elements' pattern] */
  int *to;        /* −1: nowhere */
};

static const ga__node *node_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->node, ga__node, i);
}

static ga__carried *carried_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->carried, ga__carried, i);
}

static int n_of(const ga__node *node)
{
  return node->vector ? node->n : 6;
}

enum { MOST_CARRIERS = 8 };

/* ---- Creation ---- */

ga_status ga__carried_add(ga_machine *m, ga__mbs_model *b, int part, int number, int n_carriers,
                          const int *carrier, int *index)
{
  if (n_carriers > MOST_CARRIERS)
    return ga__fail(m->ctx, GA_ERR_ARGUMENT,
                    "element '%s': a frame on it moves with %d nodes; %d are the most", m->part[part].name,
                    n_carriers, MOST_CARRIERS);
  b->carried.size = sizeof(ga__carried);
  ga__carried *c = ga__list_add(m->ctx, &b->carried);
  if (!c) return GA_ERR_MEMORY;
  *c = (ga__carried){.part = part, .number = number, .n_carriers = n_carriers};
  c->carrier = ga__alloc(m->ctx, (size_t)n_carriers, sizeof *c->carrier);
  if (!c->carrier) return ga__no_memory(m->ctx, "a frame on what deforms");
  for (int i = 0; i < n_carriers; i++) {
    c->carrier[i] = carrier[i];
    c->n += n_of(node_at(b, carrier[i]));
  }
  const int at = b->carried.n - 1;
  const ga_status status = ga__node_add_carried(m, b, part, at, index);
  if (!status) carried_at(b, at)->node = *index;
  return status;
}

void ga__carried_number(ga__mbs_model *b)
{
  const int behind = b->nv + b->n_lambda + b->n_psi + b->n_x + b->n_y;
  for (int i = 0; i < b->carried.n; i++)
    GA__AT(b->node, ga__node, carried_at(b, i)->node)->v = behind + 6 * i;
  b->n_wide = behind + 6 * b->carried.n;
}

static ga_status list_columns(ga_context *ctx, const ga__mbs_model *b, ga__carried *c)
{
  c->column = ga__alloc(ctx, (size_t)c->n, sizeof *c->column);
  c->self = ga__alloc(ctx, (size_t)c->n * (size_t)c->n, sizeof *c->self);
  if (!c->column || !c->self) return ga__no_memory(ctx, "a frame on what deforms");
  for (int i = 0, at = 0; i < c->n_carriers; i++) {
    const ga__node *node = node_at(b, c->carrier[i]);
    for (int k = 0; k < n_of(node); k++, at++)
      c->column[at] = node->vector ? node->v + k : node->column[k] < 0 ? -1 : node->v + node->column[k];
  }
  return GA_OK;
}

/* ---- Motion ---- */

static void list_carriers(const ga__mbs_model *b, const ga__carried *c, const double *q, const double *v,
                          const double *vdot, const ga__kin *kin, ga__carrier *out)
{
  for (int i = 0; i < c->n_carriers; i++) {
    const ga__node *node = node_at(b, c->carrier[i]);
    out[i] = (ga__carrier){.kin = node->vector ? NULL : &kin[c->carrier[i]]};
    if (!node->vector) continue;
    out[i].q = q ? q + node->q : node->own;
    out[i].v = q ? (v ? v + node->v : NULL) : node->own + node->n;
    out[i].vdot = vdot ? vdot + node->v : NULL;
  }
}

/* At the point of an evaluation; q NULL: at the start. */
static void move_frame(const ga__mbs_model *b, const ga__carried *c, const double *q, const double *v,
                       const double *vdot, const ga__kin *kin, ga__carried_motion *out)
{
  ga__carrier carrier[MOST_CARRIERS];
  const ga__element *el = ga__element_of(b, c->part);
  list_carriers(b, c, q, v, vdot, kin, carrier);
  el->type->carry(b, el, c->number, carrier, out);
}

void ga__carried_kin(const ga__mbs_model *b, const double *q, const double *v, const double *vdot,
                     ga__kin *kin)
{
  for (int i = 0; i < b->carried.n; i++) {
    const ga__carried *c = carried_at(b, i);
    ga__carried_motion m = {.T = NULL};
    move_frame(b, c, q, v, vdot, kin, &m);
    kin[c->node] = m.kin;
  }
}

void ga__carried_pose(const ga__mbs_model *b, int node, const double *q, ga__kin *out)
{
  const ga__carried *c = carried_at(b, node_at(b, node)->carried - 1);
  const ga__element *el = ga__element_of(b, c->part);
  ga__carrier carrier[MOST_CARRIERS];
  ga__kin kin[MOST_CARRIERS];
  ga__carried_motion m = {.T = NULL};
  for (int i = 0; i < c->n_carriers; i++) {
    const ga__node *on = node_at(b, c->carrier[i]);
    carrier[i] = (ga__carrier){.kin = on->vector ? NULL : &kin[i], .q = q + on->q};
    if (!on->vector) ga__kin_pose(on, q + on->q, &kin[i]);
  }
  el->type->carry(b, el, c->number, carrier, &m);
  *out = m.kin;
}

void ga__carried_initial(const ga__mbs_model *b, int node, ga__kin *kin)
{
  const ga__carried *c = carried_at(b, node_at(b, node)->carried - 1);
  ga__carried_motion m = {.T = NULL};
  for (int i = 0; i < c->n_carriers; i++) ga__kin_initial(b, c->carrier[i], kin);
  move_frame(b, c, NULL, NULL, NULL, kin, &m);
  kin[node] = m.kin;
}

/* ---- The plan ---- */

typedef struct place {
  int row, column;
} place;

static int by_place(const void *x, const void *y)
{
  const place *a = x, *b = y;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return a->column != b->column ? (a->column < b->column ? -1 : 1) : 0;
}

/* The carried frame that a row, or column, belongs to, −1: none; its component. */
static int frame_of(const ga__mbs_model *b, int row, int *component)
{
  const int behind = b->n_wide - 6 * b->carried.n;
  *component = row < behind ? 0 : (row - behind) % 6;
  return row < behind ? -1 : (row - behind) / 6;
}

static int width_of(const ga__mbs_model *b, int frame)
{
  return frame < 0 ? 1 : carried_at(b, frame)->n;
}

static int column_of(const ga__mbs_model *b, int frame, int k, int row)
{
  return frame < 0 ? row : carried_at(b, frame)->column[k];
}

/* All places that entry i goes to, in turn; out NULL: they are counted. */
static size_t list_places(const ga__mbs_model *b, int i, place *out)
{
  int unused;
  const int row = b->pattern.row[i], col = b->pattern.col[i];
  const int fr = frame_of(b, row, &unused), fc = frame_of(b, col, &unused);
  size_t n = 0;
  for (int r = 0; r < width_of(b, fr); r++)
    for (int c = 0; c < width_of(b, fc); c++, n++)
      if (out) out[n] = (place){column_of(b, fr, r, row), column_of(b, fc, c, col)};
  return n;
}

/* Those of (Tᵀ p)_q. */
static size_t list_own(const ga__carried *c, place *out)
{
  for (int i = 0; out && i < c->n * c->n; i++) out[i] = (place){c->column[i / c->n], c->column[i % c->n]};
  return (size_t)c->n * (size_t)c->n;
}

static int find_place(const place *list, int n, const place *key)
{
  if (key->row < 0 || key->column < 0) return -1;
  const place *at = bsearch(key, list, (size_t)n, sizeof *key, by_place);
  return (int)(at - list);
}

/* Sorted, each once, without those that are nowhere; returns how many are left. */
static int make_unique(place *list, size_t n)
{
  int left = 0;
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (list[i].row >= 0 && list[i].column >= 0) list[kept++] = list[i];
  if (kept) qsort(list, kept, sizeof *list, by_place);
  for (size_t i = 0; i < kept; i++)
    if (!left || by_place(&list[left - 1], &list[i]) != 0) list[left++] = list[i];
  return left;
}

static ga_status fill_plan(ga__mbs_model *b, const place *all, const place *unique, int n)
{
  struct ga__carriage *plan = b->carriage;
  size_t at = 0;
  for (int i = 0; i < n; i++)
    if (ga__own_entry(&b->condensed, unique[i].row, unique[i].column) < 0) return GA_ERR_MEMORY;
  for (int i = 0; i < b->pattern.n; i++) {
    spread *s = &plan->spread[i];
    s->row = frame_of(b, b->pattern.row[i], &s->r);
    s->column = frame_of(b, b->pattern.col[i], &s->c);
    s->first = (int)at;
    for (size_t k = list_places(b, i, NULL); k > 0; k--, at++) plan->to[at] = find_place(unique, n, &all[at]);
  }
  for (int i = 0; i < b->carried.n; i++) {
    ga__carried *c = carried_at(b, i);
    for (int k = 0; k < c->n * c->n; k++, at++) c->self[k] = find_place(unique, n, &all[at]);
  }
  return GA_OK;
}

ga_status ga__carried_create(ga_machine *m, ga__mbs_model *b)
{
  size_t total = 0, at = 0;
  ga_status status = GA_OK;
  if (b->carried.n == 0) return GA_OK;
  for (int i = 0; i < b->carried.n && !status; i++) status = list_columns(m->ctx, b, carried_at(b, i));
  if (status) return status;
  for (int i = 0; i < b->pattern.n; i++) total += list_places(b, i, NULL);
  for (int i = 0; i < b->carried.n; i++) total += list_own(carried_at(b, i), NULL);
  b->condensed.ctx = m->ctx;
  b->carriage = ga__alloc(m->ctx, 1, sizeof *b->carriage);
  place *all = ga__alloc(m->ctx, total, sizeof *all), *unique = ga__alloc(m->ctx, total, sizeof *unique);
  if (b->carriage) {
    b->carriage->spread = ga__alloc(m->ctx, (size_t)b->pattern.n, sizeof *b->carriage->spread);
    b->carriage->to = ga__alloc(m->ctx, total, sizeof *b->carriage->to);
  }
  if (!all || !unique || !b->carriage || !b->carriage->spread || !b->carriage->to) {
    status = ga__no_memory(m->ctx, "frames on what deforms");
  } else {
    for (int i = 0; i < b->pattern.n; i++) at += list_places(b, i, all + at);
    for (int i = 0; i < b->carried.n; i++) at += list_own(carried_at(b, i), all + at);
    memcpy(unique, all, total * sizeof *all);
    status = fill_plan(b, all, unique, make_unique(unique, total));
  }
  ga__free(m->ctx, all);
  ga__free(m->ctx, unique);
  return status;
}

void ga__carried_free(ga_context *ctx, ga__mbs_model *b)
{
  for (int i = 0; i < b->carried.n; i++) {
    void *const owned[] = {carried_at(b, i)->carrier, carried_at(b, i)->column, carried_at(b, i)->self};
    for (int k = 0; k < 3; k++) ga__free(ctx, owned[k]);
  }
  if (b->carriage) {
    ga__free(ctx, b->carriage->spread);
    ga__free(ctx, b->carriage->to);
    ga__free(ctx, b->carriage);
  }
  ga__pattern_free(&b->condensed);
  ga__free(ctx, b->carried.at);
}

/* ---- Work space ---- */

struct ga__carried_space {
  double *wide, *more;              /* [n_wide] values of elements */
  double *zero;                     /* [nv] */
  double *Jw, *Ja, *Q, *G, *unread; /* [entries of elements' pattern] by w, by a, by q, of rates */
  ga__carried_motion *motion;       /* [carried] */
  ga__kin *kin;                     /* [nodes] */
  double *rate;                     /* [n_lambda + n_psi] */
};

static size_t most_numbers(const ga__mbs_model *b)
{
  size_t n = 0;
  for (int i = 0; i < b->carried.n; i++) {
    const size_t width = (size_t)carried_at(b, i)->n;
    n += 4 * 6 * width + width * width;
  }
  return n;
}

size_t ga__carried_space_size(const ga__mbs_model *b)
{
  if (b->carried.n == 0) return 0;
  const size_t numbers = 2 * (size_t)b->n_wide + (size_t)b->nv + 5 * (size_t)b->pattern.n + most_numbers(b) +
                         (size_t)(b->n_lambda + b->n_psi);
  return sizeof(ga__carried_space) + (size_t)b->carried.n * sizeof(ga__carried_motion) +
         (size_t)b->node.n * sizeof(ga__kin) + numbers * sizeof(double);
}

ga__carried_space *ga__carried_space_in(const ga__mbs_model *b, void *block)
{
  ga__carried_space *s = block;
  s->motion = (ga__carried_motion *)(s + 1);
  s->kin = (ga__kin *)(s->motion + b->carried.n);
  double *at = (double *)(s->kin + b->node.n);
  double **const arrays[] = {&s->wide, &s->more, &s->zero,   &s->Jw,  &s->Ja,
                             &s->Q,    &s->G,    &s->unread, &s->rate};
  const int length[] = {b->n_wide,    b->n_wide,    b->nv,        b->pattern.n,          b->pattern.n,
                        b->pattern.n, b->pattern.n, b->pattern.n, b->n_lambda + b->n_psi};
  for (int i = 0; i < 9; at += length[i++]) *arrays[i] = at;
  for (int i = 0; i < b->carried.n; i++) {
    const int n = carried_at(b, i)->n;
    ga__carried_motion *m = &s->motion[i];
    double **const matrix[] = {&m->T, &m->rate_by_q, &m->bias_by_v, &m->acc_by_q};
    for (int k = 0; k < 4; k++, at += 6 * n) *matrix[k] = at;
    m->force_by_q = at;
    at += n * n;
  }
  return s;
}

/* All that is asked of the frames; wrenches of rows of `wide`. */
static void eval_frames(const ga__eval *e)
{
  ga__carried_space *s = e->work->carried;
  for (int i = 0; i < e->b->carried.n; i++) {
    const ga__carried *c = carried_at(e->b, i);
    s->motion[i].wrench = s->wide + node_at(e->b, c->node)->v;
    move_frame(e->b, c, e->p->q, e->p->v, e->p->vdot, e->kin, &s->motion[i]);
  }
}

/* out[velocities] = wide + Tᵀ (rows of the frames) */
static void sum_forces(const ga__mbs_model *b, const ga__carried_space *s, double *out)
{
  memcpy(out, s->wide, (size_t)b->nv * sizeof *out);
  for (int i = 0; i < b->carried.n; i++) {
    const ga__carried *c = carried_at(b, i);
    const double *p = s->wide + node_at(b, c->node)->v;
    for (int k = 0; k < c->n; k++)
      for (int r = 0; r < 6 && c->column[k] >= 0; r++)
        out[c->column[k]] += s->motion[i].T[r * c->n + k] * p[r];
  }
}

/* b = T' v: acceleration at v' = 0. */
static void bias_of(const ga__eval *e, int i, double bias[6])
{
  const ga__carried_space *s = e->work->carried;
  ga__carried_motion m = {.T = NULL};
  ga__kin *kin = e->work->carried->kin;
  for (int k = 0; k < carried_at(e->b, i)->n_carriers; k++) {
    const int node = carried_at(e->b, i)->carrier[k];
    kin[node] = e->kin[node];
    memset(kin[node].acc, 0, sizeof kin[node].acc);
  }
  move_frame(e->b, carried_at(e->b, i), e->p->q, e->p->v, s->zero, kin, &m);
  memcpy(bias, m.kin.acc, sizeof m.kin.acc);
}

/* ---- Values ---- */

/* M_s a of acting elements: at a = T v', or at the frames' a = b, all others' being 0. */
static void inertia_at(const ga__eval *e, int at_bias)
{
  ga__carried_space *s = e->work->carried;
  ga__eval at = *e;
  ga_point p = *e->p;
  at.p = &p;
  if (at_bias) p.vdot = s->zero;
  double bias[6];
  for (int i = 0; i < e->b->carried.n; i++) { /* before kin is used for all nodes */
    bias_of(e, i, bias);
    memcpy(s->motion[i].kin.acc, bias, sizeof bias);
  }
  memcpy(s->kin, e->kin, (size_t)e->b->node.n * sizeof *s->kin);
  for (int i = 0; at_bias && i < e->b->node.n; i++) memset(s->kin[i].acc, 0, sizeof s->kin[i].acc);
  for (int i = 0; i < e->b->carried.n; i++) {
    double *acc = s->kin[carried_at(e->b, i)->node].acc;
    for (int k = 0; k < 6; k++) acc[k] = at_bias ? s->motion[i].kin.acc[k] : acc[k] - s->motion[i].kin.acc[k];
  }
  at.kin = s->kin;
  memset(s->wide, 0, (size_t)e->b->n_wide * sizeof *s->wide);
  if (at_bias)
    ga__acting_mass(&at, s->wide);
  else
    ga__elements_mass(&at, s->wide);
}

void ga__carried_mass(const ga__eval *e, double *out)
{
  eval_frames(e);
  inertia_at(e, 0);
  sum_forces(e->b, e->work->carried, out);
}

int ga__carried_force(const ga__eval *e, double *f)
{
  ga__carried_space *s = e->work->carried;
  const ga__mbs_model *b = e->b;
  eval_frames(e);
  if (b->acting_inertia) {
    inertia_at(e, 1);
    memcpy(s->more, s->wide, (size_t)b->n_wide * sizeof *s->wide);
  }
  const int status = ga__elements_force(e, s->wide);
  for (int i = 0; b->acting_inertia && i < b->n_wide; i++) s->wide[i] -= s->more[i];
  sum_forces(b, s, f);
  return status;
}

/* out += rate(w = b) − rate(w = 0) of the frames: what is linear in a rate, for the twist b. */
static int add_bias(const ga__eval *e, int n, double *out, int (*rate)(const ga__eval *, double *, int),
                    int order)
{
  ga__carried_space *s = e->work->carried;
  ga__eval at = *e;
  for (int i = 0; i < e->b->carried.n; i++) bias_of(e, i, s->motion[i].kin.acc);
  at.kin = s->kin;
  for (int with = 1; with >= 0; with--) {
    memcpy(s->kin, e->kin, (size_t)e->b->node.n * sizeof *s->kin);
    for (int i = 0; i < e->b->node.n; i++) memset(s->kin[i].w, 0, sizeof s->kin[i].w);
    for (int i = 0; with && i < e->b->carried.n; i++)
      memcpy(s->kin[carried_at(e->b, i)->node].w, s->motion[i].kin.acc, 6 * sizeof(double));
    const int status = rate(&at, s->rate, order);
    if (status) return status;
    for (int i = 0; i < n; i++) out[i] += with ? s->rate[i] : -s->rate[i];
  }
  return 0;
}

int ga__carried_phi_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_lambda, out, ga__elements_phi, 1);
}

int ga__carried_k_acc(const ga__eval *e, double *out)
{
  return add_bias(e, e->b->n_psi, out, ga__elements_k, 0);
}

/* ---- Derivatives ---- */

/* array[entries that entry i goes to] += scale · value · (T of its row) (of its column: `by`) */
static void spread_entry(const ga__mbs_model *b, const ga__carried_space *s, int i, double value,
                         const double *by, double *array)
{
  const spread *at = &b->carriage->spread[i];
  const int *to = b->carriage->to + at->first;
  const int rows = width_of(b, at->row), columns = width_of(b, at->column);
  const double *T = at->row < 0 ? NULL : s->motion[at->row].T + at->r * rows;
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++, to++)
      if (*to >= 0) array[*to] += value * (T ? T[r] : 1.0) * (by ? by[at->c * columns + c] : 1.0);
}

/* Elements' derivatives, by w and by a apart. */
static int own_derivatives(const ga__eval *e, unsigned want)
{
  ga__carried_space *s = e->work->carried;
  const size_t bytes = (size_t)e->b->pattern.n * sizeof(double);
  double *const arrays[] = {s->Jw, s->Ja, s->Q, s->G, s->unread};
  const int apart = (want & (GA_WANT_D | GA_WANT_Q)) != 0;
  for (int i = 0; i < 5; i++) memset(arrays[i], 0, bytes);
  ga_jacobian by_w = {want | GA_WANT_B, 1, 0, s->Jw, s->Q, s->G};
  if (apart) by_w.want |= GA_WANT_D;
  const int status = ga__elements_jacobian(e, &by_w);
  if (status || !apart) return status;
  ga_jacobian by_a = {GA_WANT_D | (want & GA_WANT_M), 0, 1, s->Ja, s->unread, s->unread};
  return ga__elements_jacobian(e, &by_a);
}

/* M_s a − f_s, into wide: its rows of frames are the wrenches p. */
static int own_residual(const ga__eval *e)
{
  ga__carried_space *s = e->work->carried;
  const int status = ga__elements_force(e, s->more);
  if (status) return status;
  ga__elements_mass(e, s->wide);
  for (int i = 0; i < e->b->n_wide; i++) s->wide[i] -= s->more[i];
  return 0;
}

static void entry_derivatives(const ga__eval *e, int i, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  const ga__carried_space *s = e->work->carried;
  const spread *at = &b->carriage->spread[i];
  const ga__carried_motion *m = at->column < 0 ? NULL : &s->motion[at->column];
  const int row = b->pattern.row[i], is_velocity = b->pattern.col[i] < b->nv || m;
  const int of_phi = row >= b->nv && row < b->nv + b->n_lambda;
  if (J->want & GA_WANT_D) {
    const double combined = is_velocity ? J->shift_v * s->Jw[i] + J->shift_vdot * s->Ja[i] : s->Jw[i];
    if (combined != 0) spread_entry(b, s, i, combined, m ? m->T : NULL, J->D);
    if (m && s->Ja[i] != 0) spread_entry(b, s, i, J->shift_v * s->Ja[i], m->bias_by_v, J->D);
  }
  if (!is_velocity) return;
  if (J->want & GA_WANT_Q || (of_phi && J->want & GA_WANT_B)) {
    if (s->Q[i] != 0) spread_entry(b, s, i, s->Q[i], m ? m->T : NULL, J->Q);
    if (m && !of_phi && s->Jw[i] != 0) spread_entry(b, s, i, s->Jw[i], m->rate_by_q, J->Q);
    if (m && !of_phi && s->Ja[i] != 0) spread_entry(b, s, i, s->Ja[i], m->acc_by_q, J->Q);
  }
  if (of_phi && J->want & GA_WANT_G) {
    if (s->G[i] != 0) spread_entry(b, s, i, s->G[i], m ? m->T : NULL, J->G);
    if (m && s->Q[i] != 0) spread_entry(b, s, i, s->Q[i], m->rate_by_q, J->G);
  }
}

int ga__carried_jacobian(const ga__eval *e, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  ga__carried_space *s = e->work->carried;
  int status = own_derivatives(e, J->want);
  memset(s->wide, 0, (size_t)b->n_wide * sizeof *s->wide);
  if (!status && J->want & GA_WANT_Q) status = own_residual(e);
  if (status) return status;
  eval_frames(e);
  for (int i = 0; i < b->pattern.n; i++) entry_derivatives(e, i, J);
  for (int i = 0; J->want & GA_WANT_Q && i < b->carried.n; i++) {
    const ga__carried *c = carried_at(b, i);
    for (int k = 0; k < c->n * c->n; k++)
      if (c->self[k] >= 0) J->Q[c->self[k]] += s->motion[i].force_by_q[k];
  }
  return 0;
}
