/* Modes: chains of masses against closed forms, by LAPACK and by ARPACK; zeros, damping, controllers,
 * constraints that repeat others, steady motions; shapes, residuals, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "linkage.h"
#include <complex.h>

static const double PI = 3.14159265358979323846;

static ga_point point_of(const ga_state *s)
{
  return (ga_point){s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
}

static ga_modes *find_modes(const rig *r, int n, int dense, const ga_point *p)
{
  ga_modes_opts o = ga_modes_defaults();
  ga_modes *modes = NULL;
  o.n = n, o.dense = dense;
  assert_status(r->ctx, ga_modes_create(r->ctx, r->sys, &o, p, &modes), GA_OK);
  assert_non_null(modes);
  const ga_modes_info *info = ga_modes_get_info(modes);
  assert_true(info->n > 0 && (n == 0 || info->n == n));
  assert_null(ga_modes_at(modes, -1));
  assert_null(ga_modes_at(modes, info->n));
  for (int i = 0; i < info->n; i++) {
    const ga_mode *m = ga_modes_at(modes, i);
    assert_below(m->residual, 1e-12, "residual");
    assert_true(m->im >= 0.0 && (m->zero == (m->re == 0.0 && m->im == 0.0)));
    assert_near(m->frequency, m->im / (2 * PI), 1e-14, "frequency");
    if (i > 0) assert_true(hypot(m->re, m->im) >= hypot(m[-1].re, m[-1].im));
  }
  return modes;
}

static void assert_eigenvalue(const ga_modes *modes, int i, double re, double im, double tolerance)
{
  const ga_mode *m = ga_modes_at(modes, i);
  const double off = hypot(m->re - re, m->im - im), size = hypot(re, im);
  if (!(off <= tolerance * size))
    fail_msg("mode %d: %.15g %+.15g i instead of %.15g %+.15g i", i, m->re, m->im, re, im);
}

/* ---- A chain of n masses m between springs k, dampers in proportion to both ---- */

enum { LONGEST = 1500 };

typedef struct chain {
  int n, free; /* free: the first mass has no spring to the ground */
  double m, k, d;
  double kink, friction; /* forces on the last mass: kink |q|, against its velocity friction sign(v) */
  int row[3 * LONGEST], col[3 * LONGEST], entries;
} chain;

static int chain_mass(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++) out[i] = c->m * p->vdot[i];
  return 0;
}

static int chain_force(void *user, const ga_point *p, double *out)
{
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    out[i] = 0.0;
    if (i > 0 || !c->free) {
      const double q = p->q[i] - (i > 0 ? p->q[i - 1] : 0.0), v = p->v[i] - (i > 0 ? p->v[i - 1] : 0.0);
      out[i] -= c->k * q + c->d * v;
    }
    if (i + 1 < c->n) out[i] += c->k * (p->q[i + 1] - p->q[i]) + c->d * (p->v[i + 1] - p->v[i]);
  }
  out[c->n - 1] -= c->kink * fabs(p->q[c->n - 1]);
  out[c->n - 1] -= c->friction * ((p->v[c->n - 1] > 0) - (p->v[c->n - 1] < 0));
  return 0;
}

static int chain_jacobian(void *user, const ga_point *p, ga_jacobian *J)
{
  const chain *c = user;
  for (int e = 0; e < c->entries; e++) {
    const int i = c->row[e], j = c->col[e];
    const double share = i != j ? -1.0 : (i > 0 || !c->free) + (i + 1 < c->n), last = p->q[c->n - 1];
    J->D[e] = J->shift_v * share * c->d + (i == j ? J->shift_vdot * c->m : 0.0);
    J->Q[e] = share * c->k + (i == j && i == c->n - 1 ? c->kink * ((last > 0) - (last < 0)) : 0.0);
  }
  return 0;
}

static rig chain_open(chain *c, ga_factor *line)
{
  rig r = rig_open(NULL);
  c->entries = 0;
  for (int i = 0; i < c->n; i++)
    for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < c->n; j++)
      c->row[c->entries] = i, c->col[c->entries++] = j;
  *line = (ga_factor){GA_RN, c->n, GA_LEFT};
  r.def.n_factors = 1, r.def.factors = line, r.def.user = c;
  r.def.mass = chain_mass, r.def.force = chain_force, r.def.jacobian = chain_jacobian;
  r.def.n_pattern = c->entries, r.def.pattern_row = c->row, r.def.pattern_col = c->col;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  return r;
}

