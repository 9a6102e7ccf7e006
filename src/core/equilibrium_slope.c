/* Derivatives of an equilibrium by a parameter, by the theorem of implicit functions: r(z, p) = 0 for all p,
 * so that r_z δz = −r_p. Coordinates that can move without a force have no equation; as in relaxation, which
 * M q' = f describes, they keep what they begin with:
 *
 *   (r_z + s M) δz⁺ = −r_p + s M δz,   s small, from the derivative of the initial positions on.
 *
 * Where nothing is free s is 0. The same iteration removes the small terms that make the matrix of redundant
 * constraints regular. */
#include "core/equilibrium.h"
#include "core/arrays.h"
#include "core/sensitivity.h"

#include <math.h>
#include <string.h>

#define SMALL_MASS 1e-9 /* s, relative to the largest numbers of r_z and M */
#define SETTLED 1e-14   /* relative size of a correction that is rounding */
/* Forces along free directions that are, relative to r_p and to the terms of r_z δz. */
#define UNBALANCED 1e-7
#define ROUNDING 1e-12
enum { MOST_CORRECTIONS = 200 };

typedef struct slope {
  ga_equilibrium *eq;
  const ga_parameter *par;
  double *block;
  double *by_p; /* [n] r_p; in the rows of ψ −k_v δq₀, since k_v (δq − δq₀) = 0 */
  double *z;    /* [n] δz */
  double *rest; /* [n] */
  double *room; /* [n] */
  double *way;  /* [nv] q − q₀, if something is free, */
  double *mass; /* [nv] and M_p (q − q₀) */
} slope;

static ga_status refuse(const slope *s, ga_status status, const char *what, const char *remedy)
{
  return ga__refuse(s->eq->ctx, status, GA_REASON_NO_SENSITIVITY,
                    &(ga__facts){.at = &(ga__fact_time){s->eq->t, NAN, -1, -1},
                                 .kind = "sensitivities",
                                 .name = s->par->name,
                                 .detail = what,
                                 .expected = remedy});
}

/* ---- r_p ---- */

static ga_point rest_point(const ga_equilibrium *eq)
{
  ga_point p = ga__balance_point(eq, &eq->now);
  p.statics = NULL; /* inner unknowns are those that belong to q */
  return p;
}

/* M way of the system at one value, by two residuals. */
static ga_status add_mass(const slope *s, const ga_system *sys, double weight)
{
  const ga_equilibrium *eq = s->eq;
  ga_point p = rest_point(eq);
  if (eq->report.stability != GA_NEUTRAL) return GA_OK;
  for (int i = 0; i < sys->nv; i++) s->mass[i] -= weight * s->rest[i];
  p.vdot = s->way;
  const ga_status status = ga__residual(sys, &p, s->rest, s->room);
  for (int i = 0; !status && i < sys->nv; i++) s->mass[i] += weight * s->rest[i];
  return status;
}

static ga_status add_value(const slope *s, const ga_system *given, double weight, int first)
{
  ga_equilibrium *eq = s->eq;
  const ga_system *sys = NULL;
  const ga_point p = rest_point(eq);
  if (!ga__same_sizes(eq->sys, given))
    return refuse(s, GA_ERR_ARGUMENT,
                  "a parameter changes the number of equations or which of them depend on what",
                  "only parameters that change numbers can be used");
  ga_status status = ga__system_open(eq->ctx, given, &sys);
  if (!status) status = ga__residual(sys, &p, s->rest, s->room);
  /* Of the first value, so that equal ones leave nothing. */
  for (int i = 0; !status && i < eq->sys->n; i++) {
    if (first) s->z[i] = s->rest[i];
    s->by_p[i] += weight * (s->rest[i] - s->z[i]);
  }
  if (!status) status = add_mass(s, sys, weight);
  ga__system_close(&sys);
  return status;
}

static ga_status differentiate(const slope *s)
{
  static const double WEIGHT[GA__N_AT] = {1.0, -8.0, 8.0, -1.0};
  const ga_parameter *par = s->par;
  ga_status status = GA_OK;
  for (int k = 0; k < GA__N_AT && !status && par->at[0].sys; k++)
    status = par->at[k].sys ? add_value(s, par->at[k].sys, WEIGHT[k] / (12.0 * par->step), k == 0)
                            : ga__refuse_null(s->eq->ctx, "ga_equilibrium_slope",
                                              "a system at one of the values of a parameter");
  return status;
}

