/* Functions of one variable: kinds and their data (function.c, motion.c). */
#ifndef GALPHA_EXPR_FUNCTION_H
#define GALPHA_EXPR_FUNCTION_H

#include "expr/table.h"

/* One kind of functions. */
typedef struct ga__function_kind {
  const char *name; /* in messages */
  ga_status (*eval)(const ga_function *f, double t, int order, double out[3], ga_fault *fault);
  ga__range (*range)(const ga_function *f, double from, double to); /* range of its values */
  int (*kinked)(const ga_function *f, double from, double to);      /* 1: a break may lie in (from, to] */
  double (*period)(const ga_function *f, double from, double to);   /* [s] shortest; infinity: none */
  double (*area)(const ga_function *f, double t); /* antiderivative; NaN: none; NULL: no closed form */
  ga__range (*slope)(const ga_function *f, double from,
                     double to);                           /* range of its derivative; NULL: not known */
  int made;                                                /* 1: it owns data.made */
  int (*same)(const ga_function *f, const ga_function *g); /* of two of this kind (same.h); NULL: not known */
} ga__function_kind;

/* Along a line (along.h) its value is that of base plus the derivative towards opts. */
typedef struct ga__wave {
  ga_wave_opts opts, base;
  int along;
} ga__wave;

struct ga_function {
  ga_context *ctx;
  const ga__function_kind *kind;
  union {
    double constant;
    ga_expr *expr;
    ga__table table;
    ga_motion_opts motion;
    ga__wave wave;
    void *made;
  } data;
  int depth;
};

extern const ga__function_kind ga__kind_motion, ga__kind_wave;

/* The wave `moved`, for derivatives by a parameter that moves it there from base. */
ga_status ga__function_create_wave_along(ga_context *ctx, const ga_wave_opts *base, const ga_wave_opts *moved,
                                         ga_function **out);
/* A function of another kind, with a copy of the `size` bytes of `made` as its data. */
ga_status ga__function_make(ga_context *ctx, const ga__function_kind *kind, const void *made, size_t size,
                            ga_function **out);
const ga__table *ga__function_table(const ga_function *f); /* the table, if it is one; else NULL */
const ga_expr *ga__function_expr(const ga_function *f);    /* its expression in variable 0; NULL: none */
ga_status ga__motion_check(ga_context *ctx, const ga_motion_opts *opts);
ga_status ga__wave_check(ga_context *ctx, const ga_wave_opts *opts);
/* GA_ERR_ARGUMENT naming the option if one of the n values is not finite. */
ga_status ga__check_finite(ga_context *ctx, const char *what, int n, const char *const *name,
                           const double *value);

#endif
