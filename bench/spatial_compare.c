/* The peers alone on the spatial chain, and the check of its references. bench/README.md explains the
 * figures. */
#include "spatial_sweep.h"

#include <math.h>
#include <stdio.h>

static const struct {
  spatial_kind kind;
  int n;
} problems[] = {
    {SPATIAL_SPHERICAL, 10},  {SPATIAL_SPHERICAL, 20}, {SPATIAL_SPHERICAL, 95}, {SPATIAL_SPHERICAL, 100},
    {SPATIAL_SPHERICAL, 400}, {SPATIAL_REVOLUTE, 10},  {SPATIAL_REVOLUTE, 20},  {SPATIAL_REVOLUTE, 100},
};

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

int main(int argc, char **argv)
{
  static report r;
  bench_options o;
  const int code = bench_options_read(&o, argc, argv,
                                      "spherical10, spherical20, spherical95, spherical100, spherical400, "
                                      "revolute10, revolute20, revolute100");
  if (code >= 0) return code;
  const int bad = references_check();
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s%d", spatial_kind_name(problems[i].kind), problems[i].n);
    if (!bench_wanted(&o, name)) continue;
    printf("\n%s: chain of %d rods, %g s; error: position of the tip [m] at the end\n", name, problems[i].n,
           spatial_chain_make(problems[i].kind, problems[i].n).t_end);
    spatial_sweep_peers(&r, problems[i].kind, problems[i].n);
  }
  return bench_finish(&r, &o) || bad;
}
