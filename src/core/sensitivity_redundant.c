/* Derivatives with redundant constraints. Steps are differentiated without the constraints that follow from
 * others: positions, velocities and accelerations are those of all solutions, multipliers are those whose
 * redundant parts are held. Two things are left.
 *
 * Redundant constraints must stay so while the parameter changes, or there is no motion at other values: the
 * derivatives must satisfy the constraints that were left out.
 *
 * Multipliers are those of least length: with J the rows of the constraints, R their lengths and N the
 * relations, Nᵀ R⁻¹ J = 0, and P the projection onto the space of N, R² λ = J y for some y. The derivative of
 * this, multiplied by P R⁻¹, for which P R⁻¹ J = 0, gives what the step leaves open:
 *
 *   R δλ = (I − P) R δλ_step + P (R⁻¹ δJ y − 2 δR λ),   δR_i = J_i·δJ_i / R_i                              */
#include "core/sensitivity.h"
#include "lin/lin_impl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Share of its terms by which a constraint that was left out may change, beside rounding of differences. */
#define MOST_CONTRADICTION 1e-5
#define ROUNDING (1e3 * DBL_EPSILON)
/* Part of its terms by which an equation may depend on multipliers that are not unique. */
#define UNIQUE 1e-6

static ga_status refuse_shared(ga_sensitivity *se, const char *what)
{
  return ga__refuse_sensitivity(se, what, "leave out redundant constraints");
}

/* ---- Memory ---- */

static ga_status tables_create(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  ga__least *l = &se->least;
  const size_t nl = (size_t)sys->size[GA_BLOCK_LAMBDA], nb = (size_t)sys->n_b, nv = (size_t)sys->nv;
  ga_context *ctx = se->ctx;
  l->row_start = ga__alloc(ctx, nl + 2, sizeof *l->row_start);
  l->of_row = ga__alloc(ctx, nb, sizeof *l->of_row);
  l->block_at = ga__alloc(ctx, nv, sizeof *l->block_at);
  l->block_size = ga__alloc(ctx, nv, sizeof *l->block_size);
  l->block_place = ga__alloc(ctx, nv, sizeof *l->block_place);
  l->B = ga__alloc(ctx, nb, sizeof *l->B);
  l->dB = ga__alloc(ctx, nb, sizeof *l->dB);
  l->G0 = ga__alloc(ctx, (size_t)sys->n_entries, sizeof *l->G0);
  l->y = ga__alloc(ctx, (size_t)sys->n, sizeof *l->y);
  l->turned = ga__alloc(ctx, nv, sizeof *l->turned);
  l->aim = ga__alloc(ctx, nl, sizeof *l->aim);
  return l->row_start && l->of_row && l->block_at && l->block_size && l->block_place && l->B && l->dB &&
                 l->G0 && l->y && l->turned && l->aim
             ? GA_OK
             : ga__no_memory(ctx, "sensitivities");
}

/* Entries of B by rows, and the group's blocks. */
static void fill_tables(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  ga__least *l = &se->least;
  const int nl = sys->size[GA_BLOCK_LAMBDA];
  for (int b = 0; b < sys->n_b; b++) l->row_start[sys->b_row[b] + 2]++;
  for (int i = 0; i < nl; i++) l->row_start[i + 2] += l->row_start[i + 1];
  for (int b = 0; b < sys->n_b; b++) l->of_row[l->row_start[sys->b_row[b] + 1]++] = b;
  ga__block_tables(sys->group, l->block_at, l->block_size, l->block_place);
}

void ga__least_destroy(ga_sensitivity *se)
{
  ga__least *l = &se->least;
  void *const block[] = {l->row_start, l->of_row, l->block_at, l->block_size, l->block_place, l->B,
                         l->dB,        l->G0,     l->y,        l->turned,     l->aim};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(se->ctx, block[i]);
  ga__saddle_destroy(&l->saddle);
  memset(l, 0, sizeof *l);
}

/* Allocates at the first redundant state. */
static ga_status prepare(ga_sensitivity *se)
{
  ga__least *l = &se->least;
  if (l->saddle.ctx) return GA_OK;
  ga__least_destroy(se);
  ga_status status = tables_create(se);
  if (status) return status;
  fill_tables(se);
  return ga__saddle_create(se->st->sys, se->st->opts.lu, 1, &l->saddle);
}

