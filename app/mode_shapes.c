/* Modes of a file of galpha modes as data of a page: how each mover is displaced and turned by a shape. */
#include "mode_shapes.h"

#include "page.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPE = 12 /* numbers of a mover: displacement and rotation, real and imaginary */ };

int app_mode_shapes_is(ga_context *ctx, const char *file)
{
  char *format = NULL;
  const int is =
      ga_tables_text(ctx, file, "format", &format) == GA_OK && strncmp(format, "galpha modes", 12) == 0;
  ga_tables_free(ctx, format);
  return is;
}

ga_status app_mode_shapes_read(ga_context *ctx, const char *file, app_mode_shapes *out)
{
  int rows[7], cols[7];
  const struct {
    const char *name;
    double **to;
  } set[7] = {{"modes/frequency", &out->frequency},
              {"modes/damping", &out->damping},
              {"modes/eigenvalue", &out->eigenvalue},
              {"modes/zero", &out->zero},
              {"modes/q_real", &out->real},
              {"modes/q_imaginary", &out->imaginary},
              {"state/q", &out->q}};
  for (int i = 0; i < 7; i++) {
    const ga_status status = ga_tables_numbers(ctx, file, set[i].name, &rows[i], &cols[i], set[i].to);
    if (status) return status;
  }
  for (int i = 1; i < 6; i++)
    if (rows[i] != rows[0]) return GA_ERR_FILE;
  out->n = rows[0], out->nv = cols[4], out->nq = rows[6];
  return cols[2] == 2 && cols[5] == out->nv ? GA_OK : GA_ERR_FILE;
}

void app_mode_shapes_free(ga_context *ctx, app_mode_shapes *m)
{
  double *const list[] = {m->q, m->eigenvalue, m->frequency, m->damping, m->zero, m->real, m->imaginary};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) ga_tables_free(ctx, list[i]);
  *m = (app_mode_shapes){0};
}

/* Poses of a mover at q ∘ exp(±h d): their difference by 2h, as displacement and rotation. */
static void differ(const ga_machine *m, const double *plus, const double *minus, int mover, double h,
                   float out[6])
{
  const ga_state a = {.q = plus}, b = {.q = minus};
  ga_pose p = ga_pose_identity(), n = p;
  double D[9];
  if (ga_machine_mover_pose(m, &a, mover, &p) || ga_machine_mover_pose(m, &b, mover, &n)) n = p;
  for (int i = 0; i < 3; i++) {
    out[i] = (float)((p.position[i] - n.position[i]) / (2 * h));
    for (int j = 0; j < 3; j++) {
      D[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) D[3 * i + j] += p.rotation[3 * i + k] * n.rotation[3 * j + k];
    }
  }
  out[3] = (float)((D[7] - D[5]) / (4 * h));
  out[4] = (float)((D[2] - D[6]) / (4 * h));
  out[5] = (float)((D[3] - D[1]) / (4 * h));
}

/* All movers, every SHAPE numbers of out. work: [2 nq + nv]. */
static void shape_of(const app_mode_shapes *m, const ga_machine *machine, const double *direction,
                     double *work, float *out)
{
  const double h = 1e-5;
  const ga_group *g = ga_system_group(ga_machine_system(machine));
  double *plus = work, *minus = work + m->nq, *d = work + 2 * m->nq;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < m->nv; i++) d[i] = (k ? -h : h) * direction[i];
    ga_group_move(g, k ? minus : plus, m->q, d);
  }
  for (int i = 0; i < ga_machine_n_movers(machine); i++)
    differ(machine, plus, minus, i, h, out + (size_t)i * SHAPE);
}

ga_status app_mode_shapes_write(const app_mode_shapes *m, const ga_machine *machine, FILE *to)
{
  const size_t movers = (size_t)ga_machine_n_movers(machine);
  double *work = malloc((2 * (size_t)m->nq + (size_t)m->nv + 1) * sizeof *work);
  float *shape = malloc((movers * SHAPE + 1) * sizeof *shape);
  putc('[', to);
  for (int i = 0; work && shape && i < m->n; i++) {
    shape_of(m, machine, m->real + (size_t)i * (size_t)m->nv, work, shape);
    shape_of(m, machine, m->imaginary + (size_t)i * (size_t)m->nv, work, shape + 6);
    fputs(i ? ",\n{\"frequency\":" : "{\"frequency\":", to);
    app_page_number(to, m->frequency[i]);
    fputs(",\"damping\":", to);
    app_page_number(to, m->damping[i]);
    fprintf(to, ",\"zero\":%d,\"eigenvalue\":", m->zero[i] != 0);
    app_page_numbers(to, 2, m->eigenvalue + 2 * i);
    fputs(",\"shape\":", to);
    app_page_bytes(to, shape, movers * SHAPE * sizeof *shape);
    putc('}', to);
  }
  putc(']', to);
  const ga_status status = work && shape ? GA_OK : GA_ERR_MEMORY;
  free(work);
  free(shape);
  return status;
}