/* z := the derivative of the initial positions and states, with which free ones begin. */
static void differentiate_initial(const slope *s)
{
  static const double WEIGHT[GA__N_AT] = {1.0, -8.0, 8.0, -1.0};
  const ga_equilibrium *eq = s->eq;
  const ga_system *sys = eq->sys;
  const ga_parameter *par = s->par;
  for (int k = 0; k < GA__N_AT; k++) {
    const double by = WEIGHT[k] / (12.0 * par->step);
    if (par->at[0].q0 && par->at[k].q0) {
      ga_group_difference(sys->group, eq->move, par->at[0].q0, par->at[k].q0);
      for (int i = 0; i < sys->nv; i++) s->z[i] += by * eq->move[i];
    }
    for (int i = 0; par->at[k].x0 && i < sys->size[GA_BLOCK_X]; i++)
      s->z[sys->start[GA_BLOCK_X] + i] += by * par->at[k].x0[i];
  }
}

/* ---- δz ---- */

static double largest_entry(const ga_sparse *W, int n)
{
  double most = 0.0;
  for (int c = 0; c < n; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < n; p++)
      most = fmax(most, fabs(W->value[p]));
  return most;
}

/* Factors of r_z + s M; *share: s. Afterwards eq->W is r_z itself, without the small terms of redundant
 * constraints, but for its rows of ψ, which hold k_v. */
static ga_status factor(const slope *s, double *share)
{
  static const ga__balance_terms inertia = {.mass = 1.0};
  ga_equilibrium *eq = s->eq;
  const ga_system *sys = eq->sys;
  ga__balance_terms terms = ga__tangent_terms;
  ga_status status = GA_OK;
  *share = 0.0;
  if (eq->report.stability == GA_NEUTRAL) {
    status = ga__balance_matrix(eq, &eq->now, &inertia);
    const double mass = largest_entry(eq->W, sys->nv);
    if (!status) status = ga__balance_matrix(eq, &eq->now, &ga__tangent_terms);
    const double stiffness = status ? 0.0 : largest_entry(eq->W, sys->nv);
    *share = stiffness > 0.0 && mass > 0.0 ? SMALL_MASS * stiffness / mass : 1.0;
    terms.mass = terms.rate = *share;
  }
  if (!status) status = ga__balance_factor(eq, &eq->now, &terms);
  if (!status) status = ga__balance_matrix(eq, &eq->now, &ga__tangent_terms);
  for (int i = sys->start[GA_BLOCK_LAMBDA]; i < sys->start[GA_BLOCK_X]; i++)
    eq->W->value[eq->diagonal[i]] = 0.0;
  return status == GA_RETRY_SINGULAR
             ? refuse(s, GA_ERR_SINGULAR,
                      "the equilibrium is where its stiffness is zero, as at a limit of its load", NULL)
             : status;
}

/* out := −r_p − W z */
static void find_rest(const slope *s, double *out)
{
  const ga_sparse *W = s->eq->W;
  for (int i = 0; i < s->eq->sys->n; i++) out[i] = -s->by_p[i];
  for (int c = 0; c < W->cols; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1]; p++) out[W->row[p]] -= W->value[p] * s->z[c];
}

static double size_of(const ga_equilibrium *eq, const double *z)
{
  const ga_system *sys = eq->sys;
  return fmax(ga__move_size(eq, z), ga__max_abs(z + sys->start[GA_BLOCK_X], sys->size[GA_BLOCK_X], NULL));
}

/* Whether the forces that are left are rounding of those in r_p and r_z δz. */
static int is_balanced(const slope *s, double left)
{
  const ga_sparse *W = s->eq->W;
  const int nv = s->eq->sys->nv;
  for (int i = 0; i < nv; i++) s->room[i] = fabs(s->by_p[i]);
  for (int c = 0; c < W->cols; c++)
    for (int p = W->col_start[c]; p < W->col_start[c + 1] && W->row[p] < nv; p++)
      s->room[W->row[p]] += fabs(W->value[p] * s->z[c]);
  return left <= UNBALANCED * ga__max_abs(s->by_p, nv, NULL) + ROUNDING * ga__max_abs(s->room, nv, NULL);
}

