/* Kinks and jumps of the equations exactly at a point, where a derivative has two values or none.
 *
 * The unknowns of one kind (q, v, x, ...) at a time are moved to both sides of the point, along a direction
 * that the motion allows, by the distances h and 16 h. With Δ(h) = J(+h) − J(−h) of an entry of a matrix
 *
 *   smooth: Δ(h) = Δ(16 h)/16;   force ~ δ^1.5, as of contact: Δ(h) = Δ(16 h)/4;   kink: Δ(h) = Δ(16 h)
 *
 * and with the same differences of residuals a jump. Where no Δ(h) is large, matrices are not computed at 16
 * h. A system that reports sides is smooth along a direction that changes none of them. */
#include "core/arrays.h"
#include "core/evaluate.h"
#include "core/kink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Distances relative to 1 + the largest number of the kind, of positions to 1, or to the size of a system
 * that is smaller. Differences in place of a Jacobian have steps of
 * 6e-6, and the smaller distance must be larger. */
#define DISTANCE 1e-8
#define DISTANCE_DIFFERENCES 2.5e-5
#define RATIO 16.0
static const double distance[4] = {1.0, -1.0, RATIO, -RATIO};

/* Changes below this part of the largest number in the row of a matrix do not count, */
#define SMALL 1e-7
#define SMALL_DIFFERENCES 1e-4
/* nor those whose effect is below this part of the largest term of the equation. */
#define ROUNDING 1e-12
#define ROUNDING_JUMP 1e-13

/* ---- Memory ---- */

ga_status ga__kink_create(ga_context *ctx, const ga_system *sys, const ga_evaluation *like, int points,
                          int all_outputs, ga__kink_test *k)
{
  const size_t nv = (size_t)sys->nv, most = (size_t)(sys->nv > sys->n ? sys->nv : sys->n),
               n_sides = (size_t)sys->def.n_sides, n_r = (size_t)(sys->n + sys->size[GA_BLOCK_LAMBDA]);
  *k = (ga__kink_test){.ctx = ctx, .all_outputs = all_outputs};
  const ga__array need[] = {{&k->q, (size_t)sys->nq},
                            {&k->moved, most},
                            {&k->row_size, most},
                            {&k->residual[0], n_r},
                            {&k->residual[1], n_r},
                            {&k->residual[2], n_r},
                            {&k->residual[3], n_r},
                            {&k->d[GA_BY_VDOT], nv},
                            {&k->d[GA_BY_V], nv},
                            {&k->d[GA_BY_Q], nv},
                            {&k->d[GA_BY_LAMBDA], (size_t)sys->size[GA_BLOCK_LAMBDA]},
                            {&k->d[GA_BY_PSI], (size_t)sys->size[GA_BLOCK_PSI]},
                            {&k->d[GA_BY_X], (size_t)sys->size[GA_BLOCK_X]},
                            {&k->d[GA_BY_Y], (size_t)sys->size[GA_BLOCK_Y]}};
  ga_status status = ga__system_open(ctx, sys, &k->sys);
  for (int i = 0; !status && i < points; i++) status = ga__evaluation_create_like(like, &k->at[i]);
  if (!status) status = ga__arrays_create(ctx, GA__ARRAYS(need), "the check for kinks", &k->block, NULL);
  if (!status) {
    k->side[0] = ga__alloc(ctx, 2 * n_sides + (size_t)sys->size[GA_BLOCK_Y], sizeof *k->side[0]);
    if (!k->side[0]) status = ga__no_memory(ctx, "the check for kinks");
  }
  if (status) {
    ga__kink_destroy(k);
    return status;
  }
  k->side[1] = k->side[0] + n_sides;
  k->used = k->side[1] + n_sides;
  return GA_OK;
}

void ga__kink_destroy(ga__kink_test *k)
{
  if (!k->ctx) return;
  for (int i = 0; i < 4; i++) ga_evaluation_destroy(&k->at[i]);
  ga__system_close(&k->sys);
  ga__free(k->ctx, k->block);
  ga__free(k->ctx, k->side[0]);
  *k = (ga__kink_test){0};
}

/* Unknowns of one kind. */
static int count_unknowns(const ga_system *sys, ga_by by)
{
  static const ga_equation_block block[] = {[GA_BY_LAMBDA] = GA_BLOCK_LAMBDA,
                                            [GA_BY_PSI] = GA_BLOCK_PSI,
                                            [GA_BY_X] = GA_BLOCK_X,
                                            [GA_BY_Y] = GA_BLOCK_Y};
  return by <= GA_BY_Q ? sys->nv : sys->size[block[by]];
}

