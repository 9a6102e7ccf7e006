/* Modal bodies from beams: the matrices that the elements of a beam have where it is not loaded, in the frame
 * of its first section, from a machine of this beam alone. */
#include "mbs/beam.h"
#include "mbs/modal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The beam alone, at rest and without loads, and what is evaluated of it. */
typedef struct beam_alone {
  ga_context *ctx;
  ga_machine *m;
  ga_evaluation *ev;
  double *q, *zero, *position; /* [nq], [nv] zeros, [3 nodes] */
  int *node;                   /* [interface nodes] */
} beam_alone;

static void close_alone(beam_alone *a)
{
  ga_evaluation_destroy(&a->ev);
  ga_machine_destroy(&a->m);
  ga__free(a->ctx, a->q);
  ga__free(a->ctx, a->node);
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

ga_status ga_modal_body_create_beam(ga_context *ctx, const ga_beam_def *beam, int n_interface,
                                    const double *at, const char *const *name, const ga_reduction_opts *opts,
                                    ga_modal_body **out)
{
  if (out) *out = NULL;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!beam || !out) return ga__refuse_null(ctx, __func__, beam ? "out" : "beam");
  if (n_interface < 0) return ga__refuse_number(ctx, "reduction", "n_interface", n_interface, ">= 0");
  if (n_interface && (!at || !name))
    return ga__refuse_missing(ctx, "reduction", "n_interface", n_interface, at ? "name" : "at");
  for (int i = 0; i < n_interface; i++)
    if (!isfinite(at[i])) return ga__refuse_number(ctx, "reduction", "at", at[i], "finite");
  beam_alone a = {.ctx = ctx};
  ga_status status = build_alone(&a, beam, n_interface, at);
  if (!status) status = list_nodes(&a, n_interface);
  if (!status) status = ga_evaluation_create(ctx, ga_machine_system(a.m), &a.ev);
  const ga_point p = {.q = a.q, .v = a.zero, .vdot = a.zero};
  if (!status) status = ga_evaluation_jacobian(a.ev, &p);
  if (!status) {
    const int nv = ga_system_size(ga_machine_system(a.m), GA_BLOCK_V);
    const ga_mesh mesh = {.n_nodes = nv / 6,
                          .dofs = 6,
                          .position = a.position,
                          .mass = ga_evaluation_matrix(a.ev, GA_BLOCK_V, GA_BY_VDOT),
                          .stiffness = ga_evaluation_matrix(a.ev, GA_BLOCK_V, GA_BY_Q),
                          .n_interface = n_interface,
                          .interface_node = a.node,
                          .interface_name = name};
    status = ga_modal_body_create(ctx, &mesh, opts, out);
  }
  close_alone(&a);
  return status;
}
