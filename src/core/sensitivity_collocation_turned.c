/* The adjoint of a step by collocation: sensitivity_collocation.c and sensitivity_collocation_end.c
 * transposed, from the last of their equations to the first. With bars for derivatives of a number by what
 * stands below them:
 *
 *   K_z μ = (vdot̄, 0̄, x̄dot, ȳ)      the end:         q̄ += r_qᵀ μ, v̄ += r_vᵀ μ, x̄ += r_xᵀ μ, with Φ'' and k'
 * in the K_v ν = v̄                        its velocities:  rows of constraints, K_q κ = q̄ its positions, K ζ
 * = (h⁻¹ z̄_m, v̄_m, h Ω̄_m, x̄_m)  the nodes,        all matrices transposed, with signs changed,
 *
 * and the derivative by a parameter is Σ μ·∂r/∂p + ... over all of these equations, at their points.
 *
 * Products of transposed second derivatives are differences of transposed Jacobians. Of D_q Φ'' and D_v Φ''
 * along the motion, with [.,.] the bracket and B and G the derivatives of B v + Φ_t by v and q:
 *
 *   D_q Φ'' δ = (dG/dt) δ − G [v, δ]      D_v Φ'' δ = (dB/dt) δ + G δ      likewise k'
 *
 * and of δK S, bᵀ (δK S) = ((d/ds) Jᵀ b)·δw with J, by all of w, along S. */
#include "core/arrays.h"
#include "core/sensitivity_collocation.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

#define MOVE 1e-3         /* [-] along the motion, and of accelerations and multipliers along the moves */
#define PART_OF_STEP 0.25 /* of a step that differences along the motion reach over, at most */

/* ---- Memory ---- */

static ga_status create(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  const size_t n = (size_t)sys->n, nv = (size_t)sys->nv, nx = (size_t)sys->size[GA_BLOCK_X],
               nl = (size_t)sys->size[GA_BLOCK_LAMBDA], np = (size_t)sys->size[GA_BLOCK_PSI];
  ga__colloc_turned *t = se->colloc->turned = ga__alloc(se->ctx, 1, sizeof *t);
  if (!t) return ga__no_memory(se->ctx, "an adjoint");
  const ga__array part[] = {{&t->nodes, GA__NODES * n},
                            {&t->q, nv},
                            {&t->v, nv},
                            {&t->z, n},
                            {&t->x, nx},
                            {&t->before, GA__NODES * n},
                            {&t->rate, GA__NODES * nv},
                            {&t->at_z, GA__NODES * n},
                            {&t->at_v, GA__NODES * nv},
                            {&t->at_omega, GA__NODES * nv},
                            {&t->at_x, GA__NODES * nx},
                            {&t->carried, GA__NODES * nv},
                            {&t->weight, GA__NODES * (n + nl)},
                            {&t->acceleration, nl + np},
                            {&t->turn_q, n},
                            {&t->turn_v, n},
                            {&t->place_z, n},
                            {&t->place_weight, n + nl},
                            {&t->place_acceleration, nl + np},
                            {&t->full, n},
                            {&t->pulled, n + nl},
                            {&t->by_q, nv},
                            {&t->change, 2 * nv},
                            {&t->bars.further, GA__NODES * n},
                            {&t->bars.gap_v, nv},
                            {&t->bars.gap_x, nx},
                            {&t->bars.room, GA__COLLOC_ROOM * GA__NODES * nv},
                            {&t->bars.part, 5 * nv},
                            {&t->bars.one, nv},
                            {&t->bars.two, nv},
                            {&t->bars.T, (size_t)ga_group_blocks_length(sys->group)}};
  const ga_status status = ga__arrays_create(se->ctx, GA__ARRAYS(part), "an adjoint", &t->block, NULL);
  return status ? status : ga__tangent_create(se, &t->in);
}

void ga__colloc_turned_destroy(ga_sensitivity *se)
{
  ga__colloc_turned *t = se->colloc->turned;
  if (!t) return;
  ga__free(se->ctx, t->in.block);
  ga__free(se->ctx, t->block);
  ga__free(se->ctx, t);
  se->colloc->turned = NULL;
}

static void clear(double *to, int n)
{
  for (int i = 0; i < n; i++) to[i] = 0.0;
}

static void begin(ga_sensitivity *se)
{
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  clear(t->nodes, GA__NODES * sys->n);
  clear(t->before, GA__NODES * sys->n);
  clear(t->rate, GA__NODES * sys->nv);
  clear(t->q, sys->nv);
  clear(t->v, sys->nv);
  clear(t->z, sys->n);
  clear(t->x, sys->size[GA_BLOCK_X]);
  t->solved = 0;
  se->colloc->known = 0;
  for (int m = 0; m < GA__NODES; m++) ga__lu_forget(se->colloc->matrix[m].lu); /* the same pivots each time */
  for (int i = 0; i < GA__COLLOC_N_ENDS; i++) ga__lu_forget(se->colloc->lu[i]);
}

/* ---- Sums ---- */

static void add(double *to, double factor, const double *from, int n)
{
  for (int i = 0; i < n; i++) to[i] += factor * from[i];
}

/* to += Tᵀ from, by packed blocks; `room` is lost. */
static void add_blocks_turned(ga_sensitivity *se, double *to, const double *T, const double *from,
                              double rest, double *room)
{
  ga__mul_blocks(se->st->sys->group, room, T, from, rest, 1);
  add(to, 1.0, room, se->st->sys->nv);
}

/* The transpose of ga__move_tangent(): by q into to_q, and by the exponent into to_e. to_q NULL: not wanted.
 */
static void add_move_turned(ga_sensitivity *se, const double *T, const double *exponent, const double *bar,
                            double *to_q, double *to_e)
{
  const ga_group *g = se->st->sys->group;
  const int nv = se->st->sys->nv;
  ga__mul_blocks(g, se->one, T, bar, 1.0, 1);
  if (to_e) add(to_e, 1.0, se->one, nv);
  add(to_q, 1.0, bar, nv);
  ga__add_ad_turned(se, to_q, -1.0, exponent, se->one);
}

