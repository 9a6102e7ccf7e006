/* The derivative of a step of exact equilibrium. With derivatives of all that the step begins with, its
 * formulas give those of q₁, v₁, vdot₁, x₁, xdot₁ up to the unknowns, whose equations are those of Newton's
 * iteration at the solution:
 *
 *   δE  = h(δv + h(δa/2 + δp)) − h(Bᵀδη + D_q(Bᵀη)δq + ∂(Bᵀη)/∂p) + (h²/12)([δv, v₁] + [v, δv₁])
 *   δq₁ = δq + T(δE − [E, δq])       δv₁ = δv + h(δa + c₂δp)      δvdot₁ = c₁δp + (δa − αf δvdot)/(1−αf)
 *   r_q δq₁ + r_v δv₁ + r_vdot δvdot₁ + r_λ δλ₁ + r_ψ δψ₁ + r_x δx₁ + r_y δy₁ + ∂r/∂p = 0,  likewise B v +
 * Φ_t
 *
 * E is the exponent of the step, [.,.] the bracket of the group's side. B, v, a, η without index are those
 * that the step begins with, a already adjusted to h. docs/theory.md has the derivation. */
#include "core/sensitivity.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

void ga__mul_blocks(const ga_group *g, double *out, const double *T, const double *x, double rest, int turned)
{
  const int n = ga_group_nv(g), blocks = ga_group_n_blocks(g);
  for (int i = 0; i < n; i++) out[i] = rest * x[i];
  for (int b = 0; b < blocks; b++) {
    int at;
    const int size = ga_group_block(g, b, &at);
    for (int i = 0; i < size; i++) {
      double sum = 0.0;
      for (int k = 0; k < size; k++) sum += (turned ? T[k * size + i] : T[i * size + k]) * x[at + k];
      out[at + i] = sum;
    }
    T += size * size;
  }
}

void ga__block_tables(const ga_group *g, int *at, int *size, int *place)
{
  for (int b = 0, next = 0; b < ga_group_n_blocks(g); b++) {
    int start;
    const int length = ga_group_block(g, b, &start);
    for (int i = start; i < start + length; i++) {
      at[i] = start;
      size[i] = length;
      place[i] = next;
    }
    next += length * length;
  }
}

/* ---- The linear equations ---- */

static ga_status differentiate(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__linear_step *s = &se->step;
  const ga_system *sys = st->sys;
  const ga_point p = ga__state_point(&st->now);
  const unsigned rates = st->n_eta ? GA_WANT_G : 0u;
  /* Without states and outputs, accelerations enter by M alone. */
  const unsigned by_vdot = sys->n == sys->start[GA_BLOCK_X] ? GA_WANT_D | GA_WANT_M : GA_WANT_D;
  ga_jacobian J = {by_vdot, 0.0, 1.0, s->Dm, s->Q, s->G};
  ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  J = (ga_jacobian){GA_WANT_D | GA_WANT_Q | GA_WANT_B | rates, 1.0, 0.0, s->Dv, s->Q, s->G};
  if ((status = ga__jacobian(&st->deriv, &p, &J))) return status;
  for (int e = 0; e < sys->n_entries; e++)
    s->D[e] = sys->col[e] < sys->nv ? s->h * s->c2 * s->Dv[e] + st->c1 * s->Dm[e] : s->Dv[e];
  return GA_OK;
}

/* The step's exponent from its beginning and end. */
static void find_exponent(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__linear_step *s = &se->step;
  const ga__state *now = &st->now;
  const double beta = st->opts.scheme.beta, h = s->h;
  for (int i = 0; i < sys->nv; i++)
    s->exponent[i] = h * (s->v_n[i] + h * (0.5 * now->a_prev[i] + beta * (now->a[i] - now->a_prev[i])));
  if (st->n_eta)
    for (int i = 0; i < sys->n_b; i++) s->exponent[sys->b_col[i]] -= h * s->B_n[i] * now->eta[sys->b_row[i]];
  if (st->commutes) ga_group_add_bracket(sys->group, s->exponent, h * h / 12.0, s->v_n, now->v);
}

