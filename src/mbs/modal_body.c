/* From a mesh to a modal body: checks of a free structure, its rigid motions, and the integrals of its
 * inertia.
 *
 * Nodes move with u_k + ω × (s_k + φ_k η) + φ_k η' and, in their own axes, which are turned by θ = ψ_k η,
 * with ω − θ × ω + ½ θ × (θ × ω) + θ' − ½ θ × θ' up to second order in η. T = ½ Vᵀ M V of these velocities,
 * with the whole matrix M. Vectors of N numbers: r_i, the rotation about axis i, and g_ia = e_i × φ_a, e_i ×
 * ψ_a:
 *
 *   J0_ij   = r_iᵀ M r_j
 *   J1_a,ij = r_iᵀ M g_ja + g_iaᵀ M r_j
 *   J2_ab,ij = g_iaᵀ M g_jb + g_ibᵀ M g_ja + sym(Σ_k I_k (ψ_a~ψ_b~ + ψ_b~ψ_a~))
 *   C_ba,i  = g_ibᵀ M φ_a − ½ e_iᵀ Σ_k I_k (ψ_b × ψ_a)
 *
 * I_k is the rotary inertia of a node, the sum of the blocks of M between rotations in its rows. */
#include "mbs/modal.h"
#include "mbs/name.h"

#include "lie/mat3.h"
#include <math.h>
#include <string.h>

#define SYMMETRIC 1e-8  /* of a matrix, relative to its diagonal */
#define ONE_MASS 1e-6   /* of masses along different axes, relative */
#define COINCIDENT 1e-9 /* of interface nodes, relative to the size */

ga_reduction_opts ga_reduction_defaults(void)
{
  return (ga_reduction_opts){.modes = 10, .max_frequency = HUGE_VAL};
}

static ga_status refuse(ga_context *ctx, ga_reason reason, ga__facts facts)
{
  facts.kind = "mesh";
  return ga__refuse(ctx, GA_ERR_ARGUMENT, reason, &facts);
}

/* ---- Checks of the mesh ---- */

/* Checks size, numbers and symmetry of a matrix, and necessary conditions of positive matrices. */
static ga_status check_matrix(ga_context *ctx, const ga_mesh *mesh, const char *field, const ga_sparse *A,
                              int positive)
{
  const int N = mesh->dofs * mesh->n_nodes;
  if (A->rows != N || A->cols != N)
    return refuse(ctx, GA_REASON_MESH_SIZE,
                  (ga__facts){.field = field,
                              GA__NUMBERS({A->rows, NULL}, {A->cols, NULL}, {mesh->n_nodes, NULL},
                                          {mesh->dofs, NULL}, {N, NULL})});
  double most = 0.0;
  for (int e = 0; e < A->nnz; e++) {
    if (!isfinite(A->value[e]))
      return refuse(ctx, GA_REASON_NOT_FINITE, (ga__facts){.field = field, GA__NUMBERS({A->value[e], NULL})});
    most = fmax(most, fabs(A->value[e]));
  }
  for (int c = 0; c < N; c++)
    for (int e = A->col_start[c]; e < A->col_start[c + 1]; e++) {
      const int r = A->row[e], other = ga_sparse_find(A, c, r), rr = ga_sparse_find(A, r, r),
                cc = ga_sparse_find(A, c, c);
      const double x = A->value[e], y = other < 0 ? 0.0 : A->value[other],
                   scale = sqrt(fabs((rr < 0 ? 0.0 : A->value[rr]) * (cc < 0 ? 0.0 : A->value[cc])));
      if (fabs(x - y) > SYMMETRIC * fmax(positive ? scale : most, fmax(fabs(x), fabs(y))) &&
          fabs(x - y) > 1e-15 * most)
        return refuse(
            ctx, GA_REASON_MESH_NOT_SYMMETRIC,
            (ga__facts){.field = field, GA__NUMBERS({r + 1, NULL}, {c + 1, NULL}, {x, NULL}, {y, NULL})});
      if (!positive) continue;
      if (fabs(x) > scale * (1 + 1e-6) && fabs(x) > 1e-12 * most)
        return refuse(
            ctx, GA_REASON_MESH_NOT_POSITIVE,
            (ga__facts){.field = field, GA__NUMBERS({r + 1, NULL}, {c + 1, NULL}, {x, NULL}, {scale, NULL})});
      if (r == c && x < 0.0)
        return refuse(
            ctx, GA_REASON_MESH_NOT_POSITIVE,
            (ga__facts){.field = field, GA__NUMBERS({r + 1, NULL}, {c + 1, NULL}, {x, NULL}, {0, NULL})});
    }
  return GA_OK;
}