/* z of a state, transposed. */
static void add_state_of(const ga_system *sys, const double *z, const ga__tangent *to)
{
  double *const part[GA_N_BLOCKS] = {to->vdot, to->lambda, to->psi, to->xdot, to->y};
  for (int b = 0; b < GA_N_BLOCKS; b++) add(part[b], 1.0, z + sys->start[b], sys->size[b]);
}

/* to_j += h A_mj from, of node m, over all nodes j of the rule. */
static void add_nodes_turned(const ga__colloc_rule *rule, double h, const double *w, const double *from,
                             double *to, int stride, int n)
{
  for (int j = rule->first; j <= rule->stages; j++) add(to + j * stride, h * w[j], from, n);
}

/* r := −K⁻ᵀ r, of one of the matrices of the end */
static ga_status solve_turned(ga_sensitivity *se, int which, double *r)
{
  const ga__colloc_linear *s = se->colloc;
  const int n = se->st->sys->n;
  const ga_status status = ga__assembly_solve_t(&s->assembly, s->lu[which], r);
  if (status) return status;
  for (int i = 0; i < n; i++) r[i] = -r[i];
  return ga__first_bad(r, n) >= 0 ? ga__refuse_sensitivity(se, "they are not finite", NULL) : GA_OK;
}

/* ---- Accelerations of constraints ---- */

/* to_q += factor f_qᵀ w, to_v += factor f_vᵀ w of f = (B v + Φ_t, k), by the entries of Jacobians there. */
static void multiply_rates(const ga_system *sys, const double *w, const double *Dv, const double *Q,
                           const double *G, double factor, double *to_q, double *to_v)
{
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e], of_k = ga__is_of(sys, GA_BLOCK_PSI, row);
    if (col >= sys->nv || !(of_k || ga__is_of(sys, GA_BLOCK_LAMBDA, row))) continue;
    const double by = factor * w[row - sys->nv];
    to_q[col] += by * (of_k ? Q[e] : G[e]);
    to_v[col] += by * (of_k ? Dv[e] : Q[e]);
  }
}

/* Differences along the motion of a point, from the point into the step: its ends may be breaks. */
enum { N_ALONG = 5 };
static const double ALONG[N_ALONG] = {25.0, -48.0, 36.0, -16.0, 3.0};

/* [s] From one to the next. */
static double find_way(const ga_sensitivity *se, const ga_point *p)
{
  const ga_stepper *st = se->st;
  const int nv = st->sys->nv;
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T], v = ga__max_abs(p->v, nv, NULL);
  const double size = fmax(v, ga__max_abs(p->vdot, nv, NULL) / (1.0 + v));
  double way = PART_OF_STEP / (N_ALONG - 1) * (end - begin);
  if (size * way > MOVE) way = MOVE / size;
  return p->t - begin > end - p->t ? -way : way;
}

/* q and v of p after `way` of its motion, with the rest of p. */
static ga_point move_along(ga_sensitivity *se, const ga_point *p, double way)
{
  const ga_system *sys = se->st->sys;
  ga_point at = *p;
  for (int i = 0; i < sys->nv; i++) {
    se->one[i] = way * p->v[i];
    se->at_v[i] = p->v[i] + way * p->vdot[i];
  }
  ga_group_move(sys->group, se->at_q, p->q, se->one);
  at.t = p->t + way, at.q = se->at_q, at.v = se->at_v;
  return at;
}

/* Jacobians of f there, their products with w added. */
static ga_status add_along_motion(ga_sensitivity *se, const ga_point *p, double way, const double *w,
                                  double factor, double *to)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const ga_point at = move_along(se, p, way);
  const unsigned of_k = sys->size[GA_BLOCK_PSI] ? GA_WANT_D | GA_WANT_Q : 0u;
  ga_jacobian J = {GA_WANT_B | GA_WANT_G | of_k, 1.0, 0.0, s->D, s->Q_end, se->other};
  const ga_status status = ga__jacobian(&se->st->deriv, &at, &J);
  if (!status) multiply_rates(sys, w, s->D, s->Q_end, se->other, factor, to, to + sys->nv);
  return status;
}

/* to_q, to_v += derivatives of w·(Φ'', k') at p by q and v; s->Dv, Q and G are those of p. */
static ga_status add_accelerations(ga_sensitivity *se, const ga_point *p, const double *w, double *to_q,
                                   double *to_v)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, m = sys->start[GA_BLOCK_X] - nv;
  if (!(ga__max_abs(w, m, NULL) > 0.0)) return GA_OK;
  const double way = find_way(se, p);
  clear(t->change, 2 * nv);
  multiply_rates(sys, w, s->Dv, s->Q, s->G, -ALONG[0] / (12.0 * way), t->change, t->change + nv);
  for (int k = 1; k < N_ALONG; k++) {
    const ga_status status = add_along_motion(se, p, k * way, w, -ALONG[k] / (12.0 * way), t->change);
    if (status) return status;
  }
  add(to_q, 1.0, t->change, nv);
  add(to_v, 1.0, t->change + nv, nv);
  clear(t->change, 2 * nv);
  multiply_rates(sys, w, s->Dv, s->Q, s->G, 1.0, t->change, t->change + nv);
  add(to_v, 1.0, t->change, nv);
  ga__add_ad_turned(se, to_q, -1.0, p->v, t->change);
  return GA_OK;
}

/* ---- Accelerations, multipliers, rates and outputs solved for at a place ---- */

/* q̄, v̄, x̄ += what those of vdot, λ, ψ, xdot and y are; weight[n] and acceleration[] of the equations are
 * added to. */
