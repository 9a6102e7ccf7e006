/* Meshes as files that modal bodies are read from: docs/flexible.md has the datasets. */
#include "mbs/mesh_loads.h"
#include "result/result_impl.h"

#include <stdio.h>
#include <string.h>

static int write_list(hid_t group, const char *name, hid_t stored, hid_t type, int n, const void *numbers)
{
  const hsize_t size = (hsize_t)n;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t set = -1;
  int done = 0;
  if (space >= 0) set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0)
    done = (n == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0) && H5Dclose(set) >= 0;
  if (space >= 0) H5Sclose(space);
  return done;
}

/* data, indices, indptr of compressed columns */
static int write_sparse(hid_t file, const char *name, const ga_sparse *A)
{
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0) return 0;
  const int done = write_list(group, "data", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, A->nnz, A->value) &&
                   write_list(group, "indices", H5T_STD_I32LE, H5T_NATIVE_INT, A->nnz, A->row) &&
                   write_list(group, "indptr", H5T_STD_I32LE, H5T_NATIVE_INT, A->cols + 1, A->col_start);
  return H5Gclose(group) >= 0 && done;
}

static int write_stiffening(hid_t file, const ga_mesh *mesh)
{
  const hid_t group = H5Gcreate2(file, "stiffening", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int done = group >= 0;
  for (int i = 0; i < ga__mesh_n_loads(mesh) && done; i++) {
    char name[256];
    ga__mesh_load_name(name, sizeof name, i, mesh->dofs, mesh->interface_name);
    if (mesh->stiffening[i]) done = write_sparse(group, name, mesh->stiffening[i]);
  }
  return (group < 0 || H5Gclose(group) >= 0) && done;
}

static int write_interface(ga_context *ctx, hid_t file, const ga_mesh *mesh)
{
  const int n = mesh->n_interface;
  int *number = ga__alloc(ctx, (size_t)n, sizeof *number);
  for (int i = 0; number && i < n; i++) number[i] = mesh->interface_node[i] + 1;
  const int done = number && write_list(file, "interface", H5T_STD_I32LE, H5T_NATIVE_INT, n, number) &&
                   ga__write_names(ctx, file, "interface_names", n, mesh->interface_name);
  ga__free(ctx, number);
  return done;
}

static int write_mesh(ga_context *ctx, const void *what, const char *path)
{
  const ga_mesh *mesh = what;
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return 0;
  int done = ga__write_matrix(file, "nodes", mesh->n_nodes, 3, mesh->position) &&
             write_sparse(file, "M", mesh->mass) && write_sparse(file, "K", mesh->stiffness);
  if (done && mesh->n_interface) done = write_interface(ctx, file, mesh);
  if (done && mesh->n_recovered)
    done = ga__write_matrix(file, "recovery", mesh->n_recovered, mesh->mass->cols, mesh->recovery) &&
           ga__write_names(ctx, file, "recovery_names", mesh->n_recovered, mesh->recovered_name);
  if (done && mesh->stiffening) done = write_stiffening(file, mesh);
  done = done && ga__text_attribute(file, "format", "galpha mesh 1", 0) == 0 &&
         ga__text_attribute(file, "galpha", ga_version(), 0) == 0;
  return H5Fclose(file) >= 0 && done;
}

ga_status ga_mesh_write(ga_context *ctx, const ga_mesh *mesh, const char *path)
{
  if (!ctx) return GA_ERR_ARGUMENT;
  if (!mesh || !path || !mesh->position || !mesh->mass || !mesh->stiffness) return ga__null_argument(ctx);
  return ga__write_complete(ctx, path, write_mesh, mesh);
}