static ga_status check_points(ga_context *ctx, const ga_mesh *mesh)
{
  for (int i = 0; i < mesh->n_interface; i++) {
    const char *name = mesh->interface_name[i];
    const int node = mesh->interface_node[i];
    if (!name || !name[0] || (size_t)ga__name_length(name) != strlen(name))
      return refuse(ctx, GA_REASON_NAME_SYNTAX,
                    (ga__facts){.field = "interface", .item = i + 1, .part = name ? name : ""});
    if (node < 0 || node >= mesh->n_nodes)
      return refuse(ctx, GA_REASON_MESH_NO_NODE,
                    (ga__facts){.field = "interface",
                                .name = name,
                                GA__NUMBERS({node + 1, NULL}, {mesh->n_nodes, NULL})});
    for (int k = 0; k < i; k++)
      if (strcmp(name, mesh->interface_name[k]) == 0 || node == mesh->interface_node[k])
        return refuse(ctx, GA_REASON_MESH_INTERFACE_TWICE,
                      (ga__facts){.field = "interface",
                                  .name = name,
                                  .other = mesh->interface_name[k],
                                  GA__NUMBERS({node + 1, NULL})});
  }
  return GA_OK;
}

static ga_status check_opts(ga_context *ctx, const ga_reduction_opts *o)
{
  static const char kind[] = "reduction";
  if ((int)o->kind < 0 || o->kind > GA_REDUCTION_FREE)
    return ga__refuse_choice(ctx, kind, "kind", (int)o->kind, "ga_reduction_kind", GA_REDUCTION_FREE);
  if (o->modes < 0) return ga__refuse_number(ctx, kind, "modes", o->modes, ">= 0");
  if (!(o->max_frequency > 0)) return ga__refuse_number(ctx, kind, "max_frequency", o->max_frequency, "> 0");
  if (o->n_keep < 0) return ga__refuse_number(ctx, kind, "n_keep", o->n_keep, ">= 0");
  if (o->n_keep && !o->keep) return ga__refuse_missing(ctx, kind, "n_keep", o->n_keep, "keep");
  for (int i = 0; i < o->n_keep; i++)
    if (o->keep[i] <= (i ? o->keep[i - 1] : 0))
      return ga__refuse_number(ctx, kind, "keep", o->keep[i], i ? "ascending" : ">= 1");
  if (o->n_damping < 0) return ga__refuse_number(ctx, kind, "n_damping", o->n_damping, ">= 0");
  if (o->n_damping && !o->damping) return ga__refuse_missing(ctx, kind, "n_damping", o->n_damping, "damping");
  for (int i = 0; i < o->n_damping; i++)
    if (!(o->damping[i] >= 0 && o->damping[i] < HUGE_VAL))
      return ga__refuse_number(ctx, kind, "damping", o->damping[i], ">= 0");
  return GA_OK;
}