static ga_status turn_place(ga_sensitivity *se, const ga_point *p, const ga__tangent *bar, double *weight,
                            double *acceleration)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  double *mu = t->full;
  ga_status status = ga__least_reverse(se, bar);
  if (status) return status;
  clear(mu, sys->n);
  const double *const from[GA_N_BLOCKS] = {bar->vdot, bar->lambda, bar->psi, bar->xdot, bar->y};
  for (int b = 0; b < GA_N_BLOCKS; b++) ga__copy_numbers(mu + sys->start[b], from[b], sys->size[b]);
  if (!(ga__max_abs(mu, sys->n, NULL) > 0.0)) return GA_OK;
  if ((status = solve_turned(se, GA__COLLOC_OF_ALL, mu))) return status;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (row >= sys->nv && row < sys->start[GA_BLOCK_X]) continue;
    if (col < sys->nv) {
      bar->q[col] += s->Q[e] * mu[row];
      bar->v[col] += s->Dv[e] * mu[row];
    } else if (ga__is_of(sys, GA_BLOCK_X, col)) {
      bar->x[col - sys->start[GA_BLOCK_X]] += s->Dv[e] * mu[row];
    }
  }
  for (int i = 0; i < sys->n; i++)
    if (i < sys->nv || i >= sys->start[GA_BLOCK_X]) weight[i] += mu[i];
  add(acceleration, 1.0, mu + sys->nv, sys->start[GA_BLOCK_X] - sys->nv);
  return add_accelerations(se, p, mu + sys->nv, bar->q, bar->v);
}

/* ---- The end of the step ---- */

/* The point of the matrix of projections, moved by `by` times what v, vdot, λ, ψ, x and y of S are. */
static ga_point move_matrix_point(ga_sensitivity *se, const double *S, double by)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int *start = sys->start;
  const double d = s->shift;
  ga_point p = ga__colloc_matrix_point(se);
  double *z = s->moved_z;
  for (int i = 0; i < sys->n; i++) z[i] = s->at_z[i] + by * S[i];
  for (int i = 0; i < sys->nv; i++) se->at_v[i] = s->at_v[i] + by * d * S[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    s->moved_x[i] = s->at_x[i] + by * d * S[start[GA_BLOCK_X] + i];
  p.v = se->at_v, p.x = s->moved_x;
  p.vdot = z, p.lambda = z + start[GA_BLOCK_LAMBDA], p.psi = z + start[GA_BLOCK_PSI],
  p.y = z + start[GA_BLOCK_Y];
  return p;
}

/* The length of such a move; 0: there is none. */
static double size_of_move(const ga_sensitivity *se, const ga__colloc_move *m, const double *b)
{
  const ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  if (!m->counts || !(ga__max_abs(b, sys->n, NULL) > 0.0)) return 0.0;
  double size = s->shift * ga__max_abs(m->full, sys->nv, NULL) / (1.0 + ga__max_abs(s->at_v, sys->nv, NULL));
  for (int k = 0; k < GA_N_BLOCKS; k++)
    if (k != GA_BLOCK_X)
      size = fmax(size, ga__max_abs(m->full + sys->start[k], sys->size[k], NULL) /
                            (1.0 + ga__max_abs(s->at_z + sys->start[k], sys->size[k], NULL)));
  return size > 0.0 ? MOVE / size : 0.0;
}

/* d/ds of Jᵀ b along S, J by all that the matrix depends on, without the rows of Φ: added to derivatives by
 * the point. */
static ga_status add_turned_matrix(ga_sensitivity *se, const double *b, const double *S, double by,
                                   double factor)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const int *start = sys->start;
  const ga_point p = move_matrix_point(se, S, by);
  /* Without states and outputs, accelerations enter by M alone. */
  const unsigned by_vdot = sys->n == start[GA_BLOCK_X] ? GA_WANT_D | GA_WANT_M : GA_WANT_D;
  ga_jacobian J = {by_vdot, 0.0, 1.0, s->at_D, s->Q_end, se->other};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  J = (ga_jacobian){GA_WANT_D | GA_WANT_Q, 1.0, 0.0, s->D, s->Q_end, se->other};
  if (!status) status = ga__jacobian(&st->deriv, &p, &J);
  for (int e = 0; e < sys->n_entries && !status; e++) {
    const int row = sys->row[e], col = sys->col[e], of_k = ga__is_of(sys, GA_BLOCK_PSI, row);
    const double w = factor * b[row] * (of_k ? 1.0 / s->shift : 1.0);
    if (ga__is_of(sys, GA_BLOCK_LAMBDA, row)) continue;
    if (col < sys->nv) {
      t->q[col] += w * s->Q_end[e];
      t->v[col] += w * s->D[e];
      if (!of_k) t->z[col] += w * s->at_D[e];
    } else if (!of_k) {
      (ga__is_of(sys, GA_BLOCK_X, col) ? t->x - start[GA_BLOCK_X] : t->z)[col] += w * s->D[e];
    }
  }
  s->known = 0; /* at_D is lost */
  return status;
}

/* By the point of the matrix of a projection, from those by δK S. */
static ga_status turn_matrix(ga_sensitivity *se, const ga__colloc_move *m, const double *b)
{
  const double step = size_of_move(se, m, b);
  if (!(step > 0.0)) return GA_OK;
  const ga_status status = add_turned_matrix(se, b, m->full, step, 0.5 / step);
  return status ? status : add_turned_matrix(se, b, m->full, -step, -0.5 / step);
}

/* v̄ at the end becomes that at the last node; q̄ of the end is added to. */
static ga_status turn_velocities(ga_sensitivity *se, const ga__tangent *bar)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, M = ga__colloc_of(se->st)->now->stages, first = sys->start[GA_BLOCK_LAMBDA];
  double *to = t->at_v + M * nv, *nu = t->full;
  add(to, 1.0, bar->v, nv);
  clear(t->turn_v, sys->n);
  if (sys->start[GA_BLOCK_X] == nv) return GA_OK;
  clear(nu, sys->n);
  ga__copy_numbers(nu, bar->v, nv);
  const ga_status status = solve_turned(se, GA__COLLOC_OF_V, nu);
  if (status) return status;
  for (int i = 0; i < sys->n; i++)
    if (i < nv || i >= sys->start[GA_BLOCK_X]) t->turn_v[i] = nu[i];
  add(t->weight + sys->n, 1.0, nu + first, sys->size[GA_BLOCK_LAMBDA]);
  for (int i = sys->start[GA_BLOCK_PSI]; i < sys->start[GA_BLOCK_X]; i++) t->weight[i] += nu[i];
  multiply_rates(sys, nu + nv, s->Dv, s->Q, s->G, 1.0, bar->q, to);
  return GA_OK;
}

