/* Meshes of modal bodies in files: matrices in the format of Matrix Market, or all of it in HDF5.
 * (matrix_file.c, mesh_hdf.c, modal.c) */
#ifndef GALPHA_MODEL_MESH_H
#define GALPHA_MODEL_MESH_H

#include "model/reader.h"

/* Entries of a matrix, as they are listed. */
typedef struct ga__entries {
  int rows, cols, n;
  int *row, *col; /* from 0 */
  double *value;
} ga__entries;

/* What was read; all of it is owned. */
typedef struct ga__mesh_data {
  ga_context *ctx;
  ga_sparse *mass, *stiffness;
  int n_nodes;
  double *position; /* [3 n_nodes] */
  int n_interface;
  int *interface_node; /* from 0 */
  char **interface_name;
  int n_recovered;
  double *recovery; /* [n_recovered][N] */
  char **recovered_name;
  int n_stiffening; /* matrices by the names of their loads, "spin_xx", "root_fx" */
  ga_sparse **stiffening;
  char **load_name;
} ga__mesh_data;

void ga__entries_free(ga_context *ctx, ga__entries *e);
/* e NULL: nothing; values of equal places are added. NULL: out of memory. */
ga_sparse *ga__entries_sparse(ga_context *ctx, const ga__entries *e);

/* A file as the model names it. */
typedef struct ga__mesh_source {
  ga__reading *r;
  const char *path, *name;
  ga__place from; /* where the model names it */
} ga__mesh_source;

/* The file that a key names, within the model's folder; what: its contents, for messages. 0: that was
 * reported. */
int ga__find_source(ga__reader *reader, const ga__tree *tree, const char *what, ga__mesh_source *out);

/* Each 0 after having reported what is wrong, with the line of the file where it has lines. Out of memory
 * sets r->failed. */
int ga__matrix_file_read(const ga__mesh_source *s, ga__entries *out);
int ga__mesh_hdf_read(const ga__mesh_source *s, ga__mesh_data *out);
void ga__mesh_data_free(ga__mesh_data *d);
/* Room for n stiffening matrices; 0: out of memory. */
int ga__mesh_take_stiffening(ga__mesh_data *d, int n);

/* The reduced body of a part of type modal, from its keys; NULL: that was reported. The reader keeps it. */
const ga_modal_body *ga__read_modal(ga__reader *reader, ga__named *named);
/* Keys that it reads: name, value and about of each (format.h), and how many. */
const struct ga__extra *ga__modal_extra(int *n);

#endif