/* Along free directions rounding moves every time by the same. */
static ga_status iterate(const slope *s)
{
  ga_equilibrium *eq = s->eq;
  const int n = eq->sys->n;
  double before = HUGE_VAL;
  for (int it = 0; it < MOST_CORRECTIONS; it++) {
    find_rest(s, s->rest);
    const double left = ga__max_abs(s->rest, eq->sys->nv, NULL);
    const ga_status status = ga_lu_solve(eq->lu, s->rest);
    if (status) return status;
    for (int i = 0; i < n; i++) s->z[i] += s->rest[i];
    const double size = size_of(eq, s->rest), whole = size_of(eq, s->z);
    if (!isfinite(size)) break;
    if (size <= SETTLED * whole) return GA_OK;
    if (it > 2 && size >= 0.9 * before) {
      if (!is_balanced(s, left)) break;
      for (int i = 0; i < n; i++) s->z[i] -= (it + 1) * s->rest[i];
      return GA_OK;
    }
    before = size;
  }
  return refuse(s, GA_ERR_SINGULAR,
                "at other values of it there is no equilibrium, as something moves freely", NULL);
}

static ga_status keep_free(const slope *s, double share)
{
  const ga_system *sys = s->eq->sys;
  for (int i = 0; i < sys->n; i++) s->rest[i] = i < sys->nv ? share * s->mass[i] : 0.0;
  const ga_status status = ga_lu_solve(s->eq->lu, s->rest);
  for (int i = 0; !status && i < sys->n; i++) s->z[i] -= s->rest[i];
  return status;
}

static ga_status compute(const slope *s, double *dq, double *dx)
{
  ga_equilibrium *eq = s->eq;
  const ga_system *sys = eq->sys;
  double share;
  ga_group_difference(sys->group, s->way, eq->given, eq->now.q);
  ga_status status = differentiate(s);
  if (!status) status = factor(s, &share);
  if (status) return status;
  memset(s->z, 0, (size_t)sys->n * sizeof *s->z);
  differentiate_initial(s);
  find_rest(s, s->rest);
  for (int i = sys->start[GA_BLOCK_PSI]; i < sys->start[GA_BLOCK_X]; i++)
    s->by_p[i] = s->rest[i] + s->by_p[i]; /* −k_v δq₀ */
  if (share == 0.0)
    memset(s->z, 0, (size_t)sys->n * sizeof *s->z);
  else
    status = keep_free(s, share);
  if (!status) status = iterate(s);
  ga__copy_numbers(dq, s->z, sys->nv);
  if (dx) ga__copy_numbers(dx, s->z + sys->start[GA_BLOCK_X], sys->size[GA_BLOCK_X]);
  return status;
}

static ga_status check(const slope *s)
{
  const ga_equilibrium *eq = s->eq;
  if (!eq->has_state || eq->report.load != 1.0)
    return ga__refuse_order(eq->ctx, "ga_equilibrium_slope",
                            "after ga_equilibrium_solve() has found an equilibrium");
  if (!(s->par->step > 0.0 && isfinite(s->par->step)))
    return ga__refuse_number(eq->ctx, "sensitivities", "step", s->par->step, "> 0 and finite");
  if (eq->report.at_kink)
    return refuse(s, GA_ERR_DERIVATIVE, "at the equilibrium the equations have a corner or a jump", NULL);
  return GA_OK;
}

ga_status ga_equilibrium_slope(ga_equilibrium *eq, const ga_parameter *parameter, double *dq, double *dx)
{
  if (!eq) return GA_ERR_ARGUMENT;
  if (!parameter || !dq) return ga__refuse_null(eq->ctx, __func__, parameter ? "dq" : "parameter");
  slope s = {.eq = eq, .par = parameter};
  ga_status status = check(&s);
  if (status) return status;
  const size_t n = (size_t)eq->sys->n;
  const ga__array part[] = {{&s.by_p, n}, {&s.z, n}, {&s.rest, n}, {&s.room, n}, {&s.way, n}, {&s.mass, n}};
  status = ga__arrays_create(eq->ctx, GA__ARRAYS(part), "derivatives of an equilibrium", &s.block, NULL);
  if (!status) status = compute(&s, dq, dx);
  ga__free(eq->ctx, s.block);
  return status;
}
