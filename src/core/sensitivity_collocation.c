/* The derivative of a step by collocation. At the nodes m = 1 ... M all equations are linear in derivatives:
 *
 *   δv_m = δv + h Σ A_mj δvdot_j        δx_m = δx + h Σ A_mj δxdot_j
 *   δΩ_m = h Σ A_mj (T_j⁻¹ δv_j + K_j δΩ_j)      δq_m = δq + T_m (δΩ_m − [Ω_m, δq])
 *   r_q δq_m + r_v δv_m + r_vdot δvdot_m + r_λ δλ_m + r_ψ δψ_m + r_x δx_m + r_y δy_m + ∂r/∂p = 0
 *
 * with r = (M vdot − f, B v + Φ_t, k, xdot − s, y − o), T_m = T(Ω_m), K_m the derivative of T(Ω)⁻¹ v_m by Ω,
 * and [.,.] the bracket of the group's side. They are solved as they are, by the factors of one sparse matrix
 * with the unknowns h δz_m of all nodes, from which the others are eliminated: sweeps, by which a step is
 * solved, would have to go on to rounding for each parameter. The end of the step is in
 * sensitivity_collocation_end.c. */
#include "core/sensitivity_collocation.h"
#include "core/arrays.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

/* ---- Memory ---- */

static ga_status variation_create(ga_sensitivity *se, ga__colloc_variation *of)
{
  const ga_system *sys = se->st->sys;
  const size_t n = (size_t)sys->n, nv = (size_t)sys->nv, nx = (size_t)sys->size[GA_BLOCK_X];
  const ga__array part[] = {{&of->nodes, GA__NODES * n},
                            {&of->before, GA__NODES * n},
                            {&of->rate, GA__NODES * nv},
                            {&of->q, nv},
                            {&of->v, nv},
                            {&of->z, n},
                            {&of->x, nx}};
  return ga__arrays_create(se->ctx, GA__ARRAYS(part), "sensitivities", &of->block, &se->colloc->n_variation);
}

static void variation_clear(ga_sensitivity *se, ga__colloc_variation *of)
{
  memset(of->block, 0, se->colloc->n_variation * sizeof *of->block);
  of->t = 0.0;
}

/* For each coordinate its block of the group, and where that is packed. */
static ga_status tables_create(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  ga__colloc_linear *s = se->colloc;
  const int nv = sys->nv;
  s->table = ga__alloc(se->ctx, 3 * (size_t)nv, sizeof *s->table);
  s->left_out = ga__alloc(se->ctx, (size_t)sys->n, sizeof *s->left_out);
  if (!s->table || !s->left_out) return ga__no_memory(se->ctx, "sensitivities");
  s->block_at = s->table, s->block_size = s->table + nv, s->block_place = s->table + 2 * nv;
  ga__block_tables(sys->group, s->block_at, s->block_size, s->block_place);
  return GA_OK;
}

static ga_status arrays_create(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  ga__colloc_linear *s = se->colloc;
  ga__colloc_change *c = &s->change;
  const size_t n = (size_t)sys->n, nv = (size_t)sys->nv, nq = (size_t)sys->nq, e = (size_t)sys->n_entries,
               nx = (size_t)sys->size[GA_BLOCK_X], nl = (size_t)sys->size[GA_BLOCK_LAMBDA],
               np = (size_t)sys->size[GA_BLOCK_PSI], blocks = (size_t)ga_group_blocks_length(sys->group);
  const ga__array part[] = {{&s->Q, GA__NODES * e},
                            {&s->G, GA__NODES * e},
                            {&s->Dv, GA__NODES * e},
                            {&s->Dm, GA__NODES * e},
                            {&s->T, GA__NODES * blocks},
                            {&s->inverse, GA__NODES * blocks},
                            {&s->turn, GA__NODES * blocks},
                            {&s->base, GA__NODES * (n + nl)},
                            {&s->solved, GA__NODES * GA__NODES * blocks},
                            {&s->by_z, GA__NODES * GA__NODES * blocks},
                            {&s->to_q, GA__NODES * GA__NODES * blocks},
                            {&s->known_omega, GA__NODES * nv},
                            {&s->room, GA__NODES * nv},
                            {&s->dz, GA__NODES * n},
                            {&s->dv, GA__NODES * nv},
                            {&s->dx, GA__NODES * nx},
                            {&s->domega, GA__NODES * nv},
                            {&s->carried, GA__NODES * nv},
                            {&s->dq, nv},
                            {&s->rhs, GA__MOST_STAGES * n},
                            {&s->end, n},
                            {&s->q.by, nv},
                            {&s->q.full, n},
                            {&s->q.turn, n},
                            {&s->v.by, nv},
                            {&s->v.full, n},
                            {&s->v.turn, n},
                            {&s->T_end, blocks},
                            {&s->D, e},
                            {&s->Q_end, e},
                            {&s->zero, e},
                            {&s->at_q, nq},
                            {&s->at_v, nv},
                            {&s->at_z, n},
                            {&s->at_x, nx},
                            {&s->at_D, e},
                            {&s->at_Q, e},
                            {&s->at_G, e},
                            {&s->moved_z, n},
                            {&s->moved_x, nx},
                            {&s->inside_q, nq},
                            {&s->inside_v, nv},
                            {&s->acceleration, nl + np},
                            {&s->rates, nl},
                            {&c->further, GA__NODES * n},
                            {&c->gap_v, nv},
                            {&c->gap_x, nx},
                            {&c->one, nv},
                            {&c->two, nv},
                            {&c->three, nv},
                            {&c->v_inside, GA__NODES * nv},
                            {&c->omega, GA__NODES * nv},
                            {&c->omega_rate, GA__NODES * nv},
                            {&c->part, nv},
                            {&c->T, blocks}};
  return ga__arrays_create(se->ctx, GA__ARRAYS(part), "sensitivities", &s->block, NULL);
}