static ga_status check_mesh(ga_context *ctx, const ga_mesh *mesh)
{
  static const char kind[] = "mesh";
  if (mesh->n_nodes < 1) return ga__refuse_number(ctx, kind, "n_nodes", mesh->n_nodes, ">= 1");
  if (mesh->dofs != 3 && mesh->dofs != 6) return ga__refuse_number(ctx, kind, "dofs", mesh->dofs, "3 or 6");
  if (!mesh->position) return ga__refuse_missing(ctx, kind, "n_nodes", mesh->n_nodes, "position");
  if (!mesh->mass || !mesh->stiffness)
    return ga__refuse_missing(ctx, kind, "n_nodes", mesh->n_nodes, mesh->mass ? "stiffness" : "mass");
  if (mesh->n_interface < 0 || mesh->n_recovered < 0)
    return ga__refuse_number(ctx, kind, mesh->n_interface < 0 ? "n_interface" : "n_recovered", -1, ">= 0");
  if (mesh->n_interface && (!mesh->interface_node || !mesh->interface_name))
    return ga__refuse_missing(ctx, kind, "n_interface", mesh->n_interface,
                              mesh->interface_node ? "interface_name" : "interface_node");
  if (mesh->n_recovered && (!mesh->recovery || !mesh->recovered_name))
    return ga__refuse_missing(ctx, kind, "n_recovered", mesh->n_recovered,
                              mesh->recovery ? "recovered_name" : "recovery");
  for (int i = 0; i < 3 * mesh->n_nodes; i++)
    if (!isfinite(mesh->position[i]))
      return refuse(
          ctx, GA_REASON_NOT_FINITE,
          (ga__facts){.field = "position", .item = i / 3 + 1, GA__NUMBERS({mesh->position[i], "m"})});
  ga_status status = check_matrix(ctx, mesh, "mass", mesh->mass, 1);
  if (!status) status = check_matrix(ctx, mesh, "stiffness", mesh->stiffness, 1);
  for (int i = 0; i < ga__mesh_n_loads(mesh) && mesh->stiffening && !status; i++)
    if (mesh->stiffening[i]) status = check_matrix(ctx, mesh, "stiffening", mesh->stiffening[i], 0);
  return status ? status : check_points(ctx, mesh);
}

/* ---- Rigid motions ---- */

static const double UNIT[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void set_rigid(const ga__mesh_work *w, const double centre[3])
{
  const ga_mesh *mesh = w->mesh;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < mesh->n_nodes; k++) {
      double *t = w->rigid + (size_t)i * (size_t)w->N + mesh->dofs * k,
             *r = w->rigid + (size_t)(3 + i) * (size_t)w->N + mesh->dofs * k, arm[3];
      for (int c = 0; c < 3; c++) arm[c] = mesh->position[3 * k + c] - centre[c], t[c] = i == c;
      ga__vec3_cross(r, UNIT[i], arm);
      for (int c = 3; c < mesh->dofs; c++) t[c] = 0.0, r[c] = i == c - 3;
    }
}

static const double *rigid(const ga__mesh_work *w, int i)
{
  return w->rigid + (size_t)i * (size_t)w->N;
}

/* Mass and centre: M must be that of a body, with one mass along all axes and −mc~ between translations and
 * rotations. */
