/* The tables of cases, and short forms for their rows. */
#ifndef VERIFY_CASES_H
#define VERIFY_CASES_H

#include "verify.h"

typedef struct vf_table {
  const vf_case *cases;
  int n;
} vf_table;

extern const vf_table vf_heavy_top_table, vf_mechanism_table, vf_rank_deficient_table, vf_weighted_table,
    vf_variable_table, vf_collocation_table;

#define VF_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A row of expectations: what is measured, then designated fields of vf_expect. */
#define VF_ROW(label_, quantity_, ...)                                                                       \
  {                                                                                                          \
    .label = label_, .quantity = quantity_, __VA_ARGS__                                                      \
  }
/* All components of q, v, vdot, λ in one go, of the same order. */
#define VF_ORDER(label_, quantity_, order_) VF_ROW(label_, quantity_, .order = order_)
#define VF_MECHANICAL_ORDER_2                                                                                \
  VF_ORDER("q", VF_Q, 2), VF_ORDER("v", VF_V, 2), VF_ORDER("vdot", VF_VDOT, 2),                              \
      VF_ORDER("lambda", VF_LAMBDA, 2)

/* An error at the end, with its order and what is known of it. */
#define VF_AT_END(label_, quantity_, order_, ...)                                                            \
  VF_ROW(label_, quantity_, .measure = VF_END, .order = order_, .value = {__VA_ARGS__})

#endif