static void matrix_destroy(ga_context *ctx, ga__colloc_matrix *k)
{
  ga_lu_destroy(&k->lu);
  ga_sparse_destroy(ctx, &k->K);
  ga__free(ctx, k->row);
  ga__free(ctx, k->col);
  ga__free(ctx, k->place);
  memset(k, 0, sizeof *k);
}

static void destroy(ga_sensitivity *se)
{
  ga__colloc_linear *s = se->colloc;
  if (!s) return;
  ga__colloc_turned_destroy(se);
  for (int j = 0; s->of && j <= se->n; j++) ga__free(se->ctx, s->of[j].block);
  for (int m = 0; m < GA__NODES; m++) matrix_destroy(se->ctx, &s->matrix[m]);
  for (int i = 0; i < GA__COLLOC_N_ENDS; i++) ga_lu_destroy(&s->lu[i]);
  ga__assembly_destroy(&s->assembly);
  ga__free(se->ctx, s->of);
  ga__free(se->ctx, s->table);
  ga__free(se->ctx, s->left_out);
  ga__free(se->ctx, s->block);
  ga__free(se->ctx, s);
  se->colloc = NULL;
}

/* ---- The matrix of the nodes ---- */

/* Counts, lists or adds one term. */
static void put(ga__colloc_matrix *k, int row, int col, double value)
{
  if (k->K)
    k->K->value[k->place[k->next]] += value;
  else if (k->row)
    k->row[k->next] = row, k->col[k->next] = col;
  k->next++;
}

/* value times δq of coordinate `col` of node m, by h vdot at all nodes. */
static void put_q(ga_sensitivity *se, ga__colloc_matrix *k, const ga__colloc_rule *rule, int row, int m,
                  int col, double value)
{
  const ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int size = s->block_size[col], at = s->block_at[col];
  for (int j = 1; j <= rule->stages; j++) {
    const double *to_q = s->to_q + ga__colloc_pair(sys, m, j) + s->block_place[col] + (col - at) * size;
    if (size == 0) put(k, row, (j - 1) * sys->n + col, value * s->twice.of[m][j]);
    for (int i = 0; i < size; i++) put(k, row, (j - 1) * sys->n + at + i, value * to_q[i]);
  }
}

double ga__colloc_coefficient(const ga_sensitivity *se, int m, int e)
{
  const ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const size_t at = (size_t)m * (size_t)sys->n_entries + (size_t)e;
  const int row = sys->row[e], col = sys->col[e], of_phi = ga__is_of(sys, GA_BLOCK_LAMBDA, row);
  const double scale = ga__is_of(sys, GA_BLOCK_PSI, row) ? 1.0 : se->st->h;
  if (s->left_out[row]) return 0.0;
  if (of_phi) return col < sys->nv ? s->Q[at] : 0.0;
  return col < sys->nv || ga__is_of(sys, GA_BLOCK_X, col) ? scale * s->Dv[at] : 0.0;
}

/* The equations of the system at node m; those with forces, rates and outputs times h. */
static void put_system(ga_sensitivity *se, ga__colloc_matrix *k, const ga__colloc_rule *rule, int m)
{
  const ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const size_t entries = (size_t)sys->n_entries;
  const double h = se->st->h, *Q = s->Q + m * entries, *G = s->G + m * entries, *Dv = s->Dv + m * entries,
               *Dm = s->Dm + m * entries;
  const int first = (m - 1) * sys->n;
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = first + sys->row[e], col = sys->col[e],
              of_phi = ga__is_of(sys, GA_BLOCK_LAMBDA, sys->row[e]),
              of_k = ga__is_of(sys, GA_BLOCK_PSI, sys->row[e]),
              of_x = !of_phi && ga__is_of(sys, GA_BLOCK_X, col);
    const double keep = s->left_out[sys->row[e]] ? 0.0 : 1.0; /* constraints alone are */
    const double by_q = keep * h *
                        (of_phi ? G[e]
                         : of_k ? Q[e]
                                : h * Q[e]),
                 by = ga__colloc_coefficient(se, m, e);
    if (col < sys->nv) put_q(se, k, rule, row, m, col, by_q);
    if (col < sys->nv && !of_phi && !of_k) put(k, row, first + col, Dm[e]);
    if (col >= sys->nv && !of_x && !of_phi && !of_k) put(k, row, first + col, Dv[e]);
    for (int j = 1; (col < sys->nv || of_x) && j <= rule->stages; j++)
      put(k, row, (j - 1) * sys->n + col, by * rule->A[m][j]);
  }
  for (int i = sys->start[GA_BLOCK_X]; i < sys->n; i++) put(k, first + i, first + i, 1.0);
  for (int i = sys->nv; s->leaves_out && i < sys->start[GA_BLOCK_X]; i++)
    put(k, first + i, first + i, s->left_out[i]); /* its multiplier is held */
}

