/* Geometric stiffening: third derivatives of a beam element's energy, a truss with the geometric stiffness of
 * its bars, energy in all forms, and matrices that are refused. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/result.h"
#include "lie/mat3.h"
#include "mbs/beam.h"
#include "mbs/modal.h"
#include "mbs_shop.h"
#include "stiffening_rig.h"

#include <unistd.h>

/* ---- The element ---- */

/* The wrench on both ends at poses displaced by c[12], translations and rotation vectors, as it does work on
 * changes of c: moments times T, θ' ↦ θ' + ½ θ × θ' + θ × (θ × θ')/6. */
static void gradient(const ga__beam_element *e, const ga__kin ref[2], const double c[12], double out[12])
{
  ga__kin at[2];
  ga__beam_strain s;
  double n[6], g[6], w[12] = {0};
  for (int k = 0; k < 2; k++) {
    const double *theta = c + 6 * k + 3, f2 = ga__vec3_dot(theta, theta), f = sqrt(f2);
    double A[9];
    ga__mat3_about(A, cos(f), f > 0 ? sin(f) / f : 1, f > 0 ? (1 - cos(f)) / f2 : 0.5, theta);
    memset(&at[k], 0, sizeof at[k]);
    for (int i = 0; i < 3; i++) at[k].x[i] = ref[k].x[i] + c[6 * k + i];
    ga__mat3_mul(at[k].R, A, ref[k].R);
  }
  assert_int_equal(ga__beam_strain_at(&s, e, &at[0], &at[1]), 0);
  ga__beam_force_within(&s, e, n);
  ga__beam_gradient(&s, e, n, g);
  ga__beam_add_wrench(&s, g, w);
  for (int k = 0; k < 2; k++) {
    const double *theta = c + 6 * k + 3, *m = w + 6 * k + 3;
    double x[3], y[3];
    ga__vec3_cross(x, m, theta); /* Tᵀ m = m + ½ m × θ + (m × θ) × θ/6 */
    ga__vec3_cross(y, x, theta);
    for (int i = 0; i < 3; i++)
      out[6 * k + i] = w[6 * k + i], out[6 * k + 3 + i] = m[i] + 0.5 * x[i] + y[i] / 6;
  }
}

/* D³U[u, ·, ·] against second differences of the gradient. */
static void third_derivatives_are_right(void **state)
{
  rig_random random = rig_seed(11);
  (void)state;
  for (int k = 0; k < 4; k++) {
    ga__beam_section section = {.plain = k % 2};
    const double h = 1e-3, L = 0.7;
    double u[12], T[144], most = 0;
    for (int i = 0; i < 6; i++) section.K[7 * i] = 5.0 + i, section.C[7 * i] = 1 / (5.0 + i);
    const ga__beam_element e = {
        .section = &section, .L = L, .d0 = {L, 0, 0, k < 2 ? 0 : 0.3, k < 2 ? 0 : -0.5, k < 2 ? 0 : 0.4}};
    ga__kin ref[2];
    ga__beam_strain s;
    memset(ref, 0, sizeof ref);
    const double curvature[3] = {e.d0[3] / L, e.d0[4] / L, e.d0[5] / L};
    ref[0].R[0] = ref[0].R[4] = ref[0].R[8] = 1;
    ga__beam_reference(curvature, L, ref[1].x, ref[1].R);
    for (int i = 0; i < 12; i++) u[i] = rig_uniform(&random, -1, 1);
    assert_int_equal(ga__beam_strain_at(&s, &e, &ref[0], &ref[1]), 0);
    ga__beam_stiffening(&s, &e, u, T);
    for (int i = 0; i < 144; i++) most = fmax(most, fabs(T[i]));
    for (int b = 0; b < 12; b++) {
      double sum[12] = {0};
      for (int corner = 0; corner < 4; corner++) {
        const double su = corner & 1 ? -h : h, sb = corner & 2 ? -h : h;
        double c[12], g[12];
        for (int i = 0; i < 12; i++) c[i] = su * u[i] + (i == b ? sb : 0);
        gradient(&e, ref, c, g);
        for (int i = 0; i < 12; i++) sum[i] += (su * sb > 0 ? 1 : -1) * g[i] / (4 * h * h);
      }
      for (int i = 0; i < 12; i++) {
        assert_near(T[12 * i + b], sum[i], 1e-5 * most, "third derivative");
        assert_near(T[12 * i + b], T[12 * b + i], 1e-12 * most, "symmetry");
      }
    }
  }
}