/* q̄ at the end becomes that at the last node. */
static ga_status turn_positions(ga_sensitivity *se, const ga__tangent *bar)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, lambda = sys->start[GA_BLOCK_LAMBDA], nl = sys->size[GA_BLOCK_LAMBDA];
  double *kappa = t->full;
  clear(t->turn_q, sys->n);
  clear(t->by_q, nv);
  if (nl > 0) {
    clear(kappa, sys->n);
    ga__copy_numbers(kappa, bar->q, nv);
    const ga_status status = solve_turned(se, GA__COLLOC_OF_Q, kappa);
    if (status) return status;
    for (int i = 0; i < sys->n; i++)
      if (i < lambda || i >= lambda + nl) t->turn_q[i] = kappa[i];
    add(t->weight + lambda, 1.0, kappa + lambda, nl);
    for (int b = 0; b < sys->n_b; b++)
      bar->q[sys->b_col[b]] += s->Q[sys->b_entry[b]] * kappa[lambda + sys->b_row[b]];
  }
  add_move_turned(se, s->T_end, s->q.by, bar->q, t->by_q, NULL);
  return GA_OK;
}

/* z̄ of the nodes as they are kept, and of the rates of Ω, become those at the nodes. */
static void turn_nodes(ga_sensitivity *se, const ga__tangent *bar)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int n = sys->n, nv = sys->nv, M = rule->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  double *end = t->full;
  ga__copy_numbers(t->at_z, t->nodes, M * n);
  clear(t->at_z + M * n, n);
  ga__copy_numbers(end, t->nodes + M * n, n);
  for (int m = 1; m < M; m++) {
    add(end, rule->kappa[m], t->nodes + m * n, n);
    add(t->at_z + M * n, -rule->kappa[m], t->nodes + m * n, n);
  }
  add_state_of(sys, end, bar);
  add(t->in.v, 1.0, t->rate, nv);
  for (int m = 1; m <= M; m++) {
    add_blocks_turned(se, t->at_v + m * nv, s->inverse + m * blocks, t->rate + m * nv, 1.0, se->one);
    add_blocks_turned(se, t->at_omega + m * nv, s->turn + m * blocks, t->rate + m * nv, 0.0, se->one);
  }
  clear(t->nodes, GA__NODES * n);
  clear(t->rate, GA__NODES * nv);
}

/* What adds to derivatives by the matrix's point becomes derivatives by the last node, or by its prediction.
 */
static void turn_prediction(ga_sensitivity *se);

static ga_status turn_end(ga_sensitivity *se, ga__tangent *bar)
{
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const int n = sys->n, nv = sys->nv, nx = sys->size[GA_BLOCK_X], M = c->now->stages;
  const ga_point end = ga__state_point(&st->now);
  add(bar->vdot, 1.0, bar->a, nv);
  add(bar->xdot, 1.0, bar->w, nx);
  ga_status status = turn_place(se, &end, bar, t->weight, t->acceleration);
  add(t->at_x + M * nx, 1.0, bar->x, nx);
  if (!status) status = turn_velocities(se, bar);
  if (!status) status = turn_positions(se, bar);
  if (!status) status = turn_matrix(se, &s->q, t->turn_q);
  if (!status) status = turn_matrix(se, &s->v, t->turn_v);
  if (status || c->old_end) return status;
  if (c->made_early) {
    turn_prediction(se);
  } else {
    add(t->by_q, 1.0, t->q, nv);
    add(t->at_v + M * nv, 1.0, t->v, nv);
    add(t->at_z + M * n, 1.0, t->z, n);
  }
  add(t->at_x + M * nx, 1.0, t->x, nx);
  clear(t->q, nv);
  clear(t->v, nv);
  clear(t->z, n);
  clear(t->x, nx);
  return GA_OK;
}

/* ---- The prediction of the last node ---- */

/* z̄ as predicted becomes that at the beginning, and at the nodes of the step before: t->before. */
static void turn_predicted_z(ga_sensitivity *se, const double *dz)
{
  const ga_stepper *st = se->st;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__state *begin = &st->next;
  const ga__colloc_rule *old = ga__colloc_last_rule(st, begin);
  const double h_old = begin->scalar[GA__H_OLD];
  double *const rates[GA_N_BLOCKS] = {t->in.vdot_prev, t->in.lambda_prev, t->in.psi_prev, NULL, t->in.y_prev};
  const int n = sys->n, started = !(h_old > 0.0) && begin->scalar[GA__HAS_JERK] != 0.0;
  add_state_of(sys, dz, &t->in);
  for (int m = 1; m <= c->now->stages; m++) {
    double w[GA__NODES], part = 1.0;
    if (ga__colloc_predicts(old, st->h, h_old, c->now->c[m], w)) {
      part = w[old->stages];
      for (int l = old->first; l < old->stages; l++) add(t->before + l * n, w[l], dz + m * n, n);
    }
    for (int i = 0; i < n; i++) t->full[i] = part * dz[m * n + i];
    add_state_of(sys, t->full, &t->in);
    for (int b = 0; started && b < GA_N_BLOCKS; b++)
      if (rates[b]) add(rates[b], c->now->c[m] * st->h, dz + m * n + sys->start[b], sys->size[b]);
  }
}