static void put_all(ga_sensitivity *se, ga__colloc_matrix *k, const ga__colloc_rule *rule)
{
  k->next = 0;
  for (int m = 1; m <= rule->stages; m++) put_system(se, k, rule, m);
}

/* Its pattern: at the beginning where the order is given, else at the first step with so many nodes. */
static ga_status matrix_create(ga_sensitivity *se, const ga__colloc_rule *rule)
{
  ga__colloc_matrix *k = &se->colloc->matrix[rule->stages];
  const int size = rule->stages * se->st->sys->n;
  put_all(se, k, rule);
  k->n_terms = k->next;
  k->row = ga__alloc(se->ctx, (size_t)k->n_terms, sizeof *k->row);
  k->col = ga__alloc(se->ctx, (size_t)k->n_terms, sizeof *k->col);
  k->place = ga__alloc(se->ctx, (size_t)k->n_terms, sizeof *k->place);
  ga_status status = k->row && k->col && k->place ? GA_OK : ga__no_memory(se->ctx, "sensitivities");
  if (!status) {
    put_all(se, k, rule);
    status = ga_sparse_create(se->ctx, size, size, k->n_terms, k->row, k->col, k->place, &k->K);
  }
  if (!status) status = ga_lu_create(se->ctx, k->K, se->st->opts.lu, &k->lu);
  ga__free(se->ctx, k->row);
  ga__free(se->ctx, k->col);
  k->row = k->col = NULL;
  if (status) matrix_destroy(se->ctx, k);
  return status;
}

/* Accelerations of constraints, and the matrix of projections, are differenced by the systems of a parameter.
 */
static ga_status check_systems(ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  if (sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI] == 0) return GA_OK;
  for (int j = 0; j < se->n; j++)
    if (se->parameter[j].given.derivative && !se->parameter[j].at[0].sys)
      return ga__refuse_parameter(
          se, j, "steps of collocation need the systems at its four values, a callback alone does not do",
          "give the systems too");
  return GA_OK;
}

static ga_status create(ga_sensitivity *se)
{
  const ga_status refused = check_systems(se);
  if (refused) return refused;
  ga__colloc_linear *s = se->colloc = ga__alloc(se->ctx, 1, sizeof *s);
  if (!s) return ga__no_memory(se->ctx, "sensitivities");
  s->leaves_out = se->st->red.plain_refused;
  s->of = ga__alloc(se->ctx, (size_t)se->n + 1, sizeof *s->of);
  ga_status status = s->of ? tables_create(se) : ga__no_memory(se->ctx, "sensitivities");
  if (!status) status = arrays_create(se);
  for (int j = 0; !status && j <= se->n; j++) status = variation_create(se, &s->of[j]);
  if (!status) status = ga__colloc_end_create(se);
  ga__colloc_rule rule;
  return !status && ga__colloc_rule_make(se->st->opts.order, &rule) ? matrix_create(se, &rule) : status;
}

/* ---- The linear equations of a step ---- */

ga_point ga__colloc_last_point(const ga_stepper *st, int m)
{
  const ga__colloc *c = ga__colloc_of(st);
  ga_point p = ga__colloc_point(st, m);
  p.t = m == c->now->stages ? st->now.scalar[GA__T] : st->next.scalar[GA__T] + c->now->c[m] * st->h;
  return p;
}

ga_status ga__colloc_differentiate(ga_sensitivity *se, const ga_point *p, double *Dm, double *Dv, double *Q,
                                   double *G)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  /* Without states and outputs, accelerations enter by M alone. */
  const unsigned by_vdot = sys->n == sys->start[GA_BLOCK_X] ? GA_WANT_D | GA_WANT_M : GA_WANT_D;
  ga_jacobian J = {by_vdot, 0.0, 1.0, Dm, Q, G};
  const ga_status status = ga__jacobian(&st->deriv, p, &J);
  if (status) return status;
  J = (ga_jacobian){GA_WANT_D | GA_WANT_Q | GA_WANT_B | GA_WANT_G, 1.0, 0.0, Dv, Q, G};
  return ga__jacobian(&st->deriv, p, &J);
}