static ga_status factor(ga_sensitivity *se)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__linear_step *s = &se->step;
  static const double UNIT[] = {1.0};
  if (st->commutes)
    ga_group_tangent_ad(sys->group, s->T, s->TA, s->exponent, s->h * s->c2 / 12.0, s->v_n);
  else
    ga_group_tangent(sys->group, s->T, s->exponent);
  ga__assembly_input in = {.source = {s->D, s->Q, s->G, NULL, UNIT},
                           .scale = {[GA__EXACT_ONE] = 1.0,
                                     [GA__EXACT_H] = s->h,
                                     [GA__EXACT_INV_H] = 1.0 / s->h,
                                     [GA__EXACT_C2] = s->c2,
                                     [GA__EXACT_H2] = s->h * s->h,
                                     [GA__EXACT_MINUS] = -1.0},
                           .diag_x =
                               (1.0 - st->opts.scheme.delta_m) / (s->theta * (1.0 - st->opts.scheme.delta_f)),
                           .T = s->T,
                           .TA = st->commutes ? s->TA : s->T,
                           .B_n = st->n_eta ? s->B_n : NULL,
                           .null = &st->red.null,
                           .null_b = &st->red.null_eta};
  ga__assembly_fill(&se->assembly, &in);
  ga__lu_decouple(se->lu, se->assembly.n_left_out, se->assembly.left_out_column);
  return ga_lu_factor(se->lu);
}

/* B at the beginning of the step, and D_q Φ_t there: what does not come from B in G. */
static ga_status differentiate_begin(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__linear_step *s = &se->step;
  if (!st->n_eta) return GA_OK;
  ga_point p = ga__state_point(&st->next);
  for (int i = 0; i < st->sys->nv; i++) se->one[i] = 0.0;
  p.v = se->one;
  ga_jacobian J = {GA_WANT_B | GA_WANT_G, 0.0, 0.0, se->spare, se->other, s->G0};
  const ga_status status = ga__jacobian(&st->deriv, &p, &J);
  for (int i = 0; !status && i < st->sys->n_b; i++) s->B_n[i] = se->other[st->sys->b_entry[i]];
  s->B_n[st->sys->n_b] = 0.0;
  return status;
}

static ga_status make(ga_sensitivity *se)
{
  ga_stepper *st = se->st;
  ga__linear_step *s = &se->step;
  const ga_system *sys = st->sys;
  s->h = st->now.scalar[GA__H_OLD];
  s->gamma = st->gamma;
  s->theta = st->theta;
  s->c2 = s->gamma / st->opts.scheme.beta;
  ga__copy_numbers(s->v_n, st->next.v, sys->nv);
  const ga_point end = ga__state_point(&st->now);
  ga_status status = se->replays ? ga__sensitivity_relations(se) : GA_OK;
  if (!status) status = ga__sensitivity_matrix(se, st->red.null.r > 0 || st->red.null_eta.r > 0);
  if (!status) status = differentiate_begin(se);
  if (!status) status = differentiate(se);
  if (!status) status = ga__least_make(se, &end);
  if (!status && ga__needs_base(se)) status = ga__parameter_base(se, &end);
  if (status) return status;
  find_exponent(se);
  return factor(se);
}

/* ---- One parameter ---- */

/* force := D_q(B(q)ᵀη) δq at the beginning of the step. B w is the derivative of Φ along w, so that
 * derivatives along δq and w in either order differ by that along their bracket: ηᵀ D_q(B w) δq = ηᵀ D_q(B
 * δq) w + ηᵀ B [δq, w]  for all w */
static ga_status turn_reaction(ga_sensitivity *se, const double *dq, double *force)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__linear_step *s = &se->step;
  const double *eta = st->now.eta, most = ga__max_abs(dq, sys->nv, NULL);
  for (int i = 0; i < sys->nv; i++) force[i] = 0.0;
  if (!(most > 0.0) || ga__max_abs(eta, st->n_eta, NULL) == 0.0) return GA_OK;
  const double scale = (1.0 + ga__max_abs(s->v_n, sys->nv, NULL)) / most;
  for (int i = 0; i < sys->nv; i++) se->two[i] = scale * dq[i];
  ga_point p = ga__state_point(&st->next);
  p.v = se->two;
  ga_jacobian J = {GA_WANT_G, 0.0, 0.0, se->spare, se->spare, se->other};
  const ga_status status = ga__jacobian(&st->deriv, &p, &J);
  if (status) return status;
  for (int i = 0; i < sys->nv; i++) se->one[i] = 0.0;
  for (int i = 0; i < sys->n_b; i++) {
    const int e = sys->b_entry[i];
    force[sys->b_col[i]] += (se->other[e] - s->G0[e]) / scale * eta[sys->b_row[i]];
    se->one[sys->b_col[i]] += s->B_n[i] * eta[sys->b_row[i]];
  }
  if (ga_group_n_blocks(sys->group) == 0) return GA_OK;
  ga_group_ad(sys->group, s->ad, dq);
  ga__mul_blocks(sys->group, se->two, s->ad, se->one, 0.0, 1);
  for (int i = 0; i < sys->nv; i++) force[i] += se->two[i];
  return GA_OK;
}

