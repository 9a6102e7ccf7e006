/* Geometric stiffening of modal bodies, by displacements of second order.
 *
 * A beam that is bent gets shorter: nodes move by u = φ η + ½ Σ_ab g_ab η_a η_b, with g_ab such that the
 * elastic energy has no cubic terms, U = ½ m Σ λ_a η_a². With D³U the third derivatives of the energy by
 * displacements, and in mean axes,
 *
 *   K g_ab = −D³U[φ_a, φ_b],   so that   F·g_ab = −D³U[K⁺F, φ_a, φ_b] = −φ_aᵀ K_G(F) φ_b
 *
 * for a load F, where K_G(F) is the geometric stiffness: how the stresses of F change the stiffness. g_ab
 * itself is not needed. As it has neither momentum nor, at first order, angular momentum, it adds to the
 * integrals of inertia J2 alone, by centrifugal loads F_ij:
 *
 *   J2_ab,ij += F_ij·g_ab (i ≠ j),  2 F_ii·g_ab
 *
 * and to the places of interface nodes, by unit loads on them. Loads at the nodes, reactions among them, then
 * stiffen the body through the work that they do along g_ab; so do accelerations and weight, which are in
 * balance with these loads.
 *
 * Each of the three displacements of D³U[k, a, b] can take the one of second order. Only the stiffest does:
 * the axial one of an axial and two of bending. Then elastic energy of fourth order, which is neglected, is
 * small. Loads of a node are combined so that they do not displace along each other (eigenvectors of its
 * flexibility). One whose displacements have the stiffness k takes the part k⁴/(k⁴ + a⁴ + b⁴), where a and b
 * are the stiffnesses of modes: uᵀKu/uᵀWu, W the masses of nodes for displacements, and masses times the
 * square of the size of the body for rotations. What is neglected of T is of third order in amplitudes.
 */
#include "lin/lin_impl.h"
#include "mbs/modal.h"

#include "lie/mat3.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_FLEXIBILITY 1e-13 /* relative: such a combination of loads does not displace */
#define INVARIANT 0.05       /* of the work of turned loads, relative: what a matrix may be off */

