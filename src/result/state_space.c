/* Linear models of machines as files: HDF5 with one dataset for each matrix and list of names, or one table
 * of comma-separated values, [A B; C D] with names of rows and columns. */
#include "result/result_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- HDF5 ---- */

static int write_matrix(hid_t file, const char *name, int rows, int cols, const double *numbers)
{
  const hsize_t size[2] = {(hsize_t)rows, (hsize_t)cols};
  const hid_t space = H5Screate_simple(2, size, NULL);
  hid_t set = -1;
  int done = 0;
  if (space >= 0) set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0)
    done = (rows == 0 || cols == 0 ||
            H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0) &&
           H5Dclose(set) >= 0;
  if (space >= 0) H5Sclose(space);
  return done;
}

/* Texts of one length, padded with zeros. */
static int write_names(ga_context *ctx, hid_t file, const char *name, int n, const char *const *names)
{
  size_t longest = 1;
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) > longest) longest = strlen(names[i]);
  const hsize_t size = (hsize_t)n;
  char *texts = ga__alloc(ctx, (size_t)n, longest);
  const hid_t type = ga__text_type(longest), space = H5Screate_simple(1, &size, NULL);
  hid_t set = -1;
  int done = 0;
  for (int i = 0; texts && i < n; i++) memcpy(texts + (size_t)i * longest, names[i], strlen(names[i]));
  if (texts && type >= 0 && space >= 0)
    set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0)
    done = (n == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0) && H5Dclose(set) >= 0;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  ga__free(ctx, texts);
  return done;
}

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
  int done = write_matrix(file, "A", f->n, f->n, f->A) && write_matrix(file, "B", f->n, f->n_u, f->B) &&
             write_matrix(file, "C", f->n_y, f->n, f->C) && write_matrix(file, "D", f->n_y, f->n_u, f->D);
  const struct {
    const char *name;
    int n;
    const char *const *names;
  } list[] = {{"states", f->n, f->state},     {"state_units", f->n, f->state_unit},
              {"inputs", f->n_u, f->input},   {"input_units", f->n_u, f->input_unit},
              {"outputs", f->n_y, f->output}, {"output_units", f->n_y, f->output_unit}};
  for (size_t i = 0; i < sizeof list / sizeof *list && done; i++)
    done = write_names(ctx, file, list[i].name, list[i].n, list[i].names);
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

ga_status ga_state_space_write(ga_context *ctx, const ga_state_space *f, ga_linear_file format,
                               const char *path)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!f || !path) return ga__null_argument(ctx);
  const size_t room = strlen(path) + sizeof ".part";
  char *hidden = ga__alloc(ctx, room, 1);
  if (!hidden) return ga__no_memory(ctx, "the name of a file");
  snprintf(hidden, room, "%s.part", path);
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  errno = 0;
  const int done = format == GA_LINEAR_CSV ? write_csv(f, hidden) : write_hdf5(ctx, f, hidden);
  ga__hdf5_unmute(&quiet);
  ga_status status = GA_OK;
  if (!done || rename(hidden, path)) {
    status = ga__no_file(ctx, path, "written", errno ? errno : EIO);
    remove(hidden);
  }
  ga__free(ctx, hidden);
  return status;
}