/* turn := derivative of T(Ω)⁻¹ v by Ω, packed, by fourth-order differences. */
static void differentiate_rate(ga_sensitivity *se, const double *omega, const double *v, double *turn)
{
  static const double AT[] = {1.0, -1.0, 2.0, -2.0}, WEIGHT[] = {8.0, -8.0, -1.0, 1.0};
  const double step = 1e-3;
  const ga_group *g = se->st->sys->group;
  const int nv = ga_group_nv(g), n_blocks = ga_group_n_blocks(g);
  int most = 0, start;
  memset(turn, 0, (size_t)ga_group_blocks_length(g) * sizeof *turn);
  for (int b = 0; b < n_blocks; b++) {
    const int size = ga_group_block(g, b, &start);
    most = size > most ? size : most;
  }
  for (int col = 0; col < most; col++)
    for (int k = 0; k < 4; k++) {
      ga__copy_numbers(se->one, omega, nv);
      for (int b = 0; b < n_blocks; b++)
        if (ga_group_block(g, b, &start) > col) se->one[start + col] += AT[k] * step;
      ga_group_exponent_rate(g, se->two, se->one, v);
      double *to = turn;
      for (int b = 0; b < n_blocks; b++) {
        const int size = ga_group_block(g, b, &start);
        for (int i = 0; i < size && col < size; i++)
          to[i * size + col] += WEIGHT[k] / (12.0 * step) * se->two[start + i];
        to += size * size;
      }
    }
}

static ga_status differentiate_node(ga_sensitivity *se, int m)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc *c = ga__colloc_of(st);
  const ga_system *sys = st->sys;
  const size_t entries = (size_t)sys->n_entries, blocks = (size_t)ga_group_blocks_length(sys->group);
  const int all = sys->n + sys->size[GA_BLOCK_LAMBDA];
  const double *omega = c->exponent + m * sys->nv;
  const ga_point p = ga__colloc_last_point(st, m);
  ga_status status = ga__colloc_differentiate(se, &p, s->Dm + m * entries, s->Dv + m * entries,
                                              s->Q + m * entries, s->G + m * entries);
  if (!status && ga__needs_base(se)) status = ga__parameter_base(se, &p);
  ga__copy_numbers(s->base + m * all, se->base, all);
  ga_group_tangent(sys->group, s->T + m * blocks, omega);
  ga_group_tangent_inverse(sys->group, s->inverse + m * blocks, omega);
  differentiate_rate(se, omega, c->v + m * sys->nv, s->turn + m * blocks);
  return status;
}

/* Matrices with or without exclusions, and which rows are left out: those that follow from others at the end.
 */
static ga_status leave_out(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__null *null = &st->red.null;
  const int leaves_out = null->r > 0;
  memset(s->left_out, 0, (size_t)st->sys->n);
  for (int k = 0; k < null->r; k++) s->left_out[st->sys->nv + null->row[k]] = 1;
  if (leaves_out == s->leaves_out) return GA_OK;
  s->leaves_out = leaves_out;
  for (int m = 0; m < GA__NODES; m++) matrix_destroy(se->ctx, &s->matrix[m]);
  return ga__colloc_end_create(se);
}

/* ---- Ω at the nodes ----
 * Ω_m/h − h Σ A_mj K_j Ω_j/h = Σ A_mj T_j⁻¹ v_j, v_j = known + Σ A_jl h vdot_l */

enum { MOST_SIZE = 6, MOST_ROWS = GA__MOST_STAGES * MOST_SIZE };

/* W := W⁻¹ of n rows, by Gauss and Jordan. 0: it is singular. */
static int invert(double W[MOST_ROWS][2 * MOST_ROWS], int n)
{
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) W[i][n + k] = i == k;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(W[i][k]) > fabs(W[best][k])) best = i;
    if (!(fabs(W[best][k]) > 0.0)) return 0;
    for (int l = 0; l < 2 * n; l++) {
      const double held = W[k][l];
      W[k][l] = W[best][l], W[best][l] = held;
    }
    for (int l = 2 * n - 1; l >= k; l--) W[k][l] /= W[k][k];
    for (int i = 0; i < n; i++)
      for (int l = 2 * n - 1; i != k && l >= k; l--) W[i][l] -= W[i][k] * W[k][l];
  }
  return 1;
}

/* out += a b, of blocks of one size. */
static void add_product(double *out, const double *a, const double *b, int size)
{
  for (int i = 0; i < size; i++)
    for (int l = 0; l < size; l++)
      for (int k = 0; k < size; k++) out[i * size + l] += a[i * size + k] * b[k * size + l];
}

