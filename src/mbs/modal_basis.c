/* Modes of a mesh: of the free structure, or by Craig and Bampton (AIAA J. 6 (1968) 1313).
 *
 * Both hold some degrees of freedom, factor the stiffness of the others, K_ii, and find the largest
 * eigenvalues of an operator by ARPACK:
 *
 *   free             six degrees of freedom that just hold the structure; P K_ii⁻¹ M P, P without rigid
 * motions Craig–Bampton    those of interface nodes; K_ii⁻¹ M_ii. Static shapes: interface nodes displaced
 * one by one, K_ii x = −K_ib. Six of them follow from the others and rigid motions, and are left out.
 *
 * All vectors, without rigid motions, span the space of the reduction: K_r c = λ M_r c gives modes
 * that are orthogonal to each other and to rigid motions. */
#include "mbs/modal.h"
#include "lin/lin_impl.h"

#include <math.h>
#include <string.h>

#define LEAST_ROW 1e-5 /* least remainder of a row of rigid motions for a degree of freedom that is held */
#define NO_STIFFNESS 1e-14 /* energy of a mode over the sum of its terms without signs: rounding */
#define HELD 1e-6          /* largest square of a rigid motion's frequency, relative to the first mode */
#define SAME 1e-6          /* of eigenvalues, relative */
enum { DENSE_UP_TO = 120, MORE = 4, MOST_EXTENSIONS = 8, N_RIGID = 6 };

/* Vectors of the reduction. */
typedef struct vectors {
  int n, room;
  double *X; /* [room][N] */
} vectors;

static ga_status refuse(const ga__mesh_work *w, ga_reason reason, ga__facts facts)
{
  facts.kind = "mesh";
  return ga__refuse(w->ctx, GA_ERR_ARGUMENT, reason, &facts);
}

/* ---- Held degrees of freedom ---- */

/* Row of rigid motions at a degree of freedom, lengths in units of the size: rotations count as arms do. */
static void rigid_row(const ga__mesh_work *w, int dof, double row[N_RIGID])
{
  const double length = w->size > 0 ? w->size : 1.0, scale = dof % w->mesh->dofs < 3 ? 1.0 : length;
  for (int i = 0; i < N_RIGID; i++)
    row[i] = w->rigid[(size_t)i * (size_t)w->N + (size_t)dof] * scale / (i < 3 ? 1.0 : length);
}

/* Selects six degrees of freedom in `among` (NULL: all) that hold the structure, each with the largest part
 * of the remaining motions. 0: they do not hold it. */
static int choose_held(const ga__mesh_work *w, const int *among, int chosen[N_RIGID])
{
  double basis[N_RIGID][N_RIGID];
  for (int s = 0; s < N_RIGID; s++) {
    double most = 0.0;
    for (int d = 0; d < w->N; d++) {
      double row[N_RIGID], square = 0.0;
      if (among && !among[d]) continue;
      rigid_row(w, d, row);
      for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < s; k++) {
          const double part = ga__dot(N_RIGID, basis[k], row);
          for (int i = 0; i < N_RIGID; i++) row[i] -= part * basis[k][i];
        }
      square = ga__dot(N_RIGID, row, row);
      if (square > most * (1 + 1e-9)) {
        most = square;
        chosen[s] = d;
        for (int i = 0; i < N_RIGID; i++) basis[s][i] = row[i] / sqrt(square);
      }
    }
    if (!(most > LEAST_ROW * LEAST_ROW)) return 0;
  }
  return 1;
}

void ga__held_destroy(ga__held *h)
{
  ga_context *ctx = h->w->ctx;
  ga_lu_destroy(&h->lu);
  ga_sparse_destroy(ctx, &h->K);
  ga__free(ctx, h->index);
  ga__free(ctx, h->b);
}

/* K_ii */
static ga_status take_stiffness(ga__held *h)
{
  const ga_sparse *K = h->w->mesh->stiffness;
  ga_context *ctx = h->w->ctx;
  const size_t room = (size_t)K->nnz + (size_t)h->n;
  int *row = ga__alloc(ctx, room, sizeof *row), *col = ga__alloc(ctx, room, sizeof *col),
      *place = ga__alloc(ctx, room, sizeof *place);
  double *value = ga__alloc(ctx, room, sizeof *value);
  int n = 0;
  ga_status status = row && col && place && value ? GA_OK : ga__no_memory(ctx, "a modal body");
  for (int c = 0; c < K->cols && !status; c++)
    for (int e = K->col_start[c]; e < K->col_start[c + 1]; e++)
      if (h->index[c] >= 0 && h->index[K->row[e]] >= 0)
        row[n] = h->index[K->row[e]], col[n] = h->index[c], value[n++] = K->value[e];
  for (int i = 0; i < h->n && !status; i++)
    row[n] = col[n] = i, value[n++] = 0.0; /* a diagonal in any case */
  if (!status) status = ga_sparse_create(ctx, h->n, h->n, n, row, col, place, &h->K);
  for (int e = 0; e < n && !status; e++) h->K->value[place[e]] += value[e];
  ga__free(ctx, row);
  ga__free(ctx, col);
  ga__free(ctx, place);
  ga__free(ctx, value);
  return status;
}