static const double nothing[LONGEST];
static const ga_point at_rest_point = {0.0,     nothing, nothing, nothing, nothing,
                                       nothing, nothing, nothing, 0,       NULL};

/* One end fixed: ω_j = 2 √(k/m) sin((2j − 1) π/(2(2n + 1))); free: ω_j = 2 √(k/m) sin(j π/(2n)), j = 0, 1,
 * ... */
static double chain_rate(const chain *c, int j)
{
  const double angle = c->free ? (j - 1) * PI / (2.0 * c->n) : (2 * j - 1) * PI / (2.0 * (2 * c->n + 1));
  return 2.0 * sqrt(c->k / c->m) * sin(angle);
}

/* Shape j of the fixed chain: sin((i + 1) (2j − 1) π/(2n + 1)). */
static void assert_chain_shape(const chain *c, const ga_mode *m, int j)
{
  double largest = 0.0, off = 0.0;
  int at = 0;
  for (int i = 0; i < c->n; i++) {
    const double now = sin((i + 1) * (2 * j - 1) * PI / (2 * c->n + 1));
    if (fabs(now) > fabs(largest)) largest = now, at = i;
  }
  for (int i = 0; i < c->n; i++) {
    const double now = sin((i + 1) * (2 * j - 1) * PI / (2 * c->n + 1)) / largest;
    off = fmax(off, fabs(now - m->real.q[i] / m->real.q[at]));
    off = fmax(off, fabs(m->imaginary.q[i]));
    assert_near(m->imaginary.v[i], m->im * m->real.q[i], 1e-9, "velocity");
    assert_near(m->real.vdot[i], -m->im * m->im * m->real.q[i], 1e-9, "acceleration");
  }
  assert_below(off, 1e-8, "shape");
  assert_near(fabs(m->real.q[at]), 1.0, 1e-8, "largest");
}

static void chains(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  for (int n = 3; n <= LONGEST; n = n == 3 ? 40 : n == 40 ? 250 : n == 250 ? LONGEST : LONGEST + 1)
    for (int dense = -1; dense <= 1; dense += 2)
      for (int is_free = 0; is_free < 2; is_free++) {
        if (n > 300 && dense > 0) continue;
        c = (chain){.n = n, .m = 0.2, .k = 3e4, .free = is_free};
        rig r = chain_open(&c, &line);
        const int wanted = n == 3 ? 3 : 8;
        ga_modes *modes = find_modes(&r, wanted, dense, &at_rest_point);
        const ga_modes_info *info = ga_modes_get_info(modes);
        assert_int_equal(info->n_all, 2 * n);
        assert_int_equal(info->n_zero, is_free ? 2 : 0);
        assert_true(info->squared && info->unsteady == 0.0 && info->residual == 0.0);
        if (n > 3) assert_int_equal(info->dense, dense > 0);
        for (int i = is_free; i < wanted; i++) {
          assert_eigenvalue(modes, i, 0.0, chain_rate(&c, i + 1), 1e-10);
          assert_true(ga_modes_at(modes, i)->re == 0.0);
        }
        if (is_free) assert_true(ga_modes_at(modes, 0)->zero);
        for (int i = 0; is_free && i < n; i++)
          assert_near(ga_modes_at(modes, 0)->real.q[i], 1.0, 1e-9, "free motion");
        for (int i = 0; !is_free && i < wanted; i++) assert_chain_shape(&c, ga_modes_at(modes, i), i + 1);
        ga_modes_destroy(&modes);
        assert_null(modes);
        rig_close(&r);
      }
}

/* d = k β: s² + β ω² s + ω² = 0, fast modes without oscillation. */
static void damped_chains(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  for (int dense = -1; dense <= 1; dense += 2)
    for (int is_free = 0; is_free < 2; is_free++) {
      c = (chain){.n = 120, .m = 0.2, .k = 3e4, .free = is_free, .d = 3e4 * 1e-3};
      rig r = chain_open(&c, &line);
      ga_modes *modes = find_modes(&r, 9, dense, &at_rest_point);
      assert_int_equal(ga_modes_get_info(modes)->squared, 0);
      assert_int_equal(ga_modes_get_info(modes)->n_zero, is_free ? 2 : 0);
      for (int i = is_free; i < 9; i++) {
        const double w = chain_rate(&c, i + 1), damping = 0.5e-3 * w;
        assert_eigenvalue(modes, i, -damping * w, w * sqrt(1.0 - damping * damping), 1e-9);
        assert_near(ga_modes_at(modes, i)->damping, damping, 1e-8, "damping");
      }
      ga_modes_destroy(&modes);
      rig_close(&r);
    }
}

