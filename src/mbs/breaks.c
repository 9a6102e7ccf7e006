/* Corners and jumps of a machine's functions of time, and those that its drives cannot follow. */
#include "mbs/breaks.h"
#include "mbs/element.h"
#include "control/over_time.h"
#include "base/base_impl.h"
#include "expr/function.h"
#include "expr/time_signal.h"

#include <math.h>

/* ---- Functions of time and expressions of a machine ---- */

int ga__visit_formula(const ga__formula *f, ga__visit_fn visit, void *user)
{
  return f->expr ? visit(user, &(ga__break_site){.expr = f->expr, .drive = -1, .time_signal = f->time_signal})
                 : 0;
}

static int visit_element(const ga__mbs_model *b, const ga__element *el, ga__visit_fn visit, void *user)
{
  ga__input *in;
  ga__formula *f;
  int code = 0;
  for (int i = 0; !code && el->type->get_input && el->type->get_input(el, i, &in, &f); i++)
    if (!in)
      code = ga__visit_formula(f, visit, user);
    else if (in->function)
      code = visit(user, &(ga__break_site){.function = in->function, .drive = -1});
  return code || !el->type->visit ? code : el->type->visit(b, el, visit, user);
}

int ga__visit_sites(const ga__mbs_model *b, ga__visit_fn visit, void *user)
{
  int code = 0;
  for (int i = 0; !code && i < b->element.n; i++) code = visit_element(b, ga__element_at(b, i), visit, user);
  return code;
}

/* ---- Drives ---- */

/* Refuses a drive whose position jumps, or whose velocity jumps where impacts are not accepted. */
static ga_status check_impact(const ga_machine *m, ga_context *ctx, const ga__break_site *s,
                              const ga_break *at)
{
  const ga__part *p = &m->part[s->drive];
  const ga_function *f = s->function;
  ga__prescribed drive = {.accept_impact = 0};
  double left[2] = {0, 0}, right[2] = {0, 0};
  const double t = 0.5 * (at->before + at->after);
  ga__prescribed_by(p, &drive);
  if (at->order > !s->is_speed || (at->order == 1 && drive.accept_impact)) return GA_OK;
  ga_function_eval(f, at->before, 1, left, NULL);
  ga_function_eval(f, at->after, 1, right, NULL);
  if (at->order == 0)
    return ga__refuse_part(
        ctx, p, GA_ERR_INCONSISTENT, s->is_speed ? GA_REASON_DRIVE_SPEED_JUMPS : GA_REASON_DRIVE_JUMPS,
        (ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1}, GA__NUMBERS({left[0], NULL}, {right[0], NULL})});
  return ga__refuse_part(
      ctx, p, GA_ERR_INCONSISTENT, GA_REASON_DRIVE_IMPACT,
      (ga__facts){.at = &(ga__fact_time){t, NAN, -1, -1}, GA__NUMBERS({left[1], NULL}, {right[1], NULL})});
}

typedef struct drive_check {
  const ga_machine *m;
  double from, to;
  ga_status status;
} drive_check;

static int check_drive(void *user, const ga__break_site *s)
{
  drive_check *c = user;
  ga_break at;
  if (s->drive < 0) return 0;
  for (double t = c->from; t < c->to && !c->status; t = isfinite(at.before) ? at.after : at.clear) {
    c->status = ga_function_next_break(s->function, t, c->to, &at);
    if (!c->status && isfinite(at.before) && at.before > c->from)
      c->status = check_impact(c->m, c->m->ctx, s, &at);
    if (!c->status && !isfinite(at.before) && !(at.clear > t)) break;
  }
  return c->status != GA_OK;
}

ga_status ga_machine_check_drives(const ga_machine *m, double from, double to)
{
  if (!m) return GA_ERR_ARGUMENT;
  if (!m->model) return ga__refuse_order(m->ctx, __func__, GA__ONCE_BUILT);
  if (!(from < to) || !isfinite(from) || !isfinite(to))
    return ga__refuse(m->ctx, GA_ERR_ARGUMENT, GA_REASON_TIME_OUT_OF_RANGE,
                      &(ga__facts){.function = __func__,
                                   .field = "to",
                                   .expected = "finite and after from",
                                   GA__NUMBERS({to, NULL}, {from, NULL})});
  drive_check c = {m, from, to, GA_OK};
  ga__visit_sites(m->model, check_drive, &c);
  return c.status;
}

