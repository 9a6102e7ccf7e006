/* Courses by collocation that derivatives are tested on: problems with steps at which they are resolved. */
#ifndef GALPHA_TESTS_COLLOCATION_COURSES_H
#define GALPHA_TESTS_COLLOCATION_COURSES_H

#include "sensitivity_rig.h"

typedef struct problem {
  const char *name;
  double h;
} problem;

static const problem PROBLEMS[] = {
    {"spring_mass", 0.05},       {"slider_crank", 1e-2},      {"heavy_top", 2e-3},
    {"heavy_top_left", 1e-3},    {"heavy_top_s3", 1e-3},      {"heavy_top_se3", 2e-3},
    {"tumbling_top", 1e-2},      {"rolling_disk", 2e-2},      {"mechatronic", 1e-2},
    {"rank_deficient_d1", 1e-3}, {"rank_deficient_d3", 5e-3},
};
enum { N_PROBLEMS = sizeof PROBLEMS / sizeof *PROBLEMS };
static const int ORDERS[] = {3, 4, 5, 6, 7, 8, 10};
enum { N_ORDERS = sizeof ORDERS / sizeof *ORDERS };

static course course_of(const problem *p, int order)
{
  return (course){.problem = p->name,
                  .method = GA_COLLOCATION,
                  .h = p->h,
                  .n = 14,
                  .commutator = 1,
                  .width = 1e-2,
                  .order = order};
}

#endif
