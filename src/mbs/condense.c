/* Transfer of the derivatives of elements on carried frames to the carriers.
 *
 * Elements write to a pattern in which every frame has six rows and columns after all unknowns. With w = T v,
 * a = T v' + b, b = T' v of a frame, and p the wrenches in its rows:
 *
 *   rows      Tᵀ times those of the frame
 *   by v'     r_a T
 *   by v      r_w T + r_a b_v
 *   by q      r_q T + r_w (T v)_q + r_a (T v' + b)_q, and (Tᵀ p)_q in the rows of carriers
 *   D_q(B v)  G T + B (T v)_q
 *
 * The system's pattern begins with the entries that involve no frame, in the same order: they are copied. All
 * others are collected in blocks: the six rows of a frame, or one other row, by the six columns of a frame,
 * or one other column. Each block is multiplied as a whole. D of elements has r_w and r_a combined by the
 * shifts; so elements on frames that depend on both are evaluated once more for each. */
#include "mbs/carried.h"
#include "mbs/element.h"

#include <stdlib.h>
#include <string.h>

typedef struct frame_block {
  int row, column; /* frames, −1: a single row, or column, of no frame */
  int entry;       /* its first in the list of entries of elements, row after row; an entry −1 is zero */
  int to;          /* its first in the list of entries of the system, row after row */
  int in_phi;      /* 1: a row of Φ */
  int by_velocity; /* 1: a column of velocities */
} frame_block;

typedef struct copy_run {
  int from, to, count; /* entries of elements, entries of the system */
} copy_run;

struct ga__condensation {
  int n_runs, n_blocks;
  copy_run *run;
  frame_block *block;
  int *entry, *to;     /* −1: none */
  int n_plain, n_made; /* entries of the system: copied ones; all, with those of blocks after them */
};

/* ---- Units: a frame, or a row or column of no frame ---- */

/* First row of frames: each has six, after those of all unknowns. */
static int first_frame_row(const ga__mbs_model *b)
{
  return b->n_wide - 6 * b->carried.n;
}

static int unit_of(const ga__mbs_model *b, int row)
{
  const int first = first_frame_row(b);
  return row < first ? row : first + (row - first) / 6;
}

static int frame_of(const ga__mbs_model *b, int unit)
{
  return unit < first_frame_row(b) ? -1 : unit - first_frame_row(b);
}

static int component_of(const ga__mbs_model *b, int row)
{
  return row < first_frame_row(b) ? 0 : (row - first_frame_row(b)) % 6;
}

static int components_of(int frame)
{
  return frame < 0 ? 1 : 6;
}

static int velocities_of(const ga__mbs_model *b, int frame)
{
  return frame < 0 ? 1 : ga__carried_at(b, frame)->n;
}

/* ---- The plan ---- */

/* An entry of elements in a row or column of a frame. */
typedef struct frame_entry {
  int row, column; /* units */
  int entry;
} frame_entry;

