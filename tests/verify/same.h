/* Runs that must end alike: with steps taken back or a stepper saved and loaded the same bits, with another
 * way to solve or to write the same equations the same numbers. All of these with a step that changes at
 * random. */
#ifndef VERIFY_SAME_H
#define VERIFY_SAME_H

#include "verify.h"

typedef struct vf_same {
  const char *problem;
  char title[96]; /* the method, and what is different */
  int in_short;
  vf_case first, second; /* the two runs */
  double h;              /* the largest step */
  int steps;
  int reject, reload; /* the second run takes steps back; both save, the second goes on in a new stepper */
  double tolerance;   /* on the relative difference; 0: the same bits */
} vf_same;

/* Pair i of all, 0 behind the last one. */
int vf_same_at(int i, vf_same *out);
/* The largest difference of the final q, v, vdot, a, λ, ψ, x, y, relative to the largest number of each block
 * (1 where that is smaller); NAN where a run fails, with the reason in text. */
double vf_same_run(const vf_same *s, const ex_problem *problem, char *text, size_t size);

#endif