/* to_q, by_z of the group's block of this size, packed at `place`, from `solved`. */
static void multiply_block(ga_sensitivity *se, const ga__colloc_rule *rule, int size, size_t place)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group),
               bytes = (size_t)(size * size) * sizeof(double);
  const int M = rule->stages;
  for (int m = 1; m <= M; m++)
    for (int j = 1; j <= M; j++) { /* first Σ A_ml T_l⁻¹ A_lj */
      double *to = s->to_q + ga__colloc_pair(sys, m, j) + place;
      memset(to, 0, bytes);
      for (int l = 1; l <= M; l++)
        for (int i = 0; i < size * size; i++)
          to[i] += rule->A[m][l] * rule->A[l][j] * s->inverse[(size_t)l * blocks + place + (size_t)i];
    }
  for (int m = 1; m <= M; m++)
    for (int j = 1; j <= M; j++) {
      double *to = s->by_z + ga__colloc_pair(sys, m, j) + place;
      memset(to, 0, bytes);
      for (int l = 1; l <= M; l++)
        add_product(to, s->solved + ga__colloc_pair(sys, m, l) + place,
                    s->to_q + ga__colloc_pair(sys, l, j) + place, size);
    }
  for (int m = 1; m <= M; m++)
    for (int j = 1; j <= M; j++) {
      double *to = s->to_q + ga__colloc_pair(sys, m, j) + place;
      memset(to, 0, bytes);
      add_product(to, s->T + (size_t)m * blocks + place, s->by_z + ga__colloc_pair(sys, m, j) + place, size);
    }
}

/* `solved` of it. 0: its matrix is singular. */
static int solve_block(ga_sensitivity *se, const ga__colloc_rule *rule, int size, size_t place)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  const int M = rule->stages, n = M * size;
  double W[MOST_ROWS][2 * MOST_ROWS];
  for (int m = 0; m < M; m++)
    for (int j = 0; j < M; j++)
      for (int i = 0; i < size * size; i++)
        W[m * size + i / size][j * size + i % size] =
            (m == j && i / size == i % size) -
            se->st->h * rule->A[m + 1][j + 1] * s->turn[(size_t)(j + 1) * blocks + place + (size_t)i];
  if (!invert(W, n)) return 0;
  for (int m = 1; m <= M; m++)
    for (int j = 1; j <= M; j++)
      for (int i = 0; i < size * size; i++)
        s->solved[ga__colloc_pair(sys, m, j) + place + (size_t)i] =
            W[(m - 1) * size + i / size][n + (j - 1) * size + i % size];
  return 1;
}

static ga_status solve_rotations(ga_sensitivity *se, const ga__colloc_rule *rule)
{
  ga__colloc_linear *s = se->colloc;
  const ga_group *g = se->st->sys->group;
  size_t place = 0;
  memset(&s->twice, 0, sizeof s->twice);
  for (int m = 1; m <= rule->stages; m++)
    for (int j = 1; j <= rule->stages; j++) {
      s->unit.of[m][j] = m == j;
      for (int l = 1; l <= rule->stages; l++) s->twice.of[m][j] += rule->A[m][l] * rule->A[l][j];
    }
  for (int b = 0; b < ga_group_n_blocks(g); b++) {
    int at;
    const int size = ga_group_block(g, b, &at);
    if (!solve_block(se, rule, size, place)) return ga__refuse_sensitivity(se, "they are not finite", NULL);
    multiply_block(se, rule, size, place);
    place += (size_t)(size * size);
  }
  return GA_OK;
}

void ga__colloc_mul_pairs(const ga_sensitivity *se, const double *blocks, const ga__colloc_table *rest,
                          const double *in, double *out, int turned)
{
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, M = ga__colloc_of(se->st)->now->stages;
  for (int m = 1; m <= M; m++) {
    double *to = out + m * nv;
    for (int i = 0; i < nv; i++) to[i] = 0.0;
    for (int j = 1; j <= M; j++) {
      const double *pair = blocks + (turned ? ga__colloc_pair(sys, j, m) : ga__colloc_pair(sys, m, j));
      ga__mul_blocks(sys->group, se->one, pair, in + j * nv, turned ? rest->of[j][m] : rest->of[m][j],
                     turned);
      for (int i = 0; i < nv; i++) to[i] += se->one[i];
    }
  }
}

static ga_status make(ga_sensitivity *se)
{
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int M = rule->stages;
  ga__colloc_matrix *k = &se->colloc->matrix[M];
  ga_status status = leave_out(se);
  if (!status && !k->K) status = matrix_create(se, rule);
  if (status) return status;
  ga_sparse_zero(k->K);
  k->next = 0;
  for (int m = 1; m <= M && !status; m++) {
    status = differentiate_node(se, m);
  }
  if (!status) status = solve_rotations(se, rule);
  if (status) return status;
  for (int m = 1; m <= M; m++) put_system(se, k, rule, m);
  status = ga_lu_factor(k->lu);
  return status ? status : ga__colloc_end_make(se);
}

/* ---- One parameter ---- */

ga_status ga__colloc_by_parameter(ga_sensitivity *se, int j, const ga_point *p, const double *base,
                                  const double *later, double *g)
{
  const ga_system *sys = se->st->sys;
  const int all = sys->n + sys->size[GA_BLOCK_LAMBDA];
  ga__copy_numbers(se->base, base, all);
  for (int i = 0; i < all; i++) g[i] = 0.0;
  return ga__parameter_residual(se, j, p, later, g);
}