static int by_units(const void *x, const void *y)
{
  const frame_entry *a = x, *b = y;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* A place in the system's matrix. In `in`, the bit MASS means that M has an entry there (no GA_NO_MASS). */
enum { MASS = 64 };
typedef struct place {
  int row, column;
  unsigned in;
  int *index; /* receives the number of its entry; NULL: an entry that is copied */
  int entry;  /* of the system, −1: not yet created */
} place;

/* In the order of storage; existing entries come first. */
static int by_place(const void *x, const void *y)
{
  const place *a = x, *b = y;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return (a->entry < 0) - (b->entry < 0);
}

typedef struct condensing {
  ga__mbs_model *b;
  struct ga__condensation *out;
  frame_entry *entry;
  place *place;
  size_t n_entries, n_places, n_listed; /* of blocks' entries: ga__condensation.entry */
} condensing;

static unsigned mass_bits(unsigned in)
{
  return (in & GA_WANT_D && !(in & GA_NO_MASS) ? in | MASS : in) & ~(unsigned)GA_NO_MASS;
}

/* Copies entry i to the system's pattern; consecutive entries form a run. */
static ga_status copy_entry(condensing *p, int i)
{
  const ga__pattern *from = &p->b->pattern;
  const int to = ga__own_entry(&p->b->condensed, from->row[i], from->col[i]);
  if (to < 0) return GA_ERR_MEMORY;
  struct ga__condensation *out = p->out;
  copy_run *last = out->n_runs ? &out->run[out->n_runs - 1] : NULL;
  if (last && last->from + last->count == i)
    last->count++;
  else
    out->run[out->n_runs++] = (copy_run){i, to, 1};
  p->place[p->n_places++] = (place){from->row[i], from->col[i], mass_bits(from->in[i]), NULL, to};
  return GA_OK;
}

/* Copies entries of no frame, and lists those of frames by units. */
static ga_status divide_entries(condensing *p)
{
  const ga__mbs_model *b = p->b;
  ga_status status = GA_OK;
  for (int i = 0; i < b->pattern.n && !status; i++) {
    const int row = unit_of(b, b->pattern.row[i]), column = unit_of(b, b->pattern.col[i]);
    if (frame_of(b, row) < 0 && frame_of(b, column) < 0)
      status = copy_entry(p, i);
    else
      p->entry[p->n_entries++] = (frame_entry){row, column, i};
  }
  p->out->n_plain = b->condensed.n;
  if (p->n_entries) qsort(p->entry, p->n_entries, sizeof *p->entry, by_units);
  return status;
}

static int same_units(const frame_entry *a, const frame_entry *b)
{
  return a->row == b->row && a->column == b->column;
}

/* Numbers of blocks, and of their entries and places. */
static void count_blocks(condensing *p, size_t *n_blocks, size_t *n_entries, size_t *n_places)
{
  const ga__mbs_model *b = p->b;
  for (size_t i = 0; i < p->n_entries; i++) {
    if (i && same_units(&p->entry[i - 1], &p->entry[i])) continue;
    const int row = frame_of(b, p->entry[i].row), column = frame_of(b, p->entry[i].column);
    ++*n_blocks;
    *n_entries += (size_t)(components_of(row) * components_of(column));
    *n_places += (size_t)(velocities_of(b, row) * velocities_of(b, column));
  }
}

/* Lists the places of a matrix: carriers of the row's frame by carriers of the column's frame. A unit of no
 * frame is its own carrier. */
static void list_places(condensing *p, int row_unit, int column_unit, unsigned in, int *index)
{
  const ga__mbs_model *b = p->b;
  const int row = frame_of(b, row_unit), column = frame_of(b, column_unit);
  for (int r = 0; r < velocities_of(b, row); r++)
    for (int c = 0; c < velocities_of(b, column); c++) {
      const int at_row = row < 0 ? row_unit : ga__carried_at(b, row)->column[r];
      const int at_column = column < 0 ? column_unit : ga__carried_at(b, column)->column[c];
      *index = -1;
      if (at_row >= 0 && at_column >= 0) p->place[p->n_places++] = (place){at_row, at_column, in, index, -1};
      index++;
    }
}

/* Fills the block of n entries; returns the arrays that it writes. */
static unsigned fill_block(condensing *p, frame_block *block, const frame_entry *first, size_t n)
{
  const ga__mbs_model *b = p->b;
  const int rows = components_of(block->row), columns = components_of(block->column);
  int *entry = p->out->entry + block->entry;
  unsigned in = 0;
  for (int i = 0; i < rows * columns; i++) entry[i] = -1;
  for (size_t i = 0; i < n; i++) {
    const int e = first[i].entry;
    entry[component_of(b, b->pattern.row[e]) * columns + component_of(b, b->pattern.col[e])] = e;
    in |= mass_bits(b->pattern.in[e]);
  }
  if (block->column < 0) return in;
  return block->in_phi ? GA_WANT_Q | GA_WANT_G : in | GA_WANT_D | GA_WANT_Q; /* (T v)_q and b_v add to them */
}

static void list_blocks(condensing *p)
{
  const ga__mbs_model *b = p->b;
  struct ga__condensation *out = p->out;
  int at = 0, to = 0;
  for (size_t i = 0, n; i < p->n_entries; i += n) {
    const frame_entry *first = &p->entry[i];
    for (n = 1; i + n < p->n_entries && same_units(first, first + n);) n++;
    frame_block *block = &out->block[out->n_blocks++];
    *block = (frame_block){.row = frame_of(b, first->row), .column = frame_of(b, first->column), at, to};
    block->in_phi = first->row >= b->nv && first->row < b->nv + b->n_lambda;
    block->by_velocity = block->column >= 0 || first->column < b->nv;
    const unsigned in = fill_block(p, block, first, n);
    list_places(p, first->row, first->column, in, out->to + to);
    at += components_of(block->row) * components_of(block->column);
    to += velocities_of(b, block->row) * velocities_of(b, block->column);
  }
  for (int i = 0; i < b->carried.n; i++) { /* (Tᵀ p)_q */
    const int unit = first_frame_row(b) + i;
    list_places(p, unit, unit, GA_WANT_Q, ga__carried_at(b, i)->self);
  }
}

/* Gives all blocks that write to the same place the same entry of the system. */
static ga_status merge_places(condensing *p)
{
  ga__pattern *pt = &p->b->condensed;
  if (p->n_places) qsort(p->place, p->n_places, sizeof *p->place, by_place);
  for (size_t i = 0, n; i < p->n_places; i += n) {
    place *first = &p->place[i];
    int entry = first->entry;
    unsigned in = 0;
    if (entry < 0) entry = ga__own_entry(pt, first->row, first->column);
    if (entry < 0) return GA_ERR_MEMORY;
    for (n = 0; i + n < p->n_places && first[n].row == first->row && first[n].column == first->column; n++) {
      in |= first[n].in;
      if (first[n].index) *first[n].index = entry;
    }
    const int no_mass = first->row < p->b->nv && first->column < p->b->nv && !(in & MASS);
    pt->in[entry] = (unsigned char)((in & ~(unsigned)MASS) | (no_mass ? GA_NO_MASS : 0u));
  }
  p->out->n_made = pt->n;
  return GA_OK;
}

static ga_status make_plan(ga_context *ctx, condensing *p)
{
  const ga__mbs_model *b = p->b;
  const size_t all = (size_t)b->pattern.n;
  size_t n_blocks = 0, n_entries = 0, n_places = 0, n_self = 0;
  struct ga__condensation *out = p->out;
  p->place = ga__alloc(ctx, all, sizeof *p->place);
  p->entry = ga__alloc(ctx, all, sizeof *p->entry);
  out->run = ga__alloc(ctx, all, sizeof *out->run);
  if (!p->place || !p->entry || !out->run || divide_entries(p)) return GA_ERR_MEMORY;
  count_blocks(p, &n_blocks, &n_entries, &n_places);
  for (int i = 0; i < b->carried.n; i++)
    n_self += (size_t)ga__carried_at(b, i)->n * (size_t)ga__carried_at(b, i)->n;
  place *bigger = ga__alloc(ctx, p->n_places + n_places + n_self, sizeof *bigger);
  out->block = ga__alloc(ctx, n_blocks, sizeof *out->block);
  out->entry = ga__alloc(ctx, n_entries, sizeof *out->entry);
  out->to = ga__alloc(ctx, n_places, sizeof *out->to);
  if (bigger) {
    if (p->n_places) memcpy(bigger, p->place, p->n_places * sizeof *bigger);
    ga__free(ctx, p->place);
    p->place = bigger;
  }
  if (!bigger || !out->block || !out->entry || !out->to) return GA_ERR_MEMORY;
  list_blocks(p);
  return merge_places(p);
}

ga_status ga__condensation_create(ga_machine *m, ga__mbs_model *b)
{
  ga_status status = GA_OK;
  if (b->carried.n == 0) return GA_OK;
  for (int i = 0; i < b->carried.n && !status; i++)
    status = ga__carried_list_columns(m->ctx, b, ga__carried_at(b, i));
  if (status) return status;
  b->condensed.ctx = m->ctx;
  b->condensation = ga__alloc(m->ctx, 1, sizeof *b->condensation);
  condensing p = {.b = b, .out = b->condensation};
  if (!b->condensation || make_plan(m->ctx, &p)) status = ga__no_memory(m->ctx, "frames on what deforms");
  ga__free(m->ctx, p.place);
  ga__free(m->ctx, p.entry);
  return status;
}

void ga__condensation_free(ga_context *ctx, ga__mbs_model *b)
{
  struct ga__condensation *c = b->condensation;
  ga__pattern_free(&b->condensed);
  if (!c) return;
  void *const owned[] = {c->run, c->block, c->entry, c->to, c};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) ga__free(ctx, owned[i]);
}

