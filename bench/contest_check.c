#include "contest.h"
#include "spatial_system.h"

#include <math.h>
#include <stdio.h>

/* The tables against integrations here and now, where they are quick. */
static int references_check(void)
{
  int bad = 0;
  for (int kind = 0; kind < SPATIAL_N_KINDS; kind++)
    for (int n = 10; n <= 20; n += 10) {
      const spatial_chain c = spatial_chain_make((spatial_kind)kind, n);
      double tip[3] = {NAN, NAN, NAN};
      spatial_tip_by_extrapolation(&c, c.t_end, 80L * n, 6, tip);
      const double off = spatial_chain_error(&c, tip);
      printf("reference of %s%d: tip (%.12f, %.12f, %.12f), off the table by %.1e\n",
             spatial_kind_name(c.kind), n, tip[0], tip[1], tip[2], off);
      bad |= !(off < 1e-11);
    }
  return bad;
}

/* The Jacobian that IDA is given against differences, at a point in the middle of nowhere: a wrong one would
 * only make the peer slower. */
static int derivatives_check(spatial_kind kind)
{
  enum { N = 4, MOST = 7 * N };
  double z[4][MOST]; /* q, v, v', λ */
  ga_context *ctx = NULL;
  ga_system *sys = NULL;
  ga_check_report found = {.worst = NAN};
  spatial_system *s = spatial_system_create(spatial_chain_make(kind, N));
  int rc = s ? ga_context_create(NULL, &ctx) : GA_ERR_MEMORY;
  if (rc == GA_OK) {
    const ida_model model = spatial_ida_model(s);
    rc = ga_system_create(ctx, &model.def, &sys);
  }
  if (rc == GA_OK) {
    for (int i = 0; i < 4 * MOST; i++) z[i / MOST][i % MOST] = sin(1.0 + 2.3 * i * i);
    ga_group_normalise(ga_system_group(sys), z[0]);
    const ga_point p = {
        .q = z[0], .v = z[1], .vdot = z[2], .lambda = z[3], .psi = z[3], .x = z[3], .y = z[3]};
    rc = ga_system_check(sys, &p, 1e-6, &found);
  }
  printf("Jacobian of %s chains: off by %.1e of its rows at the most\n", spatial_kind_name(kind),
         found.worst);
  ga_system_destroy(&sys);
  ga_context_destroy(&ctx);
  spatial_system_destroy(&s);
  return rc != GA_OK;
}

int contest_check(void)
{
  int bad = references_check();
  for (int kind = 0; kind < SPATIAL_N_KINDS; kind++) bad |= derivatives_check((spatial_kind)kind);
  return bad;
}