/* ---- A truss ---- */

/* In brief a hundredth of the time: for memory, not for numbers. */
static const ga_state *run(shop *s, double T, int n)
{
  if (rig_brief() && n >= 100) T /= 100, n /= 100;
  double q0[RIG_MOST], v0[RIG_MOST], x0[RIG_MOST];
  const ga_stepper_opts opts = ga_stepper_defaults();
  ga_start_opts o = ga_start_defaults();
  o.h = T / n;
  if (!ga_machine_system(s->m)) shop_build(s);
  assert_status(s->ctx, ga_machine_initial(s->m, q0, v0, x0), GA_OK);
  assert_status(s->ctx, ga_stepper_create(s->ctx, ga_machine_system(s->m), &opts, &s->st), GA_OK);
  assert_status(s->ctx, ga_stepper_start(s->st, &o, 0, q0, v0, x0, NULL, NULL, NULL), GA_OK);
  for (int i = 0; i < n; i++) assert_status(s->ctx, ga_stepper_step(s->st, T / n), GA_OK);
  return ga_stepper_state(s->st);
}

enum { STEPS = 2000 };
static const double SPIN = 2;

/* A spring pulls at the tip of the spinning cage. */
static void hold_tip(shop *s, const char *tip)
{
  ga_spring_def d = ga_spring_defaults();
  d.name = "pull", d.a = "ground", d.b = tip, d.stiffness = 2, d.rest = 0;
  SHOP_ADD(s, spring, &d);
}

static void run_points(double k, double tip[3])
{
  static const char *const name[7] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6"};
  static const char *const axis[] = {"n6.x", "n6.y", "n6.z"};
  test_mesh *t = mesh_cage(k);
  shop s = shop_open(GA_FORM_SPACE, 0);
  for (int i = 0; i < 7; i++) {
    ga_point_def d = ga_point_defaults();
    d.name = name[i], d.mass = t->M[3 * i][3 * i];
    memcpy(d.position, t->position + 3 * i, sizeof d.position);
    d.velocity[0] = -SPIN * d.position[1], d.velocity[1] = SPIN * d.position[0];
    SHOP_ADD(&s, point, &d);
  }
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < i; j++) {
      char text[16];
      ga_spring_def d = ga_spring_defaults();
      snprintf(text, sizeof text, "s%d%d", i, j);
      d.name = text, d.a = name[i], d.b = name[j], d.stiffness = bar_stiffness(k, i, j);
      SHOP_ADD(&s, spring, &d);
    }
  hold_tip(&s, "n6");
  const ga_state *at = run(&s, 1, STEPS);
  for (int i = 0; i < 3; i++) tip[i] = shop_signal(&s, at, axis[i]);
  shop_close(&s);
  free(t);
}