void ga__kink_clear(ga__kink_test *k)
{
  for (int by = 0; by < GA_N_BY; by++)
    for (int i = 0; i < count_unknowns(k->sys, (ga_by)by); i++) k->d[by][i] = 0.0;
}

void ga__kink_add(ga__kink_test *k, ga_by by, const double *direction, int i)
{
  const int n = count_unknowns(k->sys, by);
  const double golden = 0.6180339887498949, part = golden * (i + 1.0), factor = 0.5 + part - floor(part),
               size = ga__max_abs(direction, n, NULL);
  for (int j = 0; size > 0.0 && j < n; j++) k->d[by][j] += factor * direction[j] / size;
}

/* ---- Moved points ---- */

/* The unknowns of one kind at the point. */
typedef struct kind {
  const double *value;
  int n;
  double size;   /* 1 + the largest of them; of q 1 */
  double length; /* largest number of their direction; 0: they are not moved */
} kind;

/* Of a direction of positions: a number that belongs to a size below 1 counts as so much more. */
static double positions_length(const ga__kink_test *k)
{
  const double *d = k->d[GA_BY_Q], *scale = k->sys->scale;
  double length = 0.0;
  for (int i = 0; i < k->sys->nv; i++)
    length = fmax(length, fabs(d[i]) / (scale && scale[i] > 0.0 ? fmin(1.0, scale[i]) : 1.0));
  return length;
}

static void list_kinds(const ga__kink_test *k, const ga_point *p, kind *list)
{
  const double *const value[] = {
      [GA_BY_VDOT] = p->vdot, [GA_BY_V] = p->v, [GA_BY_Q] = p->q, [GA_BY_LAMBDA] = p->lambda,
      [GA_BY_PSI] = p->psi,   [GA_BY_X] = p->x, [GA_BY_Y] = p->y};
  for (int by = 0; by < GA_N_BY; by++) {
    const int n = count_unknowns(k->sys, (ga_by)by);
    const double most = by == GA_BY_Q ? 0.0 : ga__max_abs(value[by], n, NULL);
    const double length = by == GA_BY_Q ? positions_length(k) : ga__max_abs(k->d[by], n, NULL);
    list[by] = (kind){value[by], n, 1.0 + most, length};
  }
}

/* p with the unknowns of one kind moved by `part` of the smaller distance. */
static ga_point move(const ga__kink_test *k, const ga_point *p, ga_by by, const kind *of, double part)
{
  const double h = part * of->size * (k->sys->def.jacobian ? DISTANCE : DISTANCE_DIFFERENCES) / of->length;
  ga_point to = *p;
  const double **const slot[] = {
      [GA_BY_VDOT] = &to.vdot, [GA_BY_V] = &to.v, [GA_BY_Q] = &to.q, [GA_BY_LAMBDA] = &to.lambda,
      [GA_BY_PSI] = &to.psi,   [GA_BY_X] = &to.x, [GA_BY_Y] = &to.y};
  to.motion = 0;
  for (int i = 0; i < of->n; i++) k->moved[i] = (by == GA_BY_Q ? 0.0 : of->value[i]) + h * k->d[by][i];
  if (by == GA_BY_Q) ga_group_move(k->sys->group, k->q, p->q, k->moved);
  *slot[by] = by == GA_BY_Q ? k->q : k->moved;
  return to;
}

enum { NO_EDGE = -1, NOT_KNOWN = -2 };

/* Index of the first edge that is passed between both sides of the point. */
static int passed_edge(const ga__kink_test *k, const ga_point *p, ga_by by, const kind *of)
{
  const ga_system_def *def = &k->sys->def;
  if (def->n_sides == 0) return NOT_KNOWN;
  for (int i = 0; i < 2; i++) {
    const ga_point to = move(k, p, by, of, distance[i]);
    if (def->sides(def->user, &to, k->side[i]) != 0) return NOT_KNOWN;
  }
  for (int i = 0; i < def->n_sides; i++)
    if (k->side[0][i] != k->side[1][i]) return i;
  return NO_EDGE;
}

/* ---- Comparison ---- */

/* Marks the outputs that rows of one block depend on at the moved points; of rows of Y those that are used
 * themselves. Returns 1 if one was not marked before. */
static int mark_outputs(const ga__kink_test *k, ga_equation_block block, int points)
{
  int more = 0;
  for (int i = 0; i < points; i++) {
    const ga_sparse *A = ga_evaluation_matrix(k->at[i], block, GA_BY_Y);
    for (int c = 0; c < A->cols; c++)
      for (int p = A->col_start[c]; p < A->col_start[c + 1] && !k->used[c]; p++)
        if (A->value[p] != 0.0 && (block != GA_BLOCK_Y || (A->row[p] != c && k->used[A->row[p]])))
          k->used[c] = more = 1;
  }
  return more;
}