static ga_status weigh(ga__mesh_work *w)
{
  static const double origin[3] = {0, 0, 0};
  double m[9], B[9];
  set_rigid(w, origin);
  for (int i = 0; i < 3; i++) {
    ga_sparse_mul(w->y, w->mesh->mass, rigid(w, i));
    for (int j = 0; j < 3; j++) {
      m[3 * i + j] = ga__dot(w->N, w->y, rigid(w, j));
      B[3 * i + j] = ga__dot(w->N, w->y, rigid(w, 3 + j));
    }
  }
  w->mass = (m[0] + m[4] + m[8]) / 3;
  if (!(w->mass > 0))
    return refuse(w->ctx, GA_REASON_MESH_NOT_POSITIVE,
                  (ga__facts){.field = "mass", .detail = "the whole", GA__NUMBERS({w->mass, "kg"})});
  double off = 0.0;
  for (int i = 0; i < 9; i++) off = fmax(off, fabs(m[i] - (i % 4 == 0 ? w->mass : 0.0)));
  if (off > ONE_MASS * w->mass)
    return refuse(w->ctx, GA_REASON_MESH_NOT_A_BODY,
                  (ga__facts){.field = "mass", GA__NUMBERS({m[0], "kg"}, {m[4], "kg"}, {m[8], "kg"})});
  /* B = −(mc)~ */
  const double c[3] = {0.5 * (B[7] - B[5]), 0.5 * (B[2] - B[6]), 0.5 * (B[3] - B[1])};
  for (int i = 0; i < 3; i++) w->centre[i] = -c[i] / w->mass;
  double size = 0.0, spread = 0.0;
  for (int k = 0; k < w->mesh->n_nodes; k++) {
    double far = 0.0, out = 0.0;
    for (int i = 0; i < 3; i++) {
      const double d = w->mesh->position[3 * k + i];
      far += (d - w->centre[i]) * (d - w->centre[i]), out += d * d;
    }
    size = fmax(size, sqrt(far)), spread = fmax(spread, sqrt(out));
  }
  w->size = size;
  for (int i = 0; i < 9; i++) off = fmax(off, fabs(B[i] + B[3 * (i % 3) + i / 3]) / fmax(spread, 1e-300));
  if (off > ONE_MASS * w->mass)
    return refuse(w->ctx, GA_REASON_MESH_NOT_A_BODY,
                  (ga__facts){.field = "mass", GA__NUMBERS({m[0], "kg"}, {m[4], "kg"}, {m[8], "kg"})});
  set_rigid(w, w->centre);
  return GA_OK;
}

void ga__mesh_leave_rigid(const ga__mesh_work *w, double *x)
{
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < 6; i++) {
      const double *z = w->Z + (size_t)i * (size_t)w->N,
                   part = ga__dot(w->N, w->MZ + (size_t)i * (size_t)w->N, x);
      for (int k = 0; k < w->N; k++) x[k] -= part * z[k];
    }
}

/* Z: rigid motions with ZᵀMZ = 1, by Gram–Schmidt. */
static ga_status orthonormalise(ga__mesh_work *w)
{
  const size_t N = (size_t)w->N;
  memcpy(w->Z, w->rigid, 6 * N * sizeof *w->Z);
  for (int i = 0; i < 3; i++) {
    ga_sparse_mul(w->y, w->mesh->mass, rigid(w, 3 + i));
    for (int j = 0; j < 3; j++) w->J[3 * j + i] = ga__dot(w->N, w->y, rigid(w, 3 + j));
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) w->J[3 * i + j] = w->J[3 * j + i] = 0.5 * (w->J[3 * i + j] + w->J[3 * j + i]);
  for (int i = 0; i < 6; i++) {
    double *z = w->Z + (size_t)i * N, *Mz = w->MZ + (size_t)i * N;
    for (int pass = 0; pass < 2; pass++)
      for (int j = 0; j < i; j++) {
        const double part = ga__dot(w->N, w->MZ + (size_t)j * N, z);
        for (int k = 0; k < w->N; k++) z[k] -= part * w->Z[(size_t)j * N + (size_t)k];
      }
    ga_sparse_mul(Mz, w->mesh->mass, z);
    const double square = ga__dot(w->N, z, Mz), whole = i < 3 ? w->mass : w->mass * w->size * w->size;
    if (!(square > 1e-12 * whole))
      return refuse(w->ctx, GA_REASON_MESH_NO_INERTIA,
                    (ga__facts){.field = "mass",
                                GA__NUMBERS({square, "kg m²"}, {w->J[0], "kg m²"}, {w->J[4], "kg m²"},
                                            {w->J[8], "kg m²"})});
    for (int k = 0; k < w->N; k++) z[k] /= sqrt(square), Mz[k] /= sqrt(square);
  }
  return GA_OK;
}

/* ---- Integrals ---- */

/* Σ_k φ_k × f_k, and with rotations ψ_k × f_k: e_j · this = g_jᵀ f */
static void cross_sum(const ga_mesh *mesh, const double *phi, const double *f, double out[3])
{
  double c[3];
  memset(out, 0, 3 * sizeof *out);
  for (int k = 0; k < mesh->n_nodes; k++)
    for (int part = 0; part < mesh->dofs; part += 3) {
      ga__vec3_cross(c, phi + mesh->dofs * k + part, f + mesh->dofs * k + part);
      for (int i = 0; i < 3; i++) out[i] += c[i];
    }
}

