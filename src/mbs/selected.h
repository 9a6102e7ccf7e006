/* Terms of a machine that are selected by their numbers (differ.c), and their values (selected.c). */
#ifndef GALPHA_MBS_SELECTED_H
#define GALPHA_MBS_SELECTED_H

#include "mbs/differ.h"
#include "mbs/element.h"

/* Numbers of what is evaluated, ascending. Nodes: of inertia and weight; points, axes, rows: of constraints;
 * outputs: rows of y. */
struct ga__selected {
  int n_nodes, n_points, n_axes, n_rows, n_elements, n_outputs;
  int *node, *point, *axes, *row, *element, *output;
};

/* Selected terms of one machine, and as a system that borrows them, for ga__system_close(). */
typedef struct ga__selection {
  const ga__mbs_model *b;
  const ga__selected *terms;
} ga__selection;
ga_status ga__selection_system(ga_context *ctx, const ga__selection *s, const ga_system **out);

/* -- For ga__element_type.same -- */

/* Two models, and which of their markers and gauges differ; all their numbers are the same. */
struct ga__comparison {
  const ga__mbs_model *a, *b;
  unsigned char *marker, *gauge;
};

/* Definitions of the part, but for inputs and expressions, which elements have resolved. */
int ga__same_def(const ga__comparison *c, int part);
int ga__same_input(const ga__input *a, const ga__input *b);
int ga__same_formula(const ga__formula *a, const ga__formula *b);

/* -- Parts of elements of the whole machine; results are added to zeros -- */
void ga__node_mass(const ga__eval *e, int i, double *out); /* M vdot of a node (body.c) */
void ga__node_force(const ga__eval *e, int i, double *f);  /* weight and gyroscopic torque */

#endif