/* rhs of the equations of node m, at derivatives that do not come from its unknowns. */
static ga_status set_system(ga_sensitivity *se, int j, int m, const ga__tangent *d)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = st->sys;
  const size_t entries = (size_t)sys->n_entries, blocks = (size_t)ga_group_blocks_length(sys->group);
  const int nv = sys->nv, nl = sys->size[GA_BLOCK_LAMBDA], lambda = sys->start[GA_BLOCK_LAMBDA];
  const double *Q = s->Q + m * entries, *G = s->G + m * entries;
  double *g = se->g, *rhs = s->rhs + (m - 1) * sys->n, *carried = s->carried + m * nv;
  const ga__parameter *par = &se->parameter[j];
  const ga_point p = ga__colloc_last_point(st, m);
  const double part = ga__colloc_of(st)->now->c[m];
  for (int k = 0; k < GA__N_AT; k++) s->later[k] = par->from[k] + part * (par->to[k] - par->from[k]);
  const ga_status status = ga__colloc_by_parameter(se, j, &p, s->base + m * (sys->n + nl), s->later, g);
  for (int i = 0; i < nl; i++) g[lambda + i] = g[sys->n + i]; /* of B v + Φ_t */
  for (int i = 0; i < nv; i++) se->one[i] = 0.0;
  ga__move_tangent(sys->group, s->T + m * blocks, ga__colloc_of(st)->exponent + m * nv, d->q, se->one,
                   carried);
  ga__mul_blocks(sys->group, se->one, s->T + m * blocks, s->known_omega + m * nv, 1.0, 0);
  for (int i = 0; i < nv; i++)
    se->one[i] = carried[i] + st->h * se->one[i]; /* of q without what vdot gives */
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (col < nv) g[row] += (ga__is_of(sys, GA_BLOCK_LAMBDA, row) ? G[e] : Q[e]) * se->one[col];
  }
  for (int i = 0; i < sys->n; i++)
    rhs[i] = s->left_out[i] ? 0.0 : (i >= lambda && i < sys->start[GA_BLOCK_X] ? -1.0 : -st->h) * g[i];
  return status;
}

/* Known parts of v, x and Ω/h at node m, into dv, dx and room; dh: derivative of h. */
static void set_integrals(ga_sensitivity *se, int m, const ga__tangent *d, double dh)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = st->sys;
  const ga__colloc *c = ga__colloc_of(st);
  const ga__state *begin = &st->next;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  const double A = c->now->A[m][0], h = st->h, longer = dh / h;
  for (int i = 0; i < nv; i++) {
    s->dv[m * nv + i] = d->v[i] + h * A * d->vdot[i] + longer * (c->v[m * nv + i] - begin->v[i]);
    s->room[m * nv + i] = A * d->v[i] + longer * c->exponent[m * nv + i] / h;
  }
  for (int i = 0; i < nx; i++)
    s->dx[m * nx + i] = d->x[i] + h * A * d->xdot[i] + longer * (c->x[m * nx + i] - begin->x[i]);
}

static void find_known(ga_sensitivity *se, const ga__tangent *d, double dh)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int nv = sys->nv;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  for (int m = 1; m <= rule->stages; m++) set_integrals(se, m, d, dh);
  for (int j = 1; j <= rule->stages; j++) {
    ga__mul_blocks(sys->group, se->one, s->inverse + j * blocks, s->dv + j * nv, 1.0, 0);
    for (int m = 1; m <= rule->stages; m++)
      for (int i = 0; i < nv; i++) s->room[m * nv + i] += rule->A[m][j] * se->one[i];
  }
  ga__colloc_mul_pairs(se, s->solved, &s->unit, s->room, s->known_omega, 0);
}

/* What known parts of v and x add to the right-hand sides. */
static void eliminate(ga_sensitivity *se)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], from_x = sys->start[GA_BLOCK_X];
  for (int m = 1; m <= ga__colloc_of(se->st)->now->stages; m++) {
    double *rhs = s->rhs + (m - 1) * sys->n;
    for (int e = 0; e < sys->n_entries; e++) {
      const int col = sys->col[e];
      const double by = ga__colloc_coefficient(se, m, e);
      if (by != 0.0) rhs[sys->row[e]] -= by * (col < nv ? s->dv[m * nv + col] : s->dx[m * nx + col - from_x]);
    }
  }
}

/* v, x and Ω from h vdot and h xdot at all nodes, and their known parts. */
static void integrate_nodes(ga_sensitivity *se)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int n = sys->n, nv = sys->nv, nx = sys->size[GA_BLOCK_X], from_x = sys->start[GA_BLOCK_X],
            M = rule->stages;
  for (int m = 1; m <= M; m++)
    for (int j = 1; j <= M; j++) {
      const double *z = s->rhs + (j - 1) * n, A = rule->A[m][j];
      for (int i = 0; i < nv; i++) s->dv[m * nv + i] += A * z[i];
      for (int i = 0; i < nx; i++) s->dx[m * nx + i] += A * z[from_x + i];
    }
  for (int j = 1; j <= M; j++) ga__copy_numbers(s->room + j * nv, s->rhs + (j - 1) * n, nv);
  ga__colloc_mul_pairs(se, s->by_z, &s->twice, s->room, s->domega, 0);
  for (int i = nv; i < (M + 1) * nv; i++) s->domega[i] = se->st->h * (s->domega[i] + s->known_omega[i]);
}

