/* HDF5 files of matrices, written as a whole. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "result/result_impl.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 1 << 20 }; /* bytes by which the file in memory grows */

/* ---- In memory ---- */

/* Without the time of day: the same numbers make the same bytes. */
static hid_t create_set(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size)
{
  hid_t space = rank > 0 ? H5Screate_simple(rank, size, NULL) : H5Screate(H5S_SCALAR),
        links = H5Pcreate(H5P_LINK_CREATE), set = H5Pcreate(H5P_DATASET_CREATE), made = -1;
  if (space >= 0 && links >= 0 && set >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0 &&
      H5Pset_obj_track_times(set, 0) >= 0)
    made = H5Dcreate2(file, name, type, space, links, set, H5P_DEFAULT);
  if (set >= 0) H5Pclose(set);
  if (links >= 0) H5Pclose(links);
  if (space >= 0) H5Sclose(space);
  return made;
}

static int write_matrix(hid_t file, const ga_table *t)
{
  const hsize_t size[2] = {(hsize_t)t->rows, (hsize_t)t->cols};
  hid_t made = create_set(file, t->name, H5T_NATIVE_DOUBLE, t->cols > 0 ? 2 : 1, size);
  int done = made >= 0 && (t->rows == 0 ||
                           H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, t->numbers) >= 0);
  if (done && t->unit) done = ga__text_attribute(made, "unit", t->unit, 0) == 0;
  if (made >= 0 && H5Dclose(made) < 0) done = 0;
  return done ? 0 : -1;
}

/* Texts of one length, padded. */
static int write_texts(ga_context *ctx, hid_t file, const ga_table *t, ga_status *status)
{
  const hsize_t n = (hsize_t)t->rows;
  size_t size = 1;
  for (int i = 0; i < t->rows; i++)
    if (strlen(t->texts[i]) > size) size = strlen(t->texts[i]);
  char *buffer = ga__alloc(ctx, (size_t)n, size);
  if (!buffer) return *status = ga__no_memory(ctx, "texts of a file"), -1;
  for (int i = 0; i < t->rows; i++) memcpy(buffer + (size_t)i * size, t->texts[i], strlen(t->texts[i]));
  hid_t type = ga__text_type(size, H5T_CSET_ASCII),
        made = type >= 0 ? create_set(file, t->name, type, 1, &n) : -1;
  int done = made >= 0 && (n == 0 || H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0);
  if (made >= 0 && H5Dclose(made) < 0) done = 0;
  if (type >= 0) H5Tclose(type);
  ga__free(ctx, buffer);
  return done ? 0 : -1;
}

static int write_model(hid_t file, const char *model)
{
  hid_t type = ga__text_type(strlen(model), H5T_CSET_ASCII),
        made = type >= 0 ? create_set(file, "model", type, 0, NULL) : -1;
  int done = made >= 0 && H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, model) >= 0;
  if (made >= 0 && H5Dclose(made) < 0) done = 0;
  if (type >= 0) H5Tclose(type);
  return done ? 0 : -1;
}

static int write_all(ga_context *ctx, hid_t file, const ga_tables *t, ga_status *status)
{
  int error =
      ga__text_attribute(file, "format", t->format, 0) || ga__text_attribute(file, "galpha", ga_version(), 0);
  for (int i = 0; !error && i < t->n_attributes; i++)
    error = ga__text_attribute(file, t->attributes[2 * i], t->attributes[2 * i + 1], 0);
  for (int i = 0; !error && i < t->n; i++)
    error =
        t->table[i].texts ? write_texts(ctx, file, &t->table[i], status) : write_matrix(file, &t->table[i]);
  if (!error && t->model && *t->model) error = write_model(file, t->model);
  return error || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : 0;
}

/* The bytes of the file, to be freed. */
static ga_status make_bytes(ga_context *ctx, const char *path, const ga_tables *t, char **bytes,
                            size_t *length)
{
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
  ga_status status = GA_OK;
  ssize_t size = -1;
  if (access >= 0 && H5Pset_fapl_core(access, STEP, 0) >= 0)
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (file >= 0 && write_all(ctx, file, t, &status) == 0) size = H5Fget_file_image(file, NULL, 0);
  *bytes = size > 0 ? ga__alloc(ctx, (size_t)size, 1) : NULL;
  *length = size > 0 ? (size_t)size : 0;
  if (size > 0 && !*bytes) status = ga__no_memory(ctx, "a file of matrices");
  if (*bytes && H5Fget_file_image(file, *bytes, *length) != size) size = -1;
  if (file >= 0) H5Fclose(file);
  if (access >= 0) H5Pclose(access);
  if (!status && size < 0) status = ga__no_file(ctx, path, "written", 0);
  return status;
}

/* ---- On disk ---- */

/* Writes a temporary file first and renames it; a symbolic link is kept. Returns errno. */
static int put_file(const char *path, const char *bytes, size_t length)
{
  char real[PATH_MAX], hidden[PATH_MAX + 32];
  struct stat now;
  const char *target = realpath(path, real) ? real : path;
  if (lstat(target, &now) == 0 && !S_ISREG(now.st_mode)) return EINVAL;
  if (snprintf(hidden, sizeof hidden, "%s.%ld.part", target, (long)getpid()) >= (int)sizeof hidden)
    return ENAMETOOLONG;
  FILE *file = fopen(hidden, "wx");
  int error = 0;
  if (!file) return errno;
  errno = 0;
  if (fwrite(bytes, 1, length, file) != length) error = errno ? errno : EIO;
  if (fclose(file) && !error) error = errno;
  if (!error && rename(hidden, target)) error = errno;
  if (error) remove(hidden);
  return error;
}