/* is_held: [N] flags */
static ga_status held_create(ga__mesh_work *w, const int *is_held, ga__held *h)
{
  *h = (ga__held){.w = w};
  h->index = ga__alloc(w->ctx, (size_t)w->N, sizeof *h->index);
  if (!h->index) return ga__no_memory(w->ctx, "a modal body");
  for (int d = 0; d < w->N; d++) h->index[d] = is_held[d] ? -1 : h->n++;
  h->b = ga__alloc(w->ctx, (size_t)h->n + 1, sizeof *h->b);
  if (!h->b) return ga__no_memory(w->ctx, "a modal body");
  if (h->n == 0) return GA_OK;
  ga_status status = take_stiffness(h);
  if (!status) status = ga_lu_create(w->ctx, h->K, GA_LU_AUTO, &h->lu);
  if (!status) status = ga_lu_factor(h->lu);
  if (status != GA_RETRY_SINGULAR && status != GA_ERR_SINGULAR) return status;
  int weak = h->lu ? ga_lu_get_info(h->lu)->weak_column : 0, dof = 0;
  for (int d = 0; d < w->N; d++)
    if (h->index[d] == weak) dof = d;
  return refuse(w, GA_REASON_MESH_LOOSE,
                (ga__facts){.field = "stiffness", GA__NUMBERS({dof / w->mesh->dofs + 1, NULL})});
}

/* out[N] := displacements by a load f[N] on degrees of freedom that are not held; 0 for held ones */
static ga_status solve_held(ga__held *h, const double *f, double *out)
{
  const int N = h->w->N;
  for (int d = 0; d < N; d++)
    if (h->index[d] >= 0) h->b[h->index[d]] = f[d];
  const ga_status status = h->n ? ga_lu_solve(h->lu, h->b) : GA_OK;
  for (int d = 0; d < N; d++) out[d] = h->index[d] >= 0 ? h->b[h->index[d]] : 0.0;
  return status;
}

ga_status ga__relief_create(ga__mesh_work *w, ga__held *h)
{
  int chosen[N_RIGID];
  int *is_held = ga__alloc(w->ctx, (size_t)w->N, sizeof *is_held);
  *h = (ga__held){.w = w};
  if (!is_held) return ga__no_memory(w->ctx, "a modal body");
  ga_status status = GA_OK;
  if (!choose_held(w, NULL, chosen))
    status = refuse(w, GA_REASON_MESH_NO_INERTIA, (ga__facts){.field = "mass"});
  for (int i = 0; i < N_RIGID && !status; i++) is_held[chosen[i]] = 1;
  if (!status) status = held_create(w, is_held, h);
  ga__free(w->ctx, is_held);
  return status;
}

ga_status ga__relief_solve(ga__held *h, double *f, double *out)
{
  const ga__mesh_work *w = h->w;
  for (int i = 0; i < N_RIGID; i++) {
    const size_t at = (size_t)i * (size_t)w->N;
    const double part = ga__dot(w->N, w->Z + at, f);
    for (int k = 0; k < w->N; k++) f[k] -= part * w->MZ[at + (size_t)k];
  }
  const ga_status status = solve_held(h, f, out);
  ga__mesh_leave_rigid(w, out);
  return status;
}

/* K⁻¹ M, or P K⁻¹ M P */
static ga_status apply(void *user, double *out, const double *in)
{
  ga__held *h = user;
  ga__mesh_work *w = h->w;
  for (int d = 0; d < w->N; d++) w->x[d] = h->leave_rigid || h->index[d] >= 0 ? in[d] : 0.0;
  if (h->leave_rigid) ga__mesh_leave_rigid(w, w->x);
  ga_sparse_mul(w->y, w->mesh->mass, w->x);
  const ga_status status = solve_held(h, w->y, out);
  if (h->leave_rigid) ga__mesh_leave_rigid(w, out);
  return status;
}