static void find_used_outputs(const ga__kink_test *k, int points)
{
  for (int i = 0; i < k->sys->size[GA_BLOCK_Y]; i++) k->used[i] = k->all_outputs;
  mark_outputs(k, GA_BLOCK_V, points);
  mark_outputs(k, GA_BLOCK_X, points);
  while (mark_outputs(k, GA_BLOCK_Y, points)) {
  }
}

/* The largest effect on an equation that was found to have two values. */
typedef struct worst {
  double effect;   /* relative to the largest term of the equation */
  double value[2]; /* on both sides: of a derivative, or of the residual */
  ga_equation_block block;
  int index;
  int jumps; /* 1: the residual, 0: a derivative */
} worst;

static void note(const ga__kink_test *k, worst *w, double effect, ga_equation_block block, int index,
                 double minus, double plus, int jumps)
{
  if (!(effect > w->effect) || (block == GA_BLOCK_Y && !k->used[index])) return;
  *w = (worst){effect, {minus, plus}, block, index, jumps};
}

/* size[rows] := max(size, factor times the largest number in each row of A). */
static void raise_row_sizes(double *size, const ga_sparse *A, double factor)
{
  for (int i = 0; i < A->nnz; i++) {
    const double x = factor * fabs(A->value[i]);
    if (x > size[A->row[i]]) size[A->row[i]] = x;
  }
}

/* Entries of one matrix that differ on both sides as at a kink; `term`: size of the equations' terms. With
 * two points these are all that could. */
static void compare_matrices(const ga__kink_test *k, const ga_evaluation *ev, int points,
                             ga_equation_block block, ga_by by, double size, const double *term, worst *w)
{
  const double small = k->sys->def.jacobian ? SMALL : SMALL_DIFFERENCES;
  const ga_sparse *A = ga_evaluation_matrix(ev, block, by);
  const double *at[4];
  double *const row_size = k->row_size;
  memset(row_size, 0, (size_t)A->rows * sizeof *row_size);
  raise_row_sizes(row_size, A, 1.0);
  for (int i = 0; i < points; i++) {
    const ga_sparse *moved = ga_evaluation_matrix(k->at[i], block, by);
    raise_row_sizes(row_size, moved, 1.0);
    at[i] = moved->value;
  }
  for (int i = 0; i < A->nnz; i++) {
    const int row = A->row[i];
    const double near = fabs(at[0][i] - at[1][i]), far = points < 4 ? 0.0 : fabs(at[2][i] - at[3][i]);
    if (near > 0.5 * far && near > small * row_size[row] && near * size > ROUNDING * term[row])
      note(k, w, near * size / term[row], block, row, at[1][i], at[0][i], 0);
  }
}

static void compare_residuals(const ga__kink_test *k, ga_equation_block block, int rows, const double *term,
                              worst *w)
{
  const size_t first = (size_t)(block == GA_BLOCK_ETA ? k->sys->n : k->sys->start[block]);
  for (int i = 0; i < rows; i++) {
    const double minus = k->residual[1][first + (size_t)i], plus = k->residual[0][first + (size_t)i],
                 near = fabs(plus - minus),
                 far = fabs(k->residual[2][first + (size_t)i] - k->residual[3][first + (size_t)i]);
    if (near > 0.5 * far && near > ROUNDING_JUMP * term[i])
      note(k, w, near / term[i], block, i, minus, plus, 1);
  }
}

/* All equations, with the residuals at the four moved points and matrices at two or all of them. */
static void compare(const ga__kink_test *k, const ga_evaluation *ev, int points, const kind *kinds, worst *w)
{
  double *const term = k->moved; /* not used here */
  *w = (worst){0};
  find_used_outputs(k, points);
  for (int block = GA_BLOCK_V; block <= GA_BLOCK_ETA; block++) {
    const int rows = k->sys->size[block == GA_BLOCK_ETA ? GA_BLOCK_LAMBDA : block];
    memset(term, 0, (size_t)rows * sizeof *term);
    for (int by = 0; by < GA_N_BY; by++)
      raise_row_sizes(term, ga_evaluation_matrix(ev, (ga_equation_block)block, (ga_by)by), kinds[by].size);
    for (int i = 0; i < rows; i++) term[i] = term[i] > 0.0 ? term[i] : 1.0;
    compare_residuals(k, (ga_equation_block)block, rows, term, w);
    for (int by = 0; by < GA_N_BY; by++)
      compare_matrices(k, ev, points, (ga_equation_block)block, (ga_by)by, kinds[by].size, term, w);
  }
}

