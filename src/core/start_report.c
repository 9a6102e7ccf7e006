/* Reports of a start: moved values, impacts, redundant constraints. */
#include "core/start.h"

#include <math.h>
#include <string.h>

void ga__start_report_impact(ga_stepper *st, const ga_start_change *c)
{
  char name[192], equation[192] = "a constraint";
  if (!(c->change > 1e-6) || c->worst_change < 0) return;
  ga__describe_unknown(st->sys, GA_BLOCK_V, c->worst_change, name, sizeof name);
  if (c->worst_before >= 0)
    ga__describe(st->sys, GA_BLOCK_LAMBDA, c->worst_before, equation, sizeof equation);
  ga__log(st->ctx, GA_LOG_INFO, GA_REASON_IMPACT,
          &(ga__facts){.at = &(ga__fact_time){st->now.scalar[GA__T], NAN, GA_BLOCK_LAMBDA, c->worst_before},
                       .equation = equation,
                       .name = name,
                       GA__NUMBERS({c->residual_before, NULL}, {c->change, NULL})});
}

void ga__start_warn_moved(ga_stepper *st, const ga_start_change *c, const char *what)
{
  char name[192];
  if (!(c->change > 1e-6) || c->worst_change < 0) return;
  ga__describe_unknown(st->sys, GA_BLOCK_V, c->worst_change, name, sizeof name);
  ga__log(st->ctx, GA_LOG_WARNING, GA_REASON_START_MOVED,
          &(ga__facts){.kind = "start",
                       .name = what,
                       .equation = name,
                       GA__NUMBERS({c->residual_before, NULL}, {c->change, NULL})});
}

void ga__start_clear_report(ga_start_report *r)
{
  memset(r, 0, sizeof *r);
  r->position = r->velocity = r->nonholonomic = r->acceleration = ga__start_no_change();
}

void ga__start_report_relations(ga_stepper *st, ga_start_report *r)
{
  const ga_redundancy *red = ga_stepper_redundancy(st);
  const int most = sizeof r->blamed_index / sizeof *r->blamed_index;
  if (!red) return;
  r->mobility = red->mobility;
  r->redundant = red->redundant;
  for (int k = 0; k < red->redundant && k < most; k++, r->n_blamed++) {
    r->blamed_block[k] = red->relation[k].row[0].block;
    r->blamed_index[k] = red->relation[k].row[0].index;
  }
}

/* ---- The report in words ---- */

static void write_change(ga__writer *w, const ga_system *sys, ga_equation_block block,
                         const ga_start_change *c, const char *what, const char *unit)
{
  char name[192];
  if (c->worst_before < 0) return;
  ga__describe(sys, block, c->worst_before, name, sizeof name);
  if (c->change > 0.0) {
    char coordinate[192] = "";
    if (c->worst_change >= 0)
      ga__describe_unknown(sys, GA_BLOCK_V, c->worst_change, coordinate, sizeof coordinate);
    ga__write(
        w,
        "%s: residual %.3g (largest in %s) mended to %.3g in %d iterations; %s moved by up to %.3g, most in "
        "%s\n",
        what, c->residual_before, name, c->residual_after, c->iterations, unit, c->change, coordinate);
  } else {
    ga__write(w, "%s: residual %.3g, left as given\n", what, c->residual_before);
  }
}

static void write_redundant(ga__writer *w, const ga_system *sys, const ga_start_report *r)
{
  char name[192];
  ga__write(w, "redundant: %d constraints follow from others:", r->redundant);
  for (int i = 0; i < r->n_blamed; i++) {
    ga__describe(sys, r->blamed_block[i], r->blamed_index[i], name, sizeof name);
    ga__write(w, "%s %s", i ? "," : "", name);
  }
  ga__write(w, "%s; reactions of constraints that share a load are not unique\n",
            r->redundant > r->n_blamed ? ", ..." : "");
  if (r->gap > 1e-12) ga__write(w, "redundant constraints do not quite fit together: %.3g is left\n", r->gap);
}

static void write_accelerations(ga__writer *w, const ga_system *sys, const ga_start_report *r)
{
  char name[192] = "none";
  if (r->acceleration.worst_change >= 0)
    ga__describe_unknown(sys, GA_BLOCK_V, r->acceleration.worst_change, name, sizeof name);
  ga__write(w, "accelerations: solved in %d iterations, largest %.6g in %s; reciprocal condition %.1e\n",
            r->acceleration.iterations + 1, r->acceleration.change, name, r->rcond);
}

static void write_method(ga__writer *w, const ga_start_report *r)
{
  if (r->a_shift > 0.0)
    ga__write(w, "a: shifted from vdot by up to %.3g, for order 2 in forces from the first step\n",
              r->a_shift);
  if (r->w_shift > 0.0) ga__write(w, "w: shifted from xdot by up to %.3g\n", r->w_shift);
  if (r->v_perturbation > 0.0)
    ga__write(w,
              "v: moved off the hidden constraints by up to %.3g, as the index-3 form needs for order 2 in "
              "lambda\n",
              r->v_perturbation);
}

int ga_start_report_say(const ga_system *sys, const ga_start_report *r, int parts, char *text, size_t size)
{
  if (!text) size = 0;
  if (size) text[0] = '\0';
  if (!sys || !r) return 0;
  ga__writer w = {text, size, 0};
  const int constraints = sys->size[GA_BLOCK_LAMBDA] + sys->size[GA_BLOCK_PSI];
  if (parts & GA_START_POSITIONS) write_change(&w, sys, GA_BLOCK_LAMBDA, &r->position, "positions", "q");
  if (parts & GA_START_VELOCITIES) write_change(&w, sys, GA_BLOCK_LAMBDA, &r->velocity, "velocities", "v");
  if (parts & GA_START_VELOCITIES && r->nonholonomic.worst_before >= 0)
    ga__write(&w, "nonholonomic: residual %.3g, now %.3g\n", r->nonholonomic.residual_before,
              r->nonholonomic.residual_after);
  if (parts & GA_START_ACCELERATIONS) write_accelerations(&w, sys, r);
  if (parts & GA_START_CONSTRAINTS && constraints > 0)
    ga__write(&w, "mobility: %d, of %d velocities under %d constraints\n", r->mobility, sys->nv, constraints);
  if (parts & GA_START_CONSTRAINTS && r->redundant > 0) write_redundant(&w, sys, r);
  if (parts & GA_START_METHOD) write_method(&w, r);
  return (int)w.used;
}

int ga_start_report_text(const ga_system *sys, const ga_start_report *r, char *text, size_t size)
{
  return ga_start_report_say(sys, r, GA_START_ALL, text, size);
}
