/* The forms GA_FORM_BODY and GA_FORM_SE3, made from the space form that elements compute in; see form.c. */
#ifndef GALPHA_MBS_FORM_H
#define GALPHA_MBS_FORM_H

#include "mbs/mbs_impl.h"

typedef struct ga__form ga__form;

/* Creates b->form, after the pattern is complete; may add entries to it. Does nothing for GA_FORM_SPACE. */
ga_status ga__form_create(ga_machine *m, ga__mbs_model *b);
void ga__form_destroy(ga_context *ctx, ga__form **form);
/* Work space of the functions below: its size in bytes, and the space in a block of zeros. */
typedef struct ga__form_space ga__form_space;
size_t ga__form_space_size(const ga__mbs_model *b);
ga__form_space *ga__form_space_in(const ga__mbs_model *b, void *block);
/* Twists and (vdot not NULL) accelerations of the rigid nodes; kin has x and R already. */
void ga__form_kin(const ga__mbs_model *b, const double *v, const double *vdot, ga__kin *kin);
/* v[nv] of the form at the start, from twists: v holds these on entry. */
void ga__form_initial(const ga__mbs_model *b, double *v);
/* M vdot of the form: out[nv] holds M_s acc on entry. */
void ga__form_mass(const ga__eval *e, double *out);
/* f of the form: f[nv] holds the space forces on entry. */
void ga__form_force(const ga__eval *e, double *f);
/* Φ'' and k' at vdot = 0 of the form. On entry out holds those of the space form, at zero accelerations in
 * space. */
int ga__form_phi_acc(const ga__eval *e, double *out);
int ga__form_k_acc(const ga__eval *e, double *out);
/* M vdot − f of the form: r[nv] := Xᵀ r, that of the space form. */
void ga__form_turn_rows(const ga__eval *e, double *r);
/* What ga_sweep_fn writes, but for states and outputs; s or J may be NULL. e->kin belongs to the point. */
int ga__form_sweep(const ga__eval *e, const ga_sweep *s, ga_jacobian *J);

#endif