void ga__colloc_collect_tangent(const ga_system *sys, const ga__tangent *d, double *z)
{
  const double *const from[GA_N_BLOCKS] = {d->vdot, d->lambda, d->psi, d->xdot, d->y};
  for (int b = 0; b < GA_N_BLOCKS; b++) ga__copy_numbers(z + sys->start[b], from[b], sys->size[b]);
}

/* Derivatives at the nodes from the solution. */
static void read_nodes(ga_sensitivity *se, int j, const ga__tangent *d)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = st->sys;
  const int n = sys->n, nv = sys->nv, M = ga__colloc_of(st)->now->stages;
  const size_t blocks = (size_t)ga_group_blocks_length(sys->group);
  double *rate = s->of[j].rate;
  integrate_nodes(se);
  ga__colloc_collect_tangent(sys, d, s->dz);
  ga__copy_numbers(rate, d->v, nv);
  for (int m = 1; m <= M; m++) {
    for (int i = 0; i < n; i++) s->dz[m * n + i] = s->rhs[(m - 1) * n + i] / st->h;
    ga__mul_blocks(sys->group, rate + m * nv, s->inverse + m * blocks, s->dv + m * nv, 1.0, 0);
    ga__mul_blocks(sys->group, se->one, s->turn + m * blocks, s->domega + m * nv, 0.0, 0);
    for (int i = 0; i < nv; i++) rate[m * nv + i] += se->one[i];
  }
  ga__mul_blocks(sys->group, s->dq, s->T + M * blocks, s->domega + M * nv, 1.0, 0);
  for (int i = 0; i < nv; i++) s->dq[i] += s->carried[M * nv + i];
}

/* Those of ga__colloc.nodes. */
static void correct_nodes(ga_sensitivity *se, int j, const ga__tangent *d)
{
  ga__colloc_linear *s = se->colloc;
  const ga_system *sys = se->st->sys;
  const ga__colloc_rule *rule = ga__colloc_of(se->st)->now;
  const int n = sys->n, M = rule->stages;
  double *nodes = s->of[j].nodes, *end = nodes + M * n;
  ga__copy_numbers(nodes, s->dz, M * n);
  ga__colloc_collect_tangent(sys, d, end);
  for (int m = 1; m < M; m++)
    for (int i = 0; i < n; i++) nodes[m * n + i] += rule->kappa[m] * (end[i] - s->dz[M * n + i]);
}

static ga_status forward(ga_sensitivity *se, int j)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const int M = ga__colloc_of(st)->now->stages;
  ga__parameter *par = &se->parameter[j];
  ga__colloc_variation *of = &s->of[j];
  ga_status status = GA_OK;
  if (j == se->n) variation_clear(se, of); /* of one step alone */
  find_known(se, &par->now, par->dh);
  for (int m = 1; m <= M && !status; m++) status = set_system(se, j, m, &par->now);
  if (!status) eliminate(se);
  if (!status) status = ga_lu_solve(s->matrix[M].lu, s->rhs);
  if (status) return status;
  if (ga__first_bad(s->rhs, M * st->sys->n) >= 0)
    return ga__refuse_sensitivity(se, "they are not finite", NULL);
  read_nodes(se, j, &par->now);
  ga__tangent_keep(se, par);
  if ((status = ga__colloc_end_forward(se, j))) return status;
  double *const nodes = of->before;
  of->before = of->nodes, of->nodes = nodes;
  correct_nodes(se, j, &par->now);
  return GA_OK;
}

/* ---- Within the last step ---- */

static void copy_tangent(const ga_system *sys, const ga__tangent *from, const ga__tangent *to)
{
  const int *size = sys->size;
  ga__copy_numbers(to->q, from->q, sys->nv);
  ga__copy_numbers(to->v, from->v, sys->nv);
  ga__copy_numbers(to->vdot, from->vdot, sys->nv);
  ga__copy_numbers(to->lambda, from->lambda, size[GA_BLOCK_LAMBDA]);
  ga__copy_numbers(to->psi, from->psi, size[GA_BLOCK_PSI]);
  ga__copy_numbers(to->x, from->x, size[GA_BLOCK_X]);
  ga__copy_numbers(to->y, from->y, size[GA_BLOCK_Y]);
}

