/* The iteration matrix against differences of the scaled residual, written out here a second time in the form
 * of the papers, with u = Δq + B_nᵀη as the unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core_rig.h"

enum { MOST = 128 };

/* The step under way, and where the residual is to be evaluated. */
typedef struct trial {
  rig *r;
  double q[RIG_MOST], v[RIG_MOST], vdot[RIG_MOST], xdot[RIG_MOST], exponent[RIG_MOST];
  double lambda[RIG_MOST], psi[RIG_MOST], y[RIG_MOST];
} trial;

/* z = (u, hλ, hψ, x₁, h y, η) of the stepper's present trial. */
static void unknowns(double *z, const ga_stepper *st)
{
  const ga_system *sys = st->sys;
  const ga__state *m = &st->next;
  const int *start = sys->start, *size = sys->size;
  const double h = st->h;
  for (int i = 0; i < sys->nv; i++) z[i] = st->v_n[i] + h * (0.5 * st->a_n[i] + st->p[i]);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) z[start[GA_BLOCK_LAMBDA] + i] = h * m->lambda[i];
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) z[start[GA_BLOCK_PSI] + i] = h * m->psi[i];
  for (int i = 0; i < size[GA_BLOCK_X]; i++) z[start[GA_BLOCK_X] + i] = m->x[i];
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) z[start[GA_BLOCK_Y] + i] = h * m->y[i];
  for (int i = sys->n; i < st->factors.n; i++) z[i] = m->eta[i - sys->n];
}

/* v₁ = c₂u + (1−c₂)v + h(1−c₂/2)a,  vdot₁ = c₁((u−v)/h − a/2) + (a − αf vdot)/(1−αf)
 * q₁ = move(q, hΔq + (h²/12)[v,v₁]),  Δq = u − B_nᵀη */
static void mechanical(trial *t, const double *z)
{
  const ga_stepper *st = t->r->st;
  const ga_system *sys = st->sys;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *n = &st->now;
  const double *v = st->v_n; /* moved with h in the index-3 form */
  const double h = st->h, c1 = (1.0 - s->alpha_m) / (s->beta * (1.0 - s->alpha_f)), c2 = st->gamma / s->beta;
  double bracket[RIG_MOST];
  for (int i = 0; i < sys->nv; i++) {
    double a = st->a_n[i];
    t->v[i] = c2 * z[i] + (1.0 - c2) * v[i] + h * (1.0 - 0.5 * c2) * a;
    t->vdot[i] = c1 * ((z[i] - v[i]) / h - 0.5 * a) + (a - s->alpha_f * n->vdot[i]) / (1.0 - s->alpha_f);
    t->exponent[i] = h * z[i];
  }
  for (int e = 0; st->factors.n > sys->n && e < sys->n_b; e++) {
    int entry = sys->b_entry[e], row = sys->row[entry] - sys->start[GA_BLOCK_LAMBDA];
    t->exponent[sys->col[entry]] -= h * ga__exact_b(st)[e] * z[sys->n + row];
  }
  ga_group_bracket(sys->group, bracket, v, t->v);
  for (int i = 0; st->opts.commutator && i < sys->nv; i++) t->exponent[i] += h * h / 12.0 * bracket[i];
  ga_group_move(sys->group, t->q, n->q, t->exponent);
}

/* w₁ = ((x₁−x)/h − (1−θ)w)/θ,  xdot₁ = ((1−δm)w₁ + δm w − δf xdot)/(1−δf) */
static void states(trial *t, const double *x1)
{
  const ga_stepper *st = t->r->st;
  const ga_scheme *s = &st->opts.scheme;
  const ga__state *n = &st->now;
  for (int i = 0; i < st->sys->size[GA_BLOCK_X]; i++) {
    double w1 = ((x1[i] - n->x[i]) / st->h - (1.0 - st->theta) * st->w_n[i]) / st->theta;
    t->xdot[i] =
        ((1.0 - s->delta_m) * w1 + s->delta_m * st->w_n[i] - s->delta_f * n->xdot[i]) / (1.0 - s->delta_f);
  }
}