static double adjusted(const ga__shift *by, double now, double prev, double rate)
{
  return by->now * now + by->prev * prev + by->rate * rate;
}

void ga__tangent_keep(const ga_sensitivity *se, ga__parameter *par)
{
  const ga_system *sys = se->st->sys;
  const int *size = sys->size;
  ga__tangent *d = &par->now;
  const ga__tangent *b = &par->before;
  const struct {
    double *prev, *prev2;
    const double *from, *from_prev;
    int n;
  } list[] = {{d->vdot_prev, d->vdot_prev2, b->vdot, b->vdot_prev, sys->nv},
              {d->lambda_prev, d->lambda_prev2, b->lambda, b->lambda_prev, size[GA_BLOCK_LAMBDA]},
              {d->psi_prev, d->psi_prev2, b->psi, b->psi_prev, size[GA_BLOCK_PSI]},
              {d->y_prev, d->y_prev2, b->y, b->y_prev, size[GA_BLOCK_Y]}};
  memcpy(b->block, d->block, se->n_tangent * sizeof *b->block);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    ga__copy_numbers(list[k].prev2, list[k].from_prev, list[k].n);
    ga__copy_numbers(list[k].prev, list[k].from, list[k].n);
  }
}

/* a and w as the step uses them, into a_prev and w_prev of d. */
static void adjust(const ga_stepper *st, ga__tangent *d)
{
  for (int i = 0; i < st->sys->nv; i++)
    d->a_prev[i] = adjusted(&st->shift_a, d->a[i], d->a_prev[i], d->vdot[i]);
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++)
    d->w_prev[i] = adjusted(&st->shift_w, d->w[i], d->w_prev[i], d->xdot[i]);
}

void ga__move_tangent(const ga_group *g, const double *T, const double *exponent, const double *dq, double *d,
                      double *out)
{
  ga_group_add_bracket(g, d, -1.0, exponent, dq);
  ga__mul_blocks(g, out, T, d, 1.0, 0);
  for (int i = 0; i < ga_group_nv(g); i++) out[i] += dq[i];
}

/* Derivatives at the end of the step as far as they do not come from its unknowns. */
static void advance_known(ga_sensitivity *se, const ga__parameter *par)
{
  const ga__tangent *d = &par->now;
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const ga_scheme *c = &st->opts.scheme;
  const double h = s->h, inv_f = 1.0 / (1.0 - c->alpha_f), inv_df = 1.0 / (1.0 - c->delta_f);
  for (int i = 0; i < sys->nv; i++) {
    se->dv[i] = d->v[i] + h * d->a_prev[i];
    se->dvdot[i] = (d->a_prev[i] - c->alpha_f * d->vdot[i]) * inv_f;
    se->one[i] = h * (d->v[i] + 0.5 * h * d->a_prev[i] - se->force[i]);
  }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) {
    se->dx[i] = d->x[i] + h * d->w_prev[i];
    se->dxdot[i] = (d->w_prev[i] - c->delta_f * d->xdot[i]) * inv_df;
  }
  ga__times_rates(se, par);
  ga__times_exponent(se, par, se->one);
  if (st->commutes) {
    ga_group_add_bracket(sys->group, se->one, h * h / 12.0, d->v, st->now.v);
    ga_group_add_bracket(sys->group, se->one, h * h / 12.0, s->v_n, se->dv);
  }
  ga__move_tangent(sys->group, s->T, s->exponent, d->q, se->one, se->dq);
}

