/* Derivatives of a system: the user's Jacobian, or coloured differences without one. */
#include "core/derivative.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Relative steps: ε^(1/3) balances rounding against truncation for central differences of order 2, ε^(1/5)
 * for those of order 4. */
#define STEP_ORDER2 6.0e-6
#define STEP_ORDER4 7.4e-4

void ga__deriv_load(ga__deriv *w, const ga_point *p)
{
  const ga_system *sys = w->sys;
  ga__copy_numbers(w->q, p->q, sys->nq);
  ga__copy_numbers(w->v, p->v, sys->nv);
  ga__copy_numbers(w->vdot, p->vdot, sys->nv);
  ga__copy_numbers(w->lambda, p->lambda, sys->size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(w->psi, p->psi, sys->size[GA_BLOCK_PSI]);
  ga__copy_numbers(w->x, p->x, sys->size[GA_BLOCK_X]);
  ga__copy_numbers(w->y, p->y, sys->size[GA_BLOCK_Y]);
}

ga_point ga__deriv_point(const ga__deriv *w, double t)
{
  ga_point p = {t, w->q, w->v, w->vdot, w->lambda, w->psi, w->x, w->y, 0, NULL};
  return p;
}

/* Greedy colouring: columns that share no row get one colour and are perturbed together (Curtis, Powell,
 * Reid). */
static ga_status colour_columns(ga__deriv *w)
{
  const ga_system *sys = w->sys;
  ga_context *ctx = sys->ctx;
  ga_status status = GA_OK;
  size_t n = (size_t)sys->n;
  int *colour = ga__alloc(ctx, n, sizeof *colour); /* of each column */
  int *row_start = ga__alloc(ctx, n + 1, sizeof *row_start);
  int *by_row = ga__alloc(ctx, (size_t)sys->n_entries, sizeof *by_row);
  int *taken = ga__alloc(ctx, n + 1, sizeof *taken); /* last column that excluded a colour */
  if (!colour || !row_start || !by_row || !taken) {
    status = ga__no_memory(ctx, "colouring a pattern");
    goto done;
  }
  for (int e = 0; e < sys->n_entries; e++) row_start[sys->row[e] + 1]++;
  for (int r = 0; r < sys->n; r++) row_start[r + 1] += row_start[r];
  for (int e = 0; e < sys->n_entries; e++) by_row[row_start[sys->row[e]]++] = sys->col[e];
  for (int r = sys->n; r > 0; r--) row_start[r] = row_start[r - 1];
  row_start[0] = 0;
  for (int c = 0; c < sys->n; c++) colour[c] = -1;
  for (int c = 0; c < sys->n; c++) {
    for (int i = w->entry_start[c]; i < w->entry_start[c + 1]; i++) {
      int r = sys->row[w->entry[i]];
      for (int k = row_start[r]; k < row_start[r + 1]; k++)
        if (colour[by_row[k]] >= 0) taken[colour[by_row[k]]] = c + 1;
    }
    int choice = 0;
    while (taken[choice] == c + 1) choice++;
    colour[c] = choice;
    if (choice + 1 > w->n_colours) w->n_colours = choice + 1;
  }
  for (int c = 0; c < sys->n; c++) w->colour_start[colour[c] + 1]++;
  for (int k = 0; k < w->n_colours; k++) w->colour_start[k + 1] += w->colour_start[k];
  memset(taken, 0, (n + 1) * sizeof *taken);
  for (int c = 0; c < sys->n; c++) w->colour_col[w->colour_start[colour[c]] + taken[colour[c]]++] = c;
done:
  ga__free(ctx, colour);
  ga__free(ctx, row_start);
  ga__free(ctx, by_row);
  ga__free(ctx, taken);
  return status;
}

static ga_status list_columns(ga__deriv *w)
{
  const ga_system *sys = w->sys;
  size_t n = (size_t)sys->n;
  w->colour_start = ga__alloc(sys->ctx, n + 2, sizeof(int));
  w->colour_col = ga__alloc(sys->ctx, n, sizeof(int));
  w->entry_start = ga__alloc(sys->ctx, n + 2, sizeof(int));
  w->entry = ga__alloc(sys->ctx, (size_t)sys->n_entries, sizeof(int));
  if (!w->colour_start || !w->colour_col || !w->entry_start || !w->entry)
    return ga__no_memory(sys->ctx, "the differences of a system");
  for (int e = 0; e < sys->n_entries; e++) w->entry_start[sys->col[e] + 2]++;
  for (int c = 0; c < sys->n; c++) w->entry_start[c + 2] += w->entry_start[c + 1];
  for (int e = 0; e < sys->n_entries; e++) w->entry[w->entry_start[sys->col[e] + 1]++] = e;
  return colour_columns(w);
}

ga_status ga__deriv_create(const ga_system *sys, ga__deriv *w)
{
  memset(w, 0, sizeof *w);
  w->ctx = sys->ctx;
  w->sys = sys;
  const int *size = sys->size, from_b = size[GA_BLOCK_LAMBDA] > 0 && !ga__has(sys, GA__PHI_DOT);
  const int entries = from_b && sys->def.jacobian ? sys->n_entries : 0;
  struct {
    double **array;
    int length;
  } need[] = {{&w->q, sys->nq},
              {&w->v, sys->nv},
              {&w->vdot, sys->nv},
              {&w->lambda, size[GA_BLOCK_LAMBDA]},
              {&w->psi, size[GA_BLOCK_PSI]},
              {&w->x, size[GA_BLOCK_X]},
              {&w->y, size[GA_BLOCK_Y]},
              {&w->d, sys->nv},
              {&w->step, sys->n},
              {&w->plus, sys->n},
              {&w->minus, sys->n},
              {&w->force, sys->n},
              {&w->D, entries},
              {&w->Q, entries},
              {&w->G, entries},
              {&w->lane[0].q, sys->nq},
              {&w->lane[0].d, sys->nv},
              {&w->lane[0].g, sys->n},
              {&w->lane[1].q, sys->nq},
              {&w->lane[1].d, sys->nv},
              {&w->lane[1].g, sys->n}};
  for (size_t i = 0; i < sizeof need / sizeof *need; i++) {
    *need[i].array = ga__alloc(sys->ctx, (size_t)need[i].length, sizeof(double));
    if (!*need[i].array) {
      ga__deriv_destroy(w);
      return ga__no_memory(sys->ctx, "the differences of a system");
    }
  }
  ga_status status = sys->def.jacobian ? GA_OK : list_columns(w);
  if (status) ga__deriv_destroy(w);
  return status;
}

void ga__deriv_destroy(ga__deriv *w)
{
  if (!w->ctx) return;
  void *const block[] = {
      w->q,         w->v,         w->vdot,      w->lambda,       w->psi,        w->x,
      w->y,         w->d,         w->step,      w->plus,         w->minus,      w->force,
      w->D,         w->Q,         w->G,         w->lane[0].q,    w->lane[0].d,  w->lane[0].g,
      w->lane[1].q, w->lane[1].d, w->lane[1].g, w->colour_start, w->colour_col, w->entry_start,
      w->entry};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(w->ctx, block[i]);
  memset(w, 0, sizeof *w);
}

/* M vdot − f */
static ga_status dynamics(const ga_system *sys, const ga_point *p, double *out, double *force)
{
  ga_status status = ga__call(sys, GA__MASS, p, out);
  if (!status) status = ga__call(sys, GA__FORCE, p, force);
  for (int i = 0; !status && i < sys->nv; i++) out[i] -= force[i];
  return status;
}

/* k, −s, −o */
static ga_status other_residuals(const ga_system *sys, const ga_point *p, double *out)
{
  ga_status status;
  double *x = out + sys->start[GA_BLOCK_X];
  if ((status = ga__call(sys, GA__K, p, out + sys->start[GA_BLOCK_PSI]))) return status;
  if ((status = ga__call(sys, GA__STATE, p, x))) return status;
  if ((status = ga__call(sys, GA__OUTPUT, p, out + sys->start[GA_BLOCK_Y]))) return status;
  int n_xy = sys->size[GA_BLOCK_X] + sys->size[GA_BLOCK_Y];
  for (int i = 0; i < n_xy; i++) x[i] = -x[i];
  return GA_OK;
}

ga_status ga__residual(const ga_system *sys, const ga_point *p, double *out, double *force)
{
  ga_status status = dynamics(sys, p, out, force);
  if (!status) status = ga__call(sys, GA__PHI, p, out + sys->start[GA_BLOCK_LAMBDA]);
  return status ? status : other_residuals(sys, p, out);
}

ga_status ga__residual_of_rates(ga__deriv *w, const ga_point *p, double *out, double *force)
{
  const ga_system *sys = w->sys;
  ga_status status = dynamics(sys, p, out, force);
  if (!status && sys->size[GA_BLOCK_LAMBDA]) status = ga__phi_dot(w, p, out + sys->start[GA_BLOCK_LAMBDA]);
  return status ? status : other_residuals(sys, p, out);
}

/* After a failed sweep: the single callback that fails as well gives a more specific error. */
static ga_status sweep_failed(const ga_system *sys, const ga_point *p, double *out, double *rate, int code,
                              ga_status before, double *force)
{
  const ga_error said = sys->ctx->error;
  ga_status status = ga__residual(sys, p, out, force);
  if (!status && rate) status = ga__call(sys, GA__PHI_DOT, p, rate);
  if (status) return status;
  sys->ctx->error = said;
  return ga__end_callback(sys, "sweep", -1, p->t, code, before);
}

ga_sweep ga__sweep_into(const ga_system *sys, double *out, double *rate, ga_jacobian *J)
{
  const int *start = sys->start;
  return (ga_sweep){.dynamics = out,
                    .phi = out + start[GA_BLOCK_LAMBDA],
                    .k = out + start[GA_BLOCK_PSI],
                    .state = out + start[GA_BLOCK_X],
                    .output = out + start[GA_BLOCK_Y],
                    .phi_dot = rate,
                    .jacobian = J};
}

ga_status ga__sweep(const ga_system *sys, const ga_point *p, double *out, double *rate, ga_jacobian *J,
                    double *force)
{
  const int *start = sys->start, nl = sys->size[GA_BLOCK_LAMBDA];
  ga_sweep s = ga__sweep_into(sys, out, rate, J);
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.sweep(sys->def.user, p, &s);
  if (code || ga__first_bad(out, sys->n) >= 0 || (rate && ga__first_bad(rate, nl) >= 0))
    return sweep_failed(sys, p, out, rate, code, before, force);
  if (sys->ctx->error.status == GA_OK) sys->ctx->error.status = before;
  for (int i = start[GA_BLOCK_X]; i < sys->n; i++) out[i] = -out[i];
  return GA_OK;
}

ga_status ga__b_alone(ga__deriv *w, const ga_point *p, ga_jacobian *J, double *room)
{
  const ga_system *sys = w->sys;
  if (!sys->def.sweep) return ga__jacobian(w, p, J);
  ga_sweep s = ga__sweep_into(sys, room, NULL, J);
  s.jacobian_alone = 1;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.sweep(sys->def.user, p, &s);
  return ga__end_callback(sys, "sweep", -1, p->t, code, before);
}

/* The fourth-order formula g'(0) ≈ (8(g(s) − g(−s)) − (g(2s) − g(−2s))) / (12 s). */
enum { N_SAMPLES = 4 };
static const double SAMPLE_AT[N_SAMPLES] = {1.0, -1.0, 2.0, -2.0};
static const double SAMPLE_WEIGHT[N_SAMPLES] = {8.0 / 12.0, -8.0 / 12.0, -1.0 / 12.0, 1.0 / 12.0};

/* What moves with s: time, positions or both. */
enum { MOVE_TIME = 1, MOVE_Q = 2 };

/* Uncertainty of the formula: g(2s) + g(−2s) − 4 (g(s) + g(−s)) + 6 g(0) over s. For smooth g it is s³g⁗,
 * more than the error of s⁴; near a kink or singularity it is at least the error, unless a kink is at 2/3
 * of s. */
static const double DOUBT_WEIGHT[N_SAMPLES] = {-4.0, -4.0, 1.0, 1.0};
#define DOUBT_WEIGHT_MIDDLE 6.0

/* doubt: uncertainty of `out`, or NULL. */
static ga_status differentiate(ga__deriv *w, ga__lane *lane, ga__fn fn, const ga_point *p, unsigned move,
                               double *out, double *doubt)
{
  const ga_system *sys = w->sys;
  int n = fn == GA__K ? sys->size[GA_BLOCK_PSI] : sys->size[GA_BLOCK_LAMBDA];
  double s = move & MOVE_Q ? STEP_ORDER4 / (1.0 + ga__max_abs(p->v, sys->nv, NULL)) : STEP_ORDER4;
  if (move & MOVE_TIME && w->dt > 0.0 && s > w->dt) s = w->dt;
  ga_point moved = *p;
  moved.motion = 0;
  for (int i = 0; i < n; i++) out[i] = 0.0;
  if (doubt) {
    ga_status status = fn == GA__PHI_DOT ? ga__phi_dot(w, p, doubt) : ga__call(sys, fn, p, doubt);
    if (status) return status;
    for (int i = 0; i < n; i++) doubt[i] *= DOUBT_WEIGHT_MIDDLE;
  }
  for (int j = 0; j < N_SAMPLES; j++) {
    if (move & MOVE_Q) {
      for (int i = 0; i < sys->nv; i++) lane->d[i] = SAMPLE_AT[j] * s * p->v[i];
      ga_group_move(sys->group, lane->q, p->q, lane->d);
      moved.q = lane->q;
    }
    if (move & MOVE_TIME) moved.t = p->t + SAMPLE_AT[j] * s;
    ga_status status =
        fn == GA__PHI_DOT ? ga__phi_dot(w, &moved, lane->g) : ga__call(sys, fn, &moved, lane->g);
    if (status) return status;
    for (int i = 0; i < n; i++) out[i] += SAMPLE_WEIGHT[j] * lane->g[i];
    for (int i = 0; doubt && i < n; i++) doubt[i] += DOUBT_WEIGHT[j] * lane->g[i];
  }
  for (int i = 0; i < n; i++) out[i] /= s;
  for (int i = 0; doubt && i < n; i++) doubt[i] = fabs(doubt[i]) / s;
  return GA_OK;
}

ga_status ga__along_motion(ga__deriv *w, ga__fn fn, const ga_point *p, double *out, double *doubt)
{
  return differentiate(w, &w->lane[1], fn, p, MOVE_TIME | MOVE_Q, out, doubt);
}

ga_status ga__phi_dot(ga__deriv *w, const ga_point *p, double *out)
{
  const ga_system *sys = w->sys;
  int n = sys->size[GA_BLOCK_LAMBDA];
  ga_status status;
  if (n == 0) return GA_OK;
  if (ga__has(sys, GA__PHI_DOT)) return ga__call(sys, GA__PHI_DOT, p, out);
  unsigned with_time = sys->def.rheonomic ? MOVE_TIME : 0;
  if (!sys->def.jacobian) return differentiate(w, &w->lane[0], GA__PHI, p, MOVE_Q | with_time, out, NULL);
  for (int i = 0; i < n; i++) out[i] = 0.0;
  if (with_time && (status = differentiate(w, &w->lane[0], GA__PHI, p, MOVE_TIME, out, NULL))) return status;
  ga_jacobian J = {GA_WANT_B, 0.0, 0.0, w->D, w->Q, w->G};
  if ((status = ga__jacobian(w, p, &J))) return status;
  ga__b_mul(sys, out, w->Q, p->v);
  return GA_OK;
}

ga_status ga__phi_acc(ga__deriv *w, const ga_point *p, double *out)
{
  if (ga__has(w->sys, GA__PHI_ACC)) return ga__call(w->sys, GA__PHI_ACC, p, out);
  return w->sys->size[GA_BLOCK_LAMBDA] ? ga__along_motion(w, GA__PHI_DOT, p, out, NULL) : GA_OK;
}

ga_status ga__k_acc(ga__deriv *w, const ga_point *p, double *out)
{
  if (ga__has(w->sys, GA__K_ACC)) return ga__call(w->sys, GA__K_ACC, p, out);
  return w->sys->size[GA_BLOCK_PSI] ? ga__along_motion(w, GA__K, p, out, NULL) : GA_OK;
}

void ga__b_mul(const ga_system *sys, double *out, const double *values, const double *v)
{
  for (int i = 0; i < sys->n_b; i++) out[sys->b_row[i]] += values[sys->b_entry[i]] * v[sys->b_col[i]];
}

/* ---- Differences ---- */

/* Steps of the columns for D: one for v and vdot together, so that neither moves too far; one per other
 * block. */
static void choose_steps(ga__deriv *w, const ga_point *p, const ga_jacobian *J)
{
  const ga_system *sys = w->sys;
  double size_v = 1.0 + ga__max_abs(p->v, sys->nv, NULL), size_a = 1.0 + ga__max_abs(p->vdot, sys->nv, NULL);
  double step = HUGE_VAL;
  if (J->shift_v != 0.0) step = size_v / fabs(J->shift_v);
  if (J->shift_vdot != 0.0 && size_a / fabs(J->shift_vdot) < step) step = size_a / fabs(J->shift_vdot);
  for (int j = 0; j < sys->nv; j++) w->step[j] = isfinite(step) ? STEP_ORDER2 * step : 1.0;
  const double *value[] = {NULL, p->lambda, p->psi, p->x, p->y};
  for (int b = GA_BLOCK_LAMBDA; b < GA_N_BLOCKS; b++) {
    double size = 1.0 + ga__max_abs(value[b], sys->size[b], NULL);
    for (int j = 0; j < sys->size[b]; j++) w->step[sys->start[b] + j] = STEP_ORDER2 * size;
  }
}

/* Moves unknown j of the copy in w by amount; moves of q are collected in w->d. */
static void perturb(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what, int j,
                    double amount)
{
  int index;
  ga_equation_block block = ga__block_of(w->sys, j, &index);
  if (what != GA__PASS_D) {
    if (block == GA_BLOCK_V) w->d[index] = amount;
    return;
  }
  switch (block) {
  case GA_BLOCK_V:
    w->v[index] = p->v[index] + amount * J->shift_v;
    w->vdot[index] = p->vdot[index] + amount * J->shift_vdot;
    break;
  case GA_BLOCK_LAMBDA:
    w->lambda[index] = p->lambda[index] + amount;
    break;
  case GA_BLOCK_PSI:
    w->psi[index] = p->psi[index] + amount;
    break;
  case GA_BLOCK_X:
    w->x[index] = p->x[index] + amount;
    break;
  default:
    w->y[index] = p->y[index] + amount;
    break;
  }
}

/* Evaluates the function of a pass with some unknowns moved, each by factor times its step. */
static ga_status sample(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what,
                        const int *column, int count, double factor, double *out)
{
  const ga_system *sys = w->sys;
  double *phi = out + sys->start[GA_BLOCK_LAMBDA];
  ga__deriv_load(w, p);
  for (int i = 0; i < sys->nv; i++) w->d[i] = 0.0;
  for (int i = 0; i < count; i++)
    perturb(w, p, J, what, column[i], factor * (what == GA__PASS_D ? w->step[column[i]] : 1.0));
  if (what != GA__PASS_D) ga_group_move(sys->group, w->q, p->q, w->d);
  ga_point moved = ga__deriv_point(w, p->t);
  if (what == GA__PASS_B) return ga__call(sys, GA__PHI, &moved, phi);
  if (what == GA__PASS_G) return ga__phi_dot(w, &moved, phi);
  if (J->want & GA_WANT_M) {
    ga_status status = ga__call(sys, GA__MASS, &moved, out);
    return status ? status : ga__call(sys, GA__K, &moved, out + sys->start[GA_BLOCK_PSI]);
  }
  return ga__residual(sys, &moved, out, w->force);
}

ga_status ga__difference_column(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what,
                                int column, double *out, double *doubt)
{
  const ga_system *sys = w->sys;
  choose_steps(w, p, J);
  /* steps of order 2, scaled for order 4 */
  const double wider = STEP_ORDER4 / STEP_ORDER2,
               step = wider * (what == GA__PASS_D ? w->step[column] : STEP_ORDER2);
  for (int i = 0; i < sys->n; i++) out[i] = doubt[i] = 0.0;
  ga_status status = sample(w, p, J, what, &column, 1, 0.0, doubt);
  for (int i = 0; i < sys->n; i++) doubt[i] *= DOUBT_WEIGHT_MIDDLE;
  for (int k = 0; !status && k < N_SAMPLES; k++) {
    const double factor = SAMPLE_AT[k] * wider * (what == GA__PASS_D ? 1.0 : STEP_ORDER2);
    for (int i = 0; i < sys->n; i++) w->plus[i] = 0.0;
    status = sample(w, p, J, what, &column, 1, factor, w->plus);
    for (int i = 0; i < sys->n; i++) {
      out[i] += SAMPLE_WEIGHT[k] * w->plus[i] / step;
      doubt[i] += DOUBT_WEIGHT[k] * w->plus[i];
    }
  }
  for (int i = 0; i < sys->n; i++) doubt[i] = fabs(doubt[i]) / step;
  return status;
}

/* Whether this pass computes entry e of the pattern. */
static int concerns(const ga_system *sys, const ga_jacobian *J, ga__pass what, int e)
{
  int in_phi = sys->row[e] >= sys->start[GA_BLOCK_LAMBDA] && sys->row[e] < sys->start[GA_BLOCK_PSI];
  int in_k = sys->row[e] >= sys->start[GA_BLOCK_PSI] && sys->row[e] < sys->start[GA_BLOCK_X];
  if (what == GA__PASS_D)
    return !(J->want & GA_WANT_M) || (sys->col[e] < sys->nv && (sys->row[e] < sys->nv || in_k));
  return sys->col[e] < sys->nv && (what == GA__PASS_Q || in_phi);
}

static ga_status difference_pass(ga__deriv *w, const ga_point *p, const ga_jacobian *J, ga__pass what,
                                 double *values)
{
  const ga_system *sys = w->sys;
  for (int k = 0; k < w->n_colours; k++) {
    const int *column = w->colour_col + w->colour_start[k],
              count = w->colour_start[k + 1] - w->colour_start[k];
    double by = what == GA__PASS_D ? 1.0 : STEP_ORDER2;
    if (what != GA__PASS_D && column[0] >= sys->nv) continue; /* columns ascend: none belongs to V */
    ga_status status = sample(w, p, J, what, column, count, by, w->plus);
    if (!status) status = sample(w, p, J, what, column, count, -by, w->minus);
    if (status) return status;
    for (int i = w->colour_start[k]; i < w->colour_start[k + 1]; i++) {
      int c = w->colour_col[i];
      double inverse = 0.5 / (what == GA__PASS_D ? w->step[c] : STEP_ORDER2);
      for (int m = w->entry_start[c]; m < w->entry_start[c + 1]; m++) {
        int e = w->entry[m];
        if (concerns(sys, J, what, e)) values[e] = (w->plus[sys->row[e]] - w->minus[sys->row[e]]) * inverse;
      }
    }
  }
  return GA_OK;
}

static ga_status difference_jacobian(ga__deriv *w, const ga_point *p, ga_jacobian *J)
{
  ga_status status;
  choose_steps(w, p, J);
  if (J->want & GA_WANT_D && (status = difference_pass(w, p, J, GA__PASS_D, J->D))) return status;
  if (J->want & GA_WANT_Q) {
    if ((status = difference_pass(w, p, J, GA__PASS_Q, J->Q))) return status;
  } else if (J->want & GA_WANT_B && (status = difference_pass(w, p, J, GA__PASS_B, J->Q))) {
    return status;
  }
  if (J->want & GA_WANT_G && w->sys->n_b && (status = difference_pass(w, p, J, GA__PASS_G, J->G)))
    return status;
  return GA_OK;
}

static ga_status bad_entry(const ga_system *sys, const ga_point *p, const double *values, const char *which)
{
  int e = ga__first_bad(values, sys->n_entries), i, j;
  if (e < 0) return GA_OK;
  char row[192], col[192];
  ga_equation_block rb = ga__block_of(sys, sys->row[e], &i), cb = ga__block_of(sys, sys->col[e], &j);
  ga__describe(sys, rb, i, row, sizeof row);
  ga__describe_unknown(sys, cb, j, col, sizeof col);
  return ga__refuse(sys->ctx, GA_RETRY_NAN, GA_REASON_JACOBIAN_NOT_FINITE,
                    &(ga__facts){.at = &(ga__fact_time){p->t, NAN, (int)rb, i},
                                 .field = which,
                                 .equation = row,
                                 .other = col,
                                 GA__NUMBERS({values[e], NULL})});
}

ga_status ga__jacobian_check(const ga_system *sys, const ga_point *p, const ga_jacobian *J)
{
  ga_status status;
  if (J->want & GA_WANT_D && (status = bad_entry(sys, p, J->D, "D"))) return status;
  if (J->want & (GA_WANT_Q | GA_WANT_B) && (status = bad_entry(sys, p, J->Q, "Q"))) return status;
  return J->want & GA_WANT_G ? bad_entry(sys, p, J->G, "G") : GA_OK;
}

ga_status ga__jacobian(ga__deriv *w, const ga_point *p, ga_jacobian *J)
{
  ga_status status = ga__jacobian_unchecked(w, p, J);
  return status || !w->sys->def.jacobian ? status : ga__jacobian_check(w->sys, p, J);
}

ga_status ga__jacobian_unchecked(ga__deriv *w, const ga_point *p, ga_jacobian *J)
{
  const ga_system *sys = w->sys;
  size_t bytes = (size_t)sys->n_entries * sizeof(double);
  if (J->want & GA_WANT_D) memset(J->D, 0, bytes);
  if (J->want & (GA_WANT_Q | GA_WANT_B)) memset(J->Q, 0, bytes);
  if (J->want & GA_WANT_G) memset(J->G, 0, bytes);
  if (!sys->def.jacobian) return difference_jacobian(w, p, J);
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.jacobian(sys->def.user, p, J);
  return ga__end_callback(sys, "jacobian", -1, p->t, code, before);
}
