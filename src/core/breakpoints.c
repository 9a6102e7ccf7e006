/* Times at which the equations jump: steps end before them, and the run restarts behind them. */
#include "core/inside.h"

#include <float.h>
#include <math.h>

/* [-] relative to t: rounding of times by the caller's functions and at the end of a step */
#define LISTED_MARGIN (16 * DBL_EPSILON)

/* The first of the caller's list of breaks that ends after t. */
static ga_breakpoint listed_break(const ga__breaks *b, double t)
{
  ga_breakpoint out = {INFINITY, INFINITY, 1, INFINITY, INFINITY, 0, NULL};
  int low = 0, high = b->n_times;
  while (low < high) { /* bisection for the first one behind t */
    const int middle = low + (high - low) / 2;
    const double at = b->times[middle], margin = LISTED_MARGIN * fabs(at);
    if (at + margin > t)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == b->n_times) return out;
  const double at = b->times[low], margin = LISTED_MARGIN * fabs(at);
  out.before = at - margin;
  out.after = at + margin;
  return out;
}

void ga_breakpoint_join(ga_breakpoint *out, const ga_breakpoint *other)
{
  if (!out || !other || isinf(other->before)) return;
  if (other->before > out->after) return;
  if (other->after < out->before) {
    *out = *other;
    return;
  }
  out->before = fmin(out->before, other->before);
  out->after = fmax(out->after, other->after);
  out->restart |= other->restart;
  out->clear = fmin(out->clear, other->clear);
  out->h_max = fmin(out->h_max, other->h_max);
}

static ga_status ask_system(const ga__breaks *b, double t, ga_breakpoint *out)
{
  const ga_system *sys = b->sys;
  *out = (ga_breakpoint){INFINITY, INFINITY, 0, INFINITY, INFINITY, 0, NULL};
  if (!sys->def.next_break) return GA_OK;
  const ga_status before = ga__begin_callback(sys->ctx);
  const int code = sys->def.next_break(sys->def.user, t, b->until, out);
  const ga_status status = ga__end_callback(sys, "next_break", -1, t, code, before);
  if (status > 0) sys->ctx->error.status = GA_ERR_CALLBACK; /* a smaller step cannot help */
  if (status) return GA_ERR_CALLBACK;
  if (isinf(out->before)) {
    out->clear = fmin(out->clear, b->until);
    if (!(out->clear + out->unresolved > t)) { /* abandoned at once: advance a little */
      out->clear = t;
      out->unresolved = 1e-3 * (b->until - t);
    }
    return GA_OK;
  }
  if (out->before <= out->after && out->after > t) return GA_OK;
  return ga__refuse(sys->ctx, GA_ERR_CALLBACK, GA_REASON_BREAK_NOT_AFTER,
                    &(ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1},
                                 .callback = "next_break",
                                 GA__NUMBERS({out->before, NULL}, {out->after, NULL})});
}

/* Intervals in which breaks cannot be found are stepped through; some may be missed. */
static void pass_unresolved(ga__breaks *b, ga_breakpoint *found)
{
  if (!(found->unresolved > 0)) return;
  const double from = fabs(found->clear) < DBL_MIN ? 0.0 : found->clear; /* the number just before 0 */
  const char *what = found->what;
  found->clear += found->unresolved;
  found->unresolved = 0;
  found->what = NULL;
  if (b->warned) return;
  b->warned = 1;
  ga__log(b->sys->ctx, GA_LOG_WARNING, GA_REASON_BREAKS_UNRESOLVED,
          &(ga__facts){
              .at = &(ga__fact_time){from, NAN, -1, -1}, .name = what, GA__NUMBERS({found->clear, NULL})});
}

static int is_known(const ga__breaks *b, double ahead)
{
  return b->known && (isfinite(b->next.before) || b->next.clear >= fmin(ahead, b->until));
}

ga_status ga__breaks_find(ga__breaks *b, double t, double ahead)
{
  const int at_start = b->passed == -DBL_MAX; /* a break at the start itself counts */
  double from = at_start ? fmin(t - 4 * DBL_EPSILON * fabs(t), nextafter(t, -DBL_MAX)) : fmax(t, b->passed);
  while (!is_known(b, ahead)) {
    if (b->known) from = fmax(from, b->next.clear);
    const ga_breakpoint own = listed_break(b, from);
    ga_breakpoint theirs = {INFINITY, INFINITY, 0, INFINITY, INFINITY, 0, NULL};
    ga_status status = from < b->until ? ask_system(b, from, &theirs) : GA_OK;
    if (status) return status;
    pass_unresolved(b, &theirs);
    b->next = theirs;
    if (own.before < theirs.clear) ga_breakpoint_join(&b->next, &own);
    b->next.h_max = theirs.h_max;
    b->known = 1;
  }
  return GA_OK;
}

void ga__breaks_pass(ga__breaks *b)
{
  b->passed = b->next.after;
  b->known = 0;
}

void ga__breaks_begin(ga__breaks *b, double until)
{
  b->until = until;
  b->passed = -DBL_MAX;
  b->known = 0;
  b->warned = 0;
}