/* g += derivatives of the residuals along the known ones. */
static void differentiate_residual(ga_sensitivity *se, double *g)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const int nv = sys->nv, from_x = sys->start[GA_BLOCK_X], to_x = sys->start[GA_BLOCK_Y];
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_PSI];
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    if (col >= from_x && col < to_x) {
      if (row < first || row >= end) g[row] += s->Dv[e] * se->dx[col - from_x];
    } else if (col < nv) {
      g[row] += s->Q[e] * se->dq[col];
      if (row < first || row >= end) g[row] += s->Dv[e] * se->dv[col] + s->Dm[e] * se->dvdot[col];
    }
  }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++) g[from_x + i] += se->dxdot[i];
  for (int i = 0; st->n_eta && i < sys->n_b; i++) {
    const int e = sys->b_entry[i], row = sys->n + sys->b_row[i], col = sys->b_col[i];
    g[row] += s->G[e] * se->dq[col] + s->Q[e] * se->dv[col];
  }
}

/* rhs := −g with the scales of the iteration matrix's rows. */
static void scale_rows(const ga_sensitivity *se)
{
  const ga_system *sys = se->st->sys;
  const double h = se->step.h, by[] = {-h, -1.0 / h, -1.0, -h, -h};
  for (int b = 0; b < GA_N_BLOCKS; b++)
    for (int i = sys->start[b]; i < sys->start[b] + sys->size[b]; i++) se->rhs[i] = by[b] * se->g[i];
  for (int i = sys->n; i < sys->n + se->st->n_eta; i++) se->rhs[i] = -se->g[i];
}

/* The derivatives at the end of the step, from the known ones and those of the unknowns in rhs. */
static void complete(ga_sensitivity *se, ga__tangent *d)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const ga_scheme *c = &st->opts.scheme;
  const double h = s->h, *z = se->rhs, *eta = z + sys->n;
  const int *size = sys->size, *start = sys->start;
  for (int i = 0; i < sys->nv; i++) {
    d->vdot[i] = se->dvdot[i] + st->c1 / h * z[i];
    d->a[i] = d->a_prev[i] + z[i] / (h * c->beta);
    se->one[i] = h * z[i]; /* δE beyond its known part, whose share of δq₁ is in se->dq */
    d->v[i] = se->dv[i] + s->c2 * z[i];
  }
  for (int i = 0; st->n_eta && i < sys->n_b; i++)
    se->one[sys->b_col[i]] -= h * s->B_n[i] * eta[sys->b_row[i]];
  if (st->commutes) ga_group_add_bracket(sys->group, se->one, h * h * s->c2 / 12.0, s->v_n, z);
  ga__mul_blocks(sys->group, d->q, s->T, se->one, 1.0, 0);
  for (int i = 0; i < sys->nv; i++) d->q[i] += se->dq[i];
  for (int i = 0; i < size[GA_BLOCK_X]; i++) {
    const double dp = z[start[GA_BLOCK_X] + i] / (s->theta * h);
    d->x[i] = se->dx[i] + z[start[GA_BLOCK_X] + i];
    d->xdot[i] = se->dxdot[i] + (1.0 - c->delta_m) / (1.0 - c->delta_f) * dp;
    d->w[i] = d->w_prev[i] + dp;
  }
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) d->lambda[i] = z[start[GA_BLOCK_LAMBDA] + i] / h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) d->psi[i] = z[start[GA_BLOCK_PSI] + i] / h;
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) d->y[i] = z[start[GA_BLOCK_Y] + i] / h;
  ga__copy_numbers(d->eta, eta, st->n_eta);
}

static ga_status forward(ga_sensitivity *se, int j)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  ga__tangent *d = &se->parameter[j].now;
  const ga_point begin = ga__state_point(&st->next), end = ga__state_point(&st->now);
  ga_status status = GA_OK;
  for (int i = 0; i < sys->nv; i++) se->force[i] = 0.0;
  for (int i = 0; i < sys->n + st->n_eta; i++) se->g[i] = 0.0;
  if ((status = ga__parameter_residual(se, j, &end, se->parameter[j].to, se->g))) return status;
  if (st->red.null.r > 0) ga__copy_numbers(se->by_p, se->g, sys->n + st->n_eta);
  if (st->n_eta) {
    if ((status = turn_reaction(se, d->q, se->force))) return status;
    if ((status = ga__parameter_reaction(se, j, &begin, se->parameter[j].from, st->now.eta, se->force)))
      return status;
  }
  ga__tangent_keep(se, &se->parameter[j]);
  adjust(st, d);
  ga__times_shift(se, &se->parameter[j], d);
  advance_known(se, &se->parameter[j]);
  differentiate_residual(se, se->g);
  scale_rows(se);
  if ((status = ga__assembly_solve(&se->assembly, se->lu, se->rhs))) return status;
  const int bad = ga__first_bad(se->rhs, sys->n + st->n_eta);
  if (bad >= 0) return ga__refuse_sensitivity(se, "they are not finite", NULL);
  complete(se, d);
  if (st->red.null.r == 0) return GA_OK;
  status = ga__least_forward(se, j, se->parameter[j].to, d);
  return status ? status : ga__least_check(se, j);
}