static void run_cage(double k, int stiffened, double tip[3])
{
  static const char *const axis[] = {"arm.tip.x", "arm.tip.y", "arm.tip.z"};
  ga_context *ctx;
  ga_modal_body *body = NULL;
  ga_reduction_opts o = ga_reduction_defaults();
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  stiff_cage c = cage_open(ctx, k, 1);
  o.kind = GA_REDUCTION_FREE, o.modes = 15, o.no_stiffening = !stiffened;
  c.t->mesh.stiffening = (const ga_sparse *const *)c.matrix;
  assert_status(ctx, ga_modal_body_create(ctx, &c.t->mesh, &o, &body), GA_OK);
  assert_int_equal(ga_modal_body_is_stiffened(body), stiffened);
  cage_close(ctx, &c);
  const rig_heap kept = rig_memory;
  shop s = shop_open(GA_FORM_SPACE, 0);
  ga_modal_def d = ga_modal_defaults();
  d.name = "arm", d.body = body, d.omega[2] = SPIN;
  SHOP_ADD(&s, modal, &d);
  hold_tip(&s, "arm.tip");
  const ga_state *at = run(&s, 1, STEPS);
  for (int i = 0; i < 3; i++) tip[i] = shop_signal(&s, at, axis[i]);
  shop_close(&s);
  rig_memory = kept;
  ga_modal_body_destroy(&body);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

static double distance(const double a[3], const double b[3])
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Stiffened by matrices of its loads, a truss comes nearer to points and springs of any motion. A compact
 * one, as here, is not much softer in some directions than in others, and what is neglected is of the same
 * order as stiffening. */
static void trusses_are_stiffened(void **state)
{
  (void)state;
  for (int level = 0; level < 2; level++) {
    const double k = level ? 4e2 : 1e2;
    double full[3], with[3], without[3];
    run_points(k, full);
    run_cage(k, 1, with);
    run_cage(k, 0, without);
    if (!rig_brief()) assert_true(distance(full, with) < 0.55 * distance(full, without));
  }
}

/* ---- Energy ---- */

/* A slender blade that flies, spins and vibrates: the energy stays, up to the method's error, at second
 * order. */
static void energy_stays(void **state)
{
  static const char *const name[2] = {"root", "tip"};
  static const double at[2] = {0, 1};
  (void)state;
  for (int form = 0; form < 3; form++) {
    ga_context *ctx;
    ga_modal_body *body = NULL;
    ga_beam_def d = ga_beam_defaults();
    ga_reduction_opts o = ga_reduction_defaults();
    double drift[2];
    rig_memory = (rig_heap){0, 0, 0, 0};
    assert_int_equal(rig_context(&ctx), GA_OK);
    d.name = "beam", d.length = 1, d.elements = 6, d.section = GA_SECTION_NUMBERS, d.mass_per_length = 1;
    for (int i = 0; i < 6; i++) d.stiffness[7 * i] = i < 3 ? 1e4 : 1;
    for (int i = 0; i < 3; i++) d.rotary_inertia[i] = 1e-3;
    o.modes = 2;
    assert_status(ctx, ga_modal_body_create_beam(ctx, &d, 2, at, name, &o, &body), GA_OK);
    const rig_heap kept = rig_memory;
    for (int level = 0; level < 2; level++) {
      shop s = shop_open((ga_form)form, 0);
      ga_modal_def b = ga_modal_defaults();
      ga_spring_def pull = ga_spring_defaults();
      b.name = "arm", b.body = body, b.velocity[0] = 0.3, b.omega[1] = 3, b.omega[2] = 8;
      SHOP_ADD(&s, modal, &b);
      shop_marker(&s, "hook", "ground", 0.2, -0.3, 0.1);
      pull.name = "pull", pull.a = "hook", pull.b = "arm.root", pull.stiffness = 20;
      SHOP_ADD(&s, spring, &pull);
      const ga_state *z = run(&s, 1e-9, 1);
      const double before = shop_signal(&s, z, "energy.kinetic") + shop_signal(&s, z, "energy.potential");
      ga_stepper_destroy(&s.st);
      z = run(&s, 0.3, 6000 << level);
      drift[level] =
          fabs(shop_signal(&s, z, "energy.kinetic") + shop_signal(&s, z, "energy.potential") - before) /
          before;
      shop_close(&s);
    }
    assert_true(drift[1] < 1e-5);
    if (!rig_brief()) assert_true(drift[0] / drift[1] > 3.3);
    rig_memory = kept;
    ga_modal_body_destroy(&body);
    ga_context_destroy(&ctx);
  }
}

/* ---- What is refused ---- */

static void wrong_matrices_are_refused(void **state)
{
  ga_context *ctx;
  ga_modal_body *body = NULL;
  (void)state;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  for (int k = 0; k < 5; k++) {
    static const char *const text[] = {"its stiffening matrix of load 'spin_xx' is not that of the load on "
                                       "the free body with inertia relief: "
                                       "for a rotation about",
                                       "for a rotation about", "for a translation along x it gives",
                                       "its stiffening matrix is not symmetric",
                                       "its stiffening matrix is 7 x 7"};
    stiff_cage c = cage_open(ctx, 100, k == 0 ? -1 : k == 1 ? 1.3 : 1); /* other signs, other units */
    ga_sparse *other = NULL;
    const int corner[1] = {6};
    int place[1];
    if (k == 2) c.matrix[4]->value[ga_sparse_find(c.matrix[4], 0, 0)] += 1;
    if (k == 3) c.matrix[8]->value[ga_sparse_find(c.matrix[8], 0, 1)] += 1;
    if (k == 4) {
      assert_status(ctx, ga_sparse_create(ctx, 7, 7, 1, corner, corner, place, &other), GA_OK);
      ga_sparse_destroy(ctx, &c.matrix[2]);
      c.matrix[2] = other;
    }
    c.t->mesh.stiffening = (const ga_sparse *const *)c.matrix;
    assert_status(ctx, ga_modal_body_create(ctx, &c.t->mesh, NULL, &body), GA_ERR_ARGUMENT);
    assert_says(ctx, text[k]);
    cage_close(ctx, &c);
  }
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

/* Every allocation of a mesh, of its file, and of a body with stiffening matrices may fail. */
static void memory_may_fail(void **state)
{
  static const char *const name[1] = {"root"};
  static const double at[1] = {0};
  char path[] = "/tmp/galpha-mesh-XXXXXX";
  ga_context *ctx;
  ga_beam_def d = ga_beam_defaults();
  (void)state;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  d.name = "beam", d.length = 1, d.elements = 2, d.mass_per_length = 1;
  for (int i = 0; i < 6; i++) d.stiffness[7 * i] = 10;
  for (int i = 0; i < 3; i++) d.rotary_inertia[i] = 1e-3;
  rig_memory = (rig_heap){0, 0, 0, 0};
  assert_int_equal(rig_context(&ctx), GA_OK);
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 23 : 1) {
    ga_beam_mesh *mesh = NULL;
    const long live = rig_memory.live;
    rig_memory.fail_at = rig_memory.count + n;
    ga_status status = ga_beam_mesh_create(ctx, &d, 1, at, name, 1, &mesh);
    if (!status) status = ga_mesh_write(ctx, ga_beam_mesh_get(mesh), path);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    if (!failed) assert_int_equal(status, GA_OK);
    if (failed) assert_true(status == GA_ERR_MEMORY || status == GA_ERR_FILE);
    ga_beam_mesh_destroy(&mesh);
    assert_int_equal(rig_memory.live, live);
  }
  stiff_cage c = cage_open(ctx, 100, 1);
  c.t->mesh.stiffening = (const ga_sparse *const *)c.matrix;
  for (long n = 1, failed = 1; failed; n += rig_brief() ? 11 : 1) {
    ga_modal_body *body = NULL;
    const long live = rig_memory.live;
    rig_memory.fail_at = rig_memory.count + n;
    const ga_status status = ga_modal_body_create(ctx, &c.t->mesh, NULL, &body);
    failed = rig_memory.count >= rig_memory.fail_at;
    rig_memory.fail_at = 0;
    assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
    ga_modal_body_destroy(&body);
    assert_int_equal(rig_memory.live, live);
  }
  cage_close(ctx, &c);
  remove(path);
  ga_context_destroy(&ctx);
  assert_int_equal(rig_memory.live, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(third_derivatives_are_right),
      cmocka_unit_test(trusses_are_stiffened),
      cmocka_unit_test(energy_stays),
      cmocka_unit_test(wrong_matrices_are_refused),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
