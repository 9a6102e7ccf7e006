/* Modal bodies in model files: matrices of Matrix Market and of HDF5, the keys of the reduction, and what is
 * reported, with file and line, where something is wrong. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "galpha/galpha.h"
#include "galpha/model.h"
#include "galpha/result.h"
#include "mbs/modal.h"
#include "mbs/parts.h"
#include "stiffening_rig.h"

#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/galpha-modal-XXXXXX";

static const char *path_of(const char *name)
{
  static char path[4][256];
  static int next;
  next = (next + 1) % 4;
  snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static void write_text(const char *name, const char *text)
{
  FILE *f = fopen(path_of(name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

/* form: 0 coordinate symmetric, 1 coordinate general, 2 array general, 3 array symmetric */
static void write_matrix(const char *name, int N, double (*A)[MESH_MOST], int form)
{
  static const char *const head[] = {"coordinate real symmetric", "coordinate real general",
                                     "array real general", "array real symmetric"};
  FILE *f = fopen(path_of(name), "w");
  int n = 0;
  assert_non_null(f);
  for (int c = 0; c < N; c++)
    for (int r = form % 3 ? 0 : c; r < N; r++) n += A[r][c] != 0;
  fprintf(f, "%%%%MatrixMarket matrix %s\n%% a comment\n", head[form]);
  if (form < 2)
    fprintf(f, "%d %d %d\n", N, N, n);
  else
    fprintf(f, "%d %d\n", N, N);
  for (int c = 0; c < N; c++)
    for (int r = form % 3 ? 0 : c; r < N; r++) {
      if (form < 2 && A[r][c] == 0) continue;
      if (form < 2)
        fprintf(f, "%d %d %.17g\n", r + 1, c + 1, A[r][c]);
      else
        fprintf(f, "%.17g\n", A[r][c]);
    }
  assert_int_equal(fclose(f), 0);
}

static void write_nodes(const char *name, const test_mesh *t)
{
  FILE *f = fopen(path_of(name), "w");
  assert_non_null(f);
  fprintf(f, "%%%%MatrixMarket matrix array real general\n%d 3\n", t->n);
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < t->n; i++) fprintf(f, "%.17g\n", t->position[3 * i + c]);
  assert_int_equal(fclose(f), 0);
}

/* ---- HDF5 ---- */

static void put_numbers(hid_t file, const char *name, int rows, int cols, const double *x)
{
  const hsize_t size[2] = {(hsize_t)rows, (hsize_t)cols};
  hid_t space = H5Screate_simple(cols ? 2 : 1, size, NULL),
        set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(set >= 0);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

static void put_texts(hid_t file, const char *name, int n, const char *const *text, int variable)
{
  enum { SIZE = 8 };
  const hsize_t size = (hsize_t)n;
  char fixed[8][SIZE];
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
  assert_true(H5Tset_size(type, variable ? H5T_VARIABLE : SIZE) >= 0);
  memset(fixed, 0, sizeof fixed);
  for (int i = 0; i < n; i++) snprintf(fixed[i], SIZE, "%s", text[i]);
  hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(set >= 0);
  assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, variable ? (const void *)text : fixed) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Tclose(type);
}

/* As scipy stores it. */
static void put_compressed(hid_t file, const char *name, int N, double (*A)[MESH_MOST])
{
  static double data[MESH_MOST * MESH_MOST], indices[MESH_MOST * MESH_MOST], start[MESH_MOST + 1];
  int n = 0;
  for (int r = 0; r < N; r++) {
    for (int c = 0; c < N; c++)
      if (A[r][c] != 0) indices[n] = c, data[n++] = A[r][c];
    start[r + 1] = n;
  }
  hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put_numbers(group, "data", n, 0, data);
  put_numbers(group, "indices", n, 0, indices);
  put_numbers(group, "indptr", N + 1, 0, start);
  H5Gclose(group);
}