/* ---- Transposed: from derivatives of a number by the state at the end of a step to those by its beginning
 * ---- */

void ga__add_ad_turned(ga_sensitivity *se, double *out, double factor, const double *a, const double *x)
{
  const ga_group *g = se->st->sys->group;
  if (ga_group_n_blocks(g) == 0) return;
  ga_group_ad(g, se->step.ad, a);
  ga__mul_blocks(g, se->two, se->step.ad, x, 0.0, 1);
  for (int i = 0; i < se->st->sys->nv; i++) out[i] += factor * se->two[i];
}

/* rhs := derivatives by the unknowns of the step. */
static void turn_complete(ga_sensitivity *se, const ga__tangent *bar)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const ga_scheme *c = &st->opts.scheme;
  const double h = s->h;
  const int *size = sys->size, *start = sys->start;
  double *z = se->rhs, *eta = z + sys->n;
  ga__mul_blocks(sys->group, se->one, s->T, bar->q, 1.0, 1);
  for (int i = 0; i < sys->nv; i++)
    z[i] = st->c1 / h * bar->vdot[i] + bar->a[i] / (h * c->beta) + s->c2 * bar->v[i] + h * se->one[i];
  if (st->commutes) ga__add_ad_turned(se, z, h * h * s->c2 / 12.0, s->v_n, se->one);
  for (int i = 0; i < st->n_eta; i++) eta[i] = bar->eta[i];
  for (int i = 0; st->n_eta && i < sys->n_b; i++)
    eta[sys->b_row[i]] -= h * s->B_n[i] * se->one[sys->b_col[i]];
  for (int i = 0; i < size[GA_BLOCK_X]; i++)
    z[start[GA_BLOCK_X] + i] =
        bar->x[i] + ((1.0 - c->delta_m) / (1.0 - c->delta_f) * bar->xdot[i] + bar->w[i]) / (s->theta * h);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) z[start[GA_BLOCK_LAMBDA] + i] = bar->lambda[i] / h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) z[start[GA_BLOCK_PSI] + i] = bar->psi[i] / h;
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) z[start[GA_BLOCK_Y] + i] = bar->y[i] / h;
}

/* g := derivatives by the residuals; dq, dv, ... := those by the known parts, which they add to. */
static void turn_residual(ga_sensitivity *se, const ga__tangent *bar)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X], from_x = sys->start[GA_BLOCK_X],
            to_x = sys->start[GA_BLOCK_Y];
  const int first = sys->start[GA_BLOCK_LAMBDA], end = sys->start[GA_BLOCK_PSI];
  double *g = se->g;
  for (int i = 0; i < sys->n + st->n_eta; i++) g[i] = se->rhs[i];
  scale_rows(se); /* rhs := −S g */
  for (int i = 0; i < sys->n + st->n_eta; i++) g[i] = se->rhs[i];
  ga__copy_numbers(se->dq, bar->q, nv);
  ga__copy_numbers(se->dv, bar->v, nv);
  ga__copy_numbers(se->dvdot, bar->vdot, nv);
  ga__copy_numbers(se->dx, bar->x, nx);
  ga__copy_numbers(se->dxdot, bar->xdot, nx);
  for (int e = 0; e < sys->n_entries; e++) {
    const int row = sys->row[e], col = sys->col[e];
    const int of_phi = row >= first && row < end;
    if (col >= from_x && col < to_x) {
      if (!of_phi) se->dx[col - from_x] += s->Dv[e] * g[row];
    } else if (col < nv) {
      se->dq[col] += s->Q[e] * g[row];
      if (of_phi) continue;
      se->dv[col] += s->Dv[e] * g[row];
      se->dvdot[col] += s->Dm[e] * g[row];
    }
  }
  for (int i = 0; i < nx; i++) se->dxdot[i] += g[from_x + i];
  for (int i = 0; st->n_eta && i < sys->n_b; i++) {
    const int e = sys->b_entry[i], row = sys->n + sys->b_row[i], col = sys->b_col[i];
    se->dq[col] += s->G[e] * g[row];
    se->dv[col] += s->Q[e] * g[row];
  }
}

