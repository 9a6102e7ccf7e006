/* Linear models of machines as files: HDF5 with one dataset for each matrix and list of names, or one table
 * of comma-separated values, [A B; C D] with names of rows and columns. */
#include "result/result_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- HDF5 ---- */

static int write_number(hid_t file, const char *name, double number)
{
  const hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = -1;
  int done = 0;
  if (space >= 0) attribute = H5Acreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute >= 0) done = H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number) >= 0 && H5Aclose(attribute) >= 0;
  if (space >= 0) H5Sclose(space);
  return done;
}

static int write_hdf5(ga_context *ctx, const ga_state_space *f, const char *path)
{
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return 0;
  int done =
      ga__write_matrix(file, "A", f->n, f->n, f->A) && ga__write_matrix(file, "B", f->n, f->n_u, f->B) &&
      ga__write_matrix(file, "C", f->n_y, f->n, f->C) && ga__write_matrix(file, "D", f->n_y, f->n_u, f->D);
  const struct {
    const char *name;
    int n;
    const char *const *names;
  } list[] = {{"states", f->n, f->state},     {"state_units", f->n, f->state_unit},
              {"inputs", f->n_u, f->input},   {"input_units", f->n_u, f->input_unit},
              {"outputs", f->n_y, f->output}, {"output_units", f->n_y, f->output_unit}};
  for (size_t i = 0; i < sizeof list / sizeof *list && done; i++)
    done = ga__write_names(ctx, file, list[i].name, list[i].n, list[i].names);
  done = done && ga__text_attribute(file, "format", "galpha linear model 1", 0) == 0 &&
         ga__text_attribute(file, "galpha", ga_version(), 0) == 0 && write_number(file, "t", f->t) &&
         write_number(file, "residual", f->residual) && write_number(file, "unsteady", f->unsteady) &&
         write_number(file, "independence", f->independence);
  return H5Fclose(file) >= 0 && done;
}

/* ---- Comma-separated values ---- */

/* Writes ", " and a row of numbers; 17 digits are read back as the same numbers. */
static void put_numbers(FILE *out, const double *numbers, int n)
{
  for (int i = 0; i < n; i++) {
    fputc(',', out);
    ga__put_number(out, numbers[i]);
  }
}

static int write_csv(const ga_state_space *f, const char *path)
{
  FILE *out = fopen(path, "wb");
  if (!out) return 0;
  errno = 0;
  for (int j = 0; j < f->n + f->n_u; j++) {
    const int u = j - f->n;
    fputc(',', out);
    ga__put_title(out, u < 0 ? f->state[j] : f->input[u], u < 0 ? f->state_unit[j] : f->input_unit[u]);
  }
  fputc('\n', out);
  for (int i = 0; i < f->n + f->n_y; i++) {
    const int y = i - f->n;
    char name[512];
    snprintf(name, sizeof name, "d/dt %s", y < 0 ? f->state[i] : "");
    ga__put_title(out, y < 0 ? name : f->output[y], y < 0 ? "" : f->output_unit[y]);
    put_numbers(out, y < 0 ? f->A + (size_t)i * (size_t)f->n : f->C + (size_t)y * (size_t)f->n, f->n);
    put_numbers(out, y < 0 ? f->B + (size_t)i * (size_t)f->n_u : f->D + (size_t)y * (size_t)f->n_u, f->n_u);
    fputc('\n', out);
  }
  const int good = !ferror(out);
  return fclose(out) == 0 && good;
}

/* ---- Files ---- */

static int write_hdf5_of(ga_context *ctx, const void *what, const char *path)
{
  return write_hdf5(ctx, what, path);
}

static int write_csv_of(ga_context *ctx, const void *what, const char *path)
{
  (void)ctx;
  return write_csv(what, path);
}

ga_status ga_state_space_write(ga_context *ctx, const ga_state_space *f, ga_linear_file format,
                               const char *path)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!f || !path) return ga__null_argument(ctx);
  return ga__write_complete(ctx, path, format == GA_LINEAR_CSV ? write_csv_of : write_hdf5_of, f);
}
