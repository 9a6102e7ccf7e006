/* Which form of the iteration matrix is used where a family leaves that to how the iteration converges: for
 * the stabilized form, which terms the columns of η have.
 *
 * Without those that carry h the matrix is block-triangular, and its factors cost little more than half;
 * where η or the curvature of the constraints is not small, near singular positions, beside wheels that spin
 * fast or with long steps, Newton's iteration converges slowly without them, or not at all. A stepper begins
 * with the reduced form and changes when factors of the very step have failed: to the complete one, for a
 * number of steps that doubles where the reduced one has not done for long. Matrices that leave constraints
 * out have all terms. */
#include "core/stepper.h"

/* Steps with the complete form, first and at most; as many steps with the reduced form show that it is
 * sufficient. */
enum { FIRST_WAIT = 32, LONGEST_WAIT = 4096 };

static int has_choice(const ga_stepper *st)
{
  return st->factors.by_convergence && !st->factors.now.leaves_out;
}

int ga__terms_lacking(const ga_stepper *st)
{
  return has_choice(st) && st->factors.now.choice.form == GA__REDUCED;
}

void ga__terms_take_all(ga_stepper *st)
{
  ga__choice *c = &st->factors.now.choice;
  c->form = GA__COMPLETE;
  c->span = c->span == 0 || c->since >= c->span ? FIRST_WAIT : 2 * c->span;
  if (c->span > LONGEST_WAIT) c->span = LONGEST_WAIT;
  c->wait = c->span;
  c->since = 0;
  ga__factors_drop(st);
  st->stats.all_terms++;
}

void ga__terms_try_fewer(ga_stepper *st)
{
  ga__choice *c = &st->factors.now.choice;
  if (!has_choice(st) || c->form == GA__REDUCED || c->wait > 0) return;
  c->form = GA__REDUCED;
  ga__factors_drop(st);
}

void ga__terms_count_step(ga_stepper *st)
{
  ga__choice *c = &st->factors.now.choice;
  if (!has_choice(st)) return;
  if (c->form == GA__COMPLETE)
    c->wait -= c->wait > 0;
  else
    c->since += c->since < LONGEST_WAIT;
}
