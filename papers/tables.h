/* The tables of figures, one file for each paper, and short forms for their rows. */
#ifndef GALPHA_PAPERS_TABLES_H
#define GALPHA_PAPERS_TABLES_H

#include "papers_table.h"

extern const pp_paper pp_ab07, pp_jn_nh, pp_acb15, pp_ba08, pp_jn08, pp_beyond;

#define PP_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define PP_ALL(...)                                                                                          \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
  }
/* a₀ = v̇₀, w₀ = ẋ₀ and v₀ as given: the start of the papers. */
#define PP_PLAIN_START " shift_a=false perturb_v=false"
/* Without the perturbation of v₀ where the method has none. */
#define PP_PLAIN_A " shift_a=false"

#endif