/* Masses that nothing holds: as many zeros as there are masses, of which ARPACK sees one at first. */
static void many_zeros(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  for (int damped = 0; damped < 2; damped++) {
    c = (chain){
        .n = 250, .m = 0.2, .free = 1, .d = damped ? 0.1 : 0.0}; /* dampers between them leave one speed */
    rig r = chain_open(&c, &line);
    ga_modes *modes = find_modes(&r, 40, -1, &at_rest_point);
    for (int i = 0; i < 40; i++) assert_true(ga_modes_at(modes, i)->zero);
    assert_true(ga_modes_get_info(modes)->n_zero >= 40);
    ga_modes_destroy(&modes);
    modes = find_modes(&r, damped ? 252 : 250, 0, &at_rest_point);
    assert_int_equal(ga_modes_get_info(modes)->n_zero, damped ? 251 : 500);
    for (int i = 0; i < 250; i++) assert_true(ga_modes_at(modes, i)->zero);
    if (damped) assert_eigenvalue(modes, 250, -0.5 * 4.0 * pow(sin(PI / 500.0), 2.0), 0.0, 1e-8);
    ga_modes_destroy(&modes);
    rig_close(&r);
  }
}

/* Slow against its other modes, and yet no zero: a free chain on one soft spring, ω² = k_soft/(n m) nearly.
 */
static void slow_modes_are_no_zeros(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  c = (chain){.n = 3, .m = 1e-7, .k = 1e-7};
  rig r = chain_open(&c, &line);
  ga_modes *modes = find_modes(&r, 3, 0, &at_rest_point);
  for (int i = 0; i < 3; i++) assert_eigenvalue(modes, i, 0.0, chain_rate(&c, i + 1), 1e-12);
  ga_modes_destroy(&modes);
  rig_close(&r);
  c = (chain){.n = 3, .m = 1.0, .k = 1e-12}; /* all of them below 2e-6/s */
  r = chain_open(&c, &line);
  modes = find_modes(&r, 3, 0, &at_rest_point);
  for (int i = 0; i < 3; i++) assert_eigenvalue(modes, i, 0.0, chain_rate(&c, i + 1), 1e-10);
  ga_modes_destroy(&modes);
  rig_close(&r);
}

/* Many modes, all of them far slower than 1/s: the first shift is lowered before any of them is accurate. */
static void many_slow_modes(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  for (int is_free = 0; is_free < 2; is_free++)
    for (int damped = 0; damped < 2; damped++) {
      c = (chain){.n = LONGEST, .m = 0.2, .k = 2.0, .free = is_free, .d = damped ? 2.0 : 0.0};
      rig r = chain_open(&c, &line);
      ga_modes *modes = find_modes(&r, 8, -1, &at_rest_point);
      const ga_modes_info *info = ga_modes_get_info(modes);
      assert_true(!info->dense && info->shift < 0.2);
      assert_int_equal(info->n_zero, is_free ? 2 : 0);
      for (int i = is_free; i < 8; i++) {
        const double w = chain_rate(&c, i + 1), damping = damped ? 0.5 * w : 0.0;
        assert_eigenvalue(modes, i, -damping * w, w * sqrt(1.0 - damping * damping), 1e-9);
      }
      ga_modes_destroy(&modes);
      rig_close(&r);
    }
}

/* ---- A mass with a PID controller: the poles are roots of a polynomial ----
 * m q'' = u,  u = −kp q − ki x1 − kd y,  x1' = q,  y = (q − x2)/T,  x2' = y:
 * m s² (T s + 1) s + (kp s + ki)(T s + 1) + kd s² = 0, times q/(s (T s + 1)). */

static const double MASS = 2.0, KP = 50.0, KI = 20.0, KD = 8.0, LAG = 0.05;

static int pid_mass(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = MASS * p->vdot[0];
  return 0;
}

static int pid_force(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = -KP * p->q[0] - KI * p->x[0] - KD * p->y[0];
  return 0;
}

static int pid_state(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = p->q[0];
  out[1] = p->y[0];
  return 0;
}

static int pid_output(void *user, const ga_point *p, double *out)
{
  (void)user;
  out[0] = (p->q[0] - p->x[1]) / LAG;
  return 0;
}