/* out = (h(M vdot₁−f), Φ/h, k, h(xdot₁−s), h(y−o), B v₁+Φ_t) at z */
static void scaled_residual(trial *t, double *out, const double *z)
{
  ga_stepper *st = t->r->st;
  const ga_system *sys = st->sys;
  const ga_system_def *def = &sys->def;
  const int *start = sys->start, *size = sys->size;
  const double h = st->h;
  double tmp[MOST];
  mechanical(t, z);
  states(t, z + start[GA_BLOCK_X]);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) t->lambda[i] = z[start[GA_BLOCK_LAMBDA] + i] / h;
  for (int i = 0; i < size[GA_BLOCK_PSI]; i++) t->psi[i] = z[start[GA_BLOCK_PSI] + i] / h;
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) t->y[i] = z[start[GA_BLOCK_Y] + i] / h;
  ga_point p = {st->now.scalar[GA__T] + h, t->q, t->v, t->vdot, t->lambda, t->psi,
                z + start[GA_BLOCK_X],     t->y, 0,    NULL};
  void *user = def->user;
  assert_int_equal(def->mass(user, &p, out), 0);
  assert_int_equal(def->force(user, &p, tmp), 0);
  for (int i = 0; i < sys->nv; i++) out[i] = h * (out[i] - tmp[i]);
  if (size[GA_BLOCK_LAMBDA]) assert_int_equal(def->phi(user, &p, out + start[GA_BLOCK_LAMBDA]), 0);
  for (int i = 0; i < size[GA_BLOCK_LAMBDA]; i++) out[start[GA_BLOCK_LAMBDA] + i] /= h;
  if (size[GA_BLOCK_PSI]) assert_int_equal(def->k(user, &p, out + start[GA_BLOCK_PSI]), 0);
  if (size[GA_BLOCK_X]) assert_int_equal(def->state(user, &p, tmp), 0);
  for (int i = 0; i < size[GA_BLOCK_X]; i++) out[start[GA_BLOCK_X] + i] = h * (t->xdot[i] - tmp[i]);
  if (size[GA_BLOCK_Y]) assert_int_equal(def->output(user, &p, tmp), 0);
  for (int i = 0; i < size[GA_BLOCK_Y]; i++) out[start[GA_BLOCK_Y] + i] = h * (t->y[i] - tmp[i]);
  if (st->factors.n > sys->n) assert_int_equal(def->phi_dot(user, &p, out + sys->n), 0);
}

/* The trial of the stepper is the same as that of the formulas here. */
static void assert_same_trial(trial *t, const double *z)
{
  const ga_stepper *st = t->r->st;
  const ga_system *sys = st->sys;
  mechanical(t, z);
  states(t, z + sys->start[GA_BLOCK_X]);
  for (int i = 0; i < sys->nq; i++) assert_near(t->q[i], st->next.q[i], 1e-13, "q");
  for (int i = 0; i < sys->nv; i++) {
    assert_near(t->v[i], st->next.v[i], 1e-13 * (1.0 + fabs(t->v[i])), "v");
    assert_near(t->vdot[i], st->next.vdot[i], 1e-12 * (1.0 + fabs(t->v[i])) / st->h, "vdot");
  }
  for (int i = 0; i < sys->size[GA_BLOCK_X]; i++)
    assert_near(t->xdot[i], st->next.xdot[i], 1e-12 * (1.0 + fabs(t->xdot[i])) / st->h, "xdot");
}

/* Largest difference between K and the derivative of the residual by z, each row over its largest entry. The
 * triangular form has none but the terms of Φ in the columns of η. */
static double matrix_error(trial *t, const double *z0, int triangular)
{
  const ga_sparse *K = ga__matrix_in_use(t->r->st)->assembly.K;
  const ga_system *sys = t->r->sys;
  const int n = K->rows;
  static const double at[] = {1.0, -1.0, 2.0, -2.0}, weight[] = {8.0, -8.0, -1.0, 1.0};
  double *expected = calloc((size_t)(n * n), sizeof *expected), z[MOST], out[MOST], worst = 0.0;
  assert_non_null(expected);
  for (int j = 0; j < n; j++) {
    double step = 1e-4 * (1.0 + fabs(z0[j]));
    for (int k = 0; k < 4; k++) {
      memcpy(z, z0, (size_t)n * sizeof *z);
      z[j] += at[k] * step;
      scaled_residual(t, out, z);
      for (int i = 0; i < n; i++) expected[i * n + j] += weight[k] * out[i] / (12.0 * step);
    }
  }
  for (int i = 0; i < n; i++) {
    double size = ga__max_abs(expected + i * n, n, NULL);
    int in_phi = i >= sys->start[GA_BLOCK_LAMBDA] && i < sys->start[GA_BLOCK_PSI];
    for (int j = 0; j < n; j++) {
      int place = ga_sparse_find(K, i, j);
      if (triangular && j >= sys->n && !in_phi) expected[i * n + j] = 0.0;
      double error = fabs((place >= 0 ? K->value[place] : 0.0) - expected[i * n + j]) / size;
      if (!(error <= worst)) worst = error;
    }
  }
  free(expected);
  return worst;
}

