#include "spatial_peers.h"

#ifdef HAVE_SUNDIALS

#include "spatial_system.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct ida_chain {
  ga_context *ctx;
  spatial_system *system;
  ida_peer *peer;
  double *q;
} ida_chain;

static void ida_close(void *model)
{
  ida_chain *m = model;
  ida_peer_destroy(&m->peer);
  spatial_system_destroy(&m->system);
  ga_context_destroy(&m->ctx);
  free(m->q);
  free(m);
}

static void *ida_open(const spatial_chain *c)
{
  ida_chain *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->q = calloc(7 * (size_t)c->n, sizeof *m->q);
  m->system = spatial_system_create(*c);
  if (m->q && m->system && ga_context_create(NULL, &m->ctx) == GA_OK) {
    const ida_model model = spatial_ida_model(m->system);
    m->peer = ida_peer_create(m->ctx, &model);
  }
  if (m->peer) return m;
  ida_close(m);
  return NULL;
}

static int ida_run(ida_chain *m, ida_form form, int option, double tol, spatial_outcome *out)
{
  const spatial_chain *c = &m->system->c;
  ida_opts opts = ida_peer_defaults(form);
  ida_counts n = {0};
  opts.tol = tol;
  if (form == IDA_GGL && c->n > 20) opts.v_atol = 10.0, opts.lambda_atol = 1e6; /* a fifth faster there */
  if (!ida_peer_set(m->peer, option, &opts)) return SPATIAL_SKIPPED;
  const int rc = ida_peer_run(m->peer, &opts, c->t_end, m->q, NULL, &n);
  if (rc != 0) {
    snprintf(out->why, sizeof out->why, "IDA's flag %d", rc);
    return rc;
  }
  const double *last = m->q + 7 * (c->n - 1);
  spatial_chain_tip(out->tip, c, last, last + 3);
  out->steps = (double)n.steps;
  out->iterations = (double)n.iterations;
  out->factorisations = (double)n.jacobians;
  return 0;
}

static int ida_run_ggl(void *model, int option, double tol, spatial_outcome *out)
{
  return ida_run(model, IDA_GGL, option, tol, out);
}
static int ida_run_index1(void *model, int option, double tol, spatial_outcome *out)
{
  return ida_run(model, IDA_INDEX1, option, tol, out);
}

const spatial_peer spatial_ida_ggl = {.name = "ida_ggl",
                                      .title = "IDA, GGL",
                                      .setting = "tolerance",
                                      .first = 1e-2,
                                      .factor = 0.31622776601683794,
                                      .options = ida_peer_options,
                                      .open = ida_open,
                                      .run = ida_run_ggl,
                                      .close = ida_close};
const spatial_peer spatial_ida_index1 = {.name = "ida_index1",
                                         .title = "IDA, index 1",
                                         .setting = "tolerance",
                                         .first = 1e-2,
                                         .factor = 0.31622776601683794,
                                         .options = ida_peer_options,
                                         .open = ida_open,
                                         .run = ida_run_index1,
                                         .close = ida_close};

#else
typedef int spatial_ida_absent; /* ISO C wants a declaration */
#endif
