/* The table of all machines. A new one is one line here. */
#include "machine.h"
#include <string.h>

#define MX_MACHINES(X)                                                                                       \
  X(simple_pendulum)                                                                                         \
  X(n_four_bar_1)                                                                                            \
  X(n_four_bar_2)                                                                                            \
  X(n_four_bar_3)                                                                                            \
  X(n_four_bar_5)                                                                                            \
  X(n_four_bar_10)                                                                                           \
  X(n_four_bar_40)                                                                                           \
  X(bricard)                                                                                                 \
  X(light_cart_pole)                                                                                         \
  X(slider_crank_3d)                                                                                         \
  X(rhombus)                                                                                                 \
  X(car_axis_parts)                                                                                          \
  X(revolute_01)                                                                                             \
  X(revolute_02)                                                                                             \
  X(spherical_01)                                                                                            \
  X(spherical_02)                                                                                            \
  X(prismatic_01)                                                                                            \
  X(prismatic_02)                                                                                            \
  X(prismatic_03)                                                                                            \
  X(torsion_spring_01)                                                                                       \
  X(line_spring_02)                                                                                          \
  X(double_pendulum)                                                                                         \
  X(gyroscopic)                                                                                              \
  X(bicycle)                                                                                                 \
  X(bicycle_slow)                                                                                            \
  X(bicycle_fast)                                                                                            \
  X(quarter_car_step)                                                                                        \
  X(quarter_car_skyhook)                                                                                     \
  X(quarter_car_hydraulic)                                                                                   \
  X(quarter_car_blocks)                                                                                      \
  X(four_bar)                                                                                                \
  X(four_bar_3d)                                                                                             \
  X(door_one_hinge)                                                                                          \
  X(door_three_hinges)                                                                                       \
  X(bennett)                                                                                                 \
  X(heavy_top_parts)                                                                                         \
  X(tumbling_top_parts)                                                                                      \
  X(pendulum_parts)                                                                                          \
  X(pendulum_space)                                                                                          \
  X(slider_crank_parts)                                                                                      \
  X(slider_crank_space)                                                                                      \
  X(slider_crank_hht_parts)                                                                                  \
  X(slider_crank_hht_space)                                                                                  \
  X(andrews_parts)                                                                                           \
  X(andrews_bars)                                                                                            \
  X(rolling_disk_parts)                                                                                      \
  X(rolling_disk_rotor)                                                                                      \
  X(spring_mass_parts)

#define DECLARE(name) extern const mx_machine mx_##name;
#define ADDRESS(name) &mx_##name,
MX_MACHINES(DECLARE)

static const mx_machine *const machines[] = {MX_MACHINES(ADDRESS) NULL};

const mx_machine *mx_machine_at(int i)
{
  const int n = (int)(sizeof machines / sizeof *machines);
  return i >= 0 && i < n ? machines[i] : NULL;
}

const mx_machine *mx_machine_find(const char *name)
{
  for (int i = 0; machines[i]; i++)
    if (strcmp(machines[i]->name, name) == 0) return machines[i];
  return NULL;
}