ga_status ga__sensitivity_matrix(ga_sensitivity *se, int leaves_out)
{
  ga_stepper *st = se->st;
  if (se->lu && se->assembly.layout.leaves_out == leaves_out) return GA_OK;
  ga_lu_destroy(&se->lu);
  ga__assembly_destroy(&se->assembly);
  ga__layout layout = ga__exact_layout(st, leaves_out);
  layout.leaves_out = leaves_out;
  const ga_status status = ga__assembly_create(st->sys, &layout, st->opts.lu, &se->assembly);
  return status ? status : ga__assembly_lu(&se->assembly, st->opts.lu, &se->lu);
}

/* ---- A step ---- */

ga_status ga__sensitivity_relations(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__redundant *red = &st->red;
  const ga_point begin = ga__state_point(&st->next), end = ga__state_point(&st->now);
  ga_status status = GA_OK;
  red->valid = red->reported = 0;
  red->null.r = red->null_b.r = red->null_eta.r = 0;
  if (!(st->now.scalar[GA__REDUNDANT] > 0.0)) return GA_OK;
  if (st->n_eta) {
    status = ga__find_relations(st, &begin);
    if (!status)
      status = ga__null_copy(st->ctx, &red->null_eta, &red->null_b, st->sys->start[GA_BLOCK_X] - st->sys->nv);
  }
  return status ? status : ga__find_relations(st, &end);
}

static ga_status check_nonholonomic(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  const ga__null *null = &se->st->red.null;
  for (int i = 0; i < null->start[null->r]; i++)
    if (null->index[i] >= sys->size[GA_BLOCK_LAMBDA] && fabs(null->value[i]) > UNIQUE)
      return refuse_shared(se, "nonholonomic constraints follow from others");
  return GA_OK;
}

/* Whether equations depend on multipliers along the relations, as by friction of joints: these are then made
 * up by the solver, and the equations do not hold with those of least length. One generic combination of the
 * relations stands for all. */
static ga_status check_unique(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  const ga__null *null = &se->st->red.null;
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_PSI];
  double *z = se->room, *sum = se->value, *terms = se->kept;
  for (int i = 0; i < sys->n; i++) z[i] = sum[i] = terms[i] = 0.0;
  for (int k = 0; k < null->r; k++)
    for (int i = null->start[k]; i < null->start[k + 1]; i++)
      z[null->index[i]] += sin(1.0 + 2.4 * k) * null->value[i];
  for (int e = 0; e < sys->n_entries; e++) {
    if (sys->col[e] < first || sys->col[e] >= end) continue;
    const double term = se->step.D[e] * z[sys->col[e] - first] / null->length[sys->col[e] - first];
    sum[sys->row[e]] += term;
    terms[sys->row[e]] += fabs(term);
  }
  double most = 0.0;
  for (int i = 0; i < sys->nv; i++) most = fmax(most, terms[i]);
  for (int i = 0; i < sys->n; i++)
    if (fabs(sum[i]) > UNIQUE * (i < sys->nv ? most : terms[i]))
      return refuse_shared(se, "forces or outputs depend on multipliers of redundant constraints, which are "
                               "not unique");
  return GA_OK;
}

/* y with J y = R² λ, by [M Jᵀ; J 0] without the constraints that follow from others. */
static ga_status find_aim(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__least *l = &se->least;
  ga__null *null = &st->red.null;
  const ga_system *sys = st->sys;
  ga_status status = ga__saddle_factor(&l->saddle, &st->deriv, &l->p, 0, null);
  for (int i = 0; i < sys->n; i++) l->y[i] = 0.0;
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++)
    l->y[sys->nv + i] = null->length[i] * null->length[i] * l->p.lambda[i];
  return status ? status : ga__saddle_solve(&l->saddle, null, l->y);
}

ga_status ga__least_make(ga_sensitivity *se, const ga_point *at)
{
  ga_stepper *st = se->st;
  ga__least *l = &se->least;
  const ga_system *sys = st->sys;
  if (st->red.null.r == 0) return GA_OK;
  ga_status status = prepare(se);
  l->p = *at;
  if (!status) status = check_nonholonomic(se);
  if (!status) status = check_unique(se);
  if (!status) status = find_aim(se);
  if (status) return status;
  ga_point p = *at;
  for (int i = 0; i < sys->nv; i++) se->one[i] = 0.0;
  p.v = se->one;
  ga_jacobian J = {GA_WANT_G, 0.0, 0.0, se->spare, se->other, l->G0};
  for (int b = 0; b < sys->n_b; b++) l->B[b] = se->step.Q[sys->b_entry[b]];
  return ga__jacobian(&st->deriv, &p, &J);
}