static void controlled_mass(void **state)
{
  static const ga_factor line = {GA_RN, 1, GA_LEFT};
  rig r = rig_open(NULL);
  (void)state;
  r.def.n_factors = 1, r.def.factors = &line, r.def.n_x = 2, r.def.n_y = 1;
  r.def.mass = pid_mass, r.def.force = pid_force, r.def.state = pid_state, r.def.output = pid_output;
  assert_status(r.ctx, ga_system_create(r.ctx, &r.def, &r.sys), GA_OK);
  ga_modes *modes = find_modes(&r, 0, 0, &at_rest_point);
  const int n = ga_modes_get_info(modes)->n;
  int poles = 0;
  for (int i = 0; i < n; i++) {
    const ga_mode *m = ga_modes_at(modes, i);
    const double complex s = m->re + I * m->im, terms[] = {MASS * LAG * s * s * s * s,
                                                           MASS * s * s * s,
                                                           LAG * KP * s * s,
                                                           KP * s,
                                                           LAG * KI * s,
                                                           KI,
                                                           KD * s * s};
    double complex sum = 0.0;
    double size = 0.0;
    for (int k = 0; k < 7; k++) sum += terms[k], size += cabs(terms[k]);
    assert_below(cabs(sum) / size, 1e-8, "polynomial");
    poles += m->im > 0.0 ? 2 : 1;
    const double complex q = m->real.q[0] + I * m->imaginary.q[0], x = m->real.x[0] + I * m->imaginary.x[0];
    assert_below(cabs(s * x - q), 1e-8, "state");
  }
  assert_int_equal(poles, 4);
  ga_modes_destroy(&modes);
  rig_close(&r);
}

/* ---- Constraints ---- */

static void start_at_rest(rig *r, const double *q0)
{
  const double zero[RIG_MOST] = {0};
  ga_start_opts o = ga_start_defaults();
  o.h = 1e-3;
  rig_build(r);
  assert_status(r->ctx, ga_stepper_start(r->st, &o, 0.0, q0, zero, zero, NULL, NULL, NULL), GA_OK);
}

/* A parallelogram, hanging, or standing, with rows that follow from others: one mode in every case. */
static void four_bar(void **state)
{
  (void)state;
  for (int n_extra = 0; n_extra <= 2; n_extra++)
    for (int standing = 0; standing < 2; standing++) {
      const double crank = 0.5, bar = 1.0, half_pi = acos(0.0), g = 9.81, up = standing ? 1.0 : -1.0;
      linkage l = {
          .n_links = 3,
          .n_pins = 4,
          .length = {crank, bar, crank},
          .mass = {1.3, 2.1, 1.3},
          .gravity = g,
          .pin = {{0, -1, -0.5, 0, 0, 0},
                  {0, 1, 0.5, -0.5, 0, 0},
                  {1, 2, 0.5, 0.5, 0, 0},
                  {2, -1, -0.5, 0, bar, 0}},
          .q0 = {0, up * crank / 2, up * half_pi, bar / 2, up * crank, 0, bar, up * crank / 2, up * half_pi}};
      for (int i = 0; i < n_extra; i++) linkage_add_row(&l, i, 2.0, i + 1, 1.0);
      rig r = rig_open(NULL);
      linkage_define(&l, &r.def);
      start_at_rest(&r, l.q0);
      const ga_point p = point_of(ga_stepper_state(r.st));
      const double inertia = 2 * 1.3 * crank * crank / 3 + 2.1 * crank * crank,
                   rate = sqrt((1.3 * crank + 2.1 * crank) * g / inertia);
      ga_modes *modes = find_modes(&r, 0, 0, &p);
      assert_int_equal(ga_modes_get_info(modes)->n_all, 2);
      assert_int_equal(ga_modes_get_info(modes)->n, standing ? 2 : 1);
      assert_eigenvalue(modes, 0, standing ? -rate : 0.0, standing ? 0.0 : rate, 1e-8);
      if (standing) assert_eigenvalue(modes, 1, rate, 0.0, 1e-8);
      if (standing) assert_near(ga_modes_at(modes, 1)->damping, -1.0, 1e-12, "growing");
      ga_modes_destroy(&modes);
      rig_close(&r);
    }
}