/* without: a dataset that is left out; NULL: none is */
static void write_hdf(const char *name, test_mesh *t, int compressed, const char *without)
{
  static double dense[MESH_MOST * MESH_MOST];
  const int N = t->n * t->dofs;
  const double interface[3] = {1, 7, 4};
  static const char *const names[] = {"root", "tip", "side"}, *const stress[] = {"stress"};
  hid_t file = H5Fcreate(path_of(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(file >= 0);
#define WITH(what) (!without || strcmp(without, what) != 0)
  if (WITH("nodes")) put_numbers(file, "nodes", t->n, 3, t->position);
  for (int k = 0; k < 2; k++) {
    double(*A)[MESH_MOST] = k ? t->K : t->M;
    for (int i = 0; i < N * N; i++) dense[i] = A[i / N][i % N];
    if (!WITH(k ? "K" : "M")) continue;
    if (compressed)
      put_compressed(file, k ? "K" : "M", N, A);
    else
      put_numbers(file, k ? "K" : "M", N, N, dense);
  }
  if (WITH("interface")) put_numbers(file, "interface", 3, 0, interface);
  if (WITH("interface_names")) put_texts(file, "interface_names", 3, names, compressed);
  memset(dense, 0, sizeof dense);
  dense[18] = 3, dense[0] = -3;
  if (WITH("recovery")) put_numbers(file, "recovery", 1, N, dense);
  if (WITH("recovery_names")) put_texts(file, "recovery_names", 1, stress, !compressed);
  H5Fclose(file);
}

/* ---- Models ---- */

static void write_model(const char *keys)
{
  char text[2000];
  snprintf(text, sizeof text,
           "galpha: 1\n"
           "bodies:\n"
           "  arm:\n"
           "    type: modal\n"
           "%s"
           "joints:\n"
           "  ball: {type: spherical, a: ground, b: arm.root}\n",
           keys);
  write_text("model.yaml", text);
}

#define FILES "    mass_matrix: M.mtx\n    stiffness_matrix: K.mtx\n    nodes: nodes.mtx\n"
#define THREE "    interface: {root: 1, tip: 7, side: 4}\n"

static const ga_modal_body *body_of(const ga_model *model)
{
  const ga_machine *m = ga_model_machine(model);
  return ((const ga_modal_def *)m->part[ga__find_part(m, "arm")].def)->body;
}

/* All ways give the same body as arrays do. */
static void files_are_read(void **state)
{
  static const char *const keys[] = {
      FILES THREE "    modes: 5\n",
      FILES THREE "    modes: 5\n",
      FILES THREE "    modes: 5\n",
      FILES THREE "    modes: 5\n",
      "    file: arm.h5\n    modes: 5\n",
      "    file: arm.h5\n    modes: 5\n",
      ("    file: arm.h5\n    modes: 9\n    reduction: free\n    max_frequency: 1 kHz\n    keep: [1, 2, 4]\n"
       "    damping_ratios: [0.01, 0.02, 0.03]\n    interface: {root: 1}\n"),
  };
  (void)state;
  for (int k = 0; k < 7; k++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    ga_modal_body *expected = NULL;
    ga_reduction_opts o = ga_reduction_defaults();
    static const int keep[] = {1, 2, 4};
    test_mesh *t = mesh_cage(100);
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    if (k < 4) {
      write_matrix("M.mtx", 21, t->M, k);
      write_matrix("K.mtx", 21, t->K, (k + 1) % 4);
      write_nodes("nodes.mtx", t);
    } else {
      write_hdf("arm.h5", t, k % 2, NULL);
    }
    write_model(keys[k]);
    const ga_status status = ga_model_read_file(ctx, path_of("model.yaml"), NULL, &model);
    if (status)
      fail_msg("%d: %s", k,
               model && ga_model_message_at(model, 0) ? ga_model_message_at(model, 0)->text : "?");
    o.modes = 5;
    if (k == 6) o.modes = 9, o.kind = GA_REDUCTION_FREE, o.n_keep = 3, o.keep = keep;
    assert_int_equal(ga_modal_body_create(ctx, mesh_close(ctx, t), &o, &expected), GA_OK);
    const ga_modal_body *body = body_of(model);
    assert_int_equal(body->n, expected->n);
    for (int i = 0; i < body->n; i++) assert_true(fabs(body->lambda[i] / expected->lambda[i] - 1) < 1e-12);
    assert_int_equal(body->n_points, k == 6 ? 1 : 3);
    assert_int_equal(body->n_recovered, k >= 4);
    if (k >= 4) assert_string_equal(body->recovered_name[0], "stress");
    if (k == 6) assert_true(body->ratio[2] == 0.03);
    assert_string_equal(body->point[0].name, "root");
    assert_int_equal(ga_machine_find_signal(ga_model_machine(model), "arm.stress") >= 0, k >= 4);
    ga_modal_body_destroy(&expected);
    mesh_free(ctx, &t);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

/* ---- Stiffening ---- */

static const char *const LOADS[15] = {"spin_xx", "spin_yy", "spin_zz", "spin_xy", "spin_xz",
                                      "spin_yz", "root_fx", "root_fy", "root_fz", "tip_fx",
                                      "tip_fy",  "tip_fz",  "side_fx", "side_fy", "side_fz"};

/* Files of all matrices, and the group in arm.h5; `list` becomes the map of a model. */
static void write_stiffening(const stiff_cage *c, char *list, size_t size)
{
  static double K[MESH_MOST][MESH_MOST];
  hid_t file = H5Fopen(path_of("arm.h5"), H5F_ACC_RDWR, H5P_DEFAULT),
        group = H5Gcreate2(file, "stiffening", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int used = snprintf(list, size, "    stiffening: {");
  assert_true(group >= 0);
  for (int i = 0; i < 15; i++) {
    char name[32];
    const ga_sparse *A = c->matrix[i];
    memset(K, 0, sizeof K);
    for (int k = 0; k < A->cols; k++)
      for (int e = A->col_start[k]; e < A->col_start[k + 1]; e++) K[A->row[e]][k] = A->value[e];
    snprintf(name, sizeof name, "%s.mtx", LOADS[i]);
    write_matrix(name, 21, K, i % 4);
    put_compressed(group, LOADS[i], 21, K);
    used += snprintf(list + used, size - (size_t)used, "%s%s: %s", i ? ", " : "", LOADS[i], name);
  }
  snprintf(list + used, size - (size_t)used, "}\n");
  H5Gclose(group);
  H5Fclose(file);
}

/* But for the signs of modes. */
static void assert_same(const ga_modal_body *a, const ga_modal_body *b)
{
  const size_t n = (size_t)a->n;
  double most = 0, off = 0;
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->stiffened, b->stiffened);
  for (size_t i = 0; i < 9 * n * n; i++)
    most = fmax(most, fabs(a->J2[i])), off = fmax(off, fabs(fabs(a->J2[i]) - fabs(b->J2[i])));
  for (int k = 0; k < a->n_points && a->stiffened; k++)
    for (size_t i = 0; i < 6 * n * n; i++)
      most = fmax(most, fabs(a->point[k].second[i])),
      off = fmax(off, fabs(fabs(a->point[k].second[i]) - fabs(b->point[k].second[i])));
  if (!(off < 1e-10 * most)) fail_msg("off by %g of %g", off, most);
}

/* From HDF5, from files, and left out. */
static void stiffening_is_read(void **state)
{
  (void)state;
  for (int k = 0; k < 4; k++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    ga_modal_body *expected = NULL;
    ga_reduction_opts o = ga_reduction_defaults();
    char list[1024], keys[1600];
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    stiff_cage c = cage_open(ctx, 100, 1);
    write_matrix("M.mtx", 21, c.t->M, 0);
    write_matrix("K.mtx", 21, c.t->K, 0);
    write_nodes("nodes.mtx", c.t);
    write_hdf("arm.h5", c.t, 0, NULL);
    write_stiffening(&c, list, sizeof list);
    snprintf(keys, sizeof keys, "%s    modes: 5\n%s", k ? "    file: arm.h5\n" : FILES THREE,
             k == 0   ? list
             : k == 1 ? ""
             : k == 2 ? "    stiffening: true\n"
                      : "    stiffening: false\n");
    write_model(keys);
    const ga_status status = ga_model_read_file(ctx, path_of("model.yaml"), NULL, &model);
    if (status) fail_msg("%d: %s", k, ga_model_message_at(model, 0)->text);
    o.modes = 5, o.no_stiffening = k == 3;
    c.t->mesh.stiffening = (const ga_sparse *const *)c.matrix;
    assert_int_equal(ga_modal_body_create(ctx, &c.t->mesh, &o, &expected), GA_OK);
    assert_int_equal(expected->stiffened, k != 3);
    assert_same(body_of(model), expected);
    ga_modal_body_destroy(&expected);
    cage_close(ctx, &c);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

/* ---- Written by the library ---- */

static ga_beam_def strip(void)
{
  ga_beam_def d = ga_beam_defaults();
  d.name = "strip", d.length = 1, d.elements = 6, d.section = GA_SECTION_RECTANGLE;
  d.width = 0.02, d.height = 0.01, d.young = 70e9, d.poisson = 0.33, d.density = 2700, d.curvature[1] = 0.5;
  return d;
}

/* A beam as a file is the same body as the beam; a file appears whole or not at all. */
static void meshes_are_written(void **state)
{
  static const char *const name[3] = {"root", "tip", "side"};
  static const double at[3] = {0, 1, 0.4};
  const ga_beam_def d = strip();
  (void)state;
  for (int stiffening = 0; stiffening < 2; stiffening++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    ga_beam_mesh *mesh = NULL;
    ga_modal_body *expected = NULL;
    ga_reduction_opts o = ga_reduction_defaults();
    o.no_stiffening = !stiffening, o.modes = 5;
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    assert_int_equal(ga_beam_mesh_create(ctx, &d, 3, at, name, stiffening, &mesh), GA_OK);
    assert_int_equal(ga_modal_body_create_beam(ctx, &d, 3, at, name, &o, &expected), GA_OK);
    const ga_mesh *m = ga_beam_mesh_get(mesh);
    assert_int_equal(ga_mesh_write(ctx, m, path_of("arm.h5")), GA_OK);
    assert_int_equal(ga_mesh_write(ctx, m, path_of("nowhere/arm.h5")), GA_ERR_FILE);
    assert_int_not_equal(access(path_of("arm.h5.part"), F_OK), 0);
    write_model("    file: arm.h5\n    modes: 5\n");
    const ga_status status = ga_model_read_file(ctx, path_of("model.yaml"), NULL, &model);
    if (status) fail_msg("%s", ga_model_message_at(model, 0)->text);
    const ga_modal_body *body = body_of(model);
    assert_int_equal(body->stiffened, stiffening);
    assert_int_equal(body->n_points, 3);
    assert_string_equal(body->point[2].name, "side");
    for (int i = 0; i < body->n; i++) assert_true(body->lambda[i] == expected->lambda[i]);
    assert_same(body, expected);
    ga_modal_body_destroy(&expected);
    ga_beam_mesh_destroy(&mesh);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
  }
}

/* ---- What is wrong ---- */

typedef struct bad_file {
  const char *file, *text; /* a file that is written instead; NULL: none */
  const char *without;     /* dataset of arm.h5; NULL: none */
  const char *keys;
  const char *place, *message; /* file:line:column, and a part of the text */
} bad_file;

#define HEAD "%%MatrixMarket matrix coordinate real symmetric\n"
static const bad_file BAD[] = {
    {"M.mtx", "", NULL, FILES THREE, "M.mtx:1:1", "expected '%%MatrixMarket matrix', and its form"},
    {"M.mtx", "hello\n", NULL, FILES THREE, "M.mtx:1:1", "found 'hello'"},
    {"M.mtx", "%%MatrixMarket matrix coordinate complex symmetric\n", NULL, FILES THREE, "M.mtx:1:1",
     "expected a real or integer matrix"},
    {"M.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", NULL, FILES THREE, "M.mtx:1:1",
     "expected a general or symmetric matrix"},
    {"M.mtx", "%%MatrixMarket matrix list real general\n", NULL, FILES THREE, "M.mtx:1:1",
     "expected coordinate or array"},
    {"M.mtx", HEAD "% only a comment\n", NULL, FILES THREE, "M.mtx:3:1",
     "expected numbers of rows, columns and entries"},
    {"M.mtx", HEAD "% c\n21 21\n", NULL, FILES THREE, "M.mtx:3:1", "found '21 21'"},
    {"M.mtx", HEAD "21 20 1\n1 1 1\n", NULL, FILES THREE, "M.mtx:2:1", "found '21 20 1'"},
    {"M.mtx", HEAD "21 21 2\n1 1 1\n\n% c\n2 2\n", NULL, FILES THREE, "M.mtx:6:1",
     "expected row, column and value, found '2 2'"},
    {"M.mtx", HEAD "21 21 2\n1 1 1\n2 x 1\n", NULL, FILES THREE, "M.mtx:4:1", "found '2 x 1'"},
    {"M.mtx", HEAD "21 21 2\n1 1 1\n2 22 1\n", NULL, FILES THREE, "M.mtx:4:1",
     "expected row and column within the matrix, from 1 on, found '2 22 1'"},
    {"M.mtx", HEAD "21 21 2\n1 1 1\n0 1 1\n", NULL, FILES THREE, "M.mtx:4:1", "found '0 1 1'"},
    {"M.mtx", HEAD "21 21 3\n1 1 1\n2 2 1\n", NULL, FILES THREE, "M.mtx:5:1",
     "expected 3 entries, there are 2"},
    {"M.mtx", HEAD "21 21 1\n1 1 1\n2 2 1\n", NULL, FILES THREE, "M.mtx:4:1", "expected the end of the file"},
    {"M.mtx", HEAD "1e9 1e9 1\n1 1 1\n", NULL, FILES THREE, "M.mtx:2:1", "expected numbers of rows"},
    {"M.mtx", HEAD "21 21 1\n1 1 nan\n", NULL, FILES THREE, "M.mtx:3:1", "found '1 1 nan'"},
    {"M.mtx", HEAD "3 3 3\n1 1 1\n2 2 1\n3 3 1\n", NULL, FILES THREE, "model.yaml:5:18",
     "its mass matrix is 3 x 3, but 7 nodes with 3 degrees of freedom each make 21"},
    {"nodes.mtx", "%%MatrixMarket matrix array real general\n7 2\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n",
     NULL, FILES THREE, "model.yaml:7:12", "nodes has 2 columns; it must have three, x, y and z"},
    {NULL, NULL, NULL, "    mass_matrix: N.mtx\n    stiffness_matrix: K.mtx\n    nodes: nodes.mtx\n" THREE,
     "model.yaml:5:18", "N.mtx"},
    {NULL, NULL, NULL, "    mass_matrix: ../M.mtx\n    stiffness_matrix: K.mtx\n    nodes: nodes.mtx\n" THREE,
     "model.yaml:5:18", "it is not within the model's folder"},
    {NULL, NULL, NULL, "    mass_matrix: M.mtx\n    nodes: nodes.mtx\n" THREE, "model.yaml:3:3",
     "stiffness_matrix"},
    {NULL, NULL, NULL, THREE, "model.yaml:3:3", "mass_matrix"},
    {NULL, NULL, NULL, "    file: arm.h5\n    nodes: nodes.mtx\n", "model.yaml:6:5", "file"},
    {NULL, NULL, NULL, FILES "    interface: {root: 1, tip: 8, side: 4}\n", "model.yaml:8:31",
     "is 8; it must be from 1 to 7"},
    {NULL, NULL, NULL, FILES "    interface: {root: 1, tip: 1, side: 4}\n", "model.yaml:8:16",
     "interface nodes 'root' and 'tip' have one name, or are both node 1"},
    {NULL, NULL, NULL, FILES "    interface: [1, 7]\n", "model.yaml:8:16", "expected"},
    {NULL, NULL, NULL, FILES "    interface: {root: 1, tip: 7}\n", "model.yaml:8:16",
     "its 2 interface nodes do not hold it"},
    {NULL, NULL, NULL, FILES THREE "    modes: 13\n", "model.yaml:9:12",
     "modes asks for 13, but there are 12"},
    {NULL, NULL, NULL, FILES THREE "    modes: -1\n", "model.yaml:9:12", "must be from 0"},
    {NULL, NULL, NULL, FILES THREE "    modes: 5\n    keep: [2, 1]\n", "model.yaml:10:11", "ascending"},
    {NULL, NULL, NULL, FILES THREE "    modes: 5\n    keep: [1, 99]\n", "model.yaml:10:11",
     "keep asks for 99, but there are 8"},
    {NULL, NULL, NULL, FILES THREE "    modes: 5\n    max_frequency: -3 Hz\n", "model.yaml:10:20", "> 0"},
    {NULL, NULL, NULL, FILES THREE "    modes: 5\n    damping_ratios: [0.1, 0.2]\n", "model.yaml:10:21",
     "damping has 2 ratios, but 8 modes are kept"},
    {NULL, NULL, NULL, FILES THREE "    modes: 5\n    reduction: guyan\n", "model.yaml:10:16",
     "'guyan' is unknown"},
    {NULL, NULL, NULL, FILES THREE "    mods: 5\n", "model.yaml:9:5", "did you mean 'modes'"},
    {NULL, NULL, "nodes", "    file: arm.h5\n", "model.yaml:5:11", "dataset 'nodes': there is no such"},
    {NULL, NULL, "M", "    file: arm.h5\n", "model.yaml:5:11", "dataset 'M': there is no such dataset"},
    {NULL, NULL, "K", "    file: arm.h5\n", "model.yaml:5:11", "dataset 'K': there is no such dataset"},
    {NULL, NULL, "interface_names", "    file: arm.h5\n", "model.yaml:5:11",
     "dataset 'interface_names': there is no such dataset"},
    {NULL, NULL, "recovery_names", "    file: arm.h5\n", "model.yaml:5:11",
     "dataset 'recovery_names': there is no such dataset"},
    {NULL, NULL, NULL,
     "    beam: {length: 1, section: circle, diameter: 0.1, young: 1e9}\n    interface: {root: 0}\n",
     "model.yaml:5:11", "density is 0"},
    {NULL, NULL, NULL, "    beam: {length: 1, radius: 3}\n    interface: {root: 0}\n", "model.yaml:5:23",
     "radius"},
    {NULL, NULL, NULL,
     "    beam: {length: 1, section: circle, diameter: 0.1, young: 1e9, density: 1}\n    interface: {root: 2 "
     "m}\n",
     "model.yaml:5:11", "goes from 0 to 1 m"},
    {NULL, NULL, NULL, "    beam: {length: 1}\n    file: arm.h5\n", "model.yaml:6:5", "file"},
    {NULL, NULL, NULL, "    file: arm.h5\n    stiffening: true\n", "model.yaml:6:17",
     "stiffening is true, but the file has no group 'stiffening'"},
    {NULL, NULL, NULL, "    file: arm.h5\n    stiffening: perhaps\n", "model.yaml:6:17", "perhaps"},
    {NULL, NULL, NULL, FILES THREE "    stiffening: {spin_xx: K.mtx}\n", "model.yaml:9:17",
     "stiffening has no matrix 'spin_yy'"},
    {NULL, NULL, NULL, FILES THREE "    stiffening: {spin_xx: L.mtx}\n", "model.yaml:9:27", "L.mtx"},
    {NULL, NULL, NULL,
     FILES "    interface: {root: 1, tip: 7, side: 4}\n    modes: 5\n    stiffening: {spin_xx: K.mtx, "
           "spin_yy: K.mtx, "
           "spin_zz: K.mtx, spin_xy: K.mtx, spin_xz: K.mtx, spin_yz: K.mtx, root_fx: K.mtx, root_fy: K.mtx, "
           "root_fz: "
           "K.mtx, tip_fx: K.mtx, tip_fy: K.mtx, tip_fz: K.mtx, side_fx: K.mtx, side_fy: K.mtx, side_fz: "
           "K.mtx, hand_fx: "
           "K.mtx}\n",
     "model.yaml:10:17", "stiffening has a matrix 'hand_fx', which is no load"},
    {NULL, NULL, NULL,
     FILES
     "    interface: {root: 1, tip: 7, side: 4}\n    modes: 5\n    stiffening: {spin_xx: K.mtx, spin_yy: "
     "K.mtx, "
     "spin_zz: K.mtx, spin_xy: K.mtx, spin_xz: K.mtx, spin_yz: K.mtx, root_fx: K.mtx, root_fy: K.mtx, "
     "root_fz: "
     "K.mtx, tip_fx: K.mtx, tip_fy: K.mtx, tip_fz: K.mtx, side_fx: K.mtx, side_fy: K.mtx, side_fz: K.mtx}\n",
     "model.yaml:10:17", "its stiffening matrix of load 'spin_xx' is not that of the load"},
    {"M.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n", NULL,
     "    mass_matrix: K.mtx\n    stiffness_matrix: K.mtx\n    nodes: nodes.mtx\n" THREE
     "    stiffening: {spin_xx: M.mtx, spin_yy: M.mtx, spin_zz: M.mtx, spin_xy: M.mtx, spin_xz: M.mtx, "
     "spin_yz: M.mtx, "
     "root_fx: M.mtx, root_fy: M.mtx, root_fz: M.mtx, tip_fx: M.mtx, tip_fy: M.mtx, tip_fz: M.mtx, side_fx: "
     "M.mtx, "
     "side_fy: M.mtx, side_fz: M.mtx}\n",
     "model.yaml:9:17", "its stiffening matrix is 2 x 2"},
    {NULL, NULL, NULL,
     "    beam: {length: 1, section: circle, diameter: 0.1, young: 1e9, density: 1}\n    stiffening: {a: "
     "b}\n",
     "model.yaml:6:17", "expected"},
    {"arm.h5", "no HDF5\n", NULL, "    file: arm.h5\n", "model.yaml:5:11", "HDF5"},
    {NULL, NULL, NULL, "    file: leg.h5\n", "model.yaml:5:11", "leg.h5"},
};

static void wrong_files_are_reported(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    ga_context *ctx = NULL;
    ga_model *model = NULL;
    char place[300] = "";
    test_mesh *t = mesh_cage(100);
    assert_int_equal(ga_context_create(NULL, &ctx), GA_OK);
    write_matrix("M.mtx", 21, t->M, 0);
    write_matrix("K.mtx", 21, t->K, 0);
    write_nodes("nodes.mtx", t);
    write_hdf("arm.h5", t, i % 2 == 0, BAD[i].without);
    if (BAD[i].file) write_text(BAD[i].file, BAD[i].text);
    write_model(BAD[i].keys);
    assert_int_equal(ga_model_read_file(ctx, path_of("model.yaml"), NULL, &model), GA_ERR_ARGUMENT);
    assert_non_null(model);
    int found = 0;
    for (int k = 0; ga_model_message_at(model, k); k++) {
      const ga_model_message *m = ga_model_message_at(model, k);
      const char *slash = strrchr(m->file, '/');
      snprintf(place, sizeof place, "%s:%d:%d", slash ? slash + 1 : m->file, m->line, m->column);
      found |= strcmp(place, BAD[i].place) == 0 && strstr(m->text, BAD[i].message) != NULL;
    }
    if (!found)
      for (int k = 0; ga_model_message_at(model, k); k++) {
        const ga_model_message *m = ga_model_message_at(model, k);
        print_error("%s:%d:%d: %s\n", m->file, m->line, m->column, m->text);
      }
    if (!found) fail_msg("number %zu: expected %s: %s", i, BAD[i].place, BAD[i].message);
    ga_model_destroy(&model);
    ga_context_destroy(&ctx);
    free(t);
  }
}

/* ---- The whole ---- */

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  static const char *const name[] = {"M.mtx", "K.mtx", "nodes.mtx", "arm.h5", "model.yaml"};
  (void)state;
  for (size_t i = 0; i < sizeof name / sizeof *name; i++) remove(path_of(name[i]));
  for (int i = 0; i < 15; i++) {
    char file[32];
    snprintf(file, sizeof file, "%s.mtx", LOADS[i]);
    remove(path_of(file));
  }
  return rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_read),
      cmocka_unit_test(stiffening_is_read),
      cmocka_unit_test(meshes_are_written),
      cmocka_unit_test(wrong_files_are_reported),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