/* Where dense output solves for accelerations again: the equations at that point, once for all parameters. */
static ga_status look_inside(ga_sensitivity *se, double t, double part, ga_point *p)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const int *start = st->sys->start;
  double *z = s->moved_z;
  *p = (ga_point){t,
                  s->inside_q,
                  s->inside_v,
                  z,
                  z + start[GA_BLOCK_LAMBDA],
                  z + start[GA_BLOCK_PSI],
                  s->moved_x,
                  z + start[GA_BLOCK_Y],
                  0,
                  NULL};
  if (s->inside_number == st->state_number && s->inside_t == t) return GA_OK;
  s->inside_number = 0;
  ga_status status = ga__colloc_interpolate(st, part,
                                            &(ga__inside){.q = s->inside_q,
                                                          .v = s->inside_v,
                                                          .vdot = z,
                                                          .lambda = z + start[GA_BLOCK_LAMBDA],
                                                          .psi = z + start[GA_BLOCK_PSI],
                                                          .x = s->moved_x,
                                                          .xdot = z + start[GA_BLOCK_X],
                                                          .y = z + start[GA_BLOCK_Y]});
  s->inside_solved = ga__colloc_of(st)->inside_solved;
  if (!status && !s->inside_solved && st->red.null.r > 0)
    status = ga__refuse_sensitivity(
        se,
        "multipliers of redundant constraints are needed within a step of collocation for stiff equations",
        "leave out redundant constraints");
  if (!status && s->inside_solved && st->red.null.r == 0) status = ga__colloc_place_make(se, p);
  if (status) return status;
  s->inside_number = st->state_number;
  s->inside_t = t;
  return GA_OK;
}

/* The derivatives at p, with the relations among constraints there; those of the end are found again. */
static ga_status solve_inside(ga_sensitivity *se, int j, const ga_point *p, ga__tangent *out)
{
  ga_stepper *st = se->st;
  const ga_point end = ga__state_point(&st->now);
  const int valid = st->red.valid, reported = st->red.reported, redundant = st->red.null.r;
  ga_status status = redundant > 0 ? ga__find_relations(st, p) : GA_OK;
  if (!status && st->red.null.r != redundant)
    status = ga__refuse_sensitivity(
        se, "the number of independent constraints changes, as at a singular position", NULL);
  if (!status && redundant > 0) status = ga__colloc_place_make(se, p);
  if (!status) status = ga__colloc_by_parameter(se, j, p, se->colloc->base, NULL, se->g);
  if (!status) status = ga__colloc_place_forward(se, j, p, NULL, se->g, out);
  if (redundant == 0) return status;
  const ga_status back = ga__find_relations(st, &end);
  if (!back) st->red.valid = valid, st->red.reported = reported;
  return back ? back : status;
}

static ga_status inside(ga_sensitivity *se, int j, double t)
{
  ga_stepper *st = se->st;
  ga__colloc_linear *s = se->colloc;
  const ga__colloc_variation *of = &s->of[j];
  const ga__parameter *par = &se->parameter[j];
  const ga__tangent *now = &par->now, *before = &par->before;
  ga__tangent *out = &se->parameter[j].inside;
  const double begin = st->next.scalar[GA__T], end = st->now.scalar[GA__T],
               part = (t - begin) / (end - begin);
  ga_point p;
  if (part >= 1.0) {
    copy_tangent(st->sys, par->dt != 0.0 ? &par->fixed : now, out);
    return GA_OK;
  }
  if (!(part > 0.0)) return ga__times_at_begin(se, j);
  ga_status status = look_inside(se, t, part, &p);
  if (status) return status;
  ga__colloc_change *c = &s->change;
  c->q[0] = before->q, c->q[1] = now->q;
  c->v[0] = before->v, c->v[1] = now->v;
  c->x[0] = before->x, c->x[1] = now->x;
  c->nodes = of->nodes, c->before = of->before, c->rate = of->rate;
  ga__colloc_interpolate_change(st, part, c,
                                &(ga__inside){.q = out->q,
                                              .v = out->v,
                                              .vdot = out->vdot,
                                              .lambda = out->lambda,
                                              .psi = out->psi,
                                              .x = out->x,
                                              .y = out->y});
  status = ga__times_inside(se, j, t, !s->inside_solved);
  if (status || !s->inside_solved) return status;
  return solve_inside(se, j, &p, out);
}

/* ---- The family ---- */

static ga_status check(ga_sensitivity *se, const ga_stepper *st)
{
  (void)se, (void)st;
  return GA_OK;
}

/* Where the end of the last step moves with parameter j, as parameter `from` says. */
static void add(ga_sensitivity *se, int j, int from, double factor)
{
  const ga_system *sys = se->st->sys;
  ga__colloc_variation *to = &se->colloc->of[j];
  const ga__colloc_variation *of = &se->colloc->of[from];
  for (int i = 0; i < GA__NODES * sys->n; i++) to->nodes[i] += factor * of->nodes[i];
  for (int i = 0; i < GA__NODES * sys->nv; i++) to->rate[i] += factor * of->rate[i];
  for (int i = 0; i < sys->nv; i++) to->q[i] += factor * of->q[i], to->v[i] += factor * of->v[i];
  for (int i = 0; i < sys->n; i++) to->z[i] += factor * of->z[i];
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) to->x[i] += factor * of->x[i];
  to->t += factor * of->t;
}

const ga__slopes ga__colloc_slopes = {.create = create,
                                      .destroy = destroy,
                                      .check = check,
                                      .make = make,
                                      .forward = forward,
                                      .inside = inside,
                                      .add = add,
                                      .rates = ga__colloc_rates,
                                      .turned = &ga__colloc_turned_step};