static void turn_prediction(ga_sensitivity *se)
{
  enum { PASSES = 3 };
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(st)->now;
  const int n = sys->n, nv = sys->nv, M = rule->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  double *dz = s->change.further, *dv = s->change.v_inside, *omega = s->change.omega,
         *rate = s->change.omega_rate;
  clear(dz, GA__NODES * n);
  clear(dv, GA__NODES * nv);
  clear(omega, GA__NODES * nv);
  add(t->carried + M * nv, 1.0, t->q, nv);
  add_blocks_turned(se, omega + M * nv, s->T + M * blocks, t->q, 1.0, se->one);
  add(dv + M * nv, 1.0, t->v, nv);
  add(dz + M * n, 1.0, t->z, n);
  for (int pass = 0; pass < PASSES; pass++) {
    clear(rate, GA__NODES * nv);
    for (int m = 1; m <= M; m++) add_nodes_turned(rule, st->h, rule->A[m], omega + m * nv, rate, nv, nv);
    add(t->in.v, 1.0, rate, nv);
    clear(omega, GA__NODES * nv);
    for (int m = 1; m <= M; m++) {
      add_blocks_turned(se, dv + m * nv, s->inverse + m * blocks, rate + m * nv, 1.0, se->one);
      add_blocks_turned(se, omega + m * nv, s->turn + m * blocks, rate + m * nv, 0.0, se->one);
    }
  }
  for (int m = 1; m <= M; m++) {
    add(t->in.v, rule->c[m] * st->h, omega + m * nv, nv);
    add(t->in.v, 1.0, dv + m * nv, nv);
    add_nodes_turned(rule, st->h, rule->A[m], dv + m * nv, dz, n, nv);
  }
  turn_predicted_z(se, dz);
}

/* ---- The nodes ---- */

/* s->rhs := derivatives by the unknowns of all nodes, which those by v, x and Ω there add to. */
static void set_unknowns(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc_turned *t = s->turned;
  const ga_system *sys = st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(st)->now;
  const int n = sys->n, nv = sys->nv, nx = sys->size[GA_BLOCK_X], M = rule->stages;
  ga__colloc_mul_pairs(se, s->by_z, &s->twice, t->at_omega, s->room, 1);
  for (int m = 1; m <= M; m++) {
    double *rhs = s->rhs + (m - 1) * n;
    for (int i = 0; i < n; i++) rhs[i] = t->at_z[m * n + i] / st->h;
    add(rhs, st->h, s->room + m * nv, nv);
    for (int j = 1; j <= M; j++) {
      add(rhs, rule->A[j][m], t->at_v + j * nv, nv);
      add(rhs + sys->start[GA_BLOCK_X], rule->A[j][m], t->at_x + j * nx, nx);
    }
  }
}

/* Derivatives by the right-hand sides of all nodes: s->rhs. */
static ga_status solve_nodes(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const int nv = sys->nv, M = ga__colloc_of(st)->now->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  add(t->carried + M * nv, 1.0, t->by_q, nv);
  add_blocks_turned(se, t->at_omega + M * nv, s->T + M * blocks, t->by_q, 1.0, se->one);
  set_unknowns(se);
  const ga_status status = ga_lu_solve_t(s->matrix[M].lu, s->rhs);
  if (status) return status;
  return ga__first_bad(s->rhs, M * sys->n) >= 0 ? ga__refuse_sensitivity(se, "they are not finite", NULL)
                                                : GA_OK;
}

/* Derivatives by the equations of node m, and what comes through them from q at the beginning; at_omega:
 * those by Ω/h as far as it is known. */
static void turn_system(ga_sensitivity *se, int m)
{
  const ga_stepper *st = se->st;
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const size_t entries = (size_t)sys->n_entries, blocks = (size_t)ga_group_blocks_length(sys->group);
  const int n = sys->n, nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], lambda = sys->start[GA_BLOCK_LAMBDA];
  const double *Q = s->Q + m * entries, *G = s->G + m * entries, *rhs = s->rhs + (m - 1) * n;
  double *weight = t->weight + m * (n + nl), *carried = t->carried + m * nv, *by_omega = t->at_omega + m * nv;
  for (int i = 0; i < n; i++)
    t->full[i] = s->left_out[i] ? 0.0 : (i >= lambda && i < sys->start[GA_BLOCK_X] ? -1.0 : -st->h) * rhs[i];
  ga__copy_numbers(weight, t->full, n);
  clear(weight + lambda, nl);
  ga__copy_numbers(weight + n, t->full + lambda, nl);
  clear(t->by_q, nv);
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (col < nv) t->by_q[col] += (ga__is_of(sys, GA_BLOCK_LAMBDA, row) ? G[e] : Q[e]) * t->full[row];
  }
  add(carried, 1.0, t->by_q, nv);
  add_blocks_turned(se, by_omega, s->T + m * blocks, t->by_q, 1.0, se->one);
  for (int i = 0; i < nv; i++) by_omega[i] *= st->h;
  add_move_turned(se, s->T + m * blocks, ga__colloc_of(st)->exponent + m * nv, carried, t->in.q, NULL);
}

/* at_v, at_x: by v and x at the nodes become those by what of them is known, and s->room is that by the known
 * part of the equations of Ω. */
static void turn_known(ga_sensitivity *se)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], from_x = sys->start[GA_BLOCK_X], M = rule->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  ga__colloc_mul_pairs(se, s->solved, &s->unit, t->at_omega, s->room, 1);
  for (int m = 1; m <= M; m++) {
    const double *rhs = s->rhs + (m - 1) * sys->n;
    for (int e = 0; e < sys->n_entries; e++) {
      const int col = sys->col[e];
      const double by = ga__colloc_coefficient(se, m, e) * rhs[sys->row[e]];
      if (by != 0.0) *(col < nv ? &t->at_v[m * nv + col] : &t->at_x[m * nx + col - from_x]) -= by;
    }
    clear(t->by_q, nv);
    for (int j = 1; j <= M; j++) add(t->by_q, rule->A[j][m], s->room + j * nv, nv);
    add_blocks_turned(se, t->at_v + m * nv, s->inverse + m * blocks, t->by_q, 1.0, se->one);
  }
}

static void turn_integrals(ga_sensitivity *se, int m)
{
  const ga_stepper *st = se->st;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  const double A = ga__colloc_of(st)->now->A[m][0];
  const double *v = t->at_v + m * nv, *x = t->at_x + m * nx;
  add(t->in.v, 1.0, v, nv);
  add(t->in.v, A, se->colloc->room + m * nv, nv);
  add(t->in.vdot, st->h * A, v, nv);
  add(t->in.x, 1.0, x, nx);
  add(t->in.xdot, st->h * A, x, nx);
}

