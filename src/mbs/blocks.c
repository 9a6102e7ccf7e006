/* Control blocks, and the rows of states x and outputs y of blocks, sensors and formulas.
 *
 *   xdot = s      states of blocks
 *   y    = o      probes, formulas of other outputs, outputs of blocks
 *
 * The core's residuals are −s and −o; a block's inputs are value + function(t) + y. */
#include "mbs/blocks.h"
#include "mbs/breaks.h"
#include "mbs/channel.h"
#include "mbs/selected.h"
#include "mbs/smooth.h"
#include "mbs/time_signal.h"
#include "control/over_time.h"
#include "control/same.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

ga__block_instance *ga__element_block(const ga__element *el)
{
  return el && el->type == &ga__block_type ? el->data : NULL;
}

ga__block_instance *ga__output_block(const ga__mbs_model *b, const ga__y *row)
{
  return row->kind == GA__Y_ELEMENT ? ga__element_block(ga__element_of(b, row->index)) : NULL;
}

#define AT_END 1e-9 /* of a range: at its end, up to the errors of Newton's iteration */

static ga__y *y_at(const ga__mbs_model *b, int i)
{
  return GA__AT(b->y, ga__y, i);
}

/* ---- Building ---- */

/* States and outputs of a block are contiguous. */
static ga_status create(ga_machine *m, ga__mbs_model *b, int part)
{
  const ga__block_def *def = m->part[part].def;
  const ga__element *el =
      ga__element_add(m, b, part, &ga__block_type, ga_block_n_x(def->block), ga_block_n_out(def->block));
  if (!el) return GA_ERR_MEMORY;
  ga__block_instance *block = el->data;
  *block = (ga__block_instance){.part = part, .block = def->block, .x = el->x, .y = el->y};
  return GA_OK;
}

static ga_status resolve_inputs(ga_machine *m, ga__mbs_model *b, int index)
{
  ga__block_instance *block = ga__element_of(b, index)->data;
  const ga__part *part = &m->part[index];
  const ga__block_def *def = part->def;
  const int n = ga_block_n_in(block->block);
  block->input = ga__alloc(m->ctx, (size_t)n, sizeof *block->input);
  if (!block->input) return ga__no_memory(m->ctx, "the inputs of a block");
  for (int i = 0; i < n; i++) {
    const ga_status status = ga__resolve_input(m, b, part, "inputs", &def->inputs[i], &block->input[i]);
    if (status) return ga__name_item(m->ctx, status, i, ga_block_input_name(block->block, i));
  }
  return GA_OK;
}

/* Columns of a row of y that is a probe or formula, up to `room` of them; rows of elements have none here. */
static int columns_of(const ga__mbs_model *b, const ga__y *y, int *column, int room)
{
  if (y->kind == GA__Y_ELEMENT) return 0;
  if (y->kind == GA__Y_PROBE)
    return ga__probe_columns(b, GA__AT(b->probe, ga__probe, y->index), column, room);
  const ga__formula *f = GA__AT(b->formula, ga__formula, y->index);
  for (int i = 0; i < f->n_y && i < room; i++) column[i] = ga__column_y(b, f->y[i]);
  return f->n_y;
}

static ga_status want(ga__mbs_model *b, ga__element *el)
{
  ga_context *ctx = b->m->ctx;
  ga__block_instance *block = el->data;
  const size_t n_in = (size_t)ga_block_n_in(block->block), n_x = (size_t)el->n_x, n_out = (size_t)el->n_y;
  block->entry_u = ga__alloc(ctx, (n_x + n_out) * n_in, sizeof *block->entry_u);
  block->entry_x = ga__alloc(ctx, (n_x + n_out) * n_x, sizeof *block->entry_x);
  if (!block->entry_u || !block->entry_x) return ga__no_memory(ctx, "a block");
  return GA_OK;
}

static ga_status want_outputs(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  ga_context *ctx = b->m->ctx;
  size_t total = 0;
  b->y_room = 0;
  for (int i = 0; i < b->y.n; i++) {
    ga__y *y = y_at(b, i);
    y->first = (int)total;
    y->n_columns = columns_of(b, y, NULL, 0);
    total += (size_t)y->n_columns;
    if (y->n_columns > b->y_room) b->y_room = y->n_columns;
  }
  b->y_column = ga__alloc(ctx, total, sizeof *b->y_column);
  b->y_entry = ga__alloc(ctx, total, sizeof *b->y_entry);
  if (!b->y_column || !b->y_entry) return ga__no_memory(ctx, "outputs");
  return GA_OK;
}