/* g = e_i × φ, e_i × ψ */
static void turned(const ga_mesh *mesh, int i, const double *phi, double *g)
{
  for (int k = 0; k < mesh->dofs * mesh->n_nodes; k += 3) ga__vec3_cross(g + k, UNIT[i], phi + k);
}

/* [n_nodes][9] I_k, symmetric. */
static void rotary_inertia(const ga__mesh_work *w, double *I)
{
  const ga_mesh *mesh = w->mesh;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < w->N; k++) w->x[k] = k % 6 == 3 + i;
    ga_sparse_mul(w->y, mesh->mass, w->x);
    for (int k = 0; k < mesh->n_nodes; k++)
      for (int j = 0; j < 3; j++) {
        I[9 * k + 3 * i + j] += 0.5 * w->y[6 * k + 3 + j];
        I[9 * k + 3 * j + i] += 0.5 * w->y[6 * k + 3 + j];
      }
  }
}

/* Terms of second order of rotations of nodes, in J2_ab and C_ba. */
static void add_rotary(const ga__mesh_work *w, const double *I, int a, int b, double J2[9], double C[3])
{
  const double *A = w->mode + (size_t)a * (size_t)w->N, *B = w->mode + (size_t)b * (size_t)w->N;
  for (int k = 0; k < w->mesh->n_nodes; k++) {
    double Sa[9], Sb[9], AB[9], BA[9], X[9], c[3], Ic[3];
    ga__mat3_skew(Sa, 1, A + 6 * k + 3);
    ga__mat3_skew(Sb, 1, B + 6 * k + 3);
    ga__mat3_mul(AB, Sa, Sb);
    ga__mat3_mul(BA, Sb, Sa);
    for (int i = 0; i < 9; i++) AB[i] += BA[i];
    ga__mat3_mul(X, I + 9 * k, AB);
    for (int i = 0; i < 9; i++) J2[i] += 0.5 * (X[i] + X[3 * (i % 3) + i / 3]);
    ga__vec3_cross(c, B + 6 * k + 3, A + 6 * k + 3);
    ga__mat3_mul_vec(Ic, I + 9 * k, c);
    for (int i = 0; i < 3; i++) C[i] -= 0.5 * Ic[i];
  }
}

/* scale: of modes with modeᵀ M mode = 1 to those of modal mass m */
static ga_status integrate(ga__mesh_work *w, ga_modal_body *body)
{
  const ga_mesh *mesh = w->mesh;
  const int n = w->n, with_rotations = mesh->dofs == 6;
  double *I = ga__alloc(w->ctx, 9 * (size_t)mesh->n_nodes, sizeof *I);
  if (!I) return ga__no_memory(w->ctx, "a modal body");
  if (with_rotations) rotary_inertia(w, I);
  double row[3];
  for (int i = 0; i < 3; i++) { /* J1 */
    ga_sparse_mul(w->y, mesh->mass, rigid(w, 3 + i));
    for (int a = 0; a < n; a++) {
      cross_sum(mesh, w->mode + (size_t)a * (size_t)w->N, w->y, row);
      for (int j = 0; j < 3; j++) {
        body->J1[9 * a + 3 * i + j] += row[j];
        body->J1[9 * a + 3 * j + i] += row[j];
      }
    }
  }
  for (int a = 0; a < n; a++) {
    const double *phi = w->mode + (size_t)a * (size_t)w->N;
    for (int i = 0; i < 3; i++) { /* J2: g_iaᵀ M g_jb into ab and ba */
      turned(mesh, i, phi, w->x);
      ga_sparse_mul(w->y, mesh->mass, w->x);
      for (int b = 0; b < n; b++) {
        cross_sum(mesh, w->mode + (size_t)b * (size_t)w->N, w->y, row);
        for (int j = 0; j < 3; j++) {
          body->J2[9 * ((size_t)a * (size_t)n + (size_t)b) + (size_t)(3 * i + j)] += row[j];
          body->J2[9 * ((size_t)b * (size_t)n + (size_t)a) + (size_t)(3 * i + j)] += row[j];
        }
      }
    }
    ga_sparse_mul(w->y, mesh->mass, phi);
    for (int b = 0; b < n; b++) {
      double *C = body->C + 3 * ((size_t)b * (size_t)n + (size_t)a);
      cross_sum(mesh, w->mode + (size_t)b * (size_t)w->N, w->y, C);
      if (with_rotations) add_rotary(w, I, a, b, body->J2 + 9 * ((size_t)a * (size_t)n + (size_t)b), C);
    }
  }
  ga__free(w->ctx, I);
  return GA_OK;
}