/* ---- One parameter ---- */

/* dB := B of the systems at other values of the parameter, differenced; 0 where it does not depend on it. */
static ga_status add_of_parameter(ga_sensitivity *se, int j, const double *later)
{
  ga__least *l = &se->least;
  const ga_system *sys = se->st->sys;
  const ga__parameter *par = &se->parameter[j];
  for (int b = 0; b < sys->n_b; b++) l->dB[b] = 0.0;
  const int moves = later && par->dt != 0.0, differs = par->moves_b || par->given.derivative;
  return moves || (par->at[0].sys && differs) ? ga__parameter_b(se, j, &l->p, later, l->dB) : GA_OK;
}

/* dB += D_q B δq, as a row that acts on w: D_q(B w) δq = D_q(B δq) w + B [δq, w], the last term in l->ad. */
static ga_status add_of_motion(ga_sensitivity *se, const double *dq)
{
  ga_stepper *st = se->st;
  ga__least *l = &se->least;
  const ga_system *sys = st->sys;
  const double most = ga__max_abs(dq, sys->nv, NULL);
  l->turns = 0;
  if (!(most > 0.0)) return GA_OK;
  const double scale = (1.0 + ga__max_abs(l->p.v, sys->nv, NULL)) / most;
  for (int i = 0; i < sys->nv; i++) se->two[i] = scale * dq[i];
  ga_point p = l->p;
  p.v = se->two;
  ga_jacobian J = {GA_WANT_G, 0.0, 0.0, se->spare, se->spare, se->other};
  const ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  for (int b = 0; b < sys->n_b; b++)
    l->dB[b] += (se->other[sys->b_entry[b]] - l->G0[sys->b_entry[b]]) / scale;
  l->turns = ga_group_n_blocks(sys->group) > 0;
  if (l->turns) ga_group_ad(sys->group, se->step.ad, dq);
  return GA_OK;
}

/* Σ B_i ad B_iᵀ of a row over the group's blocks. */
static double turned_square(const ga_sensitivity *se, int row)
{
  const ga__least *l = &se->least;
  const ga_system *sys = se->st->sys;
  double sum = 0.0;
  for (int a = l->row_start[row]; a < l->row_start[row + 1]; a++)
    for (int b = l->row_start[row]; b < l->row_start[row + 1]; b++) {
      const int from = sys->b_col[l->of_row[a]], to = sys->b_col[l->of_row[b]], size = l->block_size[from];
      if (size == 0 || l->block_size[to] == 0 || l->block_at[to] != l->block_at[from]) continue;
      const int at = l->block_at[from];
      sum += l->B[l->of_row[a]] * se->step.ad[l->block_place[from] + (from - at) * size + to - at] *
             l->B[l->of_row[b]];
    }
  return sum;
}

/* aim := R⁻¹ δJ y − 2 δR λ */
static void find_change(ga_sensitivity *se)
{
  ga__least *l = &se->least;
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const double *R = st->red.null.length;
  if (l->turns) ga__mul_blocks(sys->group, l->turned, se->step.ad, l->y, 0.0, 0);
  for (int i = 0; i < sys->size[GA_BLOCK_LAMBDA]; i++) {
    double along = 0.0, square = l->turns ? turned_square(se, i) : 0.0, length = 0.0;
    for (int k = l->row_start[i]; k < l->row_start[i + 1]; k++) {
      const int b = l->of_row[k], col = sys->b_col[b];
      along += l->dB[b] * l->y[col] + (l->turns ? l->B[b] * l->turned[col] : 0.0);
      square += l->dB[b] * l->B[b];
      length += l->B[b] * l->B[b];
    }
    /* A row of zeros has the length of the longest one, and no multiplier. */
    const double dR = sqrt(length) > 0.5 * R[i] ? square / R[i] : 0.0;
    l->aim[i] = along / R[i] - 2.0 * dR * l->p.lambda[i];
  }
}