/* dq += derivatives by q at the beginning through D_q(Bᵀη), from those by it in force. */
static ga_status turn_force(ga_sensitivity *se, double *dq)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const double *eta = st->now.eta, most = ga__max_abs(se->force, sys->nv, NULL);
  if (!(most > 0.0) || ga__max_abs(eta, st->n_eta, NULL) == 0.0) return GA_OK;
  const double scale = (1.0 + ga__max_abs(se->step.v_n, sys->nv, NULL)) / most;
  for (int i = 0; i < sys->nv; i++) se->two[i] = scale * se->force[i];
  ga_point p = ga__state_point(&st->next);
  p.v = se->two;
  ga_jacobian J = {GA_WANT_G, 0.0, 0.0, se->spare, se->spare, se->other};
  const ga_status status = ga__jacobian(&st->deriv, &p, &J);
  for (int i = 0; !status && i < sys->n_b; i++) {
    const int e = sys->b_entry[i];
    dq[sys->b_col[i]] += (se->other[e] - se->step.G0[e]) / scale * eta[sys->b_row[i]];
  }
  return status;
}

/* The transpose of ga__tangent_keep(). The step itself does not depend on λ, ψ and y at its beginning. */
static void turn_history(const ga_system *sys, ga__tangent *bar)
{
  const int *size = sys->size;
  const struct {
    double *at, *prev, *prev2;
    int n, adds;
  } list[] = {{bar->vdot, bar->vdot_prev, bar->vdot_prev2, sys->nv, 1},
              {bar->lambda, bar->lambda_prev, bar->lambda_prev2, size[GA_BLOCK_LAMBDA], 0},
              {bar->psi, bar->psi_prev, bar->psi_prev2, size[GA_BLOCK_PSI], 0},
              {bar->y, bar->y_prev, bar->y_prev2, size[GA_BLOCK_Y], 0}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    for (int i = 0; i < list[k].n; i++) {
      list[k].at[i] = (list[k].adds ? list[k].at[i] : 0.0) + list[k].prev[i];
      list[k].prev[i] = list[k].prev2[i];
      list[k].prev2[i] = 0.0;
    }
}

/* bar := derivatives by the state at the beginning. */
static ga_status turn_known(ga_sensitivity *se, ga__tangent *bar)
{
  ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga__linear_step *s = &se->step;
  const ga_scheme *c = &st->opts.scheme;
  const double h = s->h, inv_f = 1.0 / (1.0 - c->alpha_f), inv_df = 1.0 / (1.0 - c->delta_f);
  const int nv = sys->nv, nx = sys->size[GA_BLOCK_X];
  ga__mul_blocks(sys->group, se->one, s->T, se->dq, 1.0, 1); /* by δE */
  ga__copy_numbers(bar->q, se->dq, nv);
  ga__add_ad_turned(se, bar->q, -1.0, s->exponent, se->one);
  for (int i = 0; i < nv; i++) {
    se->force[i] = -h * se->one[i];
    bar->v[i] = h * se->one[i];
  }
  if (st->commutes) {
    ga__add_ad_turned(se, bar->v, -h * h / 12.0, st->now.v, se->one);
    ga__add_ad_turned(se, se->dv, h * h / 12.0, s->v_n, se->one);
  }
  for (int i = 0; i < nv; i++) {
    const double a =
        bar->a[i] + bar->a_prev[i] + 0.5 * h * h * se->one[i] + h * se->dv[i] + inv_f * se->dvdot[i];
    bar->v[i] += se->dv[i];
    bar->vdot[i] = -c->alpha_f * inv_f * se->dvdot[i] + st->shift_a.rate * a;
    bar->a[i] = st->shift_a.now * a;
    bar->a_prev[i] = st->shift_a.prev * a;
  }
  for (int i = 0; i < nx; i++) {
    const double w = bar->w[i] + bar->w_prev[i] + h * se->dx[i] + inv_df * se->dxdot[i];
    bar->x[i] = se->dx[i];
    bar->xdot[i] = -c->delta_f * inv_df * se->dxdot[i] + st->shift_w.rate * w;
    bar->w[i] = st->shift_w.now * w;
    bar->w_prev[i] = st->shift_w.prev * w;
  }
  turn_history(sys, bar);
  for (int i = 0; i < st->n_eta; i++) bar->eta[i] = 0.0;
  return st->n_eta ? turn_force(se, bar->q) : GA_OK;
}

static ga_status reverse(ga_sensitivity *se, ga__tangent *bar)
{
  ga_status status = ga__least_reverse(se, bar);
  if (status) return status;
  turn_complete(se, bar);
  status = ga__assembly_solve_t(&se->assembly, se->lu, se->rhs);
  if (status) return status;
  const int bad = ga__first_bad(se->rhs, se->st->sys->n + se->st->n_eta);
  if (bad >= 0) return ga__refuse_sensitivity(se, "they are not finite", NULL);
  turn_residual(se, bar);
  return turn_known(se, bar);
}

/* ---- Parameters ---- */

static double product(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* After reverse(), g has derivatives by the residuals and B v + Φ_t, and force those by Bᵀη. */
static ga_status gather(ga_sensitivity *se, int j, double *sum)
{
  const ga_stepper *st = se->st;
  const ga_system *sys = st->sys;
  const ga_point begin = ga__state_point(&st->next), end = ga__state_point(&st->now);
  const int n = sys->n + st->n_eta;
  for (int i = 0; i < n; i++) se->rhs[i] = 0.0;
  for (int i = 0; i < sys->nv; i++) se->dv[i] = 0.0;
  ga_status status = ga__parameter_residual(se, j, &end, NULL, se->rhs);
  if (!status && st->n_eta) status = ga__parameter_reaction(se, j, &begin, NULL, st->now.eta, se->dv);
  *sum += status ? 0.0 : product(se->g, se->rhs, n) + product(se->force, se->dv, sys->nv);
  return status;
}

static int point(ga_sensitivity *se, int i, ga_pullback *by)
{
  const ga_stepper *st = se->st;
  if (i > 0) return 0;
  se->begin = ga__state_point(&st->next), se->end = ga__state_point(&st->now);
  *by = (ga_pullback){&se->begin, &se->end, se->g, se->g + st->sys->n, se->force, st->now.eta};
  return 1;
}

/* ---- Repeated steps ---- */

enum { N_KEPT = 8 };

static size_t count_kept(const ga_stepper *st)
{
  (void)st;
  return N_KEPT;
}

static void keep(const ga_stepper *st, double *to)
{
  const ga__shift *a = &st->shift_a, *w = &st->shift_w;
  const double number[N_KEPT] = {st->gamma, st->theta, a->now, a->prev, a->rate, w->now, w->prev, w->rate};
  memcpy(to, number, sizeof number);
}

static void recall(ga_stepper *st, const double *from)
{
  st->gamma = from[0];
  st->theta = from[1];
  st->shift_a = (ga__shift){from[2], from[3], from[4]};
  st->shift_w = (ga__shift){from[5], from[6], from[7]};
}

static const ga__turned TURNED = {.kept = count_kept,
                                  .keep = keep,
                                  .recall = recall,
                                  .reverse = reverse,
                                  .gather = gather,
                                  .point = point,
                                  .look = ga__inner_seed_look,
                                  .inside = ga__inner_seed_turn};

/* ---- The family ---- */

static ga_status create(ga_sensitivity *se)
{
  return ga__sensitivity_matrix(se, se->st->red.plain_refused);
}

static void destroy(ga_sensitivity *se)
{
  ga_lu_destroy(&se->lu);
  ga__assembly_destroy(&se->assembly);
}

static ga_status check(ga_sensitivity *se, const ga_stepper *st)
{
  if (st->v_n != st->v_moved) return GA_OK;
  return ga__refuse_sensitivity(se, "the index-3 form moves velocities where step sizes change",
                                "take GA_STABILIZED or equal steps");
}

/* Of the parabola of dense output. */
static ga_status rates(ga_sensitivity *se, ga__tangent *rate)
{
  return ga__times_slope(se, 2, rate);
}

const ga__slopes ga__exact_slopes = {.create = create,
                                     .destroy = destroy,
                                     .check = check,
                                     .make = make,
                                     .forward = forward,
                                     .inside = ga__exact_inside,
                                     .rates = rates,
                                     .turned = &TURNED};
