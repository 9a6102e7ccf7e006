/* Modal bodies: what a reduction makes of a mesh. (modal_body.c: checks and integrals of inertia;
 * modal_basis.c: modes; modal_stiffening.c: displacements of second order; modal.c: the element;
 * modal_frame.c: frames at interface nodes) */
#ifndef GALPHA_MBS_MODAL_H
#define GALPHA_MBS_MODAL_H

#include "mbs/element.h"
#include "mbs/mesh_loads.h"

/* An interface node: place in the mesh's frame, displacements and rotations of the modes there. */
typedef struct ga__modal_point {
  char *name;
  double place[3];   /* [m] */
  double *phi, *psi; /* [3][n] per amplitude: [-], [rad/m]; nodes without rotations: zeros */
  int turns;         /* 0: the mesh has no rotations, and psi is 0 */
  double *second;    /* [6][n][n] displacements [1/m] and rotations [rad/m²] of second order; NULL: none */
} ga__modal_point;

/* Amplitudes η [m] have the modal mass `mass` each; the frame is that of mean axes at the centre of mass:
 * modes have neither linear nor, at first order, angular momentum. With ω in its axes
 *
 *   T = ½ ωᵀ J(η) ω + ωᵀ C(η) η' + ½ mass η'ᵀη',  J = J₀ + Σ_a η_a J1_a + ½ Σ_ab η_a η_b J2_ab,
 *   C(η) η' = Σ_ab η_b η'_a C_ba */
struct ga_modal_body {
  ga_context *ctx;
  int n;            /* modes */
  double mass;      /* [kg] */
  double centre[3]; /* [m] in the mesh's frame */
  double J[9];      /* [kg m²] J₀ */
  double *lambda;   /* [n] [1/s²] squares of angular frequencies, ascending */
  double *J1;       /* [n][9] [kg m] */
  double *J2;       /* [n][n][9] [kg] symmetric in the modes, and each in itself */
  double *C;        /* [n][n][3] [kg] C_ba at b n + a */
  int stiffened;    /* 1: J2 and the points have displacements of second order */
  double *ratio;    /* [n] [-] damping ratios of its own; NULL: those of the part */
  double size;      /* [m] the longest distance of a node from the centre */
  int n_points;
  ga__modal_point *point;
  int n_recovered;
  char **recovered_name, **recovered_unit; /* [n_recovered] */
  double *recovered;                       /* [n_recovered][n] */
};

/* A mesh in work: its rigid motions about the centre of mass, and the modes. */
typedef struct ga__mesh_work {
  ga_context *ctx;
  const ga_mesh *mesh;
  int N; /* degrees of freedom */
  double mass, centre[3], J[9], size;
  double *rigid;  /* [6][N] translations along, rotations about x, y, z, about the centre of mass */
  double *Z, *MZ; /* [6][N] the same, ZᵀMZ = 1; and M Z */
  double *x, *y;  /* [N] work */
  int n;          /* modes */
  double *mode;   /* [n][N] modeᵀ M mode = 1, orthogonal to Z */
  double *lambda; /* [n] */
} ga__mesh_work;

/* x := x without its part in rigid motions. */
void ga__mesh_leave_rigid(const ga__mesh_work *w, double *x);
/* Sets n, mode and lambda. (modal_basis.c) */
ga_status ga__modal_basis(ga__mesh_work *w, const ga_reduction_opts *opts);

/* The structure with some degrees of freedom held. (modal_basis.c) */
typedef struct ga__held {
  ga__mesh_work *w;
  int n;      /* of those not held */
  int *index; /* [N] number among these, −1: held */
  ga_sparse *K;
  ga_lu *lu;
  double *b; /* [n] */
  int leave_rigid;
} ga__held;

/* Inertia relief: out := K⁺ f, what a load displaces in mean axes while the free structure accelerates. f
 * loses its resultants. Destroy h in any case. */
ga_status ga__relief_create(ga__mesh_work *w, ga__held *h);
ga_status ga__relief_solve(ga__held *h, double *f, double *out);
void ga__held_destroy(ga__held *h);

/* Mass, centre and rigid motions of a mesh; release it in any case. (modal_body.c) */
ga_status ga__mesh_open(ga__mesh_work *w, ga_context *ctx, const ga_mesh *mesh);
void ga__mesh_close(ga__mesh_work *w);
/* f[N] := load i of ga_mesh.stiffening. (modal_stiffening.c) */
void ga__mesh_load(ga__mesh_work *w, int i, double *f);
/* Adds to the body what follows from mesh->stiffening. */
ga_status ga__modal_stiffen(ga__mesh_work *w, ga_modal_body *body);

/* Frames at interface nodes: number is that of the point. (modal_frame.c) */
void ga__modal_carry(const ga__modal_point *point, const double centre[3], int n, const ga__carrier *carrier,
                     ga__carried_motion *out);

static inline double ga__dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

#endif