/* ---- The next break of all ---- */

#define PER_PERIOD 10.0 /* steps per period that an oscillation needs */

typedef struct break_search {
  const ga__workspace *work;
  double t, until;
  ga_breakpoint *out;
  ga_status status;
} break_search;

static ga_status next_break_of(const ga__break_site *s, double t, double until, ga_break *at)
{
  if (s->function) return ga_function_next_break(s->function, t, until, at);
  if (s->block)
    return s->time_signal && !ga_block_sample_time(s->block, NULL, NULL)
               ? ga__block_next_break_along(s->block, s->time_signal, t, until, at)
               : ga_block_next_break(s->block, t, until, at);
  return s->time_signal ? ga__expr_next_break_along(s->expr, s->time_signal, t, until, at)
                        : ga_expr_next_break(s->expr, 0, t, until, at);
}

static double period_of(const ga__break_site *s, double from, double to)
{
  if (s->function) return ga_function_period(s->function, from, to);
  if (s->block)
    return s->time_signal ? ga__block_period_along(s->block, s->time_signal, from, to)
                          : ga_block_period(s->block, from, to);
  return s->time_signal ? ga__expr_period_along(s->expr, s->time_signal, from, to)
                        : ga_expr_period(s->expr, 0, from, to);
}

static const char *text_of(const ga__break_site *s)
{
  const ga_expr *e = s->expr ? s->expr : s->function ? ga__function_expr(s->function) : NULL;
  if (s->block) return ga_block_kind_name(ga_block_get_kind(s->block));
  return e ? ga_expr_text(e) : NULL;
}

/* A search that ended early limits all others: they end there too, and all continue from there. If it ended
 * because breaks are too dense to separate, the result says so and names the function. */
static void stop_search(ga_breakpoint *out, const ga__break_site *s, const ga_break *at)
{
  const double clear = fmin(at->clear, out->clear),
               end = fmin(at->clear + at->unresolved, out->clear + out->unresolved);
  const char *what = at->clear < out->clear ? text_of(s) : out->what;
  *out = (ga_breakpoint){INFINITY, INFINITY, 0, clear, out->h_max, end - clear, what};
}

static int search_site(void *user, const ga__break_site *s)
{
  break_search *k = user;
  ga_breakpoint *out = k->out;
  const double until =
      fmin(fmin(k->until, out->after), out->clear + out->unresolved); /* later breaks do not matter */
  ga_break at;
  if (!(k->t < until)) return 0;
  k->status = next_break_of(s, k->t, until, &at);
  if (k->status) return 1;
  if (isinf(at.before) || at.unresolved > 0) {
    if (at.clear < until) stop_search(out, s, &at);
    return 0;
  }
  if (s->drive >= 0 && at.before > k->t && (k->status = check_impact(k->work->m, k->work->ctx, s, &at)))
    return 1;
  const int jumps = at.order <= s->restart_order;
  if (at.before > out->clear) { /* will be found when the search continues */
    out->unresolved = fmin(out->unresolved, at.before - out->clear);
    return 0;
  }
  ga_breakpoint_join(out, &(ga_breakpoint){at.before, at.after, jumps, INFINITY, out->h_max, 0, NULL});
  return 0;
}

static int search_period(void *user, const ga__break_site *s)
{
  break_search *k = user;
  const double end = fmin(k->until, fmin(k->out->before, k->out->clear));
  if (!(k->t < end)) return 1;
  k->out->h_max = fmin(k->out->h_max, period_of(s, k->t, end) / PER_PERIOD);
  return 0;
}

int ga__machine_next_break(void *user, double t, double until, ga_breakpoint *out)
{
  const ga__workspace *work = user;
  break_search k = {work, t, until, out, GA_OK};
  ga__visit_sites(work->b, search_site, &k);
  if (k.status) return -1;
  ga__visit_sites(work->b, search_period, &k);
  return 0;
}