/* ---- Blocks ---- */

/* X[rows × n] += M Y, M the block's numbers in `array`, Y[6 × n] of the column's frame; NULL: 1 */
static void add_right(const frame_block *k, const int *entry, double scale, const double *array,
                      const double *Y, int n, double *X)
{
  const int rows = components_of(k->row), columns = components_of(k->column);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < columns; c++) {
      const int e = entry[r * columns + c];
      if (e < 0 || array[e] == 0.0) continue;
      const double value = scale * array[e];
      if (!Y) X[r] += value;
      for (int i = 0; Y && i < n; i++) X[r * n + i] += value * Y[c * n + i];
    }
}

/* array[places] += Tᵀ X, T of the row's frame; without one X */
static void add_left(const int *to, double *array, const double *T, int n_rows, const double *X, int n)
{
  for (int r = 0; r < n_rows; r++)
    for (int i = 0; i < n; i++, to++) {
      double sum = 0.0;
      if (*to < 0) continue;
      for (int k = 0; k < (T ? 6 : 1); k++) sum += (T ? T[k * n_rows + r] : 1.0) * X[k * n + i];
      array[*to] += sum;
    }
}

/* A term of a block: derivatives from elements times a matrix of the column's frame. */
typedef struct term {
  const double *array, *by;
  double scale;
} term;

