/* Modal bodies from beams: the matrices that the elements of a beam have where it is not loaded, in the frame
 * of its first section, from a machine of this beam alone. */
#include "mbs/beam.h"
#include "mbs/modal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The beam alone, at rest and without loads, and what is evaluated of it. */
typedef struct ga_beam_mesh {
  ga_context *ctx;
  ga_machine *m;
  ga_evaluation *ev;
  double *q, *zero, *position; /* [nq], [nv] zeros, [3 nodes] */
  int *node, n_interface;      /* [interface nodes] */
  int n_loads;
  ga_sparse **stiffening; /* [n_loads] */
  char **name;            /* [interface nodes] */
  ga_mesh mesh;
} beam_alone;

static void close_alone(beam_alone *a)
{
  ga_evaluation_destroy(&a->ev);
  ga_machine_destroy(&a->m);
  ga__free(a->ctx, a->q);
  ga__free(a->ctx, a->node);
  for (int i = 0; i < a->n_loads && a->stiffening; i++) ga_sparse_destroy(a->ctx, &a->stiffening[i]);
  ga__free(a->ctx, a->stiffening);
  for (int i = 0; i < a->n_interface && a->name; i++) ga__free(a->ctx, a->name[i]);
  ga__free(a->ctx, a->name);
}

static ga_status add_marker(beam_alone *a, int i, double at)
{
  char name[32];
  ga_marker_def d = ga_marker_defaults();
  snprintf(name, sizeof name, "at%d", i);
  d.name = name;
  d.body = "beam";
  d.pose.position[0] = at;
  return ga_machine_add_marker(a->m, &d);
}

static ga_status build_alone(beam_alone *a, const ga_beam_def *beam, int n, const double *at)
{
  ga_beam_def d = *beam;
  ga_pose start;
  const ga_beam_def none = ga_beam_defaults();
  ga_status status = ga_machine_create(a->ctx, NULL, &a->m);
  d.name = "beam";
  memcpy(d.load, none.load, sizeof d.load);
  memcpy(d.moment, none.moment, sizeof d.moment);
  memcpy(d.velocity, none.velocity, sizeof d.velocity);
  memcpy(d.omega, none.omega, sizeof d.omega);
  if (!status) status = ga_machine_add_beam(a->m, &d); /* as it is given: this is what messages are about */
  if (status) return status;
  ga_machine_destroy(&a->m);
  ga__beam_place(&d, &start, &d.length);
  d.pose = ga_pose_identity();
  memcpy(d.from, none.from, sizeof d.from);
  memcpy(d.to, none.to, sizeof d.to);
  status = ga_machine_create(a->ctx, NULL, &a->m);
  if (!status) status = ga_machine_add_beam(a->m, &d);
  for (int i = 0; i < n && !status; i++) status = add_marker(a, i, at[i]);
  return status ? status : ga_machine_build(a->m);
}

/* Positions of nodes and numbers of interface nodes; the first node of the beam is the first of the machine.
 */
static ga_status list_nodes(beam_alone *a, int n)
{
  const ga_system *sys = ga_machine_system(a->m);
  const ga__mbs_model *b = a->m->model;
  const size_t nq = (size_t)ga_group_nq(ga_system_group(sys)), nv = (size_t)ga_system_size(sys, GA_BLOCK_V);
  a->q = ga__alloc(a->ctx, nq + 2 * nv, sizeof *a->q);
  a->node = ga__alloc(a->ctx, (size_t)n, sizeof *a->node);
  if (!a->q || !a->node) return ga__no_memory(a->ctx, "a modal body");
  a->zero = a->q + nq;
  a->position = a->zero + nv;
  const ga_status status = ga_machine_initial(a->m, a->q, a->zero, NULL);
  memset(a->zero, 0, nv * sizeof *a->zero);
  for (size_t i = 0; i < nv / 6; i++) memcpy(a->position + 3 * i, a->q + 12 * i, 3 * sizeof(double));
  const int first = b->part_node[ga__find_part(a->m, "beam")];
  for (int i = 0; i < n; i++) {
    char name[32];
    snprintf(name, sizeof name, "at%d", i);
    a->node[i] = GA__AT(b->marker, ga__marker, b->part_marker[ga__find_part(a->m, name)])->node - first;
  }
  return status;
}

/* A matrix of blocks of 12 by 12 along the diagonal, one for each element. */
static ga_status create_blocks(ga_context *ctx, int n_nodes, ga_sparse **out)
{
  const int elements = n_nodes - 1;
  int *row = ga__alloc(ctx, 288 * (size_t)elements, sizeof *row), n = 0;
  if (!row) return ga__no_memory(ctx, "a modal body");
  int *col = row + 144 * elements;
  for (int i = 0; i < elements; i++)
    for (int k = 0; k < 144; k++) row[n] = 6 * i + k / 12, col[n++] = 6 * i + k % 12;
  const ga_status status = ga_sparse_create(ctx, 6 * n_nodes, 6 * n_nodes, n, row, col, NULL, out);
  ga__free(ctx, row);
  return status;
}

/* How each load of ga_mesh.stiffening changes the stiffness: third derivatives of the energy along what it
 * displaces. */