/* A parallelogram that lies flat can leave for two kinds of motion, and has modes of neither. */
static void flat_four_bar(void **state)
{
  const double crank = 0.5, bar = 1.0;
  linkage l = {.n_links = 3,
               .n_pins = 4,
               .length = {crank, bar, crank},
               .mass = {1.3, 2.1, 1.3},
               .pin = {{0, -1, -0.5, 0, 0, 0},
                       {0, 1, 0.5, -0.5, 0, 0},
                       {1, 2, 0.5, 0.5, 0, 0},
                       {2, -1, -0.5, 0, bar, 0}},
               .q0 = {crank / 2, 0, 0, crank + bar / 2, 0, 0, bar + crank / 2, 0, 0}};
  rig r = rig_open(NULL);
  ga_modes *modes = NULL;
  (void)state;
  linkage_define(&l, &r.def);
  start_at_rest(&r, l.q0);
  const ga_point p = point_of(ga_stepper_state(r.st));
  assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, NULL, &p, &modes), GA_ERR_SINGULAR);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_SINGULAR_POSITION);
  assert_null(modes);
  rig_close(&r);
}

/* Eigenvalues of the dense linearisation are those of the pencil, on groups, in motion, with nonholonomic
 * constraints and states. */
static void same_as_linearisation(void **state)
{
  static const char *const names[] = {"heavy_top", "rolling_disk", "mechatronic", "cart_pole",
                                      "slider_crank"};
  (void)state;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    for (int dense = -1; dense <= 1; dense += 2) {
      rig r = rig_open(names[k]);
      ga_linearisation *lin = NULL;
      const ga_linear_form *f = NULL;
      rig_build(&r);
      rig_start(&r, 1e-3);
      const ga_point p = point_of(ga_stepper_state(r.st));
      assert_status(r.ctx, ga_linearisation_create(r.ctx, r.sys, &lin), GA_OK);
      assert_status(r.ctx, ga_linearisation_compute(lin, &p, &f), GA_OK);
      ga_modes *modes = find_modes(&r, 0, dense, &p);
      assert_int_equal(ga_modes_get_info(modes)->n_all, f->n);
      assert_near(ga_modes_get_info(modes)->unsteady, f->unsteady, 1e-9, "unsteady");
      /* det(A − s) = 0: the least squares of (A − s) z over |z| along the shape of the mode */
      for (int i = 0; i < ga_modes_get_info(modes)->n; i++) {
        const ga_mode *m = ga_modes_at(modes, i);
        const double complex s = m->re + I * m->im;
        double off = 0.0, size = 0.0;
        double complex z[RIG_MOST] = {0};
        for (int j = 0; j < f->n; j++) { /* z1 = Nᵀ δq; z2 = Zᵀ (δv − P N z1); δx */
          const int nv = r.sys->nv, state_at = j - f->n_q - f->n_v;
          if (state_at >= 0) {
            z[j] = m->real.x[state_at] + I * m->imaginary.x[state_at];
            continue;
          }
          const double *base = (j < f->n_q ? f->q : f->v) + (size_t)j * (size_t)nv;
          for (int l = 0; l < nv; l++) {
            double complex d =
                j < f->n_q ? m->real.q[l] + I * m->imaginary.q[l] : m->real.v[l] + I * m->imaginary.v[l];
            for (int c = 0; j >= f->n_q && c < f->n_q; c++)
              d -= f->v[(size_t)c * (size_t)nv + (size_t)l] * z[c];
            z[j] += base[l] * d;
          }
        }
        for (int row = 0; row < f->n; row++) {
          double complex sum = -s * z[row];
          for (int j = 0; j < f->n; j++) {
            sum += f->A[(size_t)j * (size_t)f->n + (size_t)row] * z[j];
            size = fmax(size, cabs(f->A[(size_t)j * (size_t)f->n + (size_t)row] * z[j]));
          }
          off = fmax(off, cabs(sum));
        }
        if (!(off <= 1e-6 * (1.0 + size + cabs(s))))
          fail_msg("%s: mode %d, %g %+g i, is off by %.2e of %.2e", names[k], i, m->re, m->im, off, size);
      }
      ga_modes_destroy(&modes);
      ga_linearisation_destroy(&lin);
      rig_close(&r);
    }
}

/* ---- What is refused ---- */

