/* The table of all problems. A new one is one line here. */
#include "problem.h"
#include <string.h>

#define EX_PROBLEMS(X)                                                                                       \
  X(heavy_top)                                                                                               \
  X(heavy_top_left)                                                                                          \
  X(heavy_top_s3)                                                                                            \
  X(heavy_top_s3_right)                                                                                      \
  X(heavy_top_se3)                                                                                           \
  X(tumbling_top)                                                                                            \
  X(tumbling_top_left)                                                                                       \
  X(rank_deficient_d1)                                                                                       \
  X(rank_deficient_d2)                                                                                       \
  X(rank_deficient_d3)                                                                                       \
  X(andrews)                                                                                                 \
  X(andrews31)                                                                                               \
  X(slider_crank)                                                                                            \
  X(slider_crank_moving)                                                                                     \
  X(rolling_disk)                                                                                            \
  X(rolling_disk_printed)                                                                                    \
  X(spring_mass)                                                                                             \
  X(pendulum)                                                                                                \
  X(test71)                                                                                                  \
  X(test15)                                                                                                  \
  X(mechatronic)                                                                                             \
  X(slider_crank_hht)                                                                                        \
  X(car_axis)                                                                                                \
  X(cart_pole)                                                                                               \
  X(stiff_pair_1e6)                                                                                          \
  X(stiff_pair_1e9)                                                                                          \
  X(bouncing_pendulum)

#define DECLARE(name) extern const ex_problem ex_##name;
#define ADDRESS(name) &ex_##name,
EX_PROBLEMS(DECLARE)

static const ex_problem *const problems[] = {EX_PROBLEMS(ADDRESS) NULL};

const ex_problem *ex_problem_at(int i)
{
  const int n = (int)(sizeof problems / sizeof *problems);
  return i >= 0 && i < n ? problems[i] : NULL;
}

const ex_problem *ex_problem_find(const char *name)
{
  for (int i = 0; problems[i]; i++)
    if (strcmp(problems[i]->name, name) == 0) return problems[i];
  return NULL;
}
