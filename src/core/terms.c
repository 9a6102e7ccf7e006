/* Which terms the columns of η have in the iteration matrix of the stabilized form.
 *
 * Without those that carry h the matrix is block-triangular, and its factors cost little more than half;
 * where η or the curvature of the constraints is not small, near singular positions, beside wheels that spin
 * fast or with long steps, Newton's iteration converges slowly without them, or not at all. Small systems
 * have all terms. Large ones begin without, and change when factors of the very step have failed: to the
 * matrix with all terms, for a number of steps that doubles where fewer have not done for long. Both matrices
 * are there from the beginning. */
#include "core/core_impl.h"

#include <string.h>

/* Up to so many unknowns the terms cost nothing worth saving. */
enum { SMALL = 64 };
/* A dense system has so many more terms of η than others that the matrix that lacks them is all there is:
 * where all are more than this many numbers, and MOST_TIMES those of the matrix that lacks them. */
#define MOST_NUMBERS 1e6
#define MOST_TIMES 8.0
/* Steps with all terms, at first and at the most; as many without them show that fewer will do. */
enum { FIRST_WAIT = 32, LONGEST_WAIT = 4096 };

static int plain_in_use(const ga_stepper *st)
{
  return !st->leaves_out;
}

/* The two change places, wherever the first one is. */
static void change(ga_stepper *st)
{
  ga__assembly *as = plain_in_use(st) ? &st->assembly : &st->other.assembly, mine = *as;
  ga_lu **lu = plain_in_use(st) ? &st->lu : &st->other.lu, *my_lu = *lu;
  *as = st->spare_assembly;
  *lu = st->spare_lu;
  st->spare_assembly = mine;
  st->spare_lu = my_lu;
  st->terms.all = !st->terms.all;
}

void ga__terms_begin(ga_stepper *st)
{
  memset(&st->terms, 0, sizeof st->terms);
  st->terms.all = !st->stabilized || st->sys->n <= SMALL;
}

/* 1: the matrix with all terms is not out of proportion. */
static ga_status affordable(ga_stepper *st, const ga__layout *layout, int *yes)
{
  double all = 0.0, fewer = 0.0;
  ga__layout lean = st->assembly.layout;
  ga_status status = ga__assembly_length(st->sys, layout, &all);
  if (!status) status = ga__assembly_length(st->sys, &lean, &fewer);
  *yes = all <= MOST_NUMBERS || all <= MOST_TIMES * fewer;
  return status;
}

ga_status ga__terms_create(ga_stepper *st)
{
  int yes;
  if (st->terms.all || st->opts.newton.eta_terms != GA_ETA_AUTO) return GA_OK;
  st->terms.all = 1;
  ga__layout layout = st->family->layout(st);
  st->terms.all = 0;
  ga_status status = affordable(st, &layout, &yes);
  if (status || !yes) return status;
  st->chooses_terms = 1;
  status = ga__assembly_create(st->sys, &layout, st->opts.lu, &st->spare_assembly);
  return status ? status : ga__assembly_lu(&st->spare_assembly, st->opts.lu, &st->spare_lu);
}

void ga__terms_destroy(ga_stepper *st)
{
  ga_lu_destroy(&st->spare_lu);
  ga__assembly_destroy(&st->spare_assembly);
  st->chooses_terms = 0;
}

int ga__terms_lacking(const ga_stepper *st)
{
  return st->chooses_terms && !st->terms.all && plain_in_use(st);
}

void ga__terms_take_all(ga_stepper *st)
{
  ga__terms *t = &st->terms;
  change(st);
  t->span = t->span == 0 || t->lean >= t->span ? FIRST_WAIT : 2 * t->span;
  if (t->span > LONGEST_WAIT) t->span = LONGEST_WAIT;
  t->wait = t->span;
  t->lean = 0;
  st->have_factors = st->restore = 0;
  st->stats.all_terms++;
}

void ga__terms_try_fewer(ga_stepper *st)
{
  if (!st->chooses_terms || !st->terms.all || st->terms.wait > 0 || !plain_in_use(st)) return;
  change(st);
  st->have_factors = st->restore = 0;
}

void ga__terms_count(ga_stepper *st)
{
  ga__terms *t = &st->terms;
  if (!st->chooses_terms || !plain_in_use(st)) return;
  if (t->all)
    t->wait -= t->wait > 0;
  else
    t->lean += t->lean < LONGEST_WAIT;
}

void ga__terms_restore(ga_stepper *st, const ga__terms *terms)
{
  if (st->terms.all != terms->all) change(st);
  st->terms = *terms;
}

const ga__assembly *ga__terms_assembly(const ga_stepper *st, int all)
{
  if (st->terms.all != all) return &st->spare_assembly;
  return plain_in_use(st) ? &st->assembly : &st->other.assembly;
}
