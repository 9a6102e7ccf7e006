/* The table of sentences: what is wrong, and what to do, for each reason of GA_REASON_LIST. */
#include "base/sentence.h"

static const ga__sentence SENTENCES[] = {
    [GA_REASON_NONE] = {"", NULL},
    [GA_REASON_OTHER] = {"{detail}", NULL},
    [GA_REASON_MEMORY] = {"out of memory for {name}", NULL},
    [GA_REASON_NULL_ARGUMENT] = {"an argument that the function needs is NULL", NULL},

    /* steps and starts */
    [GA_REASON_CALLBACK] = {"the callback '{callback}' gave up (it returned {code})", NULL},
    [GA_REASON_CALLBACK_RETRY] = {"the callback '{callback}' could not be evaluated (it returned {code})",
                                  "; a smaller step may help"},
    [GA_REASON_CALLBACK_AT_START] = {"the callback '{callback}' could not be evaluated (it returned {code})",
                                     NULL},
    [GA_REASON_NOT_FINITE_AT_START] =
        {"the callback '{callback}' returned {0} for {equation} while the start is "
         "computed: the model divides by zero or takes a root of a negative number there",
         NULL},
    [GA_REASON_NOT_FINITE_IN_STEP] =
        {"the callback '{callback}' returned {0} for {equation}: the model divides by zero "
         "or takes a root of a negative number there",
         ". A smaller step may help"},
    [GA_REASON_JACOBIAN_NOT_FINITE] =
        {"the Jacobian's {field} holds {0} in the row of {equation}, column of {other}", NULL},
    [GA_REASON_NEWTON] =
        {"Newton's iteration did not converge in {0} iterations; the last correction is {1.2} "
         "(relative, tolerance {2.2}), changed by a factor {3.2} per iteration, largest in {equation}",
         ". Try a smaller step; an iteration that is slow at every step has a wrong Jacobian: "
         "ga_system_check() names the entry"},
    [GA_REASON_NEWTON_ROUNDING] =
        {"Newton's iteration did not converge in {0} iterations; the last correction is "
         "{1.2} (relative, tolerance {2.2}), changed by a factor {3.2} per iteration, "
         "largest in {equation}",
         ". {detail}"},
    [GA_REASON_SINGULAR_STEP] =
        {"the iteration matrix is singular; the first column without a pivot is that of "
         "{equation}",
         ". A smaller step may pass a singular position; a constraint that repeats another "
         "must be removed"},
    [GA_REASON_SINGULAR_START] =
        {"the matrix [M Bᵀ Aᵀ; B; A] is singular; the first column without a pivot is that of "
         "{equation}. {detail}",
         NULL},
    [GA_REASON_CONSTRAINTS_CONTRADICT] =
        {"constraints that repeat others no longer fit together: {detail}{equation} is "
         "off by {0.3}. Do two prescribed motions contradict each other?",
         NULL},
    [GA_REASON_RANK_CHANGES] = {"the number of independent constraints changes within the step", NULL},
    [GA_REASON_TOLERANCE_NOT_MET] =
        {"the step would fall below h_min = {0.3}: at h = {h} the error is still {1.3} "
         "times the tolerance, most in the coordinate of {equation}",
         ". Is there a discontinuity that should be an event? Otherwise raise its "
         "tolerance or lower h_min"},
    [GA_REASON_STEP_FAILS] = {"{name} = {0.3}. {detail}", NULL},
    [GA_REASON_PARTS_FAIL] = {"a step that was made does not work in parts, down to h = {h}. {detail}", NULL},
    [GA_REASON_NO_STATE_AFTER_JUMP] =
        {"the equations jump here, and behind the jump there is no consistent state to go "
         "on from. {detail}",
         NULL},
};

enum { N_SENTENCES = sizeof SENTENCES / sizeof *SENTENCES };

const ga__sentence *ga__sentence_of(ga_reason reason)
{
  return &SENTENCES[(int)reason >= 0 && (int)reason < N_SENTENCES ? reason : GA_REASON_NONE];
}

const char *ga_reason_text(ga_reason reason)
{
  switch (reason) {
#define GA__REASON_CASE(name, meaning)                                                                       \
  case name:                                                                                                 \
    return meaning;
    GA_REASON_LIST(GA__REASON_CASE)
#undef GA__REASON_CASE
  }
  return "unknown reason";
}