static const int SPIN[GA_MESH_SPIN_LOADS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
static const double UNIT[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* ---- Loads ---- */

int ga__mesh_n_loads(const ga_mesh *mesh)
{
  return GA_MESH_SPIN_LOADS + mesh->dofs * mesh->n_interface;
}

void ga__mesh_load_name(char *text, size_t size, int i, int dofs, const char *const *interface)
{
  static const char *const spin[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
  static const char *const unit[] = {"fx", "fy", "fz", "mx", "my", "mz"};
  const int at = i - GA_MESH_SPIN_LOADS;
  if (at < 0)
    snprintf(text, size, "spin_%s", spin[i]);
  else
    snprintf(text, size, "%s_%s", interface[at / dofs], unit[at % dofs]);
}

/* f += y × e_j of all nodes, y = M r_i: centrifugal forces of ω_i ω_j */
static void add_spin(ga__mesh_work *w, int i, int j, double *f)
{
  ga_sparse_mul(w->y, w->mesh->mass, w->rigid + (size_t)(3 + i) * (size_t)w->N);
  for (int k = 0; k < w->N; k += 3) {
    double c[3];
    ga__vec3_cross(c, w->y + k, UNIT[j]);
    for (int n = 0; n < 3; n++) f[k + n] += c[n];
  }
}

void ga__mesh_load(ga__mesh_work *w, int i, double *f)
{
  const ga_mesh *mesh = w->mesh;
  const int at = i - GA_MESH_SPIN_LOADS;
  memset(f, 0, (size_t)w->N * sizeof *f);
  if (at >= 0) {
    f[mesh->dofs * mesh->interface_node[at / mesh->dofs] + at % mesh->dofs] = 1.0;
    return;
  }
  add_spin(w, SPIN[i][0], SPIN[i][1], f);
  if (SPIN[i][0] != SPIN[i][1]) add_spin(w, SPIN[i][1], SPIN[i][0], f);
}

/* ---- A matrix as it is given ---- */

/* Rigid motions have no stresses, and turn loads with them: K_G t = 0 for translations t, and
 * r_iᵀ K_G r_j = −½ Σ F·(e_i × (e_j × s) + e_j × (e_i × s)) for rotations, F the load with its relief. */
static double turned_work(const ga__mesh_work *w, const double *f, int i, int j)
{
  const ga_mesh *mesh = w->mesh;
  double sum = 0.0;
  for (int k = 0; k < mesh->n_nodes; k++) {
    const double *F = f + mesh->dofs * k;
    double s[3], a[3], b[3];
    for (int c = 0; c < 3; c++) s[c] = mesh->position[3 * k + c] - w->centre[c];
    ga__vec3_cross(a, UNIT[j], s);
    ga__vec3_cross(b, UNIT[i], a);
    sum -= 0.5 * ga__vec3_dot(F, b);
    ga__vec3_cross(a, UNIT[i], s);
    ga__vec3_cross(b, UNIT[j], a);
    sum -= 0.5 * ga__vec3_dot(F, b);
  }
  return sum;
}

static ga_status refuse(const ga__mesh_work *w, int load, const char *motion, double value, double expected)
{
  char name[GA_ERROR_NAME];
  ga__mesh_load_name(name, sizeof name, load, w->mesh->dofs, w->mesh->interface_name);
  return ga__refuse(w->ctx, GA_ERR_ARGUMENT, GA_REASON_MESH_STIFFENING,
                    &(ga__facts){.kind = "mesh",
                                 .field = "stiffening",
                                 .name = name,
                                 .other = motion,
                                 GA__NUMBERS({value, NULL}, {expected, NULL})});
}

/* f: the load with its relief */
static ga_status check_invariance(ga__mesh_work *w, int load, const ga_sparse *K, const double *f)
{
  static const char *const motion[6] = {"translation along x", "translation along y", "translation along z",
                                        "rotation about x",    "rotation about y",    "rotation about z"};
  const int is_moment = load >= GA_MESH_SPIN_LOADS && (load - GA_MESH_SPIN_LOADS) % w->mesh->dofs >= 3;
  const double scale = load < GA_MESH_SPIN_LOADS ? w->J[0] + w->J[4] + w->J[8] : w->size;
  double most = scale / (w->size * w->size) * 1e-3;
  for (int e = 0; e < K->nnz; e++) most = fmax(most, fabs(K->value[e]));
  for (int j = 0; j < 3; j++) {
    ga_sparse_mul(w->y, K, w->rigid + (size_t)j * (size_t)w->N);
    for (int k = 0; k < w->N; k++)
      if (fabs(w->y[k]) > 1e-6 * most) return refuse(w, load, motion[j], w->y[k], 0.0);
  }
  for (int j = 0; j < 3 && !is_moment; j++) {
    ga_sparse_mul(w->y, K, w->rigid + (size_t)(3 + j) * (size_t)w->N);
    for (int i = 0; i <= j; i++) {
      const double work = ga__dot(w->N, w->y, w->rigid + (size_t)(3 + i) * (size_t)w->N),
                   expected = turned_work(w, f, i, j);
      if (!(fabs(work - expected) <= INVARIANT * scale))
        return refuse(w, load, motion[3 + j], work, expected);
    }
  }
  return GA_OK;
}

/* ---- Loads that belong together: of the spin, or of one interface node ---- */

typedef struct group {
  int first, m;    /* loads */
  double scale[6]; /* [-], [m] moments count by the size */
  double *u;       /* [m][N] K⁺ F */
  double *f, *fu;  /* [N], [m][m] flexibility, then its eigenvectors */
  double *kg;      /* [m][n][n] φ_aᵀ K_G φ_b */
  double stiff[6]; /* [1/s²] of the combinations; infinite: they do not displace */
  double *weight;  /* [nodes] [kg] */
  double *mode;    /* [n] [1/s²] stiffness of modes */
} group;

static ga_status take_group(ga__mesh_work *w, group *g)
{
  const size_t N = (size_t)w->N, n = (size_t)w->n;
  g->u = ga__alloc(w->ctx, 8 * N + 36 + 6 * n * n + n, sizeof *g->u);
  if (!g->u) return ga__no_memory(w->ctx, "a modal body");
  g->f = g->u + 6 * N;
  g->weight = g->f + N;
  g->fu = g->weight + N;
  g->mode = g->fu + 36;
  g->kg = g->mode + n;
  for (int d = 0; d < w->N; d++) {
    const int at = ga_sparse_find(w->mesh->mass, d, d);
    if (d % w->mesh->dofs < 3 && at >= 0) g->weight[d / w->mesh->dofs] += w->mesh->mass->value[at] / 3;
  }
  return GA_OK;
}

/* uᵀWu */
static double size_of(const ga__mesh_work *w, const group *g, const double *u)
{
  double sum = 0.0;
  for (int d = 0; d < w->N; d++) {
    const double x = d % w->mesh->dofs < 3 ? u[d] : w->size * u[d];
    sum += g->weight[d / w->mesh->dofs] * x * x;
  }
  return sum;
}

/* Responses to the loads, their flexibility, and φ_aᵀ K_G φ_b. */
static ga_status respond(ga__mesh_work *w, ga__held *h, group *g)
{
  const size_t N = (size_t)w->N, n = (size_t)w->n;
  ga_status status = GA_OK;
  for (int i = 0; i < g->m && !status; i++) {
    const ga_sparse *K = w->mesh->stiffening[g->first + i];
    double *u = g->u + (size_t)i * N, *kg = g->kg + (size_t)i * n * n;
    ga__mesh_load(w, g->first + i, g->f);
    status = ga__relief_solve(h, g->f, u);
    if (!status && K) status = check_invariance(w, g->first + i, K, g->f);
    for (int k = 0; k < w->N; k++) u[k] *= g->scale[i];
    for (int j = 0; j <= i; j++)
      g->fu[g->m * i + j] = g->fu[g->m * j + i] = g->scale[i] * ga__dot(w->N, g->f, g->u + (size_t)j * N);
    memset(kg, 0, n * n * sizeof *kg);
    for (size_t a = 0; a < n && K && !status; a++) {
      ga_sparse_mul(w->y, K, w->mode + a * N);
      for (size_t b = 0; b < n; b++) kg[n * a + b] = g->scale[i] * ga__dot(w->N, w->y, w->mode + b * N);
    }
  }
  return status;
}

/* Combinations of loads that do not displace along each other, and their stiffness. */
static ga_status combine(ga__mesh_work *w, group *g)
{
  const size_t N = (size_t)w->N;
  const int m = g->m;
  double one[36] = {0}, value[6];
  int found;
  for (int i = 0; i < m; i++) one[(m + 1) * i] = 1.0;
  const ga_status status = ga__eigen_symmetric(w->ctx, m, g->fu, one, value, &found);
  for (int j = 0; j < m && !status; j++) {
    memset(w->x, 0, N * sizeof *w->x);
    for (int i = 0; i < m; i++)
      for (size_t k = 0; k < N; k++) w->x[k] += g->fu[m * j + i] * g->u[(size_t)i * N + k];
    const double square = size_of(w, g, w->x);
    g->stiff[j] = value[j] > NO_FLEXIBILITY * value[m - 1] && square > 0 ? value[j] / square : HUGE_VAL;
  }
  return status;
}

static double fourth(double x)
{
  return x * x * x * x;
}

/* The part of D³U[k, a, b] that k takes. */
static double share(double k, double a, double b)
{
  return isinf(k) ? 1.0 : 1.0 / (1.0 + fourth(a / k) + fourth(b / k));
}

/* out[m] := F·g_ab of all loads. */
static void second_order(const ga__mesh_work *w, const group *g, int a, int b, double out[6])
{
  const size_t n = (size_t)w->n;
  const int m = g->m;
  memset(out, 0, 6 * sizeof *out);
  for (int j = 0; j < m; j++) {
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
      const double *kg = g->kg + (size_t)i * n * n;
      sum += g->fu[m * j + i] * 0.5 * (kg[n * (size_t)a + (size_t)b] + kg[n * (size_t)b + (size_t)a]);
    }
    sum *= share(g->stiff[j], g->mode[a], g->mode[b]);
    for (int i = 0; i < m; i++) out[i] -= g->fu[m * j + i] * sum / g->scale[i];
  }
}

/* ---- What the body gets ---- */

static void add_to_inertia(double *J2, const double Fg[6])
{
  for (int k = 0; k < GA_MESH_SPIN_LOADS; k++) {
    const int i = SPIN[k][0], j = SPIN[k][1];
    J2[3 * i + j] += i == j ? 2 * Fg[k] : Fg[k];
    if (i != j) J2[3 * j + i] += Fg[k];
  }
}

/* point −1: the loads of the spin */
static ga_status stiffen_by(ga__mesh_work *w, ga__held *h, group *g, int point, ga_modal_body *body)
{
  const int n = w->n, dofs = w->mesh->dofs;
  g->first = point < 0 ? 0 : GA_MESH_SPIN_LOADS + dofs * point;
  g->m = point < 0 ? GA_MESH_SPIN_LOADS : dofs;
  for (int i = 0; i < g->m; i++) g->scale[i] = point >= 0 && i >= 3 ? w->size : 1.0;
  ga_status status = respond(w, h, g);
  if (!status) status = combine(w, g);
  double *second = NULL;
  if (!status && point >= 0) {
    second = body->point[point].second = ga__alloc(w->ctx, 6 * (size_t)n, (size_t)n * sizeof *second);
    if (!second) status = ga__no_memory(w->ctx, "a modal body");
  }
  for (int a = 0; a < n && !status; a++)
    for (int b = 0; b < n; b++) {
      double Fg[6];
      second_order(w, g, a, b, Fg);
      if (!second) add_to_inertia(body->J2 + 9 * ((size_t)a * (size_t)n + (size_t)b), Fg);
      for (int c = 0; c < g->m && second; c++)
        second[((size_t)c * (size_t)n + (size_t)a) * (size_t)n + (size_t)b] = Fg[c];
    }
  return status;
}

ga_status ga__modal_stiffen(ga__mesh_work *w, ga_modal_body *body)
{
  ga__held h;
  group g = {0};
  ga_status status = ga__relief_create(w, &h);
  if (!status) status = take_group(w, &g);
  for (int a = 0; a < w->n && !status; a++) {
    const double square = size_of(w, &g, w->mode + (size_t)a * (size_t)w->N);
    g.mode[a] = square > 0 ? w->mass * w->lambda[a] / square : 0.0;
  }
  for (int i = -1; i < w->mesh->n_interface && !status; i++) status = stiffen_by(w, &h, &g, i, body);
  body->stiffened = !status;
  ga__free(w->ctx, g.u);
  ga__held_destroy(&h);
  return status;
}