/* A trial that is nobody's solution: the prediction, moved at random, η as well. */
static void disturb(ga_stepper *st, rig_random *random)
{
  const ga_system *sys = st->sys;
  ga__state *m = &st->next;
  double *const array[] = {st->p, m->lambda, m->psi, st->px, m->y, m->eta};
  const int *size = sys->size, n[] = {sys->nv, size[1], size[2], size[3], size[4], st->factors.n - sys->n};
  for (int k = 0; k < 6; k++)
    for (int i = 0; i < n[k]; i++) array[k][i] += rig_uniform(random, -0.5, 0.5);
}

static void matrix_is_the_derivative(void **state)
{
  static const char *const name[] = {"heavy_top",   "heavy_top_left",    "heavy_top_se3", "heavy_top_s3",
                                     "mechatronic", "rolling_disk",      "test15",        "spring_mass",
                                     "andrews31",   "rank_deficient_d1", "pendulum"};
  rig_random random = rig_seed(0);
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int variant = 0; variant < 6; variant++) {
      rig r = rig_open(name[i]);
      trial t = {.r = &r};
      double z[MOST], h = r.problem->h;
      char what[96];
      r.opts.method = variant & 1 ? GA_STABILIZED : GA_INDEX3;
      r.opts.commutator = variant >> 1 & 1;
      r.opts.adjust = variant & 2 ? GA_ADJUST_GAMMA : GA_ADJUST_SHIFT;
      r.opts.newton.eta_terms = variant < 4 ? GA_ETA_FULL : GA_ETA_TRIANGULAR;
      rig_build(&r);
      rig_start(&r, h);
      rig_steps(&r, h, 2);
      h *= 0.7; /* so that a and w are adjusted */
      assert_status(r.ctx, r.st->family->predict(r.st, h, ga__stack_begin(&r.st->scratch)), GA_OK);
      disturb(r.st, &random);
      ga__exact_trial(r.st);
      assert_status(r.ctx, r.st->family->prepare(r.st), GA_OK);
      assert_true(r.st->factors.n <= MOST);
      unknowns(z, r.st);
      assert_same_trial(&t, z);
      snprintf(what, sizeof what, "%s, variant %d", name[i], variant);
      assert_below(matrix_error(&t, z, r.opts.newton.eta_terms == GA_ETA_TRIANGULAR), 1e-6, what);
      rig_close(&r);
    }
}

/* Scaled as it is, the condition is that of the limit h → 0. */
static void condition_does_not_depend_on_h(void **state)
{
  static const char *const name[] = {"tumbling_top", "pendulum", "mechatronic",
                                     "rolling_disk", "test15",   "spring_mass"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++)
    for (int method = 0; method < 2; method++) {
      double least = HUGE_VAL, most = 0.0;
      char what[96];
      for (double h = 1e-2; h > 0.9e-6; h *= 0.1) {
        rig r = rig_open(name[i]);
        r.opts.method = (ga_method)method;
        rig_build(&r);
        rig_start(&r, h);
        double rcond = ga_stepper_stats(r.st)->rcond;
        assert_true(rcond > 0.0 && rcond <= 1.0);
        least = fmin(least, rcond);
        most = fmax(most, rcond);
        rig_close(&r);
      }
      snprintf(what, sizeof what, "%s, method %d: condition between %.1e and %.1e", name[i], method,
               1.0 / most, 1.0 / least);
      assert_below(most / least, 10.0, what);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(matrix_is_the_derivative),
                                     cmocka_unit_test(condition_does_not_depend_on_h)};
  return cmocka_run_group_tests_name("core: iteration matrix", tests, rig_hook_klu, NULL);
}
