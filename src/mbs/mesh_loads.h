/* Loads of ga_mesh.stiffening: how many, and their names in files. (modal_stiffening.c) */
#ifndef GALPHA_MBS_MESH_LOADS_H
#define GALPHA_MBS_MESH_LOADS_H

#include "galpha/mbs.h"

int ga__mesh_n_loads(const ga_mesh *mesh);
/* Name of load i: "spin_xx", "root_fx"; interface: names of interface nodes. */
void ga__mesh_load_name(char *text, size_t size, int i, int dofs, const char *const *interface);

#endif