/* ---- K_r c = λ M_r c ---- */

/* In place: n vectors become modes, lowest first; *n: number of modes; λ[n]. */
static ga_status ritz(ga__mesh_work *w, int n, double *X, double *lambda)
{
  const size_t N = (size_t)w->N, k = (size_t)n;
  double *H = ga__alloc(w->ctx, 2 * k * k + k, sizeof *H);
  if (!H) return ga__no_memory(w->ctx, "a modal body");
  double *G = H + k * k, *line = G + k * k;
  ga_status status = GA_OK;
  int found = 1;
  for (size_t a = 0; a < k && !status; a++) {
    ga_sparse_mul(w->y, w->mesh->mass, X + a * N);
    const double square = ga__dot(w->N, w->y, X + a * N);
    if (!(square > 0)) found = 0;
    for (size_t i = 0; i < N && found; i++) X[a * N + i] /= sqrt(square);
  }
  for (size_t a = 0; a < k && found; a++) {
    ga_sparse_mul(w->x, w->mesh->stiffness, X + a * N);
    ga_sparse_mul(w->y, w->mesh->mass, X + a * N);
    for (size_t b = 0; b <= a; b++) {
      H[a * k + b] = H[b * k + a] = ga__dot(w->N, w->x, X + b * N);
      G[a * k + b] = G[b * k + a] = ga__dot(w->N, w->y, X + b * N);
    }
  }
  if (found) status = ga__eigen_symmetric(w->ctx, n, H, G, lambda, &found);
  if (!status && !found)
    status = refuse(w, GA_REASON_MESH_NOT_POSITIVE, (ga__facts){.field = "mass", .detail = "a mode's"});
  for (size_t i = 0; i < N && !status; i++) {
    for (size_t a = 0; a < k; a++) {
      line[a] = 0.0;
      for (size_t b = 0; b < k; b++) line[a] += H[a * k + b] * X[b * N + i];
    }
    for (size_t a = 0; a < k; a++) X[a * N + i] = line[a];
  }
  ga__free(w->ctx, H);
  return status;
}

/* ---- Normal modes ---- */

static double largest_but(const ga__subspace *s, int k) /* the k-th largest eigenvalue */
{
  double bound = HUGE_VAL;
  for (int count = 0; count < k && bound > 0.0;) {
    double next = 0.0;
    for (int j = 0; j < s->k; j++)
      if (s->re[j] < bound && s->re[j] > next) next = s->re[j];
    for (int j = 0; j < s->k; j++) count += s->re[j] == next;
    bound = next;
  }
  return bound;
}

/* Vectors of the k largest eigenvalues, and of up to `more` of the next. */
static ga_status find_subspace(ga__held *h, int k, int more, ga__subspace *s)
{
  const ga__operator T = {.apply = apply, .user = h};
  const int N = h->w->N, dense = N <= DENSE_UP_TO || k + more + 2 > N / 2;
  const int wanted = k + more < N ? k + more : N;
  ga_status status =
      ga__subspace_find(h->w->ctx, dense ? GA__EIGEN_DENSE : GA__EIGEN_SPARSE, N, wanted, &T, s);
  for (int i = 0; i < MOST_EXTENSIONS && !status && !dense; i++) { /* multiple ones */
    const double enough = largest_but(s, k) * (1 + SAME);
    status = ga__subspace_extend(s, MORE, &T, enough);
    if (!(s->rest > enough)) break;
  }
  return status;
}

static int is_free(const ga_reduction_opts *o)
{
  return o->kind == GA_REDUCTION_FREE;
}

/* Largest number of modes: degrees of freedom with mass that are not held, less rigid motions. */
static int most_modes(const ga__held *h)
{
  const ga__mesh_work *w = h->w;
  int n = 0;
  for (int d = 0; d < w->N; d++) {
    const int at = ga_sparse_find(w->mesh->mass, d, d);
    n += (h->leave_rigid || h->index[d] >= 0) && at >= 0 && w->mesh->mass->value[at] > 0;
  }
  n -= h->leave_rigid ? N_RIGID : 0;
  return n > 0 ? n : 0;
}

/* Number of eigenvalues without those of massless degrees of freedom. */
static int count_modes(const ga__subspace *s)
{
  double largest = 0.0;
  int n = 0;
  for (int i = 0; i < s->k; i++) largest = fmax(largest, s->re[i]);
  for (int i = 0; i < s->k; i++) n += s->re[i] > NO_STIFFNESS * largest;
  return n;
}

