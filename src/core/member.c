/* Members of GA_AUTOMATIC: stabilized steps of order 2, and collocation. The one in use is the stepper's
 * method, with its factors; both change places. */
#include "core/stepper.h"

#include <string.h>

/* Above this number of unknowns collocation is not made ready: each of its nodes has factors of its own. */
enum { MOST_UNKNOWNS = 30000 };

/* GA_AUTOMATIC itself has no family: its members have. */
const ga__method ga__method_automatic = {.keeps_positions = 1,
                                         .keeps_rates = 1,
                                         .has_eta = 1,
                                         .vdot_at_end = 1,
                                         .adjusts_gamma = 1,
                                         .has_order = 1};

static void take_method(ga_stepper *st, const ga__method *method)
{
  const ga_scheme *s = &st->opts.scheme;
  st->method = method;
  st->family = method->family;
  st->n_eta = method->has_eta ? st->sys->size[GA_BLOCK_LAMBDA] : 0;
  st->c1 = (1.0 - s->alpha_m) / (s->beta * (1.0 - s->alpha_f)); /* collocation has others */
  st->c2 = s->gamma / s->beta;
  st->d1 = (1.0 - s->delta_m) / (s->theta * (1.0 - s->delta_f));
}

static void exchange(ga_stepper *st)
{
  const ga__member in_use = {st->method, st->own, st->factors};
  st->own = st->other.own;
  st->factors = st->other.factors;
  take_method(st, st->other.method);
  st->other = in_use;
}

/* Which methods the options ask for; *second NULL: one alone. */
static const ga__method *choose(const ga_stepper *st, const ga__method **second)
{
  const int order = st->opts.order;
  *second = NULL;
  if (st->opts.method != GA_AUTOMATIC) return ga__method_of(st->opts.method);
  if (order > 2) return ga__method_of(GA_COLLOCATION);
  if (order == 0 && st->sys->n <= MOST_UNKNOWNS) *second = ga__method_of(GA_COLLOCATION);
  return ga__method_of(GA_STABILIZED);
}

static ga_status create(ga_stepper *st)
{
  return st->family->create ? st->family->create(st) : GA_OK;
}

/* Most runs with two members need the matrices of the second one alone: those of the first are made by the
 * first start with it that a step follows. */
ga_status ga__members_create(ga_stepper *st)
{
  const ga__method *second;
  take_method(st, choose(st, &second));
  ga_status status = ga__method_check_system(st);
  if (!status) status = create(st);
  if (status || !second) return status ? status : ga__factors_create(st);
  st->factors.n = st->sys->n + st->n_eta;
  st->other.method = second;
  exchange(st);
  status = create(st);
  if (!status) status = ga__factors_create(st);
  exchange(st);
  return status;
}

static void destroy(ga_stepper *st)
{
  if (st->family->destroy) st->family->destroy(st);
  ga__factors_destroy(st);
}

void ga__members_destroy(ga_stepper *st)
{
  if (st->family) destroy(st);
  if (!st->other.method) return;
  exchange(st);
  destroy(st);
}

size_t ga__members_state_length(const ga_stepper *st)
{
  const ga__method *const list[] = {st->method, st->other.method};
  size_t most = 0;
  for (int i = 0; i < 2; i++) {
    const size_t length = list[i] && list[i]->family->state_length ? list[i]->family->state_length(st) : 0;
    if (length > most) most = length;
  }
  return most;
}

int ga__has_members(const ga_stepper *st)
{
  return st->other.method != NULL;
}

int ga__member_is_second(const ga_stepper *st)
{
  return ga__has_members(st) && st->method->has_order;
}

void ga__member_use(ga_stepper *st, int second)
{
  if (!ga__has_members(st) || ga__member_is_second(st) == second) return;
  exchange(st);
  ga__forget_steps(st);
}