static ga_status check_tables(ga_context *ctx, const ga_tables *t)
{
  if (!t->format || (t->n > 0 && !t->table) || (t->n_attributes > 0 && !t->attributes))
    return ga__refuse_null(ctx, "ga_tables_write",
                           !t->format              ? "format"
                           : t->n > 0 && !t->table ? "table"
                                                   : "attributes");
  for (int i = 0; i < t->n; i++) {
    const ga_table *at = &t->table[i];
    if (!at->name || (!at->numbers && !at->texts && at->rows > 0))
      return ga__refuse_null(ctx, "ga_tables_write", at->name ? "numbers" : "name");
  }
  return GA_OK;
}

ga_status ga_tables_write(ga_context *ctx, const char *path, const ga_tables *tables)
{
  char *bytes = NULL;
  size_t length = 0;
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!path || !tables) return ga__refuse_null(ctx, __func__, path ? "tables" : "path");
  ga_status status = check_tables(ctx, tables);
  if (status) return status;
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  status = make_bytes(ctx, path, tables, &bytes, &length);
  ga__hdf5_unmute(&quiet);
  const int error = status ? 0 : put_file(path, bytes, length);
  if (error) status = ga__no_file(ctx, path, "written", error);
  ga__free(ctx, bytes);
  return status;
}

/* ---- Reading ---- */

static ga_status read_set(ga_context *ctx, hid_t set, int *rows, int *cols, double **out)
{
  hsize_t size[2] = {0, 1};
  hid_t space = H5Dget_space(set);
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  ga_status status = GA_ERR_FILE;
  if ((rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, size, NULL) >= 0 && size[0] <= INT_MAX &&
      size[1] <= INT_MAX) {
    *rows = (int)size[0], *cols = (int)size[1];
    *out = ga__alloc(ctx, (size_t)size[0] * (size_t)size[1] + 1, sizeof **out);
    status = *out ? GA_OK : ga__no_memory(ctx, "numbers of a file");
    if (!status && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0)
      status = GA_ERR_FILE;
  }
  if (space >= 0) H5Sclose(space);
  return status;
}

/* Only regular files are opened: a pipe would block. */
static hid_t open_file(const char *path)
{
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
}

ga_status ga_tables_numbers(ga_context *ctx, const char *path, const char *name, int *rows, int *cols,
                            double **out)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!path || !name || !rows || !cols || !out)
    return ga__refuse_null(ctx, __func__,
                           !path   ? "path"
                           : !name ? "name"
                           : !rows ? "rows"
                           : !cols ? "cols"
                                   : "out");
  *out = NULL;
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  hid_t file = open_file(path), set = file >= 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
  ga_status status = set >= 0 ? read_set(ctx, set, rows, cols, out) : GA_ERR_FILE;
  if (set >= 0) H5Dclose(set);
  if (file >= 0) H5Fclose(file);
  ga__hdf5_unmute(&quiet);
  if (status) ga__free(ctx, *out), *out = NULL;
  return status == GA_ERR_FILE ? ga__no_file(ctx, path, "read", 0) : status;
}

/* A text of a dataset or an attribute, of the length that its type has. */
static ga_status read_text(ga_context *ctx, hid_t from, int is_set, char **out)
{
  hid_t type = is_set ? H5Dget_type(from) : H5Aget_type(from);
  const size_t size =
      type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 ? H5Tget_size(type) : 0;
  hid_t own = size > 0 ? ga__text_type(size, H5Tget_cset(type)) : -1;
  ga_status status = GA_ERR_FILE;
  if (own >= 0) {
    *out = ga__alloc(ctx, size + 1, 1);
    status = *out ? GA_OK : ga__no_memory(ctx, "a text of a file");
    if (!status &&
        (is_set ? H5Dread(from, own, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) : H5Aread(from, own, *out)) < 0)
      status = GA_ERR_FILE;
    H5Tclose(own);
  }
  if (type >= 0) H5Tclose(type);
  return status;
}

ga_status ga_tables_text(ga_context *ctx, const char *path, const char *name, char **out)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!path || !name || !out) return ga__refuse_null(ctx, __func__, !path ? "path" : !name ? "name" : "out");
  *out = NULL;
  const int is_set = strcmp(name, "model") == 0;
  const ga__hdf5_messages quiet = ga__hdf5_mute();
  hid_t file = open_file(path), from = -1;
  if (file >= 0) from = is_set ? H5Dopen2(file, name, H5P_DEFAULT) : H5Aopen(file, name, H5P_DEFAULT);
  const ga_status status = from >= 0 ? read_text(ctx, from, is_set, out) : GA_ERR_FILE;
  if (from >= 0 && is_set) H5Dclose(from);
  if (from >= 0 && !is_set) H5Aclose(from);
  if (file >= 0) H5Fclose(file);
  ga__hdf5_unmute(&quiet);
  if (status) ga__free(ctx, *out), *out = NULL;
  return status == GA_ERR_FILE ? ga__no_file(ctx, path, "read", 0) : status;
}

void ga_tables_free(ga_context *ctx, void *numbers_or_text)
{
  if (ctx) ga__free(ctx, numbers_or_text);
}