static void add_terms(const ga__mbs_model *b, const ga__carried_space *s, const frame_block *k, int n_terms,
                      const term *t, double *array)
{
  const struct ga__condensation *plan = b->condensation;
  const int n = velocities_of(b, k->column);
  memset(s->product, 0, (size_t)(components_of(k->row) * n) * sizeof *s->product);
  for (int i = 0; i < n_terms; i++)
    add_right(k, plan->entry + k->entry, t[i].scale, t[i].array, t[i].by, n, s->product);
  add_left(plan->to + k->to, array, k->row < 0 ? NULL : s->motion[k->row].T, velocities_of(b, k->row),
           s->product, n);
}

static void block_derivatives(const ga__eval *e, const frame_block *k, const ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  const ga__carried_space *s = e->work->carried;
  const ga__carried_motion *m = k->column < 0 ? NULL : &s->motion[k->column];
  const double *T = m ? m->T : NULL;
  if (J->want & GA_WANT_D && !k->in_phi) {
    const term t[] = {{s->D, T, 1.0}, {s->by_a, m ? m->bias_by_v : NULL, J->shift_v}};
    add_terms(b, s, k, m && J->shift_v != 0.0 ? 2 : 1, t, J->D);
  }
  if (!k->by_velocity) return;
  if (J->want & GA_WANT_Q || (k->in_phi && J->want & GA_WANT_B)) {
    const term t[] = {
        {s->Q, T, 1.0}, {s->by_w, m ? m->rate_by_q : NULL, 1.0}, {s->by_a, m ? m->acc_by_q : NULL, 1.0}};
    add_terms(b, s, k, m && !k->in_phi ? 3 : 1, t, J->Q);
  }
  if (k->in_phi && J->want & GA_WANT_G) {
    const term t[] = {{s->G, T, 1.0}, {s->Q, m ? m->rate_by_q : NULL, 1.0}};
    add_terms(b, s, k, m ? 2 : 1, t, J->G);
  }
}

/* ---- All of them ---- */

/* A requested array: of elements, and of the system. */
typedef struct array_pair {
  const double *from;
  double *to;
} array_pair;

static int list_arrays(const ga__carried_space *s, const ga_jacobian *J, array_pair out[3])
{
  int n = 0;
  if (J->want & GA_WANT_D) out[n++] = (array_pair){s->D, J->D};
  if (J->want & (GA_WANT_Q | GA_WANT_B)) out[n++] = (array_pair){s->Q, J->Q};
  if (J->want & GA_WANT_G) out[n++] = (array_pair){s->G, J->G};
  return n;
}

