/* The papers' machines, built from parts, beside the examples that have their equations written out:
 * in the same coordinates they agree step by step (papers_same.c), in others they converge to the same motion
 * with order 2 (papers_order.c). */
#ifndef VERIFY_PAPERS_H
#define VERIFY_PAPERS_H

#include "machines/machine.h"
#include "verify.h"

void vf_papers_run(const vf_sink *sink);
void vf_papers_same(const vf_sink *sink);
void vf_papers_order(const vf_sink *sink);

/* ---- Shared by both ---- */

/* What a subject asks of methods: nothing, nonholonomic constraints, or feedback of vdot. */
typedef enum vf_needs { VF_ALL_METHODS, VF_NONHOLONOMIC_METHODS, VF_EXACT_METHODS } vf_needs;
int vf_method_suits(ga_method method, vf_needs needs); /* 0 where there is no such method, too */

const char *vf_method_name(ga_method method);
double vf_method_order(ga_method method); /* with equal steps, by default */
const char *vf_form_name(ga_form form);
/* How the examples are run with a method: ρ∞ = 0.8, or HHT with α = −0.3 where the method is one of that
 * family; the start of order 2 in everything. */
vf_case vf_method_case(ga_method method);

/* A machine with a stepper as a case wants it. */
typedef struct vf_parts {
  mx_builder b;
  ga_stepper *st;
} vf_parts;

ga_status vf_parts_open(vf_parts *p, const mx_machine *machine, ga_form form, const vf_case *c);
/* h: the first step; anywhere 1: initial values may be far from the constraints. */
ga_status vf_parts_start(vf_parts *p, double h, int anywhere);
void vf_parts_close(vf_parts *p);
/* What went wrong, in words. Always 1. */
int vf_parts_fail(const vf_parts *p, const char *what, ga_status status, char *text, size_t size);
/* Signals at the present state, each with "-" before it where its negative is meant; "psi0", "psi1" are the
 * multipliers of nonholonomic constraints. 0; otherwise text says which one there is not. */
int vf_parts_signals(const vf_parts *p, int n, const char *const *names, double *out, char *text,
                     size_t size);

/* The table of figures of papers/: every slope and fact, those that `galpha papers` draws. */
void vf_papers_figures(const vf_sink *sink);

#endif