static ga_status find_stiffening(beam_alone *a, const ga_mesh *mesh)
{
  const int part = ga__find_part(a->m, "beam");
  ga__mesh_work w;
  ga__held h = {.w = &w};
  double *f = ga__alloc(a->ctx, (size_t)(6 * mesh->n_nodes), sizeof *f),
         *u = ga__alloc(a->ctx, (size_t)(6 * mesh->n_nodes), sizeof *u);
  ga_status status = ga__mesh_open(&w, a->ctx, mesh);
  a->n_loads = ga__mesh_n_loads(mesh);
  a->stiffening = ga__alloc(a->ctx, (size_t)a->n_loads, sizeof(ga_sparse *));
  if (!status && (!f || !u || !a->stiffening)) status = ga__no_memory(a->ctx, "a modal body");
  if (!status) status = ga__relief_create(&w, &h);
  for (int i = 0; i < a->n_loads && !status; i++) {
    ga__mesh_load(&w, i, f);
    status = ga__relief_solve(&h, f, u);
    if (!status) status = create_blocks(a->ctx, mesh->n_nodes, &a->stiffening[i]);
    if (!status) ga__beam_add_stiffening(a->m->model, part, u, a->stiffening[i]);
  }
  ga__held_destroy(&h);
  ga__mesh_close(&w);
  ga__free(a->ctx, f);
  ga__free(a->ctx, u);
  return status;
}

static ga_status copy_names(beam_alone *a, int n, const char *const *name)
{
  a->n_interface = n;
  a->name = ga__alloc(a->ctx, (size_t)n, sizeof(char *));
  if (!a->name) return ga__no_memory(a->ctx, "a modal body");
  for (int i = 0; i < n; i++) {
    const char *from = name[i] ? name[i] : "";
    a->name[i] = ga__alloc(a->ctx, strlen(from) + 1, 1);
    if (!a->name[i]) return ga__no_memory(a->ctx, "a modal body");
    memcpy(a->name[i], from, strlen(from) + 1);
  }
  return GA_OK;
}

static ga_status make_mesh(beam_alone *a, const ga_beam_def *beam, int n, const double *at,
                           const char *const *name, int stiffening)
{
  ga_status status = build_alone(a, beam, n, at);
  if (!status) status = list_nodes(a, n);
  if (!status) status = copy_names(a, n, name);
  if (!status) status = ga_evaluation_create(a->ctx, ga_machine_system(a->m), &a->ev);
  const ga_point p = {.q = a->q, .v = a->zero, .vdot = a->zero};
  if (!status) status = ga_evaluation_jacobian(a->ev, &p);
  if (status) return status;
  a->mesh = (ga_mesh){.n_nodes = ga_system_size(ga_machine_system(a->m), GA_BLOCK_V) / 6,
                      .dofs = 6,
                      .position = a->position,
                      .mass = ga_evaluation_matrix(a->ev, GA_BLOCK_V, GA_BY_VDOT),
                      .stiffness = ga_evaluation_matrix(a->ev, GA_BLOCK_V, GA_BY_Q),
                      .n_interface = n,
                      .interface_node = a->node,
                      .interface_name = (const char *const *)a->name};
  if (stiffening) status = find_stiffening(a, &a->mesh);
  a->mesh.stiffening = (const ga_sparse *const *)a->stiffening;
  return status;
}

ga_status ga_beam_mesh_create(ga_context *ctx, const ga_beam_def *beam, int n_interface, const double *at,
                              const char *const *name, int stiffening, ga_beam_mesh **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!beam || !out) return ga__refuse_null(ctx, __func__, beam ? "out" : "beam");
  if (n_interface < 0) return ga__refuse_number(ctx, "reduction", "n_interface", n_interface, ">= 0");
  if (n_interface && (!at || !name))
    return ga__refuse_missing(ctx, "reduction", "n_interface", n_interface, at ? "name" : "at");
  for (int i = 0; i < n_interface; i++)
    if (!isfinite(at[i])) return ga__refuse_number(ctx, "reduction", "at", at[i], "finite");
  ga_beam_mesh *a = ga__alloc(ctx, 1, sizeof *a);
  if (!a) return ga__no_memory(ctx, "a modal body");
  a->ctx = ctx;
  const ga_status status = make_mesh(a, beam, n_interface, at, name, stiffening);
  if (status)
    ga_beam_mesh_destroy(&a);
  else
    *out = a;
  return status;
}

const ga_mesh *ga_beam_mesh_get(const ga_beam_mesh *mesh)
{
  return mesh ? &mesh->mesh : NULL;
}

void ga_beam_mesh_destroy(ga_beam_mesh **mesh)
{
  if (!mesh || !*mesh) return;
  ga_context *ctx = (*mesh)->ctx;
  close_alone(*mesh);
  ga__free(ctx, *mesh);
  *mesh = NULL;
}

ga_status ga_machine_beam(const ga_machine *m, const char *part, ga_beam_def *out, ga_pose *start,
                          double *length)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!part || !out) return ga__refuse_null(m->ctx, __func__, part ? "out" : "part");
  const int found = ga__find_part(m, part);
  if (found < 0 || m->part[found].kind != GA__PART_BEAM)
    return ga__refuse_unknown_argument(m, m->ctx, NULL, "part", part, "a beam");
  ga_pose pose;
  double size;
  *out = *(const ga_beam_def *)m->part[found].def;
  ga__beam_place(out, &pose, &size);
  if (start) *start = pose;
  if (length) *length = size;
  return GA_OK;
}

ga_status ga_modal_body_create_beam(ga_context *ctx, const ga_beam_def *beam, int n_interface,
                                    const double *at, const char *const *name, const ga_reduction_opts *opts,
                                    ga_modal_body **out)
{
  ga_beam_mesh *mesh = NULL;
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!beam || !out) return ga__refuse_null(ctx, __func__, beam ? "out" : "beam");
  ga_status status =
      ga_beam_mesh_create(ctx, beam, n_interface, at, name, !opts || !opts->no_stiffening, &mesh);
  if (!status) status = ga_modal_body_create(ctx, ga_beam_mesh_get(mesh), opts, out);
  ga_beam_mesh_destroy(&mesh);
  return status;
}