/* Adds up to opts->modes of them to v. */
static ga_status add_normal_modes(ga__held *h, const ga_reduction_opts *o, vectors *v)
{
  ga__mesh_work *w = h->w;
  const size_t N = (size_t)w->N;
  const int most = most_modes(h);
  if (o->modes > most)
    return refuse(w, GA_REASON_MESH_FEW_MODES,
                  (ga__facts){.field = "modes", GA__NUMBERS({o->modes, NULL}, {most, NULL})});
  if (o->modes == 0) return GA_OK;
  ga__subspace s = {0};
  ga_status status = find_subspace(h, o->modes, MORE, &s);
  double *lambda = NULL;
  const int n = status ? 0 : count_modes(&s);
  if (!status && n < o->modes)
    status = refuse(w, GA_REASON_MESH_FEW_MODES,
                    (ga__facts){.field = "modes", GA__NUMBERS({o->modes, NULL}, {n, NULL})});
  if (!status && n < s.k) {
    ga__subspace_destroy(&s);
    status = find_subspace(h, n, 0, &s);
  }
  if (!status && !(lambda = ga__alloc(w->ctx, (size_t)s.k, sizeof *lambda)))
    status = ga__no_memory(w->ctx, "a modal body");
  for (int i = 0; i < s.k && !status && !h->leave_rigid; i++)
    for (int d = 0; d < w->N; d++)
      if (h->index[d] < 0) s.basis[(size_t)i * N + (size_t)d] = 0.0;
  if (!status) status = ritz(w, s.k, s.basis, lambda);
  for (int i = 0; i < o->modes && i < s.k && !status; i++) {
    if (sqrt(fmax(lambda[i], 0.0)) > GA__TWO_PI * o->max_frequency) break;
    memcpy(v->X + (size_t)v->n++ * N, s.basis + (size_t)i * N, N * sizeof(double));
  }
  ga__free(w->ctx, lambda);
  ga__subspace_destroy(&s);
  return status;
}

/* ---- Static shapes ---- */

/* Shape for interface degree of freedom d displaced by 1, with the others of the interface held. */
static ga_status add_static_shape(ga__held *h, int d, vectors *v)
{
  ga__mesh_work *w = h->w;
  const ga_sparse *K = w->mesh->stiffness;
  memset(w->x, 0, (size_t)w->N * sizeof *w->x);
  for (int e = K->col_start[d]; e < K->col_start[d + 1]; e++) w->x[K->row[e]] = -K->value[e];
  double *x = v->X + (size_t)v->n++ * (size_t)w->N;
  const ga_status status = solve_held(h, w->x, x);
  x[d] = 1.0;
  return status;
}

static ga_status add_static_shapes(ga__held *h, const int *is_held, const int chosen[N_RIGID], vectors *v)
{
  ga_status status = GA_OK;
  for (int d = 0; d < h->w->N && !status; d++) {
    int left_out = !is_held[d];
    for (int i = 0; i < N_RIGID; i++) left_out |= chosen[i] == d;
    if (!left_out) status = add_static_shape(h, d, v);
  }
  return status;
}

/* ---- All modes ---- */

/* x Kx and |x| |K| |x| */
static void energies(const ga__mesh_work *w, const double *x, double *energy, double *terms)
{
  const ga_sparse *K = w->mesh->stiffness;
  *energy = *terms = 0.0;
  for (int c = 0; c < K->cols; c++)
    for (int e = K->col_start[c]; e < K->col_start[c + 1]; e++) {
      const double part = x[c] * K->value[e] * x[K->row[e]];
      *energy += part;
      *terms += fabs(part);
    }
}

/* Checks that exactly six motions, the rigid ones, have no stiffness. */
static ga_status check_free(const ga__mesh_work *w)
{
  static const char *const motion[N_RIGID] = {"translation along x", "translation along y",
                                              "translation along z", "rotation about x",
                                              "rotation about y",    "rotation about z"};
  double energy, terms;
  for (int a = 0; a < w->n; a++) {
    energies(w, w->mode + (size_t)a * (size_t)w->N, &energy, &terms);
    if (!(w->lambda[a] > 0) || !(energy > NO_STIFFNESS * terms))
      return refuse(w, GA_REASON_MESH_TOO_FREE,
                    (ga__facts){.field = "stiffness", GA__NUMBERS({7 + a, NULL})});
  }
  for (int i = 0; i < N_RIGID; i++) {
    energies(w, w->Z + (size_t)i * (size_t)w->N, &energy, &terms);
    const double first = w->n ? w->lambda[0] : 0.0;
    if (fabs(energy) <= HELD * first || fabs(energy) <= 100 * NO_STIFFNESS * terms) continue;
    return refuse(
        w, GA_REASON_MESH_HELD,
        (ga__facts){.field = "stiffness",
                    .name = motion[i],
                    GA__NUMBERS({sqrt(fabs(energy)) / GA__TWO_PI, "Hz"}, {sqrt(first) / GA__TWO_PI, "Hz"})});
  }
  return GA_OK;
}

