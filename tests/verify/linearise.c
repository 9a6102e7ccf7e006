#include "linearise.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mode {
  double re, im;
} mode;

static int by_real_part(const void *a, const void *b)
{
  const mode *x = a, *y = b;
  if (x->re != y->re) return (x->re < y->re) - (x->re > y->re);
  return (x->im < y->im) - (x->im > y->im);
}

/* Eigenvalues of A[n][n], which is overwritten, into modes; 0 or a failure. */
static int find_eigenvalues(int n, double *A, vf_modes *modes)
{
  mode *all = calloc((size_t)(n + 1), sizeof *all);
  modes->re = calloc((size_t)(2 * n + 1), sizeof(double));
  modes->im = modes->re ? modes->re + n : NULL;
  int bad = !all || !modes->re;
  if (!bad && n > 0)
    bad = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, A, n, modes->re, modes->im, NULL, 1, NULL, 1) != 0;
  for (int i = 0; !bad && i < n; i++) all[i] = (mode){modes->re[i], modes->im[i]};
  if (!bad) qsort(all, (size_t)n, sizeof *all, by_real_part);
  for (int i = 0; !bad && i < n; i++) modes->re[i] = all[i].re, modes->im[i] = all[i].im;
  free(all);
  return bad;
}

int vf_modes_find(ga_context *ctx, const ga_system *sys, const ga_state *s, vf_modes *modes, char *text,
                  size_t size)
{
  const ga_point p = {s->t, s->q, s->v, s->vdot, s->lambda, s->psi, s->x, s->y, 0, NULL};
  ga_linearisation *lin = NULL;
  const ga_linear_form *form = NULL;
  *modes = (vf_modes){0};
  ga_status status = ga_linearisation_create(ctx, sys, &lin);
  if (!status) status = ga_linearisation_compute(lin, &p, &form);
  int bad = status != GA_OK;
  if (bad) snprintf(text, size, "%s", ga_context_error(ctx)->text);
  if (!bad) {
    const size_t numbers = (size_t)form->n * (size_t)form->n;
    double *A = calloc(numbers + 1, sizeof *A);
    if (A) memcpy(A, form->A, numbers * sizeof *A);
    bad = !A || find_eigenvalues(form->n, A, modes);
    if (bad) snprintf(text, size, "the eigenvalues do not converge");
    modes->n = form->n;
    free(A);
  }
  ga_linearisation_destroy(&lin);
  if (bad) vf_modes_free(modes);
  return bad;
}

void vf_modes_free(vf_modes *modes)
{
  free(modes->re);
  *modes = (vf_modes){0};
}

double vf_modes_off(const vf_modes *modes, double re, double im)
{
  double least = INFINITY;
  for (int i = 0; i < modes->n; i++) least = fmin(least, hypot(modes->re[i] - re, modes->im[i] - im));
  return least;
}