/* The transpose of ga__tangent_keep() and of what the end takes from the beginning. */
static void turn_history(const ga_system *sys, const ga__tangent *bar, const ga__tangent *in)
{
  const int *size = sys->size;
  const struct {
    double *at, *prev;
    const double *from, *from2;
    int n;
  } list[] = {{in->vdot, in->vdot_prev, bar->vdot_prev, bar->vdot_prev2, sys->nv},
              {in->lambda, in->lambda_prev, bar->lambda_prev, bar->lambda_prev2, size[GA_BLOCK_LAMBDA]},
              {in->psi, in->psi_prev, bar->psi_prev, bar->psi_prev2, size[GA_BLOCK_PSI]},
              {in->y, in->y_prev, bar->y_prev, bar->y_prev2, size[GA_BLOCK_Y]},
              {in->a, in->a_prev, bar->a_prev, NULL, sys->nv},
              {in->w, in->w_prev, bar->w_prev, NULL, size[GA_BLOCK_X]}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    add(list[k].at, 1.0, list[k].from, list[k].n);
    if (list[k].from2) add(list[k].prev, 1.0, list[k].from2, list[k].n);
  }
  add(in->eta, 1.0, bar->eta, size[GA_BLOCK_LAMBDA]);
}

static void clear_step(ga_sensitivity *se)
{
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int n = sys->n, nv = sys->nv, nx = sys->size[GA_BLOCK_X], nl = sys->size[GA_BLOCK_LAMBDA];
  memset(t->in.block, 0, se->n_tangent * sizeof *t->in.block);
  clear(t->at_v, GA__NODES * nv);
  clear(t->at_omega, GA__NODES * nv);
  clear(t->at_x, GA__NODES * nx);
  clear(t->carried, GA__NODES * nv);
  clear(t->weight, n + nl);
  clear(t->acceleration, sys->start[GA_BLOCK_X] - nv);
}

static ga_status reverse(ga_sensitivity *se, ga__tangent *bar)
{
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int M = ga__colloc_of(se->st)->now->stages;
  clear_step(se);
  turn_nodes(se, bar);
  add_state_of(sys, t->at_z, &t->in); /* of the beginning */
  ga_status status = turn_end(se, bar);
  if (!status) status = solve_nodes(se);
  if (status) return status;
  for (int m = 1; m <= M; m++) turn_system(se, m);
  turn_known(se);
  for (int m = 1; m <= M; m++) turn_integrals(se, m);
  turn_history(sys, bar, &t->in);
  memcpy(bar->block, t->in.block, se->n_tangent * sizeof *bar->block);
  double *const nodes = t->nodes; /* those of the step before are its own now */
  t->nodes = t->before, t->before = nodes;
  return GA_OK;
}

/* ---- Parameters ---- */