/* Keeps the modes whose numbers are listed. */
static ga_status select_modes(ga__mesh_work *w, const ga_reduction_opts *o)
{
  if (o->n_keep == 0) return GA_OK;
  if (o->keep[o->n_keep - 1] > w->n)
    return refuse(w, GA_REASON_MESH_FEW_MODES,
                  (ga__facts){.field = "keep", GA__NUMBERS({o->keep[o->n_keep - 1], NULL}, {w->n, NULL})});
  for (int i = 0; i < o->n_keep; i++) {
    const int from = o->keep[i] - 1;
    if (from != i)
      memcpy(w->mode + (size_t)i * (size_t)w->N, w->mode + (size_t)from * (size_t)w->N,
             (size_t)w->N * sizeof(double));
    w->lambda[i] = w->lambda[from];
  }
  w->n = o->n_keep;
  return GA_OK;
}

static ga_status find_vectors(ga__mesh_work *w, const ga_reduction_opts *o, const int *is_held,
                              const int chosen[N_RIGID], vectors *v)
{
  ga__held h;
  ga_status status = held_create(w, is_held, &h);
  h.leave_rigid = is_free(o);
  if (!status && !is_free(o)) status = add_static_shapes(&h, is_held, chosen, v);
  if (!status) status = add_normal_modes(&h, o, v);
  ga__held_destroy(&h);
  return status;
}

static ga_status finish(ga__mesh_work *w, vectors *v)
{
  const size_t N = (size_t)w->N;
  w->lambda = ga__alloc(w->ctx, (size_t)v->n + 1, sizeof *w->lambda);
  if (!w->lambda) return ga__no_memory(w->ctx, "a modal body");
  for (int i = 0; i < v->n; i++) ga__mesh_leave_rigid(w, v->X + (size_t)i * N);
  const ga_status status = v->n ? ritz(w, v->n, v->X, w->lambda) : GA_OK;
  if (status) return status;
  for (int i = 0; i < v->n; i++) ga__mesh_leave_rigid(w, v->X + (size_t)i * N);
  w->n = v->n;
  return check_free(w);
}

ga_status ga__modal_basis(ga__mesh_work *w, const ga_reduction_opts *o)
{
  const ga_mesh *mesh = w->mesh;
  int chosen[N_RIGID], n_held = 0;
  int *is_held = ga__alloc(w->ctx, (size_t)w->N, sizeof *is_held);
  if (!is_held) return ga__no_memory(w->ctx, "a modal body");
  for (int i = 0; i < mesh->n_interface && !is_free(o); i++)
    for (int c = 0; c < mesh->dofs; c++) is_held[mesh->dofs * mesh->interface_node[i] + c] = 1, n_held++;
  ga_status status = GA_OK;
  if (!choose_held(w, is_free(o) ? NULL : is_held, chosen))
    status = refuse(w, is_free(o) ? GA_REASON_MESH_NO_INERTIA : GA_REASON_MESH_INTERFACE_LOOSE,
                    (ga__facts){.field = "interface", GA__NUMBERS({mesh->n_interface, NULL})});
  for (int i = 0; i < N_RIGID && !status && is_free(o); i++) is_held[chosen[i]] = 1;
  vectors v = {.room = (is_free(o) ? 0 : n_held) + o->modes};
  if (!status && (size_t)o->modes > (size_t)w->N)
    status = refuse(w, GA_REASON_MESH_FEW_MODES,
                    (ga__facts){.field = "modes", GA__NUMBERS({o->modes, NULL}, {w->N, NULL})});
  if (!status) v.X = ga__alloc(w->ctx, (size_t)v.room + 1, (size_t)w->N * sizeof *v.X);
  if (!status && !v.X) status = ga__no_memory(w->ctx, "a modal body");
  if (!status) status = find_vectors(w, o, is_held, chosen, &v);
  w->mode = v.X;
  if (!status) status = finish(w, &v);
  if (!status) status = select_modes(w, o);
  ga__free(w->ctx, is_held);
  return status;
}