/* The entry of (row, column[k]): that of an earlier equal column, else a new one. */
static int shared_entry(ga__pattern *pt, int row, const int *column, const int *entry, int k)
{
  for (int j = 0; j < k; j++)
    if (column[j] == column[k] && entry[j] >= 0) return entry[j];
  return ga__own_entry(pt, row, column[k]);
}

static ga_status bind_row(ga__mbs_model *b, int row, const ga__y *y)
{
  int *column = b->y_column + y->first, *entry = b->y_entry + y->first;
  columns_of(b, y, column, y->n_columns);
  for (int k = 0; k < y->n_columns; k++) {
    entry[k] = shared_entry(&b->pattern, row, column, entry, k);
    if (entry[k] < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

/* Binds row r of a block; rows are its states, then its outputs. */
static ga_status bind_block_row(ga__mbs_model *b, ga__block_instance *block, int r)
{
  const int n_in = ga_block_n_in(block->block), n_x = ga_block_n_x(block->block);
  const int row = r < n_x ? ga__column_x(b, block->x + r) : ga__column_y(b, block->y + r - n_x);
  int *entry = block->entry_u + (size_t)r * (size_t)n_in;
  for (int k = 0; k < n_in; k++) {
    const int y = block->input[k].y;
    entry[k] = -1;
    if (y < 0 || !ga_block_depends(block->block, r, k)) continue;
    for (int j = 0; j < k; j++)
      if (block->input[j].y == y && entry[j] >= 0) entry[k] = entry[j];
    if (entry[k] < 0) entry[k] = ga__own_entry(&b->pattern, row, ga__column_y(b, y));
    if (entry[k] < 0) return GA_ERR_MEMORY;
  }
  entry = block->entry_x + (size_t)r * (size_t)n_x;
  for (int k = 0; k < n_x; k++) {
    entry[k] = -1;
    if (!ga_block_depends(block->block, r, n_in + k) && !ga__is_variable(b->m, block->part)) continue;
    entry[k] = ga__own_entry(&b->pattern, row, ga__column_x(b, block->x + k));
    if (entry[k] < 0) return GA_ERR_MEMORY;
  }
  return GA_OK;
}

static ga_status bind(ga__mbs_model *b, ga__element *el)
{
  ga_status status = GA_OK;
  for (int r = 0; !status && r < el->n_x + el->n_y; r++) status = bind_block_row(b, el->data, r);
  return status;
}

static ga_status bind_outputs(ga__mbs_model *b, ga__element *el)
{
  (void)el;
  ga_status status = GA_OK;
  for (int i = 0; !status && i < b->y.n; i++) status = bind_row(b, ga__column_y(b, i), y_at(b, i));
  return status;
}

static void release(ga_context *ctx, ga__element *el)
{
  const ga__block_instance *block = el->data;
  void *const owned[] = {block->input, block->entry_u, block->entry_x, block->time_signal};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) ga__free(ctx, owned[k]);
}

void ga__outputs_free(ga_context *ctx, ga__mbs_model *b)
{
  ga__free(ctx, b->y_column);
  ga__free(ctx, b->y_entry);
  b->y_column = b->y_entry = NULL;
}

/* ---- Evaluation ---- */

/* Converts the result of a block to that of a callback. */
static int answer(const ga__eval *e, const ga__block_instance *block, ga_status status, const ga_fault *fault)
{
  if (status == GA_RETRY_NAN) return ga__fail_undefined(e, block->part, "function", fault);
  if (!status) return 0;
  ga__refuse_part(e->work->ctx, &e->m->part[block->part], status, GA_REASON_BLOCK_FAILED,
                  (ga__facts){.at = &(ga__fact_time){e->p->t, NAN, -1, -1},
                              .detail = fault->needs}); /* a user's block always gives a reason */
  return status > 0 ? 1 : -1;
}

/* Inputs, then derivatives. */
static size_t scratch(const ga__element *el)
{
  const ga__block_instance *block = el->data;
  const size_t n_in = (size_t)ga_block_n_in(block->block), n_x = (size_t)el->n_x;
  return n_in + (n_x + (size_t)el->n_y) * (n_in + n_x);
}

static int gather(const ga__eval *e, const ga__block_instance *block)
{
  const int n = ga_block_n_in(block->block);
  double *u = e->work->scratch;
  for (int i = 0; i < n; i++) {
    const int code = ga__input_value(e, &block->input[i], &u[i]);
    if (code) return code;
  }
  return 0;
}

/* xdot and y, each may be NULL. */
static int evaluate(const ga__eval *e, const ga__block_instance *block, double *xdot, double *y)
{
  ga_fault fault = {.kind = GA_FAULT_NONE};
  const int code = gather(e, block);
  if (code) return code;
  return answer(e, block,
                ga_block_eval(block->block, e->p->t, e->work->scratch, e->p->x + block->x, xdot, y, &fault),
                &fault);
}

static int side(const ga__eval *e, const ga__element *el, unsigned *out)
{
  const ga__block_instance *at = el->data;
  const int code = gather(e, at);
  return code ? code : ga_block_side(at->block, e->p->t, e->work->scratch, e->p->x + at->x, out) != GA_OK;
}

static int output(const ga__eval *e, const ga__element *el, double *o)
{
  return evaluate(e, el->data, NULL, o + el->y);
}

int ga__output_value(const ga__eval *e, int i, double *o)
{
  const ga__mbs_model *b = e->b;
  const ga__y *y = y_at(b, i);
  if (y->kind == GA__Y_PROBE) return ga__probe_value(e, GA__AT(b->probe, ga__probe, y->index), &o[i]);
  if (y->kind == GA__Y_FORMULA)
    return ga__formula_value(e, GA__AT(b->formula, ga__formula, y->index), NULL, &o[i], NULL);
  if (y->output > 0) return 0;
  const ga__element *el = ga__element_of(b, y->index);
  return el->type->output(e, el, o);
}

int ga__outputs_value(const ga__eval *e, double *o)
{
  int code = 0;
  for (int i = 0; !code && i < e->b->y.n; i++) code = ga__output_value(e, i, o);
  return code;
}

/* Repeats until outputs change by less than this. A chain of n outputs takes n passes; what still changes
 * then is an algebraic loop for which this iteration does not converge. */
#define SETTLED 1e-12

const double *ga__outputs_between(const ga__eval *e, const double *y)
{
  enum { MOST_SWEEPS = 32 };
  const ga__mbs_model *b = e->b;
  double *seen = e->work->y_between, *last = e->work->y_previous;
  const size_t size = (size_t)b->y.n * sizeof *y;
  ga_point p = *e->p;
  ga__eval at = *e;
  int changed = 1, failed = 0;
  if (b->y.n == 0) return y;
  ga__mute_errors(e->work->ctx); /* where an output is undefined, the interpolated one is used */
  memcpy(seen, y, size);
  p.y = seen;
  at.p = &p;
  for (int sweep = 0; changed && !failed && sweep < MOST_SWEEPS; sweep++) {
    changed = 0;
    memcpy(last, seen, size);
    for (int i = 0; !failed && i < b->y.n; i++) failed = ga__output_value(&at, i, seen);
    for (int i = 0; i < b->y.n; i++) changed |= !(fabs(seen[i] - last[i]) <= SETTLED * fabs(seen[i]));
  }
  ga__unmute_errors(e->work->ctx);
  return changed || failed ? y : seen;
}

/* First guess of output i. */
static double first_value(const ga__mbs_model *b, int i)
{
  return y_at(b, i)->guessed ? y_at(b, i)->guess : 0.0;
}

/* Evaluates outputs repeatedly, until all along every chain have values. Outputs that are undefined, and
 * those of loops that do not converge, stay 0. Given guesses are kept. */
void ga__outputs_guess(const ga__eval *e, double *o)
{
  enum { MOST_SWEEPS = 32 };
  ga_point p = *e->p;
  ga__eval at = *e;
  const ga_error error = e->work->ctx->error; /* undefined values are no failure here */
  const int n = e->b->y.n;
  p.y = o;
  at.p = &p;
  for (int i = 0; i < n; i++) o[i] = first_value(e->b, i);
  for (int sweep = 0, changed = 1; changed && sweep < MOST_SWEEPS; sweep++) {
    changed = 0;
    for (int i = 0; i < n; i++) {
      const ga__y *y = y_at(e->b, i);
      const int count = y->kind == GA__Y_ELEMENT && y->output == 0 ? ga__element_of(e->b, y->index)->n_y : 1;
      double *before = e->work->y_previous;
      memcpy(before, o + i, (size_t)count * sizeof *o);
      const int failed = ga__output_value(&at, i, o);
      for (int k = 0; k < count; k++) {
        if (failed || !isfinite(o[i + k]) || y_at(e->b, i + k)->guessed) o[i + k] = first_value(e->b, i + k);
        changed |= o[i + k] != before[k];
        if (o[i + k] != before[k] && sweep == MOST_SWEEPS - 1) o[i + k] = 0;
      }
    }
  }
  e->work->ctx->error = error;
}

/* In statics, variables are held at their values at the start. */
static int is_held(const ga__eval *e, const ga__element *el)
{
  return e->p->statics && ga__is_variable(e->m, el->part);
}

static int state(const ga__eval *e, const ga__element *el, double *s)
{
  if (is_held(e, el)) {
    el->type->initial(e->b, el, s);
    s[el->x] -= e->p->x[el->x];
    return 0;
  }
  return evaluate(e, el->data, s + el->x, NULL);
}

static int row_jacobian(const ga__eval *e, const ga__y *y, ga_jacobian *J)
{
  const ga__mbs_model *b = e->b;
  const int *entry = b->y_entry + y->first, n = y->n_columns;
  double *d = e->work->y_slope, *dq = d + b->y_room, value;
  if (y->kind == GA__Y_FORMULA) {
    const int code = ga__formula_value(e, GA__AT(b->formula, ga__formula, y->index), NULL, &value, d);
    if (code) return code;
    memset(dq, 0, (size_t)n * sizeof *dq);
  } else {
    const int code =
        ga__probe_slopes(e, GA__AT(b->probe, ga__probe, y->index), J->shift_v, J->shift_vdot, d, dq);
    if (code) return code;
  }
  if (J->want & GA_WANT_D)
    for (int k = 0; k < n; k++) J->D[entry[k]] -= d[k];
  if (J->want & GA_WANT_Q)
    for (int k = 0; k < n; k++) J->Q[entry[k]] -= dq[k];
  return 0;
}

static int jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  const ga__block_instance *block = el->data;
  const int n_in = ga_block_n_in(block->block), n_x = el->n_x, rows = n_x + el->n_y;
  double *by = e->work->scratch + n_in;
  ga_fault fault = {.kind = GA_FAULT_NONE};
  if (!ga__wants_forces(J) || !(J->want & GA_WANT_D)) return 0;
  int code = gather(e, block);
  if (!code)
    code = answer(e, block,
                  ga_block_jacobian(block->block, e->p->t, e->work->scratch, e->p->x + block->x, by, &fault),
                  &fault);
  if (code) return code;
  for (int r = 0; r < rows; r++) {
    const double *from = by + (size_t)r * (size_t)(n_in + n_x);
    const int *by_u = block->entry_u + (size_t)r * (size_t)n_in,
              *by_x = block->entry_x + (size_t)r * (size_t)n_x;
    for (int k = 0; k < n_in; k++)
      if (by_u[k] >= 0) J->D[by_u[k]] -= from[k];
    for (int k = 0; k < n_x; k++)
      if (by_x[k] >= 0) J->D[by_x[k]] -= from[n_in + k];
  }
  if (is_held(e, el)) J->D[block->entry_x[0]] += 1;
  return 0;
}

static int outputs_jacobian(const ga__eval *e, const ga__element *el, ga_jacobian *J)
{
  (void)el;
  const ga__mbs_model *b = e->b;
  int code = 0;
  if (!ga__wants_forces(J)) return 0;
  for (int i = 0; !code && i < b->y.n; i++)
    if (y_at(b, i)->kind != GA__Y_ELEMENT) code = row_jacobian(e, y_at(b, i), J);
  return code;
}

/* ---- The kinds ---- */

static int visit_formulas(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit, void *user)
{
  int code = 0;
  (void)el;
  for (int i = 0; !code && i < b->formula.n; i++)
    code = ga__visit_formula(GA__AT(b->formula, ga__formula, i), visit, user);
  return code;
}

/* All rows of y that are probes and formulas. */
const ga__element_type ga__outputs_type = {
    .rank = GA__RANK_OUTPUTS,
    .is_smooth = ga__always_smooth,
    .want = want_outputs,
    .bind = bind_outputs,
    .jacobian = outputs_jacobian,
    .visit = visit_formulas,
};

static void initial(const ga__mbs_model *b, const ga__element *el, double *x)
{
  (void)b;
  ga_block_initial(((const ga__block_instance *)el->data)->block, x + el->x);
}

static const char *unit_of_output(const ga__element *el, int i)
{
  return ga_block_output_unit(((const ga__block_instance *)el->data)->block, i);
}

/* Outputs, then states. A single output has the name of the block. */
static int n_signals(const ga__mbs_model *b, int part)
{
  const ga__element *el = ga__element_of(b, part);
  return el ? el->n_y + el->n_x : 0;
}

static void signal(const ga__mbs_model *b, int part, int i, ga__signal_def *out)
{
  const ga__element *el = ga__element_of(b, part);
  const int is_output = i < el->n_y, numbered = !is_output || el->n_y > 1;
  ga__signal_set(out,
                 !numbered   ? ""
                 : is_output ? "y"
                             : "x",
                 is_output ? unit_of_output(el, i) : "", is_output ? GA__PROBE_OUTPUT : GA__PROBE_STATE, 0);
  if (numbered) out->number = is_output ? i + 1 : i - el->n_y + 1;
  out->probe.index = is_output ? el->y + i : el->x + i - el->n_y;
}

/* 1 + which end of its range a value is at. */
static int end_of_range(double value, const double range[2])
{
  const double width = isfinite(range[1] - range[0]) ? range[1] - range[0] : fmax(1.0, fabs(value));
  return value <= range[0] + AT_END * width ? 1 : value >= range[1] - AT_END * width ? 2 : 0;
}

#define VACUUM -101325.0 /* [Pa] against the pressure of the air: no fluid has less */

/* The lower and the upper end of each output, or of the opening of a valve; the pressure that no chamber
 * falls below. */
static int limit(const ga__mbs_model *b, const ga__element *el, int i, const ga__eval *e, ga__limit *out)
{
  static const char *const OUTPUT[2] = {"is at its lower limit", "is at its upper limit"},
                           *const VALVE[2] = {"is closed", "is wide open"},
                           *const CHAMBER[2] = {"is below -1 bar, where fluids cavitate", ""};
  const ga__block_instance *k = el->data;
  double range[2] = {0, 1}, opening = 0;
  (void)b;
  *out = (ga__limit){.words = ""};
  if (i / 2 < el->n_y) {
    const int valve = i < 2 && ga__block_opening(k->block) >= 0;
    if (ga_block_get_kind(k->block) == GA_KIND_CHAMBER) {
      out->words = CHAMBER[i % 2];
      if (e) out->reached = i == 0 && e->p->y[el->y] < VACUUM;
      return 1;
    }
    if (!valve && !ga__block_range(k->block, i / 2, range)) return 1;
    if (isfinite(range[i % 2])) out->words = (valve ? VALVE : OUTPUT)[i % 2];
    if (!e) return 1;
    if (valve && ga__input_value(e, &k->input[ga__block_opening(k->block)], &opening)) return 1;
    out->reached = end_of_range(valve ? opening : e->p->y[el->y + i / 2], range) == 1 + i % 2;
    return 1;
  }
  return 0;
}

static int get_input(const ga__element *el, int i, ga__input **in, ga__formula **f)
{
  const ga__block_instance *block = el->data;
  *f = NULL;
  *in = &block->input[i];
  return i < ga_block_n_in(block->block);
}

/* Visits the block itself, and the functions of time that its outputs are. */
static int visit_block(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit, void *user)
{
  const ga__block_instance *k = el->data;
  int code = visit(user, &(ga__break_site){.block = k->block, .drive = -1, .time_signal = k->time_signal});
  for (int o = 0; !code && o < el->n_y && ga__is_wiener(k->block); o++)
    if (b->time_function[el->y + o])
      code = visit(user, &(ga__break_site){.function = b->time_function[el->y + o], .drive = -1});
  return code;
}

static int has_edges(const ga__mbs_model *b, const ga__element *el)
{
  (void)b;
  return ga_block_has_edges(((const ga__block_instance *)el->data)->block);
}

static int same(const ga__comparison *c, const ga__element *a, const ga__element *b)
{
  const ga__block_instance *x = a->data, *y = b->data;
  (void)c;
  if (!ga__block_same(x->block, y->block)) return 0;
  for (int i = 0; i < ga_block_n_in(x->block); i++)
    if (!ga__same_input(&x->input[i], &y->input[i])) return 0;
  return 1;
}

const ga__element_type ga__block_type = {
    .rank = GA__RANK_BLOCK,
    .no_twists = 1,
    .no_accelerations = 1,
    .is_signal = 1,
    .size = sizeof(ga__block_instance),
    .same = same,
    .create = {[GA__CREATE_OUTPUTS] = create, [GA__CREATE_INPUTS] = resolve_inputs},
    .want = want,
    .bind = bind,
    .release = release,
    .state = state,
    .output = output,
    .jacobian = jacobian,
    .initial = initial,
    .scratch = scratch,
    .n_signals = n_signals,
    .signal = signal,
    .unit_of_output = unit_of_output,
    .limit = limit,
    .get_input = get_input,
    .visit = visit_block,
    .has_edges = has_edges,
    .side = side,
    .is_smooth = ga__block_is_smooth,
    .output_over_time = ga__block_time_signal,
    .keep_time_signals = ga__block_keep_time_signals,
};