static double product(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* *sum += weight · derivatives of the equations at p by parameter j */
static ga_status gather_at(ga_sensitivity *se, int j, const ga_point *p, const double *base,
                           const double *weight, double *sum)
{
  const int all = se->st->sys->n + se->st->sys->size[GA_BLOCK_LAMBDA];
  if (!(ga__max_abs(weight, all, NULL) > 0.0)) return GA_OK;
  const ga_status status = ga__colloc_by_parameter(se, j, p, base, NULL, se->g);
  *sum += status ? 0.0 : product(weight, se->g, all);
  return status;
}

static ga_status gather_accelerations(ga_sensitivity *se, int j, const ga_point *p, const double *weight,
                                      double *sum)
{
  const int m = se->st->sys->start[GA_BLOCK_X] - se->st->sys->nv;
  double *by = se->colloc->end;
  if (!(ga__max_abs(weight, m, NULL) > 0.0)) return GA_OK;
  clear(by, m);
  const ga_status status = ga__colloc_accelerate_parameter(se, j, p, NULL, by);
  *sum += status ? 0.0 : product(weight, by, m);
  return status;
}

/* Through accelerations of constraints, and the matrix of projections. */
static ga_status gather_constraints(ga_sensitivity *se, int j, double *sum)
{
  const ga__colloc_linear *s = se->colloc;
  const ga__colloc_turned *t = s->turned;
  const ga_system *sys = se->st->sys;
  const ga_point end = ga__state_point(&se->st->now);
  ga_status status = gather_accelerations(se, j, &end, t->acceleration, sum);
  if (!status) status = ga__colloc_turn_by_parameter(se, j);
  if (!status) *sum += product(t->turn_q, s->q.turn, sys->n) + product(t->turn_v, s->v.turn, sys->n);
  return status;
}

static ga_status gather(ga_sensitivity *se, int j, double *sum)
{
  const ga_stepper *st = se->st;
  const ga__colloc_linear *s = se->colloc;
  const ga__colloc_turned *t = s->turned;
  const ga_system *sys = st->sys;
  const int all = sys->n + sys->size[GA_BLOCK_LAMBDA], M = ga__colloc_of(st)->now->stages;
  const ga_point end = ga__state_point(&st->now);
  ga_status status = gather_at(se, j, &end, s->base, t->weight, sum);
  for (int m = 1; m <= M && !status; m++) {
    const ga_point p = ga__colloc_last_point(st, m);
    status = gather_at(se, j, &p, s->base + m * all, t->weight + m * all, sum);
  }
  return status ? status : gather_constraints(se, j, sum);
}

/* ---- Within the step ---- */

static ga_status look(ga_sensitivity *se, ga__inner_seed *in, double time, ga_state *out)
{
  ga_stepper *st = se->st;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const int *start = sys->start;
  const double begin = st->next.scalar[GA__T], part = (time - begin) / (st->now.scalar[GA__T] - begin);
  double *z = t->place_z;
  (void)out;
  ga_status status = ga__colloc_interpolate(st, part,
                                            &(ga__inside){.q = in->q,
                                                          .v = in->v,
                                                          .vdot = z,
                                                          .lambda = z + start[GA_BLOCK_LAMBDA],
                                                          .psi = z + start[GA_BLOCK_PSI],
                                                          .x = in->x,
                                                          .xdot = z + start[GA_BLOCK_X],
                                                          .y = z + start[GA_BLOCK_Y]});
  t->solved = part > 0.0 && part < 1.0 && ga__colloc_of(st)->inside_solved;
  if (!status && st->red.null.r > 0)
    status = ga__refuse_sensitivity(se, "redundant constraints, and states within steps of collocation",
                                    "forward derivatives have no such limit");
  t->place = (ga_point){time,
                        in->q,
                        in->v,
                        z,
                        z + start[GA_BLOCK_LAMBDA],
                        z + start[GA_BLOCK_PSI],
                        in->x,
                        z + start[GA_BLOCK_Y],
                        0,
                        NULL};
  if (!status && t->solved) status = ga__colloc_place_make(se, &t->place);
  double *const to[GA_N_BLOCKS] = {in->vdot, in->lambda, in->psi, NULL, in->y};
  for (int b = 0; b < GA_N_BLOCKS && !status; b++)
    if (to[b]) ga__copy_numbers(to[b], z + start[b], sys->size[b]);
  return status;
}

/* By both ends, where the place is one of them. */
static void add_at_end(ga_sensitivity *se, const ga__tangent *bar, const ga__tangent *to)
{
  for (size_t i = 0; i < se->n_tangent; i++) to->block[i] += bar->block[i];
}

static ga_status inside(ga_sensitivity *se, ga__inner_seed *in, double time, ga__tangent *end)
{
  ga_stepper *st = se->st;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = st->sys;
  const double begin = st->next.scalar[GA__T], part = (time - begin) / (st->now.scalar[GA__T] - begin);
  ga__tangent *bar = &in->bar, *first = &in->before;
  ga_status status = GA_OK;
  in->used = 1;
  clear(t->place_weight, sys->n + sys->size[GA_BLOCK_LAMBDA]);
  clear(t->place_acceleration, sys->start[GA_BLOCK_X] - sys->nv);
  if (!(part > 0.0 && part < 1.0)) {
    add_at_end(se, bar, part > 0.0 ? end : first);
    return GA_OK;
  }
  if (t->solved) status = turn_place(se, &t->place, bar, t->place_weight, t->place_acceleration);
  if (status) return status;
  ga__colloc_bars to = t->bars;
  to.q[0] = first->q, to.q[1] = end->q;
  to.v[0] = first->v, to.v[1] = end->v;
  to.x[0] = first->x, to.x[1] = end->x;
  to.nodes = t->nodes, to.before = t->before, to.rate = t->rate;
  ga__colloc_interpolate_turned(st, part,
                                &(ga__inside){.q = bar->q,
                                              .v = bar->v,
                                              .vdot = t->solved ? NULL : bar->vdot,
                                              .lambda = t->solved ? NULL : bar->lambda,
                                              .psi = t->solved ? NULL : bar->psi,
                                              .x = bar->x,
                                              .y = t->solved ? NULL : bar->y},
                                &to);
  return GA_OK;
}

/* Values of the equations at the place are s->base's first. */
static ga_status gather_inside(ga_sensitivity *se, int j, double *sum)
{
  const ga__colloc_turned *t = se->colloc->turned;
  const ga_status status = gather_at(se, j, &t->place, se->colloc->base, t->place_weight, sum);
  return status ? status : gather_accelerations(se, j, &t->place, t->place_acceleration, sum);
}

/* ---- For all parameters at once ---- */

/* By equations at p with these weights; none by reactions of B. */
static int set_point(ga_sensitivity *se, const ga_point *p, const double *weight, ga_pullback *by)
{
  const ga__colloc_linear *s = se->colloc;
  se->begin = ga__state_point(&se->st->next);
  se->end = *p;
  *by = (ga_pullback){&se->begin, &se->end, weight, weight + se->st->sys->n, s->zero, s->zero};
  return 1;
}

/* By accelerations of constraints at p: number i of the points along its motion. They may have no weight. */
static int set_along(ga_sensitivity *se, int i, const ga_point *p, const double *acceleration,
                     ga_pullback *by)
{
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const int nl = sys->size[GA_BLOCK_LAMBDA], m = sys->start[GA_BLOCK_X] - sys->nv;
  if (i >= N_ALONG || !(ga__max_abs(acceleration, m, NULL) > 0.0)) return 0;
  const double way = find_way(se, p), factor = -ALONG[i] / (12.0 * way);
  const ga_point at = move_along(se, p, i * way);
  clear(t->pulled, sys->n + nl);
  for (int k = 0; k < m; k++) t->pulled[k < nl ? sys->n + k : sys->nv + k] = factor * acceleration[k];
  return set_point(se, &at, t->pulled, by);
}

/* By δK S: before the move of the matrix's point, and behind it. */
static int set_turn(ga_sensitivity *se, const ga__colloc_move *m, const double *b, double sign,
                    ga_pullback *by)
{
  const ga__colloc_linear *s = se->colloc;
  ga__colloc_turned *t = se->colloc->turned;
  const ga_system *sys = se->st->sys;
  const double step = size_of_move(se, m, b);
  clear(t->pulled, sys->n + sys->size[GA_BLOCK_LAMBDA]);
  const ga_point p = move_matrix_point(se, m->full, sign * step);
  for (int i = 0; i < sys->n && step > 0.0; i++)
    t->pulled[i] = 0.5 * sign / step * b[i] * (ga__is_of(sys, GA_BLOCK_PSI, i) ? 1.0 / s->shift : 1.0);
  return set_point(se, &p, t->pulled, by);
}

static int point(ga_sensitivity *se, int i, ga_pullback *by)
{
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc_turned *t = s->turned;
  const int M = ga__colloc_of(st)->now->stages, all = st->sys->n + st->sys->size[GA_BLOCK_LAMBDA],
            moves = st->sys->start[GA_BLOCK_X] > st->sys->nv;
  const ga_point end = ga__state_point(&st->now), node = i <= M && i > 0 ? ga__colloc_last_point(st, i) : end;
  if (i <= M) return set_point(se, &node, t->weight + i * all, by);
  if (!moves) return 0;
  if (i <= M + 2) return set_turn(se, &s->q, t->turn_q, i == M + 1 ? 1.0 : -1.0, by);
  if (i <= M + 4) return set_turn(se, &s->v, t->turn_v, i == M + 3 ? 1.0 : -1.0, by);
  return set_along(se, i - M - 5, &end, t->acceleration, by);
}

static int point_inside(ga_sensitivity *se, int i, ga_pullback *by)
{
  const ga__colloc_turned *t = se->colloc->turned;
  if (!t->solved) return 0;
  if (i == 0) return set_point(se, &t->place, t->place_weight, by);
  return set_along(se, i - 1, &t->place, t->place_acceleration, by);
}

/* ---- Repeated steps ---- */

/* Its order, and the kind of its sweeps. */
static int course(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return c->now->order + 16 * (c->in_order + 2 * c->damps);
}

static int has_new_factors(const ga_stepper *st)
{
  const ga__colloc *c = ga__colloc_of(st);
  return !c->old_factors || !c->old_end;
}

static void follow(ga_stepper *st, int course)
{
  ga__colloc_of(st)->course = course;
}

/* What the derivatives of the last step and its dense output are made from. */
enum { N_ARRAYS = 12, N_NUMBERS = 11 };

typedef struct kept {
  double *at;
  size_t n;
} kept;

static size_t list_arrays(const ga_stepper *st, kept list[N_ARRAYS])
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const size_t n = (size_t)sys->n, nv = (size_t)sys->nv, nq = (size_t)sys->nq,
               nx = (size_t)sys->size[GA_BLOCK_X];
  const kept all[N_ARRAYS] = {{c->z, GA__NODES * n},
                              {c->v, GA__NODES * nv},
                              {c->x, GA__NODES * nx},
                              {c->exponent, GA__NODES * nv},
                              {c->rate, GA__NODES * nv},
                              {c->q, GA__NODES * nq},
                              {c->last, n},
                              {c->nodes, GA__NODES * n},
                              {c->made_q, nq},
                              {c->made_v, nv},
                              {c->made_z, n},
                              {c->made_x, nx}};
  size_t sum = 0;
  for (int i = 0; i < N_ARRAYS; i++) {
    list[i] = all[i];
    sum += all[i].n;
  }
  return sum;
}