static void copy_plain(const struct ga__condensation *plan, const ga__carried_space *s, const ga_jacobian *J)
{
  array_pair array[3];
  const int n = list_arrays(s, J, array);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < plan->n_runs; i++)
      memcpy(array[k].to + plan->run[i].to, array[k].from + plan->run[i].from,
             (size_t)plan->run[i].count * sizeof(double));
    if (plan->n_made > plan->n_plain)
      memset(array[k].to + plan->n_plain, 0, (size_t)(plan->n_made - plan->n_plain) * sizeof(double));
  }
}

/* Computes r_w or r_a (selected by the shifts) in the columns of frames, for elements that depend on them. */
static int eval_apart(const ga__eval *e, double *out, unsigned want, double shift_v, double shift_vdot)
{
  const ga__mbs_model *b = e->b;
  ga__carried_space *s = e->work->carried;
  ga_jacobian J = {GA_WANT_D | (want & GA_WANT_M), shift_v, shift_vdot, out, s->Q, s->G};
  int status = 0, n = 0;
  for (int i = 0; i < b->element.n && !status; i++) {
    const ga__element *el = ga__element_at(b, i);
    const ga__element_type *t = el->type;
    if (!el->on_frames || (shift_v == 0.0 ? t->no_accelerations : t->no_twists)) continue;
    if (n++ == 0) memset(out, 0, (size_t)b->pattern.n * sizeof *out);
    if (t->sweep)
      status = t->sweep(e, el, NULL, &J);
    else if (t->jacobian)
      status = t->jacobian(e, el, &J);
  }
  return status;
}

/* Evaluates elements: values to `wide` and s and, if J is not NULL, derivatives. */
static int sweep_elements(const ga__eval *e, const ga_sweep *s, const ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  ga__carried_space *space = e->work->carried;
  const int forces = s || (J && J->want & GA_WANT_Q);
  ga_sweep own = {.phi = space->rate, .k = space->rate + b->n_lambda};
  ga_jacobian mine = {.D = space->D, .Q = space->Q, .G = space->G};
  if (s) own = *s;
  own.dynamics = space->wide;
  memset(space->wide + first_frame_row(b), 0, 6 * (size_t)b->carried.n * sizeof(double));
  if (J) {
    mine.want = J->want | (J->want & GA_WANT_G ? GA_WANT_B : 0u);
    mine.shift_v = J->shift_v, mine.shift_vdot = J->shift_vdot;
    ga__clear_entries(&b->pattern, &mine);
  }
  return ga__elements_sweep(e, forces ? &own : NULL, J ? &mine : NULL);
}

int ga__carried_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  ga__carried_space *space = e->work->carried;
  const unsigned want = J ? J->want : 0;
  int status = 0;
  ga__carried_eval(e, 1);
  for (int i = 0; i < b->carried.n; i++) e->work->kin[ga__carried_at(b, i)->node] = space->motion[i].kin;
  /* first, because they also overwrite Q and G */
  if (want & GA_WANT_Q) status = eval_apart(e, space->by_w, want, 1, 0);
  if (!status && want & (GA_WANT_D | GA_WANT_Q)) status = eval_apart(e, space->by_a, want, 0, 1);
  if (!status) status = sweep_elements(e, s, J);
  if (status) return status;
  if (s) ga__carried_sum(b, space, s->dynamics);
  if (!J) return 0;
  if (want & (GA_WANT_D | GA_WANT_Q | GA_WANT_G)) ga__carried_eval(e, 0);
  copy_plain(b->condensation, space, J);
  for (int i = 0; i < b->condensation->n_blocks; i++) block_derivatives(e, &b->condensation->block[i], J);
  for (int i = 0; want & GA_WANT_Q && i < b->carried.n; i++) {
    const ga__carried *c = ga__carried_at(b, i);
    for (int k = 0; k < c->n * c->n; k++)
      if (c->self[k] >= 0) J->Q[c->self[k]] += space->motion[i].force_by_q[k];
  }
  return 0;
}