/* Amplitudes in m: of modal mass m instead of 1. J2 is made symmetric to rounding. */
static void scale_modes(ga__mesh_work *w, ga_modal_body *body)
{
  const double s = sqrt(w->mass);
  const size_t n = (size_t)w->n;
  for (size_t i = 0; i < n * (size_t)w->N; i++) w->mode[i] *= s;
  for (size_t i = 0; i < 9 * n; i++) body->J1[i] *= s;
  for (size_t i = 0; i < 3 * n * n; i++) body->C[i] *= w->mass;
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b <= a; b++)
      for (size_t i = 0; i < 9; i++) {
        const size_t t = 3 * (i % 3) + i / 3;
        if (t < i) continue;
        double *x[4] = {&body->J2[9 * (a * n + b) + i], &body->J2[9 * (b * n + a) + i],
                        &body->J2[9 * (a * n + b) + t], &body->J2[9 * (b * n + a) + t]};
        const double mean = 0.25 * w->mass * (*x[0] + *x[1] + *x[2] + *x[3]);
        for (int k = 0; k < 4; k++) *x[k] = mean;
      }
}

/* ---- Data of interface nodes and recovery ---- */

static char *copy_text(ga_context *ctx, const char *text)
{
  char *copy = ga__alloc(ctx, strlen(text) + 1, 1);
  if (copy) memcpy(copy, text, strlen(text) + 1);
  return copy;
}

static int keep_point(const ga__mesh_work *w, int i, ga__modal_point *p)
{
  const ga_mesh *mesh = w->mesh;
  const int node = mesh->interface_node[i], n = w->n;
  p->name = copy_text(w->ctx, mesh->interface_name[i]);
  p->phi = ga__alloc(w->ctx, 6 * (size_t)n, sizeof *p->phi);
  if (!p->name || !p->phi) return 0;
  p->psi = p->phi + 3 * n;
  p->turns = mesh->dofs == 6;
  memcpy(p->place, mesh->position + 3 * node, sizeof p->place);
  for (int a = 0; a < n; a++)
    for (int c = 0; c < mesh->dofs; c++)
      (c < 3 ? p->phi : p->psi)[c % 3 * n + a] =
          w->mode[(size_t)a * (size_t)w->N + (size_t)(mesh->dofs * node + c)];
  return 1;
}

static ga_status check_apart(const ga_modal_body *body)
{
  for (int i = 0; i < body->n_points; i++)
    for (int k = 0; k < i; k++) {
      double d = 0.0;
      for (int c = 0; c < 3; c++) d = fmax(d, fabs(body->point[i].place[c] - body->point[k].place[c]));
      if (d <= COINCIDENT * body->size)
        return refuse(
            body->ctx, GA_REASON_MESH_SAME_PLACE,
            (ga__facts){.field = "interface", .name = body->point[k].name, .other = body->point[i].name});
    }
  return GA_OK;
}