static size_t count_kept(const ga_stepper *st)
{
  kept list[N_ARRAYS];
  return list_arrays(st, list) + N_NUMBERS + GA_N_BLOCKS;
}

static void keep(const ga_stepper *st, double *to)
{
  const ga__colloc *c = ga__colloc_of(st);
  kept list[N_ARRAYS];
  const double number[N_NUMBERS] = {c->now->order, c->in_order, c->damps,      c->old_end,
                                    c->made_early, c->made_t,   c->made_shift, c->size_v,
                                    c->size_x,     c->own_end,  st->h};
  list_arrays(st, list);
  for (int i = 0; i < N_ARRAYS; i++) {
    if (list[i].n) memcpy(to, list[i].at, list[i].n * sizeof *to);
    to += list[i].n;
  }
  memcpy(to, number, sizeof number);
  memcpy(to + N_NUMBERS, st->size, sizeof st->size);
}

static void recall(ga_stepper *st, const double *from)
{
  ga__colloc *c = ga__colloc_of(st);
  kept list[N_ARRAYS];
  list_arrays(st, list);
  for (int i = 0; i < N_ARRAYS; i++) {
    if (list[i].n) memcpy(list[i].at, from, list[i].n * sizeof *from);
    from += list[i].n;
  }
  c->now = &c->rule[(int)from[0]];
  c->in_order = from[1] != 0.0, c->damps = from[2] != 0.0;
  c->old_end = from[3] != 0.0, c->made_early = from[4] != 0.0;
  c->made_t = from[5], c->made_shift = from[6];
  c->size_v = from[7], c->size_x = from[8];
  c->own_end = from[9] != 0.0;
  st->h = from[10];
  memcpy(st->size, from + N_NUMBERS, sizeof st->size);
}

/* Where the matrix of the end was made, which further steps may use. */
static size_t count_before(const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  return (size_t)(sys->nq + sys->nv + sys->n + sys->size[GA_BLOCK_X]) + 2;
}

static void keep_before(const ga_stepper *st, double *to)
{
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  ga__copy_numbers(to, c->made_q, sys->nq);
  ga__copy_numbers(to += sys->nq, c->made_v, sys->nv);
  ga__copy_numbers(to += sys->nv, c->made_z, sys->n);
  ga__copy_numbers(to += sys->n, c->made_x, sys->size[GA_BLOCK_X]);
  to += sys->size[GA_BLOCK_X];
  to[0] = c->made_t, to[1] = c->made_shift;
}

static void recall_before(ga_stepper *st, const double *from)
{
  const ga_system *sys = st->sys;
  ga__colloc *c = ga__colloc_of(st);
  ga__copy_numbers(c->made_q, from, sys->nq);
  ga__copy_numbers(c->made_v, from += sys->nq, sys->nv);
  ga__copy_numbers(c->made_z, from += sys->nv, sys->n);
  ga__copy_numbers(c->made_x, from += sys->n, sys->size[GA_BLOCK_X]);
  from += sys->size[GA_BLOCK_X];
  c->made_t = from[0], c->made_shift = from[1];
}

/* ---- The family ---- */

const ga__turned ga__colloc_turned_step = {.create = create,
                                           .course = course,
                                           .follow = follow,
                                           .has_new_factors = has_new_factors,
                                           .kept = count_kept,
                                           .keep = keep,
                                           .recall = recall,
                                           .kept_before = count_before,
                                           .keep_before = keep_before,
                                           .recall_before = recall_before,
                                           .begin = begin,
                                           .reverse = reverse,
                                           .gather = gather,
                                           .point = point,
                                           .gather_inside = gather_inside,
                                           .point_inside = point_inside,
                                           .look = look,
                                           .inside = inside};