static void refusals(void **state)
{
  static chain c;
  ga_factor line;
  ga_modes_opts o = ga_modes_defaults();
  ga_modes *modes = NULL;
  (void)state;
  c = (chain){.n = 3, .m = 1.0, .k = 1.0};
  rig r = chain_open(&c, &line);
  o.n = -1;
  assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, &o, &at_rest_point, &modes), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_OUT_OF_RANGE);
  o.n = 4;
  assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, &o, &at_rest_point, &modes), GA_ERR_ARGUMENT);
  const ga_error *e = ga_context_error(r.ctx);
  assert_int_equal(e->reason, GA_REASON_TOO_FEW_MODES);
  assert_true(e->number[0].value == 4.0 && e->number[1].value == 3.0);
  o.n = 3000;
  assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, &o, &at_rest_point, &modes), GA_ERR_ARGUMENT);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_TOO_FEW_MODES);
  assert_null(modes);
  rig_close(&r);
  c = (chain){.n = 3, .m = 0.0, .k = 1.0}; /* no mass: A − τ E is regular, but has no finite eigenvalue */
  r = chain_open(&c, &line);
  assert_true(ga_modes_create(r.ctx, r.sys, NULL, &at_rest_point, &modes) < 0);
  assert_null(modes);
  rig_close(&r);
  c = (chain){.n = 3, .m = 0.0, .k = 0.0}; /* nor a spring: singular whatever the shift */
  r = chain_open(&c, &line);
  assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, NULL, &at_rest_point, &modes), GA_ERR_SINGULAR);
  assert_int_equal(ga_context_error(r.ctx)->reason, GA_REASON_SINGULAR_PENCIL);
  assert_null(modes);
  rig_close(&r);
}

/* At rest both forces have two derivatives or none; moved off, the kink is a spring, and friction constant.
 */
static void kinks(void **state)
{
  static chain c;
  ga_factor line;
  ga_modes *modes = NULL;
  (void)state;
  for (int i = 0; i < 6; i++) { /* with a free end, zeros have no speed in their shapes */
    c = (chain){.n = i / 2 == 2 ? 1 : 3, .m = 1.0, .k = 1.0, .free = i / 2 > 0};
    if (i % 2)
      c.friction = 2.0;
    else
      c.kink = 0.5;
    rig r = chain_open(&c, &line);
    assert_status(r.ctx, ga_modes_create(r.ctx, r.sys, NULL, &at_rest_point, &modes), GA_ERR_DERIVATIVE);
    const ga_error *e = ga_context_error(r.ctx);
    assert_int_equal(e->reason, GA_REASON_KINK);
    assert_true(e->block == GA_BLOCK_V && e->index == c.n - 1);
    assert_near(fabs(e->number[1].value - e->number[0].value), i % 2 ? 4.0 : 1.0, 1e-6, "both sides");
    assert_null(modes);
    rig_close(&r);
  }
  const double q[] = {0, 0, 1e-3}, v[] = {0, 0, 1e-3};
  ga_point moved = at_rest_point;
  moved.q = q, moved.v = v;
  c = (chain){
      .n = 3, .m = 1.0, .k = 1.0, .kink = 1.0, .friction = 2.0}; /* the spring of a longer, fixed chain */
  rig r = chain_open(&c, &line);
  modes = find_modes(&r, 3, 1, &moved);
  assert_eigenvalue(modes, 0, 0.0, 2.0 * sin(PI / 8.0), 1e-9);
  ga_modes_destroy(&modes);
  rig_close(&r);
}

/* Eigenvalues 5e13 times apart: the faster one is lost in rounding, and the search ends. */
static void far_apart(void **state)
{
  static chain c;
  ga_factor line;
  (void)state;
  c = (chain){.n = 1, .m = 1.0, .k = 100.0, .d = 5e7};
  rig r = chain_open(&c, &line);
  ga_modes *modes = find_modes(&r, 0, 0, &at_rest_point);
  assert_eigenvalue(modes, 0, -100.0 / 5e7, 0.0, 1e-6);
  ga_modes_destroy(&modes);
  rig_close(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains),
                                     cmocka_unit_test(damped_chains),
                                     cmocka_unit_test(slow_modes_are_no_zeros),
                                     cmocka_unit_test(many_slow_modes),
                                     cmocka_unit_test(many_zeros),
                                     cmocka_unit_test(controlled_mass),
                                     cmocka_unit_test(four_bar),
                                     cmocka_unit_test(flat_four_bar),
                                     cmocka_unit_test(same_as_linearisation),
                                     cmocka_unit_test(kinks),
                                     cmocka_unit_test(far_apart),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("core: modes", tests, rig_hook_klu, NULL);
}