/* ---- The check ---- */

/* Names of the edges between both sides, "spring 's' or block 'b'"; empty where they are not known. */
static void name_edges(const ga__kink_test *k, int edge, char *text, size_t size)
{
  const ga_system_def *def = &k->sys->def;
  ga__writer w = {text, size, 0};
  text[0] = '\0';
  for (int i = edge; edge >= 0 && i < def->n_sides; i++) {
    char name[GA_ERROR_NAME];
    if (k->side[0][i] == k->side[1][i]) continue;
    if (def->side_name)
      def->side_name(def->user, i, name, sizeof name);
    else
      snprintf(name, sizeof name, "edge %d", i);
    ga__write(&w, "%s%s", i > edge ? " or " : "", name);
  }
}

static ga_status evaluate_residuals(ga__kink_test *k, const ga_point *p, ga_by by, const kind *of)
{
  ga_status status = GA_OK;
  for (int i = 0; !status && i < 4; i++) {
    const ga_point to = move(k, p, by, of, distance[i]);
    status = ga_evaluation_residual(k->at[0], &to, NULL, k->residual[i], k->residual[i] + k->sys->n);
  }
  return status;
}

/* Matrices at two of the moved points, `first` and the next. */
static ga_status evaluate_matrices(ga__kink_test *k, const ga_point *p, ga_by by, const kind *of, int first)
{
  ga_status status = GA_OK;
  for (int i = first; !status && i < first + 2; i++) {
    if (!k->at[i]) status = ga__evaluation_create_like(k->at[0], &k->at[i]);
    if (status) return status;
    const ga_point to = move(k, p, by, of, distance[i]);
    status = ga_evaluation_jacobian(k->at[i], &to);
  }
  return status;
}

/* The first kind of unknowns along which there is a kink; w->effect 0: none. */
static ga_status search(ga__kink_test *k, const ga_evaluation *ev, const ga_point *p, int *edge, worst *w)
{
  kind kinds[GA_N_BY];
  list_kinds(k, p, kinds);
  *w = (worst){0};
  for (int by = 0; by < GA_N_BY && !(w->effect > 0.0); by++) {
    if (!(kinds[by].length > 0.0)) continue;
    *edge = passed_edge(k, p, (ga_by)by, &kinds[by]);
    if (*edge == NO_EDGE) continue;
    ga_status status = evaluate_residuals(k, p, (ga_by)by, &kinds[by]);
    if (!status) status = evaluate_matrices(k, p, (ga_by)by, &kinds[by], 0);
    if (status) return status;
    compare(k, ev, 2, kinds, w);
    if (!(w->effect > 0.0)) continue;
    status = evaluate_matrices(k, p, (ga_by)by, &kinds[by], 2);
    if (status) return status;
    compare(k, ev, 4, kinds, w);
  }
  return GA_OK;
}

/* Fails, or only warns. */
static ga_status report(ga__kink_test *k, const ga_point *p, int edge, const worst *w, int warn)
{
  char equation[GA_ERROR_NAME], names[2 * GA_ERROR_NAME];
  ga__describe(k->sys, w->block, w->index, equation, sizeof equation);
  name_edges(k, edge, names, sizeof names);
  const ga__facts facts = {.at = &(ga__fact_time){p->t, NAN, w->block, w->index},
                           .name = names[0] ? names : equation,
                           .other = w->jumps ? "jumps" : "has a kink",
                           .equation = equation,
                           .detail = w->jumps ? "the residual" : "a derivative",
                           GA__NUMBERS({w->value[0], NULL}, {w->value[1], NULL})};
  if (!warn) return ga__refuse(k->ctx, GA_ERR_DERIVATIVE, GA_REASON_KINK, &facts);
  ga__log(k->ctx, GA_LOG_WARNING, GA_REASON_STABILITY_AT_KINK, &facts);
  return GA_OK;
}

ga_status ga__kink_check(ga__kink_test *k, const ga_evaluation *ev, const ga_point *p)
{
  int edge = NO_EDGE;
  worst w;
  const ga_status status = search(k, ev, p, &edge, &w);
  return status || !(w.effect > 0.0) ? status : report(k, p, edge, &w, 0);
}

ga_status ga__kink_warn(ga__kink_test *k, const ga_evaluation *ev, const ga_point *p, int *found)
{
  int edge = NO_EDGE;
  worst w;
  const ga_status status = search(k, ev, p, &edge, &w);
  *found = !status && w.effect > 0.0;
  return *found ? report(k, p, edge, &w, 1) : status;
}