static ga_status keep_rows(const ga__mesh_work *w, ga_modal_body *body)
{
  const ga_mesh *mesh = w->mesh;
  const size_t n = (size_t)w->n, N = (size_t)w->N;
  for (int i = 0; i < mesh->n_recovered; i++) {
    const double *row = mesh->recovery + (size_t)i * N;
    const char *name = mesh->recovered_name[i], *unit = mesh->recovered_unit ? mesh->recovered_unit[i] : NULL;
    if (!name || !name[0] || (size_t)ga__name_length(name) != strlen(name))
      return refuse(w->ctx, GA_REASON_NAME_SYNTAX,
                    (ga__facts){.field = "recovery", .item = i + 1, .part = name ? name : ""});
    body->recovered_name[i] = copy_text(w->ctx, name);
    body->recovered_unit[i] = copy_text(w->ctx, unit ? unit : "");
    body->n_recovered = i + 1;
    if (!body->recovered_name[i] || !body->recovered_unit[i]) return ga__no_memory(w->ctx, "a modal body");
    for (size_t a = 0; a < n; a++) {
      const double x = ga__dot(w->N, row, w->mode + a * N);
      if (!isfinite(x))
        return refuse(w->ctx, GA_REASON_NOT_FINITE, (ga__facts){.field = "recovery", GA__NUMBERS({x, NULL})});
      body->recovered[(size_t)i * n + a] = x;
    }
  }
  return GA_OK;
}

static ga_status keep_damping(const ga_reduction_opts *o, ga_modal_body *body)
{
  if (o->n_damping == 0) return GA_OK;
  if (o->n_damping != 1 && o->n_damping != body->n)
    return ga__refuse(body->ctx, GA_ERR_ARGUMENT, GA_REASON_MESH_DAMPING,
                      &(ga__facts){.kind = "reduction",
                                   .field = "damping",
                                   GA__NUMBERS({o->n_damping, NULL}, {body->n, NULL})});
  body->ratio = ga__alloc(body->ctx, (size_t)body->n, sizeof *body->ratio);
  if (!body->ratio) return ga__no_memory(body->ctx, "a modal body");
  for (int a = 0; a < body->n; a++) body->ratio[a] = o->damping[o->n_damping == 1 ? 0 : a];
  return GA_OK;
}

/* ---- Reduction ---- */

ga_status ga__mesh_open(ga__mesh_work *w, ga_context *ctx, const ga_mesh *mesh)
{
  *w = (ga__mesh_work){.ctx = ctx, .mesh = mesh, .N = mesh->dofs * mesh->n_nodes};
  const size_t N = (size_t)w->N;
  w->rigid = ga__alloc(w->ctx, 20 * N, sizeof *w->rigid);
  if (!w->rigid) return ga__no_memory(w->ctx, "a modal body");
  w->Z = w->rigid + 6 * N;
  w->MZ = w->Z + 6 * N;
  w->x = w->MZ + 6 * N;
  w->y = w->x + N;
  const ga_status status = weigh(w);
  return status ? status : orthonormalise(w);
}

void ga__mesh_close(ga__mesh_work *w)
{
  double *const block[] = {w->rigid, w->mode, w->lambda};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(w->ctx, block[i]);
}

static ga_status take_body(const ga__mesh_work *w, ga_modal_body *body)
{
  const size_t n = (size_t)w->n, rows = (size_t)w->mesh->n_recovered, points = (size_t)w->mesh->n_interface;
  body->n = w->n;
  body->mass = w->mass;
  body->size = w->size;
  memcpy(body->centre, w->centre, sizeof body->centre);
  memcpy(body->J, w->J, sizeof body->J);
  body->lambda = ga__alloc(w->ctx, n, sizeof(double));
  body->J1 = ga__alloc(w->ctx, 9 * n, sizeof(double));
  body->J2 = ga__alloc(w->ctx, 9 * n, n * sizeof(double));
  body->C = ga__alloc(w->ctx, 3 * n, n * sizeof(double));
  body->point = ga__alloc(w->ctx, points, sizeof *body->point);
  body->recovered_name = ga__alloc(w->ctx, rows, sizeof *body->recovered_name);
  body->recovered_unit = ga__alloc(w->ctx, rows, sizeof *body->recovered_unit);
  body->recovered = ga__alloc(w->ctx, rows * n, sizeof(double));
  if (!body->lambda || !body->J1 || !body->J2 || !body->C || !body->point || !body->recovered_name ||
      !body->recovered_unit || !body->recovered)
    return ga__no_memory(w->ctx, "a modal body");
  if (n) memcpy(body->lambda, w->lambda, n * sizeof(double));
  return GA_OK;
}