ga_status ga__least_forward(ga_sensitivity *se, int j, const double *later, ga__tangent *d)
{
  ga_stepper *st = se->st;
  ga__least *l = &se->least;
  ga__null *null = &st->red.null;
  const ga_system *sys = st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], m = sys->start[GA_BLOCK_X] - sys->nv;
  if (null->r == 0) return GA_OK;
  ga_status status = add_of_parameter(se, j, later);
  if (!status) status = add_of_motion(se, d->q);
  if (status) return status;
  find_change(se);
  for (int i = 0; i < m; i++) null->z[i] = i < nl ? null->length[i] * d->lambda[i] - l->aim[i] : 0.0;
  ga__null_remove(null, null->z, m);
  for (int i = 0; i < nl; i++) d->lambda[i] = (null->z[i] + l->aim[i]) / null->length[i];
  return GA_OK;
}

/* ---- Constraints that were left out ---- */

typedef struct violation {
  double off, terms;
} violation;

static void add_term(violation *v, double term)
{
  v->off += term;
  v->terms += fabs(term);
}

/* Of row i, Φ and B v + Φ_t; se->spare_g: their derivatives by the parameter alone. */
static void measure_row(const ga_sensitivity *se, const ga__tangent *d, int i, violation *phi,
                        violation *rate)
{
  const ga__least *l = &se->least;
  const ga_system *sys = se->st->sys;
  *phi = *rate = (violation){0.0, 0.0};
  add_term(phi, se->by_p[sys->start[GA_BLOCK_LAMBDA] + i]);
  const int rates = ga__n_rates(se->st) > 0;
  if (rates) add_term(rate, se->by_p[sys->n + i]);
  for (int k = l->row_start[i]; k < l->row_start[i + 1]; k++) {
    const int b = l->of_row[k], e = sys->b_entry[b], col = sys->b_col[b];
    add_term(phi, se->step.Q[e] * d->q[col]);
    if (!rates) continue;
    add_term(rate, se->step.G[e] * d->q[col]);
    add_term(rate, se->step.Q[e] * d->v[col]);
  }
}

/* size: of the numbers that the constraint is computed from. */
static int contradicts(ga_sensitivity *se, int j, const violation *v, double size)
{
  ga__parameter *par = &se->parameter[j];
  const double rounding = ROUNDING * (1.0 + size) / par->given.step;
  if (!(fabs(v->off) > rounding)) return isnan(v->off);
  par->doubt = fmax(par->doubt, fabs(v->off) / v->terms);
  return fabs(v->off) > MOST_CONTRADICTION * v->terms + rounding;
}

ga_status ga__least_check(ga_sensitivity *se, int j)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__null *list[] = {&st->red.null, &st->red.null_eta};
  const double q = ga__max_abs(st->now.q, sys->nq, NULL), v = ga__max_abs(st->now.v, sys->nv, NULL);
  violation phi, rate;
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < list[n]->r; k++) {
      if (list[n]->row[k] >= sys->size[GA_BLOCK_LAMBDA]) continue;
      measure_row(se, &se->parameter[j].now, list[n]->row[k], &phi, &rate);
      if (contradicts(se, j, &phi, q) || contradicts(se, j, &rate, v))
        return ga__refuse_parameter(se, j,
                                    "redundant constraints contradict each other at other values of it",
                                    "leave out redundant constraints");
    }
  return GA_OK;
}

/* ---- Transposed ---- */

ga_status ga__least_reverse(ga_sensitivity *se, const ga__tangent *bar)
{
  ga__null *null = &se->st->red.null;
  const ga_system *sys = se->st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], m = sys->start[GA_BLOCK_X] - sys->nv;
  if (null->r == 0) return GA_OK;
  double most = 0.0, left = 0.0;
  for (int i = 0; i < m; i++) {
    null->z[i] = se->room[i] = i < nl ? bar->lambda[i] / null->length[i] : 0.0;
    most = fmax(most, fabs(null->z[i]));
  }
  ga__null_remove(null, null->z, m);
  for (int i = 0; i < m; i++) left = fmax(left, fabs(null->z[i] - se->room[i]));
  if (left <= UNIQUE * 1e-4 * most) return GA_OK;
  return ga__refuse_sensitivity(
      se,
      "the adjoint does not differentiate multipliers of redundant constraints, only "
      "forward derivatives do",
      NULL);
}