static ga_status fill_body(ga__mesh_work *w, const ga_reduction_opts *opts, ga_modal_body *body)
{
  ga_status status = take_body(w, body);
  if (!status) status = integrate(w, body);
  if (status) return status;
  scale_modes(w, body);
  for (int i = 0; i < w->mesh->n_interface && !status; i++) {
    body->n_points = i + 1;
    if (!keep_point(w, i, &body->point[i])) status = ga__no_memory(w->ctx, "a modal body");
  }
  if (!status) status = check_apart(body);
  if (!status && w->mesh->stiffening && !opts->no_stiffening) status = ga__modal_stiffen(w, body);
  if (!status) status = keep_rows(w, body);
  return status ? status : keep_damping(opts, body);
}

ga_status ga_modal_body_create(ga_context *ctx, const ga_mesh *mesh, const ga_reduction_opts *opts,
                               ga_modal_body **out)
{
  const ga_reduction_opts used = opts ? *opts : ga_reduction_defaults();
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!mesh || !out) return ga__refuse_null(ctx, __func__, mesh ? "out" : "mesh");
  ga_status status = check_opts(ctx, &used);
  if (!status) status = check_mesh(ctx, mesh);
  if (status) return status;
  ga__mesh_work w;
  ga_modal_body *body = ga__alloc(ctx, 1, sizeof *body);
  if (!body) return ga__no_memory(ctx, "a modal body");
  body->ctx = ctx;
  status = ga__mesh_open(&w, ctx, mesh);
  if (!status) status = ga__modal_basis(&w, &used);
  if (!status) status = fill_body(&w, &used, body);
  ga__mesh_close(&w);
  if (status)
    ga_modal_body_destroy(&body);
  else
    *out = body;
  return status;
}

void ga_modal_body_destroy(ga_modal_body **body)
{
  if (!body || !*body) return;
  ga_modal_body *b = *body;
  ga_context *ctx = b->ctx;
  for (int i = 0; i < b->n_points; i++) {
    ga__free(ctx, b->point[i].name);
    ga__free(ctx, b->point[i].phi);
    ga__free(ctx, b->point[i].second);
  }
  for (int i = 0; i < b->n_recovered; i++) {
    ga__free(ctx, b->recovered_name[i]);
    ga__free(ctx, b->recovered_unit[i]);
  }
  void *const block[] = {b->lambda,         b->J1,        b->J2, b->C, b->ratio, b->point, b->recovered_name,
                         b->recovered_unit, b->recovered, b};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) ga__free(ctx, block[i]);
  *body = NULL;
}

int ga_modal_body_n_modes(const ga_modal_body *body)
{
  return body ? body->n : 0;
}

int ga_modal_body_is_stiffened(const ga_modal_body *body)
{
  return body ? body->stiffened : 0;
}

double ga_modal_body_frequency(const ga_modal_body *body, int i)
{
  return body && i >= 0 && i < body->n ? sqrt(body->lambda[i]) / GA__TWO_PI : NAN;
}

ga_status ga_modal_body_inertia(const ga_modal_body *body, double *mass, double centre[3], double inertia[6])
{
  static const int at[6] = {0, 4, 8, 1, 2, 5};
  if (!body) return GA_ERR_ARGUMENT;
  if (mass) *mass = body->mass;
  if (centre) memcpy(centre, body->centre, sizeof body->centre);
  for (int i = 0; inertia && i < 6; i++) inertia[i] = body->J[at[i]];
  return GA_OK;
}
